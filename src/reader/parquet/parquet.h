/* Parquet files as rows: see reader/rows.h. A part is a row group.
 *
 * 1. The columns are those of the files' schema (footer.h says what is read as what); every file
 *    must have the same ones, by name and type, in any order. Columns that brume cannot read are
 *    listed too, with the type BRUME_TYPE_REFUSED; a part's columns are counted without them.
 * 2. Whatever a file holds in a row is a value or NULL (convert.h). Errors are about files: one
 *    that is gone, was changed since it was opened, or is not sound.
 * 3. Only the wanted columns are read, and no column to count rows. Nothing is mapped into memory.
 * 4. No statistics are read: a row counts as what is stored, not as what a footer claims. */
#ifndef BRUME_READER_PARQUET_PARQUET_H
#define BRUME_READER_PARQUET_PARQUET_H

#include "reader/parquet/footer.h"
#include "reader/rows.h"

/* Open `count` >= 1 files; messages name them as `location`, which may be a glob. Paths and
 * location are copied. ESOURCE: unreadable, damaged, or with other columns than the first;
 * EUNSUPPORTED: written in a way that brume does not know; EMEMORY. */
BRUME_MUST_USE brume_status brume_parquet_open(const char *location, const char *const *paths,
                                               size_t count, brume_row_files **files,
                                               brume_error *error);

/* The columns, of which `name`, `type` and `native` are for callers. They live as long as `files`.
 */
const brume_parquet_column *brume_parquet_columns(const brume_row_files *files, size_t *count);

extern const brume_row_format brume_parquet_format;

#endif
