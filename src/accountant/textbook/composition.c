/* Basic, advanced and optimal composition of (epsilon, delta) guarantees, and group privacy.
 * Promise: the exact value of the named formula, rounded up, from balls of 128 bits.
 *
 * Optimal composition: the worst mechanisms of such guarantees are randomized responses that fail
 * with probability delta [KOV15, Thm 3.3], laws of the certified composition. Its upper end is at
 * or above the exact worst case. tests/accountant/optimal_sum.c has the textbook's sum. */
#include "accountant/textbook/pure.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <brume/account/compose.h>
#include <brume/account/method.h>

#include "accountant/law/points.h"
#include "accountant/renyi/renyi.h"
#include "base/error.h"
#include "number/ball.h"
#include "number/decimal.h"
#include "number/rounding.h"

enum { PRECISION = 128 };

/* out = sum count * log(1 - delta): the logarithm of the probability that no step fails. */
static void log_survival(arb_t out, const brume_pure_step *steps, size_t n)
{
    arb_t term;
    arb_init(term);
    arb_zero(out);
    for (size_t i = 0; i < n; i++) {
        arb_set_d(term, -steps[i].delta);
        arb_log1p(term, term, PRECISION);
        arb_addmul_ui(out, term, steps[i].count, PRECISION);
    }
    arb_clear(term);
}

double brume_pure_failure_upper(const brume_pure_step *steps, size_t n)
{
    arb_t failure;
    arb_init(failure);
    log_survival(failure, steps, n);
    arb_expm1(failure, failure, PRECISION);
    arb_neg(failure, failure);
    double result = fmin(brume_ball_upper(failure), 1);
    /* The union bound: larger, but exact where a release is accounted at its own delta. */
    arb_t term;
    arb_init(term);
    arb_zero(failure);
    for (size_t i = 0; i < n; i++) {
        arb_set_d(term, steps[i].delta);
        arb_addmul_ui(failure, term, steps[i].count, PRECISION);
    }
    result = fmin(result, brume_ball_upper(failure));
    arb_clear(term);
    arb_clear(failure);
    return result;
}

double brume_basic_epsilon_upper(const brume_pure_step *steps, size_t n)
{
    arb_t sum, term;
    arb_init(sum), arb_init(term);
    for (size_t i = 0; i < n; i++) {
        arb_set_d(term, steps[i].epsilon);
        arb_addmul_ui(sum, term, steps[i].count, PRECISION);
    }
    double result = brume_ball_upper(sum);
    arb_clear(sum), arb_clear(term);
    return result;
}

double brume_basic_decimal_upper(const brume_pure_step *steps, size_t n)
{
    brume_decimal sum = {{0}, 0}, term;
    for (size_t i = 0; i < n; i++)
        if (brume_decimal_from_double_shortest(steps[i].epsilon, &term, NULL) != BRUME_OK ||
            brume_decimal_multiply(&term, steps[i].count, &term, NULL) != BRUME_OK ||
            brume_decimal_add(&sum, &term, &sum, NULL) != BRUME_OK)
            return brume_basic_epsilon_upper(steps, n); /* too many digits */
    return brume_decimal_shown_up(&sum);
}

/* mean = the form's bound on the sum of expected losses, spread = sum count eps^2. */
static void moments(arb_t mean, arb_t spread, brume_advanced_form form,
                    const brume_pure_step *steps, size_t n)
{
    arb_t epsilon, term;
    arb_init(epsilon), arb_init(term);
    arb_zero(mean);
    arb_zero(spread);
    for (size_t i = 0; i < n; i++) {
        arb_set_d(epsilon, steps[i].epsilon);
        arb_sqr(term, epsilon, PRECISION);
        arb_addmul_ui(spread, term, steps[i].count, PRECISION);
        switch (form) {
        case BRUME_ADVANCED_DOUBLE:
            arb_mul_2exp_si(term, term, 1);
            break;
        case BRUME_ADVANCED_HALF:
            arb_mul_2exp_si(term, term, -1);
            break;
        case BRUME_ADVANCED_EXPONENTIAL:
            arb_expm1(term, epsilon, PRECISION);
            arb_mul(term, term, epsilon, PRECISION);
            break;
        case BRUME_ADVANCED_TANH:
            arb_mul_2exp_si(term, epsilon, -1);
            arb_tanh(term, term, PRECISION);
            arb_mul(term, term, epsilon, PRECISION);
            break;
        }
        arb_addmul_ui(mean, term, steps[i].count, PRECISION);
    }
    arb_clear(epsilon), arb_clear(term);
}

double brume_advanced_epsilon_upper(brume_advanced_form form, const brume_pure_step *steps,
                                    size_t n, double delta)
{
    if (!(delta > 0))
        return INFINITY;
    if (delta >= 1)
        return 0;
    arb_t mean, spread, survival, slack;
    arb_init(mean), arb_init(spread), arb_init(survival), arb_init(slack);
    /* 1 - delta' = (1 - delta)/survival, so delta' = 1 - exp(log1p(-delta) - log survival) */
    log_survival(survival, steps, n);
    arb_set_d(slack, -delta);
    arb_log1p(slack, slack, PRECISION);
    arb_sub(slack, slack, survival, PRECISION);
    arb_expm1(slack, slack, PRECISION);
    arb_neg(slack, slack);
    double result = INFINITY;
    if (arb_is_positive(slack)) {
        moments(mean, spread, form, steps, n);
        arb_log(slack, slack, PRECISION);
        arb_neg(slack, slack);
        arb_mul(spread, spread, slack, PRECISION);
        arb_mul_2exp_si(spread, spread, 1);
        arb_sqrt(spread, spread, PRECISION);
        arb_add(mean, mean, spread, PRECISION);
        result = brume_ball_upper(mean);
    }
    arb_clear(mean), arb_clear(spread), arb_clear(survival), arb_clear(slack);
    return result;
}

double brume_advanced_delta_upper(brume_advanced_form form, const brume_pure_step *steps, size_t n,
                                  double epsilon)
{
    arb_t mean, spread, survival, excess;
    arb_init(mean), arb_init(spread), arb_init(survival), arb_init(excess);
    moments(mean, spread, form, steps, n);
    arb_set_d(excess, epsilon);
    arb_sub(excess, excess, mean, PRECISION);
    double result = 1;
    if (arb_is_positive(excess) && arb_is_positive(spread)) {
        /* delta' = exp(-excess^2 / (2 spread)) */
        arb_sqr(excess, excess, PRECISION);
        arb_div(excess, excess, spread, PRECISION);
        arb_mul_2exp_si(excess, excess, -1);
        arb_neg(excess, excess);
        arb_exp(excess, excess, PRECISION);
        /* 1 - (1 - delta') survival */
        log_survival(survival, steps, n);
        arb_neg(excess, excess);
        arb_log1p(excess, excess, PRECISION);
        arb_add(excess, excess, survival, PRECISION);
        arb_expm1(excess, excess, PRECISION);
        arb_neg(excess, excess);
        result = fmin(brume_ball_upper(excess), 1);
    }
    arb_clear(mean), arb_clear(spread), arb_clear(survival), arb_clear(excess);
    return result;
}

/* The k-th iterate of min(delta + e^eps x, 1 - e^-eps (1 - delta - x)) from 0. */
static double group_delta_upper(double epsilon, double delta, uint64_t k)
{
    enum { MOST_STEPS = 100000 };
    arb_t factor, rest, next, other;
    double at = 0;
    arb_init(factor), arb_init(rest), arb_init(next), arb_init(other);
    arb_set_d(factor, epsilon);
    arb_exp(factor, factor, PRECISION);
    for (uint64_t i = 0; i < k && at < 1; i++) {
        if (i == MOST_STEPS) {
            at = 1;
            break;
        }
        arb_set_d(rest, at); /* at is an upper bound, and both lines rise with it */
        arb_mul(next, factor, rest, PRECISION);
        arb_set_d(other, delta);
        arb_add(next, next, other, PRECISION); /* delta + e^eps x */
        arb_add(rest, rest, other, PRECISION);
        arb_sub_ui(rest, rest, 1, PRECISION);
        arb_div(rest, rest, factor, PRECISION);
        arb_add_ui(rest, rest, 1, PRECISION); /* 1 - e^-eps (1 - delta - x) */
        at = fmin(fmin(brume_ball_upper(next), brume_ball_upper(rest)), 1);
    }
    arb_clear(factor), arb_clear(rest), arb_clear(next), arb_clear(other);
    return at;
}

void brume_group_upper(double epsilon, double delta, uint64_t k, double *group_epsilon,
                       double *group_delta)
{
    arb_t product;
    arb_init(product);
    arb_set_d(product, epsilon);
    arb_mul_ui(product, product, k, PRECISION);
    *group_epsilon = brume_ball_upper(product);
    arb_clear(product);
    *group_delta = delta > 0 ? group_delta_upper(epsilon, delta, k) : delta;
}

static const double width = 1e-13; /* of an interval that is asked for, relative */

static brume_status compose(const brume_pure_step *steps, size_t n, bool of_delta, double at,
                            brume_composition *out, brume_error *error)
{
    brume_compose_options options = {.tolerance = width};
    brume_term *terms = calloc(n, sizeof *terms);
    if (!terms)
        return brume_no_memory(error, "the guarantees");
    for (size_t i = 0; i < n; i++)
        terms[i] = (brume_term){.cost = {.pure = BRUME_EXACT,
                                         .epsilon = steps[i].epsilon,
                                         .delta_failure = steps[i].delta},
                                .count = steps[i].count};
    brume_status status = of_delta ? brume_compose_epsilon(terms, n, at, &options, out, error)
                                   : brume_compose_delta(terms, n, at, &options, out, error);
    free(terms);
    return status;
}

brume_status brume_optimal_delta(const brume_pure_step *steps, size_t n, double epsilon,
                                 brume_interval *delta, brume_error *error)
{
    brume_composition together;
    BRUME_TRY(compose(steps, n, false, epsilon, &together, error));
    *delta = together.value;
    return BRUME_OK;
}

brume_status brume_optimal_epsilon_upper(const brume_pure_step *steps, size_t n, double delta,
                                         double *epsilon, brume_error *error)
{
    brume_composition together;
    BRUME_TRY(compose(steps, n, true, delta, &together, error));
    *epsilon = together.infinite ? INFINITY : together.value.upper;
    /* basic composition is a bound too, without the units that the largest loss is rounded by */
    if (brume_pure_failure_upper(steps, n) <= delta)
        *epsilon = fmin(*epsilon, brume_basic_epsilon_upper(steps, n));
    return BRUME_OK;
}

/* The cost for a group: what `size` units that change together can be told apart by. Promise: each
 * currency of the result is an upper bound for the group; what is not known is absent.
 *
 * A law of shifted noise shifts size times as far; any pure epsilon-DP mechanism is dominated by
 * the discrete Laplace of 1/scale = epsilon and that shift, and one of them attains it
 * (proofs/guarantees.md); the pure guarantee becomes (size eps, brume_group_upper);
 * rho becomes size^2 rho, which has no such rule once the mechanism can fail, so that with a
 * failure only the pure guarantee is left. Only shifted noise is exact for groups: another
 * mechanism that attains epsilon need not attain the worst law of a group.
 *
 * With a Gaussian on a Poisson sample both data may be mixtures: of two units one may leave and the
 * other come. No order of one record's law dominates that: such groups have a law of their own,
 * with an order for each number that comes. */

static bool group_law(const brume_loss *law, uint64_t size, brume_loss *out)
{
    brume_loss result = *law;
    switch (law->kind) {
    case BRUME_LOSS_GAUSSIAN:
    case BRUME_LOSS_LAPLACE:
        result.a = brume_multiply_up(law->a, brume_count_up(size)); /* a larger shift costs more */
        break;
    case BRUME_LOSS_PURE:
    case BRUME_LOSS_KARY: /* any epsilon-DP mechanism's group */
        if (size > UINT64_C(1) << 53)
            return false;
        result = (brume_loss){.kind = BRUME_LOSS_DISCRETE_LAPLACE, .a = law->a, .shift = size};
        break;
    case BRUME_LOSS_DISCRETE_LAPLACE:
    case BRUME_LOSS_DISCRETE_GAUSSIAN:
        if (law->shift > UINT64_MAX / size)
            return false;
        result.shift = law->shift * size;
        break;
    case BRUME_LOSS_POISSON_GAUSSIAN: /* some may come while others go: see below */
    case BRUME_LOSS_POISSON_PURE:     /* several records may enter the sample: another pair */
    case BRUME_LOSS_POISSON_LAPLACE:
    case BRUME_LOSS_POISSON_DISCRETE_LAPLACE:
    case BRUME_LOSS_POISSON_GAUSSIAN_GROUP: /* it is one already */
    case BRUME_LOSS_NONE:
        return false;
    }
    if (!isfinite(result.a))
        return false;
    *out = result;
    return true;
}

/* A group on a Poisson sample: its law, and its curve. For a larger group, or one whose noise is
 * far from its shift, the curve alone; of a large one, whose curve would take long, the law without
 * sampling, which costs more. */
static void sampled_group(const brume_loss *law, uint64_t size, brume_cost *out)
{
    enum { MOST_CURVE = 64 };
    out->law = *law;
    if (size <= MOST_CURVE) {
        bool near = law->a >= (double)size / 40 && law->a <= 1e4;
        out->loss = size <= BRUME_GROUP_MOST_MEMBERS && near ? BRUME_UPPER : BRUME_ABSENT;
        out->law.kind = BRUME_LOSS_POISSON_GAUSSIAN_GROUP;
        out->law.shift = size;
        out->renyi = BRUME_UPPER;
        out->renyi_upper = brume_renyi_sampled_group_upper;
        return;
    }
    /* up: mu = size/sigma */
    out->law = (brume_loss){.kind = BRUME_LOSS_GAUSSIAN,
                            .a = brume_divide_up(brume_count_up(size), law->a)};
    if (isfinite(out->law.a))
        out->loss = BRUME_UPPER;
}

/* Is the group's law the law of a pair of its data? */
static bool stays_exact(brume_loss_kind kind)
{
    return kind == BRUME_LOSS_GAUSSIAN || kind == BRUME_LOSS_LAPLACE ||
           kind == BRUME_LOSS_DISCRETE_LAPLACE || kind == BRUME_LOSS_DISCRETE_GAUSSIAN;
}

/* A typed epsilon times the size is a decimal too, which a double stands for if it is short. */
static void multiply_decimal(const brume_cost *cost, uint64_t size, brume_cost *out)
{
    brume_decimal product, read;
    if (!cost->epsilon_is_decimal ||
        brume_decimal_from_double_shortest(cost->epsilon, &product, NULL) != BRUME_OK ||
        brume_decimal_multiply(&product, size, &product, NULL) != BRUME_OK)
        return;
    double shown = brume_decimal_shown_up(&product);
    out->epsilon_is_decimal = brume_decimal_from_double_shortest(shown, &read, NULL) == BRUME_OK &&
                              brume_decimal_compare(&read, &product) == 0;
    if (out->epsilon_is_decimal)
        out->epsilon = shown;
}

brume_status brume_cost_group(const brume_cost *cost, uint64_t size, brume_cost *out,
                              brume_error *error)
{
    if (size == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a group has at least 1 member");
    BRUME_TRY(brume_cost_check(cost, error));
    if (size == 1) {
        *out = *cost;
        return BRUME_OK;
    }
    brume_cost result = {0};
    bool exact = cost->delta_failure == 0 && cost->loss != BRUME_ABSENT &&
                 stays_exact(cost->law.kind);
    if (cost->pure != BRUME_ABSENT) {
        result.pure = exact ? cost->pure : BRUME_UPPER;
        brume_group_upper(cost->epsilon, cost->delta_failure, size, &result.epsilon,
                          &result.delta_failure);
        multiply_decimal(cost, size, &result);
    }
    if (cost->delta_failure == 0) {
        brume_loss law = cost->law;
        bool sampled = law.kind == BRUME_LOSS_POISSON_PURE ||
                       law.kind == BRUME_LOSS_POISSON_LAPLACE ||
                       law.kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
        if (sampled && cost->pure != BRUME_ABSENT) /* any mechanism of that epsilon */
            law = (brume_loss){.kind = BRUME_LOSS_PURE, .a = cost->epsilon};
        if (cost->loss != BRUME_ABSENT && group_law(&law, size, &result.law))
            result.loss = exact ? cost->loss : BRUME_UPPER;
        if (cost->loss != BRUME_ABSENT && law.kind == BRUME_LOSS_POISSON_GAUSSIAN)
            sampled_group(&law, size, &result);
        if (cost->concentrated != BRUME_ABSENT) {
            double factor = brume_multiply_up(brume_count_up(size), brume_count_up(size));
            result.concentrated = BRUME_UPPER;
            result.rho = brume_multiply_up(cost->rho, factor);
        }
    }
    if (result.pure == BRUME_ABSENT && result.loss == BRUME_ABSENT &&
        result.renyi == BRUME_ABSENT && result.concentrated == BRUME_ABSENT)
        return brume_fail(error, BRUME_EUNSUPPORTED, "give the sensitivity of the group instead",
                          "what this release costs a group is not known");
    if (result.delta_failure >= 1)
        return brume_fail(error, BRUME_EUNSUPPORTED, "a smaller group, or a smaller delta",
                          "for a group of %llu this release has no guarantee left",
                          (unsigned long long)size);
    *out = result;
    return BRUME_OK;
}
