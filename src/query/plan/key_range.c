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
    int64_t low, high; /* inclusive: whole numbers, or microseconds since 1970 */
} limits;

/* Microseconds from midnight, of "HH:MM:SS" with up to six decimals; -1: it is something else. */
static int64_t read_clock(const char *text)
{
    int hour, minute, second, used = 0, digits = 0;
    char fraction[8] = "";
    if (sscanf(text, "%2d:%2d:%2d%n.%6[0-9]%n", &hour, &minute, &second, &used, fraction, &digits) <
            3 ||
        text[digits ? digits : used])
        return -1;
    int64_t part = 0;
    for (int i = 0; i < 6; i++)
        part = part * 10 + (i < (int)strlen(fraction) ? fraction[i] - '0' : 0);
    return ((hour * 60 + minute) * INT64_C(60) + second) * 1000000 + part;
}

/* A whole number, or the moment of a date or timestamp. */
static bool read_limit(const brume_expression *literal, int64_t *out)
{
    brume_key_value value;
    char day[11];
    brume_type type = literal->type;
    bool is_timestamp = type.kind == BRUME_TYPE_TIMESTAMP;
    int64_t clock = 0;
    if (!brume_key_is_constant(literal))
        return false;
    const char *text = literal->text;
    if (is_timestamp) {
        if (strlen(text) < 11 || text[10] != ' ' || (clock = read_clock(text + 11)) < 0)
            return false;
        snprintf(day, sizeof day, "%.10s", text);
        text = day;
        type.kind = BRUME_TYPE_DATE;
    } else if (brume_key_is_whole(type)) {
        type.kind = BRUME_TYPE_BIGINT;
    }
    if ((type.kind != BRUME_TYPE_DATE && type.kind != BRUME_TYPE_BIGINT) ||
        brume_policy_domain_value(type, text, &value, NULL) != BRUME_OK)
        return false;
    *out = type.kind == BRUME_TYPE_DATE ? value.integer * BRUME_MICROSECONDS_OF_DAY + clock
                                        : value.integer;
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
    brume_operation operation = condition->operation;
    if (operation == BRUME_OPERATION_BETWEEN && brume_key_is_same(all->of, of[0]) &&
        read_limit(of[1], &first) && read_limit(of[2], &second)) {
        take_low(all, first);
        take_high(all, second);
        return true;
    }
    if (condition->argument_count != 2)
        return true;
    bool turned = brume_key_is_same(all->of, of[1]) && read_limit(of[0], &first);
    if (!turned && !(brume_key_is_same(all->of, of[0]) && read_limit(of[1], &first)))
        return true;
    if (operation == (turned ? BRUME_OPERATION_GREATER : BRUME_OPERATION_LESS))
        take_high(all, first - 1);
    else if (operation == (turned ? BRUME_OPERATION_LESS : BRUME_OPERATION_GREATER))
        take_low(all, first + 1);
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

static int64_t floor_divide(int64_t number, int64_t by)
{
    return number / by - (number % by < 0);
}

/* Declared bounds of a time: groups are of what lies between them. Of a timestamp the last day is a
 * whole one, since its bound may be its midnight. */
static void take_declared(limits *all)
{
    const brume_expression *of = all->of;
    bool is_date = of->type.kind == BRUME_TYPE_DATE;
    if (of->operation != BRUME_OPERATION_COLUMN || of->relation->kind != BRUME_RELATION_TABLE ||
        (!is_date && of->type.kind != BRUME_TYPE_TIMESTAMP))
        return;
    const brume_expression *inside = of->relation->columns[of->column].inside;
    if (inside->operation != BRUME_OPERATION_CLAMP)
        return;
    int64_t unit = is_date ? BRUME_MICROSECONDS_OF_DAY : 1;
    int64_t low = (int64_t)inside->bounds.low * unit, high = (int64_t)inside->bounds.high * unit;
    take_low(all, low);
    take_high(all,
              (floor_divide(high, BRUME_MICROSECONDS_OF_DAY) + 1) * BRUME_MICROSECONDS_OF_DAY - 1);
}

static bool find_limits(brume_row_scope scope, const brume_expression *of, limits *all)
{
    *all = (limits){.of = brume_key_without_widening(of)};
    while (all->of) {
        brume_scope_conditions(scope, take_limit, all);
        take_declared(all);
        all->of = brume_scope_inside(scope, all->of, &scope);
        all->of = all->of ? brume_key_without_widening(all->of) : NULL;
    }
    return all->has_low && all->has_high && all->low <= all->high;
}

bool brume_key_limits(brume_row_scope scope, const brume_expression *of, int64_t *low,
                      int64_t *high)
{
    limits all;
    bool is_time = of->type.kind == BRUME_TYPE_TIMESTAMP || of->type.kind == BRUME_TYPE_DATE;
    bool is_date = brume_key_without_widening(of)->type.kind == BRUME_TYPE_DATE;
    int64_t unit = is_time ? BRUME_MICROSECONDS_OF_DAY : 1;
    if (!find_limits(scope, of, &all))
        return false;
    /* a date is a midnight: the first one at or after the limit; a timestamp's day may be under way
     */
    *low = floor_divide(all.low, unit) + (is_date && all.low % unit != 0);
    *high = floor_divide(all.high, unit);
    return *low <= *high;
}

bool brume_key_moments(brume_row_scope scope, const brume_expression *of, int64_t *low,
                       int64_t *high)
{
    limits all;
    if (of->type.kind != BRUME_TYPE_TIMESTAMP || !find_limits(scope, of, &all))
        return false;
    *low = all.low;
    *high = all.high;
    return true;
}

/* ---- what a condition can be ---- */

enum { CAN_BE_TRUE = 1, CAN_BE_FALSE = 2, CAN_BE_NULL = 4, CAN_BE_ALL = 7 };

static int negated(int outcomes)
{
    return (outcomes & CAN_BE_NULL) | (outcomes & CAN_BE_TRUE ? CAN_BE_FALSE : 0) |
           (outcomes & CAN_BE_FALSE ? CAN_BE_TRUE : 0);
}

/* AND of two conditions, each of which may be any of its outcomes. */
static int joined(int a, int b)
{
    int out = 0;
    if ((a & CAN_BE_TRUE) && (b & CAN_BE_TRUE))
        out |= CAN_BE_TRUE;
    if ((a | b) & CAN_BE_FALSE)
        out |= CAN_BE_FALSE;
    if ((a & CAN_BE_NULL && b & (CAN_BE_NULL | CAN_BE_TRUE)) ||
        (b & CAN_BE_NULL && a & (CAN_BE_NULL | CAN_BE_TRUE)))
        out |= CAN_BE_NULL;
    return out;
}

static int certain(bool is_true)
{
    return is_true ? CAN_BE_TRUE : CAN_BE_FALSE;
}

/* The order of two texts of the types of key and literal: -1, 0 or 1; of texts and booleans 2 where
 * they differ (how an engine orders texts is not said here); 3: it is not known. */
static int order_of(const brume_expression *key, const char *value, const brume_expression *literal)
{
    brume_expression of_key = {
        .operation = BRUME_OPERATION_LITERAL, .type = key->type, .text = value};
    int64_t a = 0, b = 0;
    brume_type_kind kind = key->type.kind;
    if (!literal->text || literal->operation != BRUME_OPERATION_LITERAL)
        return 3;
    if ((kind == BRUME_TYPE_TEXT || kind == BRUME_TYPE_BOOLEAN) && literal->type.kind == kind)
        return strcmp(value, literal->text) == 0 ? 0 : 2;
    bool are_whole = brume_key_is_whole(key->type) && brume_key_is_whole(literal->type);
    bool are_times = kind == BRUME_TYPE_DATE && (literal->type.kind == BRUME_TYPE_DATE ||
                                                 literal->type.kind == BRUME_TYPE_TIMESTAMP);
    if ((!are_whole && !are_times) || !read_limit(&of_key, &a) || !read_limit(literal, &b))
        return 3;
    return (a > b) - (a < b);
}

static int compared(brume_operation operation, int order)
{
    if (order == 3)
        return CAN_BE_ALL;
    switch (operation) {
    case BRUME_OPERATION_EQUAL:
        return certain(order == 0);
    case BRUME_OPERATION_NOT_EQUAL:
        return certain(order != 0);
    case BRUME_OPERATION_LESS:
        return order == 2 ? CAN_BE_ALL : certain(order < 0);
    case BRUME_OPERATION_LESS_EQUAL:
        return order == 2 ? CAN_BE_ALL : certain(order <= 0);
    case BRUME_OPERATION_GREATER:
        return order == 2 ? CAN_BE_ALL : certain(order > 0);
    case BRUME_OPERATION_GREATER_EQUAL:
        return order == 2 ? CAN_BE_ALL : certain(order >= 0);
    default:
        return CAN_BE_ALL;
    }
}

/* `a operation b`, where one of them is the key; NULL against a constant is NULL. */
static int comparison(const brume_expression *key, const char *value, brume_operation operation,
                      const brume_expression *a, const brume_expression *b)
{
    static const brume_operation turned[][2] = {
        {BRUME_OPERATION_LESS, BRUME_OPERATION_GREATER},
        {BRUME_OPERATION_LESS_EQUAL, BRUME_OPERATION_GREATER_EQUAL},
        {BRUME_OPERATION_GREATER, BRUME_OPERATION_LESS},
        {BRUME_OPERATION_GREATER_EQUAL, BRUME_OPERATION_LESS_EQUAL}};
    if (!brume_key_is_same(key, a)) {
        const brume_expression *other = a;
        if (!brume_key_is_same(key, b))
            return CAN_BE_ALL;
        b = other;
        for (size_t i = 0; i < 4; i++)
            if (operation == turned[i][0]) {
                operation = turned[i][1];
                break;
            }
    }
    if (b->operation != BRUME_OPERATION_LITERAL)
        return value ? CAN_BE_ALL : CAN_BE_NULL;
    return !value || !b->text ? CAN_BE_NULL : compared(operation, order_of(key, value, b));
}

static int outcomes_of(const brume_expression *key, const char *value,
                       const brume_expression *node);

/* IN is an OR of equalities, BETWEEN an AND of two comparisons. */
static int outcomes_of_list(const brume_expression *key, const char *value,
                            const brume_expression *node)
{
    const brume_expression *const *of = node->arguments;
    bool is_in = node->operation == BRUME_OPERATION_IN || node->operation == BRUME_OPERATION_NOT_IN;
    bool is_not = node->operation == BRUME_OPERATION_NOT_IN ||
                  node->operation == BRUME_OPERATION_NOT_BETWEEN;
    int none = CAN_BE_TRUE;
    if (is_in) {
        for (size_t i = 1; i < node->argument_count; i++)
            none =
                joined(none, negated(comparison(key, value, BRUME_OPERATION_EQUAL, of[0], of[i])));
        return is_not ? none : negated(none);
    }
    none = joined(comparison(key, value, BRUME_OPERATION_GREATER_EQUAL, of[0], of[1]),
                  comparison(key, value, BRUME_OPERATION_LESS_EQUAL, of[0], of[2]));
    return is_not ? negated(none) : none;
}

static int outcomes_of(const brume_expression *key, const char *value, const brume_expression *node)
{
    const brume_expression *const *of = node->arguments;
    if (brume_key_is_same(key, node)) /* a condition by which groups are made */
        return value ? certain(strcmp(value, "true") == 0) : CAN_BE_NULL;
    switch (node->operation) {
    case BRUME_OPERATION_AND:
        return joined(outcomes_of(key, value, of[0]), outcomes_of(key, value, of[1]));
    case BRUME_OPERATION_OR:
        return negated(joined(negated(outcomes_of(key, value, of[0])),
                              negated(outcomes_of(key, value, of[1]))));
    case BRUME_OPERATION_NOT:
        return negated(outcomes_of(key, value, of[0]));
    case BRUME_OPERATION_IN:
    case BRUME_OPERATION_NOT_IN:
    case BRUME_OPERATION_BETWEEN:
    case BRUME_OPERATION_NOT_BETWEEN:
        return outcomes_of_list(key, value, node);
    case BRUME_OPERATION_IS_NULL:
        return brume_key_is_same(key, of[0]) ? certain(!value) : CAN_BE_ALL;
    case BRUME_OPERATION_IS_NOT_NULL:
        return brume_key_is_same(key, of[0]) ? certain(value) : CAN_BE_ALL;
    case BRUME_OPERATION_EQUAL:
    case BRUME_OPERATION_NOT_EQUAL:
    case BRUME_OPERATION_LESS:
    case BRUME_OPERATION_LESS_EQUAL:
    case BRUME_OPERATION_GREATER:
    case BRUME_OPERATION_GREATER_EQUAL:
        return comparison(key, value, node->operation, of[0], of[1]);
    default:
        return CAN_BE_ALL;
    }
}

bool brume_key_may_hold(const brume_expression *condition, const brume_expression *key,
                        const char *value)
{
    return (outcomes_of(key, value, condition) & CAN_BE_TRUE) != 0;
}
