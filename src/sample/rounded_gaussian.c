/* The integer nearest to a continuous Gaussian of standard deviation sigma, exactly.
 *
 * A point (t, y) uniform under the half bell, by the layers of ziggurat.h, has t distributed as the
 * absolute value of a standard Gaussian; the value is the integer nearest to sigma t, with a random
 * sign. Law and margins: proofs/rounded_gaussian.md.
 *
 * Word of `main`: layer | sign | unused | place. A vector filter settles the words whose place is
 * below the layer's inner edge and whose sigma t is certainly not near a half-integer (98 to 99 %
 * for sigma up to 2^40; it settles none above 2^47). The others go through integers and doubles
 * with proven margins, then through balls (probability below 2^-25 a draw for sigma <= 2^20). */
#include <brume/noise/noise.h>

#include "base/error.h"
#include "sample/attempts.h"
#include "sample/clones.h"
#include "sample/ziggurat.h"

#ifndef ZIGGURAT_GAP_BITS
#define ZIGGURAT_GAP_BITS 3
#endif
#ifndef ZIGGURAT_PLACE_BITS
#define ZIGGURAT_PLACE_BITS 52
#endif

enum {
    SIGN_SHIFT = ZIGGURAT_LAYER_BITS,
    PLACE_SHIFT = SIGN_SHIFT + 1 + ZIGGURAT_GAP_BITS,
    USED_BITS = PLACE_SHIFT + ZIGGURAT_PLACE_BITS, /* the top ones of a word: 64 but in tests */
};
_Static_assert(ZIGGURAT_LAYERS == 1 << ZIGGURAT_LAYER_BITS, "a layer for every name");

#define LAYER_MASK ((UINT64_C(1) << ZIGGURAT_LAYER_BITS) - 1)
#define PLACES     ((double)(UINT64_C(1) << ZIGGURAT_PLACE_BITS))

/* The wedge's doubles are right to 2^-47.2; tests with short words have wider cells. */
#define WEDGE_MARGIN                                                                               \
    (0x1p-46 + (BRUME_WORD_BITS < 64 ? 8.0 / PLACES + 1.0 / (1 << BRUME_WORD_BITS % 32) : 0))

typedef struct rounded_noise {
    brume_noise noise;
    brume_sigma sigma;
    double certain;                 /* |sigma t - nearest| up to here decides the value */
    double step[ZIGGURAT_LAYERS];   /* sigma A/H_i 2^-place_bits, within 2^-52 relative */
    double inside[ZIGGURAT_LAYERS]; /* places below this are below the inner edge: kept */
} rounded_noise;

static inline __attribute__((always_inline)) int64_t filter(const rounded_noise *z, uint64_t word,
                                                            uint64_t *open)
{
    word >>= 64 - USED_BITS;
    uint64_t layer = word & LAYER_MASK;
    /* u + 1/2, exactly */
    double middle = brume_double_of_bits((word >> PLACE_SHIFT) | BRUME_INTEGER_BITS) -
                    (0x1p52 - 0.5);
    double t = middle * z->step[layer];
    double rounded = t + BRUME_ROUNDER;
    double nearest = rounded - BRUME_ROUNDER;
    *open = brume_bits_of_double(z->certain - brume_absolute(t - nearest)) |
            brume_bits_of_double(z->inside[layer] - middle);
    if (ZIGGURAT_FIRST_TIER > 1)
        *open = BRUME_SIGN_BIT;
    int64_t value = (int64_t)(brume_bits_of_double(rounded) - brume_bits_of_double(BRUME_ROUNDER));
    int64_t sign = -(int64_t)(word >> SIGN_SHIFT & 1);
    return (value ^ sign) - sign;
}

BRUME_CLONES static void filter_block(const brume_noise *noise, const uint64_t *restrict words,
                                      int64_t *restrict values, uint64_t *restrict open,
                                      size_t count)
{
    const rounded_noise *z = (const rounded_noise *)noise;
    for (size_t i = 0; i < count; i++)
        values[i] = filter(z, words[i], &open[i]);
}

/* The value of an accepted place by balls. false: the source failed. */
static bool value_deep(const rounded_noise *z, unsigned layer, brume_cell *u, brume_bits *bits,
                       int64_t *x)
{
    arb_t ball, half;
    arb_init(ball);
    arb_init(half);
    arb_set_d(half, 0.5);
    bool found;
    do {
        ziggurat_place_ball(ball, &z->sigma, layer, u);
        arb_add(ball, ball, half, brume_cell_precision(u) + 128);
        found = brume_cell_floor(x, ball);
    } while (!found && brume_cell_extend(u, bits));
    arb_clear(ball);
    arb_clear(half);
    return found;
}

/* The value of an accepted place. */
static bool value(const rounded_noise *z, unsigned layer, uint64_t place, brume_bits *bits,
                  int64_t *x)
{
    uint64_t next;
    if (ZIGGURAT_FIRST_TIER == 1) { /* as in the filter */
        double t = ((double)(int64_t)place + 0.5) * z->step[layer];
        double nearest = (t + BRUME_ROUNDER) - BRUME_ROUNDER;
        if (brume_absolute(t - nearest) <= z->certain) {
            *x = (int64_t)nearest;
            return true;
        }
    }
    if (ziggurat_floor_of(&z->sigma, layer, place, ZIGGURAT_PLACE_BITS, true, x))
        return true;
    if (!brume_sample_word(bits, bits->more, &next))
        return false;
    brume_u128 u = (brume_u128)place << BRUME_WORD_BITS | next;
    if (ziggurat_floor_of(&z->sigma, layer, u, ZIGGURAT_PLACE_BITS + BRUME_WORD_BITS, true, x))
        return true;
    brume_cell cell;
    brume_cell_open(&cell, u, ZIGGURAT_PLACE_BITS + BRUME_WORD_BITS);
    bool found = value_deep(z, layer, &cell, bits, x);
    brume_cell_close(&cell);
    return found;
}

/* keep = 1 if V c < f(R) exp(-s^2/2) for all of the cells, 0 if for none, else -1; s = -ln(U)/R. */
static int tail_kept(const arb_t t, const brume_cell *v, slong precision)
{
    arb_t edge, bell, level;
    arb_init(edge);
    arb_init(bell);
    arb_init(level);
    /* f(R) e^(-(t-R)^2/2) = e^(-(R^2 + (t-R)^2)/2) */
    arb_set_d(edge, ZIGGURAT_EDGE);
    arb_sub(bell, t, edge, precision);
    arb_sqr(bell, bell, precision);
    arb_addmul(bell, edge, edge, precision);
    arb_mul_2exp_si(bell, bell, -1);
    arb_neg(bell, bell);
    arb_exp(bell, bell, precision);
    ziggurat_tail_height(level);
    brume_cell_ball(edge, v);
    arb_mul(level, level, edge, precision);
    int keep = arb_lt(level, bell) ? 1 : arb_gt(level, bell) ? 0 : -1;
    arb_clear(edge);
    arb_clear(bell);
    arb_clear(level);
    return keep;
}

static int tail_deep(const rounded_noise *z, uint64_t first, uint64_t second, brume_bits *bits,
                     int64_t *x)
{
    brume_cell u, v;
    arb_t t, sigma;
    arb_init(t);
    arb_init(sigma);
    brume_cell_open(&u, first, BRUME_WORD_BITS);
    brume_cell_open(&v, second, BRUME_WORD_BITS);
    int keep = -1;
    do {
        if (fmpz_is_zero(u.prefix))
            continue; /* no upper bound of t yet */
        slong precision = brume_cell_precision(&u) + 64;
        ziggurat_tail_ball(t, &u);
        keep = tail_kept(t, &v, precision);
        if (keep == 0)
            break;
        brume_sigma_ball(sigma, &z->sigma, precision);
        arb_mul(t, t, sigma, precision);
        arb_set_d(sigma, 0.5);
        arb_add(t, t, sigma, precision);
        if (!brume_cell_floor(x, t))
            keep = -1;
    } while (keep < 0 && brume_cell_extend(&u, bits) && brume_cell_extend(&v, bits));
    brume_cell_close(&u);
    brume_cell_close(&v);
    arb_clear(t);
    arb_clear(sigma);
    return keep;
}

/* Beyond R: t = R + s, s = -ln(U)/R, kept iff V c/f(R) < exp(-s^2/2). */
static int tail(const rounded_noise *z, brume_bits *bits, int64_t *x)
{
    uint64_t first, second;
    if (!brume_sample_word(bits, bits->more, &first) ||
        !brume_sample_word(bits, bits->more, &second))
        return -1;
    if (ZIGGURAT_FIRST_TIER < 3 && BRUME_WORD_BITS == 64 && ziggurat_middle(first) >= 0x1p-16) {
        double unused;
        double s = brume_neg_log(ziggurat_middle(first), &unused) / ZIGGURAT_EDGE;
        double bell = brume_exp_neg(0.5 * s * s);
        double level = ziggurat_middle(second) * ZIGGURAT_TAIL_RATIO;
        if (brume_absolute(level - bell) > 0x1p-35 * bell + 0x1p-50) {
            if (level > bell)
                return 0;
            double t = z->sigma.value * (ZIGGURAT_EDGE + s);
            double nearest = (t + BRUME_ROUNDER) - BRUME_ROUNDER;
            if (t < 0x1p50 && brume_absolute(t - nearest) < 0.5 - z->sigma.value * 0x1p-36) {
                *x = (int64_t)nearest;
                return 1;
            }
        }
    }
    return tail_deep(z, first, second, bits, x);
}

/* A place beyond the inner edge by balls: first whether it is kept, then its value. */
static int wedge_deep(const rounded_noise *z, unsigned layer, uint64_t place, uint64_t word,
                      brume_bits *bits, int64_t *x)
{
    brume_cell u, v;
    arb_t t, low, high;
    arb_init(t);
    arb_init(low);
    arb_init(high);
    brume_cell_open(&u, place, ZIGGURAT_PLACE_BITS);
    brume_cell_open(&v, word, BRUME_WORD_BITS);
    int keep = -1;
    bool beyond = false;
    do {
        int side = layer == 0 ? ziggurat_side_deep(&u) : ZIGGURAT_BODY;
        beyond = side == ZIGGURAT_TAIL;
        if (beyond)
            break;
        if (side == ZIGGURAT_UNDECIDED)
            continue;
        slong precision = brume_cell_precision(&u) + 64;
        brume_cell_ball(t, &u);
        arb_mul_ui(t, t, ZIGGURAT_AREA, precision);
        arb_div_ui(t, t, ziggurat_height[layer], precision);
        arb_sqr(t, t, precision);
        arb_mul_2exp_si(t, t, -1);
        arb_neg(t, t);
        arb_exp(t, t, precision);
        ziggurat_level(low, high, layer, &v);
        keep = arb_le(high, t) ? 1 : arb_ge(low, t) ? 0 : -1;
    } while (keep < 0 && brume_cell_extend(&u, bits) && brume_cell_extend(&v, bits));
    if (beyond)
        keep = tail(z, bits, x);
    else if (keep == 1 && u.bits > ZIGGURAT_PLACE_BITS)
        keep = value_deep(z, layer, &u, bits, x) ? 1 : -1;
    else if (keep == 1)
        keep = value(z, layer, place, bits, x) ? 1 : -1;
    brume_cell_close(&u);
    brume_cell_close(&v);
    arb_clear(t);
    arb_clear(low);
    arb_clear(high);
    return keep;
}

static int wedge(const rounded_noise *z, unsigned layer, uint64_t place, brume_bits *bits,
                 int64_t *x)
{
    uint64_t word;
    if (!brume_sample_word(bits, bits->more, &word))
        return -1;
    /* In layer 0 the place may still be at the border of the tail. */
    bool body = layer != 0 || ziggurat_side(place, ZIGGURAT_PLACE_BITS) == ZIGGURAT_BODY;
    if (ZIGGURAT_FIRST_TIER < 3 && body) {
        const double grid = 1.0 / (double)(UINT64_C(1) << ZIGGURAT_GRID_BITS);
        double t = ((double)(int64_t)place + 0.5) * (ziggurat_width[layer] / PLACES);
        double bell = brume_exp_neg(0.5 * t * t);
        double level = (double)ziggurat_floor[layer] * grid +
                       ziggurat_middle(word) * ((double)ziggurat_height[layer] * grid);
        if (brume_absolute(level - bell) > WEDGE_MARGIN) {
            if (level > bell)
                return 0;
            return value(z, layer, place, bits, x) ? 1 : -1;
        }
    }
    return wedge_deep(z, layer, place, word, bits, x);
}

/* The whole attempt of a word: 1 kept, 0 rejected, -1 source failed. */
static __attribute__((noinline)) int attempt(const brume_noise *noise, uint64_t word,
                                             brume_bits *bits, int64_t *out)
{
    const rounded_noise *z = (const rounded_noise *)noise;
    word >>= 64 - USED_BITS;
    unsigned layer = (unsigned)(word & LAYER_MASK);
    uint64_t place = word >> PLACE_SHIFT;
    int64_t x = 0;
    int keep;
    if (place < ziggurat_inside[layer] >> (64 - ZIGGURAT_PLACE_BITS))
        keep = value(z, layer, place, bits, &x) ? 1 : -1;
    else if (layer == 0 && ziggurat_side(place, ZIGGURAT_PLACE_BITS) == ZIGGURAT_TAIL)
        keep = tail(z, bits, &x);
    else
        keep = wedge(z, layer, place, bits, &x);
    if (keep == 1)
        *out = word >> SIGN_SHIFT & 1 ? -x : x;
    return keep;
}

static bool draw(const brume_noise *noise, brume_bits *bits, int64_t *out)
{
    for (;;) {
        uint64_t word, open;
        if (!brume_bits_word(bits, bits->main, &word))
            return false;
        int64_t x = filter((const rounded_noise *)noise, word, &open);
        if (!(open >> 63)) {
            *out = x;
            return true;
        }
        int kept = attempt(noise, word, bits, out);
        if (kept != 0)
            return kept > 0;
    }
}

static bool fill(const brume_noise *noise, brume_bits *bits, int64_t *out, size_t n)
{
    return brume_attempts_fill(noise, filter_block, attempt, bits, out, n);
}

static const brume_noise_law law = {"rounded Gaussian", draw, fill, NULL};

brume_status brume_noise_open_rounded_gaussian(double sigma, brume_noise **out, brume_error *error)
{
    BRUME_TRY(brume_noise_check_scale("sigma", sigma, BRUME_SIGMA_LARGEST,
                                      (const brume_noise *const *)out, error));
    if (!brume_rounds_to_nearest())
        return brume_fail(error, BRUME_EARGUMENT, "call fesetround(FE_TONEAREST) before opening",
                          "the floating-point rounding mode is not to nearest");
    rounded_noise *z = brume_noise_open_as(&law, sizeof *z, error);
    if (!z)
        return BRUME_EMEMORY;
    brume_sigma_from_double(&z->sigma, sigma);
    /* 16 sigma 2^-53 from roundings and, at full width, the cell; 4 cells where it is wider */
    z->certain = 0.5 - sigma * (0x1p-49 + 4 / PLACES);
    for (int i = 0; i < ZIGGURAT_LAYERS; i++) {
        z->step[i] = sigma * ziggurat_width[i] / PLACES;
        z->inside[i] = (double)(ziggurat_inside[i] >> (64 - ZIGGURAT_PLACE_BITS));
    }
    *out = &z->noise;
    return BRUME_OK;
}
