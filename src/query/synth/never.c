/* Structural zeros: conditions that no row can meet, as the method tree takes them.
 *
 * Promises: public, made of the words typed alone. A condition is read as in a workload, over a
 * universe of the columns that it names. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/synth/synth.h"
#include "synthetic/workload.h"

enum { MOST_COLUMNS = 3, MOST_CELLS = 1 << 18 };

/* Does the condition have this word? One more column than it names does no harm. */
static bool mentions(const char *condition, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t length = strlen(name);
    for (const char *at = condition; (at = strcasestr(at, name)); at++)
        if ((at == condition || !strchr(letters, at[-1])) &&
            (!at[length] || !strchr(letters, at[length])))
            return true;
    return false;
}

/* never[cell], row-major, of the universe of the columns. */
static brume_status evaluate(const brume_schema *schema, const brume_workload *workload,
                             brume_tree_zero *out, brume_error *error)
{
    const brume_universe *universe = brume_workload_universe(workload);
    uint8_t *never = calloc(universe->cells, 1);
    double *weights = malloc(universe->cells * sizeof *weights), total;
    brume_status status = never && weights ? BRUME_OK : brume_no_memory(error, NULL);
    for (uint64_t cell = 0; status == BRUME_OK && cell < universe->cells; cell++)
        weights[cell] = 1;
    if (status == BRUME_OK) /* e where it holds, else 1 */
        status = brume_workload_step(workload, 0, 1, 1, 0, weights, &total, error);
    for (uint64_t cell = 0; status == BRUME_OK && cell < universe->cells; cell++) {
        uint32_t record[BRUME_UNIVERSE_COLUMNS];
        size_t at = 0;
        brume_universe_record(universe, cell, record);
        for (size_t c = 0; c < brume_schema_columns(schema); c++)
            at = at * brume_schema_size(schema, c) + record[c];
        never[at] = weights[cell] > 2;
    }
    free(weights);
    if (status == BRUME_OK)
        out->never = never;
    else
        free(never);
    return status;
}

static brume_status read_condition(const brume_synth *synth, const char *condition,
                                   brume_tree_zero *out, brume_error *error)
{
    brume_synth part = *synth;
    brume_workload *workload = NULL;
    brume_error inner = {0};
    char *text = NULL;
    double cells = 1;
    *out = (brume_tree_zero){0};
    part.schema = NULL;
    BRUME_TRY(brume_schema_open(&part.schema, error));
    brume_status status = BRUME_OK;
    for (size_t c = 0; status == BRUME_OK && c < brume_schema_columns(synth->schema); c++) {
        const char *name = brume_schema_name(synth->schema, c);
        if (!mentions(condition, name))
            continue;
        cells *= brume_schema_size(synth->schema, c);
        if (out->columns == MOST_COLUMNS || brume_synth_discovers(synth, name) ||
            cells > MOST_CELLS)
            status = brume_fail(error, BRUME_EUNSUPPORTED, "take fewer columns, or coarser bins",
                                "'--never %s' must be of at most %d columns with domains, and of "
                                "%d cells",
                                condition, MOST_COLUMNS, MOST_CELLS);
        else
            status = brume_synth_add_column(&part, name, error);
        if (status == BRUME_OK)
            out->column[out->columns++] = (uint16_t)c;
    }
    if (status == BRUME_OK && out->columns == 0)
        status = brume_fail(error, BRUME_EARGUMENT, "for example 'sex = m and ward = maternity'",
                            "'--never %s' names no column", condition);
    if (status == BRUME_OK && asprintf(&text, "count %s\n", condition) < 0)
        status = brume_no_memory(error, NULL);
    if (status == BRUME_OK &&
        brume_workload_parse(part.schema, text, &workload, &inner) != BRUME_OK)
        status = brume_fail(error, inner.status, inner.hint[0] ? inner.hint : NULL,
                            "'--never %s': %s", condition, inner.message);
    if (status == BRUME_OK && brume_workload_size(workload) != 1)
        status = brume_fail(error, BRUME_EARGUMENT, "type --never several times",
                            "'--never %s' is more than one condition", condition);
    if (status == BRUME_OK)
        status = evaluate(part.schema, workload, out, error);
    brume_workload_close(workload);
    brume_schema_close(part.schema);
    free(text);
    return status;
}

brume_status brume_synth_tree_zeros(brume_synth *synth, brume_error *error)
{
    const brume_synth_list *typed = &synth->words.never;
    synth->tree_zeros = calloc(typed->count + 1, sizeof *synth->tree_zeros);
    if (!synth->tree_zeros)
        return brume_no_memory(error, NULL);
    synth->tree.zero = synth->tree_zeros;
    for (size_t i = 0; i < typed->count; i++) {
        BRUME_TRY(read_condition(synth, typed->texts[i], &synth->tree_zeros[i], error));
        synth->tree.zeros++;
    }
    return BRUME_OK;
}

void brume_synth_tree_zeros_clear(brume_synth *synth)
{
    for (size_t i = 0; i < synth->tree.zeros; i++)
        free((uint8_t *)(uintptr_t)synth->tree_zeros[i].never);
    free(synth->tree_zeros);
}
