/* Laplace-log-normal noise: its law by quadrature over the normal factor, and the tails of what is
 * drawn. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/noise/grid_noise.h>

#include "chance.h"
#include "mechanism/smooth/smooth_lln.h"
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

typedef struct two_laws {
    double *p, *q;
    size_t count;
} two_laws;

/* The laws of two neighbours. */
static two_laws open_laws(double sigma, double shift, double stretch)
{
    two_laws laws = {0};
    assert_ok(brume_log_normal_pair(sigma, shift, stretch, &laws.p, &laws.q, &laws.count, &error));
    return laws;
}

static void close_laws(two_laws *laws)
{
    free(laws->p);
    free(laws->q);
}

/* Their divergence of order `order`, in both directions; both are laws. */
static void divergences_of(const two_laws *laws, double order, double out[2])
{
    double sums[4] = {0};
    for (size_t i = 0; i < laws->count; i++) {
        double p = laws->p[i], q = laws->q[i];
        sums[0] += p;
        sums[1] += q;
        sums[2] += p * pow(p / q, order - 1);
        sums[3] += q * pow(q / p, order - 1);
    }
    assert_holds(fabs(sums[0] - 1) < 1e-12 && fabs(sums[1] - 1) < 1e-12);
    out[0] = log(sums[2]) / (order - 1);
    out[1] = log(sums[3]) / (order - 1);
}

static void divergences(double sigma, double shift, double stretch, double order, double out[2])
{
    two_laws laws = open_laws(sigma, shift, stretch);
    divergences_of(&laws, order, out);
    close_laws(&laws);
}

/* At the corners of the notes the divergence is less than without a stretch, so that they are not
 * the worst cases; the lemmas hold everywhere and are what the proof rests on. */
static void the_corners_are_not_the_worst_and_the_lemmas_hold(void **state)
{
    (void)state;
    const double sigma = .5, slope = exp(1.5 * sigma * sigma);
    double corner[2], inside[2], both[2];
    divergences(sigma, .5, .1, 2, corner);
    divergences(sigma, .5, 0, 2, inside);
    assert_close(corner[0], .2283, 5e-4);
    assert_close(corner[1], .2213, 5e-4);
    assert_close(inside[0], .2372, 5e-4);
    assert_close(inside[1], inside[0], 1e-10);
    for (double s = -1; s <= 1; s += .5)
        for (double t = -.2; t <= .2; t += .1) {
            two_laws laws = open_laws(sigma, s, t);
            double widening = t * t / (sigma * sigma), shifting = slope * slope * s * s;
            for (double order = 1.5; order < 20; order *= 2) {
                double claim = pow(sqrt(widening) + sqrt(shifting), 2) / 2 * order;
                divergences_of(&laws, order, both);
                assert_holds(fmax(both[0], both[1]) <= claim + 1e-10);
                if (fabs(t) < 1e-12) /* a shift alone is pure */
                    assert_holds(both[0] <= slope * fabs(s) + 1e-10);
            }
            close_laws(&laws);
        }
    /* Lemma 15.4 as the notes have it, without the order, does not hold. */
    divergences(sigma, .5, 0, 4, both);
    assert_holds(both[0] > slope * slope * .25 / 2);
}

/* Against sums of Gauss and Legendre's rule over pieces between the kinks; mirrored laws have the
 * same divergences, and the points come in the order of the line. */
static void the_quadrature_is_exact_on_both_sides_of_0(void **state)
{
    (void)state;
    double both[2];
    divergences(.5, .5, .1, 2, both);
    assert_close(both[0], .228274277892453, 1e-11);
    assert_close(both[1], .2212868523237137, 1e-11);
    divergences(.5, -.5, .1, 2, both);
    assert_close(both[0], .228274277892453, 1e-11);
    assert_close(both[1], .2212868523237137, 1e-11);
    divergences(.5, 0, 0, 2, both);
    assert_holds(fabs(both[0]) < 1e-12 && fabs(both[1]) < 1e-12);
    for (double shift = -.5; shift <= .5; shift++) {
        two_laws laws = open_laws(.5, shift, 0);
        size_t near = laws.count / 4, far = laws.count - 1 - near;
        assert_holds(laws.count > 1000 && laws.count <= 4200);
        /* points before both kinks are nearer to the first of them */
        assert_holds(shift > 0 ? laws.p[near] > laws.q[near] : laws.p[near] < laws.q[near]);
        assert_holds(shift > 0 ? laws.p[far] < laws.q[far] : laws.p[far] > laws.q[far]);
        close_laws(&laws);
    }
}

static void the_ends_of_the_ranges_belong_to_them(void **state)
{
    (void)state;
    const double ends[][3] = {{.05, 100, 10}, {2, -100, -10}};
    for (size_t i = 0; i < 2; i++) {
        two_laws laws = open_laws(ends[i][0], ends[i][1], ends[i][2]);
        close_laws(&laws);
    }
}

static void what_is_out_of_range_is_refused(void **state)
{
    (void)state;
    double *p = NULL, *q = NULL;
    size_t count = 0;
    const double bad[][3] = {{.01, 0, 0}, {3, 0, 0}, {1, 101, 0}, {1, 0, -11}, {NAN, 0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(
            brume_log_normal_pair(bad[i][0], bad[i][1], bad[i][2], &p, &q, &count, &error),
            BRUME_EARGUMENT);
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_has_its_density_tails_and_moments),
        cmocka_unit_test(the_log_density_has_the_slope_that_is_charged),
        cmocka_unit_test(the_draws_have_the_tails_and_other_laws_are_rejected),
        cmocka_unit_test(the_corners_are_not_the_worst_and_the_lemmas_hold),
        cmocka_unit_test(the_quadrature_is_exact_on_both_sides_of_0),
        cmocka_unit_test(the_ends_of_the_ranges_belong_to_them),
        cmocka_unit_test(what_is_out_of_range_is_refused),
    };
    return cmocka_run_group_tests_name("log_normal", tests, NULL, NULL);
}
