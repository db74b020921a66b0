/* brume amend: the owner's correction of what was registered. */
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

#include <brume/decimal.h>

#include "command/frame/output.h"
#include "command/ledger/open_ledger.h"
#include "command/owner/declare.h"
#include "command/owner/policy_file.h"
#include "command/owner/register.h"
#include "command/owner/typed_budget.h"
#include "ledger/ledger.h"

/* ---- what an amendment changes ---- */

/* The JSON of a value as an owner types it; the caller frees it. NULL: none, or no memory. */
static char *typed_text(const json_t *value)
{
    char *text = NULL;
    size_t length = 0;
    if (!value || json_is_null(value) || json_is_false(value))
        return NULL;
    if (json_is_string(value))
        return strdup(json_string_value(value));
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    if (json_is_array(value))
        for (size_t i = 0; i < json_array_size(value); i++)
            fprintf(out, "%s%s", i ? "," : "", json_string_value(json_array_get(value, i)));
    else if (json_is_object(value))
        fprintf(out, "%s = %s.%s", json_string_value(json_object_get(value, "column")),
                json_string_value(json_object_get(value, "table")),
                json_string_value(json_object_get(value, "parent_column")));
    else if (json_is_number(value))
        fputs(brume_shortest(json_number_value(value)).text, out);
    else
        fputs("true", out);
    fclose(out);
    return text;
}

/* Once: what holds for all tables of a dataset is kept with each. */
static bool add_texts(json_t *list, const char *what, const char *before, const char *after)
{
    bool same = before && after ? strcmp(before, after) == 0 : before == after;
    if (same)
        return true;
    json_t *one = json_pack("{s:s,s:s?,s:s?}", "what", what, "before", before, "after", after);
    for (size_t i = 0; one && i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), one)) {
            json_decref(one);
            return true;
        }
    return json_array_append_new(list, one) == 0;
}

static bool add_values(json_t *list, const char *what, const json_t *before, const json_t *after)
{
    if (before == after || (before && after && json_equal(before, after)))
        return true;
    char *was = typed_text(before), *is = typed_text(after);
    bool good = add_texts(list, what, was, is);
    free(was);
    free(is);
    return good;
}

/* "0..110", or NULL. */
static const char *bounds_text(const json_t *column, char *text, size_t size)
{
    const char *low = json_string_value(json_object_get(column, "low"));
    const char *high = json_string_value(json_object_get(column, "high"));
    if (!low || !high)
        return NULL;
    snprintf(text, size, "%s..%s", low, high);
    return text;
}

static const json_t *named(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *own = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (own && strcmp(own, name) == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

static bool add_column(json_t *list, const char *table, const char *name, const json_t *before,
                       const json_t *after)
{
    static const char *const members[][2] = {
        {"type", "type"}, {"domain", "domain"}, {"identifier", "identifier"}};
    char what[300], low[200], high[200];
    bool good = true;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        snprintf(what, sizeof what, "%s%s of %.120s", table, members[i][1], name);
        good = good && add_values(list, what, json_object_get(before, members[i][0]),
                                  json_object_get(after, members[i][0]));
    }
    snprintf(what, sizeof what, "%sbounds of %.120s", table, name);
    return good && add_texts(list, what, bounds_text(before, low, sizeof low),
                             bounds_text(after, high, sizeof high));
}

enum { OF_TABLE = 4 }; /* of the members below: the others are the dataset's */

/* `table`: "" or "visits: ", before each thing. */
static bool add_table(json_t *list, const char *table, const json_t *before, const json_t *after)
{
    static const char *const members[][2] = {
        {"unit", "unit"},
        {"link", "link"},
        {"options", "lines"},
        {"table_rows", "max rows of the table"},
        {"unit_name", "unit name"},
        {"max_groups", "max groups"},
        {"max_rows", "max rows"},
        {"limits", "limits"},
        {"timeout", "timeout"},
        {"limits_per_user", "limits per user"},
        {"rows_stay", "rows stay"},
        {"append_only", "append only"},
        {"rows_about", "rows about"},
        {"bias_share", "estimate bias"},
    };
    const json_t *old = json_object_get(before, "columns"),
                 *new = json_object_get(after, "columns");
    bool good = true;
    for (size_t i = 0; good && i < sizeof members / sizeof *members; i++) {
        char what[160];
        snprintf(what, sizeof what, "%s%s", i < OF_TABLE ? table : "", members[i][1]);
        good = add_values(list, what, json_object_get(before, members[i][0]),
                          json_object_get(after, members[i][0]));
    }
    for (size_t i = 0; good && i < json_array_size(old); i++) {
        const json_t *column = json_array_get(old, i);
        const char *name = json_string_value(json_object_get(column, "name"));
        good = add_column(list, table, name, column, named(new, name));
    }
    for (size_t i = 0; good && i < json_array_size(new); i++) {
        const json_t *column = json_array_get(new, i);
        const char *name = json_string_value(json_object_get(column, "name"));
        if (!named(old, name))
            good = add_column(list, table, name, NULL, column);
    }
    return good;
}

static bool add_policy(json_t *list, const json_t *before, const json_t *after)
{
    const json_t *old = json_object_get(before, "tables"), *new = json_object_get(after, "tables");
    if (!old || !new)
        return add_table(list, "", before, after);
    bool good = true;
    for (size_t i = 0; good && i < json_array_size(old); i++) {
        char table[90];
        const char *name = json_string_value(json_object_get(json_array_get(old, i), "name"));
        snprintf(table, sizeof table, "%.80s: ", name);
        good = add_table(list, table, json_array_get(old, i), named(new, name));
    }
    return good;
}

enum { BUDGET_TEXT = 2 * BRUME_DECIMAL_TEXT + 32 };

/* "epsilon=4,delta=0.000001", however it was typed. */
static void write_budget(const brume_decimal *epsilon, const brume_decimal *delta,
                         char text[BUDGET_TEXT])
{
    char first[BRUME_DECIMAL_TEXT], second[BRUME_DECIMAL_TEXT];
    brume_decimal_print(epsilon, first, sizeof first);
    brume_decimal_print(delta, second, sizeof second);
    bool pure = brume_decimal_nearest(delta) == 0;
    snprintf(text, BUDGET_TEXT, "epsilon=%s%s%s", first, pure ? "" : ",delta=", pure ? "" : second);
}

static bool add_budget(json_t *list, const brume_dataset *dataset, const char *typed)
{
    brume_typed_budget budget = {0};
    brume_decimal epsilon, delta = {0};
    char before[BUDGET_TEXT], after[BUDGET_TEXT];
    bool good = brume_typed_budget_read(typed, "budget", &budget, NULL) == BRUME_OK &&
                brume_decimal_parse(budget.epsilon, &epsilon, NULL) == BRUME_OK &&
                brume_decimal_parse(budget.delta ? budget.delta : "0", &delta, NULL) == BRUME_OK;
    free(budget.text);
    if (!good)
        return false;
    write_budget(&dataset->filter.epsilon, &dataset->filter.delta, before);
    write_budget(&epsilon, &delta, after);
    return add_texts(list, "budget", before, after);
}

static bool add_terms(json_t *list, const brume_dataset *dataset, const brume_call *said)
{
    char text[120];
    const char *cap = brume_call_text(said, "cap"), *budget = brume_call_text(said, "budget");
    const char *version = brume_call_text(said, "data-version");
    if (budget && !add_budget(list, dataset, budget))
        return false;
    snprintf(text, sizeof text, "epsilon=%.100s", dataset->cap ? dataset->cap : "");
    if (cap &&
        !add_texts(list, "cap", dataset->cap ? text : NULL, strcmp(cap, "none") == 0 ? NULL : cap))
        return false;
    return !version ||
           add_texts(list, "data version", *dataset->data_version ? dataset->data_version : NULL,
                     *version ? version : NULL);
}

static json_t *changes_of(const brume_dataset *dataset, const json_t *policy,
                          const brume_call *said)
{
    json_t *list = json_array();
    if (list && (!policy || add_policy(list, dataset->policy, policy)) &&
        add_terms(list, dataset, said))
        return list;
    json_decref(list);
    return NULL;
}

static void write_changes(FILE *out, const json_t *changes)
{
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *one = json_array_get(changes, i);
        const char *before = json_string_value(json_object_get(one, "before"));
        const char *after = json_string_value(json_object_get(one, "after"));
        char *text = NULL;
        if (asprintf(&text, "%s: %s, was %s", json_string_value(json_object_get(one, "what")),
                     after ? after : "none", before ? before : "none") < 0)
            return;
        fputs("  ", out);
        brume_write_wrapped(out, text, 2, 4);
        free(text);
    }
    if (json_array_size(changes) == 0)
        fputs("  nothing is otherwise than it was\n", out);
}

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

/* What is amended: by `said`, the command or the keys of a file. */
typedef struct amending {
    brume_call *call;
    brume_ledger *ledger;
    const brume_dataset *dataset;
    const brume_call *said;
    const json_t *policy; /* the new one; NULL: as it is */
    bool moves_units;
    const char *window_budget; /* as typed, or in the file; NULL: as it is */
    bool all;                  /* what is not said becomes as it is without it: no cap */
    const json_t *changes;
} amending;

static brume_status check_word(const amending *of, const char *option, const char *own,
                               brume_error *error)
{
    const char *said = brume_call_text(of->said, option);
    if (!said || strcmp(said, own) == 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EPOLICY,
                      "what was paid was paid under it; register the source again with "
                      "--new-budget",
                      "the %s of '%s' is %s for good", option, of->dataset->name, own);
}

/* Rule and adjacency may be repeated, not changed. */
static brume_status check_fixed(const amending *of, brume_error *error)
{
    BRUME_TRY(check_word(of, "rule", brume_rule_word(of->dataset->filter.rule), error));
    return check_word(of, "adjacency", brume_adjacency_word(of->dataset->adjacency), error);
}

/* ---- recording ---- */

static brume_status record(const amending *of, brume_error *error)
{
    const char *typed = brume_call_text(of->said, "budget"),
               *cap = brume_call_text(of->said, "cap");
    brume_typed_budget budget = {0}, most = {0}, window = {0};
    brume_filter of_window;
    if (typed && of->dataset->no_budget && strcmp(typed, "none") == 0)
        typed = NULL; /* as it is */
    bool uncapped = cap ? strcmp(cap, "none") == 0 : of->all;
    brume_status status = typed ? brume_typed_budget_read(typed, "budget", &budget, error)
                                : BRUME_OK;
    if (status == BRUME_OK && cap && !uncapped)
        status = brume_typed_cap_read(cap, &most, error);
    if (status == BRUME_OK && of->window_budget)
        status = brume_typed_budget_read(of->window_budget, "window-budget", &window, error);
    if (status == BRUME_OK && of->window_budget)
        status = brume_typed_budget_filter(&window, brume_rule_word(of->dataset->filter.rule),
                                           &of_window, error);
    brume_amendment amendment = {.name = of->dataset->name,
                                 .stated = of->dataset->stated,
                                 .epsilon = budget.epsilon,
                                 .delta = budget.delta,
                                 .window_budget = of->window_budget ? &of_window : NULL,
                                 .cap = uncapped ? "" : most.epsilon,
                                 .data_version = brume_call_text(of->said, "data-version"),
                                 .policy = of->policy,
                                 .moves_units = of->moves_units,
                                 .changes = of->changes};
    if (status == BRUME_OK)
        status = brume_ledger_amend(of->ledger, &amendment, error);
    free(budget.text);
    free(most.text);
    free(window.text);
    return status;
}

/* "amended visits: budget, bounds", and each thing with what it was and is. */
static void write_amended(const amending *of, const json_t *changed)
{
    brume_call *call = of->call;
    fprintf(call->out, "amended %s%s%s: ", brume_bold(call), of->dataset->name, brume_plain(call));
    for (size_t i = 0; i < json_array_size(of->changes); i++)
        fprintf(call->out, "%s%s", i ? ", " : "",
                json_string_value(json_array_get(of->changes, i)));
    fputc('\n', call->out);
    write_changes(call->out, changed);
}

/* Record it and say what has changed; JSON also has `more`, which is taken over. */
static brume_status record_and_say(const amending *of, json_t *more, brume_error *error)
{
    brume_call *call = of->call;
    BRUME_TRY(brume_call_keep_json(call, more, error));
    BRUME_TRY(record(of, error));
    json_t *changed = changes_of(of->dataset, of->policy, of->said);
    BRUME_TRY(brume_call_keep_json(call, changed, error));
    if (!call->json) {
        write_amended(of, changed);
        return BRUME_OK;
    }
    json_t *out = json_pack("{s:s,s:O,s:O}", "dataset", of->dataset->name, "changes", of->changes,
                            "changed", changed);
    if (json_object_update(out, more) != 0)
        return brume_no_memory(error, NULL);
    return brume_call_write_json(call, out, error);
}

/* ---- from a policy file: everything that it says, anew ---- */

/* Tables, sources, rule and adjacency stay. */
static brume_status amend_from(amending *of, const brume_tables *before, brume_policy_file *file,
                               brume_error *error)
{
    BRUME_TRY(check_tables(of->dataset, before, file, error));
    keep_order(before, file);
    BRUME_TRY(brume_check_policy_tables(of->ledger, file, error));
    json_t *policy = brume_tables_to_json(file->tables), *changes = json_pack("[s]", "policy");
    BRUME_TRY(brume_call_keep_json(of->call, changes, error));
    BRUME_TRY(brume_call_keep_json(of->call, policy, error));
    of->said = &file->call;
    of->policy = policy;
    of->all = true;
    of->moves_units = !brume_tables_same_units(before, file->tables);
    of->changes = changes;
    BRUME_TRY(check_fixed(of, error));
    return record_and_say(of, json_object(), error);
}

static brume_status amend_from_file(amending *of, brume_error *error)
{
    static const char *const others[] = {"policy", "ledger", NULL};
    const char *other = brume_call_other_than(of->call, others);
    brume_policy_file *file = NULL;
    brume_tables *before = NULL;
    if (other)
        return brume_fail(error, BRUME_EARGUMENT, "it is a key of the file",
                          "'--%s' does not go with '--policy'", other);
    BRUME_TRY(brume_tables_from_json(of->dataset->policy, of->dataset->name, &before, error));
    brume_status status = brume_policy_file_open(brume_command_by_name("register"),
                                                 of->dataset->name,
                                                 brume_call_text(of->call, "policy"), &file, error);
    if (status == BRUME_OK) {
        of->window_budget = file->window_budget;
        status = amend_from(of, before, file, error);
    }
    brume_policy_file_close(file);
    brume_tables_close(before);
    return status;
}

/* ---- budget, cap and data version of a dataset of several tables ---- */

static brume_status amend_terms(const amending *of, brume_error *error)
{
    static const char *const terms[] = {"budget",    "cap",    "data-version",  "rule",
                                        "adjacency", "ledger", "window-budget", NULL};
    const char *other = brume_call_other_than(of->call, terms);
    if (other)
        return brume_fail(error, BRUME_EARGUMENT,
                          "write its file with 'show --policy', and amend it with --policy",
                          "'--%s' does not apply to a dataset of several tables", other);
    if (json_array_size(of->changes) == 0)
        return brume_fail(error, BRUME_EARGUMENT, "see 'brume help amend'",
                          "nothing is said that could be amended");
    BRUME_TRY(check_fixed(of, error));
    return record_and_say(of, json_object(), error);
}

/* ---- one table ---- */

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
    {"append-only", "append only"},
    {"rows-about", "size"},
    {"estimate-bias", "bias"},
    {"window", "windows"},
    {"window-offset", "windows"},
    {"close-after", "closing"},
    {"max-age", "age"},
    {"budget", "budget"},
    {"window-budget", "window budget"},
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
    policy->append_only = before->append_only;
    policy->rows_about = before->rows_about;
    policy->max_age = before->max_age;
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
    return brume_call_has(call, "window") ? BRUME_OK
                                          : brume_policy_keep_window(policy, before, error);
}

/* The source again, where queries read it, as it is declared now. */
static brume_status look_again(const brume_call *call, const brume_dataset *dataset,
                               const brume_policy *before, brume_found_source *found,
                               brume_policy **out, brume_error *error)
{
    found->location = strdup(before->location);
    found->password = dataset->password ? strdup(dataset->password) : NULL;
    if (!found->location || (dataset->password && !found->password))
        return brume_no_memory(error, NULL);
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

/* ---- amending ---- */

/* What text has below the changes, where the source was looked at again. */
static brume_status write_source(brume_call *call, const json_t *policy, const json_t *warnings,
                                 brume_error *error)
{
    brume_write_format(call, json_string_value(json_object_get(policy, "location")),
                       json_string_value(json_object_get(policy, "options")));
    fputc('\n', call->out);
    BRUME_TRY(brume_write_columns(call, policy, error));
    brume_write_warnings(call, warnings);
    return BRUME_OK;
}

static brume_status amend_policy(amending *of, const brume_policy *before,
                                 const brume_policy *policy, const brume_description *found,
                                 brume_error *error)
{
    brume_call *call = of->call;
    json_t *json = brume_policy_to_json(policy);
    BRUME_TRY(brume_call_keep_json(call, json, error));
    json_t *warnings = brume_source_warnings(found, policy->is_public);
    BRUME_TRY(brume_call_keep_json(call, warnings, error));
    of->policy = json;
    of->moves_units = !brume_policy_same_units(before, policy);
    json_t *more = json_pack("{s:O,s:o,s:O}", "columns", json_object_get(json, "columns"), "format",
                             brume_format_to_json(policy->location, policy->options), "warnings",
                             warnings);
    BRUME_TRY(record_and_say(of, more, error));
    return call->json || !brume_declares_schema(call) ? BRUME_OK
                                                      : write_source(call, json, warnings, error);
}

static brume_status amend_table(amending *of, const brume_policy *before, brume_error *error)
{
    const char *protecting = before->is_public ? brume_declares_protection(of->call) : NULL;
    brume_policy *policy = NULL;
    brume_found_source found = {0};
    if (protecting)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--%s' does not apply to a public table", protecting);
    BRUME_TRY(check_fixed(of, error));
    if (json_array_size(of->changes) == 0)
        return brume_fail(error, BRUME_EARGUMENT, "see 'brume help amend'",
                          "nothing is said that could be amended");
    brume_status status = make_policy(of->call, of->dataset, before, &found, &policy, error);
    if (status == BRUME_OK)
        status = amend_policy(of, before, policy, &found.description, error);
    brume_policy_close(policy);
    brume_found_source_clear(&found);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    brume_policy *before = NULL;
    json_t *changes = list_changes(call);
    BRUME_TRY(brume_call_keep_json(call, changes, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_call_open_dataset(call, ledger, brume_call_operand(call, 0), &dataset, error));
    amending of = {.call = call,
                   .said = call,
                   .ledger = ledger,
                   .dataset = dataset,
                   .window_budget = brume_call_text(call, "window-budget"),
                   .changes = changes};
    if (brume_call_has(call, "policy"))
        return amend_from_file(&of, error);
    if (json_object_get(dataset->policy, "tables"))
        return amend_terms(&of, error);
    BRUME_TRY(brume_policy_from_json(dataset->policy, &before, error));
    brume_status status = amend_table(&of, before, error);
    brume_policy_close(before);
    return status;
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
        BRUME_OPTION(TEXT, "window-budget", "epsilon=E[,delta=D]",
                     "of each window; refused below what any has spent"),
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
