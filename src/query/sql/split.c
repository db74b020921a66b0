/* The statements of a text. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/sql/parse.h"
#include "query/sql/statement.h"

void brume_sql_split_free(char **statements, size_t count)
{
    for (size_t i = 0; statements && i < count; i++)
        free(statements[i]);
    free(statements);
}

/* Add a copy of the statement, but not of one without anything; false if memory ran out. */
static bool add(char ***list, size_t *count, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    char **grown = copy ? realloc(*list, (*count + 2) * sizeof *grown) : NULL;
    if (grown)
        *list = grown;
    if (!grown || brume_statement_is_blank(copy)) {
        free(copy);
        return grown != NULL;
    }
    grown[(*count)++] = copy;
    return true;
}

brume_status brume_sql_split(const char *text, char ***statements, size_t *count,
                             brume_error *error)
{
    char **list = calloc(1, sizeof *list);
    size_t used = 0, length = 0;
    bool good = list != NULL;
    while (good && (length = brume_statement_length(text)) > 0) {
        good = add(&list, &used, text, length - 1);
        text += length;
    }
    if (!good || !add(&list, &used, text, strlen(text))) {
        brume_sql_split_free(list, used);
        return brume_no_memory(error, "the statements");
    }
    *statements = list;
    *count = used;
    return BRUME_OK;
}
