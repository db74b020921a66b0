/* Streams of questions: how far one came, and that there is one at a time.
 *
 * Promise: a row of progress changes no charge and no state of a dataset. The lock is advisory and
 * falls with the process that holds it, so that a killed stream keeps nobody out.
 *
 * Rows of progress are transactions, each of them a write that waits for the disk, so there is one
 * a second at most. In between the number of answers stands in a file beside the ledger,
 * LEDGER.stream, which has one fixed place for it: a write to it waits for nothing, and survives a
 * kill of the process at any moment (a machine that loses its power may lose the last second). The
 * file is locked while its stream is open: until then nobody reads it, because on a server others
 * may see how far a stream came only when a row says so. The next stream puts what it finds into
 * the journal. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "ledger/journal.h"

/* ---- progress ---- */

static brume_status check_open(brume_ledger *ledger, uint64_t id, brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT 1 FROM reservation WHERE id=?1 AND state='reserved'", "i",
                                  (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    brume_store_finish(statement);
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

/* ---- the file beside ---- */

typedef struct stream_note {
    uint64_t reservation, mark, asked, hits, check; /* mark: of this ledger and no other */
} stream_note;

static uint64_t check_of(const stream_note *note)
{
    uint64_t mixed = 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ note->reservation) * 0xff51afd7ed558ccdu;
    mixed = (mixed ^ note->mark) * 0xff51afd7ed558ccdu;
    mixed = (mixed ^ note->asked) * 0xff51afd7ed558ccdu;
    return (mixed ^ note->hits) * 0xff51afd7ed558ccdu;
}

/* ---- on a server ---- */

/* One number for each ledger of the database: two schemas have two. */
#define STREAM_LOCK "(hashtext('brume stream'), hashtext(current_schema()))"

/* Whether SQL gives `true`, false on an error. */
static bool is_true(brume_ledger *ledger, const char *sql)
{
    brume_statement *statement = NULL;
    bool row = false;
    if (brume_store_prepare(ledger, &statement, NULL, sql, "") != BRUME_OK)
        return false;
    bool good = brume_store_step(ledger, statement, &row, NULL) == BRUME_OK && row &&
                strcmp(brume_store_text(statement, 0), "t") == 0;
    brume_store_finish(statement);
    return good;
}

static bool read_server_note(brume_ledger *ledger, stream_note *note)
{
    brume_statement *statement = NULL;
    bool row = false;
    if (brume_store_prepare(ledger, &statement, NULL,
                            "SELECT reservation, mark, asked, hits FROM stream_note WHERE id = 1",
                            "") != BRUME_OK)
        return false;
    if (brume_store_step(ledger, statement, &row, NULL) == BRUME_OK && row)
        *note = (stream_note){.reservation = (uint64_t)brume_store_int(statement, 0),
                              .mark = strtoull(brume_store_text(statement, 1), NULL, 16),
                              .asked = (uint64_t)brume_store_int(statement, 2),
                              .hits = (uint64_t)brume_store_int(statement, 3)};
    brume_store_finish(statement);
    return row;
}

static brume_status write_server_note(brume_ledger *ledger, const stream_note *note,
                                      brume_error *error)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "BEGIN; SET LOCAL synchronous_commit = off; INSERT INTO stream_note VALUES(1, %llu, "
             "'%016llx', %llu, %llu) ON CONFLICT(id) DO UPDATE SET reservation = "
             "excluded.reservation, mark = excluded.mark, asked = excluded.asked, hits = "
             "excluded.hits; COMMIT",
             (unsigned long long)note->reservation, (unsigned long long)note->mark,
             (unsigned long long)note->asked, (unsigned long long)note->hits);
    return brume_store_run(ledger, sql, "writing how far the stream came", error);
}

/* ---- the file beside, and what both have ---- */

/* The file, opened; -1: errno says why. */
static int open_note(const brume_ledger *ledger, bool to_write)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s.stream", ledger->place);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int how = to_write ? O_RDWR | O_CREAT : O_RDONLY;
    return open(path, how | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

/* The beginning of the hash of a row of the journal; 0: there is no such row. */
static brume_status find_mark(brume_ledger *ledger, uint64_t id, uint64_t *mark, brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT substr(hash, 1, 16) FROM journal WHERE id = ?1", "i",
                                  (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    *mark = found ? strtoull(brume_store_text(statement, 0), NULL, 16) : 0;
    brume_store_finish(statement);
    return status;
}

/* False where it is not whole, or of another ledger that had this name. */
static bool read_note(brume_ledger *ledger, int file, stream_note *note)
{
    uint64_t mark = 0;
    *note = (stream_note){0};
    bool whole = ledger->engine->is_server
                     ? read_server_note(ledger, note)
                     : pread(file, note, sizeof *note, 0) == (ssize_t)sizeof *note &&
                           note->check == check_of(note);
    return whole && find_mark(ledger, note->reservation, &mark, NULL) == BRUME_OK && mark > 0 &&
           mark == note->mark;
}

brume_status brume_ledger_stream_note(brume_ledger *ledger, uint64_t id, uint64_t asked,
                                      uint64_t hits, brume_error *error)
{
    if (ledger->stream_id != id) {
        BRUME_TRY(find_mark(ledger, id, &ledger->stream_mark, error));
        ledger->stream_id = id;
    }
    stream_note note = {
        .reservation = id, .mark = ledger->stream_mark, .asked = asked, .hits = hits};
    note.check = check_of(&note);
    if (ledger->engine->is_server)
        return write_server_note(ledger, &note, error);
    if (ledger->stream_note <= 0 ||
        pwrite(ledger->stream_note, &note, sizeof note, 0) != (ssize_t)sizeof note)
        return brume_fail(error, BRUME_EDISK, "is the disk full?",
                          "how far the stream came cannot be written");
    return BRUME_OK;
}

void brume_stream_left(brume_ledger *ledger, uint64_t *id, uint64_t *asked, uint64_t *hits)
{
    stream_note note;
    bool on_server = ledger->engine->is_server;
    int file = on_server ? -1 : open_note(ledger, false);
    *id = 0;
    if (file < 0 && !on_server)
        return;
    bool ended = ledger->stream_on_server ? false
                 : on_server ? is_true(ledger, "SELECT pg_try_advisory_lock_shared" STREAM_LOCK)
                             : flock(file, LOCK_SH | LOCK_NB) == 0;
    if (ended && read_note(ledger, file, &note)) {
        *id = note.reservation;
        *asked = note.asked;
        *hits = note.hits;
    }
    if (ended && on_server)
        (void)is_true(ledger, "SELECT pg_advisory_unlock_shared" STREAM_LOCK);
    if (file >= 0)
        close(file); /* and the lock with it */
}

/* What the journal says that a reservation was asked; 0 without a row. */
static brume_status asked_so_far(brume_ledger *ledger, uint64_t id, uint64_t *asked,
                                 brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT json_extract(body, '$.asked') FROM journal WHERE id > ?1 AND kind = 'progress' AND "
        "json_valid(body) AND CAST(json_extract(body, '$.reservation') AS BIGINT) = ?1 ORDER BY id DESC LIMIT 1",
        "i", (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    *asked = found ? (uint64_t)brume_store_int(statement, 0) : 0;
    brume_store_finish(statement);
    return status;
}

/* A stream that was killed may have come farther than its newest row says. */
static brume_status record_note(brume_ledger *ledger, brume_error *error)
{
    stream_note note;
    uint64_t asked = 0;
    if (!read_note(ledger, ledger->stream_note, &note) ||
        check_open(ledger, note.reservation, NULL) != BRUME_OK)
        return BRUME_OK; /* none was, or it ended in order */
    BRUME_TRY(asked_so_far(ledger, note.reservation, &asked, error));
    return asked < note.asked
               ? brume_ledger_progress(ledger, note.reservation, note.asked, note.hits, error)
               : BRUME_OK;
}

/* A reader of the history may have it locked, for a moment. */
static bool lock_note(int file)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < 1000; i++) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

static brume_status begin_notes(brume_ledger *ledger, brume_error *error)
{
    if (ledger->engine->is_server)
        return record_note(ledger, error);
    int file = open_note(ledger, true);
    if (file < 0 || !lock_note(file)) {
        int why = errno;
        if (file >= 0)
            close(file);
        return brume_fail(error, BRUME_EDISK, NULL, "cannot write beside the ledger: %s",
                          strerror(why));
    }
    ledger->stream_note = file;
    return record_note(ledger, error);
}

static void end_notes(brume_ledger *ledger)
{
    if (ledger->stream_note > 0)
        close(ledger->stream_note);
    ledger->stream_note = 0;
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

static brume_status other_stream(brume_error *error)
{
    return brume_fail(error, BRUME_EPOLICY, "end the other one first, or wait for it",
                      "another stream is open on this ledger: nothing was charged");
}

static brume_status take(brume_ledger *ledger, brume_error *error)
{
    held_file *file = find_file(ledger->place);
    if (!file)
        return brume_fail(error, BRUME_EDISK, NULL, "cannot lock the ledger: %s", strerror(errno));
    if (file->taken || flock(file->file, LOCK_EX | LOCK_NB) != 0) {
        if (!file->taken && errno != EWOULDBLOCK)
            return brume_fail(error, BRUME_EDISK, NULL, "cannot lock the ledger: %s",
                              strerror(errno));
        return other_stream(error);
    }
    file->taken = true;
    ledger->stream_lock = file;
    return BRUME_OK;
}

brume_status brume_ledger_begin_stream(brume_ledger *ledger, brume_error *error)
{
    if (ledger->stream_lock || ledger->stream_on_server)
        return BRUME_OK;
    if (ledger->approvals > 0) /* each answer is told as it comes */
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask in SQL",
                          "a project whose answers are reviewed asks no streams of questions");
    brume_status status = BRUME_OK;
    if (ledger->engine->is_server) {
        ledger->stream_on_server = is_true(ledger, "SELECT pg_try_advisory_lock" STREAM_LOCK);
        status = ledger->stream_on_server ? BRUME_OK : other_stream(error);
    } else {
        pthread_mutex_lock(&held_lock);
        status = take(ledger, error);
        pthread_mutex_unlock(&held_lock);
    }
    if (status == BRUME_OK && (status = begin_notes(ledger, error)) != BRUME_OK)
        brume_ledger_end_stream(ledger);
    return status;
}

void brume_ledger_end_stream(brume_ledger *ledger)
{
    held_file *file = ledger->stream_lock;
    ledger->stream_lock = NULL;
    if (ledger->stream_on_server)
        (void)is_true(ledger, "SELECT pg_advisory_unlock" STREAM_LOCK);
    ledger->stream_on_server = false;
    end_notes(ledger);
    if (!file || file->process != getpid())
        return;
    pthread_mutex_lock(&held_lock);
    file->taken = false;
    (void)flock(file->file, LOCK_UN); /* cannot fail on a lock that is held */
    pthread_mutex_unlock(&held_lock);
}
