/* Totals where the rows lie: opening, and groups of which something is kept by a keyed hash. */
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

static brume_status take_groups(brume_collected *collected, bool bounded, brume_error *error)
{
    const brume_push *push = &collected->push;
    const brume_collection *collection = push->collection;
    brume_wire *wires =
        calloc(collection->query->key_count + 2 + 3 * collection->value_count, sizeof *wires);
    taking to = {collected, collection};
    char *sql = NULL;
    if (!wires)
        return brume_no_memory(error, "the groups");
    size_t count = list_wires(collection, bounded, wires);
    brume_status status =
        bounded ? brume_push_print_bounded(collection, push->rows, &push->key, &sql, error)
                : brume_push_print_kept(collection, push->rows, &push->key, &sql, error);
    if (status == BRUME_OK)
        status = brume_push_run(push, sql, wires, count, bounded ? take_bounded : take_kept, &to,
                                error);
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

/* Does something of a unit stay by hash? Then a key is drawn. */
static bool keeps(const brume_collection *collection)
{
    return !collection->totals || collection->cells == 0;
}

brume_status brume_push_open(const brume_collection *collection, brume_engine *engine,
                             const char *const *tables, brume_bits *bits,
                             brume_collected *collected, brume_error *error)
{
    brume_push *push = &collected->push;
    push->collection = collection;
    push->engine = engine;
    if (keeps(collection)) {
        uint64_t words[2];
        BRUME_TRY(brume_bits_words(bits, words, 2, error));
        push->key = (brume_push_key){words[0], words[1]};
    }
    BRUME_TRY(brume_collect_print_staying(collection, engine, tables, &push->rows, error));
    BRUME_TRY(brume_engine_retain(engine, error));
    push->held = true;
    if (collection->totals && collection->all_groups)
        return BRUME_OK; /* its groups stay where they are */
    if (!collection->totals || collection->cells == 0)
        BRUME_TRY(take_groups(collected, !collection->totals, error));
    return collection->cells == 0 ? BRUME_OK
                                  : brume_collect_close_domain(collected, collection, error);
}
