/* Ctrl-C while a server works: the server is asked to end the call, and its answer is waited for.
 *
 * SIGINT and SIGTERM are one thing: a wish to stop. The first asks the server to end what it runs
 * under the call's ticket (POST /v1/cancel). Its answer, which then says what became of the price,
 * comes when answers may leave there, and not sooner: when a call ends tells how long it took. A
 * second signal does not wait for it. What was charged stays charged either way; an answer that was
 * there already is given. */
#ifndef BRUME_CLI_STOP_H
#define BRUME_CLI_STOP_H

#include <stdbool.h>

#include "cli/client/http.h"

enum { BRUME_TICKET = 33 }; /* 16 random bytes in hexadecimal, and a 0 */

/* Wait for signals from now on, for the call that will be sent to this place with the ticket that
 * is filled in; what `place` names stays as long as the process. `command` is named in messages,
 * which are JSON if `json`. Once a process, before other threads are started. EMEMORY, ERANDOM. */
BRUME_MUST_USE brume_status brume_stop_watch(const brume_http_place *place, const char *command,
                                             bool json, char ticket[BRUME_TICKET],
                                             brume_error *error);

#endif
