/* Totals: norms of what each unit has, and sums of what is left of it under limits.
 *
 * On all processors, a shard at a time each, so that the norms that are kept are those of a shard's
 * units. Sums are of integers: whoever adds up which shard makes no difference. */
#include "query/collect/totals.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/parallel.h"
#include "query/collect/bound_pairs.h"
#include "query/limit/clip.h"
#include "query/limit/grid.h"

static brume_i128 wide_at(const uint64_t *words)
{
    brume_i128 x;
    memcpy(&x, words, sizeof x);
    return x;
}

static brume_i128 sum_of(const brume_bounder *bounder, const total *one, size_t value)
{
    return wide_at(one->words + bounder->total_at[value] + 1);
}

static uint64_t count_of(const brume_bounder *bounder, const total *one, size_t value)
{
    return one->words[bounder->total_at[value]];
}

/* ---- norms ---- */

static brume_i128 entry_of(const brume_bounder *bounder, const total *one, const brume_total *of)
{
    switch (of->kind) {
    case BRUME_TOTAL_PRESENCE:
        return 1;
    case BRUME_TOTAL_ROWS:
        return (brume_i128)one->rows;
    case BRUME_TOTAL_VALUES:
        return (brume_i128)count_of(bounder, one, of->value);
    case BRUME_TOTAL_SUM:
        break;
    }
    return sum_of(bounder, one, of->value) + (brume_i128)bounder->values[of->value].centre *
                                                 (brume_i128)count_of(bounder, one, of->value);
}

static bool is_shown(const bool *shown, const total *one)
{
    return !shown || shown[one->group];
}

void brume_totals_norms(const brume_bounder *bounder, const shard *own, const brume_total *of,
                        int p, const bool *shown, brume_u128 *norms)
{
    memset(norms, 0, own->unit_count * sizeof *norms);
    for (size_t i = 0; i < own->totals.count; i++) {
        const total *one = total_in(bounder, own, i);
        if (is_shown(shown, one))
            norms[one->unit] =
                brume_limit_add(norms[one->unit], brume_limit_part(entry_of(bounder, one, of), p));
    }
}

size_t brume_totals_groups(const brume_bounder *bounder)
{
    return bounder->result_groups;
}

/* ---- all shards, on all processors ---- */

enum { MOST_LANES = 16 };

/* Lane i of `count` keeps norms and sums of its own. */
typedef struct lanes {
    const brume_bounder *bounder;
    void (*visit)(void *context, size_t lane, const shard *own);
    void *context;
    atomic_size_t next; /* the next shard that nobody has */
} lanes;

static void run_lane(void *context, size_t lane, uint64_t first, uint64_t last)
{
    lanes *all = context;
    (void)first;
    (void)last;
    for (size_t s; (s = atomic_fetch_add(&all->next, 1)) < SHARDS;)
        all->visit(all->context, lane, &all->bounder->shards[s]);
}

static uint64_t count_totals(const brume_bounder *bounder)
{
    uint64_t count = 0;
    for (size_t s = 0; s < SHARDS; s++)
        count += bounder->shards[s].totals.count;
    return count;
}

static size_t count_lanes(const brume_bounder *bounder)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = cores < 1 ? 1 : cores < MOST_LANES ? (size_t)cores : MOST_LANES;
    return brume_parallel_pieces(most, count_totals(bounder) / most);
}

/* Each lane has `cells` sums of its own: no more lanes than there are totals for all of these, so
 * that many groups with few units each take no more room than the totals do. */
static size_t count_summing_lanes(const brume_bounder *bounder, size_t cells)
{
    size_t most = count_lanes(bounder);
    uint64_t useful = count_totals(bounder) / (cells + 1) + 1;
    return useful < most ? (size_t)useful : most;
}

static void visit_shards(const brume_bounder *bounder, size_t lane_count,
                         void (*visit)(void *context, size_t lane, const shard *own), void *context)
{
    lanes all = {.bounder = bounder, .visit = visit, .context = context};
    brume_parallel_run_on(lane_count, lane_count, count_totals(bounder) / lane_count, run_lane,
                          &all);
}

/* ---- sums of the groups ---- */

typedef struct adding {
    const brume_bounder *bounder;
    uint64_t *numbers; /* [lane][group]: rows, units */
} adding;

static void add_shard(void *context, size_t lane, const shard *own)
{
    const adding *how = context;
    const brume_bounder *bounder = how->bounder;
    uint64_t *numbers = how->numbers + 2 * lane * bounder->result_groups;
    bool kept = bounder->plan.keep_key;
    for (size_t i = 0; i < own->totals.count; i++) {
        const total *one = total_in(bounder, own, i);
        numbers[2 * (size_t)one->group] += one->rows;
        numbers[2 * (size_t)one->group + 1] += !kept;
    }
    for (size_t i = 0; kept && i < own->unit_count; i++)
        numbers[2 * (size_t)own->kept_keys[i].group + 1]++;
}

brume_status brume_totals_sum(brume_bounder *bounder, brume_error *error)
{
    size_t groups = bounder->result_groups, lane_count = count_summing_lanes(bounder, 2 * groups);
    adding how = {bounder, calloc(2 * groups * lane_count + 1, sizeof *how.numbers)};
    if (!how.numbers)
        return brume_no_memory(error, "the units and groups");
    visit_shards(bounder, lane_count, add_shard, &how);
    for (size_t i = 0; i < groups * lane_count; i++) {
        bounder->result[i % groups].rows += how.numbers[2 * i];
        bounder->result[i % groups].units += how.numbers[2 * i + 1];
    }
    free(how.numbers);
    return BRUME_OK;
}

static size_t most_units(const brume_bounder *bounder)
{
    size_t most = 0;
    for (size_t s = 0; s < SHARDS; s++)
        most = bounder->shards[s].unit_count > most ? bounder->shards[s].unit_count : most;
    return most;
}

typedef struct counting {
    const brume_bounder *bounder;
    const brume_total *of;
    int p;
    size_t bins, units; /* units: room for the norms of a shard */
    const bool *shown;
    brume_u128 *norms; /* [lane][unit of the shard] */
    uint64_t *counts;  /* [lane][bin] */
} counting;

static void count_shard(void *context, size_t lane, const shard *own)
{
    const counting *how = context;
    brume_u128 *norms = how->norms + lane * how->units;
    uint64_t *counts = how->counts + lane * how->bins;
    brume_totals_norms(how->bounder, own, how->of, how->p, how->shown, norms);
    for (size_t i = 0; i < own->unit_count; i++) {
        size_t bin = brume_limit_bin(norms[i], how->p, how->bins);
        if (bin != BRUME_LIMIT_NO_BIN)
            counts[bin]++;
    }
}

brume_status brume_totals_histogram(brume_bounder *bounder, const brume_total *of, int p,
                                    size_t bins, const bool *shown, uint64_t *counts,
                                    brume_error *error)
{
    size_t lane_count = count_lanes(bounder);
    counting how = {bounder, of, p, bins, most_units(bounder), shown, NULL, NULL};
    how.norms = malloc((how.units * lane_count + 1) * sizeof *how.norms);
    how.counts = calloc(bins * lane_count + 1, sizeof *how.counts);
    brume_status status = BRUME_OK;
    if (how.norms && how.counts) {
        visit_shards(bounder, lane_count, count_shard, &how);
        memset(counts, 0, bins * sizeof *counts);
        for (size_t i = 0; i < bins * lane_count; i++)
            counts[i % bins] += how.counts[i];
    } else {
        status = brume_no_memory(error, "the units and groups");
    }
    free(how.norms);
    free(how.counts);
    return status;
}

/* ---- sums under limits ---- */

/* What a total adds to one of the sums. */
static brume_i128 limited(const brume_bounder *bounder, const total *one,
                          const brume_limited_sum *sum, const brume_total_limit *limit, int p,
                          const brume_limit_factor *factor)
{
    if (sum->kind == BRUME_MEASURE_UNITS || brume_measure_kind_selects(sum->kind))
        return 0; /* the test of keys was on these; lists are drawn from */
    if (sum->kind == BRUME_MEASURE_CENTRED)
        return brume_limit_follow(sum_of(bounder, one, sum->value), factor, sum->shift);
    if (sum->kind == BRUME_MEASURE_HOLDERS) /* 0 or 1, and the limit is on 1 in every group */
        return brume_limit_follow(count_of(bounder, one, sum->value) > 0, factor, sum->shift);
    if (sum->kind == BRUME_MEASURE_SQUARES) {
        const uint64_t *words = one->words + bounder->total_at[sum->value];
        brume_i128 squares = wide_at(words + 3) -
                             (brume_i128)sum->half_square * (brume_i128)words[0];
        return brume_limit_follow(squares, factor, sum->shift);
    }
    return brume_limit_clip(entry_of(bounder, one, &limit->of), factor, limit->limit, sum->shift,
                            p);
}

typedef struct limiting {
    const brume_bounder *bounder;
    const brume_total_limit *limits;
    size_t limit_count;
    int p;
    const bool *shown;
    const brume_limited_sum *sums;
    size_t sum_count, units;     /* units: room for the norms of a shard */
    brume_u128 *norms;           /* [lane][unit of the shard] */
    brume_limit_factor *factors; /* [lane][limit][unit of the shard] */
    brume_i128 *limited;         /* [lane][group][sum] */
} limiting;

static brume_limit_factor factor_of(brume_u128 norm, const brume_total_limit *limit, int p)
{
    return p == 2 && limit->square ? brume_limit_factor_within(norm, limit->square)
                                   : brume_limit_factor_of(norm, limit->limit, p);
}

/* Is none of the sums of what a unit has: are lists drawn from, or units counted? */
static bool sums_nothing(const brume_limited_sum *sums, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sums[i].kind != BRUME_MEASURE_UNITS && !brume_measure_kind_selects(sums[i].kind))
            return false;
    return true;
}

static void limit_shard(void *context, size_t lane, const shard *own)
{
    const limiting *how = context;
    brume_u128 *norms = how->norms + lane * how->units;
    brume_limit_factor *factors = how->factors + lane * how->limit_count * how->units;
    brume_i128 *sums = how->limited + lane * how->bounder->result_groups * how->sum_count;
    for (size_t j = 0; j < how->limit_count; j++) {
        brume_totals_norms(how->bounder, own, &how->limits[j].of, how->p, how->shown, norms);
        for (size_t i = 0; i < own->unit_count; i++)
            factors[j * how->units + i] = factor_of(norms[i], &how->limits[j], how->p);
    }
    for (size_t i = 0; i < own->totals.count; i++) {
        const total *one = total_in(how->bounder, own, i);
        brume_i128 *to = sums + one->group * how->sum_count;
        if (!is_shown(how->shown, one))
            continue;
        for (size_t k = 0; k < how->sum_count; k++) {
            size_t j = how->sums[k].limit;
            to[k] += limited(how->bounder, one, &how->sums[k], &how->limits[j], how->p,
                             &factors[j * how->units + one->unit]);
        }
    }
}

brume_status brume_totals_limit(brume_bounder *bounder, const brume_total_limit *limits,
                                size_t limit_count, int p, const bool *shown,
                                const brume_limited_sum *sums, size_t sum_count,
                                brume_bounded_group *groups, size_t group_count, brume_error *error)
{
    size_t all = (size_t)bounder->result_groups * sum_count;
    size_t lane_count = count_summing_lanes(bounder, all);
    limiting how = {.bounder = bounder,
                    .limits = limits,
                    .limit_count = limit_count,
                    .p = p,
                    .shown = shown,
                    .sums = sums,
                    .sum_count = sum_count,
                    .units = most_units(bounder)};
    how.norms = malloc((how.units * lane_count + 1) * sizeof *how.norms);
    how.factors = malloc((how.units * limit_count * lane_count + 1) * sizeof *how.factors);
    free(bounder->limited);
    how.limited = bounder->limited = calloc(all * lane_count + 1, sizeof *bounder->limited);
    brume_status status = BRUME_OK;
    if (how.norms && how.factors && bounder->limited) {
        if (!sums_nothing(sums, sum_count))
            visit_shards(bounder, lane_count, limit_shard, &how);
        for (size_t i = all; i < all * lane_count; i++)
            bounder->limited[i % all] += bounder->limited[i];
        for (size_t i = 0; i < group_count; i++)
            groups[i].limited = bounder->limited + groups[i].number * sum_count;
    } else {
        status = brume_no_memory(error, "the units and groups");
    }
    free(how.norms);
    free(how.factors);
    return status;
}
