/* Blocks of bytes that are used again: see the header. */
#include "reader/parquet/pool.h"

#include <stdlib.h>

struct brume_pool_block {
    brume_pool_block *next;
    size_t size;
    enum { BLOCK_FREE, BLOCK_TAKEN, BLOCK_RELEASED } state;
    uint8_t bytes[];
};

/* The smallest free block that is large enough. */
static brume_pool_block *find(brume_pool *pool, size_t size)
{
    brume_pool_block *best = NULL;
    for (brume_pool_block *block = pool->blocks; block; block = block->next)
        if (block->state == BLOCK_FREE && block->size >= size &&
            (!best || block->size < best->size))
            best = block;
    return best;
}

/* Free blocks were all too small: a larger one comes in their place. */
static void drop_free(brume_pool *pool)
{
    for (brume_pool_block **link = &pool->blocks; *link;) {
        brume_pool_block *block = *link;
        if (block->state != BLOCK_FREE) {
            link = &block->next;
            continue;
        }
        *link = block->next;
        free(block);
    }
}

brume_pool_block *brume_pool_take(brume_pool *pool, size_t size)
{
    enum { LEAST = 4096 };
    brume_pool_block *block = find(pool, size);
    if (!block) {
        drop_free(pool);
        if (size > SIZE_MAX / 2)
            return NULL;
        size_t room = size < LEAST ? LEAST : size;
        block = malloc(sizeof *block + room + BRUME_POOL_PADDING);
        if (!block)
            return NULL;
        *block = (brume_pool_block){.next = pool->blocks, .size = room};
        pool->blocks = block;
    }
    block->state = BLOCK_TAKEN;
    return block;
}

uint8_t *brume_pool_bytes(brume_pool_block *block)
{
    return block->bytes;
}

void brume_pool_release(brume_pool_block *block)
{
    if (block)
        block->state = BLOCK_RELEASED;
}

void brume_pool_turn(brume_pool *pool)
{
    for (brume_pool_block *block = pool->blocks; block; block = block->next)
        if (block->state == BLOCK_RELEASED)
            block->state = BLOCK_FREE;
}

uint8_t *brume_pool_lend(brume_pool *pool, size_t size)
{
    brume_pool_block *block = brume_pool_take(pool, size);
    brume_pool_release(block);
    return block ? block->bytes : NULL;
}

void brume_pool_clear(brume_pool *pool)
{
    while (pool->blocks) {
        brume_pool_block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
}
