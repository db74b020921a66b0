/* array_agg and string_agg for the database of the catalog. Promises: sqlite.h. What one of them
 * gathers is bounded, because any user may ask for all pairs of rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/catalog/sqlite.h"

enum { MOST_GATHERED = 256 << 10 };

static const char *text_of(sqlite3_value *value)
{
    const unsigned char *text = sqlite3_value_text(value);
    return text ? (const char *)text : NULL;
}

typedef struct gathered {
    FILE *out;
    char *text;
    size_t length, count, size; /* size: at least what was written */
} gathered;

/* Is there room for these texts (NULL: none)? Else the query fails. */
static bool has_room(sqlite3_context *context, gathered *all, const char *a, const char *b)
{
    all->size += (a ? 2 * strlen(a) : 4) + (b ? strlen(b) : 0) + 3;
    if (all->size > MOST_GATHERED)
        sqlite3_result_error_toobig(context);
    return all->size <= MOST_GATHERED;
}

static void step_array(sqlite3_context *context, int count, sqlite3_value **values)
{
    gathered *all = sqlite3_aggregate_context(context, sizeof *all);
    (void)count;
    if (all && !all->out && !(all->out = open_memstream(&all->text, &all->length)))
        return;
    if (!all || !has_room(context, all, text_of(values[0]), NULL))
        return;
    fputs(all->count++ ? "," : "{", all->out);
    brume_pg_write_item(all->out, text_of(values[0]));
}

static void step_string(sqlite3_context *context, int count, sqlite3_value **values)
{
    gathered *all = sqlite3_aggregate_context(context, sizeof *all);
    const char *text = text_of(values[0]), *between = count > 1 ? text_of(values[1]) : "";
    if (!all || !text || (!all->out && !(all->out = open_memstream(&all->text, &all->length))))
        return;
    if (!has_room(context, all, text, between))
        return;
    fprintf(all->out, "%s%s", all->count++ && between ? between : "", text);
}

static void finish(sqlite3_context *context, const char *end)
{
    gathered *all = sqlite3_aggregate_context(context, 0);
    if (!all || !all->out)
        return;
    fputs(end, all->out);
    fclose(all->out);
    sqlite3_result_text(context, all->text, -1, free);
}

static void finish_array(sqlite3_context *context)
{
    finish(context, "}");
}

static void finish_string(sqlite3_context *context)
{
    finish(context, "");
}

brume_status brume_pg_add_array_aggregates(sqlite3 *database, brume_error *error)
{
    if (sqlite3_create_function(database, "array_agg", 1, SQLITE_UTF8, NULL, NULL, step_array,
                                finish_array) != SQLITE_OK ||
        sqlite3_create_function(database, "string_agg", 2, SQLITE_UTF8, NULL, NULL, step_string,
                                finish_string) != SQLITE_OK)
        return brume_no_memory(error, "the catalog");
    return BRUME_OK;
}
