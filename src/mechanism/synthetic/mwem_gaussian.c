/* MWEM with Gaussian answers: the card.
 *
 * Promises: T rounds of a choice by the exponential mechanism and of a discrete Gaussian answer,
 * each of rho (1 - share)/(2T), and the number of records bought with rho share: rho-zCDP in all.
 * proofs/many_queries.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_PRICE_("rho", "",
                           "the cost of all rounds together, the number of records included"),
    BRUME_PARAMETER_ROUNDS_,
    BRUME_PARAMETER_RECORDS_SHARE_,
};

static const char *const examples[] = {
    "account 'mwem_gaussian(rho=0.05, rounds=50)' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_rho(event->parameter[0], BRUME_UPPER, cost);
    return BRUME_OK;
}

const brume_card brume_card_mwem_gaussian = {
    .id = 24,
    .name = "mwem_gaussian",
    .summary = "the same with Gaussian noise on its answers",
    .guarantee = "rho-zCDP",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "many_queries.md",
    .examples = examples,
    .cost = cost,
};
