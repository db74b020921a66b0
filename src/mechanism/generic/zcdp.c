/* Any rho-zCDP mechanism: the card.
 *
 * Promises: its Renyi divergence of order alpha is at most alpha rho, and nothing else is known: no
 * loss law (the Gaussian of that rho does not dominate it), no pure epsilon. proofs/guarantees.md.
 */
#include "mechanism/card.h"
#include "mechanism/formula.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_PRICE_("rho", "", "its guarantee: Renyi divergence at most alpha rho"),
};

static const char *const examples[] = {
    "account 'zcdp(rho=0.1)*5' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_rho(event->parameter[0], BRUME_EXACT, cost);
    return BRUME_OK;
}

const brume_card brume_card_zcdp = {
    .id = 14,
    .name = "zcdp",
    .summary = "any mechanism known to be rho-zCDP",
    .guarantee = "rho-zCDP",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "guarantees.md",
    .examples = examples,
    .cost = cost,
};
