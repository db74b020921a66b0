/* The file that --no-ledger reads. */
#include "command/frame/input.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The names of a list that are not empty, each once; they are pieces of `list`, which is cut. */
static size_t split_names(char *list, const char **names)
{
    size_t count = 0;
    for (char *name; (name = strsep(&list, ","));) {
        size_t i = 0;
        while (i < count && strcmp(names[i], name) != 0)
            i++;
        if (*name && i == count)
            names[count++] = name;
    }
    if (count == 0)
        names[count++] = "row"; /* rows are counted, and no field is read */
    return count;
}

static brume_status read_rows(const char *location, const char **names, size_t count,
                              brume_input *out, brume_error *error)
{
    brume_bits *bits = NULL;
    BRUME_TRY(brume_bits_open(&bits, error));
    brume_status status = brume_file_rows(location, names, count, bits, &out->rows, error);
    brume_bits_close(bits);
    return status;
}

brume_status brume_input_open(const char *location, const char *names, brume_input *out,
                              brume_error *error)
{
    *out = (brume_input){.path = location};
    if (!brume_file_needs_engine(location))
        return BRUME_OK;
    char *list = strdup(names);
    const char **each = calloc(strlen(names) + 1, sizeof *each);
    brume_status status = list && each ? BRUME_OK : brume_no_memory(error, NULL);
    if (status == BRUME_OK)
        status = read_rows(location, each, split_names(list, each), out, error);
    free(list);
    free((void *)each);
    out->path = out->rows.path;
    out->format = &brume_rows_format;
    return status;
}

void brume_input_close(brume_input *input)
{
    brume_rows_file_close(&input->rows);
}
