/* brume amend: the owner's correction of what was registered. */
#include "command/command.h"

#include <string.h>

#include "command/owner/amend_policy.h"
#include "command/owner/changes.h"
#include "command/owner/declare.h"
#include "command/ledger/open_ledger.h"
#include "ledger/ledger.h"

/* What may be amended: the option, and the word for it in the history. */
static const struct {
    const char *option, *word;
} amendable[] = {
    {"columns", "columns"},
    {"delimiter", "lines"},
    {"quote", "lines"},
    {"no-header", "lines"},
    {"multiline", "lines"},
    {"unit", "unit"},
    {"unit-name", "unit name"},
    {"bounds", "bounds"},
    {"domain", "domains"},
    {"max-groups", "limits"},
    {"max-rows", "limits"},
    {"limits", "limits"},
    {"timeout", "timeout"},
    {"limits-per-user", "limits per user"},
    {"rows-stay", "rows"},
    {"rows-about", "size"},
    {"estimate-bias", "bias"},
    {"budget", "budget"},
    {"cap", "cap"},
    {"data-version", "data version"},
};
enum { AMENDABLE = sizeof amendable / sizeof *amendable };

/* The words of what is typed, each once. NULL if memory is out. */
static json_t *list_changes(const brume_call *call)
{
    json_t *changes = json_array();
    const char *last = "";
    for (size_t i = 0; changes && i < AMENDABLE; i++)
        if (brume_call_has(call, amendable[i].option) && strcmp(last, amendable[i].word) != 0) {
            last = amendable[i].word;
            if (json_array_append_new(changes, json_string(last)) != 0) {
                json_decref(changes);
                return NULL;
            }
        }
    return changes;
}

/* ---- what stays ---- */

static brume_status fixed(const char *what, const char *name, const char *is, brume_error *error)
{
    return brume_fail(error, BRUME_EPOLICY,
                      "what was paid was paid under it; register the source again with "
                      "--new-budget",
                      "the %s of '%s' is %s for good", what, name, is);
}

/* Rule and adjacency may be repeated, not changed; a public table has no terms to amend. */
static brume_status check_fixed(const brume_call *call, const brume_dataset *dataset,
                                const brume_policy *before, brume_error *error)
{
    static const char *const protecting[] = {
        "unit",    "budget", "cap",       "max-groups",      "max-rows", "estimate-bias",
        "timeout", "limits", "rows-stay", "limits-per-user", "unit-name"};
    const char *rule = brume_call_text(call, "rule"), *word = brume_call_text(call, "adjacency");
    const char *own_rule = brume_rule_word(dataset->filter.rule);
    const char *own_word = brume_adjacency_word(dataset->adjacency);
    for (size_t i = 0; before->is_public && i < sizeof protecting / sizeof *protecting; i++)
        if (brume_call_has(call, protecting[i]))
            return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                              "'--%s' does not apply to a public table", protecting[i]);
    if (rule && strcmp(rule, own_rule) != 0)
        return fixed("rule", dataset->name, own_rule, error);
    if (word && strcmp(word, own_word) != 0)
        return fixed("adjacency", dataset->name, own_word, error);
    return BRUME_OK;
}

/* ---- the new policy ---- */

/* Bounds and domains of columns that are still there, where they are not declared anew. */
static brume_status keep_declarations(const brume_call *call, const brume_policy *before,
                                      brume_policy *policy, brume_error *error)
{
    policy->is_public = before->is_public;
    policy->max_groups = before->max_groups;
    policy->max_rows = before->max_rows;
    policy->table_rows = before->table_rows;
    policy->limits_fixed = before->limits_fixed;
    policy->timeout = before->timeout;
    policy->per_user = before->per_user;
    policy->rows_stay = before->rows_stay;
    policy->rows_about = before->rows_about;
    if (before->bias_share)
        BRUME_TRY(brume_policy_set_bias_share(policy, before->bias_share, error));
    if (before->unit_name)
        BRUME_TRY(brume_policy_set_unit_name(policy, before->unit_name, error));
    if (before->unit && !brume_call_has(call, "unit"))
        BRUME_TRY(brume_policy_set_unit(policy, before->unit, error));
    for (size_t i = 0; i < before->column_count; i++) {
        const brume_policy_column *old = &before->columns[i];
        if (!brume_policy_find(policy, old->name))
            continue;
        if (old->low && !brume_declares_column(call, "bounds", old->name))
            BRUME_TRY(brume_policy_set_bounds(policy, old->name, old->low, old->high, error));
        if (old->domain_count && !brume_declares_column(call, "domain", old->name))
            BRUME_TRY(brume_policy_set_domain(policy, old->name, (const char *const *)old->domain,
                                              old->domain_count, error));
    }
    return BRUME_OK;
}

/* The source again, where queries read it, as it is declared now. */
static brume_status look_again(const brume_call *call, const brume_dataset *dataset,
                               const brume_policy *before, brume_found_source *found,
                               brume_policy **out, brume_error *error)
{
    found->location = strdup(before->location);
    found->password = dataset->password ? strdup(dataset->password) : NULL;
    if (!found->location || (dataset->password && !found->password))
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    BRUME_TRY(brume_find_source(call, before->table, before, false, found, error));
    BRUME_TRY(brume_policy_make(before->location, before->table, &found->description, out, error));
    return keep_declarations(call, before, *out, error);
}

static brume_status make_policy(const brume_call *call, const brume_dataset *dataset,
                                const brume_policy *before, brume_found_source *found,
                                brume_policy **out, brume_error *error)
{
    const char *unit = brume_call_text(call, "unit");
    if (brume_declares_schema(call))
        BRUME_TRY(look_again(call, dataset, before, found, out, error));
    else
        BRUME_TRY(brume_policy_from_json(dataset->policy, out, error));
    if (unit && strcmp(unit, "row") != 0)
        BRUME_TRY(brume_policy_set_unit(*out, unit, error));
    return brume_declare_policy(call, *out, error);
}

/* ---- writing ---- */

static void write_changes(FILE *out, const json_t *changes)
{
    for (size_t i = 0; i < json_array_size(changes); i++)
        fprintf(out, "%s%s", i ? ", " : "", json_string_value(json_array_get(changes, i)));
}

static brume_status write_amended(brume_call *call, const brume_dataset *dataset,
                                  const json_t *policy, const json_t *changes,
                                  const brume_description *found, brume_error *error)
{
    const char *name = brume_call_operand(call, 0);
    const char *location = json_string_value(json_object_get(policy, "location"));
    const char *options = json_string_value(json_object_get(policy, "options"));
    json_t *warnings =
        brume_source_warnings(found, json_is_true(json_object_get(policy, "public")));
    if (call->json)
        return brume_call_write_json(
            call,
            json_pack("{s:s,s:O,s:o,s:O,s:o,s:o}", "dataset", name, "changes", changes, "changed",
                      brume_changes_of(dataset, policy, call), "columns",
                      json_object_get(policy, "columns"), "format",
                      brume_format_to_json(location, options), "warnings", warnings),
            error);
    fprintf(call->out, "amended %s%s%s: ", brume_bold(call), name, brume_plain(call));
    write_changes(call->out, changes);
    fputc('\n', call->out);
    json_t *changed = brume_changes_of(dataset, policy, call);
    brume_changes_write(call->out, changed);
    json_decref(changed);
    brume_status status = BRUME_OK;
    if (brume_declares_schema(call)) {
        brume_write_format(call, location, options);
        fputc('\n', call->out);
        status = brume_write_columns(call, policy, error);
        brume_write_warnings(call, warnings);
    }
    json_decref(warnings);
    return status;
}

/* ---- amending ---- */

static brume_status amend(brume_call *call, brume_ledger *ledger, const brume_dataset *dataset,
                          const json_t *changes, brume_error *error)
{
    brume_policy *before = NULL, *policy = NULL;
    brume_found_source found = {0};
    json_t *json = NULL;
    if (brume_call_has(call, "policy"))
        return brume_amend_from_file(call, ledger, dataset, error);
    if (json_object_get(dataset->policy, "tables"))
        return brume_amend_terms(call, ledger, dataset, changes, error);
    brume_status status = brume_policy_from_json(dataset->policy, &before, error);
    if (status == BRUME_OK)
        status = check_fixed(call, dataset, before, error);
    if (status == BRUME_OK && json_array_size(changes) == 0)
        status = brume_fail(error, BRUME_EARGUMENT, "see 'brume help amend'",
                            "nothing is said that could be amended");
    if (status == BRUME_OK)
        status = make_policy(call, dataset, before, &found, &policy, error);
    if (status == BRUME_OK && !(json = brume_policy_to_json(policy)))
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (status == BRUME_OK)
        status = brume_amend_record(ledger, dataset, call, json,
                                    !brume_policy_same_units(before, policy), false, changes,
                                    error);
    if (status == BRUME_OK)
        status = write_amended(call, dataset, json, changes, &found.description, error);
    json_decref(json);
    brume_policy_close(policy);
    brume_policy_close(before);
    brume_found_source_clear(&found);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    json_t *changes = list_changes(call);
    BRUME_TRY(brume_call_keep_json(call, changes, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_call_open_dataset(call, ledger, brume_call_operand(call, 0), &dataset, error));
    return amend(call, ledger, dataset, changes, error);
}

static const char *const adjacencies[] = {"add-remove", "replace", NULL};
static const char *const rules[] = {"pure", "approximate", "concentrated", NULL};

const brume_command brume_command_amend = {
    .name = "amend",
    .summary = "correct what was registered of a dataset",
    .description =
        "The owner's correction: columns, how lines are read, bounds, domains, limits, budget, cap, "
        "data version. What is not said stays as it was. It is recorded in the ledger, and 'history' "
        "shows it; recorded answers are re-read under the old policy only.\n\nWhat was spent stays "
        "spent: a budget below it is refused. Prices were paid for the units of the time, so the "
        "unit, the type of its column and how lines are read can be amended only while nothing is "
        "spent. The source, the rule and the adjacency stay.\n\nA budget that is raised because of "
        "what the answers said holds in the sense of the largest budget that might have been given.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a registered dataset")),
    BRUME_OPTIONS(
        BRUME_SCHEMA_OPTIONS,
        BRUME_OPTION(TEXT, "unit", "COLUMN|row", "whose row it is; only while nothing is spent"),
        BRUME_POLICY_OPTIONS,
        BRUME_OPTION(TEXT, "budget", "epsilon=E[,delta=D]",
                     "what may be spent in all, with what is spent already"),
        BRUME_OPTION(TEXT, "cap", "epsilon=E|none", "most that one query may cost"),
        BRUME_OPTION(TEXT, "data-version", "V",
                     "your public label of the data; free re-reads depend on it"),
        BRUME_OPTION(CHOICE, "rule", "RULE",
                     "fixed since it was registered: only the same word is taken",
                     .choices = rules),
        BRUME_OPTION(CHOICE, "adjacency", "WORD",
                     "fixed since it was registered: only the same word is taken",
                     .choices = adjacencies),
        BRUME_OPTION(
            FILE, "policy", "FILE.yaml",
            "everything anew, from a policy file; 'show --policy' writes the one in force"),
        BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("amend visits --bounds age=0..110 --data-version 2026-02"),
    .run = run,
};
