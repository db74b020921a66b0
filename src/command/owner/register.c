/* brume register: a dataset, whose it is, what is public of it, and its budget. */
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

#include "command/owner/declare.h"
#include "command/ledger/open_ledger.h"
#include "command/owner/register_policy.h"
#include "command/owner/typed_budget.h"
#include "engine/location.h"
#include "ledger/ledger.h"

/* The operand SOURCE as the options declare it. */
static brume_status find_source(const brume_call *call, brume_found_source *found,
                                brume_error *error)
{
    BRUME_TRY(brume_location_split(brume_call_operand(call, 1), &found->location, &found->password,
                                   error));
    return brume_find_source(call, brume_call_text(call, "table"), NULL, true, found, error);
}

/* ---- the policy ---- */

static brume_status declare(const brume_call *call, brume_policy *policy, brume_error *error)
{
    const char *unit = brume_call_text(call, "unit");
    policy->is_public = brume_call_has(call, "public");
    if (unit && strcmp(unit, "row") != 0)
        BRUME_TRY(brume_policy_set_unit(policy, unit, error));
    return brume_declare_policy(call, policy, error);
}

/* What only a protected dataset has. */
static brume_status check_public(const brume_call *call, brume_error *error)
{
    static const char *const protecting[] = {"unit",
                                             "budget",
                                             "rule",
                                             "adjacency",
                                             "cap",
                                             "max-groups",
                                             "max-rows",
                                             "new-budget",
                                             "estimate-bias",
                                             "timeout",
                                             "limits",
                                             "rows-stay",
                                             "limits-per-user",
                                             "unit-name"};
    bool is_public = brume_call_has(call, "public");
    for (size_t i = 0; is_public && i < sizeof protecting / sizeof *protecting; i++)
        if (brume_call_has(call, protecting[i]))
            return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                              "'--%s' does not apply to a public table", protecting[i]);
    if (!is_public && !brume_call_has(call, "unit"))
        return brume_fail(error, BRUME_EARGUMENT,
                          "--unit COLUMN says whose row it is; --unit row where a row is a person",
                          "'--unit' is missing");
    if (!is_public && !brume_call_has(call, "budget"))
        return brume_fail(error, BRUME_EARGUMENT, "there is no default: write --budget epsilon=E",
                          "'--budget' is missing");
    return BRUME_OK;
}

/* ---- writing ---- */

static void write_terms(const brume_call *call, const brume_policy *policy,
                        const brume_filter *filter, brume_adjacency adjacency,
                        const brume_typed_budget *typed)
{
    FILE *out = call->out;
    if (policy->is_public) {
        fprintf(out, "  public: it may be joined, and is not protected\n");
        return;
    }
    fprintf(out, "  unit        %s\n", policy->unit ? policy->unit : "row (every row is a person)");
    fprintf(out, "  adjacency   %s\n", brume_adjacency_word(adjacency));
    brume_write_ceilings(out, policy->max_groups, policy->max_rows, policy->limits_fixed);
    fprintf(out, "  budget      epsilon %s%s%s, rule %s\n", typed->epsilon,
            typed->delta ? ", delta " : "", typed->delta ? typed->delta : "",
            brume_rule_word(filter->rule));
}

/* What was registered, in text or JSON. */
static brume_status write_registered(brume_call *call, const brume_policy *policy,
                                     const brume_filter *filter, brume_adjacency adjacency,
                                     const brume_typed_budget *typed,
                                     const brume_description *found, brume_error *error)
{
    json_t *json = brume_policy_to_json(policy),
           *warnings = brume_source_warnings(found, policy->is_public);
    brume_status status =
        json && warnings ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (status == BRUME_OK && !call->json) {
        fprintf(call->out, "registered %s%s%s: %zu columns from %s\n", brume_bold(call),
                brume_call_operand(call, 0), brume_plain(call), policy->column_count,
                policy->location);
        brume_write_format(call, policy->location, policy->options);
        write_terms(call, policy, filter, adjacency, typed);
        fputc('\n', call->out);
        status = brume_write_columns(call, json, error);
        brume_write_warnings(call, warnings);
    } else if (status == BRUME_OK) {
        status = brume_call_write_json(
            call,
            json_pack(
                "{s:s,s:s,s:s,s:s?,s:s,s:O,s:O,s:{s:s?,s:s?},s:O,s:o,s:O}", "dataset",
                brume_call_operand(call, 0), "rule", brume_rule_word(filter->rule), "adjacency",
                brume_adjacency_word(adjacency), "unit",
                policy->is_public ? NULL
                : policy->unit    ? policy->unit
                                  : "row",
                "source", policy->location, "max_groups", json_object_get(json, "max_groups"),
                "max_rows", json_object_get(json, "max_rows"), "budget", "epsilon", typed->epsilon,
                "delta", typed->delta, "columns", json_object_get(json, "columns"), "format",
                brume_format_to_json(policy->location, policy->options), "warnings", warnings),
            error);
    }
    json_decref(json);
    json_decref(warnings);
    return status;
}

static brume_status record(brume_call *call, const brume_policy *policy,
                           const brume_found_source *found, const brume_filter *filter,
                           brume_adjacency adjacency, brume_error *error)
{
    const char *version = brume_call_text(call, "data-version");
    const char *cap = brume_call_text(call, "cap");
    json_t *json = brume_policy_to_json(policy);
    if (!json)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    brume_typed_budget most = {0};
    brume_ledger *ledger = NULL;
    brume_status status = cap ? brume_typed_cap_read(cap, &most, error) : BRUME_OK;
    if (status == BRUME_OK)
        status = brume_call_open_ledger(call, BRUME_LEDGER_CREATE, &ledger, error);
    brume_registration registration = {.name = brume_call_operand(call, 0),
                                       .source = found->description.identity,
                                       .password = found->password,
                                       .marks = (const char *const *)found->marks.texts,
                                       .mark_count = found->marks.count,
                                       .read_mark_count = found->marks.read_count,
                                       .whole_mark_count = found->marks.whole_count,
                                       .data_version = version ? version : "",
                                       .adjacency = adjacency,
                                       .filter = filter,
                                       .cap = most.epsilon,
                                       .policy = json,
                                       .new_budget = brume_call_has(call, "new-budget")};
    if (status == BRUME_OK)
        status = brume_ledger_register(ledger, &registration, error);
    json_decref(json);
    free(most.text);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    bool is_public = brume_call_has(call, "public");
    const char *typed = brume_call_text(call, "budget"), *word = brume_call_text(call, "adjacency");
    brume_adjacency adjacency = BRUME_ADD_REMOVE;
    if (brume_call_has(call, "policy"))
        return brume_register_policy(call, error);
    if (!brume_call_operand(call, 1))
        return brume_fail(error, BRUME_EARGUMENT, "a file or a table, or --policy FILE",
                          "SOURCE is missing");
    if (word && !brume_adjacency_parse(word, &adjacency))
        return brume_fail(error, BRUME_EARGUMENT, "add-remove or replace", "'--adjacency' is '%s'",
                          word);
    BRUME_TRY(check_public(call, error));
    brume_typed_budget budget = {0};
    brume_filter filter;
    brume_found_source found = {0};
    brume_policy *policy = NULL;
    /* A public table is never charged: the ledger wants a budget, it gets one nobody can spend. */
    brume_status status =
        brume_typed_budget_read(is_public ? "epsilon=1e-60" : typed, "budget", &budget, error);
    if (status == BRUME_OK)
        status = brume_typed_budget_filter(&budget, brume_call_text(call, "rule"), &filter, error);
    if (status == BRUME_OK)
        status = find_source(call, &found, error);
    if (status == BRUME_OK)
        status = brume_policy_make(found.location, brume_call_text(call, "table"),
                                   &found.description, &policy, error);
    if (status == BRUME_OK)
        status = declare(call, policy, error);
    if (status == BRUME_OK)
        status = record(call, policy, &found, &filter, adjacency, error);
    if (status == BRUME_OK)
        status =
            write_registered(call, policy, &filter, adjacency, &budget, &found.description, error);
    brume_policy_close(policy);
    brume_found_source_clear(&found);
    free(budget.text);
    return status;
}

static const char *const adjacencies[] = {"add-remove", "replace", NULL};
static const char *const rules[] = {"pure", "approximate", "concentrated", NULL};

const brume_command brume_command_register = {
    .name = "register",
    .summary = "register a dataset with its privacy unit and its budget",
    .description =
        "Writes the dataset's policy to the ledger. Everything said here is the owner's decision "
        "and public: the columns and their types, the unit, the bounds, the domains, the budget. "
        "No query can change it; 'amend' corrects it. There is no default budget.\n\nNothing is "
        "found out from rows, since then a row could change how all others are read. Of a CSV the "
        "header line is read; a column is text, unless --columns gives it a type or --bounds makes "
        "it a number with as many decimals as the bounds are typed with, a date or a timestamp. Of JSON lines the fields "
        "in --columns are read. Parquet files and tables of servers have types of their own. Every "
        "line is a row; what cannot be read is NULL. 'inspect' looks at a file and proposes "
        "--columns.\n\nThe same source cannot be registered twice, because two budgets "
        "for the same people add up: not by another name, a link or a glob, nor a copy of a file, "
        "nor a view of a table; and what is protected cannot be registered as public. --new-budget "
        "does the former all the same. A refusal does not say what the reason is; 'history' shows "
        "it.\n\nA password in a postgresql:// "
        "URL, and a token in a spark:// one, is kept in the ledger for later queries, and is in nothing that brume prints or "
        "exports.",
    .usage = "NAME SOURCE (--unit COLUMN|row --budget epsilon=E[,delta=D] | --public) [OPTION...]\n"
             "NAME --policy FILE.yaml",
    BRUME_OPERANDS(
        BRUME_OPERAND(TEXT, "NAME", "how queries will call it"),
        BRUME_OPERAND(FILE, "SOURCE",
                      "a .csv, .parquet or .json path or glob, postgresql://... or spark://...",
                      .optional = true)),
    BRUME_OPTIONS(
        BRUME_OPTION(TEXT, "unit", "COLUMN|row", "the column that says whose row it is, or row"),
        BRUME_OPTION(TEXT, "budget", "epsilon=E[,delta=D]", "what may be spent in all"),
        BRUME_OPTION(CHOICE, "rule", "RULE",
                     "how charges add up; approximate where delta is given, else pure",
                     .choices = rules),
        BRUME_OPTION(CHOICE, "adjacency", "WORD",
                     "which tables are neighbours; add-remove unless said", .choices = adjacencies),
        BRUME_SCHEMA_OPTIONS, BRUME_POLICY_OPTIONS,
        BRUME_OPTION(TEXT, "cap", "epsilon=E", "most that one query may cost"),
        BRUME_OPTION(TEXT, "data-version", "V",
                     "your public label of the data; free re-reads depend on it"),
        BRUME_OPTION(TEXT, "table", "NAME",
                     "of a server: the table, or schema.table, or catalog.schema.table"),
        BRUME_FLAG("public", "a table that needs no protection"),
        BRUME_OPTION(FILE, "policy", "FILE.yaml",
                     "a dataset of several tables, from a file; every other option is a key of it"),
        BRUME_FLAG("new-budget", "register a source again although it has a budget already"),
        BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES(
        "register visits visits.csv --unit patient --budget epsilon=4,delta=1e-6 --max-rows 2 --bounds age=0..100 --domain ward=surgery,medicine,maternity"),
    .run = run,
};
