/* The private side of a release of many queries: histograms and answers as exact whole numbers. */
#ifndef BRUME_SYNTHETIC_EXACT_H
#define BRUME_SYNTHETIC_EXACT_H

#include <brume/adjacency.h>
#include <brume/synthetic/workload.h>

/* Sums of multiples of 2^-20 up to this are exact in a double. */
#define BRUME_RECORDS_MOST 0x1p33

/* Are the counts whole numbers >= 0 with a sum up to BRUME_RECORDS_MOST? *records is the sum. */
BRUME_MUST_USE brume_status brume_exact_records(const brume_universe *universe,
                                                const double *counts, double *records,
                                                brume_error *error);

/* answers[i] = floor of the exact sum of query i, for counts that passed the check above. One unit
 * moves each by at most 1: x' <= x + 1 implies floor(x') <= floor(x) + 1. */
BRUME_MUST_USE brume_status brume_exact_answers(const brume_workload *workload,
                                                const double *counts, double *answers,
                                                brume_error *error);

/* BRUME_ADD_REMOVE or BRUME_REPLACE; exactly one of epsilon and rho positive and finite, the other
 * 0. `what` names the method in the message. */
BRUME_MUST_USE brume_status brume_exact_price(const char *what, brume_adjacency adjacency,
                                              double epsilon, double rho, brume_error *error);

#endif
