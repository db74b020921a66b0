/* The file that --no-ledger reads: a CSV as it is, Parquet and JSON through the engine. */
#ifndef BRUME_CLI_INPUT_H
#define BRUME_CLI_INPUT_H

#include "query/file_rows.h"

typedef struct brume_input {
    const char *path; /* of the CSV to read */
    brume_rows_file rows;
} brume_input;

/* Close with brume_input_close, also after a failure. */
BRUME_MUST_USE brume_status brume_input_open(const char *location, brume_input *out,
                                             brume_error *error);
void brume_input_close(brume_input *input);

#endif
