/* Bounding: what each unit contributes, cut to what the policy allows, and summed exactly.
 *
 * Rows may be given by several threads at once. Each borrows a worker, works the hashes of its rows
 * out many at a time, and lays every row down in the buffer of its unit's shard; a full buffer is
 * handed to the shard under its lock. So the rows of a unit all meet in one place, memory is
 * reached in batches that can be fetched ahead, and threads rarely wait. What waits is bounded:
 * SHARDS * WAITING_MOST rows a thread. */
#include "query/collect/bound_pairs.h"

#include <stdlib.h>

#include "base/error.h"
#include "query/collect/siphash_batch.h"

/* ---- opening and closing ---- */

static brume_status copy_plan(brume_bounder *bounder, const brume_bound_plan *plan,
                              brume_error *error)
{
    bounder->plan = *plan;
    bounder->key_wires = calloc(plan->key_count + 1, sizeof *bounder->key_wires);
    bounder->values = calloc(plan->value_count + 1, sizeof *bounder->values);
    if (!bounder->key_wires || !bounder->values)
        return brume_no_memory(error, "the units and groups");
    if (plan->key_count)
        memcpy(bounder->key_wires, plan->key_wires, plan->key_count * sizeof *plan->key_wires);
    if (plan->value_count)
        memcpy(bounder->values, plan->values, plan->value_count * sizeof *plan->values);
    bounder->plan.keep_key = plan->keep_key && plan->key_count > 0; /* else there is no other */
    bounder->plan.key_wires = bounder->key_wires;
    bounder->plan.values = bounder->values;
    return BRUME_OK;
}

static bool is_narrow(const brume_bound_value *value)
{
    brume_i128 most = INT32_C(1) << 23, centre = value->centre;
    return value->high - centre < most && centre - value->low < most;
}

static brume_status lay_out_totals(brume_bounder *bounder, brume_error *error)
{
    size_t words = 0;
    bounder->total_at = calloc(bounder->plan.value_count + 1, sizeof *bounder->total_at);
    if (!bounder->total_at)
        return brume_no_memory(error, "the units and groups");
    for (size_t i = 0; i < bounder->plan.value_count; i++) {
        bool narrow = is_narrow(&bounder->values[i]);
        bounder->total_at[i] = (total_place){words, narrow};
        words += 1;
        if (!bounder->values[i].no_sum)
            words += (narrow ? 1u : 2u) + (bounder->values[i].squares ? 2u : 0u);
    }
    bounder->total_size = sizeof(total) + words * sizeof(uint64_t);
    bounder->fresh_size = sizeof(fresh_row) + bounder->measured_size;
    return brume_lists_plan(bounder, error);
}

static brume_status prepare(brume_bounder *bounder, const brume_bound_plan *plan, brume_bits *bits,
                            brume_error *error)
{
    bool cuts = plan->max_groups >= 1 && plan->max_groups <= UINT32_C(1) << 26;
    if ((!plan->totals && !cuts) || plan->value_count > BRUME_BOUND_VALUES)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a plan that cannot be bounded");
    uint64_t words[4];
    BRUME_TRY(copy_plan(bounder, plan, error));
    BRUME_TRY(brume_bits_words(bits, words, 4, error));
    bounder->choice_key = (brume_hash_key){{words[0], words[1]}};
    bounder->table_key = (brume_hash_key){{words[2], words[3]}};
    brume_dictionary_make(&bounder->groups, &bounder->table_key, 0);
    bounder->presence = presence_words(plan->value_count);
    bounder->measured_size = (bounder->presence + plan->value_count) * sizeof(uint64_t);
    bounder->measured_at = sizeof(waiting_row);
    bounder->waiting_size = sizeof(waiting_row) + bounder->measured_size;
    if (plan->totals)
        return lay_out_totals(bounder, error);
    bounder->data_size = bounder->measured_size;
    return BRUME_OK;
}

brume_status brume_bounder_open(const brume_bound_plan *plan, brume_bits *bits, brume_bounder **out,
                                brume_error *error)
{
    brume_bounder *bounder = calloc(1, sizeof *bounder);
    if (!bounder)
        return brume_no_memory(error, "the units and groups");
    pthread_mutex_init(&bounder->workers_lock, NULL);
    pthread_rwlock_init(&bounder->groups_lock, NULL);
    brume_pages_open(&bounder->pages);
    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&bounder->shards[i].lock, NULL);
    brume_status status = prepare(bounder, plan, bits, error);
    if (status != BRUME_OK) {
        brume_bounder_close(bounder);
        return status;
    }
    *out = bounder;
    return BRUME_OK;
}

static void free_result(brume_bounder *bounder)
{
    size_t lists = (size_t)bounder->result_groups * bounder->plan.value_count;
    for (size_t i = 0; i < lists; i++) {
        if (bounder->kept)
            free(bounder->kept[i]);
        if (bounder->breakers)
            free(bounder->breakers[i]);
        if (bounder->weights)
            free(bounder->weights[i]);
    }
    free(bounder->kept);
    free(bounder->breakers);
    free(bounder->weights);
    free(bounder->result);
    free(bounder->result_keys);
    free(bounder->result_values);
}

static void free_worker(worker *own)
{
    brume_sorting_clear(&own->sorting);
    free(own->scratch);
    free(own->rows);
    free(own->texts);
    free(own);
}

void brume_bounder_close(brume_bounder *bounder)
{
    if (!bounder)
        return;
    for (worker *next, *one = bounder->workers; one; one = next) {
        next = one->next;
        free_worker(one);
    }
    for (size_t i = 0; i < SHARDS; i++) {
        brume_totals_clear(&bounder->shards[i], bounder->list_count);
        pthread_mutex_destroy(&bounder->shards[i].lock);
    }
    brume_pages_close(&bounder->pages);
    free_result(bounder);
    brume_dictionary_clear(&bounder->groups);
    free(bounder->group_tokens);
    free(bounder->total_at);
    free(bounder->lists);
    free(bounder->limited);
    free(bounder->key_wires);
    free(bounder->values);
    pthread_rwlock_destroy(&bounder->groups_lock);
    pthread_mutex_destroy(&bounder->workers_lock);
    explicit_bzero(bounder, sizeof *bounder);
    free(bounder);
}

/* ---- workers ---- */

/* The first rows tell what units are. */
static void start(brume_bounder *bounder, const brume_chunk_column *units)
{
    if (bounder->started)
        return;
    bounder->started = true;
    bounder->text_units = units->wire == BRUME_WIRE_TEXT;
    bounder->name_size = bounder->text_units ? sizeof(unsigned char *) : 0;
    bounder->short_rows = bounder->plan.totals && bounder->plan.key_count == 0 &&
                          !bounder->breaks_ties && !bounder->text_units;
    bounder->ranked = !bounder->plan.totals || bounder->breaks_ties;
    bounder->measured_at = bounder->short_rows ? offsetof(waiting_row, text_length)
                           : bounder->ranked   ? sizeof(waiting_row)
                                               : offsetof(waiting_row, rank);
    bounder->waiting_size = bounder->measured_at + bounder->measured_size;
}

static worker *new_worker(const brume_bounder *bounder)
{
    worker *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    own->rows = malloc(SHARDS * WAITING_MOST * bounder->waiting_size);
    own->texts = bounder->text_units ? malloc((size_t)SHARDS * TEXT_ROOM) : NULL;
    if (!own->rows || (bounder->text_units && !own->texts)) {
        free_worker(own);
        return NULL;
    }
    return own;
}

/* The idle worker that this thread had last, whose rows are in its processor's caches; else any;
 * NULL: none is idle. */
static worker *take_idle(brume_bounder *bounder)
{
    worker **at = &bounder->idle;
    for (worker **each = at; *each; each = &(*each)->next_idle)
        if (pthread_equal((*each)->thread, pthread_self()))
            at = each;
    worker *own = *at;
    if (own)
        *at = own->next_idle;
    return own;
}

static brume_status borrow_worker(brume_bounder *bounder, const brume_chunk_column *units,
                                  worker **out, brume_error *error)
{
    pthread_mutex_lock(&bounder->workers_lock);
    start(bounder, units);
    worker *own = take_idle(bounder);
    if (!own && (own = new_worker(bounder))) {
        own->next = bounder->workers;
        bounder->workers = own;
    }
    pthread_mutex_unlock(&bounder->workers_lock);
    if (!own)
        return brume_no_memory(error, "the units and groups");
    *out = own;
    return BRUME_OK;
}

static void give_back(brume_bounder *bounder, worker *own)
{
    pthread_mutex_lock(&bounder->workers_lock);
    own->thread = pthread_self();
    own->next_idle = bounder->idle;
    bounder->idle = own;
    pthread_mutex_unlock(&bounder->workers_lock);
}

static brume_status flush(brume_bounder *bounder, worker *own, size_t to, brume_error *error)
{
    size_t count = own->waiting[to].count;
    own->waiting[to] = (waiting){0, 0};
    const unsigned char *rows = own->rows + to * WAITING_MOST * bounder->waiting_size;
    shard *taker = &bounder->shards[to];
    return bounder->plan.totals
               ? brume_totals_take(taker, bounder, &own->sorting, rows, count, error)
               : brume_shard_take(taker, bounder, rows, count, error);
}

brume_status brume_bounder_flush(brume_bounder *bounder, brume_error *error)
{
    for (worker *own = bounder->workers; own; own = own->next)
        for (size_t i = 0; i < SHARDS; i++)
            BRUME_TRY(flush(bounder, own, i, error));
    sorting room = {0};
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && bounder->plan.totals && i < SHARDS; i++)
        status = brume_totals_add_up(&bounder->shards[i], bounder, &room, error);
    brume_sorting_clear(&room);
    return status;
}

/* ---- taking rows ---- */

static void measure(const brume_bounder *bounder, const brume_chunk_column *columns, size_t at,
                    uint64_t *measured)
{
    uint64_t there = 0;
    for (size_t i = 0; i < bounder->plan.value_count; i++) {
        const brume_bound_value *bounds = &bounder->values[i];
        int64_t value = 0;
        if (!brume_chunk_is_null(&columns[i], at)) {
            value = columns[i].integers[at];
            value = value < bounds->low ? bounds->low : value > bounds->high ? bounds->high : value;
            there |= UINT64_C(1) << i % 64;
        }
        measured[bounder->presence + i] = (uint64_t)value;
        if (i % 64 == 63 || i + 1 == bounder->plan.value_count) {
            measured[i / 64] = there;
            there = 0;
        }
    }
}

/* Slots of a shard's table are the low bits of the hash, tags its upper half: these are others. */
static size_t shard_of(uint64_t unit_hash)
{
    return (size_t)(unit_hash >> (32 - SHARD_BITS)) % SHARDS;
}

/* The name of a text unit must outlive the chunk. A name that has no room goes on at once. */
static brume_status lay_text(brume_bounder *bounder, worker *own, size_t to, brume_text text,
                             waiting_row **row, bool *at_once, brume_error *error)
{
    if (own->waiting[to].text_used + text.length > TEXT_ROOM) {
        BRUME_TRY(flush(bounder, own, to, error));
        *row = (waiting_row *)(void *)(own->rows + to * WAITING_MOST * bounder->waiting_size);
    }
    *at_once = text.length > TEXT_ROOM;
    (*row)->unit.text = text.data;
    (*row)->text_length = (uint32_t)text.length;
    if (*at_once)
        return BRUME_OK;
    char *copy = own->texts + to * TEXT_ROOM + own->waiting[to].text_used;
    if (text.length)
        memcpy(copy, text.data, text.length);
    (*row)->unit.text = copy;
    own->waiting[to].text_used += (uint32_t)text.length;
    return BRUME_OK;
}

static brume_status lay_row(brume_bounder *bounder, worker *own, const brume_chunk *chunk,
                            size_t first, size_t i, brume_error *error)
{
    const brume_chunk_column *units = &chunk->columns[0];
    size_t to = shard_of(own->hashes[i]), at = first + i;
    bool at_once = false;
    waiting_row *row =
        (waiting_row *)(void *)(own->rows + (to * WAITING_MOST + own->waiting[to].count) *
                                                bounder->waiting_size);
    if (bounder->text_units)
        BRUME_TRY(lay_text(bounder, own, to, units->texts[at], &row, &at_once, error));
    else
        row->unit.number = own->units[i];
    row->unit_hash = own->hashes[i];
    if (!bounder->short_rows)
        row->group = own->groups[i];
    if (bounder->ranked)
        row->rank = own->ranks[i];
    measure(bounder, chunk->columns + 1 + bounder->plan.key_count, at,
            (uint64_t *)(void *)((unsigned char *)row + bounder->measured_at));
    if (++own->waiting[to].count < WAITING_MOST && !at_once)
        return BRUME_OK;
    return flush(bounder, own, to, error);
}

/* The units of numbers as words; -0 and 0 are one unit. */
static void read_units(worker *own, const brume_chunk_column *units, size_t first, size_t count)
{
    if (units->wire == BRUME_WIRE_INTEGER) {
        own->units = (const uint64_t *)units->integers + first;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double real = units->reals[first + i] == 0 ? 0 : units->reals[first + i];
        memcpy(&own->real_units[i], &real, sizeof real);
    }
    own->units = own->real_units;
}

static void hash_units(const brume_bounder *bounder, worker *own, const brume_chunk_column *units,
                       size_t first, size_t count)
{
    const brume_hash_key *key = &bounder->table_key;
    if (!bounder->text_units) {
        read_units(own, units, first, count);
        brume_siphash_batch_one(key, own->units, count, own->hashes);
        return;
    }
    for (size_t i = 0; i < count; i++)
        own->hashes[i] = brume_chunk_is_null(units, first + i)
                             ? 0
                             : brume_siphash_bytes(key, units->texts[first + i].data,
                                                   units->texts[first + i].length);
}

static brume_status take_batch(brume_bounder *bounder, worker *own, const brume_chunk *chunk,
                               size_t first, size_t count, brume_error *error)
{
    const brume_chunk_column *units = &chunk->columns[0];
    hash_units(bounder, own, units, first, count);
    BRUME_TRY(brume_bound_groups(bounder, own, chunk, first, count, error));
    /* Ranks come from the other key: the table's must not decide them. */
    if (bounder->ranked)
        brume_siphash_batch_two(&bounder->choice_key, own->hashes, own->tokens, count, own->ranks);
    for (size_t i = 0; i < count; i++)
        if (own->groups[i] != NO_GROUP && !brume_chunk_is_null(units, first + i))
            BRUME_TRY(lay_row(bounder, own, chunk, first, i, error));
    return BRUME_OK;
}

brume_status brume_bounder_take(brume_bounder *bounder, const brume_chunk *chunk,
                                brume_error *error)
{
    if (chunk->column_count != 1 + bounder->plan.key_count + bounder->plan.value_count)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "rows of another shape than planned");
    worker *own = NULL;
    BRUME_TRY(borrow_worker(bounder, &chunk->columns[0], &own, error));
    brume_status status = BRUME_OK;
    for (size_t first = 0; status == BRUME_OK && first < chunk->row_count; first += BATCH) {
        size_t count = chunk->row_count - first < BATCH ? chunk->row_count - first : BATCH;
        status = take_batch(bounder, own, chunk, first, count, error);
    }
    give_back(bounder, own);
    return status;
}
