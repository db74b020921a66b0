/* Curators and attacks: what is recovered, at least and at most. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "audit/exhaustive.h"
#include "audit/reconstruct.h"
#include "chance.h"
#include "random/tape.h"

static brume_curator read_curator(const char *text)
{
    brume_error error = {0};
    brume_curator curator;
    assert_ok(brume_curator_read(text, &curator, &error));
    return curator;
}

/* Mean share of bits recovered over seeded runs with secrets from the tape; *counted, if wanted,
 * gets the number of bits. */
static double share_recovered(brume_adversary adversary, size_t people, size_t queries,
                              const char *answers, int runs, uint64_t *counted)
{
    brume_error error = {0};
    brume_curator curator = read_curator(answers);
    brume_bits *bits = brume_tape_open_seeded(2026);
    uint64_t recovered = 0;
    for (int run = 0; run < runs; run++) {
        uint8_t secret[128];
        brume_attack *attack = NULL;
        brume_recovery recovery;
        for (size_t i = 0; i < people; i++) {
            uint64_t word;
            assert_ok(brume_bits_words(bits, &word, 1, &error));
            secret[i] = (uint8_t)(word >> 63);
        }
        assert_ok(brume_attack_open(adversary, secret, people, queries, (uint64_t)run % 16, &attack,
                                    &error));
        assert_ok(brume_attack_run(attack, &curator, bits, &recovery, &error));
        recovered += recovery.recovered;
        brume_attack_close(attack);
    }
    brume_bits_close(bits);
    if (counted)
        *counted = recovered;
    return (double)recovered / ((double)runs * (double)people);
}

/* P[mean of n independent numbers in [0, 1] is this far off, to one side] <= alarm (Hoeffding). */
static double hoeffding_distance(int n, double alarm)
{
    return sqrt(-log(alarm) / (2. * n));
}

/* --- at least --------------------------------------------------------------------- */

static void exact_and_nearly_exact_answers_give_every_bit(void **state)
{
    (void)state;
    for (size_t people = 1; people <= 128; people += people / 2 + 1) {
        char text[40];
        snprintf(text, sizeof text, "uniform(bound=%.6f)", .1 * sqrt((double)people));
        /* few people: more queries, so that each is in some and not in others */
        size_t queries = 4 * people < 64 ? 64 : 4 * people;
        assert_holds(
            share_recovered(BRUME_ADVERSARY_POLYNOMIAL, people, queries, "exact", 20, NULL) == 1);
        assert_holds(share_recovered(BRUME_ADVERSARY_POLYNOMIAL, people, queries, text, 20, NULL) ==
                     1);
    }
}

/* The claim is of the expected share: 32 people, 128 random subsets, noise uniform in -+c sqrt(32),
 * c = 1/4, 1/2, 1. A mean of RUNS is further below it than `room` by chance with the stated share
 * of false alarms at most. */
static void bounded_noise_below_the_root_of_the_people_gives_most_bits(void **state)
{
    (void)state;
    enum { RUNS = 3000 };
    const struct {
        const char *answers;
        double expected;
    } stated[] = {
        {"uniform(bound=1.41)", .99}, {"uniform(bound=2.83)", .94}, {"uniform(bound=5.66)", .78}};
    double room = hoeffding_distance(RUNS, false_alarm_share(false_alarm_reconstruction_least) / 3);
    assert_holds(room < .07);
    for (size_t i = 0; i < 3; i++)
        assert_holds(share_recovered(BRUME_ADVERSARY_POLYNOMIAL, 32, 128, stated[i].answers, RUNS,
                                     NULL) >= stated[i].expected - room);
    /* mutants: curators whose noise is four times the bound they state */
    assert_holds(share_recovered(BRUME_ADVERSARY_POLYNOMIAL, 32, 128, "uniform(bound=5.66)", RUNS,
                                 NULL) < stated[0].expected - room);
    assert_holds(share_recovered(BRUME_ADVERSARY_POLYNOMIAL, 32, 128, "uniform(bound=22.6)", RUNS,
                                 NULL) < stated[2].expected - room);
}

static void the_exponential_adversary_is_never_beyond_its_bound(void **state)
{
    (void)state;
    enum { PEOPLE = 10 };
    brume_error error = {0};
    const char *const answers[] = {"exact",
                                   "rounded(step=2)",
                                   "rounded(step=3)",
                                   "uniform(bound=0.4)",
                                   "uniform(bound=1.3)",
                                   "decoy(bound=0.5)",
                                   "decoy(bound=0.7)",
                                   "decoy(bound=1.2)"};
    bool attained = false;
    brume_bits *bits = brume_tape_open_seeded(5);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        for (unsigned mask = 0; mask < 1 << PEOPLE; mask += 7) {
            brume_curator curator = read_curator(answers[i]);
            double bound = brume_curator_largest_error(&curator);
            unsigned hidden = brume_exhaustive_hidden(bound, PEOPLE);
            uint8_t secret[PEOPLE];
            brume_attack *attack = NULL;
            brume_recovery recovery;
            for (unsigned person = 0; person < PEOPLE; person++)
                secret[person] = mask >> person & 1;
            assert_ok(brume_attack_open(BRUME_ADVERSARY_EXPONENTIAL, secret, PEOPLE, 0, mask,
                                        &attack, &error));
            assert_int_equal(brume_attack_queries(attack), 1 << PEOPLE);
            assert_int_equal(brume_attack_moved(attack), 1 << (PEOPLE - 1));
            assert_ok(brume_attack_run(attack, &curator, bits, &recovery, &error));
            assert_true(recovery.survivors >= 1); /* the truth */
            assert_true(recovery.residual <= bound);
            assert_true(recovery.farthest <= hidden);
            assert_true(recovery.recovered >= PEOPLE - hidden);
            attained = attained || (hidden > 0 && recovery.recovered == PEOPLE - hidden);
            brume_attack_close(attack);
        }
    assert_true(attained); /* by a decoy: the guess itself is as wrong as it can be */
    brume_bits_close(bits);
}

/* --- at most ---------------------------------------------------------------------- */

static double certified(const char *answers, size_t moved, double likelier)
{
    brume_error error = {0};
    double most;
    brume_curator curator = read_curator(answers);
    assert_ok(brume_curator_most(&curator, moved, likelier, &most, &error));
    return most;
}

static void randomized_response_gives_exactly_what_the_bound_allows(void **state)
{
    (void)state;
    enum { PEOPLE = 32, RUNS = 2000 };
    double alarm = false_alarm_share(false_alarm_reconstruction_response);
    double most = certified("randomized_response(epsilon=1)", 1, .5);
    assert_close(most, exp(1) / (1 + exp(1)), 1e-12);
    uint64_t right;
    share_recovered(BRUME_ADVERSARY_POLYNOMIAL, PEOPLE, 4 * PEOPLE,
                    "randomized_response(epsilon=1)", RUNS, &right);
    assert_true(binomial_plausible((uint64_t)PEOPLE * RUNS, right, most, most, alarm));
    /* the mutant: a response that is more honest than its price */
    share_recovered(BRUME_ADVERSARY_POLYNOMIAL, PEOPLE, 4 * PEOPLE,
                    "randomized_response(epsilon=1.1)", RUNS, &right);
    assert_false(binomial_plausible((uint64_t)PEOPLE * RUNS, right, 0, most, alarm));
}

static void of_private_answers_nobody_recovers_more_than_is_certified(void **state)
{
    (void)state;
    enum { PEOPLE = 16, QUERIES = 256, RUNS = 2400 };
    double alarm = false_alarm_share(false_alarm_reconstruction_most) / 4;
    const char *const answers[] = {"discrete_laplace(scale=6)", "laplace(scale=6)",
                                   "discrete_gaussian(sigma=8)", "gaussian(sigma=8)"};
    /* mutants: a third of the noise that is paid for */
    const char *const broken[] = {"discrete_laplace(scale=2)", "laplace(scale=2)",
                                  "discrete_gaussian(sigma=2.7)", "gaussian(sigma=2.7)"};
    double room = hoeffding_distance(RUNS, alarm);
    for (size_t i = 0; i < 4; i++) {
        /* Someone is in the most subsets of the runs' sixteen draws of them; a bound for more moved
         * answers is larger, so the least of the sixteen is the sharpest test: 128 is below it. */
        double most = certified(answers[i], 128, .5);
        assert_holds(most > .6 && most < .85);
        double share =
            share_recovered(BRUME_ADVERSARY_POLYNOMIAL, PEOPLE, QUERIES, answers[i], RUNS, NULL);
        assert_holds(share <= most + room);
        assert_holds(share >= .55); /* and it does recover something */
        assert_holds(share_recovered(BRUME_ADVERSARY_POLYNOMIAL, PEOPLE, QUERIES, broken[i], RUNS,
                                     NULL) > most + room);
    }
}

static void the_bound_knows_what_guessing_gets(void **state)
{
    (void)state;
    const double e2 = exp(2);
    /* a fair bit: e^eps/(1 + e^eps); a bit of 9 to 1 at epsilon 1 is best guessed */
    assert_close(certified("randomized_response(epsilon=2)", 1, .7), e2 / (1 + e2), 1e-10);
    assert_close(certified("randomized_response(epsilon=1)", 1, .9), .9, 1e-10);
    assert_holds(certified("randomized_response(epsilon=1)", 1, .9) >= .9);
    assert_holds(certified("randomized_response(epsilon=1)", 1, 1) == 1);
    assert_holds(certified("exact", 1, .5) == 1);
    assert_holds(certified("uniform(bound=100)", 1, .5) == 1);
    /* one Gaussian answer of sigma 1: Phi(1/2) */
    assert_close(certified("gaussian(sigma=1)", 1, .5), 0.69146246127401312, 1e-9);
    brume_error error = {0};
    brume_curator curator = read_curator("exact");
    double most = 7;
    assert_fails(brume_curator_most(&curator, 1, .4, &most, &error), BRUME_EARGUMENT);
    assert_fails(brume_curator_most(&curator, 1, NAN, &most, &error), BRUME_EARGUMENT);
    assert_holds(most == 7);
}

static void prices_are_those_of_all_answers_that_a_bit_moves(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_bound bound;
    brume_curator curator = read_curator("discrete_laplace(scale=20)");
    assert_ok(brume_curator_epsilon(&curator, 100, 0, &bound, &error));
    assert_close(bound.upper, 5, 1e-12);
    assert_holds(bound.upper >= 5);
    curator = read_curator("randomized_response(epsilon=1.5)");
    assert_ok(brume_curator_epsilon(&curator, 100, 0, &bound, &error));
    assert_close(bound.upper, 1.5, 1e-12);
    curator = read_curator("gaussian(sigma=20)");
    assert_ok(brume_curator_epsilon(&curator, 100, 0, &bound, &error));
    assert_true(bound.infinite);
    assert_ok(brume_curator_epsilon(&curator, 100, 1e-6, &bound, &error));
    assert_holds(bound.upper > 1 && bound.upper < 3);
    curator = read_curator("uniform(bound=20)");
    assert_ok(brume_curator_epsilon(&curator, 100, .1, &bound, &error));
    assert_true(bound.infinite);
}

/* --- curators --------------------------------------------------------------------- */

static void answers_stay_within_the_stated_error(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    brume_error error = {0};
    brume_bits *bits = brume_tape_open_seeded(11);
    const char *const answers[] = {"exact",           "rounded(step=1)",  "rounded(step=4)",
                                   "rounded(step=7)", "uniform(bound=0)", "uniform(bound=3.3)",
                                   "decoy(bound=2.5)"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        brume_curator curator = read_curator(answers[i]);
        double bound = brume_curator_largest_error(&curator), counts[COUNT], decoys[COUNT];
        double largest = 0;
        for (size_t j = 0; j < COUNT; j++) {
            counts[j] = (double)j;
            decoys[j] = (double)(j * 7 % COUNT);
        }
        assert_ok(brume_curator_answer(&curator, decoys, bits, counts, COUNT, &error));
        for (size_t j = 0; j < COUNT; j++)
            largest = fmax(largest, fabs(counts[j] - (double)j));
        assert_holds(largest <= bound);
        assert_holds(largest >= .99 * bound);
    }
    brume_bits_close(bits);
}

static void curators_read_back_as_written_and_bad_ones_are_refused(void **state)
{
    (void)state;
    brume_error error = {0};
    const char *const good[] = {"exact",
                                "rounded(step=5)",
                                "uniform(bound=2.5)",
                                "decoy(bound=0)",
                                "discrete_laplace(scale=20)",
                                "randomized_response(epsilon=1)"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[80];
        brume_curator curator = read_curator(good[i]);
        assert_ok(brume_curator_write(&curator, text, sizeof text, &error));
        assert_string_equal(text, good[i]);
        assert_fails(brume_curator_write(&curator, text, 4, &error), BRUME_EOVERFLOW);
    }
    const struct {
        const char *text;
        brume_status status;
    } bad[] = {
        {"uniform(bound=nan)", BRUME_EARGUMENT},
        {"uniform(bound=-1)", BRUME_EARGUMENT},
        {"uniform(bound=1e300)", BRUME_EARGUMENT},
        {"uniform(scale=1)", BRUME_ESYNTAX},
        {"uniform(bound=)", BRUME_ESYNTAX},
        {"uniform(bound=1) ", BRUME_ESYNTAX},
        {"rounded(step=0)", BRUME_EARGUMENT},
        {"rounded(step=2.5)", BRUME_EARGUMENT},
        {"rounded", BRUME_ESYNTAX},
        {"decoy(", BRUME_ESYNTAX},
        {"", BRUME_ESYNTAX},
        {"laplce(scale=1)", BRUME_EUNKNOWN},
        {"laplace(scale=nan)", BRUME_EARGUMENT},
        {"laplace(scale=?)", BRUME_EARGUMENT},
        {"laplace(scale=1)*2", BRUME_EUNSUPPORTED},
        {"laplace(scale=1, sensitivity=2)", BRUME_EUNSUPPORTED},
        {"exponential(epsilon=1)", BRUME_EUNSUPPORTED},
        {"randomized_response(epsilon=1, k=3)", BRUME_EUNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        brume_curator curator = {.kind = BRUME_CURATOR_EXACT};
        assert_fails(brume_curator_read(bad[i].text, &curator, &error), bad[i].status);
        assert_int_equal(curator.kind, BRUME_CURATOR_EXACT);
    }
    brume_attack *attack = NULL;
    const uint8_t secret[2] = {0, 2};
    assert_fails(brume_attack_open(BRUME_ADVERSARY_POLYNOMIAL, secret, 2, 8, 1, &attack, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_attack_open(BRUME_ADVERSARY_POLYNOMIAL, secret, 1, 0, 1, &attack, &error),
                 BRUME_EARGUMENT);
    assert_null(attack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_and_nearly_exact_answers_give_every_bit),
        cmocka_unit_test(bounded_noise_below_the_root_of_the_people_gives_most_bits),
        cmocka_unit_test(the_exponential_adversary_is_never_beyond_its_bound),
        cmocka_unit_test(randomized_response_gives_exactly_what_the_bound_allows),
        cmocka_unit_test(of_private_answers_nobody_recovers_more_than_is_certified),
        cmocka_unit_test(the_bound_knows_what_guessing_gets),
        cmocka_unit_test(prices_are_those_of_all_answers_that_a_bit_moves),
        cmocka_unit_test(answers_stay_within_the_stated_error),
        cmocka_unit_test(curators_read_back_as_written_and_bad_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
