/* Streams of questions: how far one came, and that there is one at a time.
 *
 * Promise: a row of progress changes no charge and no state of a dataset. The lock is advisory and
 * falls with the process that holds it, so that a killed stream keeps nobody out. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "ledger/journal.h"

/* ---- progress ---- */

static brume_status check_open(brume_ledger *ledger, uint64_t id, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT 1 FROM reservation WHERE id=?1 AND state='reserved'", "i",
                                  (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    sqlite3_finalize(statement);
    if (status == BRUME_OK && !found)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no open reservation %llu",
                          (unsigned long long)id);
    return status;
}

static brume_status write_progress(brume_ledger *ledger, uint64_t id, uint64_t asked, uint64_t hits,
                                   brume_error *error)
{
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(check_open(ledger, id, error));
    json_t *body = json_pack("{s:I,s:I,s:I}", "reservation", (json_int_t)id, "asked",
                             (json_int_t)asked, "hits", (json_int_t)hits);
    return brume_journal_append(ledger, "progress", body, error);
}

brume_status brume_ledger_progress(brume_ledger *ledger, uint64_t id, uint64_t asked, uint64_t hits,
                                   brume_error *error)
{
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = write_progress(ledger, id, asked, hits, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

/* ---- one at a time ---- */

brume_status brume_ledger_begin_stream(brume_ledger *ledger, brume_error *error)
{
    if (ledger->stream_lock > 0)
        return BRUME_OK;
    const char *path = sqlite3_db_filename(ledger->database, "main");
    /* flock, which is apart from the locks that SQLite takes on the same file; the descriptor is
     * closed after SQLite's, because closing one drops the other locks of the process. */
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot lock the ledger: %s", strerror(errno));
    ledger->stream_lock = file;
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
        return BRUME_OK;
    if (errno != EWOULDBLOCK)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot lock the ledger: %s", strerror(errno));
    return brume_fail(error, BRUME_EPOLICY, "end the other one first, or wait for it",
                      "another stream is open on this ledger: nothing was charged");
}
