/* Push-down: what can be pushed, and the condition on rows that their group is a declared one. */
#include "query/collect/pushed.h"

enum {
    DOMAIN_MOST = 10000, /* declared values that a statement names */
    VALUES_MOST = 100    /* so that all columns together are fewer than PostgreSQL takes */
};

/* ---- what can be pushed ---- */

const char *brume_push_obstacle(const brume_collection *collection, brume_dialect dialect)
{
    size_t declared = 0;
    if (dialect != BRUME_DIALECT_POSTGRESQL)
        return "files are read by brume itself";
    for (size_t i = 0; i < collection->value_count; i++)
        if (collection->values[i].keep)
            return "quantiles and modes are drawn from the values themselves";
    if (!collection->totals)
        return collection->bounded ? "fixed limits keep rows of each unit by a keyed hash" : NULL;
    if (collection->cells == 0 || collection->all_groups)
        return "the groups are private, and each unit keeps one by a keyed hash";
    if (collection->value_count > VALUES_MOST)
        return "more than 100 expressions are measured";
    for (size_t i = 0; i < collection->query->key_count; i++)
        declared += collection->domain_size[i];
    return declared > DOMAIN_MOST ? "the groups have more than 10000 declared values" : NULL;
}

/* ---- which rows ---- */

typedef struct domain_text {
    FILE *out;
    const brume_collection *collection;
    size_t keys;
} domain_text;

static void put_text(FILE *out, brume_text text)
{
    fputc('\'', out);
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '\'')
            fputc('\'', out);
        fputc(text.data[i], out);
    }
    fputs("'::text", out);
}

static bool can_be_text(brume_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == 0)
            return false;
    return true;
}

/* Is key k one of these `count` values? */
static void put_among(const domain_text *to, size_t k, const brume_key_value *values, size_t count)
{
    bool null = false, any = false;
    fputc('(', to->out);
    for (size_t i = 0; i < count; i++) {
        const brume_key_value *value = &values[i];
        null = null || value->null;
        if (value->null || (value->wire == BRUME_WIRE_TEXT && !can_be_text(value->text)))
            continue; /* no text of PostgreSQL has a zero byte */
        if (any)
            fputs(", ", to->out);
        else
            fprintf(to->out, "\"r%zu\" IN (", 1 + k);
        any = true;
        if (value->wire == BRUME_WIRE_INTEGER)
            fprintf(to->out, "'%lld'::int8", (long long)value->integer);
        else if (value->wire == BRUME_WIRE_REAL)
            fprintf(to->out, "'%.17g'::float8", value->real);
        else
            put_text(to->out, value->text);
    }
    if (any)
        fputc(')', to->out);
    if (null)
        fprintf(to->out, "%s\"r%zu\" IS NULL", any ? " OR " : "", 1 + k);
    fputs(any || null ? ")" : "false)", to->out);
}

/* The rows of one grouping set, or of all where there is one: see in_a_set of key_cells.c. */
static void put_set(const domain_text *to, size_t set, bool several)
{
    const brume_collection *collection = to->collection;
    size_t first = 0;
    for (size_t k = 0; k < to->keys; k++) {
        size_t count = collection->domain_size[k], from = first;
        first += count;
        if (several && k + 1 == to->keys) {
            from += set; /* its values are 0, 1, 2, ... */
            count = 1;
        } else if (several && brume_key_is_optional(collection->query, k)) {
            bool has = (collection->query->keys[k].sets >> set & 1) != 0;
            from += has ? 0 : count - 1; /* the last one stands for "not in this set" */
            count = has ? count - 1 : 1;
        }
        fputs(k ? " AND " : "", to->out);
        put_among(to, k, &collection->domain[from], count);
    }
}

/* WHERE: rows of groups that are declared. */
void brume_push_put_domain(FILE *out, const brume_collection *collection)
{
    const domain_text all = {out, collection, collection->query->key_count}, *to = &all;
    size_t sets = collection->query->set_count;
    if (to->keys == 0)
        return;
    fputs(" WHERE ", to->out);
    for (size_t s = 0; s < (sets > 1 ? sets : 1); s++) {
        fputs(s ? " OR (" : "(", to->out);
        put_set(to, s, sets > 1);
        fputc(')', to->out);
    }
}
