/* Scalar subqueries, found in the text. */
#include "query/sql/scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <pg_query.h>

#include "base/error.h"
#include "query/sql/parse.h"
#include "query/sql/tree.h"
#include "query/sql/walk.h"

enum { MOST_SCALARS = 8 };

typedef struct found_scalar {
    size_t start;
    bool shown, unnamed;
} found_scalar;

typedef struct found_scalars {
    found_scalar list[MOST_SCALARS];
    size_t count;
    bool too_many, wrong;
    bool in_outputs; /* is an output looked at? */
    bool unnamed;    /* one without a name, of which the first node is looked at */
} found_scalars;

/* One aggregate of one row. */
static bool is_single(const PgQuery__Node *node)
{
    const PgQuery__SelectStmt *select =
        node && node->node_case == PG_QUERY__NODE__NODE_SELECT_STMT ? node->select_stmt : NULL;
    return select && select->n_target_list == 1 && select->n_group_clause == 0 &&
           !select->having_clause && !select->limit_count && !select->limit_offset &&
           select->op == PG_QUERY__SET_OPERATION__SETOP_NONE && select->n_distinct_clause == 0 &&
           select->target_list[0]->node_case == PG_QUERY__NODE__NODE_RES_TARGET &&
           brume_walk_has_aggregate(select->target_list[0]->res_target->val);
}

static bool is_scalar(const ProtobufCMessage *message)
{
    return message->descriptor == &pg_query__sub_link__descriptor &&
           ((const PgQuery__SubLink *)message)->sub_link_type ==
               PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK;
}

/* ---- subqueries that name a table around them ---- */

enum { MOST_NAMES = 64 };

typedef struct inner_names {
    const char *names[MOST_NAMES];
    size_t count;
    bool outside; /* a column of a table that is not among them */
} inner_names;

static void add_inner(inner_names *all, const PgQuery__Alias *alias, const char *name)
{
    if (alias)
        name = alias->aliasname;
    if (name && all->count < MOST_NAMES)
        all->names[all->count++] = name;
}

static bool find_inner(void *context, const ProtobufCMessage *message)
{
    if (message->descriptor == &pg_query__range_var__descriptor) {
        const PgQuery__RangeVar *table = (const PgQuery__RangeVar *)message;
        add_inner(context, table->alias, table->relname);
    } else if (message->descriptor == &pg_query__range_subselect__descriptor) {
        add_inner(context, ((const PgQuery__RangeSubselect *)message)->alias, NULL);
    } else if (message->descriptor == &pg_query__range_function__descriptor) {
        add_inner(context, ((const PgQuery__RangeFunction *)message)->alias, NULL);
    } else if (message->descriptor == &pg_query__join_expr__descriptor) {
        add_inner(context, ((const PgQuery__JoinExpr *)message)->alias, NULL);
    }
    return true;
}

static bool find_outside(void *context, const ProtobufCMessage *message)
{
    inner_names *all = context;
    if (message->descriptor != &pg_query__column_ref__descriptor)
        return true;
    const PgQuery__ColumnRef *column = (const PgQuery__ColumnRef *)message;
    const PgQuery__Node *table = column->n_fields > 1 ? column->fields[column->n_fields - 2] : NULL;
    bool inner = !table || table->node_case != PG_QUERY__NODE__NODE_STRING;
    for (size_t i = 0; i < all->count && !inner; i++)
        inner = strcasecmp(all->names[i], table->string->sval) == 0;
    all->outside = all->outside || !inner;
    return true;
}

/* Does it name a column of a table around it? Then it is a function of that query's rows, and no
 * query by itself. */
static bool is_correlated(const PgQuery__SubLink *link)
{
    inner_names all = {.count = 0};
    brume_tree_visit(link->subselect ? &link->subselect->base : NULL, find_inner, &all);
    brume_tree_visit(link->subselect ? &link->subselect->base : NULL, find_outside, &all);
    return all.outside && all.count < MOST_NAMES;
}

/* In a condition or an output. */
static bool take_scalar(void *context, const ProtobufCMessage *message)
{
    found_scalars *all = context;
    if (!is_scalar(message))
        return true;
    const PgQuery__SubLink *link = (const PgQuery__SubLink *)message;
    if (is_correlated(link))
        return false;
    size_t start = link->location < 0 ? 0 : (size_t)link->location;
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].start == start)
            return false;
    all->wrong = all->wrong || !is_single(link->subselect);
    if (all->count < MOST_SCALARS)
        all->list[all->count++] = (found_scalar){start, all->in_outputs, all->unnamed};
    else
        all->too_many = true;
    return false;
}

/* In an output, outside of aggregates: inside, a constant would have a part in bounds. */
static bool take_shown(void *context, const ProtobufCMessage *message)
{
    if (message->descriptor == &pg_query__node__descriptor &&
        brume_walk_is_aggregate((const PgQuery__Node *)message))
        return false;
    return take_scalar(context, message);
}

/* The outputs of the query itself. */
static void visit_outputs(found_scalars *all, const PgQuery__SelectStmt *select)
{
    all->in_outputs = true;
    for (size_t i = 0; select && i < select->n_target_list; i++) {
        const PgQuery__ResTarget *target = select->target_list[i]->node_case ==
                                                   PG_QUERY__NODE__NODE_RES_TARGET
                                               ? select->target_list[i]->res_target
                                               : NULL;
        if (!target || !target->val)
            continue;
        all->unnamed = target->val->node_case == PG_QUERY__NODE__NODE_SUB_LINK &&
                       (!target->name || !*target->name);
        brume_tree_visit(&target->val->base, take_shown, all);
    }
    all->in_outputs = all->unnamed = false;
}

/* The conditions of every SELECT that is in none of them. */
static bool visit_conditions(void *context, const ProtobufCMessage *message)
{
    if (message->descriptor == &pg_query__func_call__descriptor) {
        const PgQuery__FuncCall *call = (const PgQuery__FuncCall *)message;
        if (call->agg_filter)
            brume_tree_visit(&call->agg_filter->base, take_scalar, context);
    }
    if (message->descriptor == &pg_query__select_stmt__descriptor) {
        const PgQuery__SelectStmt *select = (const PgQuery__SelectStmt *)message;
        if (select->where_clause)
            brume_tree_visit(&select->where_clause->base, take_scalar, context);
        if (select->having_clause)
            brume_tree_visit(&select->having_clause->base, take_scalar, context);
    }
    return !is_scalar(message);
}

/* The bracket that closes the one at `start`; 0: there is none. */
static size_t closing(const PgQuery__ScanResult *tokens, size_t start)
{
    size_t depth = 0;
    for (size_t i = 0; i < tokens->n_tokens; i++) {
        const PgQuery__ScanToken *token = tokens->tokens[i];
        if ((size_t)token->start < start)
            continue;
        depth += token->token == PG_QUERY__TOKEN__ASCII_40;
        if (token->token == PG_QUERY__TOKEN__ASCII_41 && depth > 0 && --depth == 0)
            return (size_t)token->end;
        if (depth == 0)
            return 0;
    }
    return 0;
}

static int compare_starts(const void *a, const void *b)
{
    size_t x = ((const found_scalar *)a)->start, y = ((const found_scalar *)b)->start;
    return (x > y) - (x < y);
}

static brume_status cut_out(const char *text, found_scalars *found, brume_scalar *scalars,
                            brume_error *error)
{
    PgQueryScanResult scanned = pg_query_scan(text);
    PgQuery__ScanResult *tokens =
        scanned.error ? NULL
                      : pg_query__scan_result__unpack(NULL, scanned.pbuf.len,
                                                      (const uint8_t *)scanned.pbuf.data);
    brume_status status = tokens ? BRUME_OK : brume_no_memory(error, "a query");
    qsort(found->list, found->count, sizeof *found->list, compare_starts);
    for (size_t i = 0; status == BRUME_OK && i < found->count; i++) {
        size_t start = found->list[i].start, end = closing(tokens, start);
        if (end < start + 2) {
            status = brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                                "a subquery in an expression is not supported here");
            break;
        }
        scalars[i] = (brume_scalar){start, end, strndup(text + start + 1, end - start - 2),
                                    found->list[i].shown, found->list[i].unnamed};
        if (!scalars[i].sql)
            status = brume_no_memory(error, "a query");
    }
    if (tokens)
        pg_query__scan_result__free_unpacked(tokens, NULL);
    pg_query_free_scan_result(scanned);
    return status;
}

/* ---- names of WITH ---- */

typedef struct scalar_names {
    const brume_scalar *scalars;
    size_t count;
    const char *around; /* a name that an item of WITH outside the subquery has */
} scalar_names;

static bool is_inside(const brume_scalar *scalar, int32_t location)
{
    return location >= 0 && (size_t)location >= scalar->start && (size_t)location < scalar->end;
}

static void check_name(void *context, PgQuery__RangeVar *table,
                       const PgQuery__CommonTableExpr *item)
{
    scalar_names *all = context;
    for (size_t i = 0; item && i < all->count; i++)
        if (is_inside(&all->scalars[i], table->location) &&
            !is_inside(&all->scalars[i], item->location))
            all->around = item->ctename;
}

/* A subquery is asked without the WITH around it: a name of that WITH would mean nothing there, or
 * a registered table of the same name, which is not what was asked. */
static brume_status check_names(const brume_sql *sql, const brume_scalar *scalars, size_t count,
                                brume_error *error)
{
    scalar_names all = {scalars, count, NULL};
    brume_sql_visit_tables(brume_sql_tree(sql)->stmts[0]->stmt->select_stmt, check_name, &all);
    if (all.around)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "it is asked first, by itself: write what the name stands for into it",
                          "a subquery in an expression names '%.60s', which is an item of the WITH "
                          "around it",
                          all.around);
    return BRUME_OK;
}

static brume_status check_found(const found_scalars *found, brume_error *error)
{
    if (found->too_many)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask for some of them first",
                          "the query has more than %d scalar subqueries", MOST_SCALARS);
    if (found->wrong)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "write (SELECT AVG(x) FROM ...): it is asked first, for a part of the "
                          "price",
                          "a subquery in an expression must be one aggregate without GROUP BY");
    return BRUME_OK;
}

static brume_status find_in(const brume_sql *sql, const char *text, brume_scalar **scalars,
                            size_t *count, brume_error *error)
{
    found_scalars found = {.count = 0};
    visit_outputs(&found, brume_sql_tree(sql)->stmts[0]->stmt->select_stmt);
    brume_tree_visit(&brume_sql_tree(sql)->base, visit_conditions, &found);
    if (found.count == 0)
        return BRUME_OK;
    BRUME_TRY(check_found(&found, error));
    brume_scalar *made = calloc(found.count, sizeof *made);
    if (!made)
        return brume_no_memory(error, "a query");
    brume_status status = cut_out(text, &found, made, error);
    if (status == BRUME_OK)
        status = check_names(sql, made, found.count, error);
    if (status != BRUME_OK) {
        brume_scalars_free(made, found.count);
        return status;
    }
    *scalars = made;
    *count = found.count;
    return BRUME_OK;
}

brume_status brume_scalars_find(const char *text, brume_scalar **scalars, size_t *count,
                                brume_error *error)
{
    brume_sql *sql = NULL;
    brume_error ignored;
    *scalars = NULL;
    *count = 0;
    if (brume_sql_parse(text, &sql, &ignored) != BRUME_OK)
        return BRUME_OK;
    brume_status status = find_in(sql, text, scalars, count, error);
    brume_sql_close(sql);
    return status;
}

void brume_scalars_free(brume_scalar *scalars, size_t count)
{
    for (size_t i = 0; scalars && i < count; i++)
        free(scalars[i].sql);
    free(scalars);
}

char *brume_scalars_replace(const char *text, const brume_scalar *scalars, size_t count,
                            const char *const *values, const char *const *names)
{
    char *made = NULL;
    size_t size = 0, at = 0;
    FILE *file = open_memstream(&made, &size);
    if (!file)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        fwrite(text + at, 1, scalars[i].start - at, file);
        fprintf(file, "(%s)", values[i]);
        if (scalars[i].unnamed && names && names[i]) {
            fputs(" AS \"", file);
            for (const char *c = names[i]; *c; c++)
                fprintf(file, *c == '"' ? "\"\"" : "%c", *c);
            fputc('"', file);
        }
        at = scalars[i].end;
    }
    fputs(text + at, file);
    return fclose(file) == 0 ? made : (free(made), NULL);
}

/* ---- values ---- */

bool brume_scalar_is_number(const brume_formula *formula)
{
    size_t first = 0;
    switch (formula->kind) {
    case BRUME_FORMULA_LITERAL:
        return formula->value.kind == BRUME_VALUE_NUMBER || formula->value.kind == BRUME_VALUE_NULL;
    case BRUME_FORMULA_AGGREGATE:
        return true;
    case BRUME_FORMULA_CASE: /* condition, value, ..., else */
        for (; first + 1 < formula->argument_count; first += 2)
            if (!brume_scalar_is_number(formula->arguments[first + 1]))
                return false;
        break;
    case BRUME_FORMULA_COALESCE:
    case BRUME_FORMULA_NULLIF:
    case BRUME_FORMULA_GREATEST:
    case BRUME_FORMULA_LEAST:
        break;
    default: /* arithmetic gives numbers or NULL */
        return formula->kind >= BRUME_FORMULA_ADD && formula->kind <= BRUME_FORMULA_EXP;
    }
    for (size_t i = first; i < formula->argument_count; i++)
        if (!brume_scalar_is_number(formula->arguments[i]))
            return false;
    return true;
}

brume_status brume_scalar_no_number(brume_error *error)
{
    return brume_fail(error, BRUME_EUNSUPPORTED, "compare it outside of the subquery",
                      "a scalar subquery must be a number, or one aggregate of dates");
}

static bool is_double(const char *type)
{
    return strcmp(type, "double precision") == 0;
}

static brume_status put(char *made, char **value, brume_error *error)
{
    free(*value);
    *value = made;
    return made ? BRUME_OK : brume_no_memory(error, "a query");
}

brume_status brume_scalar_constant(const char *type, const char *text, char **value,
                                   brume_error *error)
{
    const char *quote = text ? "'" : "";
    char *made = NULL;
    if (!type)
        return put(strdup("NULL"), value, error);
    bool date = strcmp(type, "date") == 0, plain = is_double(type);
    /* not + INTERVAL '0 days', of which the walk makes a constant */
    if (asprintf(&made, "%sCAST(%s%s%s AS %s)%s", plain || date ? "" : "COALESCE(", quote,
                 text ? text : "NULL", quote, type,
                 plain  ? ""
                 : date ? " + 0"
                        : ", NULL)") < 0)
        made = NULL;
    return put(made, value, error);
}

static brume_status put_number(double number, char **value, brume_error *error)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", number);
    return brume_scalar_constant("double precision", text, value, error);
}

brume_status brume_scalar_released(const char *type, const brume_value *released, char **value,
                                   brume_error *error)
{
    if (released->kind == BRUME_VALUE_NULL)
        return brume_scalar_constant(type, NULL, value, error);
    if (released->kind == BRUME_VALUE_NUMBER && is_double(type))
        return put_number(released->number, value, error);
    if (released->kind == BRUME_VALUE_TEXT && !is_double(type) &&
        !memchr(released->text, '\'', released->length))
        return brume_scalar_constant(type, released->text, value, error);
    return brume_scalar_no_number(error);
}

brume_status brume_scalar_shown(const brume_value *released, double error_95, char **value,
                                brume_error *error)
{
    char *made = NULL;
    if (released->kind == BRUME_VALUE_NULL)
        return put(strdup("NULL"), value, error);
    if (released->kind != BRUME_VALUE_NUMBER)
        return brume_scalar_no_number(error);
    int length = isfinite(error_95)
                     ? asprintf(&made, "released(%.17g, %.17g)", released->number, error_95)
                     : asprintf(&made, "released(%.17g)", released->number);
    return put(length < 0 ? NULL : made, value, error);
}

static brume_status put_text(const brume_value *text, char **value, brume_error *error)
{
    char *made = malloc(2 * text->length + 3), *end = made;
    if (!made)
        return brume_no_memory(error, "a query");
    *end++ = '\'';
    for (size_t i = 0; i < text->length; i++) {
        if (text->text[i] == '\'')
            *end++ = '\'';
        *end++ = text->text[i];
    }
    memcpy(end, "'", 2);
    return put(made, value, error);
}

brume_status brume_scalar_public(const brume_value *exact, char **value, brume_error *error)
{
    if (exact->kind == BRUME_VALUE_TEXT)
        return put_text(exact, value, error);
    if (exact->kind == BRUME_VALUE_BOOLEAN)
        return put(strdup(exact->boolean ? "true" : "false"), value, error);
    if (exact->kind == BRUME_VALUE_NUMBER && fabs(exact->number) >= 0x1p53)
        return brume_fail(error, BRUME_EUNSUPPORTED, "write the number into the query",
                          "a scalar subquery of a public table has a number of 2^53 or more, which "
                          "would be rounded");
    return exact->kind == BRUME_VALUE_NUMBER
               ? put_number(exact->number, value, error)
               : brume_scalar_constant("double precision", NULL, value, error);
}
