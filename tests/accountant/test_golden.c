/* Every exact composition of the golden file: the truth is inside, the interval is narrow. */
#include "check.h"

#include <stdlib.h>
#include <time.h>

#include <jansson.h>
#include <mpfr.h>

#include <brume/account/account.h>

#include "accountant/terms.h"

#ifndef GOLDEN
#error "GOLDEN is the path of accounting.json"
#endif

static double number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_string(value) ? strtod(json_string_value(value), NULL)
                                 : json_number_value(value);
}

static brume_term read_term(const json_t *mechanism)
{
    const char *type = json_string_value(json_object_get(mechanism, "type"));
    uint64_t count = (uint64_t)number(mechanism, "count");
    uint64_t shift = (uint64_t)number(mechanism, "sensitivity");
    if (strcmp(type, "gaussian") == 0)
        return gaussian(number(mechanism, "sigma"), count);
    if (strcmp(type, "laplace") == 0)
        return laplace(number(mechanism, "eps0"), count);
    if (strcmp(type, "pure_dp") == 0)
        return pure(number(mechanism, "eps0"), count);
    if (strcmp(type, "approx_dp") == 0)
        return approximate(number(mechanism, "eps0"), number(mechanism, "delta0"), count);
    if (strcmp(type, "discrete_laplace") == 0)
        return discrete_laplace(number(mechanism, "a"), shift, count);
    if (strcmp(type, "discrete_gaussian") == 0)
        return discrete_gaussian(number(mechanism, "sigma"), shift, count);
    if (strcmp(type, "poisson_subsampled_gaussian") == 0)
        return poisson_gaussian(number(mechanism, "q"), number(mechanism, "sigma"), count);
    if (strcmp(type, "kary_rr") == 0) {
        double noise = number(mechanism, "noise"), buckets = number(mechanism, "buckets");
        return kary((double)log1pl((1 - (long double)noise) * buckets / noise), (uint64_t)buckets,
                    count);
    }
    fail_msg("the golden file has a mechanism '%s'", type);
    return (brume_term){0};
}

static brume_term *read_terms(const json_t *golden, size_t *count)
{
    const json_t *mechanisms = json_object_get(golden, "mechanisms");
    *count = json_array_size(mechanisms);
    brume_term *terms = calloc(*count, sizeof *terms);
    assert_non_null(terms);
    for (size_t i = 0; i < *count; i++)
        terms[i] = read_term(json_array_get(mechanisms, i));
    return terms;
}

/* Is lower <= the 20-digit decimal <= upper? The decimal itself is rounded, to half of 1e-19. */
static bool contains(brume_interval interval, const char *decimal)
{
    if (strcmp(decimal, "inf") == 0)
        return interval.lower == INFINITY && interval.upper == INFINITY;
    mpfr_t truth, slack;
    mpfr_inits2(200, truth, slack, (mpfr_ptr)0);
    mpfr_set_str(truth, decimal, 10, MPFR_RNDN);
    mpfr_mul_d(slack, truth, 1e-19, MPFR_RNDN);
    mpfr_add(truth, truth, slack, MPFR_RNDN);
    bool inside = mpfr_cmp_d(truth, interval.lower) >= 0;
    mpfr_sub(truth, truth, slack, MPFR_RNDN);
    mpfr_sub(truth, truth, slack, MPFR_RNDN);
    inside = inside && mpfr_cmp_d(truth, interval.upper) <= 0;
    mpfr_clears(truth, slack, (mpfr_ptr)0);
    return inside;
}

static bool is_composition(const json_t *golden, const char *query)
{
    const char *kind = json_string_value(json_object_get(golden, "kind"));
    const char *status = json_string_value(json_object_get(golden, "status"));
    const char *asked = json_string_value(json_object_get(golden, "query"));
    return strcmp(status, "exact") == 0 && strcmp(asked, query) == 0 &&
           strcmp(kind, "group_privacy") != 0;
}

static void the_truth_is_inside_and_the_interval_narrow(void **state)
{
    (void)state;
    json_error_t fault;
    json_t *file = json_load_file(GOLDEN, 0, &fault);
    assert_non_null(file);
    const json_t *cases = json_object_get(file, "cases");
    size_t checked = 0, bad = 0;
    bool verbose = getenv("BRUME_VERBOSE") != NULL;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *golden = json_array_get(cases, i);
        bool epsilon = is_composition(golden, "epsilon_of_delta");
        bool delta = is_composition(golden, "delta_of_epsilon");
        bool tradeoff = is_composition(golden, "type2_error_at_type1");
        if (!epsilon && !delta && !tradeoff)
            continue;
        size_t count;
        brume_term *terms = read_terms(golden, &count);
        brume_composition out;
        brume_error error;
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        if (epsilon)
            assert_ok(
                brume_compose_epsilon(terms, count, number(golden, "delta"), NULL, &out, &error));
        else if (delta)
            assert_ok(
                brume_compose_delta(terms, count, number(golden, "epsilon"), NULL, &out, &error));
        else
            assert_ok(
                brume_compose_tradeoff(terms, count, number(golden, "type1"), NULL, &out, &error));
        clock_gettime(CLOCK_MONOTONIC, &to);
        const char *truth = json_string_value(json_object_get(golden, "value_str"));
        const char *kind = json_string_value(json_object_get(golden, "kind"));
        double width = out.value.upper == out.value.lower
                           ? 0
                           : (out.value.upper - out.value.lower) / out.value.upper;
        double goal = strstr(kind, "subsampled") ? 1e-8 : tradeoff ? 1e-7 : 1e-9;
        bool inside = contains(out.value, truth), narrow = width <= goal;
        if (verbose || !inside || !narrow)
            print_message("# %s %s%s truth %s in [%.17g, %.17g] width %.2g, %.0f us, %s\n",
                          json_string_value(json_object_get(golden, "id")),
                          inside ? "" : "OUTSIDE ", narrow ? "" : "WIDE ", truth, out.value.lower,
                          out.value.upper, width,
                          1e6 * (double)(to.tv_sec - from.tv_sec) +
                              1e-3 * (double)(to.tv_nsec - from.tv_nsec),
                          out.route);
        checked++;
        bad += !inside || !narrow;
        assert_false(out.contradictory);
        free(terms);
    }
    json_decref(file);
    assert_int_equal(bad, 0);
    assert_true(checked >= 50);
}

/* What other accountants got wrong: the count of a randomized response dropped, large epsilons,
 * deltas far below the grid. Truths by 60-digit sums and error functions. */
static void the_peers_failures_are_answered_right(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double delta;
        const char *truth;
    } costs[] = {
        {"randomized_response(epsilon=1.0986122886681098)*100", 1e-6, "94.289867892924885827"},
        {"pure(epsilon=1)*100", 1e-6, "83.530701678483611977"},
        {"pure(epsilon=20)*5", 1e-6, "99.999998999999489694"},
        {"gaussian(sigma=100)*10000", 1e-12, "7.2384944201788583599"},
    };
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        brume_expression expression;
        brume_term *terms;
        brume_bound bound;
        brume_error error;
        assert_ok(brume_expression_parse(costs[i].text, BRUME_ADD_REMOVE, &expression, &error));
        assert_ok(brume_account_terms(expression.events, expression.count, 1, BRUME_METHOD_AUTO,
                                      &terms, &error));
        assert_ok(brume_account_epsilon(BRUME_METHOD_AUTO, terms, expression.count, costs[i].delta,
                                        &bound, &error));
        brume_interval value = {bound.lower, bound.upper};
        if (!bound.has_lower || !contains(value, costs[i].truth) ||
            !(value.upper - value.lower <= 1e-12 * value.upper))
            fail_msg("%s: [%.17g, %.17g], truth %s", costs[i].text, value.lower, value.upper,
                     costs[i].truth);
        free(terms);
        brume_expression_free(&expression);
    }
    const struct {
        double delta, sigma;
    } noises[] = {{1e-5, 3.7306316348159418322},
                  {1e-15, 7.4870094679865954635},
                  {1e-30, 11.083102948976993436}};
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        brume_expression expression;
        brume_calibration found;
        brume_error error;
        assert_ok(
            brume_expression_parse("gaussian(sigma=?)", BRUME_ADD_REMOVE, &expression, &error));
        assert_ok(brume_calibrate(&expression, 1, noises[i].delta, &found, &error));
        if (!(found.value >= noises[i].sigma * (1 - 4e-16) &&
              found.value <= noises[i].sigma * (1 + 1e-9) && found.epsilon_upper <= 1))
            fail_msg("delta %g: sigma %.17g, truth %.17g", noises[i].delta, found.value,
                     noises[i].sigma);
        brume_expression_free(&expression);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_is_inside_and_the_interval_narrow),
        cmocka_unit_test(the_peers_failures_are_answered_right),
    };
    return cmocka_run_group_tests_name("accountant golden", tests, NULL, NULL);
}
