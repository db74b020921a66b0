/* Synthetic histograms, run: one function per method.
 *
 * Promises: the data enter through brume_mwem, brume_multiplicative_weights, brume_small_database,
 * brume_direct_release and the noisy number of records only, each at its share of the price; the
 * weights and the report are functions of what these released and of public numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>
#include <brume/noise/noise.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"
#include "synthetic/fit.h"
#include "synthetic/synthetic.h"
#include "synthetic/workload.h"
#include "synthetic/worst_error.h"

typedef struct run {
    const brume_workload *workload;
    const brume_synthetic_options *options;
    brume_synthetic_plan plan;
    const double *counts; /* private */
    brume_bits *bits;
    double *weights;
    brume_synthetic_report report;
    bool stopped; /* the caller wants no more */
} run;

/* What beta is left for the method's own bound. */
static double beta_left(const run *all)
{
    return all->plan.buys ? all->options->beta / 2 : all->options->beta;
}

static brume_status know_records(run *all, brume_error *error)
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
    run *all = context;
    const brume_synthetic_options *options = all->options;
    if (options->progress && !options->progress(options->progress_context, round, rounds))
        all->stopped = true;
    return !all->stopped;
}

/* ---- MWEM ---- */

static brume_status run_mwem(run *all, brume_error *error)
{
    brume_mwem_options mwem = brume_synthetic_mwem(all->options);
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
static brume_status ask_all(run *all, brume_multiplicative_weights *stream, brume_error *error)
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

static brume_status run_weights(run *all, brume_error *error)
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

static brume_status run_small_database(run *all, brume_error *error)
{
    if (all->options->adjacency == BRUME_REPLACE &&
        all->report.records > BRUME_SMALL_DATABASE_RECORDS)
        return brume_fail(error, BRUME_EARGUMENT, "take the method mwem",
                          "SmallDB takes at most 2^26 records");
    brume_small_database_options small =
        brume_synthetic_small(all->options, &all->plan, all->report.records);
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
static brume_status bound_of_fit(run *all, const brume_direct_options *direct, brume_error *error)
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

static brume_status run_answers(run *all, brume_error *error)
{
    size_t queries = brume_workload_size(all->workload);
    brume_direct_options direct = brume_synthetic_direct(all->options, &all->plan);
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

static brume_status run_cells(run *all, brume_error *error)
{
    uint64_t cells = brume_workload_universe(all->workload)->cells;
    size_t queries = brume_workload_size(all->workload);
    brume_direct_options direct = brume_synthetic_direct(all->options, &all->plan);
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

static brume_status run_method(run *all, brume_error *error)
{
    BRUME_TRY(brume_synthetic_plan_make(all->workload, all->options, &all->plan, error));
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
    run all = {.workload = workload,
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
