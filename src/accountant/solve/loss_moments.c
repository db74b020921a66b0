/* Mean, variance and divergences of the privacy loss. Promises: loss.h.
 *
 * Each law is a pair (P, Q); its loss is ln(P/Q) at places of P, or ln(Q/P) at places of Q in the
 * other order. Continuous pairs are integrated panel by panel, discrete ones summed. */
#include "accountant/solve/loss.h"

#include <math.h>

#include "accountant/law/law.h"
#include "accountant/renyi/renyi.h"
#include "base/error.h"

typedef struct sums {
    double first, second; /* E L, E L^2 */
} sums;

/* One place: log densities of P and Q there, and how much of the reference measure it stands for.
 */
static void add_place(sums *all, bool reversed, double log_p, double log_q, double weight)
{
    double from = reversed ? log_q : log_p, loss = reversed ? log_q - log_p : log_p - log_q;
    double mass = exp(from) * weight;
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

typedef struct pair {
    const brume_loss *law;
    bool gaussian; /* else Laplace of scale 1; the shift is law->a */
} pair;

static void densities(const pair *of, double x, double *log_p, double *log_q)
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

static void integrate(const pair *of, bool reversed, double from, double to, sums *all)
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
    pair of = {law, gaussian};
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
    *all = (sums){mean, mean * mean + slope * slope * variance};
}

static void two_atoms(const brume_loss *law, bool reversed, sums *all)
{
    double p = 1 / (1 + exp(-law->a)), q = 1 / (1 + exp(law->a));
    double rate = law->kind == BRUME_LOSS_POISSON_PURE ? law->rate : 1;
    add_place(all, reversed, log((1 - rate) * q + rate * p), log(q), 1);
    add_place(all, reversed, log((1 - rate) * p + rate * q), log(p), 1);
}

/* ---- all laws ---- */

static bool sum_law(const brume_loss *law, bool reversed, sums *all)
{
    brume_loss one = *law;
    bool sampled = law->kind == BRUME_LOSS_POISSON_GAUSSIAN ||
                   law->kind == BRUME_LOSS_POISSON_LAPLACE ||
                   law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
    if (!sampled)
        one.rate = 1;
    *all = (sums){0, 0};
    switch (law->kind) {
    case BRUME_LOSS_GAUSSIAN: {
        double variance = law->a * law->a;
        *all = (sums){variance / 2, variance * variance / 4 + variance};
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
        *all = (sums){(p - q) * law->a, (p + q) * law->a * law->a};
        return true;
    }
    case BRUME_LOSS_DISCRETE_LAPLACE:
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
        return discrete_laplace(&one, reversed, all);
    case BRUME_LOSS_DISCRETE_GAUSSIAN:
        discrete_gaussian(law, all);
        return true;
    case BRUME_LOSS_NONE:
        break;
    }
    return false;
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
        brume_loss law;
        sums one;
        BRUME_TRY(law_of(&terms[i].cost, &law, error));
        if (!(law.a > 0))
            continue; /* a loss of 0 */
        if (!sum_law(&law, reversed, &one))
            return brume_fail(error, BRUME_EUNSUPPORTED,
                              "take the law of real noise, which is near",
                              "a discrete law of more than 2^24 atoms");
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
    if (!(order >= 1 && order < INFINITY))
        return brume_fail(error, BRUME_EARGUMENT, "1 is the mean of the loss",
                          "an order of %.17g: must be a finite number, at least 1", order);
    if (order == 1)
        return brume_loss_moments(terms, count, reversed, divergence, &variance, error);
    for (size_t i = 0; i < count; i++) {
        brume_loss loss;
        brume_law law;
        double slack;
        BRUME_TRY(law_of(&terms[i].cost, &loss, error));
        if (!(loss.a > 0))
            continue;
        BRUME_TRY(brume_law_open(&loss, 1, reversed, &law, error));
        long double cumulant = brume_law_cumulant(&law, order - 1, NULL, &slack);
        brume_law_close(&law);
        all += (double)terms[i].count * (double)(cumulant / (order - 1));
    }
    *divergence = all;
    return BRUME_OK;
}
