/* How far one unit can move a query: global sensitivities, for the adjacency they are asked for.
 *
 * Every number is rounded up. L1 is what Laplace noise needs, L2 what Gaussian noise needs. Where
 * the query is not defined under an adjacency the call is refused (BRUME_EARGUMENT): a mean over a
 * private number of records has no small sensitivity, and nothing here pretends otherwise.
 * Proofs: proofs/sensitivity.md. On error *out is untouched. */
#ifndef BRUME_SENSITIVITY_H
#define BRUME_SENSITIVITY_H

#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_sensitivity {
    double l1, l2;
} brume_sensitivity;

/* Counts of a partition: each record is in one cell. 1 / 1; replace 2 / sqrt 2. */
BRUME_API BRUME_MUST_USE brume_status brume_sensitivity_histogram(brume_adjacency adjacency,
                                                                  brume_sensitivity *out,
                                                                  brume_error *error);

typedef enum brume_ballot {
    BRUME_BALLOT_AT_MOST, /* up to `votes` different candidates, one vote each */
    BRUME_BALLOT_EXACTLY, /* exactly `votes` different candidates */
    BRUME_BALLOT_STACKED, /* `votes` votes that may all go to one candidate */
} brume_ballot;

/* Votes per candidate. Requires 1 <= votes, and votes <= candidates unless stacked. */
BRUME_API BRUME_MUST_USE brume_status brume_sensitivity_votes(brume_adjacency adjacency,
                                                              brume_ballot ballot,
                                                              uint64_t candidates, uint64_t votes,
                                                              brume_sensitivity *out,
                                                              brume_error *error);

/* Sum of values clamped to [lower, upper]: max(|lower|, |upper|); replace upper - lower.
 * Requires finite lower <= upper. */
BRUME_API BRUME_MUST_USE brume_status brume_sensitivity_sum(brume_adjacency adjacency, double lower,
                                                            double upper, brume_sensitivity *out,
                                                            brume_error *error);

/* Mean of n values clamped to [lower, upper], n public: (upper-lower)/n, replace only. */
BRUME_API BRUME_MUST_USE brume_status brume_sensitivity_mean(brume_adjacency adjacency,
                                                             double lower, double upper, uint64_t n,
                                                             brume_sensitivity *out,
                                                             brume_error *error);

/* A quantile of values clamped to [lower, upper]: upper - lower, both adjacencies. */
BRUME_API BRUME_MUST_USE brume_status brume_sensitivity_quantile(brume_adjacency adjacency,
                                                                 double lower, double upper,
                                                                 brume_sensitivity *out,
                                                                 brume_error *error);

/* Sum of x x^T over rows of Euclidean length at most `length`, `dimension` columns, as the whole
 * matrix (L2 is the Frobenius norm): B^2; replace sqrt 2 B^2, or B^2 in one dimension. */
BRUME_API BRUME_MUST_USE brume_status brume_sensitivity_gram(brume_adjacency adjacency,
                                                             double length, uint64_t dimension,
                                                             brume_sensitivity *out,
                                                             brume_error *error);

/* The same, but only the upper triangle with the diagonal is released, each entry once. */
BRUME_API BRUME_MUST_USE brume_status brume_sensitivity_gram_triangle(brume_adjacency adjacency,
                                                                      double length,
                                                                      uint64_t dimension,
                                                                      brume_sensitivity *out,
                                                                      brume_error *error);

/* Sum of (x - mean)(x - mean)^T over such rows, as the whole matrix: 4 B^2; replace 4 B^2 (n-1)/n
 * where n >= 1 is public (n is not looked at under add-remove). */
BRUME_API BRUME_MUST_USE brume_status brume_sensitivity_scatter(brume_adjacency adjacency,
                                                                double length, uint64_t dimension,
                                                                uint64_t n, brume_sensitivity *out,
                                                                brume_error *error);

/* Triangles of a graph with `vertices` public vertices, one edge more or less: vertices - 2. */
BRUME_API BRUME_MUST_USE brume_status brume_sensitivity_triangles(brume_adjacency adjacency,
                                                                  uint64_t vertices,
                                                                  brume_sensitivity *out,
                                                                  brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
