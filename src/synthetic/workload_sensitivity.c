/* The sensitivity of a workload: how many of its answers one unit can change.
 *
 * Promises: an upper bound for every pair of neighbours; exact for marginals and for boxes that
 * look at one column, where a record may have the worst value in every column at once. */
#include "synthetic/workload.h"

#include <stdint.h>
#include <stdlib.h>

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

/* Of the boxes that look at this column alone, the most that one record, or its replacement, moves.
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
