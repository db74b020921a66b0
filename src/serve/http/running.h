/* Calls that run and can be named: who asked with the header Brume-Ticket ends the call with POST
 * /v1/cancel and the same ticket. Tickets are a user's own: nobody can name another's call. */
#ifndef BRUME_SERVE_HTTP_RUNNING_H
#define BRUME_SERVE_HTTP_RUNNING_H

#include <stdint.h>

#include "serve/pool.h"

typedef struct brume_http_running brume_http_running;

enum { BRUME_HTTP_TICKET = 64 }; /* bytes of a ticket at most; a longer one names nothing */

/* NULL without memory. */
brume_http_running *brume_http_running_open(void);
void brume_http_running_close(brume_http_running *running);

/* The job `id` of the pool was submitted by this user under this ticket. Without memory it cannot
 * be cancelled, and all else is as ever. */
void brume_http_running_add(brume_http_running *running, const char *user, const char *ticket,
                            uint64_t id);

/* Its answer was given, or nobody waits for it any more. Unknown ids: no effect. */
void brume_http_running_remove(brume_http_running *running, uint64_t id);

/* Ask the pool to end what this user runs under this ticket (brume_pool_cancel). Whether there was
 * anything is not told: when a call has ended would be a finer time than answers leave at. */
void brume_http_running_cancel(brume_http_running *running, brume_pool *pool, const char *user,
                               const char *ticket);

#endif
