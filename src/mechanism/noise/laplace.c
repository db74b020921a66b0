/* The Laplace mechanism for reals on a grid: the card.
 *
 * Promises: continuous Laplace noise of `scale` on a query of L1 sensitivity D is pure D/scale-DP;
 * the loss law is that of one coordinate changing by D, whatever the number of coordinates.
 * proofs/laplace.md. */
#include <brume/noise/laplace.h>

#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/noise/additive.h"

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_NOISE_(
        "scale", "the density is exp(-|z|/scale)/(2 scale); the standard deviation is 1.414 scale"),
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
    double epsilon = brume_divide_up(event->sensitivity, event->parameter[BRUME_ADDITIVE_SPREAD]);
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

/* P[any of m errors >= alpha] = 1 - (1 - exp(-alpha/scale))^m, solved for alpha:
 * -scale ln(1 - (1-beta)^(1/m)). */
static brume_status alpha_upper(const brume_event *event, double beta, double *alpha,
                                brume_error *error)
{
    (void)error;
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    arb_set_d(x, beta);
    if (event->parameter[BRUME_ADDITIVE_COORDINATES] != 1) {
        arb_neg(x, x);
        arb_log1p(x, x, BRUME_BALL_BITS);
        arb_set_d(y, event->parameter[BRUME_ADDITIVE_COORDINATES]);
        arb_div(x, x, y, BRUME_BALL_BITS);
        arb_expm1(x, x, BRUME_BALL_BITS);
        arb_neg(x, x);
    }
    arb_log(x, x, BRUME_BALL_BITS);
    arb_neg(x, x);
    arb_set_d(y, event->parameter[BRUME_ADDITIVE_SPREAD]);
    arb_mul(x, x, y, BRUME_BALL_BITS);
    *alpha = brume_ball_upper(x);
    arb_clear(x);
    arb_clear(y);
    return BRUME_OK;
}

static const brume_additive law = {.whole = false,
                                   .open = brume_noise_open_rounded_laplace,
                                   .mass = brume_mass_rounded_laplace,
                                   .tail = brume_tail_laplace,
                                   .add = brume_laplace_add};

const brume_card brume_card_laplace = {
    .id = 2,
    .name = "laplace",
    .summary = "continuous Laplace noise, released on a grid",
    .guarantee = "pure epsilon = sensitivity/scale",
    .sensitivity = "L1",
    .proof = "laplace.md",
    .accuracy = "|noise| in any coordinate; the grid adds at most half a step",
    BRUME_ADDITIVE_ENTRIES_(law),
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .examples = examples,
    .cost = cost,
    .alpha_upper = alpha_upper,
    .trial = &brume_additive_trial_grid,
};
