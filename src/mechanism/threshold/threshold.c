/* The split of a sparse vector's epsilon and its accuracy. Promises: the two scales that come out
 * cost at most epsilon together, whatever the rounding. */
#include "mechanism/threshold/threshold.h"

#include <math.h>
#include <stddef.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"
#include "mechanism/ball.h"
#include "number/rounding.h"

enum { BITS = BRUME_BALL_BITS };

/* w c: the query scale is w c D/eps2. */
static double weight(const brume_split *split)
{
    return split->monotone ? split->hits : 2 * split->hits;
}

/* r = eps2/eps1 */
static void ratio(arb_t out, const brume_split *split)
{
    if (split->even) {
        arb_one(out);
        return;
    }
    arb_set_d(out, weight(split));
    arb_mul(out, out, out, BITS);
    arb_root_ui(out, out, 3, BITS);
}

void brume_split_scales(const brume_split *split, double epsilon, double *threshold, double *query)
{
    arb_t r, e, x;
    arb_init(r);
    arb_init(e);
    arb_init(x);
    ratio(r, split);
    arb_set_d(e, epsilon);
    arb_add_ui(x, r, 1, BITS);
    arb_div(x, x, e, BITS); /* 1/eps1 = (1+r)/eps */
    *threshold = brume_ball_upper(x);
    arb_div(x, x, r, BITS); /* 1/eps2 */
    arb_set_d(r, weight(split));
    arb_mul(x, x, r, BITS);
    *query = brume_ball_upper(x); /* both rounded up: 1/threshold + w c/query <= eps */
    arb_clear(r);
    arb_clear(e);
    arb_clear(x);
}

static brume_status queries_said(double queries, brume_error *error)
{
    if (queries == 0)
        return brume_fail(error, BRUME_EARGUMENT, "write queries=100, say",
                          "the accuracy depends on the number of 'queries'");
    return BRUME_OK;
}

/* unit = D (1+r)/eps, share = w c/r:
 * alpha = unit [ln(2/beta) + share ln(2 queries/beta)]. */
static void unit_and_share(arb_t unit, arb_t share, const brume_split *split, double epsilon,
                           double sensitivity)
{
    arb_t x;
    arb_init(x);
    ratio(x, split);
    arb_set_d(share, weight(split));
    arb_div(share, share, x, BITS);
    arb_add_ui(unit, x, 1, BITS);
    arb_set_d(x, epsilon);
    arb_div(unit, unit, x, BITS);
    arb_set_d(x, sensitivity);
    arb_mul(unit, unit, x, BITS);
    arb_set_d(x, 1 + 0x1p-50); /* the scales are rounded up by less than this */
    arb_mul(unit, unit, x, BITS);
    arb_clear(x);
}

brume_status brume_split_alpha_upper(const brume_split *split, double epsilon, double sensitivity,
                                     double queries, double beta, double *alpha, brume_error *error)
{
    BRUME_TRY(queries_said(queries, error));
    arb_t unit, share, x, y;
    arb_init(unit), arb_init(share), arb_init(x), arb_init(y);
    unit_and_share(unit, share, split, epsilon, sensitivity);
    arb_set_d(x, beta);
    arb_log(x, x, BITS);
    arb_const_log2(y, BITS);
    arb_sub(x, y, x, BITS); /* ln(2/beta) */
    arb_set_d(y, queries);
    arb_log(y, y, BITS);
    arb_add(y, y, x, BITS); /* ln(2 queries/beta) */
    arb_mul(y, y, share, BITS);
    arb_add(x, x, y, BITS);
    arb_mul(x, x, unit, BITS);
    *alpha = brume_ball_upper(x);
    arb_clear(unit), arb_clear(share), arb_clear(x), arb_clear(y);
    return BRUME_OK;
}

/* ln(1/beta) = (alpha/unit - ln 2 - share ln(2 queries))/(1 + share). */
brume_status brume_split_beta_upper(const brume_split *split, double epsilon, double sensitivity,
                                    double queries, double alpha, double *beta, brume_error *error)
{
    BRUME_TRY(queries_said(queries, error));
    arb_t unit, share, x, y;
    arb_init(unit), arb_init(share), arb_init(x), arb_init(y);
    unit_and_share(unit, share, split, epsilon, sensitivity);
    arb_set_d(x, queries);
    arb_log(x, x, BITS);
    arb_const_log2(y, BITS);
    arb_add(x, x, y, BITS);
    arb_mul(x, x, share, BITS);
    arb_add(x, x, y, BITS);
    arb_set_d(y, alpha);
    arb_div(y, y, unit, BITS);
    arb_sub(x, x, y, BITS);
    arb_add_ui(share, share, 1, BITS);
    arb_div(x, x, share, BITS);
    arb_exp(x, x, BITS);
    *beta = brume_ball_upper(x); /* brume_event_beta cuts it to 1 */
    arb_clear(unit), arb_clear(share), arb_clear(x), arb_clear(y);
    return BRUME_OK;
}

/* ---- the accuracy of a card ---- */

static const brume_threshold_family *family_of(const brume_event *event)
{
    return brume_card_by_id(event->mechanism)->family;
}

static brume_split split_of(const brume_event *event)
{
    brume_sparse_vector_options options = family_of(event)->options(event);
    return (brume_split){(double)options.hits, options.monotone, options.even_split};
}

brume_status brume_threshold_alpha_upper(const brume_event *event, double beta, double *alpha,
                                         brume_error *error)
{
    brume_split split = split_of(event);
    return brume_split_alpha_upper(&split, event->parameter[0], event->sensitivity,
                                   event->parameter[family_of(event)->queries], beta, alpha, error);
}

brume_status brume_threshold_beta_upper(const brume_event *event, double alpha, double *beta,
                                        brume_error *error)
{
    brume_split split = split_of(event);
    return brume_split_beta_upper(&split, event->parameter[0], event->sensitivity,
                                  event->parameter[family_of(event)->queries], alpha, beta, error);
}
