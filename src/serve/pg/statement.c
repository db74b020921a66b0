/* Statements. Promises: statement.h. */
#include "serve/pg/statement.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/catalog/relation.h"

void brume_pg_split_free(char **list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        free(list[i]);
    free((void *)list);
}

brume_status brume_pg_split(const char *text, char ***list, size_t *count, int *position,
                            brume_error *error)
{
    PgQuery__ParseResult *tree = NULL;
    BRUME_TRY(brume_pg_parse(text, &tree, position, error));
    size_t length = strlen(text), found = tree->n_stmts;
    char **made = calloc(found + 1, sizeof *made);
    bool fits = made != NULL;
    for (size_t i = 0; fits && i < found; i++) {
        size_t start = (size_t)tree->stmts[i]->stmt_location;
        size_t size = (size_t)tree->stmts[i]->stmt_len;
        start = start < length ? start : length;
        if (size == 0 || size > length - start)
            size = length - start;
        made[i] = strndup(text + start, size);
        fits = made[i] != NULL;
    }
    pg_query__parse_result__free_unpacked(tree, NULL);
    if (!fits) {
        brume_pg_split_free(made, found);
        return brume_no_memory(error, "the statements");
    }
    *list = made;
    *count = found;
    return BRUME_OK;
}

/* ---- kinds ---- */

typedef struct tables_read {
    const ProtobufCMessage *root;
    bool catalog, data;
} tables_read;

static bool note_table(void *context, const ProtobufCMessage *message)
{
    tables_read *all = context;
    if (message->descriptor != &pg_query__range_var__descriptor)
        return true;
    const PgQuery__RangeVar *table = (const PgQuery__RangeVar *)message;
    if (!*table->schemaname && brume_pg_has_with(all->root, table->relname))
        return true; /* what it reads is in the tree as well */
    bool catalog = strcmp(table->schemaname, "pg_catalog") == 0 ||
                   strcmp(table->schemaname, "information_schema") == 0 ||
                   (!*table->schemaname && brume_pg_relation_find("pg_catalog", table->relname));
    all->catalog = all->catalog || catalog;
    all->data = all->data || !catalog;
    return true;
}

brume_pg_kind brume_pg_select_kind(const ProtobufCMessage *select)
{
    tables_read all = {.root = select};
    brume_pg_visit(select, note_table, &all);
    if (all.data && all.catalog)
        return BRUME_PG_REFUSED;
    return all.data ? BRUME_PG_ASK : BRUME_PG_CATALOG;
}

static brume_pg_kind kind_of(const PgQuery__Node *node)
{
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
        return node->select_stmt->into_clause ? BRUME_PG_REFUSED
                                              : brume_pg_select_kind(&node->select_stmt->base);
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
        return BRUME_PG_EXPLAIN;
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
        return BRUME_PG_SET;
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
        return BRUME_PG_SHOW;
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
        return BRUME_PG_TRANSACTION;
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
        return BRUME_PG_DECLARE;
    case PG_QUERY__NODE__NODE_FETCH_STMT:
        return BRUME_PG_FETCH;
    case PG_QUERY__NODE__NODE_CLOSE_PORTAL_STMT:
        return BRUME_PG_CLOSE;
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
        return BRUME_PG_PREPARE;
    case PG_QUERY__NODE__NODE_EXECUTE_STMT:
        return BRUME_PG_EXECUTE;
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT:
        return BRUME_PG_DEALLOCATE;
    case PG_QUERY__NODE__NODE_DISCARD_STMT:
        return BRUME_PG_DISCARD;
    case PG_QUERY__NODE__NODE_LISTEN_STMT:
    case PG_QUERY__NODE__NODE_UNLISTEN_STMT:
        return BRUME_PG_NOTHING;
    default:
        return BRUME_PG_REFUSED;
    }
}

static bool note_parameter(void *context, const ProtobufCMessage *message)
{
    size_t *most = context;
    if (message->descriptor == &pg_query__param_ref__descriptor) {
        int number = ((const PgQuery__ParamRef *)message)->number;
        if (number > 0 && (size_t)number > *most)
            *most = (size_t)number;
    }
    return true;
}

static bool add_size(void *context, const ProtobufCMessage *message)
{
    enum { AROUND = 32 }; /* the pointer to it, and what malloc adds */
    size_t *bytes = context;
    *bytes += message->descriptor->sizeof_message + AROUND;
    return true;
}

brume_status brume_pg_statement_open(const char *text, brume_pg_statement **out, int *position,
                                     brume_error *error)
{
    PgQuery__ParseResult *tree = NULL;
    BRUME_TRY(brume_pg_parse(text, &tree, position, error));
    if (tree->n_stmts > 1) {
        pg_query__parse_result__free_unpacked(tree, NULL);
        return brume_fail(error, BRUME_ESYNTAX, NULL,
                          "cannot insert multiple commands into a prepared statement");
    }
    brume_pg_statement *made = calloc(1, sizeof *made);
    char *copy = strdup(text);
    if (!made || !copy) {
        pg_query__parse_result__free_unpacked(tree, NULL);
        free(made);
        free(copy);
        return brume_no_memory(error, "the statement");
    }
    *made = (brume_pg_statement){.text = copy, .tree = tree, .bytes = strlen(text)};
    brume_pg_visit(&tree->base, add_size, &made->bytes);
    if (tree->n_stmts == 1) {
        made->node = tree->stmts[0]->stmt;
        made->kind = kind_of(made->node);
        if (made->kind != BRUME_PG_PREPARE)
            brume_pg_visit(&tree->base, note_parameter, &made->parameter_count);
    }
    *out = made;
    return BRUME_OK;
}

void brume_pg_statement_close(brume_pg_statement *statement)
{
    if (!statement)
        return;
    if (statement->tree)
        pg_query__parse_result__free_unpacked(statement->tree, NULL);
    free(statement->text);
    free(statement);
}
