/* The keys of a policy file as words of a command line, so that they are checked as these are. */
#include "command/owner/policy_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "command/frame/call.h"

/* The options of `register` that say something of a table, and those that a file does not have. */
static const char *const of_table[] = {"unit",      "public",    "columns", "delimiter", "quote",
                                       "no-header", "multiline", "bounds",  "domain",    "table"};
static const char *const not_in_file[] = {"ledger", "policy"};
enum { OTHER_KEYS = 4 };
static const char *const other_keys[2][OTHER_KEYS] = {{"tables", NULL, NULL, NULL},
                                                      {"source", "link", "identifier", "max-rows"}};

static bool is_among(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] && strcmp(list[i], name) == 0)
            return true;
    return false;
}
#define AMONG(name, list) is_among(name, list, sizeof(list) / sizeof *(list))

/* ---- faults ---- */

static brume_status out_of_memory(const brume_policy_reading *from)
{
    return brume_fail(from->error, BRUME_EMEMORY, NULL, "out of memory");
}

/* The same error, with its place; options are called keys here. */
brume_status brume_policy_at(const brume_policy_reading *from, const brume_yaml *node,
                             brume_status status)
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

brume_status brume_policy_fault(const brume_policy_reading *from, const brume_yaml *node,
                                brume_status status, const char *hint, const char *message)
{
    return brume_policy_at(from, node, brume_fail(from->error, status, hint, "%s", message));
}

/* ---- keys ---- */

static const brume_option *find_option(const brume_policy_reading *from, const char *name)
{
    for (size_t i = 0; i < from->command->option_count; i++)
        if (strcmp(from->command->options[i].name, name) == 0)
            return &from->command->options[i];
    return NULL;
}

/* Is it a key of the dataset, or (table) of a table? */
static bool is_key(const brume_policy_reading *from, const char *name, bool table)
{
    if (is_among(name, other_keys[table], OTHER_KEYS))
        return true;
    return find_option(from, name) && !AMONG(name, not_in_file) && AMONG(name, of_table) == table;
}

static brume_status unknown_key(const brume_policy_reading *from, const brume_yaml *node,
                                bool table)
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
    return brume_policy_at(
        from, node,
        brume_fail(from->error, BRUME_EUNKNOWN, hint, "unknown key '%.60s'", node->key));
}

brume_status brume_policy_need(const brume_policy_reading *from, const brume_yaml *node,
                               brume_yaml_kind kind, const char *hint)
{
    static const char *const words[] = {"a text", "a map of keys", "a list"};
    if (node->kind != kind)
        return brume_policy_at(from, node,
                               brume_fail(from->error, BRUME_ESYNTAX, hint, "'%.60s' must be %s",
                                          node->key ? node->key : "the file", words[kind]));
    if (kind == BRUME_YAML_TEXT && !*node->text)
        return brume_policy_at(from, node,
                               brume_fail(from->error, BRUME_ESYNTAX, hint, "'%.60s' has no value",
                                          node->key ? node->key : "an item"));
    return BRUME_OK;
}

/* ---- words, as if they had been typed ---- */

static brume_status add_word(const brume_policy_reading *from, const brume_yaml *node, char *word,
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
    return brume_policy_at(from, node, status);
}

static char *make_word(const char *name, const char *first, const char *mark, const char *second)
{
    char *word = NULL;
    return asprintf(&word, "--%s=%s%s%s", name, first, mark, second) < 0 ? NULL : word;
}

/* {epsilon: 4, delta: 1e-6} is epsilon=4,delta=1e-6. */
static brume_status add_budget(const brume_policy_reading *from, const brume_yaml *node,
                               char ***list, size_t *count)
{
    char text[256] = "";
    for (size_t i = 0; i < node->count; i++) {
        BRUME_TRY(
            brume_policy_need(from, &node->items[i], BRUME_YAML_TEXT, "epsilon=4,delta=1e-6"));
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.40s=%.60s", i ? "," : "", node->items[i].key,
                 node->items[i].text);
    }
    return add_word(from, node, make_word(node->key, text, "", ""), list, count);
}

static brume_status add_key(const brume_policy_reading *from, const brume_yaml *node, char ***list,
                            size_t *count)
{
    const brume_option *option = find_option(from, node->key);
    if (strcmp(node->key, "bounds") == 0) {
        BRUME_TRY(brume_policy_need(from, node, BRUME_YAML_MAP, "bounds: {column: 0..100}"));
        for (size_t i = 0; i < node->count; i++) {
            BRUME_TRY(brume_policy_need(from, &node->items[i], BRUME_YAML_TEXT, "column: 0..100"));
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
    BRUME_TRY(brume_policy_need(from, node, BRUME_YAML_TEXT, option->help));
    if (option->type != BRUME_OPTION_FLAG)
        return add_word(from, node, make_word(node->key, node->text, "", ""), list, count);
    if (strcmp(node->text, "false") == 0)
        return BRUME_OK;
    if (strcmp(node->text, "true") != 0)
        return brume_policy_at(from, node,
                               brume_fail(from->error, BRUME_EARGUMENT, "write true or false",
                                          "'%s' is '%.60s'", node->key, node->text));
    char *word = NULL;
    if (asprintf(&word, "--%s", node->key) < 0)
        return out_of_memory(from);
    return add_word(from, node, word, list, count);
}

/* The keys of a map that are options, as words; domains are read later, since their values may hold
 * commas. */
brume_status brume_policy_words(const brume_policy_reading *from, const brume_yaml *map, bool table,
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

void brume_policy_words_free(char **words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(words[i]);
    free(words);
}

/* The words as a call of the command, on `name` and `source`. */
brume_status brume_policy_call(const brume_policy_reading *from, const char *name,
                               const char *source, char **words, size_t count, brume_call *call)
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
