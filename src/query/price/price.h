/* What a query's measurements cost together, and how much noise a price buys.
 *
 * Everything is in grid integers. A cell is one group of the query. A unit (a person) touches at
 * most `max_groups` cells with at most `max_rows` rows in each, so that one unit more or less moves
 * the vector of all measured numbers by a bounded amount. With shares of 1/J for the J measures,
 * in units where one gained or lost cell costs 1:
 *
 *   B   what a cell costs in which a replaced unit stays (replacement only)
 *   C   the whole: min(G, K) cells gained or lost under add-remove; under replacement the worst
 *       mixture of b cells stayed in and min(2(G-b), K-b) cells left or entered; B where the number
 *       of rows is public.
 *
 * Laplace: scales b_j = sensitivity_j * J * C / epsilon give a pure cost of epsilon.
 * Gaussian: sigma_j = sensitivity_j * sqrt(J * C) * sigma_1, sigma_1 the noise the price buys for a
 * single number of sensitivity 1. Proof: proofs/query-price.md; every rounding is towards more
 * noise. */
#ifndef BRUME_QUERY_PRICE_H
#define BRUME_QUERY_PRICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

typedef enum brume_measure_kind {
    BRUME_MEASURE_UNITS,        /* units present in the cell; where totals are limited, the test of
                                   private keys: units that keep the cell */
    BRUME_MEASURE_PRESENCE,     /* units present in the cell, where totals are limited */
    BRUME_MEASURE_HOLDERS,      /* units with a row in the cell whose expression is not NULL, where
                                   totals are limited: follows PRESENCE */
    BRUME_MEASURE_ROWS,         /* kept rows */
    BRUME_MEASURE_VALUES,       /* kept rows whose expression is not NULL */
    BRUME_MEASURE_CENTRED,      /* sum of x - c, c the centre of the bounds */
    BRUME_MEASURE_SQUARES,      /* sum of (x - c)^2 - k, k half the largest square */
    BRUME_MEASURE_DIRECT,       /* sum of x */
    BRUME_MEASURE_DEVIATION,    /* where totals are limited: sum of x - c, c found by looking */
    BRUME_MEASURE_QUANTILES,    /* one or several quantiles by the exponential mechanism */
    BRUME_MEASURE_MODE,         /* most frequent value of a declared domain by permute-and-flip */
    BRUME_MEASURE_PRIVATE_MODE, /* of an undeclared domain: noise on the units of each value */
} brume_measure_kind;

typedef struct brume_measure {
    brume_measure_kind kind;
    size_t expression; /* which x: the measures of one x move together; not for UNITS, ROWS */
    int64_t low, high; /* grid bounds of x: CENTRED, SQUARES, DIRECT, QUANTILES; low <= high */
    const int64_t (*fractions)[2]; /* QUANTILES: numerator, denominator, ascending */
    size_t fraction_count;
    /* Written by the functions below. */
    double sensitivity; /* most that a unit adds to or takes from a cell, in grid steps */
    double scale;   /* Laplace scale or sigma of the noise, in grid steps; for QUANTILES and MODE
                       the rate eta of the exponential mechanism, per row of rank error */
    double noise;   /* where totals are limited (limited.h): scale for a sensitivity of 1, */
    int shift;      /* and steps of 2^-shift in which the measure is drawn */
    bool divides;   /* it is what means are divided by and nothing else, or the sum of a spread: it
                       gets a smaller share, */
    bool of_spread; /* and half of one where a spread is divided by it */
    uint64_t threshold; /* PRIVATE_MODE: a value may be the mode if its noisy units are at least
                           this */
} brume_measure;

/* Centre c = floor((low+high)/2), reach h = max(high-c, c-low), half square k = floor(h^2/2). */
int64_t brume_measure_centre(const brume_measure *measure);
uint64_t brume_measure_reach(const brume_measure *measure);
uint64_t brume_measure_half_square(const brume_measure *measure);

typedef struct brume_shape {
    uint64_t max_groups; /* G >= 1 */
    uint64_t max_rows;   /* R >= 1; 1 in a plan that has more than keys and is priced here */
    uint64_t cells;      /* K: possible groups; 0: not bounded (private keys) */
    bool replace; /* charge as under replacement: that adjacency, or an outer join's null side */
    bool public_rows;  /* replacement in one cell that has all units before and after: their number
                          is public, none enters or leaves it, and C is B */
    bool private_keys; /* keys are released by a test on the units in them: measures[0] is UNITS */
} brume_shape;

typedef enum brume_noise_kind {
    BRUME_NOISE_DISCRETE_LAPLACE,
    BRUME_NOISE_ROUNDED_GAUSSIAN, /* continuous Gaussian rounded to the grid */
    BRUME_NOISE_DISCRETE_GAUSSIAN,
} brume_noise_kind;

/* The kind of noise that a measure gets in a plan of this noise: a private mode in a plan with
 * rounded Gaussian noise is paid in pure epsilon, with discrete Laplace noise. */
brume_noise_kind brume_measure_noise(const brume_measure *measure, brume_noise_kind noise);

/* Is it paid as a selection: a quantile or a mode? */
bool brume_measure_kind_selects(brume_measure_kind kind);
bool brume_measure_is_selection(const brume_measure *measure);

typedef struct brume_price {
    brume_noise_kind noise;
    double epsilon, delta, rho; /* what is charged, rounded up; those the rule does not use are 0 */
    double cells_upper;         /* C of the measures with noise, in gained cells */
    double stay_upper;          /* B of the measures with noise */
    uint64_t threshold;         /* a private key is shown if its noisy units are at least this */
    double epsilon_selection;   /* rounded Gaussian: the part of epsilon for quantiles and modes */
} brume_price;

/* Fill in sensitivities and scales for a price, and what is charged. `epsilon`, `delta` and `rho`
 * are exact; delta is what the key test may use (0 without private keys), and for the rounded
 * Gaussian the whole delta.
 * Requires: 1 <= count; positive finite epsilon or rho; 0 < delta < 1/2 where it is used.
 * Errors:   BRUME_EARGUMENT; BRUME_EOVERFLOW if a scale leaves the samplers' range (2^50). */
BRUME_MUST_USE brume_status brume_price_laplace(brume_measure *measures, size_t count,
                                                const brume_shape *shape, double epsilon,
                                                double delta, brume_price *price,
                                                brume_error *error);
BRUME_MUST_USE brume_status brume_price_gaussian(brume_measure *measures, size_t count,
                                                 const brume_shape *shape, double epsilon,
                                                 double delta, brume_price *price,
                                                 brume_error *error);
BRUME_MUST_USE brume_status brume_price_concentrated(brume_measure *measures, size_t count,
                                                     const brume_shape *shape, double rho,
                                                     double delta, brume_price *price,
                                                     brume_error *error);

/* What one unit may change, in the terms of price.h: the parts that prices are made of. All rounded
 * up. */

/* For several quantiles, over the levels of halving: sum of kappa, and of its squares. */
typedef struct brume_kappas {
    double sum, squares;
} brume_kappas;

brume_kappas brume_kappas_up(const brume_measure *measure);

/* The rate of a quantile or a declared mode that costs `cost` of epsilon (p = 1) or of 2 rho (p =
 * 2) where one unit comes or goes with one row; rounded down. A quantile that has an interval is
 * drawn for half of the cost, and the interval for the other half. */
double brume_selection_rate_down(const brume_measure *measure, double cost, int p);

/* A quantile that is drawn by itself has an interval of values. */
bool brume_measure_has_interval(const brume_measure *measure);

/* The rate of each end of that interval, for a quarter of the cost: from the quantile's own rate,
 * measure->scale. */
double brume_interval_rate_down(const brume_measure *measure, brume_noise_kind noise);

/* The cost of a selection in which a unit is replaced by another, to that in which one comes or
 * goes: in one cell, of rates (p = 1) or their squares (p = 2). */
double brume_selection_stays_up(const brume_measure *measure, int p);

/* B in numbers of shares (a gained cell is `count` shares), over noise or selections or both.
 * p = 1 or 2. */
double brume_stay_up(const brume_measure *measures, size_t count, const brume_shape *shape, int p,
                     bool noise, bool selections);

/* C in shares, where a gained cell is `gain` shares and one stayed in `stay`, and `modes` measures
 * count the units of pairs. */
double brume_total_up(const brume_shape *shape, double gain, double stay, size_t modes);

/* min(G, K): the groups that one unit is kept in. */
uint64_t brume_shape_groups(const brume_shape *shape);

/* How many pairs of a group and an undeclared value a unit votes for: min(G, K) R; what nobody
 * limited is 1. */
uint64_t brume_shape_pairs(const brume_shape *shape);

#endif
