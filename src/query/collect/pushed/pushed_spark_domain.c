/* Push-down to Spark: what can be pushed, and the condition on rows that their group is a declared
 * or a given one. */
#include "query/collect/pushed/pushed_spark.h"
#include "query/print/statement.h"

enum { DOMAIN_MOST = 10000 }; /* declared values that a statement names */

const char *brume_push_spark_obstacle(const brume_collection *collection)
{
    return brume_push_shared_obstacle(
        collection, DOMAIN_MOST,
        "the groups have more than 10000 declared values, and Spark is asked for no more");
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
void brume_push_spark_integer(FILE *out, int64_t value)
{
    if (value == INT64_MIN)
        fputs("CAST('-9223372036854775808' AS BIGINT)", out);
    else
        fprintf(out, value < 0 ? "(%lldL)" : "%lldL", (long long)value);
}

static void put_value(FILE *out, const brume_key_value *value)
{
    if (value->wire == BRUME_WIRE_INTEGER)
        brume_push_spark_integer(out, value->integer);
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

void brume_push_spark_domain(FILE *out, const brume_collection *collection)
{
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
    brume_push_put_sets(out, collection, put_among);
}
