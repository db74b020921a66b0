/* Conditions that no row can satisfy if the data is as the owner declared it. */
#include "query/plan/domain_warnings.h"

#include <string.h>

#include "base/text.h"
#include "query/plan/key_domain.h"

typedef struct search {
    const brume_plan_table *tables;
    json_t *list;
    bool failed;
} search;

/* The column with a declared domain that an expression plainly is, or NULL. */
static const brume_policy_column *declared(const search *in, const brume_expression *node)
{
    if (node->operation != BRUME_OPERATION_COLUMN || node->relation->kind != BRUME_RELATION_TABLE)
        return NULL;
    size_t column = node->relation->columns[node->column].table_column;
    const brume_policy_column *found = &in->tables[node->relation->table].policy->columns[column];
    return found->domain_count ? found : NULL;
}

static void compare(search *in, const brume_expression *node, const brume_expression *literal)
{
    const brume_policy_column *column = declared(in, node);
    if (!column || literal->operation != BRUME_OPERATION_LITERAL || !literal->text)
        return;
    for (size_t i = 0; i < column->domain_count; i++)
        if (strcmp(column->domain[i], literal->text) == 0)
            return;
    const char *near = brume_text_nearest(literal->text, (const char *const *)column->domain,
                                          column->domain_count);
    json_t *text = json_sprintf(
        "'%.*s' is not in the declared domain of '%.*s'%s%.*s%s",
        (int)brume_utf8_cut(literal->text, 60), literal->text,
        (int)brume_utf8_cut(column->name, 60), column->name, near ? "; did you mean '" : "",
        near ? (int)brume_utf8_cut(near, 60) : 0, near ? near : "", near ? "'?" : "");
    in->failed = in->failed || json_array_append_new(in->list, text) != 0;
}

static void look_at(search *in, const brume_expression *condition)
{
    const brume_expression *const *of = condition->arguments;
    if (condition->operation == BRUME_OPERATION_EQUAL) {
        compare(in, of[0], of[1]);
        compare(in, of[1], of[0]);
    } else if (condition->operation == BRUME_OPERATION_IN) {
        for (size_t i = 1; i < condition->argument_count; i++)
            compare(in, of[0], of[i]);
    } else if (condition->operation == BRUME_OPERATION_OR) {
        for (size_t i = 0; i < condition->argument_count; i++)
            look_at(in, of[i]);
    }
}

static bool visit(void *context, const brume_expression *condition)
{
    look_at(context, condition);
    return true;
}

/* FILTER and CASE: their conditions are inside of what is aggregated. */
static void look_inside(search *in, const brume_expression *node)
{
    look_at(in, node);
    for (size_t i = 0; i < node->argument_count && node->operation != BRUME_OPERATION_OR; i++)
        look_inside(in, node->arguments[i]);
}

json_t *brume_domain_warnings(const brume_query *query, const brume_plan_table *tables)
{
    search in = {.tables = tables, .list = json_array()};
    if (in.list)
        brume_query_conditions(query, visit, &in);
    for (size_t i = 0; in.list && i < query->aggregate_count; i++) {
        if (query->aggregates[i].argument)
            look_inside(&in, query->aggregates[i].argument);
        if (query->aggregates[i].other)
            look_inside(&in, query->aggregates[i].other);
    }
    if (in.list && !in.failed)
        return in.list;
    json_decref(in.list);
    return NULL;
}
