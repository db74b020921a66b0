/* A workload: linear queries that are to be answered together. How they are answered is in
 * weights.c (one query, or all cells of many marginals). */
#include "synthetic/workload.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { INNER_CELLS = 4096, INNER_LEAST = 256, MARGINAL_CELLS = 1 << 22 };

brume_status brume_workload_open(const brume_universe *universe, brume_workload **out,
                                 brume_error *error)
{
    brume_workload *workload = calloc(1, sizeof *workload);
    if (!workload)
        return brume_no_memory(error, "a workload");
    workload->universe = *universe;
    workload->split = universe->columns - 1;
    while (workload->split > 0) {
        uint64_t now = universe->stride[workload->split - 1];
        if (now >= INNER_LEAST && now * universe->size[workload->split - 1] > INNER_CELLS)
            break;
        workload->split--;
    }
    workload->inner = (size_t)(universe->stride[workload->split] * universe->size[workload->split]);
    workload->outer = universe->cells / workload->inner;
    *out = workload;
    return BRUME_OK;
}

static void free_group(brume_group *one)
{
    for (size_t c = 0; c < BRUME_UNIVERSE_COLUMNS; c++)
        free(one->allowed[c]);
    free(one->values);
}

void brume_workload_close(brume_workload *workload)
{
    if (!workload)
        return;
    for (size_t i = 0; i < workload->group_count; i++)
        free_group(&workload->groups[i]);
    free(workload->groups);
    free(workload);
}

void brume_workload_replace(brume_workload *workload, brume_workload *from)
{
    for (size_t i = 0; i < workload->group_count; i++)
        free_group(&workload->groups[i]);
    free(workload->groups);
    workload->groups = from->groups;
    workload->group_count = from->group_count;
    workload->group_room = from->group_room;
    workload->size = from->size;
    from->groups = NULL;
    from->group_count = from->group_room = from->size = 0;
}

const brume_universe *brume_workload_universe(const brume_workload *workload)
{
    return &workload->universe;
}

size_t brume_workload_size(const brume_workload *workload)
{
    return workload->size;
}

bool brume_workload_whole(const brume_workload *workload)
{
    for (size_t i = 0; i < workload->group_count; i++)
        if (workload->groups[i].kind == BRUME_GROUP_DENSE)
            return false;
    return true;
}

static uint64_t width_of(const brume_universe *universe, const brume_group *one)
{
    uint64_t width = 1;
    if (one->kind == BRUME_GROUP_MARGINAL)
        return universe->cells / one->count;
    if (one->kind == BRUME_GROUP_DENSE) {
        width = 0;
        for (uint64_t i = 0; i < universe->cells; i++)
            width += one->values[i] != 0;
        return width;
    }
    for (size_t c = 0; c < universe->columns; c++) {
        uint64_t allowed = universe->size[c];
        for (uint32_t v = 0; one->allowed[c] && v < universe->size[c]; v++)
            allowed -= one->allowed[c][v] == 0;
        width *= allowed;
    }
    return width;
}

uint64_t brume_workload_widest(const brume_workload *workload)
{
    uint64_t widest = 1;
    for (size_t i = 0; i < workload->group_count; i++) {
        uint64_t width = width_of(&workload->universe, &workload->groups[i]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* ---- adding queries ---- */

/* Take over `one`, whose kind, count and contents are set. */
static brume_status add_group(brume_workload *workload, brume_group *one, brume_error *error)
{
    if (workload->group_count == workload->group_room) {
        size_t room = workload->group_room ? 2 * workload->group_room : 16;
        brume_group *groups = realloc(workload->groups, room * sizeof *groups);
        if (!groups) {
            free_group(one);
            return brume_no_memory(error, "a workload");
        }
        workload->groups = groups;
        workload->group_room = room;
    }
    one->first = workload->size;
    workload->groups[workload->group_count++] = *one;
    workload->size += one->count;
    return BRUME_OK;
}

brume_status brume_workload_add_marginal(brume_workload *workload, const size_t *columns,
                                         size_t count, brume_error *error)
{
    const brume_universe *universe = &workload->universe;
    bool chosen[BRUME_UNIVERSE_COLUMNS] = {false};
    for (size_t i = 0; i < count; i++) {
        if (columns[i] >= universe->columns || chosen[columns[i]])
            return brume_fail(error, BRUME_EARGUMENT, NULL,
                              "a marginal needs different columns of the universe");
        chosen[columns[i]] = true;
    }
    brume_group one = {.kind = BRUME_GROUP_MARGINAL};
    uint64_t cells = 1;
    for (size_t c = universe->columns; c-- > 0;)
        if (chosen[c]) {
            one.table_stride[c] = cells;
            cells *= universe->size[c];
        }
    if (cells > MARGINAL_CELLS)
        return brume_fail(error, BRUME_EOVERFLOW, "take marginals of fewer columns",
                          "a marginal of %llu cells, at most %d are possible",
                          (unsigned long long)cells, MARGINAL_CELLS);
    for (size_t c = 0; c < universe->columns; c++)
        if (chosen[c])
            one.column[one.columns++] = c;
    one.count = (size_t)cells;
    return add_group(workload, &one, error);
}

brume_status brume_workload_add_marginals(brume_workload *workload, size_t way, brume_error *error)
{
    size_t columns = workload->universe.columns;
    if (way > columns)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "%zu-way marginals of a universe of %zu columns", way, columns);
    size_t chosen[BRUME_UNIVERSE_COLUMNS];
    for (size_t i = 0; i < way; i++)
        chosen[i] = i;
    for (;;) {
        BRUME_TRY(brume_workload_add_marginal(workload, chosen, way, error));
        size_t i = way; /* next combination in lexicographic order */
        while (i > 0 && chosen[i - 1] == columns - way + i - 1)
            i--;
        if (i == 0)
            return BRUME_OK;
        chosen[i - 1]++;
        for (size_t j = i; j < way; j++)
            chosen[j] = chosen[j - 1] + 1;
    }
}

brume_status brume_workload_add_box(brume_workload *workload, const uint8_t *const *allowed,
                                    brume_error *error)
{
    brume_group one = {.kind = BRUME_GROUP_BOX, .count = 1};
    for (size_t c = 0; c < workload->universe.columns; c++) {
        size_t size = workload->universe.size[c];
        if (!allowed[c])
            continue;
        one.allowed[c] = malloc(size);
        if (!one.allowed[c]) {
            free_group(&one);
            return brume_no_memory(error, "a workload");
        }
        memcpy(one.allowed[c], allowed[c], size);
    }
    return add_group(workload, &one, error);
}

brume_status brume_workload_add_dense(brume_workload *workload, const float *values,
                                      brume_error *error)
{
    uint64_t cells = workload->universe.cells;
    for (uint64_t i = 0; i < cells; i++)
        if (!(values[i] >= 0 && values[i] <= 1))
            return brume_fail(error, BRUME_EARGUMENT, "a linear query maps each record to [0, 1]",
                              "query %zu is outside [0, 1] at cell %llu", workload->size + 1,
                              (unsigned long long)i);
    brume_group one = {
        .kind = BRUME_GROUP_DENSE, .count = 1, .values = malloc(cells * sizeof *values)};
    if (!one.values)
        return brume_no_memory(error, "a workload");
    /* Multiples of 2^-20: sums of up to 2^33 of them are exact in a double. */
    for (uint64_t i = 0; i < cells; i++)
        one.values[i] = rintf(values[i] * 0x1p20f) * 0x1p-20f;
    return add_group(workload, &one, error);
}

const brume_group *brume_workload_group(const brume_workload *workload, size_t query)
{
    size_t low = 0, high = workload->group_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (workload->groups[middle].first <= query)
            low = middle;
        else
            high = middle;
    }
    return &workload->groups[low];
}

/* The sensitivity of a workload: how many of its answers one unit can change.
 *
 * Promises: an upper bound for every pair of neighbours; exact for marginals and for boxes that
 * look at one column, where a record may have the worst value in every column at once. */

/* Looking at values, or pairs of them, box by box; beyond this every box is counted. */
#define MOST_WORK (UINT64_C(1) << 28)

enum { NO_COLUMN = BRUME_UNIVERSE_COLUMNS, SEVERAL_COLUMNS };

/* Which column a box looks at. */
static size_t column_of(const brume_group *box)
{
    size_t found = NO_COLUMN;
    for (size_t c = 0; c < BRUME_UNIVERSE_COLUMNS; c++)
        if (box->allowed[c])
            found = found == NO_COLUMN ? c : SEVERAL_COLUMNS;
    return found;
}

static bool looks_at(const brume_group *group, size_t column)
{
    return group->kind == BRUME_GROUP_BOX && column_of(group) == column;
}

/* The boxes that look at one column: which of its values they allow. */
typedef struct boxes {
    const uint8_t **allowed;
    size_t count;
    uint64_t size; /* values of the column */
} boxes;

/* Boxes that one of the two values is in and the other is not. */
static size_t telling(const boxes *all, uint32_t one, uint32_t other)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += (all->allowed[i][one] != 0) != (all->allowed[i][other] != 0);
    return count;
}

static size_t most_at_once(const boxes *all)
{
    size_t most = 0;
    for (uint32_t v = 0; v < all->size; v++) {
        size_t count = 0;
        for (size_t i = 0; i < all->count; i++)
            count += all->allowed[i][v] != 0;
        most = count > most ? count : most;
    }
    return most;
}

static size_t most_replaced(const boxes *all)
{
    size_t most = 0;
    for (uint32_t v = 0; v < all->size; v++)
        for (uint32_t w = v + 1; w < all->size; w++) {
            size_t count = telling(all, v, w);
            most = count > most ? count : most;
        }
    return most;
}

static size_t moved_of(const boxes *all, brume_adjacency adjacency)
{
    if (all->count < 2 || all->size * all->count > MOST_WORK)
        return all->count;
    if (adjacency == BRUME_ADD_REMOVE)
        return most_at_once(all);
    if (all->size * all->size * all->count <= MOST_WORK)
        return most_replaced(all);
    size_t twice = 2 * most_at_once(all); /* out of some, into others */
    return twice < all->count ? twice : all->count;
}

/* Among boxes that look at this column alone: the most that one record, or its replacement, moves.
 */
static size_t moved_in(const brume_workload *workload, size_t column, brume_adjacency adjacency)
{
    boxes all = {.allowed = malloc(workload->group_count * sizeof *all.allowed),
                 .size = workload->universe.size[column]};
    size_t count = 0;
    for (size_t i = 0; i < workload->group_count; i++) {
        if (!looks_at(&workload->groups[i], column))
            continue;
        if (all.allowed)
            all.allowed[count] = workload->groups[i].allowed[column];
        count++;
    }
    all.count = count;
    size_t moved = all.allowed ? moved_of(&all, adjacency) : count; /* no memory: each of them */
    free(all.allowed);
    return moved;
}

size_t brume_workload_moved(const brume_workload *workload, brume_adjacency adjacency)
{
    size_t moved = 0, cells = adjacency == BRUME_ADD_REMOVE ? 1 : 2;
    for (size_t i = 0; i < workload->group_count; i++) {
        const brume_group *one = &workload->groups[i];
        bool total = (one->kind == BRUME_GROUP_MARGINAL && one->count == 1) ||
                     looks_at(one, NO_COLUMN);
        if (total)
            moved += adjacency == BRUME_ADD_REMOVE; /* public under replace */
        else if (one->kind == BRUME_GROUP_MARGINAL)
            moved += cells;
        else if (one->kind == BRUME_GROUP_DENSE || column_of(one) == SEVERAL_COLUMNS)
            moved++;
    }
    for (size_t c = 0; c < workload->universe.columns; c++)
        moved += moved_in(workload, c, adjacency);
    return moved;
}
