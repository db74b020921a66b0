/* Where to start a search: the saddle point and moments. Promise: what is called an upper or a
 * lower end is a certified bound, rounded to the safe side; all else is an estimate. */

#include <math.h>

#include "accountant/contour/line.h"

static const double unit = BRUME_UNIT;

/* The Chernoff epsilon at delta, min over c of [K(c) - log delta + c log c - (c+1) log(c+1)]/c: a
 * place to start, and, carefully evaluated at the best c, an upper end. */
double brume_chernoff_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                              double *upper, double *best_place)
{
    double best = INFINITY, place = 1, log_delta = log(delta);
    /* the function of c has one minimum: c in steps of 16 first, then of 2 around the best */
    for (int round = 0; round < 2; round++) {
        double middle = log2(place), from = round ? middle - 3 : -40, to = round ? middle + 3 : 43;
        for (double power = from; power <= to; power += round ? 1 : 4) {
            double c = exp2(power), k = brume_cumulant_rough(laws, count, c, NULL);
            double value = (k - log_delta + c * log(c / (c + 1)) - log1p(c)) / c;
            if (value < best) {
                best = value;
                place = c;
            } else if (power > 0 && round == 0 && best < INFINITY) {
                break;
            }
        }
    }
    double error;
    long double k = brume_cumulant(laws, count, place, NULL, &error);
    double rest = -log(delta) + place * log(place / (place + 1)) - log1p(place);
    double slack = error + delta_error + 1e-14 * (1 + (double)fabsl(k) + fabs(rest) + place);
    double end = (double)(k + rest + slack) / place * (1 + 4 * unit);
    *upper = end >= 0 ? end : end < 0 ? 0 : INFINITY; /* not a number: nothing is certified */
    *best_place = place;
    return best;
}

/* The log of Chernoff's bound of delta at epsilon by the moment of order c, without log phi(c). */
static double chernoff_rest(double c, double epsilon)
{
    return -c * epsilon + c * log(c / (c + 1)) - log1p(c);
}

/* An upper bound of log delta(epsilon) by the moment of order c > 0. */
static double moment_log_delta(brume_law *laws, size_t count, double epsilon, double c)
{
    double error, rest = chernoff_rest(c, epsilon);
    long double k = brume_cumulant(laws, count, c, NULL, &error);
    double slack = error + 1e-14 * (1 + (double)fabsl(k) + c * (1 + fabs(epsilon)));
    double bound = (double)k + rest + slack;
    return isnan(bound) ? INFINITY : bound; /* not a number: nothing is certified */
}

bool brume_moments_below(brume_law *laws, size_t count, double epsilon, double target)
{
    double goal = log(target), c = 1, factor = 2, best = INFINITY;
    goal -= 1e-12 * (1 + fabs(goal)); /* down, for certain */
    /* the function of c has one minimum: double c while it falls, or halve it */
    for (int i = 0; i < 40; i++, c *= factor) {
        double value = brume_cumulant_rough(laws, count, c, NULL) + chernoff_rest(c, epsilon);
        if (value < goal && moment_log_delta(laws, count, epsilon, c) < goal)
            return true;
        if (!(value < best)) {
            if (i != 1)
                return false;
            factor = 0.5;
            c = 1;
            continue;
        }
        best = value;
    }
    return false;
}

/* The saddle point of k(c) = K(c) - log c(c+1): log delta is near k - c eps - log(2 pi k'')/2 at
 * eps = k'(c). Returns that, and eps. */
static double saddle_log_delta(brume_law *laws, size_t count, double c, double *epsilon)
{
    double slope, above, below, step = 0.02 * c;
    double k = brume_cumulant_rough(laws, count, c, &slope);
    brume_cumulant_rough(laws, count, c + step, &above);
    brume_cumulant_rough(laws, count, c - step, &below);
    double bend = fmax((above - below) / (2 * step), 0) + 1 / (c * c) + 1 / ((c + 1) * (c + 1));
    *epsilon = slope - 1 / c - 1 / (c + 1);
    return k - log(c) - log1p(c) - c * *epsilon - 0.5 * log(2 * M_PI * bend);
}

double brume_saddle_delta(brume_law *laws, size_t count, double epsilon)
{
    double top, log_mass, near;
    if (brume_top_atom(laws, count, &top, &log_mass) && epsilon >= top)
        return 0;
    double c = brume_saddle(laws, count, epsilon);
    double log_delta = saddle_log_delta(laws, count, c, &near);
    return fmin(exp(log_delta - c * (epsilon - near)), 1);
}

/* The epsilon at which the saddle point says delta, to some hundredths of a standard deviation: a
 * place to start. NAN where it says nothing. */
double brume_saddle_epsilon(brume_law *laws, size_t count, double log_delta, double c)
{
    double epsilon = NAN, last = NAN, last_excess = NAN;
    double at = log(c);
    for (int i = 0; i < 12; i++) {
        double excess = saddle_log_delta(laws, count, exp(at), &epsilon) - log_delta;
        if (!isfinite(excess) || fabs(excess) < 0.02)
            break;
        double slope = i ? (excess - last_excess) / (at - last) : -2 * fmax(-log_delta, 1);
        last = at;
        last_excess = excess;
        at -= slope < 0 ? fmin(fmax(excess / slope, -1), 1) : -0.5 * copysign(1, excess);
        if (!(fabs(at) < 28))
            return NAN;
    }
    return epsilon;
}

/* For very many draws: L is within its mean m and deviation d, so by Cantelli P(L >= m - d) >= 1/2,
 * and delta(m - d - 1) >= (1 - 1/e)/2 > 0.3. Returns m - d - 1, rounded down; -infinity if a law is
 * of another kind. */
double brume_mean_epsilon(const brume_law *laws, size_t count)
{
    long double mean = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        long double a = laws[i].a, one;
        switch (laws[i].source.kind) {
        case BRUME_LOSS_LAPLACE:
            one = a < 0.1L ? a * a / 2 * (1 - a / 3) : a + expm1l(-a); /* of e - 1 + e^-e, below */
            break;
        case BRUME_LOSS_PURE:
            one = a * tanhl(a / 2);
            break;
        default:
            return -INFINITY;
        }
        /* |L| <= a; the parameter enters at most twice, the count may be rounded: 20 units */
        mean += laws[i].count * one * (1 - 20 * (long double)unit);
        square += laws[i].count * a * a * (1 + 20 * (long double)unit);
    }
    return (double)(mean - sqrtl(square) - 1) * (1 - (double)(count + 4) * unit);
}
