/* Registered datasets: a policy, a budget and its filter's state.
 *
 * Promise: what brume_ledger_dataset returns is what the journal says: the policy is read from the
 * row that states it (the newest `register` or `amend`) and the filter's state is compared with the
 * row that set it. */
#include "ledger/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ledger/journal.h"
#include "ledger/store.h"

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
}

const char *brume_adjacency_word(brume_adjacency adjacency)
{
    switch (adjacency) {
    case BRUME_ADD_REMOVE:
        return "add-remove";
    case BRUME_REPLACE:
        return "replace";
    case BRUME_EDGE:
        return "edge";
    }
    return "";
}

bool brume_adjacency_parse(const char *word, brume_adjacency *out)
{
    static const brume_adjacency all[] = {BRUME_ADD_REMOVE, BRUME_REPLACE, BRUME_EDGE};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(word, brume_adjacency_word(all[i])) == 0) {
            *out = all[i];
            return true;
        }
    return false;
}

void brume_password_name(const char *dataset, char name[BRUME_PASSWORD_NAME])
{
    snprintf(name, BRUME_PASSWORD_NAME, "password of %s", dataset);
}

/* ---- windows ---- */

/* The windows that a policy states: in itself, or in one of its tables. */
static const json_t *windows_of(const json_t *policy)
{
    const json_t *tables = json_object_get(policy, "tables");
    const json_t *found = json_object_get(policy, "window");
    for (size_t i = 0; !found && i < json_array_size(tables); i++)
        found = json_object_get(json_array_get(tables, i), "window");
    return found;
}

/* With several tables the values stand in those that have a column. */
static const json_t *values_of(const json_t *policy)
{
    const json_t *tables = json_object_get(policy, "tables");
    const json_t *found = json_object_get(json_object_get(policy, "window"), "values");
    for (size_t i = 0; !found && i < json_array_size(tables); i++)
        found = json_object_get(json_object_get(json_array_get(tables, i), "window"), "values");
    return found;
}

bool brume_dataset_grid(const json_t *policy, brume_window_grid *grid, const char ***values)
{
    const json_t *window = windows_of(policy), *list = values_of(policy);
    const char *length = json_string_value(json_object_get(window, "length"));
    const char *offset = json_string_value(json_object_get(window, "offset"));
    brume_window_grid made = {.value_count = json_array_size(list)};
    if (!length || brume_window_grid_parse(length, offset, &made, NULL) != BRUME_OK)
        return false;
    const char **kept = calloc(made.value_count + 1, sizeof *kept);
    for (size_t i = 0; kept && i < made.value_count; i++)
        if (!(kept[i] = json_string_value(json_array_get(list, i)))) {
            free(kept);
            return false;
        }
    made.values = kept;
    *grid = made;
    *values = kept;
    return kept != NULL;
}

brume_status brume_window_budget_check(const brume_filter *window, const brume_filter *whole,
                                       brume_error *error)
{
    brume_decimal most;
    if (!whole)
        return BRUME_OK;
    bool concentrated = whole->rule == BRUME_RULE_CONCENTRATED;
    if (window->rule != whole->rule)
        return brume_fail(error, BRUME_EARGUMENT,
                          "write both with a delta, or both without; one rule is for both",
                          "the window budget is of the rule %s, the budget of %s",
                          brume_rule_word(window->rule), brume_rule_word(whole->rule));
    BRUME_TRY(brume_decimal_multiply(&whole->limit, concentrated ? 4 : 2, &most, error));
    if (brume_decimal_compare(&window->limit, &most) <= 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EPOLICY, "lower it, or raise the budget of whole histories",
                      "the window budget would never bind: a window pays at most %s what a whole "
                      "history pays",
                      concentrated ? "four times the rho of" : "twice");
}

brume_status brume_window_cover_check(const json_t *policy, brume_error *error)
{
    const json_t *tables = json_object_get(policy, "tables");
    size_t count = tables ? json_array_size(tables) : 1;
    for (size_t i = 0; i < count; i++) {
        const json_t *table = tables ? json_array_get(tables, i) : policy;
        const char *name = json_string_value(json_object_get(table, "name"));
        const char *place =
            json_string_value(json_object_get(json_object_get(table, "window"), "place"));
        bool in_windows = place && (strcmp(place, "column") == 0 || strcmp(place, "link") == 0);
        if (!in_windows && !json_is_true(json_object_get(table, "public")))
            return brume_fail(error, BRUME_EPOLICY, "give a budget for whole histories",
                              "'budget: none', and the table '%s' is in no window: nothing would "
                              "protect it",
                              name ? name : "registered");
    }
    return BRUME_OK;
}

/* ---- loading ---- */

typedef struct dataset_row {
    char *source, *data_version, *filter;
    uint64_t stated, last, queries;
} dataset_row;

static void free_row(dataset_row *row)
{
    free(row->source);
    free(row->data_version);
    free(row->filter);
}

static brume_status unknown_dataset(brume_ledger *ledger, const char *name, brume_error *error)
{
    json_t *names = NULL;
    char hint[128] = "see 'brume datasets'";
    if (brume_ledger_names(ledger, &names, NULL) == BRUME_OK) {
        size_t count = json_array_size(names);
        const char **list = calloc(count + 1, sizeof *list);
        for (size_t i = 0; list && i < count; i++)
            list[i] = json_string_value(json_array_get(names, i));
        const char *nearest = list ? brume_text_nearest(name, list, count) : NULL;
        if (nearest)
            snprintf(hint, sizeof hint, "did you mean '%.100s'?", nearest);
        free(list);
        json_decref(names);
    }
    return brume_fail(error, BRUME_EUNKNOWN, hint, "no dataset '%s'", name);
}

static brume_status read_row(brume_ledger *ledger, const char *name, dataset_row *row,
                             brume_error *error)
{
    brume_statement *statement = NULL;
    bool found = false;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT source, data_version, filter, registered, last, queries "
                                  "FROM dataset WHERE name = ?1",
                                  "t", name));
    brume_status status = brume_store_step(ledger, statement, &found, error);
    if (status == BRUME_OK && !found)
        status = unknown_dataset(ledger, name, error);
    if (status == BRUME_OK) {
        row->source = strdup(brume_store_text(statement, 0));
        row->data_version = strdup(brume_store_text(statement, 1));
        row->filter = strdup(brume_store_text(statement, 2));
        row->stated = (uint64_t)brume_store_int(statement, 3);
        row->last = (uint64_t)brume_store_int(statement, 4);
        row->queries = (uint64_t)brume_store_int(statement, 5);
        if (!row->source || !row->data_version || !row->filter)
            status = out_of_memory(error);
    }
    brume_store_finish(statement);
    return status;
}

static brume_status contradiction(const char *name, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "the ledger's record of '%s' is not what its journal says", name);
}

/* The filter's state that journal row `last` gives to `name`. */
static const char *state_in_journal(const json_t *body, const char *name)
{
    const char *dataset = json_string_value(json_object_get(body, "dataset"));
    if (dataset && strcmp(dataset, name) == 0)
        return json_string_value(json_object_get(body, "filter"));
    size_t i = 0;
    json_t *charge = NULL;
    json_array_foreach (json_object_get(body, "charges"), i, charge) {
        dataset = json_string_value(json_object_get(charge, "dataset"));
        if (dataset && strcmp(dataset, name) == 0)
            return json_string_value(json_object_get(charge, "filter"));
    }
    return NULL;
}

static brume_status check_state(brume_ledger *ledger, const char *name, const dataset_row *row,
                                brume_error *error)
{
    json_t *body = NULL;
    BRUME_TRY(brume_journal_body(ledger, row->last, &body, error));
    const char *state = state_in_journal(body, name);
    bool same = state && strcmp(state, row->filter) == 0;
    json_decref(body);
    return same ? BRUME_OK : contradiction(name, error);
}

static brume_status fill(brume_ledger *ledger, const char *name, dataset_row *row,
                         brume_dataset *dataset, brume_error *error)
{
    json_t *body = NULL;
    BRUME_TRY(brume_journal_body(ledger, row->stated, &body, error));
    const char *registered = json_string_value(json_object_get(body, "dataset"));
    const char *adjacency = json_string_value(json_object_get(body, "adjacency"));
    const char *source = json_string_value(json_object_get(body, "source"));
    const char *cap = json_string_value(json_object_get(body, "cap"));
    brume_status status = BRUME_OK;
    if (!registered || strcmp(registered, name) != 0 || !source ||
        strcmp(source, row->source) != 0 || !adjacency ||
        !brume_adjacency_parse(adjacency, &dataset->adjacency))
        status = contradiction(name, error);
    if (status == BRUME_OK) {
        dataset->policy = json_incref(json_object_get(body, "policy"));
        dataset->name = strdup(name);
        dataset->source = strdup(row->source);
        dataset->data_version = strdup(row->data_version);
        dataset->cap = cap ? strdup(cap) : NULL;
        dataset->queries = row->queries;
        dataset->stated = row->stated;
        if (!dataset->name || !dataset->source || !dataset->data_version || (cap && !dataset->cap))
            status = out_of_memory(error);
    }
    const char *window = json_string_value(json_object_get(body, "window_filter"));
    dataset->has_windows = window != NULL;
    dataset->no_budget = json_is_true(json_object_get(body, "no_budget"));
    if (status == BRUME_OK && dataset->has_windows != (windows_of(dataset->policy) != NULL))
        status = contradiction(name, error); /* nobody may ask past the windows */
    if (status == BRUME_OK && window)
        status = brume_filter_parse(window, &dataset->window_budget, error);
    json_decref(body);
    char secret[BRUME_PASSWORD_NAME];
    brume_password_name(name, secret);
    if (status == BRUME_OK)
        status = brume_secret_read(ledger, secret, &dataset->password, error);
    if (status != BRUME_OK)
        return status;
    return brume_filter_parse(row->filter, &dataset->filter, error);
}

brume_status brume_ledger_dataset(brume_ledger *ledger, const char *name, brume_dataset **out,
                                  brume_error *error)
{
    dataset_row row = {0};
    brume_dataset *dataset = calloc(1, sizeof *dataset);
    if (!dataset)
        return out_of_memory(error);
    brume_status status = read_row(ledger, name, &row, error);
    if (status == BRUME_OK)
        status = check_state(ledger, name, &row, error);
    if (status == BRUME_OK)
        status = fill(ledger, name, &row, dataset, error);
    free_row(&row);
    if (status != BRUME_OK) {
        brume_dataset_close(dataset);
        return status;
    }
    *out = dataset;
    return BRUME_OK;
}

brume_status brume_dataset_is_public(brume_ledger *ledger, const char *name, bool *is_public,
                                     brume_error *error)
{
    dataset_row row = {0};
    json_t *body = NULL;
    brume_status status = read_row(ledger, name, &row, error);
    if (status == BRUME_OK)
        status = brume_journal_body(ledger, row.stated, &body, error);
    free_row(&row);
    if (status != BRUME_OK)
        return status;
    *is_public = json_is_true(json_object_get(json_object_get(body, "policy"), "public"));
    json_decref(body);
    return BRUME_OK;
}

void brume_dataset_close(brume_dataset *dataset)
{
    if (!dataset)
        return;
    free(dataset->name);
    free(dataset->source);
    free(dataset->data_version);
    free(dataset->cap);
    free(dataset->password);
    json_decref(dataset->policy);
    free(dataset);
}

/* The texts that `sql` selects for ?1, added to `names`. */
static brume_status add_names(brume_ledger *ledger, const char *sql, const char *value,
                              json_t *names, brume_error *error)
{
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error, sql, "t", value));
    brume_status status = names ? BRUME_OK : out_of_memory(error);
    bool row = true;
    while (status == BRUME_OK && row) {
        status = brume_store_step(ledger, statement, &row, error);
        if (status == BRUME_OK && row &&
            json_array_append_new(names, json_string(brume_store_text(statement, 0))) != 0)
            status = out_of_memory(error);
    }
    brume_store_finish(statement);
    return status;
}

brume_status brume_ledger_names(brume_ledger *ledger, json_t **out, brume_error *error)
{
    json_t *names = json_array();
    brume_status status =
        add_names(ledger, "SELECT name FROM dataset WHERE ?1 = '' ORDER BY name", "", names, error);
    if (status != BRUME_OK) {
        json_decref(names);
        return status;
    }
    *out = names;
    return BRUME_OK;
}

/* The tables that a policy lists: none where the row of the journal is damaged, which is found when
 * the dataset is loaded. */
#define LISTED_TABLES                                                                              \
    "json_each(CASE WHEN json_valid(journal.body) AND "                                            \
    "json_type(journal.body, '$.policy.tables') = 'array' THEN "                                   \
    "json_extract(journal.body, '$.policy.tables') ELSE '[]' END)"
#define DATASETS "SELECT dataset.name FROM dataset JOIN journal ON journal.id = dataset.registered "

brume_status brume_ledger_holders(brume_ledger *ledger, const char *table, json_t **out,
                                  brume_error *error)
{
    json_t *names = json_array();
    brume_status status = add_names(
        ledger,
        DATASETS "WHERE EXISTS (SELECT 1 FROM " LISTED_TABLES
                 " WHERE json_extract(value, '$.name') = ?1) UNION " DATASETS
                 "WHERE dataset.name = ?1 AND NOT EXISTS (SELECT 1 FROM " LISTED_TABLES ")",
        table, names, error);
    if (status == BRUME_OK && json_array_size(names) == 0)
        status = add_names(ledger,
                           DATASETS "WHERE EXISTS (SELECT 1 FROM " LISTED_TABLES
                                    " WHERE lower(json_extract(value, '$.name')) = lower(?1))",
                           table, names, error);
    if (status != BRUME_OK) {
        json_decref(names);
        return status;
    }
    *out = names;
    return BRUME_OK;
}

brume_status brume_ledger_tables(brume_ledger *ledger, json_t **out, brume_error *error)
{
    json_t *names = json_array();
    brume_status status =
        add_names(ledger,
                  "SELECT json_extract(value, '$.name') FROM dataset JOIN journal ON journal.id = "
                  "dataset.registered, " LISTED_TABLES " WHERE ?1 = '' UNION " DATASETS
                  "WHERE NOT EXISTS (SELECT 1 FROM " LISTED_TABLES ")",
                  "", names, error);
    if (status != BRUME_OK) {
        json_decref(names);
        return status;
    }
    *out = names;
    return BRUME_OK;
}
