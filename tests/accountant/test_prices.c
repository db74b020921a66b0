/* Prices and budgets at their edges: every price is at least the number that it is made from, what
 * cannot be a cost is refused, and the largest and least budgets are those that the header names.
 */
#include "check.h"

#include <brume/account/filter.h>

#include "accountant/renyi/renyi.h"
#include "random/tape.h"

static brume_error error;

static brume_decimal d(const char *text)
{
    brume_decimal x;
    assert_ok(brume_decimal_parse(text, &x, &error));
    return x;
}

/* A decimal that no double is. */
static brume_decimal some_decimal(uint64_t *seed)
{
    char text[64];
    snprintf(text, sizeof text, "%u.%09u%09u%09u1", (unsigned)(brume_tape_splitmix(seed) % 3),
             (unsigned)(brume_tape_splitmix(seed) % 1000000000),
             (unsigned)(brume_tape_splitmix(seed) % 1000000000),
             (unsigned)(brume_tape_splitmix(seed) % 1000000000));
    return d(text);
}

/* Rejects: epsilon read down before it becomes a rho, or the rho rounded down to its digits. */
static void a_guarantee_costs_at_least_the_rho_of_its_epsilon(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 500; i++) {
        brume_decimal epsilon = some_decimal(&seed), delta = d("1e-6");
        brume_cost pure = {.pure = BRUME_UPPER, .epsilon = brume_decimal_upper(&epsilon)};
        brume_charge charge;
        assert_ok(
            brume_charge_guarantee(BRUME_RULE_CONCENTRATED, &epsilon, &delta, &charge, &error));
        assert_holds(brume_decimal_lower(&charge.amount) >= brume_rho_upper(&pure));
        assert_int_equal(brume_decimal_compare(&charge.delta, &delta), 0);
    }
}

/* Rejects: an amount or a failure rounded down to its digits; a number of releases forgotten. */
static void a_cost_becomes_a_price_that_is_not_below_it(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (int i = 0; i < 500; i++) {
        double amount = (double)(brume_tape_splitmix(&seed) >> 11) * 0x1p-53;
        double failure = (double)(brume_tape_splitmix(&seed) >> 11) * 0x1p-60;
        brume_cost cost = {.pure = BRUME_EXACT,
                           .epsilon = amount,
                           .concentrated = BRUME_EXACT,
                           .rho = amount / 3,
                           .delta_failure = failure};
        brume_charge once, often;
        for (int rule = BRUME_RULE_APPROXIMATE; rule <= BRUME_RULE_CONCENTRATED; rule++) {
            double least = rule == BRUME_RULE_APPROXIMATE ? amount : brume_rho_upper(&cost);
            assert_ok(brume_charge_cost((brume_rule)rule, &cost, 1, &once, &error));
            assert_holds(brume_decimal_lower(&once.amount) >= least);
            assert_holds(brume_decimal_lower(&once.delta) >= failure);
            assert_close(brume_decimal_nearest(&once.delta), failure, 1e-15);
            assert_ok(brume_charge_cost((brume_rule)rule, &cost, 48, &often, &error));
            brume_decimal product;
            assert_ok(brume_decimal_multiply(&once.amount, 48, &product, &error));
            assert_int_equal(brume_decimal_compare(&often.amount, &product), 0);
            assert_ok(brume_decimal_multiply(&once.delta, 48, &product, &error));
            assert_int_equal(brume_decimal_compare(&often.delta, &product), 0);
        }
    }
}

/* Rejects: the check of a cost left out; a cost of nothing refused. */
static void what_is_no_cost_has_no_price_and_nothing_costs_nothing(void **state)
{
    (void)state;
    const brume_cost bad[] = {
        {.pure = BRUME_EXACT, .epsilon = -1, .concentrated = BRUME_EXACT, .rho = .1},
        {.pure = BRUME_EXACT, .epsilon = NAN, .concentrated = BRUME_EXACT, .rho = .1},
        {.pure = BRUME_EXACT, .epsilon = .1, .concentrated = BRUME_EXACT, .rho = -1},
        {.pure = BRUME_EXACT, .epsilon = .1, .concentrated = BRUME_EXACT, .delta_failure = 1.5},
        {.pure = BRUME_EXACT, .epsilon = .1, .concentrated = BRUME_EXACT, .delta_failure = -1},
    };
    brume_charge charge;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int rule = BRUME_RULE_APPROXIMATE; rule <= BRUME_RULE_CONCENTRATED; rule++)
            assert_fails(brume_charge_cost((brume_rule)rule, &bad[i], 1, &charge, &error),
                         BRUME_EARGUMENT);
    const brume_cost nothing = {.pure = BRUME_EXACT, .concentrated = BRUME_EXACT};
    for (int rule = BRUME_RULE_PURE; rule <= BRUME_RULE_CONCENTRATED; rule++) {
        assert_ok(brume_charge_cost((brume_rule)rule, &nothing, 1, &charge, &error));
        assert_true(brume_decimal_is_zero(&charge.amount) && brume_decimal_is_zero(&charge.delta));
    }
}

/* Rejects: other limits of budgets than those stated, by a crumb. */
static void budgets_end_where_the_header_says(void **state)
{
    (void)state;
    brume_filter filter;
    brume_decimal most = d("1e12"), more = d("1000000000000.000000000001"), least = d("1e-60");
    brume_decimal nearly = d("0.999999999999"), one = d("1");
    assert_ok(brume_filter_make(BRUME_RULE_PURE, &most, NULL, NULL, &filter, &error));
    assert_fails(brume_filter_make(BRUME_RULE_PURE, &more, NULL, NULL, &filter, &error),
                 BRUME_EARGUMENT);
    assert_ok(brume_filter_make(BRUME_RULE_PURE, &least, NULL, NULL, &filter, &error));
    assert_ok(brume_filter_make(BRUME_RULE_APPROXIMATE, &one, &nearly, NULL, &filter, &error));
    assert_ok(brume_filter_make(BRUME_RULE_APPROXIMATE, &one, &least, NULL, &filter, &error));
    brume_rule rule = BRUME_RULE_PURE;
    assert_fails(brume_rule_parse("unlike every one of them", &rule, &error), BRUME_EUNKNOWN);
    assert_string_equal(error.hint, "pure, approximate, concentrated");
    assert_null(brume_rule_word((brume_rule)0));
    assert_null(brume_rule_word((brume_rule)4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guarantee_costs_at_least_the_rho_of_its_epsilon),
        cmocka_unit_test(a_cost_becomes_a_price_that_is_not_below_it),
        cmocka_unit_test(what_is_no_cost_has_no_price_and_nothing_costs_nothing),
        cmocka_unit_test(budgets_end_where_the_header_says),
    };
    return cmocka_run_group_tests_name("prices", tests, NULL, NULL);
}
