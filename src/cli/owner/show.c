/* brume show: the policy of one dataset, as its owner declared it. */
#include "cli/command.h"

#include <string.h>

#include "cli/owner/declare.h"
#include "cli/ledger/open_ledger.h"
#include "ledger/dataset.h"

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
                             budget_to_json(&dataset->filter));
    const char *options = json_string_value(json_object_get(dataset->policy, "options"));
    if (json && json_object_set_new(json, "format", brume_format_to_json(options)) == 0)
        json_object_update_missing(json, dataset->policy);
    return json;
}

static brume_status write_text(brume_call *call, const brume_dataset *dataset, brume_error *error)
{
    FILE *out = call->out;
    const json_t *policy = dataset->policy;
    const char *unit = json_string_value(json_object_get(policy, "unit"));
    fprintf(out, "%s%s%s\n", brume_bold(call), dataset->name, brume_plain(call));
    fprintf(out, "  source      %s\n", json_string_value(json_object_get(policy, "location")));
    brume_write_format(call, json_string_value(json_object_get(policy, "options")));
    if (json_is_true(json_object_get(policy, "public"))) {
        fprintf(out, "  public\n");
    } else {
        fprintf(out, "  unit        %s\n", unit ? unit : "row");
        fprintf(out, "  adjacency   %s\n", brume_adjacency_word(dataset->adjacency));
        brume_write_ceilings(out,
                             (uint64_t)json_integer_value(json_object_get(policy, "max_groups")),
                             (uint64_t)json_integer_value(json_object_get(policy, "max_rows")),
                             json_object_get(policy, "limits") != NULL);
        fprintf(out, "  budget      epsilon %s, delta %s, rule %s\n",
                brume_shortest(brume_decimal_nearest(&dataset->filter.epsilon)).text,
                brume_shortest(brume_decimal_nearest(&dataset->filter.delta)).text,
                brume_rule_word(dataset->filter.rule));
        const char *share = json_string_value(json_object_get(policy, "bias_share"));
        if (share)
            fprintf(out, "  bias        %s of each price buys estimates of it\n", share);
        if (dataset->cap)
            fprintf(out, "  cap         epsilon %s a query\n", dataset->cap);
        double timeout = json_number_value(json_object_get(policy, "timeout"));
        if (timeout > 0)
            fprintf(out, "  timeout     %s s a query\n", brume_shortest(timeout).text);
    }
    if (*dataset->data_version)
        fprintf(out, "  version     %s\n", dataset->data_version);
    fputc('\n', out);
    return brume_write_columns(call, policy, error);
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_READ, &ledger, error);
    if (status == BRUME_OK)
        status = brume_ledger_dataset(ledger, brume_call_operand(call, 0), &dataset, error);
    if (status == BRUME_OK)
        status = call->json ? brume_call_write_json(call, to_json(dataset), error)
                            : write_text(call, dataset, error);
    brume_dataset_close(dataset);
    brume_ledger_close(ledger);
    return status;
}

static const brume_operand operands[] = {{.name = "NAME", .help = "a registered dataset"}};
static const brume_option options[] = {BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "show visits",
    NULL,
};

const brume_command brume_command_show = {
    .name = "show",
    .summary = "show the policy of a dataset",
    .description =
        "Unit, limits, how lines are read, types, bounds, domains and budget as the owner "
        "declared them.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
