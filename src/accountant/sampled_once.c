/* One release of the Poisson-subsampled Gaussian, in closed form.
 *
 * The Gaussian of mu = 1/sigma through brume_sampled_profile, which has the identity.
 * Both orders grow with q and fall with sigma, so the moved parameters give the two sides. */
#include "accountant/closed.h"

#include <math.h>

#include "accountant/sampled_balls.h"
#include "number/ball.h"

typedef struct point {
    double sigma, rate, epsilon;
    bool reversed;
} point;

/* Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu) */
static void gaussian_profile(arb_t out, const arb_t mu, const arb_t growth, slong precision)
{
    arb_t e, half, left, right;
    arb_init(e);
    arb_init(half);
    arb_init(left);
    arb_init(right);
    arb_log(e, growth, precision);
    arb_div(e, e, mu, precision);
    arb_mul_2exp_si(half, mu, -1);
    arb_sub(left, half, e, precision);
    arb_neg(half, half);
    arb_sub(right, half, e, precision);
    brume_ball_normal_cdf(left, left, precision);
    brume_ball_normal_cdf(right, right, precision);
    arb_submul(left, right, growth, precision);
    arb_swap(out, left);
    arb_clear(e);
    arb_clear(half);
    arb_clear(left);
    arb_clear(right);
}

static void inner(arb_t out, const void *context, const arb_t growth, slong precision)
{
    const point *p = context;
    arb_t mu;
    arb_init(mu);
    arb_set_d(mu, p->sigma);
    arb_inv(mu, mu, precision);
    gaussian_profile(out, mu, growth, precision);
    arb_clear(mu);
}

static void profile(arb_t out, const void *context, slong precision)
{
    const point *p = context;
    brume_sampled_profile(out, p->epsilon, p->rate, p->reversed, inner, p, precision);
}

static double sampled_delta(void *context, double epsilon, brume_side side)
{
    const brume_law *law = context;
    point p = {.sigma = brume_parameter_moved(law->a, -side), .epsilon = epsilon};
    p.rate = fmin(1, brume_parameter_moved(law->rate, side));
    p.reversed = law->reversed;
    brume_interval delta = brume_ball_evaluate(profile, &p, 0, 1);
    return side == BRUME_UPPER_SIDE ? delta.upper : delta.lower;
}

brume_closed brume_sampled_form(brume_law *law)
{
    return (brume_closed){
        .delta = sampled_delta, .context = law, .route = "closed form of one subsampled Gaussian"};
}
