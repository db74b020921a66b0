/* The primitives, the very code of the library compiled for short words, have exactly their laws on
 * all tapes; and broken variants have not. BRUME_WORD_BITS is given by the build: 8, or 4 where a
 * law needs many words. */
#define BRUME_PREFIX BRUME_WORD_BITS
#include "sample/coin.c"
#include "sample/lazy.c"

#include "check.h"

#include "enumerate.h"

enum { WORDS = 1 << BRUME_WORD_BITS };

typedef struct question {
    uint64_t num, den;
    double x;
} question;

static bool below(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    uint64_t value = 0;
    bool read = brume_coin_below(tape, tape->main, q->num, &value);
    *out = (int64_t)value;
    return read;
}

static bool ratio(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    bool value = false;
    bool read = brume_coin_ratio(tape, tape->main, q->num, q->den, &value);
    *out = value;
    return read;
}

static bool ratio_wide(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    bool value = false;
    mpz_t num, den;
    mpz_init_set_ui(num, q->num);
    mpz_init_set_ui(den, q->den);
    mpz_mul_2exp(num, num, 100); /* wide, the same quotient */
    mpz_mul_2exp(den, den, 100);
    bool read = brume_coin_ratio_wide(tape, tape->main, num, den, &value);
    mpz_clears(num, den, NULL);
    *out = value;
    return read;
}

static bool exponential(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    bool value = false;
    bool read = brume_coin_exp(tape, tape->main, q->num, q->den, &value);
    *out = value;
    return read;
}

static bool exponential_real(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    bool value = false;
    bool read = brume_coin_exp_real(tape, tape->main, q->x, &value);
    *out = value;
    return read;
}

static double below_mass(const void *context, int64_t k)
{
    const question *q = context;
    return k >= 0 && (uint64_t)k < q->num ? 1.0 / (double)q->num : 0;
}

static double coin_mass(const void *context, int64_t k)
{
    const question *q = context;
    double p = q->den == 0 ? exp(-q->x) : (double)q->num / (double)q->den;
    return k == 1 ? p : k == 0 ? 1 - p : 0;
}

static double exponential_mass(const void *context, int64_t k)
{
    const question *q = context;
    double p = exp(-(double)q->num / (double)q->den);
    return k == 1 ? p : k == 0 ? (q->num == 0 ? 0 : 1 - p) : 0;
}

/* Violations, and what stayed open. */
static size_t violations(tape_draw *draw, tape_mass *mass, const question *q, unsigned depth,
                         size_t outcomes, double *open)
{
    tape_law law = tape_law_of(draw, q, BRUME_WORD_BITS, depth, 0, outcomes);
    size_t wrong = tape_law_violations(&law, mass, q) + (law.others > 0);
    *open = ldexp((double)law.open, -(int)depth);
    tape_law_close(&law);
    return wrong;
}

static void below_is_uniform_for_every_bound(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < WORDS; n++) {
        question q = {n, 0, 0};
        tape_law law = tape_law_of(below, &q, BRUME_WORD_BITS, BRUME_WORD_BITS, 0, WORDS);
        /* Each outcome has the same number of words, and the rejected are 2^bits mod n. */
        for (uint64_t k = 0; k < WORDS; k++)
            assert_true(law.decided[k] == (k < n ? WORDS / n : 0));
        assert_true(law.open == WORDS % n);
        tape_law_close(&law);
    }
    question q = {7, 0, 0};
    double open;
    assert_int_equal(violations(below, below_mass, &q, 16, WORDS, &open), 0);
    assert_holds(open <= 0.02);
}

static void a_coin_of_a_ratio_has_that_probability(void **state)
{
    (void)state;
    double open;
    for (uint64_t den = 1; den < 60; den++)
        for (uint64_t num = 0; num <= den; num++) {
            question q = {num, den, 0};
            assert_int_equal(violations(ratio, coin_mass, &q, 16, 2, &open), 0);
            assert_holds(open <= 0x1p-16);
            assert_int_equal(violations(ratio_wide, coin_mass, &q, 16, 2, &open), 0);
            assert_holds(open <= 0x1p-16);
        }
}

#if BRUME_WORD_BITS <= 4 /* its runs of coins need many words */
static void a_coin_of_an_exponential_ratio_has_that_probability(void **state)
{
    (void)state;
    const uint64_t ratios[][2] = {{0, 1}, {1, 1}, {1, 2}, {7, 10}, {5, 3}, {2, UINT64_MAX}};
    for (size_t i = 0; i < 6; i++) {
        question q = {ratios[i][0], ratios[i][1], 0};
        double open;
        assert_int_equal(violations(exponential, exponential_mass, &q, 24, 2, &open), 0);
        assert_holds(open < (q.num > q.den ? 0.25 : 0.01));
    }
}
#endif

static void a_coin_of_a_real_exponential_has_that_probability(void **state)
{
    (void)state;
    const double xs[] = {0, 5e-324, 1e-9, 1e-3, 0.1, 0.7, 3, 10, 30, 700, 800, 1e300};
    for (size_t i = 0; i < sizeof xs / sizeof *xs; i++) {
        question q = {0, 0, xs[i]};
        double open;
        assert_int_equal(violations(exponential_real, coin_mass, &q, 24, 2, &open), 0);
        assert_holds(open <= 0x1p-22);
    }
    question never = {0, 0, (double)INFINITY};
    double open;
    assert_int_equal(violations(exponential_real, coin_mass, &never, BRUME_WORD_BITS, 2, &open), 0);
    assert_holds(open == 0);
}

/* ---- broken variants ---- */

static bool below_without_rejection(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    uint64_t word;
    if (!brume_sample_word(tape, tape->main, &word))
        return false;
    *out = (int64_t)(word * q->num >> BRUME_WORD_BITS);
    return true;
}

static bool ratio_of_one_digit(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    uint64_t word;
    if (!brume_sample_word(tape, tape->main, &word))
        return false;
    *out = word < q->num * WORDS / q->den;
    return true;
}

static bool exponential_of_even_runs(brume_bits *tape, const void *context, int64_t *out)
{
    bool read = exponential(tape, context, out);
    *out = !*out;
    return read;
}

static bool real_without_margin(brume_bits *tape, const void *context, int64_t *out)
{
    const question *q = context;
    uint64_t word;
    if (!brume_bits_word(tape, tape->main, &word))
        return false;
    *out = brume_uniform_middle(word) < exp(-q->x);
    return true;
}

static void broken_variants_are_rejected(void **state)
{
    (void)state;
    double open;
    question seven = {7, 0, 0}, third = {1, 3, 0}, real = {0, 0, 0.7};
    assert_holds(
        violations(below_without_rejection, below_mass, &seven, BRUME_WORD_BITS, WORDS, &open) > 0);
    assert_holds(violations(ratio_of_one_digit, coin_mass, &third, 16, 2, &open) > 0);
    assert_holds(violations(exponential_of_even_runs, exponential_mass, &third, 24, 2, &open) > 0);
    assert_holds(violations(real_without_margin, coin_mass, &real, 16, 2, &open) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_is_uniform_for_every_bound),
        cmocka_unit_test(a_coin_of_a_ratio_has_that_probability),
#if BRUME_WORD_BITS <= 4
        cmocka_unit_test(a_coin_of_an_exponential_ratio_has_that_probability),
#endif
        cmocka_unit_test(a_coin_of_a_real_exponential_has_that_probability),
        cmocka_unit_test(broken_variants_are_rejected),
    };
    return cmocka_run_group_tests_name("primitive_shrunk", tests, NULL, NULL);
}
