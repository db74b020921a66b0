/* Conditions on texts and functions of them for Spark.
 *
 * LIKE becomes a regular expression in which no part is tried twice: the parts between two '%' are
 * found leftmost and are not looked for again (atomic groups), so that its time is that of the text
 * times the pattern at most. */
#include "query/print/print_spark.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/expression/literal.h"
#include "query/print/print_expression.h"

static bool print_spark_number(brume_printer *printer, const brume_expression *node,
                               brume_piece *piece);

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

/* ---- LIKE ---- */

/* The expression of one part of a pattern, which ends at `end`. Bytes above 127 stand for
 * themselves, as do letters and digits. */
static const char *part_of_pattern(brume_printer *printer, const char *from, const char *end)
{
    brume_print_list list = {0};
    while (from < end) {
        bool any = *from == '_';
        from += *from == '\\' && from + 1 < end;
        unsigned char c = (unsigned char)*from++;
        if (any)
            brume_print_add(printer, &list, "", ".");
        else
            brume_print_add(printer, &list, "",
                            c > 127 || isalnum(c) ? FORMAT("%c", c) : FORMAT("\\x%02x", c));
    }
    return list.length ? list.text : "";
}

static const char *end_of_part(const char *from)
{
    while (*from && *from != '%')
        from += *from == '\\' && from[1] ? 2 : 1;
    return from;
}

static const char *pattern_of(brume_printer *printer, const char *like)
{
    const char *end = end_of_part(like);
    const char *text = FORMAT("(?s)\\A%s", part_of_pattern(printer, like, end));
    if (!*end)
        return FORMAT("%s\\z", text);
    while (*end) {
        const char *from = end + 1;
        end = end_of_part(from);
        if (from == end)
            continue; /* "%%" is "%"; at the end anything may follow */
        const char *part = part_of_pattern(printer, from, end);
        text = *end ? FORMAT("%s(?>.*?%s)", text, part) : FORMAT("%s.*%s\\z", text, part);
    }
    return text;
}

static brume_piece like(brume_printer *printer, const brume_expression *node)
{
    bool folds = node->operation == BRUME_OPERATION_ILIKE ||
                 node->operation == BRUME_OPERATION_NOT_ILIKE;
    bool negated = node->operation == BRUME_OPERATION_NOT_LIKE ||
                   node->operation == BRUME_OPERATION_NOT_ILIKE;
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    const char *pattern = brume_print_quoted(printer, pattern_of(printer, node->text));
    a.text = FORMAT("(%s(%s) RLIKE %s)", negated ? "NOT " : "",
                    folds ? brume_print_lower(printer, a.text, false) : a.text, pattern);
    a.atom = false;
    return a;
}

/* ---- parts of texts ---- */

/* A negative length leaves so many characters out, at the other end. */
static brume_piece left_or_right(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    brume_piece n = brume_print_let(printer, brume_print_expression(printer, node->arguments[1]));
    const char *rest =
        node->operation == BRUME_OPERATION_LEFT
            ? FORMAT("left(%s, GREATEST(length(%s) + %s, 0))", a.text, a.text, n.text)
            : FORMAT("right(%s, GREATEST(length(%s) + %s, 0))", a.text, a.text, n.text);
    return (brume_piece){FORMAT("(CASE WHEN %s >= 0 THEN %s(%s, %s) WHEN %s < 0 THEN %s END)",
                                n.text, brume_operation_word(node->operation), a.text, n.text,
                                n.text, rest),
                         brume_print_level(a, n), false};
}

/* A start before 1 eats into the length. */
static brume_piece substring(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    brume_piece s = brume_print_let(printer, brume_print_expression(printer, node->arguments[1]));
    int level = brume_print_level(a, s);
    if (node->argument_count == 2)
        return (brume_piece){
            FORMAT("(CASE WHEN %s IS NOT NULL THEN substring(%s, GREATEST(%s, 1)) END)", s.text,
                   a.text, s.text),
            level, false};
    brume_piece n = brume_print_let(printer, brume_print_expression(printer, node->arguments[2]));
    level = level > n.level ? level : n.level;
    return (brume_piece){
        FORMAT("(CASE WHEN %s >= 0 AND %s IS NOT NULL THEN substring(%s, GREATEST(%s, 1), "
               "CAST(GREATEST(LEAST(CAST(%s AS BIGINT) + CAST(%s AS BIGINT), 2147483648) - "
               "CAST(GREATEST(%s, 1) AS BIGINT), 0) AS INT)) END)",
               n.text, s.text, a.text, s.text, s.text, n.text, s.text),
        level, false};
}

static const char *trim(brume_printer *printer, const brume_expression *node, const char *text)
{
    const char *side = node->operation == BRUME_OPERATION_TRIM        ? "BOTH"
                       : node->operation == BRUME_OPERATION_TRIM_LEFT ? "LEADING"
                                                                      : "TRAILING";
    return FORMAT("TRIM(%s %s FROM %s)", side, brume_print_quoted(printer, node->text), text);
}

/* All arguments, as a list. */
static brume_piece listed(brume_printer *printer, const brume_expression *node)
{
    brume_print_list list = {0};
    int level = 0;
    for (size_t i = 0; i < node->argument_count; i++) {
        brume_piece each = brume_print_expression(printer, node->arguments[i]);
        brume_print_add(printer, &list, ", ", each.text);
        level = each.level > level ? each.level : level;
    }
    return (brume_piece){list.length ? list.text : "", level, false};
}

static bool print_spark_text(brume_printer *printer, const brume_expression *node,
                             brume_piece *piece)
{
    switch (node->operation) {
    case BRUME_OPERATION_LIKE:
    case BRUME_OPERATION_NOT_LIKE:
    case BRUME_OPERATION_ILIKE:
    case BRUME_OPERATION_NOT_ILIKE:
        *piece = like(printer, node);
        return true;
    case BRUME_OPERATION_MATCHES:
        *piece = brume_print_refuse(printer,
                                    "Spark follows regular expressions by trying again, so "
                                    "that its time could tell what a row holds");
        return true;
    case BRUME_OPERATION_LEFT:
    case BRUME_OPERATION_RIGHT:
        *piece = left_or_right(printer, node);
        return true;
    case BRUME_OPERATION_SUBSTRING:
        *piece = substring(printer, node);
        return true;
    case BRUME_OPERATION_TRIM:
    case BRUME_OPERATION_TRIM_LEFT:
    case BRUME_OPERATION_TRIM_RIGHT:
        *piece = brume_print_expression(printer, node->arguments[0]);
        piece->text = trim(printer, node, piece->text);
        break;
    case BRUME_OPERATION_OCTET_LENGTH:
        *piece = listed(printer, node);
        piece->text = FORMAT("octet_length(%s)", piece->text);
        break;
    case BRUME_OPERATION_STARTS_WITH:
        *piece = listed(printer, node);
        piece->text = FORMAT("startswith(%s)", piece->text);
        break;
    case BRUME_OPERATION_POSITION:
        *piece = listed(printer, node);
        piece->text = FORMAT("instr(%s)", piece->text);
        break;
    case BRUME_OPERATION_CONCAT: /* without those that are NULL */
        *piece = listed(printer, node);
        piece->text = FORMAT("concat_ws('', %s)", piece->text);
        break;
    case BRUME_OPERATION_GREATEST:
    case BRUME_OPERATION_LEAST: /* of one value they are refused */
        if (node->argument_count > 1)
            return false;
        *piece = brume_print_expression(printer, node->arguments[0]);
        return true;
    default:
        return false;
    }
    piece->atom = false;
    return true;
}

/* Dates and times for Spark. A timestamp is a TIMESTAMP_NTZ; functions that want one with a zone
 * get it in UTC, which is the session's. */

static const char *day_number(brume_printer *printer, const char *date)
{
    return FORMAT("unix_date(%s)", date);
}

/* By day number in 64 bits, then range, then back. */
static const char *move_days(brume_printer *printer, const brume_expression *node, const char *date,
                             const char *by)
{
    const char *days = FORMAT("CAST(%s AS BIGINT) %s CAST(%s AS BIGINT)", day_number(printer, date),
                              node->operation == BRUME_OPERATION_ADD_DAYS ? "+" : "-", by);
    return FORMAT("date_from_unix_date(CAST(%s AS INT))",
                  brume_print_range(printer, days, "-719163", "2932897", "BIGINT"));
}

/* Months, then days and microseconds. What is moved by more than there are days between the years
 * 1 and 9999, twice over, is outside of them wherever it was. */
static brume_piece move(brume_printer *printer, const brume_expression *node)
{
    enum { FAR = 8000000 };
    const long long day = 86400000000;
    long long months = node->number[0], days = node->number[1], rest = node->number[2];
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    days += rest / day;
    rest %= day;
    if (llabs(days) > FAR)
        return (brume_piece){brume_print_literal(printer, node->type, NULL), 0, true};
    const char *sign = rest < 0 ? "-" : "";
    a.text = FORMAT("((%s + make_ym_interval(0, %lld)) + make_dt_interval(%lld, 0, 0, CAST('%s%lld."
                    "%06lld' AS DECIMAL(18,6))))",
                    a.text, months, days, sign, llabs(rest) / 1000000, llabs(rest) % 1000000);
    a.atom = false;
    a = brume_print_let(printer, a);
    return (brume_piece){brume_print_leaf(printer, a.text, node->type, BRUME_LEAF_CALENDAR),
                         a.level, false};
}

static const char *extract(brume_printer *printer, const brume_expression *node, const char *from)
{
    const char *field = node->text, *value;
    if (strcmp(field, "epoch") == 0)
        return FORMAT("CAST(CAST(unix_micros(CAST(%s AS TIMESTAMP)) AS DECIMAL(19,0)) * "
                      "CAST('0.000001' AS DECIMAL(7,6)) AS DECIMAL(18,6))",
                      from);
    if (strcmp(field, "dow") == 0)
        value = FORMAT("dayofweek(%s) - 1", from);
    else if (strcmp(field, "isodow") == 0)
        value = FORMAT("weekday(%s) + 1", from);
    else
        value = FORMAT("extract(%s FROM %s)", strcmp(field, "isoyear") == 0 ? "YEAROFWEEK" : field,
                       from);
    return FORMAT("CAST(%s AS %s)", value, brume_print_type(printer, node->type));
}

/* The format in the words of date_format. */
static const char *format_of(brume_printer *printer, const char *format)
{
    static const char *const words[][2] = {{"%Y", "yyyy"}, {"%m", "MM"}, {"%d", "dd"},
                                           {"%H", "HH"},   {"%M", "mm"}, {"%S", "ss"}};
    brume_print_list list = {0};
    while (*format) {
        const char *word = NULL;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strncmp(format, words[i][0], 2) == 0)
                word = words[i][1];
        brume_print_add(printer, &list, "", word ? word : FORMAT("%c", *format));
        format += word ? 2 : 1;
    }
    return list.length ? list.text : "";
}

static bool print_spark_time(brume_printer *printer, const brume_expression *node,
                             brume_piece *piece)
{
    switch (node->operation) {
    case BRUME_OPERATION_DAYS_BETWEEN:
    case BRUME_OPERATION_ADD_DAYS:
    case BRUME_OPERATION_SUBTRACT_DAYS:
    case BRUME_OPERATION_EXTRACT:
    case BRUME_OPERATION_DATE_TRUNC:
    case BRUME_OPERATION_FORMAT_TIME:
        break;
    case BRUME_OPERATION_ADD_INTERVAL:
        *piece = move(printer, node);
        return true;
    default:
        return false;
    }
    brume_piece a = brume_print_expression(printer, node->arguments[0]), b = {"", 0, false};
    if (node->argument_count > 1)
        b = brume_print_expression(printer, node->arguments[1]);
    const char *text;
    if (node->operation == BRUME_OPERATION_DAYS_BETWEEN)
        text = FORMAT("datediff(%s, %s)", a.text, b.text);
    else if (node->operation == BRUME_OPERATION_EXTRACT)
        text = extract(printer, node, a.text);
    else if (node->operation == BRUME_OPERATION_DATE_TRUNC)
        text = FORMAT("CAST(date_trunc('%s', CAST(%s AS TIMESTAMP)) AS TIMESTAMP_NTZ)", node->text,
                      a.text);
    else if (node->operation == BRUME_OPERATION_FORMAT_TIME)
        text = FORMAT("date_format(CAST(%s AS TIMESTAMP), '%s')", a.text,
                      format_of(printer, node->text));
    else
        text = move_days(printer, node, a.text, b.text);
    *piece = (brume_piece){text, brume_print_level(a, b), false};
    return true;
}

bool brume_print_spark(brume_printer *printer, const brume_expression *node, brume_piece *piece)
{
    return print_spark_number(printer, node, piece) || print_spark_text(printer, node, piece) ||
           print_spark_time(printer, node, piece);
}

/* Arithmetic and functions of numbers for Spark.
 *
 * Integers of 64 bits are guarded in decimals, which have 38 digits. A cast of a double to an
 * integer cuts its fraction off, so that rint comes first; floor and ceil of a double are integers,
 * so that they are asked for numbers with a fraction only. */

#define WHOLE "CAST('4503599627370496' AS DOUBLE)" /* 2^52: from here on there are no fractions */

/* Quotients of 64-bit integers: div gives one, and only the least by -1 leaves them. */
static brume_piece quotient(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    brume_piece b = brume_print_let(printer, brume_print_expression(printer, node->arguments[1]));
    const char *least = brume_print_typed(printer, "-9223372036854775808", "BIGINT");
    return (brume_piece){FORMAT("(CASE WHEN %s = %s AND %s = -1 THEN NULL ELSE %s div NULLIF(%s, "
                                "CAST(0 AS BIGINT)) END)",
                                a.text, least, b.text, a.text, b.text),
                         brume_print_level(a, b), false};
}

/* ---- rounding ---- */

static brume_piece cut_decimal(brume_printer *printer, const brume_expression *node)
{
    int digits = (int)node->number[0];
    const char *type = brume_print_type(printer, node->type);
    brume_piece a = brume_print_let(printer, brume_print_expression(printer, node->arguments[0]));
    return (brume_piece){
        FORMAT("(CASE WHEN %s < 0 THEN CAST(ceil(%s, %d) AS %s) ELSE CAST(floor(%s,"
               " %d) AS %s) END)",
               a.text, a.text, digits, type, a.text, digits, type),
        a.level, false};
}

static brume_piece round_double(brume_printer *printer, const brume_expression *node)
{
    brume_piece a = brume_print_expression(printer, node->arguments[0]);
    if (node->operation == BRUME_OPERATION_ROUND)
        return (brume_piece){FORMAT("rint(%s)", a.text), a.level, false};
    a = brume_print_let(printer, a);
    const char *whole = node->operation == BRUME_OPERATION_TRUNC
                            ? FORMAT("CAST(%s AS BIGINT)", a.text)
                            : FORMAT("%s(%s)", brume_operation_word(node->operation), a.text);
    return (brume_piece){FORMAT("(CASE WHEN abs(%s) < " WHOLE " THEN CAST(%s AS DOUBLE) ELSE %s "
                                "END)",
                                a.text, whole, a.text),
                         a.level, false};
}

/* ---- the grid ---- */

static brume_piece grid(brume_printer *printer, const brume_expression *node)
{
    brume_expression clamped = *node;
    clamped.operation = BRUME_OPERATION_CLAMP;
    brume_piece a;
    (void)brume_print_number(printer, &clamped, &a);
    brume_type type = node->arguments[0]->type;
    if (type.kind == BRUME_TYPE_DOUBLE) {
        char scale[40];
        snprintf(scale, sizeof scale, "%.17g", ldexp(1, (int)node->number[0]));
        a = brume_print_let(printer, a);
        a.text = FORMAT("CAST(rint((CASE WHEN abs(%s) < %s THEN %s ELSE %s END) * %s) AS BIGINT)",
                        a.text, brume_print_typed(printer, "1e-150", "DOUBLE"),
                        brume_print_typed(printer, "0", "DOUBLE"), a.text,
                        brume_print_typed(printer, scale, "DOUBLE"));
    } else if (type.kind == BRUME_TYPE_DECIMAL) {
        /* As in print_expression.c: with 15 digits at most rint finds the unit. */
        char units[BRUME_WIDE_TEXT_SIZE];
        int low = brume_wide_digits(node->bounds.low), high = brume_wide_digits(node->bounds.high);
        brume_wide_format(brume_wide_power(type.scale), 0, units);
        a.text =
            low <= 15 && high <= 15
                ? FORMAT("CAST(rint(CAST(%s AS DOUBLE) * CAST('%s' AS DOUBLE)) AS BIGINT)", a.text,
                         units)
                : FORMAT("CAST(CAST(%s AS DECIMAL(19,%d)) * CAST('%s' AS DECIMAL(19,0)) AS BIGINT)",
                         a.text, type.scale, units);
    } else {
        a.text = brume_print_cast(printer, a.text, "BIGINT");
    }
    a.atom = false;
    return a;
}

/* Parts of it: numbers, texts, times. */
static bool print_spark_number(brume_printer *printer, const brume_expression *node,
                               brume_piece *piece)
{
    bool decimal = node->type.kind == BRUME_TYPE_DECIMAL;
    switch (node->operation) {
    case BRUME_OPERATION_DIVIDE:
        if (node->type.kind != BRUME_TYPE_BIGINT)
            return false;
        *piece = quotient(printer, node);
        return true;
    case BRUME_OPERATION_TRUNC:
        *piece = decimal ? cut_decimal(printer, node) : round_double(printer, node);
        return true;
    case BRUME_OPERATION_FLOOR:
    case BRUME_OPERATION_CEIL:
    case BRUME_OPERATION_ROUND:
        if (decimal)
            return false;
        *piece = round_double(printer, node);
        return true;
    case BRUME_OPERATION_GRID:
        *piece = grid(printer, node);
        return true;
    case BRUME_OPERATION_LN:
    case BRUME_OPERATION_LOG10:
    case BRUME_OPERATION_EXP:
    case BRUME_OPERATION_POWER:
        *piece = brume_print_refuse(printer, "Spark's logarithms, exponentials and powers differ "
                                             "from the others' in the last digit");
        return true;
    default:
        return false;
    }
}
