/* Ctrl-C and deadlines in a command that pays: it ends, soon, and says what became of the price. In
 * one that does not: it tidies up.
 *
 * SIGINT, SIGTERM and the deadline are one thing: a wish to stop. While nothing is spent it ends
 * the process at once. Later it cancels the engine and lets the ledger be written; what has not
 * ended by itself BRUME_GRACE_SECONDS after it is ended, whatever it hangs in, and a second signal
 * does not wait for that. */
#ifndef BRUME_CLI_INTERRUPT_H
#define BRUME_CLI_INTERRUPT_H

#include "cli/command.h"
#include "query/release/spend.h"

enum { BRUME_GRACE_SECONDS = 2 };

/* --timeout SECONDS, for the commands that take a watch. */
#define BRUME_TIMEOUT_OPTION                                                                       \
    {                                                                                              \
        .name = "timeout", .type = BRUME_OPTION_REAL, .argument = "SECONDS", .least = 0,           \
        .least_open = true, .most = BRUME_TIMEOUT_MOST,                                            \
        .help = "end after this time, with the price spent if it was; else the owner's cap"        \
    }

/* EARGUMENT for --timeout where --no-ledger says that nothing is paid for. */
BRUME_MUST_USE brume_status brume_interrupt_check(const brume_call *call, brume_error *error);

/* From now on SIGINT, SIGTERM and the deadline end the command with an error of its own. Give the
 * watch to what spends. Once a process, before other threads are started: they must not get the
 * signals. EMEMORY if its own thread cannot be started. */
BRUME_MUST_USE brume_status brume_interrupt_watch(const brume_call *call, const brume_watch **watch,
                                                  brume_error *error);

/* The same for a command that spends nothing and has files to remove: the first signal is only
 * noted, for the watch's stopped. */
BRUME_MUST_USE brume_status brume_interrupt_note(const brume_call *call, const brume_watch **watch,
                                                 brume_error *error);

#endif
