/* Expressions accounted by every method and for groups. */
#include "accounted.h"

#include "accountant/renyi/renyi.h"

static void every_method_is_above_the_certified_lower_end(void **state)
{
    (void)state;
    const char *const expressions[] = {
        "pure(epsilon=0.1)*100",
        "laplace(scale=2)*3",
        "randomized_response(epsilon=1.0986122886681098)*100",
        "pure(epsilon=1)*100",
        "pure(epsilon=20)*5",
        "approximate(epsilon=0.2, delta=1e-9)*30",
        "discrete_laplace(scale=4)*20 + pure(epsilon=0.05)*10",
        "gaussian(sigma=20)*100",
        "gaussian(sigma=5)*4 + laplace(scale=10)*7",
        "gaussian(sigma=100)*10000",
    };
    const double deltas[] = {1e-3, 1e-6, 1e-12};
    size_t methods;
    const brume_method_card *cards = brume_methods(&methods);
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        for (size_t j = 0; j < sizeof deltas / sizeof *deltas; j++) {
            accounted t = terms_for(expressions[i], 1);
            brume_bound certified;
            assert_ok(brume_account_epsilon(BRUME_METHOD_PLD, t.list, t.count, deltas[j],
                                            &certified, &error));
            assert_true(certified.has_lower && certified.lower <= certified.upper);
            for (size_t m = 0; m < methods; m++) {
                bool applies = true;
                for (size_t k = 0; k < t.count; k++)
                    applies &= brume_method_applies(cards[m].method, &t.list[k].cost);
                brume_bound bound;
                brume_status status = brume_account_epsilon(cards[m].method, t.list, t.count,
                                                            deltas[j], &bound, &error);
                assert_int_equal(status, applies ? BRUME_OK : BRUME_EUNSUPPORTED);
                if (applies && !(bound.upper >= certified.lower))
                    fail_msg("%s, delta %g: %s says %.17g, certified at least %.17g",
                             expressions[i], deltas[j], cards[m].name, bound.upper,
                             certified.lower);
                /* and back: delta at that epsilon */
                if (applies && !bound.infinite) {
                    brume_bound back;
                    assert_ok(brume_account_delta(cards[m].method, t.list, t.count,
                                                  bound.upper * (1 + 1e-12), &back, &error));
                    assert_true(back.upper <= deltas[j] * (1 + 1e-6));
                }
            }
            free(t.list);
        }
}

static void the_failures_of_others_do_not_happen_here(void **state)
{
    (void)state;
    /* a count that is dropped gives 1.0987; the truth is 94.29 */
    assert_close(
        epsilon_by(BRUME_METHOD_AUTO, "randomized_response(epsilon=1.0986122886681098)*100", 1e-6)
            .upper,
        94.29, 1e-4);
    assert_close(epsilon_by(BRUME_METHOD_AUTO, "gaussian(sigma=100)*10000", 1e-12).upper, 7.238,
                 1e-4);
    assert_close(epsilon_by(BRUME_METHOD_AUTO, "pure(epsilon=20)*5", 1e-6).upper, 100, 1e-6);
    brume_bound many = epsilon_by(BRUME_METHOD_AUTO, "pure(epsilon=1)*100", 1e-6);
    assert_true(many.upper < 100 && many.upper > 80);
    assert_true(many.upper - many.lower <= 1e-9 * many.upper);
}

static void compositions_have_the_published_values(void **state)
{
    (void)state;
    assert_close(epsilon_by(BRUME_METHOD_AUTO, "gaussian(sigma=50)*100", 1e-6).upper,
                 0.83411754862405235, 1e-9);
    assert_close(epsilon_by(BRUME_METHOD_ZCDP, "gaussian(sigma=50)*100", 1e-6).upper,
                 brume_concentrated_epsilon_upper(0.02, 1e-6), 1e-12);
    assert_close(delta_by(BRUME_METHOD_AUTO, "laplace(scale=1)*2", 1).upper, 0.24183667535920822,
                 1e-9);
    assert_close(delta_by(BRUME_METHOD_AUTO, "laplace(scale=1)*2", 0.5).upper, 0.35049598998110478,
                 1e-9);
    assert_close(delta_by(BRUME_METHOD_AUTO, "laplace(scale=1)*2", 0).upper, 0.44818083824283652,
                 1e-9);
    assert_close(epsilon_by(BRUME_METHOD_RDP, "laplace(scale=10)*100", 1e-6).upper,
                 4.9841739586396229, 1e-9);
}

/* Random mixtures: no method may claim less than the certified truth. */
static void no_method_is_below_the_truth_on_random_mixtures(void **state)
{
    (void)state;
    uint64_t noise = 0x9e3779b97f4a7c15u;
    size_t methods;
    const brume_method_card *cards = brume_methods(&methods);
    for (int i = 0; i < 60; i++) {
        char text[400] = "";
        for (int part = 0; part < 1 + i % 3; part++) {
            noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
            double size = 2 + (double)(noise % 1000) / 50;
            unsigned count = 1 + (unsigned)(noise >> 32) % 40;
            static const char *const shapes[] = {"gaussian(sigma=%g)", "pure(epsilon=%g)",
                                                 "discrete_gaussian(sigma=%g)", "zcdp(rho=%g)",
                                                 "approximate(epsilon=%g, delta=1e-9)"};
            int shape = (int)((noise >> 20) % 5);
            char term[100];
            snprintf(term, sizeof term, shapes[shape],
                     shape % 2 == 0 && shape < 4 ? size
                     : shape == 3                ? 0.01 / size
                                                 : 1 / size);
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s*%u", used ? " + " : "", term, count);
        }
        accounted t = terms_for(text, 1);
        double delta = i % 2 ? 1e-5 : 1e-3;
        brume_bound best;
        assert_ok(brume_account_epsilon(BRUME_METHOD_AUTO, t.list, t.count, delta, &best, &error));
        assert_false(best.contradictory);
        for (size_t m = 0; m < methods; m++) {
            brume_bound bound;
            if (brume_account_epsilon(cards[m].method, t.list, t.count, delta, &bound, &error))
                continue;
            if (best.has_lower && !(bound.upper >= best.lower * (1 - 1e-12)))
                fail_msg("%s: %s says %.17g, at least %.17g", text, cards[m].name, bound.upper,
                         best.lower);
            if (!(bound.upper >= best.upper * (1 - 1e-9)))
                fail_msg("%s: auto says %.17g, %s less: %.17g", text, best.upper, cards[m].name,
                         bound.upper);
        }
        free(t.list);
    }
}

static void optimal_composition_equals_the_certified_one(void **state)
{
    (void)state;
    const char *const expressions[] = {"pure(epsilon=0.1)*100",
                                       "approximate(epsilon=0.2, delta=1e-9)*30",
                                       "pure(epsilon=0.3)*4 + pure(epsilon=0.7)*3"};
    for (size_t i = 0; i < 3; i++) { /* these sums are short: two routes */
        brume_bound certified = epsilon_by(BRUME_METHOD_PLD, expressions[i], 1e-6);
        assert_close(epsilon_by(BRUME_METHOD_OPTIMAL, expressions[i], 1e-6).upper, certified.upper,
                     1e-9);
        assert_close(delta_by(BRUME_METHOD_OPTIMAL, expressions[i], 1).upper,
                     delta_by(BRUME_METHOD_PLD, expressions[i], 1).upper, 1e-9);
    }
}

static void optimal_composition_knows_nothing_but_the_guarantees(void **state)
{
    (void)state;
    brume_bound pure =
        epsilon_by(BRUME_METHOD_PLD, "pure(epsilon=0.25)*89460 + pure(epsilon=0.125)*7", 1e-6);
    brume_bound laplace =
        epsilon_by(BRUME_METHOD_OPTIMAL, "laplace(scale=4)*89460 + laplace(scale=8)*7", 1e-6);
    assert_close(laplace.upper, pure.upper, 1e-8);
    assert_true(laplace.upper >= pure.lower && laplace.method == BRUME_METHOD_OPTIMAL);
}

/* A selection's rho is a quarter of the worst pure law's, and noise beside it has a law: both
 * count. */
static void selections_beside_noise_cost_less_than_by_either_alone(void **state)
{
    (void)state;
    const char *const expressions[] = {"exponential(epsilon=0.02)*200 + laplace(scale=10)*50",
                                       "exponential(epsilon=0.02)*2000 + laplace(scale=10)*200"};
    for (size_t i = 0; i < 2; i++) {
        brume_bound best = epsilon_by(BRUME_METHOD_AUTO, expressions[i], 1e-6);
        double by_curves = epsilon_by(BRUME_METHOD_RDP, expressions[i], 1e-6).upper;
        assert_true(best.upper < 0.99 * by_curves && !best.has_lower && !best.contradictory);
        const char *exact = i ? "gaussian(sigma=100)*2000 + laplace(scale=10)*200"
                              : "gaussian(sigma=100)*200 + laplace(scale=10)*50";
        /* Gaussian noise has that very rho: it may not cost more */
        assert_true(best.upper > epsilon_by(BRUME_METHOD_AUTO, exact, 1e-6).lower);
    }
    assert_true(
        epsilon_by(BRUME_METHOD_AUTO, expressions[0], 1e-6).upper <
        0.96 * epsilon_by(BRUME_METHOD_PLD, "pure(epsilon=0.02)*200 + laplace(scale=10)*50", 1e-6)
                   .upper);
}

/* At deltas that no line of the mixture reaches, bounded terms are taken apart: never below what
 * the rest costs alone, never above that and their epsilons. */
static void bounded_terms_beside_a_deep_tail_cost_their_epsilon_at_most(void **state)
{
    (void)state;
    const char *rest = "poisson(rate=0.00127, gaussian(sigma=7.26))*10";
    const char *both = "poisson(rate=0.00127, gaussian(sigma=7.26))*10 + "
                       "mwem(epsilon=0.02, rounds=10)";
    brume_bound alone = epsilon_by(BRUME_METHOD_AUTO, rest, 1e-30);
    brume_bound mixed = epsilon_by(BRUME_METHOD_AUTO, both, 1e-30);
    assert_true(mixed.upper >= alone.lower && mixed.upper <= alone.upper + 0.02 * (1 + 1e-9));
    assert_false(mixed.has_lower || mixed.contradictory);
    /* a delta that falls with epsilon, far beyond any of use too */
    double last = 1;
    for (double epsilon = 0.0055; epsilon < 0.03; epsilon += 0.0036) {
        brume_bound delta = delta_by(BRUME_METHOD_AUTO, rest, epsilon);
        assert_true(delta.upper <= fmax(last, 1e-30) && delta.lower <= delta.upper);
        last = delta.upper;
    }
    /* Gaussian and pure: the mixture's own line is below both, and apart is above the truth */
    brume_bound line = delta_by(BRUME_METHOD_PLD, "gaussian(sigma=2) + pure(epsilon=0.5)", 2);
    brume_bound shifted = delta_by(BRUME_METHOD_PLD, "gaussian(sigma=2)", 1.5);
    assert_true(line.upper < shifted.lower);
}

/* No line follows the unbounded terms alone there: moments still answer for all of them. */
static void a_bound_apart_that_fails_leaves_the_others(void **state)
{
    (void)state;
    const char *alone = "poisson(rate=0.9999999999, gaussian(sigma=17))*3";
    const char *both = "poisson(rate=0.9999999999, gaussian(sigma=17))*3 + pure(epsilon=0.1)";
    assert_true(delta_by(BRUME_METHOD_AUTO, alone, 10).upper < 1e-300);
    assert_true(delta_by(BRUME_METHOD_AUTO, both, 10).upper < 1e-300);
}

static void delta_zero_gives_the_sum_of_pure_epsilons_or_infinity(void **state)
{
    (void)state;
    brume_bound bound = epsilon_by(BRUME_METHOD_AUTO, "laplace(scale=8)*4 + pure(epsilon=0.5)", 0);
    assert_true(bound.upper == 1 && !bound.infinite && bound.method == BRUME_METHOD_BASIC);
    bound = epsilon_by(BRUME_METHOD_AUTO, "gaussian(sigma=1)", 0);
    assert_true(bound.infinite && isinf(bound.upper));
    bound = epsilon_by(BRUME_METHOD_AUTO, "approximate(epsilon=1, delta=1e-6)", 0);
    assert_true(bound.infinite);
    bound = epsilon_by(BRUME_METHOD_AUTO, "approximate(epsilon=1, delta=1e-6)*10", 1e-6);
    assert_true(bound.infinite);
    accounted t = terms_for("pure(epsilon=1)", 1);
    assert_fails(brume_account_epsilon(BRUME_METHOD_AUTO, t.list, 1, 1, &bound, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_account_epsilon(BRUME_METHOD_AUTO, t.list, 1, -0.1, &bound, &error),
                 BRUME_EARGUMENT);
    assert_fails(brume_account_delta(BRUME_METHOD_AUTO, t.list, 1, NAN, &bound, &error),
                 BRUME_EARGUMENT);
    free(t.list);
}

static void mechanisms_known_by_moments_get_the_best_of_the_rest(void **state)
{
    (void)state;
    brume_bound bound = epsilon_by(BRUME_METHOD_AUTO, "zcdp(rho=0.1)", 1e-6);
    assert_true(bound.upper >= 2.1419389283854736 && bound.upper <= 2.14193892839);
    bound = epsilon_by(BRUME_METHOD_AUTO, "zcdp(rho=0.05)*2", 1e-6);
    assert_true(bound.upper >= 2.1419389283854736 && bound.upper <= 2.14193892839);
    assert_false(bound.has_lower);
}

static void a_method_that_does_not_apply_is_refused_with_those_that_do(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_term *list;
    assert_ok(brume_expression_parse("pure(epsilon=1) + gaussian(sigma=1)", BRUME_ADD_REMOVE, &e,
                                     &error));
    assert_fails(brume_account_terms(e.events, e.count, 1, BRUME_METHOD_OPTIMAL, &list, &error),
                 BRUME_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "'optimal' does not apply to gaussian"));
    assert_string_equal(error.hint, "methods that do: advanced, advanced-half, advanced-exp, "
                                    "advanced-2, zcdp, zcdp-closed, rdp, pld");
    brume_expression_free(&e);
}

/* The lecture's baseline: each Gaussian is (epsilon, delta)-DP by its classical sigma, with half of
 * delta in equal parts. Rejects: all of delta for each; the classical formula beyond epsilon 1. */
static void gaussians_by_advanced_composition_are_sound_and_loose(void **state)
{
    (void)state;
    static const brume_method forms[] = {BRUME_METHOD_ADVANCED, BRUME_METHOD_ADVANCED_HALF,
                                         BRUME_METHOD_ADVANCED_EXP, BRUME_METHOD_ADVANCED_2};
    static const double published[] = {7.473, 7.473, 8.347, 9.793};
    for (size_t f = 0; f < 4; f++)
        assert_close(epsilon_by(forms[f], "gaussian(sigma=50)*100", 1e-6).upper, published[f],
                     1e-4);
    char text[96];
    for (double sigma = .05; sigma < 1e4; sigma *= 7)
        for (int count = 1; count < 1000; count *= 9)
            for (double delta = 1e-12; delta < .99; delta = delta < .3 ? delta * 40 : delta + .3)
                for (size_t f = 0; f < 4; f++) {
                    snprintf(text, sizeof text, "gaussian(sigma=%.17g)*%d + pure(epsilon=0.01)*%d",
                             sigma, count, count);
                    double truth = epsilon_by(BRUME_METHOD_PLD, text, delta).lower;
                    double found = epsilon_by(forms[f], text, delta).upper;
                    assert_holds(found >= truth);
                    if (found > 600)
                        continue;
                    double back = delta_by(forms[f], text, found).upper;
                    assert_holds(back >= delta * (1 - 1e-9) * (f > 0) &&
                                 back <= delta * (1 + 1e-9));
                    assert_holds(back >= delta_by(BRUME_METHOD_PLD, text, found).lower);
                }
    /* one of them: at half of delta, and the true delta there is within it */
    for (double sigma = .1; sigma < 100; sigma *= 1.3)
        for (double delta = 1e-15; delta < .9; delta *= 3) {
            snprintf(text, sizeof text, "gaussian(sigma=%.17g)", sigma);
            double one = epsilon_by(BRUME_METHOD_ADVANCED, text, delta).upper;
            double classical = sqrt(2 * log(2.5 / delta)) / sigma;
            double tail = .5 / (sigma * sigma) + sqrt(2 * log(2 / delta)) / sigma;
            assert_close(one, classical <= 1 ? classical : tail, 1e-9);
            assert_holds(delta_by(BRUME_METHOD_PLD, text, one).upper <= delta / 2 * (1 + 1e-9));
        }
    assert_true(epsilon_by(BRUME_METHOD_ADVANCED, "gaussian(sigma=1)", 0).infinite);
    assert_true(delta_by(BRUME_METHOD_ADVANCED, "gaussian(sigma=1)", 0).upper == 1);
}

static void a_million_events_of_ten_kinds_cost_what_ten_kinds_cost(void **state)
{
    (void)state;
    brume_bound one = epsilon_by(BRUME_METHOD_AUTO, "gaussian(sigma=1000)*1000000", 1e-6);
    assert_close(one.upper, epsilon_by(BRUME_METHOD_AUTO, "gaussian(sigma=1)", 1e-6).upper, 1e-9);
    assert_true(one.upper - one.lower < 1e-9);
}

static void a_release_at_its_own_delta_costs_its_epsilon(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double delta, epsilon;
    } cases[] = {
        {"approximate(epsilon=0.5, delta=1e-6)", 1e-6, 0.5},
        {"approximate(epsilon=0.5, delta=3e-11)", 3e-11, 0.5},
        {"approximate(epsilon=0.5, delta=1e-6)*4", 4e-6, 2},
        {"stable_histogram(epsilon=1, delta=1e-6)", 1e-6, 1},
        {"stable_histogram(epsilon=1, delta=1e-6) + laplace(scale=2)", 1e-6, 1.5},
        {"propose_test_release(epsilon_test=0.5, epsilon_release=0.25, delta=7e-7)", 7e-7, 0.75},
    };
    const brume_method methods[] = {BRUME_METHOD_AUTO, BRUME_METHOD_BASIC, BRUME_METHOD_ADVANCED,
                                    BRUME_METHOD_RDP};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int m = 0; m < 4; m++) {
            brume_bound bound = epsilon_by(methods[m], cases[i].text, cases[i].delta);
            assert_true(!bound.infinite && bound.upper >= cases[i].epsilon * (1 - 1e-4));
            assert_true(bound.upper <= cases[i].epsilon * (1 + 1e-14));
            assert_true(!bound.has_lower || bound.lower <= bound.upper);
            if (strstr(cases[i].text, "*") == NULL) { /* and below it there is none */
                bound = epsilon_by(methods[m], cases[i].text, nextafter(cases[i].delta, 0));
                assert_true(bound.infinite);
            }
        }
    assert_true(delta_by(BRUME_METHOD_BASIC, cases[0].text, 0.5).upper == 1e-6);
}

static void groups_cost_what_theory_says(void **state)
{
    (void)state;
    brume_bound bound;
    accounted t = terms_for("gaussian(sigma=4)", 5);
    assert_ok(brume_account_epsilon(BRUME_METHOD_AUTO, t.list, 1, 1e-6, &bound, &error));
    assert_close(bound.upper, 6.3120601858013257574, 1e-12);
    assert_true(t.list->cost.rho >= 25.0 / 32 && t.list->cost.rho < 25.0 / 32 * (1 + 1e-14));
    free(t.list);
    t = terms_for("approximate(epsilon=0.1, delta=1e-8)", 5);
    assert_close(t.list->cost.epsilon, 0.5, 1e-15);
    assert_close(t.list->cost.delta_failure, 6.1682571814530908805e-8, 1e-14);
    free(t.list);
    t = terms_for("discrete_laplace(scale=10)*3", 4);
    assert_true(t.list->cost.law.shift == 4 && t.list->count == 3);
    free(t.list);
    t = terms_for("laplace(scale=10)", 3);
    assert_ok(brume_account_delta(BRUME_METHOD_AUTO, t.list, 1, 0.1, &bound, &error));
    assert_close(bound.upper, -expm1((0.1 - 0.3) / 2), 1e-12);
    free(t.list);
    /* The tight law of a guarantee's group; what attains epsilon need not attain that. */
    const char *const pure_ones[] = {"pure(epsilon=0.5)", "randomized_response(epsilon=0.5)",
                                     "randomized_response(epsilon=0.5, k=5)"};
    double worst = -expm1(0.2 - 1) / (1 + exp(-0.5));
    for (int i = 0; i < 3; i++) {
        t = terms_for(pure_ones[i], 2);
        assert_ok(brume_account_delta(BRUME_METHOD_AUTO, t.list, 1, 0.2, &bound, &error));
        if (i < 2)
            assert_close(bound.upper, worst, 1e-12);
        assert_true(bound.upper <= worst * (1 + 1e-12)); /* rho says less of k answers */
        assert_true(bound.has_lower == (i == 0));
        brume_quality quality = i == 0 ? BRUME_EXACT : BRUME_UPPER;
        assert_true(t.list->cost.pure == quality && t.list->cost.loss == quality);
        free(t.list);
    }
    t = terms_for("laplace(scale=2)", 2);
    assert_true(t.list->cost.pure == BRUME_EXACT && t.list->cost.loss == BRUME_EXACT);
    free(t.list);
    brume_expression e = {0};
    brume_term *list;
    assert_ok(
        brume_expression_parse("approximate(epsilon=5, delta=0.01)", BRUME_ADD_REMOVE, &e, &error));
    assert_fails(brume_account_terms(e.events, 1, 7, BRUME_METHOD_AUTO, &list, &error),
                 BRUME_EUNSUPPORTED);
    assert_fails(brume_account_terms(e.events, 1, 0, BRUME_METHOD_AUTO, &list, &error),
                 BRUME_EARGUMENT);
    brume_expression_free(&e);
}

static void more_noise_never_costs_more_and_smaller_delta_never_less(void **state)
{
    (void)state;
    const char *const shapes[] = {"gaussian(sigma=%.17g)*20",
                                  "pure(epsilon=0.05)*9 + gaussian(sigma=%.17g)",
                                  "discrete_laplace(scale=%.17g)*12", "laplace(scale=%.17g)*3"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double before = INFINITY;
        for (double noise = 1; noise < 40; noise *= 1.7) {
            char text[100];
            snprintf(text, sizeof text, shapes[i], noise);
            brume_bound bound = epsilon_by(BRUME_METHOD_AUTO, text, 1e-6);
            assert_true(bound.upper <= before * (1 + 1e-12));
            before = bound.upper;
            double last = 0;
            for (double delta = 1e-2; delta > 1e-13; delta /= 100) {
                brume_bound at = epsilon_by(BRUME_METHOD_AUTO, text, delta);
                assert_true(at.upper >= last * (1 - 1e-12));
                last = at.upper;
            }
        }
    }
}

static void a_sparse_vector_costs_at_least_the_noise_of_its_numbers(void **state)
{
    (void)state;
    const char text[] = "sparse_vector(epsilon=0.001, hits=100, epsilon_answers=100)";
    double numbers = epsilon_by(BRUME_METHOD_PLD, "discrete_laplace(scale=1)*100", 1e-6).lower;
    assert_true(numbers > 83 && epsilon_by(BRUME_METHOD_AUTO, text, 1e-6).upper >= numbers);
    /* its rho is one of two best orders, the epsilon the other */
    assert_true(epsilon_by(BRUME_METHOD_AUTO, text, 1e-6).upper <
                epsilon_by(BRUME_METHOD_ZCDP, text, 1e-6).upper * (1 + 1e-9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_is_above_the_certified_lower_end),
        cmocka_unit_test(the_failures_of_others_do_not_happen_here),
        cmocka_unit_test(compositions_have_the_published_values),
        cmocka_unit_test(no_method_is_below_the_truth_on_random_mixtures),
        cmocka_unit_test(optimal_composition_equals_the_certified_one),
        cmocka_unit_test(optimal_composition_knows_nothing_but_the_guarantees),
        cmocka_unit_test(selections_beside_noise_cost_less_than_by_either_alone),
        cmocka_unit_test(bounded_terms_beside_a_deep_tail_cost_their_epsilon_at_most),
        cmocka_unit_test(a_bound_apart_that_fails_leaves_the_others),
        cmocka_unit_test(delta_zero_gives_the_sum_of_pure_epsilons_or_infinity),
        cmocka_unit_test(mechanisms_known_by_moments_get_the_best_of_the_rest),
        cmocka_unit_test(a_method_that_does_not_apply_is_refused_with_those_that_do),
        cmocka_unit_test(gaussians_by_advanced_composition_are_sound_and_loose),
        cmocka_unit_test(a_million_events_of_ten_kinds_cost_what_ten_kinds_cost),
        cmocka_unit_test(a_release_at_its_own_delta_costs_its_epsilon),
        cmocka_unit_test(groups_cost_what_theory_says),
        cmocka_unit_test(more_noise_never_costs_more_and_smaller_delta_never_less),
        cmocka_unit_test(a_sparse_vector_costs_at_least_the_noise_of_its_numbers),
    };
    return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
