/* What the server counts: requests of each user against a rate, answers for metrics, and lines of
 * the log. All of it may be used from any thread. */
#ifndef BRUME_SERVE_HTTP_GUARD_H
#define BRUME_SERVE_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "serve/pool.h"

typedef struct brume_http_guard brume_http_guard;

/* So many requests a second for each user, and twice as many at once (0: any number); the log goes
 * to `log` (NULL: nowhere), which the caller closes. NULL without memory. */
brume_http_guard *brume_http_guard_open(double rate, FILE *log);
void brume_http_guard_close(brume_http_guard *guard);

/* May this user's request pass at `now` (seconds of a clock that never goes back)? The bucket is
 * the user's own: nobody can use up another's, and a wrong token has none. */
bool brume_http_guard_pass(brume_http_guard *guard, const char *user, double now);

/* An answer has been given. One line: time, who (NULL: nobody known), method, the route's pattern
 * (never the path or the body: they may hold what was asked), code, milliseconds. */
void brume_http_guard_note(brume_http_guard *guard, const char *user, const char *method,
                           const char *route, unsigned code, double seconds);

/* A line about the server itself: {"time","event","detail"}. */
void brume_http_guard_event(brume_http_guard *guard, const char *event, const char *detail);

/* The text of /metrics, which the caller frees; NULL without memory. In it are counts of requests,
 * answers and jobs, which everybody could count who sees the traffic: no time, and nothing of the
 * data. */
char *brume_http_guard_metrics(brume_http_guard *guard, const brume_pool_counts *jobs,
                               unsigned connections);

#endif
