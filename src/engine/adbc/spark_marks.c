/* By what a table of Spark is known: its name in the catalog, and the folder of its files, so that
 * two names of one Parquet, Delta or Iceberg table are one source.
 *
 * Folders are compared as texts. The same folder can be written in several ways: what is known to
 * be one is written as one here. Where two folders are taken for one by mistake they share a
 * budget, which is the safe side. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "engine/adbc/spark.h"

/* ---- folders ---- */

/* Names of one store: by its older and newer clients, with and without encryption on the way. */
static const char *const stores[][2] = {
    {"s3a:", "s3:"}, {"s3n:", "s3:"}, {"abfss:", "abfs:"}, {"wasbs:", "wasb:"}};

/* The bytes of "scheme:"; 0: there is none. */
static size_t scheme_length(const char *location)
{
    size_t i = 0;
    while (isalnum((unsigned char)location[i]) ||
           (i > 0 && strchr("+-.", location[i]) && location[i]))
        i++;
    return i > 0 && location[i] == ':' ? i + 1 : 0;
}

char *brume_spark_folder(const char *location)
{
    size_t scheme = scheme_length(location);
    char *made = malloc(strlen(location) + sizeof "file:"), *end = made;
    if (!made)
        return NULL;
    if (*location && scheme == 0) /* a path alone */
        end = stpcpy(end, "file:");
    for (size_t i = 0; i < scheme; i++)
        *end++ = (char)tolower((unsigned char)location[i]);
    *end = 0;
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if (strcmp(made, stores[i][0]) == 0)
            end = stpcpy(made, stores[i][1]);
    location += scheme;
    if (strncmp(location, "//", 2) == 0 && location[2] &&
        location[2] != '/') { /* a host or store */
        *end++ = *location++;
        *end++ = *location++;
        while (*location && *location != '/')
            *end++ = (char)tolower((unsigned char)*location++);
    }
    for (; *location; location++)
        if (*location != '/' || (location[1] && location[1] != '/')) /* neither twice nor last */
            *end++ = *location;
    *end = 0;
    return made;
}

/* ---- marks ---- */

/* The folders that a table's folder is in: a table that was registered before may be stored there,
 * and have this one's files among its own. */
static brume_status mark_wholes(const char *folder, brume_marks *marks, brume_error *error)
{
    const char *path = strstr(folder, ":/");
    for (size_t i = path ? (size_t)(path - folder) + 2 : strlen(folder); folder[i]; i++)
        if (folder[i] == '/' && folder[i - 1] != '/')
            BRUME_TRY(brume_marks_add(marks, brume_engine_format("location:%.*s", (int)i, folder),
                                      error));
    marks->whole_count = marks->count;
    return BRUME_OK;
}

brume_status brume_spark_marks(brume_engine *engine, size_t index, bool contents,
                               brume_marks *marks, brume_error *error)
{
    const brume_spark *state = engine->state;
    const json_t *table = state->descriptions[index];
    if (!table)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "what is read here is no table");
    const char *location = json_string_value(json_object_get(table, "location"));
    char *folder = brume_spark_folder(location ? location : ""), *name = brume_spark_name(table);
    brume_status status = folder && name ? BRUME_OK : brume_no_memory(error, NULL);
    if (status == BRUME_OK && contents)
        status = mark_wholes(folder, marks, error);
    if (status == BRUME_OK)
        status = brume_marks_add(
            marks, brume_engine_format("table:spark:%s:%s", state->server, name), error);
    if (status == BRUME_OK && *folder)
        status = brume_marks_add(marks, brume_engine_format("location:%s", folder), error);
    free(folder);
    free(name);
    return status;
}
