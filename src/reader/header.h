/* The first line of a CSV names its columns.
 *
 * Spaces around a name without quotes do not count. A name that is empty is columnN, N the place of
 * the column from 1 on (such a name is what pandas writes for its index). */
#ifndef BRUME_READER_HEADER_H
#define BRUME_READER_HEADER_H

#include <stddef.h>

#include "reader/format.h"
#include "reader/lines.h"

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
