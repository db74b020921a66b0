/* The Renyi curve of Gaussian noise on a Poisson sample, real or integer, in long doubles.
 *
 * A record removed, r the likelihood ratio of the noise with and without it:
 *   E (1 - q + q r)^n = sum_j C(n,j) (1-q)^{n-j} q^j E r^j,   E r^j = e^{j(j-1)/(2 sigma^2)},
 * at whole orders n, for integer noise too, exactly: a whole multiple of an integer vector moves
 * its lattice onto itself. It is the larger of both directions (proofs/poisson.md). Between whole
 * orders the chord of the convex (alpha-1) D lies above it; the curve without sampling always does.
 * Promise: rounded up. */
#include <math.h>

#include "accountant/renyi/known_curves.h"
#include "number/rounding.h"

enum { MOST_WHOLE_ORDER = 256 };

/* More than what all roundings of subnormal numbers below can take away, also of quotients. */
static const double subnormal = 0x1p-1022;

/* ln of that sum, up: its terms for j < 2 add to what is missing to 1, so that the rest, weighted
 * by e^{j(j-1)/(2 sigma^2)} - 1, are positive and nothing cancels. */
static double log_moment_upper(double sigma, double rate, int n)
{
    long double square = (long double)sigma * sigma, q = rate, odds = q / (1 - q), sum = 0, x = 0;
    long double weight = expl(n * log1pl(-q)), growth = expl(n / square); /* j = 0 */
    for (int j = 1; j <= n; j++) {
        weight *= odds * (n - j + 1) / j;
        if (j < 2)
            continue;
        x = (long double)j * (j - 1) / (2 * square);
        long double term = weight * expm1l(x);
        sum += term;
        /* (e^b - 1)/(e^a - 1) <= (b/a) e^{b-a}: so a term is at most this share of the one before,
         * from here on, and the rest is a geometric sum */
        long double share = odds * (n - j) / (j - 1) * growth * (1 + 0x1p-50L);
        if (share < 0.5L && term * share < 0x1p-64L * sum) {
            sum += 2 * term * share;
            break;
        }
    }
    if (weight == 0 || !(sum < INFINITY)) /* out of range; where q is 1, all of it */
        return INFINITY;
    /* in units of 2^-63: the first weight n log(1-q) of itself and 4, each step 4, expm1 4 and its
     * argument's 4 times at most 1 + x, the sum one a term */
    long double units = 32 + 6 * n - 2 * n * log1pl(-q) + 5 * x;
    return (double)(log1pl(sum * (1 + units * 0x1p-63L)) * (1 + 0x1p-60L)) * (1 + 0x1p-51) +
           subnormal;
}

double brume_renyi_sampled_gaussian_upper(const brume_cost *cost, double alpha)
{
    double sigma = cost->law.a, rate = cost->law.rate;
    alpha = alpha > 1 ? alpha : 1 + 0x1p-52;
    /* alpha/(2 sigma^2), up: sampling never raises a divergence */
    double plain = alpha / 2 / sigma / sigma * (1 + 0x1p-50) + subnormal;
    if (!(rate < 1) || !(alpha <= MOST_WHOLE_ORDER) || !(sigma > 0))
        return isnan(plain) ? INFINITY : plain;
    int below = (int)alpha;
    double low = below > 1 ? log_moment_upper(sigma, rate, below) : 0;
    double share = alpha - below, divergence = low;
    if (below == 1)
        divergence = log_moment_upper(sigma, rate, 2); /* the chord from 0, over alpha - 1 */
    else if (share > 0)
        divergence = low * (1 - share) + log_moment_upper(sigma, rate, below + 1) * share;
    if (below > 1)
        divergence = divergence / (alpha - 1) * (1 + 0x1p-49); /* up, by more than five roundings */
    return divergence < plain ? divergence : plain;
}
