/* Functions by name: the tables of the kinds, what their arguments must be, and what to say of a
 * name that is in none. */
#include "query/expression/build_function.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "query/expression/expression.h"
#include "query/expression/literal.h"

/* Why regular expressions do not cut texts, and what to write instead. */
#define BRUME_NO_PATTERNS                                                                          \
    "use regexp_matches, split_part, strpos or replace: where one of several matches is taken, "   \
    "PostgreSQL takes another one than DuckDB, and a time that tells of a row"

static const brume_type INTEGER = {BRUME_TYPE_INTEGER, 0, 0};
static const brume_type DOUBLE = {BRUME_TYPE_DOUBLE, 0, 0};
static const brume_type TEXT = {BRUME_TYPE_TEXT, 0, 0};

/* ---- arguments ---- */

const char *brume_argument_constant(brume_node node)
{
    return node->operation == BRUME_OPERATION_LITERAL ? node->text : NULL;
}

bool brume_argument_constant_integer(brume_builder *builder, const char *name, brume_node node,
                                     long low, long high, long *value)
{
    const char *text = node->type.kind == BRUME_TYPE_INTEGER ? brume_argument_constant(node) : NULL;
    *value = text ? strtol(text, NULL, 10) : 0;
    if (text && *value >= low && *value <= high)
        return true;
    brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL,
                     "%s needs a constant integer between %ld and %ld here", name, low, high);
    return false;
}

static brume_node argument_number(brume_builder *builder, const char *name, brume_node node)
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

brume_node brume_argument_text(brume_builder *builder, const char *name, brume_node node)
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

static brume_node argument_integer(brume_builder *builder, const char *name, brume_node node)
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

/* ---- names ---- */

static const brume_function *const kinds[] = {brume_number_functions, brume_text_functions,
                                              brume_time_functions, brume_named_functions};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST_NAMES = 200 };

static const brume_function *find(const char *name)
{
    for (size_t kind = 0; kind < KINDS; kind++)
        for (const brume_function *each = kinds[kind]; each->name; each++)
            if (strcmp(name, each->name) == 0)
                return each;
    return NULL;
}

/* The function whose name is nearest, or NULL. */
static const char *nearest_name(const char *name)
{
    const char *names[MOST_NAMES];
    size_t count = 0;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (const brume_function *each = kinds[kind]; each->name && count < MOST_NAMES; each++)
            names[count++] = each->name;
    return brume_text_nearest(name, names, count);
}

static brume_node refuse(brume_builder *builder, const char *name)
{
    static const struct {
        const char *name, *hint;
    } known[] = {
        {"now", "write the date as a constant: answers must not depend on the clock"},
        {"current_date", "write the date as a constant: answers must not depend on the clock"},
        {"random", "rows must not depend on chance: brume adds the noise"},
        {"age", "write EXTRACT(year FROM age(a, b)) or EXTRACT(month FROM age(a, b)); else a - b"},
        {"concat_ws", "write a || ', ' || b, with COALESCE where one may be NULL"},
        {"generate_series", "functions that make rows are not supported"},
        {"unnest", "functions that make rows are not supported"},
    };
    char hint[80] = "see the list of functions in the documentation";
    if (strncmp(name, "regexp", 6) == 0 || strcmp(name, "rlike") == 0)
        return brume_build_fail(
            builder, BRUME_EUNSUPPORTED, BRUME_NO_PATTERNS,
            "of regular expressions only whether a text matches is supported, not %.40s", name);
    if (strcmp(name, "released") == 0) /* what a scalar subquery in an output is replaced by */
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "ask for it in a query of its own, and write its value here",
                                "a scalar subquery cannot be a part of a key of groups");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED, known[i].hint,
                                    "the function %.40s is not supported", name);
    const char *nearest = nearest_name(name);
    if (nearest)
        snprintf(hint, sizeof hint, "did you mean %s?", nearest);
    return brume_build_fail(builder, BRUME_EUNSUPPORTED, hint,
                            "the function %.40s is not supported", name);
}

brume_node brume_build_function(brume_builder *builder, const char *name,
                                const brume_node *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!arguments[i])
            return NULL;
    const brume_function *function = find(name);
    if (!function)
        return refuse(builder, name);
    bool part = function->operation == BRUME_OPERATION_EXTRACT && count == 2;
    for (size_t i = 0; i < count; i++)
        if (arguments[i]->duration && part)
            return brume_build_duration_field(builder, brume_argument_constant(arguments[0]),
                                              arguments[i]);
        else if (arguments[i]->duration && strcmp(name, "abs") != 0 &&
                 strcmp(name, "ifnull") != 0 && strcmp(name, "nvl") != 0)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                    "take EXTRACT(epoch FROM a - b), which is a number of seconds",
                                    "%.40s is not defined for intervals", name);
    if (count < function->least || count > function->most)
        return brume_build_fail(builder, BRUME_EARGUMENT, NULL, "%s does not take %zu arguments",
                                name, count);
    return function->build(builder, name, function->operation, arguments, count);
}

/* Functions of texts: each knows how long its result can be. */

static const brume_type BOOLEAN = {BRUME_TYPE_BOOLEAN, 0, 0};

static brume_node build_same_text(brume_builder *builder, const char *name,
                                  brume_operation operation, const brume_node *arguments,
                                  size_t count)
{
    (void)count;
    brume_node a = brume_argument_text(builder, name, arguments[0]);
    brume_expression *node = brume_build_node(builder, operation, TEXT, &a, 1);
    if (node)
        node->max_length = a->max_length;
    return node;
}

static brume_node build_trim(brume_builder *builder, const char *name, brume_operation operation,
                             const brume_node *arguments, size_t count)
{
    const char *characters = count == 2 ? brume_argument_constant(arguments[1]) : " ";
    if (!characters)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, NULL,
                                "%s needs a constant set of characters", name);
    brume_node a = brume_argument_text(builder, name, arguments[0]);
    brume_expression *node = brume_build_node(builder, operation, TEXT, &a, 1);
    if (!node)
        return NULL;
    node->max_length = a->max_length;
    node->text = brume_arena_text(builder->arena, characters);
    return node->text ? node : brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
}

/* What may be searched for: the engines try it at each place. */
static bool is_searchable(brume_builder *builder, const char *name, brume_node node)
{
    const char *constant = brume_argument_constant(node);
    if (constant && brume_text_repeats(constant) > BRUME_LIMIT_REPEATS)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "search for a part of it",
                         "the text that %s searches for repeats itself more than %d times", name,
                         BRUME_LIMIT_REPEATS);
    else if (!constant && !brume_build_is_null(node) && node->max_length > BRUME_LIMIT_REPEATS)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "shorten it with left(y, 4)",
                         "%s may search for a constant, or for at most %d bytes", name,
                         BRUME_LIMIT_REPEATS);
    else
        return true;
    return false;
}

static brume_node build_length(brume_builder *builder, const char *name, brume_operation operation,
                               const brume_node *arguments, size_t count)
{
    brume_node both[2] = {NULL, NULL};
    for (size_t i = 0; i < count; i++)
        if (!(both[i] = brume_argument_text(builder, name, arguments[i])))
            return NULL;
    bool truth = operation == BRUME_OPERATION_STARTS_WITH;
    if (operation == BRUME_OPERATION_POSITION && count == 2 &&
        !is_searchable(builder, name, both[1]))
        return NULL;
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
    brume_node all[3] = {brume_argument_text(builder, name, arguments[0]), NULL, NULL};
    for (size_t i = 1; i < count; i++)
        all[i] = argument_integer(builder, name, arguments[i]);
    brume_expression *node = brume_build_node(builder, operation, TEXT, all, count);
    if (!node)
        return NULL;
    node->max_length = brume_text_part(operation, all, count);
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
        if (!(all[i] = brume_argument_text(builder, name, arguments[i])))
            return NULL;
    if (!is_searchable(builder, name, all[1]))
        return NULL;
    /* Each part of the text that is `taken` bytes long becomes `given` bytes. */
    const char *constant = brume_argument_constant(all[1]);
    size_t taken = constant && *constant ? all[1]->max_length : 1, given = all[2]->max_length;
    size_t length = all[0]->max_length;
    if (given > taken)
        length = length / taken * given + length % taken;
    if (length > BRUME_LIMIT_TEXT)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "shorten it with left(x, n)",
                                "a text could grow beyond 1 MiB");
    brume_expression *node = brume_build_node(builder, operation, TEXT, all, 3);
    if (node)
        node->max_length = length;
    return node;
}

/* The n-th part of a text between constant separators, from 1; '' where there are fewer. */
static brume_node build_split(brume_builder *builder, const char *name, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    (void)count;
    long part;
    const char *separator = brume_argument_constant(arguments[1]);
    if (!separator || !*separator)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write split_part(x, '/', 1)",
                                "%s needs a constant separator that is not empty", name);
    brume_node a = brume_argument_text(builder, name, arguments[0]);
    if (!a || !brume_argument_constant_integer(builder, name, arguments[2], 1, 1000000, &part))
        return NULL;
    brume_node searched = brume_argument_text(builder, name, arguments[1]);
    if (!searched || !is_searchable(builder, name, searched))
        return NULL;
    brume_expression *node = brume_build_node(builder, operation, TEXT, &a, 1);
    if (!node)
        return NULL;
    node->max_length = a->max_length;
    node->number[0] = part;
    node->text = brume_arena_text(builder->arena, separator);
    return node->text ? node : brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
}

/* Among the flags of a pattern: i, ASCII letters in either case; c, as they are, which is the
 * default; s, a dot is any character, which it always is. */
static bool read_flags(brume_builder *builder, const char *name, const brume_node *arguments,
                       size_t count, bool *folds)
{
    const char *flags = count > 2 ? brume_argument_constant(arguments[2]) : "";
    *folds = false;
    for (; flags && *flags; flags++) {
        if (!strchr("ics", *flags)) {
            flags = NULL;
            break;
        }
        *folds = *flags == 'i' || (*folds && *flags != 'c');
    }
    if (!flags)
        brume_build_fail(builder, BRUME_EUNSUPPORTED, "'i': letters in either case",
                         "%s takes the flags i, c and s", name);
    return flags != NULL;
}

static brume_node build_matches(brume_builder *builder, const char *name, brume_operation operation,
                                const brume_node *arguments, size_t count)
{
    (void)operation;
    bool folds = false;
    const char *pattern = brume_argument_constant(arguments[1]);
    if (!pattern)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "write regexp_matches(x, '^ab')",
                                "%s needs a constant pattern", name);
    if (!read_flags(builder, name, arguments, count, &folds))
        return NULL;
    return brume_build_matches(builder, arguments[0], pattern, folds,
                               strcmp(name, "regexp_full_match") == 0);
}

static brume_node build_concat(brume_builder *builder, const char *name, brume_operation operation,
                               const brume_node *arguments, size_t count)
{
    (void)name;
    return brume_build_choice(builder, operation, arguments, count);
}

const brume_function brume_text_functions[] = {
    {"concat", build_concat, BRUME_OPERATION_CONCAT, 1, 100},
    {"lower", build_same_text, BRUME_OPERATION_LOWER, 1, 1},
    {"upper", build_same_text, BRUME_OPERATION_UPPER, 1, 1},
    {"length", build_length, BRUME_OPERATION_LENGTH, 1, 1},
    {"char_length", build_length, BRUME_OPERATION_LENGTH, 1, 1},
    {"character_length", build_length, BRUME_OPERATION_LENGTH, 1, 1},
    {"len", build_length, BRUME_OPERATION_LENGTH, 1, 1},
    {"octet_length", build_length, BRUME_OPERATION_OCTET_LENGTH, 1, 1},
    {"strlen", build_length, BRUME_OPERATION_OCTET_LENGTH, 1, 1},
    {"lcase", build_same_text, BRUME_OPERATION_LOWER, 1, 1},
    {"ucase", build_same_text, BRUME_OPERATION_UPPER, 1, 1},
    {"instr", build_length, BRUME_OPERATION_POSITION, 2, 2},
    {"prefix", build_length, BRUME_OPERATION_STARTS_WITH, 2, 2},
    {"split_part", build_split, BRUME_OPERATION_SPLIT_PART, 3, 3},
    {"trim", build_trim, BRUME_OPERATION_TRIM, 1, 2},
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
    {"regexp_matches", build_matches, BRUME_OPERATION_MATCHES, 2, 3},
    {"regexp_like", build_matches, BRUME_OPERATION_MATCHES, 2, 3},
    {"regexp_full_match", build_matches, BRUME_OPERATION_MATCHES, 2, 3},
    {NULL, NULL, 0, 0, 0},
};

/* Functions of dates and timestamps: fields, truncation, intervals. */

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
    /* For a constant it is a constant, so that engines can use it to find rows. */
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

/* Functions of numbers: rounding, roots, logarithms, powers, buckets and CLAMP.
 *
 * The bounds of a result hold for whatever the engine computes: where libms differ they lie a few
 * units outwards, and a key made of such a result is marked as inexact. */

static const double LIMIT = 1e150;

static brume_node build_unary(brume_builder *builder, const char *name, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    (void)count;
    return brume_build_unary(builder, operation, argument_number(builder, name, arguments[0]));
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
    brume_node a = argument_number(builder, name, arguments[0]);
    if (!a)
        return NULL;
    long digits = 0;
    if (count == 2 &&
        !brume_argument_constant_integer(builder, name, arguments[1], -38, 38, &digits))
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
        brume_build_convert(builder, argument_number(builder, name, arguments[0]), DOUBLE);
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
            brume_build_convert(builder, argument_number(builder, name, arguments[i]), DOUBLE);
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
    if (brume_argument_constant(both[1]) && exponent == floor(exponent) && exponent >= 1 &&
        exponent <= 64) {
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
        all[i] = brume_build_convert(builder, argument_number(builder, name, arguments[i]), DOUBLE);
    long buckets;
    if (!all[0] || !all[1] || !all[2] ||
        !brume_argument_constant_integer(builder, name, arguments[3], 1, 10000, &buckets))
        return NULL;
    double width = all[2]->bounds.real_low - all[1]->bounds.real_low;
    if (!brume_argument_constant(all[1]) || !brume_argument_constant(all[2]) || !(width > 1e-100) ||
        !(width < 1e100) || fabs(all[1]->bounds.real_low) > 1e100)
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
    brume_node a = argument_number(builder, name, arguments[0]);
    const char *low = brume_argument_constant(arguments[1]),
               *high = brume_argument_constant(arguments[2]);
    if (!a)
        return NULL;
    if (!low || !high)
        return brume_build_fail(builder, BRUME_EARGUMENT, "write CLAMP(x, 0, 100)",
                                "the bounds of CLAMP must be constants");
    return brume_build_clamp(builder, a, low, high);
}

const brume_function brume_number_functions[] = {
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
    {NULL, NULL, 0, 0, 0},
};
