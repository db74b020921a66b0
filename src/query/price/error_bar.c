/* Error bars: how far the noise may have moved a released number.
 *
 * A mean is a ratio of two noisy numbers. Its interval is Fieller's: every m in the bounds for
 * which sum - m * count is within the width of its own noise. At the true m that difference is
 * noise and nothing else, so the interval misses with probability beta whatever the group's size.
 * [Fie54] */
#include "query/price/error_bar.h"

#include <math.h>

#include "query/price/noise_tail.h"

enum { STEPS = 100, PIECES = 32, EQUAL_MOST = 500 };

/* ---- one number ---- */

static brume_noise_tail_upper tail_of(brume_noise_kind noise)
{
    switch (noise) {
    case BRUME_NOISE_DISCRETE_LAPLACE:
        return brume_noise_tail_laplace_upper;
    case BRUME_NOISE_ROUNDED_GAUSSIAN:
        return brume_noise_tail_rounded_gaussian_upper;
    case BRUME_NOISE_DISCRETE_GAUSSIAN:
        break;
    }
    return brume_noise_tail_discrete_gaussian_upper;
}

static double find_width(brume_noise_kind noise, double scale, double beta)
{
    brume_noise_tail_upper tail = tail_of(noise);
    double high = 1; /* P[|noise| > w] = 2 P[noise >= w+1] */
    if (2 * tail(scale, 1) <= beta)
        return 0;
    while (high < 0x1p60 && 2 * tail(scale, high + 1) > beta)
        high *= 2;
    double low = floor(high / 2);
    while (high - low > 1) {
        double middle = floor(low + (high - low) / 2);
        if (middle == low || middle == high)
            break;
        if (2 * tail(scale, middle + 1) <= beta)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Every group of an answer asks for the same few widths, and certified tails take their time: each
 * thread remembers the last ones. */
double brume_error_width(brume_noise_kind noise, double scale, double beta)
{
    enum { REMEMBERED = 8 };
    static _Thread_local struct {
        brume_noise_kind noise;
        double scale, beta, width; /* beta 0: nothing yet */
    } known[REMEMBERED];
    static _Thread_local size_t next;
    for (size_t i = 0; i < REMEMBERED; i++)
        if (known[i].beta > 0 && known[i].noise == noise && known[i].scale == scale &&
            known[i].beta == beta)
            return known[i].width;
    double width = find_width(noise, scale, beta);
    known[next].noise = noise;
    known[next].scale = scale;
    known[next].beta = beta;
    known[next].width = width;
    next = (next + 1) % REMEMBERED;
    return width;
}

double brume_too_few(brume_noise_kind noise, double scale)
{
    return scale * (noise == BRUME_NOISE_DISCRETE_LAPLACE ? log(50) : 2.33);
}

/* ---- roots ---- */

typedef double (*function)(const void *context, double x);

/* Where f changes its sign between `inside` (f <= 0) and `outside` (f > 0): regula falsi with the
 * Illinois rule, to a relative 1e-10 of the bracket. Returns the outer end of what is left. */
static double crossing(function f, const void *context, double inside, double outside)
{
    double at_inside = f(context, inside), at_outside = f(context, outside);
    double width = fabs(outside - inside);
    int kept = 0; /* > 0: the outer end stayed, < 0: the inner one */
    for (int i = 0; i < STEPS && fabs(outside - inside) > 1e-10 * width; i++) {
        double middle = inside + (outside - inside) * (at_inside / (at_inside - at_outside));
        if (i % 8 == 7 || !(fabs(middle - inside) < fabs(outside - inside)) || middle == inside)
            middle = inside + (outside - inside) / 2;
        double value = f(context, middle);
        if (value <= 0) {
            inside = middle;
            at_inside = value;
            if (kept > 0)
                at_outside /= 2;
            kept = 1;
        } else {
            outside = middle;
            at_outside = value;
            if (kept < 0)
                at_inside /= 2;
            kept = -1;
        }
    }
    return outside;
}

/* ---- sums of independent noises ---- */

static double normal_gap(const void *beta, double z)
{
    return log(*(const double *)beta / erfc(z * M_SQRT1_2));
}

/* z with P[|N(0,1)| > z] = beta; remembered like the widths. */
static double normal_quantile(double beta)
{
    static _Thread_local double known_beta, known_quantile;
    if (!(known_beta > 0 && known_beta == beta)) {
        known_quantile = crossing(normal_gap, &beta, 0, 37);
        known_beta = beta;
    }
    return known_quantile;
}

double brume_error_width_fitted(brume_noise_kind noise, double scale, double beta)
{
    double normal = normal_quantile(beta) * scale;
    return noise == BRUME_NOISE_DISCRETE_LAPLACE ? fmax(M_SQRT2 * normal, -log(beta) * scale)
                                                 : normal;
}

typedef struct laplace_sum {
    double scale[3]; /* ascending and well apart */
    size_t count;
    double beta;
} laplace_sum;

/* ln(beta / P[|sum of continuous Laplaces| > t]), by partial fractions. */
static double laplace_gap(const void *context, double t)
{
    const laplace_sum *sum = context;
    double total = 0;
    for (size_t i = 0; i < sum->count; i++) {
        double weight = 1, square = sum->scale[i] * sum->scale[i];
        for (size_t j = 0; j < sum->count; j++)
            if (j != i)
                weight *= square / (square - sum->scale[j] * sum->scale[j]);
        total += weight * exp(-t / sum->scale[i]);
    }
    return total > 0 ? log(sum->beta / total) : 700;
}

/* Partial fractions need different scales: raise the larger ones until each is 5 % above the one
 * before. A larger scale only widens the sum (symmetric unimodal laws). */
static double laplace_sum_width(laplace_sum *sum)
{
    double *scale = sum->scale, total = 0;
    for (size_t i = 0; i < sum->count; i++) /* two or three: sort by exchange */
        for (size_t j = i + 1; j < sum->count; j++)
            if (scale[j] < scale[i]) {
                double other = scale[i];
                scale[i] = scale[j];
                scale[j] = other;
            }
    for (size_t i = 0; i < sum->count; i++) {
        if (i > 0)
            scale[i] = fmax(scale[i], 1.05 * scale[i - 1]);
        total += scale[i];
    }
    return crossing(laplace_gap, sum, 0, total * (1 + log(1 / sum->beta)));
}

double brume_error_width_combined(brume_noise_kind noise, const double *scale,
                                  const double *coefficient, size_t count, double beta)
{
    laplace_sum sum = {.beta = beta};
    double squares = 0, pad = 0;
    for (size_t i = 0; i < count && i < 3; i++) {
        double one = fabs(coefficient[i]) * scale[i];
        squares += one * one;
        if (!(one > 0))
            continue; /* an exact number */
        pad += fabs(coefficient[i]);
        sum.scale[sum.count++] = one;
    }
    if (sum.count == 0)
        return 0;
    /* Integer noise is within 1 of its continuous law under the monotone coupling; a rounded
     * Gaussian within 1/2. */
    if (noise == BRUME_NOISE_DISCRETE_LAPLACE)
        return laplace_sum_width(&sum) + pad;
    return normal_quantile(beta) * sqrt(squares) +
           (noise == BRUME_NOISE_ROUNDED_GAUSSIAN ? pad / 2 : pad);
}

typedef struct equal_sum {
    size_t count;
    double beta;
} equal_sum;

/* ln(beta / P[|sum of n Laplaces of scale 1| > t]). The sum is the difference of two Erlang numbers
 * of shape n: with probability C(2n-j-1, n-j) / 2^(2n-j) it is above 0 and one of shape j. */
static double equal_gap(const void *context, double t)
{
    const equal_sum *sum = context;
    double n = (double)sum->count, tail = 0, term = exp(-t), longer[EQUAL_MOST + 1] = {0};
    if (t > 700)
        return 700; /* the tail is not a double any more */
    for (size_t i = 0; i < sum->count; i++) {
        longer[i + 1] = longer[i] + term; /* P[an Erlang number of shape i + 1 is above t] */
        term *= t / (double)(i + 1);
    }
    double weight = ldexp(1, -(int)sum->count);
    for (size_t j = sum->count; j > 0; j--) {
        tail += weight * longer[j];
        weight *= (2 * n - (double)j) / (n - (double)j + 1) / 2;
    }
    return tail > 0 ? log(sum->beta / (2 * tail)) : 700;
}

/* Chernoff's bound, for t on a grid: a discrete Laplace of scale b has E exp(t X / b) <= 1 / (1 -
 * t^2), as the continuous one, since sinh is convex. */
static double chernoff_width(double scale, double count, double beta)
{
    double least = (double)INFINITY;
    for (double t = 1.0 / 256; t < 1; t += 1.0 / 256)
        least = fmin(least, (log(2 / beta) - count * log1p(-t * t)) / t);
    return scale * least;
}

double brume_error_width_of_sum(brume_noise_kind noise, double scale, size_t count, double beta)
{
    double n = (double)count;
    if (count <= 1)
        return count ? brume_error_width(noise, scale, beta) : 0;
    if (noise != BRUME_NOISE_DISCRETE_LAPLACE) /* near to continuous laws, as above */
        return normal_quantile(beta) * scale * sqrt(n) +
               (noise == BRUME_NOISE_ROUNDED_GAUSSIAN ? n / 2 : n);
    double width = chernoff_width(scale, n, beta);
    equal_sum sum = {count, beta};
    if (count <= EQUAL_MOST)
        width = fmin(width, scale * crossing(equal_gap, &sum, 0, n * (1 + log(1 / beta))) + n);
    return width;
}

/* ---- ratios ---- */

/* A noisy number that depends on x along a line, with the width of its own noise at each x. */
typedef struct line {
    brume_noise_kind noise;
    const brume_noisy_moments *moments;
    double beta;
    double m; /* for variances: the mean that is tried */
} line;

/* |S - mN| less the width of dS - m dN, and less what limits cut. If they cut z of the sum, |z| <=
 * Z and z >= 0 where no value is negative, and n of the number, 0 <= n <= C, then at the true m
 * S - mN = noise - z + m n: it is between -Z and Z, or 0 where z cannot be negative, and m C more
 * on the side of m. */
static double mean_excess(const void *context, double m)
{
    const line *of = context;
    const brume_noisy_moments *noisy = of->moments;
    double scale[] = {noisy->sum_scale, noisy->count_scale};
    double coefficient[] = {1, m};
    double off = noisy->sum - m * noisy->count, cut = m * noisy->count_cut;
    double above = (noisy->low < 0 ? noisy->sum_cut : 0) + fmax(0, cut);
    double below = (noisy->high > 0 ? noisy->sum_cut : 0) + fmax(0, -cut);
    return fmax(off - above, -off - below) -
           brume_error_width_combined(of->noise, scale, coefficient, 2, of->beta);
}

/* From `start`, which is inside, to where the excess becomes positive; `limit` if it does not. */
static double reach(function excess, const line *of, double start, double limit)
{
    return excess(of, limit) <= 0 ? limit : crossing(excess, of, start, limit);
}

brume_interval brume_error_mean(brume_noise_kind noise, const brume_noisy_moments *moments,
                                double beta)
{
    brume_interval whole = {moments->low, moments->high};
    if (moments->count_scale > 0 &&
        !(moments->count > brume_error_width(noise, moments->count_scale, beta)))
        return whole;
    line of = {noise, moments, beta, 0};
    double start = fmin(fmax(moments->sum / moments->count, moments->low), moments->high);
    if (mean_excess(&of, start) > 0)
        return whole; /* the set is empty: a draw far outside, counted among the misses */
    return (brume_interval){reach(mean_excess, &of, start, moments->low),
                            reach(mean_excess, &of, start, moments->high)};
}

/* V = E(x - c)^2 - (E x - c)^2. Each mean is outside its interval with half of beta. */
brume_interval brume_error_spread(brume_noise_kind noise, const brume_noisy_moments *sum,
                                  const brume_noisy_moments *squares, const brume_spread_grid *grid,
                                  double beta, double *raw)
{
    brume_interval mean = brume_error_mean(noise, sum, beta / 2);
    brume_interval square = brume_error_mean(noise, squares, beta / 2);
    double width = (sum->high - sum->low) * grid->step, most = width * width / 4;
    double lower = (grid->shift + mean.lower - 0.5) * grid->step; /* values are on the grid */
    double upper = (grid->shift + mean.upper + 0.5) * grid->step;
    double least = lower <= 0 && upper >= 0 ? 0 : fmin(lower * lower, upper * upper);
    double greatest = fmax(lower * lower, upper * upper);
    double at = grid->shift + fmin(fmax(sum->sum / sum->count, sum->low), sum->high);
    *raw = squares->sum / squares->count * grid->square_step - at * grid->step * at * grid->step;
    return (brume_interval){fmax(0, square.lower * grid->square_step - grid->rounding - greatest),
                            fmin(most, square.upper * grid->square_step + grid->rounding - least)};
}

/* |Q - 2mS + yN| less the width of dQ - 2m dS + y dN, y = k + m^2 - v. */
static double variance_excess(const void *context, double y)
{
    const line *of = context;
    double scale[] = {of->moments->squares_scale, of->moments->sum_scale, of->moments->count_scale};
    double coefficient[] = {1, -2 * of->m, y};
    return fabs(of->moments->squares - 2 * of->m * of->moments->sum + y * of->moments->count) -
           brume_error_width_combined(of->noise, scale, coefficient, 3, of->beta);
}

/* Every v whose excess is not positive, for one m. False if there is none. */
static bool variances_of_mean(const line *of, double largest, brume_interval *out)
{
    const brume_noisy_moments *noisy = of->moments;
    double top = noisy->half_square + of->m * of->m; /* y of v = 0 */
    double nearest = -(noisy->squares - 2 * of->m * noisy->sum) / noisy->count;
    double start = fmin(fmax(nearest, top - largest), top);
    if (variance_excess(of, start) > 0)
        return false;
    out->upper = top - reach(variance_excess, of, start, top - largest);
    out->lower = top - reach(variance_excess, of, start, top);
    return true;
}

brume_interval brume_error_variance(brume_noise_kind noise, const brume_noisy_moments *moments,
                                    double beta)
{
    double width = moments->high - moments->low, largest = width * width / 4;
    brume_interval whole = {0, largest}, hull = {INFINITY, -INFINITY}, before = hull;
    if (moments->count_scale > 0 &&
        !(moments->count > brume_error_width(noise, moments->count_scale, beta)))
        return whole;
    brume_interval mean = brume_error_mean(noise, moments, beta / 5);
    line of = {noise, moments, beta * 4 / 5, 0};
    double slack = 0; /* how much the ends move between two neighbouring m */
    for (int i = 0; i <= PIECES; i++) {
        brume_interval one;
        of.m = mean.lower + (mean.upper - mean.lower) * i / PIECES;
        if (!variances_of_mean(&of, largest, &one))
            continue;
        if (before.lower <= before.upper)
            slack =
                fmax(slack, fmax(fabs(one.lower - before.lower), fabs(one.upper - before.upper)));
        before = one;
        hull.lower = fmin(hull.lower, one.lower);
        hull.upper = fmax(hull.upper, one.upper);
    }
    if (!(hull.lower <= hull.upper))
        return whole;
    return (brume_interval){fmax(0, hull.lower - slack), fmin(largest, hull.upper + slack)};
}
