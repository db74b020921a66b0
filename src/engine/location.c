/* Where a source is, without the password that opens it.
 *
 * A URL is recorded, shown and exported; a password in it would be too. It may stand before the '@'
 * or among the parameters. What is left is read again by libpq: it must have no password. */
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

brume_status brume_location_split(const char *location, char **shown, char **password,
                                  brume_error *error)
{
    brume_dialect dialect = BRUME_DIALECT_DUCKDB;
    bool is_url = brume_engine_dialect_of(location, &dialect) &&
                  dialect == BRUME_DIALECT_POSTGRESQL;
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
        return brume_fail(error, BRUME_EARGUMENT,
                          "write postgresql://USER:PASSWORD@HOST/DATABASE, or keep the password in "
                          "~/.pgpass",
                          "the URL cannot be read");
    }
    *shown = rest;
    *password = found;
    return BRUME_OK;
}
