/* Smooth sensitivity with Laplace-log-normal noise under concentrated privacy: the plan, the card.
 *
 * Promises: rho = (t/sigma + exp(3 sigma^2/2) s)^2 / 2: widening costs t^2/(2 sigma^2), shifting is
 * pure exp(3 sigma^2/2) s, and two steps of rho a and b make (sqrt(a) + sqrt(b))^2.
 * sigma is the positive root of 5 e sigma^3 - 5 t sigma^2 - t = 0, e = sqrt(2 rho): the least
 * standard deviation for this t. Any sigma is sound; s is made for it. proofs/smooth_noise.md. */
#include "mechanism/smooth/smooth_lln.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <brume/mechanism/smooth.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/smooth/trial.h"

/* The two laws that neighbours give Laplace-log-normal noise: quadrature with the trapezoidal rule.
 *
 * Promises: the integrands are smooth on the three parts into which the kinks 0 and `shift` cut the
 * line; each part is mapped to the whole line such that the integrand falls off at least
 * exponentially, where the rule converges faster than any power of its step. */

enum { NORMAL_POINTS = 52 * 24, LINE_POINTS = 140 * 12 };
static const double normal_step = 1. / 24, line_step = 1. / 12;

typedef struct two_laws {
    double sigma, shift, widening;
    double factor[NORMAL_POINTS], weight[NORMAL_POINTS]; /* e^(-sigma y), and its law */
    double *p, *q;
    size_t count;
} two_laws;

static void prepare_normal(two_laws *pair)
{
    for (int i = 0; i < NORMAL_POINTS; i++) {
        double y = -12 + i * normal_step; /* far to the right: the tail of Z comes from there */
        pair->factor[i] = exp(-pair->sigma * y);
        pair->weight[i] = normal_step * exp(-y * y / 2) / sqrt(2 * acos(-1)) * pair->factor[i] / 2;
    }
}

/* The density of Z at distance z from 0: that of a Laplace variable, averaged over its scale. */
static double density(const two_laws *pair, double z)
{
    double sum = 0;
    for (int i = 0; i < NORMAL_POINTS; i++)
        sum += pair->weight[i] * exp(-z * pair->factor[i]);
    return sum;
}

/* One point, at a distance from 0 and one from `shift`. */
static void add_point(two_laws *pair, double from_zero, double from_shift, double weight)
{
    double p = weight * density(pair, from_zero);
    double q = weight * density(pair, from_shift / pair->widening) / pair->widening;
    if (p < 1e-280 || q < 1e-280)
        return;
    pair->p[pair->count] = p;
    pair->q[pair->count++] = q;
}

/* All parts in order along the line: left of both kinks, between them, right of both. */
static void add_points(two_laws *pair)
{
    double gap = fabs(pair->shift);
    double left_zero = pair->shift < 0 ? gap : 0, right_zero = gap - left_zero;
    for (int i = LINE_POINTS - 1; i >= 0; i--) {
        double away = exp(-40 + i * line_step);
        add_point(pair, away + left_zero, away + right_zero, away * line_step);
    }
    for (int i = 0; gap > 0 && i < LINE_POINTS / 2; i++) {
        double x = -35 + i * line_step, part = 1 / (1 + exp(-x)), rest = 1 / (1 + exp(x));
        bool zero_first = pair->shift > 0;
        add_point(pair, gap * (zero_first ? part : rest), gap * (zero_first ? rest : part),
                  gap * part * rest * line_step);
    }
    for (int i = 0; i < LINE_POINTS; i++) {
        double away = exp(-40 + i * line_step);
        add_point(pair, away + right_zero, away + left_zero, away * line_step);
    }
}

brume_status brume_log_normal_pair(double sigma, double shift, double stretch, double **p,
                                   double **q, size_t *count, brume_error *error)
{
    if (!(sigma >= .05 && sigma <= 2))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'sigma' is %.17g, must be in [0.05, 2]",
                          sigma);
    if (!(fabs(shift) <= 100))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'shift' is %.17g, must be in [-100, 100]",
                          shift);
    if (!(fabs(stretch) <= 10))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'stretch' is %.17g, must be in [-10, 10]",
                          stretch);
    size_t room = 2 * LINE_POINTS + LINE_POINTS / 2;
    two_laws *made = malloc(sizeof *made);
    if (made)
        *made = (two_laws){.sigma = sigma,
                           .shift = shift,
                           .widening = exp(stretch),
                           .p = calloc(room, sizeof *made->p),
                           .q = calloc(room, sizeof *made->q)};
    if (!made || !made->p || !made->q) {
        if (made) {
            free(made->p);
            free(made->q);
        }
        free(made);
        return brume_no_memory(error, "a quadrature");
    }
    prepare_normal(made);
    add_points(made);
    *p = made->p;
    *q = made->q;
    *count = made->count;
    free(made);
    return BRUME_OK;
}

static double best_sigma(double epsilon, double t)
{
    /* At t/epsilon the cubic is -t < 0; at the upper end it is positive; one root in between. */
    double low = t / epsilon, high = t / epsilon + cbrt(t / epsilon);
    for (int i = 0; i < 100; i++) {
        double sigma = low + (high - low) / 2;
        if (5 * epsilon * sigma * sigma * sigma - 5 * t * sigma * sigma - t < 0)
            low = sigma;
        else
            high = sigma;
    }
    return high;
}

brume_status brume_smooth_plan_log_normal(double rho, double t, brume_smooth_plan *out,
                                          brume_error *error)
{
    if (!(rho >= 0x1p-60 && rho <= 1e4))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'rho' is %.17g, must be in [2^-60, 10^4]",
                          rho);
    double epsilon = brume_sqrt_down(2 * rho); /* down: less to spend */
    if (t == 0)
        t = epsilon / 10;
    if (!(t > 0 && t <= 64))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'t' is %.17g, must be in (0, 64]", t);
    double sigma = best_sigma(epsilon, t);
    /* s = exp(-3 sigma^2/2) (epsilon - t/sigma), each step down. */
    double square = brume_multiply_up(brume_multiply_up(1.5, sigma), sigma);
    double left = brume_subtract_down(epsilon, brume_divide_up(t, sigma));
    double s = brume_multiply_down(brume_exp_down(-square), left);
    if (!(s >= epsilon * 0x1p-20))
        return brume_fail(error, BRUME_EARGUMENT, "use a smaller 't', or leave it out",
                          "'t' is %.17g: it leaves no room for noise of this rho", t);
    *out = (brume_smooth_plan){
        .law = BRUME_SMOOTH_LOG_NORMAL, .s = s, .t = t, .shape = sigma, .rho = rho};
    return BRUME_OK;
}

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_PRICE_("rho", "nats", "what it costs in concentrated privacy"),
};

static const char *const examples[] = {
    "account 'smooth_lln(rho=0.1)' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_rho(event->parameter[0], BRUME_UPPER, cost);
    return BRUME_OK;
}

static brume_status plan(const brume_event *event, brume_smooth_plan *out, brume_error *error)
{
    return brume_smooth_plan_log_normal(event->parameter[0], 0, out, error);
}

static const brume_smooth_family law = {plan};

const brume_card brume_card_smooth_lln = {
    .id = 21,
    .name = "smooth_lln",
    .summary = "Laplace-log-normal noise scaled to the smooth sensitivity of the data",
    .guarantee = "rho-concentrated",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "smooth_noise.md",
    .examples = examples,
    .cost = cost,
    .trial = &brume_smooth_trial,
    .family = &law,
};
