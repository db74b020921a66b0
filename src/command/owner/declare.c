/* What an owner declares of a dataset: how the lines of its source are read, the types of its
 * columns, limits, bounds and domains; and how that is shown. */
#include "command/owner/declare.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command/frame/output.h"
#include "command/frame/table.h"
#include "command/query/ask.h"
#include "engine/declared.h"
#include "engine/files.h"
#include "engine/location.h"

/* "COLUMN=REST": cut at the first '='. */
static brume_status cut(const char *typed, const char *option, const char *how, char **column,
                        char **rest, brume_error *error)
{
    char *copy = strdup(typed);
    char *equals = copy ? strchr(copy, '=') : NULL;
    if (!copy)
        return brume_no_memory(error, NULL);
    if (!equals || equals == copy) {
        free(copy);
        return brume_fail(error, BRUME_EARGUMENT, how, "'--%s' is '%s'", option, typed);
    }
    *equals = 0;
    *column = copy;
    *rest = equals + 1;
    return BRUME_OK;
}

brume_status brume_split_bounds(const char *typed, char **column, char **low, char **high,
                                brume_error *error)
{
    static const char how[] = "write COLUMN=LO..HI";
    char *first = NULL, *second = NULL;
    BRUME_TRY(cut(typed, "bounds", how, &first, &second, error));
    char *dots = strstr(second, "..");
    if (!dots) {
        free(first);
        return brume_fail(error, BRUME_EARGUMENT, how, "'--bounds' is '%s'", typed);
    }
    *dots = 0;
    *column = first;
    *low = second;
    *high = dots + 2;
    return BRUME_OK;
}

bool brume_declares_column(const brume_call *call, const char *option, const char *column)
{
    size_t length = strlen(column);
    for (size_t i = 0; i < brume_call_times(call, option); i++) {
        const char *typed = brume_call_text_at(call, option, i);
        if (strncasecmp(typed, column, length) == 0 && typed[length] == '=')
            return true;
    }
    return false;
}

/* Is the column named by one of the first `before` options of this name? */
static bool is_named_before(const brume_call *call, const char *option, size_t before,
                            const char *column)
{
    size_t length = strlen(column);
    for (size_t i = 0; i < before; i++) {
        const char *typed = brume_call_text_at(call, option, i);
        if (strncasecmp(typed, column, length) == 0 && typed[length] == '=')
            return true;
    }
    return false;
}

static brume_status declare_bounds(const brume_call *call, size_t index, brume_policy *policy,
                                   brume_error *error)
{
    char *column = NULL, *low = NULL, *high = NULL;
    BRUME_TRY(
        brume_split_bounds(brume_call_text_at(call, "bounds", index), &column, &low, &high, error));
    const brume_policy_column *known = brume_policy_find(policy, column);
    brume_status status = BRUME_OK;
    if (known && is_named_before(call, "bounds", index, known->name))
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "column '%s' is given bounds twice",
                            known->name);
    else
        status = brume_policy_set_bounds(policy, column, low, high, error);
    free(column);
    return status;
}

/* The values of one option, after those that options before it gave to the same column: a long
 * domain may take several. */
static brume_status declare_domain(const brume_call *call, size_t index, brume_policy *policy,
                                   brume_error *error)
{
    char *column = NULL, *rest = NULL, *part = NULL;
    BRUME_TRY(cut(brume_call_text_at(call, "domain", index), "domain", "write COLUMN=V1,V2,...",
                  &column, &rest, error));
    const brume_policy_column *known = brume_policy_find(policy, column);
    bool goes_on = known && is_named_before(call, "domain", index, known->name);
    size_t count = 0, before = goes_on ? known->domain_count : 0, room = before + 1;
    for (const char *c = rest; *c; c++)
        room += *c == ',';
    const char **values = calloc(room, sizeof *values);
    brume_status status = values ? BRUME_OK : brume_no_memory(error, NULL);
    while (status == BRUME_OK && count < before) {
        values[count] = known->domain[count];
        count++;
    }
    while (status == BRUME_OK && (part = strsep(&rest, ",")))
        values[count++] = part;
    if (status == BRUME_OK)
        status = brume_policy_set_domain(policy, column, values, count, error);
    free(values);
    free(column);
    return status;
}

static void write_ceiling(FILE *out, const char *name, uint64_t ceiling, const char *meaning)
{
    if (ceiling)
        fprintf(out, "  %s  %llu   (%s)\n", name, (unsigned long long)ceiling, meaning);
    else
        fprintf(out, "  %s  no ceiling   (%s)\n", name, meaning);
}

void brume_write_ceilings(FILE *out, uint64_t max_groups, uint64_t max_rows, bool fixed)
{
    write_ceiling(out, "max groups", max_groups, "groups that one unit may be in");
    write_ceiling(out, "max rows  ", max_rows, "rows of one unit in a group");
    if (fixed)
        fprintf(out, "  limits      fixed   (the ceilings are the limits)\n");
}

const char *const brume_limits_words[] = {"chosen", "fixed", NULL};
const char *const brume_stay_words[] = {"true", "false", NULL};

/* Only a server has rows that can stay. */
static brume_status declare_stay(const brume_call *call, brume_policy *policy, brume_error *error)
{
    brume_dialect dialect;
    if (brume_call_text(call, "rows-stay"))
        policy->rows_stay = strcmp(brume_call_text(call, "rows-stay"), "true") == 0;
    if (policy->is_public)
        policy->rows_stay = false; /* of a dataset of several tables */
    if (policy->rows_stay &&
        (!brume_engine_dialect_of(policy->location, &dialect) || dialect == BRUME_DIALECT_DUCKDB))
        return brume_fail(error, BRUME_EARGUMENT, "load the file into a server, or leave it out",
                          "'--rows-stay' is for tables of a server: files are read by brume");
    return BRUME_OK;
}

/* ---- windows ---- */

bool brume_split_window(char *text, char **column, char **length)
{
    char *space = strchr(text, ' ');
    if (!space || space == text)
        return false;
    *space = 0;
    *column = text;
    *length = space + 1 + strspn(space + 1, " ");
    return **length != 0;
}

brume_status brume_declared_age(const char *typed, const char *option, double *seconds,
                                brume_error *error)
{
    double age = brume_age_seconds(typed);
    if (age < 0)
        return brume_fail(error, BRUME_EARGUMENT, "such as 90m, 12h or 7d",
                          "'--%s' must be a number of minutes, hours or days", option);
    *seconds = age;
    return BRUME_OK;
}

static brume_status declare_window(const brume_call *call, brume_policy *policy, brume_error *error)
{
    const char *typed = brume_call_text(call, "window");
    const char *offset = brume_call_text(call, "window-offset");
    const char *close = brume_call_text(call, "close-after");
    double seconds = 0;
    if (!typed && !policy->window.place && (offset || close))
        return brume_fail(error, BRUME_EARGUMENT, "--window 'COLUMN LENGTH'",
                          "'--%s' without windows", offset ? "window-offset" : "close-after");
    if (!typed && offset)
        return brume_fail(error, BRUME_EARGUMENT, "give --window 'COLUMN LENGTH' as well",
                          "'--window-offset' goes with '--window'");
    if (typed) {
        char *text = strdup(typed), *column = NULL, *length = NULL;
        brume_status status = !text ? brume_no_memory(error, NULL)
                              : brume_split_window(text, &column, &length)
                                  ? brume_policy_set_window(policy, column, length, offset, error)
                                  : brume_fail(error, BRUME_EARGUMENT,
                                               "write --window 'COLUMN day', or hour, week, month, "
                                               "quarter, year, 'Nd from DATE', values",
                                               "'--window' is '%s'", typed);
        free(text);
        BRUME_TRY(status);
    }
    if (close) {
        BRUME_TRY(brume_declared_age(close, "close-after", &seconds, error));
        policy->window.close_after = (int64_t)seconds;
    }
    return BRUME_OK;
}

brume_status brume_declare_policy(const brume_call *call, brume_policy *policy, brume_error *error)
{
    policy->max_groups = brume_call_count(call, "max-groups", policy->max_groups);
    policy->max_rows = brume_call_count(call, "max-rows", policy->max_rows);
    policy->timeout = brume_call_real(call, "timeout", policy->timeout);
    policy->rows_about = brume_call_real(call, "rows-about", policy->rows_about);
    if (brume_call_text(call, "limits-per-user"))
        BRUME_TRY(brume_user_limits_parse(brume_call_text(call, "limits-per-user"),
                                          &policy->per_user, error));
    BRUME_TRY(declare_stay(call, policy, error));
    if (brume_call_text(call, "append-only"))
        policy->append_only = strcmp(brume_call_text(call, "append-only"), "true") == 0;
    if (policy->is_public)
        policy->append_only = false;
    if (brume_call_text(call, "limits"))
        policy->limits_fixed = strcmp(brume_call_text(call, "limits"), "fixed") == 0;
    if (brume_call_text(call, "unit-name"))
        BRUME_TRY(brume_policy_set_unit_name(policy, brume_call_text(call, "unit-name"), error));
    if (policy->limits_fixed && (!policy->max_groups || !policy->max_rows))
        return brume_fail(error, BRUME_EARGUMENT, "give --max-groups and --max-rows as well",
                          "fixed limits need ceilings");
    if (brume_call_text(call, "estimate-bias"))
        BRUME_TRY(
            brume_policy_set_bias_share(policy, brume_call_text(call, "estimate-bias"), error));
    for (size_t i = 0; i < brume_call_times(call, "bounds"); i++)
        BRUME_TRY(declare_bounds(call, i, policy, error));
    for (size_t i = 0; i < brume_call_times(call, "domain"); i++)
        BRUME_TRY(declare_domain(call, i, policy, error));
    if (brume_call_text(call, "max-age"))
        BRUME_TRY(brume_declared_age(brume_call_text(call, "max-age"), "max-age", &policy->max_age,
                                     error));
    return declare_window(call, policy, error);
}

/* ---- the source, and the types of its columns ---- */

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
           brume_call_has(call, "unit") || brume_call_has(call, "window");
}

const char *brume_declares_protection(const brume_call *call)
{
    static const char *const protecting[] = {"unit",          "budget",
                                             "cap",           "max-groups",
                                             "max-rows",      "estimate-bias",
                                             "timeout",       "limits",
                                             "rows-stay",     "limits-per-user",
                                             "unit-name",     "window",
                                             "window-budget", "window-offset",
                                             "close-after",   "max-age",
                                             "append-only",   NULL};
    return brume_call_any_of(call, protecting);
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
        status = brume_no_memory(error, NULL);
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

/* ---- saying it ---- */

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
