/* Grouping sets, by enumeration: what one row moves in the groups of all sets together, over all
 * tables of at most two rows and all their neighbours, against what the plan charges; and which
 * groups there are. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "query/collect/collect.h"
#include "query/plan/make_plan.h"
#include "query/plan/question.h"
#include "query/plan/plan_terms.h"
#include "random/tape.h"
#include "registered.h"

enum { KINDS = 6, TABLES = 1 + KINDS + KINDS * (KINDS + 1) / 2, CELLS = 64 };

/* A kind of row: k is a, b or a value that is not declared, l is x or y, v is NULL or 1. */
static void write_row(FILE *file, int kind)
{
    fprintf(file, "%c,%c,%s\n", "abz"[kind % 3], "xy"[kind / 3 % 2], kind % 2 ? "1" : "");
}

typedef struct table {
    int rows[2], count; /* kinds in order */
} table;

static size_t make_tables(table *all)
{
    size_t count = 0;
    all[count++] = (table){{0}, 0};
    for (int a = 0; a < KINDS; a++)
        all[count++] = (table){{a}, 1};
    for (int a = 0; a < KINDS; a++)
        for (int b = a; b < KINDS; b++)
            all[count++] = (table){{a, b}, 2};
    return count;
}

static bool is_neighbour(const table *a, const table *b, bool replace)
{
    if (replace) {
        if (a->count != b->count || a->count == 0)
            return false;
        if (a->count == 1)
            return true;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                if (a->rows[i] == b->rows[j])
                    return true;
        return false;
    }
    if (abs(a->count - b->count) != 1)
        return false;
    const table *less = a->count < b->count ? a : b, *more = less == a ? b : a;
    return less->count == 0 || less->rows[0] == more->rows[0] || less->rows[0] == more->rows[1];
}

/* ---- what is measured of a table ---- */

typedef struct measured {
    size_t cells, measures;
    double value[CELLS][4], scale[4];
    uint64_t groups;
} measured;

static brume_policy *policy_of(const char *csv)
{
    brume_error error = {0};
    static const char *const first[] = {"a", "b"}, *const second[] = {"x", "y"};
    brume_policy *policy = registered_file(csv, "k text, l text, v bigint");
    assert_ok(brume_policy_set_domain(policy, "k", first, 2, &error));
    assert_ok(brume_policy_set_domain(policy, "l", second, 2, &error));
    return policy;
}

static measured measure(const table *rows, const char *sql, bool replace)
{
    char csv[] = "/tmp/brume-sets-XXXXXX.csv";
    int place = mkstemps(csv, 4);
    assert_true(place >= 0);
    FILE *file = fdopen(place, "w");
    assert_non_null(file);
    fputs("k,l,v\n", file);
    for (int i = 0; i < rows->count; i++)
        write_row(file, rows->rows[i]);
    assert_int_equal(fclose(file), 0);
    brume_error error = {0};
    brume_policy *policy = policy_of(csv);
    brume_source source;
    brume_column *columns = NULL;
    brume_engine *engine = NULL;
    brume_question *question = NULL;
    brume_plan *plan = NULL;
    brume_terms *terms = NULL;
    brume_collected *collected = NULL;
    assert_ok(brume_policy_source(policy, &source, &columns, &error));
    assert_ok(brume_engine_open(&source, 1, &engine, &error));
    free(columns);
    assert_ok(brume_question_alone(policy, "t", sql, &question, &error));
    question->datasets[0]->filter.rule = BRUME_RULE_PURE;
    question->datasets[0]->adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
    brume_payment payment = {.epsilon = "1"};
    assert_ok(brume_query_plan_make(question->query, question->tables, &payment, &plan, &error));
    assert_ok(brume_terms_make(plan, NULL, 0, &terms, &error));
    brume_bits *bits = brume_tape_open_seeded(1); /* nothing depends on it */
    assert_ok(
        brume_collect(&plan->measurements[0].collection, engine, 1, bits, &collected, &error));
    measured all = {.measures = plan->measure_count, .groups = plan->shape.max_groups};
    const brume_bounded_group *groups = brume_collected_groups(collected, &all.cells);
    assert_int_equal(all.cells, plan->shape.cells);
    assert_true(all.cells <= CELLS && all.measures <= 4);
    for (size_t m = 0; m < all.measures; m++) {
        all.scale[m] = terms->measures[m].scale;
        for (size_t c = 0; c < all.cells; c++)
            all.value[c][m] = plan->measures[m].kind == BRUME_MEASURE_VALUES
                                  ? (double)groups[c].values[plan->measures[m].expression].count
                                  : (double)groups[c].rows;
    }
    brume_collected_close(collected);
    brume_bits_close(bits);
    brume_terms_close(terms);
    brume_query_plan_close(plan);
    brume_question_close(question);
    brume_engine_close(engine);
    unlink(csv);
    return all;
}

/* The loss of all Laplace draws together. */
static double loss(const measured *a, const measured *b)
{
    double sum = 0;
    for (size_t c = 0; c < a->cells; c++)
        for (size_t m = 0; m < a->measures; m++)
            sum += fabs(a->value[c][m] - b->value[c][m]) / a->scale[m];
    return sum;
}

static const struct {
    const char *sql;
    size_t cells, sets;
    bool tight; /* under add-remove; else a row without v moves less */
} queries[] = {
    {"SELECT k, l, COUNT(*) FROM t GROUP BY ROLLUP (k, l)", 4 + 2 + 1, 3, true},
    {"SELECT k, l, COUNT(*) FROM t GROUP BY CUBE (k, l)", 4 + 2 + 2 + 1, 4, true},
    {"SELECT k, l, COUNT(*), COUNT(v) FROM t GROUP BY GROUPING SETS ((k), (l))", 4, 2, true},
    {"SELECT k, l, COUNT(*) FROM t GROUP BY k, ROLLUP (l)", 4 + 2, 2, true},
    {"SELECT k, v IS NULL, COUNT(*) FROM t GROUP BY ROLLUP ((k, v IS NULL)), ROLLUP (l)",
     8 + 4 + 2 + 1, 4, true},
};

static void the_price_covers_all_sets(void **state)
{
    (void)state;
    table tables[TABLES];
    measured *all = calloc(TABLES, sizeof *all);
    assert_non_null(all);
    assert_int_equal(make_tables(tables), TABLES);
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++)
        for (int replace = 0; replace < 2; replace++) {
            double worst = 0;
            for (size_t i = 0; i < TABLES; i++) {
                all[i] = measure(&tables[i], queries[q].sql, replace);
                assert_int_equal(all[i].cells, queries[q].cells);
                assert_int_equal(all[i].groups, queries[q].sets);
            }
            for (size_t i = 0; i < TABLES; i++)
                for (size_t j = 0; j < TABLES; j++)
                    if (is_neighbour(&tables[i], &tables[j], replace))
                        worst = fmax(worst, loss(&all[i], &all[j]));
            if (!(worst <= 1))
                fail_msg("%s, replace %d: %g", queries[q].sql, replace, worst);
            if (!(worst > (replace ? 0.5 : 0.999)))
                fail_msg("%s, replace %d: loose, %g", queries[q].sql, replace, worst);
            /* The mutant: noise as for one set, as if a unit were in one group. */
            assert_holds(worst * (double)queries[q].sets > 1.4);
        }
    free(all);
}

/* Totals are sums of parts: a row counts in all sets or in none, so that of the undeclared z is in
 * none. */
static void a_total_is_the_sum_of_its_parts(void **state)
{
    (void)state;
    table tables[TABLES];
    size_t count = make_tables(tables);
    for (size_t i = 0; i < count; i += 3) {
        measured both = measure(&tables[i], "SELECT k, COUNT(*) FROM t GROUP BY ROLLUP (k)", false);
        measured one = measure(&tables[i], "SELECT k, COUNT(*) FROM t GROUP BY k", false);
        measured none = measure(&tables[i], "SELECT COUNT(*) FROM t", false);
        assert_int_equal(both.cells, 3); /* a, b, all: NULL is last */
        assert_true(both.value[0][0] == one.value[0][0]);
        assert_true(both.value[1][0] == one.value[1][0]);
        assert_true(both.value[2][0] == one.value[0][0] + one.value[1][0]);
        assert_true(none.value[0][0] == tables[i].count); /* z is counted where it is asked alone */
        measured cube = measure(
            &tables[i], "SELECT k, l, COUNT(*), COUNT(v) FROM t GROUP BY CUBE (k, l)", false);
        for (size_t m = 0; m < cube.measures; m++) /* ax, ay, a; bx, by, b; x, y, all */
            for (size_t c = 0; c < 3; c++) {
                assert_true(cube.value[3 * c + 2][m] ==
                            cube.value[3 * c][m] + cube.value[3 * c + 1][m]);
                assert_true(cube.value[6 + c][m] == cube.value[c][m] + cube.value[3 + c][m]);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_price_covers_all_sets),
        cmocka_unit_test(a_total_is_the_sum_of_its_parts),
    };
    return cmocka_run_group_tests_name("grouping sets", tests, NULL, NULL);
}
