/* The file that --no-ledger reads. */
#include "cli/input.h"

#include "base/error.h"

brume_status brume_input_open(const char *location, const char *const *names, size_t name_count,
                              brume_input *out, brume_error *error)
{
    *out = (brume_input){.path = location};
    if (!brume_file_needs_engine(location))
        return BRUME_OK;
    brume_bits *bits = NULL;
    BRUME_TRY(brume_bits_open(&bits, error));
    brume_status status = brume_file_rows(location, names, name_count, bits, &out->rows, error);
    brume_bits_close(bits);
    out->path = out->rows.path;
    out->format = &brume_rows_format;
    return status;
}

void brume_input_close(brume_input *input)
{
    brume_rows_file_close(&input->rows);
}
