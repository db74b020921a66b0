/* The columns of Parquet files, and their rows. */
#ifndef BRUME_ENGINE_PARQUET_SOURCE_H
#define BRUME_ENGINE_PARQUET_SOURCE_H

#include "engine/duckdb_reader.h"
#include "engine/files.h"

/* Open the files: ESOURCE unless they are sound and have the same columns, those that `source`
 * recorded among them. Fills the first four fields of `table`, with the columns that can be read.
 */
BRUME_MUST_USE brume_status brume_parquet_source_open(const brume_source *source,
                                                      const brume_files *files,
                                                      brume_duckdb_table *table,
                                                      brume_error *error);

/* What is described of the columns, also of those that cannot be read. */
BRUME_MUST_USE brume_status brume_parquet_source_describe(const brume_duckdb_table *table,
                                                          brume_description *description,
                                                          brume_error *error);

#endif
