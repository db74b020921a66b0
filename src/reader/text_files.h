/* Text files of one table as rows (reader/rows.h): CSV, or JSON lines. */
#ifndef BRUME_READER_TEXT_FILES_H
#define BRUME_READER_TEXT_FILES_H

#include "reader/format.h"
#include "reader/rows.h"

typedef struct brume_text_table {
    const char *const *paths;
    size_t path_count;
    const char *named; /* what messages call the files */
    bool json;         /* JSON lines; else CSV, as `format` says */
    brume_text_format format;
    const brume_reader_column *columns; /* copied */
    size_t column_count;
    size_t part_bytes; /* a part has about this many; 0: 4 MiB */
} brume_text_table;

/* Open them. ESOURCE if one cannot be read, or, where there is a header, its names are not those of
 * the columns in their order. `paths` and `named` are the caller's until the files are closed. */
BRUME_MUST_USE brume_status brume_text_files_open(const brume_text_table *table,
                                                  brume_row_files **out, brume_error *error);

extern const brume_row_format brume_text_rows;

#endif
