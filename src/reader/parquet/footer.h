/* The footer of a Parquet file: its columns, and where the chunks of its row groups lie.
 *
 * Everything in it is checked against the file's size before it is believed; statistics are not
 * read. How many rows there are is what it says of the row groups, if it says the same of every
 * column that brume reads: a file in which the two differ is damaged, whatever is asked of it. */
#ifndef BRUME_READER_PARQUET_FOOTER_H
#define BRUME_READER_PARQUET_FOOTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#include "base/error.h"
#include "base/text.h"
#include "base/type.h"
#include "reader/parquet/codec.h"

/* What a Parquet file's schema says of a column, and what brume reads it as.
 *
 * A column is read if it is flat (a leaf right under the root, required or optional) and its
 * physical and logical types are among those of footer.c; every other one (nested, repeated, binary
 * without a meaning, times, intervals, what is not known) has the type BRUME_TYPE_REFUSED and is in
 * nobody's way. `native` is the name that DuckDB gives the type, which older ledgers recorded. */

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

/* One column of one row group: pages, one after the other. */
typedef struct brume_parquet_place {
    uint64_t start, length; /* within the file; 0, 0: no values, so nothing is read */
    int64_t value_count;    /* as the footer says; of columns that brume reads: as many as rows */
    brume_parquet_codec codec;
} brume_parquet_place;

typedef struct brume_parquet_group {
    uint64_t row_count;
    brume_parquet_place *places; /* one for each leaf of the schema */
} brume_parquet_group;

typedef struct brume_parquet_footer {
    brume_parquet_schema schema;
    brume_parquet_group *groups;
    size_t group_count;
} brume_parquet_footer;

/* Read the footer of an open file of this size. Messages name the file as `location`. ESOURCE: it
 * cannot be read, is no Parquet file, is damaged or encrypted, names a column twice;
 * EUNSUPPORTED: it is compressed in a way that brume does not know; EMEMORY. Clear also after a
 * failure. */
BRUME_MUST_USE brume_status brume_parquet_footer_read(int file, uint64_t size, const char *location,
                                                      brume_parquet_footer *footer,
                                                      brume_error *error);
void brume_parquet_footer_clear(brume_parquet_footer *footer);

/* ESOURCE: "'location' is damaged". */
static inline brume_status brume_parquet_damaged(const char *location, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "restore it, or write it again", "'%s' is damaged",
                      location);
}

/* All of these bytes of a file, or ESOURCE. */
BRUME_MUST_USE brume_status brume_parquet_pread(int file, uint64_t start, void *bytes,
                                                size_t length, const char *location,
                                                brume_error *error);

/* Reading Thrift's compact protocol, in which Parquet writes its footer and the headers of its
 * pages.
 *
 * A reader of bytes in memory. After the first fault (a length beyond the end, a type that was not
 * expected, structures nested too deep) `failed` is set and stays: every further call reads
 * nothing, so that callers may check it once at the end. Nothing is read beyond `end`. */

typedef struct brume_thrift {
    const uint8_t *at, *end;
    bool failed;
} brume_thrift;

/* Start with {0}; brume_thrift_next counts on what it left there. */
typedef struct brume_thrift_field {
    int id;
    unsigned type;
} brume_thrift_field;

/* The next field of a structure; false at its end and after a fault. Each field must then be read
 * by one of the calls below or skipped. */
bool brume_thrift_next(brume_thrift *in, brume_thrift_field *field);
int32_t brume_thrift_int32(brume_thrift *in, brume_thrift_field field); /* fault: out of range */
bool brume_thrift_boolean(brume_thrift *in, brume_thrift_field field);

/* The field is a structure (its fields come next), or a list of structures, of which the number is
 * given; it is at most the number of bytes left. */
void brume_thrift_struct(brume_thrift *in, brume_thrift_field field);
void brume_thrift_skip(brume_thrift *in, brume_thrift_field field);

#endif
