/* One pass over the weights for one query: its answer, or a step of multiplicative weights.
 *
 * Promises: each weight is read once, and written once by a step, on all cores; sums are added in
 * an order that depends on the universe alone, so that public numbers are the same on every
 * machine. */
#include "synthetic/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "synthetic/block.h"
#include "base/parallel.h"

enum { CHUNK = 4096 }; /* most cells of a block that are handled at once */

typedef struct pass {
    const brume_workload *workload;
    const uint8_t *allowed[BRUME_UNIVERSE_COLUMNS]; /* NULL: any value; else allowed[value] */
    uint32_t only[BRUME_UNIVERSE_COLUMNS];          /* the one allowed value, where `fixed` */
    bool fixed[BRUME_UNIVERSE_COLUMNS];
    const float *values; /* dense instead of a box */
    double *inner;       /* factor of each cell of a block that the outer part allows; */
    double yes, no;      /*   where `inner` is NULL, `yes` is that of all of them */
    brume_powers powers; /* dense step */
    double least;
    double *weights;
    const double *readable;
    size_t chunks; /* of a block */
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
        if (!box->fixed[c] && !box->allowed[c])
            continue;
        uint64_t value = cell / universe->stride[c] % universe->size[c];
        if (!allows(box, c, (uint32_t)value))
            return false;
    }
    return true;
}

static bool needs_inner(const pass *box)
{
    for (size_t c = box->workload->split; c < box->workload->universe.columns; c++)
        if (box->fixed[c] || box->allowed[c])
            return true;
    return false;
}

/* inner[j] = `yes` where the inner columns allow cell j of a block, else `no`: from the last column
 * to the first, each value a copy of what is there already. */
static void fill_inner(pass *box)
{
    const brume_universe *universe = &box->workload->universe;
    size_t length = 1;
    box->inner[0] = box->yes;
    for (size_t c = universe->columns; c-- > box->workload->split;) {
        for (uint32_t value = universe->size[c]; value-- > 0;) {
            double *to = box->inner + value * length;
            if (!allows(box, c, value))
                for (size_t j = 0; j < length; j++)
                    to[j] = box->no;
            else if (value > 0)
                memcpy(to, box->inner, length * sizeof *to);
        }
        length *= universe->size[c];
    }
}

/* Release with close_pass. */
static brume_status open_pass(const brume_workload *workload, size_t query, double yes, double no,
                              pass *box, brume_error *error)
{
    if (query >= workload->size)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "query %zu of a workload of %zu", query,
                          workload->size);
    const brume_group *one = brume_workload_group(workload, query);
    *box = (pass){.workload = workload,
                  .values = one->values,
                  .yes = yes,
                  .no = no,
                  .chunks = (workload->inner + CHUNK - 1) / CHUNK};
    if (one->kind == BRUME_GROUP_MARGINAL) {
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
    if (!box->values && needs_inner(box)) {
        box->inner = malloc(workload->inner * sizeof *box->inner);
        if (!box->inner)
            return brume_no_memory(error, "a query");
        fill_inner(box);
    }
    return BRUME_OK;
}

static void close_pass(pass *box)
{
    free(box->inner);
}

/* Where a chunk lies: its first cell, its place in the inner block, its length. */
typedef struct chunk {
    uint64_t block, first;
    size_t place, length;
} chunk;

static chunk find_chunk(const pass *box, uint64_t number)
{
    size_t inner = box->workload->inner;
    chunk one = {.block = number / box->chunks, .place = number % box->chunks * CHUNK};
    one.first = one.block * inner + one.place;
    one.length = inner - one.place < CHUNK ? inner - one.place : CHUNK;
    return one;
}

static double run_pass(pass *box, brume_parallel_work work)
{
    size_t cells = box->workload->inner < CHUNK ? box->workload->inner : CHUNK;
    uint64_t count = box->workload->outer * box->chunks;
    brume_parallel_run(count, cells, work, box);
    double total = 0;
    for (size_t i = 0; i < brume_parallel_pieces(count, cells); i++)
        total += box->partial[i];
    return total;
}

static void answer_chunks(void *context, size_t piece, uint64_t first, uint64_t last)
{
    pass *box = context;
    double total = 0;
    for (uint64_t number = first; number < last; number++) {
        chunk one = find_chunk(box, number);
        const double *weights = box->readable + one.first;
        if (box->values)
            total += brume_block_dot_values(weights, box->values + one.first, one.length);
        else if (!outer_allows(box, one.block))
            continue;
        else if (box->inner)
            total += brume_block_dot(weights, box->inner + one.place, one.length);
        else
            total += brume_block_sum(weights, one.length);
    }
    box->partial[piece] = total;
}

brume_status brume_workload_answer_one(const brume_workload *workload, size_t query,
                                       const double *weights, double *answer, brume_error *error)
{
    pass box;
    BRUME_TRY(open_pass(workload, query, 1, 0, &box, error));
    box.readable = weights;
    *answer = run_pass(&box, answer_chunks);
    close_pass(&box);
    return BRUME_OK;
}

static void step_chunks(void *context, size_t piece, uint64_t first, uint64_t last)
{
    pass *box = context;
    double total = 0;
    for (uint64_t number = first; number < last; number++) {
        chunk one = find_chunk(box, number);
        double *weights = box->weights + one.first;
        if (box->values)
            total += brume_block_power(weights, box->values + one.first, &box->powers, box->least,
                                       one.length);
        else if (!outer_allows(box, one.block))
            total += brume_block_scale(weights, box->no, box->least, one.length);
        else if (box->inner)
            total += brume_block_multiply(weights, box->inner + one.place, box->least, one.length);
        else
            total += brume_block_scale(weights, box->yes, box->least, one.length);
    }
    box->partial[piece] = total;
}

brume_status brume_workload_step(const brume_workload *workload, size_t query, double rate,
                                 double scale, double least, double *weights, double *total,
                                 brume_error *error)
{
    pass box;
    BRUME_TRY(open_pass(workload, query, scale * exp(rate), scale, &box, error));
    brume_powers_fill(&box.powers, rate, scale);
    box.weights = weights;
    box.least = least;
    *total = run_pass(&box, step_chunks);
    close_pass(&box);
    return BRUME_OK;
}

brume_status brume_workload_reweigh(const brume_workload *workload, size_t query, double rate,
                                    double *weights, double *total, brume_error *error)
{
    if (!(fabs(rate) <= 700))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a rate of %g, must be within 700", rate);
    return brume_workload_step(workload, query, rate, 1, 0, weights, total, error);
}
