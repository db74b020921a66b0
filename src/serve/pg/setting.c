/* The settings of a connection. Promises: setting.h. */
#include "serve/pg/setting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"

typedef enum setting_kind { PRICE, OPTION, NUMBER, SWITCH, FIXED, FREE } setting_kind;

typedef struct setting_card {
    const char *name, *first;
    setting_kind kind;
    bool reported;
    const char *option, *description;
} setting_card;

static const setting_card cards[] = {
#define BRUME_PG_SETTING(name, first, kind, reported, option, description)                         \
    {name, first, kind, reported, option, description},
#include "serve/pg/setting.def"
#undef BRUME_PG_SETTING
};

enum { CARDS = sizeof cards / sizeof *cards, MOST_OTHERS = 64, MOST_VALUE = 1024 };

typedef struct setting {
    char *name; /* of those without a card; else NULL */
    char *value, *at_start, *at_begin, *reported;
    bool local;
} setting;

struct brume_pg_settings {
    setting list[CARDS + MOST_OTHERS];
    size_t count;
    bool in_transaction;
};

static const char *name_of(const brume_pg_settings *settings, size_t i)
{
    const setting *one = &settings->list[i];
    return one->name ? one->name
                     : cards[i].name; /* those without a name of their own have a card */
}

static bool copy(char **to, const char *from)
{
    char *made = from ? strdup(from) : NULL;
    if (from && !made)
        return false;
    free(*to);
    *to = made;
    return true;
}

brume_pg_settings *brume_pg_settings_open(void)
{
    brume_pg_settings *settings = calloc(1, sizeof *settings);
    bool made = settings != NULL;
    for (size_t i = 0; made && i < CARDS; i++, settings->count++)
        made = copy(&settings->list[i].value, cards[i].first);
    if (!made) {
        brume_pg_settings_close(settings);
        return NULL;
    }
    return settings;
}

void brume_pg_settings_close(brume_pg_settings *settings)
{
    for (size_t i = 0; settings && i < CARDS + MOST_OTHERS; i++) {
        setting *one = &settings->list[i];
        free(one->name);
        free(one->value);
        free(one->at_start);
        free(one->at_begin);
        free(one->reported);
    }
    free(settings);
}

static setting *find(const brume_pg_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->count; i++)
        if (strcasecmp(name_of(settings, i), name) == 0)
            return (setting *)(uintptr_t)&settings->list[i];
    return NULL;
}

const char *brume_pg_show(const brume_pg_settings *settings, const char *name)
{
    const setting *one = find(settings, name);
    return one ? one->value : NULL;
}

static int switch_value(const char *value)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    for (int i = 0; i < 8; i++)
        if (strcasecmp(words[i], value) == 0)
            return i % 2;
    return -1;
}

bool brume_pg_is_on(const brume_pg_settings *settings, const char *name)
{
    const char *value = brume_pg_show(settings, name);
    return value && switch_value(value) == 1;
}

/* ---- setting ---- */

static brume_status check_fixed(const setting_card *card, const char *value, brume_error *error)
{
    bool same = strcasecmp(card->first, value) == 0;
    if (strcmp(card->name, "client_encoding") == 0)
        same = same || strcasecmp(value, "utf-8") == 0 || strcasecmp(value, "unicode") == 0;
    if (strcmp(card->name, "DateStyle") == 0)
        same = strncasecmp(value, "iso", 3) == 0;
    return same ? BRUME_OK
                : brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' cannot be changed: it is '%s'",
                             card->name, card->first);
}

static brume_status check_value(const setting_card *card, const char *value, brume_error *error)
{
    char *end = NULL;
    switch (card->kind) {
    case FIXED:
        return check_fixed(card, value, error);
    case SWITCH:
        if (switch_value(value) < 0)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is on or off, not '%.100s'",
                              card->name, value);
        return BRUME_OK;
    case PRICE:
    case NUMBER:
        if (!*value)
            return BRUME_OK;
        if (!(strtod(value, &end) > 0) || *end || !isfinite(strtod(value, NULL)))
            return brume_fail(error, BRUME_EARGUMENT, "for example 0.1",
                              "'%s' must be a number above 0, not '%.100s'", card->name, value);
        return BRUME_OK;
    default: /* options are checked by the command that takes them */
        return BRUME_OK;
    }
}

static brume_status unknown(const char *name, brume_error *error)
{
    const char *names[CARDS];
    char hint[100] = "see SHOW ALL";
    size_t count = 0;
    for (size_t i = 0; i < CARDS; i++)
        if (strncmp(cards[i].name, "brume.", 6) == 0)
            names[count++] = cards[i].name;
    const char *near = brume_text_nearest(name, names, count);
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%s'?", near);
    return brume_fail(error, BRUME_EUNKNOWN, hint, "unknown setting '%.100s'", name);
}

/* The place of a setting that nobody knows, but that clients may set. */
static brume_status find_or_add(brume_pg_settings *settings, const char *name, setting **out,
                                brume_error *error)
{
    *out = find(settings, name);
    if (*out)
        return BRUME_OK;
    if (strncasecmp(name, "brume.", 6) == 0)
        return unknown(name, error);
    if (settings->count == CARDS + MOST_OTHERS || strlen(name) > 100)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "too many settings");
    setting *one = &settings->list[settings->count];
    if (!(one->name = strdup(name)))
        return brume_no_memory(error, "the setting");
    settings->count++;
    *out = one;
    return BRUME_OK;
}

/* A price replaces another one. */
static void clear_prices(brume_pg_settings *settings, size_t but)
{
    for (size_t i = 0; i < CARDS; i++)
        if (cards[i].kind == PRICE && i != but)
            settings->list[i].value[0] = 0;
}

brume_status brume_pg_set(brume_pg_settings *settings, const char *name, const char *value,
                          bool local, brume_error *error)
{
    setting *one = NULL;
    BRUME_TRY(find_or_add(settings, name, &one, error));
    size_t at = (size_t)(one - settings->list);
    const setting_card *card = at < CARDS ? &cards[at] : NULL;
    if (!value)
        value = one->at_start ? one->at_start : card ? card->first : "";
    if (strlen(value) > MOST_VALUE)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the value of '%.100s' is too long", name);
    if (card)
        BRUME_TRY(check_value(card, value, error));
    if (card && card->kind == FIXED)
        return BRUME_OK;
    if (!copy(&one->value, value))
        return brume_no_memory(error, "the setting");
    one->local = local && settings->in_transaction;
    if (card && card->kind == PRICE && *value)
        clear_prices(settings, at);
    return BRUME_OK;
}

brume_status brume_pg_note(brume_pg_settings *settings, const char *name, const char *value,
                           brume_error *error)
{
    setting *one = find(settings, name);
    return one && copy(&one->value, value) ? BRUME_OK : brume_no_memory(error, "the setting");
}

brume_status brume_pg_reset_all(brume_pg_settings *settings, brume_error *error)
{
    for (size_t i = 0; i < settings->count; i++) {
        setting *one = &settings->list[i];
        const char *first = one->at_start ? one->at_start : i < CARDS ? cards[i].first : "";
        bool fixed = i < CARDS && cards[i].kind == FIXED;
        if (!fixed && !copy(&one->value, first))
            return brume_no_memory(error, "the settings");
    }
    return BRUME_OK;
}

void brume_pg_settings_started(brume_pg_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++)
        (void)copy(&settings->list[i].at_start, settings->list[i].value);
}

/* ---- transactions ---- */

brume_status brume_pg_settings_begin(brume_pg_settings *settings, brume_error *error)
{
    for (size_t i = 0; i < settings->count; i++)
        if (!copy(&settings->list[i].at_begin, settings->list[i].value))
            return brume_no_memory(error, "the settings");
    settings->in_transaction = true;
    return BRUME_OK;
}

void brume_pg_settings_end(brume_pg_settings *settings, bool commit)
{
    for (size_t i = 0; settings->in_transaction && i < settings->count; i++) {
        setting *one = &settings->list[i];
        bool fixed = i < CARDS && cards[i].kind == FIXED; /* what was spent stays spent */
        if ((!commit || one->local) && one->at_begin && !fixed) {
            free(one->value);
            one->value = one->at_begin;
            one->at_begin = NULL;
        }
        one->local = false;
    }
    settings->in_transaction = false;
}

/* ---- telling ---- */

void brume_pg_settings_visit(const brume_pg_settings *settings, brume_pg_setting_visitor *visit,
                             void *context)
{
    for (size_t i = 0; i < settings->count; i++)
        visit(context, name_of(settings, i), settings->list[i].value,
              i < CARDS ? cards[i].description : "");
}

void brume_pg_settings_report(brume_pg_settings *settings, brume_pg_writer *writer)
{
    for (size_t i = 0; i < CARDS; i++) {
        setting *one = &settings->list[i];
        if (!cards[i].reported || (one->reported && strcmp(one->reported, one->value) == 0))
            continue;
        if (copy(&one->reported, one->value))
            brume_pg_put_parameter(writer, cards[i].name, one->value);
    }
}

brume_status brume_pg_settings_options(const brume_pg_settings *settings, json_t *options,
                                       bool *priced, brume_error *error)
{
    *priced = false;
    for (size_t i = 0; i < CARDS; i++) {
        const char *value = settings->list[i].value;
        if (!*cards[i].option || !*value)
            continue;
        *priced = *priced || cards[i].kind == PRICE;
        if (json_object_set_new(options, cards[i].option, json_string(value)) != 0)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "the value of '%s' is not UTF-8",
                              cards[i].name);
    }
    return BRUME_OK;
}
