/* brume register: a dataset, whose it is, what is public of it, and its budget. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#include <brume/filter.h>

#include "base/text.h"
#include "cli/open_ledger.h"
#include "engine/engine.h"
#include "engine/location.h"
#include "ledger/dataset.h"
#include "query/policy.h"
#include "query/spend.h"

/* ---- the budget ---- */

typedef struct typed_budget {
    char *epsilon, *delta; /* point into `text` */
    char *text;
} typed_budget;

/* "epsilon=1,delta=1e-6" */
static brume_status read_budget(const char *typed, const char *option, typed_budget *out,
                                brume_error *error)
{
    out->text = strdup(typed);
    if (!out->text)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    char *rest = out->text, *part = NULL;
    while ((part = strsep(&rest, ","))) {
        char *value = strchr(part, '=');
        if (value)
            *value++ = 0;
        if (value && strcmp(part, "epsilon") == 0 && !out->epsilon)
            out->epsilon = value;
        else if (value && strcmp(part, "delta") == 0 && !out->delta)
            out->delta = value;
        else
            return brume_fail(error, BRUME_EARGUMENT, "write epsilon=E or epsilon=E,delta=D",
                              "'--%s' is '%s'", option, typed);
    }
    if (!out->epsilon)
        return brume_fail(error, BRUME_EARGUMENT, "write epsilon=E or epsilon=E,delta=D",
                          "'--%s' is '%s' and has no epsilon", option, typed);
    return BRUME_OK;
}

static brume_status make_filter(const brume_call *call, const typed_budget *typed,
                                brume_filter *filter, brume_error *error)
{
    brume_decimal epsilon, delta = {0};
    brume_rule rule = typed->delta ? BRUME_RULE_APPROXIMATE : BRUME_RULE_PURE;
    BRUME_TRY(brume_decimal_parse(typed->epsilon, &epsilon, error));
    if (typed->delta)
        BRUME_TRY(brume_decimal_parse(typed->delta, &delta, error));
    const char *word = brume_call_text(call, "rule");
    if (word)
        BRUME_TRY(brume_rule_parse(word, &rule, error));
    if (rule == BRUME_RULE_PURE && typed->delta)
        return brume_fail(error, BRUME_EARGUMENT, "leave delta out, or choose another rule",
                          "a budget of the rule pure has no delta");
    if (rule != BRUME_RULE_PURE && !typed->delta)
        return brume_fail(error, BRUME_EARGUMENT, "write --budget epsilon=E,delta=D",
                          "a budget of the rule %s needs a delta", word);
    return brume_filter_make(rule, &epsilon, typed->delta ? &delta : NULL, NULL, filter, error);
}

/* ---- the policy ---- */

/* "COLUMN=REST": cut at the first '='. */
static brume_status cut(const char *typed, const char *option, char **column, char **rest,
                        brume_error *error)
{
    char *copy = strdup(typed);
    char *equals = copy ? strchr(copy, '=') : NULL;
    if (!copy)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (!equals || equals == copy) {
        free(copy);
        return brume_fail(error, BRUME_EARGUMENT,
                          strcmp(option, "bounds") == 0 ? "write COLUMN=LO..HI"
                                                        : "write COLUMN=V1,V2,...",
                          "'--%s' is '%s'", option, typed);
    }
    *equals = 0;
    *column = copy;
    *rest = equals + 1;
    return BRUME_OK;
}

static brume_status declare_bounds(brume_policy *policy, const char *typed, brume_error *error)
{
    char *column = NULL, *low = NULL;
    BRUME_TRY(cut(typed, "bounds", &column, &low, error));
    char *dots = strstr(low, "..");
    brume_status status = BRUME_OK;
    if (!dots) {
        status =
            brume_fail(error, BRUME_EARGUMENT, "write COLUMN=LO..HI", "'--bounds' is '%s'", typed);
    } else {
        *dots = 0;
        const brume_policy_column *known = brume_policy_find(policy, column);
        if (known && known->low)
            status = brume_fail(error, BRUME_EARGUMENT, NULL, "column '%s' is given bounds twice",
                                known->name);
        else
            status = brume_policy_set_bounds(policy, column, low, dots + 2, error);
    }
    free(column);
    return status;
}

/* The values of one option, after those that options before it gave to the same column: a long
 * domain may take several. */
static brume_status declare_domain(brume_policy *policy, const char *typed, brume_error *error)
{
    char *column = NULL, *rest = NULL, *part = NULL;
    BRUME_TRY(cut(typed, "domain", &column, &rest, error));
    const brume_policy_column *known = brume_policy_find(policy, column);
    size_t count = 0, before = known ? known->domain_count : 0, room = before + 1;
    for (const char *c = rest; *c; c++)
        room += *c == ',';
    const char **values = calloc(room, sizeof *values);
    brume_status status = values ? BRUME_OK
                                 : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    while (status == BRUME_OK && count < before) {
        values[count] = known->domain[count];
        count++;
    }
    while (status == BRUME_OK && (part = strsep(&rest, ",")))
        values[count++] = part;
    if (status == BRUME_OK)
        status = brume_policy_set_domain(policy, column, values, count, error);
    free(values);
    free(column);
    return status;
}

static brume_status declare(const brume_call *call, brume_policy *policy, brume_error *error)
{
    const char *unit = brume_call_text(call, "unit");
    policy->is_public = brume_call_has(call, "public");
    if (policy->is_public && (unit || brume_call_has(call, "budget")))
        return brume_fail(error, BRUME_EARGUMENT, "leave --unit and --budget out",
                          "a public table has no unit and no budget");
    if (!policy->is_public && !unit)
        return brume_fail(error, BRUME_EARGUMENT,
                          "--unit COLUMN says whose row it is; --unit row where a row is a person",
                          "'--unit' is missing");
    if (unit && strcmp(unit, "row") != 0)
        BRUME_TRY(brume_policy_set_unit(policy, unit, error));
    policy->max_groups = brume_call_count(call, "max-groups", 1);
    policy->max_rows = brume_call_count(call, "max-rows", 1);
    policy->timeout = brume_call_real(call, "timeout", 0);
    if (brume_call_text(call, "estimate-bias"))
        BRUME_TRY(
            brume_policy_set_bias_share(policy, brume_call_text(call, "estimate-bias"), error));
    for (size_t i = 0; i < brume_call_times(call, "bounds"); i++)
        BRUME_TRY(declare_bounds(policy, brume_call_text_at(call, "bounds", i), error));
    for (size_t i = 0; i < brume_call_times(call, "domain"); i++)
        BRUME_TRY(declare_domain(policy, brume_call_text_at(call, "domain", i), error));
    return BRUME_OK;
}

/* What was found at the place that was typed. */
typedef struct found_source {
    char *location, *password; /* a URL without its password; password may be NULL */
    brume_description description;
    brume_marks marks;
} found_source;

static void clear_found(found_source *found)
{
    free(found->location);
    free(found->password);
    brume_description_clear(&found->description);
    brume_marks_clear(&found->marks);
}

/* Of a public table there is no budget to double: that a view reads it is no reason to refuse the
 * view. */
static brume_status find_source(const brume_call *call, found_source *found, brume_error *error)
{
    BRUME_TRY(brume_location_split(brume_call_operand(call, 1), &found->location, &found->password,
                                   error));
    brume_source source = {.location = found->location,
                           .table = brume_call_text(call, "table"),
                           .password = found->password};
    brume_engine *engine = NULL;
    BRUME_TRY(brume_engine_open(&source, 1, &engine, error));
    brume_status status = brume_engine_describe(engine, 0, &found->description, error);
    if (status == BRUME_OK && !(source.table && brume_call_has(call, "public")))
        status = brume_engine_marks(engine, 0, true, &found->marks, error);
    brume_engine_close(engine);
    return status;
}

/* ---- writing ---- */

static void write_text(const brume_call *call, const brume_policy *policy,
                       const brume_filter *filter, brume_adjacency adjacency,
                       const typed_budget *typed)
{
    FILE *out = call->out;
    fprintf(out, "registered %s%s%s: %zu columns from %s\n", brume_bold(call),
            brume_call_operand(call, 0), brume_plain(call), policy->column_count, policy->location);
    if (policy->is_public) {
        fprintf(out, "  public: it may be joined, and is not protected\n");
        return;
    }
    fprintf(out, "  unit        %s\n", policy->unit ? policy->unit : "row (every row is a person)");
    fprintf(out, "  adjacency   %s\n", brume_adjacency_word(adjacency));
    fprintf(out, "  max groups  %llu   (groups that one unit may be in)\n",
            (unsigned long long)policy->max_groups);
    fprintf(out, "  max rows    %llu   (rows of one unit in a group)\n",
            (unsigned long long)policy->max_rows);
    fprintf(out, "  budget      epsilon %s%s%s, rule %s\n", typed->epsilon,
            typed->delta ? ", delta " : "", typed->delta ? typed->delta : "",
            brume_rule_word(filter->rule));
}

static brume_status write_registered(brume_call *call, const brume_policy *policy,
                                     const brume_filter *filter, brume_adjacency adjacency,
                                     const typed_budget *typed, brume_error *error)
{
    if (!call->json) {
        write_text(call, policy, filter, adjacency, typed);
        return BRUME_OK;
    }
    return brume_call_write_json(
        call,
        json_pack("{s:s,s:s,s:s,s:s?,s:s,s:I,s:I,s:{s:s?,s:s?}}", "dataset",
                  brume_call_operand(call, 0), "rule", brume_rule_word(filter->rule), "adjacency",
                  brume_adjacency_word(adjacency), "unit",
                  policy->is_public ? NULL
                  : policy->unit    ? policy->unit
                                    : "row",
                  "source", policy->location, "max_groups", (json_int_t)policy->max_groups,
                  "max_rows", (json_int_t)policy->max_rows, "budget", "epsilon", typed->epsilon,
                  "delta", typed->delta),
        error);
}

static brume_status record(brume_call *call, const brume_policy *policy, const found_source *found,
                           const brume_filter *filter, brume_adjacency adjacency,
                           brume_error *error)
{
    const char *version = brume_call_text(call, "data-version");
    const char *cap = brume_call_text(call, "cap");
    json_t *json = brume_policy_to_json(policy);
    if (!json)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    typed_budget most = {0};
    brume_ledger *ledger = NULL;
    brume_status status = cap ? read_budget(cap, "cap", &most, error) : BRUME_OK;
    brume_decimal checked;
    if (status == BRUME_OK && cap)
        status = brume_decimal_parse(most.epsilon, &checked, error);
    if (status == BRUME_OK)
        status = brume_call_open_ledger(call, BRUME_LEDGER_CREATE, &ledger, error);
    brume_registration registration = {.name = brume_call_operand(call, 0),
                                       .source = found->description.identity,
                                       .password = found->password,
                                       .marks = (const char *const *)found->marks.texts,
                                       .mark_count = found->marks.count,
                                       .data_version = version ? version : "",
                                       .adjacency = adjacency,
                                       .filter = filter,
                                       .cap = most.epsilon,
                                       .policy = json,
                                       .new_budget = brume_call_has(call, "new-budget")};
    if (status == BRUME_OK)
        status = brume_ledger_register(ledger, &registration, error);
    brume_ledger_close(ledger);
    json_decref(json);
    free(most.text);
    return status;
}

static brume_status run(brume_call *call, brume_error *error)
{
    bool is_public = brume_call_has(call, "public");
    const char *typed = brume_call_text(call, "budget"), *word = brume_call_text(call, "adjacency");
    brume_adjacency adjacency = BRUME_ADD_REMOVE;
    if (word && !brume_adjacency_parse(word, &adjacency))
        return brume_fail(error, BRUME_EARGUMENT, "add-remove or replace", "'--adjacency' is '%s'",
                          word);
    if (!typed && !is_public)
        return brume_fail(error, BRUME_EARGUMENT, "there is no default: write --budget epsilon=E",
                          "'--budget' is missing");
    typed_budget budget = {0};
    brume_filter filter;
    found_source found = {0};
    brume_policy *policy = NULL;
    /* A public table is never charged: the ledger wants a budget, it gets one nobody can spend. */
    brume_status status =
        read_budget(is_public ? "epsilon=1e-60" : typed, "budget", &budget, error);
    if (status == BRUME_OK)
        status = make_filter(call, &budget, &filter, error);
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
        status = write_registered(call, policy, &filter, adjacency, &budget, error);
    brume_policy_close(policy);
    clear_found(&found);
    free(budget.text);
    return status;
}

static const char *const adjacencies[] = {"add-remove", "replace", NULL};
static const char *const rules[] = {"pure", "approximate", "concentrated", NULL};
static const brume_operand operands[] = {
    {.name = "NAME", .help = "how queries will call it"},
    {.name = "SOURCE",
     .type = BRUME_OPERAND_FILE,
     .help = "a .csv, .parquet or .json path or glob, or postgresql://..."},
};
static const brume_option options[] = {
    {.name = "unit",
     .type = BRUME_OPTION_TEXT,
     .argument = "COLUMN|row",
     .help = "the column that says whose row it is, or row"},
    {.name = "budget",
     .type = BRUME_OPTION_TEXT,
     .argument = "epsilon=E[,delta=D]",
     .help = "what may be spent in all"},
    {.name = "rule",
     .type = BRUME_OPTION_CHOICE,
     .argument = "RULE",
     .choices = rules,
     .help = "how charges add up; approximate where delta is given, else pure"},
    {.name = "adjacency",
     .type = BRUME_OPTION_CHOICE,
     .argument = "WORD",
     .choices = adjacencies,
     .help = "which tables are neighbours; add-remove unless said"},
    {.name = "max-groups",
     .type = BRUME_OPTION_COUNT,
     .argument = "G",
     .least = 1,
     .most = 1 << 26,
     .help = "groups of a query that one unit may be in; 1 unless said"},
    {.name = "max-rows",
     .type = BRUME_OPTION_COUNT,
     .argument = "R",
     .least = 1,
     .most = 4294967295.0,
     .help = "rows of one unit that count in a group; 1 unless said"},
    {.name = "bounds",
     .type = BRUME_OPTION_TEXT,
     .argument = "COLUMN=LO..HI",
     .repeated = true,
     .help = "public bounds of a column; values are clamped to them"},
    {.name = "domain",
     .type = BRUME_OPTION_TEXT,
     .argument = "COLUMN=V1,V2,...",
     .repeated = true,
     .help = "public values of a column; others are dropped when grouping by it. Several for one "
             "column add up"},
    {.name = "estimate-bias",
     .type = BRUME_OPTION_TEXT,
     .argument = "SHARE",
     .help = "share of each query's price, up to 0.5, that buys counts of the units bent by the "
             "limits and bounds; none unless said"},
    {.name = "cap",
     .type = BRUME_OPTION_TEXT,
     .argument = "epsilon=E",
     .help = "most that one query may cost"},
    {.name = "timeout",
     .type = BRUME_OPTION_REAL,
     .argument = "SECONDS",
     .least = 0,
     .least_open = true,
     .most = BRUME_TIMEOUT_MOST,
     .help = "the longest that one query may take; no cap unless said"},
    {.name = "data-version",
     .type = BRUME_OPTION_TEXT,
     .argument = "V",
     .help = "your public label of the data; free re-reads depend on it"},
    {.name = "table",
     .type = BRUME_OPTION_TEXT,
     .argument = "NAME",
     .help = "PostgreSQL: the table, or schema.table"},
    {.name = "public", .type = BRUME_OPTION_FLAG, .help = "a table that needs no protection"},
    {.name = "new-budget",
     .type = BRUME_OPTION_FLAG,
     .help = "register a source again although it has a budget already"},
    BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "register visits visits.csv --unit patient --budget epsilon=4,delta=1e-6 --max-rows 2 --bounds age=0..100 --domain ward=surgery,medicine,maternity",
    NULL,
};

const brume_command brume_command_register = {
    .name = "register",
    .summary = "register a dataset with its privacy unit and its budget",
    .description =
        "Writes the dataset's policy to the ledger. Everything said here is the owner's decision "
        "and public: the unit, the bounds, the domains, the budget. No query can change it. There "
        "is no default budget.\n\nThe same source cannot be registered twice, because two budgets "
        "for the same people add up: not by another name, a link or a glob, nor a copy of a file, "
        "nor a view of a table. --new-budget does it all the same.\n\nA password in a postgresql:// "
        "URL is kept in the ledger for later queries, and is in nothing that brume prints or "
        "exports.",
    .usage = "NAME SOURCE (--unit COLUMN|row --budget epsilon=E[,delta=D] | --public) [OPTION...]",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
