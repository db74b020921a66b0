/* Nodes, literals, columns and widening. */
#include "query/expression/build.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/regular.h"
#include "engine/like.h"
#include "query/expression/expression.h"
#include "query/expression/literal.h"

static const double DOUBLE_LIMIT = 1e150;

brume_node brume_build_fail(brume_builder *builder, brume_status status, const char *hint,
                            const char *format, ...)
{
    if (builder->status != BRUME_OK)
        return NULL;
    builder->status = status;
    char message[480];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    brume_fail(builder->error, status, hint, "%s", message);
    return NULL;
}

brume_bounds brume_type_bounds(brume_type type)
{
    brume_bounds bounds = {0};
    if (type.kind == BRUME_TYPE_INTEGER) {
        bounds.low = INT32_MIN;
        bounds.high = INT32_MAX;
    } else if (type.kind == BRUME_TYPE_BIGINT) {
        bounds.low = INT64_MIN;
        bounds.high = INT64_MAX;
    } else if (type.kind == BRUME_TYPE_DECIMAL) {
        bounds.high = brume_wide_power(type.precision) - 1;
        bounds.low = -bounds.high;
    } else if (type.kind == BRUME_TYPE_DOUBLE) {
        bounds.real_low = -DOUBLE_LIMIT;
        bounds.real_high = DOUBLE_LIMIT;
    } else if (type.kind == BRUME_TYPE_DATE) { /* 0001-01-01 to 9999-12-31 */
        bounds.low = -719162;
        bounds.high = 2932896;
    } else if (type.kind == BRUME_TYPE_TIMESTAMP) {
        bounds.low = (brume_wide)-719162 * BRUME_DAY;
        bounds.high = (brume_wide)2932897 * BRUME_DAY - 1;
    }
    return bounds;
}

bool brume_build_is_dated(brume_node node)
{
    brume_bounds whole = brume_type_bounds(node->type);
    return node->bounded && node->bounds.low > whole.low && node->bounds.high < whole.high;
}

/* Intervals are compared with intervals, and chosen among and added to them. To everything else
 * they are no numbers, though they are kept as such; *result: the node is an interval too. */
static bool check_durations(brume_builder *builder, brume_operation operation,
                            const brume_node *arguments, size_t count, bool *result)
{
    size_t durations = 0, others = 0;
    for (size_t i = 0; i < count; i++) {
        if (operation == BRUME_OPERATION_CASE && i % 2 == 0 && i + 1 < count)
            continue; /* a condition */
        durations += arguments[i] && arguments[i]->duration;
        others += arguments[i] && !arguments[i]->duration && !brume_build_is_null(arguments[i]);
    }
    *result = durations > 0;
    bool good = false;
    switch (operation) {
    case BRUME_OPERATION_EQUAL:
    case BRUME_OPERATION_NOT_EQUAL:
    case BRUME_OPERATION_LESS:
    case BRUME_OPERATION_LESS_EQUAL:
    case BRUME_OPERATION_GREATER:
    case BRUME_OPERATION_GREATER_EQUAL:
    case BRUME_OPERATION_DISTINCT:
    case BRUME_OPERATION_NOT_DISTINCT:
    case BRUME_OPERATION_BETWEEN:
    case BRUME_OPERATION_NOT_BETWEEN:
    case BRUME_OPERATION_IN:
    case BRUME_OPERATION_NOT_IN:
        *result = false;
        good = others == 0;
        break;
    case BRUME_OPERATION_IS_NULL:
    case BRUME_OPERATION_IS_NOT_NULL:
        *result = false;
        good = true;
        break;
    case BRUME_OPERATION_ADD:
    case BRUME_OPERATION_SUBTRACT:
    case BRUME_OPERATION_CASE:
    case BRUME_OPERATION_COALESCE:
    case BRUME_OPERATION_NULLIF:
    case BRUME_OPERATION_GREATEST:
    case BRUME_OPERATION_LEAST:
        good = others == 0;
        break;
    case BRUME_OPERATION_CAST: /* to a decimal of other digits: brume_walk_node refuses others */
    case BRUME_OPERATION_NEGATE:
    case BRUME_OPERATION_ABS:
        good = true;
        break;
    default:
        break;
    }
    if (durations == 0 || good)
        return true;
    brume_build_fail(
        builder, BRUME_EUNSUPPORTED,
        "compare it with INTERVAL '30 days', or take EXTRACT(epoch FROM a - b), which is "
        "a number of seconds",
        "'%s' is not defined for intervals", brume_operation_word(operation));
    return false;
}

brume_expression *brume_build_node(brume_builder *builder, brume_operation operation,
                                   brume_type type, const brume_node *arguments, size_t count)
{
    if (builder->status != BRUME_OK)
        return NULL;
    int depth = 0;
    size_t size = 1, work = 0;
    bool nullable = false, bounded = true, inexact = false;
    for (size_t i = 0; i < count; i++) {
        if (!arguments[i])
            return NULL;
        depth = arguments[i]->depth > depth ? arguments[i]->depth : depth;
        size += arguments[i]->size;
        work += arguments[i]->work;
        nullable = nullable || arguments[i]->nullable;
        bounded = bounded && arguments[i]->bounded;
        inexact = inexact || arguments[i]->inexact_key;
    }
    if (depth + 1 > BRUME_LIMIT_DEPTH || size > BRUME_LIMIT_NODES) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "split it with a subquery",
                         "an expression is too large (at most %d deep and %d operations)",
                         BRUME_LIMIT_DEPTH, BRUME_LIMIT_NODES);
        return NULL;
    }
    bool duration = false;
    if (!check_durations(builder, operation, arguments, count, &duration))
        return NULL;
    size_t own_work = brume_text_work(operation, arguments, count);
    work += own_work;
    builder->work += own_work;
    if (work > BRUME_LIMIT_WORK || builder->work > BRUME_LIMIT_WORK) {
        brume_build_fail(builder, BRUME_EUNSUPPORTED,
                         "shorten texts with left(x, n), or ask in several queries",
                         "the expressions could work on more than %d MiB of text in one row",
                         BRUME_LIMIT_WORK / (1024 * 1024));
        return NULL;
    }
    brume_expression *node = brume_arena_allocate(builder->arena, sizeof *node);
    const brume_node *own =
        count ? brume_arena_copy(builder->arena, arguments, count * sizeof *arguments) : NULL;
    if (!node || (count && !own)) {
        brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
        return NULL;
    }
    *node = (brume_expression){.operation = operation,
                               .type = type,
                               .bounds = brume_type_bounds(type),
                               .nullable = nullable,
                               .bounded = bounded,
                               .duration = duration,
                               .inexact_key = inexact,
                               .depth = depth + 1,
                               .size = size,
                               .work = work,
                               .argument_count = count,
                               .arguments = own};
    builder->nodes++;
    return node;
}

/* ---- literals ---- */

bool brume_build_is_null(brume_node node)
{
    return node && node->operation == BRUME_OPERATION_LITERAL && !node->text;
}

static brume_node bad_literal(brume_builder *builder, brume_type type, const char *text)
{
    char name[BRUME_TYPE_NAME_SIZE];
    const char *hint = type.kind == BRUME_TYPE_DATE        ? "write dates as 'YYYY-MM-DD'"
                       : type.kind == BRUME_TYPE_TIMESTAMP ? "write 'YYYY-MM-DD HH:MM:SS'"
                       : type.kind == BRUME_TYPE_DOUBLE
                           ? "a double must be finite and below 1e150 in size"
                           : NULL;
    return brume_build_fail(builder, BRUME_EARGUMENT, hint, "'%.100s' is not a %s", text,
                            brume_type_name(type, name));
}

brume_node brume_build_literal(brume_builder *builder, brume_type type, const char *text)
{
    brume_expression *node = brume_build_node(builder, BRUME_OPERATION_LITERAL, type, NULL, 0);
    if (!node)
        return NULL;
    if (!text) {
        node->bounds = (brume_bounds){0};
        node->nullable = true;
        return node;
    }
    char canonical[64] = "";
    const char *start = text;
    char trimmed[64];
    if (type.kind != BRUME_TYPE_TEXT) {
        start += strspn(start, " \t\n\v\f\r");
        size_t length = strlen(start);
        while (length && strchr(" \t\n\v\f\r", start[length - 1]))
            length--;
        if (length >= sizeof trimmed)
            return bad_literal(builder, type, text);
        memcpy(trimmed, start, length);
        trimmed[length] = 0;
        start = trimmed;
    }
    brume_wide value = 0;
    int scale = 0;
    bool truth = false;
    char *end;
    switch (type.kind) {
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_BIGINT:
    case BRUME_TYPE_DECIMAL:
        if (!brume_wide_parse(start, &value, &scale) ||
            (scale > type.scale && type.kind != BRUME_TYPE_DECIMAL) ||
            !brume_wide_rescale(value, scale, type.scale, BRUME_WIDE_HALF_AWAY, &value) ||
            value < node->bounds.low || value > node->bounds.high)
            return bad_literal(builder, type, text);
        node->bounds = (brume_bounds){.low = value, .high = value};
        brume_wide_format(value, type.scale, canonical);
        break;
    case BRUME_TYPE_DOUBLE: {
        double real = strtod(start, &end);
        if (end == start || *end || strpbrk(start, "xXnNiIpP") || !(fabs(real) < DOUBLE_LIMIT))
            return bad_literal(builder, type, text);
        real = real + 0.0;
        node->bounds = (brume_bounds){.real_low = real, .real_high = real};
        snprintf(canonical, sizeof canonical, "%.17g", real);
        break;
    }
    case BRUME_TYPE_BOOLEAN:
        if (!brume_literal_boolean(start, &truth))
            return bad_literal(builder, type, text);
        snprintf(canonical, sizeof canonical, "%s", truth ? "true" : "false");
        break;
    case BRUME_TYPE_DATE:
        if (!brume_literal_date(start, canonical))
            return bad_literal(builder, type, text);
        node->bounds.low = node->bounds.high = brume_literal_days(canonical);
        break;
    case BRUME_TYPE_TIMESTAMP:
        if (!brume_literal_timestamp(start, canonical))
            return bad_literal(builder, type, text);
        node->bounds.low = node->bounds.high = brume_literal_microseconds(canonical);
        break;
    case BRUME_TYPE_TEXT:
        node->max_length = strlen(text);
        if (node->max_length > BRUME_TEXT_BYTES_MOST)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL, "a text is too long");
        break;
    case BRUME_TYPE_REFUSED:
        return bad_literal(builder, type, text);
    }
    node->text = brume_arena_text(builder->arena, type.kind == BRUME_TYPE_TEXT ? text : canonical);
    if (!node->text)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    return node;
}

brume_node brume_build_untyped(brume_builder *builder, const char *text)
{
    brume_node node = brume_build_literal(builder, (brume_type){BRUME_TYPE_TEXT, 0, 0}, text);
    if (!node)
        return NULL;
    brume_expression *untyped = brume_arena_copy(builder->arena, node, sizeof *node);
    if (!untyped)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    untyped->untyped = true;
    return untyped;
}

brume_node brume_build_number(brume_builder *builder, const char *text)
{
    brume_wide value;
    int scale;
    if (!brume_wide_parse(text, &value, &scale))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write it as a cast from text",
                                "the number %.60s has more than 38 digits", text);
    brume_type type = {BRUME_TYPE_DECIMAL, 0, scale};
    if (!strpbrk(text, ".eE") && value >= INT32_MIN && value <= INT32_MAX)
        type = (brume_type){BRUME_TYPE_INTEGER, 0, 0};
    else if (!strpbrk(text, ".eE") && value >= INT64_MIN && value <= INT64_MAX)
        type = (brume_type){BRUME_TYPE_BIGINT, 0, 0};
    else
        type.precision = brume_wide_digits(value) > scale ? brume_wide_digits(value)
                         : scale > 0                      ? scale
                                                          : 1;
    return brume_build_literal(builder, type, text);
}

brume_node brume_build_column(brume_builder *builder, const struct brume_relation *relation,
                              size_t column, brume_type type, bool nullable)
{
    brume_expression *node = brume_build_node(builder, BRUME_OPERATION_COLUMN, type, NULL, 0);
    if (!node)
        return NULL;
    node->relation = relation;
    node->column = column;
    node->nullable = nullable;
    node->bounded = false;
    node->max_length = type.kind == BRUME_TYPE_TEXT ? BRUME_TEXT_BYTES_MOST : 0;
    return node;
}

/* ---- widening ---- */

static bool widens(brume_type from, brume_type to)
{
    switch (to.kind) {
    case BRUME_TYPE_BIGINT:
        return from.kind == BRUME_TYPE_INTEGER;
    case BRUME_TYPE_DECIMAL:
        return from.kind == BRUME_TYPE_INTEGER || from.kind == BRUME_TYPE_BIGINT ||
               (from.kind == BRUME_TYPE_DECIMAL && to.scale >= from.scale &&
                to.precision - to.scale >= from.precision - from.scale);
    case BRUME_TYPE_DOUBLE:
        return brume_type_is_number(from);
    case BRUME_TYPE_TIMESTAMP:
        return from.kind == BRUME_TYPE_DATE;
    default:
        return false;
    }
}

brume_node brume_build_convert(brume_builder *builder, brume_node node, brume_type type)
{
    if (!node)
        return NULL;
    if (node->untyped || (brume_build_is_null(node) && !brume_type_equal(node->type, type)))
        return brume_build_literal(builder, type, node->text);
    if (brume_type_equal(node->type, type))
        return node;
    if (!widens(node->type, type)) {
        char from[BRUME_TYPE_NAME_SIZE], to[BRUME_TYPE_NAME_SIZE];
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST one of them to the other's type",
                                "a %s stands where a %s is needed",
                                brume_type_name(node->type, from), brume_type_name(type, to));
    }
    if (node->operation == BRUME_OPERATION_LITERAL) /* a widened constant is a constant */
        return brume_build_literal(builder, type, node->text);
    brume_expression *cast = brume_build_node(builder, BRUME_OPERATION_CAST, type, &node, 1);
    if (!cast)
        return NULL;
    if (type.kind == BRUME_TYPE_DOUBLE) {
        cast->bounds.real_low = brume_wide_double(node->bounds.low, node->type.scale);
        cast->bounds.real_high = brume_wide_double(node->bounds.high, node->type.scale);
    } else if (brume_type_is_number(type)) {
        int shift = type.scale - node->type.scale;
        if (!brume_wide_shift(node->bounds.low, shift, &cast->bounds.low) ||
            !brume_wide_shift(node->bounds.high, shift, &cast->bounds.high))
            return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                    "CLAMP it, or CAST it to double precision",
                                    "a number needs more than 38 digits");
    } else { /* a date as the timestamp of its midnight */
        cast->bounds.low = node->bounds.low * BRUME_DAY;
        cast->bounds.high = node->bounds.high * BRUME_DAY;
    }
    return cast;
}

bool brume_build_common(brume_builder *builder, const brume_node *nodes, size_t count,
                        brume_type *type)
{
    brume_type common = {BRUME_TYPE_REFUSED, 0, 0};
    int whole = 0, scale = 0;
    bool any_decimal = false;
    for (size_t i = 0; i < count; i++) {
        if (!nodes[i])
            return false;
        if (nodes[i]->untyped || brume_build_is_null(nodes[i]))
            continue;
        brume_type each = nodes[i]->type;
        if (each.kind == BRUME_TYPE_DECIMAL) {
            any_decimal = true;
            whole = each.precision - each.scale > whole ? each.precision - each.scale : whole;
            scale = each.scale > scale ? each.scale : scale;
        } else if (each.kind == BRUME_TYPE_INTEGER || each.kind == BRUME_TYPE_BIGINT) {
            int digits = each.kind == BRUME_TYPE_INTEGER ? 10 : 19;
            whole = digits > whole ? digits : whole;
        }
        if (common.kind == BRUME_TYPE_REFUSED || common.kind == each.kind) {
            common = each;
        } else if (brume_type_is_number(common) && brume_type_is_number(each)) {
            if (each.kind > common.kind)
                common = each;
        } else if ((common.kind == BRUME_TYPE_DATE && each.kind == BRUME_TYPE_TIMESTAMP) ||
                   (common.kind == BRUME_TYPE_TIMESTAMP && each.kind == BRUME_TYPE_DATE)) {
            common.kind = BRUME_TYPE_TIMESTAMP;
        } else {
            char a[BRUME_TYPE_NAME_SIZE], b[BRUME_TYPE_NAME_SIZE];
            brume_build_fail(builder, BRUME_EARGUMENT, "CAST one of them to the other's type",
                             "the types %s and %s cannot be put together",
                             brume_type_name(common, a), brume_type_name(each, b));
            return false;
        }
    }
    if (common.kind == BRUME_TYPE_REFUSED) {
        common.kind = BRUME_TYPE_TEXT;
        for (size_t i = 0; i < count; i++)
            if (!nodes[i]->untyped)
                common = nodes[i]->type;
    }
    if (common.kind == BRUME_TYPE_DECIMAL && any_decimal) {
        if (whole + scale > BRUME_WIDE_DIGITS) {
            brume_build_fail(builder, BRUME_EUNSUPPORTED,
                             "CAST one of them to double precision or to fewer digits",
                             "two decimals together need more than 38 digits");
            return false;
        }
        common = (brume_type){BRUME_TYPE_DECIMAL, whole + scale, scale};
    }
    *type = common;
    return true;
}

/* CAST: which are allowed, and the bounds of their results. What does not convert is NULL. */

static brume_node refused(brume_builder *builder, brume_type from, brume_type to)
{
    char a[BRUME_TYPE_NAME_SIZE], b[BRUME_TYPE_NAME_SIZE];
    bool real_text = from.kind == BRUME_TYPE_DOUBLE && to.kind == BRUME_TYPE_TEXT;
    return brume_build_fail(
        builder, BRUME_EUNSUPPORTED,
        real_text ? "engines print doubles differently: CAST to numeric(p,s) first" : NULL,
        "a %s cannot be cast to %s", brume_type_name(from, a), brume_type_name(to, b));
}

static size_t text_length(brume_type from)
{
    switch (from.kind) {
    case BRUME_TYPE_INTEGER:
        return 11;
    case BRUME_TYPE_BIGINT:
        return 20;
    case BRUME_TYPE_DECIMAL:
        return (size_t)from.precision + 3;
    case BRUME_TYPE_BOOLEAN:
        return 5;
    case BRUME_TYPE_DATE:
        return 10;
    default:
        return 26;
    }
}

/* Cut exact bounds (units of the target) to the target; NULL is possible where they leave it. */
static void cut(brume_expression *node, brume_wide low, brume_wide high)
{
    brume_bounds whole = brume_type_bounds(node->type);
    if (low < whole.low || high > whole.high)
        node->nullable = true;
    node->bounds.low = low < whole.low ? whole.low : low > whole.high ? whole.high : low;
    node->bounds.high = high > whole.high ? whole.high : high < whole.low ? whole.low : high;
}

static brume_node to_exact(brume_builder *builder, brume_node from, brume_expression *node)
{
    brume_type type = node->type;
    brume_wide low, high;
    if (from->type.kind == BRUME_TYPE_TEXT) {
        node->nullable = true;
        node->bounded = false;
        if (type.kind == BRUME_TYPE_DECIMAL && type.scale > 35)
            return refused(builder, from->type, type);
        return node;
    }
    if (from->type.kind == BRUME_TYPE_BOOLEAN) {
        if (type.kind == BRUME_TYPE_DECIMAL)
            return refused(builder, from->type, type);
        node->bounds = (brume_bounds){.low = 0, .high = 1};
        node->bounded = true;
        return node;
    }
    if (from->type.kind == BRUME_TYPE_DOUBLE) {
        if (type.kind == BRUME_TYPE_DECIMAL) {
            /* Out of the 15 digits that PostgreSQL takes, or of the type: NULL. */
            if (type.scale > 22)
                return refused(builder, from->type, type);
            node->nullable = true;
            double unit = pow(10, type.scale);
            brume_bounds whole = node->bounds;
            /* Rounding to 15 digits and to the scale moves a value by less than this. */
            double slack = 1.0 / unit;
            double down = from->bounds.real_low - slack - fabs(from->bounds.real_low) * 1e-14;
            double up = from->bounds.real_high + slack + fabs(from->bounds.real_high) * 1e-14;
            if (fabs(down * unit) < 1e17 && fabs(up * unit) < 1e17) {
                low = (brume_wide)floor(down * unit) - 1;
                high = (brume_wide)ceil(up * unit) + 1;
                node->bounds.low = low > whole.low ? low : whole.low;
                node->bounds.high = high < whole.high ? high : whole.high;
                if (node->bounds.low > node->bounds.high)
                    node->bounds = whole;
            }
            return node;
        }
        double real_low = rint(from->bounds.real_low), real_high = rint(from->bounds.real_high);
        double most = 1e30; /* far outside 64 bits, still exact enough to compare */
        cut(node, (brume_wide)fmax(real_low, -most), (brume_wide)fmin(real_high, most));
        return node;
    }
    if (!brume_wide_rescale(from->bounds.low, from->type.scale, type.scale, BRUME_WIDE_HALF_AWAY,
                            &low))
        low = from->bounds.low < 0 ? -brume_wide_power(38) : brume_wide_power(38);
    if (!brume_wide_rescale(from->bounds.high, from->type.scale, type.scale, BRUME_WIDE_HALF_AWAY,
                            &high))
        high = from->bounds.high < 0 ? -brume_wide_power(38) : brume_wide_power(38);
    cut(node, low, high);
    if (type.kind == BRUME_TYPE_DECIMAL) {
        /* The printed form goes through a wider decimal. */
        int from_whole = from->type.kind == BRUME_TYPE_INTEGER ? 10
                         : from->type.kind == BRUME_TYPE_BIGINT
                             ? 19
                             : from->type.precision - from->type.scale;
        int through = from_whole + type.scale + (type.scale < from->type.scale ? 1 : 0);
        if (through > BRUME_WIDE_DIGITS || type.precision + 1 > BRUME_WIDE_DIGITS)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                    "CAST to fewer digits, or to double precision",
                                    "a cast to decimal needs more than 38 digits on the way");
    } else if (from->type.kind == BRUME_TYPE_DECIMAL &&
               from->type.precision - from->type.scale + 1 > BRUME_WIDE_DIGITS) {
        return refused(builder, from->type, type);
    }
    return node;
}

static brume_wide day_of(brume_wide microseconds)
{
    return microseconds / BRUME_DAY - (microseconds % BRUME_DAY < 0);
}

brume_node brume_build_cast(brume_builder *builder, brume_node from, brume_type type)
{
    if (!from)
        return NULL;
    if (from->untyped || brume_build_is_null(from) || brume_type_equal(from->type, type))
        return brume_build_convert(builder, from, type);
    brume_type_kind a = from->type.kind, b = type.kind;
    if ((a == BRUME_TYPE_INTEGER && b == BRUME_TYPE_BIGINT) ||
        (b == BRUME_TYPE_DOUBLE && brume_type_is_number(from->type)) ||
        (a == BRUME_TYPE_DATE && b == BRUME_TYPE_TIMESTAMP))
        return brume_build_convert(builder, from, type);
    bool from_integer = a == BRUME_TYPE_INTEGER || a == BRUME_TYPE_BIGINT;
    bool allowed;
    switch (b) {
    case BRUME_TYPE_TEXT:
        allowed = a != BRUME_TYPE_DOUBLE &&
                  !(a == BRUME_TYPE_DECIMAL && from->type.scale == BRUME_WIDE_DIGITS);
        break;
    case BRUME_TYPE_BOOLEAN:
        allowed = from_integer || a == BRUME_TYPE_TEXT;
        break;
    case BRUME_TYPE_DATE:
        allowed = a == BRUME_TYPE_TIMESTAMP || a == BRUME_TYPE_TEXT;
        break;
    case BRUME_TYPE_TIMESTAMP:
    case BRUME_TYPE_DOUBLE:
        allowed = a == BRUME_TYPE_TEXT;
        break;
    default:
        allowed = brume_type_is_number(from->type) || a == BRUME_TYPE_TEXT ||
                  a == BRUME_TYPE_BOOLEAN;
    }
    if (!allowed)
        return refused(builder, from->type, type);
    brume_expression *node = brume_build_node(builder, BRUME_OPERATION_CAST, type, &from, 1);
    if (!node)
        return NULL;
    switch (b) {
    case BRUME_TYPE_TEXT:
        node->max_length = text_length(from->type);
        return node;
    case BRUME_TYPE_DOUBLE:
        node->bounds = (brume_bounds){.real_low = -1e120, .real_high = 1e120};
        node->nullable = true;
        node->bounded = false;
        return node;
    case BRUME_TYPE_DATE:
        if (a == BRUME_TYPE_TIMESTAMP) {
            node->bounds.low = day_of(from->bounds.low);
            node->bounds.high = day_of(from->bounds.high);
        }
        node->nullable = node->nullable || a == BRUME_TYPE_TEXT;
        return node;
    case BRUME_TYPE_BOOLEAN:
    case BRUME_TYPE_TIMESTAMP:
        node->nullable = node->nullable || a == BRUME_TYPE_TEXT;
        return node;
    default:
        return to_exact(builder, from, node);
    }
}

/* CLAMP to bounds, and the grid of integers that values are rounded to. */

static bool read_bound(brume_type type, const char *text, brume_wide_rounding rounding,
                       brume_wide *units, double *real)
{
    brume_wide value;
    int scale;
    if (type.kind == BRUME_TYPE_DOUBLE) {
        char *end;
        *real = strtod(text, &end) + 0.0;
        return end != text && !*end && fabs(*real) < brume_type_bounds(type).real_high &&
               !strpbrk(text, "xXnNiIpP");
    }
    return brume_wide_parse(text, &value, &scale) &&
           brume_wide_rescale(value, scale, type.scale, rounding, units);
}

/* The bounds of dates or timestamps, and how they are written; NULL: they are none. */
static const char *time_bounds(brume_builder *builder, brume_type type, const char *low,
                               const char *high, brume_bounds *bounds)
{
    brume_node first = brume_build_literal(builder, type, low);
    brume_node last = brume_build_literal(builder, type, high);
    if (!first || !last)
        return NULL;
    *bounds = (brume_bounds){.low = first->bounds.low, .high = last->bounds.low};
    return brume_arena_format(builder->arena, "%s..%s", first->text, last->text);
}

brume_node brume_build_clamp(brume_builder *builder, brume_node node, const char *low,
                             const char *high)
{
    if (!node)
        return NULL;
    bool is_time = brume_type_is_time(node->type);
    if (!brume_type_is_number(node->type) && !is_time)
        return brume_build_fail(builder, BRUME_EARGUMENT, NULL,
                                "only numbers and dates can be clamped to bounds");
    brume_bounds bounds = {0}, type_bounds = brume_type_bounds(node->type);
    const char *times = is_time ? time_bounds(builder, node->type, low, high, &bounds) : NULL;
    if (is_time && !times)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    /* Bounds finer than the type's grid are taken inwards: no value lies between. */
    if (!is_time &&
        (!read_bound(node->type, low, BRUME_WIDE_UP, &bounds.low, &bounds.real_low) ||
         !read_bound(node->type, high, BRUME_WIDE_DOWN, &bounds.high, &bounds.real_high)))
        return brume_build_fail(builder, BRUME_EARGUMENT, "bounds are two numbers, LO and HI",
                                "'%.40s' or '%.40s' is not a bound", low, high);
    if (node->type.kind != BRUME_TYPE_DOUBLE) {
        bounds.low = bounds.low < type_bounds.low ? type_bounds.low : bounds.low;
        bounds.high = bounds.high > type_bounds.high ? type_bounds.high : bounds.high;
    }
    if (bounds.low > bounds.high || bounds.real_low > bounds.real_high)
        return brume_build_fail(builder, BRUME_EARGUMENT, "the lower bound comes first",
                                "there is nothing between the bounds %.40s and %.40s", low, high);
    brume_expression *clamp =
        brume_build_node(builder, BRUME_OPERATION_CLAMP, node->type, &node, 1);
    if (!clamp)
        return NULL;
    char text[2][BRUME_WIDE_TEXT_SIZE];
    if (node->type.kind == BRUME_TYPE_DOUBLE)
        clamp->text =
            brume_arena_format(builder->arena, "%.17g..%.17g", bounds.real_low, bounds.real_high);
    else if (is_time)
        clamp->text = times;
    else
        clamp->text = brume_arena_format(builder->arena, "%s..%s",
                                         brume_wide_format(bounds.low, node->type.scale, text[0]),
                                         brume_wide_format(bounds.high, node->type.scale, text[1]));
    if (!clamp->text)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    clamp->bounds = bounds;
    clamp->bounded = true;
    return clamp;
}

brume_node brume_build_grid(brume_builder *builder, brume_node node, const brume_bounds *bounds,
                            int binary_digits)
{
    if (!node)
        return NULL;
    brume_bounds own = *bounds;
    if (node->type.kind != BRUME_TYPE_DOUBLE && binary_digits != 0) {
        own.real_low = brume_wide_double(own.low, node->type.scale);
        own.real_high = brume_wide_double(own.high, node->type.scale);
        node = brume_build_convert(builder, node, (brume_type){BRUME_TYPE_DOUBLE, 0, 0});
        if (!node)
            return NULL;
    }
    brume_expression *grid = brume_build_node(builder, BRUME_OPERATION_GRID,
                                              (brume_type){BRUME_TYPE_BIGINT, 0, 0}, &node, 1);
    if (!grid)
        return NULL;
    char text[2][BRUME_WIDE_TEXT_SIZE];
    if (node->type.kind == BRUME_TYPE_DOUBLE) {
        double low = rint(ldexp(own.real_low, binary_digits));
        double high = rint(ldexp(own.real_high, binary_digits));
        if (abs(binary_digits) > 400 || !(fabs(low) <= 0x1p62) || !(fabs(high) <= 0x1p62))
            return brume_build_fail(builder, BRUME_EOVERFLOW, "CLAMP to narrower bounds",
                                    "a value does not fit the grid");
        grid->bounds = (brume_bounds){.low = (brume_wide)low, .high = (brume_wide)high};
        grid->text =
            brume_arena_format(builder->arena, "%.17g..%.17g", own.real_low, own.real_high);
    } else {
        if (own.low < INT64_MIN / 2 || own.high > INT64_MAX / 2 || node->type.scale > 18)
            return brume_build_fail(builder, BRUME_EOVERFLOW, "CLAMP to narrower bounds",
                                    "a value does not fit the grid");
        grid->bounds = (brume_bounds){.low = own.low, .high = own.high};
        grid->text = brume_arena_format(builder->arena, "%s..%s",
                                        brume_wide_format(own.low, node->type.scale, text[0]),
                                        brume_wide_format(own.high, node->type.scale, text[1]));
    }
    if (!grid->text)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    grid->number[0] = binary_digits;
    grid->bounded = true;
    return grid;
}

/* Comparisons, boolean logic, CASE and the other choices between values. */

static const brume_type BOOLEAN = {BRUME_TYPE_BOOLEAN, 0, 0};
static const brume_type TEXT = {BRUME_TYPE_TEXT, 0, 0};

/* All of `nodes`, widened to their common type. */
static bool together(brume_builder *builder, brume_node *nodes, size_t count, brume_type *type)
{
    if (!brume_build_common(builder, nodes, count, type))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!(nodes[i] = brume_build_convert(builder, nodes[i], *type)))
            return false;
    return true;
}

brume_node brume_build_compare(brume_builder *builder, brume_operation operation, brume_node a,
                               brume_node b)
{
    brume_node both[] = {a, b};
    brume_type type;
    if (!a || !b || !together(builder, both, 2, &type))
        return NULL;
    brume_expression *node = brume_build_node(builder, operation, BOOLEAN, both, 2);
    if (node &&
        (operation == BRUME_OPERATION_DISTINCT || operation == BRUME_OPERATION_NOT_DISTINCT))
        node->nullable = false;
    return node;
}

static brume_node as_boolean(brume_builder *builder, brume_node node, const char *where)
{
    if (!node)
        return NULL;
    if (node->untyped)
        return brume_build_convert(builder, node, BOOLEAN);
    if (node->type.kind == BRUME_TYPE_BOOLEAN)
        return node;
    char name[BRUME_TYPE_NAME_SIZE];
    return brume_build_fail(builder, BRUME_EARGUMENT, "compare it with something",
                            "%s needs a condition, not a %s", where,
                            brume_type_name(node->type, name));
}

brume_node brume_build_logic(brume_builder *builder, brume_operation operation,
                             const brume_node *arguments, size_t count)
{
    /* AND and OR of many become a chain of pairs. */
    brume_node result = NULL;
    for (size_t i = 0; i < count; i++) {
        brume_node each = as_boolean(builder, arguments[i],
                                     operation == BRUME_OPERATION_AND  ? "AND"
                                     : operation == BRUME_OPERATION_OR ? "OR"
                                                                       : "NOT");
        if (!each)
            return NULL;
        brume_node pair[] = {result, each};
        if (operation == BRUME_OPERATION_NOT)
            return brume_build_node(builder, operation, BOOLEAN, &each, 1);
        result = result ? brume_build_node(builder, operation, BOOLEAN, pair, 2) : each;
        if (!result)
            return NULL;
    }
    return result;
}

brume_node brume_build_test(brume_builder *builder, brume_operation operation, brume_node a)
{
    if (!a)
        return NULL;
    bool of_null = operation == BRUME_OPERATION_IS_NULL || operation == BRUME_OPERATION_IS_NOT_NULL;
    a = of_null ? a->untyped ? brume_build_convert(builder, a, TEXT) : a
                : as_boolean(builder, a, brume_operation_word(operation));
    brume_expression *node = brume_build_node(builder, operation, BOOLEAN, &a, 1);
    if (node)
        node->nullable = false;
    return node;
}

brume_node brume_build_between(brume_builder *builder, bool negated, brume_node a, brume_node low,
                               brume_node high)
{
    brume_node all[] = {a, low, high};
    brume_type type;
    if (!a || !low || !high || !together(builder, all, 3, &type))
        return NULL;
    return brume_build_node(
        builder, negated ? BRUME_OPERATION_NOT_BETWEEN : BRUME_OPERATION_BETWEEN, BOOLEAN, all, 3);
}

brume_node brume_build_in(brume_builder *builder, bool negated, brume_node a,
                          const brume_node *list, size_t count)
{
    if (!a)
        return NULL;
    if (count > BRUME_LIMIT_LIST)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "join with a public table instead",
                                "an IN list has more than %d values", BRUME_LIMIT_LIST);
    brume_node *all = brume_arena_allocate(builder->arena, (count + 1) * sizeof *all);
    if (!all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    all[0] = a;
    bool any_null = false;
    for (size_t i = 0; i < count; i++) {
        if (!list[i])
            return NULL;
        if (list[i]->operation != BRUME_OPERATION_LITERAL)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                    "write IN (1, 2, 3), or a chain of OR",
                                    "an IN list may hold constants only");
        any_null = any_null || !list[i]->text;
        all[i + 1] = list[i];
    }
    brume_type type;
    if (!together(builder, all, count + 1, &type))
        return NULL;
    brume_expression *node = brume_build_node(
        builder, negated ? BRUME_OPERATION_NOT_IN : BRUME_OPERATION_IN, BOOLEAN, all, count + 1);
    if (node)
        node->nullable = all[0]->nullable || any_null;
    return node;
}

brume_node brume_build_like(brume_builder *builder, brume_operation operation, brume_node a,
                            const char *pattern)
{
    if (!a)
        return NULL;
    if (a->untyped)
        a = brume_build_convert(builder, a, TEXT);
    if (a && a->type.kind != BRUME_TYPE_TEXT)
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST it to text", "LIKE needs a text");
    size_t escapes = 0, length = strlen(pattern);
    while (escapes < length && pattern[length - 1 - escapes] == '\\')
        escapes++;
    if (escapes % 2)
        return brume_build_fail(builder, BRUME_EARGUMENT, "double the last backslash",
                                "a LIKE pattern ends in a lone escape");
    if (length > BRUME_LIKE_MOST)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "look for a part of it",
                                "a LIKE pattern is longer than %d bytes", BRUME_LIKE_MOST);
    if (brume_pattern_repeats(pattern) > BRUME_LIMIT_REPEATS)
        return brume_build_fail(
            builder, BRUME_EUNSUPPORTED, "shorten it; a part with _ counts as often as it is long",
            "a part of a LIKE pattern repeats itself more than %d times", BRUME_LIMIT_REPEATS);
    brume_expression *node = brume_build_node(builder, operation, BOOLEAN, &a, 1);
    if (!node)
        return NULL;
    char *own = brume_arena_text(builder->arena, pattern);
    if (!own)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    if (operation == BRUME_OPERATION_ILIKE || operation == BRUME_OPERATION_NOT_ILIKE)
        for (char *each = own; *each; each++)
            if (*each >= 'A' && *each <= 'Z')
                *each = (char)(*each - 'A' + 'a');
    node->text = own;
    return node;
}

brume_node brume_build_matches(brume_builder *builder, brume_node a, const char *pattern,
                               bool folds, bool whole)
{
    const char *why = NULL;
    if (!a)
        return NULL;
    if (a->untyped)
        a = brume_build_convert(builder, a, TEXT);
    if (a && a->type.kind != BRUME_TYPE_TEXT)
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST it to text",
                                "a pattern is for a text");
    brume_regular *read = brume_regular_open(pattern, folds, whole, &why);
    if (!read && why)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "see the documentation for what a pattern may hold", "%s", why);
    char *printed = read ? brume_regular_print(read) : NULL;
    brume_expression *node =
        printed ? brume_build_node(builder, BRUME_OPERATION_MATCHES, BOOLEAN, &a, 1) : NULL;
    if (node)
        node->text = brume_arena_text(builder->arena, printed);
    bool made = node && node->text;
    free(printed);
    brume_regular_close(read);
    if (!made && builder->status == BRUME_OK)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    return made ? node : NULL;
}

/* Put the hull of the values' bounds and lengths into `node`. */
static void take_hull(brume_expression *node, const brume_node *values, size_t count)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (brume_build_is_null(values[i]))
            continue;
        const brume_bounds *each = &values[i]->bounds;
        if (first)
            node->bounds = *each;
        if (each->low < node->bounds.low)
            node->bounds.low = each->low;
        if (each->high > node->bounds.high)
            node->bounds.high = each->high;
        if (each->real_low < node->bounds.real_low)
            node->bounds.real_low = each->real_low;
        if (each->real_high > node->bounds.real_high)
            node->bounds.real_high = each->real_high;
        if (values[i]->max_length > node->max_length)
            node->max_length = values[i]->max_length;
        first = false;
    }
    if (first)
        node->bounds = (brume_bounds){0};
}

brume_node brume_build_case(brume_builder *builder, const brume_node *arguments, size_t count)
{
    size_t value_count = count / 2 + count % 2;
    brume_node *values = brume_arena_allocate(builder->arena, value_count * sizeof *values);
    brume_node *all = brume_arena_allocate(builder->arena, count * sizeof *all);
    if (!values || !all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < value_count; i++)
        if (!(values[i] = arguments[2 * i + 1 < count ? 2 * i + 1 : count - 1]))
            return NULL;
    brume_type type;
    if (!together(builder, values, value_count, &type))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (i % 2 == 0 && i + 1 < count)
            all[i] = as_boolean(builder, arguments[i], "CASE WHEN");
        else
            all[i] = values[i / 2];
    brume_expression *node = brume_build_node(builder, BRUME_OPERATION_CASE, type, all, count);
    if (!node)
        return NULL;
    take_hull(node, values, value_count);
    node->nullable = count % 2 == 0;
    node->bounded = true;
    for (size_t i = 0; i < value_count; i++) {
        node->nullable = node->nullable || values[i]->nullable;
        node->bounded = node->bounded && values[i]->bounded;
    }
    return node;
}

static brume_node build_texts(brume_builder *builder, brume_operation operation, brume_node *all,
                              size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i] && all[i]->untyped)
            all[i] = brume_build_convert(builder, all[i], TEXT);
        if (!all[i])
            return NULL;
        if (all[i]->type.kind != BRUME_TYPE_TEXT)
            return brume_build_fail(builder, BRUME_EARGUMENT, "CAST it to text",
                                    "'%s' joins texts only", brume_operation_word(operation));
        length += all[i]->max_length;
    }
    if (length > BRUME_LIMIT_TEXT)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "shorten it with left(x, n)",
                                "a text could grow beyond 1 MiB");
    brume_expression *node = brume_build_node(builder, operation, TEXT, all, count);
    if (!node)
        return NULL;
    node->max_length = length;
    if (operation == BRUME_OPERATION_CONCAT)
        node->nullable = false;
    return node;
}

/* LEAST(n, 100) is at most 100, since that is never NULL. It is bounded if something like it says
 * so and nothing else can be below 0, which is more than a type says: a count is not. */
static void take_least(brume_expression *node, const brume_node *all, size_t count)
{
    if (!brume_type_is_number(node->type))
        return;
    bool real = node->type.kind == BRUME_TYPE_DOUBLE, capped = false, low = true;
    for (size_t i = 0; i < count; i++) {
        low = low &&
              (all[i]->bounded || (real ? all[i]->bounds.real_low >= 0 : all[i]->bounds.low >= 0));
        if (all[i]->nullable)
            continue;
        capped = capped || all[i]->bounded;
        if (all[i]->bounds.high < node->bounds.high)
            node->bounds.high = all[i]->bounds.high;
        if (all[i]->bounds.real_high < node->bounds.real_high)
            node->bounds.real_high = all[i]->bounds.real_high;
    }
    node->bounded = node->bounded || (capped && low);
}

brume_node brume_build_choice(brume_builder *builder, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    brume_node *all = brume_arena_copy(builder->arena, arguments, count * sizeof *all);
    if (!all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!all[i])
            return NULL;
    if (operation == BRUME_OPERATION_CONCAT || operation == BRUME_OPERATION_JOIN_TEXT)
        return build_texts(builder, operation, all, count);
    brume_type type;
    if (!together(builder, all, count, &type))
        return NULL;
    if (type.kind == BRUME_TYPE_BOOLEAN &&
        (operation == BRUME_OPERATION_GREATEST || operation == BRUME_OPERATION_LEAST))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "use OR and AND",
                                "%s is not defined for booleans", brume_operation_word(operation));
    brume_expression *node = brume_build_node(builder, operation, type, all, count);
    if (!node)
        return NULL;
    if (operation == BRUME_OPERATION_NULLIF) {
        node->bounds = all[0]->bounds;
        node->max_length = all[0]->max_length;
        node->nullable = true;
        node->bounded = all[0]->bounded;
        return node;
    }
    take_hull(node, all, count);
    if (operation == BRUME_OPERATION_LEAST)
        take_least(node, all, count);
    node->nullable = true;
    for (size_t i = 0; i < count; i++)
        node->nullable = node->nullable && all[i]->nullable;
    return node;
}
