/* What a Poisson sample makes of profiles and laws, in balls. The discrete Laplace of shift 1 is
 * the worst pure law. */
#ifndef BRUME_ACCOUNTANT_EXACT_SAMPLED_BALLS_H
#define BRUME_ACCOUNTANT_EXACT_SAMPLED_BALLS_H

#include <brume/account/cost.h>

#include "number/ball.h"

/* The inner pair's profile E(1 - growth e^{-l})_+, the same in both orders. */
typedef void brume_inner_profile(arb_t out, const void *context, const arb_t growth,
                                 slong precision);

/* The profile of one release on the sample at e^epsilon = u, from the inner D:
 *   a record removed:  q D(1 + (u - 1)/q)             (u > 1 - q, else 1 - u)
 *   a record added:    k D(u q/k), k = 1 - u (1 - q)  (k > 0, else 0)
 * because P - u Q is in each case a multiple of the inner P - u' Q (or Q - u' P):
 * proofs/poisson.md. 0 < rate <= 1. */
void brume_sampled_profile(arb_t out, double epsilon, double rate, bool added,
                           brume_inner_profile *inner, const void *context, slong precision);

/* Atom j = 0 .. shift of the inner pair: its mass under the second law, and log(1 - q + q e^l). */
void brume_sampled_atom(arb_t mass, arb_t log_ratio, const brume_loss *law, slong j,
                        slong precision);

/* Of shift 1: half the distance of its two losses, and their middle; `added` is the second order.
 */
void brume_sampled_places(arb_t spread, arb_t centre, double a, double rate, bool added,
                          slong precision);

/* Of continuous Laplace: E r^z under the second law, r = 1 - q + q e^l. */
void brume_sampled_laplace(acb_t out, double a, double rate, const acb_t power, slong precision);

#endif
