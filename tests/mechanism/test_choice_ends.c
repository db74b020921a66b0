/* Accuracies of choices and of streams against exact numbers, and the ends of what they accept. */
#include "check.h"

#include <gmp.h>
#include <mpfr.h>

#include <brume/mechanism/expression.h>
#include <brume/mechanism/selection.h>
#include <brume/mechanism/sparse_vector.h>

#include "mechanism/threshold/threshold.h"
#include "random/tape.h"

enum { BITS = 300 };

static brume_error error;
static uint64_t seed = 9;

static double some_number(int least, int most)
{
    double mantissa = 1 + (double)(brume_tape_splitmix(&seed) >> 12) * 0x1p-52;
    return ldexp(mantissa, least + (int)(brume_tape_splitmix(&seed) % (uint64_t)(most - least)));
}

/* (n-1) y/(1 + (n-1) y), y = exp(-epsilon alpha/2): P[a choice alpha or more below the best] */
static void chance(mpfr_t out, double epsilon, double n, double alpha)
{
    mpfr_t y;
    mpfr_init2(y, BITS);
    mpfr_set_d(y, epsilon, MPFR_RNDN);
    mpfr_mul_d(y, y, alpha, MPFR_RNDN);
    mpfr_div_si(y, y, -2, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_mul_d(y, y, n - 1, MPFR_RNDN);
    mpfr_add_ui(out, y, 1, MPFR_RNDN);
    mpfr_div(out, y, out, MPFR_RNDN);
    mpfr_clear(y);
}

/* Rejects: a chance rounded down, a distance rounded down. */
static void accuracies_of_choices_are_on_their_safe_side(void **state)
{
    (void)state;
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (int i = 0; i < 300; i++) {
        double epsilon = some_number(-3, 3), n = 2 + i % 50, alpha = some_number(-2, 4), beta;
        brume_expression e = {0};
        char text[120];
        snprintf(text, sizeof text, "exponential(epsilon=%.17g, candidates=%g)", epsilon, n);
        assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
        assert_ok(brume_event_beta(&e.events[0], 0, &beta, &error));
        assert_true(beta == 1); /* every choice is at least 0 below the best */
        assert_ok(brume_event_beta(&e.events[0], alpha, &beta, &error));
        chance(truth, epsilon, n, alpha);
        assert_true(mpfr_cmp_d(truth, beta) <= 0);
        assert_close(beta, mpfr_get_d(truth, MPFR_RNDN), 0x1p-50);
        beta = some_number(-20, -1);
        assert_ok(brume_event_alpha(&e.events[0], beta, &alpha, &error));
        chance(truth, epsilon, n, alpha);
        assert_true(mpfr_cmp_d(truth, beta) <= 0);
        chance(truth, epsilon, n, alpha * (1 - 0x1p-48));
        assert_true(mpfr_cmp_d(truth, beta) >= 0);
        brume_expression_free(&e);
        /* n - 1 tails add up to more than 1, which is no chance */
        snprintf(text, sizeof text, "noisy_max(epsilon=1, candidates=%g)", 100 * n);
        assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
        assert_ok(brume_event_beta(&e.events[0], .01, &beta, &error));
        assert_true(beta == 1);
        brume_expression_free(&e);
    }
    mpfr_clear(truth);
}

/* ln(1/beta) = (alpha/unit - ln 2 - 2 ln(2 queries))/3, unit = 2 D/epsilon and the room for the
 * rounding of its scales, for one hit. Rejects: a chance rounded down. */
static void chances_of_streams_are_on_their_safe_side(void **state)
{
    (void)state;
    mpfr_t x, y;
    mpfr_inits2(BITS, x, y, (mpfr_ptr)NULL);
    for (int i = 0; i < 300; i++) {
        brume_split split = {.hits = 1, .even = true};
        double epsilon = some_number(-3, 3), sensitivity = 1 + i % 9, queries = 1 + i % 77, beta;
        double alpha = sensitivity / epsilon * some_number(6, 8);
        assert_ok(
            brume_split_beta_upper(&split, epsilon, sensitivity, queries, alpha, &beta, &error));
        mpfr_set_d(x, alpha, MPFR_RNDN);
        mpfr_mul_d(x, x, epsilon, MPFR_RNDN);
        mpfr_div_d(x, x, 2 * sensitivity, MPFR_RNDN);
        mpfr_div_d(x, x, 1 + 0x1p-50, MPFR_RNDN);
        mpfr_const_log2(y, MPFR_RNDN);
        mpfr_sub(x, x, y, MPFR_RNDN);
        mpfr_set_d(y, 2 * queries, MPFR_RNDN);
        mpfr_log(y, y, MPFR_RNDN);
        mpfr_mul_2ui(y, y, 1, MPFR_RNDN);
        mpfr_sub(x, x, y, MPFR_RNDN);
        mpfr_div_si(x, x, -3, MPFR_RNDN);
        mpfr_exp(x, x, MPFR_RNDN);
        assert_true(mpfr_cmp_d(x, beta) <= 0);
        assert_close(beta, mpfr_get_d(x, MPFR_RNDN), 0x1p-50);
    }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

/* Rejects: a gap that is rounded down, or without its step for the grid. */
static void gaps_are_on_their_safe_side(void **state)
{
    (void)state;
    mpq_t truth, x;
    mpq_inits(truth, x, NULL);
    for (int i = 0; i < 300; i++) {
        brume_selection options = {
            .adjacency = BRUME_REPLACE, .epsilon = some_number(-3, 3), .sensitivity = 1};
        if (i % 2) /* so little noise that it is a part of a step */
            options.epsilon = some_number(19, 28);
        brume_decimal unit;
        size_t n = 2 + (size_t)i % 90;
        double alpha, gap, beta = some_number(-20, -1);
        char text[40];
        snprintf(text, sizeof text, "%d.%03d", 1 + i % 13, i);
        assert_ok(brume_decimal_parse(text, &unit, &error));
        assert_ok(
            brume_selection_gap_upper(BRUME_SELECT_GUMBEL, &options, &unit, n, beta, &gap, &error));
        options.sensitivity = BRUME_SELECTION_STEPS;
        brume_event event = brume_selection_event(BRUME_SELECT_GUMBEL, &options);
        event.parameter[2] = (double)n;
        assert_ok(brume_event_alpha(&event, beta, &alpha, &error));
        /* (alpha + 1) unit / 2^20 */
        mpq_set_d(truth, alpha);
        mpq_set_ui(x, 1, 1);
        mpq_add(truth, truth, x);
        mpq_set_ui(x, (unsigned long)(1000 * (1 + i % 13) + i), 1000);
        mpq_canonicalize(x);
        mpq_mul(truth, truth, x);
        mpq_div_2exp(truth, truth, 20);
        mpq_set_d(x, gap);
        assert_true(mpq_cmp(x, truth) >= 0);
        assert_close(gap, mpq_get_d(truth), 0x1p-49);
    }
    mpq_clears(truth, x, NULL);
}

/* Rejects: the card of another kind of noise, options that nobody looks at, one score refused. */
static void choices_are_events_of_their_noise(void **state)
{
    (void)state;
    static const struct {
        brume_select_noise noise;
        const char *name;
    } kinds[] = {{BRUME_SELECT_GUMBEL, "exponential"},
                 {BRUME_SELECT_EXPONENTIAL, "permute_and_flip"},
                 {BRUME_SELECT_LAPLACE, "noisy_max"}};
    const double scores[] = {1, 2, (double)NAN}; /* two are given */
    brume_bits *bits = brume_tape_open_seeded(2);
    for (int i = 0; i < 3; i++) {
        brume_selection options = {.adjacency = BRUME_REPLACE, .epsilon = 1, .sensitivity = 1};
        brume_event event = brume_selection_event(kinds[i].noise, &options);
        assert_string_equal(brume_card_by_id(event.mechanism)->name, kinds[i].name);
        size_t index = 42;
        assert_ok(
            brume_noisy_max_choose(bits, kinds[i].noise, &options, scores, 2, &index, &error));
        assert_true(index < 2);
        index = 42;
        options.adjacency = (brume_adjacency)0;
        assert_fails(
            brume_noisy_max_choose(bits, kinds[i].noise, &options, scores, 2, &index, &error),
            BRUME_EARGUMENT);
        assert_int_equal(index, 42);
    }
    brume_bits_close(bits);
    brume_signed_decimal one = {0};
    brume_decimal unit;
    double step[2] = {42, 42};
    assert_ok(brume_decimal_parse("1", &unit, &error));
    one.size = unit;
    assert_ok(brume_selection_steps(&one, 1, &unit, step, &error));
    assert_true(step[0] == 0 && step[1] == 42);
}

static brume_status try_stream(brume_sparse_vector_options options)
{
    brume_bits *bits = brume_tape_open_seeded(3);
    brume_sparse_vector *stream = NULL;
    brume_status status = brume_sparse_vector_open(&options, bits, &stream, &error);
    assert_true((status == BRUME_OK) == (stream != NULL));
    brume_sparse_vector_close(stream);
    brume_bits_close(bits);
    return status;
}

/* Rejects: open ranges where closed ones are promised. */
static void the_ends_of_streams_are_accepted(void **state)
{
    (void)state;
    const int64_t limit = INT64_C(1) << 61;
    const brume_sparse_vector_options usual = {.adjacency = BRUME_ADD_REMOVE,
                                               .sensitivity = 1,
                                               .epsilon = 700,
                                               .hits = 1,
                                               .monotone = true,
                                               .even_split = true};
    brume_sparse_vector_options options = usual;
    assert_int_equal(try_stream(options), BRUME_OK);
    options.hits = UINT64_C(1) << 31;
    assert_int_equal(try_stream(options), BRUME_OK);
    options.hits++;
    assert_int_equal(try_stream(options), BRUME_EARGUMENT);
    options = usual;
    for (int side = -1; side <= 1; side += 2) {
        options.threshold = side * limit;
        assert_int_equal(try_stream(options), BRUME_OK);
        options.threshold += side;
        assert_int_equal(try_stream(options), BRUME_EARGUMENT);
    }
    options = usual;
    options.sensitivity = UINT64_C(1) << 40;
    assert_int_equal(try_stream(options), BRUME_OK);
    options.sensitivity++;
    assert_int_equal(try_stream(options), BRUME_EARGUMENT);
    options.epsilon = 1; /* both scales are twice the sensitivity: just 2^40, and beyond it */
    options.sensitivity = UINT64_C(1) << 39;
    assert_int_equal(try_stream(options), BRUME_OK);
    options.sensitivity++;
    assert_int_equal(try_stream(options), BRUME_EOVERFLOW);
}

/* Rejects: values beyond 2^61 that come back as they are, an accuracy without its rounding. */
static void values_are_cut_and_accuracies_are_whole(void **state)
{
    (void)state;
    const double limit = 0x1p61;
    brume_sparse_vector_options options = {.adjacency = BRUME_ADD_REMOVE,
                                           .sensitivity = 1,
                                           .epsilon = 1,
                                           .hits = 40,
                                           .epsilon_answers = 1};
    brume_bits *bits = brume_tape_open_seeded(4);
    brume_sparse_vector *stream = NULL;
    bool above;
    int64_t answer = 0;
    options.threshold = -(INT64_C(1) << 61);
    assert_ok(brume_sparse_vector_open(&options, bits, &stream, &error));
    assert_ok(brume_sparse_vector_ask(stream, bits, INT64_MAX, &above, &answer, &error));
    assert_true(above && fabs((double)answer - limit) < 1e5);
    do /* half of the noise is on either side of the threshold, which is where it is cut */
        assert_ok(brume_sparse_vector_ask(stream, bits, INT64_MIN, &above, &answer, &error));
    while (!above);
    assert_true(fabs((double)answer + limit) < 1e5);
    brume_split split = {.hits = 40};
    for (uint64_t queries = 1; queries < 2000; queries = 3 * queries + 1) {
        double alpha, real, untouched = 42;
        assert_ok(brume_split_alpha_upper(&split, 1, 1, (double)queries, .05, &real, &error));
        assert_ok(brume_sparse_vector_alpha(stream, queries, .05, &alpha, &error));
        assert_true(alpha == ceil(real) + 1);
        const double bad[] = {0, 1, (double)NAN};
        for (int i = 0; i < 3; i++)
            assert_fails(brume_sparse_vector_alpha(stream, queries, bad[i], &untouched, &error),
                         BRUME_EARGUMENT);
        assert_fails(brume_sparse_vector_alpha(stream, 0, .05, &untouched, &error),
                     BRUME_EARGUMENT);
        assert_true(untouched == 42);
    }
    brume_sparse_vector_close(stream);
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracies_of_choices_are_on_their_safe_side),
        cmocka_unit_test(chances_of_streams_are_on_their_safe_side),
        cmocka_unit_test(gaps_are_on_their_safe_side),
        cmocka_unit_test(choices_are_events_of_their_noise),
        cmocka_unit_test(the_ends_of_streams_are_accepted),
        cmocka_unit_test(values_are_cut_and_accuracies_are_whole),
    };
    return cmocka_run_group_tests_name("ends of choices", tests, NULL, NULL);
}
