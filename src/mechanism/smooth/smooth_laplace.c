/* Smooth sensitivity with Laplace noise: the plan and the card.
 *
 * Promises: (epsilon, delta)-DP with the exact delta of the worst neighbours. Those are Laplace
 * laws whose scales are exp(t) and whose centres are s apart (in units of the narrower scale): both
 * tails of the wider law exceed exp(epsilon) times the narrower one beyond
 *     x_R = (epsilon + t - s/b)/(1 - 1/b),   x_L = (epsilon + t + s/b)/(1 - 1/b),   b = exp(t),
 * and the other direction never does if t + s/b <= epsilon. proofs/smooth_noise.md. */
#include <brume/mechanism/smooth.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/smooth/trial.h"
#include "number/ball.h"

typedef struct laplace_question {
    double epsilon, s, t;
} laplace_question;

/* out = (exp(-(x - s)/b) - exp(epsilon - x))/2, x = (epsilon + t - s/b)/(1 - 1/b); s of either
 * sign: the excess of one tail. */
static void tail_excess(arb_t out, const laplace_question *asked, const arb_t s, slong precision)
{
    arb_t narrow, x, exponent;
    arb_init(narrow);
    arb_init(x);
    arb_init(exponent);
    arb_set_d(x, -asked->t);
    arb_exp(narrow, x, precision); /* 1/b */
    arb_expm1(exponent, x, precision);
    arb_neg(exponent, exponent); /* 1 - 1/b */
    arb_set_d(x, asked->epsilon);
    arb_set_d(out, asked->t);
    arb_add(x, x, out, precision);
    arb_submul(x, s, narrow, precision);
    arb_div(x, x, exponent, precision);
    arb_sub(exponent, s, x, precision);
    arb_mul(exponent, exponent, narrow, precision);
    arb_exp(narrow, exponent, precision);
    arb_set_d(exponent, asked->epsilon);
    arb_sub(exponent, exponent, x, precision);
    arb_exp(exponent, exponent, precision);
    arb_sub(out, narrow, exponent, precision);
    arb_mul_2exp_si(out, out, -1);
    arb_clear(narrow);
    arb_clear(x);
    arb_clear(exponent);
}

static void both_tails(arb_t out, const void *context, slong precision)
{
    const laplace_question *asked = context;
    arb_t s, left;
    arb_init(s);
    arb_init(left);
    arb_set_d(s, asked->s);
    tail_excess(out, asked, s, precision);
    arb_neg(s, s);
    tail_excess(left, asked, s, precision);
    arb_add(out, out, left, precision);
    arb_clear(s);
    arb_clear(left);
}

/* epsilon - t - s exp(-t) */
static void spare(arb_t out, const void *context, slong precision)
{
    const laplace_question *asked = context;
    arb_t term;
    arb_init(term);
    arb_set_d(out, asked->epsilon);
    arb_set_d(term, asked->t);
    arb_sub(out, out, term, precision);
    arb_neg(term, term);
    arb_exp(term, term, precision);
    arb_t s;
    arb_init(s);
    arb_set_d(s, asked->s);
    arb_submul(out, s, term, precision);
    arb_clear(s);
    arb_clear(term);
}

double brume_smooth_laplace_delta_upper(double epsilon, double s, double t)
{
    laplace_question asked = {epsilon, s, t};
    if (!(epsilon > 0 && isfinite(epsilon) && s >= 0 && s <= epsilon && t > 0))
        return 1;
    if (brume_ball_evaluate(spare, &asked, -INFINITY, INFINITY).lower < 0)
        return 1; /* the other direction has a part too: not used by any plan */
    return brume_ball_evaluate(both_tails, &asked, 0, 1).upper;
}

brume_status brume_smooth_plan_laplace(double epsilon, double delta, double t,
                                       brume_smooth_plan *out, brume_error *error)
{
    if (!(epsilon > 0 && epsilon <= 700))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'epsilon' is %.17g, must be in (0, 700]",
                          epsilon);
    if (!(delta > 0 && delta < .5))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'delta' is %.17g, must be in (0, 1/2)",
                          delta);
    if (t == 0) { /* any t is sound; noise e^t times as large must leave room, also far from 0 */
        double small = epsilon / (2 * log(2 / delta));
        t = small <= 1 ? small : log1p(small);
    }
    if (!(t > 0 && t < epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'t' is %.17g, must be in (0, epsilon)", t);
    double low = 0, high = epsilon;
    for (int i = 0; i < 60; i++) {
        double middle = low + (high - low) / 2;
        if (brume_smooth_laplace_delta_upper(epsilon, middle, t) <= delta)
            low = middle; /* certified for this s */
        else
            high = middle;
    }
    if (low < epsilon * 0x1p-20)
        return brume_fail(error, BRUME_EARGUMENT, "use a smaller 't', or leave it out",
                          "'t' is %.17g: it leaves no room for noise of this epsilon and delta", t);
    *out = (brume_smooth_plan){
        .law = BRUME_SMOOTH_LAPLACE, .s = low, .t = t, .epsilon = epsilon, .delta = delta};
    return BRUME_OK;
}

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("what it costs, except with probability delta"),
    BRUME_PARAMETER_DELTA_("the part of the tails beyond epsilon"),
};

static const char *const examples[] = {
    "account 'smooth_laplace(epsilon=1, delta=1e-6)*10' --delta 1e-4",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_failing(event->parameter[0], event->parameter[1], cost);
    return BRUME_OK;
}

static brume_status plan(const brume_event *event, brume_smooth_plan *out, brume_error *error)
{
    return brume_smooth_plan_laplace(event->parameter[0], event->parameter[1], 0, out, error);
}

static const brume_smooth_family law = {plan};

const brume_card brume_card_smooth_laplace = {
    .id = 18,
    .name = "smooth_laplace",
    .summary = "Laplace noise scaled to the smooth sensitivity of the data",
    .guarantee = "(epsilon, delta)",
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
