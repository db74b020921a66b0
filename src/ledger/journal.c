/* The journal: an append-only, hash-chained list of facts. */
#include "ledger/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

static brume_status damaged(uint64_t id, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "row %llu of the ledger's journal does not hold", (unsigned long long)id);
}

static void time_now(char out[32])
{
    struct timespec now;
    struct tm utc;
    char seconds[24];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, 32, "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
}

brume_status brume_journal_hash(const brume_journal_row *row, const char *previous,
                                char out[BRUME_DIGEST_TEXT], brume_error *error)
{
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)row->id);
    const char *const parts[] = {previous, id, row->time, row->kind, row->body};
    return brume_digest(parts, sizeof parts / sizeof *parts, out, error);
}

brume_status brume_journal_read(brume_ledger *ledger, uint64_t first, brume_statement **out,
                                brume_error *error)
{
    return brume_store_prepare(
        ledger, out, error,
        "SELECT id, time, kind, body, hash FROM journal WHERE id >= ?1 ORDER BY id", "i",
        (int64_t)first);
}

brume_status brume_journal_step(brume_ledger *ledger, brume_statement *statement,
                                brume_journal_row *row, bool *more, brume_error *error)
{
    BRUME_TRY(brume_store_step(ledger, statement, more, error));
    if (!*more)
        return BRUME_OK;
    row->id = (uint64_t)brume_store_int(statement, 0);
    row->time = brume_store_text(statement, 1);
    row->kind = brume_store_text(statement, 2);
    row->body = brume_store_text(statement, 3);
    row->hash = brume_store_text(statement, 4);
    return BRUME_OK;
}

/* Id and hash of the newest row; 0 and "" of an empty journal. */
static brume_status read_head(brume_ledger *ledger, uint64_t *id, char hash[BRUME_DIGEST_TEXT],
                              brume_error *error)
{
    brume_statement *statement = NULL;
    bool row = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT id, hash FROM journal ORDER BY id DESC LIMIT 1", ""));
    brume_status status = brume_store_step(ledger, statement, &row, error);
    if (status == BRUME_OK) {
        *id = row ? (uint64_t)brume_store_int(statement, 0) : 0;
        snprintf(hash, BRUME_DIGEST_TEXT, "%s", row ? brume_store_text(statement, 1) : "");
    }
    brume_store_finish(statement);
    return status;
}

brume_status brume_journal_next(brume_ledger *ledger, uint64_t *id, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    uint64_t last = 0;
    BRUME_TRY(read_head(ledger, &last, hash, error));
    *id = last + 1;
    return BRUME_OK;
}

static brume_status append_text(brume_ledger *ledger, const char *kind, const char *body,
                                brume_error *error)
{
    char previous[BRUME_DIGEST_TEXT], hash[BRUME_DIGEST_TEXT], time[32];
    uint64_t last = 0;
    BRUME_TRY(read_head(ledger, &last, previous, error));
    time_now(time);
    brume_journal_row row = {last + 1, time, kind, body, NULL};
    BRUME_TRY(brume_journal_hash(&row, previous, hash, error));
    return brume_store_execute(
        ledger, error, "INSERT INTO journal(id, time, kind, body, hash) VALUES(?1,?2,?3,?4,?5)",
        "itttt", (int64_t)row.id, time, kind, body, hash);
}

/* Where a body has the digest of the tables beside the journal. A program that knows an older
 * schema alone and still has the file open does not find its word after a migration, and refuses to
 * write. */
static const char *digest_key(const brume_ledger *ledger)
{
    static const char *const words[] = {"states",  "tables",   "beside",
                                        "vouched", "attested", "sealed"};
    return words[ledger->schema - 1];
}

/* Chain `digest` over the rows that `sql` gives. */
static brume_status digest_rows(brume_ledger *ledger, const char *sql,
                                char digest[BRUME_DIGEST_TEXT], brume_error *error)
{
    enum { MOST_COLUMNS = 7 };
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, sql, ""));
    int columns = brume_store_columns(statement);
    char before[BRUME_DIGEST_TEXT];
    bool row = true;
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row) {
        memcpy(before, digest, sizeof before);
        status = brume_store_step(ledger, statement, &row, error);
        const char *parts[MOST_COLUMNS + 1] = {before};
        for (int i = 0; status == BRUME_OK && row && i < columns; i++)
            parts[i + 1] = brume_store_text(statement, i);
        if (status == BRUME_OK && row)
            status = brume_digest(parts, (size_t)columns + 1, digest, error);
    }
    brume_store_finish(statement);
    return status;
}

/* Digest of the tables that the newest row vouches for: datasets, from schema 2 on secrets and
 * marks, from schema 4 on users and allotments, from schema 5 on what windows have spent, from
 * schema 6 on projects. It tells
 * nobody whether marks were added: each reservation changes its dataset's row too. */
static brume_status digest_tables(brume_ledger *ledger, char digest[BRUME_DIGEST_TEXT],
                                  brume_error *error)
{
    digest[0] = 0;
    BRUME_TRY(digest_rows(ledger,
                          "SELECT name, source, registered, data_version, filter, last, queries "
                          "FROM dataset ORDER BY name",
                          digest, error));
    if (ledger->schema == 1)
        return BRUME_OK;
    BRUME_TRY(digest_rows(ledger, "SELECT name, value FROM secret ORDER BY name", digest, error));
    BRUME_TRY(digest_rows(ledger, "SELECT dataset, mark FROM mark ORDER BY dataset, mark", digest,
                          error));
    if (ledger->schema < 4)
        return BRUME_OK;
    BRUME_TRY(digest_rows(
        ledger, "SELECT name, role, expires, issued, changed, state FROM \"user\" ORDER BY name",
        digest, error));
    BRUME_TRY(digest_rows(
        ledger, "SELECT \"user\", dataset, filter, last FROM allotment ORDER BY \"user\", dataset",
        digest, error));
    if (ledger->schema < 5)
        return BRUME_OK;
    BRUME_TRY(digest_rows(ledger,
                          "SELECT dataset, first, hash FROM window_page ORDER BY dataset, first",
                          digest, error));
    if (ledger->schema < 6)
        return BRUME_OK;
    return digest_rows(ledger, "SELECT name, stated FROM project ORDER BY name", digest, error);
}

brume_status brume_journal_has_moved(brume_ledger *ledger, bool *moved, brume_error *error)
{
    brume_statement *statement = NULL;
    bool row = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT kind FROM journal ORDER BY id DESC LIMIT 1", ""));
    brume_status status = brume_store_step(ledger, statement, &row, error);
    *moved = row && strcmp(brume_store_text(statement, 0), "move") == 0;
    brume_store_finish(statement);
    return status;
}

/* Two ledgers with one journal would spend a budget twice. */
static brume_status check_here(brume_ledger *ledger, const char *kind, brume_error *error)
{
    bool moved = false;
    BRUME_TRY(brume_journal_has_moved(ledger, &moved, error));
    return !moved || strcmp(kind, "arrive") == 0
               ? BRUME_OK
               : brume_fail(error, BRUME_EPOLICY, "name the place that it was moved to",
                            "this ledger was moved: it can be read, and not charged");
}

brume_status brume_journal_append(brume_ledger *ledger, const char *kind, json_t *body,
                                  brume_error *error)
{
    char digest[BRUME_DIGEST_TEXT];
    brume_status status = check_here(ledger, kind, error);
    if (status == BRUME_OK)
        status = digest_tables(ledger, digest, error);
    if (status != BRUME_OK) {
        json_decref(body);
        return status;
    }
    char *text = NULL;
    bool says = !ledger->user ||
                (body && json_object_set_new(body, "user", json_string(ledger->user)) == 0);
    says = says && (!ledger->unwitnessed ||
                    (body && json_object_set_new(body, "unwitnessed", json_true()) == 0));
    if (body && says && json_object_set_new(body, digest_key(ledger), json_string(digest)) == 0)
        text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(body);
    if (!text)
        return brume_fail(error, BRUME_EMEMORY, NULL, "writing the ledger: out of memory");
    status = append_text(ledger, kind, text, error);
    free(text);
    return status;
}

bool brume_journal_vouches(const json_t *redaction, const brume_journal_row *row)
{
    char left[BRUME_DIGEST_TEXT];
    size_t i = 0;
    json_t *entry = NULL;
    if (brume_digest(&row->body, 1, left, NULL) != BRUME_OK)
        return false;
    json_array_foreach (json_object_get(redaction, "rows"), i, entry) {
        const char *hash = json_string_value(json_object_get(entry, "hash"));
        const char *said = json_string_value(json_object_get(entry, "left"));
        if ((uint64_t)json_integer_value(json_object_get(entry, "row")) == row->id && hash &&
            said && strcmp(hash, row->hash) == 0 && strcmp(said, left) == 0)
            return true;
    }
    return false;
}

static brume_status check_row(brume_ledger *ledger, uint64_t id, json_t **body, brume_error *error);

/* A row whose body is not what its hash is of: does a later row say that it was redacted to this?
 */
static brume_status check_redacted(brume_ledger *ledger, const brume_journal_row *row,
                                   brume_error *error)
{
    json_t *body = json_loads(row->body, JSON_ALLOW_NUL, NULL), *redaction = NULL;
    uint64_t by = (uint64_t)json_integer_value(json_object_get(body, "redacted"));
    json_decref(body);
    if (by <= row->id)
        return damaged(row->id, error);
    BRUME_TRY(check_row(ledger, by, &redaction, error));
    bool vouched = brume_journal_vouches(redaction, row);
    json_decref(redaction);
    return vouched ? BRUME_OK : damaged(row->id, error);
}

/* Check row `id` against the hash of the one before it; its body, where wanted. */
static brume_status check_row(brume_ledger *ledger, uint64_t id, json_t **body, brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_journal_read(ledger, id > 1 ? id - 1 : 1, &statement, error));
    char previous[BRUME_DIGEST_TEXT] = "", hash[BRUME_DIGEST_TEXT] = "";
    brume_journal_row row = {0};
    bool more = false;
    brume_status status = brume_journal_step(ledger, statement, &row, &more, error);
    if (status == BRUME_OK && id > 1 && more && row.id == id - 1) {
        snprintf(previous, sizeof previous, "%s", row.hash);
        status = brume_journal_step(ledger, statement, &row, &more, error);
    }
    if (status == BRUME_OK && (!more || row.id != id))
        status = damaged(id, error);
    if (status == BRUME_OK)
        status = brume_journal_hash(&row, previous, hash, error);
    if (status == BRUME_OK && strcmp(hash, row.hash) != 0)
        status = check_redacted(ledger, &row, error);
    json_t *loaded = NULL;
    if (status == BRUME_OK && body && !(loaded = json_loads(row.body, JSON_ALLOW_NUL, NULL)))
        status = damaged(id, error);
    brume_store_finish(statement);
    if (status == BRUME_OK && body)
        *body = loaded;
    return status;
}

brume_status brume_journal_body(brume_ledger *ledger, uint64_t id, json_t **body,
                                brume_error *error)
{
    return check_row(ledger, id, body, error);
}

brume_status brume_journal_check_head(brume_ledger *ledger, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    uint64_t id = 0;
    BRUME_TRY(read_head(ledger, &id, hash, error));
    if (id == 0)
        return damaged(1, error);
    json_t *body = NULL;
    BRUME_TRY(check_row(ledger, id, &body, error));
    char digest[BRUME_DIGEST_TEXT];
    const char *recorded = json_string_value(json_object_get(body, digest_key(ledger)));
    brume_status status = digest_tables(ledger, digest, error);
    if (status == BRUME_OK && (!recorded || strcmp(recorded, digest) != 0))
        status = brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                            "a table of the ledger is not what the journal says");
    json_decref(body);
    return status;
}
