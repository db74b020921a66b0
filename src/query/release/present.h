/* Present: from drawn numbers to the rows of an answer. Post-processing: nothing here reads data,
 * and no branch depends on anything but public numbers and released values. */
#ifndef BRUME_QUERY_PRESENT_H
#define BRUME_QUERY_PRESENT_H

#include "query/release/draw.h"

/* {"columns","rows","row_error_95"}: aggregates from their measures, HAVING, ORDER BY, LIMIT, and
 * an error bar at 95 % beside each value. */
BRUME_MUST_USE brume_status brume_present(const brume_plan *plan, const brume_drawn *drawn,
                                          json_t **out, brume_error *error);

#endif
