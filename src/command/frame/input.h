/* The file that --no-ledger reads: a CSV as it is, Parquet and JSON through the engine. */
#ifndef BRUME_COMMAND_INPUT_H
#define BRUME_COMMAND_INPUT_H

#include "query/collect/unit_rows.h"

typedef struct brume_input {
    const char *path;                /* of the CSV to read */
    const brume_text_format *format; /* NULL: the defaults of its name */
    brume_rows_file rows;
} brume_input;

/* `names` are the columns that will be read, parted by commas: a JSON file has these. Close with
 * brume_input_close, also after a failure. */
BRUME_MUST_USE brume_status brume_input_open(const char *location, const char *names,
                                             brume_input *out, brume_error *error);
void brume_input_close(brume_input *input);

#endif
