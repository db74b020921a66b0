/* Prices where a unit's totals are limited as a whole (proofs/limits.md): what is paid for choosing
 * the limits, for the test of private keys, and for the measures.
 *
 * A limit T makes a ball; no price here depends on T, so everything is known before a row is read.
 * The noise of a measure is in proportion to its sensitivity: `noise` is the scale for 1.
 *
 * What is paid for, each for all limits or measures together:
 *   - choosing, in steps of which each is bought only if what is known asks for it (limit/looks.h),
 * and none where every limit is known. Shares of epsilon, and of rho or mu^2: first counts  0.12
 * (less where epsilon is above 1: 0.05 from 2.4 on)  0.04 histograms    0.08 0.08 tails 0.12 0.12
 *       second tails  0.15                                                    0.15
 *     then, for limits about a centre, the centres 0.05, and again histograms and tails;
 *   - private keys: an equal share with the measures of what all steps but the last would leave,
 *     whatever is bought; each unit keeps one key. Tails of deviations are then bought once;
 *   - the measures: the rest, in equal shares; quantiles and modes among them. What only divides
 *     sums of deviations gets less.
 *
 * All rounded towards more noise. */
#ifndef BRUME_QUERY_LIMITED_H
#define BRUME_QUERY_LIMITED_H

#include "query/price/price.h"

/* How far choosing went: what was bought. */
typedef enum brume_choice_step {
    BRUME_CHOICE_COUNT, /* of a limit about a centre: the centre */
    BRUME_CHOICE_HISTOGRAM,
    BRUME_CHOICE_TAIL,
    BRUME_CHOICE_AGAIN,
} brume_choice_step;

typedef struct brume_limited_shape {
    uint64_t cells;    /* groups; 0: private keys, as many as are shown */
    bool replace;      /* charge as under replacement */
    size_t choices;    /* limits that are still to be chosen, each from a histogram, */
    size_t counted;    /* and those of them that have a first count: where one row adds 1 */
    size_t deviations; /* limits about a centre that are still to be chosen, not among `choices`, */
    size_t shared;     /* those of them that take the centre of another one, */
    brume_choice_step deviation_step; /* and how far that went */
    bool equal_shares; /* what divides means has as much as the others: its limit is a crowd's */
    uint64_t pairs;    /* of a group and an undeclared value, that a unit votes for in a mode */
    bool choices_only; /* nothing is measured: the price is for choosing */
} brume_limited_shape;

typedef struct brume_limited_price {
    brume_noise_kind noise;
    double count_scale;     /* of the noise on the first count; 0: nothing is chosen */
    double histogram_scale; /* on every bin */
    double tail_scale;      /* on every part of the tail, */
    double again_scale;     /* and where they are counted a second time */
    double centre_rate;     /* of the median of units' means, where a unit weighs 1 at most */
    double deviation_histogram_scale, deviation_tail_scale, deviation_again_scale;
} brume_limited_price;

/* Most that two units' contributions are apart, or one and nothing, in the p-norm to the power p
 * and in units of the sensitivity. For quantiles and declared modes: the rate's, to the first
 * power. The number and the sum of a mean in one cell have less together than by themselves:
 * limited.c. */
double brume_limited_distance(const brume_measure *measure, const brume_limited_shape *shape,
                              int p);

/* Which share of the price one step of choosing takes. `epsilon` is the price where p = 1. */
double brume_limited_step_share(int p, double epsilon, brume_choice_step step);

/* Which share of the price choosing takes, up to a step, with first counts or without. */
double brume_limited_choice_share(int p, double epsilon, brume_choice_step step, bool counted);

/* The same of limits about a centre. */
double brume_limited_deviation_share(brume_choice_step step);

/* What one of the measures gets of what they have together: its weight, over all weights. */
double brume_limited_weight(const brume_measure *measures, size_t count, size_t i,
                            const brume_limited_shape *shape);
double brume_limited_weights(const brume_measure *measures, size_t count,
                             const brume_limited_shape *shape);

/* Is Gaussian noise the better one for so many measures and cells at (epsilon, delta)? */
bool brume_limited_prefers_gaussian(size_t measures, uint64_t cells, double epsilon, double delta);

/* Fill in `noise` of the measures for a price, and the rest. For quantiles and declared modes it is
 * 1/rate for a limit of 1; undeclared modes get their scale and threshold, under a delta. `amount`
 * is epsilon, or rho for discrete Gaussian noise; `delta` is used by rounded Gaussian noise and by
 * private keys. `step`: so much of choosing was bought for each limit, and is paid for. With
 * private keys measures[0] is UNITS, its sensitivity is 1, its scale is written too, and `price`
 * gets the threshold; rounded Gaussian noise is for public keys without quantiles and modes.
 * Errors: BRUME_EARGUMENT; BRUME_EOVERFLOW: noise beyond the samplers. */
BRUME_MUST_USE brume_status brume_limited_pay(brume_measure *measures, size_t count,
                                              const brume_limited_shape *shape,
                                              brume_noise_kind noise, double amount, double delta,
                                              brume_choice_step step, brume_limited_price *limited,
                                              brume_price *price, brume_error *error);

#endif
