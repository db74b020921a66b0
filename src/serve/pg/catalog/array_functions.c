/* Arrays for the database of the catalog. Promises: sqlite.h.
 *
 * An array is a text as PostgreSQL writes it, {a,"b c",NULL}, or a vector, "1 2 3". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/catalog/sqlite.h"

enum { MOST_SERIES = 10000 };

static const char *text_of(sqlite3_value *value)
{
    const unsigned char *text = sqlite3_value_text(value);
    return text ? (const char *)text : NULL;
}

static void give_text(sqlite3_context *context, char *text)
{
    if (text)
        sqlite3_result_text(context, text, -1, free);
    else
        sqlite3_result_null(context);
}

/* ---- arrays ---- */

static bool ends_item(char letter, bool quoted)
{
    return !letter || (!quoted && (letter == ',' || letter == '}' || letter == ' '));
}

/* Bytes up to the end of the item, with its quotes and backslashes. */
static size_t item_length(const char *from)
{
    bool quoted = false;
    size_t length = 0;
    for (; !ends_item(from[length], quoted); length++) {
        quoted = quoted != (from[length] == '"');
        length += from[length] == '\\' && from[length + 1];
    }
    return length;
}

/* The next item of an array, in `item` (from malloc); false at its end. *at is the rest. */
static bool next_item(const char **at, char **item, bool *is_null)
{
    const char *from = *at;
    bool quoted = false, was_quoted = false;
    *item = NULL;
    while (*from == '{' || *from == ',' || *from == ' ')
        from++;
    if (!*from || *from == '}')
        return false;
    char *made = malloc(item_length(from) + 1), *to = made;
    for (; made && !ends_item(*from, quoted); from++) {
        if (*from == '"') {
            quoted = !quoted;
            was_quoted = true;
        } else {
            from += *from == '\\' && from[1];
            *to++ = *from;
        }
    }
    if (!made)
        return false;
    *to = 0;
    *is_null = !was_quoted && strcasecmp(made, "null") == 0;
    *item = made;
    *at = from;
    return true;
}

static bool array_has(const char *array, const char *sought)
{
    bool found = false, is_null;
    char *item;
    while (!found && next_item(&array, &item, &is_null)) {
        found = !is_null && strcmp(item, sought) == 0;
        free(item);
    }
    return found;
}

static void run_array_has(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const char *array = text_of(values[0]), *sought = text_of(values[1]);
    if (array && sought)
        sqlite3_result_int(context, array_has(array, sought));
}

void brume_pg_write_item(FILE *out, const char *item)
{
    bool plain = item && *item && strcasecmp(item, "null") != 0 && !strpbrk(item, "{}\"\\, \t\n");
    if (!item) {
        fputs("NULL", out);
    } else if (plain) {
        fputs(item, out);
    } else {
        fputc('"', out);
        for (; *item; item++) {
            if (*item == '"' || *item == '\\')
                fputc('\\', out);
            fputc(*item, out);
        }
        fputc('"', out);
    }
}

static void run_array(sqlite3_context *context, int count, sqlite3_value **values)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    fputc('{', out);
    for (int i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        brume_pg_write_item(out, text_of(values[i]));
    }
    fputc('}', out);
    fclose(out);
    give_text(context, text);
}

/* array || array, array || item, item || array. */
static void run_array_append(sqlite3_context *context, int count, sqlite3_value **values)
{
    char *text = NULL, *item;
    size_t length;
    bool is_null;
    const char *comma = "";
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    fputc('{', out);
    for (int i = 0; i < count; i++) {
        const char *part = text_of(values[i]);
        if (part && *part != '{') {
            fputs(comma, out);
            brume_pg_write_item(out, part);
            comma = ",";
        }
        while (part && *part && next_item(&part, &item, &is_null)) {
            fputs(comma, out);
            brume_pg_write_item(out, is_null ? NULL : item);
            comma = ",";
            free(item);
            if (*text_of(values[i]) != '{')
                break;
        }
    }
    fputc('}', out);
    fclose(out);
    give_text(context, text);
}

static void run_array_item(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *array = text_of(values[0]);
    int wanted = sqlite3_value_int(values[1]), at = array && *array != '{' ? 0 : 1;
    char *item;
    bool is_null;
    (void)count;
    for (; array && next_item(&array, &item, &is_null); at++) {
        if (at == wanted && !is_null) {
            give_text(context, item);
            return;
        }
        free(item);
    }
}

static void run_array_length(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *array = text_of(values[0]);
    char *item;
    bool is_null;
    int length = 0;
    (void)count;
    while (array && next_item(&array, &item, &is_null)) {
        free(item);
        length++;
    }
    if (length > 0)
        sqlite3_result_int(context, length);
}

static void run_array_position(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *array = text_of(values[0]), *sought = text_of(values[1]);
    char *item;
    bool is_null, found = false;
    (void)count;
    for (int at = 1; array && sought && !found && next_item(&array, &item, &is_null); at++) {
        found = !is_null && strcmp(item, sought) == 0;
        free(item);
        if (found)
            sqlite3_result_int(context, at);
    }
}

static void run_contains(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *array = text_of(values[0]), *others = text_of(values[1]);
    char *item;
    bool is_null, all = true;
    (void)count;
    if (!array || !others)
        return;
    while (next_item(&others, &item, &is_null)) {
        all = all && array_has(array, item);
        free(item);
    }
    sqlite3_result_int(context, all);
}

static void run_overlaps(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *array = text_of(values[0]), *others = text_of(values[1]);
    char *item;
    bool is_null, any = false;
    (void)count;
    if (!array || !others)
        return;
    while (next_item(&others, &item, &is_null)) {
        any = any || array_has(array, item);
        free(item);
    }
    sqlite3_result_int(context, any);
}

static void run_array_to_string(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *array = text_of(values[0]), *between = count > 1 ? text_of(values[1]) : NULL;
    char *text = NULL, *item;
    size_t length;
    bool is_null;
    const char *now = "";
    FILE *out = array && between ? open_memstream(&text, &length) : NULL;
    if (!out)
        return;
    while (next_item(&array, &item, &is_null)) {
        if (!is_null) {
            fprintf(out, "%s%s", now, item);
            now = between;
        }
        free(item);
    }
    fclose(out);
    give_text(context, text);
}

static void run_string_to_array(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *text = text_of(values[0]), *between = text_of(values[1]);
    char *made = NULL;
    size_t length;
    (void)count;
    FILE *out = text && between && *between ? open_memstream(&made, &length) : NULL;
    if (!out)
        return;
    fputc('{', out);
    for (const char *end; *text; text = *end ? end + strlen(between) : end) {
        end = strstr(text, between);
        end = end ? end : text + strlen(text);
        char *part = strndup(text, (size_t)(end - text));
        brume_pg_write_item(out, part);
        free(part);
        fputs(*end ? "," : "", out);
    }
    fputc('}', out);
    fclose(out);
    give_text(context, made);
}

/* ---- JSON, for json_each ---- */

static void write_json(FILE *out, const char *item)
{
    fputc('"', out);
    for (; *item; item++)
        if (*item == '"' || *item == '\\')
            fprintf(out, "\\%c", *item);
        else if ((unsigned char)*item < 0x20)
            fprintf(out, "\\u%04x", (unsigned char)*item);
        else
            fputc(*item, out);
    fputc('"', out);
}

static void run_unnest_json(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *array = count == 1 ? text_of(values[0]) : NULL, *comma = "";
    char *text = NULL, *item;
    size_t length;
    bool is_null;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    fputc('[', out);
    while (array && next_item(&array, &item, &is_null)) {
        fputs(comma, out);
        if (is_null)
            fputs("null", out);
        else if (*item && strspn(item, "0123456789") == strlen(item) && strlen(item) < 18)
            fputs(item[strspn(item, "0")] ? item + strspn(item, "0") : "0", out);
        else
            write_json(out, item);
        comma = ",";
        free(item);
    }
    fputc(']', out);
    fclose(out);
    give_text(context, text);
}

static void give_series(sqlite3_context *context, long long first, long long last)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    fputc('[', out);
    for (long long i = 0; i < MOST_SERIES && first + i <= last; i++)
        fprintf(out, "%s%lld", i ? "," : "", first + i);
    fputc(']', out);
    fclose(out);
    give_text(context, text);
}

static void run_series_json(sqlite3_context *context, int count, sqlite3_value **values)
{
    long long first = sqlite3_value_int(values[0]), last = sqlite3_value_int(values[1]);
    bool given = count == 2 && sqlite3_value_type(values[0]) != SQLITE_NULL &&
                 sqlite3_value_type(values[1]) != SQLITE_NULL;
    give_series(context, first, given ? last : first - 1);
}

static void run_subscripts_json(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *array = text_of(values[0]);
    char *item;
    bool is_null;
    long long length = 0;
    (void)count;
    while (array && next_item(&array, &item, &is_null)) {
        free(item);
        length++;
    }
    give_series(context, 1, length);
}

static void run_array_like(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *array = text_of(values[0]), *text = text_of(values[1]);
    char *item;
    bool is_null, any = false;
    (void)count;
    if (!array || !text)
        return;
    while (next_item(&array, &item, &is_null)) {
        any = any || brume_pg_is_like(text, item, false);
        free(item);
    }
    sqlite3_result_int(context, any);
}

/* ---- adding them ---- */

brume_status brume_pg_add_list(sqlite3 *database, const brume_pg_sqlite_function *list,
                               size_t count, void *context, brume_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (sqlite3_create_function(database, list[i].name, list[i].arguments, SQLITE_UTF8, context,
                                    list[i].run, NULL, NULL) != SQLITE_OK)
            return brume_no_memory(error, "the catalog");
    return BRUME_OK;
}

brume_status brume_pg_add_array_functions(sqlite3 *database, brume_error *error)
{
    static const brume_pg_sqlite_function list[] = {
        {"brume_array_has", 2, run_array_has},
        {"brume_array", -1, run_array},
        {"brume_array_append", 2, run_array_append},
        {"brume_array_item", 2, run_array_item},
        {"brume_array_length", 1, run_array_length},
        {"brume_array_length", 2, run_array_length},
        {"brume_array_position", 2, run_array_position},
        {"brume_array_contains", 2, run_contains},
        {"brume_array_overlaps", 2, run_overlaps},
        {"brume_array_like", 2, run_array_like},
        {"array_to_string", 2, run_array_to_string},
        {"array_to_string", 3, run_array_to_string},
        {"string_to_array", 2, run_string_to_array},
        {"brume_unnest_json", 1, run_unnest_json},
        {"brume_generate_series_json", 2, run_series_json},
        {"brume_generate_subscripts_json", 2, run_subscripts_json},
    };
    BRUME_TRY(brume_pg_add_list(database, list, sizeof list / sizeof *list, NULL, error));
    return brume_pg_add_array_aggregates(database, error);
}
