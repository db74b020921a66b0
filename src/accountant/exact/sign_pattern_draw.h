/* What the sums over sign patterns need of one draw, in balls: the weights of its shifts, the
 * highest first, over their common normaliser. */
#ifndef BRUME_ACCOUNTANT_EXACT_SIGN_PATTERN_DRAW_H
#define BRUME_ACCOUNTANT_EXACT_SIGN_PATTERN_DRAW_H

#include "accountant/law/law.h"

#if __has_include(<flint/arb_poly.h>)
#include <flint/arb_poly.h>
#else
#include <arb_poly.h>
#endif

/* Of a pure law or a table with a unit; `scale` is its a, moved to the side. */
void brume_pattern_draw(arb_poly_t poly, arb_t normal, const brume_law *law, const arb_t scale,
                        slong precision);

/* Binary: also half the distance of the atoms and their middle, its parameters moved in
 * `direction`. */
void brume_pattern_binary_draw(arb_poly_t poly, arb_t normal, arb_t scale, arb_t centre,
                               const brume_law *law, int direction, slong precision);

#endif
