/* Row expressions: the allow-list of libpg_query's expression nodes. */
#include "query/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "query/literal.h"

typedef struct context {
    brume_walk *walk;
    brume_walk_scope *scope;
    brume_walk_group *group;
} context;

static brume_node walk_node(context *c, const PgQuery__Node *node, bool inside);

/* ---- columns ---- */

/* The column `name` of the scope; false: there are several. */
static bool find_column(brume_builder *builder, const brume_walk_scope *scope, const char *table,
                        const char *name, int any_case, const brume_relation_column **found,
                        bool *table_seen)
{
    for (const brume_walk_source *each = scope->sources; each; each = each->next) {
        if (table && strcasecmp(table, each->name) != 0)
            continue;
        *table_seen = true;
        for (size_t i = 0; i < each->column_count; i++) {
            const char *own = each->columns[i].name;
            if (!own || (any_case ? strcasecmp(own, name) : strcmp(own, name)) != 0)
                continue;
            if (*found) {
                brume_build_fail(builder, BRUME_EARGUMENT,
                                 "say which: TABLE.COLUMN, or quote the exact name",
                                 "the column '%.60s' is ambiguous", name);
                return false;
            }
            *found = &each->columns[i];
        }
    }
    return true;
}

static brume_node walk_column(context *c, const PgQuery__ColumnRef *reference, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    const char *parts[2] = {NULL, NULL};
    if (reference->n_fields < 1 || reference->n_fields > 2)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write TABLE.COLUMN",
                                "a column name has too many parts");
    for (size_t i = 0; i < reference->n_fields; i++) {
        if (reference->fields[i]->node_case != PG_QUERY__NODE__NODE_STRING)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED, "name the columns",
                                    "* is not supported here");
        parts[i] = reference->fields[i]->string->sval;
    }
    const char *table = reference->n_fields == 2 ? parts[0] : NULL;
    const char *name = reference->n_fields == 2 ? parts[1] : parts[0];
    const brume_relation_column *found = NULL;
    bool table_seen = false;
    /* The nearest scope first; there exact names first, then, for files whose headers have
     * capitals, whatever the case. */
    const brume_walk_scope *scope = c->scope;
    do {
        for (int pass = 0; pass < 2 && !found; pass++)
            if (!find_column(builder, scope, table, name, pass, &found, &table_seen))
                return NULL;
        scope = scope->outer;
    } while (scope && !found);
    if (found) {
        if (found->reference->type.kind == BRUME_TYPE_REFUSED)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                    "convert it in the source, or leave it out",
                                    "the column '%.60s' has a type that brume does not read", name);
        return inside ? found->inside : found->reference;
    }
    const char *names[BRUME_WALK_COLUMNS];
    size_t count = 0;
    for (const brume_walk_source *each = c->scope->sources; each; each = each->next)
        for (size_t i = 0; i < each->column_count && count < BRUME_WALK_COLUMNS; i++)
            if (each->columns[i].name)
                names[count++] = each->columns[i].name;
    const char *near = brume_text_nearest(name, names, count);
    char hint[120] = "";
    if (table && !table_seen)
        snprintf(hint, sizeof hint, "there is no '%.60s' in FROM", table);
    else if (near)
        snprintf(hint, sizeof hint, "did you mean '%.80s'?", near);
    return brume_build_fail(builder, BRUME_EUNKNOWN, hint, "no column '%.60s'", name);
}

/* ---- constants and casts ---- */

static brume_node walk_constant(context *c, const PgQuery__AConst *constant)
{
    brume_builder *builder = &c->walk->builder;
    char text[32];
    if (constant->isnull)
        return brume_build_untyped(builder, NULL);
    switch (constant->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        snprintf(text, sizeof text, "%d", constant->ival->ival);
        return brume_build_number(builder, text);
    case PG_QUERY__A__CONST__VAL_FVAL:
        return brume_build_number(builder, constant->fval->fval);
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
        return brume_build_literal(builder, (brume_type){BRUME_TYPE_BOOLEAN, 0, 0},
                                   constant->boolval->boolval ? "true" : "false");
    case PG_QUERY__A__CONST__VAL_SVAL:
        return brume_build_untyped(builder, constant->sval->sval);
    default:
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write a number or a text",
                                "bit strings are not supported");
    }
}

static bool type_modifier(const PgQuery__TypeName *type, size_t index, int *value)
{
    if (index >= type->n_typmods || type->typmods[index]->node_case != PG_QUERY__NODE__NODE_A_CONST)
        return false;
    const PgQuery__AConst *constant = type->typmods[index]->a_const;
    if (constant->isnull || constant->val_case != PG_QUERY__A__CONST__VAL_IVAL)
        return false;
    *value = constant->ival->ival;
    return true;
}

static bool cast_type(context *c, const PgQuery__TypeName *type, brume_type *out)
{
    static const struct {
        const char *name;
        brume_type_kind kind;
    } known[] = {
        {"bool", BRUME_TYPE_BOOLEAN},  {"boolean", BRUME_TYPE_BOOLEAN},
        {"int2", BRUME_TYPE_INTEGER},  {"int4", BRUME_TYPE_INTEGER},
        {"int8", BRUME_TYPE_BIGINT},   {"float4", BRUME_TYPE_DOUBLE},
        {"float8", BRUME_TYPE_DOUBLE}, {"double", BRUME_TYPE_DOUBLE},
        {"text", BRUME_TYPE_TEXT},     {"varchar", BRUME_TYPE_TEXT},
        {"date", BRUME_TYPE_DATE},     {"timestamp", BRUME_TYPE_TIMESTAMP},
    };
    brume_builder *builder = &c->walk->builder;
    const char *name = brume_walk_name(type->names, type->n_names);
    if (!name || type->setof || type->pct_type || type->n_array_bounds) {
        brume_build_fail(
            builder, BRUME_EUNSUPPORTED,
            "cast to boolean, integer, bigint, numeric(p,s), double precision, text, date or timestamp",
            "a cast to this type is not supported");
        return false;
    }
    if (strcmp(name, "numeric") == 0 || strcmp(name, "decimal") == 0) {
        int precision = 0, scale = 0;
        if (!type_modifier(type, 0, &precision) || type->n_typmods > 2 ||
            (type->n_typmods == 2 && !type_modifier(type, 1, &scale)) || precision < 1 ||
            precision > 38 || scale < 0 || scale > precision) {
            brume_build_fail(builder, BRUME_EUNSUPPORTED, "write numeric(p,s), p at most 38",
                             "numeric needs its digits");
            return false;
        }
        *out = (brume_type){BRUME_TYPE_DECIMAL, precision, scale};
        return true;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0 && type->n_typmods == 0) {
            *out = (brume_type){known[i].kind, 0, 0};
            return true;
        }
    brume_build_fail(builder, BRUME_EUNSUPPORTED,
                     "use boolean, integer, bigint, numeric(p,s), double precision, text, date or "
                     "timestamp",
                     "a cast to %.40s%s is not supported", name,
                     type->n_typmods ? " with a length" : "");
    return false;
}

static bool is_interval(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_TYPE_CAST)
        return false;
    const char *name =
        brume_walk_name(node->type_cast->type_name->names, node->type_cast->type_name->n_names);
    return name && strcmp(name, "interval") == 0;
}

/* date or timestamp + or - INTERVAL '...' */
static brume_node walk_interval(context *c, const PgQuery__Node *time, const PgQuery__Node *node,
                                bool subtract, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    const PgQuery__TypeCast *cast = node->type_cast;
    int64_t months, days, microseconds;
    if (cast->type_name->n_typmods || cast->arg->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        cast->arg->a_const->isnull ||
        cast->arg->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL ||
        !brume_literal_interval(cast->arg->a_const->sval->sval, &months, &days, &microseconds))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write INTERVAL '1 month 3 days'",
                                "this interval cannot be read");
    int sign = subtract ? -1 : 1;
    return brume_build_interval(builder, walk_node(c, time, inside), sign * months, sign * days,
                                sign * microseconds);
}

/* ---- operators ---- */

static const char *constant_text(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_A_CONST || node->a_const->isnull ||
        node->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL)
        return NULL;
    return node->a_const->sval->sval;
}

/* The pattern with backslash as its escape, whatever escape was typed. */
static const char *like_pattern(context *c, const PgQuery__Node *node)
{
    brume_builder *builder = &c->walk->builder;
    const char *pattern = constant_text(node), *escape = "\\";
    if (node && node->node_case == PG_QUERY__NODE__NODE_FUNC_CALL) {
        const char *name = brume_walk_name(node->func_call->funcname, node->func_call->n_funcname);
        if (name && strcmp(name, "like_escape") == 0 && node->func_call->n_args == 2) {
            pattern = constant_text(node->func_call->args[0]);
            escape = constant_text(node->func_call->args[1]);
        }
    }
    if (!pattern || !escape || strlen(escape) > 1) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "write x LIKE 'a%'",
                         "a LIKE pattern must be a constant, its escape one character");
        return NULL;
    }
    char *rewritten = brume_arena_allocate(builder->arena, 2 * strlen(pattern) + 2);
    if (!rewritten) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    char *end = rewritten;
    for (; *pattern; pattern++) {
        if (*escape && *pattern == *escape) {
            *end++ = '\\';
            if (!pattern[1])
                break; /* a lone escape: refused by the builder */
            *end++ = *++pattern;
        } else {
            if (*pattern == '\\')
                *end++ = '\\';
            *end++ = *pattern;
        }
    }
    return rewritten;
}

static brume_node walk_list(context *c, const PgQuery__AExpr *expression, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    const PgQuery__Node *right = expression->rexpr;
    bool negated = strcmp(brume_walk_name(expression->name, expression->n_name), "<>") == 0;
    if (!right || right->node_case != PG_QUERY__NODE__NODE_LIST)
        return brume_walk_refuse(c->walk, right);
    size_t count = right->list->n_items;
    brume_node *list = brume_arena_allocate(builder->arena, (count + 1) * sizeof *list);
    if (!list)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        list[i] = walk_node(c, right->list->items[i], inside);
    return brume_build_in(builder, negated, walk_node(c, expression->lexpr, inside), list, count);
}

static brume_node walk_operator(context *c, const PgQuery__AExpr *expression, bool inside)
{
    static const struct {
        const char *name;
        brume_operation operation;
        int kind; /* 0 arithmetic, 1 comparison */
    } operators[] = {
        {"+", BRUME_OPERATION_ADD, 0},
        {"-", BRUME_OPERATION_SUBTRACT, 0},
        {"*", BRUME_OPERATION_MULTIPLY, 0},
        {"/", BRUME_OPERATION_DIVIDE, 0},
        {"%", BRUME_OPERATION_REMAINDER, 0},
        {"=", BRUME_OPERATION_EQUAL, 1},
        {"<>", BRUME_OPERATION_NOT_EQUAL, 1},
        {"<", BRUME_OPERATION_LESS, 1},
        {"<=", BRUME_OPERATION_LESS_EQUAL, 1},
        {">", BRUME_OPERATION_GREATER, 1},
        {">=", BRUME_OPERATION_GREATER_EQUAL, 1},
    };
    brume_builder *builder = &c->walk->builder;
    const char *name =
        expression->n_name == 1 ? brume_walk_name(expression->name, expression->n_name) : NULL;
    if (!name)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write the operator alone",
                                "a qualified operator is not supported");
    if (!expression->lexpr) {
        brume_node a = walk_node(c, expression->rexpr, inside);
        if (strcmp(name, "-") == 0)
            return brume_build_unary(builder, BRUME_OPERATION_NEGATE, a);
        if (strcmp(name, "+") == 0)
            return a;
    }
    for (size_t i = 0; expression->lexpr && i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(name, operators[i].name) != 0)
            continue;
        if (operators[i].kind == 1)
            return brume_build_compare(builder, operators[i].operation,
                                       walk_node(c, expression->lexpr, false),
                                       walk_node(c, expression->rexpr, false));
        bool subtract = operators[i].operation == BRUME_OPERATION_SUBTRACT;
        if (is_interval(expression->rexpr) &&
            (subtract || operators[i].operation == BRUME_OPERATION_ADD))
            return walk_interval(c, expression->lexpr, expression->rexpr, subtract, inside);
        return brume_build_arithmetic(builder, operators[i].operation,
                                      walk_node(c, expression->lexpr, inside),
                                      walk_node(c, expression->rexpr, inside));
    }
    if (strcmp(name, "||") == 0 && expression->lexpr) {
        brume_node both[] = {walk_node(c, expression->lexpr, inside),
                             walk_node(c, expression->rexpr, inside)};
        return brume_build_choice(builder, BRUME_OPERATION_JOIN_TEXT, both, 2);
    }
    if (strcmp(name, "^") == 0 && expression->lexpr) {
        brume_node both[] = {walk_node(c, expression->lexpr, inside),
                             walk_node(c, expression->rexpr, inside)};
        return brume_build_function(builder, "power", both, 2);
    }
    return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                            *name == '~' || *name == '!' ? "use LIKE" : NULL,
                            "the operator %.20s is not supported", name);
}

static brume_node walk_a_expression(context *c, const PgQuery__AExpr *expression, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    const char *name = brume_walk_name(expression->name, expression->n_name);
    brume_node both[2];
    switch (expression->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        return walk_operator(c, expression, inside);
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
        return brume_build_compare(builder,
                                   expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT
                                       ? BRUME_OPERATION_DISTINCT
                                       : BRUME_OPERATION_NOT_DISTINCT,
                                   walk_node(c, expression->lexpr, false),
                                   walk_node(c, expression->rexpr, false));
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
        both[0] = walk_node(c, expression->lexpr, inside);
        both[1] = walk_node(c, expression->rexpr, inside);
        return brume_build_choice(builder, BRUME_OPERATION_NULLIF, both, 2);
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return walk_list(c, expression, false);
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE: {
        bool folds = expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE;
        bool negated = name && *name == '!';
        const char *pattern = like_pattern(c, expression->rexpr);
        if (!pattern)
            return NULL;
        return brume_build_like(builder,
                                folds ? negated ? BRUME_OPERATION_NOT_ILIKE : BRUME_OPERATION_ILIKE
                                : negated ? BRUME_OPERATION_NOT_LIKE
                                          : BRUME_OPERATION_LIKE,
                                walk_node(c, expression->lexpr, false), pattern);
    }
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
        if (!expression->rexpr || expression->rexpr->node_case != PG_QUERY__NODE__NODE_LIST ||
            expression->rexpr->list->n_items != 2)
            return brume_walk_refuse(c->walk, expression->rexpr);
        return brume_build_between(builder,
                                   expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN,
                                   walk_node(c, expression->lexpr, false),
                                   walk_node(c, expression->rexpr->list->items[0], false),
                                   walk_node(c, expression->rexpr->list->items[1], false));
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write the lower bound first",
                                "BETWEEN SYMMETRIC is not supported");
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR:
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "use LIKE",
                                "SIMILAR TO is not supported");
    default:
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "use IN",
                                "ANY and ALL are not supported");
    }
}

/* ---- other nodes ---- */

static brume_node walk_case(context *c, const PgQuery__CaseExpr *expression, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    size_t count = 2 * expression->n_args + 1;
    brume_node *all = brume_arena_allocate(builder->arena, count * sizeof *all);
    if (!all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    brume_node subject = expression->arg ? walk_node(c, expression->arg, false) : NULL;
    if (expression->arg && !subject)
        return NULL;
    for (size_t i = 0; i < expression->n_args; i++) {
        if (expression->args[i]->node_case != PG_QUERY__NODE__NODE_CASE_WHEN)
            return brume_walk_refuse(c->walk, expression->args[i]);
        const PgQuery__CaseWhen *when = expression->args[i]->case_when;
        all[2 * i] = walk_node(c, when->expr, false);
        if (subject)
            all[2 * i] = brume_build_compare(builder, BRUME_OPERATION_EQUAL, subject, all[2 * i]);
        all[2 * i + 1] = walk_node(c, when->result, inside);
    }
    if (expression->defresult)
        all[count - 1] = walk_node(c, expression->defresult, inside);
    return brume_build_case(builder, all, expression->defresult ? count : count - 1);
}

static brume_node walk_choice(context *c, brume_operation operation, PgQuery__Node *const *nodes,
                              size_t count, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    brume_node *all = brume_arena_allocate(builder->arena, (count + 1) * sizeof *all);
    if (!all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        all[i] = walk_node(c, nodes[i], inside);
    return brume_build_choice(builder, operation, all, count);
}

static brume_node walk_logic(context *c, const PgQuery__BoolExpr *expression)
{
    brume_builder *builder = &c->walk->builder;
    brume_node *all = brume_arena_allocate(builder->arena, (expression->n_args + 1) * sizeof *all);
    if (!all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < expression->n_args; i++)
        all[i] = walk_node(c, expression->args[i], false);
    brume_operation operation = expression->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR
                                    ? BRUME_OPERATION_AND
                                : expression->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR
                                    ? BRUME_OPERATION_OR
                                    : BRUME_OPERATION_NOT;
    return brume_build_logic(builder, operation, all, expression->n_args);
}

static brume_node walk_function(context *c, const PgQuery__Node *node, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    const PgQuery__FuncCall *call = node->func_call;
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (!name)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write the function without a schema",
                                "a function of another schema is not supported");
    if (call->over)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "use GROUP BY; per unit, a subquery with GROUP BY the unit",
                                "window functions are not supported");
    if (brume_walk_is_aggregate(node)) {
        if (c->group)
            return brume_walk_fold(c->walk, c->group, call);
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "aggregate in a subquery that groups by the unit, then join it",
                                "the aggregate %.40s cannot stand here", name);
    }
    if (call->func_variadic || call->n_agg_order)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write plain arguments",
                                "VARIADIC and ORDER BY in a call are not supported");
    brume_node arguments[100];
    if (call->n_args > 100)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "nest the calls",
                                "too many arguments");
    for (size_t i = 0; i < call->n_args; i++)
        arguments[i] = walk_node(c, call->args[i], inside);
    return brume_build_function(builder, name, arguments, call->n_args);
}

static brume_node walk_plain(context *c, const PgQuery__Node *node, bool inside)
{
    static const brume_operation truths[] = {
        [PG_QUERY__BOOL_TEST_TYPE__IS_TRUE] = BRUME_OPERATION_IS_TRUE,
        [PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE] = BRUME_OPERATION_IS_NOT_TRUE,
        [PG_QUERY__BOOL_TEST_TYPE__IS_FALSE] = BRUME_OPERATION_IS_FALSE,
        [PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE] = BRUME_OPERATION_IS_NOT_FALSE,
        [PG_QUERY__BOOL_TEST_TYPE__IS_UNKNOWN] = BRUME_OPERATION_IS_NULL,
        [PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN] = BRUME_OPERATION_IS_NOT_NULL,
    };
    brume_builder *builder = &c->walk->builder;
    brume_type type;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
        return walk_column(c, node->column_ref, inside);
    case PG_QUERY__NODE__NODE_A_CONST:
        return walk_constant(c, node->a_const);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return walk_a_expression(c, node->a_expr, inside);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return walk_logic(c, node->bool_expr);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        if (node->null_test->argisrow)
            return brume_walk_refuse(c->walk, node->null_test->arg);
        return brume_build_test(builder,
                                node->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NULL
                                    ? BRUME_OPERATION_IS_NULL
                                    : BRUME_OPERATION_IS_NOT_NULL,
                                walk_node(c, node->null_test->arg, false));
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        if (node->boolean_test->booltesttype < PG_QUERY__BOOL_TEST_TYPE__IS_TRUE ||
            node->boolean_test->booltesttype > PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN)
            return brume_walk_refuse(c->walk, node);
        return brume_build_test(builder, truths[node->boolean_test->booltesttype],
                                walk_node(c, node->boolean_test->arg, false));
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return walk_case(c, node->case_expr, inside);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return walk_choice(c, BRUME_OPERATION_COALESCE, node->coalesce_expr->args,
                           node->coalesce_expr->n_args, inside);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return walk_choice(c,
                           node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST
                               ? BRUME_OPERATION_GREATEST
                               : BRUME_OPERATION_LEAST,
                           node->min_max_expr->args, node->min_max_expr->n_args, inside);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        if (is_interval(node))
            return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                    "add it to a date or timestamp: d + INTERVAL '1 day'",
                                    "an interval cannot stand alone");
        if (!cast_type(c, node->type_cast->type_name, &type))
            return NULL;
        return brume_build_cast(builder, walk_node(c, node->type_cast->arg, inside), type);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return walk_function(c, node, inside);
    default:
        return brume_walk_refuse(c->walk, node);
    }
}

/* ---- any node ---- */

static brume_node walk_node(context *c, const PgQuery__Node *node, bool inside)
{
    if (c->walk->builder.status != BRUME_OK)
        return NULL;
    if (!node)
        return brume_walk_refuse(c->walk, node);
    if (c->group) {
        brume_node key = brume_walk_group_key(c->walk, c->group, node);
        if (key)
            return key;
        if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
            context rows = {c->walk, c->group->rows, NULL};
            if (!walk_column(&rows, node->column_ref, false))
                return NULL;
            return brume_build_fail(&c->walk->builder, BRUME_EARGUMENT,
                                    "add it to GROUP BY, or put it in an aggregate",
                                    "a column of the subquery is neither grouped nor aggregated");
        }
    }
    return walk_plain(c, node, inside);
}

brume_node brume_walk_expression(brume_walk *walk, brume_walk_scope *scope, brume_walk_group *group,
                                 const PgQuery__Node *node, bool inside)
{
    context c = {walk, scope, group};
    return walk_node(&c, node, inside);
}
