/* The Gaussian mechanism for reals on a grid: the card.
 *
 * Promises: continuous Gaussian noise of standard deviation `sigma` in each coordinate, on a query
 * of L2 sensitivity D, has the loss law of N(0,1) against N(D/sigma,1), and rho = D^2/(2 sigma^2),
 * exactly. proofs/gaussian.md. */
#include "mechanism/noise/additive.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/noise/tail.h"

enum { SIGMA, COORDINATES };

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
    double mu = brume_divide_up(event->sensitivity, event->parameter[SIGMA]);
    cost->concentrated = BRUME_EXACT;
    cost->rho = brume_gaussian_rho_upper(event->sensitivity, event->parameter[SIGMA]);
    cost->renyi = BRUME_EXACT;
    cost->renyi_upper = brume_renyi_rho_upper;
    if (isinf(mu))
        return BRUME_OK;
    cost->loss = BRUME_EXACT;
    cost->law = (brume_loss){.kind = BRUME_LOSS_GAUSSIAN, .a = mu};
    return BRUME_OK;
}

static brume_status alpha_upper(const brume_event *event, double beta, double *alpha,
                                brume_error *error)
{
    return brume_tail_alpha_upper(brume_tail_gaussian, event->parameter[SIGMA],
                                  event->parameter[COORDINATES], beta, false, alpha, error);
}

static brume_status beta_upper(const brume_event *event, double alpha, double *beta,
                               brume_error *error)
{
    (void)error;
    *beta = brume_tail_beta_upper(brume_tail_gaussian, event->parameter[SIGMA],
                                  event->parameter[COORDINATES], alpha);
    return BRUME_OK;
}

static brume_status mass(const brume_event *event, int64_t k, brume_interval *mass,
                         brume_error *error)
{
    return brume_additive_grid_mass(brume_mass_rounded_gaussian, event->parameter[SIGMA], k, mass,
                                    error);
}

static brume_status noise(const brume_event *event, brume_bits *bits, int64_t *out, size_t n,
                          double *step, brume_error *error)
{
    return brume_additive_grid_noise(brume_noise_open_rounded_gaussian, event->parameter[SIGMA],
                                     bits, out, n, step, error);
}

const brume_card brume_card_gaussian = {
    .id = 4,
    .name = "gaussian",
    .summary = "continuous Gaussian noise, released on a grid",
    .guarantee = "rho = sensitivity^2/(2 sigma^2); (epsilon, delta) by its exact profile",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "L2",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "gaussian.md",
    .examples = examples,
    .cost = cost,
    .accuracy = "|noise| in any coordinate; the grid adds at most half a step",
    .alpha_upper = alpha_upper,
    .beta_upper = beta_upper,
    .mass = mass,
    .noise = noise,
};
