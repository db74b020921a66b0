/* Every law's transform again, in balls, from its textbook form. See the header. */
#include "accountant/check/audit.h"

#include <math.h>

#include "accountant/exact/sampled_balls.h"
#include "accountant/law/sampled_gaussian.h"
#include "accountant/law/points.h"
#include "number/ball.h"

enum { BITS = BRUME_AUDIT_BITS };

static void exp_real(arb_t out, double x)
{
    arb_set_d(out, x);
    arb_exp(out, out, BITS);
}

/* e^{-a/2} [cosh(sigma a) + sinh(sigma a)/(2 sigma)] */
static void laplace(acb_t out, double a, const acb_t sigma)
{
    acb_t x, y;
    arb_t r;
    acb_init(x);
    acb_init(y);
    arb_init(r);
    arb_set_d(r, a);
    acb_mul_arb(x, sigma, r, BITS);
    acb_sinh_cosh(y, out, x, BITS);
    acb_mul_2exp_si(x, sigma, 1);
    acb_div(y, y, x, BITS);
    acb_add(out, out, y, BITS);
    exp_real(r, -0.5 * a);
    acb_mul_arb(out, out, r, BITS);
    acb_clear(x);
    acb_clear(y);
    arb_clear(r);
}

/* sum_j mass_j e^{s l_j} for k-ary (3 atoms), discrete Laplace of shift D, or a stored table */
static void atoms(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t term;
    arb_t a, mass, q;
    acb_init(term);
    arb_init(a);
    arb_init(mass);
    arb_init(q);
    acb_zero(out);
    arb_set_d(a, law->a);
    const brume_points *table = brume_table_points(law);
    bool kary = law->source.kind == BRUME_LOSS_KARY;
    bool stored = law->unit == 0 || law->source.kind == BRUME_LOSS_POISSON_GAUSSIAN_GROUP;
    slong shift = law->unit > 0 ? (slong)round(2 * law->top / law->unit) : 0;
    slong count = stored ? (slong)table->count : kary ? 3 : shift + 1;
    for (slong j = 0; j < count; j++) {
        if (stored) {
            arb_set_d(a, table->loss[j]);
            exp_real(mass, table->log_mass[j]);
            acb_mul_arb(term, s, a, BITS);
        } else if (kary) { /* truth, lie, the other lies: e^a, 1, k - 2 over e^a + k - 1 */
            exp_real(q, law->a);
            arb_add_ui(mass, q, (ulong)law->shift - 1, BITS);
            arb_inv(mass, mass, BITS);
            if (j == 0)
                arb_mul(mass, mass, q, BITS);
            if (j == 2)
                arb_mul_ui(mass, mass, (ulong)law->shift - 2, BITS);
            acb_mul_arb(term, s, a, BITS);
            acb_mul_si(term, term, j == 0 ? 1 : j == 1 ? -1 : 0, BITS);
        } else {
            exp_real(q, -law->a);
            arb_pow_ui(mass, q, (ulong)j, BITS);
            if (j > 0 && j < shift) {
                arb_t rest;
                arb_init(rest);
                arb_sub_ui(rest, q, 1, BITS);
                arb_neg(rest, rest);
                arb_mul(mass, mass, rest, BITS);
                arb_clear(rest);
            }
            arb_add_ui(q, q, 1, BITS);
            arb_div(mass, mass, q, BITS);
            acb_mul_arb(term, s, a, BITS);
            acb_mul_si(term, term, shift - 2 * j, BITS);
        }
        acb_exp(term, term, BITS);
        acb_addmul_arb(out, term, mass, BITS);
    }
    acb_clear(term);
    arb_clear(a);
    arb_clear(mass);
    arb_clear(q);
}

/* sum over x of e^{s l_x} e^{-x^2/(2 sigma^2)} over the same at s = 0; tails beyond 15 sigma of the
 * tilted centre are below e^{-110} of phi(c) */
static void discrete_gaussian(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t term, loss;
    arb_t square, weight, norm, x;
    acb_init(term);
    acb_init(loss);
    arb_init(square);
    arb_init(weight);
    arb_init(norm);
    arb_init(x);
    arb_set_d(square, law->a);
    arb_mul(square, square, square, BITS);
    arb_mul_2exp_si(square, square, 1);
    acb_zero(out);
    double centre = round(-law->c * law->shift), reach = ceil(15 * law->a) + 15;
    for (int pass = 0; pass < 2; pass++)
        for (double k = -reach; k <= reach; k++) {
            double place = pass ? k : centre + k;
            arb_set_d(x, place);
            arb_mul(weight, x, x, BITS);
            arb_neg(weight, weight);
            arb_div(weight, weight, square, BITS);
            if (pass) {
                arb_exp(weight, weight, BITS);
                arb_add(norm, norm, weight, BITS);
                continue;
            }
            arb_mul_2exp_si(x, x, 1); /* l_x = (D^2 - 2 x D)/(2 sigma^2) */
            arb_neg(x, x);
            arb_t d;
            arb_init(d);
            arb_set_d(d, law->shift);
            arb_add(x, x, d, BITS);
            arb_mul(x, x, d, BITS);
            arb_clear(d);
            arb_div(x, x, square, BITS);
            acb_mul_arb(term, s, x, BITS);
            acb_add_arb(term, term, weight, BITS);
            acb_exp(term, term, BITS);
            acb_add(out, out, term, BITS);
        }
    acb_div_arb(out, out, norm, BITS);
    acb_clear(term);
    acb_clear(loss);
    arb_clear(square);
    arb_clear(weight);
    arb_clear(norm);
    arb_clear(x);
}

/* The shifted trapezoid sum itself, on the table's places; its quadrature error is the law's stated
 * one, relative to phi(c). */
static void sampled(acb_t out, const brume_law *law, const acb_t s)
{
    const brume_sampled_tables *tables = brume_sampled_tables_of(law);
    acb_t x, r, term, power;
    arb_t square, one;
    acb_init(x);
    acb_init(r);
    acb_init(term);
    acb_init(power);
    arb_init(square);
    arb_init(one);
    arb_set_d(square, law->a);
    arb_mul(square, square, square, BITS);
    arb_mul_2exp_si(square, square, 1); /* 2 sigma^2 */
    acb_zero(out);
    if (law->reversed)
        acb_neg(power, s);
    else
        acb_add_ui(power, s, 1, BITS);
    for (size_t j = 0; j < tables->moved.count; j++) {
        acb_set_d_d(x, tables->moved.place[j], law->reversed ? -tables->height : tables->height);
        acb_mul_2exp_si(r, x, 1);
        acb_sub_ui(r, r, 1, BITS);
        acb_div_arb(r, r, square, BITS);
        acb_exp(r, r, BITS);
        arb_set_d(one, law->rate);
        acb_sub_ui(r, r, 1, BITS);
        acb_mul_arb(r, r, one, BITS);
        acb_add_ui(r, r, 1, BITS); /* 1 + q (e^t - 1) */
        acb_log(r, r, BITS);
        acb_mul(r, r, power, BITS);
        acb_mul(term, x, x, BITS);
        acb_div_arb(term, term, square, BITS);
        acb_sub(term, r, term, BITS);
        acb_exp(term, term, BITS);
        acb_add(out, out, term, BITS);
    }
    arb_set_d(one, tables->moved_step); /* step / (sigma sqrt(2 pi)) */
    acb_mul_arb(out, out, one, BITS);
    arb_const_pi(one, BITS);
    arb_mul(one, one, square, BITS);
    arb_sqrt(one, one, BITS);
    acb_div_arb(out, out, one, BITS);
    acb_clear(x);
    acb_clear(r);
    acb_clear(term);
    acb_clear(power);
    arb_clear(square);
    arb_clear(one);
}

/* On a Poisson sample: sum over the inner atoms of Q r^{s+1}, added: Q r^{-s}. */
static void sampled_atoms(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t term, power;
    arb_t mass, log_ratio;
    acb_init(term);
    acb_init(power);
    arb_init(mass);
    arb_init(log_ratio);
    slong shift = law->source.kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE ? (slong)law->source.shift
                                                                          : 1;
    acb_add_ui(power, s, 1, BITS);
    if (law->reversed)
        acb_neg(power, s);
    acb_zero(out);
    for (slong j = 0; j <= shift; j++) {
        brume_sampled_atom(mass, log_ratio, &law->source, j, BITS);
        acb_mul_arb(term, power, log_ratio, BITS);
        acb_exp(term, term, BITS);
        acb_addmul_arb(out, term, mass, BITS);
    }
    acb_clear(term);
    acb_clear(power);
    arb_clear(mass);
    arb_clear(log_ratio);
}

void brume_audit_places(arb_t spread, arb_t centre, const brume_law *law)
{
    brume_sampled_places(spread, centre, law->source.a, law->source.rate, law->reversed, BITS);
}

/* The Laplace on a Poisson sample: its two atoms, and the rest by adaptive quadrature in balls. */
static void thinned(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t power;
    acb_init(power);
    acb_add_ui(power, s, 1, BITS);
    if (law->reversed)
        acb_neg(power, s);
    brume_sampled_laplace(out, law->source.a, law->source.rate, power, BITS);
    acb_clear(power);
}

void brume_audit_transform(acb_t out, const brume_law *law, const acb_t s)
{
    acb_t sigma;
    arb_t a;
    acb_init(sigma);
    arb_init(a);
    acb_set_d(sigma, 0.5);
    acb_add(sigma, sigma, s, BITS);
    arb_set_d(a, law->a);
    switch (law->source.kind) {
    case BRUME_LOSS_GAUSSIAN:
        acb_add_ui(out, s, 1, BITS);
        acb_mul(out, out, s, BITS);
        acb_mul_arb(out, out, a, BITS);
        acb_mul_arb(out, out, a, BITS);
        acb_mul_2exp_si(out, out, -1);
        acb_exp(out, out, BITS);
        break;
    case BRUME_LOSS_LAPLACE:
        laplace(out, law->a, sigma);
        break;
    case BRUME_LOSS_PURE:
        acb_mul_arb(out, sigma, a, BITS);
        acb_cosh(out, out, BITS);
        arb_mul_2exp_si(a, a, -1);
        arb_cosh(a, a, BITS);
        acb_div_arb(out, out, a, BITS);
        break;
    case BRUME_LOSS_DISCRETE_GAUSSIAN:
        discrete_gaussian(out, law, s);
        break;
    case BRUME_LOSS_POISSON_GAUSSIAN:
        sampled(out, law, s);
        break;
    case BRUME_LOSS_POISSON_LAPLACE:
        thinned(out, law, s);
        break;
    case BRUME_LOSS_POISSON_PURE:
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
        sampled_atoms(out, law, s);
        break;
    default:
        atoms(out, law, s);
    }
    acb_clear(sigma);
    arb_clear(a);
}
