/* Any bytes among the lines of a CSV or JSON file: nothing fails, every line is a row, the lines
 * around are read as if it were not there, and cutting the file into parts changes nothing. The
 * first byte chooses the format, the second the size of the parts. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reader/text_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLUMNS = 8 };

static const brume_reader_column columns[COLUMNS] = {
    {"l", {BRUME_TYPE_BIGINT, 0, 0}},   {"t", {BRUME_TYPE_TEXT, 0, 0}},
    {"b", {BRUME_TYPE_BOOLEAN, 0, 0}},  {"i", {BRUME_TYPE_INTEGER, 0, 0}},
    {"d", {BRUME_TYPE_DECIMAL, 20, 3}}, {"r", {BRUME_TYPE_DOUBLE, 0, 0}},
    {"y", {BRUME_TYPE_DATE, 0, 0}},     {"s", {BRUME_TYPE_TIMESTAMP, 0, 0}},
};

static void must(bool condition)
{
    if (!condition)
        abort();
}

/* What was read of all rows. */
typedef struct seen {
    size_t rows;
    uint64_t sum; /* of hashes of the rows */
    uint64_t known[2],
        nulls[2]; /* of the first and the last row: hash, and columns without value */
} seen;

static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

static size_t width(size_t column)
{
    static const size_t widths[COLUMNS] = {8, 0, 1, 4, 16, 8, 4, 8};
    return widths[column];
}

static void take_row(const brume_batch_column *batch, size_t row, seen *all)
{
    uint64_t hash = 0xcbf29ce484222325u, nulls = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        bool there = batch[i].valid[row / 64] >> (row % 64) & 1;
        hash = mix(hash, &there, 1);
        nulls += !there;
        const brume_text *texts = batch[i].values;
        if (there && width(i) == 0)
            hash = mix(hash, texts[row].data, texts[row].length);
        else if (there)
            hash = mix(hash, (const char *)batch[i].values + row * width(i), width(i));
    }
    size_t place = all->rows > 0;
    all->known[place] = hash;
    all->nulls[place] = nulls;
    all->sum += hash * hash;
    all->rows++;
}

static seen read_all(const char *path, bool json, brume_text_format format, size_t part_bytes)
{
    static uint64_t valid[COLUMNS][BRUME_BATCH_ROWS / 64];
    static char values[COLUMNS][BRUME_BATCH_ROWS * 16] __attribute__((aligned(16)));
    static const size_t wanted[COLUMNS] = {0, 1, 2, 3, 4, 5, 6, 7};
    const char *const paths[] = {path};
    brume_text_table table = {.paths = paths,
                              .path_count = 1,
                              .named = "fuzz",
                              .json = json,
                              .format = format,
                              .columns = columns,
                              .column_count = COLUMNS,
                              .part_bytes = part_bytes};
    brume_batch_column batch[COLUMNS];
    brume_row_files *files = NULL;
    seen all = {0};
    for (size_t i = 0; i < COLUMNS; i++)
        batch[i] = (brume_batch_column){values[i], valid[i]};
    must(brume_text_files_open(&table, &files, NULL) == BRUME_OK);
    for (size_t part = 0; part < brume_text_rows.part_count(files); part++) {
        brume_row_part *opened = NULL;
        size_t rows = 1;
        must(brume_text_rows.part_open(files, part, wanted, COLUMNS, &opened, NULL) == BRUME_OK);
        while (rows > 0) {
            must(brume_text_rows.part_next(opened, batch, &rows, NULL) == BRUME_OK);
            for (size_t i = 0; i < rows; i++)
                take_row(batch, i, &all);
        }
        brume_text_rows.part_close(opened);
    }
    brume_text_rows.close(files);
    return all;
}

/* A line before the data and one behind it, with a value in every column. */
static const char csv_line[] = "7,seven,true,-3,1.5,2.25,2024-02-29,2024-02-29 12:30:15\n";
static const char json_line[] = "{\"l\":7,\"t\":\"seven\",\"b\":true,\"i\":-3,\"d\":1.5,\"r\":2.25,"
                                "\"y\":\"2024-02-29\",\"s\":\"2024-02-29T12:30:15Z\"}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    bool json = data[0] & 1, multiline = !json && (data[0] & 2);
    brume_text_format format = {.delimiter = ',', .quote = '"', .multiline = multiline};
    if (!multiline && (data[0] & 4))
        format.quote = 0;
    const char *line = json ? json_line : csv_line;
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    must(write(file, line, strlen(line)) == (ssize_t)strlen(line));
    must(write(file, data + 2, size - 2) == (ssize_t)size - 2);
    must(write(file, "\n", 1) == 1 && write(file, line, strlen(line)) == (ssize_t)strlen(line));
    seen whole = read_all(path, json, format, 0);
    seen cut = read_all(path, json, format, 23 + 7 * (size_t)data[1]);
    size_t lines = 3;
    for (size_t i = 2; i < size; i++)
        lines += data[i] == '\n';
    must(whole.rows == cut.rows && whole.sum == cut.sum);
    must(multiline || whole.rows == lines);
    must(whole.nulls[0] == 0 && (multiline || whole.nulls[1] == 0));
    must(multiline || whole.known[0] == whole.known[1]);
    close(file);
    return 0;
}
