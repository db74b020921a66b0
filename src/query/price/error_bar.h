/* Error bars: how far the noise may have moved a released number, from public numbers and released
 * values only.
 *
 * Contract: P[|error| > width] <= beta for a number, P[the interval misses] <= beta for a ratio;
 * the probability is over the noise alone. Clamping and bounding may bias an answer beyond that;
 * the plan says where.
 *
 * Everything here is in grid steps, relative to the centre of the bounds. */
#ifndef BRUME_QUERY_ERROR_BAR_H
#define BRUME_QUERY_ERROR_BAR_H

#include <stddef.h>

#include <brume/interval.h>

#include "query/price/price.h"

/* Least width w >= 0 with P[|noise| > w] <= beta; an integer. */
double brume_error_width(brume_noise_kind noise, double scale, double beta);

/* Least width known for the sum of coefficient[i] * noise of scale[i], independent; count 1 to 3.
 */
double brume_error_width_combined(brume_noise_kind noise, const double *scale,
                                  const double *coefficient, size_t count, double beta);

/* For a sum of independent noises, each multiplied by something, that has the variance of one noise
 * of this scale (discrete Laplace: 2 scale^2). Such a sum of Gaussian noises is normal; one of
 * Laplace's is between that and Laplace's law, whose tails are the longest. */
double brume_error_width_fitted(brume_noise_kind noise, double scale, double beta);

/* The same for the sum of `count` independent noises of one scale. */
double brume_error_width_of_sum(brume_noise_kind noise, double scale, size_t count, double beta);

/* A mean of not more values than this, by their noisy number, is not shown: it may well be of none.
 * P[noise > this] <= 1 %. */
double brume_too_few(brume_noise_kind noise, double scale);

/* The noisy numbers of one group and one expression. */
typedef struct brume_noisy_moments {
    double count, sum, squares;                   /* released: values, centred sum and squares */
    double count_scale, sum_scale, squares_scale; /* of their noise */
    double low, high;                             /* bounds of x - c */
    double count_cut,
        sum_cut;        /* so much more the true number may be, and the true sum either way */
    double half_square; /* k: squares are measured less k per value */
} brume_noisy_moments;

/* Interval of the mean of x - c, of all rows, also those that limits cut; the whole [low, high]
 * where the count may be all noise. */
brume_interval brume_error_mean(brume_noise_kind noise, const brume_noisy_moments *moments,
                                double beta);

/* How the squares of a spread about one number belong to its sum about another. */
typedef struct brume_spread_grid {
    double step, square_step; /* of x, and of its squares */
    double shift;    /* what the sum is about less what the squares are about, in steps of x */
    double rounding; /* the mean of the squares may be so far off because values are on a grid */
} brume_spread_grid;

/* The population variance of x, in its own units, by the noisy sums of x less a number and of the
 * squares of x less another, each with a limit of its own: *raw, which may be below 0, and the
 * interval, within [0, (high-low)^2/4], of all rows. Empty (lower > upper): a draw far outside. */
brume_interval brume_error_spread(brume_noise_kind noise, const brume_noisy_moments *sum,
                                  const brume_noisy_moments *squares, const brume_spread_grid *grid,
                                  double beta, double *raw);

/* Interval of the population variance of x, within [0, (high-low)^2/4]. */
brume_interval brume_error_variance(brume_noise_kind noise, const brume_noisy_moments *moments,
                                    double beta);

#endif
