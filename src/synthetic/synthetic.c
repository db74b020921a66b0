/* The plan of a synthetic histogram: which events, at which share of the price.
 *
 * Promises: the events together cost at most the price, and the run draws with exactly them; every
 * fault of the options shows here, before anything is drawn or charged. */
#include "synthetic/synthetic.h"

#include <math.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"
#include "synthetic/mwem.h"
#include "synthetic/number_event.h"
#include "synthetic/workload.h"
#include "synthetic/worst_error.h"

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

brume_mwem_options brume_synthetic_mwem(const brume_synthetic_options *options)
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

brume_direct_options brume_synthetic_direct(const brume_synthetic_options *options,
                                            const brume_synthetic_plan *plan)
{
    bool cells = options->method == BRUME_SYNTHETIC_HISTOGRAM;
    return (brume_direct_options){.way = cells ? BRUME_DIRECT_HISTOGRAM : BRUME_DIRECT_QUERIES,
                                  .adjacency = options->adjacency,
                                  .epsilon = plan->epsilon,
                                  .rho = plan->rho};
}

brume_small_database_options brume_synthetic_small(const brume_synthetic_options *options,
                                                   const brume_synthetic_plan *plan, double records)
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

brume_status brume_synthetic_plan_make(const brume_workload *workload,
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
    brume_direct_options direct = brume_synthetic_direct(options, plan);
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
    BRUME_TRY(brume_synthetic_plan_make(workload, options, &plan, error));
    if (options->method == BRUME_SYNTHETIC_MWEM) {
        brume_mwem_options mwem = brume_synthetic_mwem(options);
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
