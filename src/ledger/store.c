/* What every engine under the ledger shares: see store.h. */
#include "ledger/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/random.h>

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
        snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
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
    brume_statement *statement = NULL;
    bool row = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT value FROM secret WHERE name = ?1", "t", name));
    brume_status status = brume_store_step(ledger, statement, &row, error);
    if (status == BRUME_OK && row && !(*value = strdup(brume_store_text(statement, 0))))
        status = brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
    brume_store_finish(statement);
    return status;
}

brume_status brume_store_run(brume_ledger *ledger, const char *sql, const char *doing,
                             brume_error *error)
{
    return ledger->engine->run(ledger->store, sql, doing, error);
}

brume_status brume_store_lock(brume_ledger *ledger, brume_error *error)
{
    if (!ledger->writable)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the ledger was opened for reading only");
    return ledger->engine->begin(ledger->store, error);
}

brume_status brume_store_begin_reading(brume_ledger *ledger, brume_error *error)
{
    return ledger->engine->begin_reading(ledger->store, error);
}

brume_status brume_store_begin(brume_ledger *ledger, brume_error *error)
{
    BRUME_TRY(brume_store_lock(ledger, error));
    brume_status status = ledger->check_before ? ledger->check_before(ledger, error) : BRUME_OK;
    if (status != BRUME_OK)
        brume_store_undo(ledger);
    return status;
}

/* The witness after the disk: the other way round a crash between the two would leave a sound
 * ledger behind its witness. */
brume_status brume_store_commit(brume_ledger *ledger, brume_error *error)
{
    BRUME_TRY(ledger->engine->commit(ledger->store, error));
    return ledger->tell_after ? ledger->tell_after(ledger, error) : BRUME_OK;
}

void brume_store_undo(brume_ledger *ledger)
{
    ledger->engine->undo(ledger->store);
}

static brume_status prepare(brume_ledger *ledger, brume_statement **out, brume_error *error,
                            const char *sql, const char *types, va_list arguments)
{
    enum { MOST_VALUES = 8 };
    brume_store_value values[MOST_VALUES];
    size_t count = 0, given = strlen(types);
    for (; count < given && count < MOST_VALUES; count++) {
        values[count] = (brume_store_value){.is_text = types[count] == 't'};
        if (values[count].is_text)
            values[count].text = va_arg(arguments, const char *);
        else
            values[count].number = va_arg(arguments, int64_t);
    }
    if (count < given)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a statement of too many values");
    return ledger->engine->prepare(ledger->store, sql, values, count, out, error);
}

brume_status brume_store_prepare(brume_ledger *ledger, brume_statement **out, brume_error *error,
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
    brume_statement *statement = NULL;
    brume_status status = prepare(ledger, &statement, error, sql, types, arguments);
    va_end(arguments);
    bool row = true;
    while (status == BRUME_OK && row)
        status = brume_store_step(ledger, statement, &row, error);
    brume_store_finish(statement);
    return status;
}

brume_status brume_store_step(brume_ledger *ledger, brume_statement *statement, bool *row,
                              brume_error *error)
{
    return ledger->engine->step(ledger->store, statement, row, error);
}

const char *brume_store_text(brume_statement *statement, int column)
{
    const char *text = statement->engine->text(statement, column);
    return text ? text : "";
}

int64_t brume_store_int(brume_statement *statement, int column)
{
    return strtoll(brume_store_text(statement, column), NULL, 10);
}

bool brume_store_null(brume_statement *statement, int column)
{
    return !statement->engine->text(statement, column);
}

int brume_store_columns(brume_statement *statement)
{
    return statement->engine->columns(statement);
}

void brume_store_finish(brume_statement *statement)
{
    if (statement)
        statement->engine->finish(statement);
}
