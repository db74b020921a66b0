/* The discrete Gaussian loss, in constant time per node.
 *
 * phi(s) = exp(s(s+1) D^2/(2 sigma^2)) Theta(sD)/Theta(0), Theta(z) = sum_x exp(-(x+z)^2/(2
 * sigma^2)). For sigma >= 1 the dual series 1 + 2 sum_m exp(-2 pi^2 sigma^2 m^2) cos(2 pi m z) has
 * two terms above 2^-64 once Im s is reduced to |Im s| <= pi sigma^2 / D; for smaller sigma the
 * tilted sum has at most two dozen terms. */
#include "accountant/law/law.h"

#include <math.h>

static const double unit = BRUME_UNIT;

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

long double brume_discrete_gaussian_law_cumulant(const brume_law *law, double c, double *slope,
                                                 double *error)
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

/* The same in doubles. */
double brume_discrete_gaussian_law_cumulant_rough(const brume_law *law, double c, double *slope)
{
    if (dual(law))
        return (double)brume_discrete_gaussian_law_cumulant(law, c, slope, NULL);
    double sigma = law->a, shift = law->shift, over = 0.5 / (sigma * sigma), sums[2], moment = 0;
    for (int side = 0; side < 2; side++) {
        double z = side ? 0 : c * shift, centre = round(-z);
        sums[side] = 0;
        for (int reach = series_reach(law), k = -reach; k <= reach; k++) {
            double x = centre + k + z, weight = exp(-x * x * over);
            sums[side] += weight;
            moment += side ? 0 : weight * x;
        }
    }
    double ratio = shift * shift * over;
    if (slope)
        *slope = ratio * (2 * c + 1) - 2 * over * shift * moment / sums[0];
    return ratio * c * (c + 1) + log(sums[0] / sums[1]);
}

bool brume_discrete_gaussian_law_settle(brume_law *law)
{
    law->theta[0] = (double)dual_series(law, (long double)law->c * law->shift);
    if (dual(law)) {
        double mu = law->shift / law->a;
        law->mean_size = mu * mu * law->tilt + mu;
        return true;
    }
    enum { WINDOW = 12, POINTS = 2 * WINDOW + 1 };
    brume_points *p = &law->points;
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
    law->theta[1] = law->theta[2] = 0;
    law->theta[3] = most; /* how far a weight is off, relative, before it is normalised */
    for (size_t j = 0; j + 1 < live; j++)
        law->theta[1] += p->weight[j] * p->weight[j + 1];
    for (size_t j = 0; j + 2 < live; j++)
        law->theta[2] += p->weight[j] * p->weight[j + 2];
    law->mean_size = size / sum * (1 + 1e-9);
    law->error_size = (error_size + error * size / sum) / sum;
    law->error_sum = 2 * error / sum + 1e-20;
    law->loss_error = law->mean_size * 16; /* a loss has the parameter twice */
    return true;
}

brume_log_psi brume_discrete_gaussian_law_node(const brume_law *law, double y)
{
    double sigma = law->a, shift = law->shift, mu = shift / sigma;
    double period = 2 * M_PI * sigma * sigma / shift, turns = nearbyint(y / period);
    double rest = fma(-turns, period, y); /* |Im s| reduced; its error is in `error` */
    /* moving y by its 24 units of relative error moves psi by at most that times E|L| */
    double shaken = turns == 0 ? 0 : 24 * unit * fabs(y) * law->mean_size;
    double x = law->c * shift, turn = x - nearbyint(x), v = 2 * M_PI * rest * shift;
    double exponent = -2 * M_PI * M_PI * sigma * sigma, s, c, s2, c2;
    sincos(2 * M_PI * turn, &s, &c);
    sincos(4 * M_PI * turn, &s2, &c2);
    double up = exp(exponent + v), down = exp(exponent - v); /* q e^{+-v}, both <= about 1 */
    double up2 = exp(4 * exponent + 2 * v), down2 = exp(4 * exponent - 2 * v);
    double re = 1 + c * (up + down) + c2 * (up2 + down2);
    double im = -s * (up - down) - s2 * (up2 - down2);
    double error = unit * ((up + down) * (40 + 40 * fabs(exponent) + 8 * fabs(x)) + 8);
    brume_log_psi out = brume_log_psi_of((re - law->theta[0]) / law->theta[0], im / law->theta[0],
                                         error / law->theta[0] + shaken);
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
    double step = law->shift / (law->a * law->a);
    double near = brume_smallest_sine_square(0.5 * low * step, 0.5 * high * step);
    double next = brume_smallest_sine_square(low * step, high * step);
    /* two weights, each off by theta[3] and their sum by as much; the step by 20 units and y by 12,
     * which the sines leave room for */
    double kept = 1 - 8 * law->theta[3] - 1e-9;
    double lost = 4 * kept * (law->theta[1] * near + law->theta[2] * next);
    return lost > 0 ? 0.5 * log1p(-fmin(lost, 1 - 1e-12)) : 0;
}

double brume_discrete_gaussian_law_envelope(brume_law *law, double low, double high)
{
    if (!dual(law)) {
        double pairs = pairs_envelope(law, low, high);
        return pairs < -1 ? pairs : fmin(pairs, brume_points_band(law, low, high));
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
    double bound = sum / law->theta[0] * (1 + 1e-9) + 1e-300;
    return bound < 1 ? log(bound) : 0;
}
