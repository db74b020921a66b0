/* Scales of noise, thresholds and sums of costs against exact numbers: rationals where there are
 * any, else MPFR with 300 bits. Each is on its safe side, and by no more than a few units in the
 * last place. */
#include "cost_of.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdlib.h>

#include <brume/mechanism/expression.h>
#include <brume/mechanism/stable_histogram.h>

#include "mechanism/selection/selection.h"
#include "mechanism/stability/laplace_tail.h"
#include "mechanism/threshold/threshold.h"
#include "random/tape.h"

enum { BITS = 300 };

static brume_error error;
static uint64_t seed = 3;

static double some_number(int least, int most)
{
    double mantissa = 1 + (double)(brume_tape_splitmix(&seed) >> 12) * 0x1p-52;
    return ldexp(mantissa, least + (int)(brume_tape_splitmix(&seed) % (uint64_t)(most - least)));
}

static uint64_t some_integer(uint64_t most)
{
    return 1 + brume_tape_splitmix(&seed) % most;
}

/* sum += num / den */
static void add_quotient(mpq_t sum, double num, double den)
{
    mpq_t a, b;
    mpq_inits(a, b, NULL);
    mpq_set_d(a, num);
    mpq_set_d(b, den);
    mpq_div(a, a, b);
    mpq_add(sum, sum, a);
    mpq_clears(a, b, NULL);
}

/* cost <= epsilon, and not less by more than a relative 2^-48. */
static void costs_at_most(const mpq_t cost, double epsilon)
{
    mpq_t bound;
    mpq_init(bound);
    mpq_set_d(bound, epsilon);
    assert_true(mpq_cmp(cost, bound) <= 0);
    mpq_set_d(bound, epsilon * (1 - 0x1p-48));
    assert_true(mpq_cmp(cost, bound) >= 0);
    mpq_clear(bound);
}

/* Rejects: a quotient or a product of a scale that is rounded down. */
static void streams_spend_at_most_epsilon_in_exact_rationals(void **state)
{
    (void)state;
    mpq_t cost;
    mpq_init(cost);
    for (int i = 0; i < 1000; i++) {
        brume_sparse_vector_options options = {.epsilon = some_number(-6, 4),
                                               .hits = some_integer(50),
                                               .sensitivity = some_integer(1000),
                                               .epsilon_answers = i % 3 ? some_number(-6, 4) : 0,
                                               .monotone = i & 1,
                                               .even_split = i & 2};
        brume_stream_scales scales = brume_sparse_vector_scales(&options);
        double sensitivity = (double)options.sensitivity, hits = (double)options.hits;
        mpq_set_ui(cost, 0, 1);
        add_quotient(cost, sensitivity, scales.threshold);
        add_quotient(cost, (options.monotone ? 1 : 2) * hits * sensitivity, scales.query);
        costs_at_most(cost, options.epsilon);
        mpq_set_ui(cost, 0, 1);
        if (options.epsilon_answers > 0) {
            add_quotient(cost, hits * sensitivity, scales.answer);
            costs_at_most(cost, options.epsilon_answers);
        } else {
            assert_true(scales.answer == 0);
        }
    }
    mpq_clear(cost);
}

/* Rejects: a coefficient of the scores that is rounded up, or not halved; also where it has lost
 * digits, next to the least double. A scale for typed decimals that is not one step further. */
static void choices_and_scales_spend_at_most_epsilon(void **state)
{
    (void)state;
    mpq_t cost, number;
    mpq_inits(cost, number, NULL);
    for (int i = 0; i < 1000; i++) {
        bool tiny = i % 10 == 0;
        brume_selection options = {.epsilon = tiny ? some_number(-1074, -1060) : some_number(-6, 4),
                                   .sensitivity = some_number(-3, 9),
                                   .monotone = i & 1};
        double coefficient = brume_selection_coefficient_lower(&options);
        mpq_set_d(cost, coefficient);
        mpq_set_d(number, options.sensitivity * (options.monotone ? 1 : 2));
        mpq_mul(cost, cost, number);
        if (!tiny) {
            costs_at_most(cost, options.epsilon);
        } else {
            mpq_set_d(number, options.epsilon);
            assert_true(mpq_cmp(cost, number) <= 0);
        }
        double amount = (double)some_integer(1 << 20), epsilon = some_number(-6, 4);
        double scale = brume_scale_upper(amount, epsilon);
        mpq_set_ui(cost, 0, 1);
        add_quotient(cost, amount, nextafter(scale, 0));
        costs_at_most(cost, epsilon);
    }
    mpq_clears(cost, number, NULL);
}

/* told >= truth, and close to it. */
static void is_upper(double told, const mpfr_t truth)
{
    if (mpfr_cmp_d(truth, told) > 0)
        fail_msg("%.17g is below %.17g", told, mpfr_get_d(truth, MPFR_RNDN));
    assert_close(told, mpfr_get_d(truth, MPFR_RNDN), 0x1p-46);
}

/* rho += times x tanh(x/2) */
static void add_pure(mpfr_t rho, const mpfr_t x, double times)
{
    mpfr_t y;
    mpfr_init2(y, BITS);
    mpfr_div_2ui(y, x, 1, MPFR_RNDN);
    mpfr_tanh(y, y, MPFR_RNDN);
    mpfr_mul(y, y, x, MPFR_RNDN);
    mpfr_mul_d(y, y, times, MPFR_RNDN);
    mpfr_add(rho, rho, y, MPFR_RNDN);
    mpfr_clear(y);
}

/* Rejects: a step of the sum that is rounded down. */
static void mwem_costs_no_less_than_its_exact_rho(void **state)
{
    (void)state;
    mpfr_t rho, records, each;
    mpfr_inits2(BITS, rho, records, each, (mpfr_ptr)NULL);
    for (int i = 0; i < 4000; i++) {
        double epsilon = some_number(-3, 2), rounds = i % 2 ? 1 : (double)some_integer(60);
        double share = i % 4 < 2 ? some_number(-9, -1) : 1 - some_number(-9, -2);
        if (i == 2) { /* what the records leave is too little here, if their part is rounded up */
            epsilon = 0.96538189865238222;
            share = 0.14753893164436246;
            rounds = 1;
        }
        if (i < 2) { /* the product of rounds rounded down is too little here */
            epsilon = i ? 0.24801338259435157 : 0.67252787463545771;
            share = i ? 0.055849786695275329 : 0.027131576088508698;
            rounds = 3;
        }
        char text[160];
        snprintf(text, sizeof text, "mwem(epsilon=%.17g, rounds=%g, records_share=%.17g)", epsilon,
                 rounds, share);
        mpfr_set_d(records, epsilon, MPFR_RNDN);
        mpfr_mul_d(records, records, share, MPFR_RNDN);
        mpfr_d_sub(each, epsilon, records, MPFR_RNDN);
        mpfr_div_d(each, each, 2 * rounds, MPFR_RNDN);
        mpfr_sqr(rho, each, MPFR_RNDN);
        mpfr_mul_d(rho, rho, rounds / 8, MPFR_RNDN);
        add_pure(rho, each, rounds);
        add_pure(rho, records, 1);
        is_upper(cost_of(text).rho, rho);
    }
    /* where the rounds are dear, the rho of a pure cost is less */
    mpfr_set_ui(rho, 0, MPFR_RNDN);
    mpfr_set_d(each, 50, MPFR_RNDN);
    add_pure(rho, each, 1);
    is_upper(cost_of("mwem(epsilon=50, rounds=1, records_share=0.01)").rho, rho);
    mpfr_clears(rho, records, each, (mpfr_ptr)NULL);
}

/* Rejects: as above; an answer of all hits together, three quarters rounded down. */
static void streams_cost_no_less_than_their_exact_rho(void **state)
{
    (void)state;
    mpfr_t rho, x;
    mpfr_inits2(BITS, rho, x, (mpfr_ptr)NULL);
    for (int i = 0; i < 3000; i++) {
        double epsilon = some_number(-5, 2), answers = some_number(-5, 3);
        double hits = i % 2 ? (double)some_integer(9) : (double)some_integer(3000);
        if (i < 2) { /* the product of hits rounded down is too little here */
            epsilon = i ? 3.4805918247108067 : 3.8475247560674593;
            hits = 3;
        }
        char text[200];
        snprintf(text, sizeof text, "multiplicative_weights(epsilon=%.17g, hits=%g)", epsilon,
                 hits);
        mpfr_set_ui(rho, 0, MPFR_RNDN);
        mpfr_set_d(x, epsilon, MPFR_RNDN);
        mpfr_sub_d(x, x, epsilon / 4, MPFR_RNDN);
        add_pure(rho, x, 1);
        mpfr_set_d(x, epsilon / 4, MPFR_RNDN);
        mpfr_div_d(x, x, hits, MPFR_RNDN);
        add_pure(rho, x, hits);
        is_upper(cost_of(text).rho, rho);
        snprintf(text, sizeof text, "sparse_vector(epsilon=%.17g, hits=%g, epsilon_answers=%.17g)",
                 epsilon, hits, answers);
        mpfr_set_ui(rho, 0, MPFR_RNDN);
        mpfr_set_d(x, epsilon, MPFR_RNDN);
        add_pure(rho, x, 1);
        mpfr_set_d(x, answers, MPFR_RNDN);
        mpfr_div_d(x, x, hits, MPFR_RNDN);
        add_pure(rho, x, hits);
        is_upper(cost_of(text).rho, rho);
    }
    mpfr_clears(rho, x, (mpfr_ptr)NULL);
}

/* Rejects: a sum of two prices, or of their rhos, that is rounded down; the rho of the sum. */
static void two_prices_cost_no_less_than_their_sum(void **state)
{
    (void)state;
    mpfr_t rho, x;
    mpfr_inits2(BITS, rho, x, (mpfr_ptr)NULL);
    for (int i = 0; i < 1000; i++) {
        double first = some_number(-6, 2), second = some_number(-6, 2);
        char text[200];
        snprintf(text, sizeof text,
                 "propose_test_release(epsilon_test=%.17g, epsilon_release=%.17g, delta=1e-6)",
                 first, second);
        brume_cost cost = cost_of(text);
        mpfr_set_ui(rho, 0, MPFR_RNDN);
        mpfr_set_d(x, first, MPFR_RNDN);
        add_pure(rho, x, 1);
        mpfr_set_d(x, second, MPFR_RNDN);
        add_pure(rho, x, 1);
        is_upper(cost.rho, rho);
        mpfr_add_d(x, x, first, MPFR_RNDN);
        is_upper(cost.epsilon, x);
        snprintf(text, sizeof text,
                 "private_sensitivity(epsilon_sensitivity=%.17g, epsilon_release=%.17g, "
                 "delta=1e-6)",
                 first, second);
        cost = cost_of(text);
        is_upper(cost.epsilon, x);
        assert_true(cost.delta_failure == 1e-6);
    }
    mpfr_clears(rho, x, (mpfr_ptr)NULL);
}

/* out = 1 - (1 - exp(-reach/scale)/2)^keys */
static void laplace_delta(mpfr_t out, double threshold, double scale,
                          const brume_histogram_rule *rule)
{
    mpfr_set_d(out, threshold, MPFR_RNDN);
    mpfr_sub_ui(out, out, rule->amount_per_key, MPFR_RNDN);
    mpfr_div_d(out, out, -scale, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    mpfr_div_si(out, out, -2, MPFR_RNDN);
    mpfr_log1p(out, out, MPFR_RNDN);
    mpfr_mul_ui(out, out, rule->keys_per_unit, MPFR_RNDN);
    mpfr_expm1(out, out, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
}

/* Rejects: a threshold for Laplace noise, or what is said of it, rounded the wrong way; noise for
 * one side of a replacement. */
static void thresholds_of_laplace_noise_keep_delta(void **state)
{
    (void)state;
    mpfr_t truth;
    mpq_t cost;
    mpfr_init2(truth, BITS);
    mpq_init(cost);
    for (int i = 0; i < 1000; i++) {
        brume_histogram_rule rule = {.noise = BRUME_HISTOGRAM_LAPLACE,
                                     .epsilon = some_number(-4, 3),
                                     .delta = some_number(-40, -2),
                                     .keys_per_unit = some_integer(9),
                                     .amount_per_key = some_integer(i % 2 ? 1 : 5000),
                                     .adjacency = i % 3 ? BRUME_ADD_REMOVE : BRUME_REPLACE};
        brume_histogram_plan plan;
        double scale, threshold;
        assert_ok(brume_histogram_threshold_real(&rule, &scale, &threshold, &error));
        laplace_delta(truth, threshold, scale, &rule);
        assert_true(mpfr_cmp_d(truth, rule.delta) <= 0);
        mpfr_mul_d(truth, truth, 1 + 0x1p-32, MPFR_RNDN);
        assert_true(mpfr_cmp_d(truth, rule.delta) >= 0);
        assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
        assert_true(plan.scale == scale);
        laplace_delta(truth, (double)plan.threshold - .5, scale, &rule);
        is_upper(plan.delta_upper, truth);
        assert_true(plan.delta_upper <= rule.delta);
        assert_true((double)plan.threshold >= threshold + .5 && /* the least such integer */
                    (double)plan.threshold < threshold + 1.5 + 1e-9);
        double changing = (double)rule.keys_per_unit * (rule.adjacency == BRUME_REPLACE ? 2 : 1);
        mpq_set_ui(cost, 0, 1);
        add_quotient(cost, changing * (double)rule.amount_per_key, scale);
        costs_at_most(cost, rule.epsilon);
    }
    mpfr_clear(truth);
    mpq_clear(cost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_spend_at_most_epsilon_in_exact_rationals),
        cmocka_unit_test(choices_and_scales_spend_at_most_epsilon),
        cmocka_unit_test(mwem_costs_no_less_than_its_exact_rho),
        cmocka_unit_test(streams_cost_no_less_than_their_exact_rho),
        cmocka_unit_test(two_prices_cost_no_less_than_their_sum),
        cmocka_unit_test(thresholds_of_laplace_noise_keep_delta),
    };
    return cmocka_run_group_tests_name("exact scales", tests, NULL, NULL);
}
