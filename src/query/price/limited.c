/* Prices where a unit's totals are limited as a whole.
 *
 * Promise: all steps of choosing, the test of keys and the measures cost together no more than the
 * amount, whatever the limits are. Every double is rounded so that noise grows. */
#include "query/price/limited.h"

#include <math.h>

#include "accountant/exact/delta_bounds.h"
#include "base/error.h"
#include "number/rounding.h"
#include "query/price/key_threshold.h"
#include "query/price/price.h"

static bool has_both_signs(const brume_measure *measure)
{
    switch (measure->kind) {
    case BRUME_MEASURE_CENTRED:
    case BRUME_MEASURE_SQUARES:
    case BRUME_MEASURE_DEVIATION: /* whatever the centre is */
        return true;
    case BRUME_MEASURE_DIRECT:
        return measure->low < 0 && measure->high > 0;
    default:
        return false;
    }
}

double brume_limited_distance(const brume_measure *measure, const brume_limited_shape *shape, int p)
{
    if (!shape->replace)
        return 1;
    if (measure->kind == BRUME_MEASURE_QUANTILES && shape->cells == 1)
        return brume_selection_stays_up(measure, 1);
    if (brume_measure_is_selection(measure)) /* it goes, and another comes */
        return 2;
    if (has_both_signs(measure))
        return p == 1 ? 2 : 4;
    return shape->cells == 1 ? 1 : 2;
}

/* ---- a mean in one cell ---- */

/* The number that a sum follows: that of its values, of rows where none is NULL; NULL: it is not
 * measured. */
static const brume_measure *number_of(const brume_measure *measures, size_t count,
                                      const brume_measure *sum)
{
    const brume_measure *rows = NULL;
    for (size_t i = 0; i < count; i++) {
        const brume_measure *one = &measures[i];
        if (one->kind == BRUME_MEASURE_VALUES && one->expression == sum->expression)
            return one;
        if (one->kind == BRUME_MEASURE_ROWS && !rows)
            rows = one;
    }
    return rows;
}

/* Is it the number or the sum of a mean: one centred sum, and a number that no other sum follows?
 */
static bool is_of_mean(const brume_measure *measures, size_t count, const brume_measure *one)
{
    const brume_measure *number =
        one->kind == BRUME_MEASURE_CENTRED ? number_of(measures, count, one) : one;
    size_t centred = 0, squares = 0;
    if (!number)
        return false;
    bool own = number->kind == BRUME_MEASURE_VALUES; /* what follows it has its expression */
    if (own && number_of(measures, count, number) != number)
        return false;
    for (size_t i = 0; i < count && squares == 0; i++) {
        bool sums = measures[i].kind == BRUME_MEASURE_CENTRED ||
                    measures[i].kind == BRUME_MEASURE_SQUARES;
        bool follows = sums && (own ? measures[i].expression == number->expression
                                    : number_of(measures, count, &measures[i]) == number);
        centred += follows && measures[i].kind == BRUME_MEASURE_CENTRED;
        squares += follows && measures[i].kind == BRUME_MEASURE_SQUARES;
    }
    return centred == 1 && squares == 0;
}

/* In one cell what a unit has of a number y and the sum z that follows it is in the triangle 0 <= y
 * <= T, |z| <= h y. For a replaced unit either both move by 1 at most, or z alone by 2: with these
 * distances each of the two costs what both have together, two shares. */
static double distance_of_mean(const brume_measure *measure, int p)
{
    if (p == 1)
        return 1;                                                          /* 1 + 1, and 2 */
    return measure->kind == BRUME_MEASURE_CENTRED ? 2 : brume_up(2.0 / 3); /* 3/2 + 1/2, and 4/2 */
}

/* The number is exact but on a grid that is coarser than it (clip.h): a step there is below noise
 * 2^-48 of T, by which the triangle is left. With less noise the grid is coarse for a T of more
 * rows than a unit can have. */
static double beyond_triangle_up(double noise)
{
    return noise > 0x1p8 ? brume_multiply_up(noise, 1 + noise * 0x1p-45) : noise;
}

bool brume_limited_prefers_gaussian(size_t measures, uint64_t cells, double epsilon, double delta)
{
    if (!(delta > 0) || cells == 0)
        return false;
    double sigma = brume_profile_gaussian_sigma_upper(epsilon, delta);
    double crossing = 1.96 * sigma * epsilon / log(20);
    return (double)measures * sqrt((double)cells) >= crossing * crossing;
}

/* What buys what: a share of epsilon (p = 1) or of mu^2 = 2 rho = 1/sigma_1^2 (p = 2) gives a
 * number that moves by `distance` in all this scale. */
static double scale_up(double whole, double share_down, double distance, int p)
{
    double part = brume_multiply_down(whole, share_down);
    double scale = brume_divide_up(distance, part);
    return p == 1 ? scale : brume_sqrt_up(scale);
}

static brume_status check_scale(double scale, brume_error *error)
{
    if (!(scale > 0) || !(scale <= 0x1p40))
        return brume_fail(error, BRUME_EOVERFLOW, "pay more",
                          "the noise on a number that moves by 1 would have scale %.3g", scale);
    return BRUME_OK;
}

/* The price as what adds up: epsilon, or mu^2 rounded down. */
static brume_status whole_of(brume_noise_kind noise, double amount, double delta, double *whole,
                             brume_error *error)
{
    if (!(amount > 0) || !isfinite(amount))
        return brume_fail(error, BRUME_EARGUMENT, "a price is a positive number",
                          "the price is %.17g, must be above 0 and finite", amount);
    if (noise == BRUME_NOISE_DISCRETE_LAPLACE) {
        *whole = amount;
    } else if (noise == BRUME_NOISE_DISCRETE_GAUSSIAN) {
        *whole = brume_multiply_down(2, amount);
    } else {
        if (!(delta > 0 && delta < 0.5))
            return brume_fail(error, BRUME_EARGUMENT, "much less than 1/(number of units)",
                              "'delta' is %.17g, must be in (0, 0.5)", delta);
        double sigma = brume_profile_gaussian_sigma_upper(amount, delta);
        *whole = brume_divide_down(1, brume_multiply_up(sigma, sigma));
    }
    return BRUME_OK;
}

static brume_status threshold_of(brume_noise_kind noise, double scale, uint64_t pairs, double delta,
                                 uint64_t *threshold, double *used, brume_error *error)
{
    uint64_t m = 0;
    BRUME_TRY(noise == BRUME_NOISE_DISCRETE_LAPLACE
                  ? brume_key_threshold_laplace(scale, pairs, delta, &m, used, error)
                  : brume_key_threshold_discrete_gaussian(scale, pairs, delta, &m, used, error));
    *threshold = 1 + m;
    return BRUME_OK;
}

/* The test of private keys: each unit keeps one, and leaves it and enters another when replaced. */
static brume_status pay_keys(brume_measure *units, const brume_limited_shape *shape,
                             brume_noise_kind noise, double whole, double share, double delta,
                             brume_price *price, brume_error *error)
{
    units->noise = scale_up(whole, share, shape->replace ? 2 : 1,
                            noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2);
    BRUME_TRY(check_scale(units->noise, error));
    units->sensitivity = 1;
    units->scale = units->noise;
    return threshold_of(noise, units->scale, 1, delta, &price->threshold, &price->delta, error);
}

/* A measure that is not the test of keys, for its share; `mean`: it is of one in one cell. */
static brume_status pay_measure(brume_measure *measure, const brume_limited_shape *shape, bool mean,
                                brume_noise_kind noise, double whole, double share, double delta,
                                brume_price *price, brume_error *error)
{
    int p = noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
    double distance = mean ? distance_of_mean(measure, p)
                           : brume_limited_distance(measure, shape, p);
    if (measure->kind == BRUME_MEASURE_PRIVATE_MODE) {
        measure->noise =
            scale_up(whole, share, brume_multiply_up(distance, brume_count_up(shape->pairs)), p);
        BRUME_TRY(check_scale(measure->noise, error));
        measure->sensitivity = 1;
        measure->scale = measure->noise;
        /* All that it may use is charged: what it uses is another number with each step of
         * choosing.
         */
        double used = 0;
        price->delta = price->delta > 0 ? brume_add_up(price->delta, delta) : delta;
        return threshold_of(noise, measure->scale, shape->pairs, delta, &measure->threshold, &used,
                            error);
    }
    if (brume_measure_is_selection(measure))
        measure->noise = brume_divide_up(
            distance, brume_selection_rate_down(measure, brume_multiply_down(whole, share), p));
    else
        measure->noise = scale_up(whole, share, distance, p);
    if (mean)
        measure->noise = beyond_triangle_up(measure->noise);
    price->cells_upper = fmax(price->cells_upper, distance);
    return check_scale(measure->noise, error);
}

/* Shares to each other: the number of a mean divides a sum about a centre that is near the mean, so
 * that its noise counts little; where there are groups it also tells the small ones. A spread is in
 * proportion to the noise of its number, and its sum is near 0. */
double brume_limited_weight(const brume_measure *measures, size_t count, size_t i,
                            const brume_limited_shape *shape)
{
    if (!measures[i].divides || shape->equal_shares || is_of_mean(measures, count, &measures[i]))
        return 1; /* distance_of_mean is for equal shares */
    return shape->cells == 1 && !measures[i].of_spread ? 0.25 : 0.5;
}

static double weigh(const brume_measure *measures, size_t first, size_t count,
                    const brume_limited_shape *shape)
{
    double sum = 0;
    for (size_t i = first; i < count; i++)
        sum += brume_limited_weight(measures, count, i, shape);
    return sum;
}

double brume_limited_weights(const brume_measure *measures, size_t count,
                             const brume_limited_shape *shape)
{
    return weigh(measures, 0, count, shape);
}

/* The measures from `first` on, for a share each: `share` is for a weight of 1. */
static brume_status pay_measures(brume_measure *measures, size_t first, size_t count,
                                 const brume_limited_shape *shape, brume_noise_kind noise,
                                 double whole, double share, double delta, brume_price *price,
                                 brume_error *error)
{
    for (size_t i = first; i < count; i++) {
        bool mean = shape->replace && shape->cells == 1 &&
                    is_of_mean(measures, count, &measures[i]);
        double own = share *
                     brume_limited_weight(measures, count, i, shape); /* a power of two: exact */
        if (!shape->choices_only || measures[i].kind != BRUME_MEASURE_PRIVATE_MODE)
            BRUME_TRY(
                pay_measure(&measures[i], shape, mean, noise, whole, own, delta, price, error));
    }
    return BRUME_OK;
}

/* Nothing is measured, and the price is for choosing. The limits are chosen for a query of this
 * price that finds them in the ledger: the noise of its measures, which is never drawn. */
static brume_status pay_nothing(brume_measure *measures, size_t count,
                                const brume_limited_shape *shape, brume_noise_kind noise,
                                double whole, brume_price *price, brume_error *error)
{
    double share = (1 - 0x1p-48) / weigh(measures, 0, count, shape);
    return pay_measures(measures, 0, count, shape, noise, whole, share, 0, price, error);
}

/* What each test of keys or values may use of delta: together no more than all of it. */
static double delta_part(const brume_measure *measures, size_t count, bool keys, double delta)
{
    double parts = keys;
    for (size_t i = 0; i < count; i++)
        parts += measures[i].kind == BRUME_MEASURE_PRIVATE_MODE;
    return parts > 1 ? brume_divide_down(delta, parts) : delta;
}

/* Rounded Gaussian noise is priced as one vector: with tests and selections it is not. */
static bool can_be_priced(const brume_measure *measures, size_t count, brume_noise_kind noise,
                          bool keys)
{
    for (size_t i = 0; noise == BRUME_NOISE_ROUNDED_GAUSSIAN && i < count; i++)
        if (keys || brume_measure_is_selection(&measures[i]))
            return false;
    return true;
}

/* From epsilon (p = 1), or from rho and mu^2. The first count is to see as many units at every
 * price, as far as that goes: they are people, and do not become fewer with the price. */
double brume_limited_step_share(int p, double epsilon, brume_choice_step step)
{
    static const double shares[] = {[BRUME_CHOICE_COUNT] = 0.04,
                                    [BRUME_CHOICE_HISTOGRAM] = 0.08,
                                    [BRUME_CHOICE_TAIL] = 0.12,
                                    [BRUME_CHOICE_AGAIN] = 0.15};
    return p == 1 && step == BRUME_CHOICE_COUNT ? fmin(0.12, fmax(0.05, 0.12 / epsilon))
                                                : shares[step];
}

double brume_limited_deviation_share(brume_choice_step step)
{
    static const double shares[] = {[BRUME_CHOICE_COUNT] = 0.05,
                                    [BRUME_CHOICE_HISTOGRAM] = 0.13,
                                    [BRUME_CHOICE_TAIL] = 0.25,
                                    [BRUME_CHOICE_AGAIN] = 0.40};
    return shares[step];
}

double brume_limited_choice_share(int p, double epsilon, brume_choice_step step, bool counted)
{
    double sum = 0;
    for (int i = counted ? BRUME_CHOICE_COUNT : BRUME_CHOICE_HISTOGRAM; i <= (int)step; i++)
        sum += brume_limited_step_share(p, epsilon, (brume_choice_step)i);
    return sum;
}

static double deviations_share(const brume_limited_shape *shape, brume_choice_step step)
{
    return shape->deviations > 0 ? brume_limited_deviation_share(step) : 0;
}

/* The centre is the median of units' means, each of which weighs 1 at most: a quantile of rows of
 * which a unit has one. Histogram and tails are as those of other limits. */
static brume_status pay_deviations(const brume_limited_shape *shape, double whole, int p,
                                   brume_limited_price *limited, brume_error *error)
{
    static const int64_t half[1][2] = {{1, 2}};
    const brume_measure median = {
        .kind = BRUME_MEASURE_QUANTILES, .high = 1, .fractions = half, .fraction_count = 1};
    double *const scales[] = {&limited->deviation_histogram_scale, &limited->deviation_tail_scale,
                              &limited->deviation_again_scale};
    double count = (double)shape->deviations, moved = (shape->replace ? 2 : 1) * count;
    int last = shape->cells == 0 ? BRUME_CHOICE_TAIL : BRUME_CHOICE_AGAIN;
    if (shape->deviations == 0)
        return BRUME_OK;
    double part = brume_divide_down(
        brume_multiply_down(whole, deviations_share(shape, BRUME_CHOICE_COUNT) * (1 - 0x1p-50)),
        brume_count_up(shape->deviations - shape->shared));
    /* it has no interval beside it, which would take half */
    limited->centre_rate =
        brume_divide_down(brume_selection_rate_down(&median, 2 * part, p), shape->replace ? 2 : 1);
    for (int i = BRUME_CHOICE_HISTOGRAM; i <= last; i++) {
        double share = deviations_share(shape, (brume_choice_step)i) -
                       deviations_share(shape, (brume_choice_step)(i - 1));
        double *to = scales[i - BRUME_CHOICE_HISTOGRAM];
        *to = scale_up(whole, share * (1 - 0x1p-48), moved, p);
        BRUME_TRY(check_scale(*to, error));
    }
    return BRUME_OK;
}

/* A count of units above an edge moves by 1 at most in both adjacencies; the numbers of a histogram
 * together, and those of a tail, by 2 where a unit is replaced. */
static brume_status pay_choice(const brume_limited_shape *shape, double whole, int p,
                               brume_limited_price *limited, brume_error *error)
{
    double *const scales[] = {&limited->count_scale, &limited->histogram_scale,
                              &limited->tail_scale, &limited->again_scale};
    for (int i = BRUME_CHOICE_COUNT; shape->choices > 0 && i <= BRUME_CHOICE_AGAIN; i++) {
        double share = brume_limited_step_share(p, whole, (brume_choice_step)i);
        double moved = (shape->replace ? 2 : 1) * (double)shape->choices;
        if (i == BRUME_CHOICE_COUNT)
            moved = (double)shape->counted;
        else if (i == BRUME_CHOICE_HISTOGRAM && shape->choices_only)
            share += 1 - brume_limited_choice_share(p, whole, BRUME_CHOICE_AGAIN, shape->counted) -
                     deviations_share(shape, BRUME_CHOICE_AGAIN);
        if (!(moved > 0))
            continue;
        /* 1 - 2^-50: these shares are no doubles, and the parts must not exceed the whole */
        *scales[i] = scale_up(whole, share * (1 - 0x1p-50), moved, p);
        BRUME_TRY(check_scale(*scales[i], error));
    }
    return pay_deviations(shape, whole, p, limited, error);
}

brume_status brume_limited_pay(brume_measure *measures, size_t count,
                               const brume_limited_shape *shape, brume_noise_kind noise,
                               double amount, double delta, brume_choice_step step,
                               brume_limited_price *limited, brume_price *price, brume_error *error)
{
    int p = noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
    double whole = 0;
    *limited = (brume_limited_price){.noise = noise};
    *price = (brume_price){.noise = noise, .cells_upper = 1};
    *(noise == BRUME_NOISE_DISCRETE_GAUSSIAN ? &price->rho : &price->epsilon) = amount;
    price->delta = noise == BRUME_NOISE_ROUNDED_GAUSSIAN ? delta : 0;
    BRUME_TRY(whole_of(noise, amount, delta, &whole, error));
    BRUME_TRY(pay_choice(shape, whole, p, limited, error));
    if (shape->choices_only)
        return pay_nothing(measures, count, shape, noise, whole, price, error);
    bool keys = shape->cells == 0;
    if (!can_be_priced(measures, count, noise, keys))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a plan that cannot be priced");
    double part = delta_part(measures, count, keys, delta);
    double taken = 0, usual = 0;
    if (shape->choices > 0) {
        taken = brume_limited_choice_share(p, whole, step, shape->counted);
        usual = brume_limited_choice_share(p, whole, BRUME_CHOICE_TAIL, shape->counted);
    }
    taken += deviations_share(shape, shape->deviation_step);
    usual += deviations_share(shape, BRUME_CHOICE_TAIL);
    size_t first = keys ? 1 : 0;
    double own = 0; /* of the keys: they come first, before it is known which steps are bought */
    if (keys) {
        own = (1 - usual) / (double)count * (1 - 0x1p-50); /* down */
        BRUME_TRY(pay_keys(&measures[0], shape, noise, whole, own, part, price, error));
    }
    double each = (1 - taken - own) / weigh(measures, first, count, shape) *
                  (1 - 0x1p-48); /* down */
    return pay_measures(measures, first, count, shape, noise, whole, each, part, price, error);
}
