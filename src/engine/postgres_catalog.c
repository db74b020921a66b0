/* What PostgreSQL's catalog says of a table: its columns with their types. */
#include "engine/postgres.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void type_of_native(const char *schema, const char *name, const char *kind, int modifier,
                           brume_type *type, brume_leaf *leaf)
{
    static const struct {
        const char *name;
        brume_type_kind kind;
        brume_leaf leaf;
    } known[] = {
        {"bool", BRUME_TYPE_BOOLEAN, BRUME_LEAF_PLAIN},
        {"int2", BRUME_TYPE_INTEGER, BRUME_LEAF_CAST},
        {"int4", BRUME_TYPE_INTEGER, BRUME_LEAF_PLAIN},
        {"int8", BRUME_TYPE_BIGINT, BRUME_LEAF_PLAIN},
        {"float4", BRUME_TYPE_DOUBLE, BRUME_LEAF_FINITE},
        {"float8", BRUME_TYPE_DOUBLE, BRUME_LEAF_FINITE},
        {"text", BRUME_TYPE_TEXT, BRUME_LEAF_PLAIN},
        {"varchar", BRUME_TYPE_TEXT, BRUME_LEAF_CAST},
        {"bpchar", BRUME_TYPE_TEXT, BRUME_LEAF_CAST},
        {"uuid", BRUME_TYPE_TEXT, BRUME_LEAF_CAST},
        {"date", BRUME_TYPE_DATE, BRUME_LEAF_CALENDAR},
        {"timestamp", BRUME_TYPE_TIMESTAMP, BRUME_LEAF_CALENDAR},
        {"timestamptz", BRUME_TYPE_TIMESTAMP, BRUME_LEAF_ZONED},
    };
    *type = (brume_type){BRUME_TYPE_REFUSED, 0, 0};
    *leaf = BRUME_LEAF_PLAIN;
    if (*kind == 'e' || (*kind == 'b' && strcmp(name, "citext") == 0)) {
        type->kind = BRUME_TYPE_TEXT;
        *leaf = BRUME_LEAF_CAST;
    }
    if (strcmp(schema, "pg_catalog") != 0)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            type->kind = known[i].kind;
            *leaf = known[i].leaf;
        }
    if (strcmp(name, "numeric") != 0)
        return;
    /* The modifier packs precision and an 11-bit signed scale; without one any scale goes. */
    int precision = modifier < 4 ? 0 : ((modifier - 4) >> 16) & 0xffff;
    int scale = modifier < 4 ? 0 : (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
    if (precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision) {
        *type = (brume_type){BRUME_TYPE_DECIMAL, precision, scale};
        *leaf = BRUME_LEAF_NUMERIC;
    } else {
        type->kind = BRUME_TYPE_DOUBLE;
        *leaf = BRUME_LEAF_FREE_NUMERIC;
    }
}

const char *brume_leaf_blurs_units(brume_leaf leaf, const char *native)
{
    if (leaf == BRUME_LEAF_FREE_NUMERIC)
        return "numbers of any scale are read to 15 digits: two units may be taken for one";
    if (leaf == BRUME_LEAF_CUT)
        return "times are read to the microsecond and numbers to 38 digits at most: two units may be "
               "taken for one";
    size_t length = native ? strlen(native) : 0;
    bool folds = length >= 6 && strcmp(native + length - 6, "citext") == 0;
    return folds || (native && strstr(native, " collate "))
               ? "its server takes texts for equal that differ, and brume compares bytes: one unit "
                 "may be taken for two"
               : NULL;
}

brume_status brume_postgres_columns(brume_engine *engine, size_t index,
                                    brume_description *description, brume_error *error)
{
    brume_postgres *state = engine->state;
    if (!state->sources[index].oid)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "what is read here is no table");
    const char *const parameters[] = {state->sources[index].oid};
    PGresult *result = PQexecParams(
        state->connection,
        /* a collation is named where it takes texts for equal whose bytes are not */
        "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) || "
        "coalesce(' collate ' || pg_catalog.quote_ident(c.collname), ''), n.nspname, t.typname, "
        "t.typtype, a.atttypmod, a.attnotnull FROM pg_catalog.pg_attribute a JOIN "
        "pg_catalog.pg_type t ON t.oid = a.atttypid JOIN pg_catalog.pg_namespace n ON n.oid = "
        "t.typnamespace LEFT JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation AND NOT "
        "c.collisdeterministic WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped "
        "ORDER BY a.attnum",
        1, NULL, parameters, NULL, NULL, 0);
    brume_status status = BRUME_OK;
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        status = brume_postgres_failed(state, error);
    for (int i = 0; status == BRUME_OK && i < PQntuples(result); i++) {
        brume_type type;
        brume_leaf leaf;
        type_of_native(PQgetvalue(result, i, 2), PQgetvalue(result, i, 3), PQgetvalue(result, i, 4),
                       (int)strtol(PQgetvalue(result, i, 5), NULL, 10), &type, &leaf);
        status = brume_engine_add_column(description, PQgetvalue(result, i, 0),
                                         PQgetvalue(result, i, 1), type, leaf,
                                         *PQgetvalue(result, i, 6) == 't', error);
    }
    PQclear(result);
    BRUME_TRY(status);
    description->identity = strdup(state->sources[index].identity);
    description->options = strdup("");
    return description->identity && description->options ? BRUME_OK : brume_no_memory(error, NULL);
}

brume_status brume_postgres_describe(brume_engine *engine, size_t index,
                                     brume_description *description, brume_error *error)
{
    BRUME_TRY(brume_postgres_columns(engine, index, description, error));
    return brume_postgres_look_through(engine, index, description, error);
}

/* Under a deterministic collation texts are equal if and only if their bytes are. */
bool brume_postgres_is_bytewise(brume_engine *engine, size_t index, const char *column)
{
    brume_postgres *state = engine->state;
    const char *const parameters[] = {state->sources[index].oid, column};
    int rows = 0;
    if (!parameters[0])
        return false;
    char *cell = brume_postgres_cell(
        state,
        "SELECT 'yes' FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = "
        "a.atttypid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace JOIN "
        "pg_catalog.pg_collation c ON c.oid = a.attcollation WHERE a.attrelid = $1::oid AND "
        "a.attname = $2::name AND NOT a.attisdropped AND n.nspname = 'pg_catalog' AND t.typname IN "
        "('text', 'varchar') AND c.collisdeterministic",
        parameters, 2, &rows);
    free(cell);
    return rows == 1;
}
