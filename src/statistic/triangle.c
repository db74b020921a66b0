/* Triangles: the count, and the pairs of vertices that bound its sensitivity.
 *
 * Vertices are named by falling degree. Triangles are found at their vertex of largest name, by
 * marking its neighbours of smaller name. Pairs (v, u), v < u, are visited row by row of u:
 * two-paths u - w - v are counted in one buffer. A row is worth a visit only while a pair of u's
 * degree could beat the best seen, since a <= degree(u) and degree(v) <= degree(0). Pairs without a
 * common neighbour matter through their degrees alone: the first such v of a row that is not
 * adjacent, and the first that is, stand for all of them. */
#include "statistic/graph.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "statistic/smooth.h"

brume_status brume_triangle_count(const brume_graph *graph, uint64_t *out, brume_error *error)
{
    /* mark[w] == u + 1 where w is a neighbour of u of smaller name. */
    uint32_t *mark = calloc((size_t)graph->vertices + 1, sizeof *mark);
    /* Where the neighbours of smaller name end. */
    size_t *middle = malloc(((size_t)graph->vertices + 1) * sizeof *middle);
    if (!mark || !middle) {
        free(mark);
        free(middle);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory to count triangles");
    }
    uint64_t count = 0;
    for (uint32_t u = 0; u < graph->touched; u++) {
        size_t i = graph->start[u];
        for (; i < graph->start[u + 1] && graph->neighbour[i] < u; i++)
            mark[graph->neighbour[i]] = u + 1;
        middle[u] = i;
        for (size_t first = graph->start[u]; first < i; first++) {
            uint32_t w = graph->neighbour[first];
            for (size_t second = graph->start[w]; second < middle[w]; second++)
                count += mark[graph->neighbour[second]] == u + 1;
        }
    }
    free(mark);
    free(middle);
    *out = count;
    return BRUME_OK;
}

uint64_t brume_triangle_global(const brume_graph *graph)
{
    return graph->all_vertices > 2 ? graph->all_vertices - 2 : 0;
}

/* What a pair with `common` and `single` is worth; at least as much with more of both. Where it is
 * no more than `best`, any number that is no more than `best` may be given instead. */
typedef struct pair_goal pair_goal;
struct pair_goal {
    double (*worth)(const pair_goal *goal, uint64_t common, uint64_t single, double best);
    uint64_t most; /* vertices - 2 */
    uint64_t s, bound;
    double t;
};

/* The largest worth over all pairs, or `floor_worth` if that is more. */
static brume_status best_pair(const brume_graph *graph, const pair_goal *goal, double floor_worth,
                              double *out, brume_error *error)
{
    uint32_t *common = calloc((size_t)graph->vertices + 1, sizeof *common);
    uint32_t *reached = malloc(((size_t)graph->vertices + 1) * sizeof *reached);
    uint32_t *adjacent = calloc((size_t)graph->vertices + 1, sizeof *adjacent);
    if (!common || !reached || !adjacent) {
        free(common);
        free(reached);
        free(adjacent);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory to visit pairs of vertices");
    }
    double best = floor_worth;
    uint32_t largest = graph->vertices ? graph_degree(graph, 0) : 0;
    for (uint32_t u = 1; u < graph->vertices; u++) {
        uint32_t degree = graph_degree(graph, u);
        /* a <= degree(u) and 2a + b <= degree(u) + degree(v): no pair of this row or a later one,
         * where degrees are less, is worth more than this. */
        if (goal->worth(goal, degree, (uint64_t)largest - degree, best) <= best)
            break;
        uint32_t reached_count = 0;
        for (size_t i = graph->start[u]; i < graph->start[u + 1]; i++) {
            uint32_t w = graph->neighbour[i];
            adjacent[w] = u;
            for (size_t j = graph->start[w]; graph->neighbour[j] < u; j++) {
                uint32_t v = graph->neighbour[j];
                if (common[v]++ == 0)
                    reached[reached_count++] = v;
            }
        }
        for (uint32_t i = 0; i < reached_count; i++) {
            uint32_t v = reached[i];
            uint64_t single = (uint64_t)degree + graph_degree(graph, v) - 2 * (uint64_t)common[v] -
                              (adjacent[v] == u ? 2 : 0);
            double worth = goal->worth(goal, common[v], single, best);
            best = worth > best ? worth : best;
        }
        bool adjacent_seen = false;
        for (uint32_t v = 0; v < u; v++) {
            bool joined = adjacent[v] == u;
            if (common[v] > 0 || (joined && adjacent_seen))
                continue;
            uint64_t single = (uint64_t)degree + graph_degree(graph, v) - (joined ? 2 : 0);
            double worth = goal->worth(goal, 0, single, best);
            best = worth > best ? worth : best;
            if (!joined)
                break;
            adjacent_seen = true;
        }
        for (uint32_t i = 0; i < reached_count; i++)
            common[reached[i]] = 0;
    }
    free(common);
    free(reached);
    free(adjacent);
    *out = best;
    return BRUME_OK;
}

static uint64_t local_of_pair(const pair_goal *goal, uint64_t common, uint64_t single, uint64_t s)
{
    uint64_t local = common + (s + (s < single ? s : single)) / 2;
    return local < goal->most ? local : goal->most;
}

/* Integers below 2^34: exact as doubles. */
static double worth_local(const pair_goal *goal, uint64_t common, uint64_t single, double seen)
{
    (void)seen;
    return (double)local_of_pair(goal, common, single, goal->s);
}

/* Minus the least s at which the pair's sensitivity exceeds the bound. */
static double worth_near(const pair_goal *goal, uint64_t common, uint64_t single, double seen)
{
    (void)seen;
    if (common > goal->bound)
        return 0;
    uint64_t missing = goal->bound + 1 - common;
    uint64_t s = missing <= single ? missing : 2 * missing - single;
    return -(double)s;
}

/* max over s of exp(-t s) min(a + floor((s + min(s, b)) / 2), vertices - 2). Up to s = b the pair
 * gains 1 a step, and a + s rises against exp(-t s) while a + s < 1/(exp(t) - 1); beyond b it gains
 * 1 every two steps. The maximum is at s = 0, at the turning points of the two regimes or at the
 * ends; each is tried with a neighbour on either side, for the floors. */
static double worth_smooth(const pair_goal *goal, uint64_t common, uint64_t single, double seen)
{
    double best = (double)common; /* common <= vertices - 2 */
    double turn = 1 / goal->t;
    /* Past the turn s = 0 is best; before it the pair is worth at most exp(t a - 1)/t < 1/t. */
    if (best >= turn || seen >= turn * (1 + 0x1p-40))
        return best;
    double ends[4] = {
        turn - (double)common,                              /* first regime turns */
        (double)single,                                     /* first regime ends */
        turn - 2 * (double)common - (double)single,         /* second regime turns */
        2 * (double)(goal->most - common) - (double)single, /* second regime ends: the cap */
    };
    for (int i = 0; i < 4; i++) {
        double middle = ends[i] < 0 ? 0 : ends[i] > 0x1p36 ? 0x1p36 : floor(ends[i]);
        for (int offset = -3; offset <= 3; offset++) {
            double s = middle + offset;
            if (s < 0)
                continue;
            double value = (double)local_of_pair(goal, common, single, (uint64_t)s) *
                           exp(-goal->t * s);
            best = value > best ? value : best;
        }
    }
    return best;
}

brume_status brume_triangle_local(const brume_graph *graph, uint64_t s, uint64_t *out,
                                  brume_error *error)
{
    uint64_t most = brume_triangle_global(graph);
    pair_goal goal = {.worth = worth_local, .most = most, .s = s < 2 * most ? s : 2 * most};
    double best;
    BRUME_TRY(best_pair(graph, &goal, 0, &best, error));
    *out = (uint64_t)best;
    return BRUME_OK;
}

brume_status brume_triangle_distance(const brume_graph *graph, uint64_t bound, uint64_t *out,
                                     brume_error *error)
{
    uint64_t most = brume_triangle_global(graph);
    if (bound >= most) {
        *out = UINT64_MAX;
        return BRUME_OK;
    }
    pair_goal goal = {.worth = worth_near, .most = most, .bound = bound};
    double best;
    BRUME_TRY(best_pair(graph, &goal, -0x1p40, &best, error));
    *out = (uint64_t)-best;
    return BRUME_OK;
}

brume_status brume_triangle_smooth(const brume_graph *graph, double t, double *out,
                                   brume_error *error)
{
    double smaller;
    BRUME_TRY(brume_smooth_parameter(t, &smaller, error));
    uint64_t most = brume_triangle_global(graph);
    if (most == 0) {
        *out = 0;
        return BRUME_OK;
    }
    pair_goal goal = {.worth = worth_smooth, .most = most, .t = smaller};
    double best;
    BRUME_TRY(best_pair(graph, &goal, 0, &best, error));
    *out = brume_smooth_enlarge_upper(best);
    return BRUME_OK;
}
