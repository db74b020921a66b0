/* brume ledger backup: a copy of the ledger, while others use it. */
#include "command/command.h"

#include "command/ledger/open_ledger.h"

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_ledger_report report = {0};
    const char *path = brume_call_operand(call, 0);
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    brume_status status = brume_ledger_backup(ledger, path, &report, error);
    brume_ledger_close(ledger);
    if (status != BRUME_OK)
        return status;
    if (call->json)
        return brume_call_write_json(call,
                                     json_pack("{s:s,s:b,s:I,s:I,s:I}", "file", path, "holds", 1,
                                               "rows", (json_int_t)report.rows, "datasets",
                                               (json_int_t)report.datasets, "reservations",
                                               (json_int_t)report.reservations),
                                     error);
    fprintf(call->out, "copied to %s, and verified: %llu journal row%s, %llu dataset%s\n", path,
            (unsigned long long)report.rows, report.rows == 1 ? "" : "s",
            (unsigned long long)report.datasets, report.datasets == 1 ? "" : "s");
    return BRUME_OK;
}

static const brume_operand operands[] = {
    {.name = "FILE", .type = BRUME_OPERAND_FILE, .help = "where the copy goes; not there yet"}};
static const brume_option options[] = {BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "ledger backup copy.db",
    NULL,
};

const brume_command brume_command_ledger_backup = {
    .name = "ledger backup",
    .summary = "copy the ledger while it is in use",
    .description =
        "A snapshot of one moment, verified before it is called good. Others may go on asking. It "
        "holds what the ledger holds, also passwords of servers and hashes of tokens, and is "
        "readable by its owner only.\n\n"
        "To restore, put it in the ledger's place while nobody uses that, and check it with "
        "'ledger verify --against' the newest export: a copy does not know what was spent after "
        "it was made, so that going back to it forgets charges. If there are any, amend the budgets "
        "down by what the export shows was spent since.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
