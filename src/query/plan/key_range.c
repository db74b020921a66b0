/* Between which constants an expression lies, by the conditions that every row satisfies. */
#include "query/plan/key_range.h"

#include <stdio.h>
#include <string.h>

#include "query/plan/plan_parts.h"

/* Whole numbers, also as decimals without decimals, such as EXTRACT gives. */
bool brume_key_is_whole(brume_type type)
{
    return type.kind == BRUME_TYPE_INTEGER || type.kind == BRUME_TYPE_BIGINT ||
           (type.kind == BRUME_TYPE_DECIMAL && type.scale == 0 && type.precision <= 18);
}

/* Whole numbers and dates as they were before they were compared with wider ones. */
const brume_expression *brume_key_without_widening(const brume_expression *node)
{
    while (node->operation == BRUME_OPERATION_CAST &&
           ((brume_key_is_whole(node->type) && brume_key_is_whole(node->arguments[0]->type)) ||
            (node->type.kind == BRUME_TYPE_TIMESTAMP &&
             node->arguments[0]->type.kind == BRUME_TYPE_DATE)))
        node = node->arguments[0];
    return node;
}

bool brume_key_is_same(const brume_expression *key, const brume_expression *node)
{
    return brume_expression_equal(brume_key_without_widening(key),
                                  brume_key_without_widening(node));
}

bool brume_key_is_constant(const brume_expression *node)
{
    return node->operation == BRUME_OPERATION_LITERAL && node->text;
}

typedef struct limits {
    const brume_expression *of;
    bool has_low, has_high;
    int64_t low, high; /* inclusive: whole numbers, or days */
} limits;

/* A whole number or a date; of a timestamp its day. */
static bool read_limit(const brume_expression *literal, int64_t *out, bool *exact)
{
    brume_key_value value;
    char day[11];
    brume_type type = literal->type;
    if (!brume_key_is_constant(literal))
        return false;
    *exact = true;
    if (type.kind == BRUME_TYPE_TIMESTAMP && strlen(literal->text) >= 10) {
        snprintf(day, sizeof day, "%.10s", literal->text);
        type.kind = BRUME_TYPE_DATE;
        *exact = strcmp(literal->text + 10, " 00:00:00") == 0;
        if (brume_policy_domain_value(type, day, &value, NULL) != BRUME_OK)
            return false;
    } else {
        if (brume_key_is_whole(type))
            type.kind = BRUME_TYPE_BIGINT;
        else if (type.kind != BRUME_TYPE_DATE)
            return false;
        if (brume_policy_domain_value(type, literal->text, &value, NULL) != BRUME_OK)
            return false;
    }
    *out = value.integer;
    return true;
}

static void take_low(limits *all, int64_t low)
{
    all->low = all->has_low && all->low > low ? all->low : low;
    all->has_low = true;
}

static void take_high(limits *all, int64_t high)
{
    all->high = all->has_high && all->high < high ? all->high : high;
    all->has_high = true;
}

static bool take_limit(void *context, const brume_expression *condition)
{
    limits *all = context;
    const brume_expression *const *of = condition->arguments;
    int64_t first = 0, second = 0;
    bool exact = true, same = true;
    brume_operation operation = condition->operation;
    if (operation == BRUME_OPERATION_BETWEEN && brume_key_is_same(all->of, of[0]) &&
        read_limit(of[1], &first, &exact) && read_limit(of[2], &second, &same)) {
        take_low(all, first);
        take_high(all, second);
        return true;
    }
    if (condition->argument_count != 2)
        return true;
    bool turned = brume_key_is_same(all->of, of[1]) && read_limit(of[0], &first, &exact);
    if (!turned && !(brume_key_is_same(all->of, of[0]) && read_limit(of[1], &first, &exact)))
        return true;
    bool within = all->of->type.kind == BRUME_TYPE_TIMESTAMP; /* a day has many */
    bool less = operation == (turned ? BRUME_OPERATION_GREATER : BRUME_OPERATION_LESS);
    bool more = operation == (turned ? BRUME_OPERATION_LESS : BRUME_OPERATION_GREATER);
    if (less) /* before midnight of a day is at most the day before */
        take_high(all, exact ? first - 1 : first);
    else if (more)
        take_low(all, within || !exact ? first : first + 1);
    else if (operation == (turned ? BRUME_OPERATION_GREATER_EQUAL : BRUME_OPERATION_LESS_EQUAL))
        take_high(all, first);
    else if (operation == (turned ? BRUME_OPERATION_LESS_EQUAL : BRUME_OPERATION_GREATER_EQUAL))
        take_low(all, first);
    else if (operation == BRUME_OPERATION_EQUAL) {
        take_low(all, first);
        take_high(all, first);
    }
    return true;
}

bool brume_key_limits(brume_row_scope scope, const brume_expression *of, int64_t *low,
                      int64_t *high)
{
    limits all = {.of = brume_key_without_widening(of)};
    while (all.of) {
        brume_scope_conditions(scope, take_limit, &all);
        all.of = brume_scope_inside(scope, all.of, &scope);
        all.of = all.of ? brume_key_without_widening(all.of) : NULL;
    }
    *low = all.low;
    *high = all.high;
    return all.has_low && all.has_high && all.low <= all.high;
}
