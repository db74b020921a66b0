/* Any bytes as a Parquet file: nothing is read that is not there, and whatever is read is a value
 * of its column's type. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "reader/parquet/convert.h"
#include "reader/parquet/parquet.h"

__extension__ typedef __int128 wide;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_within(wide units, int precision)
{
    wide limit = 1;
    for (int i = 0; i < precision; i++)
        limit *= 10;
    return units > -limit && units < limit;
}

static bool is_value(brume_type type, const void *values, size_t row)
{
    const int64_t *bigints = values;
    const brume_text *texts = values;
    switch (type.kind) {
    case BRUME_TYPE_BOOLEAN:
        return ((const uint8_t *)values)[row] <= 1;
    case BRUME_TYPE_DECIMAL:
        return is_within(type.precision > 18 ? ((const wide *)values)[row] : bigints[row],
                         type.precision);
    case BRUME_TYPE_DOUBLE:
        return fabs(((const double *)values)[row]) < 1e150;
    case BRUME_TYPE_TEXT:
        return brume_utf8_is_text(texts[row].data, texts[row].length);
    case BRUME_TYPE_DATE:
        return ((const int32_t *)values)[row] >= -719162 &&
               ((const int32_t *)values)[row] <= 2932896;
    case BRUME_TYPE_TIMESTAMP:
        return bigints[row] >= -62135596800000000 && bigints[row] <= 253402300799999999;
    default:
        return true;
    }
}

/* A file may claim any number of rows: of each part only the first batches are read. */
static void read_part(const brume_row_files *files, size_t part_index, const brume_type *types,
                      brume_batch_column *columns, const size_t *indices, size_t count)
{
    enum { BATCHES = 8 };
    brume_error error = {0};
    brume_row_part *part = NULL;
    size_t rows = 1;
    if (brume_parquet_format.part_open(files, part_index, indices, count, &part, &error) !=
        BRUME_OK)
        return;
    for (size_t batch = 0; batch < BATCHES && rows > 0; batch++) {
        if (brume_parquet_format.part_next(part, columns, &rows, &error) != BRUME_OK)
            break;
        for (size_t i = 0; i < count; i++)
            for (size_t row = 0; row < rows; row++)
                if ((columns[i].valid[row / 64] >> row % 64 & 1) &&
                    !is_value(types[i], columns[i].values, row))
                    abort();
    }
    brume_parquet_format.part_close(part);
}

static void read_all(const brume_row_files *files)
{
    enum { MOST = 64, PARTS = 8 };
    size_t all = 0, count = 0, indices[MOST];
    brume_type types[MOST];
    brume_batch_column room[MOST];
    const brume_parquet_column *columns = brume_parquet_columns(files, &all);
    for (size_t i = 0; i < all && count < MOST; i++) {
        if (columns[i].type.kind == BRUME_TYPE_REFUSED)
            continue;
        types[count] = columns[i].type;
        indices[count] = count;
        room[count].values = malloc(BRUME_BATCH_ROWS * brume_parquet_value_size(types[count]));
        room[count++].valid = malloc(BRUME_BATCH_ROWS / 8);
    }
    size_t parts = brume_parquet_format.part_count(files);
    for (size_t i = 0; i < parts && i < PARTS; i++)
        for (size_t j = 0; j < count; j++) /* a fault of one column hides none of the next */
            read_part(files, i, &types[j], &room[j], &indices[j], 1);
    for (size_t i = 0; i < count; i++) {
        free(room[i].values);
        free(room[i].valid);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    const char *paths[] = {path};
    brume_row_files *files = NULL;
    brume_error error = {0};
    int file = memfd_create("parquet", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file >= 0 && write(file, data, size) == (ssize_t)size &&
        brume_parquet_open("f", paths, 1, &files, &error) == BRUME_OK) {
        read_all(files);
        brume_parquet_format.close(files);
    }
    if (file >= 0)
        close(file);
    return 0;
}
