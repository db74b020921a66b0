/* The ledger in a SQLite file: see store.h; open.c opens it.
 *
 * Promise: a transaction begins only in the file that the next process will open. */
#include "ledger/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/error.h"

typedef struct sqlite_statement {
    brume_statement base;
    sqlite3_stmt *own;
} sqlite_statement;

static sqlite3_stmt *own(brume_statement *statement)
{
    return ((sqlite_statement *)statement)->own;
}

brume_status brume_sqlite_fail(sqlite3 *database, const char *doing, brume_error *error)
{
    int code = sqlite3_errcode(database) & 0xff;
    const char *text = sqlite3_errstr(code);
    switch (code) {
    case SQLITE_FULL:
        return brume_fail(error, BRUME_EDISK, "free some space and ask again", "%s: disk full",
                          doing);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return brume_fail(error, BRUME_EDISK, "the ledger and its folder must be writable",
                          "%s: the ledger is read-only", doing);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return brume_fail(error, BRUME_EDISK, "another process holds the ledger; try again",
                          "%s: the ledger stayed locked for %d s", doing,
                          BRUME_STORE_BUSY_MILLISECONDS / 1000);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return brume_fail(error, BRUME_EDISK,
                          "may the file and its folder be written? is the disk full or read-only?",
                          "%s: %s", doing, text);
    case SQLITE_NOMEM:
        return brume_fail(error, BRUME_EMEMORY, NULL, "%s: out of memory", doing);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_ERROR: /* brume's statements are fixed: on its own schema they are right */
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return brume_fail(error, BRUME_EDAMAGED,
                          "restore the ledger from a copy and check it against an export", "%s: %s",
                          doing, text);
    case SQLITE_CONSTRAINT:
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "%s: the ledger contradicts itself", doing);
    default:
        return brume_fail(error, BRUME_EINTERNAL, NULL, "%s: %s", doing, text);
    }
}

static brume_status run(void *store, const char *sql, const char *doing, brume_error *error)
{
    if (sqlite3_exec(store, sql, NULL, NULL, NULL) != SQLITE_OK)
        return brume_sqlite_fail(store, doing, error);
    return BRUME_OK;
}

brume_status brume_store_check_names(const struct stat *file, brume_error *error)
{
    if (file->st_nlink <= 1)
        return BRUME_OK;
    return brume_fail(error, BRUME_EDAMAGED, "remove all its names but one",
                      "the ledger has several names (hard links), which would not see each other's "
                      "charges");
}

/* What is written must be in the file that the next process opens. */
static brume_status check_place(sqlite3 *database, brume_error *error)
{
    struct stat file;
    int moved = 0;
    const char *path = sqlite3_db_filename(database, "main");
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK ||
        moved || !path || stat(path, &file) != 0)
        return brume_fail(error, BRUME_EDAMAGED, "put it back, and check it with 'ledger verify'",
                          "the ledger was moved or replaced while it was in use");
    return brume_store_check_names(&file, error);
}

static void undo(void *store)
{
    if (!sqlite3_get_autocommit(store))
        (void)sqlite3_exec(store, "ROLLBACK", NULL, NULL, NULL);
}

static brume_status begin(void *store, brume_error *error)
{
    BRUME_TRY(run(store, "BEGIN IMMEDIATE", "locking the ledger", error));
    brume_status status = check_place(store, error);
    if (status != BRUME_OK)
        undo(store);
    return status;
}

static brume_status begin_reading(void *store, brume_error *error)
{
    return run(store, "BEGIN", "reading the ledger", error);
}

static brume_status commit(void *store, brume_error *error)
{
    brume_status status = run(store, "COMMIT", "writing the ledger", error);
    if (status != BRUME_OK)
        undo(store);
    return status;
}

static brume_status prepare(void *store, const char *sql, const brume_store_value *values,
                            size_t count, brume_statement **out, brume_error *error)
{
    sqlite_statement *made = malloc(sizeof *made);
    if (!made)
        return brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
    *made = (sqlite_statement){.base.engine = &brume_sqlite_engine};
    int code = sqlite3_prepare_v2(store, sql, -1, &made->own, NULL);
    for (size_t i = 0; code == SQLITE_OK && i < count; i++)
        code = values[i].is_text
                   ? sqlite3_bind_text(made->own, (int)i + 1, values[i].text, -1, SQLITE_TRANSIENT)
                   : sqlite3_bind_int64(made->own, (int)i + 1, values[i].number);
    if (code != SQLITE_OK) {
        brume_status status = brume_sqlite_fail(store, "reading the ledger", error);
        sqlite3_finalize(made->own);
        free(made);
        return status;
    }
    *out = &made->base;
    return BRUME_OK;
}

static brume_status step(void *store, brume_statement *statement, bool *row, brume_error *error)
{
    int code = sqlite3_step(own(statement));
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return brume_sqlite_fail(store,
                                 sqlite3_stmt_readonly(own(statement)) ? "reading the ledger"
                                                                       : "writing the ledger",
                                 error);
    *row = code == SQLITE_ROW;
    return BRUME_OK;
}

static const char *text(brume_statement *statement, int column)
{
    return (const char *)sqlite3_column_text(own(statement), column);
}

static int columns(brume_statement *statement)
{
    return sqlite3_column_count(own(statement));
}

static void finish(brume_statement *statement)
{
    sqlite3_finalize(own(statement));
    free(statement);
}

/* SQLite's own check of pages and indexes. */
static brume_status check(void *store, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    bool good = code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW &&
                strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    if (good)
        return BRUME_OK;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return brume_sqlite_fail(store, "reading the ledger", error);
    return brume_fail(error, BRUME_EDAMAGED, "restore a copy and check it against an export",
                      "the ledger's file is damaged");
}

static brume_status prepare_purge(void *store, brume_error *error)
{
    return run(store, "PRAGMA secure_delete = ON", "writing the ledger", error);
}

/* The log into the file, all of it; EDISK while somebody else reads an older state. */
static brume_status empty_log(sqlite3 *database, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(database, "PRAGMA wal_checkpoint(TRUNCATE)", -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    bool whole = code == SQLITE_ROW && sqlite3_column_int64(statement, 0) == 0;
    sqlite3_finalize(statement);
    if (whole)
        return BRUME_OK;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return brume_sqlite_fail(database, "reading the ledger", error);
    return brume_fail(error, BRUME_EDISK,
                      "end other programs that use the ledger, and do it again: it finishes",
                      "the texts are redacted, and still in the ledger's log: somebody is "
                      "reading it");
}

/* Every page anew, without what was deleted from it. */
static brume_status purge(void *store, brume_error *error)
{
    BRUME_TRY(empty_log(store, error));
    BRUME_TRY(run(store, "VACUUM", "writing the ledger anew", error));
    return empty_log(store, error);
}

static bool identify(void *store, char out[BRUME_STORE_IDENTITY])
{
    struct stat about;
    const char *path = sqlite3_db_filename(store, "main");
    if (!path || stat(path, &about) != 0)
        return false;
    snprintf(out, BRUME_STORE_IDENTITY, "%llu:%llu", (unsigned long long)about.st_dev,
             (unsigned long long)about.st_ino);
    return true;
}

static void close_store(void *store)
{
    sqlite3_close_v2(store);
}

const brume_store_engine brume_sqlite_engine = {
    .close = close_store,
    .identify = identify,
    .run = run,
    .begin = begin,
    .begin_reading = begin_reading,
    .commit = commit,
    .undo = undo,
    .prepare = prepare,
    .step = step,
    .text = text,
    .columns = columns,
    .finish = finish,
    .check = check,
    .prepare_purge = prepare_purge,
    .purge = purge,
};
