/* One release of a Laplace or discrete Laplace mechanism on a Poisson sample, in closed form.
 *
 * brume_sampled_profile has the identity. With u the growth, D of Laplace is the largest of 0, 1 -
 * u and 1 - (u e^{-e})^{1/2}; of atoms it is the sum of (P - u Q)_+. Both orders grow with e and q,
 * so the moved parameters give the two sides. */
#include "accountant/exact/closed_form.h"

#include <math.h>

#include "accountant/exact/sampled_balls.h"
#include "number/ball.h"

typedef struct point {
    brume_loss law;
    double epsilon;
    bool added;
} point;

static void laplace_profile(arb_t out, double epsilon0, const arb_t growth, slong precision)
{
    arb_t x;
    arb_init(x);
    arb_zero(out);
    arb_sub_ui(x, growth, 1, precision);
    arb_neg(x, x);
    arb_max(out, out, x, precision);
    arb_set_d(x, -epsilon0);
    arb_exp(x, x, precision);
    arb_mul(x, x, growth, precision);
    arb_sqrt(x, x, precision);
    arb_sub_ui(x, x, 1, precision);
    arb_neg(x, x);
    arb_max(out, out, x, precision);
    arb_clear(x);
}

/* The discrete Laplace of 1/scale a: P_j = q^j, Q_j = q^{D-j}, between the ends times 1 - q, over
 * 1 + q. */
static void atoms_profile(arb_t out, const brume_loss *law, const arb_t growth, slong precision)
{
    slong shift = law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ? (slong)law->shift : 1;
    arb_t decay, rest, p, q, zero;
    arb_init(decay);
    arb_init(rest);
    arb_init(p);
    arb_init(q);
    arb_init(zero);
    arb_zero(out);
    arb_set_d(decay, -law->a);
    arb_expm1(rest, decay, precision);
    arb_neg(rest, rest);
    arb_exp(decay, decay, precision);
    for (slong j = 0; j <= shift; j++) {
        arb_pow_ui(p, decay, (ulong)j, precision);
        arb_pow_ui(q, decay, (ulong)(shift - j), precision);
        arb_submul(p, q, growth, precision);
        if (j > 0 && j < shift)
            arb_mul(p, p, rest, precision);
        arb_max(p, p, zero, precision);
        arb_add(out, out, p, precision);
    }
    arb_add_ui(decay, decay, 1, precision);
    arb_div(out, out, decay, precision);
    arb_clear(decay);
    arb_clear(rest);
    arb_clear(p);
    arb_clear(q);
    arb_clear(zero);
}

static void inner(arb_t out, const void *context, const arb_t growth, slong precision)
{
    const brume_loss *law = context;
    if (law->kind == BRUME_LOSS_POISSON_LAPLACE)
        laplace_profile(out, law->a, growth, precision);
    else
        atoms_profile(out, law, growth, precision);
}

static void profile(arb_t out, const void *context, slong precision)
{
    const point *p = context;
    brume_sampled_profile(out, p->epsilon, p->law.rate, p->added, inner, &p->law, precision);
}

static double amplified_delta(void *context, double epsilon, brume_side side)
{
    const brume_law *law = context;
    point p = {.law = law->source, .epsilon = epsilon, .added = law->reversed};
    p.law.a = brume_parameter_moved(law->source.a, side);
    p.law.rate = fmin(1, brume_parameter_moved(law->source.rate, side));
    brume_interval delta = brume_ball_evaluate(profile, &p, 0, 1);
    return side == BRUME_UPPER_SIDE ? delta.upper : delta.lower;
}

bool brume_amplified_form(brume_law *law, brume_closed *out)
{
    brume_loss_kind kind = law->source.kind;
    if (law->count != 1 ||
        (kind != BRUME_LOSS_POISSON_LAPLACE && kind != BRUME_LOSS_POISSON_DISCRETE_LAPLACE &&
         kind != BRUME_LOSS_POISSON_PURE))
        return false;
    *out = (brume_closed){.delta = amplified_delta,
                          .context = law,
                          .route = "closed form of one release on a Poisson sample"};
    return true;
}
