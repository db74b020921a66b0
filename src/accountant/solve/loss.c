/* The privacy loss: its tail from the profile, its mean, variance and divergences. Promises:
 * loss.h.
 *
 * Moments: each law is a pair (P, Q); its loss is ln(P/Q) at places of P, or ln(Q/P) at places of Q
 * in the other order. Continuous pairs are integrated panel by panel, discrete ones summed. */
#include "accountant/solve/loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/contour/line.h"
#include "accountant/law/law.h"
#include "accountant/law/points.h"
#include "accountant/law/shift_parameters.h"
#include "accountant/renyi/renyi.h"
#include "accountant/solve/curves.h"
#include "accountant/solve/solve.h"
#include "base/error.h"
#include "number/rounding.h"

static brume_status merge(const brume_term *terms, size_t count, bool reversed,
                          brume_merged *merged, brume_error *error)
{
    BRUME_TRY(brume_merge_terms(terms, count, reversed, merged, error));
    if (merged->curve_count == 0 && !merged->infinite)
        return BRUME_OK;
    bool certain = merged->infinite;
    brume_merged_close(merged);
    return certain ? brume_fail(error, BRUME_EUNSUPPORTED, NULL, "a release fails for certain")
                   : brume_fail(error, BRUME_EUNSUPPORTED, "bound it: brume account --method rdp",
                                "a release is known by a rho or a Renyi curve alone: it has no law "
                                "of its privacy loss");
}

brume_status brume_loss_look(const brume_term *terms, size_t count, bool *differ,
                             double *infinite_mass, brume_error *error)
{
    brume_merged merged;
    BRUME_TRY(merge(terms, count, false, &merged, error));
    *differ = !merged.symmetric;
    *infinite_mass = merged.failure;
    brume_merged_close(&merged);
    return BRUME_OK;
}

/* ---- finite losses ---- */

/* e^-x delta(x), relative to e^-epsilon: certified. */
static bool scaled_delta(brume_merged *merged, double x, double epsilon, double width,
                         brume_interval *out)
{
    brume_certified certified;
    brume_asked asked = {.at = x, .width = width};
    if (!brume_solve(merged->laws, merged->law_count, &asked, &certified))
        return false;
    double factor = exp(epsilon - x); /* within 2 units of the last place, and the difference is */
    out->lower = certified.value.lower * factor * (1 - 0x1p-48);
    out->upper = certified.value.upper * factor * (1 + 0x1p-48);
    return true;
}

/* The place to look at for P[L > epsilon]: epsilon, or the middle between it and the next atom
 * where it is one. *room: no atom lies nearer than that. */
static double place_of(const brume_merged *merged, double epsilon, double *room)
{
    double unit = merged->law_count == 1 ? merged->laws[0].unit : 0;
    double half = merged->law_count == 1 && merged->laws[0].half ? .5 : 0;
    *room = INFINITY;
    if (!(unit > 0) || !(fabs(epsilon) < 0x1p50 * unit))
        return epsilon;
    /* draws of half-odd losses: an odd number of them lies at half-odd places */
    double draws = merged->laws[0].count;
    double shift = half * fmod(draws, 2) + draws * (double)merged->laws[0].centre / unit;
    double where = epsilon / unit - shift;
    double below = floor(where + 1e-9), from = (below + shift) * unit, to = from + unit;
    if (fabs(where - rint(where)) < 1e-9) {
        from = (rint(where) + shift) * unit;
        to = from + unit;
        *room = unit / 2;
        return from + unit / 2;
    }
    *room = fmin(epsilon - from, to - epsilon);
    return epsilon;
}

/* The secants on both sides of x, at several distances; the slope lies between them. */
static bool secants(brume_merged *merged, double x, double room, double goal, brume_interval *out)
{
    double far = fmin(room, 1) * (1 - 0x1p-20);
    brume_interval here;
    *out = (brume_interval){0, 1};
    if (!scaled_delta(merged, x, x, 1e-13, &here))
        return false;
    for (double h = far; h > 1e-9 * (1 + fabs(x)); h /= 8) {
        brume_interval left, right;
        if (!scaled_delta(merged, x - h, x, 1e-13, &left) ||
            !scaled_delta(merged, x + h, x, 1e-13, &right))
            return false;
        /* convex: (g(x-h) - g(x))/h >= -g'(x) >= (g(x) - g(x+h))/h; rounded outwards */
        double high = brume_divide_up(brume_subtract_up(left.upper, here.lower), h);
        double low = brume_divide_down(brume_subtract_down(here.lower, right.upper), h);
        double before = out->upper - out->lower;
        out->upper = fmin(out->upper, high * (1 + 0x1p-48));
        out->lower = fmax(out->lower, low * (1 - 0x1p-48));
        double now = out->upper - out->lower;
        if (now <= goal * out->upper || (before < .5 && now > .9 * before))
            break; /* rounding of delta is all that is left */
    }
    if (out->lower > out->upper) /* cannot be, but for a fault elsewhere: claim the wider */
        *out = (brume_interval){out->upper, out->lower};
    return true;
}

static bool finite_tail(brume_merged *merged, double epsilon, double goal, brume_interval *out)
{
    double room;
    if (merged->law_count == 0) {
        *out = (brume_interval){epsilon < 0, epsilon < 0}; /* the loss is 0 */
        return true;
    }
    const brume_law *law = &merged->laws[0];
    if (merged->law_count == 1 && brume_law_is_gaussian(law)) {
        /* N(n mu^2/2, n mu^2): P = erfc((epsilon - mean)/sqrt(2 n mu^2))/2 */
        double variance = law->count * law->a * law->a;
        double t = (epsilon - variance / 2) / sqrt(2 * variance), p = erfc(t) / 2;
        /* parameters are known to 8 units: the exponent t^2 moves by some 2^-49 t (t + |mean|) */
        double slack = 0x1p-46 * (1 + t * t + fabs(t) * sqrt(variance));
        *out = (brume_interval){p * (1 - slack), fmin(p * (1 + slack), 1)};
        return true;
    }
    double top = 0;
    for (size_t i = 0; i < merged->law_count; i++)
        top += merged->laws[i].bounded ? merged->laws[i].count * merged->laws[i].top : INFINITY;
    if (epsilon >= top * (1 - 0x1p-44)) { /* no loss is larger */
        *out = (brume_interval){0, 0};
        return true;
    }
    double x = place_of(merged, epsilon, &room);
    return secants(merged, x, room, goal, out);
}

brume_status brume_loss_tail(const brume_term *terms, size_t count, bool reversed, double epsilon,
                             double goal, brume_interval *out, brume_error *error)
{
    brume_merged merged;
    brume_interval finite = {0, 0};
    if (!isfinite(epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'epsilon' must be a finite number");
    BRUME_TRY(merge(terms, count, reversed, &merged, error));
    bool done = finite_tail(&merged, epsilon, goal, &finite);
    brume_interval failure = merged.failure_ends;
    brume_merged_close(&merged);
    if (!done)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory while composing");
    /* f + (1 - f) p, which grows with both */
    out->lower = (failure.lower + (1 - failure.lower) * finite.lower) * (1 - 0x1p-48);
    out->upper = fmin((failure.upper + (1 - failure.upper) * finite.upper) * (1 + 0x1p-48), 1);
    return BRUME_OK;
}

typedef struct sums {
    double first, second; /* E L, E L^2 */
    /* Where `order` is not 0: the integral of from^order to^(1 - order), the pair as it is ordered,
     * less 1 in `near`; and as power e^most, for one that is no double. */
    double order, near, power, most;
} sums;

/* One place: log densities of P and Q there, and how much of the reference measure it stands for.
 */
static void add_place(sums *all, bool reversed, double log_p, double log_q, double weight)
{
    double from = reversed ? log_q : log_p, loss = reversed ? log_q - log_p : log_p - log_q;
    double mass = exp(from) * weight;
    if (all->order > 0 && weight > 0) {
        double a = all->order, to = exp(from - loss) * weight, here = from + (a - 1) * loss;
        if (here > all->most) {
            all->power *= exp(all->most - here);
            all->most = here;
        }
        all->power += weight * exp(here - all->most);
        /* Less a from + (1 - a) to, which are 1 in all: then no place is above 0. */
        all->near += fabs(loss) < 1 ? to * (expm1(a * loss) - a * expm1(loss))
                                    : weight * exp(here) - a * mass - (1 - a) * to;
    }
    if (!(mass > 0))
        return;
    all->first += mass * loss;
    all->second += mass * loss * loss;
}

static double log_sum(double a, double b)
{
    double most = fmax(a, b);
    return most + log1p(exp(-fabs(a - b)));
}

/* ---- continuous pairs ---- */

typedef struct loss_pair {
    const brume_loss *law;
    bool gaussian; /* else Laplace of scale 1; the shift is law->a */
} loss_pair;

static void densities(const loss_pair *of, double x, double *log_p, double *log_q)
{
    const brume_loss *law = of->law;
    double moved, still;
    if (of->gaussian) { /* shift 1, standard deviation a */
        double s = law->a;
        still = -x * x / (2 * s * s) - log(s) - .91893853320467274178; /* ln sqrt(2 pi) */
        moved = still + (2 * x - 1) / (2 * s * s);
    } else {
        still = -fabs(x) - M_LN2;
        moved = -fabs(x - law->a) - M_LN2;
    }
    *log_q = still;
    *log_p = law->rate < 1 ? log_sum(log1p(-law->rate) + still, log(law->rate) + moved) : moved;
}

static void integrate(const loss_pair *of, bool reversed, double from, double to, sums *all)
{
    /* Gauss-Legendre, 8 points */
    static const double place[] = {.18343464249564980, .52553240991632899, .79666647741362674,
                                   .96028985649753623};
    static const double weight[] = {.36268378337836198, .31370664587788729, .22238103445337447,
                                    .10122853629037626};
    enum { PANELS = 600 };
    double half = (to - from) / (2 * PANELS);
    for (int i = 0; i < PANELS; i++) {
        double middle = from + (2 * i + 1) * half;
        for (int j = 0; j < 8; j++) {
            double x = middle + (j % 2 ? 1 : -1) * half * place[j / 2], log_p, log_q;
            densities(of, x, &log_p, &log_q);
            add_place(all, reversed, log_p, log_q, half * weight[j / 2]);
        }
    }
}

static void continuous(const brume_loss *law, bool gaussian, bool reversed, sums *all)
{
    loss_pair of = {law, gaussian};
    double far = gaussian ? 14 * law->a : 50, shift = gaussian ? 1 : law->a;
    integrate(&of, reversed, -far, 0, all); /* kinks at 0 and at the shift */
    integrate(&of, reversed, 0, shift, all);
    integrate(&of, reversed, shift, shift + far, all);
}

/* ---- discrete pairs ---- */

enum { MOST_ATOMS = 1 << 24 };

/* Discrete Laplace, on a sample where rate < 1. */
static bool discrete_laplace(const brume_loss *law, bool reversed, sums *all)
{
    double a = law->a, shift = (double)law->shift, far = ceil(50 / a);
    double log_top = log(tanh(a / 2)); /* (1-e^-a)/(1+e^-a) */
    if (!(2 * far + shift < MOST_ATOMS))
        return false;
    for (double k = -far; k <= shift + far; k++) {
        double still = log_top - a * fabs(k), moved = log_top - a * fabs(k - shift);
        double log_p = law->rate < 1 ? log_sum(log1p(-law->rate) + still, log(law->rate) + moved)
                                     : moved;
        add_place(all, reversed, log_p, still, 1);
    }
    return true;
}

/* k ~ exp(-k^2/(2 sigma^2)); the loss (shift^2 + 2 shift k)/(2 sigma^2) is linear in k. */
static void discrete_gaussian(const brume_loss *law, sums *all)
{
    double sigma = law->a, shift = (double)law->shift, mass = 1, square = 0, variance;
    if (sigma > 20) {
        variance = sigma * sigma; /* up to e^(-2 pi^2 sigma^2) */
    } else {
        for (double k = 1; k < 40 * sigma + 2; k++) {
            double weight = 2 * exp(-k * k / (2 * sigma * sigma));
            mass += weight;
            square += weight * k * k;
        }
        variance = square / mass;
    }
    double mean = shift * shift / (2 * sigma * sigma), slope = shift / (sigma * sigma);
    *all = (sums){.first = mean, .second = mean * mean + slope * slope * variance};
}

/* The places themselves, for powers. */
static bool discrete_gaussian_places(const brume_loss *law, bool reversed, sums *all)
{
    double sigma = law->a, shift = (double)law->shift, far = ceil(14 * sigma) + 2, mass = 1;
    if (!(2 * far + shift < MOST_ATOMS))
        return false;
    for (double k = 1; k <= far; k++)
        mass += 2 * exp(-k * k / (2 * sigma * sigma));
    for (double k = -far; k <= shift + far; k++)
        add_place(all, reversed, -(k - shift) * (k - shift) / (2 * sigma * sigma) - log(mass),
                  -k * k / (2 * sigma * sigma) - log(mass), 1);
    return true;
}

static void two_atoms(const brume_loss *law, bool reversed, sums *all)
{
    double p = 1 / (1 + exp(-law->a)), q = 1 / (1 + exp(law->a));
    double rate = law->kind == BRUME_LOSS_POISSON_PURE ? law->rate : 1;
    add_place(all, reversed, log((1 - rate) * q + rate * p), log(q), 1);
    add_place(all, reversed, log((1 - rate) * p + rate * q), log(p), 1);
}

/* ---- all laws ---- */

/* The moments, by closed forms where there are. */
static bool sum_law(const brume_loss *law, bool reversed, sums *all)
{
    brume_loss one = *law;
    bool sampled = law->kind == BRUME_LOSS_POISSON_GAUSSIAN ||
                   law->kind == BRUME_LOSS_POISSON_LAPLACE ||
                   law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
    if (!sampled)
        one.rate = 1;
    *all = (sums){.order = all->order, .most = -INFINITY};
    switch (law->kind) {
    case BRUME_LOSS_GAUSSIAN: {
        double variance = law->a * law->a;
        *all = (sums){.first = variance / 2, .second = variance * variance / 4 + variance};
        return true;
    }
    case BRUME_LOSS_LAPLACE:
    case BRUME_LOSS_POISSON_LAPLACE:
    case BRUME_LOSS_POISSON_GAUSSIAN:
        continuous(&one, law->kind == BRUME_LOSS_POISSON_GAUSSIAN, reversed, all);
        return true;
    case BRUME_LOSS_PURE:
    case BRUME_LOSS_POISSON_PURE:
        two_atoms(law, reversed, all);
        return true;
    case BRUME_LOSS_KARY: {
        double k = (double)law->shift, p = 1 / (1 + (k - 1) * exp(-law->a)), q = p * exp(-law->a);
        *all = (sums){.first = (p - q) * law->a, .second = (p + q) * law->a * law->a};
        return true;
    }
    case BRUME_LOSS_DISCRETE_LAPLACE:
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
        return discrete_laplace(&one, reversed, all);
    case BRUME_LOSS_DISCRETE_GAUSSIAN:
        discrete_gaussian(law, all);
        return true;
    case BRUME_LOSS_POISSON_GAUSSIAN_GROUP: /* no release of one unit has it */
    case BRUME_LOSS_NONE:
        break;
    }
    return false;
}

/* ln E e^((order - 1) L) = ln of the integral of P^order Q^(1 - order), for an order in (0, 1). */
static bool log_power(const brume_loss *law, bool reversed, double order, double *out)
{
    sums all = {.order = order, .most = -INFINITY};
    bool discrete = law->kind == BRUME_LOSS_DISCRETE_GAUSSIAN;
    if (law->kind == BRUME_LOSS_GAUSSIAN || (discrete && law->a > 20)) { /* up to e^(-800 pi^2) */
        double a = discrete ? (double)law->shift / law->a : law->a;
        *out = (order - 1) * order * a * a / 2;
        return true;
    }
    if (law->kind == BRUME_LOSS_KARY) {
        double k = (double)law->shift, log_p = -log1p((k - 1) * exp(-law->a));
        double log_q = log_p - law->a;
        add_place(&all, reversed, log_p, log_q, 1);
        add_place(&all, reversed, log_q, log_p, 1);
        add_place(&all, reversed, log_q, log_q, k - 2);
    } else if (!(discrete ? discrete_gaussian_places(law, reversed, &all)
                          : sum_law(law, reversed, &all))) {
        return false;
    }
    *out = all.near > -.5 ? log1p(all.near) : all.most + log(all.power);
    return true;
}

/* An order above 1, and infinity: the largest loss. */
static brume_status high_order(const brume_loss *loss, bool reversed, double order,
                               double *divergence, brume_error *error)
{
    brume_law law;
    double slack;
    BRUME_TRY(brume_law_open(loss, 1, reversed, &law, error));
    if (isinf(order))
        *divergence = law.bounded ? law.top : INFINITY;
    else
        *divergence = (double)(brume_law_cumulant(&law, order - 1, NULL, &slack) / (order - 1));
    brume_law_close(&law);
    return BRUME_OK;
}

static brume_status too_many_atoms(brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, "take the law of real noise, which is near",
                      "a discrete law of more than 2^24 atoms");
}

/* The law that a cost enters with: its own, or the worst one of its pure epsilon. */
static brume_status law_of(const brume_cost *cost, brume_loss *law, brume_error *error)
{
    if (cost->loss != BRUME_ABSENT)
        *law = cost->law;
    else if (cost->pure != BRUME_ABSENT)
        *law = (brume_loss){.kind = BRUME_LOSS_PURE, .a = cost->epsilon};
    else
        return brume_fail(
            error, BRUME_EUNSUPPORTED, "bound it: brume account --method rdp",
            "a release is known by a rho or a Renyi curve alone: it has no law of its "
            "privacy loss");
    return BRUME_OK;
}

brume_status brume_loss_moments(const brume_term *terms, size_t count, bool reversed, double *mean,
                                double *variance, brume_error *error)
{
    double all_mean = 0, all_variance = 0;
    for (size_t i = 0; i < count; i++) {
        brume_loss law = {.a = 0};
        sums one = {0};
        BRUME_TRY(law_of(&terms[i].cost, &law, error));
        if (!(law.a > 0))
            continue; /* a loss of 0 */
        if (!sum_law(&law, reversed, &one))
            return too_many_atoms(error);
        all_mean += (double)terms[i].count * one.first;
        all_variance += (double)terms[i].count * (one.second - one.first * one.first);
    }
    *mean = all_mean;
    *variance = fmax(all_variance, 0);
    return BRUME_OK;
}

brume_status brume_loss_renyi(const brume_term *terms, size_t count, bool reversed, double order,
                              double *divergence, brume_error *error)
{
    double variance, all = 0;
    if (!(order > 0))
        return brume_fail(error, BRUME_EARGUMENT, "1 is the mean of the loss",
                          "an order of %.17g: must be above 0", order);
    if (order == 1)
        return brume_loss_moments(terms, count, reversed, divergence, &variance, error);
    for (size_t i = 0; i < count; i++) {
        brume_loss loss;
        double one = 0;
        BRUME_TRY(law_of(&terms[i].cost, &loss, error));
        if (!(loss.a > 0))
            continue;
        if (order > 1)
            BRUME_TRY(high_order(&loss, reversed, order, &one, error));
        else if (!log_power(&loss, reversed, order, &one))
            return too_many_atoms(error);
        else
            one /= order - 1;
        all += (double)terms[i].count * one;
    }
    *divergence = all;
    return BRUME_OK;
}

/* Terms known by Renyi curves composed with terms that have a loss law, in one order of the
 * neighbours. See curves.h and proofs/accountant/solve.md,
 * section solve.2. The order of the moments, the places of the pair's losses, the line and its band
 * are smooth functions of all parameters, so that a search sees a smooth bound; none of them
 * decides what is true. */

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

/* From the moments of everything, K, as a bound: (log delta)' at epsilon, K' + log(c/(c+1)) - eps;
 * or c^2 times (epsilon)' at delta. Both grow with c. */
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
