/* brume register NAME --policy FILE: a dataset of several tables. */
#include "command/owner/register_policy.h"

#include <stdlib.h>
#include <string.h>

#include "command/ledger/open_ledger.h"
#include "command/owner/declare.h"
#include "command/owner/policy_file.h"
#include "command/owner/typed_budget.h"
#include "ledger/ledger.h"

/* ---- by what it is known ---- */

/* Marks that the tables own, in the order that the ledger wants: of wholes first, of what views
 * read last. */
typedef struct sorted_marks {
    const char **texts;
    size_t count, read_count, whole_count;
} sorted_marks;

static size_t count_marks(const brume_policy_file *file)
{
    size_t count = 0;
    for (size_t i = 0; i < file->tables->count; i++)
        count += file->found[i].marks.count;
    return count;
}

/* The marks of the protected tables, or of the public ones; false if memory is out. */
static bool sort_marks(const brume_policy_file *file, bool is_public, sorted_marks *to)
{
    to->texts = calloc(count_marks(file) + 1, sizeof *to->texts);
    for (int part = 0; to->texts && part < 3; part++)
        for (size_t i = 0; i < file->tables->count; i++) {
            const brume_marks *marks = &file->found[i].marks;
            size_t whole = marks->whole_count, read = marks->read_count;
            const size_t ends[] = {0, whole, marks->count - read, marks->count};
            if (file->tables->list[i].policy->is_public != is_public)
                continue;
            for (size_t j = ends[part]; j < ends[part + 1]; j++)
                to->texts[to->count++] = marks->texts[j];
            to->whole_count += part == 0 ? whole : 0;
            to->read_count += part == 2 ? read : 0;
        }
    return to->texts != NULL;
}

/* One line for each source. NULL if memory is out. */
static char *join_identities(const brume_policy_file *file)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (size_t i = 0; i < file->tables->count; i++)
        fprintf(out, "%s%s", i ? "\n" : "", file->found[i].description.identity);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* The one password of all sources; EARGUMENT if there are two. */
static brume_status find_password(const brume_policy_file *file, const char **password,
                                  brume_error *error)
{
    *password = NULL;
    for (size_t i = 0; i < file->tables->count; i++) {
        const char *each = file->found[i].password;
        if (each && *password && strcmp(each, *password) != 0)
            return brume_fail(error, BRUME_EARGUMENT, "tables of one dataset are on one server",
                              "the sources of the tables have different passwords");
        *password = each ? each : *password;
    }
    return BRUME_OK;
}

/* Two tables of one source would let one row be two. */
static brume_status check_sources(const brume_policy_file *file, brume_error *error)
{
    for (size_t i = 0; i < file->tables->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(file->found[i].description.identity, file->found[j].description.identity) ==
                0)
                return brume_fail(error, BRUME_EARGUMENT, "name it once, and join it with itself",
                                  "the tables '%s' and '%s' have the same source",
                                  file->tables->list[j].name, file->tables->list[i].name);
    return BRUME_OK;
}

/* ---- writing ---- */

/* What a link means where keys are not unique. Said of every link: whether keys repeat is a fact of
 * the rows, which 'register' does not look at. */
static bool warn_of_link(json_t *all, const char *name, const brume_policy *policy)
{
    return json_array_append_new(
               all, json_sprintf("a row of '%s' belongs to every unit that has its key in %s.%s: "
                                 "where rows of several units have the same key, to all of them, "
                                 "and that the row is there at all is protected with as many times "
                                 "the price",
                                 name, policy->parent, policy->parent_column)) == 0;
}

static json_t *warnings_of(const brume_policy_file *file)
{
    json_t *all = json_array();
    for (size_t i = 0; all && i < file->tables->count; i++) {
        const brume_policy *policy = file->tables->list[i].policy;
        json_t *each = brume_source_warnings(&file->found[i].description, policy->is_public);
        if (!each || json_array_extend(all, each) != 0 ||
            (policy->link_column && !warn_of_link(all, file->tables->list[i].name, policy))) {
            json_decref(each);
            json_decref(all);
            return NULL;
        }
        json_decref(each);
    }
    return all;
}

void brume_write_table_policies(const brume_call *call, const brume_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        const brume_policy *policy = tables->list[i].policy;
        fprintf(call->out, "  %s%s%s: %zu columns from %s\n", brume_bold(call),
                tables->list[i].name, brume_plain(call), policy->column_count, policy->location);
        if (policy->is_public)
            fprintf(call->out, "    public\n");
        else if (policy->link_column)
            fprintf(call->out, "    link        %s = %s.%s\n", policy->link_column, policy->parent,
                    policy->parent_column);
        else
            fprintf(call->out, "    unit        %s\n", policy->unit ? policy->unit : "row");
        if (policy->table_rows)
            fprintf(call->out, "    max rows    %llu   (rows of one unit in the table)\n",
                    (unsigned long long)policy->table_rows);
    }
}

static brume_status write_registered(brume_call *call, const brume_policy_file *file,
                                     const brume_registration *registration,
                                     const brume_typed_budget *typed, const json_t *policy,
                                     brume_error *error)
{
    const brume_policy *first = file->tables->list[0].policy;
    const json_t *one = json_array_get(json_object_get(policy, "tables"), 0);
    json_t *warnings = warnings_of(file);
    if (!warnings)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (call->json)
        return brume_call_write_json(
            call,
            json_pack("{s:s,s:s,s:s,s:O,s:O,s:{s:s?,s:s?},s:O,s:o}", "dataset", registration->name,
                      "rule", brume_rule_word(registration->filter->rule), "adjacency",
                      brume_adjacency_word(registration->adjacency), "max_groups",
                      json_object_get(one, "max_groups"), "max_rows",
                      json_object_get(one, "max_rows"), "budget", "epsilon", typed->epsilon,
                      "delta", typed->delta, "tables", json_object_get(policy, "tables"),
                      "warnings", warnings),
            error);
    fprintf(call->out, "registered %s%s%s: %zu tables\n", brume_bold(call), registration->name,
            brume_plain(call), file->tables->count);
    fprintf(call->out, "  adjacency   %s\n", brume_adjacency_word(registration->adjacency));
    brume_write_ceilings(call->out, first->max_groups, first->max_rows, first->limits_fixed);
    fprintf(call->out, "  budget      epsilon %s%s%s, rule %s\n\n", typed->epsilon,
            typed->delta ? ", delta " : "", typed->delta ? typed->delta : "",
            brume_rule_word(registration->filter->rule));
    brume_write_table_policies(call, file->tables);
    brume_write_warnings(call, warnings);
    json_decref(warnings);
    return BRUME_OK;
}

/* ---- registering ---- */

static brume_status check_options(const brume_call *call, brume_error *error)
{
    static const char *const allowed[] = {"policy", "ledger", "new-budget", "json"};
    for (size_t i = 0; i < call->command->option_count; i++) {
        const char *name = call->command->options[i].name;
        bool known = false;
        for (size_t j = 0; j < sizeof allowed / sizeof *allowed; j++)
            known = known || strcmp(name, allowed[j]) == 0;
        if (!known && brume_call_has(call, name))
            return brume_fail(error, BRUME_EARGUMENT, "it is a key of the file",
                              "'--%s' does not go with '--policy'", name);
    }
    if (brume_call_operand(call, 1))
        return brume_fail(error, BRUME_EARGUMENT, "the file names the sources of its tables",
                          "SOURCE does not go with '--policy'");
    return BRUME_OK;
}

/* The marks of the file's tables into the registration; `kept` has what is to be freed. */
static brume_status fill_marks(const brume_policy_file *file, sorted_marks kept[2],
                               brume_registration *registration, brume_error *error)
{
    if (!sort_marks(file, false, &kept[0]) || !sort_marks(file, true, &kept[1]))
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    registration->marks = kept[0].texts;
    registration->mark_count = kept[0].count;
    registration->read_mark_count = kept[0].read_count;
    registration->whole_mark_count = kept[0].whole_count;
    registration->public_marks = kept[1].texts;
    registration->public_mark_count = kept[1].count;
    registration->public_read_mark_count = kept[1].read_count;
    registration->public_whole_mark_count = kept[1].whole_count;
    return BRUME_OK;
}

brume_status brume_check_policy_tables(brume_ledger *ledger, const brume_policy_file *file,
                                       brume_error *error)
{
    sorted_marks kept[2] = {{0}, {0}};
    brume_registration tables = {0};
    brume_status status = fill_marks(file, kept, &tables, error);
    if (status == BRUME_OK)
        status = brume_ledger_check_tables(ledger, &tables, error);
    free(kept[0].texts);
    free(kept[1].texts);
    return status;
}

static brume_status enter(brume_call *call, const brume_policy_file *file,
                          brume_registration *registration, brume_error *error)
{
    sorted_marks kept[2] = {{0}, {0}};
    char *source = join_identities(file);
    brume_ledger *ledger = NULL;
    brume_status status = source ? fill_marks(file, kept, registration, error)
                                 : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    registration->source = source;
    if (status == BRUME_OK)
        status = brume_call_open_ledger(call, BRUME_LEDGER_CREATE, &ledger, error);
    if (status == BRUME_OK)
        status = brume_ledger_register(ledger, registration, error);
    free(source);
    free(kept[0].texts);
    free(kept[1].texts);
    return status;
}

static brume_status register_file(brume_call *call, const brume_policy_file *file,
                                  const brume_typed_budget *budget, const char *cap,
                                  brume_error *error)
{
    const char *word = brume_call_text(&file->call, "adjacency");
    const char *version = brume_call_text(&file->call, "data-version"), *password = NULL;
    brume_adjacency adjacency = BRUME_ADD_REMOVE;
    brume_filter filter;
    if (word && !brume_adjacency_parse(word, &adjacency))
        return brume_fail(error, BRUME_EARGUMENT, "add-remove or replace", "'adjacency' is '%s'",
                          word);
    BRUME_TRY(check_sources(file, error));
    BRUME_TRY(find_password(file, &password, error));
    BRUME_TRY(
        brume_typed_budget_filter(budget, brume_call_text(&file->call, "rule"), &filter, error));
    json_t *policy = brume_tables_to_json(file->tables);
    brume_registration registration = {.name = brume_call_operand(call, 0),
                                       .password = password,
                                       .data_version = version ? version : "",
                                       .adjacency = adjacency,
                                       .filter = &filter,
                                       .cap = cap,
                                       .policy = policy,
                                       .new_budget = brume_call_has(call, "new-budget") ||
                                                     brume_call_has(&file->call, "new-budget")};
    brume_status status = policy ? enter(call, file, &registration, error)
                                 : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (status == BRUME_OK)
        status = write_registered(call, file, &registration, budget, policy, error);
    json_decref(policy);
    return status;
}

brume_status brume_register_policy(brume_call *call, brume_error *error)
{
    brume_policy_file *file = NULL;
    brume_typed_budget budget = {0}, most = {0};
    BRUME_TRY(check_options(call, error));
    brume_status status = brume_policy_file_open(call->command, brume_call_operand(call, 0),
                                                 brume_call_text(call, "policy"), &file, error);
    if (status == BRUME_OK)
        status = brume_typed_budget_read(brume_call_text(&file->call, "budget"), "budget", &budget,
                                         error);
    if (status == BRUME_OK && brume_call_text(&file->call, "cap"))
        status = brume_typed_cap_read(brume_call_text(&file->call, "cap"), &most, error);
    if (status == BRUME_OK)
        status = register_file(call, file, &budget, most.epsilon, error);
    brume_policy_file_close(file);
    free(budget.text);
    free(most.text);
    return status;
}
