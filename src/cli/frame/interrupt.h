/* Ctrl-C and deadlines in a command that pays: it ends, soon, and says what became of the price.
 *
 * SIGINT, SIGTERM and the deadline are one thing: a wish to stop. While nothing is spent it ends
 * the process at once. Later it cancels the session's call and lets the ledger be written; what has
 * not ended by itself BRUME_GRACE_SECONDS after it is ended, whatever it hangs in, and a second
 * signal does not wait for that. In a command that neither pays nor has files to remove a signal
 * does what it does to any process. */
#ifndef BRUME_CLI_INTERRUPT_H
#define BRUME_CLI_INTERRUPT_H

#include <stdbool.h>

#include <brume/session.h>

enum { BRUME_GRACE_SECONDS = 2 };

/* Watch the calls of a session from now on; `command` is named in the message, which is JSON if
 * `json`. Once a process, before other threads are started: they must not get the signals. EMEMORY
 * if its own thread cannot be started. */
BRUME_MUST_USE brume_status brume_interrupt_watch(brume_session *session, const char *command,
                                                  bool json, brume_error *error);

/* The session is about to be closed: its thread leaves it alone from now on. */
void brume_interrupt_end(void);

#endif
