/* How many units satisfy a condition: against a count by hand on every small table, and what one
 * unit can change. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asked.h"
#include "query/collect/unit_count.h"
#include "query/collect/unit_rows.h"
#include "random/tape.h"
#include "registered.h"

/* What rows a unit may have: a letter is a row, its value 1 (a), 2 (b) or NULL (n). */
static const char *const rows_of[] = {"", "a", "b", "ab", "aa", "n", "bn"};
enum { CHOICES = sizeof rows_of / sizeof *rows_of, UNITS = 2 };

static const struct {
    const char *text;
    const char *satisfied_by; /* letters */
} conditions[] = {
    {"v = 1", "a"},
    {"v = 2", "b"},
    {"v >= 1", "ab"},
    {"v IS NULL", "n"},
    {"true", "abn"},
    {"false", ""},
    {"NOT v = 2 -- a comment", "a"},
    {"v = 1) OR (v = 2", "ab"},
    {"NULL", ""},
};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

typedef struct open_counter {
    char csv[64];
    asked asks;
    brume_unit_counter *counter;
} open_counter;

/* A table of the units with these rows, and some rows that are nobody's. */
static void write_table(const char *path, const int *chosen, bool nobody)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("u,v\n", file);
    if (nobody)
        fputs(",1\n,2\n", file);
    for (int unit = 0; unit < UNITS; unit++)
        for (const char *row = rows_of[chosen[unit]]; *row; row++)
            fprintf(file, "u%d,%s\n", unit, *row == 'a' ? "1" : *row == 'b' ? "2" : "");
    if (nobody)
        fputs(",1\n", file);
    fclose(file);
}

static void open_it(open_counter *all, const int *chosen, bool by_unit, bool nobody)
{
    brume_error error = {0};
    strcpy(all->csv, "/tmp/brume-count-XXXXXX.csv");
    int file = mkstemps(all->csv, 4);
    assert_true(file >= 0);
    close(file);
    write_table(all->csv, chosen, nobody);
    brume_policy *policy = registered_file(all->csv, "u text, v bigint");
    if (by_unit)
        assert_ok(brume_policy_set_unit(policy, "u", &error));
    /* the seed keys a hash, and no answer depends on it */
    all->asks = asked_open(policy, "t", "SELECT COUNT(v) FROM t", 1);
    assert_ok(brume_unit_counter_open(all->asks.question, all->asks.engine, all->asks.bits,
                                      &all->counter, &error));
}

static void close_it(open_counter *all)
{
    brume_unit_counter_close(all->counter);
    asked_close(&all->asks);
    remove(all->csv);
}

typedef struct counts {
    uint64_t of[CONDITIONS];
} counts;

static counts ask_all(const int *chosen, bool by_unit, bool nobody)
{
    open_counter all = {0};
    counts found;
    brume_error error = {0};
    open_it(&all, chosen, by_unit, nobody);
    for (int i = 0; i < CONDITIONS; i++)
        assert_ok(brume_unit_counter_ask(all.counter, conditions[i].text, &found.of[i], &error));
    close_it(&all);
    return found;
}

/* By hand. */
static counts by_hand(const int *chosen, bool by_unit)
{
    counts expected = {{0}};
    for (int i = 0; i < CONDITIONS; i++)
        for (int unit = 0; unit < UNITS; unit++) {
            uint64_t rows = 0;
            for (const char *row = rows_of[chosen[unit]]; *row; row++)
                rows += strchr(conditions[i].satisfied_by, *row) != NULL;
            expected.of[i] += by_unit ? rows > 0 : rows;
        }
    return expected;
}

/* Is the change from `a` to `b` one that a sparse vector of sensitivity 1 allows? */
static bool is_small(const counts *a, const counts *b, bool monotone)
{
    int64_t most = 0, least = 0;
    for (int i = 0; i < CONDITIONS; i++) {
        int64_t change = (int64_t)b->of[i] - (int64_t)a->of[i];
        most = change > most ? change : most;
        least = change < least ? change : least;
    }
    return most <= 1 && least >= -1 && (!monotone || most == 0 || least == 0);
}

/* The counts of every table, units counted or, a mutant, rows. */
static void enumerate(counts table[CHOICES][CHOICES], bool by_unit, bool nobody)
{
    for (int i = 0; i < CHOICES; i++)
        for (int j = 0; j < CHOICES; j++) {
            int chosen[UNITS] = {i, j};
            table[i][j] = ask_all(chosen, by_unit, nobody);
            counts expected = by_hand(chosen, by_unit);
            if (!nobody)
                assert_memory_equal(&table[i][j], &expected, sizeof expected);
        }
}

static bool all_changes_small(counts table[CHOICES][CHOICES])
{
    bool good = true;
    for (int i = 0; i < CHOICES; i++)
        for (int j = 0; j < CHOICES; j++) {
            /* add-remove: the second unit, which has rows, against none; both directions */
            good = good && is_small(&table[i][0], &table[i][j], true) &&
                   is_small(&table[i][j], &table[i][0], true);
            for (int k = 0; k < CHOICES; k++) /* replace: other rows */
                good = good && is_small(&table[i][j], &table[i][k], false);
        }
    return good;
}

static counts units[CHOICES][CHOICES], rows[CHOICES][CHOICES];

static void one_unit_moves_each_count_by_at_most_one(void **state)
{
    (void)state;
    enumerate(units, true, false);
    assert_true(all_changes_small(units));
}

static void rows_instead_of_units_would_move_more(void **state)
{
    (void)state;
    enumerate(rows, false, false); /* every row its own unit: not what the unit column says */
    assert_false(all_changes_small(rows));
}

static void replacing_is_not_monotone(void **state)
{
    (void)state;
    assert_false(is_small(&units[0][1], &units[0][2], true)); /* 1 for 2: one up, one down */
    assert_true(is_small(&units[0][1], &units[0][2], false));
}

static void rows_without_a_unit_are_nobodys(void **state)
{
    (void)state;
    int chosen[UNITS] = {3, 5};
    counts found = ask_all(chosen, true, true), expected = by_hand(chosen, true);
    assert_memory_equal(&found, &expected, sizeof expected);
}

static void what_is_more_than_a_condition_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        brume_status status;
    } wrong[] = {
        {"", BRUME_ESYNTAX},
        {"v =", BRUME_ESYNTAX},
        {"v = 1)", BRUME_ESYNTAX},
        {"v = 1; SELECT 2", BRUME_ESYNTAX},
        {"/* v = 1", BRUME_ESYNTAX},
        {"w = 1", BRUME_EUNKNOWN},
        {"true) GROUP BY (v", BRUME_EUNSUPPORTED},
        {"true) ORDER BY (1", BRUME_EUNSUPPORTED},
        {"true) LIMIT (1", BRUME_EUNSUPPORTED},
        {"true) HAVING (COUNT(*) > 1", BRUME_EUNSUPPORTED},
        {"EXISTS (SELECT 1 FROM t AS s WHERE s.u = t.u)", BRUME_EUNSUPPORTED},
        {"nn = 0", BRUME_EUNKNOWN}, /* the number of a row */
        {"v", BRUME_EARGUMENT},
    };
    open_counter all = {0};
    int chosen[UNITS] = {3, 5};
    open_it(&all, chosen, true, false);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        brume_error error = {0};
        uint64_t count = 77;
        brume_status status = brume_unit_counter_ask(all.counter, wrong[i].text, &count, &error);
        if (status != wrong[i].status)
            fail_msg("'%s': %s", wrong[i].text, error.message);
        assert_int_equal(count, 77);
        assert_null(strchr(error.message, '\n'));
    }
    close_it(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_unit_moves_each_count_by_at_most_one),
        cmocka_unit_test(rows_instead_of_units_would_move_more),
        cmocka_unit_test(replacing_is_not_monotone),
        cmocka_unit_test(rows_without_a_unit_are_nobodys),
        cmocka_unit_test(what_is_more_than_a_condition_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
