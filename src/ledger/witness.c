/* The witness: the newest head of the journal, kept elsewhere. Promises: witness.h. */
#include "ledger/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "ledger/journal.h"
#include "ledger/store.h"
#include "ledger/user_row.h"

enum { HEAD_LINE = 320, COMMAND_SECONDS = 10 };

static const char absent[] = "it has no head of this ledger";

static brume_status unreachable(brume_error *error, const char *why)
{
    return brume_fail(error, BRUME_EDISK, "'brume ledger witness' shows it, and can name another",
                      "the ledger's witness cannot be asked: %s", why);
}

/* ---- a head as text: "LEDGER ROWS HASH" ---- */

static bool is_hash(const char *text)
{
    return strlen(text) == BRUME_HEAD_HASH - 1 &&
           strspn(text, "0123456789abcdef") == BRUME_HEAD_HASH - 1;
}

/* "ROWS HASH", and a line end or none. */
static bool parse_head(const char *text, brume_head *out)
{
    brume_head head = {0};
    int used = 0;
    if (sscanf(text, "%" SCNu64 " %64[0-9a-f]%n", &head.rows, head.hash, &used) != 2 ||
        head.rows == 0 || head.rows > INT64_MAX || !is_hash(head.hash) ||
        strspn(text + used, " \r\n") != strlen(text + used))
        return false;
    *out = head;
    return true;
}

static bool same_head(const brume_head *a, const brume_head *b)
{
    return a->rows == b->rows && (a->rows == 0 || strcmp(a->hash, b->hash) == 0);
}

/* ---- a file ---- */

static brume_status cannot(brume_error *error, const char *what, const char *path)
{
    return brume_fail(error, BRUME_EDISK, NULL, "%s '%s': %s", what, path, strerror(errno));
}

/* No file: no head. */
static brume_status read_file(const char *path, const char *ledger, brume_head *head,
                              brume_error *error)
{
    char line[HEAD_LINE] = "";
    *head = (brume_head){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return errno == ENOENT ? BRUME_OK : cannot(error, "cannot read", path);
    ssize_t length = read(file, line, sizeof line - 1);
    close(file);
    if (length < 0)
        return cannot(error, "cannot read", path);
    if (strncmp(line, "brume-witness ", 14) != 0 || strlen(line) < 80 ||
        strncmp(line + 14, ledger, BRUME_HEAD_HASH - 1) != 0 ||
        !parse_head(line + 14 + BRUME_HEAD_HASH - 1, head))
        return brume_fail(error, BRUME_EDISK, NULL, "'%s' is no witness of this ledger", path);
    return BRUME_OK;
}

static bool write_all(int file, const char *text)
{
    size_t length = strlen(text);
    while (length > 0) {
        ssize_t wrote = write(file, text, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        text += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

static bool sync_folder(const char *path)
{
    const char *end = strrchr(path, '/');
    char *folder = end ? strndup(path, (size_t)(end - path) + 1) : strdup(".");
    int opened = folder ? open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY) : -1;
    bool good = opened >= 0 && fsync(opened) == 0;
    if (opened >= 0)
        close(opened);
    free(folder);
    return good;
}

/* A new file in the place of the old one: a reader finds one of the two, whole. */
static bool write_file(const char *path, const char *ledger, const brume_head *head)
{
    char line[HEAD_LINE], new[4096];
    if (snprintf(new, sizeof new, "%s.new", path) >= (int)sizeof new) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(line, sizeof line, "brume-witness %s %" PRIu64 " %s\n", ledger, head->rows,
             head->hash);
    int file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = file >= 0 && write_all(file, line) && fsync(file) == 0;
    if (file >= 0)
        close(file);
    return good && rename(new, path) == 0 && sync_folder(path);
}

static brume_status changed_meanwhile(brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "is a copy of this ledger in use elsewhere?",
                      "another ledger has told the witness meanwhile");
}

static brume_status replace_file(const char *path, const char *ledger, const brume_head *before,
                                 const brume_head *after, brume_error *error)
{
    char beside[4096];
    brume_head now;
    if (snprintf(beside, sizeof beside, "%s.lock", path) >= (int)sizeof beside) {
        errno = ENAMETOOLONG;
        return cannot(error, "cannot write", path);
    }
    int lock = open(beside, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        if (lock >= 0)
            close(lock);
        return cannot(error, "cannot lock", beside);
    }
    brume_status status = read_file(path, ledger, &now, error);
    if (status == BRUME_OK && !same_head(&now, before))
        status = changed_meanwhile(error);
    if (status == BRUME_OK && !write_file(path, ledger, after))
        status = cannot(error, "cannot write", path);
    close(lock);
    return status;
}

/* ---- a command ---- */

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Start it in a group of its own, its standard output a pipe. */
static bool start(const char *command, const char *const *words, int output[2], pid_t *process)
{
    char script[8192];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    if (snprintf(script, sizeof script, "%s \"$@\"", command) >= (int)sizeof script ||
        pipe2(output, O_CLOEXEC) != 0)
        return false;
    const char *const all[] = {"sh",     "-c",     script,   "brume-witness", words[0], words[1],
                               words[2], words[3], words[4], words[5],        NULL};
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_adddup2(&files, output[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    bool good = posix_spawn(process, "/bin/sh", &files, &how, (char *const *)all, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    close(output[1]);
    if (!good)
        close(output[0]);
    return good;
}

/* What it prints, until it ends or its time is over; false: it failed. */
static bool run_command(const char *command, const char *const *words, char text[HEAD_LINE])
{
    int output[2] = {-1, -1}, state = -1;
    pid_t process = 0;
    size_t length = 0;
    bool open = true, late = false;
    if (!start(command, words, output, &process))
        return false;
    int64_t end = milliseconds() + COMMAND_SECONDS * 1000;
    while (open && !late) {
        char more[HEAD_LINE];
        int64_t left = end - milliseconds();
        struct pollfd wait = {output[0], POLLIN, 0};
        int ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
        late = ready == 0;
        ssize_t got = ready > 0 ? read(output[0], more, sizeof more) : 1;
        open = !(ready > 0 && got == 0);
        for (ssize_t i = 0; ready > 0 && i < got && length < HEAD_LINE - 1; i++)
            text[length++] = more[i];
    }
    text[length] = 0;
    close(output[0]);
    if (late)
        kill(-process, SIGKILL);
    while (waitpid(process, &state, 0) < 0 && errno == EINTR)
        ;
    return !late && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

static brume_status command_failed(brume_error *error)
{
    return brume_fail(error, BRUME_EDISK, NULL, "its command failed, or took more than %d s",
                      COMMAND_SECONDS);
}

static brume_status read_by_command(const char *command, const char *ledger, brume_head *head,
                                    brume_error *error)
{
    char text[HEAD_LINE] = "";
    const char *const words[] = {"read", ledger, NULL, NULL, NULL, NULL};
    *head = (brume_head){0};
    if (!run_command(command, words, text))
        return command_failed(error);
    if (strspn(text, " \r\n") == strlen(text) || parse_head(text, head))
        return BRUME_OK;
    return brume_fail(error, BRUME_EDISK, NULL, "its command printed no head");
}

static brume_status replace_by_command(const char *command, const char *ledger,
                                       const brume_head *before, const brume_head *after,
                                       brume_error *error)
{
    char rows[24], old[24], text[HEAD_LINE];
    snprintf(rows, sizeof rows, "%" PRIu64, after->rows);
    snprintf(old, sizeof old, "%" PRIu64, before->rows);
    const char *const words[] = {"keep",      ledger, rows,
                                 after->hash, old,    before->rows ? before->hash : "-"};
    return run_command(command, words, text) ? BRUME_OK : command_failed(error);
}

/* ---- any place ---- */

static bool is_server(const char *place)
{
    return strncmp(place, "postgresql://", 13) == 0 || strncmp(place, "postgres://", 11) == 0;
}

static bool is_command(const char *place)
{
    return strncmp(place, "exec:", 5) == 0;
}

static brume_status no_server(brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "nobody reaches servers here");
}

static brume_status read_place(brume_ledger *ledger, const char *place, const char *name,
                               brume_head *head, brume_error *error)
{
    if (is_command(place))
        return read_by_command(place + 5, name, head, error);
    if (!is_server(place))
        return read_file(place, name, head, error);
    return ledger->witness_server
               ? ledger->witness_server->read(&ledger->witness_state, place, name, head, error)
               : no_server(error);
}

static brume_status replace_place(brume_ledger *ledger, const char *place, const char *name,
                                  const brume_head *before, const brume_head *after,
                                  brume_error *error)
{
    if (is_command(place))
        return replace_by_command(place + 5, name, before, after, error);
    if (!is_server(place))
        return replace_file(place, name, before, after, error);
    return ledger->witness_server ? ledger->witness_server->replace(&ledger->witness_state, place,
                                                                    name, before, after, error)
                                  : no_server(error);
}

void brume_ledger_reach_witness(brume_ledger *ledger, const brume_witness_server *server)
{
    ledger->witness_server = server;
}

/* ---- the journal's heads ---- */

/* Row `id` of the journal as a head (0: the newest); rows 0 if there is none. */
static brume_status head_at(brume_ledger *ledger, uint64_t id, brume_head *head, brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  id ? "SELECT id, hash FROM journal WHERE id = ?1"
                                     : "SELECT id, hash FROM journal WHERE ?1 = 0 "
                                       "ORDER BY id DESC LIMIT 1",
                                  "i", (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    *head = (brume_head){0};
    if (status == BRUME_OK && found) {
        head->rows = (uint64_t)brume_store_int(statement, 0);
        snprintf(head->hash, sizeof head->hash, "%s", brume_store_text(statement, 1));
    }
    brume_store_finish(statement);
    return status;
}

/* A ledger is known by the hash of its first row. */
static brume_status name_of(brume_ledger *ledger, char name[BRUME_HEAD_HASH], brume_error *error)
{
    brume_head first;
    BRUME_TRY(head_at(ledger, 1, &first, error));
    memcpy(name, first.hash, BRUME_HEAD_HASH);
    return first.rows == 1 ? BRUME_OK
                           : brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                                        "the ledger's journal has no first row");
}

/* Is this head in the journal? Its row is checked against the hash before it. */
static brume_status is_in_journal(brume_ledger *ledger, const brume_head *head, bool *is,
                                  brume_error *error)
{
    brume_head mine;
    json_t *body = NULL;
    BRUME_TRY(head_at(ledger, head->rows, &mine, error));
    *is = same_head(&mine, head);
    if (!*is)
        return BRUME_OK;
    brume_status status = brume_journal_body(ledger, head->rows, &body, error);
    json_decref(body);
    return status;
}

static brume_status behind(brume_ledger *ledger, const brume_head *witness, brume_error *error)
{
    brume_head mine;
    BRUME_TRY(head_at(ledger, 0, &mine, error));
    return brume_fail(error, BRUME_EDAMAGED,
                      "put the newest copy of the ledger back; an owner who knows why it is older "
                      "accepts it: 'brume ledger witness PLACE --accept-older'",
                      mine.rows < witness->rows
                          ? "the ledger is behind its witness: it has %" PRIu64
                            " rows and the witness saw %" PRIu64 "; an older copy was put back"
                          : "the ledger is not the one its witness saw: of %" PRIu64
                            " rows another one is row %" PRIu64 "; an older copy was put back",
                      mine.rows, witness->rows);
}

/* ---- the choice ---- */

typedef struct choice {
    char *place; /* NULL: there is none */
    bool go_on;
} choice;

static brume_status read_choice(brume_ledger *ledger, choice *out, brume_error *error)
{
    char *text = NULL;
    *out = (choice){0};
    if (ledger->schema < 6)
        return BRUME_OK;
    BRUME_TRY(brume_secret_read(ledger, BRUME_WITNESS_SECRET, &text, error));
    if (!text)
        return BRUME_OK;
    json_t *read = json_loads(text, 0, NULL);
    const char *place = json_string_value(json_object_get(read, "place"));
    out->go_on = json_is_true(json_object_get(read, "go_on"));
    out->place = place ? strdup(place) : NULL;
    json_decref(read);
    free(text);
    return out->place ? BRUME_OK
                      : brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                                   "the place of the ledger's witness cannot be read");
}

/* Read the witness, and see that its head is in the journal. EDAMAGED: behind; EDISK: it cannot be
 * asked, or has no head. */
static brume_status ask(brume_ledger *ledger, const char *place, char name[BRUME_HEAD_HASH],
                        brume_head *head, brume_error *error)
{
    brume_error why = {0};
    bool is = false;
    BRUME_TRY(name_of(ledger, name, error));
    if (read_place(ledger, place, name, head, &why) != BRUME_OK)
        return unreachable(error, why.message);
    if (head->rows == 0)
        return unreachable(error, absent);
    BRUME_TRY(is_in_journal(ledger, head, &is, error));
    return is ? BRUME_OK : behind(ledger, head, error);
}

/* The same error, which also says what it cost. */
static brume_status nothing_charged(brume_status status, brume_error *error)
{
    static const char said[] = "; nothing was charged";
    size_t length = error ? strlen(error->message) : 0;
    if (error && length + sizeof said <= sizeof error->message)
        memcpy(error->message + length, said, sizeof said);
    return status;
}

brume_status brume_witness_check(brume_ledger *ledger, brume_error *error)
{
    choice set;
    char name[BRUME_HEAD_HASH];
    brume_head head;
    ledger->unwitnessed = false;
    BRUME_TRY(read_choice(ledger, &set, error));
    brume_status status = set.place ? ask(ledger, set.place, name, &head, error) : BRUME_OK;
    if (status == BRUME_EDISK && set.go_on) {
        ledger->unwitnessed = true;
        status = BRUME_OK;
    }
    free(set.place);
    return status == BRUME_OK ? status : nothing_charged(status, error);
}

static brume_status tell(brume_ledger *ledger, const char *place, brume_error *error)
{
    char name[BRUME_HEAD_HASH];
    brume_head head, newest;
    brume_error why = {0};
    BRUME_TRY(ask(ledger, place, name, &head, error));
    BRUME_TRY(head_at(ledger, 0, &newest, error));
    if (newest.rows == head.rows)
        return BRUME_OK;
    brume_status status = replace_place(ledger, place, name, &head, &newest, &why);
    if (status == BRUME_EDAMAGED)
        return brume_fail(error, status, why.hint, "%s", why.message);
    return status == BRUME_OK ? status : unreachable(error, why.message);
}

brume_status brume_witness_tell(brume_ledger *ledger, brume_error *error)
{
    choice set;
    if (ledger->unwitnessed) /* its row says so */
        return BRUME_OK;
    BRUME_TRY(read_choice(ledger, &set, error));
    brume_status status = BRUME_OK;
    if (set.place) {
        brume_error why = {0};
        status = brume_store_lock(ledger, error);
        if (status == BRUME_OK)
            status = tell(ledger, set.place, &why);
        brume_store_undo(ledger);
        if (status == BRUME_EDISK && set.go_on)
            status = BRUME_OK;
        else if (*why.message)
            status = brume_fail(error, status, why.hint,
                                "what was to be recorded is in the ledger, and its witness was not "
                                "told of it: %s",
                                why.message);
    }
    free(set.place);
    return status;
}

/* ---- setting it ---- */

static const char *kind_of(const char *place)
{
    return is_command(place) ? "command" : is_server(place) ? "server" : "file";
}

/* May the ledger take this witness? A new one gets the head now, before the ledger says that it has
 * it: so that a kill leaves a witness that is not behind. *before is what it keeps. */
static brume_status prepare(brume_ledger *ledger, const brume_witness_choice *wanted,
                            brume_head *before, brume_error *error)
{
    char name[BRUME_HEAD_HASH];
    brume_head newest = {0};
    brume_error why = {0};
    bool is = true;
    BRUME_TRY(name_of(ledger, name, error));
    BRUME_TRY(head_at(ledger, 0, &newest, error));
    brume_status status = read_place(ledger, wanted->place, name, before, &why);
    if (status == BRUME_OK && before->rows == 0) {
        status = replace_place(ledger, wanted->place, name, before, &newest, &why);
        *before = newest;
    }
    if (status != BRUME_OK)
        return brume_fail(error, status, why.hint, "the witness cannot be used: %s", why.message);
    BRUME_TRY(is_in_journal(ledger, before, &is, error));
    return is || wanted->accept_older ? BRUME_OK : behind(ledger, before, error);
}

/* The old witness: a ledger that is behind does not forget it by a slip. */
static brume_status leave_old(brume_ledger *ledger, const brume_witness_choice *wanted,
                              brume_error *error)
{
    choice old;
    char name[BRUME_HEAD_HASH];
    brume_head head;
    BRUME_TRY(read_choice(ledger, &old, error));
    brume_status status =
        old.place && !wanted->accept_older ? ask(ledger, old.place, name, &head, error) : BRUME_OK;
    free(old.place);
    return status == BRUME_EDISK ? BRUME_OK : status;
}

static brume_status keep_choice(brume_ledger *ledger, const brume_witness_choice *wanted,
                                brume_error *error)
{
    if (!wanted->place)
        return brume_secret_forget(ledger, BRUME_WITNESS_SECRET, error);
    json_t *made = json_pack("{s:s,s:b}", "place", wanted->place, "go_on", wanted->go_on);
    char *text = made ? json_dumps(made, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(made);
    brume_status status = text ? brume_secret_replace(ledger, BRUME_WITNESS_SECRET, text, error)
                               : brume_no_memory(error, "writing the ledger");
    free(text);
    return status;
}

static brume_status set_now(brume_ledger *ledger, const brume_witness_choice *wanted,
                            brume_head *before, brume_error *error)
{
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(brume_user_check_owner(ledger, error));
    BRUME_TRY(leave_old(ledger, wanted, error));
    if (wanted->place)
        BRUME_TRY(prepare(ledger, wanted, before, error));
    BRUME_TRY(keep_choice(ledger, wanted, error));
    json_t *body = wanted->place
                       ? json_pack("{s:s,s:s,s:s}", "action", "set", "kind", kind_of(wanted->place),
                                   "unreachable", wanted->go_on ? "go-on" : "refuse")
                       : json_pack("{s:s}", "action", "remove");
    if (body && wanted->accept_older && before->rows > 0)
        json_object_set_new(
            body, "accepted",
            json_pack("{s:I,s:s}", "rows", (json_int_t)before->rows, "hash", before->hash));
    return brume_journal_append(ledger, "witness", body, error);
}

brume_status brume_ledger_set_witness(brume_ledger *ledger, const brume_witness_choice *wanted,
                                      brume_error *error)
{
    brume_head before = {0}, newest;
    brume_error why = {0};
    char name[BRUME_HEAD_HASH];
    ledger->unwitnessed = false;
    BRUME_TRY(brume_store_lock(ledger, error));
    brume_status status = set_now(ledger, wanted, &before, error);
    if (status != BRUME_OK) {
        brume_store_undo(ledger);
        return status;
    }
    BRUME_TRY(ledger->engine->commit(ledger->store, error));
    if (!wanted->place)
        return BRUME_OK;
    BRUME_TRY(brume_store_lock(ledger, error));
    status = name_of(ledger, name, error);
    if (status == BRUME_OK)
        status = head_at(ledger, 0, &newest, error);
    if (status == BRUME_OK &&
        replace_place(ledger, wanted->place, name, &before, &newest, &why) != BRUME_OK)
        status = brume_fail(error, BRUME_EDISK, "run it again", "the witness could not be told: %s",
                            why.message);
    brume_store_undo(ledger);
    return status;
}

/* ---- asking it ---- */

const char *brume_witness_word(brume_witness_state state)
{
    static const char *const words[] = {"none", "agrees", "behind", "unreachable"};
    return words[state];
}

/* A place without a password. */
static char *show_place(const char *place)
{
    const char *at = is_server(place) ? strstr(place, "://") + 3 : NULL;
    const char *host = at ? strrchr(at, '@') : NULL;
    const char *colon = host ? memchr(at, ':', (size_t)(host - at)) : NULL;
    const char *end = at ? strchr(at, '?') : NULL; /* parameters may hold one */
    char *shown = strdup(place);
    if (shown && end)
        shown[end - place] = 0;
    if (shown && colon)
        memmove(shown + (colon - place), shown + (host - place),
                strlen(shown + (host - place)) + 1);
    return shown;
}

static brume_status count_unwitnessed(brume_ledger *ledger, uint64_t *count, brume_error *error)
{
    brume_statement *statement = NULL;
    bool more = true;
    *count = 0;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT body FROM journal WHERE body LIKE "
                                  "'%\"unwitnessed\":true%'",
                                  ""));
    brume_status status = BRUME_OK;
    while ((status = brume_store_step(ledger, statement, &more, error)) == BRUME_OK && more) {
        json_t *body = json_loads(brume_store_text(statement, 0), JSON_ALLOW_NUL, NULL);
        *count += json_is_true(json_object_get(body, "unwitnessed"));
        json_decref(body);
    }
    brume_store_finish(statement);
    return status;
}

brume_status brume_ledger_ask_witness(brume_ledger *ledger, brume_witness_report *report,
                                      brume_error *error)
{
    choice set = {0};
    char name[BRUME_HEAD_HASH];
    brume_head newest = {0};
    brume_error why = {0};
    brume_witness_report made = {0};
    BRUME_TRY(read_choice(ledger, &set, error));
    brume_status status = head_at(ledger, 0, &newest, error);
    made.rows = newest.rows;
    made.go_on = set.go_on;
    if (status == BRUME_OK)
        status = count_unwitnessed(ledger, &made.unwitnessed, error);
    if (status == BRUME_OK && set.place) {
        brume_status asked = ask(ledger, set.place, name, &made.head, &why);
        made.state = asked == BRUME_OK         ? BRUME_WITNESS_AGREES
                     : asked == BRUME_EDAMAGED ? BRUME_WITNESS_BEHIND
                                               : BRUME_WITNESS_UNREACHABLE;
        snprintf(made.why, sizeof made.why, "%.255s", asked == BRUME_OK ? "" : why.message);
        if (!(made.place = show_place(set.place)))
            status = brume_no_memory(error, "the witness");
    }
    free(set.place);
    if (status == BRUME_OK)
        *report = made;
    else
        free(made.place);
    return status;
}
