/* Where a search for epsilon starts. */
#ifndef BRUME_ACCOUNTANT_CONTOUR_SADDLE_H
#define BRUME_ACCOUNTANT_CONTOUR_SADDLE_H

#include "accountant/law/law.h"

/* The Chernoff epsilon at delta; *upper is a certified upper end, *best_place the order of both. */
double brume_chernoff_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                              double *upper, double *best_place);

/* About the epsilon at delta, by the saddle point from the order c; NAN where it says nothing. */
double brume_saddle_epsilon(brume_law *laws, size_t count, double log_delta, double c);

/* An upper bound of log delta(epsilon) by the moment of order c > 0. */
double brume_moment_log_delta(brume_law *laws, size_t count, double epsilon, double c);

/* Is delta(epsilon) certainly at most `target`, by its moments? Looks at few orders: cheap, and no
 * where it is not far below. */
bool brume_moments_below(brume_law *laws, size_t count, double epsilon, double target);

/* For delta below 0.3 a certified lower end, by mean and deviation; -infinity where not known. */
double brume_mean_epsilon(const brume_law *laws, size_t count);

/* About what delta is, by the saddle point: a place to start, not a bound. May be NAN. */
double brume_saddle_delta(brume_law *laws, size_t count, double epsilon);

#endif
