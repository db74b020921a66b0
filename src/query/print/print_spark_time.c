/* Dates and times for Spark. A timestamp is a TIMESTAMP_NTZ; functions that want one with a zone
 * get it in UTC, which is the session's. */
#include <stdlib.h>
#include <string.h>

#include "query/print/print_cast.h"
#include "query/print/print_spark.h"

#define FORMAT(...) brume_print_format(printer, __VA_ARGS__)

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

bool brume_print_spark_time(brume_printer *printer, const brume_expression *node,
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
    return brume_print_spark_number(printer, node, piece) ||
           brume_print_spark_text(printer, node, piece) ||
           brume_print_spark_time(printer, node, piece);
}
