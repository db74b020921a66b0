/* A checked query: its end, and the grid nodes that a plan adds to it. */
#include "query/expression/query.h"

#include <string.h>

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
