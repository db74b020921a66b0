/* A checked query: its end, and the grid nodes that a plan adds to it. */
#include "query/expression/query.h"

#include <string.h>

#include "base/error.h"
#include "query/expression/build.h"

bool brume_catalog_same_dataset(const brume_catalog_table *a, const brume_catalog_table *b)
{
    return a == b || (a->dataset && b->dataset && strcmp(a->dataset, b->dataset) == 0);
}

void brume_query_free(brume_query *query)
{
    if (query)
        brume_arena_close(query->arena);
}

brume_status brume_query_grid(brume_query *query, const brume_expression *value,
                              const brume_bounds *bounds, int binary_digits,
                              const brume_expression **grid, brume_error *error)
{
    brume_builder builder = {.arena = query->arena, .error = error};
    const brume_expression *node = brume_build_grid(&builder, value, bounds, binary_digits);
    if (!node)
        return builder.status;
    *grid = node;
    return BRUME_OK;
}

brume_status brume_query_add_number(brume_query *query, const char *stored,
                                    const brume_expression **number, brume_error *error)
{
    brume_builder builder = {.arena = query->arena, .error = error};
    const brume_relation *from = query->from;
    if (from->kind != BRUME_RELATION_TABLE)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "rows of a table only have a number");
    brume_relation *table = brume_arena_copy(query->arena, from, sizeof *from);
    brume_relation_column *columns =
        brume_arena_allocate(query->arena, (from->column_count + 1) * sizeof *columns);
    char *name = brume_arena_text(query->arena, stored);
    if (!table || !columns || !name)
        return brume_no_memory(error, "a query");
    memcpy(columns, from->columns, from->column_count * sizeof *columns);
    brume_type type = {.kind = BRUME_TYPE_BIGINT};
    const brume_expression *node =
        brume_build_column(&builder, table, from->column_count, type, false);
    if (!node)
        return builder.status;
    columns[from->column_count] =
        (brume_relation_column){.reference = node, .inside = node, .stored = name};
    table->columns = columns;
    table->column_count = from->column_count + 1;
    query->from = table; /* the same number: what stands for its other columns stays right */
    *number = node;
    return BRUME_OK;
}
