/* libpq, loaded when a PostgreSQL source is first used. */
#define BRUME_LIBPQ_OWN_NAMES /* here the names are the library's */
#include "engine/libpq.h"

#include <pthread.h>

#include "base/error.h"
#include "base/library.h"

brume_libpq_functions brume_libpq;

static bool is_loaded;

static void load(void)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    bool good = library != NULL;
#define BRUME_PQ(function)                                                                         \
    good = good && brume_library_find(library, #function, &brume_libpq.function);
#include "engine/libpq.def"
#undef BRUME_PQ
    is_loaded = good;
}

brume_status brume_libpq_load(brume_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pthread_once(&once, load) != 0 || !is_loaded)
        return brume_fail(error, BRUME_EUNSUPPORTED, "install libpq (Debian: libpq5)",
                          "PostgreSQL sources need the library libpq.so.5");
    return BRUME_OK;
}
