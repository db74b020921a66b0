/* Any (epsilon, delta)-DP mechanism: the card.
 *
 * Promises: it is charged as the worst one: with probability delta it reveals everything, otherwise
 * it is binary randomized response of epsilon [KOV15, Sec. 3]. proofs/guarantees.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

static const brume_parameter parameters[] = {
    {.name = "epsilon",
     .type = BRUME_PARAMETER_REAL,
     .least = 0,
     .most = INFINITY,
     .most_open = true,
     .direction = BRUME_LESS_NOISE,
     .unit = "nats",
     .help = "its guarantee, except with probability delta"},
    {.name = "delta",
     .type = BRUME_PARAMETER_REAL,
     .least = 0,
     .most = 1,
     .most_open = true,
     .direction = BRUME_LESS_NOISE,
     .unit = "",
     .help = "its probability of failure"},
};

static const char *const examples[] = {
    "account 'approximate(epsilon=0.1, delta=1e-8)*100' --delta 1e-5",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[0], BRUME_EXACT, cost);
    cost->delta_failure = event->parameter[1];
    return BRUME_OK;
}

const brume_card brume_card_approximate = {
    .id = 13,
    .name = "approximate",
    .summary = "any mechanism known to be (epsilon, delta)-DP",
    .guarantee = "(epsilon, delta)",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "guarantees.md",
    .examples = examples,
    .cost = cost,
};
