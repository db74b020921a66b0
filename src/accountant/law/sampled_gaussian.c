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
#include "accountant/law/sampled_gaussian.h"

#include "accountant/law/family.h"
#include "accountant/law/points.h"
#include "number/elementary.h"
#include "number/elementary_body.h"

enum { BLOCK = BRUME_WAVE_BLOCK };

static const double unit = BRUME_UNIT;
static const double exponent_goal = 42; /* exp(-42) is what a quadrature may miss */
static const double most_growth = 4.5;  /* log of how far the integrand may grow within the strip */

/* log r(x), real */
static long double log_ratio(const brume_law *law, long double x)
{
    long double sigma = law->a, t = (2 * x - 1) / (2 * sigma * sigma);
    if (t > 5000)
        return t + logl((long double)law->rate);
    return log1pl((long double)law->rate * expm1l(t));
}

BRUME_BODY void brume_sampled_logits_body(const double *restrict place, size_t count, double square,
                                          double *restrict out)
{
    for (size_t j = 0; j < count; j++) {
        double t = (2 * place[j] - 1) / (2 * square);
        out[j] = brume_choose(brume_mask(t > 600), 600, t);
    }
}
BRUME_PATHS(, brume_sampled_logits, (const double *place, size_t count, double square, double *out),
            (place, count, square, out))

/* 16 (share (|x| + 1)/sigma^2 + lost/(1 - lost)), share = rate e^t/r; the rate moves log r, where r
 * = 1 - lost is below 1, by lost/r. */
BRUME_BODY void loss_errors_body(const double *restrict place, const double *restrict power,
                                 size_t count, double q, double square, double *restrict out)
{
    for (size_t j = 0; j < count; j++) {
        double e = power[j], share = q * e / (1 - q + q * e);
        double least = brume_choose(brume_mask(e < 1), e, 1);
        double lost = q * (1 - least + 1e-15) / (1 - q + q * least);
        share = brume_choose(brume_mask(e > 1e217), 1, share); /* of any rate */
        out[j] = 16.001 * (share * (fabs(place[j]) + 1) / square + lost);
    }
}
BRUME_PATHS(static, loss_errors,
            (const double *place, const double *power, size_t count, double q, double square,
             double *out),
            (place, power, count, q, square, out))

void brume_sampled_loss_errors(const brume_law *law, const double *place, size_t count, double *out)
{
    double t[BLOCK], power[BLOCK], square = law->a * law->a;
    for (size_t from = 0; from < count; from += BLOCK) {
        size_t some = count - from < BLOCK ? count - from : BLOCK;
        brume_sampled_logits(place + from, some, square, t);
        brume_vector_exp(t, power, some);
        loss_errors(place + from, power, some, law->rate, square, out + from);
    }
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
double brume_strip_height(const brume_law *law, double c)
{
    double square = law->a * law->a, height = sqrt(most_growth / strip_bend(law, c));
    return fmin(height, (law->reversed ? 0.6 : 0.97) * M_PI * square);
}

/* exp(d^2/(2 sigma^2)), and added: cos(d/(2 sigma^2))^{-c} */
double brume_strip_growth(const brume_law *law, double c, double d)
{
    double square = law->a * law->a, growth = exp(d * d / (2 * square));
    return law->reversed ? growth * pow(cos(d / (2 * square)), -c) * (1 + 1e-9) : growth;
}

/* The step of a rule that a strip of `height` to either side makes exact to exp(-exponent_goal). */
double brume_strip_step(const brume_law *law, double c, double height, double width)
{
    return 2 * M_PI * height / (exponent_goal + log1p(brume_strip_growth(law, c, width)));
}

double brume_sampled_real_error(const brume_law *law, double c)
{
    const brume_sampled_tables *tables = law->state;
    double d = brume_strip_height(law, c);
    return 2 * brume_strip_growth(law, c, d) / expm1(2 * M_PI * d / tables->step) * 1.01 + 2e-18;
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

/* Make the table on the real line good for the order c. False if it would be too long, or if memory
 * ran out. */
static bool cover(brume_law *law, double c)
{
    brume_sampled_tables *tables = law->state;
    brume_points *p = &tables->real;
    if (p->memory && c <= tables->covered)
        return true;
    if (tables->uncovered > 0 && c >= tables->uncovered)
        return false;
    double most = p->memory ? 4 * c : fmax(2 * c, 4), sigma = law->a;
    double strip = brume_strip_height(law, most),
           spacing = brume_strip_step(law, most, strip, strip);
    double longest = spacing * BRUME_SAMPLED_MOST;
    double low = -9.8 * sigma, high = fmax(9.8 * sigma, 1), step = 0.5 * sigma;
    for (; high - low < longest && left_tail(law, most, low) > 5e-19; step *= 1.1)
        low -= step;
    step = 0.5 * sigma;
    for (; high - low < longest && right_tail(law, most, high) > 5e-19; step *= 1.1)
        high += step;
    if (!(high - low < longest)) {
        tables->uncovered = c;
        return false;
    }
    double points = ceil((high - low) / spacing) + 2;
    if (!brume_points_allocate(p, (size_t)points))
        return false;
    tables->step = spacing;
    long double square = 2 * (long double)sigma * sigma;
    long double scale = logl((long double)tables->step / sigma) - 0.5L * logl(2 * M_PIl);
    for (size_t j = 0; j < p->count; j++) {
        double x = low + tables->step * (double)j;
        long double l = log_ratio(law, x), normal = scale - (long double)x * x / square;
        p->place[j] = x;
        p->loss[j] = (double)(law->reversed ? -l : l);
        p->log_mass[j] = (double)(law->reversed ? normal : normal + l);
    }
    brume_sampled_loss_errors(law, p->place, p->count, p->moved);
    p->mass_error = 8 * unit;
    tables->covered = most;
    return true;
}

/* The tilted density of L is at least `height` on intervals of `length`, nested. Between points the
 * log density dips below its chord by at most step^2/8 of its second derivative, which is at most
 * (c+2)/(4 sigma^4) (added: (1-c)/(4 sigma^4)). */
static void build_layers(brume_law *law)
{
    brume_sampled_tables *tables = law->state;
    brume_points *p = &tables->real;
    double square = law->a * law->a, *density = p->wave_re; /* the real table has no waves */
    double bend = law->reversed ? 1 - law->c : law->c + 2;
    double dip = exp(-tables->step * tables->step * fmax(0, bend) / (32 * square * square)) *
                 (1 - 1e-9);
    size_t mode = 0;
    for (size_t at = 0; at < p->live; at += BLOCK) {
        double t[BLOCK], power[BLOCK];
        size_t count = p->live - at < BLOCK ? p->live - at : BLOCK;
        brume_sampled_logits(p->spot + at, count, square, t);
        brume_vector_exp(t, power, count);
        for (size_t j = 0; j < count; j++) {
            double slope = law->rate * power[j] / (square * (1 - law->rate + law->rate * power[j]));
            density[at + j] = p->weight[at + j] / tables->step / slope * dip;
        }
    }
    for (size_t j = 0; j < p->live; j++)
        if (p->weight[j] > p->weight[mode])
            mode = j;
    size_t from = mode, to = mode;
    double least = INFINITY;
    for (int i = 0; i < BRUME_SAMPLED_LAYERS; i++) {
        double threshold = density[mode] * exp(-0.5 * (i + 1));
        while (from > 0 && density[from - 1] >= threshold)
            from--;
        while (to + 1 < p->live && density[to + 1] >= threshold)
            to++;
        for (size_t j = from; j <= to; j++)
            least = fmin(least, density[j]);
        tables->layer_height[i] = least;
        tables->layer_length[i] = fabs(p->atom[to] - p->atom[from]) * (1 - 1e-12);
    }
}

static bool settle(brume_law *law)
{
    brume_sampled_tables *tables = law->state;
    tables->envelope_low = NAN;
    if (!cover(law, law->c)) {
        if (!tables->real.memory)
            return false;
        brume_sampled_claim_nothing(law);
        for (int i = 0; i < BRUME_SAMPLED_LAYERS; i++)
            tables->layer_height[i] = tables->layer_length[i] = 0;
        return true;
    }
    brume_points_settle(&tables->real, law->c);
    build_layers(law);
    return brume_sampled_lay(law);
}

static long double cumulant(brume_law *law, double c, double *slope, double *error)
{
    brume_sampled_tables *tables = law->state;
    if (!cover(law, c)) {
        if (slope)
            *slope = law->bounded ? law->top : INFINITY;
        if (error)
            *error = INFINITY;
        return law->bounded ? c * law->top : INFINITY;
    }
    long double value = brume_points_cumulant(&tables->real, c, slope, error);
    if (error)
        *error += 1.1 * brume_sampled_real_error(law, c);
    return value;
}

static double node_cost(const brume_law *law)
{
    return 1.5 * (double)brume_sampled_tables_of(law)->moved.live;
}

static void close_tables(brume_law *law)
{
    brume_sampled_tables *tables = law->state;
    brume_points_close(&tables->real);
    brume_points_close(&tables->moved);
}

static const brume_law_family family = {.name = "Gaussian on a Poisson sample",
                                        .cumulant = cumulant,
                                        .settle = settle,
                                        .node = brume_sampled_node,
                                        .envelope = brume_sampled_envelope,
                                        .node_cost = node_cost,
                                        .close = close_tables};

brume_status brume_sampled_gaussian_open(brume_law *law, brume_error *error)
{
    law->family = &family;
    law->orders_differ = true;
    if (law->reversed) {
        law->bounded = true;
        law->top = -log1p(-law->rate);
        law->log_top_mass = -INFINITY;
    }
    return brume_law_allocate(law, sizeof(brume_sampled_tables), error);
}

bool brume_law_is_sampled_gaussian(const brume_law *law)
{
    return law->family == &family;
}
