/* How far MWEM errs at most. Promises: upper bounds, rounded up; proofs/many_queries.md. */
#include <math.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"
#include "synthetic/mwem.h"
#include "synthetic/workload.h"

#define NEAR_BETA 0.5 /* replays go as near to an answer as half of all noise is */

uint64_t brume_mwem_averaged(const brume_mwem_options *options)
{
    return options->average ? options->average : options->rounds + 1;
}

size_t brume_mwem_at_once(const brume_workload *workload, const brume_mwem_options *options)
{
    size_t most = 1;
    for (size_t i = 0; i < workload->group_count && options->whole_marginals; i++)
        most = workload->groups[i].count > most ? workload->groups[i].count : most;
    return most;
}

/* With probability >= 1-beta `draws` answers are off by at most *noise, and the number of records
 * by at most *counted. Half of beta each, where it is bought. */
static brume_status errors(const brume_mwem_options *options, double draws, double beta,
                           double *noise, double *counted, brume_error *error)
{
    brume_event events[BRUME_MWEM_EVENTS];
    size_t count;
    BRUME_TRY(brume_mwem_events(options, events, &count, error));
    bool bought = count == BRUME_MWEM_EVENTS;
    double share = bought ? beta / 2 : beta; /* exact */
    *counted = options->records_error;
    if (bought) {
        BRUME_TRY(brume_event_alpha(&events[BRUME_MWEM_COUNTED], share, counted, error));
        *counted = fmax(*counted, 1); /* the bought number is raised to 1 */
    }
    events[BRUME_MWEM_ANSWERS].parameter[1] = draws;
    return brume_event_alpha(&events[BRUME_MWEM_ANSWERS], share, noise, error);
}

brume_status brume_mwem_rule(const brume_workload *workload, const brume_mwem_options *options,
                             brume_replay_rule *rule, brume_error *error)
{
    double draws = (double)options->rounds * (double)brume_mwem_at_once(workload, options);
    double noise, near, counted, dense = brume_workload_whole(workload) ? 0 : 1;
    BRUME_TRY(errors(options, 1, NEAR_BETA, &near, &counted, error));
    BRUME_TRY(errors(options, draws, BRUME_MWEM_COVER_BETA, &noise, &counted, error));
    double cells = (double)brume_workload_universe(workload)->cells;
    *rule = (brume_replay_rule){.near = near,
                                .cover = brume_add_up(brume_add_up(noise, counted), dense),
                                .most = BRUME_MWEM_RISE * log(cells)};
    return BRUME_OK;
}

/* sum: what the histogram is scaled to. */
static brume_status bound(const brume_workload *workload, const brume_mwem_options *options,
                          double sum, double beta, double *alpha, brume_error *error)
{
    brume_event events[BRUME_MWEM_EVENTS];
    size_t count, queries = brume_workload_size(workload);
    BRUME_TRY(brume_mwem_events(options, events, &count, error));
    if (!(beta > 0 && beta < 1) || queries == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bound needs queries, and 'beta' in (0, 1)");
    double rest = beta; /* what the replays leave of it, rounded down */
    if (options->replays > 0)
        rest = brume_subtract_down(beta, BRUME_MWEM_COVER_BETA);
    if (!(rest > 0))
        return brume_fail(error, BRUME_EUNSUPPORTED, "take no replays, or a larger 'beta'",
                          "with replays the bound holds for 'beta' above %g only",
                          BRUME_MWEM_COVER_BETA);
    /* half for all choices, half for the answers and the number of records; a round that is not run
     * is in the proof */
    double iterates = (double)options->rounds + 1, noise, counted;
    BRUME_TRY(errors(options, iterates, rest / 2, &noise, &counted, error));
    double dense = brume_workload_whole(workload) ? 0 : 1; /* the floor of a dense sum */
    noise = brume_add_up(brume_add_up(noise, counted), dense);
    /* P[gap >= t] <= |Q| exp(-coefficient t), T+1 times */
    double gap = brume_multiply_up((double)queries, iterates);
    gap = brume_log_up(brume_divide_up(gap, rest / 2));
    gap = brume_divide_up(gap, brume_mwem_coefficient(events[BRUME_MWEM_CHOICES].parameter[0]));
    /* squares: n^2 E/2 + (T+1) noise^2, over the histograms averaged; E = ln N, and what replays
     * add (2^-20 for the rounding of that sum) */
    double entropy = brume_log_up((double)brume_workload_universe(workload)->cells);
    if (options->replays > 0)
        entropy = brume_multiply_up(entropy, 1 + BRUME_MWEM_RISE + 0x1p-20);
    double squares = brume_multiply_up(brume_multiply_up(sum, sum), entropy / 2);
    squares = brume_add_up(squares, brume_multiply_up(iterates, brume_multiply_up(noise, noise)));
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
    return bound(workload, options, options->records, beta, alpha, error);
}

brume_status brume_mwem_alpha_at(const brume_workload *workload, const brume_mwem_options *options,
                                 double sum, double beta, double *alpha, brume_error *error)
{
    if (options->adjacency != BRUME_ADD_REMOVE || options->records != 0)
        return brume_fail(error, BRUME_EARGUMENT, "use the bound for known 'records'",
                          "the number of records is not bought here");
    if (!(sum >= 1 && sum <= BRUME_RECORDS_MOST))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'sum' is %g, must be from 1 to 2^33", sum);
    return bound(workload, options, sum, beta, alpha, error);
}
