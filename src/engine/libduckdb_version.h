/* The versions of DuckDB that brume runs with: every release of 1.4, 1.5 and 2.0.
 *
 * What a cast or a function means is part of the proof, so a version is named here once the tests
 * that compare answers have passed with it (tools/duckdb-versions). */
#ifndef BRUME_ENGINE_LIBDUCKDB_VERSION_H
#define BRUME_ENGINE_LIBDUCKDB_VERSION_H

#include <stdbool.h>
#include <string.h>

#define BRUME_DUCKDB_VERSIONS "1.4, 1.5 or 2.0"

/* Whether this, as duckdb_library_version() says it, is a release of one of them. */
static inline bool brume_duckdb_version_is_tested(const char *version)
{
    static const char *const tested[] = {"v1.4.", "v1.5.", "v2.0."};
    for (size_t i = 0; i < sizeof tested / sizeof *tested; i++) {
        size_t length = strlen(tested[i]);
        const char *patch = version + length;
        if (strncmp(version, tested[i], length) == 0 && *patch &&
            strspn(patch, "0123456789") == strlen(patch))
            return true;
    }
    return false;
}

#endif
