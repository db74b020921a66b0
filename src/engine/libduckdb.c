/* DuckDB, loaded when a file is first asked about. */
#define BRUME_LIBDUCKDB_OWN_NAMES /* here the names are the library's */
#include "engine/libduckdb.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "engine/libduckdb_version.h"

brume_libduckdb_functions brume_libduckdb;

/* What became of loading it, which is done once. */
static struct {
    brume_status status;
    brume_error error;
} loaded;

static char *given; /* the file that the program named, before it was loaded */

static const char hint[] = "BRUME_DUCKDB names the file of DuckDB " BRUME_DUCKDB_VERSIONS;

static void load(void)
{
    const char *named = given ? given : getenv("BRUME_DUCKDB"), *missing = NULL;
    /* lazily: most of its 24,000 functions are never called, and finding them takes 10 ms */
    void *library = dlopen(named && *named ? named : "libduckdb.so", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        loaded.status = brume_fail(&loaded.error, BRUME_EENGINE, hint,
                                   "DuckDB cannot be loaded: %.300s", why ? why : "");
        return;
    }
#define BRUME_DUCKDB(function)                                                                     \
    if (!brume_library_find(library, #function, &brume_libduckdb.function))                        \
        missing = #function;
#include "engine/libduckdb.def"
#undef BRUME_DUCKDB
    if (missing) {
        loaded.status = brume_fail(&loaded.error, BRUME_EENGINE, hint,
                                   "this library is not DuckDB's: it has no %s", missing);
        return;
    }
    const char *version = brume_libduckdb.duckdb_library_version();
    if (!brume_duckdb_version_is_tested(version))
        loaded.status = brume_fail(&loaded.error, BRUME_EENGINE, hint,
                                   "DuckDB is of version %.40s, must be " BRUME_DUCKDB_VERSIONS,
                                   version);
}

brume_status brume_libduckdb_load(brume_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pthread_once(&once, load) != 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "DuckDB cannot be loaded");
    if (loaded.status != BRUME_OK && error)
        *error = loaded.error;
    return loaded.status;
}

brume_status brume_libduckdb_load_from(const char *path, brume_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char *copy = strdup(path);
    if (!copy)
        return brume_no_memory(error, "a name");
    pthread_mutex_lock(&lock);
    if (!given) {
        given = copy; /* kept as long as the process runs */
        copy = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(copy);
    return brume_libduckdb_load(error);
}
