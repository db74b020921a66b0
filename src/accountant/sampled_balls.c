/* Atoms on a Poisson sample, in balls. See the header; proofs/poisson.md has the pair. */
#include "accountant/sampled_balls.h"

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

void brume_sampled_atom(arb_t mass, arb_t log_ratio, const brume_loss *law, slong j,
                        slong precision)
{
    slong shift = law->kind == BRUME_LOSS_POISSON_PURE ? 1 : (slong)law->shift;
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
