/* Sums of noises with factors: which factors a computed number has, and its bar by the exact law.
 *
 * The factors are found by what the number does in draws of the noise: more draws than noises, and
 * all of them must fit. So nothing need be known of how it was computed (proofs/released.md). */
#ifndef BRUME_QUERY_LINEAR_H
#define BRUME_QUERY_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

#include <brume/status.h>

enum { BRUME_LINEAR_MOST = 150 }; /* noises */

typedef struct brume_linear brume_linear;

/* moves[draw * count + i] is what noise i was in a draw, 0 where it has no law; half_widths[i] its
 * half-width at 95 %, which is_laplace[i] or Gaussian; infinite: no law that is known here. *out is
 * NULL where there are too many noises for the draws. */
BRUME_MUST_USE brume_status brume_linear_open(const double *moves, size_t draws, size_t count,
                                              const double *half_widths, const bool *is_laplace,
                                              brume_linear **out, brume_error *error);
void brume_linear_close(brume_linear *linear);

/* The half-width at 95 % of a number that changed so in the draws; NaN: it is no such sum. `size`
 * is the number itself, for what rounding may do. */
double brume_linear_bar(brume_linear *linear, const double *changes, double size);

/* Half-width at 95 % of a sum of independent Laplaces of these scales and a Gaussian. */
double brume_linear_half_width(const double *scales, size_t count, double variance);

#endif
