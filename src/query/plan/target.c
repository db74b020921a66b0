/* From an accuracy to a price. */
#include "query/plan/target.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "query/price/error_bar.h"
#include "query/plan/make_plan.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"

static const double steps_per_unit = 1e6; /* prices are searched in steps of 10^-6 */
static const double largest_price = 1e6;

typedef struct search {
    const brume_question *question;
    const brume_target *target;
    const brume_payment *payment;
    const brume_plan_hook *hook;
} search;

static brume_status plan_at(const search *all, double steps, brume_plan **plan, brume_terms **terms,
                            char epsilon[BRUME_PRICE_TEXT], brume_error *error)
{
    snprintf(epsilon, BRUME_PRICE_TEXT, "%.6f", steps / steps_per_unit);
    brume_payment payment = *all->payment;
    payment.epsilon = epsilon;
    payment.rho = NULL;
    BRUME_TRY(
        brume_query_plan_make(all->question->query, all->question->tables, &payment, plan, error));
    brume_status status = all->hook ? all->hook->terms(all->hook->context, *plan, terms, error)
                                    : brume_terms_make(*plan, NULL, 0, terms, error);
    if (status != BRUME_OK) {
        brume_query_plan_close(*plan);
        *plan = NULL;
    }
    return status;
}

/* ---- the half-width of one aggregate, in the units of the query ---- */

static double measure_width(const brume_terms *terms, int measure, double beta)
{
    if (measure < 0)
        return 0; /* public */
    const brume_measure *one = &terms->measures[measure];
    return brume_terms_width(terms, (size_t)measure, beta) / brume_plan_step(terms->plan, one);
}

/* |m^ - m| <= (w_S + h w_N) / (N0 - w_N) for N >= N0, each width at beta/2; of a sum with a limit
 * of its own, with what limits may cut of both, which the number of rows that are kept is less by.
 */
static double mean_width(const brume_terms *terms, const brume_plan_aggregate *from, int direct,
                         double beta, double at_least)
{
    double count = measure_width(terms, from->count, beta / 2), left = at_least - count;
    double sum = 0, reach = 0;
    if (direct >= 0) {
        const brume_found_limit *of_sum = brume_terms_measure_limit(terms, (size_t)direct);
        const brume_found_limit *number = brume_terms_measure_limit(terms, (size_t)from->count);
        count += number->choice.allowance;
        left -= number->choice.allowance;
        const brume_measure *measure = &terms->measures[direct];
        bool follows = measure->kind == BRUME_MEASURE_CENTRED;
        reach = follows ? (double)brume_measure_reach(measure) : brume_found_reach(of_sum);
        sum = measure_width(terms, direct, beta / 2) +
              of_sum->choice.allowance * (follows ? reach : 1);
    } else {
        sum = measure_width(terms, from->centred, beta / 2);
        reach = (double)brume_measure_reach(&terms->measures[from->centred]);
    }
    int measure = direct >= 0 ? direct : from->centred;
    double step = terms->plan->values[terms->measures[measure].expression].step;
    return left > 0 ? (sum + reach * count) / left * step : INFINITY;
}

static double variance_width(const brume_terms *terms, const brume_plan_aggregate *from,
                             double beta, double at_least)
{
    if (from->second >= 0) {
        const brume_plan_value *value = &terms->plan->values[from->value];
        double mean = mean_width(terms, from, from->direct, beta / 2, at_least);
        double most = fmax(fabs((double)value->low), fabs((double)value->high)) * value->step;
        return mean_width(terms, from, from->second, beta / 2, at_least) + 2 * most * mean +
               mean * mean;
    }
    double count = measure_width(terms, from->count, beta / 3), left = at_least - count;
    double sum = measure_width(terms, from->centred, beta / 3);
    double squares = measure_width(terms, from->squares, beta / 3);
    double h = (double)brume_measure_reach(&terms->measures[from->centred]);
    double mean = (sum + h * count) / left, step = terms->plan->values[from->value].step;
    if (!(left > 0))
        return INFINITY;
    return ((squares + ceil(h * h / 2) * count) / left + 2 * h * mean + mean * mean) * step * step;
}

/* ---- the bar of a mean, from looks ---- */

/* What the ledger's looks say that all units have together. */
static double looked_sum(const brume_found_limit *limit)
{
    brume_looks looks = brume_found_looks(limit);
    return brume_found_is_counted(limit) ? brume_looks_sum(&looks) : NAN;
}

/* As release/present_value.c will show it, of numbers as they are by the looks. */
static bool mean_bar(const brume_terms *terms, const brume_plan_aggregate *from,
                     brume_bar_range *out)
{
    const brume_plan *plan = terms->plan;
    if (from->direct < 0 || from->count < 0 || !(terms->groups >= 1) || plan->shape.private_keys)
        return false;
    const brume_measure *sum = &terms->measures[from->direct];
    bool follows = sum->kind == BRUME_MEASURE_CENTRED;
    const brume_found_limit *own =
        &terms->limits[brume_plan_limit_index(plan, (size_t)from->direct)];
    const brume_found_limit *of_sum = brume_terms_measure_limit(terms, (size_t)from->direct);
    const brume_found_limit *number = brume_terms_measure_limit(terms, (size_t)from->count);
    double centre = follows ? (double)brume_measure_centre(sum) : (double)own->centre;
    double rows = looked_sum(number) / terms->groups, all = looked_sum(own) / terms->groups;
    if (own->has_centre) /* it is near the mean */
        all = centre * rows;
    if (!(rows >= 1) || isnan(all) || !(own->has_centre || sum->low >= 0 || sum->high <= 0))
        return false;
    brume_noisy_moments moments = {
        .count = rows,
        .sum = (own->has_centre || sum->low >= 0 ? all : -all) - centre * rows,
        .count_scale = brume_terms_scale(terms, (size_t)from->count, -1),
        .sum_scale = brume_terms_scale(terms, (size_t)from->direct, -1),
        .low = (double)sum->low - centre,
        .high = (double)sum->high - centre,
        .count_cut = number->choice.allowance,
        .sum_cut = of_sum->choice.allowance * (follows ? (double)brume_measure_reach(sum) : 1),
    };
    if (rows <= brume_too_few(plan->noise, moments.count_scale))
        return false;
    brume_interval bar = brume_error_mean(plan->noise, &moments, 0.05);
    double at = moments.sum / rows, width = fmax(bar.upper - at, at - bar.lower);
    width *= plan->values[from->value].step;
    *out = (brume_bar_range){width, width, true, plan->query->key_count > 0 ? rows : 0, 0};
    return isfinite(width);
}

/* The same of a spread: of numbers as they are by the looks, and a centre that is the mean. */
static bool spread_bar(const brume_terms *terms, const brume_plan_aggregate *from, bool root,
                       brume_bar_range *out)
{
    const brume_plan *plan = terms->plan;
    if (from->second < 0 || from->count < 0 || plan->shape.private_keys)
        return false;
    const brume_found_limit *of_sum = brume_terms_measure_limit(terms, (size_t)from->direct);
    const brume_found_limit *of_squares = brume_terms_measure_limit(terms, (size_t)from->second);
    const brume_found_limit *number = brume_terms_measure_limit(terms, (size_t)from->count);
    double rows = looked_sum(number) / terms->groups, step = plan->values[from->value].step;
    if (!of_sum->has_centre || !of_squares->has_centre || of_squares->capped)
        return false;
    brume_noisy_moments sum = {
        .count = rows,
        .count_scale = brume_terms_scale(terms, (size_t)from->count, -1),
        .sum_scale = brume_terms_scale(terms, (size_t)from->direct, -1),
        .low = (double)of_sum->of->low - (double)of_sum->centre,
        .high = (double)of_sum->of->high - (double)of_sum->centre,
        .count_cut = number->choice.allowance,
        .sum_cut = of_sum->choice.allowance,
    };
    brume_noisy_moments squares = sum;
    squares.sum = looked_sum(of_squares) / terms->groups;
    squares.sum_scale = brume_terms_scale(terms, (size_t)from->second, -1);
    squares.low = 0;
    squares.high = brume_found_reach(of_squares);
    squares.sum_cut = of_squares->choice.allowance;
    if (!(rows > brume_too_few(plan->noise, sum.count_scale)) || !(squares.sum > 0))
        return false;
    double square_step = plan->values[of_squares->of->of.value].step, at = 0;
    brume_spread_grid grid = {step, square_step, 0, square_step};
    brume_interval bar = brume_error_spread(plan->noise, &sum, &squares, &grid, 0.05, &at);
    double upper = root ? sqrt(bar.upper) : bar.upper, lower = root ? sqrt(bar.lower) : bar.lower;
    at = root ? sqrt(fmax(0, at)) : at;
    double width = fmax(upper - at, at - lower);
    *out = (brume_bar_range){width, width, true, plan->query->key_count > 0 ? rows : 0, 0};
    return isfinite(width) && at > 0;
}

static double sum_width(const brume_terms *terms, const brume_plan_aggregate *from, double beta)
{
    if (from->direct >= 0)
        return brume_terms_width(terms, (size_t)from->direct, beta);
    if (from->public_count)
        return brume_terms_width(terms, (size_t)from->centred, beta);
    const brume_measure *centred = &terms->measures[from->centred];
    double scale[] = {brume_terms_scale(terms, (size_t)from->centred, -1),
                      brume_terms_scale(terms, (size_t)from->count, -1)};
    double coefficient[] = {1, (double)brume_measure_centre(centred)};
    return brume_error_width_combined(terms->plan->noise, scale, coefficient, 2, beta) *
           terms->plan->values[from->value].step;
}

/* Limits that are plausible where nobody looked yet: one row's worth, and a hundred's; the limit of
 * units with a hundred comes out at up to twice that, and the usual looks at them are paid for. */
static brume_bar_range plausible(const brume_terms *terms, size_t measure,
                                 const brume_found_limit *limit)
{
    double rows = limit->of->of.kind == BRUME_TOTAL_SUM ? fmax(1, limit->of->reach / 10) : 1;
    double most = 200 * rows;
    if (limit->of->ceiling > 0)
        most = fmax(rows, fmin(most, (double)limit->of->ceiling));
    return (brume_bar_range){.low = brume_terms_width_at(terms, measure, rows),
                             .high = brume_terms_width_at(terms, measure, most)};
}

static brume_bar_range plausible_distinct(const brume_terms *terms, size_t measurement)
{
    const brume_distinct_terms *of = &terms->distinct[measurement];
    double width = brume_error_width(terms->plan->measurements[measurement].noise, of->scale, 0.05);
    double most = of->limit.of->ceiling > 0 ? fmin(100, (double)of->limit.of->ceiling) : 100;
    return (brume_bar_range){.low = width, .high = width * most};
}

bool brume_target_bar(const brume_terms *terms, size_t aggregate, brume_bar_range *out)
{
    const brume_plan_aggregate *from = &terms->plan->aggregates[aggregate];
    const brume_found_limit *limit = brume_terms_limit_of(terms, aggregate);
    int measure = from->direct >= 0 ? from->direct : from->count;
    double width = NAN;
    switch (terms->plan->query->aggregates[aggregate].kind) {
    case BRUME_AGGREGATE_COUNT_DISTINCT:
        limit = &terms->distinct[from->distinct].limit;
        if (!limit->known) {
            *out = plausible_distinct(terms, (size_t)from->distinct);
            return true;
        }
        width = brume_terms_distinct_width(terms, (size_t)from->distinct, 0.05);
        break;
    case BRUME_AGGREGATE_SUM:
        if (from->direct < 0 && limit && !limit->known)
            return false; /* it is made of two sums */
        if (!limit || limit->known)
            width = sum_width(terms, from, 0.05);
        break;
    case BRUME_AGGREGATE_COUNT_ROWS:
    case BRUME_AGGREGATE_COUNT:
    case BRUME_AGGREGATE_COUNT_UNITS:
        if (measure < 0)
            width = 0; /* public */
        else if (!limit || limit->known)
            width = brume_terms_width(terms, (size_t)measure, 0.05);
        break;
    case BRUME_AGGREGATE_AVG:
        return mean_bar(terms, from, out);
    case BRUME_AGGREGATE_STDDEV_POP:
    case BRUME_AGGREGATE_STDDEV_SAMP:
        return spread_bar(terms, from, true, out);
    case BRUME_AGGREGATE_VAR_POP:
    case BRUME_AGGREGATE_VAR_SAMP:
        return spread_bar(terms, from, false, out);
    default:
        return false;
    }
    bool guessed = isnan(width);
    if (guessed && !limit)
        return false;
    double cut = brume_terms_allowance(terms, aggregate);
    bool about = limit && limit->source == BRUME_LIMIT_AUTO;
    *out = guessed ? plausible(terms, (size_t)measure, limit)
                   : (brume_bar_range){width + cut, width + cut, about, 0, 0};
    if (!guessed && cut > 0 && from->count >= 0 && from->direct < 0)
        out->sure_below = floor((width + cut) / brume_terms_width_at(terms, (size_t)measure, 1) /
                                (1 - brume_terms_choice_share(terms)));
    return !isnan(out->low);
}

/* Is every value of the plan near enough? */
static bool good_enough(const search *all, const brume_terms *terms)
{
    const brume_target *target = all->target;
    double beta = 1 - target->confidence;
    if (target->joint)
        beta /= (double)terms->plan->query->aggregate_count * (double)terms->plan->shape.cells;
    for (size_t i = 0; i < terms->plan->query->aggregate_count; i++) {
        const brume_plan_aggregate *from = &terms->plan->aggregates[i];
        double width = 0, allowed = target->within; /* all of the bar: noise and what is cut */
        double cut = brume_terms_allowance(terms, i);
        switch (terms->plan->query->aggregates[i].kind) {
        case BRUME_AGGREGATE_COUNT_ROWS:
        case BRUME_AGGREGATE_COUNT:
        case BRUME_AGGREGATE_COUNT_UNITS:
            width = brume_terms_width(terms, (size_t)from->count, beta) + cut;
            break;
        case BRUME_AGGREGATE_SUM:
            width = sum_width(terms, from, beta) + cut;
            break;
        case BRUME_AGGREGATE_AVG:
            width = mean_width(terms, from, from->direct, beta, target->at_least);
            break;
        case BRUME_AGGREGATE_VAR_POP:
            width = variance_width(terms, from, beta, target->at_least);
            break;
        case BRUME_AGGREGATE_QUANTILE:
            width = brume_selection_width(&terms->measures[from->selection],
                                          terms->measures[from->selection].scale, beta);
            allowed = target->rank;
            break;
        case BRUME_AGGREGATE_COUNT_DISTINCT:
            width = brume_terms_distinct_width(terms, (size_t)from->distinct, beta) + cut;
            break;
        case BRUME_AGGREGATE_VAR_SAMP:
        case BRUME_AGGREGATE_STDDEV_POP:
        case BRUME_AGGREGATE_STDDEV_SAMP:
        case BRUME_AGGREGATE_MODE:
        case BRUME_AGGREGATE_COVAR_POP:
        case BRUME_AGGREGATE_COVAR_SAMP:
        case BRUME_AGGREGATE_CORR:
        case BRUME_AGGREGATE_REGR_SLOPE:
        case BRUME_AGGREGATE_REGR_INTERCEPT:
        case BRUME_AGGREGATE_REGR_R2:
            return false; /* refused before */
        }
        if (!(width <= allowed))
            return false;
    }
    return true;
}

/* ---- what can be promised at all ---- */

static bool never_found(const brume_terms *terms)
{
    for (size_t i = 0; i < terms->plan->limit_count; i++)
        if (terms->limits[i].earlier == BRUME_EARLIER_NOT_FOUND)
            return true;
    for (size_t i = 0; i < terms->plan->measurement_count; i++)
        if (brume_distinct_chooses(&terms->distinct[i]) &&
            terms->distinct[i].limit.earlier == BRUME_EARLIER_NOT_FOUND)
            return true;
    return false;
}

static brume_status check_target(const search *all, const brume_terms *terms, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    const brume_target *target = all->target;
    if (!(target->confidence > 0 && target->confidence < 1))
        return brume_fail(error, BRUME_EARGUMENT, "such as 0.95", "'--confidence' is %g",
                          target->confidence);
    if (target->joint && plan->shape.private_keys)
        return brume_fail(error, BRUME_EARGUMENT, "leave --joint out, or group by declared values",
                          "how many groups there will be is private, so nothing can be promised "
                          "for all of them");
    if (brume_terms_choose(terms))
        return brume_fail(error, BRUME_EARGUMENT,
                          plan->shape.private_keys
                              ? "type --limit, or pay with --epsilon"
                              : "type --limit, or buy the choice first: brume limits \"SQL\" "
                                "--epsilon E",
                          "how near an answer is depends on its limit, which is %s",
                          never_found(terms) ? "not found yet: earlier choices had too few units "
                                               "for their price"
                                             : "not chosen yet");
    if (plan->query->aggregate_count == 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "pay with --epsilon",
                          "keys alone have no error that a price could be chosen from");
    for (size_t i = 0; i < plan->query->aggregate_count; i++) {
        brume_aggregate_kind kind = plan->query->aggregates[i].kind;
        bool ratio = kind == BRUME_AGGREGATE_AVG || kind == BRUME_AGGREGATE_VAR_POP;
        if (kind == BRUME_AGGREGATE_QUANTILE && !(target->rank > 0))
            return brume_fail(error, BRUME_EUNSUPPORTED, "--within-rank T promises a rank",
                              "a quantile has no error in its own units");
        if (kind != BRUME_AGGREGATE_QUANTILE && !(target->within > 0))
            return brume_fail(error, BRUME_EARGUMENT, "give --within A as well",
                              "'--within-rank' is about quantiles only");
        if (ratio && !(target->at_least > 0))
            return brume_fail(error, BRUME_EARGUMENT,
                              "--at-least N: the promise then holds for groups of that size",
                              "how near a mean is depends on how many values it has");
        if (brume_aggregate_is_joint(kind) || kind == BRUME_AGGREGATE_MODE ||
            kind == BRUME_AGGREGATE_VAR_SAMP || kind == BRUME_AGGREGATE_STDDEV_POP ||
            kind == BRUME_AGGREGATE_STDDEV_SAMP)
            return brume_fail(error, BRUME_EUNSUPPORTED, "pay with --epsilon",
                              "no price can be chosen from the accuracy of %s",
                              brume_aggregate_word(kind));
    }
    return BRUME_OK;
}

/* What may be spent at most: the least of what is left and of the caps. */
static double most_epsilon(const brume_question *question)
{
    double most = largest_price;
    for (size_t i = 0; i < question->query->table_count; i++) {
        const brume_dataset *dataset = question->datasets[question->query->tables[i].table];
        brume_charge left;
        brume_decimal cap;
        if (brume_filter_left(&dataset->filter, &left, NULL) != BRUME_OK)
            return 0;
        double amount = brume_decimal_lower(&left.amount);
        if (dataset->filter.rule == BRUME_RULE_CONCENTRATED)
            amount = sqrt(2 * amount); /* epsilon stands for rho = epsilon^2/2 */
        most = fmin(most, amount);
        if (dataset->cap && brume_decimal_parse(dataset->cap, &cap, NULL) == BRUME_OK)
            most = fmin(most, brume_decimal_lower(&cap));
    }
    return most;
}

static brume_status try_price(const search *all, double steps, bool *good,
                              char epsilon[BRUME_PRICE_TEXT], brume_error *error)
{
    brume_plan *plan = NULL;
    brume_terms *terms = NULL;
    brume_status status = plan_at(all, steps, &plan, &terms, epsilon, error);
    if (status == BRUME_EOVERFLOW) { /* so little money that the noise has no bounds */
        *good = false;
        return BRUME_OK;
    }
    if (status == BRUME_OK)
        *good = good_enough(all, terms);
    brume_terms_close(terms);
    brume_query_plan_close(plan);
    return status;
}

brume_status brume_target_price(const brume_question *question, const brume_target *target,
                                const brume_payment *payment, const brume_plan_hook *hook,
                                char epsilon[BRUME_PRICE_TEXT], brume_error *error)
{
    search all = {question, target, payment, hook};
    char text[BRUME_PRICE_TEXT];
    brume_plan *plan = NULL;
    brume_terms *terms = NULL;
    BRUME_TRY(plan_at(&all, steps_per_unit, &plan, &terms, text, error));
    brume_status status = check_target(&all, terms, error);
    brume_terms_close(terms);
    brume_query_plan_close(plan);
    if (status != BRUME_OK)
        return status;
    double low = 0, high = floor(most_epsilon(question) * steps_per_unit);
    bool good = false;
    if (high >= 1)
        BRUME_TRY(try_price(&all, high, &good, text, error));
    if (!good)
        return brume_fail(error, BRUME_EBUDGET, "ask for less accuracy, or for fewer values",
                          "what may be spent (epsilon %.6g) does not carry that accuracy",
                          high / steps_per_unit);
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        BRUME_TRY(try_price(&all, middle, &good, text, error));
        if (good)
            high = middle;
        else
            low = middle;
    }
    snprintf(epsilon, BRUME_PRICE_TEXT, "%.6f", high / steps_per_unit);
    return BRUME_OK;
}
