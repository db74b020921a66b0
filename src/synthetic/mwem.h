/* The inside of MWEM that the tests look at. */
#ifndef BRUME_SYNTHETIC_MWEM_H
#define BRUME_SYNTHETIC_MWEM_H

#include <brume/synthetic/mwem.h>

#include "synthetic/weights.h"
#include "synthetic/workload.h"

/* The coefficient of the scores in a choice that costs `epsilon`: at most epsilon/2. */
double brume_mwem_coefficient(double epsilon);

/* What a round does with its answer: clamp `measured` to [0, records], multiply by exp(rate f),
 * scale to a sum of `records`. */
BRUME_MUST_USE brume_status brume_mwem_step(const brume_workload *workload, size_t query,
                                            double measured, double records, double *weights,
                                            brume_error *error);

/* A public answer as it enters a score: a multiple of 2^-20. */
double brume_mwem_public(double answer);

/* The replays' rule is right about the noise of all answers, and the error of the number of
 * records, but for this chance; and they raise the entropy by at most this share of ln N. */
#define BRUME_MWEM_COVER_BETA 1e-3

/* Released answers, used again: a histogram is moved to what they say. Post-processing. */

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

/* Move the histogram to within rule->near of the answers, or, where that might raise the entropy by
 * too much, to within rule->cover, which cannot. (A dense query: nearer.) `room`: two doubles per
 * query of the workload. */
BRUME_MUST_USE brume_status brume_replay(brume_weights *weights, const brume_measured *measured,
                                         brume_replay_rule *rule, double *room, brume_error *error);

#endif
