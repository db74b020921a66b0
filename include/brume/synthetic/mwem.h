/* MWEM: a synthetic histogram for a workload, by multiplicative weights on the worst queries.
 *
 * Rounds of two private steps: the exponential mechanism picks a query that the present histogram
 * answers badly, noise is added to its true answer; then, without the data, the histogram is
 * reweighed towards that answer. The average of all histograms is the result.   [HLM12]
 *
 * 1. Half the price buys the choices and half the answers: discrete Laplace noise for a pure
 *    epsilon, discrete Gaussian for rho. Cost: brume_mwem_events. Proof: proofs/many_queries.md.
 * 2. The number of records scales the histogram. Under BRUME_REPLACE it is public, and `records`
 *    must be 0 (count them) or right. Under BRUME_ADD_REMOVE it is private: say a public estimate
 *    in `records`, or 0 to buy a noisy one with BRUME_MWEM_RECORDS_SHARE of the price.
 * 3. Scores are exact: public answers are rounded to multiples of 2^-20, private ones are whole.
 * 4. Released answers may be used again for free: `replays` sweeps after each round move the
 *    histogram to all answers so far, as far as that is known to do no harm.
 * 5. A marginal is a partition: noise on all its cells costs what noise on one does under
 *    BRUME_ADD_REMOVE, and twice that under BRUME_REPLACE. With `whole_marginals` a round releases
 *    all cells of the chosen one's marginal (at the same price, with more noise under replace);
 *    only replays make use of the others.
 * 6. The first histograms are poor: `average` may leave them out.
 * The bound knows of all that. For the least error in practice: whole_marginals, replays = 2,
 * average = rounds/2. */
#ifndef BRUME_MWEM_H
#define BRUME_MWEM_H

#include <stdbool.h>

#include <brume/bits.h>
#include <brume/mechanism/event.h>
#include <brume/synthetic/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BRUME_MWEM_RECORDS_SHARE 0.05

/* Called after each round; false stops there, with the average so far: whatever it decides by must
 * be public. The whole price is due all the same. */
typedef bool brume_mwem_progress(void *context, uint64_t round, uint64_t rounds);

typedef struct brume_mwem_options {
    brume_adjacency adjacency;     /* BRUME_ADD_REMOVE or BRUME_REPLACE; no default */
    double epsilon;                /* pure, for everything; or 0 and */
    double rho;                    /* concentrated */
    uint64_t rounds;               /* 1 .. 2^20 */
    double records;                /* see 2; a whole number up to 2^33 */
    brume_mwem_progress *progress; /* or NULL */
    void *progress_context;
    uint64_t replays;     /* see 4; 0: none; at most 2^10 */
    uint64_t average;     /* how many of the last histograms are averaged; 0: all, rounds + 1 */
    bool whole_marginals; /* see 5 */
    double records_error; /* how far `records` may be from the truth: for replays and the bound */
} brume_mwem_options;

enum { BRUME_MWEM_EVENTS = 3 };

/* What a run costs, as *count events to record before it: exponential(epsilon=) times the rounds,
 * discrete_laplace(scale=) or discrete_gaussian(sigma=) times the rounds (twice, for whole
 * marginals under replace), and, if it is bought, the number of records. They are what brume_mwem
 * draws with, exactly.   Errors: BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_mwem_events(const brume_mwem_options *options,
                                                        brume_event events[BRUME_MWEM_EVENTS],
                                                        size_t *count, brume_error *error);

/* Run. counts[cell] is the number of records in a cell (whole numbers, at most 2^33 together);
 * weights[cell] gets the synthetic histogram, whose sum is the number of records as known.
 * Memory beside it: one double per cell and, for marginals, tables that have less than another one;
 * six doubles per query.
 * Errors: BRUME_EARGUMENT, for no records under BRUME_REPLACE too; BRUME_EOVERFLOW, BRUME_ERANDOM,
 * BRUME_EMEMORY. On error `weights` is set to zero. */
BRUME_API BRUME_MUST_USE brume_status brume_mwem(const brume_workload *workload,
                                                 const brume_mwem_options *options,
                                                 const double *counts, brume_bits *bits,
                                                 double *weights, brume_error *error);

/* An alpha, in records, known before: with probability >= 1-beta the synthetic histogram answers
 * every query within alpha of the truth, if options->records is the number of records n to within
 * records_error. With T rounds, all averaged: n sqrt(ln N/(2(T+1))) and the errors of T+1 choices
 * and answers. Rounded up. Requires 0 < beta < 1, queries >= 1; BRUME_EARGUMENT also where records
 * is 0: use the next. BRUME_EUNSUPPORTED for beta <= 0.001 with replays: noise beyond their band
 * has that chance. */
BRUME_API BRUME_MUST_USE brume_status brume_mwem_alpha(const brume_workload *workload,
                                                       const brume_mwem_options *options,
                                                       double beta, double *alpha,
                                                       brume_error *error);

/* The same where the number of records is bought (options->records is 0 under BRUME_ADD_REMOVE), if
 * the sum of the synthetic histogram is at most `sum`: after the run that is public, before it take
 * a guess. The error of the bought number is in the bound and in its probability. */
BRUME_API BRUME_MUST_USE brume_status brume_mwem_alpha_at(const brume_workload *workload,
                                                          const brume_mwem_options *options,
                                                          double sum, double beta, double *alpha,
                                                          brume_error *error);

/* Draw the cells of n records independently from a histogram of weights >= 0. Post-processing:
 * drawn from the weights as doubles, to a relative 2^-40.
 * Errors: BRUME_EARGUMENT for a negative weight or a sum that is 0 or not finite; BRUME_ERANDOM,
 * BRUME_EMEMORY. `out` is untouched but for BRUME_ERANDOM, when it is set to zero. */
BRUME_API BRUME_MUST_USE brume_status brume_synthetic_records(const brume_universe *universe,
                                                              const double *weights,
                                                              brume_bits *bits, uint64_t *out,
                                                              size_t n, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
