/* What all engines share: choosing one, ownership, and the rule that nothing runs twice.
 *
 * A result that ends early is an error, never a short answer: a driver's next either fills the
 * chunk, ends with row_count 0 after a confirmed end, or fails. */
#include "engine/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

bool brume_engine_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcasecmp(text + length - end_length, end) == 0;
}

bool brume_engine_dialect_of(const char *location, brume_dialect *dialect)
{
    static const char *const endings[] = {".csv",     ".tsv",  ".csv.gz", ".tsv.gz",
                                          ".parquet", ".json", ".jsonl",  ".ndjson"};
    if (strncmp(location, "postgresql://", 13) == 0 || strncmp(location, "postgres://", 11) == 0) {
        *dialect = BRUME_DIALECT_POSTGRESQL;
        return true;
    }
    if (strstr(location, "://")) {
        *dialect = BRUME_DIALECT_SPARK;
        return strncmp(location, "spark://", 8) == 0;
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (brume_engine_ends_with(location, endings[i])) {
            *dialect = BRUME_DIALECT_DUCKDB;
            return true;
        }
    return false;
}

brume_status brume_engine_open(const brume_source *sources, size_t count, brume_engine **engine,
                               brume_error *error)
{
    if (count == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no source to open");
    static const brume_driver *const drivers[] = {
        [BRUME_DIALECT_DUCKDB] = &brume_driver_duckdb,
        [BRUME_DIALECT_POSTGRESQL] = &brume_driver_postgresql,
        [BRUME_DIALECT_SPARK] = &brume_driver_spark,
    };
    brume_dialect dialect = BRUME_DIALECT_DUCKDB;
    for (size_t i = 0; i < count; i++) {
        brume_dialect each;
        if (!brume_engine_dialect_of(sources[i].location, &each))
            return brume_fail(error, BRUME_EARGUMENT,
                              "give a .csv, .parquet or .json file or glob, or a postgresql:// or "
                              "spark:// URL",
                              "'%s' is not a source that brume can open",
                              strstr(sources[i].location, "://") ? "this URL"
                                                                 : sources[i].location);
        if (i > 0 && each != dialect)
            return brume_fail(error, BRUME_EUNSUPPORTED,
                              "load both into the same database, or export the table to a file",
                              "sources of different kinds cannot be read in one query");
        dialect = each;
    }
    brume_engine *opened = calloc(1, sizeof *opened);
    char **tables = calloc(count, sizeof *tables);
    if (!opened || !tables) {
        free(opened);
        free(tables);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    opened->driver = drivers[dialect];
    opened->source_count = count;
    opened->tables = tables;
    atomic_init(&opened->cancelled, false);
    brume_status status = opened->driver->open(opened, sources, count, error);
    if (status != BRUME_OK) {
        brume_engine_close(opened);
        return status;
    }
    *engine = opened;
    return BRUME_OK;
}

void brume_engine_close(brume_engine *engine)
{
    if (!engine)
        return;
    brume_rows_close(engine->rows);
    engine->driver->close(engine);
    for (size_t i = 0; i < engine->source_count; i++)
        free(engine->tables[i]);
    free(engine->tables);
    free(engine);
}

brume_dialect brume_engine_dialect(const brume_engine *engine)
{
    return engine->driver->dialect;
}

const char *brume_engine_table(const brume_engine *engine, size_t index)
{
    return index < engine->source_count ? engine->tables[index] : NULL;
}

brume_status brume_engine_describe(brume_engine *engine, size_t index,
                                   brume_description *description, brume_error *error)
{
    if (index >= engine->source_count || engine->rows)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such source, or a query is running");
    brume_description made = {0};
    brume_status status = engine->driver->describe(engine, index, &made, error);
    if (status != BRUME_OK) {
        brume_description_clear(&made);
        return status;
    }
    *description = made;
    return BRUME_OK;
}

brume_status brume_marks_add(brume_marks *marks, char *mark, brume_error *error)
{
    char **grown = mark ? realloc(marks->texts, (marks->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(mark);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    marks->texts = grown;
    marks->texts[marks->count++] = mark;
    return BRUME_OK;
}

void brume_marks_clear(brume_marks *marks)
{
    for (size_t i = 0; i < marks->count; i++)
        free(marks->texts[i]);
    free(marks->texts);
    *marks = (brume_marks){0};
}

brume_status brume_engine_marks(brume_engine *engine, size_t index, bool contents,
                                brume_marks *marks, brume_error *error)
{
    if (index >= engine->source_count || engine->rows)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such source, or a query is running");
    brume_marks made = {0};
    brume_status status = engine->driver->marks(engine, index, contents, &made, error);
    if (status != BRUME_OK) {
        brume_marks_clear(&made);
        return status;
    }
    *marks = made;
    return BRUME_OK;
}

void brume_description_clear(brume_description *description)
{
    for (size_t i = 0; i < description->column_count; i++) {
        free(description->columns[i].name);
        free(description->columns[i].native);
    }
    free(description->columns);
    free(description->identity);
    free(description->options);
    *description = (brume_description){0};
}

brume_status brume_engine_select(brume_engine *engine, const char *sql, const brume_wire *wires,
                                 size_t wire_count, brume_rows **rows, brume_error *error)
{
    if (engine->rows)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a query is already running");
    if (wire_count == 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a query without columns");
    brume_rows *made = calloc(1, sizeof *made);
    brume_wire *copied = calloc(wire_count, sizeof *copied);
    brume_chunk_column *columns = calloc(wire_count, sizeof *columns);
    if (!made || !copied || !columns) {
        free(made);
        free(copied);
        free(columns);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    memcpy(copied, wires, wire_count * sizeof *copied);
    made->engine = engine;
    made->wires = copied;
    made->wire_count = wire_count;
    made->columns = columns;
    for (size_t i = 0; i < wire_count; i++)
        columns[i].wire = wires[i];
    made->chunk = (brume_chunk){.column_count = wire_count, .columns = columns};
    brume_status status = engine->driver->select(engine, sql, made, error);
    if (status != BRUME_OK) {
        brume_rows_close(made);
        /* A driver cannot tell why its server gave up; here it is known. */
        if (atomic_exchange(&engine->cancelled, false))
            return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted");
        return status;
    }
    engine->rows = made;
    *rows = made;
    return BRUME_OK;
}

brume_status brume_engine_hold(brume_engine *engine, size_t index, const char **number,
                               brume_error *error)
{
    if (!engine->driver->hold)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "the rows stay at their server");
    if (engine->rows)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a query is already running");
    brume_status status = engine->driver->hold(engine, index, number, error);
    if (atomic_exchange(&engine->cancelled, false))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted");
    return status;
}

brume_status brume_rows_next(brume_rows *rows, const brume_chunk **chunk, brume_error *error)
{
    if (rows->finished)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the rows have ended");
    brume_status status = BRUME_OK;
    bool cancelled = atomic_exchange(&rows->engine->cancelled, false);
    if (!cancelled) {
        status = rows->engine->driver->next(rows, error);
        cancelled = atomic_exchange(&rows->engine->cancelled, false);
    }
    if (cancelled) {
        rows->finished = true;
        return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted");
    }
    if (status != BRUME_OK) {
        rows->finished = true;
        return status;
    }
    rows->finished = rows->chunk.row_count == 0;
    *chunk = rows->finished ? NULL : &rows->chunk;
    return BRUME_OK;
}

void brume_rows_close(brume_rows *rows)
{
    if (!rows)
        return;
    rows->engine->driver->finish(rows);
    if (rows->engine->rows == rows)
        rows->engine->rows = NULL;
    free(rows->wires);
    free(rows->columns);
    free(rows);
}

static brume_status take_rows(brume_rows *rows, brume_row_taker take, void *context,
                              brume_error *error)
{
    const brume_chunk *chunk = NULL;
    BRUME_TRY(brume_rows_next(rows, &chunk, error));
    while (chunk) {
        BRUME_TRY(take(context, chunk, error));
        BRUME_TRY(brume_rows_next(rows, &chunk, error));
    }
    return BRUME_OK;
}

brume_status brume_engine_scan(brume_engine *engine, const char *sql, const brume_wire *wires,
                               size_t wire_count, brume_row_taker take, void *context,
                               brume_error *error)
{
    brume_status status = BRUME_OK;
    if (!engine->driver->scan) {
        brume_rows *rows = NULL;
        BRUME_TRY(brume_engine_select(engine, sql, wires, wire_count, &rows, error));
        status = take_rows(rows, take, context, error);
        brume_rows_close(rows);
        return status;
    }
    if (engine->rows)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a query is already running");
    if (wire_count == 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a query without columns");
    bool cancelled = atomic_load(&engine->cancelled);
    if (!cancelled)
        status = engine->driver->scan(engine, sql, wires, wire_count, take, context, error);
    if (atomic_exchange(&engine->cancelled, false) || cancelled)
        return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted");
    return status;
}

brume_status brume_parts_add(brume_parts *parts, char *part, brume_error *error)
{
    char **grown = part ? realloc(parts->texts, (parts->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(part);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    parts->texts = grown;
    parts->texts[parts->count++] = part;
    return BRUME_OK;
}

void brume_parts_clear(brume_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        free(parts->texts[i]);
    free(parts->texts);
    *parts = (brume_parts){0};
}

bool brume_engine_is_bytewise(brume_engine *engine, size_t index, const char *column)
{
    return index < engine->source_count && !engine->rows && engine->driver->is_bytewise &&
           engine->driver->is_bytewise(engine, index, column);
}

brume_status brume_engine_divide(brume_engine *engine, size_t index, brume_parts *parts,
                                 brume_error *error)
{
    if (index >= engine->source_count || engine->rows)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such source, or a query is running");
    *parts = (brume_parts){0};
    if (!engine->driver->divide)
        return BRUME_OK;
    brume_status status = engine->driver->divide(engine, index, parts, error);
    if (status != BRUME_OK)
        brume_parts_clear(parts);
    return status;
}

brume_status brume_engine_scan_parts(brume_engine *engine, const char *const *statements,
                                     size_t count, const brume_wire *wires, size_t wire_count,
                                     brume_row_taker take, void *context, brume_error *error)
{
    if (!engine->driver->scan_parts)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "this source is not divided");
    if (engine->rows || count == 0 || wire_count == 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a query is running, or has no columns");
    brume_status status = BRUME_OK;
    bool cancelled = atomic_load(&engine->cancelled);
    if (!cancelled)
        status = engine->driver->scan_parts(engine, statements, count, wires, wire_count, take,
                                            context, error);
    if (atomic_exchange(&engine->cancelled, false) || cancelled)
        return brume_fail(error, BRUME_ECANCELLED, NULL, "interrupted");
    return status;
}

brume_status brume_engine_retain(brume_engine *engine, brume_error *error)
{
    if (!engine->driver->retain)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "files have no snapshots");
    if (engine->retained == 0)
        BRUME_TRY(engine->driver->retain(engine, error));
    engine->retained++;
    return BRUME_OK;
}

void brume_engine_release(brume_engine *engine)
{
    if (engine->retained > 0 && --engine->retained == 0)
        engine->driver->release(engine);
}

void brume_engine_cancel(brume_engine *engine)
{
    atomic_store(&engine->cancelled, true);
    engine->driver->cancel(engine);
}

char *brume_engine_quote_with(char mark, const char *name)
{
    char *quoted = malloc(2 * strlen(name) + 3), *end = quoted;
    if (!quoted)
        return NULL;
    *end++ = mark;
    for (; *name; name++) {
        if (*name == mark)
            *end++ = mark;
        *end++ = *name;
    }
    *end++ = mark;
    *end = 0;
    return quoted;
}

char *brume_engine_quote(const char *name)
{
    return brume_engine_quote_with('"', name);
}

char *brume_engine_format(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return text;
}

brume_status brume_engine_add_column(brume_description *description, const char *name,
                                     const char *native, brume_type type, brume_leaf leaf,
                                     bool not_null, brume_error *error)
{
    size_t count = description->column_count;
    brume_column *grown = realloc(description->columns, (count + 1) * sizeof *grown);
    if (grown)
        description->columns = grown;
    char *own_name = strdup(name), *own_native = strdup(native);
    if (!grown || !own_name || !own_native) {
        free(own_name);
        free(own_native);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    grown[count] = (brume_column){own_name, type, leaf, own_native, not_null};
    description->column_count = count + 1;
    return BRUME_OK;
}

brume_status brume_engine_check_columns(const brume_source *source, const brume_description *now,
                                        brume_error *error)
{
    if (!source->columns)
        return BRUME_OK;
    const char *hint = "register the source again under a new name, or restore its schema";
    for (size_t i = 0; i < source->column_count; i++) {
        size_t j = 0;
        while (j < now->column_count && strcmp(now->columns[j].name, source->columns[i].name) != 0)
            j++;
        if (j == now->column_count)
            return brume_fail(error, BRUME_ESOURCE, hint, "the source has no column '%s' any more",
                              source->columns[i].name);
        /* A column that cannot be read may be of any type: nothing is made of it. */
        if (source->columns[i].type.kind != BRUME_TYPE_REFUSED &&
            strcmp(now->columns[j].native, source->columns[i].native) != 0)
            return brume_fail(error, BRUME_ESOURCE, hint,
                              "column '%s' of the source is not of the recorded type any more",
                              source->columns[i].name);
    }
    return BRUME_OK;
}
