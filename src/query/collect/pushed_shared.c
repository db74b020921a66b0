/* Push-down: what the statements of all dialects share. */
#include "query/collect/pushed.h"

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

/* "r0" is the unit, then the keys, then the values. */
void brume_push_put_keys(FILE *out, size_t count, const char *before)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s\"r%zu\"", i ? ", " : before, 1 + i);
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
