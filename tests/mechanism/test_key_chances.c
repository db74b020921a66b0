/* Chances that keys of one unit show, to the last bit, and what is shown of a key that is hidden:
 * nothing. Truths are computed by MPFR with 200 bits; no draw is fresh. */
#include "check.h"

#include <mpfr.h>
#include <stdlib.h>

#include <brume/mechanism/stable_histogram.h>

#include "mechanism/stability/laplace_tail.h"
#include "random/tape.h"

enum { BITS = 200, CASES = 2000 };

static brume_error error;
static uint64_t seed = 11;

static double some_number(int least, int most)
{
    double mantissa = 1 + (double)(brume_tape_splitmix(&seed) >> 12) * 0x1p-52;
    return ldexp(mantissa, least + (int)(brume_tape_splitmix(&seed) % (uint64_t)(most - least)));
}

/* told >= truth, and not by more than a few units in the last place; or the other way round. */
static void is_close(double told, const mpfr_t truth, bool above)
{
    int order = mpfr_cmp_d(truth, told);
    if (above ? order > 0 : order < 0)
        fail_msg("%.17g is on the wrong side of %.17g", told, mpfr_get_d(truth, MPFR_RNDN));
    assert_close(told, mpfr_get_d(truth, MPFR_RNDN), 0x1p-48);
}

/* 1 - (1 - p)^power */
static void any_of(mpfr_t out, double p, double power)
{
    mpfr_set_d(out, -p, MPFR_RNDN);
    mpfr_log1p(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, power, MPFR_RNDN);
    mpfr_expm1(out, out, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
}

/* Rejects: a share or a sum of chances rounded the wrong way, or of one key where there are more.
 */
static void shares_of_delta_and_what_they_use_together(void **state)
{
    (void)state;
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (int i = 0; i < CASES; i++) {
        uint64_t keys = 1 + brume_tape_splitmix(&seed) % 40;
        double p = some_number(-60, -2);
        any_of(truth, p, (double)keys);
        is_close(brume_delta_joint_upper(p, keys), truth, true);
        /* its share is the p whose joint chance is delta: (1 - share)^keys >= 1 - delta */
        double share = brume_delta_share_lower(p, keys);
        assert_true(brume_delta_share_lower(p, 1) == p && brume_delta_joint_upper(p, 1) == p);
        any_of(truth, share, (double)keys);
        assert_holds(mpfr_cmp_d(truth, p) <= 0);
        any_of(truth, share * (1 + 0x1p-47), (double)keys);
        assert_holds(mpfr_cmp_d(truth, p) >= 0);
    }
    mpfr_clear(truth);
}

/* a^m / (1 + a), a = exp(-1/scale) */
static void tail(mpfr_t out, double scale, uint64_t m)
{
    mpfr_t a;
    mpfr_init2(a, BITS);
    mpfr_set_si(a, -1, MPFR_RNDN);
    mpfr_div_d(a, a, scale, MPFR_RNDN);
    mpfr_exp(a, a, MPFR_RNDN);
    mpfr_pow_ui(out, a, m, MPFR_RNDN);
    mpfr_add_ui(a, a, 1, MPFR_RNDN);
    mpfr_div(out, out, a, MPFR_RNDN);
    mpfr_clear(a);
}

/* Rejects: a tail rounded down, a threshold one beside the least. */
static void tails_and_their_thresholds(void **state)
{
    (void)state;
    mpfr_t truth;
    mpfr_init2(truth, BITS);
    for (int i = 0; i < CASES / 4; i++) {
        double scale = some_number(-2, i % 4 ? 12 : 54), used = 0;
        double delta = i % 3 ? some_number(-40, -2) : .5 - some_number(-40, -2);
        if (i < 60) { /* where the logarithms cancel, and the guess is (i + 1)/2 */
            scale = 0x1p52;
            delta = .5 - i * 0x1p-54;
            if (i == 0)
                continue;
        }
        uint64_t m = brume_tape_splitmix(&seed) % (uint64_t)(1 + 20 * scale), again;
        tail(truth, scale, m);
        is_close(brume_discrete_tail_upper(scale, m), truth, true);
        assert_ok(brume_discrete_tail_threshold(scale, delta, &m, &used, &error));
        tail(truth, scale, m);
        is_close(used, truth, true);
        assert_holds(used <= delta);
        assert_ok(brume_discrete_tail_threshold(scale, used, &again, &used, &error));
        assert_true(again == m); /* just within delta is within it */
        assert_true(m == 0 || brume_discrete_tail_upper(scale, m - 1) > delta);
    }
    mpfr_clear(truth);
}

/* Rejects: the noisy count of a key that is not shown; a key that nobody has. */
static void a_hidden_key_leaves_no_count(void **state)
{
    (void)state;
    enum { KEYS = 5000 };
    static int64_t counts[KEYS], noisy[KEYS];
    static unsigned char keep[KEYS];
    for (int noise = BRUME_HISTOGRAM_DISCRETE_LAPLACE; noise <= BRUME_HISTOGRAM_GAUSSIAN; noise++) {
        brume_histogram_rule rule = {.noise = (brume_histogram_noise)noise,
                                     .epsilon = .5,
                                     .delta = 1e-3,
                                     .keys_per_unit = 1,
                                     .amount_per_key = 1,
                                     .adjacency = BRUME_ADD_REMOVE};
        brume_histogram_plan plan;
        brume_bits *bits = brume_tape_open_seeded(31);
        assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
        for (size_t i = 0; i < KEYS; i++)
            counts[i] = (int64_t)(i % (size_t)(2 * plan.threshold));
        assert_ok(brume_histogram_release(&plan, bits, counts, noisy, keep, KEYS, &error));
        size_t shown = 0, at_threshold = 0;
        for (size_t i = 0; i < KEYS; i++) {
            shown += keep[i];
            at_threshold += noisy[i] == plan.threshold;
            assert_holds(keep[i] ? noisy[i] >= plan.threshold && counts[i] > 0 : noisy[i] == 0);
        }
        assert_holds(shown > KEYS / 4 && shown < KEYS * 3 / 4 && at_threshold > 0);
        /* where the threshold is low noise alone passes it often, but nobody has these keys */
        rule.delta = .4;
        assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
        memset(counts, 0, sizeof counts);
        assert_ok(brume_histogram_release(&plan, bits, counts, noisy, keep, KEYS, &error));
        for (size_t i = 0; i < KEYS; i++)
            assert_holds(!keep[i] && noisy[i] == 0);
        brume_bits_close(bits);
        /* no random bits left: nothing at all is shown */
        brume_bits *empty = brume_tape_open(NULL, 0, NULL, 0);
        memset(noisy, 1, sizeof noisy);
        memset(keep, 1, sizeof keep);
        assert_fails(brume_histogram_release(&plan, empty, counts, noisy, keep, KEYS, &error),
                     BRUME_ERANDOM);
        for (size_t i = 0; i < KEYS; i++)
            assert_holds(!keep[i] && noisy[i] == 0);
        brume_bits_close(empty);
    }
}

/* The most that may follow `before`: p <= exp(e) p' + d and 1 - p' <= exp(e) (1 - p) + d. */
static void most_after(mpfr_t out, double before, const mpfr_t e, const mpfr_t d)
{
    mpfr_t x, y;
    mpfr_inits2(BITS, x, y, (mpfr_ptr)NULL);
    mpfr_exp(out, e, MPFR_RNDN);
    mpfr_mul_d(out, out, before, MPFR_RNDN);
    mpfr_add(out, out, d, MPFR_RNDN);
    mpfr_neg(y, e, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_add_d(x, d, before, MPFR_RNDN);
    mpfr_sub_ui(x, x, 1, MPFR_RNDN);
    mpfr_mul(x, x, y, MPFR_RNDN);
    mpfr_add_ui(x, x, 1, MPFR_RNDN); /* 1 - exp(-e) (1 - p' - d) */
    mpfr_min(out, out, x, MPFR_RNDN);
    mpfr_set_ui(x, 1, MPFR_RNDN);
    mpfr_min(out, out, x, MPFR_RNDN);
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

/* Rejects: a step rounded up, epsilon or delta of fewer keys than change, a slower rise. */
static void chances_rise_by_exact_inequalities(void **state)
{
    (void)state;
    mpfr_t e, d, most;
    mpfr_inits2(BITS, e, d, most, (mpfr_ptr)NULL);
    int pairs = 0;
    for (int i = 0; i < 150; i++) {
        double epsilon = some_number(-3, 3), delta = some_number(-30, -1);
        uint64_t keys = 1 + (uint64_t)i % 4, changing = i % 3 ? keys : 2 * keys, n = 0;
        brume_key_selection *selection = NULL;
        assert_ok(brume_key_selection_open(
            epsilon, delta, keys, i % 3 ? BRUME_ADD_REMOVE : BRUME_REPLACE, &selection, &error));
        mpfr_set_d(e, epsilon, MPFR_RNDN);
        mpfr_div_ui(e, e, changing, MPFR_RNDN);
        mpfr_set_d(d, -delta, MPFR_RNDN);
        mpfr_log1p(d, d, MPFR_RNDN);
        mpfr_div_ui(d, d, changing, MPFR_RNDN);
        mpfr_expm1(d, d, MPFR_RNDN);
        mpfr_neg(d, d, MPFR_RNDN);
        double before = brume_key_selection_probability(selection, 0);
        assert_true(before == 0);
        for (n = 1; n < 400 && before < 1; n++, pairs++) {
            double here = brume_key_selection_probability(selection, n);
            most_after(most, before, e, d);
            for (int unit = 0; unit < 4; unit++)
                mpfr_nextabove(most); /* what MPFR rounds, in the last of its bits */
            assert_true(mpfr_cmp_d(most, here) >= 0);
            assert_true(here >= mpfr_get_d(most, MPFR_RNDD) * (1 - 0x1p-46) - 0x1p-60);
            before = here;
        }
        if (before == 1) { /* from here on always, by the draws too */
            brume_bits *bits = brume_tape_open_seeded(8);
            const int64_t units[] = {(int64_t)n - 1, (int64_t)n, INT64_MAX, 0, -1};
            unsigned char keep[5];
            for (int draw = 0; draw < 20; draw++) {
                assert_ok(brume_key_selection_draw(selection, bits, units, keep, 5, &error));
                assert_true(keep[0] && keep[1] && keep[2] && !keep[3] && !keep[4]);
            }
            brume_bits_close(bits);
        }
        brume_key_selection_close(selection);
    }
    assert_true(pairs > 3000);
    mpfr_clears(e, d, most, (mpfr_ptr)NULL);
}

/* Rejects: open ranges where closed ones are promised. */
static void the_ends_of_keys_and_prices_are_accepted(void **state)
{
    (void)state;
    static const struct {
        double epsilon, delta;
        uint64_t keys;
        bool good;
    } cases[] = {{0x1p-20, .49, 1, true},   {0x1p-21, .49, 1, false},
                 {700, .1, 1, true},        {701, .1, 1, false},
                 {1, 0x1p-60, 1, true},     {1, 0x1p-61, 1, false},
                 {700, .49, 1 << 20, true}, {1, 0, 1, false},
                 {1, .5, 1, false},         {700, .49, (1 << 20) + 1, false},
                 {1, .1, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_key_selection *selection = NULL;
        brume_status status = brume_key_selection_open(
            cases[i].epsilon, cases[i].delta, cases[i].keys, BRUME_ADD_REMOVE, &selection, &error);
        assert_int_equal(status, cases[i].good ? BRUME_OK : BRUME_EARGUMENT);
        assert_true((selection != NULL) == cases[i].good);
        brume_key_selection_close(selection);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_delta_and_what_they_use_together),
        cmocka_unit_test(tails_and_their_thresholds),
        cmocka_unit_test(a_hidden_key_leaves_no_count),
        cmocka_unit_test(chances_rise_by_exact_inequalities),
        cmocka_unit_test(the_ends_of_keys_and_prices_are_accepted),
    };
    return cmocka_run_group_tests_name("chances of keys", tests, NULL, NULL);
}
