/* Propose-test-release: the mechanism and the card.
 *
 * Promises: (epsilon_test + epsilon_release, delta)-DP. Values of two neighbours within the bound:
 * a test and a release, composed. Further apart: both have a local sensitivity above the bound,
 * both distances are 0, and a value is shown with probability at most delta. proofs/stability.md.
 */
#include <brume/noise/noise.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/noise/release.h"
#include "mechanism/stability/laplace_tail.h"
#include "mechanism/stability/stability.h"
#include "mechanism/stability/trial.h"

enum { TEST, RELEASE, DELTA };

static brume_status draw_release(const brume_proposal *proposal, brume_bits *bits, int64_t *out,
                                 brume_error *error)
{
    *out = 0;
    if (proposal->bound == 0)
        return BRUME_OK; /* neighbours have the same value, or both distances are 0 */
    brume_noise *noise = NULL;
    double scale = brume_scale_upper(brume_count_up(proposal->bound), proposal->epsilon_release);
    BRUME_TRY(brume_noise_open_discrete_laplace(scale, &noise, error));
    brume_status status = brume_noise_draw(noise, bits, out, error);
    brume_noise_close(noise);
    return status;
}

brume_status brume_propose_test_release(const brume_proposal *proposal,
                                        const brume_tested *statistic, brume_bits *bits,
                                        bool *released, int64_t *value, brume_error *error)
{
    if (!(proposal->epsilon_release > 0 && isfinite(proposal->epsilon_release)))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon_release' is %.17g, must be above 0 and finite",
                          proposal->epsilon_release);
    brume_stability_test test;
    int64_t noise, exact = 0;
    BRUME_TRY(
        brume_stability_test_draw(proposal->epsilon_test, proposal->delta, bits, &test, error));
    BRUME_TRY(draw_release(proposal, bits, &noise, error));
    uint64_t distance;
    BRUME_TRY(statistic->distance(statistic->context, proposal->bound, &distance, error));
    /* The value is computed whatever the test says, so that time and errors do not tell. */
    BRUME_TRY(statistic->value(statistic->context, &exact, error));
    *released = brume_stability_test_passes(&test, distance);
    if (*released)
        *value = brume_saturated_sum(exact, noise);
    return BRUME_OK;
}

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_PRICE_("epsilon_test", "nats", "what the test of the proposed bound costs"),
    BRUME_PARAMETER_PRICE_("epsilon_release", "nats",
                           "what the release with noise for that bound costs"),
    BRUME_PARAMETER_DELTA_("probability of passing the test wrongly"),
};

static const char *const examples[] = {
    "account 'propose_test_release(epsilon_test=0.5, epsilon_release=0.5, delta=1e-6)' "
    "--epsilon 1",
    "accuracy 'propose_test_release(epsilon_test=0.5, epsilon_release=0.5, delta=1e-6)' "
    "--beta 0.05",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    double test = event->parameter[TEST], release = event->parameter[RELEASE];
    brume_cost_of_failing(brume_add_up(test, release), event->parameter[DELTA], cost);
    /* Test and release are two pure mechanisms given no failure: their rhos add, to less. */
    cost->rho = brume_add_up(brume_pure_rho_upper(test), brume_pure_rho_upper(release));
    return BRUME_OK;
}

static brume_status alpha_upper(const brume_event *event, double beta, double *alpha,
                                brume_error *error)
{
    return brume_stability_alpha_upper(event->parameter[TEST], event->parameter[DELTA], beta, alpha,
                                       error);
}

static brume_status beta_upper(const brume_event *event, double alpha, double *beta,
                               brume_error *error)
{
    return brume_stability_beta_upper(event->parameter[TEST], event->parameter[DELTA], alpha, beta,
                                      error);
}

const brume_card brume_card_propose_test_release = {
    .id = 15,
    .name = "propose_test_release",
    .summary = "propose a bound on the local sensitivity, test it, release with noise for it",
    .guarantee = "(epsilon_test + epsilon_release, delta)",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "stability.md",
    .examples = examples,
    .cost = cost,
    .accuracy =
        "where nothing is released: the distance to data whose local sensitivity is above the "
        "proposed bound; what is released has the error of laplace(scale = bound / "
        "epsilon_release)",
    .alpha_upper = alpha_upper,
    .beta_upper = beta_upper,
    .trial = &brume_propose_test_release_trial,
};
