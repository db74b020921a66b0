/* What a call opens, and closes when it ends: the ledger that it names, a dataset, random bits. */
#ifndef BRUME_COMMAND_OPEN_LEDGER_H
#define BRUME_COMMAND_OPEN_LEDGER_H

#include <brume/bits.h>

#include "command/command.h"
#include "ledger/ledger.h"
#include "ledger/witness.h"

/* It acts for the user of the host, if there is one (ledger/user.h). */
BRUME_MUST_USE brume_status brume_call_open_ledger(brume_call *call, brume_ledger_mode mode,
                                                   brume_ledger **out, brume_error *error);
BRUME_MUST_USE brume_status brume_call_open_dataset(brume_call *call, brume_ledger *ledger,
                                                    const char *name, brume_dataset **out,
                                                    brume_error *error);
BRUME_MUST_USE brume_status brume_call_open_bits(brume_call *call, brume_bits **out,
                                                 brume_error *error);

/* The keeper of heads on PostgreSQL servers, which every ledger that a call opens has; and a report
 * as JSON, for 'ledger witness' and 'ledger verify' (witness.c). */
extern const brume_witness_server brume_postgres_witness;
json_t *brume_witness_to_json(const brume_witness_report *report);

/* After an error: where `name` is a file of whoever calls, say that --no-ledger reads it. */
void brume_hint_at_file(const brume_call *call, const char *name, brume_error *error);

#endif
