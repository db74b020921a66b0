/* The releases as they are drawn: frequencies against the laws that the privacy tests sum. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <gmp.h>

#include <brume/statistic/quantile.h>
#include <brume/mechanism/smooth.h>
#include <brume/mechanism/stable_histogram.h>
#include <brume/statistic/tested.h>

#include "chance.h"
#include "multisets.h"
#include "random/tape.h"

static brume_error error;

/* The same draws in every run: nothing here fails by chance. */
static brume_bits *open_bits(void)
{
    return brume_tape_open_seeded(20261116);
}

static brume_quantile *open_quantile(brume_quantile_rule rule, const int64_t *values, size_t n)
{
    brume_quantile *quantile = NULL;
    assert_ok(brume_quantile_open(&rule, values, n, &quantile, &error));
    return quantile;
}

/* The law of the exponential mechanism by its definition. */
static void exponential_law(const brume_quantile_rule *rule, const int64_t *values, size_t n,
                            double eta, double *law)
{
    double total = 0, q = (double)rule->numerator / (double)rule->denominator;
    for (int64_t v = rule->lower; v <= rule->upper; v++) {
        double below = 0, up_to = 0;
        for (size_t i = 0; i < n; i++) {
            below += values[i] < v;
            up_to += values[i] <= v;
        }
        double badness = fmax(0, fmax(below - q * (double)n, q * (double)n - up_to));
        law[v - rule->lower] = exp(-eta * badness);
        total += law[v - rule->lower];
    }
    for (int64_t v = 0; v <= rule->upper - rule->lower; v++)
        law[v] /= total;
}

static void the_exponential_quantile_has_its_law(void **state)
{
    (void)state;
    enum { DRAWS = 20000, WIDTH = 12 };
    brume_bits *bits = open_bits();
    const int64_t values[] = {3, 3, 7, 8, 1, 3};
    const size_t sizes[] = {6, 0, 1};
    for (int i = 0; i < 3; i++)
        for (int replace = 0; replace < 2; replace++) {
            brume_quantile_rule rule = {1, 3,        1, replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                        0, WIDTH - 1};
            brume_quantile *quantile = open_quantile(rule, values, sizes[i]);
            double eta = brume_quantile_exponential_rate(&rule, 1.5), law[WIDTH];
            assert_close(eta, replace ? .75 : 1.125, 1e-15);
            exponential_law(&rule, values, sizes[i], eta, law);
            uint64_t seen[WIDTH] = {0};
            for (int draw = 0; draw < DRAWS; draw++) {
                int64_t out;
                assert_ok(brume_quantile_exponential(quantile, 1.5, bits, &out, &error));
                assert_in_range(out, 0, WIDTH - 1);
                seen[out]++;
            }
            double share = false_alarm_share(false_alarm_quantile_exponential) / (6 * WIDTH);
            for (int v = 0; v < WIDTH; v++) {
                double slack = 1e-12;
                assert_true(
                    binomial_plausible(DRAWS, seen[v], law[v] - slack, law[v] + slack, share));
            }
            /* The mutant with twice the rate is seen. */
            if (sizes[i] == 6) {
                bool noticed = false;
                exponential_law(&rule, values, sizes[i], 2 * eta, law);
                for (int v = 0; v < WIDTH; v++)
                    noticed |= !binomial_plausible(DRAWS, seen[v], law[v], law[v], share);
                assert_true(noticed);
            }
            brume_quantile_close(quantile);
        }
    brume_bits_close(bits);
}

/* Its privacy, from the law: all small data, both adjacencies; the range of losses is used up. */
static void the_exponential_quantile_is_private(void **state)
{
    (void)state;
    enum { DOMAIN = 4 };
    static multiset all[600];
    static double law[600][DOMAIN];
    for (int replace = 0; replace < 2; replace++)
        for (uint64_t numerator = 0; numerator <= 4; numerator++)
            for (uint64_t per_unit = 1; per_unit <= 2; per_unit++) {
                brume_quantile_rule rule = {numerator, 4,
                                            per_unit,  replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                            0,         DOMAIN - 1};
                double eta = brume_quantile_exponential_rate(&rule, 1), worst = 0, widest = 0;
                int count = 0;
                for (int size = replace ? 5 : 0; size <= 5; size++)
                    count = multisets_of_size(size, DOMAIN, all, count);
                for (int i = 0; i < count; i++)
                    exponential_law(&rule, all[i].value, (size_t)all[i].size, eta, law[i]);
                for (int i = 0; i < count; i++)
                    for (int j = 0; j < count; j++) {
                        int added = multiset_missing(&all[i], &all[j]);
                        int removed = multiset_missing(&all[j], &all[i]);
                        int most = (int)per_unit;
                        if (added > most || removed > most || (!replace && added && removed))
                            continue;
                        double low = 0, high = 0;
                        for (int v = 0; v < DOMAIN; v++) {
                            double loss = log(law[i][v] / law[j][v]);
                            low = fmin(low, loss);
                            high = fmax(high, loss);
                        }
                        worst = fmax(worst, high);
                        widest = fmax(widest, high - low);
                    }
                assert_holds(worst <= 1 + 1e-12 && widest <= 1 + 1e-12);
                /* the bounded range is used up: by the median, the least and the greatest value */
                if ((numerator == 2 && per_unit == 1) || numerator == 0 || numerator == 4)
                    assert_holds(widest > .999);
            }
}

static void a_test_passes_as_often_as_its_law_says(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    brume_bits *bits = open_bits();
    double share = false_alarm_share(false_alarm_stable_draws) / 10;
    uint64_t m;
    double tail, a = exp(-.5);
    assert_ok(brume_stability_threshold(.5, .05, &m, &tail, &error));
    const uint64_t distances[] = {0, m - 1, m, m + 3};
    for (int i = 0; i < 4; i++) {
        double least = (double)m - (double)distances[i];
        double expected = least >= 0 ? pow(a, least) / (1 + a) : 1 - pow(a, 1 - least) / (1 + a);
        uint64_t passed = 0;
        for (int draw = 0; draw < DRAWS; draw++) {
            bool released;
            assert_ok(brume_stable_release(.5, .05, bits, distances[i], &released, &error));
            passed += released;
        }
        assert_true(
            binomial_plausible(DRAWS, passed, expected * (1 - 1e-9), expected * (1 + 1e-9), share));
    }
    bool released = false;
    for (int draw = 0; draw < 200; draw++) {
        assert_ok(brume_stable_release(.5, .05, bits, UINT64_MAX, &released, &error));
        assert_true(released);
    }
    /* A proposed bound on the median of three equal values far from both ends. */
    const int64_t values[] = {50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50};
    brume_quantile_rule rule = {1, 2, 1, BRUME_REPLACE, 0, 100};
    brume_quantile *quantile = open_quantile(rule, values, 11);
    brume_tested tested = brume_tested_quantile(quantile);
    brume_proposal proposal = {.5, 1, .05, 2};
    uint64_t distance = brume_quantile_distance(quantile, 2), passed = 0, near = 0;
    double expected = pow(a, (double)m - (double)distance) / (1 + a);
    if (distance > m)
        expected = 1 - pow(a, 1 + (double)distance - (double)m) / (1 + a);
    for (int draw = 0; draw < DRAWS; draw++) {
        int64_t value = 0;
        assert_ok(brume_propose_test_release(&proposal, &tested, bits, &released, &value, &error));
        passed += released;
        near += released && llabs(value - 50) <= 1;
    }
    double b = exp(-.5), close = (1 - b) / (1 + b) * (1 + 2 * b); /* scale 2 */
    assert_true(
        binomial_plausible(DRAWS, passed, expected * (1 - 1e-9), expected * (1 + 1e-9), share));
    assert_true(binomial_plausible(DRAWS, near, expected * close * (1 - 1e-9),
                                   expected * close * (1 + 1e-9), share));
    brume_quantile_close(quantile);
    brume_bits_close(bits);
}

static void a_histogram_shows_keys_as_often_as_its_law_says(void **state)
{
    (void)state;
    enum { KEYS = 20000 };
    brume_bits *bits = open_bits();
    static int64_t counts[KEYS], noisy[KEYS];
    static unsigned char keep[KEYS];
    double share = false_alarm_share(false_alarm_stable_draws) / 10;
    brume_histogram_rule rule = {BRUME_HISTOGRAM_DISCRETE_LAPLACE, .5, .01, 1, 1, BRUME_ADD_REMOVE};
    brume_histogram_plan plan;
    assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
    for (int i = 0; i < KEYS; i++)
        counts[i] = i % 4 == 0 ? 0 : plan.threshold;
    assert_ok(brume_histogram_release(&plan, bits, counts, noisy, keep, KEYS, &error));
    uint64_t shown = 0;
    for (int i = 0; i < KEYS; i++) {
        assert_true(i % 4 != 0 || !keep[i]);
        assert_true(keep[i] ? noisy[i] >= plan.threshold : noisy[i] == 0);
        shown += keep[i];
    }
    double expected = 1 / (1 + exp(-1 / plan.scale));
    assert_true(binomial_plausible(KEYS * 3 / 4, shown, expected * (1 - 1e-9),
                                   expected * (1 + 1e-9), share));
    /* The other two noises are drawn and cut at their own thresholds. */
    for (int kind = BRUME_HISTOGRAM_LAPLACE; kind <= BRUME_HISTOGRAM_GAUSSIAN; kind++) {
        rule.noise = (brume_histogram_noise)kind;
        assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
        for (int i = 0; i < KEYS; i++)
            counts[i] = plan.threshold;
        assert_ok(brume_histogram_release(&plan, bits, counts, noisy, keep, KEYS, &error));
        shown = 0;
        for (int i = 0; i < KEYS; i++)
            shown += keep[i];
        /* P[rounded noise >= 0] = P[noise >= -1/2] */
        expected = kind == BRUME_HISTOGRAM_LAPLACE ? 1 - exp(-.5 / plan.scale) / 2
                                                   : erfc(-.5 / plan.scale / sqrt(2)) / 2;
        assert_true(
            binomial_plausible(KEYS, shown, expected * (1 - 1e-9), expected * (1 + 1e-9), share));
    }
    brume_key_selection *selection = NULL;
    assert_ok(brume_key_selection_open(1, .01, 1, BRUME_ADD_REMOVE, &selection, &error));
    for (int i = 0; i < KEYS; i++)
        counts[i] = 4;
    assert_ok(brume_key_selection_draw(selection, bits, counts, keep, KEYS, &error));
    shown = 0;
    for (int i = 0; i < KEYS; i++)
        shown += keep[i];
    expected = brume_key_selection_probability(selection, 4);
    assert_true(binomial_plausible(KEYS, shown, expected, expected, share));
    brume_key_selection_close(selection);
    brume_bits_close(bits);
}

static void smooth_noise_has_the_law_and_scale_it_should(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    brume_bits *bits = open_bits();
    brume_smooth_plan plan, plans[4];
    assert_ok(brume_smooth_plan_cauchy(1, 0, &plans[0], &error));
    assert_ok(brume_smooth_plan_student(1, 3, 0, &plans[1], &error));
    assert_ok(brume_smooth_plan_log_normal(.5, 0, &plans[2], &error));
    assert_ok(brume_smooth_plan_laplace(1, 1e-6, 0, &plans[3], &error));
    const double smooth = 100000;
    for (int i = 0; i < 4; i++) {
        /* Share of draws within r = 1 scale, rounding being far below it. */
        uint64_t within = 0;
        for (int draw = 0; draw < DRAWS; draw++) {
            int64_t out;
            assert_ok(brume_smooth_release(&plans[i], bits, 7, smooth, 1e6, &out, &error));
            within += fabs((double)(out - 7)) <= smooth / plans[i].s;
        }
        /* Cauchy 1/2; Student with 3 degrees 2/pi (atan(1/sqrt 3) + (1/sqrt 3)/(1 + 1/3)); Laplace
         * 1 - 1/e; Laplace-log-normal E[1 - exp(-exp(-sigma N))], by summing over the normal law.
         */
        double expected = .5;
        if (i == 1)
            expected = 2 / acos(-1) * (atan(1 / sqrt(3)) + (1 / sqrt(3)) / (1 + 1. / 3));
        if (i == 3)
            expected = 1 - exp(-1);
        if (i == 2) {
            expected = 0;
            for (double x = -8; x < 8; x += .001)
                expected += .001 * exp(-x * x / 2) / sqrt(2 * acos(-1)) *
                            (1 - exp(-exp(-plans[i].shape * x)));
        }
        assert_true(binomial_plausible(DRAWS, within, expected - 1e-4, expected + 1e-4,
                                       false_alarm_share(false_alarm_smooth_draws) / 4));
    }
    plan = plans[3];
    int64_t out = 0;
    assert_ok(brume_smooth_release(&plan, bits, 7, 0, 0, &out, &error));
    assert_int_equal(out, 7);
    /* Refused by the public bound, whatever the data. */
    assert_fails(brume_smooth_release(&plan, bits, 7, 1, 0x1p60, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_smooth_release(&plan, bits, 7, -1, 5, &out, &error), BRUME_EARGUMENT);
    brume_bits_close(bits);
}

static void a_local_sensitivity_is_released_with_its_value(void **state)
{
    (void)state;
    brume_bits *bits = open_bits();
    brume_sensitivity_plan plan = {1, 1, 1e-6, 8};
    for (int i = 0; i < 2000; i++) {
        uint64_t bound;
        int64_t out;
        assert_ok(brume_release_by_sensitivity(&plan, bits, 2, 4, &bound, &out, &error));
        assert_holds(bound <= 8);
        assert_holds(bound > 0 || out == 4);
    }
    plan.epsilon_release = 0;
    uint64_t bound = 77;
    int64_t out = 77;
    assert_fails(brume_release_by_sensitivity(&plan, bits, 2, 4, &bound, &out, &error),
                 BRUME_EARGUMENT);
    assert_int_equal(bound + (uint64_t)out, 154);
    brume_bits_close(bits);
}

/* The law of the bound, clamp(LS + X + offset), and of the value's noise, whose scale it is.
 * Rejects: an offset left out, with which every second bound is too small; noise for another bound;
 * a local sensitivity above the greatest possible one that is not cut. */
static void a_released_sensitivity_has_its_law(void **state)
{
    (void)state;
    enum { DRAWS = 3000, LOCAL = 100 };
    const double certain = 1e-12; /* the draws are the same in every run */
    const double deltas[] = {.4, .01};
    for (int i = 0; i < 2; i++) {
        brume_sensitivity_plan plan = {1, .5, deltas[i], 1000};
        double a = exp(-1);
        int64_t offset = -1; /* one less than the first place whose tail is within delta */
        while (pow(a, (double)(offset + 1)) / (1 + a) > deltas[i])
            offset++;
        uint64_t at[7] = {0}, too_small = 0, below = 0, zero = 0, wide = 0;
        double expected_wide = 0;
        brume_bits *bits = open_bits(), *same = open_bits();
        for (int n = 0; n < DRAWS; n++) {
            uint64_t bound, again;
            int64_t out, other;
            assert_ok(brume_release_by_sensitivity(&plan, bits, LOCAL, 4, &bound, &out, &error));
            int64_t x = (int64_t)bound - LOCAL - offset;
            if (-3 <= x && x <= 3)
                at[x + 3]++;
            too_small += bound < LOCAL;
            double b = exp(-.5 / (double)bound), reach = 2 * (double)bound;
            wide += fabs((double)out - 4) >= reach;
            expected_wide += 2 * pow(b, reach) / (1 + b);
            /* one above the greatest is taken for the greatest */
            plan.most = n % 2 ? LOCAL : 3;
            assert_ok(brume_release_by_sensitivity(&plan, same, 2000, 4, &again, &other, &error));
            assert_true(again <= plan.most);
            below += again < plan.most;
            plan.most = 1000;
            assert_ok(brume_release_by_sensitivity(&plan, same, 0, 4, &again, &other, &error));
            zero += again == 0;
            assert_holds(again > 0 || other == 4);
        }
        for (int x = -3; x <= 3; x++) {
            double mass = (1 - a) / (1 + a) * pow(a, abs(x));
            assert_true(binomial_plausible(DRAWS, at[x + 3], mass, mass, certain));
        }
        double missed = pow(a, (double)(offset + 1)) / (1 + a);
        assert_holds(missed <= deltas[i] && missed > deltas[i] / 3);
        assert_true(binomial_plausible(DRAWS, too_small, missed, missed, certain));
        assert_true(binomial_plausible(DRAWS, below, missed, missed, certain));
        double none = pow(a, (double)offset) / (1 + a); /* X <= -offset */
        assert_true(binomial_plausible(DRAWS, zero, none, none, certain));
        double slack = sqrt(DRAWS * log(2 / certain) / 2); /* Hoeffding */
        assert_holds(fabs((double)wide - expected_wide) <= slack);
        brume_bits_close(bits);
        brume_bits_close(same);
    }
}

/* Rejects: any rounding of the rate turned, or a factor of it lost: 2 R kappa eta is within epsilon
 * without a rounding, and nearly all of it; kappa is max(q, 1-q), or 1 under replace, or 1/2 for
 * the least and the greatest value under both. */
static void the_exponential_rate_costs_epsilon_in_exact_rationals(void **state)
{
    (void)state;
    uint64_t draws = 3;
    mpq_t cost, part, price;
    mpq_inits(cost, part, price, NULL);
    for (int i = 0; i < 3000; i++) {
        uint64_t d = 1 + brume_tape_splitmix(&draws) % (i % 3 ? 1000 : 5);
        uint64_t a = brume_tape_splitmix(&draws) % (d + 1), larger = 2 * a > d ? a : d - a;
        brume_quantile_rule rule = {
            a, d, 1 + brume_tape_splitmix(&draws) % 9, i % 2 ? BRUME_REPLACE : BRUME_ADD_REMOVE,
            0, 1};
        double epsilon = ldexp(1 + (double)(brume_tape_splitmix(&draws) >> 12) * 0x1p-52, i % 9);
        mpq_set_d(cost, brume_quantile_exponential_rate(&rule, epsilon));
        mpq_set_ui(part, (larger == d ? 1 : 2) * rule.values_per_unit, 1);
        mpq_mul(cost, cost, part);
        if (rule.adjacency == BRUME_ADD_REMOVE) {
            mpq_set_ui(part, larger, d);
            mpq_canonicalize(part);
            mpq_mul(cost, cost, part);
        }
        mpq_set_d(price, epsilon);
        assert_true(mpq_cmp(cost, price) <= 0);
        mpq_set_d(part, 1 - 0x1p-50);
        mpq_mul(price, price, part);
        assert_true(mpq_cmp(cost, price) >= 0);
    }
    mpq_clears(cost, part, price, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exponential_quantile_has_its_law),
        cmocka_unit_test(the_exponential_quantile_is_private),
        cmocka_unit_test(the_exponential_rate_costs_epsilon_in_exact_rationals),
        cmocka_unit_test(a_test_passes_as_often_as_its_law_says),
        cmocka_unit_test(a_histogram_shows_keys_as_often_as_its_law_says),
        cmocka_unit_test(smooth_noise_has_the_law_and_scale_it_should),
        cmocka_unit_test(a_local_sensitivity_is_released_with_its_value),
        cmocka_unit_test(a_released_sensitivity_has_its_law),
    };
    return cmocka_run_group_tests_name("draws", tests, NULL, NULL);
}
