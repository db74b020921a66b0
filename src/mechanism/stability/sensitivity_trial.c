/* The trial of noise scaled to a privately released sensitivity. The outcome is both numbers that
 * are released: bound * WIDTH + value + WIDTH/2, the value cut to its window. Promises: the law
 * follows from the noise alone. */
#include <brume/mechanism/stability.h>

#include "base/error.h"
#include "mechanism/stability/laplace_tail.h"
#include "mechanism/stability/trial.h"

enum { SENSITIVITY, RELEASE, DELTA };
enum { MOST = 40, WIDTH = 256, LEAST_VALUE = -WIDTH / 2, MOST_VALUE = WIDTH / 2 - 1 };

typedef struct sensitivity_inputs {
    brume_sensitivity_plan plan;
    double scale; /* of the noise on the sensitivity */
    int64_t offset;
    uint64_t local[2];
    int64_t values[2];
} sensitivity_inputs;

/* Local sensitivities that differ by 1, values by the smaller one; small, in the middle, and where
 * the value moves alone. */
static brume_status prepare(const brume_event *event, size_t pair, void *state, brume_error *error)
{
    static const uint64_t local[][2] = {{8, 9}, {1, 2}, {20, 20}, {0, 1}};
    sensitivity_inputs *of = state;
    uint64_t threshold;
    double unused;
    of->plan = (brume_sensitivity_plan){event->parameter[SENSITIVITY], event->parameter[RELEASE],
                                        event->parameter[DELTA], MOST};
    BRUME_TRY(brume_stability_threshold(event->parameter[SENSITIVITY], event->parameter[DELTA],
                                        &threshold, &unused, error));
    of->scale = brume_scale_upper(1, event->parameter[SENSITIVITY]);
    of->offset = threshold == 0 ? 0 : (int64_t)threshold - 1;
    for (int second = 0; second < 2; second++)
        of->local[second] = local[pair][second];
    of->values[1] = (int64_t)local[pair][0];
    return BRUME_OK;
}

static int64_t code(uint64_t bound, int64_t value)
{
    int64_t cut = value < LEAST_VALUE ? LEAST_VALUE : value > MOST_VALUE ? MOST_VALUE : value;
    return (int64_t)bound * WIDTH + cut - LEAST_VALUE;
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    (void)event;
    const sensitivity_inputs *of = state;
    for (size_t i = 0; i < n; i++) {
        uint64_t bound;
        int64_t value;
        BRUME_TRY(brume_release_by_sensitivity(&of->plan, bits, of->local[second],
                                               of->values[second], &bound, &value, error));
        out[i] = code(bound, value);
    }
    return BRUME_OK;
}

static brume_status mass(const brume_event *event, const void *state, bool second, int64_t outcome,
                         brume_interval *out, brume_error *error)
{
    (void)error;
    const sensitivity_inputs *of = state;
    int64_t bound = outcome / WIDTH, value = outcome % WIDTH + LEAST_VALUE;
    /* the bound is cut to [0, MOST] */
    int64_t noise = bound - (int64_t)of->local[second] - of->offset;
    arb_t p, shown;
    arb_init(p), arb_init(shown);
    brume_between_discrete_laplace(p, of->scale, bound == 0 ? INT64_MIN : noise,
                                   bound == MOST ? INT64_MAX : noise);
    int64_t moved = value - of->values[second];
    if (bound == 0)
        arb_set_ui(shown, moved == 0);
    else
        brume_between_discrete_laplace(
            shown, brume_scale_upper((double)bound, event->parameter[RELEASE]),
            value == LEAST_VALUE ? INT64_MIN : moved, value == MOST_VALUE ? INT64_MAX : moved);
    arb_mul(p, p, shown, BRUME_BALL_BITS);
    *out = brume_ball_probability(p);
    arb_clear(p), arb_clear(shown);
    return BRUME_OK;
}

static void support(const brume_event *event, const void *state, int64_t *least, int64_t *most)
{
    (void)event;
    (void)state;
    *least = 0;
    *most = code(MOST, MOST_VALUE);
}

const brume_trial brume_private_sensitivity_trial = {
    .neighbours = "two local sensitivities, and a value that moves by the smaller one",
    .outcome = "the released bound times 256, and the noisy value",
    .step = 1,
    .slow = true,
    .pairs = 4,
    .state_size = sizeof(sensitivity_inputs),
    .prepare = prepare,
    .draw = draw,
    .mass = mass,
    .support = support,
};
