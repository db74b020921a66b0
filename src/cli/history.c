/* brume history: what was asked, what it cost, and whether it was answered. */
#include "cli/command.h"

#include <string.h>

#include "cli/open_ledger.h"
#include "cli/table.h"

static brume_status write_table(brume_call *call, const json_t *events, brume_error *error)
{
    static const char *const columns[] = {">id", "time", "dataset", "state", "cost", "~sql", NULL};
    if (json_array_size(events) == 0) {
        fprintf(call->out, "nothing was asked yet\n");
        return BRUME_OK;
    }
    brume_table *table = NULL;
    BRUME_TRY(brume_table_open(columns, &table, error));
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *time = json_string_value(json_object_get(event, "time"));
        const char *sql = json_string_value(json_object_get(event, "sql"));
        brume_table_cell(table, "%lld",
                         (long long)json_integer_value(json_object_get(event, "id")));
        brume_table_cell(table, "%.19s", time ? time : "");
        brume_table_cell(table, "%s", json_string_value(json_object_get(event, "dataset")));
        brume_table_cell(table, "%s", json_string_value(json_object_get(event, "state")));
        brume_table_cell(
            table, "%s",
            json_string_value(json_object_get(json_object_get(event, "cost"), "exact")));
        brume_table_cell(table, "%.73s%s", sql ? sql : "", sql && strlen(sql) > 73 ? "..." : "");
    }
    brume_status status = brume_table_write(table, call, error);
    brume_table_close(table);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    json_t *history = NULL;
    const char *name = brume_call_operand(call, 0);
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error);
    if (status == BRUME_OK && name)
        status = brume_ledger_dataset(ledger, name, &dataset, error); /* is there one? */
    brume_dataset_close(dataset);
    if (status == BRUME_OK)
        status = brume_ledger_history(ledger, name, &history, error);
    if (status == BRUME_OK)
        status = call->json ? brume_call_write_json(call, json_incref(history), error)
                            : write_table(call, json_object_get(history, "events"), error);
    json_decref(history);
    brume_ledger_close(ledger);
    return status;
}

static const brume_operand operands[] = {
    {.name = "NAME", .help = "a registered dataset; all of them without it", .optional = true}};
static const brume_option options[] = {BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "history visits",
    NULL,
};

const brume_command brume_command_history = {
    .name = "history",
    .summary = "list what was asked and what it cost",
    .description =
        "Every charge, oldest first. A query that failed or was interrupted stays charged: "
        "whether its answer was seen cannot be known. Free re-reads are not charges.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
