/* The worst error of a synthetic histogram over its workload, measured privately.
 *
 * S = max over queries f of |floor(f(B)) - r(f(A))|, B the records, A the released histogram, r
 * rounding to a whole number. One unit moves each floor(f(B)) by at most 1, under both adjacencies,
 * and r(f(A)) not at all, so it moves S, a whole number, by at most 1: noise of sensitivity 1 on it
 * is a release. Proof: proofs/many_queries.md. */
#ifndef BRUME_SYNTHETIC_WORST_ERROR_H
#define BRUME_SYNTHETIC_WORST_ERROR_H

#include <brume/synthetic/synthetic.h>

/* The options of everything but the measurement: what is left of the price, half of beta. Both
 * parts together are at most the price. With an error_share of 0, *options itself. */
BRUME_MUST_USE brume_status brume_worst_error_rest(const brume_synthetic_options *options,
                                                   brume_synthetic_options *rest,
                                                   brume_error *error);

/* What the measurement costs; not for an error_share of 0. */
BRUME_MUST_USE brume_status brume_worst_error_event(const brume_synthetic_options *options,
                                                    brume_event *event, brume_error *error);

/* S itself, exactly; private. */
BRUME_MUST_USE brume_status brume_worst_error_exact(const brume_workload *workload,
                                                    const double *counts, const double *weights,
                                                    int64_t *out, brume_error *error);

/* Measure: with probability >= 1 - beta/2 every |f(A) - f(B)| is at most *bound. */
BRUME_MUST_USE brume_status brume_worst_error(const brume_workload *workload,
                                              const brume_synthetic_options *options,
                                              const double *counts, const double *weights,
                                              brume_bits *bits, double *bound, brume_error *error);

#endif
