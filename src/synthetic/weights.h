/* A public histogram under multiplicative weights.
 *
 * Its weights are kept up to one factor, so that a step is one pass over them: the factor that
 * makes their sum `records` is known after the pass, and goes into the next one. No weight falls
 * below 2^-900 before that factor: then no weight is ever 0 and the relative entropy to any
 * database stays finite, as the proofs of the bounds need.
 *
 * Nothing private may come in here but through released numbers. */
#ifndef BRUME_SYNTHETIC_WEIGHTS_H
#define BRUME_SYNTHETIC_WEIGHTS_H

#include <brume/synthetic/workload.h>
#include <stddef.h>

#include "synthetic/workload.h"

typedef struct brume_weights {
    const brume_workload *workload;
    double *cell; /* the caller's, one per cell of the universe */
    double scale; /* the weight of cell i is scale * cell[i] */
    double records;
} brume_weights;

/* The uniform histogram, in the caller's array. */
void brume_weights_uniform(brume_weights *weights, const brume_workload *workload, double records,
                           double *cell);

/* One answer; all answers. */
BRUME_MUST_USE brume_status brume_weights_answer_one(const brume_weights *weights, size_t query,
                                                     double *answer, brume_error *error);
BRUME_MUST_USE brume_status brume_weights_answer(const brume_weights *weights, double *answers,
                                                 brume_error *error);

/* The rate of a step is BRUME_WEIGHTS_STEP (measured - f(A))/n: the entropy then falls by at least
 * 2 d^2 - 2 nu^2, and no other factor is as good. [HLM12] has 1/2. */
#define BRUME_WEIGHTS_STEP 4.0

/* The rate that moves `answer` towards `wanted`. */
double brume_weights_rate(double wanted, double answer, double records, double step);

/* Multiply by exp(rate f), |rate| <= 700, then scale to a sum of `records`. */
BRUME_MUST_USE brume_status brume_weights_step(brume_weights *weights, size_t query, double rate,
                                               brume_error *error);

/* The cells of one marginal, at its `first` of `answers`; multiply all weights that count in cell i
 * of it by factors[i] >= 0, then scale to a sum of `records`. */
BRUME_MUST_USE brume_status brume_weights_marginal(const brume_weights *weights,
                                                   const brume_group *marginal, double *answers,
                                                   brume_error *error);
BRUME_MUST_USE brume_status brume_weights_step_marginal(brume_weights *weights,
                                                        const brume_group *marginal,
                                                        const double *factors, brume_error *error);

/* sum[i] += factor * weight of cell i. */
void brume_weights_add_to(const brume_weights *weights, double factor, double *sum);

/* Put the factor into the cells: scale is 1 then. */
void brume_weights_settle(brume_weights *weights);

/* A public answer as it is compared with a private one: a multiple of 2^-20. */
double brume_weights_public(double answer);

#endif
