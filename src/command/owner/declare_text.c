/* Saying what an owner declared. */
#include <string.h>

#include "command/owner/declare.h"
#include "command/frame/table.h"
#include "command/frame/wrap.h"
#include "engine/files.h"

static void write_domain(brume_table *table, const json_t *domain)
{
    char text[72] = "";
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(domain) && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "",
                                 json_string_value(json_array_get(domain, i)));
    brume_table_cell(table, "%s%s", text, used >= sizeof text ? "..." : "");
}

brume_status brume_write_columns(brume_call *call, const json_t *policy, brume_error *error)
{
    static const char *const heads[] = {"column", "type", "bounds", "domain", NULL};
    brume_table *table = brume_table_open(heads);
    size_t i = 0;
    json_t *column = NULL;
    json_array_foreach (json_object_get(policy, "columns"), i, column) {
        const char *low = json_string_value(json_object_get(column, "low"));
        const char *high = json_string_value(json_object_get(column, "high"));
        brume_table_cell(table, "%s", json_string_value(json_object_get(column, "name")));
        brume_table_cell(table, "%s", json_string_value(json_object_get(column, "type")));
        if (low && high)
            brume_table_cell(table, "%s..%s", low, high);
        else
            brume_table_cell(table, "%s", "");
        write_domain(table, json_object_get(column, "domain"));
    }
    return brume_table_write(table, call, error);
}

json_t *brume_format_to_json(const char *location, const char *options)
{
    bool csv = location && brume_file_format_of(location) == BRUME_FILE_CSV;
    json_t *format = csv && options && *options == '{' ? json_loads(options, 0, NULL) : NULL;
    return format ? format : json_null();
}

/* "a tab", "','", "none" */
static void write_character(FILE *out, const char *text)
{
    if (strcmp(text, "\t") == 0)
        fputs("tab", out);
    else if (*text)
        fprintf(out, "%s", text);
    else
        fputs("none", out);
}

void brume_write_format(const brume_call *call, const char *location, const char *options)
{
    json_t *format = brume_format_to_json(location, options);
    const char *delimiter = json_string_value(json_object_get(format, "delimiter"));
    const char *quote = json_string_value(json_object_get(format, "quote"));
    bool multiline = json_is_true(json_object_get(format, "multiline"));
    if (delimiter && quote) {
        fprintf(call->out, "  lines       delimiter ");
        write_character(call->out, delimiter);
        fprintf(call->out, "  quote ");
        write_character(call->out, quote);
        fprintf(call->out, "  %s\n",
                json_is_true(json_object_get(format, "header")) ? "with a header" : "no header");
    }
    if (multiline)
        fprintf(call->out, "  multiline   a quoted field may hold line ends: one row may hide "
                           "others, which no\n              price covers\n");
    json_decref(format);
}

json_t *brume_source_warnings(const brume_description *description, bool is_public)
{
    json_t *list = json_array();
    bool good = list != NULL;
    if (good && description->can_fail && !is_public)
        good = json_array_append_new(
                   list, json_string("this source computes with its rows, or reads a foreign "
                                     "table: a row for which that fails makes a query fail, which "
                                     "tells that the row is there. Let the view give NULL instead, "
                                     "or register a plain table")) == 0;
    if (good && description->is_opaque)
        good = json_array_append_new(
                   list, json_string("this source reads through a function or a foreign table: "
                                     "brume cannot see what is behind it, and whether that has a "
                                     "budget already")) == 0;
    if (good && description->mixes_rows && !is_public)
        good =
            json_array_append_new(
                list, json_string("this view aggregates, ranks, limits or compares rows: where a "
                                  "row of it depends on the rows of several units, one of them "
                                  "changes more than a price covers. Let every row depend on "
                                  "rows of its own unit alone")) == 0;
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

void brume_write_warnings(const brume_call *call, const json_t *warnings)
{
    for (size_t i = 0; i < json_array_size(warnings); i++)
        brume_write_sentence(call->out, "warning: %s",
                             json_string_value(json_array_get(warnings, i)));
}
