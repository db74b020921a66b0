/* What is done with each kind of measurement of a plan once its rows are collected. */
#ifndef BRUME_QUERY_MEASUREMENT_H
#define BRUME_QUERY_MEASUREMENT_H

#include "query/release/answer.h"
#include "query/release/draw.h"

/* Draw measurement `index` of the plan from what was collected for it; the groups, which come
 * first, say for which keys. `collected` must outlive what is drawn. */
BRUME_MUST_USE brume_status brume_measurement_draw(const brume_terms *terms, size_t index,
                                                   const brume_collected *collected,
                                                   brume_bits *bits, brume_drawn *drawn,
                                                   brume_error *error);

/* Add what it has to say of an aggregate to a column that shows the aggregate. */
void brume_measurement_show(const brume_terms *terms, size_t index, const brume_drawn *drawn,
                            size_t aggregate, brume_answer_column *column);

#endif
