/* Trade-off functions in closed form, in balls. */
#include "accountant/exact/tradeoff.h"

#include <math.h>

#include "number/ball.h"

typedef struct point {
    double parameter, delta, type1;
} point;

static double cut(double type1)
{
    return type1 >= 0 ? fmin(type1, 1) : 0;
}

static void approximate_ball(arb_t out, const void *context, slong precision)
{
    const point *p = context;
    arb_t growth, alpha, rest, other;
    arb_init(growth), arb_init(alpha), arb_init(rest), arb_init(other);
    arb_set_d(growth, p->parameter);
    arb_exp(growth, growth, precision);
    arb_set_d(alpha, p->type1);
    arb_set_d(rest, p->delta);
    arb_sub_ui(rest, rest, 1, precision);
    arb_neg(rest, rest); /* 1 - delta */
    arb_sub(other, rest, alpha, precision);
    arb_div(other, other, growth, precision);
    arb_mul(out, growth, alpha, precision);
    arb_sub(out, rest, out, precision);
    arb_max(out, out, other, precision);
    arb_zero(other);
    arb_max(out, out, other, precision);
    arb_clear(growth), arb_clear(alpha), arb_clear(rest), arb_clear(other);
}

brume_interval brume_tradeoff_approximate(double epsilon, double delta, double type1)
{
    return brume_ball_evaluate(approximate_ball, &(point){epsilon, delta, cut(type1)}, 0, 1);
}

/* Phi^-1(1-a) = sqrt2 erfinv(1-2a); then Phi(x - mu) = erfc((mu - x)/sqrt2)/2. */
static void gaussian_ball(arb_t out, const void *context, slong precision)
{
    const point *p = context;
    arb_t quantile, mu;
    arb_init(quantile), arb_init(mu);
    arb_set_d(quantile, p->type1);
    arb_mul_2exp_si(quantile, quantile, 1);
    arb_sub_ui(quantile, quantile, 1, precision + 1100); /* exact: a may be 2^-1074 */
    arb_neg(quantile, quantile);
    arb_hypgeom_erfinv(quantile, quantile, precision);
    arb_sqrt_ui(mu, 2, precision);
    arb_mul(quantile, quantile, mu, precision);
    arb_set_d(mu, p->parameter);
    arb_sub(quantile, quantile, mu, precision);
    brume_ball_normal_cdf(out, quantile, precision);
    arb_clear(quantile), arb_clear(mu);
}

brume_interval brume_tradeoff_gaussian(double mu, double type1)
{
    type1 = cut(type1);
    if (type1 == 0 || type1 == 1)
        return (brume_interval){1 - type1, 1 - type1};
    return brume_ball_evaluate(gaussian_ball, &(point){mu, 0, type1}, 0, 1);
}

/* F(F^-1(1-a) - e) with F the Laplace distribution function, in three pieces:
 * a <= e^-e/2: 1 - e^e a;  a <= 1/2: e^-e/(4a);  else e^-e (1-a). The function is convex and equals
 * the greatest of the outer two lines and, between, the hyperbola, which lies above both. */
static void laplace_ball(arb_t out, const void *context, slong precision)
{
    const point *p = context;
    arb_t decay, alpha, other;
    arb_init(decay), arb_init(alpha), arb_init(other);
    arb_set_d(decay, -p->parameter);
    arb_exp(decay, decay, precision);
    arb_set_d(alpha, p->type1);
    if (p->type1 >= 0.5) {
        arb_sub_ui(out, alpha, 1, precision);
        arb_neg(out, out);
        arb_mul(out, out, decay, precision);
    } else {
        arb_div(out, alpha, decay, precision); /* e^e a */
        arb_mul_2exp_si(other, out, 1);
        arb_sub_ui(other, other, 1, precision); /* > 0 on the hyperbola */
        if (arb_is_negative(other)) {
            arb_sub_ui(out, out, 1, precision);
            arb_neg(out, out);
        } else if (arb_is_positive(other)) {
            arb_mul_2exp_si(out, out, 2);
            arb_inv(out, out, precision);
        } else { /* the seam: both pieces, which meet there */
            arb_mul_2exp_si(other, out, 2);
            arb_inv(other, other, precision);
            arb_sub_ui(out, out, 1, precision);
            arb_neg(out, out);
            arb_union(out, out, other, precision);
        }
    }
    arb_clear(decay), arb_clear(alpha), arb_clear(other);
}

brume_interval brume_tradeoff_laplace(double epsilon0, double type1)
{
    return brume_ball_evaluate(laplace_ball, &(point){epsilon0, 0, cut(type1)}, 0, 1);
}
