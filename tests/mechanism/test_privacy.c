/* Privacy by enumeration: the output laws of noise mechanisms on neighbours, in both directions and
 * under both adjacencies, against the cost on the card. What the card says must never be below the
 * truth, and equal to it where it is marked exact. */
#include "check.h"

#include <stdlib.h>

#include <brume/account/compose.h>
#include <brume/mechanism/expression.h>
#include <brume/mechanism/sensitivity.h>

#include "chance.h"
#include "parsed_event.h"

static brume_error error;

static brume_event event_of(const char *text)
{
    return parsed_event(text, BRUME_REPLACE);
}

static double mass_of(const brume_event *event, int64_t k)
{
    brume_interval mass;
    assert_ok(brume_event_mass(event, k, &mass, &error));
    return mass.lower + (mass.upper - mass.lower) / 2;
}

/* The laws of values[] + noise on a window, as one vector of outcomes; shift is in units of the
 * noise's grid. */
static void laws_of(const brume_event *event, const int *shift, int dimension, int window,
                    double **p, double **q, uint64_t *count)
{
    int side = 2 * window + 1;
    *count = 1;
    double *one = malloc((size_t)(side + 40) * sizeof *one);
    for (int k = 0; k < side + 40; k++)
        one[k] = mass_of(event, k - window - 20);
    for (int i = 0; i < dimension; i++)
        *count *= (uint64_t)side;
    *p = malloc(*count * sizeof **p);
    *q = malloc(*count * sizeof **q);
    for (uint64_t code = 0; code < *count; code++) {
        double a = 1, b = 1;
        uint64_t x = code;
        for (int i = 0; i < dimension; i++, x /= (uint64_t)side) {
            int k = (int)(x % (uint64_t)side);
            a *= one[k + 20];
            b *= one[k + 20 - shift[i]];
        }
        (*p)[code] = a;
        (*q)[code] = b;
    }
    free(one);
}

/* The delta of a rho alone: the least over orders of what each order gives.    [CKS20, Prop. 12] */
static double delta_of_rho(double rho, double epsilon)
{
    double least = 1;
    for (double less = 1e-3; less < 1e4; less *= 1.01) {
        double alpha = 1 + less;
        least = fmin(least, exp(less * (alpha * rho - epsilon)) / less * pow(less / alpha, alpha));
    }
    return least;
}

static double certified(const brume_event *event, double epsilon, bool upper)
{
    brume_term term = {.count = 1};
    brume_composition result;
    assert_ok(brume_event_cost(event, &term.cost, &error));
    if (term.cost.loss == BRUME_ABSENT)
        return upper ? delta_of_rho(term.cost.rho, epsilon) : 0;
    assert_ok(brume_compose_delta(&term, 1, epsilon, NULL, &result, &error));
    return upper ? result.value.upper : result.value.lower;
}

/* The hockey-stick of the enumerated laws is at most the card's delta at every epsilon, and equal
 * to it if `tight`. */
static void check_profile(const brume_event *event, const int *shift, int dimension, int window,
                          bool tight)
{
    double *p, *q;
    uint64_t count;
    laws_of(event, shift, dimension, window, &p, &q, &count);
    brume_cost cost;
    assert_ok(brume_event_cost(event, &cost, &error));
    double top = cost.pure != BRUME_ABSENT ? cost.epsilon : 4 * sqrt(2 * cost.rho) + cost.rho;
    for (int i = 0; i <= 8; i++) {
        double epsilon = top * i / 8;
        double forward = hockey_stick(p, q, count, epsilon);
        double backward = hockey_stick(q, p, count, epsilon);
        double upper = certified(event, epsilon, true);
        assert_holds(forward <= upper * (1 + 1e-9) + 1e-12);
        assert_holds(backward <= upper * (1 + 1e-9) + 1e-12);
        if (tight)
            assert_holds(fmax(forward, backward) >= certified(event, epsilon, false) - 1e-9);
    }
    free(p);
    free(q);
}

static void one_integer_with_integer_noise_has_exactly_its_profile(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "discrete_laplace(scale=1)",    "discrete_laplace(scale=3.5)",
        "discrete_laplace(scale=.4)",   "discrete_gaussian(sigma=.5)",
        "discrete_gaussian(sigma=1.5)", "discrete_gaussian(sigma=6)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int shift = 1; shift <= 4; shift++) {
            brume_event event = event_of(texts[i]);
            event.sensitivity = shift;
            check_profile(&event, &shift, 1, 200, true);
            event.sensitivity = shift + .75; /* integers cannot use the fraction */
            check_profile(&event, &shift, 1, 200, true);
            int smaller = shift - 1; /* a smaller change never costs more */
            check_profile(&event, &smaller, 1, 200, false);
            int opposite = -shift;
            check_profile(&event, &opposite, 1, 200, true);
        }
}

static void histograms_are_private_under_both_adjacencies(void **state)
{
    (void)state;
    static const brume_adjacency adjacencies[] = {BRUME_ADD_REMOVE, BRUME_REPLACE};
    static const char *const texts[] = {"discrete_laplace(scale=1.3)", "discrete_laplace(scale=.6)",
                                        "discrete_gaussian(sigma=1, coordinates=2)",
                                        "discrete_gaussian(sigma=2, coordinates=2)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int a = 0; a < 2; a++) {
            brume_event event = event_of(texts[i]);
            brume_sensitivity sensitivity;
            assert_ok(brume_sensitivity_histogram(adjacencies[a], &sensitivity, &error));
            event.adjacency = adjacencies[a];
            event.sensitivity = i < 2 ? sensitivity.l1 : sensitivity.l2;
            /* one cell gains, or one gains and another loses */
            const int added[] = {1, 0}, moved[] = {1, -1};
            check_profile(&event, a == 0 ? added : moved, 2, 40, i < 2 && a == 0);
        }
}

static void under_replace_the_noise_of_add_remove_is_not_enough(void **state)
{
    (void)state;
    /* control: sensitivity 1 claimed, but two cells move */
    brume_event event = event_of("discrete_laplace(scale=1)");
    const int moved[] = {1, -1};
    double *p, *q;
    uint64_t count;
    laws_of(&event, moved, 2, 40, &p, &q, &count);
    assert_true(hockey_stick(p, q, count, 1) > .2);
    free(p);
    free(q);
}

static void a_change_spread_over_coordinates_costs_no_more_than_along_one(void **state)
{
    (void)state;
    static const int shifts[][3] = {{1, 1, 0}, {2, 1, 0}, {1, 1, 1},
                                    {3, 1, 0}, {2, 2, 0}, {2, 1, 1}};
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++)
        for (double scale = .5; scale < 3; scale *= 2) {
            brume_event event = event_of("discrete_laplace(scale=1)");
            event.parameter[0] = scale;
            event.sensitivity = shifts[i][0] + shifts[i][1] + shifts[i][2];
            check_profile(&event, shifts[i], shifts[i][2] ? 3 : 2, scale < 1 ? 18 : 30, false);
        }
    /* for the discrete Gaussian it does cost more, which is why its vectors are charged rho alone:
     * at sigma = .5 a change of (1,1,1,1) has, at some epsilon, a larger delta than one of 2 */
    brume_event event = event_of("discrete_gaussian(sigma=.5, sensitivity=2)");
    const int four[] = {1, 1, 1, 1}, one[] = {2};
    double *p, *q, *r, *s;
    uint64_t count, line;
    laws_of(&event, four, 4, 6, &p, &q, &count);
    laws_of(&event, one, 1, 20, &r, &s, &line);
    bool exceeds = false;
    for (double epsilon = 0; epsilon < 20; epsilon += .25)
        exceeds |= hockey_stick(p, q, count, epsilon) >
                   hockey_stick(r, s, line, epsilon) * 1.05 + 1e-12;
    assert_true(exceeds);
    free(p), free(q), free(r), free(s);
    event = event_of("discrete_gaussian(sigma=.5, sensitivity=2, coordinates=4)");
    check_profile(&event, four, 4, 6, false);
}

static void rounding_the_sum_keeps_the_continuous_guarantee(void **state)
{
    (void)state;
    /* laplace and gaussian on their own grid: the least scales have a grid of 1 unit to scale */
    static const struct {
        const char *text;
        double units;
    } cases[] = {{"laplace(scale=1e-323)", 2}, {"gaussian(sigma=1.5e-323)", 3}};
    for (size_t i = 0; i < 2; i++)
        for (int shift = 1; shift <= 3; shift++) {
            brume_event event = event_of(cases[i].text);
            double unit = event.parameter[0] / cases[i].units; /* 2^-1074 */
            double *p, *q;
            uint64_t count;
            laws_of(&event, &shift, 1, 150, &p, &q, &count);
            event.sensitivity = shift * unit;
            for (double epsilon = 0; epsilon < 3; epsilon += .125) {
                double upper = certified(&event, epsilon, true);
                assert_holds(hockey_stick(p, q, count, epsilon) <= upper * (1 + 1e-9) + 1e-12);
                assert_holds(hockey_stick(q, p, count, epsilon) <= upper * (1 + 1e-9) + 1e-12);
            }
            free(p);
            free(q);
        }
}

static void every_pair_of_truths_of_randomized_response_has_its_profile(void **state)
{
    (void)state;
    for (int k = 2; k <= 6; k++)
        for (double epsilon = .5; epsilon <= 2; epsilon *= 2) {
            brume_event event = event_of("randomized_response(epsilon=1)");
            event.parameter[0] = epsilon;
            event.parameter[1] = k;
            for (int a = 0; a < k; a++)
                for (int b = 0; b < k; b++) {
                    double p[6], q[6];
                    for (int y = 0; y < k; y++) {
                        p[y] = mass_of(&event, (y - a + k) % k);
                        q[y] = mass_of(&event, (y - b + k) % k);
                    }
                    for (double x = 0; x <= epsilon; x += epsilon / 4) {
                        double delta = hockey_stick(p, q, (uint64_t)k, x);
                        assert_holds(delta <= certified(&event, x, true) * (1 + 1e-9) + 1e-14);
                        if (a != b)
                            assert_holds(delta >= certified(&event, x, false) - 1e-12);
                    }
                }
        }
    /* two coins: tell the truth on heads, else the second coin: p = 3/4, epsilon = ln 3, not 3 */
    brume_event event = event_of("randomized_response(epsilon=1.0986122886681098)");
    assert_close(mass_of(&event, 0), .75, 1e-15);
}

static void the_profiles_meet_the_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double epsilon, delta;
    } cases[] = {
        {"gaussian(sigma=1)", 1, 0.12693673750664395},
        {"gaussian(sigma=1)", 0, 0.38292492254802621},
        {"gaussian(sigma=.5)", .5, 0.59918561853393326},
        {"gaussian(sigma=4)", 1, 2.9242721048564073e-6},
        {"laplace(scale=1)", 0, 0.39346934028736658},
        {"laplace(scale=1)", .5, 0.22119921692859513},
        {"randomized_response(epsilon=1)", 0, 0.46211715726000976},
        {"randomized_response(epsilon=1)", .5, 0.28764913664496792},
        {"discrete_laplace(scale=1)", .5, 0.28764913664496792},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_event event = event_of(cases[i].text);
        assert_close(certified(&event, cases[i].epsilon, true), cases[i].delta, 1e-9);
        assert_close(certified(&event, cases[i].epsilon, false), cases[i].delta, 1e-9);
    }
}

static void renyi_divergences_of_the_enumerated_laws_stay_under_the_card(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "discrete_laplace(scale=1, sensitivity=2)", "discrete_laplace(scale=2.5, sensitivity=3)",
        "discrete_gaussian(sigma=1.5, sensitivity=2)", "randomized_response(epsilon=1, k=5)",
        "randomized_response(epsilon=1, k=20)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        brume_event event = event_of(texts[i]);
        brume_cost cost;
        assert_ok(brume_event_cost(&event, &cost, &error));
        bool response = i >= 3;
        int shift = response ? 1 : (int)event.sensitivity;
        int k = response ? (int)event.parameter[1] : 0;
        for (double alpha = 1.01; alpha < (i == 2 ? 8 : 30); alpha *= 1.4) {
            double sum = 0;
            for (int y = -60; y <= 60; y++) {
                double a, b;
                if (response) {
                    if (y < 0 || y >= k)
                        continue;
                    a = mass_of(&event, y), b = mass_of(&event, (y + k - 1) % k);
                } else {
                    a = mass_of(&event, y), b = mass_of(&event, y - shift);
                }
                if (a > 0 && b > 0)
                    sum += exp(alpha * log(a) + (1 - alpha) * log(b));
            }
            double divergence = log(sum) / (alpha - 1);
            assert_holds(divergence <= cost.renyi_upper(&cost, alpha) + 1e-9);
            assert_holds(divergence <= alpha * cost.rho + 1e-9);
            if (i < 2 || response)
                assert_close(cost.renyi_upper(&cost, alpha), divergence, 1e-6);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_integer_with_integer_noise_has_exactly_its_profile),
        cmocka_unit_test(histograms_are_private_under_both_adjacencies),
        cmocka_unit_test(under_replace_the_noise_of_add_remove_is_not_enough),
        cmocka_unit_test(a_change_spread_over_coordinates_costs_no_more_than_along_one),
        cmocka_unit_test(rounding_the_sum_keeps_the_continuous_guarantee),
        cmocka_unit_test(every_pair_of_truths_of_randomized_response_has_its_profile),
        cmocka_unit_test(the_profiles_meet_the_vectors),
        cmocka_unit_test(renyi_divergences_of_the_enumerated_laws_stay_under_the_card),
    };
    return cmocka_run_group_tests_name("privacy", tests, NULL, NULL);
}
