/* Pure and discrete Laplace mechanisms on a Poisson sample, against the hockey-stick divergence of
 * the two products of output laws, outcome by outcome, in MPFR. Nothing is known there of losses,
 * lattices or transforms. */
#include "check.h"

#include <stdlib.h>

#include <mpfr.h>

#include <brume/account/compose.h>

#include "accountant/terms.h"
#include "balls.h"
#include "one_order.h"

enum { BITS = 256, MOST_OUTCOMES = 8, MOST_KINDS = 4 };

/* One release: its outcomes under the two neighbours. */
typedef struct pair {
    size_t outcomes;
    uint64_t count;
    mpfr_t first[MOST_OUTCOMES], second[MOST_OUTCOMES];
} pair;

typedef struct sum {
    const pair *pairs;
    size_t count;
    mpfr_t growth, total, term;
    mpfr_t mu, epsilon, place, tail; /* of a Gaussian with them, if mu > 0 */
} sum;

/* The inner pair is the discrete Laplace on 0 and on `shift`, all outcomes at or beyond an end in
 * one (their ratios are equal); of shift 1 it is randomized response. Then the sample. */
static void fill_pair(pair *p, double a, long shift, double rate, bool added, uint64_t count)
{
    mpfr_t decay, q, one;
    mpfr_inits2(BITS, decay, q, one, (mpfr_ptr)0);
    mpfr_set_d(decay, -a, MPFR_RNDN);
    mpfr_exp(decay, decay, MPFR_RNDN);
    p->outcomes = (size_t)shift + 1;
    p->count = count;
    for (long x = 0; x <= shift; x++) { /* P is centred on 0, Q on shift */
        mpfr_init2(p->first[x], BITS);
        mpfr_init2(p->second[x], BITS);
        mpfr_pow_si(p->first[x], decay, x, MPFR_RNDN);
        mpfr_pow_si(p->second[x], decay, shift - x, MPFR_RNDN);
        if (x > 0 && x < shift) {
            mpfr_ui_sub(one, 1, decay, MPFR_RNDN);
            mpfr_mul(p->first[x], p->first[x], one, MPFR_RNDN);
            mpfr_mul(p->second[x], p->second[x], one, MPFR_RNDN);
        }
        mpfr_add_ui(one, decay, 1, MPFR_RNDN);
        mpfr_div(p->first[x], p->first[x], one, MPFR_RNDN);
        mpfr_div(p->second[x], p->second[x], one, MPFR_RNDN);
        /* with the record: (1-q) Q + q P; without it: Q */
        mpfr_set_d(q, rate, MPFR_RNDN);
        mpfr_mul(p->first[x], p->first[x], q, MPFR_RNDN);
        mpfr_ui_sub(q, 1, q, MPFR_RNDN);
        mpfr_fma(p->first[x], p->second[x], q, p->first[x], MPFR_RNDN);
        if (added)
            mpfr_swap(p->first[x], p->second[x]);
    }
    mpfr_clears(decay, q, one, (mpfr_ptr)0);
}

static void clear_pair(pair *p)
{
    for (size_t x = 0; x < p->outcomes; x++) {
        mpfr_clear(p->first[x]);
        mpfr_clear(p->second[x]);
    }
}

/* The standard normal's distribution function. */
static void normal_cdf(mpfr_t out, const mpfr_t x)
{
    mpfr_sqrt_ui(out, 2, MPFR_RNDN);
    mpfr_div(out, x, out, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_erfc(out, out, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
}

/* One outcome of everything but the Gaussian, which has probabilities p and q: (p - u q)_+; with
 * the Gaussian p Phi(mu/2 - v/mu) - u q Phi(-mu/2 - v/mu), v = log(u q/p). */
static void take_outcome(sum *s, const mpfr_t p, const mpfr_t q)
{
    if (!(mpfr_sgn(s->mu) > 0)) {
        mpfr_mul(s->term, q, s->growth, MPFR_RNDN);
        mpfr_sub(s->term, p, s->term, MPFR_RNDN);
        if (mpfr_sgn(s->term) > 0)
            mpfr_add(s->total, s->total, s->term, MPFR_RNDN);
        return;
    }
    mpfr_div(s->place, q, p, MPFR_RNDN);
    mpfr_mul(s->place, s->place, s->growth, MPFR_RNDN);
    mpfr_log(s->place, s->place, MPFR_RNDN);
    mpfr_div(s->place, s->place, s->mu, MPFR_RNDN);
    mpfr_div_2ui(s->term, s->mu, 1, MPFR_RNDN);
    mpfr_sub(s->term, s->term, s->place, MPFR_RNDN);
    normal_cdf(s->tail, s->term);
    mpfr_fma(s->total, s->tail, p, s->total, MPFR_RNDN);
    mpfr_sub(s->term, s->term, s->mu, MPFR_RNDN);
    normal_cdf(s->tail, s->term);
    mpfr_mul(s->tail, s->tail, q, MPFR_RNDN);
    mpfr_mul(s->tail, s->tail, s->growth, MPFR_RNDN);
    mpfr_sub(s->total, s->total, s->tail, MPFR_RNDN);
}

/* All outcomes of releases `left` of kind `kind` and of the kinds after it, from outcome `least` on
 * within the kind: orderings of equal outcomes are counted by a multinomial coefficient. */
static void walk(sum *s, size_t kind, uint64_t left, size_t least, const mpfr_t p, const mpfr_t q)
{
    if (kind == s->count) {
        take_outcome(s, p, q);
        return;
    }
    const pair *at = &s->pairs[kind];
    if (left == 0 || least + 1 == at->outcomes) { /* what is left falls on the last outcome */
        mpfr_t next_p, next_q;
        mpfr_inits2(BITS, next_p, next_q, (mpfr_ptr)0);
        mpfr_pow_ui(next_p, at->first[least], (unsigned long)left, MPFR_RNDN);
        mpfr_pow_ui(next_q, at->second[least], (unsigned long)left, MPFR_RNDN);
        mpfr_mul(next_p, next_p, p, MPFR_RNDN);
        mpfr_mul(next_q, next_q, q, MPFR_RNDN);
        walk(s, kind + 1, kind + 1 < s->count ? s->pairs[kind + 1].count : 0, 0, next_p, next_q);
        mpfr_clears(next_p, next_q, (mpfr_ptr)0);
        return;
    }
    mpfr_t now_p, now_q;
    mpfr_inits2(BITS, now_p, now_q, (mpfr_ptr)0);
    mpfr_set(now_p, p, MPFR_RNDN);
    mpfr_set(now_q, q, MPFR_RNDN);
    for (uint64_t n = 0; n <= left; n++) {
        walk(s, kind, left - n, least + 1, now_p, now_q);
        mpfr_mul(now_p, now_p, at->first[least], MPFR_RNDN);
        mpfr_mul(now_q, now_q, at->second[least], MPFR_RNDN);
        mpfr_mul_ui(now_p, now_p, (unsigned long)(left - n), MPFR_RNDN);
        mpfr_mul_ui(now_q, now_q, (unsigned long)(left - n), MPFR_RNDN);
        mpfr_div_ui(now_p, now_p, (unsigned long)(n + 1), MPFR_RNDN);
        mpfr_div_ui(now_q, now_q, (unsigned long)(n + 1), MPFR_RNDN);
    }
    mpfr_clears(now_p, now_q, (mpfr_ptr)0);
}

/* The hockey-stick divergence of these terms at e^epsilon, in one order. */
static double truth(const brume_term *terms, size_t count, double epsilon, bool added)
{
    pair pairs[MOST_KINDS];
    sum s = {.pairs = pairs};
    mpfr_inits2(BITS, s.growth, s.total, s.term, s.mu, s.epsilon, s.place, s.tail, (mpfr_ptr)0);
    mpfr_set_zero(s.mu, 1);
    mpfr_set_zero(s.total, 1);
    for (size_t i = 0; i < count; i++) {
        const brume_loss *law = &terms[i].cost.law;
        bool sampled = law->kind == BRUME_LOSS_POISSON_PURE ||
                       law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
        if (law->kind == BRUME_LOSS_GAUSSIAN) { /* mu grows with the root of the count */
            mpfr_set_ui(s.mu, (unsigned long)terms[i].count, MPFR_RNDN);
            mpfr_sqrt(s.mu, s.mu, MPFR_RNDN);
            mpfr_mul_d(s.mu, s.mu, law->a, MPFR_RNDN);
            continue;
        }
        long shift = law->shift > 0 ? (long)law->shift : 1;
        fill_pair(&pairs[s.count++], law->a, shift, sampled ? law->rate : 1, added, terms[i].count);
    }
    mpfr_set_d(s.growth, epsilon, MPFR_RNDN);
    mpfr_exp(s.growth, s.growth, MPFR_RNDN);
    mpfr_t one;
    mpfr_init2(one, BITS);
    mpfr_set_ui(one, 1, MPFR_RNDN);
    walk(&s, 0, pairs[0].count, 0, one, one);
    double result = mpfr_get_d(s.total, MPFR_RNDN);
    mpfr_clear(one);
    for (size_t i = 0; i < s.count; i++)
        clear_pair(&pairs[i]);
    mpfr_clears(s.growth, s.total, s.term, s.mu, s.epsilon, s.place, s.tail, (mpfr_ptr)0);
    return result;
}

static bool contains(brume_interval value, double point)
{
    return value.lower <= point * (1 + 4e-16) && value.upper >= point * (1 - 4e-16);
}

static brume_term sampled_pure(double rate, double epsilon, uint64_t count)
{
    return term_of(BRUME_LOSS_POISSON_PURE, epsilon, rate, 0, count);
}

static brume_term sampled_discrete_laplace(double rate, double a, uint64_t shift, uint64_t count)
{
    return term_of(BRUME_LOSS_POISSON_DISCRETE_LAPLACE, a, rate, shift, count);
}

/* Both orders; and the order taken for the other is rejected. */
static void every_outcome_counts_and_the_orders_are_not_swapped(void **state)
{
    (void)state;
    uint64_t seed = 3;
    int told_apart = 0, checked = 0;
    for (int i = 0; i < 400; i++) {
        double rate = i % 4 == 3 ? 1 - exp10(-6 * sequence_share(&seed))
                                 : exp10(-4 * sequence_share(&seed));
        double epsilon0 = exp10(-2.5 + 3.5 * sequence_share(&seed));
        uint64_t count = 1 + (uint64_t)(60 * sequence_share(&seed) * sequence_share(&seed));
        brume_term term = sampled_pure(rate, epsilon0, count);
        for (unsigned added = 0; added < 2; added++) {
            double top = (double)count *
                         (added ? -log1p(rate * expm1(-epsilon0)) : log1p(rate * expm1(epsilon0)));
            double epsilon = top * sequence_share(&seed);
            brume_interval value = solved(&term, 1, epsilon, added);
            double right = truth(&term, 1, epsilon, added);
            double wrong = truth(&term, 1, epsilon, !added);
            if (!contains(value, right))
                fail_msg("rate %.17g epsilon0 %.17g x %llu, order %d, epsilon %.17g: [%.17g, "
                         "%.17g], not %.17g",
                         rate, epsilon0, (unsigned long long)count, added, epsilon, value.lower,
                         value.upper, right);
            if (right > 1e-200 && !(value.upper - value.lower <= 1e-9 * value.upper))
                fail_msg("rate %.17g epsilon0 %.17g x %llu, order %d, epsilon %.17g: [%.17g, "
                         "%.17g] is wide",
                         rate, epsilon0, (unsigned long long)count, added, epsilon, value.lower,
                         value.upper);
            checked++;
            told_apart += !contains(value, wrong);
        }
    }
    assert_true(told_apart >= checked - checked / 20); /* 1 of 20: one draw at a rate near 1 */
}

/* Few kinds together, also with a Gaussian, with laws that no sampling touched and with discrete
 * Laplaces that have several outcomes. */
static void mixtures_contain_the_sum_over_all_outcomes(void **state)
{
    (void)state;
    uint64_t seed = 11;
    unsigned wide = 0, checked = 0;
    for (int i = 0; i < 120; i++) {
        brume_term terms[MOST_KINDS];
        size_t count = 0;
        double scale = exp10(-1.3 + 1.3 * sequence_share(&seed));
        terms[count++] = sampled_pure(0.01 + 0.9 * sequence_share(&seed),
                                      scale * (0.5 + sequence_share(&seed)),
                                      1 + (uint64_t)(6 * sequence_share(&seed)));
        if (i % 3 != 0)
            terms[count++] = sampled_pure(0.01 + 0.9 * sequence_share(&seed),
                                          scale * (0.5 + sequence_share(&seed)),
                                          1 + (uint64_t)(6 * sequence_share(&seed)));
        if (i % 4 == 1)
            terms[count++] = pure(scale * (0.5 + sequence_share(&seed)), 2);
        if (i % 5 == 2)
            terms[count++] = sampled_discrete_laplace(0.05 + 0.9 * sequence_share(&seed), scale / 2,
                                                      2 + (uint64_t)(3 * sequence_share(&seed)), 2);
        if (i % 2 == 0 && count < MOST_KINDS)
            terms[count++] = gaussian(2 / scale * (0.5 + sequence_share(&seed)), 2);
        double size = 0;
        for (size_t j = 0; j < count; j++)
            size += (double)terms[j].count * scale * (terms[j].cost.law.rate + 0.3);
        double epsilon = size * 0.7 * sequence_share(&seed), larger = 0;
        for (unsigned added = 0; added < 2; added++) {
            brume_interval value = solved(terms, count, epsilon, added);
            double right = truth(terms, count, epsilon, added);
            larger = fmax(larger, right);
            if (!contains(value, right))
                fail_msg("mixture %d, order %d, epsilon %.17g: [%.17g, %.17g], not %.17g", i, added,
                         epsilon, value.lower, value.upper, right);
            wide += right > 1e-30 && !(value.upper - value.lower <= 1e-6 * value.upper);
            checked++;
        }
        brume_composition out;
        brume_error error;
        assert_ok(brume_compose_delta(terms, count, epsilon, NULL, &out, &error));
        assert_true(contains(out.value, larger));
    }
    print_message("# %u of %u wider than 1e-6\n", wide, checked);
    assert_true(wide <= checked / 20);
}

/* epsilon at a delta: between its ends the sum over all outcomes crosses delta. */
static void epsilon_is_where_the_outcomes_meet_delta(void **state)
{
    (void)state;
    static const struct {
        double rate, epsilon0, delta;
        uint64_t count;
    } cases[] = {{0.1, 1, 1e-6, 10},   {0.1, 1, 1e-6, 1},      {0.5, 5, 1e-9, 20},
                 {0.9, 1, 1e-5, 50},   {0.01, 0.5, 1e-6, 200}, {0.01, 8, 1e-3, 3},
                 {1e-3, 20, 1e-5, 40}, {0.3, 0.01, 1e-6, 100}, {0.999, 0.2, 1e-12, 60},
                 {1e-6, 1, 1e-30, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_term term = sampled_pure(cases[i].rate, cases[i].epsilon0, cases[i].count);
        brume_composition out;
        brume_error error;
        assert_ok(brume_compose_epsilon(&term, 1, cases[i].delta, NULL, &out, &error));
        balls_agree(&term, 1, out.value.upper);
        double above =
            fmax(truth(&term, 1, out.value.upper, false), truth(&term, 1, out.value.upper, true));
        double below =
            fmax(truth(&term, 1, out.value.lower, false), truth(&term, 1, out.value.lower, true));
        assert_true(above <= cases[i].delta && below >= cases[i].delta);
        assert_true(out.value.upper - out.value.lower <= 1e-9 * out.value.upper);
        /* never above the composition of what was charged before: pure epsilon' */
        brume_term before = pure(log1p(cases[i].rate * expm1(cases[i].epsilon0)), cases[i].count);
        brume_composition old;
        assert_ok(brume_compose_epsilon(&before, 1, cases[i].delta, NULL, &old, &error));
        assert_true(out.value.upper <= old.value.upper * (1 + 1e-9));
        if (cases[i].count >= 10 && cases[i].delta >= 1e-9)
            assert_true(out.value.upper < old.value.lower);
    }
}

static void a_rate_of_1_is_the_inner_law_and_a_rate_near_0_is_nothing(void **state)
{
    (void)state;
    brume_term whole[2] = {sampled_pure(1, 0.3, 20), sampled_discrete_laplace(1, 0.1, 3, 4)};
    brume_term inner[2] = {pure(0.3, 20), discrete_laplace(0.1, 3, 4)};
    brume_composition a, b;
    brume_error error;
    assert_ok(brume_compose_epsilon(whole, 2, 1e-6, NULL, &a, &error));
    assert_ok(brume_compose_epsilon(inner, 2, 1e-6, NULL, &b, &error));
    assert_true(a.value.lower == b.value.lower && a.value.upper == b.value.upper);
    brume_term nearly = sampled_pure(1 - 1e-9, 0.3, 20);
    assert_ok(brume_compose_epsilon(inner, 1, 1e-6, NULL, &b, &error));
    assert_ok(brume_compose_epsilon(&nearly, 1, 1e-6, NULL, &a, &error));
    assert_close(a.value.upper, b.value.upper, 1e-7);
    assert_true(a.value.lower < b.value.upper);
    /* total variation is q tanh(epsilon/2) a draw: from there on nothing is paid */
    brume_term rare = sampled_pure(1e-9, 1, 100);
    assert_ok(brume_compose_epsilon(&rare, 1, 1e-7, NULL, &a, &error));
    assert_true(a.value.upper == 0);
    assert_ok(brume_compose_delta(&rare, 1, 0, NULL, &a, &error));
    assert_true(a.value.upper < 1e-7 * tanh(0.5) && a.value.lower > 1e-9 * tanh(0.5));
    assert_true(contains(a.value, fmax(truth(&rare, 1, 0, false), truth(&rare, 1, 0, true))));
}

static void more_of_anything_costs_no_less(void **state)
{
    (void)state;
    double rates[] = {1e-4, 1e-3, 0.01, 0.1, 0.3, 0.7, 0.99, 1}, last = 0;
    brume_composition out;
    brume_error error;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        brume_term term = sampled_pure(rates[i], 0.5, 1000);
        assert_ok(brume_compose_epsilon(&term, 1, 1e-6, NULL, &out, &error));
        assert_true(out.value.lower >= last);
        last = out.value.upper;
    }
    last = 0;
    for (double epsilon0 = 1e-3; epsilon0 < 30; epsilon0 *= 3) {
        brume_term term = sampled_pure(0.02, epsilon0, 500);
        assert_ok(brume_compose_epsilon(&term, 1, 1e-6, NULL, &out, &error));
        assert_true(out.value.lower >= last);
        last = out.value.upper;
    }
    for (uint64_t count = 1; count <= UINT64_C(1) << 40; count *= 32) {
        brume_term term = sampled_pure(0.01, 0.1 / sqrt((double)count), count);
        assert_ok(brume_compose_epsilon(&term, 1, 1e-6, NULL, &out, &error));
        if (!(out.value.upper - out.value.lower <= 1e-9 * out.value.upper))
            fail_msg("%llu draws: [%.17g, %.17g]", (unsigned long long)count, out.value.lower,
                     out.value.upper);
    }
}

/* The sums behind the answers, redone in balls: folded, with a Gaussian, smoothed, tables.
 */
static void ball_arithmetic_agrees(void **state)
{
    (void)state;
    brume_term cases[][3] = {
        {sampled_pure(0.1, 1, 100)},
        {sampled_pure(0.9, 3, 7)},
        {sampled_pure(1e-4, 0.01, 1000000)},
        {sampled_pure(0.2, 0.4, 30), gaussian(3, 2)},
        {sampled_pure(0.2, 0.4, 30), sampled_pure(0.1, 0.77, 12)},
        {sampled_pure(0.2, 0.4, 3), sampled_discrete_laplace(0.4, 0.3, 4, 3), pure(0.21, 4)},
        {sampled_discrete_laplace(0.4, 0.3, 4, 40), laplace(0.05, 300)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count = 0;
        while (count < 3 && cases[i][count].count > 0)
            count++;
        for (unsigned added = 0; added < 2; added++) {
            brume_merged merged;
            brume_error error;
            assert_ok(brume_merge_terms(cases[i], count, added, &merged, &error));
            ball_audit audit;
            assert_true(balls_audit_delta(merged.laws, merged.law_count, 0.3, &audit));
            brume_merged_close(&merged);
            if (!audit.agrees)
                fail_msg("case %zu, order %d: %.3g of the bound", i, added, audit.ratio);
            assert_true(audit.nodes > 3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_outcome_counts_and_the_orders_are_not_swapped),
        cmocka_unit_test(mixtures_contain_the_sum_over_all_outcomes),
        cmocka_unit_test(epsilon_is_where_the_outcomes_meet_delta),
        cmocka_unit_test(a_rate_of_1_is_the_inner_law_and_a_rate_near_0_is_nothing),
        cmocka_unit_test(more_of_anything_costs_no_less),
        cmocka_unit_test(ball_arithmetic_agrees),
    };
    return cmocka_run_group_tests_name("accountant amplified", tests, NULL, NULL);
}
