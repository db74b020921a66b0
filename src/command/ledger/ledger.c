/* brume ledger verify, export, backup: the ledger as a whole. */
#include "command/command.h"

#include "command/ledger/open_ledger.h"

/* ---- verify ---- */

static brume_status compare(brume_call *call, brume_ledger *ledger, const char *path,
                            brume_error *error)
{
    json_error_t fault;
    json_t *export = json_load_file(path, 0, &fault);
    if (!export)
        return brume_fail(error, BRUME_ESYNTAX, "make one with 'brume ledger export'",
                          "'%s' is not an export: %s", path, fault.text);
    BRUME_TRY(brume_call_keep_json(call, export, error));
    return brume_ledger_verify_against(ledger, export, error);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static brume_status run_verify(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_ledger_report report = {0};
    const char *against = brume_call_text(call, "against");
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_ledger_verify(ledger, &report, error));
    if (against)
        BRUME_TRY(compare(call, ledger, against, error));
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

const brume_command brume_command_ledger_verify = {
    .name = "ledger verify",
    .summary = "recompute the ledger from its journal",
    .description =
        "Checks the hash chain, every policy, every charge against the budget as it stood, and "
        "every recorded answer. Somebody who may write the file can put back an older copy of it; "
        "only a comparison with an earlier export shows that.",
    BRUME_OPTIONS(
        BRUME_OPTION(FILE, "against", "FILE", "an earlier export that the ledger must continue"),
        BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("ledger verify"),
    .run = run_verify,
};

/* ---- export ---- */

static brume_status run_export(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *export = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_ledger_export(ledger, &export, error));
    return brume_call_write_json(call, export, error); /* an export is JSON, asked for or not */
}

const brume_command brume_command_ledger_export = {
    .name = "ledger export",
    .summary = "write the journal for a third party",
    .description =
        "One JSON object with every row of the journal and its hash, from which anybody can "
        "recompute the chain and every charge. Keep one somewhere else: 'ledger verify --against' "
        "compares. It holds no data and no answers, but every query text.",
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("ledger export"),
    .run = run_export,
};

/* ---- backup ---- */

static brume_status run_backup(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_ledger_report report = {0};
    const char *path = brume_call_operand(call, 0);
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_ledger_backup(ledger, path, &report, error));
    if (call->json)
        return brume_call_write_json(call,
                                     json_pack("{s:s,s:b,s:I,s:I,s:I}", "file", path, "holds", 1,
                                               "rows", (json_int_t)report.rows, "datasets",
                                               (json_int_t)report.datasets, "reservations",
                                               (json_int_t)report.reservations),
                                     error);
    fprintf(call->out, "copied to %s, and verified: %llu journal row%s, %llu dataset%s\n", path,
            (unsigned long long)report.rows, plural(report.rows),
            (unsigned long long)report.datasets, plural(report.datasets));
    return BRUME_OK;
}

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
    BRUME_OPERANDS(BRUME_OPERAND(FILE, "FILE", "where the copy goes; not there yet")),
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("ledger backup copy.db"),
    .run = run_backup,
};
