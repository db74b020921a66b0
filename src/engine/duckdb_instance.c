/* Databases of DuckDB that are used again: see the header.
 *
 * Lock-down, in this order: the database is in memory (so that no stored macro can shadow a
 * function); the settings that change the meaning of SQL are pinned; what does not fit into memory
 * fails instead of going to disk; external access is switched off (files are read by brume); the
 * configuration is locked. Sources come after that. */
#include "engine/duckdb_instance.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/duckdb_text.h"

/* Where a function finds its table, which changes from engine to engine. */
typedef struct place {
    brume_duckdb_table *table; /* NULL: there is no view of it */
} place;

struct brume_duckdb_instance {
    duckdb_database database;
    duckdb_connection connection;
    brume_duckdb_scan *scan; /* NULL until it is needed */
    place **places;          /* of brume_read_0(), brume_read_1() ... */
    size_t place_count;
    pid_t process; /* DuckDB's threads are this one's */
};

static _Atomic(brume_duckdb_instance *) idle;
/* After a fork, that of the parent: it has no threads here, so it can be neither used nor closed.
 */
static _Atomic(brume_duckdb_instance *) foreign;

bool brume_duckdb_run(duckdb_connection connection, const char *sql)
{
    duckdb_result result;
    bool done = duckdb_query(connection, sql, &result) == DuckDBSuccess;
    duckdb_destroy_result(&result);
    return done;
}

static bool settle(duckdb_connection connection)
{
    static const char *const settings[] = {
        "SET TimeZone = 'UTC'",
        "SET Calendar = 'gregorian'",
        "SET default_collation = ''",
        "SET integer_division = false",
        "SET ieee_floating_point_ops = true",
        "SET old_implicit_casting = false",
        "SET default_null_order = 'NULLS LAST'",
        "SET default_order = 'ASC'",
        "SET preserve_insertion_order = false",
        "SET autoinstall_known_extensions = false",
        "SET autoload_known_extensions = false",
        "SET enable_progress_bar = false",
        "SET errors_as_json = false",
        "SET scalar_subquery_error_on_multiple_rows = true",
        "SET temp_directory = ''", /* rows are never written to disk */
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!brume_duckdb_run(connection, settings[i]))
            return false;
    return true;
}

static void close_instance(brume_duckdb_instance *instance)
{
    if (instance->connection)
        duckdb_disconnect(&instance->connection);
    if (instance->database)
        duckdb_close(&instance->database);
    brume_duckdb_scan_close(instance->scan);
    for (size_t i = 0; i < instance->place_count; i++)
        free(instance->places[i]);
    free((void *)instance->places);
    free(instance);
}

static brume_status open_instance(brume_duckdb_instance *instance, brume_error *error)
{
    if (duckdb_open(NULL, &instance->database) != DuckDBSuccess ||
        duckdb_connect(instance->database, &instance->connection) != DuckDBSuccess ||
        !settle(instance->connection) || !brume_duckdb_text_register(instance->connection))
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB cannot be started");
    if (!brume_duckdb_run(instance->connection, "SET enable_external_access = false") ||
        !brume_duckdb_run(instance->connection, "SET lock_configuration = true"))
        return brume_fail(error, BRUME_EENGINE, NULL, "DuckDB cannot be locked down");
    return BRUME_OK;
}

brume_status brume_duckdb_instance_take(brume_duckdb_instance **out, brume_error *error)
{
    brume_duckdb_instance *instance = atomic_exchange(&idle, NULL);
    if (instance && instance->process == getpid()) {
        *out = instance;
        return BRUME_OK;
    }
    if (instance)
        atomic_store(&foreign, instance);
    BRUME_TRY(brume_libduckdb_load(error));
    instance = calloc(1, sizeof *instance);
    if (!instance)
        return brume_no_memory(error, NULL);
    instance->process = getpid();
    brume_status status = open_instance(instance, error);
    if (status == BRUME_OK)
        *out = instance;
    else
        close_instance(instance);
    return status;
}

/* Nothing of the sources stays. */
static bool clear(brume_duckdb_instance *instance)
{
    bool cleared = true;
    for (size_t i = 0; i < instance->place_count; i++) {
        char sql[64];
        if (!instance->places[i]->table)
            continue;
        instance->places[i]->table = NULL;
        snprintf(sql, sizeof sql, "DROP VIEW main.source_%zu", i);
        cleared = brume_duckdb_run(instance->connection, sql) && cleared;
    }
    return cleared;
}

void brume_duckdb_instance_give(brume_duckdb_instance *instance, bool keep)
{
    brume_duckdb_instance *none = NULL;
    if (!instance)
        return;
    if (!keep || !clear(instance) || !atomic_compare_exchange_strong(&idle, &none, instance))
        close_instance(instance);
}

duckdb_connection brume_duckdb_instance_connection(const brume_duckdb_instance *instance)
{
    return instance->connection;
}

brume_status brume_duckdb_instance_scan(brume_duckdb_instance *instance, brume_duckdb_scan **out,
                                        brume_error *error)
{
    if (!instance->scan)
        BRUME_TRY(brume_duckdb_scan_open(instance->connection, &instance->scan, error));
    *out = instance->scan;
    return BRUME_OK;
}

/* Functions brume_read_0() .. brume_read_INDEX(). */
static brume_status make_places(brume_duckdb_instance *instance, size_t index, brume_error *error)
{
    while (instance->place_count <= index) {
        size_t count = instance->place_count;
        place **wider = realloc((void *)instance->places, (count + 1) * sizeof *wider);
        place *made = calloc(1, sizeof *made);
        if (wider)
            instance->places = wider;
        if (!wider || !made) {
            free(made);
            return brume_no_memory(error, NULL);
        }
        instance->places[instance->place_count++] = made;
        char name[48];
        snprintf(name, sizeof name, "brume_read_%zu", count);
        BRUME_TRY(brume_duckdb_table_make(instance->connection, name, &made->table, error));
    }
    return BRUME_OK;
}

brume_status brume_duckdb_instance_put(brume_duckdb_instance *instance, size_t index,
                                       brume_duckdb_table *table, const char *view,
                                       brume_error *error)
{
    BRUME_TRY(make_places(instance, index, error));
    instance->places[index]->table = table;
    return brume_duckdb_run(instance->connection, view)
               ? BRUME_OK
               : brume_fail(error, BRUME_EENGINE, NULL, "DuckDB does not take the columns");
}
