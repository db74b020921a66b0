/* The exponential mechanism: the card.
 *
 * Promises: choosing r with probability proportional to exp(eps u(r)/(2D)), or exp(eps u(r)/D) for
 * monotone scores, is eps-bounded-range, hence pure eps and eps^2/8-zCDP. proofs/exponential.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/selection/selection.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of the choice"),
    BRUME_PARAMETER_MONOTONE_,
    BRUME_PARAMETER_CANDIDATES_,
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

static brume_status alpha_upper(const brume_event *event, double beta, double *alpha,
                                brume_error *error)
{
    return brume_selection_alpha_upper(event, tail, beta, alpha, error);
}

static brume_status beta_upper(const brume_event *event, double alpha, double *beta,
                               brume_error *error)
{
    return brume_selection_beta_upper(event, tail, alpha, beta, error);
}

const brume_card brume_card_exponential = {
    .id = 6,
    .name = "exponential",
    .summary = "choose a candidate with probability growing exponentially in its score",
    .guarantee = "pure epsilon; bounded range, so rho = epsilon^2/8",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "score",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "exponential.md",
    .examples = examples,
    .cost = cost,
    .accuracy = "how far the score chosen lies below the best, for a number of candidates",
    .alpha_upper = alpha_upper,
    .beta_upper = beta_upper,
};
