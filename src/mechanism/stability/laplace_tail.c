/* Tails and thresholds of discrete Laplace noise: ball arithmetic for every number that decides. */
#include "mechanism/stability/laplace_tail.h"

#include <math.h>

#include "base/error.h"
#include "number/ball.h"
#include "number/rounding.h"

typedef struct tail {
    double scale;
    uint64_t m;
} tail;

static void tail_ball(arb_t out, const void *context, slong precision)
{
    const tail *asked = context;
    arb_t rate, whole;
    arb_init(rate);
    arb_init(whole);
    arb_set_d(rate, asked->scale);
    arb_inv(rate, rate, precision);
    arb_neg(rate, rate);
    arb_mul_ui(whole, rate, asked->m, precision);
    arb_exp(whole, whole, precision);
    arb_exp(rate, rate, precision);
    arb_add_ui(rate, rate, 1, precision);
    arb_div(out, whole, rate, precision);
    arb_clear(rate);
    arb_clear(whole);
}

double brume_discrete_tail_upper(double scale, uint64_t m)
{
    tail asked = {scale, m};
    return brume_ball_evaluate(tail_ball, &asked, 0, 1).upper;
}

brume_status brume_discrete_tail_threshold(double scale, double delta, uint64_t *m,
                                           double *delta_upper, brume_error *error)
{
    if (!(scale > 0 && scale <= 0x1p56 && delta >= 0x1p-1000 && delta < .5))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "no threshold for a scale of %.17g and 'delta' %.17g", scale, delta);
    /* The formula gives it up to rounding, which is a part of the guess, and a part of the scale
     * where the logarithms cancel; the certified tail decides among its neighbours. */
    double guess = fmax(-scale * (log(delta) + log1p(exp(-1 / scale))), 0);
    uint64_t step = 1 + (uint64_t)(guess * 0x1p-40 + scale * 0x1p-50);
    uint64_t least = (uint64_t)guess;
    least = least > 2 * step ? least - 2 * step : 0;
    uint64_t high = least + step;
    while (brume_discrete_tail_upper(scale, high) > delta)
        high += step;
    while (least < high) {
        uint64_t middle = least + (high - least) / 2;
        if (brume_discrete_tail_upper(scale, middle) <= delta)
            high = middle;
        else
            least = middle + 1;
    }
    *m = high;
    *delta_upper = brume_discrete_tail_upper(scale, high);
    return BRUME_OK;
}

double brume_scale_upper(double amount, double epsilon)
{
    return brume_up(brume_divide_up(amount, epsilon));
}

typedef struct share {
    double delta;
    uint64_t keys;
} share;

/* -expm1(log1p(-delta)/keys) */
static void share_ball(arb_t out, const void *context, slong precision)
{
    const share *asked = context;
    arb_set_d(out, -asked->delta);
    arb_log1p(out, out, precision);
    arb_div_ui(out, out, asked->keys, precision);
    arb_expm1(out, out, precision);
    arb_neg(out, out);
}

/* -expm1(keys log1p(-p)) */
static void joint_ball(arb_t out, const void *context, slong precision)
{
    const share *asked = context;
    arb_set_d(out, -asked->delta);
    arb_log1p(out, out, precision);
    arb_mul_ui(out, out, asked->keys, precision);
    arb_expm1(out, out, precision);
    arb_neg(out, out);
}

double brume_delta_share_lower(double delta, uint64_t keys)
{
    share asked = {delta, keys};
    return keys == 1 ? delta : brume_ball_evaluate(share_ball, &asked, 0, 1).lower;
}

double brume_delta_joint_upper(double p, uint64_t keys)
{
    share asked = {p, keys};
    return keys == 1 ? p : brume_ball_evaluate(joint_ball, &asked, 0, 1).upper;
}
