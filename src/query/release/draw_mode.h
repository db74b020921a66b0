/* The mode of an expression whose values nobody declared: noise on the number of units in each pair
 * of a group's key and a value. A value may be the mode of its group if its noisy number of units
 * reaches a threshold; the largest one is. private_mode.h says what the pairs are. */
#ifndef BRUME_QUERY_DRAW_MODE_H
#define BRUME_QUERY_DRAW_MODE_H

#include "query/release/draw.h"

/* drawn->results[index].chosen: for each of the drawn groups the value; NULL where none reaches the
 * threshold. What it points to lives as long as `pairs`. */
BRUME_MUST_USE brume_status brume_draw_mode(const brume_terms *terms, size_t index,
                                            const brume_collected *pairs, brume_bits *bits,
                                            brume_drawn *drawn, brume_error *error);

#endif
