/* SmallDB: the card.
 *
 * Promises: the exponential mechanism over all small databases: pure epsilon with bounded range, so
 * epsilon^2/8-zCDP. proofs/many_queries.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of the choice"),
};

static const char *const examples[] = {
    "account 'small_database(epsilon=1)' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[0], BRUME_UPPER, cost);
    cost->rho = brume_bounded_range_rho_upper(cost->epsilon);
    return BRUME_OK;
}

const brume_card brume_card_small_database = {
    .id = 26,
    .name = "small_database",
    .summary = "a small database that answers many linear queries nearly as the large one",
    .guarantee = "pure epsilon; bounded range, so rho = epsilon^2/8",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "many_queries.md",
    .examples = examples,
    .cost = cost,
};
