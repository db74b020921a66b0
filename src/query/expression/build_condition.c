/* Comparisons, boolean logic, CASE and the other choices between values. */
#include "query/expression/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/regular.h"
#include "engine/like.h"
#include "query/expression/text_work.h"

static const brume_type BOOLEAN = {BRUME_TYPE_BOOLEAN, 0, 0};
static const brume_type TEXT = {BRUME_TYPE_TEXT, 0, 0};

/* All of `nodes`, widened to their common type. */
static bool together(brume_builder *builder, brume_node *nodes, size_t count, brume_type *type)
{
    if (!brume_build_common(builder, nodes, count, type))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!(nodes[i] = brume_build_convert(builder, nodes[i], *type)))
            return false;
    return true;
}

brume_node brume_build_compare(brume_builder *builder, brume_operation operation, brume_node a,
                               brume_node b)
{
    brume_node both[] = {a, b};
    brume_type type;
    if (!a || !b || !together(builder, both, 2, &type))
        return NULL;
    brume_expression *node = brume_build_node(builder, operation, BOOLEAN, both, 2);
    if (node &&
        (operation == BRUME_OPERATION_DISTINCT || operation == BRUME_OPERATION_NOT_DISTINCT))
        node->nullable = false;
    return node;
}

static brume_node as_boolean(brume_builder *builder, brume_node node, const char *where)
{
    if (!node)
        return NULL;
    if (node->untyped)
        return brume_build_convert(builder, node, BOOLEAN);
    if (node->type.kind == BRUME_TYPE_BOOLEAN)
        return node;
    char name[BRUME_TYPE_NAME_SIZE];
    return brume_build_fail(builder, BRUME_EARGUMENT, "compare it with something",
                            "%s needs a condition, not a %s", where,
                            brume_type_name(node->type, name));
}

brume_node brume_build_logic(brume_builder *builder, brume_operation operation,
                             const brume_node *arguments, size_t count)
{
    /* AND and OR of many become a chain of pairs. */
    brume_node result = NULL;
    for (size_t i = 0; i < count; i++) {
        brume_node each = as_boolean(builder, arguments[i],
                                     operation == BRUME_OPERATION_AND  ? "AND"
                                     : operation == BRUME_OPERATION_OR ? "OR"
                                                                       : "NOT");
        if (!each)
            return NULL;
        brume_node pair[] = {result, each};
        if (operation == BRUME_OPERATION_NOT)
            return brume_build_node(builder, operation, BOOLEAN, &each, 1);
        result = result ? brume_build_node(builder, operation, BOOLEAN, pair, 2) : each;
        if (!result)
            return NULL;
    }
    return result;
}

brume_node brume_build_test(brume_builder *builder, brume_operation operation, brume_node a)
{
    if (!a)
        return NULL;
    bool of_null = operation == BRUME_OPERATION_IS_NULL || operation == BRUME_OPERATION_IS_NOT_NULL;
    a = of_null ? a->untyped ? brume_build_convert(builder, a, TEXT) : a
                : as_boolean(builder, a, brume_operation_word(operation));
    brume_expression *node = brume_build_node(builder, operation, BOOLEAN, &a, 1);
    if (node)
        node->nullable = false;
    return node;
}

brume_node brume_build_between(brume_builder *builder, bool negated, brume_node a, brume_node low,
                               brume_node high)
{
    brume_node all[] = {a, low, high};
    brume_type type;
    if (!a || !low || !high || !together(builder, all, 3, &type))
        return NULL;
    return brume_build_node(
        builder, negated ? BRUME_OPERATION_NOT_BETWEEN : BRUME_OPERATION_BETWEEN, BOOLEAN, all, 3);
}

brume_node brume_build_in(brume_builder *builder, bool negated, brume_node a,
                          const brume_node *list, size_t count)
{
    if (!a)
        return NULL;
    if (count > BRUME_LIMIT_LIST)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "join with a public table instead",
                                "an IN list has more than %d values", BRUME_LIMIT_LIST);
    brume_node *all = brume_arena_allocate(builder->arena, (count + 1) * sizeof *all);
    if (!all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    all[0] = a;
    bool any_null = false;
    for (size_t i = 0; i < count; i++) {
        if (!list[i])
            return NULL;
        if (list[i]->operation != BRUME_OPERATION_LITERAL)
            return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                    "write IN (1, 2, 3), or a chain of OR",
                                    "an IN list may hold constants only");
        any_null = any_null || !list[i]->text;
        all[i + 1] = list[i];
    }
    brume_type type;
    if (!together(builder, all, count + 1, &type))
        return NULL;
    brume_expression *node = brume_build_node(
        builder, negated ? BRUME_OPERATION_NOT_IN : BRUME_OPERATION_IN, BOOLEAN, all, count + 1);
    if (node)
        node->nullable = all[0]->nullable || any_null;
    return node;
}

brume_node brume_build_like(brume_builder *builder, brume_operation operation, brume_node a,
                            const char *pattern)
{
    if (!a)
        return NULL;
    if (a->untyped)
        a = brume_build_convert(builder, a, TEXT);
    if (a && a->type.kind != BRUME_TYPE_TEXT)
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST it to text", "LIKE needs a text");
    size_t escapes = 0, length = strlen(pattern);
    while (escapes < length && pattern[length - 1 - escapes] == '\\')
        escapes++;
    if (escapes % 2)
        return brume_build_fail(builder, BRUME_EARGUMENT, "double the last backslash",
                                "a LIKE pattern ends in a lone escape");
    if (length > BRUME_LIKE_MOST)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "look for a part of it",
                                "a LIKE pattern is longer than %d bytes", BRUME_LIKE_MOST);
    if (brume_pattern_repeats(pattern) > BRUME_LIMIT_REPEATS)
        return brume_build_fail(
            builder, BRUME_EUNSUPPORTED, "shorten it; a part with _ counts as often as it is long",
            "a part of a LIKE pattern repeats itself more than %d times", BRUME_LIMIT_REPEATS);
    brume_expression *node = brume_build_node(builder, operation, BOOLEAN, &a, 1);
    if (!node)
        return NULL;
    char *own = brume_arena_text(builder->arena, pattern);
    if (!own)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    if (operation == BRUME_OPERATION_ILIKE || operation == BRUME_OPERATION_NOT_ILIKE)
        for (char *each = own; *each; each++)
            if (*each >= 'A' && *each <= 'Z')
                *each = (char)(*each - 'A' + 'a');
    node->text = own;
    return node;
}

brume_node brume_build_matches(brume_builder *builder, brume_node a, const char *pattern,
                               bool folds, bool whole)
{
    const char *why = NULL;
    if (!a)
        return NULL;
    if (a->untyped)
        a = brume_build_convert(builder, a, TEXT);
    if (a && a->type.kind != BRUME_TYPE_TEXT)
        return brume_build_fail(builder, BRUME_EARGUMENT, "CAST it to text",
                                "a pattern is for a text");
    brume_regular *read = brume_regular_open(pattern, folds, whole, &why);
    if (!read && why)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED,
                                "see the documentation for what a pattern may hold", "%s", why);
    char *printed = read ? brume_regular_print(read) : NULL;
    brume_expression *node =
        printed ? brume_build_node(builder, BRUME_OPERATION_MATCHES, BOOLEAN, &a, 1) : NULL;
    if (node)
        node->text = brume_arena_text(builder->arena, printed);
    bool made = node && node->text;
    free(printed);
    brume_regular_close(read);
    if (!made && builder->status == BRUME_OK)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    return made ? node : NULL;
}

/* Put the hull of the values' bounds and lengths into `node`. */
static void take_hull(brume_expression *node, const brume_node *values, size_t count)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (brume_build_is_null(values[i]))
            continue;
        const brume_bounds *each = &values[i]->bounds;
        if (first)
            node->bounds = *each;
        if (each->low < node->bounds.low)
            node->bounds.low = each->low;
        if (each->high > node->bounds.high)
            node->bounds.high = each->high;
        if (each->real_low < node->bounds.real_low)
            node->bounds.real_low = each->real_low;
        if (each->real_high > node->bounds.real_high)
            node->bounds.real_high = each->real_high;
        if (values[i]->max_length > node->max_length)
            node->max_length = values[i]->max_length;
        first = false;
    }
    if (first)
        node->bounds = (brume_bounds){0};
}

brume_node brume_build_case(brume_builder *builder, const brume_node *arguments, size_t count)
{
    size_t value_count = count / 2 + count % 2;
    brume_node *values = brume_arena_allocate(builder->arena, value_count * sizeof *values);
    brume_node *all = brume_arena_allocate(builder->arena, count * sizeof *all);
    if (!values || !all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < value_count; i++)
        if (!(values[i] = arguments[2 * i + 1 < count ? 2 * i + 1 : count - 1]))
            return NULL;
    brume_type type;
    if (!together(builder, values, value_count, &type))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (i % 2 == 0 && i + 1 < count)
            all[i] = as_boolean(builder, arguments[i], "CASE WHEN");
        else
            all[i] = values[i / 2];
    brume_expression *node = brume_build_node(builder, BRUME_OPERATION_CASE, type, all, count);
    if (!node)
        return NULL;
    take_hull(node, values, value_count);
    node->nullable = count % 2 == 0;
    node->bounded = true;
    for (size_t i = 0; i < value_count; i++) {
        node->nullable = node->nullable || values[i]->nullable;
        node->bounded = node->bounded && values[i]->bounded;
    }
    return node;
}

static brume_node build_texts(brume_builder *builder, brume_operation operation, brume_node *all,
                              size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i] && all[i]->untyped)
            all[i] = brume_build_convert(builder, all[i], TEXT);
        if (!all[i])
            return NULL;
        if (all[i]->type.kind != BRUME_TYPE_TEXT)
            return brume_build_fail(builder, BRUME_EARGUMENT, "CAST it to text",
                                    "'%s' joins texts only", brume_operation_word(operation));
        length += all[i]->max_length;
    }
    if (length > BRUME_LIMIT_TEXT)
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "shorten it with left(x, n)",
                                "a text could grow beyond 1 MiB");
    brume_expression *node = brume_build_node(builder, operation, TEXT, all, count);
    if (!node)
        return NULL;
    node->max_length = length;
    if (operation == BRUME_OPERATION_CONCAT)
        node->nullable = false;
    return node;
}

/* LEAST(n, 100) is at most 100, since that is never NULL. It is bounded if something like it says
 * so and nothing else can be below 0, which is more than a type says: a count is not. */
static void take_least(brume_expression *node, const brume_node *all, size_t count)
{
    if (!brume_type_is_number(node->type))
        return;
    bool real = node->type.kind == BRUME_TYPE_DOUBLE, capped = false, low = true;
    for (size_t i = 0; i < count; i++) {
        low = low &&
              (all[i]->bounded || (real ? all[i]->bounds.real_low >= 0 : all[i]->bounds.low >= 0));
        if (all[i]->nullable)
            continue;
        capped = capped || all[i]->bounded;
        if (all[i]->bounds.high < node->bounds.high)
            node->bounds.high = all[i]->bounds.high;
        if (all[i]->bounds.real_high < node->bounds.real_high)
            node->bounds.real_high = all[i]->bounds.real_high;
    }
    node->bounded = node->bounded || (capped && low);
}

brume_node brume_build_choice(brume_builder *builder, brume_operation operation,
                              const brume_node *arguments, size_t count)
{
    brume_node *all = brume_arena_copy(builder->arena, arguments, count * sizeof *all);
    if (!all)
        return brume_build_fail(builder, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!all[i])
            return NULL;
    if (operation == BRUME_OPERATION_CONCAT || operation == BRUME_OPERATION_JOIN_TEXT)
        return build_texts(builder, operation, all, count);
    brume_type type;
    if (!together(builder, all, count, &type))
        return NULL;
    if (type.kind == BRUME_TYPE_BOOLEAN &&
        (operation == BRUME_OPERATION_GREATEST || operation == BRUME_OPERATION_LEAST))
        return brume_build_fail(builder, BRUME_EUNSUPPORTED, "use OR and AND",
                                "%s is not defined for booleans", brume_operation_word(operation));
    brume_expression *node = brume_build_node(builder, operation, type, all, count);
    if (!node)
        return NULL;
    if (operation == BRUME_OPERATION_NULLIF) {
        node->bounds = all[0]->bounds;
        node->max_length = all[0]->max_length;
        node->nullable = true;
        node->bounded = all[0]->bounded;
        return node;
    }
    take_hull(node, all, count);
    if (operation == BRUME_OPERATION_LEAST)
        take_least(node, all, count);
    node->nullable = true;
    for (size_t i = 0; i < count; i++)
        node->nullable = node->nullable && all[i]->nullable;
    return node;
}
