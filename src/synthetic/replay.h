/* Released answers, used again: a histogram is moved to what they say. Post-processing. */
#ifndef BRUME_SYNTHETIC_REPLAY_H
#define BRUME_SYNTHETIC_REPLAY_H

#include "synthetic/weights.h"
#include "synthetic/workload.h"

/* What was released at once: one answer, or all cells of a marginal. */
typedef struct brume_measured {
    const brume_group *marginal; /* NULL: one answer, to `query` */
    size_t query;
    size_t first, count; /* which queries */
    double *answers;     /* clamped to [0, records]; owned by whoever made it */
    uint64_t times;      /* they are the mean of so many releases */
} brume_measured;

/* How answers are replayed. The relative entropy of the data to the histogram is not known, but
 * how much a move can raise it at most is: `risen` is the sum of that over all moves so far (moves
 * that lower it for certain count as well), as long as no answer errs by more than `cover`. */
typedef struct brume_replay_rule {
    double near;  /* how near the histogram is brought to an answer, in records: about the noise;
                     over the root of `times` */
    double cover; /* what no answer errs by, in records */
    double most;  /* `risen` stays at or below it */
    double risen;
} brume_replay_rule;

/* The number nearest to `answer` that is within `band` of the measured one. */
double brume_replay_nearest(double measured, double band, double answer);

/* The rate that moves the share `from` of a yes-or-no query to the share `to`, both in (0, 1). */
double brume_replay_rate(double from, double to);

/* Move the histogram to within rule->near of the answers, or, where that might raise the entropy by
 * too much, to within rule->cover, which cannot. (A dense query: nearer.) `room`: two doubles per
 * query of the workload. */
BRUME_MUST_USE brume_status brume_replay(brume_weights *weights, const brume_measured *measured,
                                         brume_replay_rule *rule, double *room, brume_error *error);

#endif
