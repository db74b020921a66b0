/* Windows by brute force: every day of the calendar against a calendar that only counts, and sets
 * against one bit per window. The last test plants faults into the numbering and finds them. */
#include "check.h"

#include <stdlib.h>

#include "ledger/window.h"

static brume_error error;

static brume_window_grid grid_of(const char *length, const char *offset)
{
    brume_window_grid grid = {0};
    assert_ok(brume_window_grid_parse(length, offset, &grid, &error));
    return grid;
}

/* A calendar that counts days from 0001-01-01, a Monday. */
typedef struct counted {
    int year, month, day, weekday; /* weekday 0: Monday */
} counted;

static void count_on(counted *c)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = c->year % 4 == 0 && (c->year % 100 != 0 || c->year % 400 == 0);
    c->weekday = (c->weekday + 1) % 7;
    if (++c->day <= lengths[c->month - 1] + (leap && c->month == 2))
        return;
    c->day = 1;
    if (++c->month <= 12)
        return;
    c->month = 1;
    c->year++;
}

/* Does a window of this length begin on that day? */
static bool begins(const brume_window_grid *grid, const counted *c, int64_t day)
{
    switch (grid->length) {
    case BRUME_WINDOW_WEEK:
        return c->weekday == 0;
    case BRUME_WINDOW_MONTH:
        return c->day == 1;
    case BRUME_WINDOW_QUARTER:
        return c->day == 1 && c->month % 3 == 1;
    case BRUME_WINDOW_YEAR:
        return c->day == 1 && c->month == 1;
    case BRUME_WINDOW_DAYS:
        return llabs(day - grid->origin) % grid->days == 0;
    default:
        return true;
    }
}

typedef int64_t numbering(const brume_window_grid *grid, int64_t day);

/* The days on which the numbering does not count one further exactly where a window begins, or on
 * which a window does not contain itself. */
static uint64_t faults(const brume_window_grid *grid, numbering *number)
{
    counted at = {1, 1, 1, 0};
    uint64_t wrong = 0;
    int64_t before = number(grid, BRUME_WINDOW_FIRST_DAY);
    for (int64_t day = BRUME_WINDOW_FIRST_DAY; day < BRUME_WINDOW_LAST_DAY; day++) {
        count_on(&at);
        int64_t next = number(grid, day + 1);
        bool starts = begins(grid, &at, day + 1);
        wrong += next != before + starts;
        wrong += starts && brume_window_first_day(grid, next) != day + 1;
        before = next;
    }
    assert_int_equal(at.year, 9999);
    assert_int_equal(at.day, 31);
    return wrong;
}

static const char *const lengths[] = {
    "day", "week", "month", "quarter", "year", "14d from 2026-01-05", "3d from 1969-12-31"};

static void every_day_is_in_the_window_that_began_last(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        brume_window_grid grid = grid_of(lengths[i], NULL);
        assert_int_equal(faults(&grid, brume_window_of_day), 0);
        assert_int_equal(brume_window_least(&grid),
                         brume_window_of_day(&grid, BRUME_WINDOW_FIRST_DAY));
        assert_int_equal(brume_window_greatest(&grid),
                         brume_window_of_day(&grid, BRUME_WINDOW_LAST_DAY));
    }
    brume_window_grid year = grid_of("year", NULL);
    assert_int_equal(brume_window_of_day(&year, 0), 0);
    assert_int_equal(brume_window_of_day(&year, -1), -1);
    /* a value outside of the calendar counts as NULL before it gets here; here it has an end */
    assert_int_equal(brume_window_of_day(&year, INT64_MAX), 9999 - 1970);
}

static int64_t truncated(const brume_window_grid *grid, int64_t day)
{
    return grid->length == BRUME_WINDOW_WEEK ? (day + 3) / 7 : (day - grid->origin) / grid->days;
}

static int64_t from_sunday(const brume_window_grid *grid, int64_t day)
{
    return brume_window_of_day(grid, day + 1);
}

static void faults_of_numbering_are_found(void **state)
{
    (void)state;
    brume_window_grid week = grid_of("week", NULL), days = grid_of("14d from 2026-01-05", NULL);
    assert_true(faults(&week, truncated) > 0);
    assert_true(faults(&days, truncated) > 0);
    assert_true(faults(&week, from_sunday) > 0);
}

static void an_instant_is_in_the_window_of_its_local_day(void **state)
{
    (void)state;
    static const char *const offsets[] = {"", "+02:00", "-11:30", "+14:00"};
    static const int64_t seconds[] = {0, 7200, -41400, 50400};
    const int64_t day_us = BRUME_WINDOW_MICROSECONDS, hour_us = day_us / 24;
    for (size_t o = 0; o < 4; o++) {
        brume_window_grid hour = grid_of("hour", offsets[o]), day = grid_of("day", offsets[o]);
        for (int64_t n = -60; n <= 60; n++) {
            int64_t edge = n * day_us - seconds[o] * 1000000;
            assert_int_equal(brume_window_first_instant(&day, n), edge);
            assert_int_equal(brume_window_of_instant(&day, edge), n);
            assert_int_equal(brume_window_of_instant(&day, edge - 1), n - 1);
            edge = n * hour_us - seconds[o] * 1000000;
            assert_int_equal(brume_window_first_instant(&hour, n), edge);
            assert_int_equal(brume_window_of_instant(&hour, edge), n);
            assert_int_equal(brume_window_of_instant(&hour, edge - 1), n - 1);
        }
        char text[BRUME_WINDOW_TEXT];
        assert_string_equal(brume_window_offset_text(&day, text), o ? offsets[o] : "+00:00");
    }
}

static void labels_name_windows_and_come_back(void **state)
{
    (void)state;
    static const struct {
        const char *length;
        int64_t day;
        const char *label;
    } known[] = {{"day", 20456, "2026-01-03"}, {"week", 20456, "2025-12-29"},
                 {"month", 20456, "2026-01"},  {"quarter", 20456, "2026-Q1"},
                 {"year", 20456, "2026"},      {"14d from 2026-01-05", 20456, "2025-12-22"},
                 {"quarter", -1, "1969-Q4"},   {"month", -719162, "0001-01"}};
    char label[BRUME_WINDOW_LABEL], text[BRUME_WINDOW_TEXT];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        brume_window_grid grid = grid_of(known[i].length, NULL);
        int64_t number = brume_window_of_day(&grid, known[i].day), back;
        assert_string_equal(brume_window_label(&grid, number, label), known[i].label);
        assert_ok(brume_window_parse(&grid, known[i].label, &back, &error));
        assert_int_equal(back, number);
        assert_string_equal(brume_window_length_text(&grid, text), known[i].length);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        brume_window_grid grid = grid_of(lengths[i], NULL);
        for (int64_t n = -2000; n < 2000; n++) {
            int64_t back;
            if (n < brume_window_least(&grid))
                continue;
            assert_ok(
                brume_window_parse(&grid, brume_window_label(&grid, n, label), &back, &error));
            assert_int_equal(back, n);
        }
    }
    brume_window_grid hour = grid_of("hour", NULL), month = grid_of("month", NULL);
    int64_t back;
    assert_ok(brume_window_parse(&hour, "1969-12-31T23", &back, &error));
    assert_int_equal(back, -1);
    assert_string_equal(brume_window_label(&hour, -1, label), "1969-12-31T23");
    assert_ok(brume_window_parse(&month, "2026-01-17", &back, &error));
    assert_string_equal(brume_window_label(&month, back, label), "2026-01");
    static const char *const bad[] = {"",        "2026-02-30", "2026-13", "26-01-01",
                                      "2026-Q5", "0000-01-01", "x",       "2026-01-03 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(brume_window_parse(&month, bad[i], &back, &error), BRUME_EARGUMENT);
    assert_fails(brume_window_parse(&hour, "2026-01-03T24", &back, &error), BRUME_EARGUMENT);
}

static void values_are_windows_and_all_others_are_one(void **state)
{
    (void)state;
    static const char *const towns[] = {"Cluny", "Dole"};
    brume_window_grid grid = {.value_count = 2, .values = towns};
    assert_ok(brume_window_grid_parse("values", NULL, &grid, &error));
    char label[BRUME_WINDOW_LABEL];
    int64_t number;
    assert_int_equal(brume_window_of_value(&grid, "Dole"), 1);
    assert_int_equal(brume_window_of_value(&grid, "Dol"), 2);
    assert_string_equal(brume_window_label(&grid, 1, label), "Dole");
    assert_ok(brume_window_parse(&grid, brume_window_label(&grid, 2, label), &number, &error));
    assert_int_equal(number, 2);
    assert_int_equal(brume_window_greatest(&grid), 2);
    assert_fails(brume_window_parse(&grid, "Lyon", &number, &error), BRUME_EARGUMENT);
}

static void lengths_and_offsets_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "days",
                                      "14d",
                                      "0d from 2026-01-01",
                                      "14d from 2026-02-30",
                                      "Day",
                                      "-3d from 2026-01-01",
                                      "14d from 2026-01-01 "};
    static const char *const zones[] = {"Europe/Paris", "+2", "+18:01", "02:00", "+00:60", "+0200"};
    brume_window_grid grid = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(brume_window_grid_parse(bad[i], NULL, &grid, &error), BRUME_EARGUMENT);
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
        assert_fails(brume_window_grid_parse("day", zones[i], &grid, &error), BRUME_EARGUMENT);
    assert_fails(brume_window_grid_parse("values", "+02:00", &grid, &error), BRUME_EARGUMENT);
}

enum { BITS = 40 };

static uint64_t bits_of(const brume_window_set *set)
{
    uint64_t bits = (uint64_t)set->undated << BITS, size = 0;
    for (size_t i = 0; i < set->count; i++) {
        assert_true(set->ranges[i].first <= set->ranges[i].last);
        assert_true(i == 0 || set->ranges[i - 1].last + 1 < set->ranges[i].first);
    }
    for (int64_t w = 0; w < BITS; w++)
        bits |= (uint64_t)brume_window_set_contains(set, w - 20) << w;
    for (int w = 0; w <= BITS; w++)
        size += bits >> w & 1;
    assert_int_equal(brume_window_set_size(set), size);
    return bits;
}

static uint32_t next(uint32_t *seed)
{
    return *seed = *seed * 1664525 + 1013904223;
}

static void random_set(uint32_t *seed, brume_window_set *set, uint64_t *bits)
{
    *set = (brume_window_set){.undated = next(seed) >> 31};
    *bits = (uint64_t)set->undated << BITS;
    for (uint32_t ranges = (next(seed) >> 16) % 6; ranges > 0; ranges--) {
        int64_t first = (next(seed) >> 16) % BITS, last = first + (next(seed) >> 16) % 9 - 2;
        last = last < BITS ? last : BITS - 1;
        assert_ok(brume_window_set_add(set, first - 20, last - 20, &error));
        for (int64_t w = first; w <= last; w++)
            *bits |= UINT64_C(1) << w;
    }
}

static void sets_are_what_one_bit_per_window_is(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        brume_window_set a, b, both = {0};
        uint64_t x, y;
        random_set(&seed, &a, &x);
        random_set(&seed, &b, &y);
        assert_true(bits_of(&a) == x && bits_of(&b) == y);
        assert_true(brume_window_set_equal(&a, &b) == (x == y));
        assert_true(brume_window_set_is_empty(&a) == (x == 0));
        assert_ok(brume_window_set_union(&a, &b, &both, &error));
        assert_true(bits_of(&both) == (x | y));
        assert_ok(brume_window_set_intersect(&a, &b, &b, &error));
        assert_true(bits_of(&b) == (x & y));
        brume_window_set_free(&a);
        brume_window_set_free(&b);
        brume_window_set_free(&both);
    }
    brume_window_set all = {0};
    assert_ok(brume_window_set_add(&all, 5, INT64_MAX, &error));
    assert_ok(brume_window_set_add(&all, 7, 9, &error));
    assert_ok(brume_window_set_add(&all, INT64_MIN, 4, &error));
    assert_int_equal(all.count, 1);
    brume_window_set_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_is_in_the_window_that_began_last),
        cmocka_unit_test(faults_of_numbering_are_found),
        cmocka_unit_test(an_instant_is_in_the_window_of_its_local_day),
        cmocka_unit_test(labels_name_windows_and_come_back),
        cmocka_unit_test(values_are_windows_and_all_others_are_one),
        cmocka_unit_test(lengths_and_offsets_that_are_none_are_refused),
        cmocka_unit_test(sets_are_what_one_bit_per_window_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
