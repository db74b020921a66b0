/* A key of the process, whose destructor runs in each thread that has set it. */
#include "number/thread_caches.h"

#include <pthread.h>
#include <stdbool.h>

#include <mpfr.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void free_caches(void *unused)
{
    (void)unused;
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, free_caches) == 0;
}

/* A library that is unloaded must leave no pointer to its code behind. */
__attribute__((destructor)) static void delete_key(void)
{
    if (has_key)
        pthread_key_delete(key);
}

void brume_thread_caches_free_at_end(void)
{
    pthread_once(&once, make_key);
    if (has_key && !pthread_getspecific(key))
        (void)pthread_setspecific(key, &key);
}
