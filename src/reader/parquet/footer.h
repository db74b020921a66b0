/* The footer of a Parquet file: its columns, and where the chunks of its row groups lie.
 *
 * Everything in it is checked against the file's size before it is believed; statistics are not
 * read. How many rows there are is what it says of the row groups, if it says the same of every
 * column that brume reads: a file in which the two differ is damaged, whatever is asked of it. */
#ifndef BRUME_READER_PARQUET_FOOTER_H
#define BRUME_READER_PARQUET_FOOTER_H

#include <brume/status.h>

#include "reader/parquet/codec.h"
#include "reader/parquet/schema.h"

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
brume_status brume_parquet_damaged(const char *location, brume_error *error);

/* All of these bytes of a file, or ESOURCE. */
BRUME_MUST_USE brume_status brume_parquet_pread(int file, uint64_t start, void *bytes,
                                                size_t length, const char *location,
                                                brume_error *error);

#endif
