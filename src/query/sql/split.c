/* The statements of a text: cut by the grammar's own scanner, which knows quotes and comments. */
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

static brume_status copy_parts(const char *text, const PgQuerySplitResult *parts,
                               char ***statements, size_t *count, brume_error *error)
{
    size_t most = (size_t)parts->n_stmts, used = 0;
    char **list = calloc(most + 1, sizeof *list);
    bool good = list != NULL;
    for (size_t i = 0; good && i < most; i++) {
        const PgQuerySplitStmt *part = parts->stmts[i];
        char *copy = strndup(text + part->stmt_location, (size_t)part->stmt_len);
        good = copy != NULL;
        if (copy && !copy[strspn(copy, " \t\r\n")])
            free(copy);
        else if (copy)
            list[used++] = copy;
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
    PgQuerySplitResult parts = pg_query_split_with_scanner(text);
    brume_status status =
        parts.error ? brume_fail(error, BRUME_ESYNTAX, NULL, "%.300s at position %d",
                                 parts.error->message ? parts.error->message : "syntax error",
                                 parts.error->cursorpos)
                    : copy_parts(text, &parts, statements, count, error);
    pg_query_free_split_result(parts);
    return status;
}
