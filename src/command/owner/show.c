/* brume datasets, show: what is registered, and the policy of one dataset as its owner declared it.
 */
#include "command/command.h"

#include <string.h>

#include "command/frame/table.h"
#include "command/ledger/open_ledger.h"
#include "command/owner/declare.h"
#include "command/owner/policy_file.h"
#include "command/owner/register.h"
#include "ledger/ledger.h"

/* ---- datasets ---- */

/* A dataset of several tables has the names of these, and the units that they have. */
static json_t *tables_to_json(const brume_dataset *dataset, const json_t *tables)
{
    json_t *names = json_array(), *unit = NULL;
    for (size_t i = 0; names && i < json_array_size(tables); i++) {
        const json_t *table = json_array_get(tables, i);
        json_array_append(names, json_object_get(table, "name"));
        if (!unit && json_is_string(json_object_get(table, "unit")))
            unit = json_object_get(table, "unit");
    }
    return json_pack("{s:s,s:s,s:o,s:s,s:s,s:s,s:b,s:o}", "name", dataset->name, "source",
                     dataset->source, "unit", unit ? json_incref(unit) : json_string("row"), "rule",
                     brume_rule_word(dataset->filter.rule), "adjacency",
                     brume_adjacency_word(dataset->adjacency), "data_version",
                     dataset->data_version, "public", 0, "tables", names);
}

static json_t *listed_to_json(const brume_dataset *dataset)
{
    const json_t *tables = json_object_get(dataset->policy, "tables");
    if (tables)
        return tables_to_json(dataset, tables);
    json_t *unit = json_object_get(dataset->policy, "unit");
    bool is_public = json_is_true(json_object_get(dataset->policy, "public"));
    return json_pack("{s:s,s:O,s:o,s:s,s:s,s:s,s:b}", "name", dataset->name, "source",
                     json_object_get(dataset->policy, "location"), "unit",
                     is_public              ? json_null()
                     : json_is_string(unit) ? json_incref(unit)
                                            : json_string("row"),
                     "rule", brume_rule_word(dataset->filter.rule), "adjacency",
                     brume_adjacency_word(dataset->adjacency), "data_version",
                     dataset->data_version, "public", is_public);
}

static brume_status collect(brume_call *call, brume_ledger *ledger, json_t *list,
                            brume_error *error)
{
    json_t *names = NULL;
    BRUME_TRY(brume_ledger_names(ledger, &names, error));
    BRUME_TRY(brume_call_keep_json(call, names, error));
    for (size_t i = 0; i < json_array_size(names); i++) {
        brume_dataset *dataset = NULL;
        BRUME_TRY(brume_call_open_dataset(call, ledger, json_string_value(json_array_get(names, i)),
                                          &dataset, error));
        if (json_array_append_new(list, listed_to_json(dataset)) != 0)
            return brume_no_memory(error, NULL);
    }
    return BRUME_OK;
}

static void write_names(brume_table *table, const json_t *names)
{
    char text[100] = "tables ";
    for (size_t i = 0; i < json_array_size(names); i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.30s", i ? ", " : "",
                 json_string_value(json_array_get(names, i)));
    }
    brume_table_cell(table, "%s", text);
}

static brume_status write_table(brume_call *call, const json_t *list, brume_error *error)
{
    static const char *const columns[] = {"name", "unit", "rule", "adjacency", "source", NULL};
    if (json_array_size(list) == 0) {
        fprintf(call->out, "no datasets yet; 'brume help register' says how to register one\n");
        return BRUME_OK;
    }
    brume_table *table = brume_table_open(columns);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *unit = json_string_value(json_object_get(one, "unit"));
        brume_table_cell(table, "%s", json_string_value(json_object_get(one, "name")));
        brume_table_cell(table, "%s", unit ? unit : "(public)");
        brume_table_cell(table, "%s", unit ? json_string_value(json_object_get(one, "rule")) : "");
        brume_table_cell(table, "%s",
                         unit ? json_string_value(json_object_get(one, "adjacency")) : "");
        if (json_object_get(one, "tables"))
            write_names(table, json_object_get(one, "tables"));
        else
            brume_table_cell(table, "%s", json_string_value(json_object_get(one, "source")));
    }
    return brume_table_write(table, call, error);
}

static brume_status run_datasets(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    json_t *list = json_array();
    BRUME_TRY(brume_call_keep_json(call, list, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(collect(call, ledger, list, error));
    return call->json ? brume_call_write_json(call, json_pack("{s:O}", "datasets", list), error)
                      : write_table(call, list, error);
}

const brume_command brume_command_datasets = {
    .name = "datasets",
    .summary = "list the registered datasets",
    .description = "Names, units, rules and sources of everything registered in the ledger.",
    BRUME_OPTIONS(BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("datasets"),
    .run = run_datasets,
};

/* ---- show ---- */

static json_t *budget_to_json(const brume_filter *filter)
{
    return json_pack("{s:f,s:f}", "epsilon", brume_decimal_nearest(&filter->epsilon), "delta",
                     brume_decimal_nearest(&filter->delta));
}

static json_t *to_json(const brume_dataset *dataset)
{
    json_t *json = json_pack("{s:s,s:s,s:s,s:s,s:s?,s:o}", "dataset", dataset->name, "rule",
                             brume_rule_word(dataset->filter.rule), "adjacency",
                             brume_adjacency_word(dataset->adjacency), "data_version",
                             dataset->data_version, "cap", dataset->cap, "budget",
                             dataset->no_budget ? json_null() : budget_to_json(&dataset->filter));
    if (json && dataset->has_windows)
        json_object_set_new(json, "window_budget", budget_to_json(&dataset->window_budget));
    const char *location = json_string_value(json_object_get(dataset->policy, "location"));
    const char *options = json_string_value(json_object_get(dataset->policy, "options"));
    if (json && json_object_set_new(json, "format", brume_format_to_json(location, options)) == 0)
        json_object_update_missing(json, dataset->policy);
    return json;
}

/* What holds for the dataset as a whole; `policy` is that of one of its tables. */
static void write_terms(brume_call *call, const brume_dataset *dataset, const json_t *policy)
{
    FILE *out = call->out;
    fprintf(out, "  adjacency   %s\n", brume_adjacency_word(dataset->adjacency));
    brume_write_ceilings(out, (uint64_t)json_integer_value(json_object_get(policy, "max_groups")),
                         (uint64_t)json_integer_value(json_object_get(policy, "max_rows")),
                         json_object_get(policy, "limits") != NULL);
    if (dataset->no_budget)
        fprintf(out, "  budget      none, rule %s\n", brume_rule_word(dataset->filter.rule));
    else
        fprintf(out, "  budget      epsilon %s, delta %s, rule %s\n",
                brume_shortest(brume_decimal_nearest(&dataset->filter.epsilon)).text,
                brume_shortest(brume_decimal_nearest(&dataset->filter.delta)).text,
                brume_rule_word(dataset->filter.rule));
    brume_write_window_terms(call, dataset->policy, &dataset->window_budget, dataset->no_budget);
    double age = json_number_value(json_object_get(policy, "max_age"));
    if (age > 0)
        fprintf(out, "  max age     %s s, from which a free re-read warns\n",
                brume_shortest(age).text);
    const char *share = json_string_value(json_object_get(policy, "bias_share"));
    if (share)
        fprintf(out, "  bias        %s of each price buys estimates of it\n", share);
    if (dataset->cap)
        fprintf(out, "  cap         epsilon %s a query\n", dataset->cap);
    const char *unit_name = json_string_value(json_object_get(policy, "unit_name"));
    if (unit_name)
        fprintf(out, "  unit name   %s\n", unit_name);
    double timeout = json_number_value(json_object_get(policy, "timeout"));
    if (timeout > 0)
        fprintf(out, "  timeout     %s s a query\n", brume_shortest(timeout).text);
    const char *per_user = json_string_value(json_object_get(policy, "limits_per_user"));
    if (per_user)
        fprintf(out, "  per user    %s\n", per_user);
    if (json_is_true(json_object_get(policy, "rows_stay")))
        fprintf(out, "  rows        stay on their server\n");
    if (json_is_true(json_object_get(policy, "append_only")))
        fprintf(out,
                "  append-only true    (rows are only added, until all of a unit go for good)\n");
    double about = json_number_value(json_object_get(policy, "rows_about"));
    if (about > 0)
        fprintf(out, "  size        about %s rows, as declared\n", brume_shortest(about).text);
    if (*dataset->data_version)
        fprintf(out, "  version     %s\n", dataset->data_version);
}

static brume_status write_text(brume_call *call, const brume_dataset *dataset, brume_error *error)
{
    FILE *out = call->out;
    const json_t *policy = dataset->policy;
    const char *unit = json_string_value(json_object_get(policy, "unit"));
    fprintf(out, "%s%s%s\n", brume_bold(call), dataset->name, brume_plain(call));
    fprintf(out, "  source      %s\n", json_string_value(json_object_get(policy, "location")));
    brume_write_format(call, json_string_value(json_object_get(policy, "location")),
                       json_string_value(json_object_get(policy, "options")));
    if (json_is_true(json_object_get(policy, "public"))) {
        fprintf(out, "  public\n");
        if (*dataset->data_version)
            fprintf(out, "  version     %s\n", dataset->data_version);
    } else {
        fprintf(out, "  unit        %s\n", unit ? unit : "row");
        write_terms(call, dataset, policy);
    }
    fputc('\n', out);
    return brume_write_columns(call, policy, error);
}

/* A dataset of several tables: its terms, then each table. */
static brume_status write_tables(brume_call *call, const brume_dataset *dataset, brume_error *error)
{
    brume_tables *tables = NULL;
    BRUME_TRY(brume_tables_from_json(dataset->policy, dataset->name, &tables, error));
    fprintf(call->out, "%s%s%s\n", brume_bold(call), dataset->name, brume_plain(call));
    json_t *first = json_array_get(json_object_get(dataset->policy, "tables"), 0);
    write_terms(call, dataset, first);
    fputc('\n', call->out);
    brume_write_table_policies(call, tables);
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < tables->count; i++) {
        fprintf(call->out, "\n%s%s%s\n", brume_bold(call), tables->list[i].name, brume_plain(call));
        json_t *policy = brume_policy_to_json(tables->list[i].policy);
        status = policy ? brume_write_columns(call, policy, error) : brume_no_memory(error, NULL);
        json_decref(policy);
    }
    brume_tables_close(tables);
    return status;
}

static brume_status write_dataset(brume_call *call, const brume_dataset *dataset,
                                  brume_error *error)
{
    if (brume_call_has(call, "policy") && call->json)
        return brume_fail(error, BRUME_EARGUMENT, "'show --json' has the policy as JSON",
                          "'--json' and '--policy' exclude each other");
    if (brume_call_has(call, "policy"))
        return brume_policy_file_write(call->out, dataset, error);
    if (call->json)
        return brume_call_write_json(call, to_json(dataset), error);
    return json_object_get(dataset->policy, "tables") ? write_tables(call, dataset, error)
                                                      : write_text(call, dataset, error);
}

static brume_status run_show(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    BRUME_TRY(brume_call_open_dataset(call, ledger, brume_call_operand(call, 0), &dataset, error));
    return write_dataset(call, dataset, error);
}

const brume_command brume_command_show = {
    .name = "show",
    .summary = "show the policy of a dataset",
    .description =
        "Unit, links, limits, how lines are read, types, bounds, domains and budget as the owner "
        "declared them; with --policy as a file in YAML, with the paths of sources made absolute. "
        "Passwords are not in it.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a registered dataset")),
    BRUME_OPTIONS(
        BRUME_FLAG("policy",
                   "as a policy file, which 'register --policy' and 'amend --policy' take"),
        BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("show visits"),
    .run = run_show,
};
