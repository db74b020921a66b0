/* Stable release (distance to instability): the test and the card.
 *
 * Promises: (epsilon, delta)-DP. Same answer for both neighbours: the test is an epsilon-DP
 * function of a 1-Lipschitz integer. Different answers: both distances are 0, "nothing" is equally
 * likely, and an answer is shown with probability at most delta. proofs/stability.md. */
#include <brume/mechanism/stability.h>

#include <brume/noise/noise.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/stability/laplace_tail.h"
#include "mechanism/stability/stability.h"
#include "mechanism/stability/trial.h"

static brume_status check(double epsilon, double delta, brume_error *error)
{
    if (!(epsilon >= 0x1p-40 && epsilon <= 700))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the test's 'epsilon' is %.17g, must be in [2^-40, 700]", epsilon);
    if (!(delta >= 0x1p-1000 && delta < .5))
        return brume_fail(error, BRUME_EARGUMENT, "there is no stable release without a delta",
                          "'delta' is %.17g, must be in (0, 1/2)", delta);
    return BRUME_OK;
}

brume_status brume_stability_threshold(double epsilon, double delta, uint64_t *m,
                                       double *delta_upper, brume_error *error)
{
    BRUME_TRY(check(epsilon, delta, error));
    return brume_discrete_tail_threshold(brume_scale_upper(1, epsilon), delta, m, delta_upper,
                                         error);
}

brume_status brume_stability_test_draw(double epsilon, double delta, brume_bits *bits,
                                       brume_stability_test *out, brume_error *error)
{
    uint64_t m;
    double unused;
    BRUME_TRY(brume_stability_threshold(epsilon, delta, &m, &unused, error));
    brume_noise *noise = NULL;
    int64_t draw = 0;
    BRUME_TRY(brume_noise_open_discrete_laplace(brume_scale_upper(1, epsilon), &noise, error));
    brume_status status = brume_noise_draw(noise, bits, &draw, error);
    brume_noise_close(noise);
    if (status != BRUME_OK)
        return status;
    /* m < 2^51 for every allowed epsilon and delta; draws below -2^62, where no distance passes,
     * are all alike. */
    const int64_t lowest = -(INT64_C(1) << 62);
    *out = (brume_stability_test){.least_distance = (int64_t)m - (draw > lowest ? draw : lowest)};
    return BRUME_OK;
}

bool brume_stability_test_passes(const brume_stability_test *test, uint64_t distance)
{
    if (distance > INT64_MAX)
        return true; /* no data answers otherwise: every neighbour has this distance too */
    return (int64_t)distance >= test->least_distance;
}

brume_status brume_stable_release(double epsilon, double delta, brume_bits *bits, uint64_t distance,
                                  bool *released, brume_error *error)
{
    brume_stability_test test;
    BRUME_TRY(brume_stability_test_draw(epsilon, delta, bits, &test, error));
    *released = brume_stability_test_passes(&test, distance);
    return BRUME_OK;
}

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("what the test of stability costs"),
    BRUME_PARAMETER_DELTA_("probability of showing an unstable answer"),
};

static const char *const examples[] = {
    "account 'stable_release(epsilon=0.5, delta=1e-7)*4' --delta 1e-5",
    "accuracy 'stable_release(epsilon=1, delta=1e-6)' --beta 0.05",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_failing(event->parameter[0], event->parameter[1], cost);
    return BRUME_OK;
}

static brume_status alpha_upper(const brume_event *event, double beta, double *alpha,
                                brume_error *error)
{
    return brume_stability_alpha_upper(event->parameter[0], event->parameter[1], beta, alpha,
                                       error);
}

static brume_status beta_upper(const brume_event *event, double alpha, double *beta,
                               brume_error *error)
{
    return brume_stability_beta_upper(event->parameter[0], event->parameter[1], alpha, beta, error);
}

const brume_card brume_card_stable_release = {
    .id = 16,
    .name = "stable_release",
    .summary = "an exact answer, shown where no few changes of the data alter it: mode, top-k",
    .guarantee = "(epsilon, delta)",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "stability.md",
    .examples = examples,
    .cost = cost,
    .accuracy =
        "of an answer that is not shown: how many changes of the data it takes to alter it, less "
        "one; for the mode the gap between the two largest counts, less one",
    .alpha_upper = alpha_upper,
    .beta_upper = beta_upper,
    .trial = &brume_stable_release_trial,
};
