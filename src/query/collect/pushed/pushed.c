/* Totals where the rows lie: running the two statements, and what they answer. */
#include "query/collect/pushed/pushed.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/collect/collect_parts.h"
#include "query/collect/pushed/pushed_postgresql.h"
#include "query/collect/pushed/pushed_spark.h"
#include "query/print/statement.h"

/* The statements that keep something of every unit by a keyed hash.
 *
 * A pair of a unit and a group is ranked by the dialect's hash of it. Ties are broken by the keys
 * themselves, never by the order in which rows happen to be read, which depends on the rows of
 * others.
 *
 * What a unit keeps is a function of its own rows and of the key alone, for every key and whatever
 * the hash: the price rests on that (proofs/push-down.md). The hash must only be so good that which
 * groups stay has nothing to do with what is in them. */

/* Pairs of a unit and a group, each with its rows "n" and its place "g" among those of the unit. */
static void put_ranked_pairs(const brume_push_statement *to, const brume_push_dialect *dialect,
                             const char *rows, uint64_t key)
{
    fputs("(SELECT \"n\"", to->out);
    brume_push_put_keys(to, ", ");
    fputs(", row_number() OVER (PARTITION BY \"r0\" ORDER BY \"h\"", to->out);
    brume_push_put_keys(to, ", ");
    fputs(") AS \"g\" FROM (SELECT *, ", to->out);
    dialect->put_rank(to, key);
    fputs(" AS \"h\" FROM ", to->out);
    dialect->put_totals(to, rows, false);
    fputs(") AS \"h\") AS \"g\"", to->out);
}

static void put_at_most(const brume_push_statement *to, const brume_push_dialect *dialect,
                        uint64_t most)
{
    dialect->put_integer(to->out, most > INT64_MAX ? INT64_MAX : (int64_t)most);
}

/* The first `most` pairs of each unit. */
static void put_first(const brume_push_statement *to, const brume_push_dialect *dialect,
                      uint64_t most)
{
    fputs(" WHERE \"g\" <= ", to->out);
    put_at_most(to, dialect, most);
}

brume_status brume_push_print_kept(const brume_push_dialect *dialect,
                                   const brume_collection *collection, const char *rows,
                                   uint64_t key, char **sql, brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, 1, error));
    fputs("SELECT ", to.out);
    brume_push_put_keys(&to, "");
    fputs(", count(*) FROM ", to.out);
    put_ranked_pairs(&to, dialect, rows, key);
    put_first(&to, dialect, 1);
    brume_push_put_keys(&to, " GROUP BY ");
    return brume_push_end(&to, sql, error);
}

brume_status brume_push_print_distinct(const brume_push_dialect *dialect,
                                       const brume_collection *collection, const char *rows,
                                       uint64_t key, uint64_t limit, char **sql, brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, 1, error));
    fputs("SELECT ", to.out);
    brume_push_put_first_keys(&to, to.keys - 1, "");
    fprintf(to.out, "%scount(*) FROM (SELECT ", to.keys > 1 ? ", " : "");
    brume_push_put_keys(&to, "");
    fputs(" FROM ", to.out);
    put_ranked_pairs(&to, dialect, rows, key);
    put_first(&to, dialect, limit);
    brume_push_put_keys(&to, " GROUP BY ");
    fputs(") AS \"d\"", to.out);
    brume_push_put_first_keys(&to, to.keys - 1, " GROUP BY ");
    return brume_push_end(&to, sql, error);
}

brume_status brume_push_print_bounded(const brume_push_dialect *dialect,
                                      const brume_collection *collection, const char *rows,
                                      uint64_t key, char **sql, brume_error *error)
{
    brume_push_statement to;
    BRUME_TRY(brume_push_begin(&to, collection, 1, error));
    fputs("SELECT ", to.out);
    brume_push_put_keys(&to, "");
    fprintf(to.out, "%scount(*) FROM ", to.keys ? ", " : "");
    put_ranked_pairs(&to, dialect, rows, key);
    if (brume_push_cuts_groups(collection))
        put_first(&to, dialect, collection->max_groups);
    brume_push_put_keys(&to, " GROUP BY ");
    return brume_push_end(&to, sql, error);
}

/* Totals where the rows lie: groups of which something is kept by a keyed hash. */

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

static brume_status push_run(const brume_push *push, const char *sql, const brume_wire *wires,
                             size_t wire_count, brume_push_taker take, void *context,
                             brume_error *error);

/* The groups of a collection of which something is kept by hash, in order (pushed.c). */
static brume_status push_take_groups(brume_collected *collected, brume_error *error)
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
        status = push_run(push, sql, wires, count, take_group, &to, error);
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
        BRUME_TRY(push_take_groups(collected, error));
    return collection->cells == 0 ? BRUME_OK
                                  : brume_collect_close_domain(collected, collection, error);
}

static brume_status push_run(const brume_push *push, const char *sql, const brume_wire *wires,
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
    brume_status status = push_run(push, sql, wires, 2, take_bin, &to, error);
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
        status =
            push_run(&collected->push, sql, wires, keys + 2 + sum_count, take_sums, &to, error);
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
        status = push_run(push, sql, wires, keys + 1, take_count, &to, error);
    free(sql);
    free(wires);
    free(to.keys);
    return status;
}
