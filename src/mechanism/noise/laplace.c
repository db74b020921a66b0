/* The Laplace mechanism for reals on a grid: the card.
 *
 * Promises: continuous Laplace noise of `scale` on a query of L1 sensitivity D is pure D/scale-DP;
 * the loss law is that of one coordinate changing by D, whatever the number of coordinates.
 * proofs/laplace.md. */
#include "mechanism/noise/additive.h"
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/noise/tail.h"

enum { SCALE, COORDINATES };

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
    if (event->parameter[COORDINATES] != 1) {
        arb_neg(x, x);
        arb_log1p(x, x, BRUME_BALL_BITS);
        arb_set_d(y, event->parameter[COORDINATES]);
        arb_div(x, x, y, BRUME_BALL_BITS);
        arb_expm1(x, x, BRUME_BALL_BITS);
        arb_neg(x, x);
    }
    arb_log(x, x, BRUME_BALL_BITS);
    arb_neg(x, x);
    arb_set_d(y, event->parameter[SCALE]);
    arb_mul(x, x, y, BRUME_BALL_BITS);
    *alpha = brume_ball_upper(x);
    arb_clear(x);
    arb_clear(y);
    return BRUME_OK;
}

static brume_status beta_upper(const brume_event *event, double alpha, double *beta,
                               brume_error *error)
{
    (void)error;
    *beta = brume_tail_beta_upper(brume_tail_laplace, event->parameter[SCALE],
                                  event->parameter[COORDINATES], alpha);
    return BRUME_OK;
}

static brume_status mass(const brume_event *event, int64_t k, brume_interval *mass,
                         brume_error *error)
{
    return brume_additive_grid_mass(brume_mass_rounded_laplace, event->parameter[SCALE], k, mass,
                                    error);
}

static brume_status noise(const brume_event *event, brume_bits *bits, int64_t *out, size_t n,
                          double *step, brume_error *error)
{
    return brume_additive_grid_noise(brume_noise_open_rounded_laplace, event->parameter[SCALE],
                                     bits, out, n, step, error);
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
    .accuracy = "|noise| in any coordinate; the grid adds at most half a step",
    .alpha_upper = alpha_upper,
    .beta_upper = beta_upper,
    .mass = mass,
    .noise = noise,
};
