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
        cmocka_unit_test(what_nothing_can_be_is_refused),
    };
    return cmocka_run_group_tests_name("groups of public keys", tests, NULL, NULL);
}
