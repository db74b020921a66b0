/* The groups of public keys, one after the other. */
#include "query/plan/key_cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Is it a group of one of the grouping sets: a value for every key that the set has, and NULL for
 * the others? `places` says which of its key's values each is; NULL for the others is the last. */
static bool in_a_set(const brume_collection *collection, const size_t *places)
{
    const brume_query *query = collection->query;
    if (query->set_count < 2)
        return true;
    size_t set = places[query->key_count - 1]; /* its values are 0, 1, 2, ... */
    for (size_t k = 0; k + 1 < query->key_count; k++) {
        bool optional = brume_key_is_optional(query, k);
        bool has = (query->keys[k].sets >> set & 1) != 0;
        bool last = places[k] + 1 == collection->domain_size[k];
        if (optional && has == last)
            return false;
    }
    return true;
}

/* The rows of a tie that agree with the values that its keys have so far. */
typedef struct tied {
    const brume_cell_tie *tie; /* NULL: the key has none */
    size_t at;                 /* which of the tie's keys it is */
} tied;

typedef struct cell_walk {
    const brume_collection *collection;
    brume_cell_visitor visit;
    void *context;
    brume_key_value *cell;
    size_t *places, *first; /* first[k]: where the values of key k begin */
    tied *ties;             /* of each key */
} cell_walk;

static size_t place_in(const tied *of, size_t row)
{
    return of->tie->places[row * of->tie->key_count + of->at];
}

/* The first row from `from` on, before `end`, whose place is not below `place`. */
static size_t first_row(const tied *of, size_t from, size_t end, size_t place)
{
    while (from < end) {
        size_t middle = from + (end - from) / 2;
        if (place_in(of, middle) < place)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* The rows of the key's tie that agree with the keys before it. */
static void find_rows(const cell_walk *all, const tied *of, size_t *from, size_t *end)
{
    *from = 0;
    *end = of->tie->row_count;
    for (size_t i = 0; i < of->at; i++) {
        tied earlier = {of->tie, i};
        size_t place = all->places[of->tie->keys[i]];
        *from = first_row(&earlier, *from, *end, place);
        *end = first_row(&earlier, *from, *end, place + 1);
    }
}

static brume_status visit_from(cell_walk *all, size_t key, brume_error *error);

static brume_status visit_place(cell_walk *all, size_t key, size_t place, brume_error *error)
{
    all->places[key] = place;
    all->cell[key] = all->collection->domain[all->first[key] + place];
    return visit_from(all, key + 1, error);
}

/* All groups whose first `key` keys have the values that they have now. */
static brume_status visit_from(cell_walk *all, size_t key, brume_error *error)
{
    const brume_collection *collection = all->collection;
    if (key == collection->query->key_count)
        return in_a_set(collection, all->places) ? all->visit(all->context, all->cell, error)
                                                 : BRUME_OK;
    const tied *of = &all->ties[key];
    if (!of->tie) {
        for (size_t i = 0; i < collection->domain_size[key]; i++)
            BRUME_TRY(visit_place(all, key, i, error));
        return BRUME_OK;
    }
    size_t row, end;
    for (find_rows(all, of, &row, &end); row < end;) {
        size_t place = place_in(of, row);
        BRUME_TRY(visit_place(all, key, place, error));
        row = first_row(of, row, end, place + 1);
    }
    return BRUME_OK;
}

brume_status brume_cells_visit(const brume_collection *collection, brume_cell_visitor visit,
                               void *context, brume_error *error)
{
    size_t keys = collection->query->key_count;
    cell_walk all = {.collection = collection,
                     .visit = visit,
                     .context = context,
                     .cell = calloc(keys + 1, sizeof *all.cell),
                     .places = calloc(keys + 1, sizeof *all.places),
                     .first = calloc(keys + 1, sizeof *all.first),
                     .ties = calloc(keys + 1, sizeof *all.ties)};
    brume_status status = all.cell && all.places && all.first && all.ties
                              ? BRUME_OK
                              : brume_no_memory(error, "the groups");
    for (size_t k = 0; status == BRUME_OK && k < keys; k++)
        all.first[k + 1] = all.first[k] + collection->domain_size[k];
    for (size_t i = 0; status == BRUME_OK && i < collection->tie_count; i++)
        for (size_t j = 0; j < collection->ties[i].key_count; j++)
            all.ties[collection->ties[i].keys[j]] = (tied){&collection->ties[i], j};
    if (status == BRUME_OK)
        status = visit_from(&all, 0, error);
    free(all.cell);
    free(all.places);
    free(all.first);
    free(all.ties);
    return status;
}
