/* Asking datasets: explain, cap, query, the answer as a table. Promises: connection.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/session.h>

#include "base/error.h"
#include "base/text.h"
#include "serve/pg/connection.h"

/* Amounts of epsilon are added up in whole units, so that ten times 0.1 are 1. */
static const double unit = 1e-12;

/* ---- the two calls ---- */

static brume_status call_for(brume_pg_connection *connection, const char *command, const char *sql,
                             json_t *options, json_t **answer, bool *may_be_charged,
                             brume_error *error)
{
    char *text = json_dumps(options, 0), *json = NULL;
    brume_pg_outcome outcome = {0};
    if (!text)
        return brume_no_memory(error, "the query");
    brume_status status = connection->backend->run(connection->backend->context, command, sql, text,
                                                   &json, &outcome, error);
    free(text);
    *may_be_charged = outcome.may_be_charged;
    if (status != BRUME_OK && outcome.busy)
        snprintf(connection->sqlstate, sizeof connection->sqlstate, "53300");
    if (status != BRUME_OK)
        return status;
    *answer = json_loads(json, JSON_ALLOW_NUL, NULL);
    brume_free(json);
    return *answer ? BRUME_OK
                   : brume_fail(error, BRUME_EINTERNAL, NULL, "the answer cannot be read");
}

static brume_status call(brume_pg_connection *connection, const char *command, const char *sql,
                         json_t *options, json_t **answer, brume_error *error)
{
    bool ignored = false;
    return call_for(connection, command, sql, options, answer, &ignored, error);
}

/* Explain a query with the price that is set. Without one (*priced is false) its columns are those
 * at any price, and it is explained at a price of 1. */
static brume_status explain(brume_pg_connection *connection, const char *sql, bool *priced,
                            json_t **options, json_t **explanation, brume_error *error)
{
    json_t *made = json_object(), *named = NULL;
    brume_status status = made ? BRUME_OK : brume_no_memory(error, "the query");
    if (status == BRUME_OK)
        status = brume_pg_settings_options(connection->settings, made, priced, error);
    if (status == BRUME_OK && !*priced) {
        named = json_pack("{s:s}", "epsilon", "1");
        status = named ? call(connection, "explain", sql, named, explanation, error)
                       : brume_no_memory(error, "the query");
    } else if (status == BRUME_OK) {
        named = json_copy(made); /* without what is of no use to an explanation */
        (void)json_object_del(named, "timeout");
        status = named ? call(connection, "explain", sql, named, explanation, error)
                       : brume_no_memory(error, "the query");
    }
    json_decref(named);
    if (status == BRUME_OK && options)
        *options = made;
    else
        json_decref(made);
    return status;
}

static bool is_public(const json_t *explanation)
{
    return json_is_true(json_object_get(explanation, "public"));
}

/* ---- columns ---- */

static uint32_t type_number(const char *word)
{
    static const struct {
        const char *word;
        uint32_t type;
    } types[] = {{"boolean", BRUME_PG_BOOL},
                 {"bigint", BRUME_PG_INT8},
                 {"double", BRUME_PG_FLOAT8},
                 {"date", BRUME_PG_DATE},
                 {"timestamp", BRUME_PG_TIMESTAMP}};
    for (size_t i = 0; word && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].word, word) == 0)
            return types[i].type;
    return BRUME_PG_TEXT;
}

static bool is_value(const json_t *column)
{
    const char *role = json_string_value(json_object_get(column, "role"));
    return role && strcmp(role, "value") == 0;
}

static brume_status add_error_column(brume_pg_table *table, const char *name, brume_error *error)
{
    char longer[160];
    snprintf(longer, sizeof longer, "%.*s_error_95", (int)brume_utf8_cut(name, 140), name);
    return brume_pg_table_add_column(table, longer, BRUME_PG_FLOAT8, error);
}

/* The columns of `list` ("columns" of an explanation), with those of errors if they are wanted. */
static brume_status add_columns(const brume_pg_connection *connection, const json_t *list,
                                brume_pg_table *table, brume_error *error)
{
    bool errors = brume_pg_is_on(connection->settings, "brume.error_columns");
    size_t i;
    const json_t *column;
    json_array_foreach (list, i, column) {
        const char *name = json_string_value(json_object_get(column, "name"));
        const char *type = json_string_value(json_object_get(column, "type"));
        BRUME_TRY(
            brume_pg_table_add_column(table, name ? name : "?column?", type_number(type), error));
        if (errors && is_value(column))
            BRUME_TRY(add_error_column(table, name ? name : "?column?", error));
    }
    return BRUME_OK;
}

static bool same_columns(const brume_pg_table *a, const brume_pg_table *b)
{
    bool same = a->column_count == b->column_count;
    for (size_t i = 0; same && i < a->column_count; i++)
        same = a->columns[i].type == b->columns[i].type;
    return same;
}

/* ---- rows ---- */

/* The text of a value in a column of this type; NULL for NULL. False: no memory. */
static bool cell_text(const json_t *value, uint32_t type, char **out)
{
    char number[BRUME_PG_NUMBER_TEXT] = "";
    *out = NULL;
    if (json_is_null(value) || !value)
        return true;
    if (json_is_string(value)) {
        const char *text = json_string_value(value);
        *out = strdup(text); /* what follows a 0 byte cannot be sent as a text */
        return *out != NULL;
    }
    if (json_is_boolean(value)) {
        *out = strdup(json_is_true(value)     ? type == BRUME_PG_BOOL ? "t" : "true"
                      : type == BRUME_PG_BOOL ? "f"
                                              : "false");
        return *out != NULL;
    }
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    else if (type == BRUME_PG_INT8)
        snprintf(number, sizeof number, "%.0f", json_real_value(value));
    else
        brume_pg_number_text(json_real_value(value), number);
    *out = strdup(number);
    return *out != NULL;
}

/* The error bar of a cell; NULL where there is none. False: no memory. */
static bool error_text(const json_t *answer, size_t row, size_t column, char **out)
{
    char number[BRUME_PG_NUMBER_TEXT] = "";
    double bar = 0;
    *out = NULL;
    if (!brume_pg_bar(answer, row, column, &bar))
        return true;
    brume_pg_number_text(bar, number);
    *out = strdup(number);
    return *out != NULL;
}

static brume_status add_rows(const brume_pg_connection *connection, const json_t *answer,
                             brume_pg_table *table, brume_error *error)
{
    bool errors = brume_pg_is_on(connection->settings, "brume.error_columns");
    const json_t *columns = json_object_get(answer, "columns"), *row;
    size_t i;
    json_array_foreach (json_object_get(answer, "rows"), i, row) {
        char **cells = brume_pg_table_add_row(table);
        bool made = cells != NULL;
        size_t at = 0;
        for (size_t j = 0; made && j < json_array_size(columns) && at < table->column_count; j++) {
            made = cell_text(json_array_get(row, j), table->columns[at].type, &cells[at]);
            at++;
            if (made && errors && is_value(json_array_get(columns, j)) &&
                at < table->column_count) {
                made = error_text(answer, i, j, &cells[at]);
                at++;
            }
        }
        if (!made)
            return brume_no_memory(error, "the answer");
    }
    return BRUME_OK;
}

/* The types of a query of public tables are not known before its answer: a column whose values are
 * all booleans, whole or other numbers has that type, any other is text. */
static uint32_t type_of_values(const json_t *rows, size_t column)
{
    size_t booleans = 0, numbers = 0, whole = 0, others = 0, i;
    const json_t *row;
    json_array_foreach (rows, i, row) {
        const json_t *value = json_array_get(row, column);
        booleans += json_is_boolean(value);
        numbers += json_is_number(value);
        whole += json_is_integer(value);
        others += json_is_string(value);
    }
    if (others || (booleans && numbers) || booleans + numbers == 0)
        return BRUME_PG_TEXT;
    return booleans ? BRUME_PG_BOOL : numbers == whole ? BRUME_PG_INT8 : BRUME_PG_FLOAT8;
}

/* `known`: columns that the client was told; where the values are of other types, they are refused
 * (which costs nothing), unless they were told to be texts. */
static brume_status ask_public(brume_pg_connection *connection, const char *sql,
                               const brume_pg_table *known, brume_pg_table *table,
                               brume_error *error)
{
    json_t *options = json_object(), *answer = NULL;
    const json_t *column;
    size_t i;
    brume_status status = options ? call(connection, "query", sql, options, &answer, error)
                                  : brume_no_memory(error, "the query");
    json_array_foreach (json_object_get(answer, "columns"), i, column) {
        const char *name = json_string_value(json_object_get(column, "name"));
        if (status == BRUME_OK)
            status = brume_pg_table_add_column(table, name ? name : "?column?",
                                               type_of_values(json_object_get(answer, "rows"), i),
                                               error);
        if (status == BRUME_OK && brume_pg_is_on(connection->settings, "brume.error_columns") &&
            is_value(column))
            status = add_error_column(table, name ? name : "?column?", error);
    }
    for (i = 0; status == BRUME_OK && known && i < known->column_count; i++) {
        bool is_text = known->columns[i].type == BRUME_PG_TEXT;
        if (i >= table->column_count ||
            (!is_text && known->columns[i].type != table->columns[i].type))
            status = brume_pg_refuse(connection, "0A000", "prepare it again", error,
                                     "cached plan must not change result type");
        else
            table->columns[i].type = known->columns[i].type;
    }
    if (status == BRUME_OK)
        status = add_rows(connection, answer, table, error);
    json_decref(options);
    json_decref(answer);
    return status;
}

brume_status brume_pg_ask_describe(brume_pg_connection *connection, const char *sql,
                                   brume_pg_table *table, bool *is_run, brume_error *error)
{
    bool priced = false;
    json_t *explanation = NULL;
    BRUME_TRY(explain(connection, sql, &priced, NULL, &explanation, error));
    *is_run = is_public(explanation);
    brume_status status =
        *is_run ? ask_public(connection, sql, NULL, table, error)
                : add_columns(connection, json_object_get(explanation, "columns"), table, error);
    json_decref(explanation);
    return status;
}

/* ---- the price ---- */

/* Epsilon of a price: rho stands for sqrt(2 rho), as everywhere in brume. */
static double epsilon_of(const json_t *cost)
{
    const json_t *rho = json_object_get(cost, "rho");
    if (json_is_number(rho))
        return sqrt(2 * json_number_value(rho));
    return json_number_value(json_object_get(cost, "epsilon"));
}

static brume_status check_price(brume_pg_connection *connection, bool priced,
                                const json_t *explanation, brume_error *error)
{
    const char *cap = brume_pg_show(connection->settings, "brume.session_cap");
    double price = epsilon_of(json_object_get(explanation, "cost"));
    if (!priced && price > 0) /* SQL of recorded answers alone costs nothing, whatever is typed */
        return brume_pg_refuse(connection, "22023",
                               "SET brume.epsilon = 0.1, or connect with options=-c "
                               "brume.epsilon=0.1; EXPLAIN tells what it buys",
                               error, "a price is missing: no epsilon is spent by default");
    bool is_free = json_is_true(json_object_get(explanation, "recorded"));
    if (cap && *cap && !is_free &&
        connection->spent + llround(price / unit) > llround(strtod(cap, NULL) / unit))
        return brume_pg_refuse(connection, "BR001",
                               "SET brume.session_cap to more, or ask for less", error,
                               "this connection may spend epsilon %s, has spent %.12g, and this "
                               "costs %.12g",
                               cap, (double)connection->spent * unit, price);
    return BRUME_OK;
}

/* Note a price that was charged, before anything else can fail. */
static void note_price(brume_pg_connection *connection, const json_t *cost)
{
    char text[BRUME_PG_NUMBER_TEXT];
    connection->spent += llround(epsilon_of(cost) / unit);
    connection->charged = true;
    snprintf(text, sizeof text, "%.12g", (double)connection->spent * unit);
    brume_error ignored;
    if (brume_pg_note(connection->settings, "brume.session_spent", text, &ignored) != BRUME_OK)
        return; /* SHOW says an older number */
}

brume_status brume_pg_ask(brume_pg_connection *connection, const char *sql,
                          const brume_pg_table *known, brume_pg_table *table, brume_error *error)
{
    bool priced = false, may_be_charged = false;
    json_t *options = NULL, *explanation = NULL, *answer = NULL;
    BRUME_TRY(explain(connection, sql, &priced, &options, &explanation, error));
    brume_status status = BRUME_OK;
    if (is_public(explanation)) {
        status = ask_public(connection, sql, known, table, error);
    } else {
        status = check_price(connection, priced, explanation, error);
        if (status == BRUME_OK)
            status = add_columns(connection, json_object_get(explanation, "columns"), table, error);
        if (status == BRUME_OK && known->column_count > 0 && !same_columns(known, table))
            status = brume_pg_refuse(connection, "0A000", "prepare it again", error,
                                     "cached plan must not change result type");
        if (status == BRUME_OK) {
            status = call_for(connection, "query", sql, options, &answer, &may_be_charged, error);
            if (status == BRUME_OK && !json_is_true(json_object_get(answer, "cached")))
                note_price(connection, json_object_get(answer, "cost"));
            else if (status != BRUME_OK && may_be_charged)
                note_price(connection, json_object_get(explanation, "cost"));
        }
        if (status == BRUME_OK) {
            status = add_rows(connection, answer, table, error);
            brume_pg_tell(connection, answer);
        }
    }
    json_decref(options);
    json_decref(explanation);
    json_decref(answer);
    return status;
}
