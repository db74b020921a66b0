/* Row expressions: the allow-list of libpg_query's expression nodes.
 *
 * Constants, columns and operators come first; the walk of any node is at the end. */
#include "query/sql/walk.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "query/expression/build_function.h"
#include "query/expression/literal.h"

static const brume_node *walk_nodes(brume_walk_context *c, PgQuery__Node *const *nodes,
                                    size_t count, bool inside);

/* Constants, the types that a cast may name, and intervals. */

/* The text of a constant text, or NULL. */
static const char *walk_constant_text(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_A_CONST || node->a_const->isnull ||
        node->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL)
        return NULL;
    return node->a_const->sval->sval;
}

static brume_node brume_walk_constant(brume_walk *walk, const PgQuery__AConst *constant)
{
    brume_builder *builder = &walk->builder;
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

bool brume_walk_numeric(const PgQuery__TypeName *type, int *precision, int *scale)
{
    *scale = 0;
    return type_modifier(type, 0, precision) && type->n_typmods <= 2 &&
           (type->n_typmods < 2 || type_modifier(type, 1, scale)) && *precision >= 1 &&
           *precision <= 38 && *scale >= 0 && *scale <= *precision;
}

/* The type that a cast names; false: refused. */
static bool walk_cast_type(brume_walk *walk, const PgQuery__TypeName *type, brume_type *out)
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
    brume_builder *builder = &walk->builder;
    const char *name = brume_walk_name(type->names, type->n_names);
    if (!name || type->setof || type->pct_type || type->n_array_bounds) {
        brume_build_fail(
            builder, BRUME_EUNSUPPORTED,
            "cast to boolean, integer, bigint, numeric(p,s), double precision, text, date or timestamp",
            "a cast to this type is not supported");
        return false;
    }
    if (strcmp(name, "numeric") == 0 || strcmp(name, "decimal") == 0) {
        int precision, scale;
        if (!brume_walk_numeric(type, &precision, &scale)) {
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

static bool walk_is_interval(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_TYPE_CAST)
        return false;
    const char *name =
        brume_walk_name(node->type_cast->type_name->names, node->type_cast->type_name->n_names);
    return name && strcmp(name, "interval") == 0;
}

/* INTERVAL '3' MONTH as '3 month'. The unit comes as one bit of a mask, the number of the
 * grammar's field (PostgreSQL's utils/datetime.h). */
static const char *with_unit(const char *text, const PgQuery__TypeName *type, char out[48])
{
    static const struct {
        int bit;
        const char *name;
    } units[] = {{1, "month"}, {2, "year"},    {3, "day"},
                 {10, "hour"}, {11, "minute"}, {12, "second"}};
    int mask = 0;
    if (!text || type->n_typmods == 0)
        return text;
    if (type->n_typmods != 1 || !type_modifier(type, 0, &mask) || strlen(text) > 20 ||
        text[strspn(text, "+-0123456789 ")])
        return NULL;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (mask == 1 << units[i].bit) {
            snprintf(out, 48, "%s %s", text, units[i].name);
            return out;
        }
    return NULL;
}

/* Its parts; false: refused. */
static bool read_interval(brume_builder *builder, const PgQuery__TypeCast *cast, int64_t *months,
                          int64_t *days, int64_t *microseconds)
{
    char typed[48];
    const char *text = with_unit(walk_constant_text(cast->arg), cast->type_name, typed);
    if (text && brume_literal_interval(text, months, days, microseconds))
        return true;
    brume_build_fail(builder, BRUME_EUNSUPPORTED,
                     "write INTERVAL '1 month 3 days' or INTERVAL '3' MONTH",
                     "this interval cannot be read");
    return false;
}

/* date or timestamp + or - INTERVAL '...' */
static brume_node walk_interval(brume_walk_context *c, const PgQuery__Node *time,
                                const PgQuery__Node *node, bool subtract, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    int64_t months, days, microseconds;
    if (!read_interval(builder, node->type_cast, &months, &days, &microseconds))
        return NULL;
    brume_node from = brume_walk_node(c, time, inside);
    if (from && from->duration)
        return brume_build_arithmetic(
            builder, subtract ? BRUME_OPERATION_SUBTRACT : BRUME_OPERATION_ADD, from,
            brume_build_duration(builder, months, days, microseconds));
    int sign = subtract ? -1 : 1;
    return brume_build_interval(builder, from, sign * months, sign * days, sign * microseconds);
}

/* An interval by itself: a number of seconds that is compared with others. */
static brume_node walk_duration(brume_walk *walk, const PgQuery__TypeCast *cast)
{
    int64_t months, days, microseconds;
    return read_interval(&walk->builder, cast, &months, &days, &microseconds)
               ? brume_build_duration(&walk->builder, months, days, microseconds)
               : NULL;
}

/* ---- times with a zone ---- */

static bool two_digits(const char **text, int *value)
{
    const char *at = *text;
    if (at[0] < '0' || at[0] > '9' || at[1] < '0' || at[1] > '9')
        return false;
    *value = 10 * (at[0] - '0') + at[1] - '0';
    *text += 2;
    return true;
}

/* How many minutes the zone at the end of a time is ahead of UTC: Z, +01, -0330 or +05:30; *length:
 * how long the text is before it. False: there is none. */
static bool read_zone(const char *text, size_t *length, int *ahead)
{
    const char *clock = strchr(text, ':'), *sign = clock ? strpbrk(clock, "+-Zz") : NULL;
    int hours = 0, minutes = 0;
    if (!sign)
        return false;
    const char *rest = sign + 1;
    if (*sign == '+' || *sign == '-') {
        if (!two_digits(&rest, &hours))
            return false;
        rest += *rest == ':';
        if (*rest && *rest != ' ' && !two_digits(&rest, &minutes))
            return false;
    }
    *length = (size_t)(sign - text);
    *ahead = (*sign == '-' ? -1 : 1) * (60 * hours + minutes);
    return rest[strspn(rest, " ")] == '\0' && hours <= 15 && minutes < 60;
}

/* TIMESTAMP WITH TIME ZONE '...' of a constant, which must say its zone: the time in UTC, in which
 * columns of that type are read. */
static bool walk_is_zoned(const PgQuery__Node *node)
{
    const PgQuery__TypeCast *cast = node->type_cast;
    const char *name = brume_walk_name(cast->type_name->names, cast->type_name->n_names);
    return name && strcmp(name, "timestamptz") == 0 && cast->type_name->n_typmods == 0 &&
           walk_constant_text(cast->arg);
}

static brume_node walk_zoned(brume_walk *walk, const PgQuery__TypeCast *cast)
{
    static const int64_t minute = 60000000;
    const char *text = walk_constant_text(cast->arg);
    char local[64], canonical[32], moved[32];
    size_t length = 0;
    int ahead = 0;
    bool good = read_zone(text, &length, &ahead) && length < sizeof local;
    if (good) {
        memcpy(local, text, length);
        local[length] = '\0';
        good = brume_literal_timestamp(local, canonical) &&
               brume_literal_move(canonical, 0, 0, -ahead * minute, moved);
    }
    if (!good)
        return brume_build_fail(&walk->builder, BRUME_EARGUMENT,
                                "write '2024-02-29 12:30:00Z', or +01:00 in place of Z",
                                "'%.60s' is not a time with its zone", text);
    return brume_build_literal(&walk->builder, (brume_type){BRUME_TYPE_TIMESTAMP, 0, 0}, moved);
}

/* Columns: the name that an expression says, in the nearest scope that has it. */

/* A column as it is written: COLUMN, TABLE.COLUMN or DATASET.TABLE.COLUMN. */
typedef struct written_name {
    const char *dataset, *table, *column; /* NULL: left out */
} written_name;

static bool is_of(const brume_walk_source *source, const written_name *name)
{
    if (name->table && strcasecmp(name->table, source->name) != 0)
        return false;
    return !name->dataset || (source->dataset && strcasecmp(name->dataset, source->dataset) == 0);
}

/* The column of the scope; false: there are several. */
static bool find_column(brume_builder *builder, const brume_walk_scope *scope,
                        const written_name *written, int any_case,
                        const brume_relation_column **found, bool *table_seen)
{
    const char *name = written->column;
    for (const brume_walk_source *each = scope->sources; each; each = each->next) {
        if (!is_of(each, written))
            continue;
        *table_seen = true;
        for (size_t i = 0; i < each->column_count; i++) {
            const char *own = each->columns[i].name;
            if (each->columns[i].merged && !written->table)
                continue;
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

/* Can it be written without quotes? */
static bool is_plain(const char *name)
{
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
               strlen(name) &&
           (*name < '0' || *name > '9');
}

/* Refused, with the nearest name of the scope as a hint. */
static brume_node no_column(brume_walk *walk, const brume_walk_scope *scope,
                            const written_name *written, bool table_seen)
{
    const char *name = written->column, *table = written->table;
    const char *names[BRUME_WALK_COLUMNS];
    size_t count = 0;
    for (const brume_walk_source *each = scope->sources; each; each = each->next)
        for (size_t i = 0; i < each->column_count && count < BRUME_WALK_COLUMNS; i++)
            if (each->columns[i].name)
                names[count++] = each->columns[i].name;
    const char *near = brume_text_nearest(name, names, count);
    char hint[120] = "";
    if (table && !table_seen)
        snprintf(hint, sizeof hint, "there is no '%.40s%s%.40s' in FROM",
                 written->dataset ? written->dataset : "", written->dataset ? "." : "", table);
    else if (near)
        snprintf(hint, sizeof hint,
                 is_plain(near) ? "did you mean '%.80s'?"
                                : "did you mean \"%.80s\", in double quotes?",
                 near);
    return brume_build_fail(&walk->builder, BRUME_EUNKNOWN, hint, "no column '%.60s'", name);
}

/* A column of the scope, or of one outside it. */
static brume_node brume_walk_column(brume_walk *walk, const brume_walk_scope *scope,
                                    const PgQuery__ColumnRef *reference, bool inside)
{
    brume_builder *builder = &walk->builder;
    const char *parts[3] = {NULL, NULL, NULL}; /* the last ones, where there are fewer */
    size_t left_out = 3 - reference->n_fields;
    if (reference->n_fields < 1 || reference->n_fields > 3)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write TABLE.COLUMN",
                                "a column name has too many parts");
    for (size_t i = 0; i < reference->n_fields; i++) {
        if (reference->fields[i]->node_case != PG_QUERY__NODE__NODE_STRING)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED, "name the columns",
                                    "* is not supported here");
        parts[left_out + i] = reference->fields[i]->string->sval;
    }
    const written_name written = {parts[0], parts[1], parts[2]};
    const brume_relation_column *found = NULL;
    bool table_seen = false;
    /* The nearest scope first; there exact names first, then, for files whose headers have
     * capitals, whatever the case. */
    const brume_walk_scope *nearest = scope;
    do {
        for (int pass = 0; pass < 2 && !found; pass++)
            if (!find_column(builder, nearest, &written, pass, &found, &table_seen))
                return NULL;
        nearest = nearest->outer;
    } while (nearest && !found);
    if (found) {
        if (found->reference->type.kind == BRUME_TYPE_REFUSED)
            return brume_build_fail(
                builder, BRUME_EUNSUPPORTED, "convert it in the source, or leave it out",
                "the column '%.60s' has a type that brume does not read", written.column);
        return inside ? found->inside : found->reference;
    }
    return no_column(walk, scope, &written, table_seen);
}

/* Operators: arithmetic, comparisons, LIKE, IN, BETWEEN and their like. */

/* The pattern with backslash as its escape, whatever escape was typed. */
static const char *like_pattern(brume_walk_context *c, const PgQuery__Node *node)
{
    brume_builder *builder = &c->walk->builder;
    const char *pattern = walk_constant_text(node), *escape = "\\";
    if (node && node->node_case == PG_QUERY__NODE__NODE_FUNC_CALL) {
        const char *name = brume_walk_name(node->func_call->funcname, node->func_call->n_funcname);
        if (name && strcmp(name, "like_escape") == 0 && node->func_call->n_args == 2) {
            pattern = walk_constant_text(node->func_call->args[0]);
            escape = walk_constant_text(node->func_call->args[1]);
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
    const char *pattern = walk_constant_text(expression->rexpr);
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
    const brume_node *list = walk_nodes(c, right->list->items, count, inside);
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
        if (walk_is_interval(expression->rexpr) &&
            (subtract || operators[i].operation == BRUME_OPERATION_ADD))
            return walk_interval(c, expression->lexpr, expression->rexpr, subtract, inside);
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

/* Whatever the grammar calls an operator. */
static brume_node brume_walk_operator(brume_walk_context *c, const PgQuery__AExpr *expression,
                                      bool inside)
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

/* What a node is called: names of functions, aggregates, and of what is refused. */

const char *brume_walk_name(PgQuery__Node *const *names, size_t count)
{
    if (count == 2 && names[0]->node_case == PG_QUERY__NODE__NODE_STRING &&
        strcmp(names[0]->string->sval, "pg_catalog") == 0) {
        names++;
        count--;
    }
    if (count != 1 || names[0]->node_case != PG_QUERY__NODE__NODE_STRING)
        return NULL;
    return names[0]->string->sval;
}

static const struct {
    const char *name;
} aggregates[] = {
    {"count"},
    {"sum"},
    {"avg"},
    {"min"},
    {"max"},
    {"var_pop"},
    {"var_samp"},
    {"variance"},
    {"stddev"},
    {"stddev_pop"},
    {"stddev_samp"},
    {"median"},
    {"mode"},
    {"percentile_cont"},
    {"percentile_disc"},
    {"bool_and"},
    {"bool_or"},
    {"every"},
    {"array_agg"},
    {"string_agg"},
    {"corr"},
    {"covar_pop"},
    {"covar_samp"},
    {"regr_slope"},
    {"regr_intercept"},
    {"regr_r2"},
    {"regr_count"},
    {"regr_avgx"},
    {"regr_avgy"},
    {"regr_sxx"},
    {"regr_syy"},
    {"regr_sxy"},
    {"json_agg"},
    {"any_value"},
    {"first"},
    {"last"},
    {"quantile"},
    {"quantile_cont"},
    {"quantile_disc"},
    {"approx_quantile"},
    {"approx_count_distinct"},
};

bool brume_walk_is_aggregate(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
        return false;
    const char *name = brume_walk_name(node->func_call->funcname, node->func_call->n_funcname);
    if (node->func_call->over)
        return true;
    for (size_t i = 0; name && i < sizeof aggregates / sizeof *aggregates; i++)
        if (strcmp(name, aggregates[i].name) == 0)
            return true;
    return node->func_call->agg_star || node->func_call->agg_distinct ||
           node->func_call->agg_within_group || node->func_call->agg_filter;
}

static bool has_call(const PgQuery__Node *node, bool windows);

static bool any_has_call(PgQuery__Node *const *nodes, size_t count, bool windows)
{
    for (size_t i = 0; i < count; i++)
        if (has_call(nodes[i], windows))
            return true;
    return false;
}

/* Is there an aggregate; `windows`: or a call with OVER? */
static bool has_call(const PgQuery__Node *node, bool windows)
{
    if (!node)
        return false;
    if (brume_walk_is_aggregate(node) && (windows || !node->func_call->over))
        return true;
    switch (node->node_case) {
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return any_has_call(node->func_call->args, node->func_call->n_args, windows);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return has_call(node->a_expr->lexpr, windows) || has_call(node->a_expr->rexpr, windows);
    case PG_QUERY__NODE__NODE_LIST:
        return any_has_call(node->list->items, node->list->n_items, windows);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return any_has_call(node->bool_expr->args, node->bool_expr->n_args, windows);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        return has_call(node->null_test->arg, windows);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        return has_call(node->boolean_test->arg, windows);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
        return any_has_call(node->coalesce_expr->args, node->coalesce_expr->n_args, windows);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
        return any_has_call(node->min_max_expr->args, node->min_max_expr->n_args, windows);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
        return has_call(node->type_cast->arg, windows);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
        return has_call(node->case_expr->arg, windows) ||
               has_call(node->case_expr->defresult, windows) ||
               any_has_call(node->case_expr->args, node->case_expr->n_args, windows);
    case PG_QUERY__NODE__NODE_CASE_WHEN:
        return has_call(node->case_when->expr, windows) ||
               has_call(node->case_when->result, windows);
    default:
        return false;
    }
}

bool brume_walk_has_aggregate(const PgQuery__Node *node)
{
    return has_call(node, true);
}

bool brume_walk_has_fold(const PgQuery__Node *node)
{
    return has_call(node, false);
}

brume_node brume_walk_refuse(brume_walk *walk, const PgQuery__Node *node)
{
    static const struct {
        int node_case;
        const char *what, *hint;
    } known[] = {
        {PG_QUERY__NODE__NODE_SUB_LINK, "a subquery in an expression",
         "write it in WHERE, in the SELECT list or in an aggregate; else join with a subquery in "
         "FROM, on the unit"},
        {PG_QUERY__NODE__NODE_PARAM_REF, "a parameter ($1)", "write the value"},
        {PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION, "the current date, time or user",
         "write the value: an answer must not depend on the clock or the session"},
        {PG_QUERY__NODE__NODE_A_STAR, "*", "name the columns"},
        {PG_QUERY__NODE__NODE_A_ARRAY_EXPR, "an array", "write one call for each value"},
        {PG_QUERY__NODE__NODE_A_INDIRECTION, "a subscript or a field", NULL},
        {PG_QUERY__NODE__NODE_ROW_EXPR, "a row value", "compare the columns one by one"},
        {PG_QUERY__NODE__NODE_COLLATE_CLAUSE, "COLLATE", "text is compared by its bytes"},
        {PG_QUERY__NODE__NODE_GROUPING_FUNC, "GROUPING", NULL},
        {PG_QUERY__NODE__NODE_XML_EXPR, "XML", NULL},
        {PG_QUERY__NODE__NODE_NAMED_ARG_EXPR, "a named argument", NULL},
        {PG_QUERY__NODE__NODE_SET_TO_DEFAULT, "DEFAULT", NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (node && (int)node->node_case == known[i].node_case)
            return brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, known[i].hint,
                                    "%s is not supported", known[i].what);
    return brume_build_fail(&walk->builder, BRUME_EUNSUPPORTED, "docs/sql.md has what is answered",
                            "this kind of SQL expression (%d) is not supported",
                            node ? (int)node->node_case : 0);
}

static brume_node walk_case(brume_walk_context *c, const PgQuery__CaseExpr *expression, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    size_t count = 2 * expression->n_args + 1;
    brume_node *all = brume_arena_allocate(builder->arena, count * sizeof *all);
    if (!all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    brume_node subject = expression->arg ? brume_walk_node(c, expression->arg, false) : NULL;
    if (expression->arg && !subject)
        return NULL;
    for (size_t i = 0; i < expression->n_args; i++) {
        if (expression->args[i]->node_case != PG_QUERY__NODE__NODE_CASE_WHEN)
            return brume_walk_refuse(c->walk, expression->args[i]);
        const PgQuery__CaseWhen *when = expression->args[i]->case_when;
        all[2 * i] = brume_walk_node(c, when->expr, false);
        if (subject)
            all[2 * i] = brume_build_compare(builder, BRUME_OPERATION_EQUAL, subject, all[2 * i]);
        all[2 * i + 1] = brume_walk_node(c, when->result, inside);
    }
    if (expression->defresult)
        all[count - 1] = brume_walk_node(c, expression->defresult, inside);
    return brume_build_case(builder, all, expression->defresult ? count : count - 1);
}

static brume_node walk_choice(brume_walk_context *c, brume_operation operation,
                              PgQuery__Node *const *nodes, size_t count, bool inside)
{
    const brume_node *all = walk_nodes(c, nodes, count, inside);
    return all ? brume_build_choice(&c->walk->builder, operation, all, count) : NULL;
}

static brume_node walk_logic(brume_walk_context *c, const PgQuery__BoolExpr *expression)
{
    const brume_node *all = walk_nodes(c, expression->args, expression->n_args, false);
    brume_operation operation = expression->boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR
                                    ? BRUME_OPERATION_AND
                                : expression->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR
                                    ? BRUME_OPERATION_OR
                                    : BRUME_OPERATION_NOT;
    return all ? brume_build_logic(&c->walk->builder, operation, all, expression->n_args) : NULL;
}

/* EXTRACT(year FROM age(a, b)): age itself, which has months and days, is no value here. */
static bool is_field_of_age(const PgQuery__FuncCall *call, const char *name)
{
    if ((strcmp(name, "extract") != 0 && strcmp(name, "date_part") != 0) || call->n_args != 2 ||
        call->args[1]->node_case != PG_QUERY__NODE__NODE_FUNC_CALL)
        return false;
    const PgQuery__FuncCall *inner = call->args[1]->func_call;
    const char *called = brume_walk_name(inner->funcname, inner->n_funcname);
    return called && strcmp(called, "age") == 0 && inner->n_args == 2 && !inner->over;
}

static brume_node walk_function(brume_walk_context *c, const PgQuery__Node *node, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    const PgQuery__FuncCall *call = node->func_call;
    const char *name = brume_walk_name(call->funcname, call->n_funcname);
    if (!name)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write the function without a schema",
                                "a function of another schema is not supported");
    if (call->over)
        return brume_walk_over(c, call, inside);
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
    if (is_field_of_age(call, name)) {
        const PgQuery__FuncCall *age = call->args[1]->func_call;
        return brume_build_age_field(builder, walk_constant_text(call->args[0]),
                                     brume_walk_node(c, age->args[0], inside),
                                     brume_walk_node(c, age->args[1], inside));
    }
    for (size_t i = 0; i < call->n_args; i++)
        arguments[i] = brume_walk_node(c, call->args[i], inside);
    return brume_build_function(builder, name, arguments, call->n_args);
}

static brume_node walk_cast(brume_walk_context *c, const PgQuery__TypeCast *cast, brume_type type,
                            bool inside)
{
    brume_node value = brume_walk_node(c, cast->arg, inside);
    if (value && value->duration)
        return brume_build_fail(&c->walk->builder, BRUME_EUNSUPPORTED,
                                "take EXTRACT(epoch FROM a - b), which is a number of seconds",
                                "a cast of an interval is not supported");
    return brume_build_cast(&c->walk->builder, value, type);
}

static brume_node walk_plain(brume_walk_context *c, const PgQuery__Node *node, bool inside)
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
        return brume_walk_column(c->walk, c->scope, node->column_ref, inside);
    case PG_QUERY__NODE__NODE_A_CONST:
        return brume_walk_constant(c->walk, node->a_const);
    case PG_QUERY__NODE__NODE_A_EXPR:
        return brume_walk_operator(c, node->a_expr, inside);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return walk_logic(c, node->bool_expr);
    case PG_QUERY__NODE__NODE_NULL_TEST:
        if (node->null_test->argisrow)
            return brume_walk_refuse(c->walk, node->null_test->arg);
        return brume_build_test(builder,
                                node->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NULL
                                    ? BRUME_OPERATION_IS_NULL
                                    : BRUME_OPERATION_IS_NOT_NULL,
                                brume_walk_node(c, node->null_test->arg, false));
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        if (node->boolean_test->booltesttype < PG_QUERY__BOOL_TEST_TYPE__IS_TRUE ||
            node->boolean_test->booltesttype > PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN)
            return brume_walk_refuse(c->walk, node);
        return brume_build_test(builder, truths[node->boolean_test->booltesttype],
                                brume_walk_node(c, node->boolean_test->arg, false));
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
        if (walk_is_interval(node))
            return walk_duration(c->walk, node->type_cast);
        if (walk_is_zoned(node))
            return walk_zoned(c->walk, node->type_cast);
        if (!walk_cast_type(c->walk, node->type_cast->type_name, &type))
            return NULL;
        return walk_cast(c, node->type_cast, type, inside);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
        return walk_function(c, node, inside);
    case PG_QUERY__NODE__NODE_SUB_LINK:
        if (c->group)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                    "use it in a subquery around the groups",
                                    "a subquery in an expression cannot stand after GROUP BY");
        return brume_walk_sublink(c->walk, c->scope, node->sub_link);
    default:
        return brume_walk_refuse(c->walk, node);
    }
}

/* ---- any node ---- */

brume_node brume_walk_node(brume_walk_context *c, const PgQuery__Node *node, bool inside)
{
    if (c->walk->builder.status != BRUME_OK)
        return NULL;
    if (!node)
        return brume_walk_refuse(c->walk, node);
    if (c->group) {
        brume_node key = brume_walk_group_key(c->walk, c->group, node, inside);
        if (key || c->walk->builder.status != BRUME_OK)
            return key;
        if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
            if (!brume_walk_column(c->walk, c->group->rows, node->column_ref, false))
                return NULL;
            return brume_build_fail(&c->walk->builder, BRUME_EARGUMENT,
                                    "add it to GROUP BY, or put it in an aggregate",
                                    "a column of the subquery is neither grouped nor aggregated");
        }
    }
    return walk_plain(c, node, inside);
}

/* Each of them; NULL only where memory ends. */
static const brume_node *walk_nodes(brume_walk_context *c, PgQuery__Node *const *nodes,
                                    size_t count, bool inside)
{
    brume_builder *builder = &c->walk->builder;
    brume_node *all = brume_arena_allocate(builder->arena, (count + 1) * sizeof *all);
    if (!all) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        all[i] = brume_walk_node(c, nodes[i], inside);
    return all;
}

brume_node brume_walk_expression(brume_walk *walk, brume_walk_scope *scope, brume_walk_group *group,
                                 const PgQuery__Node *node, bool inside)
{
    brume_walk_context c = {walk, scope, group};
    return brume_walk_node(&c, node, inside);
}
