/* Push-down to PostgreSQL: what can be pushed, and the condition on rows that their group is a
 * declared one. */
#include "query/collect/pushed/pushed_postgresql.h"

#include <string.h>

enum {
    DOMAIN_MOST = 1000000, /* declared values that a statement names */
    LIST_MOST = 100        /* more values of a key are one array: its text is read at once */
};

/* ---- what can be pushed ---- */

const char *brume_push_postgresql_obstacle(const brume_collection *collection)
{
    return brume_push_shared_obstacle(collection, DOMAIN_MOST,
                                      "the groups have more than 1000000 declared values");
}

/* ---- values ---- */

/* `text` between quotes of SQL; inside an array also between its own. */
static void put_text(FILE *out, brume_text text, bool in_array)
{
    if (in_array)
        fputc('"', out);
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '\'')
            fputc('\'', out);
        if (in_array && (text.data[i] == '"' || text.data[i] == '\\'))
            fputc('\\', out);
        fputc(text.data[i], out);
    }
    if (in_array)
        fputc('"', out);
}

/* No text of PostgreSQL has a zero byte. */
static bool can_be_there(const brume_key_value *value)
{
    return value->wire != BRUME_WIRE_TEXT || value->text.length == 0 ||
           !memchr(value->text.data, 0, value->text.length);
}

static const char *type_of(brume_wire wire)
{
    return wire == BRUME_WIRE_INTEGER ? "int8" : wire == BRUME_WIRE_REAL ? "float8" : "text";
}

static void put_plain(FILE *out, const brume_key_value *value, bool in_array)
{
    if (value->wire == BRUME_WIRE_INTEGER)
        fprintf(out, "%lld", (long long)value->integer);
    else if (value->wire == BRUME_WIRE_REAL)
        fprintf(out, "%.17g", value->real);
    else
        put_text(out, value->text, in_array);
}

static void put_typed(FILE *out, const brume_key_value *value)
{
    fputc('\'', out);
    put_plain(out, value, false);
    fprintf(out, "'::%s", type_of(value->wire));
}

/* Values of one key: a list of them, or the only keys of groups. */
typedef struct value_list {
    const brume_key_value *values;
    const brume_bounded_group *const *groups;
    size_t count;
} value_list;

static const brume_key_value *value_at(const value_list *list, size_t i)
{
    return list->groups ? &list->groups[i]->keys[0] : &list->values[i];
}

/* Is key k one of these values? */
static void put_among(FILE *out, size_t k, const value_list *list)
{
    const brume_key_value *some = NULL;
    bool null = false, array = list->count > LIST_MOST;
    fputc('(', out);
    for (size_t i = 0; i < list->count; i++) {
        const brume_key_value *value = value_at(list, i);
        null = null || value->null;
        if (value->null || !can_be_there(value))
            continue;
        if (some)
            fputs(array ? "," : ", ", out);
        else
            fprintf(out, array ? "\"r%zu\" = ANY ('{" : "\"r%zu\" IN (", 1 + k);
        some = value;
        if (array)
            put_plain(out, value, true);
        else
            put_typed(out, value);
    }
    if (some && array)
        fprintf(out, "}'::%s[])", type_of(some->wire));
    else if (some)
        fputc(')', out);
    if (null)
        fprintf(out, "%s\"r%zu\" IS NULL", some ? " OR " : "", 1 + k);
    fputs(some || null ? ")" : "false)", out);
}

static void put_declared(FILE *out, size_t k, const brume_key_value *values, size_t count)
{
    put_among(out, k, &(value_list){.values = values, .count = count});
}

/* ---- given groups ---- */

/* Bit k: key k is NULL. */
static uint64_t nulls_of(const brume_key_value *keys, size_t count)
{
    uint64_t nulls = 0;
    for (size_t k = 0; k < count; k++)
        nulls |= keys[k].null ? UINT64_C(1) << k : 0;
    return nulls;
}

/* The groups whose keys are NULL at these places, and there alone: the other keys are one of... */
static void put_alike(FILE *out, const brume_collection_only *only, uint64_t nulls)
{
    const char *between = "(";
    bool any = false;
    for (size_t k = 0; k < only->key_count; k++)
        if (nulls >> k & 1)
            fprintf(out, "\"r%zu\" IS NULL AND ", 1 + k);
    for (size_t k = 0; k < only->key_count; k++)
        if (!(nulls >> k & 1)) {
            fprintf(out, "%s\"r%zu\"", between, 1 + k);
            between = ", ";
            any = true;
        }
    if (!any) {
        fputs("true", out);
        return;
    }
    fputs(") IN (VALUES ", out);
    for (size_t i = 0, printed = 0; i < only->count; i++) {
        const brume_key_value *keys = only->groups[i]->keys;
        if (nulls_of(keys, only->key_count) != nulls)
            continue;
        between = printed++ ? ", (" : "(";
        for (size_t k = 0; k < only->key_count; k++)
            if (!keys[k].null) {
                fputs(between, out);
                put_typed(out, &keys[k]);
                between = ", ";
            }
        fputc(')', out);
    }
    fputc(')', out);
}

/* PostgreSQL finds a row among many by hashing, but no NULL: they are told apart first. */
static void put_only(FILE *out, const brume_collection_only *only)
{
    if (only->count == 0) {
        fputs("false", out);
        return;
    }
    if (only->key_count == 1) {
        put_among(out, 0, &(value_list){.groups = only->groups, .count = only->count});
        return;
    }
    uint64_t last = 0;
    for (bool first = true, found = true; found; first = false) {
        uint64_t least = 0;
        found = false;
        for (size_t i = 0; i < only->count; i++) {
            uint64_t here = nulls_of(only->groups[i]->keys, only->key_count);
            if ((first || here > last) && (!found || here < least)) {
                least = here;
                found = true;
            }
        }
        if (!found)
            break;
        fputs(first ? "((" : " OR (", out);
        put_alike(out, only, least);
        fputc(')', out);
        last = least;
    }
    fputc(')', out);
}

void brume_push_postgresql_domain(FILE *out, const brume_collection *collection)
{
    const brume_collection_only *only = collection->only;
    bool declared = collection->cells > 0 && collection->query->key_count > 0;
    if (declared) {
        fputs(" WHERE (", out);
        brume_push_put_sets(out, collection, put_declared);
        fputc(')', out);
    }
    if (!only || only->key_count == 0)
        return;
    fputs(declared ? " AND " : " WHERE ", out);
    put_only(out, only);
}
