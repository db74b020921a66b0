/* The graph as the triangle counts see it: vertices renamed by falling degree. */
#ifndef BRUME_STATISTIC_GRAPH_H
#define BRUME_STATISTIC_GRAPH_H

#include <brume/statistic/triangle.h>

struct brume_graph {
    uint32_t vertices;     /* those that have an edge come first: rank 0 has the largest degree */
    uint32_t touched;      /* number of vertices with an edge */
    uint64_t all_vertices; /* the public number */
    size_t edges;
    size_t *start;       /* neighbours of v: neighbour[start[v] .. start[v+1]), ascending */
    uint32_t *neighbour; /* 2 * edges */
};

static inline uint32_t graph_degree(const brume_graph *graph, uint32_t v)
{
    return (uint32_t)(graph->start[v + 1] - graph->start[v]);
}

#endif
