/* The plan of a synthetic histogram: how the price is split. */
#ifndef BRUME_SYNTHETIC_SYNTHETIC_H
#define BRUME_SYNTHETIC_SYNTHETIC_H

#include <brume/synthetic/direct.h>
#include <brume/synthetic/multiplicative_weights.h>
#include <brume/synthetic/small_database.h>
#include <brume/synthetic/synthetic.h>

/* Histograms fitted to noisy numbers: post-processing, nothing here sees data. */

/* The histogram without negative weights and with the sum `total` > 0 that is nearest to `cells`
 * in squares, in place: each weight less one constant, and not below 0. */
void brume_fit_cells(double *cells, uint64_t count, double total);

/* Weights with the sum `records` whose answers are near `answers`: from the uniform histogram,
 * `rounds` times the worst answer, or the whole marginal that it is of, is put right as iterative
 * proportional fitting does (noisy marginals are made tables first, by the function above); the
 * best of all is kept. *off is its largest distance to an answer. BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_fit_answers(const brume_workload *workload, const double *answers,
                                              double records, uint64_t rounds,
                                              brume_mwem_progress *progress, void *context,
                                              double *weights, double *off, brume_error *error);

/* The largest distance between the answers of `weights` and `answers`. BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_fit_distance(const brume_workload *workload,
                                               const double *weights, const double *answers,
                                               double *off, brume_error *error);

#endif
