/* The SQLite file under the ledger: transactions and statements. Promises: store.h; a transaction
 * begins only in the file that the next process will open. */
#include "ledger/store.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <sys/random.h>
#include <sys/stat.h>

#include "base/error.h"

/* ---- what the ledger knows and shows nobody ---- */

enum { SECRET_BYTES = 32 };

brume_status brume_secret_set(brume_ledger *ledger, const char *name, const char *value,
                              brume_error *error)
{
    return brume_store_execute(ledger, error, "INSERT INTO secret(name, value) VALUES(?1,?2)", "tt",
                               name, value);
}

brume_status brume_secret_replace(brume_ledger *ledger, const char *name, const char *value,
                                  brume_error *error)
{
    return brume_store_execute(ledger, error,
                               "INSERT INTO secret(name, value) VALUES(?1,?2) "
                               "ON CONFLICT(name) DO UPDATE SET value=?2",
                               "tt", name, value);
}

brume_status brume_secret_forget(brume_ledger *ledger, const char *name, brume_error *error)
{
    return brume_store_execute(ledger, error, "DELETE FROM secret WHERE name = ?1", "t", name);
}

brume_status brume_random_digits(char *digits, size_t count, brume_error *error)
{
    unsigned char bytes[SECRET_BYTES];
    size_t got = 0;
    while (got < count) {
        ssize_t more = getrandom(bytes + got, count - got, 0);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return brume_fail(error, BRUME_ERANDOM, NULL, "the kernel gives no random bytes");
        got += (size_t)more;
    }
    for (size_t i = 0; i < count; i++)
        sqlite3_snprintf(3, digits + 2 * i, "%02x", bytes[i]);
    return BRUME_OK;
}

brume_status brume_secret_draw(brume_ledger *ledger, const char *name, brume_error *error)
{
    char digits[2 * SECRET_BYTES + 1];
    BRUME_TRY(brume_random_digits(digits, SECRET_BYTES, error));
    return brume_secret_set(ledger, name, digits, error);
}

brume_status brume_secret_read(brume_ledger *ledger, const char *name, char **value,
                               brume_error *error)
{
    *value = NULL;
    if (ledger->schema == 1)
        return BRUME_OK; /* it had none */
    sqlite3_stmt *statement = NULL;
    bool row = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT value FROM secret WHERE name = ?1", "t", name));
    brume_status status = brume_store_step(ledger, statement, &row, error);
    if (status == BRUME_OK && row && !(*value = strdup(brume_store_text(statement, 0))))
        status = brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
    sqlite3_finalize(statement);
    return status;
}

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

brume_status brume_store_run(brume_ledger *ledger, const char *sql, const char *doing,
                             brume_error *error)
{
    if (sqlite3_exec(ledger->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        return brume_store_fail(ledger, doing, error);
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
    return brume_store_check_names(&file, error);
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
