/* Values on a grid: how the expressions of aggregates become integers that can be summed exactly.
 *
 * Promise: a grid comes from the declared bounds alone, never from a row. */
#include "query/plan/plan_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "query/expression/build.h"
#include "query/expression/wide.h"

/* The grid comes from the bounds alone. Whole numbers and decimals keep their own unit where the
 * sums stay small enough; other values get a power of two that cuts the bounds into about 2^28
 * steps, or 2^18 where squares are measured, whose noise grows with the square. */
static brume_status put_on_grid(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    const brume_expression *x = value->argument;
    const brume_bounds *bounds = &x->bounds;
    bool exact = x->type.kind != BRUME_TYPE_DOUBLE;
    if (exact) {
        brume_wide width = bounds->high - bounds->low,
                   most = (brume_wide)1 << (value->squares ? 22 : 44);
        brume_wide far = (brume_wide)1 << 60;
        if (width <= most && bounds->low > -far && bounds->high < far) {
            value->low = (int64_t)bounds->low;
            value->high = (int64_t)bounds->high;
            value->step = pow(10, -x->type.scale);
            return brume_query_grid(plan->query, x, bounds, 0, &value->grid, error);
        }
    }
    double unit = exact ? pow(10, -x->type.scale) : 1;
    double low = exact ? (double)bounds->low * unit : bounds->real_low;
    double high = exact ? (double)bounds->high * unit : bounds->real_high;
    int digits = (value->squares ? 18 : 28) - (int)ceil(log2(fmax(high - low, 0x1p-900)));
    double size = fmax(fabs(low), fabs(high));
    if (size > 0 && digits + ilogb(size) > 58) /* far from zero: stay within 63 bits */
        digits = 58 - ilogb(size);
    value->step = ldexp(1, -digits);
    BRUME_TRY(brume_query_grid(plan->query, x, bounds, digits, &value->grid, error));
    value->low = (int64_t)value->grid->bounds.low; /* as the engine will clamp, to the step */
    value->high = (int64_t)value->grid->bounds.high;
    return BRUME_OK;
}

void brume_plan_bounds(const brume_expression *x, double *low, double *high)
{
    bool real = x->type.kind == BRUME_TYPE_DOUBLE;
    *low = real ? x->bounds.real_low : brume_wide_double(x->bounds.low, x->type.scale);
    *high = real ? x->bounds.real_high : brume_wide_double(x->bounds.high, x->type.scale);
}

brume_status brume_plan_square(const brume_plan *plan, const brume_expression *x,
                               const brume_expression **square, brume_error *error)
{
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    double low = 0, high = 0;
    brume_plan_bounds(x, &low, &high);
    brume_node size = brume_build_convert(&builder, x, (brume_type){BRUME_TYPE_DOUBLE, 0, 0});
    if (low < 0) /* so that the bounds of the square begin at 0 */
        size = brume_build_unary(&builder, BRUME_OPERATION_ABS, size);
    *square = brume_build_arithmetic(&builder, BRUME_OPERATION_MULTIPLY, size, size);
    return *square ? BRUME_OK : builder.status;
}

/* x less the middle of its bounds, as a double. */
static brume_node less_middle(brume_builder *builder, const brume_expression *x, double *middle)
{
    const brume_type real = {BRUME_TYPE_DOUBLE, 0, 0};
    double low = 0, high = 0;
    char text[40];
    brume_plan_bounds(x, &low, &high);
    snprintf(text, sizeof text, "%.17g", low / 2 + high / 2);
    *middle = strtod(text, NULL);
    return brume_build_arithmetic(builder, BRUME_OPERATION_SUBTRACT,
                                  brume_build_convert(builder, x, real),
                                  brume_build_literal(builder, real, text));
}

brume_status brume_plan_product(const brume_plan *plan, const brume_expression *x,
                                const brume_expression *y, double middle[2],
                                const brume_expression **product, brume_error *error)
{
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    brume_node first = less_middle(&builder, x, &middle[0]);
    brume_node second = less_middle(&builder, y, &middle[1]);
    if (first && x == y) /* so that the bounds of the square begin at 0 */
        first = second = brume_build_unary(&builder, BRUME_OPERATION_ABS, first);
    *product = brume_build_arithmetic(&builder, BRUME_OPERATION_MULTIPLY, first, second);
    return *product ? BRUME_OK : builder.status;
}

/* Where the sum of a mean has a limit of its own and all values are far from 0, as years are, the
 * grid counts from the bound that is nearest to 0: then a unit's sum says how far its values are
 * from there, and not how many it has. Sums and ranks are of the values themselves. */
static brume_status move_origin(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    static const brume_type whole = {.kind = BRUME_TYPE_BIGINT};
    int64_t nearest = value->low > 0 ? value->low : value->high < 0 ? value->high : 0;
    if (nearest == 0 || !plan->own_limits || !value->averaged || value->added || value->squares ||
        value->spread || value->keep)
        return BRUME_OK;
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)nearest);
    brume_node moved = brume_build_arithmetic(&builder, BRUME_OPERATION_SUBTRACT, value->grid,
                                              brume_build_literal(&builder, whole, text));
    if (!moved)
        return builder.status;
    value->grid = moved;
    value->origin = nearest;
    value->low -= nearest;
    value->high -= nearest;
    return BRUME_OK;
}

/* COUNT(x) only needs to know which are NULL: a grid of the one point 0. */
static brume_status put_on_point(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    static const brume_type whole = {.kind = BRUME_TYPE_BIGINT};
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    brume_node parts[] = {brume_build_test(&builder, BRUME_OPERATION_IS_NOT_NULL, value->argument),
                          brume_build_literal(&builder, whole, "0"),
                          brume_build_literal(&builder, whole, NULL)};
    value->grid = brume_build_case(&builder, parts, 3);
    value->step = 1;
    return value->grid ? BRUME_OK : builder.status;
}

/* MODE(x): the place of x in its declared domain. NULL and undeclared values are no candidates. */
static brume_status put_on_places(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    static const brume_type whole = {.kind = BRUME_TYPE_BIGINT};
    const brume_policy_column *column = value->declared;
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    brume_node *parts = calloc(2 * column->domain_count + 1, sizeof *parts);
    if (!parts)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a plan");
    for (size_t i = 0; i < column->domain_count; i++) {
        char place[24];
        snprintf(place, sizeof place, "%zu", i);
        brume_node literal =
            brume_build_literal(&builder, value->argument->type, column->domain[i]);
        parts[2 * i] =
            brume_build_compare(&builder, BRUME_OPERATION_EQUAL, value->argument, literal);
        parts[2 * i + 1] = brume_build_literal(&builder, whole, place);
    }
    parts[2 * column->domain_count] = brume_build_literal(&builder, whole, NULL);
    value->grid = brume_build_case(&builder, parts, 2 * column->domain_count + 1);
    free(parts);
    value->step = 1;
    value->low = 0;
    value->high = (int64_t)column->domain_count - 1;
    if (!value->grid && builder.status == BRUME_EUNSUPPORTED) /* too large an expression */
        return brume_fail(error, BRUME_EUNSUPPORTED, "group by it, and order by COUNT(*) DESC",
                          "MODE among %zu declared values: some hundred are possible",
                          column->domain_count);
    return value->grid ? BRUME_OK : builder.status;
}

brume_status brume_plan_grid_values(brume_plan *plan, brume_error *error)
{
    for (size_t i = 0; i < plan->value_count; i++) {
        brume_plan_value *value = &plan->values[i];
        if (!value->argument)
            return brume_fail(error, BRUME_EINTERNAL, NULL, "a value without an expression");
        if (value->declared)
            BRUME_TRY(put_on_places(plan, value, error));
        else if (brume_type_is_number(value->argument->type) && value->argument->bounded)
            BRUME_TRY(put_on_grid(plan, value, error));
        else
            BRUME_TRY(put_on_point(plan, value, error));
        BRUME_TRY(move_origin(plan, value, error));
    }
    return BRUME_OK;
}

/* ---- the rows of answered groups ---- */

/* The key is one of the `count` values of `domain`. */
static brume_node in_domain(brume_builder *builder, const brume_expression *key,
                            const brume_key_value *domain, size_t count)
{
    brume_node list[BRUME_LIMIT_LIST / 10], any[2] = {NULL, NULL};
    size_t listed = 0;
    if (count > sizeof list / sizeof *list)
        return brume_build_literal(builder, (brume_type){BRUME_TYPE_BOOLEAN, 0, 0}, "true");
    for (size_t i = 0; i < count; i++) {
        char number[BRUME_KEY_TEXT];
        const char *text = domain[i].wire == BRUME_WIRE_TEXT ? domain[i].text.data : number;
        if (domain[i].null) {
            any[1] = brume_build_test(builder, BRUME_OPERATION_IS_NULL, key);
            continue;
        }
        if (domain[i].wire != BRUME_WIRE_TEXT)
            brume_integer_text(key->type, domain[i].integer, number, sizeof number);
        list[listed++] = brume_build_literal(builder, key->type, text);
    }
    if (listed)
        any[0] = brume_build_in(builder, false, key, list, listed);
    if (!any[0] || !any[1])
        return any[0] ? any[0] : any[1];
    return brume_build_logic(builder, BRUME_OPERATION_OR, any, 2);
}

brume_node brume_plan_answered_rows(const brume_plan *plan, brume_builder *builder)
{
    brume_node all = plan->query->where;
    for (size_t i = 0, at = 0; plan->domain && i < plan->query->key_count; i++) {
        brume_node both[] = {all, in_domain(builder, plan->query->keys[i].expression,
                                            &plan->domain[at], plan->domain_size[i])};
        at += plan->domain_size[i];
        if (!both[1])
            return NULL;
        all = all ? brume_build_logic(builder, BRUME_OPERATION_AND, both, 2) : both[1];
        if (!all)
            return NULL;
    }
    return all;
}
