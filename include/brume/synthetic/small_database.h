/* SmallDB: a small database that answers a workload nearly as the large one does.
 *
 * The exponential mechanism over all multisets of `size` records: y is as bad as its worst answer,
 * u(y) = floor(max_f |f(B) - n f(y)/size|) records, and is drawn with weight exp(-epsilon u(y)/2),
 * exactly. Pure epsilon.   [BLR08]   Proof: proofs/many_queries.md.
 *
 * 1. There are C(N + size - 1, size) candidates over N cells, and each is looked at twice at most:
 *    feasible for tiny universes only. None is stored: they are counted by their badness, a badness
 *    is drawn, then a uniform candidate of it. Memory: 16 bytes for each of n+1 badnesses, 4 bytes
 *    a cell and query, 8 bytes for each query and place.
 * 2. `records` is n: public under BRUME_REPLACE, where it must be right; under BRUME_ADD_REMOVE a
 *    public estimate (the true number is private). */
#ifndef BRUME_SMALL_DATABASE_H
#define BRUME_SMALL_DATABASE_H

#include <brume/bits.h>
#include <brume/mechanism/event.h>
#include <brume/synthetic/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BRUME_SMALL_DATABASE_SIZE = 4096,
    BRUME_SMALL_DATABASE_CELLS = 1 << 14,
    BRUME_SMALL_DATABASE_RECORDS = 1 << 26
};

typedef struct brume_small_database_options {
    brume_adjacency adjacency; /* BRUME_ADD_REMOVE or BRUME_REPLACE; no default */
    double epsilon;
    uint64_t size;            /* 1 .. BRUME_SMALL_DATABASE_SIZE */
    uint64_t records;         /* n, 1 .. BRUME_SMALL_DATABASE_RECORDS */
    uint64_t most_candidates; /* refuse beyond: your patience; at most 2^40 */
} brume_small_database_options;

/* The size at which some multiset answers `queries` queries with an error below `alpha` (a share of
 * the records): floor(ln(2 queries)/(2 alpha^2)) + 1.   Requires queries >= 1, 0 < alpha <= 1. */
BRUME_API BRUME_MUST_USE brume_status brume_small_database_size(uint64_t queries, double alpha,
                                                                uint64_t *size, brume_error *error);

/* The number of candidates, C(cells + size - 1, size); infinity if beyond the doubles. Exact up to
 * 2^53, else to a relative 1e-10. */
BRUME_API double brume_small_database_candidates(uint64_t cells, uint64_t size);

/* What it costs, to record before: exponential(epsilon=). Errors: BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_small_database_event(
    const brume_small_database_options *options, brume_event *event, brume_error *error);

/* Draw it: out[i], i < size, are cells, ascending. Errors, all before a random bit is drawn:
 * BRUME_EARGUMENT; BRUME_EOVERFLOW with the number of candidates where there are too many, or too
 * many cells; BRUME_EMEMORY. And BRUME_ERANDOM. `out` is untouched then. */
BRUME_API BRUME_MUST_USE brume_status
brume_small_database(const brume_workload *workload, const brume_small_database_options *options,
                     const double *counts, brume_bits *bits, uint64_t *out, brume_error *error);

/* An alpha, in records, known before: with probability >= 1-beta every answer n f(y)/size is within
 * alpha of f(B), if `records` is the number of records. Rounded up.   Requires 0 < beta < 1. */
BRUME_API BRUME_MUST_USE brume_status brume_small_database_alpha(
    const brume_workload *workload, const brume_small_database_options *options, double beta,
    double *alpha, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
