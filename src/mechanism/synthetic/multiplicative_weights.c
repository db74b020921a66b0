/* Private multiplicative weights: the card.
 *
 * Promises: a sparse vector with c hits for three quarters of epsilon, and c discrete Laplace
 * answers for the last quarter, epsilon/(4c) each: pure epsilon, however many queries are asked.
 * rho is at most that of the sparse vector as any pure mechanism, and of the c answers one by one.
 * proofs/many_queries.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

enum { EPSILON, HITS };

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of the whole stream"),
    {.name = "hits",
     .type = BRUME_PARAMETER_INTEGER,
     .least = 1,
     .most = 0x1p31,
     .direction = BRUME_MORE_NOISE,
     .unit = "",
     .help = "the stream halts after so many answers that were not free"},
};

static const char *const examples[] = {
    "account 'multiplicative_weights(epsilon=1, hits=100)' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    double epsilon = event->parameter[EPSILON], hits = event->parameter[HITS];
    brume_cost_of_pure(epsilon, BRUME_UPPER, cost);
    double decisions = brume_pure_rho_upper(brume_subtract_up(epsilon, epsilon / 4));
    double answer = brume_pure_rho_upper(brume_divide_up(epsilon / 4, hits));
    double rho = brume_add_up(decisions, brume_multiply_up(answer, hits));
    cost->rho = fmin(cost->rho, rho);
    return BRUME_OK;
}

const brume_card brume_card_multiplicative_weights = {
    .id = 25,
    .name = "multiplicative_weights",
    .summary = "a stream of linear queries, answered from a public histogram where that is good",
    .guarantee = "pure epsilon, however many queries are asked",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "many_queries.md",
    .examples = examples,
    .cost = cost,
};
