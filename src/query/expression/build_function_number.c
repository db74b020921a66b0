/* Functions of numbers: rounding, roots, logarithms, powers, buckets and CLAMP.
 *
 * The bounds of a result hold for whatever the engine computes: where libms differ they lie a few
 * units outwards, and a key made of such a result is marked as inexact. */
#include "query/expression/build_function.h"

#include <math.h>

#include "query/expression/wide.h"

static const brume_type INTEGER = {BRUME_TYPE_INTEGER, 0, 0};
static const brume_type DOUBLE = {BRUME_TYPE_DOUBLE, 0, 0};
static const double LIMIT = 1e150;

static brume_node build_unary(brume_builder *builder, const char *name, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    (void)count;
    return brume_build_unary(builder, operation,
                             brume_argument_number(builder, name, arguments[0]));
}

static brume_node build_remainder(brume_builder *builder, const char *name,
                                  brume_operation operation, const brume_node *arguments,
                                  size_t count)
{
    (void)name;
    (void)count;
    return brume_build_arithmetic(builder, operation, arguments[0], arguments[1]);
}

static brume_wide_rounding rounding_of(brume_operation operation)
{
    return operation == BRUME_OPERATION_FLOOR   ? BRUME_WIDE_DOWN
           : operation == BRUME_OPERATION_CEIL  ? BRUME_WIDE_UP
           : operation == BRUME_OPERATION_TRUNC ? BRUME_WIDE_TO_ZERO
                                                : BRUME_WIDE_HALF_AWAY;
}

static double round_real(brume_operation operation, double x)
{
    return operation == BRUME_OPERATION_FLOOR   ? floor(x)
           : operation == BRUME_OPERATION_CEIL  ? ceil(x)
           : operation == BRUME_OPERATION_TRUNC ? trunc(x)
                                                : rint(x);
}

static brume_node build_decimal_rounding(brume_builder *builder, const char *name,
                                         brume_operation operation, brume_node a, long digits)
{
    int precision = a->type.precision, scale = a->type.scale;
    if (digits >= scale && operation != BRUME_OPERATION_FLOOR && operation != BRUME_OPERATION_CEIL)
        return a;
    if (digits < -1 || (digits == -1 && operation != BRUME_OPERATION_ROUND))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "use digits of 0 or more",
                                "%s to %ld digits is not supported", name, digits);
    int kept = digits < 0 ? 0 : (int)digits;
    int whole = precision - scale + 1;
    brume_type type = {BRUME_TYPE_DECIMAL, whole + kept < 1 ? 1 : whole + kept, kept};
    /* What the printed forms go through must fit. */
    int through = type.precision;
    if (operation == BRUME_OPERATION_TRUNC)
        through = (precision > 19 ? precision : 19) + kept + 1;
    else if (digits < 0)
        through = (precision > 19 ? precision : 19) + 3;
    if (operation == BRUME_OPERATION_FLOOR || operation == BRUME_OPERATION_CEIL)
        through = precision + 1;
    if (through > BRUME_WIDE_DIGITS || type.precision > BRUME_WIDE_DIGITS)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "CAST to fewer digits first",
                                "%s needs more than 38 digits here", name);
    brume_expression *node = brume_build_node(builder, operation, type, &a, 1);
    if (!node)
        return NULL;
    node->number[0] = digits;
    brume_wide_rounding rounding = rounding_of(operation);
    brume_wide low = 0, high = 0;
    (void)brume_wide_rescale(a->bounds.low, scale, (int)digits, rounding, &low);
    (void)brume_wide_rescale(a->bounds.high, scale, (int)digits, rounding, &high);
    node->bounds =
        (brume_bounds){.low = digits < 0 ? low * 10 : low, .high = digits < 0 ? high * 10 : high};
    return node;
}

static brume_node build_rounding(brume_builder *builder, const char *name,
                                 brume_operation operation, const brume_node *arguments,
                                 size_t count)
{
    brume_node a = brume_argument_number(builder, name, arguments[0]);
    if (!a)
        return NULL;
    long digits = 0;
    if (count == 2 &&
        !brume_argument_constant_integer(builder, name, arguments[1], -38, 38, &digits))
        return NULL;
    if (a->type.kind == BRUME_TYPE_DECIMAL)
        return build_decimal_rounding(builder, name, operation, a, digits);
    if (count == 2)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "CAST to numeric(p,s) first",
                                "%s with digits needs a decimal", name);
    a = brume_build_convert(builder, a, DOUBLE);
    brume_expression *node = brume_build_node(builder, operation, DOUBLE, &a, 1);
    if (!node)
        return NULL;
    node->bounds.real_low = round_real(operation, a->bounds.real_low) + 0.0;
    node->bounds.real_high = round_real(operation, a->bounds.real_high) + 0.0;
    return node;
}

/* Eight units in the last place outwards: more than any libm is wrong by here. */
static double outwards(double x, double direction)
{
    for (int i = 0; i < 8; i++)
        x = nextafter(x, direction);
    return x;
}

static brume_node build_real(brume_builder *builder, const char *name, brume_operation operation,
                             const brume_node *arguments, size_t count)
{
    (void)count;
    brume_node a =
        brume_build_convert(builder, brume_argument_number(builder, name, arguments[0]), DOUBLE);
    brume_expression *node = brume_build_node(builder, operation, DOUBLE, &a, 1);
    if (!node)
        return NULL;
    double low = a->bounds.real_low, high = a->bounds.real_high;
    switch (operation) {
    case BRUME_OPERATION_SQRT:
        node->nullable = node->nullable || low < 0;
        node->bounds.real_low = sqrt(fmax(low, 0));
        node->bounds.real_high = sqrt(fmax(high, 0));
        break;
    case BRUME_OPERATION_EXP:
        node->nullable = node->nullable || high > 345;
        node->bounded = node->bounded && high <= 345;
        node->bounds.real_low = low > -345 ? outwards(exp(fmin(low, 345)), -INFINITY) : 0.0;
        node->bounds.real_high = high > -345 ? outwards(exp(fmin(high, 345)), INFINITY) : 0.0;
        node->inexact_key = true;
        break;
    default: {
        bool natural = operation == BRUME_OPERATION_LN;
        double below = -745.0; /* ln of the least positive double, and below log10 of it */
        node->nullable = node->nullable || low <= 0;
        node->bounded = node->bounded && low > 0;
        node->bounds.real_low = low > 0 ? outwards(natural ? log(low) : log10(low), -INFINITY)
                                        : below;
        node->bounds.real_high = high > 0 ? outwards(natural ? log(high) : log10(high), INFINITY)
                                          : below;
        node->inexact_key = true;
    }
    }
    return node;
}

static brume_node build_power(brume_builder *builder, const char *name, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    (void)count;
    brume_node both[2];
    for (int i = 0; i < 2; i++)
        both[i] = brume_build_convert(builder, brume_argument_number(builder, name, arguments[i]),
                                      DOUBLE);
    brume_expression *node = brume_build_node(builder, operation, DOUBLE, both, 2);
    if (!node)
        return NULL;
    double low = both[0]->bounds.real_low, high = both[0]->bounds.real_high;
    node->nullable = true;
    node->inexact_key = true;
    node->bounds.real_low = low < 0 ? -LIMIT : 0.0;
    node->bounds.real_high = LIMIT;
    bool bounded = false;
    double exponent = both[1]->bounds.real_low;
    /* A constant natural exponent: monotone on each side of 0. */
    if (brume_argument_constant(both[1]) && exponent == floor(exponent) && exponent >= 1 &&
        exponent <= 64) {
        double a = pow(low, exponent), b = pow(high, exponent);
        double least = fmin(a, b), most = fmax(a, b);
        if (low <= 0 && high >= 0 && fmod(exponent, 2) == 0)
            least = 0.0;
        least = least == 0 ? 0.0 : outwards(least, -INFINITY);
        most = most == 0 ? 0.0 : outwards(most, INFINITY);
        if (least > -1e149 && most < 1e149) {
            bounded = both[0]->bounded;
            /* Results below e^-345 count as 0. */
            node->bounds.real_low = least > 0 && least < 1e-100 ? 0.0 : least;
            node->bounds.real_high = most < 0 && most > -1e-100 ? 0.0 : most;
        }
    }
    node->bounded = bounded;
    return node;
}

static brume_node build_width_bucket(brume_builder *builder, const char *name,
                                     brume_operation operation, const brume_node *arguments,
                                     size_t count)
{
    (void)count;
    brume_node all[3];
    for (int i = 0; i < 3; i++)
        all[i] = brume_build_convert(builder, brume_argument_number(builder, name, arguments[i]),
                                     DOUBLE);
    long buckets;
    if (!all[0] || !all[1] || !all[2] ||
        !brume_argument_constant_integer(builder, name, arguments[3], 1, 10000, &buckets))
        return NULL;
    double width = all[2]->bounds.real_low - all[1]->bounds.real_low;
    if (!brume_argument_constant(all[1]) || !brume_argument_constant(all[2]) || !(width > 1e-100) ||
        !(width < 1e100) || fabs(all[1]->bounds.real_low) > 1e100)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "write width_bucket(x, low, high, count)",
                                "%s needs constant bounds, the lower one first", name);
    brume_expression *node = brume_build_node(builder, operation, INTEGER, all, 3);
    if (!node)
        return NULL;
    node->number[0] = buckets;
    node->bounds = (brume_bounds){.low = 0, .high = buckets + 1};
    node->bounded = true;
    return node;
}

static brume_node build_clamp(brume_builder *builder, const char *name, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    (void)count;
    (void)operation;
    brume_node a = brume_argument_number(builder, name, arguments[0]);
    const char *low = brume_argument_constant(arguments[1]),
               *high = brume_argument_constant(arguments[2]);
    if (!a)
        return NULL;
    if (!low || !high)
        return brume_build_fail(builder, BRUME_EARGUMENT, "write CLAMP(x, 0, 100)",
                                "the bounds of CLAMP must be constants");
    return brume_build_clamp(builder, a, low, high);
}

const brume_function brume_number_functions[] = {
    {"abs", build_unary, BRUME_OPERATION_ABS, 1, 1},
    {"sign", build_unary, BRUME_OPERATION_SIGN, 1, 1},
    {"mod", build_remainder, BRUME_OPERATION_REMAINDER, 2, 2},
    {"floor", build_rounding, BRUME_OPERATION_FLOOR, 1, 1},
    {"ceil", build_rounding, BRUME_OPERATION_CEIL, 1, 1},
    {"ceiling", build_rounding, BRUME_OPERATION_CEIL, 1, 1},
    {"round", build_rounding, BRUME_OPERATION_ROUND, 1, 2},
    {"trunc", build_rounding, BRUME_OPERATION_TRUNC, 1, 2},
    {"sqrt", build_real, BRUME_OPERATION_SQRT, 1, 1},
    {"ln", build_real, BRUME_OPERATION_LN, 1, 1},
    {"log", build_real, BRUME_OPERATION_LOG10, 1, 1},
    {"log10", build_real, BRUME_OPERATION_LOG10, 1, 1},
    {"exp", build_real, BRUME_OPERATION_EXP, 1, 1},
    {"power", build_power, BRUME_OPERATION_POWER, 2, 2},
    {"pow", build_power, BRUME_OPERATION_POWER, 2, 2},
    {"width_bucket", build_width_bucket, BRUME_OPERATION_WIDTH_BUCKET, 4, 4},
    {"clamp", build_clamp, BRUME_OPERATION_CLAMP, 3, 3},
    {NULL, NULL, 0, 0, 0},
};
