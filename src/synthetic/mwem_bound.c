/* How far MWEM errs at most. Promises: upper bounds, rounded up; proofs/many_queries.md. */
#include <math.h>

#include <brume/mechanism.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"
#include "synthetic/mwem.h"

/* The replays' band covers the noise of all rounds but for this chance. */
#define BAND_BETA 0.1

uint64_t brume_mwem_averaged(const brume_mwem_options *options)
{
    return options->average ? options->average : options->rounds + 1;
}

brume_status brume_mwem_band(const brume_mwem_options *options, const brume_event *events,
                             double *band, brume_error *error)
{
    brume_event answers = events[BRUME_MWEM_ANSWERS];
    answers.parameter[1] = (double)options->rounds;
    return brume_event_alpha(&answers, BAND_BETA, band, error);
}

/* sum: what the histogram is scaled to; counted: how far that may be from the records. */
static brume_status bound(const brume_workload *workload, const brume_mwem_options *options,
                          double sum, bool bought, double beta, double *alpha, brume_error *error)
{
    brume_event events[BRUME_MWEM_EVENTS];
    size_t count, queries = brume_workload_size(workload);
    BRUME_TRY(brume_mwem_events(options, events, &count, error));
    if (!(beta > 0 && beta < 1) || queries == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bound needs queries, and 'beta' in (0, 1)");
    /* down: equal shares of beta for all choices, all answers, and the number of records */
    double share = brume_divide_down(beta, bought ? 3 : 2);
    double iterates = (double)options->rounds + 1, noise, counted = 0, band;
    if (bought)
        BRUME_TRY(brume_event_alpha(&events[BRUME_MWEM_COUNTED], share, &counted, error));
    counted = bought ? fmax(counted, 1) : 0; /* the bought number is raised to 1 */
    /* a round that is not run is in the proof */
    events[BRUME_MWEM_ANSWERS].parameter[1] = iterates;
    BRUME_TRY(brume_event_alpha(&events[BRUME_MWEM_ANSWERS], share, &noise, error));
    BRUME_TRY(brume_mwem_band(options, events, &band, error));
    double dense = brume_workload_whole(workload) ? 0 : 1; /* the floor of a dense sum */
    noise = brume_add_up(brume_add_up(noise, counted), dense);
    /* P[gap >= t] <= |Q| exp(-coefficient t), T+1 times */
    double gap = brume_multiply_up((double)queries, iterates);
    gap = brume_log_up(brume_divide_up(gap, share));
    gap = brume_divide_up(gap, brume_mwem_coefficient(events[BRUME_MWEM_CHOICES].parameter[0]));
    /* squares: n^2 ln N/2 + (T+1) noise^2 + R (noise - band)^2, over the histograms averaged */
    double cells = (double)brume_workload_universe(workload)->cells;
    double squares = brume_multiply_up(brume_multiply_up(sum, sum), brume_log_up(cells) / 2);
    squares = brume_add_up(squares, brume_multiply_up(iterates, brume_multiply_up(noise, noise)));
    double beyond = fmax(brume_subtract_up(noise, band), 0);
    double replayed =
        brume_multiply_up((double)options->replays, (double)options->rounds * iterates / 2);
    squares = brume_add_up(squares, brume_multiply_up(replayed, brume_multiply_up(beyond, beyond)));
    double drift = brume_sqrt_up(brume_divide_up(squares, (double)brume_mwem_averaged(options)));
    /* floors of dense sums in the two scores compared; the rounding of public answers and of the
     * weights: below 2^-18 and 2^-20 of the records */
    double slack = brume_add_up(2 * dense + 0x1p-18, brume_add_up(counted, sum * 0x1p-20));
    *alpha = brume_add_up(brume_add_up(drift, gap), slack);
    return BRUME_OK;
}

brume_status brume_mwem_alpha(const brume_workload *workload, const brume_mwem_options *options,
                              double beta, double *alpha, brume_error *error)
{
    if (options->records == 0)
        return brume_fail(error, BRUME_EARGUMENT, "say 'records', or ask for a sum",
                          "the bound needs the number of records");
    return bound(workload, options, options->records, false, beta, alpha, error);
}

brume_status brume_mwem_alpha_at(const brume_workload *workload, const brume_mwem_options *options,
                                 double sum, double beta, double *alpha, brume_error *error)
{
    if (options->adjacency != BRUME_ADD_REMOVE || options->records != 0)
        return brume_fail(error, BRUME_EARGUMENT, "use the bound for known 'records'",
                          "the number of records is not bought here");
    if (!(sum >= 1 && sum <= BRUME_RECORDS_MOST))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'sum' is %g, must be from 1 to 2^33", sum);
    return bound(workload, options, sum, true, beta, alpha, error);
}
