/* The sparse vector stream. Promises: brume/mechanism/sparse_vector.h.
 *
 * All noise of a query is drawn before its value is looked at, also the answer's, so that neither
 * time nor a failing bit source depends on the value; and a failure tells and counts nothing.
 * The noise saturates at 2^63 - 1; with scales up to 2^40 that has probability below exp(-2^22),
 * and the comparison is done in 128 bits, so nothing wraps. */
#include <brume/mechanism/sparse_vector.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>
#include <brume/noise/noise.h>

#include "base/error.h"
#include "mechanism/threshold/threshold.h"
#include "number/rounding.h"
#include "number/wide.h"

static const int64_t VALUE_LIMIT = (int64_t)1 << 61, ANSWER_LIMIT = (int64_t)1 << 62;
static const double WIDEST = 0x1p40;

struct brume_sparse_vector {
    brume_sparse_vector_options options;
    brume_noise *threshold_law;
    brume_noise *query_noise;
    brume_noise *answer_noise; /* NULL: no numbers */
    int64_t threshold_noise;   /* drawn once */
    uint64_t left;
};

static brume_split split_of(const brume_sparse_vector_options *options)
{
    return (brume_split){
        .hits = (double)options->hits, .monotone = options->monotone, .even = options->even_split};
}

static brume_event event_of(const brume_sparse_vector_options *options)
{
    bool single = options->hits == 1 && options->even_split && options->epsilon_answers == 0;
    brume_event event = {.mechanism = single ? 9 : 10,
                         .adjacency = options->adjacency,
                         .sensitivity = (double)options->sensitivity,
                         .count = 1,
                         .parameter = {options->epsilon}};
    if (single) {
        event.parameter[1] = options->monotone;
    } else {
        event.parameter[1] = (double)options->hits;
        event.parameter[2] = options->monotone;
        event.parameter[3] = options->epsilon_answers;
    }
    return event;
}

static brume_status check(const brume_sparse_vector_options *options, brume_error *error)
{
    if (options->sensitivity < 1 || options->sensitivity > (uint64_t)1 << 40)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'sensitivity' must be in [1, 2^40]");
    if (options->threshold > VALUE_LIMIT || options->threshold < -VALUE_LIMIT)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'threshold' must be in [-2^61, 2^61]");
    if (options->hits < 1 || options->hits > (uint64_t)1 << 31)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'hits' must be in [1, 2^31]");
    brume_event event = event_of(options);
    return brume_event_check(&event, error); /* epsilon, epsilon_answers, adjacency */
}

brume_stream_scales brume_sparse_vector_scales(const brume_sparse_vector_options *options)
{
    double sensitivity = (double)options->sensitivity, threshold, query, answer = 0;
    brume_split split = split_of(options);
    brume_split_scales(&split, options->epsilon, &threshold, &query);
    if (options->epsilon_answers > 0)
        answer = brume_divide_up((double)options->hits, options->epsilon_answers);
    return (brume_stream_scales){.threshold = brume_multiply_up(threshold, sensitivity),
                                 .query = brume_multiply_up(query, sensitivity),
                                 .answer = brume_multiply_up(answer, sensitivity)};
}

static brume_status open_noise(double scale, brume_noise **out, brume_error *error)
{
    if (!(scale <= WIDEST))
        return brume_fail(error, BRUME_EOVERFLOW, "use a coarser grid",
                          "the noise would have a scale of %.17g, more than 2^40", scale);
    return brume_noise_open_discrete_laplace(scale, out, error);
}

static brume_status prepare(brume_sparse_vector *stream, brume_bits *bits, brume_error *error)
{
    brume_stream_scales scales = brume_sparse_vector_scales(&stream->options);
    BRUME_TRY(open_noise(scales.query, &stream->query_noise, error));
    if (scales.answer > 0)
        BRUME_TRY(open_noise(scales.answer, &stream->answer_noise, error));
    BRUME_TRY(open_noise(scales.threshold, &stream->threshold_law, error));
    return brume_sparse_vector_restart(stream, bits, error);
}

brume_status brume_sparse_vector_restart(brume_sparse_vector *stream, brume_bits *bits,
                                         brume_error *error)
{
    BRUME_TRY(brume_noise_draw(stream->threshold_law, bits, &stream->threshold_noise, error));
    stream->left = stream->options.hits;
    return BRUME_OK;
}

brume_status brume_sparse_vector_open(const brume_sparse_vector_options *options, brume_bits *bits,
                                      brume_sparse_vector **out, brume_error *error)
{
    BRUME_TRY(check(options, error));
    brume_sparse_vector *stream = calloc(1, sizeof *stream);
    if (!stream)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for a sparse vector");
    stream->options = *options;
    brume_status status = prepare(stream, bits, error);
    if (status != BRUME_OK) {
        brume_sparse_vector_close(stream);
        return status;
    }
    *out = stream;
    return BRUME_OK;
}

void brume_sparse_vector_close(brume_sparse_vector *stream)
{
    if (!stream)
        return;
    brume_noise_close(stream->threshold_law);
    brume_noise_close(stream->query_noise);
    brume_noise_close(stream->answer_noise);
    explicit_bzero(stream, sizeof *stream);
    free(stream);
}

static int64_t clamp(brume_i128 x, int64_t limit)
{
    return x > limit ? limit : x < -limit ? -limit : (int64_t)x;
}

brume_status brume_sparse_vector_ask(brume_sparse_vector *stream, brume_bits *bits, int64_t value,
                                     bool *above, int64_t *answer, brume_error *error)
{
    if (stream->left == 0)
        return brume_fail(error, BRUME_EHALTED, "open and pay for another one",
                          "the stream has halted after %" PRIu64 " hits", stream->options.hits);
    int64_t noise, fresh = 0;
    BRUME_TRY(brume_noise_draw(stream->query_noise, bits, &noise, error));
    if (stream->answer_noise)
        BRUME_TRY(brume_noise_draw(stream->answer_noise, bits, &fresh, error));
    int64_t inside = clamp(value, VALUE_LIMIT);
    bool hit = (brume_i128)inside + noise >=
               (brume_i128)stream->options.threshold + stream->threshold_noise;
    if (hit)
        stream->left--;
    if (hit && stream->answer_noise && answer)
        *answer = clamp((brume_i128)inside + fresh, ANSWER_LIMIT);
    *above = hit;
    return BRUME_OK;
}

uint64_t brume_sparse_vector_left(const brume_sparse_vector *stream)
{
    return stream->left;
}

brume_event brume_sparse_vector_event(const brume_sparse_vector *stream)
{
    return event_of(&stream->options);
}

brume_status brume_sparse_vector_alpha(const brume_sparse_vector *stream, uint64_t queries,
                                       double beta, double *alpha, brume_error *error)
{
    if (queries < 1 || queries > (uint64_t)1 << 53)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'queries' must be in [1, 2^53]");
    if (!(beta > 0 && beta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'beta' is %.17g, must be in (0, 1)", beta);
    brume_split split = split_of(&stream->options);
    double real;
    BRUME_TRY(brume_split_alpha_upper(&split, stream->options.epsilon,
                                      (double)stream->options.sensitivity, (double)queries, beta,
                                      &real, error));
    /* P[|X| > t] <= exp(-t/scale) for a whole t; each of the two parts is rounded up to one */
    *alpha = brume_add_up(ceil(real), 1);
    return BRUME_OK;
}
