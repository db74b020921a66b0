/* The trial of the stable histogram: two keys of which the unit that differs has one. Under
 * add-remove it comes to the first key; under replace it moves from the second to the first, so
 * that both counts change.
 *
 * The outcome is what is shown of each key: 0 nothing, 1 .. LEVELS how far above the threshold, the
 * last for all beyond: there the loss is constant. Promises: the law follows from the noise and the
 * threshold alone. */
#include <brume/mechanism/stable_histogram.h>

#include "base/error.h"
#include "mechanism/stability/trial.h"

enum { LEVELS = 16, OUTCOMES = LEVELS + 1 };
enum { COMMON, ALONE, PAIRS };

typedef struct histogram_inputs {
    brume_histogram_plan plan;
    int64_t counts[2][2]; /* [second][key]; 0: no unit has it, so that it cannot be shown */
} histogram_inputs;

static brume_status prepare(const brume_event *event, size_t pair, void *state, brume_error *error)
{
    histogram_inputs *of = state;
    brume_histogram_rule rule = {.noise = BRUME_HISTOGRAM_DISCRETE_LAPLACE,
                                 .epsilon = event->parameter[0],
                                 .delta = event->parameter[1],
                                 .keys_per_unit = 1,
                                 .amount_per_key = 1,
                                 .adjacency = event->adjacency};
    BRUME_TRY(brume_histogram_plan_make(&rule, &of->plan, error));
    bool replace = event->adjacency == BRUME_REPLACE;
    int64_t others = pair == COMMON ? of->plan.threshold : 0;
    of->counts[0][0] = others;
    of->counts[1][0] = others + 1;
    of->counts[0][1] = replace ? others + 1 : 0;
    of->counts[1][1] = replace ? others : 0;
    return BRUME_OK;
}

static const char *describe(const brume_event *event, const void *state)
{
    const histogram_inputs *of = state;
    bool replace = event->adjacency == BRUME_REPLACE;
    if (of->counts[0][0] > 0)
        return replace ? "two keys about the threshold, and a unit that has one of them"
                       : "a key at the threshold, and with one unit more";
    return replace ? "a key of one unit, and another key of it" : "no key, and a key of one unit";
}

static int64_t level(const histogram_inputs *of, int64_t noisy)
{
    int64_t above = noisy - of->plan.threshold + 1;
    return above > LEVELS ? LEVELS : above;
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    enum { PART = 512 };
    (void)event;
    const histogram_inputs *of = state;
    const int64_t *counts = of->counts[second];
    unsigned char keep[2 * PART];
    int64_t noisy[2 * PART] = {0};
    for (size_t done = 0; done < n; done += PART) {
        size_t part = n - done < PART ? n - done : PART, used = 0;
        for (size_t i = 0; i < part; i++)
            for (int key = 0; key < 2; key++)
                if (counts[key] > 0)
                    noisy[used++] = counts[key];
        BRUME_TRY(brume_histogram_release(&of->plan, bits, noisy, noisy, keep, used, error));
        used = 0;
        for (size_t i = 0; i < part; i++) {
            out[done + i] = 0;
            for (int key = 0; key < 2; key++) {
                bool drawn = counts[key] > 0;
                int64_t shown = drawn && keep[used] ? level(of, noisy[used]) : 0;
                out[done + i] = OUTCOMES * out[done + i] + shown;
                used += drawn;
            }
        }
    }
    return BRUME_OK;
}

static void mass_of_key(const histogram_inputs *of, int64_t count, int64_t shown, arb_t out)
{
    if (count == 0) {
        arb_set_ui(out, shown == 0);
        return;
    }
    int64_t least = of->plan.threshold - count; /* of the noise, to be shown */
    int64_t noise = least + shown - 1;
    brume_between_discrete_laplace(out, of->plan.scale, shown == 0 ? INT64_MIN : noise,
                                   shown == LEVELS ? INT64_MAX : noise);
}

static brume_status mass(const brume_event *event, const void *state, bool second, int64_t outcome,
                         brume_interval *out, brume_error *error)
{
    (void)event;
    (void)error;
    const histogram_inputs *of = state;
    arb_t p, other;
    arb_init(p), arb_init(other);
    mass_of_key(of, of->counts[second][0], outcome / OUTCOMES, p);
    mass_of_key(of, of->counts[second][1], outcome % OUTCOMES, other);
    arb_mul(p, p, other, BRUME_BALL_BITS);
    *out = brume_ball_probability(p);
    arb_clear(p), arb_clear(other);
    return BRUME_OK;
}

static void support(const brume_event *event, const void *state, int64_t *least, int64_t *most)
{
    (void)event;
    (void)state;
    *least = 0;
    *most = OUTCOMES * OUTCOMES - 1;
}

const brume_trial brume_stable_histogram_trial = {
    .neighbours = "a key at the threshold, and with one unit more; a key of one unit alone; under "
                  "replace the unit has another key instead",
    .outcome = "what is shown of two keys, 17 times the first's level and the second's",
    .step = 1,
    .pairs = PAIRS,
    .state_size = sizeof(histogram_inputs),
    .prepare = prepare,
    .describe = describe,
    .draw = draw,
    .mass = mass,
    .support = support,
};
