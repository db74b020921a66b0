/* Spark, over Spark Connect and the ADBC driver for it.
 *
 * Everything that changes the meaning of SQL is pinned. ANSI mode is off: where it is on, an
 * overflow or a text that is no number makes the whole query fail, which tells that such a row is
 * there; where it is off, it makes that value NULL or wrong, and a value, whatever it is, is
 * clamped. The printed forms need neither. Names in double quotes become names in backticks, the
 * only ones that Spark knows without ANSI mode.
 *
 * There are no transactions: every statement reads its tables as they are when it starts
 * (proofs/push-down.md says why that is enough). */
#include "engine/adbc/spark.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static brume_adbc_library library = {.server = "Spark",
                                     .name = "libadbc_driver_spark.so",
                                     .environment = "BRUME_SPARK_DRIVER",
                                     .entry = "AdbcDriverSparkInit",
                                     .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- settings ---- */

static bool settle(brume_adbc *adbc)
{
    static const char *const settings[] = {
        "SET spark.sql.ansi.enabled=false",
        "SET spark.sql.session.timeZone=UTC",
        "SET spark.sql.caseSensitive=false",
        /* Products of decimals that do not fit are NULL, and never lose decimals. */
        "SET spark.sql.decimalOperations.allowPrecisionLoss=false",
        /* Texts mean what they say. */
        "SET spark.sql.parser.escapedStringLiterals=false",
        "SET spark.sql.variable.substitute=false",
        "SET spark.sql.legacy.timeParserPolicy=CORRECTED",
        "SET spark.sql.legacy.allowNegativeScaleOfDecimal=false",
        "SET spark.sql.optimizer.collapseProjectAlwaysInline=false",
        /* Old dates are read as they are; the default is to fail on them. */
        "SET spark.sql.parquet.datetimeRebaseModeInRead=CORRECTED",
        "SET spark.sql.parquet.int96RebaseModeInRead=CORRECTED",
        "SET spark.sql.avro.datetimeRebaseModeInRead=CORRECTED",
        /* A file that cannot be read is an error, never fewer rows. */
        "SET spark.sql.files.ignoreCorruptFiles=false",
        "SET spark.sql.files.ignoreMissingFiles=false",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!brume_adbc_run(adbc, settings[i]))
            return false;
    return true;
}

/* Texts are compared by bytes. No setting of Spark 4.1 makes other texts of a session; if a server
 * has one, nothing is asked of it. What a column has is in its type (spark_table.c). */
static brume_status check_collation(brume_spark *state, brume_error *error)
{
    char *name = brume_adbc_cell(state->adbc, "SELECT concat(collation('a'), ' ', "
                                              "collation(CAST(1 AS STRING)))");
    if (!name)
        return brume_adbc_failed(state->adbc, error);
    bool bytewise = strcmp(name, "SYSTEM.BUILTIN.UTF8_BINARY SYSTEM.BUILTIN.UTF8_BINARY") == 0;
    free(name);
    return bytewise ? BRUME_OK
                    : brume_fail(error, BRUME_EUNSUPPORTED, "let the default be UTF8_BINARY",
                                 "the Spark server compares texts by another collation than "
                                 "UTF8_BINARY");
}

/* The first statement finds out whether the server is there, and which it is. */
static brume_status check_server(brume_spark *state, brume_error *error)
{
    char *version = brume_adbc_cell(state->adbc, "SELECT version()");
    if (!version)
        return brume_fail(error, BRUME_ESOURCE, "check host, port and token, and that it runs",
                          "cannot connect to the Spark server");
    bool new = strtol(version, NULL, 10) >= 4;
    free(version);
    if (!new)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "this Spark server is older than version 4");
    return settle(state->adbc) ? check_collation(state, error)
                               : brume_adbc_failed(state->adbc, error);
}

/* ---- opening ---- */

/* spark://HOST:PORT/;... as the driver takes it: sc://HOST:PORT/;... */
static brume_status connect(brume_spark *state, const brume_source *source, brume_error *error)
{
    const char *rest = strstr(source->location, "://") + 3;
    const char *token = source->password ? source->password : getenv("BRUME_SPARK_TOKEN");
    char *uri = brume_engine_format("sc://%s", rest);
    state->server = strndup(rest, strcspn(rest, "/;"));
    brume_status status = uri && state->server ? BRUME_OK : brume_no_memory(error, NULL);
    const char *const options[] = {
        "uri", uri, "adbc.spark.user_agent", "brume", token && *token ? "adbc.spark.token" : NULL,
        token, NULL};
    if (status == BRUME_OK)
        status = brume_adbc_open(&library, options, &state->adbc, error);
    free(uri);
    return status == BRUME_OK ? check_server(state, error) : status;
}

static brume_status spark_driver_open(brume_engine *engine, const brume_source *sources,
                                      size_t count, brume_error *error)
{
    brume_spark *state = calloc(1, sizeof *state);
    if (!state)
        return brume_no_memory(error, NULL);
    engine->state = state;
    state->descriptions = calloc(count, sizeof *state->descriptions);
    if (!state->descriptions)
        return brume_no_memory(error, NULL);
    state->source_count = count;
    for (size_t i = 1; i < count; i++)
        if (strcmp(sources[i].location, sources[0].location) != 0)
            return brume_fail(error, BRUME_EUNSUPPORTED, "register both with the same URL",
                              "tables of different Spark URLs cannot be read in one query");
    BRUME_TRY(connect(state, &sources[0], error));
    for (size_t i = 0; i < count; i++) {
        if (!sources[i].relation) {
            BRUME_TRY(brume_spark_open_table(engine, i, &sources[i], error));
            continue;
        }
        engine->tables[i] = strdup(sources[i].relation);
        if (!engine->tables[i])
            return brume_no_memory(error, NULL);
    }
    return BRUME_OK;
}

static void spark_driver_close(brume_engine *engine)
{
    brume_spark *state = engine->state;
    if (!state)
        return;
    brume_adbc_close(state->adbc);
    for (size_t i = 0; i < state->source_count; i++)
        json_decref(state->descriptions[i]);
    free(state->descriptions);
    free(state->server);
    free(state);
    engine->state = NULL;
}

/* ---- rows ---- */

/* Double quotes around names become backticks, in place. They are brume's own names, with none of
 * either inside; what stands in quotes or in backticks already is passed over. */
static void quote_names(char *sql)
{
    for (; *sql; sql++) {
        char open = *sql;
        if (open == '"' || open == '`') {
            for (*sql++ = '`'; *sql && *sql != open; sql++)
                ;
            if (!*sql)
                return;
            *sql = '`';
        } else if (*sql == '\'') {
            for (sql++; *sql && *sql != '\''; sql++)
                if (*sql == '\\' && sql[1])
                    sql++;
            if (!*sql)
                return;
        }
    }
}

static brume_status spark_driver_select(brume_engine *engine, const char *sql, brume_rows *rows,
                                        brume_error *error)
{
    brume_spark *state = engine->state;
    char *own = strdup(sql);
    if (!own)
        return brume_no_memory(error, NULL);
    quote_names(own);
    brume_status status = brume_adbc_select(state->adbc, own, rows, error);
    free(own);
    return status;
}

static brume_status spark_driver_retain(brume_engine *engine, brume_error *error)
{
    (void)engine;
    (void)error;
    return BRUME_OK;
}

static void spark_driver_release(brume_engine *engine)
{
    (void)engine;
}

static void spark_driver_cancel(brume_engine *engine)
{
    const brume_spark *state = engine->state;
    brume_adbc_cancel(state->adbc);
}

const brume_driver brume_driver_spark = {
    .dialect = BRUME_DIALECT_SPARK,
    .open = spark_driver_open,
    .close = spark_driver_close,
    .describe = brume_spark_describe,
    .marks = brume_spark_marks,
    .select = spark_driver_select,
    .next = brume_adbc_next,
    .finish = brume_adbc_finish,
    .retain = spark_driver_retain,
    .release = spark_driver_release,
    .cancel = spark_driver_cancel,
};
