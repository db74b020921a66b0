/* Opening a series and publishing its windows. Promises: series.h. */
#include "query/series/series.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "ledger/series.h"
#include "query/collect/dictionary.h"
#include "number/decimal.h"
#include "query/plan/key_cells.h"
#include "query/plan/make_plan.h"
#include "query/plan/question.h"
#include "query/plan/window_price.h"
#include "query/print/statement.h"
#include "query/release/ask.h"
#include "query/series/spec.h"

/* A series in the making, or one that is read for: the question and what follows from it. */
typedef struct series_work {
    brume_question *question;
    brume_plan *plan; /* of its values and its keys; its price and noise are not used */
    const brume_dataset *dataset;
    const brume_policy *policy;
    const brume_expression *window; /* the column that says in which window a row is */
    bool by_instant;                /* it is a timestamp */
    brume_key_value *cells;         /* cell by cell, in their order; texts are the plan's */
    size_t key_count, cell_count;
    /* For a dataset with windows: those of the horizon, and what each of them pays. */
    brume_window_range horizon;
    brume_charge window_price;
} series_work;

static void close_work(series_work *work)
{
    free(work->cells);
    brume_query_plan_close(work->plan);
    brume_question_close(work->question);
    *work = (series_work){0};
}

/* ---- which queries ---- */

static brume_status refuse(brume_error *error, const char *hint, const char *what)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, hint, "a series cannot be of %s", what);
}

static brume_status check_outputs(const brume_query *query, brume_error *error)
{
    size_t values = 0;
    for (size_t i = 0; i < query->output_count; i++) {
        brume_formula_kind kind = query->outputs[i].value->kind;
        if (kind == BRUME_FORMULA_AGGREGATE)
            values++;
        else if (kind != BRUME_FORMULA_KEY)
            return refuse(error, "show it, and compute with its numbers", "a computed output");
    }
    return values == 1 ? BRUME_OK
                       : refuse(error, "open one for each; a mean is two series, SUM and COUNT",
                                "more than one number");
}

static brume_status check_aggregate(const brume_query *query, brume_error *error)
{
    if (query->aggregate_count != 1)
        return refuse(error, "open one for each; a mean is two series, SUM and COUNT",
                      "more than one number");
    switch (query->aggregates[0].kind) {
    case BRUME_AGGREGATE_COUNT_ROWS:
    case BRUME_AGGREGATE_COUNT:
    case BRUME_AGGREGATE_COUNT_UNITS:
    case BRUME_AGGREGATE_SUM:
        return BRUME_OK;
    case BRUME_AGGREGATE_AVG:
        return refuse(error, "open two, one of SUM and one of COUNT", "a mean");
    default:
        return refuse(error, "COUNT(*), COUNT(x), SUM(x) or COUNT(DISTINCT unit)",
                      brume_aggregate_word(query->aggregates[0].kind));
    }
}

static brume_status check_query(const series_work *work, brume_error *error)
{
    const brume_query *query = work->question->query;
    /* Every row must be of one window: that of the one table. */
    if (work->question->table_count != 1 || query->public_count > 0 ||
        query->from->kind != BRUME_RELATION_TABLE)
        return refuse(error, "FROM one table, with WHERE and GROUP BY; joins are not there yet",
                      "several tables or a subquery");
    if (query->set_count > 1)
        return refuse(error, "open one for each grouping", "grouping sets");
    if (query->having || query->order_count > 0 || query->limit >= 0 || query->offset > 0 ||
        query->window_count > 0)
        return refuse(error, "leave it out, and choose when the series is shown",
                      "HAVING, ORDER BY, LIMIT or a window function");
    BRUME_TRY(check_aggregate(query, error));
    return check_outputs(query, error);
}

static brume_status check_dataset(const series_work *work, brume_error *error)
{
    const brume_dataset *dataset = work->dataset;
    if (work->policy->is_public)
        return brume_fail(error, BRUME_EPOLICY, "ask it with 'brume query'",
                          "'%s' is public and needs no series", dataset->name);
    if (work->policy->rows_stay)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask with 'brume query'",
                          "the rows of '%s' stay on their server, and a series reads them",
                          dataset->name);
    if (dataset->adjacency != BRUME_ADD_REMOVE && dataset->adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "a series of edges");
    return BRUME_OK;
}

/* ---- cells ---- */

static brume_status count_cell(void *context, const brume_key_value *cell, brume_error *error)
{
    series_work *work = context;
    (void)cell;
    return ++work->cell_count <= BRUME_SERIES_CELLS
               ? BRUME_OK
               : brume_fail(error, BRUME_EUNSUPPORTED, "group by fewer columns",
                            "a series has at most %d groups", (int)BRUME_SERIES_CELLS);
}

static brume_status keep_cell(void *context, const brume_key_value *cell, brume_error *error)
{
    series_work *work = context;
    (void)error;
    memcpy(&work->cells[work->cell_count++ * work->key_count], cell,
           work->key_count * sizeof *cell);
    return BRUME_OK;
}

static _Thread_local size_t sorted_keys; /* qsort has no context */

static int compare_cells(const void *a, const void *b)
{
    return brume_keys_compare(a, b, sorted_keys);
}

/* The groups, which must be known before a row is read. */
static brume_status find_cells(series_work *work, brume_error *error)
{
    const brume_collection *groups = &work->plan->measurements[0].collection;
    work->key_count = work->question->query->key_count;
    if (work->plan->shape.private_keys || (work->key_count > 0 && work->plan->shape.cells == 0))
        return brume_fail(error, BRUME_EUNSUPPORTED, "declare the values of the keys with --domain",
                          "a series cannot have groups whose values are not declared");
    if (work->key_count == 0) {
        work->cell_count = 1;
        return BRUME_OK;
    }
    BRUME_TRY(brume_cells_visit(groups, count_cell, work, error));
    work->cells = calloc(work->cell_count * work->key_count, sizeof *work->cells);
    if (!work->cells)
        return brume_no_memory(error, "a series");
    work->cell_count = 0;
    BRUME_TRY(brume_cells_visit(groups, keep_cell, work, error));
    sorted_keys = work->key_count;
    if (work->cell_count > 0)
        qsort(work->cells, work->cell_count, work->key_count * sizeof *work->cells, compare_cells);
    return BRUME_OK;
}

/* The cell of a row; cell_count: it is in none. */
static size_t cell_of(const series_work *work, const brume_key_value *keys)
{
    size_t low = 0, high = work->cell_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order =
            brume_keys_compare(&work->cells[middle * work->key_count], keys, work->key_count);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return work->cell_count;
}

/* ---- the question ---- */

static const brume_expression *column_named(const brume_relation *table, const char *name)
{
    for (int any_case = 0; any_case < 2; any_case++)
        for (size_t i = 0; i < table->column_count; i++)
            if (table->columns[i].stored &&
                (any_case ? strcasecmp(table->columns[i].stored, name)
                          : strcmp(table->columns[i].stored, name)) == 0)
                return table->columns[i].reference;
    return NULL;
}

static brume_status find_window_column(series_work *work, const char *name,
                                       const brume_window_grid *grid, brume_error *error)
{
    work->window = column_named(work->question->query->from, name);
    if (!work->window)
        return brume_fail(error, BRUME_EUNKNOWN, "name a column of dates",
                          "'%s' has no column '%s'", work->dataset->name, name);
    work->by_instant = work->window->type.kind == BRUME_TYPE_TIMESTAMP;
    if (!work->by_instant && work->window->type.kind != BRUME_TYPE_DATE)
        return brume_fail(error, BRUME_EARGUMENT, "name a column of dates or timestamps",
                          "'%s' is no column of time", name);
    if (!work->by_instant && (grid->length == BRUME_WINDOW_HOUR || grid->offset != 0))
        return brume_fail(error, BRUME_EARGUMENT, "day, week, month, quarter or year",
                          "'%s' is a date: it has neither hours nor a zone", name);
    return BRUME_OK;
}

/* Parse, check and plan. The plan says which values and groups there are; its price and its noise
 * are those of a query, and are not used. */
static brume_status open_work(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                              series_work *work, brume_error *error)
{
    BRUME_TRY(brume_question_open(ledger, sql, &work->question, error));
    work->dataset = work->question->datasets[0];
    work->policy = work->question->policies[0];
    BRUME_TRY(check_query(work, error));
    BRUME_TRY(check_dataset(work, error));
    BRUME_TRY(brume_query_plan_make(work->question->query, work->question->tables, payment,
                                    &work->plan, error));
    return find_cells(work, error);
}

/* Everything in the policy that the meaning of a series rests on. */
static brume_status policy_digest(const brume_dataset *dataset, char digest[BRUME_DIGEST_TEXT],
                                  brume_error *error)
{
    static const char *const other[] = {"timeout",   "limits_per_user", "max_age",
                                        "unit_name", "rows_about",      "bias_share"};
    json_t *kept = json_deep_copy(dataset->policy);
    for (size_t i = 0; kept && i < sizeof other / sizeof *other; i++)
        json_object_del(kept, other[i]);
    char *text = kept ? json_dumps(kept, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(kept);
    if (!text)
        return brume_no_memory(error, "a series");
    const char *const parts[] = {text, dataset->source};
    brume_status status = brume_digest(parts, 2, digest, error);
    free(text);
    return status;
}

/* ---- what was typed ---- */

/* "day 7d from 2026-01-01": the column, and the length. */
static brume_status read_window(const brume_series_words *words, series_work *work,
                                brume_series_spec *spec, brume_error *error)
{
    const brume_policy_window *policy = &work->policy->window;
    char column[128];
    if (policy->place) {
        if (words->window)
            return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                              "'--window': '%s' has windows already", work->dataset->name);
        if (policy->place != BRUME_WINDOW_BY_COLUMN)
            return refuse(error, "take the table that has the dates",
                          "a table whose rows have no date of their own");
        if (policy->grid.length == BRUME_WINDOW_VALUES)
            return refuse(error, "a series goes along time", "windows that are values");
        spec->grid = policy->grid; /* each window of the series is one that has a budget */
        return find_window_column(work, policy->column, &spec->grid, error);
    }
    if (!words->window)
        return brume_fail(error, BRUME_EARGUMENT, "such as --window 'visited day'",
                          "'--window' must say by which column and in which steps the series goes");
    const char *space = strchr(words->window, ' ');
    size_t length = space ? (size_t)(space - words->window) : 0;
    if (length == 0 || length >= sizeof column)
        return brume_fail(error, BRUME_EARGUMENT, "such as 'visited day'",
                          "'--window' must be a column and a length");
    memcpy(column, words->window, length);
    column[length] = 0;
    while (*space == ' ')
        space++;
    BRUME_TRY(brume_window_grid_parse(space, NULL, &spec->grid, error));
    if (spec->grid.length == BRUME_WINDOW_VALUES)
        return brume_fail(error, BRUME_EARGUMENT, "hour, day, week, month, quarter or year",
                          "a series goes along time: its windows cannot be values");
    return find_window_column(work, column, &spec->grid, error);
}

/* The first window, and how many there are. */
static brume_status read_horizon(const brume_series_words *words, brume_series_spec *spec,
                                 uint64_t *horizon, brume_error *error)
{
    const char *text = words->horizon ? words->horizon : "10y";
    static const struct {
        char unit;
        double days;
    } units[] = {{'d', 1}, {'w', 7}, {'y', 365.2425}};
    char *end = NULL;
    double count = strtod(text, &end), days = 0;
    if (words->from)
        BRUME_TRY(brume_window_parse(&spec->grid, words->from, &spec->first, error));
    else
        spec->first = brume_window_of_instant(&spec->grid, brume_touched_now());
    for (size_t i = 0; *end && !end[1] && i < sizeof units / sizeof *units; i++)
        days = *end == units[i].unit ? count * units[i].days : days;
    bool whole = isdigit((unsigned char)*text) && count >= 1 && count <= 1e6;
    if (whole && !*end && count == floor(count))
        *horizon = (uint64_t)count;
    else if (whole && days >= 1 && days < 1e6) {
        int64_t begin = brume_window_first_instant(&spec->grid, spec->first);
        int64_t last = brume_window_of_instant(
            &spec->grid, begin + (int64_t)ceil(days) * BRUME_WINDOW_MICROSECONDS - 1);
        *horizon = (uint64_t)(last - spec->first + 1);
    } else
        return brume_fail(error, BRUME_EARGUMENT, "such as 10y, 90d, or 365 for so many windows",
                          "'--horizon' is '%s'", text);
    if (spec->first + (int64_t)*horizon >= brume_window_greatest(&spec->grid))
        return brume_fail(error, BRUME_EARGUMENT, "a shorter one",
                          "'--horizon' leads beyond the calendar");
    return BRUME_OK;
}

/* T in the steps of the query's values, and whether it is of each window. */
static brume_status read_limit(const brume_series_words *words, const series_work *work,
                               brume_series_spec *spec, brume_error *error)
{
    const brume_query *query = work->question->query;
    char *end = NULL, length[BRUME_WINDOW_TEXT];
    double typed = words->limit ? strtod(words->limit, &end) : 0;
    if (!words->limit || end == words->limit || !(typed > 0) || (*end && *end != '/'))
        return brume_fail(error, BRUME_EARGUMENT,
                          "such as 3/day, or 20 for all time where rows are only added",
                          "'--limit' must say what one unit adds at most");
    if (*end && strcmp(end + 1, brume_window_length_text(&spec->grid, length)) != 0)
        return brume_fail(error, BRUME_EARGUMENT, "a number by itself is for all time",
                          "'--limit' is for each %.40s, and the windows are each %s", end + 1,
                          length);
    spec->limit.per_window = *end == '/';
    spec->limit.rule = query->aggregates[0].kind != BRUME_AGGREGATE_COUNT_UNITS ? BRUME_SERIES_ROWS
                       : words->ever                                            ? BRUME_SERIES_EVER
                                     : BRUME_SERIES_UNITS;
    if (words->ever && spec->limit.rule != BRUME_SERIES_EVER)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--ever' is for COUNT(DISTINCT unit)");
    /* A unit's first window depends on its other windows: no limit of windows bounds that. */
    if (words->ever && spec->limit.per_window)
        return brume_fail(error, BRUME_EARGUMENT, "such as --limit 1",
                          "'--ever' needs a limit for all time");
    bool sum = query->aggregates[0].kind == BRUME_AGGREGATE_SUM;
    spec->is_count = !sum;
    spec->step = sum ? work->plan->values[0].step : 1;
    double steps = floor(typed / spec->step * (1 + 0x1p-50));
    if (steps < 1 || steps >= ldexp(1, BRUME_RUNNING_LIMIT_DIGITS))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--limit' %s is out of range",
                          words->limit);
    spec->limit.most = (uint64_t)steps;
    return BRUME_OK;
}

/* Which promise a limit needs. A limit of each window bounds what a unit adds in that window,
 * whatever rows do, and nothing of its history (claim 5 of proofs/series.md). One for all windows
 * bounds a history, if rows are only added (claim 6). */
static brume_status check_promise(const series_work *work, const brume_series_spec *spec,
                                  brume_error *error)
{
    if (spec->limit.per_window && !work->dataset->has_windows)
        return brume_fail(error, BRUME_EPOLICY,
                          "type a limit for all windows together, and declare --append-only true",
                          "'--limit' is of each window, and the windows of '%s' have no budgets",
                          work->dataset->name);
    if (spec->limit.per_window && !work->dataset->no_budget)
        return brume_fail(error, BRUME_EPOLICY,
                          "type a limit for all windows together, and declare --append-only true; "
                          "or register with --budget none",
                          "'--limit' is of each window, and '%s' has a budget for whole histories: "
                          "somebody with rows in every window would add the limit in each of them",
                          work->dataset->name);
    if (!spec->limit.per_window && !work->policy->append_only)
        return brume_fail(error, BRUME_EPOLICY,
                          "'brume amend' declares it with --append-only true, if rows are only "
                          "added; or type a limit of each window where windows have budgets",
                          "a limit for all time needs that rows of '%s' are only added, which its "
                          "owner does not say",
                          work->dataset->name);
    return BRUME_OK;
}

static brume_status make_charge(const brume_series_words *words, const series_work *work,
                                brume_charge *out, brume_error *error)
{
    brume_rule rule = work->dataset->filter.rule;
    brume_decimal amount, delta = {0};
    if (!words->epsilon == !words->rho)
        return brume_fail(error, BRUME_EARGUMENT, "give --epsilon E or --rho R",
                          words->epsilon ? "two prices are given" : "no price is given");
    if (words->rho && rule != BRUME_RULE_CONCENTRATED)
        return brume_fail(error, BRUME_EPOLICY, "pay with --epsilon",
                          "the budget of '%s' is not of the rule concentrated",
                          work->dataset->name);
    if (words->delta && rule != BRUME_RULE_APPROXIMATE)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--delta' is for a budget of the rule approximate");
    if (!words->delta && rule == BRUME_RULE_APPROXIMATE)
        return brume_fail(error, BRUME_EARGUMENT, "such as --delta 1e-7",
                          "a series under the rule approximate needs '--delta'");
    BRUME_TRY(brume_decimal_parse(words->rho ? words->rho : words->epsilon, &amount, error));
    if (brume_decimal_is_zero(&amount))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the price must be above 0");
    if (words->delta)
        BRUME_TRY(brume_decimal_parse(words->delta, &delta, error));
    if (rule == BRUME_RULE_CONCENTRATED && words->epsilon)
        BRUME_TRY(brume_charge_rho_of_epsilon(&amount, &amount, error));
    return brume_charge_make(rule, &amount, words->delta ? &delta : NULL, out, error);
}

/* What each window pays. With a limit of each window a unit's rows of one window move the totals of
 * that window alone, and the noise is for that change. With one limit for all windows rows of later
 * windows count in the place of those that go, so that a window pays for a unit that is replaced:
 * squares of distances are 2 times as large, and 4 times where values have signs. */
static brume_status find_window_price(series_work *work, const brume_series_spec *spec,
                                      const brume_charge *price, brume_error *error)
{
    bool signs = !spec->is_count && work->plan->values[0].low < 0;
    work->horizon =
        (brume_window_range){spec->first, spec->first + (int64_t)spec->shape.horizon - 1};
    work->window_price = *price;
    if (spec->limit.per_window || work->dataset->adjacency == BRUME_REPLACE)
        return BRUME_OK;
    return brume_window_price_replaced(price, signs ? 4 : 2, &work->window_price, error);
}

/* ---- what is recorded ---- */

static json_t *value_to_json(const brume_value *value)
{
    switch (value->kind) {
    case BRUME_VALUE_BOOLEAN:
        return json_boolean(value->boolean);
    case BRUME_VALUE_NUMBER:
        return value->number == floor(value->number) && fabs(value->number) < 0x1p53
                   ? json_integer((json_int_t)value->number)
                   : json_real(value->number);
    case BRUME_VALUE_TEXT:
        return json_stringn(value->text, value->length);
    default:
        return json_null();
    }
}

/* The keys of each cell. */
static json_t *cells_to_json(const series_work *work)
{
    json_t *all = json_array();
    for (size_t i = 0; i < work->cell_count; i++) {
        json_t *keys = json_array();
        for (size_t k = 0; k < work->key_count; k++) {
            char room[BRUME_KEY_TEXT];
            brume_value value =
                brume_key_formula_value(work->question->query->keys[k].expression->type,
                                        &work->cells[i * work->key_count + k], room, sizeof room);
            json_array_append_new(keys, value_to_json(&value));
        }
        if (json_array_append_new(all, keys) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

/* What the query calls its keys, and its number. */
static json_t *names_to_json(const series_work *work, const char **value)
{
    const brume_query *query = work->question->query;
    json_t *names = json_array();
    for (size_t k = 0; k < work->key_count; k++) {
        char name[24];
        const char *called = name;
        snprintf(name, sizeof name, "key%zu", k + 1);
        for (size_t i = 0; i < query->output_count; i++)
            if (query->outputs[i].value->kind == BRUME_FORMULA_KEY &&
                query->outputs[i].value->index == k)
                called = query->outputs[i].name;
        json_array_append_new(names, json_string(called));
    }
    for (size_t i = 0; i < query->output_count; i++)
        if (query->outputs[i].value->kind == BRUME_FORMULA_AGGREGATE)
            *value = query->outputs[i].name;
    return names;
}

static json_t *cost_to_json(const brume_charge *price)
{
    double amount = brume_decimal_shown_up(&price->amount),
           delta = brume_decimal_shown_up(&price->delta);
    return price->rule == BRUME_RULE_CONCENTRATED
               ? json_pack("{s:n,s:f,s:f}", "epsilon", "delta", delta, "rho", amount)
               : json_pack("{s:f,s:f,s:n}", "epsilon", amount, "delta", delta, "rho");
}

static brume_status make_terms(const brume_series_words *words, const series_work *work,
                               const brume_series_spec *spec, const brume_charge *price,
                               json_t **out, brume_error *error)
{
    char digest[BRUME_DIGEST_TEXT], label[BRUME_WINDOW_LABEL];
    char length[BRUME_WINDOW_TEXT];
    const char *value = "";
    BRUME_TRY(policy_digest(work->dataset, digest, error));
    json_t *window = words->window ? json_string(words->window)
                                   : json_sprintf("%s %s", work->policy->window.column,
                                                  brume_window_length_text(&spec->grid, length));
    json_t *names = names_to_json(work, &value);
    json_t *terms =
        json_pack("{s:s,s:s,s:o,s:s,s:s,s:o,s:o,s:o,s:s,s:s,s:s}", "dataset", work->dataset->name,
                  "sql", words->sql, "window", window, "limit", words->limit, "protects",
                  spec->limit.per_window ? "unit-window" : "unit", "cost", cost_to_json(price),
                  "keys", names, "cells", cells_to_json(work), "value", value, "policy", digest,
                  "first", brume_window_label(&spec->grid, spec->first, label));
    bool good = terms && brume_series_spec_write(spec, terms);
    if (good && work->dataset->has_windows) {
        char last[BRUME_WINDOW_LABEL];
        good =
            json_object_set_new(terms, "windows",
                                json_pack("{s:[[s,s]],s:I,s:o}", "ranges", label,
                                          brume_window_label(&spec->grid, work->horizon.last, last),
                                          "count", (json_int_t)spec->shape.horizon, "price",
                                          cost_to_json(&work->window_price))) == 0;
    }
    if (!good) {
        json_decref(terms);
        return brume_no_memory(error, "a series");
    }
    *out = terms;
    return BRUME_OK;
}

/* ---- opening ---- */

/* How far off totals will be: of the first window, after a year's windows or half, at the end. */
static brume_status errors_to_json(const brume_series_spec *spec, brume_running *running,
                                   json_t **out, brume_error *error)
{
    uint64_t last = spec->shape.horizon - 1;
    double first = 0, end = 0, one = 0;
    BRUME_TRY(brume_series_error_95(spec, running, 0, 0, &first, error));
    BRUME_TRY(brume_series_error_95(spec, running, 0, last, &end, error));
    BRUME_TRY(brume_series_error_95(spec, running, last, last, &one, error));
    *out = json_pack("{s:f,s:f,s:f}", "first_total_95", first, "last_total_95", end,
                     "last_window_95", one);
    return *out ? BRUME_OK : brume_no_memory(error, "a series");
}

static brume_status reserve(brume_ledger *ledger, const brume_series_words *words,
                            const series_work *work, const brume_charge *price, const json_t *terms,
                            brume_error *error)
{
    brume_engine *engine = NULL;
    brume_marks marks = {0};
    uint64_t id = 0;
    BRUME_TRY(brume_question_engine(work->question, &engine, error)); /* that it is there */
    brume_status status = brume_engine_marks(engine, 0, false, &marks, error);
    json_t *events = json_pack("[{s:O}]", "series", json_object_get(terms, "spec"));
    brume_ledger_charge charge = {.dataset = work->dataset->name,
                                  .price = price,
                                  .stated = work->dataset->stated,
                                  .marks = (const char *const *)marks.texts,
                                  .mark_count = marks.count,
                                  .read_mark_count = marks.read_count};
    brume_window_range horizon = work->horizon;
    const brume_window_set windows = {&horizon, 1, false};
    if (work->dataset->has_windows) {
        charge.windows = &windows;
        charge.window_price = &work->window_price;
    }
    brume_reservation reservation = {.charges = &charge,
                                     .charge_count = 1,
                                     .sql = work->question->query->normal,
                                     .typed = words->sql,
                                     .events = events};
    if (status == BRUME_OK)
        status = brume_ledger_series_open(ledger, &reservation, words->name, terms, &id, error);
    json_decref(events);
    brume_marks_clear(&marks);
    brume_engine_close(engine);
    return status;
}

/* What `open` answers. */
static brume_status describe(brume_ledger *ledger, const brume_series_words *words,
                             const brume_series_spec *spec, const json_t *terms, bool opened,
                             json_t *errors, json_t **out, brume_error *error)
{
    char next[BRUME_SERIES_MOMENT], length[BRUME_SERIES_LENGTH];
    brume_dataset *now = NULL;
    json_t *made = json_pack(
        "{s:s,s:O,s:O,s:b,s:O,s:I,s:O,s:O,s:O,s:s,s:O,s:s,s:s,s:b,s:s,s:s}", "series", words->name,
        "dataset", json_object_get(terms, "dataset"), "sql", json_object_get(terms, "sql"),
        "opened", opened, "first", json_object_get(terms, "first"), "horizon",
        (json_int_t)spec->shape.horizon, "limit", json_object_get(terms, "limit"), "protects",
        json_object_get(terms, "protects"), "cost", json_object_get(terms, "cost"), "mechanism",
        spec->noise.rule == BRUME_RULE_PURE          ? "discrete laplace"
        : spec->noise.rule == BRUME_RULE_APPROXIMATE ? "rounded gaussian"
                                                     : "discrete gaussian",
        "errors", errors, "error_covers", "noise", "late_rows", "in part", "cut_known", 0,
        "close_after", brume_series_length(spec->close_after, length), "next",
        brume_series_moment(brume_series_close_of(spec, 0), next));
    brume_status status = made ? BRUME_OK : brume_no_memory(error, "a series");
    if (status == BRUME_OK && opened)
        status = brume_ledger_dataset(ledger, json_string_value(json_object_get(terms, "dataset")),
                                      &now, error);
    const json_t *windows = json_object_get(terms, "windows");
    if (status == BRUME_OK && windows &&
        json_object_set(made, "windows", (json_t *)(uintptr_t)windows) != 0)
        status = brume_no_memory(error, "a series");
    if (status == BRUME_OK && now && !now->no_budget && /* else only windows have something left */
        json_object_set_new(made, "remaining", brume_budget_left(&now->filter)) != 0)
        status = brume_no_memory(error, "a series");
    brume_dataset_close(now);
    if (status != BRUME_OK) {
        json_decref(made);
        return status;
    }
    *out = made;
    return BRUME_OK;
}

/* Everything that is known before the charge. */
static brume_status make_spec(const brume_series_words *words, series_work *work,
                              const brume_charge *price, brume_series_spec *spec,
                              brume_running **running, brume_error *error)
{
    uint64_t horizon = 0;
    BRUME_TRY(read_window(words, work, spec, error));
    BRUME_TRY(read_horizon(words, spec, &horizon, error));
    BRUME_TRY(read_limit(words, work, spec, error));
    BRUME_TRY(check_promise(work, spec, error));
    spec->close_after = words->close_after ? brume_series_seconds(words->close_after)
                        : work->policy->window.close_after > 0 ? work->policy->window.close_after
                                                               : brume_series_seconds("2d");
    if (spec->close_after < 0)
        return brume_fail(error, BRUME_EARGUMENT, "such as 2d or 12h",
                          "'--close-after' must be a number of minutes, hours or days");
    spec->cell_count = work->cell_count;
    if ((double)horizon * (double)work->cell_count > BRUME_SERIES_NUMBERS)
        return brume_fail(error, BRUME_EUNSUPPORTED, "a shorter horizon, or fewer groups",
                          "the series would have more than %d totals", (int)BRUME_SERIES_NUMBERS);
    BRUME_TRY(brume_running_choose(price->rule, horizon, &spec->shape, error));
    BRUME_TRY(brume_running_open(&spec->shape, running, error));
    if (work->dataset->has_windows)
        BRUME_TRY(find_window_price(work, spec, price, error));
    bool sum = !spec->is_count;
    return brume_running_pay(*running, price, spec->limit.most,
                             work->dataset->adjacency == BRUME_REPLACE,
                             sum && work->plan->values[0].low < 0, &spec->noise, error);
}

brume_status brume_series_open(brume_ledger *ledger, const brume_series_words *words, bool dry_run,
                               json_t **out, brume_error *error)
{
    series_work work = {0};
    brume_series_spec spec = {0};
    brume_running *running = NULL;
    brume_charge price;
    json_t *terms = NULL, *errors = NULL;
    brume_payment payment = {.epsilon = words->epsilon, .delta = words->delta, .rho = words->rho};
    brume_status status = open_work(ledger, words->sql, &payment, &work, error);
    if (status == BRUME_OK)
        status = make_charge(words, &work, &price, error);
    if (status == BRUME_OK)
        status = make_spec(words, &work, &price, &spec, &running, error);
    if (status == BRUME_OK)
        status = make_terms(words, &work, &spec, &price, &terms, error);
    if (status == BRUME_OK)
        status = errors_to_json(&spec, running, &errors, error);
    if (status == BRUME_OK && !dry_run)
        status = reserve(ledger, words, &work, &price, terms, error);
    if (status == BRUME_OK)
        status = describe(ledger, words, &spec, terms, !dry_run, errors, out, error);
    json_decref(errors);
    json_decref(terms);
    brume_running_close(running);
    close_work(&work);
    return status;
}

/* ---- reading rows ---- */

typedef struct series_reader {
    const series_work *work;
    const brume_series_spec *spec;
    uint64_t windows; /* rows of later ones are not read */
    brume_hash_key key;
    brume_dictionary units;
    uint64_t rows_seen; /* numbers units where every row is one */
    brume_series_row *rows;
    size_t count, room;
} series_reader;

static brume_key_value key_at(const brume_chunk_column *column, size_t at)
{
    brume_key_value key = {.wire = column->wire, .null = brume_chunk_is_null(column, at)};
    if (key.null)
        return key;
    if (column->wire == BRUME_WIRE_INTEGER)
        key.integer = column->integers[at];
    else if (column->wire == BRUME_WIRE_REAL)
        key.real = column->reals[at] == 0 ? 0 : column->reals[at];
    else
        key.text = column->texts[at];
    return key;
}

/* *hash: of the unit itself, so that the order of its cells does not depend on other units. */
static brume_status find_unit(series_reader *all, const brume_chunk *chunk, size_t at,
                              uint32_t *unit, uint64_t *hash, brume_error *error)
{
    double real;
    size_t length = 0;
    bool added;
    *hash = 0;
    if (!all->work->question->query->unit) {
        *unit = (uint32_t)all->rows_seen++;
        return all->rows_seen < UINT32_MAX
                   ? BRUME_OK
                   : brume_fail(error, BRUME_EOVERFLOW, NULL, "too many rows for a series");
    }
    const void *bytes = brume_chunk_bytes(&chunk->columns[0], at, &real, &length);
    *hash = brume_dictionary_hash(&all->units, bytes, length);
    return brume_dictionary_add(&all->units, *hash, bytes, length, unit, &added, error);
}

static brume_status make_room(series_reader *all, brume_error *error)
{
    if (all->count < all->room)
        return BRUME_OK;
    size_t room = all->room ? 2 * all->room : 4096;
    brume_series_row *rows = realloc(all->rows, room * sizeof *rows);
    if (!rows)
        return brume_no_memory(error, "a series");
    all->rows = rows;
    all->room = room;
    return BRUME_OK;
}

/* A row: unit, window, keys, value. A row without a date, of a window outside, of no declared group
 * or without a value counts nowhere. */
static brume_status take_row(series_reader *all, const brume_chunk *chunk, size_t at,
                             brume_error *error)
{
    const series_work *work = all->work;
    const brume_query *query = work->question->query;
    size_t next = query->unit ? 1 : 0;
    brume_key_value keys[64];
    const brume_chunk_column *dated = &chunk->columns[next++];
    if (brume_chunk_is_null(dated, at))
        return BRUME_OK;
    const brume_window_grid *grid = &all->spec->grid;
    int64_t window = (work->by_instant ? brume_window_of_instant(grid, dated->integers[at])
                                       : brume_window_of_day(grid, dated->integers[at])) -
                     all->spec->first;
    if (window < 0 || (uint64_t)window >= all->windows)
        return BRUME_OK;
    for (size_t k = 0; k < work->key_count; k++)
        keys[k] = key_at(&chunk->columns[next++], at);
    size_t cell = work->key_count ? cell_of(work, keys) : 0;
    if (cell == work->cell_count)
        return BRUME_OK;
    brume_series_row row = {.window = (uint32_t)window, .cell = (uint32_t)cell, .value = 1};
    if (query->aggregates[0].argument) {
        const brume_chunk_column *value = &chunk->columns[next];
        if (brume_chunk_is_null(value, at))
            return BRUME_OK;
        if (!all->spec->is_count)
            row.value = value->integers[at];
    }
    uint64_t words[] = {0, row.cell};
    BRUME_TRY(find_unit(all, chunk, at, &row.unit, &words[0], error));
    BRUME_TRY(make_room(all, error));
    /* Which cell goes first in a window, where not all fit: drawn anew for each unit. */
    row.order = (uint32_t)brume_siphash_words(&all->key, words, 2);
    all->rows[all->count++] = row;
    return BRUME_OK;
}

static brume_status select_rows(series_reader *all, brume_engine *engine, const char *sql,
                                const brume_wire *wires, size_t count, brume_error *error)
{
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    BRUME_TRY(brume_engine_select(engine, sql, wires, count, &rows, error));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && (status = brume_rows_next(rows, &chunk, error)) == BRUME_OK &&
           chunk)
        for (size_t at = 0; status == BRUME_OK && at < chunk->row_count; at++)
            status = take_row(all, chunk, at, error);
    brume_rows_close(rows);
    return status;
}

/* What the engine is asked for, and how it travels. */
static size_t list_columns(const series_work *work, const brume_expression **columns)
{
    const brume_query *query = work->question->query;
    const brume_aggregate *aggregate = &query->aggregates[0];
    size_t count = 0;
    if (query->unit)
        columns[count++] = query->unit;
    columns[count++] = work->window;
    for (size_t k = 0; k < query->key_count; k++)
        columns[count++] = query->keys[k].expression;
    if (aggregate->argument)
        columns[count++] = aggregate->kind == BRUME_AGGREGATE_SUM ? work->plan->values[0].grid
                                                                  : aggregate->argument;
    return count;
}

/* Read all rows of the first `windows` windows and add up what counts of them. */
static brume_status read_totals(series_reader *all, brume_engine *engine, brume_i128 *totals,
                                brume_error *error)
{
    const brume_expression *columns[80];
    brume_wire wires[80];
    char *sql = NULL;
    const char *table = brume_engine_table(engine, 0);
    size_t count = list_columns(all->work, columns);
    for (size_t i = 0; i < count; i++)
        wires[i] = brume_type_wire(columns[i]->type);
    brume_status status = brume_query_print_rows(all->work->question->query,
                                                 brume_engine_dialect(engine), &table, columns,
                                                 count, &sql, error);
    if (status == BRUME_OK)
        status = select_rows(all, engine, sql, wires, count, error);
    if (status == BRUME_OK)
        brume_series_limit_rows(all->rows, all->count, &all->spec->limit, totals, all->windows);
    free(sql);
    return status;
}

/* ---- publishing ---- */

static json_t *wide_to_json(brume_i128 value)
{
    char digits[48];
    size_t at = sizeof digits - 1;
    brume_u128 left = value < 0 ? -(brume_u128)value : (brume_u128)value;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left);
    if (value < 0)
        digits[--at] = '-';
    return json_string(&digits[at]);
}

/* Encode and draw the windows from `first` on, each with its own noise: [window by window, cell by
 * cell, number by number]. True numbers end here. */
static brume_status draw_windows(const brume_series_spec *spec, brume_running *running,
                                 const brume_i128 *totals, uint64_t first, uint64_t windows,
                                 brume_bits *bits, json_t **out, brume_error *error)
{
    size_t before = brume_running_numbers_before(running, first), at = 0;
    size_t count = (brume_running_numbers_before(running, windows) - before) * spec->cell_count;
    brume_i128 *numbers = calloc(count + 1, sizeof *numbers);
    json_t *all = json_array();
    brume_status status = numbers && all ? BRUME_OK : brume_no_memory(error, "a series");
    for (uint64_t t = first; status == BRUME_OK && t < windows; t++)
        for (size_t cell = 0; cell < spec->cell_count; cell++) {
            brume_running_encode(running, t, &totals[cell * windows], &numbers[at]);
            at += brume_running_numbers(running, t);
        }
    if (status == BRUME_OK)
        status = brume_running_draw(&spec->noise, bits, numbers, count, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        if (json_array_append_new(all, wide_to_json(numbers[i])) != 0)
            status = brume_no_memory(error, "a series");
    free(numbers);
    if (status != BRUME_OK) {
        json_decref(all);
        return status;
    }
    *out = all;
    return BRUME_OK;
}

static void free_reader(series_reader *reader)
{
    free(reader->rows);
    brume_dictionary_clear(&reader->units);
}

static brume_status read_and_draw(const series_work *work, const brume_series_spec *spec,
                                  brume_engine *engine, brume_bits *bits, uint64_t first,
                                  uint64_t windows, json_t **out, brume_error *error)
{
    uint64_t words[4];
    brume_running *running = NULL;
    series_reader reader = {.work = work, .spec = spec, .windows = windows};
    BRUME_TRY(brume_bits_words(bits, words, 4, error));
    brume_hash_key table = {{words[2], words[3]}};
    reader.key = (brume_hash_key){{words[0], words[1]}};
    BRUME_TRY(brume_running_open(&spec->shape, &running, error));
    brume_dictionary_make(&reader.units, &table, 0);
    brume_i128 *totals = calloc(spec->cell_count * windows, sizeof *totals);
    brume_status status = totals ? BRUME_OK : brume_no_memory(error, "a series");
    if (status == BRUME_OK)
        status = read_totals(&reader, engine, totals, error);
    if (status == BRUME_OK)
        status = draw_windows(spec, running, totals, first, windows, bits, out, error);
    free(totals);
    free_reader(&reader);
    brume_running_close(running);
    return status;
}

/* Rows of windows that the series has not paid for are not read, as with any question. */
static brume_status cut_to_horizon(series_work *work, const brume_series_spec *spec,
                                   brume_error *error)
{
    char first[BRUME_WINDOW_LABEL], last[BRUME_WINDOW_LABEL], windows[2 * BRUME_WINDOW_LABEL + 4];
    int64_t end = spec->first + (int64_t)spec->shape.horizon;
    snprintf(windows, sizeof windows, "%s..%s", brume_window_label(&spec->grid, spec->first, first),
             brume_window_label(&spec->grid, end - 1, last));
    const brume_window_wish wish = {windows, brume_window_first_instant(&spec->grid, end)};
    return brume_touched_find(work->question->query, work->question->tables, &wish,
                              &work->question->touched, error);
}

/* The series as it is recorded, for reading: its question under the policy of today, which must
 * mean what it meant. */
static brume_status reopen(brume_ledger *ledger, const json_t *series, series_work *work,
                           brume_series_spec *spec, brume_error *error)
{
    const json_t *terms = json_object_get(series, "terms");
    const char *sql = json_string_value(json_object_get(terms, "sql"));
    const char *window = json_string_value(json_object_get(terms, "window"));
    const char *policy = json_string_value(json_object_get(terms, "policy"));
    const char *name = json_string_value(json_object_get(series, "name"));
    char digest[BRUME_DIGEST_TEXT], column[128];
    /* any price that the rule takes: neither values nor keys depend on it */
    brume_payment payment = {.epsilon = "1", .delta = "1e-6"};
    BRUME_TRY(brume_series_spec_read(terms, spec, error));
    if (spec->noise.rule != BRUME_RULE_APPROXIMATE)
        payment.delta = NULL;
    if (!sql || !window || !policy)
        return brume_fail(error, BRUME_EDAMAGED, NULL, "what a series is cannot be read");
    BRUME_TRY(open_work(ledger, sql, &payment, work, error));
    BRUME_TRY(policy_digest(work->dataset, digest, error));
    if (strcmp(digest, policy) != 0 || work->cell_count != spec->cell_count)
        return brume_fail(error, BRUME_EPOLICY, "its totals stay; open a new one, which is charged",
                          "the policy of '%s' was amended, so the series '%s' has ended",
                          work->dataset->name, name);
    snprintf(column, sizeof column, "%.*s", (int)strcspn(window, " "), window);
    if (work->policy->window.place)
        BRUME_TRY(cut_to_horizon(work, spec, error));
    return find_window_column(work,
                              work->policy->window.place ? work->policy->window.column : column,
                              &spec->grid, error);
}

/* Read, draw and record the windows from `first` on. */
static brume_status publish(brume_ledger *ledger, const json_t *series, const series_work *work,
                            const brume_series_spec *spec, uint64_t first, uint64_t windows,
                            brume_bits *bits, const brume_watch *watch, brume_error *error)
{
    brume_engine *engine = NULL;
    brume_marks marks = {0};
    json_t *numbers = NULL;
    BRUME_TRY(brume_question_engine(work->question, &engine, error));
    if (watch)
        watch->enter(watch->context, BRUME_PHASE_RUNNING, engine);
    brume_status status = brume_engine_marks(engine, 0, false, &marks, error);
    if (status == BRUME_OK)
        status = read_and_draw(work, spec, engine, bits, first, windows, &numbers, error);
    if (watch) /* a server waits here for a time that says nothing of rows (serve/closer.h) */
        watch->enter(watch->context, BRUME_PHASE_SPENT, NULL);
    const char *stopped = watch ? watch->stopped(watch->context) : NULL;
    if (stopped)
        status = brume_fail(error, BRUME_ECANCELLED, "the next update catches up",
                            "%s; nothing was recorded", stopped);
    if (watch)
        watch->enter(watch->context, BRUME_PHASE_FREE, NULL);
    brume_ledger_charge source = {.dataset = work->dataset->name,
                                  .stated = work->dataset->stated,
                                  .marks = (const char *const *)marks.texts,
                                  .mark_count = marks.count,
                                  .read_mark_count = marks.read_count};
    if (status == BRUME_OK)
        status =
            brume_ledger_series_add(ledger, series, first, windows - 1, numbers, &source, error);
    json_decref(numbers);
    brume_marks_clear(&marks);
    brume_engine_close(engine);
    return status;
}

/* What `update` answers: by the record, not by what was drawn. */
static brume_status tell_update(brume_ledger *ledger, const char *name,
                                const brume_series_spec *spec, uint64_t before, json_t **out,
                                brume_error *error)
{
    json_t *series = NULL;
    char label[BRUME_WINDOW_LABEL] = "", next[BRUME_SERIES_MOMENT] = "";
    BRUME_TRY(brume_ledger_series(ledger, name, &series, error));
    uint64_t closed = (uint64_t)json_integer_value(json_object_get(series, "closed"));
    json_decref(series);
    if (closed > 0)
        brume_window_label(&spec->grid, spec->first + (int64_t)closed - 1, label);
    if (closed < spec->shape.horizon)
        brume_series_moment(brume_series_close_of(spec, closed), next);
    *out = json_pack("{s:s,s:I,s:s?,s:s?}", "series", name, "published",
                     (json_int_t)(closed - before), "closed_until", closed ? label : NULL, "next",
                     *next ? next : NULL);
    return *out ? BRUME_OK : brume_no_memory(error, "a series");
}

brume_status brume_series_update(brume_ledger *ledger, const char *name, brume_bits *bits,
                                 const brume_watch *watch, json_t **out, brume_error *error)
{
    json_t *series = NULL;
    series_work work = {0};
    brume_series_spec spec;
    BRUME_TRY(brume_ledger_series(ledger, name, &series, error));
    uint64_t before = (uint64_t)json_integer_value(json_object_get(series, "closed"));
    brume_status status = brume_series_spec_read(json_object_get(series, "terms"), &spec, error);
    uint64_t windows = status == BRUME_OK ? brume_series_closed_at(&spec, brume_touched_now()) : 0;
    if (status == BRUME_OK && json_is_true(json_object_get(series, "ended")))
        status = brume_fail(error, BRUME_EPOLICY, "its totals stay: 'brume series show'",
                            "the series '%s' has ended", name);
    if (status == BRUME_OK && windows > before) {
        status = reopen(ledger, series, &work, &spec, error);
        if (status == BRUME_OK)
            status = publish(ledger, series, &work, &spec, before, windows, bits, watch, error);
    }
    if (status == BRUME_OK)
        status = tell_update(ledger, name, &spec, before, out, error);
    close_work(&work);
    json_decref(series);
    return status;
}

brume_status brume_series_end(brume_ledger *ledger, const char *name, brume_error *error)
{
    return brume_ledger_series_end(ledger, name, "by its owner", error);
}
