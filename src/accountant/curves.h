/* Terms known only by their moments: a Renyi curve or rho. An upper bound, two ways.
 *
 * (a) Moments of everything: the Renyi curves of all terms add, and the sum is converted. Sound
 *     for adaptive, interleaved releases.
 * (b) A dominating pair for each such release: the curve bounds its profile at every u = e^eps, the
 *     lower convex hull of such bounds is the profile of a pair of finitely many losses, and that
 *     pair is composed exactly with the others. Sound likewise, release by release.
 * A curve alone does not determine a pair: its moments must never be continued into the complex
 * plane. The smaller of the two answers counts. */
#ifndef BRUME_ACCOUNTANT_CURVES_H
#define BRUME_ACCOUNTANT_CURVES_H

#include "accountant/gather.h"
#include "accountant/solve.h"

/* A pair for one release of a cost with a curve, good down to deltas of about `smallest`; `count`
 * draws of it. *failure is the mass its hull leaves at +infinity, per draw. */
BRUME_MUST_USE brume_status brume_curve_pair(const brume_cost *cost, double count, double smallest,
                                             brume_law *law, double *failure, brume_error *error);

/* The composition where some terms have only curves: both routes, upper end only. Arguments are
 * checked already. */
BRUME_MUST_USE brume_status brume_curves_epsilon(const brume_term *terms, size_t count,
                                                 double delta, double width, brume_composition *out,
                                                 brume_error *error);
BRUME_MUST_USE brume_status brume_curves_delta(const brume_term *terms, size_t count,
                                               double epsilon, double width, brume_composition *out,
                                               brume_error *error);

#endif
