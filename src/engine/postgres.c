/* PostgreSQL over libpq.
 *
 * One connection, and more where rows are read in parts. Everything that changes
 * the meaning of SQL is pinned (search_path, time zone, encoding, string syntax ...); the server
 * must be in UTF-8. A query runs in a transaction of its own, REPEATABLE READ and READ ONLY, and
 * its rows travel by COPY in binary: eight bytes big-endian for INTEGER and REAL, raw bytes for
 * TEXT. The end of the rows counts only when the server confirmed it. Notices and errors of the
 * server are never shown: they may quote rows. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/copy.h"
#include "engine/driver.h"
#include "engine/libpq.h"

typedef struct brume_postgres_table {
    char *schema, *name, *oid, *identity;
} brume_postgres_table;

enum { BRUME_POSTGRES_CONNECTIONS = 64 }; /* at most, of all scans of an engine */

typedef struct brume_postgres {
    PGconn *connection;
    PGcancel *cancel;
    char *location, *password; /* for more connections to the same server; the password or NULL */
    bool held;                 /* a transaction is open, in which statements run */
    /* All other connections that there were, which a cancel ends too. They live as long as the
     * engine, because a cancel may come at any moment; to a connection that has ended it does
     * nothing. */
    PGcancel *others[BRUME_POSTGRES_CONNECTIONS];
    atomic_size_t other_count;
    char *server; /* the cluster's own identifier; host and port where it does not say */
    brume_postgres_table *sources;
    size_t source_count;
} brume_postgres;

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

/* $1: the relation. `level` 0 is itself and its parts, 1 what views read. */
#define READS                                                                                      \
    "WITH RECURSIVE reads(oid, level) AS (SELECT $1::pg_catalog.oid, 0 UNION SELECT x.oid, "       \
    "x.level FROM reads, LATERAL (SELECT d.refobjid AS oid, 1 AS level FROM "                      \
    "pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.classid = "                          \
    "'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid AND d.refclassid = "         \
    "'pg_catalog.pg_class'::pg_catalog.regclass WHERE r.ev_class = reads.oid AND r.ev_type = '1' " \
    "AND d.refobjid <> reads.oid UNION ALL SELECT i.inhrelid, reads.level FROM "                   \
    "pg_catalog.pg_inherits i WHERE i.inhparent = reads.oid) x) "

static brume_status postgres_failed(brume_postgres *state, brume_error *error);

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
        *status = postgres_failed(state, error);
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
static brume_status postgres_marks(brume_engine *engine, size_t index, bool contents,
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

/* Sets can_fail and is_opaque of what is read here. */
static brume_status postgres_look_through(brume_engine *engine, size_t index,
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

/* ---- what PostgreSQL's catalog says of a table: its columns with their types ---- */

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

/* The columns alone, which every opening compares with those that were recorded. */
static brume_status postgres_columns(brume_engine *engine, size_t index,
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
        status = postgres_failed(state, error);
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

/* The driver's functions of these names. */
static brume_status postgres_describe(brume_engine *engine, size_t index,
                                      brume_description *description, brume_error *error)
{
    BRUME_TRY(postgres_columns(engine, index, description, error));
    return postgres_look_through(engine, index, description, error);
}

static char *postgres_cell(brume_postgres *state, const char *sql, const char *const *parameters,
                           int count, int *rows);

/* Under a deterministic collation texts are equal if and only if their bytes are. */
static bool postgres_is_bytewise(brume_engine *engine, size_t index, const char *column)
{
    brume_postgres *state = engine->state;
    const char *const parameters[] = {state->sources[index].oid, column};
    int rows = 0;
    if (!parameters[0])
        return false;
    char *cell = postgres_cell(
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

/* Reading a table of PostgreSQL in parts, on several connections at once.
 *
 * A part is a range of ctid, the place of a row version in the table's file. The ranges are
 * disjoint, the first begins at the first place and the last has no end, so that every row version
 * is in exactly one of them, whatever the table's size is by then. In a table with partitions or
 * children a range stands for the same places in each of them.
 *
 * All connections read one snapshot: the first exports it, the others import it before they read
 * anything. So together the parts are the rows of one moment, each once, as one statement would
 * give them. A connection that cannot be opened is done without; any other failure ends all. */

enum {
    PAGES_LEAST = 1024,      /* of 8 KiB: a smaller table is not divided */
    PARTS_PER_CONNECTION = 4 /* so that none waits long for the last */
};

/* $BRUME_CONNECTIONS, else one per processor. */
static size_t connections(void)
{
    const char *typed = getenv("BRUME_CONNECTIONS");
    long count = typed && *typed ? strtol(typed, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1)
        return 1;
    return count > BRUME_POSTGRES_CONNECTIONS ? BRUME_POSTGRES_CONNECTIONS : (size_t)count;
}

/* ---- parts ---- */

/* The pages of the largest of the files that the table is made of; 0 where it is not to be divided:
 * ranges of ctid are quick since version 14, and are what they seem in ordinary tables only, so a
 * view, a foreign table or another way of storage anywhere below forbids it. */
static brume_status count_pages(brume_postgres *state, const char *oid, long long *pages,
                                brume_error *error)
{
    *pages = 0;
    if (!oid || PQserverVersion(state->connection) < 140000)
        return BRUME_OK;
    const char *const parameters[] = {oid};
    int rows = 0;
    char *cell = postgres_cell(
        state,
        "WITH RECURSIVE part(oid) AS (SELECT $1::oid UNION SELECT i.inhrelid FROM part JOIN "
        "pg_catalog.pg_inherits i ON i.inhparent = part.oid) SELECT CASE WHEN pg_catalog.bool_and("
        "c.relkind = 'p' OR (c.relkind = 'r' AND a.amname = 'heap')) THEN pg_catalog.max(CASE WHEN "
        "c.relkind = 'r' THEN pg_catalog.pg_relation_size(c.oid) / 8192 ELSE 0 END) ELSE 0 "
        "END::text FROM part JOIN pg_catalog.pg_class c ON c.oid = part.oid LEFT JOIN "
        "pg_catalog.pg_am a ON a.oid = c.relam",
        parameters, 1, &rows);
    if (rows < 0)
        return postgres_failed(state, error);
    *pages = cell ? strtoll(cell, NULL, 10) : 0;
    free(cell);
    return BRUME_OK;
}

/* The rows of `table` from page `first` on and before page `end`; negative: no end. */
static char *print_part(const char *table, long long first, long long end)
{
    if (end < 0)
        return brume_engine_format("(SELECT * FROM %s WHERE ctid >= '(%lld,0)'::tid) AS \"part\"",
                                   table, first);
    return brume_engine_format(
        "(SELECT * FROM %s WHERE ctid >= '(%lld,0)'::tid AND ctid < '(%lld,0)'::tid) AS \"part\"",
        table, first, end);
}

static brume_status postgres_divide(brume_engine *engine, size_t index, brume_parts *parts,
                                    brume_error *error)
{
    brume_postgres *state = engine->state;
    long long pages = 0, count = (long long)connections() * PARTS_PER_CONNECTION;
    if (count == PARTS_PER_CONNECTION || state->held)
        return BRUME_OK; /* one connection, or a snapshot that is already kept */
    BRUME_TRY(count_pages(state, state->sources[index].oid, &pages, error));
    if (pages < PAGES_LEAST)
        return BRUME_OK;
    for (long long i = 0; i < count; i++)
        BRUME_TRY(brume_parts_add(parts,
                                  print_part(engine->tables[index], pages * i / count,
                                             i + 1 < count ? pages * (i + 1) / count : -1),
                                  error));
    return BRUME_OK;
}

/* ---- scanning them ---- */

typedef struct part_worker part_worker;

/* What the connections share. */
typedef struct scan {
    brume_engine *engine;
    const char *const *statements;
    size_t count;
    const brume_wire *wires;
    size_t wire_count;
    brume_row_taker take;
    void *context;
    atomic_size_t next;  /* the first statement that nobody has taken */
    atomic_bool stop;    /* one of them has failed */
    part_worker *failed; /* the first that did; known when all have ended */
} scan;

struct part_worker {
    scan *all;
    brume_engine engine;  /* what is needed of one to run statements on its connection */
    brume_postgres state; /* the first worker has that of the scan's engine instead */
    pthread_t thread;
    bool started;
    brume_status status;
    brume_error error;
};

static bool is_over(scan *all)
{
    return atomic_load(&all->stop) || atomic_load(&all->engine->cancelled);
}

static brume_status take_unless_stopped(void *context, const brume_chunk *chunk, brume_error *error)
{
    scan *all = context;
    if (is_over(all))
        return brume_fail(error, BRUME_ECANCELLED, NULL, "another connection failed");
    return all->take(all->context, chunk, error);
}

static void *run_worker(void *argument)
{
    part_worker *self = argument;
    scan *all = self->all;
    while (self->status == BRUME_OK && !is_over(all)) {
        size_t at = atomic_fetch_add(&all->next, 1);
        if (at >= all->count)
            break;
        self->status = brume_engine_scan(&self->engine, all->statements[at], all->wires,
                                         all->wire_count, take_unless_stopped, all, &self->error);
    }
    if (self->status != BRUME_OK && !atomic_exchange(&all->stop, true)) {
        all->failed = self;
        all->engine->driver->cancel(all->engine); /* what the others read is for nothing */
    }
    return NULL;
}

static bool postgres_run(brume_postgres *state, const char *sql);

/* Open the transaction in which this connection's statements run; of the first one with NULL, of
 * the others on its snapshot. */
static bool begin(brume_postgres *state, const char *snapshot)
{
    if (!postgres_run(state, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        return false;
    state->held = true;
    if (!snapshot)
        return true;
    char *sql = brume_engine_format("SET TRANSACTION SNAPSHOT '%s'", snapshot);
    bool done = sql && postgres_run(state, sql);
    free(sql);
    return done;
}

static void make_worker(part_worker *self, scan *all, brume_postgres *state)
{
    self->all = all;
    self->engine.driver = all->engine->driver;
    self->engine.state = state;
    atomic_init(&self->engine.cancelled, false);
}

static brume_status postgres_connect(brume_postgres *state, const char *location,
                                     const char *password, brume_error *error);
static void postgres_disconnect(brume_postgres *state);

/* One more connection on the snapshot; false: there is none to be had. */
static bool open_worker(part_worker *self, scan *all, const char *snapshot)
{
    brume_postgres *first = all->engine->state;
    size_t number = atomic_load(&first->other_count);
    make_worker(self, all, &self->state);
    if (number == BRUME_POSTGRES_CONNECTIONS ||
        postgres_connect(&self->state, first->location, first->password, NULL) != BRUME_OK ||
        !begin(&self->state, snapshot)) {
        postgres_disconnect(&self->state);
        return false;
    }
    first->others[number] = PQgetCancel(self->state.connection);
    if (!first->others[number]) {
        postgres_disconnect(&self->state);
        return false;
    }
    atomic_store(&first->other_count, number + 1);
    return true;
}

/* Signals are the host's: the thread gets none. */
static bool start_worker(part_worker *self)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    self->started = pthread_create(&self->thread, NULL, run_worker, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return self->started;
}

/* Run all statements on the connections that there are, of which the first is this thread's. */
static void run_workers(part_worker *workers, size_t count)
{
    for (size_t i = 1; i < count; i++)
        (void)start_worker(&workers[i]); /* the others do its work */
    (void)run_worker(&workers[0]);
    for (size_t i = 1; i < count; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
}

static brume_status scan_on_snapshot(scan *all, const char *snapshot, brume_error *error)
{
    size_t wanted = connections(), count = 1;
    wanted = wanted < all->count ? wanted : all->count;
    part_worker *workers = calloc(wanted, sizeof *workers);
    if (!workers)
        return brume_no_memory(error, NULL);
    make_worker(&workers[0], all, all->engine->state);
    while (count < wanted && open_worker(&workers[count], all, snapshot))
        count++;
    run_workers(workers, count);
    /* The failure that stopped the others, not what it made of them: the server ends their
     * statements with errors of its own. */
    brume_status status = all->failed ? all->failed->status : BRUME_OK;
    if (all->failed && error)
        *error = all->failed->error;
    for (size_t i = 1; i < count; i++)
        postgres_disconnect(&workers[i].state);
    free(workers);
    return status;
}

static brume_status postgres_scan_parts(brume_engine *engine, const char *const *statements,
                                        size_t count, const brume_wire *wires, size_t wire_count,
                                        brume_row_taker take, void *context, brume_error *error)
{
    brume_postgres *state = engine->state;
    scan all = {.engine = engine,
                .statements = statements,
                .count = count,
                .wires = wires,
                .wire_count = wire_count,
                .take = take,
                .context = context};
    int rows = 0;
    if (!begin(state, NULL)) {
        state->held = false;
        return postgres_failed(state, error);
    }
    char *snapshot = postgres_cell(state, "SELECT pg_catalog.pg_export_snapshot()", NULL, 0, &rows);
    brume_status status = snapshot ? scan_on_snapshot(&all, snapshot, error)
                                   : postgres_failed(state, error);
    free(snapshot);
    state->held = false;
    bool ended = postgres_run(state, status == BRUME_OK ? "COMMIT" : "ROLLBACK");
    return status == BRUME_OK && !ended ? postgres_failed(state, error) : status;
}

enum { INT8_OID = 20, TEXT_OID = 25, FLOAT8_OID = 701 };

typedef struct postgres_state_of_rows {
    brume_copy *copy;
    bool copying, in_transaction;
} rows_state;

static void no_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

/* BRUME_EENGINE, without the server's own words: they may quote rows. */
static brume_status postgres_failed(brume_postgres *state, brume_error *error)
{
    if (PQstatus(state->connection) != CONNECTION_OK)
        return brume_fail(error, BRUME_EENGINE, "is the server still running?",
                          "the connection to the PostgreSQL server was lost");
    return brume_fail(error, BRUME_EENGINE, "look into the server's log",
                      "PostgreSQL failed while it ran the query");
}

static brume_status denied_table(brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "GRANT SELECT on it to the user of the URL",
                      "the PostgreSQL user may not read the table");
}

/* Run a command that gives no rows. */
static bool postgres_run(brume_postgres *state, const char *sql)
{
    PGresult *result = PQexec(state->connection, sql);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return done;
}

/* ---- open ---- */

static bool settle(brume_postgres *state)
{
    static const char *const settings[] = {
        "SET search_path = pg_catalog, pg_temp",
        "SET client_encoding = 'UTF8'",
        "SET TimeZone = 'UTC'",
        "SET DateStyle = 'ISO, YMD'",
        "SET IntervalStyle = 'postgres'",
        "SET extra_float_digits = 1",
        "SET standard_conforming_strings = on",
        "SET backslash_quote = off",
        "SET transform_null_equals = off",
        "SET lc_numeric = 'C'",
        "SET lc_time = 'C'",
        "SET default_transaction_read_only = on",
        "SET statement_timeout = 0",
        "SET lock_timeout = 0",
        "SET idle_in_transaction_session_timeout = 0",
        "SET row_security = off",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!postgres_run(state, settings[i]))
            return false;
    /* A server that can look whether its client is still there does so: a process that was ended at
     * its deadline leaves no query running. Older servers, and some systems, cannot. */
    if (PQserverVersion(state->connection) >= 140000)
        (void)postgres_run(state, "SET client_connection_check_interval = '1s'");
    return true;
}

/* Connect, with the settings of every connection of brume. Close also what a failure left. */
static brume_status postgres_connect(brume_postgres *state, const char *location,
                                     const char *password, brume_error *error)
{
    const char *const keywords[] = {"connect_timeout",
                                    "dbname",
                                    "client_encoding",
                                    "application_name",
                                    password ? "password" : NULL,
                                    NULL};
    const char *const values[] = {"10", location, "UTF8", "brume", password, NULL};
    state->connection = PQconnectdbParams(keywords, values, 1);
    if (!state->connection)
        return brume_no_memory(error, NULL);
    if (PQstatus(state->connection) != CONNECTION_OK)
        return brume_fail(error, BRUME_ESOURCE,
                          "check host, port, user, password and database of the URL",
                          "cannot connect to the PostgreSQL server");
    PQsetNoticeReceiver(state->connection, no_notice, NULL);
    const char *encoding = PQparameterStatus(state->connection, "server_encoding");
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "move the table to a database in UTF8",
                          "the PostgreSQL database is not encoded in UTF8");
    if (PQserverVersion(state->connection) < 120000)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "this PostgreSQL server is older than version 12");
    if (!settle(state))
        return postgres_failed(state, error);
    state->cancel = PQgetCancel(state->connection);
    return state->cancel ? BRUME_OK : brume_no_memory(error, NULL);
}

/* One cell of one row, or NULL; *rows is how many rows there were, -1 on an error. */
static char *postgres_cell(brume_postgres *state, const char *sql, const char *const *parameters,
                           int count, int *rows)
{
    PGresult *result = PQexecParams(state->connection, sql, count, NULL, parameters, NULL, NULL, 0);
    char *cell = NULL;
    *rows = PQresultStatus(result) == PGRES_TUPLES_OK ? PQntuples(result) : -1;
    if (*rows == 1 && !PQgetisnull(result, 0, 0))
        cell = strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    return cell;
}

static brume_status name_server(brume_postgres *state, brume_error *error)
{
    int rows = 0;
    state->server =
        postgres_cell(state, "SELECT system_identifier::text FROM pg_catalog.pg_control_system()",
                      NULL, 0, &rows);
    const char *host = PQhost(state->connection), *port = PQport(state->connection);
    if (!state->server)
        state->server = brume_engine_format("%s:%s", host ? host : "", port ? port : "");
    return state->server ? BRUME_OK : brume_no_memory(error, NULL);
}

static brume_status find_table(brume_postgres *state, const brume_source *source,
                               brume_postgres_table *found, brume_error *error)
{
    if (!source->table || !*source->table)
        return brume_fail(error, BRUME_EARGUMENT, "say which with --table SCHEMA.NAME",
                          "a PostgreSQL source needs a table");
    const char *dot = strchr(source->table, '.');
    found->schema = dot ? strndup(source->table, (size_t)(dot - source->table)) : strdup("public");
    found->name = strdup(dot ? dot + 1 : source->table);
    if (!found->schema || !found->name)
        return brume_no_memory(error, NULL);
    const char *const names[] = {found->schema, found->name};
    int rows = 0;
    found->oid =
        postgres_cell(state,
                      "SELECT c.oid::text FROM pg_catalog.pg_class c JOIN "
                      "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = "
                      "$1::name AND c.relname = $2::name AND c.relkind IN "
                      "('r','p','v','m','f')",
                      names, 2, &rows);
    if (rows < 0)
        return postgres_failed(state, error);
    if (!found->oid)
        return brume_fail(error, BRUME_ESOURCE, "name it as SCHEMA.NAME, in its exact case",
                          "no table '%s' in the database", source->table);
    const char *const oid[] = {found->oid};
    char *denied = postgres_cell(state,
                                 "SELECT 'denied' WHERE NOT "
                                 "pg_catalog.has_any_column_privilege($1::oid, 'SELECT')",
                                 oid, 1, &rows);
    free(denied);
    if (rows < 0)
        return postgres_failed(state, error);
    if (rows > 0)
        return denied_table(error);
    found->identity = brume_engine_format("postgresql:%s/%s/%s.%s", state->server,
                                          PQdb(state->connection), found->schema, found->name);
    return found->identity ? BRUME_OK : brume_no_memory(error, NULL);
}

/* Find the table, and that it still has the recorded columns. */
static brume_status open_table(brume_engine *engine, size_t index, const brume_source *source,
                               brume_error *error)
{
    brume_postgres *state = engine->state;
    brume_postgres_table *found = &state->sources[index];
    BRUME_TRY(find_table(state, source, found, error));
    char *schema = brume_engine_quote(found->schema), *name = brume_engine_quote(found->name);
    if (schema && name)
        engine->tables[index] = brume_engine_format("%s.%s", schema, name);
    free(schema);
    free(name);
    if (!engine->tables[index])
        return brume_no_memory(error, NULL);
    brume_description now = {0};
    brume_status status = postgres_columns(engine, index, &now, error);
    if (status == BRUME_OK)
        status = brume_engine_check_columns(source, &now, error);
    brume_description_clear(&now);
    return status;
}

static brume_status open_source(brume_engine *engine, size_t index, const brume_source *source,
                                brume_error *error)
{
    if (!source->relation)
        return open_table(engine, index, source, error);
    engine->tables[index] = strdup(source->relation);
    return engine->tables[index] ? BRUME_OK : brume_no_memory(error, NULL);
}

static brume_status postgres_driver_open(brume_engine *engine, const brume_source *sources,
                                         size_t count, brume_error *error)
{
    BRUME_TRY(brume_libpq_load(error));
    brume_postgres *state = calloc(1, sizeof *state);
    if (!state)
        return brume_no_memory(error, NULL);
    engine->state = state;
    state->sources = calloc(count, sizeof *state->sources);
    if (!state->sources)
        return brume_no_memory(error, NULL);
    state->source_count = count;
    for (size_t i = 1; i < count; i++)
        if (strcmp(sources[i].location, sources[0].location) != 0)
            return brume_fail(error, BRUME_EUNSUPPORTED, "register both with the same URL",
                              "tables of different PostgreSQL URLs cannot be read in one query");
    state->location = strdup(sources[0].location);
    state->password = sources[0].password ? strdup(sources[0].password) : NULL;
    if (!state->location || (sources[0].password && !state->password))
        return brume_no_memory(error, NULL);
    BRUME_TRY(postgres_connect(state, state->location, state->password, error));
    BRUME_TRY(name_server(state, error));
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(open_source(engine, i, &sources[i], error));
    return BRUME_OK;
}

static void postgres_disconnect(brume_postgres *state)
{
    if (state->cancel)
        PQfreeCancel(state->cancel);
    PQfinish(state->connection);
    state->cancel = NULL;
    state->connection = NULL;
}

static void postgres_driver_close(brume_engine *engine)
{
    brume_postgres *state = engine->state;
    if (!state)
        return;
    postgres_disconnect(state);
    for (size_t i = 0; i < atomic_load(&state->other_count); i++)
        PQfreeCancel(state->others[i]);
    free(state->location);
    free(state->password);
    free(state->server);
    for (size_t i = 0; i < state->source_count; i++) {
        free(state->sources[i].schema);
        free(state->sources[i].name);
        free(state->sources[i].oid);
        free(state->sources[i].identity);
    }
    free(state->sources);
    free(state);
    engine->state = NULL;
}

/* ---- rows ---- */

static brume_status check_result_types(brume_postgres *state, const char *sql,
                                       const brume_rows *rows, brume_error *error)
{
    static const Oid travels[] = {[BRUME_WIRE_INTEGER] = INT8_OID,
                                  [BRUME_WIRE_REAL] = FLOAT8_OID,
                                  [BRUME_WIRE_TEXT] = TEXT_OID};
    /* Preparing by the extended protocol also refuses more than one statement. */
    PGresult *result = PQprepare(state->connection, "", sql, 0, NULL);
    bool prepared = PQresultStatus(result) == PGRES_COMMAND_OK;
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool denied = sqlstate && strcmp(sqlstate, "42501") == 0;
    PQclear(result);
    if (denied)
        return denied_table(error);
    if (!prepared)
        return postgres_failed(state, error);
    result = PQdescribePrepared(state->connection, "");
    bool fits = PQresultStatus(result) == PGRES_COMMAND_OK &&
                PQnfields(result) == (int)rows->wire_count;
    for (int i = 0; fits && i < PQnfields(result); i++)
        fits = PQftype(result, i) == travels[rows->wires[i]];
    PQclear(result);
    if (fits)
        return BRUME_OK;
    if (PQstatus(state->connection) != CONNECTION_OK)
        return postgres_failed(state, error);
    return brume_fail(error, BRUME_EINTERNAL, NULL, "the result has other columns");
}

static brume_status postgres_driver_select(brume_engine *engine, const char *sql, brume_rows *rows,
                                           brume_error *error)
{
    brume_postgres *state = engine->state;
    rows_state *own = calloc(1, sizeof *own);
    if (!own)
        return brume_no_memory(error, NULL);
    rows->state = own;
    BRUME_TRY(brume_copy_open(rows->wires, rows->wire_count, &own->copy, error));
    if (strncmp(sql, "SELECT ", 7) != 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "only a single SELECT may run");
    if (!state->held &&
        !postgres_run(state, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        return postgres_failed(state, error);
    own->in_transaction = !state->held;
    BRUME_TRY(check_result_types(state, sql, rows, error));
    char *copy = brume_engine_format("COPY (%s) TO STDOUT (FORMAT binary)", sql);
    if (!copy)
        return brume_no_memory(error, NULL);
    PGresult *result = PQexec(state->connection, copy);
    free(copy);
    own->copying = PQresultStatus(result) == PGRES_COPY_OUT;
    PQclear(result);
    if (own->copying)
        return BRUME_OK;
    return postgres_failed(state, error);
}

/* The server must say that the copy is complete, and a transaction of its own must end. */
static bool confirm_end(brume_postgres *state, rows_state *own)
{
    bool complete = brume_copy_is_complete(own->copy);
    PGresult *result;
    while ((result = PQgetResult(state->connection))) {
        complete = complete && PQresultStatus(result) == PGRES_COMMAND_OK;
        PQclear(result);
    }
    own->copying = false;
    complete = complete && (!own->in_transaction || postgres_run(state, "COMMIT"));
    own->in_transaction = own->in_transaction && !complete;
    return complete;
}

static brume_status postgres_driver_next(brume_rows *rows, brume_error *error)
{
    brume_postgres *state = rows->engine->state;
    rows_state *own = rows->state;
    brume_copy_start(own->copy);
    while (own->copying && !brume_copy_is_full(own->copy)) {
        char *message = NULL;
        int length = PQgetCopyData(state->connection, &message, 0);
        if (length > 0) {
            brume_status status =
                brume_copy_take(own->copy, (const unsigned char *)message, (size_t)length, error);
            PQfreemem(message);
            BRUME_TRY(status);
        } else if (length == -2 || !confirm_end(state, own)) {
            return postgres_failed(state, error);
        }
    }
    rows->chunk.row_count = brume_copy_columns(own->copy, rows->columns);
    return BRUME_OK;
}

static void postgres_driver_finish(brume_rows *rows)
{
    brume_postgres *state = rows->engine->state;
    rows_state *own = rows->state;
    if (!own)
        return;
    if (own->copying) {
        char ignored[256];
        PQcancel(state->cancel, ignored, sizeof ignored);
        char *message = NULL;
        while (PQgetCopyData(state->connection, &message, 0) > 0)
            PQfreemem(message);
        PGresult *result;
        while ((result = PQgetResult(state->connection)) &&
               PQresultStatus(result) != PGRES_COPY_OUT)
            PQclear(result);
        PQclear(result);
    }
    if (own->in_transaction)
        (void)postgres_run(state, "ROLLBACK");
    brume_copy_close(own->copy);
    free(own);
}

/* ---- one snapshot for several statements ---- */

static brume_status postgres_driver_retain(brume_engine *engine, brume_error *error)
{
    brume_postgres *state = engine->state;
    if (!postgres_run(state, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        return postgres_failed(state, error);
    state->held = true;
    /* Partitions that lie on other servers are added up there, where PostgreSQL can. */
    (void)postgres_run(state, "SET LOCAL enable_partitionwise_aggregate = on");
    return BRUME_OK;
}

/* Nothing was written: that it ends is all that matters. */
static void postgres_driver_release(brume_engine *engine)
{
    brume_postgres *state = engine->state;
    (void)postgres_run(state, "ROLLBACK");
    state->held = false;
}

static void postgres_driver_cancel(brume_engine *engine)
{
    brume_postgres *state = engine->state;
    char ignored[256];
    PQcancel(state->cancel, ignored, sizeof ignored);
    size_t others = atomic_load(&state->other_count);
    for (size_t i = 0; i < others; i++)
        PQcancel(state->others[i], ignored, sizeof ignored);
}

const brume_driver brume_driver_postgresql = {
    .dialect = BRUME_DIALECT_POSTGRESQL,
    .open = postgres_driver_open,
    .close = postgres_driver_close,
    .describe = postgres_describe,
    .marks = postgres_marks,
    .select = postgres_driver_select,
    .next = postgres_driver_next,
    .finish = postgres_driver_finish,
    .divide = postgres_divide,
    .scan_parts = postgres_scan_parts,
    .is_bytewise = postgres_is_bytewise,
    .retain = postgres_driver_retain,
    .release = postgres_driver_release,
    .cancel = postgres_driver_cancel,
};
