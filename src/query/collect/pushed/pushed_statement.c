/* What the statements of push-down of all dialects share. */
#include "query/collect/pushed/pushed_statement.h"

#include <stdlib.h>

#include "base/error.h"

/* ---- beginning and end ---- */

brume_status brume_push_begin(brume_push_statement *to, const brume_collection *collection, int p,
                              brume_error *error)
{
    *to = (brume_push_statement){.collection = collection,
                                 .keys = collection->query->key_count,
                                 .values = collection->value_count,
                                 .p = p};
    to->wanted = calloc(to->values + 1, sizeof *to->wanted);
    to->out = to->wanted ? open_memstream(&to->text, &to->length) : NULL;
    if (to->out)
        return BRUME_OK;
    free(to->wanted);
    return brume_no_memory(error, "a statement");
}

brume_status brume_push_end(brume_push_statement *to, char **sql, brume_error *error)
{
    bool failed = ferror(to->out) != 0;
    failed = fclose(to->out) != 0 || failed;
    free(to->wanted);
    if (!failed) {
        *sql = to->text;
        return BRUME_OK;
    }
    free(to->text);
    return brume_no_memory(error, "a statement");
}

/* ---- keys ---- */

/* "r0" is the unit, then the keys, then the values. */
void brume_push_put_first_keys(const brume_push_statement *to, size_t count, const char *before)
{
    for (size_t i = 0; i < count; i++)
        fprintf(to->out, "%s\"r%zu\"", i ? ", " : before, 1 + i);
}

void brume_push_put_keys(const brume_push_statement *to, const char *before)
{
    brume_push_put_first_keys(to, to->keys, before);
}

/* The rows of one grouping set, or of all where there is one: see in_a_set of key_cells.c. */
static void put_set(FILE *out, const brume_collection *collection, size_t set, bool several,
                    brume_push_among put_among)
{
    size_t keys = collection->query->key_count, first = 0;
    for (size_t k = 0; k < keys; k++) {
        size_t count = collection->domain_size[k], from = first;
        first += count;
        if (several && k + 1 == keys) {
            from += set; /* its values are 0, 1, 2, ... */
            count = 1;
        } else if (several && brume_key_is_optional(collection->query, k)) {
            bool has = (collection->query->keys[k].sets >> set & 1) != 0;
            from += has ? 0 : count - 1; /* the last one stands for "not in this set" */
            count = has ? count - 1 : 1;
        }
        fputs(k ? " AND " : "", out);
        put_among(out, k, &collection->domain[from], count);
    }
}

void brume_push_put_sets(FILE *out, const brume_collection *collection, brume_push_among put_among)
{
    size_t sets = collection->query->set_count;
    for (size_t s = 0; s < (sets > 1 ? sets : 1); s++) {
        fputs(s ? " OR (" : "(", out);
        put_set(out, collection, s, sets > 1, put_among);
        fputc(')', out);
    }
}

bool brume_push_cuts_groups(const brume_collection *collection)
{
    return collection->query->key_count > 0 &&
           (collection->cells == 0 || collection->max_groups < collection->cells);
}

/* ---- totals and limits ---- */

void brume_push_want(const brume_push_statement *to, const brume_total *of)
{
    if (of->kind == BRUME_TOTAL_VALUES)
        to->wanted[of->value].count = true;
    if (of->kind == BRUME_TOTAL_SUM)
        to->wanted[of->value].sum = true;
}

void brume_push_want_sums(const brume_push_statement *to, const brume_total_limit *limits,
                          size_t limit_count, const brume_limited_sum *sums, size_t sum_count)
{
    for (size_t j = 0; j < limit_count; j++)
        brume_push_want(to, &limits[j].of);
    for (size_t i = 0; i < sum_count; i++)
        if (brume_push_follows(sums[i].kind)) {
            brume_push_wanted *of = &to->wanted[sums[i].value];
            of->count = true;
            of->sum = of->sum || sums[i].kind == BRUME_MEASURE_CENTRED;
            of->squares = of->squares || sums[i].kind == BRUME_MEASURE_SQUARES;
        }
}

bool brume_push_follows(brume_measure_kind kind)
{
    return kind == BRUME_MEASURE_CENTRED || kind == BRUME_MEASURE_SQUARES ||
           kind == BRUME_MEASURE_HOLDERS;
}

int64_t brume_push_centre(const brume_push_statement *to, size_t i)
{
    brume_measure bounds = {.low = to->collection->values[i].low,
                            .high = to->collection->values[i].high};
    return brume_measure_centre(&bounds);
}

brume_u128 brume_push_uncut(const brume_push_statement *to, const brume_total_limit *limit)
{
    if (to->p == 1)
        return limit->limit;
    return limit->square ? limit->square : (brume_u128)limit->limit * limit->limit;
}

/* So it is of what is never negative, for p = 1; what a group has beyond 2^80 makes no difference,
 * because the last bin begins at 2^63 at most. */
bool brume_push_adds_up(const brume_push_statement *to, const brume_total *of)
{
    if (to->p != 1 || of->kind == BRUME_TOTAL_PRESENCE)
        return false;
    return of->kind != BRUME_TOTAL_SUM || to->collection->values[of->value].low >= 0;
}

/* ---- what no dialect can be asked ---- */

enum { VALUES_MOST = 100 }; /* so that all columns together are fewer than PostgreSQL takes */

const char *brume_push_shared_obstacle(const brume_collection *collection, size_t most,
                                       const char *more)
{
    size_t declared = 0;
    for (size_t i = 0; i < collection->value_count; i++)
        if (collection->values[i].keep)
            return "quantiles and modes are drawn from the values themselves";
    if (!collection->totals && !collection->bounded)
        return NULL;
    if (!collection->totals && collection->value_count > 0)
        return "rows of each unit are kept by a keyed hash";
    if (collection->value_count > VALUES_MOST)
        return "more than 100 expressions are measured";
    for (size_t i = 0; collection->cells > 0 && i < collection->query->key_count; i++)
        declared += collection->domain_size[i];
    return declared > most ? more : NULL;
}
