/* The three inner loops over the weights of consecutive cells, vectorised for the processor at
 * hand.
 *
 * Weights belong to public distributions or are integers below 2^53: the order in which they are
 * added is free. */
#ifndef BRUME_SYNTHETIC_BLOCK_H
#define BRUME_SYNTHETIC_BLOCK_H

#include <stddef.h>

/* Sum of weights. */
double brume_block_sum(const double *weights, size_t n);

/* Sum of weights[i] * factors[i]. */
double brume_block_dot(const double *weights, const double *factors, size_t n);

/* weights[i] *= factors[i]; the sum of the results. */
double brume_block_multiply(double *weights, const double *factors, size_t n);

/* sum[i] += scale * weights[i]. */
void brume_block_accumulate(double *sum, const double *weights, double scale, size_t n);

#endif
