/* Prices of plans: known vectors, and the constant C against its definition by enumeration. */
#include "check.h"

#include "query/price/key_threshold.h"
#include "query/price/price.h"

static const brume_shape one_cell = {.max_groups = 1, .max_rows = 1, .cells = 1};

static void laplace_scales_are_sensitivity_times_measures_times_groups(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_measure measures[] = {
        {.kind = BRUME_MEASURE_VALUES, .expression = 1},
        {.kind = BRUME_MEASURE_CENTRED, .expression = 1, .low = 0, .high = 100},
    };
    brume_shape shape = {.max_groups = 3, .max_rows = 2, .cells = 10};
    brume_price price;
    assert_ok(brume_price_laplace(measures, 2, &shape, 0.5, 0, &price, &error));
    assert_close(measures[0].scale, 2 * 3 * 2 / 0.5, 1e-15);
    assert_close(measures[1].scale, 2 * 3 * (2 * 50) / 0.5, 1e-15);
    assert_holds(price.epsilon == 0.5 && price.delta == 0);
    shape.replace = true; /* K >= 2G: exactly twice */
    assert_ok(brume_price_laplace(measures, 2, &shape, 0.5, 0, &price, &error));
    assert_close(measures[0].scale, 2 * 6 * 2 / 0.5, 1e-15);
}

static double stay_of(brume_measure *measures, size_t count)
{
    brume_error error = {0};
    brume_price price;
    brume_shape shape = one_cell;
    shape.replace = true;
    assert_ok(brume_price_concentrated(measures, count, &shape, 1, 0, &price, &error));
    return price.stay_upper;
}

static void a_staying_unit_costs_what_the_enumeration_says(void **state)
{
    (void)state;
    brume_measure average[] = {
        {.kind = BRUME_MEASURE_VALUES, .expression = 1},
        {.kind = BRUME_MEASURE_CENTRED, .expression = 1, .low = 0, .high = 1000},
    };
    assert_close(stay_of(average, 2), 2, 1e-11);
    brume_measure variance[] = {
        {.kind = BRUME_MEASURE_VALUES, .expression = 1},
        {.kind = BRUME_MEASURE_CENTRED, .expression = 1, .low = 0, .high = 1000000},
        {.kind = BRUME_MEASURE_SQUARES, .expression = 1, .low = 0, .high = 1000000},
    };
    assert_close(stay_of(variance, 3), 1.715, 1e-3);
    brume_measure both_signs[] = {
        {.kind = BRUME_MEASURE_DIRECT, .expression = 1, .low = -70, .high = 70}};
    assert_close(stay_of(both_signs, 1), 4, 1e-15);
    brume_measure units[] = {{.kind = BRUME_MEASURE_UNITS}};
    assert_holds(stay_of(units, 1) == 0);
}

static void gaussian_thresholds_meet_the_vectors_of_stable_histograms(void **state)
{
    (void)state;
    brume_error error = {0};
    const struct {
        uint64_t groups;
        double sigma, threshold; /* of continuous noise */
    } vectors[] = {{1, 3.8841408046043612, 17.565436359857133},
                   {3, 6.7275292173262127, 31.301205568819124},
                   {10, 12.282731695348806, 59.385024249491892}};
    for (size_t i = 0; i < 3; i++) {
        brume_measure units[] = {{.kind = BRUME_MEASURE_UNITS}};
        brume_shape shape = {.max_groups = vectors[i].groups, .max_rows = 1, .private_keys = true};
        brume_price price;
        assert_ok(brume_price_gaussian(units, 1, &shape, 1, 1e-5, &price, &error));
        assert_close(units[0].scale, vectors[i].sigma, 1e-9);
        /* integer threshold 1 + m of rounded noise is 1/2 + m of continuous noise, m an integer */
        double continuous = (double)price.threshold - 0.5;
        assert_holds(continuous >= vectors[i].threshold);
        assert_holds(continuous < vectors[i].threshold + 1);
        assert_holds(price.delta <= 1e-5 && price.delta > 0.3e-5);
    }
}

static void laplace_thresholds_are_the_least_that_delta_allows(void **state)
{
    (void)state;
    brume_error error = {0};
    uint64_t m = 0;
    double used = 0;
    assert_ok(brume_key_threshold_laplace(1, 1, 1e-6, &m, &used, &error));
    assert_int_equal(m, 14); /* threshold 15 */
    assert_close(used, 6.0789620347788292e-7, 1e-14);
    assert_ok(brume_key_threshold_laplace(10, 1, 1e-9, &m, &used, &error));
    assert_int_equal(m, 201);
    assert_ok(brume_key_threshold_laplace(2, 1, 1e-5, &m, &used, &error));
    assert_int_equal(m, 23);
    assert_ok(brume_key_threshold_laplace(0x1p50, 4, 1e-6, &m, &used, &error));
    assert_holds(used <= 1e-6 && used > 0.999e-6);
}

static void discrete_gaussian_thresholds_use_their_own_tail(void **state)
{
    (void)state;
    brume_error error = {0};
    for (double sigma = 0.2; sigma < 300; sigma *= 1.7) {
        uint64_t m = 0;
        double used = 0, mass = 1, tail = 0;
        assert_ok(brume_key_threshold_discrete_gaussian(sigma, 1, 1e-7, &m, &used, &error));
        for (int64_t x = 20000; x >= 1; x--) {
            mass += 2 * exp(-(double)(x * x) / (2 * sigma * sigma));
            if (x >= (int64_t)m)
                tail += exp(-(double)(x * x) / (2 * sigma * sigma));
        }
        assert_holds(tail / mass <= used * (1 + 1e-9)); /* the bound holds ... */
        assert_holds(used <= 1e-7);
        double before = (tail + exp(-(double)((m - 1) * (m - 1)) / (2 * sigma * sigma))) / mass;
        assert_holds(before > 0.5e-7); /* ... and one less would not do, or hardly */
    }
}

static void bad_prices_are_refused_and_touch_nothing(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_measure units[] = {{.kind = BRUME_MEASURE_UNITS, .scale = 7}};
    brume_shape private_keys = {.max_groups = 1, .max_rows = 1, .private_keys = true};
    brume_price price = {.epsilon = 9};
    const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        assert_fails(brume_price_laplace(units, 1, &one_cell, bad[i], 0, &price, &error),
                     BRUME_EARGUMENT);
        assert_fails(brume_price_gaussian(units, 1, &one_cell, bad[i], 1e-6, &price, &error),
                     BRUME_EARGUMENT);
        assert_fails(brume_price_concentrated(units, 1, &one_cell, bad[i], 0, &price, &error),
                     BRUME_EARGUMENT);
        assert_fails(brume_price_laplace(units, 1, &private_keys, 1, bad[i], &price, &error),
                     BRUME_EARGUMENT);
    }
    assert_fails(brume_price_laplace(units, 1, &one_cell, 1e-300, 0, &price, &error),
                 BRUME_EOVERFLOW);
    assert_holds(price.epsilon == 9);
}

/* ---- C by enumeration ---- */

enum { ROWS_MOST = 2, CELLS_MOST = 4 };

/* What one unit adds to the measures of a cell, for every multiset of at most R rows with values in
 * {NULL, low..high}; U, N, Nx, S, Q. */
typedef struct contribution {
    double value[5];
} contribution;

static size_t contributions(int rows, int64_t low, int64_t high, contribution *out)
{
    brume_measure x = {.low = low, .high = high};
    int64_t c = brume_measure_centre(&x), k = (int64_t)brume_measure_half_square(&x);
    size_t count = 0;
    out[count++] = (contribution){{0}};
    for (int64_t a = low - 1; a <= high; a++)    /* low - 1 stands for NULL */
        for (int64_t b = low - 2; b <= a; b++) { /* low - 2: no second row */
            if (rows < 2 && b != low - 2)
                continue;
            contribution one = {{1, 0, 0, 0, 0}};
            const int64_t values[] = {a, b};
            for (int i = 0; i < 2; i++) {
                if (values[i] == low - 2)
                    continue;
                one.value[1]++;
                if (values[i] == low - 1)
                    continue;
                double d = (double)(values[i] - c);
                one.value[2]++;
                one.value[3] += d;
                one.value[4] += d * d - (double)k;
            }
            out[count++] = one;
        }
    return count;
}

/* Largest cost of one cell that changes from one contribution to another, p = 1 or 2. */
static double cell_cost(const brume_measure *measures, const size_t *which, size_t count,
                        const contribution *from, const contribution *to, int p)
{
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        double moved = fabs(from->value[which[i]] - to->value[which[i]]) / measures[i].scale;
        total += p == 1 ? moved : moved * moved;
    }
    return total;
}

/* The dearest pair of neighbours: cells are independent but for the bound of `groups` cells each
 * side, so the worst is a knapsack over (cells used before, cells used after). */
static double worst_neighbours(double gain, double stay, const brume_shape *shape)
{
    double worst = 0;
    int cells = (int)shape->cells, groups = (int)shape->max_groups;
    for (int both = 0; both <= cells; both++)
        for (int before = 0; before + both <= cells; before++)
            for (int after = 0; after + before + both <= cells; after++) {
                if (before + both > groups || after + both > groups)
                    continue;
                if (!shape->replace && both + after > 0) /* one side is empty */
                    continue;
                worst = fmax(worst, both * stay + (before + after) * gain);
            }
    return worst;
}

static void the_price_is_met_with_equality_by_the_worst_neighbours(void **state)
{
    (void)state;
    brume_error error = {0};
    const brume_measure_kind kinds[] = {BRUME_MEASURE_UNITS, BRUME_MEASURE_ROWS,
                                        BRUME_MEASURE_VALUES, BRUME_MEASURE_CENTRED,
                                        BRUME_MEASURE_SQUARES};
    const int64_t bounds[][2] = {{0, 4}, {-3, 2}, {0, 1}, {5, 10}};
    size_t tight = 0, checked = 0;
    for (unsigned subset = 1; subset < 32; subset++) {
        if ((subset & 16) && !(subset & 8))
            continue; /* squares come with the sum */
        for (size_t b = 0; b < 4; b++)
            for (int rows = 1; rows <= ROWS_MOST; rows++)
                for (uint64_t groups = 1; groups <= 2; groups++)
                    for (uint64_t cells = 1; cells <= CELLS_MOST; cells++)
                        for (int replace = 0; replace <= 1; replace++)
                            for (int p = 1; p <= 2; p++) {
                                brume_measure measures[5];
                                size_t which[5], count = 0;
                                for (size_t i = 0; i < 5; i++)
                                    if (subset >> i & 1) {
                                        which[count] = i;
                                        measures[count++] = (brume_measure){.kind = kinds[i],
                                                                            .expression = 1,
                                                                            .low = bounds[b][0],
                                                                            .high = bounds[b][1]};
                                    }
                                brume_shape shape = {.max_groups = groups,
                                                     .max_rows = (uint64_t)rows,
                                                     .cells = cells,
                                                     .replace = replace};
                                brume_price price;
                                if (p == 1)
                                    assert_ok(brume_price_laplace(measures, count, &shape, 1, 0,
                                                                  &price, &error));
                                else
                                    assert_ok(brume_price_concentrated(measures, count, &shape, 0.5,
                                                                       0, &price, &error));
                                contribution all[128];
                                size_t n = contributions(rows, bounds[b][0], bounds[b][1], all);
                                double gain = 0, stay = 0;
                                for (size_t i = 1; i < n; i++) {
                                    gain = fmax(gain, cell_cost(measures, which, count, &all[0],
                                                                &all[i], p));
                                    for (size_t j = 1; j < n; j++)
                                        stay = fmax(stay, cell_cost(measures, which, count, &all[j],
                                                                    &all[i], p));
                                }
                                double worst = worst_neighbours(gain, stay, &shape);
                                assert_holds(worst <= 1 + 1e-12);
                                tight += worst > 1 - 1e-9;
                                checked++;
                            }
    }
    /* An upper bound that is met in most plans; where it is not, the bounds' parity or a real d in
     * place of an integer one costs a little. */
    assert_holds(checked == 23 * 4 * 2 * 2 * 4 * 2 * 2);
    assert_holds(tight * 10 > checked * 7);
}

/* Where the number of rows is public each unit has one row in the one cell before and after, NULL
 * or a value. Rejects: a price that is lower than that, and one in which units still come or go. */
static void public_rows_cost_what_a_replaced_row_moves(void **state)
{
    (void)state;
    brume_error error = {0};
    const brume_measure_kind kinds[] = {BRUME_MEASURE_UNITS, BRUME_MEASURE_ROWS,
                                        BRUME_MEASURE_VALUES, BRUME_MEASURE_CENTRED,
                                        BRUME_MEASURE_SQUARES};
    const int64_t bounds[][2] = {{0, 4}, {-4, 2}, {5, 11}};
    size_t tight = 0, checked = 0, cheaper = 0;
    for (unsigned subset = 4; subset < 32; subset++)
        for (size_t b = 0; b < 3 && (!(subset & 16) || (subset & 8)); b++)
            for (int p = 1; p <= 2; p++) {
                brume_measure measures[5];
                size_t which[5], count = 0;
                for (size_t i = 0; i < 5; i++)
                    if (subset >> i & 1) {
                        which[count] = i;
                        measures[count++] = (brume_measure){.kind = kinds[i],
                                                            .expression = 1,
                                                            .low = bounds[b][0],
                                                            .high = bounds[b][1]};
                    }
                brume_shape shape = one_cell;
                shape.replace = shape.public_rows = true;
                brume_price price;
                assert_ok(p == 1
                              ? brume_price_laplace(measures, count, &shape, 1, 0, &price, &error)
                              : brume_price_concentrated(measures, count, &shape, 0.5, 0, &price,
                                                         &error));
                contribution all[128];
                size_t n = contributions(1, bounds[b][0], bounds[b][1], all);
                double gain = 0, stay = 0;
                for (size_t i = 1; i < n; i++)
                    for (size_t j = 0; j < n; j++)
                        if (j > 0)
                            stay =
                                fmax(stay, cell_cost(measures, which, count, &all[j], &all[i], p));
                        else
                            gain =
                                fmax(gain, cell_cost(measures, which, count, &all[j], &all[i], p));
                assert_holds(stay <= 1 + 1e-12);
                tight += stay > 1 - 1e-9;
                cheaper += gain > 1 + 1e-9; /* a control: dearer where a unit could come or go */
                checked++;
            }
    printf("# %zu of %zu met, %zu for less\n", tight, checked, cheaper);
    assert_holds(tight * 10 > checked * 6 && cheaper * 10 > checked); /* whole d: see above */
    brume_measure units[] = {{.kind = BRUME_MEASURE_UNITS}};
    brume_shape shape = one_cell;
    shape.replace = shape.public_rows = true;
    brume_price price;
    assert_ok(brume_price_laplace(units, 1, &shape, 1, 0, &price, &error)); /* what moves nothing */
    assert_close(units[0].scale, 1, 1e-12);
}

/* SUM by itself, bounds of all signs: R rows of NULL, a bound, or 0 rows, in each of K cells. */
static void a_direct_sum_costs_what_the_worst_neighbours_move(void **state)
{
    (void)state;
    brume_error error = {0};
    const int64_t bounds[][2] = {{0, 2}, {-1, 2}, {-3, -1}, {1, 3}, {-2, 2}};
    size_t tight = 0, checked = 0;
    for (size_t b = 0; b < 5; b++)
        for (int rows = 1; rows <= 2; rows++)
            for (uint64_t groups = 1; groups <= 2; groups++)
                for (uint64_t cells = 1; cells <= 3; cells++)
                    for (int replace = 0; replace <= 1; replace++)
                        for (int p = 1; p <= 2; p++) {
                            brume_measure sum[] = {{.kind = BRUME_MEASURE_DIRECT,
                                                    .expression = 1,
                                                    .low = bounds[b][0],
                                                    .high = bounds[b][1]}};
                            brume_shape shape = {.max_groups = groups,
                                                 .max_rows = (uint64_t)rows,
                                                 .cells = cells,
                                                 .replace = replace};
                            brume_price price;
                            if (p == 1)
                                assert_ok(
                                    brume_price_laplace(sum, 1, &shape, 1, 0, &price, &error));
                            else
                                assert_ok(brume_price_concentrated(sum, 1, &shape, 0.5, 0, &price,
                                                                   &error));
                            double low = fmin(0, (double)(rows * bounds[b][0]));
                            double high = fmax(0, (double)(rows * bounds[b][1]));
                            double gain = pow(fmax(-low, high) / sum[0].scale, p);
                            double stay = pow((high - low) / sum[0].scale, p);
                            double worst = worst_neighbours(gain, stay, &shape);
                            assert_holds(worst <= 1 + 1e-12);
                            tight += worst > 1 - 1e-9;
                            checked++;
                        }
    assert_int_equal(checked, 5 * 2 * 2 * 3 * 2 * 2);
    assert_int_equal(tight, checked); /* met by every plan */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_scales_are_sensitivity_times_measures_times_groups),
        cmocka_unit_test(a_staying_unit_costs_what_the_enumeration_says),
        cmocka_unit_test(gaussian_thresholds_meet_the_vectors_of_stable_histograms),
        cmocka_unit_test(laplace_thresholds_are_the_least_that_delta_allows),
        cmocka_unit_test(discrete_gaussian_thresholds_use_their_own_tail),
        cmocka_unit_test(bad_prices_are_refused_and_touch_nothing),
        cmocka_unit_test(the_price_is_met_with_equality_by_the_worst_neighbours),
        cmocka_unit_test(public_rows_cost_what_a_replaced_row_moves),
        cmocka_unit_test(a_direct_sum_costs_what_the_worst_neighbours_move),
    };
    return cmocka_run_group_tests_name("price", tests, NULL, NULL);
}
