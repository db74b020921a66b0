/* The privacy-loss variable: tails that contain what closed forms and sums over atoms say, in both
 * directions; means, variances and divergences against closed forms. */
#include "check.h"

#include <math.h>

#include "accountant/solve/loss.h"

static brume_term term_of(brume_loss_kind kind, double a, double rate, uint64_t shift,
                          uint64_t count)
{
    return (brume_term){
        .cost = {.loss = BRUME_EXACT, .law = {.kind = kind, .a = a, .rate = rate, .shift = shift}},
        .count = count};
}

static double normal_above(double x)
{
    return erfc(x / M_SQRT2) / 2;
}

static void contains(const brume_term *terms, size_t count, bool reversed, double epsilon,
                     double truth)
{
    brume_interval p = {0, 0};
    brume_error error = {0};
    assert_ok(brume_loss_tail(terms, count, reversed, epsilon, 1e-9, &p, &error));
    if (!(p.lower <= truth * (1 + 1e-13) && truth * (1 - 1e-13) <= p.upper))
        fail_msg("P[L > %.17g] = %.17g is not in [%.17g, %.17g]", epsilon, truth, p.lower, p.upper);
    if (!(p.upper - p.lower <= 2e-5 * p.upper + 1e-12))
        fail_msg("at %.17g the width is %g", epsilon, p.upper - p.lower);
}

static void gaussians(void **state)
{
    (void)state;
    brume_term one = term_of(BRUME_LOSS_GAUSSIAN, 1, 0, 0, 1);
    contains(&one, 1, false, 1, 0.30853753872598690);
    brume_term several[] = {term_of(BRUME_LOSS_GAUSSIAN, .5, 0, 0, 10),
                            term_of(BRUME_LOSS_GAUSSIAN, 2, 0, 0, 3)};
    double variance = 2.5 + 12;
    for (double e = -20; e <= 40; e += 2.5)
        contains(several, 2, false, e, normal_above((e - variance / 2) / sqrt(variance)));
}

static void laplace(void **state)
{
    (void)state;
    brume_term one = term_of(BRUME_LOSS_LAPLACE, 1, 0, 0, 1);
    for (double e = -.99; e < 1; e += .11) /* y < (1-e)/2 */
        contains(&one, 1, false, e, 1 - exp(-(1 - e) / 2) / 2);
    contains(&one, 1, false, 1, 0);
    contains(&one, 1, false, 5, 0);
    contains(&one, 1, false, -1.5, 1);
}

/* k-fold randomized response: a sum over atoms, at atoms and between them. */
static void atoms(void **state)
{
    (void)state;
    for (uint64_t k = 1; k <= 12; k++) {
        brume_term one = term_of(BRUME_LOSS_PURE, .5, 0, 0, k);
        double p = 1 / (1 + exp(-.5)), n = (double)k;
        for (double e = -n * .5 - .25; e <= n * .5 + .25; e += .25) {
            double truth = 0;
            for (double up = 0; up <= n; up++)
                if ((2 * up - n) * .5 > e + 1e-9)
                    truth += exp(lgamma(n + 1) - lgamma(up + 1) - lgamma(n - up + 1) + up * log(p) +
                                 (n - up) * log1p(-p));
            contains(&one, 1, false, e, truth);
        }
    }
}

/* An atom at epsilon is not above it: its mass would be outside of the interval. */
static void strict_at_an_atom(void **state)
{
    (void)state;
    brume_term one = term_of(BRUME_LOSS_PURE, 1, 0, 0, 3);
    brume_interval p;
    brume_error error = {0};
    double top = 1 / (1 + exp(-1.0));
    assert_ok(brume_loss_tail(&one, 1, false, 1, 1e-9, &p, &error));
    double above = top * top * top, with_it = above + 3 * top * top * (1 - top);
    assert_true(p.lower <= above && above <= p.upper);
    assert_true(with_it > p.upper);
}

static void subsampled_gaussian_in_both_directions(void **state)
{
    (void)state;
    const double q = .1, s = .8;
    brume_term one = term_of(BRUME_LOSS_POISSON_GAUSSIAN, s, q, 0, 1);
    for (double e = -.08; e < 2; e += .07) { /* L > e from x on */
        double x = s * s * log((exp(e) - 1 + q) / q) + .5;
        contains(&one, 1, false, e, (1 - q) * normal_above(x / s) + q * normal_above((x - 1) / s));
    }
    for (double e = -.5; e < .1; e += .05) { /* -L > e up to x */
        double x = s * s * log((exp(-e) - 1 + q) / q) + .5;
        contains(&one, 1, true, e, normal_above(-x / s));
    }
    contains(&one, 1, true, .106, 0); /* the least loss is -ln(1-q) */
}

/* Two atoms that lie on no lattice through 0, one draw and two, in both directions. */
static void sampled_pure_in_both_directions(void **state)
{
    (void)state;
    const double q = .2, e = 1, p = 1 / (1 + exp(-e));
    brume_term one = term_of(BRUME_LOSS_POISSON_PURE, e, q, 0, 1), two = one;
    two.count = 2;
    double up = log1p(q * expm1(e)), down = log1p(q * expm1(-e)); /* where Q has 1-p, and p */
    double of_up = (1 - q) * (1 - p) + q * p;
    for (unsigned reversed = 0; reversed < 2; reversed++) {
        double high = reversed ? -down : up, low = reversed ? -up : down;
        double mass = reversed ? p : of_up;
        contains(&one, 1, reversed, (high + low) / 2, mass);
        contains(&one, 1, reversed, low, mass); /* an atom itself is not above it */
        contains(&one, 1, reversed, low - .01, 1);
        contains(&two, 1, reversed, high + low, mass * mass);
        contains(&two, 1, reversed, high + low - .01, mass * (2 - mass));
        contains(&two, 1, reversed, 2 * low, mass * (2 - mass));
    }
}

static void failure_is_mass_at_infinity(void **state)
{
    (void)state;
    brume_term one = {.cost = {.pure = BRUME_EXACT, .epsilon = 1, .delta_failure = .125},
                      .count = 1};
    bool differ;
    double mass;
    brume_error error = {0};
    assert_ok(brume_loss_look(&one, 1, &differ, &mass, &error));
    assert_false(differ);
    assert_true(mass == .125);
    contains(&one, 1, false, .5, .125 + .875 / (1 + exp(-1.0)));
    contains(&one, 1, false, 2, .125);
}

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 2e-12 * (1 + fabs(expected))))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

static void moments_and_divergences(void **state)
{
    (void)state;
    static const struct {
        brume_loss_kind kind;
        double a, rate;
        uint64_t shift;
        double mean, order, divergence;
    } known[] = {
        {BRUME_LOSS_PURE, 1, 0, 0, 0.46211715726000976, 1.5, 0.62733264704949932},
        {BRUME_LOSS_LAPLACE, 1, 0, 0, 0.36787944117144233, 1.5, 0.5128835112945086},
        {BRUME_LOSS_LAPLACE, .5, 0, 0, 0.10653065971263342, 8, 0.41026788176229154},
        {BRUME_LOSS_GAUSSIAN, 1.5, 0, 0, 1.125, 4, 4.5},
        {BRUME_LOSS_DISCRETE_GAUSSIAN, 2, 0, 3, 1.125, 4, 4.5},
        {BRUME_LOSS_KARY, 1, 0, 3, 0.36417532714874366, 2, 0.61840130562423456},
        {BRUME_LOSS_DISCRETE_LAPLACE, 1, 0, 1, 0.46211715726000976, 2, 0.73532566405551922},
    };
    brume_error error = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        brume_term one = term_of(known[i].kind, known[i].a, known[i].rate, known[i].shift, 7);
        double mean, variance, divergence;
        assert_ok(brume_loss_moments(&one, 1, false, &mean, &variance, &error));
        near(mean, 7 * known[i].mean);
        assert_ok(brume_loss_renyi(&one, 1, false, known[i].order, &divergence, &error));
        near(divergence, 7 * known[i].divergence);
    }
    /* randomized response: the variance is (epsilon/cosh(epsilon/2))^2 */
    brume_term one = term_of(BRUME_LOSS_PURE, 1, 0, 0, 1);
    double mean, variance;
    assert_ok(brume_loss_moments(&one, 1, false, &mean, &variance, &error));
    near(variance, 1 / (cosh(.5) * cosh(.5)));
}

/* The mean is the slope of the cumulant at 0, which the divergences near order 1 tell, in both
 * directions; and so is the variance the slope of that. */
static void divergences_near_order_one_agree_with_the_moments(void **state)
{
    (void)state;
    const brume_term terms[] = {term_of(BRUME_LOSS_POISSON_GAUSSIAN, .8, .1, 0, 1),
                                term_of(BRUME_LOSS_POISSON_PURE, 1, .2, 0, 1),
                                term_of(BRUME_LOSS_POISSON_LAPLACE, 1.5, .3, 0, 1),
                                term_of(BRUME_LOSS_POISSON_DISCRETE_LAPLACE, .5, .3, 2, 1)};
    brume_error error = {0};
    for (size_t i = 0; i < 4; i++)
        for (unsigned reversed = 0; reversed < 2; reversed++) {
            double mean, variance, d1, d2, h = 1e-3;
            assert_ok(brume_loss_moments(&terms[i], 1, reversed, &mean, &variance, &error));
            assert_ok(brume_loss_renyi(&terms[i], 1, reversed, 1 + h, &d1, &error));
            assert_ok(brume_loss_renyi(&terms[i], 1, reversed, 1 + 2 * h, &d2, &error));
            /* D_{1+h} = mean + h variance/2 + O(h^2) */
            assert_true(fabs(2 * d1 - d2 - mean) < 1e-5 * (1 + mean));
            assert_true(fabs(2 * (d2 - d1) / h - variance) < 1e-2 * variance);
        }
}

static void without_a_law_it_is_refused(void **state)
{
    (void)state;
    brume_term one = {.cost = {.concentrated = BRUME_EXACT, .rho = 1}, .count = 1};
    brume_interval p;
    double mean, variance;
    brume_error error = {0};
    assert_fails(brume_loss_tail(&one, 1, false, 1, 1e-9, &p, &error), BRUME_EUNSUPPORTED);
    assert_fails(brume_loss_moments(&one, 1, false, &mean, &variance, &error), BRUME_EUNSUPPORTED);
    one = term_of(BRUME_LOSS_PURE, 1, 0, 0, 1);
    assert_fails(brume_loss_renyi(&one, 1, false, 0, &mean, &error), BRUME_EARGUMENT);
    assert_fails(brume_loss_renyi(&one, 1, false, -1, &mean, &error), BRUME_EARGUMENT);
    assert_fails(brume_loss_renyi(&one, 1, false, NAN, &mean, &error), BRUME_EARGUMENT);
}

static double renyi(const brume_term *terms, bool reversed, double order)
{
    double divergence = -1;
    brume_error error = {0};
    assert_ok(brume_loss_renyi(terms, 1, reversed, order, &divergence, &error));
    return divergence;
}

/* Rejects: the two orders of the pair exchanged; a part of the line where P underflows left out. */
static void orders_below_one_meet_closed_forms_and_skew_symmetry(void **state)
{
    (void)state;
    static const double orders[] = {1e-4, .1, .5, .75, .999};
    for (size_t i = 0; i < 5; i++) {
        double a = orders[i], b = 1 - a;
        brume_term gaussian = term_of(BRUME_LOSS_GAUSSIAN, .7, 0, 0, 3);
        near(renyi(&gaussian, false, a), 3 * a * .49 / 2);
        for (double e = .01; e < 3; e *= 4) {
            brume_term laplace_one = term_of(BRUME_LOSS_LAPLACE, e, 0, 0, 1);
            brume_term flip = term_of(BRUME_LOSS_PURE, e, 0, 0, 1);
            double sum = a == .5 ? exp(-e / 2) * (1 + e / 2)
                                 : a / (2 * a - 1) * exp(-b * e) + b / (1 - 2 * a) * exp(-a * e);
            double p = 1 / (1 + exp(-e)), q = 1 - p;
            double flips = pow(p, a) * pow(q, b) + pow(q, a) * pow(p, b);
            assert_true(fabs(renyi(&laplace_one, false, a) + log(sum) / b) < 1e-12 / b);
            assert_true(fabs(renyi(&flip, false, a) + log(flips) / b) < 1e-12 / b);
        }
        /* (1 - a) D_a(P|Q) = a D_{1-a}(Q|P), for every pair; the order rises towards the mean */
        const brume_term pairs[] = {term_of(BRUME_LOSS_POISSON_GAUSSIAN, .8, .1, 0, 1),
                                    term_of(BRUME_LOSS_POISSON_GAUSSIAN, .02, .1, 0, 1),
                                    term_of(BRUME_LOSS_POISSON_PURE, 1, .2, 0, 1),
                                    term_of(BRUME_LOSS_POISSON_LAPLACE, 1.5, .3, 0, 1),
                                    term_of(BRUME_LOSS_POISSON_LAPLACE, 900, .1, 0, 1),
                                    term_of(BRUME_LOSS_POISSON_DISCRETE_LAPLACE, .5, .3, 2, 1),
                                    term_of(BRUME_LOSS_DISCRETE_GAUSSIAN, .6, 0, 2, 1),
                                    term_of(BRUME_LOSS_DISCRETE_GAUSSIAN, 30, 0, 7, 1),
                                    term_of(BRUME_LOSS_KARY, 1, 0, 5, 1)};
        for (size_t t = 0; t < sizeof pairs / sizeof *pairs; t++)
            for (int reversed = 0; reversed < 2; reversed++) {
                double here = renyi(&pairs[t], reversed, a), mean = renyi(&pairs[t], reversed, 1);
                double there = renyi(&pairs[t], !reversed, b);
                assert_true(fabs(b * here - a * there) <= 1e-11 * (b * here + a * there));
                assert_true(here > 0 && here <= mean * (1 + 1e-9));
                assert_true(renyi(&pairs[t], reversed, a / 2) <= here * (1 + 1e-9));
                assert_true(fabs(renyi(&pairs[t], reversed, 1 - 1e-7) - mean) < 1e-3 * mean);
            }
    }
    brume_term flat = term_of(BRUME_LOSS_KARY, 1, 0, 5, 1);
    double p = exp(1) / (exp(1) + 4), q = 1 / (exp(1) + 4);
    near(renyi(&flat, false, .5), -2 * log(2 * sqrt(p * q) + 3 * q));
}

/* Rejects: an order above 1 in place of infinity. A large order is below it, and tends to it. */
static void infinity_is_the_largest_loss(void **state)
{
    (void)state;
    const struct {
        brume_term term;
        double largest[2];
    } cases[] = {
        {term_of(BRUME_LOSS_PURE, .3, 0, 0, 4), {1.2, 1.2}},
        {term_of(BRUME_LOSS_LAPLACE, 2, 0, 0, 1), {2, 2}},
        {term_of(BRUME_LOSS_DISCRETE_LAPLACE, .5, 0, 3, 2), {3, 3}},
        {term_of(BRUME_LOSS_KARY, 1, 0, 5, 1), {1, 1}},
        {term_of(BRUME_LOSS_GAUSSIAN, 1, 0, 0, 1), {INFINITY, INFINITY}},
        {term_of(BRUME_LOSS_POISSON_PURE, 1, .2, 0, 1),
         {log(.8 + .2 * exp(1)), -log(.8 + .2 * exp(-1))}},
        {term_of(BRUME_LOSS_POISSON_GAUSSIAN, 1, .2, 0, 1), {INFINITY, -log(.8)}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int reversed = 0; reversed < 2; reversed++) {
            double found = renyi(&cases[i].term, reversed, INFINITY);
            double expected = cases[i].largest[reversed];
            assert_true(isinf(expected) ? isinf(found) : fabs(found - expected) < 1e-12);
            if (isfinite(expected)) {
                double large = renyi(&cases[i].term, reversed, 3000);
                assert_true(large < found && large > found * .97);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussians),
        cmocka_unit_test(laplace),
        cmocka_unit_test(atoms),
        cmocka_unit_test(strict_at_an_atom),
        cmocka_unit_test(subsampled_gaussian_in_both_directions),
        cmocka_unit_test(sampled_pure_in_both_directions),
        cmocka_unit_test(failure_is_mass_at_infinity),
        cmocka_unit_test(moments_and_divergences),
        cmocka_unit_test(orders_below_one_meet_closed_forms_and_skew_symmetry),
        cmocka_unit_test(infinity_is_the_largest_loss),
        cmocka_unit_test(divergences_near_order_one_agree_with_the_moments),
        cmocka_unit_test(without_a_law_it_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
