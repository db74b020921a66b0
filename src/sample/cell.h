/* A uniform number of [0, 1) as a ball: the last tier of the samplers that compare several of them.
 *
 * The bits seen so far make a cell [prefix, prefix + 1) 2^-bits. A sampler decides only what holds
 * on the whole cell; bits never drawn cannot matter. Each further word adds BRUME_WORD_BITS
 * bits: 64, or fewer where a test enumerates every tape.
 *
 * Here everything allocates; each sampler says how rarely it comes here. */
#ifndef BRUME_SAMPLE_CELL_H
#define BRUME_SAMPLE_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "number/flint.h"

#include "number/wide.h"
#include "sample/word.h"

typedef struct brume_cell {
    fmpz_t prefix;
    slong bits;
} brume_cell;

static inline void brume_cell_open(brume_cell *u, brume_u128 prefix, int bits)
{
    fmpz_init(u->prefix);
    fmpz_set_ui(u->prefix, (ulong)(prefix >> 64));
    fmpz_mul_2exp(u->prefix, u->prefix, 64);
    fmpz_add_ui(u->prefix, u->prefix, (ulong)prefix);
    u->bits = bits;
}

static inline void brume_cell_close(brume_cell *u)
{
    fmpz_zero(u->prefix);
    fmpz_clear(u->prefix);
}

/* One more word of `more`. false: the source failed. */
static inline bool brume_cell_extend(brume_cell *u, brume_bits *bits)
{
    uint64_t word;
    if (!brume_sample_word(bits, bits->more, &word))
        return false;
    fmpz_mul_2exp(u->prefix, u->prefix, BRUME_WORD_BITS);
    fmpz_add_ui(u->prefix, u->prefix, word);
    u->bits += BRUME_WORD_BITS;
    return true;
}

/* The precision at which a cell of this size is worth evaluating. */
static inline slong brume_cell_precision(const brume_cell *u)
{
    return u->bits + 96;
}

/* ball = the closed cell, exactly: centre (2 prefix + 1) 2^-(bits+1), radius 2^-(bits+1). */
static inline void brume_cell_ball(arb_t ball, const brume_cell *u)
{
    fmpz_t centre;
    fmpz_init(centre);
    fmpz_mul_2exp(centre, u->prefix, 1);
    fmpz_add_ui(centre, centre, 1);
    arb_set_fmpz(ball, centre);
    mag_one(arb_radref(ball));
    arb_mul_2exp_si(ball, ball, -(u->bits + 1));
    fmpz_zero(centre);
    fmpz_clear(centre);
}

/* The floor of a real, saturated at +-(2^63 - 1). */
static inline int64_t brume_floor_saturated(const arf_t x)
{
    if (arf_cmpabs_2exp_si(x, 63) >= 0)
        return arf_sgn(x) < 0 ? -INT64_MAX : INT64_MAX;
    return arf_get_si(x, ARF_RND_FLOOR);
}

/* The floor of every number of the ball, saturated, if it is one. */
static inline bool brume_cell_floor(int64_t *floor, const arb_t ball)
{
    if (!arb_is_finite(ball))
        return false;
    /* rounded outwards to 256 bits: exact but for balls that are far from deciding, or certain */
    arf_t low, high;
    arf_init(low);
    arf_init(high);
    arb_get_lbound_arf(low, ball, 256);
    arb_get_ubound_arf(high, ball, 256);
    *floor = brume_floor_saturated(low);
    bool one = *floor == brume_floor_saturated(high);
    arf_clear(low);
    arf_clear(high);
    return one;
}

#endif
