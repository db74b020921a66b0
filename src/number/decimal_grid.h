/* Typed decimals on a grid, without any rounding but the one that the name says.
 *
 * The grid has 2^k steps to a unit, so that numbers which differ by at most the unit differ by at
 * most 2^k steps when both are rounded down: floor(x + 2^k) = floor(x) + 2^k, and floor is
 * monotone. */
#ifndef BRUME_NUMBER_DECIMAL_GRID_H
#define BRUME_NUMBER_DECIMAL_GRID_H

#include <brume/decimal.h>

#include "number/flint.h"

/* out = floor(x 2^k / unit), exactly. Requires a unit above 0. */
void brume_decimal_floor_steps(fmpz_t out, const brume_signed_decimal *x, const brume_decimal *unit,
                               unsigned k);

/* The same, clamped to [-limit, limit], limit >= 0. */
int64_t brume_decimal_clamped_steps(const brume_signed_decimal *x, const brume_decimal *unit,
                                    unsigned k, int64_t limit);

#endif
