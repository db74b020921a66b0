/* What the journal says of users and allotments, recomputed row by row.
 *
 * Promise: brume_user_replay_compare returns BRUME_OK only if every charge of a user was carried by
 * that user's allotment as it stood, every state of an allotment is the sum of the charges since it
 * was given, nobody acted who was not there or had been removed, and the tables of users and
 * allotments hold exactly this. Whether somebody had expired is not recomputed: a row's time is
 * that of a clock, which may have been set. */
#include "ledger/verify_user.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ledger/amend.h"
#include "ledger/user_row.h"

enum { KEY = 400 };

static const char no_memory[] = "out of memory";

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

/* Names of users have no space in them. */
static void make_key(const char *user, const char *dataset, char key[KEY])
{
    snprintf(key, KEY, "%.63s %.300s", user, dataset);
}

brume_status brume_user_replay_open(brume_user_replay *all, brume_error *error)
{
    *all = (brume_user_replay){json_object(), json_object()};
    if (all->users && all->allotments)
        return BRUME_OK;
    brume_user_replay_close(all);
    return brume_fail(error, BRUME_EMEMORY, NULL, "verifying the ledger: out of memory");
}

void brume_user_replay_close(brume_user_replay *all)
{
    json_decref(all->users);
    json_decref(all->allotments);
    *all = (brume_user_replay){0};
}

static json_t *active_user(const brume_user_replay *all, const char *name)
{
    json_t *user = name ? json_object_get(all->users, name) : NULL;
    return user && strcmp(text_of(user, "state"), "active") == 0 ? user : NULL;
}

/* ---- rows ---- */

/* Is `after` a filter of this dataset's rule that is fresh, or has the sums of the one before it?
 */
static bool is_allotted(const json_t *dataset, const json_t *before, const char *after)
{
    brume_filter whole, old, new, expected;
    char text[BRUME_FILTER_TEXT];
    if (brume_filter_parse(text_of(dataset, "filter"), &whole, NULL) != BRUME_OK ||
        brume_filter_parse(after, &new, NULL) != BRUME_OK || new.rule != whole.rule)
        return false;
    if (!before)
        return brume_filter_is_fresh(&new);
    return brume_filter_parse(text_of(before, "filter"), &old, NULL) == BRUME_OK &&
           brume_amended_filter(&old, &new.epsilon, new.rule == BRUME_RULE_PURE ? NULL : &new.delta,
                                &expected, NULL) == BRUME_OK &&
           brume_filter_print(&expected, text, NULL) == BRUME_OK && strcmp(text, after) == 0;
}

static const char *replay_allotments(brume_user_replay *all, uint64_t id, const json_t *body,
                                     const json_t *datasets)
{
    const char *user = text_of(body, "name");
    const json_t *list = json_object_get(body, "allotments");
    size_t i = 0;
    json_t *entry = NULL;
    if (!json_is_array(list))
        return "allots nothing";
    json_array_foreach (list, i, entry) {
        const char *name = text_of(entry, "dataset"), *state = text_of(entry, "filter");
        const json_t *dataset = name ? json_object_get(datasets, name) : NULL;
        char key[KEY];
        if (!dataset || !state)
            return "an allotment of an unknown dataset";
        make_key(user, name, key);
        if (!is_allotted(dataset, json_object_get(all->allotments, key), state))
            return "an allotment that changes what was spent";
        if (!set(all->allotments, key,
                 json_pack("{s:s,s:I}", "filter", state, "last", (json_int_t)id)))
            return no_memory;
    }
    return NULL;
}

static const char *replay_add(brume_user_replay *all, uint64_t id, const json_t *body)
{
    const char *name = text_of(body, "name"), *role = text_of(body, "role");
    const json_t *expires = json_object_get(body, "expires");
    brume_role parsed;
    if (!name || !role || !json_is_integer(expires) ||
        brume_role_parse(role, &parsed, NULL) != BRUME_OK || json_object_get(all->users, name))
        return "not a new user";
    return set(all->users, name,
               json_pack("{s:s,s:I,s:I,s:I,s:s}", "role", role, "expires",
                         json_integer_value(expires), "issued", (json_int_t)id, "changed",
                         (json_int_t)id, "state", "active"))
               ? NULL
               : no_memory;
}

void brume_user_replay_row(brume_user_replay *all, uint64_t id, const json_t *body,
                           const json_t *datasets, const char **wrong)
{
    const char *action = text_of(body, "action"), *name = text_of(body, "name");
    const json_t *expires = json_object_get(body, "expires");
    action = action ? action : "";
    *wrong = NULL;
    if (strcmp(action, "add") == 0) {
        *wrong = replay_add(all, id, body);
        if (!*wrong)
            *wrong = replay_allotments(all, id, body, datasets);
        return;
    }
    json_t *user = active_user(all, name);
    bool good = user && set(user, "changed", json_integer((json_int_t)id));
    if (!good)
        *wrong = "changes a user who is not there";
    else if (strcmp(action, "allot") == 0)
        *wrong = replay_allotments(all, id, body, datasets);
    else if (strcmp(action, "remove") == 0)
        *wrong = set(user, "state", json_string("removed")) ? NULL : no_memory;
    else if (strcmp(action, "token") == 0 && json_is_integer(expires))
        *wrong = set(user, "issued", json_integer((json_int_t)id)) &&
                         set(user, "expires", json_integer(json_integer_value(expires)))
                     ? NULL
                     : no_memory;
    else
        *wrong = "changes a user in an unknown way";
}

void brume_user_replay_actor(const brume_user_replay *all, const char *kind, const json_t *body,
                             const char **wrong)
{
    static const char *const owners[] = {"register", "refuse", "amend", "user"};
    const char *name = text_of(body, "user");
    *wrong = NULL;
    if (!name)
        return;
    if (!json_object_get(all->users, name))
        *wrong = "of a user who is not there";
    const json_t *active = active_user(all, name);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (strcmp(kind, owners[i]) == 0 &&
            (!active || strcmp(text_of(active, "role"), "owner") != 0))
            *wrong = "of a user who is no owner";
}

void brume_user_replay_charge(brume_user_replay *all, uint64_t id, const json_t *body,
                              const json_t *charge, const char **wrong)
{
    const char *name = text_of(body, "user"), *dataset = text_of(charge, "dataset");
    const char *state = text_of(charge, "allotment"), *price_text = text_of(charge, "price");
    char key[KEY], after[BRUME_FILTER_TEXT];
    brume_filter filter;
    brume_charge price;
    *wrong = NULL;
    if (!name) {
        *wrong = state ? "charges an allotment of nobody" : NULL;
        return;
    }
    const json_t *user = active_user(all, name);
    make_key(name, dataset, key);
    json_t *allotment = json_object_get(all->allotments, key);
    if (!user || strcmp(text_of(user, "role"), "auditor") == 0)
        *wrong = "a charge of somebody who may not ask";
    else if (!allotment || !state)
        *wrong = allotment || state ? "an allotment was not charged" : NULL;
    else if (brume_filter_parse(text_of(allotment, "filter"), &filter, NULL) != BRUME_OK ||
             brume_charge_parse(price_text, &price, NULL) != BRUME_OK ||
             brume_filter_charge(&filter, &price, NULL) != BRUME_OK)
        *wrong = "a charge that the allotment did not carry";
    else if (brume_filter_print(&filter, after, NULL) != BRUME_OK || strcmp(after, state) != 0)
        *wrong = "the allotment's state is not the sum of the charges";
    else if (!set(allotment, "filter", json_string(after)) ||
             !set(allotment, "last", json_integer((json_int_t)id)))
        *wrong = no_memory;
}

/* ---- comparing ---- */

static brume_status differs(const char *table, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED,
                      "somebody changed a table of the ledger without its journal",
                      "the table of %s is not what the journal says", table);
}

static bool same(const json_t *object, const char *key, sqlite3_stmt *row, int column)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value))
        return json_integer_value(value) == sqlite3_column_int64(row, column);
    return value && strcmp(json_string_value(value), brume_store_text(row, column)) == 0;
}

static bool is_user(const brume_user_replay *all, sqlite3_stmt *row)
{
    static const char *const keys[] = {"role", "expires", "issued", "changed", "state"};
    const json_t *user = json_object_get(all->users, brume_store_text(row, 0));
    bool good = user != NULL;
    for (int i = 0; good && i < 5; i++)
        good = same(user, keys[i], row, i + 1);
    return good;
}

static bool is_allotment(const brume_user_replay *all, sqlite3_stmt *row)
{
    char key[KEY];
    make_key(brume_store_text(row, 0), brume_store_text(row, 1), key);
    const json_t *allotment = json_object_get(all->allotments, key);
    return allotment && same(allotment, "filter", row, 2) && same(allotment, "last", row, 3);
}

/* Of somebody who was not removed; sqlite gives each name once. */
static bool is_token(const brume_user_replay *all, sqlite3_stmt *row)
{
    return active_user(all, brume_store_text(row, 0)) != NULL;
}

static brume_status compare(brume_ledger *ledger, const brume_user_replay *all, const char *sql,
                            bool (*is_right)(const brume_user_replay *, sqlite3_stmt *),
                            size_t expected, const char *name, brume_error *error)
{
    sqlite3_stmt *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, sql, ""));
    size_t rows = 0;
    bool more = true;
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && more) {
        status = brume_store_step(ledger, statement, &more, error);
        rows += status == BRUME_OK && more;
        if (status == BRUME_OK && more && !is_right(all, statement))
            status = differs(name, error);
    }
    sqlite3_finalize(statement);
    return status == BRUME_OK && rows != expected ? differs(name, error) : status;
}

brume_status brume_user_replay_compare(brume_ledger *ledger, const brume_user_replay *all,
                                       brume_error *error)
{
    if (ledger->schema < 4)
        return json_object_size(all->users) == 0 ? BRUME_OK : differs("users", error);
    size_t active = 0;
    const char *name = NULL;
    json_t *user = NULL;
    json_object_foreach (all->users, name, user)
        active += active_user(all, name) != NULL;
    BRUME_TRY(compare(ledger, all, "SELECT name, role, expires, issued, changed, state FROM user",
                      is_user, json_object_size(all->users), "users", error));
    BRUME_TRY(compare(ledger, all, "SELECT user, dataset, filter, last FROM allotment",
                      is_allotment, json_object_size(all->allotments), "allotments", error));
    BRUME_TRY(compare(ledger, all,
                      "SELECT substr(name, 10) FROM secret WHERE substr(name, 1, 9) = 'token of '",
                      is_token, active, "tokens", error));
    return compare(ledger, all,
                   "SELECT substr(name, 13) FROM secret WHERE substr(name, 1, 12) = 'verifier of '",
                   is_token, active, "verifiers", error);
}
