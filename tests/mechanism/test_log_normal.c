/* Laplace-log-normal noise: its law by quadrature over the normal factor, and the tails of what is
 * drawn. */
#include "check.h"

#include <stdbool.h>

#include <brume/noise/grid_noise.h>

#include "chance.h"
#include "random/tape.h"

static brume_error error;

/* E[g(exp(sigma N))], N standard normal: the trapezoidal rule, which converges faster than any
 * power of the step for such integrands. */
typedef double factor_function(double factor, double z);

static double expectation(factor_function *g, double sigma, double z)
{
    const double step = 1. / 16, root = sqrt(2 * acos(-1));
    double sum = 0;
    for (double n = -16; n <= 16; n += step)
        sum += g(exp(sigma * n), z) * exp(-n * n / 2);
    return sum * step / root;
}

/* Given the factor, Z is Laplace of that scale. */
static double density(double factor, double z)
{
    return exp(-fabs(z) / factor) / (2 * factor);
}

static double above(double factor, double z)
{
    return exp(-z / factor) / 2;
}

static double moment(double factor, double order)
{
    return tgamma(order + 1) * pow(factor, order);
}

static void the_law_has_its_density_tails_and_moments(void **state)
{
    (void)state;
    assert_close(expectation(density, .5, 0), .56657422653341316, 1e-13);
    assert_close(expectation(density, .5, 1), .16398194892264696, 1e-13);
    assert_close(expectation(above, .5, 1), .18493692028268874, 1e-13);
    assert_close(expectation(above, .5, 5), .01225630416911626, 1e-13);
    assert_close(expectation(moment, .5, 1), 1.1331484530668263, 1e-13);
    assert_close(expectation(moment, .5, 2), 3.2974425414002563, 1e-13);
    assert_close(expectation(moment, .5, 4), 177.33734637433561, 1e-13);
    /* E|Z|^p = p! exp(p^2 sigma^2/2), f(0) = exp(sigma^2/2)/2, for every sigma. */
    for (double sigma = .1; sigma < .8; sigma += .1) {
        assert_close(expectation(density, sigma, 0), exp(sigma * sigma / 2) / 2, 1e-13);
        for (int p = 1; p <= 4; p++)
            assert_close(expectation(moment, sigma, p),
                         tgamma(p + 1) * exp(p * p * sigma * sigma / 2), 1e-12);
    }
}

/* The log-density is steepest at 0, with slope exp(3 sigma^2/2): what a shift costs. */
static void the_log_density_has_the_slope_that_is_charged(void **state)
{
    (void)state;
    for (double sigma = .1; sigma < .8; sigma += .1) {
        const double h = 1e-4, charged = exp(1.5 * sigma * sigma);
        double steepest = 0;
        for (double z = 0; z < 8; z += z < .01 ? h : .01) {
            double here = expectation(density, sigma, z), next = expectation(density, sigma, z + h);
            steepest = fmax(steepest, log(here / next) / h);
        }
        assert_holds(steepest <= charged * (1 + 1e-9));
        assert_holds(steepest >= charged * (1 - 1e-3));
    }
}

enum { DRAWS = 100000, TAILS = 4 };

static const double places[TAILS] = {1, 5, -1, -5};

/* How many draws on a grid of 2^-20 lie strictly beyond each place. */
static void count_tails(double shape, uint64_t *seen)
{
    brume_bits *bits = brume_tape_open_seeded(74);
    memset(seen, 0, TAILS * sizeof *seen);
    for (int i = 0; i < DRAWS; i++) {
        int64_t out = 0;
        assert_ok(
            brume_grid_noise(bits, BRUME_GRID_LAPLACE_LOG_NORMAL, shape, 0, 1, -20, &out, &error));
        double z = ldexp((double)out, -20);
        for (int place = 0; place < TAILS; place++)
            seen[place] += places[place] > 0 ? z > places[place] : z < places[place];
    }
    brume_bits_close(bits);
}

static bool tails_are_plausible(const uint64_t *seen)
{
    const double share = false_alarm_share(false_alarm_log_normal_tails) / TAILS;
    bool plausible = true;
    for (int place = 0; place < TAILS; place++) {
        double p = fabs(places[place]) == 1 ? .18493692028268874 : .01225630416911626;
        /* Rounding to the grid hides less than a step of the tail; the density is below 1. */
        plausible &= binomial_plausible(DRAWS, seen[place], p - 0x1p-20, p, share);
    }
    return plausible;
}

static void the_draws_have_the_tails_and_other_laws_are_rejected(void **state)
{
    (void)state;
    uint64_t seen[TAILS];
    count_tails(.5, seen);
    assert_true(tails_are_plausible(seen));
    /* A little too narrow, a little too wide, and no normal factor at all. */
    const double mutants[] = {.4, .6, 0};
    for (int i = 0; i < 3; i++) {
        count_tails(mutants[i], seen);
        assert_false(tails_are_plausible(seen));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_has_its_density_tails_and_moments),
        cmocka_unit_test(the_log_density_has_the_slope_that_is_charged),
        cmocka_unit_test(the_draws_have_the_tails_and_other_laws_are_rejected),
    };
    return cmocka_run_group_tests_name("log_normal", tests, NULL, NULL);
}
