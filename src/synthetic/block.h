/* The inner loops over the weights of consecutive cells, vectorised for the processor at hand.
 *
 * Each adds in an order of its own that depends on n alone: the same result on every processor.
 * `least` (>= 0) is what a weight is raised to where it would fall below. */
#ifndef BRUME_SYNTHETIC_BLOCK_H
#define BRUME_SYNTHETIC_BLOCK_H

#include <stddef.h>

/* Sum of weights. */
double brume_block_sum(const double *weights, size_t n);

/* Sum of weights[i] * factors[i]. */
double brume_block_dot(const double *weights, const double *factors, size_t n);

/* Sum of weights[i] * values[i]. */
double brume_block_dot_values(const double *weights, const float *values, size_t n);

/* weights[i] *= factor; the sum of the results. */
double brume_block_scale(double *weights, double factor, double least, size_t n);

/* weights[i] *= factors[i]; the sum of the results. */
double brume_block_multiply(double *weights, const double *factors, double least, size_t n);

/* v -> scale e^(rate v) on [0, 1]: a Taylor polynomial about 1/2 for rate/2^squarings, squared that
 * often, then scaled. Right to a relative |rate| 2^-30: a step needs no more, because weights are
 * public and its effect is of the size of its rate. */
enum { BRUME_POWERS_MOST = 16 };

typedef struct brume_powers {
    double coefficient[BRUME_POWERS_MOST]; /* from the highest down */
    double scale;
    int degree, squarings;
} brume_powers;

/* |rate| <= 700. */
void brume_powers_fill(brume_powers *powers, double rate, double scale);

/* weights[i] *= scale e^(rate values[i]), values[i] in [0, 1]; the sum of the results. */
double brume_block_power(double *weights, const float *values, const brume_powers *powers,
                         double least, size_t n);

/* sum[i] += weights[i]. */
void brume_block_add(double *sum, const double *weights, size_t n);

/* sum[i] += scale * weights[i]. */
void brume_block_accumulate(double *sum, const double *weights, double scale, size_t n);

#endif
