/* Stable histograms with Gaussian noise against MPFR, and the ends of what stability accepts. */
#include "check.h"

#include <mpfr.h>
#include <stdlib.h>

#include <brume/mechanism/stability.h>
#include <brume/mechanism/stable_histogram.h>

#include "mechanism/stability/histogram_gaussian.h"
#include "mechanism/stability/stability.h"
#include "random/tape.h"

enum { BITS = 300 };

static brume_error error;

/* out = Phi(x) */
static void normal(mpfr_t out, const mpfr_t x)
{
    mpfr_t y;
    mpfr_init2(y, BITS);
    mpfr_sqrt_ui(y, 2, MPFR_RNDN);
    mpfr_div(y, x, y, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
    mpfr_erfc(out, y, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    mpfr_clear(y);
}

/* out = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu); of mu = 0: max(0, 1 - exp(e)) */
static void profile(mpfr_t out, const mpfr_t e, const mpfr_t mu)
{
    mpfr_t x, y;
    mpfr_inits2(BITS, x, y, (mpfr_ptr)NULL);
    if (mpfr_zero_p(mu)) {
        mpfr_expm1(out, e, MPFR_RNDN);
        mpfr_neg(out, out, MPFR_RNDN);
        if (mpfr_sgn(out) < 0)
            mpfr_set_ui(out, 0, MPFR_RNDN);
    } else {
        mpfr_div(x, e, mu, MPFR_RNDN);
        mpfr_div_2ui(y, mu, 1, MPFR_RNDN);
        mpfr_sub(out, y, x, MPFR_RNDN);
        normal(out, out);
        mpfr_add(y, y, x, MPFR_RNDN);
        mpfr_neg(y, y, MPFR_RNDN);
        normal(y, y);
        mpfr_exp(x, e, MPFR_RNDN);
        mpfr_mul(y, y, x, MPFR_RNDN);
        mpfr_sub(out, out, y, MPFR_RNDN);
    }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

/* The delta of neighbours of which the first has `gone` keys of its own, the second `come`:
 * 1 - p^gone + p^gone dG(epsilon - (gone - come) ln p; mu), p = P[a key of one unit is hidden]. */
static void delta_of(mpfr_t out, const brume_histogram_plan *plan, double threshold, uint64_t gone,
                     uint64_t come)
{
    const brume_histogram_rule *rule = &plan->rule;
    uint64_t changing = rule->keys_per_unit * (rule->adjacency == BRUME_REPLACE ? 2 : 1);
    mpfr_t p, e, mu;
    mpfr_inits2(BITS, p, e, mu, (mpfr_ptr)NULL);
    mpfr_set_d(p, threshold, MPFR_RNDN);
    mpfr_sub_ui(p, p, rule->amount_per_key, MPFR_RNDN);
    mpfr_div_d(p, p, plan->scale, MPFR_RNDN);
    normal(p, p);
    mpfr_log(e, p, MPFR_RNDN);
    mpfr_mul_si(e, e, (long)come - (long)gone, MPFR_RNDN);
    mpfr_add_d(e, e, rule->epsilon, MPFR_RNDN);
    mpfr_sqrt_ui(mu, changing - gone - come, MPFR_RNDN);
    mpfr_mul_ui(mu, mu, rule->amount_per_key, MPFR_RNDN);
    mpfr_div_d(mu, mu, plan->scale, MPFR_RNDN);
    profile(out, e, mu);
    mpfr_pow_ui(p, p, gone, MPFR_RNDN);
    mpfr_mul(out, out, p, MPFR_RNDN);
    mpfr_ui_sub(p, 1, p, MPFR_RNDN);
    mpfr_add(out, out, p, MPFR_RNDN);
    mpfr_clears(p, e, mu, (mpfr_ptr)NULL);
}

/* The worst of all neighbours, in both directions. */
static void worst_delta(mpfr_t out, const brume_histogram_plan *plan, double threshold)
{
    uint64_t keys = plan->rule.keys_per_unit;
    mpfr_t here;
    mpfr_init2(here, BITS);
    mpfr_set_ui(out, 0, MPFR_RNDN);
    for (uint64_t gone = 0; gone <= keys; gone++)
        for (uint64_t come = 0; come <= keys; come++) {
            if (plan->rule.adjacency == BRUME_ADD_REMOVE && gone > 0 && come > 0)
                continue;
            delta_of(here, plan, threshold, gone, come);
            mpfr_max(out, out, here, MPFR_RNDN);
        }
    mpfr_clear(here);
}

/* Rejects: a delta rounded down, or of some of the neighbours only; a threshold that is not the
 * least integer. */
static void the_delta_of_gaussian_noise_is_the_exact_one(void **state)
{
    (void)state;
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (int i = 0; i < 12; i++) {
        brume_histogram_rule rule = {.noise = BRUME_HISTOGRAM_GAUSSIAN,
                                     .epsilon = i % 2 ? .7 : 3,
                                     .delta = i % 3 ? 1e-5 : .01,
                                     .keys_per_unit = 1 + (uint64_t)i % 4,
                                     .amount_per_key = 1 + (uint64_t)i % 5,
                                     .adjacency = i % 4 < 2 ? BRUME_ADD_REMOVE : BRUME_REPLACE};
        brume_histogram_plan plan;
        assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
        worst_delta(truth, &plan, (double)plan.threshold - .5);
        assert_true(mpfr_cmp_d(truth, plan.delta_upper) <= 0);
        assert_close(plan.delta_upper, mpfr_get_d(truth, MPFR_RNDN), 1e-13);
        assert_true(plan.delta_upper <= rule.delta);
        worst_delta(truth, &plan, (double)plan.threshold - 1.5);
        assert_true(mpfr_cmp_d(truth, rule.delta) > 0);
        /* a delta that is just met is met */
        rule.delta = plan.delta_upper;
        double same;
        assert_true(
            brume_histogram_gaussian_holds(&rule, plan.scale, (double)plan.threshold - .5, &same));
        assert_true(same == plan.delta_upper);
    }
    mpfr_clear(truth);
}

/* Rejects: open ranges where closed ones are promised, and rules that nobody looks at. */
static void the_ends_of_histograms_are_accepted(void **state)
{
    (void)state;
    enum { DISCRETE = BRUME_HISTOGRAM_DISCRETE_LAPLACE, LAPLACE = BRUME_HISTOGRAM_LAPLACE };
    enum { GAUSS = BRUME_HISTOGRAM_GAUSSIAN };
    static const struct {
        int noise;
        double epsilon, delta;
        uint64_t keys, amount;
        bool good;
    } cases[] = {
        {LAPLACE, 0x1p-30, .1, 1, 1, true},
        {LAPLACE, 0x1.fp-31, .1, 1, 1, false},
        {LAPLACE, 700, .1, 1, 1, true},
        {LAPLACE, 701, .1, 1, 1, false},
        {LAPLACE, 1, 0x1p-1000, 1, 1, true},
        {LAPLACE, 1, 0x1p-1001, 1, 1, false},
        {LAPLACE, 1, .5, 1, 1, false},
        {LAPLACE, 1, .1, 1 << 20, 1, true},
        {LAPLACE, 1, .1, (1 << 20) + 1, 1, false},
        {LAPLACE, 1, .1, 1, 1 << 30, true},
        {LAPLACE, 1, .1, 1, (1 << 30) + 1, false},
        {LAPLACE, 0x1.1p-20, .1, 1, 1 << 30, true},
        {LAPLACE, 0x1.fp-21, .1, 1, 1 << 30, false}, /* noise beyond 2^50 */
        {DISCRETE, 0x1.1p-20, .1, 1, 1 << 30, true},
        {DISCRETE, 0x1.fp-21, .1, 1, 1 << 30, false},
        {GAUSS, 100, .1, 1, 1, true}, /* a sigma below 1 */
        {GAUSS, 1, .1, 64, 1, true},
        {GAUSS, 1, .1, 65, 1, false},
        {GAUSS, 0x1p-30, 1e-12, 1, 1 << 30, false},
        {DISCRETE - 1, 1, .1, 1, 1, false},
        {GAUSS + 1, 1, .1, 1, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_histogram_rule rule = {(brume_histogram_noise)cases[i].noise,
                                     cases[i].epsilon,
                                     cases[i].delta,
                                     cases[i].keys,
                                     cases[i].amount,
                                     BRUME_ADD_REMOVE};
        brume_histogram_plan plan = {.threshold = 42};
        brume_status status = brume_histogram_plan_make(&rule, &plan, &error);
        assert_int_equal(status, cases[i].good ? BRUME_OK : BRUME_EARGUMENT);
        assert_true(status == BRUME_OK || plan.threshold == 42);
        double scale = 0, threshold = 0;
        bool wide = cases[i].epsilon < 0x1.1p-20 && cases[i].amount > 1; /* no integers here */
        if (cases[i].noise != DISCRETE && !wide)
            assert_int_equal(brume_histogram_threshold_real(&rule, &scale, &threshold, &error),
                             cases[i].good ? BRUME_OK : BRUME_EARGUMENT);
    }
    const double good[][2] = {{0x1p-40, .1}, {700, .1}, {1, 0x1p-1000}};
    const double bad[][2] = {{0x1.fp-41, .1}, {701, .1}, {1, 0x1p-1001}, {1, .5}};
    uint64_t m;
    double used;
    for (size_t i = 0; i < 3; i++)
        assert_ok(brume_stability_threshold(good[i][0], good[i][1], &m, &used, &error));
    for (size_t i = 0; i < 4; i++)
        assert_fails(brume_stability_threshold(bad[i][0], bad[i][1], &m, &used, &error),
                     BRUME_EARGUMENT);
}

/* With this epsilon the noise is nearly always 0, and the threshold 1. Rejects: an answer that is
 * never shown, or from another distance on. */
static void stable_answers_are_shown_from_the_threshold_on(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(7);
    for (uint64_t distance = 0; distance < 4; distance++) {
        bool released;
        assert_ok(brume_stable_release(50, 1e-9, bits, distance, &released, &error));
        assert_true(released == (distance >= 1));
    }
    brume_bits_close(bits);
}

/* Rejects: a local sensitivity above the most that wraps around; noise for a bound of 0; an offset
 * or a clamp that is left out; a bound that is always the most. */
static void a_private_bound_lies_between_nothing_and_the_most(void **state)
{
    (void)state;
    brume_sensitivity_plan sure = {
        .epsilon_sensitivity = 50, .epsilon_release = 1, .delta = 1e-9, .most = 20};
    uint64_t m, bound;
    double used;
    int64_t out;
    /* with this epsilon the noise is nearly always 0: the bound is local + m - 1 */
    assert_ok(brume_stability_threshold(50, 1e-9, &m, &used, &error));
    assert_true(m == 1);
    brume_bits *bits = brume_tape_open_seeded(4);
    const struct {
        uint64_t local, bound;
    } cases[] = {{0, 0}, {7, 7}, {20, 20}, {21, 20}, {UINT64_MAX, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(
            brume_release_by_sensitivity(&sure, bits, cases[i].local, 1000, &bound, &out, &error));
        assert_int_equal(bound, cases[i].bound);
        assert_true(bound > 0 || out == 1000);
    }
    sure.epsilon_sensitivity = 1;
    assert_ok(brume_stability_threshold(1, 1e-9, &m, &used, &error));
    int seen[2] = {0};
    sure.most = 1000;
    for (int i = 0; i < 400; i++) { /* the median of the bound is local + m - 1 */
        assert_ok(brume_release_by_sensitivity(&sure, bits, 100, 0, &bound, &out, &error));
        seen[0] += bound < 100 + m - 1;
        seen[1] += bound > 100 + m - 1;
    }
    assert_true(seen[0] > 60 && seen[1] > 60 && seen[0] + seen[1] < 320);
    brume_sensitivity_plan often = {
        .epsilon_sensitivity = 1, .epsilon_release = 1, .delta = .4, .most = 5};
    for (int i = 0; i < 200; i++) {
        assert_ok(brume_release_by_sensitivity(&often, bits, 2, 0, &bound, &out, &error));
        assert_true(bound <= 5);
    }
    brume_bits_close(bits);
}

static brume_status no_number(void *context, uint64_t bound, uint64_t *out, brume_error *why)
{
    (void)context, (void)bound, (void)why;
    *out = UINT64_MAX;
    return BRUME_OK;
}

static brume_status no_value(void *context, int64_t *out, brume_error *why)
{
    (void)context, (void)why;
    *out = 5;
    return BRUME_OK;
}

/* Rejects: a release without noise, of a bound of 0, for a price that is none. */
static void a_release_has_a_price_even_without_noise(void **state)
{
    (void)state;
    brume_tested tested = {.distance = no_number, .value = no_value};
    brume_bits *bits = brume_tape_open_seeded(6);
    const double bad[] = {0, -1, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 4; i++) {
        brume_proposal proposal = {
            .epsilon_test = 1, .epsilon_release = bad[i], .delta = 1e-6, .bound = 0};
        bool released = false;
        int64_t value = 42;
        assert_fails(
            brume_propose_test_release(&proposal, &tested, bits, &released, &value, &error),
            BRUME_EARGUMENT);
        assert_true(!released && value == 42);
    }
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_delta_of_gaussian_noise_is_the_exact_one),
        cmocka_unit_test(the_ends_of_histograms_are_accepted),
        cmocka_unit_test(a_release_has_a_price_even_without_noise),
        cmocka_unit_test(stable_answers_are_shown_from_the_threshold_on),
        cmocka_unit_test(a_private_bound_lies_between_nothing_and_the_most),
    };
    return cmocka_run_group_tests_name("ends of stability", tests, NULL, NULL);
}
