/* Sparse vector: ask a stream of queries which are above a threshold, pay only for those that are.
 *
 * Queries, threshold and noise are integers (scale reals to a grid first), so "at least" is exact.
 * The threshold gets noise once, each query fresh noise, and after `hits` answers "above" the
 * stream halts by itself. Pure epsilon + epsilon_answers, however many queries are asked and
 * however they are chosen. Proof: proofs/sparse_vector.md. The event to record, before the first
 * answer, is sparse_vector(epsilon=, hits=, monotone=, epsilon_answers=), or
 * above_threshold(epsilon=, monotone=) for one hit with an even split; brume_sparse_vector_event
 * gives it.
 *
 * What must not be done: publish a query's noisy value in place of its fresh answer, go on after
 * the halt with another handle that was not paid for, or run two handles against one budget at
 * once. */
#ifndef BRUME_SPARSE_VECTOR_H
#define BRUME_SPARSE_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/bits.h>
#include <brume/mechanism/event.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_sparse_vector brume_sparse_vector;

typedef struct brume_sparse_vector_options {
    brume_adjacency adjacency; /* under which `sensitivity` is meant; no default */
    uint64_t sensitivity;      /* the most that one unit moves any query; 1 .. 2^40 */
    int64_t threshold;         /* |threshold| <= 2^61 */
    double epsilon;            /* for the whole stream, numbers apart */
    uint64_t hits;             /* 1 .. 2^31: halt after so many answers "above" */
    double epsilon_answers;    /* for numbers with the hits; 0: none */
    bool monotone;             /* one unit moves all queries in the same direction: less noise */
    bool even_split;           /* half of epsilon for the threshold (textbook); otherwise the split
                                  1 : (2 hits)^(2/3), or hits^(2/3) if monotone, which is best */
} brume_sparse_vector_options;

/* Draw the threshold's noise and open the stream; close it with brume_sparse_vector_close.
 * Errors: BRUME_EARGUMENT; BRUME_EOVERFLOW if the noise would be wider than 2^40; BRUME_ERANDOM;
 * BRUME_EMEMORY. *out is untouched then. */
BRUME_API BRUME_MUST_USE brume_status
brume_sparse_vector_open(const brume_sparse_vector_options *options, brume_bits *bits,
                         brume_sparse_vector **out, brume_error *error);

/* Wipe and free; NULL is allowed. */
BRUME_API void brume_sparse_vector_close(brume_sparse_vector *stream);

/* Ask one query: `value` is its true answer (clamped to -+2^61). *above tells whether it is, with
 * noise, at least the noisy threshold; if so and numbers were paid for, *answer is the value with
 * fresh noise (clamped to -+2^62), otherwise *answer is untouched. `answer` may be NULL.
 * Errors: BRUME_EHALTED after the last hit; BRUME_ERANDOM. Nothing is counted and nothing told
 * then. */
BRUME_API BRUME_MUST_USE brume_status brume_sparse_vector_ask(brume_sparse_vector *stream,
                                                              brume_bits *bits, int64_t value,
                                                              bool *above, int64_t *answer,
                                                              brume_error *error);

/* Hits left; 0 once it has halted. */
BRUME_API uint64_t brume_sparse_vector_left(const brume_sparse_vector *stream);

/* What the stream costs, as an event to record. */
BRUME_API brume_event brume_sparse_vector_event(const brume_sparse_vector *stream);

/* An alpha such that with probability >= 1-beta, over `queries` queries, "above" implies a value of
 * at least threshold - alpha and "below" one of at most threshold + alpha; integer noise included.
 * Requires queries >= 1, 0 < beta < 1. */
BRUME_API BRUME_MUST_USE brume_status brume_sparse_vector_alpha(const brume_sparse_vector *stream,
                                                                uint64_t queries, double beta,
                                                                double *alpha, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
