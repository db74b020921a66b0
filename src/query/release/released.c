/* SQL over released tables: inner queries are asked, each as a query by itself, and the SQL around
 * them runs on their answers (proofs/released.md).
 *
 * 1. A statement that is a query by itself is asked as one, as is everything that is not of this
 *    form: then whoever asks it says what is wrong.
 * 2. The price typed is split equally over the inner queries; the parts add up to it.
 * 3. All inner queries are explained, and the outer SQL is run on dummy rows of the right types and
 *    on the public tables, before the first is charged. What is left of the budgets must carry all.
 *    A table that is called answer_N is the recorded answer of charge N: it costs nothing, and
 *    nothing is asked for it (brume_recall).
 * 4. The outer SQL reads recorded answers and public tables. If it fails on them, they stay paid
 * and recorded: free with other SQL around them. */
#include "query/release/ask.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "engine/memory.h"
#include "query/release/explain.h"
#include "query/release/outer.h"
#include "query/release/spend.h"
#include "query/release/stages.h"
#include "query/sql/released.h"
#include "query/sql/tree.h"
#include "query/sql/parse.h"

enum { MOST_RECALLED = 16 };

typedef struct recalled {
    char name[32];
    brume_query_answer *answer; /* NULL: it is among the sources now */
} recalled;

typedef struct layers {
    brume_ledger *ledger;
    const char *sql;
    const brume_public_asker *elsewhere;
    brume_sql *tree;       /* answers in the places of inner queries */
    brume_question *named; /* the tables that it names */
    brume_inner_queries inner;
    brume_payment first, last; /* of each inner query, and of the last */
    char texts[6][BRUME_DECIMAL_TEXT];
    json_t *explained; /* of each inner query */
    recalled recalled[MOST_RECALLED];
    size_t recalled_count;
    /* The catalog of the outer SQL: answers of inner queries, recorded answers, public tables. */
    brume_catalog catalog;
    brume_catalog_table *tables;
    brume_outer_table *sources;
    bool **is_key;
    size_t count;
    brume_public_query *query;
    bool *keys;
    char *statement;
} layers;

/* So many of its tables are answers. */
static size_t answers_of(const layers *all)
{
    return all->inner.count + all->recalled_count;
}

static void close_layers(layers *all)
{
    for (size_t i = 0; i < all->recalled_count; i++)
        brume_query_answer_close(all->recalled[i].answer);
    for (size_t i = 0; all->tables && i < all->count; i++) {
        for (size_t j = 0; i < answers_of(all) && j < all->tables[i].column_count; j++)
            free((char *)all->tables[i].columns[j].name);
        free((void *)all->tables[i].columns);
        if (i < answers_of(all))
            free((char *)all->tables[i].name);
        free(all->is_key[i]);
        free(all->sources[i].types);
        brume_query_answer_close(all->sources[i].answer);
    }
    free(all->tables);
    free(all->is_key);
    free(all->sources);
    free(all->keys);
    free(all->statement);
    brume_public_query_close(all->query);
    brume_released_clear(&all->inner);
    brume_question_close(all->named);
    brume_sql_close(all->tree);
    json_decref(all->explained);
}

/* ---- which parts are queries ---- */

/* Groups that are persons are nobody's answer: the key of each is one unit. */
static bool groups_by_unit(const brume_question *question)
{
    const brume_query *query = question->query;
    for (size_t i = 0; query && i < query->key_count; i++)
        if (query->keys[i].tells_units || query->keys[i].names_unit)
            return true;
    return false;
}

static bool is_query(void *context, const char *sql, brume_error *why)
{
    layers *all = context;
    brume_question *question = NULL;
    if (brume_stages_open(all->ledger, sql, all->elsewhere, &question, why) != BRUME_OK)
        return false;
    bool good = question->query && !groups_by_unit(question);
    brume_question_close(question);
    return good;
}

/* ---- the price ---- */

static brume_status split_payment(layers *all, const brume_payment *payment, brume_error *error)
{
    const char *const typed[] = {payment->epsilon, payment->delta, payment->rho};
    const char **const first[] = {&all->first.epsilon, &all->first.delta, &all->first.rho};
    const char **const last[] = {&all->last.epsilon, &all->last.delta, &all->last.rho};
    all->first = all->last = *payment;
    if (payment->limits_only)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask with 'brume query'",
                          "limits alone cannot be bought for SQL over released tables");
    if (all->inner.count > 1 && payment->limit_count > 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask each inner query by itself first",
                          "a limit cannot be typed for a statement of several inner queries");
    for (int i = 0; i < 3 && all->inner.count > 1; i++)
        if (typed[i]) {
            BRUME_TRY(brume_spend_split(typed[i], all->inner.count, all->texts[2 * i],
                                        all->texts[2 * i + 1], error));
            *first[i] = all->texts[2 * i];
            *last[i] = all->texts[2 * i + 1];
        }
    return BRUME_OK;
}

static const brume_payment *payment_of(const layers *all, size_t index)
{
    return index + 1 == all->inner.count ? &all->last : &all->first;
}

/* ---- tables of the outer SQL ---- */

static brume_status make_room(layers *all, size_t count, brume_error *error)
{
    all->tables = calloc(count + 1, sizeof *all->tables);
    all->sources = calloc(count + 1, sizeof *all->sources);
    all->is_key = calloc(count + 1, sizeof *all->is_key);
    return all->tables && all->sources && all->is_key ? BRUME_OK
                                                      : brume_no_memory(error, "a question");
}

/* Room for the columns of the next table, in which nothing is said yet. */
static brume_status open_table(layers *all, size_t columns, brume_catalog_column **out,
                               brume_error *error)
{
    size_t i = all->count;
    *out = calloc(columns + 1, sizeof **out);
    all->tables[i].columns = *out;
    all->tables[i].privacy = BRUME_PRIVACY_PUBLIC;
    all->is_key[i] = calloc(columns + 1, sizeof **all->is_key);
    all->sources[i].types = calloc(columns + 1, sizeof *all->sources[i].types);
    all->count++;
    return *out && all->is_key[i] && all->sources[i].types ? BRUME_OK
                                                           : brume_no_memory(error, "a question");
}

/* The columns of an inner query, as explaining it says. */
static brume_status add_answer(layers *all, size_t index, brume_error *error)
{
    const json_t *columns = json_object_get(json_array_get(all->explained, index), "columns");
    size_t count = json_array_size(columns);
    char name[BRUME_RELEASED_NAME];
    brume_catalog_column *made = NULL;
    brume_released_name(index, name);
    BRUME_TRY(open_table(all, count, &made, error));
    if (!(all->tables[index].name = strdup(name)))
        return brume_no_memory(error, "a question");
    for (size_t i = 0; i < count; i++) {
        const json_t *column = json_array_get(columns, i);
        const char *type = json_string_value(json_object_get(column, "type"));
        const char *role = json_string_value(json_object_get(column, "role"));
        made[i].name = strdup(json_string_value(json_object_get(column, "name")));
        if (!made[i].name)
            return brume_no_memory(error, "a question");
        all->tables[index].column_count = i + 1;
        if (!type || !brume_type_parse(type, &made[i].type))
            made[i].type = (brume_type){BRUME_TYPE_TEXT, 0, 0};
        all->sources[index].types[i] = made[i].type;
        all->is_key[index][i] = role && strcmp(role, "key") == 0;
    }
    return BRUME_OK;
}

/* All texts of the column are of this length, with digits at their start. */
static bool are_times(const brume_query_answer *answer, size_t column, size_t length)
{
    brume_type type = {length == 10 ? BRUME_TYPE_DATE : BRUME_TYPE_TIMESTAMP, 0, 0};
    bool any = false;
    for (size_t i = 0; i < answer->row_count; i++) {
        const brume_value *value = &answer->values[i * answer->column_count + column];
        if (value->kind == BRUME_VALUE_NULL)
            continue;
        if (value->kind != BRUME_VALUE_TEXT || value->length != length ||
            strspn(value->text, "0123456789-: ") != length || value->text[4] != '-' ||
            value->text[7] != '-' || (type.kind == BRUME_TYPE_TIMESTAMP && value->text[10] != ' '))
            return false;
        any = true;
    }
    return any;
}

/* The type of a column of a recorded answer, which has values alone. */
static brume_type type_of(const brume_query_answer *answer, size_t column)
{
    bool numbers = true, whole = true, truths = true, any = false;
    for (size_t i = 0; i < answer->row_count; i++) {
        const brume_value *value = &answer->values[i * answer->column_count + column];
        if (value->kind == BRUME_VALUE_NULL)
            continue;
        any = true;
        numbers = numbers && value->kind == BRUME_VALUE_NUMBER;
        whole = whole && numbers &&
                (value->text ||
                 (fabs(value->number) < 0x1p53 && value->number == trunc(value->number)));
        truths = truths && value->kind == BRUME_VALUE_BOOLEAN;
    }
    brume_type_kind kind =
        !any      ? (answer->columns[column].is_key ? BRUME_TYPE_TEXT : BRUME_TYPE_DOUBLE)
        : whole   ? BRUME_TYPE_BIGINT
        : numbers ? BRUME_TYPE_DOUBLE
        : truths  ? BRUME_TYPE_BOOLEAN
        : are_times(answer, column, 10) ? BRUME_TYPE_DATE
        : are_times(answer, column, 19) ? BRUME_TYPE_TIMESTAMP
                                        : BRUME_TYPE_TEXT;
    return (brume_type){kind, 0, 0};
}

static brume_status add_recalled(layers *all, recalled *from, brume_error *error)
{
    size_t at = all->count, count = from->answer->column_count;
    brume_catalog_column *made = NULL;
    BRUME_TRY(open_table(all, count, &made, error));
    if (!(all->tables[at].name = strdup(from->name)))
        return brume_no_memory(error, "a question");
    for (size_t i = 0; i < count; i++) {
        if (!(made[i].name = strdup(from->answer->columns[i].name)))
            return brume_no_memory(error, "a question");
        all->tables[at].column_count = i + 1;
        made[i].type = all->sources[at].types[i] = type_of(from->answer, i);
        all->is_key[at][i] = from->answer->columns[i].is_key;
    }
    all->sources[at].answer = from->answer;
    from->answer = NULL;
    return BRUME_OK;
}

typedef struct mentioned {
    const char *name;
    bool found;
} mentioned;

/* Does the outer SQL name the column, or all of them? */
static bool look_for_column(void *context, const ProtobufCMessage *message)
{
    mentioned *at = context;
    if (message->descriptor == &pg_query__join_expr__descriptor) {
        const PgQuery__JoinExpr *join = (const PgQuery__JoinExpr *)message;
        at->found = at->found || join->is_natural;
        for (size_t i = 0; i < join->n_using_clause; i++)
            at->found = at->found || strcasecmp(join->using_clause[i]->string->sval, at->name) == 0;
    }
    if (message->descriptor != &pg_query__column_ref__descriptor)
        return !at->found;
    const PgQuery__ColumnRef *reference = (const PgQuery__ColumnRef *)message;
    const PgQuery__Node *last = reference->fields[reference->n_fields - 1];
    at->found = at->found || last->node_case != PG_QUERY__NODE__NODE_STRING ||
                strcasecmp(last->string->sval, at->name) == 0;
    return !at->found;
}

static bool is_mentioned(const layers *all, const char *name)
{
    mentioned at = {name, false};
    brume_tree_visit(&brume_sql_tree(all->tree)->base, look_for_column, &at);
    return at.found;
}

static void put_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++)
        fputs(*name == '"' ? "\"\"" : (char[]){*name, 0}, out);
    fputc('"', out);
}

/* All rows of a public table, by the path for queries of public tables: it checks that it is. */
static brume_status read_public(const layers *all, const brume_catalog_table *table,
                                brume_query_answer **answer, brume_error *error)
{
    char *sql = NULL;
    size_t length = 0;
    const brume_payment nothing = {.elsewhere = all->elsewhere};
    FILE *out = open_memstream(&sql, &length);
    for (size_t i = 0; out && i < table->column_count; i++) {
        fputs(i ? ", " : "SELECT ", out);
        put_name(out, table->columns[i].name);
    }
    if (out) {
        fputs(" FROM ", out);
        if (table->dataset) {
            put_name(out, table->dataset);
            fputc('.', out);
        }
        put_name(out, table->name);
    }
    if (!out || fclose(out) != 0) {
        free(sql);
        return brume_no_memory(error, "a question");
    }
    brume_status status =
        brume_stages_ask(all->ledger, sql, &nothing, NULL, NULL, NULL, answer, error);
    free(sql);
    if (status == BRUME_OK && !(*answer)->is_public)
        status = brume_fail(error, BRUME_EINTERNAL, NULL, "the table '%.60s' is not public",
                            table->name);
    return status;
}

/* The columns of a public table that the outer SQL may name, and its rows. */
static brume_status add_public(layers *all, const brume_catalog_table *from, brume_error *error)
{
    size_t at = all->count, count = 0;
    brume_catalog_column *made = NULL;
    BRUME_TRY(open_table(all, from->column_count, &made, error));
    all->tables[at].name = from->name;
    all->tables[at].dataset = from->dataset;
    for (size_t i = 0; i < from->column_count; i++)
        if (from->columns[i].type.kind != BRUME_TYPE_REFUSED &&
            (is_mentioned(all, from->columns[i].name) || from->column_count == 1)) {
            all->sources[at].types[count] = from->columns[i].type;
            all->is_key[at][count] = true;
            made[count++] = from->columns[i];
        }
    if (count == 0 && from->column_count > 0) { /* COUNT(*): rows are all that counts */
        all->sources[at].types[0] = from->columns[0].type;
        all->is_key[at][0] = true;
        made[count++] = from->columns[0];
    }
    all->tables[at].column_count = count;
    return read_public(all, &all->tables[at], &all->sources[at].answer, error);
}

static brume_status add_public_tables(layers *all, const brume_sql_name *names, size_t count,
                                      brume_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const brume_catalog_table *found = NULL;
        char answer[BRUME_RELEASED_NAME];
        bool is_answer = false;
        for (size_t j = 0; j < all->inner.count; j++) {
            brume_released_name(j, answer);
            is_answer = is_answer || (!names[i].dataset && strcmp(answer, names[i].table) == 0);
        }
        for (size_t j = 0; !is_answer && j < all->named->catalog.table_count; j++) {
            const brume_catalog_table *one = &all->named->catalog.tables[j];
            const char *own = one->dataset ? one->dataset : one->name;
            if (one->privacy == BRUME_PRIVACY_PUBLIC &&
                strcasecmp(one->name, names[i].table) == 0 &&
                (!names[i].dataset || strcmp(own, names[i].dataset) == 0))
                found = one;
        }
        for (size_t j = answers_of(all); found && j < all->count; j++)
            found = all->tables[j].name == found->name ? NULL : found; /* by two names */
        if (found)
            BRUME_TRY(add_public(all, found, error));
    }
    return BRUME_OK;
}

static brume_status print_statement(layers *all, brume_error *error)
{
    char(*texts)[BRUME_OUTER_SOURCE] = calloc(all->count + 1, sizeof *texts);
    const char **sources = calloc(all->count + 1, sizeof *sources);
    brume_status status = texts && sources ? BRUME_OK : brume_no_memory(error, "a question");
    for (size_t i = 0; status == BRUME_OK && i < all->count; i++) {
        brume_outer_source(i, i >= answers_of(all), texts[i]);
        sources[i] = texts[i];
    }
    if (status == BRUME_OK)
        status = brume_public_query_print(all->query, &all->catalog, BRUME_DIALECT_DUCKDB, sources,
                                          &all->statement, error);
    free(sources);
    free(texts);
    return status;
}

static brume_status make_outer(layers *all, brume_error *error)
{
    brume_sql_name *names = NULL;
    size_t count = 0;
    BRUME_TRY(brume_sql_names(all->tree, &names, &count, error));
    brume_status status = make_room(all, answers_of(all) + count, error);
    for (size_t i = 0; status == BRUME_OK && i < all->inner.count; i++)
        status = add_answer(all, i, error);
    for (size_t i = 0; status == BRUME_OK && i < all->recalled_count; i++)
        status = add_recalled(all, &all->recalled[i], error);
    if (status == BRUME_OK)
        status = add_public_tables(all, names, count, error);
    brume_sql_names_free(names, count);
    if (status != BRUME_OK)
        return status;
    all->catalog = (brume_catalog){all->tables, all->count};
    BRUME_TRY(brume_sql_public_wide(all->tree, &all->catalog, &all->query, error));
    all->keys = calloc(all->query->output_count + 1, sizeof *all->keys);
    if (!all->keys)
        return brume_no_memory(error, "a question");
    brume_sql_key_outputs(all->tree, &all->catalog, (const bool *const *)all->is_key,
                          all->query->names, all->query->output_count, all->keys);
    return print_statement(all, error);
}

/* ---- running it ---- */

static brume_status run_outer(const layers *all, bool bars, const brume_watch *watch,
                              brume_query_answer **answer, json_t **types, brume_error *error)
{
    const brume_outer outer = {all->statement,           all->query->names, all->keys,
                               all->query->output_count, all->sources,      all->count};
    char *work = NULL, *json = NULL;
    if (!all->elsewhere || !all->elsewhere->run)
        return brume_outer_run(&outer, bars, watch, answer, types, error);
    BRUME_TRY(brume_outer_write(&outer, bars, &work, error));
    brume_status status = all->elsewhere->run(all->elsewhere->run_context, work, &json, error);
    free(work);
    if (status == BRUME_OK)
        status = brume_outer_read(json, answer, types, error);
    free(json);
    return status;
}

/* A row of this type: one, because an inner query may be a single number. */
static brume_status make_dummy(const brume_catalog_table *table, const char *text,
                               brume_query_answer **out, brume_error *error)
{
    BRUME_TRY(brume_query_answer_open(table->column_count, 1, out, error));
    for (size_t i = 0; i < table->column_count; i++) {
        brume_value value = {.kind = BRUME_VALUE_NUMBER, .number = 1};
        const char *word = table->columns[i].type.kind == BRUME_TYPE_TEXT ? text
                           : brume_type_is_time(table->columns[i].type)   ? "2000-01-01"
                                                                          : NULL;
        if (word)
            value = (brume_value){.kind = BRUME_VALUE_TEXT, .text = word, .length = strlen(word)};
        else if (table->columns[i].type.kind == BRUME_TYPE_BOOLEAN)
            value = (brume_value){.kind = BRUME_VALUE_BOOLEAN, .boolean = true};
        if (!((*out)->columns[i].name = strdup(table->columns[i].name)))
            return brume_no_memory(error, "a question");
        BRUME_TRY(brume_query_answer_set(*out, 0, i, &value, error));
    }
    return BRUME_OK;
}

static void drop_dummies(layers *all)
{
    for (size_t i = 0; i < all->inner.count; i++) {
        brume_query_answer_close(all->sources[i].answer);
        all->sources[i].answer = NULL;
    }
}

/* Run the outer SQL on dummy rows: what it refuses for its types is refused before anything is
 * charged. A text may be read as a number or as a date by it: one of two must do. */
static brume_status rehearse(layers *all, const brume_watch *watch, json_t **types,
                             brume_error *error)
{
    static const char *const texts[] = {"1", "2000-01-01", "a"};
    double start = brume_memory_clock();
    brume_status status = BRUME_EUNSUPPORTED;
    for (size_t i = 0; status == BRUME_EUNSUPPORTED && i < sizeof texts / sizeof *texts; i++) {
        if (brume_memory_clock() - start > 2) /* what takes too long once does so again */
            break;
        brume_query_answer *answer = NULL;
        brume_error why = {0};
        status = BRUME_OK;
        for (size_t j = 0; status == BRUME_OK && j < all->inner.count; j++)
            status = make_dummy(&all->tables[j], texts[i], &all->sources[j].answer, &why);
        if (status == BRUME_OK)
            status = run_outer(all, false, watch, &answer, types, &why);
        brume_query_answer_close(answer);
        drop_dummies(all);
        if (status != BRUME_OK && (i == 0 || status != BRUME_EUNSUPPORTED))
            *error = why; /* the first says most */
    }
    return status;
}

/* ---- explaining ---- */

static void add_cost(json_t *cost, const json_t *more)
{
    static const char *const names[] = {"epsilon", "delta", "rho"};
    for (int i = 0; i < 3; i++) {
        const json_t *a = json_object_get(cost, names[i]), *b = json_object_get(more, names[i]);
        json_object_set_new(cost, names[i],
                            json_is_number(b) ? json_real(brume_spend_add(json_number_value(a),
                                                                          json_number_value(b)))
                                              : json_null());
    }
}

static brume_status explain_inner(layers *all, brume_error *error)
{
    all->explained = json_array();
    if (!all->explained)
        return brume_no_memory(error, "a question");
    for (size_t i = 0; i < all->inner.count; i++) {
        json_t *one = NULL;
        BRUME_TRY(brume_stages_explain(all->ledger, all->inner.inner[i], payment_of(all, i), NULL,
                                       &one, error));
        if (json_array_append_new(all->explained, one) != 0)
            return brume_no_memory(error, "a question");
    }
    return BRUME_OK;
}

static brume_status show_explanation(const layers *all, const json_t *types, json_t **out,
                                     brume_error *error)
{
    bool recorded = true, by_default = false;
    json_t *cost = all->inner.count > 0
                       ? json_object()
                       : json_pack("{s:f,s:f,s:n}", "epsilon", 0.0, "delta", 0.0, "rho"),
           *columns = json_array();
    const json_t *rule = NULL;
    for (size_t i = 0; i < all->inner.count; i++) {
        const json_t *one = json_array_get(all->explained, i);
        add_cost(cost, json_object_get(one, "cost"));
        recorded = recorded && json_is_true(json_object_get(one, "recorded"));
        by_default = by_default || json_is_true(json_object_get(one, "delta_by_default"));
        rule = json_object_get(one, "rule");
    }
    for (size_t i = 0; i < all->query->output_count; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        json_t *column = json_pack("{s:s,s:s,s:s}", "name", all->query->names[i], "role",
                                   all->keys[i] ? "key" : "value", "type", type ? type : "text");
        if (column && !all->keys[i])
            json_object_set_new(column, "bar_95", json_null());
        json_array_append_new(columns, column);
    }
    *out = json_pack("{s:[],s:o,s:s,s:s,s:O,s:o,s:b,s:b,s:b,s:O?}", "plan", "cost", cost, "sql",
                     all->sql, "normal", all->query->sql, "stages", all->explained, "columns",
                     columns, "recorded", recorded, "post_processed", 1, "delta_by_default",
                     by_default, "rule", rule);
    return *out ? BRUME_OK : brume_no_memory(error, "a question");
}

/* ---- opening ---- */

/* The recorded answers that the statement names. */
static brume_status recall_answers(layers *all, brume_error *error)
{
    brume_sql_name *names = NULL;
    size_t count = 0;
    BRUME_TRY(brume_sql_names(all->tree, &names, &count, error));
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        uint64_t number = brume_answer_number(all->ledger, &names[i]);
        recalled *next = &all->recalled[all->recalled_count];
        if (number == 0)
            continue;
        if (all->recalled_count == MOST_RECALLED)
            status = brume_fail(error, BRUME_EUNSUPPORTED, "ask in several statements",
                                "the statement names more than %d recorded answers", MOST_RECALLED);
        else if ((status = brume_recall(all->ledger, number, &next->answer, error)) == BRUME_OK) {
            snprintf(next->name, sizeof next->name, "%s", names[i].table);
            all->recalled_count++;
        }
    }
    brume_sql_names_free(names, count);
    return status;
}

/* Split by a catalog in which recorded answers are public tables: they are released. */
static brume_status split(layers *all, bool *found, brume_error *why, brume_error *error)
{
    const brume_catalog *named = &all->named->catalog;
    size_t count = named->table_count + all->recalled_count;
    brume_catalog_table *tables = calloc(count + 1, sizeof *tables);
    if (!tables)
        return brume_no_memory(error, "a question");
    if (named->table_count > 0)
        memcpy(tables, named->tables, named->table_count * sizeof *tables);
    for (size_t i = 0; i < all->recalled_count; i++)
        tables[named->table_count + i] =
            (brume_catalog_table){.name = all->recalled[i].name, .privacy = BRUME_PRIVACY_PUBLIC};
    const brume_catalog catalog = {tables, count};
    brume_status status = brume_sql_split_released(all->tree, &catalog, is_query, all, &all->inner,
                                                   found, why, error);
    free(tables);
    *found = *found || (all->inner.all_public && all->recalled_count > 0);
    return status;
}

static bool names_answers(const layers *all)
{
    brume_sql_name *names = NULL;
    size_t count = 0;
    brume_error ignored;
    bool any = false;
    if (brume_sql_names(all->tree, &names, &count, &ignored) != BRUME_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        any = any || brume_answer_number(all->ledger, &names[i]) > 0;
    brume_sql_names_free(names, count);
    return any;
}

/* *found: it is of this form, and *all is what there is to know of it. */
static brume_status open_layers(layers *all, const brume_payment *payment, bool *found,
                                brume_error *error)
{
    brume_error whole = {0}, why = {0}, ignored;
    brume_question *question = NULL;
    *found = false;
    if (brume_sql_parse(all->sql, &all->tree, &ignored) != BRUME_OK)
        return BRUME_OK;
    if (brume_stages_open(all->ledger, all->sql, all->elsewhere, &question, &whole) == BRUME_OK) {
        brume_question_close(question);
        return BRUME_OK;
    }
    brume_status status = brume_question_tables(all->ledger, all->tree, &all->named, &why);
    if (status == BRUME_OK)
        BRUME_TRY(recall_answers(all, error));
    if (status == BRUME_OK)
        BRUME_TRY(split(all, found, &why, error));
    else if (!names_answers(all))
        return BRUME_OK;
    if (!*found && all->recalled_count > 0 &&
        (why.status == BRUME_OK || why.status == BRUME_EUNKNOWN))
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "aggregate them in a subquery first; nothing was spent",
                          "rows of persons cannot be joined with the recorded answer '%s'",
                          all->recalled[0].name);
    if (!*found && why.status != BRUME_OK) {
        if (error)
            *error = why;
        return why.status;
    }
    if (!*found)
        return BRUME_OK;
    BRUME_TRY(split_payment(all, payment, error));
    BRUME_TRY(explain_inner(all, error));
    return make_outer(all, error);
}

brume_status brume_explain(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                           const brume_target *target, json_t **explanation, brume_error *error)
{
    layers all = {.ledger = ledger, .sql = sql, .elsewhere = payment->elsewhere};
    bool found = false;
    json_t *types = NULL;
    brume_status status = target ? BRUME_OK : open_layers(&all, payment, &found, error);
    if (status == BRUME_OK && !found)
        status = brume_stages_explain(ledger, sql, payment, target, explanation, error);
    else if (status == BRUME_OK && (status = rehearse(&all, NULL, &types, error)) == BRUME_OK)
        status = show_explanation(&all, types, explanation, error);
    json_decref(types);
    close_layers(&all);
    return status;
}

/* ---- asking ---- */

static brume_status check_budget(const layers *all, brume_error *error)
{
    brume_stage_price list[BRUME_RELEASED_MOST];
    size_t count = 0;
    for (size_t i = 0; i < all->inner.count; i++)
        if (!json_is_true(json_object_get(json_array_get(all->explained, i), "recorded")))
            list[count++] = (brume_stage_price){all->inner.inner[i], payment_of(all, i), NULL};
    return count > 1
               ? brume_stages_check_budget(all->ledger, list, count, "stages of the query", error)
               : BRUME_OK;
}

/* What is said of an inner query in the answer: its table, and what it cost. */
static json_t *stage_of(const brume_query_answer *answer, const char *sql)
{
    static const char *const kept[] = {"columns",          "rows",   "rows_bar_95", "cost",
                                       "rows_interval_95", "cached", "notes",       "threshold"};
    json_t *whole = NULL, *made = json_pack("{s:s}", "sql", sql);
    if (brume_query_answer_to_json(answer, &whole, NULL) != BRUME_OK) {
        json_decref(made);
        return NULL;
    }
    for (size_t i = 0; made && i < sizeof kept / sizeof *kept; i++)
        if (json_object_get(whole, kept[i]))
            json_object_set(made, kept[i], json_object_get(whole, kept[i]));
    json_decref(whole);
    return made;
}

/* A copy of a text in its place; false: memory is out. */
static bool copy_text(char **to, const char *text)
{
    free(*to);
    *to = text ? strdup(text) : NULL;
    return *to || !text;
}

/* What is known of all inner answers together, into the answer of the statement: of the times when
 * data were read the first. */
static brume_status add_paid(const layers *all, brume_query_answer *made, brume_error *error)
{
    made->cached = true;
    for (size_t i = 0; i < answers_of(all); i++) {
        const brume_query_answer *one = all->sources[i].answer;
        bool is_inner = i < all->inner.count; /* a recorded answer costs nothing more */
        if (i == 0 || one->remaining.amount < made->remaining.amount)
            made->remaining = one->remaining;
        if (is_inner)
            made->cost = (brume_answer_price){one->cost.concentrated,
                                              brume_spend_add(made->cost.amount, one->cost.amount),
                                              brume_spend_add(made->cost.delta, one->cost.delta)};
        made->delta_by_default = made->delta_by_default || (is_inner && one->delta_by_default);
        made->cached = made->cached && one->cached;
        made->threshold = one->threshold > made->threshold ? one->threshold : made->threshold;
        made->words = i == 0 ? one->words : made->words;
        if (i > 0 && strcmp(one->read, made->read) >= 0)
            continue;
        snprintf(made->read, sizeof made->read, "%s", one->read);
        if (!copy_text(&made->data_version, one->data_version))
            return brume_no_memory(error, "the answer");
    }
    return BRUME_OK;
}

/* What is said where something failed after inner queries were paid for. */
static void say_spent(bool all_answered, brume_error *error)
{
    if (!error)
        return;
    brume_stages_cut_unspent(error);
    size_t at = strlen(error->message);
    snprintf(error->message + at, sizeof error->message - at,
             all_answered ? "; the inner queries are paid for and recorded: with other SQL around "
                            "them they are free"
                          : "; the inner queries before it are paid for and recorded");
}

static brume_status ask_inner(layers *all, brume_bits *bits, const brume_watch *watch, json_t *list,
                              brume_error *error)
{
    bool paid = false;
    for (size_t i = 0; i < all->inner.count; i++) {
        brume_query_answer *answer = NULL;
        brume_status status = brume_stages_ask(all->ledger, all->inner.inner[i], payment_of(all, i),
                                               NULL, bits, watch, &answer, error);
        if (status != BRUME_OK) {
            if (paid)
                say_spent(false, error);
            return status;
        }
        all->sources[i].answer = answer;
        paid = paid || !answer->cached;
        if (json_array_append_new(list, stage_of(answer, all->inner.inner[i])) != 0)
            return brume_no_memory(error, "the answer");
        if (watch && i + 1 < all->inner.count)
            watch->enter(watch->context, BRUME_PHASE_FREE, NULL);
    }
    return BRUME_OK;
}

static brume_status ask_layers(layers *all, brume_bits *bits, const brume_watch *watch,
                               brume_query_answer **answer, brume_error *error)
{
    json_t *list = json_array();
    brume_query_answer *made = NULL;
    brume_status status = list ? BRUME_OK : brume_no_memory(error, "the answer");
    if (status == BRUME_OK)
        status = rehearse(all, watch, NULL, error);
    if (status == BRUME_OK)
        status = check_budget(all, error);
    if (status == BRUME_OK)
        status = ask_inner(all, bits, watch, list, error);
    for (size_t i = all->inner.count; status == BRUME_OK && i < answers_of(all); i++)
        if (json_array_append_new(list, stage_of(all->sources[i].answer, all->tables[i].name)) != 0)
            status = brume_no_memory(error, "the answer");
    bool answered = status == BRUME_OK;
    if (answered)
        status = run_outer(all, true, watch, &made, NULL, error);
    if (answered && status != BRUME_OK && all->inner.count > 0)
        say_spent(true, error);
    if (answered && status == BRUME_OK)
        status = add_paid(all, made, error);
    if (status == BRUME_OK) {
        made->stages = json_incref(list);
        *answer = made;
    } else {
        brume_query_answer_close(made);
    }
    json_decref(list);
    return status;
}

brume_status brume_ask(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                       const brume_target *target, brume_bits *bits, const brume_watch *watch,
                       brume_query_answer **answer, brume_error *error)
{
    layers all = {.ledger = ledger, .sql = sql, .elsewhere = payment->elsewhere};
    bool found = false;
    brume_status status = target ? BRUME_OK : open_layers(&all, payment, &found, error);
    if (status == BRUME_OK)
        status = found ? ask_layers(&all, bits, watch, answer, error)
                       : brume_stages_ask(ledger, sql, payment, target, bits, watch, answer, error);
    close_layers(&all);
    return status;
}
