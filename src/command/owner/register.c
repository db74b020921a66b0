/* brume register: a dataset, whose it is, what is public of it, and its budget; with --policy FILE
 * a dataset of several tables. */
#include "command/owner/register.h"

#include <stdlib.h>
#include <string.h>

#include "command/frame/output.h"
#include "command/ledger/open_ledger.h"
#include "command/owner/declare.h"
#include "command/owner/policy_file.h"
#include "command/owner/typed_budget.h"
#include "engine/location.h"
#include "ledger/ledger.h"

/* ---- from a policy file ---- */

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

const char brume_no_budget_means[] =
    "A unit's whole history has no budget: what it is promised beyond one window is the sum of what "
    "was spent in all its windows, which has no end.";

const char *brume_each_window(const brume_window_grid *grid, char text[BRUME_EACH_WINDOW])
{
    char room[BRUME_WINDOW_TEXT];
    const char *length = brume_window_length_text(grid, room);
    snprintf(text, BRUME_EACH_WINDOW, "%s%s",
             grid->length < BRUME_WINDOW_DAYS      ? "each "
             : grid->length == BRUME_WINDOW_VALUES ? "each of the "
                                                   : "each window of ",
             length);
    return text;
}

void brume_write_window_terms(const brume_call *call, const json_t *policy,
                              const brume_filter *window, bool no_budget)
{
    char each[BRUME_EACH_WINDOW], amount[BRUME_DECIMAL_TEXT], delta[BRUME_DECIMAL_TEXT];
    const char *column = json_string_value(
        json_object_get(json_object_get(policy, "window"), "column")); /* of several tables: none */
    brume_window_grid grid;
    const char **values = NULL;
    if (!window || !brume_dataset_grid(policy, &grid, &values))
        return;
    brume_decimal_print(&window->epsilon, amount, sizeof amount);
    brume_decimal_print(&window->delta, delta, sizeof delta);
    bool pure = window->rule == BRUME_RULE_PURE;
    fprintf(call->out, "  windows     %s%s%s: epsilon %s%s%s\n", brume_each_window(&grid, each),
            column ? " of " : "", column ? column : "", amount, pure ? "" : ", delta ",
            pure ? "" : delta);
    free(values);
    if (no_budget) {
        fputs("  ", call->out);
        brume_write_wrapped(call->out, brume_no_budget_means, 2, 2);
    }
}

/* A window may pay up to twice what a history pays, so such budgets are allowed; hardly anybody
 * means them. */
static void write_if_above(const brume_call *call, const brume_filter *whole,
                           const brume_filter *window, bool no_budget)
{
    if (!window || no_budget || brume_decimal_compare(&window->epsilon, &whole->epsilon) <= 0)
        return;
    fputs("  ", call->out);
    brume_write_wrapped(call->out,
                        "A window has more than a whole history: its budget ends first only where "
                        "a window pays more than the price ('brume explain' says when).",
                        2, 2);
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
        if (policy->window.place)
            fprintf(call->out, "    window      %s\n",
                    policy->window.place == BRUME_WINDOW_BY_LINK    ? "that of the link"
                    : policy->window.place == BRUME_WINDOW_TIMELESS ? "none"
                                                                    : policy->window.column);
        if (policy->table_rows)
            fprintf(call->out, "    max rows    %llu   (rows of one unit in the table)\n",
                    (unsigned long long)policy->table_rows);
    }
}

static void write_budget(FILE *out, const brume_typed_budget *typed, const brume_filter *filter)
{
    if (typed->epsilon)
        fprintf(out, "  budget      epsilon %s%s%s, rule %s\n", typed->epsilon,
                typed->delta ? ", delta " : "", typed->delta ? typed->delta : "",
                brume_rule_word(filter->rule));
    else
        fprintf(out, "  budget      none, rule %s\n", brume_rule_word(filter->rule));
}

static brume_status write_registered_tables(brume_call *call, const brume_policy_file *file,
                                            const brume_registration *registration,
                                            const brume_typed_budget *typed, const json_t *policy,
                                            brume_error *error)
{
    const brume_policy *first = file->tables->list[0].policy;
    const json_t *one = json_array_get(json_object_get(policy, "tables"), 0);
    json_t *warnings = warnings_of(file);
    if (!warnings)
        return brume_no_memory(error, NULL);
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
    write_budget(call->out, typed, registration->filter);
    brume_write_window_terms(call, policy, registration->window_budget, registration->no_budget);
    write_if_above(call, registration->filter, registration->window_budget,
                   registration->no_budget);
    fputc('\n', call->out);
    brume_write_table_policies(call, file->tables);
    brume_write_warnings(call, warnings);
    json_decref(warnings);
    return BRUME_OK;
}

/* ---- registering ---- */

static brume_status check_options(const brume_call *call, brume_error *error)
{
    static const char *const allowed[] = {"policy", "ledger", "new-budget", NULL};
    const char *other = brume_call_other_than(call, allowed);
    if (other)
        return brume_fail(error, BRUME_EARGUMENT, "it is a key of the file",
                          "'--%s' does not go with '--policy'", other);
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
        return brume_no_memory(error, NULL);
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
                                 : brume_no_memory(error, NULL);
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
                                  const brume_typed_budgets *budgets, const char *cap,
                                  brume_error *error)
{
    const char *word = brume_call_text(&file->call, "adjacency");
    const char *version = brume_call_text(&file->call, "data-version"), *password = NULL;
    brume_adjacency adjacency = BRUME_ADD_REMOVE;
    if (word && !brume_adjacency_parse(word, &adjacency))
        return brume_fail(error, BRUME_EARGUMENT, "add-remove or replace", "'adjacency' is '%s'",
                          word);
    BRUME_TRY(check_sources(file, error));
    BRUME_TRY(find_password(file, &password, error));
    json_t *policy = brume_tables_to_json(file->tables);
    brume_registration registration = {.name = brume_call_operand(call, 0),
                                       .password = password,
                                       .data_version = version ? version : "",
                                       .adjacency = adjacency,
                                       .filter = &budgets->whole,
                                       .window_budget = budgets->has_windows ? &budgets->window
                                                                             : NULL,
                                       .no_budget = budgets->no_budget,
                                       .cap = cap,
                                       .policy = policy,
                                       .new_budget = brume_call_has(call, "new-budget") ||
                                                     brume_call_has(&file->call, "new-budget")};
    brume_status status = policy ? enter(call, file, &registration, error)
                                 : brume_no_memory(error, NULL);
    if (status == BRUME_OK)
        status =
            write_registered_tables(call, file, &registration, &budgets->typed[0], policy, error);
    json_decref(policy);
    return status;
}

static brume_status register_policy(brume_call *call, brume_error *error)
{
    brume_policy_file *file = NULL;
    brume_typed_budget most = {0};
    brume_typed_budgets budgets = {0};
    BRUME_TRY(check_options(call, error));
    brume_status status = brume_policy_file_open(call->command, brume_call_operand(call, 0),
                                                 brume_call_text(call, "policy"), &file, error);
    if (status == BRUME_OK)
        status = brume_typed_budgets_read(brume_call_text(&file->call, "budget"),
                                          file->window_budget, brume_call_text(&file->call, "rule"),
                                          &budgets, error);
    if (status == BRUME_OK && brume_call_text(&file->call, "cap"))
        status = brume_typed_cap_read(brume_call_text(&file->call, "cap"), &most, error);
    if (status == BRUME_OK)
        status = register_file(call, file, &budgets, most.epsilon, error);
    brume_policy_file_close(file);
    free(budgets.typed[0].text);
    free(budgets.typed[1].text);
    free(most.text);
    return status;
}

/* ---- one table ---- */

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
    static const char *const terms[] = {"rule", "adjacency", "new-budget", NULL};
    const char *protecting = brume_declares_protection(call);
    protecting = protecting ? protecting : brume_call_any_of(call, terms);
    bool is_public = brume_call_has(call, "public");
    if (is_public && protecting)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "'--%s' does not apply to a public table", protecting);
    if (!is_public && !brume_call_has(call, "unit"))
        return brume_fail(error, BRUME_EARGUMENT,
                          "--unit COLUMN says whose row it is; --unit row where a row is a person",
                          "'--unit' is missing");
    if (!is_public && !brume_call_has(call, "budget"))
        return brume_fail(error, BRUME_EARGUMENT, "there is no default: write --budget epsilon=E",
                          "'--budget' is missing");
    if (brume_call_has(call, "window") != brume_call_has(call, "window-budget"))
        return brume_fail(error, BRUME_EARGUMENT,
                          "--window 'COLUMN LENGTH' and --window-budget epsilon=E go together",
                          "'--%s' is missing",
                          brume_call_has(call, "window") ? "window-budget" : "window");
    return BRUME_OK;
}

/* ---- writing ---- */

static void write_terms(const brume_call *call, const brume_policy *policy,
                        const brume_typed_budgets *budgets, brume_adjacency adjacency)
{
    FILE *out = call->out;
    if (policy->is_public) {
        fprintf(out, "  public: it may be joined, and is not protected\n");
        return;
    }
    fprintf(out, "  unit        %s\n", policy->unit ? policy->unit : "row (every row is a person)");
    fprintf(out, "  adjacency   %s\n", brume_adjacency_word(adjacency));
    brume_write_ceilings(out, policy->max_groups, policy->max_rows, policy->limits_fixed);
    write_budget(out, &budgets->typed[0], &budgets->whole);
}

/* What was registered, in text or JSON. */
static brume_status write_registered(brume_call *call, const brume_policy *policy,
                                     const brume_typed_budgets *budgets, brume_adjacency adjacency,
                                     const brume_description *found, brume_error *error)
{
    const brume_typed_budget *typed = &budgets->typed[0];
    json_t *json = brume_policy_to_json(policy),
           *warnings = brume_source_warnings(found, policy->is_public);
    brume_status status = json && warnings ? BRUME_OK : brume_no_memory(error, NULL);
    if (status == BRUME_OK && !call->json) {
        fprintf(call->out, "registered %s%s%s: %zu columns from %s\n", brume_bold(call),
                brume_call_operand(call, 0), brume_plain(call), policy->column_count,
                policy->location);
        brume_write_format(call, policy->location, policy->options);
        write_terms(call, policy, budgets, adjacency);
        brume_write_window_terms(call, json, &budgets->window, budgets->no_budget);
        write_if_above(call, &budgets->whole, &budgets->window, budgets->no_budget);
        fputc('\n', call->out);
        status = brume_write_columns(call, json, error);
        brume_write_warnings(call, warnings);
    } else if (status == BRUME_OK) {
        status = brume_call_write_json(
            call,
            json_pack(
                "{s:s,s:s,s:s,s:s?,s:s,s:O,s:O,s:{s:s?,s:s?},s:O,s:o,s:O,s:O*,s:o*}", "dataset",
                brume_call_operand(call, 0), "rule", brume_rule_word(budgets->whole.rule),
                "adjacency", brume_adjacency_word(adjacency), "unit",
                policy->is_public ? NULL
                : policy->unit    ? policy->unit
                                  : "row",
                "source", policy->location, "max_groups", json_object_get(json, "max_groups"),
                "max_rows", json_object_get(json, "max_rows"), "budget", "epsilon", typed->epsilon,
                "delta", typed->delta, "columns", json_object_get(json, "columns"), "format",
                brume_format_to_json(policy->location, policy->options), "warnings", warnings,
                "window", json_object_get(json, "window"), "window_budget",
                budgets->has_windows ? json_pack("{s:s,s:s?}", "epsilon", budgets->typed[1].epsilon,
                                                 "delta", budgets->typed[1].delta)
                                     : NULL),
            error);
    }
    json_decref(json);
    json_decref(warnings);
    return status;
}

static brume_status record(brume_call *call, const brume_policy *policy,
                           const brume_found_source *found, const brume_typed_budgets *budgets,
                           brume_adjacency adjacency, brume_error *error)
{
    const char *version = brume_call_text(call, "data-version");
    const char *cap = brume_call_text(call, "cap");
    json_t *json = brume_policy_to_json(policy);
    if (!json)
        return brume_no_memory(error, NULL);
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
                                       .filter = &budgets->whole,
                                       .window_budget = budgets->has_windows ? &budgets->window
                                                                             : NULL,
                                       .no_budget = budgets->no_budget,
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
        return register_policy(call, error);
    if (!brume_call_operand(call, 1))
        return brume_fail(error, BRUME_EARGUMENT, "a file or a table, or --policy FILE",
                          "SOURCE is missing");
    if (word && !brume_adjacency_parse(word, &adjacency))
        return brume_fail(error, BRUME_EARGUMENT, "add-remove or replace", "'--adjacency' is '%s'",
                          word);
    BRUME_TRY(check_public(call, error));
    brume_typed_budgets budgets = {0};
    brume_found_source found = {0};
    brume_policy *policy = NULL;
    /* A public table is never charged: the ledger wants a budget, it gets one nobody can spend. */
    brume_status status = brume_typed_budgets_read(is_public ? "epsilon=1e-60" : typed,
                                                   brume_call_text(call, "window-budget"),
                                                   brume_call_text(call, "rule"), &budgets, error);
    if (status == BRUME_OK)
        status = find_source(call, &found, error);
    if (status == BRUME_OK)
        status = brume_policy_make(found.location, brume_call_text(call, "table"),
                                   &found.description, &policy, error);
    if (status == BRUME_OK)
        status = declare(call, policy, error);
    if (status == BRUME_OK)
        status = record(call, policy, &found, &budgets, adjacency, error);
    if (status == BRUME_OK)
        status = write_registered(call, policy, &budgets, adjacency, &found.description, error);
    brume_policy_close(policy);
    brume_found_source_clear(&found);
    free(budgets.typed[0].text);
    free(budgets.typed[1].text);
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
        "No query can change it; 'amend' corrects it. There is no default budget.\n\nNone of it "
        "comes from rows, since then a row could change how all others are read. From a CSV file "
        "only the header line is used; a column is text, unless --columns gives it a type or --bounds makes "
        "it a number with as many decimals as the bounds are typed with, a date or a timestamp. "
        "From JSON lines the fields in --columns are read. Parquet files and tables of servers have types of their own. Every "
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
        BRUME_OPTION(TEXT, "budget", "epsilon=E[,delta=D]|none",
                     "what may be spent on a unit's whole history; none: with windows only"),
        BRUME_OPTION(TEXT, "window-budget", "epsilon=E[,delta=D]",
                     "with --window: what may be spent on a unit's rows of one window"),
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
