/* Renyi curves that costs carry, evaluated in balls: the only rounding with a choice is the last
 * one, to a double, and it goes up. */
#include "accountant/renyi/known_curves.h"

#include <float.h>
#include <math.h>

#include "number/ball.h"

enum { BITS = 160 };

/* An order above 1 that is not below alpha: divergences grow with the order. */
static double order(double alpha)
{
    return alpha > 1 ? alpha : 1 + DBL_EPSILON;
}

/* D = epsilon + ln(S)/(alpha-1), where S >= 0 is the moment over exp((alpha-1) epsilon). */
static double finish(arb_t moment, const arb_t epsilon, const arb_t alpha, slong bits)
{
    arb_t less;
    arb_init(less);
    arb_sub_ui(less, alpha, 1, bits);
    arb_log(moment, moment, bits);
    arb_div(moment, moment, less, bits);
    arb_add(moment, moment, epsilon, bits);
    double result = brume_ball_upper(moment);
    arb_clear(less);
    return result;
}

/* Enough bits that neither alpha near 1 nor a small epsilon eats the answer: ln(S) is of the size
 * (alpha-1) epsilon, and D of the size epsilon^2. */
static slong renyi_bits(double epsilon, double alpha)
{
    double lost = fmax(0, -2 * log2(epsilon)) + fmax(0, -log2(alpha - 1));
    return BITS + (slong)fmin(lost, 6000);
}

/* moment = sum of `count` terms weight_i exp(power_i) done by the caller; these helpers build the
 * exponents -n*epsilon as balls. */
static void decay(arb_t out, const arb_t times, const arb_t epsilon, slong bits)
{
    arb_mul(out, times, epsilon, bits);
    arb_neg(out, out);
    arb_exp(out, out, bits);
}

/* Randomized response: p^a (1-p)^(1-a) + (1-p)^a p^(1-a) with p = e^eps/(1+e^eps); over
 * exp((a-1) eps) it is (1 + exp(-(2a-1) eps)) / (1 + exp(-eps)). */
double brume_renyi_pure_upper(const brume_cost *cost, double alpha)
{
    double epsilon0 = cost->epsilon;
    if (epsilon0 == 0)
        return 0;
    if (isinf(epsilon0) || isinf(alpha))
        return epsilon0;
    alpha = order(alpha);
    slong bits = renyi_bits(epsilon0, alpha);
    arb_t a, e, n, s, one;
    arb_init(a), arb_init(e), arb_init(n), arb_init(s), arb_init(one);
    arb_set_d(a, alpha);
    arb_set_d(e, epsilon0);
    arb_mul_2exp_si(n, a, 1);
    arb_sub_ui(n, n, 1, bits);
    decay(s, n, e, bits);
    arb_add_ui(s, s, 1, bits);
    arb_one(one);
    decay(n, one, e, bits);
    arb_add_ui(n, n, 1, bits);
    arb_div(s, s, n, bits);
    double result = finish(s, e, a, bits);
    arb_clear(a), arb_clear(e), arb_clear(n), arb_clear(s), arb_clear(one);
    if (cost->concentrated != BRUME_ABSENT) /* a better rho, as of bounded range, is a curve too */
        result = fmin(result, brume_renyi_rho_upper(cost, alpha));
    return fmin(result, epsilon0); /* D_alpha <= D_infinity */
}

/* Laplace: a/(2a-1) exp((a-1) eps) + (a-1)/(2a-1) exp(-a eps). */
double brume_renyi_laplace_upper(const brume_cost *cost, double alpha)
{
    double epsilon0 = cost->law.a;
    if (isinf(epsilon0) || isinf(alpha))
        return epsilon0;
    alpha = order(alpha);
    slong bits = renyi_bits(epsilon0, alpha);
    arb_t a, e, n, s, t;
    arb_init(a), arb_init(e), arb_init(n), arb_init(s), arb_init(t);
    arb_set_d(a, alpha);
    arb_set_d(e, epsilon0);
    arb_mul_2exp_si(n, a, 1);
    arb_sub_ui(n, n, 1, bits); /* 2a-1 */
    decay(s, n, e, bits);
    arb_sub_ui(t, a, 1, bits);
    arb_mul(s, s, t, bits);
    arb_add(s, s, a, bits);
    arb_div(s, s, n, bits);
    double result = finish(s, e, a, bits);
    arb_clear(a), arb_clear(e), arb_clear(n), arb_clear(s), arb_clear(t);
    return fmin(result, epsilon0);
}

/* Discrete Laplace, q = exp(-a), shift D, total eps = a D. Atoms: 1/(1+q) at +eps, q^D/(1+q) at
 * -eps, (1-q)/(1+q) q^x at eps - 2 a x for 0 < x < D. Over exp((alpha-1) eps) the middle is the
 * geometric sum of r^x, r = exp(-(2 alpha-1) a):
 *   S = [1 + r^D ... ] with the last atom q^D exp(-2 (alpha-1) eps) = exp(-(2 alpha-1) eps) = r^D,
 *   S = [1 + (1-q) (r - r^D)/(1-r) + r^D] / (1+q). */
double brume_renyi_discrete_laplace_upper(const brume_cost *cost, double alpha)
{
    double step = cost->law.a;
    if (isinf(cost->epsilon) || isinf(alpha))
        return cost->epsilon;
    alpha = order(alpha);
    slong bits = 2 * renyi_bits(step, alpha);
    arb_t a, e, n, s, r, power, q, epsilon;
    arb_init(a), arb_init(e), arb_init(n), arb_init(s);
    arb_init(r), arb_init(power), arb_init(q), arb_init(epsilon);
    arb_set_d(a, alpha);
    arb_set_d(e, step);
    arb_mul_2exp_si(n, a, 1);
    arb_sub_ui(n, n, 1, bits);
    decay(r, n, e, bits);
    arb_mul_ui(epsilon, e, cost->law.shift, bits);
    decay(power, n, epsilon, bits);
    arb_one(n);
    decay(q, n, e, bits);
    arb_sub(s, r, power, bits);
    arb_sub_ui(n, r, 1, bits);
    arb_neg(n, n);
    arb_div(s, s, n, bits); /* (r - r^D)/(1-r) */
    arb_sub_ui(n, q, 1, bits);
    arb_neg(n, n);
    arb_mul(s, s, n, bits);
    arb_add_ui(s, s, 1, bits);
    arb_add(s, s, power, bits);
    arb_add_ui(n, q, 1, bits);
    arb_div(s, s, n, bits);
    double result = finish(s, epsilon, a, bits);
    arb_clear(a), arb_clear(e), arb_clear(n), arb_clear(s);
    arb_clear(r), arb_clear(power), arb_clear(q), arb_clear(epsilon);
    return fmin(result, cost->epsilon);
}

/* k-ary randomized response: with q = 1/(e^eps+k-1), p = e^eps q the moment is
 * p^a q^(1-a) + q^a p^(1-a) + (k-2) q; over exp((a-1) eps), times 1/(p) ... in decays only:
 *   S = [1 + exp(-(2a-1) eps) + (k-2) exp(-a eps)] / (1 + (k-1) exp(-eps)). */
double brume_renyi_kary_upper(const brume_cost *cost, double alpha)
{
    double epsilon0 = cost->law.a;
    if (isinf(alpha))
        return epsilon0;
    alpha = order(alpha);
    slong bits = renyi_bits(epsilon0, alpha) + 64;
    arb_t a, e, n, s, t;
    arb_init(a), arb_init(e), arb_init(n), arb_init(s), arb_init(t);
    arb_set_d(a, alpha);
    arb_set_d(e, epsilon0);
    decay(t, a, e, bits);
    arb_mul_ui(t, t, cost->law.shift - 2, bits);
    arb_mul_2exp_si(n, a, 1);
    arb_sub_ui(n, n, 1, bits);
    decay(s, n, e, bits);
    arb_add(s, s, t, bits);
    arb_add_ui(s, s, 1, bits);
    arb_one(n);
    decay(t, n, e, bits);
    arb_mul_ui(t, t, cost->law.shift - 1, bits);
    arb_add_ui(t, t, 1, bits);
    arb_div(s, s, t, bits);
    double result = finish(s, e, a, bits);
    arb_clear(a), arb_clear(e), arb_clear(n), arb_clear(s), arb_clear(t);
    return fmin(result, epsilon0);
}

double brume_renyi_rho_upper(const brume_cost *cost, double alpha)
{
    arb_t a, r;
    if (isinf(alpha) || isinf(cost->rho))
        return INFINITY;
    arb_init(a);
    arb_init(r);
    arb_set_d(a, order(alpha));
    arb_set_d(r, cost->rho);
    arb_mul(a, a, r, BITS);
    double result = brume_ball_upper(a); /* >= alpha rho */
    arb_clear(a);
    arb_clear(r);
    return result;
}
