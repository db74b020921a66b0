/* The policy file that says what a dataset's policy says. */
#include "command/owner/policy_file.h"

#include <stdlib.h>
#include <string.h>

#include "command/owner/yaml.h"
#include "engine/driver.h"
#include "engine/files.h"
#include "ledger/ledger.h"

typedef struct policy_writer {
    FILE *out;
    bool failed;
} policy_writer;

static void write_scalar(policy_writer *to, const char *text)
{
    char *scalar = brume_yaml_scalar(text);
    to->failed = to->failed || !scalar;
    fputs(scalar ? scalar : "", to->out);
    free(scalar);
}

static void write_pair(policy_writer *to, const char *indent, const char *key, const char *text)
{
    fputs(indent, to->out);
    write_scalar(to, key);
    fputs(": ", to->out);
    write_scalar(to, text);
    fputc('\n', to->out);
}

/* ---- a table ---- */

/* 'NAME TYPE, ...' as --columns takes it. */
static void write_columns(policy_writer *to, const brume_policy *policy)
{
    char *text = NULL, type[BRUME_TYPE_NAME_SIZE];
    size_t length = 0;
    FILE *list = open_memstream(&text, &length);
    if (!list) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *column = &policy->columns[i];
        char *quoted = brume_engine_quote(column->name);
        to->failed = to->failed || !quoted;
        bool plain = *column->name && strcspn(column->name, " ,\"\t") == strlen(column->name);
        fprintf(list, "%s%s %s", i ? ", " : "",
                plain    ? column->name
                : quoted ? quoted
                         : "",
                brume_type_name(column->type, type));
        free(quoted);
    }
    if (fclose(list) == 0)
        write_pair(to, "    ", "columns", text);
    else
        to->failed = true;
    free(text);
}

static void write_format(policy_writer *to, const brume_policy *policy)
{
    brume_text_format format, usual = brume_text_format_of(policy->location);
    if (!policy->options || *policy->options != '{' ||
        brume_text_format_parse(policy->options, &format, NULL) != BRUME_OK)
        return;
    char delimiter[] = {format.delimiter, 0}, quote[] = {format.quote, 0};
    if (format.delimiter != usual.delimiter)
        write_pair(to, "    ", "delimiter", format.delimiter == '\t' ? "tab" : delimiter);
    if (format.quote != usual.quote)
        write_pair(to, "    ", "quote", format.quote ? quote : "none");
    if (!format.header)
        write_pair(to, "    ", "no-header", "true");
    if (format.multiline)
        write_pair(to, "    ", "multiline", "true");
}

static void write_owner(policy_writer *to, const brume_policy *policy)
{
    if (policy->is_public) {
        write_pair(to, "    ", "public", "true");
    } else if (policy->link_column) {
        char link[1024];
        snprintf(link, sizeof link, "%.300s = %.300s.%.300s", policy->link_column, policy->parent,
                 policy->parent_column);
        write_pair(to, "    ", "link", link);
    } else {
        write_pair(to, "    ", "unit", policy->unit ? policy->unit : "row");
    }
}

static void write_rows(policy_writer *to, const brume_policy *policy)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)policy->table_rows);
    if (policy->table_rows)
        write_pair(to, "    ", "max-rows", text);
}

static void write_list(policy_writer *to, const char *key, char *const *values, size_t count)
{
    fputs("      ", to->out);
    write_scalar(to, key);
    fputs(": [", to->out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", to->out);
        write_scalar(to, values[i]);
    }
    fputs("]\n", to->out);
}

static void write_declarations(policy_writer *to, const brume_policy *policy)
{
    bool bounds = false, domains = false, identifiers = false;
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *column = &policy->columns[i];
        if (!column->low)
            continue;
        char range[400];
        snprintf(range, sizeof range, "%.190s..%.190s", column->low, column->high);
        fputs(bounds ? "" : "    bounds:\n", to->out);
        bounds = true;
        write_pair(to, "      ", column->name, range);
    }
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *column = &policy->columns[i];
        if (!column->domain_count)
            continue;
        fputs(domains ? "" : "    domain:\n", to->out);
        domains = true;
        write_list(to, column->name, column->domain, column->domain_count);
    }
    for (size_t i = 0; i < policy->column_count; i++)
        if (policy->columns[i].is_identifier) {
            fputs(identifiers ? ", " : "    identifier: [", to->out);
            identifiers = true;
            write_scalar(to, policy->columns[i].name);
        }
    fputs(identifiers ? "]\n" : "", to->out);
}

/* Where the file is, whatever folder one is in. */
static void write_source(policy_writer *to, const brume_policy *policy)
{
    brume_dialect dialect = BRUME_DIALECT_DUCKDB;
    bool file = !brume_engine_dialect_of(policy->location, &dialect) ||
                dialect == BRUME_DIALECT_DUCKDB;
    char *resolved = file && *policy->location != '/' ? realpath(policy->location, NULL) : NULL;
    write_pair(to, "    ", "source", resolved ? resolved : policy->location);
    free(resolved);
    if (policy->table)
        write_pair(to, "    ", "table", policy->table);
    if (file && brume_file_format_of(policy->location) != BRUME_FILE_PARQUET) {
        write_columns(to, policy);
        write_format(to, policy);
    }
}

/* ---- the dataset ---- */

static void write_terms(policy_writer *to, const brume_dataset *dataset, const brume_policy *policy)
{
    char per_user[BRUME_USER_LIMITS_TEXT], text[2 * BRUME_DECIMAL_TEXT + 32],
        epsilon[BRUME_DECIMAL_TEXT], delta[BRUME_DECIMAL_TEXT];
    brume_decimal_print(&dataset->filter.epsilon, epsilon, sizeof epsilon);
    brume_decimal_print(&dataset->filter.delta, delta, sizeof delta);
    bool pure = dataset->filter.rule == BRUME_RULE_PURE;
    snprintf(text, sizeof text, "epsilon=%s%s%s", epsilon,
             pure ? "" : ",delta=", pure ? "" : delta);
    write_pair(to, "", "budget", text);
    write_pair(to, "", "rule", brume_rule_word(dataset->filter.rule));
    write_pair(to, "", "adjacency", brume_adjacency_word(dataset->adjacency));
    if (policy->unit_name)
        write_pair(to, "", "unit-name", policy->unit_name);
    snprintf(text, sizeof text, "%llu", (unsigned long long)policy->max_groups);
    if (policy->max_groups)
        write_pair(to, "", "max-groups", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)policy->max_rows);
    if (policy->max_rows)
        write_pair(to, "", "max-rows", text);
    if (policy->limits_fixed)
        write_pair(to, "", "limits", "fixed");
    if (dataset->cap) {
        snprintf(text, sizeof text, "epsilon=%.200s", dataset->cap);
        write_pair(to, "", "cap", text);
    }
    if (policy->bias_share)
        write_pair(to, "", "estimate-bias", policy->bias_share);
    if (policy->timeout > 0)
        write_pair(to, "", "timeout", brume_shortest(policy->timeout).text);
    brume_user_limits_print(&policy->per_user, per_user);
    if (*per_user)
        write_pair(to, "", "limits-per-user", per_user);
    if (policy->rows_stay)
        write_pair(to, "", "rows-stay", "true");
    if (policy->rows_about > 0)
        write_pair(to, "", "rows-about", brume_shortest(policy->rows_about).text);
    if (*dataset->data_version)
        write_pair(to, "", "data-version", dataset->data_version);
}

brume_status brume_policy_file_write(FILE *out, const brume_dataset *dataset, brume_error *error)
{
    policy_writer to = {.out = out};
    brume_tables *tables = NULL;
    BRUME_TRY(brume_tables_from_json(dataset->policy, dataset->name, &tables, error));
    if (!tables->is_listed && tables->list[0].policy->is_public) {
        brume_tables_close(tables);
        return brume_fail(error, BRUME_EUNSUPPORTED, "'brume show' says what was registered",
                          "a public table by itself has no budget and no policy file");
    }
    write_terms(&to, dataset, tables->list[0].policy);
    fputs("tables:\n", out);
    for (size_t i = 0; i < tables->count; i++) {
        const brume_policy *policy = tables->list[i].policy;
        fputs("  ", out);
        write_scalar(&to, tables->list[i].name);
        fputs(":\n", out);
        write_source(&to, policy);
        write_owner(&to, policy);
        write_rows(&to, policy);
        write_declarations(&to, policy);
    }
    brume_tables_close(tables);
    return to.failed ? brume_fail(error, BRUME_EMEMORY, NULL, "out of memory") : BRUME_OK;
}
