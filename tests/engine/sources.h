/* Files of a folder of its own, and engines over them. */
#ifndef BRUME_TESTS_ENGINE_SOURCES_H
#define BRUME_TESTS_ENGINE_SOURCES_H

#include "engine/engine.h"

extern char folder[64];
extern brume_error error;

/* Make the folder; remove it with all that is in it. Fixtures of cmocka. */
int make_folder(void **state);
int remove_folder(void **state);

/* Write a file of the folder, or what a SELECT gives as Parquet to a path. */
void write_file(const char *name, const char *text);
void write_parquet(const char *select, const char *path);

/* The path of a file of the folder: good for four calls. */
const char *path_of(const char *name);

/* An engine over one source: a table of a server, or a file with these declared columns
 * (columns.h; NULL: none). */
brume_engine *open_one(const char *location, const char *table);
brume_engine *open_declared(const char *location, const char *declared);

/* Sum of the first column (integers) and number of rows. */
brume_status sum(brume_engine *engine, const char *sql, int64_t *total, size_t *count);

#endif
