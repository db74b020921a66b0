/* Certified bounds of delta at an epsilon and of epsilon at a delta, for one order of the
 * neighbours and finite losses. */
#ifndef BRUME_ACCOUNTANT_SOLVE_SOLVE_H
#define BRUME_ACCOUNTANT_SOLVE_SOLVE_H

#include "accountant/exact/delta_bounds.h"
#include "accountant/law/law.h"

/* What is asked for: epsilon at the delta `at`, or delta at the epsilon `at`. */
typedef struct brume_asked {
    bool of_delta;      /* epsilon at a delta */
    double at;          /* a delta, or an epsilon, which may be negative */
    double delta_error; /* of that delta, relative */
    double width;       /* relative: narrow enough */
    bool upper_end;     /* delta: only the upper end is of use, and the width is of its estimated
                           excess */
    double sought; /* delta: 0, or a delta that it will be compared with. How it compares is all
                      that is asked for, where it is far from that */
} brume_asked;

/* By laws put on one lattice or moved to either side where that is needed. False if memory ran
 * out. */
BRUME_MUST_USE bool brume_solve(brume_law *laws, size_t count, const brume_asked *asked,
                                brume_certified *out);

/* Is delta(epsilon) certainly at most `target`? By a coarse bound. */
bool brume_solve_below(brume_law *laws, size_t count, double epsilon, double target);

#endif
