/* The exponential mechanism: the card.
 *
 * Promises: choosing r with probability proportional to exp(eps u(r)/(2D)), or exp(eps u(r)/D) for
 * monotone scores, is eps-bounded-range, hence pure eps and eps^2/8-zCDP. proofs/exponential.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/selection/selection.h"

static const brume_parameter parameters[] = {
    BRUME_SELECTION_PARAMETERS_,
};

static const char *const examples[] = {
    "account 'exponential(epsilon=0.1)*100' --delta 1e-6",
    "accuracy 'exponential(epsilon=1, candidates=1000)' --beta 0.05",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    brume_cost_of_pure(event->parameter[BRUME_SELECTION_EPSILON], BRUME_UPPER, cost);
    cost->rho = brume_bounded_range_rho_upper(cost->epsilon);
    (void)error;
    return BRUME_OK;
}

/* The worst case is one best candidate and n-1 at distance x: with y = exp(-x) the bad ones have
 * (n-1) y/(1 + (n-1) y). */
static void tail(arb_t out, double n, const arb_t x)
{
    arb_t bad;
    arb_init(bad);
    arb_neg(out, x);
    arb_exp(out, out, BRUME_BALL_BITS);
    arb_set_d(bad, n - 1);
    arb_mul(bad, bad, out, BRUME_BALL_BITS);
    arb_add_ui(out, bad, 1, BRUME_BALL_BITS);
    arb_div(out, bad, out, BRUME_BALL_BITS);
    arb_clear(bad);
}

static const brume_selection_family law = {tail, brume_exponential_choose};

const brume_card brume_card_exponential = {
    .id = 6,
    .name = "exponential",
    .summary = "choose a candidate with probability growing exponentially in its score",
    .guarantee = "pure epsilon; bounded range, so rho = epsilon^2/8",
    BRUME_SELECTION_ENTRIES_(law),
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "exponential.md",
    .examples = examples,
    .cost = cost,
};
