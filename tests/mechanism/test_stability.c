/* Stability tests, stable histograms and key selection: thresholds, and privacy by enumeration. */
#include "check.h"

#include <stdlib.h>

#include <brume/mechanism/stability.h>
#include <brume/mechanism/stable_histogram.h>
#include <brume/noise/noise.h>

#include "mechanism/noise/release.h"
#include "mechanism/stability/histogram_gaussian.h"
#include "mechanism/stability/stability.h"
#include "random/tape.h"

static brume_error error;

static double mass_discrete(double scale, int64_t k)
{
    double a = exp(-1 / scale);
    return (1 - a) / (1 + a) * pow(a, (double)llabs(k));
}

static void the_thresholds_are_the_least_integers_whose_tail_is_within_delta(void **state)
{
    (void)state;
    const struct {
        double epsilon, delta;
        uint64_t m;
    } vectors[] = {{1, 1e-6, 14}, {.1, 1e-9, 201}, {.5, 1e-5, 23}};
    for (int i = 0; i < 3; i++) {
        uint64_t m;
        double tail;
        assert_ok(
            brume_stability_threshold(vectors[i].epsilon, vectors[i].delta, &m, &tail, &error));
        assert_int_equal(m, vectors[i].m);
        assert_holds(tail <= vectors[i].delta);
    }
    uint64_t m;
    double tail;
    assert_ok(brume_stability_threshold(1, 1e-6, &m, &tail, &error));
    assert_close(tail, 6.0789620347788292e-7, 1e-12);
    /* One less would not do. */
    double a = exp(-1);
    assert_holds(pow(a, 13) / (1 + a) > 1e-6);
    for (double epsilon = .003; epsilon < 20; epsilon *= 1.7)
        for (double delta = 1e-12; delta < .4; delta *= 7) {
            assert_ok(brume_stability_threshold(epsilon, delta, &m, &tail, &error));
            double q = exp(-epsilon);
            assert_holds(pow(q, (double)m) / (1 + q) <= delta * (1 + 1e-12));
            assert_holds(pow(q, (double)m - 1) / (1 + q) > delta * (1 - 1e-12));
        }
    assert_fails(brume_stability_threshold(0, 1e-6, &m, &tail, &error), BRUME_EARGUMENT);
    assert_fails(brume_stability_threshold(1, 0, &m, &tail, &error), BRUME_EARGUMENT);
    assert_fails(brume_stability_threshold(1, .5, &m, &tail, &error), BRUME_EARGUMENT);
    assert_fails(brume_stability_threshold((double)NAN, .1, &m, &tail, &error), BRUME_EARGUMENT);
}

/* Data at distance d is withheld iff d + X < m: by the tail of discrete Laplace noise. */
static void data_that_is_far_is_rarely_withheld(void **state)
{
    (void)state;
    static const double settings[][2] = {{1, 1e-6}, {.1, 1e-3}, {3, 1e-9}};
    static const double betas[] = {.3, .05, 1e-6, .9};
    for (int i = 0; i < 3; i++) {
        uint64_t m;
        double tail, q = exp(-settings[i][0]);
        assert_ok(brume_stability_threshold(settings[i][0], settings[i][1], &m, &tail, &error));
        for (double d = 0; d < 3 * (double)m; d += .5) {
            double beta, whole = ceil(d), t = whole - (double)m + 1;
            assert_ok(brume_stability_beta_upper(settings[i][0], settings[i][1], d, &beta, &error));
            assert_close(beta, t < 0 ? 1 : pow(q, t) / (1 + q), 1e-9);
        }
        for (int b = 0; b < 4; b++) { /* the least whole distance whose chance is within beta */
            double alpha, most = fmin(betas[b], .49999999);
            assert_ok(brume_stability_alpha_upper(settings[i][0], settings[i][1], betas[b], &alpha,
                                                  &error));
            double t = alpha - (double)m + 1;
            assert_holds(pow(q, t) / (1 + q) <= most * (1 + 1e-9));
            assert_holds(t == 0 || pow(q, t - 1) / (1 + q) > most * (1 - 1e-9));
        }
        double far;
        assert_ok(brume_stability_beta_upper(settings[i][0], settings[i][1], 0x1p60, &far, &error));
        assert_holds(far < 1e-300);
    }
}

/* P[error >= d] of a key that `units` have, by the law of the noise: what is withheld errs by all
 * of its units. */
static double chance_of_error(double q, int threshold, int units, int d)
{
    double chance = 0;
    for (int x = -400; x <= 400; x++) {
        int shown = units + x >= threshold, off = shown ? abs(x) : units;
        chance += off >= d ? (1 - q) / (1 + q) * pow(q, abs(x)) : 0;
    }
    return chance;
}

/* Rejects: the accuracy of one key said of all of them; the error of keys that are shown forgotten.
 * And the theorem of the stable histogram: where delta <= 1/n, no key of n units is off by more
 * than a constant times ln(1/delta)/epsilon, with probability 1 - 1/n. */
static void all_keys_of_a_stable_histogram_are_accurate_at_once(void **state)
{
    (void)state;
    static const double settings[][2] = {{1, 1e-6}, {.5, .01}, {2, .4}, {.3, .2}};
    for (int i = 0; i < 4; i++) {
        uint64_t m;
        double tail, epsilon = settings[i][0], q = exp(-epsilon), beta, alpha;
        assert_ok(brume_stability_threshold(epsilon, settings[i][1], &m, &tail, &error));
        int threshold = 1 + (int)m;
        for (int d = 1; d < 2 * threshold; d++) {
            double worst = 0;
            for (int units = 1; units < 4 * threshold; units++)
                worst = fmax(worst, chance_of_error(q, threshold, units, d));
            for (uint64_t keys = 1; keys <= 100000; keys *= 10) {
                double all = 1 - pow(1 - worst, (double)keys);
                brume_histogram_beta_upper(1 / epsilon, (uint64_t)threshold, keys, d, &beta);
                assert_holds(beta >= all - 1e-9);
                assert_holds(d < threshold - 1 || beta <= all + 1e-9); /* and no more */
                brume_histogram_beta_upper(1 / epsilon, (uint64_t)threshold, keys, d - .5, &alpha);
                assert_true(alpha == beta); /* errors are whole */
            }
        }
        for (double wanted = .9; wanted > 1e-12; wanted /= 9)
            for (uint64_t keys = 1; keys <= 1000000000; keys *= 1000) {
                assert_ok(brume_histogram_alpha_upper(1 / epsilon, (uint64_t)threshold, keys,
                                                      wanted, &alpha, &error));
                brume_histogram_beta_upper(1 / epsilon, (uint64_t)threshold, keys, alpha, &beta);
                assert_holds(alpha == floor(alpha) && beta <= wanted);
                brume_histogram_beta_upper(1 / epsilon, (uint64_t)threshold, keys, alpha - 1,
                                           &beta);
                assert_holds(beta > wanted); /* the least */
                if (wanted < .1 && keys > 1) {
                    brume_histogram_beta_upper(1 / epsilon, (uint64_t)threshold, 1, alpha, &beta);
                    assert_holds(beta * 100 < wanted);
                }
            }
    }
    for (double epsilon = .01; epsilon < 10; epsilon *= 3)
        for (double n = 3; n < 1e9; n *= 7)
            for (double delta = 1 / n; delta > 1e-12; delta /= 11) {
                uint64_t m;
                double tail, alpha;
                assert_ok(brume_stability_threshold(epsilon, delta, &m, &tail, &error));
                assert_ok(brume_histogram_alpha_upper(1 / epsilon, m + 1, (uint64_t)n, 1 / n,
                                                      &alpha, &error));
                assert_holds(alpha <= 2 + (3 * log(1 / delta) + log(2)) / epsilon);
                assert_holds(alpha >= (log(1 / delta) - 2) / epsilon);
            }
    double far;
    brume_histogram_beta_upper(1, 15, 1000, INFINITY, &far);
    assert_holds(far < 1e-300);
    brume_histogram_beta_upper(1, 15, 1000, 0, &far);
    assert_true(far == 1);
}

static brume_histogram_rule rule_of(brume_histogram_noise noise, double epsilon, double delta,
                                    uint64_t keys, uint64_t amount, brume_adjacency adjacency)
{
    return (brume_histogram_rule){noise, epsilon, delta, keys, amount, adjacency};
}

static double real_threshold(brume_histogram_rule rule)
{
    double scale = 0, threshold = 0;
    assert_ok(brume_histogram_threshold_real(&rule, &scale, &threshold, &error));
    return threshold;
}

static void the_vectors_of_stable_histograms_hold(void **state)
{
    (void)state;
    const brume_histogram_noise laplace = BRUME_HISTOGRAM_LAPLACE, gauss = BRUME_HISTOGRAM_GAUSSIAN;
    assert_close(real_threshold(rule_of(laplace, 1, 1e-6, 1, 1, BRUME_ADD_REMOVE)),
                 14.122363377404329, 1e-13);
    assert_close(real_threshold(rule_of(laplace, 1, 1e-6, 1, 1, BRUME_REPLACE)), 27.244726754808658,
                 1e-13);
    assert_close(real_threshold(rule_of(laplace, 1, 1e-6, 3, 1, BRUME_ADD_REMOVE)),
                 43.662925998216927, 1e-13);
    assert_close(real_threshold(rule_of(laplace, 1, 1e-6, 10, 1, BRUME_ADD_REMOVE)),
                 155.24948020398191, 1e-13);
    assert_close(real_threshold(rule_of(laplace, .5, 1e-5, 1, 1, BRUME_ADD_REMOVE)),
                 22.639556568820566, 1e-13);
    assert_close(real_threshold(rule_of(gauss, 1, 1e-5, 1, 1, BRUME_ADD_REMOVE)),
                 17.565436359857133, 1e-11);
    assert_close(real_threshold(rule_of(gauss, 1, 1e-5, 3, 1, BRUME_ADD_REMOVE)),
                 31.301205568819124, 1e-11);
    assert_close(real_threshold(rule_of(gauss, 1, 1e-5, 10, 1, BRUME_ADD_REMOVE)),
                 59.385024249491892, 1e-11);
    brume_histogram_plan plan;
    brume_histogram_rule rule =
        rule_of(BRUME_HISTOGRAM_DISCRETE_LAPLACE, 1, 1e-6, 1, 1, BRUME_ADD_REMOVE);
    assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
    assert_int_equal(plan.threshold, 15);
    rule.noise = gauss;
    rule.delta = 1e-5;
    assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
    assert_close(plan.scale, 3.8841408046043612, 1e-12);
    assert_int_equal(plan.threshold, 19); /* ceil(17.5654 + 1/2) */
    rule.keys_per_unit = 3;
    assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
    assert_close(plan.scale, 6.7275292173262127, 1e-12);
    rule.keys_per_unit = 10;
    assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
    assert_close(plan.scale, 12.282731695348806, 1e-12);
}

enum { OUTCOMES = 400 };

/* The law of one key: outcome 0 is "hidden", outcome i > 0 the noisy count threshold + i - 1; the
 * last takes the rest. */
static void law_of_key(const brume_histogram_plan *plan, int64_t count, int64_t threshold,
                       double scale, double *law)
{
    memset(law, 0, OUTCOMES * sizeof *law);
    if (count == 0) {
        law[0] = 1;
        return;
    }
    double sum = 0;
    for (int i = 1; i < OUTCOMES; i++) {
        int64_t noise = threshold + i - 1 - count;
        double low = (double)noise - .5, high = (double)noise + .5;
        if (plan->rule.noise == BRUME_HISTOGRAM_DISCRETE_LAPLACE)
            law[i] = mass_discrete(scale, noise);
        else if (plan->rule.noise == BRUME_HISTOGRAM_GAUSSIAN)
            law[i] = (erfc(low / scale / sqrt(2)) - erfc(high / scale / sqrt(2))) / 2;
        else if (noise > 0)
            law[i] = (exp(-low / scale) - exp(-high / scale)) / 2;
        else if (noise < 0)
            law[i] = (exp(high / scale) - exp(low / scale)) / 2;
        else
            law[i] = 1 - exp(-.5 / scale);
        sum += law[i];
    }
    law[0] = 1 - sum;
}

/* H(P||Q) at exp(epsilon) for pairs of keys, P = a x b, Q = c x d. */
static double divergence(const double *a, const double *b, const double *c, const double *d,
                         double epsilon)
{
    double sum = 0, factor = exp(epsilon);
    for (int i = 0; i < OUTCOMES; i++)
        for (int j = 0; j < OUTCOMES; j++) {
            double more = a[i] * b[j] - factor * c[i] * d[j];
            sum += more > 0 ? more : 0;
        }
    return sum;
}

/* The worst divergence over two keys with counts 0, 1 and some large ones, one of which (L0 = 1) or
 * both (L0 = 2) change by up to Linf; with the noise and threshold given. */
static double worst_histogram(const brume_histogram_plan *plan, double scale, int64_t threshold)
{
    const int64_t amount = (int64_t)plan->rule.amount_per_key;
    const int64_t bases[] = {0, 1, threshold + 3};
    double worst = 0, law[4][OUTCOMES];
    bool replace = plan->rule.adjacency == BRUME_REPLACE;
    uint64_t keys = plan->rule.keys_per_unit;
    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++)
            for (int code = 0; code < 16; code++) {
                /* What the unit adds to the two keys before and after. */
                int64_t before[2] = {code & 1 ? amount : 0, code & 2 ? amount : 0};
                int64_t after[2] = {code & 4 ? amount : 0, code & 8 ? amount : 0};
                uint64_t n_before = (uint64_t)((code & 1) + (code >> 1 & 1));
                uint64_t n_after = (uint64_t)((code >> 2 & 1) + (code >> 3 & 1));
                if (n_before > keys || n_after > keys ||
                    (!replace && n_before != 0 && n_after != 0))
                    continue;
                law_of_key(plan, bases[x] + before[0], threshold, scale, law[0]);
                law_of_key(plan, bases[y] + before[1], threshold, scale, law[1]);
                law_of_key(plan, bases[x] + after[0], threshold, scale, law[2]);
                law_of_key(plan, bases[y] + after[1], threshold, scale, law[3]);
                worst = fmax(worst, divergence(law[0], law[1], law[2], law[3], plan->rule.epsilon));
            }
    return worst;
}

static void every_stable_histogram_is_private_and_the_discrete_one_is_tight(void **state)
{
    (void)state;
    for (int noise = BRUME_HISTOGRAM_DISCRETE_LAPLACE; noise <= BRUME_HISTOGRAM_GAUSSIAN; noise++)
        for (int replace = 0; replace < 2; replace++)
            for (uint64_t keys = 1; keys <= 2; keys++)
                for (uint64_t amount = 1; amount <= 2; amount++) {
                    brume_histogram_rule rule = rule_of((brume_histogram_noise)noise, 1, 1e-3, keys,
                                                        amount,
                                                        replace ? BRUME_REPLACE : BRUME_ADD_REMOVE);
                    brume_histogram_plan plan;
                    assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
                    assert_holds(plan.delta_upper <= rule.delta);
                    double worst = worst_histogram(&plan, plan.scale, plan.threshold);
                    assert_holds(worst <= plan.delta_upper * (1 + 1e-9));
                    if (noise == BRUME_HISTOGRAM_DISCRETE_LAPLACE)
                        assert_holds(worst >= plan.delta_upper * (1 - 1e-9));
                    else
                        assert_holds(worst >= plan.delta_upper * .3);
                    /* A threshold one or two lower is not private: the test can fail. */
                    assert_holds(worst_histogram(&plan, plan.scale, plan.threshold - 2) >
                                 rule.delta);
                }
}

/* The Gaussian profile, max(0, 1 - e^epsilon) where nothing moves. */
static long double profile(long double epsilon, long double mu)
{
    if (mu == 0)
        return fmaxl(0, -expm1l(epsilon));
    long double root = sqrtl(2), ratio = epsilon / mu;
    return erfcl((ratio - mu / 2) / root) / 2 - expl(epsilon) * erfcl((ratio + mu / 2) / root) / 2;
}

/* The worst delta of proofs/stable_histogram.md. */
static long double gaussian_delta(const brume_histogram_rule *rule, double sigma, double threshold)
{
    const bool replace = rule->adjacency == BRUME_REPLACE;
    const int keys = (int)rule->keys_per_unit;
    long double amount = (long double)rule->amount_per_key, worst = 0;
    long double hides = logl(erfcl((amount - threshold) / sigma / sqrtl(2)) / 2);
    for (int gone = 0; gone <= keys; gone++)
        for (int come = 0; come <= keys; come++) {
            int moving = replace ? 2 * keys - gone - come : keys - gone - come;
            if (moving < 0 || (!replace && gone > 0 && come > 0))
                continue;
            long double mu = sqrtl((long double)moving) * amount / sigma;
            long double rest = profile(rule->epsilon - (gone - come) * hides, mu);
            worst = fmaxl(worst, -expm1l(gone * hides) + expl(gone * hides) * rest);
        }
    return worst;
}

static void the_delta_of_a_gaussian_histogram_is_the_worst_over_keys_that_go_and_come(void **state)
{
    (void)state;
    const double sigmas[] = {.4, 1, 3}, thresholds[] = {1.2, 2.5, 4, 12}, epsilons[] = {.01, .5, 2};
    for (int code = 0; code < 3 * 4 * 3 * 3 * 2 * 2; code++) {
        double sigma = sigmas[code % 3], threshold = thresholds[code / 3 % 4], found = -1;
        brume_histogram_rule rule = rule_of(
            BRUME_HISTOGRAM_GAUSSIAN, epsilons[code / 12 % 3], 1, (uint64_t)(code / 36 % 3 + 1),
            (uint64_t)(code / 108 % 2 + 1), code / 216 ? BRUME_REPLACE : BRUME_ADD_REMOVE);
        double expected = (double)gaussian_delta(&rule, sigma, threshold);
        assert_true(brume_histogram_gaussian_holds(&rule, sigma, threshold, &found));
        assert_close(found, expected, 1e-12);
        rule.delta = expected * (1 - 1e-12);
        assert_false(brume_histogram_gaussian_holds(&rule, sigma, threshold, NULL));
        rule.delta = expected * (1 + 1e-12);
        assert_true(brume_histogram_gaussian_holds(&rule, sigma, threshold, NULL));
    }
}

static void the_wrong_histograms_are_rejected(void **state)
{
    (void)state;
    brume_histogram_rule rule =
        rule_of(BRUME_HISTOGRAM_DISCRETE_LAPLACE, 1, 1e-6, 1, 1, BRUME_REPLACE);
    brume_histogram_plan plan;
    assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
    /* The lecture's noise holds for add-remove only: two large cells under replace. */
    assert_holds(worst_histogram(&plan, 1, 15) > .2);
    /* The same with continuous noise is the two-fold Laplace profile, delta(1) = 0.24184. */
    rule.noise = BRUME_HISTOGRAM_LAPLACE;
    assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
    double wrong = worst_histogram(&plan, 1, 16);
    assert_holds(wrong > .15 && wrong < .2419);
    /* Amounts of 2 with noise for 1, only the threshold moved. */
    rule = rule_of(BRUME_HISTOGRAM_DISCRETE_LAPLACE, 1, 1e-6, 1, 2, BRUME_ADD_REMOVE);
    assert_ok(brume_histogram_plan_make(&rule, &plan, &error));
    assert_close(worst_histogram(&plan, 1, plan.threshold), .462, 1e-2);
    /* Noise for 2, but the threshold for 1. */
    assert_holds(worst_histogram(&plan, plan.scale, plan.threshold - 1) > 1e-6);
    /* Discrete noise with the continuous threshold: up to 1.97 delta at some epsilon. */
    double most = 0;
    for (double epsilon = .5; epsilon < 4; epsilon += .01) {
        double tau = 1 + log(1 / 2e-6) / epsilon, a = exp(-epsilon);
        double tail = pow(a, ceil(tau) - 1) / (1 + a);
        most = fmax(most, tail / 1e-6);
    }
    assert_holds(most > 1.5);
}

static void the_chances_of_keys_rise_as_fast_as_privacy_allows(void **state)
{
    (void)state;
    brume_key_selection *selection = NULL;
    assert_ok(brume_key_selection_open(1, 1e-5, 1, BRUME_ADD_REMOVE, &selection, &error));
    const struct {
        uint64_t units;
        double chance;
    } vectors[] = {{0, 0},
                   {1, 1e-5},
                   {2, 3.71828182846e-5},
                   {10, .128183080505},
                   {11, .348447738453},
                   {12, .760310996923},
                   {23, 1}};
    for (int i = 0; i < 7; i++)
        assert_holds(fabs(brume_key_selection_probability(selection, vectors[i].units) -
                          vectors[i].chance) <= 1e-11 * vectors[i].chance);
    assert_holds(brume_key_selection_probability(selection, 22) < 1);
    assert_holds(brume_key_selection_probability(selection, UINT64_MAX) == 1);
    brume_key_selection_close(selection);
    /* Both directions, every step, in extended precision; and one of them is met with equality. */
    const double settings[][2] = {{1, 1e-5}, {.1, 1e-8}, {3, 1e-3}, {.5, .2}};
    for (int i = 0; i < 4; i++)
        for (uint64_t keys = 1; keys <= 3; keys++)
            for (int replace = 0; replace < 2; replace++) {
                assert_ok(brume_key_selection_open(settings[i][0], settings[i][1], keys,
                                                   replace ? BRUME_REPLACE : BRUME_ADD_REMOVE,
                                                   &selection, &error));
                long double n = (long double)keys * (replace ? 2 : 1);
                long double e = expl((long double)settings[i][0] / n);
                long double d = -expm1l(log1pl(-(long double)settings[i][1]) / n);
                for (uint64_t units = 0; units < 2000; units++) {
                    long double p = brume_key_selection_probability(selection, units);
                    long double q = brume_key_selection_probability(selection, units + 1);
                    assert_holds(q <= e * p + d && 1 - p <= e * (1 - q) + d && p <= q);
                    if (q < 1)
                        assert_holds(q >= (e * p + d) * (1 - 1e-8L) ||
                                     1 - p >= (e * (1 - q) + d) - 1e-12L);
                }
                brume_key_selection_close(selection);
            }
    /* Shares that vanish beside a chance near 1: the chances end below 1, and privately. */
    const double tiny[] = {1e-15, 1e-16, 1e-17};
    for (int i = 0; i < 3; i++) {
        assert_ok(brume_key_selection_open(1, tiny[i], 1, BRUME_ADD_REMOVE, &selection, &error));
        long double e = expl(1), d = tiny[i], rounding = 1e-19L;
        for (uint64_t units = 0; units < 500; units++) {
            long double p = brume_key_selection_probability(selection, units);
            long double q = brume_key_selection_probability(selection, units + 1);
            assert_holds(q <= e * p + d + q * rounding && p <= q);
            assert_holds(1 - p <= e * (1 - q) + d + rounding);
        }
        double last = brume_key_selection_probability(selection, UINT64_MAX);
        assert_holds(last <= 1 && last >= 1 - 1e-15 && (i == 0 ? last == 1 : last < 1));
        brume_bits *bits = brume_tape_open_seeded(73);
        const int64_t units[] = {-1, 0, 1, 1000, INT64_MAX};
        unsigned char keep[5];
        assert_ok(brume_key_selection_draw(selection, bits, units, keep, 5, &error));
        assert_true(!keep[0] && !keep[1] && !keep[2] && keep[3] && keep[4]);
        brume_bits_close(bits);
        brume_key_selection_close(selection);
    }
    selection = NULL;
    assert_fails(brume_key_selection_open(1, 0, 1, BRUME_ADD_REMOVE, &selection, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_key_selection_open(1, 1e-5, 0, BRUME_ADD_REMOVE, &selection, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_key_selection_open(1, 1e-5, 1, BRUME_EDGE, &selection, &error),
                 BRUME_EARGUMENT);
    const double refused[][2] = {{1, .6},      {1, 1},  {1, -.1},  {1, (double)NAN},
                                 {1, 0x1p-61}, {0, .1}, {701, .1}, {(double)NAN, .1}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_fails(brume_key_selection_open(refused[i][0], refused[i][1], 1, BRUME_ADD_REMOVE,
                                              &selection, &error),
                     BRUME_EARGUMENT);
    assert_null(selection);
}

static brume_status far(void *context, uint64_t bound, uint64_t *out, brume_error *why)
{
    (void)context, (void)bound, (void)why;
    *out = UINT64_MAX;
    return BRUME_OK;
}

static brume_status context_value(void *context, int64_t *out, brume_error *why)
{
    (void)why;
    *out = *(int64_t *)context;
    return BRUME_OK;
}

static brume_status context_distance(void *context, uint64_t bound, uint64_t *out, brume_error *why)
{
    (void)bound, (void)why;
    *out = *(uint64_t *)context;
    return BRUME_OK;
}

static brume_status value_is_seven(void *context, int64_t *out, brume_error *why)
{
    (void)context, (void)why;
    *out = 7;
    return BRUME_OK;
}

/* The noise of each test drawn once more from the same bits: what is released, and with which
 * noise, for every distance about the threshold. Rejects: a test of the distance without noise, in
 * either mechanism; a release whose noise is left out, is that of the test, or is drawn only where
 * it is shown. */
static void a_distance_is_tested_with_noise_of_its_own(void **state)
{
    (void)state;
    const double epsilon = 0.4, release = 0.7;
    uint64_t m;
    double used;
    assert_ok(brume_stability_threshold(epsilon, 1e-3, &m, &used, &error));
    brume_noise *test_law = NULL, *release_law = NULL;
    assert_ok(brume_noise_open_discrete_laplace(1 / epsilon, &test_law, &error));
    assert_ok(brume_noise_open_discrete_laplace(3 / release, &release_law, &error));
    brume_bits *bits = brume_tape_open_seeded(74), *same = brume_tape_open_seeded(74);
    int against = 0; /* draws in which the noise decided */
    for (int i = 0; i < 600; i++) {
        uint64_t distance = m - 3 + (uint64_t)i % 6;
        int64_t test_noise = 0, release_noise = 0, value = INT64_MIN;
        bool released = false, expected;
        assert_ok(brume_noise_draw(test_law, same, &test_noise, &error));
        expected = (int64_t)distance + test_noise >= (int64_t)m;
        against += expected != (distance >= m);
        if (i % 2) {
            assert_ok(brume_stable_release(epsilon, 1e-3, bits, distance, &released, &error));
        } else {
            brume_proposal proposal = {
                .epsilon_test = epsilon, .epsilon_release = release, .delta = 1e-3, .bound = 3};
            brume_tested tested = {
                .context = &distance, .distance = context_distance, .value = value_is_seven};
            assert_ok(brume_noise_draw(release_law, same, &release_noise, &error));
            assert_ok(
                brume_propose_test_release(&proposal, &tested, bits, &released, &value, &error));
            assert_true(value == (expected ? 7 + release_noise : INT64_MIN));
        }
        assert_true(released == expected);
    }
    assert_true(against > 100);
    brume_noise_close(test_law);
    brume_noise_close(release_law);
    brume_bits_close(bits);
    brume_bits_close(same);
}

static void saturated_noise_does_not_show_the_value(void **state)
{
    (void)state;
    const int64_t limit = (INT64_C(1) << 62) - 1;
    int64_t values[] = {0, 7, -12345, limit, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_true(brume_saturated_sum(values[i], INT64_MAX) == limit);
        assert_true(brume_saturated_sum(values[i], -INT64_MAX) == -limit);
        assert_true(brume_saturated_sum(values[i], INT64_MIN) == -limit);
        brume_bits *bits = brume_tape_open_seeded(72);
        brume_tested tested = {.context = &values[i], .distance = far, .value = context_value};
        for (uint64_t bound = 0; bound <= 1; bound++) { /* without noise too */
            brume_proposal proposal = {
                .epsilon_test = 1, .epsilon_release = 0x1p-50, .delta = 1e-6, .bound = bound};
            bool released = false;
            int64_t out = INT64_MIN;
            assert_ok(
                brume_propose_test_release(&proposal, &tested, bits, &released, &out, &error));
            assert_true(released && -limit <= out && out <= limit);
            brume_sensitivity_plan plan = {
                .epsilon_sensitivity = 1, .epsilon_release = 0x1p-50, .delta = 1e-6, .most = bound};
            uint64_t shown;
            assert_ok(
                brume_release_by_sensitivity(&plan, bits, bound, values[i], &shown, &out, &error));
            assert_true(-limit <= out && out <= limit);
        }
        brume_bits_close(bits);
    }
}

static void bad_rules_are_refused(void **state)
{
    (void)state;
    const brume_histogram_noise laplace = BRUME_HISTOGRAM_LAPLACE;
    const brume_histogram_rule wrong[] = {
        rule_of(laplace, 0, 1e-6, 1, 1, BRUME_REPLACE),
        rule_of(laplace, 1, 0, 1, 1, BRUME_REPLACE),
        rule_of(laplace, 1, .5, 1, 1, BRUME_REPLACE),
        rule_of(laplace, (double)NAN, .1, 1, 1, BRUME_REPLACE),
        rule_of(laplace, 1, 1e-6, 0, 1, BRUME_REPLACE),
        rule_of(laplace, 1, 1e-6, 1, 0, BRUME_REPLACE),
        rule_of(laplace, 1, 1e-6, 1, 1, BRUME_EDGE),
        rule_of((brume_histogram_noise)9, 1, 1e-6, 1, 1, BRUME_REPLACE),
        rule_of(BRUME_HISTOGRAM_GAUSSIAN, 1, 1e-6, 65, 1, BRUME_REPLACE),
        /* noise beyond 2^50, and beyond 64 bits: refused before it is made an integer */
        rule_of(BRUME_HISTOGRAM_GAUSSIAN, 1e-9, 1e-9, 64, UINT64_C(1) << 30, BRUME_REPLACE),
        rule_of(laplace, 1e-9, 1e-9, 1 << 20, UINT64_C(1) << 30, BRUME_REPLACE),
        rule_of(BRUME_HISTOGRAM_DISCRETE_LAPLACE, 1e-9, 1e-9, 1 << 20, UINT64_C(1) << 30,
                BRUME_REPLACE),
    };
    brume_histogram_plan plan = {.threshold = 42};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(brume_histogram_plan_make(&wrong[i], &plan, &error), BRUME_EARGUMENT);
    assert_int_equal(plan.threshold, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_thresholds_are_the_least_integers_whose_tail_is_within_delta),
        cmocka_unit_test(data_that_is_far_is_rarely_withheld),
        cmocka_unit_test(all_keys_of_a_stable_histogram_are_accurate_at_once),
        cmocka_unit_test(the_vectors_of_stable_histograms_hold),
        cmocka_unit_test(every_stable_histogram_is_private_and_the_discrete_one_is_tight),
        cmocka_unit_test(the_delta_of_a_gaussian_histogram_is_the_worst_over_keys_that_go_and_come),
        cmocka_unit_test(the_wrong_histograms_are_rejected),
        cmocka_unit_test(the_chances_of_keys_rise_as_fast_as_privacy_allows),
        cmocka_unit_test(a_distance_is_tested_with_noise_of_its_own),
        cmocka_unit_test(saturated_noise_does_not_show_the_value),
        cmocka_unit_test(bad_rules_are_refused),
    };
    return cmocka_run_group_tests_name("stability", tests, NULL, NULL);
}
