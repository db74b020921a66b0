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
#include "ledger/reserve.h"
#include "ledger/review.h"
#include "ledger/user_row.h"
#include "ledger/page_of_windows.h"
#include "ledger/wording.h"

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

/* ---- windows ---- */

/* "2026-01-03", "2026-01-03..2026-01-05", "undated". */
static void print_windows(const brume_dataset *dataset, const brume_window_run *run, char *out,
                          size_t size)
{
    char first[BRUME_WINDOW_LABEL], last[BRUME_WINDOW_LABEL];
    brume_window_grid grid;
    const char **values = NULL;
    if (run->first == BRUME_UNDATED || !brume_dataset_grid(dataset->policy, &grid, &values)) {
        snprintf(out, size, "%s", run->first == BRUME_UNDATED ? "undated" : "");
        return;
    }
    brume_window_label(&grid, run->first, first);
    brume_window_label(&grid, run->last, last);
    snprintf(out, size, "%s%s%s", first, run->first < run->last ? ".." : "",
             run->first < run->last ? last : "");
    free(values);
}

/* The first windows that have too little, what they have and what is needed. */
static brume_status lacks(const brume_dataset *dataset, const brume_window_sum *limit,
                          const brume_window_run *run, const brume_charge *price,
                          brume_error *error)
{
    char windows[2 * BRUME_WINDOW_LABEL + 4], left[BRUME_DECIMAL_TEXT], needed[BRUME_DECIMAL_TEXT];
    brume_charge rest;
    BRUME_TRY(brume_window_left(price->rule, limit, &run->spent, &rest, error));
    bool by_delta = brume_decimal_compare(&price->amount, &rest.amount) <= 0;
    brume_decimal_print(by_delta ? &rest.delta : &rest.amount, left, sizeof left);
    brume_decimal_print(by_delta ? &price->delta : &price->amount, needed, sizeof needed);
    print_windows(dataset, run, windows, sizeof windows);
    return brume_fail(
        error, BRUME_EBUDGET,
        "'brume budget' shows what each window has; ask for less, or of other windows",
        "'%s' in %s has %s %s left, and %s is needed; nothing was charged", dataset->name, windows,
        by_delta                                 ? "delta"
        : price->rule == BRUME_RULE_CONCENTRATED ? "rho"
                                                 : "epsilon",
        left, needed);
}

/* "windows" and "undated" of an entry; false if memory is out. */
static bool set_to_json(const brume_window_set *set, json_t *entry)
{
    json_t *ranges = json_array();
    for (size_t i = 0; i < set->count; i++)
        if (json_array_append_new(ranges, json_pack("[I,I]", (json_int_t)set->ranges[i].first,
                                                    (json_int_t)set->ranges[i].last)) != 0) {
            json_decref(ranges);
            return false;
        }
    return json_object_set_new(entry, "windows", ranges) == 0 &&
           (!set->undated || json_object_set_new(entry, "undated", json_true()) == 0);
}

/* Every touched window, in the current transaction: all of them or none. */
static brume_status charge_windows(brume_ledger *ledger, const brume_dataset *dataset,
                                   const brume_ledger_charge *charge, json_t *entry,
                                   brume_error *error)
{
    if (!dataset->has_windows)
        return charge->windows ? brume_fail(error, BRUME_EINTERNAL, NULL,
                                            "windows are charged, and '%s' has none", dataset->name)
                               : BRUME_OK;
    if (!charge->windows || !charge->window_price) /* nothing may be asked past the windows */
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask it with 'brume query'",
                          "this cannot be asked yet of a dataset with windows, such as '%s'",
                          dataset->name);
    if (dataset->no_budget && (charge->windows->undated || charge->windows->count == 0))
        return brume_fail(error, BRUME_EINTERNAL, NULL,
                          "rows outside all windows are read, and nothing protects them");
    char price[BRUME_CHARGE_TEXT], sum[BRUME_WINDOW_SUM_TEXT];
    BRUME_TRY(brume_filter_check(&dataset->window_budget, charge->window_price, error));
    const brume_window_sum asked = brume_window_sum_of_price(charge->window_price);
    const brume_window_sum limits[] = {brume_window_sum_of_limit(&dataset->window_budget),
                                       brume_window_sum_of_limit(&dataset->filter)};
    brume_window_run lacking = {0};
    brume_window_sum fullest = {0, 0};
    brume_status status = brume_window_pages_charge(ledger, dataset->name, charge->windows, &asked,
                                                    limits, &lacking, &fullest, error);
    if (status == BRUME_EBUDGET)
        return lacks(dataset, &limits[lacking.first == BRUME_UNDATED], &lacking,
                     charge->window_price, error);
    BRUME_TRY(status);
    BRUME_TRY(brume_charge_print(charge->window_price, price, error));
    bool good = set_to_json(charge->windows, entry) &&
                json_object_set_new(entry, "window_price", json_string(price)) == 0 &&
                json_object_set_new(entry, "fullest",
                                    json_string(brume_window_sum_print(&fullest, sum))) == 0;
    return good ? BRUME_OK : out_of_memory(error);
}

/* A unit's whole history: its budget, and the user's allotment. */
static brume_status charge_unit(brume_ledger *ledger, brume_dataset *dataset,
                                const brume_ledger_charge *charge,
                                char allotment[BRUME_FILTER_TEXT], brume_error *error)
{
    if (dataset->no_budget) { /* the windows protect, and what is summed here is nobody's promise */
        bool has = false;
        brume_filter filter;
        char text[BRUME_HOLDER_TEXT];
        const char *holder = brume_ledger_holder(ledger, text);
        if (holder)
            BRUME_TRY(brume_ledger_allotment(ledger, holder, dataset->name, &has, &filter, error));
        if (has || ledger->project)
            return brume_fail(
                error, BRUME_EUNSUPPORTED, "ask the owner to take it back",
                "allotments on '%s', which has no budget for whole histories, are not "
                "charged yet",
                dataset->name);
        BRUME_TRY(brume_filter_check(&dataset->filter, charge->price, error));
        dataset->filter.charges++;
        return BRUME_OK;
    }
    BRUME_TRY(brume_filter_charge(&dataset->filter, charge->price, error));
    return brume_allotment_charge(ledger, charge->dataset, charge->price, allotment, error);
}

/* Charge one dataset in memory (its windows and new marks go to the file); `charges` gets its
 * entry, *adjacency the dataset's. */
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
        status = charge_unit(ledger, dataset, charge, allotment, error);
    json_t *entry = json_object();
    if (status == BRUME_OK)
        status = entry ? charge_windows(ledger, dataset, charge, entry, error)
                       : out_of_memory(error);
    if (status == BRUME_OK)
        status = see_marks(ledger, charge, false, error);
    if (status == BRUME_OK)
        status = brume_charge_print(charge->price, price, error);
    if (status == BRUME_OK)
        status = brume_filter_print(&dataset->filter, state, error);
    brume_dataset_close(dataset);
    json_t *told = status == BRUME_OK
                       ? json_pack("{s:s,s:s,s:s,s:s*}", "dataset", charge->dataset, "price", price,
                                   "filter", state, "allotment", *allotment ? allotment : NULL)
                       : NULL;
    if (status == BRUME_OK &&
        (!told || json_object_update(entry, told) != 0 || json_array_append(charges, entry) != 0))
        status = out_of_memory(error);
    json_decref(told);
    json_decref(entry);
    return status;
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
        char holder[BRUME_HOLDER_TEXT];
        if (allotment)
            BRUME_TRY(brume_allotment_store(ledger, brume_ledger_holder(ledger, holder), name,
                                            allotment, id, error));
    }
    return BRUME_OK;
}

/* Answers that are asked for anew have keys of their own, "KEY.41" for reservation 41: the range
 * from "KEY." to "KEY/". */
enum { ANEW_KEY_TEXT = BRUME_DIGEST_TEXT + 24 };

static brume_status print_key(brume_ledger *ledger, const brume_reservation *reservation,
                              uint64_t id, char key[ANEW_KEY_TEXT], brume_error *error)
{
    char number[24] = "", keyed[BRUME_DIGEST_TEXT];
    BRUME_TRY(brume_keyed_question(ledger, reservation->answer_key, keyed, error));
    if (reservation->anew || ledger->approvals > 0) /* one that is held shares its key with none */
        snprintf(number, sizeof number, ".%llu", (unsigned long long)id);
    int length = snprintf(key, ANEW_KEY_TEXT, "%s%s", keyed, number);
    return length < ANEW_KEY_TEXT
               ? BRUME_OK
               : brume_fail(error, BRUME_EINTERNAL, NULL, "the key of an answer is too long");
}

static brume_status write_reservation(brume_ledger *ledger, const brume_reservation *reservation,
                                      json_t *charges, uint64_t *id, brume_error *error)
{
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(brume_user_check_charge(ledger, error));
    BRUME_TRY(brume_project_check_charge(ledger, error));
    BRUME_TRY(charge_all(ledger, reservation, charges, error));
    BRUME_TRY(brume_journal_next(ledger, id, error));
    char key[ANEW_KEY_TEXT], wording[BRUME_DIGEST_TEXT];
    BRUME_TRY(print_key(ledger, reservation, *id, key, error));
    BRUME_TRY(
        brume_wording_keep(ledger, *id, reservation->sql, reservation->typed, wording, error));
    BRUME_TRY(brume_store_execute(
        ledger, error, "INSERT INTO reservation(id, answer_key, state) VALUES(?1,?2,'reserved')",
        "it", (int64_t)*id, key));
    BRUME_TRY(store_charges(ledger, charges, *id, error));
    json_t *body = json_pack("{s:O,s:s,s:O?,s:s}", "charges", charges, "wording", wording, "events",
                             reservation->events, "answer_key", key);
    if (body && ((ledger->project &&
                  json_object_set_new(body, "project", json_string(ledger->project)) != 0) ||
                 (ledger->approvals > 0 &&
                  json_object_set_new(body, "approvals", json_integer(ledger->approvals)) != 0))) {
        json_decref(body);
        body = NULL;
    }
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

brume_status brume_reserve_write(brume_ledger *ledger, const brume_reservation *reservation,
                                 uint64_t *id, brume_error *error)
{
    json_t *charges = json_array();
    if (!charges)
        return out_of_memory(error);
    brume_status status = write_reservation(ledger, reservation, charges, id, error);
    json_decref(charges);
    return status;
}

brume_status brume_ledger_reserve(brume_ledger *ledger, const brume_reservation *reservation,
                                  uint64_t *id, brume_error *error)
{
    if (reservation->charge_count == 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "a reservation that charges nobody");
    uint64_t new_id = 0;
    brume_status status = brume_store_begin(ledger, error);
    if (status == BRUME_OK) {
        status = brume_reserve_write(ledger, reservation, &new_id, error);
        if (status == BRUME_OK)
            status = brume_store_commit(ledger, error);
        else
            brume_store_undo(ledger);
    }
    if (status == BRUME_OK)
        *id = new_id;
    return status;
}

/* ---- commit and fail ---- */

/* The answer key of a reservation that is still open. */
static brume_status open_reservation(brume_ledger *ledger, uint64_t id, char **answer_key,
                                     brume_error *error)
{
    brume_statement *statement = NULL;
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
    brume_store_finish(statement);
    return status;
}

static brume_status set_state(brume_ledger *ledger, uint64_t id, const char *state,
                              brume_error *error)
{
    return brume_store_execute(ledger, error, "UPDATE reservation SET state=?2 WHERE id=?1", "it",
                               (int64_t)id, state);
}

/* The first answer under a key stays: a second one was paid for and is shown, not kept. `hash` is
 * for the row of the journal that comes next. */
static brume_status keep_answer(brume_ledger *ledger, const char *answer_key, const char *answer,
                                char hash[BRUME_DIGEST_TEXT], brume_error *error)
{
    char salt[BRUME_SALT_TEXT];
    uint64_t row = 0;
    BRUME_TRY(brume_salt_draw(salt, error));
    BRUME_TRY(brume_salted_digest(salt, answer, hash, error));
    BRUME_TRY(brume_journal_next(ledger, &row, error));
    return brume_store_execute(ledger, error,
                               "INSERT INTO answer(answer_key, committed, salt, body) "
                               "VALUES(?1,?2,?3,?4) ON CONFLICT(answer_key) DO NOTHING",
                               "titt", answer_key, (int64_t)row, salt, answer);
}

static brume_status write_commit(brume_ledger *ledger, uint64_t id, const char *answer_key,
                                 const char *answer, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    BRUME_TRY(keep_answer(ledger, answer_key, answer, hash, error));
    json_t *body = json_pack("{s:I,s:s}", "reservation", (json_int_t)id, "answer_hash", hash);
    BRUME_TRY(brume_journal_append(ledger, "commit", body, error));
    return set_state(ledger, id, "committed", error);
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

brume_status brume_reserve_close(brume_ledger *ledger, uint64_t id, const char *answer,
                                 brume_error *error)
{
    return close_reservation(ledger, id, answer, BRUME_OK, error);
}

brume_status brume_reserve_note(brume_ledger *ledger, uint64_t id, const char *key,
                                const char *part, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT], keyed[BRUME_DIGEST_TEXT];
    char *answer_key = NULL;
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(open_reservation(ledger, id, &answer_key, error));
    free(answer_key); /* that it is open is all */
    BRUME_TRY(brume_keyed_question(ledger, key, keyed, error));
    BRUME_TRY(keep_answer(ledger, keyed, part, hash, error));
    json_t *body = json_pack("{s:I,s:s,s:s}", "reservation", (json_int_t)id, "answer_key", keyed,
                             "answer_hash", hash);
    return brume_journal_append(ledger, "note", body, error);
}

brume_status brume_ledger_note(brume_ledger *ledger, uint64_t id, const char *key,
                               const json_t *part, brume_error *error)
{
    char *text = json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (!text)
        return out_of_memory(error);
    brume_status status = brume_store_begin(ledger, error);
    if (status == BRUME_OK) {
        status = brume_reserve_note(ledger, id, key, text, error);
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
    brume_statement *statement = NULL;
    brume_journal_row row;
    bool found = false;
    BRUME_TRY(brume_journal_read(ledger, id, &statement, error));
    brume_status status = brume_journal_step(ledger, statement, &row, &found, error);
    if (status == BRUME_OK && (!found || row.id != id))
        status = brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                            "a reservation is not in the journal");
    if (status == BRUME_OK)
        snprintf(when, BRUME_WHEN_TEXT, "%s", row.time);
    brume_store_finish(statement);
    return status;
}

/* Is this the answer that row `committed` of the journal speaks of? *id is its reservation, *note
 * whether it is a part that was recorded on the way. */
static brume_status check_answer(brume_ledger *ledger, uint64_t committed, const char *salt,
                                 const char *text, uint64_t *id, bool *note, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    json_t *body = NULL;
    BRUME_TRY(brume_salted_digest(salt, text, hash, error));
    BRUME_TRY(brume_journal_body(ledger, committed, &body, error));
    const char *recorded = json_string_value(json_object_get(body, "answer_hash"));
    *id = (uint64_t)json_integer_value(json_object_get(body, "reservation"));
    *note = json_object_get(body, "answer_key") != NULL;
    bool same = recorded && strcmp(recorded, hash) == 0;
    json_decref(body);
    return same ? BRUME_OK
                : brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                             "a recorded answer is not the one its journal says");
}

static brume_status parse_answer(const char *text, json_t **out, brume_error *error)
{
    *out = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    return *out ? BRUME_OK
                : brume_fail(error, BRUME_EDAMAGED, NULL, "a recorded answer cannot be read");
}

/* Whether answers are given out that are held: to their reviewer, who was asked for before. */
typedef enum whose { OF_THE_CALLER, OF_THE_REVIEWER } whose;

/* The first answer of a statement that may be shown (review.h); NULL: none. EPOLICY: there are
 * some, and none may be; but what was only noted on the way is then as if it were not there. */
static brume_status recall_by(brume_ledger *ledger, const char *where, const char *key,
                              const char *other, whose reader, json_t **answer, char *when,
                              brume_error *error)
{
    char select[512];
    brume_statement *statement = NULL;
    bool more = false;
    brume_error hidden = {0};
    *answer = NULL;
    snprintf(select, sizeof select, "SELECT committed, body, %s FROM answer WHERE %s",
             ledger->schema < 5 ? "''" : "salt", where);
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, select, "tt", key, other));
    brume_status status = BRUME_OK;
    while ((status = brume_store_step(ledger, statement, &more, error)) == BRUME_OK && more) {
        brume_error why = {0};
        const char *text = brume_store_text(statement, 1);
        uint64_t committed = (uint64_t)brume_store_int(statement, 0), id = 0;
        bool note = false;
        status = check_answer(ledger, committed, brume_store_text(statement, 2), text, &id, &note,
                              error);
        if (status != BRUME_OK)
            break;
        brume_status may = reader == OF_THE_REVIEWER ? BRUME_OK
                                                     : brume_review_check(ledger, id, &why);
        if (may == BRUME_EPOLICY) {
            if (!note && !*hidden.message)
                hidden = why;
            continue;
        }
        status = may == BRUME_OK ? parse_answer(text, answer, error)
                                 : brume_fail(error, may, why.hint, "%s", why.message);
        if (status == BRUME_OK && when)
            status = brume_ledger_reserved_at(ledger, id, when, error);
        break;
    }
    brume_store_finish(statement);
    if (status == BRUME_OK && !*answer && *hidden.message)
        status = brume_fail(error, BRUME_EPOLICY, hidden.hint, "%s", hidden.message);
    if (status != BRUME_OK) {
        json_decref(*answer);
        *answer = NULL;
    }
    return status;
}

brume_status brume_ledger_recall(brume_ledger *ledger, const char *answer_key, json_t **answer,
                                 char when[BRUME_WHEN_TEXT], brume_error *error)
{
    char keyed[BRUME_DIGEST_TEXT] = "";
    if (ledger->schema >= 5)
        BRUME_TRY(brume_keyed_question(ledger, answer_key, keyed, error));
    /* answers from before keys were keyed are there under the plain one, and of no project */
    if (ledger->project)
        answer_key = keyed;
    return recall_by(
        ledger,
        "answer_key IN (?1, ?2) OR (answer_key > ?1 || '.' AND answer_key < ?1 || '/') "
        "OR (?2 <> '' AND answer_key > ?2 || '.' AND answer_key < ?2 || '/') "
        "ORDER BY committed DESC",
        answer_key, keyed, OF_THE_CALLER, answer, when, error);
}

static brume_status read_charged(brume_ledger *ledger, uint64_t id, json_t *names,
                                 brume_error *error)
{
    brume_statement *statement = NULL;
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
    brume_store_finish(statement);
    return status;
}

/* The key of a reservation's answer; EUNKNOWN. */
static brume_status find_key(brume_ledger *ledger, uint64_t id, char **key, brume_error *error)
{
    brume_statement *statement = NULL;
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
    brume_store_finish(statement);
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
        status = recall_by(ledger, "answer_key IN (?1, ?2)", key, NULL, OF_THE_CALLER, &found, when,
                           error);
    if (status == BRUME_OK && !found)
        status = brume_fail(error, BRUME_EUNKNOWN, "its price stays spent",
                            strncmp(key, "redacted.", 9) == 0
                                ? "the answer of charge %llu was redacted"
                                : "charge %llu has no recorded answer",
                            (unsigned long long)id);
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

brume_status brume_recall_held(brume_ledger *ledger, uint64_t id, json_t **answer,
                               brume_error *error)
{
    char *key = NULL;
    json_t *found = NULL;
    BRUME_TRY(find_key(ledger, id, &key, error));
    brume_status status = recall_by(ledger, "answer_key IN (?1, ?2)", key, NULL, OF_THE_REVIEWER,
                                    &found, NULL, error);
    free(key);
    if (status == BRUME_OK && !found)
        status = brume_fail(error, BRUME_EUNKNOWN, "its price stays spent",
                            "charge %llu has no recorded answer", (unsigned long long)id);
    if (status == BRUME_OK)
        *answer = found;
    return status;
}
