/* Poisson-subsampled Gaussians: against balls, closed forms, and themselves. Rays: test_rays.c.
 *
 * Two draws have an independent reference: with r the ratio of the densities,
 *   delta = [P(A)^2 - u Q(A)^2] + 2 int over the complement of A of p(x) delta_1(eps - loss(x)) dx,
 * A the outputs with a loss above eps/2, delta_1 the closed form of one draw. The integrand is
 * analytic, and Arb encloses the integral. */
#include "check.h"

#include <math.h>

#include <brume/account/compose.h>

#include "accountant/exact/one_sampled.h"
#include "accountant/ray/solve.h"
#include <brume/account/diagnostics.h>

#include "accountant/solve/solve.h"
#include "number/flint.h"
#include "sequence.h"
#include "solved.h"
#include "terms.h"

enum { BITS = 128 };

typedef struct pair {
    double rate, sigma, epsilon;
    bool reversed;
} pair;

/* P[N(0,1) <= x] */
static void normal(acb_t out, const acb_t x)
{
    arb_t half;
    arb_init(half);
    arb_set_d(half, 0.5);
    arb_sqrt(half, half, BITS);
    acb_mul_arb(out, x, half, BITS);
    acb_neg(out, out);
    acb_hypgeom_erfc(out, out, BITS);
    acb_mul_2exp_si(out, out, -1);
    arb_clear(half);
}

/* 1 - q + q exp((2x-1)/(2 sigma^2)) */
static void ratio(acb_t out, const acb_t x, const pair *p)
{
    acb_t a;
    acb_init(a);
    acb_mul_2exp_si(out, x, 1);
    acb_sub_ui(out, out, 1, BITS);
    acb_set_d(a, p->sigma);
    acb_mul(a, a, a, BITS);
    acb_mul_2exp_si(a, a, 1);
    acb_div(out, out, a, BITS);
    acb_exp(out, out, BITS);
    acb_sub_ui(out, out, 1, BITS);
    acb_set_d(a, p->rate);
    acb_mul(out, out, a, BITS);
    acb_add_ui(out, out, 1, BITS);
    acb_clear(a);
}

/* The profile of one draw at e^eps = v, where it is neither 0 nor 1 - v. */
static void one_draw(acb_t out, const acb_t v, const pair *p, int order)
{
    acb_t q, k, g, e, mu, left, right;
    acb_init(q), acb_init(k), acb_init(g), acb_init(e), acb_init(mu);
    acb_init(left), acb_init(right);
    acb_set_d(q, p->rate);
    acb_set_d(mu, p->sigma);
    acb_inv(mu, mu, BITS);
    if (p->reversed) { /* k = 1 - v (1 - q), g = v q/k */
        acb_sub_ui(k, q, 1, BITS);
        acb_mul(k, k, v, BITS);
        acb_add_ui(k, k, 1, BITS);
        acb_mul(g, v, q, BITS);
        acb_div(g, g, k, BITS);
    } else { /* k = q, g = 1 + (v - 1)/q */
        acb_set(k, q);
        acb_sub_ui(g, v, 1, BITS);
        acb_div(g, g, q, BITS);
        acb_add_ui(g, g, 1, BITS);
    }
    acb_log_analytic(e, g, order > 0, BITS);
    acb_div(e, e, mu, BITS);
    acb_mul_2exp_si(left, mu, -1);
    acb_neg(right, left);
    acb_sub(left, left, e, BITS);
    acb_sub(right, right, e, BITS);
    normal(left, left);
    normal(right, right);
    acb_mul(right, right, g, BITS);
    acb_sub(left, left, right, BITS);
    acb_mul(out, left, k, BITS);
    acb_clear(q), acb_clear(k), acb_clear(g), acb_clear(e), acb_clear(mu);
    acb_clear(left), acb_clear(right);
}

static int integrand(acb_ptr out, const acb_t x, void *context, slong order, slong bits)
{
    const pair *p = context;
    (void)bits;
    acb_t r, v, u;
    acb_init(r), acb_init(v), acb_init(u);
    ratio(r, x, p);
    acb_set_d(u, p->epsilon);
    acb_exp(u, u, BITS);
    if (p->reversed)
        acb_mul(v, u, r, BITS);
    else
        acb_div(v, u, r, BITS);
    one_draw(out, v, p, (int)order);
    if (!p->reversed)
        acb_mul(out, out, r, BITS);
    acb_set_d(u, p->sigma);
    acb_div(v, x, u, BITS);
    acb_mul(v, v, v, BITS);
    acb_mul_2exp_si(v, v, -1);
    acb_neg(v, v);
    acb_exp(v, v, BITS);
    acb_mul(out, out, v, BITS);
    acb_div(out, out, u, BITS);
    arb_const_pi(acb_realref(v), BITS);
    arb_zero(acb_imagref(v));
    acb_mul_2exp_si(v, v, 1);
    acb_sqrt(v, v, BITS);
    acb_div(out, out, v, BITS);
    acb_clear(r), acb_clear(v), acb_clear(u);
    return 0;
}

/* The place at which r is e^loss. */
static double place_of(const pair *p, double loss)
{
    return p->sigma * p->sigma * log1p(expm1(loss) / p->rate) + 0.5;
}

/* P(A) or Q(A), A right of x0 (added: left of it), under N0 or the mixture. */
static void mass(acb_t out, const pair *p, double x0, bool mixture)
{
    acb_t z, s, q;
    acb_init(z), acb_init(s), acb_init(q);
    double side = p->reversed ? 1 : -1;
    acb_set_d(s, p->sigma);
    acb_set_d(z, side * x0);
    acb_div(z, z, s, BITS);
    normal(out, z);
    if (mixture) {
        acb_set_d(z, side);
        acb_set_d(q, x0);
        acb_sub_ui(q, q, 1, BITS);
        acb_mul(z, z, q, BITS);
        acb_div(z, z, s, BITS);
        normal(z, z);
        acb_set_d(q, p->rate);
        acb_mul(z, z, q, BITS);
        acb_sub_ui(q, q, 1, BITS);
        acb_neg(q, q);
        acb_mul(out, out, q, BITS);
        acb_add(out, out, z, BITS);
    }
    acb_clear(z), acb_clear(s), acb_clear(q);
}

/* An enclosure of delta of two draws. x0 is rounded to a double: what it is off by enters squared,
 * because p p - u q q is 0 on the diagonal there. */
static brume_interval two_draws(const pair *p)
{
    double loss = p->reversed ? -p->epsilon / 2 : p->epsilon / 2, x0 = place_of(p, loss);
    double end = -20 * p->sigma;
    if (p->reversed) { /* up to where one more draw cannot reach epsilon; there is nothing left */
        double most = place_of(p, -p->epsilon - log1p(-p->rate));
        end = fmin(most - 1e-8 * p->sigma * p->sigma, 20 * p->sigma);
    }
    acb_t a, b, sum, u, part;
    mag_t tiny;
    acb_init(a), acb_init(b), acb_init(sum), acb_init(u), acb_init(part);
    mag_init(tiny);
    mag_set_ui_2exp_si(tiny, 1, -170);
    acb_set_d(a, p->reversed ? x0 : end);
    acb_set_d(b, p->reversed ? end : x0);
    acb_calc_integrate(sum, integrand, (void *)p, a, b, 60, tiny, NULL, BITS);
    acb_mul_2exp_si(sum, sum, 1);
    mass(part, p, x0, !p->reversed);
    acb_mul(part, part, part, BITS);
    acb_add(sum, sum, part, BITS);
    mass(part, p, x0, p->reversed);
    acb_mul(part, part, part, BITS);
    acb_set_d(u, p->epsilon);
    acb_exp(u, u, BITS);
    acb_mul(part, part, u, BITS);
    acb_sub(sum, sum, part, BITS);
    /* beyond the end: at most twice the mass there, or twice delta_1 there */
    double rest = 2 * erfc(20 / sqrt(2));
    if (p->reversed && end < 20 * p->sigma) {
        acb_t x, v;
        acb_init(x), acb_init(v);
        acb_set_d(x, end);
        ratio(v, x, p);
        acb_mul(v, v, u, BITS);
        one_draw(part, v, p, 0);
        rest += 2 * arf_get_d(arb_midref(acb_realref(part)), ARF_RND_UP) * (1 + 1e-9);
        acb_clear(x), acb_clear(v);
    }
    arf_t low, high;
    arf_init(low), arf_init(high);
    arb_get_interval_arf(low, high, acb_realref(sum), BITS);
    brume_interval out = {arf_get_d(low, ARF_RND_DOWN), arf_get_d(high, ARF_RND_UP) + rest};
    arf_clear(low), arf_clear(high);
    acb_clear(a), acb_clear(b), acb_clear(sum), acb_clear(u), acb_clear(part);
    mag_clear(tiny);
    return out;
}

static const pair pairs[] = {
    {0.01, 1, 0.1, false},      {0.01, 1, 0.5, false},  {0.01, 1, 2, false},
    {0.1, 0.5, 3, false},       {0.1, 0.5, 17, false},  {0.5, 0.3, 30, false},
    {0.3, 1.5, 2, false},       {0.9, 2, 3, false},     {0.01, 5, 0.01, false},
    {0.001, 0.7, 0.05, false},  {0.2, 10, 0.1, false},  {0.01, 1, 0.001, true},
    {0.01, 1, 0.015, true},     {0.1, 0.5, 0.15, true}, {0.3, 1.5, 0.5, true},
    {0.5, 1, 1, true},          {0.9, 2, 1.5, true},    {0.2, 5, 0.1, true},
    {0.001, 0.7, 0.0015, true}, {0.7, 0.8, 0.25, true},
};

static void two_draws_are_what_arb_integrates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const pair *p = &pairs[i];
        brume_interval truth = two_draws(p);
        brume_interval value = solved(p->rate, p->sigma, 2, p->reversed, p->epsilon);
        if (!(truth.upper - truth.lower <= 1e-9 * truth.upper))
            fail_msg("case %zu: the reference is wide, [%.17g, %.17g]", i, truth.lower,
                     truth.upper);
        if (!(value.lower <= truth.upper && value.upper >= truth.lower))
            fail_msg("case %zu: [%.17g, %.17g], Arb [%.17g, %.17g]", i, value.lower, value.upper,
                     truth.lower, truth.upper);
        if (!(value.upper - value.lower <= 1e-6 * value.upper))
            fail_msg("case %zu is wide: [%.17g, %.17g]", i, value.lower, value.upper);
        /* a parameter that is off by a little is found out */
        value = solved(p->rate, p->sigma * 1.0001, 2, p->reversed, p->epsilon);
        assert_true(value.upper < truth.lower);
    }
}

/* Far out a second hump makes Phi overflow to the right of the path: what is bounded by such a
 * number is not bounded, and no end may rest on it. Deltas by a quadrature of 40 digits. */
static void an_overflow_bounds_nothing(void **state)
{
    (void)state;
    brume_term term = poisson_gaussian(0.0034202930123043386, 7.277939877584954, 2);
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_delta(&term, 1, 0.013585929213878136, NULL, &out, &error));
    assert_true(out.value.lower <= 2.89248319490598e-33);
    assert_true(out.value.upper >= 2.89248319490597e-33);
    assert_true(out.value.upper <= 1e-29); /* by a union and a moment */
    static const pair far[] = {{0.0034202930123043386, 7.277939877584954, 0.0125, false},
                               {0.0034202930123043386, 7.277939877584954, 0.0115, false},
                               {0.005, 6, 0.016, false},
                               {0.002, 8, 0.0075, false}};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        brume_interval truth = two_draws(&far[i]);
        brume_interval value = solved(far[i].rate, far[i].sigma, 2, false, far[i].epsilon);
        if (!(value.lower <= truth.upper && value.upper >= truth.lower &&
              value.lower <= value.upper))
            fail_msg("case %zu: [%.17g, %.17g], Arb [%.17g, %.17g]", i, value.lower, value.upper,
                     truth.lower, truth.upper);
    }
}

/* One draw needs no ray, and is the one count whose every delta is known in closed form. */
static void rays_of_one_draw_are_the_closed_form(void **state)
{
    (void)state;
    uint64_t seed = 1;
    int narrow = 0;
    for (int i = 0; i < 60; i++) {
        double rate = exp10(-0.02 - 5 * sequence_share(&seed));
        double sigma = exp10(-0.7 + 2.4 * sequence_share(&seed));
        bool reversed = i % 3 == 2;
        /* a loss between none and that of an output 10 deviations out */
        double z = sigma * 10 * sequence_share(&seed), t = (2 * z + 1) / (2 * sigma * sigma);
        double epsilon = reversed ? -log1p(-rate) * sequence_share(&seed) : log1p(rate * expm1(t));
        if (i == 0) {
            rate = 0.0033199203162920378;
            sigma = 6.4560006302616255;
            epsilon = 0.014276099557746995;
        }
        brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = sigma, .rate = rate};
        brume_law law;
        brume_error error;
        assert_ok(brume_law_open(&loss, 1, reversed, &law, &error));
        brume_delta_bounds bounds;
        assert_true(brume_one_sampled_bounds(&law, &bounds));
        double upper = bounds.delta(bounds.context, epsilon, BRUME_UPPER_SIDE);
        double lower = bounds.delta(bounds.context, epsilon, BRUME_LOWER_SIDE);
        brume_law_close(&law);
        brume_interval value = solved(rate, sigma, 1, reversed, epsilon);
        if (!(value.lower <= upper && value.upper >= lower && value.lower <= value.upper))
            fail_msg(
                "rate %.17g, sigma %.17g, epsilon %.17g: [%.17g, %.17g], closed [%.17g, %.17g]",
                rate, sigma, epsilon, value.lower, value.upper, lower, upper);
        narrow += value.upper - value.lower <= 1e-6 * value.upper;
    }
    assert_true(narrow >= 30);
}

static void few_and_many_draws_are_narrow(void **state)
{
    (void)state;
    static const struct {
        double rate, sigma, delta;
    } kinds[] = {{0.01, 1, 1e-6},  {0.1, 0.5, 1e-12}, {0.1, 1, 1e-30},    {0.5, 2, 1e-6},
                 {0.5, 0.3, 1e-3}, {0.9, 5, 1e-12},   {0.001, 0.8, 1e-12}};
    static const uint64_t counts[] = {1, 2, 3, 5, 10, 20, 50, 100, 1000, 10000};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double before = 0;
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            brume_term term = poisson_gaussian(kinds[i].rate, kinds[i].sigma, counts[j]);
            brume_composition out;
            brume_error error;
            assert_ok(brume_compose_epsilon(&term, 1, kinds[i].delta, NULL, &out, &error));
            if (!(out.value.upper - out.value.lower <= 1e-8 * out.value.upper))
                fail_msg("kind %zu, %llu draws: [%.17g, %.17g]", i, (unsigned long long)counts[j],
                         out.value.lower, out.value.upper);
            assert_true(out.value.lower > before); /* more draws cost more */
            before = out.value.upper;
            brume_composition back;
            assert_ok(brume_compose_delta(&term, 1, out.value.upper, NULL, &back, &error));
            assert_true(back.value.lower <= kinds[i].delta);
            assert_ok(brume_compose_delta(&term, 1, out.value.lower, NULL, &back, &error));
            assert_true(back.value.upper >= kinds[i].delta);
        }
    }
}

/* The parameters of the reference cases, from one draw to a million, delta from 1e-3 to 1e-30. */
static void the_whole_grid_is_narrow(void **state)
{
    (void)state;
    static const struct {
        double rate, sigma;
    } kinds[] = {{0.01, 1}, {0.001, 0.8}, {0.1, 2}};
    static const uint64_t counts[] = {1, 2, 3, 5, 10, 30, 100, 1000, 10000, 100000, 1000000};
    static const double deltas[] = {1e-3, 1e-6, 1e-9, 1e-12, 1e-20, 1e-30};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            double before = 0;
            for (size_t k = 0; k < sizeof deltas / sizeof *deltas; k++) {
                brume_term term = poisson_gaussian(kinds[i].rate, kinds[i].sigma, counts[j]);
                brume_composition out;
                brume_error error;
                assert_ok(brume_compose_epsilon(&term, 1, deltas[k], NULL, &out, &error));
                if (!(out.value.upper - out.value.lower <= 1e-8 * out.value.upper))
                    fail_msg("kind %zu, %llu draws, delta %g: [%.17g, %.17g]", i,
                             (unsigned long long)counts[j], deltas[k], out.value.lower,
                             out.value.upper);
                assert_true(k == 0 ? out.value.lower >= 0 : out.value.lower > before);
                before = out.value.upper;
            }
        }
}

/* Many draws of which no single one matters: every T confined, with a sharp end each. */
static void many_small_losses_are_narrow(void **state)
{
    (void)state;
    static const struct {
        double rate, sigma, delta;
        uint64_t count;
    } cases[] = {{0.001, 2, 1e-12, 10000}, {0.001, 2, 1e-6, 1000000}, {0.001, 4, 1e-9, 10000},
                 {0.001, 4, 1e-9, 1000},   {0.0001, 4, 1e-9, 10000},  {0.001, 1.5, 1e-3, 1000000},
                 {0.01, 4, 1e-12, 1000},   {1e-5, 10, 1e-9, 1000000}, {0.0001, 2, 1e-6, 1000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_term term = poisson_gaussian(cases[i].rate, cases[i].sigma, cases[i].count);
        brume_composition out, back;
        brume_error error;
        assert_ok(brume_compose_epsilon(&term, 1, cases[i].delta, NULL, &out, &error));
        if (!(out.value.upper - out.value.lower <= 1e-9 * out.value.upper))
            fail_msg("case %zu: [%.17g, %.17g]", i, out.value.lower, out.value.upper);
        assert_ok(brume_compose_delta(&term, 1, out.value.upper, NULL, &back, &error));
        assert_true(back.value.lower <= cases[i].delta);
        assert_ok(brume_compose_delta(&term, 1, out.value.lower, NULL, &back, &error));
        assert_true(back.value.upper >= cases[i].delta);
    }
}

/* delta(0) of two draws is between one draw's total variation and twice that. */
static void epsilon_is_0_from_the_total_variation_on(void **state)
{
    (void)state;
    double one = 0.001 * erf(M_SQRT1_2 / 1.6);
    brume_term term = poisson_gaussian(0.001, 0.8, 2);
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_epsilon(&term, 1, 2 * one * (1 + 1e-9), NULL, &out, &error));
    assert_true(out.value.lower == 0 && out.value.upper == 0);
    assert_ok(brume_compose_delta(&term, 1, 0, NULL, &out, &error));
    assert_true(out.value.lower > one && out.value.upper < 2 * one);
    double exact = out.value.lower;
    assert_ok(brume_compose_epsilon(&term, 1, exact * (1 - 1e-6), NULL, &out, &error));
    assert_true(out.value.lower > 0);
}

/* A rare draw in which the noise is small, far out in the tail. */
static void deep_tails_have_both_ends(void **state)
{
    (void)state;
    brume_term term = poisson_gaussian(0.01, 2, 100);
    brume_composition out, back;
    brume_error error;
    assert_ok(brume_compose_epsilon(&term, 1, 1e-16, NULL, &out, &error));
    assert_true(out.value.upper - out.value.lower <= 1e-8 * out.value.upper);
    assert_ok(brume_compose_delta(&term, 1, 1, NULL, &back, &error));
    assert_true(back.value.lower > 0);
    assert_true(back.value.upper - back.value.lower <= 1e-6 * back.value.upper);
}

/* Tiny rates: by moments alone the second would cost 0.87. */
static void tiny_rates_have_ends_of_the_right_size(void **state)
{
    (void)state;
    brume_term few = poisson_gaussian(1e-6, 1, 2), many = poisson_gaussian(1e-6, 1, 1000);
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_epsilon(&few, 1, 1e-12, NULL, &out, &error));
    assert_true(out.value.lower > 1.51e-4 && out.value.upper < 1.53e-4);
    double before = out.value.lower;
    assert_ok(brume_compose_epsilon(&many, 1, 1e-12, NULL, &out, &error));
    assert_true(out.value.upper > before && out.value.lower > 1e-4 && out.value.upper < 2e-3);
}

/* Little noise has a long table, which every node of a line with another law sums: fewer nodes,
 * wider ends. The truth is an integral in quadruple precision, 5.954413952270263e-9. */
static void long_tables_have_fewer_nodes(void **state)
{
    (void)state;
    brume_term terms[] = {poisson_gaussian(0.002330054722805682, 0.30805726748555834, 1),
                          pure(0.05528654974140709, 1)};
    brume_composition out;
    brume_error error;
    brume_diagnostics work;
    brume_compose_options options = {.diagnostics = &work};
    assert_ok(brume_compose_delta(terms, 2, 13.3915229, &options, &out, &error));
    assert_true(out.value.lower <= 5.954413952270263e-9 * (1 + 1e-15));
    assert_true(out.value.upper >= 5.954413952270263e-9 * (1 - 1e-15));
    assert_true(out.value.upper - out.value.lower <= 1e-6 * out.value.upper);
    assert_true(work.nodes < 60000);
}

/* Between a hundredth less than all records and all of them, with a narrow interval: tables of such
 * rates may be too long, which is not a lack of memory. */
static void a_rate_next_to_1_costs_what_the_gaussian_costs(void **state)
{
    (void)state;
    static const double cases[][4] = {{0.9999999, 50, 1000, 1e-9},
                                      {1 - 1e-10, 320, 3, 1e-12},
                                      {1 - 1e-6, 5, 100, 1e-6},
                                      {1 - 1e-8, 3000, 5209, 1e-19}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_term sample = poisson_gaussian(cases[i][0], cases[i][1], (uint64_t)cases[i][2]);
        brume_term all = gaussian(cases[i][1], (uint64_t)cases[i][2]);
        brume_composition of_sample, of_all;
        brume_error error;
        assert_ok(brume_compose_epsilon(&sample, 1, cases[i][3], NULL, &of_sample, &error));
        assert_ok(brume_compose_epsilon(&all, 1, cases[i][3], NULL, &of_all, &error));
        assert_true(of_sample.value.upper <= of_all.value.upper * (1 + 1e-8));
        assert_true(of_sample.value.lower >= of_all.value.lower * 0.99);
        assert_true(of_sample.value.lower >= of_sample.value.upper * (1 - 1e-8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_draws_are_what_arb_integrates),
        cmocka_unit_test(an_overflow_bounds_nothing),
        cmocka_unit_test(rays_of_one_draw_are_the_closed_form),
        cmocka_unit_test(few_and_many_draws_are_narrow),
        cmocka_unit_test(the_whole_grid_is_narrow),
        cmocka_unit_test(many_small_losses_are_narrow),
        cmocka_unit_test(epsilon_is_0_from_the_total_variation_on),
        cmocka_unit_test(deep_tails_have_both_ends),
        cmocka_unit_test(tiny_rates_have_ends_of_the_right_size),
        cmocka_unit_test(long_tables_have_fewer_nodes),
        cmocka_unit_test(a_rate_next_to_1_costs_what_the_gaussian_costs),
    };
    return cmocka_run_group_tests_name("accountant sampled", tests, NULL, NULL);
}
