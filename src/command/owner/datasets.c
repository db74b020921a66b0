/* brume datasets: what is registered. */
#include "command/command.h"

#include <string.h>

#include "command/ledger/open_ledger.h"
#include "command/frame/table.h"
#include "ledger/ledger.h"

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

static json_t *to_json(const brume_dataset *dataset)
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
        if (json_array_append_new(list, to_json(dataset)) != 0)
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

static brume_status run(brume_call *call, brume_error *error)
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
    .run = run,
};
