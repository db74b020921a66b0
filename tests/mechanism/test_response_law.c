/* The exact law of randomized response at large epsilon, where lies are rare: read off tapes, word
 * by word, with no chance of a false alarm.
 *
 * A round draws one of k answers; the truth is taken at once, another one by a coin of e^-epsilon,
 * else there is another round. So a tape of an answer, a coin and the truth gives the answer if the
 * coin falls for it and the truth if not, and the coin's words for which it does are counted. */
#include "check.h"

#include <mpfr.h>

#include <brume/noise/randomized_response.h>

#include "number/wide.h"
#include "random/tape.h"

static brume_error error;
static brume_bits *tape;

typedef enum outcome { TRUTH, LIE, OPEN } outcome;

/* The first word of 64 bits that brume_sample_below maps to `answer` of k. */
static uint64_t word_of(uint64_t answer, uint64_t k)
{
    return (uint64_t)((((brume_u128)answer << 64) + k - 1) / k) + UINT32_MAX;
}

static outcome ask(double epsilon, uint64_t k, uint64_t answer, uint64_t coin)
{
    const uint64_t words[] = {word_of(answer, k), coin, word_of(0, k)};
    assert_true(brume_tape_write(tape, words, 3, NULL, 0));
    uint64_t out = 0;
    if (brume_randomized_response_noise(tape, epsilon, k, &out, &error) != BRUME_OK)
        return OPEN; /* by this word alone nothing is decided */
    assert_true(out == 0 || out == answer);
    /* what is handed to people is the same draw, added to their truth */
    const uint8_t truth[] = {1};
    uint8_t told[] = {0};
    brume_tape_rewind(tape);
    assert_ok(brume_randomized_response(tape, epsilon, (unsigned)k, truth, told, 1, &error));
    assert_int_equal(told[0], (1 + out) % k);
    return out == 0 ? TRUTH : LIE;
}

/* How many words give a lie; those that are open count if `open` does. */
static uint64_t lies(double epsilon, uint64_t k, uint64_t answer, bool open)
{
    uint64_t least = 0, most = UINT64_MAX; /* a lie; the truth */
    assert_int_equal(ask(epsilon, k, answer, most), TRUTH);
    while (most - least > 1) {
        uint64_t middle = least + (most - least) / 2;
        outcome found = ask(epsilon, k, answer, middle);
        if (found == LIE || (found == OPEN && open))
            least = middle;
        else
            most = middle;
    }
    return most;
}

/* Rejects: a coin in steps of 1/256, or of any step above 2^-62; another odds than e^epsilon. */
static void a_lie_has_exactly_the_odds_of_epsilon(void **state)
{
    (void)state;
    static const double epsilons[] = {5, 7, 10, .3, 1, 20, 2.7182818284590451};
    static const uint64_t answers[] = {2, 3, 5, 200};
    mpfr_t exact, bound;
    mpfr_inits2(200, exact, bound, (mpfr_ptr)NULL);
    tape = brume_tape_open(NULL, 0, NULL, 0);
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
        for (size_t i = 0; i < 4; i++) {
            uint64_t k = answers[i], answer = k - 1;
            mpfr_set_d(exact, -epsilons[e], MPFR_RNDN);
            mpfr_exp(exact, exact, MPFR_RNDN);
            mpfr_mul_2ui(exact, exact, 64, MPFR_RNDN); /* e^-epsilon in words */
            uint64_t certain = lies(epsilons[e], k, answer, false);
            uint64_t possible = lies(epsilons[e], k, answer, true);
            mpfr_sub_ui(bound, exact, certain, MPFR_RNDN);
            assert_holds(mpfr_cmp_si(bound, -1) >= 0 && mpfr_cmp_si(bound, 2) <= 0);
            assert_holds(possible >= certain && possible - certain <= 2);
            /* and it is one threshold: words on either side of it, near and far */
            uint64_t seed = 1000 + e;
            for (int draw = 0; draw < 300; draw++) {
                uint64_t word = brume_tape_splitmix(&seed) >> draw % 60;
                if (word + 2 < certain)
                    assert_int_equal(ask(epsilons[e], k, answer, word), LIE);
                if (word > possible + 2)
                    assert_int_equal(ask(epsilons[e], k, answer, word), TRUTH);
            }
        }
    brume_bits_close(tape);
    mpfr_clears(exact, bound, (mpfr_ptr)NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lie_has_exactly_the_odds_of_epsilon),
    };
    return cmocka_run_group_tests_name("response_law", tests, NULL, NULL);
}
