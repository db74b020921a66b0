/* One grammar, whichever libpg_query parses: see the header. */
#include "query/sql/grammar.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/sql/tree.h"

brume_status brume_grammar_check_tokens(const PgQuery__ScanResult *tokens, const char *sql,
                                        brume_error *error)
{
    for (size_t i = 0; i < tokens->n_tokens; i++) {
        const PgQuery__ScanToken *token = tokens->tokens[i];
        if (token->token != PG_QUERY__TOKEN__ICONST && token->token != PG_QUERY__TOKEN__FCONST)
            continue;
        const char *number = sql + token->start;
        size_t length = (size_t)(token->end - token->start);
        if (strspn(number, "0123456789.eE+-") < length)
            return brume_fail(error, BRUME_ESYNTAX, "write a number in decimal digits alone",
                              "trailing junk after numeric literal at or near \"%.*s\"",
                              (int)(length < 60 ? length : 60), number);
    }
    return BRUME_OK;
}

static bool has_name(void *context, const ProtobufCMessage *message)
{
    bool *named = context;
    if (message->descriptor == &pg_query__range_subselect__descriptor &&
        !((const PgQuery__RangeSubselect *)message)->alias)
        *named = false;
    return *named;
}

brume_status brume_grammar_check_tree(const PgQuery__ParseResult *tree, brume_error *error)
{
    bool named = true;
    brume_tree_visit(&tree->base, has_name, &named);
    return named ? BRUME_OK
                 : brume_fail(error, BRUME_ESYNTAX, "write FROM (SELECT ...) AS name",
                              "subquery in FROM must have an alias");
}

/* ---- other names ---- */

static bool rename_call(void *context, const ProtobufCMessage *message)
{
    static const char *const names[][2] = {
        {"mean", "avg"},
        {"count_if", "count"},
        {"countif", "count"},
        {"approx_count_distinct", "count"},
        {"quantile", "quantile_disc"},
        {"approx_quantile", "quantile_cont"},
    };
    bool *has_memory = context;
    PgQuery__FuncCall *call = (PgQuery__FuncCall *)message;
    if (message->descriptor != &pg_query__func_call__descriptor || call->n_funcname != 1 ||
        call->funcname[0]->node_case != PG_QUERY__NODE__NODE_STRING)
        return *has_memory;
    PgQuery__String *name = call->funcname[0]->string;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name->sval, names[i][0]) != 0)
            continue;
        bool counts_rows = i == 1 || i == 2;
        if (counts_rows && (call->n_args != 1 || call->agg_filter))
            return true;
        char *other = strdup(names[i][1]);
        if (!other) {
            *has_memory = false;
            return false;
        }
        if (counts_rows) {
            call->agg_filter = call->args[0];
            call->n_args = 0;
            call->agg_star = true;
        }
        call->agg_distinct = call->agg_distinct || i == 3;
        free(name->sval);
        name->sval = other;
        return true;
    }
    return true;
}

brume_status brume_grammar_rename(PgQuery__ParseResult *tree, brume_error *error)
{
    bool has_memory = true;
    brume_tree_visit(&tree->base, rename_call, &has_memory);
    return has_memory ? BRUME_OK : brume_no_memory(error, "a question");
}
