/* The terms of a release: limits by the looks that were taken, and the noise that follows.
 *
 * Promise: what is here is a function of the plan and of noisy numbers; the steps of choosing that
 * have numbers are paid for, and what they leave of the price buys the rest. */
#include "query/plan/plan_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/rounding.h"
#include "query/limit/clip.h"
#include "query/limit/grid.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/plan/plan_sets.h"
#include "query/price/error_bar.h"
#include "query/price/price.h"
#include "synthetic/consistent.h"

/* ---- what was found out of one limit ---- */

double brume_found_reach(const brume_found_limit *limit)
{
    const brume_plan_limit *of = limit->of;
    double far =
        fmax((double)of->high - (double)limit->centre, (double)limit->centre - (double)of->low);
    if (!limit->has_centre)
        return of->reach;
    return of->of.root ? far * far * of->of.steps : far;
}

brume_total brume_found_total(const brume_found_limit *limit)
{
    brume_total of = limit->of->of;
    of.centre = limit->centre;
    return of;
}

/* The bin of the most that one row adds. */
static size_t base_of(double most)
{
    uint64_t reach = most < 0x1p62 ? (uint64_t)fmax(1, most) : UINT64_C(1) << 62;
    return brume_limit_bin(reach, 1, BRUME_LIMIT_BINS);
}

bool brume_limit_counts_rows(const brume_plan_limit *limit)
{
    return !limit->centred && base_of(limit->reach) == 0;
}

static bool is_empty(const brume_looks *looks)
{
    return !(looks->first.deviation > 0) && !brume_looks_histogram(looks);
}

brume_looks brume_found_looks(const brume_found_limit *limit)
{
    brume_looks all = limit->read;
    brume_looks_pool(&all, &limit->bought);
    all.base = base_of(brume_found_reach(limit));
    return all;
}

/* Is there any look at it, or was none worth its price? */
static bool found_looked(const brume_found_limit *limit)
{
    return limit->capped || !is_empty(&limit->read) || !is_empty(&limit->bought);
}

bool brume_found_nothing(const brume_found_limit *limit)
{
    return found_looked(limit) && !limit->choice.found;
}

bool brume_found_is_counted(const brume_found_limit *limit)
{
    return found_looked(limit) && limit->choice.found;
}

const char *brume_found_earlier_word(const brume_found_limit *limit)
{
    static const char *const words[] = {
        [BRUME_EARLIER_NOT_FOUND] = "not found", [BRUME_EARLIER_NOISY] = "noisy"};
    return limit->source == BRUME_LIMIT_AUTO ? words[limit->earlier] : NULL;
}

double brume_found_value(const brume_found_limit *limit)
{
    return limit->square ? brume_sqrt_up((double)limit->square) : brume_count_up(limit->limit);
}

/* How far it went about a centre. Where nothing is bought yet: with a tail, as it does unless the
 * number's limit is followed. */
static brume_choice_step deviation_step_of(const brume_found_limit *limit)
{
    if (limit->source != BRUME_LIMIT_AUTO || limit->capped)
        return BRUME_CHOICE_COUNT;
    return is_empty(&limit->bought) ? BRUME_CHOICE_TAIL : limit->step;
}

/* How far choosing went. Where nothing is bought yet: as far as earlier looks ask for, or as it
 * goes whatever is drawn, first counts, and histograms where a sum is limited. */
static brume_choice_step step_of(const brume_found_limit *limit)
{
    if (limit->source != BRUME_LIMIT_AUTO)
        return BRUME_CHOICE_COUNT;
    if (!is_empty(&limit->bought)) {
        brume_choice_step least = limit->bought.tail > 0                  ? BRUME_CHOICE_TAIL
                                  : brume_looks_histogram(&limit->bought) ? BRUME_CHOICE_HISTOGRAM
                                                                          : BRUME_CHOICE_COUNT;
        return limit->step > least ? limit->step : least;
    }
    if (limit->read.tail > 0)
        return limit->choice.in_doubt ? BRUME_CHOICE_AGAIN : BRUME_CHOICE_TAIL;
    return brume_looks_histogram(&limit->read) || !brume_limit_counts_rows(limit->of)
               ? BRUME_CHOICE_HISTOGRAM
               : BRUME_CHOICE_COUNT;
}

/* ---- which limit it is ---- */

/* A look is worth its share of the price if the bar could become shorter by this factor: if nothing
 * but noise were left of it. */
#define WORTH_LOOKING 1.6

/* By the rule, over so many groups; `noise_95`: the half-width of a number under a limit of 1. */
static brume_status decide(brume_found_limit *limit, double noise_95, bool gaussian, double groups,
                           brume_error *error)
{
    uint64_t ceiling = limit->of->ceiling;
    if (limit->capped) { /* there is nothing to decide by: cap_sums makes it */
        limit->choice = (brume_limit_choice){.hidden = NAN, .reach = NAN};
        limit->known = false;
        return BRUME_OK;
    }
    brume_looks looks = brume_found_looks(limit);
    brume_limit_cost cost = {.noise_95 = noise_95,
                             .gaussian = gaussian,
                             .cut_share = brume_limit_cut_share(groups, limit->of->norm),
                             .ceiling = ceiling};
    BRUME_TRY(brume_limit_choose(&looks, &cost, &limit->choice, error));
    limit->known = limit->choice.found || ceiling > 0 || limit->of->of.kind != BRUME_TOTAL_SUM;
    limit->square = 0;
    limit->limit = limit->choice.found ? limit->choice.limit : ceiling > 0 ? ceiling : 1;
    return BRUME_OK;
}

/* The half-width of a scale at 95 %. */
static double width_of(double scale, bool gaussian)
{
    return scale * (gaussian ? 1.959964 : 2.995732);
}

/* About how far off in rows the interval of a quantile, or a mode, is under a limit of 1 (rank.h):
 * 2,600 cells at most, where values are within 2^20. */
static double width_of_selection(const brume_measure *measure, brume_noise_kind noise)
{
    brume_measure one = *measure;
    double values = (double)measure->high - (double)measure->low + 1;
    one.scale = 1 / measure->noise;
    if (measure->kind == BRUME_MEASURE_MODE)
        return log(20 * values) / one.scale;
    return log(40 * fmin(values, 2600)) / brume_interval_rate_down(&one, noise);
}

/* Half-width at 95 % of what has the limit, under a limit of 1. */
static double width_under(const brume_terms *terms, size_t index)
{
    const brume_plan *plan = terms->plan;
    bool gaussian = plan->noise != BRUME_NOISE_DISCRETE_LAPLACE;
    double summed = 0, selected = 0; /* counts and sums have their limit, whoever else follows it */
    for (size_t i = 0; i < plan->measure_count; i++) {
        const brume_measure *measure = &terms->measures[i];
        if (brume_plan_limit_index(plan, i) != (int)index)
            continue;
        if (brume_measure_has_interval(measure) || measure->kind == BRUME_MEASURE_MODE)
            selected = fmax(selected, width_of_selection(measure, plan->noise));
        else
            summed = fmax(summed, width_of(measure->noise, gaussian));
    }
    return summed > 0 ? summed : selected;
}

brume_status brume_terms_decide(const brume_terms *terms, size_t index, brume_found_limit *limit,
                                brume_error *error)
{
    bool gaussian = terms->plan->noise != BRUME_NOISE_DISCRETE_LAPLACE;
    return decide(limit, width_under(terms, index), gaussian, terms->groups, error);
}

static size_t count_counted(const brume_terms *terms)
{
    size_t count = 0;
    for (size_t i = 0; i < terms->plan->limit_count; i++)
        count += terms->limits[i].source == BRUME_LIMIT_AUTO &&
                 brume_limit_counts_rows(&terms->plan->limits[i]);
    return count;
}

/* By how much noise is wider where so much of the price is left. */
static double wider(const brume_plan *plan, double left)
{
    return plan->noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 / left : 1 / sqrt(left);
}

brume_status brume_terms_look_pays(const brume_terms *terms, size_t index,
                                   const brume_found_limit *limit, bool *pays, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    int p = plan->noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
    bool counted = count_counted(terms) > 0;
    double now = brume_limited_choice_share(p, plan->amount, terms->step, counted);
    double bought = brume_limited_choice_share(p, plan->amount, BRUME_CHOICE_TAIL, counted);
    double noise = width_under(terms, index) / wider(plan, 1 - now);
    brume_found_limit kept = *limit;
    BRUME_TRY(decide(&kept, noise, p == 2, terms->groups, error));
    double limit_of = (double)kept.limit;
    *pays = noise * limit_of + kept.choice.allowance >
            WORTH_LOOKING * noise * wider(plan, 1 - bought) * limit_of;
    return BRUME_OK;
}

brume_status brume_terms_decide_distinct(const brume_terms *terms, size_t measurement,
                                         brume_found_limit *limit, brume_error *error)
{
    bool gaussian = terms->plan->measurements[measurement].noise != BRUME_NOISE_DISCRETE_LAPLACE;
    return decide(limit, width_of(terms->distinct[measurement].scale, gaussian), gaussian,
                  terms->groups, error);
}

/* ---- making terms ---- */

void brume_terms_close(brume_terms *terms)
{
    if (!terms)
        return;
    free(terms->limits);
    free(terms->measures);
    free(terms->distinct);
    free(terms);
}

/* A limit as it is before anybody looked. */
static brume_found_limit not_found_yet(const brume_plan_limit *of)
{
    return (brume_found_limit){.of = of,
                               .source = of->source,
                               .known = of->source != BRUME_LIMIT_AUTO,
                               .limit = of->limit,
                               .square = of->square};
}

static brume_status open_terms(const brume_plan *plan, const brume_terms *found, brume_terms **out,
                               brume_error *error)
{
    brume_terms *made = calloc(1, sizeof *made);
    if (made) {
        made->limits = calloc(plan->limit_count + 1, sizeof *made->limits);
        made->measures = calloc(plan->measure_count + 1, sizeof *made->measures);
        made->distinct = calloc(plan->measurement_count + 1, sizeof *made->distinct);
    }
    if (!made || !made->limits || !made->measures || !made->distinct) {
        brume_terms_close(made);
        return brume_no_memory(error, "a plan");
    }
    made->plan = plan;
    made->price.noise = plan->noise;
    for (size_t i = 0; i < plan->limit_count; i++)
        made->limits[i] = found ? found->limits[i] : not_found_yet(&plan->limits[i]);
    for (size_t i = 0; i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT)
            made->distinct[i].limit = found ? found->distinct[i].limit
                                            : not_found_yet(&plan->measurements[i].distinct.limit);
    memcpy(made->measures, plan->measures, plan->measure_count * sizeof *made->measures);
    *out = made;
    return BRUME_OK;
}

bool brume_terms_shares_centre(const brume_terms *terms, const brume_found_limit *limit)
{
    const brume_plan_limit *sum = limit->of->sum;
    return sum && sum->centred &&
           terms->limits[sum - terms->plan->limits].source == BRUME_LIMIT_AUTO;
}

static size_t count_shared(const brume_terms *terms)
{
    size_t count = 0;
    for (size_t i = 0; i < terms->plan->limit_count; i++)
        count += terms->limits[i].source == BRUME_LIMIT_AUTO &&
                 brume_terms_shares_centre(terms, &terms->limits[i]);
    return count;
}

static size_t count_choices(const brume_terms *terms, bool centred)
{
    size_t count = 0;
    for (size_t i = 0; i < terms->plan->limit_count; i++)
        count += terms->limits[i].source == BRUME_LIMIT_AUTO &&
                 terms->plan->limits[i].centred == centred;
    return count;
}

static bool chooses_any(const brume_terms *terms)
{
    return count_choices(terms, false) + count_choices(terms, true) > 0;
}

/* The noise for a limit of 1, and what choosing takes. */
static brume_status price_totals(brume_terms *terms, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    brume_limited_shape shape = {.cells = plan->shape.private_keys ? 0 : plan->shape.cells,
                                 .replace = plan->shape.replace,
                                 .pairs = brume_shape_pairs(&plan->shape),
                                 .choices = count_choices(terms, false),
                                 .counted = count_counted(terms),
                                 .deviations = count_choices(terms, true),
                                 .shared = count_shared(terms),
                                 .choices_only = plan->limits_only};
    for (size_t i = 0; i < plan->limit_count; i++) { /* what one limit buys, each pays for */
        if (terms->limits[i].source == BRUME_LIMIT_DERIVED)
            continue;
        bool centred = plan->limits[i].centred;
        brume_choice_step step = centred ? deviation_step_of(&terms->limits[i])
                                         : step_of(&terms->limits[i]);
        brume_choice_step *most = centred ? &terms->deviation_step : &terms->step;
        *most = step > *most ? step : *most;
    }
    shape.deviation_step = terms->deviation_step;
    shape.equal_shares = terms->step == BRUME_CHOICE_AGAIN;
    return brume_limited_pay(terms->measures, plan->measure_count, &shape, plan->noise,
                             plan->amount, plan->allowed_delta, terms->step, &terms->limited,
                             &terms->price, error);
}

/* Where a unit has one row in a group: all of it is known. */
static brume_status price_rows(brume_terms *terms, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    brume_status (*pay)(brume_measure *, size_t, const brume_shape *, double, double, brume_price *,
                        brume_error *) = plan->noise == BRUME_NOISE_DISCRETE_LAPLACE
                                             ? brume_price_laplace
                                         : plan->noise == BRUME_NOISE_ROUNDED_GAUSSIAN
                                             ? brume_price_gaussian
                                             : brume_price_concentrated;
    BRUME_TRY(pay(terms->measures, plan->measure_count, &plan->shape, plan->amount,
                  plan->allowed_delta, &terms->price, error));
    if (plan->selection) {
        terms->price.threshold = plan->half_shown;
        terms->price.delta = plan->allowed_delta; /* all of it is used */
    }
    return BRUME_OK;
}

/* What one unit of the limit is worth to the measure. */
static double reach_up(const brume_measure *measure)
{
    uint64_t reach = brume_measure_reach(measure);
    if (measure->kind == BRUME_MEASURE_CENTRED)
        return brume_count_up(reach > 1 ? reach : 1);
    if (measure->kind == BRUME_MEASURE_SQUARES)
        return brume_count_up(reach > 1 ? (reach * reach + 1) / 2 : 1);
    return 1;
}

/* A count or sum of all rows is clamped and stays on its own grid; what is scaled needs a finer
 * one. */
static bool is_refined(const brume_plan *plan, const brume_measure *measure)
{
    return measure->kind == BRUME_MEASURE_CENTRED || measure->kind == BRUME_MEASURE_SQUARES ||
           plan->shape.cells != 1;
}

/* Sensitivities, scales and shifts of the measures under the limits. */
static void apply_limits(brume_terms *terms)
{
    for (size_t i = 0; i < terms->plan->measure_count; i++) {
        brume_measure *measure = &terms->measures[i];
        const brume_found_limit *found = brume_terms_measure_limit(terms, i);
        if (!found)
            continue;
        double limit = brume_found_value(found);
        if (brume_measure_is_selection(measure)) {
            measure->sensitivity = limit;
            measure->scale = brume_divide_down(1, brume_multiply_up(limit, measure->noise));
            continue;
        }
        double sensitivity = brume_multiply_up(limit, reach_up(measure));
        measure->shift =
            brume_limit_shift(sensitivity, is_refined(terms->plan, measure), measure->noise);
        measure->sensitivity = sensitivity;
        measure->scale = brume_multiply_up(sensitivity, measure->noise);
    }
}

/* The sum of a mean: rows above the limit of the number are left out of it too, and the others are
 * within the bounds. So a unit that keeps the number's limit adds no more than that times the
 * largest value, and what the sum loses beyond this is no more than the rows that the number loses
 * times it. Where that is no worse than the limit that the looks at the sum gave, it is the limit:
 * a mean is never less exact than by rows and bounds alone. */
static void cap_sum(const brume_found_limit *number, double noise_95, brume_found_limit *sum)
{
    double reach = brume_found_reach(sum), cap = (double)number->limit * reach;
    brume_limit_choice *choice = &sum->choice;
    bool shorter = noise_95 * cap + number->choice.allowance * reach <=
                   noise_95 * (double)sum->limit + choice->allowance;
    if (!found_looked(sum) || !number->known || !(cap < 0x1p62) ||
        (choice->found && !(number->choice.found && shorter)))
        return;
    *choice = number->choice;
    choice->limit = (uint64_t)fmax(1, cap); /* where the bounds leave nothing but 0 */
    choice->allowance *= reach;
    choice->reach *= reach;
    sum->limit = choice->limit;
    sum->known = true;
    sum->square = 0;
}

/* For a spread: the sum about the same centre as the squares. By Cauchy and Schwarz a unit has no
 * more of it than the root of its number times its squares, so that units within both other limits
 * are within the root of these. sqrt(n q) <= sqrt(n' q') (n/n' + q/q') / 2 bounds what is cut of
 * those above by what the others lose. It is no more than what the bounds leave. */
static void derive_sum(const brume_found_limit *number, const brume_found_limit *squares,
                       double noise_95, brume_found_limit *sum)
{
    sum->has_centre = squares->has_centre;
    sum->centre = squares->centre;
    sum->capped = found_looked(squares);
    sum->choice = (brume_limit_choice){.hidden = NAN, .reach = NAN};
    sum->known = false;
    cap_sum(number, noise_95, sum);
    const brume_limit_choice *a = &number->choice, *b = &squares->choice;
    double n = (double)number->limit, q = (double)squares->limit, steps = squares->of->of.steps;
    double limit = ceil(sqrt(n * q / steps)),
           cut = limit / 2 * (a->allowance / n + b->allowance / q);
    if (!brume_found_is_counted(number) || !brume_found_is_counted(squares) || !(limit < 0x1p61) ||
        (sum->known &&
         noise_95 * (double)sum->limit + sum->choice.allowance <= noise_95 * limit + cut))
        return;
    sum->choice = (brume_limit_choice){.found = true,
                                       .limit = (uint64_t)fmax(1, limit),
                                       .allowance = cut,
                                       .hidden = fmax(a->hidden, b->hidden),
                                       .reach = sqrt(a->reach * b->reach / steps)};
    sum->limit = sum->choice.limit;
    sum->known = true;
    sum->square = 0;
}

static void derive_sums(brume_terms *terms)
{
    const brume_plan *plan = terms->plan;
    double quantile = plan->noise == BRUME_NOISE_DISCRETE_LAPLACE ? 2.995732 : 1.959964;
    for (size_t i = 0; i < plan->measure_count; i++) {
        int index = brume_plan_limit_index(plan, i);
        const brume_plan_limit *limit = index < 0 ? NULL : &plan->limits[index];
        if (limit && limit->squares)
            derive_sum(&terms->limits[limit->number - plan->limits],
                       &terms->limits[limit->squares - plan->limits],
                       terms->measures[i].noise * quantile, &terms->limits[index]);
    }
}

/* The sum about a centre that a number is scaled down with: where it divides nothing else. */
static const brume_found_limit *sum_of_number(const brume_terms *terms, size_t measure)
{
    const brume_plan *plan = terms->plan;
    const brume_found_limit *only = NULL;
    int own = brume_plan_limit_index(plan, measure);
    if (!plan->measures[measure].divides || plan->measures[measure].of_spread || own < 0)
        return NULL;
    for (size_t i = 0; i < plan->limit_count; i++) {
        if (plan->limits[i].number != &plan->limits[own])
            continue;
        if (only)
            return NULL;
        only = &terms->limits[i];
    }
    return only && only->has_centre && only->known ? only : NULL;
}

/* The number that such a sum is divided by. */
static const brume_found_limit *number_of_sum(const brume_terms *terms,
                                              const brume_found_limit *sum)
{
    int number = (int)(sum->of->number - terms->plan->limits);
    for (size_t i = 0; i < terms->plan->measure_count; i++)
        if (brume_plan_limit_index(terms->plan, i) == number && sum_of_number(terms, i) == sum)
            return &terms->limits[number];
    return NULL;
}

bool brume_terms_scaled_down(const brume_terms *terms, size_t measure, brume_total *of,
                             uint64_t *limit)
{
    int own = brume_plan_limit_index(terms->plan, measure);
    if (own < 0 || terms->plan->measurements[0].collection.pushed)
        return false;
    const brume_found_limit *by = terms->plan->limits[own].number
                                      ? number_of_sum(terms, &terms->limits[own])
                                      : sum_of_number(terms, measure);
    if (!by || by->limit > UINT64_C(1) << 60)
        return false;
    *of = brume_found_total(by);
    *limit = 2 * by->limit;
    return true;
}

/* Who has r times the limit of the one, r > 2, loses at most 1 - 2/r of the other, and r - 1 limits
 * of the one: so for each limit that the one loses at most 0.1716 limits of the other, the largest
 * (1 - 2/r) / (r - 1). And a row, because numbers are whole. */
static void allow_for_scaling(brume_terms *terms)
{
    brume_total of;
    uint64_t twice = 0;
    for (size_t i = 0; i < terms->plan->measure_count; i++) {
        const brume_found_limit *found = sum_of_number(terms, i);
        if (!found || !brume_terms_scaled_down(terms, i, &of, &twice))
            continue;
        brume_found_limit *sum = &terms->limits[found - terms->limits],
                          *number = &terms->limits[brume_plan_limit_index(terms->plan, i)];
        double lost_rows = number->choice.allowance, lost_sum = sum->choice.allowance;
        double most_rows = (double)number->limit, most_sum = (double)sum->limit;
        sum->choice.allowance += 0.1716 * most_sum * lost_rows / most_rows;
        number->choice.allowance += (0.1716 * most_rows + 1) * lost_sum / most_sum;
    }
}

static void cap_sums(brume_terms *terms)
{
    const brume_plan *plan = terms->plan;
    double quantile = plan->noise == BRUME_NOISE_DISCRETE_LAPLACE ? 2.995732 : 1.959964;
    for (size_t i = 0; i < plan->measure_count; i++) {
        int index = brume_plan_limit_index(plan, i);
        const brume_plan_limit *limit = index < 0 ? NULL : &plan->limits[index];
        if (limit && limit->number && !limit->squares)
            cap_sum(&terms->limits[limit->number - plan->limits],
                    terms->measures[i].noise * quantile, &terms->limits[index]);
    }
}

/* Where a unit has few rows and the bounds are tight, a sum about the middle of the bounds that
 * follows the number's limit has less noise than one with a limit of its own. Without replacement
 * both move by no more than their sensitivity, so that the noise for 1 is the same for either; and
 * which it is follows from the looks alone. */
static void follow_numbers(brume_terms *terms)
{
    const brume_plan *plan = terms->plan;
    double quantile = plan->noise == BRUME_NOISE_DISCRETE_LAPLACE ? 2.995732 : 1.959964;
    for (size_t i = 0; i < plan->measure_count && !plan->shape.replace; i++) {
        brume_measure *measure = &terms->measures[i];
        int index = brume_plan_limit_index(plan, i);
        const brume_plan_limit *limit = index < 0 ? NULL : &plan->limits[index];
        if (!limit || !limit->number || limit->centred || plan->values[measure->expression].added ||
            plan->values[measure->expression].is_square) /* it has no number of its own */
            continue;
        const brume_found_limit *own = &terms->limits[index],
                                *number = &terms->limits[limit->number - plan->limits];
        double noise = quantile * measure->noise, reach = (double)brume_measure_reach(measure);
        if (found_looked(own) && brume_found_is_counted(number) &&
            (noise * (double)number->limit + number->choice.allowance) * reach <
                noise * (double)own->limit + own->choice.allowance)
            measure->kind = BRUME_MEASURE_CENTRED;
    }
}

static brume_status make(brume_terms *terms, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    if (plan->measure_count > 0)
        BRUME_TRY(plan->by_totals ? price_totals(terms, error) : price_rows(terms, error));
    for (size_t i = 0; i < plan->limit_count; i++)
        if (found_looked(&terms->limits[i]) && !plan->limits[i].squares)
            BRUME_TRY(brume_terms_decide(terms, i, &terms->limits[i], error));
    cap_sums(terms);
    derive_sums(terms);
    allow_for_scaling(terms);
    follow_numbers(terms);
    apply_limits(terms);
    for (size_t i = 0; i < plan->measurement_count; i++) {
        brume_distinct_terms *distinct = &terms->distinct[i];
        if (!distinct->limit.of)
            continue;
        BRUME_TRY(brume_distinct_price(plan, &plan->measurements[i], distinct, error));
        if (found_looked(&distinct->limit))
            BRUME_TRY(brume_terms_decide_distinct(terms, i, &distinct->limit, error));
    }
    return BRUME_OK;
}

brume_status brume_terms_make(const brume_plan *plan, const brume_terms *found, double groups,
                              brume_terms **out, brume_error *error)
{
    brume_terms *made = NULL;
    BRUME_TRY(open_terms(plan, found, &made, error));
    made->groups = fmax(1, groups > 0 ? groups : (double)plan->shape.cells);
    brume_status status = make(made, error);
    if (status != BRUME_OK) {
        brume_terms_close(made);
        return status;
    }
    *out = made;
    return BRUME_OK;
}

brume_status brume_terms_copy(const brume_terms *terms, brume_terms **out, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    brume_terms *made = NULL;
    BRUME_TRY(open_terms(plan, terms, &made, error));
    made->groups = terms->groups;
    memcpy(made->measures, terms->measures, plan->measure_count * sizeof *made->measures);
    memcpy(made->distinct, terms->distinct, plan->measurement_count * sizeof *made->distinct);
    made->price = terms->price;
    made->limited = terms->limited;
    made->step = terms->step;
    made->deviation_step = terms->deviation_step;
    *out = made;
    return BRUME_OK;
}

/* ---- what they say of limits ---- */

bool brume_terms_follows_number(const brume_terms *terms, const brume_found_limit *limit)
{
    const brume_plan_limit *of = limit->of;
    const brume_found_limit *number = &terms->limits[of->number - terms->plan->limits];
    double origin = of->low > 0 ? (double)of->low : of->high < 0 ? (double)of->high : 0;
    double rows = number->known ? (double)number->limit : 1;
    double width = (double)of->high - (double)of->low;
    double near = fabs((double)limit->centre - origin);
    return of->of.root ? sqrt(rows) * width * width <= 24 * near * near
                       : sqrt(rows) * width <= 24 * near;
}

bool brume_terms_choose(const brume_terms *terms)
{
    bool any = chooses_any(terms);
    for (size_t i = 0; i < terms->plan->measurement_count; i++)
        any = any || brume_distinct_chooses(&terms->distinct[i]);
    return any;
}

const brume_found_limit *brume_terms_measure_limit(const brume_terms *terms, size_t measure)
{
    const brume_plan *plan = terms->plan;
    int limit = brume_plan_limit_index(plan, measure);
    if (limit >= 0 && terms->measures[measure].kind != plan->measures[measure].kind)
        return &terms->limits[plan->limits[limit].number - plan->limits];
    return limit < 0 ? NULL : &terms->limits[limit];
}

const brume_found_limit *brume_terms_limit_of(const brume_terms *terms, size_t aggregate)
{
    const brume_plan_limit *limit = brume_plan_limit_of(terms->plan, aggregate);
    return limit ? &terms->limits[limit - terms->plan->limits] : NULL;
}

bool brume_terms_cut_is_unknown(const brume_terms *terms, size_t aggregate)
{
    const brume_found_limit *limit = brume_terms_limit_of(terms, aggregate);
    brume_aggregate_kind kind = terms->plan->query->aggregates[aggregate].kind;
    bool adds_up = kind == BRUME_AGGREGATE_COUNT_ROWS || kind == BRUME_AGGREGATE_COUNT ||
                   kind == BRUME_AGGREGATE_COUNT_UNITS || kind == BRUME_AGGREGATE_SUM ||
                   brume_aggregate_is_joint(kind) ||
                   terms->plan->aggregates[aggregate].direct >= 0; /* a mean of two that do */
    return adds_up && limit && brume_found_nothing(limit) && limit->of->ceiling == 0;
}

double brume_terms_allowance(const brume_terms *terms, size_t aggregate)
{
    const brume_plan_aggregate *from = &terms->plan->aggregates[aggregate];
    const brume_found_limit *limit = brume_terms_limit_of(terms, aggregate);
    if (from->distinct >= 0)
        limit = &terms->distinct[from->distinct].limit;
    if (!limit || !found_looked(limit))
        return 0;
    if (!limit->choice.found)
        return limit->of->ceiling > 0 ? 0 : NAN;
    if ((from->direct >= 0 && from->count >= 0) ||
        brume_aggregate_is_joint(terms->plan->query->aggregates[aggregate].kind))
        return 0; /* it is in the bar of a mean (present_value.c), and differs from row to row */
    return limit->choice.allowance *
           (from->distinct >= 0 ? 1 : brume_plan_limit_step(terms->plan, limit->of));
}

double brume_terms_limit_bar(const brume_terms *terms, size_t index)
{
    const brume_plan *plan = terms->plan;
    bool gaussian = plan->noise != BRUME_NOISE_DISCRETE_LAPLACE;
    const brume_found_limit *limit = &terms->limits[index];
    double noise = 0;
    for (size_t i = 0; i < plan->measure_count; i++)
        if (brume_plan_limit_index(plan, i) == (int)index)
            noise = width_of(terms->measures[i].scale, gaussian);
    return limit->known && noise > 0 ? noise + limit->choice.allowance : INFINITY;
}

double brume_terms_groups_choice_share(const brume_terms *terms)
{
    const brume_plan *plan = terms->plan;
    if (!chooses_any(terms))
        return 0;
    if (plan->limits_only)
        return brume_plan_joint_share(plan);
    int p = plan->noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
    double share =
        count_choices(terms, true) > 0 ? brume_limited_deviation_share(terms->deviation_step) : 0;
    if (count_choices(terms, false) > 0)
        share += brume_limited_choice_share(p, plan->amount, terms->step, count_counted(terms) > 0);
    return brume_plan_joint_share(plan) * share;
}

double brume_terms_choice_share(const brume_terms *terms)
{
    const brume_plan *plan = terms->plan;
    double share = brume_terms_groups_choice_share(terms);
    for (size_t i = 0; i < plan->measurement_count; i++)
        if (brume_distinct_chooses(&terms->distinct[i]))
            share += brume_distinct_choice_share(plan, &plan->measurements[i]);
    return share;
}

static bool has_source(const brume_terms *terms, brume_limit_source source)
{
    for (size_t i = 0; i < terms->plan->limit_count; i++)
        if (terms->limits[i].source == source)
            return true;
    for (size_t i = 0; i < terms->plan->measurement_count; i++)
        if (terms->distinct[i].limit.of && terms->distinct[i].limit.source == source)
            return true;
    return false;
}

const char *brume_terms_limits_word(const brume_terms *terms)
{
    static const brume_limit_source dearest_first[] = {BRUME_LIMIT_AUTO, BRUME_LIMIT_LEDGER,
                                                       BRUME_LIMIT_TYPED, BRUME_LIMIT_POLICY};
    for (size_t i = 0; i < sizeof dearest_first / sizeof *dearest_first; i++)
        if (has_source(terms, dearest_first[i]))
            return brume_limit_source_word(dearest_first[i]);
    return terms->plan->bounded ? "policy" : "none";
}

/* ---- what they say of noise ---- */

/* For a number that was fitted, if it was drawn with this scale in steps of 2^-shift. Gaussian
 * noise that is rounded to them has at most 1/12 of a squared step more variance, discrete Laplace
 * noise less than the continuous one. */
static double fitted_scale(const brume_plan *plan, double scale, int shift, int set)
{
    bool laplace = plan->noise == BRUME_NOISE_DISCRETE_LAPLACE;
    double variance = laplace ? 2 * scale * scale : scale * scale + ldexp(1.0 / 12, -2 * shift);
    double most = 0;
    for (size_t s = 0; s < plan->query->set_count; s++)
        if (set < 0 || s == (size_t)set)
            most = fmax(most, brume_consistent_variance(plan->fitted, s) * variance +
                                  brume_consistent_rounding(plan->fitted, s));
    return sqrt(laplace ? most / 2 : most);
}

/* The bar of a fitted number, in steps. The number is off by whole steps, of which a bar that ends
 * between two holds the lower: it must be above the width less half a step, where the noise before
 * rounding ends. bars of test_joint_sets miss too often without. */
static double fitted_width(const brume_plan *plan, double scale, double beta)
{
    double width = brume_error_width_fitted(plan->noise, scale, beta);
    return fmax(width, ceil(width - 0.5));
}

static bool is_fitted(const brume_terms *terms, size_t measure)
{
    return terms->plan->fitted && brume_plan_is_fitted(terms->plan, measure);
}

double brume_terms_scale(const brume_terms *terms, size_t measure, int set)
{
    const brume_measure *one = &terms->measures[measure];
    return is_fitted(terms, measure) ? fitted_scale(terms->plan, one->scale, one->shift, set)
                                     : one->scale;
}

double brume_terms_width_in(const brume_terms *terms, size_t measure, int set, double beta)
{
    const brume_measure *one = &terms->measures[measure];
    double step = brume_plan_step(terms->plan, one);
    if (is_fitted(terms, measure))
        return step * fitted_width(terms->plan, brume_terms_scale(terms, measure, set), beta);
    return step * ldexp(brume_error_width(brume_measure_noise(one, terms->plan->noise),
                                          ldexp(one->scale, one->shift), beta),
                        -one->shift);
}

double brume_terms_width(const brume_terms *terms, size_t measure, double beta)
{
    return brume_terms_width_in(terms, measure, -1, beta);
}

double brume_terms_width_of_sum(const brume_terms *terms, size_t measure, size_t count, double beta)
{
    const brume_measure *one = &terms->measures[measure];
    return brume_plan_step(terms->plan, one) *
           ldexp(brume_error_width_of_sum(brume_measure_noise(one, terms->plan->noise),
                                          ldexp(one->scale, one->shift), count, beta),
                 -one->shift);
}

double brume_terms_width_at(const brume_terms *terms, size_t measure, double limit)
{
    const brume_measure *one = &terms->measures[measure];
    if (brume_measure_is_selection(one))
        return brume_selection_width(one, 1 / (limit * one->noise), 0.05);
    double scale = limit * reach_up(one) * one->noise;
    int shift = brume_limit_shift(limit * reach_up(one), is_refined(terms->plan, one), one->noise);
    if (is_fitted(terms, measure))
        return fitted_width(terms->plan, fitted_scale(terms->plan, scale, shift, -1), 0.05) *
               brume_plan_step(terms->plan, one);
    return ldexp(brume_error_width(terms->plan->noise, ldexp(scale, shift), 0.05), -shift) *
           brume_plan_step(terms->plan, one);
}

/* P[rank error >= t] <= W exp(-eta t) for one quantile; for several the levels add and the grid is
 * refined by 32 bits. P[a mode has t rows fewer] <= k exp(-eta t), k values. */
double brume_selection_width(const brume_measure *measure, double rate, double beta)
{
    double width = (double)measure->high - (double)measure->low + 1;
    size_t m = measure->fraction_count;
    if (m <= 1)
        return log(width / beta) / rate;
    double levels = floor(log2((double)m)) + 1;
    return levels * (log(width / beta * (double)m) + 32 * M_LN2) / rate;
}

bool brume_terms_allows_for_cut(const brume_terms *terms, size_t measure)
{
    const brume_measure *one = &terms->measures[measure];
    const brume_found_limit *limit = brume_terms_measure_limit(terms, measure);
    return (brume_measure_has_interval(one) || one->kind == BRUME_MEASURE_MODE) && limit &&
           brume_found_is_counted(limit);
}

double brume_terms_cut_of_selection(const brume_terms *terms, size_t measure)
{
    return brume_terms_allows_for_cut(terms, measure)
               ? brume_terms_measure_limit(terms, measure)->choice.allowance
               : 0;
}

brume_selection_error brume_terms_selection_error(const brume_terms *terms, size_t index)
{
    const brume_measure *measure = &terms->measures[index];
    brume_selection_error known = {NAN, NAN, NAN};
    if (measure->kind == BRUME_MEASURE_QUANTILES) {
        known.rank_95 = brume_selection_width(measure, measure->scale, 0.05);
    } else if (measure->kind == BRUME_MEASURE_MODE) {
        known.count_95 = brume_selection_width(measure, measure->scale, 0.05) +
                         brume_terms_cut_of_selection(terms, index);
    } else if (measure->kind == BRUME_MEASURE_PRIVATE_MODE) {
        const double scale[] = {measure->scale, measure->scale}, signs[] = {1, -1};
        brume_noise_kind noise = brume_measure_noise(measure, terms->plan->noise);
        known.gap_95 = brume_error_width_combined(noise, scale, signs, 2, 0.1);
    }
    return known;
}
