/* One column of an answer as an Arrow array. Promises: arrow_column.h, arrow_stream.h. */
#include "session/arrow_column.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

void brume_arrow_field_clear(brume_arrow_field *field)
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

brume_status brume_arrow_column(const brume_query_answer *answer, size_t column,
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
