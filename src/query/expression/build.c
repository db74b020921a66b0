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
#include "query/expression/literal.h"
#include "query/expression/text_work.h"
#include "query/expression/wide.h"

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
