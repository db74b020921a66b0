/* The discrete Laplace mechanism for integers: the card.
 *
 * Promises: noise with P[k] = (1-q)/(1+q) q^|k|, q = exp(-1/scale), on an integer query. Integers
 * change by integers, so a stated sensitivity D means at most floor(D): pure floor(D)/scale.
 * A D within a millionth below an integer is taken for it.
 * A sensitivity below 1 says that nothing can change, which is surely not meant: refused.
 * proofs/laplace.md. */
#include <brume/noise/laplace.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/noise/additive.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_NOISE_("scale", "P[k] is proportional to exp(-|k|/scale)"),
    BRUME_PARAMETER_COORDINATES_,
};

static const char *const examples[] = {
    "noise 'discrete_laplace(scale=10)' --count 5",
    "account 'discrete_laplace(scale=2, sensitivity=3)*10' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    double shift = brume_integer_bound(event->sensitivity),
           scale = event->parameter[BRUME_ADDITIVE_SPREAD];
    if (shift < 1)
        return brume_fail(
            error, BRUME_EARGUMENT, "integers change by at least 1; for reals use 'laplace'",
            "discrete_laplace: 'sensitivity' is %.17g, must be at least 1", event->sensitivity);
    cost->pure = BRUME_EXACT;
    cost->epsilon = brume_divide_up(shift, scale);
    /* at shift 1 the loss is that of randomized response; otherwise the curve gives less */
    cost->concentrated = shift == 1 ? BRUME_EXACT : BRUME_UPPER;
    cost->rho = brume_pure_rho_upper(cost->epsilon);
    double step = brume_divide_up(1, scale);
    if (isinf(cost->epsilon) || isinf(step) || shift > 0x1p53)
        return BRUME_OK;
    cost->loss = BRUME_EXACT;
    cost->law =
        (brume_loss){.kind = BRUME_LOSS_DISCRETE_LAPLACE, .a = step, .shift = (uint64_t)shift};
    cost->renyi = BRUME_EXACT;
    cost->renyi_upper = brume_renyi_discrete_laplace_upper;
    if (shift > 1 && cost->epsilon > 1e-3) /* below, the bound above is within epsilon/3 of it */
        cost->rho = brume_rho_of_renyi_upper(cost);
    return BRUME_OK;
}

static const brume_additive law = {.whole = true,
                                   .open = brume_noise_open_discrete_laplace,
                                   .mass = brume_mass_discrete_laplace,
                                   .tail = brume_tail_discrete_laplace,
                                   .add = brume_discrete_laplace_add};

const brume_card brume_card_discrete_laplace = {
    .id = 3,
    .name = "discrete_laplace",
    .summary = "discrete Laplace noise on integers",
    .guarantee = "pure epsilon = floor(sensitivity)/scale, for integer queries",
    .sensitivity = "L1",
    .proof = "laplace.md",
    .accuracy = "|noise| in any coordinate, a whole number",
    BRUME_ADDITIVE_ENTRIES_(law),
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .examples = examples,
    .cost = cost,
    .alpha_upper = brume_additive_alpha_upper,
    .trial = &brume_additive_trial_whole,
};
