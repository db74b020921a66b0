/* The dictionary of a column chunk: its values are made once, and pages point to them. */
#ifndef BRUME_READER_PARQUET_DICTIONARY_H
#define BRUME_READER_PARQUET_DICTIONARY_H

#include "reader/parquet/page.h"
#include "reader/parquet/schema.h"

/* Start with {0}. */
typedef struct brume_parquet_dictionary {
    void *values; /* of the column's type */
    size_t count;
    uint64_t *good;  /* bit i: entry i is a value */
    bool all;        /* all are */
    brume_pool pool; /* of the bytes of its texts */
} brume_parquet_dictionary;

/* Make it of a page. */
brume_parquet_fault brume_parquet_dictionary_make(brume_parquet_dictionary *dictionary,
                                                  const brume_parquet_column *column,
                                                  const brume_parquet_page *page);

/* The values of `count` indices, and where *all becomes false also which are values, as in
 * brume_parquet_convert. False: an index is beyond its end. */
bool brume_parquet_dictionary_look(const brume_parquet_dictionary *dictionary, size_t value_size,
                                   const uint32_t *indices, size_t count, void *values,
                                   uint64_t *good, bool *all);

void brume_parquet_dictionary_clear(brume_parquet_dictionary *dictionary);

#endif
