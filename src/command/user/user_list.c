/* brume user list: who may ask, and what is allotted. */
#include <string.h>
#include <time.h>

#include "command/frame/table.h"
#include "command/ledger/open_ledger.h"
#include "command/user/typed_user.h"

/* The allotments with numbers in place of the filter's text. */
static brume_status expand(const json_t *users, brume_error *error)
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

static void write_allotments(brume_table *table, const json_t *list)
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

static brume_status write_table(brume_call *call, const json_t *users, brume_error *error)
{
    static const char *const columns[] = {"name", "role", "state", "expires", "~allotments", NULL};
    brume_table *table = NULL;
    size_t i = 0;
    json_t *user = NULL;
    if (json_array_size(users) == 0) {
        fprintf(call->out, "no users yet; 'brume help user add' says how to add one\n");
        return BRUME_OK;
    }
    BRUME_TRY(brume_table_open(columns, &table, error));
    json_array_foreach (users, i, user) {
        const char *expires = json_string_value(json_object_get(user, "expires"));
        brume_table_cell(table, "%s", json_string_value(json_object_get(user, "name")));
        brume_table_cell(table, "%s", json_string_value(json_object_get(user, "role")));
        brume_table_cell(table, "%s", json_string_value(json_object_get(user, "state")));
        brume_table_cell(table, "%s", expires ? expires : "never");
        write_allotments(table, json_object_get(user, "allotments"));
    }
    brume_status status = brume_table_write(table, call, error);
    brume_table_close(table);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *users = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    brume_status status = brume_ledger_users(ledger, (int64_t)time(NULL), &users, error);
    brume_ledger_close(ledger);
    if (status == BRUME_OK)
        status = expand(users, error);
    if (status == BRUME_OK)
        status = call->json ? brume_call_write_json(call, json_pack("{s:O}", "users", users), error)
                            : write_table(call, users, error);
    json_decref(users);
    return status;
}

static const brume_option options[] = {BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "user list",
    NULL,
};

const brume_command brume_command_user_list = {
    .name = "user list",
    .summary = "list who may ask, and what is allotted",
    .description = "Every user with role, expiry and what is left of each allotment; also those "
                   "who were removed. Tokens are not kept and cannot be listed.",
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
