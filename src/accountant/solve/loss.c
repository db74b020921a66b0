/* The privacy loss: its tail from the profile, its mean, variance and divergences. Promises:
 * loss.h.
 *
 * Moments: each law is a pair (P, Q); its loss is ln(P/Q) at places of P, or ln(Q/P) at places of Q
 * in the other order. Continuous pairs are integrated panel by panel, discrete ones summed. */
#include "accountant/solve/loss.h"

#include <math.h>

#include "accountant/law/law.h"
#include "accountant/renyi/renyi.h"
#include "accountant/solve/merge_terms.h"
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
