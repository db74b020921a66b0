/* Renyi curves in doubles, near the truth and with no bound of their error: they choose an order,
 * at which the certified curve is then evaluated. */
#include <math.h>

#include "accountant/renyi/renyi.h"
#include "accountant/renyi/known_curves.h"

enum { MOST_ATOMS = 32, MOST_WHOLE_ORDER = 256 };

/* A part m expm1(tl) (1 - e^{-(l + tl)}) of E e^{tL} - 1 for a symmetric law; see renyi_rho.c. */
static double pair_part(double mass, double loss, double t)
{
    return mass * expm1(t * loss) * -expm1(-(loss + t * loss));
}

/* D of a symmetric law whose top atom has this mass, if its sum of parts overflowed. */
static double of_sum(double sum, double t, double largest, double top_mass)
{
    return sum < INFINITY ? log1p(sum) / t : largest + log(top_mass) / t;
}

static double response_rough(double epsilon, double k, double t)
{
    double mass = 1 / (1 + (k - 1) * exp(-epsilon));
    return of_sum(pair_part(mass, epsilon, t), t, epsilon, mass);
}

/* ((1+t) e^{te} + t e^{-(1+t)e})/(1+2t), less 1: by its series where it cancels. */
static double laplace_rough(double epsilon, double t)
{
    double sum = 0;
    if ((1 + t) * epsilon < 0.2) {
        double power = epsilon, low = 1, high = -1; /* e^n/n!, t^(n-1), (-1)^n (1+t)^(n-1) */
        for (int n = 2; n < 12; n++) {
            power *= epsilon / n;
            low *= t;
            high *= -(1 + t);
            sum += power * (low + high);
        }
        sum *= t * (1 + t);
    } else {
        sum = (1 + t) * expm1(t * epsilon) + t * expm1(-(1 + t) * epsilon);
    }
    return of_sum(sum / (1 + 2 * t), t, epsilon, (1 + t) / (1 + 2 * t));
}

/* Many atoms lie as densely as Laplace noise. */
static double discrete_laplace_rough(double a, double shift, double t)
{
    if (shift > MOST_ATOMS)
        return laplace_rough(a * shift, t);
    double all = 1 + exp(-a), step = -expm1(-a) / all, sum = 0;
    for (double x = 0; 2 * x < shift; x++)
        sum += pair_part(x > 0 ? step * exp(-a * x) : 1 / all, a * (shift - 2 * x), t);
    return of_sum(sum, t, a * shift, 1 / all);
}

/* ln sum_j C(n,j) (1-q)^{n-j} q^j e^{j(j-1)/(2 sigma^2)}, by the largest term. */
static double poisson_log_moment(double sigma, double rate, int n)
{
    double term = n * log1p(-rate), odds = log(rate) - log1p(-rate), largest = term, sum = 1;
    for (int j = 0; j < n; j++) {
        term += log((n - j) / (j + 1.0)) + odds + j / (sigma * sigma);
        if (term > largest) {
            sum = sum * exp(largest - term) + 1;
            largest = term;
        } else {
            sum += exp(term - largest);
        }
    }
    return largest + log(sum);
}

static double poisson_rough(double sigma, double rate, double alpha)
{
    double plain = alpha / (2 * sigma * sigma);
    if (rate >= 1 || alpha > MOST_WHOLE_ORDER)
        return plain;
    int below = (int)alpha;
    double low = below > 1 ? poisson_log_moment(sigma, rate, below) : 0;
    if (alpha > below)
        low += (alpha - below) * (poisson_log_moment(sigma, rate, below + 1) - low);
    return fmin(plain, low / (alpha - 1));
}

/* r^p - 1 - p (r - 1) for r = e^x, by its series where it cancels. */
static double above_tangent(double p, double x)
{
    if (fabs(x) * (1 + fabs(p)) < 1e-3)
        return p * (p - 1) * x * x / 2 * (1 + (p + 1) * x / 3);
    return expm1(p * x) - p * expm1(x);
}

/* The worst of both orders: sum Q r^p for p = alpha and 1 - alpha, where r = 1 - q + q e^l and
 * sum Q r = 1. */
static double sampled_rough(const brume_loss *law, double alpha)
{
    double shift = law->kind == BRUME_LOSS_POISSON_PURE ? 1 : (double)law->shift;
    double all = 1 + exp(-law->a), step = -expm1(-law->a) / all, removed = 0, added = 0;
    if (shift > MOST_ATOMS)
        return NAN;
    for (double x = 0; x <= shift; x++) {
        double loss = law->a * (shift - 2 * x);
        double mass = (x > 0 && x < shift ? step : 1 / all) * exp(-law->a * x - loss);
        double ratio = log1p(law->rate * expm1(loss));
        removed += mass * above_tangent(alpha, ratio);
        added += mass * above_tangent(1 - alpha, ratio);
    }
    double top = log1p(law->rate * expm1(law->a * shift)), sum = fmax(removed, added);
    if (!(sum < INFINITY)) /* the largest loss alone */
        return (alpha * top - law->a * shift - log(all)) / (alpha - 1);
    return fmin(log1p(sum) / (alpha - 1), top);
}

static double law_rough(const brume_loss *law, double alpha)
{
    double t = alpha - 1, shift = (double)law->shift;
    switch (law->kind) {
    case BRUME_LOSS_GAUSSIAN:
        return alpha * law->a * law->a / 2;
    case BRUME_LOSS_LAPLACE:
        return laplace_rough(law->a, t);
    case BRUME_LOSS_PURE:
        return response_rough(law->a, 2, t);
    case BRUME_LOSS_KARY:
        return response_rough(law->a, fmax(shift, 2), t);
    case BRUME_LOSS_DISCRETE_LAPLACE:
        return discrete_laplace_rough(law->a, shift, t);
    case BRUME_LOSS_DISCRETE_GAUSSIAN:
        return alpha * (shift / law->a) * (shift / law->a) / 2;
    case BRUME_LOSS_POISSON_GAUSSIAN:
        return poisson_rough(law->a, law->rate, alpha);
    case BRUME_LOSS_POISSON_PURE:
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
        return sampled_rough(law, alpha);
    default:
        return NAN;
    }
}

/* Is the cost's own curve nothing but its law's, its rho's or its pure epsilon's? */
static bool own_curve_is_known(const brume_cost *cost)
{
    return cost->renyi == BRUME_ABSENT || !cost->renyi_upper || cost->loss == BRUME_EXACT ||
           cost->renyi_upper == brume_renyi_pure_upper ||
           cost->renyi_upper == brume_renyi_rho_upper;
}

double brume_renyi_rough(const brume_cost *cost, double alpha)
{
    double best = INFINITY, law = INFINITY;
    if (cost->loss != BRUME_ABSENT)
        law = law_rough(&cost->law, alpha);
    if (isnan(law) || !own_curve_is_known(cost))
        return brume_renyi_upper(cost, alpha);
    best = fmin(best, law);
    if (cost->concentrated != BRUME_ABSENT)
        best = fmin(best, cost->rho * alpha);
    if (cost->pure != BRUME_ABSENT && isfinite(cost->epsilon))
        best = fmin(best, response_rough(cost->epsilon, 2, alpha - 1));
    return best;
}
