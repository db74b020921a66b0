/* What the server counts: of each user requests against a rate, connections against a number, and
 * bytes of answers that it holds for them; answers for metrics; and the lines of the log and of the
 * record of requests. All of it may be used from any thread. */
#ifndef BRUME_SERVE_HTTP_GUARD_H
#define BRUME_SERVE_HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "serve/pool.h"

typedef struct brume_http_guard brume_http_guard;

typedef struct brume_http_guard_options {
    double rate;          /* requests a second of each user, twice as many at once; 0: any number */
    size_t connections;   /* of each user that may be open; 0: any number */
    uint64_t memory;      /* bytes of answers to each user that are held at a time; 0: any */
    FILE *log;            /* NULL: none; the caller closes it */
    const char *requests; /* the file of the record of requests (record.h); NULL: none */
} brume_http_guard_options;

/* NULL without memory. */
brume_http_guard *brume_http_guard_open(const brume_http_guard_options *options);
void brume_http_guard_close(brume_http_guard *guard);

/* May this user's request pass at `now` (seconds of a clock that never goes back)? The bucket is
 * the user's own: nobody can use up another's, and a wrong token has none. */
bool brume_http_guard_pass(brume_http_guard *guard, const char *user, double now);

/* May this user have one more connection? It is counted then until it leaves. */
bool brume_http_guard_enter(brume_http_guard *guard, const char *user);
void brume_http_guard_leave(brume_http_guard *guard, const char *user);

/* May the server hold so many bytes more of answers to this user, on their way or in open cursors?
 * They are counted then until they are dropped, which must be before the connection leaves. */
bool brume_http_guard_hold(brume_http_guard *guard, const char *user, size_t bytes);
void brume_http_guard_drop(brume_http_guard *guard, const char *user, size_t bytes);

/* Can requests be recorded now? Where not, none may run. */
bool brume_http_guard_records(brume_http_guard *guard);

/* An answer has been given. One line: time, who (NULL: nobody known), method, the route's pattern
 * (never the path or the body: they may hold what was asked), code, milliseconds. It goes to the
 * log, and to the record if the user is known. */
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
