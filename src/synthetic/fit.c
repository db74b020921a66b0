/* Histograms fitted to noisy numbers.
 *
 * Promises: a function of released numbers. How good the fit is is measured, not assumed. */
#include "synthetic/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static brume_status out_of_memory(brume_error *error)
{
    return brume_fail(error, BRUME_EMEMORY, NULL, "no memory to fit a histogram");
}

/* The sum of what is above the level. */
static double above(const double *cells, uint64_t count, double level)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += fmax(cells[i] - level, 0);
    return sum;
}

void brume_fit_cells(double *cells, uint64_t count, double total)
{
    double low = cells[0], high = cells[0];
    for (uint64_t i = 1; i < count; i++) {
        low = fmin(low, cells[i]);
        high = fmax(high, cells[i]);
    }
    low -= total; /* there the sum is at least total */
    for (int step = 0; step < 100 && low < high; step++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (above(cells, count, middle) >= total)
            low = middle;
        else
            high = middle;
    }
    double factor = total / above(cells, count, low); /* the level is a double: nearly 1 */
    for (uint64_t i = 0; i < count; i++)
        cells[i] = fmax(cells[i] - low, 0) * factor;
}

/* Where the answers are farthest off, and how far. */
static size_t worst_of(const double *have, const double *want, size_t count, double *off)
{
    size_t worst = 0;
    *off = 0;
    for (size_t i = 0; i < count; i++)
        if (fabs(have[i] - want[i]) > *off) {
            *off = fabs(have[i] - want[i]);
            worst = i;
        }
    return worst;
}

brume_status brume_fit_distance(const brume_workload *workload, const double *weights,
                                const double *answers, double *off, brume_error *error)
{
    size_t queries = brume_workload_size(workload);
    double *have = malloc(queries * sizeof *have);
    if (!have)
        return out_of_memory(error);
    brume_status status = brume_workload_answer(workload, weights, have, error);
    if (status == BRUME_OK)
        worst_of(have, answers, queries, off);
    free(have);
    return status;
}

/* For a predicate this rate makes its answer `want` exactly, as iterative proportional fitting
 * does: odds of want over odds of have. Other queries move the right way. */
static double rate_of(double have, double want, double records)
{
    double least = fmin(0.5, records / 4);
    have = fmin(fmax(have, least * 0x1p-10), records - least * 0x1p-10);
    want = fmin(fmax(want, least), records - least);
    return fmin(fmax(log(want / (records - want)) - log(have / (records - have)), -4), 4);
}

static brume_status fit_rounds(const brume_workload *workload, const double *answers,
                               double records, uint64_t rounds, brume_mwem_progress *progress,
                               void *context, double *now, double *have, double *weights,
                               double *off, brume_error *error)
{
    uint64_t cells = brume_workload_universe(workload)->cells;
    size_t queries = brume_workload_size(workload);
    double best = INFINITY;
    for (uint64_t i = 0; i < cells; i++)
        now[i] = records / (double)cells;
    for (uint64_t round = 0;; round++) {
        double here, total;
        BRUME_TRY(brume_workload_answer(workload, now, have, error));
        size_t worst = worst_of(have, answers, queries, &here);
        if (here < best) {
            best = here;
            memcpy(weights, now, cells * sizeof *weights);
        }
        if (progress)
            (void)progress(context, round, rounds);
        if (round == rounds || here <= 0)
            break;
        double rate = rate_of(have[worst], answers[worst], records);
        BRUME_TRY(brume_workload_reweigh(workload, worst, rate, now, &total, error));
        for (uint64_t i = 0; i < cells; i++)
            now[i] *= records / total;
    }
    *off = best;
    return BRUME_OK;
}

brume_status brume_fit_answers(const brume_workload *workload, const double *answers,
                               double records, uint64_t rounds, brume_mwem_progress *progress,
                               void *context, double *weights, double *off, brume_error *error)
{
    double *now = malloc(brume_workload_universe(workload)->cells * sizeof *now);
    double *have = malloc(brume_workload_size(workload) * sizeof *have);
    brume_status status = now && have ? fit_rounds(workload, answers, records, rounds, progress,
                                                   context, now, have, weights, off, error)
                                      : out_of_memory(error);
    free(now);
    free(have);
    return status;
}
