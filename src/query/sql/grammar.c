/* One grammar, whichever libpg_query parses: see the header. */
#include "query/sql/grammar.h"

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
