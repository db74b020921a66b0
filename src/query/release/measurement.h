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

/* The mode of an expression whose values nobody declared: noise on the number of units in each pair
 * of a group's key and a value. A value may be the mode of its group if its noisy number of units
 * reaches a threshold; the largest one is. make_plan.c says what the pairs are. */

/* Estimates of bias (bias.h): noise on the counts of units, and what an answer says of them. */

/* drawn->results[index].numbers: the counts of the measurement, with noise. */
BRUME_MUST_USE brume_status brume_draw_bias(const brume_terms *terms, size_t index,
                                            const brume_collected *collected, brume_bits *bits,
                                            brume_drawn *drawn, brume_error *error);

/* Fill in column->bias of a column that shows an aggregate, where there is something to say. */
void brume_show_bias(const brume_terms *terms, size_t index, const brume_drawn *drawn,
                     size_t aggregate, brume_answer_column *column);

#endif
