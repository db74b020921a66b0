/* Promise: what passes has no number of which a bound could come out too small. A formula does not
 * notice a negative rho, nor a shift of 0; every room that takes costs from a caller asks here. */
#include "accountant/cost_check.h"

#include <stdbool.h>

#include "base/error.h"

static brume_status refuse(const char *what, double value, const char *range, brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, NULL, "a cost's '%s' is %.17g, must be %s", what,
                      value, range);
}

static brume_status check_law(const brume_loss *law, brume_error *error)
{
    bool sampled = law->kind == BRUME_LOSS_POISSON_GAUSSIAN ||
                   law->kind == BRUME_LOSS_POISSON_PURE ||
                   law->kind == BRUME_LOSS_POISSON_LAPLACE ||
                   law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
    bool shifted = law->kind == BRUME_LOSS_DISCRETE_LAPLACE ||
                   law->kind == BRUME_LOSS_DISCRETE_GAUSSIAN ||
                   law->kind == BRUME_LOSS_POISSON_DISCRETE_LAPLACE;
    if (!(law->a >= 0))
        return refuse("law.a", law->a, "at least 0", error);
    if (sampled && !(law->rate >= 0 && law->rate <= 1))
        return refuse("law.rate", law->rate, "in [0, 1]", error);
    if ((shifted && law->shift < 1) || (law->kind == BRUME_LOSS_KARY && law->shift < 2))
        return refuse("law.shift", (double)law->shift, "at least 1 (k-ary: 2)", error);
    return BRUME_OK;
}

brume_status brume_cost_check(const brume_cost *cost, brume_error *error)
{
    if (cost->pure != BRUME_ABSENT && !(cost->epsilon >= 0))
        return refuse("epsilon", cost->epsilon, "at least 0", error);
    if (cost->concentrated != BRUME_ABSENT && !(cost->rho >= 0))
        return refuse("rho", cost->rho, "at least 0", error);
    if (!(cost->delta_failure >= 0 && cost->delta_failure <= 1))
        return refuse("delta_failure", cost->delta_failure, "in [0, 1]", error);
    return cost->loss != BRUME_ABSENT ? check_law(&cost->law, error) : BRUME_OK;
}
