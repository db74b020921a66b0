/* Totals where the rows lie: running the two statements, and what they answer. */
#include "query/collect/pushed.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/collect/collect_parts.h"
#include "query/print/statement.h"

/* ---- dialects ---- */

static const brume_push_dialect postgresql = {brume_push_postgresql_obstacle,
                                              brume_push_print_histogram, brume_push_print_sums};

const brume_push_dialect *brume_push_dialect_of(brume_dialect dialect)
{
    return dialect == BRUME_DIALECT_POSTGRESQL ? &postgresql : NULL;
}

const char *brume_push_obstacle(const brume_collection *collection, brume_dialect dialect)
{
    const brume_push_dialect *own = brume_push_dialect_of(dialect);
    return own ? own->obstacle(collection) : "files are read by brume itself";
}

/* ---- opening and running ---- */

void brume_push_close(brume_collected *collected)
{
    brume_push *push = &collected->push;
    if (push->held)
        brume_engine_release(push->engine);
    free(push->rows);
    *push = (brume_push){0};
}

/* Every declared group, with nothing in it yet. */
brume_status brume_push_open(const brume_collection *collection, brume_engine *engine,
                             const char *const *tables, brume_collected *collected,
                             brume_error *error)
{
    brume_push *push = &collected->push;
    push->collection = collection;
    push->engine = engine;
    push->dialect = brume_push_dialect_of(brume_engine_dialect(engine));
    if (!push->dialect)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "nothing is pushed down to this engine");
    BRUME_TRY(brume_collect_print_rows(collection, brume_engine_dialect(engine), tables,
                                       &push->rows, error));
    BRUME_TRY(brume_collect_close_domain(collected, collection, error));
    BRUME_TRY(brume_engine_retain(engine, error));
    push->held = true;
    return BRUME_OK;
}

typedef brume_status (*row_taker)(void *context, const brume_chunk *chunk, size_t at,
                                  brume_error *error);

static brume_status run(const brume_push *push, const char *sql, const brume_wire *wires,
                        size_t wire_count, row_taker take, void *context, brume_error *error)
{
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    brume_status status = brume_engine_select(push->engine, sql, wires, wire_count, &rows, error);
    while (status == BRUME_OK && (status = brume_rows_next(rows, &chunk, error)) == BRUME_OK &&
           chunk)
        for (size_t at = 0; status == BRUME_OK && at < chunk->row_count; at++)
            status = take(context, chunk, at, error);
    brume_rows_close(rows);
    return status;
}

/* ---- histograms ---- */

typedef struct histogram {
    size_t bins;
    uint64_t *counts;
} histogram;

static brume_status take_bin(void *context, const brume_chunk *chunk, size_t at, brume_error *error)
{
    const histogram *to = context;
    int64_t bin = chunk->columns[0].integers[at];
    if (bin < 0 || (uint64_t)bin >= to->bins)
        return brume_collect_strange(error);
    to->counts[bin] = (uint64_t)chunk->columns[1].integers[at];
    return BRUME_OK;
}

brume_status brume_push_histogram(brume_collected *collected, const brume_total *of, int p,
                                  size_t bins, uint64_t *counts, brume_error *error)
{
    static const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_INTEGER};
    const brume_push *push = &collected->push;
    histogram to = {bins, counts};
    char *sql = NULL;
    memset(counts, 0, bins * sizeof *counts);
    BRUME_TRY(
        push->dialect->print_histogram(push->collection, push->rows, of, p, bins, &sql, error));
    brume_status status = run(push, sql, wires, 2, take_bin, &to, error);
    free(sql);
    return status;
}

/* ---- sums ---- */

typedef struct summing {
    brume_collected *collected;
    brume_key_value *keys;
    size_t sum_count;
} summing;

static brume_status take_sums(void *context, const brume_chunk *chunk, size_t at,
                              brume_error *error)
{
    const summing *to = context;
    brume_collected *collected = to->collected;
    size_t key_count = collected->push.collection->query->key_count;
    for (size_t i = 0; i < key_count; i++)
        to->keys[i] = brume_collect_key(&chunk->columns[i], at);
    size_t place = brume_collect_find(collected->groups, collected->count, to->keys, key_count);
    brume_i128 rows = 0;
    if (place == collected->count || chunk->columns[key_count].integers[at] < 0 ||
        !brume_collect_read_wide(chunk->columns[key_count + 1].texts[at], &rows))
        return brume_collect_strange(error);
    collected->groups[place].units = (uint64_t)chunk->columns[key_count].integers[at];
    collected->groups[place].rows = (uint64_t)rows;
    for (size_t i = 0; i < to->sum_count; i++)
        if (!brume_collect_read_wide(chunk->columns[key_count + 2 + i].texts[at],
                                     &collected->limited[place * to->sum_count + i]))
            return brume_collect_strange(error);
    return BRUME_OK;
}

static brume_status run_sums(brume_collected *collected, const char *sql, size_t sum_count,
                             brume_error *error)
{
    const brume_query *query = collected->push.collection->query;
    size_t keys = query->key_count;
    brume_wire *wires = calloc(keys + 2 + sum_count, sizeof *wires);
    summing to = {collected, calloc(keys + 1, sizeof *to.keys), sum_count};
    brume_status status = wires && to.keys ? BRUME_OK : brume_no_memory(error, "the groups");
    if (status == BRUME_OK) {
        for (size_t i = 0; i < keys; i++)
            wires[i] = brume_type_wire(query->keys[i].expression->type);
        wires[keys] = BRUME_WIRE_INTEGER;
        for (size_t i = 0; i <= sum_count; i++)
            wires[keys + 1 + i] = BRUME_WIRE_TEXT;
        status = run(&collected->push, sql, wires, keys + 2 + sum_count, take_sums, &to, error);
    }
    free(wires);
    free(to.keys);
    return status;
}

brume_status brume_push_limit(brume_collected *collected, const brume_total_limit *limits,
                              size_t limit_count, int p, const brume_limited_sum *sums,
                              size_t sum_count, brume_error *error)
{
    const brume_push *push = &collected->push;
    free(collected->limited);
    collected->limited = calloc(collected->count * sum_count + 1, sizeof *collected->limited);
    if (!collected->limited)
        return brume_no_memory(error, "the groups");
    for (size_t i = 0; i < collected->count; i++) {
        collected->groups[i].units = collected->groups[i].rows = 0;
        collected->groups[i].limited = collected->limited + i * sum_count;
    }
    char *sql = NULL;
    BRUME_TRY(push->dialect->print_sums(push->collection, push->rows, limits, limit_count, p, sums,
                                        sum_count, &sql, error));
    brume_status status = run_sums(collected, sql, sum_count, error);
    free(sql);
    return status;
}
