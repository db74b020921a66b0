/* The values of a quantile in order, and what they weigh up to each. */
#ifndef BRUME_QUERY_RANKED_H
#define BRUME_QUERY_RANKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

/* Different values in ascending order. Those that weigh nothing are left out: no rank changes with
 * them. */
typedef struct brume_ranked {
    int64_t *values;
    uint64_t *upto; /* what the first i of them weigh together, from 0 to `count` */
    size_t count;
    bool
        weighted; /* in parts of a row (rank.h); else each of the values that were given weighs 1 */
} brume_ranked;

/* Values whose bounds have at most so many points are counted, others are sorted. Where there are
 * groups each has a list of its own, which may be short. */
enum { BRUME_RANKED_POINTS = 1 << 12, BRUME_RANKED_POINTS_ALONE = 1 << 22 };

/* Of `count` values within low .. high, in any order; `weights` NULL: each weighs 1. `points` is
 * one of the two above. Whether they are counted or sorted depends on the bounds and the plan,
 * which are public, and not on how many values there are or where they lie: where one more value,
 * or one far from the others, changes the way, that is seen in the time that an answer takes. */
BRUME_MUST_USE brume_status brume_ranked_open(const int64_t *values, const uint32_t *weights,
                                              size_t count, int64_t low, int64_t high,
                                              uint64_t points, brume_ranked *out,
                                              brume_error *error);
void brume_ranked_close(brume_ranked *list);

#endif
