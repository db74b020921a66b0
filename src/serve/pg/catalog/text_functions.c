/* Texts and patterns for the database of the catalog. Promises: sqlite.h. */
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/catalog/sqlite.h"

enum { MOST_PATTERN = 256 };

static const char *text_of(sqlite3_value *value)
{
    return (const char *)sqlite3_value_text(value);
}

static void give(sqlite3_context *context, const char *text)
{
    if (text)
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_null(context);
}

/* ---- patterns ---- */

/* LIKE with % and _ and \, in time text times pattern at most. */
bool brume_pg_is_like(const char *text, const char *pattern, bool fold)
{
    const char *star = NULL, *retry = NULL;
    while (*text) {
        bool escaped = *pattern == '\\' && pattern[1];
        char wanted = escaped ? pattern[1] : *pattern;
        bool same = fold ? tolower((unsigned char)wanted) == tolower((unsigned char)*text)
                         : wanted == *text;
        if (*pattern == '%' && !escaped) {
            star = pattern++;
            retry = text;
        } else if (*pattern && (same || (*pattern == '_' && !escaped))) {
            pattern += 1 + escaped;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '%')
        pattern++;
    return !*pattern;
}

static void run_like(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]), *pattern = text_of(values[1]);
    (void)count;
    if (text && pattern)
        sqlite3_result_int(context,
                           brume_pg_is_like(text, pattern, sqlite3_value_int(values[2]) != 0));
}

/* LIKE pattern ESCAPE e: the pattern with a backslash in the place of e. */
static void run_like_escape(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *pattern = text_of(values[0]), *escape = text_of(values[1]);
    char *made = pattern && escape ? malloc(2 * strlen(pattern) + 1) : NULL, *to = made;
    (void)count;
    for (; made && *pattern; pattern++) {
        if (*escape && *pattern == *escape && pattern[1]) {
            *to++ = '\\';
            *to++ = *++pattern;
        } else {
            if (*pattern == '\\')
                *to++ = '\\';
            *to++ = *pattern;
        }
    }
    if (made)
        *to = 0;
    if (made)
        sqlite3_result_text(context, made, -1, free);
}

/* A regular expression. Counted repetitions and references back, by which a short pattern can take
 * any amount of memory or time, are refused. */
static void run_matches(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]), *pattern = text_of(values[1]);
    regex_t compiled;
    (void)count;
    if (!text || !pattern)
        return;
    bool safe = strlen(pattern) <= MOST_PATTERN;
    for (const char *at = pattern; safe && *at; at++) {
        safe = *at != '{' && !(*at == '\\' && isdigit((unsigned char)at[1]));
        at += *at == '\\' && at[1];
    }
    if (!safe ||
        regcomp(&compiled, pattern,
                REG_EXTENDED | REG_NOSUB | (sqlite3_value_int(values[2]) ? REG_ICASE : 0))) {
        sqlite3_result_error(context, "this regular expression is not supported", -1);
        return;
    }
    sqlite3_result_int(context, regexec(&compiled, text, 0, NULL, 0) == 0);
    regfree(&compiled);
}

/* ---- texts ---- */

static void run_split_part(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]), *between = text_of(values[1]);
    int wanted = sqlite3_value_int(values[2]);
    (void)count;
    if (!text || !between || !*between)
        return;
    for (int at = 1;; at++) {
        const char *end = strstr(text, between);
        if (at == wanted) {
            sqlite3_result_text(context, text, end ? (int)(end - text) : -1, SQLITE_TRANSIENT);
            return;
        }
        if (!end) {
            give(context, "");
            return;
        }
        text = end + strlen(between);
    }
}

static void run_concat(sqlite3_context *context, int count, sqlite3_value **values)
{
    sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));
    for (int i = 0; i < count; i++)
        if (text_of(values[i]))
            sqlite3_str_appendall(text, text_of(values[i]));
    char *made = sqlite3_str_finish(text);
    if (made)
        sqlite3_result_text(context, made, -1, sqlite3_free);
    else
        give(context, "");
}

/* format('%I.%I', a, b): %s, %I and %L in order. */
static void run_format(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *form = count > 0 ? text_of(values[0]) : NULL;
    sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));
    int next = 1;
    for (; form && *form; form++) {
        if (*form != '%' || !form[1]) {
            sqlite3_str_appendchar(text, 1, *form);
            continue;
        }
        form++;
        const char *value = *form != '%' && next < count ? text_of(values[next++]) : NULL;
        if (*form == '%')
            sqlite3_str_appendchar(text, 1, '%');
        else
            sqlite3_str_appendf(text, *form == 'L' ? "%Q" : "%s", value ? value : "");
    }
    char *made = sqlite3_str_finish(text);
    sqlite3_result_text(context, made ? made : "", -1, made ? sqlite3_free : SQLITE_STATIC);
}

static void run_first(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (count > 0)
        sqlite3_result_value(context, values[0]);
}

static void run_second(sqlite3_context *context, int count, sqlite3_value **values)
{
    if (count > 1)
        sqlite3_result_value(context, values[1]);
}

static void run_left(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]);
    int length = sqlite3_value_int(values[1]);
    (void)count;
    if (text)
        sqlite3_result_text(context, text,
                            length < 0                      ? 0
                            : (size_t)length < strlen(text) ? length
                                                            : -1,
                            SQLITE_TRANSIENT);
}

static void run_position(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]), *sought = text_of(values[1]);
    (void)count;
    if (!text || !sought)
        return;
    const char *found = strstr(text, sought);
    sqlite3_result_int64(context, found ? found - text + 1 : 0);
}

static void run_starts_with(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]), *start = text_of(values[1]);
    (void)count;
    if (text && start)
        sqlite3_result_int(context, strncmp(text, start, strlen(start)) == 0);
}

brume_status brume_pg_add_text_functions(sqlite3 *database, brume_error *error)
{
    static const brume_pg_sqlite_function list[] = {
        {"brume_like", 3, run_like},
        {"like_escape", 2, run_like_escape},
        {"brume_matches", 3, run_matches},
        {"split_part", 3, run_split_part},
        {"brume_concat", -1, run_concat},
        {"brume_format", -1, run_format},
        {"brume_first", -1, run_first},
        {"brume_second", -1, run_second},
        {"brume_left", 2, run_left},
        {"brume_position", 2, run_position},
        {"brume_starts_with", 2, run_starts_with},
    };
    return brume_pg_add_list(database, list, sizeof list / sizeof *list, NULL, error);
}
