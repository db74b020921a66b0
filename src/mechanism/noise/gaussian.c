/* The Gaussian mechanism for reals on a grid: the card.
 *
 * Promises: continuous Gaussian noise of standard deviation `sigma` in each coordinate, on a query
 * of L2 sensitivity D, has the loss law of N(0,1) against N(D/sigma,1), and rho = D^2/(2 sigma^2),
 * exactly. proofs/gaussian.md. */
#include <brume/noise/gaussian.h>

#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/noise/additive.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_NOISE_("sigma", "standard deviation of the noise in each coordinate"),
    BRUME_PARAMETER_COORDINATES_,
};

static const char *const examples[] = {
    "noise 'gaussian(sigma=2)' --count 5",
    "account 'gaussian(sigma=2)*100' --delta 1e-6",
    "calibrate 'gaussian(sigma=?)*100' --epsilon 1 --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    double mu = brume_divide_up(event->sensitivity, event->parameter[BRUME_ADDITIVE_SPREAD]);
    cost->concentrated = BRUME_EXACT;
    cost->rho =
        brume_gaussian_rho_upper(event->sensitivity, event->parameter[BRUME_ADDITIVE_SPREAD]);
    cost->renyi = BRUME_EXACT;
    cost->renyi_upper = brume_renyi_rho_upper;
    if (isinf(mu))
        return BRUME_OK;
    cost->loss = BRUME_EXACT;
    cost->law = (brume_loss){.kind = BRUME_LOSS_GAUSSIAN, .a = mu};
    return BRUME_OK;
}

static const brume_additive law = {.whole = false,
                                   .open = brume_noise_open_rounded_gaussian,
                                   .mass = brume_mass_rounded_gaussian,
                                   .tail = brume_tail_gaussian,
                                   .add = brume_gaussian_add};

const brume_card brume_card_gaussian = {
    .id = 4,
    .name = "gaussian",
    .summary = "continuous Gaussian noise, released on a grid",
    .guarantee = "rho = sensitivity^2/(2 sigma^2); (epsilon, delta) by its exact profile",
    .sensitivity = "L2",
    .proof = "gaussian.md",
    .accuracy = "|noise| in any coordinate; the grid adds at most half a step",
    BRUME_ADDITIVE_ENTRIES_(law),
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .examples = examples,
    .cost = cost,
    .alpha_upper = brume_additive_alpha_upper,
    .trial = &brume_additive_trial_grid,
};
