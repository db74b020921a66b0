/* Permute-and-flip: the card.
 *
 * Promises: visiting candidates in random order and taking r with probability
 * exp(eps (u(r) - max u)/(2D)), or exp(eps (u(r) - max u)/D) for monotone scores, is pure eps-DP
 * and never less accurate than the exponential mechanism. It is not bounded-range: rho is eps
 * tanh(eps/2). proofs/permute_and_flip.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/selection/selection.h"

static const brume_parameter parameters[] = {
    BRUME_SELECTION_PARAMETERS_,
};

static const char *const examples[] = {
    "account 'permute_and_flip(epsilon=0.1)*100' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[BRUME_SELECTION_EPSILON], BRUME_UPPER, cost);
    return BRUME_OK;
}

/* The worst case is one best candidate and n-1 taken with chance y = exp(-x) when visited. The best
 * one wins from its place j if the j before it all fail: (1/n) sum_j (1-y)^j = (1-(1-y)^n)/(n y).
 */
static void tail(arb_t out, double n, const arb_t x)
{
    enum { BITS = 3 * BRUME_BALL_BITS }; /* 1 - win cancels where n y is small */
    arb_t y, count;
    arb_init(y);
    arb_init(count);
    arb_neg(y, x);
    arb_exp(y, y, BITS);
    arb_set_d(count, n);
    arb_neg(out, y);
    arb_log1p(out, out, BITS);
    arb_mul(out, out, count, BITS);
    arb_expm1(out, out, BITS);
    arb_neg(out, out); /* 1 - (1-y)^n */
    arb_mul(y, y, count, BITS);
    arb_div(out, out, y, BITS);
    arb_sub_ui(out, out, 1, BITS);
    arb_neg(out, out);
    arb_clear(y);
    arb_clear(count);
}

static const brume_selection_family law = {tail, brume_permute_and_flip_choose};

const brume_card brume_card_permute_and_flip = {
    .id = 8,
    .name = "permute_and_flip",
    .summary =
        "visit candidates in random order, take each with a chance that grows with its score",
    .guarantee = "pure epsilon",
    BRUME_SELECTION_ENTRIES_(law),
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "permute_and_flip.md",
    .examples = examples,
    .cost = cost,
};
