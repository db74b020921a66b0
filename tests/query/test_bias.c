/* Estimates of bias: the right numbers, each moved by at most 1 by a unit, at the owner's share. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "ask_json.h"
#include "query/release/explain.h"
#include "query/plan/bias.h"
#include "registered.h"

enum { PEOPLE = 6, ROWS = 12 };

/* person, ward, age: max_groups 2, max_rows 2, age within 0..100. The n-th row is of January n,
 * days are within 3..10. */
static const char *const table[ROWS] = {
    "p0,a,10",  "p0,a,11", "p0,a,12", /* three rows in a ward: cut */
    "p1,a,150", "p1,b,20",            /* clamped */
    "p2,a,20",  "p2,b,20", "p2,c,20", /* three wards: cut */
    "p3,b,200", "p3,b,-5",            /* clamped twice, counts once */
    "p4,c,",                          /* nothing to clamp */
    "p5,a,100",                       /* just within */
};

/* Without person `without`; `replaced` (or -1) has one other row instead of its own. */
static void open_bench(registered *all, int without, int replaced, const char *share,
                       brume_rule rule)
{
    brume_error error = {0};
    FILE *file = registered_begin(all);
    fputs("person,ward,age,day\n", file);
    for (size_t i = 0; i < ROWS; i++)
        if (table[i][1] - '0' != without && table[i][1] - '0' != replaced)
            fprintf(file, "%s,2024-01-%02zu\n", table[i], i + 1);
    if (replaced >= 0)
        fprintf(file, "q%d,b,300,2024-01-20\n", replaced);
    registered_open(all, file, 5);
    brume_policy *policy = registered_file(all->csv, "age bigint, day date");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "100", &error));
    assert_ok(brume_policy_set_bounds(policy, "day", "2024-01-03", "2024-01-10", &error));
    policy->max_groups = policy->max_rows = 2;
    if (share)
        assert_ok(brume_policy_set_bias_share(policy, share, &error));
    registered_terms terms = {"visits", rule, rule == BRUME_RULE_CONCENTRATED ? "100" : "1e9",
                              "0.1", BRUME_ADD_REMOVE};
    registered_enter(all->ledger, policy, &terms);
}

/* units, cut, clamped of the first value column; -1: not there. A price of 1e6 leaves noise of
 * scale 1e-4: another number than the true one has probability below exp(-9000). */
static void estimates(registered *all, const char *sql, double out[3])
{
    static const char *const names[] = {"units", "cut", "clamped"};
    brume_error error = {0};
    brume_payment payment = {.epsilon = "1e6", .delta = "1e-3"};
    json_t *answer = NULL;
    if (ask_json(all->ledger, sql, &payment, NULL, all->bits, NULL, &answer, &error) != BRUME_OK)
        fail_msg("%s: %s", sql, error.message);
    size_t i = 0;
    json_t *column = NULL, *bias = NULL;
    json_array_foreach (json_object_get(answer, "columns"), i, column)
        if (!bias)
            bias = json_object_get(column, "bias");
    for (size_t n = 0; n < 3; n++) {
        const json_t *one = json_object_get(bias, names[n]);
        out[n] = one ? json_number_value(one) : -1;
    }
    json_decref(answer);
}

static const struct {
    const char *sql;
    double expected[3];
} questions[] = {
    {"SELECT MEDIAN(age) FROM visits", {6, -1, 2}}, /* limits on totals have their own count, */
    {"SELECT AVG(age) FROM visits", {6, -1, 2}},    /* cut_units */
    {"SELECT ward, MEDIAN(age) FROM visits GROUP BY ward", {6, -1, 2}},
    {"SELECT COUNT(*) FROM visits", {-1, -1, -1}},
    {"SELECT ward, MEDIAN(age), COUNT(*) FROM visits WHERE age > 0 GROUP BY ward", {5, -1, 2}},
    {"SELECT ward, MEDIAN(age) FROM visits WHERE ward <> 'c' GROUP BY ward", {5, -1, 2}},
    {"SELECT SUM(age) FILTER (WHERE ward = 'a') FROM visits", {6, -1, 1}},
    {"SELECT MEDIAN(CLAMP(age, 0, 15)) FROM visits", {6, -1, 4}},
    {"SELECT AVG(CLAMP(n, 0, 2)) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) t",
     {6, -1, 2}},
    {"SELECT MEDIAN(a) FROM (SELECT person, age AS a FROM visits WHERE age > -100) t", {5, -1, 2}},
    {"WITH t AS (SELECT person, ward, age * 2 AS a FROM visits) SELECT ward, MEDIAN(a + 1) FROM t "
     "GROUP BY ward",
     {6, -1, 2}},
    {"SELECT AVG(day - DATE '2024-01-05') FROM visits", {6, -1, 3}},
    {"SELECT MEDIAN(a) FROM (SELECT person, CLAMP(age, 0, 5) AS a FROM visits) t", {-1, -1, -1}},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static void units_that_are_cut_or_clamped_are_counted(void **state)
{
    (void)state;
    registered all;
    open_bench(&all, -1, -1, "0.1", BRUME_RULE_APPROXIMATE);
    for (size_t i = 0; i < QUESTIONS; i++) {
        double found[3];
        estimates(&all, questions[i].sql, found);
        for (size_t n = 0; n < 3; n++)
            if (found[n] != questions[i].expected[n])
                fail_msg("%s: number %zu is %g", questions[i].sql, n, found[n]);
    }
    registered_close(&all);
}

static void a_unit_moves_each_estimate_by_at_most_one(void **state)
{
    (void)state;
    size_t moved = 0;
    for (int unit = 0; unit < PEOPLE; unit++)
        for (int replace = 0; replace < 2; replace++) {
            registered other;
            open_bench(&other, replace ? -1 : unit, replace ? unit : -1, "0.1",
                       BRUME_RULE_APPROXIMATE);
            for (size_t i = 0; i < QUESTIONS;
                 i += 2) { /* half of them: each answer takes its time */
                double found[3];
                estimates(&other, questions[i].sql, found);
                for (size_t n = 0; n < 3; n++) {
                    double by = fabs(found[n] - questions[i].expected[n]);
                    if (by > 1)
                        fail_msg("%s: person %d moves number %zu by %g", questions[i].sql, unit, n,
                                 by);
                    moved += by == 1;
                }
            }
            registered_close(&other);
        }
    assert_holds(moved > 30); /* removing a person moves the units of nearly every question */
}

static double number(const json_t *plan, size_t index, const char *field)
{
    return json_number_value(json_object_get(json_array_get(plan, index), field));
}

static void the_share_comes_out_of_the_price_and_is_shown(void **state)
{
    (void)state;
    brume_error error = {0};
    const char *sql = "SELECT AVG(age) FROM visits";
    for (int concentrated = 0; concentrated < 2; concentrated++) {
        brume_rule rule = concentrated ? BRUME_RULE_CONCENTRATED : BRUME_RULE_APPROXIMATE;
        brume_payment payment = {.epsilon = concentrated ? NULL : "1",
                                 .rho = concentrated ? "0.5" : NULL};
        registered with, without;
        json_t *plans[2] = {NULL, NULL};
        open_bench(&with, -1, -1, "0.2", rule);
        open_bench(&without, -1, -1, NULL, rule);
        assert_ok(brume_explain(with.ledger, sql, &payment, NULL, &plans[0], &error));
        assert_ok(brume_explain(without.ledger, sql, &payment, NULL, &plans[1], &error));
        assert_true(
            json_equal(json_object_get(plans[0], "cost"), json_object_get(plans[1], "cost")));
        json_t *a = json_object_get(plans[0], "plan"), *b = json_object_get(plans[1], "plan");
        assert_int_equal(json_array_size(b), 2);
        assert_int_equal(json_array_size(a), 4);
        assert_int_equal(json_array_size(json_object_get(plans[0], "error_95")), 4);
        const char *scale = concentrated ? "sigma" : "scale";
        /* what is asked keeps 4/5 of the price, two counts of sensitivity 1 have 1/5 of it */
        assert_close(number(a, 0, scale), number(b, 0, scale) / (concentrated ? sqrt(.8) : .8),
                     1e-12);
        assert_close(number(a, 2, scale), concentrated ? sqrt(2 / (2 * .1)) : 2 / .2, 1e-12);
        double shares = 0;
        for (size_t i = 0; i < 4; i++)
            shares += number(a, i, "share");
        assert_close(shares, 1, 1e-12);
        json_decref(plans[0]);
        json_decref(plans[1]);
        registered_close(&with);
        registered_close(&without);
    }
}

static void nothing_is_estimated_unless_the_owner_says_so(void **state)
{
    (void)state;
    brume_error error = {0};
    registered all;
    open_bench(&all, -1, -1, NULL, BRUME_RULE_APPROXIMATE);
    for (size_t i = 0; i < QUESTIONS; i++) {
        double found[3];
        estimates(&all, questions[i].sql, found);
        for (size_t n = 0; n < 3; n++)
            assert_holds(found[n] == -1);
    }
    registered_close(&all);
    brume_policy policy = {0};
    static const char *const bad[] = {"0", "0.51", "1", "-0.1", "nan", "", "x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(brume_policy_set_bias_share(&policy, bad[i], &error), BRUME_EARGUMENT);
    assert_null(policy.bias_share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_that_are_cut_or_clamped_are_counted),
        cmocka_unit_test(a_unit_moves_each_estimate_by_at_most_one),
        cmocka_unit_test(the_share_comes_out_of_the_price_and_is_shown),
        cmocka_unit_test(nothing_is_estimated_unless_the_owner_says_so),
    };
    return cmocka_run_group_tests_name("estimates of bias", tests, NULL, NULL);
}
