/* The trial of the selection mechanisms: two candidates, the second so far ahead that the first
 * wins about once in twenty: there the two chances differ by nearly all of epsilon, and the event
 * is not yet rare. On the second input the first gains the sensitivity; the other loses it too,
 * unless scores move in one direction. */
#include "mechanism/selection/selection.h"

#include <math.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"

static const brume_selection_family *family_of(const brume_event *event)
{
    return brume_card_by_id(event->mechanism)->family;
}

static bool is_monotone(const brume_event *event)
{
    return event->parameter[BRUME_SELECTION_MONOTONE] != 0;
}

static void scores_of(const brume_event *event, bool second, double scores[2])
{
    double gap = event->sensitivity *
                 ceil((is_monotone(event) ? 3 : 6) / event->parameter[BRUME_SELECTION_EPSILON]);
    double moved = second ? event->sensitivity : 0;
    scores[0] = moved;
    scores[1] = gap - (is_monotone(event) ? 0 : moved);
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    (void)state;
    brume_selection options = {event->adjacency, event->parameter[BRUME_SELECTION_EPSILON],
                               event->sensitivity, is_monotone(event)};
    double scores[2];
    scores_of(event, second, scores);
    for (size_t i = 0; i < n; i++) {
        size_t index;
        BRUME_TRY(family_of(event)->choose(bits, &options, scores, 2, &index, error));
        out[i] = (int64_t)index;
    }
    return BRUME_OK;
}

/* The one behind wins with the chance that `tail` says for two. The coefficient of the scores is
 * rounded down where one chooses: 2^-48 covers it. */
static brume_status mass(const brume_event *event, const void *state, bool second, int64_t outcome,
                         brume_interval *out, brume_error *error)
{
    (void)state;
    (void)error;
    double scores[2];
    arb_t x, p;
    arb_init(x), arb_init(p);
    scores_of(event, second, scores);
    int64_t behind = scores[0] <= scores[1] ? 0 : 1;
    arb_set_d(p, fabs(scores[1] - scores[0]));
    brume_selection_slope(x, event);
    arb_mul(x, x, p, BRUME_BALL_BITS);
    arb_set_ui(p, 1);
    arb_add_error_2exp_si(p, -48);
    arb_mul(x, x, p, BRUME_BALL_BITS);
    family_of(event)->tail(p, 2, x);
    if (outcome != behind) {
        arb_sub_ui(p, p, 1, BRUME_BALL_BITS);
        arb_neg(p, p);
    }
    *out = brume_ball_probability(p);
    arb_clear(x), arb_clear(p);
    return BRUME_OK;
}

static void support(const brume_event *event, const void *state, int64_t *least, int64_t *most)
{
    (void)event;
    (void)state;
    *least = 0;
    *most = 1;
}

const brume_trial brume_selection_trial = {
    .neighbours = "two candidates' scores, moved towards each other",
    .outcome = "the index chosen",
    .step = 1,
    .draw = draw,
    .mass = mass,
    .support = support,
};
