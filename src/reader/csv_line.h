/* Splitting a line of a CSV into fields.
 *
 * 1. A field whose first byte is the quote ends at the next quote that is not doubled; a doubled
 *    one stands for one. Behind it must follow the delimiter or the end of the line.
 * 2. Every other field ends at the delimiter or the end of the line; a quote in it is a byte like
 *    others. If it is empty it is NULL; "" in quotes is an empty text.
 * 3. A line whose quotes break rule 1, also behind its last wanted field, cannot be read: all its
 *    fields are NULL. Missing fields are NULL, those beyond the columns are not read.
 * 4. A line ends at LF, and a CR before it is dropped. Only with multiline may a quoted field hold
 *    LF. */
#ifndef BRUME_READER_CSV_LINE_H
#define BRUME_READER_CSV_LINE_H

#include <stddef.h>

#include "base/text.h"
#include "reader/format.h"

typedef struct brume_csv_splitter {
    brume_text_format format;
    size_t width; /* columns up to the last that is wanted */
    brume_text *
        *targets; /* of each of them: targets[column][row] gets its field; NULL: not wanted */
} brume_csv_splitter;

/* Split the line that begins at `line` into fields of row `row`, which are pieces of it; doubled
 * quotes are undoubled in place. `last`: with multiline, the LF that ends the record; else NULL.
 * Returns the byte behind the line. BRUME_FIND_PADDING readable bytes follow the line. A field of
 * NULL has no data. */
char *brume_csv_split(const brume_csv_splitter *splitter, char *line, const char *last, size_t row);

/* One field, from the byte `at` on; returns the delimiter or LF that ends it, NULL if the line
 * cannot be read. *quoted: it stood in quotes. */
char *brume_csv_take_field(const brume_text_format *format, char *at, const char *last,
                           brume_text *field, bool *quoted);

#endif
