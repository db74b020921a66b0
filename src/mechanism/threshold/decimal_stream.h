/* A sparse vector over decimals that somebody types: queries, threshold and sensitivity as they
 * are, put on a grid on which the sensitivity is a whole number of steps. proofs/sparse_vector.md,
 * "Decimals". */
#ifndef BRUME_MECHANISM_DECIMAL_STREAM_H
#define BRUME_MECHANISM_DECIMAL_STREAM_H

#include <brume/decimal.h>
#include <brume/mechanism/sparse_vector.h>

typedef struct brume_decimal_stream brume_decimal_stream;

typedef struct brume_decimal_stream_options {
    brume_decimal sensitivity; /* above 0: the most that one unit moves any query */
    brume_signed_decimal threshold;
    brume_sparse_vector_options rest; /* its sensitivity and threshold are not used */
} brume_decimal_stream_options;

/* Steps of a 2^10th of the sensitivity, of a 2^5th or of all of it, the finest for which the noise
 * is not too wide: a choice by public numbers alone. Close with brume_decimal_stream_close.
 * Errors: as brume_sparse_vector_open. */
BRUME_MUST_USE brume_status brume_decimal_stream_open(const brume_decimal_stream_options *options,
                                                      brume_bits *bits, brume_decimal_stream **out,
                                                      brume_error *error);
void brume_decimal_stream_close(brume_decimal_stream *stream);

/* As brume_sparse_vector_ask: the query is rounded down to a step, and a number comes back as the
 * double next to it. */
BRUME_MUST_USE brume_status brume_decimal_stream_ask(brume_decimal_stream *stream, brume_bits *bits,
                                                     const brume_signed_decimal *query, bool *above,
                                                     double *answer, brume_error *error);

uint64_t brume_decimal_stream_left(const brume_decimal_stream *stream);

#endif
