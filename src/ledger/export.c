/* The journal as a document that a third party can check: chain, policies and charges. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"

static const char format_name[] = "brume ledger export";

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "exporting the ledger: out of memory");
}

/* What was asked, with its salt, into the row of a charge that has it still. */
static brume_status add_text(brume_ledger *ledger, uint64_t id, json_t *entry, brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT salt, body FROM wording WHERE reservation = ?1", "i",
                                  (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && found &&
        (json_object_set_new(entry, "salt", json_string(brume_store_text(statement, 0))) != 0 ||
         json_object_set_new(entry, "text", json_string(brume_store_text(statement, 1))) != 0))
        status = out_of_memory(error);
    brume_store_finish(statement);
    return status;
}

static brume_status add_rows(brume_ledger *ledger, bool texts, json_t *rows, brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_journal_read(ledger, 1, &statement, error));
    brume_journal_row row = {0};
    bool more = true;
    brume_status status = BRUME_OK;
    while ((status = brume_journal_step(ledger, statement, &row, &more, error)) == BRUME_OK &&
           more) {
        json_t *entry = json_pack("{s:I,s:s,s:s,s:s,s:s}", "id", (json_int_t)row.id, "time",
                                  row.time, "kind", row.kind, "body", row.body, "hash", row.hash);
        if (json_array_append_new(rows, entry) != 0) {
            status = out_of_memory(error);
            break;
        }
        if (texts && ledger->schema >= 5 && strcmp(row.kind, "reserve") == 0)
            status = add_text(ledger, row.id, entry, error);
        if (status != BRUME_OK)
            break;
    }
    brume_store_finish(statement);
    return status;
}

brume_status brume_ledger_export(brume_ledger *ledger, bool texts, json_t **out, brume_error *error)
{
    json_t *rows = json_array();
    if (!rows)
        return out_of_memory(error);
    brume_status status = add_rows(ledger, texts, rows, error);
    json_t *result = status == BRUME_OK ? json_pack("{s:s,s:i,s:O}", "format", format_name,
                                                    "version", ledger->schema, "rows", rows)
                                        : NULL;
    json_decref(rows);
    if (status != BRUME_OK)
        return status;
    if (!result)
        return out_of_memory(error);
    *out = result;
    return BRUME_OK;
}

static brume_status missing(json_int_t id, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED,
                      "an older copy of the ledger was put back, or its history was rewritten",
                      "row %lld of the export is not in the ledger", (long long)id);
}

brume_status brume_ledger_verify_against(brume_ledger *ledger, const json_t *export,
                                         brume_error *error)
{
    const json_t *rows = json_object_get(export, "rows");
    const char *format = json_string_value(json_object_get(export, "format"));
    if (!format || strcmp(format, format_name) != 0 || !json_is_array(rows))
        return brume_fail(error, BRUME_ESYNTAX, "make one with 'brume ledger export'",
                          "the file is not an export of a ledger");
    brume_statement *statement = NULL;
    BRUME_TRY(brume_journal_read(ledger, 1, &statement, error));
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < json_array_size(rows); i++) {
        const json_t *entry = json_array_get(rows, i);
        json_int_t id = json_integer_value(json_object_get(entry, "id"));
        const char *hash = json_string_value(json_object_get(entry, "hash"));
        brume_journal_row row = {0};
        bool more = false;
        status = brume_journal_step(ledger, statement, &row, &more, error);
        if (status == BRUME_OK &&
            (!more || !hash || row.id != (uint64_t)id || strcmp(row.hash, hash) != 0))
            status = missing(id, error);
    }
    brume_store_finish(statement);
    return status;
}
