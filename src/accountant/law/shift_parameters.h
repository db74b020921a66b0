/* Laws whose parameters are moved to either side of what is known of them.
 *
 * Every law's error bounds cover parameters known to 8 units. What a Poisson sample makes of a pure
 * epsilon depends on it too steeply for that, so these laws are opened twice, with epsilon and rate
 * 9 units up and down, and are exact but for rounding. delta grows with both. */
#ifndef BRUME_ACCOUNTANT_LAW_SHIFT_PARAMETERS_H
#define BRUME_ACCOUNTANT_LAW_SHIFT_PARAMETERS_H

#include <brume/interval.h>

#include "accountant/law/common_lattice.h"

/* Does a law need it? */
bool brume_shifted_needed(const brume_law *laws, size_t count);

/* All the laws, opened again; only `upper` if there is no need of the other. False if memory ran
 * out. Close by brume_joined_close. */
BRUME_MUST_USE bool brume_shifted_open(const brume_law *laws, size_t count, bool only_upper,
                                       brume_joined *out);

/* The laws with the worst pure law in place of every sampled Laplace, which it dominates; NULL if
 * there is none or if memory ran out. Close by brume_shifted_close. */
brume_law *brume_shifted_worst(const brume_law *laws, size_t count);
void brume_shifted_close(brume_law *laws, size_t count);

/* The same for the largest loss of all draws together: certified ends; false if it is unbounded or
 * if memory ran out. */
bool brume_shifted_top(const brume_law *laws, size_t count, brume_interval *top);

#endif
