/* Functions by name: one table, one builder each. */
#include "query/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "query/wide.h"

static const brume_type INTEGER = {BRUME_TYPE_INTEGER, 0, 0};
static const brume_type DOUBLE = {BRUME_TYPE_DOUBLE, 0, 0};
static const brume_type TEXT = {BRUME_TYPE_TEXT, 0, 0};
static const brume_type BOOLEAN = {BRUME_TYPE_BOOLEAN, 0, 0};
static const brume_type TIMESTAMP = {BRUME_TYPE_TIMESTAMP, 0, 0};
static const double LIMIT = 1e150;

typedef brume_node build_function(brume_builder *builder, const char *name,
                                  brume_operation operation, const brume_node *arguments,
                                  size_t count);

/* The constant text of an argument, or NULL. */
static const char *constant(brume_node node)
{
    return node->operation == BRUME_OPERATION_LITERAL ? node->text : NULL;
}

/* A constant integer argument within [low, high]. */
static bool constant_integer(brume_builder *builder, const char *name, brume_node node, long low,
                             long high, long *value)
{
    const char *text = node->type.kind == BRUME_TYPE_INTEGER ? constant(node) : NULL;
    *value = text ? strtol(text, NULL, 10) : 0;
    if (text && *value >= low && *value <= high)
        return true;
    brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL,
                     "%s needs a constant integer between %ld and %ld here", name, low, high);
    return false;
}

static brume_node number_argument(brume_builder *builder, const char *name, brume_node node)
{
    if (!node)
        return NULL;
    if (node->untyped)
        return brume_build_convert(builder, node, DOUBLE);
    if (!brume_type_is_number(node->type))
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST the argument", "%s needs a number",
                                name);
    return node;
}

static brume_node text_argument(brume_builder *builder, const char *name, brume_node node)
{
    if (!node)
        return NULL;
    if (node->untyped)
        return brume_build_convert(builder, node, TEXT);
    if (node->type.kind != BRUME_TYPE_TEXT)
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST the argument to text",
                                "%s needs a text", name);
    return node;
}

static brume_node integer_argument(brume_builder *builder, const char *name, brume_node node)
{
    if (!node)
        return NULL;
    if (node->untyped || brume_build_is_null(node))
        return brume_build_convert(builder, node, INTEGER);
    if (node->type.kind != BRUME_TYPE_INTEGER)
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST the argument to integer",
                                "%s needs an integer here", name);
    return node;
}

/* ---- numbers ---- */

static brume_node build_unary(brume_builder *builder, const char *name, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    (void)count;
    return brume_build_unary(builder, operation, number_argument(builder, name, arguments[0]));
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
    brume_node a = number_argument(builder, name, arguments[0]);
    if (!a)
        return NULL;
    long digits = 0;
    if (count == 2 && !constant_integer(builder, name, arguments[1], -38, 38, &digits))
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
        brume_build_convert(builder, number_argument(builder, name, arguments[0]), DOUBLE);
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
        both[i] =
            brume_build_convert(builder, number_argument(builder, name, arguments[i]), DOUBLE);
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
    if (constant(both[1]) && exponent == floor(exponent) && exponent >= 1 && exponent <= 64) {
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
        all[i] = brume_build_convert(builder, number_argument(builder, name, arguments[i]), DOUBLE);
    long buckets;
    if (!all[0] || !all[1] || !all[2] ||
        !constant_integer(builder, name, arguments[3], 1, 10000, &buckets))
        return NULL;
    double width = all[2]->bounds.real_low - all[1]->bounds.real_low;
    if (!constant(all[1]) || !constant(all[2]) || !(width > 1e-100) || !(width < 1e100) ||
        fabs(all[1]->bounds.real_low) > 1e100)
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
    brume_node a = number_argument(builder, name, arguments[0]);
    const char *low = constant(arguments[1]), *high = constant(arguments[2]);
    if (!a)
        return NULL;
    if (!low || !high)
        return brume_build_fail(builder, BRUME_EARGUMENT, "write CLAMP(x, 0, 100)",
                                "the bounds of CLAMP must be constants");
    return brume_build_clamp(builder, a, low, high);
}

/* ---- text ---- */

static brume_node build_same_text(brume_builder *builder, const char *name,
                                  brume_operation operation, const brume_node *arguments,
                                  size_t count)
{
    (void)count;
    brume_node a = text_argument(builder, name, arguments[0]);
    brume_expression *node = brume_build_node(builder, operation, TEXT, &a, 1);
    if (node)
        node->max_length = a->max_length;
    return node;
}

static brume_node build_trim(brume_builder *builder, const char *name, brume_operation operation,
                             const brume_node *arguments, size_t count)
{
    const char *characters = count == 2 ? constant(arguments[1]) : " ";
    if (!characters)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL,
                                "%s needs a constant set of characters", name);
    brume_node a = text_argument(builder, name, arguments[0]);
    brume_expression *node = brume_build_node(builder, operation, TEXT, &a, 1);
    if (!node)
        return NULL;
    node->max_length = a->max_length;
    node->text = brume_arena_text(builder->arena, characters);
    return node->text ? node : brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
}

static brume_node build_length(brume_builder *builder, const char *name, brume_operation operation,
                               const brume_node *arguments, size_t count)
{
    brume_node both[2];
    for (size_t i = 0; i < count; i++)
        if (!(both[i] = text_argument(builder, name, arguments[i])))
            return NULL;
    bool truth = operation == BRUME_OPERATION_STARTS_WITH;
    brume_expression *node =
        brume_build_node(builder, operation, truth ? BOOLEAN : INTEGER, both, count);
    if (!node || truth)
        return node;
    node->bounds = (brume_bounds){.low = 0, .high = (brume_wide)both[0]->max_length};
    /* The position of '' is 1, also in ''. */
    if (operation == BRUME_OPERATION_POSITION && node->bounds.high == 0)
        node->bounds.high = 1;
    node->bounded = true;
    return node;
}

static brume_node build_part(brume_builder *builder, const char *name, brume_operation operation,
                             const brume_node *arguments, size_t count)
{
    brume_node all[3] = {text_argument(builder, name, arguments[0]), NULL, NULL};
    for (size_t i = 1; i < count; i++)
        all[i] = integer_argument(builder, name, arguments[i]);
    brume_expression *node = brume_build_node(builder, operation, TEXT, all, count);
    if (!node)
        return NULL;
    node->max_length = all[0]->max_length;
    if (count == 3)
        node->nullable = true;
    return node;
}

static brume_node build_replace(brume_builder *builder, const char *name, brume_operation operation,
                                const brume_node *arguments, size_t count)
{
    (void)count;
    brume_node all[3];
    for (size_t i = 0; i < 3; i++)
        if (!(all[i] = text_argument(builder, name, arguments[i])))
            return NULL;
    size_t factor = all[2]->max_length > 1 ? all[2]->max_length : 1;
    size_t length = all[0]->max_length * factor;
    if (length > BRUME_LIMIT_TEXT)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "shorten it with left(x, n)",
                                "a text could grow beyond 1 MiB");
    brume_expression *node = brume_build_node(builder, operation, TEXT, all, 3);
    if (node)
        node->max_length = length;
    return node;
}

static brume_node build_concat(brume_builder *builder, const char *name, brume_operation operation,
                               const brume_node *arguments, size_t count)
{
    (void)name;
    return brume_build_choice(builder, operation, arguments, count);
}

/* ---- dates ---- */

static const struct field {
    const char *name;
    int low, high;
    bool clock; /* not of a date */
} fields[] = {
    {"year", 1, 9999, false}, {"month", 1, 12, false}, {"day", 1, 31, false},
    {"quarter", 1, 4, false}, {"week", 1, 53, false},  {"dow", 0, 6, false},
    {"isodow", 1, 7, false},  {"doy", 1, 366, false},  {"isoyear", 0, 9999, false},
    {"hour", 0, 23, true},    {"minute", 0, 59, true}, {"second", 0, 0, true},
    {"epoch", 0, 0, false},
};

static brume_node time_argument(brume_builder *builder, const char *name, brume_node node)
{
    if (!node)
        return NULL;
    if (!node->untyped && node->type.kind != BRUME_TYPE_DATE &&
        node->type.kind != BRUME_TYPE_TIMESTAMP)
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST it to date or timestamp",
                                "%s needs a date or a timestamp", name);
    return brume_build_convert(builder, node, TIMESTAMP);
}

static brume_node build_extract(brume_builder *builder, const char *name, brume_operation operation,
                                const brume_node *arguments, size_t count)
{
    (void)count;
    const char *wanted = constant(arguments[0]);
    size_t i = 0, field_count = sizeof fields / sizeof *fields;
    while (wanted && i < field_count && strcasecmp(wanted, fields[i].name) != 0)
        i++;
    if (!wanted || i == field_count)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "use year, month, day, quarter, week, dow, isodow, doy, isoyear, "
                                "hour, minute, second or epoch",
                                "%s knows no field '%.40s'", name, wanted ? wanted : "");
    if (fields[i].clock && arguments[1] && arguments[1]->type.kind == BRUME_TYPE_DATE)
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST it to timestamp",
                                "a date has no %s", fields[i].name);
    brume_node a = time_argument(builder, name, arguments[1]);
    brume_type type = {BRUME_TYPE_DECIMAL, 4, 0};
    brume_bounds bounds = {.low = fields[i].low, .high = fields[i].high};
    if (strcmp(fields[i].name, "second") == 0) {
        type = (brume_type){BRUME_TYPE_DECIMAL, 8, 6};
        bounds.high = 59999999;
    } else if (strcmp(fields[i].name, "epoch") == 0) {
        type = (brume_type){BRUME_TYPE_DECIMAL, 18, 6};
        bounds.low = (brume_wide)-62135596800 * 1000000;
        bounds.high = (brume_wide)253402300800 * 1000000;
    }
    brume_expression *node = brume_build_node(builder, operation, type, &a, 1);
    if (!node)
        return NULL;
    node->text = fields[i].name;
    node->bounds = bounds;
    node->bounded = true;
    if (strcmp(name, "date_part") == 0)
        return brume_build_convert(builder, node, DOUBLE);
    return node;
}

static brume_node build_date_trunc(brume_builder *builder, const char *name,
                                   brume_operation operation, const brume_node *arguments,
                                   size_t count)
{
    static const char *const units[] = {"second", "minute", "hour",    "day",
                                        "week",   "month",  "quarter", "year"};
    (void)count;
    const char *wanted = constant(arguments[0]);
    size_t i = 0;
    while (wanted && i < 8 && strcasecmp(wanted, units[i]) != 0)
        i++;
    if (!wanted || i == 8)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "use second, minute, hour, day, week, month, quarter or year",
                                "date_trunc knows no unit '%.40s'", wanted ? wanted : "");
    brume_node a = time_argument(builder, name, arguments[1]);
    brume_expression *node = brume_build_node(builder, operation, TIMESTAMP, &a, 1);
    if (node)
        node->text = units[i];
    return node;
}

brume_node brume_build_interval(brume_builder *builder, brume_node a, int64_t months, int64_t days,
                                int64_t microseconds)
{
    a = time_argument(builder, "adding an interval", a);
    brume_expression *node =
        brume_build_node(builder, BRUME_OPERATION_ADD_INTERVAL, TIMESTAMP, &a, 1);
    if (!node)
        return NULL;
    node->number[0] = months;
    node->number[1] = days;
    node->number[2] = microseconds;
    node->nullable = true;
    return node;
}

/* ---- the table ---- */

static const struct function {
    const char *name;
    build_function *build;
    brume_operation operation;
    size_t least, most;
} functions[] = {
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
    {"concat", build_concat, BRUME_OPERATION_CONCAT, 1, 100},
    {"lower", build_same_text, BRUME_OPERATION_LOWER, 1, 1},
    {"upper", build_same_text, BRUME_OPERATION_UPPER, 1, 1},
    {"length", build_length, BRUME_OPERATION_LENGTH, 1, 1},
    {"char_length", build_length, BRUME_OPERATION_LENGTH, 1, 1},
    {"character_length", build_length, BRUME_OPERATION_LENGTH, 1, 1},
    {"strpos", build_length, BRUME_OPERATION_POSITION, 2, 2},
    {"position", build_length, BRUME_OPERATION_POSITION, 2, 2},
    {"starts_with", build_length, BRUME_OPERATION_STARTS_WITH, 2, 2},
    {"substring", build_part, BRUME_OPERATION_SUBSTRING, 2, 3},
    {"substr", build_part, BRUME_OPERATION_SUBSTRING, 2, 3},
    {"left", build_part, BRUME_OPERATION_LEFT, 2, 2},
    {"right", build_part, BRUME_OPERATION_RIGHT, 2, 2},
    {"btrim", build_trim, BRUME_OPERATION_TRIM, 1, 2},
    {"ltrim", build_trim, BRUME_OPERATION_TRIM_LEFT, 1, 2},
    {"rtrim", build_trim, BRUME_OPERATION_TRIM_RIGHT, 1, 2},
    {"replace", build_replace, BRUME_OPERATION_REPLACE, 3, 3},
    {"extract", build_extract, BRUME_OPERATION_EXTRACT, 2, 2},
    {"date_part", build_extract, BRUME_OPERATION_EXTRACT, 2, 2},
    {"date_trunc", build_date_trunc, BRUME_OPERATION_DATE_TRUNC, 2, 2},
};

brume_node brume_build_function(brume_builder *builder, const char *name,
                                const brume_node *arguments, size_t count)
{
    enum { COUNT = sizeof functions / sizeof *functions };
    for (size_t i = 0; i < count; i++)
        if (!arguments[i])
            return NULL;
    const char *names[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        names[i] = functions[i].name;
        if (strcmp(name, names[i]) != 0)
            continue;
        if (count < functions[i].least || count > functions[i].most)
            return brume_build_fail(builder, BRUME_EARGUMENT, NULL,
                                    "%s does not take %zu arguments", name, count);
        return functions[i].build(builder, name, functions[i].operation, arguments, count);
    }
    static const struct {
        const char *name, *hint;
    } known[] = {
        {"now", "write the date as a constant: answers must not depend on the clock"},
        {"current_date", "write the date as a constant: answers must not depend on the clock"},
        {"random", "rows must not depend on chance: brume adds the noise"},
        {"age", "use extract(epoch from a) - extract(epoch from b), or subtract dates"},
        {"to_char", "use extract and casts: engines format differently"},
        {"regexp_replace", "engines' regular expressions differ: use LIKE or replace"},
        {"regexp_matches", "engines' regular expressions differ: use LIKE"},
        {"generate_series", "functions that make rows are not supported"},
        {"unnest", "functions that make rows are not supported"},
    };
    char nearest[80] = "see the list of functions in the documentation";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED, known[i].hint,
                                    "the function %.40s is not supported", name);
    const char *near = brume_text_nearest(name, names, COUNT);
    if (near)
        snprintf(nearest, sizeof nearest, "did you mean %s?", near);
    return brume_build_fail(builder, BRUME_EUNSUPPORTED, nearest,
                            "the function %.40s is not supported", name);
}
