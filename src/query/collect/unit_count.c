/* How many units satisfy a condition. Promises: unit_count.h.
 *
 * Each row of the copy in memory has a number, and `unit_of` says whose it is. The engine finds the
 * numbers of the rows that satisfy a condition; each unit has a byte, which is 1 if it has any of
 * them. Bytes, not bits: several threads may then write without a locked operation. */
#include "query/collect/unit_count.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/collect/dictionary.h"
#include "query/print/statement.h"
#include "query/sql/parse.h"

enum { NOBODY = 0 }; /* in unit_of: the row has no unit; else the unit's number + 1 */

struct brume_unit_counter {
    const brume_question *question;
    brume_engine *engine;
    const char *number; /* the column that numbers the rows; NULL: they are a server's */
    uint32_t *unit_of;
    size_t row_count, unit_count;
    unsigned char *seen; /* at a unit's number + 1: 0 or 1; at NOBODY: anything */
    brume_hash_key key;
};

/* ---- the condition ---- */

static brume_status refuse_shape(brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, "for example: age >= 65 AND city = 'Lyon'",
                      "a condition is what follows WHERE, over columns of the dataset, without "
                      "subqueries");
}

/* A fault of the text around the condition, told as one of the condition: where in it, if that can
 * be said. */
static void tell_place(brume_error *error, size_t before, size_t length)
{
    const char *at = error ? strstr(error->message, " at position ") : NULL;
    size_t place = at ? (size_t)strtoull(at + strlen(" at position "), NULL, 10) : 0;
    if (place <= before)
        return;
    if (place - before > length)
        snprintf(error->message, sizeof error->message,
                 "the condition ends too early, or has a bracket too many");
    else
        snprintf(error->message, sizeof error->message, "syntax error at position %zu",
                 place - before);
}

/* SELECT COUNT(*) FROM "dataset" WHERE (condition), checked; anything that is more than a condition
 * shows in the query. */
static brume_status parse_condition(const brume_question *question, const char *condition,
                                    brume_query **out, brume_error *error)
{
    char *text = NULL;
    if (condition[strspn(condition, " \t")] == 0)
        return brume_fail(error, BRUME_ESYNTAX, "for example: age >= 65 AND city = 'Lyon'",
                          "there is no condition");
    if (asprintf(&text, "SELECT COUNT(*) FROM \"%s\" WHERE (%s\n)", question->datasets[0]->name,
                 condition) < 0)
        return brume_no_memory(error, "a condition");
    brume_query *query = NULL;
    brume_status status = brume_query_parse(text, &question->catalog, &query, error);
    size_t length = strlen(text);
    free(text);
    if (status == BRUME_ESYNTAX)
        tell_place(error, length - strlen(condition) - 2, strlen(condition));
    if (status != BRUME_OK)
        return status;
    bool plain = query->from->kind == BRUME_RELATION_TABLE && query->table_count == 1 &&
                 query->public_count == 0 && query->key_count == 0 && query->set_count == 1 &&
                 query->aggregate_count == 1 &&
                 query->aggregates[0].kind == BRUME_AGGREGATE_COUNT_ROWS &&
                 query->output_count == 1 && !query->having && query->order_count == 0 &&
                 query->limit == -1 && query->offset == 0;
    if (!plain) {
        brume_query_free(query);
        return refuse_shape(error);
    }
    /* each question reads the windows that the stream was charged for, and no others */
    if (question->touched) {
        const brume_window_wish wish = {question->touched->windows, question->touched->now};
        brume_touched *touched = NULL;
        status = brume_touched_find(query, question->tables, &wish, &touched, error);
        brume_touched_close(touched);
        if (status != BRUME_OK) {
            brume_query_free(query);
            return status;
        }
    }
    *out = query;
    return BRUME_OK;
}

/* ---- counting ---- */

static const char *table_of(const brume_unit_counter *counter)
{
    return brume_engine_table(counter->engine, 0);
}

/* Rows of units that a condition holds for, by their numbers; several threads at once. */
static brume_status see_numbers(void *context, const brume_chunk *chunk, brume_error *error)
{
    (void)error;
    brume_unit_counter *counter = context;
    const int64_t *numbers = chunk->columns[0].integers;
    for (size_t i = 0; i < chunk->row_count; i++) {
        /* rows behind the last one that is somebody's are nobody's */
        uint32_t unit = (uint64_t)numbers[i] < counter->row_count ? counter->unit_of[numbers[i]]
                                                                  : NOBODY;
        __atomic_store_n(&counter->seen[unit], 1, __ATOMIC_RELAXED);
    }
    return BRUME_OK;
}

static brume_status count_held(brume_unit_counter *counter, brume_query *query, uint64_t *units,
                               brume_error *error)
{
    const brume_expression *number = NULL;
    const char *table = table_of(counter);
    brume_wire wire = BRUME_WIRE_INTEGER;
    char *sql = NULL;
    BRUME_TRY(brume_query_add_number(query, counter->number, &number, error));
    query->unit = NULL; /* unit_of knows whose a row is, and which are nobody's */
    BRUME_TRY(brume_query_print_rows(query, brume_engine_dialect(counter->engine), &table, &number,
                                     1, &sql, error));
    memset(counter->seen, 0, counter->unit_count + 1);
    brume_status status =
        brume_engine_scan(counter->engine, sql, &wire, 1, see_numbers, counter, error);
    free(sql);
    if (status != BRUME_OK)
        return status;
    uint64_t count = 0;
    for (size_t i = 1; i <= counter->unit_count; i++)
        count += counter->seen[i];
    *units = count;
    return BRUME_OK;
}

/* Where a row is a unit the engine counts by itself. */
static brume_status count_rows(brume_unit_counter *counter, const brume_query *query,
                               uint64_t *units, brume_error *error)
{
    const char *table = table_of(counter);
    brume_wire wire = BRUME_WIRE_INTEGER;
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    char *sql = NULL;
    uint64_t count = 0;
    BRUME_TRY(brume_query_print_groups(query, brume_engine_dialect(counter->engine), &table, NULL,
                                       0, &sql, error));
    brume_status status = brume_engine_select(counter->engine, sql, &wire, 1, &rows, error);
    free(sql);
    if (status != BRUME_OK)
        return status;
    while ((status = brume_rows_next(rows, &chunk, error)) == BRUME_OK && chunk)
        for (size_t i = 0; i < chunk->row_count; i++)
            count += (uint64_t)chunk->columns[0].integers[i];
    brume_rows_close(rows);
    if (status == BRUME_OK)
        *units = count;
    return status;
}

/* ---- whose a row is ---- */

static brume_status number_unit(brume_dictionary *units, const brume_chunk_column *column,
                                size_t at, uint32_t *unit, brume_error *error)
{
    size_t length = 0;
    double real;
    bool added;
    const void *bytes = brume_chunk_bytes(column, at, &real, &length);
    uint64_t hash = brume_dictionary_hash(units, bytes, length);
    return brume_dictionary_add(units, hash, bytes, length, unit, &added, error);
}

typedef struct unit_reader {
    brume_unit_counter *counter;
    brume_dictionary units;
    size_t room;
} unit_reader;

/* One chunk of (unit) or, where rows are held, (unit, number). */
static brume_status take_units(unit_reader *all, const brume_chunk *chunk, brume_error *error)
{
    brume_unit_counter *counter = all->counter;
    for (size_t i = 0; i < chunk->row_count; i++) {
        uint32_t unit = 0;
        if (brume_chunk_is_null(&chunk->columns[0], i))
            continue;
        BRUME_TRY(number_unit(&all->units, &chunk->columns[0], i, &unit, error));
        if (!counter->number)
            continue;
        size_t row = (size_t)chunk->columns[1].integers[i];
        if (row >= all->room) {
            size_t room = row + row / 2 + 4096;
            uint32_t *grown = realloc(counter->unit_of, room * sizeof *grown);
            if (!grown)
                return brume_no_memory(error, "the units");
            memset(grown + all->room, 0, (room - all->room) * sizeof *grown);
            counter->unit_of = grown;
            all->room = room;
        }
        counter->unit_of[row] = unit + 1;
        counter->row_count = row >= counter->row_count ? row + 1 : counter->row_count;
    }
    return BRUME_OK;
}

/* The units of the rows of `query`: how many, and, where rows are held, whose each is. */
static brume_status read_units(brume_unit_counter *counter, brume_query *query, uint64_t *units,
                               brume_error *error)
{
    const brume_expression *columns[2] = {query->unit, NULL};
    brume_wire wires[2] = {brume_type_wire(query->unit->type), BRUME_WIRE_INTEGER};
    size_t count = counter->number ? 2 : 1;
    const char *table = table_of(counter);
    unit_reader all = {.counter = counter};
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    char *sql = NULL;
    if (counter->number)
        BRUME_TRY(brume_query_add_number(query, counter->number, &columns[1], error));
    BRUME_TRY(brume_query_print_rows(query, brume_engine_dialect(counter->engine), &table, columns,
                                     count, &sql, error));
    brume_dictionary_make(&all.units, &counter->key,
                          wires[0] == BRUME_WIRE_TEXT ? 0 : sizeof(int64_t));
    brume_status status = brume_engine_select(counter->engine, sql, wires, count, &rows, error);
    free(sql);
    while (status == BRUME_OK && (status = brume_rows_next(rows, &chunk, error)) == BRUME_OK &&
           chunk)
        status = take_units(&all, chunk, error);
    brume_rows_close(rows);
    *units = all.units.count;
    brume_dictionary_clear(&all.units);
    return status;
}

/* ---- open, ask, close ---- */

static brume_status prepare(brume_unit_counter *counter, brume_error *error)
{
    brume_status status = brume_engine_hold(counter->engine, 0, &counter->number, error);
    if (status == BRUME_EUNSUPPORTED)
        counter->number = NULL; /* rows of a server */
    else if (status != BRUME_OK)
        return status;
    if (!counter->number || !counter->question->policies[0]->unit)
        return BRUME_OK;
    brume_query *query = NULL;
    uint64_t units = 0;
    BRUME_TRY(parse_condition(counter->question, "true", &query, error));
    status = read_units(counter, query, &units, error);
    brume_query_free(query);
    if (status != BRUME_OK)
        return status;
    counter->unit_count = units;
    counter->seen = calloc(units + 1, sizeof *counter->seen);
    return counter->seen ? BRUME_OK : brume_no_memory(error, "the units");
}

brume_status brume_unit_counter_open(const brume_question *question, brume_engine *engine,
                                     brume_bits *bits, brume_unit_counter **out, brume_error *error)
{
    brume_unit_counter *counter = calloc(1, sizeof *counter);
    if (!counter)
        return brume_no_memory(error, "the units");
    counter->question = question;
    counter->engine = engine;
    uint64_t words[2];
    brume_status status = brume_bits_words(bits, words, 2, error);
    if (status == BRUME_OK) {
        counter->key = (brume_hash_key){{words[0], words[1]}};
        status = prepare(counter, error);
    }
    if (status != BRUME_OK) {
        brume_unit_counter_close(counter);
        return status;
    }
    *out = counter;
    return BRUME_OK;
}

void brume_unit_counter_close(brume_unit_counter *counter)
{
    if (!counter)
        return;
    free(counter->unit_of);
    free(counter->seen);
    free(counter);
}

brume_status brume_unit_counter_ask(brume_unit_counter *counter, const char *condition,
                                    uint64_t *units, brume_error *error)
{
    brume_query *query = NULL;
    BRUME_TRY(parse_condition(counter->question, condition, &query, error));
    brume_status status = !query->unit      ? count_rows(counter, query, units, error)
                          : counter->number ? count_held(counter, query, units, error)
                                            : read_units(counter, query, units, error);
    brume_query_free(query);
    return status;
}
