/* Collect: read the rows through the engine and get exact, bounded sums for every group.
 *
 * Three ways. Where a unit may have several rows, rows are streamed and bounded here (bound.h), or
 * the engine limits the totals of each unit (pushed.h), if the collection says so. Where every row
 * is another unit's, the engine sums by itself, and only one row per group crosses over; quantiles
 * need the values, so they stream all the same, each row as its own unit. */
#include "query/collect/collect.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/collect/collect_parts.h"
#include "query/plan/key_cells.h"
#include "query/price/price.h"
#include "query/print/statement.h"

/* Giving the rows of a collection to a taker, in parts where that is quicker.
 *
 * Which table of a query may be read in parts:
 *
 * Argument. Let R(T) be the rows of a relation as a multiset, as a function of the rows of one
 * table T that stands in it once. Where R(T1 + T2) = R(T1) + R(T2) for every division of T, the
 * relation divides by T. A table divides by itself; a SELECT does if what it selects from does,
 * because each of its rows is made of one row; a join does by a table of a side of which it keeps
 * or drops every row on that row's own account: either side of an inner join, the left side of a
 * left, semi or anti join, the right side of a right join. The sum of two relations (UNION ALL)
 * does not, because the side without T would be repeated, nor does grouping.
 *
 * The other side of a join is read again for each part. So only joins with public tables count
 * here, which are small as a rule; T is then the only protected table, and stands there once. */

static bool is_public(const brume_relation *relation)
{
    if (!relation)
        return true;
    if (relation->kind == BRUME_RELATION_TABLE)
        return relation->privacy == BRUME_PRIVACY_PUBLIC;
    return is_public(relation->left) && is_public(relation->right);
}

static bool find(const brume_relation *relation, size_t *table)
{
    switch (relation->kind) {
    case BRUME_RELATION_TABLE:
        *table = relation->table;
        return relation->privacy != BRUME_PRIVACY_PUBLIC;
    case BRUME_RELATION_SELECT:
        return find(relation->left, table);
    case BRUME_RELATION_JOIN:
        break;
    default:
        return false;
    }
    bool left = relation->join != BRUME_JOIN_RIGHT && relation->join != BRUME_JOIN_FULL;
    bool right = relation->join == BRUME_JOIN_INNER || relation->join == BRUME_JOIN_RIGHT;
    return (left && is_public(relation->right) && find(relation->left, table)) ||
           (right && is_public(relation->left) && find(relation->right, table));
}

/* ---- scanning ---- */

/* One statement for each part of the table that is divided. */
static brume_status print_parts(const brume_collection *collection, brume_dialect dialect,
                                const char **tables, size_t table, const brume_parts *parts,
                                char **statements, brume_error *error)
{
    brume_status status = BRUME_OK;
    const char *whole = tables[table];
    for (size_t i = 0; status == BRUME_OK && i < parts->count; i++) {
        tables[table] = parts->texts[i];
        status = brume_collect_print_rows(collection, dialect, tables, &statements[i], error);
    }
    tables[table] = whole;
    return status;
}

/* Run that SELECT and give each row to `take` exactly once, on several threads where the engine has
 * them, and in parts where it divides a table by which the query divides. `tables` is as before
 * afterwards. The errors of brume_engine_scan. */
static brume_status collect_scan(const brume_collection *collection, brume_engine *engine,
                                 const char **tables, const brume_wire *wires, size_t wire_count,
                                 brume_row_taker take, void *context, brume_error *error)
{
    size_t table = 0;
    brume_parts parts = {0};
    brume_dialect dialect = brume_engine_dialect(engine);
    if (find(collection->query->from, &table))
        BRUME_TRY(brume_engine_divide(engine, table, &parts, error));
    size_t count = parts.count > 0 ? parts.count : 1;
    char **statements = calloc(count, sizeof *statements);
    brume_status status = statements ? BRUME_OK : brume_no_memory(error, "the groups");
    if (status == BRUME_OK)
        status = parts.count > 0
                     ? print_parts(collection, dialect, tables, table, &parts, statements, error)
                     : brume_collect_print_rows(collection, dialect, tables, statements, error);
    if (status == BRUME_OK)
        status =
            parts.count > 0
                ? brume_engine_scan_parts(engine, (const char *const *)statements, count, wires,
                                          wire_count, take, context, error)
                : brume_engine_scan(engine, statements[0], wires, wire_count, take, context, error);
    for (size_t i = 0; statements && i < count; i++)
        free(statements[i]);
    free(statements);
    brume_parts_clear(&parts);
    return status;
}

/* Groups that the engine sums by itself: every row is another unit's, and only one row per group
 * crosses over. */

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

static brume_status collect_grow(brume_collected *collected, const brume_collection *collection,
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
    BRUME_TRY(collect_grow(collected, collection, error));
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
    BRUME_TRY(collect_grow(match->all, match->collection, error));
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

static brume_status collect_groups(const brume_collection *collection, brume_engine *engine,
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

void brume_collected_close(brume_collected *collected)
{
    if (!collected)
        return;
    brume_push_close(collected);
    if (!collected->bounder)
        free(collected->groups);
    brume_bounder_close(collected->bounder);
    free(collected->keys);
    free(collected->values);
    free(collected->limited);
    free(collected->clipped);
    free(collected->listed);
    for (size_t i = 0; i < collected->text_count; i++)
        free(collected->texts[i]);
    free(collected->texts);
    free(collected);
}

const brume_bounded_group *brume_collected_groups(const brume_collected *collected, size_t *count)
{
    *count = collected->count;
    return collected->groups;
}

/* The statements of servers sum the values themselves. */
static brume_status check_centre(const brume_collected *collected, const brume_total *of,
                                 brume_error *error)
{
    if (collected->push.collection && of->centre != 0)
        return brume_fail(error, BRUME_EINTERNAL, "please report this query",
                          "a sum about a centre of units that are on their server");
    return BRUME_OK;
}

brume_status brume_collected_histogram(brume_collected *collected, const brume_total *of, int p,
                                       size_t bins, const bool *shown, uint64_t *counts,
                                       brume_error *error)
{
    BRUME_TRY(check_centre(collected, of, error));
    if (collected->bounder)
        return brume_totals_histogram(collected->bounder, of, p, bins, shown, counts, error);
    if (collected->push.collection)
        return brume_push_histogram(collected, of, p, bins, shown, counts, error);
    memset(counts, 0, bins * sizeof *counts);
    return BRUME_OK;
}

brume_status brume_collected_means(const brume_collected *collected, const brume_mean_cells *cells,
                                   const bool *shown, uint64_t *weights, brume_error *error)
{
    if (collected->push.collection)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "means of units that are on their server");
    if (collected->bounder)
        return brume_totals_means(collected->bounder, cells, shown, weights, error);
    memset(weights, 0, cells->count * sizeof *weights); /* a rehearsal has no values */
    return BRUME_OK;
}

brume_status brume_collected_distinct(const brume_collected *collected, uint64_t limit,
                                      const bool *shown, bool *kept, brume_error *error)
{
    return collected->bounder ? brume_totals_distinct(collected->bounder, limit, shown, kept, error)
                              : BRUME_OK; /* a rehearsal has no values */
}

/* ---- under limits ---- */

const brume_clipped *brume_collected_clipped(const brume_collected *collected, size_t sum)
{
    return sum < collected->clipped_count ? &collected->clipped[sum] : NULL;
}

const brume_clipped *brume_collected_listed(const brume_collected *collected, size_t value)
{
    for (size_t i = 0; i < collected->listed_count; i++)
        if (collected->listed[i].sum.value == value)
            return &collected->listed[i];
    return NULL;
}

/* Room to remember what is limited with what, in the place of what was before. */
static brume_status remember(brume_clipped **kept, size_t *kept_count, size_t count,
                             brume_error *error)
{
    free(*kept);
    *kept_count = 0;
    *kept = calloc(count + 1, sizeof **kept);
    if (!*kept)
        return brume_no_memory(error, "the groups");
    *kept_count = count;
    return BRUME_OK;
}

brume_status brume_collected_limit(brume_collected *collected, const brume_total_limit *limits,
                                   size_t limit_count, int p, const bool *shown,
                                   const brume_limited_sum *sums, size_t sum_count,
                                   brume_error *error)
{
    for (size_t i = 0; i < limit_count; i++)
        BRUME_TRY(check_centre(collected, &limits[i].of, error));
    BRUME_TRY(remember(&collected->clipped, &collected->clipped_count, sum_count, error));
    for (size_t i = 0; i < sum_count; i++)
        collected->clipped[i] = (brume_clipped){sums[i], limits[sums[i].limit], p};
    if (collected->bounder)
        return brume_totals_limit(collected->bounder, limits, limit_count, p, shown, sums,
                                  sum_count, collected->groups, collected->count, error);
    if (collected->push.collection)
        return brume_push_limit(collected, limits, limit_count, p, shown, sums, sum_count, error);
    free(collected->limited);
    collected->limited = calloc(sum_count + 1, sizeof *collected->limited);
    if (!collected->limited)
        return brume_no_memory(error, "the groups");
    for (size_t i = 0; i < collected->count; i++)
        collected->groups[i].limited = collected->limited;
    return BRUME_OK;
}

brume_status brume_collected_list(brume_collected *collected, const brume_total_limit *limits,
                                  const bool *shown, const brume_limited_list *lists,
                                  size_t list_count, brume_error *error)
{
    BRUME_TRY(remember(&collected->listed, &collected->listed_count, list_count, error));
    for (size_t i = 0; i < list_count; i++)
        collected->listed[i] =
            (brume_clipped){{.value = lists[i].value}, limits[lists[i].limit], 1};
    return collected->bounder
               ? brume_totals_list(collected->bounder, limits, shown, lists, list_count, error)
               : BRUME_OK; /* a rehearsal has no values */
}

size_t brume_collected_numbers(const brume_collected *collected)
{
    return collected->bounder ? brume_totals_groups(collected->bounder) : collected->count;
}

static brume_status table_names(brume_engine *engine, size_t count, const char ***out,
                                brume_error *error)
{
    const char **names = calloc(count + 1, sizeof *names);
    if (!names)
        return brume_no_memory(error, "the groups");
    for (size_t i = 0; i < count; i++)
        names[i] = brume_engine_table(engine, i);
    *out = names;
    return BRUME_OK;
}

/* ---- streamed ---- */

typedef struct stream {
    const brume_collection *collection;
    brume_engine *engine;
    const char **tables;
    brume_bounder *bounder;
    bool numbered;                 /* there is no unit: number the rows */
    atomic_uint_fast64_t next_row; /* the next number */
} stream;

static brume_status declare_cell(void *context, const brume_key_value *cell, brume_error *error)
{
    return brume_bounder_declare(context, cell, error);
}

static brume_status open_bounder(const brume_collection *collection, brume_bits *bits,
                                 brume_bounder **out, brume_error *error)
{
    const brume_query *query = collection->query;
    brume_wire *wires = calloc(query->key_count + 1, sizeof *wires);
    brume_bound_value *values = calloc(collection->value_count + 1, sizeof *values);
    brume_status status = wires && values ? BRUME_OK : brume_no_memory(error, "the groups");
    for (size_t i = 0; status == BRUME_OK && i < query->key_count; i++)
        wires[i] = brume_type_wire(query->keys[i].expression->type);
    for (size_t i = 0; status == BRUME_OK && i < collection->value_count; i++) {
        brume_measure measure = {.low = collection->values[i].low,
                                 .high = collection->values[i].high};
        values[i] = (brume_bound_value){measure.low,
                                        measure.high,
                                        brume_measure_centre(&measure),
                                        collection->values[i].squares,
                                        collection->values[i].keep,
                                        !collection->values[i].breaks_ties,
                                        collection->values[i].unsummed};
    }
    brume_bound_plan bounds = {.max_groups = collection->max_groups,
                               .key_count = query->key_count,
                               .key_wires = wires,
                               .value_count = collection->value_count,
                               .values = values,
                               .closed = collection->cells > 0,
                               .totals = collection->totals,
                               .keep_key = collection->totals && collection->cells == 0 &&
                                           !collection->all_groups};
    if (status == BRUME_OK)
        status = brume_bounder_open(&bounds, bits, out, error);
    free(wires);
    free(values);
    return status;
}

/* Rows without a unit get their number as the unit, in front of the engine's columns. Several
 * threads at once. */
static brume_status take_chunk(void *context, const brume_chunk *chunk, brume_error *error)
{
    stream *rows = context;
    if (!rows->numbered)
        return brume_bounder_take(rows->bounder, chunk, error);
    brume_chunk_column *columns = calloc(chunk->column_count + 1, sizeof *columns);
    int64_t *numbers = calloc(chunk->row_count + 1, sizeof *numbers);
    brume_status status = columns && numbers ? BRUME_OK : brume_no_memory(error, "the groups");
    if (status == BRUME_OK) {
        uint64_t first = atomic_fetch_add(&rows->next_row, chunk->row_count);
        for (size_t i = 0; i < chunk->row_count; i++)
            numbers[i] = (int64_t)(first + i);
        columns[0] = (brume_chunk_column){.wire = BRUME_WIRE_INTEGER, .integers = numbers};
        memcpy(columns + 1, chunk->columns, chunk->column_count * sizeof *columns);
        brume_chunk wider = {chunk->row_count, chunk->column_count + 1, columns};
        status = brume_bounder_take(rows->bounder, &wider, error);
    }
    free(columns);
    free(numbers);
    return status;
}

/* A whole number as it is before it is clamped to the bounds of its grid. The bounder clamps to the
 * same ones, and the engine need not. */
static const brume_expression *unclamped(const brume_expression *grid)
{
    if (grid->operation != BRUME_OPERATION_GRID)
        return grid;
    const brume_expression *x = grid->arguments[0];
    if (x->type.kind != BRUME_TYPE_INTEGER && x->type.kind != BRUME_TYPE_BIGINT)
        return grid;
    while (x->operation == BRUME_OPERATION_CLAMP && strcmp(x->text, grid->text) == 0 &&
           brume_type_equal(x->type, x->arguments[0]->type))
        x = x->arguments[0];
    return x;
}

/* The columns of a stream: the unit if there is one, the keys, the values; `clamps`: whoever takes
 * them clamps the values. At most 1 + keys + values; returns how many. */
static size_t stream_columns(const brume_collection *collection, bool clamps,
                             const brume_expression **columns)
{
    const brume_query *query = collection->query;
    size_t count = 0;
    if (query->unit)
        columns[count++] = query->unit;
    for (size_t i = 0; i < query->key_count; i++)
        columns[count++] = query->keys[i].expression;
    for (size_t i = 0; i < collection->value_count; i++)
        columns[count++] = clamps ? unclamped(collection->values[i].grid)
                                  : collection->values[i].grid;
    return count;
}

static brume_status print_rows(const brume_collection *collection, bool clamps,
                               brume_dialect dialect, const char *const *tables, char **sql,
                               brume_error *error)
{
    const brume_expression **columns =
        calloc(1 + collection->query->key_count + collection->value_count, sizeof *columns);
    if (!columns)
        return brume_no_memory(error, "the groups");
    brume_status status = brume_query_print_rows(collection->query, dialect, tables, columns,
                                                 stream_columns(collection, clamps, columns), sql,
                                                 error);
    free(columns);
    return status;
}

brume_status brume_collect_print_rows(const brume_collection *collection, brume_dialect dialect,
                                      const char *const *tables, char **sql, brume_error *error)
{
    return print_rows(collection, true, dialect, tables, sql, error);
}

/* Rows that stay: whose, and of which collection. */
typedef struct staying_rows {
    brume_engine *engine;
    const brume_collection *collection;
} staying_rows;

/* Is a key that is this column declared, and none of its values NULL? */
static bool is_listed(const brume_collection *collection, const char *column)
{
    const brume_query *query = collection->query;
    for (size_t k = 0, first = 0; collection->cells > 0 && k < query->key_count; k++) {
        const brume_expression *key = query->keys[k].expression;
        bool null = false;
        for (size_t i = 0; i < collection->domain_size[k]; i++)
            null = null || collection->domain[first + i].null;
        first += collection->domain_size[k];
        if (!null && key->operation == BRUME_OPERATION_COLUMN &&
            strcmp(key->relation->columns[key->column].stored, column) == 0)
            return true;
    }
    return false;
}

static brume_bytes bytes_of(void *context, size_t table, const char *column)
{
    const staying_rows *rows = context;
    if (!brume_engine_is_bytewise(rows->engine, table, column))
        return BRUME_BYTES_ASKED;
    return is_listed(rows->collection, column) ? BRUME_BYTES_LISTED : BRUME_BYTES_COMPARED;
}

brume_status brume_collect_print_staying(const brume_collection *collection, brume_engine *engine,
                                         const char *const *tables, char **sql, brume_error *error)
{
    if (brume_engine_dialect(engine) != BRUME_DIALECT_POSTGRESQL)
        return print_rows(collection, false, brume_engine_dialect(engine), tables, sql, error);
    const brume_expression **columns =
        calloc(1 + collection->query->key_count + collection->value_count, sizeof *columns);
    if (!columns)
        return brume_no_memory(error, "the groups");
    staying_rows rows = {engine, collection};
    brume_status status = brume_query_print_staying(
        collection->query, brume_engine_dialect(engine), tables, bytes_of, &rows, columns,
        stream_columns(collection, false, columns), sql, error);
    free(columns);
    return status;
}

static brume_status stream_rows(stream *rows, brume_error *error)
{
    const brume_collection *collection = rows->collection;
    size_t most = 1 + collection->query->key_count + collection->value_count, count = 0;
    const brume_expression **columns = calloc(most, sizeof *columns);
    brume_wire *wires = calloc(most, sizeof *wires);
    brume_status status = columns && wires ? BRUME_OK : brume_no_memory(error, "the groups");
    if (status == BRUME_OK) {
        count = stream_columns(collection, true, columns);
        for (size_t i = 0; i < count; i++)
            wires[i] = brume_type_wire(columns[i]->type);
        status = collect_scan(collection, rows->engine, rows->tables, wires, count, take_chunk,
                              rows, error);
    }
    free(columns);
    free(wires);
    return status;
}

static brume_status collect_rows(const brume_collection *collection, brume_engine *engine,
                                 const char **tables, brume_bits *bits, brume_collected *collected,
                                 brume_error *error)
{
    stream rows = {.collection = collection, .engine = engine, .tables = tables};
    rows.numbered = !collection->query->unit;
    brume_status status = open_bounder(collection, bits, &rows.bounder, error);
    if (status == BRUME_OK && collection->cells > 0)
        status = brume_cells_visit(collection, declare_cell, rows.bounder, error);
    if (status == BRUME_OK && !collection->unread)
        status = stream_rows(&rows, error);
    collected->bounder = rows.bounder;
    if (status != BRUME_OK)
        return status;
    const brume_bounded_group *groups = NULL;
    BRUME_TRY(brume_bounder_finish(rows.bounder, &groups, &collected->count, error));
    collected->groups = (brume_bounded_group *)groups;
    return BRUME_OK;
}

/* ---- either way ---- */

bool brume_collect_streams(const brume_collection *collection)
{
    bool keep = collection->bounded || collection->totals;
    for (size_t i = 0; i < collection->value_count; i++)
        keep = keep || collection->values[i].keep;
    return keep;
}

brume_status brume_collect_statement(const brume_collection *collection, brume_dialect dialect,
                                     const char *const *tables, char **sql, brume_error *error)
{
    return brume_collect_streams(collection)
               ? print_rows(collection, false, dialect, tables, sql, error)
               : brume_collect_print_groups(collection, dialect, tables, sql, error);
}

brume_status brume_collect_nothing(const brume_collection *collection, uint64_t units,
                                   brume_bits *bits, brume_collected **out, brume_error *error)
{
    brume_bounder *bounder = NULL;
    if (brume_collect_streams(collection)) /* that it opens is all that is asked of it */
        BRUME_TRY(open_bounder(collection, bits, &bounder, error));
    brume_bounder_close(bounder);
    brume_collected *made = calloc(1, sizeof *made);
    brume_status status = made ? collect_grow(made, collection, error)
                               : brume_no_memory(error, "the groups");
    if (status != BRUME_OK) {
        brume_collected_close(made);
        return status;
    }
    for (size_t i = 0, at = 0; i < collection->query->key_count; i++) {
        made->keys[i] = (brume_key_value){.null = true};
        if (collection->domain) {
            made->keys[i] = collection->domain[at];
            at += collection->domain_size[i];
        }
    }
    for (size_t i = 0; i < collection->value_count; i++)
        made->values[i] = (brume_bounded_value){0};
    made->groups[0] = (brume_bounded_group){.units = units, .rows = units};
    made->count = 1;
    brume_collect_point(made, collection);
    *out = made;
    return BRUME_OK;
}

brume_status brume_collect(const brume_collection *collection, brume_engine *engine,
                           size_t table_count, brume_bits *bits, brume_collected **out,
                           brume_error *error)
{
    const char **tables = NULL;
    brume_collected *collected = calloc(1, sizeof *collected);
    if (!collected)
        return brume_no_memory(error, "the groups");
    brume_status status = table_names(engine, table_count, &tables, error);
    if (status == BRUME_OK)
        status = !brume_collect_streams(collection)
                     ? collect_groups(collection, engine, tables, collected, error)
                 : collection->pushed
                     ? brume_push_open(collection, engine, tables, bits, collected, error)
                     : collect_rows(collection, engine, tables, bits, collected, error);
    free(tables);
    if (status != BRUME_OK) {
        brume_collected_close(collected);
        return status;
    }
    *out = collected;
    return BRUME_OK;
}
