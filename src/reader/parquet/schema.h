/* What a Parquet file's schema says of a column, and what brume reads it as.
 *
 * A column is read if it is flat (a leaf right under the root, required or optional) and its
 * physical and logical types are among those of schema.c; every other one (nested, repeated, binary
 * without a meaning, times, intervals, what is not known) has the type BRUME_TYPE_REFUSED and is in
 * nobody's way. `native` is the name that DuckDB gives the type, which older ledgers recorded. */
#ifndef BRUME_READER_PARQUET_SCHEMA_H
#define BRUME_READER_PARQUET_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/type.h"

/* As numbered by the format. */
typedef enum brume_parquet_physical {
    PARQUET_BOOLEAN,
    PARQUET_INT32,
    PARQUET_INT64,
    PARQUET_INT96,
    PARQUET_FLOAT,
    PARQUET_DOUBLE,
    PARQUET_BYTE_ARRAY,
    PARQUET_FIXED, /* bytes of one length */
} brume_parquet_physical;

/* What stored values mean: how convert.c makes values of them. */
typedef enum brume_parquet_meaning {
    PARQUET_MEANS_NOTHING,  /* of a refused column */
    PARQUET_MEANS_ITSELF,   /* a boolean, a signed integer of the width it is stored in */
    PARQUET_MEANS_NARROW,   /* an INT32 within low..high */
    PARQUET_MEANS_UNSIGNED, /* an INT32 or INT64 without a sign */
    PARQUET_MEANS_REAL,     /* a FLOAT or DOUBLE; of two bytes: a half */
    PARQUET_MEANS_DECIMAL,  /* an integer, or bytes of a big-endian one, in units of 10^-scale */
    PARQUET_MEANS_WIDE,     /* such bytes of more than 38 digits, read as a double */
    PARQUET_MEANS_DAYS,     /* since 1970-01-01 */
    PARQUET_MEANS_MILLIS,   /* since then */
    PARQUET_MEANS_MICROS,
    PARQUET_MEANS_NANOS,
    PARQUET_MEANS_JULIAN_DAY, /* INT96: nanoseconds of a day, then its number */
    PARQUET_MEANS_TEXT,
    PARQUET_MEANS_UUID,
} brume_parquet_meaning;

/* One element of the schema as it is in the footer, in the order of a walk from the root down. */
typedef struct brume_parquet_element {
    brume_text name; /* in the bytes of the footer */
    int physical;    /* -1: a group */
    int32_t length;  /* of FIXED */
    int repetition;  /* 0 required, 1 optional, 2 repeated */
    int32_t child_count;
    int converted; /* the older way to say what a value means; -1: unsaid */
    int32_t scale, precision;
    struct {
        int kind; /* the newer way, by the id of the union's member; 0: unsaid */
        int unit; /* of times: 1 millis, 2 micros, 3 nanos */
        bool adjusted;
        int width;
        bool is_signed;
        int32_t scale, precision;
    } logical;
} brume_parquet_element;

typedef struct brume_parquet_column {
    char *name;
    char *native;
    brume_type type;
    brume_parquet_physical physical;
    brume_parquet_meaning meaning;
    size_t length;     /* of FIXED, in bytes */
    int32_t low, high; /* of NARROW */
    int scale;         /* of WIDE */
    bool optional;
    size_t leaf; /* which of a row group's chunks; SIZE_MAX for a group */
} brume_parquet_column;

typedef struct brume_parquet_schema {
    brume_parquet_column *columns;
    size_t column_count, leaf_count;
} brume_parquet_schema;

/* What can be wrong below the place where messages are made. */
typedef enum brume_parquet_fault {
    PARQUET_SOUND,
    PARQUET_DAMAGED,
    PARQUET_TWICE, /* two columns of one name, without regard to case */
    PARQUET_NO_MEMORY,
} brume_parquet_fault;

/* The columns under the root, elements[0]. Clear also after a failure. */
brume_parquet_fault brume_parquet_schema_make(const brume_parquet_element *elements, size_t count,
                                              brume_parquet_schema *schema);
void brume_parquet_schema_clear(brume_parquet_schema *schema);

#endif
