/* The groups of public keys: which are answered, by enumeration of all combinations; keys that
 * subqueries narrow; and that a row of a combination that cannot occur is counted nowhere. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/plan/key_cells.h"
#include "query/plan/make_plan.h"
#include "query/plan/question.h"
#include "registered.h"

/* ---- the visit, against the product ---- */

enum { KEYS = 3, MOST = 400 };

typedef struct seen {
    size_t cells[MOST][KEYS], count;
} seen;

static brume_status see(void *context, const brume_key_value *cell, brume_error *error)
{
    (void)error;
    seen *all = context;
    assert_true(all->count < MOST);
    for (size_t k = 0; k < KEYS; k++)
        all->cells[all->count][k] = (size_t)cell[k].integer;
    all->count++;
    return BRUME_OK;
}

static bool has_row(const brume_cell_tie *tie, const size_t *places)
{
    for (size_t i = 0; i < tie->row_count; i++) {
        bool same = true;
        for (size_t k = 0; k < tie->key_count; k++)
            same = same && tie->places[i * tie->key_count + k] == places[tie->keys[k]];
        if (same)
            return true;
    }
    return false;
}

/* All subsets of the combinations of two keys of two values, tied in every way; a third key of
 * three values is free, or tied by itself. */
static void a_visit_is_the_product_without_what_cannot_occur(void **state)
{
    (void)state;
    static const size_t sizes[KEYS] = {2, 3, 2}, pairs[][2] = {{0, 1}, {0, 2}, {1, 2}};
    brume_key_value domain[7] = {{0}};
    for (size_t k = 0, at = 0; k < KEYS; k++)
        for (size_t i = 0; i < sizes[k]; i++)
            domain[at++] = (brume_key_value){.wire = BRUME_WIRE_INTEGER, .integer = (int64_t)i};
    brume_key keys[KEYS] = {{0}};
    brume_query query = {.key_count = KEYS, .keys = keys, .set_count = 1};
    for (size_t p = 0; p < 3; p++)
        for (unsigned subset = 0; subset < 1U << sizes[pairs[p][0]] * sizes[pairs[p][1]];
             subset++) {
            size_t places[12], rows = 0, width = sizes[pairs[p][1]];
            for (size_t i = 0; i < sizes[pairs[p][0]] * width; i++)
                if (subset >> i & 1) {
                    places[2 * rows] = i / width;
                    places[2 * rows++ + 1] = i % width;
                }
            brume_cell_tie tie = {2, pairs[p], rows, places};
            brume_collection collection = {.query = &query,
                                           .domain = domain,
                                           .domain_size = sizes,
                                           .tie_count = 1,
                                           .ties = &tie};
            brume_error error = {0};
            seen all = {.count = 0};
            assert_ok(brume_cells_visit(&collection, see, &all, &error));
            size_t expected = 0;
            for (size_t i = 0; i < 12; i++) { /* in order, the last key fastest */
                size_t cell[KEYS] = {i / 6, i / 2 % 3, i % 2};
                if (!has_row(&tie, cell))
                    continue;
                assert_true(expected < all.count);
                assert_memory_equal(all.cells[expected++], cell, sizeof cell);
            }
            assert_int_equal(all.count, expected);
        }
}

/* ---- whole plans ---- */

static uint64_t cells_of(const char *sql, bool domain, size_t *sizes, brume_status *status)
{
    char csv[] = "/tmp/brume-cells-XXXXXX.csv";
    int place = mkstemps(csv, 4);
    assert_true(place >= 0);
    FILE *file = fdopen(place, "w");
    assert_non_null(file);
    fputs("u,g,d,t,x\n", file);
    assert_int_equal(fclose(file), 0);
    brume_error error = {0};
    static const char *const values[] = {"a", "b", "c"};
    brume_policy *policy = registered_file(csv, "u text, g text, d date, t timestamp, x bigint");
    if (domain)
        assert_ok(brume_policy_set_domain(policy, "g", values, 3, &error));
    assert_ok(brume_policy_set_unit(policy, "u", &error));
    brume_question *question = NULL;
    assert_ok(brume_question_alone(policy, "s", sql, &question, &error));
    question->datasets[0]->filter.rule = BRUME_RULE_PURE;
    brume_payment payment = {.epsilon = "1"};
    brume_plan *plan = NULL;
    *status = brume_query_plan_make(question->query, question->tables, &payment, &plan, &error);
    uint64_t cells = plan ? plan->shape.cells : 0;
    for (size_t i = 0; plan && i < 3 && i < question->query->key_count; i++)
        sizes[i] = plan->domain_size[i];
    brume_query_plan_close(plan);
    brume_question_close(question);
    unlink(csv);
    return cells;
}

static void only_what_can_occur_is_answered(void **state)
{
    (void)state;
#define DAYS " WHERE d BETWEEN DATE '2023-12-30' AND DATE '2024-01-02' "
    static const struct {
        const char *sql;
        uint64_t cells; /* 0: the keys are private, which a pure budget refuses */
        bool domain;
    } cases[] = {
        /* parts of one date: 4 days in 2 years and 2 months */
        {"SELECT date_trunc('year', d), date_trunc('day', d), COUNT(*) FROM s" DAYS "GROUP BY 1, 2",
         4, false},
        {"SELECT date_trunc('year', d), d, COUNT(*) FROM s" DAYS "GROUP BY 1, 2", 4, false},
        {"SELECT extract(year from d), extract(month from d), COUNT(*) FROM s" DAYS "GROUP BY 1, 2",
         2, false},
        {"SELECT extract(dow from d), extract(isodow from d), COUNT(*) FROM s" DAYS "GROUP BY 1, 2",
         4, false},
        {"SELECT extract(quarter from d), extract(doy from d), d, COUNT(*) FROM s" DAYS
         "GROUP BY 1, 2, 3",
         4, false},
        {"SELECT date_trunc('week', d), extract(day from d), COUNT(*) FROM s" DAYS "GROUP BY 1, 2",
         4, false},
        /* in grouping sets: 2 + 1 of pairs and years, and one of all */
        {"SELECT extract(year from d) AS y, extract(month from d) AS m, COUNT(*) FROM s" DAYS
         "GROUP BY ROLLUP (y, m)",
         2 + 2 + 1, false},
        {"SELECT extract(year from d) AS y, d AS e, COUNT(*) FROM s" DAYS "GROUP BY CUBE (y, e)",
         4 + 2 + 4 + 1, false},
        /* of different dates, and of one date and another key, everything is */
        {"SELECT date_trunc('year', d), date_trunc('day', t), COUNT(*) FROM s" DAYS
         "AND t >= TIMESTAMP '2024-01-01' AND t < TIMESTAMP '2024-01-04' GROUP BY 1, 2",
         2 * 3, false},
        {"SELECT date_trunc('year', d), d, g, COUNT(*) FROM s" DAYS "GROUP BY 1, 2, 3", 4 * 3,
         true},
        /* timestamps by their day; before midnight of the 3rd is the 2nd at the latest */
        {"SELECT date_trunc('month', t), date_trunc('day', t), COUNT(*) FROM s WHERE t >= "
         "TIMESTAMP '2023-12-30' AND t < TIMESTAMP '2024-01-03' GROUP BY 1, 2",
         4, false},
        /* subqueries narrow */
        {"SELECT g, COUNT(*) FROM (SELECT * FROM s WHERE g IN ('a', 'b', 'x')) q GROUP BY g", 2,
         true},
        {"SELECT g, COUNT(*) FROM (SELECT * FROM s WHERE g IN ('a', 'b', 'x')) q GROUP BY g", 3,
         false},
        {"SELECT h, COUNT(*) FROM (SELECT g AS h FROM s WHERE g IN ('a', 'b')) q WHERE h <> 'z' AND "
         "h IN ('b', 'c') GROUP BY h",
         1, false},
        {"SELECT k, COUNT(*) FROM (SELECT h AS k FROM (SELECT g AS h FROM s WHERE g = 'a') p) q "
         "GROUP BY k",
         1, true},
        {"SELECT y, COUNT(*) FROM (SELECT extract(year from d) AS y FROM s" DAYS ") q GROUP BY y",
         2, false},
        {"SELECT date_trunc('month', d), COUNT(*) FROM (SELECT d FROM s" DAYS ") q GROUP BY 1", 2,
         false},
        {"SELECT g, COUNT(*) FROM (SELECT u, g, COUNT(*) AS n FROM s WHERE g IN ('a', 'b') GROUP BY "
         "u, g) q GROUP BY g",
         2, true},
    /* parts of times that lie between constants: 2, 3 and 4 o'clock; before 22 is 21 at the latest
     */
#define HOURS " WHERE t >= TIMESTAMP '2024-03-01 02:30:00' AND t < TIMESTAMP '2024-03-01 05:00:00' "
        {"SELECT extract(hour from t), COUNT(*) FROM s" HOURS "GROUP BY 1", 3, false},
        {"SELECT extract(hour from t), COUNT(*) FROM s WHERE t > TIMESTAMP '2024-03-01 21:59:59' AND "
         "t <= TIMESTAMP '2024-03-02 03:00:00' GROUP BY 1",
         7, false},
        {"SELECT extract(hour from t), extract(day from t), COUNT(*) FROM s WHERE t > TIMESTAMP "
         "'2024-03-01 21:59:59' AND t <= TIMESTAMP '2024-03-02 03:00:00' GROUP BY 1, 2",
         7, false},
        {"SELECT extract(hour from t), COUNT(*) FROM s WHERE t >= TIMESTAMP '1969-12-31 22:00:00' AND "
         "t < TIMESTAMP '1970-01-01 01:00:00' GROUP BY 1",
         3, false},
        {"SELECT extract(hour from t), COUNT(*) FROM s WHERE t >= TIMESTAMP '2024-03-01' GROUP BY 1",
         25, false}, /* and NULL, which this does not exclude for another reason than by value */
        {"SELECT extract(month from d), COUNT(*) FROM s" DAYS "GROUP BY 1", 2, false},
        {"SELECT extract(dow from t), COUNT(*) FROM s" HOURS "GROUP BY 1", 1, false},
        {"SELECT extract(month from d), COUNT(*) FROM s WHERE d > TIMESTAMP '2023-12-31 05:00:00' AND "
         "d < TIMESTAMP '2024-02-01 05:00:00' GROUP BY 1",
         2, false},
        /* what a condition leaves out */
        {"SELECT g, COUNT(*) FROM s WHERE g <> 'b' GROUP BY g", 2, true},
        {"SELECT g, COUNT(*) FROM (SELECT * FROM s WHERE g <> 'b') q WHERE g <> 'a' GROUP BY g", 1,
         true},
        {"SELECT extract(hour from t), COUNT(*) FROM s WHERE extract(hour from t) < 4 GROUP BY 1",
         4, false},
        {"SELECT extract(month from d), COUNT(*) FROM s WHERE 10 <= extract(month from d) GROUP BY 1",
         3, false},
        {"SELECT x > 3, COUNT(*) FROM s WHERE NOT x > 3 GROUP BY 1", 1, false},
        {"SELECT d, COUNT(*) FROM s" DAYS "AND d <> DATE '2024-01-01' GROUP BY d", 3, false},
        {"SELECT g, COUNT(*) FROM s WHERE g <> 'b' OR x = 1 GROUP BY g", 3, true},
        {"SELECT g, COUNT(*) FROM s WHERE g > 'b' GROUP BY g", 2, true}, /* engines order texts */
        /* a sum of two sides is not narrowed by one of them, nor by OR with something else */
        {"SELECT g, COUNT(*) FROM (SELECT g FROM s WHERE g = 'a' UNION ALL SELECT g FROM s) q GROUP "
         "BY g",
         0, false},
        {"SELECT g, COUNT(*) FROM (SELECT * FROM s WHERE g IN ('a', 'b') OR x = 1) q GROUP BY g", 0,
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t sizes[3] = {0};
        brume_status status;
        uint64_t cells = cells_of(cases[i].sql, cases[i].domain, sizes, &status);
        if (cells != cases[i].cells || (status == BRUME_OK) != (cells > 0))
            fail_msg("%s: %llu groups", cases[i].sql, (unsigned long long)cells);
    }
}

/* Conditions on g, a column with the domain a, b, c, and on x: false, true or NULL of each of the
 * three values of g, and of x = 1, another x, and no x. */
typedef struct atom {
    const char *sql;
    const char *by_g, *by_x; /* one of them; a character each: f, t, n */
} atom;

static char both_hold(char a, char b)
{
    return a == 'f' || b == 'f' ? 'f' : a == 'n' || b == 'n' ? 'n' : 't';
}

static char not_so(char a)
{
    return a == 't' ? 'f' : a == 'f' ? 't' : 'n';
}

static char outcome(const atom *one, size_t g, size_t x)
{
    return one->by_g ? one->by_g[g] : one->by_x[x];
}

/* Every AND, OR and NOT of two conditions. Rejects: a value left out that some row has, and, where
 * the two say nothing of one another, a value answered that no row can have. */
static void a_value_is_answered_if_a_condition_can_hold_of_it(void **state)
{
    (void)state;
    static const atom atoms[] = {
        {"g = 'a'", "tff", NULL},
        {"g <> 'b'", "tft", NULL},
        {"'c' <> g", "ttf", NULL},
        {"g IN ('a', 'b')", "ttf", NULL},
        {"g NOT IN ('a', 'z')", "ftt", NULL},
        {"g NOT IN ('b', NULL)", "nfn", NULL},
        {"g IS NULL", "fff", NULL},
        {"g IS NOT NULL", "ttt", NULL},
        {"x = 1", NULL, "tfn"},
        {"x IS NULL", NULL, "fft"},
    };
    static const char *const forms[] = {"(%s) AND (%s)", "(%s) OR (%s)", "NOT (%s) AND (%s)",
                                        "NOT ((%s) OR (%s))", "NOT ((%s) AND (%s))"};
    const size_t count = sizeof atoms / sizeof *atoms;
    for (size_t i = 0; i < count * count * 5; i++) {
        const atom *one = &atoms[i / 5 % count], *other = &atoms[i / 5 / count];
        size_t form = i % 5, sizes[3] = {0}, wanted = 0;
        for (size_t g = 0; g < 3; g++) {
            bool can = false;
            for (size_t x = 0; x < 3; x++) {
                char a = outcome(one, g, x), b = outcome(other, g, x);
                char is = form == 0   ? both_hold(a, b)
                          : form == 1 ? not_so(both_hold(not_so(a), not_so(b)))
                          : form == 2 ? both_hold(not_so(a), b)
                          : form == 3 ? both_hold(not_so(a), not_so(b))
                                      : not_so(both_hold(a, b));
                can = can || is == 't';
            }
            wanted += can;
        }
        char condition[200], sql[300];
        brume_status status;
        snprintf(condition, sizeof condition, forms[form], one->sql, other->sql);
        snprintf(sql, sizeof sql, "SELECT g, COUNT(*) FROM s WHERE %s GROUP BY g", condition);
        uint64_t cells = cells_of(sql, true, sizes, &status);
        bool is_tight = one->by_g || other->by_g;
        if (cells < wanted || (is_tight && cells != wanted))
            fail_msg("%s: %llu groups, not %zu", sql, (unsigned long long)cells, wanted);
    }
}

static void what_nothing_can_be_is_refused(void **state)
{
    (void)state;
    size_t sizes[3] = {0};
    brume_status status;
    assert_int_equal(
        cells_of("SELECT g, COUNT(*) FROM (SELECT * FROM s WHERE g IN ('a')) q WHERE g "
                 "IN ('b') GROUP BY g",
                 false, sizes, &status),
        0);
    assert_int_equal(status, BRUME_EARGUMENT);
    assert_int_equal(cells_of("SELECT extract(year from d), extract(month from d), COUNT(*) FROM s "
                              "WHERE d BETWEEN DATE '2024-01-01' AND DATE '2024-01-31' AND "
                              "extract(month from d) IN (2, 3) GROUP BY 1, 2",
                              false, sizes, &status),
                     0);
    assert_int_equal(status, BRUME_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_visit_is_the_product_without_what_cannot_occur),
        cmocka_unit_test(only_what_can_occur_is_answered),
        cmocka_unit_test(a_value_is_answered_if_a_condition_can_hold_of_it),
        cmocka_unit_test(what_nothing_can_be_is_refused),
    };
    return cmocka_run_group_tests_name("groups of public keys", tests, NULL, NULL);
}
