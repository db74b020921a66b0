/* A public histogram under multiplicative weights. Promises: weights.h. */
#include "synthetic/weights.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <brume/synthetic/workload.h>

#include "base/error.h"
#include "base/parallel.h"
#include "synthetic/workload.h"

/* v -> scale e^(rate v) on [0, 1]: a Taylor polynomial about 1/2 for rate/2^squarings, squared that
 * often, then scaled. Right to a relative |rate| 2^-30: a step needs no more, because weights are
 * public and its effect is of the size of its rate. */
enum { BRUME_POWERS_MOST = 16 };

typedef struct brume_powers {
    double coefficient[BRUME_POWERS_MOST]; /* from the highest down */
    double scale;
    int degree, squarings;
} brume_powers;

/* The inner loops over the weights of consecutive cells, vectorised for the processor at hand.
 *
 * Promises: the same sums on every processor: lanes are added in one fixed order, and no product is
 * fused into a sum. */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EVERY_PROCESSOR                                                                            \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EVERY_PROCESSOR
#endif

enum { LANES = 8, UNROLL = 4, STRIDE = LANES * UNROLL };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef float narrow_lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int64_t whole_lanes __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Lanes at any address. By pointer: a vector as a result would depend on the processor. */
static inline __attribute__((always_inline)) void load(lanes *value, const double *from)
{
    memcpy(value, from, sizeof *value);
}

static inline __attribute__((always_inline)) void store(double *to, const lanes *value)
{
    memcpy(to, value, sizeof *value);
}

/* value = max(value, least), lane by lane. */
static inline __attribute__((always_inline)) void raise(lanes *value, const lanes *least)
{
    whole_lanes above = *value > *least;
    *value = (lanes)(((whole_lanes)*value & above) | ((whole_lanes)*least & ~above));
}

static inline __attribute__((always_inline)) double add_lanes(const lanes *total)
{
    lanes sum = (total[0] + total[1]) + (total[2] + total[3]);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* Sum of weights. */
static EVERY_PROCESSOR double block_sum(const double *weights, size_t n)
{
    lanes total[UNROLL] = {{0}};
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value;
            load(&value, weights + i + LANES * u);
            total[u] += value;
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i];
    return add_lanes(total) + rest;
}

/* Sum of weights[i] * factors[i]. */
static EVERY_PROCESSOR double block_dot(const double *weights, const double *factors, size_t n)
{
    lanes total[UNROLL] = {{0}};
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value, factor;
            load(&value, weights + i + LANES * u);
            load(&factor, factors + i + LANES * u);
            total[u] += value * factor;
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i] * factors[i];
    return add_lanes(total) + rest;
}

/* Sum of weights[i] * values[i]. */
static EVERY_PROCESSOR double block_dot_values(const double *weights, const float *values, size_t n)
{
    lanes total[UNROLL] = {{0}};
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value;
            narrow_lanes narrow;
            load(&value, weights + i + LANES * u);
            memcpy(&narrow, values + i + LANES * u, sizeof narrow);
            total[u] += value * __builtin_convertvector(narrow, lanes);
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i] * (double)values[i];
    return add_lanes(total) + rest;
}

/* weights[i] *= factor; the sum of the results. */
static EVERY_PROCESSOR double block_scale(double *weights, double factor, double least, size_t n)
{
    lanes total[UNROLL] = {{0}}, low = (lanes){0} + least;
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value;
            load(&value, weights + i + LANES * u);
            value *= factor;
            raise(&value, &low);
            store(weights + i + LANES * u, &value);
            total[u] += value;
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i] = fmax(weights[i] * factor, least);
    return add_lanes(total) + rest;
}

/* weights[i] *= factors[i]; the sum of the results. */
static EVERY_PROCESSOR double block_multiply(double *weights, const double *factors, double least,
                                             size_t n)
{
    lanes total[UNROLL] = {{0}}, low = (lanes){0} + least;
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE)
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value, factor;
            load(&value, weights + i + LANES * u);
            load(&factor, factors + i + LANES * u);
            value *= factor;
            raise(&value, &low);
            store(weights + i + LANES * u, &value);
            total[u] += value;
        }
    double rest = 0;
    for (; i < n; i++)
        rest += weights[i] = fmax(weights[i] * factors[i], least);
    return add_lanes(total) + rest;
}

/* |rate| <= 700. */
static void powers_fill(brume_powers *powers, double rate, double scale)
{
    *powers = (brume_powers){.scale = scale};
    while (fabs(rate) > 0.5) {
        rate /= 2; /* exact */
        powers->squarings++;
    }
    /* With |x| <= 1/4 the terms left out are at most 3/2 of the first of them, relatively to e^x;
     * 3/2 |rate| 2^-31 leaves a quarter for rounding; squaring doubles an error as it doubles the
     * rate. */
    double most = fabs(rate) * 0x1p-31, term = 1, ascending[BRUME_POWERS_MOST],
           middle = exp(rate / 2);
    int degree = -1;
    do {
        degree++;
        ascending[degree] = middle;
        middle *= rate / (degree + 1);
        term *= fabs(rate) / 2 / (degree + 1);
    } while (term > most && degree + 1 < BRUME_POWERS_MOST);
    powers->degree = degree;
    for (int k = 0; k <= degree; k++)
        powers->coefficient[k] = ascending[degree - k];
}

/* weights[i] *= scale e^(rate values[i]), values[i] in [0, 1]; the sum of the results. */
static EVERY_PROCESSOR double block_power(double *weights, const float *values,
                                          const brume_powers *powers, double least, size_t n)
{
    lanes total[UNROLL] = {{0}}, low = (lanes){0} + least;
    size_t i = 0;
    for (; i + STRIDE <= n; i += STRIDE) {
        lanes at[UNROLL], power[UNROLL];
        for (size_t u = 0; u < UNROLL; u++) {
            narrow_lanes narrow;
            memcpy(&narrow, values + i + LANES * u, sizeof narrow);
            at[u] = __builtin_convertvector(narrow, lanes) - 0.5;
            power[u] = (lanes){0} + powers->coefficient[0];
        }
        for (int k = 1; k <= powers->degree; k++)
            for (size_t u = 0; u < UNROLL; u++)
                power[u] = power[u] * at[u] + powers->coefficient[k];
        for (int k = 0; k < powers->squarings; k++)
            for (size_t u = 0; u < UNROLL; u++)
                power[u] *= power[u];
        for (size_t u = 0; u < UNROLL; u++) {
            lanes value;
            load(&value, weights + i + LANES * u);
            value *= power[u] * powers->scale;
            raise(&value, &low);
            store(weights + i + LANES * u, &value);
            total[u] += value;
        }
    }
    double rest = 0;
    for (; i < n; i++) {
        double at = (double)values[i] - 0.5, power = powers->coefficient[0];
        for (int k = 1; k <= powers->degree; k++)
            power = power * at + powers->coefficient[k];
        for (int k = 0; k < powers->squarings; k++)
            power *= power;
        rest += weights[i] = fmax(weights[i] * (power * powers->scale), least);
    }
    return add_lanes(total) + rest;
}

/* sum[i] += weights[i]. */
static EVERY_PROCESSOR void block_add(double *sum, const double *weights, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += weights[i];
}

/* sum[i] += scale * weights[i]. */
static EVERY_PROCESSOR void block_accumulate(double *sum, const double *weights, double scale,
                                             size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += scale * weights[i];
}

#define LEAST_WEIGHT 0x1p-900

enum { CHUNK = 4096 }; /* most cells of a block that are handled at once */

/* A pass that does the same to every cell. */
typedef struct sweep {
    double *cell;
    const double *from; /* NULL: the cells themselves */
    double factor;
    uint64_t cells;
} sweep;

static void sweep_chunks(void *context, size_t piece, uint64_t first, uint64_t last)
{
    (void)piece;
    const sweep *work = context;
    for (uint64_t i = first * CHUNK; i < last * CHUNK && i < work->cells; i += CHUNK) {
        size_t length = work->cells - i < CHUNK ? (size_t)(work->cells - i) : CHUNK;
        if (work->from)
            block_accumulate(work->cell + i, work->from + i, work->factor, length);
        else
            (void)block_scale(work->cell + i, work->factor, 0, length);
    }
}

static void run_sweep(const brume_weights *weights, double *cell, const double *from, double factor)
{
    sweep work = {cell, from, factor, brume_workload_universe(weights->workload)->cells};
    brume_parallel_run((work.cells + CHUNK - 1) / CHUNK, CHUNK, sweep_chunks, &work);
}

void brume_weights_uniform(brume_weights *weights, const brume_workload *workload, double records,
                           double *cell)
{
    uint64_t cells = brume_workload_universe(workload)->cells;
    *weights = (brume_weights){workload, cell, 1, records};
    for (uint64_t i = 0; i < cells; i++)
        cell[i] = records / (double)cells;
}

brume_status brume_weights_answer_one(const brume_weights *weights, size_t query, double *answer,
                                      brume_error *error)
{
    BRUME_TRY(brume_workload_answer_one(weights->workload, query, weights->cell, answer, error));
    *answer *= weights->scale;
    return BRUME_OK;
}

brume_status brume_weights_answer(const brume_weights *weights, double *answers, brume_error *error)
{
    BRUME_TRY(brume_workload_answer(weights->workload, weights->cell, answers, error));
    for (size_t i = 0; i < brume_workload_size(weights->workload); i++)
        answers[i] *= weights->scale;
    return BRUME_OK;
}

double brume_weights_rate(double wanted, double answer, double records, double step)
{
    return step * (wanted - answer) / records;
}

brume_status brume_weights_step(brume_weights *weights, size_t query, double rate,
                                brume_error *error)
{
    double total;
    BRUME_TRY(brume_workload_step(weights->workload, query, rate, weights->scale, LEAST_WEIGHT,
                                  weights->cell, &total, error));
    weights->scale = weights->records / total;
    return BRUME_OK;
}

static brume_status workload_marginals(const brume_workload *workload,
                                       const brume_group **marginals, size_t count,
                                       const double *weights, double *answers, brume_error *error);

brume_status brume_weights_marginal(const brume_weights *weights, const brume_group *marginal,
                                    double *answers, brume_error *error)
{
    const brume_group *one[] = {marginal};
    BRUME_TRY(workload_marginals(weights->workload, one, 1, weights->cell, answers, error));
    for (size_t i = 0; i < marginal->count; i++)
        answers[marginal->first + i] *= weights->scale;
    return BRUME_OK;
}

brume_status brume_weights_step_marginal(brume_weights *weights, const brume_group *marginal,
                                         const double *factors, brume_error *error)
{
    double total;
    BRUME_TRY(brume_workload_step_marginal(weights->workload, marginal, factors, weights->scale,
                                           LEAST_WEIGHT, weights->cell, &total, error));
    weights->scale = weights->records / total;
    return BRUME_OK;
}

void brume_weights_add_to(const brume_weights *weights, double factor, double *sum)
{
    run_sweep(weights, sum, weights->cell, factor * weights->scale);
}

void brume_weights_settle(brume_weights *weights)
{
    if (weights->scale != 1)
        run_sweep(weights, weights->cell, NULL, weights->scale);
    weights->scale = 1;
}

double brume_weights_public(double answer)
{
    return rint(answer * 0x1p20) * 0x1p-20;
}

/* One pass over the weights for one query: its answer, or a step of multiplicative weights.
 *
 * Promises: each weight is read once, and written once by a step, on all cores; sums are added in
 * an order that depends on the universe alone, so that public numbers are the same on every
 * machine. */

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
            total += block_dot_values(weights, box->values + one.first, one.length);
        else if (!outer_allows(box, one.block))
            continue;
        else if (box->inner)
            total += block_dot(weights, box->inner + one.place, one.length);
        else
            total += block_sum(weights, one.length);
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
            total +=
                block_power(weights, box->values + one.first, &box->powers, box->least, one.length);
        else if (!outer_allows(box, one.block))
            total += block_scale(weights, box->no, box->least, one.length);
        else if (box->inner)
            total += block_multiply(weights, box->inner + one.place, box->least, one.length);
        else
            total += block_scale(weights, box->yes, box->least, one.length);
    }
    box->partial[piece] = total;
}

brume_status brume_workload_step(const brume_workload *workload, size_t query, double rate,
                                 double scale, double least, double *weights, double *total,
                                 brume_error *error)
{
    pass box;
    BRUME_TRY(open_pass(workload, query, scale * exp(rate), scale, &box, error));
    powers_fill(&box.powers, rate, scale);
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

/* One pass over the weights for all cells of a marginal: each weight times the factor of its cell.
 *
 * Promises: each weight is read and written once, on all cores; the sum is added in an order that
 * depends on the universe alone. The factors of an inner block are laid out as a row, which is kept
 * while the outer columns of the marginal stay the same. */

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
    double *row = calloc(inner, sizeof *row), total = 0;
    uint64_t known = UINT64_MAX;
    work->failed[piece] = !row;
    for (uint64_t block = first; block < last && row; block++) {
        uint64_t place = place_of(work, block);
        for (size_t j = 0; j < inner && place != known; j++)
            row[j] = work->scale * work->factors[place + work->place[j]];
        known = place;
        total += block_multiply(work->weights + block * inner, row, work->least, inner);
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

/* Many marginals of one histogram, together.
 *
 * Promises: each answer is the sum of its cells, added in an order that depends on the universe and
 * the marginals alone. A column that some marginals do not need is summed out once for all of them,
 * and what follows works on the smaller table: all pairs of 8 columns cost some 4 passes over the
 * histogram instead of 28. */

enum { NARROW = 8 };

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
            *out = block_sum(in, work->middle);
        } else if (work->inner < NARROW) {
            project_narrow(work, outer);
        } else {
            size_t length = work->inner - place < CHUNK ? work->inner - place : CHUNK;
            memcpy(out, in, length * sizeof *out);
            for (uint64_t b = 1; b < work->middle; b++)
                block_add(out, in + b * work->inner, length);
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
typedef struct weights_table {
    const double *weights;
    size_t column[BRUME_UNIVERSE_COLUMNS], columns; /* ascending */
    const brume_group **marginals;
    size_t count;
} weights_table;

static uint64_t cells_of(const brume_universe *universe, const weights_table *from, size_t first,
                         size_t last)
{
    uint64_t cells = 1;
    for (size_t i = first; i < last; i++)
        cells *= universe->size[from->column[i]];
    return cells;
}

/* Bring the marginals that have no use for `column` to the front; how many they are. */
static size_t without(const weights_table *from, size_t column)
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

static bool none_needs(const weights_table *from, size_t count, size_t column)
{
    for (size_t i = 0; i < count; i++)
        if (from->marginals[i]->table_stride[column])
            return false;
    return true;
}

/* Columns before `at` are needed by all marginals of the table. Depth: at most the columns. */
static brume_status fan_out(const brume_universe *universe, weights_table from, size_t at,
                            double *answers, brume_error *error)
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
        weights_table next = from;
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

/* answers[..] of `count` marginals, each at its group's `first`, together. */
static brume_status workload_marginals(const brume_workload *workload,
                                       const brume_group **marginals, size_t count,
                                       const double *weights, double *answers, brume_error *error)
{
    weights_table from = {.weights = weights,
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
        status = workload_marginals(workload, marginals, count, weights, answers, error);
    free(marginals);
    return status;
}
