/* Rows of files, as typed columns in batches: what CSV, JSON lines and Parquet have in common.
 *
 * 1. The columns are given (declared by the owner, or the schema of a Parquet file's footer);
 *    nothing about them depends on a row.
 * 2. Every record is one row: of a text file a physical line (ended by LF; a CR at its end is
 *    dropped, a lone CR ends nothing; a byte-order mark is dropped before a header line and, where
 *    there is none, before every row; a last line without LF counts, nothing after a last LF does).
 *    No line vanishes and none hides another, unless the owner declared texts over several lines
 *    (format.h).
 * 3. What cannot be read is NULL: a line, all its values; a value that does not fit its column's
 *    type, that value. So no content of a record makes reading fail, and what is read of one record
 *    depends on no other record.
 * 4. Values are those of base/type.h: text is valid UTF-8 without NUL; a double is finite and below
 *    1e150 in size; dates and timestamps lie in the years 0001 to 9999. Everything else is NULL.
 * 5. Rows come in parts (ranges of lines, row groups), which several threads may read at once, each
 *    its own. How files are cut into parts changes no row.
 * 6. Errors are about files, never about rows: ESOURCE if one is gone, unreadable, or not of its
 *    kind; EMEMORY. No message quotes a row. */
#ifndef BRUME_READER_ROWS_H
#define BRUME_READER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "base/text.h"
#include "base/type.h"

enum { BRUME_BATCH_ROWS = 2048 };

/* One column of a batch. `values` has room for BRUME_BATCH_ROWS values of the column's type:
 *   BOOLEAN uint8_t (0, 1); INTEGER int32_t; BIGINT int64_t; DECIMAL in units of 10^-scale, int64_t
 * up to precision 18 and __int128 beyond; DOUBLE double; TEXT brume_text, whose bytes are valid
 * until the next call on the part; DATE int32_t, days since 1970-01-01; TIMESTAMP int64_t,
 * microseconds. `valid` has BRUME_BATCH_ROWS / 64 words: bit i % 64 of word i / 64 is 1 where row i
 * is not NULL. The value of a NULL is unspecified. */
typedef struct brume_batch_column {
    void *values;
    uint64_t *valid;
} brume_batch_column;

typedef struct brume_reader_column {
    const char *name;
    brume_type type;
} brume_reader_column;

typedef struct brume_row_files brume_row_files;
typedef struct brume_row_part brume_row_part;

/* What a format gives. `files` is read only once it is open: any number of threads may open parts.
 */
typedef struct brume_row_format {
    size_t (*part_count)(const brume_row_files *files);
    /* Part `index`, of which the columns columns[0..column_count) (indices into the files' columns)
     * are wanted, in this order; none (column_count 0): rows are only counted. */
    brume_status (*part_open)(const brume_row_files *files, size_t index, const size_t *columns,
                              size_t column_count, brume_row_part **part, brume_error *error);
    /* The next rows, at most BRUME_BATCH_ROWS; *row_count is 0 after the last. */
    brume_status (*part_next)(brume_row_part *part, brume_batch_column *columns, size_t *row_count,
                              brume_error *error);
    void (*part_close)(brume_row_part *part); /* NULL is nothing to close */
    void (*close)(brume_row_files *files);    /* NULL is nothing to close */
    /* The first part of a file, in the order of their paths; of the file behind the last one:
     * part_count. */
    size_t (*first_part)(const brume_row_files *files, size_t file);
} brume_row_format;

/* Has this file a row? Reads no further than the first. Errors as of reading. */
BRUME_MUST_USE brume_status brume_file_has_rows(const brume_row_format *format,
                                                const brume_row_files *files, size_t file,
                                                bool *has_rows, brume_error *error);

#endif
