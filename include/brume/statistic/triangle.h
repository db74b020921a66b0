/* The number of triangles of a graph under edge privacy, with what noise fitted to the data needs.
 *
 * The graph is undirected and simple on the public vertices 0 .. vertices-1. Self-loops, repeated
 * edges (in either direction) and edges with an end outside are dropped: each is a rule about one
 * edge alone. Neighbouring graphs differ in one edge (BRUME_EDGE).
 *
 * For two vertices u, v let a be the number of their common neighbours and b the number of other
 * vertices adjacent to exactly one of them.
 *
 * 1. One edge more or less changes the count by a, so the local sensitivity is the largest a over
 *    all pairs, adjacent or not; globally it is vertices - 2.
 * 2. L_s, the largest local sensitivity within s edges, is exactly
 *    max over pairs of min(a + floor((s + min(s, b)) / 2), vertices - 2).       [NRS07, Claim 3.13]
 * 3. L_0 itself changes by at most 1 between neighbours.
 * 4. Memory: linear in the edges and vertices. Pairs are visited from large degrees downwards and
 *    the visit stops when no remaining pair can matter, so a call costs far less than all two-paths
 *    on graphs with hubs.
 * 5. Everything here is a function of the data without noise: secret. */
#ifndef BRUME_TRIANGLE_H
#define BRUME_TRIANGLE_H

#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brume_graph brume_graph;

/* Edge i joins source[i] and target[i].  Errors: BRUME_EARGUMENT (vertices is 0 or above 2^32 - 2,
 * edges above 2^40), BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_graph_open(uint64_t vertices, const uint64_t *source,
                                                       const uint64_t *target, size_t edges,
                                                       brume_graph **out, brume_error *error);
BRUME_API void brume_graph_close(brume_graph *graph);

/* Number of edges kept. */
BRUME_API uint64_t brume_graph_edges(const brume_graph *graph);

/* Number of triangles.  Errors: BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_triangle_count(const brume_graph *graph, uint64_t *out,
                                                           brume_error *error);

/* max(vertices - 2, 0). */
BRUME_API uint64_t brume_triangle_global(const brume_graph *graph);

/* L_s.  Errors: BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_triangle_local(const brume_graph *graph, uint64_t s,
                                                           uint64_t *out, brume_error *error);

/* The least s with L_s > bound; UINT64_MAX if there is none.  Errors: BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_triangle_distance(const brume_graph *graph,
                                                              uint64_t bound, uint64_t *out,
                                                              brume_error *error);

/* A t-smooth bound on the local sensitivity, as brume_quantile_smooth: max_s exp(-t s) L_s but for
 * rounding, with S(x) <= exp(t) S(x') exactly; 0 if and only if vertices <= 2.
 * Requires: 2^-30 <= t <= 64; else BRUME_EARGUMENT.  Errors: BRUME_EMEMORY. */
BRUME_API BRUME_MUST_USE brume_status brume_triangle_smooth(const brume_graph *graph, double t,
                                                            double *out, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
