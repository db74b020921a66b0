/* Any pure epsilon-DP mechanism: the card.
 *
 * Promises: nothing else is known of it, so it is charged as the worst one, which is binary
 * randomized response. proofs/guarantees.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("its guarantee"),
};

static const char *const examples[] = {
    "account 'pure(epsilon=0.1)*100' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[0], BRUME_EXACT, cost);
    return BRUME_OK;
}

const brume_card brume_card_pure = {
    .id = 12,
    .name = "pure",
    .summary = "any mechanism known to be pure epsilon-DP",
    .guarantee = "pure epsilon",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "guarantees.md",
    .examples = examples,
    .cost = cost,
};
