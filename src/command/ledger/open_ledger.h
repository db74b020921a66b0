/* Opening the ledger that a call names. */
#ifndef BRUME_COMMAND_OPEN_LEDGER_H
#define BRUME_COMMAND_OPEN_LEDGER_H

#include "command/command.h"
#include "ledger/ledger.h"

/* It acts for the user of the host, if there is one (ledger/user.h). */
BRUME_MUST_USE brume_status brume_call_open_ledger(const brume_call *call, brume_ledger_mode mode,
                                                   brume_ledger **out, brume_error *error);

/* After an error: where `name` is a file of whoever calls, say that --no-ledger reads it. */
void brume_hint_at_file(const brume_call *call, const char *name, brume_error *error);

/* The dataset that a release reads, where a file could be meant with --no-ledger. */
BRUME_MUST_USE brume_status brume_open_dataset(const brume_call *call, brume_ledger *ledger,
                                               const char *name, brume_dataset **out,
                                               brume_error *error);

/* "12.34 of 50" as a bar of `width` characters: what is left in full blocks. */
void brume_write_bar(FILE *out, double left, double of, int width);

#endif
