/* The server closes windows of series: a thread that publishes each window when it has closed.
 *
 * 1. When it looks, and what it publishes, depends on the clock and on what is published alone.
 * 2. Reading takes a time that depends on rows, and others can see when a window is recorded. So it
 *    is recorded at a quantised time after the start, as answers of the pool leave.
 * 3. The ledger's lock decides who publishes, so that 'brume series update' and other servers may
 *    run beside it. A source that is gone is tried again a minute later; windows are caught up. */
#ifndef BRUME_SERVE_CLOSER_H
#define BRUME_SERVE_CLOSER_H

#include "serve/http/guard.h"

typedef struct brume_closer brume_closer;

/* Each window that is published and each failure is an event of the log: the name of the series
 * and, of a failure, the word of its status. `quantum` is that of the pool. EMEMORY. */
BRUME_MUST_USE brume_status brume_closer_open(const char *ledger, double quantum,
                                              brume_http_guard *guard, brume_closer **out,
                                              brume_error *error);

/* End it: an update that runs is cancelled, and records nothing. NULL is nothing to close. */
void brume_closer_close(brume_closer *closer);

#endif
