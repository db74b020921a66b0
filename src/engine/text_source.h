/* The columns of CSV and JSON files, and their rows. */
#ifndef BRUME_ENGINE_TEXT_SOURCE_H
#define BRUME_ENGINE_TEXT_SOURCE_H

#include "engine/duckdb_reader.h"
#include "engine/files.h"

/* Open the files of `source`: with recorded columns those, and ESOURCE unless every header line
 * names them; without (registration) what its header and the declared columns say: EARGUMENT where
 * they do not fit or say nothing. Fills the first four fields of `table`; *options is how the lines
 * are read, to be recorded. */
BRUME_MUST_USE brume_status brume_text_source_open(const brume_source *source,
                                                   const brume_files *files,
                                                   brume_duckdb_table *table, char **options,
                                                   brume_error *error);

/* What is described of the columns. */
BRUME_MUST_USE brume_status brume_text_source_describe(const brume_duckdb_table *table,
                                                       brume_description *description,
                                                       brume_error *error);

#endif
