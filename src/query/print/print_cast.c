/* Conversions that never fail and agree on both engines; stored columns as values; values as they
 * travel to C.
 *
 * Text is read through a form (engine/plain_form.h) that lets through exactly what both engines'
 * casts take alike. Narrowing goes by way of a wider type, RANGE, then a cast that cannot fail. */
#include "query/print/print_cast.h"

#include <stdio.h>
#include <string.h>

#include "query/expression/build.h"
#include "query/expression/wide.h"
#include "query/print/statement.h"

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

brume_piece brume_print_conversion(brume_printer *printer, const brume_expression *node)
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
