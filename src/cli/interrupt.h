/* Ctrl-C in a command that pays: it ends, and says what became of the price. In one that does not:
 * it tidies up. */
#ifndef BRUME_CLI_INTERRUPT_H
#define BRUME_CLI_INTERRUPT_H

#include "cli/command.h"
#include "query/spend.h"

/* From now on SIGINT and SIGTERM end the command with an error of its own. Give the watch to what
 * spends. Once a process. */
const brume_watch *brume_interrupt_watch(const brume_call *call);

/* The same for a command that spends nothing and has files to remove: the first signal is only
 * noted, for the watch's interrupted; a second one ends the process at once. */
const brume_watch *brume_interrupt_note(const brume_call *call);

#endif
