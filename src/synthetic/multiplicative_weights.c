/* Private multiplicative weights, online.
 *
 * Promises: the data enter through whole numbers that one unit moves by at most 1, into two places
 * only: a sparse vector, which halts by itself, and the noisy answer to a query that it called
 * above, at most `hits` times. The histogram is a function of what was told.
 * Pure epsilon: one sparse vector of `hits` hits. Concentrated: a fresh one of one hit after each
 * hit, so that their costs, and those of the answers, add up as rho.
 *
 * The noise of an answer, and that of the next threshold, are drawn before the sparse vector is
 * asked, needed or not: so a failing bit source costs no hit, and the bits drawn do not depend on
 * what is private. */
#include "synthetic/multiplicative_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/sparse_vector.h>
#include <brume/noise/noise.h>

#include "base/error.h"
#include "mechanism/formula.h"
#include "mechanism/threshold/threshold.h"
#include "number/rounding.h"
#include "synthetic/exact.h"
#include "synthetic/weights.h"

enum { DECISIONS, ANSWERS };

struct brume_multiplicative_weights {
    const brume_workload *workload;
    brume_multiplicative_weights_options options;
    uint64_t hits, left;
    brume_sparse_vector_options vector;
    double *counts;         /* private */
    brume_weights *weights; /* public */
    brume_sparse_vector *sparse;
    brume_sparse_vector *next; /* concentrated: for after the next hit; may be NULL */
    brume_noise *noise;
    brume_event events[BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS];
};

static brume_status check(const brume_workload *workload,
                          const brume_multiplicative_weights_options *options, const double *counts,
                          brume_error *error)
{
    BRUME_TRY(brume_exact_price("multiplicative weights", options->adjacency, options->epsilon,
                                options->rho, error));
    if (!(options->alpha >= 0x1p-15 && options->alpha <= 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'alpha' is %g, must be from 2^-15 to 1: a share of the records",
                          options->alpha);
    if (!(options->records >= 1 && options->records <= BRUME_RECORDS_MOST &&
          options->records == floor(options->records)))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'records' must be a whole number from 1 to 2^33");
    double records;
    BRUME_TRY(brume_exact_records(brume_workload_universe(workload), counts, &records, error));
    if (options->adjacency == BRUME_REPLACE && records != options->records)
        return brume_fail(error, BRUME_EARGUMENT,
                          "under replace the number of records is public: give it",
                          "'records' is not the sum of the histogram");
    return BRUME_OK;
}

/* up: more hits than there can be updates */
static brume_status count_hits(const brume_universe *universe, double alpha, uint64_t *hits,
                               brume_error *error)
{
    double updates = brume_divide_up(brume_log_up((double)universe->cells),
                                     brume_multiply_down(2 * alpha, alpha));
    if (updates >= 0x1p31)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'alpha' is %g: too small for the universe",
                          alpha);
    *hits = (uint64_t)updates + 1;
    return BRUME_OK;
}

/* The epsilon of a sparse vector that costs rho: epsilon tanh(epsilon/2) <= rho, rounded down. */
static double multiplicative_weights_epsilon(double rho)
{
    /* low always costs at most rho; x tanh(x/2) >= x^2/(2 + x) is more than rho at the first high
     */
    double low = 0, high = 2 * sqrt(2 * rho) + 2 * rho;
    for (int i = 0; i < 100; i++) {
        double middle = low + (high - low) / 2;
        if (brume_pure_rho_upper(middle) <= rho)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* How the price is split, and what it buys. */
static brume_status price(brume_multiplicative_weights *stream, brume_error *error)
{
    const brume_multiplicative_weights_options *options = &stream->options;
    double hits = (double)stream->hits;
    bool pure = options->rho == 0;
    stream->vector = (brume_sparse_vector_options){
        .adjacency = options->adjacency,
        .sensitivity = 1,
        .threshold = (int64_t)ceil(2 * options->alpha * options->records),
        .hits = pure ? stream->hits : 1};
    brume_event *answers = &stream->events[ANSWERS];
    *answers =
        (brume_event){.adjacency = options->adjacency, .sensitivity = 1, .count = stream->hits};
    answers->parameter[1] = 1;
    if (pure) {
        double share = options->epsilon / 4; /* exact */
        answers->mechanism = brume_card_by_name("discrete_laplace")->id;
        answers->parameter[0] = brume_divide_up(hits, share); /* up: hits/scale <= epsilon/4 */
        /* down: both together are at most epsilon */
        stream->vector.epsilon = brume_subtract_down(options->epsilon, share);
    } else {
        double share = options->rho / 16; /* exact */
        answers->mechanism = brume_card_by_name("discrete_gaussian")->id;
        /* up: hits/(2 sigma^2) <= rho/16 */
        answers->parameter[0] = brume_sqrt_up(brume_divide_up(hits, 2 * share));
        /* down: hits of them cost at most the rest of rho */
        stream->vector.epsilon = multiplicative_weights_epsilon(
            brume_divide_down(brume_subtract_down(options->rho, share), hits));
    }
    return brume_event_check(answers, error);
}

static brume_status fill(brume_multiplicative_weights *stream, const double *counts,
                         brume_bits *bits, brume_error *error)
{
    const brume_universe *universe = brume_workload_universe(stream->workload);
    BRUME_TRY(count_hits(universe, stream->options.alpha, &stream->hits, error));
    stream->left = stream->hits;
    BRUME_TRY(price(stream, error));
    stream->counts = malloc(universe->cells * sizeof(double));
    double *cell = malloc(universe->cells * sizeof(double));
    stream->weights = calloc(1, sizeof *stream->weights);
    if (!stream->counts || !stream->weights || !cell) {
        free(cell);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %llu cells",
                          (unsigned long long)universe->cells);
    }
    memcpy(stream->counts, counts, universe->cells * sizeof(double));
    brume_weights_uniform(stream->weights, stream->workload, stream->options.records, cell);
    double spread = stream->events[ANSWERS].parameter[0];
    if (stream->options.rho == 0)
        BRUME_TRY(brume_noise_open_discrete_laplace(spread, &stream->noise, error));
    else
        BRUME_TRY(brume_noise_open_discrete_gaussian(spread, &stream->noise, error));
    BRUME_TRY(brume_sparse_vector_open(&stream->vector, bits, &stream->sparse, error));
    stream->events[DECISIONS] = brume_sparse_vector_event(stream->sparse);
    stream->events[DECISIONS].count = stream->options.rho == 0 ? 1 : stream->hits;
    return BRUME_OK;
}

brume_status brume_multiplicative_weights_open(const brume_workload *workload,
                                               const brume_multiplicative_weights_options *options,
                                               const double *counts, brume_bits *bits,
                                               brume_multiplicative_weights **out,
                                               brume_error *error)
{
    BRUME_TRY(check(workload, options, counts, error));
    brume_multiplicative_weights *stream = calloc(1, sizeof *stream);
    if (!stream)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for a stream");
    stream->workload = workload;
    stream->options = *options;
    brume_status status = fill(stream, counts, bits, error);
    if (status != BRUME_OK) {
        brume_multiplicative_weights_close(stream);
        return status;
    }
    *out = stream;
    return BRUME_OK;
}

void brume_multiplicative_weights_close(brume_multiplicative_weights *stream)
{
    if (!stream)
        return;
    if (stream->counts)
        explicit_bzero(stream->counts,
                       brume_workload_universe(stream->workload)->cells * sizeof(double));
    free(stream->counts);
    if (stream->weights)
        free(stream->weights->cell);
    free(stream->weights);
    brume_noise_close(stream->noise);
    brume_sparse_vector_close(stream->sparse);
    brume_sparse_vector_close(stream->next);
    free(stream);
}

void brume_multiplicative_weights_events(const brume_multiplicative_weights *stream,
                                         brume_event events[BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS])
{
    memcpy(events, stream->events, sizeof stream->events);
}

int64_t brume_multiplicative_weights_badness(double public_answer, double truth)
{
    return (int64_t)floor(fabs(public_answer - truth)); /* exact: multiples of 2^-20 below 2^34 */
}

/* After a hit: count it, and under rho go on with the next sparse vector. */
static void use_up_hit(brume_multiplicative_weights *stream)
{
    stream->left--;
    if (stream->options.rho == 0)
        return;
    brume_sparse_vector_close(stream->sparse);
    stream->sparse = stream->next; /* NULL after the last hit: it is not asked again */
    stream->next = NULL;
}

brume_status brume_multiplicative_weights_ask(brume_multiplicative_weights *stream,
                                              brume_bits *bits, size_t query, double *answer,
                                              bool *was_free, brume_error *error)
{
    if (stream->left == 0)
        return brume_fail(error, BRUME_EHALTED, "the public histogram stays; ask it",
                          "the stream has halted after %llu answers that were not free",
                          (unsigned long long)stream->hits);
    double estimate, truth;
    int64_t noise;
    bool above;
    BRUME_TRY(brume_weights_answer_one(stream->weights, query, &estimate, error));
    BRUME_TRY(brume_workload_answer_one(stream->workload, query, stream->counts, &truth, error));
    estimate = brume_weights_public(estimate);
    truth = floor(truth);
    if (stream->options.rho > 0 && stream->left > 1 && !stream->next)
        BRUME_TRY(brume_sparse_vector_open(&stream->vector, bits, &stream->next, error));
    BRUME_TRY(brume_noise_draw(stream->noise, bits, &noise, error));
    BRUME_TRY(brume_sparse_vector_ask(stream->sparse, bits,
                                      brume_multiplicative_weights_badness(estimate, truth), &above,
                                      NULL, error));
    if (!above) {
        *answer = estimate;
        *was_free = true;
        return BRUME_OK;
    }
    use_up_hit(stream);
    /* saturates as noise itself does; as a double only after the noise is in */
    int64_t sum;
    if (__builtin_add_overflow((int64_t)truth, noise, &sum))
        sum = noise > 0 ? INT64_MAX : -INT64_MAX;
    double noisy = (double)sum, rate = 4 * stream->options.alpha;
    BRUME_TRY(brume_weights_step(stream->weights, query, noisy < estimate ? -rate : rate, error));
    *answer = noisy;
    *was_free = false;
    return BRUME_OK;
}

uint64_t brume_multiplicative_weights_left(const brume_multiplicative_weights *stream)
{
    return stream->left;
}

const double *brume_multiplicative_weights_histogram(const brume_multiplicative_weights *stream)
{
    brume_weights_settle(stream->weights);
    return stream->weights->cell;
}

/* With probability >= 1-beta all decisions are right to within *alpha. */
static brume_status decision_alpha(const brume_multiplicative_weights *stream, uint64_t queries,
                                   double beta, double *alpha, brume_error *error)
{
    if (stream->options.rho == 0)
        return brume_sparse_vector_alpha(stream->sparse, queries, beta, alpha, error);
    brume_split split = {.hits = 1};
    double threshold, query;
    brume_split_scales(&split, stream->vector.epsilon, &threshold, &query);
    /* P[|X| > t] <= exp(-t/scale) for a whole t: half of beta for all thresholds, half for all
     * queries; beta/2 is exact */
    threshold =
        brume_multiply_up(threshold, brume_log_up(brume_divide_up((double)stream->hits, beta / 2)));
    query =
        brume_multiply_up(query, brume_log_up(brume_divide_up(brume_count_up(queries), beta / 2)));
    *alpha = brume_add_up(ceil(threshold), ceil(query));
    return BRUME_OK;
}

brume_status brume_multiplicative_weights_alpha(const brume_multiplicative_weights *stream,
                                                uint64_t queries, double beta, double *alpha,
                                                brume_error *error)
{
    if (queries == 0 || !(beta > 0 && beta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bound needs queries, and 'beta' in (0, 1)");
    double decision, noise, threshold = (double)stream->vector.threshold;
    brume_event answers = stream->events[ANSWERS];
    answers.parameter[1] = (double)stream->hits;
    BRUME_TRY(decision_alpha(stream, queries, beta / 2, &decision, error));
    BRUME_TRY(brume_event_alpha(&answers, beta / 2, &noise, error));
    /* the floor of a dense sum; the rounding of the estimate, its sum in doubles included; and of
     * the steps, whose factors are right to 4 alpha 2^-30 */
    double slack = 1 + 0x1p-18 + stream->options.records * 0x1p-28;
    double sure = threshold - decision - slack; /* how bad a query called above is at least */
    if (!(sure >= stream->options.alpha * stream->options.records && sure >= noise))
        return brume_fail(
            error, BRUME_EUNSUPPORTED, "take a larger 'alpha' or price, or more records",
            "nothing is known of the error: 'alpha' is %g, too small here", stream->options.alpha);
    /* free: badness <= threshold + decision, its floor hides less than 1 */
    double free_error = brume_add_up(brume_add_up(threshold, decision), 1 + slack);
    *alpha = fmax(free_error, brume_add_up(noise, 1));
    return BRUME_OK;
}
