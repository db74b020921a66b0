/* What an amendment changes: see the header. */
#include "command/owner/changes.h"

#include <stdlib.h>
#include <string.h>

#include <brume/decimal.h>

#include "command/frame/wrap.h"
#include "command/owner/typed_budget.h"
#include "ledger/ledger.h"

/* The JSON of a value as an owner types it; the caller frees it. NULL: none, or no memory. */
static char *typed_text(const json_t *value)
{
    char *text = NULL;
    size_t length = 0;
    if (!value || json_is_null(value) || json_is_false(value))
        return NULL;
    if (json_is_string(value))
        return strdup(json_string_value(value));
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    if (json_is_array(value))
        for (size_t i = 0; i < json_array_size(value); i++)
            fprintf(out, "%s%s", i ? "," : "", json_string_value(json_array_get(value, i)));
    else if (json_is_object(value))
        fprintf(out, "%s = %s.%s", json_string_value(json_object_get(value, "column")),
                json_string_value(json_object_get(value, "table")),
                json_string_value(json_object_get(value, "parent_column")));
    else if (json_is_number(value))
        fputs(brume_shortest(json_number_value(value)).text, out);
    else
        fputs("true", out);
    fclose(out);
    return text;
}

/* Once: what holds for all tables of a dataset is kept with each. */
static bool add_texts(json_t *list, const char *what, const char *before, const char *after)
{
    bool same = before && after ? strcmp(before, after) == 0 : before == after;
    if (same)
        return true;
    json_t *one = json_pack("{s:s,s:s?,s:s?}", "what", what, "before", before, "after", after);
    for (size_t i = 0; one && i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), one)) {
            json_decref(one);
            return true;
        }
    return json_array_append_new(list, one) == 0;
}

static bool add_values(json_t *list, const char *what, const json_t *before, const json_t *after)
{
    if (before == after || (before && after && json_equal(before, after)))
        return true;
    char *was = typed_text(before), *is = typed_text(after);
    bool good = add_texts(list, what, was, is);
    free(was);
    free(is);
    return good;
}

/* "0..110", or NULL. */
static const char *bounds_text(const json_t *column, char *text, size_t size)
{
    const char *low = json_string_value(json_object_get(column, "low"));
    const char *high = json_string_value(json_object_get(column, "high"));
    if (!low || !high)
        return NULL;
    snprintf(text, size, "%s..%s", low, high);
    return text;
}

static const json_t *named(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *own = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (own && strcmp(own, name) == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

static bool add_column(json_t *list, const char *table, const char *name, const json_t *before,
                       const json_t *after)
{
    static const char *const members[][2] = {
        {"type", "type"}, {"domain", "domain"}, {"identifier", "identifier"}};
    char what[300], low[200], high[200];
    bool good = true;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        snprintf(what, sizeof what, "%s%s of %.120s", table, members[i][1], name);
        good = good && add_values(list, what, json_object_get(before, members[i][0]),
                                  json_object_get(after, members[i][0]));
    }
    snprintf(what, sizeof what, "%sbounds of %.120s", table, name);
    return good && add_texts(list, what, bounds_text(before, low, sizeof low),
                             bounds_text(after, high, sizeof high));
}

enum { OF_TABLE = 4 }; /* of the members below: the others are the dataset's */

/* `table`: "" or "visits: ", before each thing. */
static bool add_table(json_t *list, const char *table, const json_t *before, const json_t *after)
{
    static const char *const members[][2] = {
        {"unit", "unit"},
        {"link", "link"},
        {"options", "lines"},
        {"table_rows", "max rows of the table"},
        {"unit_name", "unit name"},
        {"max_groups", "max groups"},
        {"max_rows", "max rows"},
        {"limits", "limits"},
        {"timeout", "timeout"},
        {"limits_per_user", "limits per user"},
        {"rows_stay", "rows stay"},
        {"rows_about", "rows about"},
        {"bias_share", "estimate bias"},
    };
    const json_t *old = json_object_get(before, "columns"),
                 *new = json_object_get(after, "columns");
    bool good = true;
    for (size_t i = 0; good && i < sizeof members / sizeof *members; i++) {
        char what[160];
        snprintf(what, sizeof what, "%s%s", i < OF_TABLE ? table : "", members[i][1]);
        good = add_values(list, what, json_object_get(before, members[i][0]),
                          json_object_get(after, members[i][0]));
    }
    for (size_t i = 0; good && i < json_array_size(old); i++) {
        const json_t *column = json_array_get(old, i);
        const char *name = json_string_value(json_object_get(column, "name"));
        good = add_column(list, table, name, column, named(new, name));
    }
    for (size_t i = 0; good && i < json_array_size(new); i++) {
        const json_t *column = json_array_get(new, i);
        const char *name = json_string_value(json_object_get(column, "name"));
        if (!named(old, name))
            good = add_column(list, table, name, NULL, column);
    }
    return good;
}

static bool add_policy(json_t *list, const json_t *before, const json_t *after)
{
    const json_t *old = json_object_get(before, "tables"), *new = json_object_get(after, "tables");
    if (!old || !new)
        return add_table(list, "", before, after);
    bool good = true;
    for (size_t i = 0; good && i < json_array_size(old); i++) {
        char table[90];
        const char *name = json_string_value(json_object_get(json_array_get(old, i), "name"));
        snprintf(table, sizeof table, "%.80s: ", name);
        good = add_table(list, table, json_array_get(old, i), named(new, name));
    }
    return good;
}

enum { BUDGET_TEXT = 2 * BRUME_DECIMAL_TEXT + 32 };

/* "epsilon=4,delta=0.000001", however it was typed. */
static void write_budget(const brume_decimal *epsilon, const brume_decimal *delta,
                         char text[BUDGET_TEXT])
{
    char first[BRUME_DECIMAL_TEXT], second[BRUME_DECIMAL_TEXT];
    brume_decimal_print(epsilon, first, sizeof first);
    brume_decimal_print(delta, second, sizeof second);
    bool pure = brume_decimal_nearest(delta) == 0;
    snprintf(text, BUDGET_TEXT, "epsilon=%s%s%s", first, pure ? "" : ",delta=", pure ? "" : second);
}

static bool add_budget(json_t *list, const brume_dataset *dataset, const char *typed)
{
    brume_typed_budget budget = {0};
    brume_decimal epsilon, delta = {0};
    char before[BUDGET_TEXT], after[BUDGET_TEXT];
    bool good = brume_typed_budget_read(typed, "budget", &budget, NULL) == BRUME_OK &&
                brume_decimal_parse(budget.epsilon, &epsilon, NULL) == BRUME_OK &&
                brume_decimal_parse(budget.delta ? budget.delta : "0", &delta, NULL) == BRUME_OK;
    free(budget.text);
    if (!good)
        return false;
    write_budget(&dataset->filter.epsilon, &dataset->filter.delta, before);
    write_budget(&epsilon, &delta, after);
    return add_texts(list, "budget", before, after);
}

static bool add_terms(json_t *list, const brume_dataset *dataset, const brume_call *said)
{
    char text[120];
    const char *cap = brume_call_text(said, "cap"), *budget = brume_call_text(said, "budget");
    const char *version = brume_call_text(said, "data-version");
    if (budget && !add_budget(list, dataset, budget))
        return false;
    snprintf(text, sizeof text, "epsilon=%.100s", dataset->cap ? dataset->cap : "");
    if (cap &&
        !add_texts(list, "cap", dataset->cap ? text : NULL, strcmp(cap, "none") == 0 ? NULL : cap))
        return false;
    return !version ||
           add_texts(list, "data version", *dataset->data_version ? dataset->data_version : NULL,
                     *version ? version : NULL);
}

json_t *brume_changes_of(const brume_dataset *dataset, const json_t *policy, const brume_call *said)
{
    json_t *list = json_array();
    if (list && (!policy || add_policy(list, dataset->policy, policy)) &&
        add_terms(list, dataset, said))
        return list;
    json_decref(list);
    return NULL;
}

void brume_changes_write(FILE *out, const json_t *changes)
{
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *one = json_array_get(changes, i);
        const char *before = json_string_value(json_object_get(one, "before"));
        const char *after = json_string_value(json_object_get(one, "after"));
        char *text = NULL;
        if (asprintf(&text, "%s: %s, was %s", json_string_value(json_object_get(one, "what")),
                     after ? after : "none", before ? before : "none") < 0)
            return;
        fputs("  ", out);
        brume_write_wrapped(out, text, 2, 4);
        free(text);
    }
    if (json_array_size(changes) == 0)
        fputs("  nothing is otherwise than it was\n", out);
}
