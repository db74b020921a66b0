/* What each window of a dataset has spent (ledger/window.h says what windows are).
 *
 * A run is a range of windows with equal sums; what no run has is untouched. Runs are sorted and
 * disjoint, and neighbours differ, so that a list of runs says one thing in one way.
 *
 * On disk a page of the table `window_page` holds some hundred runs of a dataset, one after the
 * other, as lines "FIRST LAST SPENT DELTA"; its key is the first window of its first run. A charge
 * reads and rewrites the pages that it touches, so that a run of any length costs what one window
 * costs. The window `undated` has a page of its own. The newest journal row vouches for the hash of
 * each page; a charge checks the pages that it reads against theirs.
 *
 * Sums are integers of 10^-30: prices are rounded up to that, limits down. */
#ifndef BRUME_LEDGER_PAGE_OF_WINDOWS_H
#define BRUME_LEDGER_PAGE_OF_WINDOWS_H

#include "ledger/store.h"
#include "ledger/window.h"
#include "number/wide.h"

/* Epsilon (or rho) and delta, in units of 10^-30. */
typedef struct brume_window_sum {
    brume_u128 amount, delta;
} brume_window_sum;

typedef struct brume_window_run {
    int64_t first, last;
    brume_window_sum spent;
} brume_window_run;

typedef struct brume_window_runs {
    brume_window_run *list;
    size_t count, room;
} brume_window_runs;

void brume_window_runs_free(brume_window_runs *runs);

/* A price, rounded up; what a filter's sums may reach, rounded down. */
brume_window_sum brume_window_sum_of_price(const brume_charge *price);
brume_window_sum brume_window_sum_of_limit(const brume_filter *budget);

/* What a limit has left above a sum, as a charge. */
BRUME_MUST_USE brume_status brume_window_left(brume_rule rule, const brume_window_sum *limit,
                                              const brume_window_sum *spent, brume_charge *left,
                                              brume_error *error);

/* Has every window of the ranges room for the price? If not, *lacking is the first run that has
 * none, cut to the range that asked. */
bool brume_window_runs_fit(const brume_window_runs *runs, const brume_window_set *set,
                           const brume_window_sum *price, const brume_window_sum *limit,
                           brume_window_run *lacking);

/* Add the price to every window of the ranges (not to `undated`). EMEMORY: `runs` is then in no
 * good state, and to be freed. */
BRUME_MUST_USE brume_status brume_window_runs_add(brume_window_runs *runs,
                                                  const brume_window_set *set,
                                                  const brume_window_sum *price,
                                                  brume_error *error);

/* The run with the largest amount that a range of the set touches, all zero if there is none. */
brume_window_run brume_window_runs_fullest(const brume_window_runs *runs,
                                           const brume_window_set *set);

/* The ranges of a journal's row, [[FIRST,LAST]], into the set; EDAMAGED if they are not ascending
 * and apart. */
BRUME_MUST_USE brume_status brume_window_set_from_json(const json_t *list, brume_window_set *set,
                                                       brume_error *error);

/* ---- the table ---- */

/* What a dataset has spent: all runs, in order, and what `undated` has. EDAMAGED. */
BRUME_MUST_USE brume_status brume_window_pages_read(brume_ledger *ledger, const char *dataset,
                                                    brume_window_runs *runs,
                                                    brume_window_sum *undated, brume_error *error);

/* The same for the pages that windows first..last or their neighbours are on. */
BRUME_MUST_USE brume_status brume_window_pages_between(brume_ledger *ledger, const char *dataset,
                                                       int64_t first, int64_t last,
                                                       brume_window_runs *runs, brume_error *error);

/* A charge, inside the current transaction: everything is checked before a page is written.
 * `limit` is of each window, `undated_limit` of `undated`. EBUDGET: *lacking as above, with first
 * BRUME_UNDATED for `undated`; the error is the caller's to fill. *fullest: what the touched window
 * that has spent most has spent now. */
#define BRUME_UNDATED INT64_MIN
BRUME_MUST_USE brume_status
brume_window_pages_charge(brume_ledger *ledger, const char *dataset, const brume_window_set *set,
                          const brume_window_sum *price, const brume_window_sum limits[2],
                          brume_window_run *lacking, brume_window_sum *fullest, brume_error *error);

/* ---- texts ---- */

enum { BRUME_WINDOW_SUM_TEXT = 100 };

/* "0.25 1e-9" as plain decimals: "0.25 0.000000001". */
const char *brume_window_sum_print(const brume_window_sum *sum, char text[BRUME_WINDOW_SUM_TEXT]);

#endif
