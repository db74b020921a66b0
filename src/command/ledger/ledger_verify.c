/* brume ledger verify: recompute the ledger from its journal. */
#include "command/command.h"

#include "command/ledger/open_ledger.h"

static brume_status compare(brume_ledger *ledger, const char *path, brume_error *error)
{
    json_error_t fault;
    json_t *export = json_load_file(path, 0, &fault);
    if (!export)
        return brume_fail(error, BRUME_ESYNTAX, "make one with 'brume ledger export'",
                          "'%s' is not an export: %s", path, fault.text);
    brume_status status = brume_ledger_verify_against(ledger, export, error);
    json_decref(export);
    return status;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_ledger_report report = {0};
    const char *against = brume_call_text(call, "against");
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    brume_status status = brume_ledger_verify(ledger, &report, error);
    if (status == BRUME_OK && against)
        status = compare(ledger, against, error);
    brume_ledger_close(ledger);
    if (status != BRUME_OK)
        return status;
    if (call->json)
        return brume_call_write_json(
            call,
            json_pack("{s:b,s:I,s:I,s:I,s:I,s:b}", "holds", 1, "rows", (json_int_t)report.rows,
                      "datasets", (json_int_t)report.datasets, "reservations",
                      (json_int_t)report.reservations, "answers", (json_int_t)report.answers,
                      "against", against != NULL),
            error);
    fprintf(
        call->out,
        "the ledger holds: %llu journal row%s, %llu dataset%s, %llu charge%s, %llu answer%s%s\n",
        (unsigned long long)report.rows, plural(report.rows), (unsigned long long)report.datasets,
        plural(report.datasets), (unsigned long long)report.reservations,
        plural(report.reservations), (unsigned long long)report.answers, plural(report.answers),
        against ? "; it continues the export" : "");
    return BRUME_OK;
}

static const brume_option options[] = {
    {.name = "against",
     .type = BRUME_OPTION_FILE,
     .argument = "FILE",
     .help = "an earlier export that the ledger must continue"},
    BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "ledger verify",
    NULL,
};

const brume_command brume_command_ledger_verify = {
    .name = "ledger verify",
    .summary = "recompute the ledger from its journal",
    .description =
        "Checks the hash chain, every policy, every charge against the budget as it stood, and "
        "every recorded answer. Somebody who may write the file can put back an older copy of it; "
        "only a comparison with an earlier export shows that.",
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
