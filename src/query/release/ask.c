/* The release path: the one place that puts ledger, engine and noise together. */
#include "query/release/ask.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/user.h"
#include "number/decimal.h"
#include "query/plan/domain_warnings.h"
#include "query/plan/plan_limit.h"
#include "query/plan/show_plan.h"
#include "query/plan/tables.h"
#include "query/plan/window_price.h"
#include "query/release/collect_and_draw.h"
#include "query/release/prepare.h"

/* ---- queries of public tables only ---- */

brume_status brume_question_engine(const brume_question *question, brume_engine **out,
                                   brume_error *error)
{
    size_t count = question->table_count;
    brume_source *sources = calloc(count + 1, sizeof *sources);
    brume_column **columns = calloc(count + 1, sizeof *columns);
    brume_status status = sources && columns ? BRUME_OK : brume_no_memory(error, "the answer");
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        status = brume_policy_source(question->policies[i], &sources[i], &columns[i], error);
        sources[i].password = question->datasets[i]->password;
    }
    if (status == BRUME_OK)
        status = brume_engine_open(sources, count, out, error);
    for (size_t i = 0; columns && i < count; i++)
        free(columns[i]);
    free(columns);
    free(sources);
    return status;
}

/* ---- that the tables are still what was registered as public ---- */

static brume_status check_sources(brume_ledger *ledger, const brume_question *question,
                                  brume_engine *engine, brume_error *error)
{
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < question->table_count; i++) {
        brume_marks marks = {0};
        status = brume_engine_marks(engine, i, false, &marks, error);
        brume_ledger_charge source = {.dataset = question->datasets[i]->name,
                                      .marks = (const char *const *)marks.texts,
                                      .mark_count = marks.count,
                                      .read_mark_count = marks.read_count};
        if (status == BRUME_OK)
            status = brume_ledger_check_public(ledger, &source, error);
        brume_marks_clear(&marks);
    }
    return status;
}

/* ---- rows ---- */

typedef struct public_rows {
    brume_value *values; /* their texts are its own */
    size_t columns, rows, room;
} public_rows;

static void clear_table(public_rows *all)
{
    for (size_t i = 0; i < all->rows * all->columns; i++)
        free((char *)all->values[i].text);
    free(all->values);
}

enum { MOST_CELLS = 1 << 24 };

static brume_status make_room(public_rows *all, size_t rows, brume_error *error)
{
    if (rows * all->columns > MOST_CELLS)
        return brume_fail(error, BRUME_EUNSUPPORTED, "aggregate, or write LIMIT",
                          "the answer has more than 2^24 values");
    if (rows <= all->room)
        return BRUME_OK;
    size_t room = 2 * rows;
    brume_value *grown = realloc(all->values, room * all->columns * sizeof *grown);
    if (!grown)
        return brume_no_memory(error, "the answer");
    all->values = grown;
    all->room = room;
    return BRUME_OK;
}

/* Whether values of a type, by the engine's name of it, are numbers. */
static bool is_number(const brume_text *type)
{
    static const char *const names[] = {
        "TINYINT",   "SMALLINT", "INTEGER", "BIGINT",   "HUGEINT", "UTINYINT",
        "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT",   "DOUBLE",
        "smallint",  "integer",  "bigint",  "numeric",  "real",    "double precision"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == type->length && memcmp(names[i], type->data, type->length) == 0)
            return true;
    return type->length > 8 && memcmp(type->data, "DECIMAL(", 8) == 0;
}

/* The digits of a whole number of 64 bits at or beyond 2^53. */
static bool is_long(const char *digits)
{
    char *end = NULL;
    errno = 0;
    long long whole = strtoll(digits, &end, 10);
    return end != digits && !*end && errno == 0 &&
           (whole >= INT64_C(1) << 53 || whole <= -(INT64_C(1) << 53));
}

brume_status brume_public_cell(const brume_text *text, const brume_text *type, brume_value *value,
                               brume_error *error)
{
    char *copy = strndup(text->data, text->length);
    if (!copy)
        return brume_no_memory(error, "the answer");
    bool boolean = type->length == 7 &&
                   (memcmp(type->data, "BOOLEAN", 7) == 0 || memcmp(type->data, "boolean", 7) == 0);
    bool keeps = !boolean && (!is_number(type) || is_long(copy));
    if (is_number(type))
        *value = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = strtod(copy, NULL)};
    else if (boolean)
        *value = (brume_value){.kind = BRUME_VALUE_BOOLEAN, .boolean = *copy == 't'};
    else
        *value = (brume_value){.kind = BRUME_VALUE_TEXT};
    if (keeps) {
        value->text = copy;
        value->length = text->length;
    } else {
        free(copy);
    }
    return BRUME_OK;
}

static brume_status take_chunk(public_rows *all, const brume_chunk *chunk, brume_error *error)
{
    BRUME_TRY(make_room(all, all->rows + chunk->row_count, error));
    for (size_t i = 0; i < chunk->row_count; i++) {
        brume_value *row = &all->values[all->rows++ * all->columns];
        memset(row, 0, all->columns * sizeof *row);
        for (size_t j = 0; j < all->columns; j++)
            if (!brume_chunk_is_null(&chunk->columns[2 * j], i))
                BRUME_TRY(brume_public_cell(&chunk->columns[2 * j].texts[i],
                                            &chunk->columns[2 * j + 1].texts[i], &row[j], error));
    }
    return BRUME_OK;
}

static brume_status read_rows(const brume_question *question, brume_engine *engine,
                              public_rows *all, brume_error *error)
{
    size_t count = 2 * all->columns;
    const char **tables = calloc(question->table_count + 1, sizeof *tables);
    brume_wire *wires = calloc(count + 1, sizeof *wires);
    char *sql = NULL;
    brume_rows *rows = NULL;
    brume_status status = tables && wires ? BRUME_OK : brume_no_memory(error, "the answer");
    for (size_t i = 0; status == BRUME_OK && i < question->table_count; i++)
        tables[i] = brume_engine_table(engine, i);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        wires[i] = BRUME_WIRE_TEXT;
    if (status == BRUME_OK)
        status = brume_public_query_print(question->open_query, &question->catalog,
                                          brume_engine_dialect(engine), tables, &sql, error);
    if (status == BRUME_OK)
        status = brume_engine_select(engine, sql, wires, count, &rows, error);
    const brume_chunk *chunk = NULL;
    while (status == BRUME_OK && (status = brume_rows_next(rows, &chunk, error)) == BRUME_OK &&
           chunk)
        status = take_chunk(all, chunk, error);
    brume_rows_close(rows);
    free(sql);
    free(wires);
    free(tables);
    return status;
}

static brume_status make_public_answer(const brume_question *question, const public_rows *all,
                                       brume_query_answer **answer, brume_error *error)
{
    brume_query_answer *made = NULL;
    BRUME_TRY(brume_query_answer_open(all->columns, all->rows, &made, error));
    brume_status status = BRUME_OK;
    made->is_public = true;
    for (size_t i = 0; status == BRUME_OK && i < all->columns; i++) {
        made->columns[i].is_key = true; /* exact: it has no error bar */
        made->columns[i].name = strdup(question->open_query->names[i]);
        if (!made->columns[i].name)
            status = brume_no_memory(error, "the answer");
    }
    for (size_t r = 0; status == BRUME_OK && r < all->rows; r++)
        for (size_t i = 0; status == BRUME_OK && i < all->columns; i++)
            status = brume_query_answer_set(made, r, i, &all->values[r * all->columns + i], error);
    if (status != BRUME_OK) {
        brume_query_answer_close(made);
        return status;
    }
    *answer = made;
    return BRUME_OK;
}

static brume_status ask_elsewhere(const brume_question *question,
                                  const brume_public_asker *elsewhere, brume_query_answer **answer,
                                  brume_error *error)
{
    char *text = NULL;
    json_error_t ignored;
    BRUME_TRY(elsewhere->ask(elsewhere->context, question->typed, &text, error));
    json_t *record = json_loads(text, JSON_ALLOW_NUL, &ignored);
    free(text);
    brume_status status = record ? brume_query_answer_recorded(record, answer, error)
                                 : brume_no_memory(error, "the answer");
    json_decref(record);
    if (status != BRUME_OK)
        return status;
    (*answer)->is_public = true;
    for (size_t i = 0; i < (*answer)->column_count; i++)
        (*answer)->columns[i].is_key = true;
    return BRUME_OK;
}

/* Read the rows. The engine may be told to stop meanwhile; not every statement ends by that. */
static brume_status read_watched(const brume_question *question, brume_engine *engine,
                                 const brume_watch *watch, public_rows *all, brume_error *error)
{
    if (!watch)
        return read_rows(question, engine, all, error);
    watch->enter(watch->context, BRUME_PHASE_FREE, engine);
    const char *why = watch->stopped(watch->context);
    brume_status status = why ? BRUME_ECANCELLED : read_rows(question, engine, all, error);
    watch->enter(watch->context, BRUME_PHASE_FREE, NULL);
    if (status != BRUME_OK && (why = watch->stopped(watch->context)))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "%s; nothing was spent", why);
    return status;
}

/* Answer a question that has an `open_query`, here or `elsewhere`. EPOLICY: a source of it has
 * become another dataset's; EENGINE: the engine cannot run it. */
static brume_status ask_public(brume_ledger *ledger, const brume_question *question,
                               const brume_public_asker *elsewhere, const brume_watch *watch,
                               brume_query_answer **answer, brume_error *error)
{
    brume_engine *engine = NULL;
    public_rows all = {.columns = question->open_query->output_count};
    if (elsewhere && elsewhere->ask)
        return ask_elsewhere(question, elsewhere, answer, error);
    for (size_t i = 0; i < question->table_count; i++)
        BRUME_TRY(brume_spend_limit(watch, question->policies[i]->timeout,
                                    question->datasets[i]->name, error));
    BRUME_TRY(brume_question_engine(question, &engine, error));
    brume_status status = check_sources(ledger, question, engine, error);
    if (status == BRUME_OK)
        status = read_watched(question, engine, watch, &all, error);
    if (status == BRUME_EENGINE)
        status = brume_fail(error, status,
                            "its types may not fit, or the engine lacks a function of it",
                            "the engine cannot run this query of public tables");
    if (status == BRUME_OK)
        status = make_public_answer(question, &all, answer, error);
    clear_table(&all);
    brume_engine_close(engine);
    return status;
}

static brume_answer_price price_of(const brume_charge *charge, brume_rule rule)
{
    return (brume_answer_price){rule == BRUME_RULE_CONCENTRATED,
                                brume_decimal_shown_up(&charge->amount),
                                brume_decimal_shown_up(&charge->delta)};
}

/* What may be spent of a dataset now, if that is less than *amount. */
static brume_status take_less(brume_ledger *ledger, const char *name, double *amount,
                              brume_answer_price *remaining, brume_error *error)
{
    brume_dataset *now = NULL;
    brume_charge left;
    BRUME_TRY(brume_ledger_dataset(ledger, name, &now, error));
    brume_status status = brume_ledger_left(ledger, now, &left, error);
    if (status == BRUME_OK && brume_decimal_lower(&left.amount) < *amount) {
        *amount = brume_decimal_lower(&left.amount);
        *remaining = (brume_answer_price){now->filter.rule == BRUME_RULE_CONCENTRATED,
                                          brume_decimal_shown_down(&left.amount),
                                          brume_decimal_shown_down(&left.delta)};
    }
    brume_dataset_close(now);
    return status;
}

/* The same of the windows that it touched: what the fullest of them has left. */
static brume_status take_less_of_windows(brume_ledger *ledger, const brume_touched *touched,
                                         double *amount, brume_answer_price *remaining,
                                         brume_error *error)
{
    for (size_t i = 0; touched && i < touched->count; i++) {
        brume_charge left;
        BRUME_TRY(brume_ledger_least_left(ledger, touched->datasets[i].dataset,
                                          &touched->datasets[i].set, &left, error));
        if (brume_decimal_lower(&left.amount) >= *amount)
            continue;
        *amount = brume_decimal_lower(&left.amount);
        *remaining = (brume_answer_price){left.rule == BRUME_RULE_CONCENTRATED,
                                          brume_decimal_shown_down(&left.amount),
                                          brume_decimal_shown_down(&left.delta)};
    }
    return BRUME_OK;
}

/* The tightest of the budgets, windows and allotments that the query was charged to, as it is now.
 */
static brume_status find_remaining(brume_ledger *ledger, const brume_question *question,
                                   brume_answer_price *remaining, brume_error *error)
{
    double amount = INFINITY;
    for (size_t i = 0; i < question->query->table_count; i++)
        BRUME_TRY(take_less(ledger, question->datasets[question->query->tables[i].table]->name,
                            &amount, remaining, error));
    return take_less_of_windows(ledger, question->touched, &amount, remaining, error);
}

void brume_readings_clear(brume_readings *all)
{
    for (size_t i = 0; all->marks && i < all->count; i++)
        brume_marks_clear(&all->marks[i]);
    free(all->marks);
    free(all->charges);
}

/* `more` after the marks that are there: those that a view reads stay last. Takes them over. */
static brume_status join_marks(brume_marks *marks, brume_marks *more, brume_error *error)
{
    size_t own = marks->count - marks->read_count, more_own = more->count - more->read_count;
    char **texts = calloc(marks->count + more->count + 1, sizeof *texts);
    if (!texts)
        return brume_no_memory(error, "the answer");
    size_t at = 0;
    for (size_t i = 0; i < own; i++)
        texts[at++] = marks->texts[i];
    for (size_t i = 0; i < more_own; i++)
        texts[at++] = more->texts[i];
    for (size_t i = own; i < marks->count; i++)
        texts[at++] = marks->texts[i];
    for (size_t i = more_own; i < more->count; i++)
        texts[at++] = more->texts[i];
    free(marks->texts);
    marks->texts = texts;
    marks->count += more->count;
    marks->read_count += more->read_count;
    free(more->texts);
    *more = (brume_marks){0};
    return BRUME_OK;
}

/* The windows of a dataset that are charged beside its budget: none of one that has none, or of
 * which timeless tables alone are read. */
static const brume_window_set *windows_of(const brume_question *question,
                                          const brume_dataset *dataset)
{
    static const brume_window_set none;
    const brume_touched *touched = question->touched;
    for (size_t i = 0; i < touched->count; i++)
        if (strcmp(touched->datasets[i].dataset->name, dataset->name) == 0)
            return &touched->datasets[i].set;
    return &none;
}

static brume_status add_reading(brume_readings *all, const brume_question *question, size_t source,
                                const brume_charge *price, brume_engine *engine, brume_error *error)
{
    const brume_dataset *dataset = question->datasets[source];
    brume_marks found = {0};
    size_t at = all->count;
    BRUME_TRY(brume_engine_marks(engine, source, false, &found, error));
    for (size_t i = 0; price && i < all->count; i++)
        if (strcmp(all->charges[i].dataset, dataset->name) == 0)
            at = i;
    if (at < all->count) {
        brume_status status = join_marks(&all->marks[at], &found, error);
        brume_marks_clear(&found);
        if (status != BRUME_OK)
            return status;
    } else {
        all->marks[all->count++] = found;
    }
    const brume_marks *marks = &all->marks[at];
    all->charges[at] = (brume_ledger_charge){.dataset = dataset->name,
                                             .price = price,
                                             .stated = dataset->stated,
                                             .marks = (const char *const *)marks->texts,
                                             .mark_count = marks->count,
                                             .read_mark_count = marks->read_count};
    if (price && dataset->has_windows) {
        all->charges[at].windows = windows_of(question, dataset);
        all->charges[at].window_price = &all->window.charge;
    }
    return BRUME_OK;
}

/* `all->window` is known by then. */
brume_status brume_readings_find(const brume_question *question, const brume_charge *price,
                                 brume_engine *engine, brume_readings *all, brume_error *error)
{
    const brume_query *query = question->query;
    size_t most = query->table_count + query->public_count;
    all->marks = calloc(most + 1, sizeof *all->marks);
    all->charges = calloc(most + 1, sizeof *all->charges);
    if (!all->marks || !all->charges)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < query->table_count; i++)
        BRUME_TRY(add_reading(all, question, query->tables[i].table, price, engine, error));
    all->charge_count = all->count;
    for (size_t i = 0; i < query->public_count; i++)
        BRUME_TRY(add_reading(all, question, query->public_tables[i], NULL, engine, error));
    return BRUME_OK;
}

typedef struct engine_source {
    brume_engine *engine;
    size_t table_count;
} engine_source;

static brume_status collect_from_engine(void *context, const brume_measurement *measurement,
                                        brume_bits *bits, brume_collected **out, brume_error *error)
{
    const engine_source *from = context;
    return brume_collect(&measurement->collection, from->engine, from->table_count, bits, out,
                         error);
}

brume_status brume_draw_answer(const brume_question *question, const brume_terms *terms,
                               brume_engine *engine, brume_bits *bits,
                               const brume_choice_keeper *keeper, brume_released *out,
                               brume_error *error)
{
    engine_source from = {engine, question->table_count};
    return brume_collect_and_draw(terms, collect_from_engine, &from, bits, keeper, out, error);
}

/* The owner's labels of all data that a query reads, each once: "2026-03, 7". */
static brume_status name_versions(const brume_question *question, brume_query_answer *answer,
                                  brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return brume_no_memory(error, "the answer");
    const brume_query *query = question->query;
    for (size_t i = 0; i < query->table_count; i++) {
        const brume_dataset *one = question->datasets[query->tables[i].table];
        bool again = !*one->data_version;
        for (size_t j = 0; j < i && !again; j++)
            again = question->datasets[query->tables[j].table] == one ||
                    strcmp(question->datasets[query->tables[j].table]->name, one->name) == 0;
        if (!again)
            fprintf(out, "%s%s", ftell(out) > 0 ? ", " : "", one->data_version);
    }
    if (fclose(out) != 0)
        return brume_no_memory(error, "the answer");
    if (length == 0) {
        free(text);
        text = NULL;
    }
    answer->data_version = text;
    return BRUME_OK;
}

static brume_status add_cost(const brume_terms *terms, brume_query_answer *answer,
                             brume_error *error)
{
    const brume_plan *plan = terms->plan;
    answer->cost = price_of(&plan->charge, plan->rule);
    answer->delta_by_default = plan->delta_by_default;
    answer->limits_chosen = strdup(brume_terms_limits_word(terms));
    answer->limits_share = brume_terms_choice_share(terms);
    if (!answer->limits_chosen)
        return brume_no_memory(error, "the answer");
    if (plan->shape.private_keys)
        answer->threshold = (int64_t)terms->price.threshold;
    answer->events = brume_terms_to_json(terms);
    return answer->events ? BRUME_OK : brume_no_memory(error, "the answer");
}

typedef struct asked {
    brume_ledger *ledger;
    uint64_t reservation;
    const brume_question *question;
    const brume_terms *terms;
    brume_bits *bits;
    const brume_watch *watch;
    brume_engine *engine;
    json_t *windows;            /* what is said of them; NULL: there are none */
    brume_query_answer *answer; /* what is made of them */
} asked;

static brume_status check_stopped(const brume_watch *watch, brume_error *error)
{
    const char *why = watch ? watch->stopped(watch->context) : NULL;
    return why ? brume_fail(error, BRUME_ECANCELLED, NULL, "%s", why) : BRUME_OK;
}

/* The choice of limits goes to disk before anything else is drawn: should what follows fail, the
 * next query finds it, and it is never drawn a second time for the same money. Others can see from
 * the ledger that rows were read, so the watch says when; and a call that was told to stop before
 * that time records nothing, as if it had been told while it read: whether the choice is there
 * would otherwise tell if reading took less time than a deadline that the analyst types. */
static brume_status keep_choice(void *context, const brume_terms *terms, brume_error *error)
{
    const asked *what = context;
    const brume_watch *watch = what->watch;
    if (watch)
        watch->enter(watch->context, BRUME_PHASE_SPENT, NULL);
    BRUME_TRY(check_stopped(watch, error));
    BRUME_TRY(brume_choice_record(what->ledger, what->reservation, what->question, terms, error));
    if (watch)
        watch->enter(watch->context, BRUME_PHASE_RUNNING, what->engine);
    return check_stopped(watch, error);
}

static brume_status make_answer(void *context, brume_engine *engine, uint64_t reservation,
                                json_t **record, brume_error *error)
{
    asked *what = context;
    what->reservation = reservation;
    what->engine = engine;
    brume_choice_keeper keeper = {keep_choice, what};
    brume_released made = {0};
    BRUME_TRY(
        brume_draw_answer(what->question, what->terms, engine, what->bits, &keeper, &made, error));
    what->answer = made.answer;
    brume_status status = add_cost(made.terms, made.answer, error);
    if (status == BRUME_OK)
        status = name_versions(what->question, made.answer, error);
    brume_terms_close(made.terms);
    BRUME_TRY(status);
    what->answer->windows = json_incref(what->windows);
    return brume_query_answer_record(what->answer, record, error);
}

static brume_status reserve_and_answer(brume_ledger *ledger, const brume_question *question,
                                       const brume_terms *terms, const char *key, brume_bits *bits,
                                       const brume_watch *watch, bool anew,
                                       brume_query_answer **answer, brume_error *error)
{
    const brume_query *query = question->query;
    brume_engine *engine = NULL;
    brume_readings read = {0};
    BRUME_TRY(brume_window_price_of(terms->plan, question->touched, &read.window, error));
    BRUME_TRY(
        brume_question_engine(question, &engine, error)); /* that a source is there is no secret */
    json_t *events = brume_terms_to_json(terms);
    brume_status status =
        events ? brume_readings_find(question, &terms->plan->charge, engine, &read, error)
               : brume_no_memory(error, "the answer");
    brume_reservation reservation = {
        .charges = read.charges,
        .charge_count = read.charge_count,
        .public_tables = read.charges ? &read.charges[read.charge_count] : NULL,
        .public_count = read.count - read.charge_count,
        .sql = query->normal,
        .typed = question->typed,
        .events = events,
        .answer_key = key,
        .anew = anew};
    asked what = {
        .ledger = ledger, .question = question, .terms = terms, .bits = bits, .watch = watch};
    json_t *record = NULL;
    if (status == BRUME_OK && question->touched->count > 0 &&
        !(what.windows = brume_window_price_to_json(question->touched, &read.window,
                                                    terms->plan->rule, question->touched->now)))
        status = brume_no_memory(error, "the answer");
    if (status == BRUME_OK)
        status =
            brume_spend(ledger, &reservation, engine, make_answer, &what, watch, &record, error);
    if (status == BRUME_OK)
        status = brume_ledger_reserved_at(ledger, what.reservation, what.answer->read, error);
    if (status == BRUME_OK)
        *answer = what.answer;
    else
        brume_query_answer_close(what.answer);
    json_decref(record);
    json_decref(what.windows);
    json_decref(events);
    brume_readings_clear(&read);
    brume_engine_close(engine);
    return status;
}

brume_status brume_recall_question(brume_ledger *ledger, const char *key,
                                   const brume_payment *payment, json_t **record,
                                   char read[BRUME_WHEN_TEXT], bool *anew, brume_error *error)
{
    json_t *found = NULL;
    brume_error why = {0};
    brume_status status = brume_ledger_recall(ledger, key, &found, read, &why);
    if (status == BRUME_EPOLICY && payment->fresh) { /* it is held, or was rejected: asked anew */
        *anew = true;
        *record = NULL;
        return BRUME_OK;
    }
    if (status != BRUME_OK)
        return brume_fail(error, status, why.hint, "%s", why.message);
    *anew = found &&
            (payment->fresh || (payment->max_age > 0 && brume_age_of(read) > payment->max_age));
    if (*anew)
        json_decref(found);
    *record = *anew ? NULL : found;
    return BRUME_OK;
}

/* The answer that was recorded for the same question, if this payment takes it; else NULL. */
static brume_status recall(brume_ledger *ledger, const char *key, const brume_payment *payment,
                           brume_query_answer **answer, bool *anew, brume_error *error)
{
    json_t *record = NULL;
    char read[BRUME_WHEN_TEXT];
    BRUME_TRY(brume_recall_question(ledger, key, payment, &record, read, anew, error));
    brume_status status = record ? brume_query_answer_recorded(record, answer, error) : BRUME_OK;
    if (status == BRUME_OK && record)
        memcpy((*answer)->read, read, sizeof read);
    json_decref(record);
    return status;
}

/* The owner's word on how old a recorded answer may be before it warns. Windows that had all closed
 * do not age. A function of the clock and the record alone: nothing tells whether rows came. */
static bool warn_of_age(const brume_question *question, brume_query_answer *answer)
{
    const json_t *open = json_object_get(answer->windows, "open");
    double age = brume_age_of(answer->read);
    const char *name = NULL;
    for (size_t i = 0; i < question->query->table_count && !name; i++) {
        size_t table = question->query->tables[i].table;
        double most = question->policies[table]->max_age;
        if (most > 0 && age > most && (!open || json_integer_value(open) > 0))
            name = question->datasets[table]->name;
    }
    return !name ||
           json_array_append_new(
               answer->warnings,
               json_sprintf("this answer is older than the owner of '%s' wants to be read without "
                            "a warning: rows may have come since; --fresh asks again",
                            name)) == 0;
}

static brume_status answer_question(brume_ledger *ledger, const brume_question *question,
                                    const brume_terms *terms, const brume_payment *payment,
                                    brume_bits *bits, const brume_watch *watch,
                                    brume_query_answer **answer, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    bool anew = false;
    char key[65];
    brume_query_answer *made = NULL;
    for (size_t i = 0; i < question->table_count; i++)
        BRUME_TRY(brume_spend_limit(watch, question->policies[i]->timeout,
                                    question->datasets[i]->name, error));
    BRUME_TRY(brume_question_key(question, plan, key, error));
    BRUME_TRY(recall(ledger, key, payment, &made, &anew, error));
    bool cached = made != NULL;
    if (!cached && plan->limits_only)
        BRUME_TRY(brume_choice_check_new(ledger, question, terms, error));
    if (!cached)
        BRUME_TRY(brume_check_ledger_bytes(ledger, question, error));
    if (!cached)
        BRUME_TRY(
            reserve_and_answer(ledger, question, terms, key, bits, watch, anew, &made, error));
    made->cached = cached;
    made->words = brume_question_words(question);
    made->warnings = brume_domain_warnings(question->query, question->tables);
    brume_status status = made->warnings && (!cached || warn_of_age(question, made))
                              ? find_remaining(ledger, question, &made->remaining, error)
                              : brume_no_memory(error, "the answer");
    if (status == BRUME_OK && plan->limits_only)
        status = brume_warn_of_missing_limits(made, made->warnings, error);
    if (status != BRUME_OK) {
        brume_query_answer_close(made);
        return status;
    }
    *answer = made;
    return BRUME_OK;
}

brume_status brume_ask_whole(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                             const brume_target *target, brume_bits *bits, const brume_watch *watch,
                             brume_query_answer **answer, brume_error *error)
{
    brume_question *question = NULL;
    brume_plan *plan = NULL;
    brume_terms *terms = NULL;
    brume_status status =
        brume_prepare(ledger, sql, payment, target, &question, &plan, &terms, error);
    if (status == BRUME_OK)
        status =
            question->open_query
                ? ask_public(ledger, question, payment->elsewhere, watch, answer, error)
                : answer_question(ledger, question, terms, payment, bits, watch, answer, error);
    brume_terms_close(terms);
    brume_query_plan_close(plan);
    brume_question_close(question);
    return status;
}

/* ---- again, by the number of the charge ---- */

/* What units are called in the datasets that an earlier answer is of; in its rows no table is
 * named.
 */
static brume_status name_units(brume_ledger *ledger, const json_t *names,
                               brume_query_answer *answer, brume_error *error)
{
    const char *name = json_string_value(json_array_get(names, 0));
    brume_dataset *dataset = NULL;
    brume_tables *tables = NULL;
    brume_policy *policies[BRUME_MOST_TABLES];
    if (!name)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_dataset(ledger, name, &dataset, error));
    brume_status status = brume_tables_from_json(dataset->policy, name, &tables, error);
    for (size_t i = 0; status == BRUME_OK && i < tables->count; i++)
        policies[i] = tables->list[i].policy;
    if (status == BRUME_OK) {
        brume_words_set_units(&answer->words, policies, tables->count);
        if (json_array_size(names) == 1 && tables->count == 1)
            brume_words_set_rows(&answer->words, name);
    }
    brume_tables_close(tables);
    brume_dataset_close(dataset);
    return status;
}

static brume_status read_record(brume_ledger *ledger, uint64_t charge, const json_t *record,
                                const json_t *names, brume_query_answer **out, brume_error *error)
{
    double amount = INFINITY;
    if (!json_object_get(record, "columns"))
        return brume_fail(error, BRUME_EUNSUPPORTED, "run its command again: that is free",
                          "charge %llu is of no query", (unsigned long long)charge);
    BRUME_TRY(brume_query_answer_recorded(record, out, error));
    (*out)->cached = true;
    BRUME_TRY(name_units(ledger, names, *out, error));
    for (size_t i = 0; i < json_array_size(names); i++)
        BRUME_TRY(take_less(ledger, json_string_value(json_array_get(names, i)), &amount,
                            &(*out)->remaining, error));
    return BRUME_OK;
}

brume_status brume_recall(brume_ledger *ledger, uint64_t charge, brume_query_answer **answer,
                          brume_error *error)
{
    json_t *record = NULL, *names = NULL;
    brume_query_answer *made = NULL;
    char read[BRUME_WHEN_TEXT];
    BRUME_TRY(brume_ledger_recall_reservation(ledger, charge, &record, &names, read, error));
    brume_status status = read_record(ledger, charge, record, names, &made, error);
    if (status == BRUME_OK)
        memcpy(made->read, read, sizeof read);
    json_decref(record);
    json_decref(names);
    if (status == BRUME_OK)
        *answer = made;
    else
        brume_query_answer_close(made);
    return status;
}
