/* brume amend NAME --policy FILE: everything that a policy file says, said anew; and the terms of a
 * dataset of several tables. */
#include "command/owner/amend_policy.h"

#include <stdlib.h>
#include <string.h>

#include "command/owner/changes.h"
#include "command/owner/policy_file.h"
#include "command/owner/register_policy.h"
#include "command/owner/typed_budget.h"
#include "ledger/ledger.h"

/* ---- what stays ---- */

/* The source of the table at `index`, a line of the dataset's; free with free(). */
static char *source_line(const brume_dataset *dataset, size_t index)
{
    const char *at = dataset->source;
    while (index-- > 0 && at) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at ? strndup(at, strcspn(at, "\n")) : NULL;
}

/* Put the tables of the file into the order that they have: the lines of the dataset's source are
 * in that order for good. They have the same names. */
static void keep_order(const brume_tables *before, brume_policy_file *file)
{
    brume_table_policy *list = file->tables->list;
    for (size_t i = 0; i < before->count; i++) {
        size_t at = brume_tables_find(file->tables, before->list[i].name);
        brume_table_policy table = list[i];
        brume_found_source found = file->found[i];
        list[i] = list[at];
        list[at] = table;
        file->found[i] = file->found[at];
        file->found[at] = found;
    }
}

/* The same tables, from the same sources, and as public as they were. */
static brume_status check_tables(const brume_dataset *dataset, const brume_tables *before,
                                 const brume_policy_file *file, brume_error *error)
{
    if (before->count != file->tables->count)
        return brume_fail(error, BRUME_EPOLICY, "register the other tables as another dataset",
                          "'%s' has %zu tables, the file has %zu", dataset->name, before->count,
                          file->tables->count);
    for (size_t i = 0; i < file->tables->count; i++) {
        const brume_table_policy *table = &file->tables->list[i];
        size_t at = brume_tables_find(before, table->name);
        if (at == SIZE_MAX)
            return brume_fail(error, BRUME_EPOLICY, "register it as another dataset",
                              "'%s' has no table '%s'", dataset->name, table->name);
        char *source = source_line(dataset, at);
        bool same = source && strcmp(source, file->found[i].description.identity) == 0;
        free(source);
        if (!same)
            return brume_fail(error, BRUME_EPOLICY, "register it as another dataset",
                              "the source of the table '%s' cannot be amended", table->name);
        if (before->list[at].policy->is_public != table->policy->is_public)
            return brume_fail(error, BRUME_EPOLICY, NULL,
                              "whether '%s' is public was settled when it was registered",
                              table->name);
    }
    return BRUME_OK;
}

static brume_status check_word(const brume_call *call, const char *option, const char *name,
                               const char *own, brume_error *error)
{
    const char *said = brume_call_text(call, option);
    if (!said || strcmp(said, own) == 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EPOLICY,
                      "what was paid was paid under it; register the source again with "
                      "--new-budget",
                      "the %s of '%s' is %s for good", option, name, own);
}

/* ---- recording ---- */

static void write_amended(const brume_call *call, const brume_dataset *dataset,
                          const json_t *changes)
{
    fprintf(call->out, "amended %s%s%s: ", brume_bold(call), dataset->name, brume_plain(call));
    for (size_t i = 0; i < json_array_size(changes); i++)
        fprintf(call->out, "%s%s", i ? ", " : "", json_string_value(json_array_get(changes, i)));
    fputc('\n', call->out);
}

brume_status brume_amend_record(brume_ledger *ledger, const brume_dataset *dataset,
                                const brume_call *said, const json_t *policy, bool moves_units,
                                bool all, const json_t *changes, brume_error *error)
{
    const char *typed = brume_call_text(said, "budget"), *cap = brume_call_text(said, "cap");
    brume_typed_budget budget = {0}, most = {0};
    bool uncapped = cap ? strcmp(cap, "none") == 0 : all;
    brume_status status = typed ? brume_typed_budget_read(typed, "budget", &budget, error)
                                : BRUME_OK;
    if (status == BRUME_OK && cap && !uncapped)
        status = brume_typed_cap_read(cap, &most, error);
    brume_amendment amendment = {.name = dataset->name,
                                 .stated = dataset->stated,
                                 .epsilon = budget.epsilon,
                                 .delta = budget.delta,
                                 .cap = uncapped ? "" : most.epsilon,
                                 .data_version = brume_call_text(said, "data-version"),
                                 .policy = policy,
                                 .moves_units = moves_units,
                                 .changes = changes};
    if (status == BRUME_OK)
        status = brume_ledger_amend(ledger, &amendment, error);
    free(budget.text);
    free(most.text);
    return status;
}

/* The terms that `said` has, with the new tables (NULL: as they are). */
static brume_status record(brume_call *call, brume_ledger *ledger, const brume_dataset *dataset,
                           const brume_call *said, const json_t *policy, bool moves_units,
                           const json_t *changes, brume_error *error)
{
    BRUME_TRY(
        check_word(said, "rule", dataset->name, brume_rule_word(dataset->filter.rule), error));
    BRUME_TRY(check_word(said, "adjacency", dataset->name, brume_adjacency_word(dataset->adjacency),
                         error));
    BRUME_TRY(brume_amend_record(ledger, dataset, said, policy, moves_units, policy != NULL,
                                 changes, error));
    if (call->json)
        return brume_call_write_json(call,
                                     json_pack("{s:s,s:O,s:o}", "dataset", dataset->name, "changes",
                                               changes, "changed",
                                               brume_changes_of(dataset, policy, said)),
                                     error);
    write_amended(call, dataset, changes);
    json_t *changed = brume_changes_of(dataset, policy, said);
    brume_changes_write(call->out, changed);
    json_decref(changed);
    return BRUME_OK;
}

/* ---- from a file ---- */

static brume_status check_alone(const brume_call *call, brume_error *error)
{
    for (size_t i = 0; i < call->command->option_count; i++) {
        const char *name = call->command->options[i].name;
        if (brume_call_has(call, name) && strcmp(name, "policy") != 0 &&
            strcmp(name, "ledger") != 0)
            return brume_fail(error, BRUME_EARGUMENT, "it is a key of the file",
                              "'--%s' does not go with '--policy'", name);
    }
    return BRUME_OK;
}

static brume_status amend_from(brume_call *call, brume_ledger *ledger, const brume_dataset *dataset,
                               const brume_tables *before, brume_policy_file *file,
                               brume_error *error)
{
    BRUME_TRY(check_tables(dataset, before, file, error));
    keep_order(before, file);
    BRUME_TRY(brume_check_policy_tables(ledger, file, error));
    json_t *policy = brume_tables_to_json(file->tables), *changes = json_pack("[s]", "policy");
    brume_status status =
        policy && changes ? record(call, ledger, dataset, &file->call, policy,
                                   !brume_tables_same_units(before, file->tables), changes, error)
                          : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    json_decref(policy);
    json_decref(changes);
    return status;
}

brume_status brume_amend_from_file(brume_call *call, brume_ledger *ledger,
                                   const brume_dataset *dataset, brume_error *error)
{
    brume_policy_file *file = NULL;
    brume_tables *before = NULL;
    BRUME_TRY(check_alone(call, error));
    BRUME_TRY(brume_tables_from_json(dataset->policy, dataset->name, &before, error));
    brume_status status = brume_policy_file_open(brume_command_by_name("register"), dataset->name,
                                                 brume_call_text(call, "policy"), &file, error);
    if (status == BRUME_OK)
        status = amend_from(call, ledger, dataset, before, file, error);
    brume_policy_file_close(file);
    brume_tables_close(before);
    return status;
}

/* ---- the terms alone ---- */

brume_status brume_amend_terms(brume_call *call, brume_ledger *ledger, const brume_dataset *dataset,
                               const json_t *changes, brume_error *error)
{
    static const char *const terms[] = {"budget",    "cap",    "data-version", "rule",
                                        "adjacency", "ledger", "json"};
    for (size_t i = 0; i < call->command->option_count; i++) {
        const char *name = call->command->options[i].name;
        bool known = !brume_call_has(call, name);
        for (size_t j = 0; j < sizeof terms / sizeof *terms; j++)
            known = known || strcmp(name, terms[j]) == 0;
        if (!known)
            return brume_fail(error, BRUME_EARGUMENT,
                              "write its file with 'show --policy', and amend it with --policy",
                              "'--%s' does not apply to a dataset of several tables", name);
    }
    if (json_array_size(changes) == 0)
        return brume_fail(error, BRUME_EARGUMENT, "see 'brume help amend'",
                          "nothing is said that could be amended");
    return record(call, ledger, dataset, call, NULL, false, changes, error);
}
