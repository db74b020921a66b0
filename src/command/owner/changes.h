/* What an amendment changes, for the owner to look over: each thing with what it was and is. */
#ifndef BRUME_COMMAND_CHANGES_H
#define BRUME_COMMAND_CHANGES_H

#include "command/command.h"
#include "ledger/ledger.h"

/* [{"what": "bounds of age", "before": "0..110", "after": "0..120"}, ...]; null: there was, or is,
 * none. `policy` is the new one (NULL: it stays), `said` has the terms that were typed. NULL: no
 * memory. */
json_t *brume_changes_of(const brume_dataset *dataset, const json_t *policy,
                         const brume_call *said);

/* A line each. */
void brume_changes_write(FILE *out, const json_t *changes);

#endif
