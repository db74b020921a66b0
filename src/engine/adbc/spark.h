/* An open connection to a Spark Connect server. Shared by spark.c (connecting, rows),
 * spark_table.c and spark_lines.c (what the server's catalog says of a table) and spark_marks.c (by
 * what a table is known). */
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

/* What a catalog says in lines of a table, as the JSON of Spark's own catalog has it, but "name" is
 * the whole name; NULL: there is none. */
json_t *brume_spark_read_lines(brume_adbc *adbc, const char *table);

/* The name that the catalog itself has for a table, whatever was typed. */
char *brume_spark_name(const json_t *description);

/* A folder as it is compared: one text for what is known to be one folder. */
char *brume_spark_folder(const char *location);

/* The driver's functions of these names. */
brume_status brume_spark_describe(brume_engine *engine, size_t index,
                                  brume_description *description, brume_error *error);
brume_status brume_spark_marks(brume_engine *engine, size_t index, bool contents,
                               brume_marks *marks, brume_error *error);

#endif
