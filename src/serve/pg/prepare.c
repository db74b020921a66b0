/* PREPARE and EXECUTE as statements. Promises: connection.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/pg/connection.h"

/* ---- types ---- */

/* The number of a type that is named in SQL; 0: the catalog has none of this name. */
static uint32_t type_number(const PgQuery__TypeName *type)
{
    static const struct {
        uint32_t number;
        const char *name;
    } types[] = {
#define BRUME_PG_TYPE(number, name, ...) {number, name},
#include "serve/pg/catalog/types.def"
#undef BRUME_PG_TYPE
    };
    const PgQuery__Node *last = type->n_names > 0 ? type->names[type->n_names - 1] : NULL;
    const char *name = last && last->node_case == PG_QUERY__NODE__NODE_STRING ? last->string->sval
                                                                              : "";
    for (size_t i = 0; type->n_array_bounds == 0 && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].number;
    return 0;
}

static brume_status read_types(brume_pg_connection *connection, const PgQuery__PrepareStmt *prepare,
                               brume_pg_prepared *prepared, brume_error *error)
{
    size_t told = prepare->n_argtypes, needed = prepared->statement->parameter_count;
    if (told > BRUME_PG_MOST_PARAMETERS || needed > BRUME_PG_MOST_PARAMETERS)
        return brume_pg_refuse(connection, "54000", NULL, error, "more than %d parameters",
                               BRUME_PG_MOST_PARAMETERS);
    prepared->type_count = told > needed ? told : needed;
    prepared->types = calloc(prepared->type_count + 1, sizeof *prepared->types);
    if (!prepared->types)
        return brume_no_memory(error, "the statement");
    for (size_t i = 0; i < told; i++) {
        const PgQuery__Node *node = prepare->argtypes[i];
        prepared->types[i] =
            node->node_case == PG_QUERY__NODE__NODE_TYPE_NAME ? type_number(node->type_name) : 0;
        if (!prepared->types[i])
            return brume_pg_refuse(connection, "42704", "booleans, numbers, texts, dates", error,
                                   "parameter $%zu has a type that is not known", i + 1);
    }
    return BRUME_OK;
}

/* ---- PREPARE ---- */

/* The query behind AS, in the text of PREPARE name (types) AS query. */
static const char *query_of(const brume_pg_statement *statement)
{
    PgQuery__ScanResult *tokens = brume_pg_scan(statement->text);
    const char *found = NULL;
    int depth = 0;
    for (size_t i = 2; tokens && i + 1 < tokens->n_tokens && !found; i++) {
        PgQuery__Token kind = tokens->tokens[i]->token;
        depth += kind == PG_QUERY__TOKEN__ASCII_40;
        depth -= kind == PG_QUERY__TOKEN__ASCII_41;
        if (depth == 0 && kind == PG_QUERY__TOKEN__AS)
            found = statement->text + tokens->tokens[i + 1]->start;
    }
    if (tokens)
        pg_query__scan_result__free_unpacked(tokens, NULL);
    return found;
}

static bool is_select(const brume_pg_statement *statement)
{
    return statement->kind == BRUME_PG_ASK || statement->kind == BRUME_PG_CATALOG;
}

brume_status brume_pg_prepare(brume_pg_connection *connection, const brume_pg_statement *statement,
                              brume_error *error)
{
    const PgQuery__PrepareStmt *prepare = statement->node->prepare_stmt;
    const char *text = query_of(statement);
    brume_pg_prepared *prepared = calloc(1, sizeof *prepared);
    if (!prepared || !(prepared->name = strdup(prepare->name))) {
        free(prepared);
        return brume_no_memory(error, "the statement");
    }
    brume_status status = brume_pg_statement_open(text ? text : "", &prepared->statement,
                                                  &connection->position, error);
    if (status == BRUME_OK && !is_select(prepared->statement))
        status = brume_pg_refuse(connection, "0A000", NULL, error, "only a SELECT is prepared");
    if (status == BRUME_OK)
        status = read_types(connection, prepare, prepared, error);
    if (status != BRUME_OK) {
        brume_pg_prepared_free(prepared);
        return status;
    }
    return brume_pg_add_prepared(connection, prepared, error);
}

/* ---- EXECUTE ---- */

/* A constant, also one that is cast: its text, and a type where none was told before. */
static brume_status read_constant(brume_pg_connection *connection, const PgQuery__Node *node,
                                  uint32_t type, brume_pg_value *out, brume_error *error)
{
    char number[16];
    const char *text = NULL;
    if (node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST) {
        if (!type && node->type_cast->type_name)
            type = type_number(node->type_cast->type_name);
        node = node->type_cast->arg;
    }
    if (node->node_case != PG_QUERY__NODE__NODE_A_CONST)
        return brume_pg_refuse(connection, "0A000", "write constants", error,
                               "the parameters of EXECUTE must be constants");
    const PgQuery__AConst *constant = node->a_const;
    uint32_t own = 0;
    if (constant->isnull)
        return BRUME_OK;
    switch (constant->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        snprintf(number, sizeof number, "%d", constant->ival->ival);
        text = number;
        own = BRUME_PG_INT4;
        break;
    case PG_QUERY__A__CONST__VAL_FVAL:
        text = constant->fval->fval;
        own = BRUME_PG_NUMERIC;
        break;
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
        text = constant->boolval->boolval ? "t" : "f";
        own = BRUME_PG_BOOL;
        break;
    case PG_QUERY__A__CONST__VAL_SVAL:
        text = constant->sval->sval;
        break;
    default:
        return brume_pg_refuse(connection, "0A000", NULL, error, "bit strings are not supported");
    }
    return brume_pg_value_read(type ? type : own, 0, (const uint8_t *)text, strlen(text), out,
                               error);
}

static brume_status read_constants(brume_pg_connection *connection,
                                   const PgQuery__ExecuteStmt *execute,
                                   const brume_pg_prepared *prepared, brume_pg_value *values,
                                   brume_error *error)
{
    if (execute->n_params != prepared->type_count)
        return brume_pg_refuse(connection, "42601", NULL, error,
                               "%zu parameters are given, and %zu are needed", execute->n_params,
                               prepared->type_count);
    for (size_t i = 0; i < prepared->type_count; i++)
        BRUME_TRY(
            read_constant(connection, execute->params[i], prepared->types[i], &values[i], error));
    return BRUME_OK;
}

brume_status brume_pg_resolve(brume_pg_connection *connection, brume_pg_portal *portal,
                              brume_error *error)
{
    if (portal->statement->kind != BRUME_PG_EXECUTE)
        return BRUME_OK;
    const PgQuery__ExecuteStmt *execute = portal->statement->node->execute_stmt;
    const brume_pg_prepared *prepared = brume_pg_find_prepared(connection, execute->name);
    if (!prepared)
        return brume_pg_refuse(connection, "26000", NULL, error,
                               "the prepared statement \"%.100s\" does not exist", execute->name);
    if (!is_select(prepared->statement))
        return brume_pg_refuse(connection, "0A000", NULL, error, "only a SELECT is run by EXECUTE");
    brume_pg_value *values = calloc(prepared->type_count + 1, sizeof *values);
    brume_pg_portal *bound = NULL;
    if (!values)
        return brume_no_memory(error, "the parameters");
    brume_status status = read_constants(connection, execute, prepared, values, error);
    if (status == BRUME_OK)
        status = brume_pg_bind(connection, prepared, "", values, &bound, error);
    for (size_t i = 0; i < prepared->type_count; i++)
        free(values[i].text);
    free(values);
    BRUME_TRY(status);
    brume_pg_statement *before = portal->statement; /* the query takes the place of EXECUTE */
    portal->statement = bound->statement;
    bound->statement = before;
    brume_pg_portal_free(bound);
    return BRUME_OK;
}
