/* Push-down to Spark: what can be pushed, and the condition on rows that their group is a declared
 * or a given one. */
#include "query/collect/pushed_spark.h"
#include "query/print/statement.h"

enum {
    DOMAIN_MOST = 10000, /* declared values that a statement names */
    VALUES_MOST = 100
};

const char *brume_push_spark_obstacle(const brume_collection *collection)
{
    size_t declared = 0;
    for (size_t i = 0; i < collection->value_count; i++)
        if (collection->values[i].keep)
            return "quantiles and modes are drawn from the values themselves";
    if (!collection->totals && !collection->bounded)
        return NULL;
    if (!collection->totals && collection->value_count > 0)
        return "rows of each unit are kept by a keyed hash";
    if (collection->value_count > VALUES_MOST)
        return "more than 100 expressions are measured";
    for (size_t i = 0; collection->cells > 0 && i < collection->query->key_count; i++)
        declared += collection->domain_size[i];
    return declared > DOMAIN_MOST ? "the groups have more than 10000 declared values, and Spark is "
                                    "asked for no more"
                                  : NULL;
}

/* ---- which rows ---- */

/* A backslash means something in Spark's texts; a zero byte would end the statement. */
static void put_text(FILE *out, brume_text text)
{
    fputc('\'', out);
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '\'' || c == '\\')
            fputc('\\', out);
        if (c)
            fputc(c, out);
        else
            fputs("\\u0000", out);
    }
    fputc('\'', out);
}

/* There are many of them in a statement, and a cast of each would take Spark a while to plan. */
void brume_push_spark_put_big(FILE *out, int64_t value)
{
    if (value == INT64_MIN)
        fputs("CAST('-9223372036854775808' AS BIGINT)", out);
    else
        fprintf(out, value < 0 ? "(%lldL)" : "%lldL", (long long)value);
}

static void put_value(FILE *out, const brume_key_value *value)
{
    if (value->wire == BRUME_WIRE_INTEGER)
        brume_push_spark_put_big(out, value->integer);
    else if (value->wire == BRUME_WIRE_REAL)
        fprintf(out, "CAST('%.17g' AS DOUBLE)", value->real);
    else
        put_text(out, value->text);
}

/* Is key k one of these `count` values? */
static void put_among(FILE *out, size_t k, const brume_key_value *values, size_t count)
{
    bool null = false, any = false;
    fputc('(', out);
    for (size_t i = 0; i < count; i++) {
        null = null || values[i].null;
        if (values[i].null)
            continue;
        if (any)
            fputs(", ", out);
        else
            fprintf(out, "\"r%zu\" IN (", 1 + k);
        any = true;
        put_value(out, &values[i]);
    }
    if (any)
        fputc(')', out);
    if (null)
        fprintf(out, "%s\"r%zu\" IS NULL", any ? " OR " : "", 1 + k);
    fputs(any || null ? ")" : "false)", out);
}

/* The rows of one grouping set, or of all where there is one: see in_a_set of collect_groups.c. */
static void put_set(FILE *out, const brume_collection *collection, size_t set, bool several)
{
    size_t keys = collection->query->key_count, first = 0;
    for (size_t k = 0; k < keys; k++) {
        size_t count = collection->domain_size[k], from = first;
        first += count;
        if (several && k + 1 == keys) {
            from += set; /* its values are 0, 1, 2, ... */
            count = 1;
        } else if (several && brume_key_is_optional(collection->query, k)) {
            bool has = (collection->query->keys[k].sets >> set & 1) != 0;
            from += has ? 0 : count - 1; /* the last one stands for "not in this set" */
            count = has ? count - 1 : 1;
        }
        fputs(k ? " AND " : "", out);
        put_among(out, k, &collection->domain[from], count);
    }
}

/* ---- given groups ---- */

/* Texts as their bytes: they come from rows, and may have anything in them. */
static void put_given(FILE *out, const brume_key_value *value)
{
    if (value->null) {
        fputs("NULL", out);
    } else if (value->wire == BRUME_WIRE_TEXT) {
        fputs("X'", out);
        for (size_t i = 0; i < value->text.length; i++)
            fprintf(out, "%02x", (unsigned)(unsigned char)value->text.data[i]);
        fputc('\'', out);
    } else {
        put_value(out, value);
    }
}

static const char *type_of(brume_wire wire)
{
    return wire == BRUME_WIRE_INTEGER ? "BIGINT" : wire == BRUME_WIRE_REAL ? "DOUBLE" : "STRING";
}

/* Rows whose first keys are those of a given group. Spark looks a row up among many by hashing, and
 * also where a key is NULL. */
static void put_only(FILE *out, const brume_collection *collection)
{
    const brume_collection_only *only = collection->only;
    fputs(" LEFT SEMI JOIN (SELECT ", out);
    for (size_t k = 0; k < only->key_count; k++)
        fprintf(out, "%sCAST(\"d%zu\" AS %s) AS \"d%zu\"", k ? ", " : "", 1 + k,
                type_of(brume_type_wire(collection->query->keys[k].expression->type)), 1 + k);
    fputs(" FROM VALUES ", out);
    for (size_t i = 0; i < only->count; i++) {
        for (size_t k = 0; k < only->key_count; k++) {
            fputs(k ? ", " : i ? ", (" : "(", out);
            put_given(out, &only->groups[i]->keys[k]);
        }
        fputc(')', out);
    }
    fputs(" AS \"d\"(", out);
    for (size_t k = 0; k < only->key_count; k++)
        fprintf(out, "%s\"d%zu\"", k ? ", " : "", 1 + k);
    fputs(")) AS \"d\" ON ", out);
    for (size_t k = 0; k < only->key_count; k++)
        fprintf(out, "%s\"r%zu\" <=> \"d%zu\"", k ? " AND " : "", 1 + k, 1 + k);
}

void brume_push_spark_put_domain(FILE *out, const brume_collection *collection)
{
    size_t sets = collection->query->set_count;
    const brume_collection_only *only = collection->only;
    if (only && only->key_count > 0 && only->count == 0) {
        fputs(" WHERE false", out);
        return;
    }
    if (only && only->key_count > 0)
        put_only(out, collection);
    if (collection->query->key_count == 0 || collection->cells == 0)
        return;
    fputs(" WHERE ", out);
    for (size_t s = 0; s < (sets > 1 ? sets : 1); s++) {
        fputs(s ? " OR (" : "(", out);
        put_set(out, collection, s, sets > 1);
        fputc(')', out);
    }
}
