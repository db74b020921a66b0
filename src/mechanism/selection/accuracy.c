/* Accuracy of the selection mechanisms: the chance of a bad choice, solved for the distance.
 *
 * All three choose by independent noise, so the worst scores are one best candidate and all others
 * at exactly the distance asked about: lowering a good one or raising a bad one to it, with the
 * same noise, never turns a bad choice into a good one. */
#include "mechanism/selection/selection.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdbool.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"

static brume_selection_tail *tail_of(const brume_event *event)
{
    const brume_selection_family *family = brume_card_by_id(event->mechanism)->family;
    return family->tail;
}

static brume_status candidates_of(const brume_event *event, double *n, brume_error *error)
{
    *n = event->parameter[BRUME_SELECTION_CANDIDATES];
    if (*n == 0)
        return brume_fail(error, BRUME_EARGUMENT, "write candidates=1000, say",
                          "the accuracy depends on the number of 'candidates'");
    return BRUME_OK;
}

void brume_selection_slope(arb_t out, const brume_event *event)
{
    arb_t sensitivity;
    arb_init(sensitivity);
    arb_set_d(out, event->parameter[BRUME_SELECTION_EPSILON]);
    arb_set_d(sensitivity, event->sensitivity);
    arb_div(out, out, sensitivity, BRUME_BALL_BITS);
    if (event->parameter[BRUME_SELECTION_MONOTONE] == 0)
        arb_mul_2exp_si(out, out, -1);
    arb_clear(sensitivity);
}

brume_status brume_selection_beta_upper(const brume_event *event, double alpha, double *beta,
                                        brume_error *error)
{
    brume_selection_tail *tail = tail_of(event);
    double n;
    BRUME_TRY(candidates_of(event, &n, error));
    if (alpha == 0 || n == 1) { /* an error of 0 or more is certain, of more than 0 impossible */
        *beta = alpha == 0 ? 1 : 0;
        return BRUME_OK;
    }
    arb_t x, p;
    arb_init(x);
    arb_init(p);
    arb_set_d(p, alpha);
    brume_selection_slope(x, event);
    arb_mul(x, x, p, BRUME_BALL_BITS);
    tail(p, n, x);
    *beta = brume_ball_upper(p); /* brume_event_beta cuts it to 1 */
    arb_clear(x);
    arb_clear(p);
    return BRUME_OK;
}

static bool enough(brume_selection_tail *tail, double n, double scales, double beta)
{
    arb_t x, p;
    arb_init(x);
    arb_init(p);
    arb_set_d(x, scales);
    tail(p, n, x);
    bool result = brume_ball_upper(p) <= beta;
    arb_clear(x);
    arb_clear(p);
    return result;
}

/* Least x, as a double, with tail(n, x) <= beta; DBL_MIN if every x above 0 will do. The tails are
 * below (n-1) exp(-x/2): the doubling ends. */
static double scales_upper(brume_selection_tail *tail, double n, double beta)
{
    double low = DBL_MIN, high = 1;
    if (enough(tail, n, low, beta))
        return low;
    while (!enough(tail, n, high, beta)) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 200; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (enough(tail, n, middle, beta))
            high = middle;
        else
            low = middle;
    }
    return high;
}

brume_status brume_selection_alpha_upper(const brume_event *event, double beta, double *alpha,
                                         brume_error *error)
{
    brume_selection_tail *tail = tail_of(event);
    double n;
    BRUME_TRY(candidates_of(event, &n, error));
    if (n == 1) {
        *alpha = DBL_MIN;
        return BRUME_OK;
    }
    arb_t x, k;
    arb_init(x);
    arb_init(k);
    arb_set_d(x, scales_upper(tail, n, beta));
    brume_selection_slope(k, event);
    arb_div(x, x, k, BRUME_BALL_BITS);
    *alpha = fmax(brume_ball_upper(x), DBL_MIN);
    arb_clear(x);
    arb_clear(k);
    return BRUME_OK;
}
