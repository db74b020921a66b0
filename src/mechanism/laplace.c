/* The Laplace mechanism for reals on a grid: the card.
 *
 * Promises: continuous Laplace noise of `scale` on a query of L1 sensitivity D is pure D/scale-DP;
 * the loss law is that of one coordinate changing by D, whatever the number of coordinates.
 * proofs/laplace.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

enum { SCALE, COORDINATES };

static const brume_parameter parameters[] = {
    {.name = "scale",
     .type = BRUME_PARAMETER_REAL,
     .least = 0,
     .least_open = true,
     .most = INFINITY,
     .most_open = true,
     .direction = BRUME_MORE_NOISE,
     .unit = "of the query's unit",
     .help = "the density is exp(-|z|/scale)/(2 scale); the standard deviation is 1.414 scale"},
    BRUME_PARAMETER_COORDINATES_,
};

static const char *const examples[] = {
    "noise 'laplace(scale=10)' --count 5",
    "account 'laplace(scale=10)*100' --delta 1e-6",
    "accuracy 'laplace(scale=1)' --beta 0.05",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    double epsilon = brume_divide_up(event->sensitivity, event->parameter[SCALE]);
    cost->pure = BRUME_EXACT;
    cost->epsilon = epsilon;
    cost->concentrated = BRUME_EXACT;
    cost->rho = brume_laplace_rho_upper(epsilon); /* grows with epsilon, which was rounded up */
    if (isinf(epsilon))
        return BRUME_OK;
    cost->loss = BRUME_EXACT;
    cost->law = (brume_loss){.kind = BRUME_LOSS_LAPLACE, .a = epsilon};
    cost->renyi = BRUME_EXACT;
    cost->renyi_upper = brume_renyi_laplace_upper;
    return BRUME_OK;
}

const brume_card brume_card_laplace = {
    .id = 2,
    .name = "laplace",
    .summary = "continuous Laplace noise, released on a grid",
    .guarantee = "pure epsilon = sensitivity/scale",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE | BRUME_EDGE,
    .sensitivity = "L1",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "laplace.md",
    .examples = examples,
    .cost = cost,
};
