/* One release of a Laplace or discrete Laplace mechanism on a Poisson sample, in closed form.
 *
 * With u = e^eps and D the profile of the inner pair, as for the Gaussian (sampled_once.c):
 *   a record removed:  delta = q D(1 + (u - 1)/q)             (u > 1 - q, else 1 - u)
 *   a record added:    delta = k D(u q/k), k = 1 - u (1 - q)  (k > 0, else 0).
 * D of Laplace is the largest of 0, 1 - u and 1 - (u e^{-e})^{1/2}; of atoms it is the sum of
 * (P - u Q)_+. Both grow with e and q, so the moved parameters give the two sides. */
#include "accountant/closed.h"

#include <math.h>

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

static void profile(arb_t out, const void *context, slong precision)
{
    const point *p = context;
    arb_t u, q, k;
    arb_init(u);
    arb_init(q);
    arb_init(k);
    arb_set_d(u, p->epsilon);
    arb_exp(u, u, precision);
    arb_set_d(q, p->law.rate);
    if (p->added) {
        arb_sub_ui(k, q, 1, precision); /* q - 1 */
        arb_mul(k, k, u, precision);
        arb_add_ui(k, k, 1, precision);
    } else {
        arb_add(k, u, q, precision);
        arb_sub_ui(k, k, 1, precision); /* u - 1 + q */
    }
    if (arb_is_nonpositive(k)) {
        arb_sub_ui(out, u, 1, precision);
        arb_neg(out, out); /* 1 - u */
        if (p->added)
            arb_zero(out);
    } else if (!arb_is_positive(k)) {
        arb_indeterminate(out); /* more precision will tell */
    } else {
        if (p->added) {
            arb_mul(u, u, q, precision);
            arb_div(u, u, k, precision);
        } else {
            arb_div(u, k, q, precision);
            arb_swap(k, q); /* the factor */
        }
        if (p->law.kind == BRUME_LOSS_POISSON_LAPLACE)
            laplace_profile(out, p->law.a, u, precision);
        else
            atoms_profile(out, &p->law, u, precision);
        arb_mul(out, out, k, precision);
    }
    arb_clear(u);
    arb_clear(q);
    arb_clear(k);
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
