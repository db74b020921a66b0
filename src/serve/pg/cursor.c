/* Cursors: DECLARE, FETCH, MOVE, CLOSE. Promises: connection.h.
 *
 * A cursor is a portal whose query runs, and is charged, at its first FETCH; its whole answer is
 * kept, so that it can be read in any direction without asking again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/catalog/catalog.h"
#include "serve/pg/connection.h"

enum { OPTION_BINARY = 0x01, OPTION_HOLD = 0x20 };

/* The query behind FOR, in the text of DECLARE. */
static const char *query_of(const brume_pg_statement *statement)
{
    PgQuery__ScanResult *tokens = brume_pg_scan(statement->text);
    const char *found = NULL;
    for (size_t i = 0; tokens && i + 1 < tokens->n_tokens && !found; i++)
        if (tokens->tokens[i]->token == PG_QUERY__TOKEN__FOR)
            found = statement->text + tokens->tokens[i + 1]->start;
    if (tokens)
        pg_query__scan_result__free_unpacked(tokens, NULL);
    return found;
}

static brume_status make_cursor(const PgQuery__DeclareCursorStmt *declare,
                                brume_pg_statement *query, brume_pg_portal **out,
                                brume_error *error)
{
    brume_pg_portal *portal = calloc(1, sizeof *portal);
    char *name = strdup(declare->portalname);
    if (!portal || !name) {
        free(portal);
        free(name);
        brume_pg_statement_close(query);
        return brume_no_memory(error, "the cursor");
    }
    portal->name = name;
    portal->statement = query;
    portal->is_cursor = true;
    portal->holds = (declare->options & OPTION_HOLD) != 0;
    *out = portal;
    return BRUME_OK;
}

brume_status brume_pg_declare(brume_pg_connection *connection, const brume_pg_statement *statement,
                              brume_error *error)
{
    const PgQuery__DeclareCursorStmt *declare = statement->node->declare_cursor_stmt;
    const char *text = query_of(statement);
    brume_pg_statement *query = NULL;
    brume_pg_portal *portal = NULL;
    int position = 0;
    if (connection->transaction == 'I' && !(declare->options & OPTION_HOLD))
        return brume_pg_refuse(connection, "25P01", "BEGIN first, or declare it WITH HOLD", error,
                               "DECLARE CURSOR can only be used in transaction blocks");
    if (declare->options & OPTION_BINARY)
        return brume_pg_refuse(connection, "0A000", NULL, error,
                               "binary cursors are not supported");
    BRUME_TRY(brume_pg_statement_open(text ? text : "", &query, &position, error));
    if (query->kind != BRUME_PG_ASK && query->kind != BRUME_PG_CATALOG) {
        brume_pg_statement_close(query);
        return brume_pg_refuse(connection, "0A000", NULL, error, "a cursor is of a SELECT");
    }
    BRUME_TRY(make_cursor(declare, query, &portal, error));
    /* What is wrong with the query is said now, as everywhere. */
    brume_status status = brume_pg_portal_describe(connection, portal, error);
    if (status != BRUME_OK) {
        brume_pg_portal_free(portal);
        return status;
    }
    return brume_pg_add_portal(connection, portal, error);
}

static brume_status find_cursor(brume_pg_connection *connection, const char *name,
                                brume_pg_portal **out, brume_error *error)
{
    brume_pg_portal *found = brume_pg_find_portal(connection, name);
    bool is_query = found && (found->statement->kind == BRUME_PG_ASK ||
                              found->statement->kind == BRUME_PG_CATALOG);
    if (!is_query)
        return brume_pg_refuse(connection, "34000", "DECLARE it in this transaction", error,
                               "the cursor \"%.100s\" does not exist", name);
    *out = found;
    return BRUME_OK;
}

brume_status brume_pg_close_cursor(brume_pg_connection *connection,
                                   const PgQuery__ClosePortalStmt *close, char tag[BRUME_PG_TAG],
                                   brume_error *error)
{
    brume_pg_portal *portal = NULL;
    bool all = !*close->portalname;
    brume_pg_set_tag(tag, all ? "CLOSE CURSOR ALL" : "CLOSE CURSOR");
    if (!all) {
        BRUME_TRY(find_cursor(connection, close->portalname, &portal, error));
        if (portal->is_cursor)
            brume_pg_drop_portal(connection, close->portalname);
        return BRUME_OK;
    }
    for (size_t i = connection->portal_count; i-- > 0;)
        if (connection->portals[i]->is_cursor)
            brume_pg_drop_portal(connection, connection->portals[i]->name);
    return BRUME_OK;
}

static brume_status copy_columns(const brume_pg_table *from, brume_pg_table *to, brume_error *error)
{
    for (size_t i = 0; i < from->column_count; i++)
        BRUME_TRY(
            brume_pg_table_add_column(to, from->columns[i].name, from->columns[i].type, error));
    return BRUME_OK;
}

brume_status brume_pg_fetch_describe(brume_pg_connection *connection,
                                     const PgQuery__FetchStmt *fetch, brume_pg_table *table,
                                     brume_error *error)
{
    brume_pg_portal *cursor = NULL;
    if (fetch->ismove)
        return BRUME_OK;
    BRUME_TRY(find_cursor(connection, fetch->portalname, &cursor, error));
    BRUME_TRY(brume_pg_portal_describe(connection, cursor, error));
    return copy_columns(&cursor->table, table, error);
}

/* ---- moving ---- */

/* The rows that a FETCH gives: `count` of them from row `first` (from 1), downwards or upwards;
 * then the cursor stands at `at` (0: before the first, rows + 1: behind the last). */
typedef struct movement {
    size_t first, count, at;
    bool backward;
} movement;

static size_t clamp(int64_t place, size_t rows)
{
    return place < 0 ? 0 : (size_t)place > rows ? rows + 1 : (size_t)place;
}

static movement forward(size_t at, size_t rows, int64_t many)
{
    size_t left = at < rows ? rows - at : 0;
    if (many == 0) /* the row it stands on, again */
        return (movement){at, at >= 1 && at <= rows, at, false};
    bool all = (uint64_t)many > left;
    return (movement){at + 1, all ? left : (size_t)many, all ? rows + 1 : at + (size_t)many, false};
}

static movement backward(size_t at, int64_t many)
{
    size_t left = at > 0 ? at - 1 : 0;
    bool all = (uint64_t)many > left;
    return (movement){left, all ? left : (size_t)many, all ? 0 : at - (size_t)many, true};
}

static movement single(int64_t place, size_t rows)
{
    size_t at = clamp(place, rows);
    return (movement){at, at >= 1 && at <= rows, at, false};
}

static movement move(const PgQuery__FetchStmt *fetch, size_t at, size_t rows)
{
    int64_t many = fetch->how_many;
    switch (fetch->direction) {
    case PG_QUERY__FETCH_DIRECTION__FETCH_ABSOLUTE:
        return single(many < 0
                          ? (int64_t)rows + 1 + (many < -(int64_t)rows ? -(int64_t)rows - 1 : many)
                          : many,
                      rows);
    case PG_QUERY__FETCH_DIRECTION__FETCH_RELATIVE:
        if (many > (int64_t)rows + 1)
            many = (int64_t)rows + 1;
        if (many < -(int64_t)rows - 1)
            many = -(int64_t)rows - 1;
        return single((int64_t)at + many, rows);
    case PG_QUERY__FETCH_DIRECTION__FETCH_BACKWARD:
        return many < 0    ? forward(at, rows, many == INT64_MIN ? INT64_MAX : -many)
               : many == 0 ? forward(at, rows, 0)
                           : backward(at, many);
    default:
        return many < 0 ? backward(at, many == INT64_MIN ? INT64_MAX : -many)
                        : forward(at, rows, many);
    }
}

static brume_status copy_rows(const brume_pg_table *from, movement moved, brume_pg_table *to,
                              brume_error *error)
{
    for (size_t i = 0; i < moved.count; i++) {
        size_t place = moved.backward ? moved.first - i : moved.first + i;
        char **row = brume_pg_table_add_row(to);
        for (size_t j = 0; row && j < from->column_count; j++) {
            const char *cell = from->cells[(place - 1) * from->column_count + j];
            if (cell && !(row[j] = strdup(cell)))
                row = NULL;
        }
        if (!row)
            return brume_no_memory(error, "the rows");
    }
    return BRUME_OK;
}

/* Run the cursor's query, if it has not run. */
static brume_status run_cursor(brume_pg_connection *connection, brume_pg_portal *cursor,
                               brume_error *error)
{
    brume_pg_table table = {0};
    if (cursor->is_run)
        return BRUME_OK;
    BRUME_TRY(brume_pg_portal_describe(connection, cursor, error));
    if (cursor->is_run)
        return BRUME_OK;
    brume_status status =
        brume_pg_ask(connection, cursor->statement->text, &cursor->table, &table, error);
    if (status != BRUME_OK) {
        brume_pg_table_clear(&table);
        return status;
    }
    brume_pg_table_clear(&cursor->table);
    cursor->table = table;
    cursor->is_run = true;
    return brume_pg_portal_hold(connection, cursor, error);
}

brume_status brume_pg_fetch(brume_pg_connection *connection, const PgQuery__FetchStmt *fetch,
                            brume_pg_table *table, char tag[BRUME_PG_TAG], brume_error *error)
{
    brume_pg_portal *cursor = NULL;
    BRUME_TRY(find_cursor(connection, fetch->portalname, &cursor, error));
    BRUME_TRY(run_cursor(connection, cursor, error));
    movement moved = move(fetch, cursor->at, cursor->table.row_count);
    if (!fetch->ismove) {
        BRUME_TRY(copy_columns(&cursor->table, table, error));
        BRUME_TRY(copy_rows(&cursor->table, moved, table, error));
    }
    cursor->at = moved.at;
    snprintf(tag, BRUME_PG_TAG, "%s %zu", fetch->ismove ? "MOVE" : "FETCH", moved.count);
    return BRUME_OK;
}
