/* Report noisy max: the card.
 *
 * Promises: the index of the largest score after independent Laplace, exponential or Gumbel noise
 * of scale 2D/eps (D/eps for monotone scores) is pure eps-DP. The kind of noise is not part of the
 * event, so rho is the one that holds for all of them: eps tanh(eps/2), not eps^2/8, which is true
 * of Gumbel noise alone. proofs/noisy_max.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/selection.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of the choice"),
    BRUME_PARAMETER_MONOTONE_,
    BRUME_PARAMETER_CANDIDATES_,
};

static const char *const examples[] = {
    "account 'noisy_max(epsilon=0.1)*100' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[BRUME_SELECTION_EPSILON], BRUME_UPPER, cost);
    return BRUME_OK;
}

const brume_card brume_card_noisy_max = {
    .id = 7,
    .name = "noisy_max",
    .summary = "the index of the largest score after noise on each",
    .guarantee = "pure epsilon, for the index alone",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "score",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "noisy_max.md",
    .examples = examples,
    .cost = cost,
};
