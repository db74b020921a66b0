/* The classical routes against values computed with 50 digits, digit by digit: each is an upper
 * bound of the stated formula and not above it by more than the last places. */
#include "check.h"

#include "accountant/exact/delta_bounds.h"
#include "accountant/renyi/renyi.h"
#include "accountant/terms.h"
#include "optimal_sum.h"

/* `value` is the truth cut after at least 11 digits: above it less one unit of 1e-11, close to it.
 */
#define assert_upper(value, truth)                                                                 \
    do {                                                                                           \
        double upper_ = (value), truth_ = (truth);                                                 \
        if (!(upper_ >= truth_ * (1 - 1e-15) && upper_ <= truth_ * (1 + 2e-10)))                   \
            fail_msg("%s is %.17g, expected %.17g", #value, upper_, truth_);                       \
    } while (0)

#define assert_encloses(interval, truth)                                                           \
    do {                                                                                           \
        brume_interval i_ = (interval);                                                            \
        double t_ = (truth);                                                                       \
        if (!(i_.lower <= t_ * (1 + 1e-15) && i_.upper >= t_ * (1 - 1e-15) &&                      \
              i_.upper - i_.lower <= 1e-14 * t_))                                                  \
            fail_msg("%s is [%.17g, %.17g], expected %.17g", #interval, i_.lower, i_.upper, t_);   \
    } while (0)

static void gaussian_profiles_are_enclosed(void **state)
{
    (void)state;
    assert_encloses(brume_profile_gaussian(1, 1), 0.12693673750664395);
    assert_encloses(brume_profile_gaussian(1, 0), 0.38292492254802621);
    assert_encloses(brume_profile_gaussian(2, 0.5), 0.59918561853393326);
    assert_encloses(brume_profile_gaussian(0.25, 1), 2.9242721048564073e-6);
    assert_encloses(brume_profile_gaussian(1, 8), 3.6508216874217908585e-15);
    /* nothing goes wrong at the ends of the doubles */
    assert_true(brume_profile_gaussian(1e300, 1).lower >= 1 - 1e-15);
    assert_true(brume_profile_gaussian(1e-300, 1).upper <= 5e-324);
    assert_true(brume_profile_gaussian(0, 0).upper == 0);
    assert_encloses(brume_profile_gaussian(1, -1), 0.12693673750664395 * exp(-1) + 1 - exp(-1));
}

static void laplace_and_response_profiles_are_enclosed(void **state)
{
    (void)state;
}

static void the_analytic_gaussian_is_calibrated(void **state)
{
    (void)state;
    assert_upper(brume_profile_gaussian_sigma_upper(1, 1e-5), 3.7306316348159418);
    assert_upper(brume_profile_gaussian_sigma_upper(0.5, 1e-5), 7.0318266755824914);
    assert_upper(brume_profile_gaussian_sigma_upper(0.1, 1e-6), 36.304690426195785);
    assert_upper(brume_profile_gaussian_sigma_upper(10, 1e-5), 0.49988861970900851);
    assert_upper(brume_profile_gaussian_sigma_upper(3, 1e-10), 2.0622531789074064);
    /* what was found meets the target, and a hair less noise does not */
    const double deltas[] = {1e-3, 1e-15, 1e-30};
    for (size_t i = 0; i < 3; i++) {
        double sigma = brume_profile_gaussian_sigma_upper(1, deltas[i]);
        assert_true(brume_profile_gaussian(1 / sigma * (1 - 1e-15), 1).upper <= deltas[i]);
        assert_true(brume_profile_gaussian(1 / (sigma * (1 - 1e-9)), 1).lower > deltas[i]);
    }
    assert_true(isinf(brume_profile_gaussian_sigma_upper(1, 0)));
}

/* The trade-off function at `type_one` contains `truth`, and is as sharp as it can be. */
static void assert_tradeoff(brume_term term, double type_one, double truth)
{
    brume_composition out;
    brume_error error;
    assert_ok(brume_compose_tradeoff(&term, 1, type_one, NULL, &out, &error));
    assert_true(out.value.lower <= truth * (1 + 1e-15) && truth * (1 - 1e-15) <= out.value.upper);
    assert_true(out.value.upper - out.value.lower <= 1e-9);
}

static void tradeoff_functions_have_the_published_values(void **state)
{
    (void)state;
    assert_tradeoff(gaussian(1, 1), 0.05, 0.74048897715855593);
    assert_tradeoff(gaussian(1, 1), 0.01, 0.90763775192630606415);
    assert_tradeoff(gaussian(1, 1), 1e-6, 0.99991278238985961080);
    assert_tradeoff(pure(1, 1), 0.05, 0.86408590857704774);
    assert_tradeoff(laplace(1, 1), 0.05, 0.86408590857704774);
    assert_tradeoff(laplace(1, 1), 0.3, 0.30656620097620193);
    assert_tradeoff(laplace(1, 1), 0.8, 0.073575888234288464);
    assert_tradeoff(laplace(1, 1), 0.1, 0.72817181715409547646);
}

static void basic_and_advanced_composition_give_the_published_numbers(void **state)
{
    (void)state;
    const brume_pure_step a = {0.1, 0, 100}, b = {0.01, 0, 1000}, c = {0.2, 0, 30};
    assert_upper(brume_basic_epsilon_upper(&a, 1), 10);
    assert_true(brume_basic_epsilon_upper(&a, 1) > 10); /* the double next to 0.1 is above it */
    assert_true(brume_basic_decimal_upper(&a, 1) == 10);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_EXPONENTIAL, &a, 1, 1e-6),
                 6.3082309505134082);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_DOUBLE, &a, 1, 1e-6),
                 7.256521769756932);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_HALF, &a, 1, 1e-6), 5.756521769756932);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_TANH, &a, 1, 1e-6),
                 5.7561055193357317);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_EXPONENTIAL, &b, 1, 1e-6),
                 1.7627598071107905);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_DOUBLE, &b, 1, 1e-6),
                 1.8622581362691099);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_TANH, &b, 1, 1e-6),
                 1.7122577196066099);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_EXPONENTIAL, &c, 1, 1e-5),
                 6.584938318717951);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_TANH, &c, 1, 1e-5),
                 5.8545297375066669);
    const brume_pure_step d = {1, 0, 30}, e = {0.01, 0, 10000};
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_EXPONENTIAL, &d, 1, 1e-5),
                 77.831063702556016954);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_TANH, &d, 1, 1e-5),
                 40.146123566584952648);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_EXPONENTIAL, &e, 1, 1e-6),
                 6.2615384781737377328);
    assert_upper(brume_advanced_epsilon_upper(BRUME_ADVANCED_TANH, &e, 1, 1e-6),
                 5.7565176031319315570);
    /* S4's and S1's mean terms cross where theory says */
    for (int above = 0; above < 2; above++) {
        brume_pure_step step = {1.2564312086261697 + (above ? 1e-9 : -1e-9), 0, 10};
        double one = brume_advanced_epsilon_upper(BRUME_ADVANCED_EXPONENTIAL, &step, 1, 1e-6);
        double two = brume_advanced_epsilon_upper(BRUME_ADVANCED_DOUBLE, &step, 1, 1e-6);
        assert_true(above ? two < one : one < two);
    }
}

static void advanced_composition_is_the_same_curve_both_ways(void **state)
{
    (void)state;
    const brume_pure_step steps[] = {{0.1, 1e-8, 50}, {0.3, 0, 7}};
    for (int form = BRUME_ADVANCED_DOUBLE; form <= BRUME_ADVANCED_TANH; form++) {
        double epsilon = brume_advanced_epsilon_upper((brume_advanced_form)form, steps, 2, 1e-5);
        assert_close(brume_advanced_delta_upper((brume_advanced_form)form, steps, 2, epsilon), 1e-5,
                     1e-12);
    }
    /* delta at or under the failure probability: no finite epsilon */
    assert_true(isinf(brume_advanced_epsilon_upper(BRUME_ADVANCED_TANH, steps, 2, 4e-7)));
    assert_true(isinf(brume_advanced_epsilon_upper(BRUME_ADVANCED_TANH, steps, 2, 0)));
    assert_upper(brume_pure_failure_upper(steps, 2), 4.9999987750002e-7);
}

static double optimal_delta(const brume_pure_step *steps, size_t n, double epsilon)
{
    brume_error error = {0};
    brume_interval delta;
    assert_ok(optimal_sum_delta(steps, n, epsilon, &delta, &error));
    assert_true(delta.upper - delta.lower <= 1e-14 * delta.upper);
    return delta.upper;
}

static double optimal_epsilon(brume_pure_step step, double delta)
{
    brume_error error = {0};
    double epsilon;
    assert_ok(brume_optimal_epsilon_upper(&step, 1, delta, &epsilon, &error));
    double sum;
    assert_ok(optimal_sum_epsilon_upper(&step, 1, delta, &sum, &error));
    assert_true(sum == epsilon || fabs(sum - epsilon) <= 1e-10 * sum);
    return epsilon;
}

static void optimal_composition_gives_the_exact_profile(void **state)
{
    (void)state;
    assert_upper(optimal_delta(&(brume_pure_step){1, 0, 3}, 1, 1), 0.33783471214704117);
    assert_upper(optimal_delta(&(brume_pure_step){1, 1e-3, 3}, 1, 1), 0.33981922217690178);
    assert_upper(optimal_delta(&(brume_pure_step){0.1, 0, 10}, 1, 0.8), 2.8823385761864798e-4);
    assert_upper(optimal_delta(&(brume_pure_step){0.1, 0, 10}, 1, 0.6), 0.0031322675761113538);
    assert_upper(optimal_delta(&(brume_pure_step){0.1, 0, 10}, 1, 0), 0.12253622356149267);
    const brume_pure_step mixed[] = {{0.5, 0, 1}, {1, 0, 1}, {1.5, 0, 1}};
    assert_upper(optimal_delta(mixed, 3, 0), 0.63514895238728732);
    assert_upper(optimal_delta(mixed, 3, 1.5), 0.37781519278694813);
    assert_upper(optimal_delta(mixed, 3, 2.5), 0.14638661938896958);
    assert_upper(optimal_epsilon((brume_pure_step){0.1, 0, 100}, 1e-6), 4.7745675881079862);
    assert_upper(optimal_epsilon((brume_pure_step){0.01, 0, 1000}, 1e-6), 1.365446709993756);
    assert_upper(optimal_epsilon((brume_pure_step){0.2, 0, 30}, 1e-5), 4.5646703553998275);
    assert_upper(optimal_epsilon((brume_pure_step){1, 0, 30}, 1e-5), 29.871456988385661522);
    assert_upper(optimal_epsilon((brume_pure_step){0.01, 0, 10000}, 1e-6), 4.8855156010073155303);
    /* delta = 0 gives basic composition back; failure alone may be too much */
    assert_upper(optimal_epsilon((brume_pure_step){0.1, 0, 100}, 0), 10);
    assert_true(isinf(optimal_epsilon((brume_pure_step){0.1, 1e-6, 100}, 1e-5)));
    assert_true(optimal_epsilon((brume_pure_step){0.1, 0, 1}, 0.5) == 0);
}

static void optimal_composition_ends_at_the_sum_of_the_epsilons(void **state)
{
    (void)state;
    brume_error error;
    for (double epsilon0 = 0.01; epsilon0 < 5; epsilon0 *= 1.03) {
        brume_pure_step steps[] = {{epsilon0, 0, 2}, {0.3, 0, 1}, {0, 1e-6, 1}};
        double epsilon, basic = brume_basic_epsilon_upper(steps, 2);
        assert_ok(brume_optimal_epsilon_upper(steps, 2, 1e-25, &epsilon, &error));
        assert_true(epsilon == basic); /* no double below it has a delta as small */
        assert_ok(brume_optimal_epsilon_upper(steps, 3, 1e-6, &epsilon, &error));
        assert_true(epsilon == basic); /* at the very probability of failure */
        assert_ok(brume_optimal_epsilon_upper(steps, 3, 0.999e-6, &epsilon, &error));
        assert_true(isinf(epsilon));
    }
}

static void one_epsilon_in_two_lines_is_the_same_as_in_one(void **state)
{
    (void)state;
    const brume_pure_step split[] = {{0.3, 0, 4}, {0.3, 0, 6}};
    const brume_pure_step close_by[] = {{0.3, 0, 4}, {nextafter(0.3, 1), 0, 6}};
    const brume_pure_step whole = {0.3, 0, 10};
    for (double epsilon = 0; epsilon < 3; epsilon += 0.37) {
        assert_true(optimal_delta(split, 2, epsilon) == optimal_delta(&whole, 1, epsilon));
        /* the two routes of the sum agree */
        assert_close(optimal_delta(close_by, 2, epsilon), optimal_delta(&whole, 1, epsilon), 1e-13);
    }
    brume_pure_step many[22];
    for (int i = 0; i < 22; i++)
        many[i] = (brume_pure_step){0.1 + i * 0.01, 0, 1};
    brume_interval delta;
    assert_fails(optimal_sum_delta(many, 22, 1, &delta, NULL), BRUME_EUNSUPPORTED);
}

static brume_cost law(brume_loss_kind kind, double a, double rate, uint64_t shift)
{
    return (brume_cost){.loss = BRUME_EXACT, .law = {kind, a, rate, shift}};
}

static void renyi_curves_give_the_exact_divergences(void **state)
{
    (void)state;
    const struct {
        brume_cost cost;
        double alpha, divergence;
    } cases[] = {
        {law(BRUME_LOSS_PURE, 1, 0, 0), 1.5, 0.62733264704949932},
        {law(BRUME_LOSS_PURE, 1, 0, 0), 2, 0.73532566405551922},
        {law(BRUME_LOSS_PURE, 1, 0, 0), 1 + 1e-7, 0.46211715726000976 + 3.9e-8},
        {law(BRUME_LOSS_PURE, 0.5, 0, 0), 1.5, 0.17836940667623230635},
        {law(BRUME_LOSS_PURE, 0.5, 0, 0), 2, 0.22733629380264572863},
        {law(BRUME_LOSS_PURE, 0.5, 0, 0), 8, 0.43235370675646487},
        {law(BRUME_LOSS_PURE, 0.5, 0, 0), 32, 0.48470719405870690964},
        {law(BRUME_LOSS_LAPLACE, 1, 0, 0), 1.5, 0.5128835112945086},
        {law(BRUME_LOSS_LAPLACE, 1, 0, 0), 2, 0.61912362999859288},
        {law(BRUME_LOSS_LAPLACE, 0.5, 0, 0), 1.1, 0.11675893236534169438},
        {law(BRUME_LOSS_LAPLACE, 0.5, 0, 0), 2, 0.20030389617361596223},
        {law(BRUME_LOSS_LAPLACE, 0.5, 0, 0), 8, 0.41026788176229154},
        {law(BRUME_LOSS_LAPLACE, 0.5, 0, 0), 16, 0.45590677944650400726},
        {law(BRUME_LOSS_GAUSSIAN, 0.5, 0, 0), 1.5, 0.1875},
        {law(BRUME_LOSS_GAUSSIAN, 0.5, 0, 0), 32, 4},
        {law(BRUME_LOSS_DISCRETE_GAUSSIAN, 2, 0, 1), 10, 1.25},
        {law(BRUME_LOSS_KARY, 1, 0, 3), 2, 0.61840130562423456},
        {law(BRUME_LOSS_KARY, 2, 0, 10), 2, 1.3422815601260835},
        {law(BRUME_LOSS_DISCRETE_LAPLACE, 0.2, 0, 3), 2, 0.27902215657783573312},
        {law(BRUME_LOSS_DISCRETE_LAPLACE, 0.2, 0, 3), 10, 0.53400106209839433395},
        {law(BRUME_LOSS_DISCRETE_LAPLACE, 1, 0, 1), 2, 0.73532566405551922},
        {law(BRUME_LOSS_POISSON_GAUSSIAN, 1, 0.01, 0), 2, 0.00017181342207454793099},
        {law(BRUME_LOSS_POISSON_GAUSSIAN, 1, 0.01, 0), 8, 0.00089364390760603184735},
        {law(BRUME_LOSS_POISSON_GAUSSIAN, 1, 0.01, 0), 32, 11.246275937048068835},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double upper = brume_renyi_upper(&cases[i].cost, cases[i].alpha);
        if (cases[i].alpha == 1 + 1e-7)
            assert_close(upper, cases[i].divergence, 1e-7); /* KL in the limit */
        else
            assert_upper(upper, cases[i].divergence);
    }
    /* between whole orders the subsampled curve is an upper bound, and near */
    brume_cost sampled = law(BRUME_LOSS_POISSON_GAUSSIAN, 1, 0.01, 0);
    double between = brume_renyi_upper(&sampled, 2.5);
    assert_true(between >= 0.00021757533228188045261 && between < 1.1 * 0.000217575332281880);
}

static void rho_is_the_exact_supremum(void **state)
{
    (void)state;
    brume_cost pure = {.pure = BRUME_EXACT, .epsilon = 1};
    assert_upper(brume_rho_upper(&pure), 0.46211715726000976);
    brume_cost gaussian = law(BRUME_LOSS_GAUSSIAN, 0.5, 0, 0);
    assert_upper(brume_rho_upper(&gaussian), 0.125);
    brume_cost wide = law(BRUME_LOSS_GAUSSIAN, 0x1p-538, 0, 0);
    assert_true(brume_rho_upper(&wide) > 0); /* 2^-1077 is no double: up */
    brume_cost nothing = {0};
    assert_true(isinf(brume_rho_upper(&nothing)) && !brume_renyi_known(&nothing));
    assert_true(isinf(brume_renyi_upper(&nothing, 2)));
    for (double alpha = 1.01; alpha < 1e4; alpha *= 1.3)
        assert_true(brume_renyi_upper(&pure, alpha) <= alpha * brume_rho_upper(&pure));
}

static void conversions_give_the_published_numbers(void **state)
{
    (void)state;
    assert_upper(brume_concentrated_epsilon_closed_upper(0.1, 1e-6), 2.4507880004767996);
    assert_upper(brume_concentrated_epsilon_closed_upper(0.5, 1e-5), 5.2985259121880812);
    assert_upper(brume_concentrated_epsilon_closed_upper(1, 1e-6), 8.4338443776996769);
    assert_upper(brume_concentrated_epsilon_closed_upper(0.01, 1e-9), 0.92045627763108781052);
    assert_upper(brume_concentrated_epsilon_upper(0.1, 1e-6), 2.1419389283854737);
    assert_upper(brume_concentrated_epsilon_upper(0.5, 1e-5), 4.7283869849433139);
    assert_upper(brume_concentrated_epsilon_upper(1, 1e-6), 7.7662166253117207);
    assert_upper(brume_concentrated_epsilon_upper(0.01, 1e-9), 0.81017446786753416381);
    assert_upper(brume_concentrated_delta_upper(0.1, 1), 0.0089332457718183618);
    assert_upper(brume_renyi_epsilon_at_upper(8, 0.4, 1e-6), 1.9430498954161114020);
    assert_upper(brume_renyi_epsilon_at_upper(32, 1.1, 1e-10), 1.6992227541738303535);
    assert_upper(brume_concentrated_epsilon_closed_upper(0.02, 1e-6), 1.0713043539513864);
    /* tiny and huge rho find their order too */
    assert_close(
        brume_concentrated_delta_upper(1e-12, brume_concentrated_epsilon_upper(1e-12, 1e-12)),
        1e-12, 1e-6);
    assert_close(brume_concentrated_epsilon_upper(1e6, 1e-6), 1e6, 1e-2);
}

/* 100 randomized responses and 100 Laplaces of 0.1 by their own curves */
static double hundredfold(const void *context, double alpha)
{
    return 100 * brume_renyi_upper(context, alpha) * (1 + 1e-15);
}

static void curves_compose_to_the_published_numbers(void **state)
{
    (void)state;
    brume_cost pure = law(BRUME_LOSS_PURE, 0.1, 0, 0), laplace = law(BRUME_LOSS_LAPLACE, 0.1, 0, 0);
    assert_upper(brume_renyi_epsilon_upper(&(brume_curve){hundredfold, &pure, NULL}, 1e-6),
                 5.0731061746320307);
    assert_upper(brume_renyi_epsilon_upper(&(brume_curve){hundredfold, &laplace, NULL}, 1e-6),
                 4.9841739586396229);
}

static void group_privacy_has_the_tight_factor(void **state)
{
    (void)state;
    const struct {
        uint64_t k;
        double epsilon, tight;
    } cases[] = {{2, 1, 3.71828182846}, {3, 1, 11.1073379274}, {10, 0.5, 227.236512445}};
    for (size_t i = 0; i < 3; i++) {
        double epsilon, delta;
        brume_group_upper(cases[i].epsilon, 1e-6, cases[i].k, &epsilon, &delta);
        assert_true(epsilon == cases[i].epsilon * (double)cases[i].k);
        assert_close(delta, cases[i].tight * 1e-6, 1e-11);
    }
    double epsilon, delta;
    brume_group_upper(0, 1e-6, 7, &epsilon, &delta);
    assert_true(epsilon == 0);
    assert_upper(delta, 7e-6);
    brume_group_upper(1, 0, 7, &epsilon, &delta);
    assert_true(delta == 0);
    brume_group_upper(2, 0.001, 5, &epsilon, &delta); /* the first line alone says 3.4 */
    assert_true(epsilon == 10);
    assert_close(delta, 0.92793, 1e-5);
    brume_group_upper(1, 0.1, 70, &epsilon, &delta);
    assert_true(delta == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_profiles_are_enclosed),
        cmocka_unit_test(laplace_and_response_profiles_are_enclosed),
        cmocka_unit_test(the_analytic_gaussian_is_calibrated),
        cmocka_unit_test(tradeoff_functions_have_the_published_values),
        cmocka_unit_test(basic_and_advanced_composition_give_the_published_numbers),
        cmocka_unit_test(advanced_composition_is_the_same_curve_both_ways),
        cmocka_unit_test(optimal_composition_gives_the_exact_profile),
        cmocka_unit_test(optimal_composition_ends_at_the_sum_of_the_epsilons),
        cmocka_unit_test(one_epsilon_in_two_lines_is_the_same_as_in_one),
        cmocka_unit_test(renyi_curves_give_the_exact_divergences),
        cmocka_unit_test(rho_is_the_exact_supremum),
        cmocka_unit_test(conversions_give_the_published_numbers),
        cmocka_unit_test(curves_compose_to_the_published_numbers),
        cmocka_unit_test(group_privacy_has_the_tight_factor),
    };
    return cmocka_run_group_tests_name("classical", tests, NULL, NULL);
}
