/* Queries in stages: see the header. The scalar subqueries of a query are asked first, and then the
 * query with what was released of them as constants.
 *
 * 1. Every stage is a query by itself: planned, reserved, recorded, and free when it is asked
 *    again. A later one is chosen by what an earlier one released: adaptive composition, which the
 *    budgets' filters allow (proofs/filters.md).
 * 2. The price typed is split equally over the stages that cost anything; the parts add up to it.
 *    Stages of public tables are exact and free. A subquery that stands there twice is one stage.
 * 3. All stages are rehearsed before the first is charged, later ones with any number in the place
 *    of what is not yet known: what is accepted does not depend on it, because a constant in a
 *    condition, or in an output, has no part in bounds or keys. What is left of the budgets must
 *    carry all of them. */
#include "query/release/stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/user.h"
#include "query/plan/question.h"
#include "query/release/ask.h"
#include "query/release/explain.h"
#include "query/release/spend.h"
#include "query/sql/scalar.h"

/* Do the budgets and allotments carry all stages of a query? See the header. */

/* What is left of a dataset's budget, and of the user's allotment on it, after the stages that were
 * counted so far. */
typedef struct budget_rest {
    char *dataset;
    brume_decimal left;
    size_t last_stage;          /* the last that took its price from it: 1 + its place */
    brume_window_rest *windows; /* NULL: nothing was asked of its windows so far */
} budget_rest;

typedef struct rests {
    budget_rest *list;
    size_t count;
    const char *what;
} rests;

static void free_rests(rests *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->list[i].dataset);
        brume_window_rest_close(all->list[i].windows);
    }
    free(all->list);
}

static brume_status find_rest(rests *all, brume_ledger *ledger, const brume_dataset *dataset,
                              budget_rest **found, brume_error *error)
{
    brume_charge left;
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].dataset, dataset->name) == 0) {
            *found = &all->list[i];
            return BRUME_OK;
        }
    BRUME_TRY(brume_ledger_left(ledger, dataset, &left, error));
    budget_rest *list = realloc(all->list, (all->count + 1) * sizeof *list);
    if (!list)
        return brume_no_memory(error, "a query");
    all->list = list;
    list[all->count] = (budget_rest){.dataset = strdup(dataset->name), .left = left.amount};
    if (!list[all->count].dataset)
        return brume_no_memory(error, "a query");
    *found = &list[all->count++];
    return BRUME_OK;
}

/* The windows of a dataset that an explanation names, and what each of them pays. */
static const json_t *windows_of(const json_t *windows, const char *dataset)
{
    const json_t *others = json_object_get(windows, "others");
    for (size_t i = 0; i <= json_array_size(others); i++) {
        const json_t *one = i == 0 ? windows : json_array_get(others, i - 1);
        const char *name = json_string_value(json_object_get(one, "dataset"));
        if (name && strcmp(name, dataset) == 0)
            return one;
    }
    return NULL;
}

/* Rounded down: the charge itself is exact, this only must not refuse what it would take. */
static void print_down(double amount, char text[BRUME_DECIMAL_TEXT])
{
    snprintf(text, BRUME_DECIMAL_TEXT, "%.25f", amount * (1 - 1e-12));
}

static brume_status read_windows(const brume_dataset *dataset, const json_t *windows,
                                 brume_window_set *set, brume_error *error)
{
    brume_window_grid grid;
    const char **values = NULL;
    const json_t *ranges = json_object_get(windows, "ranges");
    if (!brume_dataset_grid(dataset->policy, &grid, &values))
        return brume_no_memory(error, "a query");
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < json_array_size(ranges); i++) {
        const json_t *range = json_array_get(ranges, i);
        int64_t first = 0, last = 0;
        status =
            brume_window_parse(&grid, json_string_value(json_array_get(range, 0)), &first, error);
        if (status == BRUME_OK)
            status = brume_window_parse(&grid, json_string_value(json_array_get(range, 1)), &last,
                                        error);
        if (status == BRUME_OK)
            status = brume_window_set_add(set, first, last, error);
    }
    set->undated = json_is_true(json_object_get(windows, "undated"));
    free(values);
    return status;
}

/* Take what a stage pays of the windows that it touches. */
static brume_status take_windows(budget_rest *one, brume_ledger *ledger,
                                 const brume_dataset *dataset, const json_t *windows,
                                 const char *what, brume_error *error)
{
    const json_t *price = json_object_get(windows, "price"), *rho = json_object_get(price, "rho");
    brume_charge charge = {.rule = dataset->filter.rule};
    char text[BRUME_DECIMAL_TEXT];
    brume_window_set set = {0};
    print_down(json_number_value(json_is_number(rho) ? rho : json_object_get(price, "epsilon")),
               text);
    BRUME_TRY(brume_decimal_parse(text, &charge.amount, error));
    print_down(json_number_value(json_object_get(price, "delta")), text);
    BRUME_TRY(brume_decimal_parse(text, &charge.delta, error));
    if (!one->windows)
        BRUME_TRY(brume_window_rest_open(ledger, dataset, &one->windows, error));
    brume_status status = read_windows(dataset, windows, &set, error);
    if (status == BRUME_OK)
        status = brume_window_rest_take(one->windows, dataset, &set, &charge, what, error);
    brume_window_set_free(&set);
    return status;
}

/* Take the price of a stage from all datasets that it reads, once from each. */
static brume_status take(rests *all, brume_ledger *ledger, const brume_question *question,
                         size_t stage, const brume_stage_price *price, const brume_decimal *amount,
                         brume_error *error)
{
    const brume_query *query = question->query;
    for (size_t i = 0; query && i < query->table_count; i++) {
        const brume_dataset *dataset = question->datasets[query->tables[i].table];
        const json_t *windows = windows_of(price->windows, dataset->name);
        budget_rest *one = NULL;
        BRUME_TRY(find_rest(all, ledger, dataset, &one, error));
        if (one->last_stage == stage + 1)
            continue;
        one->last_stage = stage + 1;
        if (windows)
            BRUME_TRY(take_windows(one, ledger, dataset, windows, all->what, error));
        if (dataset->no_budget || /* of whole histories: the windows have theirs */
            (dataset->filter.rule == BRUME_RULE_CONCENTRATED && price->payment->epsilon))
            continue;
        if (brume_decimal_compare(&one->left, amount) < 0)
            return brume_fail(error, BRUME_EBUDGET, "pay less; nothing was spent",
                              "what may be spent of '%s' does not carry all %s", dataset->name,
                              all->what);
        BRUME_TRY(brume_decimal_subtract(&one->left, amount, &one->left, error));
    }
    return BRUME_OK;
}

/* EBUDGET, which names the dataset, if one does not carry what the stages take of it together. A
 * price in epsilon on a budget in rho, and a stage that has stages itself, are left to the charge.
 */
brume_status brume_stages_check_budget(brume_ledger *ledger, const brume_stage_price *list,
                                       size_t count, const char *what, brume_error *error)
{
    rests all = {.what = what};
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        const brume_payment *payment = list[i].payment;
        const char *typed = payment->epsilon ? payment->epsilon : payment->rho;
        brume_question *question = NULL;
        brume_decimal amount;
        brume_error ignored;
        status = brume_decimal_parse(typed ? typed : "0", &amount, error);
        if (status == BRUME_OK &&
            brume_question_open_any(ledger, list[i].sql, &question, &ignored) == BRUME_OK)
            status = take(&all, ledger, question, i, &list[i], &amount, error);
        brume_question_close(question);
    }
    free_rests(&all);
    return status;
}

/* ---- several statements ---- */

typedef struct priced_list {
    brume_stage_price *list;
    brume_payment *payments;
    char (*texts)[BRUME_DECIMAL_TEXT];
    size_t count, room;
    json_t *seen;
} priced_list;

/* What is recorded is free, and what stands there twice is paid once. */
static brume_status add_priced(priced_list *all, const char *sql, const json_t *explained,
                               brume_error *error)
{
    const json_t *cost = json_object_get(explained, "cost"), *rho = json_object_get(cost, "rho");
    double amount = json_number_value(json_is_number(rho) ? rho : json_object_get(cost, "epsilon"));
    json_t *key = json_pack("[O?,O?]", json_object_get(explained, "normal"), cost);
    char *text = key ? json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(key);
    if (!text)
        return brume_no_memory(error, "a query");
    if (sql && amount > 0 && !json_is_true(json_object_get(explained, "recorded")) &&
        !json_object_get(all->seen, text) && all->count < all->room) {
        /* rounded down: the charge itself is exact, this only must not refuse what it would take */
        snprintf(all->texts[all->count], sizeof all->texts[0], "%.15f", amount * (1 - 1e-12));
        if (json_is_number(rho))
            all->payments[all->count].rho = all->texts[all->count];
        else
            all->payments[all->count].epsilon = all->texts[all->count];
        all->list[all->count] = (brume_stage_price){sql, &all->payments[all->count],
                                                    json_object_get(explained, "windows")};
        all->count++;
    }
    json_object_set_new(all->seen, text, json_true());
    free(text);
    return BRUME_OK;
}

brume_status brume_check_budget(brume_ledger *ledger, char *const *statements,
                                const json_t *explained, brume_error *error)
{
    priced_list all = {.seen = json_object()};
    size_t count = json_array_size(explained);
    for (size_t i = 0; i < count; i++)
        all.room += 1 + json_array_size(json_object_get(json_array_get(explained, i), "stages"));
    all.list = calloc(all.room + 1, sizeof *all.list);
    all.payments = calloc(all.room + 1, sizeof *all.payments);
    all.texts = calloc(all.room + 1, sizeof *all.texts);
    brume_status status = all.seen && all.list && all.payments && all.texts
                              ? BRUME_OK
                              : brume_no_memory(error, "a query");
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        const json_t *one = json_array_get(explained, i), *stages = json_object_get(one, "stages");
        if (json_array_size(stages) == 0)
            status = add_priced(&all, statements[i], one, error);
        for (size_t j = 0; status == BRUME_OK && j < json_array_size(stages); j++) {
            const json_t *stage = json_array_get(stages, j);
            status =
                add_priced(&all, json_string_value(json_object_get(stage, "sql")), stage, error);
        }
    }
    if (status == BRUME_OK)
        status =
            brume_stages_check_budget(ledger, all.list, all.count, "statements together", error);
    json_decref(all.seen);
    free(all.list);
    free(all.payments);
    free(all.texts);
    return status;
}

typedef struct stage {
    bool is_public;
    bool repeated;    /* the same text as an earlier stage: its answer is used again, for nothing */
    const char *type; /* what it is as a constant: "double precision", "date", "timestamp" */
    char *value;      /* as it stands in the query */
    char *name;       /* of its output; NULL: not known */
} stage;

typedef struct stages {
    brume_ledger *ledger;
    const char *sql;
    const brume_public_asker *elsewhere;
    brume_scalar *scalars;
    stage *list;
    size_t count, paid_count; /* those that cost something */
    bool in_engine; /* the query itself reads public tables alone, and an engine runs it */
    brume_payment first, last; /* of each of these, and of the query itself */
    char texts[6][BRUME_DECIMAL_TEXT];
} stages;

/* Has the query scalar subqueries that are to be asked first? Not where all its tables are public:
 * then the engine computes them. */
static brume_status stages_needed(brume_ledger *ledger, const char *sql, bool *needed,
                                  brume_error *error)
{
    brume_scalar *scalars = NULL;
    size_t count = 0;
    brume_question *question = NULL;
    brume_error ignored;
    *needed = false;
    brume_status status = brume_scalars_find(sql, &scalars, &count, error);
    if (status != BRUME_OK || count > 0) {
        bool open = brume_question_open_any(ledger, sql, &question, &ignored) == BRUME_OK;
        *needed = !(open && question->open_query);
        brume_question_close(question);
        if (!*needed)
            status = BRUME_OK;
    }
    brume_scalars_free(scalars, count);
    return status;
}

/* ---- the price ---- */

static brume_status split_payment(stages *all, const brume_payment *payment, brume_error *error)
{
    const char *const typed[] = {payment->epsilon, payment->delta, payment->rho};
    const char **const first[] = {&all->first.epsilon, &all->first.delta, &all->first.rho};
    const char **const last[] = {&all->last.epsilon, &all->last.delta, &all->last.rho};
    all->first = all->last = *payment;
    all->first.limit_count = 0; /* limits that are typed are those of the query itself */
    if (payment->limits_only)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask with 'brume query'",
                          "limits alone cannot be bought for a query with scalar subqueries");
    size_t parts = all->paid_count + !all->in_engine; /* one that an engine runs is free */
    for (int i = 0; i < 3 && parts > 1; i++)
        if (typed[i]) {
            BRUME_TRY(brume_spend_split(typed[i], parts, all->texts[2 * i], all->texts[2 * i + 1],
                                        error));
            *first[i] = all->texts[2 * i];
            *last[i] = all->texts[2 * i + 1];
        }
    return BRUME_OK;
}

/* ---- what there is ---- */

static void close_stages(stages *all)
{
    for (size_t i = 0; all->list && i < all->count; i++) {
        free(all->list[i].value);
        free(all->list[i].name);
    }
    brume_scalars_free(all->scalars, all->count);
    free(all->list);
}

/* What a stage is as a constant, known from its question. */
static brume_status find_type(stages *all, size_t i, brume_error *error)
{
    stage *one = &all->list[i];
    brume_question *question = NULL;
    bool nested = false;
    one->type = "double precision";
    BRUME_TRY(stages_needed(all->ledger, all->scalars[i].sql, &nested, error));
    if (nested) /* an aggregate of numbers: what is left to say is said when it is explained */
        return BRUME_OK;
    brume_status status =
        brume_question_open_any(all->ledger, all->scalars[i].sql, &question, error);
    if (status == BRUME_EUNKNOWN) {
        char why[200];
        snprintf(why, sizeof why, "%.190s", error ? error->message : "");
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "it is asked first, and cannot name the columns of the query around it",
                          "a subquery in an expression must be a query by itself: %s", why);
    }
    if (status != BRUME_OK)
        return status;
    one->is_public = question->open_query != NULL;
    one->name =
        strdup(one->is_public ? question->open_query->names[0] : question->query->outputs[0].name);
    if (!one->name)
        status = brume_no_memory(error, "a query");
    if (!one->is_public) {
        const brume_formula *shown = question->query->outputs[0].value;
        bool mode = shown->kind == BRUME_FORMULA_AGGREGATE &&
                    question->query->aggregates[shown->index].kind == BRUME_AGGREGATE_MODE;
        if (mode)
            status = brume_fail(error, BRUME_EUNSUPPORTED, "ask for the mode first",
                                "a mode cannot be a scalar subquery");
        bool moment = shown->kind == BRUME_FORMULA_DATE || shown->kind == BRUME_FORMULA_TIMESTAMP;
        if (!mode && !moment && !brume_scalar_is_number(shown))
            status = brume_scalar_no_number(error);
        if (moment && all->scalars[i].shown)
            status = brume_fail(error, BRUME_EUNSUPPORTED, "ask for it in a query of its own",
                                "a scalar subquery of dates cannot be a part of an output");
        one->type = shown->kind == BRUME_FORMULA_DATE        ? "date"
                    : shown->kind == BRUME_FORMULA_TIMESTAMP ? "timestamp"
                                                             : one->type;
    }
    brume_question_close(question);
    return status;
}

/* Stages of public tables are asked at once: they are free, and no row that needs protection is
 * read. */
static brume_status ask_public(stages *all, stage *one, const char *sql, brume_error *error)
{
    brume_query_answer *answer = NULL;
    const brume_payment nothing = {.elsewhere = all->elsewhere};
    BRUME_TRY(brume_stages_ask(all->ledger, sql, &nothing, NULL, NULL, NULL, &answer, error));
    brume_status status = answer->row_count == 1 && answer->column_count == 1
                              ? brume_scalar_public(&answer->values[0], &one->value, error)
                              : brume_scalar_constant(one->type, NULL, &one->value, error);
    brume_query_answer_close(answer);
    return status;
}

/* Any number or date, in the places of what is not known yet. */
static brume_status put_anything(const stages *all, brume_error *error)
{
    static const brume_value zero = {.kind = BRUME_VALUE_NUMBER, .number = 0};
    for (size_t i = 0; i < all->count; i++) {
        stage *one = &all->list[i];
        bool number = strcmp(one->type, "double precision") == 0;
        if (one->is_public)
            continue;
        BRUME_TRY(all->scalars[i].shown && !all->in_engine
                      ? brume_scalar_shown(&zero, 0, &one->value, error)
                      : brume_scalar_constant(one->type, number ? "0" : "2000-01-01", &one->value,
                                              error));
    }
    return BRUME_OK;
}

static brume_status fill_in(const stages *all, char **sql, brume_error *error);

/* Does an engine run the query itself? Its text then has plain constants. */
static brume_status find_place(stages *all, brume_error *error)
{
    brume_question *question = NULL;
    brume_error ignored;
    char *sql = NULL;
    all->in_engine = true;
    BRUME_TRY(put_anything(all, error));
    BRUME_TRY(fill_in(all, &sql, error));
    bool open = brume_question_open_any(all->ledger, sql, &question, &ignored) == BRUME_OK;
    all->in_engine = open && question->open_query;
    brume_question_close(question);
    free(sql);
    return put_anything(all, error);
}

static brume_status open_stages(stages *all, const brume_payment *payment, brume_error *error)
{
    BRUME_TRY(brume_scalars_find(all->sql, &all->scalars, &all->count, error));
    all->list = calloc(all->count + 1, sizeof *all->list);
    if (!all->list)
        return brume_no_memory(error, "a query");
    for (size_t i = 0; i < all->count; i++) {
        BRUME_TRY(find_type(all, i, error));
        stage *one = &all->list[i];
        for (size_t j = 0; j < i; j++)
            one->repeated = one->repeated || strcmp(all->scalars[j].sql, all->scalars[i].sql) == 0;
        all->paid_count += !one->is_public && !one->repeated;
        if (one->is_public) /* also to explain: its value may decide which keys there are */
            BRUME_TRY(ask_public(all, one, all->scalars[i].sql, error));
    }
    BRUME_TRY(find_place(all, error));
    return split_payment(all, payment, error);
}

/* The query with the values that are known so far. */
static brume_status fill_in(const stages *all, char **sql, brume_error *error)
{
    const char **values = calloc(2 * all->count + 1, sizeof *values);
    for (size_t i = 0; values && i < all->count; i++) {
        values[i] = all->list[i].value;
        values[all->count + i] = all->list[i].name;
    }
    *sql = values ? brume_scalars_replace(all->sql, all->scalars, all->count, values,
                                          values + all->count)
                  : NULL;
    free(values);
    return *sql ? BRUME_OK : brume_no_memory(error, "a query");
}

/* ---- explaining ---- */

static void add_number(json_t *cost, const json_t *more, const char *name)
{
    const json_t *a = json_object_get(cost, name), *b = json_object_get(more, name);
    if (json_is_number(b)) /* of public tables there is no rho: 0 */
        json_object_set_new(cost, name,
                            json_real(brume_spend_add(json_number_value(a), json_number_value(b))));
}

static brume_status explain_all(stages *all, json_t **explanation, brume_error *error)
{
    json_t *list = json_array(), *made = NULL;
    char *sql = NULL;
    brume_status status = list ? fill_in(all, &sql, error) : brume_no_memory(error, "a query");
    for (size_t i = 0; status == BRUME_OK && i < all->count; i++) {
        json_t *one = NULL;
        status =
            brume_stages_explain(all->ledger, all->scalars[i].sql, &all->first, NULL, &one, error);
        if (status == BRUME_OK && json_array_append_new(list, one) != 0)
            status = brume_no_memory(error, "a query");
    }
    if (status == BRUME_OK)
        status = brume_stages_explain(all->ledger, sql, &all->last, NULL, &made, error);
    if (status == BRUME_OK && all->in_engine && all->paid_count > 0)
        status = brume_explain_paid(all->ledger, sql, made, error);
    free(sql);
    if (status != BRUME_OK) {
        json_decref(list);
        json_decref(made);
        return status;
    }
    for (size_t i = 0; i < all->count; i++)
        for (int j = 0; j < 3 && !all->list[i].repeated; j++) {
            static const char *const names[] = {"epsilon", "delta", "rho"};
            add_number(json_object_get(made, "cost"),
                       json_object_get(json_array_get(list, i), "cost"), names[j]);
        }
    json_object_set_new(made, "sql", json_string(all->sql));
    json_object_set_new(made, "stages", list);
    json_object_set_new(made, "recorded", json_false()); /* what is asked last is not known yet */
    *explanation = made;
    return BRUME_OK;
}

static brume_status explain_stages(brume_ledger *ledger, const char *sql,
                                   const brume_payment *payment, json_t **explanation,
                                   brume_error *error)
{
    stages all = {.ledger = ledger, .sql = sql, .elsewhere = payment->elsewhere};
    brume_status status = open_stages(&all, payment, error);
    if (status == BRUME_OK)
        status = explain_all(&all, explanation, error);
    close_stages(&all);
    return status;
}

/* ---- asking ---- */

/* The budgets must carry the stages that are to be paid. Nothing has to be carried where all of
 * them are recorded: then the query itself is the first that may cost something. */
static brume_status check_budget(const stages *all, const json_t *explanation, brume_error *error)
{
    const json_t *explained = json_object_get(explanation, "stages");
    brume_stage_price *list = calloc(all->count + 1, sizeof *list);
    size_t count = 0;
    char *sql = NULL;
    brume_status status = list ? fill_in(all, &sql, error) : brume_no_memory(error, "a query");
    for (size_t i = 0; status == BRUME_OK && i < all->count; i++) {
        const stage *one = &all->list[i];
        const json_t *recorded = json_object_get(json_array_get(explained, i), "recorded");
        if (!one->is_public && !one->repeated && !json_is_true(recorded))
            list[count++] = (brume_stage_price){all->scalars[i].sql, &all->first, NULL};
    }
    if (status == BRUME_OK && count > 0) {
        list[count++] = (brume_stage_price){sql, &all->last, NULL};
        status = brume_stages_check_budget(all->ledger, list, count, "stages of the query", error);
    }
    free(sql);
    free(list);
    return status;
}

/* What its noise, and what was cut of it, moved it by at most; infinite: that is not known. */
static double bar_of(const brume_query_answer *answer)
{
    const brume_answer_column *column = &answer->columns[0];
    const brume_value *ends = brume_query_answer_interval(answer, 0), *value = &answer->values[0];
    if (ends && value->kind == BRUME_VALUE_NUMBER && ends[0].kind == BRUME_VALUE_NUMBER)
        return fmax(value->number - ends[0].number, ends[1].number - value->number);
    if (column->cut_not_known || !isfinite(answer->errors[0]))
        return INFINITY;
    return answer->errors[0] + fmax(0, column->cut_allowance); /* NaN: nobody counted */
}

/* What the stages cost together, what is left at least, and whether all are recorded ones. */
typedef struct paid {
    brume_answer_price cost, left;
    bool cached;
} paid;

/* Ask stage i; its value, its cost and its line of the list. */
static brume_status ask_stage(stages *all, size_t i, brume_bits *bits, const brume_watch *watch,
                              json_t *list, paid *so_far, brume_error *error)
{
    brume_query_answer *answer = NULL;
    brume_payment payment = all->first;
    if (all->list[i].repeated) { /* by the answer that is recorded now, however it was paid for */
        payment.fresh = false;
        payment.max_age = 0;
    }
    BRUME_TRY(brume_stages_ask(all->ledger, all->scalars[i].sql, &payment, NULL, bits, watch,
                               &answer, error));
    brume_status status = BRUME_OK;
    if (answer->row_count != 1 || answer->column_count != 1)
        status = brume_fail(error, BRUME_EUNSUPPORTED, NULL, "a scalar subquery has one value");
    else if (json_array_append_new(list, brume_query_answer_stage(answer, all->scalars[i].sql)) !=
             0)
        status = brume_no_memory(error, "the answer");
    else if (!answer->is_public && all->scalars[i].shown && !all->in_engine)
        status = brume_scalar_shown(&answer->values[0], bar_of(answer), &all->list[i].value, error);
    else if (!answer->is_public)
        status = brume_scalar_released(all->list[i].type, &answer->values[0], &all->list[i].value,
                                       error);
    if (!answer->is_public && !all->list[i].repeated) {
        brume_answer_price *cost = &so_far->cost;
        if (!(cost->amount > 0) || answer->remaining.amount < so_far->left.amount)
            so_far->left = answer->remaining;
        *cost = (brume_answer_price){answer->cost.concentrated,
                                     brume_spend_add(cost->amount, answer->cost.amount),
                                     brume_spend_add(cost->delta, answer->cost.delta)};
        so_far->cached = so_far->cached && answer->cached;
    }
    brume_query_answer_close(answer);
    return status;
}

void brume_stages_cut_unspent(brume_error *error)
{
    char *texts[] = {error->message, error->hint};
    for (size_t i = 0; i < 2; i++) {
        char *nothing = strstr(texts[i], "; nothing was spent");
        if (nothing)
            *nothing = 0;
    }
}

/* A later stage failed, and says of itself whether it was paid for; so were those before it. */
static void say_spent(const brume_answer_price *before, brume_error *error)
{
    if (!error || !(before->amount > 0))
        return;
    brume_stages_cut_unspent(error);
    size_t at = strlen(error->message);
    snprintf(error->message + at, sizeof error->message - at,
             "; the price of the stages before it stays spent");
}

static brume_status ask_all(stages *all, brume_bits *bits, const brume_watch *watch, json_t *list,
                            brume_query_answer **answer, brume_error *error)
{
    paid before = {.cached = true};
    char *sql = NULL;
    brume_query_answer *made = NULL;
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < all->count; i++)
        status = ask_stage(all, i, bits, watch, list, &before, error);
    if (status == BRUME_OK)
        status = fill_in(all, &sql, error);
    if (status == BRUME_OK)
        status = brume_stages_ask(all->ledger, sql, &all->last, NULL, bits, watch, &made, error);
    free(sql);
    if (status != BRUME_OK) {
        say_spent(&before.cost, error);
        return status;
    }
    if (made->is_public && before.cost.amount > 0) { /* only the query itself was free */
        made->is_public = false;
        made->cost = before.cost;
        made->remaining = before.left;
        made->cached = before.cached;
    } else {
        made->cost.amount = brume_spend_add(made->cost.amount, before.cost.amount);
        made->cost.delta = brume_spend_add(made->cost.delta, before.cost.delta);
        made->cached = made->cached && before.cached;
    }
    made->stages = json_incref(list);
    *answer = made;
    return BRUME_OK;
}

static brume_status ask_stages(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                               brume_bits *bits, const brume_watch *watch,
                               brume_query_answer **answer, brume_error *error)
{
    stages all = {.ledger = ledger, .sql = sql, .elsewhere = payment->elsewhere};
    json_t *explanation = NULL, *list = json_array();
    brume_status status = list ? open_stages(&all, payment, error)
                               : brume_no_memory(error, "the answer");
    if (status == BRUME_OK)
        status = explain_all(&all, &explanation, error);
    if (status == BRUME_OK)
        status = check_budget(&all, explanation, error);
    json_decref(explanation);
    if (status == BRUME_OK)
        status = ask_all(&all, bits, watch, list, answer, error);
    json_decref(list);
    close_stages(&all);
    return status;
}

/* ---- either way ---- */

brume_status brume_stages_explain(brume_ledger *ledger, const char *sql,
                                  const brume_payment *payment, const brume_target *target,
                                  json_t **explanation, brume_error *error)
{
    bool in_stages = false;
    BRUME_TRY(stages_needed(ledger, sql, &in_stages, error));
    return in_stages && !target
               ? explain_stages(ledger, sql, payment, explanation, error)
               : brume_explain_whole(ledger, sql, payment, target, explanation, error);
}

brume_status brume_stages_ask(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                              const brume_target *target, brume_bits *bits,
                              const brume_watch *watch, brume_query_answer **answer,
                              brume_error *error)
{
    bool in_stages = false;
    BRUME_TRY(stages_needed(ledger, sql, &in_stages, error));
    return in_stages && !target
               ? ask_stages(ledger, sql, payment, bits, watch, answer, error)
               : brume_ask_whole(ledger, sql, payment, target, bits, watch, answer, error);
}

brume_status brume_stages_open(brume_ledger *ledger, const char *sql,
                               const brume_public_asker *elsewhere, brume_question **out,
                               brume_error *error)
{
    bool in_stages = false;
    stages all = {.ledger = ledger, .sql = sql, .elsewhere = elsewhere};
    const brume_payment nothing = {.elsewhere = elsewhere};
    char *filled = NULL;
    BRUME_TRY(stages_needed(ledger, sql, &in_stages, error));
    if (!in_stages)
        return brume_question_open_any(ledger, sql, out, error);
    brume_status status = open_stages(&all, &nothing, error);
    if (status == BRUME_OK)
        status = fill_in(&all, &filled, error);
    if (status == BRUME_OK)
        status = brume_question_open_any(ledger, filled, out, error);
    free(filled);
    close_stages(&all);
    return status;
}
