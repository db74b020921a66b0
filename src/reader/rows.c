/* What all formats of rows have in common: see the header. */
#include "reader/rows.h"

#include "base/error.h"

brume_status brume_file_has_rows(const brume_row_format *format, const brume_row_files *files,
                                 size_t file, bool *has_rows, brume_error *error)
{
    size_t rows = 0, end = format->first_part(files, file + 1);
    for (size_t i = format->first_part(files, file); i < end && rows == 0; i++) {
        brume_row_part *part = NULL;
        BRUME_TRY(format->part_open(files, i, NULL, 0, &part, error));
        brume_status status = format->part_next(part, NULL, &rows, error);
        format->part_close(part);
        BRUME_TRY(status);
    }
    *has_rows = rows > 0;
    return BRUME_OK;
}
