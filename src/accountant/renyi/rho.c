/* The least rho of a curve. Promise: an upper bound of D_alpha/alpha over all alpha > 1, at most
 * 2e-4 above it. */
#include "accountant/renyi/known_curves.h"

#include <math.h>
#include <stddef.h>

/* The curve of k-ary randomized response and of discrete Laplace of a small shift in doubles,
 * rounded up; infinite where they do not reach. These laws are symmetric: an atom m at l > 0 has an
 * atom m e^-l at -l, so with t = alpha - 1
 *   E e^{tL} - 1 = sum over l > 0 of m expm1(tl) (1 - e^{-(l + tl)}),
 * a sum of positive terms in which nothing cancels, and D = log1p(that)/t. A mass takes at most 15
 * units of 2^-53 and its exponent's size in them, l and t l one and two, expm1 4 (libm) and its
 * argument's times 1 + t l, the other factor 4 and 3, products 2, the sum one a term; log1p does
 * not make a relative error larger, and takes 4, the quotient 1. proofs/accountant/renyi.md,
 * section renyi.1.
 */
static double quick_upper(const brume_cost *cost, double t)
{
    double a = cost->law.a, sum = 0, shift = 1, largest = a;
    if (!(a > 1e-100))
        return INFINITY;
    if (cost->law.kind == BRUME_LOSS_KARY) {
        double mass = 1 / (1 + ((double)cost->law.shift - 1) * exp(-a));
        sum = mass * expm1(t * a) * -expm1(-(a + t * a));
    } else if (cost->law.kind == BRUME_LOSS_DISCRETE_LAPLACE && cost->law.shift <= 64) {
        shift = (double)cost->law.shift;
        largest = a * shift;
        double all = 1 + exp(-a), step = -expm1(-a) / all;
        for (double x = 0; 2 * x < shift; x++) { /* x = 0: the whole tail */
            double loss = a * (shift - 2 * x), mass = x > 0 ? step * exp(-a * x) : 1 / all;
            sum += mass * expm1(t * loss) * -expm1(-(loss + t * loss));
        }
    }
    if (!(sum > 1e-280 && largest * (1 + t) < 600))
        return INFINITY; /* no such law, or out of the range of doubles */
    double units = 40 + shift + 2 * largest * (1 + t);
    return log1p(sum) / t * (1 + units * 0x1p-53) * (1 + 0x1p-52); /* up */
}

static double divergence_upper(const brume_cost *cost, double t)
{
    double quick = quick_upper(cost, t);
    return quick < INFINITY ? fmin(quick, cost->epsilon) : cost->renyi_upper(cost, 1 + t);
}

/* A point of the curve: t = alpha - 1 and D_alpha, rounded up. */
typedef struct order_point {
    double less, divergence;
} order_point;

/* psi(t) = t D is convex (a log-moment), so between two orders it lies under its chord A t + B; the
 * largest (A t + B)/(t (1+t)) there is at an end or where A t^2 = -B (2t+1). */
static double chord_rho(order_point low, order_point high)
{
    double low_psi = low.less * low.divergence, high_psi = high.less * high.divergence;
    double a = (high_psi - low_psi) / (high.less - low.less), b = low_psi - a * low.less;
    double result = fmax(low.divergence / (1 + low.less), high.divergence / (1 + high.less));
    if (b < 0 && a > 0) {
        double t = (-b + sqrt(-b * (a - b))) / a;
        if (t > low.less && t < high.less)
            result = fmax(result, (a * t + b) / (t * (1 + t)));
    } else if (b > 0) { /* falls with t: largest at the lower end, which is the chord's value */
        result = fmax(result, low.divergence / (1 + low.less));
    }
    return result * (1 + 1e-9); /* more than the roundings of these few operations */
}

double brume_rho_of_renyi_upper(const brume_cost *cost)
{
    enum { MOST = 64 };
    const double tolerance = 1e-4;
    order_point stack[MOST], low = {0x1p-14, divergence_upper(cost, 0x1p-14)};
    /* up to the first order D grows to low.divergence, and alpha >= 1 */
    double result = low.divergence;
    double target = result;
    /* beyond epsilon/target: D_alpha/alpha <= epsilon/alpha <= target */
    while (cost->epsilon / (1 + low.less) > target) {
        size_t count = 1;
        double less = 2 * low.less;
        stack[0] = (order_point){less, divergence_upper(cost, less)};
        while (count > 0) {
            order_point high = stack[count - 1];
            target = fmax(target, high.divergence / (1 + high.less));
            double bound = chord_rho(low, high);
            if (bound <= target * (1 + tolerance) || count == MOST) {
                result = fmax(result, bound);
                low = high;
                count--;
            } else {
                double middle = low.less + (high.less - low.less) / 2;
                stack[count++] = (order_point){middle, divergence_upper(cost, middle)};
            }
        }
    }
    return fmin(fmax(result, target), cost->rho);
}
