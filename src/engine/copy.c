/* PostgreSQL's binary COPY, message by message, into columns of a batch.
 *
 * A field has four bytes of length (negative: NULL) and its value: eight bytes big-endian for
 * INTEGER and REAL, raw bytes for TEXT. Whatever else comes is an error, never a guess. */
#include "engine/copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { BATCH = 2048 };

typedef struct column_buffer {
    int64_t *integers;
    double *reals;
    brume_text *texts;
    size_t *offsets; /* of each text in `bytes`, until the batch is complete */
    char *bytes;
    size_t used, capacity;
    uint64_t valid[BATCH / 64];
    bool has_null;
} column_buffer;

struct brume_copy {
    column_buffer *columns;
    size_t column_count, row_count;
    bool header_seen, trailer_seen;
};

static brume_status malformed(brume_error *error)
{
    return brume_fail(error, BRUME_EENGINE, NULL,
                      "the PostgreSQL server sent rows that cannot be read");
}

static bool make_buffer(column_buffer *column, brume_wire wire)
{
    if (wire == BRUME_WIRE_INTEGER)
        return (column->integers = calloc(BATCH, sizeof *column->integers)) != NULL;
    if (wire == BRUME_WIRE_REAL)
        return (column->reals = calloc(BATCH, sizeof *column->reals)) != NULL;
    column->texts = calloc(BATCH, sizeof *column->texts);
    column->offsets = calloc(BATCH, sizeof *column->offsets);
    return column->texts && column->offsets;
}

brume_status brume_copy_open(const brume_wire *wires, size_t wire_count, brume_copy **out,
                             brume_error *error)
{
    brume_copy *copy = calloc(1, sizeof *copy);
    bool good = copy && (copy->columns = calloc(wire_count, sizeof *copy->columns));
    if (good)
        copy->column_count = wire_count;
    for (size_t i = 0; good && i < wire_count; i++)
        good = make_buffer(&copy->columns[i], wires[i]);
    if (!good) {
        brume_copy_close(copy);
        return brume_no_memory(error, NULL);
    }
    *out = copy;
    return BRUME_OK;
}

void brume_copy_close(brume_copy *copy)
{
    if (!copy)
        return;
    for (size_t i = 0; i < copy->column_count; i++) {
        free(copy->columns[i].integers);
        free(copy->columns[i].reals);
        free(copy->columns[i].texts);
        free(copy->columns[i].offsets);
        free(copy->columns[i].bytes);
    }
    free(copy->columns);
    free(copy);
}

void brume_copy_start(brume_copy *copy)
{
    copy->row_count = 0;
    for (size_t i = 0; i < copy->column_count; i++) {
        copy->columns[i].used = 0;
        copy->columns[i].has_null = false;
    }
}

bool brume_copy_is_full(const brume_copy *copy)
{
    return copy->row_count == BATCH;
}

bool brume_copy_is_complete(const brume_copy *copy)
{
    return copy->trailer_seen;
}

static uint64_t big_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* Store one field of `length` bytes (negative: NULL) at `row`. */
static brume_status store(column_buffer *column, size_t row, const unsigned char *bytes,
                          int64_t length, brume_error *error)
{
    uint64_t bit = (uint64_t)1 << (row % 64);
    if (length < 0) {
        column->valid[row / 64] &= ~bit;
        column->has_null = true;
        if (column->texts) {
            column->offsets[row] = column->used;
            column->texts[row].length = 0;
        }
        return BRUME_OK;
    }
    column->valid[row / 64] |= bit;
    if (!column->texts) {
        if (length != 8)
            return malformed(error);
        uint64_t word = big_endian(bytes, 8);
        if (column->integers)
            memcpy(&column->integers[row], &word, sizeof word);
        else
            memcpy(&column->reals[row], &word, sizeof word);
        return BRUME_OK;
    }
    size_t size = (size_t)length;
    if (column->capacity - column->used < size) {
        size_t capacity = 2 * (column->used + size) + 4096;
        char *grown = realloc(column->bytes, capacity);
        if (!grown)
            return brume_no_memory(error, NULL);
        column->bytes = grown;
        column->capacity = capacity;
    }
    if (size)
        memcpy(column->bytes + column->used, bytes, size);
    column->offsets[row] = column->used;
    column->texts[row].length = size;
    column->used += size;
    return BRUME_OK;
}

brume_status brume_copy_take(brume_copy *copy, const unsigned char *bytes, size_t length,
                             brume_error *error)
{
    static const unsigned char signature[11] = "PGCOPY\n\377\r\n";
    size_t at = 0;
    if (!copy->header_seen) {
        if (length < 19 || memcmp(bytes, signature, 11) != 0 || big_endian(bytes + 11, 8) != 0)
            return malformed(error);
        copy->header_seen = true;
        at = 19;
    }
    if (at == length)
        return BRUME_OK;
    if (length - at < 2)
        return malformed(error);
    uint64_t fields = big_endian(bytes + at, 2);
    at += 2;
    if (fields == 0xffff) {
        copy->trailer_seen = true;
        return at == length ? BRUME_OK : malformed(error);
    }
    if (fields != copy->column_count)
        return malformed(error);
    for (size_t i = 0; i < copy->column_count; i++) {
        if (length - at < 4)
            return malformed(error);
        int64_t size = (int32_t)(uint32_t)big_endian(bytes + at, 4);
        at += 4;
        if (size > (int64_t)(length - at))
            return malformed(error);
        BRUME_TRY(store(&copy->columns[i], copy->row_count, bytes + at, size, error));
        at += size > 0 ? (size_t)size : 0;
    }
    copy->row_count++;
    return at == length ? BRUME_OK : malformed(error);
}

size_t brume_copy_columns(brume_copy *copy, brume_chunk_column *columns)
{
    for (size_t i = 0; i < copy->column_count; i++) {
        column_buffer *column = &copy->columns[i];
        for (size_t j = 0; column->texts && j < copy->row_count; j++)
            column->texts[j].data = column->bytes ? column->bytes + column->offsets[j] : "";
        columns[i].integers = column->integers;
        columns[i].reals = column->reals;
        columns[i].texts = column->texts;
        columns[i].valid = column->has_null ? column->valid : NULL;
    }
    return copy->row_count;
}
