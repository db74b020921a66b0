/* Laws whose lattices are commensurable, moved onto one lattice.
 *
 * pure(0.1) and pure(0.3) have losses in 0.1 (2Z+1) and 0.3 (2Z+1): all sums lie in 0.1 Z, as far
 * as the doubles 0.1 and 0.3 can say. They are not exactly commensurable, so nothing is assumed:
 * every epsilon is rounded up to a multiple of one unit, which can only raise delta, and down,
 * which can only lower it. The unit has so few bits that its multiples are exact doubles; what
 * moves is some 1e-15 to 1e-13 of an epsilon. See proofs/accountant/law.md, section law.4. */
#ifndef BRUME_ACCOUNTANT_LAW_COMMON_LATTICE_H
#define BRUME_ACCOUNTANT_LAW_COMMON_LATTICE_H

#include "accountant/law/law.h"

typedef struct brume_joined {
    brume_law *upper, *lower; /* the same array if no parameter had to move */
    size_t count;
} brume_joined;

/* False if the laws are on one lattice already, on none, on incommensurable ones, or if memory ran
 * out: then they must be composed as they are. */
BRUME_MUST_USE bool brume_lattice_join(const brume_law *laws, size_t count, brume_joined *out);
void brume_joined_close(brume_joined *joined);

#endif
