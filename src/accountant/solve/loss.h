/* The privacy-loss variable of releases together: L = ln(P(y)/Q(y)) for y drawn from P, where (P,
 * Q) is the dominating pair, and the sum of these for independent releases.
 *
 * 1. `reversed` chooses the other order of the pair: Q against P. Only laws on a sample differ.
 * 2. A release without a law of its own counts as the worst mechanism of its pure epsilon; one that
 *    is known by a rho or a curve alone is refused, EUNSUPPORTED.
 * 3. A probability of failure is an atom at +infinity. Mean, variance and divergences are of the
 *    loss given that there is no failure. */
#ifndef BRUME_ACCOUNTANT_SOLVE_LOSS_H
#define BRUME_ACCOUNTANT_SOLVE_LOSS_H

#include <brume/account/compose.h>

/* Do the two orders differ? And what mass lies at +infinity? */
BRUME_MUST_USE brume_status brume_loss_look(const brume_term *terms, size_t count, bool *differ,
                                            double *infinite_mass, brume_error *error);

/* P[L > epsilon], certified; any finite epsilon. Where the loss has atoms and epsilon is one of
 * them up to a few units in the last place, it is taken for that atom. Found from certified values
 * of delta: e^-epsilon delta(epsilon) is convex and has the slope -e^-epsilon P[L > epsilon].
 * proofs/accountant/solve.md, section "tail". `goal`: the relative width to stop at. */
BRUME_MUST_USE brume_status brume_loss_tail(const brume_term *terms, size_t count, bool reversed,
                                            double epsilon, double goal, brume_interval *out,
                                            brume_error *error);

/* Mean and variance, to some twelve digits. EUNSUPPORTED for a discrete law of too many atoms. */
BRUME_MUST_USE brume_status brume_loss_moments(const brume_term *terms, size_t count, bool reversed,
                                               double *mean, double *variance, brume_error *error);

/* The Renyi divergence of an order above 0 (1: the mean; INFINITY: the largest loss); infinite
 * where it is. To some twelve digits; EUNSUPPORTED below 1 as for the moments. */
BRUME_MUST_USE brume_status brume_loss_renyi(const brume_term *terms, size_t count, bool reversed,
                                             double order, double *divergence, brume_error *error);

#endif
