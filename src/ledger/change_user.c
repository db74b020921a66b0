/* What an owner does to users: add, rotate the token, allot, remove, list.
 *
 * Promise: each is one transaction with one row of the journal; on an error nothing is changed, and
 * no token was issued. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/secret.h"
#include "ledger/token.h"
#include "ledger/user_row.h"

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "writing the ledger: out of memory");
}

static brume_status check_name(const char *name, brume_error *error)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "._-@";
    size_t length = strlen(name);
    if (length >= 1 && length <= BRUME_MOST_USER_NAME && strspn(name, allowed) == length)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "1 to 63 letters, digits and . _ - @",
                      "'%.80s' is no name for a user", name);
}

/* The row of a user who was not removed; EUNKNOWN. */
static brume_status read_present(brume_ledger *ledger, const char *name, brume_user_row *row,
                                 brume_error *error)
{
    bool found = false;
    BRUME_TRY(brume_user_read(ledger, name, row, &found, error));
    if (!found || row->removed)
        return brume_fail(error, BRUME_EUNKNOWN, "see 'brume user list'",
                          found ? "the user '%.80s' was removed" : "no user '%.80s'", name);
    return BRUME_OK;
}

static brume_status keep_token(brume_ledger *ledger, const char *name, const brume_kept_token *kept,
                               brume_error *error)
{
    char hash[BRUME_USER_SECRET], verifier[BRUME_USER_SECRET];
    brume_user_secrets(name, hash, verifier);
    BRUME_TRY(brume_secret_replace(ledger, hash, kept->hash, error));
    return brume_secret_replace(ledger, verifier, kept->verifier, error);
}

/* ---- allotments ---- */

static brume_status allot_one(brume_ledger *ledger, const char *name, const brume_allotment *typed,
                              uint64_t id, json_t *list, brume_error *error)
{
    brume_dataset *dataset = NULL;
    brume_filter before, after;
    bool has = false;
    char state[BRUME_FILTER_TEXT];
    BRUME_TRY(brume_ledger_dataset(ledger, typed->dataset, &dataset, error));
    brume_status status =
        brume_ledger_allotment(ledger, name, typed->dataset, &has, &before, error);
    if (status == BRUME_OK)
        status = brume_allotment_filter(dataset, typed, has ? &before : NULL, &after, error);
    brume_dataset_close(dataset);
    if (status == BRUME_OK)
        status = brume_filter_print(&after, state, error);
    if (status == BRUME_OK)
        status = brume_allotment_store(ledger, name, typed->dataset, state, id, error);
    if (status != BRUME_OK)
        return status;
    json_t *entry = json_pack("{s:s,s:s}", "dataset", typed->dataset, "filter", state);
    return json_array_append_new(list, entry) == 0 ? BRUME_OK : out_of_memory(error);
}

/* *out is the list for the journal row `id`; the caller frees it also on an error. */
static brume_status allot_all(brume_ledger *ledger, const char *name, brume_role role,
                              const brume_allotment *typed, size_t count, uint64_t id, json_t **out,
                              brume_error *error)
{
    *out = json_array();
    if (!*out)
        return out_of_memory(error);
    if (count > 0 && role == BRUME_ROLE_AUDITOR)
        return brume_fail(error, BRUME_EPOLICY, "leave the allotment out, or add an analyst",
                          "an auditor asks nothing, and has nothing allotted");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(typed[i].dataset, typed[j].dataset) == 0)
                return brume_fail(error, BRUME_EARGUMENT, "name each dataset once",
                                  "'%.80s' is allotted twice", typed[i].dataset);
        BRUME_TRY(allot_one(ledger, name, &typed[i], id, *out, error));
    }
    return BRUME_OK;
}

/* ---- the four changes, inside a transaction ---- */

typedef struct change {
    const brume_new_user *user; /* only for `add` */
    const char *name;
    int64_t expires; /* -1: as it is */
    const brume_allotment *allotments;
    size_t allotment_count;
    const brume_kept_token *kept; /* of the new token */
} change;

static brume_status add_now(brume_ledger *ledger, const change *what, brume_error *error)
{
    const brume_new_user *new = what->user;
    brume_user_row row = {0};
    bool taken = false;
    uint64_t id = 0;
    json_t *list = NULL;
    BRUME_TRY(brume_user_read(ledger, new->name, &row, &taken, error));
    if (taken)
        return brume_fail(error, BRUME_EPOLICY,
                          row.removed ? "a name is not given twice, since the history names people "
                                        "by it: choose another"
                                      : "choose another name, or rotate the token: 'brume user "
                                        "token'",
                          row.removed ? "the name '%s' was a user's before"
                                      : "the name '%s' is a user's already",
                          new->name);
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(ledger, error,
                                  "INSERT INTO user(name, role, expires, issued, changed, state) "
                                  "VALUES(?1,?2,?3,?4,?4,'active')",
                                  "ttii", new->name, brume_role_word(new->role), new->expires,
                                  (int64_t)id));
    BRUME_TRY(keep_token(ledger, new->name, what->kept, error));
    brume_status status = allot_all(ledger, new->name, new->role, new->allotments,
                                    new->allotment_count, id, &list, error);
    if (status == BRUME_OK)
        status =
            brume_journal_append(ledger, "user",
                                 json_pack("{s:s,s:s,s:s,s:I,s:O}", "action", "add", "name",
                                           new->name, "role", brume_role_word(new->role), "expires",
                                           (json_int_t) new->expires, "allotments", list),
                                 error);
    json_decref(list);
    return status;
}

static brume_status rotate_now(brume_ledger *ledger, const change *what, brume_error *error)
{
    brume_user_row row = {0};
    uint64_t id = 0;
    BRUME_TRY(read_present(ledger, what->name, &row, error));
    int64_t expires = what->expires < 0 ? row.expires : what->expires;
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(ledger, error,
                                  "UPDATE user SET expires=?2, issued=?3, changed=?3 WHERE name=?1",
                                  "tii", what->name, expires, (int64_t)id));
    BRUME_TRY(keep_token(ledger, what->name, what->kept, error));
    return brume_journal_append(ledger, "user",
                                json_pack("{s:s,s:s,s:I}", "action", "token", "name", what->name,
                                          "expires", (json_int_t)expires),
                                error);
}

static brume_status allot_now(brume_ledger *ledger, const change *what, brume_error *error)
{
    brume_user_row row = {0};
    uint64_t id = 0;
    json_t *list = NULL;
    BRUME_TRY(read_present(ledger, what->name, &row, error));
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(ledger, error, "UPDATE user SET changed=?2 WHERE name=?1", "ti",
                                  what->name, (int64_t)id));
    brume_status status = allot_all(ledger, what->name, row.role, what->allotments,
                                    what->allotment_count, id, &list, error);
    if (status == BRUME_OK)
        status = brume_journal_append(
            ledger, "user",
            json_pack("{s:s,s:s,s:O}", "action", "allot", "name", what->name, "allotments", list),
            error);
    json_decref(list);
    return status;
}

static brume_status remove_now(brume_ledger *ledger, const change *what, brume_error *error)
{
    brume_user_row row = {0};
    uint64_t id = 0;
    char hash[BRUME_USER_SECRET], verifier[BRUME_USER_SECRET];
    BRUME_TRY(read_present(ledger, what->name, &row, error));
    BRUME_TRY(brume_journal_next(ledger, &id, error));
    BRUME_TRY(brume_store_execute(ledger, error,
                                  "UPDATE user SET state='removed', changed=?2 WHERE name=?1", "ti",
                                  what->name, (int64_t)id));
    brume_user_secrets(what->name, hash, verifier);
    BRUME_TRY(brume_secret_forget(ledger, hash, error));
    BRUME_TRY(brume_secret_forget(ledger, verifier, error));
    return brume_journal_append(
        ledger, "user", json_pack("{s:s,s:s}", "action", "remove", "name", what->name), error);
}

static brume_status make_change(brume_ledger *ledger, const change *what,
                                brume_status (*now)(brume_ledger *, const change *, brume_error *),
                                brume_error *error)
{
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = brume_journal_check_head(ledger, error);
    if (status == BRUME_OK)
        status = brume_user_check_owner(ledger, error);
    if (status == BRUME_OK)
        status = now(ledger, what, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

/* ---- as they are called ---- */

brume_status brume_ledger_add_user(brume_ledger *ledger, const brume_new_user *user,
                                   char token[BRUME_TOKEN_TEXT], brume_error *error)
{
    char drawn[BRUME_TOKEN_TEXT];
    brume_kept_token kept;
    BRUME_TRY(check_name(user->name, error));
    if (user->role == BRUME_ROLE_NONE)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a user needs a role");
    if (user->expires < 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a user cannot expire before 1970");
    BRUME_TRY(brume_token_draw(drawn, &kept, error));
    change what = {.user = user, .kept = &kept};
    BRUME_TRY(make_change(ledger, &what, add_now, error));
    memcpy(token, drawn, sizeof drawn);
    return BRUME_OK;
}

brume_status brume_ledger_rotate_token(brume_ledger *ledger, const char *name, int64_t expires,
                                       char token[BRUME_TOKEN_TEXT], brume_error *error)
{
    char drawn[BRUME_TOKEN_TEXT];
    brume_kept_token kept;
    BRUME_TRY(brume_token_draw(drawn, &kept, error));
    change what = {.name = name, .expires = expires, .kept = &kept};
    BRUME_TRY(make_change(ledger, &what, rotate_now, error));
    memcpy(token, drawn, sizeof drawn);
    return BRUME_OK;
}

brume_status brume_ledger_allot(brume_ledger *ledger, const char *name,
                                const brume_allotment *allotments, size_t count, brume_error *error)
{
    change what = {.name = name, .allotments = allotments, .allotment_count = count};
    if (count == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "nothing is allotted");
    return make_change(ledger, &what, allot_now, error);
}

brume_status brume_ledger_remove_user(brume_ledger *ledger, const char *name, brume_error *error)
{
    change what = {.name = name};
    return make_change(ledger, &what, remove_now, error);
}

/* ---- the list ---- */

static json_t *time_to_json(int64_t seconds)
{
    char text[32];
    struct tm utc;
    time_t moment = (time_t)seconds;
    if (seconds == 0)
        return json_null();
    gmtime_r(&moment, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(text);
}

static brume_status add_allotments(brume_ledger *ledger, const char *user, json_t *list,
                                   brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT dataset, filter FROM allotment WHERE user = ?1 ORDER BY dataset", "t", user));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row &&
            json_array_append_new(list,
                                  json_pack("{s:s,s:s}", "dataset", brume_store_text(statement, 0),
                                            "filter", brume_store_text(statement, 1))) != 0)
            status = out_of_memory(error);
    }
    sqlite3_finalize(statement);
    return status;
}

static brume_status add_user(brume_ledger *ledger, const char *name, int64_t now, json_t *users,
                             brume_error *error)
{
    brume_user_row row = {0};
    bool found = false;
    BRUME_TRY(brume_user_read(ledger, name, &row, &found, error));
    const char *state = row.removed                       ? "removed"
                        : brume_user_is_active(&row, now) ? "active"
                                                          : "expired";
    json_t *list = json_array();
    json_t *entry = json_pack("{s:s,s:s,s:o,s:s,s:O}", "name", name, "role",
                              brume_role_word(row.role), "expires", time_to_json(row.expires),
                              "state", state, "allotments", list);
    brume_status status = entry ? add_allotments(ledger, name, list, error) : out_of_memory(error);
    json_decref(list);
    if (status == BRUME_OK)
        return json_array_append_new(users, entry) == 0 ? BRUME_OK : out_of_memory(error);
    json_decref(entry);
    return status;
}

static brume_status list_users(brume_ledger *ledger, int64_t now, json_t *users, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    BRUME_TRY(
        brume_store_prepare(ledger, &statement, error, "SELECT name FROM user ORDER BY name", ""));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row)
            status = add_user(ledger, brume_store_text(statement, 0), now, users, error);
    }
    sqlite3_finalize(statement);
    return status;
}

brume_status brume_ledger_users(brume_ledger *ledger, int64_t now, json_t **out, brume_error *error)
{
    json_t *users = json_array();
    if (!users)
        return out_of_memory(error);
    brume_status status = ledger->schema < 4 ? BRUME_OK : list_users(ledger, now, users, error);
    if (status != BRUME_OK) {
        json_decref(users);
        return status;
    }
    *out = users;
    return BRUME_OK;
}
