/* The exact auditor: profiles by hand, claims that are a little too small found, every card that
 * states a law compared under both adjacencies. Nothing is drawn. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/account/account.h>

#include "audit/exact.h"
#include "base/error.h"

static brume_error error;

static brume_event read_event(const char *text, brume_adjacency adjacency)
{
    brume_expression expression = {0};
    assert_ok(brume_expression_parse(text, adjacency, &expression, &error));
    brume_event event = expression.events[0];
    brume_expression_free(&expression);
    return event;
}

static brume_exact_law *law_of(const brume_event *event, size_t pair, brume_subject **subject)
{
    brume_exact_law *law = NULL;
    assert_ok(brume_subject_open(event, pair, subject, &error));
    assert_ok(brume_exact_open(*subject, NULL, &law, &error));
    return law;
}

/* ---- profiles by hand ---- */

static void contains(brume_interval found, double truth, double width)
{
    assert_holds(found.lower <= truth && found.upper >= truth);
    assert_holds(found.upper - found.lower <= width);
}

static void profiles_are_those_of_the_formulas(void **state)
{
    (void)state;
    brume_subject *subject = NULL;
    brume_event event = read_event("randomized_response(epsilon=1.25)", BRUME_ADD_REMOVE);
    brume_exact_law *law = law_of(&event, 0, &subject);
    for (int reversed = 0; reversed < 2; reversed++) {
        for (double epsilon = 0; epsilon < 2; epsilon += .125)
            contains(brume_exact_delta(law, reversed, epsilon),
                     fmax((exp(1.25) - exp(epsilon)) / (1 + exp(1.25)), 0), 1e-12);
        contains(brume_exact_epsilon(law, reversed, 0), 1.25, 1e-12);
        /* delta = (e^1.25 - e^x)/(1 + e^1.25) */
        contains(brume_exact_epsilon(law, reversed, .1), log(exp(1.25) - .1 * (1 + exp(1.25))),
                 1e-9);
    }
    brume_exact_close(law);
    brume_subject_close(subject);
    event = read_event("discrete_gaussian(sigma=1.5)", BRUME_REPLACE);
    law = law_of(&event, 0, &subject);
    double delta = 0, total = 0;
    for (int k = -60; k <= 60; k++)
        total += exp(-k * k / 4.5);
    for (int k = -60; k <= 60; k++)
        delta += fmax(exp(-k * k / 4.5) - exp(.5 - (k - 1) * (k - 1) / 4.5), 0) / total;
    contains(brume_exact_delta(law, false, .5), delta, 1e-11);
    brume_exact_close(law);
    brume_subject_close(subject);
}

/* ---- verdicts ---- */

/* delta of a pure claim of epsilon 1, times a factor. */
static brume_status pure_claim(const void *context, double epsilon, double *delta,
                               brume_error *unused)
{
    (void)unused;
    const double *factor = context;
    *delta = *factor * fmax((exp(1) - exp(epsilon)) / (1 + exp(1)), 0) * (1 + 1e-14);
    return BRUME_OK;
}

static brume_exact_verdict verdict_of(const char *text, double factor, brume_exact_point *worst)
{
    brume_event event = read_event(text, BRUME_ADD_REMOVE);
    brume_subject *subject = NULL;
    brume_exact_law *law = law_of(&event, 0, &subject);
    brume_exact_side sides[] = {{law, false}, {law, true}};
    brume_exact_result result;
    assert_ok(brume_exact_compare(sides, 2, pure_claim, &factor, 1, NULL, &result, &error));
    *worst = result.points[result.worst];
    brume_exact_close(law);
    brume_subject_close(subject);
    return result.verdict;
}

static void verdicts_are_violation_tight_or_loose(void **state)
{
    (void)state;
    brume_exact_point worst;
    const char *const text = "randomized_response(epsilon=1)";
    assert_int_equal(verdict_of(text, 1, &worst), BRUME_EXACT_TIGHT);
    assert_int_equal(verdict_of(text, 1 - 1e-7, &worst), BRUME_EXACT_VIOLATION);
    assert_holds(worst.delta.lower > worst.claimed);
    assert_int_equal(verdict_of(text, 1.01, &worst), BRUME_EXACT_LOOSE);
    assert_close(worst.claimed - worst.delta.lower, .01 * .46211715726000975, 1e-9);
    assert_int_equal(verdict_of("randomized_response(epsilon=1.0001)", 1, &worst),
                     BRUME_EXACT_VIOLATION);
    assert_int_equal(verdict_of("discrete_laplace(scale=0.99)", 1, &worst), BRUME_EXACT_VIOLATION);
}

/* ---- every card ---- */

static brume_status accounted(const void *context, double epsilon, double *delta,
                              brume_error *at_fault)
{
    brume_bound bound;
    BRUME_TRY(brume_account_delta(BRUME_METHOD_AUTO, context, 1, epsilon, &bound, at_fault));
    *delta = bound.upper;
    return BRUME_OK;
}

/* What the accountant says of `claimed`, of the law of `event` on all of its pairs. */
static brume_exact_verdict compare(const brume_event *event, const brume_event *claimed,
                                   double delta, double *epsilon)
{
    enum { MOST = 8 };
    brume_subject *subjects[MOST];
    brume_exact_law *laws[MOST];
    brume_exact_side sides[2 * MOST];
    size_t count = 0;
    *epsilon = 0;
    for (size_t pair = 0; pair < brume_subject_pairs(event); pair++) {
        assert_ok(brume_subject_open(event, pair, &subjects[count], &error));
        if (!brume_subject_has_law(subjects[count])) {
            brume_subject_close(subjects[count]);
            continue;
        }
        assert_ok(brume_exact_open(subjects[count], NULL, &laws[count], &error));
        for (int reversed = 0; reversed < 2; reversed++) {
            sides[2 * count + (size_t)reversed] = (brume_exact_side){laws[count], reversed != 0};
            *epsilon = fmax(*epsilon, brume_exact_epsilon(laws[count], reversed != 0, delta).lower);
        }
        count++;
    }
    brume_term *terms = NULL;
    brume_exact_result result;
    assert_true(count > 0);
    assert_ok(brume_account_terms(claimed, 1, 1, BRUME_METHOD_AUTO, &terms, &error));
    brume_bound certain;
    assert_ok(brume_account_epsilon(BRUME_METHOD_AUTO, terms, 1, delta, &certain, &error));
    assert_ok(brume_exact_compare(sides, 2 * count, accounted, terms,
                                  certain.infinite ? INFINITY : certain.upper, NULL, &result,
                                  &error));
    free(terms);
    for (size_t i = 0; i < count; i++) {
        brume_exact_close(laws[i]);
        brume_subject_close(subjects[i]);
    }
    return result.verdict;
}

/* A claim that is somewhat too small, and the share of epsilon that the pairs reach. */
static const struct {
    const char *text, *understated;
    double delta, epsilon, share;
} cases[] = {
    {"randomized_response(epsilon=1, k=4)", "randomized_response(epsilon=0.99, k=4)", 0, 1, .999},
    {"discrete_laplace(scale=2)", "discrete_laplace(scale=2.01)", 0, .5, .999},
    {"laplace(scale=0.25)", "laplace(scale=0.26)", 0, 4, .999},
    {"discrete_gaussian(sigma=2)", "discrete_gaussian(sigma=2.01)", .01, .9, .9},
    {"exponential(epsilon=1)", "exponential(epsilon=0.9)", 0, 1, .99},
    {"noisy_max(epsilon=1)", "noisy_max(epsilon=0.9)", 0, 1, .95},
    {"permute_and_flip(epsilon=1)", "permute_and_flip(epsilon=0.9)", 0, 1, .999},
    {"above_threshold(epsilon=1)", "above_threshold(epsilon=0.9)", 0, 1, .98},
    {"above_threshold(epsilon=1, monotone=true)", "above_threshold(epsilon=0.9)", 0, 1, .98},
    {"sparse_vector(epsilon=2, hits=1)", "sparse_vector(epsilon=1.5, hits=1)", 0, 2, .85},
    {"stable_release(epsilon=1, delta=0.001)", "stable_release(epsilon=0.9, delta=0.001)", .001, 1,
     .99},
    {"stable_release(epsilon=1, delta=0.001)", "stable_release(epsilon=1, delta=0.0005)", .001, 1,
     .99},
    {"stable_histogram(epsilon=1, delta=0.001)", "stable_histogram(epsilon=0.9, delta=0.001)", .001,
     1, .99},
    {"stable_histogram(epsilon=1, delta=0.001)", "stable_histogram(epsilon=1, delta=0.0005)", .001,
     1, .99},
    {"propose_test_release(epsilon_test=1, epsilon_release=1, delta=0.001)",
     "propose_test_release(epsilon_test=0.9, epsilon_release=1, delta=0.001)", .001, 2, .99},
    {"private_sensitivity(epsilon_sensitivity=1, epsilon_release=1, delta=0.001)",
     "private_sensitivity(epsilon_sensitivity=1, epsilon_release=0.4, delta=0.001)", .001, 2, .6},
};

static void cards_keep_their_promise_and_smaller_ones_are_not_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int replace = 0; replace < 2; replace++) {
            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
            brume_event event = read_event(cases[i].text, adjacency);
            brume_event smaller = read_event(cases[i].understated, adjacency);
            double epsilon;
            if (compare(&event, &event, cases[i].delta, &epsilon) == BRUME_EXACT_VIOLATION)
                fail_msg("%s: the law exceeds the claim", cases[i].text);
            if (!(epsilon >= cases[i].share * cases[i].epsilon))
                fail_msg("%s: the pairs reach only %g", cases[i].text, epsilon);
            if (compare(&event, &smaller, cases[i].delta, &epsilon) != BRUME_EXACT_VIOLATION)
                fail_msg("%s: %s is not found to be too small", cases[i].text,
                         cases[i].understated);
        }
}

static void laws_that_are_unknown_or_too_large_are_refused(void **state)
{
    (void)state;
    const char *const refused[] = {"smooth_cauchy(epsilon=1)", "laplace(scale=1)*3",
                                   "discrete_laplace(scale=1000000)",
                                   "sparse_vector(epsilon=1, hits=1, epsilon_answers=1)"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        brume_event event = read_event(refused[i], BRUME_ADD_REMOVE);
        brume_subject *subject = NULL;
        brume_exact_law *law = NULL;
        assert_ok(brume_subject_open(&event, 0, &subject, &error));
        assert_fails(brume_exact_open(subject, NULL, &law, &error), BRUME_EUNSUPPORTED);
        assert_null(law);
        brume_subject_close(subject);
    }
}

/* ---- stopping ---- */

static const char *after_some(void *left)
{
    return --*(int *)left < 0 ? "enough" : NULL;
}

static void audits_end_when_they_are_asked_to(void **state)
{
    (void)state;
    brume_event event = read_event("discrete_laplace(scale=20)", BRUME_ADD_REMOVE);
    brume_subject *subject = NULL;
    brume_exact_law *law = NULL;
    assert_ok(brume_subject_open(&event, 0, &subject, &error));
    int left = 0, asked = 1 << 20;
    brume_audit_options options = {.stopped = after_some, .stopped_context = &left};
    assert_fails(brume_exact_open(subject, &options, &law, &error), BRUME_ECANCELLED);
    assert_string_equal(error.message, "enough; nothing was spent");
    assert_null(law);
    options.stopped_context = &asked;
    assert_ok(brume_exact_open(subject, &options, &law, &error));
    assert_true(asked < (1 << 20) - 2); /* and not once at the start alone */
    brume_exact_side sides[] = {{law, false}, {law, true}};
    brume_exact_result result = {.count = 77};
    double factor = 1;
    left = 1;
    options.stopped_context = &left;
    assert_fails(brume_exact_compare(sides, 2, pure_claim, &factor, 1, &options, &result, &error),
                 BRUME_ECANCELLED);
    assert_int_equal(result.count, 77);
    brume_exact_close(law);
    brume_subject_close(subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_are_those_of_the_formulas),
        cmocka_unit_test(verdicts_are_violation_tight_or_loose),
        cmocka_unit_test(cards_keep_their_promise_and_smaller_ones_are_not_kept),
        cmocka_unit_test(laws_that_are_unknown_or_too_large_are_refused),
        cmocka_unit_test(audits_end_when_they_are_asked_to),
    };
    return cmocka_run_group_tests_name("exact audits", tests, NULL, NULL);
}
