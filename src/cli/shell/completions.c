/* Completion at the prompt: backslash words and commands, tables, columns, words of SQL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/shell/shell.h"

typedef struct word_list {
    char **words; /* NULL at the end */
    size_t count;
} word_list;

/* Would a terminal only show it? Names of data are anybody's. */
static bool is_visible(const char *text)
{
    char *visible = brume_visible_text(text, "");
    bool same = visible && strcmp(visible, text) == 0;
    free(visible);
    return same;
}

/* Add `text` if it begins with what is typed; letters of either case are the same. A word that is
 * there already is not added again. */
static void offer(word_list *list, const char *typed, const char *text)
{
    if (!text || strncasecmp(text, typed, strlen(typed)) != 0 || !is_visible(text))
        return;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->words[i], text) == 0)
            return;
    char **grown = realloc(list->words, (list->count + 2) * sizeof *grown);
    if (!grown)
        return;
    list->words = grown;
    grown[list->count] = strdup(text);
    list->count += grown[list->count] != NULL;
    grown[list->count] = NULL;
}

static void offer_backslash(word_list *list, const brume_shell *shell, const char *typed)
{
    char name[64];
    for (size_t i = 0; brume_shell_action(i); i++) {
        snprintf(name, sizeof name, "\\%s", brume_shell_action(i));
        offer(list, typed, name);
    }
    size_t at = 0;
    const json_t *command = NULL;
    json_array_foreach (shell->commands, at, command) {
        const char *whole = json_string_value(json_object_get(command, "name"));
        snprintf(name, sizeof name, "\\%.*s", (int)strcspn(whole, " "), whole);
        offer(list, typed, name);
    }
}

/* The answer of a command as JSON; NULL if it failed. */
static json_t *answer_of(const brume_shell *shell, const char *command, const char *operand)
{
    char *text = NULL;
    brume_typed_words words = brume_shell_words(shell, command, false);
    brume_words_add(&words, "--json");
    if (operand)
        brume_words_add(&words, operand);
    int code = brume_child_capture(&words, 1, &text);
    brume_words_free(&words);
    json_t *answer = code == 0 && text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return answer;
}

static bool is_named(const char *sql, const json_t *name)
{
    return json_is_string(name) && strcasestr(sql, json_string_value(name));
}

/* Does the statement name a dataset, or one of its tables? */
static bool names(const char *sql, const json_t *dataset)
{
    bool named = is_named(sql, json_object_get(dataset, "name"));
    size_t at = 0;
    const json_t *table = NULL;
    json_array_foreach (json_object_get(dataset, "tables"), at, table)
        named = named || is_named(sql, table);
    return named;
}

/* The columns of a table, or of a dataset that is one. */
static void offer_columns(word_list *list, const char *typed, const json_t *table)
{
    size_t at = 0;
    const json_t *field = NULL;
    json_array_foreach (json_object_get(table, "columns"), at, field)
        offer(list, typed, json_string_value(json_object_get(field, "name")));
}

/* The tables of a policy: by their names, and behind the dataset's name and a point. */
static void offer_tables(word_list *list, const char *typed, const json_t *dataset)
{
    const char *name = json_string_value(json_object_get(dataset, "name"));
    size_t at = 0;
    const json_t *table = NULL;
    json_array_foreach (json_object_get(dataset, "tables"), at, table) {
        char *both = NULL;
        offer(list, typed, json_string_value(table));
        if (strchr(typed, '.') && asprintf(&both, "%s.%s", name, json_string_value(table)) >= 0)
            offer(list, typed, both);
        free(both);
    }
}

/* Names of datasets and their tables, and of columns: of the datasets that the statement names, of
 * those tables of theirs that it names, or of all while it names none. */
static void offer_names(word_list *list, const brume_shell *shell, const char *sql,
                        const char *typed)
{
    json_t *answer = answer_of(shell, "datasets", NULL);
    const json_t *datasets = json_object_get(answer, "datasets"), *one = NULL, *table = NULL;
    bool any = false;
    size_t at = 0, which = 0;
    json_array_foreach (datasets, at, one)
        any = any || names(sql, one);
    json_array_foreach (datasets, at, one) {
        const char *name = json_string_value(json_object_get(one, "name"));
        offer(list, typed, name);
        offer_tables(list, typed, one);
        if (!name || (any && !names(sql, one)))
            continue;
        json_t *shown = answer_of(shell, "show", name);
        const json_t *tables = json_object_get(shown, "tables");
        bool any_table = false;
        offer_columns(list, typed, shown);
        json_array_foreach (tables, which, table)
            any_table = any_table || is_named(sql, json_object_get(table, "name"));
        json_array_foreach (tables, which, table)
            if (!any_table || is_named(sql, json_object_get(table, "name")))
                offer_columns(list, typed, table);
        json_decref(shown);
    }
    json_decref(answer);
}

static void offer_sql(word_list *list, const char *typed)
{
    static const char *const words[] = {
        "SELECT", "FROM",     "WHERE",     "GROUP BY", "ORDER BY", "HAVING",   "LIMIT", "JOIN",
        "LEFT",   "COUNT(*)", "SUM(",      "AVG(",     "MEDIAN(",  "DISTINCT", "AS",    "AND",
        "OR",     "NOT",      "BETWEEN",   "LIKE",     "CASE",     "WHEN",     "THEN",  "ELSE",
        "END",    "NULL",     "VARIANCE(", "STDDEV(",  "USING",    "ON",       "IS",    "IN"};
    for (size_t i = 0; *typed && i < sizeof words / sizeof *words; i++)
        offer(list, typed, words[i]);
}

char **brume_shell_complete(void *state, const char *before, const char *word)
{
    const brume_shell *shell = state;
    word_list list = {0};
    if (word[0] == '\\' && !before[0]) {
        offer_backslash(&list, shell, word);
    } else {
        char *sql = NULL;
        if (asprintf(&sql, "%s\n%s", shell->pending ? shell->pending : "", before) >= 0) {
            offer_names(&list, shell, before[0] == '\\' ? "" : sql, word);
            free(sql);
        }
        if (before[0] != '\\')
            offer_sql(&list, word);
    }
    return list.words;
}
