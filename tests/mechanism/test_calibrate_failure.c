/* An unknown that is a probability of failure: what is left of delta is failure, all of it and no
 * more. */
#include "searched.h"

/* The chance that one of n releases fails, each with chance d: to 19 digits. */
static long double any_fails(double d, int n)
{
    return -expm1l(n * log1pl(-(long double)d));
}

/* Where nothing else costs anything at this epsilon, all of delta is failure. */
static void failures_add_up_to_delta_and_no_further(void **state)
{
    (void)state;
    for (int n = 1; n <= 1000; n *= 10)
        for (double delta = 1e-12; delta < 0.3; delta *= 7.3) {
            char text[80];
            snprintf(text, sizeof text, "approximate(epsilon=0.001, delta=?)*%d", n);
            brume_calibration found = calibrated(text, 2, delta);
            long double failure = any_fails(found.value, n);
            if (!(failure <= delta * (1 + 1e-18L) && failure > delta * (1 - 1e-10L) &&
                  !found.everywhere))
                fail_msg("%d releases of %.17g fail with %.20Lg, asked for %.17g", n, found.value,
                         failure, delta);
        }
}

/* Beside others that cost D: the rest of delta is failure, (delta - D)/(1 - D), to a billionth of
 * itself, also where D is nearly all of delta and where a first certificate of it is a thousandth
 * above. */
static void failures_take_what_others_leave(void **state)
{
    (void)state;
    static const struct {
        const char *others, *text;
        double room; /* of the failure, over D */
    } cases[] = {
        {"pure(epsilon=0.1) + laplace(scale=30)*100",
         "approximate(epsilon=0.1, delta=?) + laplace(scale=30)*100", 1e-3},
        {"pure(epsilon=0.1) + laplace(scale=30)*100",
         "approximate(epsilon=0.1, delta=?) + laplace(scale=30)*100", 0.02},
        {"pure(epsilon=0.1) + laplace(scale=30)*100",
         "approximate(epsilon=0.1, delta=?) + laplace(scale=30)*100", 40},
        {"pure(epsilon=0.7) + laplace(scale=30)*300",
         "approximate(epsilon=0.7, delta=?) + laplace(scale=30)*300", 5e-4},
        {"pure(epsilon=0.7) + laplace(scale=30)*300",
         "approximate(epsilon=0.7, delta=?) + laplace(scale=30)*300", 0.4},
        {"pure(epsilon=0.7) + laplace(scale=30)*300",
         "approximate(epsilon=0.7, delta=?) + laplace(scale=30)*300", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        accounted t = terms_for(cases[i].others, 1);
        brume_compose_options sharp = {.tolerance = 1e-10};
        brume_composition rest;
        assert_ok(brume_compose_delta(t.list, t.count, 2, &sharp, &rest, &error));
        free(t.list);
        double delta = rest.value.upper * (1 + cases[i].room), value = NAN;
        double most = (delta - rest.value.lower) / (1 - rest.value.lower);
        double least = (delta - rest.value.upper) / (1 - rest.value.upper);
        /* what is not known of D, and a hundredth at least of what may be lost of it */
        double loss = 1e-9 * fmax(1, 1e-2 / cases[i].room);
        brume_expression e = {0};
        bool applies = false;
        brume_search_for c = open_search(&e, cases[i].text, 2, delta);
        c.inverted = true, c.high = 0.999;
        assert_ok(brume_calibrate_failure(&c, &applies, &value, &error));
        assert_true(applies && c.tight && !c.everywhere);
        if (!(value <= most && value >= least * (1 - loss)))
            fail_msg("room %g: %.17g of [%.17g, %.17g]", cases[i].room, value, least, most);
        close_search(&c);
    }
}

/* The failure is added to the certified upper end of D, not to the estimate of D. */
static void failures_are_added_to_the_upper_end(void **state)
{
    (void)state;
    const double delta = 0.004;
    brume_expression e = {0};
    bool applies = false, by_laws;
    double value = NAN, tolerance = 1e-3;
    brume_search_for c =
        open_search(&e, "approximate(epsilon=0.7, delta=?) + laplace(scale=30)*300", 2, delta);
    c.inverted = true, c.high = 0.999;
    assert_ok(brume_calibrate_failure(&c, &applies, &value, &error));
    assert_true(applies && c.terms[e.unknown.event].cost.delta_failure == 0);
    brume_interval rest;
    for (int i = 0; i < 2; i++) { /* the second as sharp as 7e-10 of the failure asks */
        assert_ok(brume_calibrate_delta(&c, tolerance, &rest, &by_laws, &error));
        assert_true(by_laws && rest.upper - rest.lower > 0.2 * tolerance * rest.upper);
        tolerance = 7e-10 * (delta / rest.upper - 1);
    }
    long double together = value + (1 - (long double)value) * rest.upper;
    assert_true(together <= delta && together >= delta * (1 - 1e-13L));
    close_search(&c);
}

/* A range ends the search: at its upper end every value meets the target, below its lower end none
 * is returned. */
static void failures_keep_to_their_range(void **state)
{
    (void)state;
    const double delta = 1e-6;
    const struct {
        double low, high, value; /* NAN: none is found */
        bool everywhere;
    } cases[] = {{1e-290, 0.999, delta, false},
                 {1e-290, 1e-9, 1e-9, true},
                 {delta * (1 + 1e-12), 0.999, NAN, false},
                 {0.1, 0.999, NAN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        bool applies = false;
        double value = NAN;
        brume_search_for c = open_search(&e, "approximate(epsilon=0.1, delta=?)", 2, delta);
        c.inverted = true, c.low = cases[i].low, c.high = cases[i].high;
        assert_ok(brume_calibrate_failure(&c, &applies, &value, &error));
        assert_int_equal(applies, isfinite(cases[i].value));
        if (applies) {
            assert_true(value <= cases[i].value && value > cases[i].value * (1 - 1e-10));
            assert_int_equal(c.everywhere, cases[i].everywhere);
            assert_int_equal(c.tight, !cases[i].everywhere);
        }
        close_search(&c);
    }
}

/* It is for unknowns that move a failure in proportion, and nothing else. */
static void only_failures_are_searched_as_such(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double delta;
        bool accuracy;
    } cases[] = {{"approximate(epsilon=?, delta=1e-9)", 1e-6, false},
                 {"poisson(rate=?, approximate(epsilon=0.1, delta=1e-8))", 1e-6, false},
                 {"pure(epsilon=?)", 1e-6, false},
                 {"approximate(epsilon=0.1, delta=?)", 0, false},
                 {"approximate(epsilon=0.1, delta=?)", 1e-6, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_expression e = {0};
        bool applies = true;
        double value = NAN;
        brume_search_for c = open_search(&e, cases[i].text, 2, cases[i].delta);
        c.inverted = true, c.high = 0.999, c.accuracy = cases[i].accuracy;
        assert_ok(brume_calibrate_failure(&c, &applies, &value, &error));
        assert_false(applies);
        close_search(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_add_up_to_delta_and_no_further),
        cmocka_unit_test(failures_take_what_others_leave),
        cmocka_unit_test(failures_are_added_to_the_upper_end),
        cmocka_unit_test(failures_keep_to_their_range),
        cmocka_unit_test(only_failures_are_searched_as_such),
    };
    return cmocka_run_group_tests_name("calibrate failure", tests, NULL, NULL);
}
