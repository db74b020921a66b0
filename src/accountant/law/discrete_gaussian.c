/* The discrete Gaussian loss, in constant time per node.
 *
 * phi(s) = exp(s(s+1) D^2/(2 sigma^2)) Theta(sD)/Theta(0), Theta(z) = sum_x exp(-(x+z)^2/(2
 * sigma^2)). For sigma >= 1 the dual series 1 + 2 sum_m exp(-2 pi^2 sigma^2 m^2) cos(2 pi m z) has
 * two terms above 2^-64 once Im s is reduced to |Im s| <= pi sigma^2 / D; for smaller sigma the
 * tilted sum has at most two dozen terms. */
#include "accountant/law/family.h"
#include "accountant/law/points.h"

#include <stdlib.h>

static const double unit = BRUME_UNIT;

typedef struct theta_line {
    double normal;    /* of sigma >= 1: the dual series at cD */
    double mean_size; /* of sigma >= 1: a bound of E|L| */
    /* of sigma < 1: */
    brume_points points;
    double neighbours, seconds; /* sums of w_j w_{j+1} and of w_j w_{j+2} */
    double weight_error;        /* how far a weight is off, relative, before it is normalised */
} theta_line;

static bool dual(const brume_law *law)
{
    return law->a >= 1;
}

/* 1 + 2 sum_m exp(-2 pi^2 sigma^2 m^2) cos(2 pi m x), sigma >= 1 */
static long double dual_series(const brume_law *law, long double x)
{
    long double q = expl(-2 * M_PIl * M_PIl * (long double)law->a * law->a);
    x -= roundl(x);
    return 1 + 2 * q * cosl(2 * M_PIl * x) + 2 * q * q * q * q * cosl(4 * M_PIl * x);
}

/* How far from its centre the series of sigma < 1 counts: (9.6 sigma)^2/(2 sigma^2) > 46, so that
 * what is left out is below 2^-66 of the sum. */
static int series_reach(const brume_law *law)
{
    return (int)ceil(9.6 * law->a + 0.5);
}

/* log of sum_x exp(-(x+z)^2/(2 sigma^2)), sigma < 1, and the mean of x + z */
static long double direct_series(const brume_law *law, long double z, long double *mean)
{
    long double centre = roundl(-z), sum = 0, moment = 0;
    for (int reach = series_reach(law), k = -reach; k <= reach; k++) {
        long double x = centre + k + z, weight = expl(-x * x / (2 * (long double)law->a * law->a));
        sum += weight;
        moment += weight * x;
    }
    if (mean)
        *mean = moment / sum;
    return logl(sum);
}

static long double cumulant(brume_law *law, double c, double *slope, double *error)
{
    long double sigma = law->a, shift = law->shift, ratio = shift * shift / (2 * sigma * sigma);
    long double gauss = ratio * c * (c + 1.0L), value, mean = 0;
    if (dual(law)) {
        long double q = expl(-2 * M_PIl * M_PIl * sigma * sigma);
        long double at_zero = 1 + 2 * q + 2 * q * q * q * q;
        value = gauss + log1pl((dual_series(law, c * shift) - at_zero) / at_zero);
    } else {
        value = gauss + direct_series(law, c * shift, &mean) - direct_series(law, 0, NULL);
    }
    if (slope) /* d/dc of c(c+1) ratio + log Theta(cD): -D E[x + z]/sigma^2 in the direct form */
        *slope = (double)(ratio * (2 * c + 1.0L) - shift * mean / (sigma * sigma));
    if (error) { /* sigma by 8 units: twice the Gaussian part, and the theta part by its size */
        double theta = dual(law) ? 200 * exp(-19.7 * law->a * law->a)
                                 : 40 + 40 / (law->a * law->a); /* |d log Theta/d log sigma| */
        *error = unit * (double)(20 * gauss + 0.01L * fabsl(value) + 0.02L) +
                 unit * theta * fmin(1, c * law->shift * 7) +
                 unit * (double)(c * shift) * 0.01 * (dual(law) ? theta : 1 / (law->a * law->a));
    }
    return value;
}

static bool settle(brume_law *law)
{
    theta_line *line = law->state;
    line->normal = (double)dual_series(law, (long double)law->c * law->shift);
    if (dual(law)) {
        double mu = law->shift / law->a;
        line->mean_size = mu * mu * law->tilt + mu;
        return true;
    }
    enum { WINDOW = 12, POINTS = 2 * WINDOW + 1 };
    brume_points *p = &line->points;
    if (!p->memory && !brume_points_allocate(p, POINTS))
        return false;
    /* exp(c l_x) P(x) is proportional to exp(-(x + cD)^2/(2 sigma^2)): outside the window it is
     * below exp(-60) for sigma < 1 */
    long double sigma = law->a, shift = law->shift, z = law->c * shift, centre = roundl(-z);
    double sum = 0, size = 0, error = 0, error_size = 0, most = 0;
    size_t live = 0;
    for (int k = -WINDOW; k <= WINDOW; k++) {
        long double x = centre + k, gap = x + z;
        double exponent = (double)(-gap * gap / (2 * sigma * sigma));
        if (exponent < -60)
            continue;
        double weight = exp(exponent);
        p->atom[live] = (double)((shift * shift - 2 * x * shift) / (2 * sigma * sigma));
        p->weight[live] = weight;
        p->spot[live] = 0;
        double deviation = unit * (20 * fabs(exponent) + 8 + 0.01 * (double)fabsl(z));
        sum += weight;
        most = fmax(most, deviation);
        size += weight * fabs(p->atom[live]);
        error += weight * deviation;
        error_size += weight * deviation * fabs(p->atom[live]);
        live++;
    }
    for (size_t j = 0; j < live; j++)
        p->weight[j] /= sum;
    p->live = live;
    /* w_j w_{j+1} and w_j w_{j+2} summed: atoms come in the order of x */
    line->neighbours = line->seconds = 0;
    line->weight_error = most;
    for (size_t j = 0; j + 1 < live; j++)
        line->neighbours += p->weight[j] * p->weight[j + 1];
    for (size_t j = 0; j + 2 < live; j++)
        line->seconds += p->weight[j] * p->weight[j + 2];
    p->mean_size = size / sum * (1 + 1e-9);
    p->error_size = (error_size + error * size / sum) / sum;
    p->error_sum = 2 * error / sum + 1e-20;
    p->loss_error = p->mean_size * 16; /* a loss has the parameter twice */
    brume_points_restart(p);
    return true;
}

static brume_log_psi node(brume_law *law, long index, double h)
{
    theta_line *line = law->state;
    double y = (double)index * h;
    if (!dual(law))
        return brume_points_node(&line->points, index, h);
    double sigma = law->a, shift = law->shift, mu = shift / sigma;
    double period = 2 * M_PI * sigma * sigma / shift, turns = nearbyint(y / period);
    double rest = fma(-turns, period, y); /* |Im s| reduced; its error is in `error` */
    /* moving y by its 24 units of relative error moves psi by at most that times E|L| */
    double shaken = turns == 0 ? 0 : 24 * unit * fabs(y) * line->mean_size;
    double x = law->c * shift, turn = x - nearbyint(x), v = 2 * M_PI * rest * shift;
    double exponent = -2 * M_PI * M_PI * sigma * sigma, s, c, s2, c2;
    sincos(2 * M_PI * turn, &s, &c);
    sincos(4 * M_PI * turn, &s2, &c2);
    double up = exp(exponent + v), down = exp(exponent - v); /* q e^{+-v}, both <= about 1 */
    double up2 = exp(4 * exponent + 2 * v), down2 = exp(4 * exponent - 2 * v);
    double re = 1 + c * (up + down) + c2 * (up2 + down2);
    double im = -s * (up - down) - s2 * (up2 - down2);
    double error = unit * ((up + down) * (40 + 40 * fabs(exponent) + 8 * fabs(x)) + 8);
    brume_log_psi out = brume_log_psi_of((re - line->normal) / line->normal, im / line->normal,
                                         error / line->normal + shaken);
    double flat = -0.5 * (mu * rest) * (mu * rest), phase = mu * mu * law->tilt * rest;
    out.re += flat;
    out.im += phase + (fmod(fabs(turns) * shift, 2) != 0 ? M_PI : 0);
    out.error += 32 * unit * (fabs(flat) + fabs(phase)) + 2 * unit * M_PI;
    out.ceiling = fmin(0, out.ceiling + flat * (1 - 64 * unit) + shaken * 2);
    if (!(out.error <= 0.15))
        out.error = 1;
    if (turns != 0) { /* a ceiling that does not trust the reduction */
        double bound = exp(out.re) + shaken + unit * 64;
        out.ceiling = bound < 1 ? log(bound) + out.error : 0;
    }
    return out;
}

/* sigma < 1: |psi|^2 = 1 - sum over pairs of 2 w_i w_j (1 - cos y(l_i - l_j)), of which neighbours
 * and those at two steps are counted. */
static double pairs_envelope(const brume_law *law, double low, double high)
{
    const theta_line *line = law->state;
    double step = law->shift / (law->a * law->a);
    double near = brume_smallest_sine_square(0.5 * low * step, 0.5 * high * step);
    double next = brume_smallest_sine_square(low * step, high * step);
    /* two weights, each off by weight_error and their sum by as much; the step by 20 units and y by
     * 12, which the sines leave room for */
    double kept = 1 - 8 * line->weight_error - 1e-9;
    double lost = 4 * kept * (line->neighbours * near + line->seconds * next);
    return lost > 0 ? 0.5 * log1p(-fmin(lost, 1 - 1e-12)) : 0;
}

static double envelope(brume_law *law, double low, double high)
{
    theta_line *line = law->state;
    if (!dual(law)) {
        double pairs = pairs_envelope(law, low, high);
        return pairs < -1 ? pairs : fmin(pairs, brume_points_envelope(&line->points, low, high));
    }
    /* |psi(y)| <= S(distance of y from the periods) / theta(0), S(d) = sum_m g(d + mT) decreasing
     * on [0, T/2], g(y) = exp(-mu^2 y^2/2), g(T/2) = exp(-pi^2 sigma^2/2) */
    double sigma = law->a, mu = law->shift / sigma, period = 2 * M_PI * sigma * sigma / law->shift;
    if (!(high < 1e12 * period) || high - low >= period)
        return 0;
    double turns = floor(low / period), left = low - turns * period, right = high - turns * period;
    if (left <= 0 || right >= period)
        return 0;
    double distance = fmin(left, period - right) - 1e-12 * high;
    if (distance <= 0)
        return 0;
    double sum = 0;
    for (int m = -3; m <= 3; m++) {
        double y = mu * (distance + m * period);
        sum += exp(-0.5 * y * y);
    }
    double bound = sum / line->normal * (1 + 1e-9) + 1e-300;
    return bound < 1 ? log(bound) : 0;
}

/* One draw, or all: n draws are one of n sigma^2, but for a ripple. */
/* Nearly all draws of a narrow law are 0, whose mass is nearly exact. What grows with x^2 counts
 * for all draws together: proofs/accountant/exact.md, section exact.3. */
static void share_errors(const brume_law *law, double depth, brume_masses *c)
{
    double square = law->a * law->a, own = 0, reach = 0.5 * (double)(c->count - 1);
    for (size_t j = 0; j < c->count; j++) {
        double x = (double)j - reach;
        own += c->mass[j] * x * x / (2 * square);
    }
    double tails = 2.2 * law->count * exp(-1 / (4 * square));
    c->error = unit * ((double)c->count + 2 + 23 * own) + c->missed;
    c->shared = 44 * unit * (depth + 60 + tails) + unit;
}

static bool masses(const brume_law *law, double depth, brume_masses *out)
{
    const size_t most_masses = 40000;
    double draws = law->a >= 2.2 ? law->count : 1;
    /* x from -R to R: beyond, at most e^{-depth} on each side */
    double square = draws * law->a * law->a, normal = 0;
    double reach = ceil(sqrt(2 * square * depth)) + 1;
    if (law->a < 0.5) /* beyond, each mass is less than e^-6 of the one before */
        reach = floor(sqrt(2 * square * depth));
    brume_masses c = {.error = 24 * unit, .draws = draws};
    if (!(2 * reach + 1 <= (double)most_masses))
        return false;
    c.count = 2 * (size_t)reach + 1;
    c.half = 0.5 * law->shift * draws + reach;
    c.mass = malloc(c.count * sizeof *c.mass);
    if (!c.mass)
        return false;
    for (size_t j = 0; j < c.count; j++) {
        double x = (double)j - reach;
        normal += c.mass[j] = exp(-x * x / (2 * square));
    }
    for (size_t j = 0; j < c.count; j++)
        c.mass[j] /= normal; /* of all: short by 2 e^{-depth}, which is missed */
    c.missed = 2.01 * exp(-depth);
    /* the sum: the terms' own errors, and one unit each for the last places; log masses: 20 units
     * of themselves, see points.c; every draw after the first ripples by 4.3 e^{-pi^2 sigma^2}
     */
    double deepest = reach * reach / (2 * square);
    c.error += 2 * unit * (double)c.count + 20 * unit * deepest + c.missed;
    if (law->a < 0.5 && law->count * c.error < 1)
        share_errors(law, depth, &c);
    if (draws > 1)
        c.error += 4.5 * draws * exp(-M_PI * M_PI * law->a * law->a);
    if (!(deepest < 600)) {
        free(c.mass);
        return false;
    }
    *out = c;
    return true;
}

static void close_points(brume_law *law)
{
    theta_line *line = law->state;
    brume_points_close(&line->points);
}

static const brume_law_family family = {.name = "discrete Gaussian",
                                        .cumulant = cumulant,
                                        .settle = settle,
                                        .node = node,
                                        .envelope = envelope,
                                        .masses = masses,
                                        .close = close_points};

brume_status brume_discrete_gaussian_open(brume_law *law, brume_error *error)
{
    law->family = &family;
    law->unit = law->shift / (law->a * law->a);
    law->half = fmod(law->shift, 2) != 0;
    return brume_law_allocate(law, sizeof(theta_line), error);
}
