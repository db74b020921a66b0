/* Text files as rows: see the header. A part is a range of bytes of a file; with multiline, and of
 * a gzip file, the whole file. Fields are found line by line, then turned into values column by
 * column. */
#include "reader/text_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reader/csv_line.h"
#include "reader/find.h"
#include "reader/header.h"
#include "reader/json_line.h"
#include "reader/records.h"
#include "reader/value.h"

enum { PART_BYTES = 1 << 22 };

typedef struct file_parts {
    brume_text_file file;
    uint64_t body;     /* where the rows begin */
    size_t first_part; /* index of its first part; of the file behind the last one: their number */
} file_parts;

struct brume_row_files {
    bool json;
    brume_text_format format;
    brume_reader_column *columns;
    size_t column_count;
    uint64_t part_bytes;
    file_parts *files; /* one more than there are */
    size_t file_count;
};

struct brume_row_part {
    const brume_row_files *files;
    brume_lines *lines;     /* NULL with multiline */
    brume_records *records; /* only with multiline */
    brume_type *types;      /* of the wanted columns */
    size_t column_count;
    brume_text **texts; /* the fields of each wanted column */
    brume_csv_splitter csv;
    brume_json_splitter json;
    char *at, *end; /* lines of a block that were not yet read */
    bool plain;     /* the block is ASCII without NUL */
    bool has_text;  /* a wanted column is text: then it matters */
};

/* ---- files ---- */

static brume_status check_header(const brume_row_files *files, const brume_header *header,
                                 const char *named, brume_error *error)
{
    bool same = header->count == files->column_count;
    for (size_t i = 0; same && i < header->count; i++)
        same = strcmp(header->names[i], files->columns[i].name) == 0;
    return same ? BRUME_OK
                : brume_fail(error, BRUME_ESOURCE,
                             "every file must begin with the header line that was recorded, with "
                             "its columns in their order",
                             "'%s' has other columns than recorded", named);
}

static size_t count_parts(const brume_row_files *files, const file_parts *each)
{
    if (each->file.gzip)
        return 1;
    uint64_t bytes = each->file.size - each->body;
    if (files->format.multiline && !files->json)
        return bytes > 0;
    return (size_t)(bytes / files->part_bytes + (bytes % files->part_bytes > 0));
}

static brume_status open_file(brume_row_files *files, const brume_text_table *table, size_t index,
                              brume_error *error)
{
    file_parts *each = &files->files[index];
    BRUME_TRY(brume_text_file_look(table->paths[index], table->named, &each->file, error));
    each->body = 0; /* a byte-order mark before a row is the row's: brume_row_begin */
    if (!files->json && files->format.header) {
        brume_header header = {0};
        brume_status status = brume_header_read(&each->file, &files->format, &header, error);
        /* A line that is no header is a row: nothing is said of it but that it is not the header.
         */
        if (status == BRUME_OK || status == BRUME_ESOURCE)
            status = check_header(files, &header, table->named, error);
        each->body = header.end;
        brume_header_clear(&header);
        BRUME_TRY(status);
    }
    each[1].first_part = each->first_part + count_parts(files, each);
    return BRUME_OK;
}

static brume_status copy_columns(brume_row_files *files, const brume_text_table *table,
                                 brume_error *error)
{
    files->columns = calloc(table->column_count + 1, sizeof *files->columns);
    files->files = calloc(table->path_count + 1, sizeof *files->files);
    if (!files->columns || !files->files)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < table->column_count; i++) {
        files->columns[i].type = table->columns[i].type;
        files->columns[i].name = strdup(table->columns[i].name);
        if (!files->columns[i].name)
            return brume_no_memory(error, NULL);
        files->column_count++;
    }
    return BRUME_OK;
}

static void close_files(brume_row_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->column_count; i++)
        free((char *)files->columns[i].name);
    free(files->columns);
    free(files->files);
    free(files);
}

brume_status brume_text_files_open(const brume_text_table *table, brume_row_files **out,
                                   brume_error *error)
{
    brume_row_files *files = calloc(1, sizeof *files);
    if (!files)
        return brume_no_memory(error, NULL);
    files->json = table->json;
    files->format = table->format;
    files->part_bytes = table->part_bytes ? table->part_bytes : PART_BYTES;
    brume_status status = copy_columns(files, table, error);
    for (size_t i = 0; status == BRUME_OK && i < table->path_count; i++) {
        status = open_file(files, table, i, error);
        files->file_count++;
    }
    if (status != BRUME_OK) {
        close_files(files);
        return status;
    }
    *out = files;
    return BRUME_OK;
}

static size_t part_count(const brume_row_files *files)
{
    return files->files[files->file_count].first_part;
}

static size_t first_part(const brume_row_files *files, size_t file)
{
    return files->files[file].first_part;
}

/* ---- a part ---- */

static void close_part(brume_row_part *part)
{
    if (!part)
        return;
    brume_lines_close(part->lines);
    brume_records_close(part->records);
    for (size_t i = 0; part->texts && i < part->column_count; i++)
        free(part->texts[i]);
    free(part->texts);
    free(part->types);
    free((void *)part->csv.targets);
    free((void *)part->json.names);
    free(part);
}

/* The file that has the part. */
static const file_parts *find_file(const brume_row_files *files, size_t index)
{
    size_t low = 0, high = files->file_count; /* files[low].first_part <= index < files[high]... */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (files->files[middle].first_part <= index)
            low = middle;
        else
            high = middle;
    }
    return &files->files[low];
}

static brume_status open_lines(brume_row_part *part, size_t index, brume_error *error)
{
    const brume_row_files *files = part->files;
    const file_parts *each = find_file(files, index);
    size_t within = index - each->first_part;
    bool whole = each->file.gzip || (files->format.multiline && !files->json);
    uint64_t from = each->body + within * files->part_bytes;
    uint64_t to = whole ? UINT64_MAX : from + files->part_bytes;
    BRUME_TRY(brume_lines_open(&each->file, from, to, within == 0, &part->lines, error));
    if (!files->format.multiline || files->json)
        return BRUME_OK;
    brume_lines *lines = part->lines;
    part->lines = NULL;
    return brume_records_open(lines, &files->format, &part->records, error);
}

/* Where fields go: by column for CSV, by name for JSON. */
static brume_status make_splitters(brume_row_part *part, const size_t *columns, brume_error *error)
{
    const brume_row_files *files = part->files;
    size_t width = 0;
    for (size_t i = 0; i < part->column_count; i++)
        width = columns[i] + 1 > width ? columns[i] + 1 : width;
    brume_text **targets = calloc(width + 1, sizeof *targets);
    brume_text *names = calloc(part->column_count + 1, sizeof *names);
    part->csv = (brume_csv_splitter){files->format, width, targets};
    part->json = (brume_json_splitter){part->column_count, names, part->texts};
    if (!targets || !names)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < part->column_count; i++) {
        const char *name = files->columns[columns[i]].name;
        targets[columns[i]] = part->texts[i];
        names[i] = (brume_text){name, strlen(name)};
    }
    return BRUME_OK;
}

static brume_status fill_part(brume_row_part *part, size_t index, const size_t *columns,
                              size_t column_count, brume_error *error)
{
    part->types = calloc(column_count + 1, sizeof *part->types);
    part->texts = calloc(column_count + 1, sizeof *part->texts);
    if (!part->types || !part->texts)
        return brume_no_memory(error, NULL);
    part->column_count = column_count;
    for (size_t i = 0; i < column_count; i++) {
        part->types[i] = part->files->columns[columns[i]].type;
        part->has_text = part->has_text || part->types[i].kind == BRUME_TYPE_TEXT;
        part->texts[i] = malloc(BRUME_BATCH_ROWS * sizeof **part->texts);
        if (!part->texts[i])
            return brume_no_memory(error, NULL);
    }
    BRUME_TRY(make_splitters(part, columns, error));
    return open_lines(part, index, error);
}

static brume_status open_part(const brume_row_files *files, size_t index, const size_t *columns,
                              size_t column_count, brume_row_part **out, brume_error *error)
{
    brume_row_part *part = calloc(1, sizeof *part);
    if (!part)
        return brume_no_memory(error, NULL);
    part->files = files;
    brume_status status = fill_part(part, index, columns, column_count, error);
    if (status != BRUME_OK) {
        close_part(part);
        return status;
    }
    *out = part;
    return BRUME_OK;
}

/* ---- rows ---- */

static void null_row(brume_row_part *part, size_t row)
{
    for (size_t i = 0; i < part->column_count; i++)
        part->texts[i][row] = (brume_text){NULL, 0};
}

/* Behind a header no row is the first line of a file, and a mark is a part of its first field. */
static char *row_begin(const brume_row_part *part, char *line)
{
    return part->files->format.header ? line : brume_row_begin(line);
}

/* Rows of the block; a batch ends with it, because fields are pieces of it. */
static size_t split_block(brume_row_part *part)
{
    size_t rows = 0;
    char *at = part->at, *end = part->end;
    if (part->files->json)
        for (; at < end && rows < BRUME_BATCH_ROWS; rows++)
            at = brume_json_split(&part->json, brume_row_begin(at), rows);
    else
        for (; at < end && rows < BRUME_BATCH_ROWS; rows++)
            at = brume_csv_split(&part->csv, row_begin(part, at), NULL, rows);
    part->at = at;
    return rows;
}

static brume_status next_lines(brume_row_part *part, size_t *rows, brume_error *error)
{
    *rows = 0;
    if (part->at == part->end) {
        brume_line_block block = {0};
        bool more = false;
        BRUME_TRY(brume_lines_next(part->lines, &block, &more, error));
        part->at = block.begin;
        part->end = block.end;
        if (!more)
            return BRUME_OK;
        if (block.too_long) {
            null_row(part, 0);
            *rows = 1;
            return BRUME_OK;
        }
        part->plain = part->has_text &&
                      brume_is_plain(block.begin, (size_t)(block.end - block.begin));
    }
    *rows = split_block(part);
    return BRUME_OK;
}

/* Records over several lines: all of a batch are put together before they are split. */
static brume_status next_records(brume_row_part *part, size_t *rows, brume_error *error)
{
    enum { ENOUGH = 1 << 20 };
    size_t ats[BRUME_BATCH_ROWS], lengths[BRUME_BATCH_ROWS], count = 0, used = 0;
    char *bytes = NULL;
    bool more = true;
    brume_records_forget(part->records);
    while (count < BRUME_BATCH_ROWS && used < ENOUGH) {
        BRUME_TRY(
            brume_records_next(part->records, &bytes, &ats[count], &lengths[count], &more, error));
        if (!more)
            break;
        used = ats[count] + lengths[count];
        count++;
    }
    part->plain = part->has_text && used > 0 && brume_is_plain(bytes, used);
    for (size_t i = 0; i < count; i++)
        if (lengths[i] > 0)
            (void)brume_csv_split(&part->csv, row_begin(part, bytes + ats[i]),
                                  bytes + ats[i] + lengths[i] - 1, i);
        else
            null_row(part, i);
    *rows = count;
    return BRUME_OK;
}

static brume_status next_rows(brume_row_part *part, brume_batch_column *columns, size_t *row_count,
                              brume_error *error)
{
    size_t rows = 0;
    BRUME_TRY(part->records ? next_records(part, &rows, error) : next_lines(part, &rows, error));
    for (size_t i = 0; i < part->column_count; i++)
        brume_value_column(part->types[i], part->texts[i], rows, part->plain, &columns[i]);
    *row_count = rows;
    return BRUME_OK;
}

const brume_row_format brume_text_rows = {
    .part_count = part_count,
    .part_open = open_part,
    .part_next = next_rows,
    .part_close = close_part,
    .close = close_files,
    .first_part = first_part,
};
