/* Grouping sets that add up: which queries have them, and which of their rows count.
 *
 * Promise: what is decided here follows from the query, the policies and the payment. */
#include "query/plan/plan_sets.h"

#include <stdlib.h>

#include "base/error.h"
#include "query/expression/build.h"
#include "query/expression/expression.h"
#include "query/plan/plan_parts.h"
#include "synthetic/consistent.h"

enum { MOST_SETS = 64 };

static size_t values_of(const brume_plan *plan, size_t key)
{
    return plan->domain_size[key] - (brume_key_is_optional(plan->query, key) ? 1 : 0);
}

/* Why the sets are not fitted, by what is known before the noise is; NULL: nothing is against it.
 */
static const char *obstacle(const brume_plan *plan)
{
    const brume_query *query = plan->query;
    bool any = false;
    if (plan->shape.private_keys)
        return "not all values of the keys are declared";
    if (plan->tie_count > 0)
        return "only some combinations of the keys can occur";
    if (plan->bounded)
        return "the groups of a unit are cut by the owner's ceiling";
    if (plan->measurement_count > 1)
        return "distinct values and modes of undeclared values do not add up";
    for (size_t i = 0; i < plan->measure_count; i++)
        any = any || brume_plan_is_fitted(plan, i);
    if (!any)
        return "nothing that is asked for adds up";
    for (size_t k = 0; k + 1 < query->key_count; k++)
        if (brume_key_is_optional(query, k) && values_of(plan, k) > BRUME_LIMIT_LIST)
            return "a key has too many values";
    return NULL;
}

static brume_status open_tables(brume_plan *plan, brume_error *error)
{
    const brume_query *query = plan->query;
    size_t sizes[MOST_SETS], keys = query->key_count - 1; /* the last one is the set's number */
    uint64_t sets[MOST_SETS] = {0}, cells = 0;
    if (keys > MOST_SETS || query->set_count > MOST_SETS)
        return BRUME_EUNSUPPORTED;
    for (size_t k = 0; k < keys; k++)
        sizes[k] = values_of(plan, k);
    for (size_t s = 0; s < query->set_count; s++)
        for (size_t k = 0; k < keys; k++)
            sets[s] |= (query->keys[k].sets >> s & 1) << k;
    BRUME_TRY(
        brume_consistent_open(sizes, keys, sets, NULL, query->set_count, &plan->fitted, error));
    for (size_t s = 0; s < query->set_count; s++)
        cells += brume_consistent_cells(plan->fitted, s);
    return cells == plan->shape.cells ? BRUME_OK : BRUME_EUNSUPPORTED;
}

static void give_up(brume_plan *plan, const char *why)
{
    brume_consistent_close(plan->fitted);
    plan->fitted = NULL;
    plan->fitted_why = why;
}

/* The query of which rows count that are in a group of every set; NULL in *out: its condition would
 * be too large. */
static brume_status leave_out(const brume_plan *plan, brume_query **out, brume_error *error)
{
    brume_builder builder = {.arena = plan->query->arena};
    *out = brume_arena_copy(plan->query->arena, plan->query, sizeof *plan->query);
    if (!*out)
        return brume_no_memory(error, "a plan");
    (*out)->where = brume_plan_declared_rows(plan, &builder);
    if (builder.status == BRUME_EMEMORY)
        return brume_no_memory(error, "a plan");
    if (!(*out)->where || builder.status != BRUME_OK)
        *out = NULL;
    return BRUME_OK;
}

brume_status brume_plan_fit_sets(brume_plan *plan, brume_error *error)
{
    brume_query *declared = NULL;
    if (plan->query->set_count < 2)
        return BRUME_OK;
    plan->fitted_why = obstacle(plan);
    if (plan->fitted_why)
        return BRUME_OK;
    brume_status status = open_tables(plan, NULL);
    if (status == BRUME_EMEMORY)
        return brume_no_memory(error, "a plan");
    if (status != BRUME_OK) {
        give_up(plan, "there are too many groups");
        return BRUME_OK;
    }
    BRUME_TRY(leave_out(plan, &declared, error));
    if (declared)
        plan->measurements[0].collection.query = declared;
    else
        give_up(plan, "a key has too many values");
    return BRUME_OK;
}

bool brume_plan_is_fitted(const brume_plan *plan, size_t measure)
{
    if (plan->fitted_why || plan->query->set_count < 2)
        return false;
    switch (plan->measures[measure].kind) {
    case BRUME_MEASURE_UNITS: /* where each has one row */
        return !plan->by_totals;
    case BRUME_MEASURE_ROWS:
    case BRUME_MEASURE_VALUES:
    case BRUME_MEASURE_CENTRED:
    case BRUME_MEASURE_SQUARES:
    case BRUME_MEASURE_DIRECT:
        return true;
    default:
        return false;
    }
}

int brume_plan_set_of(const brume_plan *plan, const brume_key_value *keys)
{
    const brume_query *query = plan->query;
    if (query->set_count < 2 || keys[query->key_count - 1].null)
        return -1;
    int64_t set = keys[query->key_count - 1].integer;
    return set < 0 || (uint64_t)set >= query->set_count ? -1 : (int)set;
}
