/* One release of the Poisson-subsampled Gaussian, in closed form.
 *
 * With u = e^eps and delta_G the profile of the Gaussian of mu = 1/sigma:
 *   a record removed:  delta = q delta_G(log(1 + (u - 1)/q))        (u > 1 - q, else 1 - u)
 *   a record added:    delta = k delta_G(log(u q / k)), k = 1 - u (1 - q)   (k > 0, else 0)
 * because P - u Q is in each case a multiple of N1 - u' N0 (or N0 - u' N1).
 * Both grow with q and fall with sigma, so the moved parameters give the two sides. */
#include "accountant/closed.h"

#include <math.h>

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

static void profile(arb_t out, const void *context, slong precision)
{
    const point *p = context;
    arb_t u, q, mu, k;
    arb_init(u);
    arb_init(q);
    arb_init(mu);
    arb_init(k);
    arb_set_d(u, p->epsilon);
    arb_exp(u, u, precision);
    arb_set_d(q, p->rate);
    arb_set_d(mu, p->sigma);
    arb_inv(mu, mu, precision);
    if (p->reversed) {
        arb_sub_ui(k, q, 1, precision); /* q - 1 */
        arb_mul(k, k, u, precision);
        arb_add_ui(k, k, 1, precision);
    } else {
        arb_add(k, u, q, precision);
        arb_sub_ui(k, k, 1, precision); /* u - 1 + q */
    }
    if (arb_is_nonpositive(k)) {
        arb_sub_ui(out, u, 1, precision);
        arb_neg(out, out); /* 1 - u */
        if (p->reversed)
            arb_zero(out);
    } else if (!arb_is_positive(k)) {
        arb_indeterminate(out); /* more precision will tell */
    } else if (p->reversed) {
        arb_mul(u, u, q, precision);
        arb_div(u, u, k, precision);
        gaussian_profile(out, mu, u, precision);
        arb_mul(out, out, k, precision);
    } else {
        arb_div(u, k, q, precision);
        gaussian_profile(out, mu, u, precision);
        arb_mul(out, out, q, precision);
    }
    arb_clear(u);
    arb_clear(q);
    arb_clear(mu);
    arb_clear(k);
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
