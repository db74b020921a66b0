/* Statements that are no queries: SET, SHOW, transactions, DEALLOCATE, DISCARD. Promises:
 * connection.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/connection.h"

enum { VALUE_TEXT = 1100 };

/* ---- SET ---- */

/* A list of values as one text: 'a', b -> "a, b". */
static void join_values(const PgQuery__VariableSetStmt *set, char text[VALUE_TEXT])
{
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < set->n_args && at < VALUE_TEXT; i++) {
        const PgQuery__Node *node = set->args[i];
        const char *comma = i > 0 ? ", " : "";
        char number[32];
        const char *value = "";
        if (node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST) /* TIME ZONE INTERVAL '...' */
            node = node->type_cast->arg;
        if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
            const PgQuery__AConst *constant = node->a_const;
            if (constant->val_case == PG_QUERY__A__CONST__VAL_IVAL) {
                snprintf(number, sizeof number, "%d", constant->ival->ival);
                value = number;
            } else if (constant->val_case == PG_QUERY__A__CONST__VAL_FVAL) {
                value = constant->fval->fval;
            } else if (constant->val_case == PG_QUERY__A__CONST__VAL_SVAL) {
                value = constant->sval->sval;
            } else if (constant->val_case == PG_QUERY__A__CONST__VAL_BOOLVAL) {
                value = constant->boolval->boolval ? "on" : "off";
            }
        }
        int wrote = snprintf(text + at, VALUE_TEXT - at, "%s%s", comma, value);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
}

static brume_status set(brume_pg_connection *connection, const PgQuery__VariableSetStmt *set,
                        brume_error *error)
{
    char value[VALUE_TEXT];
    switch (set->kind) {
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE:
        join_values(set, value);
        return brume_pg_set(connection->settings, set->name, value, set->is_local, error);
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET:
        return brume_pg_set(connection->settings, set->name, NULL, set->is_local, error);
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL:
        return brume_pg_reset_all(connection->settings, error);
    default: /* SET TRANSACTION and its like: nothing depends on it */
        return BRUME_OK;
    }
}

/* ---- SHOW ---- */

typedef struct listing {
    brume_pg_table *table;
    bool failed;
} listing;

static void add_setting(void *context, const char *name, const char *value, const char *description)
{
    listing *all = context;
    char **row = all->failed ? NULL : brume_pg_table_add_row(all->table);
    all->failed = !row || !(row[0] = strdup(name)) || !(row[1] = strdup(value)) ||
                  !(row[2] = strdup(description));
}

brume_status brume_pg_command_show(brume_pg_connection *connection,
                                   const PgQuery__VariableShowStmt *show, brume_pg_table *table,
                                   brume_error *error)
{
    if (strcmp(show->name, "all") == 0) {
        listing all = {.table = table};
        BRUME_TRY(brume_pg_table_add_column(table, "name", BRUME_PG_TEXT, error));
        BRUME_TRY(brume_pg_table_add_column(table, "setting", BRUME_PG_TEXT, error));
        BRUME_TRY(brume_pg_table_add_column(table, "description", BRUME_PG_TEXT, error));
        brume_pg_settings_visit(connection->settings, add_setting, &all);
        return all.failed ? brume_no_memory(error, "the settings") : BRUME_OK;
    }
    const char *value = brume_pg_show(connection->settings, show->name);
    if (!value)
        return brume_pg_refuse(connection, "42704", "see SHOW ALL", error,
                               "unrecognized configuration parameter \"%.100s\"", show->name);
    return brume_pg_table_single(table, show->name, value, error);
}

/* ---- transactions ---- */

static brume_status begin(brume_pg_connection *connection, brume_error *error)
{
    if (connection->transaction != 'I') {
        brume_pg_notice(connection, "WARNING", "25001",
                        "there is already a transaction in progress", NULL, NULL);
        return BRUME_OK;
    }
    BRUME_TRY(brume_pg_settings_begin(connection->settings, error));
    connection->transaction = 'T';
    connection->charged = false;
    return BRUME_OK;
}

static void end(brume_pg_connection *connection, bool commit)
{
    if (connection->transaction == 'I')
        brume_pg_notice(connection, "WARNING", "25P01", "there is no transaction in progress", NULL,
                        NULL);
    else if (!commit && connection->charged)
        brume_pg_notice(connection, "NOTICE", "00000",
                        "what was answered in this transaction stays charged",
                        "An answer that was given cannot be taken back.",
                        "the same question at the same price is read again for free");
    brume_pg_settings_end(connection->settings, commit);
    brume_pg_drop_portals(connection, commit);
    connection->transaction = 'I';
    connection->charged = false;
}

static brume_status transaction(brume_pg_connection *connection,
                                const PgQuery__TransactionStmt *statement, char tag[BRUME_PG_TAG],
                                brume_error *error)
{
    bool failed = connection->transaction == 'E';
    switch (statement->kind) {
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START:
        brume_pg_set_tag(tag, statement->kind == PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN
                                  ? "BEGIN"
                                  : "START TRANSACTION");
        return begin(connection, error);
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT:
        brume_pg_set_tag(tag, failed ? "ROLLBACK" : "COMMIT");
        end(connection, !failed);
        break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK:
        brume_pg_set_tag(tag, "ROLLBACK");
        end(connection, false);
        break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT:
        brume_pg_set_tag(tag, "SAVEPOINT");
        return BRUME_OK;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE:
        brume_pg_set_tag(tag, "RELEASE");
        return BRUME_OK;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO:
        brume_pg_set_tag(tag, "ROLLBACK");
        if (connection->transaction == 'E')
            connection->transaction = 'T';
        return BRUME_OK;
    default:
        return brume_pg_refuse(connection, "0A000", NULL, error,
                               "prepared transactions are not supported");
    }
    return statement->chain ? begin(connection, error) : BRUME_OK;
}

/* ---- the rest ---- */

static brume_status deallocate(brume_pg_connection *connection,
                               const PgQuery__DeallocateStmt *statement, char tag[BRUME_PG_TAG],
                               brume_error *error)
{
    bool all = !*statement->name;
    brume_pg_set_tag(tag, all ? "DEALLOCATE ALL" : "DEALLOCATE");
    if (!all && !brume_pg_find_prepared(connection, statement->name))
        return brume_pg_refuse(connection, "26000", NULL, error,
                               "the prepared statement \"%.100s\" does not exist", statement->name);
    brume_pg_drop_prepared(connection, all ? NULL : statement->name);
    return BRUME_OK;
}

static brume_status discard(brume_pg_connection *connection, const PgQuery__DiscardStmt *statement,
                            char tag[BRUME_PG_TAG], brume_error *error)
{
    bool all = statement->target == PG_QUERY__DISCARD_MODE__DISCARD_ALL;
    brume_pg_set_tag(tag, all ? "DISCARD ALL" : "DISCARD");
    if (!all)
        return BRUME_OK;
    if (connection->transaction != 'I')
        return brume_pg_refuse(connection, "25001", NULL, error,
                               "DISCARD ALL cannot run inside a transaction block");
    brume_pg_drop_prepared(connection, NULL);
    for (size_t i = connection->portal_count; i-- > 0;) /* not the one that runs this */
        if (connection->portals[i]->is_cursor)
            brume_pg_drop_portal(connection, connection->portals[i]->name);
    return brume_pg_reset_all(connection->settings, error);
}

brume_status brume_pg_command(brume_pg_connection *connection, const PgQuery__Node *node,
                              char tag[BRUME_PG_TAG], brume_error *error)
{
    brume_status status = BRUME_OK;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT: {
        PgQuery__VariableSetKind kind = node->variable_set_stmt->kind;
        brume_pg_set_tag(tag, kind == PG_QUERY__VARIABLE_SET_KIND__VAR_RESET ||
                                      kind == PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL
                                  ? "RESET"
                                  : "SET");
        status = set(connection, node->variable_set_stmt, error);
        break;
    }
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
        status = transaction(connection, node->transaction_stmt, tag, error);
        break;
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT:
        status = deallocate(connection, node->deallocate_stmt, tag, error);
        break;
    case PG_QUERY__NODE__NODE_DISCARD_STMT:
        status = discard(connection, node->discard_stmt, tag, error);
        break;
    case PG_QUERY__NODE__NODE_LISTEN_STMT:
        brume_pg_set_tag(tag, "LISTEN");
        break;
    default:
        brume_pg_set_tag(tag, "UNLISTEN");
        break;
    }
    brume_pg_settings_report(connection->settings, &connection->wire->out);
    return status;
}
