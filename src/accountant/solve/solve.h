/* Certified bounds of delta at an epsilon and of epsilon at a delta, for one order of the
 * neighbours and finite losses. */
#ifndef BRUME_ACCOUNTANT_SOLVE_SOLVE_H
#define BRUME_ACCOUNTANT_SOLVE_SOLVE_H

#include <brume/account/compose.h>

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

typedef struct brume_merged {
    brume_law *laws;
    size_t law_count;
    double failure;              /* mass at +infinity */
    double failure_error;        /* its relative error; 0: exact */
    brume_interval failure_ends; /* certified */
    bool infinite;               /* a term fails for certain */
    bool symmetric;              /* all orders are the same */
    uint64_t members;            /* else: of so many records any number may come */
    bool bounded;                /* every finite loss has a largest value */
    bool has_lower;              /* every law is attained */
    size_t curve_count;          /* terms with a Renyi curve or rho only, not in `laws` */
} brume_merged;

BRUME_MUST_USE brume_status brume_merge_terms(const brume_term *terms, size_t count, uint64_t come,
                                              brume_merged *out, brume_error *error);
void brume_merged_close(brume_merged *merged);

/* All orders of the neighbours, first all records removed, then one and more of them added in
 * place, if that is not the same: `visit` is called with the merged terms of each; `again` after
 * the first. It may set *done to end there, and may take laws over by setting merged->law_count to
 * 0. */
typedef brume_status brume_order_visit(void *context, bool again, brume_merged *merged, bool *done,
                                       brume_error *error);
BRUME_MUST_USE brume_status brume_each_order(const brume_term *terms, size_t count,
                                             brume_order_visit *visit, void *context,
                                             brume_error *error);

#endif
