/* Functions of dates and timestamps: fields, truncation, intervals. */
#include "query/expression/build_function.h"
#include "query/expression/literal.h"

#include <string.h>
#include <strings.h>

static const brume_type DOUBLE = {BRUME_TYPE_DOUBLE, 0, 0};
static const brume_type TIMESTAMP = {BRUME_TYPE_TIMESTAMP, 0, 0};

/* Years and epochs range over the whole calendar, and are measured only within bounds: years within
 * those that are typed, epochs also within those of what they are taken of. */
static const struct field {
    const char *name;
    int low, high;
    bool clock; /* not of a date */
    bool endless;
} fields[] = {
    {"year", 1, 9999, false, true},    {"month", 1, 12, false, false},
    {"day", 1, 31, false, false},      {"quarter", 1, 4, false, false},
    {"week", 1, 53, false, false},     {"dow", 0, 6, false, false},
    {"isodow", 1, 7, false, false},    {"doy", 1, 366, false, false},
    {"isoyear", 0, 9999, false, true}, {"hour", 0, 23, true, false},
    {"minute", 0, 59, true, false},    {"second", 0, 0, true, false},
    {"epoch", 0, 0, false, true},
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
    const char *wanted = brume_argument_constant(arguments[0]);
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
    bool dated = false;
    if (strcmp(fields[i].name, "second") == 0) {
        type = (brume_type){BRUME_TYPE_DECIMAL, 8, 6};
        bounds.high = 59999999;
    } else if (strcmp(fields[i].name, "epoch") == 0) {
        type = (brume_type){BRUME_TYPE_DECIMAL, 18, 6};
        bounds = a ? a->bounds : bounds;
        dated = a && brume_build_is_dated(a);
    }
    brume_expression *node = brume_build_node(builder, operation, type, &a, 1);
    if (!node)
        return NULL;
    node->text = fields[i].name;
    node->bounds = bounds;
    node->bounded = !fields[i].endless || dated;
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
    const char *wanted = brume_argument_constant(arguments[0]);
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

/* ---- texts of times ---- */

/* A part of a format: how strftime and to_char call it, and how long it is. Canonical is
 * strftime's; the printer of PostgreSQL turns it back. */
static const struct part {
    const char *standard, *postgresql;
    size_t length;
    bool clock;
} parts[] = {
    {"%Y", "YYYY", 4, false}, {"%m", "MM", 2, false}, {"%d", "DD", 2, false},
    {"%H", "HH24", 2, true},  {"%M", "MI", 2, true},  {"%S", "SS", 2, true},
};
enum { PARTS = sizeof parts / sizeof *parts, FORMAT_MOST = 64 };

const char *brume_format_part(const char *format)
{
    for (size_t i = 0; i < PARTS; i++)
        if (strncmp(format, parts[i].standard, 2) == 0)
            return parts[i].postgresql;
    return NULL;
}

/* The part that a format starts with, or PARTS. */
static size_t part_at(const char *format, bool standard)
{
    size_t i = 0;
    while (i < PARTS &&
           (standard ? strncmp(format, parts[i].standard, 2) != 0
                     : strncasecmp(format, parts[i].postgresql, strlen(parts[i].postgresql)) != 0))
        i++;
    return i;
}

/* The format in strftime's words, with its length; false: a part of it is not known. */
static bool read_format(const char *format, bool standard, bool is_date, char out[FORMAT_MOST + 1],
                        size_t *length)
{
    size_t used = 0;
    *length = 0;
    while (*format) {
        size_t i = part_at(format, standard);
        if (used + 2 > FORMAT_MOST)
            return false;
        if (i < PARTS) {
            if (parts[i].clock && is_date)
                return false;
            memcpy(out + used, parts[i].standard, 2);
            used += 2;
            *length += parts[i].length;
            format += strlen(standard ? parts[i].standard : parts[i].postgresql);
        } else if (strchr("-/:., _", *format)) {
            out[used++] = *format++;
            ++*length;
        } else {
            return false;
        }
    }
    out[used] = 0;
    return used > 0;
}

/* strftime(x, '%Y-%m') and to_char(x, 'YYYY-MM'). */
static brume_node build_format(brume_builder *builder, const char *name, brume_operation operation,
                               const brume_node *arguments, size_t count)
{
    (void)count;
    bool standard = strcmp(name, "strftime") == 0;
    bool is_date = arguments[0]->type.kind == BRUME_TYPE_DATE && !arguments[0]->untyped;
    const char *format = brume_argument_constant(arguments[1]);
    char made[FORMAT_MOST + 1];
    size_t length = 0;
    if (!format || !read_format(format, standard, is_date, made, &length))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                standard
                                    ? "use %Y %m %d, of a timestamp also %H %M %S, and - / : . "
                                      ", _ or a blank between them"
                                    : "use YYYY MM DD, of a timestamp also HH24 MI SS, and - / "
                                      ": . , _ or a blank between them",
                                "%s does not know this format", name);
    brume_node a = time_argument(builder, name, arguments[0]);
    brume_expression *node =
        brume_build_node(builder, operation, (brume_type){BRUME_TYPE_TEXT, 0, 0}, &a, 1);
    if (!node)
        return NULL;
    node->max_length = length;
    node->text = brume_arena_text(builder->arena, made);
    return node->text ? node : brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
}

brume_node brume_build_interval(brume_builder *builder, brume_node a, int64_t months, int64_t days,
                                int64_t microseconds)
{
    char moved[32];
    a = time_argument(builder, "adding an interval", a);
    /* Of a constant it is a constant, so that engines can use it to find rows. */
    if (a && a->operation == BRUME_OPERATION_LITERAL && a->text) {
        bool fits = brume_literal_move(a->text, months, days, microseconds, moved);
        return brume_build_literal(builder, TIMESTAMP, fits ? moved : NULL);
    }
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

const brume_function brume_time_functions[] = {
    {"extract", build_extract, BRUME_OPERATION_EXTRACT, 2, 2},
    {"date_part", build_extract, BRUME_OPERATION_EXTRACT, 2, 2},
    {"datepart", build_extract, BRUME_OPERATION_EXTRACT, 2, 2},
    {"date_trunc", build_date_trunc, BRUME_OPERATION_DATE_TRUNC, 2, 2},
    {"datetrunc", build_date_trunc, BRUME_OPERATION_DATE_TRUNC, 2, 2},
    {"strftime", build_format, BRUME_OPERATION_FORMAT_TIME, 2, 2},
    {"to_char", build_format, BRUME_OPERATION_FORMAT_TIME, 2, 2},
    {NULL, NULL, 0, 0, 0},
};
