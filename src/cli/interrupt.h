/* Ctrl-C in a command that pays: it ends, and says what became of the price. */
#ifndef BRUME_CLI_INTERRUPT_H
#define BRUME_CLI_INTERRUPT_H

#include "cli/command.h"
#include "query/spend.h"

/* From now on SIGINT and SIGTERM end the command with an error of its own. Give the watch to what
 * spends. Once a process. */
const brume_watch *brume_interrupt_watch(const brume_call *call);

#endif
