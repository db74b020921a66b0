/* What the sums over sign patterns need of one draw, in balls: the weights of its shifts, the
 * highest first, over their common normaliser. */
#ifndef BRUME_ACCOUNTANT_EXACT_SIGN_PATTERN_DRAW_H
#define BRUME_ACCOUNTANT_EXACT_SIGN_PATTERN_DRAW_H

#include "accountant/law/law.h"
#include "number/flint.h"

/* 2^K e^x - 2 sum_{j<K} S_{K-1-j} x^j/j! (sign +1), or with alternating signs and e^{-x} (sign -1):
 * F for B = 0 and for A = 0 (see sign_pattern.c). S_m = sum_{i<=m} C(K-1, i). */
void brume_pattern_end(arb_t out, const arb_t x, slong k, int sign, slong precision);

/* The shifts of one draw are top - j unit, j = 0 .. steps, and unit is `step` times its e (or w,
 * half the distance of the atoms on a sample). False if the law is not of this kind. */
bool brume_pattern_shape(const brume_law *law, double *unit, slong *step, double *steps);

/* Of one with atoms alone. `scale` is its e, moved in `direction`; of the pure law on a sample half
 * the distance and the middle of the atoms are put into `scale` and `centre`. */
void brume_pattern_draw(arb_poly_t poly, arb_t normal, arb_t scale, arb_t centre,
                        const brume_law *law, int direction, slong precision);

#endif
