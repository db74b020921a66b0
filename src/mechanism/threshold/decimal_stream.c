/* The sparse vector over decimals. Promises: decimal_stream.h. */
#include "mechanism/threshold/decimal_stream.h"

#include <stdlib.h>

#include "base/error.h"
#include "number/decimal_grid.h"

static const int64_t VALUE_LIMIT = (int64_t)1 << 61;

struct brume_decimal_stream {
    brume_sparse_vector *steps;
    brume_decimal sensitivity;
    double step; /* for answers: post-processing */
    unsigned k;
};

/* ceil(threshold 2^k / sensitivity): a query on the grid is at least that if and only if it is at
 * least the threshold. */
static int64_t threshold_steps(const brume_decimal_stream_options *options, unsigned k)
{
    brume_signed_decimal opposite = options->threshold;
    opposite.negative = !opposite.negative && !brume_decimal_is_zero(&opposite.size);
    return -brume_decimal_clamped_steps(&opposite, &options->sensitivity, k, VALUE_LIMIT);
}

brume_status brume_decimal_stream_open(const brume_decimal_stream_options *options,
                                       brume_bits *bits, brume_decimal_stream **out,
                                       brume_error *error)
{
    if (brume_decimal_is_zero(&options->sensitivity))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'sensitivity' must be above 0");
    brume_decimal_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return brume_no_memory(error, "a stream");
    stream->sensitivity = options->sensitivity;
    brume_status status = BRUME_EOVERFLOW;
    for (unsigned k = 10; status == BRUME_EOVERFLOW; k -= 5) {
        brume_sparse_vector_options in_steps = options->rest;
        in_steps.sensitivity = (uint64_t)1 << k;
        in_steps.threshold = threshold_steps(options, k);
        stream->k = k;
        stream->step = brume_decimal_nearest(&options->sensitivity) / (double)in_steps.sensitivity;
        status = brume_sparse_vector_open(&in_steps, bits, &stream->steps, error);
        if (k == 0)
            break;
    }
    if (status != BRUME_OK) {
        brume_decimal_stream_close(stream);
        return status;
    }
    *out = stream;
    return BRUME_OK;
}

void brume_decimal_stream_close(brume_decimal_stream *stream)
{
    if (stream)
        brume_sparse_vector_close(stream->steps);
    free(stream);
}

brume_status brume_decimal_stream_ask(brume_decimal_stream *stream, brume_bits *bits,
                                      const brume_signed_decimal *query, bool *above,
                                      double *answer, brume_error *error)
{
    int64_t steps =
        brume_decimal_clamped_steps(query, &stream->sensitivity, stream->k, VALUE_LIMIT);
    int64_t noisy = INT64_MIN;
    BRUME_TRY(brume_sparse_vector_ask(stream->steps, bits, steps, above, &noisy, error));
    if (noisy != INT64_MIN)
        *answer = (double)noisy * stream->step;
    return BRUME_OK;
}

uint64_t brume_decimal_stream_left(const brume_decimal_stream *stream)
{
    return brume_sparse_vector_left(stream->steps);
}
