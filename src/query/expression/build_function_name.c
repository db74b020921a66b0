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

/* The days of a date or timestamp; false: it lies within no declared bounds. */
static bool days_of(brume_node time, brume_wide *low, brume_wide *high)
{
    brume_wide day = time->type.kind == BRUME_TYPE_DATE ? 1 : (brume_wide)86400 * 1000000;
    *low = time->bounds.low / day - 1;
    *high = time->bounds.high / day + 1;
    return brume_build_is_dated(time);
}

static brume_node build_difference(brume_builder *builder, const char *name,
                                   brume_operation operation, const brume_node *arguments,
                                   size_t count)
{
    static const struct {
        const char *name, *size; /* seconds of it, or how many of it a year has */
        int kind;                /* 0 by the calendar, 1 by days, 2 by the clock */
        int days, seconds;       /* that it has at least */
    } units[] = {
        {"year", "1", 0, 365, 0},   {"quarter", "4", 0, 90, 0}, {"month", "12", 0, 28, 0},
        {"week", "7", 1, 7, 0},     {"day", "1", 1, 1, 0},      {"hour", "3600", 2, 1, 3600},
        {"minute", "60", 2, 1, 60}, {"second", "1", 2, 1, 1},
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
    if (between && strcmp(units[i].name, "week") == 0)
        between = brume_build_arithmetic(builder, BRUME_OPERATION_DIVIDE, between,
                                         brume_build_number(builder, units[i].size));
    brume_wide low[2], high[2];
    bool dated = days_of(ends[0], &low[0], &high[0]) & days_of(ends[1], &low[1], &high[1]);
    if (!between || !dated)
        return between;
    /* The least number of days that a unit has, and one boundary more than whole units fit. */
    brume_wide most = high[1] - low[0], least = low[1] - high[0];
    brume_wide days = units[i].days, times = units[i].kind == 2 ? 86400 / units[i].seconds : 1;
    return brume_build_within(builder, between, least * times / days - 1, most * times / days + 1);
}

/* ---- intervals ---- */

/* Seconds of a time between any two of which there are less than 10^12. */
static const brume_type SECONDS = {BRUME_TYPE_DECIMAL, 18, 6};

static brume_node with_duration(brume_builder *builder, brume_node node, bool duration)
{
    brume_expression *copy = node ? brume_arena_copy(builder->arena, node, sizeof *node) : NULL;
    if (!copy)
        return node ? brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory") : NULL;
    copy->duration = duration;
    return copy;
}

brume_node brume_build_within(brume_builder *builder, brume_node node, brume_wide low,
                              brume_wide high)
{
    brume_expression *copy = node ? brume_arena_copy(builder->arena, node, sizeof *node) : NULL;
    if (!copy)
        return node ? brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory") : NULL;
    copy->bounded = true;
    copy->bounds.low = low > node->bounds.low ? low : node->bounds.low;
    copy->bounds.high = high < node->bounds.high ? high : node->bounds.high;
    return copy;
}

brume_node brume_build_duration(brume_builder *builder, int64_t months, int64_t days,
                                int64_t microseconds)
{
    enum { DAY = 86400, MILLION = 1000000 };
    char text[64];
    brume_wide total = ((brume_wide)months * 30 + days) * DAY * MILLION + microseconds;
    brume_wide size = total < 0 ? -total : total;
    snprintf(text, sizeof text, "%s%lld.%06lld", total < 0 ? "-" : "", (long long)(size / MILLION),
             (long long)(size % MILLION));
    return with_duration(builder, brume_build_literal(builder, SECONDS, text), true);
}

/* The seconds since 1970. */
static brume_node epoch_of(brume_builder *builder, brume_node time)
{
    return call(builder, "extract", brume_build_untyped(builder, "epoch"), time);
}

brume_node brume_build_elapsed(brume_builder *builder, brume_node a, brume_node b)
{
    brume_node between = brume_build_arithmetic(builder, BRUME_OPERATION_SUBTRACT,
                                                epoch_of(builder, a), epoch_of(builder, b));
    return with_duration(builder, brume_build_cast(builder, between, SECONDS), true);
}

/* `size` seconds as a whole number of the larger field that it is part of, and how many of it there
 * are: towards 0, as PostgreSQL and DuckDB cut an interval. */
static brume_node whole_field(brume_builder *builder, brume_node seconds, const char *size,
                              const char *part)
{
    brume_node zero = brume_build_number(builder, "0");
    brume_node both[] = {seconds, zero};
    brume_node cut = zero ? brume_build_function(builder, "trunc", both, 2) : NULL;
    brume_node whole = cut ? brume_build_cast(builder, cut, BIGINT) : NULL;
    if (whole && part)
        whole = brume_build_arithmetic(builder, BRUME_OPERATION_REMAINDER, whole,
                                       brume_build_number(builder, part));
    if (whole && size)
        whole = brume_build_arithmetic(builder, BRUME_OPERATION_DIVIDE, whole,
                                       brume_build_number(builder, size));
    return whole ? brume_build_cast(builder, whole, (brume_type){BRUME_TYPE_DECIMAL, 12, 0}) : NULL;
}

brume_node brume_build_duration_field(brume_builder *builder, const char *field, brume_node node)
{
    static const struct {
        const char *name, *size, *part;
    } fields[] = {{"day", "86400", NULL}, {"hour", "3600", "86400"}, {"minute", "60", "3600"}};
    brume_node seconds = with_duration(builder, node, false);
    if (field && strcasecmp(field, "epoch") == 0)
        return seconds;
    for (size_t i = 0; seconds && field && i < sizeof fields / sizeof *fields; i++)
        if (strcasecmp(field, fields[i].name) == 0)
            return whole_field(builder, seconds, fields[i].size, fields[i].part);
    return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                            "use epoch, day, hour or minute; years and months: EXTRACT(year FROM "
                            "age(a, b))",
                            "an interval between two times has no field '%.40s'",
                            field ? field : "");
}

/* Whole months from b to a, which is not before it: one less where a is earlier in its month. */
static brume_node months_since(brume_builder *builder, brume_node a, brume_node b)
{
    brume_node number[2], rest[2], ends[] = {a, b};
    for (int i = 0; i < 2; i++) {
        number[i] = calendar_number(builder, "month", "12", ends[i]);
        brume_node month =
            call(builder, "date_trunc", brume_build_untyped(builder, "month"), ends[i]);
        rest[i] = month
                      ? brume_build_arithmetic(builder, BRUME_OPERATION_SUBTRACT,
                                               epoch_of(builder, ends[i]), epoch_of(builder, month))
                      : NULL;
        if (!number[i] || !rest[i])
            return NULL;
    }
    brume_node parts[] = {brume_build_compare(builder, BRUME_OPERATION_LESS, rest[0], rest[1]),
                          brume_build_number(builder, "1"), brume_build_number(builder, "0")};
    brume_node between =
        brume_build_arithmetic(builder, BRUME_OPERATION_SUBTRACT, number[0], number[1]);
    brume_node early = parts[0] && parts[1] && parts[2] ? brume_build_case(builder, parts, 3)
                                                        : NULL;
    return between && early
               ? brume_build_arithmetic(builder, BRUME_OPERATION_SUBTRACT, between, early)
               : NULL;
}

brume_node brume_build_age_field(brume_builder *builder, const char *field, brume_node a,
                                 brume_node b)
{
    bool year = field && strcasecmp(field, "year") == 0;
    if (!a || !b)
        return NULL;
    if (!year && !(field && strcasecmp(field, "month") == 0))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "use year or month; days and seconds between two times: a - b",
                                "of age only the years and the months are known");
    brume_node ends[] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (!ends[i]->untyped && !brume_type_is_time(ends[i]->type))
            return brume_build_fail(builder, BRUME_EARGUMENT, "CAST it to date or timestamp",
                                    "age needs two dates or timestamps");
        ends[i] = ends[i]->untyped ? brume_build_convert(builder, ends[i], TIMESTAMP) : ends[i];
        if (!ends[i])
            return NULL;
    }
    brume_node forward = months_since(builder, ends[0], ends[1]);
    brume_node backward = months_since(builder, ends[1], ends[0]);
    brume_node parts[] = {
        brume_build_compare(builder, BRUME_OPERATION_GREATER_EQUAL, ends[0], ends[1]), forward,
        backward ? brume_build_unary(builder, BRUME_OPERATION_NEGATE, backward) : NULL};
    brume_node months = parts[0] && parts[1] && parts[2] ? brume_build_case(builder, parts, 3)
                                                         : NULL;
    brume_node value =
        months ? brume_build_arithmetic(builder,
                                        year ? BRUME_OPERATION_DIVIDE : BRUME_OPERATION_REMAINDER,
                                        months, brume_build_number(builder, "12"))
               : NULL;
    brume_wide low[2], high[2];
    bool dated = days_of(ends[0], &low[0], &high[0]) & days_of(ends[1], &low[1], &high[1]);
    if (value && year && dated) /* a year has 365 days at least */
        value = brume_build_within(builder, value, (low[0] - high[1]) / 365 - 1,
                                   (high[0] - low[1]) / 365 + 1);
    if (value && !year)
        value = brume_build_within(builder, value, -11, 11);
    return value ? brume_build_cast(builder, value, (brume_type){BRUME_TYPE_DECIMAL, 6, 0}) : NULL;
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
