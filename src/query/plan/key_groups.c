/* The keys of a plan: public, with every group of their values, or private; and one key more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/plan/key_cells.h"
#include "query/plan/plan_parts.h"
#include "query/print/statement.h"

enum { DOMAIN_CELLS = 1000000 };

/* A value as an engine sends it. Timestamps are midnights: microseconds since 1970. */
static brume_status read_value(brume_type type, const char *text, brume_key_value *value,
                               brume_error *error)
{
    char day[11];
    if (type.kind != BRUME_TYPE_TIMESTAMP)
        return brume_policy_domain_value(type, text, value, error);
    snprintf(day, sizeof day, "%.10s", text);
    type.kind = BRUME_TYPE_DATE;
    BRUME_TRY(brume_policy_domain_value(type, day, value, error));
    value->integer *= INT64_C(86400000000);
    return BRUME_OK;
}

/* The values of all keys, one after the other, as an engine sends them. */
static brume_status fill_domains(brume_plan *plan, const brume_key_domain *domains,
                                 brume_error *error)
{
    size_t at = 0;
    for (size_t i = 0; i < plan->query->key_count; i++) {
        brume_type type = plan->query->keys[i].expression->type;
        if (type.kind == BRUME_TYPE_DECIMAL) /* without decimals, which travels as an integer */
            type.kind = BRUME_TYPE_BIGINT;
        bool optional = brume_key_is_optional(plan->query, i);
        plan->domain_size[i] = domains[i].count + optional;
        for (size_t j = 0; j < domains[i].count; j++) {
            brume_key_value *value = &plan->domain[at++];
            if (domains[i].values[j])
                BRUME_TRY(read_value(type, domains[i].values[j], value, error));
            else
                *value = (brume_key_value){.null = true, .wire = brume_type_wire(type)};
        }
        if (optional) /* NULL in the sets without it, beside a NULL that may be one of its values */
            plan->domain[at++] = (brume_key_value){.null = true, .wire = brume_type_wire(type)};
    }
    return BRUME_OK;
}

static brume_status count_cell(void *context, const brume_key_value *cell, brume_error *error)
{
    uint64_t *count = context;
    (void)cell;
    if (++*count > DOMAIN_CELLS)
        return brume_fail(error, BRUME_EOVERFLOW, "group by fewer columns",
                          "the public keys have more than %d combinations, which is the most that "
                          "is answered",
                          DOMAIN_CELLS);
    return BRUME_OK;
}

/* How many groups there are: of all grouping sets together. */
static brume_status count_cells(brume_plan *plan, brume_error *error)
{
    brume_collection groups = {.query = plan->query,
                               .domain = plan->domain,
                               .domain_size = plan->domain_size,
                               .tie_count = plan->tie_count,
                               .ties = plan->ties};
    uint64_t count = 0;
    BRUME_TRY(brume_cells_visit(&groups, count_cell, &count, error));
    if (count == 0) /* conditions on public tables leave nothing */
        return brume_fail(error, BRUME_EARGUMENT, "",
                          "the conditions leave no combination of the keys' values");
    plan->shape.cells = count;
    return BRUME_OK;
}

/* A private key is shown only if many units have it: one that each unit has for itself never is. */
static brume_status check_shared(const brume_query *query, const brume_plan_table *tables,
                                 brume_error *error)
{
    static const char hint[] = "group by something that many have in common; nothing was spent";
    for (size_t i = 0; i < query->key_count; i++) {
        const brume_key *key = &query->keys[i];
        const brume_policy_column *column =
            key->is_column ? &tables[key->table].policy->columns[key->column] : NULL;
        if (key->tells_units)
            return brume_fail(error, BRUME_EUNSUPPORTED, hint,
                              "grouping by the unit can only give an empty answer: a group is "
                              "shown if many units are in it");
        if (column && column->is_identifier)
            return brume_fail(error, BRUME_EUNSUPPORTED, hint,
                              "grouping by '%s' can only give an empty answer: its owner says that "
                              "hardly two units share a value",
                              column->name);
    }
    return BRUME_OK;
}

brume_status brume_plan_keys(brume_plan *plan, const brume_plan_table *tables, brume_error *error)
{
    const brume_query *query = plan->query;
    size_t count = 0;
    brume_key_domain *domains = calloc(query->key_count + 1, sizeof *domains);
    brume_status status = domains ? BRUME_OK : brume_no_memory(error, "a plan");
    for (size_t i = 0; status == BRUME_OK && i < query->key_count; i++) {
        status = brume_key_domain_find(query, i, tables, &domains[i], error);
        plan->shape.private_keys = plan->shape.private_keys || !domains[i].is_known;
        count += domains[i].count + 1;
    }
    if (status == BRUME_OK && plan->shape.private_keys)
        status = check_shared(query, tables, error);
    if (status == BRUME_OK && !plan->shape.private_keys) {
        plan->domain = calloc(count + 1, sizeof *plan->domain);
        plan->domain_size = calloc(query->key_count + 1, sizeof *plan->domain_size);
        status = plan->domain && plan->domain_size ? fill_domains(plan, domains, error)
                                                   : brume_no_memory(error, "a plan");
        if (status == BRUME_OK)
            status = brume_plan_tie_keys(plan, domains, error);
        if (status == BRUME_OK)
            status = count_cells(plan, error);
    }
    free(domains);
    return status;
}

/* ---- groups parted by values ---- */

/* The rows that are answered and have a value. */
static brume_node answered_values(brume_builder *builder, const brume_plan *plan,
                                  const brume_expression *argument)
{
    brume_node rows = brume_plan_answered_rows(plan, builder);
    brume_node both[] = {rows, brume_build_test(builder, BRUME_OPERATION_IS_NOT_NULL, argument)};
    if (builder->status != BRUME_OK || !rows)
        return both[1];
    return brume_build_logic(builder, BRUME_OPERATION_AND, both, 2);
}

brume_status brume_plan_pairs(const brume_plan *plan, const brume_expression *argument,
                              const char *what, brume_query **out, brume_error *error)
{
    const brume_query *query = plan->query;
    brume_builder builder = {.arena = query->arena, .error = error};
    brume_key *keys = brume_arena_allocate(query->arena, (query->key_count + 1) * sizeof *keys);
    brume_query *pairs = brume_arena_copy(query->arena, query, sizeof *query);
    if (!keys || !pairs)
        return brume_no_memory(error, what);
    if (query->key_count)
        memcpy(keys, query->keys, query->key_count * sizeof *keys);
    keys[query->key_count] = (brume_key){.expression = argument};
    pairs->keys = keys;
    pairs->key_count = query->key_count + 1;
    pairs->aggregate_count = 0;
    pairs->set_count = 1;
    pairs->where = answered_values(&builder, plan, argument);
    if (!pairs->where || builder.status != BRUME_OK)
        return builder.status;
    *out = pairs;
    return BRUME_OK;
}
