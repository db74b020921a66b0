/* From a histogram to a synthetic one, by any of the methods, with its price and its error.
 *
 * 1. Methods: MWEM and SmallDB for a workload that is known beforehand; private multiplicative
 *    weights asked every query of it until a whole pass is free; noise on every answer, Laplace or
 *    Gaussian, and a histogram fitted to the noisy answers; noise on every cell, and the nearest
 *    histogram without negative weights. Fitting is post-processing.
 * 2. The price is a pure epsilon, or rho; LAPLACE and SMALL_DATABASE take no rho, GAUSSIAN no
 *    epsilon.
 * 3. The number of records. Under BRUME_REPLACE it is public and counted. Under BRUME_ADD_REMOVE it
 *    is private: `records` is a public estimate, or 0: then noisy cells and noisy marginals tell
 *    it, and where there are none BRUME_MWEM_RECORDS_SHARE of the price buys it.
 * 4. A share of the price may measure the worst error over the workload once the histogram is made:
 *    what it costs is known beforehand, and the bound is then that of this data and not of any.
 * 5. The report is a function of what was released and of public numbers; so is everything else
 *    here. The error against the data itself is not, and is nowhere computed. */
#ifndef BRUME_SYNTHETIC_H
#define BRUME_SYNTHETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>
#include <brume/mechanism/event.h>
#include <brume/synthetic/mwem.h>
#include <brume/synthetic/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum brume_synthetic_method {
    BRUME_SYNTHETIC_MWEM = 1,
    BRUME_SYNTHETIC_WEIGHTS = 2,
    BRUME_SYNTHETIC_SMALL_DATABASE = 3,
    BRUME_SYNTHETIC_LAPLACE = 4,
    BRUME_SYNTHETIC_GAUSSIAN = 5,
    BRUME_SYNTHETIC_HISTOGRAM = 6,
} brume_synthetic_method;

typedef struct brume_synthetic_options {
    brume_synthetic_method method;
    brume_adjacency adjacency; /* BRUME_ADD_REMOVE or BRUME_REPLACE; no default */
    double epsilon, rho;       /* one of them, the other 0; see 2 */
    double records;            /* see 3; a whole number up to 2^33 */
    uint64_t rounds;           /* of MWEM; of the fit to noisy answers */
    double alpha;              /* WEIGHTS: see brume/synthetic/multiplicative_weights.h */
    uint64_t size;             /* SMALL_DATABASE: records of it */
    uint64_t most_candidates;  /* SMALL_DATABASE: refuse beyond */
    double beta;               /* the report's bound fails with at most this probability */
    double error_share;        /* of the price, measures the worst error; 0 to 0.5, 0: nothing */
    brume_mwem_progress
        *progress; /* or NULL; false stops with BRUME_ECANCELLED: decided by public things only */
    void *progress_context;
} brume_synthetic_options;

typedef struct brume_synthetic_report {
    double records;     /* what the weights sum to: counted, told or bought */
    double records_off; /* bought: within this of the truth; else 0 */
    double bound;       /* with probability >= 1 - beta every answer of the weights is within this
                         * of the truth, in records; NaN where nothing is known, also after a
                         * halt. Where `records` was told: if it is right. */
    double measured;    /* the bound that was measured; NaN without an error_share. `bound` is the
                         * smaller of it and of what is known without it. */
    double fit;         /* LAPLACE, GAUSSIAN, HISTOGRAM: the largest distance between an answer of
                         * the weights and the noisy one; else NaN */
    uint64_t paid;      /* answers of the data that were noised */
    bool halted;        /* WEIGHTS: after its last hit */
} brume_synthetic_report;

enum { BRUME_SYNTHETIC_EVENTS = 4 };

/* What a run costs, as *count events to record before it. Every fault of the options is found here,
 * SmallDB's number of candidates (BRUME_EOVERFLOW) included.
 * Errors: BRUME_EARGUMENT, BRUME_EUNSUPPORTED for a price the method cannot be paid in. */
BRUME_API BRUME_MUST_USE brume_status brume_synthetic_events(
    const brume_workload *workload, const brume_synthetic_options *options,
    brume_event events[BRUME_SYNTHETIC_EVENTS], size_t *count, brume_error *error);

/* About how many bytes a run takes, `counts` and `weights` included. */
BRUME_API double brume_synthetic_bytes(const brume_workload *workload,
                                       const brume_synthetic_options *options);

/* Run. counts[cell] is the number of records in a cell (whole numbers, at most 2^33 together);
 * weights[cell] >= 0 gets the synthetic histogram, with the sum report->records.
 * Errors: those of the events; BRUME_EARGUMENT for no records under BRUME_REPLACE; BRUME_ERANDOM,
 * BRUME_EMEMORY; BRUME_ECANCELLED, when the price is due all the same. On error `weights` is set to
 * zero and the report is untouched. */
BRUME_API BRUME_MUST_USE brume_status brume_synthetic_histogram(
    const brume_workload *workload, const brume_synthetic_options *options, const double *counts,
    brume_bits *bits, double *weights, brume_synthetic_report *report, brume_error *error);

/* A table of n rows from a histogram: rows[cell] of them are in that cell. On average n times the
 * cell's share of the weights, and the cells up to any one, together, are less than one row off
 * (but for rounding): much less chance than in n independent draws. Post-processing.
 * Errors: BRUME_EARGUMENT for a negative weight or a sum that is 0 or not finite; BRUME_ERANDOM. On
 * error `rows` is set to zero. */
BRUME_API BRUME_MUST_USE brume_status brume_synthetic_rows(const brume_universe *universe,
                                                           const double *weights, brume_bits *bits,
                                                           uint64_t n, double *rows,
                                                           brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
