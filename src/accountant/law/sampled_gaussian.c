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

BRUME_BODY void sampled_logits_body(const double *restrict place, size_t count, double square,
                                    double *restrict out)
{
    for (size_t j = 0; j < count; j++) {
        double t = (2 * place[j] - 1) / (2 * square);
        out[j] = brume_choose(brume_mask(t > 600), 600, t);
    }
}
/* t = (2x - 1)/(2 sigma^2) at some places, at most 600. */
BRUME_PATHS(static, sampled_logits, (const double *place, size_t count, double square, double *out),
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

/* In units: how far the 8 units of sigma and rate move the loss at some places (x/sigma fixed). */
static void sampled_loss_errors(const brume_law *law, const double *place, size_t count,
                                double *out)
{
    double t[BLOCK], power[BLOCK], square = law->a * law->a;
    for (size_t from = 0; from < count; from += BLOCK) {
        size_t some = count - from < BLOCK ? count - from : BLOCK;
        sampled_logits(place + from, some, square, t);
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

/* A strip 0 < Im x < height in which r has no zero and nothing grows much; how far it grows up to
 * Im x = d; and the step of a rule that a strip to either side makes exact.
 *
 * A strip 0 < Im x < height in which r has no zero and nothing grows by much more than
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

/* A bound of the relative error of the rule on the real line. */
static double sampled_real_error(const brume_law *law, double c)
{
    const brume_sampled_tables *tables = law->state;
    double d = strip_height(law, c);
    return 2 * strip_growth(law, c, d) / expm1(2 * M_PI * d / tables->step) * 1.01 + 2e-18;
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
    double strip = strip_height(law, most), spacing = strip_step(law, most, strip, strip);
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
    sampled_loss_errors(law, p->place, p->count, p->moved);
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
        sampled_logits(p->spot + at, count, square, t);
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

static void sampled_claim_nothing(brume_law *law);
static bool sampled_lay(brume_law *law);

static bool settle(brume_law *law)
{
    brume_sampled_tables *tables = law->state;
    tables->envelope_low = NAN;
    if (!cover(law, law->c)) {
        if (!tables->real.memory)
            return false;
        sampled_claim_nothing(law);
        for (int i = 0; i < BRUME_SAMPLED_LAYERS; i++)
            tables->layer_height[i] = tables->layer_length[i] = 0;
        return true;
    }
    brume_points_settle(&tables->real, law->c);
    build_layers(law);
    return sampled_lay(law);
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
        *error += 1.1 * sampled_real_error(law, c);
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

static brume_log_psi sampled_node(brume_law *law, long index, double h);
static double sampled_envelope(brume_law *law, double low, double high);

static const brume_law_family family = {.name = "Gaussian on a Poisson sample",
                                        .cumulant = cumulant,
                                        .settle = settle,
                                        .node = sampled_node,
                                        .envelope = sampled_envelope,
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

/* The subsampled Gaussian on the moved line Im x = d: psi by a table that serves every y. See
 * sampled_gaussian.c and proofs/accountant/law.md, section law.3.
 *
 * psi(y) = sum w_j exp(i y lambda_j), w_j complex, Im lambda_j >= 0. Promise: |error of psi| as
 * sampled_node and the envelope say, for every parameter within its 8 units. */

enum { ROW = BRUME_WAVE_ROW, FRESH = 16 };

/* Where no table reaches the line: nothing is known of psi.
 *
 * No table reaches this line: nothing is claimed of psi but |psi| <= 1. */
static void sampled_claim_nothing(brume_law *law)
{
    brume_sampled_tables *tables = law->state;
    tables->rule_error = 2; /* |psi - 1| is not above it */
    tables->moved.live = 0;
}

/* log r(x + id) = atom + i spot, removed, and log of N0(x + id) r^power = weight + i wave_im, for a
 * block of places; added: at x - id, everything conjugate. */
static void fill_shifted(brume_law *law, size_t from, double angle, double power)
{
    brume_points *p = &brume_sampled_tables_of(law)->moved;
    size_t count = p->count - from < BLOCK ? p->count - from : BLOCK;
    double square = law->a * law->a, q = law->rate, sign = law->reversed ? -1 : 1;
    double cosine = cos(angle), sine = sin(angle), half = sin(0.5 * angle);
    double t[BLOCK] = {0}, less[BLOCK], whole[BLOCK], excess[BLOCK], log_size[BLOCK], z_im[BLOCK];
    bool small = false;
    sampled_logits(p->place + from, count, square, t);
    brume_vector_expm1(t, less, count);
    brume_vector_exp(t, whole, count);
    for (size_t j = 0; j < count; j++) {
        /* r = 1 + z; its real part is a sum of positive terms, the angle being below pi/2 */
        double z_re = q * (less[j] * cosine - 2 * half * half);
        z_im[j] = q * whole[j] * sine;
        excess[j] = 2 * z_re + z_re * z_re + z_im[j] * z_im[j]; /* |r|^2 - 1 */
        t[j] = 1 - q + q * whole[j] * cosine;
        small |= excess[j] < -0.5;
    }
    brume_vector_log1p(excess, log_size, count);
    for (size_t j = 0; small && j < count; j++)
        if (excess[j] < -0.5)
            log_size[j] = log(t[j] * t[j] + z_im[j] * z_im[j]);
    for (size_t j = 0; j < count; j++) {
        double x = p->place[from + j], log_re = 0.5 * log_size[j], log_im = atan2(z_im[j], t[j]);
        p->atom[from + j] = sign * log_re;
        p->spot[from + j] = log_im;
        p->weight[from + j] = -x * x / (2 * square) + power * log_re;
        p->wave_im[from + j] = sign * (-x * angle + power * log_im);
    }
}

/* A block of the complex weights loss + i log_mass, not normalised, and their sum. */
static void weigh_shifted(brume_points *p, size_t from, double top, double *sum_re, double *sum_im)
{
    size_t count = p->count - from < BLOCK ? p->count - from : BLOCK;
    double exponent[BLOCK] = {0}, modulus[BLOCK];
    for (size_t j = 0; j < count; j++)
        exponent[j] = p->weight[from + j] - top;
    brume_vector_exp(exponent, modulus, count);
    brume_vector_sincos(p->wave_im + from, p->log_mass + from, p->loss + from, count);
    for (size_t j = 0; j < count; j++) {
        *sum_re += p->loss[from + j] *= modulus[j];
        *sum_im += p->log_mass[from + j] *= modulus[j];
    }
}

typedef struct shifted_sums {
    double sum_re, sum_im, top, power; /* in */
    double size, moment, deviation, spread, moved;
} shifted_sums;

/* Divide the weights by their sum; and bounds of what they and their errors amount to. */
BRUME_BODY void finish_shifted_body(double *restrict re, double *restrict im,
                                    double *restrict weight, const double *restrict atom,
                                    const double *restrict spot, const double *restrict phase,
                                    const double *restrict place, const double *restrict moved,
                                    double *restrict doubt, size_t count, double square,
                                    shifted_sums *restrict all)
{
    double sum_re = all->sum_re, sum_im = all->sum_im, norm = sum_re * sum_re + sum_im * sum_im;
    double steady = 4 * fabs(all->top) + 40, power = all->power;
    double size[ROW] = {0}, moment[ROW] = {0}, wrong[ROW] = {0}, spread[ROW] = {0}, far[ROW] = {0};
    for (size_t from = 0; from < count; from += ROW)
        for (size_t k = 0; k < ROW; k++) { /* beyond the last point: all 0 */
            size_t j = from + k;
            double old = re[j];
            re[j] = (old * sum_re + im[j] * sum_im) / norm;
            im[j] = (im[j] * sum_re - old * sum_im) / norm;
            double modulus = sqrt(re[j] * re[j] + im[j] * im[j]);
            double reach = sqrt(atom[j] * atom[j] + spot[j] * spot[j]);
            /* exponent and angle by their sizes, the logs by 24 units, the parameters through r */
            double deviation = unit * (4 * fabs(weight[j]) + 4 * fabs(phase[j]) + steady +
                                       power * (24 * reach + moved[j]) +
                                       30 * place[j] * place[j] / square);
            size[k] += modulus;
            moment[k] += modulus * reach;
            wrong[k] += modulus * deviation;
            spread[k] += modulus * deviation * reach;
            far[k] += modulus * moved[j];
            weight[j] = modulus;
            doubt[j] = modulus * deviation;
        }
    for (size_t k = 0; k < ROW; k++) {
        all->size += size[k];
        all->moment += moment[k];
        all->deviation += wrong[k];
        all->spread += spread[k];
        all->moved += far[k];
    }
}
BRUME_PATHS(static, finish_shifted,
            (double *re, double *im, double *weight, const double *atom, const double *spot,
             const double *phase, const double *place, const double *moved, double *doubt,
             size_t count, double square, shifted_sums *all),
            (re, im, weight, atom, spot, phase, place, moved, doubt, count, square, all))

/* Build the table on the moved line. False if memory ran out.
 *
 * The table on the moved line: atom + i spot = lambda_j with Im lambda >= 0, weights in
 * loss + i log_mass (they are complex), psi(y) = sum w_j exp(i y lambda_j). */
static bool sampled_lay(brume_law *law)
{
    brume_sampled_tables *tables = law->state;
    double sigma = law->a, square = sigma * sigma, c = law->c;
    double height = 0.5 * strip_height(law, c), angle = height / square;
    double step = strip_step(law, c, height, 2 * height);
    /* only where the real tilted weights are alive */
    const brume_points *real = &tables->real;
    double low = real->spot[0] - 2 * tables->step,
           high = real->spot[real->live - 1] + 2 * tables->step;
    double points = ceil((high - low) / step) + 1;
    if (!(points < BRUME_SAMPLED_MOST)) {
        sampled_claim_nothing(law);
        return true;
    }
    if (!brume_points_allocate(&tables->moved, (size_t)points))
        return false;
    brume_points *p = &tables->moved;
    double power = law->reversed ? -c : c + 1, top = -INFINITY;
    for (size_t j = 0; j < p->count; j++)
        p->place[j] = low + step * (double)j;
    for (size_t from = 0; from < p->count; from += BLOCK)
        fill_shifted(law, from, angle, power);
    for (size_t j = 0; j < p->count; j++)
        top = p->weight[j] > top ? p->weight[j] : top;
    double sum_re = 0, sum_im = 0;
    for (size_t from = 0; from < p->count; from += BLOCK)
        weigh_shifted(p, from, top, &sum_re, &sum_im);
    sampled_loss_errors(law, p->place, p->count, p->moved);
    shifted_sums all = {.sum_re = sum_re, .sum_im = sum_im, .top = top, .power = fabs(power)};
    finish_shifted(p->loss, p->log_mass, p->weight, p->atom, p->spot, p->wave_im, p->place,
                   p->moved, p->doubt, p->count, square, &all);
    tables->size = all.size;
    tables->moment = all.moment;
    tables->deviation = all.deviation;
    tables->spread = all.spread;
    tables->moved.loss_error = all.moved;
    p->live = p->count;
    tables->height = height;
    tables->moved_step = step;
    double growth = 1 + strip_growth(law, c, 2 * height);
    tables->rule_error = 2.2 * (growth / expm1(2 * M_PI * height / step) + 1e-17);
    /* between points log|w| rises above its ends by at most step^2/8 of its curvature */
    tables->bend = exp(step * step / 8 * (1 / square + fabs(power) / (square * square)));
    brume_points_restart(p);
    return true;
}

/* z = w (exp(2 i angle - decay) - 1), less = e^{-decay} - 1 */
BRUME_BODY void swings_body(const double *restrict w_re, const double *restrict w_im,
                            const double *restrict less, const double *restrict s,
                            const double *restrict co, size_t count, double *restrict re,
                            double *restrict im)
{
    for (size_t j = 0; j < count; j++) {
        double twice = (1 + less[j]) * 2 * s[j];
        double e_re = less[j] - twice * s[j], e_im = twice * co[j];
        re[j] = w_re[j] * e_re - w_im[j] * e_im;
        im[j] = w_re[j] * e_im + w_im[j] * e_re;
    }
}
BRUME_PATHS(static, swings,
            (const double *w_re, const double *w_im, const double *less, const double *s,
             const double *co, size_t count, double *re, double *im),
            (w_re, w_im, less, s, co, count, re, im))

/* w_j (exp(i y lambda_j) - 1) of a block of points, without cancellation: to some 20 units of its
 * size; into whole rows. */
static void waves_at(const brume_points *p, size_t from, double y, double *re, double *im)
{
    size_t count = p->live - from < BLOCK ? p->live - from : BLOCK;
    double angle[BLOCK] = {0}, decay[BLOCK] = {0}, less[BLOCK], s[BLOCK], co[BLOCK];
    for (size_t j = 0; j < count; j++) {
        angle[j] = 0.5 * y * p->atom[from + j];
        decay[j] = -y * p->spot[from + j];
    }
    brume_vector_expm1(decay, less, count);
    brume_vector_sincos(angle, s, co, count);
    swings(p->loss + from, p->log_mass + from, less, s, co, count, re, im);
    for (size_t j = count; j < brume_wave_rows(count); j++)
        re[j] = im[j] = 0;
}

static void direct_sum(const brume_points *p, double y, double *re, double *im)
{
    double sum_re = 0, sum_im = 0;
    for (size_t from = 0; from < p->live; from += BLOCK) {
        double wave_re[BLOCK], wave_im[BLOCK], part_re, part_im;
        size_t count = p->live - from < BLOCK ? p->live - from : BLOCK;
        waves_at(p, from, y, wave_re, wave_im);
        brume_waves_sum(wave_re, wave_im, brume_wave_rows(count), &part_re, &part_im);
        sum_re += part_re;
        sum_im += part_im;
    }
    *re = sum_re;
    *im = sum_im;
}

static double direct_error(const brume_sampled_tables *tables, double y)
{
    double fresh = fmin(y * tables->moment, 2 * tables->size);
    return unit * (y * (20 * tables->moment + tables->moved.loss_error) +
                   (60 + (double)tables->moved.live) * fresh) +
           fmin(y * (tables->spread + tables->deviation * tables->moment),
                2 * tables->deviation * (1 + tables->size)) *
               1.1 +
           tables->rule_error;
}

/* Sums of weights and doubts times min(y (|l| + d), 2), a bound of |exp(i y lambda_j) - 1|, over
 * whole rows. */
BRUME_BODY void add_swings_body(const brume_points *p, size_t count, double y,
                                double *restrict size, double *restrict doubt)
{
    const double *restrict atom = p->atom, *restrict spot = p->spot, *restrict weight = p->weight;
    const double *restrict own = p->doubt;
    double sizes[ROW] = {0}, doubts[ROW] = {0};
    for (size_t from = 0; from < count; from += ROW)
        for (size_t j = 0; j < ROW; j++) {
            double reach = y * (fabs(atom[from + j]) + spot[from + j]);
            double most = brume_choose(brume_mask(reach > 2), 2, reach);
            sizes[j] += weight[from + j] * most;
            doubts[j] += own[from + j] * most;
        }
    *size = *doubt = 0;
    for (size_t j = 0; j < ROW; j++) {
        *size += sizes[j];
        *doubt += doubts[j];
    }
}
BRUME_PATHS(static, add_swings,
            (const brume_points *p, size_t count, double y, double *size, double *doubt),
            (p, count, y, size, doubt))

/* Stand the waves z_j = w_j (exp(i y lambda_j) - 1) at node `index`, fresh every 16 nodes, else
 * from those of the node before: z_j turned by exp(i h lambda_j), and w_j (exp(i h lambda_j) - 1).
 * So they stay small, and their errors too, where psi is near 1. Their sum is returned. */
static void turn_waves(brume_sampled_tables *tables, long index, double h, double *sum_re,
                       double *sum_im)
{
    brume_points *p = &tables->moved;
    bool new_step = p->wave_index < 0 || p->wave_step != h;
    size_t rows = brume_wave_rows(p->live);
    if (new_step) {
        brume_waves turns = {.loss = p->atom, .decay = p->spot};
        double unused;
        brume_waves_start(&turns, p->live, h, p->turn_re, p->turn_im);
        for (size_t from = 0; from < p->live; from += BLOCK)
            waves_at(p, from, h, p->gain_re + from, p->gain_im + from);
        add_swings(p, rows, h, &tables->wave_gain, &unused);
    }
    if (new_step || p->wave_index != index - 1 || index % FRESH == 0) {
        double y = (double)index * h;
        for (size_t from = 0; from < p->live; from += BLOCK)
            waves_at(p, from, y, p->wave_re + from, p->wave_im + from);
        brume_waves_sum(p->wave_re, p->wave_im, rows, sum_re, sum_im);
        /* until they are fresh again */
        add_swings(p, rows, y + (FRESH - 1) * h, &tables->wave_size, &tables->wave_doubt);
    } else {
        brume_waves_gain(p->wave_re, p->wave_im, (const double *[]){p->turn_re, p->turn_im},
                         (const double *[]){p->gain_re, p->gain_im}, rows, sum_re, sum_im);
    }
    p->wave_index = index;
    p->wave_step = h;
}

/* As law.h. */
static brume_log_psi sampled_node(brume_law *law, long index, double h)
{
    brume_sampled_tables *tables = law->state;
    const brume_points *p = &tables->moved;
    double y = (double)index * h, re, im;
    turn_waves(tables, index, h, &re, &im);
    /* the phases y lambda_j; fresh waves by 24 units, 15 turns of 14, blocks of 16; what 15 turns
     * add, by 20 units each; the weights' own errors, and that of their sum; the quadrature */
    double error =
        unit * (y * (28 * tables->moment + tables->moved.loss_error) +
                (254 + (double)(p->live / 16)) * tables->wave_size + 300 * tables->wave_gain) +
        1.1 * (tables->wave_doubt + tables->deviation * tables->wave_size) + tables->rule_error;
    return brume_log_psi_of(re, im, error);
}

/* From the nested layers: |psi(y)| <= 1 - sum_i w_i |I_i| (1 - sup_{y' >= y} |sinc(y' |I_i|/2)|) */
static double layer_bound(const brume_law *law, double low)
{
    const brume_sampled_tables *tables = law->state;
    double bound = 1;
    for (int i = 0; i < BRUME_SAMPLED_LAYERS; i++) {
        double g = 0.5 * low * tables->layer_length[i];
        double sinc = g < 1e-9 ? 1 : g < 2.5 ? sin(g) / g : 0.2173;
        double below = i + 1 < BRUME_SAMPLED_LAYERS ? tables->layer_height[i + 1] : 0;
        bound -= (tables->layer_height[i] - below) * tables->layer_length[i] * (1 - sinc);
    }
    return bound + 1e-12 + sampled_real_error(law, law->c);
}

/* Bounds at `low`: of |psi| from there on, and at the point itself. */
static void bound_from(brume_law *law, double low)
{
    brume_sampled_tables *tables = law->state;
    const brume_points *p = &tables->moved;
    tables->envelope_low = low;
    tables->bound_from = fmin(1, layer_bound(law, low));
    tables->bound_at = 1;
    if (p->live == 0)
        return;
    /* the integral of the modulus on the moved line: arg r grows with x, so each cell decays at
     * least as its left end; it falls with y */
    double modulus = tables->rule_error, exponent[BLOCK], decay[BLOCK];
    for (size_t from = 0; from + 1 < p->live; from += BLOCK) {
        size_t count = p->live - 1 - from < BLOCK ? p->live - 1 - from : BLOCK;
        for (size_t j = 0; j < count; j++)
            exponent[j] = -low * p->spot[from + j];
        brume_vector_exp(exponent, decay, count);
        const double *weight = p->weight + from;
        for (size_t j = 0; j < count; j++)
            modulus += (weight[j] > weight[j + 1] ? weight[j] : weight[j + 1]) * decay[j];
    }
    tables->bound_from = fmin(tables->bound_from, modulus * tables->bend * 1.0001);
    if (tables->bound_from > 0.5) {
        double re, im;
        direct_sum(p, low, &re, &im);
        tables->bound_at = hypot(1 + re, im) + direct_error(tables, low);
    }
}

static double sampled_envelope(brume_law *law, double low, double high)
{
    brume_sampled_tables *tables = law->state;
    if (tables->envelope_low != low)
        bound_from(law, low);
    /* |psi| is Lipschitz in y with constant E|L| */
    double bound =
        fmin(tables->bound_from, tables->bound_at + (high - low) * tables->real.mean_size);
    return bound < 1 ? log(bound) : 0;
}
