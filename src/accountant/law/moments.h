/* Mean, variance and Renyi divergences of the privacy loss, from the cumulants of its laws.
 *
 * K(c) = log E e^{cL} of all draws together. The Renyi divergence of order alpha of the pair, in
 * the order the laws were opened in, is K(alpha - 1)/(alpha - 1); mean and variance are K'(0) and
 * K''(0). P[L > epsilon] is delta(epsilon) - delta'(epsilon), so that two deltas bound it. */
#ifndef BRUME_ACCOUNTANT_LAW_MOMENTS_H
#define BRUME_ACCOUNTANT_LAW_MOMENTS_H

#include <brume/interval.h>

#include "accountant/law/law.h"

/* Mean and variance of the sum of all draws: estimates, to some 1e-6 of themselves. Both are sums
 * over the laws. False if a law is not known at small orders. */
BRUME_MUST_USE bool brume_loss_moments(brume_law *laws, size_t count, double *mean,
                                       double *variance);

/* A certified interval of the Renyi divergence of order 1 + c, c > 0: order minus one, because that
 * is what the cumulants take, and 1 + c may round. The upper end is infinite where nothing is
 * certified.
 */
brume_interval brume_loss_renyi(brume_law *laws, size_t count, double c);

#endif
