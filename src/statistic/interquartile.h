/* What the files of the interquartile range share. */
#ifndef BRUME_STATISTIC_INTERQUARTILE_H
#define BRUME_STATISTIC_INTERQUARTILE_H

#include <brume/statistic/interquartile.h>

#include "statistic/quantile.h"

struct brume_interquartile {
    brume_quantile *low, *high; /* the quartiles */
    bool one_value_per_unit;
};

#endif
