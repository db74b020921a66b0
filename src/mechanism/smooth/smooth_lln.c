/* Smooth sensitivity with Laplace-log-normal noise under concentrated privacy: the plan, the card.
 *
 * Promises: rho = (t/sigma + exp(3 sigma^2/2) s)^2 / 2: widening costs t^2/(2 sigma^2), shifting is
 * pure exp(3 sigma^2/2) s, and two steps of rho a and b make (sqrt(a) + sqrt(b))^2.
 * sigma is the positive root of 5 e sigma^3 - 5 t sigma^2 - t = 0, e = sqrt(2 rho): the least
 * standard deviation for this t. Any sigma is sound; s is made for it. proofs/smooth_noise.md. */
#include <brume/mechanism/smooth.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/smooth/trial.h"

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
