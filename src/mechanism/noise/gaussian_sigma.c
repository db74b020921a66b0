/* How much Gaussian noise is needed. Promises: brume/noise/gaussian.h; a
 * sigma returned for (epsilon, delta) has a certified upper bound of its profile at or below delta.
 */
#include <brume/noise/gaussian.h>

#include <math.h>
#include <stddef.h>

#include <brume/account/compose.h>

#include "accountant/exact/delta_bounds.h"
#include "base/error.h"
#include "mechanism/ball.h"
#include "mechanism/formula.h"
#include "number/rounding.h"

static brume_status check_target(double epsilon, double delta, double sensitivity,
                                 brume_error *error)
{
    if (!(epsilon > 0) || isinf(epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be a finite number above 0", epsilon);
    if (!(delta > 0 && delta < 0.5))
        return brume_fail(error, BRUME_EARGUMENT, "it should be far below one over the records",
                          "'delta' is %.17g, must be in (0, 1/2)", delta);
    if (!(sensitivity > 0) || isinf(sensitivity))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'sensitivity' is %.17g, must be a finite number above 0", sensitivity);
    return BRUME_OK;
}

static brume_status finish(double result, double *sigma, brume_error *error)
{
    if (isinf(result) || !(result > 0))
        return brume_fail(error, BRUME_EOVERFLOW, NULL, "no double is a fitting sigma");
    *sigma = result;
    return BRUME_OK;
}

brume_status brume_gaussian_sigma(double epsilon, double delta, double sensitivity, double *sigma,
                                  brume_error *error)
{
    BRUME_TRY(check_target(epsilon, delta, sensitivity, error));
    /* both up: sigma/sensitivity is at least the certified ratio */
    double ratio = brume_profile_gaussian_sigma_upper(epsilon, delta);
    return finish(brume_multiply_up(sensitivity, ratio), sigma, error);
}

brume_status brume_gaussian_sigma_classical(double epsilon, double delta, double sensitivity,
                                            double *sigma, brume_error *error)
{
    BRUME_TRY(check_target(epsilon, delta, sensitivity, error));
    if (epsilon > 1)
        return brume_fail(error, BRUME_EARGUMENT, "use the analytic sigma, right for every epsilon",
                          "the classical sigma is proven for epsilon <= 1 only, 'epsilon' is %.17g",
                          epsilon);
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    arb_set_d(x, 1.25);
    arb_set_d(y, delta);
    arb_div(x, x, y, BRUME_BALL_BITS);
    arb_log(x, x, BRUME_BALL_BITS);
    arb_mul_2exp_si(x, x, 1);
    arb_sqrt(x, x, BRUME_BALL_BITS);
    arb_set_d(y, sensitivity);
    arb_mul(x, x, y, BRUME_BALL_BITS);
    arb_set_d(y, epsilon);
    arb_div(x, x, y, BRUME_BALL_BITS);
    double result = brume_ball_upper(x);
    arb_clear(x);
    arb_clear(y);
    return finish(result, sigma, error);
}

brume_status brume_gaussian_sigma_of_rho(double rho, double sensitivity, double *sigma,
                                         brume_error *error)
{
    if (!(rho > 0) || isinf(rho) || !(sensitivity > 0) || isinf(sensitivity))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'rho' is %.17g and 'sensitivity' %.17g, both must be finite and above 0",
                          rho, sensitivity);
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    arb_set_d(x, sensitivity);
    arb_set_d(y, rho);
    arb_mul_2exp_si(y, y, 1);
    arb_sqrt(y, y, BRUME_BALL_BITS);
    arb_div(x, x, y, BRUME_BALL_BITS);
    double result = brume_ball_upper(x); /* more noise: up */
    arb_clear(x);
    arb_clear(y);
    return finish(result, sigma, error);
}

/* Certified upper end of the discrete Gaussian's delta at epsilon. */
static brume_status discrete_delta_upper(double sigma, uint64_t shift, double epsilon,
                                         double *delta, brume_error *error)
{
    brume_term term = {.count = 1};
    term.cost.loss = BRUME_EXACT;
    term.cost.law = (brume_loss){.kind = BRUME_LOSS_DISCRETE_GAUSSIAN, .a = sigma, .shift = shift};
    brume_composition result;
    BRUME_TRY(brume_compose_delta(&term, 1, epsilon, NULL, &result, error));
    *delta = result.value.upper;
    return BRUME_OK;
}

brume_status brume_discrete_gaussian_sigma(double epsilon, double delta, double sensitivity,
                                           double *sigma, brume_error *error)
{
    BRUME_TRY(check_target(epsilon, delta, sensitivity, error));
    double change = brume_integer_bound(sensitivity);
    if (!(change >= 1 && change < 0x1p53))
        return brume_fail(error, BRUME_EARGUMENT, "integers change by at least 1",
                          "'sensitivity' is %.17g, must be in [1, 2^53)", sensitivity);
    uint64_t shift = (uint64_t)change;
    double low = 0, high, found;
    BRUME_TRY(brume_gaussian_sigma(epsilon, delta, (double)shift, &high, error));
    for (;;) {
        BRUME_TRY(discrete_delta_upper(high, shift, epsilon, &found, error));
        if (found <= delta)
            break;
        low = high;
        high *= 1.05;
        if (isinf(high))
            return finish(high, sigma, error);
    }
    if (low == 0)
        low = high / 1.5;
    /* `high` is certified throughout. The profile need not fall steadily in sigma, so this finds a
     * sigma below which the next one tried fails, not necessarily the least of all. */
    while (high - low > 1e-12 * high) {
        double middle = low + (high - low) / 2;
        BRUME_TRY(discrete_delta_upper(middle, shift, epsilon, &found, error));
        if (found <= delta)
            high = middle;
        else
            low = middle;
    }
    return finish(high, sigma, error);
}
