/* triangles of a graph under edge privacy. */
#include "query/statistic/release.h"

#include <stdlib.h>

#include <brume/mechanism/stability.h>
#include <brume/statistic/tested.h>
#include <brume/statistic/triangle.h>

#include "query/price/error_bar.h"

/* A vertex label: 0 .. N-1, and N for 0, so that files that count from 1 read as well. Anything
 * else drops its edge. */
static uint64_t vertex(const brume_csv *csv, size_t column, uint64_t vertices)
{
    double number;
    if (!brume_csv_number(csv, column, &number) || !(number >= 0 && number <= (double)vertices) ||
        number != floor(number))
        return UINT64_MAX;
    return (uint64_t)number == vertices ? 0 : (uint64_t)number;
}

/* The column of one end of the edges. */
static brume_status find_end(const brume_release *release, const char *name, size_t *column,
                             brume_error *error)
{
    *column = brume_csv_column(release->csv, name);
    if (*column != SIZE_MAX)
        return BRUME_OK;
    return brume_fail(error, BRUME_EUNKNOWN, "one edge a row, its two vertices as numbers",
                      "triangles reads the columns 'source' and 'target', and there is no '%s'",
                      name);
}

static brume_status read_graph(const brume_release *release, brume_graph **out, brume_error *error)
{
    uint64_t vertices = release->words->vertices;
    if (vertices == 0)
        return brume_fail(error, BRUME_EARGUMENT, "it is public; for example --vertices 1000",
                          "triangles needs '--vertices'");
    size_t from, to, edges = 0, room = 0;
    BRUME_TRY(find_end(release, "source", &from, error));
    BRUME_TRY(find_end(release, "target", &to, error));
    uint64_t *source = NULL, *target = NULL;
    brume_status status;
    for (;;) {
        bool more;
        status = brume_csv_next(release->csv, &more, error);
        if (status != BRUME_OK || !more)
            break;
        if (edges == room) {
            room = room ? 2 * room : 4096;
            uint64_t *more_source = realloc(source, room * sizeof *source);
            source = more_source ? more_source : source;
            uint64_t *more_target = realloc(target, room * sizeof *target);
            target = more_target ? more_target : target;
            if (!more_source || !more_target) {
                status = brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu edges", room);
                break;
            }
        }
        source[edges] = vertex(release->csv, from, vertices);
        target[edges++] = vertex(release->csv, to, vertices);
    }
    if (status == BRUME_OK)
        status = brume_graph_open(vertices, source, target, edges, out, error);
    free(source);
    free(target);
    return status;
}

static brume_status smooth_of_graph(const void *statistic, double t, double *out,
                                    brume_error *error)
{
    return brume_triangle_smooth(statistic, t, out, error);
}

static brume_status by_sensitivity(brume_release *release, const brume_graph *graph, int64_t count,
                                   int64_t *out, brume_error *error)
{
    double part = brume_release_part(release, 2);
    brume_sensitivity_plan plan = {.epsilon_sensitivity = part,
                                   .epsilon_release = part,
                                   .delta = release->delta,
                                   .most = brume_triangle_global(graph)};
    uint64_t local, bound;
    BRUME_TRY(brume_triangle_local(graph, 0, &local, error));
    BRUME_TRY(brume_release_by_sensitivity(&plan, release->bits, local, count, &bound, out, error));
    release->cost_delta = release->delta;
    brume_release_tell(release, "sensitivity_bound", json_integer((json_int_t)bound));
    /* The bound is released too, so the error bar may use it. */
    release->error_95 = bound == 0 ? 0
                                   : brume_error_width(BRUME_NOISE_DISCRETE_LAPLACE,
                                                       (double)bound / part * (1 + 0x1p-40), .05);
    return BRUME_OK;
}

static brume_status release_graph(brume_release *release, const brume_graph *graph, int64_t *out,
                                  brume_error *error)
{
    double global = (double)brume_triangle_global(graph);
    uint64_t count;
    if (brume_release_is(release, "ptr")) {
        brume_tested tested = brume_tested_triangles(graph);
        return brume_release_tested(release, &tested, global, 1, out, error);
    }
    BRUME_TRY(brume_triangle_count(graph, &count, error));
    int64_t value = (int64_t)(count < INT64_MAX / 2 ? count : INT64_MAX / 2);
    if (brume_release_is(release, "local-sensitivity"))
        return by_sensitivity(release, graph, value, out, error);
    if (brume_release_is(release, "smooth"))
        return brume_release_smooth(release, value, global, smooth_of_graph, graph, out, error);
    return brume_release_noisy(release, value, global, release->epsilon, out, &release->error_95,
                               error);
}

brume_status brume_release_triangles(brume_release *release, brume_error *error)
{
    BRUME_TRY(brume_release_method(release, NULL, error));
    if (brume_release_is(release, "local-sensitivity"))
        BRUME_TRY(brume_release_need_delta(release, error));
    brume_graph *graph = NULL;
    BRUME_TRY(read_graph(release, &graph, error));
    int64_t out = 0;
    brume_status status = release_graph(release, graph, &out, error);
    brume_graph_close(graph);
    if (status == BRUME_OK && release->released)
        release->value = json_integer(out > 0 ? out : 0);
    return status;
}

/* Without privacy, for `brume statistic`. */
brume_status brume_look_triangles(const brume_release *input, brume_look *look, brume_error *error)
{
    brume_graph *graph = NULL;
    uint64_t count = 0;
    BRUME_TRY(read_graph(input, &graph, error));
    brume_status status = brume_triangle_count(graph, &count, error);
    if (status == BRUME_OK)
        status = brume_triangle_instability(graph, look->smoothness, brume_look_bound(look),
                                            &look->found, error);
    if (status == BRUME_OK)
        look->value = json_integer((json_int_t)count);
    brume_graph_close(graph);
    return status;
}
