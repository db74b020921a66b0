/* brume inspect: the owner's look at a file, before it is registered. Not private, and says so. */
#include "command/owner/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "command/owner/declare.h"
#include "command/frame/table.h"
#include "command/frame/wrap.h"
#include "engine/files.h"
#include "base/utf8.h"

/* ---- what to declare ---- */

static void write_name(FILE *out, const char *name)
{
    if (*name && !strpbrk(name, ", \t\"")) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (; *name; name++)
        fprintf(out, "%s%c", *name == '"' ? "\"" : "", *name);
    fputc('"', out);
}

/* The text of --columns; the caller frees it. */
static char *columns_text(const brume_declared *columns)
{
    char *text = NULL, type[BRUME_TYPE_NAME_SIZE];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < columns->count; i++) {
        fputs(i ? ", " : "", out);
        write_name(out, columns->columns[i].name);
        fprintf(out, " %s", brume_type_name(columns->columns[i].type, type));
    }
    return fclose(out) == 0 ? text : NULL;
}

static const char *delimiter_word(char delimiter)
{
    static char one[2];
    one[0] = delimiter;
    return delimiter == '\t' ? "tab" : one;
}

/* Is column i a text because of few of its values? Then the type of the others, and how many it is
 * not the type of. */
static bool is_nearly(const brume_inspected *found, size_t i, brume_type *type, uint64_t *others)
{
    if (!found->guesses || found->columns.columns[i].type.kind != BRUME_TYPE_TEXT)
        return false;
    *type = brume_guess_nearly(&found->guesses[i], others);
    return type->kind != BRUME_TYPE_TEXT;
}

/* How many lines of the file are no UTF-8, or have a NUL: texts in them may be NULL. */
static brume_status count_foreign(const char *location, uint64_t *count, brume_error *error)
{
    brume_files files = {0};
    char *line = NULL;
    size_t room = 0;
    brume_status status = brume_files_find(location, &files, error);
    *count = 0;
    for (size_t i = 0; status == BRUME_OK && i < files.count; i++) {
        FILE *file = fopen(files.paths[i], "re");
        ssize_t length;
        while (file && (length = getline(&line, &room, file)) >= 0)
            *count += !brume_utf8_is_text(line, (size_t)length);
        if (!file || ferror(file))
            status = brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s'", location);
        if (file)
            fclose(file);
    }
    free(line);
    brume_files_clear(&files);
    return status;
}

/* ---- text ---- */

static brume_status write_columns(brume_call *call, const brume_inspected *found,
                                  brume_error *error)
{
    static const char *const heads[] = {"column", "type", ">missing", ">unreadable", NULL};
    char type[BRUME_TYPE_NAME_SIZE];
    brume_table *table = brume_table_open(heads);
    for (size_t i = 0; i < found->columns.count; i++) {
        brume_table_cell(table, "%s", found->columns.columns[i].name);
        brume_table_cell(table, "%s", brume_type_name(found->columns.columns[i].type, type));
        brume_table_cell(table, "%llu", (unsigned long long)found->missing[i]);
        brume_table_cell(table, "%llu", (unsigned long long)found->unreadable[i]);
    }
    return brume_table_write(table, call, error);
}

/* Values, those with blanks at an end, or nothing in them, in quotes: else nobody sees that. */
static void write_list(FILE *out, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *value = json_string_value(json_array_get(list, i));
        bool odd = !*value || *value == ' ' || value[strlen(value) - 1] == ' ';
        fprintf(out, "%s%s%s%s", i ? ", " : "", odd ? "'" : "", value, odd ? "'" : "");
    }
}

static void write_nearly(FILE *out, const brume_inspected *found)
{
    char word[BRUME_TYPE_NAME_SIZE];
    brume_type type;
    uint64_t others;
    for (size_t i = 0; i < found->columns.count; i++)
        if (is_nearly(found, i, &type, &others))
            brume_write_sentence(out,
                                 "%s: all but %llu of its values are of the type %s; declared so, "
                                 "these are read as NULL",
                                 found->columns.columns[i].name, (unsigned long long)others,
                                 brume_type_name(type, word));
}

static void write_domain(FILE *out, const json_t *domain)
{
    const json_t *missing = json_object_get(domain, "missing"),
                 *values = json_object_get(domain, "values");
    long long beyond = json_integer_value(json_object_get(domain, "beyond"));
    fprintf(out, "domain of %s: ", json_string_value(json_object_get(domain, "column")));
    if (json_array_size(missing) == 0)
        fprintf(out, "every value occurs");
    else
        fprintf(out, "these do not occur: ");
    write_list(out, missing);
    fputc('\n', out);
    if (beyond == 0)
        return;
    fprintf(out, "  %lld %s beyond it, in %lld rows: ", beyond, beyond == 1 ? "value" : "values",
            (long long)json_integer_value(json_object_get(domain, "beyond_rows")));
    write_list(out, values);
    fprintf(out, "%s\n", (long long)json_array_size(values) < beyond ? ", ..." : "");
}

static brume_status write_text(brume_call *call, const brume_inspected *found, const char *columns,
                               brume_error *error)
{
    FILE *out = call->out;
    fprintf(out, "this read the data and is not private: it is for the owner's eyes\n\n");
    fprintf(out, "  rows       %llu\n", (unsigned long long)found->rows);
    if (found->empty_rows)
        fprintf(out, "             %llu of them empty, or not to be read%s\n",
                (unsigned long long)found->empty_rows,
                found->text && !found->json && !found->format.multiline
                    ? ", as where a quoted text\n             goes over lines without --multiline"
                    : "");
    if (found->foreign)
        fprintf(out,
                "  encoding   not UTF-8 in %llu lines: texts in them that are not are NULL;\n"
                "             iconv -f latin1 -t utf-8 FILE makes it, if latin1 is what it is\n",
                (unsigned long long)found->foreign);
    if (found->text && !found->json) {
        char usual = brume_text_format_of(brume_call_operand(call, 0)).delimiter;
        const char *word = delimiter_word(found->format.delimiter);
        fprintf(out, "  delimiter  %s", word);
        if (found->format.delimiter != usual)
            fprintf(out, ": say --delimiter '%s'", word);
        fputc('\n', out);
        fprintf(out, "  header     %s\n", found->format.header ? "yes" : "no: say --no-header");
    }
    if (found->text)
        fprintf(out, "  --columns '%s'\n", columns);
    fputc('\n', out);
    BRUME_TRY(write_columns(call, found, error));
    write_nearly(out, found);
    for (size_t i = 0; i < json_array_size(found->domains); i++)
        write_domain(out, json_array_get(found->domains, i));
    return BRUME_OK;
}

/* ---- JSON ---- */

static json_t *columns_to_json(const brume_inspected *found)
{
    char type[BRUME_TYPE_NAME_SIZE];
    json_t *list = json_array();
    for (size_t i = 0; list && i < found->columns.count; i++) {
        brume_type near;
        uint64_t others;
        json_t *one = json_pack("{s:s,s:s,s:I,s:I}", "name", found->columns.columns[i].name, "type",
                                brume_type_name(found->columns.columns[i].type, type), "missing",
                                (json_int_t)found->missing[i], "unreadable",
                                (json_int_t)found->unreadable[i]);
        bool good = json_array_append(list, one) == 0;
        if (good && is_nearly(found, i, &near, &others))
            good = json_object_set_new(one, "nearly",
                                       json_pack("{s:s,s:I}", "type", brume_type_name(near, type),
                                                 "others", (json_int_t)others)) == 0;
        json_decref(one);
        if (!good) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *to_json(const brume_inspected *found, const char *columns)
{
    bool csv = found->text && !found->json;
    char delimiter[] = {found->format.delimiter, 0};
    return json_pack("{s:o,s:s?,s:o,s:I,s:b,s:I,s:I,s:s?,s:O}", "columns", columns_to_json(found),
                     "delimiter", csv ? delimiter : NULL, "header",
                     csv ? json_boolean(found->format.header) : json_null(), "rows",
                     (json_int_t)found->rows, "private", 0, "empty_rows",
                     (json_int_t)found->empty_rows, "not_utf8_rows", (json_int_t)found->foreign,
                     "declare", found->text ? columns : NULL, "domains", found->domains);
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_inspected found = {0};
    const char *policy = brume_call_text(call, "policy"), *file = brume_call_operand(call, 0);
    if (!policy == !file)
        return brume_fail(error, BRUME_EARGUMENT, "inspect FILE, or inspect --policy FILE.yaml",
                          "there must be a file, or a policy");
    if (policy && (brume_declares_schema(call) || brume_call_has(call, "domain")))
        return brume_fail(error, BRUME_EARGUMENT, "they are keys of the file",
                          "'--policy' goes with no other option");
    if (policy)
        return brume_inspect_policy(call, policy, error);
    brume_status status = brume_inspect(call, brume_call_operand(call, 0), &found, error);
    if (status == BRUME_OK && found.text)
        status = count_foreign(brume_call_operand(call, 0), &found.foreign, error);
    char *columns = status == BRUME_OK ? columns_text(&found.columns) : NULL;
    if (status == BRUME_OK && !columns)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (status == BRUME_OK)
        status = call->json ? brume_call_write_json(call, to_json(&found, columns), error)
                            : write_text(call, &found, columns, error);
    free(columns);
    brume_inspected_clear(&found);
    return status;
}

const brume_command brume_command_inspect = {
    .name = "inspect",
    .summary = "look at a file and propose how to register it",
    .description =
        "The owner's look at a file. It reads all rows, and what it prints is not private: types "
        "that fit all values, the delimiter, whether there is a header, how many values are "
        "missing, and how many are not of the type and would be read as NULL. 'register' reads no "
        "row for that: it takes what is declared, such as the --columns proposed here.\n\nWith "
        "--columns the types are those, and the others text, as 'register' would have them.",
    BRUME_OPERANDS(
        BRUME_OPERAND(FILE, "FILE", "a .csv, .parquet or .json path or glob", .optional = true)),
    BRUME_OPTIONS(
        BRUME_SCHEMA_OPTIONS,
        BRUME_OPTION(FILE, "policy", "FILE.yaml",
                     "check every table of a policy file: units, links, bounds and domains"),
        BRUME_OPTION(TEXT, "domain", "COLUMN=V1,V2,...",
                     "which of these values do not occur, and what occurs beyond them",
                     .repeated = true)),
    BRUME_EXAMPLES("inspect visits.csv --domain ward=surgery,medicine,maternity"),
    .run = run,
};
