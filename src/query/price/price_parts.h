/* What one unit may change, in the terms of price.h: the parts that prices are made of. All rounded
 * up. */
#ifndef BRUME_QUERY_PRICE_PARTS_H
#define BRUME_QUERY_PRICE_PARTS_H

#include "query/price/price.h"

/* Most that one unit adds to a cell (PRIVATE_MODE: to the units of one value). */
double brume_sensitivity_up(const brume_measure *measure, const brume_shape *shape);

/* Of several quantiles, over the levels of halving: sum of kappa, and of its squares. */
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
