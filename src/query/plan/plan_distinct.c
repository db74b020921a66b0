/* COUNT(DISTINCT x): what is collected, and what its price buys. */
#include "query/plan/plan_distinct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/rounding.h"
#include "query/plan/plan_parts.h"
#include "query/price/error_bar.h"
#include "query/price/limited.h"
#include "query/sql/formula.h"

int brume_distinct_add(brume_plan *plan, const brume_expression *argument)
{
    for (size_t i = 0; i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT &&
            brume_expression_equal(plan->measurements[i].distinct.argument, argument))
            return (int)i;
    plan->measurements[plan->measurement_count] =
        (brume_measurement){.kind = BRUME_MEASUREMENT_DISTINCT, .distinct = {.argument = argument}};
    return (int)plan->measurement_count++;
}

/* ---- what is collected ---- */

/* The rows that are answered and have a value. */
static brume_node condition(brume_builder *builder, const brume_plan *plan,
                            const brume_expression *argument)
{
    brume_node rows = brume_plan_answered_rows(plan, builder);
    brume_node both[] = {rows, brume_build_test(builder, BRUME_OPERATION_IS_NOT_NULL, argument)};
    if (builder->status != BRUME_OK || !rows)
        return both[1];
    return brume_build_logic(builder, BRUME_OPERATION_AND, both, 2);
}

/* The groups of the query, each parted by the values. */
static brume_status collect_pairs(const brume_plan *plan, brume_measurement *distinct,
                                  brume_error *error)
{
    const brume_query *query = plan->query;
    brume_builder builder = {.arena = query->arena, .error = error};
    brume_key *keys = brume_arena_allocate(query->arena, (query->key_count + 1) * sizeof *keys);
    brume_query *pairs = brume_arena_copy(query->arena, query, sizeof *query);
    if (!keys || !pairs)
        return brume_no_memory(error, "a count of values");
    if (query->key_count)
        memcpy(keys, query->keys, query->key_count * sizeof *keys);
    keys[query->key_count] = (brume_key){.expression = distinct->distinct.argument};
    pairs->keys = keys;
    pairs->key_count = query->key_count + 1;
    pairs->aggregate_count = 0;
    pairs->set_count = 1;
    pairs->where = condition(&builder, plan, distinct->distinct.argument);
    if (!pairs->where || builder.status != BRUME_OK)
        return builder.status;
    distinct->collection = (brume_collection){.query = pairs,
                                              .max_groups = 1,
                                              .max_rows = 1,
                                              .totals = query->unit && !query->one_row_per_unit,
                                              .all_groups = true};
    return BRUME_OK;
}

static void take_least(uint64_t *least, uint64_t ceiling)
{
    if (ceiling && (*least == 0 || ceiling < *least))
        *least = ceiling;
}

/* The owner's ceiling on the pairs of a unit: R rows in each of G groups; 0: none. */
static uint64_t ceiling_of(const brume_plan *plan, const brume_plan_table *tables, bool *fixed)
{
    uint64_t groups = 0, rows = 0, most = UINT64_C(1) << 30;
    *fixed = false;
    for (size_t i = 0; i < plan->query->table_count; i++) {
        const brume_policy *policy = tables[plan->query->tables[i].table].policy;
        take_least(&groups, policy->max_groups);
        take_least(&rows, policy->max_rows);
        *fixed = *fixed || policy->limits_fixed;
    }
    if (plan->shape.cells == 1)
        groups = 1;
    return groups == 0 || rows == 0 || groups > most || rows > most ? 0 : groups * rows;
}

brume_status brume_distinct_plan(brume_plan *plan, const brume_plan_table *tables,
                                 brume_error *error)
{
    const brume_query *query = plan->query;
    uint64_t sets = query->set_count > 1 ? query->set_count : 1;
    bool fixed = false, once = !query->unit || query->one_row_per_unit;
    uint64_t ceiling = ceiling_of(plan, tables, &fixed);
    for (size_t i = 0; i < plan->measurement_count; i++) {
        brume_measurement *one = &plan->measurements[i];
        if (one->kind != BRUME_MEASUREMENT_DISTINCT)
            continue;
        BRUME_TRY(collect_pairs(plan, one, error));
        one->distinct.ceiling = ceiling * sets;
        if (once) /* its one row has one value, in a group of each set: nothing is cut */
            one->distinct.limit = sets;
        else if (fixed && ceiling == 0)
            return brume_fail(error, BRUME_EPOLICY,
                              "the owner registers --max-groups and --max-rows",
                              "the limits are fixed, and there is none for this query");
        else if (ceiling > 0 && (fixed || ceiling <= 2))
            one->distinct.limit = ceiling * sets;
    }
    return BRUME_OK;
}

/* ---- typed limits ---- */

/* The measurement of the output with this name; BRUME_NOT_MEASURED: it counts no values. */
static int named(const brume_plan *plan, const char *name, size_t length)
{
    const brume_query *query = plan->query;
    for (size_t i = 0; i < query->output_count; i++) {
        const brume_query_output *output = &query->outputs[i];
        if (strlen(output->name) == length && memcmp(output->name, name, length) == 0 &&
            output->value->kind == BRUME_FORMULA_AGGREGATE)
            return plan->aggregates[output->value->index].distinct;
    }
    return BRUME_NOT_MEASURED;
}

static int typed_for(const brume_plan *plan, const char *text)
{
    const char *equals = strrchr(text, '=');
    int found = BRUME_NOT_MEASURED;
    if (equals)
        return named(plan, text, (size_t)(equals - text));
    for (size_t i = 0; plan->measure_count == 0 && i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT) {
            if (found != BRUME_NOT_MEASURED)
                return BRUME_NOT_MEASURED;
            found = (int)i;
        }
    return found;
}

bool brume_distinct_is_typed(const brume_plan *plan, const char *text)
{
    return typed_for(plan, text) != BRUME_NOT_MEASURED;
}

static brume_status use_typed(brume_measurement *one, const char *text, brume_error *error)
{
    const char *equals = strrchr(text, '='), *number = equals ? equals + 1 : text;
    char *end = NULL;
    double typed = strtod(number, &end);
    if (end == number || *end || !(typed >= 1) || typed >= 0x1p40)
        return brume_fail(error, BRUME_EARGUMENT, "such as 10, or kinds=10",
                          "'--limit' is '%s', must be 1 or more", text);
    if (!one->collection.totals)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--limit': a unit has one row, so there is none");
    uint64_t ceiling = one->distinct.ceiling;
    if (ceiling && typed > (double)ceiling)
        return brume_fail(error, BRUME_EPOLICY, "the owner's ceiling is the most",
                          "'--limit' %s is above the ceiling of %llu", text,
                          (unsigned long long)ceiling);
    one->distinct.limit = (uint64_t)typed;
    one->distinct.typed = true;
    return BRUME_OK;
}

static brume_status use_typed_limits(brume_plan *plan, const brume_payment *payment,
                                     brume_error *error)
{
    for (size_t i = 0; i < payment->limit_count; i++) {
        int found = typed_for(plan, payment->limits[i]);
        if (found != BRUME_NOT_MEASURED)
            BRUME_TRY(use_typed(&plan->measurements[found], payment->limits[i], error));
    }
    return BRUME_OK;
}

/* ---- the price ---- */

static size_t count_distinct(const brume_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->measurement_count; i++)
        count += plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT;
    return count;
}

/* The noise of numbers that a unit moves by 1 together, `moved` times: p = 1: moved/b <= part, with
 * moved the sum of what moves; p = 2: moved/(2 sigma^2) <= part, with moved the sum of squares. */
static double scale_for(int p, double moved, double part)
{
    return p == 1 ? brume_divide_up(moved, part)
                  : brume_sqrt_up(brume_divide_up(moved, brume_multiply_down(2, part)));
}

brume_status brume_distinct_pay(brume_plan *plan, const brume_payment *payment, int p,
                                double *price, brume_error *error)
{
    size_t left = count_distinct(plan);
    if (left > 0 && payment->limits_only)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask with 'brume query'",
                          "the limit of COUNT(DISTINCT) is chosen with its answer, not before");
    BRUME_TRY(use_typed_limits(plan, payment, error));
    double whole = *price, joint = brume_plan_joint_share(plan);
    double all = (double)(left + plan->measure_count);
    for (size_t i = 0; i < plan->measurement_count; i++) {
        brume_measurement *one = &plan->measurements[i];
        if (one->kind != BRUME_MEASUREMENT_DISTINCT)
            continue;
        bool last = --left == 0 && plan->measure_count == 0;
        double part = last ? *price : brume_divide_down(whole, all);
        one->share = joint / all;
        one->count = 1;
        one->noise = p == 1 ? BRUME_NOISE_DISCRETE_LAPLACE : BRUME_NOISE_DISCRETE_GAUSSIAN;
        *price = last ? 0 : brume_subtract_down(*price, part);
        /* Of both: those that go and those that come, where these can be different groups. */
        double moved = plan->shape.replace && plan->shape.cells != 1 ? 2 : 1;
        if (one->distinct.limit == 0) { /* a unit is in one bin; replaced, in two */
            double choice = brume_multiply_down(part, brume_limited_histogram_share(p));
            double tail = brume_multiply_down(part, brume_limited_tail_share(p));
            one->distinct.histogram_scale = scale_for(p, plan->shape.replace ? 2 : 1, choice);
            one->distinct.tail_scale = scale_for(p, plan->shape.replace ? 2 : 1, tail);
            part = brume_subtract_down(brume_subtract_down(part, choice), tail);
        }
        one->scale = scale_for(p, moved, part);
        if (!(one->scale <= 0x1p40) || !(one->distinct.histogram_scale <= 0x1p40) ||
            !(one->distinct.tail_scale <= 0x1p40))
            return brume_fail(error, BRUME_EOVERFLOW, "pay more",
                              "the noise on a count of values would have scale %.3g", one->scale);
    }
    return BRUME_OK;
}

double brume_distinct_scale(const brume_measurement *distinct, uint64_t limit)
{
    return brume_multiply_up(distinct->scale, brume_count_up(limit));
}

double brume_distinct_width(const brume_measurement *distinct, uint64_t limit, double beta)
{
    return brume_error_width(distinct->noise, brume_distinct_scale(distinct, limit), beta);
}

/* ---- JSON ---- */

const char *brume_distinct_mechanism(const brume_measurement *distinct)
{
    return distinct->noise == BRUME_NOISE_DISCRETE_LAPLACE ? "discrete_laplace"
                                                           : "discrete_gaussian";
}

static json_t *ladder(const brume_measurement *distinct)
{
    json_t *list = json_array();
    uint64_t limit = 1;
    for (int i = 0; i < 6; i++, limit *= 10)
        json_array_append_new(list, json_pack("{s:f,s:f}", "limit", (double)limit, "error_95",
                                              brume_distinct_width(distinct, limit, 0.05)));
    return list;
}

bool brume_distinct_add_json(const brume_measurement *distinct, json_t *list)
{
    bool laplace = distinct->noise == BRUME_NOISE_DISCRETE_LAPLACE;
    uint64_t limit = distinct->distinct.limit;
    json_t *one = json_pack("{s:s,s:s,s:f}", "measure", "distinct values", "mechanism",
                            brume_distinct_mechanism(distinct), "share", distinct->share);
    if (!one)
        return false;
    json_object_set_new(one, "sensitivity", limit ? json_real((double)limit) : json_null());
    if (limit) {
        json_object_set_new(one, laplace ? "scale" : "sigma",
                            json_real(brume_distinct_scale(distinct, limit)));
        json_object_set_new(one, "error_95",
                            json_real(brume_distinct_width(distinct, limit, 0.05)));
    } else {
        json_object_set_new(one, "limit", json_null());
        json_object_set_new(one, "noise_per_sensitivity", json_real(distinct->scale));
    }
    return json_array_append_new(list, one) == 0;
}

bool brume_distinct_add_limit(const brume_measurement *distinct, json_t *list)
{
    uint64_t limit = distinct->distinct.limit, ceiling = distinct->distinct.ceiling;
    bool cuts = distinct->collection.totals;
    json_t *one = json_pack("{s:s,s:s}", "statistic", "distinct values", "chosen",
                            !cuts                      ? "none"
                            : distinct->distinct.typed ? "typed"
                            : limit                    ? "policy"
                                                       : "auto");
    if (!one)
        return false;
    if (limit)
        json_object_set_new(one, "limit", json_real((double)limit));
    else
        json_object_set_new(one, "ladder", ladder(distinct));
    if (cuts && ceiling)
        json_object_set_new(one, "ceiling", json_real((double)ceiling));
    return json_array_append_new(list, one) == 0;
}
