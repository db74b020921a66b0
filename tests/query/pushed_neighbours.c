/* What one unit moves, removed or replaced, in the totals that an engine adds up where the rows
 * lie: what the tests of all engines share. */
#include "pushed_totals.h"

#include "check.h"

#include <stdlib.h>

#include "query/limit/clip.h"
#include "query/limit/grid.h"

enum { CELLS = 64 };

static brume_error error;

typedef struct numbers {
    brume_i128 sums[CELLS][PUSHED_SUMS];
    uint64_t bins[PUSHED_SUMS][BRUME_LIMIT_BINS];
} numbers;

/* The table is another one each time, so the connection is too. */
static numbers measure(const char *sql, const pushed_limits *how)
{
    numbers made = {0};
    size_t count = 0;
    if (pushed_here->publish)
        pushed_here->publish();
    asked all = pushed_here->open(sql, false);
    brume_collected *there = asked_collect(&all, true, 0);
    for (size_t i = 0; i < how->limit_count; i++)
        assert_ok(brume_collected_histogram(there, &how->limits[i].of, how->p, BRUME_LIMIT_BINS,
                                            NULL, made.bins[i], &error));
    const brume_bounded_group *groups = pushed_sum_up(there, how, &count);
    assert_true(count <= CELLS);
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < how->sum_count; i++)
            made.sums[c][i] = groups[c].limited[i];
    brume_collected_close(there);
    asked_close(&all);
    return made;
}

/* How far sum i moved, as a multiple of what the limit allows: the p-th power of the distance. */
static double moved(const numbers *a, const numbers *b, const brume_plan *plan,
                    const pushed_limits *how, size_t i)
{
    double reach =
        ldexp((double)how->limits[how->sums[i].limit].limit * pushed_reach(&plan->measures[i]),
              how->sums[i].shift);
    double sum = 0;
    for (size_t c = 0; c < CELLS; c++)
        sum += pow(fabs((double)(a->sums[c][i] - b->sums[c][i])), how->p);
    return sum / pow(reach, how->p);
}

static uint64_t bins_moved(const numbers *a, const numbers *b, size_t limit)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BRUME_LIMIT_BINS; i++)
        sum += (uint64_t)llabs((long long)(a->bins[limit][i] - b->bins[limit][i]));
    return sum;
}

/* Sums move at most `most` times what the limits allow, histograms at most `bins` units. */
static void check_moved(const numbers *a, const numbers *b, const brume_plan *plan,
                        const pushed_limits *how, uint64_t bins, double most, double *worst)
{
    for (size_t i = 0; i < how->sum_count; i++) {
        double far = moved(a, b, plan, how, i);
        assert_true(far <= most * (1 + 1e-12));
        *worst = fmax(*worst, far);
    }
    for (size_t i = 0; i < how->limit_count; i++)
        assert_true(bins_moved(a, b, i) <= bins);
}

/* The unit removed, and with the rows of another in its place. Signed sums move by the limit under
 * add-remove, and by twice the limit, whose square is 4 times that of it, under replace. */
static void check_unit(size_t unit, const char *sql, const numbers *before, const brume_plan *plan,
                       const pushed_limits *how, double worst[2][2])
{
    char change[300];
    snprintf(change, sizeof change,
             "CREATE TABLE all_rows AS SELECT * FROM t; DELETE FROM t WHERE u = %zu", unit);
    pushed_here->execute(change);
    numbers without = measure(sql, how);
    check_moved(before, &without, plan, how, 1, 1, &worst[0][how->p - 1]);
    snprintf(change, sizeof change,
             "INSERT INTO t SELECT %zu, name, k, l, -x, -y, big FROM all_rows WHERE u = %zu", unit,
             (unit + 1) % PUSHED_UNITS);
    pushed_here->execute(change);
    numbers instead = measure(sql, how);
    check_moved(before, &instead, plan, how, 2, how->p == 1 ? 2 : 4, &worst[1][how->p - 1]);
    pushed_here->execute(
        "DELETE FROM t; INSERT INTO t SELECT * FROM all_rows; DROP TABLE all_rows");
}

/* Units 0 and 1 have so many rows with so large values that every limit cuts them. */
void pushed_one_unit_moves_no_more_than_its_limit(void **state)
{
    (void)state;
    static const char *const questions[] = {"SELECT k, COUNT(*), SUM(x), AVG(y) FROM t GROUP BY k",
                                            "SELECT COUNT(*), SUM(x), VAR_POP(x) FROM t"};
    double worst[2][2] = {{0}};
    for (size_t q = 0; q < pushed_here->questions; q++)
        for (int p = 1; p <= 2; p++) {
            pushed_fill(70);
            pushed_here->execute(
                "DELETE FROM t WHERE u < 2; INSERT INTO t SELECT i % 2, 'two', CASE WHEN i % 2 = "
                "0 THEN 'a' ELSE 'b' END, 1, 12, 20, 1 FROM generate_series(1, 20) AS s(i)");
            asked all = pushed_here->open(questions[q], false);
            pushed_limits how = pushed_choose(all.plan, p, 1);
            for (size_t i = 0; i < how.limit_count; i++)
                how.limits[i] = (brume_total_limit){how.limits[i].of, 1 + pushed_below(4), 0};
            for (size_t i = 0; i < how.sum_count; i++)
                how.sums[i].shift = 12;
            numbers before = measure(questions[q], &how);
            for (size_t unit = 0; unit < pushed_here->units; unit++)
                check_unit(unit, questions[q], &before, all.plan, &how, worst);
            asked_close(&all);
        }
    assert_true(worst[0][0] > 0.9 && worst[0][1] > 0.9); /* limits are reached */
    assert_true(worst[1][0] > 1.2 && worst[1][1] > 1.2); /* and replacing moves more */
}
