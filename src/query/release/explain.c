/* Explaining a query: its plan, price and expected errors, from public numbers only. */
#include "query/release/explain.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "query/price/error_bar.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/domain_warnings.h"
#include "query/plan/make_plan.h"
#include "query/plan/plan_limit.h"
#include "query/plan/show_plan.h"
#include "query/plan/target.h"
#include "query/plan/window_price.h"
#include "query/release/ask.h"
#include "query/release/prepare.h"
#include "query/release/present_parts.h"
#include "query/sql/formula.h"

static json_t *ceiling_to_json(uint64_t ceiling)
{
    return ceiling ? json_integer((json_int_t)ceiling) : json_null();
}

/* A limit that is still to be chosen leaves the error bar open. */
static bool is_open(const brume_terms *terms, size_t measure)
{
    const brume_found_limit *limit = brume_terms_measure_limit(terms, measure);
    return limit && !limit->known;
}

static json_t *shape_to_json(const brume_terms *terms)
{
    const brume_plan *plan = terms->plan;
    return json_pack(
        "{s:o,s:o,s:b,s:o,s:b,s:f,s:o}", "max_groups", ceiling_to_json(plan->shape.max_groups),
        "max_rows", ceiling_to_json(plan->shape.max_rows), "private_keys", plan->shape.private_keys,
        "groups", plan->shape.cells ? json_integer((json_int_t)plan->shape.cells) : json_null(),
        "charged_as_replace", plan->shape.replace, "cells_moved", terms->price.cells_upper,
        "threshold",
        plan->shape.private_keys ? json_integer((json_int_t)terms->price.threshold) : json_null());
}

static json_t *errors_to_json(const brume_terms *terms)
{
    const brume_plan *plan = terms->plan;
    json_t *errors = json_array();
    for (size_t i = 0; errors && i < plan->measure_count; i++) {
        json_array_append_new(errors, plan->selection || is_open(terms, i) ||
                                              brume_measure_is_selection(&plan->measures[i])
                                          ? json_null()
                                          : json_real(brume_terms_width(terms, i, 0.05)));
    }
    for (size_t i = 0; errors && i < plan->measurement_count; i++) {
        const brume_measurement *one = &plan->measurements[i];
        if (one->kind == BRUME_MEASUREMENT_DISTINCT) {
            json_array_append_new(errors,
                                  terms->distinct[i].limit.known
                                      ? json_real(brume_terms_distinct_width(terms, i, 0.05))
                                      : json_null());
            continue;
        }
        for (size_t j = 0; j < one->count; j++) /* those with a share of their own */
            json_array_append_new(errors,
                                  json_real(brume_error_width(one->noise, one->scale, 0.05)));
    }
    return errors;
}

/* Is what is shown computed from the measure? Those after the plan's measures are the measurements
 * of distinct values, as brume_terms_to_json lists them. */
static bool is_shown_in(const brume_plan *plan, int measure, const brume_formula *shown)
{
    if (shown->kind == BRUME_FORMULA_AGGREGATE) {
        const brume_plan_aggregate *of = &plan->aggregates[shown->index];
        int listed = (int)plan->measure_count - 1;
        for (int i = 0; i <= of->distinct; i++)
            listed += plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT;
        if (of->distinct >= 0)
            return listed == measure;
        for (size_t i = 0; i < 4; i++)
            if (of->joint[i] == measure)
                return measure >= 0;
        return of->count == measure || of->centred == measure || of->squares == measure ||
               of->direct == measure || of->second == measure || of->selection == measure;
    }
    for (size_t i = 0; i < shown->argument_count; i++)
        if (is_shown_in(plan, measure, shown->arguments[i]))
            return true;
    return false;
}

/* The columns of the answer that are computed from the measure; NULL if memory is out. */
static json_t *columns_of(const brume_plan *plan, int measure)
{
    const brume_query *query = plan->query;
    json_t *names = json_array();
    for (size_t i = 0; names && i < query->output_count; i++)
        if (is_shown_in(plan, measure, query->outputs[i].value) &&
            json_array_append_new(names, json_string(query->outputs[i].name)) != 0) {
            json_decref(names);
            return NULL;
        }
    return names;
}

static bool add_columns(const brume_plan *plan, json_t *measures)
{
    size_t count = plan->measure_count;
    for (size_t i = 0; i < plan->measurement_count; i++)
        count += plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT;
    for (size_t i = 0; !plan->selection && i < count; i++)
        if (json_object_set_new(json_array_get(measures, i), "columns", columns_of(plan, (int)i)) !=
            0)
            return false;
    return true;
}

/* The bar that a column will have: a number, a range, or null where it depends on the data. False:
 * memory is out. */
static bool add_bar(const brume_terms *terms, const brume_formula *value, json_t *column)
{
    brume_bar_range bar;
    if (value->kind != BRUME_FORMULA_AGGREGATE || !brume_target_bar(terms, value->index, &bar))
        return json_object_set_new(column, "bar_95", json_null()) == 0;
    return json_object_set_new(column, "bar_95",
                               bar.low == bar.high ? json_real(bar.low)
                                                   : json_pack("[f,f]", bar.low, bar.high)) == 0 &&
           (!bar.about || json_object_set_new(column, "bar_about", json_true()) == 0) &&
           (!(bar.rows > 0) || json_object_set_new(column, "bar_rows", json_real(bar.rows)) == 0) &&
           (!(bar.sure_below >= 1 && isfinite(bar.sure_below)) ||
            json_object_set_new(column, "sure_below", json_real(bar.sure_below)) == 0);
}

/* The columns of the answer: names, roles, types and bars; NULL if memory is out. */
static json_t *outputs_to_json(const brume_terms *terms)
{
    const brume_query *query = terms->plan->query;
    char room[BRUME_TYPE_NAME_SIZE];
    json_t *columns = json_array();
    for (size_t i = 0; columns && i < query->output_count; i++) {
        const brume_query_output *output = &query->outputs[i];
        brume_type type = {.kind = brume_output_type(query, output)};
        bool key = brume_formula_count_aggregates(output->value) +
                       brume_formula_count_released(output->value) ==
                   0;
        json_t *column = json_pack("{s:s,s:s,s:s}", "name", output->name, "role",
                                   key ? "key" : "value", "type", brume_type_name(type, room));
        if (json_array_append_new(columns, column) != 0 ||
            (!key && !add_bar(terms, output->value, column))) {
            json_decref(columns);
            return NULL;
        }
    }
    return columns;
}

/* Where rows are bounded, and why there; no reason where they are files. */
static bool add_where(const brume_plan *plan, json_t *made)
{
    const char *where = plan->in_engine ? "engine" : "brume";
    return json_object_set_new(made, "where", json_string(where)) == 0 &&
           json_object_set_new(made, "where_reason",
                               plan->where_reason ? json_string(plan->where_reason)
                                                  : json_null()) == 0;
}

/* For grouping sets: do they add up, and if not, why? */
static bool add_joint_sets(const brume_plan *plan, json_t *made)
{
    return plan->query->set_count < 2 ||
           (json_object_set_new(made, "joint_sets", json_boolean(plan->fitted)) == 0 &&
            (!plan->fitted_why ||
             json_object_set_new(made, "joint_sets_why", json_string(plan->fitted_why)) == 0));
}

/* What texts call units and rows. */
static bool add_words(const brume_question *question, json_t *made)
{
    brume_words words = brume_question_words(question);
    return json_object_set_new(made, "words",
                               json_pack("{s:s,s:s,s:s}", "unit", words.unit, "units", words.units,
                                         "rows", words.rows)) == 0;
}

/* The answer is there, and has its bars: what another draw would have is not what is read. */
static brume_status show_recorded_bars(const json_t *record, json_t *made, brume_error *error)
{
    brume_query_answer *answer = NULL;
    json_t *whole = NULL;
    BRUME_TRY(brume_query_answer_recorded(record, &answer, error));
    brume_status status = brume_query_answer_to_json(answer, &whole, error);
    brume_query_answer_close(answer);
    const json_t *shown = json_object_get(made, "columns"),
                 *had = json_object_get(whole, "columns");
    for (size_t i = 0; status == BRUME_OK && i < json_array_size(shown); i++) {
        json_t *column = json_array_get(shown, i);
        json_t *bar = json_object_get(json_array_get(had, i), "bar_95");
        if (!json_is_number(bar) || !json_object_get(column, "bar_95"))
            continue;
        json_object_del(column, "bar_about");
        json_object_del(column, "bar_rows");
        if (json_object_set(column, "bar_95", bar) != 0)
            status = brume_no_memory(error, "the explanation");
    }
    json_decref(whole);
    return status;
}

/* Is there an answer to the same question at the same price? It can be read again for free. */
static brume_status add_recorded(brume_ledger *ledger, const brume_question *question,
                                 const brume_plan *plan, const brume_payment *payment, json_t *made,
                                 brume_error *error)
{
    char key[65], read[BRUME_WHEN_TEXT];
    bool anew = false;
    json_t *record = NULL;
    BRUME_TRY(brume_question_key(question, plan, key, error));
    BRUME_TRY(brume_recall_question(ledger, key, payment, &record, read, &anew, error));
    const char *version = json_string_value(json_object_get(record, "data_version"));
    bool good =
        json_object_set_new(made, "recorded", json_boolean(record)) == 0 &&
        (!record || json_object_set_new(
                        made, "as_of",
                        brume_as_of_json(read, version, json_object_get(record, "windows"))) == 0);
    brume_status status = good ? BRUME_OK : brume_no_memory(error, "the explanation");
    if (status == BRUME_OK && record)
        status = show_recorded_bars(record, made, error);
    json_decref(record);
    return status;
}

/* The windows that would be read, and what each of them pays; nothing where there are none. */
static brume_status add_windows(brume_ledger *ledger, const brume_question *question,
                                const brume_plan *plan, json_t *made, brume_error *error)
{
    brume_window_price price;
    brume_charge least;
    if (question->touched->count == 0)
        return BRUME_OK;
    const brume_touched_dataset *first = &question->touched->datasets[0];
    BRUME_TRY(brume_ledger_least_left(ledger, first->dataset, &first->set, &least, error));
    BRUME_TRY(brume_window_price_of(plan, question->touched, &price, error));
    if (json_object_set_new(made, "windows",
                            brume_window_price_to_json(question->touched, &price, plan->rule,
                                                       question->touched->now)) != 0 ||
        json_object_set_new(json_object_get(made, "windows"), "least_left",
                            brume_left_to_json(&least)) != 0)
        return brume_no_memory(error, "the explanation");
    return BRUME_OK;
}

/* Those whose budgets pay, each once. */
static bool add_datasets(const brume_question *question, json_t *made)
{
    json_t *names = json_array();
    bool good = json_object_set_new(made, "datasets", names) == 0;
    for (size_t i = 0; good && i < question->table_count; i++) {
        const char *name = question->datasets[i]->name;
        bool is_there = question->policies[i]->is_public;
        for (size_t n = 0; n < json_array_size(names); n++)
            is_there = is_there || strcmp(json_string_value(json_array_get(names, n)), name) == 0;
        good = is_there || json_array_append_new(names, json_string(name)) == 0;
    }
    return good;
}

brume_status brume_explain_whole(brume_ledger *ledger, const char *sql,
                                 const brume_payment *payment, const brume_target *target,
                                 json_t **explanation, brume_error *error)
{
    brume_question *question = NULL;
    brume_plan *plan = NULL;
    brume_terms *terms = NULL;
    brume_status status =
        brume_prepare(ledger, sql, payment, target, &question, &plan, &terms, error);
    json_t *made = NULL;
    if (status == BRUME_OK && question->open_query) {
        made = json_pack("{s:[],s:{s:i,s:i,s:n},s:s,s:s,s:b}", "plan", "cost", "epsilon", 0,
                         "delta", 0, "rho", "sql", question->typed, "normal",
                         question->open_query->sql, "public", 1);
        if (!made)
            status = brume_no_memory(error, "the explanation");
    } else if (status == BRUME_OK) {
        made = json_pack("{s:o,s:o,s:o,s:o,s:s,s:s,s:s,s:b,s:o,s:{s:s,s:f}}", "plan",
                         brume_terms_to_json(terms), "cost", brume_plan_cost_to_json(plan),
                         "error_95", errors_to_json(terms), "shape", shape_to_json(terms), "rule",
                         brume_rule_word(plan->rule), "sql", question->typed, "normal",
                         question->query->normal, "delta_by_default", plan->delta_by_default,
                         "limit_plan", brume_terms_limits_to_json(terms), "limits", "chosen",
                         brume_terms_limits_word(terms), "share", brume_terms_choice_share(terms));
        if (!made || !add_datasets(question, made) || !add_words(question, made) ||
            !add_where(plan, made) || !add_joint_sets(plan, made) ||
            !add_columns(plan, json_object_get(made, "plan")) ||
            json_object_set_new(made, "columns", outputs_to_json(terms)) != 0 ||
            json_object_set_new(made, "warnings",
                                brume_domain_warnings(question->query, question->tables)) != 0) {
            json_decref(made);
            made = NULL;
            status = brume_no_memory(error, "the explanation");
        }
        if (status == BRUME_OK)
            status = add_windows(ledger, question, plan, made, error);
        if (status == BRUME_OK)
            status = add_recorded(ledger, question, plan, payment, made, error);
    }
    brume_terms_close(terms);
    brume_query_plan_close(plan);
    brume_question_close(question);
    if (status == BRUME_OK)
        *explanation = made;
    else
        json_decref(made);
    return status;
}

brume_status brume_explain_paid(brume_ledger *ledger, const char *sql, json_t *explanation,
                                brume_error *error)
{
    brume_question *question = NULL;
    BRUME_TRY(brume_question_open_any(ledger, sql, &question, error));
    json_t *columns = json_array();
    bool good = columns != NULL;
    for (size_t i = 0; good && i < question->open_query->output_count; i++)
        good = json_array_append_new(columns, json_pack("{s:s,s:s,s:s}", "name",
                                                        question->open_query->names[i], "role",
                                                        "key", "type", "text")) == 0;
    brume_question_close(question);
    if (!good || json_object_set(explanation, "columns", columns) != 0) {
        json_decref(columns);
        return brume_no_memory(error, "the explanation");
    }
    json_decref(columns);
    return json_object_del(explanation, "public") == 0
               ? BRUME_OK
               : brume_fail(error, BRUME_EINTERNAL, NULL, "a query that is not public");
}
