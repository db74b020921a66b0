/* Totals: norms of what each unit has, and sums of what is left of it under limits.
 *
 * One shard after the other, so that the norms that are kept are those of a shard's units. */
#include "query/collect/totals.h"

#include <stdlib.h>

#include "base/error.h"
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

void brume_totals_sum(brume_bounder *bounder)
{
    bool kept = bounder->plan.keep_key;
    for (size_t s = 0; s < SHARDS; s++) {
        const shard *own = &bounder->shards[s];
        for (size_t i = 0; i < own->total_count; i++) {
            const total *one = total_in(bounder, own, i);
            bounder->result[one->group].rows += one->rows;
            bounder->result[one->group].units += !kept;
        }
        for (size_t i = 0; kept && i < own->unit_count; i++)
            bounder->result[own->kept_keys[i].group].units++;
    }
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
    for (size_t i = 0; i < own->total_count; i++) {
        const total *one = total_in(bounder, own, i);
        if (is_shown(shown, one))
            norms[one->unit] += brume_limit_part(entry_of(bounder, one, of), p);
    }
}

size_t brume_totals_groups(const brume_bounder *bounder)
{
    return bounder->result_groups;
}

static size_t most_units(const brume_bounder *bounder)
{
    size_t most = 0;
    for (size_t s = 0; s < SHARDS; s++)
        most = bounder->shards[s].unit_count > most ? bounder->shards[s].unit_count : most;
    return most;
}

brume_status brume_totals_histogram(brume_bounder *bounder, const brume_total *of, int p,
                                    size_t bins, const bool *shown, uint64_t *counts,
                                    brume_error *error)
{
    brume_u128 *norms = malloc((most_units(bounder) + 1) * sizeof *norms);
    if (!norms)
        return brume_no_memory(error, "the units and groups");
    memset(counts, 0, bins * sizeof *counts);
    for (size_t s = 0; s < SHARDS; s++) {
        const shard *own = &bounder->shards[s];
        brume_totals_norms(bounder, own, of, p, shown, norms);
        for (size_t i = 0; i < own->unit_count; i++) {
            size_t bin = brume_limit_bin(norms[i], p, bins);
            if (bin != BRUME_LIMIT_NO_BIN)
                counts[bin]++;
        }
    }
    free(norms);
    return BRUME_OK;
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
    const brume_total_limit *limits;
    size_t limit_count;
    int p;
    const bool *shown;
    const brume_limited_sum *sums;
    size_t sum_count;
    brume_u128 *norms;           /* of a shard's units */
    brume_limit_factor *factors; /* [limit][unit of the shard] */
} limiting;

static brume_limit_factor factor_of(brume_u128 norm, const brume_total_limit *limit, int p)
{
    return p == 2 && limit->square ? brume_limit_factor_within(norm, limit->square)
                                   : brume_limit_factor_of(norm, limit->limit, p);
}

static void limit_shard(brume_bounder *bounder, const shard *own, const limiting *how)
{
    for (size_t j = 0; j < how->limit_count; j++) {
        brume_totals_norms(bounder, own, &how->limits[j].of, how->p, how->shown, how->norms);
        for (size_t i = 0; i < own->unit_count; i++)
            how->factors[j * own->unit_count + i] =
                factor_of(how->norms[i], &how->limits[j], how->p);
    }
    for (size_t i = 0; i < own->total_count; i++) {
        const total *one = total_in(bounder, own, i);
        brume_i128 *to = bounder->limited + one->group * how->sum_count;
        if (!is_shown(how->shown, one))
            continue;
        for (size_t k = 0; k < how->sum_count; k++) {
            size_t j = how->sums[k].limit;
            to[k] += limited(bounder, one, &how->sums[k], &how->limits[j], how->p,
                             &how->factors[j * own->unit_count + one->unit]);
        }
    }
}

brume_status brume_totals_limit(brume_bounder *bounder, const brume_total_limit *limits,
                                size_t limit_count, int p, const bool *shown,
                                const brume_limited_sum *sums, size_t sum_count,
                                brume_bounded_group *groups, size_t group_count, brume_error *error)
{
    size_t units = most_units(bounder);
    limiting how = {limits, limit_count, p, shown, sums, sum_count, NULL, NULL};
    how.norms = malloc((units + 1) * sizeof *how.norms);
    how.factors = malloc((units * limit_count + 1) * sizeof *how.factors);
    free(bounder->limited);
    bounder->limited =
        calloc((size_t)bounder->result_groups * sum_count + 1, sizeof *bounder->limited);
    brume_status status = BRUME_OK;
    if (how.norms && how.factors && bounder->limited) {
        for (size_t s = 0; s < SHARDS; s++)
            limit_shard(bounder, &bounder->shards[s], &how);
        for (size_t i = 0; i < group_count; i++)
            groups[i].limited = bounder->limited + groups[i].number * sum_count;
    } else {
        status = brume_no_memory(error, "the units and groups");
    }
    free(how.norms);
    free(how.factors);
    return status;
}
