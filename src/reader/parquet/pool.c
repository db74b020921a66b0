/* Blocks of bytes that are used again: see the header. */
#include "reader/parquet/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct brume_pool_block {
    brume_pool_block *next;
    size_t size;
    enum { BLOCK_FREE, BLOCK_TAKEN, BLOCK_RELEASED } state;
    uint8_t bytes[];
};

/* The smallest free block that is large enough. */
static brume_pool_block *find(brume_page_pool *pool, size_t size)
{
    brume_pool_block *best = NULL;
    for (brume_pool_block *block = pool->blocks; block; block = block->next)
        if (block->state == BLOCK_FREE && block->size >= size &&
            (!best || block->size < best->size))
            best = block;
    return best;
}

/* Free blocks were all too small: a larger one comes in the place of one. */
static void drop_free(brume_page_pool *pool)
{
    brume_pool_block **link = &pool->blocks;
    while (*link && (*link)->state != BLOCK_FREE)
        link = &(*link)->next;
    brume_pool_block *block = *link;
    if (!block)
        return;
    *link = block->next;
    free(block);
}

brume_pool_block *brume_pool_take(brume_page_pool *pool, size_t size)
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

void brume_pool_turn(brume_page_pool *pool)
{
    for (brume_pool_block *block = pool->blocks; block; block = block->next)
        if (block->state == BLOCK_RELEASED)
            block->state = BLOCK_FREE;
}

uint8_t *brume_pool_lend(brume_page_pool *pool, size_t size)
{
    brume_pool_block *block = brume_pool_take(pool, size);
    brume_pool_release(block);
    return block ? block->bytes : NULL;
}

void brume_pool_clear(brume_page_pool *pool)
{
    while (pool->blocks) {
        brume_pool_block *next = pool->blocks->next;
        free(pool->blocks);
        pool->blocks = next;
    }
}

/* ---- pools that nobody uses ---- */

enum { SHELF_MOST = 64 };

struct brume_pool_shelf {
    pthread_mutex_t lock; /* guards the two below */
    brume_page_pool pools[SHELF_MOST];
    size_t count;
};

brume_pool_shelf *brume_pool_shelf_open(void)
{
    brume_pool_shelf *shelf = calloc(1, sizeof *shelf);
    if (shelf)
        pthread_mutex_init(&shelf->lock, NULL);
    return shelf;
}

void brume_pool_shelf_close(brume_pool_shelf *shelf)
{
    if (!shelf)
        return;
    for (size_t i = 0; i < shelf->count; i++)
        brume_pool_clear(&shelf->pools[i]);
    pthread_mutex_destroy(&shelf->lock);
    free(shelf);
}

brume_page_pool brume_pool_shelf_take(brume_pool_shelf *shelf)
{
    pthread_mutex_lock(&shelf->lock);
    brume_page_pool pool = shelf->count > 0 ? shelf->pools[--shelf->count] : (brume_page_pool){0};
    pthread_mutex_unlock(&shelf->lock);
    return pool;
}

void brume_pool_shelf_put(brume_pool_shelf *shelf, brume_page_pool pool)
{
    for (brume_pool_block *block = pool.blocks; block; block = block->next)
        block->state = BLOCK_FREE;
    pthread_mutex_lock(&shelf->lock);
    bool room = shelf->count < SHELF_MOST;
    if (room)
        shelf->pools[shelf->count++] = pool;
    pthread_mutex_unlock(&shelf->lock);
    if (!room)
        brume_pool_clear(&pool);
}
