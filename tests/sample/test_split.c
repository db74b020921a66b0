/* Scales above 2^20, whose draws have two digits: single draws and batches agree on the words where
 * a low digit is weighed, which random words hardly ever meet, and the weighing is right. */
#include "sample/coin.c"
#include "sample/inversion.c"
#include "sample/lazy.c"
#include "sample/scale.c"

#include "check.h"

#include <stdlib.h>

#include "random/tape.h"

enum { ATTEMPTS = 200 };

static brume_error error;

static brume_inversion *open_law(brume_inversion_kind kind, double scale)
{
    brume_noise *noise = NULL;
    assert_ok(brume_inversion_open(kind, brume_scale_of_double(scale), &noise, &error));
    return (brume_inversion *)noise;
}

/* Words of attempts, a third of them at a border: low digits and uniforms that begin with 18 to 21
 * ones or are the first that is not kept for certain, high digits 0, zeros of both signs. */
static void border_words(const brume_inversion *law, uint64_t seed, uint64_t *words)
{
    const unsigned uniform_bits = 64 - law->low_bits;
    for (size_t i = 0; i < ATTEMPTS; i++) {
        uint64_t first = brume_tape_splitmix(&seed), second = brume_tape_splitmix(&seed);
        uint64_t ones = 18 + brume_tape_splitmix(&seed) % 4;
        uint64_t uniform = second >> law->low_bits;
        switch (brume_tape_splitmix(&seed) % 9) {
        case 0: /* `ones` ones, a zero, then anything */
            uniform |= (((UINT64_C(1) << ones) - 1) << (uniform_bits - ones));
            uniform &= ~(UINT64_C(1) << (uniform_bits - ones - 1));
            second = (brume_tape_splitmix(&seed) << uniform_bits) | uniform;
            break;
        case 1: /* the first uniform that is weighed, and the last that is not */
            uniform = (UINT64_C(1) << uniform_bits) - (UINT64_C(1) << (uniform_bits - 19)) -
                      (first & 1);
            second = UINT64_MAX << uniform_bits | uniform;
            break;
        case 2: /* a zero, of either sign */
            first = (UINT64_MAX << 1) | (first & 1);
            second &= (UINT64_C(1) << uniform_bits) - 1;
            break;
        default:
            break;
        }
        words[2 * i] = first;
        words[2 * i + 1] = second;
    }
}

static void batches_weigh_what_single_draws_weigh(void **state)
{
    (void)state;
    static const brume_inversion_kind kinds[] = {BRUME_GEOMETRIC, BRUME_DISCRETE_LAPLACE,
                                                 BRUME_ROUNDED_LAPLACE};
    static const double scales[] = {0x1.8p20, 0x1p21, 0x1.0000001p30, 0x1.3p41, 0x1.0000001p49};
    static uint64_t words[2 * ATTEMPTS], more[8 * ATTEMPTS];
    uint64_t seed = 3;
    for (size_t i = 0; i < 8 * ATTEMPTS; i++)
        more[i] = brume_tape_splitmix(&seed);
    for (size_t k = 0; k < 3; k++)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
            for (uint64_t round = 0; round < 20; round++) {
                brume_inversion *law = open_law(kinds[k], scales[s]);
                border_words(law, 100 * round + 10 * k + s, words);
                enum { DRAWS = ATTEMPTS / 2 }; /* some attempts are not kept */
                int64_t batch[DRAWS], one = 0;
                brume_bits *all = brume_tape_open(words, 2 * ATTEMPTS, more, 8 * ATTEMPTS);
                brume_bits *each = brume_tape_open(words, 2 * ATTEMPTS, more, 8 * ATTEMPTS);
                for (size_t i = 0; round % 2 && i < DRAWS; i++) /* or batches of one */
                    assert_true(fill_split(&law->noise, all, batch + i, 1));
                assert_true(round % 2 || fill_split(&law->noise, all, batch, DRAWS));
                for (size_t i = 0; i < DRAWS; i++) {
                    assert_true(draw_split(&law->noise, each, &one));
                    assert_true(one == batch[i]);
                }
                brume_bits_close(all);
                brume_bits_close(each);
                brume_noise_close(&law->noise);
            }
}

/* One digit: words that leave the value open, here and there, are refined once and in their order.
 */
static void batches_of_one_digit_read_what_single_draws_read(void **state)
{
    (void)state;
    enum { WORDS = 700 };
    static uint64_t words[WORDS], more[4 * WORDS];
    uint64_t seed = 3;
    for (size_t i = 0; i < 4 * WORDS; i++)
        more[i] = brume_tape_splitmix(&seed);
    for (size_t apart = 37; apart < 400; apart += 90) {
        brume_inversion *law = open_law(BRUME_DISCRETE_LAPLACE, 5.5);
        int64_t batch[WORDS], one = 0;
        for (size_t i = 0; i < WORDS; i++)
            words[i] = i % apart == 7 ? i & 1 : brume_tape_splitmix(&seed);
        brume_bits *all = brume_tape_open(words, WORDS, more, 4 * WORDS);
        brume_bits *each = brume_tape_open(words, WORDS, more, 4 * WORDS);
        assert_true(fill_direct(&law->noise, all, batch, WORDS));
        for (size_t i = 0; i < WORDS; i++) {
            assert_true(draw_direct(&law->noise, each, &one));
            assert_true(one == batch[i]);
        }
        assert_holds(brume_tape_more_read(each) > 0);
        assert_int_equal(brume_tape_more_read(all), brume_tape_more_read(each));
        brume_bits_close(all);
        brume_bits_close(each);
        brume_noise_close(&law->noise);
    }
}

/* U < exp(-L/scale), with the whole of U known: L is the largest digit, and U between all that are
 * kept for certain and 1. */
static void rare_digits_are_kept_with_their_probability(void **state)
{
    (void)state;
    static const double scales[] = {0x1.000001p20, 0x1.0000001p30, 0x1.3p41, 0x1.0000001p49};
    size_t kept_count = 0, rejected = 0;
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
        for (uint64_t step = 0; step < 800; step++) { /* each at both ends of its cell */
            uint64_t at = step / 2;
            brume_inversion *law = open_law(BRUME_GEOMETRIC, scales[s]);
            const unsigned bits = 64 - law->low_bits;
            uint64_t whole = UINT64_C(1) << bits, rare = whole >> 19;
            uint64_t digit = law->low_bits ? (UINT64_C(1) << law->low_bits) - 1 : 0;
            uint64_t uniform = whole - rare + (at < 3 ? at : rare / 400 * at), got = 0;
            uint64_t more[6] = {0};
            memset(more, step % 2 ? 0xff : 0, sizeof more);
            brume_bits *tape = brume_tape_open(more, 0, more, 6);
            bool kept = false;
            assert_true(keep_low(law, digit << bits | uniform, tape, &got, &kept));
            assert_true(got == digit);
            /* U is at one end of its cell: compared with 64 + bits bits to spare */
            mpfr_t u, weight;
            mpfr_inits2(400, u, weight, (mpfr_ptr)NULL);
            mpfr_set_ui(u, uniform, MPFR_RNDN);
            if (step % 2)
                mpfr_add_d(u, u, 1 - 0x1p-50, MPFR_RNDN);
            mpfr_div_2ui(u, u, bits, MPFR_RNDN);
            brume_scale_inverse(weight, &law->whole, MPFR_RNDN);
            mpfr_mul_ui(weight, weight, digit, MPFR_RNDN);
            mpfr_neg(weight, weight, MPFR_RNDN);
            mpfr_exp(weight, weight, MPFR_RNDN);
            assert_int_equal(kept, mpfr_less_p(u, weight) != 0);
            kept_count += kept;
            rejected += !kept;
            mpfr_clears(u, weight, (mpfr_ptr)NULL);
            brume_bits_close(tape);
            brume_noise_close(&law->noise);
        }
    assert_holds(kept_count > 50 && rejected > 50);
}

static void digits_are_joined_up_to_the_largest_integer(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits < 40; bits++) {
        int64_t most = INT64_MAX >> bits;
        uint64_t low = (UINT64_C(1) << bits) - 1;
        assert_true(join_digits(most, low, bits) == INT64_MAX);
        assert_true(join_digits(most, low - 1, bits) == INT64_MAX - 1);
        assert_true(join_digits(most + 1, 0, bits) == INT64_MAX);
        assert_true(join_digits(most - 1, low, bits) == INT64_MAX - 1 - (int64_t)low);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_weigh_what_single_draws_weigh),
        cmocka_unit_test(batches_of_one_digit_read_what_single_draws_read),
        cmocka_unit_test(rare_digits_are_kept_with_their_probability),
        cmocka_unit_test(digits_are_joined_up_to_the_largest_integer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
