/* Queries of the catalog, on the side of the connection. Promises: catalog.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brume/session.h>

#include "base/error.h"
#include "base/text.h"
#include "serve/pg/catalog/catalog.h"

/* set_config('name', 'value', is_local) takes effect here, before the query runs elsewhere. */
typedef struct setting_change {
    brume_pg_connection *connection;
    brume_status status;
    brume_error *error;
} setting_change;

static const char *text_of(const PgQuery__Node *node)
{
    return node->node_case == PG_QUERY__NODE__NODE_A_CONST &&
                   node->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL
               ? node->a_const->sval->sval
               : NULL;
}

static bool change_setting(void *context, const ProtobufCMessage *message)
{
    setting_change *change = context;
    const PgQuery__FuncCall *call = (const PgQuery__FuncCall *)message;
    if (change->status != BRUME_OK || message->descriptor != &pg_query__func_call__descriptor ||
        call->n_args != 3)
        return true;
    const PgQuery__Node *name = call->funcname[call->n_funcname - 1], *local = call->args[2];
    if (name->node_case == PG_QUERY__NODE__NODE_STRING &&
        strcmp(name->string->sval, "set_config") == 0 && text_of(call->args[0]) &&
        text_of(call->args[1]) && local->node_case == PG_QUERY__NODE__NODE_A_CONST)
        change->status = brume_pg_set(change->connection->settings, text_of(call->args[0]),
                                      text_of(call->args[1]),
                                      local->a_const->val_case == PG_QUERY__A__CONST__VAL_BOOLVAL &&
                                          local->a_const->boolval->boolval,
                                      change->error);
    return true;
}

static void add_setting(void *context, const char *name, const char *value, const char *description)
{
    json_array_append_new(context, json_pack("[s,s?,s]", name, value, description));
}

/* Say why a query has no rows to whoever asks for messages of that kind. */
static void explain_silence(brume_pg_connection *connection, const char *reason)
{
    const char *level = brume_pg_show(connection->settings, "client_min_messages");
    char message[300];
    if (!reason || !level || strncmp(level, "debug", 5) != 0)
        return;
    snprintf(message, sizeof message, "this query of the catalog is not answered: %.200s", reason);
    brume_utf8_mend(message);
    brume_pg_notice(connection, "DEBUG", "00000", message, NULL, NULL);
}

static brume_status fill_table(const json_t *answer, brume_pg_table *table, brume_error *error)
{
    size_t i, j;
    const json_t *one, *cell;
    json_array_foreach (json_object_get(answer, "columns"), i, one)
        BRUME_TRY(brume_pg_table_add_column(table, json_string_value(json_array_get(one, 0)),
                                            (uint32_t)json_integer_value(json_array_get(one, 1)),
                                            error));
    json_array_foreach (json_object_get(answer, "rows"), i, one) {
        char **row = brume_pg_table_add_row(table);
        json_array_foreach (one, j, cell)
            if (row && json_is_string(cell) && !(row[j] = strdup(json_string_value(cell))))
                row = NULL;
        if (!row)
            return brume_no_memory(error, "the answer");
    }
    return BRUME_OK;
}

static brume_status ask(brume_pg_connection *connection, const char *sql, json_t **answer,
                        brume_error *error)
{
    char *text = NULL, *options;
    brume_pg_outcome outcome = {0};
    json_t *settings = json_array(), *made;
    brume_pg_settings_visit(connection->settings, add_setting, settings);
    made = json_pack("{s:s,s:s,s:i,s:o}", "user", connection->user, "database",
                     connection->database, "number", (int)connection->number, "settings", settings);
    options = made ? json_dumps(made, JSON_COMPACT) : NULL;
    json_decref(made);
    if (!options)
        return brume_no_memory(error, "the catalog");
    brume_status status = connection->backend->run(connection->backend->context, "catalog", sql,
                                                   options, &text, &outcome, error);
    free(options);
    if (status == BRUME_EUNKNOWN)
        snprintf(connection->sqlstate, sizeof connection->sqlstate, "42P01");
    if (status != BRUME_OK && outcome.busy)
        snprintf(connection->sqlstate, sizeof connection->sqlstate, "53300");
    if (status != BRUME_OK)
        return status;
    *answer = json_loads(text, JSON_ALLOW_NUL, NULL);
    brume_free(text);
    return *answer ? BRUME_OK : brume_fail(error, BRUME_EINTERNAL, NULL, "the answer is none");
}

brume_status brume_pg_catalog_query(brume_pg_connection *connection, const char *sql,
                                    brume_pg_table *table, brume_error *error)
{
    PgQuery__ParseResult *tree = NULL;
    json_t *answer = NULL;
    setting_change change = {.connection = connection, .error = error};
    BRUME_TRY(brume_pg_parse(sql, &tree, &connection->position, error));
    brume_pg_visit(&tree->base, change_setting, &change);
    pg_query__parse_result__free_unpacked(tree, NULL);
    BRUME_TRY(change.status);
    BRUME_TRY(ask(connection, sql, &answer, error));
    const char *refused = json_string_value(json_object_get(answer, "refused"));
    brume_status status = refused ? brume_pg_refuse(connection, "42883", NULL, error,
                                                    "this is not answered: %s", refused)
                                  : fill_table(answer, table, error);
    if (status == BRUME_OK)
        explain_silence(connection, json_string_value(json_object_get(answer, "silent")));
    json_decref(answer);
    return status;
}
