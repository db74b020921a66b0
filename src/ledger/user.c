/* Users as they are: who a token's user is, and whether that user may act.
 *
 * Promise: reading takes no lock and writes nothing; every refusal has one text. */
#include "ledger/user.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "ledger/secret.h"
#include "ledger/token.h"
#include "ledger/user_row.h"

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
}

static const char *const role_words[] = {"", "owner", "analyst", "auditor"};

const char *brume_role_word(brume_role role)
{
    return role <= BRUME_ROLE_AUDITOR ? role_words[role] : "";
}

brume_status brume_role_parse(const char *word, brume_role *out, brume_error *error)
{
    for (int i = BRUME_ROLE_OWNER; i <= BRUME_ROLE_AUDITOR; i++)
        if (strcmp(word, role_words[i]) == 0) {
            *out = (brume_role)i;
            return BRUME_OK;
        }
    return brume_fail(error, BRUME_EUNKNOWN, "one of: owner, analyst, auditor", "no role '%.40s'",
                      word);
}

/* One text whatever the reason. */
static brume_status refusal(brume_error *error)
{
    return brume_fail(error, BRUME_EPOLICY, "ask the owner for a new token",
                      "the token is not valid");
}

/* ---- rows ---- */

void brume_user_secrets(const char *user, char hash[BRUME_USER_SECRET],
                        char verifier[BRUME_USER_SECRET])
{
    snprintf(hash, BRUME_USER_SECRET, "token of %s", user);
    snprintf(verifier, BRUME_USER_SECRET, "verifier of %s", user);
}

static brume_status read_columns(sqlite3_stmt *statement, brume_user_row *out, brume_error *error)
{
    brume_user_row row = {BRUME_ROLE_NONE, sqlite3_column_int64(statement, 1),
                          (uint64_t)sqlite3_column_int64(statement, 2),
                          (uint64_t)sqlite3_column_int64(statement, 3),
                          strcmp(brume_store_text(statement, 4), "removed") == 0};
    if (brume_role_parse(brume_store_text(statement, 0), &row.role, NULL) != BRUME_OK)
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "the ledger's record of a user cannot be read");
    *out = row;
    return BRUME_OK;
}

brume_status brume_user_read(brume_ledger *ledger, const char *name, brume_user_row *out,
                             bool *found, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    *found = false;
    if (ledger->schema < 4)
        return BRUME_OK;
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT role, expires, issued, changed, state FROM user WHERE name = ?1", "t", name));
    brume_status status = brume_store_step(ledger, statement, found, error);
    if (status == BRUME_OK && *found)
        status = read_columns(statement, out, error);
    sqlite3_finalize(statement);
    return status;
}

bool brume_user_is_active(const brume_user_row *row, int64_t now)
{
    return !row->removed && (row->expires == 0 || now < row->expires);
}

void brume_user_close(brume_user *user)
{
    if (user)
        free(user->name);
    free(user);
}

/* A user of this name; `verifier` is what is kept of the token. */
static brume_status make_user(const char *name, const brume_user_row *row,
                              const brume_scram_verifier *verifier, brume_user **out,
                              brume_error *error)
{
    brume_user *user = calloc(1, sizeof *user);
    char *copy = strdup(name);
    if (!user || !copy) {
        free(user);
        free(copy);
        return out_of_memory(error);
    }
    *user = (brume_user){copy, row->role, row->expires, row->issued, *verifier};
    *out = user;
    return BRUME_OK;
}

/* ---- by token ---- */

/* Compare with every user's hash, to the end; `name` is the one that has it, or "". */
static brume_status find_hash(brume_ledger *ledger, const char *hash,
                              char name[BRUME_MOST_USER_NAME + 1], brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT user.name, secret.value FROM user JOIN secret ON "
                                  "secret.name = 'token of ' || user.name",
                                  ""));
    bool row = true;
    brume_status status = BRUME_OK;
    name[0] = 0;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row &&
            brume_token_hash_equal(hash, brume_store_text(statement, 1)))
            snprintf(name, BRUME_MOST_USER_NAME + 1, "%s", brume_store_text(statement, 0));
    }
    sqlite3_finalize(statement);
    return status;
}

static brume_status read_verifier(brume_ledger *ledger, const char *name, brume_scram_verifier *out,
                                  brume_error *error)
{
    char hash[BRUME_USER_SECRET], verifier[BRUME_USER_SECRET], *text = NULL;
    brume_user_secrets(name, hash, verifier);
    BRUME_TRY(brume_secret_read(ledger, verifier, &text, error));
    brume_status status = brume_verifier_parse(text ? text : "", out, error);
    free(text);
    return status;
}

brume_status brume_ledger_authenticate(brume_ledger *ledger, const char *token, int64_t now,
                                       brume_user **out, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT], name[BRUME_MOST_USER_NAME + 1];
    brume_user_row row = {0};
    brume_scram_verifier verifier;
    bool found = false;
    BRUME_TRY(brume_token_hash(token ? token : "", hash, error));
    if (ledger->schema < 4)
        return refusal(error);
    BRUME_TRY(find_hash(ledger, hash, name, error));
    BRUME_TRY(brume_user_read(ledger, name, &row, &found, error));
    if (!found || !brume_user_is_active(&row, now))
        return refusal(error);
    BRUME_TRY(read_verifier(ledger, name, &verifier, error));
    return make_user(name, &row, &verifier, out, error);
}

/* ---- by name ---- */

brume_status brume_ledger_find_user(brume_ledger *ledger, const char *name, int64_t now,
                                    brume_user **out, brume_error *error)
{
    char *key = NULL;
    brume_user_row row = {0};
    brume_scram_verifier verifier;
    bool found = false;
    BRUME_TRY(brume_secret_read(ledger, BRUME_DECOY_KEY, &key, error));
    /* For every name, so that one that is somebody's takes no less time. */
    brume_status status = brume_verifier_decoy(key ? key : "", name, &verifier, error);
    free(key);
    if (status == BRUME_OK)
        status = brume_user_read(ledger, name, &row, &found, error);
    if (status != BRUME_OK)
        return status;
    if (found && brume_user_is_active(&row, now))
        BRUME_TRY(read_verifier(ledger, name, &verifier, error));
    else
        row = (brume_user_row){0};
    return make_user(name, &row, &verifier, out, error);
}

/* ---- acting ---- */

brume_status brume_ledger_act_as(brume_ledger *ledger, const char *name, uint64_t issued,
                                 brume_error *error)
{
    char *copy = strdup(name);
    if (!copy)
        return out_of_memory(error);
    free(ledger->user);
    ledger->user = copy;
    ledger->user_issued = issued;
    return BRUME_OK;
}

brume_status brume_ledger_check_user(brume_ledger *ledger, const char *name, uint64_t issued,
                                     int64_t now, brume_role *role, brume_error *error)
{
    brume_user_row row = {0};
    bool found = false;
    BRUME_TRY(brume_user_read(ledger, name, &row, &found, error));
    if (!found || !brume_user_is_active(&row, now) || (issued != 0 && issued != row.issued))
        return refusal(error);
    *role = row.role;
    return BRUME_OK;
}

brume_status brume_user_check_charge(brume_ledger *ledger, brume_error *error)
{
    brume_role role = BRUME_ROLE_NONE;
    if (!ledger->user)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_check_user(ledger, ledger->user, ledger->user_issued,
                                      (int64_t)time(NULL), &role, error));
    if (role == BRUME_ROLE_AUDITOR)
        return brume_fail(error, BRUME_EPOLICY, "ask the owner for the role of an analyst",
                          "an auditor asks no questions of the data");
    return BRUME_OK;
}

brume_status brume_user_check_owner(brume_ledger *ledger, brume_error *error)
{
    brume_role role = BRUME_ROLE_NONE;
    if (!ledger->user)
        return BRUME_OK;
    BRUME_TRY(brume_ledger_check_user(ledger, ledger->user, ledger->user_issued,
                                      (int64_t)time(NULL), &role, error));
    if (role != BRUME_ROLE_OWNER)
        return brume_fail(error, BRUME_EPOLICY, "ask the owner", "only an owner does that");
    return BRUME_OK;
}
