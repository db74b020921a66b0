/* Options of a synthetic histogram that every method takes, for tests. */
#ifndef BRUME_TESTS_SYNTHETIC_OPTIONS_H
#define BRUME_TESTS_SYNTHETIC_OPTIONS_H

#include "synthetic/synthetic.h"

static inline brume_synthetic_options options_of(brume_synthetic_method method,
                                                 brume_adjacency adjacency, bool concentrated,
                                                 double records)
{
    return (brume_synthetic_options){.method = method,
                                     .adjacency = adjacency,
                                     .epsilon = concentrated ? 0 : 1.3,
                                     .rho = concentrated ? 0.2 : 0,
                                     .records = records,
                                     .rounds = 7,
                                     .alpha = 0.25,
                                     .size = 3,
                                     .most_candidates = 1000,
                                     .beta = 0.05};
}

#endif
