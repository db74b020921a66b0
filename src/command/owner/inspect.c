/* brume inspect: the owner's look at a file, before it is registered. Not private, and says so.
 *
 * Rows are read by the engine as a query reads them: first all as text, which proposes types, then
 * with the types, which tells what would be NULL. With --policy every table of a policy file is
 * compared with what it declares. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command/command.h"
#include "command/frame/output.h"
#include "command/frame/table.h"
#include "command/owner/declare.h"
#include "command/owner/policy_file.h"
#include "engine/declared.h"
#include "engine/driver.h"
#include "engine/files.h"
#include "reader/format.h"
#include "reader/guess.h"
#include "reader/text_files.h"

typedef struct inspected {
    bool text; /* a CSV or JSON file: the format and the types are proposed or typed */
    bool json; /* JSON lines */
    brume_text_format format;  /* of a CSV */
    brume_declared columns;    /* as they would be read */
    uint64_t rows, empty_rows; /* of a text file also: lines that are empty or cannot be read */
    uint64_t foreign;          /* of a text file: lines that are not UTF-8 */
    uint64_t *missing;         /* of each column: values that are not there, */
    uint64_t *unreadable;      /* and those that are not of its type, which read as NULL */
    brume_type_guess *guesses; /* of each column of a text file, by its values */
    json_t *domains; /* [{"column","missing":[...],"beyond","beyond_rows","values":[...]}] */
} inspected;

static const brume_type text_type = {BRUME_TYPE_TEXT, 0, 0};

static void clear_inspected(inspected *found)
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
                                 const brume_declared *typed, inspected *found, brume_error *error)
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

static brume_status open_file(const char *location, const inspected *found, brume_engine **engine,
                              brume_error *error)
{
    char *options = found->text ? brume_text_format_print(&found->format) : NULL;
    if (found->text && !options)
        return brume_no_memory(error, NULL);
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
    brume_status status = wires && sql ? BRUME_OK : brume_no_memory(error, NULL);
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
static void settle_types(inspected *found, const brume_declared *typed,
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
                                  inspected *found, brume_error *error)
{
    size_t width = found->columns.count;
    brume_engine *engine = NULL;
    looked seen = {calloc(width + 1, sizeof *seen.guesses), 0};
    found->missing = calloc(width + 1, sizeof *found->missing);
    brume_status status = seen.guesses && found->missing
                              ? open_file(location, found, &engine, error)
                              : brume_no_memory(error, NULL);
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
    inspected *found = context;
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

static brume_status count_values(brume_engine *engine, inspected *found, brume_error *error)
{
    size_t width = found->columns.count;
    found->unreadable = calloc(width + 1, sizeof *found->unreadable);
    if (!found->missing)
        found->missing = calloc(width + 1, sizeof *found->missing);
    if (!found->unreadable || !found->missing)
        return brume_no_memory(error, NULL);
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
            return brume_no_memory(error, NULL);
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
        status = brume_no_memory(error, NULL);
    }
    if (status == BRUME_OK && json_array_append_new(domains, domain_to_json(column, &look)) != 0)
        status = brume_no_memory(error, NULL);
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

static brume_status look_at_domains(const brume_call *call, brume_engine *engine, inspected *found,
                                    brume_error *error)
{
    found->domains = json_array();
    if (!found->domains)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < found->columns.count; i++) {
        const char *name = found->columns.columns[i].name;
        if (brume_declares_column(call, "domain", name))
            BRUME_TRY(look_at_domain(call, engine, name, found->domains, error));
    }
    return BRUME_OK;
}

/* ---- all of it ---- */

static brume_status take_schema(brume_engine *engine, inspected *found, brume_error *error)
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

static brume_status look_with_types(const brume_call *call, const char *location, inspected *found,
                                    brume_error *error)
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

static brume_status inspect_file(const brume_call *call, const char *location, inspected *out,
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

/* ---- the tables of a policy file ---- */

typedef struct table_look {
    brume_engine *engine;
    const brume_tables *tables;
    json_t *out; /* what is found of the table */
    brume_error *error;
} table_look;

/* The one number that a SELECT gives. */
static brume_status count_by(const table_look *from, const char *sql, json_int_t *count)
{
    const brume_wire wire = BRUME_WIRE_INTEGER;
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    BRUME_TRY(brume_engine_select(from->engine, sql, &wire, 1, &rows, from->error));
    brume_status status = BRUME_OK;
    *count = 0;
    do {
        status = brume_rows_next(rows, &chunk, from->error);
        if (status == BRUME_OK && chunk && chunk->row_count > 0 &&
            !brume_chunk_is_null(&chunk->columns[0], 0))
            *count = (json_int_t)chunk->columns[0].integers[0];
    } while (status == BRUME_OK && chunk);
    brume_rows_close(rows);
    return status;
}

static void write_literal(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '\'' ? "'" : "", *text);
    fputc('\'', out);
}

/* Count by a SELECT, which is taken over, and keep the number as a member. */
static brume_status keep_count(const table_look *from, json_t *to, const char *name, char *sql)
{
    json_int_t count = 0;
    if (!sql)
        return brume_no_memory(from->error, NULL);
    brume_status status = count_by(from, sql, &count);
    free(sql);
    if (status == BRUME_OK && json_object_set_new(to, name, json_integer(count)) != 0)
        status = brume_no_memory(from->error, NULL);
    return status;
}

static char *select_text(const char *format, ...) BRUME_PRINTF(1, 2);
static char *select_text(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return text;
}

/* A declared bound as SQL has it: a number, or a constant of the column's type. */
static const char *bound_text(brume_type type, const char *bound, char text[80])
{
    char name[BRUME_TYPE_NAME_SIZE];
    if (!brume_type_is_time(type))
        return bound;
    snprintf(text, 80, "CAST('%.40s' AS %s)", bound, brume_type_name(type, name));
    return text;
}

/* Values outside the bounds, and beyond the domain, of one column. */
static brume_status look_at_column(const table_look *from, const char *table,
                                   const brume_policy_column *column)
{
    json_t *one = json_pack("{s:s}", "column", column->name);
    char *name = brume_engine_quote(column->name), *list = NULL;
    size_t length = 0;
    brume_status status =
        one && name && json_array_append_new(json_object_get(from->out, "columns"), one) == 0
            ? BRUME_OK
            : brume_no_memory(from->error, NULL);
    if (status == BRUME_OK && column->low) {
        char low[80], high[80];
        status = keep_count(from, one, "outside_bounds",
                            select_text("SELECT COUNT(*) FROM %s WHERE %s < %s OR %s > %s", table,
                                        name, bound_text(column->type, column->low, low), name,
                                        bound_text(column->type, column->high, high)));
    }
    if (status == BRUME_OK && column->domain_count) {
        FILE *out = open_memstream(&list, &length);
        for (size_t i = 0; out && i < column->domain_count; i++) {
            fputs(i ? ", " : "", out);
            write_literal(out, column->domain[i]);
        }
        if (!out || fclose(out) != 0)
            status = brume_no_memory(from->error, NULL);
        if (status == BRUME_OK)
            status = keep_count(
                from, one, "beyond_domain",
                select_text("SELECT COUNT(*) FROM %s WHERE %s NOT IN (%s)", table, name, list));
        if (status == BRUME_OK)
            status = keep_count(from, one, "domain_values_found",
                                select_text("SELECT COUNT(DISTINCT %s) FROM %s WHERE %s IN (%s)",
                                            name, table, name, list));
        if (status == BRUME_OK)
            json_object_set_new(one, "domain_values",
                                json_integer((json_int_t)column->domain_count));
    }
    free(name);
    free(list);
    return status;
}

/* Rows whose key finds no parent, and keys that several rows of the parent have. */
static brume_status look_at_link(const table_look *from, const char *table,
                                 const brume_policy *policy)
{
    size_t parent = brume_tables_find(from->tables, policy->parent);
    const char *other = brume_engine_table(from->engine, parent);
    char *own = brume_engine_quote(policy->link_column);
    char *key = brume_engine_quote(policy->parent_column);
    brume_status status = own && key ? BRUME_OK : brume_no_memory(from->error, NULL);
    if (status == BRUME_OK)
        status = keep_count(from, from->out, "without_parent",
                            select_text("SELECT COUNT(*) FROM %s WHERE %s IS NULL OR %s NOT IN "
                                        "(SELECT %s FROM %s WHERE %s IS NOT NULL)",
                                        table, own, own, key, other, key));
    if (status == BRUME_OK)
        status = keep_count(from, from->out, "keys_of_several_parents",
                            select_text("SELECT COUNT(*) FROM (SELECT %s FROM %s WHERE %s IS NOT "
                                        "NULL GROUP BY %s HAVING COUNT(*) > 1) AS t",
                                        key, other, key, key));
    free(own);
    free(key);
    return status;
}

static brume_status look_at_unit(const table_look *from, const char *table,
                                 const brume_policy *policy)
{
    char *unit = brume_engine_quote(policy->unit);
    brume_status status = unit ? BRUME_OK : brume_no_memory(from->error, NULL);
    if (status == BRUME_OK)
        status = keep_count(from, from->out, "without_unit",
                            select_text("SELECT COUNT(*) FROM %s WHERE %s IS NULL", table, unit));
    if (status == BRUME_OK)
        status = keep_count(from, from->out, "units",
                            select_text("SELECT COUNT(DISTINCT %s) FROM %s", unit, table));
    if (status == BRUME_OK)
        status = keep_count(from, from->out, "most_rows_of_a_unit",
                            select_text("SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM %s WHERE %s "
                                        "IS NOT NULL GROUP BY %s) AS t",
                                        table, unit, unit));
    free(unit);
    return status;
}

static brume_status look_at_table(table_look *from, size_t index, json_t *list)
{
    const brume_table_policy *one = &from->tables->list[index];
    const char *table = brume_engine_table(from->engine, index);
    from->out = json_pack("{s:s,s:[]}", "name", one->name, "columns");
    if (!from->out || json_array_append_new(list, from->out) != 0)
        return brume_no_memory(from->error, NULL);
    BRUME_TRY(keep_count(from, from->out, "rows", select_text("SELECT COUNT(*) FROM %s", table)));
    if (one->policy->unit)
        BRUME_TRY(look_at_unit(from, table, one->policy));
    if (one->policy->link_column)
        BRUME_TRY(look_at_link(from, table, one->policy));
    for (size_t i = 0; i < one->policy->column_count; i++)
        if (one->policy->columns[i].low || one->policy->columns[i].domain_count)
            BRUME_TRY(look_at_column(from, table, &one->policy->columns[i]));
    return BRUME_OK;
}

static brume_status look(const brume_policy_file *file, json_t *list, brume_error *error)
{
    size_t count = file->tables->count;
    brume_source *sources = calloc(count + 1, sizeof *sources);
    brume_column **columns = calloc(count + 1, sizeof *columns);
    table_look from = {.tables = file->tables, .error = error};
    brume_status status = sources && columns ? BRUME_OK : brume_no_memory(error, NULL);
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        brume_dialect dialect;
        const brume_policy *policy = file->tables->list[i].policy;
        status = brume_policy_source(policy, &sources[i], &columns[i], error);
        if (status == BRUME_OK && (!brume_engine_dialect_of(policy->location, &dialect) ||
                                   dialect != BRUME_DIALECT_DUCKDB))
            status = brume_fail(error, BRUME_EUNSUPPORTED, "ask the server in its own SQL",
                                "'inspect' looks at files, and '%s' is a table of a server",
                                file->tables->list[i].name);
    }
    if (status == BRUME_OK)
        status = brume_engine_open(sources, count, &from.engine, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        status = look_at_table(&from, i, list);
    brume_engine_close(from.engine);
    for (size_t i = 0; columns && i < count; i++)
        free(columns[i]);
    free(columns);
    free(sources);
    return status;
}

static long long number_of(const json_t *of, const char *name)
{
    return (long long)json_integer_value(json_object_get(of, name));
}

static void write_table(FILE *out, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns");
    fprintf(out, "\n%s: %lld rows\n", json_string_value(json_object_get(table, "name")),
            number_of(table, "rows"));
    if (json_object_get(table, "units"))
        fprintf(out,
                "  %lld units, the largest with %lld rows; %lld rows without a unit are dropped\n",
                number_of(table, "units"), number_of(table, "most_rows_of_a_unit"),
                number_of(table, "without_unit"));
    if (json_object_get(table, "without_parent"))
        fprintf(out,
                "  link: %lld rows find no parent and are dropped; %lld keys belong to several "
                "parents\n",
                number_of(table, "without_parent"), number_of(table, "keys_of_several_parents"));
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *one = json_array_get(columns, i);
        const char *name = json_string_value(json_object_get(one, "column"));
        if (json_object_get(one, "outside_bounds"))
            fprintf(out, "  bounds of %s: %lld values are outside\n", name,
                    number_of(one, "outside_bounds"));
        if (json_object_get(one, "domain_values"))
            fprintf(out, "  domain of %s: %lld of %lld values occur; %lld rows have another one\n",
                    name, number_of(one, "domain_values_found"), number_of(one, "domain_values"),
                    number_of(one, "beyond_domain"));
    }
}

static brume_status inspect_policy(brume_call *call, const char *path, brume_error *error)
{
    brume_policy_file *file = NULL;
    json_t *list = json_array();
    if (!list)
        return brume_no_memory(error, NULL);
    brume_status status =
        brume_policy_file_open(brume_command_by_name("register"), "dataset", path, &file, error);
    if (status == BRUME_OK)
        status = look(file, list, error);
    brume_policy_file_close(file);
    if (status == BRUME_OK && call->json) {
        status = brume_call_write_json(call, json_pack("{s:b,s:O}", "private", 0, "tables", list),
                                       error);
    } else if (status == BRUME_OK) {
        fputs("this read the data and is not private: it is for the owner's eyes\n", call->out);
        for (size_t i = 0; i < json_array_size(list); i++)
            write_table(call->out, json_array_get(list, i));
    }
    json_decref(list);
    return status;
}

/* ---- what to declare ---- */

static void write_name(FILE *out, const char *name)
{
    if (*name && !strpbrk(name, ", \t\"")) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (; *name; name++)
        fprintf(out, "%s%c", *name == '"' ? "\"" : "", *name);
    fputc('"', out);
}

/* The text of --columns; the caller frees it. */
static char *columns_text(const brume_declared *columns)
{
    char *text = NULL, type[BRUME_TYPE_NAME_SIZE];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < columns->count; i++) {
        fputs(i ? ", " : "", out);
        write_name(out, columns->columns[i].name);
        fprintf(out, " %s", brume_type_name(columns->columns[i].type, type));
    }
    return fclose(out) == 0 ? text : NULL;
}

static const char *delimiter_word(char delimiter)
{
    static char one[2];
    one[0] = delimiter;
    return delimiter == '\t' ? "tab" : one;
}

/* Is column i a text because of few of its values? Then the type of the others, and how many it is
 * not the type of. */
static bool is_nearly(const inspected *found, size_t i, brume_type *type, uint64_t *others)
{
    if (!found->guesses || found->columns.columns[i].type.kind != BRUME_TYPE_TEXT)
        return false;
    *type = brume_guess_nearly(&found->guesses[i], others);
    return type->kind != BRUME_TYPE_TEXT;
}

/* How many lines of the file are no UTF-8, or have a NUL: texts in them may be NULL. */
static brume_status count_foreign(const char *location, uint64_t *count, brume_error *error)
{
    brume_files files = {0};
    char *line = NULL;
    size_t room = 0;
    brume_status status = brume_files_find(location, &files, error);
    *count = 0;
    for (size_t i = 0; status == BRUME_OK && i < files.count; i++) {
        FILE *file = fopen(files.paths[i], "re");
        ssize_t length;
        while (file && (length = getline(&line, &room, file)) >= 0)
            *count += !brume_utf8_is_text(line, (size_t)length);
        if (!file || ferror(file))
            status = brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s'", location);
        if (file)
            fclose(file);
    }
    free(line);
    brume_files_clear(&files);
    return status;
}

/* ---- text ---- */

static brume_status write_columns(brume_call *call, const inspected *found, brume_error *error)
{
    static const char *const heads[] = {"column", "type", ">missing", ">unreadable", NULL};
    char type[BRUME_TYPE_NAME_SIZE];
    brume_table *table = brume_table_open(heads);
    for (size_t i = 0; i < found->columns.count; i++) {
        brume_table_cell(table, "%s", found->columns.columns[i].name);
        brume_table_cell(table, "%s", brume_type_name(found->columns.columns[i].type, type));
        brume_table_cell(table, "%llu", (unsigned long long)found->missing[i]);
        brume_table_cell(table, "%llu", (unsigned long long)found->unreadable[i]);
    }
    return brume_table_write(table, call, error);
}

/* Values, those with blanks at an end, or nothing in them, in quotes: else nobody sees that. */
static void write_list(FILE *out, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *value = json_string_value(json_array_get(list, i));
        bool odd = !*value || *value == ' ' || value[strlen(value) - 1] == ' ';
        fprintf(out, "%s%s%s%s", i ? ", " : "", odd ? "'" : "", value, odd ? "'" : "");
    }
}

static void write_nearly(FILE *out, const inspected *found)
{
    char word[BRUME_TYPE_NAME_SIZE];
    brume_type type;
    uint64_t others;
    for (size_t i = 0; i < found->columns.count; i++)
        if (is_nearly(found, i, &type, &others))
            brume_write_sentence(out,
                                 "%s: all but %llu of its values are of the type %s; declared so, "
                                 "these are read as NULL",
                                 found->columns.columns[i].name, (unsigned long long)others,
                                 brume_type_name(type, word));
}

static void write_domain(FILE *out, const json_t *domain)
{
    const json_t *missing = json_object_get(domain, "missing"),
                 *values = json_object_get(domain, "values");
    long long beyond = json_integer_value(json_object_get(domain, "beyond"));
    fprintf(out, "domain of %s: ", json_string_value(json_object_get(domain, "column")));
    if (json_array_size(missing) == 0)
        fprintf(out, "every value occurs");
    else
        fprintf(out, "these do not occur: ");
    write_list(out, missing);
    fputc('\n', out);
    if (beyond == 0)
        return;
    fprintf(out, "  %lld %s beyond it, in %lld rows: ", beyond, beyond == 1 ? "value" : "values",
            (long long)json_integer_value(json_object_get(domain, "beyond_rows")));
    write_list(out, values);
    fprintf(out, "%s\n", (long long)json_array_size(values) < beyond ? ", ..." : "");
}

static brume_status write_text(brume_call *call, const inspected *found, const char *columns,
                               brume_error *error)
{
    FILE *out = call->out;
    fprintf(out, "this read the data and is not private: it is for the owner's eyes\n\n");
    fprintf(out, "  rows       %llu\n", (unsigned long long)found->rows);
    if (found->empty_rows)
        fprintf(out, "             %llu of them empty, or not to be read%s\n",
                (unsigned long long)found->empty_rows,
                found->text && !found->json && !found->format.multiline
                    ? ", as where a quoted text\n             goes over lines without --multiline"
                    : "");
    if (found->foreign)
        fprintf(out,
                "  encoding   not UTF-8 in %llu lines: texts in them that are not are NULL;\n"
                "             iconv -f latin1 -t utf-8 FILE makes it, if latin1 is what it is\n",
                (unsigned long long)found->foreign);
    if (found->text && !found->json) {
        char usual = brume_text_format_of(brume_call_operand(call, 0)).delimiter;
        const char *word = delimiter_word(found->format.delimiter);
        fprintf(out, "  delimiter  %s", word);
        if (found->format.delimiter != usual)
            fprintf(out, ": say --delimiter '%s'", word);
        fputc('\n', out);
        fprintf(out, "  header     %s\n", found->format.header ? "yes" : "no: say --no-header");
    }
    if (found->text)
        fprintf(out, "  --columns '%s'\n", columns);
    fputc('\n', out);
    BRUME_TRY(write_columns(call, found, error));
    write_nearly(out, found);
    for (size_t i = 0; i < json_array_size(found->domains); i++)
        write_domain(out, json_array_get(found->domains, i));
    return BRUME_OK;
}

/* ---- JSON ---- */

static json_t *columns_to_json(const inspected *found)
{
    char type[BRUME_TYPE_NAME_SIZE];
    json_t *list = json_array();
    for (size_t i = 0; list && i < found->columns.count; i++) {
        brume_type near;
        uint64_t others;
        json_t *one = json_pack("{s:s,s:s,s:I,s:I}", "name", found->columns.columns[i].name, "type",
                                brume_type_name(found->columns.columns[i].type, type), "missing",
                                (json_int_t)found->missing[i], "unreadable",
                                (json_int_t)found->unreadable[i]);
        bool good = json_array_append(list, one) == 0;
        if (good && is_nearly(found, i, &near, &others))
            good = json_object_set_new(one, "nearly",
                                       json_pack("{s:s,s:I}", "type", brume_type_name(near, type),
                                                 "others", (json_int_t)others)) == 0;
        json_decref(one);
        if (!good) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *to_json(const inspected *found, const char *columns)
{
    bool csv = found->text && !found->json;
    char delimiter[] = {found->format.delimiter, 0};
    return json_pack("{s:o,s:s?,s:o,s:I,s:b,s:I,s:I,s:s?,s:O}", "columns", columns_to_json(found),
                     "delimiter", csv ? delimiter : NULL, "header",
                     csv ? json_boolean(found->format.header) : json_null(), "rows",
                     (json_int_t)found->rows, "private", 0, "empty_rows",
                     (json_int_t)found->empty_rows, "not_utf8_rows", (json_int_t)found->foreign,
                     "declare", found->text ? columns : NULL, "domains", found->domains);
}

static brume_status run(brume_call *call, brume_error *error)
{
    inspected found = {0};
    const char *policy = brume_call_text(call, "policy"), *file = brume_call_operand(call, 0);
    if (!policy == !file)
        return brume_fail(error, BRUME_EARGUMENT, "inspect FILE, or inspect --policy FILE.yaml",
                          "there must be a file, or a policy");
    if (policy && (brume_declares_schema(call) || brume_call_has(call, "domain")))
        return brume_fail(error, BRUME_EARGUMENT, "they are keys of the file",
                          "'--policy' goes with no other option");
    if (policy)
        return inspect_policy(call, policy, error);
    brume_status status = inspect_file(call, brume_call_operand(call, 0), &found, error);
    if (status == BRUME_OK && found.text)
        status = count_foreign(brume_call_operand(call, 0), &found.foreign, error);
    char *columns = status == BRUME_OK ? columns_text(&found.columns) : NULL;
    if (status == BRUME_OK && !columns)
        status = brume_no_memory(error, NULL);
    if (status == BRUME_OK)
        status = call->json ? brume_call_write_json(call, to_json(&found, columns), error)
                            : write_text(call, &found, columns, error);
    free(columns);
    clear_inspected(&found);
    return status;
}

const brume_command brume_command_inspect = {
    .name = "inspect",
    .summary = "look at a file and propose how to register it",
    .description =
        "The owner's look at a file. It reads all rows, and what it prints is not private: types "
        "that fit all values, the delimiter, whether there is a header, how many values are "
        "missing, and how many are not of the type and would be read as NULL. 'register' reads no "
        "row for that: it takes what is declared, such as the --columns proposed here.\n\nWith "
        "--columns the types are those, and the others text, as 'register' would have them.",
    BRUME_OPERANDS(
        BRUME_OPERAND(FILE, "FILE", "a .csv, .parquet or .json path or glob", .optional = true)),
    BRUME_OPTIONS(
        BRUME_SCHEMA_OPTIONS,
        BRUME_OPTION(FILE, "policy", "FILE.yaml",
                     "check every table of a policy file: units, links, bounds and domains"),
        BRUME_OPTION(TEXT, "domain", "COLUMN=V1,V2,...",
                     "which of these values do not occur, and what occurs beyond them",
                     .repeated = true)),
    BRUME_EXAMPLES("inspect visits.csv --domain ward=surgery,medicine,maternity"),
    .run = run,
};
