/* brume ledger verify, export, backup, copy, install, find, redact: the ledger as a whole. */
#include "command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/frame/output.h"
#include "command/ledger/open_ledger.h"
#include "ledger/redact.h"

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
    brume_witness_report witness = {0};
    BRUME_TRY(brume_ledger_ask_witness(ledger, &witness, error));
    if (witness.place)
        BRUME_TRY(brume_call_keep(call, free, witness.place, error));
    if (witness.state == BRUME_WITNESS_BEHIND)
        return brume_fail(error, BRUME_EDAMAGED, "put the newest copy of the ledger back", "%s",
                          witness.why);
    if (call->json)
        return brume_call_write_json(
            call,
            json_pack("{s:b,s:I,s:I,s:I,s:I,s:b,s:o}", "holds", 1, "rows", (json_int_t)report.rows,
                      "datasets", (json_int_t)report.datasets, "reservations",
                      (json_int_t)report.reservations, "answers", (json_int_t)report.answers,
                      "against", against != NULL, "witness", brume_witness_to_json(&witness)),
            error);
    fprintf(
        call->out,
        "the ledger holds: %llu journal row%s, %llu dataset%s, %llu charge%s, %llu answer%s%s\n",
        (unsigned long long)report.rows, plural(report.rows), (unsigned long long)report.datasets,
        plural(report.datasets), (unsigned long long)report.reservations,
        plural(report.reservations), (unsigned long long)report.answers, plural(report.answers),
        against ? "; it continues the export" : "");
    if (witness.state == BRUME_WITNESS_AGREES)
        fprintf(call->out, "it continues what its witness saw: row %llu\n",
                (unsigned long long)witness.head.rows);
    else if (witness.state == BRUME_WITNESS_UNREACHABLE)
        fprintf(call->out, "not compared with its witness: %s\n", witness.why);
    if (witness.unwitnessed > 0)
        fprintf(call->out, "%llu row%s written without the witness\n",
                (unsigned long long)witness.unwitnessed,
                witness.unwitnessed == 1 ? " was" : "s were");
    return BRUME_OK;
}

const brume_command brume_command_ledger_verify = {
    .name = "ledger verify",
    .summary = "recompute the ledger from its journal",
    .description =
        "Checks the hash chain, every policy, every charge against the budget as it stood, and "
        "every recorded answer, and asks the witness, if there is one. Somebody who may write the "
        "file can put back an older copy of it; only a witness ('ledger witness') or a comparison "
        "with an earlier export shows that.",
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
    BRUME_TRY(brume_ledger_export(ledger, brume_call_has(call, "texts"), &export, error));
    return brume_call_write_json(call, export, error); /* an export is JSON, asked for or not */
}

const brume_command brume_command_ledger_export = {
    .name = "ledger export",
    .summary = "write the journal for a third party",
    .description =
        "One JSON object with every row of the journal and its hash, from which anybody can "
        "recompute the chain and every charge. Keep one somewhere else: 'ledger verify --against' "
        "compares. It holds no data and no answers. Texts of queries may name people, and what is "
        "exported cannot be redacted any more: without --texts it has salted hashes of those that "
        "were asked since the ledger has schema 5.",
    BRUME_OPTIONS(BRUME_FLAG("texts", "also what was asked, with the salts of its hashes"),
                  BRUME_LEDGER_OPTION),
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

/* ---- copy ---- */

static brume_status run_copy(brume_call *call, brume_error *error)
{
    brume_ledger_report report = {0};
    const char *from = brume_call_operand(call, 0), *to = brume_call_operand(call, 1);
    BRUME_TRY(brume_ledger_copy(from, to, brume_call_has(call, "again"), &report, error));
    if (call->json)
        return brume_call_write_json(
            call,
            json_pack("{s:b,s:I,s:I,s:I}", "holds", 1, "rows", (json_int_t)report.rows, "datasets",
                      (json_int_t)report.datasets, "reservations", (json_int_t)report.reservations),
            error);
    fprintf(call->out, "moved and verified: %llu journal row%s, %llu dataset%s, %llu charge%s\n",
            (unsigned long long)report.rows, plural(report.rows),
            (unsigned long long)report.datasets, plural(report.datasets),
            (unsigned long long)report.reservations, plural(report.reservations));
    brume_write_wrapped(call->out,
                        "The old one can be read, and not charged any more: name the new one with "
                        "--ledger or BRUME_LEDGER.",
                        0, 0);
    return BRUME_OK;
}

const brume_command brume_command_ledger_copy = {
    .name = "ledger copy",
    .summary = "move the ledger to another file or into PostgreSQL",
    .description =
        "Writes every row, hash, answer and secret to a place that has no ledger, a file or a "
        "database (postgresql://...), and verifies what arrived. A row of the journal ends the old "
        "ledger first: two copies that could both be charged would spend the budget twice. "
        "'ledger backup' makes a copy that is kept aside.\n\n"
        "If it is interrupted, nothing can be charged until it is done --again.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "FROM", "a ledger: a file, or the URL of a database"),
                   BRUME_OPERAND(TEXT, "TO", "where it goes, likewise; no ledger is there yet")),
    BRUME_OPTIONS(BRUME_FLAG("again", "it was moved before, and what arrived is lost")),
    BRUME_EXAMPLES("ledger copy copy.db moved.db"),
    .run = run_copy,
};

/* ---- install ---- */

static brume_status run_install(brume_call *call, brume_error *error)
{
    char *sql = NULL;
    BRUME_TRY(brume_ledger_install_sql(brume_call_text(call, "role"), &sql, error));
    brume_status status = BRUME_OK;
    if (call->json)
        status = brume_call_write_json(call, json_pack("{s:s}", "sql", sql), error);
    else
        fputs(sql, call->out);
    free(sql);
    return status;
}

const brume_command brume_command_ledger_install = {
    .name = "ledger install",
    .summary = "print the SQL that makes a ledger's tables in PostgreSQL",
    .description =
        "For the administrator of the database, who owns the tables: with --role that role is "
        "granted what brume needs. It adds rows to the journal, and cannot change or remove one "
        "but to redact a text. A role that may make a schema needs none of this: 'register' makes "
        "the tables by itself.",
    BRUME_OPTIONS(BRUME_FLAG("sql", "print the statements, which is all that there is"),
                  BRUME_OPTION(TEXT, "role", "ROLE", "the role that brume connects as")),
    BRUME_EXAMPLES("ledger install --sql --role brume_app"),
    .run = run_install,
};

/* ---- find ---- */

static void write_found(const brume_call *call, const json_t *found)
{
    const json_t *charges = json_object_get(found, "charges");
    const json_t *elsewhere = json_object_get(found, "elsewhere");
    size_t i = 0;
    json_t *one = NULL;
    if (json_array_size(charges) == 0)
        fprintf(call->out, "no charge has that text, in its query or its answer\n");
    json_array_foreach (charges, i, one) {
        const json_t *in = json_object_get(one, "in");
        const char *sql = json_string_value(json_object_get(one, "sql"));
        fprintf(call->out, "%lld  %.19s  %s%s%s\n",
                (long long)json_integer_value(json_object_get(one, "id")),
                json_string_value(json_object_get(one, "time")),
                json_string_value(json_array_get(in, 0)), json_array_size(in) > 1 ? ", " : "",
                json_array_size(in) > 1 ? json_string_value(json_array_get(in, 1)) : "");
        fputs("    ", call->out);
        brume_write_wrapped(call->out, sql ? sql : "(redacted)", 4, 4);
    }
    json_array_foreach (elsewhere, i, one)
        fprintf(call->out, "row %lld of the journal, '%s', has it too, and cannot be redacted\n",
                (long long)json_integer_value(json_object_get(one, "id")),
                json_string_value(json_object_get(one, "kind")));
}

static brume_status run_find(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *found = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_ledger_find(ledger, brume_call_operand(call, 0), &found, error));
    if (call->json)
        return brume_call_write_json(call, found, error);
    write_found(call, found);
    json_decref(found);
    return BRUME_OK;
}

const brume_command brume_command_ledger_find = {
    .name = "ledger find",
    .summary = "find the charges whose texts or answers have a word",
    .description =
        "Looks for a text, such as a person's name, in every query as it was typed and as it was "
        "understood, and in every recorded answer. The case of letters does not matter. 'ledger "
        "redact' takes what it finds out.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "TEXT", "what to look for")),
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("ledger find 'Ann Lee'"),
    .run = run_find,
};

/* ---- redact ---- */

enum { MOST_CHARGES = 1000 };

/* "41,57" */
static brume_status read_charges(const char *typed, uint64_t *charges, size_t *count,
                                 brume_error *error)
{
    *count = 0;
    for (const char *at = typed;; at++) {
        char *end = NULL;
        errno = 0;
        unsigned long long id = *at >= '1' && *at <= '9' ? strtoull(at, &end, 10) : 0;
        if (id == 0 || errno || id > INT64_MAX || (*end && *end != ','))
            return brume_fail(error, BRUME_EARGUMENT, "write their numbers with commas: 41,57",
                              "'%s' are no charges", typed);
        if (*count == MOST_CHARGES)
            return brume_fail(error, BRUME_EARGUMENT, "redact them in several turns",
                              "more than %d charges at once", MOST_CHARGES);
        charges[(*count)++] = id;
        at = end;
        if (!*at)
            return BRUME_OK;
    }
}

static const char not_reached[] =
    "not reached: exports and backups that were made before now, ~/.brume_history of who typed it, "
    "and the log of a proxy";

static brume_status run_redact(brume_call *call, brume_error *error)
{
    uint64_t charges[MOST_CHARGES];
    brume_ledger *ledger = NULL;
    brume_ledger_report report = {0};
    const char *reason = brume_call_text(call, "reason");
    brume_redaction wanted = {charges, 0, brume_call_has(call, "answers"), reason};
    size_t redacted = 0;
    BRUME_TRY(read_charges(brume_call_operand(call, 0), charges, &wanted.count, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_ledger_redact(ledger, &wanted, &redacted, error));
    BRUME_TRY(brume_ledger_verify(ledger, &report, error));
    if (call->json)
        return brume_call_write_json(
            call,
            json_pack("{s:I,s:b,s:b,s:I,s:s}", "redacted", (json_int_t)redacted, "answers",
                      wanted.answers, "holds", 1, "rows", (json_int_t)report.rows, "not_reached",
                      not_reached + strlen("not reached: ")),
            error);
    fprintf(call->out, "redacted %zu charge%s; the ledger holds: %llu rows\n", redacted,
            plural(redacted), (unsigned long long)report.rows);
    if (!wanted.answers)
        brume_write_wrapped(
            call->out,
            "what was answered stays, with its keys and names of columns: --answers "
            "takes it out",
            0, 2);
    brume_write_wrapped(call->out, not_reached, 0, 2);
    return BRUME_OK;
}

const brume_command brume_command_ledger_redact = {
    .name = "ledger redact",
    .summary = "take what was asked out of the ledger",
    .description =
        "Deletes the texts of charges, and with --answers what was answered, from the ledger's file "
        "and its log. What was paid stays, and nothing is refunded; the hash chain, earlier exports "
        "and every sum still hold, and 'history' shows (redacted). The question has no recorded "
        "answer any more: asked again it is paid.\n\nRows from before schema 5 hold their texts "
        "themselves: they are restated without them, keep their hashes, and a row of the journal "
        "says so. 'ledger find' says which charges have a name.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "ID[,ID]...", "the numbers of charges")),
    BRUME_OPTIONS(BRUME_OPTION(TEXT, "reason", "TEXT",
                               "why, for the journal; it stays there: name nobody",
                               .required = true),
                  BRUME_FLAG("answers", "also what was answered"), BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("ledger redact 9,11 --reason 'request 12' --answers"),
    .run = run_redact,
};
