/* The limit with the shortest honest bar.
 *
 * A sum that limits each unit to T has noise in proportion to T, and loses what units have beyond
 * T. Its bar covers both: with probability 0.95 noise and loss together are within it, if the units
 * above the last bin that is seen go on falling as the bins below it do. The limit is the T whose
 * bar is the shortest.
 *
 * What units have beyond T is predicted by laws of tails, weighed by how well they fit the looks:
 * the share of units above x is exp(-a t - c t^2), t = log(x / x0): power laws for c = 0, and laws
 * that fall faster and faster, as lognormal ones do. Parts of the tail that have surely more units
 * than the laws say have a crowd: as many units as were counted are spread over the part.
 *
 * What no count can tell is said beside the bar and is not in it:
 *   - `reach`: nothing is assumed beyond 32 times the last bin that is seen, or the owner's
 * ceiling;
 *   - `hidden`: so many units may be above the limit (looks.h).
 *
 * All of this is post-processing of the looks, which were paid for, and of public numbers. */
#ifndef BRUME_QUERY_LIMIT_BAR_H
#define BRUME_QUERY_LIMIT_BAR_H

#include <brume/status.h>

#include "query/limit/looks.h"

/* What a limit costs. */
typedef struct brume_limit_cost {
    double noise_95;  /* half-width at 95 % of the noise on one cell under a limit of 1 */
    bool gaussian;    /* the noise of the answer */
    double cut_share; /* of all that is cut, what a cell's bar allows for: 1 for up to 20 cells */
    uint64_t ceiling; /* the owner's; 0: none */
} brume_limit_cost;

/* With `cells` groups under a norm: each group's bar allows for all that is cut, up to 20 groups.
 * For more groups 20 * cut / cells does for 95 in 100 of them at once (p = 1). */
double brume_limit_cut_share(double cells, int norm);

typedef struct brume_limit_choice {
    bool found;       /* false: too few units to find a limit */
    uint64_t limit;   /* T */
    size_t bin;       /* the last bin whose edge is not above T */
    double allowance; /* by how much the bar is longer than that of noise alone */
    double reach;     /* the bar holds if nobody has more than this */
    double hidden;    /* brume_looks_hidden */
    bool in_doubt;    /* another look at the tail is worth its price */
    size_t top;       /* the last bin that is seen, by the histogram or the parts */
} brume_limit_choice;

/* Errors: BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_limit_choose(const brume_looks *looks,
                                               const brume_limit_cost *cost,
                                               brume_limit_choice *out, brume_error *error);

#endif
