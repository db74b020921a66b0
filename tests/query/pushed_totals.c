/* Totals where the rows lie: what the tests of all engines share. */
#include "pushed_totals.h"

#include "check.h"

#include <stdlib.h>

#include "query/collect/pushed/pushed.h"
#include "query/limit/clip.h"
#include "query/limit/grid.h"
#include "random_doubles.h"
#include "registered.h"
#include "replaced.h"

const pushed_engine *pushed_here;

static brume_error error;

/* ---- tables and queries ---- */

uint64_t pushed_below(uint64_t end)
{
    return below(end);
}

void pushed_fill(size_t rows)
{
    static const char *const keys[] = {"'a'", "'b'", "'it''s \\'", "'not declared'", "NULL"};
    char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    fputs("DELETE FROM t; INSERT INTO t VALUES (NULL, NULL, 'a', 1, 1, 1, 1)", out);
    for (size_t i = 0; i < rows; i++) {
        uint64_t unit = below(3) ? below(PUSHED_UNITS) / 4 : below(PUSHED_UNITS);
        long long wild = (long long)(below(1U << 30) << 33) - (1LL << 62);
        fprintf(out, ", (%llu, 'é%llu', %s, %lld, ", (unsigned long long)unit,
                (unsigned long long)unit, keys[below(5)], (long long)below(4) - 1);
        if (below(5) == 0)
            fputs("NULL, NULL, NULL)", out);
        else
            fprintf(out, "%lld, %.2f, %lld)", (long long)below(31) - 15,
                    (double)(int64_t)below(4001) / 100 - 20, wild * (long long)below(2));
    }
    fclose(out);
    pushed_here->execute(sql);
    free(sql);
    if (pushed_here->publish)
        pushed_here->publish();
}

asked pushed_open(const brume_source *table, const char *sql, bool by_name)
{
    static const char *const keys[] = {"a", "b", "it's \\"}, *const numbers[] = {"0", "1", "2"};
    brume_policy *policy = registered_policy(table);
    assert_ok(brume_policy_set_unit(policy, by_name ? "name" : "u", &error));
    assert_ok(brume_policy_set_bounds(policy, "x", "-10", "12", &error));
    assert_ok(brume_policy_set_bounds(policy, "y", "-12.5", "20", &error));
    assert_ok(brume_policy_set_bounds(policy, "big", "-4e18", "4e18", &error));
    assert_ok(brume_policy_set_domain(policy, "k", keys, 3, &error));
    assert_ok(brume_policy_set_domain(policy, "l", numbers, 3, &error));
    asked all = asked_open(policy, "t", sql, 3);
    asked_plan(&all, BRUME_RULE_PURE, "1", NULL);
    return all;
}

const char *const pushed_questions[PUSHED_QUESTIONS] = {
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(DISTINCT u), COUNT(x), SUM(x), SUM(big) FROM t",
    "SELECT AVG(x), VAR_POP(x), AVG(y) FROM t WHERE l <> 2",
    "SELECT k, COUNT(*), SUM(x) FROM t GROUP BY k",
    "SELECT k, l, COUNT(DISTINCT u), SUM(big), AVG(y), STDDEV(x) FROM t GROUP BY k, l",
    "SELECT k, l, COUNT(*), SUM(x) FILTER (WHERE y > 0) FROM t GROUP BY ROLLUP (k, l)",
    "SELECT k, l, COUNT(*), AVG(x) FROM t GROUP BY GROUPING SETS ((k), (k, l), ())",
    "SELECT x > 0, COUNT(*), SUM(y), SUM(CLAMP(big, 0, 9000000000000000000)) FROM t GROUP BY 1",
    "SELECT a.k, COUNT(*), SUM(b.big) FROM t a JOIN t b ON a.u = b.u AND a.l = b.l GROUP BY a.k",
    "SELECT k, COUNT(DISTINCT u), COUNT(DISTINCT u) FILTER (WHERE x > 0), COUNT(DISTINCT CASE WHEN "
    "y > 0 THEN u END) FROM t GROUP BY k",
};

/* Not those that name u themselves. */
bool pushed_by_name(size_t question)
{
    return question == 3 || question == 5 || question == 7;
}

/* ---- limits, and sums under them ---- */

double pushed_reach(const brume_measure *measure)
{
    double reach = fmax(1, (double)brume_measure_reach(measure));
    if (measure->kind == BRUME_MEASURE_CENTRED)
        return reach;
    return measure->kind == BRUME_MEASURE_SQUARES ? ceil(reach * reach / 2) : 1;
}

pushed_limits pushed_choose(const brume_plan *plan, int p, double noise)
{
    static const uint64_t most[] = {1, 2, 3, 7, 50, 1000, UINT64_C(1) << 35, UINT64_C(1) << 62};
    pushed_limits how = {
        .limit_count = plan->limit_count, .sum_count = plan->measure_count, .p = p};
    assert_true(how.sum_count <= PUSHED_SUMS && how.limit_count <= PUSHED_SUMS);
    for (size_t i = 0; i < plan->limit_count; i++) {
        uint64_t limit = 1 + below(most[below(8)]);
        how.limits[i] = (brume_total_limit){plan->limits[i].of, limit, 0};
        if (p == 2 && limit > 1 && limit < UINT64_C(1) << 20 && below(2))
            how.limits[i].square = limit * limit - 1; /* a limit that is no whole number */
    }
    for (size_t i = 0; i < plan->measure_count; i++) {
        const brume_measure *measure = &plan->measures[i];
        brume_limited_sum *sum = &how.sums[i];
        *sum = (brume_limited_sum){.kind = measure->kind, .value = measure->expression};
        if (measure->kind == BRUME_MEASURE_SQUARES)
            sum->half_square = brume_measure_half_square(measure);
        if (plan->measure_limit[i] >= 0)
            sum->limit = (size_t)plan->measure_limit[i];
        sum->shift = brume_limit_shift((double)how.limits[sum->limit].limit * pushed_reach(measure),
                                       below(4) > 0, noise);
    }
    return how;
}

const brume_bounded_group *pushed_sum_up(brume_collected *collected, const pushed_limits *how,
                                         size_t *count)
{
    assert_ok(brume_collected_limit(collected, how->limits, how->limit_count, how->p, NULL,
                                    how->sums, how->sum_count, &error));
    return brume_collected_groups(collected, count);
}

void pushed_compare_sums(brume_collected *here, brume_collected *there, const pushed_limits *how,
                         size_t key_count, const char *sql)
{
    size_t count = 0, other = 0;
    const brume_bounded_group *a = pushed_sum_up(here, how, &count);
    const brume_bounded_group *b = pushed_sum_up(there, how, &other);
    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(brume_keys_compare(a[i].keys, b[i].keys, key_count), 0);
        bool same = a[i].units == b[i].units && a[i].rows == b[i].rows;
        for (size_t j = 0; j < how->sum_count; j++)
            same = same && a[i].limited[j] == b[i].limited[j];
        if (!same)
            fail_msg("%s differs", sql);
    }
}

void pushed_compare_histograms(const brume_plan *plan, brume_collected *here,
                               brume_collected *there)
{
    for (size_t i = 0; i < plan->limit_count; i++)
        for (int p = 1; p <= 2; p++) {
            uint64_t a[BRUME_LIMIT_BINS], b[BRUME_LIMIT_BINS];
            size_t bins = below(3) ? BRUME_LIMIT_BINS : 1 + below(6);
            const brume_total *of = &plan->limits[i].of;
            assert_ok(brume_collected_histogram(here, of, p, bins, NULL, a, &error));
            assert_ok(brume_collected_histogram(there, of, p, bins, NULL, b, &error));
            assert_memory_equal(a, b, bins * sizeof *a);
        }
}

/* ---- statements that are wrong ---- */

static char *mutated(const char *right, const pushed_mutant *mutant)
{
    char *made = strdup(right);
    for (size_t i = 0; i < 2 && mutant->replace[i].from; i++) {
        char *next = replaced(made, mutant->replace[i].from, mutant->replace[i].to);
        if (strcmp(made, next) == 0)
            fail_msg("no '%s' in %s", mutant->replace[i].from, made);
        free(made);
        made = next;
    }
    return made;
}

static void check_mutant(const pushed_mutant *mutant)
{
    asked all = pushed_here->open("SELECT k, COUNT(*) FROM t GROUP BY k", false);
    const brume_collection *collection = &all.plan->measurements[0].collection;
    char *rows = NULL, *right = NULL;
    assert_ok(brume_collect_statement(collection, pushed_here->dialect, &pushed_here->table, &rows,
                                      &error));
    pushed_limits how = pushed_choose(all.plan, mutant->p, 1);
    how.limits[0] = (brume_total_limit){how.limits[0].of, mutant->limit, 0};
    how.sums[0].shift = pushed_here->shift;
    assert_ok(brume_push_dialect_of(pushed_here->dialect)
                  ->print_sums(collection, rows, how.limits, how.limit_count, how.p, how.sums,
                               how.sum_count, &right, &error));
    char *wrong = mutated(right, mutant);
    char *total = pushed_here->answer(right), *other = pushed_here->answer(wrong);
    if (strcmp(total, other) == 0)
        fail_msg("'%s' makes no difference", mutant->replace[0].from);
    free(total);
    free(other);
    free(right);
    free(wrong);
    free(rows);
    asked_close(&all);
}

void pushed_wrong_statements_give_other_integers(void **state)
{
    (void)state;
    pushed_fill(150);
    for (size_t m = 0; m < PUSHED_MUTANTS && pushed_here->mutants[m].p; m++)
        check_mutant(&pushed_here->mutants[m]);
}
