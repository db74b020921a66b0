/* print_parquet FILE...: the columns of Parquet files that are one table, an empty line, and their
 * rows, as parquet_text.h has them; or why they cannot be read, and status 1. For
 * parquet_writers.py. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "parquet_text.h"

static brume_status columns_text(const char *const *paths, size_t count, char **text,
                                 brume_error *error)
{
    brume_row_files *files = NULL;
    BRUME_TRY(brume_parquet_open("the files", paths, count, &files, error));
    *text = parquet_columns_text(files);
    brume_parquet_format.close(files);
    return BRUME_OK;
}

int main(int count, char **arguments)
{
    const char *const *paths = (const char *const *)arguments + 1;
    brume_error error = {0};
    char *columns = NULL, *rows = NULL;
    size_t length = 0;
    if (count < 2)
        return 2;
    brume_status status = columns_text(paths, (size_t)count - 1, &columns, &error);
    if (status == BRUME_OK)
        status = parquet_text(paths, (size_t)count - 1, &rows, &length, &error);
    if (status == BRUME_OK)
        printf("%s\n%s", columns, rows);
    else
        printf("%s: %s\n", brume_status_word(status), error.message);
    free(columns);
    if (status == BRUME_OK)
        free(rows);
    return status != BRUME_OK;
}
