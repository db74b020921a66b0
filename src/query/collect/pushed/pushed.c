/* Totals where the rows lie: running the two statements, and what they answer. */
#include "query/collect/pushed/pushed.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/collect/collect_parts.h"
#include "query/collect/pushed/pushed_postgresql.h"
#include "query/collect/pushed/pushed_spark.h"
#include "query/print/statement.h"

/* ---- dialects ---- */

static const brume_push_dialect postgresql = {
    .obstacle = brume_push_postgresql_obstacle,
    .print_histogram = brume_push_postgresql_histogram,
    .print_sums = brume_push_postgresql_sums,
    .put_integer = brume_push_postgresql_integer,
    .put_rank = brume_push_postgresql_rank,
    .put_totals = brume_push_postgresql_totals,
};

static const brume_push_dialect spark = {
    .obstacle = brume_push_spark_obstacle,
    .print_histogram = brume_push_spark_histogram,
    .print_sums = brume_push_spark_sums,
    .put_integer = brume_push_spark_integer,
    .put_rank = brume_push_spark_rank,
    .put_totals = brume_push_spark_totals,
};

const brume_push_dialect *brume_push_dialect_of(brume_dialect dialect)
{
    return dialect == BRUME_DIALECT_POSTGRESQL ? &postgresql
           : dialect == BRUME_DIALECT_SPARK    ? &spark
                                               : NULL;
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
    free(push->only_groups);
    explicit_bzero(push, sizeof *push);
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
    push->dialect = brume_push_dialect_of(brume_engine_dialect(engine));
    if (!push->dialect)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "nothing is pushed down to this engine");
    if (keeps(collection))
        BRUME_TRY(brume_bits_words(bits, &push->key, 1, error));
    BRUME_TRY(brume_collect_print_staying(collection, engine, tables, &push->rows, error));
    BRUME_TRY(brume_engine_retain(engine, error));
    push->held = true;
    if (keeps(collection) && !(collection->totals && collection->all_groups))
        BRUME_TRY(brume_push_take_groups(collected, error));
    return collection->cells == 0 ? BRUME_OK
                                  : brume_collect_close_domain(collected, collection, error);
}

brume_status brume_push_run(const brume_push *push, const char *sql, const brume_wire *wires,
                            size_t wire_count, brume_push_taker take, void *context,
                            brume_error *error)
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

/* ---- which groups ---- */

/* The groups with shown[number]. */
static brume_status restrict_to_shown(brume_collected *collected, const bool *shown,
                                      brume_error *error)
{
    brume_push *push = &collected->push;
    if (!shown)
        return BRUME_OK;
    const brume_bounded_group **groups = calloc(collected->count + 1, sizeof *groups);
    if (!groups)
        return brume_no_memory(error, "the groups");
    size_t count = 0;
    for (size_t i = 0; i < collected->count; i++)
        if (shown[collected->groups[i].number])
            groups[count++] = &collected->groups[i];
    brume_collected_restrict(collected, groups, count, push->collection->query->key_count);
    free(push->only_groups);
    push->only_groups = groups;
    return BRUME_OK;
}

/* Is there no group left to ask about? Then nothing is asked. */
static bool is_nothing(const brume_push *push)
{
    return push->collection->only && push->only.key_count > 0 && push->only.count == 0;
}

void brume_collected_restrict(brume_collected *collected, const brume_bounded_group *const *groups,
                              size_t count, size_t key_count)
{
    brume_push *push = &collected->push;
    if (!push->collection)
        return;
    push->only = (brume_collection_only){groups, count, key_count};
    push->restricted = *push->collection;
    push->restricted.only = &push->only;
    push->collection = &push->restricted;
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
                                  size_t bins, const bool *shown, uint64_t *counts,
                                  brume_error *error)
{
    static const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_INTEGER};
    const brume_push *push = &collected->push;
    histogram to = {bins, counts};
    char *sql = NULL;
    memset(counts, 0, bins * sizeof *counts);
    BRUME_TRY(restrict_to_shown(collected, shown, error));
    if (is_nothing(push))
        return BRUME_OK;
    BRUME_TRY(
        push->dialect->print_histogram(push->collection, push->rows, of, p, bins, &sql, error));
    brume_status status = brume_push_run(push, sql, wires, 2, take_bin, &to, error);
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
    /* Not every combination of declared values is a declared group (collection->ties). A row in
     * another one is dropped, as the bounder drops it: an error would tell that it is there. */
    if (place == collected->count)
        return BRUME_OK;
    if (chunk->columns[key_count].integers[at] < 0 ||
        !brume_collect_read_wide(chunk->columns[key_count + 1].texts[at], &rows))
        return brume_collect_strange(error);
    if (!collected->push.collection->only)
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
        status = brume_push_run(&collected->push, sql, wires, keys + 2 + sum_count, take_sums, &to,
                                error);
    }
    free(wires);
    free(to.keys);
    return status;
}

brume_status brume_push_limit(brume_collected *collected, const brume_total_limit *limits,
                              size_t limit_count, int p, const bool *shown,
                              const brume_limited_sum *sums, size_t sum_count, brume_error *error)
{
    const brume_push *push = &collected->push;
    free(collected->limited);
    collected->limited = calloc(collected->count * sum_count + 1, sizeof *collected->limited);
    if (!collected->limited)
        return brume_no_memory(error, "the groups");
    for (size_t i = 0; i < collected->count; i++) {
        if (!shown) /* of private groups `units` are those that keep it */
            collected->groups[i].units = collected->groups[i].rows = 0;
        collected->groups[i].limited = collected->limited + i * sum_count;
    }
    char *sql = NULL;
    BRUME_TRY(restrict_to_shown(collected, shown, error));
    if (is_nothing(push))
        return BRUME_OK;
    BRUME_TRY(push->dialect->print_sums(push->collection, push->rows, limits, limit_count, p, sums,
                                        sum_count, &sql, error));
    brume_status status = run_sums(collected, sql, sum_count, error);
    free(sql);
    return status;
}

/* ---- counts of distinct values ---- */

typedef struct counting {
    const brume_push *push;
    const brume_bounded_group *const *groups;
    size_t count, key_count;
    int64_t *counts;
    brume_key_value *keys;
} counting;

/* Groups are in the order of their keys; those that are not asked about are left out. */
static brume_status take_count(void *context, const brume_chunk *chunk, size_t at,
                               brume_error *error)
{
    (void)error;
    const counting *to = context;
    size_t low = 0, high = to->count;
    for (size_t i = 0; i < to->key_count; i++)
        to->keys[i] = brume_collect_key(&chunk->columns[i], at);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (brume_keys_compare(to->groups[middle]->keys, to->keys, to->key_count) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < to->count && brume_keys_compare(to->groups[low]->keys, to->keys, to->key_count) == 0)
        to->counts[low] = chunk->columns[to->key_count].integers[at];
    return BRUME_OK;
}

bool brume_collected_counts_there(const brume_collected *collected)
{
    return collected->push.collection && collected->push.collection->all_groups;
}

brume_status brume_collected_count_values(const brume_collected *collected, uint64_t limit,
                                          const brume_bounded_group *const *groups, size_t count,
                                          int64_t *counts, brume_error *error)
{
    const brume_push *push = &collected->push;
    const brume_query *query = push->collection->query;
    size_t keys = query->key_count - 1;
    counting to = {push, groups, count, keys, counts, calloc(keys + 1, sizeof *to.keys)};
    brume_wire *wires = calloc(keys + 1, sizeof *wires);
    char *sql = NULL;
    memset(counts, 0, count * sizeof *counts);
    brume_status status = wires && to.keys ? BRUME_OK : brume_no_memory(error, "the groups");
    for (size_t i = 0; wires && i <= keys; i++)
        wires[i] = i < keys ? brume_type_wire(query->keys[i].expression->type) : BRUME_WIRE_INTEGER;
    if (status == BRUME_OK && !is_nothing(push))
        status = brume_push_print_distinct(push->dialect, push->collection, push->rows, push->key,
                                           limit, &sql, error);
    if (status == BRUME_OK && sql)
        status = brume_push_run(push, sql, wires, keys + 1, take_count, &to, error);
    free(sql);
    free(wires);
    free(to.keys);
    return status;
}
