/* The exponential mechanism: the card.
 *
 * Promises: choosing r with probability proportional to exp(eps u(r)/(2D)), or exp(eps u(r)/D) for
 * monotone scores, is eps-bounded-range, hence pure eps and eps^2/8-zCDP. proofs/exponential.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/selection.h"

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
};
