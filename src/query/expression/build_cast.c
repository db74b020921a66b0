/* CAST: which are allowed, and the bounds of their results. What does not convert is NULL. */
#include "query/expression/build.h"

#include <math.h>

#include "query/expression/literal.h"
#include "query/expression/wide.h"

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
