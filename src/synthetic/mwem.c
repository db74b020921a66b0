/* MWEM: multiplicative weights by the exponential mechanism.
 *
 * Promises: the data enter through whole numbers that one unit moves by at most 1, and only into
 * the choice of a query (bounded range epsilon_e) and its noised answer, once a round; all else is
 * post-processing. Rounds adapt to each other, so costs add up: pure epsilon, or rho.
 *
 * Differs from [HLM12]: the average is over all histograms, the last one and the uniform one
 * included: T rounds paid give T+1. Measured answers are clamped to [0, n], which only brings them
 * nearer. proofs/many_queries.md has the bound for both. */
#include "synthetic/mwem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism.h>
#include <brume/noise.h>
#include <brume/select.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"

enum { CHOICES, ANSWERS, RECORDS };

static brume_event noise_event(const brume_mwem_options *options, double price, uint64_t count)
{
    brume_event event = {.adjacency = options->adjacency, .sensitivity = 1, .count = count};
    event.parameter[1] = 1;
    if (options->rho == 0) {
        event.mechanism = brume_card_by_name("discrete_laplace")->id;
        event.parameter[0] = brume_divide_up(1, price); /* up: 1/scale <= price */
    } else {
        event.mechanism = brume_card_by_name("discrete_gaussian")->id;
        /* up: 1/(2 sigma^2) <= price */
        event.parameter[0] = brume_sqrt_up(brume_divide_up(0.5, price));
    }
    return event;
}

brume_status brume_mwem_events(const brume_mwem_options *options,
                               brume_event events[BRUME_MWEM_EVENTS], size_t *count,
                               brume_error *error)
{
    BRUME_TRY(brume_exact_price("MWEM", options->adjacency, options->epsilon, options->rho, error));
    if (options->rounds < 1 || options->rounds > UINT64_C(1) << 20)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'rounds' must be from 1 to 2^20");
    if (!(options->records >= 0 && options->records <= BRUME_RECORDS_MOST &&
          options->records == floor(options->records)))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'records' must be a whole number up to 2^33, or 0");
    bool buys = options->adjacency == BRUME_ADD_REMOVE && options->records == 0;
    double price = options->rho > 0 ? options->rho : options->epsilon, records_price = 0;
    if (buys) {
        records_price = brume_multiply_down(price, BRUME_MWEM_RECORDS_SHARE);
        price = brume_subtract_down(price, records_price);
    }
    /* down: 2 rounds of `each` cost at most `price` */
    double each = brume_divide_down(price, 2 * (double)options->rounds);
    /* down: epsilon_e <= each, or epsilon_e^2/8 <= each */
    double choice = options->rho > 0 ? brume_sqrt_down(brume_multiply_down(8, each)) : each;
    brume_event made[BRUME_MWEM_EVENTS] = {{0}};
    made[CHOICES] = (brume_event){.mechanism = brume_card_by_name("exponential")->id,
                                  .adjacency = options->adjacency,
                                  .sensitivity = 1,
                                  .parameter = {choice},
                                  .count = options->rounds};
    made[ANSWERS] = noise_event(options, each, options->rounds);
    if (buys)
        made[RECORDS] = noise_event(options, records_price, 1);
    size_t many = buys ? 3 : 2;
    for (size_t i = 0; i < many; i++)
        BRUME_TRY(brume_event_check(&made[i], error));
    memcpy(events, made, many * sizeof *made);
    *count = many;
    return BRUME_OK;
}

double brume_mwem_public(double answer)
{
    return rint(answer * 0x1p20) * 0x1p-20;
}

double brume_mwem_coefficient(double epsilon)
{
    return epsilon / 2; /* exact */
}

static brume_status open_noise(const brume_mwem_options *options, const brume_event *event,
                               brume_noise **noise, brume_error *error)
{
    if (options->rho == 0)
        return brume_noise_open_discrete_laplace(event->parameter[0], noise, error);
    return brume_noise_open_discrete_gaussian(event->parameter[0], noise, error);
}

brume_status brume_mwem_step(const brume_workload *workload, size_t query, double measured,
                             double records, double *weights, brume_error *error)
{
    double answer, total;
    BRUME_TRY(brume_workload_answer_one(workload, query, weights, &answer, error));
    double rate = (fmin(fmax(measured, 0), records) - answer) / (2 * records);
    BRUME_TRY(brume_workload_reweigh(workload, query, rate, weights, &total, error));
    double factor = records / total;
    uint64_t cells = brume_workload_universe(workload)->cells;
    for (uint64_t i = 0; i < cells; i++)
        weights[i] *= factor;
    return BRUME_OK;
}

/* One run: what is public, what is private, and where it stands. */
typedef struct run {
    const brume_workload *workload;
    const brume_mwem_options *options;
    brume_event events[BRUME_MWEM_EVENTS];
    double records;
    double *now, *sum;               /* per cell */
    double *truth, *answers, *score; /* per query; truth and score are private */
    brume_noise *noise;
} run;

static brume_status one_round(run *all, brume_bits *bits, brume_error *error)
{
    size_t queries = brume_workload_size(all->workload), worst;
    BRUME_TRY(brume_workload_answer(all->workload, all->now, all->answers, error));
    /* exact: both are multiples of 2^-20 below 2^33 */
    for (size_t i = 0; i < queries; i++)
        all->score[i] = fabs(brume_mwem_public(all->answers[i]) - all->truth[i]);
    BRUME_TRY(brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL,
                                     brume_mwem_coefficient(all->events[CHOICES].parameter[0]),
                                     all->score, queries, &worst, error));
    int64_t measured = (int64_t)all->truth[worst];
    BRUME_TRY(brume_noise_add(all->noise, bits, &measured, &measured, 1, error));
    return brume_mwem_step(all->workload, worst, (double)measured, all->records, all->now, error);
}

static void add_to_sum(run *all, uint64_t cells)
{
    for (uint64_t i = 0; i < cells; i++)
        all->sum[i] += all->now[i];
}

static brume_status all_rounds(run *all, brume_bits *bits, double *weights, brume_error *error)
{
    uint64_t cells = brume_workload_universe(all->workload)->cells, done = 0;
    for (uint64_t i = 0; i < cells; i++)
        all->now[i] = all->records / (double)cells;
    add_to_sum(all, cells);
    while (done < all->options->rounds) {
        BRUME_TRY(one_round(all, bits, error));
        add_to_sum(all, cells);
        done++;
        if (all->options->progress &&
            !all->options->progress(all->options->progress_context, done, all->options->rounds))
            break;
    }
    for (uint64_t i = 0; i < cells; i++)
        weights[i] = all->sum[i] / (double)(done + 1);
    return BRUME_OK;
}

/* The number of records that the histogram is scaled to. */
static brume_status know_records(run *all, double true_records, size_t events, brume_bits *bits,
                                 brume_error *error)
{
    all->records = all->options->records;
    if (all->options->adjacency == BRUME_REPLACE) {
        if (true_records == 0)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "an empty dataset");
        if (all->records != 0 && all->records != true_records)
            return brume_fail(error, BRUME_EARGUMENT,
                              "under replace the number of records is public: give it, or 0",
                              "'records' is not the sum of the histogram");
        all->records = true_records;
    } else if (events == 3) {
        brume_noise *noise = NULL;
        int64_t records = (int64_t)true_records;
        BRUME_TRY(open_noise(all->options, &all->events[RECORDS], &noise, error));
        brume_status status = brume_noise_add(noise, bits, &records, &records, 1, error);
        brume_noise_close(noise);
        BRUME_TRY(status);
        all->records = fmin(fmax((double)records, 1), BRUME_RECORDS_MOST);
    }
    return BRUME_OK;
}

static brume_status prepare_and_run(run *all, const double *counts, brume_bits *bits,
                                    double *weights, brume_error *error)
{
    const brume_universe *universe = brume_workload_universe(all->workload);
    size_t queries = brume_workload_size(all->workload), events;
    double true_records;
    BRUME_TRY(brume_mwem_events(all->options, all->events, &events, error));
    if (queries == 0)
        return brume_fail(error, BRUME_EARGUMENT, "add queries first", "an empty workload");
    BRUME_TRY(brume_exact_records(universe, counts, &true_records, error));
    all->now = malloc(universe->cells * sizeof(double));
    all->sum = calloc(universe->cells, sizeof(double));
    all->truth = calloc(queries, sizeof(double));
    all->answers = malloc(queries * sizeof(double));
    all->score = calloc(queries, sizeof(double));
    if (!all->now || !all->sum || !all->truth || !all->answers || !all->score)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %llu cells and %zu queries",
                          (unsigned long long)universe->cells, queries);
    BRUME_TRY(open_noise(all->options, &all->events[ANSWERS], &all->noise, error));
    BRUME_TRY(brume_exact_answers(all->workload, counts, all->truth, error));
    BRUME_TRY(know_records(all, true_records, events, bits, error));
    return all_rounds(all, bits, weights, error);
}

brume_status brume_mwem(const brume_workload *workload, const brume_mwem_options *options,
                        const double *counts, brume_bits *bits, double *weights, brume_error *error)
{
    run all = {.workload = workload, .options = options};
    brume_status status = prepare_and_run(&all, counts, bits, weights, error);
    if (status != BRUME_OK)
        memset(weights, 0, brume_workload_universe(workload)->cells * sizeof *weights);
    free(all.now);
    free(all.sum);
    free(all.truth);
    free(all.answers);
    free(all.score);
    brume_noise_close(all.noise);
    return status;
}

brume_status brume_mwem_alpha(const brume_workload *workload, const brume_mwem_options *options,
                              double beta, double *alpha, brume_error *error)
{
    brume_event events[BRUME_MWEM_EVENTS];
    size_t count, queries = brume_workload_size(workload);
    BRUME_TRY(brume_mwem_events(options, events, &count, error));
    if (!(beta > 0 && beta < 1) || queries == 0 || options->records == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bound needs queries, 'records', and 'beta' in (0, 1)");
    double iterates = (double)options->rounds + 1, measured, chosen;
    double cells = (double)brume_workload_universe(workload)->cells;
    /* half of beta for all choices, half for all answers, a round that is not run included */
    events[ANSWERS].parameter[1] = iterates;
    BRUME_TRY(brume_event_alpha(&events[ANSWERS], beta / 2, &measured, error));
    /* P[gap >= t] <= |Q| exp(-coefficient t), T+1 times */
    chosen = brume_log_up(brume_divide_up(brume_multiply_up(2 * (double)queries, iterates), beta));
    chosen = brume_divide_up(chosen, brume_mwem_coefficient(events[CHOICES].parameter[0]));
    double drift = brume_sqrt_up(brume_divide_up(brume_log_up(cells), iterates));
    drift = brume_multiply_up(2 * options->records, drift);
    /* floors of dense sums: 1 in the measured answer, 1 in each of the two scores compared; the
     * rounding of public answers and of the weights: below 2^-18 and 2^-20 of the records */
    double slack = (brume_workload_whole(workload) ? 0 : 3) + 0x1p-18 + options->records * 0x1p-20;
    *alpha = brume_add_up(brume_add_up(drift, measured), brume_add_up(chosen, slack));
    return BRUME_OK;
}
