/* The pages of a column chunk, one after the other: their headers, and their bytes decompressed. */
#ifndef BRUME_READER_PARQUET_PAGE_H
#define BRUME_READER_PARQUET_PAGE_H

#include <brume/status.h>

#include "reader/parquet/footer.h"
#include "reader/parquet/pool.h"

typedef enum brume_parquet_page_kind {
    PARQUET_PAGE_DICTIONARY,
    PARQUET_PAGE_DATA, /* levels, where there are any, have their length before them */
    PARQUET_PAGE_DATA_V2,
} brume_parquet_page_kind;

typedef struct brume_parquet_page {
    brume_parquet_page_kind kind;
    uint64_t count; /* values, NULLs among them */
    int encoding, level_encoding;
    /* Decompressed; of version 2 without the levels. BRUME_POOL_PADDING bytes behind them may be
     * read. */
    const uint8_t *bytes;
    size_t length;
    const uint8_t *levels; /* of version 2 */
    size_t level_length;
} brume_parquet_page;

typedef struct brume_parquet_pages {
    int file;
    const char *location; /* for messages */
    brume_parquet_codec codec;
    uint64_t at, end; /* in the file: the next page, and the chunk's end */
    brume_pool *pool;
    brume_pool_block *window; /* bytes of the file */
    uint64_t window_start;
    size_t window_length;
    brume_pool_block *unpacked; /* the page's bytes, where they were compressed */
} brume_parquet_pages;

void brume_parquet_pages_open(brume_parquet_pages *pages, int file, const char *location,
                              const brume_parquet_place *place, brume_pool *pool);

/* The next page that has values. What the last one had stays until the pool's next turn. ESOURCE:
 * unreadable, damaged, or there is none; EMEMORY. */
BRUME_MUST_USE brume_status brume_parquet_pages_next(brume_parquet_pages *pages,
                                                     brume_parquet_page *page, brume_error *error);

/* Done: the blocks go back to the pool. */
void brume_parquet_pages_close(brume_parquet_pages *pages);

#endif
