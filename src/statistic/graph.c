/* Reading a graph: clean the edges, rename the vertices by falling degree, store neighbour lists.
 *
 * Only vertices with an edge are stored; at most two of the others can matter to a pair, and they
 * are as good as any vertex of degree 0, so two are kept where there are any. */
#include "statistic/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"

static size_t without_repeats(uint64_t *words, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || words[i] != words[i - 1])
            words[kept++] = words[i];
    return kept;
}

/* Packed (smaller end, larger end), sorted, without repeats. */
static brume_status clean_edges(uint64_t vertices, const uint64_t *source, const uint64_t *target,
                                size_t edges, uint64_t *packed, size_t *kept, brume_error *error)
{
    size_t n = 0;
    for (size_t i = 0; i < edges; i++) {
        uint64_t u = source[i], v = target[i];
        if (u >= vertices || v >= vertices || u == v)
            continue;
        packed[n++] = u < v ? u << 32 | v : v << 32 | u;
    }
    BRUME_TRY(brume_sort_words(packed, n, vertices << 32, error));
    *kept = without_repeats(packed, n);
    return BRUME_OK;
}

/* Names by falling degree: name[v] is the rank of v. `degree` has one entry per vertex. */
static brume_status rank_vertices(const uint32_t *degree, uint64_t vertices, uint32_t *name,
                                  uint32_t *touched, brume_error *error)
{
    uint64_t *order = malloc((vertices + 1) * sizeof *order);
    if (!order)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for the graph");
    size_t n = 0;
    for (uint64_t v = 0; v < vertices; v++)
        if (degree[v] > 0)
            order[n++] = (uint64_t)(UINT32_MAX - degree[v]) << 32 | v;
    brume_status status = brume_sort_words(order, n, UINT64_MAX, error);
    for (size_t rank = 0; rank < n && status == BRUME_OK; rank++)
        name[(uint32_t)order[rank]] = (uint32_t)rank;
    free(order);
    *touched = (uint32_t)n;
    return status;
}

static brume_status fill_lists(brume_graph *graph, const uint64_t *packed, const uint32_t *name,
                               brume_error *error)
{
    graph->start = calloc((size_t)graph->vertices + 2, sizeof *graph->start);
    graph->neighbour = malloc((2 * graph->edges + 1) * sizeof *graph->neighbour);
    uint64_t *arcs = malloc((2 * graph->edges + 1) * sizeof *arcs);
    if (!graph->start || !graph->neighbour || !arcs) {
        free(arcs);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for the graph");
    }
    for (size_t i = 0; i < graph->edges; i++) {
        uint64_t u = name[packed[i] >> 32], v = name[(uint32_t)packed[i]];
        arcs[2 * i] = u << 32 | v;
        arcs[2 * i + 1] = v << 32 | u;
    }
    brume_status status =
        brume_sort_words(arcs, 2 * graph->edges, graph->all_vertices << 32, error);
    if (status == BRUME_OK) {
        for (size_t i = 0; i < 2 * graph->edges; i++) {
            graph->neighbour[i] = (uint32_t)arcs[i];
            graph->start[(arcs[i] >> 32) + 1]++;
        }
        for (size_t v = 0; v < graph->vertices; v++)
            graph->start[v + 1] += graph->start[v];
    }
    free(arcs);
    return status;
}

static brume_status build(brume_graph *graph, const uint64_t *packed, uint32_t *degree,
                          uint32_t *name, brume_error *error)
{
    for (size_t i = 0; i < graph->edges; i++) {
        degree[packed[i] >> 32]++;
        degree[(uint32_t)packed[i]]++;
    }
    BRUME_TRY(rank_vertices(degree, graph->all_vertices, name, &graph->touched, error));
    uint64_t idle = graph->all_vertices - graph->touched;
    graph->vertices = graph->touched + (idle > 2 ? 2 : (uint32_t)idle);
    return fill_lists(graph, packed, name, error);
}

brume_status brume_graph_open(uint64_t vertices, const uint64_t *source, const uint64_t *target,
                              size_t edges, brume_graph **out, brume_error *error)
{
    if (vertices == 0 || vertices > UINT32_MAX - 1)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'vertices' is %llu, must be in [1, 2^32 - 2]",
                          (unsigned long long)vertices);
    if (edges > UINT64_C(1) << 40)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than 2^40 edges");
    brume_graph *graph = calloc(1, sizeof *graph);
    uint64_t *packed = malloc((edges + 1) * sizeof *packed);
    uint32_t *degree = calloc(vertices, sizeof *degree);
    uint32_t *name = malloc(vertices * sizeof *name);
    brume_status status;
    if (!graph || !packed || !degree || !name) {
        status = brume_fail(error, BRUME_EMEMORY, NULL, "no memory for the graph");
    } else {
        graph->all_vertices = vertices;
        status = clean_edges(vertices, source, target, edges, packed, &graph->edges, error);
        if (status == BRUME_OK)
            status = build(graph, packed, degree, name, error);
    }
    free(packed);
    free(degree);
    free(name);
    if (status != BRUME_OK)
        brume_graph_close(graph);
    else
        *out = graph;
    return status;
}

void brume_graph_close(brume_graph *graph)
{
    if (!graph)
        return;
    free(graph->start);
    free(graph->neighbour);
    free(graph);
}

uint64_t brume_graph_edges(const brume_graph *graph)
{
    return graph->edges;
}
