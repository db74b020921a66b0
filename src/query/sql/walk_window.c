/* Window functions: of the rows that are shown, which were released before. Post-processing. */
#include <string.h>

#include "query/sql/walk_outer.h"

/* What frame_options of the grammar says (PostgreSQL's nodes/parsenodes.h): of the frames those
 * that begin with the first row and end with this one. */
enum {
    FRAME_TYPED = 0x1,
    FRAME_RANGE = 0x2,
    FRAME_ROWS = 0x4,
    FRAME_BETWEEN = 0x10,
    FRAME_FROM_FIRST = 0x20,
    FRAME_TO_CURRENT = 0x400,
};

static bool read_function(const PgQuery__FuncCall *call, brume_window_function *function,
                          bool *has_argument)
{
    static const struct {
        const char *name;
        brume_window_function function;
        bool has_argument;
    } known[] = {
        {"row_number", BRUME_WINDOW_ROW_NUMBER, false},
        {"rank", BRUME_WINDOW_RANK, false},
        {"dense_rank", BRUME_WINDOW_DENSE_RANK, false},
        {"sum", BRUME_WINDOW_SUM, true},
        {"avg", BRUME_WINDOW_AVG, true},
        {"min", BRUME_WINDOW_MIN, true},
        {"max", BRUME_WINDOW_MAX, true},
        {"count", BRUME_WINDOW_COUNT, true},
    };
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (call->agg_distinct || call->n_agg_order || call->agg_within_group || call->agg_filter ||
        call->func_variadic)
        return false;
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            *function = known[i].function;
            *has_argument = known[i].has_argument && !call->agg_star;
            if (call->agg_star)
                *function = BRUME_WINDOW_COUNT_ROWS;
            return call->n_args == *has_argument &&
                   (!call->agg_star || known[i].function == BRUME_WINDOW_COUNT);
        }
    return false;
}

static bool read_order(brume_walk_outer *o, const PgQuery__Node *node, bool *descending,
                       bool *nulls_first, const PgQuery__Node **value)
{
    if (node->node_case != PG_QUERY__NODE__NODE_SORT_BY ||
        node->sort_by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING) {
        brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "write ORDER BY x DESC",
                              "ORDER BY USING is not supported");
        return false;
    }
    const PgQuery__SortBy *sort = node->sort_by;
    *descending = sort->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
    *nulls_first =
        sort->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
        (sort->sortby_nulls != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST && *descending);
    *value = sort->node;
    return true;
}

static bool is_known_frame(const PgQuery__WindowDef *over)
{
    int options = over->frame_options & ~(FRAME_TYPED | FRAME_BETWEEN);
    int ends = FRAME_FROM_FIRST | FRAME_TO_CURRENT;
    return (options == (FRAME_RANGE | ends) || options == (FRAME_ROWS | ends)) &&
           !over->start_offset && !over->end_offset;
}

/* The arguments of the formula, in the order of formula.h. */
static const brume_formula_node *walk_parts(brume_walk_outer *o, const PgQuery__FuncCall *call,
                                            brume_window *window, bool has_argument)
{
    const PgQuery__WindowDef *over = call->over;
    size_t count = 0, most = 1 + over->n_partition_clause + over->n_order_clause;
    brume_arena *arena = o->walk->builder.arena;
    brume_formula_node *parts = brume_arena_allocate(arena, most * sizeof *parts);
    bool *descending = brume_arena_allocate(arena, most * sizeof *descending);
    bool *nulls_first = brume_arena_allocate(arena, most * sizeof *nulls_first);
    if (!parts || !descending || !nulls_first) {
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    o->in_window = true;
    if (has_argument)
        parts[count++] = brume_walk_formula(o, call->args[0]);
    for (size_t i = 0; i < over->n_partition_clause; i++)
        parts[count++] = brume_walk_formula(o, over->partition_clause[i]);
    for (size_t i = 0; i < over->n_order_clause; i++) {
        const PgQuery__Node *value = NULL;
        if (!read_order(o, over->order_clause[i], &descending[i], &nulls_first[i], &value))
            return NULL;
        parts[count++] = brume_walk_formula(o, value);
    }
    o->in_window = false;
    window->partition_count = over->n_partition_clause;
    window->order_count = over->n_order_clause;
    window->descending = descending;
    window->nulls_first = nulls_first;
    return parts;
}

brume_formula_node brume_walk_window(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    const PgQuery__WindowDef *over = call->over;
    bool has_argument = false;
    brume_window *window = brume_arena_allocate(o->walk->builder.arena, sizeof *window);
    if (!window)
        return brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
    if (o->in_window)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "use it in the SELECT list",
                                     "a window function cannot stand in HAVING or in another one");
    if (!read_function(call, &window->function, &has_argument))
        return brume_walk_outer_fail(
            o, BRUME_EUNSUPPORTED,
            "use row_number, rank, dense_rank, sum, avg, min, max or count, of released values",
            "this window function is not supported");
    if ((over->refname && *over->refname) || (over->name && *over->name) || !is_known_frame(over))
        return brume_walk_outer_fail(
            o, BRUME_EUNSUPPORTED,
            "write OVER (PARTITION BY a ORDER BY b), or with ROWS UNBOUNDED PRECEDING",
            "this window is not supported");
    if (o->window_count == BRUME_WALK_WINDOWS)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "ask in several queries",
                                     "the query has too many window functions");
    window->by_row = (over->frame_options & FRAME_ROWS) != 0;
    const brume_formula_node *parts = walk_parts(o, call, window, has_argument);
    if (!parts)
        return NULL;
    size_t count = (size_t)has_argument + window->partition_count + window->order_count;
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_WINDOW, parts, count);
    if (!node)
        return NULL;
    node->window = window;
    o->windows[o->window_count++] = node; /* its index is known when all aggregates are */
    return node;
}
