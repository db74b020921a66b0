/* The public primitives at full word size: decisions at the very border words, arguments. */
#include "check.h"

#include <fenv.h>

#include <brume/noise/primitive.h>

#include "random/tape.h"
#include "sample/kernel.h"

/* Draw with exactly these words; -1 if they do not decide. */
static int toss(bool (*draw)(brume_bits *tape, bool *out, const void *context), const void *context,
                const uint64_t *main_words, size_t main_count, const uint64_t *more_words,
                size_t more_count)
{
    bool out = false;
    brume_bits *tape = brume_tape_open(main_words, main_count, more_words, more_count);
    bool read = draw(tape, &out, context);
    brume_bits_close(tape);
    return read ? out : -1;
}

static bool draw_ratio(brume_bits *tape, bool *out, const void *context)
{
    const uint64_t *ratio = context;
    return brume_sample_bernoulli(tape, ratio[0], ratio[1], out, NULL) == BRUME_OK;
}

static bool draw_real(brume_bits *tape, bool *out, const void *context)
{
    return brume_sample_bernoulli_exp_real(tape, *(const double *)context, out, NULL) == BRUME_OK;
}

static bool draw_exp(brume_bits *tape, bool *out, const void *context)
{
    const uint64_t *ratio = context;
    return brume_sample_bernoulli_exp(tape, ratio[0], ratio[1], out, NULL) == BRUME_OK;
}

/* exp(-x), x <= 1: the first of the coins x, x/2, x/3, ... that fails is an odd one. Larger x have
 * a coin of exp(-1) for each whole part before it. */
static void an_exponential_of_a_ratio_is_made_of_coins(void **state)
{
    (void)state;
    const uint64_t half[2] = {1, 2}, more[2] = {3, 2}, half_word = UINT64_C(1) << 63;
    const uint64_t first[] = {half_word}, second[] = {0, half_word}, third[] = {0, 0, half_word};
    assert_int_equal(toss(draw_exp, half, first, 1, NULL, 0), 1);
    assert_int_equal(toss(draw_exp, half, second, 2, NULL, 0), 0);
    assert_int_equal(toss(draw_exp, half, third, 3, NULL, 0), 1);
    assert_int_equal(toss(draw_exp, half, third, 2, NULL, 0), -1);
    const uint64_t whole_fails[] = {half_word, half_word};
    const uint64_t both[] = {half_word, 0, half_word, half_word};
    const uint64_t rest_fails[] = {half_word, 0, half_word, 0, half_word};
    assert_int_equal(toss(draw_exp, more, whole_fails, 2, NULL, 0), 0); /* 1 is never below 1 */
    assert_int_equal(toss(draw_exp, more, both, 4, NULL, 0), 1);
    assert_int_equal(toss(draw_exp, more, both, 3, NULL, 0), -1);
    assert_int_equal(toss(draw_exp, more, rest_fails, 5, NULL, 0), 0);
}

static void a_ratio_is_compared_digit_by_digit(void **state)
{
    (void)state;
    const uint64_t third[2] = {1, 3}, half[2] = {1, 2}, all[2] = {9, 9}, none[2] = {0, 9};
    const uint64_t digit = 0x5555555555555555u; /* of 1/3, for ever */
    uint64_t words[3] = {digit - 1, 0, 0};
    assert_int_equal(toss(draw_ratio, third, words, 1, NULL, 0), 1);
    words[0] = digit + 1;
    assert_int_equal(toss(draw_ratio, third, words, 1, NULL, 0), 0);
    words[0] = digit;
    assert_int_equal(toss(draw_ratio, third, words, 1, NULL, 0), -1);
    words[1] = digit - 1;
    assert_int_equal(toss(draw_ratio, third, words, 2, NULL, 0), 1);
    words[1] = digit;
    words[2] = digit + 1;
    assert_int_equal(toss(draw_ratio, third, words, 3, NULL, 0), 0);
    words[0] = (UINT64_C(1) << 63) - 1;
    assert_int_equal(toss(draw_ratio, half, words, 1, NULL, 0), 1);
    words[0] = UINT64_C(1) << 63;
    assert_int_equal(toss(draw_ratio, half, words, 1, NULL, 0), 0);
    words[0] = UINT64_MAX;
    assert_int_equal(toss(draw_ratio, all, words, 1, NULL, 0), 1);
    words[0] = 0;
    assert_int_equal(toss(draw_ratio, none, words, 1, NULL, 0), 0);
}

/* exp(-ln 2 rounded) = 1/2 + 2^-55.4...: just above 1/2, so the word 2^63 needs more bits. */
static void a_real_exponential_is_decided_by_more_bits_near_its_value(void **state)
{
    (void)state;
    const double x =
        BRUME_LN2; /* ln 2 - 2.32e-17; exp(-x) = 1/2 + 1.16e-17 = 1/2 + 2^-64 * 213.9 */
    const uint64_t more = 0;
    uint64_t word = UINT64_C(1) << 63;
    assert_int_equal(toss(draw_real, &x, &word, 1, &more, 0), 1);
    word += 213;
    assert_int_equal(toss(draw_real, &x, &word, 1, &more, 0), -1);
    assert_int_equal(toss(draw_real, &x, &word, 1, &more, 1), 1);
    word += 1;
    assert_int_equal(toss(draw_real, &x, &word, 1, &more, 0), 0);
    word = UINT64_C(1) << 62;
    assert_int_equal(toss(draw_real, &x, &word, 1, &more, 0), 1);
    fesetround(FE_UPWARD); /* MPFR decides */
    int upward = toss(draw_real, &x, &word, 1, &more, 0);
    fesetround(FE_TONEAREST);
    assert_int_equal(upward, 1);
    const double zero = 0, far = 1e6, never = (double)INFINITY;
    word = UINT64_MAX;
    assert_int_equal(toss(draw_real, &zero, &word, 1, &more, 0), 1);
    word = 1;
    assert_int_equal(toss(draw_real, &far, &word, 1, &more, 0), 0);
    word = 0;
    assert_int_equal(toss(draw_real, &far, &word, 1, &more, 1), -1);
    assert_int_equal(toss(draw_real, &never, &word, 1, &more, 0), 0);
}

static void below_keeps_its_range_and_rejects_the_border_words(void **state)
{
    (void)state;
    brume_error error;
    uint64_t value = 99;
    const uint64_t words[2] = {0, UINT64_MAX};
    brume_bits *tape = brume_tape_open(words, 2, NULL, 0);
    /* 2^64 mod 3 = 1: the word 0 is the one rejected */
    assert_ok(brume_sample_below(tape, 3, &value, &error));
    assert_true(value == 2);
    assert_int_equal(brume_tape_main_read(tape), 2);
    brume_tape_rewind(tape);
    assert_ok(brume_sample_below(tape, 1, &value, &error));
    assert_true(value == 0);
    assert_ok(brume_sample_below(tape, UINT64_MAX, &value, &error));
    assert_true(value == UINT64_MAX - 1);
    brume_bits_close(tape);
}

static void bad_arguments_are_refused_and_outputs_untouched(void **state)
{
    (void)state;
    brume_error error;
    brume_bits *tape = brume_tape_open_seeded(1);
    uint64_t value = 5;
    bool coin = true;
    assert_fails(brume_sample_below(tape, 0, &value, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_below(NULL, 3, &value, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_below(tape, 3, NULL, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli(tape, 1, 0, &coin, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli(tape, 3, 2, &coin, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli_exp(tape, 3, 0, &coin, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli_exp_real(tape, -1e-300, &coin, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli_exp_real(tape, (double)NAN, &coin, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli(NULL, 1, 2, &coin, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli(tape, 1, 2, NULL, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli_exp(NULL, 1, 2, &coin, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli_exp(tape, 1, 2, NULL, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli_exp_real(NULL, 1, &coin, &error), BRUME_EARGUMENT);
    assert_fails(brume_sample_bernoulli_exp_real(tape, 1, NULL, &error), BRUME_EARGUMENT);
    assert_int_equal(brume_tape_main_read(tape), 0);
    brume_bits_close(tape);
    tape = brume_tape_open(NULL, 0, NULL, 0);
    assert_fails(brume_sample_below(tape, 3, &value, &error), BRUME_ERANDOM);
    assert_fails(brume_sample_bernoulli(tape, 1, 2, &coin, &error), BRUME_ERANDOM);
    assert_fails(brume_sample_bernoulli_exp(tape, 5, 2, &coin, &error), BRUME_ERANDOM);
    assert_fails(brume_sample_bernoulli_exp_real(tape, 1, &coin, &error), BRUME_ERANDOM);
    assert_true(value == 5 && coin);
    brume_bits_close(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exponential_of_a_ratio_is_made_of_coins),
        cmocka_unit_test(a_ratio_is_compared_digit_by_digit),
        cmocka_unit_test(a_real_exponential_is_decided_by_more_bits_near_its_value),
        cmocka_unit_test(below_keeps_its_range_and_rejects_the_border_words),
        cmocka_unit_test(bad_arguments_are_refused_and_outputs_untouched),
    };
    return cmocka_run_group_tests_name("primitive", tests, NULL, NULL);
}
