/* An owner's look at a file. Rows are read by the engine as a query reads them: first all as text,
 * which proposes types, then with the types, which tells what would be NULL. */
#include "command/owner/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "command/owner/declare.h"
#include "engine/driver.h"
#include "engine/files.h"
#include "reader/header.h"

static const brume_type text_type = {BRUME_TYPE_TEXT, 0, 0};

void brume_inspected_clear(brume_inspected *found)
{
    brume_declared_clear(&found->columns);
    free(found->missing);
    free(found->unreadable);
    free(found->guesses);
    json_decref(found->domains);
}

/* ---- names and format ---- */

static brume_status add_texts(char *const *names, size_t count, brume_declared *columns,
                              brume_error *error)
{
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(brume_declared_add(columns, names[i], text_type, error));
    return BRUME_OK;
}

static brume_status name_fields(const brume_text_file *file, brume_declared *columns,
                                brume_error *error)
{
    char **names = NULL;
    size_t count = 0;
    BRUME_TRY(brume_guess_fields(file, &names, &count, error));
    brume_status status = add_texts(names, count, columns, error);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return status;
}

static brume_status name_columns(const brume_text_file *file, const brume_text_format *format,
                                 size_t width, brume_declared *columns, brume_error *error)
{
    brume_header header = {0};
    brume_status status = BRUME_OK;
    if (format->header) {
        BRUME_TRY(brume_header_read(file, format, &header, error));
        status = add_texts(header.names, header.count, columns, error);
        brume_header_clear(&header);
        return status;
    }
    for (size_t i = 0; status == BRUME_OK && i < width; i++) {
        char name[32];
        snprintf(name, sizeof name, "column%zu", i + 1);
        status = brume_declared_add(columns, name, text_type, error);
    }
    return status;
}

static brume_status refuse_arrays(const brume_files *files, brume_error *error)
{
    for (size_t i = 0; i < files->count; i++) {
        brume_text_file file;
        BRUME_TRY(brume_text_file_look(files->paths[i], files->location, &file, error));
        BRUME_TRY(brume_refuse_array(&file, error));
    }
    return BRUME_OK;
}

/* How the file's lines may be meant, and its columns as text; typed options say otherwise. */
static brume_status find_columns(const brume_call *call, const char *location,
                                 const brume_declared *typed, brume_inspected *found,
                                 brume_error *error)
{
    brume_files files = {0};
    brume_text_file file;
    size_t width = 0;
    BRUME_TRY(brume_declare_format(call, location, NULL, &found->format, error));
    brume_status status = brume_files_find(location, &files, error);
    found->json = files.format == BRUME_FILE_JSON;
    if (status == BRUME_OK)
        status = brume_text_file_look(files.paths[0], location, &file, error);
    if (status == BRUME_OK && found->json)
        status = refuse_arrays(&files, error);
    if (status == BRUME_OK && !found->json)
        status = brume_guess_format(&file, !brume_call_has(call, "delimiter"),
                                    !brume_call_has(call, "no-header"), &found->format, &width,
                                    error);
    bool named = typed->count > 0 && (found->json || !found->format.header);
    for (size_t i = 0; status == BRUME_OK && named && i < typed->count; i++)
        status = brume_declared_add(&found->columns, typed->columns[i].name, text_type, error);
    if (status == BRUME_OK && !named)
        status = found->json ? name_fields(&file, &found->columns, error)
                             : name_columns(&file, &found->format, width, &found->columns, error);
    brume_files_clear(&files);
    return status;
}

/* ---- reading ---- */

static brume_status open_file(const char *location, const brume_inspected *found,
                              brume_engine **engine, brume_error *error)
{
    char *options = found->text ? brume_text_format_print(&found->format) : NULL;
    if (found->text && !options)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    brume_source source = {.location = location,
                           .options = options,
                           .declared = found->columns.columns,
                           .declared_count = found->columns.count};
    brume_status status = brume_engine_open(&source, 1, engine, error);
    free(options);
    return status;
}

/* "SELECT first"x", ... FROM table": every column between `before` and `behind`. */
static char *select_columns(brume_engine *engine, const char *first, const char *before,
                            const char *behind, const brume_declared *columns)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "SELECT %s", first);
    for (size_t i = 0; i < columns->count; i++) {
        char *name = brume_engine_quote(columns->columns[i].name);
        fprintf(out, "%s%s%s%s", i || *first ? ", " : "", before, name ? name : "", behind);
        free(name);
    }
    fprintf(out, " FROM %s", brume_engine_table(engine, 0));
    return fclose(out) == 0 ? text : NULL;
}

typedef brume_status (*chunk_taker)(void *context, const brume_chunk *chunk, brume_error *error);

/* Run a SELECT whose columns travel as `first`, then as `rest`; takes over `sql`. */
static brume_status each_chunk(brume_engine *engine, char *sql, size_t width, brume_wire first,
                               brume_wire rest, chunk_taker take, void *context, brume_error *error)
{
    brume_wire *wires = calloc(width + 1, sizeof *wires);
    brume_rows *rows = NULL;
    brume_status status = wires && sql ? BRUME_OK
                                       : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; wires && i < width; i++)
        wires[i] = i ? rest : first;
    if (status == BRUME_OK)
        status = brume_engine_select(engine, sql, wires, width, &rows, error);
    const brume_chunk *chunk = NULL;
    do {
        if (status == BRUME_OK)
            status = brume_rows_next(rows, &chunk, error);
        if (status == BRUME_OK && chunk)
            status = take(context, chunk, error);
    } while (status == BRUME_OK && chunk);
    brume_rows_close(rows);
    free(wires);
    free(sql);
    return status;
}

/* ---- types ---- */

typedef struct looked {
    brume_type_guess *guesses;
    uint64_t empty_rows;
} looked;

static brume_status look_at_chunk(void *context, const brume_chunk *chunk, brume_error *error)
{
    (void)error;
    looked *seen = context;
    for (size_t row = 0; row < chunk->row_count; row++) {
        bool empty = true;
        for (size_t i = 0; i < chunk->column_count; i++) {
            const brume_chunk_column *column = &chunk->columns[i];
            if (brume_chunk_is_null(column, row))
                continue;
            empty = false;
            brume_guess_see(&seen->guesses[i], column->texts[row]);
        }
        seen->empty_rows += empty;
    }
    return BRUME_OK;
}

/* Columns that were typed have that type; without --columns each has the one that fits. */
static void settle_types(brume_inspected *found, const brume_declared *typed,
                         const brume_type_guess *guesses)
{
    for (size_t i = 0; i < found->columns.count; i++) {
        brume_column *column = &found->columns.columns[i];
        const brume_column *said = brume_declared_find(typed, column->name);
        column->type = said && said->type.kind != BRUME_TYPE_REFUSED ? said->type
                       : typed->count > 0                            ? text_type
                                          : brume_guess_type(&guesses[i]);
    }
}

static brume_status propose_types(const char *location, const brume_declared *typed,
                                  brume_inspected *found, brume_error *error)
{
    size_t width = found->columns.count;
    brume_engine *engine = NULL;
    looked seen = {calloc(width + 1, sizeof *seen.guesses), 0};
    found->missing = calloc(width + 1, sizeof *found->missing);
    brume_status status = seen.guesses && found->missing
                              ? open_file(location, found, &engine, error)
                              : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (status == BRUME_OK)
        status = each_chunk(engine, select_columns(engine, "", "", "", &found->columns), width,
                            BRUME_WIRE_TEXT, BRUME_WIRE_TEXT, look_at_chunk, &seen, error);
    brume_engine_close(engine);
    if (status == BRUME_OK) {
        settle_types(found, typed, seen.guesses);
        found->empty_rows = seen.empty_rows;
        for (size_t i = 0; i < width; i++)
            found->missing[i] = seen.guesses[i].values; /* those that are there, for now */
    }
    found->guesses = seen.guesses;
    return status;
}

/* ---- counts ---- */

static brume_status take_counts(void *context, const brume_chunk *chunk, brume_error *error)
{
    (void)error;
    brume_inspected *found = context;
    if (chunk->row_count == 0)
        return BRUME_OK;
    found->rows = (uint64_t)chunk->columns[0].integers[0];
    for (size_t i = 0; i < found->columns.count; i++) {
        uint64_t read = (uint64_t)chunk->columns[i + 1].integers[0];
        bool counts = found->text && found->columns.columns[i].type.kind != BRUME_TYPE_TEXT;
        uint64_t there = counts ? found->missing[i] : read;
        found->unreadable[i] = there > read ? there - read : 0;
        found->missing[i] = found->rows - there;
    }
    return BRUME_OK;
}

static brume_status count_values(brume_engine *engine, brume_inspected *found, brume_error *error)
{
    size_t width = found->columns.count;
    found->unreadable = calloc(width + 1, sizeof *found->unreadable);
    if (!found->missing)
        found->missing = calloc(width + 1, sizeof *found->missing);
    if (!found->unreadable || !found->missing)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    return each_chunk(engine, select_columns(engine, "COUNT(*)", "COUNT(", ")", &found->columns),
                      width + 1, BRUME_WIRE_INTEGER, BRUME_WIRE_INTEGER, take_counts, found, error);
}

/* ---- domains ---- */

enum { SHOWN = 10 };

typedef struct domain_look {
    json_t *occurs; /* declared value -> whether it does */
    json_t *values; /* some beyond */
    uint64_t beyond, beyond_rows;
} domain_look;

static brume_status look_at_values(void *context, const brume_chunk *chunk, brume_error *error)
{
    domain_look *look = context;
    for (size_t row = 0; row < chunk->row_count; row++) {
        if (brume_chunk_is_null(&chunk->columns[0], row))
            continue;
        brume_text text = chunk->columns[0].texts[row];
        char *value = strndup(text.data, text.length);
        bool failed = !value;
        if (value && json_object_get(look->occurs, value)) {
            failed = json_object_set_new(look->occurs, value, json_true()) != 0;
        } else if (value) {
            look->beyond++;
            look->beyond_rows += (uint64_t)chunk->columns[1].integers[row];
            if (look->beyond <= SHOWN)
                failed = json_array_append_new(look->values, json_string(value)) != 0;
        }
        free(value);
        if (failed)
            return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    return BRUME_OK;
}

/* The values of the domain of `column` that the options declare, none of them seen yet. */
static json_t *declared_values(const brume_call *call, const char *column)
{
    json_t *values = json_object();
    size_t length = strlen(column);
    for (size_t i = 0; values && i < brume_call_times(call, "domain"); i++) {
        const char *typed = brume_call_text_at(call, "domain", i);
        if (strncmp(typed, column, length) != 0 || typed[length] != '=')
            continue;
        char *copy = strdup(typed + length + 1), *rest = copy, *part = NULL;
        while ((part = strsep(&rest, ",")))
            json_object_set_new(values, part, json_false());
        free(copy);
    }
    return values;
}

static json_t *domain_to_json(const char *column, const domain_look *look)
{
    json_t *missing = json_array(), *occurs = NULL;
    const char *value = NULL;
    json_object_foreach (look->occurs, value, occurs) {
        if (json_is_false(occurs))
            json_array_append_new(missing, json_string(value));
    }
    return json_pack("{s:s,s:o,s:I,s:I,s:O}", "column", column, "missing", missing, "beyond",
                     (json_int_t)look->beyond, "beyond_rows", (json_int_t)look->beyond_rows,
                     "values", look->values);
}

static brume_status look_at_domain(const brume_call *call, brume_engine *engine, const char *column,
                                   json_t *domains, brume_error *error)
{
    domain_look look = {declared_values(call, column), json_array(), 0, 0};
    char *name = brume_engine_quote(column);
    char *sql =
        name ? brume_engine_format(
                   "SELECT CAST(%s AS VARCHAR), COUNT(*) FROM %s GROUP BY 1 ORDER BY 2 DESC, 1",
                   name, brume_engine_table(engine, 0))
             : NULL;
    brume_status status = BRUME_OK;
    if (look.occurs && look.values) {
        status = each_chunk(engine, sql, 2, BRUME_WIRE_TEXT, BRUME_WIRE_INTEGER, look_at_values,
                            &look, error);
    } else {
        free(sql);
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    if (status == BRUME_OK && json_array_append_new(domains, domain_to_json(column, &look)) != 0)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    free(name);
    json_decref(look.occurs);
    json_decref(look.values);
    return status;
}

/* Every --domain must name a column. */
static brume_status check_domains(const brume_call *call, const brume_declared *columns,
                                  brume_error *error)
{
    for (size_t i = 0; i < brume_call_times(call, "domain"); i++) {
        const char *typed = brume_call_text_at(call, "domain", i);
        const char *equals = strchr(typed, '=');
        char *name = equals ? strndup(typed, (size_t)(equals - typed)) : NULL;
        bool known = name && brume_declared_find(columns, name);
        free(name);
        if (!equals)
            return brume_fail(error, BRUME_EARGUMENT, "write COLUMN=V1,V2,...",
                              "'--domain' is '%s'", typed);
        if (!known)
            return brume_fail(error, BRUME_EUNKNOWN, "its columns are listed without --domain",
                              "the file has no column '%.*s'", (int)(equals - typed), typed);
    }
    return BRUME_OK;
}

static brume_status look_at_domains(const brume_call *call, brume_engine *engine,
                                    brume_inspected *found, brume_error *error)
{
    found->domains = json_array();
    if (!found->domains)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < found->columns.count; i++) {
        const char *name = found->columns.columns[i].name;
        if (brume_declares_column(call, "domain", name))
            BRUME_TRY(look_at_domain(call, engine, name, found->domains, error));
    }
    return BRUME_OK;
}

/* ---- all of it ---- */

static brume_status take_schema(brume_engine *engine, brume_inspected *found, brume_error *error)
{
    brume_description description = {0};
    BRUME_TRY(brume_engine_describe(engine, 0, &description, error));
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < description.column_count; i++)
        status = brume_declared_add(&found->columns, description.columns[i].name,
                                    description.columns[i].type, error);
    brume_description_clear(&description);
    return status;
}

static brume_status look_with_types(const brume_call *call, const char *location,
                                    brume_inspected *found, brume_error *error)
{
    brume_engine *engine = NULL;
    BRUME_TRY(open_file(location, found, &engine, error));
    brume_status status = found->text ? BRUME_OK : take_schema(engine, found, error);
    if (status == BRUME_OK)
        status = check_domains(call, &found->columns, error);
    if (status == BRUME_OK)
        status = count_values(engine, found, error);
    if (status == BRUME_OK)
        status = look_at_domains(call, engine, found, error);
    brume_engine_close(engine);
    return status;
}

brume_status brume_inspect(const brume_call *call, const char *location, brume_inspected *out,
                           brume_error *error)
{
    brume_declared typed = {0};
    BRUME_TRY(brume_check_schema_options(call, location, &out->text, error));
    brume_status status = BRUME_OK;
    if (brume_call_text(call, "columns"))
        status = brume_declared_parse(brume_call_text(call, "columns"), &typed, error);
    if (status == BRUME_OK && out->text)
        status = find_columns(call, location, &typed, out, error);
    if (status == BRUME_OK && out->text)
        status = propose_types(location, &typed, out, error);
    if (status == BRUME_OK)
        status = look_with_types(call, location, out, error);
    brume_declared_clear(&typed);
    return status;
}
