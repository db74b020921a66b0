/* The inside of MWEM that the tests look at. */
#ifndef BRUME_SYNTHETIC_MWEM_H
#define BRUME_SYNTHETIC_MWEM_H

#include <brume/mwem.h>

/* A public answer as it enters a score: a multiple of 2^-20. */
double brume_mwem_public(double answer);

/* The coefficient of the scores in a choice that costs `epsilon`: at most epsilon/2. */
double brume_mwem_coefficient(double epsilon);

/* Multiply by exp(f (measured - f(weights)) / (2 records)), then scale to a sum of `records`.
 * `measured` is clamped to [0, records] first. */
BRUME_MUST_USE brume_status brume_mwem_step(const brume_workload *workload, size_t query,
                                            double measured, double records, double *weights,
                                            brume_error *error);

#endif
