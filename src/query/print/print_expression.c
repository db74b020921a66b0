/* The printed form of conditions, choices, text and dates on DuckDB and PostgreSQL, and of every
 * operation by way of print_number.c and print_cast.c; what Spark says in another way is in
 * print_spark.h.
 */
#include "query/print/print_expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "query/expression/build.h"
#include "query/expression/literal.h"
#include "query/print/print.h"
#include "query/print/print_spark.h"
#include "query/print/statement.h"

/* Conversions that never fail and agree on both engines; stored columns as values; values as they
 * travel to C.
 *
 * Text is read through a form (engine/plain_form.h) that lets through exactly what both engines'
 * casts take alike. Narrowing goes by way of a wider type, RANGE, then a cast that cannot fail.
 *
 * Conversions between types, and the small pieces that printing shares. */

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

/* A year 0001..9999, then only days that exist. No look-ahead: RE2 has none. */
#define YEAR "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
#define LEAP_DAY                                                                                   \
    "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29"
#define DATE                                                                                       \
    "(?:" YEAR "-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-" \
    "9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|" LEAP_DAY ")"
#define TIME "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"

/* `text` without the blanks at both ends. */
static const char *trimmed(brume_printer *printer, const char *text)
{
    if (printer->spark)
        return FORMAT("TRIM(BOTH %s FROM %s)", brume_print_quoted(printer, " \t\n\v\f\r"), text);
    return printer->postgresql
               ? FORMAT("btrim(%s, E' \\t\\n\\x0b\\x0c\\r')", text)
               : FORMAT("trim(%s, ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13))",
                        text);
}

/* The trimmed text if it is of that form (engine/plain_form.h), which PostgreSQL and Spark read as
 * a pattern; NULL otherwise. No text of more than `most` characters matches: what is longer is cut
 * to one more, so that it need not be read to its end. */
static const char *matching(brume_printer *printer, const char *text, const char *form,
                            const char *pattern, int most)
{
    if (printer->spark) /* Java's '$' would let a line's end follow */
        return FORMAT("NULLIF(regexp_extract(left(%s, %d), %s, 0), '')", trimmed(printer, text),
                      most + 1, brume_print_quoted(printer, FORMAT("\\A(?:%s)\\z", pattern)));
    return printer->postgresql ? FORMAT("substring(left(%s, %d) from '^%s$')",
                                        trimmed(printer, text), most + 1, pattern)
                               : FORMAT("brume_plain(%s, '%s')", text, form);
}

/* 10^digits and its negative, as sentinels of RANGE. */
static const char *power_range(brume_printer *printer, const char *value, int digits,
                               const char *type)
{
    char ten[BRUME_WIDE_TEXT_SIZE];
    brume_wide_format(brume_wide_power(digits), 0, ten);
    return brume_print_range(printer, value, FORMAT("-%s", ten), ten, type);
}

/* DECIMAL(from) to `type` in DuckDB: rounded half away, out of range NULL. The way leads through a
 * wider decimal, because the narrowing cast rejects values that fit after rounding. Spark's own
 * cast is all of this. */
static const char *duckdb_decimal(brume_printer *printer, const char *value, int precision,
                                  int scale, brume_type type)
{
    if (printer->spark)
        return FORMAT("CAST(%s AS %s)", value, brume_print_type(printer, type));
    int through = precision - scale + type.scale + (type.scale < scale ? 1 : 0);
    through = through > type.precision + 1 ? through : type.precision + 1;
    const char *wide = FORMAT("DECIMAL(%d,%d)", through, type.scale);
    return FORMAT("CAST(%s AS DECIMAL(%d,%d))",
                  power_range(printer, FORMAT("CAST(%s AS %s)", value, wide),
                              type.precision - type.scale, wide),
                  type.precision, type.scale);
}

static const char *postgresql_decimal(brume_printer *printer, const char *numeric, brume_type type)
{
    return FORMAT("%s::numeric(%d,%d)",
                  power_range(printer, FORMAT("round(%s, %d)", numeric, type.scale),
                              type.precision - type.scale, "numeric"),
                  type.precision, type.scale);
}

/* A double to a decimal, by 15 significant digits as PostgreSQL does it. DuckDB's text to decimal
 * is wrong for exponents, so that none is ever given to it. */
static brume_piece double_to_decimal(brume_printer *printer, brume_piece a, brume_type type)
{
    if (printer->spark)
        return brume_print_refuse(printer, "Spark does not turn floating-point numbers into "
                                           "decimals by 15 digits, as the others do");
    a = brume_print_let(printer, a);
    const char *x = a.text;
    if (printer->postgresql) {
        const char *near =
            brume_print_range(printer, x, "-999999999999999", "999999999999999", "float8");
        return (brume_piece){postgresql_decimal(printer, FORMAT("%s::numeric", near), type),
                             a.level, false};
    }
    int wide = 16 + type.scale;
    const char *decimal = FORMAT("DECIMAL(%d,%d)", wide, type.scale);
    const char *digits = FORMAT("printf('%%.14e', abs(%s))", x), *small = "";
    if (type.scale > 3)
        small = FORMAT("WHEN abs(%s) < CAST('1e-4' AS DOUBLE) THEN CAST((CASE WHEN %s < 0 THEN '-' "
                       "ELSE '' END) || '0.' || repeat('0', CAST(right(%s, 2) AS INTEGER) - 1) || "
                       "replace(left(%s, 16), '.', '') AS %s) ",
                       x, x, digits, digits, decimal);
    const char *value =
        FORMAT("CASE WHEN abs(%s) < CAST('1e-%d' AS DOUBLE) THEN CAST(0 AS %s) %sWHEN abs(%s) < "
               "CAST('999999999999999' AS DOUBLE) THEN CAST(printf('%%.15g', %s) AS %s) END",
               x, type.scale + 1, decimal, small, x, x, decimal);
    return (brume_piece){duckdb_decimal(printer, value, wide, type.scale, type), a.level, false};
}

static const char *double_to_integer(brume_printer *printer, const char *x, brume_type type)
{
    bool small = type.kind == BRUME_TYPE_INTEGER;
    const char *low = small ? "-2147483649" : "-9223372036854777856";
    const char *high = small ? "2147483648" : "9223372036854775808";
    if (printer->postgresql)
        return FORMAT("%s::%s",
                      brume_print_range(printer, FORMAT("round(%s)", x), low, high, "float8"),
                      brume_print_type(printer, type));
    if (printer->spark) /* its cast cuts the fraction off */
        return FORMAT("CAST(%s AS %s)",
                      brume_print_range(printer, FORMAT("rint(%s)", x), low, high, "DOUBLE"),
                      brume_print_type(printer, type));
    if (!small)
        return FORMAT("CAST(%s AS BIGINT)", brume_print_range(printer, x, low, high, "DOUBLE"));
    /* DuckDB's cast of 2147483647.5 to INTEGER wraps around: by way of BIGINT. */
    const char *big = FORMAT("CAST(%s AS BIGINT)",
                             brume_print_range(printer, x, "-3000000000", "3000000000", "DOUBLE"));
    return FORMAT("CAST(%s AS INTEGER)", brume_print_range(printer, big, low, high, "BIGINT"));
}

static const char *exact_to_integer(brume_printer *printer, const char *x, brume_type from,
                                    brume_type type)
{
    bool small = type.kind == BRUME_TYPE_INTEGER;
    const char *low = small ? "-2147483649" : "-9223372036854775809";
    const char *high = small ? "2147483648" : "9223372036854775808";
    const char *name = brume_print_type(printer, type);
    if (from.kind == BRUME_TYPE_BIGINT)
        return brume_print_cast(
            printer,
            brume_print_range(printer, x, low, high, printer->postgresql ? "int8" : "BIGINT"),
            name);
    if (printer->postgresql)
        return FORMAT("%s::%s",
                      brume_print_range(printer, FORMAT("round(%s, 0)", x), low, high, "numeric"),
                      name);
    int digits = from.precision - from.scale + (from.scale ? 1 : 0);
    const char *whole = FORMAT("DECIMAL(%d,0)", digits > 20 ? digits : 20);
    return FORMAT("CAST(%s AS %s)",
                  brume_print_range(printer, FORMAT("CAST(%s AS %s)", x, whole), low, high, whole),
                  name);
}

static const char *text_to_number(brume_printer *printer, const char *x, brume_type type)
{
    static const char real[] =
        "[+-]?(?:[0-9]{1,20}(?:[.][0-9]{0,20})?|[.][0-9]{1,20})(?:[eE][+-]?[0-9]{1,2})?";
    static const char integer[] = "[+-]?0{0,30}[0-9]{1,19}";
    bool pg = printer->postgresql, small = type.kind == BRUME_TYPE_INTEGER;
    if (type.kind == BRUME_TYPE_DOUBLE)
        return brume_print_cast(printer, matching(printer, x, "real", real, 46),
                                pg ? "float8" : "DOUBLE");
    if (type.kind == BRUME_TYPE_DECIMAL) {
        const char *match = matching(
            printer, x, FORMAT("decimal %d", 36 - type.scale),
            FORMAT("[+-]?(?:[0-9]{1,%d}(?:[.][0-9]{0,30})?|[.][0-9]{1,30})", 36 - type.scale), 68);
        return pg ? postgresql_decimal(printer, FORMAT("(%s)::numeric", match), type)
                  : duckdb_decimal(printer, FORMAT("CAST(%s AS DECIMAL(37,%d))", match, type.scale),
                                   37, type.scale, type);
    }
    const char *match = matching(printer, x, "integer", integer, 50);
    const char *low = small ? "-2147483649" : "-9223372036854775809";
    const char *high = small ? "2147483648" : "9223372036854775808";
    if (pg)
        return FORMAT(
            "%s::%s",
            brume_print_range(printer, FORMAT("(%s)::numeric", match), low, high, "numeric"),
            brume_print_type(printer, type));
    const char *wide = printer->spark ? "DECIMAL(38,0)" : "HUGEINT";
    const char *huge = FORMAT("CAST(%s AS %s)", match, wide);
    if (!small)
        return FORMAT("CAST(%s AS BIGINT)", brume_print_range(printer, huge, low, high, wide));
    const char *big = FORMAT("CAST(%s AS BIGINT)",
                             brume_print_range(printer, huge, "-3000000000", "3000000000", wide));
    return FORMAT("CAST(%s AS INTEGER)", brume_print_range(printer, big, low, high, "BIGINT"));
}

static brume_piece text_to_boolean(brume_printer *printer, brume_piece a)
{
    a.text = brume_print_lower(printer, trimmed(printer, a.text), false);
    a.atom = false;
    a = brume_print_let(printer, a);
    return (brume_piece){
        FORMAT("(CASE WHEN %s IN ('t','tr','tru','true','y','ye','yes','on','1') THEN true WHEN %s "
               "IN ('f','fa','fal','fals','false','n','no','of','off','0') THEN false END)",
               a.text, a.text),
        a.level, false};
}

/* Whether every value that the bounds allow fits `type` without rounding. */
static bool fits(const brume_expression *from, brume_type type)
{
    brume_wide low, high;
    brume_bounds whole = brume_type_bounds(type);
    return type.scale >= from->type.scale &&
           brume_wide_shift(from->bounds.low, type.scale - from->type.scale, &low) &&
           brume_wide_shift(from->bounds.high, type.scale - from->type.scale, &high) &&
           low >= whole.low && high <= whole.high;
}

static const char *exact_to_decimal(brume_printer *printer, const char *x,
                                    const brume_expression *from, brume_type type)
{
    if (fits(from, type))
        return brume_print_cast(printer, x, brume_print_type(printer, type));
    if (printer->postgresql)
        return postgresql_decimal(printer, FORMAT("(%s)::numeric", x), type);
    int precision = from->type.kind == BRUME_TYPE_INTEGER  ? 10
                    : from->type.kind == BRUME_TYPE_BIGINT ? 19
                                                           : from->type.precision;
    return duckdb_decimal(printer, x, precision, from->type.scale, type);
}

/* A value as text in Spark, whose own text of a decimal below 1e-6 has an exponent. */
static const char *plain_text(brume_printer *printer, const char *x, brume_type type)
{
    return type.kind == BRUME_TYPE_DECIMAL && type.scale > 6
               ? FORMAT("replace(format_number(%s, %d), ',', '')", x, type.scale)
               : FORMAT("CAST(%s AS STRING)", x);
}

/* A CAST node. */
static brume_piece print_conversion(brume_printer *printer, const brume_expression *node)
{
    const brume_expression *from = node->arguments[0];
    brume_piece a = brume_print_expression(printer, from);
    brume_type_kind source = from->type.kind;
    const char *x = a.text, *name = brume_print_type(printer, node->type);
    bool pg = printer->postgresql;
    a.atom = false;
    switch (node->type.kind) {
    case BRUME_TYPE_TEXT:
        if (printer->spark) {
            a.text = plain_text(printer, x, from->type);
            return a;
        }
        /* Without a digit before the point DuckDB prints none: .5 */
        if (!pg && source == BRUME_TYPE_DECIMAL && from->type.precision == from->type.scale)
            x = FORMAT("CAST(%s AS DECIMAL(%d,%d))", x, from->type.precision + 1, from->type.scale);
        a.text = pg ? FORMAT("((%s)::text COLLATE \"C\")", x) : FORMAT("CAST(%s AS VARCHAR)", x);
        return a;
    case BRUME_TYPE_BOOLEAN:
        if (source == BRUME_TYPE_TEXT)
            return text_to_boolean(printer, a);
        a.text = FORMAT("((%s) <> 0)", x);
        return a;
    case BRUME_TYPE_DATE:
        a.text = source == BRUME_TYPE_TEXT
                     ? brume_print_cast(printer, matching(printer, x, "date", DATE, 10), name)
                     : brume_print_cast(printer, x, name);
        return a;
    case BRUME_TYPE_TIMESTAMP:
        a.text = source == BRUME_TYPE_TEXT
                     ? brume_print_cast(
                           printer, matching(printer, x, "timestamp", DATE "(?:[ T]" TIME ")?", 26),
                           name)
                     : brume_print_cast(printer, x, name);
        return a;
    case BRUME_TYPE_DOUBLE:
        if (source == BRUME_TYPE_TEXT)
            a.text = text_to_number(printer, x, node->type);
        else if (!pg && !printer->spark && source == BRUME_TYPE_DECIMAL &&
                 from->type.precision > 15)
            /* The direct cast of a wide decimal rounds twice. */
            a.text = FORMAT("CAST(CAST(%s AS VARCHAR) AS DOUBLE)", x);
        else
            a.text = brume_print_cast(printer, x, name);
        return a;
    case BRUME_TYPE_DECIMAL:
        if (source == BRUME_TYPE_DOUBLE)
            return double_to_decimal(printer, brume_print_expression(printer, from), node->type);
        a.text = source == BRUME_TYPE_TEXT ? text_to_number(printer, x, node->type)
                                           : exact_to_decimal(printer, x, from, node->type);
        return a;
    default:
        if (source == BRUME_TYPE_TEXT)
            a.text = text_to_number(printer, x, node->type);
        else if (source == BRUME_TYPE_BOOLEAN)
            a.text = pg ? FORMAT("(%s)::int4::%s", x, name) : FORMAT("CAST(%s AS %s)", x, name);
        else if (source == BRUME_TYPE_DOUBLE)
            a.text = double_to_integer(printer, x, node->type);
        else if (source == BRUME_TYPE_INTEGER)
            a.text = brume_print_cast(printer, x, name);
        else
            a.text = exact_to_integer(printer, x, from->type, node->type);
        return a;
    }
}

/* ---- stored columns ---- */

const char *brume_print_leaf(brume_printer *printer, const char *x, brume_type type,
                             brume_leaf leaf)
{
    bool pg = printer->postgresql;
    switch (leaf) {
    case BRUME_LEAF_CUT:
        return x;
    case BRUME_LEAF_PLAIN:
    case BRUME_LEAF_CAST:
        if (type.kind == BRUME_TYPE_TEXT && pg) {
            const char *text = FORMAT("(%s::text COLLATE \"C\")", x);
            return FORMAT("CASE WHEN octet_length(%s) <= %d THEN %s END", text,
                          BRUME_TEXT_BYTES_MOST, text);
        } /* DuckDB gets no longer text from the readers: engine/duckdb_reader.c */
        if (type.kind == BRUME_TYPE_TEXT && printer->spark)
            return FORMAT("CASE WHEN octet_length(%s) <= %d AND is_valid_utf8(%s) THEN CAST(%s AS "
                          "STRING) END",
                          x, BRUME_TEXT_BYTES_MOST, x, x);
        return leaf == BRUME_LEAF_PLAIN
                   ? x
                   : brume_print_cast(printer, x, brume_print_type(printer, type));
    case BRUME_LEAF_FINITE:
        return brume_print_range(printer, brume_print_cast(printer, x, pg ? "float8" : "DOUBLE"),
                                 "-1e150", "1e150", pg ? "float8" : "DOUBLE");
    case BRUME_LEAF_NUMERIC:
        return postgresql_decimal(printer, x, type);
    case BRUME_LEAF_FREE_NUMERIC:
        /* Rounded first: a numeric below the least double would raise. */
        return FORMAT("%s::float8", brume_print_range(printer, FORMAT("round(%s, 140)", x),
                                                      "-1e150", "1e150", "numeric"));
    case BRUME_LEAF_ZONED:
        x = pg               ? FORMAT("(%s AT TIME ZONE 'UTC')", x)
            : printer->spark ? FORMAT("CAST(%s AS TIMESTAMP_NTZ)", x)
                             : FORMAT("make_timestamp(epoch_us(%s))", x);
        break;
    case BRUME_LEAF_CALENDAR:
        break;
    }
    const char *name = brume_print_type(printer, type);
    bool date = type.kind == BRUME_TYPE_DATE;
    const char *low = date ? "0001-01-01" : "0001-01-01 00:00:00";
    const char *high = date ? "9999-12-31" : "9999-12-31 23:59:59.999999";
    return FORMAT("CASE WHEN %s BETWEEN %s AND %s THEN %s END", x,
                  brume_print_typed(printer, low, name), brume_print_typed(printer, high, name),
                  brume_print_cast(printer, x, name));
}

/* ---- the way to C ---- */

brume_wire brume_type_wire(brume_type type)
{
    if (type.kind == BRUME_TYPE_DOUBLE)
        return BRUME_WIRE_REAL;
    if (type.kind == BRUME_TYPE_TEXT || (type.kind == BRUME_TYPE_DECIMAL && type.precision > 18))
        return BRUME_WIRE_TEXT;
    return BRUME_WIRE_INTEGER;
}

brume_piece brume_print_wire(brume_printer *printer, brume_piece piece, brume_type type)
{
    bool pg = printer->postgresql;
    const char *x = piece.text, *big = pg ? "int8" : "BIGINT";
    piece.atom = false;
    switch (type.kind) {
    case BRUME_TYPE_BOOLEAN:
        piece.text = pg ? FORMAT("(%s)::int4::int8", x) : FORMAT("CAST(%s AS BIGINT)", x);
        break;
    case BRUME_TYPE_DATE:
        piece.text = pg               ? FORMAT("((%s) - '1970-01-01'::date)::int8", x)
                     : printer->spark ? FORMAT("CAST(unix_date(%s) AS BIGINT)", x)
                                      : FORMAT("CAST((%s) - DATE '1970-01-01' AS BIGINT)", x);
        break;
    case BRUME_TYPE_TIMESTAMP:
        piece.text = pg               ? FORMAT("(extract(epoch from %s) * 1000000)::int8", x)
                     : printer->spark ? FORMAT("unix_micros(CAST(%s AS TIMESTAMP))", x)
                                      : FORMAT("epoch_us(%s)", x);
        break;
    case BRUME_TYPE_DOUBLE: /* one zero */
        piece.text = pg ? FORMAT("((%s) + '0'::float8)", x)
                        : FORMAT("((%s) + CAST('0' AS DOUBLE))", x);
        break;
    case BRUME_TYPE_DECIMAL:
        if (type.precision > 18) {
            piece.text = printer->spark ? plain_text(printer, x, type)
                                        : brume_print_cast(printer, x, pg ? "text" : "VARCHAR");
        } else {
            char units[BRUME_WIDE_TEXT_SIZE];
            brume_wide_format(brume_wide_power(type.scale), 0, units);
            piece.text = pg ? FORMAT("((%s) * '%s'::numeric)::int8", x, units)
                            : FORMAT("CAST(CAST(%s AS DECIMAL(19,%d)) * CAST('%s' AS "
                                     "DECIMAL(19,0)) AS BIGINT)",
                                     x, type.scale, units);
        }
        break;
    case BRUME_TYPE_TEXT:
        piece.text = brume_print_cast(printer, x, brume_print_type(printer, type));
        break;
    default:
        piece.text = brume_print_cast(printer, x, big);
    }
    return piece;
}

/* The printed form of arithmetic and of functions of numbers on both engines.
 *
 * CLAMP, OUT and FL are the building blocks: CLAMP keeps NULL (GREATEST and LEAST alone would skip
 * it); OUT is RANGE at 1e150; FL takes doubles below 1e-150 for 0, so that no product or quotient
 * can underflow, which PostgreSQL would raise on. */

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

/* ---- conditions and choices ---- */

static brume_piece listed(brume_printer *printer, const brume_expression *node, size_t from,
                          const char *separator)
{
    int level = 0;
    size_t length = 1, gap = strlen(separator);
    const char **texts = brume_arena_allocate(printer->arena, node->argument_count * sizeof *texts);
    if (!texts) {
        printer->failed = true;
        return (brume_piece){"", 0, false};
    }
    for (size_t i = from; i < node->argument_count; i++) {
        brume_piece each = brume_print_expression(printer, node->arguments[i]);
        texts[i] = each.text;
        level = each.level > level ? each.level : level;
        length += strlen(each.text) + gap;
    }
    char *joined = brume_arena_allocate(printer->arena, length);
    if (!joined) {
        printer->failed = true;
        return (brume_piece){"", 0, false};
    }
    size_t used = 0;
    for (size_t i = from; i < node->argument_count; i++)
        used += (size_t)snprintf(joined + used, length - used, "%s%s", i > from ? separator : "",
                                 texts[i]);
    return (brume_piece){joined, level, false};
}

static brume_piece choose(brume_printer *printer, const brume_expression *node)
{
    int level = 0;
    const char *text = "(CASE";
    for (size_t i = 0; i < node->argument_count; i++) {
        brume_piece each = brume_print_expression(printer, node->arguments[i]);
        level = each.level > level ? each.level : level;
        const char *word = i % 2 ? "THEN" : i + 1 < node->argument_count ? "WHEN" : "ELSE";
        text = FORMAT("%s %s (%s)", text, word, each.text);
    }
    return (brume_piece){FORMAT("%s END)", text), level, false};
}

const char *brume_print_lower(brume_printer *printer, const char *a, bool upper)
{
    static const char small[] = "abcdefghijklmnopqrstuvwxyz",
                      large[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (printer->postgresql)
        return FORMAT(upper ? "upper(%s)" : "lower(%s)", a);
    return FORMAT("translate(%s, '%s', '%s')", a, upper ? small : large, upper ? large : small);
}

/* PostgreSQL's own LIKE gives up as soon as the text is at its end, so that its time is that of the
 * text times the pattern at most; DuckDB's tries again and again (engine/duckdb.c). Whether a
 * text matches a regular expression PostgreSQL finds out in one pass, by an automaton too: only
 * where it does, it would try again. */
static brume_piece like(brume_printer *printer, const brume_expression *node, brume_piece a)
{
    bool folds = node->operation == BRUME_OPERATION_ILIKE ||
                 node->operation == BRUME_OPERATION_NOT_ILIKE;
    bool negated = node->operation == BRUME_OPERATION_NOT_LIKE ||
                   node->operation == BRUME_OPERATION_NOT_ILIKE;
    const char *pattern = brume_print_quoted(printer, node->text), *not = negated ? "NOT " : "";
    if (node->operation == BRUME_OPERATION_MATCHES)
        a.text =
            FORMAT(printer->postgresql ? "((%s) ~ %s)" : "brume_matches(%s, %s)", a.text, pattern);
    else if (!printer->postgresql)
        a.text =
            FORMAT("(%s%s(%s, %s))", not, folds ? "brume_ilike" : "brume_like", a.text, pattern);
    else
        a.text = FORMAT("((%s) %sLIKE %s ESCAPE '\\')",
                        folds ? brume_print_lower(printer, a.text, false) : a.text, not, pattern);
    a.atom = false;
    return a;
}

static brume_piece condition(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    const char *word = brume_operation_word(node->operation);
    if (node->operation == BRUME_OPERATION_IN || node->operation == BRUME_OPERATION_NOT_IN) {
        brume_piece list = listed(printer, node, 1, ", ");
        return (brume_piece){FORMAT("((%s) %s (%s))", a.text, word, list.text), a.level, false};
    }
    if (node->text)
        return like(printer, node, a);
    if (node->argument_count == 1)
        return (brume_piece){node->operation == BRUME_OPERATION_NOT
                                 ? FORMAT("(NOT (%s))", a.text)
                                 : FORMAT("((%s) %s)", a.text, word),
                             a.level, false};
    brume_piece b = brume_print_expression(printer, node->arguments[1]);
    if (node->argument_count == 2)
        return (brume_piece){FORMAT("((%s) %s (%s))", a.text, word, b.text),
                             brume_print_level(a, b), false};
    brume_piece c = brume_print_expression(printer, node->arguments[2]);
    return (brume_piece){FORMAT("((%s) %s (%s) AND (%s))", a.text, word, b.text, c.text),
                         brume_print_level(a, b) > c.level ? brume_print_level(a, b) : c.level,
                         false};
}

/* ---- text ---- */

static brume_piece part_of_text(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    brume_piece s = brume_print_let(printer, brume_print_expression(printer, node->arguments[1]));
    const char *text;
    int level = brume_print_level(a, s);
    if (node->operation != BRUME_OPERATION_SUBSTRING) {
        text = FORMAT("(CASE WHEN %s IS NOT NULL THEN %s(%s, GREATEST(%s, -2147483647)) END)",
                      s.text, brume_operation_word(node->operation), a.text, s.text);
    } else if (node->argument_count == 2) {
        text = printer->postgresql
                   ? FORMAT("substring(%s, %s)", a.text, s.text)
                   : FORMAT("(CASE WHEN %s IS NOT NULL THEN substring(%s, GREATEST(%s, 1)) END)",
                            s.text, a.text, s.text);
    } else {
        brume_piece n =
            brume_print_let(printer, brume_print_expression(printer, node->arguments[2]));
        level = level > n.level ? level : n.level;
        /* A start before 1 eats into the length; DuckDB alone would count from the end. */
        text = printer->postgresql
                   ? FORMAT("(CASE WHEN %s >= 0 THEN substring(%s, %s, %s) END)", n.text, a.text,
                            s.text, n.text)
                   : FORMAT("(CASE WHEN %s >= 0 AND %s IS NOT NULL THEN substring(%s, "
                            "CAST(GREATEST(%s, 1) AS BIGINT), GREATEST(LEAST(CAST(%s AS BIGINT) + "
                            "CAST(%s AS BIGINT), 2147483648) - GREATEST(%s, 1), 0)) END)",
                            n.text, s.text, a.text, s.text, s.text, n.text, s.text);
    }
    return (brume_piece){text, level, false};
}

static brume_piece text_function(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]), all;
    const char *text, *word = brume_operation_word(node->operation);
    switch (node->operation) {
    case BRUME_OPERATION_LOWER:
    case BRUME_OPERATION_UPPER:
        text = brume_print_lower(printer, a.text, node->operation == BRUME_OPERATION_UPPER);
        break;
    case BRUME_OPERATION_TRIM:
    case BRUME_OPERATION_TRIM_LEFT:
    case BRUME_OPERATION_TRIM_RIGHT:
        text =
            FORMAT("%s(%s, %s)",
                   node->operation == BRUME_OPERATION_TRIM && !printer->postgresql ? "trim" : word,
                   a.text, brume_print_quoted(printer, node->text));
        break;
    case BRUME_OPERATION_OCTET_LENGTH:
        text = printer->postgresql ? FORMAT("octet_length(%s)", a.text)
                                   : FORMAT("CAST(strlen(%s) AS INTEGER)", a.text);
        break;
    case BRUME_OPERATION_SPLIT_PART:
        text = FORMAT("split_part(%s, %s, %lld)", a.text, brume_print_quoted(printer, node->text),
                      (long long)node->number[0]);
        break;
    default:
        all = listed(printer, node, 0, ", ");
        a.level = all.level;
        text = FORMAT("%s(%s)", word, all.text);
        if (node->type.kind == BRUME_TYPE_INTEGER && !printer->postgresql)
            text = FORMAT("CAST(%s AS INTEGER)", text);
    }
    return (brume_piece){text, a.level, false};
}

/* ---- dates ---- */

/* The format in to_char's words: what is no part of a time is quoted. */
static const char *postgresql_format(brume_printer *printer, const char *format)
{
    brume_print_list list = {0};
    while (*format) {
        const char *part = brume_format_part(format);
        brume_print_add(printer, &list, "", part ? part : FORMAT("\"%c\"", *format));
        format += part ? 2 : 1;
    }
    return list.length ? list.text : "";
}

static brume_piece date_function(brume_printer *printer, const brume_expression *node)
{
    bool pg = printer->postgresql;
    brume_piece a = brume_print_expression(printer, node->arguments[0]), b = {"", 0, false};
    if (node->argument_count > 1)
        b = brume_print_expression(printer, node->arguments[1]);
    const char *text;
    switch (node->operation) {
    case BRUME_OPERATION_DAYS_BETWEEN:
        text = pg ? FORMAT("((%s) - (%s))", a.text, b.text)
                  : FORMAT("CAST((%s) - (%s) AS INTEGER)", a.text, b.text);
        break;
    case BRUME_OPERATION_ADD_DAYS:
    case BRUME_OPERATION_SUBTRACT_DAYS: {
        /* By day number in 64 bits, then range, then back. */
        const char *sign = node->operation == BRUME_OPERATION_ADD_DAYS ? "+" : "-";
        const char *days =
            pg ? FORMAT("((%s) - '1970-01-01'::date)::int8 %s (%s)::int8", a.text, sign, b.text)
               : FORMAT("CAST((%s) - DATE '1970-01-01' AS BIGINT) %s CAST(%s AS BIGINT)", a.text,
                        sign, b.text);
        days = brume_print_range(printer, days, "-719163", "2932897", pg ? "int8" : "BIGINT");
        text = pg ? FORMAT("('1970-01-01'::date + (%s)::int4)", days)
                  : FORMAT("(DATE '1970-01-01' + CAST(%s AS INTEGER))", days);
        break;
    }
    case BRUME_OPERATION_ADD_INTERVAL: {
        brume_piece moved = brume_print_let(printer, a);
        moved.text = pg ? FORMAT("(%s + '%lld months %lld days %lld microseconds'::interval)",
                                 moved.text, (long long)node->number[0], (long long)node->number[1],
                                 (long long)node->number[2])
                        : FORMAT("(%s + (to_months(%lld) + to_days(%lld) + to_microseconds(%lld)))",
                                 moved.text, (long long)node->number[0], (long long)node->number[1],
                                 (long long)node->number[2]);
        moved.atom = false;
        moved = brume_print_let(printer, moved);
        return (brume_piece){brume_print_leaf(printer, moved.text, node->type, BRUME_LEAF_CALENDAR),
                             moved.level, false};
    }
    case BRUME_OPERATION_FORMAT_TIME:
        text = pg ? FORMAT("(to_char(%s, '%s') COLLATE \"C\")", a.text,
                           postgresql_format(printer, node->text))
                  : FORMAT("strftime(%s, '%s')", a.text, node->text);
        break;
    case BRUME_OPERATION_DATE_TRUNC:
        /* DuckDB takes date_trunc = (a time that is no edge) for false, also of NULL: hidden in the
         * microseconds it is compared as it is. 'touched windows' compares with PostgreSQL. */
        text = pg ? FORMAT("date_trunc('%s', %s)", node->text, a.text)
                  : FORMAT("make_timestamp(epoch_us(CAST(date_trunc('%s', %s) AS TIMESTAMP)))",
                           node->text, a.text);
        break;
    default: /* EXTRACT */
        if (pg)
            text = FORMAT("extract(%s from %s)::%s", node->text, a.text,
                          brume_print_type(printer, node->type));
        else if (node->type.precision == 4)
            text = FORMAT("CAST(date_part('%s', %s) AS DECIMAL(4,0))", node->text, a.text);
        else if (node->type.precision == 8) /* DuckDB's seconds are cut */
            text = FORMAT("CAST(CAST(date_part('microseconds', %s) AS DECIMAL(8,0)) * "
                          "CAST('0.000001' AS DECIMAL(7,6)) AS DECIMAL(8,6))",
                          a.text);
        else
            text = FORMAT("CAST(CAST(epoch_us(%s) AS DECIMAL(19,0)) * CAST('0.000001' AS "
                          "DECIMAL(7,6)) AS DECIMAL(18,6))",
                          a.text);
    }
    return (brume_piece){text, brume_print_level(a, b), false};
}

/* ---- the dispatch ---- */

/* DuckDB and Spark read NULLIF(a, b) as a CASE that holds `a` twice, so that each one in another
 * doubles their work: a value with some of them is bound before it becomes a part of another. What
 * is true or false is in no NULLIF. */
enum { MOST_REPEATED = 4 };

static bool repeats_itself(const brume_printer *printer, const brume_expression *node,
                           brume_piece piece)
{
    static const char word[] = "nullif(";
    int count = 0;
    if (printer->postgresql || node->type.kind == BRUME_TYPE_BOOLEAN)
        return false;
    for (const char *at = piece.text; (at = strcasestr(at, word)); at += sizeof word - 1)
        count++;
    return count > MOST_REPEATED;
}

static brume_piece print_node(brume_printer *printer, const brume_expression *node);

brume_piece brume_print_expression(brume_printer *printer, const brume_expression *node)
{
    for (const brume_bound *each = printer->bound; each; each = each->next)
        if (each->node == node)
            return (brume_piece){each->name, 0, true};
    brume_piece piece = print_node(printer, node);
    return repeats_itself(printer, node, piece) ? brume_print_let(printer, piece) : piece;
}

static brume_piece print_node(brume_printer *printer, const brume_expression *node)
{
    if (printer->failed)
        return (brume_piece){"", 0, false};
    brume_operation operation = node->operation;
    brume_piece a;
    if (printer->spark && brume_print_spark(printer, node, &a))
        return a;
    if (brume_print_number(printer, node, &a))
        return a;
    switch (operation) {
    case BRUME_OPERATION_COLUMN:
        return (brume_piece){FORMAT("\"c%zu_%zu\"", node->relation->number, node->column), 0, true};
    case BRUME_OPERATION_LITERAL:
        return (brume_piece){brume_print_literal(printer, node->type, node->text), 0, true};
    case BRUME_OPERATION_CAST:
        return print_conversion(printer, node);
    case BRUME_OPERATION_CASE:
        return choose(printer, node);
    case BRUME_OPERATION_COALESCE:
    case BRUME_OPERATION_NULLIF:
    case BRUME_OPERATION_GREATEST:
    case BRUME_OPERATION_LEAST:
    case BRUME_OPERATION_CONCAT:
        a = listed(printer, node, 0, ", ");
        a.text = FORMAT("%s(%s)", brume_operation_word(operation), a.text);
        return a;
    case BRUME_OPERATION_JOIN_TEXT:
        a = listed(printer, node, 0, " || ");
        /* DuckDB gives NULL || 'x' the type of NULL. */
        a.text = FORMAT(printer->postgresql || printer->spark ? "(%s)" : "CAST((%s) AS VARCHAR)",
                        a.text);
        return a;
    case BRUME_OPERATION_SUBSTRING:
    case BRUME_OPERATION_LEFT:
    case BRUME_OPERATION_RIGHT:
        return part_of_text(printer, node);
    case BRUME_OPERATION_LOWER:
    case BRUME_OPERATION_UPPER:
    case BRUME_OPERATION_LENGTH:
    case BRUME_OPERATION_OCTET_LENGTH:
    case BRUME_OPERATION_SPLIT_PART:
    case BRUME_OPERATION_TRIM:
    case BRUME_OPERATION_TRIM_LEFT:
    case BRUME_OPERATION_TRIM_RIGHT:
    case BRUME_OPERATION_REPLACE:
    case BRUME_OPERATION_STARTS_WITH:
    case BRUME_OPERATION_POSITION:
        return text_function(printer, node);
    case BRUME_OPERATION_ADD_DAYS:
    case BRUME_OPERATION_SUBTRACT_DAYS:
    case BRUME_OPERATION_DAYS_BETWEEN:
    case BRUME_OPERATION_ADD_INTERVAL:
    case BRUME_OPERATION_EXTRACT:
    case BRUME_OPERATION_DATE_TRUNC:
    case BRUME_OPERATION_FORMAT_TIME:
        return date_function(printer, node);
    default:
        return condition(printer, node);
    }
}
