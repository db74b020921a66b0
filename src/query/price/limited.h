/* Prices where a unit's totals are limited as a whole (proofs/limits.md): what is paid for choosing
 * the limits, for the test of private keys, and for the measures.
 *
 * A limit T makes a ball; no price here depends on T, so everything is known before a row is read.
 * The noise of a measure is in proportion to its sensitivity: `noise` is the scale for 1.
 *
 *   choice       0.09 of epsilon, a fifth of rho or mu^2, for all histograms together, and 0.035 or
 *                0.04 for counts of the units above the limits; nothing where every limit is known
 *   asking       0.12 of epsilon, 0.06 of rho or mu^2, for each sharper count that is bought
 * (above.h) private keys an equal share with the measures of what is left; each unit keeps one key
 *   measures     the rest, in equal shares; quantiles and modes among them
 *
 * All rounded towards more noise. */
#ifndef BRUME_QUERY_LIMITED_H
#define BRUME_QUERY_LIMITED_H

#include "query/price/price.h"

typedef struct brume_limited_shape {
    uint64_t cells;    /* groups; 0: private keys, as many as are shown */
    bool replace;      /* charge as under replacement */
    size_t choices;    /* limits that are still to be chosen, each from a histogram */
    uint64_t pairs;    /* of a group and an undeclared value, that a unit votes for in a mode */
    bool choices_only; /* nothing is measured: the price is for histograms and asking */
} brume_limited_shape;

typedef struct brume_limited_price {
    brume_noise_kind noise;
    double histogram_scale; /* of the noise on every bin; 0: there is no histogram */
    double count_scale;     /* of the noise on the count of the units above the limit, */
    double ask_scale;       /* and on the sharper one */
} brume_limited_price;

/* Most that two units' contributions are apart, or one and nothing, in the p-norm to the power p
 * and in units of the sensitivity. Of quantiles and declared modes: the rate's, to the first power.
 */
double brume_limited_distance(const brume_measure *measure, const brume_limited_shape *shape,
                              int p);

/* Which share of the price the histograms and the first counts take, and a sharper one. */
double brume_limited_choice_share(int p);
double brume_limited_ask_share(int p);

/* Is Gaussian noise the better one for so many measures and cells at (epsilon, delta)? */
bool brume_limited_prefers_gaussian(size_t measures, uint64_t cells, double epsilon, double delta);

/* Fill in `noise` of the measures for a price, and the rest. Of quantiles and declared modes it is
 * 1/rate for a limit of 1; undeclared modes get their scale and threshold, under a delta. `amount`
 * is epsilon, or rho for discrete Gaussian noise; `delta` is used by rounded Gaussian noise and by
 * private keys. `asked`: so many sharper counts of each limit were bought, and are paid for; two at
 * most. With private keys measures[0] is UNITS, its sensitivity is 1, its scale is written too, and
 * `price` gets the threshold; rounded Gaussian noise is for public keys without quantiles and
 * modes. Errors: BRUME_EARGUMENT; BRUME_EOVERFLOW: noise beyond the samplers. */
BRUME_MUST_USE brume_status brume_limited_pay(brume_measure *measures, size_t count,
                                              const brume_limited_shape *shape,
                                              brume_noise_kind noise, double amount, double delta,
                                              size_t asked, brume_limited_price *limited,
                                              brume_price *price, brume_error *error);

#endif
