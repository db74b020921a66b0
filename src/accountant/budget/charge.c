/* Prices in the currency of a rule. Promise: never below what the release costs; typed decimals
 * stay as typed. */
#include <math.h>

#include <brume/account/filter.h>

#include "accountant/law/law.h"
#include "accountant/renyi/renyi.h"
#include "base/error.h"
#include "number/decimal.h"
#include "number/rounding.h"

enum { DIGITS = 17 };

brume_status brume_charge_make(brume_rule rule, const brume_decimal *amount,
                               const brume_decimal *delta, brume_charge *out, brume_error *error)
{
    static const brume_decimal zero = {{0}, 0}, one = {{1}, 0};
    const brume_decimal *failure = delta ? delta : &zero;
    if (!brume_rule_word(rule))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such rule");
    if (brume_decimal_compare(failure, &one) >= 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a price's 'delta' must be below 1");
    if (rule == BRUME_RULE_PURE && !brume_decimal_is_zero(failure))
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "register the data with a delta, under the rule approximate",
                          "a release with a delta cannot be charged to a pure budget");
    *out = (brume_charge){rule, *amount, *failure};
    return BRUME_OK;
}

/* epsilon tanh(epsilon/2), rounded up: every factor is. */
static double rho_upper(double epsilon)
{
    brume_cost pure = {.pure = BRUME_UPPER, .epsilon = epsilon};
    return brume_rho_upper(&pure);
}

brume_status brume_charge_rho_of_epsilon(const brume_decimal *epsilon, brume_decimal *rho,
                                         brume_error *error)
{
    static const brume_decimal half = {{5}, -1};
    brume_decimal exact;
    if (brume_decimal_product(epsilon, epsilon, &exact, NULL) == BRUME_OK &&
        brume_decimal_product(&exact, &half, &exact, NULL) == BRUME_OK &&
        brume_decimal_lower(&exact) > 0 && isfinite(brume_decimal_upper(&exact))) {
        *rho = exact;
        return BRUME_OK;
    }
    double most =
        brume_decimal_upper(epsilon); /* too many digits, or out of the range of doubles */
    return brume_decimal_from_double_up(brume_divide_up(brume_multiply_up(most, most), 2), DIGITS,
                                        rho, error);
}

brume_status brume_charge_guarantee(brume_rule rule, const brume_decimal *epsilon,
                                    const brume_decimal *delta, brume_charge *out,
                                    brume_error *error)
{
    if (rule != BRUME_RULE_CONCENTRATED)
        return brume_charge_make(rule, epsilon, delta, out, error);
    brume_decimal rho;
    BRUME_TRY(
        brume_decimal_from_double_up(rho_upper(brume_decimal_upper(epsilon)), DIGITS, &rho, error));
    return brume_charge_make(rule, &rho, delta, out, error);
}

brume_status brume_charge_cost(brume_rule rule, const brume_cost *cost, uint64_t count,
                               brume_charge *out, brume_error *error)
{
    double amount;
    BRUME_TRY(brume_cost_check(cost, error));
    if (rule == BRUME_RULE_CONCENTRATED)
        amount = brume_rho_upper(cost);
    else
        amount = cost->pure != BRUME_ABSENT ? cost->epsilon : INFINITY;
    if (!isfinite(amount) || !(amount >= 0))
        return brume_fail(
            error, BRUME_EUNSUPPORTED,
            rule == BRUME_RULE_CONCENTRATED
                ? NULL
                : "convert it at a delta of your choice, or use a concentrated budget",
            "this release has no %s of its own",
            rule == BRUME_RULE_CONCENTRATED ? "rho" : "pure epsilon");
    brume_decimal price, failure;
    /* both rounded up before the exact multiplication; failures add up to at most their sum */
    BRUME_TRY(brume_decimal_from_double_up(amount, DIGITS, &price, error));
    BRUME_TRY(brume_decimal_from_double_up(cost->delta_failure, DIGITS, &failure, error));
    BRUME_TRY(brume_decimal_multiply(&price, count, &price, error));
    BRUME_TRY(brume_decimal_multiply(&failure, count, &failure, error));
    return brume_charge_make(rule, &price, &failure, out, error);
}
