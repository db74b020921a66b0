/* The trial of the streams: QUERIES values at the threshold; on the second input all but the last
 * are lower by the sensitivity and the last is higher, or as it was where they move together. The
 * outcome is the pattern of the answers "above". */
#include "mechanism/threshold/threshold.h"

#include <math.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"

enum { QUERIES = 8 };

static brume_status prepare(const brume_event *event, void *state, brume_error *error)
{
    const brume_threshold_family *family = brume_card_by_id(event->mechanism)->family;
    if (event->sensitivity != floor(event->sensitivity))
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "the sensitivity %g is not whole, queries of a stream are",
                          event->sensitivity);
    *(brume_sparse_vector_options *)state = family->options(event);
    return BRUME_OK;
}

static brume_status ask_all(const brume_sparse_vector_options *options, int64_t moved,
                            brume_bits *bits, int64_t *pattern, brume_error *error)
{
    brume_sparse_vector *stream = NULL;
    BRUME_TRY(brume_sparse_vector_open(options, bits, &stream, error));
    brume_status status = BRUME_OK;
    *pattern = 0;
    for (int query = 0; status == BRUME_OK && query < QUERIES; query++) {
        bool above = false;
        int64_t value = query < QUERIES - 1 ? -moved : options->monotone ? 0 : moved;
        if (brume_sparse_vector_left(stream) > 0)
            status = brume_sparse_vector_ask(stream, bits, value, &above, NULL, error);
        *pattern = 2 * *pattern + above;
    }
    brume_sparse_vector_close(stream);
    return status;
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    (void)event;
    const brume_sparse_vector_options *options = state;
    int64_t moved = second ? (int64_t)options->sensitivity : 0;
    for (size_t i = 0; i < n; i++)
        BRUME_TRY(ask_all(options, moved, bits, &out[i], error));
    return BRUME_OK;
}

const brume_trial brume_threshold_trial = {
    .neighbours = "eight queries at the threshold, moved against it",
    .outcome = "the pattern of answers",
    .step = 1,
    .slow = true,
    .state_size = sizeof(brume_sparse_vector_options),
    .prepare = prepare,
    .draw = draw,
};
