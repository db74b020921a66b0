/* Mean, variance and Renyi divergences of the loss: against the textbook formulas, and against
 * tables summed directly, in both orders. */
#include "check.h"

#include <math.h>

#include "accountant/law/moments.h"

static brume_law opened(brume_loss loss, double count, bool reversed)
{
    brume_law law;
    brume_error error;
    assert_ok(brume_law_open(&loss, count, reversed, &law, &error));
    return law;
}

static void assert_moments(brume_loss loss, bool reversed, double mean, double variance)
{
    double first, second;
    brume_law law = opened(loss, 3, reversed);
    assert_true(brume_loss_moments(&law, 1, &first, &second));
    assert_close(first, 3 * mean, 1e-6);
    assert_close(second, 3 * variance, 1e-6);
    brume_law_close(&law);
}

static void means_and_variances_are_the_textbooks(void **state)
{
    (void)state;
    for (double a = 0.01; a < 6; a *= 1.9) {
        double t = tanh(a / 2);
        assert_moments((brume_loss){.kind = BRUME_LOSS_GAUSSIAN, .a = a}, false, a * a / 2, a * a);
        assert_moments((brume_loss){.kind = BRUME_LOSS_PURE, .a = a}, false, a * t,
                       a * a * (1 - t * t));
        double mean = a + expm1(-a), square = 0;
        for (int i = 0; i < 200000; i++) { /* the middle: density e^{(l-a)/2}/4 on (-a, a) */
            double l = -a + 2 * a * (i + 0.5) / 200000;
            square += l * l * exp((l - a) / 2) / 4 * 2 * a / 200000;
        }
        square += a * a * (0.5 + 0.5 * exp(-a));
        assert_moments((brume_loss){.kind = BRUME_LOSS_LAPLACE, .a = a}, false, mean,
                       square - mean * mean);
    }
}

static void both_orders_of_a_sample_are_told_apart(void **state)
{
    (void)state;
    double e = 0.8, q = 0.3, h = log(1 - q + q * exp(e)), g = -log(1 - q + q * exp(-e));
    double up = exp(h) * (1 - exp(-g)) / (exp(h) - exp(-g)); /* E e^{-L} = 1 */
    double added = exp(g) * (1 - exp(-h)) / (exp(g) - exp(-h));
    brume_loss loss = {.kind = BRUME_LOSS_POISSON_PURE, .a = e, .rate = q};
    double mean = up * h - (1 - up) * g, other = added * g - (1 - added) * h;
    assert_moments(loss, false, mean, up * h * h + (1 - up) * g * g - mean * mean);
    assert_moments(loss, true, other, added * g * g + (1 - added) * h * h - other * other);
    assert_true(fabs(mean - other) > 1e-4); /* one order for the other would be seen */
}

static void divergences_are_enclosed(void **state)
{
    (void)state;
    for (double order = 0.01; order < 300; order *= 1.7) { /* minus one */
        brume_law laws[2] = {opened((brume_loss){.kind = BRUME_LOSS_GAUSSIAN, .a = 0.3}, 1, false),
                             opened((brume_loss){.kind = BRUME_LOSS_PURE, .a = 0.5}, 2, false)};
        brume_interval both = brume_loss_renyi(laws, 2, order);
        long double p = 1 / (1 + expl(-0.5L)), c = order;
        long double one = logl(p * expl(0.5L * c) + (1 - p) * expl(-0.5L * c)) / c;
        double truth = (double)(0.09L * (1 + c) / 2 + 2 * one);
        assert_true(both.lower <= truth * (1 + 1e-14) && both.upper >= truth * (1 - 1e-14));
        assert_true(both.upper - both.lower <= 1e-12 * truth);
        brume_law_close(&laws[0]);
        brume_law_close(&laws[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_and_variances_are_the_textbooks),
        cmocka_unit_test(both_orders_of_a_sample_are_told_apart),
        cmocka_unit_test(divergences_are_enclosed),
    };
    return cmocka_run_group_tests_name("accountant moments", tests, NULL, NULL);
}
