/* A workload: linear queries that are to be answered together.
 *
 * The universe is cut into an outer and an inner part: the inner one is the last few columns, a few
 * thousand cells that lie next to each other. A box is then a yes or no per outer cell and one mask
 * for all inner blocks, so that answering and reweighing run at the speed of memory. */
#include <brume/workload.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "synthetic/block.h"
#include "synthetic/parallel.h"

enum { INNER_CELLS = 4096, MARGINAL_CELLS = 1 << 22 };

typedef enum group_kind { MARGINAL, BOX, DENSE } group_kind;

/* Queries that were added together: a marginal has many, the others one. */
typedef struct group {
    group_kind kind;
    size_t first, count;                           /* numbers of its queries */
    size_t columns;                                /* MARGINAL: which columns, ascending */
    size_t column[BRUME_UNIVERSE_COLUMNS];         /*   */
    uint64_t table_stride[BRUME_UNIVERSE_COLUMNS]; /*   stride in the table, 0: not in it */
    uint8_t *allowed[BRUME_UNIVERSE_COLUMNS];      /* BOX: NULL: any value */
    float *values;                                 /* DENSE */
} group;

struct brume_workload {
    brume_universe universe;
    size_t split;   /* columns split.. are the inner part */
    size_t inner;   /* cells of an inner block */
    uint64_t outer; /* number of blocks */
    group *groups;
    size_t group_count, group_room, size;
};

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a workload");
}

brume_status brume_workload_open(const brume_universe *universe, brume_workload **out,
                                 brume_error *error)
{
    brume_workload *workload = calloc(1, sizeof *workload);
    if (!workload)
        return out_of_memory(error);
    workload->universe = *universe;
    workload->split = universe->columns - 1;
    while (workload->split > 0 &&
           universe->stride[workload->split - 1] * universe->size[workload->split - 1] <=
               INNER_CELLS)
        workload->split--;
    workload->inner = (size_t)(universe->stride[workload->split] * universe->size[workload->split]);
    workload->outer = universe->cells / workload->inner;
    *out = workload;
    return BRUME_OK;
}

static void free_group(group *one)
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

const brume_universe *brume_workload_universe(const brume_workload *workload)
{
    return &workload->universe;
}

size_t brume_workload_size(const brume_workload *workload)
{
    return workload->size;
}

size_t brume_workload_moved(const brume_workload *workload, brume_adjacency adjacency)
{
    size_t moved = 0, cells = adjacency == BRUME_ADD_REMOVE ? 1 : 2;
    for (size_t i = 0; i < workload->group_count; i++) {
        const group *one = &workload->groups[i];
        if (one->kind == MARGINAL && one->count == 1)
            moved += adjacency == BRUME_ADD_REMOVE; /* the total: public under replace */
        else
            moved += one->kind == MARGINAL ? cells : 1;
    }
    return moved;
}

bool brume_workload_whole(const brume_workload *workload)
{
    for (size_t i = 0; i < workload->group_count; i++)
        if (workload->groups[i].kind == DENSE)
            return false;
    return true;
}

/* ---- adding queries ---- */

/* Take over `one`, whose kind, count and contents are set. */
static brume_status add_group(brume_workload *workload, group *one, brume_error *error)
{
    if (workload->group_count == workload->group_room) {
        size_t room = workload->group_room ? 2 * workload->group_room : 16;
        group *groups = realloc(workload->groups, room * sizeof *groups);
        if (!groups) {
            free_group(one);
            return out_of_memory(error);
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
    group one = {.kind = MARGINAL};
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
    group one = {.kind = BOX, .count = 1};
    for (size_t c = 0; c < workload->universe.columns; c++) {
        size_t size = workload->universe.size[c];
        if (!allowed[c])
            continue;
        one.allowed[c] = malloc(size);
        if (!one.allowed[c]) {
            free_group(&one);
            return out_of_memory(error);
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
    group one = {.kind = DENSE, .count = 1, .values = malloc(cells * sizeof *values)};
    if (!one.values)
        return out_of_memory(error);
    /* Multiples of 2^-20: sums of up to 2^33 of them are exact in a double. */
    for (uint64_t i = 0; i < cells; i++)
        one.values[i] = rintf(values[i] * 0x1p20f) * 0x1p-20f;
    return add_group(workload, &one, error);
}

/* ---- one query as a box ---- */

/* A box with its inner mask: what a pass over the blocks needs. */
typedef struct pass {
    const brume_workload *workload;
    const uint8_t *allowed[BRUME_UNIVERSE_COLUMNS]; /* NULL: any value; else allowed[value] */
    uint32_t only[BRUME_UNIVERSE_COLUMNS];          /* the one allowed value, where `fixed` */
    bool fixed[BRUME_UNIVERSE_COLUMNS];
    const float *values; /* dense instead of a box */
    double *inner;       /* factor of each cell of a block that the outer part allows */
    double rate;
    double *weights;
    const double *readable;
    double partial[BRUME_PARALLEL_PIECES];
} pass;

static bool allows(const pass *box, size_t column, uint32_t value)
{
    if (box->fixed[column])
        return box->only[column] == value;
    return !box->allowed[column] || box->allowed[column][value];
}

static bool outer_allows(const pass *box, uint64_t block)
{
    const brume_universe *universe = &box->workload->universe;
    uint64_t cell = block * box->workload->inner;
    for (size_t c = 0; c < box->workload->split; c++) {
        uint32_t value = (uint32_t)(cell / universe->stride[c]);
        cell %= universe->stride[c];
        if (!allows(box, c, value))
            return false;
    }
    return true;
}

/* inner[j] = `yes` where the inner columns allow cell j of a block, else `no`. */
static void fill_inner(pass *box, double yes, double no)
{
    const brume_universe *universe = &box->workload->universe;
    for (size_t j = 0; j < box->workload->inner; j++) {
        uint64_t cell = j;
        bool good = true;
        for (size_t c = box->workload->split; good && c < universe->columns; c++) {
            good = allows(box, c, (uint32_t)(cell / universe->stride[c]));
            cell %= universe->stride[c];
        }
        box->inner[j] = good ? yes : no;
    }
}

static const group *find_group(const brume_workload *workload, size_t query)
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

static brume_status prepare(const brume_workload *workload, size_t query, pass *box,
                            brume_error *error)
{
    if (query >= workload->size)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "query %zu of a workload of %zu", query,
                          workload->size);
    const group *one = find_group(workload, query);
    *box = (pass){.workload = workload, .values = one->values};
    if (one->kind == MARGINAL) {
        uint64_t cell = query - one->first;
        for (size_t i = 0; i < one->columns; i++) {
            size_t c = one->column[i];
            box->fixed[c] = true;
            box->only[c] = (uint32_t)(cell / one->table_stride[c]);
            cell %= one->table_stride[c];
        }
    }
    for (size_t c = 0; c < BRUME_UNIVERSE_COLUMNS; c++)
        box->allowed[c] = one->allowed[c];
    if (!box->values && !(box->inner = malloc(workload->inner * sizeof *box->inner)))
        return out_of_memory(error);
    return BRUME_OK;
}

static double run_pass(pass *box, brume_parallel_work work)
{
    size_t pieces = brume_parallel_pieces(box->workload->outer, box->workload->inner);
    brume_parallel_run(box->workload->outer, pieces, work, box);
    double total = 0;
    for (size_t i = 0; i < pieces; i++)
        total += box->partial[i];
    free(box->inner);
    return total;
}

static void answer_blocks(void *context, size_t piece, uint64_t first, uint64_t last)
{
    pass *box = context;
    size_t inner = box->workload->inner;
    double total = 0;
    for (uint64_t block = first; block < last; block++) {
        const double *weights = box->readable + block * inner;
        if (box->values) {
            for (size_t j = 0; j < inner; j++)
                total += weights[j] * (double)box->values[block * inner + j];
        } else if (outer_allows(box, block)) {
            total += brume_block_dot(weights, box->inner, inner);
        }
    }
    box->partial[piece] = total;
}

brume_status brume_workload_answer_one(const brume_workload *workload, size_t query,
                                       const double *weights, double *answer, brume_error *error)
{
    pass box;
    BRUME_TRY(prepare(workload, query, &box, error));
    box.readable = weights;
    if (box.inner)
        fill_inner(&box, 1, 0);
    *answer = run_pass(&box, answer_blocks);
    return BRUME_OK;
}

static void reweigh_blocks(void *context, size_t piece, uint64_t first, uint64_t last)
{
    pass *box = context;
    size_t inner = box->workload->inner;
    double total = 0;
    for (uint64_t block = first; block < last; block++) {
        double *weights = box->weights + block * inner;
        if (box->values) {
            for (size_t j = 0; j < inner; j++)
                total += weights[j] *= exp(box->rate * (double)box->values[block * inner + j]);
        } else if (outer_allows(box, block)) {
            total += brume_block_multiply(weights, box->inner, inner);
        } else {
            total += brume_block_sum(weights, inner);
        }
    }
    box->partial[piece] = total;
}

brume_status brume_workload_reweigh(const brume_workload *workload, size_t query, double rate,
                                    double *weights, double *total, brume_error *error)
{
    if (!(fabs(rate) <= 700))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a rate of %g, must be within 700", rate);
    pass box;
    BRUME_TRY(prepare(workload, query, &box, error));
    box.weights = weights;
    box.rate = rate;
    if (box.inner)
        fill_inner(&box, exp(rate), 1);
    *total = run_pass(&box, reweigh_blocks);
    return BRUME_OK;
}

/* ---- all queries ---- */

/* One marginal: each piece adds up its own table. */
typedef struct tabulation {
    const brume_workload *workload;
    const group *marginal;
    const double *weights;
    uint32_t *inner_index; /* place in the table of each run of the inner block */
    size_t run;            /* cells of the inner block that share a place and lie side by side */
    double *tables;        /* one per piece */
} tabulation;

static void tabulate_blocks(void *context, size_t piece, uint64_t first, uint64_t last)
{
    const tabulation *work = context;
    const brume_universe *universe = &work->workload->universe;
    size_t inner = work->workload->inner, run = work->run;
    double *table = work->tables + piece * work->marginal->count;
    for (uint64_t block = first; block < last; block++) {
        uint64_t cell = block * inner, base = 0;
        for (size_t c = 0; c < work->workload->split; c++) {
            base += cell / universe->stride[c] * work->marginal->table_stride[c];
            cell %= universe->stride[c];
        }
        const double *weights = work->weights + block * inner;
        if (run == 1)
            for (size_t j = 0; j < inner; j++)
                table[base + work->inner_index[j]] += weights[j];
        else
            for (size_t j = 0, i = 0; j < inner; j += run, i++)
                table[base + work->inner_index[i]] += brume_block_sum(weights + j, run);
    }
}

static brume_status answer_marginal(const brume_workload *workload, const group *marginal,
                                    const double *weights, double *answers, brume_error *error)
{
    const brume_universe *universe = &workload->universe;
    tabulation work = {.workload = workload, .marginal = marginal, .weights = weights, .run = 1};
    for (size_t c = universe->columns; c-- > workload->split && !marginal->table_stride[c];)
        work.run *= universe->size[c];
    size_t pieces = brume_parallel_pieces(workload->outer, workload->inner);
    work.inner_index = malloc(workload->inner / work.run * sizeof *work.inner_index);
    work.tables = calloc(pieces * marginal->count, sizeof *work.tables);
    if (!work.inner_index || !work.tables) {
        free(work.inner_index);
        free(work.tables);
        return out_of_memory(error);
    }
    for (size_t i = 0; i < workload->inner / work.run; i++) {
        uint64_t cell = i * work.run, place = 0;
        for (size_t c = workload->split; c < universe->columns; c++) {
            place += cell / universe->stride[c] * marginal->table_stride[c];
            cell %= universe->stride[c];
        }
        work.inner_index[i] = (uint32_t)place;
    }
    brume_parallel_run(workload->outer, pieces, tabulate_blocks, &work);
    for (size_t i = 0; i < marginal->count; i++) {
        answers[i] = 0;
        for (size_t p = 0; p < pieces; p++)
            answers[i] += work.tables[p * marginal->count + i];
    }
    free(work.inner_index);
    free(work.tables);
    return BRUME_OK;
}

brume_status brume_workload_answer(const brume_workload *workload, const double *weights,
                                   double *answers, brume_error *error)
{
    for (size_t i = 0; i < workload->group_count; i++) {
        const group *one = &workload->groups[i];
        if (one->kind == MARGINAL)
            BRUME_TRY(answer_marginal(workload, one, weights, answers + one->first, error));
        else
            BRUME_TRY(brume_workload_answer_one(workload, one->first, weights, answers + one->first,
                                                error));
    }
    return BRUME_OK;
}
