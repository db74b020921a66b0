/* Expressions over keys and aggregates: what is shown of what was released. */
#include "query/sql/walk_outer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

brume_formula_node brume_walk_outer_fail(brume_walk_outer *o, brume_status status, const char *hint,
                                         const char *message)
{
    brume_build_fail(&o->walk->builder, status, hint, "%s", message);
    return NULL;
}

brume_formula *brume_walk_outer_make(brume_walk_outer *o, brume_formula_kind kind,
                                     const brume_formula_node *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!arguments[i])
            return NULL;
    brume_formula *node = brume_arena_allocate(o->walk->builder.arena, sizeof *node);
    brume_formula_node *own =
        count ? brume_arena_copy(o->walk->builder.arena, arguments, count * sizeof *own) : NULL;
    if (!node || (count && !own)) {
        brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    *node = (brume_formula){.kind = kind, .argument_count = count, .arguments = own};
    return node;
}

/* The key that `node` is, if it is one. */
static brume_formula_node find_key(brume_walk_outer *o, const PgQuery__Node *node)
{
    brume_builder *builder = &o->walk->builder, saved = *builder;
    brume_error ignored;
    if (o->key_count == 0 || brume_walk_has_aggregate(node) ||
        node->node_case == PG_QUERY__NODE__NODE_A_CONST)
        return NULL;
    builder->error = &ignored;
    brume_node plain = brume_walk_expression(o->walk, o->scope, NULL, node, false);
    builder->error = saved.error;
    builder->status = saved.status;
    for (size_t i = 0; plain && i < o->key_count; i++)
        if (brume_expression_equal(o->keys[i].expression, plain)) {
            brume_formula *key = brume_walk_outer_make(o, BRUME_FORMULA_KEY, NULL, 0);
            if (key)
                key->index = i;
            return key;
        }
    return NULL;
}

static brume_formula_node formula_literal(brume_walk_outer *o, const PgQuery__AConst *constant)
{
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_LITERAL, NULL, 0);
    if (!node || constant->isnull)
        return node;
    switch (constant->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
        node->value =
            (brume_value){.kind = BRUME_VALUE_NUMBER, .number = (double)constant->ival->ival};
        return node;
    case PG_QUERY__A__CONST__VAL_FVAL:
        node->value =
            (brume_value){.kind = BRUME_VALUE_NUMBER, .number = strtod(constant->fval->fval, NULL)};
        if (!(node->value.number < 1e300 && node->value.number > -1e300))
            return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL, "a number is too large");
        return node;
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
        node->value =
            (brume_value){.kind = BRUME_VALUE_BOOLEAN, .boolean = constant->boolval->boolval};
        return node;
    case PG_QUERY__A__CONST__VAL_SVAL:
        node->value =
            (brume_value){.kind = BRUME_VALUE_TEXT,
                          .text = brume_arena_text(o->walk->builder.arena, constant->sval->sval),
                          .length = strlen(constant->sval->sval)};
        return node->value.text ? node
                                : brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
    default:
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL, "bit strings are not supported");
    }
}

/* Both sides, the left one first, so that aggregates are numbered as they are written. */
static brume_formula_node walk_pair(brume_walk_outer *o, brume_formula_kind kind,
                                    const PgQuery__Node *left, const PgQuery__Node *right)
{
    brume_formula_node both[2];
    both[0] = brume_walk_formula(o, left);
    both[1] = brume_walk_formula(o, right);
    return brume_walk_outer_make(o, kind, both, 2);
}

static brume_formula_node formula_pair(brume_walk_outer *o, brume_formula_kind kind,
                                       brume_formula_node a, brume_formula_node b)
{
    brume_formula_node both[] = {a, b};
    return brume_walk_outer_make(o, kind, both, 2);
}

static brume_formula_node formula_negated(brume_walk_outer *o, bool negated,
                                          brume_formula_node node)
{
    return negated ? brume_walk_outer_make(o, BRUME_FORMULA_NOT, &node, 1) : node;
}

static brume_formula_node formula_operator(brume_walk_outer *o, const PgQuery__AExpr *expression)
{
    static const struct {
        const char *name;
        brume_formula_kind kind;
    } operators[] = {
        {"+", BRUME_FORMULA_ADD},      {"-", BRUME_FORMULA_SUBTRACT},
        {"*", BRUME_FORMULA_MULTIPLY}, {"/", BRUME_FORMULA_DIVIDE},
        {"=", BRUME_FORMULA_EQUAL},    {"<>", BRUME_FORMULA_NOT_EQUAL},
        {"<", BRUME_FORMULA_LESS},     {"<=", BRUME_FORMULA_LESS_EQUAL},
        {">", BRUME_FORMULA_GREATER},  {">=", BRUME_FORMULA_GREATER_EQUAL},
    };
    const char *name = brume_walk_name(expression->name, expression->n_name);
    const PgQuery__Node *right = expression->rexpr;
    brume_formula_node both[2];
    switch (expression->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        if (!name || !right)
            break;
        if (!expression->lexpr) {
            brume_formula_node a = brume_walk_formula(o, right);
            if (strcmp(name, "-") == 0)
                return brume_walk_outer_make(o, BRUME_FORMULA_NEGATE, &a, 1);
            if (strcmp(name, "+") == 0)
                return a;
            break;
        }
        for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
            if (strcmp(name, operators[i].name) == 0)
                return walk_pair(o, operators[i].kind, expression->lexpr, right);
        break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
        return walk_pair(o, BRUME_FORMULA_NULLIF, expression->lexpr, right);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
        if (!right || right->node_case != PG_QUERY__NODE__NODE_LIST || right->list->n_items != 2)
            break;
        both[0] =
            walk_pair(o, BRUME_FORMULA_GREATER_EQUAL, expression->lexpr, right->list->items[0]);
        both[1] = walk_pair(o, BRUME_FORMULA_LESS_EQUAL, expression->lexpr, right->list->items[1]);
        return formula_negated(o, expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN,
                               brume_walk_outer_make(o, BRUME_FORMULA_AND, both, 2));
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN: {
        if (!right || right->node_case != PG_QUERY__NODE__NODE_LIST || right->list->n_items == 0)
            break;
        brume_formula_node any = NULL;
        for (size_t i = 0; i < right->list->n_items; i++) {
            brume_formula_node each =
                walk_pair(o, BRUME_FORMULA_EQUAL, expression->lexpr, right->list->items[i]);
            any = i ? formula_pair(o, BRUME_FORMULA_OR, any, each) : each;
            if (!any)
                return NULL;
        }
        return formula_negated(o, name && strcmp(name, "<>") == 0, any);
    }
    default:
        break;
    }
    return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                                 "use + - * /, comparisons, AND, OR, NOT, CASE",
                                 "this operator is not supported on aggregates");
}

static brume_formula_node formula_list(brume_walk_outer *o, brume_formula_kind kind,
                                       PgQuery__Node *const *nodes, size_t count)
{
    brume_formula_node *all =
        brume_arena_allocate(o->walk->builder.arena, (count + 1) * sizeof *all);
    if (!all)
        return brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        all[i] = brume_walk_formula(o, nodes[i]);
    return brume_walk_outer_make(o, kind, all, count);
}

static brume_formula_node formula_case(brume_walk_outer *o, const PgQuery__CaseExpr *expression)
{
    size_t count = 2 * expression->n_args + 1;
    brume_formula_node *all = brume_arena_allocate(o->walk->builder.arena, count * sizeof *all);
    if (!all)
        return brume_walk_outer_fail(o, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < expression->n_args; i++) {
        if (expression->args[i]->node_case != PG_QUERY__NODE__NODE_CASE_WHEN)
            return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL, "this CASE is not supported");
        all[2 * i] = brume_walk_formula(o, expression->args[i]->case_when->expr);
        if (expression->arg)
            all[2 * i] = formula_pair(o, BRUME_FORMULA_EQUAL,
                                      brume_walk_formula(o, expression->arg), all[2 * i]);
        all[2 * i + 1] = brume_walk_formula(o, expression->args[i]->case_when->result);
    }
    if (expression->defresult)
        all[count - 1] = brume_walk_formula(o, expression->defresult);
    return brume_walk_outer_make(o, BRUME_FORMULA_CASE, all,
                                 expression->defresult ? count : count - 1);
}

/* A number that is written down, with a sign or without; false: something else is. */
static bool read_number(const PgQuery__Node *node, double *out)
{
    const PgQuery__AConst *constant =
        node->node_case == PG_QUERY__NODE__NODE_A_CONST ? node->a_const : NULL;
    if (!constant || constant->isnull ||
        (constant->val_case != PG_QUERY__A__CONST__VAL_IVAL &&
         constant->val_case != PG_QUERY__A__CONST__VAL_FVAL))
        return false;
    *out = constant->val_case == PG_QUERY__A__CONST__VAL_IVAL ? (double)constant->ival->ival
                                                              : strtod(constant->fval->fval, NULL);
    return *out < 1e300 && *out > -1e300;
}

/* released(value, error_95): a number that was released before. Without its error none is known. */
static brume_formula_node formula_released(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    double value = 0, error_95 = INFINITY;
    if (call->n_args < 1 || call->n_args > 2 || !read_number(call->args[0], &value) ||
        (call->n_args == 2 && (!read_number(call->args[1], &error_95) || !(error_95 >= 0))))
        return brume_walk_outer_fail(o, BRUME_EARGUMENT, "such as released(41.5, 0.2)",
                                     "released takes a number and its error, 0 or more");
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_LITERAL, NULL, 0);
    if (node) {
        node->value = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = value};
        node->released = true;
        node->error_95 = error_95;
    }
    return node;
}

/* A text that is written down and cast to a number is that number. */
static brume_formula_node as_number(brume_walk_outer *o, brume_formula_node argument)
{
    if (!argument || argument->kind != BRUME_FORMULA_LITERAL ||
        argument->value.kind != BRUME_VALUE_TEXT)
        return argument;
    char *end = NULL;
    double number = strtod(argument->value.text, &end);
    if (end == argument->value.text || *end || !(fabs(number) < 1e300))
        return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL,
                                     "a text that is cast to a number is none");
    brume_formula *node = brume_walk_outer_make(o, BRUME_FORMULA_LITERAL, NULL, 0);
    if (node)
        node->value = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = number};
    return node;
}

/* power(x, 2): x times x, so that its bar follows as that of a product does. */
static brume_formula_node formula_power(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    enum { MOST = 8 };
    const PgQuery__Node *second = call->n_args == 2 ? call->args[1] : NULL;
    bool whole = second && second->node_case == PG_QUERY__NODE__NODE_A_CONST &&
                 !second->a_const->isnull &&
                 second->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL &&
                 second->a_const->ival->ival >= 1 && second->a_const->ival->ival <= MOST;
    if (!whole)
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, "write power(x, 2), or sqrt(x)",
                                     "power of an aggregate takes a whole number from 1 to 8");
    brume_formula_node x = brume_walk_formula(o, call->args[0]), product = x;
    for (int i = 1; i < second->a_const->ival->ival; i++) {
        brume_formula_node both[] = {product, x};
        product = brume_walk_outer_make(o, BRUME_FORMULA_MULTIPLY, both, 2);
    }
    return product;
}

static brume_formula_node formula_function(brume_walk_outer *o, const PgQuery__FuncCall *call)
{
    static const struct {
        const char *name;
        brume_formula_kind kind;
    } functions[] = {
        {"abs", BRUME_FORMULA_ABS},      {"round", BRUME_FORMULA_ROUND},
        {"floor", BRUME_FORMULA_FLOOR},  {"ceil", BRUME_FORMULA_CEIL},
        {"ceiling", BRUME_FORMULA_CEIL}, {"sqrt", BRUME_FORMULA_SQRT},
        {"ln", BRUME_FORMULA_LN},        {"exp", BRUME_FORMULA_EXP},
    };
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (name && strcmp(name, "released") == 0)
        return formula_released(o, call);
    if (name && (strcmp(name, "power") == 0 || strcmp(name, "pow") == 0))
        return formula_power(o, call);
    bool chooses = name && (strcmp(name, "if") == 0 || strcmp(name, "iff") == 0);
    if (name && (strcmp(name, "ifnull") == 0 || strcmp(name, "nvl") == 0 || chooses)) {
        if (call->n_args < 2 || call->n_args > (chooses ? 3 : 2))
            return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL, "wrong number of arguments");
        return formula_list(o, chooses ? BRUME_FORMULA_CASE : BRUME_FORMULA_COALESCE, call->args,
                            call->n_args);
    }
    for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(name, functions[i].name) != 0)
            continue;
        int digits = 0;
        bool rounds = functions[i].kind == BRUME_FORMULA_ROUND;
        if (rounds && call->n_args == 2) {
            const PgQuery__Node *second = call->args[1];
            if (second->node_case != PG_QUERY__NODE__NODE_A_CONST || second->a_const->isnull ||
                second->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL ||
                abs(second->a_const->ival->ival) > 15)
                return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL,
                                             "round takes a constant number of digits");
            digits = second->a_const->ival->ival;
        } else if (call->n_args != 1) {
            return brume_walk_outer_fail(o, BRUME_EARGUMENT, NULL,
                                         "the function takes one argument");
        }
        brume_formula_node argument = brume_walk_formula(o, call->args[0]);
        brume_formula *node = brume_walk_outer_make(o, functions[i].kind, &argument, 1);
        if (node)
            node->digits = digits;
        return node;
    }
    brume_build_fail(
        &o->walk->builder, BRUME_EUNSUPPORTED,
        "use abs, round, floor, ceil, sqrt, power, ln or exp; or GROUP BY the expression itself",
        "the function %.40s is not supported on aggregates and keys", name ? name : "");
    return NULL;
}

brume_formula_node brume_walk_formula(brume_walk_outer *o, const PgQuery__Node *node)
{
    if (o->walk->builder.status != BRUME_OK || !node)
        return NULL;
    brume_formula_node key = find_key(o, node);
    if (key || o->walk->builder.status != BRUME_OK)
        return key;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
        return formula_literal(o, node->a_const);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return formula_operator(o, node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return formula_list(
            o,
            node->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR  ? BRUME_FORMULA_AND
            : node->bool_expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? BRUME_FORMULA_OR
                                                                           : BRUME_FORMULA_NOT,
            node->bool_expr->args, node->bool_expr->n_args);
    case PG_QUERY__NODE__NODE_NULL_TEST: {
        if (node->null_test->argisrow)
            return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL, "rows are not supported");
        brume_formula_node argument = brume_walk_formula(o, node->null_test->arg);
        return formula_negated(
            o, node->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL,
            brume_walk_outer_make(o, BRUME_FORMULA_IS_NULL, &argument, 1));
    }
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
        return brume_walk_grouping_function(o, node->grouping_func);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return formula_list(o, BRUME_FORMULA_COALESCE, node->coalesce_expr->args,
                            node->coalesce_expr->n_args);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return formula_list(o,
                            node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST
                                ? BRUME_FORMULA_GREATEST
                                : BRUME_FORMULA_LEAST,
                            node->min_max_expr->args, node->min_max_expr->n_args);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return formula_case(o, node->case_expr);
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
        /* Released values are numbers: casts between numbers change nothing but integers. */
        const char *name =
            brume_walk_name(node->type_cast->type_name->names, node->type_cast->type_name->n_names);
        brume_formula_node argument = as_number(o, brume_walk_formula(o, node->type_cast->arg));
        if (name && (strcmp(name, "float8") == 0 || strcmp(name, "numeric") == 0))
            return argument;
        if (name && (strcmp(name, "int4") == 0 || strcmp(name, "int8") == 0))
            return brume_walk_outer_make(o, BRUME_FORMULA_ROUND, &argument, 1);
        return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED, NULL,
                                     "this cast of an aggregate is not supported");
    }
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        if (node->func_call->over)
            return brume_walk_window(o, node->func_call);
        if (brume_walk_is_aggregate(node))
            return brume_walk_aggregate(o, node->func_call);
        return formula_function(o, node->func_call);
    case PG_QUERY__NODE__NODE_COLUMN_REF: {
        const PgQuery__ColumnRef *reference = node->column_ref;
        if (reference->fields[reference->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR)
            return brume_walk_outer_fail(o, BRUME_EUNSUPPORTED,
                                         "ask for aggregates: COUNT(*), AVG(x) ...",
                                         "SELECT * would return rows of persons");
        for (size_t i = 0; o->named && reference->n_fields == 1 && i < o->named->output_count; i++)
            if (strcmp(o->named->outputs[i].name, reference->fields[0]->string->sval) == 0)
                return o->named->outputs[i].value;
        if (!brume_walk_expression(o->walk, o->scope, NULL, node, false))
            return NULL;
        brume_build_fail(
            &o->walk->builder, BRUME_EARGUMENT, "add it to GROUP BY, or put it in an aggregate",
            "the column '%.60s' is neither grouped nor aggregated: rows of persons are not released",
            reference->fields[reference->n_fields - 1]->string->sval);
        return NULL;
    }
    default:
        brume_walk_refuse(o->walk, node);
        return NULL;
    }
}
