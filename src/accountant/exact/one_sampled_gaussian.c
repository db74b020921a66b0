/* One release of the Poisson-subsampled Gaussian, in closed form.
 *
 * The Gaussian of mu = 1/sigma through brume_sampled_profile, which has the identity.
 * Both orders grow with q and fall with sigma, so the moved parameters give the two sides.
 * In doubles with bounds first (sampled_draw.h), in balls where those are not narrow. */
#include "accountant/exact/closed_form.h"

#include <math.h>

#include "accountant/exact/sampled_balls.h"
#include "accountant/exact/sampled_draw.h"
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

static const char route_doubles[] = "closed form of one subsampled Gaussian";

/* Its two sides in doubles: the value off by its error, and that sum rounded. */
static double doubles_delta(void *context, double epsilon, brume_side side)
{
    brume_sampled_draw draw = brume_sampled_draw_of(context, side);
    double error, value = brume_sampled_value(&draw, -epsilon, &error);
    double moved = (value + side * error) * (1 + side * 4 * BRUME_UNIT);
    if (side == BRUME_UPPER_SIDE)
        return moved <= 1 ? moved : 1; /* also if it is not a number */
    return moved >= 0 ? moved : 0;
}

brume_closed brume_sampled_doubles_form(brume_law *law)
{
    return (brume_closed){.delta = doubles_delta,
                          .context = law,
                          .route = route_doubles,
                          .doubles = true,
                          .nodes = 1};
}

bool brume_sampled_once_answered(const brume_answer *answer)
{
    return answer->route == route_doubles;
}

void brume_sampled_once_audit(brume_law *law, double epsilon, brume_audit *out)
{
    enum { PLACES = 64 };
    brume_audit audit = {.agrees = true};
    brume_closed balls = brume_sampled_form(law);
    for (int j = 0; j < PLACES; j++) { /* moved to either side, as the sums take them */
        brume_side side = j % 2 ? BRUME_UPPER_SIDE : BRUME_LOWER_SIDE;
        brume_sampled_draw draw = brume_sampled_draw_of(law, side);
        double error, at = epsilon * (j - PLACES / 4) * (2.0 / PLACES);
        double value = brume_sampled_value(&draw, -at, &error);
        double ball = balls.delta(balls.context, at, side);
        double ratio = fabs(value - ball) / (error + 8 * BRUME_UNIT * ball + 1e-300);
        audit.agrees = audit.agrees && ratio <= 1; /* not if it is not a number */
        audit.ratio = ratio <= audit.ratio ? audit.ratio : ratio;
        audit.nodes++;
    }
    *out = audit;
}
