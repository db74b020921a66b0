/* Projects, and answers that are held until others approve them. Promises: review.h. */
#include "ledger/review.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/reserve.h"
#include "ledger/user_row.h"
#include "ledger/wording.h"

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* ---- projects as they are ---- */

/* What the journal states of a project; NULL: there is none of that name. */
static brume_status read_project(brume_ledger *ledger, const char *name, json_t **body,
                                 brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    uint64_t stated = 0;
    *body = NULL;
    if (ledger->schema < 6)
        return BRUME_OK;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT stated FROM project WHERE name = ?1", "t", name));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && found)
        stated = (uint64_t)brume_store_int(statement, 0);
    brume_store_finish(statement);
    if (status != BRUME_OK || !found)
        return status;
    BRUME_TRY(brume_journal_body(ledger, stated, body, error));
    const char *said = text_of(*body, "project");
    if (said && strcmp(said, name) == 0)
        return BRUME_OK;
    json_decref(*body);
    *body = NULL;
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "the ledger's record of a project is not what its journal says");
}

static bool is_open(const json_t *project)
{
    const char *state = text_of(project, "state");
    return state && strcmp(state, "open") == 0;
}

static bool has_member(const json_t *project, const char *user)
{
    size_t i = 0;
    json_t *member = NULL;
    json_array_foreach (json_object_get(project, "members"), i, member)
        if (user && strcmp(json_string_value(member), user) == 0)
            return true;
    return false;
}

/* The names of all projects, in order. */
static brume_status read_names(brume_ledger *ledger, json_t *names, brume_error *error)
{
    brume_statement *statement = NULL;
    bool more = true;
    if (ledger->schema < 6)
        return BRUME_OK;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT name FROM project ORDER BY name", ""));
    brume_status status = BRUME_OK;
    while ((status = brume_store_step(ledger, statement, &more, error)) == BRUME_OK && more)
        if (json_array_append_new(names, json_string(brume_store_text(statement, 0))) != 0) {
            status = brume_no_memory(error, "the projects");
            break;
        }
    brume_store_finish(statement);
    return status;
}

static brume_status add_allotments(brume_ledger *ledger, const char *project, json_t *list,
                                   brume_error *error)
{
    char holder[BRUME_HOLDER_TEXT];
    brume_statement *statement = NULL;
    bool more = true;
    brume_project_holder(project, holder);
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT dataset, filter FROM allotment WHERE user = ?1 ORDER BY dataset", "t", holder));
    brume_status status = BRUME_OK;
    while ((status = brume_store_step(ledger, statement, &more, error)) == BRUME_OK && more)
        if (json_array_append_new(list,
                                  json_pack("{s:s,s:s}", "dataset", brume_store_text(statement, 0),
                                            "filter", brume_store_text(statement, 1))) != 0) {
            status = brume_no_memory(error, "the projects");
            break;
        }
    brume_store_finish(statement);
    return status;
}

static brume_status add_project(brume_ledger *ledger, const char *name, json_t *all,
                                brume_error *error)
{
    json_t *body = NULL, *list = json_array();
    brume_status status = list ? read_project(ledger, name, &body, error)
                               : brume_no_memory(error, "the projects");
    if (status == BRUME_OK && body)
        status = add_allotments(ledger, name, list, error);
    if (status == BRUME_OK && body &&
        json_array_append_new(all, json_pack("{s:s,s:O,s:O,s:O,s:O,s:O,s:O}", "name", name, "state",
                                             json_object_get(body, "state"), "purpose",
                                             json_object_get(body, "purpose"), "members",
                                             json_object_get(body, "members"), "approvals",
                                             json_object_get(body, "approvals"), "shows_answers",
                                             json_object_get(body, "shows_answers"), "allotments",
                                             list)) != 0)
        status = brume_no_memory(error, "the projects");
    json_decref(body);
    json_decref(list);
    return status;
}

brume_status brume_ledger_projects(brume_ledger *ledger, json_t **out, brume_error *error)
{
    json_t *names = json_array(), *all = json_array(), *name = NULL;
    size_t i = 0;
    brume_status status = names && all ? read_names(ledger, names, error)
                                       : brume_no_memory(error, "the projects");
    if (status == BRUME_OK)
        json_array_foreach (names, i, name)
            if ((status = add_project(ledger, json_string_value(name), all, error)) != BRUME_OK)
                break;
    json_decref(names);
    if (status == BRUME_OK)
        *out = all;
    else
        json_decref(all);
    return status;
}

/* ---- asking in one ---- */

static brume_status not_yours(const char *name, brume_error *error)
{
    return brume_fail(error, BRUME_EPOLICY, "'brume project list' shows them",
                      "you ask in no project '%.60s'", name);
}

/* Whose role this is; an owner where the handle acts for nobody. EPOLICY: no user any more. */
static brume_status role_of(brume_ledger *ledger, brume_role *role, brume_error *error)
{
    *role = BRUME_ROLE_OWNER;
    return ledger->user ? brume_ledger_check_user(ledger, ledger->user, ledger->user_issued,
                                                  (int64_t)time(NULL), role, error)
                        : BRUME_OK;
}

typedef struct asks_in {
    char name[BRUME_MOST_PROJECT_NAME + 1]; /* "": in none */
    json_int_t approvals;
    size_t others; /* of how many more the user is a member */
} asks_in;

/* Of which open projects is the user a member? */
static brume_status find_projects(brume_ledger *ledger, asks_in *in, brume_error *error)
{
    json_t *names = json_array(), *name = NULL;
    size_t i = 0;
    brume_status status = names ? read_names(ledger, names, error)
                                : brume_no_memory(error, "the projects");
    if (status == BRUME_OK)
        json_array_foreach (names, i, name) {
            json_t *body = NULL;
            status = read_project(ledger, json_string_value(name), &body, error);
            if (status == BRUME_OK && is_open(body) && has_member(body, ledger->user)) {
                in->others += *in->name != 0;
                snprintf(in->name, sizeof in->name, "%s", json_string_value(name));
                in->approvals = json_integer_value(json_object_get(body, "approvals"));
            }
            json_decref(body);
            if (status != BRUME_OK)
                break;
        }
    json_decref(names);
    return status;
}

/* The project of this name, if the user may ask in it. */
static brume_status find_named(brume_ledger *ledger, const char *name, asks_in *in,
                               brume_error *error)
{
    brume_role role = BRUME_ROLE_NONE;
    json_t *body = NULL;
    BRUME_TRY(role_of(ledger, &role, error));
    BRUME_TRY(read_project(ledger, name, &body, error));
    bool may = is_open(body) && (role == BRUME_ROLE_OWNER || has_member(body, ledger->user));
    if (may) {
        snprintf(in->name, sizeof in->name, "%s", name);
        in->approvals = json_integer_value(json_object_get(body, "approvals"));
    }
    json_decref(body);
    return may ? BRUME_OK : not_yours(name, error);
}

brume_status brume_ledger_ask_in(brume_ledger *ledger, const char *project, brume_error *error)
{
    asks_in in = {0};
    if (project)
        BRUME_TRY(find_named(ledger, project, &in, error));
    else if (ledger->user)
        BRUME_TRY(find_projects(ledger, &in, error));
    free(ledger->project);
    ledger->project = NULL;
    ledger->must_name_project = in.others > 0;
    if (*in.name && in.others == 0 && !(ledger->project = strdup(in.name)))
        return brume_no_memory(error, "the project");
    ledger->approvals = ledger->project ? (int)in.approvals : 0;
    return BRUME_OK;
}

brume_status brume_project_check_charge(brume_ledger *ledger, brume_error *error)
{
    asks_in in = {0};
    if (ledger->project)
        BRUME_TRY(find_named(ledger, ledger->project, &in, error));
    else if (ledger->user)
        BRUME_TRY(find_projects(ledger, &in, error));
    if (!ledger->project && *in.name)
        return brume_fail(error, BRUME_EPOLICY, "name one: --project NAME",
                          "you are in a project, and ask in one");
    ledger->approvals = (int)in.approvals; /* it may have been amended since */
    return BRUME_OK;
}

/* ---- what an owner does ---- */

static brume_status check_change(const brume_project_change *change, brume_error *error)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "._-@";
    size_t length = strlen(change->name);
    if (length < 1 || length > BRUME_MOST_PROJECT_NAME || strspn(change->name, allowed) != length)
        return brume_fail(error, BRUME_EARGUMENT, "1 to 50 letters, digits and . _ - @",
                          "'%.80s' is no name for a project", change->name);
    if (change->approvals > BRUME_MOST_APPROVALS)
        return brume_fail(error, BRUME_EARGUMENT, "0 to 9", "%d approvals are too many",
                          change->approvals);
    for (size_t i = 0; i < change->allotment_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(change->allotments[i].dataset, change->allotments[j].dataset) == 0)
                return brume_fail(error, BRUME_EARGUMENT, "name each dataset once",
                                  "'%.80s' is allotted twice", change->allotments[i].dataset);
    return BRUME_OK;
}

static brume_status list_members(brume_ledger *ledger, const brume_project_change *change,
                                 json_t *list, brume_error *error)
{
    for (size_t i = 0; i < change->member_count; i++) {
        brume_role role = BRUME_ROLE_NONE;
        const char *name = change->members[i];
        if (brume_ledger_check_user(ledger, name, 0, (int64_t)time(NULL), &role, NULL) != BRUME_OK)
            return brume_fail(error, BRUME_EUNKNOWN, "see 'brume user list'", "no user '%.80s'",
                              name);
        if (role != BRUME_ROLE_ANALYST && role != BRUME_ROLE_OWNER)
            return brume_fail(error, BRUME_EPOLICY, "leave it out",
                              "'%.80s' is an %s, and asks nothing", name, brume_role_word(role));
        if (json_array_append_new(list, json_string(name)) != 0)
            return brume_no_memory(error, "the project");
    }
    return BRUME_OK;
}

/* The row `id` that states the project anew; `before` is what was stated, NULL: nothing. */
static brume_status state_project(brume_ledger *ledger, const brume_project_change *change,
                                  const json_t *before, uint64_t id, json_t **body,
                                  brume_error *error)
{
    json_t *members = json_array(), *list = json_array();
    char holder[BRUME_HOLDER_TEXT];
    const char *purpose = change->purpose ? change->purpose : text_of(before, "purpose");
    brume_project_holder(change->name, holder);
    brume_status status = members && list ? BRUME_OK : brume_no_memory(error, "the project");
    if (status == BRUME_OK && change->members)
        status = list_members(ledger, change, members, error);
    else if (status == BRUME_OK)
        json_array_extend(members, json_object_get(before, "members"));
    for (size_t i = 0; status == BRUME_OK && i < change->allotment_count; i++)
        status = brume_allotment_give(ledger, holder, &change->allotments[i], id, list, error);
    if (status == BRUME_OK) {
        *body = json_pack(
            "{s:s,s:s,s:s,s:O,s:I,s:b,s:O}", "project", change->name, "state", "open", "purpose",
            purpose, "members", members, "approvals",
            change->approvals >= 0 ? (json_int_t)change->approvals
                                   : json_integer_value(json_object_get(before, "approvals")),
            "shows_answers",
            change->shows_answers >= 0 ? change->shows_answers
                                       : json_is_true(json_object_get(before, "shows_answers")),
            "allotments", list);
        status = *body ? BRUME_OK : brume_no_memory(error, "the project");
    }
    json_decref(members);
    json_decref(list);
    return status;
}

static brume_status keep_project(brume_ledger *ledger, const char *name, uint64_t id, json_t *body,
                                 brume_error *error)
{
    brume_status status = brume_store_execute(
        ledger, error,
        "INSERT INTO project(name, stated) VALUES(?1,?2) ON CONFLICT(name) DO UPDATE SET stated=?2",
        "ti", name, (int64_t)id);
    if (status == BRUME_OK)
        return brume_journal_append(ledger, "project", body, error);
    json_decref(body);
    return status;
}

static brume_status no_project(const char *name, bool closed, brume_error *error)
{
    return brume_fail(error, BRUME_EUNKNOWN, "see 'brume project list'",
                      closed ? "the project '%.60s' is closed" : "no project '%.60s'", name);
}

static brume_status change_now(brume_ledger *ledger, const brume_project_change *change, bool opens,
                               brume_error *error)
{
    json_t *before = NULL, *body = NULL;
    uint64_t id = 0;
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(brume_user_check_owner(ledger, error));
    BRUME_TRY(read_project(ledger, change->name, &before, error));
    brume_status status = brume_journal_next(ledger, &id, error);
    if (status == BRUME_OK && opens && before)
        status = brume_fail(error, BRUME_EPOLICY, "the history names projects: choose another",
                            "there is or was a project '%s'", change->name);
    if (status == BRUME_OK && !opens && !is_open(before))
        status = no_project(change->name, before != NULL, error);
    if (status == BRUME_OK)
        status = state_project(ledger, change, before, id, &body, error);
    if (status == BRUME_OK)
        status = keep_project(ledger, change->name, id, body, error);
    json_decref(before);
    return status;
}

static brume_status change_project(brume_ledger *ledger, const brume_project_change *change,
                                   bool opens, brume_error *error)
{
    BRUME_TRY(check_change(change, error));
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = change_now(ledger, change, opens, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

brume_status brume_ledger_open_project(brume_ledger *ledger, const brume_project_change *change,
                                       brume_error *error)
{
    if (!change->purpose || !*change->purpose || change->allotment_count == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "a project needs a purpose, and an allotment on what it asks");
    return change_project(ledger, change, true, error);
}

brume_status brume_ledger_amend_project(brume_ledger *ledger, const brume_project_change *change,
                                        brume_error *error)
{
    return change_project(ledger, change, false, error);
}

static brume_status close_now(brume_ledger *ledger, const char *name, brume_error *error)
{
    json_t *body = NULL;
    uint64_t id = 0;
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(brume_user_check_owner(ledger, error));
    BRUME_TRY(read_project(ledger, name, &body, error));
    bool open = is_open(body);
    brume_status status = open ? brume_journal_next(ledger, &id, error)
                               : no_project(name, body != NULL, error);
    /* stated anew, without what the row that it came from says of itself */
    json_t *closed = open ? json_pack("{s:s,s:s,s:O,s:O,s:O,s:O,s:[]}", "project", name, "state",
                                      "closed", "purpose", json_object_get(body, "purpose"),
                                      "members", json_object_get(body, "members"), "approvals",
                                      json_object_get(body, "approvals"), "shows_answers",
                                      json_object_get(body, "shows_answers"), "allotments")
                          : NULL;
    json_decref(body);
    if (status == BRUME_OK)
        return keep_project(ledger, name, id, closed, error);
    json_decref(closed);
    return status;
}

brume_status brume_ledger_close_project(brume_ledger *ledger, const char *name, brume_error *error)
{
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = close_now(ledger, name, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

/* ---- what was decided ---- */

typedef struct tally {
    json_int_t approvals;
    bool rejected, mine; /* mine: the user of this handle decided */
    json_t *decisions;   /* NULL: not asked for */
} tally;

static bool same_user(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b; /* NULL: the owner at the shell */
}

/* The rows that decide on a charge, each as its journal row says. One that is missing from the
 * table shows nothing more. */
static brume_status count_decisions(brume_ledger *ledger, uint64_t id, tally *out,
                                    brume_error *error)
{
    brume_statement *statement = NULL;
    bool more = true;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT id FROM review WHERE reservation = ?1 ORDER BY id", "i",
                                  (int64_t)id));
    brume_status status = BRUME_OK;
    while ((status = brume_store_step(ledger, statement, &more, error)) == BRUME_OK && more) {
        uint64_t row = (uint64_t)brume_store_int(statement, 0);
        char when[BRUME_WHEN_TEXT] = "";
        json_t *body = NULL;
        status = brume_journal_body(ledger, row, &body, error);
        if (status == BRUME_OK && out->decisions)
            status = brume_ledger_reserved_at(ledger, row, when, error);
        if (status == BRUME_OK &&
            (uint64_t)json_integer_value(json_object_get(body, "reservation")) != id)
            status = brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                                "a review is not of the charge that the journal says");
        bool approves = json_is_true(json_object_get(body, "approves"));
        out->approvals += approves;
        out->rejected = out->rejected || !approves;
        out->mine = out->mine || same_user(text_of(body, "user"), ledger->user);
        if (status == BRUME_OK && out->decisions &&
            json_array_append_new(out->decisions,
                                  json_pack("{s:s?,s:s,s:b,s:O}", "by", text_of(body, "user"),
                                            "time", when, "approves", approves, "reason",
                                            json_object_get(body, "reason"))) != 0)
            status = brume_no_memory(error, "the reviews");
        json_decref(body);
        if (status != BRUME_OK)
            break;
    }
    brume_store_finish(statement);
    return status;
}

/* How many approvals the answer of a charge needs: 0 of one that was never held. */
static json_int_t needed_by(const json_t *charge)
{
    return json_integer_value(json_object_get(charge, "approvals"));
}

/* ---- may it be shown? ---- */

static brume_status check_member(brume_ledger *ledger, uint64_t id, const char *project,
                                 brume_error *error)
{
    brume_role role = BRUME_ROLE_NONE;
    json_t *body = NULL;
    BRUME_TRY(role_of(ledger, &role, error));
    if (role == BRUME_ROLE_OWNER)
        return BRUME_OK;
    BRUME_TRY(read_project(ledger, project, &body, error));
    bool member = has_member(body, ledger->user);
    json_decref(body);
    return member ? BRUME_OK
                  : brume_fail(error, BRUME_EPOLICY, "ask the owner",
                               "charge %llu is of a project that you are not in",
                               (unsigned long long)id);
}

brume_status brume_review_check(brume_ledger *ledger, uint64_t id, brume_error *error)
{
    json_t *body = NULL;
    tally all = {0};
    if (ledger->schema < 6)
        return BRUME_OK;
    BRUME_TRY(brume_journal_body(ledger, id, &body, error));
    const char *project = text_of(body, "project");
    json_int_t needed = needed_by(body);
    brume_status status = project ? check_member(ledger, id, project, error) : BRUME_OK;
    if (status == BRUME_OK && needed > 0)
        status = count_decisions(ledger, id, &all, error);
    json_decref(body);
    BRUME_TRY(status);
    if (all.rejected)
        return brume_fail(error, BRUME_EPOLICY, "'brume review list' says why",
                          "the answer of charge %llu was rejected", (unsigned long long)id);
    return all.approvals >= needed
               ? BRUME_OK
               : brume_fail(error, BRUME_EPOLICY,
                            "'brume review list' shows how far it is; asking again is free",
                            "the answer of charge %llu is held until it is approved",
                            (unsigned long long)id);
}

/* ---- deciding ---- */

/* The row of a charge whose answer needs approvals, and the state of the reservation. */
static brume_status read_held(brume_ledger *ledger, uint64_t id, json_t **body, char state[16],
                              brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    json_t *read = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT state FROM reservation WHERE id = ?1", "i", (int64_t)id));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && found)
        snprintf(state, 16, "%s", brume_store_text(statement, 0));
    brume_store_finish(statement);
    if (status == BRUME_OK && found && ledger->schema >= 6)
        status = brume_journal_body(ledger, id, &read, error);
    if (status == BRUME_OK && needed_by(read) > 0) {
        *body = read;
        return status;
    }
    json_decref(read);
    return status != BRUME_OK
               ? status
               : brume_fail(error, BRUME_EUNKNOWN, "see 'brume review list'",
                            "charge %llu has no answer that is reviewed", (unsigned long long)id);
}

static brume_status check_reviewer(brume_ledger *ledger, const json_t *charge, brume_error *error)
{
    brume_role role = BRUME_ROLE_NONE;
    BRUME_TRY(role_of(ledger, &role, error));
    if (role != BRUME_ROLE_OWNER && role != BRUME_ROLE_REVIEWER)
        return brume_fail(error, BRUME_EPOLICY, "ask a reviewer",
                          "only reviewers and owners do that");
    return same_user(text_of(charge, "user"), ledger->user)
               ? brume_fail(error, BRUME_EPOLICY, "somebody else reviews it",
                            "who asked a question does not review its answer")
               : BRUME_OK;
}

static brume_status decide(brume_ledger *ledger, uint64_t id, bool approves, const char *reason,
                           brume_error *error)
{
    json_t *body = NULL;
    char state[16] = "";
    tally all = {0};
    uint64_t row = 0;
    BRUME_TRY(brume_journal_check_head(ledger, error));
    BRUME_TRY(read_held(ledger, id, &body, state, error));
    json_int_t needed = needed_by(body);
    brume_status status = check_reviewer(ledger, body, error);
    json_decref(body);
    if (status == BRUME_OK)
        status = count_decisions(ledger, id, &all, error);
    BRUME_TRY(status);
    if (strcmp(state, "committed") != 0)
        return brume_fail(error, BRUME_EPOLICY, NULL, "charge %llu has no answer",
                          (unsigned long long)id);
    if (all.rejected || all.approvals >= needed || all.mine)
        return brume_fail(error, BRUME_EPOLICY, "see 'brume review list'",
                          all.rejected || all.approvals >= needed
                              ? "the answer of charge %llu was decided on already"
                              : "you have decided on the answer of charge %llu already",
                          (unsigned long long)id);
    BRUME_TRY(brume_journal_next(ledger, &row, error));
    BRUME_TRY(brume_store_execute(ledger, error,
                                  "INSERT INTO review(id, reservation) VALUES(?1,?2)", "ii",
                                  (int64_t)row, (int64_t)id));
    return brume_journal_append(ledger, "review",
                                json_pack("{s:I,s:b,s:s}", "reservation", (json_int_t)id,
                                          "approves", approves, "reason", reason),
                                error);
}

brume_status brume_ledger_review(brume_ledger *ledger, uint64_t id, bool approves,
                                 const char *reason, brume_error *error)
{
    if (!reason || !*reason || strlen(reason) > 1000)
        return brume_fail(error, BRUME_EARGUMENT, "1 to 1,000 bytes; it stays in the journal",
                          "a review needs a reason");
    BRUME_TRY(brume_store_begin(ledger, error));
    brume_status status = decide(ledger, id, approves, reason, error);
    if (status == BRUME_OK)
        return brume_store_commit(ledger, error);
    brume_store_undo(ledger);
    return status;
}

brume_status brume_ledger_review_answer(brume_ledger *ledger, uint64_t id, json_t **answer,
                                        brume_error *error)
{
    json_t *body = NULL, *project = NULL;
    char state[16] = "";
    BRUME_TRY(read_held(ledger, id, &body, state, error));
    brume_status status = check_reviewer(ledger, body, error);
    if (status == BRUME_OK)
        status = read_project(ledger, text_of(body, "project"), &project, error);
    if (status == BRUME_OK && (!json_is_true(json_object_get(project, "shows_answers")) ||
                               has_member(project, ledger->user)))
        status = brume_fail(error, BRUME_EPOLICY, NULL,
                            "the project keeps its answers from its reviewers and members");
    if (status == BRUME_OK)
        status = brume_recall_held(ledger, id, answer, error);
    json_decref(project);
    json_decref(body);
    return status;
}

/* ---- the list ---- */

static const char *state_word(const char *state, const tally *all, json_int_t needed)
{
    return strcmp(state, "reserved") == 0 ? "running"
           : strcmp(state, "failed") == 0 ? "failed"
           : all->rejected                ? "rejected"
           : all->approvals >= needed     ? "approved"
                                          : "held";
}

/* What is told of one; NULL in *out: the caller is neither a member nor a reviewer, owner or
 * auditor. */
static brume_status tell_one(brume_ledger *ledger, uint64_t id, brume_role role, json_t **out,
                             brume_error *error)
{
    json_t *body = NULL, *project = NULL, *words = NULL, *spent = json_array();
    tally all = {.decisions = json_array()};
    char state[16] = "", when[BRUME_WHEN_TEXT] = "";
    *out = NULL;
    brume_status status = spent && all.decisions ? read_held(ledger, id, &body, state, error)
                                                 : brume_no_memory(error, "the reviews");
    if (status == BRUME_OK)
        status = read_project(ledger, text_of(body, "project"), &project, error);
    bool may = status == BRUME_OK &&
               (role != BRUME_ROLE_ANALYST || has_member(project, ledger->user));
    if (may)
        status = count_decisions(ledger, id, &all, error);
    if (status == BRUME_OK && may)
        status = brume_ledger_reserved_at(ledger, id, when, error);
    if (status == BRUME_OK && may)
        status = brume_wording_read(ledger, id, body, &words, error);
    if (status == BRUME_OK && may)
        status = add_allotments(ledger, text_of(body, "project"), spent, error);
    if (status == BRUME_OK && may) {
        const char *typed = text_of(words, "typed");
        *out = json_pack("{s:I,s:s,s:s,s:O,s:s?,s:s,s:s,s:I,s:I,s:O,s:O,s:O}", "id", (json_int_t)id,
                         "time", when, "project", text_of(body, "project"), "purpose",
                         json_object_get(project, "purpose"), "user", text_of(body, "user"), "sql",
                         typed   ? typed
                         : words ? text_of(words, "sql")
                                 : "(redacted)",
                         "state", state_word(state, &all, needed_by(body)), "approvals",
                         all.approvals, "needed", needed_by(body), "charges",
                         json_object_get(body, "charges"), "decisions", all.decisions, "spent",
                         spent);
        status = *out ? BRUME_OK : brume_no_memory(error, "the reviews");
    }
    json_decref(words);
    json_decref(project);
    json_decref(body);
    json_decref(spent);
    json_decref(all.decisions);
    return status;
}

brume_status brume_ledger_reviews(brume_ledger *ledger, uint64_t id, json_t **out,
                                  brume_error *error)
{
    brume_statement *statement = NULL;
    brume_role role = BRUME_ROLE_NONE;
    bool more = true;
    json_t *list = json_array();
    BRUME_TRY(role_of(ledger, &role, error));
    brume_status status =
        list ? brume_store_prepare(ledger, &statement, error,
                                   "SELECT id FROM journal WHERE kind = 'reserve' AND "
                                   "id >= ?1 AND id <= ?2 AND body LIKE '%\"approvals\":%' "
                                   "ORDER BY id",
                                   "ii", (int64_t)(id ? id : 1), id ? (int64_t)id : INT64_MAX)
             : brume_no_memory(error, "the reviews");
    while (status == BRUME_OK &&
           (status = brume_store_step(ledger, statement, &more, error)) == BRUME_OK && more) {
        json_t *one = NULL;
        status = tell_one(ledger, (uint64_t)brume_store_int(statement, 0), role, &one, error);
        if (status == BRUME_OK && one && json_array_append_new(list, one) != 0)
            status = brume_no_memory(error, "the reviews");
    }
    brume_store_finish(statement);
    if (status == BRUME_OK && id != 0 && json_array_size(list) == 0)
        status = brume_fail(error, BRUME_EUNKNOWN, "see 'brume review list'",
                            "charge %llu has no answer that is reviewed", (unsigned long long)id);
    if (status == BRUME_OK)
        *out = list;
    else
        json_decref(list);
    return status;
}
