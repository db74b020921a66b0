/* The tables of a dataset: one unit, one budget. */
#include "query/plan/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"

void brume_tables_close(brume_tables *tables)
{
    if (!tables)
        return;
    for (size_t i = 0; i < tables->count; i++) {
        free(tables->list[i].name);
        brume_policy_close(tables->list[i].policy);
    }
    free(tables->list);
    free(tables);
}

brume_tables *brume_tables_open(size_t count)
{
    brume_tables *tables = calloc(1, sizeof *tables);
    if (!tables || !(tables->list = calloc(count + 1, sizeof *tables->list))) {
        free(tables);
        return NULL;
    }
    tables->count = count;
    return tables;
}

size_t brume_tables_find(const brume_tables *tables, const char *name)
{
    for (size_t i = 0; i < tables->count; i++)
        if (strcmp(tables->list[i].name, name) == 0)
            return i;
    for (size_t i = 0; i < tables->count; i++)
        if (strcasecmp(tables->list[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

/* ---- checks ---- */

static brume_status no_table(const brume_tables *tables, const char *child, const char *name,
                             brume_error *error)
{
    char hint[160] = "a link goes to another table of the dataset";
    const char *names[BRUME_MOST_TABLES];
    size_t count = 0;
    for (size_t i = 0; i < tables->count && count < BRUME_MOST_TABLES; i++)
        names[count++] = tables->list[i].name;
    const char *near = brume_text_nearest(name, names, count);
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
    return brume_fail(error, BRUME_EUNKNOWN, hint,
                      "table '%s' has a link to '%s', which is no table of the dataset", child,
                      name);
}

static brume_status no_column(const brume_policy *policy, const char *child, const char *parent,
                              const char *name, brume_error *error)
{
    char hint[160] = "";
    const char **names = calloc(policy->column_count + 1, sizeof *names);
    for (size_t i = 0; names && i < policy->column_count; i++)
        names[i] = policy->columns[i].name;
    const char *near = names ? brume_text_nearest(name, names, policy->column_count) : NULL;
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
    free(names);
    return brume_fail(error, BRUME_EUNKNOWN, hint,
                      "table '%s' has a link to the column '%s' of '%s', which has no such column",
                      child, name, parent);
}

static bool is_whole(brume_type type)
{
    return type.kind == BRUME_TYPE_INTEGER || type.kind == BRUME_TYPE_BIGINT;
}

/* May values of the two types be compared without converting either? */
static bool comparable(brume_type a, brume_type b)
{
    return a.kind != BRUME_TYPE_REFUSED &&
           (brume_type_equal(a, b) || (is_whole(a) && is_whole(b)) ||
            (a.kind == BRUME_TYPE_TEXT && b.kind == BRUME_TYPE_TEXT));
}

static brume_status check_link(const brume_tables *tables, const brume_table_policy *child,
                               brume_error *error)
{
    const brume_policy *policy = child->policy;
    size_t at = brume_tables_find(tables, policy->parent);
    if (at == SIZE_MAX)
        return no_table(tables, child->name, policy->parent, error);
    const brume_table_policy *parent = &tables->list[at];
    if (parent->policy->is_public)
        return brume_fail(error, BRUME_EARGUMENT, "a link goes to a table that has units",
                          "table '%s' has a link to '%s', which is public", child->name,
                          parent->name);
    const brume_policy_column *to = brume_policy_find(parent->policy, policy->parent_column);
    const brume_policy_column *from = brume_policy_find(policy, policy->link_column);
    if (!to)
        return no_column(parent->policy, child->name, parent->name, policy->parent_column, error);
    char first[BRUME_TYPE_NAME_SIZE], second[BRUME_TYPE_NAME_SIZE];
    if (!from || !comparable(from->type, to->type))
        return brume_fail(error, BRUME_EARGUMENT, "declare both with one type under 'columns'",
                          "the link of '%s' compares '%s' (%s) with '%s' (%s)", child->name,
                          policy->link_column,
                          from ? brume_type_name(from->type, first) : "missing", to->name,
                          brume_type_name(to->type, second));
    if (!parent->policy->unit && !parent->policy->link_column)
        return brume_fail(error, BRUME_EARGUMENT, "name a column as the unit of the parent",
                          "table '%s' has a link to '%s', where the row is the unit", child->name,
                          parent->name);
    return BRUME_OK;
}

/* Follow the links of one table to their end. */
static brume_status check_circle(const brume_tables *tables, size_t start, brume_error *error)
{
    size_t at = start;
    for (size_t steps = 0; tables->list[at].policy->link_column; steps++) {
        if (steps >= tables->count)
            return brume_fail(
                error, BRUME_EARGUMENT, "the last table of a chain of links has a 'unit'",
                "the links of table '%s' go round in a circle", tables->list[start].name);
        at = brume_tables_find(tables, tables->list[at].policy->parent);
    }
    return BRUME_OK;
}

/* Tables with units of their own must have units that can be the same ones. */
static brume_status check_units(const brume_tables *tables, brume_error *error)
{
    const brume_table_policy *first = NULL, *by_row = NULL;
    size_t protected = 0;
    for (size_t i = 0; i < tables->count; i++) {
        const brume_table_policy *table = &tables->list[i];
        const brume_policy *policy = table->policy;
        protected += !policy->is_public;
        if (!policy->is_public && !policy->unit && !policy->link_column)
            by_row = table;
        if (!policy->unit)
            continue;
        if (first && !comparable(brume_policy_find(first->policy, first->policy->unit)->type,
                                 brume_policy_find(policy, policy->unit)->type))
            return brume_fail(error, BRUME_EARGUMENT, "declare both with one type under 'columns'",
                              "the units of '%s' and '%s' are of different types", first->name,
                              table->name);
        first = first ? first : table;
    }
    if (by_row && protected > 1)
        return brume_fail(error, BRUME_EARGUMENT,
                          "name the column that says whose row it is, or register it by itself",
                          "the row is the unit of '%s', and the dataset has other protected tables",
                          by_row->name);
    if (protected == 0 && tables->is_listed)
        return brume_fail(error, BRUME_EARGUMENT,
                          "public tables alone are registered one by one, with --public",
                          "no table of the dataset has a unit");
    return BRUME_OK;
}

/* Clause 4, of one protected table. */
static brume_status check_window(const brume_tables *tables, const brume_table_policy *table,
                                 const brume_table_policy *first, brume_error *error)
{
    const brume_policy *policy = table->policy;
    if (!policy->window.place != !first->policy->window.place)
        return brume_fail(error, BRUME_EARGUMENT,
                          "every protected table says 'window: COLUMN', 'link' or 'none', or none "
                          "does",
                          "the table '%s' has windows and '%s' does not say in which its rows are",
                          policy->window.place ? table->name : first->name,
                          policy->window.place ? first->name : table->name);
    if (!brume_policy_same_grid(first->policy, policy))
        return brume_fail(error, BRUME_EARGUMENT, "declare the same values for both columns",
                          "the windows of '%s' and '%s' are different ones", first->name,
                          table->name);
    if (policy->window.place != BRUME_WINDOW_BY_LINK)
        return BRUME_OK;
    const brume_table_policy *parent =
        &tables->list[brume_tables_find(tables, policy->parent)]; /* check_link has found it */
    return parent->policy->window.place == BRUME_WINDOW_TIMELESS
               ? brume_fail(error, BRUME_EARGUMENT,
                            "write 'window: none', or name a column of dates",
                            "the rows of '%s' are in the windows of '%s', which has none",
                            table->name, parent->name)
               : BRUME_OK;
}

static brume_status check_windows(const brume_tables *tables, brume_error *error)
{
    const brume_table_policy *first = NULL;
    bool dated = false, any = false;
    for (size_t i = 0; i < tables->count; i++) {
        const brume_table_policy *table = &tables->list[i];
        if (table->policy->is_public)
            continue;
        first = first ? first : table;
        BRUME_TRY(check_window(tables, table, first, error));
        any = any || table->policy->window.place;
        dated = dated || table->policy->window.place == BRUME_WINDOW_BY_COLUMN;
    }
    return any && !dated
               ? brume_fail(error, BRUME_EARGUMENT, "name a column of dates in one of them",
                            "no table of the dataset has a column that says in which window a row "
                            "is")
               : BRUME_OK;
}

brume_status brume_tables_check(const brume_tables *tables, brume_error *error)
{
    for (size_t i = 0; i < tables->count; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(tables->list[i].name, tables->list[j].name) == 0)
                return brume_fail(error, BRUME_EARGUMENT, NULL, "the table '%s' stands twice",
                                  tables->list[i].name);
        if (tables->list[i].policy->link_column)
            BRUME_TRY(check_link(tables, &tables->list[i], error));
    }
    for (size_t i = 0; i < tables->count; i++)
        BRUME_TRY(check_circle(tables, i, error));
    BRUME_TRY(check_windows(tables, error));
    return check_units(tables, error);
}

bool brume_tables_same_units(const brume_tables *before, const brume_tables *after)
{
    if (before->count != after->count)
        return false;
    for (size_t i = 0; i < after->count; i++) {
        size_t at = brume_tables_find(before, after->list[i].name);
        if (at == SIZE_MAX ||
            before->list[at].policy->is_public != after->list[i].policy->is_public)
            return false;
        /* the parent's column is checked at the child: its type and place may move rows too */
        if (!brume_policy_same_units(before->list[at].policy, after->list[i].policy))
            return false;
        const brume_policy *policy = after->list[i].policy;
        if (!policy->link_column)
            continue;
        size_t old = brume_tables_find(before, policy->parent);
        size_t new = brume_tables_find(after, policy->parent);
        if (old == SIZE_MAX || new == SIZE_MAX)
            return false;
        const brume_policy *parents[] = {before->list[old].policy, after->list[new].policy};
        const brume_policy_column *columns[] = {
            brume_policy_find(parents[0], policy->parent_column),
            brume_policy_find(parents[1], policy->parent_column)};
        if (!columns[0] || !columns[1] || !brume_type_equal(columns[0]->type, columns[1]->type) ||
            columns[0]->leaf != columns[1]->leaf ||
            columns[0] - parents[0]->columns != columns[1] - parents[1]->columns)
            return false;
    }
    return true;
}

/* ---- JSON ---- */

json_t *brume_tables_to_json(const brume_tables *tables)
{
    if (!tables->is_listed)
        return brume_policy_to_json(tables->list[0].policy);
    json_t *list = json_array();
    for (size_t i = 0; list && i < tables->count; i++) {
        json_t *each = brume_policy_to_json(tables->list[i].policy);
        if (!each || json_object_set_new(each, "name", json_string(tables->list[i].name)) != 0 ||
            json_array_append(list, each) != 0) {
            json_decref(each);
            json_decref(list);
            return NULL;
        }
        json_decref(each);
    }
    return list ? json_pack("{s:o}", "tables", list) : NULL;
}

brume_status brume_tables_from_json(const json_t *json, const char *dataset, brume_tables **out,
                                    brume_error *error)
{
    const json_t *list = json_object_get(json, "tables");
    size_t count = list ? json_array_size(list) : 1;
    if (count == 0 || count > BRUME_MOST_TABLES)
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "a recorded policy cannot be read");
    brume_tables *tables = brume_tables_open(count);
    if (!tables)
        return brume_no_memory(error, "a policy");
    brume_status status = BRUME_OK;
    tables->is_listed = list != NULL;
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        const json_t *each = list ? json_array_get(list, i) : json;
        const char *name = list ? json_string_value(json_object_get(each, "name")) : dataset;
        status = brume_policy_from_json(each, &tables->list[i].policy, error);
        if (status == BRUME_OK && !(tables->list[i].name = strdup(name ? name : "")))
            status = brume_no_memory(error, "a policy");
    }
    if (status == BRUME_OK && brume_tables_check(tables, NULL) != BRUME_OK)
        status = brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                            "a recorded policy cannot be read");
    if (status != BRUME_OK) {
        brume_tables_close(tables);
        return status;
    }
    *out = tables;
    return BRUME_OK;
}
