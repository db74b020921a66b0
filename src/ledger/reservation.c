/* Reservations: charge first, answer later, refund never.
 *
 * Promise: brume_ledger_reserve returns BRUME_OK only after every charge is on disk; it charges all
 * datasets or none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/ledger.h"
#include "ledger/journal.h"
#include "ledger/mark.h"
#include "ledger/user_row.h"

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "writing the ledger: out of memory");
}

/* ---- reserve ---- */

/* The cap is an epsilon. It is held against the very number that is charged, never against a text;
 * under concentrated it stands for rho = epsilon^2/2. */
static brume_status check_cap(const brume_dataset *dataset, const brume_charge *price,
                              brume_error *error)
{
    brume_decimal cap;
    char asked[BRUME_DECIMAL_TEXT];
    if (!dataset->cap)
        return BRUME_OK;
    BRUME_TRY(brume_decimal_parse(dataset->cap, &cap, error));
    bool concentrated = price->rule == BRUME_RULE_CONCENTRATED;
    if (concentrated)
        BRUME_TRY(brume_charge_rho_of_epsilon(&cap, &cap, error));
    if (brume_decimal_compare(&price->amount, &cap) <= 0)
        return BRUME_OK;
    brume_decimal_print(&price->amount, asked, sizeof asked);
    return brume_fail(error, BRUME_EPOLICY, "ask for less, or ask the owner",
                      "%s %s is over the cap of epsilon %s for one query on '%s'",
                      concentrated ? "rho" : "epsilon", asked, dataset->cap, dataset->name);
}

static brume_status see_marks(brume_ledger *ledger, const brume_ledger_charge *charge,
                              bool is_public, brume_error *error)
{
    brume_mark_list marks = {charge->marks, charge->mark_count, charge->read_mark_count, 0};
    return brume_mark_see(ledger, charge->dataset, is_public, &marks, error);
}

/* Charge one dataset in memory (its new marks go to the file); `charges` gets its entry, *adjacency
 * the dataset's. */
static brume_status charge_one(brume_ledger *ledger, const brume_reservation *reservation, size_t i,
                               json_t *charges, brume_adjacency *adjacency, brume_error *error)
{
    const brume_ledger_charge *charge = &reservation->charges[i];
    brume_dataset *dataset = NULL;
    BRUME_TRY(brume_ledger_dataset(ledger, charge->dataset, &dataset, error));
    char price[BRUME_CHARGE_TEXT], state[BRUME_FILTER_TEXT], allotment[BRUME_FILTER_TEXT] = "";
    brume_status status = BRUME_OK;
    if (i > 0 && dataset->adjacency != *adjacency)
        status = brume_fail(error, BRUME_EPOLICY, "register both under one adjacency",
                            "'%s' is registered under another adjacency than '%s'", charge->dataset,
                            reservation->charges[0].dataset);
    *adjacency = dataset->adjacency;
    if (status == BRUME_OK && charge->stated && charge->stated != dataset->stated)
        status = brume_fail(error, BRUME_EPOLICY, "ask again: it will be planned anew",
                            "the policy of '%s' was amended while this was planned",
                            charge->dataset);
    if (status == BRUME_OK)
        status = check_cap(dataset, charge->price, error);
    if (status == BRUME_OK)
        status = brume_filter_charge(&dataset->filter, charge->price, error);
    if (status == BRUME_OK)
        status = brume_allotment_charge(ledger, charge->dataset, charge->price, allotment, error);
    if (status == BRUME_OK)
        status = see_marks(ledger, charge, false, error);
    if (status == BRUME_OK)
        status = brume_charge_print(charge->price, price, error);
    if (status == BRUME_OK)
        status = brume_filter_print(&dataset->filter, state, error);
    brume_dataset_close(dataset);
    if (status != BRUME_OK)
        return status;
    json_t *entry = json_pack("{s:s,s:s,s:s,s:s*}", "dataset", charge->dataset, "price", price,
                              "filter", state, "allotment", *allotment ? allotment : NULL);
    return json_array_append_new(charges, entry) == 0 ? BRUME_OK : out_of_memory(error);
}

static brume_status charge_all(brume_ledger *ledger, const brume_reservation *reservation,
                               json_t *charges, brume_error *error)
{
    brume_adjacency adjacency = BRUME_ADD_REMOVE;
    for (size_t i = 0; i < reservation->charge_count; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(reservation->charges[i].dataset, reservation->charges[j].dataset) == 0)
                return brume_fail(error, BRUME_EINTERNAL, NULL, "'%s' is charged twice at once",
                                  reservation->charges[i].dataset);
        BRUME_TRY(charge_one(ledger, reservation, i, charges, &adjacency, error));
    }
    for (size_t i = 0; i < reservation->public_count; i++)
        BRUME_TRY(see_marks(ledger, &reservation->public_tables[i], true, error));
    return BRUME_OK;
}

static brume_status store_charges(brume_ledger *ledger, const json_t *charges, uint64_t id,
                                  brume_error *error)
{
    size_t i = 0;
    json_t *charge = NULL;
    json_array_foreach (charges, i, charge) {
        const char *name = json_string_value(json_object_get(charge, "dataset"));
        const char *state = json_string_value(json_object_get(charge, "filter"));
        BRUME_TRY(brume_store_execute(
            ledger, error, "UPDATE dataset SET filter=?2, last=?3, queries=queries+1 WHERE name=?1",
            "tti", name, state, (int64_t)id));
        BRUME_TRY(brume_store_execute(ledger, error,
                                      "INSERT INTO charge(dataset, reservation) VALUES(?1,?2)",
                                      "ti", name, (int64_t)id));
        const char *allotment = json_string_value(json_object_get(charge, "allotment"));
        if (allotment)
            BRUME_TRY(brume_allotment_store(ledger, ledger->user, name, allotment, id, error));
    }
    return BRUME_OK;
}

/* Answers that are asked for anew have keys of their own, "KEY.41" for reservation 41: the range
 * from "KEY." to "KEY/". */
enum { ANEW_KEY_TEXT = BRUME_DIGEST_TEXT + 24 };

static brume_status print_key(const brume_reservation *reservation, uint64_t id,
                              char key[ANEW_KEY_TEXT], brume_error *error)
{
    char number[24] = "";
    if (reservation->anew)
        snprintf(number, sizeof number, ".%llu", (unsigned long long)id);
    int length = snprintf(key, ANEW_KEY_TEXT, "%s%s", reservation->answer_key, number);
    return length < ANEW_KEY_TEXT
               ? BRUME_OK
               : brume_fail(error, BRUME_EINTERNAL, NULL, "the key of an answer is too long");
}

static brume_status write_reservation(brume_ledger *ledger, const brume_reservation *reservation,
                                      json_t *charges, uint64_t *id, brume_error *error)
{
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(brume_user_check_charge(ledger, error));
    BRUME_TRY(charge_all(ledger, reservation, charges, error));
    BRUME_TRY(brume_journal_next(ledger, id, error));
    char key[ANEW_KEY_TEXT];
    BRUME_TRY(print_key(reservation, *id, key, error));
    BRUME_TRY(brume_store_execute(
        ledger, error, "INSERT INTO reservation(id, answer_key, state) VALUES(?1,?2,'reserved')",
        "it", (int64_t)*id, key));
    BRUME_TRY(store_charges(ledger, charges, *id, error));
    json_t *body = json_pack("{s:O,s:s,s:s?,s:O?,s:s}", "charges", charges, "sql", reservation->sql,
                             "typed", reservation->typed, "events", reservation->events,
                             "answer_key", key);
    return brume_journal_append(ledger, "reserve", body, error);
}

brume_status brume_ledger_check_public(brume_ledger *ledger, const brume_ledger_charge *table,
                                       brume_error *error)
{
    if (!ledger->writable) /* as where a query is explained */
        return brume_ledger_look_public(ledger, table, error);
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = see_marks(ledger, table, true, error);
    brume_store_undo(ledger); /* new marks are for reservations to record */
    return status;
}

brume_status brume_ledger_look_public(brume_ledger *ledger, const brume_ledger_charge *table,
                                      brume_error *error)
{
    bool conflicts = false;
    brume_mark_list marks = {table->marks, table->mark_count, table->read_mark_count, 0};
    if (ledger->schema < 3) /* no public marks yet: those of a reservation are checked */
        return BRUME_OK;
    BRUME_TRY(brume_mark_is_protected(ledger, &marks, &conflicts, error));
    return conflicts
               ? brume_fail(error, BRUME_EPOLICY, "its owner takes it out of one of the two",
                            "the source of '%s' now has data of another dataset", table->dataset)
               : BRUME_OK;
}

brume_status brume_ledger_reserve(brume_ledger *ledger, const brume_reservation *reservation,
                                  uint64_t *id, brume_error *error)
{
    if (reservation->charge_count == 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a reservation that charges nobody");
    json_t *charges = json_array();
    if (!charges)
        return out_of_memory(error);
    uint64_t new_id = 0;
    brume_status status = brume_store_begin(ledger, error);
    if (status == BRUME_OK) {
        status = write_reservation(ledger, reservation, charges, &new_id, error);
        if (status == BRUME_OK)
            status = brume_store_commit(ledger, error);
        else
            brume_store_undo(ledger);
    }
    json_decref(charges);
    if (status == BRUME_OK)
        *id = new_id;
    return status;
}

/* ---- commit and fail ---- */

/* The answer key of a reservation that is still open. */
static brume_status open_reservation(brume_ledger *ledger, uint64_t id, char **answer_key,
                                     brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT answer_key FROM reservation WHERE id=?1 AND state='reserved'", "i", (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && !found)
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "no open reservation %llu",
                            (unsigned long long)id);
    if (status == BRUME_OK && !(*answer_key = strdup(brume_store_text(statement, 0))))
        status = out_of_memory(error);
    sqlite3_finalize(statement);
    return status;
}

static brume_status set_state(brume_ledger *ledger, uint64_t id, const char *state,
                              brume_error *error)
{
    return brume_store_execute(ledger, error, "UPDATE reservation SET state=?2 WHERE id=?1", "it",
                               (int64_t)id, state);
}

static brume_status write_commit(brume_ledger *ledger, uint64_t id, const char *answer_key,
                                 const char *answer, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    uint64_t row = 0;
    BRUME_TRY(brume_digest(&answer, 1, hash, error));
    BRUME_TRY(brume_journal_next(ledger, &row, error));
    json_t *body = json_pack("{s:I,s:s}", "reservation", (json_int_t)id, "answer_hash", hash);
    BRUME_TRY(brume_journal_append(ledger, "commit", body, error));
    BRUME_TRY(set_state(ledger, id, "committed", error));
    /* The first answer under a key stays: a second one was paid for and is shown, not kept. */
    return brume_store_execute(ledger, error,
                               "INSERT INTO answer(answer_key, committed, body) VALUES(?1,?2,?3) "
                               "ON CONFLICT(answer_key) DO NOTHING",
                               "tit", answer_key, (int64_t)row, answer);
}

static brume_status close_reservation(brume_ledger *ledger, uint64_t id, const char *answer,
                                      brume_status reason, brume_error *error)
{
    char *answer_key = NULL;
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(open_reservation(ledger, id, &answer_key, error));
    brume_status status = BRUME_OK;
    if (answer) {
        status = write_commit(ledger, id, answer_key, answer, error);
    } else {
        json_t *body = json_pack("{s:I,s:s}", "reservation", (json_int_t)id, "reason",
                                 brume_status_word(reason));
        status = brume_journal_append(ledger, "fail", body, error);
        if (status == BRUME_OK)
            status = set_state(ledger, id, "failed", error);
    }
    free(answer_key);
    return status;
}

static brume_status end_reservation(brume_ledger *ledger, uint64_t id, const char *answer,
                                    brume_status reason, brume_error *error)
{
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = close_reservation(ledger, id, answer, reason, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

brume_status brume_ledger_commit(brume_ledger *ledger, uint64_t id, const json_t *answer,
                                 brume_error *error)
{
    char *text = json_dumps(answer, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (!text)
        return out_of_memory(error);
    brume_status status = end_reservation(ledger, id, text, BRUME_OK, error);
    free(text);
    return status;
}

static brume_status write_note(brume_ledger *ledger, uint64_t id, const char *key, const char *part,
                               brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    char *answer_key = NULL;
    uint64_t row = 0;
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(open_reservation(ledger, id, &answer_key, error));
    free(answer_key); /* that it is open is all */
    BRUME_TRY(brume_digest(&part, 1, hash, error));
    BRUME_TRY(brume_journal_next(ledger, &row, error));
    json_t *body = json_pack("{s:I,s:s,s:s}", "reservation", (json_int_t)id, "answer_key", key,
                             "answer_hash", hash);
    BRUME_TRY(brume_journal_append(ledger, "note", body, error));
    return brume_store_execute(ledger, error,
                               "INSERT INTO answer(answer_key, committed, body) VALUES(?1,?2,?3) "
                               "ON CONFLICT(answer_key) DO NOTHING",
                               "tit", key, (int64_t)row, part);
}

brume_status brume_ledger_note(brume_ledger *ledger, uint64_t id, const char *key,
                               const json_t *part, brume_error *error)
{
    char *text = json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (!text)
        return out_of_memory(error);
    brume_status status = brume_store_begin(ledger, error);
    if (status == BRUME_OK) {
        status = write_note(ledger, id, key, text, error);
        if (status == BRUME_OK)
            status = brume_store_commit(ledger, error);
        else
            brume_store_undo(ledger);
    }
    free(text);
    return status;
}

brume_status brume_ledger_fail(brume_ledger *ledger, uint64_t id, brume_status reason,
                               brume_error *error)
{
    return end_reservation(ledger, id, NULL, reason, error);
}

/* ---- recall ---- */

brume_status brume_ledger_reserved_at(brume_ledger *ledger, uint64_t id, char when[BRUME_WHEN_TEXT],
                                      brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    brume_journal_row row;
    bool found = false;
    BRUME_TRY(brume_journal_read(ledger, id, &statement, error));
    brume_status status = brume_journal_step(ledger, statement, &row, &found, error);
    if (status == BRUME_OK && (!found || row.id != id))
        status = brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                            "a reservation is not in the journal");
    if (status == BRUME_OK)
        snprintf(when, BRUME_WHEN_TEXT, "%s", row.time);
    sqlite3_finalize(statement);
    return status;
}

/* Is this the answer that row `committed` of the journal speaks of? `when`: of its reservation. */
static brume_status check_answer(brume_ledger *ledger, uint64_t committed, const char *text,
                                 char *when, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    json_t *body = NULL;
    BRUME_TRY(brume_digest(&text, 1, hash, error));
    BRUME_TRY(brume_journal_body(ledger, committed, &body, error));
    const char *recorded = json_string_value(json_object_get(body, "answer_hash"));
    uint64_t id = (uint64_t)json_integer_value(json_object_get(body, "reservation"));
    bool same = recorded && strcmp(recorded, hash) == 0;
    json_decref(body);
    if (!same)
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "a recorded answer is not the one its journal says");
    return when ? brume_ledger_reserved_at(ledger, id, when, error) : BRUME_OK;
}

/* The answer that a statement finds for a key. */
static brume_status recall_by(brume_ledger *ledger, const char *select, const char *key,
                              json_t **answer, char *when, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    json_t *result = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, select, "t", key));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && found) {
        const char *text = brume_store_text(statement, 1);
        uint64_t committed = (uint64_t)sqlite3_column_int64(statement, 0);
        status = check_answer(ledger, committed, text, when, error);
        if (status == BRUME_OK &&
            !(result = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL)))
            status = brume_fail(error, BRUME_EDAMAGED, NULL, "a recorded answer cannot be read");
    }
    sqlite3_finalize(statement);
    if (status == BRUME_OK)
        *answer = result;
    return status;
}

brume_status brume_ledger_recall(brume_ledger *ledger, const char *answer_key, json_t **answer,
                                 char when[BRUME_WHEN_TEXT], brume_error *error)
{
    return recall_by(ledger,
                     "SELECT committed, body FROM answer WHERE answer_key = ?1 OR "
                     "(answer_key > ?1 || '.' AND answer_key < ?1 || '/') "
                     "ORDER BY committed DESC LIMIT 1",
                     answer_key, answer, when, error);
}

static brume_status read_charged(brume_ledger *ledger, uint64_t id, json_t *names,
                                 brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT dataset FROM charge WHERE reservation = ?1 ORDER BY 1",
                                  "i", (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    while (status == BRUME_OK && found) {
        if (json_array_append_new(names, json_string(brume_store_text(statement, 0))) != 0)
            status = brume_no_memory(error, "an answer");
        else
            status = brume_store_step(ledger, statement, &found, error);
    }
    sqlite3_finalize(statement);
    return status;
}

/* The key of a reservation's answer; EUNKNOWN. */
static brume_status find_key(brume_ledger *ledger, uint64_t id, char **key, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT answer_key FROM reservation WHERE id = ?1", "i",
                                  (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && !found)
        status = brume_fail(error, BRUME_EUNKNOWN, "'brume history' lists them",
                            "there is no charge %llu", (unsigned long long)id);
    if (status == BRUME_OK && !(*key = strdup(brume_store_text(statement, 0))))
        status = brume_no_memory(error, "an answer");
    sqlite3_finalize(statement);
    return status;
}

brume_status brume_ledger_recall_reservation(brume_ledger *ledger, uint64_t id, json_t **answer,
                                             json_t **datasets, char when[BRUME_WHEN_TEXT],
                                             brume_error *error)
{
    char *key = NULL;
    json_t *found = NULL, *names = json_array();
    brume_status status = names ? find_key(ledger, id, &key, error)
                                : brume_no_memory(error, "an answer");
    if (status == BRUME_OK)
        status = recall_by(ledger, "SELECT committed, body FROM answer WHERE answer_key = ?1", key,
                           &found, when, error);
    if (status == BRUME_OK && !found)
        status = brume_fail(error, BRUME_EUNKNOWN, "its price stays spent",
                            "charge %llu has no recorded answer", (unsigned long long)id);
    if (status == BRUME_OK)
        status = read_charged(ledger, id, names, error);
    free(key);
    if (status != BRUME_OK) {
        json_decref(found);
        json_decref(names);
        return status;
    }
    *answer = found;
    *datasets = names;
    return BRUME_OK;
}
