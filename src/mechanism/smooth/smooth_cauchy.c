/* Smooth sensitivity with Cauchy noise: the plan and the card.
 *
 * Promises: pure epsilon, exactly. The largest log-ratio of the densities of Cauchy laws with
 * centres u apart and scales 1 and g is the hyperbolic distance acosh(1 + (u^2 + (g-1)^2)/(2g));
 * over |u| <= s and 1 <= g <= exp(t) it is largest at u = s and one of the ends of g.
 * proofs/smooth_noise.md. */
#include <brume/mechanism/smooth.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/smooth/trial.h"
#include "number/ball.h"

typedef struct cauchy_pair {
    double s, t;
} cauchy_pair;

/* 2 asinh(s/2) */
static void shifted(arb_t out, const void *context, slong precision)
{
    const cauchy_pair *asked = context;
    arb_set_d(out, asked->s);
    arb_mul_2exp_si(out, out, -1);
    arb_asinh(out, out, precision);
    arb_mul_2exp_si(out, out, 1);
}

/* acosh(cosh t + s^2 exp(-t)/2) */
static void shifted_and_widened(arb_t out, const void *context, slong precision)
{
    const cauchy_pair *asked = context;
    arb_t t, s;
    arb_init(t);
    arb_init(s);
    arb_set_d(t, asked->t);
    arb_set_d(s, asked->s);
    arb_mul(s, s, s, precision);
    arb_neg(out, t);
    arb_exp(out, out, precision);
    arb_mul(s, s, out, precision);
    arb_mul_2exp_si(s, s, -1);
    arb_cosh(t, t, precision);
    arb_add(out, t, s, precision);
    arb_acosh(out, out, precision);
    arb_clear(t);
    arb_clear(s);
}

double brume_smooth_cauchy_epsilon_upper(double s, double t)
{
    cauchy_pair asked = {s, t};
    if (!(s >= 0 && t >= 0 && isfinite(s) && t <= 700))
        return INFINITY;
    double plain = brume_ball_evaluate(shifted, &asked, 0, INFINITY).upper;
    double widened = brume_ball_evaluate(shifted_and_widened, &asked, 0, INFINITY).upper;
    return plain > widened ? plain : widened;
}

brume_status brume_smooth_plan_cauchy(double epsilon, double t, brume_smooth_plan *out,
                                      brume_error *error)
{
    if (!(epsilon >= 0x1p-30 && epsilon <= 60))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be in [2^-30, 60]", epsilon);
    /* ln(2 cosh epsilon - 1) = log1p(4 sinh(epsilon/2)^2); a little down, so that the certified
     * epsilon of the pair is not above the one asked. */
    double half = sinh(epsilon / 2);
    double free_t = log1p(4 * half * half) * (1 - 0x1p-40);
    if (t == 0)
        t = free_t;
    if (!(t > 0 && t < epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'t' is %.17g, must be in (0, epsilon)", t);
    double low = 0, high = 2 * half * (1 + 0x1p-40); /* what the shift alone leaves */
    for (int i = 0; i < 80; i++) {
        double middle = low + (high - low) / 2;
        if (brume_smooth_cauchy_epsilon_upper(middle, t) <= epsilon)
            low = middle; /* certified for this s */
        else
            high = middle;
    }
    if (low < epsilon * 0x1p-20)
        return brume_fail(error, BRUME_EARGUMENT, "use a smaller 't', or leave it out",
                          "'t' is %.17g: it leaves no room for noise of this epsilon", t);
    *out = (brume_smooth_plan){.law = BRUME_SMOOTH_CAUCHY, .s = low, .t = t, .epsilon = epsilon};
    return BRUME_OK;
}

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("what it costs"),
};

static const char *const examples[] = {
    "account 'smooth_cauchy(epsilon=0.1)*20' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[0], BRUME_UPPER, cost);
    cost->pure = BRUME_EXACT;
    return BRUME_OK;
}

static brume_status plan(const brume_event *event, brume_smooth_plan *out, brume_error *error)
{
    return brume_smooth_plan_cauchy(event->parameter[0], 0, out, error);
}

static const brume_smooth_family law = {plan};

const brume_card brume_card_smooth_cauchy = {
    .id = 19,
    .name = "smooth_cauchy",
    .summary = "Cauchy noise scaled to the smooth sensitivity of the data",
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
