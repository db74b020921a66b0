/* COUNT(DISTINCT x): the choice of its limit, the counts under it, and their noise. */
#ifndef BRUME_QUERY_DRAW_DISTINCT_H
#define BRUME_QUERY_DRAW_DISTINCT_H

#include "query/release/answer.h"
#include "query/release/draw.h"

/* Draw the histogram of a limit that is to be chosen, over the pairs of drawn groups, and count the
 * units above the limit that it shows; all goes into *limit. */
BRUME_MUST_USE brume_status brume_distinct_look(const brume_terms *terms, size_t index,
                                                const brume_collected *pairs,
                                                const brume_drawn *drawn, brume_bits *bits,
                                                brume_found_limit *limit, brume_error *error);

/* The counts of the drawn groups under the limit, one each. */
BRUME_MUST_USE brume_status brume_draw_distinct(const brume_terms *terms, size_t index,
                                                const brume_collected *pairs, brume_bits *bits,
                                                brume_drawn *drawn, brume_error *error);

/* The limit and the units that it cuts, of the column of such an aggregate. */
void brume_show_distinct(const brume_terms *terms, size_t index, const brume_drawn *drawn,
                         size_t aggregate, brume_answer_column *column);

#endif
