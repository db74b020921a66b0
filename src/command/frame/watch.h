/* Cancelling and deadlines of a command: what its host watches for it. */
#ifndef BRUME_COMMAND_WATCH_H
#define BRUME_COMMAND_WATCH_H

#include "command/command.h"
#include "query/release/spend.h"

/* --timeout SECONDS, for the commands that take a watch. */
#define BRUME_TIMEOUT_OPTION                                                                       \
    BRUME_OPTION(REAL, "timeout", "SECONDS",                                                       \
                 "end after this time, with the price spent if it was; else the owner's cap",      \
                 BRUME_ABOVE_TO(0, BRUME_TIMEOUT_MOST))

/* EARGUMENT for --timeout where --no-ledger says that nothing is paid for. */
BRUME_MUST_USE brume_status brume_call_check_timeout(const brume_call *call, brume_error *error);

/* From now on a wish to stop and the deadline end the command with an error of its own. Give the
 * watch to what spends; NULL where the host has none. Once a call. */
BRUME_MUST_USE brume_status brume_call_watch(const brume_call *call, const brume_watch **watch,
                                             brume_error *error);

/* The same for a command that spends nothing and has files to remove: the first wish to stop is
 * only noted, for the watch's stopped. */
BRUME_MUST_USE brume_status brume_call_watch_noted(const brume_call *call,
                                                   const brume_watch **watch, brume_error *error);

#endif
