/* The formulas that costs are made of. Every value is evaluated in balls, so the only rounding with
 * a choice is the last one, to a double, and it goes up (down for *_lower). */
#include "mechanism/formula.h"

#include <math.h>

#include "mechanism/ball.h"

enum { BITS = BRUME_BALL_BITS };

void brume_cost_of_pure(double epsilon, brume_quality quality, brume_cost *cost)
{
    cost->pure = quality;
    cost->epsilon = epsilon;
    cost->concentrated = quality;
    cost->rho = brume_pure_rho_upper(epsilon);
    if (isinf(epsilon))
        return;
    cost->loss = quality;
    cost->law = (brume_loss){.kind = BRUME_LOSS_PURE, .a = epsilon};
    cost->renyi = quality;
    cost->renyi_upper = brume_renyi_pure_upper;
}

void brume_cost_of_failing(double epsilon, double delta, brume_cost *cost)
{
    brume_cost_of_pure(epsilon, BRUME_UPPER, cost);
    cost->delta_failure = delta;
}

void brume_cost_of_rho(double rho, brume_quality quality, brume_cost *cost)
{
    cost->concentrated = quality;
    cost->rho = rho;
    cost->renyi = quality;
    cost->renyi_upper = brume_renyi_rho_upper;
}

/* ball / (2 sigma^2), rounded up */
static double over_twice_square(arb_t ball, double sigma)
{
    arb_t y;
    arb_init(y);
    arb_set_d(y, sigma);
    arb_mul(y, y, y, BITS);
    arb_div(ball, ball, y, BITS);
    arb_mul_2exp_si(ball, ball, -1);
    double result = brume_ball_upper(ball);
    arb_clear(y);
    return result;
}

double brume_gaussian_rho_upper(double sensitivity, double sigma)
{
    arb_t x;
    arb_init(x);
    arb_set_d(x, sensitivity);
    arb_mul(x, x, x, BITS);
    double result = over_twice_square(x, sigma);
    arb_clear(x);
    return result;
}

double brume_square_rho_upper(double square, double sigma)
{
    if (isinf(square))
        return INFINITY;
    arb_t x;
    arb_init(x);
    arb_set_d(x, square);
    double result = over_twice_square(x, sigma);
    arb_clear(x);
    return result;
}

double brume_pure_rho_upper(double epsilon)
{
    if (isinf(epsilon))
        return INFINITY;
    arb_t x, t;
    arb_init(x);
    arb_init(t);
    arb_set_d(x, epsilon);
    arb_mul_2exp_si(t, x, -1);
    arb_tanh(t, t, BITS);
    arb_mul(x, x, t, BITS);
    double result = brume_ball_upper(x); /* >= epsilon tanh(epsilon/2) */
    arb_clear(x);
    arb_clear(t);
    return result;
}

double brume_laplace_rho_upper(double epsilon)
{
    if (isinf(epsilon))
        return INFINITY;
    arb_t x, t;
    arb_init(x);
    arb_init(t);
    arb_set_d(x, epsilon);
    if (epsilon < 0x1p-40) {
        /* epsilon + exp(-epsilon) - 1 <= epsilon^2/2, and less than 2^-41 of it is given away;
         * the difference below would lose its digits */
        arb_mul(x, x, x, BITS);
        arb_mul_2exp_si(x, x, -1);
    } else {
        arb_neg(t, x);
        arb_expm1(t, t, BITS);
        arb_add(x, x, t, BITS);
    }
    double result = brume_ball_upper(x);
    arb_clear(x);
    arb_clear(t);
    return result;
}

double brume_bounded_range_rho_upper(double epsilon)
{
    arb_t x;
    arb_init(x);
    arb_set_d(x, epsilon);
    arb_mul(x, x, x, BITS);
    arb_mul_2exp_si(x, x, -3);
    double result = brume_ball_upper(x); /* >= epsilon^2/8 */
    arb_clear(x);
    return result;
}

double brume_sampled_epsilon_upper(double epsilon, double rate)
{
    if (isinf(epsilon) || rate >= 1)
        return epsilon;
    arb_t x, q;
    arb_init(x);
    arb_init(q);
    /* epsilon + ln(rate + (1-rate) exp(-epsilon)) = epsilon + ln(1 + (1-rate) expm1(-epsilon)):
     * no overflow for large epsilon */
    arb_set_d(q, rate);
    arb_sub_ui(q, q, 1, BITS);
    arb_neg(q, q); /* 1 - rate */
    arb_set_d(x, epsilon);
    arb_neg(x, x);
    arb_expm1(x, x, BITS);
    arb_mul(x, x, q, BITS);
    arb_log1p(x, x, BITS);
    arb_set_d(q, epsilon);
    arb_add(x, x, q, BITS);
    double result = brume_ball_upper(x);
    if (epsilon < 0x1p-30) {
        /* ln(1+y) <= y = rate expm1(epsilon): keeps its digits where the sum above cancels */
        arb_expm1(q, q, BITS);
        arb_set_d(x, rate);
        arb_mul(x, x, q, BITS);
        result = fmin(result, brume_ball_upper(x));
    }
    arb_clear(x);
    arb_clear(q);
    return fmin(result, epsilon); /* sampling never costs more */
}

double brume_integer_bound(double bound)
{
    double up = ceil(bound); /* up: 1e-6 relative is far beyond the rounding of the product */
    return up - bound <= 1e-6 * up ? up : floor(bound);
}
