/* COUNT(DISTINCT x): the choice of its limit, the counts under it, and their noise. */
#ifndef BRUME_QUERY_DRAW_DISTINCT_H
#define BRUME_QUERY_DRAW_DISTINCT_H

#include "query/release/answer.h"
#include "query/release/draw.h"

/* Behind the counts of the drawn groups, one each, `numbers` of the result has these. */
enum {
    BRUME_DISTINCT_LIMIT,
    BRUME_DISTINCT_CUT_UNITS,
    BRUME_DISTINCT_BEYOND,
    BRUME_DISTINCT_EXTRA
};

BRUME_MUST_USE brume_status brume_draw_distinct(const brume_plan *plan, size_t index,
                                                const brume_collected *pairs, brume_bits *bits,
                                                brume_drawn *drawn, brume_error *error);

/* Was its limit looked for, and not found? How much was cut is then not known. */
bool brume_distinct_not_found(const brume_plan *plan, size_t index, const brume_drawn *drawn);

/* The limit and the units that it cuts, of the column of such an aggregate. */
void brume_show_distinct(const brume_plan *plan, size_t index, const brume_drawn *drawn,
                         size_t aggregate, brume_answer_column *column);

#endif
