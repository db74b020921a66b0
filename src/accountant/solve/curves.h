/* Terms known only by their moments: a Renyi curve or rho. An upper bound, two ways.
 *
 * (a) Moments of everything: the Renyi curves of all terms add, and the sum is converted. Sound
 *     for adaptive, interleaved releases.
 * (b) One dominating pair for all such releases together: the sum of their curves bounds their
 *     profile at every u = e^eps, the lower convex hull of such bounds is the profile of a pair of
 *     finitely many losses, and that pair is composed exactly with the others. Sound likewise:
 *     proofs/accountant/solve.md, section solve.2.
 * A curve alone does not determine a pair: its moments must never be continued into the complex
 * plane. The smaller of the two answers counts. */
#ifndef BRUME_ACCOUNTANT_SOLVE_CURVES_H
#define BRUME_ACCOUNTANT_SOLVE_CURVES_H

#include "accountant/solve/merge_terms.h"
#include "accountant/renyi/renyi.h"
#include "accountant/solve/solve.h"

/* All releases that have only a curve, together: log E e^{cL} <= brume_curve_sum_upper(c), c > 0,
 * in both orders. */
typedef struct brume_curve_sum {
    brume_term_list list; /* those terms; owned */
    double rho;           /* all curves are lines: D_alpha <= rho alpha, rounded up; else 0 */
} brume_curve_sum;

/* The terms with neither a law nor a pure epsilon. False if memory ran out. */
BRUME_MUST_USE bool brume_curve_sum_open(const brume_term *terms, size_t count,
                                         brume_curve_sum *out);
void brume_curve_sum_close(brume_curve_sum *curves);

double brume_curve_sum_upper(const brume_curve_sum *curves, double c);

/* About its slope, to choose by. */
double brume_curve_sum_slope(const brume_curve_sum *curves, double c);

/* A pair that dominates them, as a law of one draw. Its losses lie most densely where order c and
 * deltas of about e^log_delta meet; all of them move smoothly with the curve and with c. *failure
 * is the mass that it leaves at +infinity. */
BRUME_MUST_USE brume_status brume_curve_pair(const brume_curve_sum *curves, double c,
                                             double log_delta, brume_law *law, double *failure,
                                             brume_error *error);

/* What is asked: delta at an epsilon, or epsilon at a delta. */
typedef struct brume_curve_question {
    bool of_delta;
    double at;
} brume_curve_question;

/* Both routes for one order of the neighbours, beside the laws of the terms. out->value.upper, that
 * of the other order or 0, becomes the larger of both; *order is where moments are best, of the
 * other order or 0 before; *paired is set where the pair gave the upper end; *symmetric: the other
 * order is the same. */
BRUME_MUST_USE brume_status brume_curve_beside(const brume_term *terms, size_t count, bool reversed,
                                               const brume_curve_sum *curves,
                                               brume_curve_question q, double *order,
                                               brume_composition *out, bool *paired,
                                               bool *symmetric, brume_error *error);

/* Has a pure term a smaller rho than the worst pure law? Then the composition below may say more,
 * although every term has a law. */
bool brume_curves_help(const brume_term *terms, size_t count);

/* Is that upper end so far below what the laws of all terms would say, about, that they need not be
 * composed? */
bool brume_curves_suffice(const brume_term *terms, size_t count, brume_curve_question q,
                          double upper);

/* The composition where some terms have only curves: both routes, upper end only. Arguments are
 * checked already. */
BRUME_MUST_USE brume_status brume_curves_epsilon(const brume_term *terms, size_t count,
                                                 double delta, brume_composition *out,
                                                 brume_error *error);
BRUME_MUST_USE brume_status brume_curves_delta(const brume_term *terms, size_t count,
                                               double epsilon, brume_composition *out,
                                               brume_error *error);

/* Add a Gaussian that has about their curve to the laws: a place to start, not a bound. */
bool brume_curves_guess(const brume_term *terms, size_t count, brume_merged *merged);

/* Does this route say that they answered? Then no moments of all terms are below. */
bool brume_curves_answered(const char *route);

#endif
