/* The rows of an answer as an Arrow stream, by the Arrow C data and stream interfaces.
 *
 * Promises: every structure that is handed out owns what it points to, and so does every child of
 * one: they can be moved and released in any order, after the stream and after the session. */
#include "session/arrow_stream.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/arrow.h>

#include "base/error.h"
#include "base/text.h"
#include "query/release/answer.h"

typedef struct brume_arrow_field {
    char *name;
    const char *format; /* "b", "l", "g", "u" or "U"; not owned */
    char *metadata;     /* as the specification lays it out, or NULL */
    size_t metadata_length;
} brume_arrow_field;

/* One column of an answer as an Arrow array. Promises: arrow_stream.h.
 *
 * One column of an answer as an Arrow array, and what a schema says of it. */

static void arrow_field_clear(brume_arrow_field *field)
{
    free(field->name);
    free(field->metadata);
    *field = (brume_arrow_field){0};
}

/* ---- metadata: the number of pairs, then key and value, each with its length before it ---- */

static void write_text(FILE *out, const char *text)
{
    int32_t length = (int32_t)strlen(text);
    fwrite(&length, sizeof length, 1, out);
    fputs(text, out);
}

static bool make_field(const brume_answer_column *column, const char *format,
                       brume_arrow_field *field)
{
    char bar[32] = "";
    if (!column->is_key && isfinite(column->error_95))
        snprintf(bar, sizeof bar, "%.17g", column->error_95);
    int32_t pairs = *bar ? 2 : 1;
    field->format = format;
    field->name = strdup(column->name);
    FILE *out = open_memstream(&field->metadata, &field->metadata_length);
    if (!out)
        return false;
    fwrite(&pairs, sizeof pairs, 1, out);
    write_text(out, "role");
    write_text(out, column->is_key ? "key" : "value");
    if (*bar) {
        write_text(out, "error_95");
        write_text(out, bar);
    }
    return fclose(out) == 0 && field->name;
}

/* ---- types ---- */

static const brume_value *value_at(const brume_query_answer *answer, size_t row, size_t column)
{
    return &answer->values[row * answer->column_count + column];
}

static bool is_null(const brume_value *value)
{
    return value->kind == BRUME_VALUE_NULL ||
           (value->kind == BRUME_VALUE_NUMBER && !isfinite(value->number));
}

static bool is_whole(const brume_value *value)
{
    return value->text || (value->number == floor(value->number) && fabs(value->number) < 0x1p53);
}

/* The text of a value in a column of texts. */
static brume_text text_of(const brume_value *value, char room[32])
{
    if (value->text) /* of a number: its digits */
        return (brume_text){value->text, value->length};
    if (value->kind == BRUME_VALUE_BOOLEAN)
        snprintf(room, 32, "%s", value->boolean ? "true" : "false");
    else
        snprintf(room, 32, "%.17g", value->number);
    return (brume_text){room, strlen(room)};
}

static const char *choose_format(const brume_query_answer *answer, size_t column)
{
    size_t booleans = 0, numbers = 0, whole = 0, texts = 0, bytes = 0;
    char room[32];
    for (size_t row = 0; row < answer->row_count; row++) {
        const brume_value *value = value_at(answer, row, column);
        if (is_null(value))
            continue;
        booleans += value->kind == BRUME_VALUE_BOOLEAN;
        numbers += value->kind == BRUME_VALUE_NUMBER;
        whole += value->kind == BRUME_VALUE_NUMBER && is_whole(value);
        texts += value->kind == BRUME_VALUE_TEXT;
        bytes += text_of(value, room).length;
    }
    if (booleans + numbers + texts == 0)
        return answer->columns[column].is_key ? "u" : "g";
    if (texts || (booleans && numbers))
        return bytes <= INT32_MAX ? "u" : "U"; /* offsets of 32 or of 64 bits */
    return booleans ? "b" : numbers == whole ? "l" : "g";
}

/* ---- buffers ---- */

typedef struct array_memory {
    const void *buffers[3];
} array_memory;

static void release_array(struct ArrowArray *array)
{
    array_memory *memory = array->private_data;
    for (size_t i = 0; i < 3; i++)
        free((void *)(uintptr_t)memory->buffers[i]);
    free(memory);
    array->release = NULL;
}

static void set_bit(uint8_t *bits, size_t at)
{
    bits[at / 8] = (uint8_t)(bits[at / 8] | 1U << at % 8);
}

/* Which rows are there; nothing where all are. */
static bool fill_validity(const brume_query_answer *answer, size_t column, array_memory *memory,
                          struct ArrowArray *array)
{
    for (size_t row = 0; row < answer->row_count; row++)
        array->null_count += is_null(value_at(answer, row, column));
    if (array->null_count == 0)
        return true;
    uint8_t *bits = calloc(answer->row_count / 8 + 1, 1);
    memory->buffers[0] = bits;
    for (size_t row = 0; bits && row < answer->row_count; row++)
        if (!is_null(value_at(answer, row, column)))
            set_bit(bits, row);
    return bits != NULL;
}

static bool fill_booleans(const brume_query_answer *answer, size_t column, array_memory *memory)
{
    uint8_t *bits = calloc(answer->row_count / 8 + 1, 1);
    memory->buffers[1] = bits;
    for (size_t row = 0; bits && row < answer->row_count; row++)
        if (!is_null(value_at(answer, row, column)) && value_at(answer, row, column)->boolean)
            set_bit(bits, row);
    return bits != NULL;
}

static bool fill_numbers(const brume_query_answer *answer, size_t column, bool whole,
                         array_memory *memory)
{
    int64_t *integers = whole ? calloc(answer->row_count + 1, sizeof *integers) : NULL;
    double *reals = whole ? NULL : calloc(answer->row_count + 1, sizeof *reals);
    memory->buffers[1] = whole ? (const void *)integers : (const void *)reals;
    for (size_t row = 0; memory->buffers[1] && row < answer->row_count; row++) {
        const brume_value *value = value_at(answer, row, column);
        if (!is_null(value) && whole)
            integers[row] = brume_value_whole(value);
        else if (!is_null(value))
            reals[row] = value->number;
    }
    return memory->buffers[1] != NULL;
}

static bool fill_texts(const brume_query_answer *answer, size_t column, bool large,
                       array_memory *memory)
{
    size_t count = answer->row_count + 1, used = 0;
    int32_t *small_offsets = large ? NULL : calloc(count, sizeof *small_offsets);
    int64_t *large_offsets = large ? calloc(count, sizeof *large_offsets) : NULL;
    memory->buffers[1] = large ? (const void *)large_offsets : (const void *)small_offsets;
    char *bytes = NULL, room[32];
    size_t length = 0;
    FILE *out = open_memstream(&bytes, &length);
    for (size_t row = 0; memory->buffers[1] && out && row < answer->row_count; row++) {
        const brume_value *value = value_at(answer, row, column);
        brume_text text = is_null(value) ? (brume_text){"", 0} : text_of(value, room);
        fwrite(text.data, 1, text.length, out);
        used += text.length;
        if (large)
            large_offsets[row + 1] = (int64_t)used;
        else
            small_offsets[row + 1] = (int32_t)used;
    }
    bool good = out && fclose(out) == 0;
    memory->buffers[2] = bytes;
    return good && memory->buffers[1];
}

/* Fill in both, which are empty; clear the field and, if its release is set, release the array also
 * after a failure. EMEMORY. */
static brume_status brume_arrow_column(const brume_query_answer *answer, size_t column,
                                       brume_arrow_field *field, struct ArrowArray *array,
                                       brume_error *error)
{
    const char *format = choose_format(answer, column);
    array_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return brume_no_memory(error, "the rows");
    bool texts = *format == 'u' || *format == 'U';
    *array = (struct ArrowArray){.length = (int64_t)answer->row_count,
                                 .n_buffers = texts ? 3 : 2,
                                 .buffers = memory->buffers,
                                 .release = release_array,
                                 .private_data = memory};
    bool good = make_field(&answer->columns[column], format, field) &&
                fill_validity(answer, column, memory, array);
    if (good && texts)
        good = fill_texts(answer, column, *format == 'U', memory);
    else if (good && *format == 'b')
        good = fill_booleans(answer, column, memory);
    else if (good)
        good = fill_numbers(answer, column, *format == 'l', memory);
    return good ? BRUME_OK : brume_no_memory(error, "the rows");
}

/* What the stream owns. */
typedef struct rows {
    struct ArrowArray batch; /* moved out by the first get_next */
    brume_arrow_field *fields;
    size_t count;
} rows;

/* ---- the schema ---- */

/* What is allocated of a schema, as its private data. */
typedef struct schema_memory {
    char *name, *metadata;
    struct ArrowSchema **children;
} schema_memory;

static void release_schema(struct ArrowSchema *schema)
{
    schema_memory *memory = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(memory->name);
    free(memory->metadata);
    free((void *)memory->children);
    free(memory);
    schema->release = NULL;
}

/* An empty one that can be released; `children` are still to be filled in. */
static bool make_schema(const brume_arrow_field *field, const char *format, size_t children,
                        struct ArrowSchema *out)
{
    schema_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return false;
    *out =
        (struct ArrowSchema){.format = format, .release = release_schema, .private_data = memory};
    memory->name = strdup(field ? field->name : "");
    memory->children = calloc(children + 1, sizeof *memory->children);
    if (field && field->metadata_length && (memory->metadata = malloc(field->metadata_length)))
        memcpy(memory->metadata, field->metadata, field->metadata_length);
    out->name = memory->name;
    out->metadata = memory->metadata;
    out->flags = field ? ARROW_FLAG_NULLABLE : 0;
    out->children = memory->children;
    if (memory->name && memory->children && (memory->metadata || !field || !field->metadata_length))
        return true;
    release_schema(out);
    return false;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const rows *all = stream->private_data;
    struct ArrowSchema made;
    if (!make_schema(NULL, "+s", all->count, &made))
        return ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        struct ArrowSchema *child = malloc(sizeof *child);
        if (!child || !make_schema(&all->fields[i], all->fields[i].format, 0, child)) {
            free(child);
            release_schema(&made);
            return ENOMEM;
        }
        made.children[made.n_children++] = child;
    }
    *out = made;
    return 0;
}

/* ---- the batch ---- */

static void release_batch(struct ArrowArray *batch)
{
    for (int64_t i = 0; i < batch->n_children; i++) {
        if (batch->children[i]->release)
            batch->children[i]->release(batch->children[i]);
        free(batch->children[i]);
    }
    free((void *)batch->children);
    free((void *)batch->buffers);
    batch->release = NULL;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    rows *all = stream->private_data;
    *out = all->batch; /* after the first time: released, the end of the stream */
    all->batch = (struct ArrowArray){0};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "out of memory"; /* the only error there is */
}

/* ---- the stream ---- */

static void free_rows(rows *all)
{
    if (all->batch.release)
        all->batch.release(&all->batch);
    for (size_t i = 0; all->fields && i < all->count; i++)
        arrow_field_clear(&all->fields[i]);
    free(all->fields);
    free(all);
}

static void release_stream(struct ArrowArrayStream *stream)
{
    free_rows(stream->private_data);
    stream->release = NULL;
}

static brume_status fill(const brume_query_answer *answer, rows *all, brume_error *error)
{
    struct ArrowArray *batch = &all->batch;
    size_t count = answer->column_count;
    all->fields = calloc(count + 1, sizeof *all->fields);
    batch->buffers = calloc(1, sizeof *batch->buffers); /* no validity: a row is there */
    batch->children = calloc(count + 1, sizeof *batch->children);
    batch->length = (int64_t)answer->row_count;
    batch->n_buffers = 1;
    batch->release = release_batch;
    if (!all->fields || !batch->buffers || !batch->children)
        return brume_no_memory(error, "the rows");
    for (size_t i = 0; i < count; i++) {
        struct ArrowArray *child = calloc(1, sizeof *child);
        if (!child)
            return brume_no_memory(error, "the rows");
        batch->children[batch->n_children++] = child;
        all->count++;
        BRUME_TRY(brume_arrow_column(answer, i, &all->fields[i], child, error));
    }
    return BRUME_OK;
}

brume_status brume_arrow_stream(const brume_query_answer *answer, struct ArrowArrayStream *out,
                                brume_error *error)
{
    rows *all = calloc(1, sizeof *all);
    if (!all)
        return brume_no_memory(error, "the rows");
    brume_status status = fill(answer, all, error);
    if (status != BRUME_OK) {
        free_rows(all);
        return status;
    }
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = all};
    return BRUME_OK;
}
