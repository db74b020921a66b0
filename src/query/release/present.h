/* Present: from drawn numbers to the rows of an answer. Post-processing: nothing here reads data,
 * and no branch depends on anything but public numbers and released values. */
#ifndef BRUME_QUERY_PRESENT_H
#define BRUME_QUERY_PRESENT_H

#include "query/release/answer.h"
#include "query/release/draw.h"

/* The columns, rows and errors of an answer: aggregates from their measures, HAVING, ORDER BY,
 * LIMIT, and an error bar at 95 % for each value. What it cost is not filled in. */
BRUME_MUST_USE brume_status brume_present(const brume_terms *terms, const brume_drawn *drawn,
                                          brume_query_answer **out, brume_error *error);

#endif
