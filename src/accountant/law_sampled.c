/* The Poisson-subsampled Gaussian: phi by trapezoid rules whose errors are bounded.
 *
 * r(x) = 1 - q + q exp((2x-1)/(2 sigma^2)), N0 = N(0, sigma^2). A record removed: phi = int N0
 * r^{s+1}; a record added: phi = int N0 r^{-s}. The integrand is analytic for |Im x| < pi sigma^2.
 *
 * On the real line there is phi(c). For phi(c + iy) the line is moved to Im x = d (added: -d),
 * where |r^{iy}| = exp(-y arg r) does not oscillate but decays: one table serves every y. The
 * integrand is analytic for 0 < Im x < 2d; on Im x = 0 and 2d its modulus integrates to at most
 * phi(c) times 1 and exp((2d)^2/(2 sigma^2)) (added: times cos(d/sigma^2)^{-c}), so that the rule
 * of step h errs, relative to phi(c), by at most (1 + that)/(exp(2 pi d/h) - 1).
 * The range is cut where the tilted tail is below 1e-18. */
#include "accountant/law.h"

#include <math.h>

static const double unit = BRUME_UNIT;
static const double exponent_goal = 42; /* exp(-42) is what a quadrature may miss */
static const double most_growth = 4.5;  /* log of how far the integrand may grow within the strip */
enum { MOST_POINTS = 100000 };

/* log r(x), real */
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
    double lost = -law->rate * expm1(fmin(t, 0)); /* r = 1 - lost: the rate moves log r by lost/r */
    return 16 * (share * (fabs(place) + 1) / square + lost / (1 - lost));
}

/* The log of exp(d^2/(2 sigma^2)), and added: of cos(d/(2 sigma^2))^{-c}, is about this times d^2.
 */
static double strip_bend(const brume_law *law, double c)
{
    double square = law->a * law->a;
    return (0.5 + (law->reversed ? c / (8 * square) : 0)) / square;
}

/* A strip 0 < Im x < height in which r has no zero and nothing grows by much more than
 * exp(most_growth): the moved line's weights sum to its fourth root, as much cancels there. */
static double strip_height(const brume_law *law, double c)
{
    double square = law->a * law->a, height = sqrt(most_growth / strip_bend(law, c));
    return fmin(height, (law->reversed ? 0.6 : 0.97) * M_PI * square);
}

/* exp(d^2/(2 sigma^2)), and added: cos(d/(2 sigma^2))^{-c} */
static double strip_growth(const brume_law *law, double c, double d)
{
    double square = law->a * law->a, growth = exp(d * d / (2 * square));
    return law->reversed ? growth * pow(cos(d / (2 * square)), -c) * (1 + 1e-9) : growth;
}

/* The step of a rule that a strip of `height` to either side makes exact to exp(-exponent_goal). */
static double strip_step(const brume_law *law, double c, double height, double width)
{
    return 2 * M_PI * height / (exponent_goal + log1p(strip_growth(law, c, width)));
}

double brume_sampled_real_error(const brume_law *law, double c)
{
    double d = strip_height(law, c);
    return 2 * strip_growth(law, c, d) / expm1(2 * M_PI * d / law->step) * 1.01 + 2e-18;
}

/* log of the standard normal tail Q(z), an upper bound for z > 0. */
static double log_tail(double z)
{
    return z > 1 ? -0.5 * z * z - log(z * 2.5) : -0.5 * z * z;
}

/* q e^t/(1 - q + q e^t): sigma^2 times the slope of log r, which grows with x, up to 1. */
static double slope_share(const brume_law *law, double x)
{
    double tilted = law->rate * exp(fmin((2 * x - 1) / (2 * law->a * law->a), 600));
    return fmin(tilted / (1 - law->rate + tilted) * (1 + 1e-12), 1);
}

/* A bound of the integral of N0 e^{start + slope |x - at|} over all x beyond at, |at| from 0. */
static double sloping_tail(const brume_law *law, double at, double start, double slope)
{
    double sigma = law->a, z = at / sigma - slope * sigma;
    return z > 1 ? exp(start - slope * at + 0.5 * slope * slope * sigma * sigma + log_tail(z)) : 1;
}

/* Relative to phi(c) >= 1: what lies left of `low` < 0. Removed: r < 1 there. Added: -c log r grows
 * leftwards no faster than at `low`. */
static double left_tail(const brume_law *law, double c, double low)
{
    if (!law->reversed)
        return exp(log_tail(-low / law->a));
    double start = (double)(-c * log_ratio(law, low));
    return sloping_tail(law, -low, start, c * slope_share(law, low) / (law->a * law->a));
}

/* What lies right of `high` > 1/2. Added: r > 1 there. Removed, in pieces: up to the end of one
 * (c+1) log r grows no faster than there, beyond the last no faster than (c+1)/sigma^2. */
static double right_tail(const brume_law *law, double c, double high)
{
    double sigma = law->a, square = sigma * sigma, m = c + 1, sum = 0;
    if (law->reversed)
        return exp(log_tail(high / sigma));
    for (double x = high; sum < 1;) {
        double next = 1.5 * x, start = m * (double)log_ratio(law, x);
        bool last = x > m + 12 * sigma;
        sum += sloping_tail(law, x, start, last ? m / square : m * slope_share(law, next) / square);
        if (last)
            break;
        x = next;
    }
    return sum;
}

bool brume_sampled_cover(brume_law *law, double c)
{
    if (law->points.memory && c <= law->covered)
        return true;
    double most = law->points.memory ? 4 * c : fmax(2 * c, 4), sigma = law->a;
    double low = -9.8 * sigma, high = fmax(9.8 * sigma, 1), step = 0.5 * sigma;
    for (int tries = 0; left_tail(law, most, low) > 5e-19; tries++, step *= 1.1) {
        low -= step;
        if (tries > 100)
            return false;
    }
    step = 0.5 * sigma;
    for (int tries = 0; right_tail(law, most, high) > 5e-19; tries++, step *= 1.1) {
        high += step;
        if (tries > 100)
            return false;
    }
    double strip = strip_height(law, most);
    law->step = strip_step(law, most, strip, strip);
    double points = ceil((high - low) / law->step) + 2;
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
    p->mass_error = 8 * unit;
    law->range_lower = low;
    law->range_upper = high;
    law->covered = most;
    return true;
}

/* The tilted density of L is at least `height` on intervals of `length`, nested. Between points the
 * log density dips below its chord by at most step^2/8 of its second derivative, which is at most
 * (c+2)/(4 sigma^4) (added: (1-c)/(4 sigma^4)). */
static void build_layers(brume_law *law)
{
    brume_points *p = &law->points;
    double square = law->a * law->a, *density = p->wave_re; /* the real table has no waves */
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
    double least = INFINITY;
    for (int i = 0; i < BRUME_LAW_LAYERS; i++) {
        double threshold = density[mode] * exp(-0.5 * (i + 1));
        while (from > 0 && density[from - 1] >= threshold)
            from--;
        while (to + 1 < p->live && density[to + 1] >= threshold)
            to++;
        for (size_t j = from; j <= to; j++)
            least = fmin(least, density[j]);
        law->layer_height[i] = least;
        law->layer_length[i] = fabs(p->atom[to] - p->atom[from]) * (1 - 1e-12);
    }
}

/* No table reaches this line: nothing is claimed of psi but |psi| <= 1. */
static void claim_nothing(brume_law *law)
{
    law->shift_error = 2; /* |psi - 1| is not above it */
    law->shifted.live = 0;
}

/* The table on the moved line: atom + i spot = lambda_j with Im lambda >= 0, weights in
 * loss + i log_mass (they are complex), psi(y) = sum w_j exp(i y lambda_j). */
static bool build_shifted(brume_law *law)
{
    double sigma = law->a, square = sigma * sigma, c = law->c, q = law->rate;
    double height = 0.5 * strip_height(law, c), angle = height / square;
    double step = strip_step(law, c, height, 2 * height);
    /* only where the real tilted weights are alive */
    const brume_points *real = &law->points;
    double low = real->spot[0] - 2 * law->step, high = real->spot[real->live - 1] + 2 * law->step;
    double points = ceil((high - low) / step) + 1;
    if (!(points < MOST_POINTS)) {
        claim_nothing(law);
        return true;
    }
    if (!brume_points_allocate(&law->shifted, (size_t)points))
        return false;
    brume_points *p = &law->shifted;
    double cosine = cos(angle), sine = sin(angle), power = law->reversed ? -c : c + 1;
    double sum_re = 0, sum_im = 0, top = -INFINITY;
    for (size_t j = 0; j < p->count; j++) {
        double x = low + step * (double)j, t = fmin((2 * x - 1) / (2 * square), 600);
        /* r = 1 + z; its real part is a sum of positive terms, the angle being below pi/2 */
        double z_re = q * (expm1(t) * cosine - 2 * sin(0.5 * angle) * sin(0.5 * angle));
        double z_im = q * exp(t) * sine, r_re = 1 - q + q * exp(t) * cosine;
        double square_less = 2 * z_re + z_re * z_re + z_im * z_im; /* |r|^2 - 1 */
        double log_re = 0.5 *
                        (square_less < -0.5 ? log(r_re * r_re + z_im * z_im) : log1p(square_less));
        double log_im = atan2(z_im, r_re);
        p->atom[j] = law->reversed ? -log_re : log_re;
        p->spot[j] = log_im;
        p->place[j] = x;
        /* log of N0(x + id) r^power; added: at x - id, everything conjugate */
        p->weight[j] = -x * x / (2 * square) + power * log_re;
        p->wave_im[j] = (law->reversed ? -1 : 1) * (-x * angle + power * log_im);
        top = fmax(top, p->weight[j]);
    }
    for (size_t j = 0; j < p->count; j++) {
        double s, co, modulus = exp(p->weight[j] - top);
        sincos(p->wave_im[j], &s, &co);
        p->loss[j] = modulus * co;
        p->log_mass[j] = modulus * s;
        sum_re += p->loss[j];
        sum_im += p->log_mass[j];
    }
    double norm = sum_re * sum_re + sum_im * sum_im;
    law->shift_size = law->shift_moment = law->shift_deviation = law->shift_spread = 0;
    law->loss_error = 0;
    for (size_t j = 0; j < p->count; j++) {
        double re = p->loss[j], im = p->log_mass[j], log_size = p->weight[j];
        p->loss[j] = (re * sum_re + im * sum_im) / norm;
        p->log_mass[j] = (im * sum_re - re * sum_im) / norm;
        double size = hypot(p->loss[j], p->log_mass[j]), reach = hypot(p->atom[j], p->spot[j]);
        double moved = brume_sampled_loss_error(law, p->place[j]);
        /* exponent and angle by their sizes, the logs by 24 units, the parameters through r */
        double deviation = unit * (4 * fabs(log_size) + 4 * fabs(top) + 4 * fabs(p->wave_im[j]) +
                                   fabs(power) * (24 * reach + moved) +
                                   30 * p->place[j] * p->place[j] / square + 40);
        law->shift_size += size;
        law->shift_moment += size * reach;
        law->shift_deviation += size * deviation;
        law->shift_spread += size * deviation * reach;
        law->loss_error += size * moved;
        p->weight[j] = size;
        p->doubt[j] = size * deviation;
    }
    p->live = p->count;
    law->shift_height = height;
    law->shift_step = step;
    double growth = 1 + strip_growth(law, c, 2 * height);
    law->shift_error = 2.2 * (growth / expm1(2 * M_PI * height / step) + 1e-17);
    /* between points log|w| rises above its ends by at most step^2/8 of its curvature */
    law->shift_bend = exp(step * step / 8 * (1 / square + fabs(power) / (square * square)));
    law->wave_index = -1;
    return true;
}

bool brume_sampled_settle(brume_law *law)
{
    law->band_low = NAN;
    if (!brume_sampled_cover(law, law->c)) {
        if (!law->points.memory)
            return false;
        claim_nothing(law);
        for (int i = 0; i < BRUME_LAW_LAYERS; i++)
            law->layer_height[i] = law->layer_length[i] = 0;
        return true;
    }
    brume_points_settle(law);
    build_layers(law);
    return build_shifted(law);
}

/* w_j (exp(i y lambda_j) - 1), without cancellation: to some 20 units of its size */
static inline void wave_at(const brume_points *p, size_t j, double y, double *re, double *im)
{
    double s, co, decay = expm1(-y * p->spot[j]);
    sincos(0.5 * y * p->atom[j], &s, &co);
    double e_re = decay - (1 + decay) * 2 * s * s, e_im = (1 + decay) * 2 * s * co;
    *re = p->loss[j] * e_re - p->log_mass[j] * e_im;
    *im = p->loss[j] * e_im + p->log_mass[j] * e_re;
}

static void direct_sum(const brume_law *law, double y, double *re, double *im)
{
    const brume_points *p = &law->shifted;
    double sum_re = 0, sum_im = 0;
    for (size_t j = 0; j < p->live; j++) {
        double wave_re, wave_im;
        wave_at(p, j, y, &wave_re, &wave_im);
        sum_re += wave_re;
        sum_im += wave_im;
    }
    *re = sum_re;
    *im = sum_im;
}

static double direct_error(const brume_law *law, double y)
{
    double fresh = fmin(y * law->shift_moment, 2 * law->shift_size);
    return unit * (y * (20 * law->shift_moment + law->loss_error) +
                   (60 + (double)law->shifted.live) * fresh) +
           fmin(y * (law->shift_spread + law->shift_deviation * law->shift_moment),
                2 * law->shift_deviation * (1 + law->shift_size)) *
               1.1 +
           law->shift_error;
}

/* A bound of |exp(i y lambda_j) - 1| */
static inline double swing(const brume_points *p, size_t j, double y)
{
    return fmin(y * (fabs(p->atom[j]) + p->spot[j]), 2);
}

/* Stand the waves z_j = w_j (exp(i y lambda_j) - 1) at node `index`, fresh every 16 nodes, else
 * from those of the node before: z_j turned by exp(i h lambda_j), and w_j (exp(i h lambda_j) - 1).
 * So they stay small, and their errors too, where psi is near 1. */
static void turn_waves(brume_law *law, long index, double h)
{
    brume_points *p = &law->shifted;
    double *re = p->wave_re, *im = p->wave_im, *turn_re = p->turn_re, *turn_im = p->turn_im;
    double *gain_re = p->gain_re, *gain_im = p->gain_im;
    bool new_step = law->wave_index < 0 || law->wave_step != h;
    size_t live = p->live;
    if (new_step) {
        law->wave_gain = 0;
        for (size_t j = 0; j < live; j++) {
            double decay = exp(-h * p->spot[j]);
            sincos(h * p->atom[j], &turn_im[j], &turn_re[j]);
            turn_re[j] *= decay;
            turn_im[j] *= decay;
            wave_at(p, j, h, &gain_re[j], &gain_im[j]);
            law->wave_gain += p->weight[j] * swing(p, j, h);
        }
    }
    if (new_step || law->wave_index != index - 1 || index % 16 == 0) {
        double y = (double)index * h, size = 0, doubt = 0;
        for (size_t j = 0; j < live; j++) {
            double most = swing(p, j, y + 15 * h); /* until they are fresh again */
            wave_at(p, j, y, &re[j], &im[j]);
            size += p->weight[j] * most;
            doubt += p->doubt[j] * most;
        }
        law->wave_size = size;
        law->wave_doubt = doubt;
    } else {
        for (size_t j = 0; j < live; j++) {
            double a = re[j], b = im[j];
            re[j] = a * turn_re[j] - b * turn_im[j] + gain_re[j];
            im[j] = a * turn_im[j] + b * turn_re[j] + gain_im[j];
        }
    }
    law->wave_index = index;
    law->wave_step = h;
}

brume_log_psi brume_sampled_node(brume_law *law, long index, double h)
{
    turn_waves(law, index, h);
    const brume_points *p = &law->shifted;
    double y = (double)index * h, re = 0, im = 0;
    for (size_t start = 0; start < p->live; start += 16) {
        size_t end = start + 16 < p->live ? start + 16 : p->live;
        double block_re = 0, block_im = 0;
        for (size_t j = start; j < end; j++) {
            block_re += p->wave_re[j];
            block_im += p->wave_im[j];
        }
        re += block_re;
        im += block_im;
    }
    /* the phases y lambda_j; fresh waves by 24 units, 15 turns of 14, blocks of 16; what 15 turns
     * add, by 20 units each; the weights' own errors, and that of their sum; the quadrature */
    double error = unit * (y * (28 * law->shift_moment + law->loss_error) +
                           (254 + (double)(p->live / 16)) * law->wave_size + 300 * law->wave_gain) +
                   1.1 * (law->wave_doubt + law->shift_deviation * law->wave_size) +
                   law->shift_error;
    return brume_log_psi_of(re, im, error);
}

/* From the nested layers: |psi(y)| <= 1 - sum_i w_i |I_i| (1 - sup_{y' >= y} |sinc(y' |I_i|/2)|) */
static double layer_bound(const brume_law *law, double low)
{
    double bound = 1;
    for (int i = 0; i < BRUME_LAW_LAYERS; i++) {
        double g = 0.5 * low * law->layer_length[i];
        double sinc = g < 1e-9 ? 1 : g < 2.5 ? sin(g) / g : 0.2173;
        double below = i + 1 < BRUME_LAW_LAYERS ? law->layer_height[i + 1] : 0;
        bound -= (law->layer_height[i] - below) * law->layer_length[i] * (1 - sinc);
    }
    return bound + 1e-12 + brume_sampled_real_error(law, law->c);
}

/* Bounds at `low`: of |psi| from there on, and at the point itself. */
static void bound_from(brume_law *law, double low)
{
    const brume_points *p = &law->shifted;
    law->band_low = low;
    law->band_far = fmin(1, layer_bound(law, low));
    law->band_near = 1;
    if (p->live == 0)
        return;
    /* the integral of the modulus on the moved line: arg r grows with x, so each cell decays at
     * least as its left end; it falls with y */
    double modulus = law->shift_error;
    for (size_t j = 0; j + 1 < p->live; j++)
        modulus += fmax(p->weight[j], p->weight[j + 1]) * exp(-low * p->spot[j]);
    law->band_far = fmin(law->band_far, modulus * law->shift_bend * 1.0001);
    if (law->band_far > 0.5) {
        double re, im;
        direct_sum(law, low, &re, &im);
        law->band_near = hypot(1 + re, im) + direct_error(law, low);
    }
}

double brume_sampled_envelope(brume_law *law, double low, double high)
{
    if (law->band_low != low)
        bound_from(law, low);
    /* |psi| is Lipschitz in y with constant E|L| */
    double bound = fmin(law->band_far, law->band_near + (high - low) * law->mean_size);
    return bound < 1 ? log(bound) : 0;
}
