/* Results. Promises: table.h. */
#include "serve/pg/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

brume_status brume_pg_table_add_column(brume_pg_table *table, const char *name, uint32_t type,
                                       brume_error *error)
{
    char *copy = strdup(name);
    brume_pg_column *grown =
        realloc(table->columns, (table->column_count + 1) * sizeof *table->columns);
    if (grown)
        table->columns = grown;
    if (!copy || !grown) {
        free(copy);
        return brume_no_memory(error, "the answer");
    }
    grown[table->column_count++] = (brume_pg_column){copy, type};
    return BRUME_OK;
}

char **brume_pg_table_add_row(brume_pg_table *table)
{
    size_t width = table->column_count ? table->column_count : 1;
    if (table->row_count == table->room) {
        size_t room = 2 * table->room + 16;
        char **grown = realloc((void *)table->cells, room * width * sizeof *grown);
        if (!grown)
            return NULL;
        table->cells = grown;
        table->room = room;
    }
    char **row = &table->cells[table->row_count++ * width];
    for (size_t i = 0; i < width; i++)
        row[i] = NULL;
    return row;
}

void brume_pg_table_clear(brume_pg_table *table)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        free(table->cells[i]);
    for (size_t i = 0; i < table->column_count; i++)
        free(table->columns[i].name);
    free((void *)table->cells);
    free(table->columns);
    *table = (brume_pg_table){0};
}

size_t brume_pg_table_bytes(const brume_pg_table *table)
{
    enum { BLOCK = 16 }; /* what malloc adds to a text and rounds it to */
    size_t count = table->row_count * table->column_count;
    size_t bytes = table->room * table->column_count * sizeof *table->cells;
    for (size_t i = 0; i < count; i++)
        bytes += table->cells[i] ? strlen(table->cells[i]) / BLOCK * BLOCK + 2 * BLOCK : 0;
    return bytes;
}

brume_status brume_pg_table_single(brume_pg_table *table, const char *name, const char *value,
                                   brume_error *error)
{
    BRUME_TRY(brume_pg_table_add_column(table, name, BRUME_PG_TEXT, error));
    char **row = brume_pg_table_add_row(table);
    if (!row || !(row[0] = strdup(value)))
        return brume_no_memory(error, "the answer");
    return BRUME_OK;
}

/* ---- types ---- */

/* The sizes of types of a fixed size, as RowDescription states them; -1: any. */
static int size_of(uint32_t type)
{
    switch (type) {
    case BRUME_PG_BOOL:
    case BRUME_PG_CHAR:
        return 1;
    case BRUME_PG_INT2:
        return 2;
    case BRUME_PG_INT4:
    case BRUME_PG_OID:
    case BRUME_PG_FLOAT4:
    case BRUME_PG_DATE:
    case BRUME_PG_REGPROC:
        return 4;
    case BRUME_PG_INT8:
    case BRUME_PG_FLOAT8:
    case BRUME_PG_TIMESTAMP:
    case BRUME_PG_TIMESTAMPTZ:
        return 8;
    case BRUME_PG_NAME:
        return 64;
    default:
        return -1;
    }
}

bool brume_pg_has_binary(uint32_t type)
{
    switch (type) {
    case BRUME_PG_BOOL:
    case BRUME_PG_CHAR:
    case BRUME_PG_NAME:
    case BRUME_PG_INT8:
    case BRUME_PG_INT2:
    case BRUME_PG_INT4:
    case BRUME_PG_TEXT:
    case BRUME_PG_OID:
    case BRUME_PG_FLOAT4:
    case BRUME_PG_FLOAT8:
    case BRUME_PG_UNKNOWN:
    case BRUME_PG_BPCHAR:
    case BRUME_PG_VARCHAR:
    case BRUME_PG_DATE:
    case BRUME_PG_TIMESTAMP:
        return true;
    default:
        return false;
    }
}

/* Days and seconds are counted from 2000-01-01 in the binary format. */
static const int64_t epoch_days = 10957;

/* Seconds since 1970 of "YYYY-MM-DD[ HH:MM:SS[.ffffff]]", and its microseconds. */
static int64_t seconds_of(const char *text, int64_t *micro)
{
    struct tm parts = {0};
    char fraction[7] = "000000";
    int used = 0;
    *micro = 0;
    if (sscanf(text, "%d-%d-%d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &used) != 3)
        return 0;
    int more = 0;
    if (sscanf(text + used, "%*[ T]%d:%d:%d%n", &parts.tm_hour, &parts.tm_min, &parts.tm_sec,
               &more) == 3 &&
        text[used + more] == '.') {
        for (int i = 0;
             i < 6 && text[used + more + 1 + i] >= '0' && text[used + more + 1 + i] <= '9'; i++)
            fraction[i] = text[used + more + 1 + i];
        *micro = strtol(fraction, NULL, 10);
    }
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return (int64_t)timegm(&parts);
}

static void put_binary(brume_pg_writer *writer, uint32_t type, const char *text)
{
    int size = size_of(type);
    double real;
    float narrow;
    uint64_t bits = 0;
    int64_t micro;
    switch (type) {
    case BRUME_PG_BOOL:
        bits = *text == 't';
        break;
    case BRUME_PG_FLOAT8:
        real = strtod(text, NULL);
        memcpy(&bits, &real, sizeof real);
        break;
    case BRUME_PG_FLOAT4: {
        uint32_t word;
        narrow = strtof(text, NULL);
        memcpy(&word, &narrow, sizeof narrow);
        bits = word;
        break;
    }
    case BRUME_PG_DATE:
        bits = (uint64_t)(seconds_of(text, &micro) / 86400 - epoch_days);
        break;
    case BRUME_PG_TIMESTAMP:
        bits = (uint64_t)((seconds_of(text, &micro) - 86400 * epoch_days) * 1000000);
        bits += (uint64_t)micro;
        break;
    case BRUME_PG_INT2:
    case BRUME_PG_INT4:
    case BRUME_PG_INT8:
    case BRUME_PG_OID:
        bits = (uint64_t)strtoll(text, NULL, 10);
        break;
    default:
        brume_pg_put32(writer, (uint32_t)strlen(text));
        brume_pg_put_bytes(writer, text, strlen(text));
        return;
    }
    brume_pg_put32(writer, (uint32_t)size);
    for (int i = size - 1; i >= 0; i--)
        brume_pg_put8(writer, (uint8_t)(bits >> 8 * i));
}

uint16_t brume_pg_format(const brume_pg_formats *formats, size_t column)
{
    if (!formats || formats->count == 0)
        return 0;
    if (formats->count == 1)
        return formats->list[0];
    return column < formats->count ? formats->list[column] : 0;
}

void brume_pg_put_columns(brume_pg_writer *writer, const brume_pg_table *table,
                          const brume_pg_formats *formats)
{
    brume_pg_begin(writer, 'T');
    brume_pg_put16(writer, (uint16_t)table->column_count);
    for (size_t i = 0; i < table->column_count; i++) {
        brume_pg_put_text(writer, table->columns[i].name);
        brume_pg_put32(writer, 0); /* of no table */
        brume_pg_put16(writer, 0);
        brume_pg_put32(writer, table->columns[i].type);
        brume_pg_put16(writer, (uint16_t)size_of(table->columns[i].type));
        brume_pg_put32(writer, UINT32_MAX); /* no modifier */
        brume_pg_put16(writer, brume_pg_format(formats, i));
    }
    brume_pg_end(writer);
}

void brume_pg_put_row(brume_pg_writer *writer, const brume_pg_table *table, size_t row,
                      const brume_pg_formats *formats)
{
    brume_pg_begin(writer, 'D');
    brume_pg_put16(writer, (uint16_t)table->column_count);
    for (size_t i = 0; i < table->column_count; i++) {
        const char *text = table->cells[row * table->column_count + i];
        if (!text) {
            brume_pg_put32(writer, UINT32_MAX);
        } else if (brume_pg_format(formats, i)) {
            put_binary(writer, table->columns[i].type, text);
        } else {
            brume_pg_put32(writer, (uint32_t)strlen(text));
            brume_pg_put_bytes(writer, text, strlen(text));
        }
    }
    brume_pg_end(writer);
}

void brume_pg_number_text(double number, char text[BRUME_PG_NUMBER_TEXT])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, BRUME_PG_NUMBER_TEXT, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
}
