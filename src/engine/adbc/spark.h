/* Spark tables as the server describes them: for tests of what is read from its answers. */
#ifndef BRUME_ENGINE_ADBC_SPARK_H
#define BRUME_ENGINE_ADBC_SPARK_H

#include <pthread.h>

#include "engine/adbc/abi.h"
#include "engine/driver.h"

/* A folder as it is compared: one text for what is known to be one folder. */
char *brume_spark_folder(const char *location);

/* A connection to a server through an ADBC driver, which is a shared library that is opened when it
 * is first used. Shared by every engine that is reached in this way; an engine's own file says
 * which library that is, and speaks its SQL (spark.c).
 *
 * No message carries the driver's own words: they may quote rows, or a token. */

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

/* Run a statement for its effect. False: it failed. */
bool brume_adbc_run(brume_adbc *adbc, const char *sql);

/* The first column of the first row, a text; NULL: there is none, or the statement failed. The
 * caller frees it. */
char *brume_adbc_cell(brume_adbc *adbc, const char *sql);

#endif
