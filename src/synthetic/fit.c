/* Histograms fitted to noisy numbers.
 *
 * Promises: a function of released numbers. How good the fit is is measured, not assumed. */
#include "synthetic/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "synthetic/workload.h"

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

typedef struct fitting {
    const brume_workload *workload;
    double records;
    double *now;     /* per cell */
    double *have;    /* per query: answers of `now` */
    double *targets; /* per query: what they are moved to */
} fitting;

/* All cells of a marginal at once: the weights of each are multiplied by target over answer. */
static void fit_marginal(fitting *all, const brume_group *group)
{
    const brume_universe *universe = &all->workload->universe;
    double *factors = all->have + group->first; /* answered anew before they are used again */
    uint32_t record[BRUME_UNIVERSE_COLUMNS] = {0};
    uint64_t place = 0;
    size_t last = universe->columns - 1;
    uint64_t step = group->table_stride[last];
    for (size_t i = 0; i < group->count; i++) {
        double have = fmax(factors[i], all->records * 0x1p-60);
        factors[i] = fmin(fmax(all->targets[group->first + i] / have, 0x1p-20), 0x1p20);
    }
    for (uint64_t cell = 0; cell < universe->cells;) {
        for (uint32_t v = 0; v < universe->size[last]; v++)
            all->now[cell + v] *= factors[place + v * step];
        cell += universe->size[last];
        for (size_t c = last; c-- > 0;) { /* the next record of the other columns */
            place += group->table_stride[c];
            if (++record[c] < universe->size[c])
                break;
            place -= group->table_stride[c] * universe->size[c];
            record[c] = 0;
        }
    }
}

/* Put the group of the worst answer right. */
static brume_status fit_group(fitting *all, size_t worst, brume_error *error)
{
    const brume_group *group = brume_workload_group(all->workload, worst);
    uint64_t cells = all->workload->universe.cells;
    double total = 0;
    if (group->kind == BRUME_GROUP_MARGINAL && group->count > 1) {
        fit_marginal(all, group);
        for (uint64_t i = 0; i < cells; i++)
            total += all->now[i];
    } else {
        double rate = rate_of(all->have[worst], all->targets[worst], all->records);
        BRUME_TRY(brume_workload_reweigh(all->workload, worst, rate, all->now, &total, error));
    }
    for (uint64_t i = 0; i < cells; i++)
        all->now[i] *= all->records / total;
    return BRUME_OK;
}

/* Noisy tables as tables: nothing below 0, and the right sum. */
static void make_targets(fitting *all, const double *answers)
{
    memcpy(all->targets, answers, all->workload->size * sizeof *answers);
    for (size_t i = 0; i < all->workload->group_count; i++) {
        const brume_group *group = &all->workload->groups[i];
        if (group->kind == BRUME_GROUP_MARGINAL)
            brume_fit_cells(all->targets + group->first, group->count, all->records);
    }
}

static brume_status fit_rounds(fitting *all, const double *answers, uint64_t rounds,
                               brume_mwem_progress *progress, void *context, double *weights,
                               double *off, brume_error *error)
{
    uint64_t cells = all->workload->universe.cells;
    size_t queries = all->workload->size;
    double best = INFINITY;
    for (uint64_t i = 0; i < cells; i++)
        all->now[i] = all->records / (double)cells;
    make_targets(all, answers);
    for (uint64_t round = 0;; round++) {
        double here, left;
        BRUME_TRY(brume_workload_answer(all->workload, all->now, all->have, error));
        worst_of(all->have, answers, queries, &here);
        size_t worst = worst_of(all->have, all->targets, queries, &left);
        if (here < best) {
            best = here;
            memcpy(weights, all->now, cells * sizeof *weights);
        }
        bool more = !progress || progress(context, round, rounds);
        if (!more || round == rounds || left <= all->records * 0x1p-30)
            break;
        BRUME_TRY(fit_group(all, worst, error));
    }
    *off = best;
    return BRUME_OK;
}

brume_status brume_fit_answers(const brume_workload *workload, const double *answers,
                               double records, uint64_t rounds, brume_mwem_progress *progress,
                               void *context, double *weights, double *off, brume_error *error)
{
    size_t queries = brume_workload_size(workload);
    fitting all = {.workload = workload,
                   .records = records,
                   .now = malloc(brume_workload_universe(workload)->cells * sizeof(double)),
                   .have = malloc(queries * sizeof(double)),
                   .targets = malloc(queries * sizeof(double))};
    brume_status status =
        all.now && all.have && all.targets
            ? fit_rounds(&all, answers, rounds, progress, context, weights, off, error)
            : out_of_memory(error);
    free(all.now);
    free(all.have);
    free(all.targets);
    return status;
}
