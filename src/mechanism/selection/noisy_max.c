/* Report noisy max with Laplace noise: the card.
 *
 * Promises: the index of the largest score after independent Laplace noise of scale 2D/eps (D/eps
 * for monotone scores) is pure eps-DP; it is not bounded-range, so rho is eps tanh(eps/2). With
 * exponential noise the choice has the law of permute_and_flip, with Gumbel noise that of the
 * exponential mechanism: such releases are events of those cards. proofs/noisy_max.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/selection/selection.h"

static const brume_parameter parameters[] = {
    BRUME_SELECTION_PARAMETERS_,
};

static const char *const examples[] = {
    "account 'noisy_max(epsilon=0.1)*100' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[BRUME_SELECTION_EPSILON], BRUME_UPPER, cost);
    return BRUME_OK;
}

/* Laplace noise: the worst case is one best candidate and n-1 at distance x. The difference of two
 * Laplace variables exceeds x with probability exp(-x) (2+x)/4; n-1 of them at most n-1 times. */
static void tail(arb_t out, double n, const arb_t x)
{
    arb_t factor;
    arb_init(factor);
    arb_neg(out, x);
    arb_exp(out, out, BRUME_BALL_BITS);
    arb_add_ui(factor, x, 2, BRUME_BALL_BITS);
    arb_mul_2exp_si(factor, factor, -2);
    arb_mul(out, out, factor, BRUME_BALL_BITS);
    arb_set_d(factor, n - 1);
    arb_mul(out, out, factor, BRUME_BALL_BITS);
    arb_clear(factor);
}

static brume_status choose(brume_bits *bits, const brume_selection *options, const double *scores,
                           size_t n, size_t *index, brume_error *error)
{
    return brume_noisy_max_choose(bits, BRUME_SELECT_LAPLACE, options, scores, n, index, error);
}

static const brume_selection_family law = {tail, choose};

const brume_card brume_card_noisy_max = {
    .id = 7,
    .name = "noisy_max",
    .summary = "the index of the largest score after Laplace noise on each",
    .guarantee = "pure epsilon, for the index alone",
    BRUME_SELECTION_ENTRIES_(law),
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "noisy_max.md",
    .examples = examples,
    .cost = cost,
};
