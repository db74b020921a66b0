/* One release on a Poisson sample in closed form: of the Gaussian, Laplace, discrete Laplace and
 * worst pure mechanism in ball arithmetic, of the Gaussian also in doubles with running error
 * bounds. proofs/accountant/exact.md, section exact.4. */
#ifndef BRUME_ACCOUNTANT_EXACT_ONE_SAMPLED_H
#define BRUME_ACCOUNTANT_EXACT_ONE_SAMPLED_H

#include <brume/account/cost.h>

#include "accountant/exact/delta_bounds.h"
#include "number/ball.h"

/* In ball arithmetic; false if the law is not one draw of these. */
BRUME_MUST_USE bool brume_one_sampled_bounds(brume_law *law, brume_delta_bounds *out);

/* The Gaussian in doubles with error bounds, which are wide in places. */
brume_delta_bounds brume_sampled_doubles_bounds(brume_law *law);

/* --- in doubles --- */

/* Its parameters moved to a side; they count as exact from there on. */
typedef struct brume_sampled_draw {
    double sigma, rate;
    bool reversed;
} brume_sampled_draw;

brume_sampled_draw brume_sampled_draw_of(const brume_law *law, brume_side side);

/* E(1 - e^{-(x+L)})_+, which is delta(-x); *error bounds its error. */
double brume_sampled_value(const brume_sampled_draw *draw, double x, double *error);

/* Atom j = 0 .. shift of the inner pair: its mass under the second law, and log(1 - q + q e^l). */
void brume_sampled_atom(arb_t mass, arb_t log_ratio, const brume_loss *law, slong j,
                        slong precision);

/* For shift 1: half the distance of its two losses, and their middle; `added` is the second order.
 */
void brume_sampled_places(arb_t spread, arb_t centre, double a, double rate, bool added,
                          slong precision);

/* For continuous Laplace: E r^z under the second law, r = 1 - q + q e^l. */
void brume_sampled_laplace(acb_t out, double a, double rate, const acb_t power, slong precision);

#endif
