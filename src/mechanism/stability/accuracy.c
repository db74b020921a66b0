/* How stable data must be for a test of stability to pass: the accuracy statements of this family.
 *
 * With m the threshold and X the discrete Laplace noise, data at distance d is withheld iff
 * d + X <= m - 1, with probability P[X >= d - m + 1] by symmetry. All numbers are rounded up. */
#include <math.h>

#include "base/error.h"
#include "mechanism/stability/laplace_tail.h"
#include "mechanism/stability/stability.h"

/* Above a half nothing is asked of the noise but its sign. */
static double below_half(double beta)
{
    return fmin(beta, .49999999);
}

static brume_status withheld_alpha_upper(double scale, uint64_t threshold, double beta,
                                         double *alpha, brume_error *error)
{
    uint64_t t;
    double unused;
    BRUME_TRY(brume_discrete_tail_threshold(scale, below_half(beta), &t, &unused, error));
    /* Exact: both are below 2^51. At least 0: P[X >= 0] is above 1/2, hence t >= 1. */
    *alpha = (double)threshold - 1 + (double)t;
    return BRUME_OK;
}

static void withheld_beta_upper(double scale, uint64_t threshold, double alpha, double *beta)
{
    double d = ceil(fmin(alpha, 0x1p52)), t = d - (double)threshold + 1; /* distances are whole */
    *beta = t < 0 ? 1 : brume_discrete_tail_upper(scale, (uint64_t)t);
}

brume_status brume_stability_alpha_upper(double epsilon, double delta, double beta, double *alpha,
                                         brume_error *error)
{
    uint64_t m;
    double unused;
    BRUME_TRY(brume_stability_threshold(epsilon, delta, &m, &unused, error));
    return withheld_alpha_upper(brume_scale_upper(1, epsilon), m, beta, alpha, error);
}

brume_status brume_stability_beta_upper(double epsilon, double delta, double alpha, double *beta,
                                        brume_error *error)
{
    uint64_t m;
    double unused;
    BRUME_TRY(brume_stability_threshold(epsilon, delta, &m, &unused, error));
    withheld_beta_upper(brume_scale_upper(1, epsilon), m, alpha, beta);
    return BRUME_OK;
}

/* The worst number of units for an error of d is d itself: withheld, it errs by d, and shown, it
 * errs by d or more upwards only, as it would have to be below 0 otherwise. */
void brume_histogram_beta_upper(double scale, uint64_t threshold, uint64_t keys, double alpha,
                                double *beta)
{
    double d = ceil(fmin(alpha, 0x1p52)), withheld; /* errors are whole numbers */
    withheld_beta_upper(scale, threshold, d, &withheld);
    double one = d > 0 ? withheld + brume_discrete_tail_upper(scale, (uint64_t)d) : 1;
    one *= 1 + 0x1p-52; /* up */
    *beta = one < 1 ? fmin(brume_delta_joint_upper(one, keys), 1) : 1;
}

brume_status brume_histogram_alpha_upper(double scale, uint64_t threshold, uint64_t keys,
                                         double beta, double *alpha, brume_error *error)
{
    /* Half of a key's share: both parts are at most that there. Rounding may ask for a little more.
     */
    double high, low = -1, reached, step = 1;
    BRUME_TRY(withheld_alpha_upper(scale, threshold, brume_delta_share_lower(beta, keys) / 2, &high,
                                   error));
    for (;; high += step, step *= 2) {
        brume_histogram_beta_upper(scale, threshold, keys, high, &reached);
        if (reached <= beta || high >= 0x1p52)
            break;
        low = high;
    }
    while (high - low > 1) {
        double middle = floor(low + (high - low) / 2);
        brume_histogram_beta_upper(scale, threshold, keys, middle, &reached);
        *(reached <= beta ? &high : &low) = middle;
    }
    *alpha = high < 0x1p52 ? high : INFINITY;
    return BRUME_OK;
}
