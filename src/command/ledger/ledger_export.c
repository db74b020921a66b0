/* brume ledger export: the journal, for somebody else to check. */
#include "command/command.h"

#include <stdlib.h>

#include "command/ledger/open_ledger.h"

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *export = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    brume_status status = brume_ledger_export(ledger, &export, error);
    brume_ledger_close(ledger);
    if (status != BRUME_OK)
        return status;
    return brume_call_write_json(call, export, error); /* an export is JSON, asked for or not */
}

static const brume_option options[] = {BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "ledger export",
    NULL,
};

const brume_command brume_command_ledger_export = {
    .name = "ledger export",
    .summary = "write the journal for a third party",
    .description =
        "One JSON object with every row of the journal and its hash, from which anybody can "
        "recompute the chain and every charge. Keep one somewhere else: 'ledger verify --against' "
        "compares. It holds no data and no answers, but every query text.",
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
