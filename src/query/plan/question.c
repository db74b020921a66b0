/* A question: SQL against the datasets of a ledger, parsed and checked, before any price. */
#include "query/plan/question.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "query/sql/parse.h"

void brume_question_close(brume_question *question)
{
    if (!question)
        return;
    brume_query_free(question->query);
    free(question->typed);
    for (size_t i = 0; i < question->table_count; i++) {
        if (question->catalog_columns)
            free(question->catalog_columns[i]);
        if (question->policies)
            brume_policy_close(question->policies[i]);
        if (question->datasets)
            brume_dataset_close(question->datasets[i]);
    }
    free(question->catalog_columns);
    free(question->catalog_tables);
    free(question->policies);
    free(question->datasets);
    free(question->tables);
    free(question);
}

static brume_status catalog_table(brume_question *question, size_t index, brume_error *error)
{
    const brume_policy *policy = question->policies[index];
    brume_catalog_column *columns = calloc(policy->column_count + 1, sizeof *columns);
    question->catalog_columns[index] = columns;
    if (!columns)
        return brume_no_memory(error, "a question");
    brume_catalog_table *table = &question->catalog_tables[index];
    *table = (brume_catalog_table){.name = question->datasets[index]->name,
                                   .privacy = policy->is_public ? BRUME_PRIVACY_PUBLIC
                                              : policy->unit    ? BRUME_PRIVACY_UNIT
                                                                : BRUME_PRIVACY_ROW,
                                   .columns = columns,
                                   .column_count = policy->column_count};
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *from = &policy->columns[i];
        columns[i] = (brume_catalog_column){.name = from->name,
                                            .type = from->type,
                                            .leaf = from->leaf,
                                            .native = from->native,
                                            .not_null = from->not_null,
                                            .low = from->low,
                                            .high = from->high};
        if (policy->unit && strcmp(policy->unit, from->name) == 0)
            table->unit = i;
    }
    question->tables[index] = (brume_plan_table){question->datasets[index], policy};
    return BRUME_OK;
}

static brume_status make_room(brume_question *question, size_t count, brume_error *error)
{
    question->datasets = calloc(count + 1, sizeof *question->datasets);
    question->policies = calloc(count + 1, sizeof *question->policies);
    question->tables = calloc(count + 1, sizeof *question->tables);
    question->catalog_tables = calloc(count + 1, sizeof *question->catalog_tables);
    question->catalog_columns = calloc(count + 1, sizeof *question->catalog_columns);
    if (!question->datasets || !question->policies || !question->tables ||
        !question->catalog_tables || !question->catalog_columns)
        return brume_no_memory(error, "a question");
    question->table_count = count;
    question->catalog = (brume_catalog){question->catalog_tables, count};
    return BRUME_OK;
}

static brume_status load(brume_question *question, brume_ledger *ledger, char **names, size_t count,
                         brume_error *error)
{
    BRUME_TRY(make_room(question, count, error));
    for (size_t i = 0; i < count; i++) {
        BRUME_TRY(brume_ledger_dataset(ledger, names[i], &question->datasets[i], error));
        BRUME_TRY(
            brume_policy_from_json(question->datasets[i]->policy, &question->policies[i], error));
        BRUME_TRY(catalog_table(question, i, error));
    }
    return BRUME_OK;
}

/* The one dataset of a policy that no ledger has. */
static brume_status load_alone(brume_question *question, brume_policy *policy, const char *name,
                               brume_error *error)
{
    brume_status status = make_room(question, 1, error);
    if (status != BRUME_OK) {
        brume_policy_close(policy);
        return status;
    }
    question->policies[0] = policy;
    question->datasets[0] = calloc(1, sizeof *question->datasets[0]);
    if (!question->datasets[0] || !(question->datasets[0]->name = strdup(name)))
        return brume_no_memory(error, "a question");
    return catalog_table(question, 0, error);
}

brume_status brume_question_alone(brume_policy *policy, const char *name, const char *sql,
                                  brume_question **out, brume_error *error)
{
    brume_question *question = calloc(1, sizeof *question);
    if (!question) {
        brume_policy_close(policy);
        return brume_no_memory(error, "a question");
    }
    brume_status status = load_alone(question, policy, name, error);
    if (status == BRUME_OK)
        status = brume_query_parse(sql, &question->catalog, &question->query, error);
    if (status != BRUME_OK) {
        brume_question_close(question);
        return status;
    }
    *out = question;
    return BRUME_OK;
}

static brume_status open_question(brume_ledger *ledger, const brume_sql *sql,
                                  brume_question *question, brume_error *error)
{
    char **names = NULL;
    size_t count = 0;
    BRUME_TRY(brume_sql_names(sql, &names, &count, error));
    brume_status status = load(question, ledger, names, count, error);
    brume_sql_names_free(names, count);
    return status == BRUME_OK ? brume_sql_check(sql, &question->catalog, &question->query, error)
                              : status;
}

brume_status brume_question_open(brume_ledger *ledger, const char *text, brume_question **out,
                                 brume_error *error)
{
    brume_sql *sql = NULL;
    BRUME_TRY(brume_sql_parse(text, &sql, error));
    brume_question *question = calloc(1, sizeof *question);
    brume_status status = question && (question->typed = strdup(text))
                              ? open_question(ledger, sql, question, error)
                              : brume_no_memory(error, "a question");
    brume_sql_close(sql);
    if (status != BRUME_OK) {
        brume_question_close(question);
        return status;
    }
    *out = question;
    return BRUME_OK;
}

brume_status brume_question_key(const brume_question *question, const brume_plan *plan,
                                char key[65], brume_error *error)
{
    char price[BRUME_CHARGE_TEXT];
    BRUME_TRY(brume_charge_print(&plan->charge, price, error));
    char shape[64];
    snprintf(shape, sizeof shape, "%s%d", plan->limits_only ? "limits only " : "", plan->by_totals);
    const char *first[] = {question->query->normal, price, plan->delta, shape};
    BRUME_TRY(brume_digest(first, 4, key, error));
    for (size_t i = 0; i < plan->limit_count; i++) { /* typed limits; others follow from the rest */
        snprintf(shape, sizeof shape, "%zu limit %llu", i,
                 plan->limits[i].source == BRUME_LIMIT_TYPED
                     ? (unsigned long long)plan->limits[i].limit
                     : 0);
        const char *limit[] = {key, shape};
        BRUME_TRY(brume_digest(limit, 2, key, error));
    }
    for (size_t i = 0; i < question->table_count; i++) {
        const brume_dataset *dataset = question->datasets[i];
        char *policy = json_dumps(dataset->policy, JSON_COMPACT | JSON_SORT_KEYS);
        if (!policy)
            return brume_no_memory(error, "a question");
        const char *parts[] = {key, dataset->name, dataset->data_version, dataset->source, policy};
        brume_status status = brume_digest(parts, 5, key, error);
        free(policy);
        if (status != BRUME_OK)
            return status;
    }
    return BRUME_OK;
}
