/* Totals where the rows lie: groups of which something is kept by a keyed hash. */
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/collect_parts.h"
#include "query/collect/pushed/pushed.h"
#include "query/print/statement.h"

typedef struct taking {
    brume_collected *collected;
    const brume_collection *collection;
} taking;

/* The keys, and the units that keep this group; under a limit on groups with one row each. */
static brume_status take_group(void *context, const brume_chunk *chunk, size_t at,
                               brume_error *error)
{
    const taking *to = context;
    brume_bounded_group *group = NULL;
    brume_bounded_value *values = NULL;
    size_t column = to->collection->query->key_count;
    BRUME_TRY(brume_collect_add(to->collected, to->collection, chunk, at, &group, &values, error));
    group->units = (uint64_t)chunk->columns[column].integers[at];
    if (!to->collection->totals)
        group->rows = group->units;
    for (size_t i = 0; i < to->collection->value_count; i++)
        values[i] = (brume_bounded_value){0};
    return BRUME_OK;
}

brume_status brume_push_take_groups(brume_collected *collected, brume_error *error)
{
    const brume_push *push = &collected->push;
    const brume_collection *collection = push->collection;
    size_t keys = collection->query->key_count, count = keys + 1;
    brume_wire *wires = calloc(count, sizeof *wires);
    taking to = {collected, collection};
    char *sql = NULL;
    if (!wires)
        return brume_no_memory(error, "the groups");
    for (size_t i = 0; i < count; i++)
        wires[i] = i < keys ? brume_type_wire(collection->query->keys[i].expression->type)
                            : BRUME_WIRE_INTEGER;
    brume_status status =
        collection->totals
            ? brume_push_print_kept(push->dialect, collection, push->rows, push->key, &sql, error)
            : brume_push_print_bounded(push->dialect, collection, push->rows, push->key, &sql,
                                       error);
    if (status == BRUME_OK)
        status = brume_push_run(push, sql, wires, count, take_group, &to, error);
    free(sql);
    free(wires);
    if (status != BRUME_OK)
        return status;
    brume_collect_point(collected, collection);
    brume_groups_sort(collected->groups, collected->count, keys);
    for (size_t i = 0; i < collected->count; i++)
        collected->groups[i].number = (uint32_t)i;
    return BRUME_OK;
}
