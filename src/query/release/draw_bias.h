/* Estimates of bias (bias.h): noise on the counts of units, and what an answer says of them. */
#ifndef BRUME_QUERY_DRAW_BIAS_H
#define BRUME_QUERY_DRAW_BIAS_H

#include "query/release/answer.h"
#include "query/release/draw.h"

/* drawn->results[index].numbers: the counts of the measurement, with noise. */
BRUME_MUST_USE brume_status brume_draw_bias(const brume_terms *terms, size_t index,
                                            const brume_collected *collected, brume_bits *bits,
                                            brume_drawn *drawn, brume_error *error);

/* Fill in column->bias of a column that shows an aggregate, where there is something to say. */
void brume_show_bias(const brume_terms *terms, size_t index, const brume_drawn *drawn,
                     size_t aggregate, brume_answer_column *column);

#endif
