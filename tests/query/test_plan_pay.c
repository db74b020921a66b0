/* What a plan is paid with: the delta that nobody typed, parts of the price that have noise of
 * their own, and which payments are refused. Sums are in exact rationals. */
#include "planned.h"

#include <gmp.h>

#include "number/rounding.h"
#include "random/tape.h"

static const char keys[] = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic";
static const char joined[] = "SELECT clinic, COUNT(*) FROM visits v JOIN patients p ON v.patient = "
                             "p.patient GROUP BY clinic";

/* Rejects: all of the budget's delta for a part of its epsilon; the share of another dataset than
 * the poorest; more than there is where more epsilon is asked for than there is; one half or more.
 * The factor 1 - 2^-50 is what plan_pay.c takes away for its roundings. */
static void a_delta_nobody_typed_is_the_share_that_epsilon_is(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *epsilon, *limit, *limit_delta;
        double expected;
    } cases[] = {
        {keys, "1", NULL, NULL, 0.1 / 100},
        {keys, "0.7", NULL, NULL, 0.1 * 0.7 / 100},
        {keys, "100", NULL, NULL, 0.1},
        {keys, "250", NULL, NULL, 0.1},
        {joined, "1", "10", "0.02", 0.1 / 100},
        {joined, "1", "10", "0.001", 0.001 / 10},
        {joined, "1", "1000", "0.1", 0.1 / 1000},
        {joined, "1", "2", "0.0001", 0.0001 / 2},
        {"SELECT sex, MODE() WITHIN GROUP (ORDER BY patient % 5) FROM patients GROUP BY sex", "3",
         "3", "0.9", 0.49},
    };
    const terms of = {BRUME_ADD_REMOVE, {1, 1}, {3, 3}, 0, false};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        planned all;
        budget_of_patients[0] = cases[i].limit;
        budget_of_patients[1] = cases[i].limit_delta;
        make(&all, cases[i].sql, &of, cases[i].epsilon, NULL);
        assert_true(all.plan->delta_by_default);
        double delta = strtod(all.plan->delta, NULL);
        assert_close(delta, cases[i].expected, 0x1p-48);
        assert_holds(delta <= cases[i].expected);
        assert_holds(all.priced->price.delta <= brume_decimal_lower(&all.plan->charge.delta));
        assert_holds(all.priced->price.delta <= delta * (1 + 0x1p-50)); /* decimal_up */
        clear(&all);
    }
    budget_of_patients[0] = NULL;
}

/* Rejects: a delta of one half; a delta of 0 refused where there is none; a price in words. */
static void deltas_end_below_one_half(void **state)
{
    (void)state;
    const terms pure = {BRUME_ADD_REMOVE, {1, 1}, {3, 3}, BRUME_RULE_PURE, false};
    const terms of = {BRUME_ADD_REMOVE, {1, 1}, {3, 3}, 0, false};
    planned all;
    static const char sum[] = "SELECT SUM(age) FROM people";
    make(&all, sum, &pure, "1", "0");
    clear(&all);
    assert_fails(try(&all, sum, &pure, "1", "1e-9"), BRUME_EPOLICY);
    clear(&all);
    assert_fails(try(&all, sum, &of, "1", "0.5"), BRUME_EARGUMENT);
    clear(&all);
    make(&all, sum, &of, "1", "0.4999");
    clear(&all);
}

/* Rejects: the delta of a charge rounded up where plans are priced again with it. */
static void a_plan_that_is_priced_again_has_no_more_than_is_charged(void **state)
{
    (void)state;
    const terms of = {BRUME_ADD_REMOVE, {1, 1}, {3, 3}, 0, false};
    static const char *const deltas[] = {"1e-6", "0.003", "1e-7", "0.01", "3e-5"};
    for (size_t i = 0; i < 5; i++) {
        planned all;
        make(&all, keys, &of, "1", deltas[i]);
        assert_true(all.plan->allowed_delta == brume_decimal_lower(&all.plan->charge.delta));
        clear(&all);
    }
}

/* Rejects: any rounding of a part, of its noise or of the rest turned. */
static void parts_with_noise_of_their_own_and_the_rest_are_within_the_price(void **state)
{
    (void)state;
    uint64_t draws = 41;
    mpq_t sum, part;
    mpq_inits(sum, part, NULL);
    for (int i = 0; i < 400; i++) {
        bool concentrated = i % 2;
        const terms of = {BRUME_ADD_REMOVE,
                          {1, 1},
                          {3, 3},
                          concentrated ? BRUME_RULE_CONCENTRATED : BRUME_RULE_PURE,
                          true};
        char epsilon[32];
        planned all;
        double drawn = (double)(brume_tape_splitmix(&draws) >> 11) * 0x1p-53;
        snprintf(epsilon, sizeof epsilon, "%.*f", i % 4 < 2 ? 16 : 2, drawn + 0.05);
        make(&all, "SELECT SUM(age), COUNT(*) FROM visits", &of, epsilon, NULL);
        const brume_measurement *bias = &all.plan->measurements[all.plan->measurement_count - 1];
        assert_int_equal(bias->kind, BRUME_MEASUREMENT_BIAS);
        mpq_set_d(sum, bias->scale);
        if (concentrated)
            mpq_mul(sum, sum, sum);
        mpq_inv(sum, sum);
        mpq_set_d(part, (double)bias->count / (concentrated ? 2 : 1));
        mpq_mul(sum, sum, part);
        mpq_set_d(part, concentrated ? all.priced->price.rho : all.priced->price.epsilon);
        mpq_add(sum, sum, part);
        mpq_set_d(part, brume_decimal_lower(&all.plan->charge.amount));
        assert_holds(mpq_cmp(sum, part) <= 0);
        assert_holds(mpq_get_d(sum) >= mpq_get_d(part) * (1 - 1e-14));
        clear(&all);
    }
    mpq_clears(sum, part, NULL);
}

/* Rejects: the ball of the other norm; totals limited where each unit is a row. */
static void noise_decides_whose_ball_limits_totals(void **state)
{
    (void)state;
    static const char one_cell[] = "SELECT COUNT(*) FROM visits";
    static const char two_cells[] = "SELECT sex, COUNT(*) FROM patients GROUP BY sex";
    const terms pure = {BRUME_ADD_REMOVE, {1, 1}, {3, 3}, BRUME_RULE_PURE, false};
    const terms concentrated = {BRUME_ADD_REMOVE, {1, 1}, {3, 3}, BRUME_RULE_CONCENTRATED, false};
    planned all;
    for (int i = 0; i < 4; i++) {
        make(&all, i & 1 ? two_cells : one_cell, i & 2 ? &concentrated : &pure, "1", NULL);
        assert_true(all.plan->by_totals && all.plan->limit_count > 0);
        assert_int_equal(all.plan->norm, i == 3 ? 2 : 1);
        clear(&all);
    }
    make(&all, "SELECT COUNT(*) FROM people", &concentrated, "1", NULL); /* rho = 1/2 */
    assert_true(!all.plan->by_totals && all.plan->limit_count == 0);
    assert_close(all.priced->measures[0].scale, 1, 1e-12);
    clear(&all);
}

/* Rejects: the word of a table's owner taken for a query that does not read the table. */
static void limits_are_fixed_by_the_owners_of_what_is_read(void **state)
{
    (void)state;
    const terms of = {BRUME_ADD_REMOVE, {3, 3}, {3, 3}, 0, false};
    for (size_t t = 0; t < 2; t++) {
        planned all;
        brume_payment payment = {.epsilon = "1"};
        make(&all, "SELECT COUNT(*) FROM patients", &of, "1", NULL);
        brume_query_plan_close(all.plan);
        all.plan = NULL;
        all.policies[t].limits_fixed = true;
        assert_ok(brume_query_plan_make(all.query, all.tables, &payment, &all.plan, &error));
        assert_int_equal(all.plan->limits[0].source == BRUME_LIMIT_AUTO, t == 0);
        clear(&all);
    }
}

/* Rejects: a choice of limits that is sold where there is nothing to choose. */
static void limits_are_bought_alone_only_where_there_are_some(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        brume_status expected;
    } cases[] = {{"SELECT COUNT(*) FROM visits", BRUME_OK},
                 {"SELECT COUNT(*) FROM people", BRUME_EARGUMENT},
                 {keys, BRUME_EUNSUPPORTED}};
    const terms of = {BRUME_ADD_REMOVE, {0, 0}, {0, 0}, 0, false};
    for (size_t i = 0; i < 3; i++) {
        planned all;
        brume_payment payment = {.epsilon = "1", .delta = "1e-6", .limits_only = true};
        make(&all, cases[i].sql, &of, "1", "1e-6");
        brume_query_plan_close(all.plan);
        all.plan = NULL;
        assert_fails(brume_query_plan_make(all.query, all.tables, &payment, &all.plan, &error),
                     cases[i].expected);
        clear(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delta_nobody_typed_is_the_share_that_epsilon_is),
        cmocka_unit_test(deltas_end_below_one_half),
        cmocka_unit_test(a_plan_that_is_priced_again_has_no_more_than_is_charged),
        cmocka_unit_test(parts_with_noise_of_their_own_and_the_rest_are_within_the_price),
        cmocka_unit_test(noise_decides_whose_ball_limits_totals),
        cmocka_unit_test(limits_are_fixed_by_the_owners_of_what_is_read),
        cmocka_unit_test(limits_are_bought_alone_only_where_there_are_some),
    };
    return cmocka_run_group_tests_name("payments of plans", tests, NULL, NULL);
}
