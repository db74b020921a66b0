/* Series: running totals of a table that grows, window by window, for one charge.
 *
 *   words -> check -> plan -> charge and record -> at each close: read, limit, encode, draw
 *         -> record, where there is none yet -> show what is recorded
 *
 * The mechanism is mechanism/series/running.h, what a unit adds is series/limit.h, the record is
 * ledger/series.h. Promises:
 *
 * 1. The price is on the ledger, once, before a row is read. Publishing windows is then free.
 * 2. A window has one value: what the record says is shown, never what was drawn. A process that is
 *    killed between the two has shown nothing.
 * 3. Which windows are published depends on the clock and the series alone; what is shown depends
 * on published numbers alone. */
#ifndef BRUME_QUERY_SERIES_H
#define BRUME_QUERY_SERIES_H

#include <brume/bits.h>

#include "ledger/ledger.h"
#include "query/release/spend.h"

/* What was typed; NULL: not typed. */
typedef struct brume_series_words {
    const char *name, *sql;
    const char *limit;                 /* "3/day" or "3" */
    const char *epsilon, *delta, *rho; /* exactly one of epsilon and rho */
    const char *horizon;               /* "10y", "90d", or a number of windows */
    const char *from;                  /* the first window; NULL: the one of now */
    const char *window;                /* "COLUMN LENGTH", where the policy has no windows */
    const char *close_after;           /* "2d": so long after its end a window closes */
    bool ever;                         /* COUNT(DISTINCT unit): a unit in its first window only */
} brume_series_words;

/* Open a series; with `dry_run` only say what it would be, and charge nothing. *out: {"series",
 * "dataset","sql","opened","first","horizon","limit","protects","cost","mechanism","errors",
 * "error_covers","late_rows","cut_known","close_after","next"}
 * and, when it was opened, "remaining". Errors: EARGUMENT what was typed; EPOLICY a limit that the
 * dataset has no promise for, and as brume_ask; EUNSUPPORTED a query that no series can be of. */
BRUME_MUST_USE brume_status brume_series_open(brume_ledger *ledger, const brume_series_words *words,
                                              bool dry_run, json_t **out, brume_error *error);

/* Publish every window that has closed. *out: {"series","published","closed_until","next"}: how
 * many windows this call recorded. Errors: EPOLICY the series has ended, or its dataset's policy is
 * another one; ESOURCE, EENGINE: nothing is recorded, and the next update catches up. */
BRUME_MUST_USE brume_status brume_series_update(brume_ledger *ledger, const char *name,
                                                brume_bits *bits, const brume_watch *watch,
                                                json_t **out, brume_error *error);

/* Which part of a series is shown. */
typedef struct brume_series_part {
    const char *from, *to; /* windows; NULL: all that are published */
    const char *by;        /* "week", "month", ...: coarser windows; NULL: its own */
} brume_series_part;

/* *out: {"series","dataset","sql","opened","horizon","limit","protects","cost","ended",
 * "closed_until","next","close_after","error_covers","late_rows","cut_known","keys","value","points":[{"window","from","to","keys","total",
 * "error_95","in_window","in_window_error_95"}]}. Reads the ledger alone. */
BRUME_MUST_USE brume_status brume_series_show(brume_ledger *ledger, const char *name,
                                              const brume_series_part *part, json_t **out,
                                              brume_error *error);

/* [{"series","dataset","sql","opened","ended","first","closed_until","next","limit","protects"}] */
BRUME_MUST_USE brume_status brume_series_list(brume_ledger *ledger, json_t **out,
                                              brume_error *error);

/* No more windows; what is published stays, and so does the price. */
BRUME_MUST_USE brume_status brume_series_end(brume_ledger *ledger, const char *name,
                                             brume_error *error);

#endif
