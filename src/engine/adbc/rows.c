/* Rows of an ADBC driver: batches of Arrow arrays as chunks.
 *
 * Numbers are read where the driver put them; of texts only places and lengths are noted; decimals,
 * which sums arrive as, are written as text. The end of the rows counts only when the driver says
 * that there are no more: a connection that is lost is an error of the stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/adbc/connection.h"

__extension__ typedef unsigned __int128 wide;

enum { DECIMAL_TEXT = 48 }; /* 39 digits, a sign, a point and a zero before it */

/* How a column of the stream is laid out. */
typedef enum layout { LAYOUT_WORD, LAYOUT_TEXT, LAYOUT_LONG_TEXT, LAYOUT_DECIMAL } layout;

typedef struct column_state {
    layout layout;
    int scale;       /* of a decimal */
    uint64_t *valid; /* room for `room` rows, made as it is needed */
    void *words;     /* where the driver's are not aligned */
    brume_text *texts;
    char *written; /* texts of decimals */
    size_t room;
} column_state;

typedef struct rows_state {
    brume_adbc *adbc;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    column_state *columns;
} rows_state;

/* ---- types ---- */

static bool read_layout(const char *format, brume_wire wire, column_state *column)
{
    int precision = 0, bits = 128;
    if (wire == BRUME_WIRE_INTEGER || wire == BRUME_WIRE_REAL) {
        column->layout = LAYOUT_WORD;
        return strcmp(format, wire == BRUME_WIRE_INTEGER ? "l" : "g") == 0;
    }
    if (strcmp(format, "u") == 0 || strcmp(format, "U") == 0) {
        column->layout = *format == 'u' ? LAYOUT_TEXT : LAYOUT_LONG_TEXT;
        return true;
    }
    column->layout = LAYOUT_DECIMAL;
    int read = sscanf(format, "d:%d,%d,%d", &precision, &column->scale, &bits);
    return read >= 2 && bits == 128 && precision <= 38 && column->scale >= 0 && column->scale <= 38;
}

static brume_status check_schema(rows_state *own, const brume_rows *rows, brume_error *error)
{
    struct ArrowSchema schema = {0};
    if (own->stream.get_schema(&own->stream, &schema) != 0)
        return brume_adbc_failed(own->adbc, error);
    bool fits = strcmp(schema.format, "+s") == 0 && (size_t)schema.n_children == rows->wire_count;
    for (size_t i = 0; fits && i < rows->wire_count; i++)
        fits = !schema.children[i]->dictionary &&
               read_layout(schema.children[i]->format, rows->wires[i], &own->columns[i]);
    schema.release(&schema);
    return fits ? BRUME_OK
                : brume_fail(error, BRUME_EINTERNAL, NULL, "the result has other columns");
}

/* ---- columns ---- */

static bool make_room(column_state *column, size_t rows)
{
    if (rows <= column->room)
        return true;
    free(column->valid);
    free(column->words);
    free(column->texts);
    free(column->written);
    column->room = rows;
    column->valid = malloc((rows + 63) / 64 * sizeof *column->valid);
    column->words = malloc(rows * sizeof(int64_t));
    column->texts = column->layout == LAYOUT_WORD ? NULL : malloc(rows * sizeof *column->texts);
    column->written = column->layout == LAYOUT_DECIMAL ? malloc(rows * DECIMAL_TEXT) : NULL;
    bool good = column->valid && column->words &&
                (column->texts || column->layout == LAYOUT_WORD) &&
                (column->written || column->layout != LAYOUT_DECIMAL);
    column->room = good ? rows : 0;
    return good;
}

/* The bits of the batch, from its offset on; NULL where all are 1. */
static const uint64_t *take_validity(const struct ArrowArray *array, uint64_t *valid, size_t count)
{
    const unsigned char *bits = array->buffers[0];
    if (!bits || array->null_count == 0)
        return NULL;
    memset(valid, 0, (count + 63) / 64 * sizeof *valid);
    for (size_t i = 0, from = (size_t)array->offset; i < count; i++, from++)
        valid[i / 64] |= (uint64_t)(bits[from / 8] >> from % 8 & 1) << i % 64;
    return valid;
}

/* Eight bytes a row, where numbers may be read. */
static const void *take_words(const struct ArrowArray *array, void *room, size_t count)
{
    const char *from = (const char *)array->buffers[1] + (size_t)array->offset * sizeof(int64_t);
    if ((uintptr_t)from % _Alignof(int64_t) == 0)
        return from;
    memcpy(room, from, count * sizeof(int64_t));
    return room;
}

static void take_texts(const struct ArrowArray *array, const column_state *column, size_t count)
{
    const char *data = array->buffers[2];
    const char *offsets = array->buffers[1];
    size_t first = (size_t)array->offset;
    for (size_t i = 0; i < count; i++) {
        int64_t ends[2];
        int32_t narrow[2];
        if (column->layout == LAYOUT_LONG_TEXT) {
            memcpy(ends, offsets + (first + i) * sizeof *ends, sizeof ends);
        } else {
            memcpy(narrow, offsets + (first + i) * sizeof *narrow, sizeof narrow);
            ends[0] = narrow[0];
            ends[1] = narrow[1];
        }
        column->texts[i] = ends[1] > ends[0]
                               ? (brume_text){data + ends[0], (size_t)(ends[1] - ends[0])}
                               : (brume_text){"", 0};
    }
}

/* Units of 10^-scale as plain decimal text: its length. */
static size_t write_decimal(wide units, int scale, char text[DECIMAL_TEXT])
{
    char digits[DECIMAL_TEXT];
    bool negative = units >> 127 != 0;
    int count = 0;
    size_t length = 0;
    for (wide rest = negative ? -units : units; rest > 0 || count <= scale; rest /= 10)
        digits[count++] = (char)('0' + (int)(rest % 10));
    if (negative)
        text[length++] = '-';
    while (count > 0) {
        text[length++] = digits[--count];
        if (count == scale && scale > 0)
            text[length++] = '.';
    }
    return length;
}

static void take_decimals(const struct ArrowArray *array, const column_state *column, size_t count)
{
    const char *from = (const char *)array->buffers[1] + (size_t)array->offset * sizeof(wide);
    for (size_t i = 0; i < count; i++) {
        wide units;
        char *text = column->written + i * DECIMAL_TEXT;
        memcpy(&units, from + i * sizeof units, sizeof units);
        column->texts[i] = (brume_text){text, write_decimal(units, column->scale, text)};
    }
}

static brume_status take_batch(brume_rows *rows, rows_state *own, brume_error *error)
{
    size_t count = (size_t)own->batch.length;
    if ((size_t)own->batch.n_children != rows->wire_count || own->batch.offset != 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the result has other columns");
    for (size_t i = 0; i < rows->wire_count; i++) {
        const struct ArrowArray *array = own->batch.children[i];
        column_state *column = &own->columns[i];
        brume_chunk_column *to = &rows->columns[i];
        if (!make_room(column, count))
            return brume_no_memory(error, NULL);
        to->valid = take_validity(array, column->valid, count);
        if (column->layout == LAYOUT_WORD) {
            const void *words = take_words(array, column->words, count);
            to->integers = to->wire == BRUME_WIRE_INTEGER ? words : NULL;
            to->reals = to->wire == BRUME_WIRE_REAL ? words : NULL;
            continue;
        }
        if (column->layout == LAYOUT_DECIMAL)
            take_decimals(array, column, count);
        else
            take_texts(array, column, count);
        to->texts = column->texts;
    }
    rows->chunk.row_count = count;
    return BRUME_OK;
}

/* ---- the functions of a driver ---- */

brume_status brume_adbc_select(brume_adbc *adbc, const char *sql, brume_rows *rows,
                               brume_error *error)
{
    rows_state *own = calloc(1, sizeof *own);
    if (!own)
        return brume_no_memory(error, NULL);
    rows->state = own;
    own->adbc = adbc;
    own->columns = calloc(rows->wire_count, sizeof *own->columns);
    if (!own->columns)
        return brume_no_memory(error, NULL);
    if (strncmp(sql, "SELECT ", 7) != 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "only a single SELECT may run");
    if (!brume_adbc_begin(adbc, sql, &own->stream))
        return brume_adbc_failed(adbc, error);
    return check_schema(own, rows, error);
}

brume_status brume_adbc_next(brume_rows *rows, brume_error *error)
{
    rows_state *own = rows->state;
    do {
        if (own->batch.release)
            own->batch.release(&own->batch);
        memset(&own->batch, 0, sizeof own->batch);
        if (own->stream.get_next(&own->stream, &own->batch) != 0)
            return brume_adbc_failed(own->adbc, error);
    } while (own->batch.release && own->batch.length == 0);
    rows->chunk.row_count = 0;
    return own->batch.release ? take_batch(rows, own, error) : BRUME_OK;
}

void brume_adbc_finish(brume_rows *rows)
{
    rows_state *own = rows->state;
    if (!own)
        return;
    if (own->batch.release)
        own->batch.release(&own->batch);
    if (own->stream.release)
        own->stream.release(&own->stream);
    brume_adbc_end(own->adbc);
    for (size_t i = 0; own->columns && i < rows->wire_count; i++) {
        free(own->columns[i].valid);
        free(own->columns[i].words);
        free(own->columns[i].texts);
        free(own->columns[i].written);
    }
    free(own->columns);
    free(own);
    rows->state = NULL;
}

/* ---- texts ---- */

/* The cells of row `at` of the batch. */
static void take_cells(const struct ArrowArray *batch, column_state *columns, size_t count,
                       int64_t at, brume_text *cells)
{
    for (size_t i = 0; i < count; i++) {
        struct ArrowArray one = *batch->children[i];
        const unsigned char *bits = one.buffers[0];
        one.offset += at;
        columns[i].texts = &cells[i];
        if (bits && one.null_count != 0 && !(bits[one.offset / 8] >> one.offset % 8 & 1))
            cells[i] = (brume_text){"", 0};
        else
            take_texts(&one, &columns[i], 1);
    }
}

static bool have_texts(const struct ArrowSchema *schema, column_state *columns, size_t count)
{
    bool good = (size_t)schema->n_children >= count;
    for (size_t i = 0; good && i < count; i++)
        good = read_layout(schema->children[i]->format, BRUME_WIRE_TEXT, &columns[i]) &&
               columns[i].layout != LAYOUT_DECIMAL;
    return good;
}

bool brume_adbc_texts(brume_adbc *adbc, const char *sql, size_t count, brume_adbc_taker take,
                      void *context)
{
    enum { MOST = 4 };
    struct ArrowArrayStream stream;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    column_state columns[MOST] = {0};
    brume_text cells[MOST];
    bool good = brume_adbc_begin(adbc, sql, &stream) && count <= MOST;
    good = good && stream.get_schema(&stream, &schema) == 0 && have_texts(&schema, columns, count);
    while (good && (good = stream.get_next(&stream, &batch) == 0) && batch.release) {
        for (int64_t at = 0; good && at < batch.length; at++) {
            take_cells(&batch, columns, count, at, cells);
            good = take(context, cells);
        }
        batch.release(&batch);
        memset(&batch, 0, sizeof batch);
    }
    if (schema.release)
        schema.release(&schema);
    if (stream.release)
        stream.release(&stream);
    brume_adbc_end(adbc);
    return good;
}

static bool take_first(void *context, const brume_text *cells)
{
    char **first = context;
    *first = strndup(cells[0].data, cells[0].length);
    return false;
}

char *brume_adbc_cell(brume_adbc *adbc, const char *sql)
{
    char *first = NULL;
    (void)brume_adbc_texts(adbc, sql, 1, take_first, &first);
    return first;
}
