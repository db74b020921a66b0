/* Calibration of whatever can be unknown, beside whatever else, judged by accounts of its own. */
#include "accounted.h"

typedef struct asked {
    const char *text;
    double epsilon, delta;
} asked;

/* The value is not refuted by the sharpest account, and a billionth less noise does not fit. Bounds
 * by moments beside laws are known to a thousandth only: there the value is compared with itself.
 */
static void assert_fits_tightly(const asked *a)
{
    brume_expression e = {0};
    brume_calibration found;
    assert_ok(brume_expression_parse(a->text, BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_calibrate(&e, a->epsilon, a->delta, &found, &error));
    bool more = e.unknown.parameter->direction == BRUME_MORE_NOISE;
    double less = more ? found.value / (1 + 1e-9) : found.value * (1 + 1e-9);
    if (found.whole)
        less = found.value + found.whole;
    brume_bound fits = delta_at(&e, found.value, a->epsilon);
    brume_bound beyond = delta_at(&e, less, a->epsilon);
    if (!(fits.lower <= a->delta && fits.upper <= a->delta * (1 + 1e-8)))
        fail_msg("%s: %.17g has delta [%.17g, %.17g]", a->text, found.value, fits.lower,
                 fits.upper);
    if (!(beyond.upper > a->delta))
        fail_msg("%s: %.17g leaves room: delta %.17g beyond", a->text, found.value, beyond.upper);
    brume_expression_free(&e);
}

static void values_fit_and_less_noise_does_not(void **state)
{
    (void)state;
    static const asked cases[] = {
        /* k-ary randomized response, alone and beside Laplace */
        {"randomized_response(epsilon=?, k=10)*100", 3, 1e-6},
        {"randomized_response(epsilon=?, k=7)*50 + laplace(scale=20)*40", 3, 1e-6},
        {"randomized_response(epsilon=?, k=10)*30 + laplace(scale=10)*40", 3, 1e-6},
        {"laplace(scale=?)*100 + randomized_response(epsilon=0.3, k=50)*10", 3, 1e-8},
        {"randomized_response(epsilon=0.2, k=?)*30 + laplace(scale=30)*10", 4, 1e-6},
        /* terms that are only bounded, by a pure epsilon or a rho */
        {"exponential(epsilon=?)*50 + laplace(scale=20)*5", 2, 1e-6},
        {"laplace(scale=?)*50 + noisy_max(epsilon=0.05)*20", 2, 1e-6},
        {"zcdp(rho=?)*117", 4.6, 1e-4},
        {"permute_and_flip(epsilon=?)", 0.12, 1e-5},
        /* sampled, and a probability of failure alone */
        {"poisson(rate=?, pure(epsilon=2))*134 + laplace(scale=30)*10", 3, 1e-9},
        {"stable_release(epsilon=0.1, delta=?) + laplace(scale=30)*100", 2.4, 1e-6},
        {"stable_histogram(epsilon=0.05, delta=?)*20 + gaussian(sigma=10)", 1.5, 1e-5},
        {"poisson(rate=?, laplace(scale=2.63, sensitivity=0.827))*15", 2.6, 1e-5},
        {"stable_histogram(epsilon=1.66, delta=?) + poisson(rate=0.00521, pure(epsilon=2))*2921 + "
         "discrete_laplace(scale=59.3, sensitivity=2)*271",
         5.9, 1e-6},
        /* the other terms are too dear by moments, or moments are far too large */
        {"discrete_gaussian(sigma=?)*43810 + poisson(rate=0.0017, gaussian(sigma=0.5)) + "
         "discrete_gaussian(sigma=84.9, coordinates=22, sensitivity=7)",
         6.6, 1e-11},
        {"gaussian(sigma=2.37, sensitivity=0.2) + poisson(rate=?, gaussian(sigma=1.09))*3598 + "
         "laplace(scale=5860, sensitivity=0.365)*269501",
         0.74, 1e-11},
        {"randomized_response(epsilon=?) + gaussian(sigma=1990)*3432 + "
         "poisson(rate=0.00455, gaussian(sigma=0.5))",
         3.2, 1e-6},
        {"pure(epsilon=0.0151) + randomized_response(epsilon=0.0005)*920 + "
         "randomized_response(epsilon=?, k=128)*3 + smooth_lln(rho=1.48e-9)*6281",
         0.073, 1e-6},
        /* a bound that a line's excess does not belong to */
        {"discrete_laplace(scale=4.63) + laplace(scale=?, coordinates=170)*148", 0.89, 1e-4},
        /* where a band's estimated excess is a little wrong */
        {"pure(epsilon=0.0162)*8 + stable_histogram(epsilon=0.0603, delta=1.25e-12) + "
         "laplace(scale=?)*419",
         0.94, 1e-11},
        /* a failure beside a bound by moments, which is not so exact */
        {"approximate(epsilon=0.000401, delta=?)*18661 + small_database(epsilon=0.0431)", 0.32,
         1e-9},
        /* beside the cliff of the largest loss */
        {"stable_release(epsilon=?, delta=1.25e-10)", 4, 1e-9},
        /* a route that is only left if much more is asked for */
        {"pure(epsilon=?)*13455 + smooth_student(epsilon=0.00177, degrees=3)*77 + "
         "laplace(scale=79.2, coordinates=983)*2",
         0.28, 1e-27},
        /* the cheap bound is far off, and what is left of the target is little */
        {"small_database(epsilon=0.00912)*76 + private_sensitivity(epsilon_sensitivity=0.00389, "
         "epsilon_release=?, delta=1.81e-14)*691",
         3, 1e-10},
        {"pure(epsilon=?)*23 + pure(epsilon=6.32e-5)*146048 + discrete_gaussian(sigma=14.8) + "
         "poisson(rate=0.0269, gaussian(sigma=0.5))",
         9.5, 1e-10},
        /* lattices that smoothing must resolve */
        {"randomized_response(epsilon=?)*2300 + randomized_response(epsilon=0.0918)*34", 6, 1e-8},
        {"pure(epsilon=?) + laplace(scale=345)*8507", 1.5, 1e-9},
        /* counts */
        {"laplace(scale=100)*?", 1, 1e-6},
        {"poisson(rate=0.01, gaussian(sigma=2))*? + laplace(scale=20)", 1, 1e-6},
        {"permute_and_flip(epsilon=0.0032)*? + laplace(scale=24)*27", 1.5, 1e-5},
        {"zcdp(rho=0.0001)*?", 1, 1e-6},
        {"poisson(rate=0.0366, gaussian(sigma=0.5))*?", 14, 1e-8},
        {"poisson(rate=0.00445, gaussian(sigma=1.08))*155 + pure(epsilon=0.00071)*? + "
         "discrete_laplace(scale=38.6)*7 + pure(epsilon=0.00126)*677",
         1.6, 1e-12},
        {"randomized_response(epsilon=0.0232)*34 + discrete_gaussian(sigma=16.7) + "
         "randomized_response(epsilon=0.0654, k=?)*7",
         0.91, 1e-9},
        {"poisson(rate=0.00368, gaussian(sigma=1.11, sensitivity=2.21))*?", 8.9, 1e-12},
        {"poisson(rate=0.00113, gaussian(sigma=0.5))*?", 8.4, 1e-12},
        {"poisson(rate=0.00187, gaussian(sigma=0.79))*? + gaussian(sigma=1970)*596", 3, 1e-11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fits_tightly(&cases[i]);
}

static brume_calibration calibrated(const char *text, double epsilon, double delta)
{
    brume_expression e = {0};
    brume_calibration found;
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_calibrate(&e, epsilon, delta, &found, &error));
    brume_expression_free(&e);
    return found;
}

/* An integer cannot change by less than 1, and by how much it changes between is the same. */
static void a_sensitivity_of_integers_is_at_least_one(void **state)
{
    (void)state;
    static const char *const texts[] = {"discrete_laplace(scale=30, sensitivity=?)*4",
                                        "discrete_gaussian(sigma=30, sensitivity=?)*4 + "
                                        "laplace(scale=20)"};
    for (int i = 0; i < 2; i++) {
        brume_expression e = {0};
        double value = calibrated(texts[i], 0.8, 1e-6).value;
        assert_true(value >= 1 && value == floor(value));
        assert_ok(brume_expression_parse(texts[i], BRUME_ADD_REMOVE, &e, &error));
        assert_true(delta_at(&e, value, 0.8).upper <= 1e-6);
        assert_true(delta_at(&e, floor(value) + 1, 0.8).upper > 1e-6);
        brume_expression_free(&e);
    }
    brume_expression e = {0};
    brume_calibration found;
    assert_ok(brume_expression_parse("discrete_laplace(scale=1, sensitivity=?)*4", BRUME_ADD_REMOVE,
                                     &e, &error));
    assert_fails(brume_calibrate(&e, 0.8, 1e-6, &found, &error), BRUME_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "no value of 'sensitivity'"));
    brume_expression_free(&e);
}

/* The squared length of a vector of integers is a whole number: a value is the end of its step, and
 * what begins the next one does not fit. */
static void a_sensitivity_of_vectors_of_integers_ends_its_step(void **state)
{
    (void)state;
    const char *text = "discrete_gaussian(sigma=69.8, coordinates=944, sensitivity=?)*27 + "
                       "gaussian(sigma=24.9, sensitivity=1.99)";
    brume_expression e = {0};
    double value = calibrated(text, 0.75, 1e-4).value;
    assert_ok(brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error));
    double square = floor(value * value);
    assert_true(square >= 1 && value > sqrt(square + 0.99));
    assert_true(delta_at(&e, value, 0.75).upper <= 1e-4);
    assert_true(delta_at(&e, value, 0.75).upper == delta_at(&e, sqrt(square), 0.75).upper);
    assert_true(delta_at(&e, sqrt(square + 1), 0.75).upper > 1e-4);
    brume_expression_free(&e);
}

/* With the most noise for which an error of alpha is as rare as beta. */
static void an_accuracy_is_met_to_a_billionth(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double alpha, beta;
    } cases[] = {{"discrete_gaussian(sigma=?, coordinates=968)*106", 100, 0.1},
                 {"discrete_gaussian(sigma=?) + laplace(scale=3)", 48, 0.001},
                 {"discrete_gaussian(sigma=?)", 1e4, 0.01},
                 {"gaussian(sigma=?, coordinates=29)*492", 5900, 0.001},
                 {"discrete_laplace(scale=?, coordinates=3)", 30, 0.05},
                 {"exponential(epsilon=0.301, candidates=?)", 78, 0.001},
                 {"noisy_max(epsilon=?, candidates=40)", 100, 0.01},
                 {"stable_release(epsilon=1, delta=?)", 20, 0.05}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        brume_calibration found;
        double here = INFINITY, beyond = 0, beta = cases[i].beta;
        assert_ok(brume_expression_parse(cases[i].text, BRUME_ADD_REMOVE, &e, &error));
        assert_ok(brume_calibrate_accuracy(&e, cases[i].alpha, beta, 1e-6, &found, &error));
        bool more = e.unknown.parameter->direction == BRUME_MORE_NOISE; /* errs more */
        double next = found.whole ? found.value + found.whole
                                  : found.value * (more ? 1 + 1e-9 : 1 - 1e-9);
        assert_ok(brume_expression_solve(&e, found.value, &error));
        assert_ok(brume_event_beta(&e.events[e.unknown.event], cases[i].alpha, &here, &error));
        assert_ok(brume_expression_solve(&e, next, &error));
        assert_ok(brume_event_beta(&e.events[e.unknown.event], cases[i].alpha, &beyond, &error));
        if (!(here <= beta && beyond > beta))
            fail_msg("%s: beta %.17g at %.17g, %.17g beyond", cases[i].text, here, found.value,
                     beyond);
        brume_expression_free(&e);
    }
}

static void what_the_cost_does_not_depend_on_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "exponential(epsilon=0.1, sensitivity=?)", "noisy_max(epsilon=0.1, sensitivity=?)*3",
        "randomized_response(epsilon=0.1, people=?)", "mwem_gaussian(rho=0.01, rounds=?)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        brume_expression e = {0};
        brume_calibration found;
        assert_ok(brume_expression_parse(texts[i], BRUME_ADD_REMOVE, &e, &error));
        assert_fails(brume_calibrate(&e, 1, 1e-6, &found, &error), BRUME_EUNSUPPORTED);
        assert_non_null(strstr(error.message, "does not depend on it"));
        brume_expression_free(&e);
    }
}

/* Of scores the largest sensitivity is asked for; of noise the error says nothing about it. */
static void the_error_of_a_choice_grows_with_the_sensitivity_of_its_scores(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_calibration found;
    double alpha;
    assert_ok(brume_expression_parse("exponential(epsilon=1, candidates=100, sensitivity=?)",
                                     BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_calibrate_accuracy(&e, 50, 0.05, 0, &found, &error));
    assert_ok(brume_expression_solve(&e, found.value, &error));
    assert_ok(brume_event_alpha(&e.events[0], 0.05, &alpha, &error));
    assert_true(alpha <= 50);
    assert_ok(brume_expression_solve(&e, found.value * (1 + 1e-9), &error));
    assert_ok(brume_event_alpha(&e.events[0], 0.05, &alpha, &error));
    assert_true(alpha > 50);
    brume_expression_free(&e);
    assert_ok(
        brume_expression_parse("laplace(scale=3, sensitivity=?)", BRUME_ADD_REMOVE, &e, &error));
    assert_fails(brume_calibrate_accuracy(&e, 50, 0.05, 0, &found, &error), BRUME_EUNSUPPORTED);
    brume_expression_free(&e);
}

static void a_rate_may_be_one(void **state)
{
    (void)state;
    assert_true(calibrated("poisson(rate=?, gaussian(sigma=300))*8", 1, 1e-6).value == 1);
    assert_true(
        calibrated("poisson(rate=?, gaussian(sigma=339))*82 + pure(epsilon=0.0001)*4328", 0.2, 1e-8)
            .value == 1);
}

/* Where a line cannot be narrowed further, the sum over sign patterns can: asking for more must not
 * give less. */
static void a_sharper_certificate_is_not_wider(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_term *terms;
    assert_ok(brume_expression_parse("randomized_response(epsilon=0.0982131179, k=10)*30 + "
                                     "laplace(scale=10)*40",
                                     BRUME_ADD_REMOVE, &e, &error));
    assert_ok(brume_account_terms(e.events, e.count, 1, BRUME_METHOD_AUTO, &terms, &error));
    double before = INFINITY;
    for (double tolerance = 1e-4; tolerance > 1e-11; tolerance /= 10) {
        brume_compose_options options = {.tolerance = tolerance};
        brume_composition delta;
        assert_ok(brume_compose_delta(terms, e.count, 3, &options, &delta, &error));
        double width = (delta.value.upper - delta.value.lower) / delta.value.upper;
        assert_true(width <= fmax(tolerance, 1e-9) && width <= before);
        before = width;
    }
    free(terms);
    brume_expression_free(&e);
}

/* The epsilon shown beside a whole number is certified, and about a millionth above the least. */
static void the_epsilon_of_a_count_is_certified_and_near(void **state)
{
    (void)state;
    static const asked cases[] = {{"laplace(scale=10)*?", 1, 1e-6},
                                  {"gaussian(sigma=3)*? + laplace(scale=5)", 3, 1e-6},
                                  {"discrete_laplace(scale=4)*?", 5, 1e-4},
                                  {"laplace(scale=100)*? + laplace(scale=3)", 1, 1e-6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        brume_calibration found = calibrated(cases[i].text, cases[i].epsilon, cases[i].delta);
        brume_term *terms;
        brume_bound bound;
        assert_ok(brume_expression_parse(cases[i].text, BRUME_ADD_REMOVE, &e, &error));
        assert_ok(brume_expression_solve(&e, found.value, &error));
        assert_ok(brume_account_terms(e.events, e.count, 1, BRUME_METHOD_AUTO, &terms, &error));
        assert_ok(brume_account_epsilon(BRUME_METHOD_AUTO, terms, e.count, cases[i].delta, &bound,
                                        &error));
        if (!(found.epsilon_upper >= bound.lower && found.epsilon_upper <= cases[i].epsilon &&
              found.epsilon_upper <= bound.upper * (1 + 2e-6)))
            fail_msg("%s: epsilon %.12g shown, [%.12g, %.12g] certified", cases[i].text,
                     found.epsilon_upper, bound.lower, bound.upper);
        free(terms);
        brume_expression_free(&e);
    }
}

/* What sampled terms alone cost is decided before a search whose every step is dear. */
static void others_that_cost_too_much_are_refused_at_once(void **state)
{
    (void)state;
    brume_expression e = {0};
    brume_calibration found;
    /* the sampled terms alone cost 0.0075059851309.. */
    assert_ok(brume_expression_parse(
        "mwem(epsilon=?, rounds=10) + poisson(rate=0.00127, gaussian(sigma=7.26))*10",
        BRUME_ADD_REMOVE, &e, &error));
    assert_fails(brume_calibrate(&e, 0.0075, 1e-30, &found, &error), BRUME_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "no value of 'epsilon'"));
    brume_expression_free(&e);
    /* they fail more often than delta, and just as often */
    assert_ok(brume_expression_parse("laplace(scale=?) + approximate(epsilon=0.1, delta=1e-9)",
                                     BRUME_ADD_REMOVE, &e, &error));
    assert_fails(brume_calibrate(&e, 1, 0.9e-9, &found, &error), BRUME_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "no value of 'scale'"));
    assert_ok(brume_calibrate(&e, 1, 1.1e-9, &found, &error));
    brume_expression_free(&e);
}

static void a_target_that_every_value_meets_says_so(void **state)
{
    (void)state;
    brume_calibration found = calibrated("gaussian(sigma=1e10)*?", 1, 1e-6);
    assert_true(found.everywhere && found.value == 0x1p53);
    found = calibrated("poisson(rate=?, gaussian(sigma=300))*8", 1, 1e-6);
    assert_true(found.everywhere && found.value == 1);
    assert_false(calibrated("gaussian(sigma=100)*?", 1, 1e-6).everywhere);
    assert_false(calibrated("laplace(scale=?)", 1, 1e-6).everywhere);
}

/* A text with '?' for one parameter, the sensitivity or the count; the rest is inside the ranges.
 */
static void write_unknown(const brume_card *card, size_t unknown, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s(", card->name);
    const char *comma = "";
    for (size_t i = 0; i < card->parameter_count; i++) {
        const brume_parameter *p = &card->parameters[i];
        double middle =
            fmin(fmax(1, p->least + p->least_open), isfinite(p->most) ? p->most / 2 : 8);
        if (i == unknown)
            used += (size_t)snprintf(text + used, size - used, "%s%s=?", comma, p->name);
        else if (p->type == BRUME_PARAMETER_MECHANISM)
            used +=
                (size_t)snprintf(text + used, size - used, "%sdiscrete_laplace(scale=9)", comma);
        else if (!p->optional)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%g", comma, p->name,
                                     strcmp(p->name, "delta") == 0 ? 1e-8 : middle);
        else
            continue;
        comma = ", ";
    }
    if (unknown == card->parameter_count)
        used += (size_t)snprintf(text + used, size - used, "%ssensitivity=?", comma);
    snprintf(text + used, size - used, unknown > card->parameter_count ? ")*?" : ")");
}

/* Whatever the unknown, a refusal speaks of it and never of a number that was tried. */
static void no_refusal_quotes_a_number_that_was_tried(void **state)
{
    (void)state;
    static const double targets[][2] = {{1, 1e-6}, {1e-3, 1e-9}, {50, 0.1}, {1, 0}};
    size_t cards, asked_for = 0, refused = 0;
    const brume_card *const *all = brume_cards(&cards);
    for (size_t i = 0; i < cards; i++)
        for (size_t j = 0; j < all[i]->parameter_count + 2; j++) {
            char text[400];
            write_unknown(all[i], j, text, sizeof text);
            brume_expression e = {0};
            if (brume_expression_parse(text, BRUME_ADD_REMOVE, &e, &error) != BRUME_OK)
                continue; /* no sensitivity, or nothing that can be asked for */
            for (size_t t = 0; t < sizeof targets / sizeof *targets; t++, asked_for++) {
                brume_calibration found;
                error = (brume_error){0};
                if (brume_calibrate(&e, targets[t][0], targets[t][1], &found, &error) == BRUME_OK)
                    continue;
                refused++;
                if (strstr(error.message, "' is ") || strpbrk(error.message, "0123456789"))
                    fail_msg("%s at %g, %g: %s", text, targets[t][0], targets[t][1], error.message);
            }
            brume_expression_free(&e);
        }
    print_message("# %zu asked for, %zu refused\n", asked_for, refused);
    assert_true(asked_for > 200 && refused > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_fit_and_less_noise_does_not),
        cmocka_unit_test(a_sensitivity_of_integers_is_at_least_one),
        cmocka_unit_test(a_sensitivity_of_vectors_of_integers_ends_its_step),
        cmocka_unit_test(an_accuracy_is_met_to_a_billionth),
        cmocka_unit_test(what_the_cost_does_not_depend_on_is_refused),
        cmocka_unit_test(the_error_of_a_choice_grows_with_the_sensitivity_of_its_scores),
        cmocka_unit_test(a_rate_may_be_one),
        cmocka_unit_test(a_sharper_certificate_is_not_wider),
        cmocka_unit_test(the_epsilon_of_a_count_is_certified_and_near),
        cmocka_unit_test(others_that_cost_too_much_are_refused_at_once),
        cmocka_unit_test(a_target_that_every_value_meets_says_so),
        cmocka_unit_test(no_refusal_quotes_a_number_that_was_tried),
    };
    return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
