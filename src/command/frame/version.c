/* brume version: which brume this is, the libraries that it runs with, and the machine. */
#include <string.h>
#include <sys/utsname.h>

#include <brotli/decode.h>
#include <gmp.h>
#include <libfyaml.h>
#include <lz4.h>
#include <mpfr.h>
#include <openssl/crypto.h>
#include <pg_query.h>
#include <sqlite3.h>
#include <zlib.h>
#include <zstd.h>

#include <brume/version.h>

#include "base/error.h"
#include "base/library.h"
#include "command/command.h"
#include "engine/libduckdb.h"
#include "engine/libpq.h"
#include "number/flint.h"

typedef struct version_text {
    char text[64]; /* "": the library is not here */
} version_text;

static version_text as_text(const char *text)
{
    version_text version;
    snprintf(version.text, sizeof version.text, "%s", text);
    return version;
}

static version_text brotli_version(void)
{
    uint32_t version = BrotliDecoderVersion(); /* 8 bits, 12 bits, 12 bits */
    version_text text;
    snprintf(text.text, sizeof text.text, "%u.%u.%u", version >> 24, version >> 12 & 0xfff,
             version & 0xfff);
    return text;
}

static version_text duckdb_version(void)
{
    if (brume_libduckdb_load(NULL) != BRUME_OK)
        return as_text("");
    const char *version = duckdb_library_version();
    return as_text(version[0] == 'v' ? version + 1 : version);
}

static version_text libpq_version(void)
{
    if (brume_libpq_load(NULL) != BRUME_OK)
        return as_text("");
    int version = PQlibVersion(); /* 150018 is 15.18 */
    version_text text;
    snprintf(text.text, sizeof text.text, "%d.%d", version / 10000, version % 10000);
    return text;
}

/* The version of a library that is loaded only when a server is asked or started: its function
 * without arguments says it, after the name in "libcurl/7.88.1 OpenSSL/3.0.20". */
static version_text late_version(const char *file, const char *function)
{
    const char *(*say)(void) = NULL;
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!library || !brume_library_find(library, function, &say))
        return as_text("");
    const char *slash = strchr(say(), '/');
    version_text text = as_text(slash ? slash + 1 : say());
    text.text[strcspn(text.text, " ")] = 0;
    return text;
}

typedef struct library {
    const char *name;
    version_text version;
} library;

/* What each library says of itself; FLINT and libpg_query, which say nothing, were built with these
 * headers, and the names of their files would differ if they were others. */
static json_t *libraries_json(void)
{
    const library libraries[] = {
#ifdef ARB_VERSION /* FLINT 3 has Arb inside */
        {"arb", as_text(ARB_VERSION)},
#endif
        {"brotli", brotli_version()},
        {"duckdb", duckdb_version()},
        {"flint", as_text(FLINT_VERSION)},
        {"gmp", as_text(gmp_version)},
        {"jansson", as_text(jansson_version_str())},
        {"libcurl", late_version("libcurl.so.4", "curl_version")},
        {"libfyaml", as_text(fy_library_version())},
        {"libmicrohttpd", late_version("libmicrohttpd.so.12", "MHD_get_version")},
        {"libpg_query", as_text(PG_VERSION)},
        {"libpq", libpq_version()},
        {"lz4", as_text(LZ4_versionString())},
        {"mpfr", as_text(mpfr_get_version())},
        {"openssl", as_text(OpenSSL_version(OPENSSL_VERSION_STRING))},
        {"sqlite", as_text(sqlite3_libversion())},
        {"zlib", as_text(zlibVersion())},
        {"zstd", as_text(ZSTD_versionString())},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        json_object_set_new(object, libraries[i].name,
                            libraries[i].version.text[0] ? json_string(libraries[i].version.text)
                                                         : json_null());
    return object;
}

static void write_text(const brume_call *call, json_t *libraries, const char *platform)
{
    fprintf(call->out, "brume %s, %s\n", BRUME_VERSION, platform);
    const char *name;
    json_t *version;
    json_object_foreach (libraries, name, version)
        fprintf(call->out, "%-13s %s\n", name,
                json_is_string(version) ? json_string_value(version) : "not installed");
}

static brume_status run(brume_call *call, brume_error *error)
{
    struct utsname machine;
    if (uname(&machine) != 0)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "the system does not say what it is");
    char platform[sizeof machine.sysname + sizeof machine.machine];
    snprintf(platform, sizeof platform, "%s-%s", machine.sysname, machine.machine);
    if (platform[0] == 'L')
        platform[0] = 'l'; /* linux-x86_64, as others write it */
    json_t *libraries = libraries_json();
    if (call->json)
        return brume_call_write_json(call,
                                     json_pack("{s:s, s:o, s:s}", "version", BRUME_VERSION,
                                               "libraries", libraries, "platform", platform),
                                     error);
    write_text(call, libraries, platform);
    json_decref(libraries);
    return BRUME_OK;
}

const brume_command brume_command_version = {
    .name = "version",
    .summary = "say which brume this is, and with which libraries it runs",
    .description =
        "The version of brume, of each library that it uses, and the machine; what a "
        "report of a fault should have. What is loaded late, DuckDB for one, is loaded for "
        "it, and null in --json where it cannot be. 'brume --version' says the first line alone.",
    BRUME_EXAMPLES("version", "version --json"),
    .run = run,
};
