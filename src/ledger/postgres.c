/* The ledger in a PostgreSQL database: see store.h.
 *
 * Promises.
 *  1. Whoever writes holds the row of `gate` from the first statement of a transaction to its end,
 *     and each statement sees what was committed before it began (READ COMMITTED). So of two
 *     writers one sees all that the other wrote: transactions are serial, in the order of the
 *     journal, and none is undone because of another one.
 *  2. A commit that returned is on the server's disk, and on the disk of those standbys that its
 *     own settings ask for: a session never asks for less than synchronous_commit=on, and a server
 *     with fsync=off is refused.
 *  3. A connection that is lost at a commit leaves a charge that may be there and no answer, as a
 *     killed process does.
 *
 * It lies in the schema `brume`, or in that which the URL's options name as search_path. What a
 * role may do there is in brume_postgres_install: it adds rows to the journal, and cannot change or
 * remove one. */
#include "ledger/postgres.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/libpq.h"
#include "ledger/journal.h"
#include "ledger/mark.h"
#include "ledger/store.h"
#include "ledger/user_row.h"
#include "ledger/wording.h"

typedef struct server {
    char *url;
    pid_t process; /* that connected: a child has no part in the connection */
    PGconn *connection;
    bool in_transaction;
    bool is_checked;     /* its schema was found to be brume's, */
    time_t checked_at;   /* at this moment */
    struct server *next; /* of those that are idle */
} server;

typedef struct server_statement {
    brume_statement base;
    PGresult *rows;
    int at;
} server_statement;

/* ---- errors ---- */

typedef struct complaint {
    const char *state; /* how it begins */
    brume_status status;
    const char *text, *hint;
} complaint;

static const complaint complaints[] = {
    {"08", BRUME_EDISK, "the ledger's server cannot be reached", "is the server up? ask again"},
    {"57P", BRUME_EDISK, "the ledger's server is going down", "ask again when it is back"},
    {"53100", BRUME_EDISK, "the disk of the ledger's server is full",
     "free some space and ask again"},
    {"53", BRUME_EDISK, "the ledger's server has too little left to answer", "ask again later"},
    {"55P03", BRUME_EDISK, "the ledger stayed locked for 30 s",
     "another process holds the ledger; try again"},
    {"25006", BRUME_EDISK, "the ledger's server takes no changes",
     "is it a standby? name the primary with --ledger"},
    {"25P03", BRUME_EDISK, "the ledger's server ended an idle transaction", "ask again"},
    {"42501", BRUME_EDISK, "the role may not do this to the ledger",
     "'brume ledger install --sql' prints what it must be granted"},
    {"28", BRUME_EDISK, "the ledger's server refuses this role", "check user and password"},
    {"40", BRUME_EDISK, "the ledger's server undid the transaction", "ask again"},
    {"23", BRUME_EDAMAGED, "the ledger contradicts itself", "run 'brume ledger verify'"},
    {"42", BRUME_EDAMAGED, "the ledger's structure is not the one brume made",
     "restore the ledger from a copy and check it against an export"},
    {"P0001", BRUME_EDAMAGED, "the journal is append-only", "run 'brume ledger verify'"},
};

static brume_status failed(const server *store, const PGresult *result, const char *doing,
                           brume_error *error)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    if (!state)
        state = "08";
    if (PQstatus(store->connection) != CONNECTION_OK && strncmp(state, "57P", 3) != 0)
        state = "08";
    for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++)
        if (strncmp(state, complaints[i].state, strlen(complaints[i].state)) == 0)
            return brume_fail(error, complaints[i].status, complaints[i].hint, "%s: %s", doing,
                              complaints[i].text);
    return brume_fail(error, BRUME_EINTERNAL, NULL, "%s: the server says %s", doing, state);
}

/* ---- statements ---- */

static brume_status run(void *opened, const char *sql, const char *doing, brume_error *error)
{
    server *store = opened;
    PGresult *result = PQexec(store->connection, sql);
    ExecStatusType said = PQresultStatus(result);
    brume_status status = said == PGRES_COMMAND_OK || said == PGRES_TUPLES_OK
                              ? BRUME_OK
                              : failed(store, result, doing, error);
    PQclear(result);
    return status;
}

/* ?1 is $1 there; no statement of the ledger has a question mark in a text. */
static char *numbered(const char *sql)
{
    char *out = strdup(sql);
    for (char *c = out; c && *c; c++)
        if (*c == '?' && isdigit((unsigned char)c[1]))
            *c = '$';
    return out;
}

enum { TYPE_BIGINT = 20, TYPE_TEXT = 25, MOST_VALUES = 8 };

static brume_status prepare(void *opened, const char *sql, const brume_store_value *values,
                            size_t count, brume_statement **out, brume_error *error)
{
    server *store = opened;
    Oid types[MOST_VALUES];
    const char *texts[MOST_VALUES];
    char numbers[MOST_VALUES][24];
    server_statement *made = calloc(1, sizeof *made);
    char *text = numbered(sql);
    if (!made || !text || count > MOST_VALUES) {
        free(made);
        free(text);
        return brume_fail(error, BRUME_EMEMORY, NULL, "reading the ledger: out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        types[i] = values[i].is_text ? TYPE_TEXT : TYPE_BIGINT;
        snprintf(numbers[i], sizeof numbers[i], "%lld", (long long)values[i].number);
        texts[i] = values[i].is_text ? values[i].text : numbers[i];
    }
    *made = (server_statement){.base.engine = &brume_postgres_engine, .at = -1};
    made->rows = PQexecParams(store->connection, text, (int)count, types, texts, NULL, NULL, 0);
    free(text);
    ExecStatusType said = PQresultStatus(made->rows);
    if (said == PGRES_TUPLES_OK || said == PGRES_COMMAND_OK) {
        *out = &made->base;
        return BRUME_OK;
    }
    brume_status status =
        failed(store, made->rows,
               strncmp(sql, "SELECT", 6) == 0 ? "reading the ledger" : "writing the ledger", error);
    PQclear(made->rows);
    free(made);
    return status;
}

/* All rows came with the statement. */
static brume_status step(void *opened, brume_statement *statement, bool *row, brume_error *error)
{
    (void)opened;
    (void)error;
    server_statement *own = (server_statement *)statement;
    own->at += own->at < PQntuples(own->rows);
    *row = own->at < PQntuples(own->rows);
    return BRUME_OK;
}

static const char *text(brume_statement *statement, int column)
{
    const server_statement *own = (server_statement *)statement;
    if (own->at < 0 || own->at >= PQntuples(own->rows) || PQgetisnull(own->rows, own->at, column))
        return NULL;
    return PQgetvalue(own->rows, own->at, column);
}

static int columns(brume_statement *statement)
{
    return PQnfields(((server_statement *)statement)->rows);
}

static void finish(brume_statement *statement)
{
    PQclear(((server_statement *)statement)->rows);
    free(statement);
}

/* ---- transactions ---- */

static void undo(void *opened)
{
    server *store = opened;
    if (store->in_transaction)
        PQclear(PQexec(store->connection, "ROLLBACK"));
    store->in_transaction = false;
}

static brume_status begin_as(server *store, const char *sql, const char *doing, brume_error *error)
{
    store->in_transaction = true;
    brume_status status = run(store, sql, doing, error);
    if (status != BRUME_OK)
        undo(store);
    return status;
}

static brume_status begin(void *store, brume_error *error)
{
    return begin_as(store, "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT 1 FROM gate FOR UPDATE",
                    "locking the ledger", error);
}

static brume_status begin_reading(void *store, brume_error *error)
{
    return begin_as(store, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "reading the ledger",
                    error);
}

static brume_status commit(void *opened, brume_error *error)
{
    server *store = opened;
    PGresult *result = PQexec(store->connection, "COMMIT");
    /* A transaction in which a statement failed is rolled back, and says so. */
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK &&
                strcmp(PQcmdStatus(result), "COMMIT") == 0;
    brume_status status = good ? BRUME_OK : failed(store, result, "writing the ledger", error);
    PQclear(result);
    if (!good)
        undo(store);
    store->in_transaction = false;
    return status;
}

/* ---- what is its own ---- */

/* One cell, which the caller frees; NULL: no row, or an error. */
static char *cell(server *store, const char *sql)
{
    PGresult *result = PQexec(store->connection, sql);
    char *out = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1 &&
                        !PQgetisnull(result, 0, 0)
                    ? strdup(PQgetvalue(result, 0, 0))
                    : NULL;
    PQclear(result);
    return out;
}

static bool identify(void *opened, char out[BRUME_STORE_IDENTITY])
{
    char *name = cell(opened,
                      "SELECT inet_server_addr() || ':' || current_setting('port') || '/' || "
                      "current_database() || '/' || current_schema()");
    if (!name)
        name = cell(opened, "SELECT current_setting('port') || '/' || current_database() || '/' || "
                            "current_schema()");
    if (name)
        snprintf(out, BRUME_STORE_IDENTITY, "%.150s", name);
    free(name);
    return name != NULL;
}

static brume_status check(void *opened, brume_error *error)
{
    (void)opened; /* the server checks its pages by its own means */
    (void)error;
    return BRUME_OK;
}

static brume_status prepare_purge(void *opened, brume_error *error)
{
    (void)opened;
    (void)error;
    return BRUME_OK;
}

/* The tables anew, without rows and texts that were deleted. The server's write-ahead log and its
 * backups keep them until they are gone themselves. A role that does not own the tables cannot. */
static brume_status purge(void *store, brume_error *error)
{
    static const char *const tables[] = {"journal", "answer", "wording"};
    char sql[64];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        snprintf(sql, sizeof sql, "VACUUM FULL %s", tables[i]);
        BRUME_TRY(run(store, sql, "writing the ledger anew", error));
    }
    return BRUME_OK;
}

/* ---- the schema ---- */

#define WORDS  "words NOT NULL"
#define NUMBER "bigint NOT NULL"

/* An object of the schema, and since which number. Texts are compared by their bytes. What the
 * shared statements call beside these tables are functions of the same names as SQLite's. */
typedef struct schema_object {
    int since;
    const char *sql;
} schema_object;

static const schema_object schema[] = {
    {5, "CREATE DOMAIN words AS text COLLATE \"C\""},
    {5, "CREATE TABLE about(application " NUMBER ", version " NUMBER ")"},
    {5, "CREATE TABLE gate(id bigint PRIMARY KEY)"},
    {5, "INSERT INTO gate VALUES(1)"},
    {5, "CREATE TABLE journal(id bigint PRIMARY KEY, time " WORDS ", kind " WORDS ", body " WORDS
        ", hash " WORDS ")"},
    {5, "CREATE TABLE dataset(name words PRIMARY KEY, source " WORDS ", registered " NUMBER
        ", data_version " WORDS ", filter " WORDS ", last " NUMBER ", queries " NUMBER ")"},
    {5, "CREATE INDEX dataset_source ON dataset(source)"},
    {5, "CREATE TABLE reservation(id bigint PRIMARY KEY, answer_key " WORDS ", state " WORDS ")"},
    {5, "CREATE TABLE charge(dataset " WORDS ", reservation " NUMBER
        ", PRIMARY KEY(dataset, reservation))"},
    {5, "CREATE TABLE answer(answer_key words PRIMARY KEY, committed " NUMBER ", salt " WORDS
        ", body " WORDS ")"},
    {5, "CREATE TABLE wording(reservation bigint PRIMARY KEY, salt " WORDS ", body " WORDS ")"},
    {5, "CREATE TABLE secret(name words PRIMARY KEY, value " WORDS ")"},
    {5, "CREATE TABLE mark(dataset " WORDS ", mark " WORDS ", PRIMARY KEY(dataset, mark))"},
    {5, "CREATE INDEX mark_of_datasets ON mark(mark)"},
    {5, "CREATE TABLE \"user\"(name words PRIMARY KEY, role " WORDS ", expires " NUMBER
        ", issued " NUMBER ", changed " NUMBER ", state " WORDS ")"},
    {5, "CREATE TABLE allotment(\"user\" " WORDS ", dataset " WORDS ", filter " WORDS
        ", last " NUMBER ", PRIMARY KEY(\"user\", dataset))"},
    {5, "CREATE TABLE window_page(dataset " WORDS ", first " NUMBER ", hash " WORDS ", body " WORDS
        ", PRIMARY KEY(dataset, first))"},
    {5, "CREATE TABLE stream_note(id bigint PRIMARY KEY, reservation " NUMBER ", mark " WORDS
        ", asked " NUMBER ", hits " NUMBER ")"},
    {6, "CREATE TABLE project(name words PRIMARY KEY, stated " NUMBER ")"},
    {6, "CREATE TABLE review(id bigint PRIMARY KEY, reservation " NUMBER ")"},
    {6, "CREATE INDEX review_of_reservations ON review(reservation)"},
    {5, "CREATE FUNCTION keep_rows() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
        "RAISE EXCEPTION 'the journal is append-only'; END$$"},
    {5, "CREATE TRIGGER journal_keeps_rows BEFORE DELETE OR TRUNCATE ON journal "
        "FOR EACH STATEMENT EXECUTE FUNCTION keep_rows()"},
    /* Only a row of which the newest one says that it is redacted, and only its body. */
    {5, "CREATE FUNCTION keep_text() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
        "IF NEW.id <> OLD.id OR NEW.time <> OLD.time OR NEW.kind <> OLD.kind OR "
        "NEW.hash <> OLD.hash OR NOT EXISTS (SELECT 1 FROM journal newest WHERE "
        "newest.id = (SELECT max(id) FROM journal) AND newest.kind = 'redact' AND "
        "strpos(newest.body, '{\"hash\":\"' || OLD.hash || '\",\"left\":\"') > 0 AND "
        "strpos(newest.body, '\"row\":' || OLD.id || '}') > 0) THEN "
        "RAISE EXCEPTION 'the journal is append-only'; END IF; RETURN NEW; END$$"},
    {5, "CREATE TRIGGER journal_keeps_text BEFORE UPDATE ON journal "
        "FOR EACH ROW EXECUTE FUNCTION keep_text()"},
    {5, "CREATE FUNCTION json_extract(body text, path text) RETURNS words LANGUAGE plpgsql "
        "IMMUTABLE AS $$DECLARE found json; BEGIN "
        "found := body::json #> string_to_array(substr(path, 3), '.'); "
        "RETURN CASE json_typeof(found) WHEN 'null' THEN NULL WHEN 'string' THEN found #>> '{}' "
        "WHEN 'boolean' THEN CASE found::text WHEN 'true' THEN '1' ELSE '0' END "
        "ELSE found::text END; EXCEPTION WHEN others THEN RETURN NULL; END$$"},
    {5, "CREATE FUNCTION json_type(body text, path text) RETURNS words LANGUAGE plpgsql "
        "IMMUTABLE AS $$BEGIN "
        "RETURN json_typeof(body::json #> string_to_array(substr(path, 3), '.')); "
        "EXCEPTION WHEN others THEN RETURN NULL; END$$"},
    {5, "CREATE FUNCTION json_valid(body text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS "
        "$$BEGIN RETURN body::json IS NOT NULL; EXCEPTION WHEN others THEN RETURN false; END$$"},
    {5, "CREATE FUNCTION json_each(body text) RETURNS TABLE(value words) LANGUAGE sql IMMUTABLE AS "
        "$$SELECT CASE json_typeof(one) WHEN 'string' THEN one #>> '{}' ELSE one::text END::words "
        "FROM json_array_elements(body::json) AS one$$"},
    {5, "CREATE FUNCTION json_each(body text, path text) RETURNS TABLE(value words) LANGUAGE sql "
        "IMMUTABLE AS $$SELECT each.value FROM json_each(CASE WHEN json_type(body, path) = 'array' "
        "THEN json_extract(body, path)::text ELSE '[]' END) AS each$$"},
    {5, "CREATE FUNCTION json_array_length(body text, path text) RETURNS bigint LANGUAGE sql "
        "IMMUTABLE AS $$SELECT count(*) FROM json_each(body, path)$$"},
    {5, "CREATE FUNCTION instr(long text, short text) RETURNS bigint LANGUAGE sql IMMUTABLE AS "
        "$$SELECT strpos(long, short)::bigint$$"},
};

/* What a role needs that is not the owner of the tables: it adds to the journal and the lists that
 * only grow, and changes what the journal vouches for. A redaction takes texts out. */
static const char grants[] =
    "GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA %s TO %s;\n"
    "GRANT UPDATE ON dataset, reservation, answer, secret, \"user\", allotment, window_page, project, "
    "stream_note, gate TO %s;\n"
    "GRANT UPDATE (body) ON journal TO %s;\n"
    "GRANT DELETE ON answer, wording, secret, window_page TO %s;\n";

static brume_status run_as(server *store, const char *pattern, const char *word, brume_error *error)
{
    char sql[256];
    snprintf(sql, sizeof sql, pattern, word);
    return run(store, sql, "opening the ledger", error);
}

/* The tables that came after schema `from`, in the current transaction. */
static brume_status add_objects(server *store, int from, brume_error *error)
{
    static const char doing[] = "making the ledger";
    char number[24];
    for (size_t i = 0; i < sizeof schema / sizeof *schema; i++)
        if (schema[i].since > from)
            BRUME_TRY(run(store, schema[i].sql, doing, error));
    snprintf(number, sizeof number, "%d, %d", BRUME_LEDGER_APPLICATION, BRUME_LEDGER_SCHEMA);
    BRUME_TRY(run(store, "DELETE FROM about", doing, error));
    return run_as(store, "INSERT INTO about VALUES(%s)", number, error);
}

/* All that could change what a charge does: columns, triggers, rules, policies of rows, functions.
 * Letter by letter as this build makes it: `expected` is the same of tables made anew. */
static const char fingerprint_of[] =
    "SELECT md5(string_agg(line, E'\\n' ORDER BY line COLLATE \"C\")) FROM ("
    "SELECT 'column ' || c.relname || ' ' || c.relkind::text || ' ' || c.relrowsecurity || ' ' || "
    "a.attname || ' ' || a.attnotnull || ' ' || t.typname AS line FROM pg_class c JOIN "
    "pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid WHERE "
    "c.relnamespace = current_schema()::regnamespace AND c.relkind <> 'i' AND a.attnum > 0 AND NOT "
    "a.attisdropped "
    "UNION ALL SELECT 'trigger ' || c.relname || ' ' || t.tgname || ' ' || t.tgtype || ' ' || "
    "t.tgenabled::text || ' ' || p.proname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
    "JOIN pg_proc p ON p.oid = t.tgfoid WHERE c.relnamespace = current_schema()::regnamespace "
    "UNION ALL SELECT 'rule ' || r.rulename FROM pg_rewrite r JOIN pg_class c ON c.oid = "
    "r.ev_class WHERE c.relnamespace = current_schema()::regnamespace "
    "UNION ALL SELECT 'index ' || i.indexrelid::regclass || ' ' || i.indisunique || ' ' || "
    "i.indkey::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = "
    "current_schema()::regnamespace "
    "UNION ALL SELECT 'function ' || proname || ' ' || pg_get_function_arguments(oid) || ' ' || "
    "prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace) AS lines";

static const char expected[] = "0c602a4025a2e7ea211e0fff8641d6c2";

static brume_status check_objects(server *store, brume_error *error)
{
    char *found = cell(store, fingerprint_of);
    bool good = found && strcmp(found, expected) == 0;
    free(found);
    return good ? BRUME_OK
                : brume_fail(error, BRUME_EDAMAGED, "the schema was changed by another program",
                             "the ledger's structure is not the one brume made");
}

/* Is there a ledger that this build knows? *version is 0 where there is none. */
static brume_status check_identity(server *store, int *version, brume_error *error)
{
    char *is_there = cell(store, "SELECT 1 WHERE to_regclass('about') IS NOT NULL");
    *version = 0;
    if (!is_there)
        return PQstatus(store->connection) == CONNECTION_OK
                   ? BRUME_OK
                   : failed(store, NULL, "opening the ledger", error);
    free(is_there);
    char *application = cell(store, "SELECT application FROM about"),
         *number = cell(store, "SELECT version FROM about");
    bool ours = application && number && atoi(application) == BRUME_LEDGER_APPLICATION;
    *version = ours ? atoi(number) : -1;
    free(application);
    free(number);
    if (!ours)
        return brume_fail(error, BRUME_EDAMAGED, "name another database with --ledger",
                          "the schema is not a brume ledger, or may not be read");
    if (*version > BRUME_LEDGER_SCHEMA)
        return brume_fail(error, BRUME_EUNSUPPORTED, "use the brume that wrote it, or a newer one",
                          "the ledger has schema %d, this brume knows up to %d", *version,
                          BRUME_LEDGER_SCHEMA);
    if (*version < BRUME_LEDGER_SCHEMA)
        return brume_fail(
            error, BRUME_EUNSUPPORTED, "its owner runs 'brume ledger install --sql' of this brume",
            "the ledger has schema %d, this brume needs %d", *version, BRUME_LEDGER_SCHEMA);
    return BRUME_OK;
}

/* ---- connections ---- */

/* Connections are kept for the next call of the process: to make one costs as much as a charge. */
enum { MOST_IDLE = 16 };
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static server *idle;

static void end_server(server *store)
{
    if (store && store->connection && store->process == getpid())
        PQfinish(store->connection);
    if (store)
        free(store->url);
    free(store);
}

static server *take_idle(const char *url)
{
    server *found = NULL;
    pthread_mutex_lock(&idle_lock);
    for (server **at = &idle; *at && !found;)
        if (strcmp((*at)->url, url) == 0 && (*at)->process == getpid()) {
            found = *at;
            *at = found->next;
        } else {
            at = &(*at)->next;
        }
    pthread_mutex_unlock(&idle_lock);
    return found;
}

static void close_server(void *opened)
{
    server *store = opened;
    size_t kept = 0;
    undo(store);
    if (store->process == getpid() && PQstatus(store->connection) == CONNECTION_OK) {
        pthread_mutex_lock(&idle_lock);
        for (const server *one = idle; one; one = one->next)
            kept++;
        if (kept < MOST_IDLE) {
            store->next = idle;
            idle = store;
            store = NULL;
        }
        pthread_mutex_unlock(&idle_lock);
    }
    end_server(store);
}

static void no_notice(void *nothing, const PGresult *result)
{
    (void)nothing;
    (void)result;
}

/* The settings of every session: the schema is the one that the URL names, else `brume`. */
static brume_status settle(server *store, brume_error *error)
{
    static const char doing[] = "opening the ledger";
    BRUME_TRY(run(store,
                  "SET standard_conforming_strings = on; SET client_min_messages = error; "
                  "SET lock_timeout = '30s'; SET statement_timeout = 0; "
                  "SET idle_in_transaction_session_timeout = '60s'; SET row_security = off",
                  doing, error));
    char *named = cell(store, "SELECT 1 FROM pg_settings WHERE name = 'search_path' AND source = "
                              "'client'");
    if (!named)
        BRUME_TRY(run(store, "SET search_path = brume, pg_catalog", doing, error));
    free(named);
    char *unsafe = cell(store, "SELECT 1 WHERE current_setting('fsync') = 'off'");
    free(unsafe);
    if (unsafe)
        return brume_fail(error, BRUME_EDISK, "turn fsync on, and restart it",
                          "the ledger's server runs without fsync: a charge may be lost");
    char *late = cell(store, "SELECT 1 WHERE current_setting('synchronous_commit') IN ('off', "
                             "'local')");
    free(late);
    if (late)
        BRUME_TRY(run(store, "SET synchronous_commit = on", doing, error));
    char *encoding = cell(store, "SELECT 1 WHERE current_setting('server_encoding') = 'UTF8'");
    free(encoding);
    return encoding ? BRUME_OK
                    : brume_fail(error, BRUME_EUNSUPPORTED, "make a database in UTF8",
                                 "the ledger's database is not encoded in UTF8");
}

static brume_status connect_to(const char *url, server **out, brume_error *error)
{
    static const char *const keywords[] = {"connect_timeout",  "dbname",
                                           "client_encoding",  "application_name",
                                           "tcp_user_timeout", NULL};
    const char *const values[] = {"10", url, "UTF8", "brume ledger", "30000", NULL};
    server *made = calloc(1, sizeof *made);
    if (!made || !(made->url = strdup(url))) {
        free(made);
        return brume_fail(error, BRUME_EMEMORY, NULL, "opening the ledger: out of memory");
    }
    made->process = getpid();
    made->connection = PQconnectdbParams(keywords, values, 1);
    brume_status status =
        PQstatus(made->connection) == CONNECTION_OK
            ? BRUME_OK
            : brume_fail(error, BRUME_EDISK,
                         "is the server up? check host, port, user, password and database",
                         "cannot connect to the ledger's PostgreSQL server");
    if (status == BRUME_OK && PQserverVersion(made->connection) < 120000)
        status = brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                            "the ledger's PostgreSQL server is older than version 12");
    if (status == BRUME_OK) {
        PQsetNoticeReceiver(made->connection, no_notice, NULL);
        status = settle(made, error);
    }
    if (status != BRUME_OK)
        end_server(made);
    else
        *out = made;
    return status;
}

/* Inside a transaction, while nobody else makes a ledger. */
static brume_status make_ledger(brume_ledger *ledger, server *store, bool empty, brume_error *error)
{
    int version = 0;
    BRUME_TRY(check_identity(store, &version, error));
    if (version > 0)
        return BRUME_OK;
    char *named = cell(store, "SELECT quote_ident(trim(both '\" ' from split_part("
                              "current_setting('search_path'), ',', 1)))");
    brume_status status = named ? run_as(store, "CREATE SCHEMA IF NOT EXISTS %s", named, error)
                                : failed(store, NULL, "making the ledger", error);
    free(named);
    BRUME_TRY(status);
    BRUME_TRY(add_objects(store, 0, error));
    return empty ? BRUME_OK : brume_store_add_keys(ledger, 0, error);
}

static brume_status no_ledger(brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE,
                      "register a dataset first, or name the ledger with --ledger",
                      "the database has no ledger");
}

/* Tables that an administrator made have no row yet: the first is of the role that uses them. */
static brume_status fill(brume_ledger *ledger, server *store, brume_error *error)
{
    uint64_t next = 0;
    BRUME_TRY(begin(store, error));
    brume_status status = brume_journal_next(ledger, &next, error);
    if (status == BRUME_OK && next == 1)
        status = brume_store_add_keys(ledger, 0, error);
    if (status == BRUME_OK)
        return commit(store, error);
    undo(store);
    return status;
}

static brume_status find_or_make(brume_ledger *ledger, server *store, brume_ledger_mode mode,
                                 brume_error *error)
{
    int version = 0;
    uint64_t next = 0;
    time_t now = time(NULL);
    /* A connection that is used again looks at the schema once a minute. A charge looks at what is
     * in the tables each time (brume_journal_check_head). */
    if (store->is_checked && now >= store->checked_at && now < store->checked_at + 60 &&
        mode != BRUME_LEDGER_EMPTY) {
        ledger->schema = BRUME_LEDGER_SCHEMA;
        return BRUME_OK;
    }
    store->is_checked = false;
    BRUME_TRY(check_identity(store, &version, error));
    if (version == 0 && mode != BRUME_LEDGER_CREATE && mode != BRUME_LEDGER_EMPTY)
        return no_ledger(error);
    ledger->schema = BRUME_LEDGER_SCHEMA;
    if (version == 0) {
        /* Before the transaction begins: it must see the names of one that was committed while it
         * waited. */
        static const char lock[] = "SELECT pg_advisory_lock(hashtext('brume ledger'))",
                          unlock[] = "SELECT pg_advisory_unlock(hashtext('brume ledger'))";
        BRUME_TRY(run(store, lock, "making the ledger", error));
        brume_status status = begin_as(store, "BEGIN", "making the ledger", error);
        if (status == BRUME_OK)
            status = make_ledger(ledger, store, mode == BRUME_LEDGER_EMPTY, error);
        if (status == BRUME_OK)
            status = commit(store, error);
        else
            undo(store);
        brume_status freed = run(store, unlock, "making the ledger", NULL);
        BRUME_TRY(status);
        BRUME_TRY(freed);
    }
    BRUME_TRY(check_objects(store, error));
    if (mode == BRUME_LEDGER_EMPTY)
        return BRUME_OK;
    BRUME_TRY(brume_journal_next(ledger, &next, error));
    store->is_checked = next > 1;
    store->checked_at = now;
    if (next > 1)
        return BRUME_OK;
    return mode == BRUME_LEDGER_CREATE ? fill(ledger, store, error) : no_ledger(error);
}

brume_status brume_postgres_open(const char *url, brume_ledger_mode mode, brume_ledger *ledger,
                                 brume_error *error)
{
    ledger->engine = &brume_postgres_engine;
    BRUME_TRY(brume_libpq_load(error));
    server *store = take_idle(url);
    if (store) { /* it may have died since */
        char *alive = cell(store, "SELECT 1");
        free(alive);
        if (!alive) {
            end_server(store);
            store = NULL;
        }
    }
    if (!store)
        BRUME_TRY(connect_to(url, &store, error));
    ledger->store = store;
    ledger->writable = mode != BRUME_LEDGER_READ;
    return find_or_make(ledger, store, mode, error);
}

bool brume_ledger_is_on_a_server(const char *place)
{
    return strncmp(place, "postgresql://", 13) == 0 || strncmp(place, "postgres://", 11) == 0;
}

brume_status brume_ledger_install_sql(const char *role, char **out, brume_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return brume_fail(error, BRUME_EMEMORY, NULL, "writing the statements: out of memory");
    char quoted[2 * 63 + 3] = "", *end = quoted; /* a name has at most 63 bytes */
    *end++ = '"';
    for (const char *c = role ? role : ""; *c && end < quoted + sizeof quoted - 3; c++) {
        *end++ = *c;
        if (*c == '"')
            *end++ = '"';
    }
    memcpy(end, "\"", 2);
    fputs("BEGIN;\nCREATE SCHEMA IF NOT EXISTS brume;\nSET search_path = brume, pg_catalog;\n", to);
    for (size_t i = 0; i < sizeof schema / sizeof *schema; i++)
        fprintf(to, "%s;\n", schema[i].sql);
    fprintf(to, "INSERT INTO about VALUES(%d, %d);\n", BRUME_LEDGER_APPLICATION,
            BRUME_LEDGER_SCHEMA);
    if (role) {
        fprintf(to, "GRANT USAGE ON SCHEMA brume TO %s;\n", quoted);
        fprintf(to, grants, "brume", quoted, quoted, quoted, quoted);
    }
    fputs("COMMIT;\n", to);
    if (fclose(to) != 0) {
        free(text);
        return brume_fail(error, BRUME_EMEMORY, NULL, "writing the statements: out of memory");
    }
    *out = text;
    return BRUME_OK;
}

const brume_store_engine brume_postgres_engine = {
    .is_server = true,
    .close = close_server,
    .identify = identify,
    .run = run,
    .begin = begin,
    .begin_reading = begin_reading,
    .commit = commit,
    .undo = undo,
    .prepare = prepare,
    .step = step,
    .text = text,
    .columns = columns,
    .finish = finish,
    .check = check,
    .prepare_purge = prepare_purge,
    .purge = purge,
};
