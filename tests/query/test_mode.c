/* Modes of undeclared values: what they cost, by enumeration. */
#include "query/release/measurement.c"

#include "check.h"

#include "atoms.h"
#include "query/price/price.h"

static const double bin = 1e-9;

/* One group, public; the unit has up to R values. Shows the whole noisy histogram of values, of
 * which the mode is post-processing: `moved` values change by one unit, all of them gained or,
 * under replace, half lost and half gained. `others[i]` units beside ours. */
static double histogram_divergence(const brume_measure *mode, size_t moved, bool replace,
                                   unsigned choice, double epsilon)
{
    atoms all = atoms_one();
    for (size_t i = 0; i < moved; i++) {
        int rest = choice >> i & 1 ? (int)mode->threshold + 2 : 0;
        bool gained = !replace || i % 2;
        all = atoms_product(all,
                            atoms_tested(BRUME_NOISE_DISCRETE_LAPLACE, mode->scale,
                                         (double)mode->threshold, rest + !gained, rest + gained,
                                         atoms_one(), bin),
                            bin);
    }
    double worst = atoms_hockey_stick(&all, epsilon);
    atoms_free(&all);
    return worst;
}

static double worst_histogram(const brume_measure *mode, size_t moved, bool replace, double epsilon)
{
    double worst = 0;
    for (unsigned choice = 0; choice < 1U << moved; choice++)
        worst = fmax(worst, histogram_divergence(mode, moved, replace, choice, epsilon));
    return worst;
}

static const double prices[][2] = {{1, 1e-3}, {0.3, 1e-2}, {2.5, 1e-5}};

static void a_mode_costs_no_more_than_charged_and_hardly_less(void **state)
{
    (void)state;
    brume_error error = {0};
    for (size_t i = 0; i < 3; i++)
        for (uint64_t rows = 1; rows <= 2; rows++)
            for (int replace = 0; replace <= 1; replace++) {
                brume_measure mode[] = {{.kind = BRUME_MEASURE_PRIVATE_MODE}};
                brume_shape shape = {
                    .max_groups = 1, .max_rows = rows, .cells = 1, .replace = replace};
                brume_price price;
                assert_ok(brume_price_laplace(mode, 1, &shape, prices[i][0], prices[i][1], &price,
                                              &error));
                size_t moved = (size_t)rows * (replace ? 2 : 1);
                double worst = worst_histogram(mode, moved, replace, prices[i][0]);
                assert_holds(price.delta <= prices[i][1]);
                assert_holds(worst <= price.delta * (1 + 1e-6) + 1e-12);
                assert_holds(worst >= price.delta * 0.99); /* tight */
                /* the mutants: a threshold one less, noise for one row, noise for add-remove */
                brume_measure low = *mode;
                low.threshold--;
                assert_holds(worst_histogram(&low, moved, replace, prices[i][0]) > price.delta);
                brume_measure little = *mode;
                little.scale /= 2;
                if (moved > 1)
                    assert_holds(worst_histogram(&little, moved, replace, prices[i][0]) >
                                 2 * price.delta);
            }
}

/* The mode alone, two values and "none": the law of the argmax, in both directions. */
static void mode_law(const brume_measure *mode, const int units[2], double law[3])
{
    int reach = (int)noise_reach(BRUME_NOISE_DISCRETE_LAPLACE, mode->scale) + 40;
    int threshold = (int)mode->threshold;
    double below[2] = {0, 0}; /* P[value i is no candidate, or below y] as y rises */
    law[0] = law[1] = 0;
    for (int i = 0; i < 2; i++) {
        double shown = 0;
        for (int y = threshold; units[i] && y <= reach; y++)
            shown += noise_mass(BRUME_NOISE_DISCRETE_LAPLACE, mode->scale, y - units[i]);
        below[i] = 1 - shown;
    }
    law[2] = below[0] * below[1];
    for (int y = threshold; y <= reach; y++) {
        double at[2];
        for (int i = 0; i < 2; i++)
            at[i] = units[i] ? noise_mass(BRUME_NOISE_DISCRETE_LAPLACE, mode->scale, y - units[i])
                             : 0;
        law[0] += at[0] * (below[1] + at[1]); /* of equals the first */
        law[1] += at[1] * below[0];
        below[0] += at[0];
        below[1] += at[1];
    }
}

static void the_chosen_value_alone_is_private_too(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_measure mode[] = {{.kind = BRUME_MEASURE_PRIVATE_MODE}};
    brume_shape shape = {.max_groups = 1, .max_rows = 1, .cells = 1};
    brume_price price;
    assert_ok(brume_price_laplace(mode, 1, &shape, 1, 1e-3, &price, &error));
    double worst = 0;
    for (int a = 0; a < 14; a++)
        for (int b = 0; b < 14; b++) {
            const int before[] = {a, b}, after[] = {a + 1, b};
            double p[3], q[3], there = 0, back = 0;
            mode_law(mode, before, p);
            mode_law(mode, after, q);
            assert_close(p[0] + p[1] + p[2], 1, 1e-9);
            for (int i = 0; i < 3; i++) {
                there += fmax(0, p[i] - exp(1) * q[i]);
                back += fmax(0, q[i] - exp(1) * p[i]);
            }
            worst = fmax(worst, fmax(there, back));
        }
    assert_holds(worst <= price.delta * (1 + 1e-9));
    assert_holds(worst >= price.delta * 0.99); /* a value that one unit brings */
}

/* Private keys and a private mode in one plan: both tests may fail, and both are paid. */
static void keys_and_modes_together_stay_within_delta(void **state)
{
    (void)state;
    brume_error error = {0};
    for (size_t i = 0; i < 3; i++) {
        brume_measure measures[] = {{.kind = BRUME_MEASURE_UNITS},
                                    {.kind = BRUME_MEASURE_PRIVATE_MODE}};
        brume_shape shape = {.max_groups = 1, .max_rows = 1, .private_keys = true};
        brume_price price;
        assert_ok(
            brume_price_laplace(measures, 2, &shape, prices[i][0], prices[i][1], &price, &error));
        double worst = 0;
        for (unsigned choice = 0; choice < 4; choice++) {
            int rest[] = {choice & 1 ? (int)price.threshold + 2 : 0,
                          choice & 2 ? (int)measures[1].threshold + 2 : 0};
            atoms key = atoms_tested(BRUME_NOISE_DISCRETE_LAPLACE, measures[0].scale,
                                     (double)price.threshold, rest[0], rest[0] + 1, atoms_one(),
                                     bin);
            atoms pair = atoms_tested(BRUME_NOISE_DISCRETE_LAPLACE, measures[1].scale,
                                      (double)measures[1].threshold, rest[1], rest[1] + 1,
                                      atoms_one(), bin);
            atoms both = atoms_product(key, pair, bin);
            worst = fmax(worst, atoms_hockey_stick(&both, prices[i][0]));
            atoms_free(&both);
        }
        assert_holds(price.delta <= prices[i][1]);
        assert_holds(worst <= price.delta * (1 + 1e-6));
        assert_holds(worst >= price.delta * 0.98);
    }
}

/* The shares add up to the price in every currency: pairs by R, groups, and twice under replace. */
static void the_scales_of_modes_add_up_to_the_price(void **state)
{
    (void)state;
    brume_error error = {0};
    for (uint64_t groups = 1; groups <= 3; groups++)
        for (uint64_t rows = 1; rows <= 3; rows++)
            for (uint64_t cells = 0; cells <= 2; cells++)
                for (int replace = 0; replace <= 1; replace++) {
                    brume_shape shape = {.max_groups = groups,
                                         .max_rows = rows,
                                         .cells = cells,
                                         .replace = replace,
                                         .private_keys = cells == 0};
                    brume_measure plan[] = {{.kind = BRUME_MEASURE_UNITS},
                                            {.kind = BRUME_MEASURE_PRIVATE_MODE}};
                    double kept = (double)(cells && cells < groups ? cells : groups);
                    double pairs = kept * (double)rows * (replace ? 2 : 1);
                    /* a cell stayed in costs a count of units nothing: 2G cells, or all K */
                    double moved = replace ? 2 * (double)groups : kept;
                    if (cells && moved > (double)cells)
                        moved = (double)cells;
                    brume_price price;
                    assert_ok(brume_price_laplace(plan, 2, &shape, 1, 1e-6, &price, &error));
                    assert_close(moved / plan[0].scale + pairs / plan[1].scale, 1, 1e-12);
                    assert_ok(brume_price_concentrated(plan, 2, &shape, 0.5, 1e-6, &price, &error));
                    assert_close(moved / (plan[0].scale * plan[0].scale) +
                                     pairs / (plan[1].scale * plan[1].scale),
                                 1, 1e-12);
                    assert_holds(price.delta <= 1e-6);
                    assert_ok(brume_price_gaussian(plan, 2, &shape, 1, 1e-6, &price, &error));
                    assert_close(pairs / plan[1].scale, price.epsilon_selection, 1e-12);
                    assert_holds(price.delta <= 1e-6);
                    assert_int_equal(brume_measure_noise(&plan[1], price.noise),
                                     BRUME_NOISE_DISCRETE_LAPLACE);
                }
}

/* ---- a mode of three declared values, by permute-and-flip ---- */

/* P[i] = p_i * integral over t in [0, 1] of the product of 1 - p_j t, p_i = exp(rate (c_i - max)).
 */
static void flip_law(const int *counts, double rate, double *law)
{
    double p[3], most = fmax(counts[0], fmax(counts[1], counts[2]));
    for (int i = 0; i < 3; i++)
        p[i] = exp(rate * (counts[i] - most));
    for (int i = 0; i < 3; i++) {
        double a = p[(i + 1) % 3], b = p[(i + 2) % 3];
        law[i] = p[i] * (1 - (a + b) / 2 + a * b / 3);
    }
}

static double worst_flip(double rate, int rows, bool replace)
{
    /* what a unit has: how many rows of each value, at most `rows` in all */
    int units[10][3], count = 0;
    for (int a = 0; a <= rows; a++)
        for (int b = 0; a + b <= rows; b++)
            for (int c = 0; a + b + c <= rows; c++, count++)
                memcpy(units[count], (int[]){a, b, c}, sizeof units[count]);
    double worst = 0;
    for (int others = 0; others < 216; others++)
        for (int a = 0; a < count; a++)
            for (int b = 0; b < (replace ? count : 1); b++) { /* units[0] is nothing */
                int before[3], after[3], rest = others;
                for (int i = 0; i < 3; i++, rest /= 6) {
                    before[i] = rest % 6 + units[a][i];
                    after[i] = rest % 6 + units[b][i];
                }
                double p[3], q[3];
                flip_law(before, rate, p);
                flip_law(after, rate, q);
                for (int i = 0; i < 3; i++)
                    worst = fmax(worst, fabs(log(p[i] / q[i])));
            }
    return worst;
}

static void a_mode_of_declared_values_costs_what_is_charged(void **state)
{
    (void)state;
    brume_error error = {0};
    for (int rows = 1; rows <= 2; rows++)
        for (int replace = 0; replace <= 1; replace++) {
            brume_measure mode[] = {{.kind = BRUME_MEASURE_MODE, .low = 0, .high = 2}};
            brume_shape shape = {
                .max_groups = 1, .max_rows = (uint64_t)rows, .cells = 1, .replace = replace};
            brume_price price;
            assert_ok(brume_price_laplace(mode, 1, &shape, 1, 0, &price, &error));
            double worst = worst_flip(mode[0].scale, rows, replace);
            assert_holds(worst <= 1 + 1e-9);
            assert_holds(worst >= 0.95);
            /* the mutants: one row paid where there are two, a replacement paid as a gain */
            assert_holds(worst_flip(mode[0].scale * 2, rows, replace) > 1.5);
            if (!replace)
                assert_holds(worst_flip(mode[0].scale, rows, true) > 1.5);
        }
}

/* The code that chooses: pairs of a group and a value, in the order of both. */
static void of_each_released_group_the_largest_at_the_threshold_is_chosen(void **state)
{
    (void)state;
    enum { PAIRS = 9, GROUPS = 3 };
    static const int64_t ids[PAIRS][2] = {{0, 10}, {0, 11}, {1, 20}, {2, 30}, {3, 40},
                                          {3, 41}, {3, 42}, {3, 43}, {4, 50}};
    static const double noisy[PAIRS] = {5, 5, 4, 100, 7, 9, 9, 8, 100};
    static const int64_t released[GROUPS] = {0, 1, 3}; /* 2 and 4 are not */
    brume_key_value keys[PAIRS][2], group_keys[GROUPS][1];
    brume_bounded_group pairs[PAIRS], groups[GROUPS];
    const brume_bounded_group *shown[GROUPS];
    const brume_key_value *chosen[GROUPS] = {NULL, NULL, NULL};
    for (size_t i = 0; i < PAIRS; i++) {
        for (size_t k = 0; k < 2; k++)
            keys[i][k] = (brume_key_value){.wire = BRUME_WIRE_INTEGER, .integer = ids[i][k]};
        pairs[i] = (brume_bounded_group){.keys = keys[i]};
    }
    for (size_t i = 0; i < GROUPS; i++) {
        group_keys[i][0] = (brume_key_value){.wire = BRUME_WIRE_INTEGER, .integer = released[i]};
        groups[i] = (brume_bounded_group){.keys = group_keys[i]};
        shown[i] = &groups[i];
    }
    brume_query query = {.key_count = 1};
    brume_plan plan = {.query = &query};
    brume_terms terms = {.plan = &plan};
    brume_measure measure = {.kind = BRUME_MEASURE_PRIVATE_MODE, .threshold = 5};
    choose(&terms, &measure, pairs, noisy, PAIRS, shown, GROUPS, chosen);
    assert_ptr_equal(chosen[0], &keys[0][1]); /* at the threshold, and of equals the first */
    assert_null(chosen[1]);                   /* below it */
    assert_ptr_equal(chosen[2], &keys[5][1]); /* the largest, and of equals the first */
    memset(chosen, 0, sizeof chosen);
    choose(&terms, &measure, pairs, noisy, 5, shown, GROUPS, chosen);
    assert_ptr_equal(chosen[2], &keys[4][1]); /* of the pairs that there are */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_each_released_group_the_largest_at_the_threshold_is_chosen),
        cmocka_unit_test(a_mode_costs_no_more_than_charged_and_hardly_less),
        cmocka_unit_test(the_chosen_value_alone_is_private_too),
        cmocka_unit_test(keys_and_modes_together_stay_within_delta),
        cmocka_unit_test(the_scales_of_modes_add_up_to_the_price),
        cmocka_unit_test(a_mode_of_declared_values_costs_what_is_charged),
    };
    return cmocka_run_group_tests_name("modes of undeclared values", tests, NULL, NULL);
}
