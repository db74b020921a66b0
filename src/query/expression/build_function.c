/* Functions by name: the tables of the kinds, what their arguments must be, and what to say of a
 * name that is in none. */
#include "query/expression/build_function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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

brume_node brume_argument_number(brume_builder *builder, const char *name, brume_node node)
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

brume_node brume_argument_integer(brume_builder *builder, const char *name, brume_node node)
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
