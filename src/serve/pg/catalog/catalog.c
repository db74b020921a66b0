/* Queries of the catalog. Promises: catalog.h. */
#include "serve/pg/catalog/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sqlite3.h>

#include <brume/session.h>

#include "base/error.h"
#include "base/utf8.h"
#include "serve/pg/catalog/fill.h"
#include "serve/pg/catalog/print.h"
#include "serve/pg/catalog/sqlite.h"

/* Seconds that a catalog is taken to be of now, and that a query of it may take; steps of a query,
 * rows and bytes of its answer, bytes of one text, and bytes that SQLite may have meanwhile: a
 * thread of a connection runs it, and nothing but these ends it. */
static const double fresh = 2, patience = 5;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* many queries say more than long ones */
enum { STEPS = 100, MOST_HUNDREDS = 200, MOST_ROWS = 1000, MOST_BYTES = 1 << 20 };
enum { MOST_TEXT = 16 << 10, MOST_MEMORY = 256 << 20 };
#else
enum { STEPS = 100, MOST_HUNDREDS = 500000, MOST_ROWS = 100000, MOST_BYTES = 64 << 20 };
enum { MOST_TEXT = 256 << 10, MOST_MEMORY = 256 << 20 };
#endif

struct brume_pg_catalog {
    sqlite3 *database;
    json_t *shown; /* what it was made from */
    double made;
    int hundreds; /* of steps of the query that runs */
    double until; /* when it has to end */
};

void brume_pg_catalog_close(brume_pg_catalog *catalog)
{
    if (!catalog)
        return;
    sqlite3_close(catalog->database);
    json_decref(catalog->shown);
    free(catalog);
}

/* ---- making it ---- */

static int only_reading(void *context, int action, const char *a, const char *b, const char *c,
                        const char *d)
{
    (void)context, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                   action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

static int count_steps(void *context)
{
    brume_pg_catalog *catalog = context;
    return ++catalog->hundreds > MOST_HUNDREDS || sqlite3_memory_used() > MOST_MEMORY ||
           brume_pg_now() > catalog->until;
}

static brume_status call(brume_pg_connection *connection, const char *command, const char *options,
                         json_t **answer, brume_error *error)
{
    char *text = NULL;
    brume_pg_outcome outcome = {0};
    brume_status status = connection->backend->run(connection->backend->context, command, NULL,
                                                   options, &text, &outcome, error);
    if (status != BRUME_OK && outcome.busy)
        snprintf(connection->sqlstate, sizeof connection->sqlstate, "53300");
    if (status != BRUME_OK)
        return status;
    *answer = json_loads(text, JSON_ALLOW_NUL, NULL);
    brume_free(text);
    return *answer ? BRUME_OK : brume_fail(error, BRUME_EINTERNAL, NULL, "datasets cannot be read");
}

/* The answers of `show` for all datasets. */
static brume_status read_datasets(brume_pg_connection *connection, json_t *list, brume_error *error)
{
    json_t *datasets = NULL;
    const json_t *dataset;
    size_t i;
    brume_status status = call(connection, "datasets", NULL, &datasets, error);
    json_array_foreach (json_object_get(datasets, "datasets"), i, dataset) {
        json_t *options = json_pack("{s:O}", "name", json_object_get(dataset, "name")), *one = NULL;
        char *text = options ? json_dumps(options, 0) : NULL;
        if (status == BRUME_OK)
            status = text ? call(connection, "show", text, &one, error)
                          : brume_no_memory(error, "the catalog");
        if (status == BRUME_OK && json_array_append_new(list, one) != 0)
            status = brume_no_memory(error, "the catalog");
        free(text);
        json_decref(options);
    }
    json_decref(datasets);
    return status;
}

/* Reading is all that is allowed from now on. */
static void lock(brume_pg_catalog *catalog, bool locked)
{
    sqlite3_set_authorizer(catalog->database, locked ? only_reading : NULL, NULL);
}

static brume_status fill(brume_pg_connection *connection, brume_pg_catalog *catalog,
                         brume_error *error)
{
    if (sqlite3_open_v2(":memory:", &catalog->database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
                            SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return brume_no_memory(error, "the catalog");
    BRUME_TRY(brume_pg_add_functions(catalog->database, connection, error));
    BRUME_TRY(brume_pg_catalog_fill(catalog->database, connection, catalog->shown, error));
    /* A table-valued function is made when it is first used, which reading alone does not allow. */
    if (sqlite3_exec(catalog->database, "PRAGMA temp_store = MEMORY; SELECT * FROM json_each('[]')",
                     NULL, NULL, NULL) != SQLITE_OK)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the catalog cannot be made");
    (void)sqlite3_limit(catalog->database, SQLITE_LIMIT_LENGTH, MOST_TEXT);
    (void)sqlite3_limit(catalog->database, SQLITE_LIMIT_ATTACHED, 0);
    lock(catalog, true);
    sqlite3_progress_handler(catalog->database, STEPS, count_steps, catalog);
    catalog->made = brume_pg_now();
    return BRUME_OK;
}

/* Take `shown` over: as it is where nothing has changed, else in a new database. */
static brume_status renew(brume_pg_connection *connection, json_t *shown, brume_error *error)
{
    if (connection->catalog && json_equal(connection->catalog->shown, shown)) {
        connection->catalog->made = brume_pg_now();
        json_decref(shown);
        return BRUME_OK;
    }
    brume_pg_catalog *catalog = calloc(1, sizeof *catalog);
    if (!catalog) {
        json_decref(shown);
        return brume_no_memory(error, "the catalog");
    }
    catalog->shown = shown;
    brume_status status = fill(connection, catalog, error);
    if (status != BRUME_OK) {
        brume_pg_catalog_close(catalog);
        return status;
    }
    brume_pg_catalog_close(connection->catalog);
    connection->catalog = catalog;
    return BRUME_OK;
}

static brume_status refresh(brume_pg_connection *connection, const char *sql, brume_error *error)
{
    if (!connection->catalog || brume_pg_now() >= connection->catalog->made + fresh) {
        json_t *shown = json_array();
        brume_status status = shown ? read_datasets(connection, shown, error)
                                    : brume_no_memory(error, "the catalog");
        if (status != BRUME_OK) {
            json_decref(shown);
            return status;
        }
        BRUME_TRY(renew(connection, shown, error));
    }
    if (!strcasestr(sql, "pg_settings"))
        return BRUME_OK;
    lock(connection->catalog, false);
    brume_status status =
        brume_pg_catalog_fill_settings(connection->catalog->database, connection, error);
    lock(connection->catalog, true);
    return status;
}

/* ---- running ---- */

static char *cell(sqlite3_stmt *statement, int column, uint32_t type, size_t *bytes)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return NULL;
    if (type == BRUME_PG_BOOL)
        return strdup(sqlite3_column_int(statement, column) ? "t" : "f");
    const unsigned char *text = sqlite3_column_text(statement, column);
    *bytes += (size_t)sqlite3_column_bytes(statement, column);
    return text ? strdup((const char *)text) : NULL;
}

static brume_status read_rows(sqlite3_stmt *statement, brume_pg_table *table, int *result,
                              brume_error *error)
{
    size_t bytes = 0;
    while ((*result = sqlite3_step(statement)) == SQLITE_ROW) {
        char **row = brume_pg_table_add_row(table);
        if (!row)
            return brume_no_memory(error, "the answer");
        for (size_t i = 0; i < table->column_count; i++)
            row[i] = cell(statement, (int)i, table->columns[i].type, &bytes);
        if (table->row_count > MOST_ROWS || bytes > MOST_BYTES)
            return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "the answer is too long");
    }
    return BRUME_OK;
}

/* Say why a query has no rows to whoever asks for messages of that kind. */
static void explain_silence(brume_pg_connection *connection, const char *reason)
{
    const char *level = brume_pg_show(connection->settings, "client_min_messages");
    char message[300];
    if (!level || strncmp(level, "debug", 5) != 0)
        return;
    snprintf(message, sizeof message, "this query of the catalog is not answered: %.200s", reason);
    brume_utf8_mend(message);
    brume_pg_notice(connection, "DEBUG", "00000", message, NULL, NULL);
}

static brume_status run(brume_pg_connection *connection, const brume_pg_translation *translation,
                        brume_pg_table *table, brume_error *error)
{
    brume_pg_catalog *catalog = connection->catalog;
    sqlite3_stmt *statement = NULL;
    catalog->hundreds = 0;
    catalog->until = brume_pg_now() + patience;
    int result = sqlite3_prepare_v2(catalog->database, translation->sql, -1, &statement, NULL);
    brume_status status = BRUME_OK;
    if (result == SQLITE_OK && (size_t)sqlite3_column_count(statement) == table->column_count)
        status = read_rows(statement, table, &result, error);
    else
        result = SQLITE_ERROR;
    if (status == BRUME_OK && result == SQLITE_INTERRUPT)
        status = brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                            "the query takes too many steps, or too long");
    else if (status == BRUME_OK && result != SQLITE_DONE && !translation->reads_catalog)
        status = brume_fail(error, BRUME_EUNSUPPORTED, NULL, "this is not answered: %.200s",
                            sqlite3_errmsg(catalog->database));
    else if (status == BRUME_OK && result != SQLITE_DONE)
        explain_silence(connection, sqlite3_errmsg(catalog->database));
    sqlite3_finalize(statement);
    return status; /* what SQLite does not take has no rows */
}

static void work(const brume_pg_connection *connection, bool begins)
{
    if (connection->backend->work)
        connection->backend->work(connection->backend->context, begins);
}

brume_status brume_pg_catalog_query(brume_pg_connection *connection, const char *sql,
                                    brume_pg_table *table, brume_error *error)
{
    PgQuery__ParseResult *tree = NULL;
    brume_pg_translation translation = {0};
    BRUME_TRY(refresh(connection, sql, error));
    BRUME_TRY(brume_pg_parse(sql, &tree, &connection->position, error));
    brume_status status =
        tree->n_stmts == 1 && tree->stmts[0]->stmt->node_case == PG_QUERY__NODE__NODE_SELECT_STMT
            ? brume_pg_translate(tree->stmts[0]->stmt->select_stmt, &translation, error)
            : brume_fail(error, BRUME_EUNSUPPORTED, NULL, "this is no SELECT");
    pg_query__parse_result__free_unpacked(tree, NULL);
    if (status == BRUME_EUNKNOWN)
        snprintf(connection->sqlstate, sizeof connection->sqlstate, "42P01");
    BRUME_TRY(status);
    *table = translation.columns;
    translation.columns = (brume_pg_table){0};
    if (translation.sql) {
        work(connection, true);
        status = run(connection, &translation, table, error);
        work(connection, false);
    } else if (!translation.reads_catalog)
        status = brume_pg_refuse(connection, "42883", NULL, error, "this is not answered: %s",
                                 translation.reason);
    else
        explain_silence(connection, translation.reason);
    brume_pg_translation_clear(&translation);
    return status;
}
