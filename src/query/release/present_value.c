/* One aggregate of one group: what is shown of it, and its interval.
 *
 * Promise: from drawn numbers, the plan, and the number of units where that is public, alone. */
#include "query/release/present_parts.h"

#include <math.h>
#include <string.h>

#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/plan/plan_sets.h"
#include "query/price/error_bar.h"
#include "query/release/draw_distinct.h"

static brume_value number_value(double x)
{
    return (brume_value){.kind = BRUME_VALUE_NUMBER, .number = x};
}

/* The number of an aggregate's values: public, or with noise. */
static double count_of(const brume_drawn *drawn, const brume_plan_aggregate *from, size_t group)
{
    return from->public_count ? (double)drawn->groups[group]->units
                              : brume_drawn_number(drawn, from->count, group);
}

/* What limits may have cut of a number, in grid steps; none where it is not known (then there is no
 * bar at all). For a sum that follows a number: its rows, each as far from the middle as can be. */
static double cut_of(const brume_terms *terms, int measure)
{
    const brume_measure *one = &terms->measures[measure];
    const brume_found_limit *limit = brume_terms_measure_limit(terms, (size_t)measure);
    double each = one->kind == BRUME_MEASURE_CENTRED ? (double)brume_measure_reach(one) : 1;
    return limit && brume_found_is_counted(limit) ? limit->choice.allowance * each : 0;
}

/* The grouping set of a drawn group. */
static int set_of(const brume_terms *terms, const brume_drawn *drawn, size_t group)
{
    return brume_plan_set_of(terms->plan, drawn->groups[group]->keys);
}

/* The scale of the noise on a measure's number in a group. */
static double scale_of(const brume_terms *terms, const brume_drawn *drawn, int measure,
                       size_t group)
{
    return brume_terms_scale(terms, (size_t)measure, set_of(terms, drawn, group));
}

static double width_of(const brume_terms *terms, const brume_drawn *drawn, int measure,
                       size_t group, double beta)
{
    return brume_terms_width_in(terms, (size_t)measure, set_of(terms, drawn, group), beta);
}

/* Are the numbers of a measure whole and made to add up? They are shown as they are, also below 0.
 */
static bool adds_up(const brume_terms *terms, int measure)
{
    return terms->plan->fitted && brume_plan_is_fitted(terms->plan, (size_t)measure);
}

/* What the sum of a mean is about, on the grid. */
static double centre_of(const brume_terms *terms, int sum)
{
    const brume_measure *measure = &terms->measures[sum];
    if (measure->kind == BRUME_MEASURE_CENTRED)
        return (double)brume_measure_centre(measure);
    return measure->kind == BRUME_MEASURE_DEVIATION
               ? (double)brume_terms_measure_limit(terms, (size_t)sum)->centre
               : 0;
}

/* For a mean whose sum has a limit of its own. */
static brume_noisy_moments moments_of_sum(const brume_terms *terms, const brume_drawn *drawn,
                                          const brume_plan_aggregate *from, int direct,
                                          size_t group)
{
    const brume_measure *sum = &terms->measures[direct];
    return (brume_noisy_moments){
        .count = brume_drawn_number(drawn, from->count, group),
        .sum = brume_drawn_number(drawn, direct, group),
        .count_scale = scale_of(terms, drawn, from->count, group),
        .sum_scale = scale_of(terms, drawn, direct, group),
        .low = (double)sum->low - centre_of(terms, direct),
        .high = (double)sum->high - centre_of(terms, direct),
        .count_cut = cut_of(terms, from->count),
        .sum_cut = cut_of(terms, direct),
    };
}

static brume_noisy_moments moments_of(const brume_terms *terms, const brume_drawn *drawn,
                                      const brume_plan_aggregate *from, size_t group)
{
    if (from->direct >= 0)
        return moments_of_sum(terms, drawn, from, from->direct, group);
    const brume_measure *centred = &terms->measures[from->centred];
    double centre = (double)brume_measure_centre(centred);
    brume_noisy_moments moments = {
        .count = count_of(drawn, from, group),
        .sum = brume_drawn_number(drawn, from->centred, group),
        .count_scale = from->public_count ? 0 : scale_of(terms, drawn, from->count, group),
        .sum_scale = scale_of(terms, drawn, from->centred, group),
        .low = (double)centred->low - centre,
        .high = (double)centred->high - centre,
    };
    if (from->squares >= 0) {
        moments.half_square = (double)brume_measure_half_square(&terms->measures[from->squares]);
        moments.squares = brume_drawn_number(drawn, from->squares, group);
        moments.squares_scale = scale_of(terms, drawn, from->squares, group);
    }
    return moments;
}

static brume_shown within(double shown, brume_interval interval)
{
    return (brume_shown){.value = number_value(shown), .interval = interval, .has_interval = true};
}

/* `width` is that of the noise. What is shown was clamped to where the noiseless value lies for
 * certain, which brings it no further away, and rounded, which the width allows for. */
static brume_shown around(double shown, double width)
{
    return within(shown, (brume_interval){shown - width, shown + width});
}

/* Where a measure is drawn on a finer grid than its values are on, what is shown is rounded to
 * theirs, and may be half a step further off. */
static double rounding_of(const brume_terms *terms, int measure, double step)
{
    return terms->measures[measure].shift > 0 && !adds_up(terms, measure) ? step / 2 : 0;
}

static brume_shown nothing(void)
{
    return (brume_shown){0};
}

static brume_shown show_count(const brume_terms *terms, const brume_drawn *drawn,
                              const brume_plan_aggregate *from, size_t group, double beta)
{
    double raw = brume_drawn_number(drawn, from->count, group);
    double width = width_of(terms, drawn, from->count, group, beta);
    if (adds_up(terms, from->count))
        return around(raw, width);
    return around(fmax(0, rint(raw)), width + rounding_of(terms, from->count, 1));
}

static brume_shown show_distinct(const brume_terms *terms, const brume_drawn *drawn,
                                 const brume_plan_aggregate *from, size_t group, double beta)
{
    const double *numbers = drawn->results[from->distinct].numbers;
    const brume_found_limit *limit = &terms->distinct[from->distinct].limit;
    brume_shown shown = around(fmax(0, rint(numbers[group])),
                               brume_terms_distinct_width(terms, (size_t)from->distinct, beta));
    if (limit->of->ceiling == 0 && brume_found_nothing(limit))
        shown.has_interval = false;
    return shown;
}

/* For values whose number is public: what is shown is within what they can add up to. */
static brume_shown show_public_sum(const brume_terms *terms, const brume_drawn *drawn,
                                   const brume_plan_aggregate *from, size_t group, double beta)
{
    const brume_plan *plan = terms->plan;
    const brume_plan_value *value = &plan->values[from->value];
    double count = count_of(drawn, from, group);
    double centre = (double)brume_measure_centre(&terms->measures[from->centred]);
    if (count < 1)
        return nothing();
    double steps = brume_drawn_number(drawn, from->centred, group) + centre * count;
    double most = (double)value->high * count, least = (double)value->low * count;
    return around(fmin(fmax(steps, least), most) * value->step,
                  brume_terms_width(terms, (size_t)from->centred, beta));
}

static brume_shown show_sum(const brume_terms *terms, const brume_drawn *drawn,
                            const brume_plan_aggregate *from, size_t group, double beta)
{
    const brume_plan *plan = terms->plan;
    const brume_plan_value *value = &plan->values[from->value];
    double raw = 0, width = 0;
    bool exact = value->argument->type.kind != BRUME_TYPE_DOUBLE, rounds = false;
    if (from->public_count)
        return show_public_sum(terms, drawn, from, group, beta);
    if (!isfinite(brume_drawn_number(drawn, from->direct >= 0 ? from->direct : from->count, group)))
        return nothing(); /* no limit was found */
    if (from->direct >= 0) {
        raw = brume_drawn_number(drawn, from->direct, group) * value->step;
        width = width_of(terms, drawn, from->direct, group, beta);
        rounds = exact && rounding_of(terms, from->direct, 1) > 0;
    } else {
        const brume_measure *centred = &terms->measures[from->centred];
        double centre = (double)brume_measure_centre(centred);
        double scale[] = {scale_of(terms, drawn, from->centred, group),
                          scale_of(terms, drawn, from->count, group)};
        double coefficient[] = {1, centre};
        raw = (brume_drawn_number(drawn, from->centred, group) +
               centre * brume_drawn_number(drawn, from->count, group)) *
              value->step;
        width = brume_error_width_combined(plan->noise, scale, coefficient, 2, beta) * value->step;
    }
    if (adds_up(terms, from->direct >= 0 ? from->direct : from->centred))
        return around(raw, width);
    double shown = rounds ? rint(raw / value->step) * value->step : raw;
    shown = value->low >= 0 ? fmax(0, shown) : value->high <= 0 ? fmin(0, shown) : shown;
    return around(shown, width + (rounds ? value->step / 2 : 0));
}

/* For a mean or a spread: the number of its values is so near to its noise that an empty group is
 * shown in 1 % of draws. */
static bool seems_too_few(const brume_plan *plan, const brume_noisy_moments *moments)
{
    return moments->count_scale > 0 &&
           moments->count <= brume_too_few(plan->noise, moments->count_scale);
}

/* Does the interval say no more than the bounds do? */
static bool is_everything(const brume_noisy_moments *moments, brume_interval bar, double low,
                          double high)
{
    return moments->count_scale > 0 && low < high && bar.lower <= low && bar.upper >= high;
}

static brume_shown too_few(void)
{
    return (brume_shown){.too_few = true};
}

/* It cannot be told from 0, but it is not anything. */
static brume_shown too_few_within(brume_interval interval)
{
    return (brume_shown){.too_few = true, .interval = interval, .has_interval = true};
}

static brume_shown show_mean(const brume_terms *terms, const brume_drawn *drawn,
                             const brume_plan_aggregate *from, size_t group, double beta)
{
    const brume_plan *plan = terms->plan;
    brume_noisy_moments moments = moments_of(terms, drawn, from, group);
    if (seems_too_few(plan, &moments))
        return too_few();
    if (!(moments.count >= 1) || !isfinite(moments.sum))
        return nothing();
    double step = plan->values[from->value].step;
    double centre = (double)plan->values[from->value].origin +
                    centre_of(terms, from->direct >= 0 ? from->direct : from->centred);
    double mean = moments.sum / moments.count;
    brume_interval bar = brume_error_mean(plan->noise, &moments, beta);
    if (is_everything(&moments, bar, moments.low, moments.high))
        return too_few();
    double half_step = plan->values[from->value].argument->type.kind == BRUME_TYPE_DOUBLE
                           ? step / 2
                           : 0; /* rounding of each value to the grid */
    return within((centre + fmin(fmax(mean, moments.low), moments.high)) * step,
                  (brume_interval){(centre + bar.lower) * step - half_step,
                                   (centre + bar.upper) * step + half_step});
}

static double sample_factor(brume_aggregate_kind kind, double count)
{
    bool sample = kind == BRUME_AGGREGATE_VAR_SAMP || kind == BRUME_AGGREGATE_STDDEV_SAMP;
    return sample ? count / (count - 1) : 1;
}

/* Where the interval begins at 0 and reaches further above the value than to 0 below it, the spread
 * cannot be told from none: it is too few, with the interval. */
static brume_shown spread_of(brume_aggregate_kind kind, double variance, brume_interval bar)
{
    bool root = kind == BRUME_AGGREGATE_STDDEV_POP || kind == BRUME_AGGREGATE_STDDEV_SAMP;
    double shown = root ? sqrt(variance) : variance;
    brume_interval interval = root ? (brume_interval){sqrt(bar.lower), sqrt(bar.upper)} : bar;
    return interval.lower <= 0 && interval.upper > 2 * shown ? too_few_within(interval)
                                                             : within(shown, interval);
}

/* How far the mean of the squares may be off because values are on a grid: squares by half a step,
 * what a unit has of them by half a step more; about a centre values of type DOUBLE move them too.
 */
static double rounding_of_squares(const brume_plan *plan, const brume_plan_aggregate *from,
                                  const brume_found_limit *squares)
{
    const brume_plan_value *value = &plan->values[from->value];
    bool rounds = squares->has_centre && value->argument->type.kind == BRUME_TYPE_DOUBLE;
    double step = plan->values[squares->of->of.value].step;
    return step + (rounds ? fabs((double)squares->centre) * value->step * value->step : 0);
}

/* The mean of the squares less the square of the mean, from two sums with a limit each. */
static brume_shown show_spread(const brume_terms *terms, const brume_drawn *drawn,
                               const brume_plan_aggregate *from, brume_aggregate_kind kind,
                               size_t group, double beta)
{
    const brume_plan *plan = terms->plan;
    double step = plan->values[from->value].step;
    double second_step = plan->values[terms->measures[from->second].expression].step;
    brume_noisy_moments first = moments_of_sum(terms, drawn, from, from->direct, group);
    brume_noisy_moments second = moments_of_sum(terms, drawn, from, from->second, group);
    if (seems_too_few(plan, &first) || !(first.count > 1) || !isfinite(first.sum) ||
        !isfinite(second.sum))
        return too_few();
    const brume_found_limit *of_squares = brume_terms_measure_limit(terms, (size_t)from->second);
    double centre = centre_of(terms, from->direct); /* V = E(x - c)^2 - (E x - c)^2 for every c */
    if (of_squares->has_centre) {
        centre -= (double)of_squares->centre;
        second.low = 0;
        second.high = brume_found_reach(of_squares);
    }
    brume_spread_grid grid = {.step = step,
                              .square_step = second_step,
                              .shift = centre,
                              .rounding = rounding_of_squares(plan, from, of_squares)};
    double raw = 0, width = (first.high - first.low) * step;
    double factor = sample_factor(kind, first.count);
    brume_interval bar = brume_error_spread(plan->noise, &first, &second, &grid, beta, &raw);
    if (!(bar.lower <= bar.upper) || is_everything(&first, bar, 0, width * width / 4))
        return too_few();
    return spread_of(kind, fmin(fmax(raw, bar.lower), bar.upper) * factor,
                     (brume_interval){bar.lower * factor, bar.upper * factor});
}

static brume_shown show_variance(const brume_terms *terms, const brume_drawn *drawn,
                                 const brume_plan_aggregate *from, brume_aggregate_kind kind,
                                 size_t group, double beta)
{
    const brume_plan *plan = terms->plan;
    if (from->second >= 0)
        return show_spread(terms, drawn, from, kind, group, beta);
    brume_noisy_moments moments = moments_of(terms, drawn, from, group);
    bool sample = kind == BRUME_AGGREGATE_VAR_SAMP || kind == BRUME_AGGREGATE_STDDEV_SAMP;
    if (seems_too_few(plan, &moments))
        return too_few();
    if (moments.count < (sample ? 2 : 1))
        return nothing();
    double width = moments.high - moments.low, most = width * width / 4;
    double mean = fmin(fmax(moments.sum / moments.count, moments.low), moments.high);
    double raw = moments.half_square + moments.squares / moments.count - mean * mean;
    double factor = sample_factor(kind, moments.count);
    double step = plan->values[from->value].step, unit = step * step;
    double shown = fmin(fmax(raw, 0), most) * factor;
    shown = sample ? fmin(shown, width * width / 2) : shown;
    brume_interval bar = brume_error_variance(plan->noise, &moments, beta);
    if (is_everything(&moments, bar, 0, most))
        return too_few();
    bar = (brume_interval){bar.lower * factor * unit, bar.upper * factor * unit};
    return spread_of(kind, shown * unit, bar);
}

/* ---- two arguments ---- */

/* The means of a pair in its own units: y, x, and of products about their middles. */
enum { OF_Y, OF_X, OF_PRODUCT, OF_Y_SQUARE, OF_X_SQUARE, JOINT_MEANS };

typedef struct joint_means {
    double at[JOINT_MEANS];
    brume_interval in[JOINT_MEANS];
} joint_means;

static brume_interval interval_product(brume_interval a, brume_interval b)
{
    double corners[] = {a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper};
    brume_interval out = {corners[0], corners[0]};
    for (size_t i = 1; i < 4; i++) {
        out.lower = fmin(out.lower, corners[i]);
        out.upper = fmax(out.upper, corners[i]);
    }
    return out;
}

static brume_interval interval_square(brume_interval a)
{
    double low = a.lower * a.lower, high = a.upper * a.upper;
    bool has_zero = a.lower <= 0 && a.upper >= 0;
    return (brume_interval){has_zero ? 0 : fmin(low, high), fmax(low, high)};
}

static brume_interval interval_less(brume_interval a, brume_interval b)
{
    return (brume_interval){a.lower - b.upper, a.upper - b.lower};
}

static brume_interval cut_to(brume_interval a, double low, double high)
{
    return (brume_interval){fmin(fmax(a.lower, low), high), fmax(fmin(a.upper, high), low)};
}

/* a / b where b is above 0. */
static brume_interval interval_ratio(brume_interval a, brume_interval b)
{
    return interval_product(a, (brume_interval){1 / b.upper, 1 / b.lower});
}

static double clamped_to(double x, brume_interval a)
{
    return fmin(fmax(x, a.lower), a.upper);
}

/* The numbers of one centred sum. False: there is none. */
static bool joint_mean(const brume_terms *terms, const brume_drawn *drawn,
                       const brume_plan_aggregate *from, int index, size_t group, double beta,
                       double *at, brume_interval *in)
{
    const brume_plan *plan = terms->plan;
    const brume_measure *sum = &terms->measures[index];
    const brume_plan_value *value = &plan->values[sum->expression];
    double centre = centre_of(terms, index), offset = (double)value->origin + centre;
    brume_noisy_moments moments = {
        .count = count_of(drawn, from, group),
        .sum = brume_drawn_number(drawn, index, group),
        .count_scale = from->public_count ? 0 : scale_of(terms, drawn, from->count, group),
        .sum_scale = scale_of(terms, drawn, index, group),
        .low = (double)sum->low - centre,
        .high = (double)sum->high - centre,
        .count_cut = from->public_count ? 0 : cut_of(terms, from->count),
        .sum_cut = cut_of(terms, index),
    };
    if (seems_too_few(plan, &moments) || !(moments.count >= 2) || !isfinite(moments.sum))
        return false;
    brume_interval bar = brume_error_mean(plan->noise, &moments, beta);
    *at = (offset + fmin(fmax(moments.sum / moments.count, moments.low), moments.high)) *
          value->step;
    *in = (brume_interval){(offset + bar.lower - 0.5) * value->step, /* rounded to the grid */
                           (offset + bar.upper + 0.5) * value->step};
    return true;
}

/* Half of the width of a value's bounds, in its own units. */
static double half_width(const brume_plan *plan, const brume_terms *terms, int index)
{
    const brume_measure *sum = &terms->measures[index];
    return ((double)sum->high - (double)sum->low + 1) / 2 * plan->values[sum->expression].step;
}

/* A variance from the mean of squares and the mean, both about the middle. */
static brume_interval joint_variance(brume_interval square, brume_interval mean, double most)
{
    return cut_to(interval_less(square, interval_square(mean)), 0, most * most);
}

static brume_shown show_joint(const brume_terms *terms, const brume_drawn *drawn,
                              const brume_plan_aggregate *from, brume_aggregate_kind kind,
                              size_t group, double beta)
{
    const brume_plan *plan = terms->plan;
    const int measures[JOINT_MEANS] = {from->centred, from->joint[0], from->joint[1],
                                       from->joint[2], from->joint[3]};
    joint_means m = {{0}, {{0, 0}}};
    double parts = 0;
    for (size_t i = 0; i < JOINT_MEANS; i++)
        parts += measures[i] >= 0;
    for (size_t i = 0; i < JOINT_MEANS; i++)
        if (measures[i] >= 0 &&
            !joint_mean(terms, drawn, from, measures[i], group, beta / parts, &m.at[i], &m.in[i]))
            return too_few();
    brume_interval mean_x = m.in[OF_X]; /* for intercepts, in its own units */
    double at_x = m.at[OF_X], at_y = m.at[OF_Y];
    brume_interval mean_y = m.in[OF_Y];
    for (size_t i = OF_Y; i <= OF_X; i++) {
        m.at[i] -= from->middle[i];
        m.in[i].lower -= from->middle[i];
        m.in[i].upper -= from->middle[i];
    }
    double most_y = half_width(plan, terms, from->centred);
    double most_x = half_width(plan, terms, from->joint[0]), most = most_y * most_x;
    brume_interval both = interval_less(m.in[OF_PRODUCT], interval_product(m.in[OF_Y], m.in[OF_X]));
    both = cut_to(both, -most, most);
    double at = clamped_to(m.at[OF_PRODUCT] - m.at[OF_Y] * m.at[OF_X], both);
    if (kind == BRUME_AGGREGATE_COVAR_POP || kind == BRUME_AGGREGATE_COVAR_SAMP) {
        double count = count_of(drawn, from, group);
        double factor = kind == BRUME_AGGREGATE_COVAR_SAMP ? count / (count - 1) : 1;
        if (both.lower <= -most && both.upper >= most)
            return too_few();
        return within(at * factor, (brume_interval){both.lower * factor, both.upper * factor});
    }
    brume_interval var_x = joint_variance(m.in[OF_X_SQUARE], m.in[OF_X], most_x);
    double at_var_x = clamped_to(m.at[OF_X_SQUARE] - m.at[OF_X] * m.at[OF_X], var_x);
    if (!(var_x.lower > 0) || !(at_var_x > 0))
        return too_few(); /* x may be the same in all rows */
    if (kind == BRUME_AGGREGATE_REGR_SLOPE || kind == BRUME_AGGREGATE_REGR_INTERCEPT) {
        brume_interval slope = interval_ratio(both, var_x);
        double at_slope = clamped_to(at / at_var_x, slope);
        if (kind == BRUME_AGGREGATE_REGR_SLOPE)
            return within(at_slope, slope);
        brume_interval start = interval_less(mean_y, interval_product(slope, mean_x));
        return within(clamped_to(at_y - at_slope * at_x, start), start);
    }
    brume_interval var_y = joint_variance(m.in[OF_Y_SQUARE], m.in[OF_Y], most_y);
    double at_var_y = clamped_to(m.at[OF_Y_SQUARE] - m.at[OF_Y] * m.at[OF_Y], var_y);
    if (!(var_y.lower > 0) || !(at_var_y > 0))
        return too_few();
    brume_interval size = {sqrt(var_y.lower * var_x.lower), sqrt(var_y.upper * var_x.upper)};
    brume_interval corr = cut_to(interval_ratio(both, size), -1, 1);
    if (corr.lower <= -1 && corr.upper >= 1)
        return too_few();
    double at_corr = clamped_to(at / sqrt(at_var_y * at_var_x), corr);
    if (kind == BRUME_AGGREGATE_CORR)
        return within(at_corr, corr);
    return within(at_corr * at_corr, interval_square(corr));
}

/* A quantile of a group that, as far as the released counts say, is empty, is NULL. */
static bool seems_empty(const brume_plan *plan, const brume_drawn *drawn, size_t group)
{
    return plan->units >= 0 && brume_drawn_number(drawn, plan->units, group) < 1;
}

/* A value of a domain, as a value of its column's type: numbers are numbers, other values are shown
 * as they are declared. */
static brume_value declared_value(const brume_policy_column *column, int64_t index)
{
    const char *text = column->domain[index];
    brume_value value = {.kind = BRUME_VALUE_TEXT, .text = text, .length = strlen(text)};
    brume_key_value key = {0};
    char room[BRUME_KEY_TEXT];
    if (brume_policy_domain_value(column->type, text, &key, NULL) != BRUME_OK)
        return value;
    brume_value typed = brume_key_formula_value(column->type, &key, room, sizeof room);
    if (typed.kind != BRUME_VALUE_NUMBER && typed.kind != BRUME_VALUE_BOOLEAN)
        return value;
    if (typed.text) { /* the digits as they are declared, which stay */
        typed.text = value.text;
        typed.length = value.length;
    }
    return typed;
}

/* The interval of a quantile is drawn to hold it but for this chance. */
#define INTERVAL_BETA 0.05

static brume_shown show_selection(const brume_present_source *source,
                                  const brume_plan_aggregate *from, size_t group, double beta)
{
    const brume_plan *plan = source->terms->plan;
    const brume_drawn *drawn = source->drawn;
    brume_shown out = {0};
    if (from->private_mode) {
        if (!seems_empty(plan, drawn, group))
            out.value = source->modes[(size_t)from->value * drawn->count + group];
        return out;
    }
    const brume_plan_value *value = &plan->values[from->value];
    int64_t chosen = brume_drawn_selected(plan, drawn, from->selection, group, from->fraction);
    int64_t ends[2];
    if (seems_empty(plan, drawn, group))
        return nothing();
    out.value = value->declared ? declared_value(value->declared, chosen)
                                : number_value((double)chosen * value->step);
    out.has_interval = beta >= INTERVAL_BETA &&
                       brume_drawn_interval(plan, drawn, from->selection, group, ends);
    const brume_measure *measure = &plan->measures[from->selection];
    if (out.has_interval && measure->low < measure->high && ends[0] <= measure->low &&
        ends[1] >= measure->high)
        return too_few(); /* it may be anything that the bounds allow */
    if (out.has_interval)
        out.interval =
            (brume_interval){(double)ends[0] * value->step, (double)ends[1] * value->step};
    return out;
}

static brume_shown show(const brume_present_source *source, size_t aggregate, size_t group,
                        double beta)
{
    const brume_plan *plan = source->terms->plan;
    const brume_drawn *drawn = source->drawn;
    const brume_plan_aggregate *from = &plan->aggregates[aggregate];
    brume_aggregate_kind kind = plan->query->aggregates[aggregate].kind;
    switch (kind) {
    case BRUME_AGGREGATE_COUNT_ROWS:
    case BRUME_AGGREGATE_COUNT:
    case BRUME_AGGREGATE_COUNT_UNITS:
        return show_count(source->terms, drawn, from, group, beta);
    case BRUME_AGGREGATE_COUNT_DISTINCT:
        return show_distinct(source->terms, drawn, from, group, beta);
    case BRUME_AGGREGATE_SUM:
        return show_sum(source->terms, drawn, from, group, beta);
    case BRUME_AGGREGATE_AVG:
        return show_mean(source->terms, drawn, from, group, beta);
    case BRUME_AGGREGATE_VAR_POP:
    case BRUME_AGGREGATE_VAR_SAMP:
    case BRUME_AGGREGATE_STDDEV_POP:
    case BRUME_AGGREGATE_STDDEV_SAMP:
        return show_variance(source->terms, drawn, from, kind, group, beta);
    case BRUME_AGGREGATE_COVAR_POP:
    case BRUME_AGGREGATE_COVAR_SAMP:
    case BRUME_AGGREGATE_CORR:
    case BRUME_AGGREGATE_REGR_SLOPE:
    case BRUME_AGGREGATE_REGR_INTERCEPT:
    case BRUME_AGGREGATE_REGR_R2:
        return show_joint(source->terms, drawn, from, kind, group, beta);
    case BRUME_AGGREGATE_QUANTILE:
    case BRUME_AGGREGATE_MODE:
        break;
    }
    return show_selection(source, from, group, beta);
}

brume_shown brume_present_show(const brume_present_source *source, size_t aggregate, size_t group,
                               double beta)
{
    brume_shown shown = show(source, aggregate, group, beta);
    if (brume_terms_cut_is_unknown(source->terms, aggregate))
        shown.has_interval = false; /* the noise alone would say nothing of the truth */
    return shown;
}
