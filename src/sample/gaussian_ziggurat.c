/* Discrete Gaussian, sigma >= 64, by a ziggurat: P[X = k] proportional to exp(-k^2 / 2 sigma^2).
 *
 * An attempt gives 0 with probability P0 = 1 / (1 + 2 sigma n A), n the number of layers; else it
 * throws a point (t, y) uniformly on the cover of the half bell, takes x = floor(sigma t) + 1 with
 * a random sign, and keeps it iff y < exp(-x^2 / 2 sigma^2). The law is proved in
 * proofs/discrete_gaussian.md, with every margin below.
 *
 * Three tiers. The vector filter settles all but 1 to 4 % of the words: those whose x is certain,
 * below the layer's inner edge and not near the zero test. The rest go one by one through integers
 * and doubles with proven margins, and what those leave open through balls of growing precision
 * (probability below 2^-20 a draw for sigma <= 2^24). All tiers read the same words: 1 of `main` an
 * attempt, the optional ones of `more`. Above sigma = 2^41 the filter settles nothing and every
 * draw takes the second tier. */
#include "sample/gaussian_ziggurat.h"

#include "base/error.h"
#include "sample/attempts.h"
#include "sample/clones.h"
#include "sample/noise_law.h"
#include "sample/ziggurat.h"

#ifndef ZIGGURAT_ZERO_BITS
#define ZIGGURAT_ZERO_BITS 11
#endif
#ifndef ZIGGURAT_PLACE_BITS
#define ZIGGURAT_PLACE_BITS 44
#endif

enum {
    SIGN_SHIFT = ZIGGURAT_LAYER_BITS,
    ZERO_SHIFT = SIGN_SHIFT + 1,
    PLACE_SHIFT = ZERO_SHIFT + ZIGGURAT_ZERO_BITS,
    USED_BITS = PLACE_SHIFT + ZIGGURAT_PLACE_BITS, /* the top ones of a word: 64 but in tests */
};
_Static_assert(ZIGGURAT_LAYERS == 1 << ZIGGURAT_LAYER_BITS, "a layer for every name");

#define LAYER_MASK ((UINT64_C(1) << ZIGGURAT_LAYER_BITS) - 1)
#define ZERO_MASK  ((UINT64_C(1) << ZIGGURAT_ZERO_BITS) - 1)

/* The wedge's doubles are right to 2^-47.4 (proofs/wedge.gappa), plus the cell of V where tests
 * shorten its word. */
#define WEDGE_MARGIN (0x1p-46 + (BRUME_WORD_BITS < 64 ? 0.5 / (1 << BRUME_WORD_BITS % 32) : 0))

typedef struct ziggurat_noise {
    brume_noise noise;
    brume_sigma sigma;
    double inverse;     /* 1 / sigma, within 2^-52 relative */
    double certain;     /* 1/2 - sigma 2^-(place bits - 2): |t - nearest| up to here decides x */
    uint64_t zero_high; /* floor(2^zero_bits P0) */
    uint64_t zero_low;  /* the next BRUME_WORD_BITS bits of P0 */
    double step[ZIGGURAT_LAYERS];  /* sigma A/H_i 2^-place_bits, within 2^-51 relative */
    double inner[ZIGGURAT_LAYERS]; /* at most sigma inner_i */
} ziggurat_noise;

/* The filter: the value if the word settles it; else the sign bit of *open is set. */
static inline __attribute__((always_inline)) int64_t filter(const ziggurat_noise *z, uint64_t word,
                                                            uint64_t *open)
{
    word >>= 64 - USED_BITS;
    uint64_t layer = word & LAYER_MASK;
    uint64_t place = word >> PLACE_SHIFT;
    /* u + 1/2, exactly; t = sigma (A/H) U - 1/2 within 0.75 step over the whole cell */
    double middle = brume_double_of_bits(place | BRUME_INTEGER_BITS) - (0x1p52 - 0.5);
    double t = middle * z->step[layer] - 0.5;
    double rounded = t + BRUME_ROUNDER;
    double floor = rounded - BRUME_ROUNDER; /* of sigma (A/H) U, where `certain` says so */
    double x = floor + 1.0;
    *open = brume_bits_of_double(z->certain - brume_absolute(t - floor)) |
            brume_bits_of_double(z->inner[layer] - x) |
            ((word >> ZERO_SHIFT & ZERO_MASK) - z->zero_high - 1);
    int64_t value = (int64_t)(brume_bits_of_double(rounded) - brume_bits_of_double(BRUME_ROUNDER)) +
                    1;
    int64_t sign = -(int64_t)(word >> SIGN_SHIFT & 1);
    return (value ^ sign) - sign;
}

BRUME_CLONES static void filter_block(const brume_noise *noise, const uint64_t *restrict words,
                                      int64_t *restrict values, uint64_t *restrict open,
                                      size_t count)
{
    const ziggurat_noise *z = (const ziggurat_noise *)noise;
    for (size_t i = 0; i < count; i++)
        values[i] = filter(z, words[i], &open[i]);
}

/* ball = P0 = 1 / (1 + 2 sigma n A). */
static void zero_ball(arb_t ball, const brume_sigma *sigma, slong precision)
{
    brume_sigma_ball(ball, sigma, precision);
    arb_mul_ui(ball, ball, ZIGGURAT_AREA, precision);
    arb_mul_2exp_si(ball, ball, 1 + ZIGGURAT_LAYER_BITS - ZIGGURAT_GRID_BITS);
    arb_add_ui(ball, ball, 1, precision);
    arb_inv(ball, ball, precision);
}

/* Is U < P0, where the first bits of U tie with those of P0? -1: the source failed. */
static int zero_deep(const ziggurat_noise *z, brume_bits *bits)
{
    brume_cell u;
    arb_t zero, cell;
    arb_init(zero);
    arb_init(cell);
    brume_cell_open(&u, (brume_u128)z->zero_high << BRUME_WORD_BITS | z->zero_low,
                    ZIGGURAT_ZERO_BITS + BRUME_WORD_BITS);
    int is_zero = -1;
    while (brume_cell_extend(&u, bits)) {
        zero_ball(zero, &z->sigma, brume_cell_precision(&u));
        brume_cell_ball(cell, &u);
        if (!arb_overlaps(zero, cell)) {
            is_zero = arb_lt(cell, zero);
            break;
        }
    }
    brume_cell_close(&u);
    arb_clear(zero);
    arb_clear(cell);
    return is_zero;
}

static int is_zero(const ziggurat_noise *z, uint64_t word, brume_bits *bits)
{
    uint64_t first = word >> ZERO_SHIFT & ZERO_MASK, next;
    if (first != z->zero_high)
        return first < z->zero_high;
    if (!brume_sample_word(bits, bits->more, &next))
        return -1;
    if (next != z->zero_low)
        return next < z->zero_low;
    return zero_deep(z, bits);
}

static int place_deep(const ziggurat_noise *z, unsigned layer, brume_u128 u, int seen,
                      brume_bits *bits, int64_t *x)
{
    brume_cell cell;
    arb_t ball;
    arb_init(ball);
    brume_cell_open(&cell, u, seen);
    int side;
    for (;;) {
        side = layer == 0 ? ziggurat_side_deep(&cell) : ZIGGURAT_BODY;
        if (side == ZIGGURAT_TAIL)
            break;
        ziggurat_place_ball(ball, &z->sigma, layer, &cell);
        if (side == ZIGGURAT_BODY && brume_cell_floor(x, ball)) {
            *x += 1;
            break;
        }
        if (!brume_cell_extend(&cell, bits)) {
            side = ZIGGURAT_FAILED;
            break;
        }
    }
    brume_cell_close(&cell);
    arb_clear(ball);
    return side;
}

/* x = floor(sigma t) + 1 for the place of this word, or the tail. */
static int place(const ziggurat_noise *z, unsigned layer, uint64_t word, brume_bits *bits,
                 int64_t *x)
{
    brume_u128 u = word >> PLACE_SHIFT;
    int seen = ZIGGURAT_PLACE_BITS;
    if (ZIGGURAT_FIRST_TIER == 1) { /* as in the filter */
        double t = ((double)(int64_t)u + 0.5) * z->step[layer] - 0.5;
        double floor = (t + BRUME_ROUNDER) - BRUME_ROUNDER;
        if (brume_absolute(t - floor) <= z->certain &&
            (layer != 0 || ziggurat_side(u, seen) == ZIGGURAT_BODY)) {
            *x = (int64_t)floor + 1;
            return ZIGGURAT_BODY;
        }
    }
    for (;;) {
        int side = layer == 0 ? ziggurat_side(u, seen) : ZIGGURAT_BODY;
        if (side == ZIGGURAT_TAIL)
            return side;
        if (side == ZIGGURAT_BODY && ziggurat_floor_of(&z->sigma, layer, u, seen, false, x)) {
            *x += 1;
            return side;
        }
        if (seen > ZIGGURAT_PLACE_BITS)
            return place_deep(z, layer, u, seen, bits, x);
        uint64_t next;
        if (!brume_sample_word(bits, bits->more, &next))
            return ZIGGURAT_FAILED;
        u = u << BRUME_WORD_BITS | next;
        seen += BRUME_WORD_BITS;
    }
}

/* Is F + V H < exp(-x^2 / 2 sigma^2)? -1: the source failed. */
static int wedge_deep(const ziggurat_noise *z, unsigned layer, uint64_t word, int64_t x,
                      brume_bits *bits)
{
    brume_cell v;
    arb_t low, high, bell;
    fmpz_t magnitude;
    fmpz_init_set_si(magnitude, x);
    arb_init(low);
    arb_init(high);
    arb_init(bell);
    brume_cell_open(&v, word, BRUME_WORD_BITS);
    int keep = -1;
    do {
        brume_sigma_bell(bell, &z->sigma, magnitude, brume_cell_precision(&v));
        ziggurat_level(low, high, layer, &v);
        keep = arb_le(high, bell) ? 1 : arb_ge(low, bell) ? 0 : -1;
    } while (keep < 0 && brume_cell_extend(&v, bits));
    brume_cell_close(&v);
    fmpz_clear(magnitude);
    arb_clear(low);
    arb_clear(high);
    arb_clear(bell);
    return keep;
}

static int wedge(const ziggurat_noise *z, unsigned layer, int64_t x, brume_bits *bits)
{
    uint64_t word;
    if (!brume_sample_word(bits, bits->more, &word))
        return -1;
    if (ZIGGURAT_FIRST_TIER < 3) {
        const double grid = 1.0 / (double)(UINT64_C(1) << ZIGGURAT_GRID_BITS);
        double y = (double)x * z->inverse;
        double bell = brume_exp_neg(0.5 * y * y);
        double level = (double)ziggurat_floor[layer] * grid +
                       ziggurat_middle(word) * ((double)ziggurat_height[layer] * grid);
        if (brume_absolute(level - bell) > WEDGE_MARGIN)
            return level < bell;
    }
    return wedge_deep(z, layer, word, x, bits);
}

/* The tail by balls: t = R - ln(U)/R, x = floor(sigma t) + 1, keep iff V c U < exp(-x^2/2 sigma^2).
 */
static int tail_deep(const ziggurat_noise *z, uint64_t first, uint64_t second, brume_bits *bits,
                     int64_t *x)
{
    brume_cell u, v;
    arb_t t, sigma, bell, level, other;
    fmpz_t magnitude;
    fmpz_init(magnitude);
    arb_init(t);
    arb_init(sigma);
    arb_init(bell);
    arb_init(level);
    arb_init(other);
    brume_cell_open(&u, first, BRUME_WORD_BITS);
    brume_cell_open(&v, second, BRUME_WORD_BITS);
    int keep = -1;
    do {
        slong precision = brume_cell_precision(&u) + 64;
        if (fmpz_is_zero(u.prefix))
            continue; /* no upper bound of t yet */
        ziggurat_tail_ball(t, &u);
        brume_sigma_ball(sigma, &z->sigma, precision);
        arb_mul(t, t, sigma, precision);
        if (!brume_cell_floor(x, t))
            continue;
        fmpz_set_si(magnitude, *x);
        fmpz_add_ui(magnitude, magnitude, 1);
        brume_sigma_bell(bell, &z->sigma, magnitude, precision);
        ziggurat_tail_height(level);
        brume_cell_ball(other, &u);
        arb_mul(level, level, other, precision);
        brume_cell_ball(other, &v);
        arb_mul(level, level, other, precision);
        keep = arb_lt(level, bell) ? 1 : arb_gt(level, bell) ? 0 : -1;
        if (keep >= 0 && *x < INT64_MAX)
            *x += 1;
    } while (keep < 0 && brume_cell_extend(&u, bits) && brume_cell_extend(&v, bits));
    brume_cell_close(&u);
    brume_cell_close(&v);
    fmpz_clear(magnitude);
    arb_clear(t);
    arb_clear(sigma);
    arb_clear(bell);
    arb_clear(level);
    arb_clear(other);
    return keep;
}

static int tail(const ziggurat_noise *z, brume_bits *bits, int64_t *x)
{
    uint64_t first, second;
    if (!brume_sample_word(bits, bits->more, &first) ||
        !brume_sample_word(bits, bits->more, &second))
        return -1;
    if (ZIGGURAT_FIRST_TIER < 3 && BRUME_WORD_BITS == 64) {
        double unused, u = ziggurat_middle(first), v = ziggurat_middle(second);
        double t = z->sigma.value * (ZIGGURAT_EDGE + brume_neg_log(u, &unused) / ZIGGURAT_EDGE);
        double nearest = (t + BRUME_ROUNDER) - BRUME_ROUNDER;
        /* |t - sigma (R - ln(U)/R)| < sigma 2^-37 for U >= 2^-16; t < 2^51 */
        if (u >= 0x1p-16 && t < 0x1p51 && brume_absolute(t - nearest) > z->sigma.value * 0x1p-36) {
            double ceiling = nearest > t ? nearest : nearest + 1.0; /* floor(t) + 1 */
            double y = ceiling * z->inverse;
            double bell = brume_exp_neg(0.5 * y * y);
            double level = v * ZIGGURAT_TAIL_HEIGHT * u;
            if (brume_absolute(level - bell) > 0x1p-35 * bell) {
                *x = (int64_t)ceiling;
                return level < bell;
            }
        }
    }
    return tail_deep(z, first, second, bits, x);
}

/* The whole attempt of a word: 1 kept, 0 rejected, -1 source failed. */
static __attribute__((noinline)) int attempt(const brume_noise *noise, uint64_t word,
                                             brume_bits *bits, int64_t *out)
{
    const ziggurat_noise *z = (const ziggurat_noise *)noise;
    word >>= 64 - USED_BITS;
    int zero = is_zero(z, word, bits);
    if (zero != 0) {
        *out = 0;
        return zero;
    }
    unsigned layer = (unsigned)(word & LAYER_MASK);
    int64_t x;
    int side = place(z, layer, word, bits, &x);
    if (side == ZIGGURAT_FAILED)
        return -1;
    int keep = 1;
    if (side == ZIGGURAT_TAIL)
        keep = tail(z, bits, &x);
    else if ((double)x > z->inner[layer])
        keep = wedge(z, layer, x, bits);
    if (keep == 1)
        *out = word >> SIGN_SHIFT & 1 ? -x : x;
    return keep;
}

static bool draw(const brume_noise *noise, brume_bits *bits, int64_t *out)
{
    const ziggurat_noise *z = (const ziggurat_noise *)noise;
    for (;;) {
        uint64_t word, open;
        if (!brume_bits_word(bits, bits->main, &word))
            return false;
        int64_t value = filter(z, word, &open);
        if (!(open >> 63)) {
            *out = value;
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

static const brume_noise_law law = {"discrete Gaussian", draw, fill, NULL};

/* The first bits of P0, certified: exactly for a rational sigma; P0 is irrational for others, so
 * that a fine enough ball has one floor. */
static void find_zero_bits(ziggurat_noise *z)
{
    const ulong shift = ZIGGURAT_ZERO_BITS + BRUME_WORD_BITS;
    fmpz_t bits, high;
    fmpz_init(bits);
    fmpz_init(high);
    fmpq_t sigma;
    fmpq_init(sigma);
    if (brume_sigma_rational(sigma, &z->sigma)) {
        /* P0 = q 2^g / (q 2^g + 2 n A p), sigma = p/q, A on the grid 2^-g */
        fmpz_mul_2exp(bits, fmpq_denref(sigma), ZIGGURAT_GRID_BITS);
        fmpz_mul_ui(high, fmpq_numref(sigma), ZIGGURAT_AREA);
        fmpz_mul_2exp(high, high, 1 + ZIGGURAT_LAYER_BITS);
        fmpz_add(high, high, bits);
        fmpz_mul_2exp(bits, bits, shift);
        fmpz_fdiv_q(bits, bits, high);
    } else {
        arb_t ball;
        arb_init(ball);
        slong precision = 192;
        do {
            zero_ball(ball, &z->sigma, precision);
            arb_mul_2exp_si(ball, ball, (slong)shift);
            arb_floor(ball, ball, precision);
            precision *= 2;
        } while (!arb_get_unique_fmpz(bits, ball));
        arb_clear(ball);
    }
    fmpz_fdiv_q_2exp(high, bits, BRUME_WORD_BITS);
    fmpz_fdiv_r_2exp(bits, bits, BRUME_WORD_BITS);
    z->zero_high = fmpz_get_ui(high);
    z->zero_low = fmpz_get_ui(bits);
    fmpq_clear(sigma);
    fmpz_clear(bits);
    fmpz_clear(high);
}

brume_status brume_gaussian_ziggurat_open(const brume_sigma *sigma, brume_noise **out,
                                          brume_error *error)
{
    ziggurat_noise *z = brume_noise_open_as(&law, sizeof *z, error);
    if (!z)
        return BRUME_EMEMORY;
    z->sigma = *sigma;
    z->inverse = 1.0 / sigma->value;
    z->certain = 0.5 - sigma->value * 4.0 / (double)(UINT64_C(1) << ZIGGURAT_PLACE_BITS);
    for (int i = 0; i < ZIGGURAT_LAYERS; i++) {
        z->step[i] = sigma->value * ziggurat_width[i] /
                     (double)(UINT64_C(1) << ZIGGURAT_PLACE_BITS);
        /* three roundings to nearest, at most 3 * 2^-53 up; the factor takes 2^-48 off */
        z->inner[i] = sigma->value * ziggurat_inner[i] * (1 - 0x1p-48);
    }
    find_zero_bits(z);
    *out = &z->noise;
    return BRUME_OK;
}
