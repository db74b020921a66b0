/* Private multiplicative weights: an adaptive stream of linear queries, most of them for free.
 *
 * A public histogram, uniform at first, answers every query that it answers well enough; whether it
 * does, a sparse vector decides. If not, the answer is the true one with fresh noise, and the
 * histogram is reweighed towards it. After `hits` such answers the stream halts by itself; with the
 * hits below, that does not happen while the accuracy statement holds.   [HR10]
 *
 * 1. alpha, a share of the records, is how badly the histogram may answer: the threshold is
 *    2 alpha n, hits = floor(ln N/(2 alpha^2)) + 1, the step exp(4 alpha).
 * 2. Pure epsilon, or rho, for the whole stream, however many queries are asked and however they
 *    are chosen. epsilon: three quarters for one sparse vector of all hits, a quarter for Laplace
 *    noise on the answers. rho: fifteen sixteenths for sparse vectors of one hit each, one after
 *    the other, the rest for Gaussian noise; costs add up as rho, so that noise grows with the
 *    square root of the hits. Which (epsilon, delta) that is, the accountant says: give it the
 *    events. Proof: proofs/many_queries.md.
 * 3. Queries are those of a workload, by number; it is not copied, may grow meanwhile, and must
 *    outlive the stream. The histogram of the data is copied, and wiped at close.
 * 4. `records` is n: public under BRUME_REPLACE, where it must be right; under BRUME_ADD_REMOVE a
 *    public estimate. */
#ifndef BRUME_MULTIPLICATIVE_WEIGHTS_H
#define BRUME_MULTIPLICATIVE_WEIGHTS_H

#include <stdbool.h>

#include <brume/bits.h>
#include <brume/mechanism/event.h>
#include <brume/synthetic/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_multiplicative_weights brume_multiplicative_weights;

typedef struct brume_multiplicative_weights_options {
    brume_adjacency adjacency; /* BRUME_ADD_REMOVE or BRUME_REPLACE; no default */
    double epsilon;            /* pure, for the whole stream; or 0 and `rho` */
    double alpha;              /* see 1; 2^-15 <= alpha <= 1 */
    double records;            /* see 4; a whole number, 1 .. 2^33 */
    double rho;                /* concentrated */
} brume_multiplicative_weights_options;

enum { BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS = 2 };

/* Open the stream; close it with brume_multiplicative_weights_close. Memory: two doubles per cell.
 * Errors: BRUME_EARGUMENT, BRUME_EOVERFLOW, BRUME_ERANDOM, BRUME_EMEMORY. *out is untouched then.
 */
BRUME_API BRUME_MUST_USE brume_status brume_multiplicative_weights_open(
    const brume_workload *workload, const brume_multiplicative_weights_options *options,
    const double *counts, brume_bits *bits, brume_multiplicative_weights **out, brume_error *error);

/* Wipe and free; NULL is allowed. */
BRUME_API void brume_multiplicative_weights_close(brume_multiplicative_weights *stream);

/* What the stream costs, to record before the first query: a sparse_vector, or under rho one of one
 * hit times the hits, and a discrete_laplace or discrete_gaussian times the hits. */
BRUME_API void brume_multiplicative_weights_events(
    const brume_multiplicative_weights *stream,
    brume_event events[BRUME_MULTIPLICATIVE_WEIGHTS_EVENTS]);

/* Ask a query. *answer, in records; *was_free: it came from the public histogram, and the next
 * query finds the same one. Errors: BRUME_EARGUMENT for no such query; BRUME_EHALTED after the last
 * hit (the histogram stays); BRUME_ERANDOM; BRUME_EMEMORY, which may use up a hit. Nothing is told
 * then. */
BRUME_API BRUME_MUST_USE brume_status
brume_multiplicative_weights_ask(brume_multiplicative_weights *stream, brume_bits *bits,
                                 size_t query, double *answer, bool *was_free, brume_error *error);

/* Answers left that are not free; 0 once it has halted. */
BRUME_API uint64_t brume_multiplicative_weights_left(const brume_multiplicative_weights *stream);

/* The public histogram, one weight per cell, with the records as its sum; the stream's own, changed
 * by the next answer that is not free. Threads: one call on a stream at a time, of this one too. */
BRUME_API const double *brume_multiplicative_weights_histogram(
    const brume_multiplicative_weights *stream);

/* A bound, in records, known before: with probability >= 1-beta, over `queries` queries the stream
 * does not halt and every answer is within it, if `records` is the number of records. About
 * 3 alpha n. Rounded up.
 * Requires queries >= 1, 0 < beta < 1. BRUME_EUNSUPPORTED where alpha is too small for so few
 * records and this price: then nothing is known. */
BRUME_API BRUME_MUST_USE brume_status
brume_multiplicative_weights_alpha(const brume_multiplicative_weights *stream, uint64_t queries,
                                   double beta, double *alpha, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
