/* inspect --policy FILE: every table of a policy against what it declares, before it is registered.
 * It reads all rows, and nothing of what it finds is private. */
#include "command/owner/inspect.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command/owner/policy_file.h"
#include "engine/driver.h"

typedef struct looking {
    brume_engine *engine;
    const brume_tables *tables;
    json_t *out; /* what is found of the table */
    brume_error *error;
} looking;

/* The one number that a SELECT gives. */
static brume_status count_by(const looking *from, const char *sql, json_int_t *count)
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
static brume_status keep_count(const looking *from, json_t *to, const char *name, char *sql)
{
    json_int_t count = 0;
    if (!sql)
        return brume_fail(from->error, BRUME_EMEMORY, NULL, "out of memory");
    brume_status status = count_by(from, sql, &count);
    free(sql);
    if (status == BRUME_OK && json_object_set_new(to, name, json_integer(count)) != 0)
        status = brume_fail(from->error, BRUME_EMEMORY, NULL, "out of memory");
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
static brume_status look_at_column(const looking *from, const char *table,
                                   const brume_policy_column *column)
{
    json_t *one = json_pack("{s:s}", "column", column->name);
    char *name = brume_engine_quote(column->name), *list = NULL;
    size_t length = 0;
    brume_status status =
        one && name && json_array_append_new(json_object_get(from->out, "columns"), one) == 0
            ? BRUME_OK
            : brume_fail(from->error, BRUME_EMEMORY, NULL, "out of memory");
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
            status = brume_fail(from->error, BRUME_EMEMORY, NULL, "out of memory");
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
static brume_status look_at_link(const looking *from, const char *table, const brume_policy *policy)
{
    size_t parent = brume_tables_find(from->tables, policy->parent);
    const char *other = brume_engine_table(from->engine, parent);
    char *own = brume_engine_quote(policy->link_column);
    char *key = brume_engine_quote(policy->parent_column);
    brume_status status =
        own && key ? BRUME_OK : brume_fail(from->error, BRUME_EMEMORY, NULL, "out of memory");
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

static brume_status look_at_unit(const looking *from, const char *table, const brume_policy *policy)
{
    char *unit = brume_engine_quote(policy->unit);
    brume_status status = unit ? BRUME_OK
                               : brume_fail(from->error, BRUME_EMEMORY, NULL, "out of memory");
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

static brume_status look_at_table(looking *from, size_t index, json_t *list)
{
    const brume_table_policy *one = &from->tables->list[index];
    const char *table = brume_engine_table(from->engine, index);
    from->out = json_pack("{s:s,s:[]}", "name", one->name, "columns");
    if (!from->out || json_array_append_new(list, from->out) != 0)
        return brume_fail(from->error, BRUME_EMEMORY, NULL, "out of memory");
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
    looking from = {.tables = file->tables, .error = error};
    brume_status status =
        sources && columns ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
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

static long long number(const json_t *of, const char *name)
{
    return (long long)json_integer_value(json_object_get(of, name));
}

static void write_table(FILE *out, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns");
    fprintf(out, "\n%s: %lld rows\n", json_string_value(json_object_get(table, "name")),
            number(table, "rows"));
    if (json_object_get(table, "units"))
        fprintf(out,
                "  %lld units, the largest with %lld rows; %lld rows without a unit are dropped\n",
                number(table, "units"), number(table, "most_rows_of_a_unit"),
                number(table, "without_unit"));
    if (json_object_get(table, "without_parent"))
        fprintf(out,
                "  link: %lld rows find no parent and are dropped; %lld keys belong to several "
                "parents\n",
                number(table, "without_parent"), number(table, "keys_of_several_parents"));
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *one = json_array_get(columns, i);
        const char *name = json_string_value(json_object_get(one, "column"));
        if (json_object_get(one, "outside_bounds"))
            fprintf(out, "  bounds of %s: %lld values are outside\n", name,
                    number(one, "outside_bounds"));
        if (json_object_get(one, "domain_values"))
            fprintf(out, "  domain of %s: %lld of %lld values occur; %lld rows have another one\n",
                    name, number(one, "domain_values_found"), number(one, "domain_values"),
                    number(one, "beyond_domain"));
    }
}

brume_status brume_inspect_policy(brume_call *call, const char *path, brume_error *error)
{
    brume_policy_file *file = NULL;
    json_t *list = json_array();
    if (!list)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
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
