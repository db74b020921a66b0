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
        double scale = some_number(-2, 12), delta = some_number(-40, -2), used = 0;
        uint64_t m = brume_tape_splitmix(&seed) % (uint64_t)(1 + 20 * scale);
        tail(truth, scale, m);
        is_close(brume_discrete_tail_upper(scale, m), truth, true);
        assert_ok(brume_discrete_tail_threshold(scale, delta, &m, &used, &error));
        tail(truth, scale, m);
        is_close(used, truth, true);
        assert_holds(used <= delta);
        if (m > 0) {
            tail(truth, scale, m - 1);
            mpfr_mul_d(truth, truth, 1 + 0x1p-48, MPFR_RNDU);
            assert_holds(mpfr_cmp_d(truth, delta) > 0);
        }
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
        size_t shown = 0;
        for (size_t i = 0; i < KEYS; i++) {
            shown += keep[i];
            assert_holds(keep[i] ? noisy[i] >= plan.threshold && counts[i] > 0 : noisy[i] == 0);
        }
        assert_holds(shown > KEYS / 4 && shown < KEYS * 3 / 4);
        /* where the threshold is low noise alone passes it often, but nobody has these keys */
        rule.delta = .4;
        assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
        memset(counts, 0, sizeof counts);
        assert_ok(brume_histogram_release(&plan, bits, counts, noisy, keep, KEYS, &error));
        for (size_t i = 0; i < KEYS; i++)
            assert_holds(!keep[i] && noisy[i] == 0);
        brume_bits_close(bits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_delta_and_what_they_use_together),
        cmocka_unit_test(tails_and_their_thresholds),
        cmocka_unit_test(a_hidden_key_leaves_no_count),
    };
    return cmocka_run_group_tests_name("chances of keys", tests, NULL, NULL);
}
