/* The plan of a query: what is measured, with how much noise, at what price. */
#include "query/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/rounding.h"
#include "query/build.h"
#include "query/error_bar.h"

enum { DOMAIN_CELLS = 1000000 };

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a plan");
}

void brume_plan_close(brume_plan *plan)
{
    if (!plan)
        return;
    free(plan->measures);
    free(plan->values);
    free(plan->aggregates);
    free(plan->domain);
    free(plan->domain_size);
    free(plan->fractions);
    free(plan);
}

/* ---- whose data, under which rule, in which shape ---- */

static brume_status agree(brume_plan *plan, const brume_plan_table *tables, brume_error *error)
{
    const brume_query *query = plan->query;
    const brume_dataset *first = tables[query->tables[0].table].dataset;
    plan->rule = first->filter.rule;
    plan->adjacency = first->adjacency;
    plan->shape.max_groups = plan->shape.max_rows = UINT64_MAX;
    for (size_t i = 0; i < query->table_count; i++) {
        const brume_plan_table *table = &tables[query->tables[i].table];
        if (table->dataset->filter.rule != plan->rule)
            return brume_fail(error, BRUME_EPOLICY, "register them under one rule",
                              "'%s' and '%s' have budgets of different rules", first->name,
                              table->dataset->name);
        if (table->dataset->adjacency != plan->adjacency)
            return brume_fail(error, BRUME_EPOLICY, "register them under one adjacency",
                              "'%s' and '%s' are registered under different adjacencies",
                              first->name, table->dataset->name);
        if (table->policy->max_groups < plan->shape.max_groups)
            plan->shape.max_groups = table->policy->max_groups;
        if (table->policy->max_rows < plan->shape.max_rows)
            plan->shape.max_rows = table->policy->max_rows;
        /* On the nullable side of an outer join a unit that goes turns rows of another table into
         * others: charged as a replacement. Where units are replaced two units' rows would change,
         * which no price here covers. */
        if (query->tables[i].nullable_side && plan->adjacency == BRUME_REPLACE)
            return brume_fail(error, BRUME_EPOLICY, "use an inner join, or register add-remove",
                              "an outer join is not answered under the adjacency replace");
        plan->shape.replace = plan->shape.replace || query->tables[i].nullable_side;
    }
    plan->shape.replace = plan->shape.replace || plan->adjacency == BRUME_REPLACE;
    if (query->one_row_per_unit || !query->unit)
        plan->shape.max_groups = plan->shape.max_rows = 1;
    if (query->one_row_per_group)
        plan->shape.max_rows = 1;
    plan->bounded = query->unit && !query->one_row_per_unit;
    return BRUME_OK;
}

/* ---- keys ---- */

static const brume_policy_column *declared(const brume_plan_table *tables, const brume_key *key)
{
    if (!key->is_column)
        return NULL;
    const brume_policy_column *column = &tables[key->table].policy->columns[key->column];
    return column->domain_count ? column : NULL;
}

static brume_status plan_keys(brume_plan *plan, const brume_plan_table *tables, brume_error *error)
{
    const brume_query *query = plan->query;
    size_t values = 0;
    double cells = 1;
    for (size_t i = 0; i < query->key_count; i++) {
        const brume_policy_column *column = declared(tables, &query->keys[i]);
        plan->shape.private_keys = plan->shape.private_keys || !column;
        values += column ? column->domain_count : 0;
        cells *= column ? (double)column->domain_count : 1;
    }
    if (plan->shape.private_keys)
        return BRUME_OK;
    if (cells > DOMAIN_CELLS)
        return brume_fail(error, BRUME_EOVERFLOW, "group by fewer columns",
                          "the declared domains have %.6g combinations, at most %d are answered",
                          cells, DOMAIN_CELLS);
    plan->shape.cells = (uint64_t)cells;
    plan->domain = calloc(values + 1, sizeof *plan->domain);
    plan->domain_size = calloc(query->key_count + 1, sizeof *plan->domain_size);
    if (!plan->domain || !plan->domain_size)
        return out_of_memory(error);
    size_t at = 0;
    for (size_t i = 0; i < query->key_count; i++) {
        const brume_policy_column *column = declared(tables, &query->keys[i]);
        plan->domain_size[i] = column->domain_count;
        for (size_t j = 0; j < column->domain_count; j++)
            BRUME_TRY(brume_policy_domain_value(column->type, column->domain[j],
                                                &plan->domain[at++], error));
    }
    return BRUME_OK;
}

/* ---- values on a grid ---- */

/* The grid comes from the bounds alone. Whole numbers and decimals keep their own unit where the
 * sums stay small enough; other values get a power of two that cuts the bounds into about 2^28
 * steps, or 2^18 where squares are measured, whose noise grows with the square. */
static brume_status put_on_grid(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    const brume_expression *x = value->argument;
    const brume_bounds *bounds = &x->bounds;
    bool exact = x->type.kind != BRUME_TYPE_DOUBLE;
    if (exact) {
        brume_wide width = bounds->high - bounds->low,
                   most = (brume_wide)1 << (value->squares ? 22 : 44);
        brume_wide far = (brume_wide)1 << 60;
        if (width <= most && bounds->low > -far && bounds->high < far) {
            value->low = (int64_t)bounds->low;
            value->high = (int64_t)bounds->high;
            value->step = pow(10, -x->type.scale);
            return brume_query_grid(plan->query, x, bounds, 0, &value->grid, error);
        }
    }
    double unit = exact ? pow(10, -x->type.scale) : 1;
    double low = exact ? (double)bounds->low * unit : bounds->real_low;
    double high = exact ? (double)bounds->high * unit : bounds->real_high;
    int digits = (value->squares ? 18 : 28) - (int)ceil(log2(fmax(high - low, 0x1p-900)));
    double size = fmax(fabs(low), fabs(high));
    if (size > 0 && digits + ilogb(size) > 58) /* far from zero: stay within 63 bits */
        digits = 58 - ilogb(size);
    value->step = ldexp(1, -digits);
    BRUME_TRY(brume_query_grid(plan->query, x, bounds, digits, &value->grid, error));
    value->low = (int64_t)value->grid->bounds.low; /* as the engine will clamp, to the step */
    value->high = (int64_t)value->grid->bounds.high;
    return BRUME_OK;
}

static int find_value(const brume_plan *plan, const brume_expression *argument, bool places)
{
    for (size_t i = 0; i < plan->value_count; i++)
        if ((plan->values[i].declared != NULL) == places &&
            brume_expression_equal(plan->values[i].argument, argument))
            return (int)i;
    return BRUME_NOT_MEASURED;
}

/* The declared column that an expression plainly is, or NULL. */
static const brume_policy_column *declared_column(const brume_plan_table *tables,
                                                  const brume_expression *x)
{
    if (x->operation != BRUME_OPERATION_COLUMN || x->relation->kind != BRUME_RELATION_TABLE)
        return NULL;
    size_t column = x->relation->columns[x->column].table_column;
    const brume_policy_column *found = &tables[x->relation->table].policy->columns[column];
    return found->domain_count ? found : NULL;
}

static bool ranks(brume_aggregate_kind kind)
{
    return kind == BRUME_AGGREGATE_QUANTILE || kind == BRUME_AGGREGATE_MODE;
}

static bool is_variance(brume_aggregate_kind kind)
{
    return kind == BRUME_AGGREGATE_VAR_POP || kind == BRUME_AGGREGATE_VAR_SAMP ||
           kind == BRUME_AGGREGATE_STDDEV_POP || kind == BRUME_AGGREGATE_STDDEV_SAMP;
}

static brume_status collect_values(brume_plan *plan, const brume_plan_table *tables,
                                   brume_error *error)
{
    const brume_query *query = plan->query;
    for (size_t i = 0; i < query->aggregate_count; i++) {
        const brume_aggregate *aggregate = &query->aggregates[i];
        plan->aggregates[i] = (brume_plan_aggregate){BRUME_NOT_MEASURED,
                                                     BRUME_NOT_MEASURED,
                                                     BRUME_NOT_MEASURED,
                                                     BRUME_NOT_MEASURED,
                                                     BRUME_NOT_MEASURED,
                                                     BRUME_NOT_MEASURED,
                                                     0};
        if (!aggregate->argument ||
            (aggregate->kind == BRUME_AGGREGATE_COUNT && !aggregate->argument->nullable))
            continue;
        bool places = aggregate->kind == BRUME_AGGREGATE_MODE;
        const brume_policy_column *column = places ? declared_column(tables, aggregate->argument)
                                                   : NULL;
        if (places && !column)
            return brume_fail(error, BRUME_EUNSUPPORTED,
                              "GROUP BY the column and ORDER BY COUNT(*) DESC LIMIT 1",
                              "MODE is answered for a column with a declared domain");
        int value = find_value(plan, aggregate->argument, places);
        if (value == BRUME_NOT_MEASURED) {
            value = (int)plan->value_count++;
            plan->values[value] =
                (brume_plan_value){.argument = aggregate->argument, .declared = column};
        }
        plan->aggregates[i].value = value;
        plan->values[value].squares = plan->values[value].squares || is_variance(aggregate->kind);
        plan->values[value].keep = plan->values[value].keep || ranks(aggregate->kind);
    }
    return BRUME_OK;
}

/* COUNT(x) only needs to know which are NULL: a grid of the one point 0. */
static brume_status put_on_point(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    static const brume_type whole = {.kind = BRUME_TYPE_BIGINT};
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    brume_node parts[] = {brume_build_test(&builder, BRUME_OPERATION_IS_NOT_NULL, value->argument),
                          brume_build_literal(&builder, whole, "0"),
                          brume_build_literal(&builder, whole, NULL)};
    value->grid = brume_build_case(&builder, parts, 3);
    value->step = 1;
    return value->grid ? BRUME_OK : builder.status;
}

/* MODE(x): the place of x in its declared domain. NULL and undeclared values are no candidates. */
static brume_status put_on_places(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    static const brume_type whole = {.kind = BRUME_TYPE_BIGINT};
    const brume_policy_column *column = value->declared;
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    brume_node *parts = calloc(2 * column->domain_count + 1, sizeof *parts);
    if (!parts)
        return out_of_memory(error);
    for (size_t i = 0; i < column->domain_count; i++) {
        char place[24];
        snprintf(place, sizeof place, "%zu", i);
        brume_node literal =
            brume_build_literal(&builder, value->argument->type, column->domain[i]);
        parts[2 * i] =
            brume_build_compare(&builder, BRUME_OPERATION_EQUAL, value->argument, literal);
        parts[2 * i + 1] = brume_build_literal(&builder, whole, place);
    }
    parts[2 * column->domain_count] = brume_build_literal(&builder, whole, NULL);
    value->grid = brume_build_case(&builder, parts, 2 * column->domain_count + 1);
    free(parts);
    value->step = 1;
    value->low = 0;
    value->high = (int64_t)column->domain_count - 1;
    return value->grid ? BRUME_OK : builder.status;
}

static brume_status grid_values(brume_plan *plan, brume_error *error)
{
    for (size_t i = 0; i < plan->value_count; i++) {
        brume_plan_value *value = &plan->values[i];
        if (!value->argument)
            return brume_fail(error, BRUME_EINTERNAL, NULL, "a value without an expression");
        if (value->declared)
            BRUME_TRY(put_on_places(plan, value, error));
        else if (brume_type_is_number(value->argument->type) && value->argument->bounded)
            BRUME_TRY(put_on_grid(plan, value, error));
        else
            BRUME_TRY(put_on_point(plan, value, error));
    }
    return BRUME_OK;
}

/* ---- measures ---- */

static int add_measure(brume_plan *plan, brume_measure_kind kind, int value)
{
    size_t expression = value < 0 ? 0 : (size_t)value;
    for (size_t i = 0; i < plan->measure_count; i++)
        if (plan->measures[i].kind == kind && plan->measures[i].expression == expression)
            return (int)i;
    brume_measure *measure = &plan->measures[plan->measure_count];
    *measure = (brume_measure){.kind = kind, .expression = expression};
    if (value >= 0) {
        measure->low = plan->values[value].low;
        measure->high = plan->values[value].high;
    }
    return (int)plan->measure_count++;
}

/* The number of rows: of units where each has at most one row. */
static int measure_rows(brume_plan *plan)
{
    if (plan->shape.max_rows > 1)
        return add_measure(plan, BRUME_MEASURE_ROWS, BRUME_NOT_MEASURED);
    return plan->units = add_measure(plan, BRUME_MEASURE_UNITS, BRUME_NOT_MEASURED);
}

/* The number of values of an expression: of rows where it is never NULL. */
static int measure_count(brume_plan *plan, int value)
{
    if (value < 0 || !plan->values[value].argument->nullable)
        return measure_rows(plan);
    return add_measure(plan, BRUME_MEASURE_VALUES, value);
}

static bool has_measure(const brume_plan *plan, brume_measure_kind kind, int value)
{
    for (size_t i = 0; i < plan->measure_count; i++)
        if (plan->measures[i].kind == kind &&
            (value < 0 || plan->measures[i].expression == (size_t)value))
            return true;
    return false;
}

/* Is the count that belongs to an expression measured for another reason? */
static bool count_is_measured(const brume_plan *plan, int value)
{
    if (plan->values[value].argument->nullable)
        return has_measure(plan, BRUME_MEASURE_VALUES, value);
    return has_measure(plan, plan->shape.max_rows > 1 ? BRUME_MEASURE_ROWS : BRUME_MEASURE_UNITS,
                       BRUME_NOT_MEASURED);
}

static void measure_aggregate(brume_plan *plan, size_t index)
{
    brume_plan_aggregate *to = &plan->aggregates[index];
    switch (plan->query->aggregates[index].kind) {
    case BRUME_AGGREGATE_COUNT_UNITS:
        to->count = plan->units = add_measure(plan, BRUME_MEASURE_UNITS, BRUME_NOT_MEASURED);
        break;
    case BRUME_AGGREGATE_COUNT_ROWS:
        to->count = measure_rows(plan);
        break;
    case BRUME_AGGREGATE_COUNT:
        to->count = measure_count(plan, to->value);
        break;
    case BRUME_AGGREGATE_VAR_POP:
    case BRUME_AGGREGATE_VAR_SAMP:
    case BRUME_AGGREGATE_STDDEV_POP:
    case BRUME_AGGREGATE_STDDEV_SAMP:
        to->squares = add_measure(plan, BRUME_MEASURE_SQUARES, to->value);
        to->centred = add_measure(plan, BRUME_MEASURE_CENTRED, to->value);
        to->count = measure_count(plan, to->value);
        break;
    case BRUME_AGGREGATE_AVG:
        to->centred = add_measure(plan, BRUME_MEASURE_CENTRED, to->value);
        to->count = measure_count(plan, to->value);
        break;
    case BRUME_AGGREGATE_MODE:
        to->selection = add_measure(plan, BRUME_MEASURE_MODE, to->value);
        break;
    case BRUME_AGGREGATE_SUM:
    case BRUME_AGGREGATE_QUANTILE:
        break; /* when the counts are known */
    }
}

/* SUM: centre times count plus the centred sum where the count is there anyway, else directly. */
static void measure_sum(brume_plan *plan, size_t index)
{
    brume_plan_aggregate *to = &plan->aggregates[index];
    if (plan->query->aggregates[index].kind != BRUME_AGGREGATE_SUM)
        return;
    if (count_is_measured(plan, to->value)) {
        to->centred = add_measure(plan, BRUME_MEASURE_CENTRED, to->value);
        to->count = measure_count(plan, to->value);
    } else {
        to->direct = add_measure(plan, BRUME_MEASURE_DIRECT, to->value);
    }
}

static int compare_fractions(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    brume_wide x = (brume_wide)a[0] * b[1], y = (brume_wide)b[0] * a[1];
    return (x > y) - (x < y);
}

/* All quantiles of one expression are one measure; equal ones are asked once. */
static void measure_quantiles(brume_plan *plan, int value, int64_t (*fractions)[2])
{
    const brume_query *query = plan->query;
    size_t count = 0;
    for (size_t i = 0; i < query->aggregate_count; i++)
        if (query->aggregates[i].kind == BRUME_AGGREGATE_QUANTILE &&
            plan->aggregates[i].value == value) {
            fractions[count][0] = query->aggregates[i].fraction[0];
            fractions[count++][1] = query->aggregates[i].fraction[1];
        }
    if (count == 0)
        return;
    qsort(fractions, count, sizeof *fractions, compare_fractions);
    size_t different = 1;
    for (size_t i = 1; i < count; i++)
        if (compare_fractions(fractions[i], fractions[different - 1]) != 0)
            memcpy(fractions[different++], fractions[i], sizeof *fractions);
    int measure = add_measure(plan, BRUME_MEASURE_QUANTILES, value);
    plan->measures[measure].fractions = (const int64_t(*)[2])fractions;
    plan->measures[measure].fraction_count = different;
    for (size_t i = 0; i < query->aggregate_count; i++) {
        if (query->aggregates[i].kind != BRUME_AGGREGATE_QUANTILE ||
            plan->aggregates[i].value != value)
            continue;
        plan->aggregates[i].selection = measure;
        for (size_t j = 0; j < different; j++)
            if (compare_fractions(fractions[j], query->aggregates[i].fraction) == 0)
                plan->aggregates[i].fraction = (int)j;
    }
}

static brume_status plan_measures(brume_plan *plan, const brume_plan_table *tables,
                                  brume_error *error)
{
    size_t aggregates = plan->query->aggregate_count;
    plan->aggregates = calloc(aggregates + 1, sizeof *plan->aggregates);
    plan->values = calloc(aggregates + 1, sizeof *plan->values);
    plan->measures = calloc(3 * aggregates + 2, sizeof *plan->measures);
    plan->fractions = calloc((aggregates + 1) * (aggregates + 1), sizeof *plan->fractions);
    if (!plan->aggregates || !plan->values || !plan->measures || !plan->fractions)
        return out_of_memory(error);
    plan->units = BRUME_NOT_MEASURED;
    BRUME_TRY(collect_values(plan, tables, error));
    BRUME_TRY(grid_values(plan, error));
    if (plan->shape.private_keys) /* the test of keys comes first: measures[0] */
        plan->units = add_measure(plan, BRUME_MEASURE_UNITS, BRUME_NOT_MEASURED);
    for (size_t i = 0; i < aggregates; i++)
        measure_aggregate(plan, i);
    for (size_t i = 0; i < aggregates; i++)
        measure_sum(plan, i);
    for (size_t i = 0; i < plan->value_count; i++)
        measure_quantiles(plan, (int)i, plan->fractions + i * (aggregates + 1));
    if (plan->measure_count == 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask for COUNT(*), SUM, AVG, MEDIAN ...",
                          "a query that measures nothing");
    return BRUME_OK;
}

/* ---- the payment ---- */

static brume_status read_price(const char *text, const char *name, brume_decimal *out,
                               brume_error *error)
{
    BRUME_TRY(brume_decimal_parse(text, out, error));
    if (brume_decimal_is_zero(out) || !(brume_decimal_lower(out) > 0) ||
        !isfinite(brume_decimal_upper(out)))
        return brume_fail(error, BRUME_EARGUMENT, "a price is a positive number such as 0.5",
                          "'%s' is %s, must be above 0", name, text);
    return BRUME_OK;
}

/* A decimal that is not below the double. */
static brume_status decimal_up(double x, brume_decimal *out, brume_error *error)
{
    char text[48];
    for (double at = x;; at = brume_up(at)) {
        snprintf(text, sizeof text, "%.17g", at);
        BRUME_TRY(brume_decimal_parse(text, out, error));
        if (brume_decimal_lower(out) >= x)
            return BRUME_OK;
    }
}

/* delta: typed; else, where it is needed, the share of the budget's that epsilon is of its. */
static brume_status read_delta(brume_plan *plan, const brume_plan_table *tables,
                               const brume_payment *payment, double amount, double *delta,
                               brume_error *error)
{
    brume_decimal typed = {0};
    *delta = 0;
    if (payment->delta) {
        BRUME_TRY(brume_decimal_parse(payment->delta, &typed, error));
        *delta = brume_decimal_lower(&typed);
        if (plan->rule == BRUME_RULE_PURE && *delta > 0)
            return brume_fail(error, BRUME_EPOLICY, "leave --delta out",
                              "the budget is of the rule pure, which has no delta");
        if (*delta >= 0.5)
            return brume_fail(error, BRUME_EARGUMENT, "much less than 1/(number of units)",
                              "'delta' is %s, must be below 0.5", payment->delta);
        brume_decimal_print(&typed, plan->delta, sizeof plan->delta);
        return BRUME_OK;
    }
    if (!plan->shape.private_keys || plan->rule == BRUME_RULE_PURE)
        return BRUME_OK;
    double least = INFINITY;
    for (size_t i = 0; i < plan->query->table_count; i++) {
        const brume_filter *filter = &tables[plan->query->tables[i].table].dataset->filter;
        double share = brume_divide_down(amount, brume_decimal_upper(&filter->limit));
        least = fmin(
            least, brume_multiply_down(fmin(share, 1), brume_decimal_lower(&filter->limit_delta)));
    }
    *delta = fmin(least, 0.49);
    plan->delta_by_default = true;
    snprintf(plan->delta, sizeof plan->delta, "%.17g", *delta);
    return BRUME_OK;
}

/* Largest half-width in units of the sensitivity: what the choice of the noise goes by. */
static double worst_error(const brume_measure *measures, size_t count, brume_noise_kind noise)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        if (measures[i].kind != BRUME_MEASURE_QUANTILES && measures[i].kind != BRUME_MEASURE_MODE)
            worst = fmax(worst, brume_error_width(noise, measures[i].scale, 0.05) /
                                    measures[i].sensitivity);
    return worst;
}

/* Price both noises and keep the better one. */
static brume_status choose_noise(brume_plan *plan, double epsilon, double delta, brume_error *error)
{
    BRUME_TRY(brume_price_laplace(plan->measures, plan->measure_count, &plan->shape, epsilon, delta,
                                  &plan->price, error));
    double laplace = worst_error(plan->measures, plan->measure_count, plan->price.noise);
    if (plan->rule == BRUME_RULE_PURE || !(delta > 0) || laplace == 0)
        return BRUME_OK;
    brume_measure *other = malloc(plan->measure_count * sizeof *other);
    if (!other)
        return out_of_memory(error);
    memcpy(other, plan->measures, plan->measure_count * sizeof *other);
    brume_price price;
    brume_status status = brume_price_gaussian(other, plan->measure_count, &plan->shape, epsilon,
                                               delta, &price, NULL);
    if (status == BRUME_OK && worst_error(other, plan->measure_count, price.noise) < laplace) {
        memcpy(plan->measures, other, plan->measure_count * sizeof *other);
        plan->price = price;
    }
    free(other);
    return BRUME_OK; /* a Gaussian plan that cannot be is no reason to refuse */
}

static brume_status pay_concentrated(brume_plan *plan, const brume_plan_table *tables,
                                     const brume_payment *payment, brume_error *error)
{
    brume_decimal amount, delta;
    if (payment->rho) {
        BRUME_TRY(read_price(payment->rho, "rho", &amount, error));
    } else { /* epsilon E stands for rho = E^2/2 */
        BRUME_TRY(read_price(payment->epsilon, "epsilon", &amount, error));
        double epsilon = brume_decimal_upper(&amount);
        BRUME_TRY(
            decimal_up(brume_divide_up(brume_multiply_up(epsilon, epsilon), 2), &amount, error));
    }
    double rho = brume_decimal_lower(&amount), allowed = 0;
    BRUME_TRY(read_delta(plan, tables, payment, rho, &allowed, error));
    BRUME_TRY(brume_price_concentrated(plan->measures, plan->measure_count, &plan->shape, rho,
                                       allowed, &plan->price, error));
    BRUME_TRY(decimal_up(plan->price.delta, &delta, error));
    return brume_charge_make(plan->rule, &amount, &delta, &plan->charge, error);
}

static brume_status pay(brume_plan *plan, const brume_plan_table *tables,
                        const brume_payment *payment, brume_error *error)
{
    if (!payment->epsilon == !payment->rho)
        return brume_fail(error, BRUME_EARGUMENT, "give --epsilon, or --rho under concentrated",
                          "a query needs exactly one price");
    if (plan->rule == BRUME_RULE_CONCENTRATED)
        return pay_concentrated(plan, tables, payment, error);
    if (payment->rho)
        return brume_fail(error, BRUME_EPOLICY, "pay with --epsilon",
                          "the budget is of the rule %s, not concentrated",
                          brume_rule_word(plan->rule));
    if (plan->rule == BRUME_RULE_PURE && plan->shape.private_keys)
        return brume_fail(error, BRUME_EPOLICY,
                          "ask the owner to declare the values with --domain, or for a budget with "
                          "delta",
                          "groups with undeclared values need a delta, and the budget is pure");
    brume_decimal amount, delta;
    double allowed = 0;
    BRUME_TRY(read_price(payment->epsilon, "epsilon", &amount, error));
    double epsilon = brume_decimal_lower(&amount); /* not more than was typed */
    BRUME_TRY(read_delta(plan, tables, payment, epsilon, &allowed, error));
    BRUME_TRY(choose_noise(plan, epsilon, allowed, error));
    BRUME_TRY(decimal_up(plan->price.delta, &delta, error));
    return brume_charge_make(plan->rule, &amount, &delta, &plan->charge, error);
}

static brume_status make(brume_plan *plan, const brume_plan_table *tables,
                         const brume_payment *payment, brume_error *error)
{
    BRUME_TRY(agree(plan, tables, error));
    BRUME_TRY(plan_keys(plan, tables, error));
    BRUME_TRY(plan_measures(plan, tables, error));
    return pay(plan, tables, payment, error);
}

brume_status brume_plan_make(brume_query *query, const brume_plan_table *tables,
                             const brume_payment *payment, brume_plan **out, brume_error *error)
{
    brume_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return out_of_memory(error);
    plan->query = query;
    brume_status status = make(plan, tables, payment, error);
    if (status != BRUME_OK) {
        brume_plan_close(plan);
        return status;
    }
    *out = plan;
    return BRUME_OK;
}
