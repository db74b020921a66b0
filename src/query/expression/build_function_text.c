/* Functions of texts: each knows how long its result can be. */
#include "query/expression/build_function.h"

#include <string.h>

#include "query/expression/text_work.h"

static const brume_type INTEGER = {BRUME_TYPE_INTEGER, 0, 0};
static const brume_type TEXT = {BRUME_TYPE_TEXT, 0, 0};
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
        all[i] = brume_argument_integer(builder, name, arguments[i]);
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

/* Of the flags of a pattern: i, ASCII letters in either case; c, as they are, which is the default;
 * s, a dot is any character, which it always is. */
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
