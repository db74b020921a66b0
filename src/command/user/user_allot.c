/* brume user allot: how much of a dataset's budget somebody may take. */
#include "command/ledger/open_ledger.h"
#include "command/user/typed_user.h"

#include <stdlib.h>

static brume_status add_filter(brume_ledger *ledger, const char *name, const char *dataset,
                               json_t *list, brume_error *error)
{
    brume_filter filter;
    bool has = false;
    json_t *entry = json_pack("{s:s}", "dataset", dataset);
    brume_status status = entry
                              ? brume_ledger_allotment(ledger, name, dataset, &has, &filter, error)
                              : brume_no_memory(error, "the answer");
    if (status == BRUME_OK && has)
        status = brume_filter_to_json(&filter, entry, error);
    if (status == BRUME_OK)
        return json_array_append_new(list, entry) == 0 ? BRUME_OK
                                                       : brume_no_memory(error, "the answer");
    json_decref(entry);
    return status;
}

static void write_text(const brume_call *call, const char *name, const json_t *list)
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

static brume_status allot(brume_call *call, brume_ledger *ledger,
                          const brume_typed_allotments *typed, brume_error *error)
{
    const char *name = brume_call_operand(call, 0);
    BRUME_TRY(brume_ledger_allot(ledger, name, typed->list, typed->count, error));
    json_t *list = json_array();
    brume_status status = list ? BRUME_OK : brume_no_memory(error, "the answer");
    for (size_t i = 0; status == BRUME_OK && i < typed->count; i++)
        status = add_filter(ledger, name, typed->list[i].dataset, list, error);
    if (status == BRUME_OK && call->json)
        status = brume_call_write_json(
            call, json_pack("{s:s,s:O}", "name", name, "allotments", list), error);
    else if (status == BRUME_OK)
        write_text(call, name, list);
    json_decref(list);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_typed_allotments typed = {0};
    brume_status status =
        brume_typed_allotments_read(call->operands + 1, call->operand_count - 1, &typed, error);
    if (status == BRUME_OK)
        status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error);
    if (status == BRUME_OK)
        status = allot(call, ledger, &typed, error);
    brume_ledger_close(ledger);
    brume_typed_allotments_close(&typed);
    return status;
}

static const brume_operand operands[] = {
    {.name = "NAME", .help = "a user"},
    {.name = "ALLOTMENT", .help = "DATASET=epsilon=E[,delta=D]", .repeated = true}};
static const brume_option options[] = {BRUME_LEDGER_OPTION};

static const char *const examples[] = {
    "user allot alice visits=epsilon=0.7",
    NULL,
};

const brume_command brume_command_user_allot = {
    .name = "user allot",
    .summary = "say how much of a budget somebody may take",
    .description =
        "Gives an allotment, or changes one. What was spent of it stays spent; one that is smaller "
        "than that is refused. It counts what is charged from then on, and narrows the dataset's "
        "budget: it never adds to it.",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
