/* Many marginals of one histogram, together.
 *
 * Promises: each answer is the sum of its cells, added in an order that depends on the universe and
 * the marginals alone. A column that some marginals do not need is summed out once for all of them,
 * and what follows works on the smaller table: all pairs of 8 columns cost some 4 passes over the
 * histogram instead of 28. */
#include "synthetic/workload.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "synthetic/block.h"
#include "base/parallel.h"

enum { CHUNK = 4096, NARROW = 8 };

/* out[a][c] = sum over b of in[a][b][c] */
typedef struct projection {
    const double *in;
    uint64_t middle, inner;
    double *out;
    uint64_t chunks; /* of `inner` */
} projection;

static void project_narrow(const projection *work, uint64_t outer)
{
    const double *in = work->in + outer * work->middle * work->inner;
    double sum[NARROW] = {0};
    for (uint64_t b = 0; b < work->middle; b++, in += work->inner)
        for (uint64_t c = 0; c < work->inner; c++)
            sum[c] += in[c];
    memcpy(work->out + outer * work->inner, sum, work->inner * sizeof *sum);
}

static void project_chunks(void *context, size_t piece, uint64_t first, uint64_t last)
{
    (void)piece;
    const projection *work = context;
    for (uint64_t number = first; number < last; number++) {
        uint64_t outer = number / work->chunks, place = number % work->chunks * CHUNK;
        const double *in = work->in + outer * work->middle * work->inner + place;
        double *out = work->out + outer * work->inner + place;
        if (work->inner == 1) {
            *out = brume_block_sum(in, work->middle);
        } else if (work->inner < NARROW) {
            project_narrow(work, outer);
        } else {
            size_t length = work->inner - place < CHUNK ? work->inner - place : CHUNK;
            memcpy(out, in, length * sizeof *out);
            for (uint64_t b = 1; b < work->middle; b++)
                brume_block_add(out, in + b * work->inner, length);
        }
    }
}

static void project(const double *in, uint64_t outer, uint64_t middle, uint64_t inner, double *out)
{
    projection work = {in, middle, inner, out, (inner + CHUNK - 1) / CHUNK};
    uint64_t wide = inner < CHUNK ? inner : CHUNK;
    brume_parallel_run(outer * work.chunks, middle * wide, project_chunks, &work);
}

/* A table of some columns of the universe, and the marginals that are to be made from it. */
typedef struct table {
    const double *weights;
    size_t column[BRUME_UNIVERSE_COLUMNS], columns; /* ascending */
    const brume_group **marginals;
    size_t count;
} table;

static uint64_t cells_of(const brume_universe *universe, const table *from, size_t first,
                         size_t last)
{
    uint64_t cells = 1;
    for (size_t i = first; i < last; i++)
        cells *= universe->size[from->column[i]];
    return cells;
}

/* Bring the marginals that have no use for `column` to the front; how many they are. */
static size_t without(const table *from, size_t column)
{
    size_t front = 0;
    for (size_t i = 0; i < from->count; i++)
        if (!from->marginals[i]->table_stride[column]) {
            const brume_group *one = from->marginals[i];
            from->marginals[i] = from->marginals[front];
            from->marginals[front++] = one;
        }
    return front;
}

static bool none_needs(const table *from, size_t count, size_t column)
{
    for (size_t i = 0; i < count; i++)
        if (from->marginals[i]->table_stride[column])
            return false;
    return true;
}

/* Columns before `at` are needed by all marginals of the table. Depth: at most the columns. */
static brume_status fan_out(const brume_universe *universe, table from, size_t at, double *answers,
                            brume_error *error)
{
    for (; at < from.columns && from.count > 0; at++) {
        if (universe->size[from.column[at]] == 1)
            continue;
        size_t few = without(&from, from.column[at]), last = at + 1;
        if (few == 0)
            continue;
        while (last < from.columns && none_needs(&from, few, from.column[last]))
            last++;
        uint64_t outer = cells_of(universe, &from, 0, at);
        uint64_t middle = cells_of(universe, &from, at, last);
        uint64_t inner = cells_of(universe, &from, last, from.columns);
        double *smaller = malloc(outer * inner * sizeof *smaller);
        if (!smaller)
            return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for a table of %llu cells",
                              (unsigned long long)(outer * inner));
        project(from.weights, outer, middle, inner, smaller);
        table next = from;
        next.weights = smaller;
        next.count = few;
        next.columns -= last - at;
        memmove(next.column + at, next.column + last, (from.columns - last) * sizeof *next.column);
        brume_status status = fan_out(universe, next, at, answers, error);
        free(smaller);
        BRUME_TRY(status);
        from.marginals += few;
        from.count -= few;
    }
    for (size_t i = 0; i < from.count; i++) /* those that need all columns are the table itself */
        memcpy(answers + from.marginals[i]->first, from.weights,
               from.marginals[i]->count * sizeof *answers);
    return BRUME_OK;
}

brume_status brume_workload_marginals(const brume_workload *workload, const brume_group **marginals,
                                      size_t count, const double *weights, double *answers,
                                      brume_error *error)
{
    table from = {.weights = weights,
                  .columns = workload->universe.columns,
                  .marginals = marginals,
                  .count = count};
    for (size_t c = 0; c < from.columns; c++)
        from.column[c] = c;
    return fan_out(&workload->universe, from, 0, answers, error);
}

brume_status brume_workload_answer(const brume_workload *workload, const double *weights,
                                   double *answers, brume_error *error)
{
    const brume_group **marginals = malloc((workload->group_count + 1) * sizeof *marginals);
    size_t count = 0;
    if (!marginals)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu groups of queries",
                          workload->group_count);
    brume_status status = BRUME_OK;
    for (size_t i = 0; i < workload->group_count && status == BRUME_OK; i++) {
        const brume_group *one = &workload->groups[i];
        if (one->kind == BRUME_GROUP_MARGINAL)
            marginals[count++] = one;
        else
            status = brume_workload_answer_one(workload, one->first, weights, answers + one->first,
                                               error);
    }
    if (status == BRUME_OK)
        status = brume_workload_marginals(workload, marginals, count, weights, answers, error);
    free(marginals);
    return status;
}
