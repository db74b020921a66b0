/* A statement in two layers: see the header.
 *
 * The tree is read first and changed last: texts of inner queries are printed from the tree as it
 * was typed, and what is to be replaced is kept in a list until the whole statement was found to be
 * of this form. */
#include "query/sql/released.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "query/sql/lift.h"
#include "query/sql/parse.h"
#include "query/sql/tree.h"
#include "query/sql/walk.h"

enum { MOST_USES = 2000, MOST_ITEMS = 64, MOST_REPLACED = 64 };

/* A name of a table, and the item of WITH that it means (NULL: a table of the catalog). */
typedef struct use {
    const PgQuery__RangeVar *table;
    const PgQuery__CommonTableExpr *item;
} use;

typedef struct item_state {
    const PgQuery__CommonTableExpr *item;
    bool looked_at, is_protected; /* rows of protected tables go into it */
    bool is_split;                /* the outer SQL names it */
} item_state;

/* A SELECT whose place the answer of inner query `index` takes, or that of its groups. */
typedef struct replacement {
    const PgQuery__SelectStmt *select;
    size_t index;
    brume_lift *lift; /* NULL: the whole of it */
} replacement;

typedef struct splitter {
    const brume_catalog *catalog;
    brume_is_query is_query;
    void *context;
    const PgQuery__SelectStmt *top;
    use uses[MOST_USES];
    size_t use_count;
    item_state items[MOST_ITEMS];
    size_t item_count;
    replacement replaced[MOST_REPLACED];
    size_t replaced_count;
    brume_inner_queries *out;
    bool fits; /* so far it is of this form */
    brume_status status;
    brume_error *why, *error;
} splitter;

void brume_released_name(size_t index, char name[BRUME_RELEASED_NAME])
{
    snprintf(name, BRUME_RELEASED_NAME, "brume_answer_%zu", index);
}

void brume_released_clear(brume_inner_queries *released)
{
    for (size_t i = 0; i < released->count; i++)
        free(released->inner[i]);
    *released = (brume_inner_queries){.count = 0};
}

static void fail(splitter *s, brume_status status)
{
    s->status = s->status == BRUME_OK ? status : s->status;
    s->fits = false;
}

static void too_many(splitter *s, const char *what)
{
    fail(s, brume_fail(s->error, BRUME_EUNSUPPORTED, "ask in several statements",
                       "the statement has too many %s", what));
}

/* ---- what names mean ---- */

static void add_use(void *context, PgQuery__RangeVar *table, const PgQuery__CommonTableExpr *item)
{
    splitter *s = context;
    if (s->use_count == MOST_USES)
        too_many(s, "names of tables");
    else
        s->uses[s->use_count++] = (use){table, item};
}

static bool add_item(void *context, const ProtobufCMessage *message)
{
    splitter *s = context;
    if (message->descriptor != &pg_query__common_table_expr__descriptor)
        return true;
    if (s->item_count == MOST_ITEMS)
        too_many(s, "items of WITH");
    else
        s->items[s->item_count++].item = (const PgQuery__CommonTableExpr *)message;
    return true;
}

static const PgQuery__CommonTableExpr *item_of(const splitter *s, const PgQuery__RangeVar *table)
{
    for (size_t i = 0; i < s->use_count; i++)
        if (s->uses[i].table == table)
            return s->uses[i].item;
    return NULL;
}

static item_state *state_of(splitter *s, const PgQuery__CommonTableExpr *item)
{
    for (size_t i = 0; i < s->item_count; i++)
        if (s->items[i].item == item)
            return &s->items[i];
    return NULL; /* too many, and then the statement failed */
}

/* A table is public only where every table that the name may mean is. */
static bool is_public(const brume_catalog *catalog, const PgQuery__RangeVar *table)
{
    bool found = false;
    for (size_t i = 0; i < catalog->table_count; i++) {
        const brume_catalog_table *one = &catalog->tables[i];
        const char *own = one->dataset ? one->dataset : one->name;
        if (strcasecmp(one->name, table->relname) != 0 ||
            (table->schemaname && *table->schemaname && strcmp(own, table->schemaname) != 0))
            continue;
        if (one->privacy != BRUME_PRIVACY_PUBLIC)
            return false;
        found = true;
    }
    return found;
}

typedef struct looking {
    splitter *s;
    bool found;
} looking;

static bool reads_protected(splitter *s, const ProtobufCMessage *message);

static void look_at_item(splitter *s, item_state *state)
{
    if (state->looked_at)
        return;
    state->looked_at = true; /* first: WITH RECURSIVE may name itself */
    state->is_protected = reads_protected(s, &state->item->ctequery->base);
}

static bool look_for_protected(void *context, const ProtobufCMessage *message)
{
    looking *at = context;
    if (at->found || message->descriptor != &pg_query__range_var__descriptor)
        return !at->found;
    const PgQuery__RangeVar *table = (const PgQuery__RangeVar *)message;
    const PgQuery__CommonTableExpr *item = item_of(at->s, table);
    item_state *state = item ? state_of(at->s, item) : NULL;
    if (state)
        look_at_item(at->s, state);
    at->found = item ? !state || state->is_protected : !is_public(at->s->catalog, table);
    return !at->found;
}

/* Do rows of protected tables go into it, through whatever items of WITH? */
static bool reads_protected(splitter *s, const ProtobufCMessage *message)
{
    looking at = {s, false};
    brume_tree_visit(message, look_for_protected, &at);
    return at.found;
}

/* ---- a SELECT as a text by itself ---- */

typedef struct needed {
    splitter *s;
    const PgQuery__CommonTableExpr *items[MOST_ITEMS];
    size_t count;
    const ProtobufCMessage *inside; /* items in it are its own */
} needed;

typedef struct finding {
    const ProtobufCMessage *wanted;
    bool found;
} finding;

static bool look_for(void *context, const ProtobufCMessage *message)
{
    finding *at = context;
    at->found = at->found || message == at->wanted;
    return !at->found;
}

static bool contains(const ProtobufCMessage *message, const ProtobufCMessage *wanted)
{
    finding at = {wanted, false};
    brume_tree_visit(message, look_for, &at);
    return at.found;
}

static bool take_needed(void *context, const ProtobufCMessage *message)
{
    needed *all = context;
    if (message->descriptor != &pg_query__range_var__descriptor)
        return true;
    const PgQuery__CommonTableExpr *item = item_of(all->s, (const PgQuery__RangeVar *)message);
    if (!item || contains(all->inside, &item->base))
        return true;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i] == item)
            return true;
    all->items[all->count++] = item; /* at most all items */
    brume_tree_visit(&item->ctequery->base, take_needed, all);
    return true;
}

static int compare_items(const void *a, const void *b)
{
    const PgQuery__CommonTableExpr *x = *(const PgQuery__CommonTableExpr *const *)a,
                                   *y = *(const PgQuery__CommonTableExpr *const *)b;
    return (x->location > y->location) - (x->location < y->location);
}

/* A copy of a message; NULL: no memory. */
static ProtobufCMessage *copy_of(const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *packed = malloc(size + 1);
    if (!packed)
        return NULL;
    protobuf_c_message_pack(message, packed);
    ProtobufCMessage *copy = protobuf_c_message_unpack(message->descriptor, NULL, size, packed);
    free(packed);
    return copy;
}

/* Give the SELECT a WITH of these items before its own. Two of one name: false. */
static bool add_items(PgQuery__SelectStmt *select, const needed *items)
{
    size_t own = select->with_clause ? select->with_clause->n_ctes : 0;
    for (size_t i = 0; i < items->count; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(items->items[i]->ctename, items->items[j]->ctename) == 0)
                return false;
        for (size_t j = 0; j < own; j++)
            if (strcmp(items->items[i]->ctename,
                       select->with_clause->ctes[j]->common_table_expr->ctename) == 0)
                return false;
    }
    PgQuery__Node **list = calloc(items->count + own, sizeof *list);
    if (!select->with_clause) {
        select->with_clause = malloc(sizeof *select->with_clause);
        if (select->with_clause)
            pg_query__with_clause__init(select->with_clause);
    }
    if (!list || !select->with_clause) {
        free(list);
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < items->count; i++) {
        PgQuery__Node *node = malloc(sizeof *node);
        if (!node)
            break;
        pg_query__node__init(node);
        node->node_case = PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR;
        node->common_table_expr = (PgQuery__CommonTableExpr *)copy_of(&items->items[i]->base);
        list[count++] = node;
    }
    bool whole = count == items->count;
    for (size_t i = 0; i < own; i++)
        list[count++] = select->with_clause->ctes[i];
    free(select->with_clause->ctes);
    select->with_clause->ctes = list;
    select->with_clause->n_ctes = count;
    for (size_t i = 0; whole && i < items->count; i++)
        whole = list[i]->common_table_expr != NULL;
    return whole;
}

/* What it would be, typed alone, with the items of WITH around it that it names; NULL: it cannot be
 * written so. The caller frees it. */
static char *text_of(splitter *s, const PgQuery__SelectStmt *select)
{
    needed items = {.s = s, .inside = &select->base};
    brume_tree_visit(&select->base, take_needed, &items);
    qsort(items.items, items.count, sizeof *items.items, compare_items);
    PgQuery__SelectStmt *copy = (PgQuery__SelectStmt *)copy_of(&select->base);
    if (!copy)
        return NULL;
    PgQuery__Node node = PG_QUERY__NODE__INIT;
    node.node_case = PG_QUERY__NODE__NODE_SELECT_STMT;
    node.select_stmt = copy;
    PgQuery__RawStmt statement = PG_QUERY__RAW_STMT__INIT, *statements[] = {&statement};
    statement.stmt = &node;
    PgQuery__ParseResult tree = PG_QUERY__PARSE_RESULT__INIT;
    tree.n_stmts = 1;
    tree.stmts = statements;
    brume_error ignored;
    char *text = NULL;
    if ((items.count > 0 && !add_items(copy, &items)) ||
        brume_public_text(&tree, &text, &ignored) != BRUME_OK)
        text = NULL;
    pg_query__select_stmt__free_unpacked(copy, NULL);
    return text;
}

/* ---- splitting ---- */

static void take_inner(splitter *s, const PgQuery__SelectStmt *select, char *text, brume_lift *lift)
{
    size_t index = 0;
    while (index < s->out->count && strcmp(s->out->inner[index], text) != 0)
        index++;
    if (s->replaced_count == MOST_REPLACED || index == BRUME_RELEASED_MOST) {
        too_many(s, "inner queries");
        free(text);
        brume_lift_close(lift);
        return;
    }
    s->replaced[s->replaced_count].select = select;
    s->replaced[s->replaced_count].lift = lift;
    s->replaced[s->replaced_count++].index = index;
    if (index < s->out->count)
        free(text);
    else
        s->out->inner[s->out->count++] = text;
}

/* Does it aggregate? A call with OVER keeps its rows. */
static bool groups(const PgQuery__SelectStmt *select)
{
    bool found = select->n_group_clause > 0;
    for (size_t i = 0; !found && i < select->n_target_list; i++) {
        const PgQuery__Node *item = select->target_list[i], *value = NULL;
        if (item->node_case == PG_QUERY__NODE__NODE_RES_TARGET)
            value = item->res_target->val;
        bool over = value && value->node_case == PG_QUERY__NODE__NODE_FUNC_CALL &&
                    value->func_call->over;
        found = value && !over && brume_walk_has_aggregate(value);
    }
    return found;
}

static void split_select(splitter *s, const PgQuery__SelectStmt *select);

typedef struct part {
    splitter *s;
    const PgQuery__SelectStmt *of;
} part;

static bool split_part(void *context, const ProtobufCMessage *message)
{
    const part *at = context;
    splitter *s = at->s;
    if (!s->fits)
        return false;
    if (message == &at->of->base)
        return true;
    if (at->of->with_clause && message == &at->of->with_clause->base)
        return false; /* what of it is named is split where it is named */
    if (message->descriptor == &pg_query__select_stmt__descriptor) {
        split_select(s, (const PgQuery__SelectStmt *)message);
        return false;
    }
    if (message->descriptor != &pg_query__range_var__descriptor)
        return true;
    const PgQuery__CommonTableExpr *item = item_of(s, (const PgQuery__RangeVar *)message);
    item_state *state = item ? state_of(s, item) : NULL;
    if (!item) {
        s->fits = is_public(s->catalog, (const PgQuery__RangeVar *)message);
    } else if (!state->is_split) {
        state->is_split = true;
        if (item->ctequery->node_case == PG_QUERY__NODE__NODE_SELECT_STMT)
            split_select(s, item->ctequery->select_stmt);
        else
            s->fits = false;
    }
    return true;
}

static void split_subquery(void *context, const PgQuery__SelectStmt *select)
{
    split_select(context, select);
}

/* A SELECT that is no query for what it makes of its groups: these are one, perhaps. What stands in
 * FROM and WHERE goes with them. */
static bool split_groups(splitter *s, const PgQuery__SelectStmt *select, brume_error *why)
{
    brume_lift *lift = NULL;
    brume_error reason = {0};
    brume_status status = brume_lift_open((PgQuery__SelectStmt *)select, &lift, s->error);
    if (status != BRUME_OK)
        fail(s, status);
    if (!lift)
        return status != BRUME_OK;
    char *text = text_of(s, brume_lift_groups(lift));
    if (!text || !s->is_query(s->context, text, &reason)) {
        if (text && reason.status != BRUME_OK)
            *why = reason; /* what is around the groups is no fault */
        free(text);
        brume_lift_close(lift);
        return false;
    }
    take_inner(s, select, text, lift);
    brume_lift_visit_subqueries(lift, split_subquery, s);
    return true;
}

/* After this, if it still fits, all that is protected in it is in inner queries. */
static void split_select(splitter *s, const PgQuery__SelectStmt *select)
{
    brume_error why = {0};
    if (!s->fits || !reads_protected(s, &select->base))
        return;
    char *text = select == s->top ? NULL : text_of(s, select);
    if (text && s->is_query(s->context, text, &why)) {
        take_inner(s, select, text, NULL);
        return;
    }
    free(text);
    if (split_groups(s, select, &why))
        return;
    part parts = {s, select};
    brume_tree_visit(&select->base, split_part, &parts);
    /* of a SELECT that groups what it cannot, the reason is its own */
    if (!s->fits && s->status == BRUME_OK && why.status != BRUME_OK && s->why->status == BRUME_OK &&
        groups(select))
        *s->why = why;
}

/* ---- changing the tree ---- */

/* SELECT * FROM the answer, in the place of what is there. */
static brume_status put_answer(const replacement *of, brume_error *error)
{
    char text[80], name[BRUME_RELEASED_NAME];
    brume_sql *made = NULL;
    PgQuery__SelectStmt *select = (PgQuery__SelectStmt *)of->select;
    brume_released_name(of->index, name);
    if (of->lift)
        return brume_lift_apply(of->lift, name, error);
    snprintf(text, sizeof text, "SELECT * FROM %s", name);
    BRUME_TRY(brume_sql_parse(text, &made, error));
    PgQuery__SelectStmt *other = brume_sql_tree(made)->stmts[0]->stmt->select_stmt, old = *select;
    *select = *other;
    *other = old;
    brume_sql_close(made);
    return BRUME_OK;
}

/* Items of WITH that only inner queries named are gone with them. */
static bool drop_items(void *context, const ProtobufCMessage *message)
{
    splitter *s = context;
    if (message->descriptor != &pg_query__select_stmt__descriptor)
        return true;
    PgQuery__SelectStmt *select = (PgQuery__SelectStmt *)message;
    PgQuery__WithClause *with = select->with_clause;
    size_t kept = 0;
    for (size_t i = 0; with && i < with->n_ctes; i++) {
        const item_state *state = state_of(s, with->ctes[i]->common_table_expr);
        if (state && !state->is_split && state->is_protected)
            pg_query__node__free_unpacked(with->ctes[i], NULL);
        else
            with->ctes[kept++] = with->ctes[i];
    }
    if (with)
        with->n_ctes = kept;
    if (with && kept == 0) {
        pg_query__with_clause__free_unpacked(with, NULL);
        select->with_clause = NULL;
    }
    return true;
}

brume_status brume_sql_split_released(const brume_sql *sql, const brume_catalog *catalog,
                                      brume_is_query is_query, void *context,
                                      brume_inner_queries *out, bool *found, brume_error *why,
                                      brume_error *error)
{
    PgQuery__SelectStmt *select = brume_sql_tree(sql)->stmts[0]->stmt->select_stmt;
    splitter *s = calloc(1, sizeof *s);
    if (!s)
        return brume_no_memory(error, "a question");
    *s = (splitter){.catalog = catalog,
                    .is_query = is_query,
                    .context = context,
                    .top = select,
                    .out = out,
                    .fits = true,
                    .why = why,
                    .error = error};
    *out = (brume_inner_queries){.count = 0};
    *why = (brume_error){.status = BRUME_OK};
    brume_sql_visit_tables(select, add_use, s);
    brume_tree_visit(&select->base, add_item, s);
    split_select(s, select);
    brume_status status = s->status;
    *found = s->fits && out->count > 0;
    bool all_public = !reads_protected(s, &select->base);
    for (size_t i = 0; *found && i < s->item_count; i++)
        look_at_item(s, &s->items[i]); /* all of them, before the first is gone */
    if (*found)
        brume_tree_visit(&select->base, drop_items, s);
    for (size_t i = 0; *found && status == BRUME_OK && i < s->replaced_count; i++)
        status = put_answer(&s->replaced[i], error);
    for (size_t i = 0; i < s->replaced_count; i++)
        brume_lift_close(s->replaced[i].lift);
    if (status != BRUME_OK || !*found)
        brume_released_clear(out);
    out->all_public = all_public;
    free(s);
    return status;
}

/* ---- keys of the outer SQL ---- */

/* Names of columns that are noisy somewhere: by name, so that one that is a key here and noisy
 * there counts as noisy. */
typedef struct tainted {
    const brume_catalog *catalog;
    const bool *const *is_key;
    const char *names[MOST_USES];
    size_t count;
    bool grew;
} tainted;

static bool is_tainted(const tainted *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcasecmp(all->names[i], name) == 0)
            return true;
    return false;
}

static void taint(tainted *all, const char *name)
{
    if (!name || !*name || all->count == MOST_USES || is_tainted(all, name))
        return;
    all->names[all->count++] = name;
    all->grew = true;
}

typedef struct reading {
    const tainted *all;
    bool noisy;
} reading;

static bool read_noisy(void *context, const ProtobufCMessage *message)
{
    reading *at = context;
    if (message->descriptor == &pg_query__column_ref__descriptor) {
        const PgQuery__ColumnRef *reference = (const PgQuery__ColumnRef *)message;
        const PgQuery__Node *last = reference->fields[reference->n_fields - 1];
        at->noisy = at->noisy || last->node_case != PG_QUERY__NODE__NODE_STRING ||
                    is_tainted(at->all, last->string->sval);
    }
    if (message->descriptor == &pg_query__sub_link__descriptor)
        at->noisy = true;
    if (message->descriptor == &pg_query__func_call__descriptor) {
        const PgQuery__FuncCall *call = (const PgQuery__FuncCall *)message;
        const char *name = brume_walk_name(call->funcname, call->n_funcname);
        at->noisy = at->noisy || call->over || !name || !brume_public_is_of_row(name);
    }
    return !at->noisy;
}

/* Is the output computed from what noise moved, or chosen by it among rows? */
static bool is_noisy(const tainted *all, const PgQuery__Node *value)
{
    reading at = {all, false};
    brume_tree_visit(&value->base, read_noisy, &at);
    return at.noisy;
}

static bool is_star(const PgQuery__Node *value)
{
    if (value->node_case != PG_QUERY__NODE__NODE_COLUMN_REF)
        return false;
    const PgQuery__ColumnRef *reference = value->column_ref;
    return reference->fields[reference->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR;
}

static void taint_list(tainted *all, PgQuery__Node *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i]->node_case == PG_QUERY__NODE__NODE_STRING)
            taint(all, names[i]->string->sval);
}

static bool taint_outputs(void *context, const ProtobufCMessage *message)
{
    tainted *all = context;
    if (message->descriptor == &pg_query__res_target__descriptor) {
        const PgQuery__ResTarget *target = (const PgQuery__ResTarget *)message;
        if (target->val && !is_star(target->val) && is_noisy(all, target->val))
            taint(all, brume_public_output_name(target));
    } else if (message->descriptor == &pg_query__alias__descriptor) { /* t (a, b): any may be */
        const PgQuery__Alias *alias = (const PgQuery__Alias *)message;
        taint_list(all, alias->colnames, alias->n_colnames);
    } else if (message->descriptor == &pg_query__common_table_expr__descriptor) {
        const PgQuery__CommonTableExpr *item = (const PgQuery__CommonTableExpr *)message;
        taint_list(all, item->aliascolnames, item->n_aliascolnames);
    }
    return true;
}

void brume_sql_key_outputs(const brume_sql *sql, const brume_catalog *catalog,
                           const bool *const *is_key, char *const *names, size_t count, bool *keys)
{
    const PgQuery__SelectStmt *select = brume_sql_tree(sql)->stmts[0]->stmt->select_stmt;
    tainted *all = calloc(1, sizeof *all);
    for (size_t i = 0; i < count; i++)
        keys[i] = false;
    if (!all)
        return; /* no bars */
    for (size_t i = 0; i < catalog->table_count; i++)
        for (size_t j = 0; j < catalog->tables[i].column_count; j++)
            if (!is_key[i][j])
                taint(all, catalog->tables[i].columns[j].name);
    do {
        all->grew = false;
        brume_tree_visit(&select->base, taint_outputs, all);
    } while (all->grew);
    for (size_t i = 0; i < count; i++)
        keys[i] = all->count < MOST_USES && !is_tainted(all, names[i]);
    free(all);
}
