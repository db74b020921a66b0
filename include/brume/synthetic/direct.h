/* Many queries answered directly: noise on every answer, or noise on the histogram.
 *
 * Laplace where a pure epsilon is given, Gaussian where rho is, both on whole numbers. A record
 * moves few cells of a marginal, so a workload of marginals pays for its marginals and not for its
 * queries (brume_workload_moved). Proof: proofs/many_queries.md. */
#ifndef BRUME_DIRECT_H
#define BRUME_DIRECT_H

#include <brume/bits.h>
#include <brume/mechanism/event.h>
#include <brume/synthetic/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_direct_way {
    BRUME_DIRECT_QUERIES = 1,   /* noise on each answer */
    BRUME_DIRECT_HISTOGRAM = 2, /* noise on each cell, answers from the noisy histogram */
} brume_direct_way;

typedef struct brume_direct_options {
    brume_direct_way way;
    brume_adjacency adjacency; /* BRUME_ADD_REMOVE or BRUME_REPLACE; no default */
    double epsilon;            /* pure, for the whole release; or 0 and */
    double rho;                /* concentrated */
} brume_direct_options;

/* What the release costs, as an event to record before it: discrete_laplace(scale=) or
 * discrete_gaussian(sigma=), sensitivity 1, times the numbers that one unit moves (count).
 * Errors: BRUME_EARGUMENT; for an empty workload too. */
BRUME_API BRUME_MUST_USE brume_status brume_direct_event(const brume_workload *workload,
                                                         const brume_direct_options *options,
                                                         brume_event *event, brume_error *error);

/* Release: counts[cell] is the number of records in a cell (whole numbers, at most 2^33 together).
 * `answers` has room for every query. `histogram`, one number per cell, gets the noisy histogram
 * under BRUME_DIRECT_HISTOGRAM, where it must not be NULL; it is not used otherwise.
 * On error the outputs are set to zero. */
BRUME_API BRUME_MUST_USE brume_status brume_direct_release(const brume_workload *workload,
                                                           const brume_direct_options *options,
                                                           const double *counts, brume_bits *bits,
                                                           double *answers, double *histogram,
                                                           brume_error *error);

/* An alpha, in records, known before the release: with probability >= 1-beta every answer is less
 * than alpha from the truth. Rounded up.   Requires 0 < beta < 1. */
BRUME_API BRUME_MUST_USE brume_status brume_direct_alpha(const brume_workload *workload,
                                                         const brume_direct_options *options,
                                                         double beta, double *alpha,
                                                         brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
