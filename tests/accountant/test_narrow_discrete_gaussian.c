/* Narrow discrete Gaussians: the law of the sum, against convolutions in MPFR. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include <mpfr.h>

#include "accountant/exact/delta_bounds.h"
#include "accountant/terms.h"

enum { BITS = 400, FAR = 40 }; /* sums beyond +-FAR have less than e^{-70} of what is asked for */

typedef struct sums {
    mpfr_t mass[2 * FAR + 1];
} sums;

static void open_sums(sums *s)
{
    for (int j = 0; j <= 2 * FAR; j++) {
        mpfr_init2(s->mass[j], BITS);
        mpfr_set_zero(s->mass[j], 1);
    }
}

static void close_sums(sums *s)
{
    for (int j = 0; j <= 2 * FAR; j++)
        mpfr_clear(s->mass[j]);
}

static void convolve(sums *into, const sums *with)
{
    sums out;
    mpfr_t term;
    open_sums(&out);
    mpfr_init2(term, BITS);
    for (int i = -FAR; i <= FAR; i++)
        for (int j = -FAR; j <= FAR; j++)
            if (abs(i + j) <= FAR && !mpfr_zero_p(with->mass[j + FAR])) {
                mpfr_mul(term, into->mass[i + FAR], with->mass[j + FAR], MPFR_RNDN);
                mpfr_add(out.mass[i + j + FAR], out.mass[i + j + FAR], term, MPFR_RNDN);
            }
    for (int j = 0; j <= 2 * FAR; j++)
        mpfr_set(into->mass[j], out.mass[j], MPFR_RNDN);
    mpfr_clear(term);
    close_sums(&out);
}

/* The law of the sum of `draws` draws, by squarings. */
static void make_sums(double sigma, uint64_t draws, sums *out)
{
    sums power;
    mpfr_t normal;
    open_sums(&power);
    open_sums(out);
    mpfr_init2(normal, BITS);
    mpfr_set_zero(normal, 1);
    for (int x = -12; x <= 12; x++) {
        mpfr_t *mass = &power.mass[x + FAR];
        mpfr_set_d(*mass, sigma, MPFR_RNDN);
        mpfr_sqr(*mass, *mass, MPFR_RNDN);
        mpfr_mul_ui(*mass, *mass, 2, MPFR_RNDN);
        mpfr_si_div(*mass, -(long)x * x, *mass, MPFR_RNDN);
        mpfr_exp(*mass, *mass, MPFR_RNDN);
        mpfr_add(normal, normal, *mass, MPFR_RNDN);
    }
    for (int j = 0; j <= 2 * FAR; j++)
        mpfr_div(power.mass[j], power.mass[j], normal, MPFR_RNDN);
    mpfr_set_ui(out->mass[FAR], 1, MPFR_RNDN);
    for (; draws > 0; draws /= 2) {
        if (draws % 2)
            convolve(out, &power);
        if (draws > 1)
            convolve(&power, &power);
    }
    mpfr_clear(normal);
    close_sums(&power);
}

static void exact_delta(mpfr_t out, const sums *law, double sigma, uint64_t shift, uint64_t draws,
                        double epsilon)
{
    mpfr_t step, loss;
    mpfr_init2(step, BITS);
    mpfr_init2(loss, BITS);
    mpfr_set_d(step, sigma, MPFR_RNDN);
    mpfr_sqr(step, step, MPFR_RNDN);
    mpfr_ui_div(step, shift, step, MPFR_RNDN);
    mpfr_set_zero(out, 1);
    for (long j = -FAR; j <= FAR; j++) {
        mpfr_mul_d(loss, step, (double)j + 0.5 * (double)(draws * shift), MPFR_RNDN);
        mpfr_sub_d(loss, loss, epsilon, MPFR_RNDN);
        if (mpfr_sgn(loss) <= 0)
            continue;
        mpfr_neg(loss, loss, MPFR_RNDN);
        mpfr_expm1(loss, loss, MPFR_RNDN);
        mpfr_mul(loss, loss, law->mass[j + FAR], MPFR_RNDN);
        mpfr_sub(out, out, loss, MPFR_RNDN);
    }
    if (mpfr_cmp_ui(out, 1) > 0) /* by its own rounding */
        mpfr_set_ui(out, 1, MPFR_RNDN);
    mpfr_clear(step);
    mpfr_clear(loss);
}

static const struct {
    double sigma;
    uint64_t shift, draws;
} cases[] = {{0.1, 1, 1},    {0.1, 1, 5},        {0.1, 3, 30}, {0.1, 1, 1000000},
             {0.15, 1, 777}, {0.2, 1, 1000},     {0.3, 1, 1},  {0.25, 2, 9},
             {0.12, 1, 3},   {0.15, 1, 1000000}, {0.05, 1, 40}};
enum { CASES = sizeof cases / sizeof *cases };

static double step_of(size_t i)
{
    return (double)cases[i].shift / (cases[i].sigma * cases[i].sigma);
}

static double first_of(size_t i)
{
    return 0.5 * (double)(cases[i].draws * cases[i].shift) * step_of(i);
}

/* At points below, between and above the losses, and hard by them. */
static void delta_contains_the_exact_sum(void **state)
{
    (void)state;
    mpfr_t exact;
    mpfr_init2(exact, BITS);
    for (size_t i = 0; i < CASES; i++) {
        sums law;
        brume_term term = discrete_gaussian(cases[i].sigma, cases[i].shift, cases[i].draws);
        make_sums(cases[i].sigma, cases[i].draws, &law);
        const double places[] = {-1.4, -0.3, -1e-3, -1e-9, -1e-13, 1e-13, 1e-9,
                                 1e-3, 0.5,  0.99,  1.01,  1.5,    2.2};
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            double epsilon = first_of(i) + places[p] * step_of(i);
            if (epsilon < 0)
                continue;
            brume_composition out;
            brume_error error;
            assert_ok(brume_compose_delta(&term, 1, epsilon, NULL, &out, &error));
            exact_delta(exact, &law, cases[i].sigma, cases[i].shift, cases[i].draws, epsilon);
            if (mpfr_cmp_d(exact, out.value.lower) < 0 || mpfr_cmp_d(exact, out.value.upper) > 0)
                fail_msg("case %zu at %g: [%.17g, %.17g], exact %.17g", i, epsilon, out.value.lower,
                         out.value.upper, mpfr_get_d(exact, MPFR_RNDN));
            /* masses: some 30 units a draw; losses: they move with the parameter by some units of
             * epsilon, which counts where they are near */
            double apart = fabs(places[p] - nearbyint(places[p])) * step_of(i);
            double goal = 1e-10 + BRUME_UNIT * (40 * (double)cases[i].draws +
                                                200 * epsilon * exp(-apart) / fmin(apart, 1));
            if (goal < 0.1 && out.value.upper > 1e-200 &&
                !(out.value.upper - out.value.lower <= goal * out.value.upper))
                fail_msg("case %zu at %g: [%.17g, %.17g] is wide", i, epsilon, out.value.lower,
                         out.value.upper);
        }
        close_sums(&law);
    }
    mpfr_clear(exact);
}

static void epsilon_is_where_the_exact_sum_meets_delta(void **state)
{
    (void)state;
    mpfr_t exact;
    mpfr_init2(exact, BITS);
    for (size_t i = 0; i < CASES; i++) {
        sums law;
        brume_term term = discrete_gaussian(cases[i].sigma, cases[i].shift, cases[i].draws);
        make_sums(cases[i].sigma, cases[i].draws, &law);
        for (double delta = 0.3; delta > 1e-60; delta *= 2e-4) {
            brume_composition out;
            brume_error error;
            assert_ok(brume_compose_epsilon(&term, 1, delta, NULL, &out, &error));
            if (!(out.value.upper - out.value.lower <= 1e-11 * out.value.upper))
                fail_msg("case %zu delta %g: [%.17g, %.17g]", i, delta, out.value.lower,
                         out.value.upper);
            exact_delta(exact, &law, cases[i].sigma, cases[i].shift, cases[i].draws,
                        out.value.upper);
            assert_true(mpfr_cmp_d(exact, delta) <= 0);
            exact_delta(exact, &law, cases[i].sigma, cases[i].shift, cases[i].draws,
                        out.value.lower);
            assert_true(out.value.lower == 0 || mpfr_cmp_d(exact, delta) >= 0);
        }
        close_sums(&law);
    }
    mpfr_clear(exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delta_contains_the_exact_sum),
        cmocka_unit_test(epsilon_is_where_the_exact_sum_meets_delta),
    };
    return cmocka_run_group_tests_name("accountant narrow discrete Gaussian", tests, NULL, NULL);
}
