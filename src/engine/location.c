/* Where a source is, without the password that opens it.
 *
 * A URL is recorded, shown and exported; a password in it would be too. Of PostgreSQL it may stand
 * before the '@' or among the parameters. What is left is read again by libpq: it must have no
 * password. Of Spark it is the parameter "token" in spark://HOST:PORT/;name=value;...; there are
 * few other parameters, and those that are not known may be secrets too. */
#include "engine/location.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/libpq.h"

/* The password that libpq reads from a URL, or NULL in *password. False: it cannot be read. */
static bool read_password(const char *url, char **password)
{
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    *password = NULL;
    bool good = options != NULL;
    for (const PQconninfoOption *option = options; good && option->keyword && !*password; option++)
        if (strcmp(option->keyword, "password") == 0 && option->val && *option->val)
            good = (*password = strdup(option->val)) != NULL;
    PQconninfoFree(options);
    return good;
}

/* Take out what stands between the user's ':' and the '@'. */
static void drop_from_user(char *url)
{
    char *start = strstr(url, "://") + 3;
    char *at = start + strcspn(start, "@/?#");
    char *colon = memchr(start, ':', (size_t)(at - start));
    if (*at == '@' && colon)
        memmove(colon, at, strlen(at) + 1);
}

/* Take out the parameter "password=...". */
static void drop_parameter(char *url)
{
    char *parameters = strchr(url, '?');
    for (char *part = parameters ? parameters + 1 : NULL; part && *part;) {
        char *end = part + strcspn(part, "&");
        if (strncmp(part, "password=", 9) == 0)
            memmove(part, *end ? end + 1 : end, strlen(*end ? end + 1 : end) + 1);
        else
            part = *end ? end + 1 : end;
    }
    size_t length = strlen(url);
    if (parameters && (url[length - 1] == '&' || url[length - 1] == '?'))
        url[length - 1] = 0;
}

/* ---- Spark ---- */

/* Is it one of the parameters that may be shown? */
static bool is_known(const char *part, size_t length)
{
    static const char *const known[] = {"use_ssl=", "user_id="};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (length > strlen(known[i]) && strncmp(part, known[i], strlen(known[i])) == 0)
            return true;
    return false;
}

/* spark://HOST:PORT or spark://HOST:PORT/;name=value;...: take "token=..." out of it. */
static bool split_spark(char *url, char **token)
{
    char *host = strstr(url, "://") + 3, *end = host + strcspn(host, "/;");
    if (end == host || memchr(host, '@', (size_t)(end - host)) || (*end == ';') ||
        (*end == '/' && end[1] && end[1] != ';'))
        return false;
    char *to = *end ? end + 1 : end;
    for (char *part = to; *part;) {
        size_t length = 1 + strcspn(part + 1, ";"); /* with the ';' before it */
        char *next = part + length;
        if (strncmp(part, ";token=", 7) == 0 && length > 7) {
            if (*token || !(*token = strndup(part + 7, length - 7)))
                return false;
        } else if (length > 1 && is_known(part + 1, length - 1)) {
            memmove(to, part, length);
            to += length;
        } else if (length > 1) {
            return false;
        }
        part = next;
    }
    *to = 0;
    if (to == end + 1)
        *end = 0;
    return true;
}

static brume_status bad_url(const char *hint, brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, hint, "the URL cannot be read");
}

static brume_status location_of_spark(const char *location, char **shown, char **password,
                                      brume_error *error)
{
    char *rest = strdup(location), *token = NULL;
    if (!rest)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (split_spark(rest, &token)) {
        *shown = rest;
        *password = token;
        return BRUME_OK;
    }
    free(rest);
    free(token);
    return bad_url("write spark://HOST:PORT, with /;token=TOKEN;use_ssl=true behind it where the "
                   "server asks for them",
                   error);
}

/* ---- either ---- */

brume_status brume_location_split(const char *location, char **shown, char **password,
                                  brume_error *error)
{
    brume_dialect dialect = BRUME_DIALECT_DUCKDB;
    bool known = brume_engine_dialect_of(location, &dialect);
    bool is_url = known && dialect == BRUME_DIALECT_POSTGRESQL;
    if (known && dialect == BRUME_DIALECT_SPARK)
        return location_of_spark(location, shown, password, error);
    if (is_url)
        BRUME_TRY(brume_libpq_load(error));
    char *rest = strdup(location), *found = NULL, *left = NULL;
    if (!rest)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    bool good = !is_url || read_password(location, &found);
    if (good && found) {
        drop_from_user(rest);
        drop_parameter(rest);
        good = read_password(rest, &left) && !left;
    }
    free(left);
    if (!good) {
        free(rest);
        free(found);
        return bad_url("write postgresql://USER:PASSWORD@HOST/DATABASE, or keep the password in "
                       "~/.pgpass",
                       error);
    }
    *shown = rest;
    *password = found;
    return BRUME_OK;
}
