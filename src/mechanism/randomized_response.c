/* Randomized response: the card.
 *
 * Promises: with the truth told with probability p = e^eps/(e^eps+k-1) and each other answer with
 * q = 1/(e^eps+k-1), one answer is pure eps-DP, exactly. proofs/randomized_response.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

enum { EPSILON, K };

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of one answer: the odds of the truth are exp(epsilon)"),
    {.name = "k",
     .type = BRUME_PARAMETER_INTEGER,
     .least = 2,
     .most = 0x1p53,
     .optional = true,
     .standard = 2,
     .direction = BRUME_NOT_MONOTONE,
     .unit = "",
     .help = "how many answers there are to choose from"},
};

static const char *const examples[] = {
    "noise 'randomized_response(epsilon=1)' --count 5",
    "account 'randomized_response(epsilon=1, k=4)*10' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    double epsilon = event->parameter[EPSILON], k = event->parameter[K];
    cost->pure = BRUME_EXACT;
    cost->epsilon = epsilon;
    /* rho <= epsilon tanh(epsilon/2) for every pure mechanism; equality for two answers */
    cost->concentrated = k == 2 ? BRUME_EXACT : BRUME_UPPER;
    cost->rho = brume_pure_rho_upper(epsilon);
    cost->loss = BRUME_EXACT;
    cost->law = (brume_loss){.kind = k == 2 ? BRUME_LOSS_PURE : BRUME_LOSS_KARY,
                             .a = epsilon,
                             .shift = k == 2 ? 0 : (uint64_t)k};
    cost->renyi = BRUME_EXACT;
    cost->renyi_upper = k == 2 ? brume_renyi_pure_upper : brume_renyi_kary_upper;
    return BRUME_OK;
}

const brume_card brume_card_randomized_response = {
    .id = 1,
    .name = "randomized_response",
    .summary = "each person answers truthfully with odds exp(epsilon), else at random",
    .guarantee = "pure epsilon for one person's answer, without a trusted curator",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "randomized_response.md",
    .examples = examples,
    .cost = cost,
};
