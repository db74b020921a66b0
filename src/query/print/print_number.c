/* The printed form of arithmetic and of functions of numbers on both engines.
 *
 * CLAMP, OUT and FL are the building blocks: CLAMP keeps NULL (GREATEST and LEAST alone would skip
 * it); OUT is RANGE at 1e150; FL takes doubles below 1e-150 for 0, so that no product or quotient
 * can underflow, which PostgreSQL would raise on. */
#include "query/print/print_cast.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "query/expression/wide.h"

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

/* Strictly inside 1e150 in size, or NULL. */
static const char *out(brume_printer *printer, const char *value)
{
    return brume_print_range(printer, value, "-1e150", "1e150",
                             printer->postgresql ? "float8" : "DOUBLE");
}

/* A double as a factor or divisor. */
static brume_piece flush(brume_printer *printer, const brume_expression *node)
{
    brume_piece piece = brume_print_expression(printer, node);
    /* Integers and decimals are 0 or at least 1e-38 in size; a literal can be looked at. */
    bool converted = node->operation == BRUME_OPERATION_CAST &&
                     brume_type_is_number(node->arguments[0]->type);
    bool constant = node->operation == BRUME_OPERATION_LITERAL &&
                    (node->bounds.real_low == 0 || node->bounds.real_low >= 1e-150 ||
                     node->bounds.real_low <= -1e-150);
    if (converted || constant)
        return (brume_piece){FORMAT("(%s)", piece.text), piece.level, false};
    piece = brume_print_let(printer, piece);
    const char *type = printer->postgresql ? "float8" : "DOUBLE";
    return (brume_piece){FORMAT("(CASE WHEN abs(%s) < %s THEN %s ELSE %s END)", piece.text,
                                brume_print_typed(printer, "1e-150", type),
                                brume_print_typed(printer, "0", type), piece.text),
                         piece.level, false};
}

/* ---- arithmetic ---- */

static const char *integer_result(brume_printer *printer, const char *wide, brume_type type)
{
    bool small = type.kind == BRUME_TYPE_INTEGER;
    const char *ranged = small ? brume_print_range(printer, wide, "-2147483649", "2147483648",
                                                   printer->postgresql ? "int8" : "BIGINT")
                               : brume_print_range(printer, wide, "-9223372036854775809",
                                                   "9223372036854775808",
                                                   printer->postgresql ? "numeric"
                                                   : printer->spark    ? "DECIMAL(38,0)"
                                                                       : "HUGEINT");
    return brume_print_cast(printer, ranged, brume_print_type(printer, type));
}

static const char *wide_type(const brume_printer *printer, brume_type type)
{
    if (type.kind == BRUME_TYPE_INTEGER)
        return printer->postgresql ? "int8" : "BIGINT";
    return printer->postgresql ? "numeric" : printer->spark ? "DECIMAL(20,0)" : "HUGEINT";
}

static const char *integer_operation(brume_printer *printer, const brume_expression *node,
                                     const char *a, const char *b)
{
    const char *word = brume_operation_word(node->operation);
    const char *wide = wide_type(printer, node->type);
    const char *wide_a = brume_print_cast(printer, a, wide);
    const char *wide_b = brume_print_cast(printer, b, wide);
    if (node->operation == BRUME_OPERATION_REMAINDER)
        return printer->postgresql
                   ? FORMAT("((%s) %% NULLIF((%s), 0))", a, b)
                   : brume_print_cast(printer, FORMAT("(%s %% NULLIF(%s, 0))", wide_a, wide_b),
                                      brume_print_type(printer, node->type));
    if (node->operation == BRUME_OPERATION_DIVIDE) {
        const char *quotient;
        if (!printer->postgresql) /* of integers of 32 bits in Spark */
            quotient =
                FORMAT("(%s %s NULLIF(%s, 0))", wide_a, printer->spark ? "div" : "//", wide_b);
        else if (node->type.kind == BRUME_TYPE_INTEGER)
            quotient = FORMAT("(%s / NULLIF(%s, 0))", wide_a, wide_b);
        else
            quotient = FORMAT("div(%s, NULLIF(%s, 0))", wide_a, wide_b);
        return integer_result(printer, quotient, node->type);
    }
    /* Where the bounds show that nothing can overflow, the guard is the identity: left out. */
    const brume_bounds *x = &node->arguments[0]->bounds, *y = &node->arguments[1]->bounds;
    brume_bounds whole = {.low = node->type.kind == BRUME_TYPE_INTEGER ? INT32_MIN : INT64_MIN,
                          .high = node->type.kind == BRUME_TYPE_INTEGER ? INT32_MAX : INT64_MAX};
    brume_wide low, high;
    if (node->operation == BRUME_OPERATION_ADD) {
        low = x->low + y->low;
        high = x->high + y->high;
    } else if (node->operation == BRUME_OPERATION_SUBTRACT) {
        low = x->low - y->high;
        high = x->high - y->low;
    } else {
        brume_wide corner[] = {x->low * y->low, x->low * y->high, x->high * y->low,
                               x->high * y->high};
        low = high = corner[0];
        for (int i = 1; i < 4; i++) {
            low = corner[i] < low ? corner[i] : low;
            high = corner[i] > high ? corner[i] : high;
        }
    }
    if (low >= whole.low && high <= whole.high)
        return FORMAT("((%s) %s (%s))", a, word, b);
    return integer_result(printer, FORMAT("(%s %s %s)", wide_a, word, wide_b), node->type);
}

/* The digits that a decimal's bounds need. */
static int digits_of(const brume_expression *node)
{
    int low = brume_wide_digits(node->bounds.low), high = brume_wide_digits(node->bounds.high);
    int most = low > high ? low : high;
    return most > node->type.scale ? most : node->type.scale;
}

/* A product of decimals in DuckDB: in 64 bits where the bounds show that they do, which is many
 * times faster, else in 128 bits: two operands of at most 18 digits would stay in 64 bits and
 * raise. */
static const char *decimal_product(brume_printer *printer, const brume_expression *node,
                                   const char *a, const char *b)
{
    const brume_expression *x = node->arguments[0], *y = node->arguments[1];
    const char *type = brume_print_type(printer, node->type);
    int p = digits_of(x), q = digits_of(y);
    if (p + q <= 18 && y->type.kind == BRUME_TYPE_DECIMAL)
        return FORMAT("CAST(CAST(%s AS DECIMAL(%d,%d)) * CAST(%s AS DECIMAL(%d,%d)) AS %s)", a, p,
                      x->type.scale, b, q, y->type.scale, type);
    return FORMAT("CAST(CAST(%s AS DECIMAL(%d,%d)) * (%s) AS %s)", a,
                  x->type.precision > 19 ? x->type.precision : 19, x->type.scale, b, type);
}

static const char *decimal_operation(brume_printer *printer, const brume_expression *node,
                                     const char *a, const char *b)
{
    const char *word = brume_operation_word(node->operation);
    const char *type = brume_print_type(printer, node->type);
    if (printer->postgresql)
        return node->operation == BRUME_OPERATION_REMAINDER
                   ? FORMAT("((%s) %% NULLIF((%s), 0))::%s", a, b, type)
                   : FORMAT("((%s) %s (%s))", a, word, b);
    if (node->operation == BRUME_OPERATION_MULTIPLY)
        return decimal_product(printer, node, a, b);
    if (node->operation == BRUME_OPERATION_REMAINDER)
        return FORMAT("CAST(CAST(%s AS %s) %% NULLIF(CAST(%s AS %s), 0) AS %s)", a, type, b, type,
                      type);
    return FORMAT("CAST(CAST(%s AS %s) %s CAST(%s AS %s) AS %s)", a, type, word, b, type, type);
}

static brume_piece arithmetic(brume_printer *printer, const brume_expression *node)
{
    bool real = node->type.kind == BRUME_TYPE_DOUBLE;
    bool flushes = real && (node->operation == BRUME_OPERATION_MULTIPLY ||
                            node->operation == BRUME_OPERATION_DIVIDE);
    brume_piece a = flushes ? flush(printer, node->arguments[0])
                            : brume_print_expression(printer, node->arguments[0]);
    brume_piece b = flushes ? flush(printer, node->arguments[1])
                            : brume_print_expression(printer, node->arguments[1]);
    const char *text;
    if (!real) {
        text = node->type.kind == BRUME_TYPE_DECIMAL
                   ? decimal_operation(printer, node, a.text, b.text)
                   : integer_operation(printer, node, a.text, b.text);
    } else if (node->operation == BRUME_OPERATION_DIVIDE) {
        text = out(printer, FORMAT("(%s / NULLIF(%s, 0))", a.text, b.text));
    } else {
        text = FORMAT("((%s) %s (%s))", a.text, brume_operation_word(node->operation), b.text);
        /* Bounds strictly inside 1e150 show that OUT is the identity. */
        if (!(node->bounds.real_low > -1e150 && node->bounds.real_high < 1e150))
            text = out(printer, text);
    }
    return (brume_piece){text, a.level > b.level ? a.level : b.level, false};
}

static const char *unary(brume_printer *printer, const brume_expression *node, const char *a)
{
    bool integer = node->type.kind == BRUME_TYPE_INTEGER || node->type.kind == BRUME_TYPE_BIGINT;
    const char *wide = wide_type(printer, node->type);
    switch (node->operation) {
    case BRUME_OPERATION_NEGATE:
        return integer
                   ? integer_result(printer, FORMAT("(- (%s))", brume_print_cast(printer, a, wide)),
                                    node->type)
                   : FORMAT("(- (%s))", a);
    case BRUME_OPERATION_ABS:
        return integer
                   ? integer_result(printer, FORMAT("abs(%s)", brume_print_cast(printer, a, wide)),
                                    node->type)
                   : FORMAT("abs(%s)", a);
    default: /* SIGN: DuckDB's is a TINYINT */
        return printer->postgresql
                   ? FORMAT("sign(%s)", a)
                   : FORMAT("CAST(sign(%s) AS %s)", a, brume_print_type(printer, node->type));
    }
}

/* ---- functions of numbers ---- */

static const char *decimal_rounding(brume_printer *printer, const brume_expression *node,
                                    const char *a)
{
    int precision = node->arguments[0]->type.precision, scale = node->arguments[0]->type.scale;
    int digits = (int)node->number[0], most = precision > 19 ? precision : 19;
    const char *type = brume_print_type(printer, node->type);
    const char *word = brume_operation_word(node->operation);
    bool directed = node->operation == BRUME_OPERATION_FLOOR ||
                    node->operation == BRUME_OPERATION_CEIL;
    if (printer->postgresql)
        return directed ? FORMAT("%s(%s)", word, a) : FORMAT("%s(%s, %d)", word, a, digits);
    if (directed)
        return FORMAT("CAST(%s(CAST(%s AS DECIMAL(%d,%d))) AS %s)", word, a, precision + 1, scale,
                      type);
    if (node->operation == BRUME_OPERATION_ROUND && digits >= 0)
        return FORMAT("CAST(%s AS %s)", a, type);
    if (node->operation == BRUME_OPERATION_ROUND)
        return FORMAT("CAST(CAST(CAST(%s AS DECIMAL(%d,%d)) * CAST('0.1' AS DECIMAL(2,1)) AS "
                      "DECIMAL(%d,0)) * CAST('10' AS DECIMAL(2,0)) AS %s)",
                      a, most, scale, most + 3, type);
    char ten[BRUME_WIDE_TEXT_SIZE], tenth[BRUME_WIDE_TEXT_SIZE];
    brume_wide_format(brume_wide_power(digits), 0, ten);
    brume_wide_format(1, digits, tenth);
    return FORMAT("CAST(trunc(CAST(CAST(%s AS DECIMAL(%d,%d)) * CAST('%s' AS DECIMAL(%d,0)) AS "
                  "DECIMAL(38,%d))) * CAST('%s' AS DECIMAL(%d,%d)) AS %s)",
                  a, most, scale, ten, digits + 1, scale, tenth, digits + 1, digits, type);
}

static brume_piece rounding(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    if (node->type.kind == BRUME_TYPE_DECIMAL)
        return (brume_piece){decimal_rounding(printer, node, a.text), a.level, false};
    /* DuckDB rounds halves away from zero; its cast to BIGINT rounds them to even, as PostgreSQL.
     */
    if (node->operation == BRUME_OPERATION_ROUND && !printer->postgresql) {
        a = brume_print_let(printer, a);
        return (brume_piece){FORMAT("(CASE WHEN abs(%s) < CAST('4503599627370496' AS DOUBLE) THEN "
                                    "CAST(CAST(%s AS BIGINT) AS DOUBLE) ELSE %s END)",
                                    a.text, a.text, a.text),
                             a.level, false};
    }
    return (brume_piece){FORMAT("%s(%s)", brume_operation_word(node->operation), a.text), a.level,
                         false};
}

static brume_piece real_function(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    const char *word = brume_operation_word(node->operation), *x = a.text, *text;
    const char *type = printer->postgresql ? "float8" : "DOUBLE";
    const char *zero = brume_print_typed(printer, "0", type);
    if (node->operation == BRUME_OPERATION_EXP)
        text = FORMAT("(CASE WHEN %s > %s THEN NULL WHEN %s < %s THEN %s ELSE exp(%s) END)", x,
                      brume_print_typed(printer, "345", type), x,
                      brume_print_typed(printer, "-345", type), zero, x);
    else
        text = FORMAT("(CASE WHEN %s %s %s THEN %s(%s) END)", x,
                      node->operation == BRUME_OPERATION_SQRT ? ">=" : ">", zero, word, x);
    return (brume_piece){text, a.level, false};
}

static brume_piece power(brume_printer *printer, const brume_expression *node)
{
    const char *type = printer->postgresql ? "float8" : "DOUBLE";
    const char *zero = brume_print_typed(printer, "0", type);
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    brume_piece b = brume_print_let(printer, flush(printer, node->arguments[1]));
    brume_piece g = {
        FORMAT("(CASE WHEN %s <> %s THEN %s * ln(abs(%s)) END)", a.text, zero, b.text, a.text),
        brume_print_level(a, b), false};
    g = brume_print_let(printer, g);
    const char *text = FORMAT(
        "(CASE WHEN %s IS NULL OR %s IS NULL THEN NULL WHEN %s = %s THEN CASE WHEN %s > %s THEN %s "
        "WHEN %s = %s THEN %s END WHEN %s < %s AND %s <> floor(%s) THEN NULL WHEN %s > %s THEN NULL "
        "WHEN %s < %s THEN %s ELSE power(%s, %s) END)",
        a.text, b.text, a.text, zero, b.text, zero, zero, b.text, zero,
        brume_print_typed(printer, "1", type), a.text, zero, b.text, b.text, g.text,
        brume_print_typed(printer, "345", type), g.text, brume_print_typed(printer, "-345", type),
        zero, a.text, b.text);
    return (brume_piece){text, g.level, false};
}

static brume_piece width_bucket(brume_printer *printer, const brume_expression *node)
{
    const char *type = printer->postgresql ? "float8" : "DOUBLE";
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    const char *low = brume_print_expression(printer, node->arguments[1]).text;
    const char *high = brume_print_expression(printer, node->arguments[2]).text;
    char number[64];
    snprintf(number, sizeof number, "%.17g",
             node->arguments[2]->bounds.real_low - node->arguments[1]->bounds.real_low);
    const char *width = brume_print_typed(printer, number, type);
    brume_piece offset = {FORMAT("(%s - %s)", a.text, low), a.level, false};
    offset = brume_print_let(printer, offset);
    int64_t buckets = node->number[0];
    snprintf(number, sizeof number, "%lld", (long long)buckets);
    const char *count = brume_print_typed(printer, number, type);
    const char *quotient = FORMAT("floor((CASE WHEN abs(%s) < %s THEN %s ELSE %s END) / %s * %s)",
                                  offset.text, brume_print_typed(printer, "1e-150", type),
                                  brume_print_typed(printer, "0", type), offset.text, width, count);
    const char *text =
        FORMAT("(CASE WHEN %s IS NULL THEN NULL WHEN %s < %s THEN 0 WHEN %s >= %s THEN %lld ELSE "
               "LEAST(%s + 1, %lld) END)",
               a.text, a.text, low, a.text, high, (long long)buckets + 1,
               brume_print_cast(printer, quotient, printer->postgresql ? "int4" : "INTEGER"),
               (long long)buckets);
    return (brume_piece){text, offset.level, false};
}

static brume_piece clamp(brume_printer *printer, const brume_expression *node)
{
    /* to the same bounds twice (a column's own, then the grid's) is once */
    const brume_expression *inner = node->arguments[0];
    if (inner->operation == BRUME_OPERATION_CLAMP && strcmp(inner->text, node->text) == 0 &&
        brume_type_equal(inner->type, inner->arguments[0]->type))
        return clamp(printer, inner);
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    brume_type type = node->arguments[0]->type;
    const char *separator = strstr(node->text, "..");
    const char *low = FORMAT("%.*s", (int)(separator - node->text), node->text);
    const char *name = brume_print_type(printer, type);
    if (printer->postgresql && type.kind != BRUME_TYPE_DOUBLE) { /* postgres_fdw sends no LEAST */
        const char *least = brume_print_typed(printer, low, name);
        const char *most = brume_print_typed(printer, separator + 2, name);
        return (brume_piece){FORMAT("(CASE WHEN %s < %s THEN %s WHEN %s > %s THEN %s ELSE %s END)",
                                    a.text, least, least, a.text, most, most, a.text),
                             a.level, false};
    }
    return (brume_piece){FORMAT("(CASE WHEN %s IS NOT NULL THEN LEAST(GREATEST(%s, %s), %s) END)",
                                a.text, a.text, brume_print_typed(printer, low, name),
                                brume_print_typed(printer, separator + 2, name)),
                         a.level, false};
}

/* Clamped and scaled to an integer; a double's cast rounds halves to even on both engines. */
static brume_piece grid(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = clamp(printer, node);
    brume_type type = node->arguments[0]->type;
    const char *big = printer->postgresql ? "int8" : "BIGINT";
    if (type.kind == BRUME_TYPE_DOUBLE) {
        /* Tiny values would underflow when scaled down. */
        const char *real = printer->postgresql ? "float8" : "DOUBLE";
        char scale[40];
        snprintf(scale, sizeof scale, "%.17g", ldexp(1, (int)node->number[0]));
        a = brume_print_let(printer, a);
        a.text = brume_print_cast(printer,
                                  FORMAT("(CASE WHEN abs(%s) < %s THEN %s ELSE %s END) * %s",
                                         a.text, brume_print_typed(printer, "1e-150", real),
                                         brume_print_typed(printer, "0", real), a.text,
                                         brume_print_typed(printer, scale, real)),
                                  big);
    } else if (type.kind == BRUME_TYPE_DECIMAL) {
        /* The bounds fit 63 bits in units, so 19 digits do. With 15 digits at most the two
         * roundings of doubles move a unit by 10^15 * 2^-52 < 1/2, so that the cast finds it. */
        char units[BRUME_WIDE_TEXT_SIZE];
        int low = brume_wide_digits(node->bounds.low), high = brume_wide_digits(node->bounds.high);
        brume_wide_format(brume_wide_power(type.scale), 0, units);
        a.text =
            printer->postgresql ? FORMAT("(%s * '%s'::numeric)::int8", a.text, units)
            : low <= 15 && high <= 15
                ? FORMAT("CAST(CAST(%s AS DOUBLE) * CAST('%s' AS DOUBLE) AS BIGINT)", a.text, units)
                : FORMAT("CAST(CAST(%s AS DECIMAL(19,%d)) * CAST('%s' AS DECIMAL(19,0)) AS "
                         "BIGINT)",
                         a.text, type.scale, units);
    } else {
        a.text = brume_print_cast(printer, a.text, big);
    }
    a.atom = false;
    return a;
}

bool brume_print_number(brume_printer *printer, const brume_expression *node, brume_piece *piece)
{
    brume_piece a;
    switch (node->operation) {
    case BRUME_OPERATION_CLAMP:
        *piece = clamp(printer, node);
        return true;
    case BRUME_OPERATION_GRID:
        *piece = grid(printer, node);
        return true;
    case BRUME_OPERATION_ADD:
    case BRUME_OPERATION_SUBTRACT:
    case BRUME_OPERATION_MULTIPLY:
    case BRUME_OPERATION_DIVIDE:
    case BRUME_OPERATION_REMAINDER:
        *piece = arithmetic(printer, node);
        return true;
    case BRUME_OPERATION_NEGATE:
    case BRUME_OPERATION_ABS:
    case BRUME_OPERATION_SIGN:
        a = brume_print_expression(printer, node->arguments[0]);
        *piece = (brume_piece){unary(printer, node, a.text), a.level, false};
        return true;
    case BRUME_OPERATION_FLOOR:
    case BRUME_OPERATION_CEIL:
    case BRUME_OPERATION_ROUND:
    case BRUME_OPERATION_TRUNC:
        *piece = rounding(printer, node);
        return true;
    case BRUME_OPERATION_SQRT:
    case BRUME_OPERATION_LN:
    case BRUME_OPERATION_LOG10:
    case BRUME_OPERATION_EXP:
        *piece = real_function(printer, node);
        return true;
    case BRUME_OPERATION_POWER:
        *piece = power(printer, node);
        return true;
    case BRUME_OPERATION_WIDTH_BUCKET:
        *piece = width_bucket(printer, node);
        return true;
    default:
        return false;
    }
}
