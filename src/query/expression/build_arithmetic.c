/* Arithmetic: types and bounds of + - * / %, negation, abs and sign.
 *
 * Integers keep their width and are NULL where they leave it; decimals are exact and refused where
 * they could need more than 38 digits; doubles are NULL where they reach 1e150. Division by zero is
 * NULL. Bounds are corner values; for doubles the corners are computed by the same rounded
 * operation, which is monotone in each operand. */
#include "query/expression/build.h"

#include <math.h>

#include "query/expression/literal.h"

static const brume_type INTEGER = {BRUME_TYPE_INTEGER, 0, 0};
static const brume_type BIGINT = {BRUME_TYPE_BIGINT, 0, 0};
static const brume_type DOUBLE = {BRUME_TYPE_DOUBLE, 0, 0};
static const double LIMIT = 1e150;

static brume_wide wide_abs(brume_wide value)
{
    return value < 0 ? -value : value;
}

static brume_wide wide_max(brume_wide a, brume_wide b)
{
    return a > b ? a : b;
}

static brume_wide wide_min(brume_wide a, brume_wide b)
{
    return a < b ? a : b;
}

static brume_wide magnitude(brume_node node)
{
    return wide_max(wide_abs(node->bounds.low), wide_abs(node->bounds.high));
}

static bool spans_zero(brume_node node)
{
    if (node->type.kind == BRUME_TYPE_DOUBLE)
        return node->bounds.real_low <= 0 && node->bounds.real_high >= 0;
    return node->bounds.low <= 0 && node->bounds.high >= 0;
}

static brume_node too_many_digits(brume_builder *builder, brume_operation operation)
{
    return brume_build_fail(
        builder, BRUME_EUNSUPPORTED, "CLAMP the operands, or CAST one to double precision",
        "the result of '%s' may need more than 38 digits", brume_operation_word(operation));
}

/* Low and high of + - * on exact bounds; false where they do not fit 128 bits. */
static bool exact_corners(brume_operation operation, const brume_bounds *a, const brume_bounds *b,
                          brume_bounds *out)
{
    if (operation == BRUME_OPERATION_ADD)
        return !__builtin_add_overflow(a->low, b->low, &out->low) &&
               !__builtin_add_overflow(a->high, b->high, &out->high);
    if (operation == BRUME_OPERATION_SUBTRACT)
        return !__builtin_sub_overflow(a->low, b->high, &out->low) &&
               !__builtin_sub_overflow(a->high, b->low, &out->high);
    brume_wide corner[4];
    if (__builtin_mul_overflow(a->low, b->low, &corner[0]) ||
        __builtin_mul_overflow(a->low, b->high, &corner[1]) ||
        __builtin_mul_overflow(a->high, b->low, &corner[2]) ||
        __builtin_mul_overflow(a->high, b->high, &corner[3]))
        return false;
    out->low = wide_min(wide_min(corner[0], corner[1]), wide_min(corner[2], corner[3]));
    out->high = wide_max(wide_max(corner[0], corner[1]), wide_max(corner[2], corner[3]));
    return true;
}

static void remainder_bounds(brume_expression *node, brume_node a, brume_wide a_magnitude,
                             brume_wide b_magnitude)
{
    brume_wide most = wide_min(a_magnitude, b_magnitude);
    node->bounds.low = a->bounds.low < 0 ? -most : 0;
    node->bounds.high = a->bounds.high > 0 ? most : 0;
    node->nullable = node->nullable || spans_zero(node->arguments[1]);
}

/* ---- integers ---- */

static brume_node integer_arithmetic(brume_builder *builder, brume_operation operation,
                                     brume_node a, brume_node b, brume_type type)
{
    brume_node arguments[] = {brume_build_convert(builder, a, type),
                              brume_build_convert(builder, b, type)};
    brume_expression *node = brume_build_node(builder, operation, type, arguments, 2);
    if (!node)
        return NULL;
    brume_bounds whole = brume_type_bounds(type), bounds = {0};
    a = arguments[0];
    b = arguments[1];
    if (operation == BRUME_OPERATION_REMAINDER) {
        remainder_bounds(node, a, magnitude(a), magnitude(b));
        return node;
    }
    if (operation == BRUME_OPERATION_DIVIDE) {
        bounds.high = magnitude(a);
        bounds.low = -bounds.high;
        if (!spans_zero(b)) {
            brume_wide corner[] = {a->bounds.low / b->bounds.low, a->bounds.low / b->bounds.high,
                                   a->bounds.high / b->bounds.low, a->bounds.high / b->bounds.high};
            bounds.low = wide_min(wide_min(corner[0], corner[1]), wide_min(corner[2], corner[3]));
            bounds.high = wide_max(wide_max(corner[0], corner[1]), wide_max(corner[2], corner[3]));
            if (a->bounds.low < 0 && a->bounds.high > 0) {
                bounds.low = wide_min(bounds.low, 0);
                bounds.high = wide_max(bounds.high, 0);
            }
        }
        node->nullable =
            node->nullable || spans_zero(b) ||
            (a->bounds.low == whole.low && b->bounds.low <= -1 && b->bounds.high >= -1);
    } else {
        /* 64-bit operands: the corners fit 128 bits. */
        (void)exact_corners(operation, &a->bounds, &b->bounds, &bounds);
        if (bounds.low < whole.low || bounds.high > whole.high)
            node->nullable = true;
    }
    /* Where all values overflow, the node is NULL always: any bounds hold. */
    node->bounds.low = wide_min(wide_max(bounds.low, whole.low), whole.high);
    node->bounds.high = wide_max(wide_min(bounds.high, whole.high), whole.low);
    return node;
}

/* ---- decimals ---- */

/* An integer as a decimal of just the digits its bounds need. */
static brume_node as_decimal(brume_builder *builder, brume_node node)
{
    if (!node || node->type.kind == BRUME_TYPE_DECIMAL)
        return node;
    brume_type type = {BRUME_TYPE_DECIMAL, brume_wide_digits(magnitude(node)), 0};
    return brume_build_convert(builder, node, type);
}

/* Digits that bounds at scale `from` need at scale `to`; 99 if more than 38. */
static int digits_at(const brume_bounds *bounds, int from, int to)
{
    brume_wide most = wide_max(wide_abs(bounds->low), wide_abs(bounds->high)), shifted;
    if (!brume_wide_shift(most, to - from, &shifted))
        return 99;
    int digits = brume_wide_digits(shifted);
    return digits > to ? digits : to;
}

static brume_node decimal_arithmetic(brume_builder *builder, brume_operation operation,
                                     brume_node a, brume_node b)
{
    a = as_decimal(builder, a);
    b = as_decimal(builder, b);
    if (!a || !b)
        return NULL;
    int scale = a->type.scale > b->type.scale ? a->type.scale : b->type.scale;
    brume_bounds bounds = {0}, shifted[2] = {{0}, {0}};
    int precision;
    if (operation == BRUME_OPERATION_MULTIPLY) {
        scale = a->type.scale + b->type.scale;
        if (scale > BRUME_WIDE_DIGITS || !exact_corners(operation, &a->bounds, &b->bounds, &bounds))
            return too_many_digits(builder, operation);
        precision = digits_at(&bounds, scale, scale);
    } else {
        brume_node operand[] = {a, b};
        for (int i = 0; i < 2; i++)
            if (!brume_wide_shift(operand[i]->bounds.low, scale - operand[i]->type.scale,
                                  &shifted[i].low) ||
                !brume_wide_shift(operand[i]->bounds.high, scale - operand[i]->type.scale,
                                  &shifted[i].high))
                return too_many_digits(builder, operation);
        int needed[3] = {digits_at(&shifted[0], scale, scale), digits_at(&shifted[1], scale, scale),
                         0};
        if (operation != BRUME_OPERATION_REMAINDER) {
            if (!exact_corners(operation, &shifted[0], &shifted[1], &bounds))
                return too_many_digits(builder, operation);
            needed[2] = digits_at(&bounds, scale, scale);
        }
        precision = needed[0] > needed[1] ? needed[0] : needed[1];
        precision = needed[2] > precision ? needed[2] : precision;
    }
    if (precision > BRUME_WIDE_DIGITS)
        return too_many_digits(builder, operation);
    brume_node arguments[] = {a, b};
    brume_type type = {BRUME_TYPE_DECIMAL, precision, scale};
    brume_expression *node = brume_build_node(builder, operation, type, arguments, 2);
    if (!node)
        return NULL;
    if (operation == BRUME_OPERATION_REMAINDER)
        remainder_bounds(node, a, wide_max(wide_abs(shifted[0].low), wide_abs(shifted[0].high)),
                         wide_max(wide_abs(shifted[1].low), wide_abs(shifted[1].high)));
    else
        node->bounds = bounds;
    return node;
}

/* ---- doubles ---- */

/* Factors and divisors below 1e-150 in size count as 0. */
static void flushed(const brume_bounds *bounds, double *low, double *high)
{
    *low = bounds->real_low > 0 && bounds->real_low < 1e-150 ? 0.0 : bounds->real_low;
    *high = bounds->real_high < 0 && bounds->real_high > -1e-150 ? 0.0 : bounds->real_high;
}

static brume_node double_arithmetic(brume_builder *builder, brume_operation operation, brume_node a,
                                    brume_node b)
{
    brume_node arguments[] = {brume_build_convert(builder, a, DOUBLE),
                              brume_build_convert(builder, b, DOUBLE)};
    brume_expression *node = brume_build_node(builder, operation, DOUBLE, arguments, 2);
    if (!node)
        return NULL;
    const brume_bounds *x = &arguments[0]->bounds, *y = &arguments[1]->bounds;
    double low, high, a_low, a_high, b_low, b_high;
    flushed(x, &a_low, &a_high);
    flushed(y, &b_low, &b_high);
    if (operation == BRUME_OPERATION_ADD) {
        low = x->real_low + y->real_low;
        high = x->real_high + y->real_high;
    } else if (operation == BRUME_OPERATION_SUBTRACT) {
        low = x->real_low - y->real_high;
        high = x->real_high - y->real_low;
    } else if (operation == BRUME_OPERATION_MULTIPLY ||
               (!(b_low <= 0 && b_high >= 0) && fmin(fabs(b_low), fabs(b_high)) >= 1e-150)) {
        bool times = operation == BRUME_OPERATION_MULTIPLY;
        double corner[] = {
            times ? a_low * b_low : a_low / b_low, times ? a_low * b_high : a_low / b_high,
            times ? a_high * b_low : a_high / b_low, times ? a_high * b_high : a_high / b_high};
        low = fmin(fmin(corner[0], corner[1]), fmin(corner[2], corner[3]));
        high = fmax(fmax(corner[0], corner[1]), fmax(corner[2], corner[3]));
    } else {
        low = -LIMIT;
        high = LIMIT;
        node->bounded = false;
    }
    if (!(low > -LIMIT && high < LIMIT)) {
        node->nullable = true;
        node->bounded = false;
    }
    node->bounds.real_low = fmin(fmax(low, -LIMIT), LIMIT) + 0.0;
    node->bounds.real_high = fmax(fmin(high, LIMIT), -LIMIT) + 0.0;
    return node;
}

/* ---- the operators ---- */

brume_node brume_build_arithmetic(brume_builder *builder, brume_operation operation, brume_node a,
                                  brume_node b)
{
    if (!a || !b)
        return NULL;
    if (a->untyped && b->untyped)
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST one of them",
                                "the type of the operands of '%s' is not known",
                                brume_operation_word(operation));
    if (a->untyped)
        a = brume_build_convert(builder, a, b->type);
    else if (b->untyped)
        b = brume_build_convert(builder, b, a->type);
    if (!a || !b)
        return NULL;
    if (a->type.kind == BRUME_TYPE_DATE || b->type.kind == BRUME_TYPE_DATE) {
        bool add = operation == BRUME_OPERATION_ADD;
        if (add && a->type.kind == BRUME_TYPE_INTEGER) {
            brume_node swapped = a;
            a = b;
            b = swapped;
        }
        brume_node arguments[] = {a, b};
        if (operation == BRUME_OPERATION_SUBTRACT && b->type.kind == BRUME_TYPE_DATE &&
            a->type.kind == BRUME_TYPE_DATE) {
            brume_expression *node =
                brume_build_node(builder, BRUME_OPERATION_DAYS_BETWEEN, INTEGER, arguments, 2);
            if (!node)
                return NULL;
            (void)exact_corners(operation, &a->bounds, &b->bounds, &node->bounds);
            node->bounded = brume_build_is_dated(a) && brume_build_is_dated(b);
            return node;
        }
        if ((add || operation == BRUME_OPERATION_SUBTRACT) && a->type.kind == BRUME_TYPE_DATE &&
            b->type.kind == BRUME_TYPE_INTEGER) {
            brume_expression *node = brume_build_node(
                builder, add ? BRUME_OPERATION_ADD_DAYS : BRUME_OPERATION_SUBTRACT_DAYS, a->type,
                arguments, 2);
            if (!node)
                return NULL;
            node->nullable = true;
            return node;
        }
    }
    if (operation == BRUME_OPERATION_SUBTRACT && brume_type_is_time(a->type) &&
        brume_type_is_time(b->type))
        return brume_build_elapsed(builder, a, b);
    if (!brume_type_is_number(a->type) || !brume_type_is_number(b->type)) {
        char left[BRUME_TYPE_NAME_SIZE], right[BRUME_TYPE_NAME_SIZE];
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "CAST the operands",
                                "'%s' is not defined for %s and %s",
                                brume_operation_word(operation), brume_type_name(a->type, left),
                                brume_type_name(b->type, right));
    }
    bool any_double = a->type.kind == BRUME_TYPE_DOUBLE || b->type.kind == BRUME_TYPE_DOUBLE;
    bool any_decimal = a->type.kind == BRUME_TYPE_DECIMAL || b->type.kind == BRUME_TYPE_DECIMAL;
    if (any_double || (any_decimal && operation == BRUME_OPERATION_DIVIDE)) {
        if (operation == BRUME_OPERATION_REMAINDER)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED, "CAST to numeric(p,s) first",
                                    "'%%' is not defined for double precision");
        return double_arithmetic(builder, operation, a, b);
    }
    if (any_decimal)
        return decimal_arithmetic(builder, operation, a, b);
    bool wide = a->type.kind == BRUME_TYPE_BIGINT || b->type.kind == BRUME_TYPE_BIGINT;
    return integer_arithmetic(builder, operation, a, b, wide ? BIGINT : INTEGER);
}

brume_node brume_build_unary(brume_builder *builder, brume_operation operation, brume_node a)
{
    if (!a)
        return NULL;
    if (!brume_type_is_number(a->type))
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST the operand to a number",
                                "'%s' needs a number", brume_operation_word(operation));
    brume_type type = a->type;
    if (operation == BRUME_OPERATION_SIGN) {
        if (type.kind == BRUME_TYPE_DECIMAL) {
            type = (brume_type){BRUME_TYPE_DECIMAL, 1, 0};
        } else {
            a = brume_build_convert(builder, a, DOUBLE);
            type = DOUBLE;
        }
    }
    brume_expression *node = brume_build_node(builder, operation, type, &a, 1);
    if (!node)
        return NULL;
    const brume_bounds *x = &a->bounds;
    brume_bounds bounds = {0};
    switch (operation) {
    case BRUME_OPERATION_NEGATE:
        bounds = (brume_bounds){-x->high, -x->low, 0.0 - x->real_high, 0.0 - x->real_low};
        break;
    case BRUME_OPERATION_ABS:
        bounds.high = magnitude(a);
        bounds.low = spans_zero(a) ? 0 : wide_min(wide_abs(x->low), wide_abs(x->high));
        bounds.real_high = fmax(fabs(x->real_low), fabs(x->real_high));
        bounds.real_low = spans_zero(a) ? 0.0 : fmin(fabs(x->real_low), fabs(x->real_high));
        break;
    default:
        bounds = (brume_bounds){-1, 1,
                                x->real_low < 0    ? -1.0
                                : x->real_low == 0 ? 0.0
                                                   : 1.0,
                                x->real_high > 0    ? 1.0
                                : x->real_high == 0 ? 0.0
                                                    : -1.0};
        node->bounded = true;
    }
    if (type.kind == BRUME_TYPE_INTEGER || type.kind == BRUME_TYPE_BIGINT) {
        brume_bounds whole = brume_type_bounds(type);
        if (bounds.high > whole.high) {
            node->nullable = true;
            bounds.high = whole.high;
            bounds.low = wide_min(bounds.low, whole.high);
        }
    }
    node->bounds = bounds;
    return node;
}
