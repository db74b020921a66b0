/* A result as the protocol sends it: columns with types, rows of texts. */
#ifndef BRUME_SERVE_PG_TABLE_H
#define BRUME_SERVE_PG_TABLE_H

#include <brume/status.h>

#include "serve/pg/message.h"

/* Numbers of PostgreSQL's types, which are fixed. */
enum {
    BRUME_PG_BOOL = 16,
    BRUME_PG_CHAR = 18,
    BRUME_PG_NAME = 19,
    BRUME_PG_INT8 = 20,
    BRUME_PG_INT2 = 21,
    BRUME_PG_INT4 = 23,
    BRUME_PG_REGPROC = 24,
    BRUME_PG_TEXT = 25,
    BRUME_PG_OID = 26,
    BRUME_PG_FLOAT4 = 700,
    BRUME_PG_FLOAT8 = 701,
    BRUME_PG_UNKNOWN = 705,
    BRUME_PG_BPCHAR = 1042,
    BRUME_PG_VARCHAR = 1043,
    BRUME_PG_DATE = 1082,
    BRUME_PG_TIMESTAMP = 1114,
    BRUME_PG_TIMESTAMPTZ = 1184,
    BRUME_PG_NUMERIC = 1700,
};

typedef struct brume_pg_column {
    char *name;
    uint32_t type;
} brume_pg_column;

typedef struct brume_pg_table {
    brume_pg_column *columns;
    size_t column_count;
    char **cells; /* cells[row * column_count + column], in the types' text form; NULL: NULL */
    size_t row_count, room;
} brume_pg_table;

/* Add a column, before any row; the name is copied. EMEMORY. */
BRUME_MUST_USE brume_status brume_pg_table_add_column(brume_pg_table *table, const char *name,
                                                      uint32_t type, brume_error *error);

/* Add a row of NULLs and return its cells, which take texts from malloc; NULL: no memory. */
char **brume_pg_table_add_row(brume_pg_table *table);

void brume_pg_table_clear(brume_pg_table *table);

/* About so much memory it takes. */
size_t brume_pg_table_bytes(const brume_pg_table *table);

/* A table of one column and one row. */
BRUME_MUST_USE brume_status brume_pg_table_single(brume_pg_table *table, const char *name,
                                                  const char *value, brume_error *error);

/* Can values of this type be sent in the binary format? */
bool brume_pg_has_binary(uint32_t type);

/* RowDescription. `formats`: none (all text), one for all, or one a column. */
typedef struct brume_pg_formats {
    uint16_t count;
    uint16_t *list; /* 0: text, 1: binary */
} brume_pg_formats;
uint16_t brume_pg_format(const brume_pg_formats *formats, size_t column);
void brume_pg_put_columns(brume_pg_writer *writer, const brume_pg_table *table,
                          const brume_pg_formats *formats);

/* DataRow. */
void brume_pg_put_row(brume_pg_writer *writer, const brume_pg_table *table, size_t row,
                      const brume_pg_formats *formats);

/* The shortest decimal that reads back as the number. */
enum { BRUME_PG_NUMBER_TEXT = 32 };
void brume_pg_number_text(double number, char text[BRUME_PG_NUMBER_TEXT]);

#endif
