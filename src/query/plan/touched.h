/* Which windows of growing tables a query touches: derived from its conditions, then enforced.
 *
 * 1. Each occurrence of a table that has a window column gets a set of windows: those in which the
 *    conditions that every useful row satisfies may be true (window_truth.h). Which conditions
 * these are depends on where the table stands: of an outer join, of NOT EXISTS, of a group.
 * 2. Each occurrence is cut to its set at its scan (brume_query.cuts), also one that is read only
 *    to follow a link. That is the privacy: the answer is a function of the rows in touched windows
 *    and of timeless tables. A set that is too small loses rows and reveals nothing.
 * 3. What a dataset is charged for is the union over its occurrences.
 *
 * A range without an upper end stops at the window of `now`, so that a question without a date does
 * not spend the budgets of days to come. proofs/windows.md has the claims. */
#ifndef BRUME_QUERY_TOUCHED_H
#define BRUME_QUERY_TOUCHED_H

#include "ledger/window.h"
#include "query/plan/plan.h"

/* What the analyst and the clock say of windows. */
typedef struct brume_window_wish {
    const char *windows; /* "FIRST..LAST", a window's name, or "undated"; NULL: not typed */
    int64_t now;         /* microseconds since 1970 */
} brume_window_wish;

/* The present moment, in microseconds since 1970. */
int64_t brume_touched_now(void);

typedef struct brume_touched_dataset {
    const brume_dataset *dataset;
    const brume_policy *policy; /* of a table with a window column: its grid and column */
    brume_window_set set;
    bool unbounded; /* before --windows and the end at `now` it was all windows */
    bool driven;    /* a unit without a windowed row of this dataset has no row in the result */
    bool ends_now;  /* it stops at the window of `now`, and no condition says so */
} brume_touched_dataset;

typedef struct brume_touched {
    char *windows; /* as typed; NULL */
    int64_t now;   /* at which ranges without an end stop */
    size_t count;  /* datasets with windows that the query reads windowed tables of */
    brume_touched_dataset *datasets;
} brume_touched;

/* Find the sets and cut the query by them. `tables` are those of its catalog. `count` is 0 where no
 * table has windows, and the query is as it was. EARGUMENT: no window can have a row of the answer,
 * or `windows` is of no dataset, empty, or names no window. */
BRUME_MUST_USE brume_status brume_touched_find(brume_query *query, const brume_plan_table *tables,
                                               const brume_window_wish *wish, brume_touched **out,
                                               brume_error *error);
void brume_touched_close(brume_touched *touched);

/* Does it touch one window of each dataset, and so driven that a unit comes or goes with its rows
 * there? Then the price for a whole history is that for a window (proofs/windows.md, claim 3). */
bool brume_touched_is_one(const brume_touched *touched);

#endif
