/* A public histogram under multiplicative weights. Promises: weights.h. */
#include "synthetic/weights.h"

#include <math.h>

#include "base/error.h"
#include "synthetic/block.h"
#include "base/parallel.h"

#define LEAST_WEIGHT 0x1p-900

enum { CHUNK = 4096 };

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
            brume_block_accumulate(work->cell + i, work->from + i, work->factor, length);
        else
            (void)brume_block_scale(work->cell + i, work->factor, 0, length);
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

brume_status brume_weights_marginal(const brume_weights *weights, const brume_group *marginal,
                                    double *answers, brume_error *error)
{
    const brume_group *one[] = {marginal};
    BRUME_TRY(brume_workload_marginals(weights->workload, one, 1, weights->cell, answers, error));
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
