/* Bounds of public columns that nobody declared. Promises: public_bounds.h. */
#include "query/plan/public_bounds.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "engine/driver.h"

enum { MOST_COLUMNS = 64 };

/* Is the name a word of the text, in any case? */
static bool names(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; length && (at = strcasestr(at, name)); at++) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !isalnum((unsigned char)at[length]) && at[length] != '_')
            return true;
    }
    return false;
}

static bool may_have_bounds(brume_type type)
{
    return brume_type_is_number(type) || type.kind == BRUME_TYPE_DATE;
}

/* The unbounded columns of a public table that are named; returns how many. */
static size_t find_columns(const brume_bounds_reading *question, size_t table, size_t *columns)
{
    const brume_catalog_table *of = &question->tables[table];
    size_t count = 0;
    for (size_t i = 0; of->privacy == BRUME_PRIVACY_PUBLIC && i < of->column_count; i++)
        if (!of->columns[i].low && may_have_bounds(of->columns[i].type) && count < MOST_COLUMNS &&
            names(question->sql, of->columns[i].name))
            columns[count++] = i;
    return count;
}

/* A bound as policies have it, in room of the question's: outwards to six digits where the type has
 * no digits of its own. False: none that can be used. */
static bool bound_of(brume_type type, brume_text from, bool low, char out[40])
{
    if (from.length == 0 || from.length >= 40)
        return false;
    memcpy(out, from.data, from.length);
    out[from.length] = 0;
    if (type.kind != BRUME_TYPE_DOUBLE)
        return true;
    double value = strtod(out, NULL);
    if (!(fabs(value) < 1e9))
        return false;
    value = low ? floor(value * 1e6) - 1 : ceil(value * 1e6) + 1;
    snprintf(out, 40, "%.6f", value / 1e6);
    return true;
}

/* The row of two texts for each column. */
static brume_status take_row(brume_bounds_reading *question, size_t table, const size_t *columns,
                             size_t count, const brume_chunk *chunk, brume_error *error)
{
    for (size_t i = 0; i < count; i++) {
        brume_catalog_column *to = &question->columns[table][columns[i]];
        const brume_chunk_column *low = &chunk->columns[2 * i], *high = low + 1;
        char texts[2][40];
        if (brume_chunk_is_null(low, 0) || brume_chunk_is_null(high, 0) ||
            !bound_of(to->type, low->texts[0], true, texts[0]) ||
            !bound_of(to->type, high->texts[0], false, texts[1]))
            continue;
        char *own = malloc(sizeof texts);
        char **grown = realloc(question->texts, (question->text_count + 1) * sizeof *grown);
        question->texts = grown ? grown : question->texts;
        if (!own || !grown) {
            free(own);
            return brume_no_memory(error, "the bounds");
        }
        memcpy(own, texts, sizeof texts);
        question->texts[question->text_count++] = own;
        to->low = own;
        to->high = own + sizeof texts[0];
        to->bounds_read = true;
    }
    return BRUME_OK;
}

/* The table must still be public. */
static brume_status check_public(brume_ledger *ledger, const brume_dataset *dataset,
                                 brume_engine *engine, brume_error *error)
{
    brume_marks marks = {0};
    BRUME_TRY(brume_engine_marks(engine, 0, false, &marks, error));
    brume_ledger_charge source = {.dataset = dataset->name,
                                  .marks = (const char *const *)marks.texts,
                                  .mark_count = marks.count,
                                  .read_mark_count = marks.read_count};
    brume_status status = brume_ledger_look_public(ledger, &source, error);
    brume_marks_clear(&marks);
    return status;
}

static char *select_bounds(const brume_bounds_reading *question, size_t table,
                           const size_t *columns, size_t count, const brume_engine *engine)
{
    bool spark = brume_engine_dialect(engine) == BRUME_DIALECT_SPARK;
    const char *type = spark ? "STRING" : "TEXT";
    char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    bool good = out != NULL;
    for (size_t i = 0; good && i < count; i++) {
        char *name = brume_engine_quote_with(spark ? '`' : '"',
                                             question->tables[table].columns[columns[i]].name);
        good = name && fprintf(out, "%sCAST(MIN(%s) AS %s), CAST(MAX(%s) AS %s)",
                               i ? ", " : "SELECT ", name, type, name, type) > 0;
        free(name);
    }
    if (good)
        fprintf(out, " FROM %s", brume_engine_table(engine, 0));
    if ((out && fclose(out) != 0) || !good) {
        free(sql);
        return NULL;
    }
    return sql;
}

static brume_status read_row(brume_bounds_reading *question, size_t table, const size_t *columns,
                             size_t count, brume_engine *engine, brume_error *error)
{
    brume_wire wires[2 * MOST_COLUMNS];
    brume_rows *rows = NULL;
    const brume_chunk *chunk = NULL;
    char *sql = select_bounds(question, table, columns, count, engine);
    if (!sql)
        return brume_no_memory(error, "the bounds");
    for (size_t i = 0; i < 2 * count; i++)
        wires[i] = BRUME_WIRE_TEXT;
    brume_status status = brume_engine_select(engine, sql, wires, 2 * count, &rows, error);
    free(sql);
    do { /* one row, perhaps behind an empty chunk */
        if (status == BRUME_OK)
            status = brume_rows_next(rows, &chunk, error);
        if (status == BRUME_OK && chunk && chunk->row_count == 1)
            status = take_row(question, table, columns, count, chunk, error);
    } while (status == BRUME_OK && chunk);
    brume_rows_close(rows);
    return status;
}

static brume_status read_table(brume_ledger *ledger, brume_bounds_reading *question, size_t table,
                               const size_t *columns, size_t count, brume_error *error)
{
    brume_source source;
    brume_column *list = NULL;
    brume_engine *engine = NULL;
    BRUME_TRY(brume_policy_source(question->policies[table], &source, &list, error));
    source.password = question->datasets[table]->password;
    brume_status status = brume_engine_open(&source, 1, &engine, error);
    if (status == BRUME_OK)
        status = check_public(ledger, question->datasets[table], engine, error);
    if (status == BRUME_OK)
        status = read_row(question, table, columns, count, engine, error);
    free(list);
    brume_engine_close(engine);
    return status;
}

brume_status brume_read_public_bounds(brume_ledger *ledger, brume_bounds_reading *question,
                                      bool *found, brume_error *error)
{
    *found = false;
    for (size_t i = 0; i < question->table_count; i++) {
        size_t columns[MOST_COLUMNS], count = find_columns(question, i, columns);
        if (count == 0)
            continue;
        BRUME_TRY(read_table(ledger, question, i, columns, count, error));
        *found = true;
    }
    return BRUME_OK;
}
