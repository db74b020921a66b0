/* The tables of the ledger's file, and the way from an older schema to this one.
 *
 *   schema 1   journal, dataset, reservation, charge, answer
 *   schema 2   also mark and secret: by what each source is known (mark.h), and what is not shown
 *   schema 3   no new table: rows that amend and refuse, SQL as it was typed, public marks
 *   schema 4   also user and allotment (user.h)
 *
 * Promise of a migration: it is one transaction. A killed process leaves the old ledger or the new
 * one, whole. Every row of the journal stays as it was and gets one row after it that says so; the
 * chain goes through, and an earlier export is continued. The whole ledger is recomputed before and
 * after; if it does not hold, nothing is changed. */
#include "ledger/schema.h"

#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/mark.h"
#include "ledger/store.h"
#include "ledger/user_row.h"
#include "ledger/verify.h"

typedef struct schema_object {
    int since; /* the schema that brought it */
    const char *name, *sql;
} schema_object;

static const schema_object schema[] = {
    {1, "journal",
     "CREATE TABLE journal(id INTEGER PRIMARY KEY, time TEXT NOT NULL, "
     "kind TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT"},
    {1, "dataset",
     "CREATE TABLE dataset(name TEXT PRIMARY KEY, source TEXT NOT NULL, "
     "registered INTEGER NOT NULL, data_version TEXT NOT NULL, filter TEXT NOT NULL, "
     "last INTEGER NOT NULL, queries INTEGER NOT NULL) STRICT, WITHOUT ROWID"},
    {1, "dataset_source", "CREATE INDEX dataset_source ON dataset(source)"},
    {1, "reservation",
     "CREATE TABLE reservation(id INTEGER PRIMARY KEY, answer_key TEXT NOT NULL, "
     "state TEXT NOT NULL) STRICT"},
    {1, "charge",
     "CREATE TABLE charge(dataset TEXT NOT NULL, reservation INTEGER NOT NULL, "
     "PRIMARY KEY(dataset, reservation)) STRICT, WITHOUT ROWID"},
    {1, "answer",
     "CREATE TABLE answer(answer_key TEXT PRIMARY KEY, committed INTEGER NOT NULL, "
     "body TEXT NOT NULL) STRICT, WITHOUT ROWID"},
    {1, "journal_keeps_rows",
     "CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal "
     "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"},
    {1, "journal_keeps_text",
     "CREATE TRIGGER journal_keeps_text BEFORE UPDATE ON journal "
     "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"},
    {2, "secret",
     "CREATE TABLE secret(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"},
    {2, "mark",
     "CREATE TABLE mark(dataset TEXT NOT NULL, mark TEXT NOT NULL, "
     "PRIMARY KEY(dataset, mark)) STRICT, WITHOUT ROWID"},
    {2, "mark_of_datasets", "CREATE INDEX mark_of_datasets ON mark(mark)"},
    {4, "user",
     "CREATE TABLE user(name TEXT PRIMARY KEY, role TEXT NOT NULL, expires INTEGER NOT NULL, "
     "issued INTEGER NOT NULL, changed INTEGER NOT NULL, state TEXT NOT NULL) STRICT, WITHOUT ROWID"},
    {4, "allotment",
     "CREATE TABLE allotment(user TEXT NOT NULL, dataset TEXT NOT NULL, filter TEXT NOT NULL, "
     "last INTEGER NOT NULL, PRIMARY KEY(user, dataset)) STRICT, WITHOUT ROWID"},
};

enum { SCHEMA_OBJECTS = sizeof schema / sizeof *schema };

brume_status brume_schema_check(brume_ledger *ledger, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL", ""));
    size_t found = 0, expected = 0;
    bool row = true, foreign = false;
    brume_status status = BRUME_OK;
    while ((status = brume_store_step(ledger, statement, &row, error)) == BRUME_OK && row) {
        bool known = false;
        for (size_t i = 0; i < SCHEMA_OBJECTS; i++)
            known = known || (schema[i].since <= ledger->schema &&
                              strcmp(schema[i].name, brume_store_text(statement, 0)) == 0 &&
                              strcmp(schema[i].sql, brume_store_text(statement, 1)) == 0);
        found += known;
        foreign = foreign || !known;
    }
    sqlite3_finalize(statement);
    if (status != BRUME_OK)
        return status;
    for (size_t i = 0; i < SCHEMA_OBJECTS; i++)
        expected += schema[i].since <= ledger->schema;
    if (foreign || found != expected)
        return brume_fail(error, BRUME_EDAMAGED, "the file was changed by another program",
                          "the ledger's structure is not the one brume made");
    return BRUME_OK;
}

/* The objects that came after schema `from`, the keys, and the new number. */
static brume_status add_objects(brume_ledger *ledger, int from, const char *doing,
                                brume_error *error)
{
    for (size_t i = 0; i < SCHEMA_OBJECTS; i++)
        if (schema[i].since > from)
            BRUME_TRY(brume_store_run(ledger, schema[i].sql, doing, error));
    if (from < 2)
        BRUME_TRY(brume_mark_make_key(ledger, error));
    if (from < 4)
        BRUME_TRY(brume_secret_draw(ledger, BRUME_DECOY_KEY, error));
    char pragma[96];
    sqlite3_snprintf(sizeof pragma, pragma, "PRAGMA application_id=%d; PRAGMA user_version=%d",
                     BRUME_LEDGER_APPLICATION, BRUME_LEDGER_SCHEMA);
    ledger->schema = BRUME_LEDGER_SCHEMA;
    return brume_store_run(ledger, pragma, doing, error);
}

brume_status brume_schema_create(brume_ledger *ledger, brume_error *error)
{
    BRUME_TRY(add_objects(ledger, 0, "making the ledger", error));
    return brume_journal_append(ledger, "create", json_object(), error);
}

static brume_status mark_path(brume_ledger *ledger, const char *dataset, const char *path,
                              brume_error *error)
{
    const brume_mark_list marks = {&path, 1, 0, 0};
    return brume_mark_add(ledger, dataset, false, &marks, error);
}

/* A file registered before there were marks is known by its path. */
static brume_status mark_old_sources(brume_ledger *ledger, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT name, 'path:' || substr(source, 6) FROM dataset WHERE "
                                  "substr(source, 1, 5) = 'file:' ORDER BY name",
                                  ""));
    bool row = true;
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row)
            status = mark_path(ledger, brume_store_text(statement, 0),
                               brume_store_text(statement, 1), error);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Before schema 3 public files had marks, all their own, and public tables none. */
static brume_status mark_public_files(brume_ledger *ledger, brume_error *error)
{
    return brume_store_run(ledger,
                           "INSERT INTO mark(dataset, mark) SELECT mark.dataset, 'public ' || "
                           "mark.mark FROM mark JOIN dataset ON dataset.name = mark.dataset JOIN "
                           "journal ON journal.id = dataset.registered WHERE "
                           "json_extract(journal.body, '$.policy.public') = 1",
                           "migrating the ledger", error);
}

brume_status brume_schema_migrate(brume_ledger *ledger, brume_error *error)
{
    brume_ledger_report before, after;
    int from = ledger->schema;
    BRUME_TRY(brume_verify_now(ledger, &before, error));
    brume_status status = add_objects(ledger, from, "migrating the ledger", error);
    if (status == BRUME_OK && from < 2)
        status = mark_old_sources(ledger, error);
    if (status == BRUME_OK && from < 3)
        status = mark_public_files(ledger, error);
    if (status == BRUME_OK)
        status = brume_journal_append(
            ledger, "migrate", json_pack("{s:i,s:i}", "from", from, "to", BRUME_LEDGER_SCHEMA),
            error);
    if (status == BRUME_OK)
        status = brume_verify_now(ledger, &after, error);
    if (status == BRUME_OK &&
        (after.rows != before.rows + 1 || after.datasets != before.datasets ||
         after.reservations != before.reservations || after.answers != before.answers))
        status = brume_fail(error, BRUME_EINTERNAL, NULL, "a migration lost something");
    if (status != BRUME_OK)
        ledger->schema = from;
    return status;
}
