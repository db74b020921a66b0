/* The trial of smooth noise: the value moves by the smaller bound, and the bound by as much as
 * smoothness allows. */
#include "mechanism/smooth/trial.h"

#include <math.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"

/* Values and bounds are in steps. */
typedef struct smooth_inputs {
    brume_smooth_plan plan;
    int64_t values[2];
    double bounds[2];
} smooth_inputs;

static brume_status prepare(const brume_event *event, size_t pair, void *state, brume_error *error)
{
    (void)pair;
    const brume_smooth_family *family = brume_card_by_id(event->mechanism)->family;
    smooth_inputs *of = state;
    BRUME_TRY(family->plan(event, &of->plan, error));
    of->values[1] = BRUME_TRIAL_GRID;
    of->bounds[0] = BRUME_TRIAL_GRID;
    of->bounds[1] = BRUME_TRIAL_GRID * exp(of->plan.t) * (1 - 0x1p-40); /* rounded down */
    return BRUME_OK;
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    (void)event;
    const smooth_inputs *of = state;
    for (size_t i = 0; i < n; i++)
        BRUME_TRY(brume_smooth_release(&of->plan, bits, of->values[second], of->bounds[second],
                                       of->bounds[1], &out[i], error));
    return BRUME_OK;
}

const brume_trial brume_smooth_trial = {
    .neighbours = "a value and its bound, and both as much larger as they may be",
    .outcome = "the noisy number",
    .step = 1. / BRUME_TRIAL_GRID,
    .slow = true,
    .state_size = sizeof(smooth_inputs),
    .prepare = prepare,
    .draw = draw,
};
