/* A workload: linear queries that are to be answered together.
 *
 * A linear query is a function f from records to [0, 1]; its answer on a database is the sum of f
 * over the records (a count where f is a predicate). One record more or less changes it by at most
 * 1, one record replaced by at most 1 as well: sensitivity 1 under both adjacencies. Three forms:
 *
 *   box       a set of allowed values for each column; f is 1 where all columns allow it. Counts
 *             of cells of marginals, ranges and conjunctions are boxes.
 *   marginal  every cell of the table of a few columns: as many boxes as that table has cells,
 *             kept as one and answered in one pass.
 *   dense     a number in [0, 1] for every cell of the universe: anything else.
 *
 * Queries are numbered in the order they were added, the cells of a marginal row-major. */
#ifndef BRUME_WORKLOAD_H
#define BRUME_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/status.h>
#include <brume/synthetic/universe.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_workload brume_workload;

/* An empty workload over a universe (which is copied). Close with brume_workload_close. */
BRUME_API BRUME_MUST_USE brume_status brume_workload_open(const brume_universe *universe,
                                                          brume_workload **out, brume_error *error);
BRUME_API void brume_workload_close(brume_workload *workload);

/* Add the marginal of `count` different columns (0: the total). */
BRUME_API BRUME_MUST_USE brume_status brume_workload_add_marginal(brume_workload *workload,
                                                                  const size_t *columns,
                                                                  size_t count, brume_error *error);

/* Add every marginal of `way` columns. BRUME_EARGUMENT if there are fewer columns. */
BRUME_API BRUME_MUST_USE brume_status brume_workload_add_marginals(brume_workload *workload,
                                                                   size_t way, brume_error *error);

/* Add a box: allowed[c][v] != 0 where column c may have value v; allowed[c] NULL: any value. */
BRUME_API BRUME_MUST_USE brume_status brume_workload_add_box(brume_workload *workload,
                                                             const uint8_t *const *allowed,
                                                             brume_error *error);

/* Add a dense query; `values` (one per cell) is copied, rounded to multiples of 2^-20 so that sums
 * over records are exact. BRUME_EARGUMENT unless all in [0, 1]. */
BRUME_API BRUME_MUST_USE brume_status brume_workload_add_dense(brume_workload *workload,
                                                               const float *values,
                                                               brume_error *error);

BRUME_API const brume_universe *brume_workload_universe(const brume_workload *workload);

/* How many queries. */
BRUME_API size_t brume_workload_size(const brume_workload *workload);

/* The most queries whose answers one unit (a record) can change, each by at most 1: of a marginal
 * one cell under BRUME_ADD_REMOVE and two under BRUME_REPLACE; of the boxes that look at the same
 * single column as many as one value, or two, can; of the others each. */
BRUME_API size_t brume_workload_moved(const brume_workload *workload, brume_adjacency adjacency);

/* Are all answers whole numbers, that is, is there no dense query? */
BRUME_API bool brume_workload_whole(const brume_workload *workload);

/* answers[i] = sum of query i over the weights of the cells. Exact where the weights are integers
 * with a sum up to 2^33. Uses all cores. On error the answers are unspecified. */
BRUME_API BRUME_MUST_USE brume_status brume_workload_answer(const brume_workload *workload,
                                                            const double *weights, double *answers,
                                                            brume_error *error);

/* The answer to one query. */
BRUME_API BRUME_MUST_USE brume_status brume_workload_answer_one(const brume_workload *workload,
                                                                size_t query, const double *weights,
                                                                double *answer, brume_error *error);

/* Multiply every weight by exp(rate * f(cell)) and write the new sum of the weights to *total: one
 * step of multiplicative weights. rate must be finite, |rate| <= 700. */
BRUME_API BRUME_MUST_USE brume_status brume_workload_reweigh(const brume_workload *workload,
                                                             size_t query, double rate,
                                                             double *weights, double *total,
                                                             brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
