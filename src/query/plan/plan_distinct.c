/* COUNT(DISTINCT x): what is collected, and what its price buys. */
#include "query/plan/plan_distinct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/rounding.h"
#include "query/plan/plan_limit.h"
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

/* The groups of the query, each parted by the values. */
static brume_status collect_pairs(const brume_plan *plan, brume_measurement *distinct,
                                  brume_error *error)
{
    const brume_query *query = plan->query;
    brume_query *pairs = NULL;
    BRUME_TRY(
        brume_plan_pairs(plan, distinct->distinct.argument, "a count of values", &pairs, error));
    distinct->collection = (brume_collection){.query = pairs,
                                              .max_groups = 1,
                                              .totals = query->unit && !query->one_row_per_unit,
                                              .all_groups = true};
    return BRUME_OK;
}

static void take_least(uint64_t *least, uint64_t ceiling)
{
    if (ceiling && (*least == 0 || ceiling < *least))
        *least = ceiling;
}

/* Limits are below: they are multiplied with scales, as doubles. */
static const uint64_t most_pairs = UINT64_C(1) << 62;

/* The product; 0, which is no ceiling, where it is not below most_pairs. */
static uint64_t times(uint64_t a, uint64_t b)
{
    return b != 0 && a >= most_pairs / b ? 0 : a * b;
}

/* The owner's ceiling on the pairs of a unit in one grouping set: R rows in each of G groups; 0:
 * none. */
static uint64_t ceiling_of(const brume_plan *plan, const brume_plan_table *tables, bool *fixed)
{
    uint64_t groups = 0, rows = 0;
    *fixed = false;
    for (size_t i = 0; i < plan->query->table_count; i++) {
        const brume_policy *policy = tables[plan->query->tables[i].table].policy;
        take_least(&groups, policy->max_groups);
        take_least(&rows, policy->max_rows);
        *fixed = *fixed || policy->limits_fixed;
    }
    if (plan->shape.cells == 1)
        groups = 1;
    uint64_t pairs = times(groups, rows);
    take_least(&pairs, plan->unit_rows);
    return pairs;
}

static void set_known(brume_measurement *one, brume_limit_source source, uint64_t limit)
{
    one->distinct.limit.source = source;
    one->distinct.limit.limit = limit;
}

brume_status brume_distinct_plan(brume_plan *plan, const brume_plan_table *tables,
                                 brume_error *error)
{
    const brume_query *query = plan->query;
    uint64_t sets = query->set_count > 1 ? query->set_count : 1;
    bool fixed = false, once = !query->unit || query->one_row_per_unit;
    uint64_t in_a_set = ceiling_of(plan, tables, &fixed), ceiling = times(in_a_set, sets);
    for (size_t i = 0; i < plan->measurement_count; i++) {
        brume_measurement *one = &plan->measurements[i];
        if (one->kind != BRUME_MEASUREMENT_DISTINCT)
            continue;
        BRUME_TRY(collect_pairs(plan, one, error));
        one->distinct.limit = (brume_plan_limit){.of = {.kind = BRUME_TOTAL_PRESENCE},
                                                 .norm = 1,
                                                 .ceiling = ceiling,
                                                 .reach = 1, /* a row adds one value at most */
                                                 .limit = 1};
        if (once) /* its one row has one value, in a group of each set: nothing is cut */
            set_known(one, BRUME_LIMIT_NONE, sets);
        else if (plan->unit_rows == 1) /* of what a second row has nothing more is counted */
            set_known(one, BRUME_LIMIT_NONE, sets);
        else if (fixed && ceiling == 0)
            return brume_fail(error, BRUME_EPOLICY,
                              "the owner registers --max-groups and --max-rows",
                              "the limits are fixed, and there is none for this query");
        else if (ceiling > 0 && (fixed || in_a_set <= 2))
            set_known(one, BRUME_LIMIT_POLICY, ceiling);
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
    uint64_t ceiling = one->distinct.limit.ceiling;
    if (ceiling && typed > (double)ceiling)
        return brume_fail(error, BRUME_EPOLICY, "the owner's ceiling is the most",
                          "'--limit' %s is above the ceiling of %llu", text,
                          (unsigned long long)ceiling);
    set_known(one, BRUME_LIMIT_TYPED, (uint64_t)typed);
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

static bool may_choose(const brume_measurement *measurement)
{
    return measurement->kind == BRUME_MEASUREMENT_DISTINCT &&
           measurement->distinct.limit.source == BRUME_LIMIT_AUTO;
}

bool brume_distinct_chooses(const brume_distinct_terms *distinct)
{
    return distinct->limit.of && distinct->limit.source == BRUME_LIMIT_AUTO;
}

size_t brume_distinct_choices(const brume_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->measurement_count; i++)
        count += may_choose(&plan->measurements[i]);
    return count;
}

/* Has it a part of the price? */
static bool is_paid(const brume_plan *plan, const brume_measurement *one)
{
    return one->kind == BRUME_MEASUREMENT_DISTINCT && (!plan->limits_only || may_choose(one));
}

/* The measures of the groups that a price is shared with. */
static size_t count_others(const brume_plan *plan)
{
    if (!plan->limits_only || !plan->limits)
        return plan->measure_count;
    for (size_t i = 0; i < plan->limit_count; i++)
        if (plan->limits[i].source == BRUME_LIMIT_AUTO)
            return plan->measure_count;
    return 0;
}

/* The noise of numbers that a unit moves by 1 together, `moved` times: p = 1: moved/b <= part, with
 * moved the sum of what moves; p = 2: moved/(2 sigma^2) <= part, with moved the sum of squares. */
static double scale_for(int p, double moved, double part)
{
    return p == 1 ? brume_divide_up(moved, part)
                  : brume_sqrt_up(brume_divide_up(moved, brume_multiply_down(2, part)));
}

double brume_distinct_choice_share(const brume_plan *plan, const brume_measurement *distinct)
{
    int p = distinct->noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
    return distinct->share *
           (plan->limits_only ? 1 : brume_limited_choice_share(p, 1, BRUME_CHOICE_TAIL, false));
}

/* What a unit's values move for a limit of 1, to the power p: replaced, those that go and those
 * that come can be in different groups. */
static double groups_moved(const brume_plan *plan)
{
    return plan->shape.replace && plan->shape.cells != 1 ? 2 : 1;
}

/* For its part. Where the choice is bought alone the histogram has all but the tail. */
static double histogram_part(const brume_plan *plan, double part, double tail, int p)
{
    return plan->limits_only
               ? brume_subtract_down(part, tail)
               : brume_multiply_down(part, brume_limited_step_share(p, 1, BRUME_CHOICE_HISTOGRAM));
}

brume_status brume_distinct_price(const brume_plan *plan, const brume_measurement *measurement,
                                  brume_distinct_terms *distinct, brume_error *error)
{
    int p = measurement->noise == BRUME_NOISE_DISCRETE_LAPLACE ? 1 : 2;
    double part = measurement->distinct.part;
    if (!(measurement->share > 0))
        return BRUME_OK;                    /* nothing is bought */
    if (brume_distinct_chooses(distinct)) { /* a unit is in one bin, or part; replaced, in two */
        double tail = brume_multiply_down(part, brume_limited_step_share(p, 1, BRUME_CHOICE_TAIL));
        double choice = histogram_part(plan, part, tail, p);
        distinct->histogram_scale = scale_for(p, plan->shape.replace ? 2 : 1, choice);
        distinct->tail_scale = scale_for(p, plan->shape.replace ? 2 : 1, tail);
        part = brume_subtract_down(brume_subtract_down(part, choice), tail);
    }
    if (!plan->limits_only)
        distinct->scale = scale_for(p, groups_moved(plan), part);
    if (!(distinct->scale <= 0x1p40) || !(distinct->histogram_scale <= 0x1p40) ||
        !(distinct->tail_scale <= 0x1p40))
        return brume_fail(error, BRUME_EOVERFLOW, "pay more",
                          "the noise on a count of values would have scale %.3g", distinct->scale);
    return BRUME_OK;
}

brume_status brume_distinct_pay(brume_plan *plan, const brume_payment *payment, int p,
                                double *price, brume_error *error)
{
    BRUME_TRY(use_typed_limits(plan, payment, error));
    size_t left = 0, others = count_others(plan);
    for (size_t i = 0; i < plan->measurement_count; i++) {
        brume_measurement *one = &plan->measurements[i];
        left += is_paid(plan, one);
        if (one->kind == BRUME_MEASUREMENT_DISTINCT)
            one->share = 0;
    }
    double whole = *price, joint = brume_plan_joint_share(plan);
    double all = (double)(left + others);
    for (size_t i = 0; i < plan->measurement_count; i++) {
        brume_measurement *one = &plan->measurements[i];
        if (!is_paid(plan, one))
            continue;
        bool last = --left == 0 && others == 0;
        one->distinct.part = last ? *price : brume_divide_down(whole, all);
        one->share = joint / all;
        one->count = 1;
        one->noise = p == 1 ? BRUME_NOISE_DISCRETE_LAPLACE : BRUME_NOISE_DISCRETE_GAUSSIAN;
        *price = last ? 0 : brume_subtract_down(*price, one->distinct.part);
    }
    return BRUME_OK;
}

double brume_distinct_scale(const brume_distinct_terms *distinct)
{
    return brume_multiply_up(distinct->scale, brume_count_up(distinct->limit.limit));
}

double brume_terms_distinct_width(const brume_terms *terms, size_t measurement, double beta)
{
    return brume_error_width(terms->plan->measurements[measurement].noise,
                             brume_distinct_scale(&terms->distinct[measurement]), beta);
}

/* ---- JSON ---- */

const char *brume_distinct_mechanism(const brume_measurement *distinct)
{
    return distinct->noise == BRUME_NOISE_DISCRETE_LAPLACE ? "discrete_laplace"
                                                           : "discrete_gaussian";
}

static json_t *ladder(const brume_terms *terms, size_t measurement)
{
    json_t *list = json_array();
    brume_noise_kind noise = terms->plan->measurements[measurement].noise;
    brume_distinct_terms at = terms->distinct[measurement];
    at.limit.limit = 1;
    for (int i = 0; i < 6; i++, at.limit.limit *= 10)
        json_array_append_new(list,
                              json_pack("{s:f,s:f}", "limit", (double)at.limit.limit, "error_95",
                                        brume_error_width(noise, brume_distinct_scale(&at), 0.05)));
    return list;
}

bool brume_distinct_add_json(const brume_terms *terms, size_t measurement, json_t *list)
{
    const brume_plan *plan = terms->plan;
    const brume_measurement *of = &plan->measurements[measurement];
    const brume_distinct_terms *distinct = &terms->distinct[measurement];
    bool laplace = of->noise == BRUME_NOISE_DISCRETE_LAPLACE;
    uint64_t limit = distinct->limit.known ? distinct->limit.limit : 0;
    if (!(of->share > 0))
        return true; /* nothing is bought of it */
    json_t *one = json_pack("{s:s,s:s,s:f}", "measure", "distinct values", "mechanism",
                            brume_distinct_mechanism(of), "share", of->share);
    if (!one)
        return false;
    double moved = laplace ? groups_moved(plan) : sqrt(groups_moved(plan));
    json_object_set_new(one, "sensitivity", limit ? json_real((double)limit * moved) : json_null());
    if (limit) {
        json_object_set_new(one, laplace ? "scale" : "sigma",
                            json_real(brume_distinct_scale(distinct)));
        json_object_set_new(one, "error_95",
                            json_real(brume_terms_distinct_width(terms, measurement, 0.05)));
    } else {
        json_object_set_new(one, "limit", json_null());
        json_object_set_new(one, "noise_per_sensitivity", json_real(distinct->scale));
    }
    return json_array_append_new(list, one) == 0;
}

bool brume_distinct_add_limit(const brume_terms *terms, size_t measurement, json_t *list)
{
    const brume_found_limit *limit = &terms->distinct[measurement].limit;
    json_t *one = json_pack("{s:s,s:s}", "statistic", "distinct values", "chosen",
                            brume_limit_source_word(limit->source));
    if (!one)
        return false;
    if (limit->known)
        json_object_set_new(one, "limit", json_real((double)limit->limit));
    else
        json_object_set_new(one, "ladder", ladder(terms, measurement));
    if (brume_found_earlier_word(limit))
        json_object_set_new(one, "earlier", json_string(brume_found_earlier_word(limit)));
    if (terms->plan->measurements[measurement].collection.totals && limit->of->ceiling)
        json_object_set_new(one, "ceiling", json_real((double)limit->of->ceiling));
    return json_array_append_new(list, one) == 0;
}
