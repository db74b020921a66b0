/* Noise scaled to a privately released local sensitivity: the mechanism and the card.
 *
 * Promises: (epsilon_sensitivity + epsilon_release, delta)-DP for the released pair. On the event
 * that the released bound is at least the local sensitivity, slice by its value w: the law of the
 * bound changes by a factor exp(epsilon_sensitivity), and the value's law given w by
 * exp(epsilon_release), because the value changes by at most LS(x) <= w. The event fails with
 * probability at most delta, for every x. proofs/private_sensitivity.md. */
#include <brume/noise/noise.h>
#include <brume/mechanism/stability.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/noise/release.h"
#include "mechanism/stability/laplace_tail.h"
#include "mechanism/stability/trial.h"

enum { SENSITIVITY, RELEASE, DELTA };

static brume_status draw(double scale, brume_bits *bits, int64_t *out, brume_error *error)
{
    brume_noise *noise = NULL;
    BRUME_TRY(brume_noise_open_discrete_laplace(scale, &noise, error));
    brume_status status = brume_noise_draw(noise, bits, out, error);
    brume_noise_close(noise);
    return status;
}

brume_status brume_release_by_sensitivity(const brume_sensitivity_plan *plan, brume_bits *bits,
                                          uint64_t local, int64_t value, uint64_t *bound,
                                          int64_t *out, brume_error *error)
{
    if (!(plan->epsilon_release > 0 && isfinite(plan->epsilon_release)) ||
        plan->most > UINT64_C(1) << 40 ||
        !(brume_scale_upper(brume_count_up(plan->most), plan->epsilon_release) <= 0x1p56))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon_release' is %.17g, must be above 0, finite and not so small "
                          "that the noise exceeds 2^56",
                          plan->epsilon_release);
    /* Too small a bound is LS + X + offset < LS, that is X <= -offset-1: by symmetry the tail at
     * offset + 1, which is to be at most delta. */
    uint64_t tail_from;
    double unused;
    BRUME_TRY(brume_stability_threshold(plan->epsilon_sensitivity, plan->delta, &tail_from, &unused,
                                        error));
    int64_t offset = tail_from == 0 ? 0 : (int64_t)tail_from - 1;
    int64_t first, second = 0;
    BRUME_TRY(draw(brume_scale_upper(1, plan->epsilon_sensitivity), bits, &first, error));
    /* |first| < 2^62 but for a clamp far beyond every delta allowed. */
    first = first > INT64_MAX / 4 ? INT64_MAX / 4 : first < -INT64_MAX / 4 ? -INT64_MAX / 4 : first;
    int64_t most = (int64_t)plan->most;
    int64_t noisy = (int64_t)(local < plan->most ? local : plan->most) + first + offset;
    noisy = noisy < 0 ? 0 : noisy > most ? most : noisy; /* post-processing: LS <= most always */
    if (noisy > 0)
        BRUME_TRY(
            draw(brume_scale_upper((double)noisy, plan->epsilon_release), bits, &second, error));
    *bound = (uint64_t)noisy;
    *out = brume_saturated_sum(value, second);
    return BRUME_OK;
}

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_PRICE_("epsilon_sensitivity", "nats",
                           "what the release of the local sensitivity costs"),
    BRUME_PARAMETER_PRICE_("epsilon_release", "nats",
                           "what the release of the value with noise for it costs"),
    BRUME_PARAMETER_DELTA_("probability that the released sensitivity is too small"),
};

static const char *const examples[] = {
    "account 'private_sensitivity(epsilon_sensitivity=0.5, epsilon_release=0.5, delta=1e-6)' "
    "--epsilon 1",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    double sensitivity = event->parameter[SENSITIVITY], release = event->parameter[RELEASE];
    brume_cost_of_failing(brume_add_up(sensitivity, release), event->parameter[DELTA], cost);
    return BRUME_OK;
}

const brume_card brume_card_private_sensitivity = {
    .id = 22,
    .name = "private_sensitivity",
    .summary = "release the local sensitivity privately, then the value with noise scaled to it",
    .guarantee = "(epsilon_sensitivity + epsilon_release, delta)",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "private_sensitivity.md",
    .examples = examples,
    .cost = cost,
    .trial = &brume_private_sensitivity_trial,
};
