/* Totals where the rows lie: groups of which something is kept by a keyed hash. */
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/collect_parts.h"
#include "query/print/statement.h"

typedef struct taking {
    brume_collected *collected;
    const brume_collection *collection;
} taking;

/* The keys, and the units that keep this group. */
static brume_status take_kept(void *context, const brume_chunk *chunk, size_t at,
                              brume_error *error)
{
    const taking *to = context;
    brume_bounded_group *group = NULL;
    brume_bounded_value *values = NULL;
    BRUME_TRY(brume_collect_add(to->collected, to->collection, chunk, at, &group, &values, error));
    group->units = (uint64_t)chunk->columns[to->collection->query->key_count].integers[at];
    for (size_t i = 0; i < to->collection->value_count; i++)
        values[i] = (brume_bounded_value){0};
    return BRUME_OK;
}

/* The keys, units, rows and values. */
static brume_status take_bounded(void *context, const brume_chunk *chunk, size_t at,
                                 brume_error *error)
{
    const taking *to = context;
    brume_bounded_group *group = NULL;
    brume_bounded_value *values = NULL;
    size_t column = to->collection->query->key_count;
    BRUME_TRY(brume_collect_add(to->collected, to->collection, chunk, at, &group, &values, error));
    group->units = (uint64_t)chunk->columns[column].integers[at];
    group->rows = (uint64_t)chunk->columns[column + 1].integers[at];
    return brume_collect_take_values(to->collection, chunk, at, column + 2, values, error);
}

/* How the columns of such a result travel; returns how many they are. */
static size_t list_wires(const brume_collection *collection, bool bounded, brume_wire *wires)
{
    size_t count = 0;
    for (size_t i = 0; i < collection->query->key_count; i++)
        wires[count++] = brume_type_wire(collection->query->keys[i].expression->type);
    wires[count++] = BRUME_WIRE_INTEGER;
    if (!bounded)
        return count;
    wires[count++] = BRUME_WIRE_INTEGER;
    for (size_t i = 0; i < collection->value_count; i++) {
        wires[count++] = BRUME_WIRE_INTEGER;
        wires[count++] = BRUME_WIRE_TEXT;
        if (collection->values[i].squares)
            wires[count++] = BRUME_WIRE_TEXT;
    }
    return count;
}

brume_status brume_push_take_groups(brume_collected *collected, brume_error *error)
{
    const brume_push *push = &collected->push;
    const brume_collection *collection = push->collection;
    bool bounded = !collection->totals;
    brume_wire *wires =
        calloc(collection->query->key_count + 2 + 3 * collection->value_count, sizeof *wires);
    taking to = {collected, collection};
    char *sql = NULL;
    if (!wires)
        return brume_no_memory(error, "the groups");
    size_t count = list_wires(collection, bounded, wires);
    brume_status status =
        bounded ? push->dialect->print_bounded(collection, push->rows, &push->key, &sql, error)
                : push->dialect->print_kept(collection, push->rows, &push->key, &sql, error);
    if (status == BRUME_OK)
        status =
            brume_push_run(push, sql, wires, count, bounded ? take_bounded : take_kept, &to, error);
    free(sql);
    free(wires);
    if (status != BRUME_OK)
        return status;
    brume_collect_point(collected, collection);
    brume_groups_sort(collected->groups, collected->count, collection->query->key_count);
    for (size_t i = 0; i < collected->count; i++)
        collected->groups[i].number = (uint32_t)i;
    return BRUME_OK;
}
