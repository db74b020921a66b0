/* One release on a Poisson sample in closed form: of the Gaussian, Laplace, discrete Laplace and
 * worst pure mechanism in ball arithmetic, of the Gaussian also in doubles with running error
 * bounds. proofs/accountant/exact.md, section exact.4. */
#ifndef BRUME_ACCOUNTANT_EXACT_ONE_SAMPLED_H
#define BRUME_ACCOUNTANT_EXACT_ONE_SAMPLED_H

#include "accountant/exact/delta_bounds.h"

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

#endif
