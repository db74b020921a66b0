/* Totals: what each unit has in each group, and what is left of it under limits.
 *
 * After brume_bounder_finish of a plan with `totals`:
 *   1. a statistic of a unit is a vector over the groups that are shown: 1 where it is present, its
 *      rows, its values that are not NULL, the sum of them;
 *   2. brume_totals_histogram counts the units by the norms of these vectors;
 *   3. brume_totals_limit adds up what is left of them when each is scaled into its ball.
 * Both are functions of the rows alone, whatever their order; what a unit adds is a function of its
 * own rows and the limits alone. proofs/limits.md. */
#ifndef BRUME_QUERY_TOTALS_H
#define BRUME_QUERY_TOTALS_H

#include "query/collect/bound.h"
#include "query/limit/total.h"
#include "query/price/price.h"

/* counts[i]: units whose norm is in bin i, over the groups with shown[number] (NULL: all of them).
 */
BRUME_MUST_USE brume_status brume_totals_histogram(brume_bounder *bounder, const brume_total *of,
                                                   int p, size_t bins, const bool *shown,
                                                   uint64_t *counts, brume_error *error);

/* Units by their means. The mean of a unit's values in the groups with shown[number] (NULL: all),
 * all of them together, is in cell floor((mean - low) / width), and weighs as many as there are
 * values, `most` at most: weights[i] is what the units in cell i weigh together. Units without a
 * value are in no cell. proofs/limits.md. */
typedef struct brume_mean_cells {
    size_t value;
    int64_t low;    /* where the first cell begins */
    uint64_t width; /* of a cell, at least 1 */
    size_t count;   /* of cells; the last one has all means above it too */
    uint64_t most;  /* what a unit weighs at most */
} brume_mean_cells;

BRUME_MUST_USE brume_status brume_totals_means(const brume_bounder *bounder,
                                               const brume_mean_cells *cells, const bool *shown,
                                               uint64_t *weights, brume_error *error);

/* Numbers of groups are below this. */
size_t brume_totals_groups(const brume_bounder *bounder);

/* A limit on a vector. */
typedef struct brume_total_limit {
    brume_total of;
    uint64_t limit;
    uint64_t square; /* p = 2: of a limit that is no whole number, its square, which is; else 0 */
} brume_total_limit;

/* A sum over all units, in each group: a measure, of the vector that its limit is on or of one that
 * follows it (centred sums and squares follow the number of values, holders presence). */
typedef struct brume_limited_sum {
    brume_measure_kind kind;
    size_t value;         /* not for UNITS and ROWS */
    uint64_t half_square; /* SQUARES: subtracted for each value */
    size_t limit;         /* which of the limits */
    int shift;            /* steps of 2^-shift */
    /* 1 + another of the limits, by whose factor what a unit has is scaled down before its own
     * limit cuts the rest; 0: none. Not where the engine adds up. */
    size_t spared;
} brume_limited_sum;

/* A list of values, each with what it weighs under a limit on the number of them. */
typedef struct brume_limited_list {
    size_t value;
    size_t limit; /* which of the limits; on the 1-norm of rows or of the value's own number */
} brume_limited_list;

/* Fill in `count`, `kept`, `weights` and `breaker` of each list's value in all groups with
 * shown[number] (NULL: all). Which of a unit's values gets which breaker depends on the order of
 * its rows; breakers are independent and uniform, so that the law of what is drawn does not. */
BRUME_MUST_USE brume_status brume_totals_list(brume_bounder *bounder,
                                              const brume_total_limit *limits, const bool *shown,
                                              const brume_limited_list *lists, size_t list_count,
                                              brume_error *error);

/* kept[number] says of each group with shown[number] (NULL: all) whether some unit keeps it; a unit
 * keeps `limit` of its own at most, by keyed hash. */
BRUME_MUST_USE brume_status brume_totals_distinct(brume_bounder *bounder, uint64_t limit,
                                                  const bool *shown, bool *kept,
                                                  brume_error *error);

/* Fill in `limited` of the result's groups: one number for each of `sums`. */
BRUME_MUST_USE brume_status brume_totals_limit(brume_bounder *bounder,
                                               const brume_total_limit *limits, size_t limit_count,
                                               int p, const bool *shown,
                                               const brume_limited_sum *sums, size_t sum_count,
                                               brume_bounded_group *groups, size_t group_count,
                                               brume_error *error);

#endif
