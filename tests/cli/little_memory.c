/* Preloaded by tests: a computer with LITTLE_MEMORY megabytes, by which DuckDB sets its limit. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long sysconf(int name)
{
    const char *megabytes = getenv("LITTLE_MEMORY");
    void *symbol = dlsym(RTLD_NEXT, "sysconf");
    long (*next)(int) = NULL;
    memcpy(&next, &symbol, sizeof next);
    if (name == _SC_PHYS_PAGES && megabytes)
        return (strtol(megabytes, NULL, 10) << 20) / next(_SC_PAGESIZE);
    return next(name);
}
