/* The payment of a plan: what was typed becomes scales, thresholds and a charge.
 *
 * Promise: no more is bought than what was typed pays for, and what is charged is not less than
 * what was typed and used. */
#include "query/plan/plan_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/stable_histogram.h>

#include "base/error.h"
#include "number/rounding.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/plan/plan_terms.h"
#include "query/price/error_bar.h"

static brume_status read_price(const char *text, const char *name, brume_decimal *out,
                               brume_error *error)
{
    BRUME_TRY(brume_decimal_parse(text, out, error));
    if (brume_decimal_is_zero(out) || !(brume_decimal_lower(out) > 0) ||
        !isfinite(brume_decimal_upper(out)))
        return brume_fail(error, BRUME_EARGUMENT, "a price is a positive number such as 0.5",
                          "'%s' is %s, must be above 0", name, text);
    return BRUME_OK;
}

/* A decimal that is not below the double. */
static brume_status decimal_up(double x, brume_decimal *out, brume_error *error)
{
    char text[48];
    for (double at = x;; at = brume_up(at)) {
        snprintf(text, sizeof text, "%.17g", at);
        BRUME_TRY(brume_decimal_parse(text, out, error));
        if (brume_decimal_lower(out) >= x)
            return BRUME_OK;
    }
}

/* The delta that is charged: not below what is used. A double has no decimal of its own, so that
 * the next one above could be more than was typed; what was typed is then enough. */
static brume_status charged_delta(double used, const brume_payment *payment, brume_decimal *out,
                                  brume_error *error)
{
    brume_decimal typed;
    BRUME_TRY(decimal_up(used, out, error));
    if (!payment->delta)
        return BRUME_OK;
    BRUME_TRY(brume_decimal_parse(payment->delta, &typed, error));
    if (used <= brume_decimal_lower(&typed) && brume_decimal_compare(out, &typed) > 0)
        *out = typed;
    return BRUME_OK;
}

/* The charge is what the plan uses before anything is found out. It is made once, and is part of
 * what a free re-read is known by; limits that are recalled or chosen later change shares, scales
 * and thresholds: with no more delta than is charged. */
static brume_status make_charge(brume_plan *plan, const brume_decimal *amount,
                                const brume_payment *payment, brume_error *error)
{
    brume_terms *terms = NULL;
    brume_decimal delta;
    BRUME_TRY(brume_terms_make(plan, NULL, 0, &terms, error));
    double used = terms->price.delta;
    brume_terms_close(terms);
    BRUME_TRY(charged_delta(used, payment, &delta, error));
    BRUME_TRY(brume_charge_make(plan->rule, amount, &delta, &plan->charge, error));
    if (plan->by_totals)
        plan->allowed_delta = brume_decimal_lower(&plan->charge.delta);
    return BRUME_OK;
}

/* Keys, or values of a mode, that nobody declared show only where a test lets them. */
static bool needs_delta(const brume_plan *plan)
{
    for (size_t i = 0; i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_MODE)
            return true;
    return plan->shape.private_keys;
}

/* delta: typed; else, where it is needed, the share of the budget's that epsilon is of its. */
static brume_status read_delta(brume_plan *plan, const brume_plan_table *tables,
                               const brume_payment *payment, double amount, double *delta,
                               brume_error *error)
{
    brume_decimal typed = {0};
    *delta = 0;
    if (payment->delta) {
        BRUME_TRY(brume_decimal_parse(payment->delta, &typed, error));
        *delta = brume_decimal_lower(&typed);
        if (plan->rule == BRUME_RULE_PURE && *delta > 0)
            return brume_fail(error, BRUME_EPOLICY, "leave --delta out",
                              "the budget is of the rule pure, which has no delta");
        if (*delta >= 0.5)
            return brume_fail(error, BRUME_EARGUMENT, "much less than 1/(number of units)",
                              "'delta' is %s, must be below 0.5", payment->delta);
        brume_decimal_print(&typed, plan->delta, sizeof plan->delta);
        return BRUME_OK;
    }
    if (!needs_delta(plan) || plan->rule == BRUME_RULE_PURE)
        return BRUME_OK;
    double least = INFINITY;
    for (size_t i = 0; i < plan->query->table_count; i++) {
        const brume_filter *filter = &tables[plan->query->tables[i].table].dataset->filter;
        double share = brume_divide_down(amount, brume_decimal_upper(&filter->limit));
        least = fmin(
            least, brume_multiply_down(fmin(share, 1), brume_decimal_lower(&filter->limit_delta)));
    }
    /* less by more than decimal_up may add, so that all shares of a budget fit into it */
    *delta = fmin(brume_multiply_down(least, 1 - 0x1p-50), 0.49);
    plan->delta_by_default = true;
    snprintf(plan->delta, sizeof plan->delta, "%.17g", *delta);
    return BRUME_OK;
}

/* Largest half-width in units of the sensitivity: what the choice of the noise goes by. */
static double worst_error(const brume_measure *measures, size_t count, brume_noise_kind noise)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        if (!brume_measure_is_selection(&measures[i]))
            worst = fmax(worst, brume_error_width(noise, measures[i].scale, 0.05) /
                                    measures[i].sensitivity);
    return worst;
}

/* Price both noises and keep the better one. */
static brume_status choose_noise(brume_plan *plan, double epsilon, double delta, brume_error *error)
{
    brume_price price;
    brume_measure *tried = malloc((plan->measure_count + 1) * sizeof *tried);
    if (!tried)
        return brume_no_memory(error, "a plan");
    memcpy(tried, plan->measures, plan->measure_count * sizeof *tried);
    brume_status status = brume_price_laplace(tried, plan->measure_count, &plan->shape, epsilon,
                                              delta, &price, error);
    double laplace = status == BRUME_OK ? worst_error(tried, plan->measure_count, price.noise) : 0;
    if (plan->rule != BRUME_RULE_PURE && delta > 0 && laplace > 0 &&
        brume_price_gaussian(tried, plan->measure_count, &plan->shape, epsilon, delta, &price,
                             NULL) == BRUME_OK && /* that it cannot be is no reason to refuse */
        worst_error(tried, plan->measure_count, price.noise) < laplace)
        plan->noise = BRUME_NOISE_ROUNDED_GAUSSIAN;
    plan->amount = epsilon;
    plan->allowed_delta = delta;
    free(tried);
    return status;
}

/* The least number of units that shows a key in half of the draws at least; 0: none up to `most`.
 */
static uint64_t half_shown(const brume_key_selection *selection, uint64_t most)
{
    uint64_t low = 0, high = most; /* chances rise with the units */
    if (brume_key_selection_probability(selection, most) < 0.5)
        return 0;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (brume_key_selection_probability(selection, middle) >= 0.5)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Keys alone: shown as often as privacy allows, where that is more often than by noisy counts. */
static brume_status choose_key_test(brume_plan *plan, double epsilon, double delta,
                                    brume_error *error)
{
    brume_key_selection *selection = NULL;
    brume_terms *counted = NULL;
    if (plan->query->aggregate_count || !plan->shape.private_keys)
        return BRUME_OK;
    if (brume_key_selection_open(epsilon, delta, plan->shape.max_groups,
                                 plan->shape.replace ? BRUME_REPLACE : BRUME_ADD_REMOVE, &selection,
                                 NULL) != BRUME_OK)
        return BRUME_OK; /* counts with noise do it too */
    brume_status status = brume_terms_make(plan, NULL, 0, &counted, error);
    uint64_t threshold = status == BRUME_OK ? counted->price.threshold : 0;
    uint64_t half = threshold ? half_shown(selection, threshold) : 0;
    brume_terms_close(counted);
    bool laplace = plan->noise == BRUME_NOISE_DISCRETE_LAPLACE;
    if (half == 0 || (half == threshold && !laplace)) {
        brume_key_selection_close(selection);
        return status;
    }
    plan->selection = selection;
    plan->half_shown = half;
    return BRUME_OK;
}

/* Buy the numbers of the measurements that have a share of their own: each moves by at most 1. What
 * is left of the price is for the others. */
static brume_status pay_own_shares(brume_plan *plan, int p, double *price, brume_error *error)
{
    for (size_t i = 0; i < plan->measurement_count; i++) {
        brume_measurement *one = &plan->measurements[i];
        if (!(one->share > 0) || one->kind == BRUME_MEASUREMENT_DISTINCT)
            continue;
        double part = brume_multiply_down(*price, one->share), count = (double)one->count;
        if (p == 1) { /* count/b <= part */
            one->noise = BRUME_NOISE_DISCRETE_LAPLACE;
            one->scale = brume_divide_up(count, part);
        } else { /* count/(2 sigma^2) <= part */
            one->noise = BRUME_NOISE_DISCRETE_GAUSSIAN;
            one->scale = brume_sqrt_up(brume_divide_up(count, brume_multiply_down(2, part)));
        }
        if (!(one->scale <= 0x1p50))
            return brume_fail(error, BRUME_EOVERFLOW, "pay more",
                              "the noise on the estimates of bias would have scale %.3g",
                              one->scale);
        *price = brume_subtract_down(*price, part); /* the parts add up to no more than the price */
    }
    return BRUME_OK;
}

/* Are the owner's ceilings the limits? Of several tables, one that says so is enough. */
static bool limits_are_fixed(const brume_plan *plan, const brume_plan_table *tables)
{
    for (size_t i = 0; i < plan->query->table_count; i++)
        if (tables[plan->query->tables[i].table].policy->limits_fixed)
            return true;
    return false;
}

/* Where totals are limited: which noise, and the limits. `amount` is epsilon, or rho for discrete
 * Gaussian noise. */
static brume_status pay_limited(brume_plan *plan, const brume_plan_table *tables,
                                const brume_payment *payment, brume_noise_kind noise, double amount,
                                double delta, brume_error *error)
{
    bool selects = false; /* quantiles and modes are pure: then so is the rest */
    for (size_t i = 0; i < plan->measure_count; i++)
        selects = selects || brume_measure_is_selection(&plan->measures[i]);
    if (noise == BRUME_NOISE_DISCRETE_LAPLACE && plan->rule == BRUME_RULE_APPROXIMATE &&
        payment->delta && !selects &&
        brume_limited_prefers_gaussian(plan->measure_count, plan->shape.cells, amount, delta))
        noise = BRUME_NOISE_ROUNDED_GAUSSIAN;
    plan->norm = noise == BRUME_NOISE_DISCRETE_LAPLACE || plan->shape.cells == 1 ? 1 : 2;
    plan->noise = noise;
    if (!plan->limits)
        BRUME_TRY(brume_plan_find_limits(plan, payment, limits_are_fixed(plan, tables), error));
    plan->amount = amount;
    plan->allowed_delta = delta;
    return BRUME_OK;
}

/* Where only limits are bought and the groups have none to choose, the counts of values get what
 * the groups were given before that was known. */
static brume_status pay_choices_of_values(brume_plan *plan, const brume_payment *payment, int p,
                                          double whole, brume_error *error)
{
    return plan->limits_only && plan->limits ? brume_distinct_pay(plan, payment, p, &whole, error)
                                             : BRUME_OK;
}

static brume_status pay_concentrated(brume_plan *plan, const brume_plan_table *tables,
                                     const brume_payment *payment, brume_error *error)
{
    brume_decimal amount;
    if (payment->rho) {
        BRUME_TRY(read_price(payment->rho, "rho", &amount, error));
    } else {
        BRUME_TRY(read_price(payment->epsilon, "epsilon", &amount, error));
        BRUME_TRY(brume_charge_rho_of_epsilon(&amount, &amount, error));
    }
    double rho = brume_decimal_lower(&amount), allowed = 0, whole = 0;
    BRUME_TRY(read_delta(plan, tables, payment, rho, &allowed, error));
    BRUME_TRY(pay_own_shares(plan, 2, &rho, error));
    whole = rho;
    BRUME_TRY(brume_distinct_pay(plan, payment, 2, &rho, error));
    plan->noise = BRUME_NOISE_DISCRETE_GAUSSIAN;
    plan->amount = rho;
    plan->allowed_delta = allowed;
    if (plan->by_totals)
        BRUME_TRY(pay_limited(plan, tables, payment, plan->noise, rho, allowed, error));
    BRUME_TRY(pay_choices_of_values(plan, payment, 2, whole, error));
    return make_charge(plan, &amount, payment, error);
}

static brume_status pay(brume_plan *plan, const brume_plan_table *tables,
                        const brume_payment *payment, brume_error *error)
{
    plan->limits_only = payment->limits_only;
    if (!plan->by_totals) /* refuses what is typed for nothing */
        BRUME_TRY(brume_plan_find_limits(plan, payment, false, error));
    if (!payment->epsilon == !payment->rho)
        return brume_fail(error, BRUME_EARGUMENT, "give --epsilon, or --rho under concentrated",
                          "a query needs exactly one price");
    if (plan->rule == BRUME_RULE_CONCENTRATED)
        return pay_concentrated(plan, tables, payment, error);
    if (payment->rho)
        return brume_fail(error, BRUME_EPOLICY, "pay with --epsilon",
                          "the budget is of the rule %s, not concentrated",
                          brume_rule_word(plan->rule));
    if (plan->rule == BRUME_RULE_PURE && needs_delta(plan))
        return brume_fail(error, BRUME_EPOLICY,
                          "ask the owner to declare the values with --domain, or for a budget with "
                          "delta",
                          "%s undeclared values need a delta, and the budget is pure",
                          plan->shape.private_keys ? "groups with" : "modes of");
    brume_decimal amount;
    double allowed = 0, whole = 0;
    BRUME_TRY(read_price(payment->epsilon, "epsilon", &amount, error));
    double epsilon = brume_decimal_lower(&amount); /* not more than was typed */
    BRUME_TRY(read_delta(plan, tables, payment, epsilon, &allowed, error));
    BRUME_TRY(pay_own_shares(plan, 1, &epsilon, error));
    whole = epsilon;
    BRUME_TRY(brume_distinct_pay(plan, payment, 1, &epsilon, error));
    plan->noise = BRUME_NOISE_DISCRETE_LAPLACE;
    if (plan->measure_count > 0)
        BRUME_TRY(plan->by_totals ? pay_limited(plan, tables, payment, BRUME_NOISE_DISCRETE_LAPLACE,
                                                epsilon, allowed, error)
                                  : choose_noise(plan, epsilon, allowed, error));
    BRUME_TRY(pay_choices_of_values(plan, payment, 1, whole, error));
    BRUME_TRY(choose_key_test(plan, epsilon, allowed, error));
    return make_charge(plan, &amount, payment, error);
}

brume_status brume_plan_pay(brume_plan *plan, const brume_plan_table *tables,
                            const brume_payment *payment, brume_error *error)
{
    BRUME_TRY(pay(plan, tables, payment, error));
    return payment->limits_only ? brume_plan_check_choice(plan, error) : BRUME_OK;
}
