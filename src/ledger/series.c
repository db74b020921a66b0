/* Series in the ledger. Promises: series.h.
 *
 * Keys of the table of answers: "series.NAME" has the terms, "series-end.NAME" (the reservation's
 * own key) why it ended, "point.NAME.00012" the windows from 12 on. */
#include "ledger/series.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/mark.h"
#include "ledger/reserve.h"
#include "ledger/user_row.h"
#include "ledger/wording.h"

enum { KEY = BRUME_SERIES_NAME + 32 };

static brume_status no_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "a series of the ledger: out of memory");
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!isascii((unsigned char)name[i]) ||
            !(isalnum((unsigned char)name[i]) || name[i] == '_' || name[i] == '-'))
            return false;
    return length > 0 && length <= BRUME_SERIES_NAME;
}

static brume_status check_name(const char *name, brume_error *error)
{
    return is_name(name) ? BRUME_OK
                         : brume_fail(error, BRUME_EARGUMENT, "such as daily",
                                      "the name of a series is 1 to %d letters, digits, '_' or '-'",
                                      (int)BRUME_SERIES_NAME);
}

static void point_key(const char *name, uint64_t first, char key[KEY])
{
    snprintf(key, KEY, "point.%s.%llu", name, (unsigned long long)first);
}

/* A text of an object, which the caller frees; NULL without memory. */
static char *text_of(const json_t *object)
{
    return json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
}

/* End a transaction as its work ended. */
static brume_status finish(brume_ledger *ledger, brume_status status, brume_error *error)
{
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

/* ---- texts ---- */

/* What is recorded under a key. */
typedef struct series_note {
    json_t *json;              /* NULL: nothing is */
    uint64_t row, reservation; /* of the journal */
} series_note;

/* A recorded text, after comparing it with its journal. */
static brume_status check_note(brume_ledger *ledger, brume_statement *row, series_note *note,
                               brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    json_t *body = NULL;
    const char *text = brume_store_text(row, 2);
    note->row = (uint64_t)brume_store_int(row, 0);
    BRUME_TRY(brume_salted_digest(brume_store_text(row, 1), text, hash, error));
    BRUME_TRY(brume_journal_body(ledger, note->row, &body, error));
    const char *recorded = json_string_value(json_object_get(body, "answer_hash"));
    note->reservation = (uint64_t)json_integer_value(json_object_get(body, "reservation"));
    bool same = recorded && strcmp(recorded, hash) == 0;
    json_decref(body);
    if (!same || !(note->json = json_loads(text, 0, NULL)))
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "a recorded series is not the one its journal says");
    return BRUME_OK;
}

static brume_status read_note(brume_ledger *ledger, const char *key, series_note *out,
                              brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    char keyed[BRUME_DIGEST_TEXT];
    series_note note = {0};
    *out = note;
    if (ledger->schema < 5) /* there were none, and it is open for reading */
        return BRUME_OK;
    BRUME_TRY(brume_keyed_answer(ledger, key, keyed, error));
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT committed, salt, body FROM answer WHERE answer_key = ?1",
                                  "t", keyed));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && found)
        status = check_note(ledger, statement, &note, error);
    brume_store_finish(statement);
    if (status == BRUME_OK)
        *out = note;
    return status;
}

/* ---- opening ---- */

/* How many charges were redacted, which may have been series. */
static brume_status count_redacted(brume_ledger *ledger, uint64_t *out, brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT sum(json_array_length(body, '$.charges')) FROM journal "
                                  "WHERE kind = 'redact'",
                                  ""));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK)
        *out = found ? (uint64_t)brume_store_int(statement, 0) : 0;
    brume_store_finish(statement);
    return status;
}

/* The names of all series so far, and the first number under which no name is. A series that was
 * redacted left a hole. */
static brume_status read_names(brume_ledger *ledger, json_t *names, uint64_t *next,
                               brume_error *error)
{
    uint64_t most = 0, holes = 0;
    BRUME_TRY(count_redacted(ledger, &most, error));
    for (uint64_t i = 0; holes <= most; i++) {
        char key[KEY];
        series_note note;
        snprintf(key, sizeof key, "series-list.%llu", (unsigned long long)i);
        BRUME_TRY(read_note(ledger, key, &note, error));
        if (!note.json && holes++ == 0)
            *next = i;
        int added = note.json ? json_array_append(names, json_object_get(note.json, "name")) : 0;
        json_decref(note.json);
        if (added != 0)
            return no_memory(error);
    }
    return BRUME_OK;
}

static brume_status is_known(brume_ledger *ledger, const char *name, bool *known,
                             brume_error *error)
{
    char key[KEY];
    series_note note;
    snprintf(key, sizeof key, "series.%s", name);
    BRUME_TRY(read_note(ledger, key, &note, error));
    *known = note.json != NULL;
    json_decref(note.json);
    return BRUME_OK;
}

static brume_status write_name(brume_ledger *ledger, uint64_t id, const char *name,
                               brume_error *error)
{
    char key[KEY], text[KEY];
    uint64_t next = 0;
    json_t *names = json_array();
    brume_status status = names ? read_names(ledger, names, &next, error) : no_memory(error);
    snprintf(key, sizeof key, "series-list.%llu", (unsigned long long)next);
    snprintf(text, sizeof text, "{\"name\":\"%s\"}", name);
    json_decref(names);
    return status == BRUME_OK ? brume_reserve_note(ledger, id, key, text, error) : status;
}

static brume_status write_series(brume_ledger *ledger, const brume_reservation *reservation,
                                 const char *name, const char *terms, uint64_t *id,
                                 brume_error *error)
{
    bool known = false;
    char key[KEY];
    BRUME_TRY(brume_user_check_owner(ledger, error));
    BRUME_TRY(is_known(ledger, name, &known, error));
    if (known)
        return brume_fail(error, BRUME_EPOLICY, "take another name: 'brume series list' has them",
                          "there is a series '%s' already", name);
    snprintf(key, sizeof key, "series-end.%s", name);
    brume_reservation named = *reservation;
    named.answer_key = key;
    named.anew = false;
    BRUME_TRY(brume_reserve_write(ledger, &named, id, error));
    BRUME_TRY(write_name(ledger, *id, name, error));
    snprintf(key, sizeof key, "series.%s", name);
    return brume_reserve_note(ledger, *id, key, terms, error);
}

/* What series record is under keys of no project, and is published at once. */
static brume_status outside_projects(const brume_ledger *ledger, brume_error *error)
{
    return ledger->project || ledger->must_name_project
               ? brume_fail(error, BRUME_EUNSUPPORTED, "an owner who is in no project does that",
                            "series are of no project")
               : BRUME_OK;
}

brume_status brume_ledger_series_open(brume_ledger *ledger, const brume_reservation *reservation,
                                      const char *name, const json_t *terms, uint64_t *id,
                                      brume_error *error)
{
    BRUME_TRY(outside_projects(ledger, error));
    BRUME_TRY(check_name(name, error));
    if (reservation->charge_count == 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a series that charges nobody");
    char *text = text_of(terms);
    if (!text)
        return no_memory(error);
    uint64_t new_id = 0;
    brume_status status = brume_store_begin(ledger, error);
    if (status == BRUME_OK)
        status =
            finish(ledger, write_series(ledger, reservation, name, text, &new_id, error), error);
    free(text);
    if (status == BRUME_OK)
        *id = new_id;
    return status;
}

/* ---- reading ---- */

static brume_status damaged_points(const char *name, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "restore a copy of the ledger",
                      "points of the series '%s' that the journal speaks of are not there", name);
}

/* Has the journal a note of this reservation after row `last`? It would be one of a point that is
 * not there any more. */
static brume_status check_last(brume_ledger *ledger, const char *name, uint64_t id, uint64_t last,
                               brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    BRUME_TRY(
        brume_store_prepare(ledger, &statement, error,
                            "SELECT 1 FROM journal WHERE id > ?2 AND kind = 'note' AND "
                            "CAST(json_extract(body, '$.reservation') AS BIGINT) = ?1 LIMIT 1",
                            "ii", (int64_t)id, (int64_t)last));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    brume_store_finish(statement);
    return status == BRUME_OK && found ? damaged_points(name, error) : status;
}

/* All points, into `points` (NULL: they are only counted). Each says where the next one begins. */
static brume_status read_points(brume_ledger *ledger, const char *name, uint64_t id,
                                uint64_t terms_row, uint64_t *closed, json_t *points,
                                brume_error *error)
{
    uint64_t last_row = terms_row;
    for (*closed = 0;;) {
        char key[KEY];
        series_note note;
        point_key(name, *closed, key);
        BRUME_TRY(read_note(ledger, key, &note, error));
        if (!note.json)
            return check_last(ledger, name, id, last_row, error);
        json_int_t first = json_integer_value(json_object_get(note.json, "first"));
        json_int_t last = json_integer_value(json_object_get(note.json, "last"));
        bool good = note.reservation == id && (uint64_t)first == *closed && last >= first;
        int added = good && points ? json_array_append(points, note.json) : 0;
        json_decref(note.json);
        if (!good)
            return damaged_points(name, error);
        if (added != 0)
            return no_memory(error);
        *closed = (uint64_t)last + 1;
        last_row = note.row;
    }
}

/* Did the owner take back, since row `id`, that rows of the dataset are only added? What was edited
 * meanwhile is not covered, so saying it again does not help. */
static brume_status is_taken_back(brume_ledger *ledger, const char *dataset, uint64_t id, bool *out,
                                  brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT 1 FROM journal WHERE id > ?2 AND kind = 'amend' AND "
        "json_extract(body, '$.dataset') = ?1 AND CAST(json_extract(body, '$.policy.append_only') AS BIGINT) IS DISTINCT FROM 1 "
        "AND NOT EXISTS (SELECT 1 FROM json_each(body, '$.policy.tables') AS one WHERE "
        "CAST(json_extract(one.value, '$.append_only') AS BIGINT) = 1) LIMIT 1",
        "ti", dataset, (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, out, error);
    brume_store_finish(statement);
    return status;
}

/* What a series is, inside a transaction or not. */
typedef struct found_series {
    json_t *terms;
    uint64_t id, row; /* the reservation, and the row of the journal that has the terms */
    bool ended;
} found_series;

static brume_status find_series(brume_ledger *ledger, const char *name, found_series *out,
                                brume_error *error)
{
    char key[KEY];
    series_note terms, end;
    *out = (found_series){0};
    BRUME_TRY(check_name(name, error));
    snprintf(key, sizeof key, "series.%s", name);
    BRUME_TRY(read_note(ledger, key, &terms, error));
    if (!terms.json)
        return brume_fail(error, BRUME_EUNKNOWN, "'brume series list' lists them",
                          "there is no series '%s'", name);
    snprintf(key, sizeof key, "series-end.%s", name);
    brume_status status = read_note(ledger, key, &end, error);
    if (status != BRUME_OK) {
        json_decref(terms.json);
        return status;
    }
    bool ended = end.json != NULL, taken_back = false;
    const char *dataset = json_string_value(json_object_get(terms.json, "dataset"));
    json_decref(end.json);
    const char *protects = json_string_value(json_object_get(terms.json, "protects"));
    /* A limit of each window rests on no word of the owner. Series of the ledger's own tests have
     * no dataset. */
    if (dataset && !(protects && strcmp(protects, "unit-window") == 0))
        status = is_taken_back(ledger, dataset, terms.row, &taken_back, error);
    if (status != BRUME_OK) {
        json_decref(terms.json);
        return status;
    }
    *out = (found_series){terms.json, terms.reservation, terms.row, ended || taken_back};
    return BRUME_OK;
}

/* All of it at one moment. */
static brume_status read_now(brume_ledger *ledger, const char *name, json_t **series,
                             json_t *points, brume_error *error)
{
    found_series found;
    char opened[BRUME_WHEN_TEXT];
    uint64_t closed = 0;
    BRUME_TRY(find_series(ledger, name, &found, error));
    brume_status status = read_points(ledger, name, found.id, found.row, &closed, points, error);
    if (status == BRUME_OK)
        status = brume_ledger_reserved_at(ledger, found.id, opened, error);
    json_t *out = NULL;
    if (status == BRUME_OK &&
        !(out = json_pack("{s:s,s:I,s:s,s:b,s:O,s:I}", "name", name, "id", (json_int_t)found.id,
                          "opened", opened, "ended", found.ended, "terms", found.terms, "closed",
                          (json_int_t)closed)))
        status = no_memory(error);
    json_decref(found.terms);
    if (status == BRUME_OK)
        *series = out;
    return status;
}

static brume_status read_series(brume_ledger *ledger, const char *name, json_t **series,
                                json_t *points, brume_error *error)
{
    BRUME_TRY(brume_store_begin_reading(ledger, error));
    brume_status status = read_now(ledger, name, series, points, error);
    brume_store_undo(ledger);
    return status;
}

brume_status brume_ledger_series(brume_ledger *ledger, const char *name, json_t **out,
                                 brume_error *error)
{
    return read_series(ledger, name, out, NULL, error);
}

brume_status brume_ledger_series_points(brume_ledger *ledger, const char *name, json_t **out,
                                        brume_error *error)
{
    json_t *series = NULL, *points = json_array();
    brume_status status = points ? read_series(ledger, name, &series, points, error)
                                 : no_memory(error);
    json_decref(series);
    if (status != BRUME_OK) {
        json_decref(points);
        return status;
    }
    *out = points;
    return BRUME_OK;
}

brume_status brume_ledger_series_names(brume_ledger *ledger, json_t **out, brume_error *error)
{
    uint64_t next = 0;
    json_t *names = json_array();
    brume_status status = names ? read_names(ledger, names, &next, error) : no_memory(error);
    if (status != BRUME_OK) {
        json_decref(names);
        return status;
    }
    *out = names;
    return BRUME_OK;
}

/* ---- adding and ending ---- */

static brume_status check_source(brume_ledger *ledger, const brume_ledger_charge *source,
                                 brume_error *error)
{
    brume_dataset *dataset = NULL;
    brume_mark_list marks = {source->marks, source->mark_count, source->read_mark_count, 0};
    BRUME_TRY(brume_ledger_dataset(ledger, source->dataset, &dataset, error));
    bool same = source->stated == dataset->stated;
    brume_dataset_close(dataset);
    if (!same)
        return brume_fail(error, BRUME_EPOLICY, "update it again",
                          "the policy of '%s' was amended while this was read", source->dataset);
    return brume_mark_see(ledger, source->dataset, false, &marks, error);
}

static brume_status write_point(brume_ledger *ledger, const json_t *series, uint64_t first,
                                const char *point, const brume_ledger_charge *source,
                                brume_error *error)
{
    found_series found;
    char key[KEY];
    uint64_t closed = 0;
    const char *name = json_string_value(json_object_get(series, "name"));
    uint64_t id = (uint64_t)json_integer_value(json_object_get(series, "id"));
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(find_series(ledger, name, &found, error));
    json_decref(found.terms);
    if (found.id != id) /* redacted, and its name used again: this noise is not its */
        return brume_fail(error, BRUME_EPOLICY, "update it again",
                          "the series '%s' was opened anew while this was read", name);
    BRUME_TRY(read_points(ledger, name, found.id, found.row, &closed, NULL, error));
    if (first < closed)
        return BRUME_OK; /* somebody was quicker: what is recorded stays */
    if (first > closed)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a point before which others are missing");
    if (found.ended)
        return brume_fail(error, BRUME_EPOLICY, "its totals stay: 'brume series show'",
                          "the series '%s' has ended", name);
    BRUME_TRY(check_source(ledger, source, error));
    point_key(name, first, key);
    return brume_reserve_note(ledger, found.id, key, point, error);
}

brume_status brume_ledger_series_add(brume_ledger *ledger, const json_t *series, uint64_t first,
                                     uint64_t last, const json_t *numbers,
                                     const brume_ledger_charge *source, brume_error *error)
{
    BRUME_TRY(outside_projects(ledger, error));
    json_t *point = last < first ? NULL
                                 : json_pack("{s:I,s:I,s:O}", "first", (json_int_t)first, "last",
                                             (json_int_t)last, "numbers", numbers);
    char *text = point ? text_of(point) : NULL;
    json_decref(point);
    if (!text)
        return no_memory(error);
    brume_status status = brume_store_begin(ledger, error);
    if (status == BRUME_OK)
        status = finish(ledger, write_point(ledger, series, first, text, source, error), error);
    free(text);
    return status;
}

static brume_status write_end(brume_ledger *ledger, const char *name, const char *answer,
                              brume_error *error)
{
    found_series found;
    BRUME_TRY(brume_user_check_owner(ledger, error));
    BRUME_TRY(find_series(ledger, name, &found, error));
    json_decref(found.terms);
    if (found.ended)
        return brume_fail(error, BRUME_EPOLICY, NULL, "the series '%s' has ended already", name);
    return brume_reserve_close(ledger, found.id, answer, error);
}

brume_status brume_ledger_series_end(brume_ledger *ledger, const char *name, const char *reason,
                                     brume_error *error)
{
    BRUME_TRY(outside_projects(ledger, error));
    json_t *answer = json_pack("{s:s}", "ended", reason);
    char *text = answer ? text_of(answer) : NULL;
    json_decref(answer);
    if (!text)
        return no_memory(error);
    brume_status status = brume_store_begin(ledger, error);
    if (status == BRUME_OK)
        status = finish(ledger, write_end(ledger, name, text, error), error);
    free(text);
    return status;
}
