/* The auditor: exact bounds of proportions, sound mechanisms acquitted, broken ones caught. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/account/account.h>
#include <brume/noise/laplace.h>
#include <brume/noise/primitive.h>

#include "audit/proportion.h"
#include "audit/subject.h"
#include "chance.h"
#include "random/tape.h"

/* --- proportions ------------------------------------------------------------------ */

static double binomial(int n, int k, double p)
{
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) * pow(p, k) * pow(1 - p, n - k);
}

static void proportions_have_the_bounds_of_the_textbook(void **state)
{
    (void)state;
    assert_close(brume_proportion_lower(10, 3, .025), 0.06673951117773447, 1e-6);
    assert_close(brume_proportion_upper(10, 3, .025), 0.6524528500599973, 1e-6);
    assert_close(brume_proportion_upper(20, 0, .025), 1 - pow(.025, 1. / 20), 1e-6);
    assert_holds(brume_proportion_lower(20, 0, .025) == 0);
    assert_close(brume_proportion_lower(20, 20, .025), pow(.025, 1. / 20), 1e-6);
    assert_holds(brume_proportion_upper(20, 20, .025) == 1);
    /* conservative by the last digits only, also where n is large */
    assert_holds(brume_proportion_lower(10, 3, .025) <= 0.0667395111777345);
    assert_close(brume_proportion_lower(1000000, 500000, 1e-9), .5 - 5.9978 * .0005, 1e-5);
}

/* References: the sum with 40 digits (mpmath). In doubles lgamma loses more than 1e-7 here. */
static void tails_are_upper_bounds_also_of_the_most_draws(void **state)
{
    (void)state;
    static const struct {
        uint64_t k;
        double p, tail;
    } cases[] = {{67127977, .5, 0.00048435925457871343},
                 {67128864, .5, 0.00027762276108860076},
                 {67129977, .49999995, 0.00013323752942831266},
                 {67136864, .5, 6.7025583325708078e-7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double found = brume_binomial_tail_upper((uint64_t)1 << 27, cases[i].p, cases[i].k);
        assert_holds(found >= cases[i].tail);
        assert_close(found, cases[i].tail, 1e-4);
    }
}

/* P[the bound is wrong] over all outcomes of n trials, for the worst p of a grid. */
static double worst_miss(bool upper, double widen)
{
    enum { N = 25 };
    double worst = 0, alarm = .03;
    for (int step = 1; step < 400; step++) {
        double p = step / 400., miss = 0;
        for (int k = 0; k <= N; k++) {
            double bound = upper ? brume_proportion_upper(N, (uint64_t)k, alarm)
                                 : brume_proportion_lower(N, (uint64_t)k, alarm);
            bound = k / (double)N + widen * (bound - k / (double)N);
            if (upper ? bound < p : bound > p)
                miss += binomial(N, k, p);
        }
        worst = fmax(worst, miss);
    }
    return worst;
}

static void proportions_miss_no_more_often_than_stated(void **state)
{
    (void)state;
    for (int upper = 0; upper < 2; upper++) {
        assert_holds(worst_miss(upper, 1) <= .03);
        assert_holds(worst_miss(upper, 1) > .02);  /* and are not far too wide */
        assert_holds(worst_miss(upper, .9) > .03); /* the mutant: a tenth narrower */
    }
}

static double difference(const void *context, double p, double q)
{
    (void)context;
    return p - q;
}

static double quotient(const void *context, double p, double q)
{
    (void)context;
    return log(p / q);
}

/* P[the bound of two proportions is wrong] over all outcomes of n trials of each, for the worst of
 * a grid of truths. */
static double worst_miss_of_two(brume_of_two *of, double alarm)
{
    enum { N = 12, GRID = 24 };
    static double bounds[N + 1][N + 1];
    double worst = 0;
    for (uint64_t i = 0; i <= N; i++)
        for (uint64_t j = 0; j <= N; j++)
            bounds[i][j] = brume_two_proportions_lower(N, i, j, alarm, of, NULL);
    for (int step = 1; step < GRID * GRID; step++) {
        double p = (step / GRID + .5) / GRID, q = (step % GRID + .5) / GRID, miss = 0;
        for (int i = 0; i <= N; i++)
            for (int j = 0; j <= N; j++)
                if (bounds[i][j] > of(NULL, p, q))
                    miss += binomial(N, i, p) * binomial(N, j, q);
        worst = fmax(worst, miss);
    }
    return worst;
}

/* What two bounds of one proportion each give. */
static double by_halves(uint64_t n, uint64_t hits_p, uint64_t hits_q, double alarm)
{
    return quotient(NULL, brume_proportion_lower(n, hits_p, alarm / 2),
                    brume_proportion_upper(n, hits_q, alarm / 2));
}

static void two_proportions_miss_no_more_often_than_stated(void **state)
{
    (void)state;
    brume_of_two *const both[] = {difference, quotient};
    for (int i = 0; i < 2; i++) {
        assert_holds(worst_miss_of_two(both[i], .05) <= .05);
        assert_holds(worst_miss_of_two(both[i], .05) > .005); /* and are not far too low */
        assert_holds(worst_miss_of_two(both[i], .3) > .05);   /* the mutant: another alarm */
    }
    /* and tell more than each proportion by itself */
    double together = brume_two_proportions_lower(10000, 2500, 920, .001, quotient, NULL);
    assert_holds(together > by_halves(10000, 2500, 920, .001) + .03);
    assert_holds(together < log(2500. / 920));
    assert_holds(brume_two_proportions_lower(10000, 300, 0, .001, quotient, NULL) > 2.9);
    assert_holds(!(brume_two_proportions_lower(100, 0, 50, .001, quotient, NULL) > -INFINITY));
}

/* --- shipped mechanisms ----------------------------------------------------------- */

static const struct {
    const char *expression;
    double delta, found; /* found: the share of epsilon that the draws must find at least */
} shipped[] = {
    {"randomized_response(epsilon=1)", 0, .85},
    {"randomized_response(epsilon=1, k=5)", 0, .8},
    {"discrete_laplace(scale=2)", 0, .7},
    {"laplace(scale=1)", 0, .8},
    {"discrete_laplace(scale=4, sensitivity=3)*2", 0, .1},
    {"gaussian(sigma=1)", .01, .5},
    {"discrete_gaussian(sigma=2)*4", .01, .5},
    {"exponential(epsilon=2)", 0, .6},
    {"exponential(epsilon=2, monotone=true)", 0, .6},
    {"noisy_max(epsilon=2)", 0, .5},
    {"permute_and_flip(epsilon=2)", 0, .6},
    {"above_threshold(epsilon=6)", 0, .1},
    {"sparse_vector(epsilon=8, hits=2)", 0, .1},
    {"stable_release(epsilon=2, delta=0.001)", .001, .1},
    {"stable_histogram(epsilon=1, delta=0.001)", .001, .7},
    {"propose_test_release(epsilon_test=2, epsilon_release=2, delta=0.001)", .001, .1},
    {"smooth_laplace(epsilon=2, delta=0.001)", .001, .1},
    {"smooth_cauchy(epsilon=3)", 0, .1},
    {"smooth_student(epsilon=4, degrees=3)", 0, .1},
};
enum { SHIPPED = sizeof shipped / sizeof *shipped };

/* 1, or 20 for the audit at length, with draws that are not fixed. */
static size_t times = 1;

static brume_bits *open_bits(uint64_t seed)
{
    brume_error error = {0};
    brume_bits *bits = NULL;
    if (times == 1)
        return brume_tape_open_seeded(seed);
    assert_ok(brume_bits_open(&bits, &error));
    return bits;
}

static double claim_of(const brume_event *event, double delta)
{
    brume_error error = {0};
    brume_term *terms = NULL;
    brume_bound bound;
    assert_ok(brume_account_terms(event, 1, 1, BRUME_METHOD_AUTO, &terms, &error));
    assert_ok(brume_account_epsilon(BRUME_METHOD_AUTO, terms, 1, delta, &bound, &error));
    free(terms);
    return bound.upper;
}

static brume_event read_event(const char *text)
{
    brume_error error = {0};
    brume_expression expression = {0};
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &expression, &error));
    brume_event event = expression.events[0];
    brume_expression_free(&expression);
    return event;
}

static void shipped_mechanisms_are_acquitted_and_seen_to_lose_something(void **state)
{
    (void)state;
    double confidence = 1 - false_alarm_share(false_alarm_audits) / SHIPPED;
    for (size_t i = 0; i < SHIPPED; i++) {
        brume_error error = {0};
        brume_event event = read_event(shipped[i].expression);
        brume_subject *subject = NULL;
        brume_audit_result result;
        assert_ok(brume_subject_open(&event, 0, &subject, &error));
        bool slow = brume_subject_samples(subject) < 200000;
        brume_audit_options options = {.samples = times * (slow ? 4000 : 100000),
                                       .confidence = confidence,
                                       .delta = shipped[i].delta};
        brume_bits *bits = open_bits(100 + i);
        double claimed = claim_of(&event, shipped[i].delta);
        assert_ok(
            brume_audit_epsilon(brume_subject_draw, subject, &options, bits, &result, &error));
        if (!(result.epsilon_lower <= claimed))
            fail_msg("%s: %g found, %g claimed", shipped[i].expression, result.epsilon_lower,
                     claimed);
        if (!(result.epsilon_lower >= shipped[i].found * claimed))
            fail_msg("%s: only %g of %g found", shipped[i].expression, result.epsilon_lower,
                     claimed);
        brume_bits_close(bits);
        brume_subject_close(subject);
    }
}

/* --- broken mechanisms ------------------------------------------------------------ */

/* Each claims epsilon 1. */
static brume_status half_the_noise(const void *context, bool second, brume_bits *bits, int64_t *out,
                                   size_t n, brume_error *error)
{
    (void)context;
    for (size_t i = 0; i < n; i++)
        out[i] = second;
    return brume_discrete_laplace_add(bits, .5, out, out, n, error);
}

/* Noise that is always even: the last bit shows. */
static brume_status even_noise(const void *context, bool second, brume_bits *bits, int64_t *out,
                               size_t n, brume_error *error)
{
    (void)context;
    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    brume_status status = brume_discrete_laplace_add(bits, 1, out, out, n, error);
    for (size_t i = 0; i < n; i++)
        out[i] = 2 * out[i] + second;
    return status;
}

/* A sparse vector that forgets the noise of its threshold and does not halt: eight answers, each
 * with the noise of the whole price. */
static brume_status never_halts(const void *context, bool second, brume_bits *bits, int64_t *out,
                                size_t n, brume_error *error)
{
    (void)context;
    int64_t *values = calloc(n, sizeof *values);
    assert_non_null(values);
    memset(out, 0, n * sizeof *out);
    brume_status status = BRUME_OK;
    for (int query = 0; status == BRUME_OK && query < 8; query++) {
        for (size_t i = 0; i < n; i++)
            values[i] = second;
        status = brume_discrete_laplace_add(bits, 1, values, values, n, error);
        for (size_t i = 0; i < n; i++)
            out[i] += values[i] >= 1;
    }
    free(values);
    return status;
}

/* The truth itself, one time in a hundred. */
static brume_status sometimes_the_truth(const void *context, bool second, brume_bits *bits,
                                        int64_t *out, size_t n, brume_error *error)
{
    (void)context;
    for (size_t i = 0; i < n; i++)
        out[i] = second;
    brume_status status = brume_discrete_laplace_add(bits, 1, out, out, n, error);
    for (size_t i = 0; status == BRUME_OK && i < n; i++) {
        bool leak = false;
        status = brume_sample_bernoulli(bits, 1, 100, &leak, error);
        if (leak)
            out[i] = second ? 1000 : -1000;
    }
    return status;
}

static void broken_mechanisms_are_caught_with_a_witness(void **state)
{
    (void)state;
    brume_audit_draw *const broken[] = {half_the_noise, even_noise, never_halts,
                                        sometimes_the_truth};
    for (size_t i = 0; i < 4; i++) {
        brume_error error = {0};
        brume_audit_result result;
        brume_audit_options options = {.samples = 40000, .confidence = 1 - 1e-9, .delta = 0};
        brume_bits *bits = brume_tape_open_seeded(i);
        assert_ok(brume_audit_epsilon(broken[i], NULL, &options, bits, &result, &error));
        assert_holds(result.epsilon_lower > 1);
        assert_int_equal(result.draws, 30000);
        bool second = result.event.of.second;
        assert_true(result.event.hits[second] > result.event.hits[!second]);
        brume_bits_close(bits);
    }
}

/* Draws that just do to show a leak: the event that promises most for epsilon is another one, and
 * who reads epsilon alone sees the violation all the same. */
static void a_violation_of_delta_is_one_of_epsilon(void **state)
{
    (void)state;
    size_t violations = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        brume_error error = {0};
        brume_audit_result result;
        brume_audit_options options = {
            .samples = 30000, .confidence = .999, .delta = .008, .epsilon = 1};
        brume_bits *bits = brume_tape_open_seeded(seed);
        assert_ok(brume_audit_epsilon(sometimes_the_truth, NULL, &options, bits, &result, &error));
        brume_bits_close(bits);
        if (!(result.delta_lower > options.delta))
            continue;
        violations++;
        if (!(result.epsilon_lower > options.epsilon))
            fail_msg("delta %g of %g, epsilon %g of %g", result.delta_lower, options.delta,
                     result.epsilon_lower, options.epsilon);
        assert_true(result.event.hits[result.event.of.second] >
                    result.event.hits[!result.event.of.second]);
    }
    assert_true(violations >= 3);
}

/* A delta that covers a leak of one in a hundred makes it sound again. */
static void a_leak_within_delta_is_no_violation(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_audit_result result;
    brume_audit_options options = {.samples = 40000, .confidence = 1 - 1e-9, .delta = .02};
    brume_bits *bits = brume_tape_open_seeded(4);
    assert_ok(brume_audit_epsilon(sometimes_the_truth, NULL, &options, bits, &result, &error));
    assert_holds(result.epsilon_lower <= 1);
    brume_bits_close(bits);
}

static void bad_options_and_mechanisms_are_refused(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_audit_result result;
    brume_bits *bits = brume_tape_open_seeded(4);
    const brume_audit_options bad[] = {{.samples = 10, .confidence = .9},
                                       {.samples = 1000, .confidence = 1},
                                       {.samples = 1000, .confidence = 0},
                                       {.samples = 1000, .confidence = NAN},
                                       {.samples = 1000, .confidence = .9, .delta = 1},
                                       {.samples = 1000, .confidence = .9, .delta = NAN},
                                       {.samples = 1000, .confidence = .9, .epsilon = NAN}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(brume_audit_epsilon(half_the_noise, NULL, &bad[i], bits, &result, &error),
                     BRUME_EARGUMENT);
    brume_bits_close(bits);
    const char *const refused[] = {"pure(epsilon=1)", "zcdp(rho=1)",
                                   "poisson(rate=0.1, gaussian(sigma=1))",
                                   "randomized_response(epsilon=1, k=1000)"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        brume_event event = read_event(refused[i]);
        brume_subject *subject = NULL;
        assert_fails(brume_subject_open(&event, 0, &subject, &error), BRUME_EUNSUPPORTED);
        assert_null(subject);
    }
    brume_event event = read_event("laplace(scale=1)*20000");
    brume_subject *subject = NULL;
    assert_fails(brume_subject_open(&event, 0, &subject, &error), BRUME_EARGUMENT);
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "--long") == 0) {
        const struct CMUnitTest long_tests[] = {
            cmocka_unit_test(shipped_mechanisms_are_acquitted_and_seen_to_lose_something),
        };
        times = 20;
        return cmocka_run_group_tests_name("audit at length", long_tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proportions_have_the_bounds_of_the_textbook),
        cmocka_unit_test(tails_are_upper_bounds_also_of_the_most_draws),
        cmocka_unit_test(proportions_miss_no_more_often_than_stated),
        cmocka_unit_test(two_proportions_miss_no_more_often_than_stated),
        cmocka_unit_test(shipped_mechanisms_are_acquitted_and_seen_to_lose_something),
        cmocka_unit_test(broken_mechanisms_are_caught_with_a_witness),
        cmocka_unit_test(a_violation_of_delta_is_one_of_epsilon),
        cmocka_unit_test(a_leak_within_delta_is_no_violation),
        cmocka_unit_test(bad_options_and_mechanisms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
