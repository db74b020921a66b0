/* Tables that add up: the fit is the projection that it says it is, its variances are those of the
 * formula and of the integer contrasts, and rounded tables add up to the last digit. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/price/error_bar.h"
#include "synthetic/consistent.h"

enum { COLUMNS = 6, SETS = 64, CELLS = 1024, STRUCTURES = 1000 };

typedef struct structure {
    size_t sizes[COLUMNS], columns, count;
    uint64_t sets[SETS];
    double weights[SETS];
} structure;

static uint64_t state_of_tests = 1;

static double uniform(void) /* of a fixed sequence */
{
    state_of_tests = state_of_tests * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state_of_tests >> 11) * 0x1p-53;
}

static double near_normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

static size_t below(size_t bound)
{
    return (size_t)(uniform() * (double)bound);
}

static structure random_structure(size_t most_columns, size_t most_values)
{
    structure made = {.columns = 1 + below(most_columns)};
    for (size_t i = 0; i < made.columns; i++)
        made.sizes[i] = 1 + below(most_values);
    for (uint64_t mask = 0; mask < UINT64_C(1) << made.columns; mask++)
        if (uniform() < 0.4 || (made.count == 0 && mask + 1 == UINT64_C(1) << made.columns)) {
            made.weights[made.count] = 0.25 + uniform();
            made.sets[made.count++] = mask;
        }
    return made;
}

static brume_consistent *open_of(const structure *of, bool weighted)
{
    brume_error error = {0};
    brume_consistent *tables = NULL;
    assert_ok(brume_consistent_open(of->sizes, of->columns, of->sets, weighted ? of->weights : NULL,
                                    of->count, &tables, &error));
    return tables;
}

/* All tables one after the other. */
typedef struct numbers {
    double all[8 * CELLS], *table[SETS];
    size_t count;
} numbers;

static void lay_out(const brume_consistent *tables, const structure *of, numbers *made)
{
    made->count = 0;
    for (size_t s = 0; s < of->count; s++) {
        made->table[s] = made->all + made->count;
        made->count += brume_consistent_cells(tables, s);
    }
    assert_true(made->count <= sizeof made->all / sizeof *made->all);
    memset(made->all, 0, made->count * sizeof *made->all);
}

static size_t base_cells(const structure *of)
{
    size_t cells = 1;
    for (size_t i = 0; i < of->columns; i++)
        cells *= of->sizes[i];
    return cells;
}

/* The place in the table of a set of the cell of all columns with this number. */
static size_t place_in(const structure *of, uint64_t set, size_t cell)
{
    size_t place = 0, stride = 1;
    for (size_t i = of->columns; i-- > 0; cell /= of->sizes[i])
        if (set >> i & 1) {
            place += cell % of->sizes[i] * stride;
            stride *= of->sizes[i];
        }
    return place;
}

static void add_row(const structure *of, numbers *to, size_t cell, double by)
{
    for (size_t s = 0; s < of->count; s++)
        to->table[s][place_in(of, of->sets[s], cell)] += by;
}

static void fit(const brume_consistent *tables, const numbers *of)
{
    brume_error error = {0};
    assert_ok(brume_consistent_fit(tables, of->table, &error));
}

/* Does the sum of a table over the columns that a smaller one has not equal that one? */
static double largest_gap(const structure *of, const numbers *made)
{
    double most = 0;
    for (size_t s = 0; s < of->count; s++)
        for (size_t t = 0; t < of->count; t++) {
            double sums[CELLS] = {0};
            if (of->sets[t] & ~of->sets[s])
                continue;
            structure part = {.columns = 0}; /* the columns of set s */
            uint64_t kept = 0;
            size_t cells = 1;
            for (size_t i = 0; i < of->columns; i++)
                if (of->sets[s] >> i & 1) {
                    kept |= (of->sets[t] >> i & 1) << part.columns;
                    part.sizes[part.columns++] = of->sizes[i];
                    cells *= of->sizes[i];
                }
            for (size_t i = 0; i < cells; i++)
                sums[place_in(&part, kept, i)] += made->table[s][i];
            for (size_t i = 0; i < cells; i++)
                most = fmax(most, fabs(sums[place_in(&part, kept, i)] -
                                       made->table[t][place_in(&part, kept, i)]));
        }
    return most;
}

static void the_fit_is_the_projection(void **state)
{
    (void)state;
    static numbers noisy, before;
    for (int round = 0; round < STRUCTURES; round++) {
        structure of = random_structure(4, 4);
        brume_consistent *tables = open_of(&of, true);
        lay_out(tables, &of, &noisy);
        /* exact where the tables agree */
        for (size_t i = 0; i < base_cells(&of); i++)
            add_row(&of, &noisy, i, (double)below(100));
        before = noisy;
        fit(tables, &noisy);
        for (size_t i = 0; i < noisy.count; i++)
            assert_true(fabs(noisy.all[i] - before.all[i]) < 1e-9);
        /* what it makes of others agrees, and what it takes away is orthogonal to all that do */
        for (size_t i = 0; i < noisy.count; i++)
            noisy.all[i] = 10 * near_normal();
        before = noisy;
        fit(tables, &noisy);
        assert_true(largest_gap(&of, &noisy) < 1e-9);
        for (size_t cell = 0; cell < base_cells(&of); cell++) {
            double product = 0;
            for (size_t s = 0; s < of.count; s++) {
                size_t at = (size_t)(noisy.table[s] - noisy.all) + place_in(&of, of.sets[s], cell);
                product += of.weights[s] * (before.all[at] - noisy.all[at]);
            }
            assert_true(fabs(product) < 1e-9);
        }
        brume_consistent_close(tables);
    }
}

/* The variance of a cell, from what each number that goes in does to it. */
static void variances_are_those_of_the_formula(void **state)
{
    (void)state;
    static numbers one;
    static double squares[8 * CELLS];
    for (int round = 0; round < 100; round++) {
        structure of = random_structure(3, 4);
        for (int weighted = 0; weighted < 2; weighted++) {
            brume_consistent *tables = open_of(&of, weighted);
            memset(squares, 0, sizeof squares);
            lay_out(tables, &of, &one);
            size_t count = one.count;
            for (size_t s = 0, at = 0; s < of.count; s++)
                for (size_t i = 0; i < brume_consistent_cells(tables, s); i++, at++) {
                    lay_out(tables, &of, &one);
                    one.all[at] = 1;
                    fit(tables, &one);
                    for (size_t k = 0; k < count; k++)
                        squares[k] += one.all[k] * one.all[k] / (weighted ? of.weights[s] : 1);
                }
            for (size_t s = 0, at = 0; s < of.count; s++)
                for (size_t i = 0; i < brume_consistent_cells(tables, s); i++, at++) {
                    double claimed = brume_consistent_variance(tables, s);
                    assert_true(fabs(squares[at] - claimed) < 1e-12 * fmax(1, claimed));
                    /* never noisier than a table by itself */
                    assert_true(claimed < (weighted ? 1 / of.weights[s] : 1) * (1 + 1e-12));
                }
            brume_consistent_close(tables);
        }
    }
}

/* What MARGINALS has for the largest deviation over sets; of a ROLLUP it is 1.92 in place of 1.89.
 */
static void known_variances(void **state)
{
    (void)state;
    static const struct {
        size_t sizes[COLUMNS], columns;
        bool rolls_up;
        double deviation;
    } known[] = {
        {{5, 4, 10}, 3, false, 2.2019},         {{2, 5, 7, 12}, 4, false, 2.6795},
        {{5, 5, 5, 5, 5, 5}, 6, false, 4.6296}, {{2, 2, 2, 2, 2, 2}, 6, false, 2.3704},
        {{13, 20, 10}, 3, true, 1.9235},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        structure of = {.columns = known[i].columns};
        double worst = 0;
        memcpy(of.sizes, known[i].sizes, sizeof of.sizes);
        for (uint64_t mask = 0; mask < UINT64_C(1) << of.columns; mask++)
            if (!known[i].rolls_up || (mask & (mask + 1)) == 0)
                of.sets[of.count++] = mask;
        brume_consistent *tables = open_of(&of, false);
        for (size_t s = 0; s < of.count; s++)
            worst = fmax(worst, brume_consistent_variance(tables, s));
        assert_true(fabs(sqrt(worst * (double)of.count) - known[i].deviation) < 1e-4);
        brume_consistent_close(tables);
    }
}

/* ---- integer contrasts ---- */

/* Which terms of the cost a mutant gets wrong. */
typedef enum mutant { RIGHT, WRONG_NORM, ONE_LEVEL_FEWER } mutant;

/* What the integer contrasts of all tables cost where a unit moves the cells of all columns by
 * `moved`: sum over contrasts h of (h moved)^2 / (sigma_A^2 |h|^2). Of a column with n values the
 * contrasts are the n - 1 Helmert rows (1, ..., 1, -j, 0, ...), of others the row of ones. */
static double cost_of_contrasts(const structure *of, const double *moved, mutant fault)
{
    double cost = 0;
    for (uint64_t mask = 0; mask < UINT64_C(1) << of->columns; mask++) {
        double precision = 0;
        size_t contrasts = 1;
        if (fault == ONE_LEVEL_FEWER && mask == 0)
            continue;
        for (size_t s = 0; s < of->count; s++) {
            double cells = 1;
            for (size_t i = 0; i < of->columns; i++)
                cells *= (of->sets[s] & ~mask) >> i & 1 ? (double)of->sizes[i] : 1;
            precision += mask & ~of->sets[s] ? 0 : 1 / cells;
        }
        for (size_t i = 0; i < of->columns; i++)
            contrasts *= mask >> i & 1 ? of->sizes[i] - 1 : 1;
        for (size_t h = 0; h < contrasts && precision > 0; h++) {
            double value = 0, norm = 1;
            size_t rest = h, row[COLUMNS] = {0};
            for (size_t i = 0; i < of->columns; i++)
                if (mask >> i & 1) {
                    row[i] = 1 + rest % (of->sizes[i] - 1);
                    rest /= of->sizes[i] - 1;
                    norm *= (double)(row[i] * (row[i] + 1));
                }
            for (size_t cell = 0; cell < base_cells(of); cell++) {
                double times = 1;
                size_t left = cell;
                for (size_t i = of->columns; i-- > 0; left /= of->sizes[i]) {
                    size_t k = left % of->sizes[i];
                    if (mask >> i & 1)
                        times *= k < row[i] ? 1 : k == row[i] ? -(double)row[i] : 0;
                }
                value += times * moved[cell];
            }
            cost += value * value * precision / (fault == WRONG_NORM ? sqrt(norm) : norm);
        }
    }
    return cost;
}

/* What separate noise of variance 1 on every table costs. */
static double cost_of_tables(const brume_consistent *tables, const structure *of,
                             const double *moved)
{
    static numbers all;
    double cost = 0;
    lay_out(tables, of, &all);
    for (size_t i = 0; i < base_cells(of); i++)
        add_row(of, &all, i, moved[i]);
    for (size_t i = 0; i < all.count; i++)
        cost += all.all[i] * all.all[i];
    return cost;
}

/* Noise on all tables costs what noise of sigma_A |h| on all contrasts costs, whatever a unit
 * moves: one row more (add-remove), one in place of another (replace), several rows. So the limits
 * and prices of separate sets are those of the contrasts. */
static void contrasts_cost_what_separate_tables_cost(void **state)
{
    (void)state;
    int found[3] = {0};
    bool replace_is_more = false;
    for (int round = 0; round < 100; round++) {
        structure of = random_structure(3, 3);
        brume_consistent *tables = open_of(&of, false);
        size_t cells = base_cells(&of);
        for (size_t a = 0; a < cells; a++)
            for (size_t b = 0; b < cells + 2; b++) {
                double moved[CELLS] = {0};
                moved[a] += 1;
                if (b < cells)
                    moved[b] -= 1; /* b = a: nothing moves */
                else if (b > cells)
                    for (size_t i = 0; i < cells; i++)
                        moved[i] += (double)below(5) - 2;
                double cost = cost_of_tables(tables, &of, moved);
                assert_true(fabs(cost_of_contrasts(&of, moved, RIGHT) - cost) < 1e-9 * (1 + cost));
                for (int m = WRONG_NORM; m <= ONE_LEVEL_FEWER; m++)
                    found[m] += fabs(cost_of_contrasts(&of, moved, (mutant)m) - cost) > 1e-3;
                if (b == cells)
                    assert_true(cost == (double)of.count); /* one row more: the price */
                else if (b < cells)                        /* the price of replace is twice that */
                    assert_true(cost <= 2 * (double)of.count);
                replace_is_more = replace_is_more || (b < cells && cost > (double)of.count);
            }
        brume_consistent_close(tables);
    }
    assert_true(found[WRONG_NORM] > 100 && found[ONE_LEVEL_FEWER] > 100);
    assert_true(replace_is_more); /* a forgotten factor for replace */
}

/* ---- whole numbers ---- */

static void rounded_tables_add_up_exactly(void **state)
{
    (void)state;
    static numbers noisy, before;
    double moved[SETS], sum = 0, allowed = 0;
    for (int round = 0; round < STRUCTURES; round++) {
        brume_error error = {0};
        structure of = random_structure(4, 5);
        brume_consistent *tables = open_of(&of, false);
        lay_out(tables, &of, &noisy);
        double scale = round % 3 ? 10 : 1e9;
        for (size_t i = 0; i < noisy.count; i++)
            noisy.all[i] = scale * near_normal();
        fit(tables, &noisy);
        before = noisy;
        assert_ok(brume_consistent_round(tables, noisy.table, moved, &error));
        assert_true(largest_gap(&of, &noisy) == 0);
        for (size_t i = 0; i < noisy.count; i++)
            assert_true(noisy.all[i] == rint(noisy.all[i]) &&
                        fabs(noisy.all[i] - before.all[i]) < 8);
        for (size_t s = 0; s < of.count; s++) {
            sum += moved[s];
            allowed += brume_consistent_rounding(tables, s);
        }
        brume_consistent_close(tables);
    }
    assert_true(sum < allowed &&
                sum > allowed / 3); /* the bars allow for it, and not for much more */
}

/* Mutant: each number rounded by itself. */
static void numbers_that_are_rounded_by_themselves_do_not_add_up(void **state)
{
    (void)state;
    static numbers noisy;
    structure of = {.sizes = {3, 4}, .columns = 2, .sets = {0, 1, 2, 3}, .count = 4};
    brume_consistent *tables = open_of(&of, false);
    lay_out(tables, &of, &noisy);
    for (size_t i = 0; i < noisy.count; i++)
        noisy.all[i] = 10 * near_normal();
    fit(tables, &noisy);
    for (size_t i = 0; i < noisy.count; i++)
        noisy.all[i] = rint(noisy.all[i]);
    assert_true(largest_gap(&of, &noisy) >= 1);
    brume_consistent_close(tables);
}

/* Many sets of many columns: the allowance of each size of set, for a cube. */
static void a_cube_moves_as_little_as_its_bars_allow(void **state)
{
    (void)state;
    static numbers noisy;
    structure of = {.sizes = {2, 2, 2, 2, 2, 2}, .columns = 6, .count = 64};
    double moved[SETS], sum[SETS] = {0};
    for (size_t s = 0; s < of.count; s++)
        of.sets[s] = s;
    brume_consistent *tables = open_of(&of, false);
    for (int round = 0; round < 200; round++) {
        brume_error error = {0};
        lay_out(tables, &of, &noisy);
        for (size_t i = 0; i < noisy.count; i++)
            noisy.all[i] = 8 * near_normal();
        fit(tables, &noisy);
        assert_ok(brume_consistent_round(tables, noisy.table, moved, &error));
        for (size_t s = 0; s < of.count; s++)
            sum[s] += moved[s] / 200;
    }
    for (size_t s = 0; s < of.count; s++)
        assert_true(sum[s] < 1.1 * brume_consistent_rounding(tables, s));
    brume_consistent_close(tables);
}

/* ---- bars ---- */

/* P[|sum of weight_i L_i| > t], L_i Laplace of scale 1: by the characteristic function. */
static double laplace_tail(const double *weights, size_t count, double t)
{
    double inside = 0, step = 0.002;
    for (double s = step / 2; s < 400; s += step) {
        double log_size = 0;
        for (size_t i = 0; i < count; i++)
            log_size -= log1p(weights[i] * weights[i] * s * s);
        if (log_size < -40)
            break;
        inside += sin(s * t) / s * exp(log_size) * step;
    }
    return 1 - M_2_PI * inside;
}

/* Sums of Laplace noise that a fit makes have shorter tails than one of the same variance. */
static void bars_of_fitted_laplace_noise_cover(void **state)
{
    (void)state;
    static numbers one;
    static double weights[8 * CELLS];
    for (int round = 0; round < 12; round++) {
        structure of = random_structure(3, 4);
        brume_consistent *tables = open_of(&of, false);
        lay_out(tables, &of, &one);
        size_t count = one.count;
        size_t set = below(of.count), cell = (size_t)(one.table[set] - one.all);
        for (size_t at = 0; at < count; at++) {
            lay_out(tables, &of, &one);
            one.all[at] = 1;
            fit(tables, &one);
            weights[at] = one.all[cell];
        }
        double scale = sqrt(brume_consistent_variance(tables, set));
        for (double beta = 0.05; beta > 1e-3; beta /= 5) {
            double width = brume_error_width_fitted(BRUME_NOISE_DISCRETE_LAPLACE, scale, beta);
            double tail = laplace_tail(weights, count, width);
            assert_true(tail < beta + 1e-4);
            /* a mutant: bars 0.7 as long */
            assert_true(laplace_tail(weights, count, 0.7 * width) > 1.5 * beta);
        }
        brume_consistent_close(tables);
    }
}

static void what_cannot_be_fitted_is_refused(void **state)
{
    (void)state;
    brume_error error = {0};
    brume_consistent *tables = NULL;
    const size_t sizes[] = {3, 0}, large[] = {1 << 15, 1 << 15};
    const uint64_t twice[] = {1, 1}, second[] = {2}, both[] = {3}, one[] = {1};
    const double nothing[] = {0};
    assert_int_equal(brume_consistent_open(sizes, 1, twice, NULL, 2, &tables, &error),
                     BRUME_EARGUMENT);
    assert_int_equal(brume_consistent_open(sizes, 2, second, NULL, 1, &tables, &error),
                     BRUME_EARGUMENT);
    assert_int_equal(brume_consistent_open(sizes, 1, one, nothing, 1, &tables, &error),
                     BRUME_EARGUMENT);
    assert_int_equal(brume_consistent_open(large, 2, both, NULL, 1, &tables, &error),
                     BRUME_EUNSUPPORTED);
    assert_int_equal(brume_consistent_open(sizes, 1, one, NULL, 0, &tables, &error),
                     BRUME_EUNSUPPORTED);
    assert_null(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fit_is_the_projection),
        cmocka_unit_test(variances_are_those_of_the_formula),
        cmocka_unit_test(known_variances),
        cmocka_unit_test(contrasts_cost_what_separate_tables_cost),
        cmocka_unit_test(rounded_tables_add_up_exactly),
        cmocka_unit_test(numbers_that_are_rounded_by_themselves_do_not_add_up),
        cmocka_unit_test(a_cube_moves_as_little_as_its_bars_allow),
        cmocka_unit_test(bars_of_fitted_laplace_noise_cover),
        cmocka_unit_test(what_cannot_be_fitted_is_refused),
    };
    return cmocka_run_group_tests_name("consistent tables", tests, NULL, NULL);
}
