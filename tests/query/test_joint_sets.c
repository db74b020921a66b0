/* Answers with joint sets: in every draw totals are the sums of their parts, bars cover as often as
 * they say, and errors are as small as the formula says. The tape is seeded. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "asked.h"
#include "chance.h"
#include "query/plan/plan_sets.h"
#include "query/release/collect_and_draw.h"
#include "query/release/present.h"
#include "registered.h"
#include "synthetic/consistent.h"

enum { DRAWS = 2000, CELLS = 64, ROWS = 90 };

/* Row i: k is a, b or the undeclared z; l is x, y or w; v is 0 to 9. A unit has up to 3 rows. */
static const char ks[] = "abz", ls[] = "xyw";

static int k_of(int row)
{
    return row % 7 == 6 ? 2 : row % 3 == 0;
}

static int l_of(int row)
{
    return row / 2 % 3;
}

/* Neighbours of the table: its last row is gone, is another one, or is of an undeclared value. */
typedef enum change { AS_IT_IS, GONE, ANOTHER, UNDECLARED, CHANGES } change;

static brume_policy *make_table(char csv[64], bool by_unit, change last)
{
    static const char *const first[] = {"a", "b"}, *const second[] = {"x", "y", "w"};
    brume_error error = {0};
    snprintf(csv, 64, "/tmp/brume-joint-XXXXXX.csv");
    int place = mkstemps(csv, 4);
    assert_true(place >= 0);
    FILE *file = fdopen(place, "w");
    assert_non_null(file);
    fputs("u,k,l,v\n", file);
    for (int i = 0; i < ROWS - (last != AS_IT_IS); i++)
        fprintf(file, "%d,%c,%c,%d\n", i / 3, ks[k_of(i)], ls[l_of(i)], i % 10);
    if (last == ANOTHER || last == UNDECLARED)
        fprintf(file, "%d,%c,x,9\n", ROWS / 3 - 1, last == ANOTHER ? 'b' : 'z');
    assert_int_equal(fclose(file), 0);
    brume_policy *policy = registered_file(csv, "u bigint, k text, l text, v bigint");
    assert_ok(brume_policy_set_domain(policy, "k", first, 2, &error));
    assert_ok(brume_policy_set_domain(policy, "l", second, 3, &error));
    assert_ok(brume_policy_set_bounds(policy, "v", "0", "9", &error));
    if (by_unit)
        assert_ok(brume_policy_set_unit(policy, "u", &error));
    return policy;
}

/* The true number of rows, or sum of v, in a row of the answer: its keys are columns 0 and 1. */
static double truth(const brume_query_answer *answer, size_t row, bool sum)
{
    const brume_value *keys = &answer->values[row * answer->column_count];
    double total = 0;
    for (int i = 0; i < ROWS; i++) {
        bool k = keys[0].kind == BRUME_VALUE_NULL || keys[0].text[0] == ks[k_of(i)];
        bool l = keys[1].kind == BRUME_VALUE_NULL || keys[1].text[0] == ls[l_of(i)];
        if (k && l && ks[k_of(i)] != 'z')
            total += sum ? i % 10 : 1;
    }
    return total;
}

/* Does every total of column `at` equal the sum of the rows that differ from it in one key only? */
static bool adds_up(const brume_query_answer *answer, size_t at)
{
    size_t columns = answer->column_count;
    for (size_t t = 0; t < answer->row_count; t++)
        for (size_t key = 0; key < 2; key++) {
            double sum = 0;
            size_t parts = 0;
            const brume_value *total = &answer->values[t * columns];
            for (size_t r = 0; total[key].kind == BRUME_VALUE_NULL && r < answer->row_count; r++) {
                const brume_value *part = &answer->values[r * columns];
                const brume_value *a = &part[1 - key], *b = &total[1 - key];
                bool same = a->kind == b->kind &&
                            (a->kind == BRUME_VALUE_NULL || a->text[0] == b->text[0]);
                if (part[key].kind == BRUME_VALUE_NULL || !same)
                    continue;
                sum += part[at].number;
                parts++;
            }
            if (parts > 0 && sum != total[at].number)
                return false;
        }
    return true;
}

/* One draw of all of it, from what was collected once. */
static brume_query_answer *draw(const asked *all, brume_collected *collected)
{
    brume_error error = {0};
    brume_drawn *drawn = NULL;
    brume_query_answer *answer = NULL;
    assert_ok(brume_drawn_open(all->plan, &drawn, &error));
    assert_ok(brume_draw_keys(all->terms, collected, all->bits, drawn, &error));
    if (all->plan->by_totals)
        assert_ok(brume_sum_under_limits(all->terms, collected, drawn, &error));
    assert_ok(brume_draw_groups(all->terms, 0, collected, all->bits, drawn, &error));
    assert_ok(brume_present(all->terms, drawn, &answer, &error));
    brume_drawn_close(drawn);
    return answer;
}

typedef struct outcome {
    double covered, covered_short, cells; /* by bars, and by bars 0.7 as long */
    double squares, claimed;              /* of errors, and the variance that they should have */
    /* of one number of each draw, by turns: these are independent */
    uint64_t draws, missed, missed_short;
} outcome;

static void look_at(const asked *all, const brume_query_answer *answer, size_t at, bool sum,
                    outcome *out)
{
    for (size_t r = 0; r < answer->row_count; r++) {
        size_t cell = r * answer->column_count + at;
        double off = fabs(answer->values[cell].number - truth(answer, r, sum));
        double bar = answer->errors[cell];
        bool laplace = all->plan->noise == BRUME_NOISE_DISCRETE_LAPLACE;
        double deviation = bar / (laplace ? log(20) / M_SQRT2 : 1.959964);
        out->covered += off <= bar;
        out->covered_short += off <= 0.7 * bar;
        out->squares += off * off;
        out->claimed += deviation * deviation;
        out->cells++;
        if (out->draws % answer->row_count != r)
            continue;
        out->missed += off > bar;
        out->missed_short += off > 0.7 * bar;
    }
    out->draws++;
}

static const struct {
    const char *sql;
    size_t value; /* column, */
    bool sum, by_unit;
    brume_rule rule;
    const char *epsilon, *delta;
} asks[] = {
    {"SELECT k, l, COUNT(*) AS n FROM t GROUP BY CUBE (k, l)", 2, false, false, BRUME_RULE_PURE,
     "0.5", NULL},
    {"SELECT k, l, COUNT(*) AS n FROM t GROUP BY ROLLUP (k, l)", 2, false, false,
     BRUME_RULE_CONCENTRATED, "0.5", NULL},
    {"SELECT k, l, SUM(v) AS s FROM t GROUP BY GROUPING SETS ((k), (l), ())", 2, true, false,
     BRUME_RULE_CONCENTRATED, "0.5", NULL},
    {"SELECT k, l, SUM(v) AS s, COUNT(*) AS n FROM t GROUP BY CUBE (k, l)", 2, true, false,
     BRUME_RULE_PURE, "1", NULL},
    {"SELECT k, l, COUNT(*) AS n FROM t GROUP BY CUBE (k, l)", 2, false, true,
     BRUME_RULE_CONCENTRATED, "2", NULL},
};

static void totals_are_sums_and_bars_cover(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        char csv[64];
        outcome seen = {0};
        brume_policy *policy = make_table(csv, asks[i].by_unit, AS_IT_IS);
        policy->table_rows = asks[i].by_unit ? 3 : 0;
        policy->limits_fixed = asks[i].by_unit; /* to what the owner declares: nothing is cut */
        asked all = asked_open(policy, "t", asks[i].sql, 7 + i);
        asked_plan(&all, asks[i].rule, asks[i].epsilon, asks[i].delta);
        assert_non_null(all.plan->fitted);
        brume_collected *collected = asked_collect(&all, false, 0);
        for (int d = 0; d < DRAWS; d++) {
            brume_query_answer *answer = draw(&all, collected);
            assert_true(answer->joint_sets);
            for (size_t c = asks[i].value; c < answer->column_count; c++)
                assert_true(adds_up(answer, c));
            look_at(&all, answer, asks[i].value, asks[i].sum, &seen);
            brume_query_answer_close(answer);
        }
        /* a bar holds with 95 %, and one 0.7 as long does not */
        double alarm = false_alarm_share(false_alarm_joint_bars);
        assert_true(binomial_plausible(DRAWS, seen.missed, 0, 0.05, alarm));
        assert_true(!binomial_plausible(DRAWS, seen.missed_short, 0, 0.05, alarm));
        if (seen.covered < 0.95 * seen.cells || seen.covered_short > 0.93 * seen.cells ||
            seen.squares > 1.15 * seen.claimed || seen.squares < 0.8 * seen.claimed)
            fail_msg("%s: bars cover %g, 0.7 of them %g, squares %g of what is claimed",
                     asks[i].sql, seen.covered / seen.cells, seen.covered_short / seen.cells,
                     seen.squares / seen.claimed);
        brume_collected_close(collected);
        asked_close(&all);
        unlink(csv);
    }
}

/* ---- replay on neighbours ---- */

/* Of a row-by-row table: what is noised, in the order of the groups. */
static double true_number(const asked *all, const brume_bounded_group *group, size_t measure)
{
    const brume_measure *one = &all->terms->measures[measure];
    const brume_bounded_value *value = &group->values[one->expression];
    switch (one->kind) {
    case BRUME_MEASURE_CENTRED:
        return (double)value->sum;
    case BRUME_MEASURE_DIRECT:
        return (double)value->sum + (double)brume_measure_centre(one) * (double)value->count;
    case BRUME_MEASURE_VALUES:
        return (double)value->count;
    default:
        return (double)group->units;
    }
}

/* What the draws of the one table cost against the other: epsilon, or rho. */
static double loss(const asked *all, brume_collected *a, brume_collected *b)
{
    size_t count = 0;
    const brume_bounded_group *before = brume_collected_groups(a, &count),
                              *after = brume_collected_groups(b, &count);
    double sum = 0;
    for (size_t m = 0; m < all->plan->measure_count; m++)
        for (size_t g = 0; g < count; g++) {
            double moved = fabs(true_number(all, &before[g], m) - true_number(all, &after[g], m)) /
                           all->terms->measures[m].scale;
            sum += all->plan->noise == BRUME_NOISE_DISCRETE_LAPLACE ? moved : moved * moved / 2;
        }
    return sum;
}

/* The draws of a query on a table, replayed on its neighbours with the same randomness: what they
 * cost is within the price in both adjacencies, and the whole answer, fitted and rounded, moves
 * by little more than a row does: it depends on the rows through the noisy numbers alone. */
static void a_replay_on_neighbours_costs_the_price(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (int replace = 0; replace < 2; replace++) {
            char csv[CHANGES][64];
            asked all[CHANGES];
            brume_collected *collected[CHANGES];
            brume_query_answer *answers[CHANGES];
            double worst = 0, price = strtod(asks[i].epsilon, NULL);
            price = asks[i].rule == BRUME_RULE_CONCENTRATED ? price * price / 2 : price;
            for (int c = 0; c < CHANGES; c++) {
                all[c] = asked_open(make_table(csv[c], false, (change)c), "t", asks[i].sql, 3);
                all[c].question->datasets[0]->adjacency = replace ? BRUME_REPLACE
                                                                  : BRUME_ADD_REMOVE;
                asked_plan(&all[c], asks[i].rule, asks[i].epsilon, asks[i].delta);
                collected[c] = asked_collect(&all[c], false, 0);
                answers[c] = draw(&all[c], collected[c]);
            }
            for (int a = 0; a < CHANGES; a++)
                for (int b = 0; b < CHANGES; b++) {
                    bool neighbours = replace ? a != GONE && b != GONE : a == GONE || b == GONE;
                    if (neighbours && a != b)
                        worst = fmax(worst, loss(&all[0], collected[a], collected[b]));
                    for (size_t r = 0; neighbours && r < answers[a]->row_count; r++) {
                        size_t cell = r * answers[a]->column_count + asks[i].value;
                        double moved = answers[a]->values[cell].number -
                                       answers[b]->values[cell].number;
                        double most = asks[i].sum ? 9 : 1; /* that a row adds to a cell */
                        assert_true(fabs(moved) <= 2 * most + 6);
                    }
                }
            if (!(worst <= price * (1 + 1e-9) && worst > price / 4))
                fail_msg("%s, replace %d: %g of %g", asks[i].sql, replace, worst, price);
            /* Mutants: noise as for one set; the factor for replace forgotten. */
            double sets = (double)all[0].question->query->set_count;
            assert_true(worst * (replace ? 2 : sets) > 1.2 * price);
            for (int c = 0; c < CHANGES; c++) {
                brume_query_answer_close(answers[c]);
                brume_collected_close(collected[c]);
                asked_close(&all[c]);
                unlink(csv[c]);
            }
        }
}

/* Sets that cannot add up stay as they are, and the plan says why. */
static void others_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *why;
    } apart[] = {
        {"SELECT k, MEDIAN(v) AS m FROM t GROUP BY ROLLUP (k)",
         "nothing that is asked for adds up"},
        {"SELECT k, COUNT(*), COUNT(DISTINCT v) AS d FROM t GROUP BY ROLLUP (k)",
         "distinct values and modes of undeclared values do not add up"},
    };
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        char csv[64];
        asked all = asked_open(make_table(csv, false, AS_IT_IS), "t", apart[i].sql, 1);
        asked_plan(&all, BRUME_RULE_PURE, "1", NULL);
        assert_null(all.plan->fitted);
        assert_string_equal(all.plan->fitted_why, apart[i].why);
        asked_close(&all);
        unlink(csv);
    }
}

/* Units of several rows: presence does not add up and is drawn by itself, rows beside it do. */
static void units_in_several_groups_are_not_fitted(void **state)
{
    (void)state;
    char csv[64];
    asked all =
        asked_open(make_table(csv, true, AS_IT_IS), "t",
                   "SELECT k, COUNT(DISTINCT u) AS p, COUNT(*) AS n FROM t GROUP BY ROLLUP (k)", 1);
    asked_plan(&all, BRUME_RULE_PURE, "1", NULL);
    assert_non_null(all.plan->fitted);
    size_t fitted = 0;
    for (size_t m = 0; m < all.plan->measure_count; m++) {
        bool presence = all.plan->measures[m].kind == BRUME_MEASURE_PRESENCE;
        assert_true(brume_plan_is_fitted(all.plan, m) != presence);
        fitted += !presence;
    }
    assert_int_equal(fitted, 1);
    assert_int_equal(all.plan->measure_count, 2);
    asked_close(&all);
    unlink(csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_sums_and_bars_cover),
        cmocka_unit_test(a_replay_on_neighbours_costs_the_price),
        cmocka_unit_test(others_say_why),
        cmocka_unit_test(units_in_several_groups_are_not_fitted),
    };
    return cmocka_run_group_tests_name("joint sets", tests, NULL, NULL);
}
