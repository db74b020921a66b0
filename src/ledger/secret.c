/* What the ledger knows and shows nobody. */
#include "ledger/secret.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"

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

brume_status brume_secret_draw(brume_ledger *ledger, const char *name, brume_error *error)
{
    unsigned char bytes[SECRET_BYTES];
    char digits[2 * SECRET_BYTES + 1];
    size_t got = 0;
    while (got < sizeof bytes) {
        ssize_t more = getrandom(bytes + got, sizeof bytes - got, 0);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return brume_fail(error, BRUME_ERANDOM, NULL, "the kernel gives no random bytes");
        got += (size_t)more;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        sqlite3_snprintf(3, digits + 2 * i, "%02x", bytes[i]);
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
