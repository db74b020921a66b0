/* Opening the SQLite file of a ledger, and closing it.
 *
 * Promise: a file that brume_ledger_open accepts is a ledger of a schema that this build knows,
 * with exactly its tables, indexes and triggers; opened for writing it has this build's own schema.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/mark.h"
#include "ledger/postgres.h"
#include "ledger/store.h"
#include "ledger/user_row.h"
#include "ledger/verify.h"
#include "ledger/witness.h"
#include "ledger/wording.h"

/* The tables of the ledger's file, and the way from an older schema to this one.
 *
 *   schema 1   journal, dataset, reservation, charge, answer
 *   schema 2   also mark and secret: by what each source is known (mark.h), and what is not shown
 *   schema 3   no new table: rows that amend and refuse, SQL as it was typed, public marks
 *   schema 4   also user and allotment (user.h)
 *   schema 5   also window_page (page_of_windows.h), wording, and a salt in answer (wording.h); the
 *              journal lets a row that was redacted be restated (redact.c)
 *   schema 6   also project and review (review.h); a witness (witness.h) is a secret
 *
 * Promise of a migration: it is one transaction. A killed process leaves the old ledger or the new
 * one, whole. Every row of the journal stays as it was and gets one row after it that says so; the
 * chain goes through, and an earlier export is continued. The whole ledger is recomputed before and
 * after; if it does not hold, nothing is changed. */

typedef struct schema_object {
    int since, last; /* the schemas that have it; last 0: all later ones */
    const char *name, *sql;
} schema_object;

static const schema_object schema[] = {
    {1, 0, "journal",
     "CREATE TABLE journal(id INTEGER PRIMARY KEY, time TEXT NOT NULL, "
     "kind TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT"},
    {1, 0, "dataset",
     "CREATE TABLE dataset(name TEXT PRIMARY KEY, source TEXT NOT NULL, "
     "registered INTEGER NOT NULL, data_version TEXT NOT NULL, filter TEXT NOT NULL, "
     "last INTEGER NOT NULL, queries INTEGER NOT NULL) STRICT, WITHOUT ROWID"},
    {1, 0, "dataset_source", "CREATE INDEX dataset_source ON dataset(source)"},
    {1, 0, "reservation",
     "CREATE TABLE reservation(id INTEGER PRIMARY KEY, answer_key TEXT NOT NULL, "
     "state TEXT NOT NULL) STRICT"},
    {1, 0, "charge",
     "CREATE TABLE charge(dataset TEXT NOT NULL, reservation INTEGER NOT NULL, "
     "PRIMARY KEY(dataset, reservation)) STRICT, WITHOUT ROWID"},
    {1, 4, "answer",
     "CREATE TABLE answer(answer_key TEXT PRIMARY KEY, committed INTEGER NOT NULL, "
     "body TEXT NOT NULL) STRICT, WITHOUT ROWID"},
    {1, 0, "journal_keeps_rows",
     "CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal "
     "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"},
    {1, 4, "journal_keeps_text",
     "CREATE TRIGGER journal_keeps_text BEFORE UPDATE ON journal "
     "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"},
    {6, 0, "project",
     "CREATE TABLE project(name TEXT PRIMARY KEY, stated INTEGER NOT NULL) STRICT, WITHOUT ROWID"},
    {6, 0, "review",
     "CREATE TABLE review(id INTEGER PRIMARY KEY, reservation INTEGER NOT NULL) STRICT"},
    {6, 0, "review_of_reservations", "CREATE INDEX review_of_reservations ON review(reservation)"},
    {2, 0, "secret",
     "CREATE TABLE secret(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"},
    {2, 0, "mark",
     "CREATE TABLE mark(dataset TEXT NOT NULL, mark TEXT NOT NULL, "
     "PRIMARY KEY(dataset, mark)) STRICT, WITHOUT ROWID"},
    {2, 0, "mark_of_datasets", "CREATE INDEX mark_of_datasets ON mark(mark)"},
    {4, 0, "user",
     "CREATE TABLE user(name TEXT PRIMARY KEY, role TEXT NOT NULL, expires INTEGER NOT NULL, "
     "issued INTEGER NOT NULL, changed INTEGER NOT NULL, state TEXT NOT NULL) STRICT, WITHOUT ROWID"},
    {4, 0, "allotment",
     "CREATE TABLE allotment(user TEXT NOT NULL, dataset TEXT NOT NULL, filter TEXT NOT NULL, "
     "last INTEGER NOT NULL, PRIMARY KEY(user, dataset)) STRICT, WITHOUT ROWID"},
    {5, 0, "answer",
     "CREATE TABLE answer(answer_key TEXT PRIMARY KEY, committed INTEGER NOT NULL, "
     "salt TEXT NOT NULL, body TEXT NOT NULL) STRICT, WITHOUT ROWID"},
    {5, 0, "wording",
     "CREATE TABLE wording(reservation INTEGER PRIMARY KEY, salt TEXT NOT NULL, "
     "body TEXT NOT NULL) STRICT"},
    {5, 0, "window_page",
     "CREATE TABLE window_page(dataset TEXT NOT NULL, first INTEGER NOT NULL, hash TEXT NOT NULL, "
     "body TEXT NOT NULL, PRIMARY KEY(dataset, first)) STRICT, WITHOUT ROWID"},
    /* Only a row of which the newest one says that it is redacted, and only its body. Functions of
     * JSON are not trusted in a trigger; entries are compact, with sorted keys. */
    {5, 0, "journal_keeps_text",
     "CREATE TRIGGER journal_keeps_text BEFORE UPDATE ON journal WHEN NEW.id IS NOT OLD.id OR "
     "NEW.time IS NOT OLD.time OR NEW.kind IS NOT OLD.kind OR NEW.hash IS NOT OLD.hash OR NOT "
     "EXISTS (SELECT 1 FROM journal newest WHERE newest.id = (SELECT max(id) FROM journal) AND "
     "newest.kind = 'redact' AND instr(newest.body, '{\"hash\":\"' || OLD.hash || '\",\"left\":\"') "
     "> 0 AND instr(newest.body, '\"row\":' || OLD.id || '}') > 0) "
     "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"},
};

enum { SCHEMA_OBJECTS = sizeof schema / sizeof *schema };

static bool is_in(const schema_object *object, int number)
{
    return object->since <= number && (object->last == 0 || number <= object->last);
}

/* Has the file exactly the tables, indexes and triggers of ledger->schema, letter by letter? A
 * foreign trigger could change what a charge does. BRUME_EDAMAGED otherwise. */
static brume_status schema_check(brume_ledger *ledger, brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL", ""));
    size_t found = 0, expected = 0;
    bool row = true, foreign = false;
    brume_status status = BRUME_OK;
    while ((status = brume_store_step(ledger, statement, &row, error)) == BRUME_OK && row) {
        bool known = false;
        for (size_t i = 0; i < SCHEMA_OBJECTS; i++)
            known = known || (is_in(&schema[i], ledger->schema) &&
                              strcmp(schema[i].name, brume_store_text(statement, 0)) == 0 &&
                              strcmp(schema[i].sql, brume_store_text(statement, 1)) == 0);
        found += known;
        foreign = foreign || !known;
    }
    brume_store_finish(statement);
    if (status != BRUME_OK)
        return status;
    for (size_t i = 0; i < SCHEMA_OBJECTS; i++)
        expected += is_in(&schema[i], ledger->schema);
    if (foreign || found != expected)
        return brume_fail(error, BRUME_EDAMAGED, "the file was changed by another program",
                          "the ledger's structure is not the one brume made");
    return BRUME_OK;
}

/* The objects that came after schema `from`, the keys, and the new number. */
static brume_status add_objects(brume_ledger *ledger, int from, const char *doing,
                                brume_error *error)
{
    if (from > 0 && from < 5)
        BRUME_TRY(brume_store_run(ledger,
                                  "DROP TRIGGER journal_keeps_text; "
                                  "ALTER TABLE answer RENAME TO answer_before",
                                  doing, error));
    for (size_t i = 0; i < SCHEMA_OBJECTS; i++)
        if (schema[i].since > from && is_in(&schema[i], BRUME_LEDGER_SCHEMA))
            BRUME_TRY(brume_store_run(ledger, schema[i].sql, doing, error));
    if (from > 0 && from < 5)
        BRUME_TRY(brume_store_run(ledger,
                                  "INSERT INTO answer(answer_key, committed, salt, body) SELECT "
                                  "answer_key, committed, '', body FROM answer_before; "
                                  "DROP TABLE answer_before",
                                  doing, error));
    char pragma[96];
    snprintf(pragma, sizeof pragma, "PRAGMA application_id=%d; PRAGMA user_version=%d",
             BRUME_LEDGER_APPLICATION, BRUME_LEDGER_SCHEMA);
    ledger->schema = BRUME_LEDGER_SCHEMA;
    return brume_store_run(ledger, pragma, doing, error);
}

brume_status brume_store_add_keys(brume_ledger *ledger, int from, brume_error *error)
{
    if (from < 2)
        BRUME_TRY(brume_mark_make_key(ledger, error));
    if (from < 4)
        BRUME_TRY(brume_secret_draw(ledger, BRUME_DECOY_KEY, error));
    if (from < 5)
        BRUME_TRY(brume_secret_draw(ledger, BRUME_ANSWER_SECRET, error));
    return from == 0 ? brume_journal_append(ledger, "create", json_object(), error) : BRUME_OK;
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
    brume_statement *statement = NULL;
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
    brume_store_finish(statement);
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

/* Bring an older ledger to BRUME_LEDGER_SCHEMA, inside the current write transaction: verified
 * before and after, the journal only continued. BRUME_EDAMAGED if it did not hold before. */
static brume_status schema_migrate(brume_ledger *ledger, brume_error *error)
{
    brume_ledger_report before, after;
    int from = ledger->schema;
    BRUME_TRY(brume_verify_now(ledger, &before, error));
    brume_status status = add_objects(ledger, from, "migrating the ledger", error);
    if (status == BRUME_OK)
        status = brume_store_add_keys(ledger, from, error);
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

static brume_status read_number(brume_ledger *ledger, const char *sql, int64_t *out,
                                brume_error *error)
{
    brume_statement *statement = NULL;
    bool row = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, sql, ""));
    brume_status status = brume_store_step(ledger, statement, &row, error);
    if (status == BRUME_OK)
        *out = row ? brume_store_int(statement, 0) : 0;
    brume_store_finish(statement);
    return status;
}

/* All three at one moment: another process may just be making the file. */
static brume_status read_identity(brume_ledger *ledger, int64_t *application, int64_t *version,
                                  int64_t *objects, brume_error *error)
{
    bool alone = sqlite3_get_autocommit(ledger->store) != 0;
    if (alone)
        BRUME_TRY(brume_store_run(ledger, "BEGIN", "opening the ledger", error));
    brume_status status = read_number(ledger, "SELECT count(*) FROM sqlite_schema", objects, error);
    if (status == BRUME_OK)
        status = read_number(ledger, "PRAGMA application_id", application, error);
    if (status == BRUME_OK)
        status = read_number(ledger, "PRAGMA user_version", version, error);
    if (alone)
        brume_store_undo(ledger);
    return status;
}

/* Is this a ledger this build can use, or (where `create`) an empty file? Changes nothing but
 * ledger->schema. */
static brume_status check_identity(brume_ledger *ledger, bool create, bool *empty,
                                   brume_error *error)
{
    int64_t application = 0, version = 0, objects = 0;
    BRUME_TRY(read_identity(ledger, &application, &version, &objects, error));
    *empty = application == 0 && version == 0 && objects == 0;
    if (create && *empty)
        return BRUME_OK;
    if (application != BRUME_LEDGER_APPLICATION || version < 1)
        return brume_fail(error, BRUME_EDAMAGED, "name another file with --ledger",
                          "the file is not a brume ledger");
    if (version > BRUME_LEDGER_SCHEMA)
        return brume_fail(error, BRUME_EUNSUPPORTED, "use the brume that wrote it, or a newer one",
                          "the ledger has schema %d, this brume knows up to %d", (int)version,
                          BRUME_LEDGER_SCHEMA);
    ledger->schema = (int)version;
    return BRUME_OK;
}

/* Inside a write transaction if the ledger is writable: of two processes that make or migrate a
 * ledger one does it and the other finds it done. Reading leaves an older schema as it is. */
static brume_status check_or_create(brume_ledger *ledger, brume_ledger_mode mode,
                                    brume_error *error)
{
    bool empty = false, create = mode == BRUME_LEDGER_CREATE || mode == BRUME_LEDGER_EMPTY;
    BRUME_TRY(check_identity(ledger, create, &empty, error));
    if (empty) {
        BRUME_TRY(add_objects(ledger, 0, "making the ledger", error));
        return mode == BRUME_LEDGER_EMPTY ? BRUME_OK : brume_store_add_keys(ledger, 0, error);
    }
    BRUME_TRY(schema_check(ledger, error));
    if (ledger->writable && ledger->schema < BRUME_LEDGER_SCHEMA)
        return schema_migrate(ledger, error);
    return BRUME_OK;
}

/* Switch to the write-ahead log. While another process makes the file the switch is refused at
 * once, without waiting: then wait here. */
static brume_status use_log(brume_ledger *ledger, brume_error *error)
{
    for (int waited = 0;; waited += 10) {
        sqlite3_stmt *statement = NULL;
        bool logging = false;
        int code =
            sqlite3_prepare_v2(ledger->store, "PRAGMA journal_mode=WAL", -1, &statement, NULL);
        if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            logging = strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
            code = SQLITE_OK;
        }
        sqlite3_finalize(statement);
        if (logging)
            return BRUME_OK;
        bool busy = code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY ||
                    (code & 0xff) == SQLITE_LOCKED;
        if (!busy || waited >= BRUME_STORE_BUSY_MILLISECONDS)
            return brume_sqlite_fail(ledger->store, "opening the ledger", error);
        sqlite3_sleep(10);
    }
}

/* Older SQLite has no octet_length, and PostgreSQL no cast to BLOB. */
static void octet_length(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        sqlite3_result_int64(context, sqlite3_value_bytes(values[0]));
}

static brume_status configure(brume_ledger *ledger, brume_error *error)
{
    if (sqlite3_create_function(ledger->store, "octet_length", 1,
                                SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, octet_length, NULL,
                                NULL) != SQLITE_OK)
        return brume_sqlite_fail(ledger->store, "opening the ledger", error);
    sqlite3_busy_timeout(ledger->store, BRUME_STORE_BUSY_MILLISECONDS);
    (void)sqlite3_db_config(ledger->store, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(ledger->store, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (!ledger->writable)
        return brume_store_run(ledger, "PRAGMA query_only=1", "opening the ledger", error);
    BRUME_TRY(use_log(ledger, error));
    /* FULL: the log is synced at each commit, so a commit that returned is on disk. */
    return brume_store_run(ledger, "PRAGMA synchronous=FULL; PRAGMA cell_size_check=1",
                           "opening the ledger", error);
}

/* Look at the file as a file: make an empty one, readable by its owner only, where asked. */
static brume_status prepare_file(const char *path, brume_ledger_mode mode, brume_error *error)
{
    struct stat file;
    if (stat(path, &file) == 0) {
        if (S_ISREG(file.st_mode))
            return brume_store_check_names(&file, error);
        return brume_fail(error, BRUME_EDAMAGED, "name another file with --ledger",
                          "'%s' is not a file", path);
    }
    if (mode != BRUME_LEDGER_CREATE && mode != BRUME_LEDGER_EMPTY)
        return brume_fail(error, BRUME_ESOURCE,
                          "register a dataset first, or name the ledger with --ledger",
                          "no ledger at '%s'", path);
    int descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot make the ledger '%s': %s", path,
                          strerror(errno));
    close(descriptor);
    return BRUME_OK;
}

static brume_status open_file(const char *path, brume_ledger_mode mode, brume_ledger *ledger,
                              brume_error *error)
{
    sqlite3 *database = NULL;
    ledger->engine = &brume_sqlite_engine;
    BRUME_TRY(prepare_file(path, mode, error));
    /* A name such as ":memory:" means a file here, and never SQLite's memory. */
    char *plain = sqlite3_mprintf("%s%s", *path == '/' ? "" : "./", path);
    if (!plain)
        return brume_fail(error, BRUME_EMEMORY, NULL, "opening the ledger: out of memory");
    /* Reading opens for writing too, where possible: a write-ahead log is read through an index
     * that may have to be made. */
    int code =
        sqlite3_open_v2(plain, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL);
    ledger->store = database;
    sqlite3_free(plain);
    if (code != SQLITE_OK) {
        if (!database)
            return brume_fail(error, BRUME_EMEMORY, NULL, "opening the ledger: out of memory");
        return brume_sqlite_fail(ledger->store, "opening the ledger", error);
    }
    sqlite3_busy_timeout(ledger->store, BRUME_STORE_BUSY_MILLISECONDS);
    if (!(ledger->place = strdup(sqlite3_db_filename(ledger->store, "main"))))
        return brume_fail(error, BRUME_EMEMORY, NULL, "opening the ledger: out of memory");
    bool create = mode == BRUME_LEDGER_CREATE || mode == BRUME_LEDGER_EMPTY, empty = false;
    BRUME_TRY(check_identity(ledger, create, &empty, error)); /* before anything is changed */
    ledger->writable = mode != BRUME_LEDGER_READ;
    if (ledger->writable && sqlite3_db_readonly(ledger->store, "main") == 1)
        return brume_fail(error, BRUME_EDISK, "the ledger and its folder must be writable",
                          !empty && ledger->schema < BRUME_LEDGER_SCHEMA
                              ? "the ledger '%s' is of an older schema, and read-only: it cannot "
                                "be migrated"
                              : "the ledger '%s' is read-only",
                          path);
    BRUME_TRY(configure(ledger, error));
    if (!ledger->writable)
        return check_or_create(ledger, mode, error);
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = check_or_create(ledger, mode, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

static brume_status check_empty(brume_ledger *ledger, brume_error *error)
{
    uint64_t next = 0;
    BRUME_TRY(brume_journal_next(ledger, &next, error));
    return next == 1 ? BRUME_OK
                     : brume_fail(error, BRUME_EPOLICY, "name a place that has none",
                                  "there is a ledger at that place already");
}

brume_status brume_ledger_open(const char *path, brume_ledger_mode mode, brume_ledger **out,
                               brume_error *error)
{
    brume_ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger)
        return brume_fail(error, BRUME_EMEMORY, NULL, "opening the ledger: out of memory");
    brume_status status = brume_ledger_is_on_a_server(path)
                              ? brume_postgres_open(path, mode, ledger, error)
                              : open_file(path, mode, ledger, error);
    if (status == BRUME_OK && mode == BRUME_LEDGER_EMPTY)
        status = check_empty(ledger, error);
    if (status != BRUME_OK) {
        brume_ledger_close(ledger);
        return status;
    }
    /* From now on, in every engine: a ledger that is behind its witness can be opened, to be looked
     * at or accepted. */
    ledger->check_before = brume_witness_check;
    ledger->tell_after = brume_witness_tell;
    *out = ledger;
    return BRUME_OK;
}

void brume_ledger_close(brume_ledger *ledger)
{
    if (!ledger)
        return;
    if (ledger->stream_on_server) /* while the session is ours */
        brume_ledger_end_stream(ledger);
    if (ledger->store)
        ledger->engine->close(ledger->store);
    brume_ledger_end_stream(ledger);
    free(ledger->place);
    if (ledger->witness_state)
        ledger->witness_server->close(ledger->witness_state);
    free(ledger->mark_key);
    free(ledger->answer_secret);
    free(ledger->user);
    free(ledger->project);
    free(ledger);
}
