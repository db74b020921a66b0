/* What an owner declares of a source: how its lines are read, and the types of its columns. */
#include <stdlib.h>
#include <string.h>

#include "command/owner/declare.h"
#include "engine/declared.h"
#include "engine/files.h"
#include "engine/location.h"

static const char *const format_options[] = {"delimiter", "quote", "no-header", "multiline"};
enum { FORMAT_OPTIONS = sizeof format_options / sizeof *format_options };

static const brume_type text_type = {BRUME_TYPE_TEXT, 0, 0};

static bool declares_format(const brume_call *call)
{
    for (size_t i = 0; i < FORMAT_OPTIONS; i++)
        if (brume_call_has(call, format_options[i]))
            return true;
    return false;
}

bool brume_declares_schema(const brume_call *call)
{
    return declares_format(call) || brume_call_has(call, "columns") ||
           brume_call_has(call, "bounds") || brume_call_has(call, "domain") ||
           brume_call_has(call, "unit");
}

/* ---- which options apply ---- */

static brume_status does_not_apply(const char *option, const char *to, const char *hint,
                                   brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, hint, "'--%s' does not apply to %s", option, to);
}

/* Is the source a text file? Options that say how one is read apply to nothing else. */
brume_status brume_check_schema_options(const brume_call *call, const char *location, bool *text,
                                        brume_error *error)
{
    brume_dialect dialect = BRUME_DIALECT_DUCKDB;
    bool known = brume_engine_dialect_of(location, &dialect);
    bool table = known && dialect != BRUME_DIALECT_DUCKDB;
    bool parquet = !table && brume_file_format_of(location) == BRUME_FILE_PARQUET;
    bool json = !table && brume_file_format_of(location) == BRUME_FILE_JSON;
    bool spark = known && dialect == BRUME_DIALECT_SPARK;
    const char *to = spark     ? "a Spark table"
                     : table   ? "a PostgreSQL table"
                     : parquet ? "a Parquet file"
                     : json    ? "JSON lines"
                               : NULL;
    *text = !table && !parquet;
    if (!table && brume_call_text(call, "table"))
        return does_not_apply("table", "a file", "it is for postgresql:// and spark:// sources",
                              error);
    if ((table || parquet) && brume_call_has(call, "columns"))
        return does_not_apply("columns", to, "it has a schema of its own, which is kept", error);
    for (size_t i = 0; to && i < FORMAT_OPTIONS; i++)
        if (brume_call_has(call, format_options[i]))
            return does_not_apply(format_options[i], to, "it is for CSV files", error);
    return BRUME_OK;
}

/* ---- how lines are read ---- */

/* One ASCII character, or the word for one. */
static brume_status read_character(const brume_call *call, const char *option, const char *word,
                                   char meant, const char *how, char *out, brume_error *error)
{
    const char *typed = brume_call_text(call, option);
    if (!typed)
        return BRUME_OK;
    if (strcmp(typed, word) == 0)
        *out = meant;
    else if (strlen(typed) == 1 && (*typed == '\t' || (*typed >= ' ' && *typed <= '~')))
        *out = *typed;
    else
        return brume_fail(error, BRUME_EARGUMENT, how, "'--%s' is '%s'", option, typed);
    return BRUME_OK;
}

brume_status brume_declare_format(const brume_call *call, const char *location,
                                  const brume_policy *before, brume_text_format *format,
                                  brume_error *error)
{
    *format = brume_text_format_of(location);
    bool recorded = before && before->options && *before->options == '{';
    if (recorded && !declares_format(call))
        return brume_text_format_parse(before->options, format, error);
    BRUME_TRY(read_character(call, "delimiter", "tab", '\t', "one ASCII character, or tab",
                             &format->delimiter, error));
    BRUME_TRY(read_character(call, "quote", "none", 0, "one ASCII character, or none",
                             &format->quote, error));
    format->header = !brume_call_has(call, "no-header");
    format->multiline = brume_call_has(call, "multiline");
    if (format->quote == format->delimiter)
        return brume_fail(error, BRUME_EARGUMENT, "choose two different characters",
                          "the delimiter and the quote are the same");
    if (format->multiline && !format->quote)
        return brume_fail(error, BRUME_EARGUMENT, "leave one of them out",
                          "'--multiline' needs quotes, and '--quote' is none");
    return BRUME_OK;
}

/* ---- the types of columns ---- */

/* The number of decimals that a number of this type holds; any, for a double. */
static int decimals_of(brume_type type)
{
    return type.kind == BRUME_TYPE_DOUBLE ? 1000 : type.scale;
}

/* Can bounds that read as `bounds` be those of a column of the type? */
static bool has_room(brume_type type, brume_type bounds)
{
    if (brume_type_is_number(type))
        return brume_type_is_number(bounds) && decimals_of(type) >= decimals_of(bounds);
    return brume_type_equal(type, bounds) ||
           (type.kind == BRUME_TYPE_TIMESTAMP && bounds.kind == BRUME_TYPE_DATE);
}

/* A column with bounds and without a declared type is a number with their decimals, a date or a
 * timestamp; one whose type has room for them stays what it was. */
static brume_status type_by_bounds(const char *typed, const brume_policy *before,
                                   brume_declared *declared, brume_error *error)
{
    char *name = NULL, *low = NULL, *high = NULL;
    brume_type type;
    BRUME_TRY(brume_split_bounds(typed, &name, &low, &high, error));
    brume_status status = BRUME_OK;
    brume_column *column = brume_declared_find(declared, name);
    const brume_policy_column *old = before ? brume_policy_find(before, name) : NULL;
    bool fits = brume_declared_type_of_bounds(low, high, &type); /* else it is said later */
    if (fits && old && has_room(old->type, type))
        type = old->type;
    if (fits && !column)
        status = brume_declared_add(declared, old ? old->name : name, type, error);
    else if (fits && column->type.kind == BRUME_TYPE_REFUSED)
        column->type = type;
    free(name);
    return status;
}

/* Columns of `before` that were not declared anew keep their types, and their places. */
static brume_status keep_columns(const brume_policy *before, const brume_description *now,
                                 brume_declared *declared, brume_error *error)
{
    brume_declared merged = {0};
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < before->column_count; i++) {
        const brume_policy_column *old = &before->columns[i];
        const brume_column *typed = brume_declared_find(declared, old->name);
        bool there = !now;
        for (size_t j = 0; now && j < now->column_count; j++)
            there = there || strcmp(now->columns[j].name, old->name) == 0;
        if (typed || there)
            status = brume_declared_add(&merged, old->name, typed ? typed->type : old->type, error);
    }
    for (size_t i = 0; status == BRUME_OK && i < declared->count; i++)
        if (!brume_declared_find(&merged, declared->columns[i].name))
            status = brume_declared_add(&merged, declared->columns[i].name,
                                        declared->columns[i].type, error);
    brume_declared_clear(declared);
    *declared = merged;
    return status;
}

static brume_status read_columns(const brume_call *call, const brume_policy *before,
                                 brume_declared *declared, brume_error *error)
{
    if (brume_call_text(call, "columns"))
        BRUME_TRY(brume_declared_parse(brume_call_text(call, "columns"), declared, error));
    for (size_t i = 0; i < brume_call_times(call, "bounds"); i++)
        BRUME_TRY(type_by_bounds(brume_call_text_at(call, "bounds", i), before, declared, error));
    return BRUME_OK;
}

/* What has no type by now is text. */
static void settle_types(brume_declared *declared)
{
    for (size_t i = 0; i < declared->count; i++)
        if (declared->columns[i].type.kind == BRUME_TYPE_REFUSED)
            declared->columns[i].type = text_type;
}

/* ---- opening ---- */

static brume_status open_as_declared(brume_source *source, const brume_declared *declared,
                                     bool marks, brume_found_source *found, brume_error *error)
{
    brume_engine *engine = NULL;
    source->declared = declared->columns;
    source->declared_count = declared->count;
    BRUME_TRY(brume_engine_open(source, 1, &engine, error));
    brume_status status = brume_engine_describe(engine, 0, &found->description, error);
    if (status == BRUME_OK && marks)
        status = brume_engine_marks(engine, 0, true, &found->marks, error);
    brume_engine_close(engine);
    return status;
}

/* Columns that an amendment does not name. Without a header the typed columns are all there are; a
 * header tells which are still there. */
static brume_status add_old_columns(const brume_call *call, const brume_policy *before,
                                    const brume_text_format *format, brume_source *source,
                                    brume_declared *declared, brume_error *error)
{
    bool json = brume_file_format_of(source->location) == BRUME_FILE_JSON;
    if (json || !format->header)
        return !json && brume_call_has(call, "columns")
                   ? BRUME_OK
                   : keep_columns(before, NULL, declared, error);
    brume_found_source first = {0};
    brume_declared typed = {0};
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < declared->count; i++)
        status = brume_declared_add(&typed, declared->columns[i].name, text_type, error);
    if (status == BRUME_OK)
        status = open_as_declared(source, &typed, false, &first, error);
    if (status == BRUME_OK)
        status = keep_columns(before, &first.description, declared, error);
    brume_found_source_clear(&first);
    brume_declared_clear(&typed);
    return status;
}

brume_status brume_find_source(const brume_call *call, const char *table,
                               const brume_policy *before, bool marks, brume_found_source *found,
                               brume_error *error)
{
    const char *location = found->location;
    bool text = false;
    brume_text_format format;
    brume_declared declared = {0};
    char *options = NULL;
    BRUME_TRY(brume_check_schema_options(call, location, &text, error));
    brume_source source = {.location = location, .table = table, .password = found->password};
    brume_status status = text ? brume_declare_format(call, location, before, &format, error)
                               : BRUME_OK;
    if (status == BRUME_OK && text && !(options = brume_text_format_print(&format)))
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    source.options = options;
    if (status == BRUME_OK && text)
        status = read_columns(call, before, &declared, error);
    if (status == BRUME_OK && text && before)
        status = add_old_columns(call, before, &format, &source, &declared, error);
    settle_types(&declared);
    if (status == BRUME_OK)
        status = open_as_declared(&source, &declared, marks, found, error);
    brume_declared_clear(&declared);
    free(options);
    return status;
}

void brume_found_source_clear(brume_found_source *found)
{
    free(found->location);
    free(found->password);
    brume_description_clear(&found->description);
    brume_marks_clear(&found->marks);
    *found = (brume_found_source){0};
}
