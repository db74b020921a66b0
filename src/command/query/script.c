/* The statements that `query` is given. */
#include "command/query/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/host.h"
#include "query/sql/parse.h"

enum { MOST_BYTES = 16 * 1024 * 1024 };

static brume_status read_all(FILE *file, const char *name, char **text, brume_error *error)
{
    size_t size = 0;
    errno = 0;
    ssize_t length = getdelim(text, &size, '\0', file);
    if (length < 0 && ferror(file))
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read \'%.200s\': %s", name,
                          strerror(errno));
    if (length > MOST_BYTES)
        return brume_fail(error, BRUME_EARGUMENT, "cut it into several files",
                          "'%.200s' has more than 16 MiB", name);
    if (length > 0 && memchr(*text, '\0', (size_t)length))
        return brume_fail(error, BRUME_ESYNTAX, NULL, "'%.200s' has a NUL in it", name);
    if (length < 0) {
        free(*text);
        *text = strdup("");
    }
    return *text ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
}

static brume_status read_text(const brume_call *call, char **text, brume_error *error)
{
    const char *path = brume_call_text(call, "file");
    const char *sql = call->operand_count ? brume_call_operand(call, 0) : NULL;
    if (!path == !sql)
        return brume_fail(error, BRUME_EARGUMENT, "write query 'SELECT ...', -f FILE or -",
                          path ? "SQL is given twice: as an argument and by --file"
                               : "SQL is missing");
    if (sql && strcmp(sql, "-") != 0) {
        *text = strdup(sql);
        return *text ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    if ((sql || strcmp(path, "-") == 0) && !(call->host && call->host->reads_input))
        return brume_fail(error, BRUME_EARGUMENT, "give the SQL itself",
                          "standard input is read by the command line only");
    if (sql || strcmp(path, "-") == 0)
        return read_all(stdin, "standard input", text, error);
    FILE *file = fopen(path, "re");
    if (!file)
        return brume_fail(error, BRUME_ESOURCE, NULL, "cannot read \'%.200s\': %s", path,
                          strerror(errno));
    brume_status status = read_all(file, path, text, error);
    fclose(file);
    return status;
}

brume_status brume_script_open(const brume_call *call, brume_script *out, brume_error *error)
{
    char *text = NULL;
    *out = (brume_script){0};
    brume_status status = read_text(call, &text, error);
    if (status == BRUME_OK)
        status = brume_sql_split(text, &out->statements, &out->count, error);
    free(text);
    if (status == BRUME_OK && out->count == 0) {
        brume_script_close(out);
        status = brume_fail(error, BRUME_ESYNTAX, NULL, "the query is empty");
    }
    return status;
}

void brume_script_close(brume_script *script)
{
    brume_sql_split_free(script->statements, script->count);
    *script = (brume_script){0};
}

brume_status brume_script_failed(const brume_script *script, size_t statement, size_t answered,
                                 brume_status status, brume_error *error)
{
    if (status == BRUME_OK || script->count < 2)
        return status;
    brume_error inner = *error;
    char before[100] = "";
    if (answered > 0)
        snprintf(before, sizeof before, "; before it %zu %s answered, whose prices stay spent",
                 answered, answered == 1 ? "was" : "were");
    return brume_fail(error, status, *inner.hint ? inner.hint : NULL, "statement %zu: %.400s%s",
                      statement + 1, inner.message, before);
}
