/* brume budget: what was spent and what is left. */
#include "command/command.h"

#include "command/ledger/open_ledger.h"
#include "ledger/dataset.h"
#include "query/release/spend.h"

static json_t *spent_to_json(const brume_filter *filter)
{
    double amount = brume_decimal_upper(&filter->spent);
    double delta = brume_decimal_upper(&filter->spent_delta);
    if (filter->rule == BRUME_RULE_CONCENTRATED)
        return json_pack("{s:n,s:f,s:f}", "epsilon", "delta", delta, "rho", amount);
    return json_pack("{s:f,s:f}", "epsilon", amount, "delta", delta);
}

static json_t *to_json(const brume_dataset *dataset)
{
    const brume_filter *filter = &dataset->filter;
    return json_pack(
        "{s:s,s:s,s:s,s:{s:f,s:f},s:o,s:o,s:I}", "dataset", dataset->name, "rule",
        brume_rule_word(filter->rule), "adjacency", brume_adjacency_word(dataset->adjacency),
        "budget", "epsilon", brume_decimal_nearest(&filter->epsilon), "delta",
        brume_decimal_nearest(&filter->delta), "spent", spent_to_json(filter), "remaining",
        brume_budget_left(filter), "queries", (json_int_t)dataset->queries);
}

static void write_text(const brume_call *call, const brume_dataset *dataset)
{
    const brume_filter *filter = &dataset->filter;
    brume_charge left;
    char amount[BRUME_DECIMAL_TEXT], limit[BRUME_DECIMAL_TEXT], delta[BRUME_DECIMAL_TEXT],
        most[BRUME_DECIMAL_TEXT];
    if (brume_filter_left(filter, &left, NULL) != BRUME_OK)
        return;
    brume_decimal_print(&left.amount, amount, sizeof amount);
    brume_decimal_print(&filter->limit, limit, sizeof limit);
    brume_decimal_print(&left.delta, delta, sizeof delta);
    brume_decimal_print(&filter->limit_delta, most, sizeof most);
    fprintf(call->out, "%s%-16s%s ", brume_bold(call), dataset->name, brume_plain(call));
    brume_write_bar(call->out, brume_decimal_nearest(&left.amount),
                    brume_decimal_nearest(&filter->limit), 20);
    fprintf(call->out, "  %s %s of %s left",
            filter->rule == BRUME_RULE_CONCENTRATED ? "rho" : "epsilon", amount, limit);
    if (filter->rule != BRUME_RULE_PURE)
        fprintf(call->out, "\n%39sdelta %s of %s left", "", delta, most);
    fprintf(call->out, "\n%39s%s%llu %s, rule %s%s\n", "", brume_dim(call),
            (unsigned long long)dataset->queries, dataset->queries == 1 ? "query" : "queries",
            brume_rule_word(filter->rule), brume_plain(call));
}

static bool is_public(const brume_dataset *dataset)
{
    return json_is_true(json_object_get(dataset->policy, "public"));
}

static brume_status write_one(brume_call *call, brume_ledger *ledger, const char *name,
                              brume_error *error)
{
    brume_dataset *dataset = NULL;
    BRUME_TRY(brume_ledger_dataset(ledger, name, &dataset, error));
    brume_status status = BRUME_OK;
    if (is_public(dataset))
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is public and has no budget", name);
    else if (call->json)
        status = brume_call_write_json(call, to_json(dataset), error);
    else
        write_text(call, dataset);
    brume_dataset_close(dataset);
    return status;
}

static brume_status write_all(brume_call *call, brume_ledger *ledger, brume_error *error)
{
    json_t *names = NULL, *list = json_array();
    brume_status status = brume_ledger_names(ledger, &names, error);
    for (size_t i = 0; status == BRUME_OK && i < json_array_size(names); i++) {
        brume_dataset *dataset = NULL;
        status = brume_ledger_dataset(ledger, json_string_value(json_array_get(names, i)), &dataset,
                                      error);
        if (status == BRUME_OK && !is_public(dataset) && call->json)
            json_array_append_new(list, to_json(dataset));
        else if (status == BRUME_OK && !is_public(dataset))
            write_text(call, dataset);
        brume_dataset_close(dataset);
    }
    if (status == BRUME_OK && call->json)
        status = brume_call_write_json(call, json_pack("{s:O}", "budgets", list), error);
    json_decref(names);
    json_decref(list);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    const char *name = brume_call_operand(call, 0);
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error));
    brume_status status = name ? write_one(call, ledger, name, error)
                               : write_all(call, ledger, error);
    brume_ledger_close(ledger);
    return status;
}

static const brume_operand operands[] = {
    {.name = "NAME", .help = "a registered dataset; all of them without it", .optional = true}};
static const brume_option options[] = {BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "budget visits",
    NULL,
};

const brume_command brume_command_budget = {
    .name = "budget",
    .summary = "show what was spent and what is left",
    .description =
        "The budget, the sum of what was charged, and what may still be spent. Under the rule "
        "concentrated the account is kept in rho.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
