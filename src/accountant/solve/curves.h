/* Terms known only by their moments: a Renyi curve or rho. An upper bound, two ways.
 *
 * (a) Moments of everything: the Renyi curves of all terms add, and the sum is converted. Sound
 *     for adaptive, interleaved releases.
 * (b) One dominating pair for all such releases together: the sum of their curves bounds their
 *     profile at every u = e^eps, the lower convex hull of such bounds is the profile of a pair of
 *     finitely many losses, and that pair is composed exactly with the others. Sound likewise:
 *     proofs/accountant/solve.md, section solve.2.
 * A curve alone does not determine a pair: its moments must never be continued into the complex
 * plane. The smaller of the two intervals counts. */
#ifndef BRUME_ACCOUNTANT_SOLVE_CURVES_H
#define BRUME_ACCOUNTANT_SOLVE_CURVES_H

#include <brume/account/diagnostics.h>

#include "accountant/renyi/renyi.h"
#include "accountant/solve/solve.h"

/* All releases that have only a curve, together: log E e^{cL} <= brume_curve_sum_upper(c), c > 0,
 * in both orders. */
typedef struct brume_curve_sum {
    brume_term_list list; /* those terms; owned */
    double rho;           /* all curves are lines: D_alpha <= rho alpha, rounded up; else 0 */
} brume_curve_sum;

double brume_curve_sum_upper(const brume_curve_sum *curves, double c);

/* About its slope, to choose by. */
double brume_curve_sum_slope(const brume_curve_sum *curves, double c);

/* A pair that dominates them, as a law of one draw. Its losses lie most densely where order c and
 * deltas of about e^log_delta meet; all of them move smoothly with the curve and with c. *failure
 * is the mass that it leaves at +infinity. */
BRUME_MUST_USE brume_status brume_curve_pair(const brume_curve_sum *curves, double c,
                                             double log_delta, brume_law *law, double *failure,
                                             brume_error *error);

/* The larger upper end of both orders so far, and how it was found. */
typedef struct brume_curve_bound {
    const brume_curve_sum *curves;
    brume_asked asked;
    double upper;
    double order; /* where moments were best in the first order; 0 before it */
    bool paired;  /* the pair gave an upper end */
    brume_diagnostics work;
} brume_curve_bound;

/* Both ways for one order of the neighbours, composed with the laws of the other terms, which it
 * may take over from `merged`. bound->upper becomes the larger of both orders. */
BRUME_MUST_USE brume_status brume_curve_bound_order(brume_curve_bound *bound, brume_merged *merged,
                                                    brume_error *error);

/* Is a term known by its moments alone? */
bool brume_curves_needed(const brume_term *terms, size_t count);

/* Has a pure term a smaller rho than the worst pure law? Then brume_curves_compose may give a
 * smaller bound, although every term has a law. */
bool brume_curves_help(const brume_term *terms, size_t count);

/* Is that upper end so far below an estimate of what the laws would give that composing them cannot
 * improve it? */
bool brume_curves_suffice(const brume_term *terms, size_t count, brume_asked q, double upper);

/* The composition where some terms have only curves: both ways, upper end only. Arguments are
 * checked already. */
BRUME_MUST_USE brume_status brume_curves_compose(const brume_term *terms, size_t count,
                                                 brume_asked asked, brume_composition *out,
                                                 brume_diagnostics *work, brume_error *error);

/* Is this the route of brume_curves_compose? Then moments of all terms give no smaller bound. */
bool brume_is_from_curves(const char *route);

#endif
