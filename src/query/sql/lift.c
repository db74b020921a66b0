/* A SELECT cut at its GROUP BY: see the header. */
#include "query/sql/lift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "query/sql/parse.h"
#include "query/sql/public.h"
#include "query/sql/tree.h"
#include "query/sql/walk.h"

enum { MOST_COLUMNS = 200, MOST_PLACES = 1000, NAME = 64 };

/* A key or an aggregate, as a column of the groups. */
typedef struct column {
    const PgQuery__Node *value;
    char name[NAME];
    PgQuery__ResTarget target;
    PgQuery__Node node;
} column;

struct brume_lift {
    PgQuery__SelectStmt *select, groups;
    column columns[MOST_COLUMNS];
    PgQuery__Node *targets[MOST_COLUMNS], *group_clause[MOST_COLUMNS];
    size_t count, key_count;
    struct {
        PgQuery__Node *node; /* becomes the column */
        size_t column;
    } places[MOST_PLACES];
    size_t place_count;
    bool fits, in_order;
};

/* ---- what becomes a column ---- */

static size_t find(brume_lift *lift, const PgQuery__Node *value)
{
    for (size_t i = 0; i < lift->count; i++)
        if (brume_tree_equal(&lift->columns[i].value->base, &value->base))
            return i;
    return SIZE_MAX;
}

static size_t add(brume_lift *lift, const PgQuery__Node *value)
{
    size_t at = find(lift, value);
    if (at != SIZE_MAX)
        return at;
    if (lift->count == MOST_COLUMNS) {
        lift->fits = false;
        return 0;
    }
    lift->columns[lift->count].value = value;
    return lift->count++;
}

/* The output of this name; NULL: there is none. */
static const PgQuery__ResTarget *output_of(const PgQuery__SelectStmt *select,
                                           const PgQuery__Node *node)
{
    if (node->node_case != PG_QUERY__NODE__NODE_COLUMN_REF || node->column_ref->n_fields != 1 ||
        node->column_ref->fields[0]->node_case != PG_QUERY__NODE__NODE_STRING)
        return NULL;
    for (size_t i = 0; i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->res_target;
        if (target->name && *target->name &&
            strcmp(target->name, node->column_ref->fields[0]->string->sval) == 0)
            return target;
    }
    return NULL;
}

/* What an item of GROUP BY means, as brume_walk_group_item has it. NULL: it is in the list of
 * nothing. */
static PgQuery__Node *item_of(const PgQuery__SelectStmt *select, PgQuery__Node *item)
{
    if (item->node_case == PG_QUERY__NODE__NODE_A_CONST) {
        const PgQuery__AConst *constant = item->a_const;
        bool good = !constant->isnull && constant->val_case == PG_QUERY__A__CONST__VAL_IVAL &&
                    constant->ival->ival >= 1 &&
                    (size_t)constant->ival->ival <= select->n_target_list;
        return good ? select->target_list[constant->ival->ival - 1]->res_target->val : NULL;
    }
    const PgQuery__ResTarget *output = output_of(select, item);
    return output && !brume_walk_has_aggregate(output->val) ? output->val : item;
}

/* Keys of ROLLUP and its like stay as they were typed: names of columns and no positions. */
static void add_keys_of_sets(brume_lift *lift, PgQuery__Node *item)
{
    if (item->node_case == PG_QUERY__NODE__NODE_GROUPING_SET) {
        for (size_t i = 0; i < item->grouping_set->n_content; i++)
            add_keys_of_sets(lift, item->grouping_set->content[i]);
    } else if (item->node_case == PG_QUERY__NODE__NODE_ROW_EXPR) {
        for (size_t i = 0; i < item->row_expr->n_args; i++)
            add_keys_of_sets(lift, item->row_expr->args[i]);
    } else if (item_of(lift->select, item) == item) {
        add(lift, item);
    } else {
        lift->fits = false;
    }
}

static void add_keys(brume_lift *lift)
{
    const PgQuery__SelectStmt *select = lift->select;
    bool all = brume_walk_groups_by_all(select);
    size_t count = all ? select->n_target_list : select->n_group_clause;
    for (size_t i = 0; lift->fits && i < count && i < MOST_COLUMNS; i++) {
        PgQuery__Node *item = all ? select->target_list[i]->res_target->val
                                  : select->group_clause[i];
        if (all && brume_walk_has_aggregate(item))
            continue;
        if (!all && item->node_case == PG_QUERY__NODE__NODE_GROUPING_SET)
            add_keys_of_sets(lift, item);
        else
            item = all ? item : item_of(select, item);
        if (!item || brume_walk_has_aggregate(item)) {
            lift->fits = false;
            return;
        }
        if (item->node_case != PG_QUERY__NODE__NODE_GROUPING_SET)
            add(lift, item);
        lift->group_clause[lift->groups.n_group_clause++] = item;
    }
    lift->fits = lift->fits && count <= MOST_COLUMNS;
    lift->key_count = lift->count;
}

static bool collect(void *context, const ProtobufCMessage *message)
{
    brume_lift *lift = context;
    if (!lift->fits || message->descriptor == &pg_query__select_stmt__descriptor)
        return false; /* a subquery has names of its own */
    if (message->descriptor == &pg_query__column_ref__descriptor)
        lift->fits = false; /* neither grouped nor aggregated */
    if (message->descriptor != &pg_query__node__descriptor)
        return lift->fits;
    PgQuery__Node *node = (PgQuery__Node *)message;
    size_t at = find(lift, node);
    bool over = node->node_case == PG_QUERY__NODE__NODE_FUNC_CALL && node->func_call->over;
    if (at == SIZE_MAX && ((brume_walk_is_aggregate(node) && !over) ||
                           node->node_case == PG_QUERY__NODE__NODE_GROUPING_FUNC))
        at = add(lift, node);
    if (at == SIZE_MAX)
        return true;
    if (lift->place_count == MOST_PLACES) {
        lift->fits = false;
        return false;
    }
    lift->places[lift->place_count].node = node;
    lift->places[lift->place_count++].column = at;
    return false;
}

static void collect_all(brume_lift *lift)
{
    const PgQuery__SelectStmt *select = lift->select;
    for (size_t i = 0; i < select->n_target_list; i++)
        brume_tree_visit(&select->target_list[i]->base, collect, lift);
    for (size_t i = 0; i < select->n_window_clause; i++)
        brume_tree_visit(&select->window_clause[i]->base, collect, lift);
    if (select->having_clause)
        brume_tree_visit(&select->having_clause->base, collect, lift);
    for (size_t i = 0; i < select->n_distinct_clause; i++)
        brume_tree_visit(&select->distinct_clause[i]->base, collect, lift);
    for (size_t i = 0; i < select->n_sort_clause; i++) { /* names of outputs come first */
        PgQuery__Node *item = select->sort_clause[i];
        if (item->node_case != PG_QUERY__NODE__NODE_SORT_BY ||
            !output_of(select, item->sort_by->node))
            brume_tree_visit(&item->base, collect, lift);
    }
}

/* ---- the groups ---- */

static bool is_taken(const brume_lift *lift, const char *name, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (strcasecmp(lift->columns[i].name, name) == 0)
            return true;
    return false;
}

/* A column is called as the output that shows it and nothing else. */
static void name_column(brume_lift *lift, size_t at)
{
    column *of = &lift->columns[at];
    const char *name = NULL;
    for (size_t i = 0; !name && i < lift->select->n_target_list; i++) {
        const PgQuery__ResTarget *target = lift->select->target_list[i]->res_target;
        if (brume_tree_equal(&target->val->base, &of->value->base))
            name = brume_public_output_name(target);
    }
    if (name && *name && *name != '?' && strlen(name) < NAME && !is_taken(lift, name, at)) {
        snprintf(of->name, sizeof of->name, "%s", name);
        return;
    }
    for (size_t number = at + 1; !of->name[0] || is_taken(lift, of->name, at);
         number += lift->count)
        snprintf(of->name, sizeof of->name, "%s_%zu", at < lift->key_count ? "key" : "value",
                 number);
}

static void make_groups(brume_lift *lift)
{
    const PgQuery__SelectStmt *select = lift->select;
    PgQuery__SelectStmt *groups = &lift->groups;
    for (size_t i = 0; i < lift->count; i++) {
        column *of = &lift->columns[i];
        name_column(lift, i);
        pg_query__res_target__init(&of->target);
        pg_query__node__init(&of->node);
        of->target.name = of->name;
        of->target.val = (PgQuery__Node *)of->value;
        of->node.node_case = PG_QUERY__NODE__NODE_RES_TARGET;
        of->node.res_target = &of->target;
        lift->targets[i] = &of->node;
    }
    groups->target_list = lift->targets;
    groups->n_target_list = lift->count;
    groups->from_clause = select->from_clause;
    groups->n_from_clause = select->n_from_clause;
    groups->where_clause = select->where_clause;
    groups->group_clause = lift->group_clause;
    groups->group_distinct = select->group_distinct;
    groups->limit_option = PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_DEFAULT;
    groups->op = PG_QUERY__SET_OPERATION__SETOP_NONE;
}

brume_status brume_lift_open(PgQuery__SelectStmt *select, brume_lift **out, brume_error *error)
{
    *out = NULL;
    if (select->op != PG_QUERY__SET_OPERATION__SETOP_NONE || select->n_values_lists > 0 ||
        select->into_clause || select->n_locking_clause > 0)
        return BRUME_OK;
    for (size_t i = 0; i < select->n_target_list; i++)
        if (select->target_list[i]->node_case != PG_QUERY__NODE__NODE_RES_TARGET ||
            !select->target_list[i]->res_target->val)
            return BRUME_OK;
    brume_lift *lift = calloc(1, sizeof *lift);
    if (!lift)
        return brume_no_memory(error, "a question");
    lift->select = select;
    lift->fits = true;
    pg_query__select_stmt__init(&lift->groups);
    add_keys(lift);
    if (lift->fits)
        collect_all(lift);
    if (!lift->fits || lift->count == 0) {
        free(lift);
        return BRUME_OK;
    }
    make_groups(lift);
    *out = lift;
    return BRUME_OK;
}

void brume_lift_close(brume_lift *lift)
{
    free(lift);
}

const PgQuery__SelectStmt *brume_lift_groups(const brume_lift *lift)
{
    return &lift->groups;
}

/* ---- the SQL over them ---- */

typedef struct visiting {
    const brume_lift *lift;
    void (*visit)(void *context, const PgQuery__SelectStmt *select);
    void *context;
} visiting;

static bool visit_subquery(void *context, const ProtobufCMessage *message)
{
    const visiting *at = context;
    for (size_t i = 0; i < at->lift->place_count; i++)
        if (&at->lift->places[i].node->base == message)
            return false; /* it goes with the groups */
    if (message->descriptor != &pg_query__select_stmt__descriptor)
        return true;
    at->visit(at->context, (const PgQuery__SelectStmt *)message);
    return false;
}

void brume_lift_visit_subqueries(const brume_lift *lift,
                                 void (*visit)(void *context, const PgQuery__SelectStmt *select),
                                 void *context)
{
    visiting at = {lift, visit, context};
    const PgQuery__SelectStmt *select = lift->select;
    for (size_t i = 0; i < select->n_target_list; i++)
        brume_tree_visit(&select->target_list[i]->base, visit_subquery, &at);
    for (size_t i = 0; i < select->n_sort_clause; i++)
        brume_tree_visit(&select->sort_clause[i]->base, visit_subquery, &at);
    if (select->having_clause)
        brume_tree_visit(&select->having_clause->base, visit_subquery, &at);
}

/* Put what is at the end of the list into the node; the node's own is freed. */
static void put(PgQuery__Node *into, PgQuery__Node *from)
{
    PgQuery__Node old = *into;
    *into = *from;
    *from = old;
    pg_query__node__free_unpacked(from, NULL);
}

/* The first output, or the first item of FROM, of a SELECT; the caller has it. */
static brume_status parsed(const char *text, bool item, PgQuery__Node **out, brume_error *error)
{
    brume_sql *made = NULL;
    BRUME_TRY(brume_sql_parse(text, &made, error));
    PgQuery__SelectStmt *select = brume_sql_tree(made)->stmts[0]->stmt->select_stmt;
    PgQuery__Node **from = item ? &select->from_clause[0]
                                : &select->target_list[0]->res_target->val;
    *out = *from;
    if (item)
        select->n_from_clause = 0;
    else
        *from = NULL;
    brume_sql_close(made);
    return BRUME_OK;
}

static brume_status name_of_column(const char *name, PgQuery__Node **out, brume_error *error)
{
    char text[2 * NAME + 16], *at = text + snprintf(text, sizeof text, "SELECT \"");
    for (; *name; name++) {
        if (*name == '"')
            *at++ = '"';
        *at++ = *name;
    }
    *at++ = '"';
    *at = 0;
    return parsed(text, false, out, error);
}

/* An output that had no name keeps the one that it had without being typed. */
static brume_status name_outputs(PgQuery__SelectStmt *select, brume_error *error)
{
    for (size_t i = 0; i < select->n_target_list; i++) {
        PgQuery__ResTarget *target = select->target_list[i]->res_target;
        if (target->name && *target->name)
            continue;
        char *name = strdup(brume_public_output_name(target));
        if (!name)
            return brume_no_memory(error, "a question");
        target->name = name;
    }
    return BRUME_OK;
}

static void drop_list(PgQuery__Node ***list, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        pg_query__node__free_unpacked((*list)[i], NULL);
    free(*list);
    *list = NULL;
    *count = 0;
}

brume_status brume_lift_apply(brume_lift *lift, const char *answer, brume_error *error)
{
    PgQuery__SelectStmt *select = lift->select;
    PgQuery__Node *from = NULL, **list = malloc(sizeof *list);
    char text[2 * NAME + 16];
    snprintf(text, sizeof text, "SELECT 1 FROM %s", answer);
    brume_status status = list ? parsed(text, true, &from, error)
                               : brume_no_memory(error, "a question");
    if (status == BRUME_OK)
        status = name_outputs(select, error);
    for (size_t i = 0; status == BRUME_OK && i < lift->place_count; i++) {
        PgQuery__Node *made = NULL;
        status = name_of_column(lift->columns[lift->places[i].column].name, &made, error);
        if (status == BRUME_OK)
            put(lift->places[i].node, made);
    }
    if (status != BRUME_OK) {
        free(list);
        return status;
    }
    drop_list(&select->from_clause, &select->n_from_clause);
    drop_list(&select->group_clause, &select->n_group_clause);
    select->group_distinct = false;
    if (select->where_clause)
        pg_query__node__free_unpacked(select->where_clause, NULL);
    select->where_clause = select->having_clause;
    select->having_clause = NULL;
    list[0] = from;
    select->from_clause = list;
    select->n_from_clause = 1;
    return BRUME_OK;
}
