/* Laws opened again with other parameters: moved to either side of what is known of them, or onto
 * one lattice.
 *
 * Every law's error bounds cover parameters known to 8 units. What a Poisson sample makes of a pure
 * epsilon depends on it too steeply for that, so these laws are opened twice, with epsilon and rate
 * 9 units up and down, and are exact but for rounding. delta grows with both.
 *
 * pure(0.1) and pure(0.3) have losses in 0.1 (2Z+1) and 0.3 (2Z+1): all sums lie in 0.1 Z, as far
 * as the doubles 0.1 and 0.3 can say. They are not exactly commensurable, so nothing is assumed:
 * every epsilon is rounded up to a multiple of one unit, which can only raise delta, and down,
 * which can only lower it. The unit has so few bits that its multiples are exact doubles; what
 * moves is some 1e-15 to 1e-13 of an epsilon. */
#ifndef BRUME_ACCOUNTANT_LAW_SHIFT_PARAMETERS_H
#define BRUME_ACCOUNTANT_LAW_SHIFT_PARAMETERS_H

#include <brume/interval.h>

#include "accountant/law/law.h"

typedef struct brume_joined {
    brume_law *upper, *lower; /* the same array if no parameter had to move */
    size_t count;
} brume_joined;
void brume_joined_close(brume_joined *joined);

/* Do the parameters of a law have to be moved? */
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

/* All laws on one lattice. False if they are on one already, on none, on incommensurable ones, or
 * if memory ran out: then they must be composed as they are. */
BRUME_MUST_USE bool brume_lattice_join(const brume_law *laws, size_t count, brume_joined *out);

#endif
