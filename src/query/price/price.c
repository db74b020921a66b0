/* What a query's measurements cost together, and how much noise a price buys.
 *
 * Promise: for the scales written, the law of all noised measures on two neighbouring tables is
 * within the price returned. Every double below is rounded so that noise grows: costs and
 * sensitivities up, rates and what a price allows down. */
#include "query/price/price.h"

#include <math.h>

#include "accountant/exact/profile.h"
#include "base/error.h"
#include "number/rounding.h"
#include "query/price/key_threshold.h"
#include "query/price/price_parts.h"

#define LARGEST_SCALE 0x1p50 /* of the samplers */

/* ---- checks ---- */

static brume_status check(const brume_measure *measures, size_t count, const brume_shape *shape,
                          double price, const char *name, double delta, bool needs_delta,
                          brume_error *error)
{
    if (!(price > 0) || !isfinite(price))
        return brume_fail(error, BRUME_EARGUMENT, "a price is a positive number",
                          "'%s' is %.17g, must be above 0 and finite", name, price);
    if (needs_delta && !(delta > 0 && delta < 0.5))
        return brume_fail(error, BRUME_EARGUMENT,
                          "give --delta, much less than 1/(number of units)",
                          "'delta' is %.17g, must be in (0, 0.5)", delta);
    if (count < 1 || shape->max_groups < 1 || shape->max_rows < 1 ||
        shape->max_groups > UINT32_MAX || shape->max_rows > UINT32_MAX ||
        (shape->private_keys && (measures[0].kind != BRUME_MEASURE_UNITS || shape->cells)))
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a plan that cannot be priced");
    return BRUME_OK;
}

static brume_status set_scale(brume_measure *measure, double scale, brume_error *error)
{
    if (!(scale > 0) || !(scale <= LARGEST_SCALE))
        return brume_fail(error, BRUME_EOVERFLOW, "narrow the bounds or pay more",
                          "the noise would have scale %.3g, at most 2^50 grid steps are possible",
                          scale);
    measure->scale = scale;
    return BRUME_OK;
}

/* A selection pays `cost` of epsilon (p = 1) or of 2 rho (p = 2) per gained cell. */
static brume_status set_rate(brume_measure *measure, const brume_shape *shape, double cost, int p,
                             brume_error *error)
{
    double rows = brume_count_up(shape->max_rows);
    if (measure->kind == BRUME_MEASURE_PRIVATE_MODE) {
        /* R pairs move by one unit each: R/b = cost (p = 1), R/sigma^2 = cost (p = 2). */
        double scale = brume_divide_up(rows, cost);
        return set_scale(measure, p == 1 ? scale : brume_sqrt_up(scale), error);
    }
    measure->scale = brume_divide_down(brume_selection_rate_down(measure, cost, p), rows);
    return BRUME_OK;
}

static size_t count_selections(const brume_measure *measures, size_t count)
{
    size_t selections = 0;
    for (size_t i = 0; i < count; i++)
        selections += brume_measure_is_selection(&measures[i]);
    return selections;
}

static size_t count_private_modes(const brume_measure *measures, size_t count)
{
    size_t modes = 0;
    for (size_t i = 0; i < count; i++)
        modes += measures[i].kind == BRUME_MEASURE_PRIVATE_MODE;
    return modes;
}

/* Thresholds of private modes: a pair that only one neighbour has, has one unit there. Each mode
 * may fail with probability `delta`; what they use together is added to *used, rounded up. */
static brume_status set_mode_thresholds(brume_measure *measures, size_t count,
                                        const brume_shape *shape, brume_noise_kind noise,
                                        double delta, double *used, brume_error *error)
{
    uint64_t pairs = brume_shape_pairs(shape);
    for (size_t i = 0; i < count; i++) {
        if (measures[i].kind != BRUME_MEASURE_PRIVATE_MODE)
            continue;
        uint64_t m = 0;
        double one = 0;
        if (brume_measure_noise(&measures[i], noise) == BRUME_NOISE_DISCRETE_LAPLACE)
            BRUME_TRY(
                brume_key_threshold_laplace(measures[i].scale, pairs, delta, &m, &one, error));
        else
            BRUME_TRY(brume_key_threshold_discrete_gaussian(measures[i].scale, pairs, delta, &m,
                                                            &one, error));
        measures[i].threshold = 1 + m;
        *used = brume_add_up(*used, one);
    }
    return BRUME_OK;
}

/* What each test of keys or pairs may use of delta: together no more than all of it. */
static double delta_part(const brume_shape *shape, size_t modes, double delta)
{
    size_t parts = modes + (shape->private_keys ? 1 : 0);
    return parts > 1 ? brume_divide_down(delta, (double)parts) : delta;
}

/* ---- Laplace ---- */

brume_status brume_price_laplace(brume_measure *measures, size_t count, const brume_shape *shape,
                                 double epsilon, double delta, brume_price *price,
                                 brume_error *error)
{
    size_t modes = count_private_modes(measures, count);
    BRUME_TRY(check(measures, count, shape, epsilon, "epsilon", delta,
                    shape->private_keys || modes > 0, error));
    double stay = brume_stay_up(measures, count, shape, 1, true, true);
    double total = brume_total_up(shape, (double)(count - modes), stay, modes); /* in shares */
    double share = brume_divide_down(epsilon, total); /* of epsilon, for one measure, one cell */
    brume_price result = {.noise = BRUME_NOISE_DISCRETE_LAPLACE,
                          .epsilon = epsilon,
                          .cells_upper = brume_divide_up(total, (double)count),
                          .stay_upper = brume_divide_up(stay, (double)count)};
    for (size_t i = 0; i < count; i++) {
        measures[i].sensitivity = brume_sensitivity_up(&measures[i], shape);
        if (brume_measure_is_selection(&measures[i]))
            BRUME_TRY(set_rate(&measures[i], shape, share, 1, error));
        else
            BRUME_TRY(
                set_scale(&measures[i], brume_divide_up(measures[i].sensitivity, share), error));
    }
    double part = delta_part(shape, modes, delta);
    if (shape->private_keys) {
        uint64_t m = 0;
        BRUME_TRY(brume_key_threshold_laplace(measures[0].scale, shape->max_groups, part, &m,
                                              &result.delta, error));
        result.threshold = 1 + m;
    }
    BRUME_TRY(
        set_mode_thresholds(measures, count, shape, result.noise, part, &result.delta, error));
    *price = result;
    return BRUME_OK;
}

/* ---- Gaussian under (epsilon, delta) ---- */

/* The selections of a Gaussian plan: pure, their part of epsilon in equal shares. */
static brume_status price_selections(brume_measure *measures, size_t count,
                                     const brume_shape *shape, double epsilon, brume_error *error)
{
    size_t selections = count_selections(measures, count);
    size_t modes = count_private_modes(measures, count);
    double stay = brume_stay_up(measures, count, shape, 1, false, true);
    double share = brume_divide_down(
        epsilon, brume_total_up(shape, (double)(selections - modes), stay, modes));
    for (size_t i = 0; i < count; i++)
        if (brume_measure_is_selection(&measures[i]))
            BRUME_TRY(set_rate(&measures[i], shape, share, 1, error));
    return BRUME_OK;
}

brume_status brume_price_gaussian(brume_measure *measures, size_t count, const brume_shape *shape,
                                  double epsilon, double delta, brume_price *price,
                                  brume_error *error)
{
    BRUME_TRY(check(measures, count, shape, epsilon, "epsilon", delta, true, error));
    size_t selections = count_selections(measures, count), noised = count - selections;
    size_t modes = count_private_modes(measures, count);
    if (noised == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a Gaussian plan with nothing to noise");
    brume_price result = {.noise = BRUME_NOISE_ROUNDED_GAUSSIAN, .epsilon = epsilon};
    double epsilon_noise = epsilon;
    if (selections > 0) {
        result.epsilon_selection =
            brume_multiply_down(epsilon, brume_divide_down((double)selections, (double)count));
        /* basic composition: the two parts add up to no more than epsilon */
        epsilon_noise = brume_subtract_down(epsilon, result.epsilon_selection);
        BRUME_TRY(price_selections(measures, count, shape, result.epsilon_selection, error));
    }
    /* basic composition again: half of delta for the Gaussian part, half for private modes */
    double delta_modes = modes ? delta / 2 : 0, delta_noise = modes ? delta / 2 : delta;
    double stay = brume_stay_up(measures, count, shape, 2, true, false);
    double total = brume_total_up(shape, (double)noised, stay, 0);
    double sigma = brume_profile_gaussian_sigma_upper(
        epsilon_noise, shape->private_keys ? delta_noise / 2 : delta_noise);
    double factor = brume_multiply_up(brume_sqrt_up(total), sigma);
    for (size_t i = 0; i < count; i++) {
        measures[i].sensitivity = brume_sensitivity_up(&measures[i], shape);
        if (!brume_measure_is_selection(&measures[i]))
            BRUME_TRY(
                set_scale(&measures[i], brume_multiply_up(measures[i].sensitivity, factor), error));
    }
    result.cells_upper = brume_divide_up(total, (double)noised);
    result.stay_upper = brume_divide_up(stay, (double)noised);
    result.delta = delta_noise;
    if (shape->private_keys) {
        uint64_t m = 0;
        /* One share of one gained cell: 1/factor^2. */
        double share = brume_divide_up(1, brume_multiply_down(factor, factor));
        BRUME_TRY(brume_key_threshold_gaussian(
            measures[0].scale, shape->max_groups, brume_multiply_up(share, (double)noised),
            brume_multiply_up(share, stay), shape->replace, epsilon_noise, delta_noise, &m,
            &result.delta, error));
        result.threshold = 1 + m;
    }
    if (modes)
        BRUME_TRY(set_mode_thresholds(measures, count, shape, result.noise,
                                      brume_divide_down(delta_modes, (double)modes), &result.delta,
                                      error));
    *price = result;
    return BRUME_OK;
}

/* ---- concentrated ---- */

brume_status brume_price_concentrated(brume_measure *measures, size_t count,
                                      const brume_shape *shape, double rho, double delta,
                                      brume_price *price, brume_error *error)
{
    size_t modes = count_private_modes(measures, count);
    BRUME_TRY(
        check(measures, count, shape, rho, "rho", delta, shape->private_keys || modes > 0, error));
    double stay = brume_stay_up(measures, count, shape, 2, true, true);
    double total = brume_total_up(shape, (double)(count - modes), stay, modes);
    double share = brume_divide_down(brume_multiply_down(2, rho), total); /* of 2 rho */
    double sigma = brume_divide_up(1, brume_sqrt_down(share));
    brume_price result = {.noise = BRUME_NOISE_DISCRETE_GAUSSIAN,
                          .rho = rho,
                          .cells_upper = brume_divide_up(total, (double)count),
                          .stay_upper = brume_divide_up(stay, (double)count)};
    for (size_t i = 0; i < count; i++) {
        measures[i].sensitivity = brume_sensitivity_up(&measures[i], shape);
        if (brume_measure_is_selection(&measures[i]))
            BRUME_TRY(set_rate(&measures[i], shape, share, 2, error));
        else
            BRUME_TRY(
                set_scale(&measures[i], brume_multiply_up(measures[i].sensitivity, sigma), error));
    }
    double part = delta_part(shape, modes, delta);
    if (shape->private_keys) {
        uint64_t m = 0;
        BRUME_TRY(brume_key_threshold_discrete_gaussian(measures[0].scale, shape->max_groups, part,
                                                        &m, &result.delta, error));
        result.threshold = 1 + m;
    }
    BRUME_TRY(
        set_mode_thresholds(measures, count, shape, result.noise, part, &result.delta, error));
    *price = result;
    return BRUME_OK;
}
