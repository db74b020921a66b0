/* The plan of a synthetic histogram: which events, at which share of the price.
 *
 * Promises: the events together cost at most the price, and the run draws with exactly them; every
 * fault of the options shows here, before anything is drawn or charged. */
#include "synthetic/synthetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>
#include <brume/noise/noise.h>
#include <brume/noise/primitive.h>
#include <brume/synthetic/direct.h>
#include <brume/synthetic/multiplicative_weights.h>
#include <brume/synthetic/mwem.h>
#include <brume/synthetic/small_database.h>
#include <brume/synthetic/synthetic.h>
#include <brume/synthetic/universe.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"
#include "synthetic/mwem.h"
#include "synthetic/number_event.h"
#include "synthetic/workload.h"
#include "synthetic/worst_error.h"

/* Histograms fitted to noisy numbers.
 *
 * Promises: a function of released numbers. How good the fit is is measured, not assumed. */

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

typedef struct brume_synthetic_plan {
    bool buys; /* the number of records, with `records_event`; MWEM does it itself */
    brume_event records_event;
    double epsilon, rho; /* what is left for the method itself */
    uint64_t hits;       /* WEIGHTS */
} brume_synthetic_plan;

/* ---- a finite universe of records: the product of the domains of a few columns ---- */

brume_status brume_universe_make(const uint32_t *sizes, size_t columns, brume_universe *out,
                                 brume_error *error)
{
    if (columns < 1 || columns > BRUME_UNIVERSE_COLUMNS)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "a universe of %zu columns, must be 1 to %d", columns,
                          BRUME_UNIVERSE_COLUMNS);
    brume_universe universe = {.columns = columns, .cells = 1};
    double cells = 1; /* for the message: never overflows */
    for (size_t c = columns; c-- > 0;) {
        if (sizes[c] < 1)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "column %zu has an empty domain",
                              c + 1);
        cells *= sizes[c];
        universe.size[c] = sizes[c];
        universe.stride[c] = universe.cells;
        if (cells <= (double)BRUME_UNIVERSE_CELLS)
            universe.cells *= sizes[c];
    }
    if (cells > (double)BRUME_UNIVERSE_CELLS)
        return brume_fail(error, BRUME_EOVERFLOW, "take fewer columns, or coarser domains",
                          "a universe of %.6g cells, at most %llu are possible", cells,
                          (unsigned long long)BRUME_UNIVERSE_CELLS);
    *out = universe;
    return BRUME_OK;
}

brume_status brume_universe_cell(const brume_universe *universe, const uint32_t *record,
                                 uint64_t *cell, brume_error *error)
{
    uint64_t number = 0;
    for (size_t c = 0; c < universe->columns; c++) {
        if (record[c] >= universe->size[c])
            return brume_fail(error, BRUME_EARGUMENT, NULL,
                              "a value of column %zu is outside its domain", c + 1);
        number += record[c] * universe->stride[c];
    }
    *cell = number;
    return BRUME_OK;
}

void brume_universe_record(const brume_universe *universe, uint64_t cell, uint32_t *record)
{
    for (size_t c = 0; c < universe->columns; c++) {
        record[c] = (uint32_t)(cell / universe->stride[c]);
        cell %= universe->stride[c];
    }
}

/* ---- records drawn from a histogram of weights: post-processing of a release ---- */

/* The first cell whose cumulated weight is above `place`. */
static uint64_t find_cell(const double *cumulated, uint64_t cells, double place)
{
    uint64_t low = 0, high = cells - 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (cumulated[middle] > place)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

brume_status brume_synthetic_records(const brume_universe *universe, const double *weights,
                                     brume_bits *bits, uint64_t *out, size_t n, brume_error *error)
{
    double total = 0;
    double *cumulated = malloc(universe->cells * sizeof *cumulated);
    if (!cumulated)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %llu cells",
                          (unsigned long long)universe->cells);
    bool good = true;
    for (uint64_t i = 0; i < universe->cells; i++) {
        good = good && weights[i] >= 0;
        cumulated[i] = total += weights[i];
    }
    if (!good || !(total > 0) || !isfinite(total)) {
        free(cumulated);
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "weights to draw records from must be >= 0 with a finite sum above 0");
    }
    brume_status status = BRUME_OK;
    for (size_t i = 0; i < n && status == BRUME_OK; i++) {
        uint64_t place;
        status = brume_sample_below(bits, UINT64_C(1) << 53, &place, error);
        if (status == BRUME_OK)
            out[i] = find_cell(cumulated, universe->cells, (double)place * 0x1p-53 * total);
    }
    if (status != BRUME_OK)
        memset(out, 0, n * sizeof *out);
    free(cumulated);
    return status;
}

/* Systematic sampling: row k is where the cumulated weight passes (k + u)/n of the total. */
brume_status brume_synthetic_rows(const brume_universe *universe, const double *weights,
                                  brume_bits *bits, uint64_t n, double *rows, brume_error *error)
{
    double total = 0, cumulated = 0;
    bool good = true;
    uint64_t place, last = 0;
    memset(rows, 0, universe->cells * sizeof *rows);
    for (uint64_t i = 0; i < universe->cells; i++) {
        good = good && weights[i] >= 0;
        total += weights[i];
        last = weights[i] > 0 ? i : last;
    }
    if (!good || !(total > 0) || !isfinite(total))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "weights to draw rows from must be >= 0 with a finite sum above 0");
    BRUME_TRY(brume_sample_below(bits, UINT64_C(1) << 53, &place, error));
    double offset = (double)place * 0x1p-53;
    uint64_t drawn = 0;
    for (uint64_t i = 0; i < universe->cells && drawn < n; i++) {
        cumulated += weights[i];
        /* how many k have (k + u)/n < cumulated/total */
        double reached = ceil(cumulated / total * (double)n - offset);
        uint64_t upto = reached <= 0 ? 0 : reached >= (double)n ? n : (uint64_t)reached;
        if (weights[i] > 0 && upto > drawn) {
            rows[i] = (double)(upto - drawn);
            drawn = upto;
        }
    }
    rows[last] += (double)(n - drawn); /* what rounding left over */
    return BRUME_OK;
}

static brume_status check_common(const brume_workload *workload,
                                 const brume_synthetic_options *options, brume_error *error)
{
    if (options->method < BRUME_SYNTHETIC_MWEM || options->method > BRUME_SYNTHETIC_HISTOGRAM)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no such 'method' of synthetic data");
    BRUME_TRY(brume_exact_price("a synthetic histogram", options->adjacency, options->epsilon,
                                options->rho, error));
    bool pure_only = options->method == BRUME_SYNTHETIC_SMALL_DATABASE ||
                     options->method == BRUME_SYNTHETIC_LAPLACE;
    if (pure_only && options->rho > 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "take MWEM, WEIGHTS, GAUSSIAN or HISTOGRAM",
                          "this method is paid in a pure epsilon");
    if (options->method == BRUME_SYNTHETIC_GAUSSIAN && options->rho == 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "take LAPLACE for a pure epsilon",
                          "Gaussian noise is paid in rho");
    if (brume_workload_size(workload) == 0)
        return brume_fail(error, BRUME_EARGUMENT, "add queries first", "an empty workload");
    if (!(options->beta > 0 && options->beta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'beta' is %g, must be in (0, 1)",
                          options->beta);
    if (!(options->records >= 0 && options->records <= BRUME_RECORDS_MOST &&
          options->records == floor(options->records)))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'records' must be a whole number up to 2^33, or 0");
    if (options->adjacency == BRUME_REPLACE && options->records != 0)
        return brume_fail(error, BRUME_EARGUMENT, "leave it 0",
                          "under replace the number of records is public and counted");
    return BRUME_OK;
}

static brume_status plan_weights(const brume_workload *workload,
                                 const brume_synthetic_options *options, brume_synthetic_plan *plan,
                                 brume_error *error)
{
    if (!(options->alpha >= 0x1p-15 && options->alpha <= 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'alpha' is %g, must be from 2^-15 to 1: a share of the records",
                          options->alpha);
    /* as the stream itself will count; it is asked again when it is open */
    double cells = (double)brume_workload_universe(workload)->cells;
    double updates = brume_divide_up(brume_log_up(cells),
                                     brume_multiply_down(2 * options->alpha, options->alpha));
    if (updates >= 0x1p31)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'alpha' is %g: too small for the universe",
                          options->alpha);
    plan->hits = (uint64_t)updates + 1;
    return BRUME_OK;
}

static brume_status plan_small(const brume_workload *workload,
                               const brume_synthetic_options *options, brume_error *error)
{
    uint64_t cells = brume_workload_universe(workload)->cells;
    if (options->size < 1 || options->size > BRUME_SMALL_DATABASE_SIZE)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "a small database of %llu records, must be 1 to %d",
                          (unsigned long long)options->size, BRUME_SMALL_DATABASE_SIZE);
    double candidates = brume_small_database_candidates(cells, options->size);
    if (cells > BRUME_SMALL_DATABASE_CELLS || !(candidates <= (double)options->most_candidates))
        return brume_fail(error, BRUME_EOVERFLOW,
                          "take fewer columns, a smaller size, or the method mwem",
                          "SmallDB would weigh %.6g databases of %llu records over %llu cells, at "
                          "most %llu and %d cells are possible here",
                          candidates, (unsigned long long)options->size, (unsigned long long)cells,
                          (unsigned long long)options->most_candidates, BRUME_SMALL_DATABASE_CELLS);
    return BRUME_OK;
}

/* The options of each method under a plan. */
static brume_mwem_options synthetic_mwem(const brume_synthetic_options *options)
{
    /* replays have a chance of their own to spoil the bound: none where that is too much */
    bool replays = options->beta > 2 * BRUME_MWEM_COVER_BETA;
    return (brume_mwem_options){.adjacency = options->adjacency,
                                .epsilon = options->epsilon,
                                .rho = options->rho,
                                .rounds = options->rounds,
                                .records = options->records,
                                .replays = replays ? 2 : 0,
                                .average = replays ? (options->rounds + 1) / 2 : 0,
                                .whole_marginals = replays};
}

static brume_direct_options synthetic_direct(const brume_synthetic_options *options,
                                             const brume_synthetic_plan *plan)
{
    bool cells = options->method == BRUME_SYNTHETIC_HISTOGRAM;
    return (brume_direct_options){.way = cells ? BRUME_DIRECT_HISTOGRAM : BRUME_DIRECT_QUERIES,
                                  .adjacency = options->adjacency,
                                  .epsilon = plan->epsilon,
                                  .rho = plan->rho};
}

static brume_small_database_options synthetic_small(const brume_synthetic_options *options,
                                                    const brume_synthetic_plan *plan,
                                                    double records)
{
    return (brume_small_database_options){
        .adjacency = options->adjacency,
        .epsilon = plan->epsilon,
        .size = options->size,
        .records = (uint64_t)fmin(fmax(records, 1), BRUME_SMALL_DATABASE_RECORDS),
        .most_candidates = options->most_candidates};
}

/* Noisy marginals say how many records there are. */
static bool has_marginal(const brume_workload *workload)
{
    for (size_t i = 0; i < workload->group_count; i++)
        if (workload->groups[i].kind == BRUME_GROUP_MARGINAL)
            return true;
    return false;
}

static brume_status synthetic_plan_make(const brume_workload *workload,
                                        const brume_synthetic_options *options,
                                        brume_synthetic_plan *plan, brume_error *error)
{
    BRUME_TRY(check_common(workload, options, error));
    brume_synthetic_plan made = {.epsilon = options->epsilon, .rho = options->rho};
    bool fits = options->method == BRUME_SYNTHETIC_LAPLACE ||
                options->method == BRUME_SYNTHETIC_GAUSSIAN;
    bool needs_none = options->method == BRUME_SYNTHETIC_HISTOGRAM ||
                      options->method == BRUME_SYNTHETIC_MWEM || /* it buys them itself */
                      (fits && has_marginal(workload));
    made.buys = !needs_none && options->adjacency == BRUME_ADD_REMOVE && options->records == 0;
    if (made.buys) {
        double price = fmax(options->epsilon, options->rho);
        double share = brume_multiply_down(price, BRUME_MWEM_RECORDS_SHARE);
        double rest = brume_subtract_down(price, share); /* down: both are at most the price */
        BRUME_TRY(brume_synthetic_number_event(options, share, &made.records_event, error));
        made.epsilon = options->rho > 0 ? 0 : rest;
        made.rho = options->rho > 0 ? rest : 0;
    }
    if (fits && (options->rounds < 1 || options->rounds > UINT64_C(1) << 20))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'rounds' must be from 1 to 2^20");
    if (options->method == BRUME_SYNTHETIC_WEIGHTS)
        BRUME_TRY(plan_weights(workload, options, &made, error));
    if (options->method == BRUME_SYNTHETIC_SMALL_DATABASE)
        BRUME_TRY(plan_small(workload, options, error));
    *plan = made;
    return BRUME_OK;
}

static brume_status method_event(const brume_workload *workload,
                                 const brume_synthetic_options *options,
                                 const brume_synthetic_plan *plan, brume_event *event,
                                 brume_error *error)
{
    brume_direct_options direct = synthetic_direct(options, plan);
    brume_event made = {.adjacency = options->adjacency, .sensitivity = 1, .count = 1};
    made.parameter[0] = plan->epsilon;
    switch (options->method) {
    case BRUME_SYNTHETIC_WEIGHTS:
        made.mechanism = brume_card_by_name(plan->rho > 0 ? "zcdp" : "multiplicative_weights")->id;
        made.parameter[0] = fmax(plan->epsilon, plan->rho);
        made.parameter[1] = plan->rho > 0 ? 0 : (double)plan->hits;
        break;
    case BRUME_SYNTHETIC_SMALL_DATABASE:
        made.mechanism = brume_card_by_name("small_database")->id;
        break;
    default:
        BRUME_TRY(brume_direct_event(workload, &direct, &made, error));
        /* one number of sensitivity 1, as often as a unit moves one; how many numbers there are in
         * all matters to the accuracy only, and is not said here */
        made.parameter[1] = 1;
        break;
    }
    BRUME_TRY(brume_event_check(&made, error));
    *event = made;
    return BRUME_OK;
}

brume_status brume_synthetic_events(const brume_workload *workload,
                                    const brume_synthetic_options *typed,
                                    brume_event events[BRUME_SYNTHETIC_EVENTS], size_t *count,
                                    brume_error *error)
{
    brume_synthetic_plan plan;
    brume_event made[BRUME_SYNTHETIC_EVENTS] = {{0}};
    brume_synthetic_options rest;
    const brume_synthetic_options *options = &rest;
    size_t many = 1;
    BRUME_TRY(check_common(workload, typed, error));
    BRUME_TRY(brume_worst_error_rest(typed, &rest, error));
    BRUME_TRY(synthetic_plan_make(workload, options, &plan, error));
    if (options->method == BRUME_SYNTHETIC_MWEM) {
        brume_mwem_options mwem = synthetic_mwem(options);
        BRUME_TRY(brume_mwem_events(&mwem, made, &many, error));
    } else {
        BRUME_TRY(method_event(workload, options, &plan, made, error));
    }
    if (plan.buys)
        made[many++] = plan.records_event;
    if (typed->error_share > 0)
        BRUME_TRY(brume_worst_error_event(typed, &made[many++], error));
    memcpy(events, made, many * sizeof *made);
    *count = many;
    return BRUME_OK;
}

double brume_synthetic_bytes(const brume_workload *workload, const brume_synthetic_options *options)
{
    double cells = (double)brume_workload_universe(workload)->cells;
    double queries = (double)brume_workload_size(workload);
    switch (options->method) {
    case BRUME_SYNTHETIC_MWEM:
        return 8 * (4 * cells + 6 * queries);
    case BRUME_SYNTHETIC_WEIGHTS:
        return 8 * (4 * cells + queries);
    case BRUME_SYNTHETIC_SMALL_DATABASE:
        return 16 * cells + 4 * cells * queries + 8 * queries * (double)options->size +
               16 * fmax(options->records, 1);
    default:
        return 8 * (3 * cells + 3 * queries);
    }
}

/* Synthetic histograms, run: one function per method.
 *
 * Promises: the data enter through brume_mwem, brume_multiplicative_weights, brume_small_database,
 * brume_direct_release and the noisy number of records only, each at its share of the price; the
 * weights and the report are functions of what these released and of public numbers. */

typedef struct synthetic_run {
    const brume_workload *workload;
    const brume_synthetic_options *options;
    brume_synthetic_plan plan;
    const double *counts; /* private */
    brume_bits *bits;
    double *weights;
    brume_synthetic_report report;
    bool stopped; /* the caller wants no more */
} synthetic_run;

/* What beta is left for the method's own bound. */
static double beta_left(const synthetic_run *all)
{
    return all->plan.buys ? all->options->beta / 2 : all->options->beta;
}

static brume_status know_records(synthetic_run *all, brume_error *error)
{
    const brume_universe *universe = brume_workload_universe(all->workload);
    double truth;
    BRUME_TRY(brume_exact_records(universe, all->counts, &truth, error));
    all->report.records = all->options->records;
    if (all->options->adjacency == BRUME_REPLACE) { /* public */
        all->report.records = truth;
        return truth > 0 ? BRUME_OK : brume_fail(error, BRUME_EARGUMENT, NULL, "an empty dataset");
    }
    if (!all->plan.buys)
        return BRUME_OK;
    const brume_event *event = &all->plan.records_event;
    int64_t records = (int64_t)truth;
    brume_noise *noise = NULL;
    if (all->options->rho > 0)
        BRUME_TRY(brume_noise_open_discrete_gaussian(event->parameter[0], &noise, error));
    else
        BRUME_TRY(brume_noise_open_discrete_laplace(event->parameter[0], &noise, error));
    brume_status status = brume_noise_add(noise, all->bits, &records, &records, 1, error);
    brume_noise_close(noise);
    BRUME_TRY(status);
    /* a table without records is known to within 1, as one of 1 record */
    all->report.records = fmin(fmax((double)records, 1), BRUME_RECORDS_MOST);
    BRUME_TRY(brume_event_alpha(event, all->options->beta / 2, &all->report.records_off, error));
    all->report.records_off = fmax(all->report.records_off, 1);
    return BRUME_OK;
}

/* A caller who wants no more is told so at the end, whatever the method made of it. */
static bool tell(void *context, uint64_t round, uint64_t rounds)
{
    synthetic_run *all = context;
    const brume_synthetic_options *options = all->options;
    if (options->progress && !options->progress(options->progress_context, round, rounds))
        all->stopped = true;
    return !all->stopped;
}

/* ---- MWEM ---- */

static brume_status run_mwem(synthetic_run *all, brume_error *error)
{
    brume_mwem_options mwem = synthetic_mwem(all->options);
    uint64_t cells = brume_workload_universe(all->workload)->cells;
    brume_event events[BRUME_MWEM_EVENTS];
    size_t count;
    double sum = 0, alpha;
    BRUME_TRY(brume_mwem_events(&mwem, events, &count, error));
    mwem.progress = tell;
    mwem.progress_context = all;
    BRUME_TRY(brume_mwem(all->workload, &mwem, all->counts, all->bits, all->weights, error));
    all->report.paid = all->options->rounds;
    for (uint64_t i = 0; i < cells; i++)
        sum += all->weights[i];
    bool bought = count == BRUME_MWEM_EVENTS;
    brume_status known;
    if (bought) { /* the weights have its sum */
        all->report.records = fmin(fmax(rint(sum), 1), BRUME_RECORDS_MOST);
        BRUME_TRY(brume_event_alpha(&events[BRUME_MWEM_EVENTS - 1], all->options->beta / 2,
                                    &all->report.records_off, error));
        all->report.records_off = fmax(all->report.records_off, 1);
        known = brume_mwem_alpha_at(all->workload, &mwem, all->report.records, all->options->beta,
                                    &alpha, NULL);
    } else {
        mwem.records = all->report.records;
        known = brume_mwem_alpha(all->workload, &mwem, all->options->beta, &alpha, NULL);
    }
    /* Answers are within [0, n], so no bound need be above n. Where n is bought: where the bound
     * holds, n is within its error at less than a sixteenth of beta. */
    double most = 0;
    if (bought)
        BRUME_TRY(brume_event_alpha(&events[BRUME_MWEM_EVENTS - 1], all->options->beta / 16, &most,
                                    error));
    most = brume_add_up(all->report.records, bought ? fmax(most, 1) : 0);
    if (known == BRUME_OK)
        all->report.bound = fmin(alpha, most);
    return BRUME_OK;
}

/* ---- private multiplicative weights ---- */

/* Ask every query until a whole pass is free: then the histogram itself answers them all well. */
static brume_status ask_all(synthetic_run *all, brume_multiplicative_weights *stream,
                            brume_error *error)
{
    size_t queries = brume_workload_size(all->workload), free_in_a_row = 0;
    uint64_t asked = 0;
    while (free_in_a_row < queries) {
        double answer;
        bool was_free;
        if (brume_multiplicative_weights_left(stream) == 0) {
            all->report.halted = true;
            return BRUME_OK;
        }
        BRUME_TRY(brume_multiplicative_weights_ask(stream, all->bits, (size_t)(asked % queries),
                                                   &answer, &was_free, error));
        asked++;
        free_in_a_row = was_free ? free_in_a_row + 1 : 0;
        if (!tell(all, asked, 0))
            return BRUME_OK;
    }
    return BRUME_OK;
}

static brume_status run_weights(synthetic_run *all, brume_error *error)
{
    brume_multiplicative_weights_options weights = {.adjacency = all->options->adjacency,
                                                    .epsilon = all->plan.epsilon,
                                                    .rho = all->plan.rho,
                                                    .alpha = all->options->alpha,
                                                    .records = all->report.records};
    brume_multiplicative_weights *stream = NULL;
    BRUME_TRY(brume_multiplicative_weights_open(all->workload, &weights, all->counts, all->bits,
                                                &stream, error));
    brume_status status = BRUME_OK;
    if (brume_multiplicative_weights_left(stream) != all->plan.hits)
        status = brume_fail(error, BRUME_EINTERNAL, NULL, "the stream has other hits than planned");
    if (status == BRUME_OK)
        status = ask_all(all, stream, error);
    if (status == BRUME_OK) {
        uint64_t cells = brume_workload_universe(all->workload)->cells;
        memcpy(all->weights, brume_multiplicative_weights_histogram(stream),
               cells * sizeof(double));
        all->report.paid = all->plan.hits - brume_multiplicative_weights_left(stream);
        /* fewer hits than planned, each followed by less than a pass before the next */
        double asked = (double)brume_workload_size(all->workload) * ((double)all->plan.hits + 1);
        double alpha;
        brume_status known = BRUME_EUNSUPPORTED;
        /* that it halted shows that the bound's event did not happen */
        if (!all->plan.buys && !all->report.halted && asked < 0x1p63)
            known = brume_multiplicative_weights_alpha(stream, (uint64_t)asked, all->options->beta,
                                                       &alpha, NULL);
        all->report.bound = known == BRUME_OK ? fmin(alpha, all->report.records) : NAN;
    }
    brume_multiplicative_weights_close(stream);
    return status;
}

/* ---- SmallDB ---- */

static brume_status run_small_database(synthetic_run *all, brume_error *error)
{
    if (all->options->adjacency == BRUME_REPLACE &&
        all->report.records > BRUME_SMALL_DATABASE_RECORDS)
        return brume_fail(error, BRUME_EARGUMENT, "take the method mwem",
                          "SmallDB takes at most 2^26 records");
    brume_small_database_options small =
        synthetic_small(all->options, &all->plan, all->report.records);
    uint64_t *cells = calloc(small.size, sizeof *cells);
    if (!cells)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for a small database");
    brume_status status =
        brume_small_database(all->workload, &small, all->counts, all->bits, cells, error);
    memset(all->weights, 0, brume_workload_universe(all->workload)->cells * sizeof(double));
    bool cut = (double)small.records != all->report.records;
    all->report.records = (double)small.records;
    for (uint64_t i = 0; status == BRUME_OK && i < small.size; i++)
        all->weights[cells[i]] += all->report.records / (double)small.size;
    free(cells);
    BRUME_TRY(status);
    all->report.paid = 1;
    /* n <= records + off; off once for the best candidate, once for the clamp of true answers */
    double off = all->report.records_off, alpha;
    small.records += (uint64_t)ceil(off);
    if (!cut && small.records <= BRUME_SMALL_DATABASE_RECORDS &&
        brume_small_database_alpha(all->workload, &small, beta_left(all), &alpha, NULL) == BRUME_OK)
        all->report.bound = fmin(brume_add_up(alpha, 2 * off), /* answers are within [0, n] */
                                 brume_add_up(all->report.records, off));
    return BRUME_OK;
}

/* ---- noise on answers, noise on cells ---- */

/* |f(weights) - f(B)| <= |f(weights) - noisy| + |noisy - f(B)| for every query. */
static brume_status bound_of_fit(synthetic_run *all, const brume_direct_options *direct,
                                 brume_error *error)
{
    double alpha;
    BRUME_TRY(brume_direct_alpha(all->workload, direct, all->options->beta, &alpha, error));
    /* answers are sums of doubles: less than 2^-20 of the records off */
    double slack = all->report.records * 0x1p-20;
    all->report.bound = brume_add_up(brume_add_up(all->report.fit, alpha), slack);
    return BRUME_OK;
}

/* The sums of the noisy marginals, averaged: one of c cells has c times the variance of a cell. */
static double records_of(const brume_workload *workload, const double *answers)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < workload->group_count; i++) {
        const brume_group *group = &workload->groups[i];
        double total = 0;
        if (group->kind != BRUME_GROUP_MARGINAL)
            continue;
        for (size_t j = 0; j < group->count; j++)
            total += answers[group->first + j];
        sum += total / (double)group->count;
        weight += 1 / (double)group->count;
    }
    return fmin(fmax(rint(sum / weight), 1), BRUME_RECORDS_MOST);
}

static brume_status run_answers(synthetic_run *all, brume_error *error)
{
    size_t queries = brume_workload_size(all->workload);
    brume_direct_options direct = synthetic_direct(all->options, &all->plan);
    double *answers = malloc(queries * sizeof *answers);
    if (!answers)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu answers", queries);
    brume_status status =
        brume_direct_release(all->workload, &direct, all->counts, all->bits, answers, NULL, error);
    if (status == BRUME_OK && all->report.records == 0) /* neither public, told nor bought */
        all->report.records = records_of(all->workload, answers);
    if (status == BRUME_OK)
        status = brume_fit_answers(all->workload, answers, all->report.records,
                                   all->options->rounds, tell, all, all->weights, &all->report.fit,
                                   error);
    free(answers);
    BRUME_TRY(status);
    all->report.paid = queries;
    return bound_of_fit(all, &direct, error);
}

static brume_status run_cells(synthetic_run *all, brume_error *error)
{
    uint64_t cells = brume_workload_universe(all->workload)->cells;
    size_t queries = brume_workload_size(all->workload);
    brume_direct_options direct = synthetic_direct(all->options, &all->plan);
    double *answers = malloc(queries * sizeof *answers);
    if (!answers)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu answers", queries);
    brume_status status = brume_direct_release(all->workload, &direct, all->counts, all->bits,
                                               answers, all->weights, error);
    if (status == BRUME_OK && all->report.records == 0) { /* neither public nor told */
        double sum = 0;
        for (uint64_t i = 0; i < cells; i++)
            sum += all->weights[i];
        all->report.records = fmin(fmax(rint(sum), 1), BRUME_RECORDS_MOST);
    }
    if (status == BRUME_OK) {
        brume_fit_cells(all->weights, cells, all->report.records);
        status = brume_fit_distance(all->workload, all->weights, answers, &all->report.fit, error);
    }
    free(answers);
    BRUME_TRY(status);
    all->report.paid = cells;
    return bound_of_fit(all, &direct, error);
}

static brume_status run_method(synthetic_run *all, brume_error *error)
{
    BRUME_TRY(synthetic_plan_make(all->workload, all->options, &all->plan, error));
    BRUME_TRY(know_records(all, error));
    switch (all->options->method) {
    case BRUME_SYNTHETIC_MWEM:
        return run_mwem(all, error);
    case BRUME_SYNTHETIC_WEIGHTS:
        return run_weights(all, error);
    case BRUME_SYNTHETIC_SMALL_DATABASE:
        return run_small_database(all, error);
    case BRUME_SYNTHETIC_LAPLACE:
    case BRUME_SYNTHETIC_GAUSSIAN:
        return run_answers(all, error);
    default:
        return run_cells(all, error);
    }
}

brume_status brume_synthetic_histogram(const brume_workload *workload,
                                       const brume_synthetic_options *options, const double *counts,
                                       brume_bits *bits, double *weights,
                                       brume_synthetic_report *report, brume_error *error)
{
    brume_synthetic_options rest = *options;
    synthetic_run all = {.workload = workload,
                         .options = &rest,
                         .counts = counts,
                         .bits = bits,
                         .weights = weights,
                         .report = {.bound = NAN, .measured = NAN, .fit = NAN}};
    brume_status status = brume_worst_error_rest(options, &rest, error);
    if (status == BRUME_OK)
        status = run_method(&all, error);
    if (status == BRUME_OK && all.stopped)
        status = brume_fail(error, BRUME_ECANCELLED, NULL, "stopped by the caller");
    if (status == BRUME_OK && options->error_share > 0)
        status = brume_worst_error(workload, options, counts, weights, bits, &all.report.measured,
                                   error);
    all.report.bound = fmin(all.report.bound, all.report.measured); /* NaN is passed over */
    if (status == BRUME_OK)
        *report = all.report;
    else
        memset(weights, 0, brume_workload_universe(workload)->cells * sizeof *weights);
    return status;
}
