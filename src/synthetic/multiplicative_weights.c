/* Private multiplicative weights, online.
 *
 * Promises: the data enter through whole numbers that one unit moves by at most 1, into two places
 * only: the sparse vector, which halts by itself, and the noisy answer to a query that it called
 * above, at most `hits` times. The histogram is a function of what was told. Pure epsilon.
 *
 * The noise of an answer is drawn before the sparse vector is asked and thrown away where it is not
 * needed: so a failing bit source costs no hit. */
#include "synthetic/multiplicative_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism.h>
#include <brume/noise.h>
#include <brume/sparse_vector.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"

struct brume_multiplicative_weights {
    const brume_workload *workload;
    brume_multiplicative_weights_options options;
    uint64_t hits;
    int64_t threshold;
    double *counts;  /* private */
    double *weights; /* public */
    brume_sparse_vector *sparse;
    brume_noise *noise;
    brume_event answers;
};

static brume_status check(const brume_workload *workload,
                          const brume_multiplicative_weights_options *options, const double *counts,
                          brume_error *error)
{
    BRUME_TRY(brume_exact_price("multiplicative weights", options->adjacency, options->epsilon, 0,
                                error));
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

static brume_status fill(brume_multiplicative_weights *stream, const double *counts,
                         brume_bits *bits, brume_error *error)
{
    const brume_multiplicative_weights_options *options = &stream->options;
    uint64_t cells = brume_workload_universe(stream->workload)->cells;
    stream->counts = malloc(cells * sizeof(double));
    stream->weights = malloc(cells * sizeof(double));
    if (!stream->counts || !stream->weights)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %llu cells",
                          (unsigned long long)cells);
    memcpy(stream->counts, counts, cells * sizeof(double));
    for (uint64_t i = 0; i < cells; i++)
        stream->weights[i] = options->records / (double)cells;
    /* up: more hits than there can be updates */
    double updates = brume_divide_up(brume_log_up((double)cells),
                                     brume_multiply_down(2 * options->alpha, options->alpha));
    if (updates >= 0x1p31)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'alpha' is %g: too small for the universe",
                          options->alpha);
    stream->hits = (uint64_t)updates + 1;
    stream->threshold = (int64_t)ceil(2 * options->alpha * options->records);
    double answers = options->epsilon / 4; /* exact */
    /* up: hits/scale <= epsilon/4 */
    stream->answers = (brume_event){.mechanism = brume_card_by_name("discrete_laplace")->id,
                                    .adjacency = options->adjacency,
                                    .sensitivity = 1,
                                    .count = stream->hits};
    stream->answers.parameter[0] = brume_divide_up((double)stream->hits, answers);
    stream->answers.parameter[1] = 1;
    BRUME_TRY(brume_event_check(&stream->answers, error));
    BRUME_TRY(
        brume_noise_open_discrete_laplace(stream->answers.parameter[0], &stream->noise, error));
    /* down: both together are at most epsilon */
    brume_sparse_vector_options sparse = {.adjacency = options->adjacency,
                                          .sensitivity = 1,
                                          .threshold = stream->threshold,
                                          .epsilon = brume_subtract_down(options->epsilon, answers),
                                          .hits = stream->hits};
    return brume_sparse_vector_open(&sparse, bits, &stream->sparse, error);
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
    free(stream->weights);
    brume_noise_close(stream->noise);
    brume_sparse_vector_close(stream->sparse);
    free(stream);
}

void brume_multiplicative_weights_events(const brume_multiplicative_weights *stream,
                                         brume_event events[BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS])
{
    events[0] = brume_sparse_vector_event(stream->sparse);
    events[1] = stream->answers;
}

int64_t brume_multiplicative_weights_badness(double public_answer, double truth)
{
    return (int64_t)floor(fabs(public_answer - truth)); /* exact: multiples of 2^-20 below 2^34 */
}

brume_status brume_multiplicative_weights_step(const brume_workload *workload, size_t query,
                                               double rate, double records, double *weights,
                                               brume_error *error)
{
    double total;
    BRUME_TRY(brume_workload_reweigh(workload, query, rate, weights, &total, error));
    double factor = records / total;
    uint64_t cells = brume_workload_universe(workload)->cells;
    for (uint64_t i = 0; i < cells; i++)
        weights[i] *= factor;
    return BRUME_OK;
}

brume_status brume_multiplicative_weights_ask(brume_multiplicative_weights *stream,
                                              brume_bits *bits, size_t query, double *answer,
                                              bool *was_free, brume_error *error)
{
    if (brume_sparse_vector_left(stream->sparse) == 0)
        return brume_fail(error, BRUME_EHALTED, "the public histogram stays; ask it",
                          "the stream has halted after %llu answers that were not free",
                          (unsigned long long)stream->hits);
    double estimate, truth;
    int64_t noise;
    bool above;
    BRUME_TRY(
        brume_workload_answer_one(stream->workload, query, stream->weights, &estimate, error));
    BRUME_TRY(brume_workload_answer_one(stream->workload, query, stream->counts, &truth, error));
    estimate = rint(estimate * 0x1p20) * 0x1p-20;
    truth = floor(truth);
    BRUME_TRY(brume_noise_draw(stream->noise, bits, &noise, error));
    BRUME_TRY(brume_sparse_vector_ask(stream->sparse, bits,
                                      brume_multiplicative_weights_badness(estimate, truth), &above,
                                      NULL, error));
    if (!above) {
        *answer = estimate;
        *was_free = true;
        return BRUME_OK;
    }
    /* saturates as noise itself does; as a double only after the noise is in */
    int64_t sum;
    if (__builtin_add_overflow((int64_t)truth, noise, &sum))
        sum = noise > 0 ? INT64_MAX : -INT64_MAX;
    double noisy = (double)sum, rate = 4 * stream->options.alpha;
    BRUME_TRY(brume_multiplicative_weights_step(stream->workload, query,
                                                noisy < estimate ? -rate : rate,
                                                stream->options.records, stream->weights, error));
    *answer = noisy;
    *was_free = false;
    return BRUME_OK;
}

uint64_t brume_multiplicative_weights_left(const brume_multiplicative_weights *stream)
{
    return brume_sparse_vector_left(stream->sparse);
}

const double *brume_multiplicative_weights_histogram(const brume_multiplicative_weights *stream)
{
    return stream->weights;
}

brume_status brume_multiplicative_weights_alpha(const brume_multiplicative_weights *stream,
                                                uint64_t queries, double beta, double *alpha,
                                                brume_error *error)
{
    if (queries == 0 || !(beta > 0 && beta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bound needs queries, and 'beta' in (0, 1)");
    double decision, noise, threshold = (double)stream->threshold;
    brume_event answers = stream->answers;
    answers.parameter[1] = (double)stream->hits;
    BRUME_TRY(brume_sparse_vector_alpha(stream->sparse, queries, beta / 2, &decision, error));
    BRUME_TRY(brume_event_alpha(&answers, beta / 2, &noise, error));
    /* the floor of a dense sum and the rounding of the estimate (its sum in doubles included) */
    double slack = 1 + 0x1p-18 + stream->options.records * 0x1p-30;
    double sure = threshold - decision - slack; /* how bad a query called above is at least */
    if (!(sure >= stream->options.alpha * stream->options.records && sure >= noise))
        return brume_fail(
            error, BRUME_EUNSUPPORTED, "take a larger 'alpha' or 'epsilon', or more records",
            "nothing is known of the error: 'alpha' is %g, too small here", stream->options.alpha);
    /* free: badness <= threshold + decision, its floor hides less than 1 */
    double free_error = brume_add_up(brume_add_up(threshold, decision), 1 + slack);
    *alpha = fmax(free_error, brume_add_up(noise, 1));
    return BRUME_OK;
}
