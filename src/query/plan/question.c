/* A question: SQL against the datasets of a ledger, parsed and checked, before any price. */
#include "query/plan/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ledger/digest.h"
#include "query/plan/public_bounds.h"
#include "query/plan/tables.h"
#include "query/sql/parse.h"

/* A dataset that the query names, and its tables. */
typedef struct brume_loaded {
    brume_dataset *dataset;
    brume_tables *tables;
    size_t used[BRUME_MOST_TABLES]; /* 1 + place in the catalog of each table that is read */
} brume_loaded;

void brume_question_close(brume_question *question)
{
    if (!question)
        return;
    brume_query_free(question->query);
    brume_public_query_close(question->open_query);
    free(question->typed);
    brume_touched_close(question->touched);
    for (size_t i = 0; i < question->read_count; i++)
        free(question->read_bounds[i]);
    free(question->read_bounds);
    for (size_t i = 0; question->catalog_columns && i < question->table_count; i++)
        free(question->catalog_columns[i]);
    for (size_t i = 0; i < question->loaded_count; i++) {
        brume_dataset_close(question->loaded[i].dataset);
        brume_tables_close(question->loaded[i].tables);
    }
    free(question->loaded);
    free(question->catalog_columns);
    free(question->catalog_tables);
    free(question->policies);
    free(question->datasets);
    free(question->tables);
    free(question);
}

/* ---- the catalog ---- */

static size_t column_at(const brume_policy *policy, const char *name)
{
    return (size_t)(brume_policy_find(policy, name) - policy->columns);
}

/* Where the link of a table leads in the catalog. */
static brume_catalog_link link_of(const brume_loaded *from, const brume_policy *policy)
{
    size_t parent = brume_tables_find(from->tables, policy->parent);
    return (brume_catalog_link){
        column_at(policy, policy->link_column), from->used[parent] - 1,
        column_at(from->tables->list[parent].policy, policy->parent_column)};
}

static brume_status catalog_table(brume_question *question, const brume_loaded *from, size_t which,
                                  brume_error *error)
{
    const brume_policy *policy = from->tables->list[which].policy;
    size_t index = from->used[which] - 1;
    brume_catalog_column *columns = calloc(policy->column_count + 1, sizeof *columns);
    question->catalog_columns[index] = columns;
    if (!columns)
        return brume_no_memory(error, "a question");
    brume_catalog_table *table = &question->catalog_tables[index];
    *table = (brume_catalog_table){.name = from->tables->list[which].name,
                                   .privacy = policy->is_public     ? BRUME_PRIVACY_PUBLIC
                                              : policy->unit        ? BRUME_PRIVACY_UNIT
                                              : policy->link_column ? BRUME_PRIVACY_LINK
                                                                    : BRUME_PRIVACY_ROW,
                                   .columns = columns,
                                   .column_count = policy->column_count,
                                   .dataset = from->tables->is_listed ? from->dataset->name : NULL};
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *column = &policy->columns[i];
        columns[i] = (brume_catalog_column){.name = column->name,
                                            .type = column->type,
                                            .leaf = column->leaf,
                                            .native = column->native,
                                            .not_null = column->not_null,
                                            .low = column->low,
                                            .high = column->high,
                                            .is_identifier = column->is_identifier};
    }
    if (policy->unit)
        table->unit = column_at(policy, policy->unit);
    if (policy->link_column)
        table->link = link_of(from, policy);
    question->datasets[index] = from->dataset;
    question->policies[index] = from->tables->list[which].policy;
    question->tables[index] = (brume_plan_table){from->dataset, policy};
    return BRUME_OK;
}

/* The catalog of the tables that are marked as used. */
static brume_status make_catalog(brume_question *question, size_t count, brume_error *error)
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
    for (size_t i = 0; i < question->loaded_count; i++)
        for (size_t j = 0; j < question->loaded[i].tables->count; j++)
            if (question->loaded[i].used[j])
                BRUME_TRY(catalog_table(question, &question->loaded[i], j, error));
    return BRUME_OK;
}

/* ---- which tables are read ---- */

/* The dataset, loaded once. */
static brume_status load_dataset(brume_question *question, brume_ledger *ledger, const char *name,
                                 brume_loaded **out, brume_error *error)
{
    for (size_t i = 0; i < question->loaded_count; i++)
        if (strcmp(question->loaded[i].dataset->name, name) == 0) {
            *out = &question->loaded[i];
            return BRUME_OK;
        }
    brume_loaded *grown =
        realloc(question->loaded, (question->loaded_count + 1) * sizeof *question->loaded);
    if (!grown)
        return brume_no_memory(error, "a question");
    question->loaded = grown;
    brume_loaded *new = &grown[question->loaded_count];
    memset(new, 0, sizeof *new);
    BRUME_TRY(brume_ledger_dataset(ledger, name, &new->dataset, error));
    question->loaded_count++;
    BRUME_TRY(
        brume_tables_from_json(new->dataset->policy, new->dataset->name, &new->tables, error));
    *out = new;
    return BRUME_OK;
}

/* Mark the table, and those that its links lead to. */
static void use_table(brume_loaded *from, size_t which, size_t *count)
{
    while (!from->used[which]) {
        from->used[which] = ++*count;
        const brume_policy *policy = from->tables->list[which].policy;
        if (policy->link_column)
            which = brume_tables_find(from->tables, policy->parent);
    }
}

/* The name of the one dataset that has a table called so; free with free(). */
static brume_status find_holder(brume_ledger *ledger, const char *table, char **out,
                                brume_error *error)
{
    json_t *names = NULL;
    BRUME_TRY(brume_ledger_holders(ledger, table, &names, error));
    brume_status status = BRUME_OK;
    if (json_array_size(names) > 1) {
        char hint[120];
        snprintf(hint, sizeof hint, "write %.40s.%.40s, for one",
                 json_string_value(json_array_get(names, 0)), table);
        status =
            brume_fail(error, BRUME_EARGUMENT, hint, "several datasets have a table '%s'", table);
    } else {
        const char *name = json_string_value(json_array_get(names, 0));
        *out = strdup(name ? name : table); /* nobody has it: loading it says so */
        if (!*out)
            status = brume_no_memory(error, "a question");
    }
    json_decref(names);
    return status;
}

/* The hint for a table that nobody has: the nearest one, of whatever dataset. */
static void suggest_table(brume_ledger *ledger, const char *name, brume_error *error)
{
    json_t *tables = NULL;
    if (brume_ledger_tables(ledger, &tables, NULL) != BRUME_OK)
        return;
    size_t count = json_array_size(tables);
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = json_string_value(json_array_get(tables, i));
    const char *near = names ? brume_text_nearest(name, names, count) : NULL;
    if (near && error) {
        snprintf(error->hint, sizeof error->hint, "did you mean '%.100s'?", near);
        brume_utf8_mend(error->hint);
    }
    free(names);
    json_decref(tables);
}

static brume_status load_named(brume_question *question, brume_ledger *ledger,
                               const brume_sql_name *name, size_t *count, brume_error *error)
{
    char *holder = NULL;
    brume_loaded *from = NULL;
    if (!name->dataset)
        BRUME_TRY(find_holder(ledger, name->table, &holder, error));
    brume_status status =
        load_dataset(question, ledger, holder ? holder : name->dataset, &from, error);
    free(holder);
    if (status == BRUME_EUNKNOWN && !name->dataset)
        suggest_table(ledger, name->table, error);
    if (status != BRUME_OK)
        return status;
    size_t which = brume_tables_find(from->tables, name->table);
    if (which == SIZE_MAX) {
        char hint[120];
        const char *names[BRUME_MOST_TABLES];
        for (size_t i = 0; i < from->tables->count; i++)
            names[i] = from->tables->list[i].name;
        const char *near = brume_text_nearest(name->table, names, from->tables->count);
        snprintf(hint, sizeof hint, "did you mean '%.60s'?", near ? near : names[0]);
        return brume_fail(error, BRUME_EUNKNOWN, hint, "the dataset '%s' has no table '%s'",
                          from->dataset->name, name->table);
    }
    use_table(from, which, count);
    return BRUME_OK;
}

static brume_status load(brume_question *question, brume_ledger *ledger,
                         const brume_sql_name *names, size_t name_count, brume_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < name_count; i++)
        BRUME_TRY(load_named(question, ledger, &names[i], &count, error));
    return make_catalog(question, count, error);
}

/* The one dataset of a policy that no ledger has. */
static brume_status load_alone(brume_question *question, brume_policy *policy, const char *name,
                               brume_error *error)
{
    brume_tables *tables = brume_tables_open(1);
    brume_loaded *loaded = calloc(1, sizeof *loaded);
    if (!tables || !loaded) {
        brume_policy_close(policy);
        brume_tables_close(tables);
        free(loaded);
        return brume_no_memory(error, "a question");
    }
    tables->list[0].policy = policy;
    loaded->tables = tables;
    loaded->dataset = calloc(1, sizeof *loaded->dataset);
    loaded->used[0] = 1;
    question->loaded = loaded;
    question->loaded_count = 1;
    tables->list[0].name = strdup(name);
    if (!loaded->dataset || !(loaded->dataset->name = strdup(name)) || !tables->list[0].name)
        return brume_no_memory(error, "a question");
    return make_catalog(question, 1, error);
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

static bool all_are_public(const brume_question *question)
{
    for (size_t i = 0; i < question->table_count; i++)
        if (question->catalog_tables[i].privacy != BRUME_PRIVACY_PUBLIC)
            return false;
    return question->table_count > 0;
}

/* Where bounds are missing those of public columns are read, and it is checked again. What reading
 * fails with is no reason to refuse: the first one is. */
static brume_status check_with_bounds(brume_ledger *ledger, const brume_sql *sql,
                                      brume_question *question, brume_error *error)
{
    bool found = false;
    brume_error ignored;
    brume_status status = brume_sql_check(sql, &question->catalog, &question->query, error);
    if (status != BRUME_EARGUMENT)
        return status;
    brume_bounds_reading all = {.sql = question->typed,
                                .table_count = question->table_count,
                                .datasets = question->datasets,
                                .policies = question->policies,
                                .tables = question->catalog_tables,
                                .columns = question->catalog_columns};
    brume_status read = brume_read_public_bounds(ledger, &all, &found, &ignored);
    question->read_bounds = all.texts;
    question->read_count = all.text_count;
    if (read != BRUME_OK || !found)
        return status;
    return brume_sql_check(sql, &question->catalog, &question->query, error);
}

static brume_status load_tables(brume_ledger *ledger, const brume_sql *sql,
                                brume_question *question, brume_error *error)
{
    brume_sql_name *names = NULL;
    size_t count = 0;
    BRUME_TRY(brume_sql_names(sql, &names, &count, error));
    brume_status status = load(question, ledger, names, count, error);
    brume_sql_names_free(names, count);
    return status;
}

/* Does a dataset or a table of one have the name? Also where nobody can tell: it is no answer then.
 */
static bool is_taken(brume_ledger *ledger, const char *name)
{
    brume_dataset *dataset = NULL;
    json_t *holders = NULL;
    brume_error ignored;
    brume_status status = brume_ledger_dataset(ledger, name, &dataset, &ignored);
    brume_dataset_close(dataset);
    if (status == BRUME_EUNKNOWN)
        status = brume_ledger_holders(ledger, name, &holders, &ignored);
    bool taken = dataset || status != BRUME_OK || json_array_size(holders) > 0;
    json_decref(holders);
    return taken;
}

uint64_t brume_answer_number(brume_ledger *ledger, const brume_sql_name *name)
{
    static const char prefix[] = "answer_";
    const char *digits = name->table + sizeof prefix - 1;
    if (name->dataset || strncmp(name->table, prefix, sizeof prefix - 1) != 0 || *digits < '1' ||
        *digits > '9' || strlen(digits) > 15 || strspn(digits, "0123456789") != strlen(digits) ||
        is_taken(ledger, name->table))
        return 0;
    return strtoull(digits, NULL, 10);
}

brume_status brume_question_tables(brume_ledger *ledger, const brume_sql *sql, brume_question **out,
                                   brume_error *error)
{
    brume_sql_name *names = NULL;
    size_t count = 0, kept = 0;
    BRUME_TRY(brume_sql_names(sql, &names, &count, error));
    for (size_t i = 0; i < count; i++)
        if (brume_answer_number(ledger, &names[i]) == 0) {
            brume_sql_name one = names[kept];
            names[kept++] = names[i];
            names[i] = one;
        }
    brume_question *question = calloc(1, sizeof *question);
    brume_status status = question ? load(question, ledger, names, kept, error)
                                   : brume_no_memory(error, "a question");
    brume_sql_names_free(names, count);
    if (status != BRUME_OK) {
        brume_question_close(question);
        return status;
    }
    *out = question;
    return BRUME_OK;
}

static brume_status open_question(brume_ledger *ledger, const brume_sql *sql, bool any,
                                  brume_question *question, brume_error *error)
{
    BRUME_TRY(load_tables(ledger, sql, question, error));
    if (any && all_are_public(question))
        return brume_sql_public(sql, &question->catalog, &question->open_query, error);
    return check_with_bounds(ledger, sql, question, error);
}

static brume_status open_text(brume_ledger *ledger, const char *text, bool any,
                              brume_question **out, brume_error *error)
{
    brume_sql *sql = NULL;
    BRUME_TRY(brume_sql_parse(text, &sql, error));
    brume_question *question = calloc(1, sizeof *question);
    brume_status status = question && (question->typed = strdup(text))
                              ? open_question(ledger, sql, any, question, error)
                              : brume_no_memory(error, "a question");
    brume_sql_close(sql);
    if (status != BRUME_OK) {
        brume_question_close(question);
        return status;
    }
    *out = question;
    return BRUME_OK;
}

brume_status brume_question_open(brume_ledger *ledger, const char *text, brume_question **out,
                                 brume_error *error)
{
    return open_text(ledger, text, false, out, error);
}

brume_status brume_question_open_any(brume_ledger *ledger, const char *text, brume_question **out,
                                     brume_error *error)
{
    return open_text(ledger, text, true, out, error);
}

/* The policy as it counts for a re-read: what a unit is called, and from which age a re-read warns,
 * say nothing of an answer. NULL if
 * memory is out; free with free(). */
static char *policy_for_key(const json_t *policy)
{
    json_t *copy = json_deep_copy(policy);
    const json_t *tables = json_object_get(copy, "tables");
    for (size_t i = 0; i <= json_array_size(tables); i++) {
        json_t *each = i ? json_array_get(tables, i - 1) : copy;
        json_object_del(each, "unit_name");
        json_object_del(each, "max_age");
    }
    char *text = copy ? json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(copy);
    return text;
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
    if (question->touched && question->touched->windows) {
        /* as typed: a range that ends now is the same question tomorrow, and is read for free */
        const char *windows[] = {key, "windows", question->touched->windows};
        BRUME_TRY(brume_digest(windows, 3, key, error));
    }
    for (size_t i = 0; i < plan->limit_count; i++) { /* typed limits; others follow from the rest */
        snprintf(shape, sizeof shape, "%zu limit %llu", i,
                 plan->limits[i].source == BRUME_LIMIT_TYPED
                     ? (unsigned long long)plan->limits[i].limit
                     : 0);
        const char *limit[] = {key, shape};
        BRUME_TRY(brume_digest(limit, 2, key, error));
    }
    for (size_t i = 0; i < plan->measurement_count; i++) { /* those of counts of values */
        const brume_measurement *one = &plan->measurements[i];
        if (one->kind != BRUME_MEASUREMENT_DISTINCT ||
            one->distinct.limit.source != BRUME_LIMIT_TYPED)
            continue;
        snprintf(shape, sizeof shape, "%zu values %llu", i,
                 (unsigned long long)one->distinct.limit.limit);
        const char *limit[] = {key, shape};
        BRUME_TRY(brume_digest(limit, 2, key, error));
    }
    for (size_t i = 0; i < question->table_count; i++) {
        const brume_dataset *dataset = question->datasets[i];
        char *policy = policy_for_key(dataset->policy);
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

/* ---- words ---- */

/* The protected tables whose rows are those of a relation; *last is one of them. */
static size_t count_tables(const brume_relation *from, const brume_question *question, size_t *last)
{
    if (from->kind == BRUME_RELATION_TABLE) {
        bool protected = !question->policies[from->table]->is_public;
        *last = protected ? from->table : *last;
        return protected;
    }
    return (from->left ? count_tables(from->left, question, last) : 0) +
           (from->right ? count_tables(from->right, question, last) : 0);
}

brume_words brume_question_words(const brume_question *question)
{
    brume_words words = brume_words_plain();
    size_t table = 0;
    bool one = count_tables(question->query->from, question, &table) == 1;
    brume_words_set_units(&words, question->policies, question->table_count);
    brume_words_set_rows(&words, one ? question->catalog_tables[table].name : NULL);
    return words;
}
