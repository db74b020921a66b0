/* A copy of the ledger, made while others use it.
 *
 * Promise: what brume_ledger_backup leaves at `path` is the ledger as it was at one moment, on disk
 * and verified; after an error there is nothing at `path` that was not there before. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/error.h"
#include "ledger/store.h"

static brume_status cannot(const char *path, brume_error *error)
{
    return brume_fail(error, BRUME_EDISK, "is there space, and may the folder be written?",
                      "cannot write the copy '%s': %s", path, strerror(errno));
}

/* An empty file of our own, for its owner only. */
static brume_status make_file(const char *path, brume_error *error)
{
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST)
        return brume_fail(error, BRUME_EPOLICY, "name a file that is not there yet",
                          "there is something at '%s' already", path);
    if (file < 0)
        return cannot(path, error);
    close(file);
    return BRUME_OK;
}

/* All pages in one read transaction of the source: a snapshot, which stops no writer. */
static brume_status copy_pages(brume_ledger *ledger, const char *path, brume_error *error)
{
    sqlite3 *copy = NULL;
    char *plain = sqlite3_mprintf("%s%s", *path == '/' ? "" : "./", path);
    if (!plain)
        return brume_fail(error, BRUME_EMEMORY, NULL, "copying the ledger: out of memory");
    int code = sqlite3_open_v2(plain, &copy, SQLITE_OPEN_READWRITE, NULL);
    sqlite3_free(plain);
    sqlite3_backup *backup =
        code == SQLITE_OK ? sqlite3_backup_init(copy, "main", ledger->store, "main") : NULL;
    if (backup) {
        (void)sqlite3_backup_step(backup, -1);
        code = sqlite3_backup_finish(backup);
    } else if (copy) {
        code = sqlite3_errcode(copy);
    }
    brume_status status = BRUME_OK;
    if (code != SQLITE_OK)
        status = brume_fail(error, BRUME_EDISK, "is there space, and may the folder be written?",
                            "cannot write the copy '%s': %s", path, sqlite3_errstr(code));
    sqlite3_close(copy);
    return status;
}

static brume_status sync_path(const char *path, brume_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 && fsync(file) == 0;
    brume_status status = good ? BRUME_OK : cannot(path, error);
    if (file >= 0)
        close(file);
    return status;
}

/* The file and its name, on disk. */
static brume_status sync_all(const char *path, brume_error *error)
{
    char *copy = strdup(path);
    if (!copy)
        return brume_fail(error, BRUME_EMEMORY, NULL, "copying the ledger: out of memory");
    brume_status status = sync_path(path, error);
    if (status == BRUME_OK)
        status = sync_path(dirname(copy), error);
    free(copy);
    return status;
}

static brume_status verify_copy(const char *path, brume_ledger_report *report, brume_error *error)
{
    brume_ledger *copy = NULL;
    BRUME_TRY(brume_ledger_open(path, BRUME_LEDGER_READ, &copy, error));
    brume_status status = brume_ledger_verify(copy, report, error);
    brume_ledger_close(copy);
    return status;
}

static void remove_copy(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *name = sqlite3_mprintf("%s%s", path, endings[i]);
        if (name)
            (void)unlink(name);
        sqlite3_free(name);
    }
}

brume_status brume_ledger_backup(brume_ledger *ledger, const char *path,
                                 brume_ledger_report *report, brume_error *error)
{
    if (ledger->engine->is_server)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "back it up as any database of that server (pg_dump, pg_basebackup), or "
                          "copy it to a file: 'brume ledger copy --to FILE'",
                          "the ledger is in a PostgreSQL database");
    BRUME_TRY(make_file(path, error));
    brume_status status = copy_pages(ledger, path, error);
    if (status == BRUME_OK)
        status = verify_copy(path, report, error);
    if (status == BRUME_OK)
        status = sync_all(path, error);
    if (status != BRUME_OK)
        remove_copy(path);
    return status;
}
