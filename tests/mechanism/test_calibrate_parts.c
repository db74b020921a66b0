/* The parts of a calibration, each asked by itself: on which side of its target a bound is, which
 * number is tried, and what a trial certifies. */
#include "searched.h"

#include "mechanism/card.h"

static void a_bound_is_above_its_target_by_comparison(void **state)
{
    (void)state;
    static const double targets[] = {1e-300, 1e-9, 0.1, 1, 3};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        double target = targets[i];
        assert_true(brume_calibrate_excess(target, target) == 0);
        double above = brume_calibrate_excess(nextafter(target, INFINITY), target);
        assert_true(above > 0 && above < 1e-15);
        double below = brume_calibrate_excess(nextafter(target, 0), target);
        assert_true(below <= 0 && below > -1e-15);
        assert_close(brume_calibrate_excess(2 * target, target), log(2), 1e-14);
        assert_close(brume_calibrate_excess(target / 2, target), -log(2), 1e-14);
        assert_true(brume_calibrate_excess(INFINITY, target) == INFINITY);
        assert_true(brume_calibrate_excess(0, target) == -INFINITY);
    }
}

/* What a calibration takes for the range of a parameter is within what its card accepts, and leaves
 * out nothing but 0 where that means that it is not said. */
static void ranges_are_those_of_the_cards(void **state)
{
    (void)state;
    size_t count, checked = 0;
    const brume_card *const *cards = brume_cards(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < cards[i]->parameter_count; j++) {
            const brume_parameter *p = &cards[i]->parameters[j];
            if (p->direction == BRUME_NOT_MONOTONE || p->type == BRUME_PARAMETER_FLAG ||
                p->type == BRUME_PARAMETER_MECHANISM)
                continue;
            bool whole = p->type == BRUME_PARAMETER_INTEGER;
            if (whole) {
                assert_true(!p->least_open && !p->most_open && p->most <= 0x1p53);
                assert_true(p->least == floor(p->least) && p->most == floor(p->most));
                assert_true(p->least >= 1 || (p->least == 0 && p->optional && p->standard == 0));
            }
            assert_true(whole || (p->least == 0 && p->most > 0.25));
            checked++;
        }
    assert_true(checked > 30);
}

static void a_number_is_within_its_range(void **state)
{
    (void)state;
    brume_search_for c = {.low = 2, .high = 100};
    assert_close(brume_calibrate_number(&c, log(9.5)), 9.5, 1e-14);
    assert_true(brume_calibrate_number(&c, log(1000)) == 100);
    assert_true(brume_calibrate_number(&c, log(0.5)) == 2);
    c.inverted = true;
    assert_close(brume_calibrate_number(&c, -log(9.5)), 9.5, 1e-14);
    c.whole = true; /* down, but a number that only rounding kept below the next */
    assert_true(brume_calibrate_number(&c, -log(9.5)) == 9);
    for (double number = 2; number <= 100; number++)
        assert_true(brume_calibrate_number(&c, log(1 / number)) == number);
    assert_true(brume_calibrate_value_of(&c, 9) == 9);
    c.squared = true;
    assert_true(brume_calibrate_value_of(&c, 9) == 3);
}

static void an_interval_at_its_target_is_undecided(void **state)
{
    (void)state;
    const struct {
        double lower, upper;
        bool known, undecided;
    } cases[] = {{-1, 1, true, true},  {0, 1, true, true},  {-1, 1, false, false},
                 {-1, 0, true, false}, {1, 2, true, false}, {-2, -1, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_finding f = {
            .lower = cases[i].lower, .upper = cases[i].upper, .known = cases[i].known};
        assert_int_equal(brume_calibrate_undecided(&f), cases[i].undecided);
    }
}

/* Terms without a law are curved; what stands behind the last term is none of them. */
static void curved_terms_are_those_of_the_expression(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool curved;
    } cases[] = {{"laplace(scale=?)", false},
                 {"laplace(scale=?) + gaussian(sigma=2)", false},
                 {"laplace(scale=?) + zcdp(rho=0.1)", true},
                 {"laplace(scale=?) + zcdp(rho=0.1) + gaussian(sigma=3)", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        brume_finding f;
        brume_search_for c = open_search(&e, cases[i].text, 1, 1e-6);
        c.terms[e.count].cost = (brume_cost){.concentrated = BRUME_EXACT, .rho = 1};
        assert_ok(brume_calibrate_try(&c, 10, 1e-3, &f, &error));
        assert_int_equal(brume_calibrate_is_curved(&c), cases[i].curved);
        close_search(&c);
    }
}

/* Near the target a trial says what an account says, in logarithms over the target; at values of
 * the same cost it says the same, however often it is asked. */
static void a_trial_is_an_account(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value; /* near the answer */
    } cases[] = {{"laplace(scale=?)*100 + laplace(scale=10)", 44.27},
                 {"gaussian(sigma=?)*3", 7.317},
                 {"laplace(scale=?)*100 + zcdp(rho=0.001)", 42.79},
                 {"poisson(rate=0.1, laplace(scale=?))*100", 4.082}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        brume_finding f, again;
        brume_search_for c = open_search(&e, cases[i].text, 1, 1e-6);
        for (int step = -1; step <= 1; step++) {
            double value = cases[i].value * (1 + 0.01 * step);
            brume_bound bound = delta_at(&e, value, 1);
            double upper = log(bound.upper / 1e-6);
            assert_ok(brume_calibrate_try(&c, value, 1e-9, &f, &error));
            if (!(fabs(upper) < 1 && fabs(f.upper - upper) < 1e-6))
                fail_msg("%s at %g: %.17g, expected %.17g", cases[i].text, value, f.upper, upper);
            assert_true(f.lower <= f.upper && f.known == bound.has_lower);
            if (f.known)
                assert_true(f.upper - f.lower < 1e-6 && f.estimate <= f.upper &&
                            f.estimate >= f.lower);
            assert_ok(brume_calibrate_try(&c, value, 1e-9, &again, &error));
            assert_memory_equal(&f, &again, sizeof f);
        }
        close_search(&c);
    }
}

/* Where the epsilon is pure, the sum is exact; where there is none, nothing is met. */
static void a_trial_at_delta_0_adds_epsilons(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_finding f;
    brume_search_for c = open_search(&e, "laplace(scale=?)*4 + pure(epsilon=0.5)", 1, 0);
    assert_ok(brume_calibrate_try(&c, 8, 0, &f, &error));
    assert_true(f.upper == 0 && f.lower == -INFINITY && f.estimate == 0 && !f.known);
    assert_ok(brume_calibrate_try(&c, nextafter(8, 0), 0, &f, &error));
    assert_true(f.upper > 0);
    assert_ok(brume_calibrate_try(&c, 16, 0, &f, &error));
    assert_close(f.upper, log(0.75), 1e-14);
    assert_ok(brume_calibrate_try_others(&c, 0, &f, &error));
    assert_close(f.upper, log(0.5), 1e-14);
    close_search(&c);
    c = open_search(&e, "laplace(scale=?) + gaussian(sigma=100)", 1, 0);
    assert_ok(brume_calibrate_try(&c, 8, 0, &f, &error));
    assert_true(f.upper == INFINITY);
    assert_ok(brume_calibrate_try_others(&c, 0, &f, &error));
    assert_true(f.upper == INFINITY);
    close_search(&c);
    c = open_search(&e, "laplace(scale=?)", 1, 0);
    assert_ok(brume_calibrate_try_others(&c, 0, &f, &error));
    assert_true(f.upper == -INFINITY && f.estimate == -INFINITY);
    close_search(&c);
}

/* The other terms alone, by the same certificates. */
static void the_other_terms_are_accounted_alone(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_finding f;
    brume_search_for c =
        open_search(&e, "laplace(scale=?)*7 + gaussian(sigma=3) + laplace(scale=9)*2", 1, 1e-6);
    double alone = delta_by(BRUME_METHOD_AUTO, "gaussian(sigma=3) + laplace(scale=9)*2", 1).upper;
    assert_ok(brume_calibrate_try_others(&c, 1e-9, &f, &error));
    assert_close(f.upper, log(alone / 1e-6), 1e-6);
    c.accuracy = true; /* of an error the others say nothing */
    assert_ok(brume_calibrate_try_others(&c, 1e-9, &f, &error));
    assert_true(f.upper == -INFINITY);
    close_search(&c);
}

/* The chance of an error of alpha or more, over beta. */
static void a_trial_of_an_accuracy_is_a_chance(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_finding f;
    brume_search_for c = open_search(&e, "laplace(scale=?)", 6, 0.05);
    c.accuracy = true;
    assert_ok(brume_calibrate_try(&c, 2, 0, &f, &error));
    assert_close(f.upper, log(exp(-3) / 0.05), 1e-13);
    assert_true(f.lower == -INFINITY && f.estimate == f.upper && !f.known);
    close_search(&c);
}

/* At delta = 0 what is returned costs no more than the target in the last place, and a few units
 * in the last place less noise costs more. */
static void pure_values_end_at_the_last_place(void **state)
{
    (void)state;
    unsigned tried = 0;
    for (int count = 1; count <= 7; count += 3)
        for (double epsilon = 0.1; epsilon < 7; epsilon *= 1.37) {
            char text[80];
            brume_expression e = {0};
            brume_calibration found;
            brume_term *terms;
            brume_bound here, less;
            snprintf(text, sizeof text, "laplace(scale=?, sensitivity=0.7)*%d", count);
            assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
            assert_ok(brume_calibrate(&e, epsilon, 0, &found, &error));
            assert_true(found.epsilon_upper <= epsilon && found.delta == 0 && !found.everywhere);
            assert_ok(brume_account_terms(e.events, 1, 1, BRUME_METHOD_BASIC, &terms, &error));
            assert_ok(brume_account_epsilon(BRUME_METHOD_BASIC, terms, 1, 0, &here, &error));
            free(terms);
            assert_ok(brume_expression_solve(&e, found.value * (1 - 3e-15), &error));
            assert_ok(brume_account_terms(e.events, 1, 1, BRUME_METHOD_BASIC, &terms, &error));
            assert_ok(brume_account_epsilon(BRUME_METHOD_BASIC, terms, 1, 0, &less, &error));
            free(terms);
            if (!(here.upper <= epsilon && less.upper > epsilon))
                fail_msg("%s at %.17g: %.17g costs %.17g, less noise %.17g", text, epsilon,
                         found.value, here.upper, less.upper);
            brume_expression_free(&e);
            tried++;
        }
    assert_true(tried > 35);
}

/* A number of few digits is taken where it meets the target and costs next to nothing: neither one
 * that is too bold, nor one that is noisier than an answer may be. */
static void short_numbers_are_taken_where_they_fit(void **state)
{
    (void)state;
    static const double targets[] = {1 - 3e-10, 1 + 3e-10, 1 - 8e-10, 1 + 8e-10, 1 - 2e-11};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        double value = calibrated("laplace(scale=?)*10", targets[i], 0).value;
        assert_true(value * targets[i] >= 10 * (1 - 1e-15) &&
                    value * targets[i] < 10 * (1 + 1e-14));
    }
    assert_true(calibrated("laplace(scale=?)*10", 1 + 2e-11, 0).value == 10);
    assert_true(calibrated("laplace(scale=?)*10", 1, 0).value == 10);
    assert_true(calibrated("pure(epsilon=?)", 0.5, 1e-30).value == 0.5);
    assert_true(calibrated("pure(epsilon=?)", 0.123456, 1e-30).value == 0.123456);
    assert_true(calibrated("stable_release(epsilon=0.1, delta=?)", 1, 1e-6).value == 1e-6);
}

/* A target that every value meets is answered with the end of the range, which says so. */
static void the_end_of_a_range_says_so(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_calibration found = calibrated("poisson(rate=?, gaussian(sigma=300))*8", 1, 1e-6);
    assert_true(found.value == 1 && found.everywhere);
    assert_ok(
        brume_expression_parse("stable_release(epsilon=1, delta=?)", BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_calibrate_accuracy(&e, 1000, 0.05, 0, &found, &error));
    assert_true(found.value < 1e-289 && found.everywhere);
    assert_ok(brume_calibrate_accuracy(&e, 20, 0.05, 0, &found, &error));
    assert_true(found.value > 1e-9 && !found.everywhere);
    brume_expression_free(&e);
}

/* A whole number that meets its target exactly is good; one whose certificate still holds the
 * target when none is sharper is not. */
static void whole_numbers_at_their_target_are_decided(void **state)
{
    (void)state;
    assert_true(calibrated("pure(epsilon=0.25)*?", 1, 0).value == 4);
    static const struct {
        const char *text;
        double number;
    } cases[] = {{"laplace(scale=30)*? + pure(epsilon=0.7)", 300},
                 {"poisson(rate=0.1, gaussian(sigma=1))*?", 20}};
    for (size_t i = 0; i < 2; i++) {
        brume_expression e = {0};
        brume_finding f;
        brume_search_for c = open_search(&e, cases[i].text, 2, 1e-3);
        c.whole = true;
        assert_ok(brume_calibrate_try(&c, cases[i].number, 1e-10, &f, &error));
        assert_true(f.known && f.upper - f.lower > 1e-12 && f.upper - f.lower < 1e-6);
        double within = 1e-3 * exp((f.upper + f.lower) / 2);
        close_search(&c);
        assert_true(calibrated(cases[i].text, 2, within).value == cases[i].number - 1);
        assert_true(calibrated(cases[i].text, 2, within * (1 + 1e-6)).value == cases[i].number);
    }
}

/* An answer that met its target shows no more than that, though an account of it may be a unit
 * above. */
static void no_more_than_the_target_is_shown(void **state)
{
    (void)state;
    brume_expression e = {0};
    double epsilon = 0;
    brume_search_for c = open_search(&e, "laplace(scale=?)", 0.5, 0);
    double value = nextafter(2, 0);
    assert_ok(brume_expression_solve(&e, value, &error));
    assert_ok(brume_calibrate_epsilon_at(&e, 0, &epsilon, &error));
    assert_true(epsilon > 0.5 && epsilon < 0.5 + 1e-15);
    assert_ok(brume_calibrate_epsilon(&c, value, &epsilon, &error));
    assert_true(epsilon == 0.5);
    close_search(&c);
}

static void targets_outside_their_ranges_are_refused(void **state)
{
    (void)state;
    static const double bad[][3] = {{0, 0.1, 0},   {-1, 0.1, 0}, {INFINITY, 0.1, 0}, {1, 0, 0},
                                    {1, 1, 0},     {1, 0.1, 1},  {1, 0.1, -1e-9},    {1, 0.1, NAN},
                                    {NAN, 0.1, 0}, {1, NAN, 0.1}};
    brume_expression e = {0};
    brume_calibration found = {.value = 42};
    assert_ok(brume_expression_parse("laplace(scale=?)", BRUME_ADD_REMOVE, &e, &error));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const double *b = bad[i];
        assert_fails(brume_calibrate_accuracy(&e, b[0], b[1], b[2], &found, &error),
                     BRUME_EARGUMENT);
        if (b[1] == 0.1) /* the same as an epsilon and a delta */
            assert_fails(brume_calibrate(&e, b[0], b[2], &found, &error), BRUME_EARGUMENT);
    }
    assert_true(found.value == 42);
    brume_expression_free(&e);
}

/* The epsilon shown with an accuracy, or with a whole number, is one at which delta is
 * certified, and about a millionth above the least. */
static void epsilons_that_are_shown_are_certified(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double alpha; /* 0: a whole number at epsilon 1 */
    } cases[] = {{"laplace(scale=?)*50", 100},
                 {"gaussian(sigma=?)*20 + laplace(scale=30)", 40},
                 {"stable_release(epsilon=0.1, delta=1e-8) + laplace(scale=?)*20", 90},
                 {"laplace(scale=70)*?", 0},
                 {"gaussian(sigma=30)*? + approximate(epsilon=0.1, delta=1e-7)", 0},
                 {"zcdp(rho=0.0003)*?", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        brume_calibration found;
        assert_ok(brume_expression_parse(cases[i].text, BRUME_ADD_REMOVE, &e, &error));
        assert_ok(cases[i].alpha > 0
                      ? brume_calibrate_accuracy(&e, cases[i].alpha, 0.05, 1e-6, &found, &error)
                      : brume_calibrate(&e, 1, 1e-6, &found, &error));
        double epsilon = found.epsilon_upper;
        brume_bound here = delta_at(&e, found.value, epsilon);
        brume_bound below = delta_at(&e, found.value, epsilon * (1 - 3e-6));
        if (!(here.upper <= 1e-6 && below.upper > 1e-6))
            fail_msg("%s: %.17g has delta %.17g, below %.17g", cases[i].text, epsilon, here.upper,
                     below.upper);
        brume_expression_free(&e);
    }
}

/* Of an epsilon that is known between two ends the upper one is shown. */
static void the_upper_end_is_shown(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_term *terms = NULL;
    brume_composition near;
    brume_compose_options quick = {.tolerance = 1e-6};
    double shown = 0;
    assert_ok(brume_expression_parse("gaussian(sigma=30)*20 + laplace(scale=30)*10",
                                     BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_account_terms(e.events, e.count, 1, BRUME_METHOD_AUTO, &terms, &error));
    assert_ok(brume_compose_epsilon(terms, e.count, 1e-6, &quick, &near, &error));
    assert_ok(brume_calibrate_epsilon_at(&e, 1e-6, &shown, &error));
    assert_true(near.value.lower < near.value.upper);
    assert_true(shown == near.value.upper);
    free(terms);
    brume_expression_free(&e);
}

static void a_delta_of_1_is_no_target(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_calibration found;
    assert_ok(brume_expression_parse("gaussian(sigma=?)", BRUME_ADD_REMOVE, &e, &error));
    assert_fails(brume_calibrate(&e, 1, 1, &found, &error), BRUME_EARGUMENT);
    assert_ok(brume_calibrate(&e, 1, 0.999, &found, &error));
    brume_expression_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_is_above_its_target_by_comparison),
        cmocka_unit_test(ranges_are_those_of_the_cards),
        cmocka_unit_test(a_number_is_within_its_range),
        cmocka_unit_test(an_interval_at_its_target_is_undecided),
        cmocka_unit_test(curved_terms_are_those_of_the_expression),
        cmocka_unit_test(a_trial_is_an_account),
        cmocka_unit_test(a_trial_at_delta_0_adds_epsilons),
        cmocka_unit_test(the_other_terms_are_accounted_alone),
        cmocka_unit_test(a_trial_of_an_accuracy_is_a_chance),
        cmocka_unit_test(pure_values_end_at_the_last_place),
        cmocka_unit_test(short_numbers_are_taken_where_they_fit),
        cmocka_unit_test(the_end_of_a_range_says_so),
        cmocka_unit_test(whole_numbers_at_their_target_are_decided),
        cmocka_unit_test(no_more_than_the_target_is_shown),
        cmocka_unit_test(targets_outside_their_ranges_are_refused),
        cmocka_unit_test(epsilons_that_are_shown_are_certified),
        cmocka_unit_test(the_upper_end_is_shown),
        cmocka_unit_test(a_delta_of_1_is_no_target),
    };
    return cmocka_run_group_tests_name("calibrate parts", tests, NULL, NULL);
}
