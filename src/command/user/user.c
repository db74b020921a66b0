/* brume user add, list, token, allot, remove: who may ask through a server. */
#include "command/user/user.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/frame/table.h"
#include "command/ledger/open_ledger.h"
#include "command/owner/typed_budget.h"
#include "ledger/user.h"
#include "number/decimal.h"
#include "query/release/spend.h"

#define EXPIRES_OPTION                                                                             \
    BRUME_OPTION(TEXT, "expires", "T",                                                             \
                 "refused from then on: 2027-01-31, 2027-01-31T12:00:00Z, or 90d, 12h from now")

/* ---- allotments ---- */

/* "DATASET=epsilon=E[,delta=D]" */
static brume_status read_one(brume_call *call, const char *typed, brume_allotment *out,
                             brume_error *error)
{
    static const char how[] = "write DATASET=epsilon=E or DATASET=epsilon=E,delta=D";
    brume_typed_budget budget = {0};
    const char *mark = strstr(typed, "=epsilon=");
    if (!mark)
        mark = strstr(typed, "=delta=");
    if (!mark || mark == typed)
        return brume_fail(error, BRUME_EARGUMENT, how, "'--allot' is '%.100s'", typed);
    char *name = strndup(typed, (size_t)(mark - typed));
    BRUME_TRY(brume_call_keep(call, free, name, error));
    brume_status status = brume_typed_budget_read(mark + 1, "allot", &budget, error);
    if (budget.text)
        BRUME_TRY(brume_call_keep(call, free, budget.text, error));
    *out = (brume_allotment){.dataset = name, .epsilon = budget.epsilon, .delta = budget.delta};
    return status;
}

/* The operands from the second on, or those of --allot. */
brume_status brume_read_allotments(brume_call *call, brume_typed_allotments *out,
                                   brume_error *error)
{
    size_t options = brume_call_times(call, "allot"), operands = call->operand_count - 1;
    out->list = calloc(options + operands + 1, sizeof *out->list);
    BRUME_TRY(brume_call_keep(call, free, out->list, error));
    for (size_t i = 0; i < options; i++)
        BRUME_TRY(
            read_one(call, brume_call_text_at(call, "allot", i), &out->list[out->count++], error));
    for (size_t i = 0; i < operands; i++)
        BRUME_TRY(read_one(call, brume_call_operand(call, i + 1), &out->list[out->count++], error));
    return BRUME_OK;
}

/* ---- times ---- */

static bool read_duration(const char *text, int64_t *out)
{
    char unit = 0, rest = 0;
    unsigned count = 0;
    if (strspn(text, "0123456789") > 6 || sscanf(text, "%u%c%c", &count, &unit, &rest) != 2)
        return false;
    int64_t seconds = unit == 'd' ? 86400 : unit == 'h' ? 3600 : unit == 'm' ? 60 : 0;
    *out = (int64_t)time(NULL) + (int64_t)count * seconds;
    return seconds > 0;
}

/* A date, at its beginning in UTC, or a time. */
static bool read_moment(const char *text, int64_t *out)
{
    struct tm utc = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (!rest || *rest) {
        utc = (struct tm){0};
        rest = strptime(text, "%Y-%m-%d", &utc);
    }
    if (!rest || *rest)
        return false;
    struct tm normal = utc;
    *out = (int64_t)timegm(&normal);
    return normal.tm_mday == utc.tm_mday && normal.tm_mon == utc.tm_mon; /* no 31 February */
}

/* --expires as seconds; `otherwise` if it was not given. "never" is 0. EARGUMENT: not a time, or
 * one that has passed. */
static brume_status read_expires(const brume_call *call, int64_t otherwise, int64_t *out,
                                 brume_error *error)
{
    const char *text = brume_call_text(call, "expires");
    int64_t moment = otherwise;
    if (text && strcmp(text, "never") == 0)
        moment = 0;
    else if (text && !read_duration(text, &moment) && !read_moment(text, &moment))
        return brume_fail(error, BRUME_EARGUMENT,
                          "2027-01-31, 2027-01-31T12:00:00Z, 90d, 12h or never",
                          "'--expires' is '%.60s'", text);
    else if (text && moment <= (int64_t)time(NULL))
        return brume_fail(error, BRUME_EARGUMENT, "name a time to come",
                          "'--expires' is '%.60s', which has passed", text);
    *out = moment;
    return BRUME_OK;
}

/* ---- what is shown ---- */

static json_t *spent_to_json(const brume_filter *filter)
{
    double amount = brume_decimal_shown_up(&filter->spent);
    double delta = brume_decimal_shown_up(&filter->spent_delta);
    if (filter->rule == BRUME_RULE_CONCENTRATED)
        return json_pack("{s:n,s:f,s:f}", "epsilon", "delta", delta, "rho", amount);
    return json_pack("{s:f,s:f}", "epsilon", amount, "delta", delta);
}

brume_status brume_filter_to_json(const brume_filter *filter, json_t *object, brume_error *error)
{
    json_t *parts = json_pack(
        "{s:{s:f,s:f},s:o,s:o,s:I}", "budget", "epsilon", brume_decimal_nearest(&filter->epsilon),
        "delta", brume_decimal_nearest(&filter->delta), "spent", spent_to_json(filter), "remaining",
        brume_budget_left(filter), "queries", (json_int_t)filter->charges);
    int good = parts ? json_object_update(object, parts) : -1;
    json_decref(parts);
    return good == 0 ? BRUME_OK : brume_no_memory(error, "the answer");
}

/* The token, shown once. */
static brume_status write_token(brume_call *call, brume_ledger *ledger, const char *token,
                                brume_error *error)
{
    json_t *users = NULL, *user = NULL;
    size_t i = 0;
    const char *role = "", *expires = NULL, *name = brume_call_operand(call, 0);
    BRUME_TRY(brume_ledger_users(ledger, (int64_t)time(NULL), &users, error));
    BRUME_TRY(brume_call_keep_json(call, users, error));
    json_array_foreach (users, i, user)
        if (strcmp(json_string_value(json_object_get(user, "name")), name) == 0) {
            role = json_string_value(json_object_get(user, "role"));
            expires = json_string_value(json_object_get(user, "expires"));
        }
    if (call->json)
        return brume_call_write_json(call,
                                     json_pack("{s:s,s:s,s:s,s:s?}", "name", name, "role", role,
                                               "token", token, "expires", expires),
                                     error);
    brume_call_note(call, "the token of %s, %s%s%s; keep it: it is not shown again", name, role,
                    expires ? ", until " : "", expires ? expires : "");
    fprintf(call->out, "%s%s%s\n", brume_bold(call), token, brume_plain(call));
    return BRUME_OK;
}

/* ---- add ---- */

static brume_status run_add(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_typed_allotments allotments = {0};
    brume_new_user user = {.name = brume_call_operand(call, 0)};
    char token[BRUME_TOKEN_TEXT];
    BRUME_TRY(brume_role_parse(brume_call_text(call, "role"), &user.role, error));
    BRUME_TRY(read_expires(call, 0, &user.expires, error));
    BRUME_TRY(brume_read_allotments(call, &allotments, error));
    user.allotments = allotments.list;
    user.allotment_count = allotments.count;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_CREATE, &ledger, error));
    BRUME_TRY(brume_ledger_add_user(ledger, &user, token, error));
    return write_token(call, ledger, token, error);
}

static const char *const roles[] = {"owner", "analyst", "auditor", "reviewer", NULL};

const brume_command brume_command_user_add = {
    .name = "user add",
    .summary = "let somebody ask through a server",
    .description =
        "Adds a user and prints a token of 256 random bits, once: the ledger keeps a hash of it. "
        "The token opens 'brume serve' over HTTP, and is the password over the PostgreSQL "
        "protocol.\n\n"
        "An allotment is the most that an analyst may take of a dataset's budget. It is checked "
        "and charged together with the budget, and makes no promise of its own: what all analysts "
        "learn together stays within the dataset's budget, also if the allotments sum to more. "
        "Without one the budget alone limits. Without a delta an allotment has the share of the "
        "budget's delta that its epsilon is of the budget's.\n\n"
        "A name is given once: the history names people by it.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "1 to 63 letters, digits and . _ - @")),
    BRUME_OPTIONS(
        BRUME_OPTION(
            CHOICE, "role", "ROLE",
            "owner: everything; analyst: asks; auditor: reads the journal; reviewer: approves answers",
            .required = true, .choices = roles),
        BRUME_OPTION(TEXT, "allot", "DATASET=epsilon=E[,delta=D]",
                     "at most so much of a dataset's budget; again for another one",
                     .repeated = true),
        EXPIRES_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("user add alice --role analyst --allot visits=epsilon=0.5 --expires 90d"),
    .run = run_add,
};

/* ---- allot ---- */

static brume_status add_filter(brume_ledger *ledger, const char *name, const char *dataset,
                               json_t *list, brume_error *error)
{
    brume_filter filter;
    bool has = false;
    json_t *entry = json_pack("{s:s}", "dataset", dataset);
    if (json_array_append_new(list, entry) != 0)
        return brume_no_memory(error, "the answer");
    BRUME_TRY(brume_ledger_allotment(ledger, name, dataset, &has, &filter, error));
    return has ? brume_filter_to_json(&filter, entry, error) : BRUME_OK;
}

static void write_allotted(const brume_call *call, const char *name, const json_t *list)
{
    size_t i = 0;
    json_t *entry = NULL;
    json_array_foreach (list, i, entry) {
        const json_t *budget = json_object_get(entry, "budget");
        double delta = json_real_value(json_object_get(budget, "delta"));
        fprintf(call->out, "%s may take epsilon %s", name,
                brume_shortest(json_real_value(json_object_get(budget, "epsilon"))).text);
        if (delta > 0)
            fprintf(call->out, ", delta %s", brume_shortest(delta).text);
        fprintf(call->out, " of the budget of %s\n",
                json_string_value(json_object_get(entry, "dataset")));
    }
}

static brume_status run_allot(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_typed_allotments typed = {0};
    const char *name = brume_call_operand(call, 0);
    BRUME_TRY(brume_read_allotments(call, &typed, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_ledger_allot(ledger, name, typed.list, typed.count, error));
    json_t *list = json_array();
    BRUME_TRY(brume_call_keep_json(call, list, error));
    for (size_t i = 0; i < typed.count; i++)
        BRUME_TRY(add_filter(ledger, name, typed.list[i].dataset, list, error));
    if (call->json)
        return brume_call_write_json(call, json_pack("{s:s,s:O}", "name", name, "allotments", list),
                                     error);
    write_allotted(call, name, list);
    return BRUME_OK;
}

const brume_command brume_command_user_allot = {
    .name = "user allot",
    .summary = "say how much of a budget somebody may take",
    .description =
        "Gives an allotment, or changes one. What was spent of it stays spent; one that is smaller "
        "than that is refused. It counts what is charged from then on, and narrows the dataset's "
        "budget: it never adds to it.",
    BRUME_OPERANDS(
        BRUME_OPERAND(TEXT, "NAME", "a user"),
        BRUME_OPERAND(TEXT, "ALLOTMENT", "DATASET=epsilon=E[,delta=D]", .repeated = true)),
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("user allot alice visits=epsilon=0.7"),
    .run = run_allot,
};

/* ---- list ---- */

/* The allotments with numbers in place of the filter's text. */
brume_status brume_expand_allotments(const json_t *users, brume_error *error)
{
    size_t i = 0, j = 0;
    json_t *user = NULL, *entry = NULL;
    json_array_foreach (users, i, user)
        json_array_foreach (json_object_get(user, "allotments"), j, entry) {
            brume_filter filter;
            BRUME_TRY(brume_filter_parse(json_string_value(json_object_get(entry, "filter")),
                                         &filter, error));
            json_object_del(entry, "filter");
            BRUME_TRY(brume_filter_to_json(&filter, entry, error));
        }
    return BRUME_OK;
}

void brume_write_allotments(struct brume_table *table, const json_t *list)
{
    char text[160] = "";
    size_t i = 0;
    json_t *entry = NULL;
    json_array_foreach (list, i, entry) {
        const json_t *left = json_object_get(entry, "remaining");
        const json_t *rho = json_object_get(left, "rho");
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.40s: %s %s left", i ? "; " : "",
                 json_string_value(json_object_get(entry, "dataset")),
                 json_is_real(rho) ? "rho" : "epsilon",
                 brume_digits_down(
                     json_real_value(json_is_real(rho) ? rho : json_object_get(left, "epsilon")), 6)
                     .text);
    }
    brume_table_cell(table, "%s", text);
}

static brume_status write_users(brume_call *call, const json_t *users, brume_error *error)
{
    static const char *const columns[] = {"name", "role", "state", "expires", "~allotments", NULL};
    size_t i = 0;
    json_t *user = NULL;
    if (json_array_size(users) == 0) {
        fprintf(call->out, "no users yet; 'brume help user add' says how to add one\n");
        return BRUME_OK;
    }
    brume_table *table = brume_table_open(columns);
    json_array_foreach (users, i, user) {
        const char *expires = json_string_value(json_object_get(user, "expires"));
        brume_table_cell(table, "%s", json_string_value(json_object_get(user, "name")));
        brume_table_cell(table, "%s", json_string_value(json_object_get(user, "role")));
        brume_table_cell(table, "%s", json_string_value(json_object_get(user, "state")));
        brume_table_cell(table, "%s", expires ? expires : "never");
        brume_write_allotments(table, json_object_get(user, "allotments"));
    }
    return brume_table_write(table, call, error);
}

static brume_status run_list(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *users = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_ledger_users(ledger, (int64_t)time(NULL), &users, error));
    BRUME_TRY(brume_call_keep_json(call, users, error));
    BRUME_TRY(brume_expand_allotments(users, error));
    return call->json ? brume_call_write_json(call, json_pack("{s:O}", "users", users), error)
                      : write_users(call, users, error);
}

const brume_command brume_command_user_list = {
    .name = "user list",
    .summary = "list who may ask, and what is allotted",
    .description = "Every user with role, expiry and what is left of each allotment; also those "
                   "who were removed. Tokens are not kept and cannot be listed.",
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("user list"),
    .run = run_list,
};

/* ---- remove ---- */

static brume_status run_remove(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    const char *name = brume_call_operand(call, 0);
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_ledger_remove_user(ledger, name, error));
    if (call->json)
        return brume_call_write_json(call, json_pack("{s:s,s:s}", "name", name, "state", "removed"),
                                     error);
    fprintf(call->out, "removed %s: the token is refused from now on\n", name);
    return BRUME_OK;
}

const brume_command brume_command_user_remove = {
    .name = "user remove",
    .summary = "refuse somebody from now on",
    .description =
        "The token is refused from then on, also by questions that are being planned. What was "
        "spent stays spent, the history keeps the name, and nobody else gets it.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a user")),
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("user remove alice"),
    .run = run_remove,
};

/* ---- token ---- */

static brume_status run_token(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    int64_t expires = -1;
    char token[BRUME_TOKEN_TEXT];
    BRUME_TRY(read_expires(call, -1, &expires, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(
        brume_ledger_rotate_token(ledger, brume_call_operand(call, 0), expires, token, error));
    return write_token(call, ledger, token, error);
}

const brume_command brume_command_user_token = {
    .name = "user token",
    .summary = "issue a new token in place of the old one",
    .description =
        "Prints a new token, once. The old one is refused from then on, also by questions that are "
        "being planned: a charge asks again. The expiry stays as it is unless it is given; "
        "'--expires never' takes it away.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a user")),
    BRUME_OPTIONS(EXPIRES_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("user token alice --expires 90d"),
    .run = run_token,
};
