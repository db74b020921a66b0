/* Redaction: taking what people typed and were answered out of the ledger. Promises: redact.h; it
 * is one transaction, so that a killed process leaves everything or nothing redacted. */
#include "ledger/redact.h"
#include "ledger/review.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/user_row.h"
#include "ledger/wording.h"

static brume_status no_memory(brume_error *error)
{
    return brume_no_memory(error, "the ledger");
}

/* ---- finding ---- */

/* Is the text in a string or a key of it? */
static bool contains(const json_t *json, const char *text)
{
    const char *key = NULL;
    json_t *value = NULL;
    size_t i = 0;
    if (json_is_string(json))
        return strcasestr(json_string_value(json), text) != NULL;
    json_object_foreach ((json_t *)json, key, value)
        if (strcasestr(key, text) || contains(value, text))
            return true;
    json_array_foreach (json, i, value)
        if (contains(value, text))
            return true;
    return false;
}

/* The entry of a charge in the list, made where there is none; NULL if memory is out. */
static json_t *entry_of(json_t *charges, uint64_t id)
{
    size_t i = 0;
    json_t *entry = NULL;
    json_array_foreach (charges, i, entry)
        if ((uint64_t)json_integer_value(json_object_get(entry, "id")) == id)
            return entry;
    entry = json_pack("{s:I,s:[]}", "id", (json_int_t)id, "in");
    return json_array_append_new(charges, entry) == 0 ? entry : NULL;
}

static bool add_place(json_t *charges, uint64_t id, const char *place)
{
    json_t *entry = entry_of(charges, id);
    return entry && json_array_append_new(json_object_get(entry, "in"), json_string(place)) == 0;
}

/* One row of the journal: a charge whose words have the text, or another row that has it. */
static brume_status look_at_row(brume_ledger *ledger, const brume_journal_row *row,
                                const char *text, json_t *found, brume_error *error)
{
    json_t *body = json_loads(row->body, JSON_ALLOW_NUL, NULL), *words = NULL;
    bool charge = strcmp(row->kind, "reserve") == 0, good = body != NULL;
    brume_status status = good && charge ? brume_wording_read(ledger, row->id, body, &words, error)
                                         : BRUME_OK;
    bool has = contains(words, text) || contains(json_object_get(body, "events"), text) ||
               (!charge && contains(body, text));
    if (status == BRUME_OK && has && charge)
        good = add_place(json_object_get(found, "charges"), row->id, "question");
    else if (status == BRUME_OK && has)
        good = json_array_append_new(
                   json_object_get(found, "elsewhere"),
                   json_pack("{s:I,s:s}", "id", (json_int_t)row->id, "kind", row->kind)) == 0;
    json_decref(words);
    json_decref(body);
    return status == BRUME_OK && !good ? no_memory(error) : status;
}

static brume_status look_at_journal(brume_ledger *ledger, const char *text, json_t *found,
                                    brume_error *error)
{
    brume_statement *statement = NULL;
    brume_journal_row row = {0};
    bool more = true;
    BRUME_TRY(brume_journal_read(ledger, 1, &statement, error));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && more) {
        status = brume_journal_step(ledger, statement, &row, &more, error);
        if (status == BRUME_OK && more)
            status = look_at_row(ledger, &row, text, found, error);
    }
    brume_store_finish(statement);
    return status;
}

static brume_status look_at_answers(brume_ledger *ledger, const char *text, json_t *charges,
                                    brume_error *error)
{
    brume_statement *statement = NULL;
    bool more = true, good = true;
    BRUME_TRY(
        brume_store_prepare(ledger, &statement, error,
                            "SELECT CAST(json_extract(journal.body, '$.reservation') AS BIGINT), "
                            "answer.body "
                            "FROM answer JOIN journal ON journal.id = answer.committed WHERE "
                            "json_valid(journal.body) ORDER BY 1",
                            ""));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && more && good) {
        status = brume_store_step(ledger, statement, &more, error);
        if (status != BRUME_OK || !more)
            break;
        json_t *answer =
            json_loads(brume_store_text(statement, 1), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        /* whether an answer that is held has a word is told to nobody (review.h) */
        if (contains(answer, text) &&
            brume_review_check(ledger, (uint64_t)brume_store_int(statement, 0), NULL) == BRUME_OK)
            good = add_place(charges, (uint64_t)brume_store_int(statement, 0), "answer");
        json_decref(answer);
    }
    brume_store_finish(statement);
    return status == BRUME_OK && !good ? no_memory(error) : status;
}

/* When each was asked, and with which words. */
static brume_status describe(brume_ledger *ledger, json_t *charges, brume_error *error)
{
    size_t i = 0;
    json_t *entry = NULL;
    json_array_foreach (charges, i, entry) {
        uint64_t id = (uint64_t)json_integer_value(json_object_get(entry, "id"));
        char when[BRUME_WHEN_TEXT];
        json_t *body = NULL, *words = NULL;
        BRUME_TRY(brume_ledger_reserved_at(ledger, id, when, error));
        BRUME_TRY(brume_journal_body(ledger, id, &body, error));
        brume_status status = brume_wording_read(ledger, id, body, &words, error);
        json_t *typed = json_object_get(words, "typed");
        typed = typed ? typed : json_object_get(words, "sql");
        if (status == BRUME_OK &&
            (json_object_set_new(entry, "time", json_string(when)) != 0 ||
             json_object_set_new(entry, "sql", typed ? json_incref(typed) : json_null()) != 0))
            status = no_memory(error);
        json_decref(words);
        json_decref(body);
        BRUME_TRY(status);
    }
    return BRUME_OK;
}

brume_status brume_ledger_find(brume_ledger *ledger, const char *text, json_t **out,
                               brume_error *error)
{
    if (!*text)
        return brume_fail(error, BRUME_EARGUMENT, "such as a name", "there is nothing to look for");
    json_t *found = json_pack("{s:[],s:[]}", "charges", "elsewhere");
    json_t *charges = json_object_get(found, "charges");
    brume_status status = found ? look_at_journal(ledger, text, found, error) : no_memory(error);
    if (status == BRUME_OK)
        status = look_at_answers(ledger, text, charges, error);
    if (status == BRUME_OK)
        status = describe(ledger, charges, error);
    if (status != BRUME_OK) {
        json_decref(found);
        return status;
    }
    *out = found;
    return BRUME_OK;
}

/* ---- redacting ---- */

/* What one redaction writes. */
typedef struct redacting {
    brume_ledger *ledger;
    const brume_redaction *wanted;
    json_t *charges;  /* numbers, each once */
    json_t *rows;     /* for the journal: "row", "hash", "left" */
    json_t *restated; /* bodies, in the order of `rows` */
    uint64_t number;  /* of the row `redact` */
    int64_t boundary; /* rows before it hold texts themselves */
    brume_error *error;
} redacting;

static brume_status number_of(redacting *of, const char *sql, const char *text, int64_t id,
                              int64_t *out)
{
    brume_statement *statement = NULL;
    bool found = false;
    *out = 0;
    BRUME_TRY(brume_store_prepare(of->ledger, &statement, of->error, sql, "ti", text, id));
    brume_status status = brume_store_step(of->ledger, statement, &found, of->error);
    if (status == BRUME_OK && found)
        *out = brume_store_int(statement, 0);
    brume_store_finish(statement);
    return status;
}

/* The numbers that `sql` gives for ?1 and ?2, added to `list`, each once. */
static brume_status numbers_of(redacting *of, const char *sql, const char *text, int64_t id,
                               json_t *list)
{
    brume_statement *statement = NULL;
    bool more = true;
    BRUME_TRY(brume_store_prepare(of->ledger, &statement, of->error, sql, "ti", text, id));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK) {
        status = brume_store_step(of->ledger, statement, &more, of->error);
        if (status != BRUME_OK || !more)
            break;
        bool known = false;
        for (size_t i = 0; i < json_array_size(list); i++)
            known = known ||
                    json_integer_value(json_array_get(list, i)) == brume_store_int(statement, 0);
        if (!known && json_array_append_new(list, json_integer(brume_store_int(statement, 0))) != 0)
            status = no_memory(of->error);
    }
    brume_store_finish(statement);
    return status;
}

/* Say a row again without what may name people; one that was restated already stays. */
static brume_status restate(redacting *of, uint64_t id)
{
    static const char *const texts[] = {"sql", "typed", "events", "answer_key", "answer_hash"};
    json_t *body = NULL;
    brume_statement *statement = NULL;
    bool found = false;
    char left[BRUME_DIGEST_TEXT];
    BRUME_TRY(brume_journal_body(of->ledger, id, &body, of->error));
    if (json_object_get(body, "redacted")) {
        json_decref(body);
        return BRUME_OK;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        (void)json_object_del(body, texts[i]);
    bool good = json_object_set_new(body, "redacted", json_integer((json_int_t)of->number)) == 0;
    char *text = good ? json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(body);
    if (!text)
        return no_memory(of->error);
    brume_status status = brume_store_prepare(of->ledger, &statement, of->error,
                                              "SELECT hash FROM journal WHERE id = ?1", "i",
                                              (int64_t)id);
    if (status == BRUME_OK)
        status = brume_store_step(of->ledger, statement, &found, of->error);
    const char *parts[] = {text};
    if (status == BRUME_OK)
        status = brume_digest(parts, 1, left, of->error);
    if (status == BRUME_OK &&
        (json_array_append_new(of->rows, json_pack("{s:I,s:s,s:s}", "row", (json_int_t)id, "hash",
                                                   brume_store_text(statement, 0), "left", left)) !=
             0 ||
         json_array_append_new(of->restated, json_string(text)) != 0))
        status = no_memory(of->error);
    brume_store_finish(statement);
    free(text);
    return status;
}

/* The answer that row `commit` recorded, if it is there: its text goes, or its key. */
static brume_status redact_answer(redacting *of, uint64_t charge, int64_t commit)
{
    int64_t kept = 0;
    char none[BRUME_REDACTED_KEY];
    brume_redacted_key(charge, none);
    BRUME_TRY(number_of(of, "SELECT committed FROM answer WHERE committed = ?2 AND ?1 = ''", "",
                        commit, &kept));
    /* an old commit has a hash that could be guessed; and one whose answer was not kept, since the
     * same question had one, must not look as if it was kept under the key that it has now */
    if ((of->wanted->answers && commit < of->boundary) || (!kept && (int64_t)charge < of->boundary))
        BRUME_TRY(restate(of, (uint64_t)commit));
    if (of->wanted->answers)
        return brume_store_execute(of->ledger, of->error, "DELETE FROM answer WHERE committed = ?1",
                                   "i", commit);
    return brume_store_execute(of->ledger, of->error,
                               "UPDATE answer SET answer_key = ?2 WHERE committed = ?1", "it",
                               commit, none);
}

/* What was noted on the way: numbers, under keys that before schema 5 are hashes of the question.
 * The same note of another charge, which was not kept, must not look as if it was. */
static brume_status redact_notes(redacting *of, uint64_t charge)
{
    json_t *notes = json_array();
    brume_status status =
        notes ? numbers_of(of,
                           "SELECT id FROM journal WHERE kind = ?1 AND json_valid(body) AND "
                           "CAST(json_extract(body, '$.reservation') AS BIGINT) = ?2",
                           "note", (int64_t)charge, notes)
              : no_memory(of->error);
    for (size_t i = 0; status == BRUME_OK && i < json_array_size(notes); i++) {
        int64_t note = json_integer_value(json_array_get(notes, i));
        json_t *same = json_array();
        if (note < of->boundary)
            status = same ? numbers_of(of,
                                       "SELECT other.id FROM journal other JOIN journal mine ON "
                                       "json_extract(other.body, '$.answer_key') = "
                                       "json_extract(mine.body, '$.answer_key') WHERE other.kind = "
                                       "?1 AND mine.id = ?2",
                                       "note", note, same)
                          : no_memory(of->error);
        for (size_t j = 0; status == BRUME_OK && j < json_array_size(same); j++)
            status = restate(of, (uint64_t)json_integer_value(json_array_get(same, j)));
        if (status == BRUME_OK)
            status = brume_store_execute(of->ledger, of->error,
                                         "DELETE FROM answer WHERE committed = ?1", "i", note);
        json_decref(same);
    }
    json_decref(notes);
    return status;
}

/* A series and its totals are notes of its charge: they go with its text. */
static brume_status check_series(const redacting *of, uint64_t charge)
{
    json_t *body = NULL;
    BRUME_TRY(brume_journal_body(of->ledger, charge, &body, of->error));
    const json_t *event = json_array_get(json_object_get(body, "events"), 0);
    bool refused = !of->wanted->answers && json_object_get(event, "series");
    json_decref(body);
    return refused ? brume_fail(of->error, BRUME_EPOLICY,
                                "--answers says so; the series is then gone, and its price stays",
                                "charge %llu is a series: its totals would go with its text",
                                (unsigned long long)charge)
                   : BRUME_OK;
}

static brume_status redact_charge(redacting *of, uint64_t charge)
{
    int64_t commit = 0;
    char none[BRUME_REDACTED_KEY];
    BRUME_TRY(check_series(of, charge));
    brume_redacted_key(charge, none);
    BRUME_TRY(number_of(of,
                        "SELECT id FROM journal WHERE kind = ?1 AND json_valid(body) AND "
                        "CAST(json_extract(body, '$.reservation') AS BIGINT) = ?2",
                        "commit", (int64_t)charge, &commit));
    if ((int64_t)charge < of->boundary)
        BRUME_TRY(restate(of, charge));
    if (commit)
        BRUME_TRY(redact_answer(of, charge, commit));
    BRUME_TRY(redact_notes(of, charge));
    BRUME_TRY(brume_store_execute(
        of->ledger, of->error, "DELETE FROM wording WHERE reservation = ?1", "i", (int64_t)charge));
    return brume_store_execute(of->ledger, of->error,
                               "UPDATE reservation SET answer_key = ?2 WHERE id = ?1", "it",
                               (int64_t)charge, none);
}

/* Which charges: those that are wanted, and old ones with the same key, which is a hash of the same
 * question. */
static brume_status list_charges(redacting *of)
{
    for (size_t i = 0; i < of->wanted->count; i++) {
        int64_t id = (int64_t)of->wanted->charges[i], found = 0;
        BRUME_TRY(
            number_of(of, "SELECT id FROM reservation WHERE id = ?2 AND ?1 = ''", "", id, &found));
        if (!found)
            return brume_fail(of->error, BRUME_EUNKNOWN,
                              "'brume ledger find' and 'brume history' "
                              "list them",
                              "there is no charge %lld", (long long)id);
        BRUME_TRY(numbers_of(of, "SELECT id FROM reservation WHERE id = ?2 AND ?1 = ''", "", id,
                             of->charges));
        if (id < of->boundary)
            BRUME_TRY(
                numbers_of(of,
                           "SELECT other.id FROM reservation other JOIN reservation mine ON "
                           "other.answer_key = mine.answer_key WHERE mine.id = ?2 AND ?1 = ''",
                           "", id, of->charges));
    }
    return BRUME_OK;
}

static brume_status redact_now(redacting *of)
{
    BRUME_TRY(brume_journal_check_head(of->ledger, of->error));
    BRUME_TRY(brume_user_check_owner(of->ledger, of->error));
    BRUME_TRY(brume_journal_next(of->ledger, &of->number, of->error));
    BRUME_TRY(number_of(
        of,
        "SELECT max(id) FROM journal WHERE kind = ?1 AND CAST(json_extract(body, '$.from') AS BIGINT) "
        "< ?2",
        "migrate", 5, &of->boundary));
    BRUME_TRY(list_charges(of));
    for (size_t i = 0; i < json_array_size(of->charges); i++)
        BRUME_TRY(redact_charge(of, (uint64_t)json_integer_value(json_array_get(of->charges, i))));
    BRUME_TRY(brume_journal_append(of->ledger, "redact",
                                   json_pack("{s:O,s:b,s:s,s:O}", "charges", of->charges, "answers",
                                             of->wanted->answers, "reason", of->wanted->reason,
                                             "rows", of->rows),
                                   of->error));
    for (size_t i = 0; i < json_array_size(of->rows); i++)
        BRUME_TRY(brume_store_execute(
            of->ledger, of->error, "UPDATE journal SET body = ?2 WHERE id = ?1", "it",
            (int64_t)json_integer_value(json_object_get(json_array_get(of->rows, i), "row")),
            json_string_value(json_array_get(of->restated, i))));
    return BRUME_OK;
}

brume_status brume_ledger_redact(brume_ledger *ledger, const brume_redaction *wanted,
                                 size_t *redacted, brume_error *error)
{
    redacting of = {.ledger = ledger,
                    .wanted = wanted,
                    .charges = json_array(),
                    .rows = json_array(),
                    .restated = json_array(),
                    .error = error};
    brume_status status = of.charges && of.rows && of.restated
                              ? ledger->engine->prepare_purge(ledger->store, error)
                              : no_memory(error);
    if (status == BRUME_OK)
        status = brume_store_begin(ledger, error);
    if (status == BRUME_OK) {
        status = redact_now(&of);
        if (status == BRUME_OK)
            status = brume_store_commit(ledger, error);
        else
            brume_store_undo(ledger);
    }
    size_t count = json_array_size(of.charges);
    json_decref(of.charges);
    json_decref(of.rows);
    json_decref(of.restated);
    BRUME_TRY(status);
    BRUME_TRY(ledger->engine->purge(ledger->store, error));
    *redacted = count;
    return BRUME_OK;
}
