/* Smooth sensitivity with Student noise: the plan and the card.
 *
 * Promises: pure epsilon = d t + s (d+1)/(2 sqrt(d)) for d >= 1 degrees of freedom: widening by
 * exp(t) changes the log-density by at most d t, and the log-density has slope at most (d+1)/(2
 * sqrt(d)). proofs/smooth_noise.md. */
#include <brume/mechanism/smooth.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/smooth/trial.h"

brume_status brume_smooth_plan_student(double epsilon, uint64_t degrees, double t,
                                       brume_smooth_plan *out, brume_error *error)
{
    if (!(epsilon >= 0x1p-30 && epsilon <= 700))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be in [2^-30, 700]", epsilon);
    if (degrees < 1 || degrees > 1000)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'degrees' is %llu, must be in [1, 1000]",
                          (unsigned long long)degrees);
    double d = (double)degrees;
    if (t == 0)
        t = brume_divide_down(epsilon, 2 * d);
    double widening = brume_multiply_up(d, t);                           /* up: less is left */
    double left = brume_subtract_down(epsilon, widening);                /* down */
    double slope_upper = brume_divide_up(d + 1, 2 * brume_sqrt_down(d)); /* up; 2 root is exact */
    double s = brume_divide_down(left, slope_upper);                     /* down: more noise */
    if (!(t > 0 && s >= epsilon * 0x1p-20))
        return brume_fail(error, BRUME_EARGUMENT, "use a smaller 't', or leave it out",
                          "'t' is %.17g, must be in (0, epsilon/degrees)", t);
    *out = (brume_smooth_plan){
        .law = BRUME_SMOOTH_STUDENT, .s = s, .t = t, .shape = d, .epsilon = epsilon};
    return BRUME_OK;
}

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("what it costs"),
    {.name = "degrees",
     .type = BRUME_PARAMETER_INTEGER,
     .least = 1,
     .most = 1000,
     .direction = BRUME_NOT_MONOTONE,
     .unit = "",
     .help = "degrees of freedom: moments of lower order exist"},
};

static const char *const examples[] = {
    "account 'smooth_student(epsilon=0.1, degrees=3)*20' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[0], BRUME_UPPER, cost);
    return BRUME_OK;
}

static brume_status plan(const brume_event *event, brume_smooth_plan *out, brume_error *error)
{
    return brume_smooth_plan_student(event->parameter[0], (uint64_t)event->parameter[1], 0, out,
                                     error);
}

static const brume_smooth_family law = {plan};

const brume_card brume_card_smooth_student = {
    .id = 20,
    .name = "smooth_student",
    .summary = "Student noise scaled to the smooth sensitivity of the data",
    .guarantee = "pure epsilon",
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
