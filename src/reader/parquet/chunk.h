/* One column of one row group, read in batches. */
#ifndef BRUME_READER_PARQUET_CHUNK_H
#define BRUME_READER_PARQUET_CHUNK_H

#include <brume/status.h>

#include "reader/parquet/footer.h"
#include "reader/parquet/pool.h"
#include "reader/rows.h"

typedef struct brume_parquet_chunk brume_parquet_chunk;

/* `column` is not refused; it, the file, `location` and the pool must outlive the chunk. The pool
 * is turned before each batch. NULL: no memory. */
brume_parquet_chunk *brume_parquet_chunk_open(const brume_parquet_column *column,
                                              const brume_parquet_place *place, int file,
                                              const char *location, brume_page_pool *pool);

/* The next `count` <= BRUME_BATCH_ROWS rows. ESOURCE: unreadable, damaged, or there are fewer;
 * EMEMORY. */
BRUME_MUST_USE brume_status brume_parquet_chunk_next(brume_parquet_chunk *chunk, size_t count,
                                                     brume_batch_column *out, brume_error *error);

void brume_parquet_chunk_close(brume_parquet_chunk *chunk);

#endif
