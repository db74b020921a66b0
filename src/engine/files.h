/* The files behind a path or a glob: which they are, and by which marks they are known. */
#ifndef BRUME_ENGINE_FILES_H
#define BRUME_ENGINE_FILES_H

#include <glob.h>

#include "engine/engine.h"

typedef enum brume_file_format {
    BRUME_FILE_CSV,
    BRUME_FILE_PARQUET,
    BRUME_FILE_JSON
} brume_file_format;

/* By the ending of the name alone. */
brume_file_format brume_file_format_of(const char *location);

typedef struct brume_files {
    brume_file_format format;
    char *location; /* as it was given. Messages at a query name this: the names of files behind a
                       glob may tell who is in the data */
    char *identity; /* "file:PATH" or "glob:PATTERN", absolute */
    char **paths;   /* resolved: no link among them, and no file twice */
    size_t count;
    glob_t owner; /* of the paths */
} brume_files;

/* Find them, each once, however many names it has. ESOURCE if there is none or one may not be read.
 * Clear also after a failure. */
BRUME_MUST_USE brume_status brume_files_find(const char *location, brume_files *files,
                                             brume_error *error);
void brume_files_clear(brume_files *files);

/* Add the marks of every file (see brume_engine_marks); by the contents of those for which
 * contents[i] is true (NULL: of none). */
BRUME_MUST_USE brume_status brume_files_mark(const brume_files *files, const bool *contents,
                                             brume_marks *marks, brume_error *error);

#endif
