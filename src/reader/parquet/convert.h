/* Values from stored values. Total: a stored value that is none of its column's type is NULL, and
 * says nothing about the others.
 *
 *   integers     beyond the width that the schema states
 *   reals        infinite, NaN, or 1e150 and above in size
 *   decimals     of more digits than the column's precision; without bytes
 *   dates, timestamps   outside the years 0001 to 9999. Nanoseconds are cut to microseconds, down
 *   texts        not valid UTF-8, or with a NUL */
#ifndef BRUME_READER_PARQUET_CONVERT_H
#define BRUME_READER_PARQUET_CONVERT_H

#include "reader/parquet/pool.h"
#include "reader/parquet/footer.h"

/* The bytes of a value in a column of a batch: see reader/rows.h. */
size_t brume_parquet_value_size(brume_type type);

/* `count` stored values, as values.h gives them, to values. Where all are values *all is true and
 * `good` is not written; else bit i of `good`, of at least `count` bits, says whether value i is.
 * Texts point to the stored bytes, or to bytes that the pool lends. NO_MEMORY or SOUND. */
brume_parquet_fault brume_parquet_convert(const brume_parquet_column *column, const void *stored,
                                          size_t count, void *values, uint64_t *good, bool *all,
                                          brume_page_pool *pool);

#endif
