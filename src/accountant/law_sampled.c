/* The Poisson-subsampled Gaussian: phi by a trapezoid rule whose error is bounded.
 *
 * r(x) = 1 - q + q exp((2x-1)/(2 sigma^2)), N0 = N(0, sigma^2). A record removed: phi = int N0
 * r^{s+1}; a record added: phi = int N0 r^{-s}. The integrand is analytic for |Im x| < pi sigma^2;
 * on |Im x| = d the trapezoid rule of step h errs, relative to phi(c), by at most
 *   2 exp(d^2/(2 sigma^2) + |y| d/sigma^2) / (exp(2 pi d/h) - 1)
 * (added: d <= pi sigma^2/2 and times cos(d/(2 sigma^2))^{-c}). The range is cut where the tilted
 * tail is below 1e-18. Promise: brume_sampled_quadrature bounds both, relative to phi(c). */
#include "accountant/law.h"

#include <math.h>

enum { MOST_POINTS = 200000 };

/* log r(x) */
static long double log_ratio(const brume_law *law, long double x)
{
    long double sigma = law->a, t = (2 * x - 1) / (2 * sigma * sigma);
    if (t > 5000)
        return t + logl((long double)law->rate);
    return log1pl((long double)law->rate * expm1l(t));
}

/* In units: how far the 8 units of sigma and rate move the loss at place x (x/sigma held fixed). */
double brume_sampled_loss_error(const brume_law *law, double place)
{
    double square = law->a * law->a, t = (2 * place - 1) / (2 * square);
    double share = t > 500 ? 1 : law->rate * exp(t) / (1 - law->rate + law->rate * exp(t));
    return 16 * (share * (fabs(place) + 1) / square + fmin(1, law->rate * fabs(expm1(fmin(t, 0)))));
}

double brume_sampled_quadrature(const brume_law *law, double c, double y)
{
    double square = law->a * law->a, best = INFINITY;
    double strip = law->reversed ? 0.5 * M_PI * square : M_PI * square;
    for (int k = 1; k <= 8; k++) {
        double d = strip * (k == 8 ? 0.999 : k / 8.0);
        double log_error = d * d / (2 * square) + fabs(y) * d / square - 2 * M_PI * d / law->step +
                           log(2.1) - (law->reversed ? c * log(cos(d / (2 * square))) : 0);
        best = fmin(best, log_error);
    }
    return exp(best) + law->tail;
}

/* log of the standard normal tail Q(z), an upper bound for z > 0. */
static double log_tail(double z)
{
    return z > 1 ? -0.5 * z * z - log(z * 2.5) : -0.5 * z * z;
}

/* Relative to phi(c) >= exp(log_phi): what lies left of `low` and right of `high`. */
static double cut_tails(const brume_law *law, double c, double low, double high, double log_phi)
{
    double sigma = law->a, square = sigma * sigma, q = law->rate;
    if (!law->reversed) {
        /* left: r < 1 there once low < 0; right: r^m <= 2^m (1 + (q e^t)^m), phi >= both parts */
        double m = c + 1, left = log_tail(-low / sigma) - log_phi;
        double right = m * M_LN2 + log_tail(high / sigma);
        double tilted = m * M_LN2 + log_tail((high - m) / sigma);
        return exp(left) + exp(right) + (high > m ? exp(tilted) : 1);
    }
    /* right: r >= r(high) where x > high >= 1/2, so r^{-c} <= 1; left: -c log r grows leftwards no
     * faster than with slope S = c q e^{t(low)} / (sigma^2 (1-q)) */
    double t = (2 * low - 1) / (2 * square), slope = c * q * exp(t) / (square * (1 - q));
    double start = (double)(-c * log_ratio(law, low));
    double z = (-low - slope * square) / sigma;
    double left = start + slope * low + 0.5 * slope * slope * square + log_tail(z) - log_phi;
    return exp(log_tail(high / sigma) - log_phi) + (z > 1 ? exp(left) : 1);
}

static bool lay(brume_law *law, double c, double low, double high)
{
    double sigma = law->a, points = ceil((high - low) / law->step) + 2;
    if (!(points < MOST_POINTS) || !brume_points_allocate(&law->points, (size_t)points))
        return false;
    brume_points *p = &law->points;
    long double square = 2 * (long double)sigma * sigma;
    long double scale = logl((long double)law->step / sigma) - 0.5L * logl(2 * M_PIl);
    for (size_t j = 0; j < p->count; j++) {
        double x = low + law->step * (double)j;
        long double l = log_ratio(law, x), normal = scale - (long double)x * x / square;
        p->place[j] = x;
        p->loss[j] = (double)(law->reversed ? -l : l);
        p->log_mass[j] = (double)(law->reversed ? normal : normal + l);
    }
    p->mass_error = 8 * BRUME_UNIT;
    law->range_lower = low;
    law->range_upper = high;
    (void)c;
    return true;
}

bool brume_sampled_cover(brume_law *law, double c)
{
    double sigma = law->a, square = sigma * sigma;
    double pad = (law->reversed ? 40 : 20) / fmin(1, square);
    double step = fmin(2 * M_PI * square / (law->reach + pad), sigma / 6);
    bool fresh = !law->points.memory || step < law->step * 0.999;
    if (fresh)
        law->step = step;
    double low = -9.8 * sigma;
    double high = 9.8 * sigma + (law->reversed ? 0 : c + 1 + 1.2 * sigma * sqrt(c + 1));
    if (!fresh && cut_tails(law, c, law->range_lower, law->range_upper, 0) <= 1e-18)
        return true;
    double log_phi = 0; /* phi(c) >= 1 for c >= 0; a better bound once there is a table */
    for (int tries = 0; tries < 60; tries++) {
        if (cut_tails(law, c, low, high, log_phi) <= 1e-18)
            break;
        low -= sigma;
        if (law->reversed && low < -60 * sigma)
            return false;
    }
    if (!fresh) {
        low = fmin(low, law->range_lower);
        high = fmax(high, law->range_upper);
    } else if (!law->reversed) {
        high += 2 * c; /* the bounds of the alias terms look at up to three times c */
    }
    return lay(law, c, low, high);
}

/* The tilted density of L is at least `height` on intervals of `length`, nested: what the envelope
 * rests on. Between quadrature points the log density dips below its chord by at most step^2/8 of
 * its second derivative, which is at most (c+2)/(4 sigma^4) (added: (1-c)/(4 sigma^4)). */
void brume_sampled_layers(brume_law *law)
{
    brume_points *p = &law->points;
    double square = law->a * law->a, *density = p->wave_re; /* waves are not standing yet */
    double bend = law->reversed ? 1 - law->c : law->c + 2;
    double dip = exp(-law->step * law->step * fmax(0, bend) / (32 * square * square)) * (1 - 1e-9);
    size_t mode = 0;
    for (size_t j = 0; j < p->live; j++) {
        double t = (2 * p->spot[j] - 1) / (2 * square), e = exp(fmin(t, 600));
        double slope = law->rate * e / (square * (1 - law->rate + law->rate * e));
        density[j] = p->weight[j] / law->step / slope * dip;
        if (p->weight[j] > p->weight[mode])
            mode = j;
    }
    size_t from = mode, to = mode;
    double floor_height = INFINITY;
    for (int i = 0; i < BRUME_LAW_LAYERS; i++) {
        double threshold = density[mode] * exp(-0.5 * (i + 1));
        while (from > 0 && density[from - 1] >= threshold)
            from--;
        while (to + 1 < p->live && density[to + 1] >= threshold)
            to++;
        for (size_t j = from; j <= to; j++)
            floor_height = fmin(floor_height, density[j]);
        law->layer_height[i] = floor_height;
        law->layer_length[i] = fabs(p->atom[to] - p->atom[from]) * (1 - 1e-12);
    }
    law->wave_index = -1;
}

double brume_sampled_envelope(const brume_law *law, double low)
{
    /* |psi(y)| <= 1 - sum_i w_i |I_i| (1 - sup_{y' >= y} |sinc(y' |I_i| / 2)|) */
    double bound = 1;
    for (int i = 0; i < BRUME_LAW_LAYERS; i++) {
        double g = 0.5 * low * law->layer_length[i];
        double sinc = g < 1e-9 ? 1 : g < 2.5 ? sin(g) / g : 0.2173;
        double below = i + 1 < BRUME_LAW_LAYERS ? law->layer_height[i + 1] : 0;
        bound -= (law->layer_height[i] - below) * law->layer_length[i] * (1 - sinc);
    }
    bound += 1e-12 + brume_points_error(law, 0);
    return bound < 1 ? log(bound) : 0;
}
