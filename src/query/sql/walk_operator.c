/* Operators: arithmetic, comparisons, LIKE, IN, BETWEEN and their like. */
#include "query/expression/build_function.h"
#include "query/sql/walk_expression.h"

#include <string.h>

/* The pattern with backslash as its escape, whatever escape was typed. */
static const char *like_pattern(brume_walk_context *c, const PgQuery__Node *node)
{
    brume_builder *builder = &c->walk->builder;
    const char *pattern = brume_walk_constant_text(node), *escape = "\\";
    if (node && node->node_case == PG_QUERY__NODE__NODE_FUNC_CALL) {
        const char *name = brume_walk_name(node->func_call->funcname, node->func_call->n_funcname);
        if (name && strcmp(name, "like_escape") == 0 && node->func_call->n_args == 2) {
            pattern = brume_walk_constant_text(node->func_call->args[0]);
            escape = brume_walk_constant_text(node->func_call->args[1]);
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

static brume_node walk_like(brume_walk_context *c, const PgQuery__AExpr *expression)
{
    const char *name = brume_walk_name(expression->name, expression->n_name);
    bool folds = expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE;
    bool negated = name && *name == '!';
    const char *pattern = like_pattern(c, expression->rexpr);
    if (!pattern)
        return NULL;
    return brume_build_like(&c->walk->builder,
                            folds     ? negated ? BRUME_OPERATION_NOT_ILIKE : BRUME_OPERATION_ILIKE
                            : negated ? BRUME_OPERATION_NOT_LIKE
                                      : BRUME_OPERATION_LIKE,
                            brume_walk_node(c, expression->lexpr, false), pattern);
}

/* x ~ 'pattern', and ~* !~ !~*. */
static brume_node walk_matches(brume_walk_context *c, const PgQuery__AExpr *expression,
                               const char *name)
{
    brume_builder *builder = &c->walk->builder;
    bool negated = *name == '!';
    const char *pattern = brume_walk_constant_text(expression->rexpr);
    if (!pattern)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write x ~ '^ab'",
                                "a pattern must be a constant");
    brume_node matches = brume_build_matches(builder, brume_walk_node(c, expression->lexpr, false),
                                             pattern, strcmp(name + negated, "~*") == 0, false);
    return negated && matches ? brume_build_logic(builder, BRUME_OPERATION_NOT, &matches, 1)
                              : matches;
}

static brume_node walk_list(brume_walk_context *c, const PgQuery__AExpr *expression, bool inside)
{
    const PgQuery__Node *right = expression->rexpr;
    bool negated = strcmp(brume_walk_name(expression->name, expression->n_name), "<>") == 0;
    if (!right || right->node_case != PG_QUERY__NODE__NODE_LIST)
        return brume_walk_refuse(c->walk, right);
    size_t count = right->list->n_items;
    const brume_node *list = brume_walk_nodes(c, right->list->items, count, inside);
    if (!list)
        return NULL;
    return brume_build_in(&c->walk->builder, negated, brume_walk_node(c, expression->lexpr, inside),
                          list, count);
}

static brume_node walk_plain_operator(brume_walk_context *c, const PgQuery__AExpr *expression,
                                      bool inside)
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
        brume_node a = brume_walk_node(c, expression->rexpr, inside);
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
                                       brume_walk_node(c, expression->lexpr, false),
                                       brume_walk_node(c, expression->rexpr, false));
        bool subtract = operators[i].operation == BRUME_OPERATION_SUBTRACT;
        if (brume_walk_is_interval(expression->rexpr) &&
            (subtract || operators[i].operation == BRUME_OPERATION_ADD))
            return brume_walk_interval(c, expression->lexpr, expression->rexpr, subtract, inside);
        return brume_build_arithmetic(builder, operators[i].operation,
                                      brume_walk_node(c, expression->lexpr, inside),
                                      brume_walk_node(c, expression->rexpr, inside));
    }
    if (strcmp(name, "||") == 0 && expression->lexpr) {
        brume_node both[] = {brume_walk_node(c, expression->lexpr, inside),
                             brume_walk_node(c, expression->rexpr, inside)};
        return brume_build_choice(builder, BRUME_OPERATION_JOIN_TEXT, both, 2);
    }
    if (strcmp(name, "^") == 0 && expression->lexpr) {
        brume_node both[] = {brume_walk_node(c, expression->lexpr, inside),
                             brume_walk_node(c, expression->rexpr, inside)};
        return brume_build_function(builder, "power", both, 2);
    }
    if (expression->lexpr && (strcmp(name, "~") == 0 || strcmp(name, "~*") == 0 ||
                              strcmp(name, "!~") == 0 || strcmp(name, "!~*") == 0))
        return walk_matches(c, expression, name);
    return brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL,
                            "the operator %.20s is not supported", name);
}

brume_node brume_walk_operator(brume_walk_context *c, const PgQuery__AExpr *expression, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    brume_node both[2];
    switch (expression->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
        return walk_plain_operator(c, expression, inside);
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
        return brume_build_compare(builder,
                                   expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT
                                       ? BRUME_OPERATION_DISTINCT
                                       : BRUME_OPERATION_NOT_DISTINCT,
                                   brume_walk_node(c, expression->lexpr, false),
                                   brume_walk_node(c, expression->rexpr, false));
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
        both[0] = brume_walk_node(c, expression->lexpr, inside);
        both[1] = brume_walk_node(c, expression->rexpr, inside);
        return brume_build_choice(builder, BRUME_OPERATION_NULLIF, both, 2);
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return walk_list(c, expression, false);
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE:
        return walk_like(c, expression);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
        if (!expression->rexpr || expression->rexpr->node_case != PG_QUERY__NODE__NODE_LIST ||
            expression->rexpr->list->n_items != 2)
            return brume_walk_refuse(c->walk, expression->rexpr);
        return brume_build_between(builder,
                                   expression->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN,
                                   brume_walk_node(c, expression->lexpr, false),
                                   brume_walk_node(c, expression->rexpr->list->items[0], false),
                                   brume_walk_node(c, expression->rexpr->list->items[1], false));
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write the lower bound first",
                                "BETWEEN SYMMETRIC is not supported");
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR:
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write regexp_full_match(x, 'a.*')",
                                "SIMILAR TO is not supported");
    default:
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "use IN",
                                "ANY and ALL are not supported");
    }
}
