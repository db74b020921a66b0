/* Collect: run the plan on the engine and get exact, bounded sums for every group.
 *
 * Two ways. Where a unit may have several rows, rows are streamed and bounded here (bound.h). Where
 * every row is another unit's, the engine sums by itself, and only one row per group crosses over;
 * quantiles need the values, so they stream all the same, each row as its own unit. */
#include "query/collect.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct brume_collected {
    brume_bounder *bounder; /* streamed: owns the groups */
    brume_bounded_group *groups;
    size_t count;
    /* summed by the engine: */
    brume_key_value *keys;
    brume_bounded_value *values;
    char **texts;
    size_t group_room, text_count, text_room;
};

void brume_collected_close(brume_collected *collected)
{
    if (!collected)
        return;
    if (!collected->bounder)
        free(collected->groups);
    brume_bounder_close(collected->bounder);
    free(collected->keys);
    free(collected->values);
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

/* Visit every combination of a closed domain, the last key fastest. */
typedef brume_status (*cell_visitor)(void *context, const brume_key_value *cell,
                                     brume_error *error);

static brume_status visit_domain(const brume_plan *plan, cell_visitor visit, void *context,
                                 brume_error *error)
{
    size_t keys = plan->query->key_count;
    brume_key_value *cell = calloc(keys + 1, sizeof *cell);
    if (!cell)
        return brume_no_memory(error, "the groups");
    brume_status status = BRUME_OK;
    for (uint64_t i = 0; status == BRUME_OK && i < plan->shape.cells; i++) {
        uint64_t rest = i;
        size_t end = 0;
        for (size_t k = 0; k < keys; k++)
            end += plan->domain_size[k];
        for (size_t k = keys; k-- > 0;) {
            end -= plan->domain_size[k];
            cell[k] = plan->domain[end + rest % plan->domain_size[k]];
            rest /= plan->domain_size[k];
        }
        status = visit(context, cell, error);
    }
    free(cell);
    return status;
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
    const brume_plan *plan;
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

static brume_status open_bounder(const brume_plan *plan, brume_bits *bits, brume_bounder **out,
                                 brume_error *error)
{
    const brume_query *query = plan->query;
    brume_wire *wires = calloc(query->key_count + 1, sizeof *wires);
    brume_bound_value *values = calloc(plan->value_count + 1, sizeof *values);
    brume_status status = wires && values ? BRUME_OK : brume_no_memory(error, "the groups");
    for (size_t i = 0; status == BRUME_OK && i < query->key_count; i++)
        wires[i] = brume_type_wire(query->keys[i].expression->type);
    for (size_t i = 0; status == BRUME_OK && i < plan->value_count; i++) {
        brume_measure measure = {.low = plan->values[i].low, .high = plan->values[i].high};
        values[i] = (brume_bound_value){measure.low, measure.high, brume_measure_centre(&measure),
                                        plan->values[i].squares, plan->values[i].keep};
    }
    brume_bound_plan bounds = {plan->shape.max_groups,   plan->shape.max_rows,
                               query->key_count,         wires,
                               plan->value_count,        values,
                               !plan->shape.private_keys};
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

/* The columns of a stream: the unit if there is one, the keys, the values. At most
 * 1 + keys + values; returns how many. */
static size_t stream_columns(const brume_plan *plan, const brume_expression **columns)
{
    const brume_query *query = plan->query;
    size_t count = 0;
    if (query->unit)
        columns[count++] = query->unit;
    for (size_t i = 0; i < query->key_count; i++)
        columns[count++] = query->keys[i].expression;
    for (size_t i = 0; i < plan->value_count; i++)
        columns[count++] = plan->values[i].grid;
    return count;
}

static brume_status print_stream(const brume_plan *plan, brume_dialect dialect,
                                 const char *const *tables, char **sql, brume_error *error)
{
    const brume_expression **columns =
        calloc(1 + plan->query->key_count + plan->value_count, sizeof *columns);
    if (!columns)
        return brume_no_memory(error, "the groups");
    brume_status status = brume_query_print_rows(plan->query, dialect, tables, columns,
                                                 stream_columns(plan, columns), sql, error);
    free(columns);
    return status;
}

static brume_status stream_rows(stream *rows, brume_error *error)
{
    const brume_plan *plan = rows->plan;
    size_t most = 1 + plan->query->key_count + plan->value_count, count = 0;
    const brume_expression **columns = calloc(most, sizeof *columns);
    brume_wire *wires = calloc(most, sizeof *wires);
    brume_status status = columns && wires ? BRUME_OK : brume_no_memory(error, "the groups");
    if (status == BRUME_OK) {
        char *sql = NULL;
        count = stream_columns(plan, columns);
        for (size_t i = 0; i < count; i++)
            wires[i] = brume_type_wire(columns[i]->type);
        status = print_stream(plan, brume_engine_dialect(rows->engine), rows->tables, &sql, error);
        if (status == BRUME_OK)
            status = brume_engine_scan(rows->engine, sql, wires, count, take_chunk, rows, error);
        free(sql);
    }
    free(columns);
    free(wires);
    return status;
}

static brume_status collect_rows(const brume_plan *plan, brume_engine *engine, const char **tables,
                                 brume_bits *bits, brume_collected *collected, brume_error *error)
{
    stream rows = {.plan = plan, .engine = engine, .tables = tables};
    rows.numbered = !plan->query->unit;
    brume_status status = open_bounder(plan, bits, &rows.bounder, error);
    if (status == BRUME_OK && !plan->shape.private_keys)
        status = visit_domain(plan, declare_cell, rows.bounder, error);
    if (status == BRUME_OK)
        status = stream_rows(&rows, error);
    collected->bounder = rows.bounder;
    if (status != BRUME_OK)
        return status;
    const brume_bounded_group *groups = NULL;
    BRUME_TRY(brume_bounder_finish(rows.bounder, &groups, &collected->count, error));
    collected->groups = (brume_bounded_group *)groups;
    return BRUME_OK;
}

/* ---- summed by the engine ---- */

static bool read_wide(brume_text text, brume_i128 *out)
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

static brume_status grow(brume_collected *collected, const brume_plan *plan, brume_error *error)
{
    if (collected->count < collected->group_room)
        return BRUME_OK;
    size_t keys = plan->query->key_count, values = plan->value_count;
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

static brume_status strange(brume_error *error)
{
    return brume_fail(error, BRUME_EENGINE, NULL, "the engine answered in an unexpected form");
}

static brume_status take_group(brume_collected *collected, const brume_plan *plan,
                               const brume_chunk *chunk, size_t at, brume_error *error)
{
    BRUME_TRY(grow(collected, plan, error));
    size_t keys = plan->query->key_count, column = keys;
    brume_key_value *cells = &collected->keys[collected->count * keys];
    for (size_t i = 0; i < keys; i++) {
        const brume_chunk_column *from = &chunk->columns[i];
        cells[i] = (brume_key_value){.wire = from->wire, .null = brume_chunk_is_null(from, at)};
        if (cells[i].null)
            continue;
        if (from->wire == BRUME_WIRE_INTEGER) {
            cells[i].integer = from->integers[at];
        } else if (from->wire == BRUME_WIRE_REAL) {
            cells[i].real = from->reals[at] == 0 ? 0 : from->reals[at];
        } else {
            cells[i].text = from->texts[at];
            BRUME_TRY(keep_text(collected, &cells[i].text, error));
        }
    }
    brume_bounded_group *group = &collected->groups[collected->count];
    group->units = group->rows = (uint64_t)chunk->columns[column++].integers[at];
    for (size_t i = 0; i < plan->value_count; i++) {
        brume_bounded_value *value = &collected->values[collected->count * plan->value_count + i];
        *value = (brume_bounded_value){.count = (uint64_t)chunk->columns[column++].integers[at]};
        if (!read_wide(chunk->columns[column++].texts[at], &value->sum) ||
            (plan->values[i].squares &&
             !read_wide(chunk->columns[column++].texts[at], &value->squares)))
            return strange(error);
    }
    collected->count++;
    return BRUME_OK;
}

static void point_groups(brume_collected *collected, const brume_plan *plan)
{
    for (size_t i = 0; i < collected->count; i++) {
        collected->groups[i].keys = &collected->keys[i * plan->query->key_count];
        collected->groups[i].values = &collected->values[i * plan->value_count];
    }
}

typedef struct domain_match {
    const brume_plan *plan;
    const brume_collected *found;
    brume_collected *all;
    const brume_bounded_value *nothing;
} domain_match;

static brume_status add_cell(void *context, const brume_key_value *cell, brume_error *error)
{
    domain_match *match = context;
    size_t keys = match->plan->query->key_count, values = match->plan->value_count;
    BRUME_TRY(grow(match->all, match->plan, error));
    brume_collected *all = match->all;
    size_t low = 0, high = match->found->count;
    while (low < high) { /* the found groups are in order */
        size_t middle = (low + high) / 2;
        if (brume_keys_compare(match->found->groups[middle].keys, cell, keys) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool there = low < match->found->count &&
                 brume_keys_compare(match->found->groups[low].keys, cell, keys) == 0;
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
static brume_status close_domain(brume_collected *collected, const brume_plan *plan,
                                 brume_error *error)
{
    brume_collected all = {0};
    domain_match match = {plan, collected, &all, NULL};
    brume_status status = visit_domain(plan, add_cell, &match, error);
    if (status == BRUME_OK) {
        free(collected->groups);
        free(collected->keys);
        free(collected->values);
        collected->groups = all.groups;
        collected->keys = all.keys;
        collected->values = all.values;
        collected->count = all.count;
        collected->group_room = all.group_room;
        point_groups(collected, plan);
        brume_groups_sort(collected->groups, collected->count, plan->query->key_count);
        return BRUME_OK;
    }
    free(all.groups);
    free(all.keys);
    free(all.values);
    return status;
}

static brume_status take_groups(brume_collected *collected, const brume_plan *plan,
                                brume_engine *engine, const char *sql, brume_error *error)
{
    size_t keys = plan->query->key_count, count = 0;
    brume_wire *wires = calloc(keys + 1 + 3 * plan->value_count, sizeof *wires);
    if (!wires)
        return brume_no_memory(error, "the groups");
    for (size_t i = 0; i < keys; i++)
        wires[count++] = brume_type_wire(plan->query->keys[i].expression->type);
    wires[count++] = BRUME_WIRE_INTEGER;
    for (size_t i = 0; i < plan->value_count; i++) {
        wires[count++] = BRUME_WIRE_INTEGER;
        wires[count++] = BRUME_WIRE_TEXT;
        if (plan->values[i].squares)
            wires[count++] = BRUME_WIRE_TEXT;
    }
    brume_rows *rows = NULL;
    brume_status status = brume_engine_select(engine, sql, wires, count, &rows, error);
    free(wires);
    const brume_chunk *chunk = NULL;
    while (status == BRUME_OK && (status = brume_rows_next(rows, &chunk, error)) == BRUME_OK &&
           chunk)
        for (size_t at = 0; status == BRUME_OK && at < chunk->row_count; at++)
            status = take_group(collected, plan, chunk, at, error);
    brume_rows_close(rows);
    return status;
}

static brume_status print_groups(const brume_plan *plan, brume_dialect dialect,
                                 const char *const *tables, char **sql, brume_error *error)
{
    brume_group_sum *sums = calloc(plan->value_count + 1, sizeof *sums);
    if (!sums)
        return brume_no_memory(error, "the groups");
    for (size_t i = 0; i < plan->value_count; i++) {
        brume_measure measure = {.low = plan->values[i].low, .high = plan->values[i].high};
        sums[i] = (brume_group_sum){plan->values[i].grid, brume_measure_centre(&measure),
                                    plan->values[i].squares};
    }
    brume_status status =
        brume_query_print_groups(plan->query, dialect, tables, sums, plan->value_count, sql, error);
    free(sums);
    return status;
}

static brume_status collect_groups(const brume_plan *plan, brume_engine *engine,
                                   const char **tables, brume_collected *collected,
                                   brume_error *error)
{
    char *sql = NULL;
    BRUME_TRY(print_groups(plan, brume_engine_dialect(engine), tables, &sql, error));
    brume_status status = take_groups(collected, plan, engine, sql, error);
    free(sql);
    if (status != BRUME_OK)
        return status;
    point_groups(collected, plan);
    brume_groups_sort(collected->groups, collected->count, plan->query->key_count);
    return plan->shape.private_keys ? BRUME_OK : close_domain(collected, plan, error);
}

/* ---- either way ---- */

static bool must_stream(const brume_plan *plan)
{
    bool keep = plan->bounded;
    for (size_t i = 0; i < plan->value_count; i++)
        keep = keep || plan->values[i].keep;
    return keep;
}

brume_status brume_collect_statement(const brume_plan *plan, brume_dialect dialect,
                                     const char *const *tables, char **sql, brume_error *error)
{
    return must_stream(plan) ? print_stream(plan, dialect, tables, sql, error)
                             : print_groups(plan, dialect, tables, sql, error);
}

brume_status brume_collect_nothing(const brume_plan *plan, uint64_t units, brume_bits *bits,
                                   brume_collected **out, brume_error *error)
{
    brume_bounder *bounder = NULL;
    if (must_stream(plan)) /* that it opens is all that is asked of it */
        BRUME_TRY(open_bounder(plan, bits, &bounder, error));
    brume_bounder_close(bounder);
    brume_collected *made = calloc(1, sizeof *made);
    brume_status status = made ? grow(made, plan, error) : brume_no_memory(error, "the groups");
    if (status != BRUME_OK) {
        brume_collected_close(made);
        return status;
    }
    for (size_t i = 0, at = 0; i < plan->query->key_count; i++) {
        made->keys[i] = (brume_key_value){.null = true};
        if (plan->domain) {
            made->keys[i] = plan->domain[at];
            at += plan->domain_size[i];
        }
    }
    for (size_t i = 0; i < plan->value_count; i++)
        made->values[i] = (brume_bounded_value){0};
    made->groups[0] = (brume_bounded_group){.units = units, .rows = units};
    made->count = 1;
    point_groups(made, plan);
    *out = made;
    return BRUME_OK;
}

brume_status brume_collect(const brume_plan *plan, brume_engine *engine, size_t table_count,
                           brume_bits *bits, brume_collected **out, brume_error *error)
{
    const char **tables = NULL;
    brume_collected *collected = calloc(1, sizeof *collected);
    if (!collected)
        return brume_no_memory(error, "the groups");
    brume_status status = table_names(engine, table_count, &tables, error);
    if (status == BRUME_OK)
        status = must_stream(plan) ? collect_rows(plan, engine, tables, bits, collected, error)
                                   : collect_groups(plan, engine, tables, collected, error);
    free(tables);
    if (status != BRUME_OK) {
        brume_collected_close(collected);
        return status;
    }
    *out = collected;
    return BRUME_OK;
}
