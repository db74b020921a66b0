/* Memory that is given back all at once, the first of it in large pages where the system has them.
 *
 * The tables of a bounding are reached in no order and are large: with pages of 4 KiB most of the
 * time goes into finding pages, and into asking the system for each of them. Any thread may take
 * from them. What is closed goes back to the system but for 64 MiB of the process, which wait,
 * cleared, for the next. */
#ifndef BRUME_QUERY_LARGE_PAGES_H
#define BRUME_QUERY_LARGE_PAGES_H

#include <pthread.h>
#include <stddef.h>

enum { BRUME_PAGES_CLASSES = 48 };

typedef struct brume_pages_region brume_pages_region;

typedef struct brume_pages {
    pthread_mutex_t lock; /* guards what follows */
    brume_pages_region *regions;
    size_t bytes;                          /* of all regions */
    void *given_back[BRUME_PAGES_CLASSES]; /* by the logarithm of their size */
} brume_pages;

void brume_pages_open(brume_pages *pages);
void brume_pages_close(brume_pages *pages);

/* `size` bytes from a cache line on, with anything in them; NULL: no memory. */
void *brume_pages_take(brume_pages *pages, size_t size);

/* Give a block back whose size is a power of two, for the next of this size; NULL: nothing. */
void brume_pages_give(brume_pages *pages, void *block, size_t size);

#endif
