/* Tables made for an audit. Promises: files appear nowhere but at the path given, nothing is
 * written to a server, and no text can end its literal. */
#include "audit/query/made_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv_write.h"
#include "base/error.h"
#include "engine/driver.h"

static bool on_server(const brume_made_table *made)
{
    return made->policy->table != NULL;
}

/* ---- for a server ---- */

/* A type whose values the printed SQL reads as those of the column. */
static void print_type(FILE *out, const brume_policy_column *column)
{
    static const char *const names[] = {
        [BRUME_TYPE_BOOLEAN] = "bool",  [BRUME_TYPE_INTEGER] = "int4",
        [BRUME_TYPE_BIGINT] = "int8",   [BRUME_TYPE_DECIMAL] = "numeric",
        [BRUME_TYPE_DOUBLE] = "float8", [BRUME_TYPE_TEXT] = "text",
        [BRUME_TYPE_DATE] = "date",     [BRUME_TYPE_TIMESTAMP] = "timestamp",
        [BRUME_TYPE_REFUSED] = "text", /* no query reads it */
    };
    const char *name = names[column->type.kind];
    if (column->leaf == BRUME_LEAF_ZONED)
        name = "timestamptz";
    else if (column->leaf == BRUME_LEAF_FREE_NUMERIC)
        name = "numeric";
    fprintf(out, "pg_catalog.%s", name);
    if (column->leaf == BRUME_LEAF_NUMERIC)
        fprintf(out, "(%d,%d)", column->type.precision, column->type.scale);
}

static void print_literal(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') /* strings are standard-conforming: nothing else needs care */
            fputc('\'', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static brume_status begin_relation(brume_made_table *made, brume_error *error)
{
    made->out = open_memstream(&made->relation, &made->length);
    if (!made->out)
        return brume_no_memory(error, "an audit");
    fputs("(SELECT ", made->out);
    for (size_t c = 0; c < made->policy->column_count; c++) {
        char *name = brume_engine_quote(made->policy->columns[c].name);
        if (!name)
            return brume_no_memory(error, "an audit");
        fprintf(made->out, "%sCAST(\"v%zu\" AS ", c ? ", " : "", c);
        print_type(made->out, &made->policy->columns[c]);
        fprintf(made->out, ") AS %s", name);
        free(name);
    }
    fputs(" FROM (VALUES ", made->out);
    return BRUME_OK;
}

static void end_relation(const brume_made_table *made)
{
    for (size_t c = 0; made->rows == 0 && c < made->policy->column_count; c++)
        fputs(c ? ", NULL" : "(NULL", made->out); /* VALUES takes one row at least */
    fputs(made->rows == 0 ? ")" : "", made->out);
    fputs(") AS \"values\"(", made->out);
    for (size_t c = 0; c < made->policy->column_count; c++)
        fprintf(made->out, "%s\"v%zu\"", c ? ", " : "", c);
    fprintf(made->out, ")%s) AS \"made\"", made->rows == 0 ? " WHERE false" : "");
}

static void write_values(const brume_made_table *made, const char *const *texts)
{
    fputs(made->rows ? ", (" : "(", made->out);
    for (size_t c = 0; c < made->policy->column_count; c++) {
        fputs(c ? ", " : "", made->out);
        if (*texts[c] || made->policy->columns[c].type.kind == BRUME_TYPE_TEXT)
            print_literal(made->out, texts[c]);
        else
            fputs("NULL", made->out);
    }
    fputc(')', made->out);
}

/* ---- a file ---- */

static brume_status begin_file(brume_made_table *made, const char *path, brume_error *error)
{
    snprintf(made->path, sizeof made->path, "%s", path);
    made->out = fopen(made->path, "wx");
    if (!made->out) {
        made->path[0] = 0; /* not ours to remove */
        return brume_fail(error, BRUME_EDISK, "is $TMPDIR a folder that may be written?",
                          "cannot write '%s'", path);
    }
    for (size_t c = 0; c < made->policy->column_count; c++) {
        fputs(c ? "," : "", made->out);
        brume_csv_write_quoted(made->out, made->policy->columns[c].name);
    }
    fputc('\n', made->out);
    return BRUME_OK;
}

static void write_line(const brume_made_table *made, const char *const *texts)
{
    for (size_t c = 0; c < made->policy->column_count; c++) {
        fputs(c ? "," : "", made->out);
        if (*texts[c])
            brume_csv_write_quoted(made->out, texts[c]);
    }
    fputc('\n', made->out);
}

/* ---- both ---- */

brume_status brume_made_table_begin(brume_made_table *made, const brume_policy *policy,
                                    const char *path, brume_error *error)
{
    *made = (brume_made_table){.policy = policy};
    return on_server(made) ? begin_relation(made, error) : begin_file(made, path, error);
}

void brume_made_table_row(brume_made_table *made, const char *const *texts)
{
    if (on_server(made))
        write_values(made, texts);
    else
        write_line(made, texts);
    made->rows++;
}

brume_status brume_made_table_end(brume_made_table *made, brume_error *error)
{
    if (on_server(made))
        end_relation(made);
    bool written = !ferror(made->out);
    written = fclose(made->out) == 0 && written;
    made->out = NULL;
    if (written)
        return BRUME_OK;
    return on_server(made) ? brume_no_memory(error, "an audit")
                           : brume_fail(error, BRUME_EDISK, "is the disk full?",
                                        "cannot write '%s'", made->path);
}

brume_status brume_made_table_source(const brume_made_table *made, brume_source *out,
                                     brume_column **columns, brume_error *error)
{
    BRUME_TRY(brume_policy_source(made->policy, out, columns, error));
    if (on_server(made)) {
        out->relation = made->relation;
        return BRUME_OK;
    }
    out->location = made->path;
    /* Texts may hold line ends; they are ours, and well quoted. */
    out->options = "{\"delimiter\":\",\",\"quote\":\"\\\"\",\"header\":true,\"multiline\":true}";
    for (size_t c = 0; c < made->policy->column_count; c++)
        if (made->policy->columns[c].type.kind == BRUME_TYPE_REFUSED)
            (*columns)[c].type = (brume_type){BRUME_TYPE_TEXT, 0, 0}; /* no query reads it */
    return BRUME_OK;
}

void brume_made_table_clear(brume_made_table *made)
{
    if (made->out)
        fclose(made->out);
    if (made->path[0])
        unlink(made->path);
    free(made->relation);
    *made = (brume_made_table){0};
}

brume_status brume_made_table_save(const brume_made_table *made, const char *to, brume_error *error)
{
    char part[4096];
    size_t n;
    if (!made->path[0])
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "tables of a server are made in its SQL, there are no files");
    FILE *in = fopen(made->path, "r"), *out = in ? fopen(to, "wx") : NULL;
    while (out && (n = fread(part, 1, sizeof part, in)) > 0)
        fwrite(part, 1, n, out);
    bool good = out && !ferror(in) && !ferror(out);
    good = (!out || fclose(out) == 0) && good;
    if (in)
        fclose(in);
    return good ? BRUME_OK
                : brume_fail(error, BRUME_EDISK, "is it there already?", "cannot write '%s'", to);
}
