/* A connection to a server through an ADBC driver, which is a shared library that is opened when it
 * is first used. Shared by every engine that is reached in this way; an engine's own file says
 * which library that is, and speaks its SQL (spark.c).
 *
 * No message carries the driver's own words: they may quote rows, or a token. */
#ifndef BRUME_ENGINE_ADBC_CONNECTION_H
#define BRUME_ENGINE_ADBC_CONNECTION_H

#include <pthread.h>

#include "engine/adbc/abi.h"
#include "engine/driver.h"

/* A driver; one for the whole process. Only the first four are the caller's to fill. */
typedef struct brume_adbc_library {
    const char *server;      /* for messages: "Spark" */
    const char *name;        /* of the library: "libadbc_driver_spark.so" */
    const char *environment; /* the variable with a path in its place */
    const char *entry;       /* "AdbcDriverSparkInit" */
    pthread_mutex_t lock;
    bool loaded;
    brume_adbc_functions functions;
} brume_adbc_library;

typedef struct brume_adbc brume_adbc;

/* Load the driver and connect; `options` are keys and their values in turn, and end with NULL. The
 * library outlives the connection. EUNSUPPORTED: there is no such driver; ESOURCE: the server
 * cannot be reached, which some drivers find out with the first statement only. */
BRUME_MUST_USE brume_status brume_adbc_open(brume_adbc_library *library, const char *const *options,
                                            brume_adbc **out, brume_error *error);
void brume_adbc_close(brume_adbc *adbc);

/* Run a statement for its effect. False: it failed. */
bool brume_adbc_run(brume_adbc *adbc, const char *sql);

/* The first column of the first row, a text; NULL: there is none, or the statement failed. The
 * caller frees it. */
char *brume_adbc_cell(brume_adbc *adbc, const char *sql);

/* The first `count` columns of every row, texts, of which NULL is an empty one; `take` says whether
 * to go on. False: the statement failed, or has other columns, or `take` ended it. */
typedef bool (*brume_adbc_taker)(void *context, const brume_text *cells);
bool brume_adbc_texts(brume_adbc *adbc, const char *sql, size_t count, brume_adbc_taker take,
                      void *context);

/* EENGINE, that the server failed or was lost. */
brume_status brume_adbc_failed(const brume_adbc *adbc, brume_error *error);

/* The functions of brume_driver of these names, for an engine that has this connection. Columns of
 * the result must be int64, float64, or text, for which a decimal is taken too. */
BRUME_MUST_USE brume_status brume_adbc_select(brume_adbc *adbc, const char *sql, brume_rows *rows,
                                              brume_error *error);
BRUME_MUST_USE brume_status brume_adbc_next(brume_rows *rows, brume_error *error);
void brume_adbc_finish(brume_rows *rows);
void brume_adbc_cancel(brume_adbc *adbc);

#endif
