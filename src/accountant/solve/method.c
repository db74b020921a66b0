/* The methods, side by side. Promise: every bound is sound and rounded up; a method that does not
 * apply to a term is refused, never replaced by another. */
#include <brume/account/method.h>

#include <math.h>
#include <stdlib.h>

#include "accountant/law/law.h"
#include "accountant/solve/compose.h"
#include "accountant/solve/curves.h"
#include "accountant/textbook/pure.h"
#include "accountant/renyi/renyi.h"
#include "base/error.h"
#include "number/ball.h"
#include "number/rounding.h"

static const brume_method_card cards[] = {
    {BRUME_METHOD_BASIC, "basic", "epsilons and deltas add", "a pure epsilon"},
    {BRUME_METHOD_ADVANCED, "advanced",
     "sqrt(2 ln(1/delta') sum eps^2) + sum eps tanh(eps/2), or basic if smaller",
     "a pure epsilon or Gaussian noise"},
    {BRUME_METHOD_ADVANCED_HALF, "advanced-half", "advanced with mean term sum eps^2 / 2",
     "a pure epsilon or Gaussian noise"},
    {BRUME_METHOD_ADVANCED_EXP, "advanced-exp", "advanced with mean term sum eps (e^eps - 1)",
     "a pure epsilon or Gaussian noise"},
    {BRUME_METHOD_ADVANCED_2, "advanced-2", "advanced with mean term 2 sum eps^2",
     "a pure epsilon or Gaussian noise"},
    {BRUME_METHOD_OPTIMAL, "optimal", "exact worst case of (epsilon, delta) guarantees",
     "a pure epsilon"},
    {BRUME_METHOD_ZCDP, "zcdp", "rhos add, tight conversion", "a rho"},
    {BRUME_METHOD_ZCDP_CLOSED, "zcdp-closed", "rhos add, rho + 2 sqrt(rho ln(1/delta))", "a rho"},
    {BRUME_METHOD_RDP, "rdp", "Renyi curves add, tight conversion at the best order",
     "a Renyi curve"},
    {BRUME_METHOD_PLD, "pld", "certified composition of privacy-loss laws", "any stated guarantee"},
};
enum { METHODS = sizeof cards / sizeof *cards };

const brume_method_card *brume_methods(size_t *count)
{
    *count = METHODS;
    return cards;
}

static bool is_pure(const brume_cost *cost)
{
    return cost->pure != BRUME_ABSENT && isfinite(cost->epsilon);
}

/* Advanced composition takes it for (epsilon, delta)-DP. */
static bool is_gaussian(const brume_cost *cost)
{
    return !is_pure(cost) && cost->loss != BRUME_ABSENT && cost->law.kind == BRUME_LOSS_GAUSSIAN &&
           cost->delta_failure == 0;
}

bool brume_method_applies(brume_method method, const brume_cost *cost)
{
    switch (method) {
    case BRUME_METHOD_BASIC:
    case BRUME_METHOD_OPTIMAL:
        return is_pure(cost);
    case BRUME_METHOD_ADVANCED:
    case BRUME_METHOD_ADVANCED_HALF:
    case BRUME_METHOD_ADVANCED_EXP:
    case BRUME_METHOD_ADVANCED_2:
        return is_pure(cost) || is_gaussian(cost);
    case BRUME_METHOD_ZCDP:
    case BRUME_METHOD_ZCDP_CLOSED:
        return isfinite(brume_rho_upper(cost));
    case BRUME_METHOD_RDP:
    case BRUME_METHOD_PLD:
    case BRUME_METHOD_AUTO:
        return brume_renyi_known(cost);
    }
    return false;
}

static brume_status check(brume_method method, const brume_term *terms, size_t count,
                          brume_error *error)
{
    if (count == 0 || (unsigned)method > BRUME_METHOD_PLD)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "nothing to account for");
    for (size_t i = 0; i < count; i++) {
        if (terms[i].count == 0 || terms[i].count > INT64_MAX)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "a count must be in 1 .. 2^63-1");
        BRUME_TRY(brume_cost_check(&terms[i].cost, error));
        if (!brume_method_applies(method, &terms[i].cost))
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                              "method '%s' does not apply to term %zu: it needs %s",
                              method == BRUME_METHOD_AUTO ? "auto" : cards[method - 1].name, i + 1,
                              method == BRUME_METHOD_AUTO ? "some guarantee"
                                                          : cards[method - 1].needs);
    }
    return BRUME_OK;
}

/* ---------------------------------------------------------------- (epsilon, delta) methods */

static double gaussian_count(const brume_term *terms, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (is_gaussian(&terms[i].cost))
            sum = brume_add_up(sum, brume_count_up(terms[i].count));
    return sum;
}

/* The epsilon of one Gaussian of norm mu at its delta: mu sqrt(2 ln(1.25/delta)), the classical
 * formula, which is proven up to 1; beyond by the tail of the loss, N(mu^2/2, mu^2). Up. */
static double gaussian_epsilon(double mu, double delta)
{
    double classical = brume_multiply_up(
        mu, brume_sqrt_up(brume_multiply_up(2, brume_log_up(brume_divide_up(1.25, delta)))));
    if (classical <= 1)
        return classical;
    double reach = brume_multiply_up(
        mu, brume_sqrt_up(brume_multiply_up(2, brume_log_up(brume_divide_up(1, delta)))));
    return brume_add_up(brume_multiply_up(mu, mu) / 2, reach);
}

/* Each release as (epsilon, delta)-DP. Gaussians have half of `delta` in equal parts; it is not
 * looked at where there are none. */
static brume_status pure_steps(const brume_term *terms, size_t count, double delta,
                               brume_pure_step **out, brume_error *error)
{
    brume_pure_step *steps = malloc(count * sizeof *steps);
    if (!steps)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    double part = brume_divide_down(delta / 2, fmax(gaussian_count(terms, count), 1));
    for (size_t i = 0; i < count; i++)
        steps[i] = is_gaussian(&terms[i].cost)
                       ? (brume_pure_step){part > 0 ? gaussian_epsilon(terms[i].cost.law.a, part)
                                                    : INFINITY,
                                           part, terms[i].count}
                       : (brume_pure_step){terms[i].cost.epsilon, terms[i].cost.delta_failure,
                                           terms[i].count};
    *out = steps;
    return BRUME_OK;
}

/* The form of advanced composition that a method is; 0 if it is none of the textbooks'. */
static brume_advanced_form textbook_form(brume_method method)
{
    return method == BRUME_METHOD_ADVANCED_HALF  ? BRUME_ADVANCED_HALF
           : method == BRUME_METHOD_ADVANCED_EXP ? BRUME_ADVANCED_EXPONENTIAL
           : method == BRUME_METHOD_ADVANCED_2   ? BRUME_ADVANCED_DOUBLE
                                                 : 0;
}

/* Basic composition: of typed decimals as decimals. */
static double basic_epsilon(const brume_term *terms, const brume_pure_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!terms[i].cost.epsilon_is_decimal)
            return brume_basic_epsilon_upper(steps, count);
    return brume_basic_decimal_upper(steps, count);
}

static brume_status pure_epsilon(brume_method method, const brume_term *terms,
                                 const brume_pure_step *steps, size_t count, double delta,
                                 double *epsilon, brume_error *error)
{
    if (method == BRUME_METHOD_OPTIMAL)
        return brume_optimal_epsilon_upper(steps, count, delta, epsilon, error);
    if (textbook_form(method)) { /* as printed, also where basic is smaller */
        *epsilon = brume_advanced_epsilon_upper(textbook_form(method), steps, count, delta);
        return BRUME_OK;
    }
    /* basic: any delta not below the probability of failure, for which basic needs its sum */
    double basic = INFINITY;
    if (brume_pure_failure_upper(steps, count) <= delta)
        basic = basic_epsilon(terms, steps, count);
    *epsilon = basic;
    if (method == BRUME_METHOD_ADVANCED)
        *epsilon =
            fmin(basic, brume_advanced_epsilon_upper(BRUME_ADVANCED_TANH, steps, count, delta));
    return BRUME_OK;
}

static brume_status pure_delta(brume_method method, const brume_term *terms,
                               const brume_pure_step *steps, size_t count, double epsilon,
                               double *delta, brume_error *error)
{
    if (method == BRUME_METHOD_OPTIMAL) {
        brume_interval interval;
        BRUME_TRY(brume_optimal_delta(steps, count, epsilon, &interval, error));
        *delta = interval.upper;
        return BRUME_OK;
    }
    if (textbook_form(method)) {
        *delta = brume_advanced_delta_upper(textbook_form(method), steps, count, epsilon);
        return BRUME_OK;
    }
    double basic = 1;
    if (basic_epsilon(terms, steps, count) <= epsilon)
        basic = brume_pure_failure_upper(steps, count);
    *delta = basic;
    if (method == BRUME_METHOD_ADVANCED)
        *delta =
            fmin(basic, brume_advanced_delta_upper(BRUME_ADVANCED_TANH, steps, count, epsilon));
    return BRUME_OK;
}

/* The least delta of which the epsilon is within `epsilon`: Gaussians have another guarantee at
 * each delta. Any delta that meets it is a bound. */
static brume_status delta_of_gaussians(brume_method method, const brume_term *terms, size_t count,
                                       double epsilon, double *delta, brume_error *error)
{
    double low = log(0x1p-1000), high = 0;
    while (high - low > 1e-13 * (1 - high)) {
        double middle = low + (high - low) / 2, found = INFINITY;
        brume_pure_step *steps = NULL;
        BRUME_TRY(pure_steps(terms, count, exp(middle), &steps, error));
        brume_status status = pure_epsilon(method, terms, steps, count, exp(middle), &found, error);
        free(steps);
        BRUME_TRY(status);
        *(found <= epsilon ? &high : &low) = middle;
    }
    *delta = exp(high);
    return BRUME_OK;
}

static brume_status by_steps(brume_method method, const brume_term *terms, size_t count,
                             bool of_delta, double at, double *upper, brume_error *error)
{
    brume_pure_step *steps = NULL;
    if (!of_delta && gaussian_count(terms, count) > 0)
        return delta_of_gaussians(method, terms, count, at, upper, error);
    BRUME_TRY(pure_steps(terms, count, of_delta ? at : 0, &steps, error));
    brume_status status = of_delta ? pure_epsilon(method, terms, steps, count, at, upper, error)
                                   : pure_delta(method, terms, steps, count, at, upper, error);
    free(steps);
    return status;
}

/* ------------------------------------------------------------------------ Renyi methods */

static double rho_total(const brume_term *terms, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) /* every product and sum rounded up */
        sum = brume_add_up(sum, brume_multiply_up(brume_count_up(terms[i].count),
                                                  brume_rho_upper(&terms[i].cost)));
    return sum;
}

/* 1 - prod(1 - delta_i)^count_i, rounded up, and never above the sum: exact for one release. */
static double failure_upper(const brume_term *terms, size_t count)
{
    double worst = 0;
    arb_t sum, term, all;
    arb_init(sum), arb_init(term), arb_init(all);
    for (size_t i = 0; i < count; i++) {
        arb_set_d(term, terms[i].cost.delta_failure);
        arb_addmul_ui(all, term, terms[i].count, 128);
        worst = fmax(worst, terms[i].cost.delta_failure);
        if (terms[i].cost.delta_failure > 0 && terms[i].cost.delta_failure < 1) {
            arb_set_d(term, -terms[i].cost.delta_failure);
            arb_log1p(term, term, 128);
            arb_addmul_ui(sum, term, terms[i].count, 128);
        }
    }
    arb_expm1(sum, sum, 128);
    arb_neg(sum, sum);
    double result = worst >= 1 ? 1 : fmin(fmin(brume_ball_upper(sum), brume_ball_upper(all)), 1);
    arb_clear(sum), arb_clear(term), arb_clear(all);
    return result;
}

/* Sum of pure epsilons, where every term has one: Renyi divergence of order infinity. */
static double pure_total(const brume_term *terms, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (terms[i].cost.pure == BRUME_ABSENT)
            return INFINITY;
        sum = brume_add_up(
            sum, brume_multiply_up(brume_count_up(terms[i].count), terms[i].cost.epsilon));
    }
    return sum;
}

static double renyi_epsilon(brume_method method, const brume_term *terms, size_t count,
                            double delta)
{
    double failure = failure_upper(terms, count);
    /* order infinity: divergence <= sum of pure epsilons, no delta beyond the failure */
    double pure = method == BRUME_METHOD_RDP && failure <= delta ? pure_total(terms, count)
                                                                 : INFINITY;
    if (!(delta > failure))
        return pure;
    /* (delta - failure)/(1 - failure), rounded down */
    double rest =
        brume_divide_down(brume_subtract_down(delta, failure), brume_subtract_up(1, failure));
    if (!(rest > 0))
        return pure;
    if (method == BRUME_METHOD_ZCDP)
        return brume_concentrated_epsilon_upper(rho_total(terms, count), rest);
    if (method == BRUME_METHOD_ZCDP_CLOSED)
        return brume_concentrated_epsilon_closed_upper(rho_total(terms, count), rest);
    brume_term_list all = {terms, count};
    brume_curve curve = brume_renyi_total(&all);
    return fmin(pure, brume_renyi_epsilon_upper(&curve, rest));
}

static double renyi_delta(brume_method method, const brume_term *terms, size_t count,
                          double epsilon)
{
    double failure = failure_upper(terms, count), finite;
    if (method == BRUME_METHOD_ZCDP) {
        finite = brume_concentrated_delta_upper(rho_total(terms, count), epsilon);
    } else if (method == BRUME_METHOD_ZCDP_CLOSED) {
        finite = brume_concentrated_delta_closed_upper(rho_total(terms, count), epsilon);
    } else {
        brume_term_list all = {terms, count};
        brume_curve curve = brume_renyi_total(&all);
        finite = brume_renyi_delta_upper(&curve, epsilon);
        if (pure_total(terms, count) <= epsilon)
            finite = 0;
    }
    /* failure + (1 - failure) finite, rounded up */
    double rest = brume_multiply_up(brume_subtract_up(1, failure), finite);
    return fmin(brume_add_up(failure, rest), 1);
}

/* ------------------------------------------------------------------------------ dispatch */

static brume_status one(brume_method method, const brume_term *terms, size_t count, bool of_delta,
                        double at, brume_bound *out, brume_error *error)
{
    brume_bound bound = {.method = method, .route = cards[method - 1].summary};
    if (method == BRUME_METHOD_PLD) {
        brume_composition composition;
        BRUME_TRY(of_delta ? brume_compose_epsilon(terms, count, at, NULL, &composition, error)
                           : brume_compose_delta(terms, count, at, NULL, &composition, error));
        bound.upper = composition.value.upper;
        bound.lower = composition.value.lower;
        bound.has_lower = composition.has_lower;
        bound.infinite = composition.infinite;
        bound.contradictory = composition.contradictory;
        if (composition.route)
            bound.route = composition.route;
    } else if (method <= BRUME_METHOD_OPTIMAL) {
        BRUME_TRY(by_steps(method, terms, count, of_delta, at, &bound.upper, error));
    } else {
        bound.upper = of_delta ? renyi_epsilon(method, terms, count, at)
                               : renyi_delta(method, terms, count, at);
    }
    if (of_delta && isinf(bound.upper))
        bound.infinite = true;
    *out = bound;
    return BRUME_OK;
}

/* Is another method's upper bound below a lower bound that holds for the mechanisms themselves?
 * Each is rounded away from the truth, so then one of them is wrong. */
static bool contradicts(bool found, const brume_bound *result, double upper)
{
    return found && result->has_lower && upper < result->lower;
}

/* Take another bound of the same: a contradiction makes the safe hull of both. */
static void take(brume_bound other, bool *found, brume_bound *result)
{
    if (contradicts(*found, result, other.upper)) {
        result->lower = other.upper;
        result->contradictory = true;
        return;
    }
    /* The lower bound stays. Where it holds for the stated guarantees only, it may lie above the
     * new upper bound. */
    other.lower = fmin(result->lower, other.upper);
    other.has_lower = *found && result->has_lower;
    other.contradictory = result->contradictory;
    *result = other;
    *found = true;
}

/* The least of the other methods that apply, if it is below `result` (or, where `exact`, at it). */
static brume_status take_others(const brume_term *terms, size_t count, bool of_delta, double at,
                                bool exact, bool *found, brume_bound *result, brume_error *error)
{
    bool rough = *found && result->lower < 0.125 * result->upper;
    bool known = *found && result->lower >= (1 - 1e-6) * result->upper;
    /* Their composition has used the curves already, and a term known by a curve alone has none of
     * the methods that come before rdp. */
    bool curved = *found && !exact && brume_is_from_curves(result->route);
    for (int method = BRUME_METHOD_RDP; method >= BRUME_METHOD_BASIC; method--) {
        brume_bound other;
        bool never_least = textbook_form((brume_method)method) ||
                           method == BRUME_METHOD_ZCDP_CLOSED || method == BRUME_METHOD_OPTIMAL;
        if (never_least || (curved && method >= BRUME_METHOD_ZCDP) ||
            check((brume_method)method, terms, count, NULL))
            continue; /* optimal equals pld on what it applies to; curves were asked */
        BRUME_TRY(one((brume_method)method, terms, count, of_delta, at, &other, error));
        if (!*found || other.upper < result->upper ||
            (exact && isfinite(other.upper) && other.upper <= result->upper))
            take(other, found, result);
    }
    brume_bound apart = {.method = BRUME_METHOD_PLD,
                         .route = "unbounded terms alone, moved by the largest loss of the others"};
    /* One more bound, which may fail: then what was found stands. It bounds the stated guarantees,
     * so it cannot help where their composition is already known. */
    if (known)
        return BRUME_OK;
    if (brume_split_bounded_terms(terms, count, of_delta, at, rough, &apart.upper, NULL) ==
            BRUME_OK &&
        *found && apart.upper < result->upper)
        take(apart, found, result);
    return BRUME_OK;
}

/* The certified composition, unless it has no lower end to show that it is tight; then the least of
 * all that apply. Where delta is that of failure, 0 for one, basic composition is exact to the last
 * place. */
static brume_status best(const brume_term *terms, size_t count, bool of_delta, double at,
                         brume_bound *out, brume_error *error)
{
    brume_bound result = {.upper = of_delta ? INFINITY : 1, .method = BRUME_METHOD_PLD};
    brume_error why = {0};
    brume_status status = one(BRUME_METHOD_PLD, terms, count, of_delta, at, &result, &why);
    bool found = status == BRUME_OK, exact = of_delta && at <= failure_upper(terms, count);
    /* Near the largest loss delta changes by far more than its parameters do. */
    double near = of_delta ? 1e-6 : 1e-3;
    bool tight = found && result.has_lower && result.upper <= result.lower * (1 + near) && !exact;
    if (!tight)
        BRUME_TRY(take_others(terms, count, of_delta, at, exact, &found, &result, error));
    if (!found) {
        if (error)
            *error = why;
        return status;
    }
    *out = result;
    return BRUME_OK;
}

brume_status brume_account_delta_near(const brume_term *terms, size_t count,
                                      const brume_asked *asked, brume_composition *out,
                                      double *excess, brume_error *error)
{
    brume_composition near = {.value = {0, 1}};
    brume_diagnostics work = {0};
    brume_error why = {0};
    brume_status status = brume_compose(terms, count, asked, &near, &work, &why);
    bool found = status == BRUME_OK;
    /* Far below any useful delta a line gives a poor bound, and moments may give a better one. */
    bool rough = near.value.upper > 8 * near.value.lower;
    /* Far from the delta it is compared with, on a known side: the other methods are not needed. */
    bool decided = found &&
                   (near.value.upper < 0.3 * asked->sought ||
                    (near.has_lower && asked->sought > 0 && near.value.lower > 3 * asked->sought));
    if (!decided && (!found || !near.has_lower || rough)) {
        brume_bound bound = {.lower = near.value.lower,
                             .upper = near.value.upper,
                             .has_lower = near.has_lower,
                             .route = near.route,
                             .contradictory = near.contradictory};
        BRUME_TRY(take_others(terms, count, false, asked->at, false, &found, &bound, error));
        if (bound.upper < near.value.upper) { /* nothing of it is a band's */
            near.value.upper = bound.upper;
            work.excess = 0;
        }
        near.value.lower = fmin(bound.lower, near.value.upper);
        near.contradictory = bound.contradictory;
    }
    if (!found) {
        if (error)
            *error = why;
        return status;
    }
    *out = near;
    *excess = work.excess;
    return BRUME_OK;
}

brume_status brume_account_epsilon(brume_method method, const brume_term *terms, size_t count,
                                   double delta, brume_bound *out, brume_error *error)
{
    if (!(delta >= 0 && delta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'delta' is %.17g, must be in [0, 1)",
                          delta);
    BRUME_TRY(check(method, terms, count, error));
    if (method == BRUME_METHOD_AUTO)
        return best(terms, count, true, delta, out, error);
    return one(method, terms, count, true, delta, out, error);
}

brume_status brume_account_delta(brume_method method, const brume_term *terms, size_t count,
                                 double epsilon, brume_bound *out, brume_error *error)
{
    if (!(epsilon >= 0) || isinf(epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be a finite number of at least 0", epsilon);
    BRUME_TRY(check(method, terms, count, error));
    if (method == BRUME_METHOD_AUTO)
        return best(terms, count, false, epsilon, out, error);
    return one(method, terms, count, false, epsilon, out, error);
}
