/* When may a condition be true, as far as the window of a row alone decides?
 *
 * The condition is evaluated on a piece of the window column's values (an interval of time, one
 * value, or NULL) with all that it does not know taken to be anything. What comes out is an upper
 * bound of what can be: true, false, unknown. Nothing here takes a complement: NOT swaps what may
 * be true with what may be false, so that bounds stay bounds. Then the calendar is halved until
 * pieces are settled or one day (one hour) long.
 *
 * This is correctness, and no privacy: a window that is missing here is cut at the scan, so that an
 * answer misses its rows (touched.h). */
#ifndef BRUME_QUERY_WINDOW_TRUTH_H
#define BRUME_QUERY_WINDOW_TRUTH_H

#include "ledger/window.h"
#include "query/expression/query.h"

/* Conditions that a row must satisfy to be of any use, as a list from the innermost out. */
typedef struct brume_truth_list {
    const brume_expression *condition;
    const struct brume_truth_list *next;
} brume_truth_list;

/* One occurrence of a table, and its window column. */
typedef struct brume_truth_column {
    const brume_relation *table;
    size_t column; /* of the relation */
    const brume_window_grid *grid;
} brume_truth_column;

/* The windows in which all conditions may be true at once. At most 65,536 pieces of the calendar
 * are looked at beside each other: beyond that they stay as they are, which is too many windows and
 * never too few. EMEMORY. */
BRUME_MUST_USE brume_status brume_truth_windows(const brume_truth_column *of,
                                                const brume_truth_list *conditions,
                                                brume_window_set *out, brume_error *error);

/* May all conditions be true of a row in which `missing` has no row, so that its columns are NULL?
 */
bool brume_truth_without(const brume_relation *missing, const brume_truth_list *conditions);

/* The column of a table that `node` is through subqueries; NULL: it is none, or a side that may be
 * missing in between. */
const brume_expression *brume_truth_plain(const brume_expression *node);

#endif
