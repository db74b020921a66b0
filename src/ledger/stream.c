/* Streams of questions: how far one came, and that there is one at a time.
 *
 * Promise: a row of progress changes no charge and no state of a dataset. The lock is advisory and
 * falls with the process that holds it, so that a killed stream keeps nobody out. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
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

/* The lock is a flock, which is apart from the locks that SQLite takes on the same file. Those are
 * of the process, and closing any descriptor of the file drops them for all its connections, after
 * which another process could remove the log that they write to. So a process opens a descriptor
 * once for each ledger, and never closes it. */
typedef struct held_file {
    dev_t device;
    ino_t number;
    pid_t process; /* that opened it: a child shares the lock, and must not let it go */
    int file;
    bool taken;
    struct held_file *next;
} held_file;

static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;
static held_file *held;

/* With held_lock held. NULL: errno says why. */
static held_file *find_file(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return NULL;
    for (held_file *one = held; one; one = one->next)
        if (one->device == about.st_dev && one->number == about.st_ino && one->process == getpid())
            return one;
    held_file *made = calloc(1, sizeof *made);
    int file = made ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) {
        free(made);
        return NULL;
    }
    *made = (held_file){.device = about.st_dev,
                        .number = about.st_ino,
                        .process = getpid(),
                        .file = file,
                        .next = held};
    held = made;
    return made;
}

static brume_status take(brume_ledger *ledger, brume_error *error)
{
    held_file *file = find_file(sqlite3_db_filename(ledger->database, "main"));
    if (!file)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot lock the ledger: %s", strerror(errno));
    if (file->taken || flock(file->file, LOCK_EX | LOCK_NB) != 0) {
        if (!file->taken && errno != EWOULDBLOCK)
            return brume_fail(error, BRUME_EDISK, NULL, "cannot lock the ledger: %s",
                              strerror(errno));
        return brume_fail(error, BRUME_EPOLICY, "end the other one first, or wait for it",
                          "another stream is open on this ledger: nothing was charged");
    }
    file->taken = true;
    ledger->stream_lock = file;
    return BRUME_OK;
}

brume_status brume_ledger_begin_stream(brume_ledger *ledger, brume_error *error)
{
    if (ledger->stream_lock)
        return BRUME_OK;
    pthread_mutex_lock(&held_lock);
    brume_status status = take(ledger, error);
    pthread_mutex_unlock(&held_lock);
    return status;
}

void brume_ledger_end_stream(brume_ledger *ledger)
{
    held_file *file = ledger->stream_lock;
    ledger->stream_lock = NULL;
    if (!file || file->process != getpid())
        return;
    pthread_mutex_lock(&held_lock);
    file->taken = false;
    (void)flock(file->file, LOCK_UN); /* cannot fail on a lock that is held */
    pthread_mutex_unlock(&held_lock);
}
