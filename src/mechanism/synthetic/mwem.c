/* MWEM with Laplace answers: the card.
 *
 * Promises: T rounds of a choice by the exponential mechanism and of a discrete Laplace answer,
 * each of e = epsilon (1 - share)/(2T), and the number of records bought with epsilon share: pure
 * epsilon in all. The choices have bounded range, so rho is smaller than that of any pure
 * mechanism: T (e^2/8 + e tanh(e/2)) + s tanh(s/2), s = epsilon share.   proofs/many_queries.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

enum { EPSILON, ROUNDS, SHARE };

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of all rounds together, the number of records included"),
    BRUME_PARAMETER_ROUNDS_,
    BRUME_PARAMETER_RECORDS_SHARE_,
};

static const char *const examples[] = {
    "account 'mwem(epsilon=1, rounds=20)' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    double epsilon = event->parameter[EPSILON], rounds = event->parameter[ROUNDS];
    double share = event->parameter[SHARE], records = brume_multiply_up(epsilon, share);
    /* up: at least what a choice or an answer is drawn with */
    double rest = brume_subtract_up(epsilon, brume_multiply_down(epsilon, share));
    double each = brume_divide_up(rest, 2 * rounds);
    brume_cost_of_pure(epsilon, BRUME_UPPER, cost);
    double rho = brume_add_up(brume_bounded_range_rho_upper(each), brume_pure_rho_upper(each));
    rho = brume_add_up(brume_multiply_up(rho, rounds), brume_pure_rho_upper(records));
    cost->rho = fmin(cost->rho, rho);
    return BRUME_OK;
}

const brume_card brume_card_mwem = {
    .id = 23,
    .name = "mwem",
    .summary = "a synthetic histogram for many linear queries, by its worst answers",
    .guarantee = "pure epsilon",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "many_queries.md",
    .examples = examples,
    .cost = cost,
};
