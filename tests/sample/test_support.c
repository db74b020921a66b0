/* The shared test tools can be trusted: bounds of chance are bounds, the false alarms fit their
 * budget, and enumeration finds the law of a known sampler and rejects a wrong one. */
#include "check.h"

#include "chance.h"
#include "enumerate.h"

static void the_shares_of_false_alarms_add_up_to_at_most_1e_minus_9(void **state)
{
    (void)state;
    assert_holds(false_alarm_total() <= 1e-9);
    for (int i = 0; i < false_alarm_count; i++)
        assert_holds(false_alarm_share((enum false_alarm)i) > 0);
}

static double exact_tail_above(unsigned n, double p, unsigned k)
{
    double sum = 0;
    for (unsigned j = k; j <= n; j++)
        sum += exp(lgamma(n + 1.0) - lgamma(j + 1.0) - lgamma(n - j + 1.0) + j * log(p) +
                   (n - j) * log1p(-p));
    return sum;
}

static void binomial_tails_are_bounded_from_above_and_closely(void **state)
{
    (void)state;
    const double ps[] = {1e-3, 0.1, 0.5, 0.93};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k <= 60; k++) {
            double exact = exact_tail_above(60, ps[i], k);
            double above = binomial_tail_above(60, ps[i], k);
            double below = binomial_tail_below(60, 1 - ps[i], 60 - k);
            assert_holds(above >= exact * (1 - 1e-9) && below >= exact * (1 - 1e-9));
            if (exact < 1e-3)
                assert_holds(above <= 1.5 * exact && below <= 1.5 * exact);
        }
    assert_holds(binomial_plausible(1000000, 500000, 0.5, 0.5, 1e-10));
    assert_holds(!binomial_plausible(1000000, 504000, 0.5, 0.5, 1e-10));
    assert_holds(!binomial_plausible(1000000, 496000, 0.5, 0.5, 1e-10));
    assert_holds(binomial_plausible(1000000, 504000, 0.5, 0.504, 1e-10));
}

static void the_hockey_stick_of_known_pairs_is_right(void **state)
{
    (void)state;
    const double p[] = {0.75, 0.25}, q[] = {0.25, 0.75};
    assert_close(hockey_stick(p, q, 2, 0), 0.5, 1e-15);
    assert_close(hockey_stick(p, q, 2, log(2)), 0.25, 1e-15);
    assert_holds(hockey_stick(p, q, 2, log(3) + 1e-9) == 0);
}

/* P[true] = 1/3 by four-bit words, with all of the tape's ways to run out. */
static bool third(brume_bits *tape, const void *context, int64_t *out)
{
    const int *mutant = context;
    brume_stream *stream = tape->main;
    for (;; stream = tape->more) {
        uint64_t word;
        if (!brume_bits_word(tape, stream, &word))
            return false;
        word >>= 60;
        if (word != 5) { /* 16/3 = 5 + 1/3: the digits of 1/3 are all 5 */
            *out = word < 5 + (uint64_t)*mutant;
            return true;
        }
    }
}

static double third_mass(const void *context, int64_t k)
{
    (void)context;
    return k == 1 ? 1.0 / 3 : k == 0 ? 2.0 / 3 : 0;
}

static void enumeration_finds_a_law_and_rejects_a_wrong_one(void **state)
{
    (void)state;
    int mutant = 0;
    tape_law law = tape_law_of(third, &mutant, 4, 20, -1, 4);
    assert_int_equal(law.open, 1);
    assert_int_equal(law.others, 0);
    assert_int_equal(law.decided[1] + law.decided[2] + law.open, 1 << 20);
    assert_int_equal(tape_law_violations(&law, third_mass, NULL), 0);
    tape_law_close(&law);
    mutant = 2;
    law = tape_law_of(third, &mutant, 4, 20, -1, 4);
    assert_holds(tape_law_violations(&law, third_mass, NULL) > 0);
    tape_law_close(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shares_of_false_alarms_add_up_to_at_most_1e_minus_9),
        cmocka_unit_test(binomial_tails_are_bounded_from_above_and_closely),
        cmocka_unit_test(the_hockey_stick_of_known_pairs_is_right),
        cmocka_unit_test(enumeration_finds_a_law_and_rejects_a_wrong_one),
    };
    return cmocka_run_group_tests_name("support", tests, NULL, NULL);
}
