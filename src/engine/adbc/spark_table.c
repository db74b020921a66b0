/* What Spark's catalog says of a table: its columns with their types, and where it is stored.
 *
 * Of tables of Spark's own catalog it is asked for JSON. Tables of other catalogs, as Delta's and
 * Iceberg's are, are described in lines only (spark_lines.c). Views are refused: what they read is
 * not in the catalog's answer. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "engine/adbc/spark.h"

/* ---- names ---- */

/* One part of a name in backticks, inner ones doubled. */
static char *put_part(char *end, const char *part, size_t length)
{
    *end++ = '`';
    for (size_t i = 0; i < length; i++) {
        if (part[i] == '`')
            *end++ = '`';
        *end++ = part[i];
    }
    *end++ = '`';
    return end;
}

/* CATALOG.DATABASE.TABLE, every part quoted. */
static char *quote_table(const char *name)
{
    char *quoted = malloc(4 * strlen(name) + 3), *end = quoted;
    if (!quoted)
        return NULL;
    for (bool first = true; first || *name; first = false) {
        size_t length = strcspn(name, ".");
        if (!first)
            *end++ = '.';
        end = put_part(end, name, length);
        name += length + (name[length] == '.');
    }
    *end = 0;
    return quoted;
}

static const char *text_of(const json_t *description, const char *key)
{
    const char *text = json_string_value(json_object_get(description, key));
    return text ? text : "";
}

char *brume_spark_name(const json_t *description)
{
    if (*text_of(description, "name"))
        return strdup(text_of(description, "name"));
    const json_t *parts = json_object_get(description, "namespace");
    char *name = strdup(text_of(description, "catalog_name"));
    for (size_t i = 0; name && i <= json_array_size(parts); i++) {
        const char *part = i < json_array_size(parts) ? json_string_value(json_array_get(parts, i))
                                                      : text_of(description, "table_name");
        char *longer = brume_engine_format("%s.%s", name, part ? part : "");
        free(name);
        name = longer;
    }
    return name;
}

/* ---- columns ---- */

/* Years outside 0001..9999 are NULL, as everywhere; a timestamp with a zone is read in UTC. */
static const struct {
    const char *name;
    brume_type_kind kind;
    brume_leaf leaf;
} known[] = {
    {"boolean", BRUME_TYPE_BOOLEAN, BRUME_LEAF_PLAIN},
    {"tinyint", BRUME_TYPE_INTEGER, BRUME_LEAF_CAST},
    {"smallint", BRUME_TYPE_INTEGER, BRUME_LEAF_CAST},
    {"int", BRUME_TYPE_INTEGER, BRUME_LEAF_PLAIN},
    {"bigint", BRUME_TYPE_BIGINT, BRUME_LEAF_PLAIN},
    {"float", BRUME_TYPE_DOUBLE, BRUME_LEAF_FINITE},
    {"double", BRUME_TYPE_DOUBLE, BRUME_LEAF_FINITE},
    {"string", BRUME_TYPE_TEXT, BRUME_LEAF_PLAIN},
    {"varchar", BRUME_TYPE_TEXT, BRUME_LEAF_CAST},
    {"date", BRUME_TYPE_DATE, BRUME_LEAF_CALENDAR},
    {"timestamp_ntz", BRUME_TYPE_TIMESTAMP, BRUME_LEAF_CALENDAR},
    {"timestamp_ltz", BRUME_TYPE_TIMESTAMP, BRUME_LEAF_ZONED},
};

static brume_status add_column(const json_t *column, brume_description *description,
                               brume_error *error)
{
    const json_t *stored = json_object_get(column, "type");
    const char *name = text_of(stored, "name"), *collation = text_of(stored, "collation");
    brume_type type = {BRUME_TYPE_REFUSED, 0, 0};
    brume_leaf leaf = BRUME_LEAF_PLAIN;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            type.kind = known[i].kind;
            leaf = known[i].leaf;
        }
    int precision = (int)json_integer_value(json_object_get(stored, "precision"));
    int scale = (int)json_integer_value(json_object_get(stored, "scale"));
    bool decimal = strcmp(name, "decimal") == 0, bytewise = strcmp(collation, "UTF8_BINARY") == 0;
    if (decimal && precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision)
        type = (brume_type){BRUME_TYPE_DECIMAL, precision, scale};
    if (*collation && !bytewise)
        type.kind = BRUME_TYPE_REFUSED; /* its texts are not compared by bytes */
    char *native = decimal ? brume_engine_format("decimal(%d,%d)", precision, scale)
                   : *collation && !bytewise ? brume_engine_format("%s collate %s", name, collation)
                                             : strdup(name);
    if (!native)
        return brume_no_memory(error, NULL);
    bool not_null = json_is_false(json_object_get(column, "nullable"));
    brume_status status = brume_engine_add_column(description, text_of(column, "name"), native,
                                                  type, leaf, not_null, error);
    free(native);
    return status;
}

/* A format whose reader can stumble over a row. */
static bool can_fail(const char *provider)
{
    static const char *const safe[] = {"parquet", "orc", "delta", "iceberg"};
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        if (strcasecmp(provider, safe[i]) == 0)
            return false;
    return true;
}

brume_status brume_spark_describe(brume_engine *engine, size_t index,
                                  brume_description *description, brume_error *error)
{
    const brume_spark *state = engine->state;
    const json_t *table = state->descriptions[index];
    const json_t *columns = json_object_get(table, "columns");
    if (!table)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "what is read here is no table");
    for (size_t i = 0; i < json_array_size(columns); i++)
        BRUME_TRY(add_column(json_array_get(columns, i), description, error));
    char *name = brume_spark_name(table);
    description->identity = name ? brume_engine_format("spark:%s/%s", state->server, name) : NULL;
    free(name);
    description->options = strdup("");
    description->can_fail = can_fail(text_of(table, "provider"));
    description->is_opaque = !*text_of(table, "location");
    return description->identity && description->options ? BRUME_OK : brume_no_memory(error, NULL);
}

/* ---- opening ---- */

brume_status brume_spark_open_table(brume_engine *engine, size_t index, const brume_source *source,
                                    brume_error *error)
{
    brume_spark *state = engine->state;
    if (!source->table || !*source->table)
        return brume_fail(error, BRUME_EARGUMENT, "say which with --table CATALOG.DATABASE.NAME",
                          "a Spark source needs a table");
    engine->tables[index] = quote_table(source->table);
    char *sql = engine->tables[index] ? brume_engine_format("DESCRIBE TABLE EXTENDED %s AS JSON",
                                                            engine->tables[index])
                                      : NULL;
    if (!sql)
        return brume_no_memory(error, NULL);
    char *text = brume_adbc_cell(state->adbc, sql);
    free(sql);
    json_t *found = text ? json_loads(text, 0, NULL)
                         : brume_spark_read_lines(state->adbc, engine->tables[index]);
    free(text);
    state->descriptions[index] = found;
    if (!found)
        return brume_fail(error, BRUME_ESOURCE, "name it as CATALOG.DATABASE.NAME",
                          "no table '%s' on the Spark server that this user may read",
                          source->table);
    if (strstr(text_of(found, "type"), "VIEW"))
        return brume_fail(error, BRUME_EUNSUPPORTED, "register the tables that it reads",
                          "'%s' is a view: of Spark only stored tables are read", source->table);
    brume_description now = {0};
    brume_status status = brume_spark_describe(engine, index, &now, error);
    if (status == BRUME_OK)
        status = brume_engine_check_columns(source, &now, error);
    brume_description_clear(&now);
    return status;
}
