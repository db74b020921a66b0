/* Functions of dates and timestamps: fields, truncation, intervals. */
#include "query/expression/build_function.h"

#include <string.h>
#include <strings.h>

static const brume_type DOUBLE = {BRUME_TYPE_DOUBLE, 0, 0};
static const brume_type TIMESTAMP = {BRUME_TYPE_TIMESTAMP, 0, 0};

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

const brume_function brume_time_functions[] = {
    {"extract", build_extract, BRUME_OPERATION_EXTRACT, 2, 2},
    {"date_part", build_extract, BRUME_OPERATION_EXTRACT, 2, 2},
    {"date_trunc", build_date_trunc, BRUME_OPERATION_DATE_TRUNC, 2, 2},
    {NULL, NULL, 0, 0, 0},
};
