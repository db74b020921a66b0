/* What a Poisson sample makes of the discrete Laplace, in balls. Of shift 1 it is the worst pure
 * law. */
#ifndef BRUME_ACCOUNTANT_SAMPLED_BALLS_H
#define BRUME_ACCOUNTANT_SAMPLED_BALLS_H

#include <brume/cost.h>

#include "number/ball.h"

#if __has_include(<flint/acb.h>)
#include <flint/acb.h>
#else
#include <acb.h>
#endif

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
