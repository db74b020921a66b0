/* One pass over the weights for all cells of a marginal: each weight times the factor of its cell.
 *
 * Promises: each weight is read and written once, on all cores; the sum is added in an order that
 * depends on the universe alone. The factors of an inner block are laid out as a row, which is kept
 * while the outer columns of the marginal stay the same. */
#include <stdlib.h>

#include "base/error.h"
#include "synthetic/block.h"
#include "base/parallel.h"
#include "synthetic/workload.h"

typedef struct table_pass {
    const brume_workload *workload;
    const brume_group *marginal;
    const double *factors;
    double scale, least;
    double *weights;
    uint32_t *place; /* in the table, of each cell of an inner block */
    double partial[BRUME_PARALLEL_PIECES];
    bool failed[BRUME_PARALLEL_PIECES];
} table_pass;

/* Where the outer columns of a block put it in the table. */
static uint64_t place_of(const table_pass *work, uint64_t block)
{
    const brume_universe *universe = &work->workload->universe;
    uint64_t cell = block * work->workload->inner, place = 0;
    for (size_t c = 0; c < work->workload->split; c++)
        if (work->marginal->table_stride[c])
            place += cell / universe->stride[c] % universe->size[c] *
                     work->marginal->table_stride[c];
    return place;
}

static void step_blocks(void *context, size_t piece, uint64_t first, uint64_t last)
{
    table_pass *work = context;
    size_t inner = work->workload->inner;
    double *row = malloc(inner * sizeof *row), total = 0;
    uint64_t known = UINT64_MAX;
    work->failed[piece] = !row;
    for (uint64_t block = first; block < last && row; block++) {
        uint64_t place = place_of(work, block);
        for (size_t j = 0; j < inner && place != known; j++)
            row[j] = work->scale * work->factors[place + work->place[j]];
        known = place;
        total += brume_block_multiply(work->weights + block * inner, row, work->least, inner);
    }
    work->partial[piece] = total;
    free(row);
}

/* The places of an inner block: from the last column to the first. */
static void fill_places(const table_pass *work)
{
    const brume_universe *universe = &work->workload->universe;
    size_t length = 1;
    work->place[0] = 0;
    for (size_t c = universe->columns; c-- > work->workload->split;) {
        for (uint32_t value = 1; value < universe->size[c]; value++)
            for (size_t j = 0; j < length; j++)
                work->place[value * length + j] =
                    work->place[j] + (uint32_t)(value * work->marginal->table_stride[c]);
        length *= universe->size[c];
    }
}

brume_status brume_workload_step_marginal(const brume_workload *workload,
                                          const brume_group *marginal, const double *factors,
                                          double scale, double least, double *weights,
                                          double *total, brume_error *error)
{
    table_pass work = {.workload = workload,
                       .marginal = marginal,
                       .factors = factors,
                       .scale = scale,
                       .least = least,
                       .weights = weights,
                       .place = malloc(workload->inner * sizeof *work.place)};
    bool failed = !work.place;
    if (!failed) {
        fill_places(&work);
        brume_parallel_run(workload->outer, workload->inner, step_blocks, &work);
    }
    double sum = 0;
    for (size_t i = 0; i < brume_parallel_pieces(workload->outer, workload->inner) && !failed;
         i++) {
        failed = work.failed[i];
        sum += work.partial[i];
    }
    free(work.place);
    if (failed)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a marginal");
    *total = sum;
    return BRUME_OK;
}
