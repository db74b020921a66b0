/* Laplace noise scaled to the local sensitivity of the data: the card of a broken mechanism.
 *
 * Promises nothing: the noise itself tells how sensitive the data is. It is here for lectures, as
 * an example that `brume audit` finds; it has no cost, so nothing can charge it. What works
 * instead: smooth sensitivity, propose-test-release, private_sensitivity.
 * proofs/local_sensitivity.md. */
#include <brume/noise/laplace.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/noise/tail.h"
#include "mechanism/trial.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("what is claimed, wrongly"),
};

static const char *const examples[] = {
    "audit 'local_sensitivity_laplace(epsilon=1)' --samples 20000",
    NULL,
};

/* ---- the trial ---- */

/* The lower median in [0, 10^6] of six zeros and, otherwise, 10^6: four times under replace, five
 * times under add-remove. It is 0, and no change moves it. On the second input one zero is replaced
 * by 10^6, or removed: it is still 0, but the next change may move it by 10^6. */
static const double local_sensitivity[2] = {0, 1000000};

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    (void)state;
    double scale = local_sensitivity[second] / event->parameter[0];
    if (!(scale <= 0x1p40))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, too small for a local sensitivity of %g",
                          event->parameter[0], local_sensitivity[second]);
    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    return scale == 0 ? BRUME_OK : brume_discrete_laplace_add(bits, scale, out, out, n, error);
}

static brume_status mass(const brume_event *event, const void *state, bool second, int64_t outcome,
                         brume_interval *out, brume_error *error)
{
    (void)state;
    (void)error;
    double certain = outcome == 0;
    if (!second) { /* no noise at all */
        *out = (brume_interval){certain, certain};
        return BRUME_OK;
    }
    arb_t p;
    arb_init(p);
    brume_mass_discrete_laplace(p, local_sensitivity[1] / event->parameter[0], outcome);
    *out = brume_ball_probability(p);
    arb_clear(p);
    return BRUME_OK;
}

static void support(const brume_event *event, const void *state, int64_t *least, int64_t *most)
{
    (void)state;
    *most = (int64_t)(30 * local_sensitivity[1] / event->parameter[0]) + 1;
    *least = -*most;
}

static const brume_trial trial = {
    .neighbours = "a few numbers of which just more than half are 0 and the others 1000000, and "
                  "with one 0 less",
    .outcome = "the noisy median",
    .step = 1,
    .draw = draw,
    .mass = mass,
    .support = support,
};

const brume_card brume_card_local_sensitivity_laplace = {
    .id = 27,
    .name = "local_sensitivity_laplace",
    .summary = "BROKEN, for teaching: a number with noise scaled to the local sensitivity of the "
               "data",
    .guarantee = "none: the scale of the noise depends on the data and gives it away; cannot be "
                 "charged, only audited",
    .broken = "noise scaled to the local sensitivity tells how sensitive the data is",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "local_sensitivity.md",
    .examples = examples,
    .trial = &trial,
};
