/* Blocks of bytes that are used again. A batch may point into the pages that it was read from, so a
 * block that is done with is kept until the next batch begins. */
#ifndef BRUME_READER_PARQUET_POOL_H
#define BRUME_READER_PARQUET_POOL_H

#include <stddef.h>
#include <stdint.h>

/* Behind the bytes that were asked for, so many more may be read (not what is in them): then
 * unpacking may load whole words. */
enum { BRUME_POOL_PADDING = 16 };

typedef struct brume_pool_block brume_pool_block;

/* Start with {0}. */
typedef struct brume_page_pool {
    brume_pool_block *blocks;
} brume_page_pool;

/* A block of at least `size` bytes, NULL: no memory; its bytes. */
brume_pool_block *brume_pool_take(brume_page_pool *pool, size_t size);
uint8_t *brume_pool_bytes(brume_pool_block *block);

/* The block is done with (NULL: nothing is), but its bytes stay until the next turn. */
void brume_pool_release(brume_pool_block *block);

/* A batch begins: what was released may be used again. */
void brume_pool_turn(brume_page_pool *pool);

/* Bytes that last until the next turn; NULL: no memory. */
uint8_t *brume_pool_lend(brume_page_pool *pool, size_t size);

void brume_pool_clear(brume_page_pool *pool);

/* Pools that nobody uses at the moment, for any thread to take: memory that was used before is
 * there at once. */
typedef struct brume_pool_shelf brume_pool_shelf;

brume_pool_shelf *brume_pool_shelf_open(void); /* NULL: no memory */
void brume_pool_shelf_close(brume_pool_shelf *shelf);

/* A pool, empty if there is none; and back with it, whose bytes are then nobody's. */
brume_page_pool brume_pool_shelf_take(brume_pool_shelf *shelf);
void brume_pool_shelf_put(brume_pool_shelf *shelf, brume_page_pool pool);

#endif
