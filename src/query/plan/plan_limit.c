/* The limits of a plan: which there are, what is known of them, and what they make of the measures.
 *
 * Promise: what is known here comes from the query, the policies, the payment and released numbers,
 * never from a row. */
#include "query/plan/plan_limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/rounding.h"
#include "query/limit/clip.h"
#include "query/limit/expect.h"
#include "query/limit/grid.h"
#include "query/plan/plan_distinct.h"
#include "query/price/error_bar.h"
#include "query/price/price_parts.h"
#include "query/sql/formula.h"

bool brume_plan_limits_totals(const brume_query *query)
{
    size_t others = 0; /* COUNT(DISTINCT) has limits of its own */
    for (size_t i = 0; i < query->aggregate_count; i++)
        others += query->aggregates[i].kind != BRUME_AGGREGATE_COUNT_DISTINCT;
    return query->unit && !query->one_row_per_unit && others > 0;
}

size_t brume_plan_group_choices(const brume_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->limit_count; i++)
        count += plan->limits[i].source == BRUME_LIMIT_AUTO;
    return count;
}

bool brume_plan_chooses(const brume_plan *plan)
{
    return brume_plan_group_choices(plan) > 0 || brume_distinct_choices(plan) > 0;
}

/* ---- which limits there are ---- */

static brume_total limited_by(const brume_plan *plan, const brume_measure *measure)
{
    bool counted = plan->value_count > 0 && measure->kind != BRUME_MEASURE_ROWS &&
                   plan->values[measure->expression].argument->nullable;
    switch (measure->kind) {
    case BRUME_MEASURE_PRESENCE:
        return (brume_total){BRUME_TOTAL_PRESENCE, 0};
    case BRUME_MEASURE_DIRECT:
        return (brume_total){BRUME_TOTAL_SUM, measure->expression};
    case BRUME_MEASURE_VALUES:
    case BRUME_MEASURE_CENTRED:
    case BRUME_MEASURE_SQUARES: /* follow the number of values; of rows where none is NULL */
    case BRUME_MEASURE_QUANTILES:
        if (counted)
            return (brume_total){BRUME_TOTAL_VALUES, measure->expression};
        break;
    case BRUME_MEASURE_MODE: /* values outside the declared domain count as NULL */
        return (brume_total){BRUME_TOTAL_VALUES, measure->expression};
    default:
        break;
    }
    return (brume_total){BRUME_TOTAL_ROWS, 0};
}

/* min(G, K); 0: no limit. */
static double ceiling_groups(const brume_plan *plan)
{
    uint64_t groups = plan->shape.max_groups, cells = plan->shape.cells;
    return (double)(cells && (groups == 0 || cells < groups) ? cells : groups);
}

/* What the owner's limits leave of a statistic: R rows in each of min(G, K) groups. In grid steps,
 * rounded up; 0: no limit. */
static uint64_t ceiling_of(const brume_plan *plan, const brume_plan_limit *limit)
{
    double groups = ceiling_groups(plan);
    uint64_t rows = plan->shape.max_rows;
    if (limit->of.kind == BRUME_TOTAL_PRESENCE)
        rows = 1;
    if (!(groups > 0) || rows == 0)
        return 0;
    double many = limit->norm == 1 ? groups : sqrt(groups);
    double ceiling = ceil((double)rows * many * limit->reach);
    return ceiling < 0x1p62 ? (uint64_t)fmax(1, ceiling) : 0;
}

static int add_limit(brume_plan *plan, const brume_measure *measure)
{
    brume_total of = limited_by(plan, measure);
    int norm = brume_measure_is_selection(measure) ? 1 : plan->norm;
    for (size_t i = 0; i < plan->limit_count; i++)
        if (plan->limits[i].of.kind == of.kind && plan->limits[i].of.value == of.value &&
            plan->limits[i].norm == norm)
            return (int)i;
    brume_plan_limit *limit = &plan->limits[plan->limit_count];
    *limit = (brume_plan_limit){
        .of = of, .norm = norm, .reach = 1, .limit = 1, .bin = BRUME_LIMIT_NO_BIN};
    if (of.kind == BRUME_TOTAL_SUM) {
        const brume_plan_value *value = &plan->values[of.value];
        limit->reach = fmax(fabs((double)value->low), fabs((double)value->high));
    }
    limit->ceiling = ceiling_of(plan, limit);
    return (int)plan->limit_count++;
}

static void set_known(brume_plan_limit *limit, brume_limit_source source, uint64_t value)
{
    limit->source = source;
    limit->square = 0;
    limit->limit = value < 1 ? 1 : value;
    limit->known = true;
}

/* The owner's ceiling as the limit. The length of R rows in each of G groups is R sqrt(G): where
 * that is no whole number its square is kept, so that the noise is for this length and no more. */
static void set_ceiling(const brume_plan *plan, brume_plan_limit *limit)
{
    double rows = limit->of.kind == BRUME_TOTAL_PRESENCE ? 1 : (double)plan->shape.max_rows;
    double square = rows * limit->reach * rows * limit->reach * ceiling_groups(plan);
    set_known(limit, BRUME_LIMIT_POLICY, limit->ceiling);
    if (limit->norm == 2 && square < 0x1p53 &&
        square < (double)limit->ceiling * (double)limit->ceiling)
        limit->square = (uint64_t)square; /* exact: products of whole numbers below 2^53 */
}

double brume_plan_limit_value(const brume_plan_limit *limit)
{
    return limit->square ? brume_sqrt_up((double)limit->square) : brume_count_up(limit->limit);
}

static brume_status use_policy(brume_plan *plan, bool fixed, brume_error *error)
{
    uint64_t rows = plan->shape.max_rows, groups = plan->shape.max_groups;
    for (size_t i = 0; i < plan->limit_count; i++) {
        brume_plan_limit *limit = &plan->limits[i];
        uint64_t cells = limit->of.kind == BRUME_TOTAL_PRESENCE ? 1 : rows;
        cells *= plan->shape.cells == 1 ? 1 : groups;
        cells /= plan->query->set_count > 1 ? plan->query->set_count : 1; /* which all units have */
        if (limit->of.kind == BRUME_TOTAL_PRESENCE && plan->shape.cells == 1)
            set_known(limit, BRUME_LIMIT_NONE, 1);
        else if (fixed && limit->ceiling == 0)
            return brume_fail(error, BRUME_EPOLICY,
                              "the owner registers --max-groups and --max-rows",
                              "the limits are fixed, and there is none for this query");
        else if (limit->ceiling > 0 && (fixed || cells == 1 || cells == 2))
            set_ceiling(plan, limit);
    }
    return BRUME_OK;
}

/* ---- typed limits ---- */

double brume_plan_limit_step(const brume_plan *plan, const brume_plan_limit *limit)
{
    return limit->of.kind == BRUME_TOTAL_SUM ? plan->values[limit->of.value].step : 1;
}

const brume_plan_limit *brume_plan_limit_of(const brume_plan *plan, size_t aggregate)
{
    const brume_plan_aggregate *from = &plan->aggregates[aggregate];
    int measure = from->direct >= 0      ? from->direct
                  : from->selection >= 0 ? from->selection
                                         : from->count;
    if (!plan->by_totals || measure < 0 || plan->measure_limit[measure] < 0)
        return NULL;
    return &plan->limits[plan->measure_limit[measure]];
}

static brume_plan_limit *limit_named(const brume_plan *plan, const char *name, size_t length)
{
    const brume_query *query = plan->query;
    for (size_t i = 0; i < query->output_count; i++) {
        const brume_query_output *output = &query->outputs[i];
        if (strlen(output->name) == length && memcmp(output->name, name, length) == 0 &&
            output->value->kind == BRUME_FORMULA_AGGREGATE)
            return (brume_plan_limit *)brume_plan_limit_of(plan, output->value->index);
    }
    return NULL;
}

static brume_status use_typed(brume_plan *plan, const char *text, brume_error *error)
{
    const char *equals = strrchr(text, '='), *number = equals ? equals + 1 : text;
    char *end = NULL;
    double typed = strtod(number, &end);
    if (end == number || *end || !(typed > 0) || !isfinite(typed))
        return brume_fail(error, BRUME_EARGUMENT, "such as 10, or total=2500",
                          "'--limit' is '%s', must be a positive number", text);
    brume_plan_limit *limit = NULL;
    if (equals)
        limit = limit_named(plan, text, (size_t)(equals - text));
    else if (plan->limit_count == 1)
        limit = &plan->limits[0];
    if (!limit && equals)
        return brume_fail(error, BRUME_EARGUMENT,
                          "name a column that is a count, a sum, a mean or a quantile",
                          "'--limit' names '%.*s', which has no limit", (int)(equals - text), text);
    if (!limit)
        return brume_fail(error, BRUME_EARGUMENT, "--limit COLUMN=T says which",
                          "'--limit' is for one statistic, and the query has %zu with a limit",
                          plan->limit_count);
    if (limit->source == BRUME_LIMIT_NONE)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--limit': a unit is counted once or not at all, so there is none");
    double steps = floor(typed / brume_plan_limit_step(plan, limit) * (1 + 0x1p-50));
    if (steps >= 0x1p62)
        return brume_fail(error, BRUME_EARGUMENT, "a smaller one", "'--limit' %s is too large",
                          text);
    if (limit->ceiling && steps > (double)limit->ceiling)
        return brume_fail(error, BRUME_EPOLICY, "the owner's ceiling is the most",
                          "'--limit' %s is above the ceiling of %.17g", text,
                          (double)limit->ceiling * brume_plan_limit_step(plan, limit));
    set_known(limit, BRUME_LIMIT_TYPED, (uint64_t)fmax(1, steps));
    return BRUME_OK;
}

brume_status brume_plan_check_typed(const brume_plan *plan, const brume_payment *payment,
                                    brume_error *error)
{
    for (size_t i = 0; i < payment->limit_count; i++)
        if (!brume_distinct_is_typed(plan, payment->limits[i]))
            return brume_fail(error, BRUME_EUNSUPPORTED, "leave --limit out",
                              "limits are for aggregates of units that may have several rows");
    return BRUME_OK;
}

brume_status brume_plan_find_limits(brume_plan *plan, const brume_payment *payment, bool fixed,
                                    brume_error *error)
{
    if (!plan->by_totals)
        return brume_plan_check_typed(plan, payment, error);
    plan->limits = calloc(plan->measure_count + 1, sizeof *plan->limits);
    plan->measure_limit = calloc(plan->measure_count + 1, sizeof *plan->measure_limit);
    if (!plan->limits || !plan->measure_limit)
        return brume_no_memory(error, "a plan");
    for (size_t i = 0; i < plan->measure_count; i++)
        plan->measure_limit[i] = plan->measures[i].kind == BRUME_MEASURE_UNITS ||
                                         plan->measures[i].kind == BRUME_MEASURE_PRIVATE_MODE
                                     ? BRUME_NOT_MEASURED
                                     : add_limit(plan, &plan->measures[i]);
    BRUME_TRY(use_policy(plan, fixed, error));
    for (size_t i = 0; i < payment->limit_count; i++)
        if (!brume_distinct_is_typed(plan, payment->limits[i])) /* has its own */
            BRUME_TRY(use_typed(plan, payment->limits[i], error));
    return BRUME_OK;
}

/* ---- chosen limits ---- */

brume_limit_histogram brume_plan_histogram(const brume_plan_limit *limit)
{
    uint64_t reach = limit->reach < 0x1p62 ? (uint64_t)fmax(1, limit->reach) : UINT64_C(1) << 62;
    brume_limit_histogram made = {.noisy = limit->noisy,
                                  .bins = limit->bins,
                                  .gaussian = limit->gaussian,
                                  .scale = limit->scale,
                                  .base = brume_limit_bin(reach, 1, BRUME_LIMIT_BINS),
                                  .first = limit->first,
                                  .tail = limit->tail};
    return made;
}

brume_limit_histogram brume_plan_counted(const brume_plan_limit *limit,
                                         double noisy[BRUME_LIMIT_BINS])
{
    brume_limit_histogram made = brume_plan_histogram(limit);
    memcpy(noisy, limit->noisy, sizeof limit->noisy);
    if (limit->bins > 0 && limit->bins < BRUME_LIMIT_BINS)
        noisy[limit->bins - 1] = 0;
    made.noisy = noisy;
    made.bins = BRUME_LIMIT_BINS;
    return made;
}

void brume_plan_cap_limit(brume_plan_limit *limit)
{
    if (limit->ceiling == 0 || limit->limit <= limit->ceiling)
        return;
    limit->limit = limit->ceiling;
    limit->bin = brume_limit_bins(limit->ceiling) - 1;
    if (brume_limit_edge(limit->bin) > limit->ceiling)
        limit->bin--; /* not the first bin: its edge is 1 */
}

void brume_plan_choose_limit(const brume_plan *plan, brume_plan_limit *limit, double cells)
{
    double noise = 0;
    for (size_t i = 0; i < plan->measure_count; i++)
        if (plan->measure_limit[i] >= 0 && &plan->limits[plan->measure_limit[i]] == limit)
            noise = fmax(noise, plan->measures[i].noise);
    brume_limit_histogram histogram = brume_plan_histogram(limit);
    bool gaussian = plan->price.noise != BRUME_NOISE_DISCRETE_LAPLACE;
    double need = brume_limit_need(noise, gaussian, cells);
    limit->bin = brume_limit_decide(&histogram, need);
    limit->known = true;
    if (limit->bin != BRUME_LIMIT_NO_BIN)
        limit->limit = brume_limit_edge(limit->bin);
    else if (limit->ceiling)
        limit->limit = limit->ceiling;
    else
        limit->known = limit->of.kind != BRUME_TOTAL_SUM;
    brume_plan_cap_limit(limit);
}

bool brume_plan_limit_counts(const brume_plan_limit *limit)
{
    return brume_plan_histogram(limit).base == 0;
}

brume_choice_step brume_plan_first_step(const brume_plan *plan)
{
    brume_choice_step step = BRUME_CHOICE_COUNT;
    for (size_t i = 0; i < plan->limit_count; i++)
        if (plan->limits[i].source == BRUME_LIMIT_AUTO &&
            !brume_plan_limit_counts(&plan->limits[i]))
            step = BRUME_CHOICE_HISTOGRAM;
    return step;
}

bool brume_plan_limit_not_found(const brume_plan_limit *limit)
{
    return limit->bins > 0 && limit->bin == BRUME_LIMIT_NO_BIN;
}

bool brume_plan_limit_is_counted(const brume_plan_limit *limit)
{
    return limit->bins > 0 && limit->bin != BRUME_LIMIT_NO_BIN;
}

bool brume_plan_cut_is_unknown(const brume_plan *plan, size_t aggregate)
{
    const brume_plan_limit *limit = brume_plan_limit_of(plan, aggregate);
    brume_aggregate_kind kind = plan->query->aggregates[aggregate].kind;
    bool adds_up = kind == BRUME_AGGREGATE_COUNT_ROWS || kind == BRUME_AGGREGATE_COUNT ||
                   kind == BRUME_AGGREGATE_COUNT_UNITS || kind == BRUME_AGGREGATE_SUM;
    return adds_up && limit && brume_plan_limit_not_found(limit) && limit->ceiling == 0;
}

/* ---- what they make of the measures ---- */

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

void brume_plan_apply_limits(brume_plan *plan)
{
    for (size_t i = 0; i < plan->measure_count; i++) {
        brume_measure *measure = &plan->measures[i];
        if (!plan->by_totals || plan->measure_limit[i] < 0)
            continue;
        double limit = brume_plan_limit_value(&plan->limits[plan->measure_limit[i]]);
        if (brume_measure_is_selection(measure)) {
            measure->sensitivity = limit;
            measure->scale = brume_divide_down(1, brume_multiply_up(limit, measure->noise));
            continue;
        }
        double sensitivity = brume_multiply_up(limit, reach_up(measure));
        measure->shift = brume_limit_shift(sensitivity, is_refined(plan, measure), measure->noise);
        measure->sensitivity = sensitivity;
        measure->scale = brume_multiply_up(sensitivity, measure->noise);
    }
}

brume_status brume_plan_check_choice(const brume_plan *plan, brume_error *error)
{
    if (!brume_plan_chooses(plan))
        return brume_fail(error, BRUME_EARGUMENT, "ask with 'brume query'",
                          "there is no limit to choose: the query has none, or they are known");
    if (plan->shape.private_keys)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "ask with 'brume query', which chooses them, or declare the keys with "
                          "--domain",
                          "the limits of private groups cannot be bought alone: which groups count "
                          "is decided by each query");
    return BRUME_OK;
}

brume_status brume_plan_price_limited(brume_plan *plan, brume_error *error)
{
    brume_limited_shape shape = {.cells = plan->shape.private_keys ? 0 : plan->shape.cells,
                                 .replace = plan->shape.replace,
                                 .pairs = brume_shape_pairs(&plan->shape),
                                 .choices = brume_plan_group_choices(plan),
                                 .choices_only = plan->limits_only};
    if (plan->step < brume_plan_first_step(plan))
        plan->step = brume_plan_first_step(plan);
    BRUME_TRY(brume_limited_pay(plan->measures, plan->measure_count, &shape, plan->price.noise,
                                plan->amount, plan->allowed_delta, plan->step, &plan->limited,
                                &plan->price, error));
    brume_plan_apply_limits(plan);
    return BRUME_OK;
}

void brume_plan_forget_limit(brume_plan_limit *limit)
{
    limit->known = false;
    limit->first = (brume_limit_count){0};
    limit->tail = (brume_limit_tail){0};
    limit->limit = 1;
    limit->bins = 0;
    limit->bin = BRUME_LIMIT_NO_BIN;
}

brume_status brume_plan_forget_limits(brume_plan *plan, brume_error *error)
{
    brume_distinct_forget_limits(plan);
    if (!plan->by_totals)
        return BRUME_OK;
    plan->step = brume_plan_first_step(plan);
    for (size_t i = 0; i < plan->limit_count; i++)
        if (plan->limits[i].source == BRUME_LIMIT_AUTO)
            brume_plan_forget_limit(&plan->limits[i]);
    return brume_plan_price_limited(plan, error);
}

const brume_plan_limit *brume_plan_measure_limit(const brume_plan *plan, size_t measure)
{
    return plan->by_totals && plan->measure_limit[measure] >= 0
               ? &plan->limits[plan->measure_limit[measure]]
               : NULL;
}

double brume_plan_width_at(const brume_plan *plan, size_t measure, double limit)
{
    const brume_measure *one = &plan->measures[measure];
    if (brume_measure_is_selection(one))
        return brume_plan_selection_width(one, 1 / (limit * one->noise), 0.05);
    double scale = limit * reach_up(one) * one->noise;
    int shift = brume_limit_shift(limit * reach_up(one), is_refined(plan, one), one->noise);
    return ldexp(brume_error_width(plan->price.noise, ldexp(scale, shift), 0.05), -shift) *
           brume_plan_step(plan, one);
}
