/* Counts of distinct values, by enumeration: what one unit moves, over all tables in which two
 * units have any of the pairs of two groups and three values, in both directions and under both
 * adjacencies; and that the plan charges for it. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "query/collect/totals.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/make_plan.h"
#include "query/plan/question.h"
#include "random/tape.h"
#include "registered.h"

enum {
    GROUPS = 2,
    VALUES = 3,
    PAIRS = GROUPS * VALUES,
    SUBSETS = 1 << PAIRS,
    MOST_ROWS = 4 * PAIRS
};

typedef struct counts {
    int of[GROUPS];
} counts;

/* The numbers of values that are kept where unit 1 has the pairs of `first`, and unit 2 those of
 * `second`; in the other order of rows if `turned`, and every row twice. */
static counts count_kept(unsigned first, unsigned second, uint64_t limit, bool turned,
                         const bool *only_first)
{
    static const brume_wire wires[] = {BRUME_WIRE_INTEGER, BRUME_WIRE_INTEGER};
    brume_error error = {0};
    brume_bound_plan plan = {.key_count = 2, .key_wires = wires, .totals = true};
    brume_bits *bits = brume_tape_open_seeded(3); /* the same key for all */
    brume_bounder *bounder = NULL;
    assert_ok(brume_bounder_open(&plan, bits, &bounder, &error));
    int64_t unit[MOST_ROWS], group[MOST_ROWS], value[MOST_ROWS];
    size_t rows = 0;
    for (int i = 0; i < 4 * PAIRS; i++) {
        int at = turned ? 4 * PAIRS - 1 - i : i, pair = at % PAIRS, who = at / PAIRS % 2;
        if (((who ? second : first) >> pair & 1) == 0)
            continue;
        unit[rows] = who + 1;
        group[rows] = pair % GROUPS;
        value[rows++] = pair / GROUPS;
    }
    brume_chunk_column columns[] = {{.wire = BRUME_WIRE_INTEGER, .integers = unit},
                                    {.wire = BRUME_WIRE_INTEGER, .integers = group},
                                    {.wire = BRUME_WIRE_INTEGER, .integers = value}};
    brume_chunk chunk = {.row_count = rows, .column_count = 3, .columns = columns};
    assert_ok(brume_bounder_take(bounder, &chunk, &error));
    const brume_bounded_group *groups = NULL;
    size_t count = 0;
    assert_ok(brume_bounder_finish(bounder, &groups, &count, &error));
    bool shown[PAIRS + 1] = {false}, kept[PAIRS + 1] = {false};
    for (size_t i = 0; i < count; i++)
        shown[groups[i].number] = !only_first || groups[i].keys[0].integer == 0;
    assert_ok(brume_totals_distinct(bounder, limit, shown, kept, &error));
    counts found = {{0}};
    for (size_t i = 0; i < count; i++)
        if (kept[groups[i].number])
            found.of[groups[i].keys[0].integer]++;
    brume_bounder_close(bounder);
    brume_bits_close(bits);
    return found;
}

typedef struct moves {
    int add_remove, replace; /* the largest sums of what moves */
    int add_remove_squares, replace_squares;
    bool both_ways; /* under add-remove one group gained and another lost */
} moves;

static void take_move(moves *all, const counts *a, const counts *b, bool replace)
{
    int sum = 0, squares = 0;
    bool up = false, down = false;
    for (int g = 0; g < GROUPS; g++) {
        int d = b->of[g] - a->of[g];
        sum += abs(d);
        squares += d * d;
        up = up || d > 0;
        down = down || d < 0;
    }
    int *most = replace ? &all->replace : &all->add_remove;
    int *most_squares = replace ? &all->replace_squares : &all->add_remove_squares;
    *most = sum > *most ? sum : *most;
    *most_squares = squares > *most_squares ? squares : *most_squares;
    all->both_ways = all->both_ways || (!replace && up && down);
}

/* `limit` 0: a mutant that cuts nothing. */
static moves worst(uint64_t limit, bool one_group)
{
    counts *all = calloc(SUBSETS, sizeof *all);
    assert_non_null(all);
    static const bool only = true;
    moves found = {0};
    for (unsigned other = 0; other < SUBSETS; other += 5) {
        for (unsigned own = 0; own < SUBSETS; own++)
            all[own] =
                count_kept(own, other, limit ? limit : 1000, false, one_group ? &only : NULL);
        for (unsigned a = 0; a < SUBSETS; a++)
            for (unsigned b = 0; b < SUBSETS; b++) {
                take_move(&found, &all[a], &all[b], true);
                if (a == 0 || b == 0)
                    take_move(&found, &all[a], &all[b], false);
            }
    }
    free(all);
    return found;
}

static void a_unit_moves_what_is_charged(void **state)
{
    (void)state;
    for (int limit = 1; limit <= 3; limit++) {
        moves several = worst((uint64_t)limit, false), one = worst((uint64_t)limit, true);
        assert_int_equal(several.add_remove, limit);
        assert_int_equal(several.add_remove_squares, limit * limit);
        assert_int_equal(several.replace, 2 * limit);
        assert_int_equal(several.replace_squares, 2 * limit * limit);
        assert_false(several.both_ways);
        assert_int_equal(one.add_remove, limit);
        assert_int_equal(one.replace, limit);
    }
    moves uncut = worst(0, false); /* the mutant is found */
    assert_true(uncut.add_remove > 3 && uncut.replace > 3);
}

/* What is kept is a function of the rows, whatever their order, and nothing is lost below the
 * limit. */
static void order_and_repetition_do_not_matter(void **state)
{
    (void)state;
    for (unsigned own = 0; own < SUBSETS; own++)
        for (uint64_t limit = 1; limit <= PAIRS; limit++) {
            unsigned other = (own * 37 + 11) % SUBSETS;
            counts a = count_kept(own, other, limit, false, NULL);
            counts b = count_kept(own, other, limit, true, NULL);
            assert_memory_equal(&a, &b, sizeof a);
            for (int g = 0; limit == PAIRS && g < GROUPS; g++) {
                int expected = 0;
                for (int v = 0; v < VALUES; v++)
                    expected += ((own | other) >> (v * GROUPS + g) & 1) != 0;
                assert_int_equal(a.of[g], expected);
            }
        }
}

/* ---- the price ---- */

/* The terms of a plan; `limits_only` and ceilings are not there unless said. */
typedef struct terms {
    bool replace, concentrated, by_unit, limits_only;
    uint64_t max_groups, max_rows;
} terms;

static brume_plan *plan_of(const char *sql, terms of, brume_question **question)
{
    bool replace = of.replace, concentrated = of.concentrated;
    char csv[] = "/tmp/brume-distinct-XXXXXX.csv";
    int place = mkstemps(csv, 4);
    assert_true(place >= 0);
    FILE *file = fdopen(place, "w");
    assert_non_null(file);
    fputs("u,g,x\n", file);
    assert_int_equal(fclose(file), 0);
    brume_error error = {0};
    static const char *const domain[] = {"a", "b"};
    brume_policy *policy = registered_file(csv, "u text, g text, x bigint");
    assert_ok(brume_policy_set_domain(policy, "g", domain, 2, &error));
    if (of.by_unit)
        assert_ok(brume_policy_set_unit(policy, "u", &error));
    policy->max_groups = of.max_groups;
    policy->max_rows = of.max_rows;
    assert_ok(brume_question_alone(policy, "t", sql, question, &error));
    brume_dataset *dataset = (*question)->datasets[0];
    dataset->filter.rule = concentrated ? BRUME_RULE_CONCENTRATED : BRUME_RULE_PURE;
    dataset->adjacency = replace ? BRUME_REPLACE : BRUME_ADD_REMOVE;
    brume_payment payment = {.epsilon = concentrated ? NULL : "1",
                             .rho = concentrated ? "1" : NULL,
                             .limits_only = of.limits_only};
    brume_plan *plan = NULL;
    assert_ok(
        brume_query_plan_make((*question)->query, (*question)->tables, &payment, &plan, &error));
    unlink(csv);
    return plan;
}

static brume_terms *terms_of(const brume_plan *plan)
{
    brume_error error = {0};
    brume_terms *priced = NULL;
    assert_ok(brume_terms_make(plan, NULL, 0, &priced, &error));
    return priced;
}

/* What all draws of the plan cost together, where a unit moves what the enumeration says. */
static double cost_of(const brume_terms *priced, bool replace, bool concentrated)
{
    const brume_plan *plan = priced->plan;
    double sum = 0;
    for (size_t i = 0; i < plan->measurement_count; i++) {
        brume_distinct_terms one = priced->distinct[i];
        if (plan->measurements[i].kind != BRUME_MEASUREMENT_DISTINCT)
            continue;
        if (!one.limit.known)
            one.limit.limit = 12;
        double scale = brume_distinct_scale(&one), moved = (double)one.limit.limit;
        double times = replace && plan->shape.cells != 1 ? 2 : 1;
        if (!plan->limits_only)
            sum += concentrated ? times * moved * moved / (2 * scale * scale)
                                : times * moved / scale;
        if (brume_distinct_chooses(&one)) {
            double bins = replace ? 2 : 1, histogram = one.histogram_scale;
            double tail = one.tail_scale; /* parts of units above: moved as bins are */
            sum += concentrated ? bins / (2 * histogram * histogram) : bins / histogram;
            sum += concentrated ? bins / (2 * tail * tail) : bins / tail;
        }
    }
    return sum;
}

static void the_price_is_what_it_costs(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        double share; /* of the counts of values */
    } queries[] = {
        {"SELECT COUNT(DISTINCT x) FROM t", 1},
        {"SELECT g, COUNT(DISTINCT x) FROM t GROUP BY g", 1},
        {"SELECT g, COUNT(DISTINCT x), COUNT(*) FROM t GROUP BY g", 1. / 2},
        {"SELECT g, COUNT(DISTINCT x), COUNT(DISTINCT x + 1), COUNT(*), COUNT(x) FROM t GROUP BY g",
         2. / 4},
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        for (int k = 0; k < 8; k++) {
            bool replace = k & 1, concentrated = k & 2, by_unit = k & 4;
            brume_question *question = NULL;
            brume_plan *plan = plan_of(
                queries[i].sql,
                (terms){.replace = replace, .concentrated = concentrated, .by_unit = by_unit},
                &question);
            brume_terms *priced = terms_of(plan);
            double cost = cost_of(priced, replace, concentrated);
            brume_terms_close(priced);
            if (!(cost <= queries[i].share * (1 + 1e-12)) || !(cost > queries[i].share * 0.999))
                fail_msg("%s, %d: %g", queries[i].sql, k, cost);
            double left = brume_plan_joint_share(plan);
            assert_holds(fabs(left - (1 - queries[i].share)) < 1e-9);
            brume_query_plan_close(plan);
            brume_question_close(question);
        }
}

/* Bought alone the choice has all of the price, whatever the groups' share of it is; and what is
 * known already takes nothing. A limit from the ledger leaves all of its part to the count. */
static void the_choice_alone_costs_no_more(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        double share; /* of the counts of values */
    } queries[] = {
        {"SELECT COUNT(DISTINCT x) FROM t", 1},
        {"SELECT g, COUNT(DISTINCT x), COUNT(DISTINCT x + 1) FROM t GROUP BY g", 1},
        {"SELECT g, COUNT(DISTINCT x), COUNT(*) FROM t GROUP BY g", 1. / 2},
        /* the units of a whole table have no limit to choose */
        {"SELECT COUNT(DISTINCT x), COUNT(DISTINCT u) FROM t", 1},
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        for (int k = 0; k < 4; k++) {
            bool replace = k & 1, concentrated = k & 2;
            terms of = {.replace = replace,
                        .concentrated = concentrated,
                        .by_unit = true,
                        .limits_only = true};
            brume_question *question = NULL;
            brume_plan *plan = plan_of(queries[i].sql, of, &question);
            brume_terms *priced = terms_of(plan);
            double cost = cost_of(priced, replace, concentrated);
            if (!(cost <= queries[i].share * (1 + 1e-12)) || !(cost > queries[i].share * 0.999))
                fail_msg("%s, %d: %g", queries[i].sql, k, cost);
            brume_terms_close(priced);
            brume_query_plan_close(plan);
            brume_question_close(question);
            of.limits_only = false;
            plan = plan_of(queries[i].sql, of, &question);
            brume_error error = {0};
            brume_terms *found = terms_of(plan);
            for (size_t j = 0; j < plan->measurement_count; j++)
                if (brume_distinct_chooses(&found->distinct[j])) {
                    found->distinct[j].limit.source = BRUME_LIMIT_LEDGER;
                    found->distinct[j].limit.known = true;
                    found->distinct[j].limit.limit = 3;
                }
            assert_ok(brume_terms_make(plan, found, 0, &priced, &error));
            for (size_t j = 0; j < plan->measurement_count; j++)
                if (priced->distinct[j].limit.source == BRUME_LIMIT_LEDGER)
                    assert_true(priced->distinct[j].scale < found->distinct[j].scale);
            cost = cost_of(priced, replace, concentrated);
            assert_true(cost <= (i == 3 ? 1. / 2 : queries[i].share) * (1 + 1e-12));
            brume_terms_close(priced);
            brume_terms_close(found);
            brume_query_plan_close(plan);
            brume_question_close(question);
        }
}

/* Ceilings that multiply to more than 64 bits have are none; their low bits would be a small limit.
 */
static void large_ceilings_do_not_wrap(void **state)
{
    (void)state;
    static const struct {
        uint64_t groups, rows, ceiling;
    } cases[] = {{3, 5, 2 * 15},
                 {UINT64_C(1) << 29, UINT64_C(1) << 29, UINT64_C(1) << 59},
                 {UINT64_C(1) << 30, UINT64_C(1) << 30, UINT64_C(1) << 61},
                 {UINT64_C(1) << 30, UINT64_C(1) << 31, 0},
                 {UINT64_C(1) << 31, UINT64_C(1) << 32, 0},
                 {UINT64_C(1) << 62, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_question *question = NULL;
        terms of = {.by_unit = true, .max_groups = cases[i].groups, .max_rows = cases[i].rows};
        brume_plan *plan = plan_of(
            "SELECT g, COUNT(DISTINCT x) FROM t GROUP BY GROUPING SETS ((g), ())", of, &question);
        const brume_measurement *distinct = &plan->measurements[1];
        assert_int_equal(distinct->kind, BRUME_MEASUREMENT_DISTINCT);
        assert_int_equal(distinct->distinct.limit.ceiling, cases[i].ceiling);
        assert_true(distinct->distinct.limit.source == BRUME_LIMIT_AUTO);
        brume_query_plan_close(plan);
        brume_question_close(question);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_moves_what_is_charged),
        cmocka_unit_test(order_and_repetition_do_not_matter),
        cmocka_unit_test(the_price_is_what_it_costs),
        cmocka_unit_test(the_choice_alone_costs_no_more),
        cmocka_unit_test(large_ceilings_do_not_wrap),
    };
    return cmocka_run_group_tests_name("distinct values", tests, NULL, NULL);
}
