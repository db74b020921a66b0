/* CLAMP to bounds, and the grid of integers that values are rounded to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/expression/build.h"
#include "query/expression/wide.h"

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
