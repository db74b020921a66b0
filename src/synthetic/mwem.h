/* The inside of MWEM that the tests look at. */
#ifndef BRUME_SYNTHETIC_MWEM_H
#define BRUME_SYNTHETIC_MWEM_H

#include <brume/synthetic/mwem.h>

#include "synthetic/replay.h"

/* Places in the array of events. */
enum { BRUME_MWEM_CHOICES, BRUME_MWEM_ANSWERS, BRUME_MWEM_COUNTED };

/* The coefficient of the scores in a choice that costs `epsilon`: at most epsilon/2. */
double brume_mwem_coefficient(double epsilon);

/* What a round does with its answer: clamp `measured` to [0, records], multiply by exp(rate f),
 * scale to a sum of `records`. */
BRUME_MUST_USE brume_status brume_mwem_step(const brume_workload *workload, size_t query,
                                            double measured, double records, double *weights,
                                            brume_error *error);

/* A public answer as it enters a score: a multiple of 2^-20. */
double brume_mwem_public(double answer);

/* How many histograms are averaged. */
uint64_t brume_mwem_averaged(const brume_mwem_options *options);

/* The most answers that one round may release. */
size_t brume_mwem_at_once(const brume_workload *workload, const brume_mwem_options *options);

/* The replays' rule is right about the noise of all answers, and the error of the number of
 * records, but for this chance; and they raise the entropy by at most this share of ln N. */
#define BRUME_MWEM_COVER_BETA 1e-3
#define BRUME_MWEM_RISE       0.5

/* The rule of replays; public. */
BRUME_MUST_USE brume_status brume_mwem_rule(const brume_workload *workload,
                                            const brume_mwem_options *options,
                                            brume_replay_rule *rule, brume_error *error);

#endif
