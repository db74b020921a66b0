/* Text files of one table as rows (reader/rows.h): CSV, or JSON lines. */
#ifndef BRUME_READER_TEXT_FILES_H
#define BRUME_READER_TEXT_FILES_H

#include <stddef.h>

#include "reader/format.h"
#include "reader/lines.h"
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

/* One line that is a JSON object, as fields: the text of a string (decoded), or of a number, true
 * or false as it is written.
 *
 * 1. A line that is no JSON object, or one that is nested deeper than 1024, cannot be read: all its
 *    fields are NULL. (RFC 8259; but whether the bytes of a string are UTF-8 is asked only where it
 *    is read as text.)
 * 2. Fields that are not there, null, arrays and objects, and strings with half of a surrogate pair
 *    or \u0000 are NULL. If a name is there twice the last counts.
 * 3. The time is linear in the line, and nothing recurses. */

typedef struct brume_json_splitter {
    size_t count;
    const brume_text *names; /* of the wanted fields; none twice */
    brume_text **targets;    /* targets[i][row] gets field i; without data it is NULL */
} brume_json_splitter;

/* Read the line that begins at `line`; strings are decoded in place. Returns the byte behind its
 * LF. BRUME_FIND_PADDING readable bytes follow. */
char *brume_json_split(const brume_json_splitter *splitter, char *line, size_t row);

/* The first line of a CSV names its columns.
 *
 * Spaces around a name without quotes do not count. A name that is empty is columnN, N the place of
 * the column from 1 on (such a name is what pandas writes for its index). */

typedef struct brume_header {
    char **names;
    size_t count;
    uint64_t end; /* where the line behind it begins */
} brume_header;

/* Read it. ESOURCE if the file has no line, or one that cannot be read (broken quotes, text that is
 * not UTF-8, more than 2^28 bytes). */
BRUME_MUST_USE brume_status brume_header_read(const brume_text_file *file,
                                              const brume_text_format *format, brume_header *out,
                                              brume_error *error);
void brume_header_clear(brume_header *header);

/* ESOURCE if two names are the same without regard to the case of ASCII letters. */
BRUME_MUST_USE brume_status brume_header_check_distinct(const brume_header *header,
                                                        const char *named, brume_error *error);

#endif
