/* Privacy profiles in closed form, in balls. Promise: the exact profile lies in the interval; the
 * interval is a few last places wide unless the value underflows. */
#include "accountant/exact/profile.h"

#include <math.h>

#include "accountant/search.h"
#include "number/ball.h"

typedef struct profile {
    double parameter, epsilon;
} profile;

/* delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu). The two terms cancel when both are near 1
 * or mu is small; the evaluation then raises its precision. */
static void gaussian_ball(arb_t out, const void *context, slong precision)
{
    const profile *p = context;
    arb_t mu, epsilon, half, ratio, term;
    arb_init(mu), arb_init(epsilon), arb_init(half), arb_init(ratio), arb_init(term);
    arb_set_d(mu, p->parameter);
    arb_set_d(epsilon, p->epsilon);
    arb_mul_2exp_si(half, mu, -1);
    arb_div(ratio, epsilon, mu, precision);
    arb_sub(term, half, ratio, precision);
    brume_ball_normal_cdf(out, term, precision);
    arb_add(term, half, ratio, precision);
    arb_neg(term, term);
    brume_ball_normal_cdf(term, term, precision);
    arb_exp(half, epsilon, precision);
    arb_submul(out, half, term, precision);
    arb_clear(mu), arb_clear(epsilon), arb_clear(half), arb_clear(ratio), arb_clear(term);
}

static void trivial_ball(arb_t out, const void *context, slong precision)
{
    const profile *p = context;
    arb_set_d(out, p->epsilon);
    arb_expm1(out, out, precision);
    arb_neg(out, out); /* 1 - e^eps */
}

static const brume_interval vacuous = {0, 1};

/* What any pair has at least: 1 - e^eps, and 0. */
static brume_interval trivial(double epsilon)
{
    if (epsilon >= 0)
        return (brume_interval){0, 0};
    return brume_ball_evaluate(trivial_ball, &(profile){0, epsilon}, 0, 1);
}

brume_interval brume_profile_gaussian(double mu, double epsilon)
{
    if (!(mu >= 0) || isinf(mu) || !isfinite(epsilon))
        return vacuous;
    if (mu == 0)
        return trivial(epsilon);
    return brume_ball_evaluate(gaussian_ball, &(profile){mu, epsilon}, 0, 1);
}

static brume_status delta_of_sigma(void *context, double sigma, double *delta, brume_error *error)
{
    (void)error;
    profile p = {1 / sigma, *(const double *)context};
    /* mu is rounded up: a larger mu has a larger profile */
    p.parameter = nextafter(p.parameter, INFINITY);
    *delta = brume_profile_gaussian(p.parameter, p.epsilon).upper;
    return BRUME_OK;
}

double brume_profile_gaussian_sigma_upper(double epsilon, double delta)
{
    if (!(epsilon >= 0) || !(delta > 0))
        return INFINITY;
    if (delta >= 1)
        return 0;
    brume_search search = {delta_of_sigma, &epsilon, delta, 1e-150, 1e150, 1e-13, 0};
    double sigma;
    if (brume_search_least(&search, 1, &sigma, NULL) != BRUME_OK)
        return INFINITY;
    return sigma;
}
