/* Choices of limits in the ledger: their keys, what is recorded, and how it is read again. */
#include "query/release/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "query/plan/plan_limit.h"

/* The key of a choice: everything that the histogram is a function of, all of it public. The rows,
 * groups and values are known by the statement that reads them. */
static brume_status key_of(const brume_question *question, const brume_plan *plan,
                           const brume_plan_limit *limit, char key[65], brume_error *error)
{
    brume_collection collection = plan->measurements[0].collection;
    bool has_value = limit->of.kind == BRUME_TOTAL_VALUES || limit->of.kind == BRUME_TOTAL_SUM;
    collection.values = has_value ? &plan->values[limit->of.value] : NULL;
    collection.value_count = has_value;
    char **names = calloc(question->table_count + 1, sizeof *names);
    char *statement = NULL, shape[96];
    brume_status status = names ? BRUME_OK : brume_no_memory(error, "the limits");
    for (size_t i = 0; status == BRUME_OK && i < question->table_count; i++) {
        /* a dataset may have several tables: the source tells them apart */
        const brume_policy *policy = question->policies[i];
        if (asprintf(&names[i], "%s %s %s", question->datasets[i]->name, policy->location,
                     policy->table ? policy->table : "") < 0) {
            names[i] = NULL;
            status = brume_no_memory(error, "the limits");
        }
    }
    if (status == BRUME_OK)
        status = brume_collect_statement(&collection, BRUME_DIALECT_DUCKDB,
                                         (const char *const *)names, &statement, error);
    for (size_t i = 0; names && i < question->table_count; i++)
        free(names[i]);
    free(names);
    if (status != BRUME_OK)
        return status;
    snprintf(shape, sizeof shape, "limit %d norm %d ceiling %llu cells %llu", (int)limit->of.kind,
             plan->norm, (unsigned long long)limit->ceiling, (unsigned long long)plan->shape.cells);
    const char *first[] = {"choice of a limit", statement, shape};
    status = brume_digest(first, 3, key, error);
    free(statement);
    for (size_t i = 0; status == BRUME_OK && i < question->table_count; i++) {
        const brume_dataset *dataset = question->datasets[i];
        char *policy = json_dumps(dataset->policy, JSON_COMPACT | JSON_SORT_KEYS);
        if (!policy)
            return brume_no_memory(error, "the limits");
        const char *parts[] = {key, dataset->name, dataset->data_version, dataset->source, policy};
        status = brume_digest(parts, 5, key, error);
        free(policy);
    }
    return status;
}

static json_t *to_json(const brume_plan_limit *limit)
{
    json_t *noisy = json_array();
    for (size_t i = 0; i < limit->bins; i++)
        json_array_append_new(noisy, json_real(limit->noisy[i]));
    return json_pack("{s:o,s:b,s:f,s:b}", "noisy", noisy, "gaussian", limit->gaussian, "scale",
                     limit->scale, "crowd", limit->crowd);
}

static bool from_json(const json_t *json, brume_plan_limit *limit)
{
    const json_t *noisy = json_object_get(json, "noisy");
    size_t bins = json_array_size(noisy);
    double scale = json_number_value(json_object_get(json, "scale"));
    if (bins < 1 || bins > BRUME_LIMIT_BINS || !(scale > 0))
        return false;
    for (size_t i = 0; i < bins; i++)
        limit->noisy[i] = json_number_value(json_array_get(noisy, i));
    limit->bins = bins;
    limit->scale = scale;
    limit->gaussian = json_is_true(json_object_get(json, "gaussian"));
    limit->crowd = json_is_true(json_object_get(json, "crowd"));
    return true;
}

brume_status brume_choice_record(brume_ledger *ledger, uint64_t reservation,
                                 const brume_question *question, const brume_plan *plan,
                                 brume_error *error)
{
    for (size_t i = 0; i < plan->limit_count; i++) {
        char key[65];
        if (plan->limits[i].source != BRUME_LIMIT_AUTO)
            continue;
        BRUME_TRY(key_of(question, plan, &plan->limits[i], key, error));
        json_t *json = to_json(&plan->limits[i]);
        brume_status status = json ? brume_ledger_note(ledger, reservation, key, json, error)
                                   : brume_no_memory(error, "the limits");
        json_decref(json);
        if (status != BRUME_OK)
            return status;
    }
    return BRUME_OK;
}

static brume_status recall_one(brume_ledger *ledger, const brume_question *question,
                               const brume_plan *plan, const brume_plan_limit *limit,
                               json_t **found, brume_error *error)
{
    char key[65];
    *found = NULL;
    if (limit->source != BRUME_LIMIT_AUTO)
        return BRUME_OK;
    BRUME_TRY(key_of(question, plan, limit, key, error));
    return brume_ledger_recall(ledger, key, found, error);
}

brume_status brume_choice_recall(brume_ledger *ledger, const brume_question *question,
                                 brume_plan *plan, brume_error *error)
{
    bool any = false;
    for (size_t i = 0; i < plan->limit_count; i++) {
        json_t *found = NULL;
        brume_plan_limit *limit = &plan->limits[i];
        BRUME_TRY(recall_one(ledger, question, plan, limit, &found, error));
        bool good = !found || from_json(found, limit);
        any = any || found;
        if (found)
            limit->source = BRUME_LIMIT_LEDGER;
        json_decref(found);
        if (!good)
            return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                              "a recorded choice of a limit cannot be read");
    }
    if (!any)
        return BRUME_OK;
    BRUME_TRY(brume_plan_price_limited(plan, error));
    for (size_t i = 0; i < plan->limit_count; i++)
        if (plan->limits[i].source == BRUME_LIMIT_LEDGER)
            brume_plan_choose_limit(plan, &plan->limits[i],
                                    plan->shape.cells ? (double)plan->shape.cells : 1);
    brume_plan_apply_limits(plan);
    return BRUME_OK;
}

brume_status brume_choice_check_new(brume_ledger *ledger, const brume_question *question,
                                    const brume_plan *plan, brume_error *error)
{
    for (size_t i = 0; i < plan->limit_count; i++) {
        json_t *found = NULL;
        BRUME_TRY(recall_one(ledger, question, plan, &plan->limits[i], &found, error));
        bool new = plan->limits[i].source == BRUME_LIMIT_AUTO && !found;
        json_decref(found);
        if (new)
            return BRUME_OK;
    }
    return brume_fail(error, BRUME_EARGUMENT,
                      "ask with 'brume query': it costs nothing to use them",
                      "the limits of this query are in the ledger already");
}
