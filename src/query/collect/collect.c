/* Collect: read the rows through the engine and get exact, bounded sums for every group.
 *
 * Three ways. Where a unit may have several rows, rows are streamed and bounded here (bound.h), or
 * the engine limits the totals of each unit (pushed.h), if the collection says so. Where every row
 * is another unit's, the engine sums by itself, and only one row per group crosses over; quantiles
 * need the values, so they stream all the same, each row as its own unit. */
#include "query/collect/collect_parts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/plan/key_cells.h"
#include "query/price/price.h"
#include "query/print/statement.h"

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

brume_status brume_collected_histogram(brume_collected *collected, const brume_total *of, int p,
                                       size_t bins, const bool *shown, uint64_t *counts,
                                       brume_error *error)
{
    if (collected->bounder)
        return brume_totals_histogram(collected->bounder, of, p, bins, shown, counts, error);
    if (collected->push.collection)
        return brume_push_histogram(collected, of, p, bins, shown, counts, error);
    memset(counts, 0, bins * sizeof *counts);
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
        status = brume_collect_scan(collection, rows->engine, rows->tables, wires, count,
                                    take_chunk, rows, error);
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
    brume_status status = made ? brume_collect_grow(made, collection, error)
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
                     ? brume_collect_groups(collection, engine, tables, collected, error)
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
