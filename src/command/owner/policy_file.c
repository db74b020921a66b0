/* A policy file: a dataset of one or several tables, with one unit and one budget. */
#include "command/owner/policy_file.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "command/frame/call.h"
#include "command/owner/policy_keys.h"
#include "engine/location.h"

enum { MOST_BYTES = 1 << 20, MOST_NAME = 63 };

static brume_status out_of_memory(const brume_policy_reading *from)
{
    return brume_fail(from->error, BRUME_EMEMORY, NULL, "out of memory");
}

/* ---- tables ---- */

/* "o_custkey = customer.c_custkey" in its parts, in `text`. */
static bool split_link(char *text, char **column, char **parent, char **parent_column)
{
    char *equals = strchr(text, '='), *dot = equals ? strchr(equals, '.') : NULL;
    if (!dot)
        return false;
    *equals = *dot = 0;
    char *parts[] = {text, equals + 1, dot + 1};
    for (int i = 0; i < 3; i++) {
        while (isspace((unsigned char)*parts[i]))
            parts[i]++;
        size_t length = strlen(parts[i]);
        while (length && isspace((unsigned char)parts[i][length - 1]))
            parts[i][--length] = 0;
        if (!length)
            return false;
    }
    *column = parts[0];
    *parent = parts[1];
    *parent_column = parts[2];
    return true;
}

static brume_status read_link(const brume_policy_reading *from, const brume_yaml *node,
                              brume_policy *policy)
{
    static const char how[] = "write link: COLUMN = TABLE.COLUMN";
    BRUME_TRY(brume_policy_need(from, node, BRUME_YAML_TEXT, how));
    char *text = strdup(node->text), *column, *parent, *parent_column;
    if (!text)
        return out_of_memory(from);
    brume_status status =
        split_link(text, &column, &parent, &parent_column)
            ? brume_policy_at(
                  from, node,
                  brume_policy_set_link(policy, column, parent, parent_column, from->error))
            : brume_policy_fault(from, node, BRUME_ESYNTAX, how, "this is no link");
    free(text);
    return status;
}

static brume_status read_domains(const brume_policy_reading *from, const brume_yaml *map,
                                 brume_policy *policy)
{
    BRUME_TRY(brume_policy_need(from, map, BRUME_YAML_MAP, "domain: {column: [a, b]}"));
    for (size_t i = 0; i < map->count; i++) {
        const brume_yaml *list = &map->items[i];
        BRUME_TRY(brume_policy_need(from, list, BRUME_YAML_LIST, "column: [a, b]"));
        const char **values = calloc(list->count + 1, sizeof *values);
        brume_status status = values ? BRUME_OK : out_of_memory(from);
        for (size_t j = 0; status == BRUME_OK && j < list->count; j++) {
            status = list->items[j].kind == BRUME_YAML_TEXT
                         ? BRUME_OK
                         : brume_policy_fault(from, &list->items[j], BRUME_ESYNTAX, NULL,
                                              "a value of a domain must be a text");
            values[j] = list->items[j].text;
        }
        if (status == BRUME_OK)
            status = brume_policy_at(
                from, list,
                brume_policy_set_domain(policy, list->key, values, list->count, from->error));
        free(values);
        if (status != BRUME_OK)
            return status;
    }
    return BRUME_OK;
}

static brume_status read_identifiers(const brume_policy_reading *from, const brume_yaml *list,
                                     brume_policy *policy)
{
    BRUME_TRY(brume_policy_need(from, list, BRUME_YAML_LIST, "identifier: [column]"));
    for (size_t i = 0; i < list->count; i++) {
        BRUME_TRY(
            brume_policy_need(from, &list->items[i], BRUME_YAML_TEXT, "identifier: [column]"));
        BRUME_TRY(
            brume_policy_at(from, &list->items[i],
                            brume_policy_set_identifier(policy, list->items[i].text, from->error)));
    }
    return BRUME_OK;
}

/* Exactly one of unit, link and public. */
static brume_status read_owner(const brume_policy_reading *from, const brume_yaml *table,
                               const brume_call *call, brume_policy *policy)
{
    const brume_yaml *unit = brume_yaml_find(table, "unit"), *link = brume_yaml_find(table, "link");
    bool is_public = brume_call_has(call, "public");
    int said = (unit != NULL) + (link != NULL) + is_public;
    if (said != 1)
        return brume_policy_at(from, table,
                               brume_fail(from->error, BRUME_EARGUMENT,
                                          "a table has one of 'unit', 'link' and 'public: true'",
                                          said ? "table '%s' says twice whose its rows are"
                                               : "table '%s' does not say whose its rows are",
                                          table->key));
    policy->is_public = is_public;
    if (link)
        return read_link(from, link, policy);
    if (unit && strcmp(unit->text, "row") != 0)
        return brume_policy_at(from, unit, brume_policy_set_unit(policy, unit->text, from->error));
    return BRUME_OK;
}

/* How many rows of the table one unit has at most: of the dataset the key is for the rows in a
 * group of a query. Where the row is the unit there is one, and a public table has no units. */
static brume_status read_rows(const brume_policy_reading *from, const brume_yaml *node,
                              brume_policy *policy)
{
    static const char how[] = "how many rows of it one unit has at most, such as 1";
    char *end = NULL;
    BRUME_TRY(brume_policy_need(from, node, BRUME_YAML_TEXT, how));
    errno = 0;
    unsigned long long rows = isdigit((unsigned char)*node->text) ? strtoull(node->text, &end, 10)
                                                                  : 0;
    if (rows == 0 || *end || errno || rows > UINT32_MAX)
        return brume_policy_fault(from, node, BRUME_EARGUMENT, how,
                                  "'max-rows' must be a whole number from 1 to 4294967295");
    if (policy->is_public || (!policy->unit && !policy->link_column))
        return brume_policy_fault(from, node, BRUME_EARGUMENT, "leave it out",
                                  "'max-rows' is for tables with a unit or a link");
    policy->table_rows = rows;
    return BRUME_OK;
}

/* Where the source is: a path is relative to the file. */
static brume_status locate(const brume_policy_reading *from, const brume_yaml *node,
                           brume_found_source *found)
{
    char *joined = NULL;
    if (*node->text == '/' || strstr(node->text, "://"))
        joined = strdup(node->text);
    else if (asprintf(&joined, "%s/%s", from->folder, node->text) < 0)
        joined = NULL;
    if (!joined)
        return out_of_memory(from);
    brume_status status =
        brume_location_split(joined, &found->location, &found->password, from->error);
    free(joined);
    return brume_policy_at(from, node, status);
}

static brume_status describe_table(const brume_policy_reading *from, const brume_yaml *table,
                                   const brume_call *call, brume_found_source *found,
                                   brume_policy **out)
{
    const brume_yaml *domains = brume_yaml_find(table, "domain");
    const brume_yaml *identifiers = brume_yaml_find(table, "identifier");
    const brume_yaml *rows = brume_yaml_find(table, "max-rows");
    const char *name = brume_call_text(call, "table");
    BRUME_TRY(locate(from, brume_yaml_find(table, "source"), found));
    BRUME_TRY(brume_policy_at(from, table,
                              brume_find_source(call, name, NULL, true, found, from->error)));
    BRUME_TRY(brume_policy_make(found->location, name, &found->description, out, from->error));
    BRUME_TRY(read_owner(from, table, call, *out));
    BRUME_TRY(brume_declare_policy(&from->file->call, *out, from->error));
    BRUME_TRY(brume_policy_at(from, table, brume_declare_policy(call, *out, from->error)));
    if (rows)
        BRUME_TRY(read_rows(from, rows, *out));
    if (domains)
        BRUME_TRY(read_domains(from, domains, *out));
    return identifiers ? read_identifiers(from, identifiers, *out) : BRUME_OK;
}

static brume_status read_table(const brume_policy_reading *from, const brume_yaml *table,
                               size_t index)
{
    brume_table_policy *made = &from->file->tables->list[index];
    const brume_yaml *source = NULL;
    char **words = NULL;
    size_t count = 0;
    brume_call call = {0};
    BRUME_TRY(brume_policy_need(from, table, BRUME_YAML_MAP, "a table has at least a 'source'"));
    if (!*table->key || strlen(table->key) > MOST_NAME || strchr(table->key, '.'))
        return brume_policy_fault(from, table, BRUME_EARGUMENT,
                                  "a name of 1 to 63 bytes, without a dot",
                                  "this is no name of a table");
    if (!(made->name = strdup(table->key)))
        return out_of_memory(from);
    brume_status status = brume_policy_words(from, table, true, &words, &count);
    if (status == BRUME_OK && !(source = brume_yaml_find(table, "source")))
        status = brume_policy_at(from, table,
                                 brume_fail(from->error, BRUME_EARGUMENT, "write source: FILE",
                                            "table '%s' has no 'source'", table->key));
    if (status == BRUME_OK)
        status = brume_policy_need(from, source, BRUME_YAML_TEXT, "write source: FILE");
    if (status == BRUME_OK)
        status = brume_policy_call(from, table->key, source->text, words, count, &call);
    if (status == BRUME_OK)
        status = describe_table(from, table, &call, &from->file->found[index], &made->policy);
    brume_call_close(&call);
    brume_policy_words_free(words, count);
    return status;
}

/* ---- the file ---- */

static brume_status read_tables(const brume_policy_reading *from, const brume_yaml *tables)
{
    BRUME_TRY(brume_policy_need(from, tables, BRUME_YAML_MAP, "tables: {NAME: {source: FILE}}"));
    if (tables->count == 0 || tables->count > BRUME_MOST_TABLES)
        return brume_policy_fault(from, tables, BRUME_EARGUMENT, "1 to 64",
                                  "so many tables are not possible");
    brume_policy_file *file = from->file;
    file->found = calloc(tables->count, sizeof *file->found);
    file->tables = brume_tables_open(tables->count);
    if (!file->found || !file->tables)
        return out_of_memory(from);
    file->tables->is_listed = true;
    for (size_t i = 0; i < tables->count; i++)
        BRUME_TRY(read_table(from, &tables->items[i], i));
    return brume_policy_at(from, tables, brume_tables_check(file->tables, from->error));
}

static brume_status read_tree(const brume_policy_reading *from, const brume_yaml *tree)
{
    brume_policy_file *file = from->file;
    BRUME_TRY(brume_policy_need(from, tree, BRUME_YAML_MAP, "see 'brume help register'"));
    BRUME_TRY(brume_policy_words(from, tree, false, &file->words, &file->word_count));
    BRUME_TRY(
        brume_policy_call(from, from->dataset, "", file->words, file->word_count, &file->call));
    if (!brume_call_has(&file->call, "budget"))
        return brume_policy_fault(from, tree, BRUME_EARGUMENT,
                                  "there is no default: write budget: epsilon=E,delta=D",
                                  "'budget' is missing");
    const brume_yaml *tables = brume_yaml_find(tree, "tables");
    return tables ? read_tables(from, tables)
                  : brume_policy_fault(from, tree, BRUME_EARGUMENT,
                                       "tables: {NAME: {source: FILE}}", "'tables' is missing");
}

/* All of a file of at most MOST_BYTES. */
static brume_status read_text(const brume_policy_reading *from, char *text, size_t *length)
{
    FILE *in = fopen(from->path, "rbe");
    if (!in)
        return brume_fail(from->error, BRUME_ESOURCE, NULL, "cannot open '%s': %s", from->path,
                          strerror(errno));
    *length = fread(text, 1, MOST_BYTES + 1, in);
    bool failed = ferror(in) != 0;
    fclose(in);
    return failed ? brume_fail(from->error, BRUME_ESOURCE, NULL, "cannot read '%s'", from->path)
                  : BRUME_OK;
}

static brume_status find_folder(brume_policy_reading *from)
{
    char *copy = strdup(from->path);
    from->folder = copy ? realpath(dirname(copy), NULL) : NULL;
    free(copy);
    return from->folder ? BRUME_OK
                        : brume_fail(from->error, BRUME_ESOURCE, NULL,
                                     "cannot find the folder of '%s'", from->path);
}

static brume_status read_file(brume_policy_reading *from)
{
    char *text = malloc(MOST_BYTES + 2);
    size_t length = 0;
    brume_yaml *tree = NULL;
    brume_status status = text ? read_text(from, text, &length) : out_of_memory(from);
    if (status == BRUME_OK)
        status = find_folder(from);
    if (status == BRUME_OK)
        status = brume_yaml_parse(text, length, from->path, &tree, from->error);
    if (status == BRUME_OK)
        status = read_tree(from, tree);
    brume_yaml_close(tree);
    free(from->folder);
    free(text);
    return status;
}

brume_status brume_policy_file_open(const brume_command *command, const char *dataset,
                                    const char *path, brume_policy_file **out, brume_error *error)
{
    brume_policy_reading from = {.command = command,
                                 .path = path,
                                 .dataset = dataset,
                                 .file = calloc(1, sizeof *from.file),
                                 .error = error};
    brume_status status = from.file ? read_file(&from) : out_of_memory(&from);
    if (status != BRUME_OK) {
        brume_policy_file_close(from.file);
        return status;
    }
    *out = from.file;
    return BRUME_OK;
}

void brume_policy_file_close(brume_policy_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; file->found && file->tables && i < file->tables->count; i++)
        brume_found_source_clear(&file->found[i]);
    brume_tables_close(file->tables);
    free(file->found);
    brume_call_close(&file->call);
    brume_policy_words_free(file->words, file->word_count);
    free(file);
}
