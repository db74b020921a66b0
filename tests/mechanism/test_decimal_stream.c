/* The stream over decimals is the integer stream on its grid, answer by answer on the same bits;
 * and where the grid is coarser, it is coarser for all. */
#include "check.h"

#include <brume/mechanism/sparse_vector.h>

#include "mechanism/threshold/decimal_stream.h"
#include "random/tape.h"

static brume_error error;

static brume_signed_decimal decimal(const char *text)
{
    brume_signed_decimal x = {0};
    assert_ok(brume_signed_decimal_parse(text, &x, &error));
    return x;
}

static brume_decimal_stream_options typed(const char *threshold, const char *sensitivity,
                                          double epsilon, uint64_t hits)
{
    return (brume_decimal_stream_options){
        .sensitivity = decimal(sensitivity).size,
        .threshold = decimal(threshold),
        .rest = {.adjacency = BRUME_ADD_REMOVE, .epsilon = epsilon, .hits = hits}};
}

/* The queries -0.5, -0.4, .. 0.4 in tenths and the steps they stand for: floor(1024 q/0.3). */
static void decimals_are_asked_as_steps_rounded_down(void **state)
{
    (void)state;
    static const int steps[] = {-1707, -1366, -1024, -683, -342, 0, 341, 682, 1024, 1365};
    brume_decimal_stream_options options = typed("0.1", "0.3", 2, 400);
    options.rest.epsilon_answers = 3;
    brume_sparse_vector_options whole = options.rest;
    whole.sensitivity = 1024;
    whole.threshold = 342; /* 341.3 rounded up */
    brume_bits *one = brume_tape_open_seeded(5), *other = brume_tape_open_seeded(5);
    brume_decimal_stream *stream = NULL;
    brume_sparse_vector *expected = NULL;
    assert_ok(brume_decimal_stream_open(&options, one, &stream, &error));
    assert_ok(brume_sparse_vector_open(&whole, other, &expected, &error));
    int hits = 0, misses = 0;
    for (int run = 0; run < 500; run++) {
        char text[16];
        snprintf(text, sizeof text, "%de-1", run % 10 - 5);
        brume_signed_decimal query = decimal(text);
        bool above = false, expected_above = true;
        double answer = NAN;
        int64_t expected_answer = 0;
        if (brume_sparse_vector_left(expected) == 0)
            break;
        assert_ok(brume_decimal_stream_ask(stream, one, &query, &above, &answer, &error));
        assert_ok(brume_sparse_vector_ask(expected, other, steps[run % 10], &expected_above,
                                          &expected_answer, &error));
        assert_true(above == expected_above);
        assert_true(above ? answer == (double)expected_answer * (0.3 / 1024) : isnan(answer));
        assert_true(brume_decimal_stream_left(stream) == brume_sparse_vector_left(expected));
        hits += above;
        misses += !above;
    }
    assert_true(hits > 20 && misses > 20); /* both answers were compared */
    brume_decimal_stream_close(stream);
    brume_sparse_vector_close(expected);
    brume_bits_close(one);
    brume_bits_close(other);
}

static void a_stream_halts_and_refuses_more(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(6);
    brume_decimal_stream_options options = typed("-1e30", "1e-3", 1, 2);
    brume_decimal_stream *stream = NULL;
    brume_signed_decimal query = decimal("1e30");
    bool above = false;
    double answer = NAN;
    assert_ok(brume_decimal_stream_open(&options, bits, &stream, &error));
    for (int i = 0; i < 2; i++) {
        assert_ok(brume_decimal_stream_ask(stream, bits, &query, &above, &answer, &error));
        assert_true(above && isnan(answer));
    }
    assert_fails(brume_decimal_stream_ask(stream, bits, &query, &above, &answer, &error),
                 BRUME_EHALTED);
    brume_decimal_stream_close(stream);
    brume_bits_close(bits);
}

static void small_prices_have_coarse_grids_and_tiny_ones_none(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(7);
    static const double fine[] = {1e-6, 1e-9, 1e-11};
    for (int i = 0; i < 3; i++) {
        brume_decimal_stream_options options = typed("0", "1", fine[i], 1);
        brume_decimal_stream *stream = NULL;
        assert_ok(brume_decimal_stream_open(&options, bits, &stream, &error));
        brume_decimal_stream_close(stream);
    }
    brume_decimal_stream_options options = typed("0", "1", 1e-13, 1);
    brume_decimal_stream *stream = NULL;
    assert_fails(brume_decimal_stream_open(&options, bits, &stream, &error), BRUME_EOVERFLOW);
    options = typed("0", "0", 1, 1);
    assert_fails(brume_decimal_stream_open(&options, bits, &stream, &error), BRUME_EARGUMENT);
    options = typed("0", "1", NAN, 1);
    assert_fails(brume_decimal_stream_open(&options, bits, &stream, &error), BRUME_EARGUMENT);
    assert_null(stream);
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_asked_as_steps_rounded_down),
        cmocka_unit_test(a_stream_halts_and_refuses_more),
        cmocka_unit_test(small_prices_have_coarse_grids_and_tiny_ones_none),
    };
    return cmocka_run_group_tests_name("decimal stream", tests, NULL, NULL);
}
