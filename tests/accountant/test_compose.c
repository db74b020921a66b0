/* Certified composition: never below the truth, two routes agree, monotone, plain about infinity.
 */
#include "check.h"

#include <brume/account/filter.h>
#include <brume/account/method.h>

#include "accountant/random_mixture.h"
#include <brume/account/diagnostics.h>

#include "accountant/contour/line.h"
#include "accountant/exact/one_sampled.h"
#include "accountant/solve/solve.h"
#include "accountant/terms.h"
#include "balls.h"

static brume_composition epsilon_at(const brume_term *terms, size_t count, double delta)
{
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_epsilon(terms, count, delta, NULL, &out, &error));
    assert_true(out.value.lower <= out.value.upper);
    assert_non_null(out.route);
    return out;
}

static brume_composition delta_at(const brume_term *terms, size_t count, double epsilon)
{
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_delta(terms, count, epsilon, NULL, &out, &error));
    assert_true(out.value.lower <= out.value.upper);
    return out;
}

static double width(brume_interval value)
{
    return value.upper > 0 ? (value.upper - value.lower) / value.upper : 0;
}

static void lattice_mixtures_contain_their_exact_sums(void **state)
{
    (void)state;
    mixture_report report = check_lattice_mixtures(1, 150);
    print_message("# %u checked, %u above the width, widest %.2g\n", report.checked, report.wide,
                  report.widest);
    assert_int_equal(report.outside, 0);
    assert_int_equal(report.contradictory, 0);
    assert_true(report.checked >= 250);
    assert_true(report.wide <= report.checked / 50);
}

static void continuous_mixtures_contain_sums_on_another_line(void **state)
{
    (void)state;
    mixture_report report = check_continuous_mixtures(2, 40);
    assert_int_equal(report.outside, 0);
    assert_int_equal(report.contradictory, 0);
    assert_int_equal(report.wide, 0);
    assert_true(report.checked >= 35);
}

/* The smoothed contour and the sum over sign patterns are two proofs of one number. */
static void patterns_and_smoothed_lines_agree(void **state)
{
    (void)state;
    const double epsilons[] = {0.1, 0.55, 1.3, 2.1};
    brume_error error;
    for (int trial = 0; trial < 12; trial++) {
        brume_law laws[4];
        size_t count = 2 + (size_t)trial % 3;
        double top = 0;
        for (size_t i = 0; i < count; i++) {
            brume_loss loss = {.kind = (trial + (int)i) % 3 ? BRUME_LOSS_LAPLACE : BRUME_LOSS_PURE};
            loss.a = 0.21 + 0.37 * (double)i + 0.013 * trial;
            assert_ok(brume_law_open(&loss, 1 + trial % 4, false, &laws[i], &error));
            top += loss.a * (1 + trial % 4);
        }
        double epsilon = epsilons[trial % 4] < top ? epsilons[trial % 4] : top / 2;
        brume_pattern *pattern = brume_pattern_open(laws, count, epsilon, 1e5);
        assert_non_null(pattern);
        brume_delta_bounds bounds = brume_pattern_bounds(pattern);
        double upper = bounds.delta(bounds.context, epsilon, BRUME_UPPER_SIDE);
        double lower = bounds.delta(bounds.context, epsilon, BRUME_LOWER_SIDE);
        brume_pattern_close(pattern);
        assert_true(lower <= upper && upper - lower <= 1e-11 * upper);
        brume_line line = {.laws = laws, .law_count = count};
        brume_line_aim(&line, epsilon);
        line.unit = 0; /* never fold here */
        line.width = 0.05 / fmax(line.c, 0.5);
        assert_true(brume_line_lay(&line, epsilon, brume_line_size(&line, epsilon)));
        double line_lower, line_upper;
        brume_line_certify(&line, epsilon, &line_lower, &line_upper);
        brume_line_close(&line);
        assert_true(line_lower <= upper && line_upper >= lower);
        assert_true(line_upper - line_lower <= 0.05 * upper); /* the bound says something */
        for (size_t i = 0; i < count; i++)
            brume_law_close(&laws[i]);
    }
}

static void the_peers_failures_are_answered_right(void **state)
{
    (void)state;
    brume_term term = pure(log(3), 100);
    assert_close(epsilon_at(&term, 1, 1e-6).value.upper, 94.289867892925, 1e-12);
    term = kary(log(3), 2, 100);
    assert_close(epsilon_at(&term, 1, 1e-6).value.upper, 94.289867892925, 1e-12);
    term = pure(1, 100);
    assert_close(epsilon_at(&term, 1, 1e-6).value.upper, 83.530701678483611977, 1e-12);
    term = pure(20, 5);
    assert_close(epsilon_at(&term, 1, 1e-6).value.upper, 99.999999, 1e-9);
    term = gaussian(100, 10000);
    assert_close(epsilon_at(&term, 1, 1e-12).value.upper, 7.238494420178861, 1e-12);
    term = laplace(0.1, 1000);
    assert_close(epsilon_at(&term, 1, 1e-12).value.upper, 26.021301256366734569, 1e-12);
    assert_true(epsilon_at(&term, 1, 1e-12).value.upper >= 26.021301256366734);
    term = gaussian(1, 1); /* tiny deltas */
    assert_close(epsilon_at(&term, 1, 1e-200).value.upper, 30.591649916020485, 1e-12);
    brume_interval far = epsilon_at(&term, 1, 1e-300).value;
    assert_true(far.lower <= 37.448847912139105 && far.upper >= 37.448847912139105);
    assert_true(width(far) <= 1e-12);
    for (double delta = 1e-15; delta > 1e-31; delta *= 1e-15) {
        brume_interval value = epsilon_at(&term, 1, delta).value;
        assert_true(width(value) <= 1e-12);
        assert_true(delta_at(&term, 1, value.upper).value.lower <= delta);
        assert_true(delta_at(&term, 1, value.lower).value.upper >= delta);
    }
}

static void widths_hold_from_one_to_a_million_draws(void **state)
{
    (void)state;
    const double deltas[] = {1e-3, 1e-6, 1e-12, 1e-30};
    for (uint64_t count = 1; count <= 1000000; count *= 100)
        for (size_t i = 0; i < 4; i++) {
            brume_term terms[] = {gaussian(10, count), pure(0.05, count), kary(1, 5, count),
                                  discrete_laplace(0.2, 3, count), discrete_gaussian(4, 1, count)};
            for (size_t j = 0; j < 5; j++) {
                brume_interval value = epsilon_at(&terms[j], 1, deltas[i]).value;
                if (!(width(value) <= 1e-9))
                    fail_msg("kind %zu count %llu delta %g: [%.17g, %.17g]", j,
                             (unsigned long long)count, deltas[i], value.lower, value.upper);
            }
        }
}

static void a_million_events_of_ten_kinds_cost_ten_kinds(void **state)
{
    (void)state;
    enum { EVENTS = 20000 };
    static brume_term many[EVENTS];
    brume_term few[10];
    for (int i = 0; i < 10; i++)
        few[i] = i % 2 ? laplace(0.01 * (i + 1), EVENTS / 10) : gaussian(50 + i, EVENTS / 10);
    for (int i = 0; i < EVENTS; i++) {
        many[i] = few[i % 10];
        many[i].count = 1;
    }
    brume_diagnostics one_work, other_work;
    brume_compose_options one_options = {.diagnostics = &one_work};
    brume_compose_options other_options = {.diagnostics = &other_work};
    brume_composition one, other;
    brume_error error;
    assert_ok(brume_compose_epsilon(many, EVENTS, 1e-6, &one_options, &one, &error));
    assert_ok(brume_compose_epsilon(few, 10, 1e-6, &other_options, &other, &error));
    assert_true(one_work.nodes == other_work.nodes && one_work.nodes > 0);
    assert_true(one_work.rounds == other_work.rounds && one_work.rounds > 0);
    assert_close(one.value.upper, other.value.upper, 1e-13);
}

static void failure_is_an_atom_at_infinity(void **state)
{
    (void)state;
    brume_term term = approximate(0.5, 1e-6, 3);
    brume_composition out = epsilon_at(&term, 1, 1e-6);
    assert_true(out.infinite && out.value.lower == INFINITY && out.value.upper == INFINITY);
    out = epsilon_at(&term, 1, 0);
    assert_true(out.infinite);
    out = epsilon_at(&term, 1, 1e-3);
    assert_true(!out.infinite && out.value.upper < 1.5);
    assert_true(delta_at(&term, 1, 2).value.lower >=
                2.9e-6); /* 1 - (1-1e-6)^3, beyond all losses */
    assert_true(delta_at(&term, 1, 2).value.upper <= 3.1e-6);
    term = approximate(0.5, 1e-6, 1); /* at its very failure nothing is left but the largest loss */
    out = epsilon_at(&term, 1, 1e-6);
    assert_true(!out.infinite && out.value.lower <= 0.5 && out.value.upper >= 0.5);
    assert_close(out.value.upper, 0.5, 1e-14);
    assert_true(epsilon_at(&term, 1, nextafter(1e-6, 0)).infinite);
    term = gaussian(1, 1);
    term.cost.delta_failure = 1e-6;
    assert_true(epsilon_at(&term, 1, 1e-6).infinite);
    term = gaussian(1, 1);
    assert_true(epsilon_at(&term, 1, 0).infinite);
    term = pure(0.5, 4);
    out = epsilon_at(&term, 1, 0);
    assert_true(!out.infinite && out.value.lower <= 2 && out.value.upper >= 2);
    assert_close(out.value.upper, 2, 1e-14);
}

static void a_certain_failure_leaves_nothing_whatever_else_there_is(void **state)
{
    (void)state;
    brume_term cases[][2] = {
        {approximate(1, 1, 2), pure(0.5, 1)},              /* twice */
        {approximate(1, 1, 1), approximate(1, 0.1, 1)},    /* before one that may fail */
        {approximate(1, 0.1, 3), approximate(1, 1, 7)},    /* after one */
        {concentrated(0.1, 2), approximate(0.5, 0.25, 2)}, /* known by its moments */
        {concentrated(0.1, 1), gaussian(1, 1)},
    };
    cases[3][0].cost.delta_failure = cases[4][0].cost.delta_failure = 1;
    brume_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_composition out = epsilon_at(cases[i], 2, 0.5);
        assert_true(out.infinite && out.value.upper == INFINITY);
        assert_true(out.failure.lower == 1 && out.failure.upper == 1);
        out = delta_at(cases[i], 2, 0.5);
        assert_true(out.value.lower >= 1 - 1e-14 && out.value.upper == 1);
        if (i < 3) {
            assert_ok(brume_compose_tradeoff(cases[i], 2, 0.25, NULL, &out, &error));
            assert_true(out.value.lower == 0 && out.value.upper == 0);
        }
    }
}

static void an_upper_cost_has_no_lower_end(void **state)
{
    (void)state;
    brume_term terms[2] = {pure(0.1, 10), approximate(0.1, 0, 1)};
    assert_true(epsilon_at(terms, 2, 1e-6).has_lower);
    terms[1].cost.pure = BRUME_UPPER;
    assert_false(epsilon_at(terms, 2, 1e-6).has_lower);
    terms[1] = concentrated(0.01, 1);
    brume_composition out = epsilon_at(terms, 2, 1e-6);
    assert_false(out.has_lower);
    /* not below the Gaussian of the same rho, which is one mechanism of that guarantee */
    brume_term exact[2] = {terms[0], gaussian(1 / sqrt(0.02), 1)};
    assert_true(out.value.upper >= epsilon_at(exact, 2, 1e-6).value.upper);
    assert_true(out.value.upper <= 1.1 * epsilon_at(exact, 2, 1e-6).value.upper);
    double delta = delta_at(terms, 2, 1).value.upper;
    assert_true(delta >= delta_at(exact, 2, 1).value.lower);
}

static void moments_never_undercut_any_mechanism_of_theirs(void **state)
{
    (void)state;
    for (double rho = 1e-4; rho < 5; rho *= 7)
        for (double delta = 1e-3; delta > 1e-13; delta *= 1e-3) {
            brume_term curve = concentrated(rho, 3), normal = gaussian(1 / sqrt(2 * rho), 3);
            assert_true(epsilon_at(&curve, 1, delta).value.upper >=
                        epsilon_at(&normal, 1, delta).value.upper);
            /* pure epsilon is (epsilon^2/2)-zCDP: randomized response may not cost more */
            brume_term response = pure(sqrt(2 * rho), 3);
            assert_true(epsilon_at(&curve, 1, delta).value.upper >=
                        epsilon_at(&response, 1, delta).value.lower);
        }
}

static void more_noise_never_costs_more_and_smaller_delta_never_less(void **state)
{
    (void)state;
    /* what is returned are certified ends: the claim is about lower and upper, which is what holds
     * for every returned pair whatever the widths */
    double last[6] = {0};
    for (double delta = 1e-2; delta > 1e-20; delta /= 31) {
        brume_term terms[] = {laplace(0.3, 7),
                              gaussian(3, 5),
                              pure(0.2, 30),
                              discrete_laplace(0.1, 4, 11),
                              discrete_gaussian(2, 1, 3),
                              poisson_gaussian(0.02, 1.2, 300)};
        for (int i = 0; i < 6; i++) {
            brume_interval value = epsilon_at(&terms[i], 1, delta).value;
            assert_true(value.upper >= last[i]);
            last[i] = value.lower;
            assert_true(width(value) <= 1e-7);
        }
    }
    double before = INFINITY;
    for (double scale = 1; scale < 40; scale *= 1.03) {
        brume_term terms[] = {laplace(1 / scale, 9), gaussian(scale, 4)};
        brume_interval value = epsilon_at(terms, 2, 1e-6).value;
        assert_true(value.lower <= before);
        before = value.upper;
    }
}

static void both_orders_count_for_the_subsampled_gaussian(void **state)
{
    (void)state;
    /* one release, delta at eps: remove has q delta_G(log(1 + (e^eps-1)/q)) */
    brume_term term = poisson_gaussian(0.1, 0.7, 1), plain = gaussian(0.7, 1);
    double inner = log1p(expm1(0.3) / 0.1);
    double truth = 0.1 * delta_at(&plain, 1, inner).value.upper;
    assert_close(delta_at(&term, 1, 0.3).value.upper, truth, 1e-12);
    for (uint64_t count = 30; count <= 3000; count *= 10) {
        brume_term many = poisson_gaussian(0.05, 1, count);
        brume_interval value = epsilon_at(&many, 1, 1e-6).value;
        assert_true(width(value) <= 1e-8);
        assert_true(value.upper <
                    epsilon_at(&(brume_term){.cost = gaussian(1, 1).cost, .count = count}, 1, 1e-6)
                        .value.lower);
    }
    brume_term whole = poisson_gaussian(1, 2, 5), same = gaussian(2, 5);
    assert_close(epsilon_at(&whole, 1, 1e-6).value.upper, epsilon_at(&same, 1, 1e-6).value.upper,
                 1e-13);
}

static void the_top_end_is_sound(void **state)
{
    (void)state;
    const brume_term terms[] = {pure(10, 1000000), /* a lattice much wider than 1 */
                                pure(1e-9, UINT64_C(1) << 62),
                                laplace(1, 1000000),
                                gaussian(1e-4, 1),
                                gaussian(1e8, 1),
                                pure(300, 2),
                                pure(1, INT64_MAX),
                                laplace(1e-9, INT64_MAX),
                                discrete_laplace(5, 2, 40000)};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        brume_composition out = epsilon_at(&terms[i], 1, 1e-9);
        assert_true(isfinite(out.value.upper) || terms[i].cost.law.kind == BRUME_LOSS_GAUSSIAN);
        brume_interval back = delta_at(&terms[i], 1, out.value.upper).value;
        assert_true(back.lower <= 1e-9);
        if (i < 6 && !(width(out.value) <= 1e-9))
            fail_msg("term %zu: [%.17g, %.17g]", i, out.value.lower, out.value.upper);
    }
}

/* The product of a count and an epsilon, rounded, may lie below the largest loss: what is left is
 * the top atom's, exp(-k log(1 + e^-a)) (1 - e^{eps - k a}), and the fused product has the
 * difference exactly. */
static void a_largest_loss_that_rounds_down_still_counts(void **state)
{
    (void)state;
    size_t below = 0;
    for (int k = 3; k < 60; k += 4)
        for (double a = 1e-4; a < 10; a *= 1.37) {
            double epsilon = k * a, left = fma(k, a, -epsilon);
            brume_term term = pure(a, (uint64_t)k);
            if (!(left > 0))
                continue;
            below++;
            double truth = exp(-k * log1p(exp(-a))) * -expm1(-left);
            if (!(delta_at(&term, 1, epsilon).value.upper >= truth * (1 - 1e-12)))
                fail_msg("%d times %.17g: %.17g is below %.17g", k, a,
                         delta_at(&term, 1, epsilon).value.upper, truth);
        }
    assert_true(below > 100);
}

static void tradeoff_ends_enclose_the_gaussian_closed_form(void **state)
{
    (void)state;
    brume_term term = gaussian(1, 1);
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_tradeoff(&term, 1, 0.05, NULL, &out, &error));
    assert_true(out.value.lower <= 0.74048897715855593 && out.value.upper >= 0.74048897715855593);
    assert_true(out.value.upper - out.value.lower <= 1e-9);
    assert_ok(brume_compose_tradeoff(&term, 1, 1, NULL, &out, &error));
    assert_true(out.value.upper == 0);
    assert_ok(brume_compose_tradeoff(&term, 1, 0, NULL, &out, &error));
    assert_true(out.value.lower == 1 && out.value.upper == 1);
    term = gaussian(0.025, 1); /* however large the losses are */
    assert_ok(brume_compose_tradeoff(&term, 1, 0, NULL, &out, &error));
    assert_true(out.value.lower == 1 && out.value.upper == 1);
    term = approximate(1, 0.25, 1);
    assert_ok(brume_compose_tradeoff(&term, 1, 0, NULL, &out, &error));
    assert_true(out.value.lower == 0.75 && out.value.upper == 0.75);
    assert_fails(brume_compose_tradeoff(&term, 1, 1.5, NULL, &out, &error), BRUME_EARGUMENT);
}

/* The moved quadrature on a smoothed line against the closed form of one release. */
static void lines_contain_the_closed_form_of_one_subsampled_gaussian(void **state)
{
    (void)state;
    for (int trial = 0; trial < 48; trial++) {
        brume_loss loss = {.kind = BRUME_LOSS_POISSON_GAUSSIAN};
        loss.a = 0.45 * pow(1.31, trial % 12);           /* sigma from 0.45 to 8.8 */
        loss.rate = 0.9 * pow(0.37, (trial / 12) * 1.3); /* from 0.9 to 0.02 */
        bool reversed = trial % 2 == 1;
        brume_law law;
        brume_error error;
        assert_ok(brume_law_open(&loss, 1, reversed, &law, &error));
        double epsilon = reversed ? -0.4 * log1p(-loss.rate) : 1.5 * loss.rate / loss.a;
        brume_delta_bounds bounds;
        assert_true(brume_one_sampled_bounds(&law, &bounds));
        double upper = bounds.delta(bounds.context, epsilon, BRUME_UPPER_SIDE);
        double lower = bounds.delta(bounds.context, epsilon, BRUME_LOWER_SIDE);
        brume_line line = {.laws = &law, .law_count = 1};
        brume_line_aim(&line, epsilon);
        line.width = 0.03 / fmax(line.c, 0.5);
        assert_true(brume_line_lay(&line, epsilon, brume_line_size(&line, epsilon)));
        double line_lower, line_upper;
        brume_line_certify(&line, epsilon, &line_lower, &line_upper);
        if (!(line_lower <= upper && line_upper >= lower))
            fail_msg("trial %d: line [%.17g, %.17g], closed form [%.17g, %.17g]", trial, line_lower,
                     line_upper, lower, upper);
        assert_true(line_upper <= 1.1 * upper); /* and says something */
        brume_line_close(&line);
        brume_law_close(&law);
    }
}

/* Plain, folded and smoothed lines, every law: the doubles stay within their claimed error. */
static void ball_arithmetic_agrees_with_the_double_sums(void **state)
{
    (void)state;
    const struct {
        brume_loss loss;
        double count, epsilon;
    } cases[] = {
        {{.kind = BRUME_LOSS_GAUSSIAN, .a = 0.7}, 1, 1.3},
        {{.kind = BRUME_LOSS_LAPLACE, .a = 0.1}, 1000, 15},
        {{.kind = BRUME_LOSS_LAPLACE, .a = 0.01}, 100000, 20},
        {{.kind = BRUME_LOSS_LAPLACE, .a = 0.8}, 3, 1.1},  /* smoothed */
        {{.kind = BRUME_LOSS_LAPLACE, .a = 0.1}, 40, 2.2}, /* few draws, many patterns */
        {{.kind = BRUME_LOSS_LAPLACE, .a = 0.02}, 9, 0.05},
        {{.kind = BRUME_LOSS_PURE, .a = 0.3}, 50, 4.4}, /* folded */
        {{.kind = BRUME_LOSS_PURE, .a = 0.001}, 1000000, 5},
        {{.kind = BRUME_LOSS_KARY, .a = 1.1, .shift = 5}, 20, 7},
        {{.kind = BRUME_LOSS_DISCRETE_LAPLACE, .a = 0.2, .shift = 3}, 30, 6},
        {{.kind = BRUME_LOSS_DISCRETE_LAPLACE, .a = 0.01, .shift = 100}, 20, 9},
        {{.kind = BRUME_LOSS_DISCRETE_GAUSSIAN, .a = 2, .shift = 1}, 10, 4},
        {{.kind = BRUME_LOSS_DISCRETE_GAUSSIAN, .a = 0.6, .shift = 1}, 4, 9},
        {{.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = 1, .rate = 0.01}, 1000, 1.5},
        {{.kind = BRUME_LOSS_POISSON_GAUSSIAN, .a = 3, .rate = 0.1}, 50, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned reversed = 0; reversed < 2; reversed++) {
            if (reversed && cases[i].loss.kind != BRUME_LOSS_POISSON_GAUSSIAN)
                continue;
            brume_law law;
            brume_error error;
            assert_ok(brume_law_open(&cases[i].loss, cases[i].count, reversed, &law, &error));
            ball_audit audit;
            assert_true(balls_audit_delta(&law, 1, cases[i].epsilon, &audit));
            if (!audit.agrees)
                fail_msg("case %zu order %d: %.3g of the claimed error", i, reversed, audit.ratio);
            assert_true(audit.nodes >= 4);
            brume_law_close(&law);
        }
}

static void what_answers_come_from_agrees_with_balls(void **state)
{
    (void)state;
    brume_term terms[] = {gaussian(3, 10), laplace(0.2, 5), pure(0.1, 20)};
    brume_term sampled = poisson_gaussian(0.02, 1, 200);
    balls_agree(terms, 3, epsilon_at(terms, 3, 1e-6).value.upper);
    balls_agree(terms, 3, 1);
    balls_agree(&sampled, 1, epsilon_at(&sampled, 1, 1e-6).value.upper);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    brume_diagnostics work = {.nodes = 77};
    brume_compose_options options = {.diagnostics = &work};
    brume_composition out = {.value = {77, 78}};
    brume_error error;
    brume_term term = pure(1, 1);
    assert_fails(brume_compose_epsilon(&term, 1, 1, NULL, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_compose_epsilon(&term, 1, -1, NULL, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_compose_epsilon(&term, 1, NAN, NULL, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_compose_epsilon(&term, 0, 0.1, NULL, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_compose_delta(&term, 1, -1, NULL, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_compose_delta(&term, 1, INFINITY, NULL, &out, &error), BRUME_EARGUMENT);
    term.count = 0;
    assert_fails(brume_compose_epsilon(&term, 1, 0.1, NULL, &out, &error), BRUME_EARGUMENT);
    term.count = UINT64_C(1) << 63;
    assert_fails(brume_compose_epsilon(&term, 1, 0.1, NULL, &out, &error), BRUME_EARGUMENT);
    brume_term none = {.count = 1};
    assert_fails(brume_compose_epsilon(&none, 1, 0.1, NULL, &out, &error), BRUME_EUNSUPPORTED);
    term = pure(NAN, 1);
    assert_fails(brume_compose_epsilon(&term, 1, 0.1, NULL, &out, &error), BRUME_EARGUMENT);
    term = poisson_gaussian(1.5, 1, 1);
    assert_fails(brume_compose_epsilon(&term, 1, 0.1, NULL, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_compose_delta(&term, 1, 1, &options, &out, &error), BRUME_EARGUMENT);
    assert_true(out.value.lower == 77 && out.value.upper == 78 && work.nodes == 77);
}

/* No formula notices a negative rho or a shift of nothing, so the costs are checked. */
static void a_number_that_no_cost_has_is_refused_by_every_method(void **state)
{
    (void)state;
    const double bad[] = {-1, -0x1p-1074, -INFINITY, NAN};
    brume_term terms[64];
    size_t used = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        terms[used++] = approximate(bad[i], 0, 1);
        terms[used++] = approximate(1, bad[i], 1);
        terms[used++] = concentrated(bad[i], 1);
        for (int kind = BRUME_LOSS_GAUSSIAN; kind <= BRUME_LOSS_POISSON_DISCRETE_LAPLACE; kind++)
            terms[used++] = term_of((brume_loss_kind)kind, bad[i], 0.5, 3, 1);
    }
    terms[used++] = approximate(1, 1.5, 1);
    terms[used++] = poisson_gaussian(1.5, 1, 1);
    terms[used++] = poisson_gaussian(-0.5, 1, 1);
    terms[used++] = kary(1, 1, 1);
    terms[used++] = discrete_laplace(1, 0, 1);
    terms[used++] = discrete_gaussian(1, 0, 1);
    assert_true(used <= sizeof terms / sizeof *terms);
    brume_bound out = {.upper = 77};
    brume_cost cost = {.epsilon = 77};
    brume_charge charge = {.rule = BRUME_RULE_PURE};
    brume_error error;
    for (size_t i = 0; i < used; i++) {
        for (int method = BRUME_METHOD_AUTO; method <= BRUME_METHOD_PLD; method++) {
            assert_fails(
                brume_account_epsilon((brume_method)method, &terms[i], 1, 1e-6, &out, &error),
                BRUME_EARGUMENT);
            assert_fails(brume_account_delta((brume_method)method, &terms[i], 1, 1, &out, &error),
                         BRUME_EARGUMENT);
        }
        assert_fails(brume_cost_group(&terms[i].cost, 2, &cost, &error), BRUME_EARGUMENT);
        for (int rule = BRUME_RULE_PURE; rule <= BRUME_RULE_CONCENTRATED; rule++)
            assert_fails(brume_charge_cost((brume_rule)rule, &terms[i].cost, 1, &charge, &error),
                         BRUME_EARGUMENT);
    }
    assert_true(out.upper == 77 && cost.epsilon == 77 && charge.rule == BRUME_RULE_PURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_mixtures_contain_their_exact_sums),
        cmocka_unit_test(continuous_mixtures_contain_sums_on_another_line),
        cmocka_unit_test(patterns_and_smoothed_lines_agree),
        cmocka_unit_test(the_peers_failures_are_answered_right),
        cmocka_unit_test(widths_hold_from_one_to_a_million_draws),
        cmocka_unit_test(a_million_events_of_ten_kinds_cost_ten_kinds),
        cmocka_unit_test(failure_is_an_atom_at_infinity),
        cmocka_unit_test(a_certain_failure_leaves_nothing_whatever_else_there_is),
        cmocka_unit_test(an_upper_cost_has_no_lower_end),
        cmocka_unit_test(moments_never_undercut_any_mechanism_of_theirs),
        cmocka_unit_test(more_noise_never_costs_more_and_smaller_delta_never_less),
        cmocka_unit_test(both_orders_count_for_the_subsampled_gaussian),
        cmocka_unit_test(the_top_end_is_sound),
        cmocka_unit_test(a_largest_loss_that_rounds_down_still_counts),
        cmocka_unit_test(tradeoff_ends_enclose_the_gaussian_closed_form),
        cmocka_unit_test(lines_contain_the_closed_form_of_one_subsampled_gaussian),
        cmocka_unit_test(ball_arithmetic_agrees_with_the_double_sums),
        cmocka_unit_test(what_answers_come_from_agrees_with_balls),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(a_number_that_no_cost_has_is_refused_by_every_method),
    };
    return cmocka_run_group_tests_name("accountant compose", tests, NULL, NULL);
}
