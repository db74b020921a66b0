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

/* Two candidates at some distances, in steps that cost 1 unless scores are monotone; or many that
 * are equal, of which the first moves against all the others: the best of these is beyond the
 * middle of its noise nearly always, where the chances differ by all of epsilon. */
enum { MOST_CANDIDATES = 32 };
typedef struct inputs {
    size_t candidates;
    double distance;
} inputs;
static const inputs pairs_of[] = {{2, 6}, {MOST_CANDIDATES, 0}, {12, 0}, {2, 0}, {2, 40}};

static brume_status prepare(const brume_event *event, size_t pair, void *state, brume_error *error)
{
    (void)event;
    (void)error;
    *(inputs *)state = pairs_of[pair];
    return BRUME_OK;
}

static void scores_of(const brume_event *event, const inputs *of, bool second, double *scores)
{
    double steps = is_monotone(event) ? of->distance / 2 : of->distance;
    double gap = ceil(steps / event->parameter[BRUME_SELECTION_EPSILON]);
    double moved = second ? event->sensitivity : 0;
    scores[0] = moved;
    for (size_t i = 1; i < of->candidates; i++)
        scores[i] = event->sensitivity * gap - (is_monotone(event) ? 0 : moved);
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    const inputs *of = state;
    brume_selection options = {event->adjacency, event->parameter[BRUME_SELECTION_EPSILON],
                               event->sensitivity, is_monotone(event)};
    double scores[MOST_CANDIDATES];
    scores_of(event, of, second, scores);
    for (size_t i = 0; i < n; i++) {
        size_t index;
        BRUME_TRY(family_of(event)->choose(bits, &options, scores, of->candidates, &index, error));
        out[i] = index > 0; /* the others are alike */
    }
    return BRUME_OK;
}

static bool has_law(const brume_event *event, const void *state)
{
    (void)event;
    return ((const inputs *)state)->candidates == 2;
}

static const char *describe(const brume_event *event, const void *state)
{
    (void)event;
    if (((const inputs *)state)->candidates == 2)
        return "two candidates' scores, moved towards each other";
    return "many equal scores, of which one moves against the others";
}

/* The one behind wins with the chance that `tail` says for two. The coefficient of the scores is
 * rounded down where one chooses: 2^-48 covers it. */
static brume_status mass(const brume_event *event, const void *state, bool second, int64_t outcome,
                         brume_interval *out, brume_error *error)
{
    (void)error;
    double scores[2] = {0, 0};
    arb_t x, p;
    arb_init(x), arb_init(p);
    scores_of(event, state, second, scores);
    int64_t behind = scores[0] <= scores[1] ? 0 : 1;
    arb_set_d(p, fabs(scores[1] - scores[0]));
    brume_selection_slope(x, event);
    arb_mul(x, x, p, BRUME_BALL_BITS);
    arb_set_ui(p, 1);
    arb_add_error_2exp_si(p, -48);
    arb_mul(x, x, p, BRUME_BALL_BITS);
    if (scores[0] == scores[1])
        arb_set_d(p, .5); /* they are alike */
    else
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
    .neighbours = "two candidates' scores, moved towards each other, or one against many",
    .outcome = "0: the first candidate; 1: another",
    .step = 1,
    .pairs = sizeof pairs_of / sizeof *pairs_of,
    .state_size = sizeof(inputs),
    .prepare = prepare,
    .describe = describe,
    .draw = draw,
    .has_law = has_law,
    .mass = mass,
    .support = support,
};
