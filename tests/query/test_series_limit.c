/* What counts of each unit's rows in a series: the shipped rule, under rows that come, change and
 * go, beside the shipped coefficients, by enumeration; with mutants that are found. */
#include "check.h"

#include <stdlib.h>

#include "mechanism/series/running.h"
#include "query/series/limit.h"

enum { WINDOWS = 4, CELLS = 2, MOST_ROWS = 3, SCHEDULES = 60000 };

static brume_error error;

typedef struct row {
    uint32_t date, comes, goes, cell;
    int64_t value;
} row;

typedef struct schedule {
    row rows[MOST_ROWS];
    int count;
} schedule;

/* The numbers of a whole series because of the rows of one unit, without noise. */
enum { NUMBERS = WINDOWS * CELLS };

static void shift_of(const brume_running *running, const schedule *rows,
                     const brume_series_limit *limit, int64_t out[NUMBERS])
{
    for (uint32_t t = 0; t < WINDOWS; t++) {
        brume_series_row there[MOST_ROWS];
        brume_i128 totals[CELLS * WINDOWS] = {0}, number;
        size_t count = 0;
        for (int i = 0; i < rows->count; i++) {
            const row *one = &rows->rows[i];
            if (one->comes <= t && t < one->goes && one->date <= t)
                /* another order of cells at every close */
                there[count++] = (brume_series_row){0, one->date, one->cell,
                                                    (one->cell + t) % CELLS, one->value};
        }
        brume_series_limit_rows(there, count, limit, totals, t + 1);
        for (size_t cell = 0; cell < CELLS; cell++) {
            brume_running_encode(running, t, &totals[cell * (t + 1)], &number);
            out[t * CELLS + cell] = (int64_t)number;
        }
    }
}

static double square(const int64_t *a, const int64_t *b)
{
    double sum = 0;
    for (int i = 0; i < NUMBERS; i++) {
        double d = (double)(a[i] - (b ? b[i] : 0));
        sum += d * d;
    }
    return sum;
}

/* All schedules of up to `count` rows with these values; `day`: of one window alone (-1: any). */
static size_t all_schedules(schedule *out, int count, int day, bool vanish, const int64_t *values,
                            size_t value_count)
{
    row choices[400];
    size_t choice_count = 0, made = 1;
    for (uint32_t date = 0; date < WINDOWS; date++)
        for (uint32_t comes = date; comes < WINDOWS; comes++)
            for (uint32_t goes = vanish ? comes + 1 : WINDOWS; goes <= WINDOWS; goes++)
                for (uint32_t cell = 0; cell < CELLS; cell++)
                    for (size_t v = 0; v < value_count; v++)
                        if (day < 0 || date == (uint32_t)day)
                            choices[choice_count++] = (row){date, comes, goes, cell, values[v]};
    out[0] = (schedule){.count = 0};
    size_t begin = 0, end = 1;
    for (int n = 0; n < count; n++, begin = end, end = made)
        for (size_t i = begin; i < end; i++)
            for (size_t j = 0; j < choice_count; j++) {
                assert_true(made < SCHEDULES);
                out[made] = out[i];
                out[made].rows[out[made].count++] = choices[j];
                made++;
            }
    return made;
}

static double charged(const brume_running *running, uint64_t limit, bool replace, bool signs)
{
    brume_decimal half;
    brume_charge price;
    brume_running_noise noise;
    assert_ok(brume_decimal_parse("0.5", &half, &error));
    assert_ok(brume_charge_make(BRUME_RULE_CONCENTRATED, &half, NULL, &price, &error));
    assert_ok(brume_running_pay(running, &price, limit, replace, signs, &noise, &error));
    assert_true(noise.denominator == 1);
    return (double)noise.numerator;
}

static double largest(const brume_running *running, const schedule *rows, size_t count,
                      const brume_series_limit *limit)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t shift[NUMBERS];
        shift_of(running, &rows[i], limit, shift);
        most = fmax(most, square(shift, NULL));
    }
    return most;
}

typedef struct setting {
    brume_running *running;
    schedule *rows;
} setting;

static setting open_setting(void)
{
    brume_running_shape shape;
    setting all = {.rows = malloc(SCHEDULES * sizeof *all.rows)};
    assert_non_null(all.rows);
    assert_ok(brume_running_choose(BRUME_RULE_CONCENTRATED, WINDOWS, &shape, &error));
    assert_ok(brume_running_open(&shape, &all.running, &error));
    return all;
}

static void close_setting(setting *all)
{
    brume_running_close(all->running);
    free(all->rows);
}

static const int64_t one[] = {1}, signs[] = {3, -2};

/* Claim 6: rows, units, units ever, and sums with signs; T of 1, 2 and 4. */
static void limits_of_all_time_hold_for_rows_that_are_added(void **state)
{
    (void)state;
    setting all = open_setting();
    for (uint64_t most = 1; most <= 4; most *= 2) {
        double price = charged(all.running, most, false, false);
        for (int rule = BRUME_SERIES_ROWS; rule <= BRUME_SERIES_EVER; rule++) {
            brume_series_limit limit = {most, false, (brume_series_rule)rule};
            size_t count = all_schedules(all.rows, 3, -1, false, one, 1);
            double found = largest(all.running, all.rows, count, &limit);
            assert_true(found <= price);
            if (most == 1)
                assert_true(found == price);
        }
        brume_series_limit limit = {most, false, BRUME_SERIES_ROWS};
        size_t count = all_schedules(all.rows, 2, -1, false, signs, 2);
        double found = largest(all.running, all.rows, count, &limit);
        assert_true(found <= charged(all.running, most, false, true) && found > 0.5 * price);
    }
    /* mutants: single rows vanish; T in each window charged as T in all */
    brume_series_limit limit = {1, false, BRUME_SERIES_ROWS};
    size_t count = all_schedules(all.rows, 2, -1, true, one, 1);
    assert_true(largest(all.running, all.rows, count, &limit) >
                charged(all.running, 1, false, false));
    limit.per_window = true;
    count = all_schedules(all.rows, 2, -1, false, one, 1);
    assert_true(largest(all.running, all.rows, count, &limit) >
                charged(all.running, 1, false, false));
    close_setting(&all);
}

/* All rows of a unit may go at once, at any close, for good. Mutants: the unit comes back with
 * other rows, whose quanta count anew; dates that move. The shares are those of proofs/series.md.
 */
static void units_that_go_are_covered_if_they_stay_away(void **state)
{
    (void)state;
    setting all = open_setting();
    brume_series_limit limit = {2, false, BRUME_SERIES_ROWS};
    double price = charged(all.running, limit.most, false, false), most = 0, back = 0;
    size_t count = all_schedules(all.rows, 2, -1, false, one, 1);
    int64_t(*shifts)[NUMBERS] = malloc(count * sizeof *shifts);
    assert_non_null(shifts);
    for (size_t i = 0; i < count; i++)
        shift_of(all.running, &all.rows[i], &limit, shifts[i]);
    for (uint32_t gone = 1; gone <= WINDOWS; gone++) {
        double before = 0, after = 0; /* the numbers before the unit goes, and from then on */
        for (size_t i = 0; i < count; i++) {
            double early = 0, late = 0;
            for (uint32_t j = 0; j < NUMBERS; j++)
                *(j < gone * CELLS ? &early : &late) += (double)shifts[i][j] * (double)shifts[i][j];
            before = fmax(before, early);
            after = fmax(after, late);
        }
        most = fmax(most, before);
        back = fmax(back, before + after); /* another life's rows */
    }
    assert_true(most == price);
    assert_true(fabs(back / price - 1.68) < 0.005);
    /* mutant: a row whose date is another one at every close */
    double moved = 0;
    for (uint32_t t = 0; t < WINDOWS; t++) {
        brume_series_row moving = {0, t, 0, 0, 2};
        brume_i128 totals[WINDOWS] = {0}, number;
        brume_series_limit_rows(&moving, 1, &limit, totals, t + 1);
        brume_running_encode(all.running, t, totals, &number);
        moved += (double)number * (double)number;
    }
    assert_true(fabs(moved / price - 2.69) < 0.005);
    free(shifts);
    close_setting(&all);
}

/* Claim 5: whatever comes and vanishes in one window. */
static void limits_of_windows_hold_for_rows_that_come_and_vanish(void **state)
{
    (void)state;
    setting all = open_setting();
    for (uint64_t most = 1; most <= 2; most++)
        for (int rule = BRUME_SERIES_ROWS; rule <= BRUME_SERIES_UNITS; rule++)
            for (int day = 0; day < WINDOWS; day++) {
                brume_series_limit limit = {most, true, (brume_series_rule)rule};
                size_t count = all_schedules(all.rows, 2, day, true, signs, 2);
                double found = largest(all.running, all.rows, count, &limit);
                assert_true(found <= charged(all.running, most, false, true));
                if (day == 0 && rule == BRUME_SERIES_ROWS)
                    assert_true(found == charged(all.running, most, false, true));
            }
    close_setting(&all);
}

/* Replace: two schedules of one unit; of values that are not negative 2, with signs 4. */
static void replaced_units_are_within_the_factors(void **state)
{
    (void)state;
    setting all = open_setting();
    for (int negative = 0; negative < 2; negative++) {
        static const int64_t both[] = {1, -1};
        brume_series_limit limit = {1, false, BRUME_SERIES_ROWS};
        double price = charged(all.running, 1, true, negative), most = 0;
        size_t count = all_schedules(all.rows, negative ? 1 : 2, -1, false, both, negative ? 2 : 1);
        int64_t(*shifts)[NUMBERS] = malloc(count * sizeof *shifts);
        assert_non_null(shifts);
        for (size_t i = 0; i < count; i++)
            shift_of(all.running, &all.rows[i], &limit, shifts[i]);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < i; j++)
                most = fmax(most, square(shifts[i], shifts[j]));
        assert_true(most <= price && most > 0.99 * price);
        /* mutant: the factor of the other kind */
        assert_true(!negative || most > charged(all.running, 1, true, false));
        free(shifts);
    }
    close_setting(&all);
}

/* The trap of windows, with one limit for all of them: rows of one window go, and later ones count
 * in their place. That is within what a window pays, 2 or with signs 4 times the square, and above
 * what a whole history pays; with a limit of each window it is within that. */
static void rows_of_one_window_change_a_history_by_as_much_as_replacement(void **state)
{
    (void)state;
    setting all = open_setting();
    for (int negative = 0; negative < 2; negative++) {
        static const int64_t both[] = {1, -1};
        brume_series_limit whole = {1, false, BRUME_SERIES_ROWS},
                           each = {1, true, BRUME_SERIES_ROWS};
        double price = charged(all.running, 1, false, negative), most = 0, most_each = 0;
        size_t count = all_schedules(all.rows, negative ? 2 : 3, -1, false, both, negative ? 2 : 1);
        for (size_t i = 0; i < count; i++)
            for (uint32_t day = 0; day < WINDOWS; day++) {
                int64_t with[NUMBERS], without[NUMBERS];
                schedule left = {.count = 0};
                for (int r = 0; r < all.rows[i].count; r++)
                    if (all.rows[i].rows[r].date != day)
                        left.rows[left.count++] = all.rows[i].rows[r];
                if (left.count == all.rows[i].count)
                    continue;
                shift_of(all.running, &all.rows[i], &whole, with);
                shift_of(all.running, &left, &whole, without);
                most = fmax(most, square(with, without));
                shift_of(all.running, &all.rows[i], &each, with);
                shift_of(all.running, &left, &each, without);
                most_each = fmax(most_each, square(with, without));
            }
        double factor = negative ? 4 : 2;
        assert_true(most <= factor * price && most_each <= price && most_each > 0.99 * price);
        assert_true(most > price * 1.2); /* the price of a history is not enough */
        print_message("# one window: %.3f of what a history pays, %g charged\n", most / price,
                      factor);
    }
    close_setting(&all);
}

/* A unit's own rows alone decide what counts of it: other units do not show. */
static void units_do_not_share_a_limit(void **state)
{
    (void)state;
    brume_series_limit limit = {2, false, BRUME_SERIES_ROWS};
    brume_series_row rows[] = {{1, 0, 0, 0, 1}, {0, 2, 1, 5, 1}, {1, 1, 0, 3, 5},
                               {0, 0, 0, 9, 1}, {0, 3, 0, 0, 1}, {2, 1, 1, 0, -7}};
    brume_i128 totals[CELLS * WINDOWS] = {0};
    brume_series_limit_rows(rows, 6, &limit, totals, WINDOWS);
    static const int expected[] = {2, 1, 0, 0, 0, -2, 1, 0};
    for (int i = 0; i < CELLS * WINDOWS; i++)
        assert_int_equal((int)totals[i], expected[i]);
}

/* A row's own weight counts, not the sum of rows: +5 and -5 fill a limit of 10. The least 64-bit
 * number has a weight too. */
static void rows_are_weighed_before_they_are_added_up(void **state)
{
    (void)state;
    brume_series_limit limit = {10, false, BRUME_SERIES_ROWS};
    brume_series_row rows[] = {{0, 0, 0, 0, 5}, {0, 0, 0, 0, -5}, {0, 1, 0, 0, 3}};
    brume_i128 totals[WINDOWS] = {0};
    brume_series_limit_rows(rows, 3, &limit, totals, WINDOWS);
    assert_true(totals[0] == 0 && totals[1] == 0);
    brume_series_row least[] = {{0, 0, 0, 0, INT64_MIN}};
    brume_series_limit_rows(least, 1, &limit, totals, WINDOWS);
    assert_true(totals[0] == -10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_all_time_hold_for_rows_that_are_added),
        cmocka_unit_test(units_that_go_are_covered_if_they_stay_away),
        cmocka_unit_test(limits_of_windows_hold_for_rows_that_come_and_vanish),
        cmocka_unit_test(replaced_units_are_within_the_factors),
        cmocka_unit_test(rows_of_one_window_change_a_history_by_as_much_as_replacement),
        cmocka_unit_test(units_do_not_share_a_limit),
        cmocka_unit_test(rows_are_weighed_before_they_are_added_up),
    };
    return cmocka_run_group_tests_name("limits of series", tests, NULL, NULL);
}
