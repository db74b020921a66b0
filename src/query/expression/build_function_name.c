/* The names of DuckDB and PostgreSQL for what other functions and operators already say: each is
 * written with those, so that it is as total and as bounded as they are. */
#include "query/expression/build_function.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const brume_type INTEGER = {BRUME_TYPE_INTEGER, 0, 0};
static const brume_type BIGINT = {BRUME_TYPE_BIGINT, 0, 0};
static const brume_type DOUBLE = {BRUME_TYPE_DOUBLE, 0, 0};
static const brume_type DATE = {BRUME_TYPE_DATE, 0, 0};
static const brume_type TIMESTAMP = {BRUME_TYPE_TIMESTAMP, 0, 0};

static brume_node call(brume_builder *builder, const char *name, brume_node a, brume_node b)
{
    brume_node both[] = {a, b};
    return a && b ? brume_build_function(builder, name, both, 2) : NULL;
}

/* ---- fields of a date: year(x) is extract(year from x), as an integer ---- */

static brume_node field_of(brume_builder *builder, const char *field, brume_node time)
{
    brume_node value = call(builder, "extract", brume_build_untyped(builder, field), time);
    if (value && strcmp(field, "second") == 0) /* whole seconds, as DuckDB has them */
        value = brume_build_function(builder, "floor", &value, 1);
    return value ? brume_build_cast(builder, value, INTEGER) : NULL;
}

static brume_node build_field(brume_builder *builder, const char *name, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    static const char *const others[][2] = {
        {"dayofmonth", "day"}, {"dayofweek", "dow"},   {"weekday", "dow"},
        {"dayofyear", "doy"},  {"weekofyear", "week"},
    };
    (void)operation;
    (void)count;
    const char *field = name;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i][0]) == 0)
            field = others[i][1];
    return field_of(builder, field, arguments[0]);
}

/* monthname and dayname: the English names, chosen by the number. */
static brume_node build_day_or_month(brume_builder *builder, const char *name,
                                     brume_operation operation, const brume_node *arguments,
                                     size_t count)
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    static const char *const days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};
    (void)operation;
    bool month = strcmp(name, "monthname") == 0;
    brume_node number = field_of(builder, month ? "month" : "isodow", arguments[0]);
    brume_node parts[24];
    count = month ? 12 : 7;
    for (size_t i = 0; number && i < count; i++) {
        char text[8];
        snprintf(text, sizeof text, "%zu", i + 1);
        parts[2 * i] = brume_build_compare(builder, BRUME_OPERATION_EQUAL, number,
                                           brume_build_literal(builder, INTEGER, text));
        parts[2 * i + 1] = brume_build_literal(builder, (brume_type){BRUME_TYPE_TEXT, 0, 0},
                                               month ? months[i] : days[i]);
        if (!parts[2 * i] || !parts[2 * i + 1])
            return NULL;
    }
    return number ? brume_build_case(builder, parts, 2 * count) : NULL;
}

static brume_node build_epoch(brume_builder *builder, const char *name, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    (void)name;
    (void)operation;
    (void)count;
    brume_node value =
        call(builder, "extract", brume_build_untyped(builder, "epoch"), arguments[0]);
    return value ? brume_build_convert(builder, value, DOUBLE) : NULL;
}

static brume_node build_date(brume_builder *builder, const char *name, brume_operation operation,
                             const brume_node *arguments, size_t count)
{
    (void)name;
    (void)operation;
    (void)count;
    return brume_build_cast(builder, arguments[0], DATE);
}

/* The last day of a month: its first one, a month later, a day earlier. */
static brume_node build_last_day(brume_builder *builder, const char *name,
                                 brume_operation operation, const brume_node *arguments,
                                 size_t count)
{
    (void)name;
    (void)operation;
    (void)count;
    brume_node month =
        call(builder, "date_trunc", brume_build_untyped(builder, "month"), arguments[0]);
    brume_node moved = month ? brume_build_interval(builder, month, 1, -1, 0) : NULL;
    return moved ? brume_build_cast(builder, moved, DATE) : NULL;
}

/* ---- how many boundaries of a unit lie between two times ---- */

/* The number of the second, minute or hour since 1970 that `time` is in. */
static brume_node clock_number(brume_builder *builder, brume_node unit, const char *seconds,
                               brume_node time)
{
    brume_node start = call(builder, "date_trunc", unit, time);
    brume_node epoch = call(builder, "extract", brume_build_untyped(builder, "epoch"), start);
    brume_node whole = epoch ? brume_build_cast(builder, epoch, BIGINT) : NULL;
    brume_node size = brume_build_number(builder, seconds);
    return whole && size ? brume_build_arithmetic(builder, BRUME_OPERATION_DIVIDE, whole, size)
                         : NULL;
}

/* The number of the year, quarter or month that `time` is in, counted from the year 0. */
static brume_node calendar_number(brume_builder *builder, const char *unit, const char *a_year,
                                  brume_node time)
{
    brume_node year = field_of(builder, "year", time), factor = brume_build_number(builder, a_year);
    if (!year || !factor || strcmp(unit, "year") == 0)
        return year;
    brume_node years = brume_build_arithmetic(builder, BRUME_OPERATION_MULTIPLY, year, factor);
    brume_node part = years ? field_of(builder, unit, time) : NULL;
    return part ? brume_build_arithmetic(builder, BRUME_OPERATION_ADD, years, part) : NULL;
}

static brume_node day_of(brume_builder *builder, const char *unit, brume_node time)
{
    if (strcmp(unit, "week") == 0)
        time = call(builder, "date_trunc", brume_build_untyped(builder, unit), time);
    return time ? brume_build_cast(builder, time, DATE) : NULL;
}

static brume_node build_difference(brume_builder *builder, const char *name,
                                   brume_operation operation, const brume_node *arguments,
                                   size_t count)
{
    static const struct {
        const char *name, *size; /* seconds of it, or how many of it a year has */
        int kind;                /* 0 by the calendar, 1 by days, 2 by the clock */
    } units[] = {
        {"year", "1", 0}, {"quarter", "4", 0}, {"month", "12", 0},  {"week", "7", 1},
        {"day", "1", 1},  {"hour", "3600", 2}, {"minute", "60", 2}, {"second", "1", 2},
    };
    (void)operation;
    (void)count;
    const char *wanted = brume_argument_constant(arguments[0]);
    size_t i = 0;
    while (wanted && i < 8 && strcasecmp(wanted, units[i].name) != 0)
        i++;
    if (!wanted || i == 8)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "use year, quarter, month, week, day, hour, minute or second",
                                "%s knows no unit '%.40s'", name, wanted ? wanted : "");
    brume_node ends[2], number[2] = {NULL, NULL};
    for (int j = 0; j < 2; j++) {
        ends[j] = arguments[1 + j];
        if (ends[j]->untyped)
            ends[j] = brume_build_convert(builder, ends[j], TIMESTAMP);
        if (!ends[j])
            return NULL;
        if (units[i].kind == 0)
            number[j] = calendar_number(builder, units[i].name, units[i].size, ends[j]);
        else if (units[i].kind == 1)
            number[j] = day_of(builder, units[i].name, ends[j]);
        else
            number[j] = clock_number(builder, arguments[0], units[i].size, ends[j]);
        if (!number[j])
            return NULL;
    }
    brume_node between =
        brume_build_arithmetic(builder, BRUME_OPERATION_SUBTRACT, number[1], number[0]);
    if (!between || strcmp(units[i].name, "week") != 0)
        return between;
    return brume_build_arithmetic(builder, BRUME_OPERATION_DIVIDE, between,
                                  brume_build_number(builder, units[i].size));
}

/* ---- choices ---- */

static brume_node build_coalesce(brume_builder *builder, const char *name,
                                 brume_operation operation, const brume_node *arguments,
                                 size_t count)
{
    (void)name;
    return brume_build_choice(builder, operation, arguments, count);
}

static brume_node build_if(brume_builder *builder, const char *name, brume_operation operation,
                           const brume_node *arguments, size_t count)
{
    (void)name;
    (void)operation;
    return brume_build_case(builder, arguments, count);
}

/* ---- texts ---- */

static brume_node build_contains(brume_builder *builder, const char *name,
                                 brume_operation operation, const brume_node *arguments,
                                 size_t count)
{
    (void)name;
    (void)operation;
    brume_node place = brume_build_function(builder, "strpos", arguments, count);
    return place ? brume_build_compare(builder, BRUME_OPERATION_GREATER, place,
                                       brume_build_number(builder, "0"))
                 : NULL;
}

static brume_node build_ends_with(brume_builder *builder, const char *name,
                                  brume_operation operation, const brume_node *arguments,
                                  size_t count)
{
    (void)operation;
    (void)count;
    brume_node end = brume_argument_text(builder, name, arguments[1]);
    brume_node length = end ? brume_build_function(builder, "length", &end, 1) : NULL;
    brume_node last = call(builder, "right", arguments[0], length);
    return last ? brume_build_compare(builder, BRUME_OPERATION_EQUAL, last, end) : NULL;
}

/* A text, or another value as one: whole numbers, decimals, booleans and times have one way to be
 * written. */
static brume_node as_text(brume_builder *builder, brume_node node)
{
    const brume_type text = {BRUME_TYPE_TEXT, 0, 0};
    if (node && (node->untyped || node->type.kind == BRUME_TYPE_TEXT))
        return brume_build_convert(builder, node, text);
    return node ? brume_build_cast(builder, node, text) : NULL;
}

static brume_node joined(brume_builder *builder, brume_node a, brume_node b)
{
    brume_node both[] = {a, b};
    return a && b ? brume_build_choice(builder, BRUME_OPERATION_JOIN_TEXT, both, 2) : NULL;
}

/* concat_ws(separator, a, b): those that are not NULL, each behind a separator of which the first
 * is cut off. */
static brume_node build_concat_ws(brume_builder *builder, const char *name,
                                  brume_operation operation, const brume_node *arguments,
                                  size_t count)
{
    (void)operation;
    brume_node separator = brume_argument_text(builder, name, arguments[0]), whole = NULL;
    for (size_t i = 1; i < count && separator; i++) {
        brume_node part[] = {joined(builder, separator, as_text(builder, arguments[i])),
                             brume_build_untyped(builder, "")};
        brume_node piece = part[0] ? brume_build_choice(builder, BRUME_OPERATION_COALESCE, part, 2)
                                   : NULL;
        whole = whole ? joined(builder, whole, piece) : piece;
        if (!whole)
            return NULL;
    }
    brume_node length = separator ? brume_build_function(builder, "length", &separator, 1) : NULL;
    brume_node start = length ? brume_build_arithmetic(builder, BRUME_OPERATION_ADD, length,
                                                       brume_build_number(builder, "1"))
                              : NULL;
    return call(builder, "substr", whole, start);
}

enum { MOST_PADDED = 1000 };

/* lpad(x, n, fill), rpad(x, n, fill): exactly n characters of x and of what fills it up. */
static brume_node build_pad(brume_builder *builder, const char *name, brume_operation operation,
                            const brume_node *arguments, size_t count)
{
    bool left = operation == BRUME_OPERATION_LEFT;
    const char *fill = count == 3 ? brume_argument_constant(arguments[2]) : " ";
    char filled[4 * MOST_PADDED + 1] = "";
    long width;
    brume_node text = brume_argument_text(builder, name, arguments[0]);
    if (!text ||
        !brume_argument_constant_integer(builder, name, arguments[1], 1, MOST_PADDED, &width))
        return NULL;
    if (!fill || !*fill || strlen(fill) * (size_t)width >= sizeof filled)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write lpad(x, 5, '0')",
                                "%s needs a short constant that fills up", name);
    size_t each = strlen(fill);
    for (size_t at = 0; at < each * (size_t)width; at += each)
        snprintf(filled + at, sizeof filled - at, "%s", fill);
    brume_node fills = brume_build_literal(builder, (brume_type){BRUME_TYPE_TEXT, 0, 0}, filled);
    if (!left)
        return call(builder, "left", joined(builder, text, fills), arguments[1]);
    brume_node length = brume_build_function(builder, "length", &text, 1);
    brume_node missing =
        length ? brume_build_arithmetic(builder, BRUME_OPERATION_SUBTRACT, arguments[1], length)
               : NULL;
    brume_node parts[] = {
        brume_build_compare(builder, BRUME_OPERATION_GREATER_EQUAL, length, arguments[1]),
        call(builder, "left", text, arguments[1]),
        joined(builder, call(builder, "left", fills, missing), text)};
    return parts[0] && parts[1] && parts[2] ? brume_build_case(builder, parts, 3) : NULL;
}

const brume_function brume_named_functions[] = {
    {"concat_ws", build_concat_ws, BRUME_OPERATION_CONCAT, 2, 50},
    {"lpad", build_pad, BRUME_OPERATION_LEFT, 2, 3},
    {"rpad", build_pad, BRUME_OPERATION_RIGHT, 2, 3},
    {"year", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"quarter", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"month", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"week", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"weekofyear", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"day", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"dayofmonth", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"dayofweek", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"weekday", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"isodow", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"dayofyear", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"isoyear", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"hour", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"minute", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"second", build_field, BRUME_OPERATION_EXTRACT, 1, 1},
    {"monthname", build_day_or_month, BRUME_OPERATION_CASE, 1, 1},
    {"dayname", build_day_or_month, BRUME_OPERATION_CASE, 1, 1},
    {"epoch", build_epoch, BRUME_OPERATION_EXTRACT, 1, 1},
    {"date", build_date, BRUME_OPERATION_CAST, 1, 1},
    {"last_day", build_last_day, BRUME_OPERATION_CAST, 1, 1},
    {"date_diff", build_difference, BRUME_OPERATION_SUBTRACT, 3, 3},
    {"datediff", build_difference, BRUME_OPERATION_SUBTRACT, 3, 3},
    {"ifnull", build_coalesce, BRUME_OPERATION_COALESCE, 2, 2},
    {"nvl", build_coalesce, BRUME_OPERATION_COALESCE, 2, 2},
    {"if", build_if, BRUME_OPERATION_CASE, 2, 3},
    {"iff", build_if, BRUME_OPERATION_CASE, 2, 3},
    {"iif", build_if, BRUME_OPERATION_CASE, 2, 3},
    {"contains", build_contains, BRUME_OPERATION_POSITION, 2, 2},
    {"ends_with", build_ends_with, BRUME_OPERATION_RIGHT, 2, 2},
    {"suffix", build_ends_with, BRUME_OPERATION_RIGHT, 2, 2},
    {NULL, NULL, 0, 0, 0},
};
