/* Laplace releases on a Poisson sample, against three references that share nothing with the law:
 * the closed profile of one release, an integral over the output with a Gaussian, and repeated
 * sums of a discrete law that dominates one release and is near it. */
#include "check.h"

#include <stdlib.h>

#include <brume/account/compose.h>

#include "accountant/terms.h"
#include "balls.h"
#include "one_order.h"

#include "accountant/contour/line.h"

static brume_term sampled_laplace(double rate, double epsilon, uint64_t count)
{
    return term_of(BRUME_LOSS_POISSON_LAPLACE, epsilon, rate, 0, count);
}

/* The profile of one Laplace, and of one on a sample. */
static long double laplace_profile(long double u, long double e)
{
    return fmaxl(fmaxl(1 - u, 1 - sqrtl(u * expl(-e))), 0);
}

static long double profile(long double u, long double e, long double q, bool added)
{
    long double k = 1 - u * (1 - q);
    if (added)
        return k > 0 ? k * laplace_profile(u * q / k, e) : 0;
    return u > 1 - q ? q * laplace_profile((u - 1 + q) / q, e) : 1 - u;
}

/* A line through the law's transform, far out too, against the closed form; the other order's value
 * is not between its ends. */
static void a_line_of_one_release_contains_its_closed_form(void **state)
{
    (void)state;
    uint64_t seed = 5;
    int told_apart = 0, checked = 0;
    for (int i = 0; i < 60; i++) {
        double e = exp10(-1.7 + 2.7 * sequence_share(&seed)),
               rate = exp10(-2.5 * sequence_share(&seed));
        rate = i % 5 == 0 ? 1 - rate / 2 : rate * 0.95;
        bool added = i % 2;
        double top = added ? -log1p(rate * expm1(-e)) : log1p(rate * expm1(e));
        double epsilon = top * (0.05 + 0.9 * sequence_share(&seed));
        brume_loss loss = {.kind = BRUME_LOSS_POISSON_LAPLACE, .a = e, .rate = rate};
        brume_law law;
        brume_error error;
        assert_ok(brume_law_open(&loss, 1, added, &law, &error));
        brume_line line = {.laws = &law, .law_count = 1};
        brume_line_aim(&line, epsilon);
        line.width = 0.002 / fmax(line.c, 0.5);
        assert_true(brume_line_lay(&line, epsilon, brume_line_size(&line, epsilon)));
        double lower, upper;
        brume_line_certify(&line, epsilon, &lower, &upper);
        brume_line_close(&line);
        brume_law_close(&law);
        double right = (double)profile(expl(epsilon), e, rate, added);
        double wrong = (double)profile(expl(epsilon), e, rate, !added);
        if (!(lower <= right * (1 + 1e-14) && upper >= right * (1 - 1e-14)))
            fail_msg("e %.17g rate %.17g order %d epsilon %.17g: [%.17g, %.17g], not %.17g", e,
                     rate, added, epsilon, lower, upper, right);
        if (!(upper - lower <= 1e-4 * upper))
            fail_msg("e %.17g rate %.17g order %d epsilon %.17g: [%.17g, %.17g] is wide", e, rate,
                     added, epsilon, lower, upper);
        brume_term term = sampled_laplace(rate, e, 1);
        brume_interval bounds = solved(&term, 1, epsilon, added);
        assert_true(bounds.lower <= right * (1 + 1e-12) && bounds.upper >= right * (1 - 1e-12));
        assert_true(bounds.upper - bounds.lower <= 1e-11 * bounds.upper);
        checked++;
        told_apart += !(lower <= wrong && wrong <= upper);
    }
    assert_true(told_apart >= checked - 3);
}

static long double gaussian_profile(long double epsilon, long double mu)
{
    return 0.5L * (erfcl(-(mu / 2 - epsilon / mu) * M_SQRT1_2l) -
                   expl(epsilon) * erfcl(-(-mu / 2 - epsilon / mu) * M_SQRT1_2l));
}

/* delta of one sampled Laplace and a Gaussian: the integral over the Laplace's output x of the
 * Gaussian's profile at the loss that is left, by Simpson's rule on [0, 1], and both ends. */
static long double with_gaussian(long double e, long double q, long double mu, long double epsilon,
                                 bool added)
{
    enum { STEPS = 4000 };
    long double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        long double x = (long double)i / STEPS, inner = e * (2 * x - 1);
        long double ratio = 1 - q + q * expl(inner), density = e / 2 * expl(-e * x);
        long double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2, loss = logl(ratio);
        sum += weight / (3 * STEPS) *
               (added ? density * gaussian_profile(epsilon + loss, mu)
                      : density * ratio * gaussian_profile(epsilon - loss, mu));
    }
    for (int end = -1; end <= 1; end += 2) { /* below 0 and above 1 the loss is constant */
        long double ratio = 1 - q + q * expl(end * e), mass = end < 0 ? 0.5L : 0.5L * expl(-e);
        sum += added ? mass * gaussian_profile(epsilon + logl(ratio), mu)
                     : mass * ratio * gaussian_profile(epsilon - logl(ratio), mu);
    }
    return sum;
}

static void with_a_gaussian_it_is_the_integral_over_the_output(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (int i = 0; i < 100; i++) {
        double e = exp10(-1.5 + 2.2 * sequence_share(&seed)),
               rate = exp10(-2 * sequence_share(&seed)) * 0.99;
        double mu = exp10(-1 + 1.3 * sequence_share(&seed));
        bool added = i % 2;
        double epsilon = (2 * mu + 0.5 * log1p(rate * expm1(e))) * sequence_share(&seed);
        brume_term terms[2] = {sampled_laplace(rate, e, 1), gaussian(1 / mu, 1)};
        brume_interval value = solved(terms, 2, epsilon, added);
        double right = (double)with_gaussian(e, rate, mu, epsilon, added);
        if (!(value.lower <= right * (1 + 2e-11) && value.upper >= right * (1 - 2e-11)))
            fail_msg("e %.17g rate %.17g mu %.17g order %d epsilon %.17g: [%.17g, %.17g], not "
                     "%.17g",
                     e, rate, mu, added, epsilon, value.lower, value.upper, right);
        if (!(value.upper - value.lower <= 1e-9 * value.upper))
            fail_msg("e %.17g rate %.17g mu %.17g order %d epsilon %.17g: [%.17g, %.17g] is wide",
                     e, rate, mu, added, epsilon, value.lower, value.upper);
    }
}

/* delta of `count` releases by a law on `cells` + 1 losses whose profile is the chords of the exact
 * one, so that it is not below the truth; the excess falls with the square of the cells. */
static double by_chords(double e, double q, unsigned count, double epsilon, bool added,
                        size_t cells)
{
    long double bottom = log1pl(q * expm1l(-e)), top = log1pl(q * expm1l(e));
    long double low = added ? -top : bottom, step = (top - bottom) / (long double)cells;
    long double *one = calloc(cells + 1, sizeof *one), before = -1, u = expl(low);
    long double *sum = calloc(count * cells + 1, sizeof *sum);
    long double *next = calloc(count * cells + 1, sizeof *next);
    assert_true(one && sum && next);
    for (size_t i = 0; i <= cells; i++) { /* the mass at u is u times the jump of the slope */
        long double above = expl(low + step * (long double)(i + 1)), slope = 0;
        if (i < cells)
            slope = (profile(above, e, q, added) - profile(u, e, q, added)) / (above - u);
        one[i] = u * (slope - before);
        before = slope;
        u = above;
    }
    sum[0] = 1;
    for (unsigned draw = 0; draw < count; draw++) {
        for (size_t i = 0; i <= (draw + 1) * cells; i++)
            next[i] = 0;
        for (size_t i = 0; i <= draw * cells; i++)
            for (size_t j = 0; j <= cells; j++)
                next[i + j] += sum[i] * one[j];
        long double *swap = sum;
        sum = next;
        next = swap;
    }
    long double delta = 0;
    for (size_t i = 0; i <= count * cells; i++) {
        long double loss = low * count + step * (long double)i;
        if (loss > epsilon)
            delta -= sum[i] * expm1l(epsilon - loss);
    }
    free(one);
    free(sum);
    free(next);
    return (double)delta;
}

static void several_releases_lie_just_below_their_chords(void **state)
{
    (void)state;
    uint64_t seed = 21;
    int told_apart = 0, checked = 0;
    for (int i = 0; i < 24; i++) {
        double e = exp10(-1 + 1.5 * sequence_share(&seed)),
               rate = exp10(-1.5 * sequence_share(&seed)) * 0.98;
        unsigned count = 2 + (unsigned)(4 * sequence_share(&seed));
        bool added = i % 2;
        double top = added ? -log1p(rate * expm1(-e)) : log1p(rate * expm1(e));
        double epsilon = count * top * 0.8 * sequence_share(&seed);
        brume_term term = sampled_laplace(rate, e, count);
        brume_interval value = solved(&term, 1, epsilon, added);
        double coarse = by_chords(e, rate, count, epsilon, added, 160);
        double fine = by_chords(e, rate, count, epsilon, added, 320);
        double other = by_chords(e, rate, count, epsilon, !added, 160);
        assert_true(fine <= coarse * (1 + 1e-15));
        /* the excess of the finer is about a third of what the coarser has above it */
        double floor = fine - (coarse - fine) - 1e-14 * fine;
        if (!(value.lower <= fine && value.upper >= floor))
            fail_msg(
                "e %.17g rate %.17g x %u order %d epsilon %.17g: [%.17g, %.17g], between %.17g "
                "and %.17g",
                e, rate, count, added, epsilon, value.lower, value.upper, floor, fine);
        if (!(value.upper - value.lower <= 2e-4 * value.upper))
            fail_msg("e %.17g rate %.17g x %u order %d epsilon %.17g: [%.17g, %.17g] is wide", e,
                     rate, count, added, epsilon, value.lower, value.upper);
        checked++;
        told_apart += other < value.lower || other - (coarse - fine) * 2 > value.upper;
    }
    assert_true(told_apart >= checked - 2); /* the orders swapped would be seen */
}

static void epsilon_lies_between_the_inner_laws_and_the_worst_pure_one(void **state)
{
    (void)state;
    static const struct {
        double rate, e, delta;
        uint64_t count;
        double width;
    } cases[] = {{0.1, 1, 1e-6, 1, 1e-9},
                 {0.1, 1, 1e-6, 3, 1e-5},
                 {0.1, 1, 1e-6, 20, 1e-5},
                 {0.1, 1, 1e-6, 200, 1e-9},
                 {0.01, 0.1, 1e-6, 5000, 1e-9},
                 {0.5, 3, 1e-9, 100, 1e-9},
                 {0.9, 0.3, 1e-12, 1000, 1e-9},
                 {0.001, 8, 1e-5, 2, 1e-4},
                 {1e-3, 1e-3, 1e-6, 1000000000000, 1e-6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_term term = sampled_laplace(cases[i].rate, cases[i].e, cases[i].count), worst = term;
        worst.cost.law.kind = BRUME_LOSS_POISSON_PURE;
        brume_composition out, above;
        brume_error error;
        assert_ok(brume_compose_epsilon(&term, 1, cases[i].delta, NULL, &out, &error));
        assert_ok(brume_compose_epsilon(&worst, 1, cases[i].delta, NULL, &above, &error));
        assert_true(out.value.upper <= above.value.upper * (1 + 1e-12));
        assert_true(out.value.lower > 0);
        if (!(out.value.upper - out.value.lower <= cases[i].width * out.value.upper))
            fail_msg("case %zu: [%.17g, %.17g] is wide", i, out.value.lower, out.value.upper);
        /* back again */
        brume_composition back;
        assert_ok(brume_compose_delta(&term, 1, out.value.upper, NULL, &back, &error));
        assert_true(back.value.lower <= cases[i].delta);
        assert_ok(brume_compose_delta(&term, 1, out.value.lower, NULL, &back, &error));
        assert_true(back.value.upper >= cases[i].delta * (1 - 1e-12));
    }
    brume_term whole = sampled_laplace(1, 0.3, 50), inner = laplace(0.3, 50);
    brume_composition a, b;
    brume_error error;
    assert_ok(brume_compose_epsilon(&whole, 1, 1e-6, NULL, &a, &error));
    assert_ok(brume_compose_epsilon(&inner, 1, 1e-6, NULL, &b, &error));
    assert_true(a.value.lower == b.value.lower && a.value.upper == b.value.upper);
}

/* The lines behind the answers, redone in balls. */
static void ball_arithmetic_agrees(void **state)
{
    (void)state;
    brume_term cases[][2] = {{sampled_laplace(0.1, 1, 1000)},
                             {sampled_laplace(0.9, 0.3, 300)},
                             {sampled_laplace(0.1, 1, 1), gaussian(1, 1)},
                             {sampled_laplace(0.3, 2, 3)}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned added = 0; added < 2; added++) {
            brume_merged merged;
            brume_error error;
            assert_ok(
                brume_merge_terms(cases[i], cases[i][1].count ? 2 : 1, added, &merged, &error));
            ball_audit audit;
            assert_true(balls_audit_delta(merged.laws, merged.law_count, 0.5, &audit));
            brume_merged_close(&merged);
            if (!audit.agrees)
                fail_msg("case %zu, order %d: %.3g of the bound", i, added, audit.ratio);
            assert_true(audit.nodes > 3);
        }
}

/* Where no line narrows the profile to the last places, its chords still bound the trade-off from
 * above, near the lower end; both orders' closed profiles lie on the right side of them. */
static void a_tradeoff_has_both_ends(void **state)
{
    (void)state;
    brume_term terms[] = {sampled_laplace(0.3, 1, 1), sampled_laplace(0.3, 1, 10)};
    brume_composition one, ten;
    brume_error error;
    assert_ok(brume_compose_tradeoff(terms, 1, 0.05, NULL, &one, &error));
    assert_ok(brume_compose_tradeoff(terms + 1, 1, 0.05, NULL, &ten, &error));
    double best[2] = {0, 0};
    for (unsigned added = 0; added < 2; added++)
        for (double at = -3; at < 3; at += 1e-4) {
            double u = exp(at);
            best[added] = fmax(best[added], (double)(1 - profile(u, 1, 0.3L, added) - u * 0.05L));
        }
    double truth = fmin(best[0], best[1]); /* at most 1e-4 below the supremum */
    assert_true(one.value.lower <= truth + 1e-4 && one.value.upper >= truth);
    assert_true(ten.value.upper < one.value.lower);
    assert_true(ten.value.upper - ten.value.lower < 1e-5 && ten.value.lower > 0.7);
}

/* A step between nodes that is no float any more: such lines end, and their ends are right. */
static void huge_losses_end(void **state)
{
    (void)state;
    const double sizes[] = {1e44, 1e60, 1e100, 1e300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        brume_term terms[] = {term_of(BRUME_LOSS_POISSON_PURE, 1, 0.1, 0, 24),
                              term_of(BRUME_LOSS_PURE, sizes[i], 0, 0, 1019)};
        brume_composition epsilon, delta;
        brume_error error;
        assert_ok(brume_compose_epsilon(terms, 2, 1e-3, NULL, &epsilon, &error));
        assert_true(epsilon.value.upper >= 1019 * sizes[i] * (1 - 1e-12));
        assert_ok(brume_compose_delta(terms, 2, sizes[i], NULL, &delta, &error));
        assert_true(delta.value.upper >= 1 - 1e-12); /* nearly all losses are above */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_one_release_contains_its_closed_form),
        cmocka_unit_test(with_a_gaussian_it_is_the_integral_over_the_output),
        cmocka_unit_test(several_releases_lie_just_below_their_chords),
        cmocka_unit_test(ball_arithmetic_agrees),
        cmocka_unit_test(a_tradeoff_has_both_ends),
        cmocka_unit_test(huge_losses_end),
        cmocka_unit_test(epsilon_lies_between_the_inner_laws_and_the_worst_pure_one),
    };
    return cmocka_run_group_tests_name("accountant thinned", tests, NULL, NULL);
}
