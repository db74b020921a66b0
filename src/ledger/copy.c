/* A ledger that moves to another place, from a file to a database or back.
 *
 * Promise: of two ledgers that have one journal only one can be charged. The row `move` ends a
 * ledger: brume_journal_append refuses to continue it. It is on disk before the first row is
 * written at the other place, whose journal goes on with the row `arrive`; so a copy that was
 * interrupted leaves none that can be charged, and is made again. Every row, hash, answer and
 * secret is the same at both places; the new one is verified before it is committed. */
#include "ledger/store.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/verify.h"

typedef struct copied_table {
    const char *name, *columns;
    const char *types; /* of the columns: 't' text, 'i' number */
} copied_table;

/* All tables but those that are the engine's own; what is forgotten here `verify` misses. */
static const copied_table tables[] = {
    {"journal", "id, time, kind, body, hash", "itttt"},
    {"dataset", "name, source, registered, data_version, filter, last, queries", "ttittii"},
    {"reservation", "id, answer_key, state", "itt"},
    {"charge", "dataset, reservation", "ti"},
    {"answer", "answer_key, committed, salt, body", "titt"},
    {"wording", "reservation, salt, body", "itt"},
    {"secret", "name, value", "tt"},
    {"mark", "dataset, mark", "tt"},
    {"\"user\"", "name, role, expires, issued, changed, state", "ttiiit"},
    {"allotment", "\"user\", dataset, filter, last", "ttti"},
    {"project", "name, stated", "ti"},
    {"review", "id, reservation", "ii"},
    {"window_page", "dataset, first, hash, body", "titt"},
};

enum { MOST_COLUMNS = 8 };

static brume_status copy_row(brume_statement *row, const copied_table *table, const char *insert,
                             brume_ledger *to, brume_error *error)
{
    brume_store_value values[MOST_COLUMNS];
    brume_statement *statement = NULL;
    size_t count = strlen(table->types);
    bool more = true;
    for (size_t i = 0; i < count; i++) {
        values[i] = (brume_store_value){.is_text = table->types[i] == 't'};
        if (values[i].is_text)
            values[i].text = brume_store_text(row, (int)i);
        else
            values[i].number = brume_store_int(row, (int)i);
    }
    BRUME_TRY(to->engine->prepare(to->store, insert, values, count, &statement, error));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && more)
        status = brume_store_step(to, statement, &more, error);
    brume_store_finish(statement);
    return status;
}

static brume_status copy_table(brume_ledger *from, const copied_table *table, brume_ledger *to,
                               brume_error *error)
{
    static const char places[] = "?1,?2,?3,?4,?5,?6,?7,?8";
    char sql[256], insert[256];
    brume_statement *rows = NULL;
    bool more = true;
    snprintf(sql, sizeof sql, "SELECT %s FROM %s", table->columns, table->name);
    snprintf(insert, sizeof insert, "INSERT INTO %s(%s) VALUES(%.*s)", table->name, table->columns,
             (int)(3 * strlen(table->types) - 1), places);
    BRUME_TRY(brume_store_prepare(from, &rows, error, sql, ""));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && more) {
        status = brume_store_step(from, rows, &more, error);
        if (status == BRUME_OK && more)
            status = copy_row(rows, table, insert, to, error);
    }
    brume_store_finish(rows);
    return status;
}

/* The row that ends it, on disk. `again`: it has one. */
static brume_status end_ledger(brume_ledger *from, bool again, brume_error *error)
{
    bool ended = false;
    brume_ledger_report report;
    BRUME_TRY(brume_store_begin(from, error));
    brume_status status = brume_verify_now(from, &report, error);
    if (status == BRUME_OK)
        status = brume_journal_has_moved(from, &ended, error);
    if (status == BRUME_OK && ended && !again)
        status = brume_fail(error, BRUME_EPOLICY,
                            "if nothing arrived there, or that is lost for good, copy it --again: "
                            "two copies that can be charged would spend the budget twice",
                            "this ledger was moved to another place before");
    if (status == BRUME_OK && !ended)
        status = brume_journal_append(from, "move", json_object(), error);
    if (status == BRUME_OK)
        return brume_store_commit(from, error);
    brume_store_undo(from);
    return status;
}

static brume_status arrive(brume_ledger *from, brume_ledger *to, brume_ledger_report *report,
                           brume_error *error)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        BRUME_TRY(copy_table(from, &tables[i], to, error));
    BRUME_TRY(brume_verify_now(to, report, error));
    BRUME_TRY(brume_journal_append(to, "arrive", json_object(), error));
    return brume_verify_now(to, report, error);
}

static brume_status copy_all(brume_ledger *from, brume_ledger *to, brume_ledger_report *report,
                             brume_error *error)
{
    BRUME_TRY(brume_store_begin_reading(from, error));
    brume_status status = brume_store_begin(to, error);
    if (status == BRUME_OK) {
        status = arrive(from, to, report, error);
        if (status == BRUME_OK)
            status = brume_store_commit(to, error);
        else
            brume_store_undo(to);
    }
    brume_store_undo(from);
    return status;
}

brume_status brume_ledger_copy(const char *from, const char *to, bool again,
                               brume_ledger_report *report, brume_error *error)
{
    brume_ledger *source = NULL, *target = NULL;
    BRUME_TRY(brume_ledger_open(from, BRUME_LEDGER_WRITE, &source, error));
    brume_status status = brume_ledger_begin_stream(source, error); /* records what one left */
    if (status == BRUME_OK)
        status = brume_ledger_open(to, BRUME_LEDGER_EMPTY, &target, error);
    if (status == BRUME_OK)
        status = end_ledger(source, again, error);
    if (status == BRUME_OK)
        status = copy_all(source, target, report, error);
    brume_ledger_close(target);
    brume_ledger_close(source);
    return status;
}
