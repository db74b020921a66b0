/* What a PostgreSQL table or view reads: its marks, whether a row of it can make a query fail, and
 * whether something of it cannot be seen.
 *
 * A view is followed through its rule to the relations that it depends on, and those in turn; a
 * table to its parts. What is behind a function or a foreign table is in no catalog.
 *
 * A view cannot fail because of a row if its rule is made of the nodes below alone: columns,
 * constants, joins, conditions, and comparisons of plain types. Everything else counts as able to:
 * casts, functions, arithmetic, aggregates, subqueries in expressions. The names of nodes are read
 * off the text of the rule; a column whose name looks like one can only add a warning.
 *
 * A view mixes rows if a row of it may depend on other rows than those it is joined of: aggregates,
 * windows, DISTINCT, LIMIT, subqueries in expressions, set operations but UNION ALL. */
#include "engine/postgres.h"

#include <stdlib.h>

#include "base/error.h"

/* $1: the relation. `level` 0 is itself and its parts, 1 what views read. */
#define READS                                                                                      \
    "WITH RECURSIVE reads(oid, level) AS (SELECT $1::pg_catalog.oid, 0 UNION SELECT x.oid, "       \
    "x.level FROM reads, LATERAL (SELECT d.refobjid AS oid, 1 AS level FROM "                      \
    "pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.classid = "                          \
    "'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid AND d.refclassid = "         \
    "'pg_catalog.pg_class'::pg_catalog.regclass WHERE r.ev_class = reads.oid AND r.ev_type = '1' " \
    "AND d.refobjid <> reads.oid UNION ALL SELECT i.inhrelid, reads.level FROM "                   \
    "pg_catalog.pg_inherits i WHERE i.inhparent = reads.oid) x) "

static PGresult *ask(brume_engine *engine, size_t index, const char *sql, brume_status *status,
                     brume_error *error)
{
    brume_postgres *state = engine->state;
    *status = BRUME_OK;
    if (!state->sources[index].oid) {
        *status = brume_fail(error, BRUME_EINTERNAL, NULL, "what is read here is no table");
        return NULL;
    }
    const char *const parameters[] = {state->sources[index].oid};
    PGresult *result = PQexecParams(state->connection, sql, 1, NULL, parameters, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        *status = brume_postgres_failed(state, error);
    return result;
}

#define DATABASE "pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database() "

/* Marks of rows (table, database, level). */
static brume_status add_marks(const brume_postgres *state, const PGresult *result,
                              brume_marks *marks, brume_error *error)
{
    for (int i = 0; i < PQntuples(result); i++) {
        BRUME_TRY(
            brume_marks_add(marks,
                            brume_engine_format("table:%s:%s:%s", state->server,
                                                PQgetvalue(result, i, 1), PQgetvalue(result, i, 0)),
                            error));
        marks->read_count += *PQgetvalue(result, i, 2) != '0';
    }
    return BRUME_OK;
}

/* Tables that something it reads is a part of: a part that came after its table was registered is
 * in no mark of it yet. */
static brume_status mark_wholes(brume_engine *engine, size_t index, brume_marks *marks,
                                brume_error *error)
{
    brume_status status;
    PGresult *result =
        ask(engine, index,
            READS ", wholes(oid) AS (SELECT i.inhparent FROM reads JOIN pg_catalog.pg_inherits i "
                  "ON i.inhrelid = reads.oid UNION SELECT i.inhparent FROM wholes JOIN "
                  "pg_catalog.pg_inherits i ON i.inhrelid = wholes.oid) SELECT wholes.oid::text, "
                  "d.oid::text, 0 FROM wholes, " DATABASE
                  "AND wholes.oid NOT IN (SELECT oid FROM reads) ORDER BY 1",
            &status, error);
    if (status == BRUME_OK)
        status = add_marks(engine->state, result, marks, error);
    marks->whole_count = marks->count;
    PQclear(result);
    return status;
}

/* A server that does not say who it is is known by host and port, as in the identity. */
brume_status brume_postgres_marks(brume_engine *engine, size_t index, bool contents,
                                  brume_marks *marks, brume_error *error)
{
    brume_status status;
    if (contents)
        BRUME_TRY(mark_wholes(engine, index, marks, error));
    PGresult *result = ask(engine, index,
                           READS
                           "SELECT reads.oid::text, d.oid::text, min(level) FROM reads, " DATABASE
                           "GROUP BY 1, 2 ORDER BY 3, 1",
                           &status, error);
    if (status == BRUME_OK)
        status = add_marks(engine->state, result, marks, error);
    PQclear(result);
    return status;
}

/* Rules of views (a materialised view is stored: reading it computes nothing) whose nodes are not
 * all harmless; foreign tables; functions and operators that somebody made. */
static const char look[] = READS
    ", rules AS (SELECT r.oid, r.ev_action::text AS tree FROM reads JOIN pg_catalog.pg_class c ON "
    "c.oid = reads.oid AND c.relkind = 'v' JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid), "
    "nodes AS (SELECT x[1] AS name, x[2]::pg_catalog.oid AS operator FROM rules, "
    "pg_catalog.regexp_matches(tree, '\\{([A-Z_]+)(?: :opno ([0-9]+))?', 'g') x), "
    "ordered AS (SELECT o.amopopr AS oid FROM pg_catalog.pg_amop o WHERE o.amopmethod = 403 AND "
    "o.amopopr < 16384 AND o.amoplefttype IN ('bool'::pg_catalog.regtype, "
    "'int2'::pg_catalog.regtype, 'int4'::pg_catalog.regtype, 'int8'::pg_catalog.regtype, "
    "'float4'::pg_catalog.regtype, 'float8'::pg_catalog.regtype, 'numeric'::pg_catalog.regtype, "
    "'text'::pg_catalog.regtype, 'bpchar'::pg_catalog.regtype, 'uuid'::pg_catalog.regtype, "
    "'date'::pg_catalog.regtype, 'timestamp'::pg_catalog.regtype, "
    "'timestamptz'::pg_catalog.regtype)), "
    "compares AS (SELECT oid FROM ordered UNION SELECT p.oprnegate FROM ordered JOIN "
    "pg_catalog.pg_operator p ON p.oid = ordered.oid), "
    "foreigners AS (SELECT 1 FROM reads JOIN pg_catalog.pg_class c ON c.oid = reads.oid WHERE "
    "c.relkind = 'f'), "
    "made AS (SELECT 1 FROM reads JOIN pg_catalog.pg_rewrite r ON r.ev_class = reads.oid AND r.ev_type = '1' JOIN "
    "pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND "
    "d.objid = r.oid WHERE d.refclassid IN ('pg_catalog.pg_proc'::pg_catalog.regclass, "
    "'pg_catalog.pg_operator'::pg_catalog.regclass)) "
    "SELECT EXISTS (SELECT 1 FROM foreigners) OR EXISTS (SELECT 1 FROM nodes WHERE CASE WHEN name "
    "IN ('OPEXPR', 'DISTINCTEXPR', 'SCALARARRAYOPEXPR') THEN operator NOT IN (SELECT oid FROM "
    "compares) ELSE name NOT IN ('QUERY', 'ALIAS', 'RANGETBLENTRY', 'RTE', 'RTEPERMISSIONINFO', "
    "'RANGETBLREF', 'FROMEXPR', 'JOINEXPR', 'TARGETENTRY', 'VAR', 'CONST', 'BOOLEXPR', 'NULLTEST', "
    "'BOOLEANTEST', 'RELABELTYPE', 'COALESCE', 'COALESCEEXPR', 'CASE', 'CASEEXPR', 'WHEN', "
    "'CASEWHEN', 'SETOPERATIONSTMT', 'SORTGROUPCLAUSE', 'COMMONTABLEEXPR', 'ARRAY', 'ARRAYEXPR') "
    "END), EXISTS (SELECT 1 FROM foreigners) OR EXISTS (SELECT 1 FROM made), EXISTS (SELECT 1 FROM "
    "reads JOIN pg_catalog.pg_rewrite r ON r.ev_class = reads.oid AND r.ev_type = '1' WHERE "
    "r.ev_action::text ~ "
    "':(hasAggs|hasWindowFuncs|hasSubLinks|hasTargetSRFs|hasRecursive) true' OR "
    "r.ev_action::text ~ "
    "':(groupClause|groupingSets|havingQual|distinctClause|limitOffset|limitCount) [({]' OR "
    "r.ev_action::text ~ ':op [1-3] :all false' OR r.ev_action::text ~ ':op [23] :all true')";

brume_status brume_postgres_look_through(brume_engine *engine, size_t index,
                                         brume_description *description, brume_error *error)
{
    brume_status status;
    PGresult *result = ask(engine, index, look, &status, error);
    if (status == BRUME_OK && PQntuples(result) == 1) {
        description->can_fail = *PQgetvalue(result, 0, 0) == 't';
        description->is_opaque = *PQgetvalue(result, 0, 1) == 't';
        description->mixes_rows = *PQgetvalue(result, 0, 2) == 't';
    }
    PQclear(result);
    return status;
}
