/* AboveThreshold: the card. The stream itself is sparse_vector with one hit.
 *
 * Promises: threshold noise Lap(2D/eps) once, query noise Lap(4D/eps) fresh for each query
 * (Lap(2D/eps) for monotone queries), halting at the first hit: pure eps-DP however many queries
 * are asked. proofs/sparse_vector.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"
#include "mechanism/threshold/threshold.h"

enum { EPSILON, MONOTONE, QUERIES };

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of the whole stream up to its hit"),
    BRUME_PARAMETER_MONOTONE_,
    BRUME_PARAMETER_QUERIES_,
};

static const char *const examples[] = {
    "account 'above_threshold(epsilon=0.5)*10' --delta 1e-6",
    "accuracy 'above_threshold(epsilon=1, queries=100)' --beta 0.05",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    brume_cost_of_pure(event->parameter[EPSILON], BRUME_UPPER, cost);
    return BRUME_OK;
}

static brume_sparse_vector_options options(const brume_event *event)
{
    return (brume_sparse_vector_options){.adjacency = event->adjacency,
                                         .sensitivity = (uint64_t)event->sensitivity,
                                         .epsilon = event->parameter[EPSILON],
                                         .hits = 1,
                                         .monotone = event->parameter[MONOTONE] != 0,
                                         .even_split = true};
}

static const brume_threshold_family law = {options, QUERIES};

const brume_card brume_card_above_threshold = {
    .id = 9,
    .name = "above_threshold",
    .summary = "which of a stream of queries is the first above a threshold",
    .guarantee = "pure epsilon, however many queries are asked",
    BRUME_THRESHOLD_ENTRIES_(law),
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .examples = examples,
    .cost = cost,
};
