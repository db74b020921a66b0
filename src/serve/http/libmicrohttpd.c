/* libmicrohttpd, loaded when a server starts. */
#define BRUME_MICROHTTPD_OWN_NAMES /* here the names are the library's */
#include "serve/http/libmicrohttpd.h"

#include <pthread.h>

#include "base/error.h"
#include "base/library.h"

brume_microhttpd_functions brume_microhttpd;

static bool is_loaded;

static void load(void)
{
    void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    bool good = library != NULL;
#define BRUME_MHD(function)                                                                        \
    good = good && brume_library_find(library, #function, &brume_microhttpd.function);
#include "serve/http/libmicrohttpd.def"
#undef BRUME_MHD
    is_loaded = good;
}

brume_status brume_microhttpd_load(brume_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pthread_once(&once, load) != 0 || !is_loaded)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "install libmicrohttpd (Debian: libmicrohttpd12)",
                          "serving HTTP needs the library libmicrohttpd.so.12");
    return BRUME_OK;
}
