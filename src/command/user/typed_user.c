/* What is typed about users, and what is shown of them. */
#include "command/user/typed_user.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/owner/typed_budget.h"
#include "number/decimal.h"
#include "query/release/spend.h"

/* ---- allotments ---- */

static brume_status read_one(const char *typed, char **text, brume_allotment *out,
                             brume_error *error)
{
    static const char how[] = "write DATASET=epsilon=E or DATASET=epsilon=E,delta=D";
    brume_typed_budget budget = {0};
    const char *mark = strstr(typed, "=epsilon=");
    if (!mark)
        mark = strstr(typed, "=delta=");
    if (!mark || mark == typed)
        return brume_fail(error, BRUME_EARGUMENT, how, "'--allot' is '%.100s'", typed);
    /* One text holds the name and the budget's parts. */
    *text = strdup(typed);
    if (!*text)
        return brume_no_memory(error, NULL);
    (*text)[mark - typed] = 0;
    brume_status status = brume_typed_budget_read(mark + 1, "allot", &budget, error);
    if (status == BRUME_OK) {
        char *at = *text + (mark - typed) + 1; /* the same parts, in our own text */
        out->dataset = *text;
        out->epsilon = at + (budget.epsilon - budget.text);
        out->delta = budget.delta ? at + (budget.delta - budget.text) : NULL;
        for (char *c = at; *c; c++)
            if (*c == ',')
                *c = 0, c++;
    }
    free(budget.text);
    return status;
}

brume_status brume_typed_allotments_read(const char *const *typed, size_t count,
                                         brume_typed_allotments *out, brume_error *error)
{
    out->list = calloc(count + 1, sizeof *out->list);
    out->texts = calloc(count + 1, sizeof *out->texts);
    if (!out->list || !out->texts)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++) {
        BRUME_TRY(read_one(typed[i], &out->texts[i], &out->list[i], error));
        out->count++;
    }
    return BRUME_OK;
}

void brume_typed_allotments_close(brume_typed_allotments *allotments)
{
    for (size_t i = 0; allotments->texts && allotments->texts[i]; i++)
        free(allotments->texts[i]);
    free(allotments->texts);
    free(allotments->list);
    *allotments = (brume_typed_allotments){0};
}

brume_status brume_call_allotments(const brume_call *call, brume_typed_allotments *out,
                                   brume_error *error)
{
    size_t count = brume_call_times(call, "allot");
    const char **typed = calloc(count + 1, sizeof *typed);
    if (!typed)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++)
        typed[i] = brume_call_text_at(call, "allot", i);
    brume_status status = brume_typed_allotments_read(typed, count, out, error);
    free(typed);
    return status;
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

brume_status brume_call_expires(const brume_call *call, int64_t otherwise, int64_t *out,
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

brume_status brume_write_token(brume_call *call, brume_ledger *ledger, const char *name,
                               const char *token, brume_error *error)
{
    json_t *users = NULL, *user = NULL;
    size_t i = 0;
    const char *role = "", *expires = NULL;
    BRUME_TRY(brume_ledger_users(ledger, (int64_t)time(NULL), &users, error));
    json_array_foreach (users, i, user)
        if (strcmp(json_string_value(json_object_get(user, "name")), name) == 0) {
            role = json_string_value(json_object_get(user, "role"));
            expires = json_string_value(json_object_get(user, "expires"));
        }
    brume_status status = BRUME_OK;
    if (call->json) {
        status = brume_call_write_json(call,
                                       json_pack("{s:s,s:s,s:s,s:s?}", "name", name, "role", role,
                                                 "token", token, "expires", expires),
                                       error);
    } else {
        brume_call_note(call, "the token of %s, %s%s%s; keep it: it is not shown again", name, role,
                        expires ? ", until " : "", expires ? expires : "");
        fprintf(call->out, "%s%s%s\n", brume_bold(call), token, brume_plain(call));
    }
    json_decref(users);
    return status;
}
