/* The rows of Parquet files as text: see the header. */
#include "parquet_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_size;

typedef struct batch_room {
    size_t count;
    size_t *indices;
    brume_type *types;
    brume_batch_column *columns;
} batch_room;

static void room_clear(batch_room *room)
{
    for (size_t i = 0; room->columns && i < room->count; i++) {
        free(room->columns[i].values);
        free(room->columns[i].valid);
    }
    free(room->columns);
    free(room->indices);
    free(room->types);
}

/* Exactly as large as they must be, so that memory checkers see a byte too many. */
static size_t value_size(brume_type type)
{
    switch (type.kind) {
    case BRUME_TYPE_BOOLEAN:
        return 1;
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_DATE:
        return 4;
    case BRUME_TYPE_DECIMAL:
        return type.precision > 18 ? 16 : 8;
    case BRUME_TYPE_TEXT:
        return sizeof(brume_text);
    default:
        return 8;
    }
}

static void room_make(const brume_row_files *files, batch_room *room)
{
    size_t all = 0;
    const brume_parquet_column *columns = brume_parquet_columns(files, &all);
    *room = (batch_room){.indices = calloc(all + 1, sizeof *room->indices),
                         .types = calloc(all + 1, sizeof *room->types),
                         .columns = calloc(all + 1, sizeof *room->columns)};
    for (size_t i = 0; i < all; i++) {
        if (columns[i].type.kind == BRUME_TYPE_REFUSED)
            continue;
        room->indices[room->count] = room->count;
        room->types[room->count] = columns[i].type;
        room->columns[room->count].values = malloc(BRUME_BATCH_ROWS * value_size(columns[i].type));
        room->columns[room->count++].valid = malloc(BRUME_BATCH_ROWS / 8);
    }
}

static void print_decimal(FILE *out, wide units, int scale)
{
    char digits[48];
    int length = 0;
    wide_size size = units < 0 ? 0 - (wide_size)units : (wide_size)units;
    for (; size > 0 || length <= scale; size /= 10)
        digits[length++] = (char)('0' + (int)(size % 10));
    if (units < 0)
        fputc('-', out);
    while (length-- > 0) {
        fputc(digits[length], out);
        if (length == scale && scale > 0)
            fputc('.', out);
    }
}

static void print_value(FILE *out, brume_type type, const void *values, size_t row)
{
    const int32_t *integers = values;
    const int64_t *bigints = values;
    switch (type.kind) {
    case BRUME_TYPE_BOOLEAN:
        fputs(((const uint8_t *)values)[row] ? "true" : "false", out);
        return;
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_DATE:
        fprintf(out, "%" PRId32, integers[row]);
        return;
    case BRUME_TYPE_DECIMAL:
        print_decimal(out, type.precision > 18 ? ((const wide *)values)[row] : bigints[row],
                      type.scale);
        return;
    case BRUME_TYPE_DOUBLE:
        fprintf(out, "%.17g", ((const double *)values)[row]);
        return;
    case BRUME_TYPE_TEXT:
        fwrite(((const brume_text *)values)[row].data, 1, ((const brume_text *)values)[row].length,
               out);
        return;
    default:
        fprintf(out, "%" PRId64, bigints[row]);
    }
}

static void print_rows(FILE *out, const batch_room *room, size_t rows)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < room->count; i++) {
            bool valid = room->columns[i].valid[row / 64] >> row % 64 & 1;
            if (valid)
                print_value(out, room->types[i], room->columns[i].values, row);
            else
                fputs("\\N", out);
            fputc(i + 1 < room->count ? '\t' : '\n', out);
        }
}

static brume_status print_parts(FILE *out, const brume_row_files *files, const batch_room *room,
                                brume_error *error)
{
    const brume_row_format *format = &brume_parquet_format;
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < format->part_count(files); i++) {
        brume_row_part *part = NULL;
        size_t rows = 1;
        status = format->part_open(files, i, room->indices, room->count, &part, error);
        while (status == BRUME_OK && rows > 0) {
            status = format->part_next(part, room->columns, &rows, error);
            if (status == BRUME_OK)
                print_rows(out, room, rows);
        }
        format->part_close(part);
    }
    return status;
}

brume_status parquet_text(const char *const *paths, size_t count, char **text, size_t *length,
                          brume_error *error)
{
    brume_row_files *files = NULL;
    batch_room room;
    BRUME_TRY(brume_parquet_open("the files", paths, count, &files, error));
    FILE *out = open_memstream(text, length);
    room_make(files, &room);
    brume_status status = print_parts(out, files, &room, error);
    fclose(out);
    if (status != BRUME_OK)
        free(*text);
    room_clear(&room);
    brume_parquet_format.close(files);
    return status;
}

char *parquet_columns_text(const brume_row_files *files)
{
    size_t count = 0, length = 0;
    char *text = NULL, name[BRUME_TYPE_NAME_SIZE];
    const brume_parquet_column *columns = brume_parquet_columns(files, &count);
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s %s %s\n", columns[i].name, columns[i].native,
                columns[i].type.kind == BRUME_TYPE_REFUSED
                    ? "refused"
                    : brume_type_name(columns[i].type, name));
    fclose(out);
    return text;
}
