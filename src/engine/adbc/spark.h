/* An open connection to a Spark Connect server. Shared by spark.c (connecting, rows) and
 * spark_table.c (what the server's catalog says of a table). */
#ifndef BRUME_ENGINE_ADBC_SPARK_H
#define BRUME_ENGINE_ADBC_SPARK_H

#include <jansson.h>

#include "engine/adbc/connection.h"

typedef struct brume_spark {
    brume_adbc *adbc;
    char *server;          /* host and port */
    json_t **descriptions; /* of each source, as the catalog gives it; NULL: what is read is no
                             table of it */
    size_t source_count;
} brume_spark;

/* Find the table of source `index`, which must be stored and not a view, and that it still has the
 * recorded columns; sets engine->tables[index]. */
brume_status brume_spark_open_table(brume_engine *engine, size_t index, const brume_source *source,
                                    brume_error *error);

/* The driver's functions of these names. */
brume_status brume_spark_describe(brume_engine *engine, size_t index,
                                  brume_description *description, brume_error *error);
brume_status brume_spark_marks(brume_engine *engine, size_t index, bool contents,
                               brume_marks *marks, brume_error *error);

#endif
