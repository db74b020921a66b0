/* The SQLite file under the ledger: opening, transactions, statements.
 *
 * Promise: a file that brume_ledger_open accepts is a ledger of a schema that this build knows,
 * with exactly its tables, indexes and triggers; opened for writing it has this build's own schema.
 */
#include "ledger/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "ledger/schema.h"

enum { BUSY_MILLISECONDS = 30000 };

brume_status brume_store_fail(brume_ledger *ledger, const char *doing, brume_error *error)
{
    int code = sqlite3_errcode(ledger->database) & 0xff;
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
                          "%s: the ledger stayed locked for %d s", doing, BUSY_MILLISECONDS / 1000);
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

brume_status brume_store_run(brume_ledger *ledger, const char *sql, const char *doing,
                             brume_error *error)
{
    if (sqlite3_exec(ledger->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        return brume_store_fail(ledger, doing, error);
    return BRUME_OK;
}

/* SQLite names the log after the file: under two names there would be two logs and two locks, and
 * charges that do not see each other. */
static brume_status check_names(const struct stat *file, brume_error *error)
{
    if (file->st_nlink <= 1)
        return BRUME_OK;
    return brume_fail(error, BRUME_EDAMAGED, "remove all its names but one",
                      "the ledger has several names (hard links), which would not see each other's "
                      "charges");
}

/* What is written must be in the file that the next process opens. */
static brume_status check_place(brume_ledger *ledger, brume_error *error)
{
    struct stat file;
    int moved = 0;
    const char *path = sqlite3_db_filename(ledger->database, "main");
    if (sqlite3_file_control(ledger->database, "main", SQLITE_FCNTL_HAS_MOVED, &moved) !=
            SQLITE_OK ||
        moved || !path || stat(path, &file) != 0)
        return brume_fail(error, BRUME_EDAMAGED, "put it back, and check it with 'ledger verify'",
                          "the ledger was moved or replaced while it was in use");
    return check_names(&file, error);
}

brume_status brume_store_begin(brume_ledger *ledger, brume_error *error)
{
    if (!ledger->writable)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the ledger was opened for reading only");
    BRUME_TRY(brume_store_run(ledger, "BEGIN IMMEDIATE", "locking the ledger", error));
    brume_status status = check_place(ledger, error);
    if (status != BRUME_OK)
        brume_store_undo(ledger);
    return status;
}

brume_status brume_store_commit(brume_ledger *ledger, brume_error *error)
{
    brume_status status = brume_store_run(ledger, "COMMIT", "writing the ledger", error);
    if (status != BRUME_OK)
        brume_store_undo(ledger);
    return status;
}

void brume_store_undo(brume_ledger *ledger)
{
    if (!sqlite3_get_autocommit(ledger->database))
        (void)sqlite3_exec(ledger->database, "ROLLBACK", NULL, NULL, NULL);
}

static brume_status prepare(brume_ledger *ledger, sqlite3_stmt **out, brume_error *error,
                            const char *sql, const char *types, va_list arguments)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(ledger->database, sql, -1, &statement, NULL);
    for (int i = 0; code == SQLITE_OK && types[i]; i++) {
        if (types[i] == 't')
            code = sqlite3_bind_text(statement, i + 1, va_arg(arguments, const char *), -1,
                                     SQLITE_TRANSIENT);
        else
            code = sqlite3_bind_int64(statement, i + 1, va_arg(arguments, int64_t));
    }
    if (code != SQLITE_OK) {
        brume_status status = brume_store_fail(ledger, "reading the ledger", error);
        sqlite3_finalize(statement);
        return status;
    }
    *out = statement;
    return BRUME_OK;
}

brume_status brume_store_prepare(brume_ledger *ledger, sqlite3_stmt **out, brume_error *error,
                                 const char *sql, const char *types, ...)
{
    va_list arguments;
    va_start(arguments, types);
    brume_status status = prepare(ledger, out, error, sql, types, arguments);
    va_end(arguments);
    return status;
}

brume_status brume_store_execute(brume_ledger *ledger, brume_error *error, const char *sql,
                                 const char *types, ...)
{
    va_list arguments;
    va_start(arguments, types);
    sqlite3_stmt *statement = NULL;
    brume_status status = prepare(ledger, &statement, error, sql, types, arguments);
    va_end(arguments);
    if (status != BRUME_OK)
        return status;
    if (sqlite3_step(statement) != SQLITE_DONE)
        status = brume_store_fail(ledger, "writing the ledger", error);
    sqlite3_finalize(statement);
    return status;
}

brume_status brume_store_step(brume_ledger *ledger, sqlite3_stmt *statement, bool *row,
                              brume_error *error)
{
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return brume_store_fail(ledger, "reading the ledger", error);
    *row = code == SQLITE_ROW;
    return BRUME_OK;
}

const char *brume_store_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? (const char *)text : "";
}

static brume_status read_number(brume_ledger *ledger, const char *sql, int64_t *out,
                                brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, sql, ""));
    brume_status status = brume_store_step(ledger, statement, &row, error);
    if (status == BRUME_OK)
        *out = row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return status;
}

/* All three at one moment: another process may just be making the file. */
static brume_status read_identity(brume_ledger *ledger, int64_t *application, int64_t *version,
                                  int64_t *objects, brume_error *error)
{
    bool alone = sqlite3_get_autocommit(ledger->database) != 0;
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
static brume_status check_or_create(brume_ledger *ledger, bool create, brume_error *error)
{
    bool empty = false;
    BRUME_TRY(check_identity(ledger, create, &empty, error));
    if (empty)
        return brume_schema_create(ledger, error);
    BRUME_TRY(brume_schema_check(ledger, error));
    if (ledger->writable && ledger->schema < BRUME_LEDGER_SCHEMA)
        return brume_schema_migrate(ledger, error);
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
            sqlite3_prepare_v2(ledger->database, "PRAGMA journal_mode=WAL", -1, &statement, NULL);
        if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            logging = strcmp(brume_store_text(statement, 0), "wal") == 0;
            code = SQLITE_OK;
        }
        sqlite3_finalize(statement);
        if (logging)
            return BRUME_OK;
        bool busy = code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY ||
                    (code & 0xff) == SQLITE_LOCKED;
        if (!busy || waited >= BUSY_MILLISECONDS)
            return brume_store_fail(ledger, "opening the ledger", error);
        sqlite3_sleep(10);
    }
}

static brume_status configure(brume_ledger *ledger, brume_error *error)
{
    sqlite3_busy_timeout(ledger->database, BUSY_MILLISECONDS);
    (void)sqlite3_db_config(ledger->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(ledger->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
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
            return check_names(&file, error);
        return brume_fail(error, BRUME_EDAMAGED, "name another file with --ledger",
                          "'%s' is not a file", path);
    }
    if (mode != BRUME_LEDGER_CREATE)
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
    BRUME_TRY(prepare_file(path, mode, error));
    /* A name such as ":memory:" means a file here, and never SQLite's memory. */
    char *plain = sqlite3_mprintf("%s%s", *path == '/' ? "" : "./", path);
    if (!plain)
        return brume_fail(error, BRUME_EMEMORY, NULL, "opening the ledger: out of memory");
    /* Reading opens for writing too, where possible: a write-ahead log is read through an index
     * that may have to be made. */
    int code = sqlite3_open_v2(plain, &ledger->database,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL);
    sqlite3_free(plain);
    if (code != SQLITE_OK) {
        if (!ledger->database)
            return brume_fail(error, BRUME_EMEMORY, NULL, "opening the ledger: out of memory");
        return brume_store_fail(ledger, "opening the ledger", error);
    }
    sqlite3_busy_timeout(ledger->database, BUSY_MILLISECONDS);
    bool create = mode == BRUME_LEDGER_CREATE, empty = false;
    BRUME_TRY(check_identity(ledger, create, &empty, error)); /* before anything is changed */
    ledger->writable = mode != BRUME_LEDGER_READ;
    if (ledger->writable && sqlite3_db_readonly(ledger->database, "main") == 1)
        return brume_fail(error, BRUME_EDISK, "the ledger and its folder must be writable",
                          !empty && ledger->schema < BRUME_LEDGER_SCHEMA
                              ? "the ledger '%s' is of an older schema, and read-only: it cannot "
                                "be migrated"
                              : "the ledger '%s' is read-only",
                          path);
    BRUME_TRY(configure(ledger, error));
    if (!ledger->writable)
        return check_or_create(ledger, false, error);
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = check_or_create(ledger, create, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

brume_status brume_ledger_open(const char *path, brume_ledger_mode mode, brume_ledger **out,
                               brume_error *error)
{
    brume_ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger)
        return brume_fail(error, BRUME_EMEMORY, NULL, "opening the ledger: out of memory");
    brume_status status = open_file(path, mode, ledger, error);
    if (status != BRUME_OK) {
        brume_ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return BRUME_OK;
}

void brume_ledger_close(brume_ledger *ledger)
{
    if (!ledger)
        return;
    sqlite3_close_v2(ledger->database);
    free(ledger->mark_key);
    free(ledger);
}
