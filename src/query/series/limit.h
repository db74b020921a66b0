/* What of each unit's rows counts in a series (proofs/series.md): at most T in each window, or at
 * most T in all windows, the earliest ones first.
 *
 * A row weighs the absolute value of its value, before any rows are added up. Which rows of the
 * last window that counts are kept is decided by `order`, which may be anything that does not
 * depend on other units. Of `order` no claim rests. */
#ifndef BRUME_QUERY_SERIES_LIMIT_H
#define BRUME_QUERY_SERIES_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/wide.h"

typedef struct brume_series_row {
    uint32_t unit, window, cell, order;
    int64_t value;
} brume_series_row;

typedef enum brume_series_rule {
    BRUME_SERIES_ROWS,  /* every row counts by its value */
    BRUME_SERIES_UNITS, /* a unit counts once in each window and cell where it has a row */
    BRUME_SERIES_EVER,  /* a unit counts once in each cell, in its first window there */
} brume_series_rule;

typedef struct brume_series_limit {
    uint64_t most;   /* T, at least 1 */
    bool per_window; /* in each window; else in all together */
    brume_series_rule rule;
} brume_series_limit;

/* Add what counts to totals[cell * windows + window], whose rows have windows below `windows`. The
 * rows are put in another order, and some of them changed. */
void brume_series_limit_rows(brume_series_row *rows, size_t count, const brume_series_limit *limit,
                             brume_i128 *totals, size_t windows);

#endif
