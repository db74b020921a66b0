/* Permute-and-flip: the card.
 *
 * Promises: visiting candidates in random order and taking r with probability
 * exp(eps (u(r) - max u)/(2D)), or exp(eps (u(r) - max u)/D) for monotone scores, is pure eps-DP
 * and never less accurate than the exponential mechanism. It is not bounded-range: rho is eps
 * tanh(eps/2). proofs/permute_and_flip.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/selection.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of the choice"),
    BRUME_PARAMETER_MONOTONE_,
    BRUME_PARAMETER_CANDIDATES_,
};

static const char *const examples[] = {
    "account 'permute_and_flip(epsilon=0.1)*100' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[BRUME_SELECTION_EPSILON], BRUME_UPPER, cost);
    return BRUME_OK;
}

const brume_card brume_card_permute_and_flip = {
    .id = 8,
    .name = "permute_and_flip",
    .summary =
        "visit candidates in random order, take each with a chance that grows with its score",
    .guarantee = "pure epsilon",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "score",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "permute_and_flip.md",
    .examples = examples,
    .cost = cost,
};
