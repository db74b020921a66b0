/* Terms known by Renyi curves composed with terms that have a loss law, in one order of the
 * neighbours. See curves.h and proofs/accountant/solve.md,
 * section solve.2. The order of the moments, the places of the pair's losses, the line and its band
 * are smooth functions of all parameters, so that a search sees a smooth bound; none of them
 * decides what is true. */
#include "accountant/solve/curves.h"
#include "accountant/contour/line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/law/shift_parameters.h"
#include "accountant/law/points.h"
#include "base/error.h"

/* What the band may add to log delta, c(c+1) w^2/24: the line then ends after some hundred nodes,
 * whatever the laws are. And what aliases may, about. */
static const double band_excess = 5e-4;
static const double alias_share = 1e-7;
static const double unseen = 1e-12; /* of delta: what may be cut from a line */
static const double most_nodes = 8e3;

/* The laws of one order, moved up where their parameters matter more than lines allow for, and room
 * for two more. */
typedef struct laws_mixture {
    brume_law *laws;
    size_t count;
    double failure; /* mass at +infinity, up */
} laws_mixture;

static void mixture_close(laws_mixture *mix)
{
    brume_shifted_close(mix->laws, mix->count);
}

/* Takes the laws over from `merged`. */
static brume_status mixture_open(brume_merged *merged, laws_mixture *out, brume_error *error)
{
    size_t count = merged->law_count;
    laws_mixture mix = {.laws = calloc(count + 2, sizeof *mix.laws),
                        .failure = merged->failure_ends.upper};
    brume_joined joined = {0};
    bool alive = mix.laws != NULL, moved = alive && brume_shifted_needed(merged->laws, count);
    if (moved)
        alive = brume_shifted_open(merged->laws, count, true, &joined);
    if (!alive) {
        mixture_close(&mix);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
    }
    if (count > 0) /* the laws themselves move over */
        memcpy(mix.laws, moved ? joined.upper : merged->laws, count * sizeof *mix.laws);
    mix.count = count;
    if (moved)
        free(joined.upper);
    else
        merged->law_count = 0;
    *out = mix;
    return BRUME_OK;
}

/* --- the order at which moments are best --- */

/* log(c/(c+1)), the slope of c log c - (c+1) log(c+1) */
static double tail_slope(double c)
{
    return -log1p(1 / c);
}

/* Of the moments of everything, K, as a bound: (log delta)' at epsilon, K' + log(c/(c+1)) - eps; or
 * c^2 times (epsilon)' at delta. Both grow with c. */
static double order_excess(const brume_curve_sum *curves, laws_mixture *mix, const brume_asked *q,
                           double c)
{
    double slope, k = brume_cumulant_rough(mix->laws, mix->count, c, &slope);
    double steep = slope + brume_curve_sum_slope(curves, c) + tail_slope(c), excess;
    if (!q->of_delta)
        excess = steep - q->at;
    else
        excess = c * steep -
                 (k + brume_curve_sum_upper(curves, c) - log1p(c) + c * tail_slope(c) - log(q->at));
    return isnan(excess) ? INFINITY : excess;
}

/* The order at which moments say least, to 1e-8, so that what is built on it moves smoothly. */
static double best_order(const brume_curve_sum *curves, laws_mixture *mix, const brume_asked *q)
{
    double low = 0, high = 0, low_excess = order_excess(curves, mix, q, 1);
    double high_excess = low_excess;
    while (high_excess <= 0 && high < 30) {
        low = high;
        low_excess = high_excess;
        high += 1.5;
        high_excess = order_excess(curves, mix, q, exp(high));
    }
    while (low_excess > 0 && low > -40) {
        high = low;
        high_excess = low_excess;
        low -= 1.5;
        low_excess = order_excess(curves, mix, q, exp(low));
    }
    double last = low;
    for (int i = 0, side = 0; i < 60; i++) { /* regula falsi, Illinois's way */
        double at = low - low_excess * (high - low) / (high_excess - low_excess);
        if (!(at > low && at < high) || i % 8 == 7)
            at = 0.5 * (low + high);
        if (fabs(at - last) < 1e-8)
            return exp(at);
        last = at;
        double excess = order_excess(curves, mix, q, exp(at));
        if (excess <= 0) {
            low = at;
            low_excess = excess;
            high_excess *= side < 0 ? 0.5 : 1;
            side = -1;
        } else {
            high = at;
            high_excess = excess;
            low_excess *= side > 0 ? 0.5 : 1;
            side = 1;
        }
    }
    return exp(last);
}

/* --- moments, and the pair --- */

/* An upper bound of log phi(c) of one law, all draws; c times its largest loss, where nothing else
 * is known of it. */
static double cumulant_upper(brume_law *law, double c)
{
    double error;
    long double k = brume_cumulant(law, 1, c, NULL, &error);
    double upper = (double)k + error + 1e-15 * (double)fabsl(k);
    if (!isfinite(error) &&
        law->bounded) /* a rate next to 1 by 8 units: top by that over 1 - rate */
        upper = law->count * c * law->top * (1 + 64 * BRUME_UNIT / (1 - fmin(law->rate, 0.999)));
    return isfinite(error) || (law->bounded && law->rate < 0.99) ? upper : INFINITY;
}

/* log of an upper bound of delta by the moments of everything at order c, plus c eps. */
static double log_moment_upper(const brume_curve_sum *curves, laws_mixture *mix, double c)
{
    double sum = brume_curve_sum_upper(curves, c), tail = -log1p(c) + c * tail_slope(c);
    for (size_t i = 0; i < mix->count; i++)
        sum += cumulant_upper(&mix->laws[i], c);
    double slack = 1e-14 * (1 + fabs(sum) + fabs(tail)); /* up: cumulants are not negative */
    double bound = sum + tail + slack;
    return isnan(bound) ? INFINITY : bound;
}

/* failure + (1 - failure) delta, up. */
static double with_failure(double failure, double delta)
{
    return (failure + (1 - failure) * delta) * (1 + 8 * BRUME_UNIT);
}

/* What that says at order c of what was asked for, up. */
static double moments_upper(const brume_asked *q, double failure, double c, double bound)
{
    if (q->of_delta) { /* (bound - log delta)/c */
        double log_delta = log(q->at);
        double epsilon = (bound - log_delta) / c * (1 + 8 * BRUME_UNIT) +
                         1e-14 * fabs(log_delta) / c;
        return isnan(epsilon) ? INFINITY : fmax(epsilon, 0);
    }
    double moment = exp(bound - c * q->at + 1e-14 * fabs(c * q->at)) * (1 + 1e-14);
    moment = fmax(moment, 0x1p-1074);              /* where it underflows it is not 0 */
    return fmin(1, with_failure(failure, moment)); /* fmin passes over a NaN */
}

/* Do moments near the order that the other order of the neighbours was best at say enough? */
static bool moments_suffice(const brume_curve_sum *curves, laws_mixture *mix, const brume_asked *q,
                            double order, double enough)
{
    for (double c = order; enough > 0 && c < 5 * order; c *= 2)
        if (moments_upper(q, mix->failure, c, log_moment_upper(curves, mix, c)) <= enough)
            return true;
    return false;
}

/* Add a Gaussian whose release raises log delta by about as much as a band would. */
static brume_status add_gaussian(double c, laws_mixture *mix, brume_error *error)
{
    brume_loss loss = {.kind = BRUME_LOSS_GAUSSIAN, .a = sqrt(2 * band_excess / (c * (c + 1)))};
    BRUME_TRY(brume_law_open(&loss, 1, false, &mix->laws[mix->count], error));
    mix->count++;
    return BRUME_OK;
}

/* Add the pair of the curves. Its masses add up to 1 - *lost: that much lies at +infinity. */
static brume_status add_pair(const brume_curve_sum *curves, double c, double log_delta,
                             laws_mixture *mix, double *lost, brume_error *error)
{
    BRUME_TRY(brume_curve_pair(curves, c, log_delta, &mix->laws[mix->count], lost, error));
    mix->count++;
    return BRUME_OK;
}

/* What moments say, and where the line is to be laid. */
typedef struct first_bound {
    double saddle; /* the order at which moments are best */
    double c;      /* how fast log delta falls with epsilon, about */
    double bound;  /* log delta + c eps is at most this, at the saddle */
    double epsilon, log_delta;
    double upper;  /* what was asked for */
    bool gaussian; /* end the line by a Gaussian, not by a band */
} first_bound;

/* Where to lay the line, and X such that aliases X away are small: those below are at most e^{-cX},
 * those above are bounded by moments of orders beyond c. The first wants a large c, the second a
 * small one, far below the saddle point where the tilted loss has a second peak: c is where both
 * want the same, at most the saddle point. */
static double place_line(const laws_mixture *mix, const first_bound *first, double *spacing)
{
    double saddle = first->saddle, epsilon = first->epsilon, log_delta = first->log_delta;
    static const double factors[] = {0.5, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.12, 1.25, 1.5, 2};
    enum { FACTORS = sizeof factors / sizeof *factors };
    double need = -log(alias_share), below = need - fmin(log_delta, 0), excess[FACTORS];
    for (int i = 0; i < FACTORS; i++) {
        double c = factors[i] * saddle;
        excess[i] = brume_cumulant_rough(mix->laws, mix->count, c, NULL) - c * epsilon - log1p(c) +
                    c * tail_slope(c) - log_delta + need;
    }
    double low = 0.4 * saddle, high = saddle, above = INFINITY;
    for (int i = 0; i < 60; i++) {
        double c = i == 0 ? high : 0.5 * (low + high);
        above = INFINITY;
        for (int j = 0; j < FACTORS; j++)
            if (factors[j] * saddle > c && isfinite(excess[j]))
                above = fmin(above, excess[j] / (factors[j] * saddle - c));
        if (c * above <= below || !(above < INFINITY)) {
            if (i == 0)
                break;
            low = c;
        } else {
            high = c;
        }
    }
    *spacing = below / high;
    if (above < INFINITY)
        *spacing = fmax(*spacing, above);
    return high;
}

/* Log of a bound of what lies beyond y on the line, over exp(cumulant - c eps). The pair itself is
 * not asked, as no table of atoms is: it does not decay. */
static double beyond(brume_line *line, double y)
{
    double end = line->width > 0 ? line->band.end : INFINITY;
    double sum = log(brume_band_weight(&line->band, y, end));
    for (size_t i = 0; i < line->law_count; i++)
        if (!brume_table_points(&line->laws[i]))
            sum += line->laws[i].count * brume_law_envelope(&line->laws[i], y, end);
    return sum;
}

/* A line through order c whose place, step and band move smoothly with all parameters. It ends with
 * the band, or where what is left is too small to be seen. */
static bool lay_line(const laws_mixture *mix, const first_bound *first, brume_line *line)
{
    double spacing, c = first->c;
    *line = (brume_line){.laws = mix->laws, .law_count = mix->count};
    line->c = (double)(float)place_line(mix, first, &spacing);
    line->width = first->gaussian ? 0 : sqrt(24 * band_excess / (c * (c + 1)));
    line->h = (double)(float)(2 * M_PI / spacing);
    if (!brume_line_ready(line))
        return false;
    double limit = first->log_delta + log(unseen) -
                   (double)(line->cumulant - (long double)line->c * first->epsilon);
    double last = line->width > 0 ? floor(line->band.end * (1 - 1e-15) / line->h) : INFINITY;
    for (double nodes = 24; nodes < last; nodes = ceil(1.3 * nodes)) {
        double rest = beyond(line, nodes * line->h);
        if (rest < limit || nodes > most_nodes) {
            line->skipped += exp(rest) * 1.0001; /* up */
            last = nodes;
        }
    }
    return brume_line_lay_all(line, (size_t)last, limit - log(line->h / M_PI) - 16);
}

/* The least epsilon, nearly, at which the line certifies delta <= target; INFINITY if it does not
 * find one. *at is the line there. */
static double line_epsilon(const brume_line *line, double start, double target, brume_line_sum *at)
{
    double epsilon = start, aside = 2e-13, low = 0, high = INFINITY;
    for (int i = 0; i < 60; i++) {
        *at = brume_line_evaluate(line, epsilon);
        double upper = at->value + at->error, excess = log(upper / target);
        if (!isfinite(excess))
            return INFINITY;
        double move = excess * upper / -at->slope, close = fmax(1e-12, 3 * aside) * epsilon;
        *(upper <= target ? &high : &low) = epsilon;
        if (upper <= target && (fabs(move) <= close || epsilon == 0 || epsilon - low <= close))
            return epsilon;
        /* at the end a little beyond, so that it is certified; more where rounding shows */
        if (i > 3)
            aside *= 1.5;
        double next = epsilon + move + aside * epsilon;
        bool inside = next > low && next < high;
        if (!inside && low == 0 && next <= 0 && i < 3)
            next = 0;
        else if (!inside)
            next = high < INFINITY ? 0.5 * (low + high) : 1.5 * low + 1e-9;
        epsilon = next;
    }
    return INFINITY;
}

/* (delta - failure)/(1 - failure), down; not above 0 if nothing is left. */
static double finite_down(double delta, double failure)
{
    double excess = delta - failure;
    return excess / (1 - failure) * (1 - 8 * BRUME_UNIT * (1 + delta / fabs(excess)));
}

static first_bound bound_by_moments(const brume_curve_sum *curves, laws_mixture *mix,
                                    const brume_asked *q, double failure)
{
    double c = best_order(curves, mix, q), bound = log_moment_upper(curves, mix, c);
    double whole[] = {floor(c), ceil(c)};
    for (int i = 0; i < 2 && !(curves->rho > 0); i++) { /* where a curve may have its kinks */
        double there = whole[i] > 0 ? log_moment_upper(curves, mix, whole[i]) : INFINITY;
        if (moments_upper(q, failure, whole[i], there) <= moments_upper(q, failure, c, bound)) {
            c = whole[i];
            bound = there;
        }
    }
    first_bound first = {.saddle = c, .c = c, .bound = bound};
    first.upper = moments_upper(q, failure, c, bound);
    first.epsilon = q->of_delta ? first.upper : q->at;
    first.log_delta = q->of_delta ? log(q->at) : bound - c * q->at;
    return first;
}

/* The composition with the pair; *upper is what was asked for, INFINITY if the line says nothing.
 * *next is where the line would better have been laid. */
static brume_status bound_by_pair(const brume_curve_sum *curves, laws_mixture *mix,
                                  const brume_asked *q, const first_bound *first,
                                  brume_diagnostics *work, double *upper, first_bound *next,
                                  brume_error *error)
{
    size_t known = mix->count;
    double lost = 0;
    *upper = INFINITY;
    *next = *first;
    if (first->gaussian)
        BRUME_TRY(add_gaussian(first->c, mix, error));
    if (brume_curve_sum_upper(curves, first->c) > 0) /* else nothing is released at all */
        BRUME_TRY(add_pair(curves, first->c, first->log_delta, mix, &lost, error));
    /* delta is f + (1 - f)(lost + sum), not (1 - f)(1 - lost) times a sum whose masses add up to
     * 1 - lost already; down */
    double rest = q->of_delta ? (finite_down(q->at, mix->failure) - lost) * (1 - 2 * BRUME_UNIT)
                              : 1;
    brume_line line = {0};
    bool ready = rest > 0 && mix->count > 0, alive = true;
    if (ready)
        alive = lay_line(mix, first, &line);
    if (ready && alive) {
        brume_line_sum sum;
        if (q->of_delta) {
            *upper = line_epsilon(&line, first->epsilon, rest, &sum);
            next->epsilon = isfinite(*upper) ? *upper : first->epsilon;
        } else {
            sum = brume_line_evaluate(&line, first->epsilon);
            double pair = (lost + sum.value + sum.error) * (1 + 4 * BRUME_UNIT); /* up */
            *upper = with_failure(mix->failure, fmin(pair, 1)); /* a NaN becomes 1 */
            next->log_delta = log(sum.value);
        }
        next->c = fmax(first->c, -sum.slope / sum.value);
        work->nodes += line.count;
        work->rounds++;
    }
    brume_line_close(&line);
    while (mix->count > known)
        brume_law_close(&mix->laws[--mix->count]);
    return alive ? BRUME_OK
                 : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
}

/* Moments may be far from the truth, where losses of small probability are large: is it worth
 * laying another line, where the first one says? There a band's functions, which fall off like
 * 1/x^2, would count what is likely and small. */
static bool is_elsewhere(const first_bound *first, first_bound *next)
{
    bool lower = next->log_delta < first->log_delta - 4 ||
                 next->epsilon < first->epsilon - 4 / first->c;
    next->gaussian = lower;
    return next->c < INFINITY && next->log_delta > -700 && (next->c > 1.3 * first->c || lower);
}

/* Not where delta is nearly 1, nor where a tenth of it would move epsilon by two thousandths. */
static bool is_worth_a_line(const first_bound *first)
{
    return first->bound < INFINITY && first->log_delta < -0.05 &&
           first->saddle * first->epsilon < 1000;
}

brume_status brume_curve_bound_order(brume_curve_bound *bound, brume_merged *merged,
                                     brume_error *error)
{
    const brume_curve_sum *curves = bound->curves;
    double enough = bound->upper;
    laws_mixture mix = {0};
    BRUME_TRY(mixture_open(merged, &mix, error));
    brume_asked q = bound->asked, finite = q;
    if (q.of_delta)
        finite.at = finite_down(q.at, mix.failure);
    brume_status status = BRUME_OK;
    double upper = q.of_delta ? INFINITY : 1, by_pair;
    bool asked = !q.of_delta || finite.at > 0;
    if (asked && bound->order > 0 && moments_suffice(curves, &mix, &finite, bound->order, enough)) {
        upper = enough;
    } else if (asked) {
        first_bound first = bound_by_moments(curves, &mix, &finite, mix.failure), next;
        upper = first.upper;
        bound->order = first.saddle;
        bool again = upper > enough && is_worth_a_line(&first);
        for (int i = 0; again && i < 2 && status == BRUME_OK; i++) {
            status = bound_by_pair(curves, &mix, &q, &first, &bound->work, &by_pair, &next, error);
            bound->paired |= status == BRUME_OK && by_pair < upper;
            upper = status == BRUME_OK ? fmin(upper, by_pair) : upper; /* fmin passes over a NaN */
            again = is_elsewhere(&first, &next);
            first = next;
        }
    }
    mixture_close(&mix);
    BRUME_TRY(status);
    bound->upper = fmax(upper, enough);
    return BRUME_OK;
}
