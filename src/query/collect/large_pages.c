/* Memory that is given back all at once: see the header.
 *
 * Regions come from the system itself, at the border of a large page, and grow with what is in use.
 * A region that cannot be had in large pages is had in small ones.
 *
 * Some regions wait for the next bounding instead of going back: on a virtual machine a page that
 * comes anew from the system can take ten times as long as one that is there. They are cleared
 * before they wait, so that no rows are left in memory that nobody uses. */
#include "query/collect/large_pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Above MOST_LARGE bytes pages are small: the system clears a page before it gives it, and a large
 * one is out of the processor's caches when it is used; of much memory that costs more than large
 * pages save. */
enum {
    LINE = 64,
    LARGE_PAGE = 1 << 21,
    LARGEST_REGION = 1 << 26,
    MOST_LARGE = 1 << 26,
    MOST_WAITING = MOST_LARGE,
};

struct brume_pages_region {
    brume_pages_region *next;
    size_t used, room; /* both with this head */
    bool large;        /* in large pages, as far as the system had them */
};

_Static_assert(sizeof(struct brume_pages_region) <= LINE, "a head is a line");

void brume_pages_open(brume_pages *pages)
{
    *pages = (brume_pages){0};
    pthread_mutex_init(&pages->lock, NULL);
}

/* ---- regions that wait, of the whole process ---- */

/* The lock is only tried: whoever does not get it goes without. So nobody waits for a thread that a
 * fork left behind in the parent. */
static struct {
    pthread_mutex_t lock; /* guards what follows */
    brume_pages_region *regions;
    size_t bytes;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Let a region wait; false: there are enough. */
static bool let_wait(brume_pages_region *region)
{
    if (!region->large || pthread_mutex_trylock(&waiting.lock) != 0)
        return false;
    bool good = waiting.bytes + region->room <= MOST_WAITING;
    if (good) {
        explicit_bzero((unsigned char *)region + LINE, region->used - LINE);
        region->next = waiting.regions;
        waiting.regions = region;
        waiting.bytes += region->room;
    }
    pthread_mutex_unlock(&waiting.lock);
    return good;
}

/* One that has room for so much; NULL: none does. */
static brume_pages_region *take_waiting(size_t need)
{
    if (pthread_mutex_trylock(&waiting.lock) != 0)
        return NULL;
    brume_pages_region **at = &waiting.regions;
    while (*at && (*at)->room < need)
        at = &(*at)->next;
    brume_pages_region *found = *at;
    if (found) {
        *at = found->next;
        waiting.bytes -= found->room;
    }
    pthread_mutex_unlock(&waiting.lock);
    return found;
}

/* ---- regions ---- */

void brume_pages_close(brume_pages *pages)
{
    for (brume_pages_region *next, *region = pages->regions; region; region = next) {
        next = region->next;
        if (!let_wait(region))
            munmap(region, region->room);
    }
    pthread_mutex_destroy(&pages->lock);
}

static size_t round_up(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

/* `size` is a multiple of a large page. More is asked for, and what is not between borders of large
 * pages goes back. */
static void *map(size_t size, bool large)
{
    unsigned char *start =
        mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = (LARGE_PAGE - (uintptr_t)start % LARGE_PAGE) % LARGE_PAGE;
    if (before)
        munmap(start, before);
    if (before < LARGE_PAGE)
        munmap(start + before + size, LARGE_PAGE - before);
    if (large)
        madvise(start + before, size, MADV_HUGEPAGE); /* as it likes */
    return start + before;
}

static brume_pages_region *add_region(brume_pages *pages, size_t need)
{
    size_t room = pages->bytes / 4;
    room = room > LARGEST_REGION ? LARGEST_REGION : room;
    room = round_up(room > need ? room : need, LARGE_PAGE);
    bool large = pages->bytes + room <= MOST_LARGE;
    brume_pages_region *made = large ? take_waiting(room) : NULL;
    if (made)
        room = made->room;
    else if (!(made = map(room, large)))
        return NULL;
    *made =
        (brume_pages_region){.next = pages->regions, .used = LINE, .room = room, .large = large};
    pages->regions = made;
    pages->bytes += room;
    return made;
}

static unsigned class_of(size_t size)
{
    return (unsigned)__builtin_ctzll(size);
}

static void *take(brume_pages *pages, size_t size)
{
    void *last = NULL;
    if ((size & (size - 1)) == 0 && (last = pages->given_back[class_of(size)])) {
        pages->given_back[class_of(size)] = *(void **)last;
        return last;
    }
    size_t need = round_up(size, LINE);
    brume_pages_region *region = pages->regions;
    if (!region || region->room - region->used < need)
        region = add_region(pages, need + LINE);
    if (!region)
        return NULL;
    void *block = (unsigned char *)region + region->used;
    region->used += need;
    return block;
}

void *brume_pages_take(brume_pages *pages, size_t size)
{
    if (size >> (BRUME_PAGES_CLASSES - 1))
        return NULL;
    pthread_mutex_lock(&pages->lock);
    void *block = take(pages, size < LINE ? LINE : size);
    pthread_mutex_unlock(&pages->lock);
    return block;
}

void brume_pages_give(brume_pages *pages, void *block, size_t size)
{
    if (!block || size < LINE)
        return;
    pthread_mutex_lock(&pages->lock);
    *(void **)block = pages->given_back[class_of(size)];
    pages->given_back[class_of(size)] = block;
    pthread_mutex_unlock(&pages->lock);
}
