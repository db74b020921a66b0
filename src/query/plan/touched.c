/* Which windows a query touches. */
#include "query/plan/touched.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "query/expression/build.h"
#include "query/expression/literal.h"
#include "query/plan/key_value.h"
#include "query/plan/window_truth.h"

/* Ranges that a scan is cut to: more are joined with what lies between them, so that the condition
 * stays short. What is joined is charged. */
enum { MOST_RANGES = 200, MOST_SCANS = 200 };

typedef struct scan {
    brume_truth_column column;
    const brume_plan_table *table;
    const brume_truth_list *conditions;
    brume_window_set set;
} scan;

typedef struct finder {
    brume_query *query;
    const brume_plan_table *tables;
    scan scans[MOST_SCANS];
    size_t count;
    brume_error *error;
} finder;

/* ---- where tables stand ---- */

static const brume_truth_list *and_also(finder *f, const brume_expression *condition,
                                        const brume_truth_list *rest)
{
    if (!condition)
        return rest;
    brume_truth_list *made = brume_arena_allocate(f->query->arena, sizeof *made);
    if (made)
        *made = (brume_truth_list){condition, rest};
    return made ? made : rest; /* one condition less is more windows */
}

static brume_status add_scan(finder *f, const brume_relation *relation,
                             const brume_truth_list *conditions)
{
    const brume_plan_table *table = &f->tables[relation->table];
    const brume_policy_window *window = &table->policy->window;
    if (window->place != BRUME_WINDOW_BY_COLUMN)
        return BRUME_OK;
    size_t column = 0;
    while (column < table->policy->column_count &&
           strcmp(table->policy->columns[column].name, window->column) != 0)
        column++;
    if (column >= relation->column_count)
        return brume_fail(f->error, BRUME_EDAMAGED, NULL, "a table has not its window column '%s'",
                          window->column);
    if (f->count == MOST_SCANS)
        return brume_fail(f->error, BRUME_EUNSUPPORTED, "split the query", "too many subqueries");
    f->scans[f->count++] = (scan){{relation, column, &window->grid}, table, conditions, {0}};
    return BRUME_OK;
}

static brume_status visit(finder *f, const brume_relation *relation,
                          const brume_truth_list *conditions);

/* A side that may be missing gets the conditions above the join only if they refuse rows in which
 * it is: else a row of it that goes turns its partner into one without. */
static const brume_truth_list *of_nullable(const brume_relation *side,
                                           const brume_truth_list *conditions)
{
    return brume_truth_without(side, conditions) ? NULL : conditions;
}

static brume_status visit_join(finder *f, const brume_relation *join,
                               const brume_truth_list *conditions)
{
    const brume_truth_list *left = conditions, *right = conditions;
    switch (join->join) {
    case BRUME_JOIN_INNER:
        left = right = and_also(f, join->condition, conditions);
        break;
    case BRUME_JOIN_LEFT: /* a row of the left that meets no one stays: ON is not for it */
        right = and_also(f, join->condition, of_nullable(join->right, conditions));
        break;
    case BRUME_JOIN_RIGHT:
        left = and_also(f, join->condition, of_nullable(join->left, conditions));
        break;
    case BRUME_JOIN_FULL:
        left = of_nullable(join->left, conditions);
        right = of_nullable(join->right, conditions);
        break;
    case BRUME_JOIN_SEMI:
        left = and_also(f, join->condition, conditions);
        right = and_also(f, join->condition, and_also(f, join->right_condition, NULL));
        break;
    case BRUME_JOIN_ANTI:
    case BRUME_JOIN_MARK: /* rows of the left without a match count as well */
        right = and_also(f, join->condition, and_also(f, join->right_condition, NULL));
        break;
    }
    BRUME_TRY(visit(f, join->left, left));
    return visit(f, join->right, right);
}

static brume_status visit(finder *f, const brume_relation *relation,
                          const brume_truth_list *conditions)
{
    switch (relation->kind) {
    case BRUME_RELATION_TABLE:
        return add_scan(f, relation, conditions);
    case BRUME_RELATION_SELECT:
        return visit(f, relation->left, and_also(f, relation->condition, conditions));
    case BRUME_RELATION_GROUP: /* of the conditions above it those on its keys say something */
        return visit(f, relation->left, conditions);
    case BRUME_RELATION_TIMELINE: /* a row that is dropped above it may have numbered another */
        return visit(f, relation->left, and_also(f, relation->condition, NULL));
    case BRUME_RELATION_UNION:
        BRUME_TRY(visit(f, relation->left, conditions));
        return visit(f, relation->right, conditions);
    case BRUME_RELATION_JOIN:
        return visit_join(f, relation, conditions);
    case BRUME_RELATION_NUMBERS:
        break;
    }
    return BRUME_OK;
}

/* ---- windows that are compared as equal ---- */

static scan *scan_of(finder *f, const brume_expression *node)
{
    node = brume_truth_plain(node);
    for (size_t i = 0; node && i < f->count; i++)
        if (f->scans[i].column.table == node->relation && f->scans[i].column.column == node->column)
            return &f->scans[i];
    return NULL;
}

static bool same_windows(const scan *a, const scan *b)
{
    return strcmp(a->table->dataset->name, b->table->dataset->name) == 0;
}

/* A row is of use only with rows of `to` that have its date: none of those outside of its set is.
 */
static brume_status meet(finder *f, scan *from, const brume_expression *condition)
{
    if (condition->operation == BRUME_OPERATION_AND) {
        BRUME_TRY(meet(f, from, condition->arguments[0]));
        return meet(f, from, condition->arguments[1]);
    }
    if (condition->operation != BRUME_OPERATION_EQUAL)
        return BRUME_OK;
    scan *sides[] = {scan_of(f, condition->arguments[0]), scan_of(f, condition->arguments[1])};
    for (int i = 0; i < 2; i++)
        if (sides[i] == from && sides[1 - i] && sides[1 - i] != from &&
            same_windows(from, sides[1 - i])) {
            BRUME_TRY(
                brume_window_set_intersect(&from->set, &sides[1 - i]->set, &from->set, f->error));
            from->set.undated = false;
        }
    return BRUME_OK;
}

static brume_status meet_all(finder *f)
{
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < f->count; i++)
            for (const brume_truth_list *each = f->scans[i].conditions; each; each = each->next)
                BRUME_TRY(meet(f, &f->scans[i], each->condition));
    return BRUME_OK;
}

/* ---- from sets to what is charged ---- */

/* A range without an upper end stops now. */
static brume_status stop_now(const brume_window_grid *grid, int64_t now, brume_window_set *set,
                             bool *ends_now, brume_error *error)
{
    if (grid->length == BRUME_WINDOW_VALUES || set->count == 0 ||
        set->ranges[set->count - 1].last < brume_window_greatest(grid))
        return BRUME_OK;
    brume_window_set past = {.undated = true};
    BRUME_TRY(brume_window_set_add(&past, brume_window_least(grid),
                                   brume_window_of_instant(grid, now), error));
    brume_status status = brume_window_set_intersect(set, &past, set, error);
    brume_window_set_free(&past);
    *ends_now = true;
    return status;
}

/* Join the ranges that are nearest to each other until there are few. */
static void close_gaps(brume_window_set *set)
{
    for (int64_t gap = 1; set->count > MOST_RANGES; gap *= 2) {
        size_t count = 1;
        for (size_t i = 1; i < set->count; i++)
            if (set->ranges[i].first - set->ranges[count - 1].last <= gap + 1)
                set->ranges[count - 1].last = set->ranges[i].last;
            else
                set->ranges[count++] = set->ranges[i];
        set->count = count;
    }
}

static brume_status parse_wish(const brume_window_grid *grid, const char *windows,
                               brume_window_set *out, brume_error *error)
{
    char first[BRUME_WINDOW_LABEL];
    int64_t low = 0, high = 0;
    if (strcmp(windows, "undated") == 0) {
        out->undated = true;
        return BRUME_OK;
    }
    const char *dots = strstr(windows, "..");
    size_t length = dots ? (size_t)(dots - windows) : strlen(windows);
    if (length >= sizeof first)
        return brume_fail(error, BRUME_EARGUMENT, "write FIRST..LAST, or undated",
                          "'--windows' is too long");
    memcpy(first, windows, length);
    first[length] = 0;
    BRUME_TRY(brume_window_parse(grid, first, &low, error));
    BRUME_TRY(brume_window_parse(grid, dots ? dots + 2 : first, &high, error));
    if (high < low)
        return brume_fail(error, BRUME_EARGUMENT, "write the earlier window first",
                          "'--windows %.60s' ends before it begins", windows);
    return brume_window_set_add(out, low, high, error);
}

/* The set of one scan: from its conditions, the analyst's word and the clock. */
static brume_status find_set(finder *f, scan *s, const brume_window_wish *wish,
                             brume_touched_dataset *dataset)
{
    const brume_window_grid *grid = s->column.grid;
    if (s->set.count == 1 && s->set.ranges[0].first == brume_window_least(grid) &&
        s->set.ranges[0].last == brume_window_greatest(grid))
        dataset->unbounded = true;
    if (wish->windows) {
        brume_window_set typed = {0};
        brume_status status = parse_wish(grid, wish->windows, &typed, f->error);
        if (status == BRUME_OK)
            status = brume_window_set_intersect(&s->set, &typed, &s->set, f->error);
        brume_window_set_free(&typed);
        BRUME_TRY(status);
    }
    if (s->table->dataset->no_budget) /* rows without a date are in no window that protects them */
        s->set.undated = false;
    BRUME_TRY(stop_now(grid, wish->now, &s->set, &dataset->ends_now, f->error));
    close_gaps(&s->set);
    return brume_window_set_union(&dataset->set, &s->set, &dataset->set, f->error);
}

static brume_touched_dataset *dataset_of(brume_touched *touched, const scan *s)
{
    for (size_t i = 0; i < touched->count; i++)
        if (strcmp(touched->datasets[i].dataset->name, s->table->dataset->name) == 0)
            return &touched->datasets[i];
    brume_touched_dataset *made = &touched->datasets[touched->count++];
    made->dataset = s->table->dataset;
    made->policy = s->table->policy;
    return made;
}

/* ---- driven ---- */

/* Has a unit without a windowed row of the dataset no row here? A table that follows a link is
 * driven by the one that it follows. */
static bool is_driven(const brume_relation *relation, const brume_plan_table *tables,
                      const char *dataset)
{
    bool left, right;
    switch (relation->kind) {
    case BRUME_RELATION_TABLE:
        return tables[relation->table].policy->window.place == BRUME_WINDOW_BY_COLUMN &&
               strcmp(tables[relation->table].dataset->name, dataset) == 0;
    case BRUME_RELATION_NUMBERS:
        return false;
    case BRUME_RELATION_UNION:
        return is_driven(relation->left, tables, dataset) &&
               is_driven(relation->right, tables, dataset);
    case BRUME_RELATION_JOIN:
        break;
    default:
        return is_driven(relation->left, tables, dataset);
    }
    left = is_driven(relation->left, tables, dataset);
    right = is_driven(relation->right, tables, dataset);
    switch (relation->join) {
    case BRUME_JOIN_INNER:
    case BRUME_JOIN_SEMI:
        return left || right;
    case BRUME_JOIN_RIGHT:
        return right;
    case BRUME_JOIN_FULL:
        return left && right;
    default: /* LEFT, ANTI, MARK: rows of the left stay */
        return left;
    }
}

bool brume_touched_is_one(const brume_touched *touched)
{
    for (size_t i = 0; i < touched->count; i++)
        if (brume_window_set_size(&touched->datasets[i].set) != 1 || !touched->datasets[i].driven)
            return false;
    return true;
}

/* ---- the cut ---- */

static brume_node constant(brume_builder *builder, brume_type type, int64_t day, int64_t instant)
{
    char text[64];
    brume_integer_text(type, type.kind == BRUME_TYPE_DATE ? day : instant, text, sizeof text);
    return brume_build_literal(builder, type, text);
}

/* d is from the first to the last of a range of windows of time. */
static brume_node in_range(brume_builder *builder, brume_node d, const brume_window_grid *grid,
                           brume_window_range range)
{
    brume_bounds whole = brume_type_bounds(d->type);
    bool date = d->type.kind == BRUME_TYPE_DATE;
    int64_t day = date ? brume_window_first_day(grid, range.first) : 0,
            end = date ? brume_window_first_day(grid, range.last + 1) - 1 : 0;
    int64_t from = brume_window_first_instant(grid, range.first),
            to = brume_window_first_instant(grid, range.last + 1) - 1;
    brume_wide low = date ? day : from, high = date ? end : to;
    if (date && day == end)
        return brume_build_compare(builder, BRUME_OPERATION_EQUAL, d,
                                   constant(builder, d->type, day, 0));
    if (low <= whole.low && high >= whole.high)
        return brume_build_test(builder, BRUME_OPERATION_IS_NOT_NULL, d);
    brume_node lower = low <= whole.low
                           ? NULL
                           : brume_build_compare(builder, BRUME_OPERATION_GREATER_EQUAL, d,
                                                 constant(builder, d->type, day, from));
    brume_node upper = high >= whole.high
                           ? NULL
                           : brume_build_compare(builder, BRUME_OPERATION_LESS_EQUAL, d,
                                                 constant(builder, d->type, end, to));
    if (!lower || !upper)
        return lower ? lower : upper;
    return brume_build_logic(builder, BRUME_OPERATION_AND, (brume_node[]){lower, upper}, 2);
}

/* d is one of the declared values of the set, or none of the declared ones. */
static brume_node in_values(brume_builder *builder, brume_node d, const brume_window_grid *grid,
                            const brume_window_set *set)
{
    brume_node *list = brume_arena_allocate(builder->arena, (grid->value_count + 1) * sizeof *list);
    bool others = brume_window_set_contains(set, (int64_t)grid->value_count);
    size_t count = 0;
    if (!list)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < grid->value_count; i++)
        if (brume_window_set_contains(set, (int64_t)i) != others &&
            !(list[count++] = brume_build_literal(builder, d->type, grid->values[i])))
            return NULL;
    if (count == 0 && others)
        return brume_build_test(builder, BRUME_OPERATION_IS_NOT_NULL, d);
    if (count == 0)
        return NULL;
    return brume_build_in(builder, others, d, list, count);
}

/* Pairs of pairs, so that many ranges are no deep tree. */
static brume_node any_of(brume_builder *builder, brume_node *list, size_t count)
{
    if (count == 1)
        return list[0];
    brume_node halves[] = {any_of(builder, list, count / 2),
                           any_of(builder, list + count / 2, count - count / 2)};
    return halves[0] && halves[1] ? brume_build_logic(builder, BRUME_OPERATION_OR, halves, 2)
                                  : NULL;
}

/* "My window is in the set", as a condition on the window column. */
static brume_status cut_scan(finder *f, const scan *s, brume_query_cut *cut)
{
    brume_builder builder = {.arena = f->query->arena, .error = f->error};
    brume_node d = s->column.table->columns[s->column.column].reference;
    brume_node *list = brume_arena_allocate(f->query->arena, (s->set.count + 2) * sizeof *list);
    size_t count = 0;
    if (!list)
        return brume_no_memory(f->error, "windows");
    if (s->set.undated)
        list[count++] = brume_build_test(&builder, BRUME_OPERATION_IS_NULL, d);
    if (s->column.grid->length == BRUME_WINDOW_VALUES) {
        if (s->set.count)
            list[count++] = in_values(&builder, d, s->column.grid, &s->set);
    } else {
        for (size_t i = 0; i < s->set.count; i++)
            list[count++] = in_range(&builder, d, s->column.grid, s->set.ranges[i]);
    }
    if (count == 0)
        list[count++] =
            brume_build_literal(&builder, (brume_type){.kind = BRUME_TYPE_BOOLEAN}, "false");
    *cut = (brume_query_cut){s->column.table, any_of(&builder, list, count)};
    if (!cut->condition)
        return builder.status != BRUME_OK ? builder.status : brume_no_memory(f->error, "windows");
    return BRUME_OK;
}

static brume_status cut_query(finder *f)
{
    brume_query_cut *cuts = brume_arena_allocate(f->query->arena, (f->count + 1) * sizeof *cuts);
    if (!cuts)
        return brume_no_memory(f->error, "windows");
    for (size_t i = 0; i < f->count; i++)
        BRUME_TRY(cut_scan(f, &f->scans[i], &cuts[i]));
    f->query->cuts = cuts;
    f->query->cut_count = f->count;
    return BRUME_OK;
}

/* ---- all of it ---- */

int64_t brume_touched_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static brume_status check_empty(const brume_touched *touched, const brume_window_wish *wish,
                                brume_error *error)
{
    for (size_t i = 0; i < touched->count; i++) {
        const brume_touched_dataset *one = &touched->datasets[i];
        if (!brume_window_set_is_empty(&one->set))
            continue;
        return brume_fail(
            error, BRUME_EARGUMENT,
            one->ends_now ? "a range without an end stops at the present window; name the last one"
                          : "the answer could only be empty, so it is not asked",
            "no window of '%s' has what is asked: the conditions on '%s'%s leave none",
            one->dataset->name, one->policy->window.column,
            wish->windows ? " and 'windows' together" : "");
    }
    return BRUME_OK;
}

static brume_status find(finder *f, const brume_window_wish *wish, brume_touched *touched)
{
    BRUME_TRY(visit(f, f->query->from, and_also(f, f->query->where, NULL)));
    if (wish->windows && f->count == 0)
        return brume_fail(f->error, BRUME_EARGUMENT, "leave it out",
                          "'--windows' is for tables with windows, and the query reads none");
    touched->datasets = calloc(f->count + 1, sizeof *touched->datasets);
    if (!touched->datasets)
        return brume_no_memory(f->error, "windows");
    for (size_t i = 0; i < f->count; i++)
        BRUME_TRY(brume_truth_windows(&f->scans[i].column, f->scans[i].conditions, &f->scans[i].set,
                                      f->error));
    BRUME_TRY(meet_all(f));
    for (size_t i = 0; i < f->count; i++)
        BRUME_TRY(find_set(f, &f->scans[i], wish, dataset_of(touched, &f->scans[i])));
    for (size_t i = 0; i < touched->count; i++)
        touched->datasets[i].driven =
            is_driven(f->query->from, f->tables, touched->datasets[i].dataset->name);
    BRUME_TRY(check_empty(touched, wish, f->error));
    return cut_query(f);
}

brume_status brume_touched_find(brume_query *query, const brume_plan_table *tables,
                                const brume_window_wish *wish, brume_touched **out,
                                brume_error *error)
{
    finder *f = calloc(1, sizeof *f);
    brume_touched *touched = calloc(1, sizeof *touched);
    brume_status status = f && touched ? BRUME_OK : brume_no_memory(error, "windows");
    if (status == BRUME_OK) {
        *f = (finder){.query = query, .tables = tables, .error = error};
        touched->now = wish->now;
        status = find(f, wish, touched);
        if (wish->windows && !(touched->windows = strdup(wish->windows)) && status == BRUME_OK)
            status = brume_no_memory(error, "windows");
    }
    for (size_t i = 0; f && i < f->count; i++)
        brume_window_set_free(&f->scans[i].set);
    free(f);
    if (status != BRUME_OK) {
        brume_touched_close(touched);
        return status;
    }
    *out = touched;
    return BRUME_OK;
}

void brume_touched_close(brume_touched *touched)
{
    if (!touched)
        return;
    for (size_t i = 0; i < touched->count; i++)
        brume_window_set_free(&touched->datasets[i].set);
    free(touched->datasets);
    free(touched->windows);
    free(touched);
}
