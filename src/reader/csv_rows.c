/* A CSV row by row: see the header. All columns are read as text, batch by batch. */
#include "reader/csv_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "reader/text_files.h"
#include "reader/value.h"

enum { VALID_WORDS = BRUME_BATCH_ROWS / 64 };

struct brume_csv {
    char *path;  /* of what is read */
    char *named; /* in messages */
    int copy;    /* of what is no file; -1: none */
    brume_header header;
    size_t *columns; /* all of them */
    brume_row_files *files;
    size_t next_part;
    brume_row_part *part;
    brume_batch_column *batch;
    uint64_t (*valid)[VALID_WORDS];
    size_t row, row_count; /* where we are in the batch */
    char **fields;         /* of the row, each followed by a 0; room for each column */
    size_t *rooms;
};

/* ---- open ---- */

static bool copy_bytes(int from, int to)
{
    char bytes[1 << 16];
    ssize_t got, put = 0;
    while ((got = read(from, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR))
        for (ssize_t done = 0; done < got && put >= 0; done += put)
            put = write(to, bytes + done, (size_t)(got - done));
    return got == 0 && put >= 0;
}

/* What is no file, a pipe for example, can be read only once: into memory. */
static brume_status copy_stream(brume_csv *csv, const char *path, brume_error *error)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    csv->copy = memfd_create("rows", MFD_CLOEXEC);
    bool copied = from >= 0 && csv->copy >= 0 && copy_bytes(from, csv->copy);
    if (from >= 0)
        close(from);
    if (!copied)
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s'", path);
    free(csv->path);
    if (asprintf(&csv->path, "/proc/self/fd/%d", csv->copy) < 0)
        csv->path = NULL;
    return csv->path ? BRUME_OK : brume_no_memory(error, NULL);
}

static brume_status find_file(brume_csv *csv, const char *path, brume_error *error)
{
    struct stat found;
    csv->path = strdup(path);
    csv->named = strdup(path);
    if (!csv->path || !csv->named)
        return brume_no_memory(error, NULL);
    if (stat(path, &found) != 0)
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s': %s", path,
                          strerror(errno));
    if (S_ISDIR(found.st_mode))
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s': %s", path,
                          strerror(EISDIR));
    return S_ISREG(found.st_mode) ? BRUME_OK : copy_stream(csv, path, error);
}

static brume_status make_room(brume_csv *csv, brume_error *error)
{
    size_t count = csv->header.count;
    csv->columns = calloc(count + 1, sizeof *csv->columns);
    csv->batch = calloc(count + 1, sizeof *csv->batch);
    csv->valid = calloc(count + 1, sizeof *csv->valid);
    csv->fields = calloc(count + 1, sizeof *csv->fields);
    csv->rooms = calloc(count + 1, sizeof *csv->rooms);
    if (!csv->columns || !csv->batch || !csv->valid || !csv->fields || !csv->rooms)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < count; i++) {
        csv->columns[i] = i;
        csv->batch[i].valid = csv->valid[i];
        csv->batch[i].values = malloc(BRUME_BATCH_ROWS * sizeof(brume_text));
        if (!csv->batch[i].values)
            return brume_no_memory(error, NULL);
    }
    return BRUME_OK;
}

static brume_status open_files(brume_csv *csv, const brume_text_format *format, brume_error *error)
{
    brume_text_file file;
    BRUME_TRY(brume_text_file_look(csv->path, csv->named, &file, error));
    BRUME_TRY(brume_header_read(&file, format, &csv->header, error));
    BRUME_TRY(make_room(csv, error));
    brume_reader_column *columns = calloc(csv->header.count + 1, sizeof *columns);
    if (!columns)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < csv->header.count; i++)
        columns[i] = (brume_reader_column){csv->header.names[i], {BRUME_TYPE_TEXT, 0, 0}};
    const char *const paths[] = {csv->path};
    brume_text_table table = {.paths = paths,
                              .path_count = 1,
                              .named = csv->named,
                              .format = *format,
                              .columns = columns,
                              .column_count = csv->header.count};
    brume_status status = brume_text_files_open(&table, &csv->files, error);
    free(columns);
    return status;
}

brume_status brume_csv_open(const char *path, const brume_text_format *format, brume_csv **out,
                            brume_error *error)
{
    brume_text_format used = format ? *format : brume_text_format_of(path);
    brume_csv *csv = calloc(1, sizeof *csv);
    if (!csv)
        return brume_no_memory(error, NULL);
    csv->copy = -1;
    brume_status status = find_file(csv, path, error);
    if (status == BRUME_OK)
        status = open_files(csv, &used, error);
    if (status != BRUME_OK)
        brume_csv_close(csv);
    else
        *out = csv;
    return status;
}

void brume_csv_close(brume_csv *csv)
{
    if (!csv)
        return;
    brume_text_rows.part_close(csv->part);
    brume_text_rows.close(csv->files);
    for (size_t i = 0; i < csv->header.count; i++) {
        if (csv->batch)
            free(csv->batch[i].values);
        if (csv->fields)
            free(csv->fields[i]);
    }
    brume_header_clear(&csv->header);
    free(csv->columns);
    free(csv->batch);
    free((void *)csv->valid);
    free((void *)csv->fields);
    free(csv->rooms);
    if (csv->copy >= 0)
        close(csv->copy);
    free(csv->path);
    free(csv->named);
    free(csv);
}

/* ---- columns ---- */

size_t brume_csv_column(const brume_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->header.count; i++)
        if (strcmp(csv->header.names[i], name) == 0)
            return i;
    return SIZE_MAX;
}

brume_status brume_csv_find(const brume_csv *csv, const char *name, size_t *column,
                            brume_error *error)
{
    size_t found = brume_csv_column(csv, name);
    if (found != SIZE_MAX) {
        *column = found;
        return BRUME_OK;
    }
    char hint[BRUME_COLUMN_HINT];
    brume_text_column_hint(name, (const char *const *)csv->header.names, csv->header.count, hint);
    const char *other = csv->header.count == 1 ? strpbrk(csv->header.names[0], ";|\t") : NULL;
    if (other) /* there is no option for it here */
        snprintf(hint, sizeof hint, "fields are parted by commas, not by %s",
                 *other == ';'   ? "semicolons"
                 : *other == '|' ? "bars"
                                 : "tabs");
    return brume_fail(error, BRUME_EUNKNOWN, hint, "the file has no column '%s'", name);
}

size_t brume_csv_columns(const brume_csv *csv)
{
    return csv->header.count;
}

/* ---- rows ---- */

/* The next batch; without rows after the last. */
static brume_status next_batch(brume_csv *csv, brume_error *error)
{
    csv->row = csv->row_count = 0;
    for (;;) {
        if (csv->part) {
            BRUME_TRY(brume_text_rows.part_next(csv->part, csv->batch, &csv->row_count, error));
            if (csv->row_count > 0)
                return BRUME_OK;
            brume_text_rows.part_close(csv->part);
            csv->part = NULL;
        }
        if (csv->next_part == brume_text_rows.part_count(csv->files))
            return BRUME_OK;
        BRUME_TRY(brume_text_rows.part_open(csv->files, csv->next_part++, csv->columns,
                                            csv->header.count, &csv->part, error));
    }
}

static bool is_missing(const brume_csv *csv, size_t column)
{
    return !(csv->valid[column][csv->row / 64] >> (csv->row % 64) & 1);
}

static brume_text text_of(const brume_csv *csv, size_t column)
{
    return ((const brume_text *)csv->batch[column].values)[csv->row];
}

/* Every field of the row followed by a 0. */
static brume_status end_fields(brume_csv *csv, brume_error *error)
{
    for (size_t i = 0; i < csv->header.count; i++) {
        if (is_missing(csv, i))
            continue;
        brume_text text = text_of(csv, i);
        if (text.length + 1 > csv->rooms[i]) {
            size_t room = 2 * text.length + 16;
            char *grown = realloc(csv->fields[i], room);
            if (!grown)
                return brume_no_memory(error, NULL);
            csv->fields[i] = grown;
            csv->rooms[i] = room;
        }
        memcpy(csv->fields[i], text.data, text.length);
        csv->fields[i][text.length] = 0;
    }
    return BRUME_OK;
}

brume_status brume_csv_next(brume_csv *csv, bool *more, brume_error *error)
{
    if (csv->row + 1 < csv->row_count)
        csv->row++;
    else
        BRUME_TRY(next_batch(csv, error));
    *more = csv->row_count > 0;
    return *more ? end_fields(csv, error) : BRUME_OK;
}

const char *brume_csv_field(const brume_csv *csv, size_t column, size_t *length)
{
    if (column >= csv->header.count || csv->row_count == 0 || is_missing(csv, column))
        return NULL;
    *length = text_of(csv, column).length;
    return csv->fields[column];
}

bool brume_csv_number(const brume_csv *csv, size_t column, double *out)
{
    return column < csv->header.count && csv->row_count > 0 && !is_missing(csv, column) &&
           brume_value_double(text_of(csv, column), out);
}
