/* Atoms on a Poisson sample, in balls. See the header; proofs/poisson.md has the pair. */
#include "accountant/exact/sampled_balls.h"

/* log(1 + q (e^x - 1)) */
static void log_ratio_of(arb_t out, const arb_t x, double rate, slong precision)
{
    arb_t q;
    arb_init(q);
    arb_set_d(q, rate);
    arb_expm1(out, x, precision);
    arb_mul(out, out, q, precision);
    arb_log1p(out, out, precision);
    arb_clear(q);
}

void brume_sampled_profile(arb_t out, double epsilon, double rate, bool added,
                           brume_inner_profile *inner, const void *context, slong precision)
{
    arb_t u, q, k;
    arb_init(u);
    arb_init(q);
    arb_init(k);
    arb_set_d(u, epsilon);
    arb_exp(u, u, precision);
    arb_set_d(q, rate);
    if (added) {
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
        if (added)
            arb_zero(out);
    } else if (!arb_is_positive(k)) {
        arb_indeterminate(out); /* more precision will tell */
    } else {
        if (added) {
            arb_mul(u, u, q, precision);
            arb_div(u, u, k, precision);
        } else {
            arb_div(u, k, q, precision);
            arb_swap(k, q); /* the factor */
        }
        inner(out, context, u, precision);
        arb_mul(out, out, k, precision);
    }
    arb_clear(u);
    arb_clear(q);
    arb_clear(k);
}

void brume_sampled_atom(arb_t mass, arb_t log_ratio, const brume_loss *law, slong j,
                        slong precision)
{
    slong shift = law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ? (slong)law->shift : 1;
    arb_t decay, x;
    arb_init(decay);
    arb_init(x);
    arb_set_d(x, -law->a);
    arb_exp(decay, x, precision);
    /* q^{D-j}/(1+q), between the ends times 1 - q */
    arb_pow_ui(mass, decay, (ulong)(shift - j), precision);
    if (j > 0 && j < shift) {
        arb_expm1(x, x, precision);
        arb_neg(x, x);
        arb_mul(mass, mass, x, precision);
    }
    arb_add_ui(x, decay, 1, precision);
    arb_div(mass, mass, x, precision);
    arb_set_d(x, law->a);
    arb_mul_si(x, x, shift - 2 * j, precision);
    log_ratio_of(log_ratio, x, law->rate, precision);
    arb_clear(decay);
    arb_clear(x);
}

void brume_sampled_places(arb_t spread, arb_t centre, double a, double rate, bool added,
                          slong precision)
{
    arb_t x, below;
    arb_init(x);
    arb_init(below);
    arb_set_d(x, a);
    log_ratio_of(spread, x, rate, precision);
    arb_neg(x, x);
    log_ratio_of(below, x, rate, precision);
    arb_add(centre, spread, below, precision);
    arb_sub(spread, spread, below, precision);
    arb_mul_2exp_si(spread, spread, -1);
    arb_mul_2exp_si(centre, centre, -1);
    if (added)
        arb_neg(centre, centre);
    arb_clear(x);
    arb_clear(below);
}

typedef struct sampled_integrand {
    double a, rate;
    acb_srcptr power;
} sampled_integrand;

/* (1/4) e^{-(l+a)/2} exp(z log r(l)): analytic where r stays off the negative axis. */
static int integrand(acb_ptr out, const acb_t l, void *context, slong order, slong precision)
{
    const sampled_integrand *p = context;
    acb_t x;
    arb_t q;
    acb_init(x);
    arb_init(q);
    arb_set_d(q, p->rate);
    acb_exp(x, l, precision);
    acb_sub_ui(x, x, 1, precision);
    acb_mul_arb(x, x, q, precision);
    acb_add_ui(x, x, 1, precision);
    acb_log_analytic(x, x, order != 0, precision);
    acb_mul(x, x, p->power, precision);
    arb_set_d(q, p->a);
    acb_add_arb(out, l, q, precision);
    acb_mul_2exp_si(out, out, -1);
    acb_sub(x, x, out, precision);
    acb_exp(out, x, precision);
    acb_mul_2exp_si(out, out, -2);
    acb_clear(x);
    arb_clear(q);
    return 0;
}

void brume_sampled_laplace(acb_t out, double a, double rate, const acb_t power, slong precision)
{
    sampled_integrand context = {.a = a, .rate = rate, .power = power};
    acb_t low, high, term;
    arb_t x, e;
    mag_t tolerance;
    acb_init(low);
    acb_init(high);
    acb_init(term);
    arb_init(x);
    arb_init(e);
    mag_init(tolerance);
    mag_set_ui_2exp_si(tolerance, 1, -precision / 2);
    acb_set_d(low, -a);
    acb_set_d(high, a);
    acb_calc_integrate(out, integrand, &context, low, high, precision / 2, tolerance, NULL,
                       precision);
    arb_set_d(e, a);
    for (int end = -1; end <= 1; end += 2) { /* 1/2 at -a, e^{-a}/2 at a */
        arb_mul_si(x, e, end, precision);
        log_ratio_of(x, x, rate, precision);
        acb_mul_arb(term, power, x, precision);
        if (end > 0)
            acb_sub_arb(term, term, e, precision);
        acb_exp(term, term, precision);
        acb_mul_2exp_si(term, term, -1);
        acb_add(out, out, term, precision);
    }
    acb_clear(low);
    acb_clear(high);
    acb_clear(term);
    arb_clear(x);
    arb_clear(e);
    mag_clear(tolerance);
}
