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
 * Of a Gaussian on a Poisson sample both data may be mixtures: of two units one may leave and the
 * other come. No order of one record's law dominates that: such groups have a law of their own,
 * with an order for each number that comes. */
#include <brume/account/method.h>

#include <math.h>

#include "accountant/law/points.h"
#include "accountant/renyi/renyi.h"
#include "accountant/textbook/pure.h"
#include "base/error.h"
#include "number/decimal.h"
#include "number/rounding.h"

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

/* A group on a Poisson sample: its law, and its curve. Of a larger group, or one whose noise is far
 * from its shift, the curve alone; of a large one, whose curve would take long, the law without
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
