/* The sparse vector technique: the card.
 *
 * Promises: threshold noise Lap(D/eps1) once, query noise Lap(2cD/eps2) fresh for each query
 * (Lap(cD/eps2) for monotone queries), halting after c hits, eps1 + eps2 = epsilon: pure
 * epsilon-DP. Numbers for the hits, with fresh noise Lap(cD/epsilon_answers), cost epsilon_answers
 * more. proofs/sparse_vector.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/threshold/threshold.h"

enum { EPSILON, HITS, MONOTONE, EPSILON_ANSWERS, QUERIES };

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of all the hits together, answers apart"),
    {.name = "hits",
     .type = BRUME_PARAMETER_INTEGER,
     .least = 1,
     .most = 0x1p31,
     .direction = BRUME_MORE_NOISE,
     .unit = "",
     .help = "the stream halts after so many queries above the threshold"},
    BRUME_PARAMETER_MONOTONE_,
    {.name = "epsilon_answers",
     .type = BRUME_PARAMETER_REAL,
     .least = 0,
     .most = INFINITY,
     .most_open = true,
     .optional = true,
     .standard = 0,
     .direction = BRUME_LESS_NOISE,
     .unit = "nats",
     .help = "the additional cost of numbers for the hits; 0 if there are none"},
    BRUME_PARAMETER_QUERIES_,
};

static const char *const examples[] = {
    "account 'sparse_vector(epsilon=1, hits=5)' --delta 1e-6",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    double answers = event->parameter[EPSILON_ANSWERS], hits = event->parameter[HITS];
    brume_cost_of_pure(event->parameter[EPSILON], BRUME_UPPER, cost);
    if (answers == 0)
        return BRUME_OK;
    double rho = cost->rho;
    brume_cost_of_pure(brume_add_up(cost->epsilon, answers), BRUME_UPPER, cost);
    /* the hits' numbers have discrete Laplace noise, answers/hits each: of sensitivity 1 that is
     * the worst pure law, not the smaller rho of real noise; rho adds adaptively */
    double each = brume_pure_rho_upper(brume_divide_up(answers, hits));
    rho = brume_add_up(rho, brume_multiply_up(each, hits));
    cost->rho = fmin(cost->rho, rho);
    return BRUME_OK;
}

static brume_sparse_vector_options options(const brume_event *event)
{
    return (brume_sparse_vector_options){.adjacency = event->adjacency,
                                         .sensitivity = (uint64_t)event->sensitivity,
                                         .epsilon = event->parameter[EPSILON],
                                         .hits = (uint64_t)event->parameter[HITS],
                                         .epsilon_answers = event->parameter[EPSILON_ANSWERS],
                                         .monotone = event->parameter[MONOTONE] != 0};
}

static const brume_threshold_family law = {options, QUERIES};

const brume_card brume_card_sparse_vector = {
    .id = 10,
    .name = "sparse_vector",
    .summary = "which of a stream of queries are above a threshold, up to a number of hits",
    .guarantee = "pure epsilon + epsilon_answers, however many queries are asked",
    BRUME_THRESHOLD_ENTRIES_(law),
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .examples = examples,
    .cost = cost,
};
