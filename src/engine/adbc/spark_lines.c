/* Tables of catalogs other than Spark's own, as Delta's and Iceberg's are: Spark describes them in
 * lines of a name and a text, not in JSON. First come the columns with their types, then, after an
 * empty name or one that begins with '#', other parts, of which "# Detailed Table Information" has
 * the table's name, kind, format and folder. What is found is put into the form of the JSON. */
#include <stdlib.h>
#include <string.h>

#include "engine/adbc/spark.h"

/* ---- types ---- */

/* "decimal(10,2)", "varchar(5)", "string collate UTF8_LCASE", "timestamp": as in the JSON, where a
 * timestamp says whether it has a zone. */
static json_t *read_type(const char *text)
{
    static const char collate[] = " collate ";
    int precision = 0, scale = 0;
    const char *collation = strstr(text, collate);
    size_t length = strcspn(text, "(< ");
    json_t *type = json_object();
    if (strcmp(text, "timestamp") == 0)
        json_object_set_new(type, "name", json_string("timestamp_ltz"));
    else
        json_object_set_new(type, "name", json_stringn(text, length));
    if (sscanf(text, "decimal(%d,%d)", &precision, &scale) == 2) {
        json_object_set_new(type, "precision", json_integer(precision));
        json_object_set_new(type, "scale", json_integer(scale));
    }
    if (collation && length == (size_t)(collation - text))
        json_object_set_new(type, "collation", json_string(collation + strlen(collate)));
    return type;
}

/* ---- lines ---- */

typedef struct reading {
    json_t *table, *columns;
    bool after_columns, in_table; /* in the part about the table itself */
} reading;

static const struct {
    const char *line, *key;
} wanted[] = {
    {"Name", "name"}, {"Type", "type"}, {"Provider", "provider"}, {"Location", "location"}};

static bool take_line(void *context, const brume_text *cells)
{
    reading *of = context;
    char *name = strndup(cells[0].data, cells[0].length);
    char *text = strndup(cells[1].data, cells[1].length);
    if (!name || !text) {
        free(name);
        free(text);
        return false;
    }
    if (*name == '#' || !*name) {
        of->after_columns = true;
        of->in_table = strcmp(name, "# Detailed Table Information") == 0;
    } else if (!of->after_columns) {
        json_array_append_new(of->columns,
                              json_pack("{s:s, s:o}", "name", name, "type", read_type(text)));
    }
    for (size_t i = 0; of->in_table && i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(name, wanted[i].line) == 0)
            json_object_set_new(of->table, wanted[i].key, json_string(text));
    free(name);
    free(text);
    return true;
}

json_t *brume_spark_read_lines(brume_adbc *adbc, const char *table)
{
    reading of = {.table = json_object(), .columns = json_array()};
    char *sql = brume_engine_format("DESCRIBE TABLE EXTENDED %s", table);
    bool good = sql && brume_adbc_texts(adbc, sql, 2, take_line, &of);
    free(sql);
    json_object_set_new(of.table, "columns", of.columns);
    /* A view of such a catalog has another part, without these. */
    if (good && json_object_get(of.table, "name") && json_object_get(of.table, "type"))
        return of.table;
    json_decref(of.table);
    return NULL;
}
