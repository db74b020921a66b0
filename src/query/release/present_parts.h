/* The parts that an answer is made of: values of aggregates, and keys. */
#ifndef BRUME_QUERY_PRESENT_PARTS_H
#define BRUME_QUERY_PRESENT_PARTS_H

#include <brume/interval.h>

#include "query/release/present.h"
#include "query/sql/formula.h"

/* What values are shown from. */
typedef struct brume_present_source {
    const brume_plan *plan;
    const brume_drawn *drawn;
    const brume_value *modes; /* of undeclared values: modes[measurement * count + group] */
} brume_present_source;

/* An aggregate has a raw value (for arithmetic between aggregates), a shown value (clamped to what
 * is possible) and an interval that holds the noiseless value with probability 1 - beta. */
typedef struct brume_shown {
    brume_value raw, shown;
    brume_interval interval;
    bool has_interval;
} brume_shown;

brume_shown brume_present_show(const brume_present_source *source, size_t aggregate, size_t group,
                               double beta);

#endif
