/* The tails that thresholds of keys are made of: never below the truth, which MPFR computes with
 * 200 bits, and no further above it than the few roundings on the way explain.
 *
 * Scales and places are random doubles with all bits in use, from the body of the law to far out in
 * its tail: where one rounding of the formula goes the wrong way, some of them come out below the
 * truth. Nothing here draws fresh bits. */
#include "check.h"

#include <mpfr.h>

#include "query/price/key_threshold.h"
#include "query/price/noise_tail.h"
#include "random/tape.h"

enum { BITS = 200, CASES = 2000 };

static brume_error error;
static uint64_t state_of_draws = 16;

/* Between 1 and 2, with 52 random bits. */
static double mantissa(void)
{
    return 1 + (double)(brume_tape_splitmix(&state_of_draws) >> 12) * 0x1p-52;
}

static double some_scale(int least, int most)
{
    uint64_t octaves = (uint64_t)(most - least);
    return ldexp(mantissa(), least + (int)(brume_tape_splitmix(&state_of_draws) % octaves));
}

/* An integer of about so many scales; at least 1. */
static double some_place(double scale, double scales)
{
    return fmax(1, floor(scale * scales * (mantissa() - 1)));
}

/* a^m / (1 + a), a = exp(-1/scale). */
static void laplace(mpfr_t out, double scale, double m)
{
    mpfr_t a;
    mpfr_init2(a, BITS);
    mpfr_set_d(out, -m, MPFR_RNDN);
    mpfr_div_d(out, out, scale, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    mpfr_set_si(a, -1, MPFR_RNDN);
    mpfr_div_d(a, a, scale, MPFR_RNDN);
    mpfr_exp(a, a, MPFR_RNDN);
    mpfr_add_ui(a, a, 1, MPFR_RNDN);
    mpfr_div(out, out, a, MPFR_RNDN);
    mpfr_clear(a);
}

/* P[N >= m - 1/2] = erfc((m - 1/2) / (sigma sqrt 2)) / 2. */
static void rounded_gaussian(mpfr_t out, double sigma, double m)
{
    mpfr_t root;
    mpfr_init2(root, BITS);
    mpfr_set_d(out, m, MPFR_RNDN);
    mpfr_sub_d(out, out, .5, MPFR_RNDN);
    mpfr_div_d(out, out, sigma, MPFR_RNDN);
    mpfr_sqrt_ui(root, 2, MPFR_RNDN);
    mpfr_div(out, out, root, MPFR_RNDN);
    mpfr_erfc(out, out, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    mpfr_clear(root);
}

/* Sums of exp(-x^2/(2 sigma^2)) over x >= m and over all x, up to where a term is below 2^-200. */
static void discrete_gaussian(mpfr_t out, double sigma, double m)
{
    mpfr_t term, all, variance;
    mpfr_inits2(BITS, term, all, variance, NULL);
    mpfr_set_d(variance, sigma, MPFR_RNDN);
    mpfr_sqr(variance, variance, MPFR_RNDN);
    mpfr_mul_2ui(variance, variance, 1, MPFR_RNDN);
    mpfr_set_zero(out, 1);
    mpfr_set_zero(all, 1);
    for (double x = 0; x * x < 278 * sigma * sigma + m * m + 2; x++) {
        mpfr_set_d(term, -x * x, MPFR_RNDN);
        mpfr_div(term, term, variance, MPFR_RNDN);
        mpfr_exp(term, term, MPFR_RNDN);
        if (x >= m)
            mpfr_add(out, out, term, MPFR_RNDN);
        if (x > 0)
            mpfr_mul_2ui(term, term, 1, MPFR_RNDN);
        mpfr_add(all, all, term, MPFR_RNDN);
    }
    mpfr_div(out, out, all, MPFR_RNDN);
    mpfr_clears(term, all, variance, NULL);
}

typedef void exact_tail(mpfr_t out, double scale, double m);

static void holds(brume_noise_tail_upper tail, exact_tail *exact, double scale, double m,
                  double slack)
{
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    exact(truth, scale, m);
    double told = tail(scale, m);
    if (mpfr_cmp_d(truth, told) > 0)
        fail_msg("P[noise >= %.17g] at scale %.17g is above %.17g", m, scale, told);
    mpfr_mul_d(truth, truth, 1 + slack, MPFR_RNDU);
    if (mpfr_cmp_d(truth, told) < 0)
        fail_msg("P[noise >= %.17g] at scale %.17g is far below %.17g", m, scale, told);
    mpfr_clear(truth);
}

/* Rejects: any of the five roundings turned. */
static void laplace_tail_is_the_least_double_or_nearly(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        double scale = some_scale(-3, 40);
        holds(brume_noise_tail_laplace_upper, laplace, scale, some_place(scale, i % 2 ? .5 : 40),
              0x1p-45);
    }
    for (int i = 0; i < CASES; i++) /* where 1 + a depends on a most */
        holds(brume_noise_tail_laplace_upper, laplace, some_scale(-1, 2), 1 + i % 3, 0x1p-45);
    for (double odd = 3; odd < 512; odd += 2) /* m/scale is a power of two, 1/scale no double */
        for (int i = 0; i < 3; i++)
            holds(brume_noise_tail_laplace_upper, laplace, ldexp(odd, i - 1 - ilogb(odd)), odd,
                  0x1p-45);
}

/* Rejects: any of the six roundings turned, m for m - 1/2, one side for both. */
static void rounded_gaussian_tail_is_the_least_double_or_nearly(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        double sigma = some_scale(-2, 40);
        holds(brume_noise_tail_rounded_gaussian_upper, rounded_gaussian, sigma,
              some_place(sigma, i % 2 ? .25 : 8), 0x1p-43);
    }
    /* integers that are no doubles once 1/2 is subtracted */
    for (int i = 0; i < CASES; i++) {
        double sigma = some_scale(48, 50);
        holds(brume_noise_tail_rounded_gaussian_upper, rounded_gaussian, sigma,
              some_place(sigma, 36), 0x1p-38);
    }
    /* m = 0: more than half, and the divisor is rounded the other way */
    for (int i = 0; i < CASES; i++)
        holds(brume_noise_tail_rounded_gaussian_upper, rounded_gaussian, some_scale(-3, 3), 0,
              0x1p-45);
}

/* Rejects: the integral taken where the law is not convex, a bound without its second factor. How
 * far above the truth it may be: by 30 % from sigma on, where sigma is at least 4. */
static void discrete_gaussian_tail_is_a_bound(void **state)
{
    (void)state;
    for (int i = 0; i < CASES / 10; i++) {
        double sigma = some_scale(-2, 5), m = some_place(sigma, 9);
        bool far = sigma >= 4 && m - .5 >= sigma;
        double slack = far ? .3 : 3 * sigma * sigma + 2;
        holds(brume_noise_tail_discrete_gaussian_upper, discrete_gaussian, sigma, m, slack);
    }
    for (int i = 0; i < CASES; i++) /* nothing of the law but 0 and 1: the roundings are all */
        holds(brume_noise_tail_discrete_gaussian_upper, discrete_gaussian, some_scale(-5, -3), 1,
              0x1p-40);
    assert_true(brume_noise_tail_discrete_gaussian_upper(1000, 1) <= 1);
}

/* The threshold is the least: its chance is within delta, and that of one less is not. Both
 * chances, 1 - (1 - tail)^groups, are computed from the true tail of Laplace noise. */
static void chance(mpfr_t out, double scale, uint64_t groups, uint64_t m)
{
    const uint64_t low = 2047; /* what is above these bits is a double */
    mpfr_t rest;
    mpfr_init2(rest, BITS);
    laplace(out, scale, (double)(m & ~low));
    mpfr_set_d(rest, -(double)(m & low), MPFR_RNDN);
    mpfr_div_d(rest, rest, scale, MPFR_RNDN);
    mpfr_exp(rest, rest, MPFR_RNDN);
    mpfr_mul(out, out, rest, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_log1p(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, (double)groups, MPFR_RNDN);
    mpfr_expm1(out, out, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_clear(rest);
}

static void threshold_is_the_least_that_delta_allows(void **state)
{
    (void)state;
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (int i = 0; i < CASES / 2; i++) {
        uint64_t groups = brume_tape_splitmix(&state_of_draws) % 5 + 1, m = 0;
        double scale = some_scale(-2, 50), used = 0, again = 0;
        /* each second time a delta that is the chance at some m, so that the end is within reach */
        chance(truth, scale, groups, (uint64_t)some_place(scale, 30));
        double delta = i % 2 ? some_scale(-50, -2) : mpfr_get_d(truth, MPFR_RNDU);
        if (!(delta > 0 && delta < .5))
            continue;
        assert_ok(brume_key_threshold_laplace(scale, groups, delta, &m, &used, &error));
        chance(truth, scale, groups, m);
        assert_holds(used <= delta && mpfr_cmp_d(truth, used) <= 0);
        mpfr_mul_d(truth, truth, 1 + 0x1p-44, MPFR_RNDU);
        assert_holds(mpfr_cmp_d(truth, used) >= 0);
        if (m > 1) {
            chance(truth, scale, groups, m - 1);
            mpfr_mul_d(truth, truth, 1 + 0x1p-44, MPFR_RNDU);
            assert_holds(mpfr_cmp_d(truth, delta) > 0);
        }
        /* what is used is enough to be within */
        uint64_t same = 0;
        assert_ok(brume_key_threshold_laplace(scale, groups, used, &same, &again, &error));
        assert_true(same <= m && again <= used);
        /* told again for the threshold, one above m */
        assert_true(brume_key_shown_upper(brume_noise_tail_laplace_upper, scale, groups, m + 1) ==
                    used);
    }
    mpfr_clear(truth);
    assert_true(brume_key_shown_upper(brume_noise_tail_laplace_upper, 1, 1, 1) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_tail_is_the_least_double_or_nearly),
        cmocka_unit_test(rounded_gaussian_tail_is_the_least_double_or_nearly),
        cmocka_unit_test(discrete_gaussian_tail_is_a_bound),
        cmocka_unit_test(threshold_is_the_least_that_delta_allows),
    };
    return cmocka_run_group_tests_name("tails of noise", tests, NULL, NULL);
}
