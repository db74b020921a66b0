/* Running totals of a table that grows. Promises: running.h; proof: proofs/series.md. */
#include "mechanism/series/running.h"

#include <math.h>
#include <stdlib.h>

#include <brume/noise/gaussian.h>
#include <brume/noise/noise.h>

#include "base/error.h"
#include "number/ball.h"
#include "number/flint.h"
#include "number/rounding.h"

struct brume_running {
    brume_running_shape shape;
    uint32_t *coefficients; /* of the square root; else NULL */
    /* The decoder of totals, as far as it was needed: inverse of the coefficients, and its sums. */
    double *inverse, *decoder;
    uint64_t decoded;
};

/* ---- shapes ---- */

/* The most blocks that any total of up to `horizon` windows is put together from: the largest sum
 * of digits of a number up to `horizon`, in these radices. */
static uint64_t most_blocks(const brume_running_shape *shape)
{
    uint64_t digit[BRUME_RUNNING_LEVELS], left = shape->horizon, above = 0, full = 0, most = 0;
    for (size_t i = 0; i < shape->levels; i++) {
        digit[i] = left % shape->radix[i];
        left /= shape->radix[i];
        full += shape->radix[i] - 1;
    }
    for (size_t i = shape->levels; i-- > 0;) { /* equal above i, smaller there, anything below */
        full -= shape->radix[i] - 1;
        if (digit[i] > 0 && above + digit[i] - 1 + full > most)
            most = above + digit[i] - 1 + full;
        above += digit[i];
    }
    return above > most ? above : most;
}

static bool holds_horizon(const brume_running_shape *shape)
{
    uint64_t windows = 1;
    for (size_t i = 0; i < shape->levels; i++)
        windows *= shape->radix[i];
    return windows > shape->horizon;
}

/* Noise grows with the number of levels, and with the root of the number of blocks. */
static double worst_error(const brume_running_shape *shape)
{
    return (double)shape->levels * sqrt((double)most_blocks(shape));
}

static void consider(const brume_running_shape *shape, brume_running_shape *best)
{
    if (holds_horizon(shape) && (best->levels == 0 || worst_error(shape) < worst_error(best)))
        *best = *shape;
}

/* All radices next to the root of the horizon, in every order. */
static void search_radices(brume_running_shape *shape, size_t level, uint64_t least, uint64_t most,
                           brume_running_shape *best)
{
    if (level == shape->levels) {
        consider(shape, best);
        return;
    }
    for (uint64_t radix = least; radix <= most; radix++) {
        shape->radix[level] = radix;
        search_radices(shape, level + 1, least, most, best);
    }
}

brume_status brume_running_choose(brume_rule rule, uint64_t horizon, brume_running_shape *out,
                                  brume_error *error)
{
    if (horizon < 1 || horizon > BRUME_RUNNING_WINDOWS)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'horizon' is %llu windows, must be 1 to %d", (unsigned long long)horizon,
                          (int)BRUME_RUNNING_WINDOWS);
    brume_running_shape shape = {.kind = BRUME_RUNNING_SQUARE_ROOT, .horizon = horizon};
    brume_running_shape best = {0};
    if (rule != BRUME_RULE_PURE) {
        *out = shape;
        return BRUME_OK;
    }
    shape.kind = BRUME_RUNNING_TREE;
    for (shape.levels = 1; shape.levels <= 5; shape.levels++) {
        uint64_t root = (uint64_t)pow((double)horizon + 1, 1 / (double)shape.levels);
        uint64_t reach = shape.levels > 3 ? 2 : 5;
        search_radices(&shape, 0, root > reach + 2 ? root - reach : 2, root + reach, &best);
    }
    *out = best; /* one level of horizon + 1 blocks always holds it */
    return BRUME_OK;
}

/* ---- preparing ---- */

/* round(2^16 binom(2k, k)/4^k), halves up: binom(2k, k)/4^k is the product of (2i - 1)/2i. */
static void fill_coefficients(uint32_t *coefficients, uint64_t count)
{
    /* In fixed point of 2^-200: a floor of each product is off by less than k 2^-200, which no
     * coefficient is so near a half that it shows: doubles of the result are compared, and the
     * tests compare with exact fractions. */
    enum { DIGITS = 200 };
    fmpz_t product, rounded;
    fmpz_init_set_ui(product, 1);
    fmpz_init(rounded);
    fmpz_mul_2exp(product, product, DIGITS);
    for (uint64_t k = 0; k < count; k++) {
        if (k > 0) {
            fmpz_mul_ui(product, product, 2 * k - 1);
            fmpz_fdiv_q_ui(product, product, 2 * k);
        }
        fmpz_fdiv_q_2exp(rounded, product, DIGITS - BRUME_RUNNING_BITS - 1);
        fmpz_add_ui(rounded, rounded, 1);
        fmpz_fdiv_q_2exp(rounded, rounded, 1);
        coefficients[k] = (uint32_t)fmpz_get_ui(rounded);
    }
    fmpz_clear(product);
    fmpz_clear(rounded);
}

static bool is_shape(const brume_running_shape *shape)
{
    if (shape->horizon < 1 || shape->horizon > BRUME_RUNNING_WINDOWS)
        return false;
    if (shape->kind == BRUME_RUNNING_SQUARE_ROOT)
        return shape->levels == 0;
    if (shape->kind != BRUME_RUNNING_TREE || shape->levels < 1 ||
        shape->levels > BRUME_RUNNING_LEVELS)
        return false;
    for (size_t i = 0; i < shape->levels; i++)
        if (shape->radix[i] < 2 || shape->radix[i] > BRUME_RUNNING_WINDOWS + 8)
            return false;
    return holds_horizon(shape);
}

brume_status brume_running_open(const brume_running_shape *shape, brume_running **out,
                                brume_error *error)
{
    if (!is_shape(shape))
        return brume_fail(error, BRUME_EDAMAGED, NULL, "no series has this shape");
    brume_running *running = calloc(1, sizeof *running);
    bool root = shape->kind == BRUME_RUNNING_SQUARE_ROOT;
    if (running && root) {
        running->coefficients = calloc(shape->horizon, sizeof *running->coefficients);
        running->inverse = calloc(shape->horizon, sizeof *running->inverse);
        running->decoder = calloc(shape->horizon, sizeof *running->decoder);
    }
    if (!running || (root && (!running->coefficients || !running->inverse || !running->decoder))) {
        brume_running_close(running);
        return brume_fail(error, BRUME_EMEMORY, NULL, "preparing a series: out of memory");
    }
    running->shape = *shape;
    if (root)
        fill_coefficients(running->coefficients, shape->horizon);
    *out = running;
    return BRUME_OK;
}

void brume_running_close(brume_running *running)
{
    if (!running)
        return;
    free(running->coefficients);
    free(running->inverse);
    free(running->decoder);
    free(running);
}

const uint32_t *brume_running_coefficients(const brume_running *running)
{
    return running->coefficients;
}

/* ---- the noise ---- */

static void set_decimal(fmpq_t out, const brume_decimal *decimal)
{
    fmpz_t digits, power;
    fmpz_init(digits);
    fmpz_init(power);
    for (size_t i = BRUME_DECIMAL_LIMBS; i-- > 0;) {
        fmpz_mul_2exp(digits, digits, 32);
        fmpz_add_ui(digits, digits, decimal->digits[i]);
    }
    fmpz_ui_pow_ui(power, 10, (ulong)labs((long)decimal->exponent));
    if (decimal->exponent >= 0) {
        fmpz_mul(digits, digits, power);
        fmpz_one(power);
    }
    fmpq_set_fmpz_frac(out, digits, power);
    fmpz_clear(digits);
    fmpz_clear(power);
}

/* `square`: the double is of the root. Rounded up or down. */
static double to_double(const fmpq_t x, bool square, bool up)
{
    arb_t ball;
    arb_init(ball);
    arb_set_fmpq(ball, x, 200);
    if (square)
        arb_sqrt(ball, ball, 200);
    double out = up ? brume_ball_upper(ball) : brume_ball_lower(ball);
    arb_clear(ball);
    return out;
}

/* factor sum c_k^2, or of a tree factor times its levels: the cost of T = 1 at noise 1. */
static void set_sensitivity(fmpz_t out, const brume_running *running, bool replace, bool signs)
{
    fmpz_zero(out);
    if (running->shape.kind == BRUME_RUNNING_TREE) {
        fmpz_set_ui(out, running->shape.levels);
        fmpz_mul_ui(out, out, replace ? 2 : 1);
        return;
    }
    for (uint64_t k = 0; k < running->shape.horizon; k++)
        fmpz_add_ui(out, out, (uint64_t)running->coefficients[k] * running->coefficients[k]);
    fmpz_mul_ui(out, out, !replace ? 1 : signs ? 4 : 2);
}

static brume_status check_noise(const brume_running_noise *noise, brume_error *error)
{
    double most = noise->rule == BRUME_RULE_PURE ? 0x1p56 : 0x1p50;
    return noise->scale > 0 && noise->scale <= most
               ? BRUME_OK
               : brume_fail(error, BRUME_EOVERFLOW, "pay more, or take a smaller limit or horizon",
                            "the series would need noise beyond what can be drawn");
}

/* An exact ratio, sigma^2 or a scale, as it can be drawn. */
static void set_ratio(brume_running_noise *noise, const fmpq_t exact, bool square)
{
    noise->scale = to_double(exact, square, true);
    if (fmpz_abs_fits_ui(fmpq_numref(exact)) && fmpz_abs_fits_ui(fmpq_denref(exact))) {
        noise->numerator = fmpz_get_ui(fmpq_numref(exact));
        noise->denominator = fmpz_get_ui(fmpq_denref(exact));
    }
}

brume_status brume_running_pay(const brume_running *running, const brume_charge *price,
                               uint64_t limit, bool replace, bool signs, brume_running_noise *out,
                               brume_error *error)
{
    bool tree = running->shape.kind == BRUME_RUNNING_TREE;
    if (limit < 1 || limit >> BRUME_RUNNING_LIMIT_DIGITS)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'limit' must be 1 to 2^%d - 1 steps",
                          (int)BRUME_RUNNING_LIMIT_DIGITS);
    if (tree != (price->rule == BRUME_RULE_PURE) || brume_decimal_is_zero(&price->amount))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a series under another rule");
    brume_running_noise noise = {.rule = price->rule};
    brume_status status = BRUME_OK;
    fmpz_t sensitivity;
    fmpq_t amount, exact;
    fmpz_init(sensitivity);
    fmpq_init(amount);
    fmpq_init(exact);
    set_sensitivity(sensitivity, running, replace, signs);
    fmpz_mul_ui(sensitivity, sensitivity, limit);
    if (!tree)
        fmpz_mul_ui(sensitivity, sensitivity, limit);
    set_decimal(amount, &price->amount);
    fmpq_set_fmpz(exact, sensitivity);
    if (price->rule == BRUME_RULE_APPROXIMATE) {
        double epsilon = to_double(amount, false, false);
        set_decimal(amount, &price->delta);
        status = brume_gaussian_sigma(epsilon, to_double(amount, false, false),
                                      to_double(exact, true, true), &noise.scale, error);
    } else {
        fmpq_div(exact, exact, amount);
        if (!tree)
            fmpq_div_2exp(exact, exact, 1);
        set_ratio(&noise, exact, !tree);
    }
    fmpz_clear(sensitivity);
    fmpq_clear(amount);
    fmpq_clear(exact);
    if (status == BRUME_OK)
        status = check_noise(&noise, error);
    if (status == BRUME_OK)
        *out = noise;
    return status;
}

/* ---- releasing ---- */

/* How many windows a block of a level has. */
static uint64_t block_of(const brume_running_shape *shape, size_t level)
{
    uint64_t windows = 1;
    for (size_t i = 0; i < level; i++)
        windows *= shape->radix[i];
    return windows;
}

size_t brume_running_numbers_before(const brume_running *running, uint64_t window)
{
    if (running->shape.kind == BRUME_RUNNING_SQUARE_ROOT)
        return window;
    size_t count = 0;
    for (size_t i = 0; i < running->shape.levels; i++)
        count += window / block_of(&running->shape, i);
    return count;
}

size_t brume_running_numbers(const brume_running *running, uint64_t window)
{
    return brume_running_numbers_before(running, window + 1) -
           brume_running_numbers_before(running, window);
}

void brume_running_encode(const brume_running *running, uint64_t window, const brume_i128 *x,
                          brume_i128 *out)
{
    if (running->shape.kind == BRUME_RUNNING_SQUARE_ROOT) {
        brume_i128 sum = 0;
        for (uint64_t k = 0; k <= window; k++)
            sum += (brume_i128)running->coefficients[window - k] * x[k];
        *out = sum;
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < running->shape.levels; i++) {
        uint64_t block = block_of(&running->shape, i);
        if ((window + 1) % block != 0)
            break; /* larger blocks end where smaller ones do */
        brume_i128 sum = 0;
        for (uint64_t k = window + 1 - block; k <= window; k++)
            sum += x[k];
        out[count++] = sum;
    }
}

static brume_status open_noise(const brume_running_noise *noise, brume_noise **out,
                               brume_error *error)
{
    switch (noise->rule) {
    case BRUME_RULE_CONCENTRATED:
        return noise->numerator ? brume_noise_open_discrete_gaussian_ratio(
                                      noise->numerator, noise->denominator, out, error)
                                : brume_noise_open_discrete_gaussian(noise->scale, out, error);
    case BRUME_RULE_APPROXIMATE:
        return brume_noise_open_rounded_gaussian(noise->scale, out, error);
    case BRUME_RULE_PURE:
        return noise->numerator ? brume_noise_open_discrete_laplace_ratio(
                                      noise->numerator, noise->denominator, out, error)
                                : brume_noise_open_discrete_laplace(noise->scale, out, error);
    }
    return brume_fail(error, BRUME_EINTERNAL, NULL, "a series of no rule");
}

brume_status brume_running_draw(const brume_running_noise *noise, brume_bits *bits,
                                brume_i128 *numbers, size_t count, brume_error *error)
{
    brume_noise *law = NULL;
    brume_status status = check_noise(noise, error);
    if (status == BRUME_OK)
        status = open_noise(noise, &law, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        int64_t draw = 0;
        status = brume_noise_draw(law, bits, &draw, error);
        numbers[i] += draw;
    }
    brume_noise_close(law);
    for (size_t i = 0; status != BRUME_OK && i < count; i++)
        numbers[i] = 0; /* some of them had no noise yet */
    return status;
}

/* ---- decoding ---- */

/* The first `count` of the decoder: the series 1/(1 - z) divided by that of the coefficients. */
static void decode_up_to(brume_running *running, uint64_t count)
{
    const uint32_t *c = running->coefficients;
    for (uint64_t k = running->decoded; k < count; k++) {
        double rest = k == 0 ? 1 : 0;
        for (uint64_t j = 1; j <= k; j++)
            rest -= c[j] * running->inverse[k - j];
        running->inverse[k] = rest / c[0];
        running->decoder[k] = running->inverse[k] + (k ? running->decoder[k - 1] : 0);
    }
    if (count > running->decoded)
        running->decoded = count;
}

/* What released number j of the square root is multiplied by, in the total of a range. */
static double weight(const brume_running *running, uint64_t first, uint64_t last, uint64_t j)
{
    return running->decoder[last - j] - (j < first ? running->decoder[first - 1 - j] : 0);
}

/* The largest block that begins with window `first` and ends by `last`, as its level. */
static size_t largest_block(const brume_running_shape *shape, uint64_t first, uint64_t last)
{
    size_t level = 0;
    for (size_t i = 1; i < shape->levels; i++)
        if (first % block_of(shape, i) == 0 && first + block_of(shape, i) - 1 <= last)
            level = i;
    return level;
}

static brume_status check_range(const brume_running *running, uint64_t first, uint64_t last,
                                brume_error *error)
{
    return first <= last && last < running->shape.horizon
               ? BRUME_OK
               : brume_fail(error, BRUME_EINTERNAL, NULL, "no range of windows of this series");
}

brume_status brume_running_total(brume_running *running, const brume_i128 *numbers, uint64_t first,
                                 uint64_t last, double *out, brume_error *error)
{
    BRUME_TRY(check_range(running, first, last, error));
    const brume_running_shape *shape = &running->shape;
    double total = 0;
    if (shape->kind == BRUME_RUNNING_SQUARE_ROOT) {
        decode_up_to(running, last + 1);
        for (uint64_t j = 0; j <= last; j++)
            total += weight(running, first, last, j) * (double)numbers[j];
    } else {
        for (uint64_t at = first; at <= last;) {
            size_t level = largest_block(shape, at, last);
            uint64_t end = at + block_of(shape, level) - 1;
            total += (double)numbers[brume_running_numbers_before(running, end) + level];
            at = end + 1;
        }
    }
    *out = total;
    return BRUME_OK;
}

brume_status brume_running_spread(brume_running *running, uint64_t first, uint64_t last,
                                  double *out, brume_error *error)
{
    BRUME_TRY(check_range(running, first, last, error));
    const brume_running_shape *shape = &running->shape;
    double spread = 0;
    if (shape->kind == BRUME_RUNNING_SQUARE_ROOT) {
        decode_up_to(running, last + 1);
        for (uint64_t j = 0; j <= last; j++) {
            double by = weight(running, first, last, j);
            spread += by * by;
        }
        spread = sqrt(spread);
    } else {
        for (uint64_t at = first; at <= last; spread++)
            at += block_of(shape, largest_block(shape, at, last));
    }
    *out = spread;
    return BRUME_OK;
}
