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

/* B in numbers of shares (a gained cell is `count` shares), over noise or selections or both.
 * p = 1 or 2. */
double brume_stay_up(const brume_measure *measures, size_t count, const brume_shape *shape, int p,
                     bool noise, bool selections);

/* C in shares, where a gained cell is `gain` shares and one stayed in `stay`, and `modes` measures
 * count the units of pairs. */
double brume_total_up(const brume_shape *shape, double gain, double stay, size_t modes);

/* min(G, K): the groups that one unit is kept in. */
uint64_t brume_shape_groups(const brume_shape *shape);

#endif
