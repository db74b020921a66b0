/* The trials of stable release, propose-test-release and private sensitivity. Promises: the laws
 * follow from the noise alone, not from the functions that draw. */
#include "mechanism/stability/trial.h"

#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/stability.h>

#include "base/error.h"
#include "mechanism/stability/laplace_tail.h"
#include "mechanism/stability/stability.h"

void brume_between_discrete_laplace(arb_t out, double scale, int64_t low, int64_t high)
{
    arb_t beyond;
    if (low == high) { /* no cancellation */
        brume_mass_discrete_laplace(out, scale, low);
        return;
    }
    arb_one(out);
    if (low != INT64_MIN)
        brume_reach_discrete_laplace(out, scale, low);
    if (high == INT64_MAX)
        return;
    arb_init(beyond);
    brume_reach_discrete_laplace(beyond, scale, high + 1);
    arb_sub(out, out, beyond, BRUME_BALL_BITS);
    arb_clear(beyond);
}

/* The distances of two inputs to one that answers otherwise, and what they answer. */
typedef struct tested {
    double scale; /* of the test's noise */
    uint64_t threshold, distances[2];
    int64_t values[2];
    double release; /* scale of the noise on values; 0: there is none */
} tested;

enum { AT_THRESHOLD, FROM_NOTHING, UNSTABLE, PAIRS };

/* Just below the threshold and at it, where passing differs by all of epsilon; at the distances 0
 * and 1; and both at 0, where the answers differ by as much as they like. */
static brume_status prepare_tested(double epsilon, double delta, size_t pair, tested *out,
                                   brume_error *error)
{
    double unused;
    BRUME_TRY(brume_stability_threshold(epsilon, delta, &out->threshold, &unused, error));
    out->scale = brume_scale_upper(1, epsilon);
    uint64_t first = pair == AT_THRESHOLD && out->threshold >= 1 ? out->threshold - 1 : 0;
    out->distances[0] = first;
    out->distances[1] = pair == UNSTABLE ? 0 : first + 1;
    return BRUME_OK;
}

static bool is_unstable(const tested *of)
{
    return of->distances[1] == of->distances[0];
}

/* P[the test passes], or that it does not. */
static void passing(const tested *of, bool second, bool passes, arb_t out)
{
    int64_t needed = (int64_t)of->threshold - (int64_t)of->distances[second];
    if (passes)
        brume_between_discrete_laplace(out, of->scale, needed, INT64_MAX);
    else
        brume_between_discrete_laplace(out, of->scale, INT64_MIN, needed - 1);
}

static const char *describe(const brume_event *event, const void *state)
{
    (void)event;
    const tested *of = state;
    if (is_unstable(of))
        return "two answers that are both at the distance 0 from other ones";
    return of->distances[0] == 0 ? "the distances 0 and 1"
                                 : "distances just below the threshold and at it";
}

/* ---- stable release ---- */

static brume_status prepare_stable(const brume_event *event, size_t pair, void *state,
                                   brume_error *error)
{
    tested *of = state;
    BRUME_TRY(prepare_tested(event->parameter[0], event->parameter[1], pair, of, error));
    of->values[0] = 1;
    of->values[1] = is_unstable(of) ? 2 : 1;
    return BRUME_OK;
}

static brume_status draw_stable(const brume_event *event, const void *state, bool second,
                                brume_bits *bits, int64_t *out, size_t n, brume_error *error)
{
    const tested *of = state;
    for (size_t i = 0; i < n; i++) {
        bool released;
        BRUME_TRY(brume_stable_release(event->parameter[0], event->parameter[1], bits,
                                       of->distances[second], &released, error));
        out[i] = released ? of->values[second] : 0;
    }
    return BRUME_OK;
}

static brume_status mass_stable(const brume_event *event, const void *state, bool second,
                                int64_t outcome, brume_interval *mass, brume_error *error)
{
    (void)event;
    (void)error;
    const tested *of = state;
    if (outcome != 0 && outcome != of->values[second]) {
        *mass = (brume_interval){0, 0};
        return BRUME_OK;
    }
    arb_t p;
    arb_init(p);
    passing(of, second, outcome != 0, p);
    *mass = brume_ball_probability(p);
    arb_clear(p);
    return BRUME_OK;
}

static void support_stable(const brume_event *event, const void *state, int64_t *least,
                           int64_t *most)
{
    (void)event;
    (void)state;
    *least = 0;
    *most = 2;
}

const brume_trial brume_stable_release_trial = {
    .neighbours = "distances just below the threshold and at it, or two unstable answers",
    .outcome = "0: nothing; else which answer was released",
    .step = 1,
    .slow = true,
    .pairs = PAIRS,
    .state_size = sizeof(tested),
    .prepare = prepare_stable,
    .describe = describe,
    .draw = draw_stable,
    .mass = mass_stable,
    .support = support_stable,
};

/* ---- propose-test-release ---- */

enum { TEST, RELEASE, DELTA };
enum { FAR_APART = 40 }; /* of the unstable values; the proposed bound is 1 */

static brume_status prepare_proposal(const brume_event *event, size_t pair, void *state,
                                     brume_error *error)
{
    tested *of = state;
    BRUME_TRY(prepare_tested(event->parameter[TEST], event->parameter[DELTA], pair, of, error));
    of->values[1] = is_unstable(of) ? FAR_APART : 1;
    of->release = brume_scale_upper(1, event->parameter[RELEASE]);
    if (!(of->release <= 0x1p20))
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "'epsilon_release' is %g, too small to audit", event->parameter[RELEASE]);
    return BRUME_OK;
}

typedef struct stability_answer {
    const tested *of;
    bool second;
} stability_answer;

static brume_status distance_of(void *context, uint64_t bound, uint64_t *out, brume_error *error)
{
    (void)bound;
    (void)error;
    const stability_answer *from = context;
    *out = from->of->distances[from->second];
    return BRUME_OK;
}

static brume_status value_of(void *context, int64_t *out, brume_error *error)
{
    (void)error;
    const stability_answer *from = context;
    *out = from->of->values[from->second];
    return BRUME_OK;
}

static brume_status draw_proposal(const brume_event *event, const void *state, bool second,
                                  brume_bits *bits, int64_t *out, size_t n, brume_error *error)
{
    brume_proposal proposal = {.epsilon_test = event->parameter[TEST],
                               .epsilon_release = event->parameter[RELEASE],
                               .delta = event->parameter[DELTA],
                               .bound = 1};
    stability_answer from = {state, second};
    brume_tested statistic = {&from, distance_of, value_of};
    for (size_t i = 0; i < n; i++) {
        bool released;
        int64_t value = 0;
        BRUME_TRY(
            brume_propose_test_release(&proposal, &statistic, bits, &released, &value, error));
        out[i] = released ? value : BRUME_TRIAL_HIDDEN;
    }
    return BRUME_OK;
}

static brume_status mass_proposal(const brume_event *event, const void *state, bool second,
                                  int64_t outcome, brume_interval *mass, brume_error *error)
{
    (void)event;
    (void)error;
    const tested *of = state;
    arb_t p, value;
    arb_init(p), arb_init(value);
    passing(of, second, outcome != BRUME_TRIAL_HIDDEN, p);
    if (outcome != BRUME_TRIAL_HIDDEN) {
        brume_mass_discrete_laplace(value, of->release, outcome - of->values[second]);
        arb_mul(p, p, value, BRUME_BALL_BITS);
    }
    *mass = brume_ball_probability(p);
    arb_clear(p), arb_clear(value);
    return BRUME_OK;
}

static void support_proposal(const brume_event *event, const void *state, int64_t *least,
                             int64_t *most)
{
    (void)event;
    const tested *of = state;
    int64_t reach = (int64_t)ceil(30 * of->release) + 1;
    *least = -reach;
    *most = of->values[1] + reach;
}

const brume_trial brume_propose_test_release_trial = {
    .neighbours = "a distance below the threshold and a value, and both larger by 1; or two values "
                  "that are far apart",
    .outcome = "the noisy number, or nothing",
    .step = 1,
    .slow = true,
    .hides = true,
    .pairs = PAIRS,
    .state_size = sizeof(tested),
    .prepare = prepare_proposal,
    .describe = describe,
    .draw = draw_proposal,
    .mass = mass_proposal,
    .support = support_proposal,
};
