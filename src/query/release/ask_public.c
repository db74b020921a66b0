/* Queries of public tables only: see the header. */
#include "query/release/ask_public.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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

typedef struct table {
    brume_value *values; /* their texts are its own */
    size_t columns, rows, room;
} table;

static void clear_table(table *all)
{
    for (size_t i = 0; i < all->rows * all->columns; i++)
        free((char *)all->values[i].text);
    free(all->values);
}

enum { MOST_CELLS = 1 << 24 };

static brume_status make_room(table *all, size_t rows, brume_error *error)
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

static brume_status read_cell(const brume_text *text, const brume_text *type, brume_value *value,
                              brume_error *error)
{
    char *copy = strndup(text->data, text->length);
    if (!copy)
        return brume_no_memory(error, "the answer");
    bool boolean = type->length == 7 &&
                   (memcmp(type->data, "BOOLEAN", 7) == 0 || memcmp(type->data, "boolean", 7) == 0);
    if (is_number(type))
        *value = (brume_value){.kind = BRUME_VALUE_NUMBER,
                               .number = strtod(copy, NULL),
                               .text = is_long(copy) ? copy : NULL,
                               .length = is_long(copy) ? text->length : 0};
    else if (boolean)
        *value = (brume_value){.kind = BRUME_VALUE_BOOLEAN, .boolean = *copy == 't'};
    else
        *value = (brume_value){.kind = BRUME_VALUE_TEXT, .text = copy, .length = text->length};
    if (!value->text)
        free(copy);
    return BRUME_OK;
}

static brume_status take_chunk(table *all, const brume_chunk *chunk, brume_error *error)
{
    BRUME_TRY(make_room(all, all->rows + chunk->row_count, error));
    for (size_t i = 0; i < chunk->row_count; i++) {
        brume_value *row = &all->values[all->rows++ * all->columns];
        memset(row, 0, all->columns * sizeof *row);
        for (size_t j = 0; j < all->columns; j++)
            if (!brume_chunk_is_null(&chunk->columns[2 * j], i))
                BRUME_TRY(read_cell(&chunk->columns[2 * j].texts[i],
                                    &chunk->columns[2 * j + 1].texts[i], &row[j], error));
    }
    return BRUME_OK;
}

static brume_status read_rows(const brume_question *question, brume_engine *engine, table *all,
                              brume_error *error)
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

static brume_status make_answer(const brume_question *question, const table *all,
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
                                 const brume_watch *watch, table *all, brume_error *error)
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

brume_status brume_ask_public(brume_ledger *ledger, const brume_question *question,
                              const brume_public_asker *elsewhere, const brume_watch *watch,
                              brume_query_answer **answer, brume_error *error)
{
    brume_engine *engine = NULL;
    table all = {.columns = question->open_query->output_count};
    if (elsewhere)
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
        status = make_answer(question, &all, answer, error);
    clear_table(&all);
    brume_engine_close(engine);
    return status;
}
