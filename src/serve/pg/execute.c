/* Describing and running portals. Promises: connection.h. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/catalog/catalog.h"
#include "serve/pg/connection.h"

/* In a transaction that failed nothing runs but its end. */
static brume_status check_transaction(brume_pg_connection *connection,
                                      const brume_pg_statement *statement, brume_error *error)
{
    if (connection->transaction != 'E' || statement->kind == BRUME_PG_EMPTY)
        return BRUME_OK;
    if (statement->kind == BRUME_PG_TRANSACTION) {
        PgQuery__TransactionStmtKind kind = statement->node->transaction_stmt->kind;
        if (kind == PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT ||
            kind == PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK ||
            kind == PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO)
            return BRUME_OK;
    }
    return brume_pg_refuse(connection, "25P02", "send ROLLBACK", error,
                           "current transaction is aborted, commands ignored until end of "
                           "transaction block");
}

static brume_status refuse_kind(brume_pg_connection *connection,
                                const brume_pg_statement *statement, brume_error *error)
{
    if (statement->node->node_case == PG_QUERY__NODE__NODE_SELECT_STMT &&
        !statement->node->select_stmt->into_clause)
        return brume_pg_refuse(connection, "0A000", "ask them one by one", error,
                               "a query of the catalog cannot read datasets");
    return brume_pg_refuse(connection, "0A000",
                           "SELECT, EXPLAIN, SET, SHOW, PREPARE and cursors are served", error,
                           "brume answers questions and changes nothing");
}

/* The query that EXPLAIN is of. */
static brume_status explain_text(brume_pg_connection *connection,
                                 const brume_pg_statement *statement, const char **sql,
                                 brume_error *error)
{
    const PgQuery__ExplainStmt *explain = statement->node->explain_stmt;
    PgQuery__ScanResult *tokens = brume_pg_scan(statement->text);
    int depth = 0;
    *sql = NULL;
    for (size_t i = 1; tokens && i < tokens->n_tokens && !*sql; i++) {
        PgQuery__Token kind = tokens->tokens[i]->token;
        depth += kind == PG_QUERY__TOKEN__ASCII_40;
        depth -= kind == PG_QUERY__TOKEN__ASCII_41;
        if (depth == 0 && (kind == PG_QUERY__TOKEN__SELECT || kind == PG_QUERY__TOKEN__WITH))
            *sql = statement->text + tokens->tokens[i]->start;
    }
    if (tokens)
        pg_query__scan_result__free_unpacked(tokens, NULL);
    if (!*sql || explain->query->node_case != PG_QUERY__NODE__NODE_SELECT_STMT ||
        brume_pg_select_kind(&explain->query->select_stmt->base) != BRUME_PG_ASK)
        return brume_pg_refuse(connection, "0A000", "EXPLAIN SELECT ... FROM a dataset", error,
                               "only questions to datasets are explained");
    for (size_t i = 0; i < explain->n_options; i++)
        if (explain->options[i]->node_case == PG_QUERY__NODE__NODE_DEF_ELEM &&
            strcmp(explain->options[i]->def_elem->defname, "analyze") == 0)
            return brume_pg_refuse(connection, "0A000", "leave ANALYZE out", error,
                                   "EXPLAIN spends nothing, and so cannot run the query");
    return BRUME_OK;
}

static brume_status no_columns(brume_pg_portal *portal)
{
    portal->has_columns = true;
    return BRUME_OK;
}

brume_status brume_pg_portal_describe(brume_pg_connection *connection, brume_pg_portal *portal,
                                      brume_error *error)
{
    brume_status status = BRUME_OK;
    if (portal->has_columns)
        return BRUME_OK;
    BRUME_TRY(check_transaction(connection, portal->statement, error));
    BRUME_TRY(brume_pg_resolve(connection, portal, error));
    brume_pg_statement *statement = portal->statement;
    switch (statement->kind) {
    case BRUME_PG_ASK:
        status = brume_pg_ask_describe(connection, statement->text, &portal->table, &portal->is_run,
                                       error);
        break;
    case BRUME_PG_CATALOG:
        status = brume_pg_catalog_query(connection, statement->text, &portal->table, error);
        portal->is_run = status == BRUME_OK;
        break;
    case BRUME_PG_EXPLAIN:
        status = brume_pg_table_add_column(&portal->table, "QUERY PLAN", BRUME_PG_TEXT, error);
        break;
    case BRUME_PG_SHOW:
        status = brume_pg_command_show(connection, statement->node->variable_show_stmt,
                                       &portal->table, error);
        portal->is_run = status == BRUME_OK;
        break;
    case BRUME_PG_FETCH:
        status =
            brume_pg_fetch_describe(connection, statement->node->fetch_stmt, &portal->table, error);
        break;
    case BRUME_PG_REFUSED:
        return refuse_kind(connection, statement, error);
    default:
        return no_columns(portal);
    }
    if (status != BRUME_OK)
        brume_pg_table_clear(&portal->table);
    portal->has_columns = status == BRUME_OK;
    return portal->has_columns && portal->is_run ? brume_pg_portal_hold(connection, portal, error)
                                                 : status;
}

/* Run what describing has not run. */
static brume_status run(brume_pg_connection *connection, brume_pg_portal *portal,
                        brume_error *error)
{
    brume_pg_statement *statement = portal->statement;
    const brume_pg_table *known = portal->has_columns ? &portal->table : &portal->promised;
    brume_pg_table table = {0};
    const char *sql = NULL;
    brume_status status = BRUME_OK;
    switch (statement->kind) {
    case BRUME_PG_ASK:
        status = brume_pg_ask(connection, statement->text, known, &table, error);
        break;
    case BRUME_PG_EXPLAIN:
        BRUME_TRY(explain_text(connection, statement, &sql, error));
        status = brume_pg_ask_explain(connection, sql, &table, error);
        break;
    case BRUME_PG_FETCH:
        status =
            brume_pg_fetch(connection, statement->node->fetch_stmt, &table, portal->tag, error);
        break;
    case BRUME_PG_DECLARE:
        snprintf(portal->tag, sizeof portal->tag, "DECLARE CURSOR");
        status = brume_pg_declare(connection, statement, error);
        break;
    case BRUME_PG_CLOSE:
        status = brume_pg_close_cursor(connection, statement->node->close_portal_stmt, portal->tag,
                                       error);
        break;
    case BRUME_PG_PREPARE:
        brume_pg_set_tag(portal->tag, "PREPARE");
        status = brume_pg_prepare(connection, statement, error);
        break;
    case BRUME_PG_EMPTY:
        break;
    case BRUME_PG_REFUSED:
        return refuse_kind(connection, statement, error);
    case BRUME_PG_CATALOG:
    case BRUME_PG_SHOW:
        return brume_pg_portal_describe(connection, portal, error); /* which runs it */
    default:
        status = brume_pg_command(connection, statement->node, portal->tag, error);
        break;
    }
    if (status != BRUME_OK) {
        brume_pg_table_clear(&table);
        return status;
    }
    brume_pg_table_clear(&portal->table);
    portal->table = table;
    portal->has_columns = portal->is_run = true;
    return brume_pg_portal_hold(connection, portal, error);
}

static brume_status check_formats(brume_pg_connection *connection, const brume_pg_portal *portal,
                                  brume_error *error)
{
    const brume_pg_formats *formats = &portal->formats;
    if (formats->count > 1 && formats->count != portal->table.column_count)
        return brume_pg_refuse(connection, "08P01", NULL, error,
                               "%u result formats for %zu columns", formats->count,
                               portal->table.column_count);
    for (size_t i = 0; i < portal->table.column_count; i++)
        if (brume_pg_format(formats, i) && !brume_pg_has_binary(portal->table.columns[i].type))
            return brume_pg_refuse(connection, "0A000", "ask for the text format", error,
                                   "the type of column \"%.100s\" has no binary format here",
                                   portal->table.columns[i].name);
    return BRUME_OK;
}

/* Does it end with rows, also none? */
static bool has_rows(const brume_pg_portal *portal)
{
    return portal->table.column_count > 0;
}

static void send_rows(brume_pg_connection *connection, brume_pg_portal *portal, uint32_t most,
                      bool describe)
{
    brume_pg_writer *out = &connection->wire->out;
    size_t left = portal->at < portal->table.row_count ? portal->table.row_count - portal->at : 0;
    size_t count = most > 0 && most < left ? most : left;
    char tag[BRUME_PG_TAG];
    if (describe && has_rows(portal))
        brume_pg_put_columns(out, &portal->table, &portal->formats);
    for (size_t i = 0; i < count; i++) {
        brume_pg_put_row(out, &portal->table, portal->at++, &portal->formats);
        if (out->length > 1 << 16)
            (void)brume_pg_wire_flush(connection->wire); /* a failure shows at the next read */
    }
    if (portal->at < portal->table.row_count) {
        brume_pg_put_empty(out, 's');
        return;
    }
    snprintf(tag, sizeof tag, "SELECT %zu", count);
    brume_pg_put_complete(out, *portal->tag ? portal->tag : tag);
}

brume_status brume_pg_portal_execute(brume_pg_connection *connection, brume_pg_portal *portal,
                                     uint32_t most, bool describe, brume_error *error)
{
    BRUME_TRY(check_transaction(connection, portal->statement, error));
    if (portal->statement->kind == BRUME_PG_EMPTY) {
        brume_pg_put_empty(&connection->wire->out, 'I');
        return BRUME_OK;
    }
    BRUME_TRY(brume_pg_resolve(connection, portal, error));
    if (portal->statement->kind == BRUME_PG_ASK && portal->formats.count > 1)
        BRUME_TRY(brume_pg_portal_describe(connection, portal, error)); /* how many columns? */
    if (portal->has_columns)
        BRUME_TRY(check_formats(connection, portal, error)); /* before anything is spent */
    if (!portal->is_run) {
        connection->running = portal;
        brume_status status = run(connection, portal, error);
        connection->running = NULL;
        BRUME_TRY(status);
    }
    BRUME_TRY(check_formats(connection, portal, error));
    send_rows(connection, portal, most, describe);
    return BRUME_OK;
}
