/* Real noise on a grid by interval refinement: balls over the bits of one to three uniforms seen so
 * far, more bits until the rounded sum is the same on the whole ball. Laws: proofs/grid_noise.md.
 *
 * An attempt reads a fixed number of words of `main`; the two low bits of its first word are signs.
 * What the rest does not settle (once in some 2^40 at ordinary scales) reads `more`. */
#include <brume/noise/grid_noise.h>

#include <math.h>

#include "base/error.h"
#include "sample/cell.h"
#include "sample/kernel.h"

enum { UNIFORMS = 3, SIGN_BITS = 2 };
enum { UNDECIDED = -1, REJECTED = 0, KEPT = 1 };

typedef struct attempt {
    brume_grid_law law;
    double shape;
    bool first_sign, second_sign;
    int count; /* of uniforms */
    brume_cell u[UNIFORMS];
} attempt;

static int uniforms_of(brume_grid_law law)
{
    switch (law) {
    case BRUME_GRID_LAPLACE:
    case BRUME_GRID_GUMBEL:
        return 1;
    case BRUME_GRID_LAPLACE_LOG_NORMAL:
        return 3;
    default:
        return 2;
    }
}

static void negate_if(arb_t x, bool negative)
{
    if (negative)
        arb_neg(x, x);
}

/* x = -ln U over the cell; not finite while the cell touches 0. */
static void exponential(arb_t x, const brume_cell *u, slong precision)
{
    brume_cell_ball(x, u);
    arb_log(x, x, precision);
    arb_neg(x, x);
}

/* v = V1, square = V1^2 + V2^2, kept where that is below 1: a point uniform in the quarter disc. */
static int disc(arb_t v, arb_t square, const brume_cell *u, slong precision)
{
    arb_t other;
    arb_init(other);
    brume_cell_ball(v, &u[0]);
    brume_cell_ball(other, &u[1]);
    arb_mul(square, v, v, precision);
    arb_addmul(square, other, other, precision);
    arb_one(other);
    int kept = arb_lt(square, other) ? KEPT : arb_ge(square, other) ? REJECTED : UNDECIDED;
    arb_clear(other);
    return kept;
}

/* z = V1 sqrt(radius / W): `radius` is the squared length given the direction. */
static void on_circle(arb_t z, const arb_t v, const arb_t radius, const arb_t square,
                      slong precision)
{
    arb_div(z, radius, square, precision);
    arb_sqrt(z, z, precision); /* not finite if the ball holds negative numbers */
    arb_mul(z, z, v, precision);
}

/* Z over the cells of the attempt. */
static int evaluate(arb_t z, const attempt *a, slong precision)
{
    if (a->law == BRUME_GRID_LAPLACE || a->law == BRUME_GRID_GUMBEL) {
        exponential(z, &a->u[0], precision);
        if (a->law == BRUME_GRID_LAPLACE) {
            negate_if(z, a->first_sign);
        } else {
            arb_log(z, z, precision);
            arb_neg(z, z);
        }
        return arb_is_finite(z) ? KEPT : UNDECIDED;
    }
    arb_t v, square, radius, shape;
    arb_init(v);
    arb_init(square);
    arb_init(radius);
    arb_init(shape);
    int kept = disc(v, square, a->u, precision);
    if (kept == KEPT) {
        arb_log(radius, square, precision);
        arb_mul_si(radius, radius, -2, precision); /* -2 ln W */
        arb_set_d(shape, a->shape);
        switch (a->law) {
        case BRUME_GRID_CAUCHY: /* V1 / V2 */
            brume_cell_ball(radius, &a->u[1]);
            arb_div(z, v, radius, precision);
            break;
        case BRUME_GRID_STUDENT: /* radius^2 = d (W^(-2/d) - 1) */
            arb_div(radius, radius, shape, precision);
            arb_expm1(radius, radius, precision);
            arb_mul(radius, radius, shape, precision);
            on_circle(z, v, radius, square, precision);
            break;
        case BRUME_GRID_LAPLACE_LOG_NORMAL:
            on_circle(z, v, radius, square, precision);
            negate_if(z, a->second_sign);
            arb_mul(z, z, shape, precision);
            arb_exp(z, z, precision);
            exponential(v, &a->u[2], precision);
            arb_mul(z, z, v, precision);
            break;
        default: /* Gaussian: radius^2 = -2 ln W */
            on_circle(z, v, radius, square, precision);
            break;
        }
        negate_if(z, a->first_sign);
        kept = arb_is_finite(z) ? KEPT : UNDECIDED;
    }
    arb_clear(v);
    arb_clear(square);
    arb_clear(radius);
    arb_clear(shape);
    return kept;
}

/* The nearest integer to (location + scale z) 2^-exponent, clamped, if it is one. */
static bool round_sum(int64_t *out, arb_t z, double location, double scale, int exponent,
                      slong precision)
{
    const int64_t most = INT64_C(1) << 62;
    arb_t term;
    arb_init(term);
    arb_set_d(term, scale);
    arb_mul(z, z, term, precision);
    arb_set_d(term, location);
    arb_add(z, z, term, precision);
    arb_mul_2exp_si(z, z, -exponent);
    arb_set_d(term, 0.5);
    arb_add(z, z, term, precision);
    arb_clear(term);
    arf_t end;
    arf_init(end);
    arb_get_lbound_arf(end, z, precision); /* rounds down */
    int64_t low = brume_floor_saturated(end);
    arb_get_ubound_arf(end, z, precision); /* rounds up */
    int64_t high = brume_floor_saturated(end);
    arf_clear(end);
    low = low > most ? most : low < -most ? -most : low;
    high = high > most ? most : high < -most ? -most : high;
    *out = low;
    return low == high;
}

/* One attempt: KEPT, REJECTED, or UNDECIDED if the source failed. */
static int try_once(brume_bits *bits, attempt *a, double location, double scale, int exponent,
                    int64_t *out)
{
    uint64_t words[UNIFORMS] = {0};
    for (int i = 0; i < a->count; i++)
        if (!brume_sample_word(bits, bits->main, &words[i]))
            return UNDECIDED;
    a->first_sign = words[0] & 1;
    a->second_sign = words[0] >> 1 & 1;
    brume_cell_open(&a->u[0], words[0] >> SIGN_BITS, BRUME_WORD_BITS - SIGN_BITS);
    for (int i = 1; i < a->count; i++)
        brume_cell_open(&a->u[i], words[i], BRUME_WORD_BITS);
    arb_t z;
    arb_init(z);
    int kept;
    for (;;) {
        slong precision = brume_cell_precision(&a->u[0]) + 64;
        kept = evaluate(z, a, precision);
        if (kept == KEPT && !round_sum(out, z, location, scale, exponent, precision))
            kept = UNDECIDED;
        if (kept != UNDECIDED)
            break;
        bool more = true;
        for (int i = 0; i < a->count && more; i++)
            more = brume_cell_extend(&a->u[i], bits);
        if (!more)
            break;
    }
    arb_clear(z);
    for (int i = 0; i < a->count; i++)
        brume_cell_close(&a->u[i]);
    brume_bits_wipe(words, sizeof words);
    return kept;
}

static brume_status check(brume_grid_law law, double shape, double location, double scale,
                          int exponent, brume_error *error)
{
    if (law < BRUME_GRID_LAPLACE || law > BRUME_GRID_GUMBEL)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such law of noise on a grid");
    if (law == BRUME_GRID_STUDENT && !(shape >= 1 && isfinite(shape)))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'degrees' is %.17g; it must be at least 1 and finite", shape);
    if (law == BRUME_GRID_LAPLACE_LOG_NORMAL && !(shape >= 0 && shape <= 1024))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the shape is %.17g; it must be between 0 and 1024", shape);
    if (law != BRUME_GRID_STUDENT && law != BRUME_GRID_LAPLACE_LOG_NORMAL && shape != 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "this law of noise has no shape: pass 0");
    /* Location and scale may be private: their values are not quoted. */
    if (!isfinite(location))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the location is not a finite number");
    if (!(scale >= 0 && isfinite(scale)))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the scale is not a finite number of at least 0");
    if (!brume_rounds_to_nearest()) /* Arb bounds some radii by doubles */
        return brume_fail(error, BRUME_EARGUMENT, "call fesetround(FE_TONEAREST) before drawing",
                          "the floating-point rounding mode is not to nearest");
    if (exponent < -1074 || exponent > 1023)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the grid exponent %d is outside -1074 .. 1023", exponent);
    return BRUME_OK;
}

brume_status brume_grid_noise(brume_bits *bits, brume_grid_law law, double shape, double location,
                              double scale, int exponent, int64_t *out, brume_error *error)
{
    if (!bits || !out)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no bit source or no place for the draw");
    BRUME_TRY(check(law, shape, location, scale, exponent, error));
    attempt a = {.law = law, .shape = shape, .count = uniforms_of(law)};
    int64_t value = 0;
    int kept;
    do {
        kept = try_once(bits, &a, location, scale, exponent, &value);
    } while (kept == REJECTED);
    if (kept != KEPT)
        return brume_bits_failed(bits, error);
    *out = value;
    return BRUME_OK;
}
