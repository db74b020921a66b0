/* The SELECT of rows, for rows that come here and for rows that stay on their server.
 *
 * Rows that stay are grouped there by unit and keys. PostgreSQL sends a GROUP BY to the servers
 * that have the rows if nothing but columns and simple expressions of their own collation is in it:
 * so a text that is a key and nothing else keeps its column's collation where that compares bytes,
 * and the unit, which is no result, is not widened. */
#include "query/print/print.h"

#include <stdlib.h>

#include "base/error.h"
#include "query/expression/build.h"

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

brume_status brume_query_print_rows(const brume_query *query, brume_dialect dialect,
                                    const char *const *tables,
                                    const brume_expression *const *expressions, size_t count,
                                    char **sql, brume_error *error)
{
    return brume_print_rows(query, dialect, tables, NULL, expressions, count, sql, error);
}

/* A unit of text is compared byte by byte here, whatever another server that has it would do: two
 * units taken for one would share their limits. */
const char *brume_print_stored(brume_printer *printer, const brume_staying *staying,
                               const brume_relation *relation, size_t column, const char *quoted)
{
    const brume_relation_column *of = &relation->columns[column];
    brume_type type = of->reference->type;
    if (!staying || !quoted)
        return NULL;
    if (type.kind == BRUME_TYPE_INTEGER && of->leaf == BRUME_LEAF_CAST)
        return FORMAT(staying->mixed[column] ? "%s::int4" : "%s", quoted);
    if (staying->mixed[column])
        return NULL;
    if (type.kind != BRUME_TYPE_TEXT || column == staying->unit)
        return NULL;
    brume_bytes known = staying->bytewise(staying->context, relation->table, of->stored);
    if (known == BRUME_BYTES_LISTED) /* and none of them is too long; the server knows how many rows
                                        have these texts, and plans better */
        return FORMAT("%s::text", quoted);
    if (known != BRUME_BYTES_COMPARED)
        return NULL;
    return FORMAT("CASE WHEN octet_length(%s::text) <= %d THEN %s::text END", quoted,
                  BRUME_TEXT_BYTES_MOST, quoted);
}

static void mix(bool *mixed, const brume_expression *node)
{
    if (node->operation == BRUME_OPERATION_COLUMN)
        mixed[node->column] = true;
    for (size_t i = 0; i < node->argument_count; i++)
        mix(mixed, node->arguments[i]);
}

brume_status brume_query_print_staying(const brume_query *query, brume_dialect dialect,
                                       const char *const *tables, brume_bytewise bytewise,
                                       void *context, const brume_expression *const *expressions,
                                       size_t count, char **sql, brume_error *error)
{
    brume_type_kind kind = expressions[0]->type.kind;
    if (dialect != BRUME_DIALECT_POSTGRESQL || query->from->kind != BRUME_RELATION_TABLE ||
        expressions[0]->operation != BRUME_OPERATION_COLUMN ||
        (kind != BRUME_TYPE_INTEGER && kind != BRUME_TYPE_BIGINT))
        return brume_query_print_rows(query, dialect, tables, expressions, count, sql, error);
    brume_staying staying = {bytewise, context, expressions[0]->column,
                             calloc(query->from->column_count + 1, sizeof *staying.mixed)};
    if (!staying.mixed)
        return brume_no_memory(error, "a statement");
    if (query->where)
        mix(staying.mixed, query->where);
    if (brume_query_cut_of(query, query->from))
        mix(staying.mixed, brume_query_cut_of(query, query->from));
    for (size_t i = 0; i < count; i++)
        if (expressions[i]->operation != BRUME_OPERATION_COLUMN)
            mix(staying.mixed, expressions[i]);
    brume_status status =
        brume_print_rows(query, dialect, tables, &staying, expressions, count, sql, error);
    free(staying.mixed);
    return status;
}
