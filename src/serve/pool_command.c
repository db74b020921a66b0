/* Which commands touch no row, and which datasets a text names. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "serve/pool_state.h"

/* Commands whose time depends on what was asked, on policies and on the journal, and on no row of
 * any protected table. What is not here is taken to touch rows. */
static const char *const free_commands[] = {
    "account",       "accuracy",   "budget",     "calibrate",   "catalog",       "datasets",
    "dummy",         "explain",    "help",       "history",     "ledger backup", "ledger export",
    "ledger verify", "loss",       "mechanisms", "series list", "series show",   "show",
    "user add",      "user allot", "user list",  "user remove", "user token",    "version",
};

bool brume_pool_is_free(const char *command)
{
    for (size_t i = 0; i < sizeof free_commands / sizeof *free_commands; i++)
        if (strcmp(command, free_commands[i]) == 0)
            return true;
    return false;
}

bool brume_pool_has_free_part(const char *command)
{
    return strcmp(command, "query") == 0 || strcmp(command, "limits") == 0;
}

static uint64_t bit_of(const char *name)
{
    uint64_t hash = 1469598103934665603u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu; /* short names differ in low bits only */
    return (uint64_t)1 << (hash >> 58);
}

static char *lower(const char *text)
{
    char *copy = strdup(text ? text : "");
    for (char *c = copy; c && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

uint64_t brume_pool_datasets_of(char *const *names, size_t count, const char *sql,
                                const char *options)
{
    uint64_t bits = 0;
    char *texts[] = {lower(sql), lower(options)};
    bool good = texts[0] && texts[1];
    for (size_t i = 0; good && i < count; i++)
        if (strstr(texts[0], names[i]) || strstr(texts[1], names[i]))
            bits |= bit_of(names[i]);
    free(texts[0]);
    free(texts[1]);
    return bits ? bits : ~(uint64_t)0;
}

uint64_t brume_pool_datasets_explained(const json_t *explained)
{
    uint64_t bits = 0;
    const json_t *names = json_object_get(explained, "datasets");
    const json_t *stages = json_object_get(explained, "stages");
    for (size_t i = 0; i < json_array_size(names); i++) {
        char *name = lower(json_string_value(json_array_get(names, i)));
        bits |= name ? bit_of(name) : ~(uint64_t)0;
        free(name);
    }
    for (size_t i = 0; i < json_array_size(stages); i++)
        bits |= brume_pool_datasets_explained(json_array_get(stages, i));
    return bits;
}

/* ---- the names ---- */

typedef struct name_list {
    char **names;
    size_t count;
} name_list;

static void add_name(name_list *list, const char *name)
{
    char *copy = name && *name ? lower(name) : NULL;
    char **longer = copy ? realloc(list->names, (list->count + 1) * sizeof *longer) : NULL;
    if (!longer) {
        free(copy);
        return;
    }
    list->names = longer;
    list->names[list->count++] = copy;
}

static void add_names(name_list *list, const json_t *datasets)
{
    for (size_t i = 0; i < json_array_size(datasets); i++) {
        const json_t *one = json_array_get(datasets, i);
        const json_t *tables = json_object_get(one, "tables");
        add_name(list, json_string_value(json_object_get(one, "name")));
        for (size_t t = 0; t < json_array_size(tables); t++)
            add_name(list, json_string_value(json_array_get(tables, t)));
    }
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

void brume_pool_read_names(brume_pool *pool)
{
    brume_session *session = NULL;
    char *text = NULL;
    name_list list = {0};
    if (brume_session_open(pool->options.ledger, NULL, &session, NULL) == BRUME_OK &&
        brume_session_call(session, "datasets", NULL, &text, NULL) == BRUME_OK) {
        json_t *answer = json_loads(text, 0, NULL);
        add_names(&list, json_object_get(answer, "datasets"));
        json_decref(answer);
    }
    brume_free(text);
    brume_session_close(session);
    pthread_mutex_lock(&pool->lock);
    char **before = pool->names;
    size_t count = pool->name_count;
    pool->names = list.names;
    pool->name_count = list.count;
    pthread_mutex_unlock(&pool->lock);
    free_names(before, count);
}
