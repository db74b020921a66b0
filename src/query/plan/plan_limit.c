/* The limits of a plan: which there are, and what is known of them before a row is read.
 *
 * Promise: what is known here comes from the query, the policies and the payment. */
#include "query/plan/plan_limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/plan/plan_distinct.h"
#include "query/sql/formula.h"

bool brume_plan_limits_totals(const brume_query *query)
{
    size_t others = 0; /* COUNT(DISTINCT) has limits of its own */
    for (size_t i = 0; i < query->aggregate_count; i++)
        others += query->aggregates[i].kind != BRUME_AGGREGATE_COUNT_DISTINCT;
    return query->unit && !query->one_row_per_unit && others > 0;
}

int brume_plan_limit_index(const brume_plan *plan, size_t measure)
{
    return plan->measure_limit ? plan->measure_limit[measure] : BRUME_NOT_MEASURED;
}

/* How many limits of the groups are to be chosen, unless the ledger has them. */
static size_t plan_group_choices(const brume_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->limit_count; i++)
        count += plan->limits[i].source == BRUME_LIMIT_AUTO;
    return count;
}

/* Is a limit to be chosen, unless the ledger has it: of the groups, or of a count of values? */
static bool plan_chooses(const brume_plan *plan)
{
    return plan_group_choices(plan) > 0 || brume_distinct_choices(plan) > 0;
}

/* ---- which limits there are ---- */

static brume_total sum_total(const brume_plan *plan, size_t value)
{
    const brume_plan_value *of = &plan->values[value];
    brume_total total = {.kind = BRUME_TOTAL_SUM, .value = value, .root = of->root};
    if (of->root)
        total.steps = plan->values[of->root - 1].step * plan->values[of->root - 1].step / of->step;
    return total;
}

static brume_total limited_by(const brume_plan *plan, const brume_measure *measure)
{
    bool counted = plan->value_count > 0 && measure->kind != BRUME_MEASURE_ROWS &&
                   plan->values[measure->expression].argument->nullable;
    switch (measure->kind) {
    case BRUME_MEASURE_PRESENCE:
    case BRUME_MEASURE_HOLDERS: /* are among those present, in each group */
        return (brume_total){.kind = BRUME_TOTAL_PRESENCE};
    case BRUME_MEASURE_DIRECT:
    case BRUME_MEASURE_DEVIATION:
        return sum_total(plan, measure->expression);
    case BRUME_MEASURE_VALUES:
    case BRUME_MEASURE_CENTRED:
    case BRUME_MEASURE_SQUARES: /* follow the number of values; of rows where none is NULL */
    case BRUME_MEASURE_QUANTILES:
        if (counted)
            return (brume_total){.kind = BRUME_TOTAL_VALUES,
                                 .value = brume_plan_counted(plan, measure->expression)};
        break;
    case BRUME_MEASURE_MODE: /* values outside the declared domain count as NULL */
        return (brume_total){.kind = BRUME_TOTAL_VALUES, .value = measure->expression};
    default:
        break;
    }
    return (brume_total){.kind = BRUME_TOTAL_ROWS};
}

/* min(G, K); 0: no limit. */
static double ceiling_groups(const brume_plan *plan)
{
    uint64_t groups = plan->shape.max_groups, cells = plan->shape.cells;
    return (double)(cells && (groups == 0 || cells < groups) ? cells : groups);
}

static double sets_of(const brume_plan *plan)
{
    return plan->query->set_count > 1 ? (double)plan->query->set_count : 1;
}

/* The norm of `most` in each of so many groups, to the power p. */
static double norm_power(int norm, double most, double groups)
{
    return norm == 1 ? most * groups : most * most * groups;
}

/* What the owner leaves of a statistic, its norm to the power p in grid steps: the ceilings leave R
 * rows in each of min(G, K) groups; INFINITY: everything. */
static double ceilings_leave(const brume_plan *plan, const brume_plan_limit *limit)
{
    double groups = ceiling_groups(plan);
    double rows = limit->of.kind == BRUME_TOTAL_PRESENCE ? 1 : (double)plan->shape.max_rows;
    return groups > 0 && rows > 0 ? norm_power(limit->norm, rows * limit->reach, groups) : INFINITY;
}

/* The rows that the tables are declared to have of one unit, R all together, leave most where they
 * are in one group of each set; of presence where each is in another. */
static double tables_leave(const brume_plan *plan, const brume_plan_limit *limit)
{
    double rows = (double)plan->unit_rows, sets = sets_of(plan);
    if (plan->unit_rows == 0)
        return INFINITY;
    return limit->of.kind == BRUME_TOTAL_PRESENCE
               ? norm_power(limit->norm, 1, rows * sets)
               : norm_power(limit->norm, rows * limit->reach, sets);
}

static double owner_leaves(const brume_plan *plan, const brume_plan_limit *limit)
{
    return fmin(ceilings_leave(plan, limit), tables_leave(plan, limit));
}

/* The owner's ceiling on it in grid steps, rounded up; 0: none. */
static uint64_t ceiling_of(const brume_plan *plan, const brume_plan_limit *limit)
{
    double power = owner_leaves(plan, limit);
    double ceiling = ceil(limit->norm == 1 ? power : sqrt(power));
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
    *limit = (brume_plan_limit){.of = of, .norm = norm, .reach = 1, .limit = 1};
    if (of.kind == BRUME_TOTAL_SUM) {
        const brume_plan_value *value = &plan->values[of.value];
        limit->reach = fmax(fabs((double)value->low), fabs((double)value->high));
        if (measure->kind == BRUME_MEASURE_DEVIATION) /* whatever the centre is */
            limit->reach = (double)value->high - (double)value->low;
        if (of.root) { /* so is (x - c)^2 */
            value = &plan->values[of.root - 1];
            double range = (double)value->high - (double)value->low;
            limit->reach = fmax(limit->reach, range * range * of.steps);
        }
        limit->low = value->low;
        limit->high = value->high;
    }
    limit->ceiling = ceiling_of(plan, limit);
    return (int)plan->limit_count++;
}

static void set_known(brume_plan_limit *limit, brume_limit_source source, uint64_t value)
{
    limit->source = source;
    limit->square = 0;
    limit->limit = value < 1 ? 1 : value;
}

/* The owner's ceiling as the limit. The length of R rows in each of G groups is R sqrt(G): where
 * that is no whole number its square is kept, so that the noise is for this length and no more. */
static void set_ceiling(const brume_plan *plan, brume_plan_limit *limit, brume_limit_source source)
{
    double square = owner_leaves(plan, limit);
    set_known(limit, source, limit->ceiling);
    if (limit->norm == 2 && square < 0x1p53 &&
        square < (double)limit->ceiling * (double)limit->ceiling)
        limit->square = (uint64_t)square; /* exact: products of whole numbers below 2^53 */
}

static brume_status use_policy(brume_plan *plan, bool fixed, brume_error *error)
{
    uint64_t rows = plan->shape.max_rows, groups = plan->shape.max_groups;
    for (size_t i = 0; i < plan->limit_count; i++) {
        brume_plan_limit *limit = &plan->limits[i];
        uint64_t cells = limit->of.kind == BRUME_TOTAL_PRESENCE ? 1 : rows;
        cells *= plan->shape.cells == 1 ? 1 : groups;
        cells /= plan->query->set_count > 1 ? plan->query->set_count : 1; /* which all units have */
        if (plan->unit_rows && (cells == 0 || plan->unit_rows < cells))
            cells = plan->unit_rows;
        if (limit->of.kind == BRUME_TOTAL_PRESENCE && plan->shape.cells == 1)
            set_known(limit, BRUME_LIMIT_NONE, 1);
        else if (plan->unit_rows ==
                 1) /* a second row would be cut, which nobody declares to have */
            set_ceiling(plan, limit, BRUME_LIMIT_NONE);
        else if (fixed && limit->ceiling == 0)
            return brume_fail(error, BRUME_EPOLICY,
                              "the owner registers --max-groups and --max-rows",
                              "the limits are fixed, and there is none for this query");
        else if (limit->ceiling > 0 && (fixed || cells == 1 || cells == 2))
            set_ceiling(plan, limit, BRUME_LIMIT_POLICY);
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
    int measure = from->selection >= 0 ? from->selection
                  : from->count >= 0   ? from->count /* of a mean by a sum, too */
                                       : from->direct;
    int limit = measure < 0 ? BRUME_NOT_MEASURED : brume_plan_limit_index(plan, (size_t)measure);
    return limit < 0 ? NULL : &plan->limits[limit];
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

/* Where totals are not limited: EUNSUPPORTED if a limit was typed, unless it is of a count of
 * values (plan_distinct.h). */
static brume_status plan_check_typed(const brume_plan *plan, const brume_payment *payment,
                                     brume_error *error)
{
    for (size_t i = 0; i < payment->limit_count; i++)
        if (!brume_distinct_is_typed(plan, payment->limits[i]))
            return brume_fail(error, BRUME_EUNSUPPORTED, "leave --limit out",
                              "limits are for aggregates of units that may have several rows");
    return BRUME_OK;
}

static void link_sum(brume_plan *plan, int sum, int number)
{
    if (sum >= 0 && number >= 0)
        plan->limits[plan->measure_limit[sum]].number = &plan->limits[plan->measure_limit[number]];
}

static void link_means(brume_plan *plan)
{
    for (size_t i = 0; i < plan->query->aggregate_count; i++) {
        link_sum(plan, plan->aggregates[i].direct, plan->aggregates[i].count);
        link_sum(plan, plan->aggregates[i].second, plan->aggregates[i].count);
    }
}

/* The sums about a centre. The centre is drawn as a quantile is, which rounded Gaussian noise
 * cannot be priced with. */
static void find_centred(brume_plan *plan)
{
    for (size_t i = 0; i < plan->measure_count; i++) {
        bool squares = plan->measures[i].kind == BRUME_MEASURE_DIRECT &&
                       plan->values[plan->measures[i].expression].root;
        if (plan->measures[i].kind != BRUME_MEASURE_DEVIATION && !squares)
            continue;
        brume_plan_limit *limit = &plan->limits[plan->measure_limit[i]];
        limit->centred = plan->noise != BRUME_NOISE_ROUNDED_GAUSSIAN &&
                         limit->source == BRUME_LIMIT_AUTO &&
                         limit->number->source == BRUME_LIMIT_AUTO;
    }
}

/* Which limits of a spread about a centre follow each other. */
static void link_spreads(brume_plan *plan)
{
    for (size_t i = 0; i < plan->query->aggregate_count; i++) {
        const brume_plan_aggregate *of = &plan->aggregates[i];
        if (of->second < 0 || !plan->values[plan->measures[of->second].expression].root)
            continue;
        brume_plan_limit *sum = &plan->limits[plan->measure_limit[of->direct]],
                         *squares = &plan->limits[plan->measure_limit[of->second]];
        if (!sum->centred || !squares->centred || plan->values[of->value].averaged) {
            squares->sum = sum;
        } else {
            sum->squares = squares;
            sum->source = BRUME_LIMIT_DERIVED;
        }
    }
}

brume_status brume_plan_find_limits(brume_plan *plan, const brume_payment *payment, bool fixed,
                                    brume_error *error)
{
    if (!plan->by_totals)
        return plan_check_typed(plan, payment, error);
    plan->limits = calloc(plan->measure_count + 1, sizeof *plan->limits);
    plan->measure_limit = calloc(plan->measure_count + 1, sizeof *plan->measure_limit);
    if (!plan->limits || !plan->measure_limit)
        return brume_no_memory(error, "a plan");
    for (size_t i = 0; i < plan->measure_count; i++)
        plan->measure_limit[i] = plan->measures[i].kind == BRUME_MEASURE_UNITS ||
                                         plan->measures[i].kind == BRUME_MEASURE_PRIVATE_MODE
                                     ? BRUME_NOT_MEASURED
                                     : add_limit(plan, &plan->measures[i]);
    link_means(plan);
    BRUME_TRY(use_policy(plan, fixed, error));
    find_centred(plan);
    link_spreads(plan);
    for (size_t i = 0; i < payment->limit_count; i++)
        if (!brume_distinct_is_typed(plan, payment->limits[i])) /* has its own */
            BRUME_TRY(use_typed(plan, payment->limits[i], error));
    return BRUME_OK;
}

brume_status brume_plan_check_choice(const brume_plan *plan, brume_error *error)
{
    if (!plan_chooses(plan))
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

const char *brume_limit_source_word(brume_limit_source source)
{
    static const char *const words[] = {
        [BRUME_LIMIT_AUTO] = "auto",     [BRUME_LIMIT_TYPED] = "typed",
        [BRUME_LIMIT_POLICY] = "policy", [BRUME_LIMIT_LEDGER] = "ledger",
        [BRUME_LIMIT_NONE] = "none",     [BRUME_LIMIT_DERIVED] = "derived"};
    return words[source];
}
