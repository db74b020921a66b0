/* Additive noise: drawing it, its probabilities, its accuracy and its trial. Promises: the laws are
 * those of the samplers and masses given; a grid depends on the spread alone. */
#include "mechanism/noise/additive.h"

#include <math.h>

#include "base/error.h"
#include "mechanism/noise/grid.h"

static const brume_additive *law_of(const brume_event *event)
{
    return brume_card_by_id(event->mechanism)->family;
}

static double spread_of(const brume_event *event)
{
    return event->parameter[BRUME_ADDITIVE_SPREAD];
}

/* The spread in steps of what is drawn. */
static brume_status steps_of(const brume_event *event, double *step, double *spread,
                             brume_error *error)
{
    if (!law_of(event)->whole)
        return brume_grid_of(spread_of(event), step, spread, error);
    *step = 1;
    *spread = spread_of(event);
    return BRUME_OK;
}

static brume_interval mass_at(const brume_event *event, double spread, int64_t k)
{
    arb_t p;
    arb_init(p);
    law_of(event)->mass(p, spread, k);
    brume_interval mass = brume_ball_probability(p);
    arb_clear(p);
    return mass;
}

brume_status brume_additive_alpha_upper(const brume_event *event, double beta, double *alpha,
                                        brume_error *error)
{
    return brume_tail_alpha_upper(law_of(event)->tail, spread_of(event),
                                  event->parameter[BRUME_ADDITIVE_COORDINATES], beta,
                                  law_of(event)->whole, alpha, error);
}

brume_status brume_additive_beta_upper(const brume_event *event, double alpha, double *beta,
                                       brume_error *error)
{
    (void)error;
    *beta = brume_tail_beta_upper(law_of(event)->tail, spread_of(event),
                                  event->parameter[BRUME_ADDITIVE_COORDINATES], alpha);
    return BRUME_OK;
}

brume_status brume_additive_noise(const brume_event *event, brume_bits *bits, int64_t *out,
                                  size_t n, double *step, brume_error *error)
{
    brume_noise *noise = NULL;
    double spread, found;
    BRUME_TRY(steps_of(event, &found, &spread, error));
    BRUME_TRY(law_of(event)->open(spread, &noise, error));
    brume_status status = brume_noise_fill(noise, bits, out, n, error);
    brume_noise_close(noise);
    *step = found;
    return status;
}

brume_status brume_additive_mass(const brume_event *event, int64_t k, brume_interval *mass,
                                 brume_error *error)
{
    double step, spread;
    BRUME_TRY(steps_of(event, &step, &spread, error));
    *mass = mass_at(event, spread, k);
    return BRUME_OK;
}

/* ---- the trial ---- */

/* The number released on each input; the spread, both in steps. */
typedef struct additive_numbers {
    int64_t values[2];
    double spread;
} additive_numbers;

static brume_status prepare(const brume_event *event, size_t pair, void *state, brume_error *error)
{
    (void)pair;
    double steps = law_of(event)->whole ? 1 : BRUME_TRIAL_GRID;
    double apart = floor(event->sensitivity * steps); /* down: not further apart than allowed */
    if (!(apart <= 0x1p50))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the sensitivity %g is too large to audit",
                          event->sensitivity);
    *(additive_numbers *)state = (additive_numbers){{0, (int64_t)apart}, spread_of(event) * steps};
    return BRUME_OK;
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    const additive_numbers *of = state;
    for (size_t i = 0; i < n; i++)
        out[i] = of->values[second];
    return law_of(event)->add(bits, of->spread, out, out, n, error);
}

static brume_status trial_mass(const brume_event *event, const void *state, bool second,
                               int64_t outcome, brume_interval *mass, brume_error *error)
{
    (void)error;
    const additive_numbers *of = state;
    *mass = mass_at(event, of->spread, outcome - of->values[second]);
    return BRUME_OK;
}

/* Both tails beyond 30 scales or 8 sigmas have less than 1e-12. */
static void support(const brume_event *event, const void *state, int64_t *least, int64_t *most)
{
    (void)event;
    const additive_numbers *of = state;
    int64_t reach = (int64_t)ceil(30 * of->spread) + 1;
    *least = -reach;
    *most = of->values[1] + reach;
}

#define TRIAL(step_of)                                                                             \
    {                                                                                              \
        .neighbours = "a number, and one that differs by the sensitivity",                         \
        .outcome = "the noisy number", .step = (step_of), .state_size = sizeof(additive_numbers),  \
        .prepare = prepare, .draw = draw, .mass = trial_mass, .support = support                   \
    }

const brume_trial brume_additive_trial_whole = TRIAL(1);
const brume_trial brume_additive_trial_grid = TRIAL(1. / BRUME_TRIAL_GRID);
