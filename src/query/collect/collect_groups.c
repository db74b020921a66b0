/* Groups that the engine sums by itself: every row is another unit's, and only one row per group
 * crosses over. */
#include "query/collect/collect_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/plan/key_cells.h"
#include "query/price/price.h"
#include "query/print/statement.h"

bool brume_collect_read_wide(brume_text text, brume_i128 *out)
{
    brume_i128 value = 0;
    size_t i = text.length && text.data[0] == '-';
    if (i == text.length || text.length > 39)
        return false;
    for (size_t at = i; at < text.length; at++) {
        if (text.data[at] < '0' || text.data[at] > '9')
            return false;
        value = value * 10 + (text.data[at] - '0');
    }
    *out = i ? -value : value;
    return true;
}

brume_status brume_collect_grow(brume_collected *collected, const brume_collection *collection,
                                brume_error *error)
{
    if (collected->count < collected->group_room)
        return BRUME_OK;
    size_t keys = collection->query->key_count, values = collection->value_count;
    size_t room = collected->group_room ? 2 * collected->group_room : 256;
    brume_bounded_group *groups = realloc(collected->groups, room * sizeof *groups);
    if (groups)
        collected->groups = groups;
    brume_key_value *cells = realloc(collected->keys, (room * keys + 1) * sizeof *cells);
    if (cells)
        collected->keys = cells;
    brume_bounded_value *sums = realloc(collected->values, (room * values + 1) * sizeof *sums);
    if (sums)
        collected->values = sums;
    if (!groups || !cells || !sums)
        return brume_no_memory(error, "the groups");
    collected->group_room = room;
    return BRUME_OK;
}

/* Copy a text so that it outlives the chunk. */
static brume_status keep_text(brume_collected *collected, brume_text *text, brume_error *error)
{
    if (collected->text_count == collected->text_room) {
        size_t room = collected->text_room ? 2 * collected->text_room : 256;
        char **texts = realloc(collected->texts, room * sizeof *texts);
        if (!texts)
            return brume_no_memory(error, "the groups");
        collected->texts = texts;
        collected->text_room = room;
    }
    char *copy = malloc(text->length + 1);
    if (!copy)
        return brume_no_memory(error, "the groups");
    if (text->length)
        memcpy(copy, text->data, text->length);
    copy[text->length] = 0;
    collected->texts[collected->text_count++] = copy;
    text->data = copy;
    return BRUME_OK;
}

brume_status brume_collect_strange(brume_error *error)
{
    return brume_fail(error, BRUME_EENGINE, NULL, "the engine answered in an unexpected form");
}

brume_key_value brume_collect_key(const brume_chunk_column *column, size_t at)
{
    brume_key_value key = {.wire = column->wire, .null = brume_chunk_is_null(column, at)};
    if (key.null)
        return key;
    if (column->wire == BRUME_WIRE_INTEGER)
        key.integer = column->integers[at];
    else if (column->wire == BRUME_WIRE_REAL)
        key.real = column->reals[at] == 0 ? 0 : column->reals[at];
    else
        key.text = column->texts[at];
    return key;
}

brume_status brume_collect_add(brume_collected *collected, const brume_collection *collection,
                               const brume_chunk *chunk, size_t at, brume_bounded_group **group,
                               brume_bounded_value **values, brume_error *error)
{
    BRUME_TRY(brume_collect_grow(collected, collection, error));
    size_t keys = collection->query->key_count;
    brume_key_value *cells = &collected->keys[collected->count * keys];
    for (size_t i = 0; i < keys; i++) {
        cells[i] = brume_collect_key(&chunk->columns[i], at);
        if (!cells[i].null && cells[i].wire == BRUME_WIRE_TEXT)
            BRUME_TRY(keep_text(collected, &cells[i].text, error));
    }
    *group = &collected->groups[collected->count];
    *values = &collected->values[collected->count * collection->value_count];
    **group = (brume_bounded_group){0};
    collected->count++;
    return BRUME_OK;
}

static brume_status take_group(brume_collected *collected, const brume_collection *collection,
                               const brume_chunk *chunk, size_t at, brume_error *error)
{
    brume_bounded_group *group = NULL;
    brume_bounded_value *values = NULL;
    BRUME_TRY(brume_collect_add(collected, collection, chunk, at, &group, &values, error));
    size_t column = collection->query->key_count;
    group->units = group->rows = (uint64_t)chunk->columns[column++].integers[at];
    for (size_t i = 0; i < collection->value_count; i++) {
        values[i] = (brume_bounded_value){.count = (uint64_t)chunk->columns[column++].integers[at]};
        if (!brume_collect_read_wide(chunk->columns[column++].texts[at], &values[i].sum) ||
            (collection->values[i].squares &&
             !brume_collect_read_wide(chunk->columns[column++].texts[at], &values[i].squares)))
            return brume_collect_strange(error);
    }
    return BRUME_OK;
}

void brume_collect_point(brume_collected *collected, const brume_collection *collection)
{
    for (size_t i = 0; i < collected->count; i++) {
        collected->groups[i].keys = &collected->keys[i * collection->query->key_count];
        collected->groups[i].values = &collected->values[i * collection->value_count];
    }
}

size_t brume_collect_find(const brume_bounded_group *groups, size_t count,
                          const brume_key_value *keys, size_t key_count)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (brume_keys_compare(groups[middle].keys, keys, key_count) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && brume_keys_compare(groups[low].keys, keys, key_count) == 0 ? low : count;
}

typedef struct domain_match {
    const brume_collection *collection;
    const brume_collected *found;
    brume_collected *all;
    const brume_bounded_value *nothing;
} domain_match;

static brume_status add_cell(void *context, const brume_key_value *cell, brume_error *error)
{
    domain_match *match = context;
    size_t keys = match->collection->query->key_count, values = match->collection->value_count;
    BRUME_TRY(brume_collect_grow(match->all, match->collection, error));
    brume_collected *all = match->all;
    size_t low = brume_collect_find(match->found->groups, match->found->count, cell, keys);
    bool there = low < match->found->count;
    if (keys)
        memcpy(&all->keys[all->count * keys], cell, keys * sizeof *cell);
    for (size_t i = 0; i < values; i++)
        all->values[all->count * values + i] = there ? match->found->groups[low].values[i]
                                                     : (brume_bounded_value){0};
    all->groups[all->count] =
        (brume_bounded_group){.units = there ? match->found->groups[low].units : 0,
                              .rows = there ? match->found->groups[low].rows : 0};
    all->count++;
    return BRUME_OK;
}

/* Replace the groups found by those declared: others are dropped, missing ones are empty. */
brume_status brume_collect_close_domain(brume_collected *collected,
                                        const brume_collection *collection, brume_error *error)
{
    brume_collected all = {0};
    domain_match match = {collection, collected, &all, NULL};
    brume_status status = brume_cells_visit(collection, add_cell, &match, error);
    if (status == BRUME_OK) {
        free(collected->groups);
        free(collected->keys);
        free(collected->values);
        collected->groups = all.groups;
        collected->keys = all.keys;
        collected->values = all.values;
        collected->count = all.count;
        collected->group_room = all.group_room;
        brume_collect_point(collected, collection);
        brume_groups_sort(collected->groups, collected->count, collection->query->key_count);
        return BRUME_OK;
    }
    free(all.groups);
    free(all.keys);
    free(all.values);
    return status;
}

static brume_status take_groups(brume_collected *collected, const brume_collection *collection,
                                brume_engine *engine, const char *sql, brume_error *error)
{
    size_t keys = collection->query->key_count, count = 0;
    brume_wire *wires = calloc(keys + 1 + 3 * collection->value_count, sizeof *wires);
    if (!wires)
        return brume_no_memory(error, "the groups");
    for (size_t i = 0; i < keys; i++)
        wires[count++] = brume_type_wire(collection->query->keys[i].expression->type);
    wires[count++] = BRUME_WIRE_INTEGER;
    for (size_t i = 0; i < collection->value_count; i++) {
        wires[count++] = BRUME_WIRE_INTEGER;
        wires[count++] = BRUME_WIRE_TEXT;
        if (collection->values[i].squares)
            wires[count++] = BRUME_WIRE_TEXT;
    }
    brume_rows *rows = NULL;
    brume_status status = brume_engine_select(engine, sql, wires, count, &rows, error);
    free(wires);
    const brume_chunk *chunk = NULL;
    while (status == BRUME_OK && (status = brume_rows_next(rows, &chunk, error)) == BRUME_OK &&
           chunk)
        for (size_t at = 0; status == BRUME_OK && at < chunk->row_count; at++)
            status = take_group(collected, collection, chunk, at, error);
    brume_rows_close(rows);
    return status;
}

brume_status brume_collect_print_groups(const brume_collection *collection, brume_dialect dialect,
                                        const char *const *tables, char **sql, brume_error *error)
{
    brume_group_sum *sums = calloc(collection->value_count + 1, sizeof *sums);
    if (!sums)
        return brume_no_memory(error, "the groups");
    for (size_t i = 0; i < collection->value_count; i++) {
        brume_measure measure = {.low = collection->values[i].low,
                                 .high = collection->values[i].high};
        sums[i] = (brume_group_sum){collection->values[i].grid, brume_measure_centre(&measure),
                                    collection->values[i].squares};
    }
    brume_status status = brume_query_print_groups(collection->query, dialect, tables, sums,
                                                   collection->value_count, sql, error);
    free(sums);
    return status;
}

brume_status brume_collect_groups(const brume_collection *collection, brume_engine *engine,
                                  const char **tables, brume_collected *collected,
                                  brume_error *error)
{
    char *sql = NULL;
    BRUME_TRY(
        brume_collect_print_groups(collection, brume_engine_dialect(engine), tables, &sql, error));
    brume_status status = take_groups(collected, collection, engine, sql, error);
    free(sql);
    if (status != BRUME_OK)
        return status;
    brume_collect_point(collected, collection);
    brume_groups_sort(collected->groups, collected->count, collection->query->key_count);
    return collection->cells == 0 ? BRUME_OK
                                  : brume_collect_close_domain(collected, collection, error);
}
