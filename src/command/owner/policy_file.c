/* A policy file: a dataset of one or several tables, with one unit and one budget. Its keys are
 * checked as words of a command line are. */
#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command/frame/call.h"
#include "command/owner/policy_file.h"
#include "command/owner/yaml.h"
#include "engine/driver.h"
#include "engine/files.h"
#include "engine/location.h"
#include "ledger/ledger.h"

/* ---- keys and their faults ---- */

/* A file while it is read. */
typedef struct policy_reading {
    const brume_command *command;
    const char *path, *dataset;
    char *folder; /* of the file, resolved */
    brume_policy_file *file;
    brume_error *error;
} policy_reading;

/* The options of `register` that say something of a table, and those that a file does not have. */
static const char *const of_table[] = {"unit",      "public",    "columns", "delimiter", "quote",
                                       "no-header", "multiline", "bounds",  "domain",    "table"};
static const char *const not_in_file[] = {"ledger", "policy", "window-budget", "window-offset",
                                          "close-after"};
enum { OTHER_KEYS = 5 };
static const char *const other_keys[2][OTHER_KEYS] = {
    {"tables", "window", NULL, NULL, NULL}, {"source", "link", "identifier", "max-rows", "window"}};

static bool is_among(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] && strcmp(list[i], name) == 0)
            return true;
    return false;
}
#define AMONG(name, list) is_among(name, list, sizeof(list) / sizeof *(list))

/* ---- faults ---- */

static brume_status out_of_memory(const policy_reading *from)
{
    return brume_no_memory(from->error, NULL);
}

/* The same error, with its place; options are called keys here. */
static brume_status placed(const policy_reading *from, const brume_yaml *node, brume_status status)
{
    brume_error *error = from->error;
    if (!error || status == BRUME_OK || status == BRUME_EMEMORY)
        return status;
    char said[sizeof error->message], plain[sizeof error->message];
    size_t length = 0;
    snprintf(said, sizeof said, "%s", error->message);
    for (const char *c = said; *c && length + 1 < sizeof plain; c++) {
        plain[length++] = *c;
        if (*c == '\'' && c[1] == '-' && c[2] == '-')
            c += 2;
    }
    plain[length] = 0;
    snprintf(error->message, sizeof error->message, "%.80s, line %zu, column %zu: %.300s",
             from->path, node->line, node->column, plain);
    brume_utf8_mend(error->message);
    return status;
}

static brume_status fault_at(const policy_reading *from, const brume_yaml *node,
                             brume_status status, const char *hint, const char *message)
{
    return placed(from, node, brume_fail(from->error, status, hint, "%s", message));
}

/* ---- keys ---- */

static const brume_option *find_option(const policy_reading *from, const char *name)
{
    for (size_t i = 0; i < from->command->option_count; i++)
        if (strcmp(from->command->options[i].name, name) == 0)
            return &from->command->options[i];
    return NULL;
}

/* Is it a key of the dataset, or (table) of a table? */
static bool is_key(const policy_reading *from, const char *name, bool table)
{
    if (is_among(name, other_keys[table], OTHER_KEYS))
        return true;
    return find_option(from, name) && !AMONG(name, not_in_file) && AMONG(name, of_table) == table;
}

static brume_status unknown_key(const policy_reading *from, const brume_yaml *node, bool table)
{
    const char *names[80], *near = NULL;
    size_t count = 0;
    for (size_t i = 0; i < OTHER_KEYS && other_keys[table][i]; i++)
        names[count++] = other_keys[table][i];
    for (size_t i = 0; i < from->command->option_count && count < 80; i++)
        if (is_key(from, from->command->options[i].name, table))
            names[count++] = from->command->options[i].name;
    char hint[160];
    near = brume_text_nearest(node->key, names, count);
    if (is_key(from, node->key, !table))
        snprintf(hint, sizeof hint, "it belongs %s",
                 table ? "to the dataset, beside 'tables'" : "to a table, under 'tables'");
    else if (near)
        snprintf(hint, sizeof hint, "did you mean '%.60s'?", near);
    else
        snprintf(hint, sizeof hint, "keys are called as the options of 'brume register'");
    return placed(from, node,
                  brume_fail(from->error, BRUME_EUNKNOWN, hint, "unknown key '%.60s'", node->key));
}

static brume_status need_kind(const policy_reading *from, const brume_yaml *node,
                              brume_yaml_kind kind, const char *hint)
{
    static const char *const words[] = {"a text", "a map of keys", "a list"};
    if (node->kind != kind)
        return placed(from, node,
                      brume_fail(from->error, BRUME_ESYNTAX, hint, "'%.60s' must be %s",
                                 node->key ? node->key : "the file", words[kind]));
    if (kind == BRUME_YAML_TEXT && !*node->text)
        return placed(from, node,
                      brume_fail(from->error, BRUME_ESYNTAX, hint, "'%.60s' has no value",
                                 node->key ? node->key : "an item"));
    return BRUME_OK;
}

/* ---- words, as if they had been typed ---- */

static brume_status add_word(const policy_reading *from, const brume_yaml *node, char *word,
                             char ***list, size_t *count)
{
    char **grown = word ? realloc(*list, (*count + 2) * sizeof *grown) : NULL;
    if (!grown) {
        free(word);
        return out_of_memory(from);
    }
    *list = grown;
    grown[(*count)++] = word;
    /* Checked by itself, so that its place can be said. */
    char name[] = "name", source[] = "source", *words[] = {name, source, word};
    bool help = false;
    brume_call call = {0};
    brume_status status =
        brume_call_parse(from->command, *word == '-' ? 3 : 2, words, &call, &help, from->error);
    brume_call_close(&call);
    return placed(from, node, status);
}

static char *make_word(const char *name, const char *first, const char *mark, const char *second)
{
    char *word = NULL;
    return asprintf(&word, "--%s=%s%s%s", name, first, mark, second) < 0 ? NULL : word;
}

/* {epsilon: 4, delta: 1e-6} is epsilon=4,delta=1e-6. */
static brume_status add_budget(const policy_reading *from, const brume_yaml *node, char ***list,
                               size_t *count)
{
    char text[256] = "";
    for (size_t i = 0; i < node->count; i++) {
        BRUME_TRY(need_kind(from, &node->items[i], BRUME_YAML_TEXT, "epsilon=4,delta=1e-6"));
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.40s=%.60s", i ? "," : "", node->items[i].key,
                 node->items[i].text);
    }
    return add_word(from, node, make_word(node->key, text, "", ""), list, count);
}

static brume_status add_key(const policy_reading *from, const brume_yaml *node, char ***list,
                            size_t *count)
{
    const brume_option *option = find_option(from, node->key);
    if (strcmp(node->key, "bounds") == 0) {
        BRUME_TRY(need_kind(from, node, BRUME_YAML_MAP, "bounds: {column: 0..100}"));
        for (size_t i = 0; i < node->count; i++) {
            BRUME_TRY(need_kind(from, &node->items[i], BRUME_YAML_TEXT, "column: 0..100"));
            BRUME_TRY(add_word(from, &node->items[i],
                               make_word("bounds", node->items[i].key, "=", node->items[i].text),
                               list, count));
        }
        return BRUME_OK;
    }
    if (node->kind == BRUME_YAML_MAP &&
        (strcmp(node->key, "budget") == 0 || strcmp(node->key, "cap") == 0 ||
         strcmp(node->key, "limits-per-user") == 0))
        return add_budget(from, node, list, count);
    BRUME_TRY(need_kind(from, node, BRUME_YAML_TEXT, option->help));
    if (option->type != BRUME_OPTION_FLAG)
        return add_word(from, node, make_word(node->key, node->text, "", ""), list, count);
    if (strcmp(node->text, "false") == 0)
        return BRUME_OK;
    if (strcmp(node->text, "true") != 0)
        return placed(from, node,
                      brume_fail(from->error, BRUME_EARGUMENT, "write true or false",
                                 "'%s' is '%.60s'", node->key, node->text));
    char *word = NULL;
    if (asprintf(&word, "--%s", node->key) < 0)
        return out_of_memory(from);
    return add_word(from, node, word, list, count);
}

/* The keys of a map that are options, as words; domains are read later, since their values may hold
 * commas. */
static brume_status read_words(const policy_reading *from, const brume_yaml *map, bool table,
                               char ***list, size_t *count)
{
    for (size_t i = 0; i < map->count; i++) {
        const brume_yaml *node = &map->items[i];
        if (!is_key(from, node->key, table))
            return unknown_key(from, node, table);
        if (!is_among(node->key, other_keys[table], OTHER_KEYS) && strcmp(node->key, "domain") != 0)
            BRUME_TRY(add_key(from, node, list, count));
    }
    return BRUME_OK;
}

static void free_words(char **words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(words[i]);
    free(words);
}

/* The words as a call of the command, on `name` and `source`. */
static brume_status make_call(const policy_reading *from, const char *name, const char *source,
                              char **words, size_t count, brume_call *call)
{
    char **all = calloc(count + 3, sizeof *all);
    bool help = false;
    if (!all)
        return out_of_memory(from);
    all[0] = (char *)name;
    all[1] = (char *)source;
    for (size_t i = 0; i < count; i++)
        all[i + 2] = words[i];
    brume_status status =
        brume_call_parse(from->command, (int)count + 2, all, call, &help, from->error);
    free(all);
    return status;
}

/* ---- reading tables ---- */

enum { MOST_BYTES = 1 << 20, MOST_NAME = 63 };

/* ---- tables ---- */

/* "o_custkey = customer.c_custkey" in its parts, in `text`. */
static bool split_link(char *text, char **column, char **parent, char **parent_column)
{
    char *equals = strchr(text, '='), *dot = equals ? strchr(equals, '.') : NULL;
    if (!dot)
        return false;
    *equals = *dot = 0;
    char *parts[] = {text, equals + 1, dot + 1};
    for (int i = 0; i < 3; i++) {
        while (isspace((unsigned char)*parts[i]))
            parts[i]++;
        size_t length = strlen(parts[i]);
        while (length && isspace((unsigned char)parts[i][length - 1]))
            parts[i][--length] = 0;
        if (!length)
            return false;
    }
    *column = parts[0];
    *parent = parts[1];
    *parent_column = parts[2];
    return true;
}

static brume_status read_link(const policy_reading *from, const brume_yaml *node,
                              brume_policy *policy)
{
    static const char how[] = "write link: COLUMN = TABLE.COLUMN";
    BRUME_TRY(need_kind(from, node, BRUME_YAML_TEXT, how));
    char *text = strdup(node->text), *column, *parent, *parent_column;
    if (!text)
        return out_of_memory(from);
    brume_status status =
        split_link(text, &column, &parent, &parent_column)
            ? placed(from, node,
                     brume_policy_set_link(policy, column, parent, parent_column, from->error))
            : fault_at(from, node, BRUME_ESYNTAX, how, "this is no link");
    free(text);
    return status;
}

static brume_status read_domains(const policy_reading *from, const brume_yaml *map,
                                 brume_policy *policy)
{
    BRUME_TRY(need_kind(from, map, BRUME_YAML_MAP, "domain: {column: [a, b]}"));
    for (size_t i = 0; i < map->count; i++) {
        const brume_yaml *list = &map->items[i];
        BRUME_TRY(need_kind(from, list, BRUME_YAML_LIST, "column: [a, b]"));
        const char **values = calloc(list->count + 1, sizeof *values);
        brume_status status = values ? BRUME_OK : out_of_memory(from);
        for (size_t j = 0; status == BRUME_OK && j < list->count; j++) {
            status = list->items[j].kind == BRUME_YAML_TEXT
                         ? BRUME_OK
                         : fault_at(from, &list->items[j], BRUME_ESYNTAX, NULL,
                                    "a value of a domain must be a text");
            values[j] = list->items[j].text;
        }
        if (status == BRUME_OK)
            status = placed(
                from, list,
                brume_policy_set_domain(policy, list->key, values, list->count, from->error));
        free(values);
        if (status != BRUME_OK)
            return status;
    }
    return BRUME_OK;
}

static brume_status read_identifiers(const policy_reading *from, const brume_yaml *list,
                                     brume_policy *policy)
{
    BRUME_TRY(need_kind(from, list, BRUME_YAML_LIST, "identifier: [column]"));
    for (size_t i = 0; i < list->count; i++) {
        BRUME_TRY(need_kind(from, &list->items[i], BRUME_YAML_TEXT, "identifier: [column]"));
        BRUME_TRY(placed(from, &list->items[i],
                         brume_policy_set_identifier(policy, list->items[i].text, from->error)));
    }
    return BRUME_OK;
}

/* Exactly one of unit, link and public. */
static brume_status read_owner(const policy_reading *from, const brume_yaml *table,
                               const brume_call *call, brume_policy *policy)
{
    const brume_yaml *unit = brume_yaml_find(table, "unit"), *link = brume_yaml_find(table, "link");
    bool is_public = brume_call_has(call, "public");
    int said = (unit != NULL) + (link != NULL) + is_public;
    if (said != 1)
        return placed(from, table,
                      brume_fail(from->error, BRUME_EARGUMENT,
                                 "a table has one of 'unit', 'link' and 'public: true'",
                                 said ? "table '%s' says twice whose its rows are"
                                      : "table '%s' does not say whose its rows are",
                                 table->key));
    policy->is_public = is_public;
    if (link)
        return read_link(from, link, policy);
    if (unit && strcmp(unit->text, "row") != 0)
        return placed(from, unit, brume_policy_set_unit(policy, unit->text, from->error));
    return BRUME_OK;
}

/* How many rows of the table one unit has at most: of the dataset the key is for the rows in a
 * group of a query. Where the row is the unit there is one, and a public table has no units. */
static brume_status read_rows(const policy_reading *from, const brume_yaml *node,
                              brume_policy *policy)
{
    static const char how[] = "how many rows of it one unit has at most, such as 1";
    char *end = NULL;
    BRUME_TRY(need_kind(from, node, BRUME_YAML_TEXT, how));
    errno = 0;
    unsigned long long rows = isdigit((unsigned char)*node->text) ? strtoull(node->text, &end, 10)
                                                                  : 0;
    if (rows == 0 || *end || errno || rows > UINT32_MAX)
        return fault_at(from, node, BRUME_EARGUMENT, how,
                        "'max-rows' must be a whole number from 1 to 4294967295");
    if (policy->is_public || (!policy->unit && !policy->link_column))
        return fault_at(from, node, BRUME_EARGUMENT, "leave it out",
                        "'max-rows' is for tables with a unit or a link");
    policy->table_rows = rows;
    return BRUME_OK;
}

/* ---- windows ---- */

/* The budget of a window as one text: it may be a map. */
static brume_status window_budget_text(const policy_reading *from, const brume_yaml *node,
                                       char **out)
{
    char text[256] = "";
    for (size_t i = 0; node->kind == BRUME_YAML_MAP && i < node->count; i++) {
        BRUME_TRY(need_kind(from, &node->items[i], BRUME_YAML_TEXT, "epsilon=1,delta=1e-7"));
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.40s=%.60s", i ? "," : "", node->items[i].key,
                 node->items[i].text);
    }
    if (node->kind != BRUME_YAML_MAP)
        BRUME_TRY(need_kind(from, node, BRUME_YAML_TEXT, "epsilon=1,delta=1e-7"));
    *out = strdup(node->kind == BRUME_YAML_MAP ? text : node->text);
    return *out ? BRUME_OK : out_of_memory(from);
}

/* `window: {length, budget, offset, close-after}` of the dataset. */
static brume_status read_windows(const policy_reading *from, const brume_yaml *map)
{
    static const char how[] =
        "window: {length: day, budget: \"epsilon=1\"}, and offset, close-after";
    brume_policy_file *file = from->file;
    BRUME_TRY(need_kind(from, map, BRUME_YAML_MAP, how));
    for (size_t i = 0; i < map->count; i++) {
        const brume_yaml *node = &map->items[i];
        char **to = strcmp(node->key, "length") == 0        ? &file->window_length
                    : strcmp(node->key, "offset") == 0      ? &file->window_offset
                    : strcmp(node->key, "close-after") == 0 ? &file->close_after
                                                            : NULL;
        if (strcmp(node->key, "budget") == 0) {
            BRUME_TRY(window_budget_text(from, node, &file->window_budget));
            continue;
        }
        if (!to)
            return fault_at(from, node, BRUME_EUNKNOWN, how, "unknown key of 'window'");
        BRUME_TRY(need_kind(from, node, BRUME_YAML_TEXT, how));
        if (!(*to = strdup(node->text)))
            return out_of_memory(from);
    }
    return file->window_length && file->window_budget
               ? BRUME_OK
               : fault_at(from, map, BRUME_EARGUMENT, how, "'window' needs a length and a budget");
}

/* `window: COLUMN|link|none` of a table. */
static brume_status read_place(const policy_reading *from, const brume_yaml *table,
                               brume_policy *policy)
{
    const brume_yaml *node = brume_yaml_find(table, "window");
    const brume_policy_file *file = from->file;
    double close_after = 0;
    if (!node && (!file->window_length || policy->is_public))
        return BRUME_OK;
    if (!node)
        return fault_at(from, table, BRUME_EARGUMENT, "window: COLUMN, link or none",
                        "the dataset has windows, and this table does not say in which its rows "
                        "are");
    if (!file->window_length || policy->is_public)
        return fault_at(from, node, BRUME_EARGUMENT,
                        policy->is_public ? "leave it out: a public table has none"
                                          : "window: {length, budget}, beside 'tables'",
                        "this table can have no windows");
    BRUME_TRY(need_kind(from, node, BRUME_YAML_TEXT, "window: COLUMN, link or none"));
    BRUME_TRY(placed(from, node,
                     brume_policy_set_window(policy, node->text, file->window_length,
                                             file->window_offset, from->error)));
    if (file->close_after)
        BRUME_TRY(placed(
            from, node,
            brume_declared_age(file->close_after, "close-after", &close_after, from->error)));
    policy->window.close_after = (int64_t)close_after;
    return BRUME_OK;
}

/* Where the source is: a path is relative to the file. */
static brume_status locate(const policy_reading *from, const brume_yaml *node,
                           brume_found_source *found)
{
    char *joined = NULL;
    if (*node->text == '/' || strstr(node->text, "://"))
        joined = strdup(node->text);
    else if (asprintf(&joined, "%s/%s", from->folder, node->text) < 0)
        joined = NULL;
    if (!joined)
        return out_of_memory(from);
    brume_status status =
        brume_location_split(joined, &found->location, &found->password, from->error);
    free(joined);
    return placed(from, node, status);
}

static brume_status describe_table(const policy_reading *from, const brume_yaml *table,
                                   const brume_call *call, brume_found_source *found,
                                   brume_policy **out)
{
    const brume_yaml *domains = brume_yaml_find(table, "domain");
    const brume_yaml *identifiers = brume_yaml_find(table, "identifier");
    const brume_yaml *rows = brume_yaml_find(table, "max-rows");
    const char *name = brume_call_text(call, "table");
    BRUME_TRY(locate(from, brume_yaml_find(table, "source"), found));
    BRUME_TRY(placed(from, table, brume_find_source(call, name, NULL, true, found, from->error)));
    BRUME_TRY(brume_policy_make(found->location, name, &found->description, out, from->error));
    BRUME_TRY(read_owner(from, table, call, *out));
    BRUME_TRY(brume_declare_policy(&from->file->call, *out, from->error));
    BRUME_TRY(placed(from, table, brume_declare_policy(call, *out, from->error)));
    if (rows)
        BRUME_TRY(read_rows(from, rows, *out));
    if (domains)
        BRUME_TRY(read_domains(from, domains, *out));
    BRUME_TRY(read_place(from, table, *out));
    return identifiers ? read_identifiers(from, identifiers, *out) : BRUME_OK;
}

static brume_status read_table(const policy_reading *from, const brume_yaml *table, size_t index)
{
    brume_table_policy *made = &from->file->tables->list[index];
    const brume_yaml *source = NULL;
    char **words = NULL;
    size_t count = 0;
    brume_call call = {0};
    BRUME_TRY(need_kind(from, table, BRUME_YAML_MAP, "a table has at least a 'source'"));
    if (!*table->key || strlen(table->key) > MOST_NAME || strchr(table->key, '.'))
        return fault_at(from, table, BRUME_EARGUMENT, "a name of 1 to 63 bytes, without a dot",
                        "this is no name of a table");
    if (!(made->name = strdup(table->key)))
        return out_of_memory(from);
    brume_status status = read_words(from, table, true, &words, &count);
    if (status == BRUME_OK && !(source = brume_yaml_find(table, "source")))
        status = placed(from, table,
                        brume_fail(from->error, BRUME_EARGUMENT, "write source: FILE",
                                   "table '%s' has no 'source'", table->key));
    if (status == BRUME_OK)
        status = need_kind(from, source, BRUME_YAML_TEXT, "write source: FILE");
    if (status == BRUME_OK)
        status = make_call(from, table->key, source->text, words, count, &call);
    if (status == BRUME_OK)
        status = describe_table(from, table, &call, &from->file->found[index], &made->policy);
    brume_call_close(&call);
    free_words(words, count);
    return status;
}

/* ---- the file ---- */

static brume_status read_tables(const policy_reading *from, const brume_yaml *tables)
{
    BRUME_TRY(need_kind(from, tables, BRUME_YAML_MAP, "tables: {NAME: {source: FILE}}"));
    if (tables->count == 0 || tables->count > BRUME_MOST_TABLES)
        return fault_at(from, tables, BRUME_EARGUMENT, "1 to 64",
                        "so many tables are not possible");
    brume_policy_file *file = from->file;
    file->found = calloc(tables->count, sizeof *file->found);
    file->tables = brume_tables_open(tables->count);
    if (!file->found || !file->tables)
        return out_of_memory(from);
    file->tables->is_listed = true;
    for (size_t i = 0; i < tables->count; i++)
        BRUME_TRY(read_table(from, &tables->items[i], i));
    return placed(from, tables, brume_tables_check(file->tables, from->error));
}

static brume_status read_tree(const policy_reading *from, const brume_yaml *tree)
{
    brume_policy_file *file = from->file;
    BRUME_TRY(need_kind(from, tree, BRUME_YAML_MAP, "see 'brume help register'"));
    BRUME_TRY(read_words(from, tree, false, &file->words, &file->word_count));
    BRUME_TRY(make_call(from, from->dataset, "", file->words, file->word_count, &file->call));
    if (!brume_call_has(&file->call, "budget"))
        return fault_at(from, tree, BRUME_EARGUMENT,
                        "there is no default: write budget: epsilon=E,delta=D",
                        "'budget' is missing");
    const brume_yaml *tables = brume_yaml_find(tree, "tables");
    const brume_yaml *windows = brume_yaml_find(tree, "window");
    if (windows)
        BRUME_TRY(read_windows(from, windows));
    return tables ? read_tables(from, tables)
                  : fault_at(from, tree, BRUME_EARGUMENT, "tables: {NAME: {source: FILE}}",
                             "'tables' is missing");
}

/* All of a file of at most MOST_BYTES. */
static brume_status read_text(const policy_reading *from, char *text, size_t *length)
{
    FILE *in = fopen(from->path, "rbe");
    if (!in)
        return brume_fail(from->error, BRUME_ESOURCE, NULL, "cannot open '%s': %s", from->path,
                          strerror(errno));
    *length = fread(text, 1, MOST_BYTES + 1, in);
    bool failed = ferror(in) != 0;
    fclose(in);
    return failed ? brume_fail(from->error, BRUME_ESOURCE, NULL, "cannot read '%s'", from->path)
                  : BRUME_OK;
}

static brume_status find_folder(policy_reading *from)
{
    char *copy = strdup(from->path);
    from->folder = copy ? realpath(dirname(copy), NULL) : NULL;
    free(copy);
    return from->folder ? BRUME_OK
                        : brume_fail(from->error, BRUME_ESOURCE, NULL,
                                     "cannot find the folder of '%s'", from->path);
}

static brume_status read_file(policy_reading *from)
{
    char *text = malloc(MOST_BYTES + 2);
    size_t length = 0;
    brume_yaml *tree = NULL;
    brume_status status = text ? read_text(from, text, &length) : out_of_memory(from);
    if (status == BRUME_OK)
        status = find_folder(from);
    if (status == BRUME_OK)
        status = brume_yaml_parse(text, length, from->path, &tree, from->error);
    if (status == BRUME_OK)
        status = read_tree(from, tree);
    brume_yaml_close(tree);
    free(from->folder);
    free(text);
    return status;
}

brume_status brume_policy_file_open(const brume_command *command, const char *dataset,
                                    const char *path, brume_policy_file **out, brume_error *error)
{
    policy_reading from = {.command = command,
                           .path = path,
                           .dataset = dataset,
                           .file = calloc(1, sizeof *from.file),
                           .error = error};
    brume_status status = from.file ? read_file(&from) : out_of_memory(&from);
    if (status != BRUME_OK) {
        brume_policy_file_close(from.file);
        return status;
    }
    *out = from.file;
    return BRUME_OK;
}

void brume_policy_file_close(brume_policy_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; file->found && file->tables && i < file->tables->count; i++)
        brume_found_source_clear(&file->found[i]);
    brume_tables_close(file->tables);
    free(file->found);
    brume_call_close(&file->call);
    free_words(file->words, file->word_count);
    free(file->window_budget);
    free(file->window_length);
    free(file->window_offset);
    free(file->close_after);
    free(file);
}

/* ---- writing ---- */

typedef struct policy_writer {
    FILE *out;
    bool failed;
} policy_writer;

static void write_scalar(policy_writer *to, const char *text)
{
    char *scalar = brume_yaml_scalar(text);
    to->failed = to->failed || !scalar;
    fputs(scalar ? scalar : "", to->out);
    free(scalar);
}

static void write_pair(policy_writer *to, const char *indent, const char *key, const char *text)
{
    fputs(indent, to->out);
    write_scalar(to, key);
    fputs(": ", to->out);
    write_scalar(to, text);
    fputc('\n', to->out);
}

/* ---- a table ---- */

/* 'NAME TYPE, ...' as --columns takes it. */
static void write_columns(policy_writer *to, const brume_policy *policy)
{
    char *text = NULL, type[BRUME_TYPE_NAME_SIZE];
    size_t length = 0;
    FILE *list = open_memstream(&text, &length);
    if (!list) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *column = &policy->columns[i];
        char *quoted = brume_engine_quote(column->name);
        to->failed = to->failed || !quoted;
        bool plain = *column->name && strcspn(column->name, " ,\"\t") == strlen(column->name);
        fprintf(list, "%s%s %s", i ? ", " : "",
                plain    ? column->name
                : quoted ? quoted
                         : "",
                brume_type_name(column->type, type));
        free(quoted);
    }
    if (fclose(list) == 0)
        write_pair(to, "    ", "columns", text);
    else
        to->failed = true;
    free(text);
}

static void write_format(policy_writer *to, const brume_policy *policy)
{
    brume_text_format format, usual = brume_text_format_of(policy->location);
    if (!policy->options || *policy->options != '{' ||
        brume_text_format_parse(policy->options, &format, NULL) != BRUME_OK)
        return;
    char delimiter[] = {format.delimiter, 0}, quote[] = {format.quote, 0};
    if (format.delimiter != usual.delimiter)
        write_pair(to, "    ", "delimiter", format.delimiter == '\t' ? "tab" : delimiter);
    if (format.quote != usual.quote)
        write_pair(to, "    ", "quote", format.quote ? quote : "none");
    if (!format.header)
        write_pair(to, "    ", "no-header", "true");
    if (format.multiline)
        write_pair(to, "    ", "multiline", "true");
}

static void write_owner(policy_writer *to, const brume_policy *policy)
{
    if (policy->is_public) {
        write_pair(to, "    ", "public", "true");
    } else if (policy->link_column) {
        char link[1024];
        snprintf(link, sizeof link, "%.300s = %.300s.%.300s", policy->link_column, policy->parent,
                 policy->parent_column);
        write_pair(to, "    ", "link", link);
    } else {
        write_pair(to, "    ", "unit", policy->unit ? policy->unit : "row");
    }
}

static void write_rows(policy_writer *to, const brume_policy *policy)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)policy->table_rows);
    if (policy->table_rows)
        write_pair(to, "    ", "max-rows", text);
}

static void write_list(policy_writer *to, const char *key, char *const *values, size_t count)
{
    fputs("      ", to->out);
    write_scalar(to, key);
    fputs(": [", to->out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", to->out);
        write_scalar(to, values[i]);
    }
    fputs("]\n", to->out);
}

static void write_declarations(policy_writer *to, const brume_policy *policy)
{
    bool bounds = false, domains = false, identifiers = false;
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *column = &policy->columns[i];
        if (!column->low)
            continue;
        char range[400];
        snprintf(range, sizeof range, "%.190s..%.190s", column->low, column->high);
        fputs(bounds ? "" : "    bounds:\n", to->out);
        bounds = true;
        write_pair(to, "      ", column->name, range);
    }
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *column = &policy->columns[i];
        if (!column->domain_count)
            continue;
        fputs(domains ? "" : "    domain:\n", to->out);
        domains = true;
        write_list(to, column->name, column->domain, column->domain_count);
    }
    for (size_t i = 0; i < policy->column_count; i++)
        if (policy->columns[i].is_identifier) {
            fputs(identifiers ? ", " : "    identifier: [", to->out);
            identifiers = true;
            write_scalar(to, policy->columns[i].name);
        }
    fputs(identifiers ? "]\n" : "", to->out);
}

/* Where the file is, whatever folder one is in. */
static void write_source(policy_writer *to, const brume_policy *policy)
{
    brume_dialect dialect = BRUME_DIALECT_DUCKDB;
    bool file = !brume_engine_dialect_of(policy->location, &dialect) ||
                dialect == BRUME_DIALECT_DUCKDB;
    char *resolved = file && *policy->location != '/' ? realpath(policy->location, NULL) : NULL;
    write_pair(to, "    ", "source", resolved ? resolved : policy->location);
    free(resolved);
    if (policy->table)
        write_pair(to, "    ", "table", policy->table);
    if (file && brume_file_format_of(policy->location) != BRUME_FILE_PARQUET) {
        write_columns(to, policy);
        write_format(to, policy);
    }
}

/* ---- the dataset ---- */

static void write_windows(policy_writer *to, const brume_dataset *dataset,
                          const brume_policy *policy)
{
    const brume_filter *budget = &dataset->window_budget;
    char text[BRUME_WINDOW_TEXT], all[2 * BRUME_DECIMAL_TEXT + 32], epsilon[BRUME_DECIMAL_TEXT],
        delta[BRUME_DECIMAL_TEXT];
    brume_decimal_print(&budget->epsilon, epsilon, sizeof epsilon);
    brume_decimal_print(&budget->delta, delta, sizeof delta);
    bool pure = budget->rule == BRUME_RULE_PURE;
    snprintf(all, sizeof all, "epsilon=%s%s%s", epsilon, pure ? "" : ",delta=", pure ? "" : delta);
    fputs("window:\n", to->out);
    write_pair(to, "  ", "length", brume_window_length_text(&policy->window.grid, text));
    write_pair(to, "  ", "budget", all);
    if (policy->window.grid.offset)
        write_pair(to, "  ", "offset", brume_window_offset_text(&policy->window.grid, text));
    if (policy->window.close_after) {
        snprintf(text, sizeof text, "%llds", (long long)policy->window.close_after);
        write_pair(to, "  ", "close-after", text);
    }
}

static void write_place(policy_writer *to, const brume_policy_window *window)
{
    if (window->place)
        write_pair(to, "    ", "window",
                   window->place == BRUME_WINDOW_BY_LINK    ? "link"
                   : window->place == BRUME_WINDOW_TIMELESS ? "none"
                                                            : window->column);
}

static void write_terms(policy_writer *to, const brume_dataset *dataset, const brume_policy *policy)
{
    char per_user[BRUME_USER_LIMITS_TEXT], text[2 * BRUME_DECIMAL_TEXT + 32],
        epsilon[BRUME_DECIMAL_TEXT], delta[BRUME_DECIMAL_TEXT];
    brume_decimal_print(&dataset->filter.epsilon, epsilon, sizeof epsilon);
    brume_decimal_print(&dataset->filter.delta, delta, sizeof delta);
    bool pure = dataset->filter.rule == BRUME_RULE_PURE;
    snprintf(text, sizeof text, "epsilon=%s%s%s", epsilon,
             pure ? "" : ",delta=", pure ? "" : delta);
    write_pair(to, "", "budget", dataset->no_budget ? "none" : text);
    if (dataset->has_windows)
        write_windows(to, dataset, policy);
    if (policy->max_age > 0) {
        char age[64];
        snprintf(age, sizeof age, "%ss", brume_shortest(policy->max_age).text);
        write_pair(to, "", "max-age", age);
    }
    write_pair(to, "", "rule", brume_rule_word(dataset->filter.rule));
    write_pair(to, "", "adjacency", brume_adjacency_word(dataset->adjacency));
    if (policy->unit_name)
        write_pair(to, "", "unit-name", policy->unit_name);
    snprintf(text, sizeof text, "%llu", (unsigned long long)policy->max_groups);
    if (policy->max_groups)
        write_pair(to, "", "max-groups", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)policy->max_rows);
    if (policy->max_rows)
        write_pair(to, "", "max-rows", text);
    if (policy->limits_fixed)
        write_pair(to, "", "limits", "fixed");
    if (dataset->cap) {
        snprintf(text, sizeof text, "epsilon=%.200s", dataset->cap);
        write_pair(to, "", "cap", text);
    }
    if (policy->bias_share)
        write_pair(to, "", "estimate-bias", policy->bias_share);
    if (policy->timeout > 0)
        write_pair(to, "", "timeout", brume_shortest(policy->timeout).text);
    brume_user_limits_print(&policy->per_user, per_user);
    if (*per_user)
        write_pair(to, "", "limits-per-user", per_user);
    if (policy->rows_stay)
        write_pair(to, "", "rows-stay", "true");
    if (policy->append_only)
        write_pair(to, "", "append-only", "true");
    if (policy->rows_about > 0)
        write_pair(to, "", "rows-about", brume_shortest(policy->rows_about).text);
    if (*dataset->data_version)
        write_pair(to, "", "data-version", dataset->data_version);
}

brume_status brume_policy_file_write(FILE *out, const brume_dataset *dataset, brume_error *error)
{
    policy_writer to = {.out = out};
    brume_tables *tables = NULL;
    BRUME_TRY(brume_tables_from_json(dataset->policy, dataset->name, &tables, error));
    if (!tables->is_listed && tables->list[0].policy->is_public) {
        brume_tables_close(tables);
        return brume_fail(error, BRUME_EUNSUPPORTED, "'brume show' says what was registered",
                          "a public table by itself has no budget and no policy file");
    }
    write_terms(&to, dataset, tables->list[0].policy);
    fputs("tables:\n", out);
    for (size_t i = 0; i < tables->count; i++) {
        const brume_policy *policy = tables->list[i].policy;
        fputs("  ", out);
        write_scalar(&to, tables->list[i].name);
        fputs(":\n", out);
        write_source(&to, policy);
        write_owner(&to, policy);
        write_rows(&to, policy);
        write_place(&to, &policy->window);
        write_declarations(&to, policy);
    }
    brume_tables_close(tables);
    return to.failed ? brume_no_memory(error, NULL) : BRUME_OK;
}
