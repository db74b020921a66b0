/* Rows of a text as one text: see the header. */
#include "rows_of.h"

#include "check.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void memory_file_open(memory_file *file)
{
    file->descriptor = memfd_create("rows", MFD_CLOEXEC);
    assert_true(file->descriptor >= 0);
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->descriptor);
}

void memory_file_write(const memory_file *file, const void *bytes, size_t length)
{
    assert_int_equal(ftruncate(file->descriptor, 0), 0);
    assert_true(pwrite(file->descriptor, bytes, length, 0) == (ssize_t)length);
}

void memory_file_close(memory_file *file)
{
    close(file->descriptor);
}

enum { WANTED_MOST = 4 };

static char *put_rows(const brume_batch_column *columns, size_t column_count, size_t rows,
                      char *out, const char *end)
{
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < column_count; i++) {
            bool valid = columns[i].valid[row / 64] >> (row % 64) & 1;
            brume_text text = ((const brume_text *)columns[i].values)[row];
            if (!valid)
                text = (brume_text){"~", 1};
            assert_true((size_t)(end - out) > text.length + 2);
            memcpy(out, text.data, text.length);
            out += text.length;
            *out++ = 1;
        }
        assert_true(end - out > 2);
        *out++ = 2;
    }
    return out;
}

void rows_of(const brume_text_table *table, const size_t *wanted, size_t wanted_count, char *out,
             size_t room)
{
    static brume_text values[WANTED_MOST][BRUME_BATCH_ROWS];
    static uint64_t valid[WANTED_MOST][BRUME_BATCH_ROWS / 64];
    brume_error error = {0};
    brume_row_files *files = NULL;
    brume_batch_column columns[WANTED_MOST];
    const char *end = out + room;
    assert_true(wanted_count <= WANTED_MOST);
    for (size_t i = 0; i < wanted_count; i++)
        columns[i] = (brume_batch_column){values[i], valid[i]};
    assert_ok(brume_text_files_open(table, &files, &error));
    for (size_t part = 0; part < brume_text_rows.part_count(files); part++) {
        brume_row_part *opened = NULL;
        size_t rows = 1;
        assert_ok(brume_text_rows.part_open(files, part, wanted, wanted_count, &opened, &error));
        while (rows > 0) {
            assert_ok(brume_text_rows.part_next(opened, columns, &rows, &error));
            out = put_rows(columns, wanted_count, rows, out, end);
        }
        brume_text_rows.part_close(opened);
    }
    brume_text_rows.close(files);
    *out = 0;
}
