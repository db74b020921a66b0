/* Records of a CSV whose quoted fields may hold line ends: lines are put together until the quotes
 * of the last one are closed. A quote that is never closed goes on to the end of the file. Bytes
 * behind a closing quote belong to its field (and make the record unreadable: csv_line.h). A record
 * of more than 2^28 bytes cannot be read. Without `multiline` every line is a record. */
#ifndef BRUME_READER_RECORDS_H
#define BRUME_READER_RECORDS_H

#include <stddef.h>

#include "reader/format.h"
#include "reader/lines.h"

typedef struct brume_records brume_records;

/* Takes `lines` over, also on failure. */
BRUME_MUST_USE brume_status brume_records_open(brume_lines *lines, const brume_text_format *format,
                                               brume_records **out, brume_error *error);
void brume_records_close(brume_records *records);

/* The next record, its LF included: length bytes at *bytes + *at, appended to what the last calls
 * gave since the last brume_records_forget. *bytes moves with every call. A length of 0 is a record
 * that cannot be read. *more is false after the last. */
BRUME_MUST_USE brume_status brume_records_next(brume_records *records, char **bytes, size_t *at,
                                               size_t *length, bool *more, brume_error *error);
void brume_records_forget(brume_records *records);

#endif
