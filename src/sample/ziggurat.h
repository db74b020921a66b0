/* A cover of the half bell f(t) = exp(-t^2/2), t >= 0, by layers of equal area A: the geometry that
 * the discrete and the rounded Gaussian share.                              [MT00]
 *
 * Layer i >= 1 is [0, A/H_i] x [F_i, F_i + H_i); layer 0 is the rectangle [0, R] x [0, f1] and the
 * tail beyond R, whose area is A - R f1. Differs: heights are dyadic and widths rational, so that
 * every layer has area A by definition and every comparison has a finite exact form; f1 is rounded
 * up, so that layers and tail do not overlap. The numbers are certified by the tests
 * (proofs/discrete_gaussian.md).
 *
 * A word of `main` is, from its low end: layer | sign | zero | place. The place u names the cell
 * U in [u, u+1) 2^-bits of the layer's width; more bits of U come from `more`. Tests include the
 * same code with a small table and short words. */
#ifndef BRUME_SAMPLE_ZIGGURAT_H
#define BRUME_SAMPLE_ZIGGURAT_H

#include <stdbool.h>
#include <stdint.h>

#include <gmp.h>

#include "number/wide.h"
#include "sample/cell.h"
#include "sample/kernel.h"
#include "sample/sigma.h"

struct ziggurat_fixed {
    uint64_t high, low; /* a 128-bit number; what it is scaled by is said where it is declared */
};

#ifndef ZIGGURAT_TABLE
#define ZIGGURAT_TABLE "sample/ziggurat_table.h"
#endif
#include ZIGGURAT_TABLE

#ifndef ZIGGURAT_LAYER_BITS
#define ZIGGURAT_LAYER_BITS 8
#endif

/* Which tiers may decide: 1 all, 2 not the vector filter, 3 the last one only. Tests set it: the
 * draws must not depend on it. */
#ifndef ZIGGURAT_FIRST_TIER
#define ZIGGURAT_FIRST_TIER 1
#endif

enum { ZIGGURAT_UNDECIDED = -2, ZIGGURAT_FAILED = -1, ZIGGURAT_BODY = 0, ZIGGURAT_TAIL = 1 };

static inline brume_u128 ziggurat_wide(struct ziggurat_fixed fixed)
{
    return (brume_u128)fixed.high << 64 | fixed.low;
}

/* The middle of the cell of U named by a word of `more`. */
static inline double ziggurat_middle(uint64_t word)
{
    return brume_uniform_middle(word << (64 - BRUME_WORD_BITS));
}

/* Is the cell [u, u+1) 2^-bits of layer 0 in its rectangle, U < R f1 / A, or in the tail? */
static inline int ziggurat_side(brume_u128 u, int bits)
{
    brume_u128 share = ziggurat_wide(ziggurat_rectangle) >> (128 - bits);
    /* share <= 2^bits R f1 / A < share + 1 */
    return u < share ? ZIGGURAT_BODY : u > share ? ZIGGURAT_TAIL : ZIGGURAT_UNDECIDED;
}

/* The floor of sigma (A/H_layer) U + (half ? 1/2 : 0), if it is the same for all U of the cell
 * [u, u+1) 2^-bits, bits <= 127. Integers only: with the lower bounds W of 2^126 A/H and m 2^e of
 * sigma, the product lies in [u W m, (u+1)(W+1)(m+1)) 2^(e - 126 - bits). */
static inline bool ziggurat_floor_of(const brume_sigma *sigma, unsigned layer, brume_u128 u,
                                     int bits, bool half, int64_t *out)
{
    int point = bits + 126 - sigma->exponent; /* binary digits after the point */
    if (point > 320) {                        /* the product is below 2^320: floor(v + 1/2) is 0 */
        *out = 0;
        return true;
    }
    uint64_t floors[2];
    for (int upper = 0; upper < 2; upper++) {
        struct ziggurat_fixed width = ziggurat_width_fixed[layer];
        brume_u128 place = u + (unsigned)upper;
        mp_limb_t a[2] = {(mp_limb_t)place, (mp_limb_t)(place >> 64)};
        mp_limb_t b[2] = {width.low, width.high}, four[4], product[6] = {0};
        mp_limb_t m[2] = {sigma->mantissa, 0};
        if (upper) {
            mpn_add_1(b, b, 2, 1); /* W + 1 < 2^128: widths are below 4 */
            mpn_add_1(m, m, 2, 1);
        }
        mpn_mul_n(four, a, b, 2);
        mpn_mul(product, four, 4, m, 2);
        if (half) {
            mp_limb_t one[6] = {0};
            one[(point - 1) / 64] = (mp_limb_t)1 << ((point - 1) % 64);
            mpn_add_n(product, product, one, 6);
        }
        int limb = point / 64, shift = point % 64;
        mp_limb_t low = limb < 6 ? product[limb] : 0, next = limb < 5 ? product[limb + 1] : 0;
        floors[upper] = shift ? low >> shift | next << (64 - shift) : low;
    }
    *out = (int64_t)floors[0];
    return floors[0] == floors[1];
}

/* ball = sigma (A/H_layer) U over the whole cell. */
static inline void ziggurat_place_ball(arb_t ball, const brume_sigma *sigma, unsigned layer,
                                       const brume_cell *u)
{
    slong precision = brume_cell_precision(u) + 64;
    arb_t factor;
    arb_init(factor);
    brume_cell_ball(ball, u);
    arb_mul_ui(ball, ball, ZIGGURAT_AREA, precision);
    arb_div_ui(ball, ball, ziggurat_height[layer], precision);
    brume_sigma_ball(factor, sigma, precision);
    arb_mul(ball, ball, factor, precision);
    arb_clear(factor);
}

/* As ziggurat_side, for a cell of any size: (prefix + 1) A <= 2^bits R f1, or prefix A >= it. */
static inline int ziggurat_side_deep(const brume_cell *u)
{
    fmpz_t border, place;
    fmpz_init_set_ui(border, ziggurat_height[0]);
    fmpz_mul_ui(border, border, ZIGGURAT_EDGE_SCALED);
    fmpz_mul_2exp(border, border, (ulong)u->bits);
    fmpz_init_set(place, u->prefix);
    fmpz_mul_ui(place, place, ZIGGURAT_AREA);
    fmpz_mul_2exp(place, place, ZIGGURAT_EDGE_BITS);
    int side = ZIGGURAT_UNDECIDED;
    if (fmpz_cmp(place, border) >= 0) {
        side = ZIGGURAT_TAIL;
    } else {
        fmpz_add_ui(place, u->prefix, 1);
        fmpz_mul_ui(place, place, ZIGGURAT_AREA);
        fmpz_mul_2exp(place, place, ZIGGURAT_EDGE_BITS);
        if (fmpz_cmp(place, border) <= 0)
            side = ZIGGURAT_BODY;
    }
    fmpz_clear(border);
    fmpz_clear(place);
    return side;
}

/* low, high = the ends of F_layer + V H_layer over the cell of V, exactly. */
static inline void ziggurat_level(arb_t low, arb_t high, unsigned layer, const brume_cell *v)
{
    fmpz_t level, step;
    fmpz_init(level);
    fmpz_init_set_ui(step, ziggurat_height[layer]);
    fmpz_set_ui(level, ziggurat_floor[layer]);
    fmpz_mul_2exp(level, level, (ulong)v->bits);
    fmpz_addmul(level, v->prefix, step);
    arb_set_fmpz(low, level);
    fmpz_add(level, level, step);
    arb_set_fmpz(high, level);
    arb_mul_2exp_si(low, low, -v->bits - ZIGGURAT_GRID_BITS);
    arb_mul_2exp_si(high, high, -v->bits - ZIGGURAT_GRID_BITS);
    fmpz_clear(level);
    fmpz_clear(step);
}

/* ball = R - ln(U)/R over the cell of U, prefix >= 1. */
static inline void ziggurat_tail_ball(arb_t ball, const brume_cell *u)
{
    slong precision = brume_cell_precision(u) + 32;
    arb_t edge;
    arb_init(edge);
    arb_set_d(edge, ZIGGURAT_EDGE);
    brume_cell_ball(ball, u);
    arb_log(ball, ball, precision);
    arb_div(ball, ball, edge, precision);
    arb_sub(ball, edge, ball, precision);
    arb_clear(edge);
}

/* ball = c = R (A - R f1), exactly. */
static inline void ziggurat_tail_height(arb_t ball)
{
    fmpz_t a, b;
    fmpz_init_set_ui(a, ZIGGURAT_AREA);
    fmpz_mul_2exp(a, a, ZIGGURAT_EDGE_BITS);
    fmpz_init_set_ui(b, ZIGGURAT_EDGE_SCALED);
    fmpz_submul_ui(a, b, ziggurat_height[0]);
    fmpz_mul(a, a, b);
    arb_set_fmpz(ball, a);
    arb_mul_2exp_si(ball, ball, -2 * ZIGGURAT_EDGE_BITS - ZIGGURAT_GRID_BITS);
    fmpz_clear(a);
    fmpz_clear(b);
}

#endif
