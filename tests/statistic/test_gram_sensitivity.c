/* The sensitivities of a Gram matrix are those of the worst rows, met exactly: neither too little
 * noise nor twice as much as is needed. */
#include "check.h"

#include <stdbool.h>
#include <string.h>

#include <brume/statistic/gram.h>

static brume_error error;

enum { MOST_COLUMNS = 4, MOST_ENTRIES = MOST_COLUMNS * (MOST_COLUMNS + 1) / 2 };

/* Entries of the matrix of one row; all 0 for none. */
static void entries_of(size_t columns, int64_t norm, const int64_t *row, double *out)
{
    brume_gram *gram = NULL;
    assert_ok(brume_gram_open(columns, norm, &gram, &error));
    if (row)
        brume_gram_add(gram, row);
    for (size_t i = 0; i < brume_gram_size(gram); i++)
        out[i] = (double)brume_gram_entry(gram, i);
    brume_gram_close(gram);
}

typedef struct distances {
    double l1, l2;
} distances;

/* The largest distances of two rows from the integers of [-reach, reach]; add-remove: of one from
 * none. */
static distances worst(size_t columns, int64_t norm, int reach, bool replace)
{
    enum { ROWS = 1000 };
    static double all[ROWS][MOST_ENTRIES];
    size_t count = 0, entries = columns * (columns + 1) / 2;
    int64_t row[MOST_COLUMNS];
    for (size_t i = 0; i < columns; i++)
        row[i] = -reach;
    for (bool done = false; !done;) {
        assert_true(count < ROWS);
        entries_of(columns, norm, row, all[count++]);
        size_t at = 0;
        while (at < columns && ++row[at] > reach)
            row[at++] = -reach;
        done = at == columns;
    }
    distances most = {0, 0};
    const double nothing[MOST_ENTRIES] = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < (replace ? i : 1); j++) {
            const double *other = replace ? all[j] : nothing;
            double l1 = 0, l2 = 0;
            for (size_t e = 0; e < entries; e++) {
                l1 += fabs(all[i][e] - other[e]);
                l2 += (all[i][e] - other[e]) * (all[i][e] - other[e]);
            }
            most.l1 = fmax(most.l1, l1);
            most.l2 = fmax(most.l2, sqrt(l2));
        }
    return most;
}

/* Rejects: a factor 2 too much or too little, under either adjacency. */
static void sensitivities_are_met_by_the_worst_rows(void **state)
{
    (void)state;
    /* of the norm 2, so that (1, 1, 1, 1) and (2, 0, ..) are among the rows; and one column */
    static const struct {
        size_t columns;
        double l1, l1_replace, l2, l2_replace;
    } cases[] = {{1, 4, 4, 4, 4}, {4, 10, 20, 4, 5.6568542494923806}};
    for (size_t i = 0; i < 2; i++)
        for (int replace = 0; replace <= 1; replace++) {
            brume_gram *gram = NULL;
            double l1 = 0, l2 = 0;
            brume_adjacency adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
            assert_ok(brume_gram_open(cases[i].columns, 2, &gram, &error));
            assert_ok(brume_gram_sensitivity_l1_upper(gram, adjacency, &l1, &error));
            assert_ok(brume_gram_sensitivity_l2_upper(gram, adjacency, &l2, &error));
            brume_gram_close(gram);
            assert_true(l1 == (replace ? cases[i].l1_replace : cases[i].l1));
            assert_close(l2, replace ? cases[i].l2_replace : cases[i].l2, 1e-15);
            distances met = worst(cases[i].columns, 2, 2, replace);
            assert_holds(met.l1 <= l1 && met.l2 <= l2 * (1 + 1e-15));
            assert_holds(met.l2 >= l2 * (1 - 1e-15));
            if (!replace || cases[i].columns == 1) /* the bound of two rows is not met by many */
                assert_holds(met.l1 == l1);
        }
}

/* The entries of a row with ones, of one row; `ones` 0: the mutant, where the last coordinate is
 * not the same in all rows. */
static void with_ones(size_t columns, int64_t u, const int64_t *row, bool ones, double *out)
{
    brume_gram *gram = NULL;
    int64_t norm = u * (int64_t)columns; /* norm^2 >= columns u^2 */
    norm = columns == 4 ? 2 * u : norm;  /* exactly */
    if (ones)
        assert_ok(brume_gram_open_with_ones(columns, norm, &gram, &error));
    else
        assert_ok(brume_gram_open(columns, norm, &gram, &error));
    brume_gram_add(gram, row);
    for (size_t i = 0; i < brume_gram_size(gram); i++)
        out[i] = (double)brume_gram_entry(gram, i);
    brume_gram_close(gram);
}

/* One column and ones, three columns and ones: all pairs of rows on a grid that has the worst ones,
 * -1/2 and -1/4 of the unit, met exactly. Rejects: less than that, and, as the mutant, rows that
 * leave the box. */
static void ones_make_replacing_cheap(void **state)
{
    (void)state;
    static const struct {
        size_t columns;
        int64_t norm, u;
        int64_t values[5];
        double l1; /* in units of u^2: c (c+2)^2 / (2 (c+1)) */
    } cases[] = {{4, 8, 4, {-4, -1, 0, 2, 4}, 9.375}};
    enum { ROWS = 125, ENTRIES = 10 };
    static double all[2][ROWS][ENTRIES];
    double unit = (double)(cases[0].u * cases[0].u), most[2][2] = {{0}};
    for (int ones = 0; ones < 2; ones++) {
        for (size_t r = 0; r < ROWS; r++) {
            const int64_t *v = cases[0].values;
            int64_t row[4] = {v[r % 5], v[r / 5 % 5], v[r / 25], 0};
            if (!ones) {
                memset(row, 0, sizeof row);
                row[r % 4] = cases[0].norm;
            }
            with_ones(4, cases[0].u, row, ones != 0, all[ones][r]);
        }
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < i; j++) {
                double l1 = 0, l2 = 0;
                for (size_t e = 0; e < ENTRIES; e++) {
                    double apart = fabs(all[ones][i][e] - all[ones][j][e]);
                    l1 += apart;
                    l2 += apart * apart;
                }
                most[ones][0] = fmax(most[ones][0], l1);
                most[ones][1] = fmax(most[ones][1], sqrt(l2));
            }
    }
    brume_gram *gram = NULL;
    double l1 = 0, l2 = 0;
    assert_ok(brume_gram_open_with_ones(4, cases[0].norm, &gram, &error));
    assert_ok(brume_gram_sensitivity_l1_upper(gram, BRUME_REPLACE, &l1, &error));
    assert_ok(brume_gram_sensitivity_l2_upper(gram, BRUME_REPLACE, &l2, &error));
    brume_gram_close(gram);
    assert_true(l2 == 4 * unit);
    assert_holds(l1 >= cases[0].l1 * unit && l1 <= cases[0].l1 * unit + 2);
    assert_true(most[1][0] == cases[0].l1 * unit && most[1][1] == l2);
    assert_holds(most[0][1] > l2);
}

/* Values beyond the unit are cut to it, so that no row leaves the box that the bounds are for. */
static void rows_with_ones_stay_in_their_box(void **state)
{
    (void)state;
    brume_gram *gram = NULL;
    assert_ok(brume_gram_open_with_ones(2, 7, &gram, &error)); /* u = 4: 2 * 16 <= 49 < 2 * 25 */
    brume_gram_add(gram, (const int64_t[]){-100});
    assert_int_equal(brume_gram_entry(gram, 0), 16);
    assert_int_equal(brume_gram_entry(gram, 1), -16);
    assert_int_equal(brume_gram_entry(gram, 2), 16);
    double l1 = 0;
    assert_ok(brume_gram_sensitivity_l1_upper(gram, BRUME_REPLACE, &l1, &error));
    assert_holds(l1 >= 36 && l1 <= 38); /* 9/4 u^2 */
    assert_ok(brume_gram_sensitivity_l1_upper(gram, BRUME_ADD_REMOVE, &l1, &error));
    assert_holds(l1 >= 48); /* three entries of u^2 */
    brume_gram_close(gram);
    gram = NULL;
    assert_fails(brume_gram_open_with_ones(1, 7, &gram, &error), BRUME_EARGUMENT);
    assert_fails(brume_gram_open_with_ones(64, 7, &gram, &error), BRUME_EARGUMENT);
    assert_true(gram == NULL);
}

static void other_adjacencies_have_no_sensitivity(void **state)
{
    (void)state;
    brume_gram *gram = NULL;
    double out = 42;
    assert_ok(brume_gram_open(2, 3, &gram, &error));
    assert_fails(brume_gram_sensitivity_l1_upper(gram, BRUME_EDGE, &out, &error), BRUME_EARGUMENT);
    assert_fails(brume_gram_sensitivity_l2_upper(gram, BRUME_EDGE, &out, &error), BRUME_EARGUMENT);
    assert_true(out == 42);
    brume_gram_close(gram);
}

/* Sums beyond 2^62 are cut there: they stay integers of 64 bits, and move no further apart. */
static void entries_saturate_on_either_side(void **state)
{
    (void)state;
    const int64_t limit = INT64_C(1) << 62, norm = INT64_C(1) << 23;
    const int64_t row[2] = {norm / 2, -norm / 2};
    brume_gram *gram = NULL;
    assert_ok(brume_gram_open(2, norm, &gram, &error));
    for (int i = 0; i < 300000; i++)
        brume_gram_add(gram, row);
    size_t above = 0, below = 0;
    for (size_t i = 0; i < brume_gram_size(gram); i++) {
        above += brume_gram_entry(gram, i) == limit;
        below += brume_gram_entry(gram, i) == -limit;
    }
    assert_int_equal(above, 2);
    assert_int_equal(below, 1);
    brume_gram_close(gram);
}

/* Squares of long rows exceed 64 bits in some of these, and the sum of 16 squares of 2^30 is 2^64.
 * Rejects: a box that one side or one column of a row escapes, a column that is not scaled. */
static void rows_of_any_length_are_within_the_ball(void **state)
{
    (void)state;
    const int64_t long_ones[] = {INT64_C(1) << 28, INT64_C(1) << 30, (INT64_C(1) << 30) + 7,
                                 INT64_C(1) << 40, INT64_MAX,        INT64_MIN};
    const size_t most = BRUME_GRAM_MOST_COLUMNS, widths[] = {1, 2, 16, 17, most};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t l = 0; l < sizeof long_ones / sizeof *long_ones; l++)
            for (int shape = 0; shape < 8; shape++) {
                const int64_t norm = shape < 4 ? INT64_C(1) << 24 : 5;
                int64_t row[BRUME_GRAM_MOST_COLUMNS], one = long_ones[l];
                for (size_t i = 0; i < widths[w]; i++)
                    row[i] = shape % 2 && one != INT64_MIN ? -one : one;
                if (shape & 2) /* one short column, the first or the last */
                    row[l % 2 ? widths[w] - 1 : 0] = 1;
                brume_gram *gram = NULL;
                assert_ok(brume_gram_open(widths[w], norm, &gram, &error));
                brume_gram_add(gram, row);
                double trace = 0, largest = 0;
                for (size_t i = 0, entry = 0; i < widths[w]; i++)
                    for (size_t j = i; j < widths[w]; j++, entry++) {
                        double here = (double)brume_gram_entry(gram, entry);
                        trace += i == j ? here : 0;
                        largest = fmax(largest, fabs(here));
                    }
                double square = (double)(norm * norm);
                assert_holds(trace <= square && largest <= square);
                /* and not much shorter than it: but for what is cut off in each column */
                if (norm > 5 && !(shape & 2 && widths[w] == 1))
                    assert_holds(trace >= square * (1 - 1e-5));
                brume_gram_close(gram);
            }
}

/* Rejects: an open range where a closed one is promised. */
static void columns_and_norms_of_all_sizes_are_accepted(void **state)
{
    (void)state;
    const struct {
        size_t columns;
        int64_t norm;
        bool good;
    } cases[] = {{0, 9, false}, {1, 1, true},   {BRUME_GRAM_MOST_COLUMNS, 1 << 24, true},
                 {1, 0, false}, {65, 9, false}, {1, (1 << 24) + 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_gram *gram = NULL;
        if (cases[i].good)
            assert_ok(brume_gram_open(cases[i].columns, cases[i].norm, &gram, &error));
        else
            assert_fails(brume_gram_open(cases[i].columns, cases[i].norm, &gram, &error),
                         BRUME_EARGUMENT);
        assert_true((gram != NULL) == cases[i].good);
        brume_gram_close(gram);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sensitivities_are_met_by_the_worst_rows),
        cmocka_unit_test(ones_make_replacing_cheap),
        cmocka_unit_test(rows_with_ones_stay_in_their_box),
        cmocka_unit_test(other_adjacencies_have_no_sensitivity),
        cmocka_unit_test(entries_saturate_on_either_side),
        cmocka_unit_test(rows_of_any_length_are_within_the_ball),
        cmocka_unit_test(columns_and_norms_of_all_sizes_are_accepted),
    };
    return cmocka_run_group_tests_name("gram_sensitivity", tests, NULL, NULL);
}
