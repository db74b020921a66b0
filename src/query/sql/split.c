/* The statements of a text: cut between the tokens of the grammar's own scanner, which
 * knows quotes and comments. */
#include <pg_query.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/sql/parse.h"

void brume_sql_split_free(char **statements, size_t count)
{
    for (size_t i = 0; statements && i < count; i++)
        free(statements[i]);
    free(statements);
}

static bool is_comment(const PgQuery__ScanToken *token)
{
    return token->token == PG_QUERY__TOKEN__SQL_COMMENT ||
           token->token == PG_QUERY__TOKEN__C_COMMENT;
}

/* One statement from each token that is no comment to the next ;. */
static brume_status cut(const char *text, const PgQuery__ScanResult *tokens, char ***statements,
                        size_t *count, brume_error *error)
{
    char **list = calloc(tokens->n_tokens + 1, sizeof *list);
    size_t used = 0;
    bool good = list != NULL;
    for (size_t i = 0, end; good && i < tokens->n_tokens; i = end + 1) {
        size_t first = i;
        while (first < tokens->n_tokens && is_comment(tokens->tokens[first]))
            first++;
        for (end = first; end < tokens->n_tokens;)
            if (tokens->tokens[end]->token == PG_QUERY__TOKEN__ASCII_59)
                break;
            else
                end++;
        if (end == first)
            continue;
        size_t from = (size_t)tokens->tokens[first]->start;
        good = (list[used] = strndup(text + from, (size_t)tokens->tokens[end - 1]->end - from));
        used += good;
    }
    if (!good) {
        brume_sql_split_free(list, used);
        return brume_no_memory(error, "the statements");
    }
    *statements = list;
    *count = used;
    return BRUME_OK;
}

brume_status brume_sql_split(const char *text, char ***statements, size_t *count,
                             brume_error *error)
{
    PgQueryScanResult scanned = pg_query_scan(text);
    PgQuery__ScanResult *tokens = NULL;
    brume_status status = BRUME_OK;
    if (scanned.error)
        status = brume_fail(error, BRUME_ESYNTAX, NULL, "%.300s at position %d",
                            scanned.error->message ? scanned.error->message : "syntax error",
                            scanned.error->cursorpos);
    else if (!(tokens = pg_query__scan_result__unpack(NULL, scanned.pbuf.len,
                                                      (const uint8_t *)scanned.pbuf.data)))
        status = brume_no_memory(error, "the statements");
    else
        status = cut(text, tokens, statements, count, error);
    if (tokens)
        pg_query__scan_result__free_unpacked(tokens, NULL);
    pg_query_free_scan_result(scanned);
    return status;
}
