/* Constants, the types that a cast may name, and intervals. */
#include "query/sql/walk_expression.h"

#include <stdio.h>
#include <string.h>

#include "query/expression/literal.h"

const char *brume_walk_constant_text(const PgQuery__Node *node)
{
    if (!node || node->node_case != PG_QUERY__NODE__NODE_A_CONST || node->a_const->isnull ||
        node->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL)
        return NULL;
    return node->a_const->sval->sval;
}

brume_node brume_walk_constant(brume_walk *walk, const PgQuery__AConst *constant)
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

bool brume_walk_cast_type(brume_walk *walk, const PgQuery__TypeName *type, brume_type *out)
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

bool brume_walk_is_interval(const PgQuery__Node *node)
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
    const char *text = with_unit(brume_walk_constant_text(cast->arg), cast->type_name, typed);
    if (text && brume_literal_interval(text, months, days, microseconds))
        return true;
    brume_build_fail(builder, BRUME_EUNSUPPORTED,
                     "write INTERVAL '1 month 3 days' or INTERVAL '3' MONTH",
                     "this interval cannot be read");
    return false;
}

brume_node brume_walk_interval(brume_walk_context *c, const PgQuery__Node *time,
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

brume_node brume_walk_duration(brume_walk *walk, const PgQuery__TypeCast *cast)
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

bool brume_walk_is_zoned(const PgQuery__Node *node)
{
    const PgQuery__TypeCast *cast = node->type_cast;
    const char *name = brume_walk_name(cast->type_name->names, cast->type_name->n_names);
    return name && strcmp(name, "timestamptz") == 0 && cast->type_name->n_typmods == 0 &&
           brume_walk_constant_text(cast->arg);
}

brume_node brume_walk_zoned(brume_walk *walk, const PgQuery__TypeCast *cast)
{
    static const int64_t minute = 60000000;
    const char *text = brume_walk_constant_text(cast->arg);
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
