/* Choosing the line Re s = c and the step between its nodes, and computing the nodes that count.
 * See line.h and proofs/accountant/contour.md. Any choice gives valid bounds. */
#include "accountant/contour/line.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <brume/interval.h>

#include "accountant/law/law.h"
#include "number/elementary.h"
#include "number/paths.h"

/* Where to start a search: the saddle point and moments. Promise: what is called an upper or a
 * lower end is a certified bound, rounded to the safe side; all else is an estimate. */

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

/* The same at up to BRUME_PSI_BLOCK places. */
typedef struct brume_band_block {
    double upper_re[BRUME_PSI_BLOCK], upper_im[BRUME_PSI_BLOCK];
    double lower_re[BRUME_PSI_BLOCK], lower_im[BRUME_PSI_BLOCK];
    double error[BRUME_PSI_BLOCK];
} brume_band_block;

#define BRUME_LINE_TOLERANCE 1e-16 /* of what is cut away, relative to the goal */

static inline double brume_line_tolerance(const brume_line *line)
{
    return line->tolerance > 0 ? line->tolerance : BRUME_LINE_TOLERANCE;
}

/* log phi(c) of all draws; slope and error as brume_law_cumulant. Without `error`, which is NULL,
 * the value of each draw is right to BRUME_ROUGH of 1 + |value| + c * (largest loss). */
#define BRUME_ROUGH 1e-9

/* A block of nodes from index `from` on; those beyond the band's end are of no use. For lines on
 * which line_has_blocks. */
typedef struct brume_node_block {
    long from;
    brume_line_node node[BRUME_PSI_BLOCK];
    double size[BRUME_PSI_BLOCK];
} brume_node_block;

/* Some c2 > c at which the aliases above epsilon are bounded by moments; i < BRUME_CHERNOFF_POINTS.
 */
enum { BRUME_CHERNOFF_POINTS = 7 };

/* The nodes of a line, a block at a time: where a band makes a line long and its laws are quickly
 * computed, all steps are done on many nodes at once.
 *
 * psi of all draws is the product of powers of psi of one draw, by squaring, not exp(n log psi):
 * each product is rounded by less than 3 units of itself, so n draws by n times what one is off by
 * and 6 n units. That is little for thousands of draws, and no line of more of them is long.
 * Promise: as line_node. */
static const double most_draws = 2e4;
static const double most_error = 0.1; /* relative, of a node that is summed */

static bool line_has_blocks(const brume_line *line)
{
    double draws = 0;
    for (size_t i = 0; i < line->law_count; i++) {
        if (!line->laws[i].family->psi_block)
            return false;
        draws += line->laws[i].count;
    }
    return line->unit == 0 && line->band.width > 0 && line->centre == 0 && draws <= most_draws;
}

/* The product so far times re + i im to the power of `count`. */
BRUME_BODY void multiply_powers_body(double *restrict re, double *restrict im,
                                     const double *restrict base_re, const double *restrict base_im,
                                     unsigned long count)
{
    double power_re[BRUME_PSI_BLOCK], power_im[BRUME_PSI_BLOCK];
    for (size_t j = 0; j < BRUME_PSI_BLOCK; j++) {
        power_re[j] = base_re[j];
        power_im[j] = base_im[j];
    }
    for (;; count /= 2) {
        if (count % 2)
            for (size_t j = 0; j < BRUME_PSI_BLOCK; j++) {
                double old = re[j];
                re[j] = old * power_re[j] - im[j] * power_im[j];
                im[j] = old * power_im[j] + im[j] * power_re[j];
            }
        if (count <= 1)
            break;
        for (size_t j = 0; j < BRUME_PSI_BLOCK; j++) {
            double old = power_re[j];
            power_re[j] = (old - power_im[j]) * (old + power_im[j]);
            power_im[j] = 2 * old * power_im[j];
        }
    }
}
BRUME_PATHS(static, multiply_powers,
            (double *re, double *im, const double *base_re, const double *base_im,
             unsigned long count),
            (re, im, base_re, base_im, count))

/* psi of all draws, off by error[j] of itself, and a bound of the log of its modulus. */
typedef struct all_psi {
    double re[BRUME_PSI_BLOCK], im[BRUME_PSI_BLOCK], error[BRUME_PSI_BLOCK],
        ceiling[BRUME_PSI_BLOCK];
} all_psi;

static void multiply_laws(const brume_line *line, const double *y, all_psi *all)
{
    for (size_t j = 0; j < BRUME_PSI_BLOCK; j++) {
        all->re[j] = 1;
        all->im[j] = all->error[j] = all->ceiling[j] = 0;
    }
    for (size_t i = 0; i < line->law_count; i++) {
        const brume_law *law = &line->laws[i];
        double re[BRUME_PSI_BLOCK], im[BRUME_PSI_BLOCK], error[BRUME_PSI_BLOCK];
        law->family->psi_block(law, y, BRUME_PSI_BLOCK, re, im, error);
        for (size_t j = 0; j < BRUME_PSI_BLOCK; j++) {
            double size = sqrt(re[j] * re[j] + im[j] * im[j]);
            all->error[j] += law->count * (error[j] / size + 8 * unit);
            if (!(all->error[j] <= most_error)) /* not summed: its modulus is all that is used */
                all->ceiling[j] += law->count * log(fmin(size * (1 + 4 * unit) + error[j], 1));
        }
        multiply_powers(all->re, all->im, re, im, (unsigned long)law->count);
    }
}

static void band_at_block(const brume_band *of, const double *y, size_t count,
                          brume_band_block *out);

static void line_block(const brume_line *line, long from, brume_node_block *out)
{
    double y[BRUME_PSI_BLOCK];
    all_psi psi;
    brume_band_block kernel;
    out->from = from;
    for (size_t j = 0; j < BRUME_PSI_BLOCK; j++) /* beyond the end of the band: any place will do */
        y[j] = fmin((double)(from + (long)j) * line->h, line->band.end * (1 - 1e-15));
    multiply_laws(line, y, &psi);
    band_at_block(&line->band, y, BRUME_PSI_BLOCK, &kernel);
    for (size_t j = 0; j < BRUME_PSI_BLOCK; j++) {
        double first_re = kernel.upper_re[j], first_im = kernel.upper_im[j];
        double second_re = kernel.lower_re[j], second_im = kernel.lower_im[j];
        double first = sqrt(first_re * first_re + first_im * first_im) * (1 + 8 * unit);
        double second = sqrt(second_re * second_re + second_im * second_im) * (1 + 8 * unit);
        brume_line_node *node = &out->node[j];
        *node = (brume_line_node){.y = y[j]};
        if (!(psi.error[j] <= most_error)) {
            double bound = exp(psi.ceiling[j]) * (1 + 1e-9);
            node->error = bound * (first + kernel.error[j]) * (1 + 1e-9) + 1e-280;
            node->second_error = bound * (second + kernel.error[j]) * (1 + 1e-9) + 1e-280;
            out->size[j] = bound * first;
            continue;
        }
        double re = psi.re[j], im = psi.im[j], size = sqrt(re * re + im * im) * (1 + 4 * unit);
        node->first_re = re * first_re - im * first_im;
        node->first_im = re * first_im + im * first_re;
        node->second_re = re * second_re - im * second_im;
        node->second_im = re * second_im + im * second_re;
        /* |e^w - 1| <= 1.1 |w|; products of both: 16 units; what underflows is not nothing */
        double off = 1.1 * psi.error[j] + 16 * unit;
        node->error = size * (first * off + 1.2 * kernel.error[j]) + 1e-280;
        node->second_error = size * (second * off + 1.2 * kernel.error[j]) + 1e-280;
        out->size[j] = size * first;
    }
}

/* The band-limited functions around f. See the header and proofs/accountant/contour.md, section
 * contour.2.
 *
 * With z = sw, z1 = (s+1)w, Q(z) = e^{-az}/(1 - e^{-z}):
 *   M^ = w {(1 + iz/2 pi) [Q(z) - Q(z1)] - (iw/2 pi) Q(z1)},
 *   Q(z) - Q(z1) = e^{-az} [(1 - e^{-aw}) + e^{-z} (e^{-aw} - e^{-w})]/((1-e^{-z})(1-e^{-z1})),
 * m^ the same with a = 0 and + (i/2 pi) `slope` in the braces. Promise: `error` bounds the error of
 * both for the exact a and slope. */

/* log(sinh x / x) and x coth x - 1 for 0 <= x <= 1/2, to a few units of a long double. */
static void hyperbolic_rests(long double x, long double *log_rest, long double *coth_rest)
{
    long double q = x * x, term = 1, sum = 0, moment = 0;
    for (int k = 1; k < 12; k++) { /* x^{2k}/(2k+1)! */
        term *= q / (long double)(2 * k * (2 * k + 1));
        sum += term;
        moment += 2 * k * term;
    }
    *log_rest = log1pl(sum);
    *coth_rest = moment / (1 + sum);
}

void brume_band_open(double width, double c, brume_band *out)
{
    double w = (double)(float)fmin(width, 0.999999 / (c + 1));
    brume_band band = {.width = w, .c = c, .end = 2 * M_PI / w};
    long double low = (long double)c * w, high = ((long double)c + 1) * w;
    long double log_low, log_high, coth_low, coth_high;
    hyperbolic_rests(low / 2, &log_low, &coth_low);
    hyperbolic_rests(high / 2, &log_high, &coth_high);
    band.offset = (double)(0.5L + (log_low - log_high) / w);
    band.slope = (double)(0.5L * w + coth_high - coth_low);
    /* differences of numbers up to high^2/12 known to 8 units of 2^-64; rounded to doubles */
    band.doubt = 1 + 0x1p-8 * (c + 1) * (c + 1) * w;
    band.decay = (double)expl(-low);
    band.decay_more = (double)expl(-high);
    band.rest = (double)-expm1l(-low);
    band.rest_more = (double)-expm1l(-high);
    band.near = -expm1(-band.offset * w);
    band.whole = exp(-band.offset * w);
    band.far = -band.whole * expm1(-(1 - band.offset) * w);
    band.offset_decay = exp(-band.offset * (double)low);
    band.step = -expm1(-w);
    *out = band;
}

/* From y and the sines: sin(theta/2), sin(theta), and those of -a theta. */
BRUME_BODY void band_body(const brume_band *band, const double *restrict y,
                          const double *restrict halves, const double *restrict sines,
                          const double *restrict offset_sines,
                          const double *restrict offset_cosines, size_t count,
                          brume_band_block *restrict out)
{
    double w = band->width, share = w * (0.5 * M_1_PI);
    for (size_t j = 0; j < count; j++) {
        double theta = y[j] * w, half = halves[j], sine = sines[j];
        double versine = 2 * half * half; /* 1 - cos */
        double turn_re = offset_cosines[j] * band->offset_decay;
        double turn_im = offset_sines[j] * band->offset_decay;
        double one_re = band->rest + band->decay * versine, one_im = band->decay * sine;
        double two_re = band->rest_more + band->decay_more * versine,
               two_im = band->decay_more * sine;
        double one = one_re * one_re + one_im * one_im, two = two_re * two_re + two_im * two_im;
        /* 1/((1-e^{-z})(1-e^{-z1})), and 1/(1-e^{-z1}) */
        double below_re = one_re * two_re - one_im * two_im;
        double below_im = one_re * two_im + one_im * two_re;
        double both = 1 / (one * two), alone = one * both;
        double inverse_re = below_re * both, inverse_im = -below_im * both;
        double more_re = two_re * alone, more_im = -two_im * alone;
        double wave_re = band->decay - band->decay * versine, wave_im = -one_im; /* e^{-z} */
        /* 1 + iz/2 pi: z = cw + i theta */
        double ramp_re = 1 - theta * (0.5 * M_1_PI), ramp_im = band->c * w * (0.5 * M_1_PI);

        double top_re = band->near + band->far * wave_re, top_im = band->far * wave_im;
        double q_re = top_re * inverse_re - top_im * inverse_im;
        double q_im = top_re * inverse_im + top_im * inverse_re;
        double sum_re = ramp_re * q_re - ramp_im * q_im + share * band->whole * more_im;
        double sum_im = ramp_re * q_im + ramp_im * q_re - share * band->whole * more_re;
        out->upper_re[j] = w * (sum_re * turn_re - sum_im * turn_im);
        out->upper_im[j] = w * (sum_re * turn_im + sum_im * turn_re);

        q_re = band->step * (wave_re * inverse_re - wave_im * inverse_im);
        q_im = band->step * (wave_re * inverse_im + wave_im * inverse_re);
        out->lower_re[j] = w * (ramp_re * q_re - ramp_im * q_im + share * more_im);
        out->lower_im[j] =
            w * (ramp_re * q_im + ramp_im * q_re - share * more_re + band->slope * (0.5 * M_1_PI));

        /* In units. theta: one of itself; waves: 4 and theta's; 1 - e^{-z}: 12 of itself and 2
         * theta; near + far e^{-z}: 16 + theta of near + far <= step; ramp: 4 and its factors'
         * own; a by `doubt`: |z| <= 8 of the brackets and w of Q(z1). Rounded up. */
        double one_size = sqrt(two * both), two_size = sqrt(alone);
        double ramp = fabs(ramp_re) + ramp_im;
        double q_error =
            band->step * one_size * two_size *
            ((140 + 6 * theta + 3 * theta * (one_size + two_size) + 10 * band->doubt) * ramp + 10);
        double more_error = share * two_size *
                            (100 + 6 * theta + 3 * theta * two_size + band->doubt * (8 + 7 * ramp));
        double slope_error = (8 * band->slope + 2 * w * band->doubt) * (0.5 * M_1_PI);
        out->error[j] = 1.1 * unit * w * (q_error + more_error + slope_error);
    }
}

BRUME_PATHS(static, band,
            (const brume_band *band, const double *y, const double *halves, const double *sines,
             const double *offset_sines, const double *offset_cosines, size_t count,
             brume_band_block *out),
            (band, y, halves, sines, offset_sines, offset_cosines, count, out))

static void band_at_block(const brume_band *of, const double *y, size_t count,
                          brume_band_block *out)
{
    enum { BLOCK = BRUME_PSI_BLOCK };
    double angle[BLOCK] = {0}, half[BLOCK], sine[BLOCK], offset_sine[BLOCK], offset_cosine[BLOCK],
           unused[BLOCK];
    for (size_t j = 0; j < count; j++)
        angle[j] = 0.5 * (y[j] * of->width);
    brume_vector_sincos(angle, half, unused, count);
    for (size_t j = 0; j < count; j++)
        angle[j] = y[j] * of->width;
    brume_vector_sincos(angle, sine, unused, count);
    for (size_t j = 0; j < count; j++)
        angle[j] = -of->offset * (y[j] * of->width);
    brume_vector_sincos(angle, offset_sine, offset_cosine, count);
    band(of, y, half, sine, offset_sine, offset_cosine, count, out);
}

brume_band_pair brume_band_at(const brume_band *of, double y)
{
    brume_band_block out;
    band_at_block(of, &y, 1, &out);
    return (brume_band_pair){out.upper_re[0], out.upper_im[0], out.lower_re[0], out.lower_im[0],
                             out.error[0]};
}

double brume_band_weight(const brume_band *band, double low, double high)
{
    double plain = 1 / low - (high < INFINITY ? 1 / high : 0); /* |s(s+1)| >= y^2 */
    if (band->width > 0) /* |M^ - f^| <= the integral of M - f <= 1.05 w^2/24; f - m: w^2/12 */
        plain += (fmin(high, band->end) - low) * band->width * band->width / 12;
    return plain * (M_1_PI * 1.0001);
}

static const size_t most_nodes = 400000; /* per line */
static const double most_time = 2.5e8;   /* nanoseconds or so of one line of costly nodes */

long double brume_cumulant(brume_law *laws, size_t count, double c, double *slope, double *error)
{
    long double sum = 0;
    double total_slope = 0, total_error = 0, one_slope = 0, one_error = 0;
    for (size_t i = 0; i < count; i++) {
        long double value =
            brume_law_cumulant(&laws[i], c, slope ? &one_slope : NULL, error ? &one_error : NULL);
        sum += laws[i].count * value;
        total_slope += laws[i].count * one_slope;
        /* a count above 2^53 is itself rounded, by one unit */
        total_error += laws[i].count * (one_error + 2 * unit * 0x1p-9 * (double)fabsl(value) +
                                        (laws[i].count > 0x1p53 ? unit * (double)fabsl(value) : 0));
    }
    if (slope)
        *slope = total_slope;
    if (error)
        *error = total_error * (1 + 1e-9);
    return sum;
}

/* K'(c) - eps - 1/c - 1/(c+1) */
static double saddle_slope(brume_law *laws, size_t count, double epsilon, double c)
{
    double slope;
    brume_cumulant_rough(laws, count, c, &slope);
    return slope - epsilon - 1 / c - 1 / (c + 1);
}

double brume_saddle(brume_law *laws, size_t count, double epsilon)
{
    double low = 1e-12, high = 1;
    while (high < 1e13 && saddle_slope(laws, count, epsilon, high) <= 0) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 80 && high - low > 1e-2 * high; i++) {
        double middle = low < high / 4 ? sqrt(low * high) : 0.5 * (low + high);
        if (saddle_slope(laws, count, epsilon, middle) > 0)
            high = middle;
        else
            low = middle;
    }
    return (double)(float)(0.5 * (low + high));
}

/* The common lattice of the losses: unit, and whether the sum of all draws sits at half units. */
static void find_lattice(brume_line *line)
{
    double common = 0;
    bool half = false;
    line->unit = 0;
    for (size_t i = 0; i < line->law_count; i++) {
        const brume_law *law = &line->laws[i];
        double own = law->unit / fmax(law->multiple, 1); /* exact: see law.h */
        if (law->unit == 0 || (common != 0 && own != common) || law->count > 0x1p53)
            return;
        if (law->unit_is_rounded && line->law_count > 1)
            return;
        common = own;
        half ^= law->half && fmod(law->count, 2) != 0 && fmod(law->multiple, 2) != 0;
    }
    line->unit = common;
    line->half = half;
}

/* The sum of the laws' centres: each law leaves the phase e^{iy centre} out of its psi. */
static void find_centre(brume_line *line)
{
    long double sum = 0;
    double error = 0;
    for (size_t i = 0; i < line->law_count; i++) {
        const brume_law *law = &line->laws[i];
        sum += law->count * law->centre;
        error += law->count * law->centre_error;
    }
    line->centre = (double)sum;
    line->centre_error = 1.01 * (error + 2 * unit * fabs(line->centre));
}

double brume_line_size(const brume_line *line, double epsilon)
{
    double c = line->c;
    return (double)(line->cumulant - (long double)c * epsilon) - log(c) - log1p(c) +
           log(line->h / M_PI);
}

static double chernoff_point(double c, int i);

/* X = 2 pi/h such that the aliases of the line at c are below e^{-3} `share` of T, which is near
 * e^lead: exp(-cX) for those below eps, moments for those above. k is log phi(c). */
static double spacing_for(const brume_line *line, double epsilon, double c, double k, double share)
{
    double lead = line->lead, need = 3 - log(share), spacing = (fmax(-lead, 0) + need) / c,
           best = INFINITY;
    double height = k - c * epsilon - log(c) - log1p(c);
    for (int i = 0; i < BRUME_CHERNOFF_POINTS; i++) {
        double other = chernoff_point(c, i);
        double moment = brume_cumulant_rough(line->laws, line->law_count, other, NULL);
        double bound = moment - other * epsilon - fmin(lead, height) + need;
        double here = bound / (other - c);
        if (here < best) /* fmin here ends gcc 12 for arm64 with an internal error */
            best = here;
    }
    return best > 0 && best < INFINITY ? fmax(spacing, best) : spacing;
}

/* The step between nodes may be any number: it is rounded to 24 bits, so that an index times it is
 * exact, but never to 0, which a conversion to float would do below 1e-45. */
static double few_bits(double x)
{
    int power;
    double part = frexp(fmax(x, 1e-280), &power);
    return ldexp((double)(float)part, power);
}

void brume_line_aim(brume_line *line, double epsilon)
{
    double c = brume_saddle(line->laws, line->law_count, epsilon), error;
    line->c = c;
    line->cumulant = brume_cumulant(line->laws, line->law_count, c, NULL, &error);
    line->cumulant_error = error;
    double k = (double)line->cumulant;
    double lead = (double)(line->cumulant - (long double)c * epsilon) - log(c) - log1p(c);
    line->lead = lead;
    double spacing = spacing_for(line, epsilon, c, k, brume_line_tolerance(line));
    line->h = few_bits(2 * M_PI / spacing);
    line->saddle = c;
    find_lattice(line);
    if (line->unit > 0) {
        double fold = ceil(2 * M_PI / (line->unit * line->h));
        if (fold > 1e15) {
            line->unit = 0;
            return;
        }
        fold = fmax(fold, 3);
        line->fold = fmod(fold, 2) == 0 ? fold + 1 : fold;
        line->h = 2 * M_PI / (line->unit * line->fold);
    }
}

bool brume_line_decays(brume_line *line, double epsilon, double goal, double most)
{
    double base = (double)(line->cumulant - (long double)line->c * epsilon);
    for (double nodes = 500; nodes <= most; nodes *= 4) {
        double y = nodes * line->h, bound = base - log(y);
        for (size_t i = 0; i < line->law_count; i++)
            bound += line->laws[i].count * brume_law_envelope(&line->laws[i], y, INFINITY);
        if (bound < log(brume_line_tolerance(line)) + goal)
            return true;
    }
    return false;
}

static bool push(brume_line *line, brume_line_node node)
{
    if (line->count == line->capacity) {
        size_t capacity = line->capacity ? 2 * line->capacity : 256;
        brume_line_node *nodes = realloc(line->nodes, capacity * sizeof *nodes);
        if (!nodes)
            return false;
        line->nodes = nodes;
        line->capacity = capacity;
    }
    line->nodes[line->count++] = node;
    return true;
}

/* The log of an upper bound of |psi| of all draws over [low, high]. Laws whose bounds are expensive
 * are not asked once the others bring it below `enough`: |psi| <= 1 for each. */
static double envelope(brume_line *line, double low, double high, double enough)
{
    double sum = 0;
    for (int expensive = 0; expensive < 2 && !(sum < enough); expensive++)
        for (size_t i = 0; i < line->law_count; i++)
            if (brume_law_is_expensive(&line->laws[i]) == (expensive == 1))
                sum += line->laws[i].count * brume_law_envelope(&line->laws[i], low, high);
    return sum;
}

/* The index of the last node: of the fold, or of the band. */
static double last_node(const brume_line *line)
{
    if (line->unit > 0)
        return floor(line->fold / 2);
    return line->band.width > 0 ? floor(line->band.end * (1 - 1e-15) / line->h) : INFINITY;
}

/* Skip nodes after `index`, at most `most` and not below `least` of them, whose bounds together are
 * small enough to be added to the error instead; returns how many were skipped. */
static long skip_band(brume_line *line, long index, double limit, double most, double least)
{
    double y = (double)index * line->h, c = line->c;
    double last = last_node(line);
    double kernel = line->unit > 0 ? 2 / -expm1(-c * line->unit) : 0;
    for (double skip = floor(most); skip >= least; skip = floor(skip / 3)) {
        if ((double)index + skip > last)
            skip = last - (double)index;
        if (skip < 1)
            return 0;
        double high = y + skip * line->h, weight;
        if (line->unit > 0)
            weight = kernel * 2 * skip / line->fold;
        else
            weight = brume_band_weight(&line->band, y, high);
        double bound = envelope(line, y + line->h, high, limit - log(weight));
        if (bound + log(weight) < limit) {
            line->skipped += exp(bound) * weight * 1.0001;
            line->last_skip = skip;
            return (long)skip;
        }
    }
    return 0;
}

/* With a band the interval is as wide as the band makes it, so the aliases (the terms of T at other
 * places than eps) need only be small against that: h may be larger, and there are fewer nodes. The
 * aliases below eps are at most exp(-cX), so a c above the saddle point allows a larger h still; c
 * is not moved so far that the terms of the sum are much larger than T, and cancel. */
static void spread(brume_line *line, double epsilon)
{
    double c = line->saddle > 0 ? line->saddle : line->c;
    double open = c * (c + 1) * line->width * line->width / 8;
    double share = fmin(fmax(1e-3 * open, brume_line_tolerance(line)), 1e-3);
    double least = INFINITY, place = c;
    double saddle = brume_cumulant_rough(line->laws, line->law_count, c, NULL) - c * epsilon;
    bool expensive = 2 * M_PI / (line->width * line->h) > 4000;
    for (int i = 0; i < (expensive ? 8 : 1); i++) {
        double other = (double)(float)(c * (1 + 0.1 * i));
        double k = brume_cumulant_rough(line->laws, line->law_count, other, NULL);
        if (!(k - other * epsilon <= saddle + 3))
            break;
        double spacing = spacing_for(line, epsilon, other, k, share);
        if (spacing < least) {
            least = spacing;
            place = other;
        }
    }
    line->c = place;
    line->h = few_bits(2 * M_PI / least);
}

double brume_line_node_cost(const brume_line *line)
{
    if (line_has_blocks(line))
        return 60 + 20 * (double)line->law_count;
    double sum = 400;
    for (size_t i = 0; i < line->law_count; i++)
        sum += brume_law_node_cost(&line->laws[i]);
    return sum;
}

bool brume_line_ready(brume_line *line)
{
    for (size_t i = 0; i < line->law_count; i++)
        if (!brume_law_settle(&line->laws[i], line->c))
            return false;
    double error;
    line->cumulant = brume_cumulant(line->laws, line->law_count, line->c, NULL, &error);
    line->cumulant_error = error;
    find_centre(line);
    line->count = 0;
    line->skipped = 0;
    line->last_skip = INFINITY;
    line->cut = false;
    line->band = (brume_band){0};
    if (line->width > 0 && line->unit == 0) {
        brume_band_open(line->width, line->c, &line->band);
        /* a node so near the end that rounding says on which side: nothing, up to its error */
        line->skipped = 4 * line->h * brume_band_at(&line->band, line->band.end).error;
    }
    return true;
}

static brume_line_node line_node(const brume_line *line, long index, double least, double *size);

bool brume_line_lay_all(brume_line *line, size_t last, double least)
{
    double size;
    for (size_t index = 0; index <= last; index++)
        if (!push(line, line_node(line, (long)index, least, &size)))
            return false;
    return true;
}

/* The node at `index`, from the block that it is in where there are blocks. */
static brume_line_node next_node(const brume_line *line, long index, double least,
                                 brume_node_block *block, double *size)
{
    if (!block)
        return line_node(line, index, least, size);
    if (index < block->from || index >= block->from + BRUME_PSI_BLOCK)
        line_block(line, index, block);
    *size = block->size[index - block->from];
    return block->node[index - block->from];
}

bool brume_line_lay(brume_line *line, double epsilon, double goal)
{
    if (line->width > 0 && line->unit == 0)
        spread(line, epsilon);
    if (!brume_line_ready(line))
        return false;
    /* how much may be left out, over exp(cumulant - c eps) */
    double scale = (double)(line->cumulant - (long double)line->c * epsilon);
    double limit = log(brume_line_tolerance(line)) + goal - scale;
    double weight = line->unit > 0 ? log(2 / line->fold) : log(line->h / M_PI);
    double last = last_node(line);
    int since = 0, useless = 0;
    size_t most = line->width == 0 && line->unit == 0 ? most_nodes / 8 : most_nodes;
    most = (size_t)fmin((double)most, most_time / brume_line_node_cost(line));
    double large = exp(fmin(limit + 12 - weight, 700)); /* a node above it is not skipped */
    brume_node_block memory = {.from = -BRUME_PSI_BLOCK};
    brume_node_block *block = line_has_blocks(line) ? &memory : NULL;
    for (long index = 0; (double)index <= last; index++) {
        double size;
        if (!push(line, next_node(line, index, limit - weight - 16, block, &size)))
            return false;
        const brume_line_node *node = &line->nodes[line->count - 1];
        useless += node->first_re == 0 && node->first_im == 0 && node->error > exp(limit);
        bool full = line->count >= most || useless > 1000;
        if (index < 4 || (size > large && !full)) {
            since = 0;
            continue;
        }
        if (since++ % 8 && !full)
            continue;
        double y = (double)index * line->h;
        if (line->unit == 0) {
            double end = last < INFINITY ? last * line->h : INFINITY;
            double share = brume_band_weight(&line->band, y, end);
            double rest = envelope(line, y + line->h, end, limit - log(share));
            if (rest + log(share) < limit || full) {
                line->cut = full;
                line->skipped += exp(rest) * share * 1.0001;
                return true;
            }
        } else if (full) {
            /* the fold was not finished: the rest by |kernel| alone */
            double rest = 2 / -expm1(-line->c * line->unit) * 2 * (last - (double)index) /
                          line->fold;
            line->cut = true;
            double bound = envelope(line, y + line->h, last * line->h, -INFINITY);
            line->skipped += rest * exp(bound) * 1.0001;
            return true;
        }
        /* Several skips one after another, since a node between two of them would be small: the
         * first of up to three times as many nodes as last time, the others of no more than the one
         * before, because more than that were just found to be too many. */
        double some = fmax(fmin(4.0 * (double)index, 3 * line->last_skip), 64);
        for (int times = 0; times < 8 && some > 0; times++) {
            some = (double)skip_band(line, index, limit - 3, some, block ? 8 : 2);
            index += (long)some;
            since = some > 0 ? 0 : since;
        }
    }
    return true;
}

void brume_line_close(brume_line *line)
{
    free(line->nodes);
    line->nodes = NULL;
    line->count = line->capacity = 0;
}

/* The nodes of a line (psi times the kernel, and bounds of both), their sum, and what the sum
 * certifies. See line.h and proofs/accountant/contour.md, sections contour.1 and contour.2.
 *
 * Promise: a node's parts are within its errors of the truth; of a node that is not summed the
 * errors bound the parts themselves. */

/* --- one node --- */

/* The complex inverse of 1 - exp(-z a), z = x + iy. */
static void inverse_step(double x, double y, double a, double *re, double *im)
{
    double s = sin(y * a), half = sin(0.5 * y * a), decay = exp(-x * a);
    double below_re = -expm1(-x * a) + decay * 2 * half * half, below_im = decay * s;
    double square = below_re * below_re + below_im * below_im;
    *re = below_re / square;
    *im = -below_im / square;
}

/* The logarithm of psi at one node, summed over laws. */
typedef struct log_sum {
    double re, im, size, error, ceiling;
    bool usable;
} log_sum;

static void add_laws(const brume_line *line, bool expensive, long index, log_sum *sum)
{
    for (size_t i = 0; i < line->law_count; i++) {
        brume_law *law = &line->laws[i];
        if (brume_law_is_expensive(law) != expensive)
            continue;
        brume_log_psi psi = brume_law_node(law, index, line->h);
        double part_re = law->count * psi.re, part_im = law->count * psi.im;
        sum->re += part_re;
        sum->im += part_im;
        sum->size += fabs(part_re) + fabs(part_im);
        sum->ceiling += law->count * psi.ceiling;
        sum->error += law->count * psi.error;
        sum->usable &= psi.error <= 0.15;
    }
}

/* What psi is multiplied by: see brume_line_node. */
typedef struct kernel_parts {
    double first_re, first_im, second_re, second_im;
    double size, second_size, lever;
    double error, second_error, absolute; /* two relative, and one for both */
} kernel_parts;

static kernel_parts kernel_at(const brume_line *line, double y)
{
    kernel_parts k = {.error = 16 * unit};
    double c = line->c, second_decay = 0;
    if (line->unit > 0) {
        /* kappa(s) = e^{-s x0} [(1 - e^{-t}) + e^{-(s+1)a} (e^{a-t} - 1)] alpha beta, t = x0 - eps,
         * alpha = 1/(1-e^{-sa}), beta = 1/(1-e^{-(s+1)a}): two terms that do not cancel */
        double a = line->unit, alpha_re, alpha_im, beta_re, beta_im, si, co;
        inverse_step(c, y, a, &alpha_re, &alpha_im);
        inverse_step(c + 1, y, a, &beta_re, &beta_im);
        k.first_re = alpha_re * beta_re - alpha_im * beta_im;
        k.first_im = alpha_re * beta_im + alpha_im * beta_re;
        sincos(y * a, &si, &co);
        double decay = exp(-(c + 1) * a);
        k.second_re = decay * (k.first_re * co + k.first_im * si);
        k.second_im = decay * (k.first_im * co - k.first_re * si);
        k.lever = hypot(beta_re, beta_im);
        /* relative: the unit by 12 units in 1 - e^{-za}: at most |z a| e^{-Re za}/|1 - e^{-za}| */
        k.error = unit * (96 + 16 * (c * a + y * a) * exp(-c * a) * hypot(alpha_re, alpha_im) +
                          16 * ((c + 1) * a + y * a) * decay * k.lever);
        /* second: and e^{-(s+1)a} itself */
        second_decay = decay;
        k.second_error = k.error + unit * (16 + 16 * ((c + 1) * a + y * a));
    } else if (line->band.width > 0) {
        brume_band_pair pair = brume_band_at(&line->band, y);
        k.first_re = pair.upper_re;
        k.first_im = pair.upper_im;
        k.second_re = pair.lower_re;
        k.second_im = pair.lower_im;
        k.absolute = pair.error;
    } else {
        double below_re = c * (c + 1) - y * y, below_im = (2 * c + 1) * y;
        double square = (c * c + y * y) * ((c + 1) * (c + 1) + y * y);
        k.first_re = below_re / square;
        k.first_im = -below_im / square;
    }
    k.size = hypot(k.first_re, k.first_im);
    k.second_size = line->band.width > 0 ? hypot(k.second_re, k.second_im) : k.size * second_decay;
    k.second_error = fmax(k.error, k.second_error);
    return k;
}

/* A node of which only |psi| <= bound is known: it adds nothing to the sum, and its bound to the
 * error. */
static brume_line_node bounded_node(double y, const kernel_parts *k, double bound)
{
    brume_line_node node = {.y = y};
    node.error = bound * (k->size + k->absolute) * (1 + 1e-9) + 1e-300;
    node.second_error = bound * (k->second_size + k->absolute) * (1 + 1e-9) + 1e-300;
    return node;
}

/* The node at `index`; *size is its modulus, or a bound of it. One whose log size is certainly
 * below `least` by its cheap laws alone is bounded, not summed. */
static brume_line_node line_node(const brume_line *line, long index, double least, double *size)
{
    double y = (double)index * line->h;
    log_sum sum = {.usable = true};
    kernel_parts k = kernel_at(line, y);
    /* how much of the folded kernel there is: (1 - e^{-t}) + ... <= a, up to the lattice's step */
    double share = line->unit > 0 ? -expm1(-line->unit) : 1;
    add_laws(line, false, index, &sum);
    double bound = fmin(0, sum.ceiling);
    if (bound + log(k.size) < least) { /* the expensive laws are not asked */
        *size = exp(bound) * k.size * share;
        return bounded_node(y, &k, exp(bound));
    }
    add_laws(line, true, index, &sum);
    double error = sum.error + ((double)line->law_count + 8) * unit * sum.size;
    /* 24 units of 2^-53 more than the error of the logarithm: exp and sincos of it, and the
     * products and quotients of the kernel */
    error += 24 * unit + 4 * unit * (fabs(sum.re) + fabs(sum.im));
    if (!sum.usable || !(error <= 0.15)) {
        bound = fmin(0, sum.ceiling);
        *size = exp(bound) * k.size * share;
        return bounded_node(y, &k, exp(bound));
    }
    brume_line_node node = {.y = y};
    double s, co, modulus = exp(sum.re);
    sincos(sum.im, &s, &co);
    double psi_re = modulus * co, psi_im = modulus * s;
    node.first_re = psi_re * k.first_re - psi_im * k.first_im;
    node.first_im = psi_re * k.first_im + psi_im * k.first_re;
    node.second_re = psi_re * k.second_re - psi_im * k.second_im;
    node.second_im = psi_re * k.second_im + psi_im * k.second_re;
    node.lever = modulus * k.lever;
    node.error = modulus * (k.size * (1.1 * error + k.error) + 1.2 * k.absolute);
    node.second_error = modulus *
                        (k.second_size * (1.1 * error + k.second_error) + 1.2 * k.absolute);
    *size = modulus * k.size * share;
    return node;
}

/* --- the sum --- */

static const double chernoff_factors[BRUME_CHERNOFF_POINTS] = {1.03, 1.06, 1.12, 1.25, 1.5, 2, 3};

static double chernoff_point(double c, int i)
{
    return c * chernoff_factors[i] + (i > 3 ? fmin(0.5, c) : 0);
}

/* An upper bound of the error of a loss on the lattice and of eps - centre, as computed: 12 units
 * of 2^-53 of a, and the roundings of the sums and of the quotient below. */
static double displacement(const brume_line *line, double inside)
{
    return 18 * unit * (fabs(inside) + 2 * line->unit) + line->centre_error;
}

double brume_line_place(const brume_line *line, double epsilon)
{
    double offset = line->half ? 0.5 : 0, inside = epsilon - line->centre; /* one unit */
    return floor((inside - displacement(line, inside)) / line->unit - offset) + 1 + offset;
}

/* Sines and cosines of y * by for the nodes of a block. */
enum { BLOCK = 64 };

static void phases(const brume_line *line, size_t from, double by, double *s, double *co)
{
    double angle[BLOCK] = {0};
    size_t count = line->count - from < BLOCK ? line->count - from : BLOCK;
    for (size_t j = 0; j < count; j++)
        angle[j] = line->nodes[from + j].y * by;
    brume_vector_sincos(angle, s, co, count);
}

static brume_line_sum evaluate_folded(const brume_line *line, double epsilon)
{
    double a = line->unit, c = line->c, inside = epsilon - line->centre;
    /* `start`, from the centre: the smallest loss that may be above eps. The loss before it is
     * surely not; if eps is beyond `start`, then by no more than it may have moved, and delta is
     * convex: the slope before `start`, which the lever bounds, is the steeper one. */
    double start = brume_line_place(line, epsilon) * a;
    double above = fmin(fmax(start - inside, 0), a);
    double near = -expm1(-above), far = expm1(a - above), decay = exp(-above);
    double moved = displacement(line, inside);
    if (above == 0)
        moved *= 2.5; /* eps may lie beyond it */
    double sum = 0, slope = 0, error = 0, absolute = 0, whole = exp(a);
    double sines[BLOCK], cosines[BLOCK];
    for (size_t i = 0; i < line->count; i++) {
        if (i % BLOCK == 0)
            phases(line, i, start, sines, cosines);
        const brume_line_node *node = &line->nodes[i];
        double half = i ? 1 : 0.5, s = sines[i % BLOCK], co = cosines[i % BLOCK];
        if (node->first_re == 0 && node->first_im == 0) { /* not summed */
            error += (node->error * near + node->second_error * far) * (1 + 1e-9);
            continue;
        }
        double first = node->first_re * co + node->first_im * s;
        double second = node->second_re * co + node->second_im * s;
        double term = half * (near * first + far * second);
        sum += term;
        slope -= half * decay * (first - second * whole);
        absolute += fabs(near * first) + fabs(far * second);
        double size = near * (fabs(node->first_re) + fabs(node->first_im)) +
                      far * (fabs(node->second_re) + fabs(node->second_im));
        /* the node's own; a in e^{a-t}; the phase y start; t, through d/dt = e^{-t} psi beta */
        error += node->error * near + node->second_error * far +
                 size * (16 * unit + 14 * unit * a + node->y * moved) + 1.1 * node->lever * moved;
    }
    absolute *= 1.1;
    error += unit * ((double)line->count + 4) * absolute;
    long double exponent = line->cumulant - (long double)c * ((long double)start + line->centre);
    /* the lattice, 12 units */
    double shift = line->cumulant_error + c * (14 * unit * fabs(start) + line->centre_error);
    double scale = exp((double)exponent) * (1 + 8 * unit * (1 + (double)fabsl(exponent)));
    double weight = 2 / line->fold;
    brume_line_sum out = {.value = scale * weight * sum, .slope = scale * weight * slope};
    out.error =
        scale *
            ((weight * error + line->skipped) * (1 + expm1(shift)) +
             weight * fabs(sum) * (expm1(shift) + 16 * unit * (1 + (double)fabsl(exponent)))) *
            1.0001 +
        1e-300;
    return out;
}

/* Sums over the nodes' first parts, or over their second ones. */
typedef struct plain_sum {
    double sum, slope, error, absolute;
} plain_sum;

static inline void add_node(plain_sum *to, double y, double re, double im, double own, double s,
                            double co, double c, double turn, double away)
{
    double value = re * co + im * s;
    to->sum += value;
    to->slope -= c * value - y * (im * co - re * s); /* d/d eps multiplies by -s */
    to->absolute += fabs(value);
    to->error += own + (fabs(re) + fabs(im)) * (unit * (12 + 4 * y * turn) + y * away);
}

static brume_line_sum finish_plain(const brume_line *line, double epsilon, const plain_sum *all)
{
    double error = all->error + unit * ((double)line->count + 4) * all->absolute;
    long double exponent = line->cumulant - (long double)line->c * epsilon;
    double shift = line->cumulant_error + 2 * unit * line->c * fabs(epsilon);
    double scale = exp((double)exponent), weight = line->h / M_PI;
    double size = 16 * unit * (1 + (double)fabsl(exponent));
    brume_line_sum out = {.value = scale * weight * all->sum, .slope = scale * weight * all->slope};
    out.error = scale *
                    ((weight * error + line->skipped) * (1 + expm1(shift) + size) +
                     weight * fabs(all->sum) * (expm1(shift) + size)) *
                    1.0001 +
                1e-300;
    return out;
}

/* The plain sum; `lower`, if not NULL, is given that of the nodes' second parts. */
static brume_line_sum evaluate_plain(const brume_line *line, double epsilon, brume_line_sum *lower)
{
    double c = line->c, turn = epsilon - line->centre;
    /* error of turn */
    double away = line->centre == 0 ? 0 : unit * fabs(epsilon) + line->centre_error;
    plain_sum first = {0}, second = {0};
    double sines[BLOCK], cosines[BLOCK];
    for (size_t i = 0; i < line->count; i++) {
        if (i % BLOCK == 0)
            phases(line, i, turn, sines, cosines);
        const brume_line_node *n = &line->nodes[i];
        double half = i ? 1 : 0.5, s = half * sines[i % BLOCK], co = half * cosines[i % BLOCK];
        add_node(&first, n->y, n->first_re, n->first_im, n->error, s, co, c, fabs(turn), away);
        if (lower)
            add_node(&second, n->y, n->second_re, n->second_im, n->second_error, s, co, c,
                     fabs(turn), away);
    }
    if (lower)
        *lower = finish_plain(line, epsilon, &second);
    return finish_plain(line, epsilon, &first);
}

brume_line_sum brume_line_evaluate(const brume_line *line, double epsilon)
{
    if (line->unit > 0)
        return evaluate_folded(line, epsilon);
    return evaluate_plain(line, epsilon, NULL);
}

brume_line_sum brume_line_evaluate_both(const brume_line *line, double epsilon,
                                        brume_line_sum *lower)
{
    if (line->unit == 0 && line->band.width > 0)
        return evaluate_plain(line, epsilon, lower);
    return *lower = brume_line_evaluate(line, epsilon);
}

/* A bound of the part of the error of the rough cumulant that does not shrink with it: 1e-14 a
 * draw.
 */
static double rough_slack(const brume_line *line)
{
    double slack = 0;
    for (size_t i = 0; i < line->law_count; i++)
        slack += 1e-14 * line->laws[i].count;
    return slack;
}

/* T is delta(eps) plus aliases, terms >= 0 from other places than eps: an upper bound of their sum.
 */
static double aliases_upper(brume_line *line, double epsilon)
{
    double spacing = 2 * M_PI / line->h, c = line->c, best = INFINITY;
    double below = 1 / expm1(c * spacing); /* sum over n < 0, delta <= 1 */
    for (int i = 0; i < BRUME_CHERNOFF_POINTS; i++) {
        double other = chernoff_point(c, i), ratio = exp(-(other - c) * spacing);
        if (ratio > 0.99)
            continue;
        double slack = rough_slack(line);
        bool many = slack > 1e-6; /* then the careful sum */
        double k =
            (double)brume_cumulant(line->laws, line->law_count, other, NULL, many ? &slack : NULL);
        double bound = k - other * epsilon + other * log(other / (other + 1)) - log1p(other);
        slack += BRUME_ROUGH * (1 + fabs(k) + other * fabs(epsilon));
        bound = exp(bound + slack) * ratio / (1 - ratio);
        best = fmin(best, bound);
    }
    return (below + best) * 1.0001;
}

double brume_line_certify(brume_line *line, double epsilon, double *lower, double *upper)
{
    brume_line_sum below = {0}, at;
    if (lower)
        at = brume_line_evaluate_both(line, epsilon, &below);
    else
        at = brume_line_evaluate(line, epsilon);
    if (upper)
        *upper = at.value + at.error; /* T >= delta */
    if (lower)
        *lower = below.value - below.error - aliases_upper(line, epsilon);
    return lower ? fmax(at.value - below.value, 0) : 0;
}
