/* Verify: recompute the whole ledger from its journal and compare.
 *
 * Promise: BRUME_OK means that the chain is unbroken, every charge was allowed by the filter as it
 * stood, every filter state is the sum of the charges before it, and the tables beside the journal
 * (datasets, reservations, charges, answers, users, allotments, windows, wordings) hold exactly
 * what the journal says and nothing else; a row whose body is not what its hash is of was restated
 * as a later row says, and its prices and states are recomputed like all others. Marks cannot be
 * recomputed, since the journal does not show them; the newest row's digest vouches for them. */
#include "ledger/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/amend.h"
#include "ledger/ledger.h"
#include "ledger/journal.h"
#include "ledger/store.h"
#include "ledger/user_row.h"
#include "ledger/page_of_windows.h"
#include "ledger/witness.h"
#include "ledger/wording.h"

/* What the journal says of users and allotments, recomputed row by row.
 *
 * Promise: user_replay_compare returns BRUME_OK only if every charge of a user was carried by
 * that user's allotment as it stood, every state of an allotment is the sum of the charges since it
 * was given, nobody acted who was not there or had been removed, and the tables of users and
 * allotments hold exactly this. Whether somebody had expired is not recomputed: a row's time is
 * that of a clock, which may have been set. */

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
    *all = (brume_user_replay){json_object(), json_object(), json_object()};
    if (all->users && all->allotments && all->projects)
        return BRUME_OK;
    brume_user_replay_close(all);
    return brume_fail(error, BRUME_EMEMORY, NULL, "verifying the ledger: out of memory");
}

void brume_user_replay_close(brume_user_replay *all)
{
    json_decref(all->users);
    json_decref(all->allotments);
    json_decref(all->projects);
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
    char holder[BRUME_HOLDER_TEXT];
    const char *user = text_of(body, "name"), *project = text_of(body, "project");
    const json_t *list = json_object_get(body, "allotments");
    size_t i = 0;
    if (project) {
        brume_project_holder(project, holder);
        user = holder;
    }
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
    static const char *const owners[] = {"register", "refuse",  "amend", "user",   "redact",
                                         "publish",  "witness", "move",  "arrive", "project"};
    const char *name = text_of(body, "user");
    *wrong = NULL;
    if (!name)
        return;
    if (!json_object_get(all->users, name))
        *wrong = "of a user who is not there";
    const json_t *active = active_user(all, name);
    const char *role = active ? text_of(active, "role") : "";
    if (strcmp(kind, "review") == 0 && strcmp(role, "owner") != 0 && strcmp(role, "reviewer") != 0)
        *wrong = "of a user who is no reviewer";
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (strcmp(kind, owners[i]) == 0 &&
            (!active || strcmp(text_of(active, "role"), "owner") != 0))
            *wrong = "of a user who is no owner";
}

/* A row that states a project. */
static const char *replay_project(brume_user_replay *all, uint64_t id, const json_t *body,
                                  const json_t *datasets)
{
    const char *name = text_of(body, "project"), *state = text_of(body, "state");
    const json_t *members = json_object_get(body, "members");
    const json_t *before = name ? json_object_get(all->projects, name) : NULL;
    size_t i = 0;
    json_t *member = NULL;
    if (!name || !state || !json_is_array(members) || !text_of(body, "purpose") ||
        !json_is_integer(json_object_get(body, "approvals")))
        return "states no project";
    if (before && strcmp(text_of(before, "state"), "open") != 0)
        return "changes a project that was closed";
    json_array_foreach (members, i, member)
        if (!json_is_string(member) || !json_object_get(all->users, json_string_value(member)))
            return "a project has a member who was never there";
    const char *wrong = replay_allotments(all, id, body, datasets);
    if (wrong)
        return wrong;
    return set(all->projects, name,
               json_pack("{s:I,s:s,s:O,s:O}", "stated", (json_int_t)id, "state", state, "members",
                         members, "approvals", json_object_get(body, "approvals")))
               ? NULL
               : no_memory;
}

/* May this reservation be of the project that it says? What is wrong with it, or NULL. */
static const char *replay_in_project(const brume_user_replay *all, const json_t *body)
{
    const char *name = text_of(body, "project"), *user = text_of(body, "user");
    const json_t *project = name ? json_object_get(all->projects, name) : NULL;
    const json_t *approvals = json_object_get(body, "approvals"), *asker = active_user(all, user);
    bool member = !user || (asker && strcmp(text_of(asker, "role"), "owner") == 0);
    size_t i = 0;
    json_t *one = NULL;
    if (!name)
        return approvals ? "an answer that is held, of no project" : NULL;
    if (!project || strcmp(text_of(project, "state"), "open") != 0)
        return "asks in a project that is not open";
    json_array_foreach (json_object_get(project, "members"), i, one)
        member = member || strcmp(json_string_value(one), user) == 0;
    if (!member)
        return "asks in a project of others";
    return json_integer_value(approvals) ==
                   json_integer_value(json_object_get(project, "approvals"))
               ? NULL
               : "is held otherwise than its project says";
}

void brume_user_replay_charge(brume_user_replay *all, uint64_t id, const json_t *body,
                              const json_t *charge, const char **wrong)
{
    const char *name = text_of(body, "user"), *dataset = text_of(charge, "dataset");
    const char *state = text_of(charge, "allotment"), *price_text = text_of(charge, "price");
    const char *project = text_of(body, "project"), *holder = name;
    char key[KEY], after[BRUME_FILTER_TEXT], text[BRUME_HOLDER_TEXT];
    brume_filter filter;
    brume_charge price;
    if ((*wrong = replay_in_project(all, body)))
        return;
    if (project) {
        brume_project_holder(project, text);
        holder = text;
    }
    if (!holder) {
        *wrong = state ? "charges an allotment of nobody" : NULL;
        return;
    }
    const json_t *user = active_user(all, name);
    const char *role = user ? text_of(user, "role") : "";
    make_key(holder, dataset, key);
    json_t *allotment = json_object_get(all->allotments, key);
    if (name && strcmp(role, "owner") != 0 && strcmp(role, "analyst") != 0)
        *wrong = "a charge of somebody who may not ask";
    else if (!allotment || !state)
        *wrong = allotment || state || project ? "an allotment was not charged" : NULL;
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

static bool same_member(const json_t *object, const char *key, brume_statement *row, int column)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value))
        return json_integer_value(value) == brume_store_int(row, column);
    return value && strcmp(json_string_value(value), brume_store_text(row, column)) == 0;
}

static bool is_user(const brume_user_replay *all, brume_statement *row)
{
    static const char *const keys[] = {"role", "expires", "issued", "changed", "state"};
    const json_t *user = json_object_get(all->users, brume_store_text(row, 0));
    bool good = user != NULL;
    for (int i = 0; good && i < 5; i++)
        good = same_member(user, keys[i], row, i + 1);
    return good;
}

static bool is_allotment(const brume_user_replay *all, brume_statement *row)
{
    char key[KEY];
    make_key(brume_store_text(row, 0), brume_store_text(row, 1), key);
    const json_t *allotment = json_object_get(all->allotments, key);
    return allotment && same_member(allotment, "filter", row, 2) &&
           same_member(allotment, "last", row, 3);
}

/* For somebody who was not removed; sqlite gives each name once. */
static bool is_token(const brume_user_replay *all, brume_statement *row)
{
    return active_user(all, brume_store_text(row, 0)) != NULL;
}

static brume_status compare_rows(brume_ledger *ledger, const brume_user_replay *all,
                                 const char *sql,
                                 bool (*is_right)(const brume_user_replay *, brume_statement *),
                                 size_t expected, const char *name, brume_error *error)
{
    brume_statement *statement = NULL;
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
    brume_store_finish(statement);
    return status == BRUME_OK && rows != expected ? differs(name, error) : status;
}

/* Are the two tables what the journal says, and is there a token for everybody who was not
 * removed, and for nobody else? EDAMAGED. */
static brume_status user_replay_compare(brume_ledger *ledger, const brume_user_replay *all,
                                        brume_error *error)
{
    if (ledger->schema < 4)
        return json_object_size(all->users) == 0 ? BRUME_OK : differs("users", error);
    size_t active = 0;
    const char *name = NULL;
    json_t *user = NULL;
    json_object_foreach (all->users, name, user)
        active += active_user(all, name) != NULL;
    BRUME_TRY(compare_rows(ledger, all,
                           "SELECT name, role, expires, issued, changed, state FROM \"user\"",
                           is_user, json_object_size(all->users), "users", error));
    BRUME_TRY(compare_rows(ledger, all, "SELECT \"user\", dataset, filter, last FROM allotment",
                           is_allotment, json_object_size(all->allotments), "allotments", error));
    BRUME_TRY(compare_rows(
        ledger, all, "SELECT substr(name, 10) FROM secret WHERE substr(name, 1, 9) = 'token of '",
        is_token, active, "tokens", error));
    return compare_rows(
        ledger, all,
        "SELECT substr(name, 13) FROM secret WHERE substr(name, 1, 12) = 'verifier of '", is_token,
        active, "verifiers", error);
}

/* What the windows of a dataset have spent. */
typedef struct window_replay {
    char *dataset;
    brume_window_runs runs;
    brume_window_sum undated;
    struct window_replay *next;
} window_replay;

/* What the journal says, built row by row. */
typedef struct replay {
    json_t *datasets; /* name -> {"source","adjacency","registered","data_version","filter",
                         "last","queries","window_filter","no_budget"} */
    window_replay *windows;
    json_t *wordings;     /* id -> the digest of its text */
    json_t *restated;     /* number of a row -> {"by","hash","left"}, until row `by` is read */
    json_t *reservations; /* id -> {"answer_key","state","user","approvals","deciders","decided"} */
    json_t *reviews;      /* id of the row -> {"reservation"} */
    json_t *charges;      /* "id dataset" -> true */
    json_t *answers;      /* key -> {"committed","hash","reservation","note"} */
    size_t notes;         /* so many of them are parts of an answer */
    bool witnessed;       /* the ledger has a witness */
    brume_user_replay users;
    char previous[BRUME_DIGEST_TEXT];
    uint64_t rows;
    bool moved; /* the row before was the end of the ledger at another place */
} replay;

static brume_status broken(uint64_t row, const char *what, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED,
                      "do not use this ledger; restore a copy and check it against an export",
                      "journal row %llu: %s", (unsigned long long)row, what);
}

/* ---- replaying ---- */

/* The budget of each window that a row states, into the dataset; what is wrong with it, or NULL. */
static const char *state_windows(json_t *dataset, const json_t *body)
{
    json_t *window = json_object_get(body, "window_filter");
    brume_filter filter;
    if (window && (!json_is_string(window) ||
                   brume_filter_parse(json_string_value(window), &filter, NULL) != BRUME_OK ||
                   !brume_filter_is_fresh(&filter)))
        return "the budget of a window does not begin unspent";
    if (!window && json_is_true(json_object_get(body, "no_budget")))
        return "a dataset without any budget";
    bool good = !window || json_object_set(dataset, "window_filter", window) == 0;
    if (!window)
        (void)json_object_del(dataset, "window_filter");
    return good && set(dataset, "no_budget",
                       json_boolean(json_is_true(json_object_get(body, "no_budget"))))
               ? NULL
               : no_memory;
}

static window_replay *windows_replay_of(replay *all, const char *dataset)
{
    for (window_replay *one = all->windows; one; one = one->next)
        if (strcmp(one->dataset, dataset) == 0)
            return one;
    window_replay *made = calloc(1, sizeof *made);
    if (!made || !(made->dataset = strdup(dataset))) {
        free(made);
        return NULL;
    }
    made->next = all->windows;
    all->windows = made;
    return made;
}

/* The windows of one charge; what is wrong with it, or NULL. `filter`: of the dataset's whole
 * histories, whose limits are those of `undated`. */
static const char *replay_windows(replay *all, const json_t *dataset, const json_t *charge,
                                  const brume_filter *filter)
{
    const char *budget_text = text_of(dataset, "window_filter");
    const char *price_text = text_of(charge, "window_price"), *fullest = text_of(charge, "fullest");
    const json_t *list = json_object_get(charge, "windows");
    brume_window_set set = {.undated = json_is_true(json_object_get(charge, "undated"))};
    char text[BRUME_WINDOW_SUM_TEXT];
    brume_filter budget;
    brume_charge price;
    if (!budget_text)
        return list || price_text ? "charges windows of a dataset without any" : NULL;
    if (!list || !price_text || !fullest)
        return "windows were not charged";
    window_replay *windows = windows_replay_of(all, text_of(charge, "dataset"));
    if (!windows)
        return no_memory;
    const char *wrong = NULL;
    brume_window_run lacking;
    if (brume_filter_parse(budget_text, &budget, NULL) != BRUME_OK ||
        brume_charge_parse(price_text, &price, NULL) != BRUME_OK ||
        brume_window_set_from_json(list, &set, NULL) != BRUME_OK || price.rule != budget.rule)
        wrong = "a charge of windows cannot be read";
    const brume_window_sum limit = brume_window_sum_of_limit(&budget),
                           whole = brume_window_sum_of_limit(filter);
    const brume_window_sum asked = brume_window_sum_of_price(&price);
    if (!wrong && (!brume_window_runs_fit(&windows->runs, &set, &asked, &limit, &lacking) ||
                   (set.undated && (windows->undated.amount + asked.amount > whole.amount ||
                                    windows->undated.delta + asked.delta > whole.delta))))
        wrong = "a charge that a window did not carry";
    if (!wrong && brume_window_runs_add(&windows->runs, &set, &asked, NULL) != BRUME_OK)
        wrong = no_memory;
    const brume_window_sum most = brume_window_runs_fullest(&windows->runs, &set).spent;
    if (!wrong && strcmp(brume_window_sum_print(&most, text), fullest) != 0)
        wrong = "the fullest window is not the sum of its charges";
    if (!wrong && set.undated) {
        windows->undated.amount += asked.amount;
        windows->undated.delta += asked.delta;
    }
    brume_window_set_free(&set);
    return wrong;
}

static brume_status replay_register(replay *all, uint64_t id, const json_t *body,
                                    brume_error *error)
{
    const char *name = text_of(body, "dataset"), *source = text_of(body, "source");
    const char *state = text_of(body, "filter"), *adjacency = text_of(body, "adjacency");
    const char *data_version = text_of(body, "data_version");
    brume_adjacency parsed;
    brume_filter filter;
    if (!name || !source || !state || !data_version || !adjacency ||
        !brume_adjacency_parse(adjacency, &parsed) || json_object_get(all->datasets, name))
        return broken(id, "not a registration", error);
    if (brume_filter_parse(state, &filter, NULL) != BRUME_OK || !brume_filter_is_fresh(&filter))
        return broken(id, "the budget does not begin unspent", error);
    json_t *dataset = json_pack("{s:s,s:s,s:I,s:s,s:s,s:I,s:i}", "source", source, "adjacency",
                                adjacency, "registered", (json_int_t)id, "data_version",
                                data_version, "filter", state, "last", (json_int_t)id, "queries",
                                0);
    const char *wrong = state_windows(dataset, body);
    if (wrong) {
        json_decref(dataset);
        return broken(id, wrong, error);
    }
    return set(all->datasets, name, dataset) ? BRUME_OK : broken(id, "out of memory", error);
}

static brume_status replay_charge(replay *all, uint64_t id, const json_t *charge,
                                  brume_error *error)
{
    const char *name = text_of(charge, "dataset"), *price_text = text_of(charge, "price");
    const char *state = text_of(charge, "filter");
    json_t *dataset = name ? json_object_get(all->datasets, name) : NULL;
    if (!dataset || !price_text || !state)
        return broken(id, "charges an unknown dataset", error);
    brume_filter filter;
    brume_charge price;
    char after[BRUME_FILTER_TEXT];
    if (brume_filter_parse(text_of(dataset, "filter"), &filter, NULL) != BRUME_OK ||
        brume_charge_parse(price_text, &price, NULL) != BRUME_OK)
        return broken(id, "a charge cannot be read", error);
    bool no_budget = json_is_true(json_object_get(dataset, "no_budget"));
    filter.charges += no_budget; /* nothing is summed but how often */
    if ((no_budget ? brume_filter_check(&filter, &price, NULL)
                   : brume_filter_charge(&filter, &price, NULL)) != BRUME_OK)
        return broken(id, "a charge that the budget did not carry", error);
    const char *wrong = replay_windows(all, dataset, charge, &filter);
    if (wrong)
        return broken(id, wrong, error);
    if (brume_filter_print(&filter, after, NULL) != BRUME_OK || strcmp(after, state) != 0)
        return broken(id, "the filter's state is not the sum of the charges", error);
    char key[512];
    snprintf(key, sizeof key, "%llu %.400s", (unsigned long long)id, name);
    json_int_t queries = json_integer_value(json_object_get(dataset, "queries"));
    bool good = set(dataset, "filter", json_string(after)) &&
                set(dataset, "last", json_integer((json_int_t)id)) &&
                set(dataset, "queries", json_integer(queries + 1)) &&
                set(all->charges, key, json_true());
    return good ? BRUME_OK : broken(id, "out of memory", error);
}

/* Was the row that is being read restated? */
static bool is_restated(const replay *all, uint64_t id)
{
    char key[24];
    snprintf(key, sizeof key, "%llu", (unsigned long long)id);
    return json_object_get(all->restated, key) != NULL;
}

static brume_status replay_reserve(replay *all, uint64_t id, const json_t *body, brume_error *error)
{
    const char *answer_key = text_of(body, "answer_key"), *wording = text_of(body, "wording");
    const json_t *charges = json_object_get(body, "charges");
    char none[BRUME_REDACTED_KEY], key[24];
    brume_redacted_key(id, none);
    if (is_restated(all, id))
        answer_key = none;
    if (!answer_key || json_array_size(charges) == 0 ||
        (!wording && !is_restated(all, id) && !text_of(body, "sql")))
        return broken(id, "not a reservation", error);
    snprintf(key, sizeof key, "%llu", (unsigned long long)id);
    if (wording && !set(all->wordings, key, json_string(wording)))
        return broken(id, "out of memory", error);
    for (size_t i = 0; i < json_array_size(charges); i++) {
        const json_t *charge = json_array_get(charges, i);
        const char *wrong = NULL;
        BRUME_TRY(replay_charge(all, id, charge, error));
        brume_user_replay_charge(&all->users, id, body, charge, &wrong);
        if (wrong)
            return broken(id, wrong, error);
    }
    json_t *entry = json_pack("{s:s,s:s,s:s?,s:I,s:[],s:b}", "answer_key", answer_key, "state",
                              "reserved", "user", text_of(body, "user"), "approvals",
                              json_integer_value(json_object_get(body, "approvals")), "deciders",
                              "decided", 0);
    return set(all->reservations, key, entry) ? BRUME_OK : broken(id, "out of memory", error);
}

static brume_status replay_end(replay *all, uint64_t id, const json_t *body, bool commit,
                               brume_error *error)
{
    char key[24];
    snprintf(key, sizeof key, "%lld",
             (long long)json_integer_value(json_object_get(body, "reservation")));
    json_t *reservation = json_object_get(all->reservations, key);
    if (!reservation || strcmp(text_of(reservation, "state"), "reserved") != 0)
        return broken(id, "ends a reservation that is not open", error);
    if (!set(reservation, "state", json_string(commit ? "committed" : "failed")))
        return broken(id, "out of memory", error);
    const char *hash = text_of(body, "answer_hash");
    if (commit && !hash && !is_restated(all, id))
        return broken(id, "a commit without an answer", error);
    const char *answer_key = text_of(reservation, "answer_key");
    if (commit && hash && !json_object_get(all->answers, answer_key) &&
        !set(all->answers, answer_key,
             json_pack("{s:I,s:s,s:O,s:b}", "committed", (json_int_t)id, "hash", hash,
                       "reservation", json_object_get(body, "reservation"), "note", 0)))
        return broken(id, "out of memory", error);
    return BRUME_OK;
}

/* The reservation that a row speaks of, if it is open; else NULL. */
static const json_t *open_reservation(const replay *all, const json_t *body)
{
    char key[24];
    snprintf(key, sizeof key, "%lld",
             (long long)json_integer_value(json_object_get(body, "reservation")));
    const json_t *reservation = json_object_get(all->reservations, key);
    return reservation && strcmp(text_of(reservation, "state"), "reserved") == 0 ? reservation
                                                                                 : NULL;
}

static brume_status replay_progress(const replay *all, uint64_t id, const json_t *body,
                                    brume_error *error)
{
    if (!open_reservation(all, body) || !json_is_integer(json_object_get(body, "asked")) ||
        !json_is_integer(json_object_get(body, "hits")))
        return broken(id, "the progress of a reservation that is not open", error);
    return BRUME_OK;
}

static brume_status replay_note(replay *all, uint64_t id, const json_t *body, brume_error *error)
{
    const char *answer_key = text_of(body, "answer_key"), *hash = text_of(body, "answer_hash");
    if (is_restated(all, id))
        return BRUME_OK;
    if (!open_reservation(all, body) || !answer_key || !hash)
        return broken(id, "a note on a reservation that is not open", error);
    if (json_object_get(all->answers, answer_key))
        return BRUME_OK;
    all->notes++;
    return set(all->answers, answer_key,
               json_pack("{s:I,s:s,s:O,s:b}", "committed", (json_int_t)id, "hash", hash,
                         "reservation", json_object_get(body, "reservation"), "note", 1))
               ? BRUME_OK
               : broken(id, "out of memory", error);
}

/* The texts of one charge are taken out, and its answer, or its answer's key. */
static bool replay_redacted_charge(replay *all, uint64_t charge, bool answers)
{
    char key[24], none[BRUME_REDACTED_KEY];
    snprintf(key, sizeof key, "%llu", (unsigned long long)charge);
    brume_redacted_key(charge, none);
    json_t *reservation = json_object_get(all->reservations, key), *answer = NULL;
    const char *name = NULL;
    void *next = NULL;
    if (!reservation)
        return false;
    (void)json_object_del(all->wordings, key);
    json_t *kept = NULL;
    json_object_foreach_safe(all->answers, next, name, answer)
    {
        if ((uint64_t)json_integer_value(json_object_get(answer, "reservation")) != charge)
            continue;
        bool note = json_is_true(json_object_get(answer, "note"));
        all->notes -= note;
        if (!note && !answers)
            kept = json_incref(answer);
        (void)json_object_del(all->answers, name);
    }
    return (!kept || set(all->answers, none, kept)) &&
           set(reservation, "answer_key", json_string(none));
}

/* Each row that it restates must be as it says. */
static bool replay_restated(replay *all, uint64_t id, const json_t *entry)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)json_integer_value(json_object_get(entry, "row")));
    const json_t *found = json_object_get(all->restated, key);
    return found && (uint64_t)json_integer_value(json_object_get(found, "by")) == id &&
           json_equal(json_object_get(found, "hash"), json_object_get(entry, "hash")) &&
           json_equal(json_object_get(found, "left"), json_object_get(entry, "left")) &&
           json_object_del(all->restated, key) == 0;
}

static brume_status replay_redact(replay *all, uint64_t id, const json_t *body, brume_error *error)
{
    bool answers = json_is_true(json_object_get(body, "answers"));
    size_t i = 0;
    json_t *each = NULL;
    json_array_foreach (json_object_get(body, "charges"), i, each)
        if (!replay_redacted_charge(all, (uint64_t)json_integer_value(each), answers))
            return broken(id, "redacts what is no charge", error);
    json_array_foreach (json_object_get(body, "rows"), i, each)
        if (!replay_restated(all, id, each))
            return broken(id, "a row that was redacted is not as it was left", error);
    return BRUME_OK;
}

static brume_status replay_version(replay *all, uint64_t id, const json_t *body, brume_error *error)
{
    const char *name = text_of(body, "dataset"), *data_version = text_of(body, "data_version");
    json_t *dataset = name ? json_object_get(all->datasets, name) : NULL;
    if (!dataset || !data_version || !set(dataset, "data_version", json_string(data_version)))
        return broken(id, "relabels an unknown dataset", error);
    return BRUME_OK;
}

/* Is `after` what an amendment may make of the state `before`? */
static bool is_amended(const char *before, const char *after, const char *window)
{
    brume_filter old, new, expected;
    char text[BRUME_FILTER_TEXT];
    if (window) /* without a budget for whole histories: that of a window, and how often it was
                   asked */
        return brume_filter_parse(before, &old, NULL) == BRUME_OK &&
               brume_filter_parse(window, &expected, NULL) == BRUME_OK &&
               (expected.charges = old.charges, true) &&
               brume_filter_print(&expected, text, NULL) == BRUME_OK && strcmp(text, after) == 0;
    if (strcmp(before, after) == 0)
        return true;
    return brume_filter_parse(before, &old, NULL) == BRUME_OK &&
           brume_filter_parse(after, &new, NULL) == BRUME_OK &&
           new.rule ==
               old.rule &&brume_amended_filter(&old, &new.epsilon,
                                               new.rule == BRUME_RULE_PURE ? NULL : &new.delta,
                                               &expected, NULL) ==
               BRUME_OK &&brume_filter_print(&expected, text, NULL) ==
               BRUME_OK &&strcmp(text, after) == 0;
}

/* Has no window spent more than the budgets that are stated now? */
static bool amended_windows_fit(replay *all, const json_t *dataset, const char *name,
                                const char *state)
{
    const char *window = text_of(dataset, "window_filter");
    const window_replay *spent = all->windows;
    brume_filter budget, whole;
    while (spent && strcmp(spent->dataset, name) != 0)
        spent = spent->next;
    if (!spent)
        return true;
    if (!window || brume_filter_parse(window, &budget, NULL) != BRUME_OK ||
        brume_filter_parse(state, &whole, NULL) != BRUME_OK)
        return false;
    const brume_window_sum limit = brume_window_sum_of_limit(&budget),
                           most = brume_window_sum_of_limit(&whole);
    bool fits = json_is_true(json_object_get(dataset, "no_budget")) ||
                (spent->undated.amount <= most.amount && spent->undated.delta <= most.delta);
    for (size_t i = 0; i < spent->runs.count; i++)
        fits = fits && spent->runs.list[i].spent.amount <= limit.amount &&
               spent->runs.list[i].spent.delta <= limit.delta;
    return fits;
}

static brume_status replay_amend(replay *all, uint64_t id, const json_t *body, brume_error *error)
{
    const char *name = text_of(body, "dataset"), *data_version = text_of(body, "data_version");
    const char *state = text_of(body, "filter");
    json_t *dataset = name ? json_object_get(all->datasets, name) : NULL;
    if (!dataset || !data_version || !state ||
        !json_equal(json_object_get(body, "source"), json_object_get(dataset, "source")) ||
        !json_equal(json_object_get(body, "adjacency"), json_object_get(dataset, "adjacency")))
        return broken(id, "not an amendment", error);
    bool no_budget = json_is_true(json_object_get(body, "no_budget"));
    if (no_budget != json_is_true(json_object_get(dataset, "no_budget")) ||
        !is_amended(text_of(dataset, "filter"), state,
                    no_budget ? text_of(body, "window_filter") : NULL))
        return broken(id, "an amendment that changes what was spent", error);
    const char *wrong = state_windows(dataset, body);
    if (!wrong && !amended_windows_fit(all, dataset, name, state))
        wrong = "an amendment below what a window has spent";
    if (wrong)
        return broken(id, wrong, error);
    if (json_is_true(json_object_get(body, "moves_units")) &&
        json_integer_value(json_object_get(dataset, "queries")) != 0)
        return broken(id, "an amendment of the unit after something was spent", error);
    bool good = set(dataset, "registered", json_integer((json_int_t)id)) &&
                set(dataset, "last", json_integer((json_int_t)id)) &&
                set(dataset, "data_version", json_string(data_version)) &&
                set(dataset, "filter", json_string(state));
    return good ? BRUME_OK : broken(id, "out of memory", error);
}

/* Answers that were recorded, and the dataset as it stood. */
static brume_status replay_publish(const replay *all, uint64_t id, const json_t *body,
                                   brume_error *error)
{
    const char *name = text_of(body, "dataset"), *state = text_of(body, "filter");
    const json_t *dataset = name ? json_object_get(all->datasets, name) : NULL;
    const json_t *answers = json_object_get(body, "answers");
    if (!dataset || !state || strcmp(state, text_of(dataset, "filter")) != 0)
        return broken(id, "publishes another state than the dataset had", error);
    for (size_t i = 0; i < json_array_size(answers); i++) {
        char key[24];
        snprintf(key, sizeof key, "%lld",
                 (long long)json_integer_value(json_array_get(answers, i)));
        const json_t *reservation = json_object_get(all->reservations, key);
        if (!reservation || strcmp(text_of(reservation, "state"), "committed") != 0)
            return broken(id, "publishes what was not answered", error);
    }
    return BRUME_OK;
}

/* A decision on an answer that is held: by who did not ask it, once, and not after the last one. */
static brume_status replay_review(replay *all, uint64_t id, const json_t *body, brume_error *error)
{
    char key[24], row[24];
    const char *by = text_of(body, "user");
    size_t i = 0;
    json_t *one = NULL;
    snprintf(key, sizeof key, "%lld",
             (long long)json_integer_value(json_object_get(body, "reservation")));
    snprintf(row, sizeof row, "%llu", (unsigned long long)id);
    json_t *reservation = json_object_get(all->reservations, key);
    json_t *deciders = json_object_get(reservation, "deciders");
    json_int_t needed = json_integer_value(json_object_get(reservation, "approvals"));
    if (!reservation || needed == 0 || strcmp(text_of(reservation, "state"), "committed") != 0 ||
        json_is_true(json_object_get(reservation, "decided")))
        return broken(id, "reviews an answer that is not held", error);
    const char *asker = text_of(reservation, "user");
    if (asker && by ? strcmp(asker, by) == 0 : asker == by)
        return broken(id, "who asked a question reviewed its answer", error);
    json_array_foreach (deciders, i, one)
        if (strcmp(json_string_value(one), by ? by : "") == 0)
            return broken(id, "somebody reviewed an answer twice", error);
    bool approves = json_is_true(json_object_get(body, "approves"));
    bool good = json_array_append_new(deciders, json_string(by ? by : "")) == 0 &&
                set(reservation, "decided",
                    json_boolean(!approves || (json_int_t)json_array_size(deciders) >= needed)) &&
                set(all->reviews, row,
                    json_pack("{s:O}", "reservation", json_object_get(body, "reservation")));
    return good ? BRUME_OK : broken(id, "out of memory", error);
}

static brume_status replay_witness(replay *all, uint64_t id, const json_t *body, brume_error *error)
{
    const char *action = text_of(body, "action");
    bool set_now = action && strcmp(action, "set") == 0;
    if (!set_now && (!action || strcmp(action, "remove") != 0))
        return broken(id, "does nothing known to the witness", error);
    all->witnessed = set_now;
    return BRUME_OK;
}

/* Who appended the row; and, if it is of a user, what it says. */
static brume_status replay_users(replay *all, const brume_journal_row *row, const json_t *body,
                                 brume_error *error)
{
    const char *wrong = NULL;
    brume_user_replay_actor(&all->users, row->kind, body, &wrong);
    if (!wrong && strcmp(row->kind, "user") == 0)
        brume_user_replay_row(&all->users, row->id, body, all->datasets, &wrong);
    if (!wrong && strcmp(row->kind, "project") == 0)
        wrong = replay_project(&all->users, row->id, body, all->datasets);
    return wrong ? broken(row->id, wrong, error) : BRUME_OK;
}

/* The hash is not that of the body: a later row must say so. */
static bool await_redaction(replay *all, const brume_journal_row *row, const json_t *body)
{
    char key[24], left[BRUME_DIGEST_TEXT];
    const json_t *by = json_object_get(body, "redacted");
    snprintf(key, sizeof key, "%llu", (unsigned long long)row->id);
    return json_is_integer(by) && (uint64_t)json_integer_value(by) > row->id &&
           brume_digest(&row->body, 1, left, NULL) == BRUME_OK &&
           set(all->restated, key,
               json_pack("{s:I,s:s,s:s}", "by", json_integer_value(by), "hash", row->hash, "left",
                         left));
}

static brume_status replay_row(replay *all, const brume_journal_row *row, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    if (row->id != all->rows + 1)
        return broken(all->rows + 1, "missing", error);
    BRUME_TRY(brume_journal_hash(row, all->previous, hash, error));
    json_t *body = json_loads(row->body, JSON_ALLOW_NUL, NULL);
    bool good = strcmp(hash, row->hash) == 0 || await_redaction(all, row, body);
    snprintf(all->previous, sizeof all->previous, "%.64s", row->hash);
    all->rows++;
    if (!good || !body) {
        json_decref(body);
        return broken(row->id, good ? "cannot be read" : "its hash is wrong", error);
    }
    brume_status status = replay_users(all, row, body, error);
    if (status != BRUME_OK) {
        json_decref(body);
        return status;
    }
    bool arrives = strcmp(row->kind, "arrive") == 0;
    if (all->moved != arrives) /* the row that ends a ledger is followed by that, elsewhere */
        status = broken(row->id, arrives ? "arrives from nowhere" : "goes on after a move", error);
    else if (arrives || strcmp(row->kind, "move") == 0)
        all->moved = !arrives;
    else if (strcmp(row->kind, "register") == 0)
        status = replay_register(all, row->id, body, error);
    else if (strcmp(row->kind, "reserve") == 0)
        status = replay_reserve(all, row->id, body, error);
    else if (strcmp(row->kind, "commit") == 0 || strcmp(row->kind, "fail") == 0)
        status = replay_end(all, row->id, body, row->kind[0] == 'c', error);
    else if (strcmp(row->kind, "progress") == 0)
        status = replay_progress(all, row->id, body, error);
    else if (strcmp(row->kind, "note") == 0)
        status = replay_note(all, row->id, body, error);
    else if (strcmp(row->kind, "version") == 0)
        status = replay_version(all, row->id, body, error);
    else if (strcmp(row->kind, "amend") == 0)
        status = replay_amend(all, row->id, body, error);
    else if (strcmp(row->kind, "redact") == 0)
        status = replay_redact(all, row->id, body, error);
    else if (strcmp(row->kind, "publish") == 0)
        status = replay_publish(all, row->id, body, error);
    else if (strcmp(row->kind, "review") == 0)
        status = replay_review(all, row->id, body, error);
    else if (strcmp(row->kind, "witness") == 0)
        status = replay_witness(all, row->id, body, error);
    else if (strcmp(row->kind, "refuse") == 0)
        status = text_of(body, "dataset") ? BRUME_OK : broken(row->id, "refuses nothing", error);
    else if (strcmp(row->kind, row->id == 1 ? "create" : "migrate") != 0 &&
             (row->id == 1 ||
              (strcmp(row->kind, "user") != 0 && strcmp(row->kind, "project") != 0)))
        status = broken(row->id, "of an unknown kind", error);
    json_decref(body);
    return status;
}

static brume_status replay_journal(brume_ledger *ledger, replay *all, brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_journal_read(ledger, 1, &statement, error));
    brume_journal_row row = {0};
    bool more = true;
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && more) {
        status = brume_journal_step(ledger, statement, &row, &more, error);
        if (status == BRUME_OK && more)
            status = replay_row(all, &row, error);
    }
    brume_store_finish(statement);
    if (status == BRUME_OK && all->rows == 0)
        return broken(1, "missing", error);
    const char *first = status == BRUME_OK ? json_object_iter_key(json_object_iter(all->restated))
                                           : NULL;
    if (first)
        return broken(strtoull(first, NULL, 10), "its hash is wrong", error);
    return status;
}

/* ---- comparing ---- */

typedef brume_status (*compare_row)(const replay *all, brume_statement *row, brume_error *error);

static bool same(const json_t *object, const char *key, const char *text)
{
    const char *expected = object ? text_of(object, key) : NULL;
    return expected && strcmp(expected, text) == 0;
}

static bool same_number(const json_t *object, const char *key, int64_t number)
{
    return json_integer_value(json_object_get(object, key)) == number;
}

static brume_status compare_dataset(const replay *all, brume_statement *row, brume_error *error)
{
    const json_t *dataset = json_object_get(all->datasets, brume_store_text(row, 0));
    if (same(dataset, "source", brume_store_text(row, 1)) &&
        same_number(dataset, "registered", brume_store_int(row, 2)) &&
        same(dataset, "data_version", brume_store_text(row, 3)) &&
        same(dataset, "filter", brume_store_text(row, 4)) &&
        same_number(dataset, "last", brume_store_int(row, 5)) &&
        same_number(dataset, "queries", brume_store_int(row, 6)))
        return BRUME_OK;
    return differs("datasets", error);
}

static brume_status compare_reservation(const replay *all, brume_statement *row, brume_error *error)
{
    const json_t *reservation = json_object_get(all->reservations, brume_store_text(row, 0));
    if (same(reservation, "answer_key", brume_store_text(row, 1)) &&
        same(reservation, "state", brume_store_text(row, 2)))
        return BRUME_OK;
    return differs("reservations", error);
}

static brume_status compare_charge(const replay *all, brume_statement *row, brume_error *error)
{
    char key[512];
    snprintf(key, sizeof key, "%lld %.400s", (long long)brume_store_int(row, 1),
             brume_store_text(row, 0));
    return json_object_get(all->charges, key) ? BRUME_OK : differs("charges", error);
}

static brume_status compare_answer(const replay *all, brume_statement *row, brume_error *error)
{
    const json_t *answer = json_object_get(all->answers, brume_store_text(row, 0));
    char hash[BRUME_DIGEST_TEXT];
    BRUME_TRY(brume_salted_digest(brume_store_text(row, 3), brume_store_text(row, 2), hash, error));
    if (same(answer, "hash", hash) && same_number(answer, "committed", brume_store_int(row, 1)))
        return BRUME_OK;
    return differs("answers", error);
}

static brume_status compare_review(const replay *all, brume_statement *row, brume_error *error)
{
    return same_number(json_object_get(all->reviews, brume_store_text(row, 0)), "reservation",
                       brume_store_int(row, 1))
               ? BRUME_OK
               : differs("reviews", error);
}

static brume_status compare_project(const replay *all, brume_statement *row, brume_error *error)
{
    return same_number(json_object_get(all->users.projects, brume_store_text(row, 0)), "stated",
                       brume_store_int(row, 1))
               ? BRUME_OK
               : differs("projects", error);
}

static brume_status compare_wording(const replay *all, brume_statement *row, brume_error *error)
{
    char hash[BRUME_DIGEST_TEXT];
    BRUME_TRY(brume_salted_digest(brume_store_text(row, 1), brume_store_text(row, 2), hash, error));
    return same(all->wordings, brume_store_text(row, 0), hash) ? BRUME_OK
                                                               : differs("wordings", error);
}

/* Pages end where they like: runs that meet are one. */
static bool same_runs(const brume_window_runs *pages, const brume_window_runs *replayed)
{
    size_t at = 0;
    for (size_t i = 0; i < pages->count; i++) {
        brume_window_run run = pages->list[i];
        while (i + 1 < pages->count && pages->list[i + 1].first == run.last + 1 &&
               pages->list[i + 1].spent.amount == run.spent.amount &&
               pages->list[i + 1].spent.delta == run.spent.delta)
            run.last = pages->list[++i].last;
        if (at >= replayed->count || replayed->list[at].first != run.first ||
            replayed->list[at].last != run.last ||
            replayed->list[at].spent.amount != run.spent.amount ||
            replayed->list[at].spent.delta != run.spent.delta)
            return false;
        at++;
    }
    return at == replayed->count;
}

static brume_status compare_windows(brume_ledger *ledger, const replay *all, brume_error *error)
{
    brume_statement *statement = NULL;
    bool more = true, known = true;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT DISTINCT dataset FROM window_page", ""));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && more && known) {
        status = brume_store_step(ledger, statement, &more, error);
        if (status != BRUME_OK || !more)
            break;
        known = false;
        for (const window_replay *one = all->windows; one; one = one->next)
            known = known || strcmp(one->dataset, brume_store_text(statement, 0)) == 0;
    }
    brume_store_finish(statement);
    if (status == BRUME_OK && !known)
        return differs("windows", error);
    for (const window_replay *one = all->windows; status == BRUME_OK && one; one = one->next) {
        brume_window_runs runs;
        brume_window_sum undated;
        BRUME_TRY(brume_window_pages_read(ledger, one->dataset, &runs, &undated, error));
        bool good = same_runs(&runs, &one->runs) && undated.amount == one->undated.amount &&
                    undated.delta == one->undated.delta;
        brume_window_runs_free(&runs);
        if (!good)
            return differs("windows", error);
    }
    return status;
}

/* Every row of the table is in the replay; as many rows as the replay has; so they are equal. */
static brume_status compare_table(brume_ledger *ledger, const replay *all, const char *sql,
                                  compare_row compare, const char *name, const json_t *expected,
                                  brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, sql, ""));
    size_t rows = 0;
    bool more = true;
    brume_status status = BRUME_OK;
    while (status == BRUME_OK && more) {
        status = brume_store_step(ledger, statement, &more, error);
        if (status == BRUME_OK && more) {
            rows++;
            status = compare(all, statement, error);
        }
    }
    brume_store_finish(statement);
    if (status == BRUME_OK && rows != json_object_size(expected))
        return differs(name, error);
    return status;
}

static brume_status compare_tables(brume_ledger *ledger, const replay *all, brume_error *error)
{
    BRUME_TRY(compare_table(ledger, all,
                            "SELECT name, source, registered, data_version, filter, last, queries "
                            "FROM dataset",
                            compare_dataset, "datasets", all->datasets, error));
    BRUME_TRY(compare_table(ledger, all, "SELECT id, answer_key, state FROM reservation",
                            compare_reservation, "reservations", all->reservations, error));
    BRUME_TRY(compare_table(ledger, all, "SELECT dataset, reservation FROM charge", compare_charge,
                            "charges", all->charges, error));
    if (ledger->schema < 5)
        return compare_table(ledger, all, "SELECT answer_key, committed, body, '' FROM answer",
                             compare_answer, "answers", all->answers, error);
    BRUME_TRY(compare_table(ledger, all, "SELECT answer_key, committed, body, salt FROM answer",
                            compare_answer, "answers", all->answers, error));
    BRUME_TRY(compare_table(ledger, all, "SELECT reservation, salt, body FROM wording",
                            compare_wording, "wordings", all->wordings, error));
    if (ledger->schema >= 6) {
        BRUME_TRY(compare_table(ledger, all, "SELECT id, reservation FROM review", compare_review,
                                "reviews", all->reviews, error));
        BRUME_TRY(compare_table(ledger, all, "SELECT name, stated FROM project", compare_project,
                                "projects", all->users.projects, error));
    }
    return compare_windows(ledger, all, error);
}

/* Where the witness is stands among the secrets, which the journal does not show: there is a place
 * if and only if one was set. */
static brume_status compare_witness(brume_ledger *ledger, const replay *all, brume_error *error)
{
    char *place = NULL;
    BRUME_TRY(brume_secret_read(ledger, BRUME_WITNESS_SECRET, &place, error));
    bool same = (place != NULL) == all->witnessed;
    free(place);
    return same ? BRUME_OK : differs("secrets", error);
}

static brume_status verify_snapshot(brume_ledger *ledger, replay *all, brume_error *error)
{
    BRUME_TRY(ledger->engine->check(ledger->store, error));
    BRUME_TRY(replay_journal(ledger, all, error));
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(compare_tables(ledger, all, error));
    BRUME_TRY(compare_witness(ledger, all, error));
    return user_replay_compare(ledger, &all->users, error);
}

brume_status brume_verify_now(brume_ledger *ledger, brume_ledger_report *report, brume_error *error)
{
    replay all = {.datasets = json_object(),
                  .reservations = json_object(),
                  .charges = json_object(),
                  .answers = json_object(),
                  .wordings = json_object(),
                  .restated = json_object(),
                  .reviews = json_object()};
    brume_status status = brume_user_replay_open(&all.users, error);
    if (status == BRUME_OK && (!all.datasets || !all.reservations || !all.charges || !all.answers ||
                               !all.wordings || !all.restated || !all.reviews))
        status = brume_fail(error, BRUME_EMEMORY, NULL, "verifying the ledger: out of memory");
    if (status == BRUME_OK)
        status = verify_snapshot(ledger, &all, error);
    if (status == BRUME_OK)
        *report = (brume_ledger_report){
            all.rows, json_object_size(all.datasets), json_object_size(all.reservations),
            json_object_size(all.answers) - all.notes, json_object_size(all.users.users)};
    json_decref(all.datasets);
    json_decref(all.reservations);
    json_decref(all.charges);
    json_decref(all.answers);
    json_decref(all.wordings);
    json_decref(all.restated);
    json_decref(all.reviews);
    while (all.windows) {
        window_replay *next = all.windows->next;
        brume_window_runs_free(&all.windows->runs);
        free(all.windows->dataset);
        free(all.windows);
        all.windows = next;
    }
    brume_user_replay_close(&all.users);
    return status;
}

brume_status brume_ledger_verify(brume_ledger *ledger, brume_ledger_report *report,
                                 brume_error *error)
{
    /* One read transaction: journal and tables are seen at one moment. */
    BRUME_TRY(brume_store_begin_reading(ledger, error));
    brume_status status = brume_verify_now(ledger, report, error);
    brume_store_undo(ledger);
    return status;
}
