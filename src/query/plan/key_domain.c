/* Keys whose values are known without a row that needs protection. */
#include "query/plan/key_domain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "query/expression/expression.h"
#include "query/plan/plan_parts.h"

#define BRUME_MICROSECONDS_OF_DAY INT64_C(86400000000)

/* Between which constants an expression lies, by the conditions that every row satisfies. */

/* Whole numbers, also as decimals without decimals, such as EXTRACT gives.
 * Whole numbers, also as decimals without decimals, such as EXTRACT gives. */
static bool key_is_whole(brume_type type)
{
    return type.kind == BRUME_TYPE_INTEGER || type.kind == BRUME_TYPE_BIGINT ||
           (type.kind == BRUME_TYPE_DECIMAL && type.scale == 0 && type.precision <= 18);
}

/* Whole numbers and dates as they were before they were compared with wider ones.
 * Whole numbers and dates as they were before they were compared with wider ones. */
static const brume_expression *key_without_widening(const brume_expression *node)
{
    while (node->operation == BRUME_OPERATION_CAST &&
           ((key_is_whole(node->type) && key_is_whole(node->arguments[0]->type)) ||
            (node->type.kind == BRUME_TYPE_TIMESTAMP &&
             node->arguments[0]->type.kind == BRUME_TYPE_DATE)))
        node = node->arguments[0];
    return node;
}

/* The same, apart from widening. */
static bool key_is_same(const brume_expression *key, const brume_expression *node)
{
    return brume_expression_equal(key_without_widening(key), key_without_widening(node));
}

/* A literal that is not NULL. */
static bool key_is_constant(const brume_expression *node)
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
    if (!key_is_constant(literal))
        return false;
    const char *text = literal->text;
    if (is_timestamp) {
        if (strlen(text) < 11 || text[10] != ' ' || (clock = read_clock(text + 11)) < 0)
            return false;
        snprintf(day, sizeof day, "%.10s", text);
        text = day;
        type.kind = BRUME_TYPE_DATE;
    } else if (key_is_whole(type)) {
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
    if (operation == BRUME_OPERATION_BETWEEN && key_is_same(all->of, of[0]) &&
        read_limit(of[1], &first) && read_limit(of[2], &second)) {
        take_low(all, first);
        take_high(all, second);
        return true;
    }
    if (condition->argument_count != 2)
        return true;
    bool turned = key_is_same(all->of, of[1]) && read_limit(of[0], &first);
    if (!turned && !(key_is_same(all->of, of[0]) && read_limit(of[1], &first)))
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

/* Declared bounds of a time: groups are of what lies between them. For a timestamp the last day is
 * a whole one, since its bound may be its midnight. */
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
    *all = (limits){.of = key_without_widening(of)};
    while (all->of) {
        brume_scope_conditions(scope, take_limit, all);
        take_declared(all);
        all->of = brume_scope_inside(scope, all->of, &scope);
        all->of = all->of ? key_without_widening(all->of) : NULL;
    }
    return all->has_low && all->has_high && all->low <= all->high;
}

bool brume_key_limits(brume_row_scope scope, const brume_expression *of, int64_t *low,
                      int64_t *high)
{
    limits all;
    bool is_time = of->type.kind == BRUME_TYPE_TIMESTAMP || of->type.kind == BRUME_TYPE_DATE;
    bool is_date = key_without_widening(of)->type.kind == BRUME_TYPE_DATE;
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
    bool are_whole = key_is_whole(key->type) && key_is_whole(literal->type);
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
    if (!key_is_same(key, a)) {
        const brume_expression *other = a;
        if (!key_is_same(key, b))
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
    if (key_is_same(key, node)) /* a condition by which groups are made */
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
        return key_is_same(key, of[0]) ? certain(!value) : CAN_BE_ALL;
    case BRUME_OPERATION_IS_NOT_NULL:
        return key_is_same(key, of[0]) ? certain(value) : CAN_BE_ALL;
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

/* Can the condition be true in a row where the key has this value, a text of its type or NULL?
 * False only where it cannot, whatever else is in the row: then no row of the group satisfies it.
 */
static bool key_may_hold(const brume_expression *condition, const brume_expression *key,
                         const char *value)
{
    return (outcomes_of(key, value, condition) & CAN_BE_TRUE) != 0;
}

enum { MOST_WORK = 1 << 24 };

/* ---- sets of values ---- */

typedef struct values {
    bool known, null; /* null: NULL is one of them */
    const char **texts;
    size_t count;
} values;

typedef struct search {
    brume_arena *arena;
    const brume_plan_table *tables;
    bool failed; /* memory is out */
} search;

static bool contains(const values *set, const char *text)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->texts[i], text) == 0)
            return true;
    return false;
}

static void add(search *in, values *set, const char *text)
{
    if (set->count >= BRUME_KEY_VALUES || contains(set, text)) {
        set->known = set->known && set->count < BRUME_KEY_VALUES;
        return;
    }
    if ((set->count & (set->count + 1)) == 0) { /* 0, 1, 3, 7, ... : double the room */
        const char **grown = brume_arena_allocate(in->arena, (2 * set->count + 1) * sizeof *grown);
        if (!grown) {
            in->failed = true;
            return;
        }
        if (set->count)
            memcpy(grown, set->texts, set->count * sizeof *grown);
        set->texts = grown;
    }
    set->texts[set->count++] = text;
}

static values both(search *in, const values *a, const values *b)
{
    values made = {.known = true, .null = a->null && b->null};
    if (!a->known || !b->known)
        return a->known ? *a : *b;
    for (size_t i = 0; i < a->count; i++)
        if (contains(b, a->texts[i]))
            add(in, &made, a->texts[i]);
    return made;
}

static values either(search *in, const values *a, const values *b)
{
    values made = *a;
    made.known = a->known && b->known;
    made.null = a->null || b->null;
    for (size_t i = 0; made.known && i < b->count; i++)
        add(in, &made, b->texts[i]);
    return made;
}

/* The whole numbers, or days, from low to high, where these are few. */
static values range(search *in, brume_type type, int64_t low, int64_t high)
{
    values made = {.known = low <= high && high - low < BRUME_KEY_RANGE};
    for (int64_t i = low; made.known && i <= high; i++) {
        char text[48];
        brume_integer_text(type, i, text, sizeof text);
        char *own = brume_arena_text(in->arena, text);
        in->failed = in->failed || !own;
        if (own)
            add(in, &made, own);
    }
    return made;
}

/* ---- what an expression can be ---- */

/* Can values of the type be written down exactly? */
static bool is_listable(brume_type type)
{
    return key_is_whole(type) || type.kind == BRUME_TYPE_TEXT || type.kind == BRUME_TYPE_BOOLEAN ||
           type.kind == BRUME_TYPE_DATE;
}

static values values_of(search *in, const brume_expression *node);

static values narrow(search *in, const brume_expression *key, const brume_expression *condition);

/* What the key can be, apart from NULL, where x NOT IN (...) or x <> ... is not true. A NULL in the
 * list would make it so for every x. */
static values narrow_otherwise(search *in, const brume_expression *key,
                               const brume_expression *condition)
{
    values made = {0};
    const brume_expression *const *of = condition->arguments;
    bool listed = condition->operation == BRUME_OPERATION_NOT_IN && key_is_same(key, of[0]);
    for (size_t i = 1; listed && i < condition->argument_count; i++)
        listed = of[i]->text != NULL;
    int other = condition->operation != BRUME_OPERATION_NOT_EQUAL ? -1
                : key_is_same(key, of[0])                         ? 1
                : key_is_same(key, of[1])                         ? 0
                                                                  : -1;
    made.known = listed || (other >= 0 && key_is_constant(of[other]));
    for (size_t i = 1; listed && i < condition->argument_count; i++)
        add(in, &made, of[i]->text);
    if (!listed && made.known)
        add(in, &made, of[other]->text);
    return made;
}

/* What a value of CASE can be where its condition holds: CASE WHEN x IN ('a', 'b') THEN x. Of ELSE
 * where x NOT IN (...) does not hold: these, and NULL. */
static values values_where(search *in, const brume_expression *node, size_t at)
{
    const brume_expression *value = node->arguments[at];
    values made = {0}, own = values_of(in, value);
    if (at + 1 < node->argument_count || node->argument_count % 2 == 0) {
        made = narrow(in, value, node->arguments[at - 1]);
    } else {
        for (size_t i = 0; i + 1 < node->argument_count && !made.known; i += 2)
            made = narrow_otherwise(in, value, node->arguments[i]);
        made.null = value->nullable;
    }
    brume_key_value known;
    for (size_t i = 0; i < made.count; i++) /* written as its type is, not as 1.0 for 1 */
        made.known = made.known && brume_policy_domain_value(value->type, made.texts[i], &known,
                                                             NULL) == BRUME_OK;
    return both(in, &own, &made);
}

static values values_of_choice(search *in, const brume_expression *node)
{
    bool is_case = node->operation == BRUME_OPERATION_CASE;
    values made = {.known = true, .null = is_case && node->argument_count % 2 == 0};
    for (size_t i = 0; i < node->argument_count && made.known; i++) {
        if (is_case && i % 2 == 0 && i + 1 < node->argument_count)
            continue; /* a condition */
        values each = is_case ? values_where(in, node, i) : values_of(in, node->arguments[i]);
        if (!is_case && i + 1 < node->argument_count)
            each.null = false; /* COALESCE goes on at NULL */
        made = either(in, &made, &each);
    }
    return made;
}

/* The same values in room of their own, of a size that `add` counts on. */
static values owned(search *in, values from)
{
    size_t room = 1;
    while (room < from.count)
        room = 2 * room + 1;
    const char **texts = brume_arena_allocate(in->arena, room * sizeof *texts);
    in->failed = in->failed || !texts;
    if (texts && from.count)
        memcpy(texts, from.texts, from.count * sizeof *texts);
    from.texts = texts;
    from.count = texts ? from.count : 0;
    return from;
}

/* What the owner declared; rows with other values are dropped, as under the column itself. */
static values declared_of(search *in, size_t table, size_t column)
{
    const brume_policy_column *of = &in->tables[table].policy->columns[column];
    return (values){.known = of->domain_count > 0,
                    .texts = (const char **)of->domain,
                    .count = of->domain_count};
}

/* LAG, LEAD, FIRST_VALUE, LAST_VALUE, MIN and MAX give what another row has, or nothing. */
static values values_of_timeline(search *in, const brume_timeline *of)
{
    values made = {0};
    if (!of->argument || (of->function == BRUME_TIMELINE_FOLD && of->fold != BRUME_FOLD_MIN &&
                          of->fold != BRUME_FOLD_MAX))
        return made;
    made = values_of(in, of->argument);
    if (of->fallback) {
        values other = values_of(in, of->fallback);
        made = either(in, &made, &other);
    }
    return made;
}

/* A column of a subquery is its expression. */
static values values_of_column(search *in, const brume_expression *node)
{
    const brume_relation *relation = node->relation;
    values made = {0};
    if (relation->kind == BRUME_RELATION_TABLE)
        return owned(
            in, declared_of(in, relation->table, relation->columns[node->column].table_column));
    if (relation->kind == BRUME_RELATION_SELECT)
        made = values_of(in, relation->columns[node->column].expression);
    else if (relation->kind == BRUME_RELATION_GROUP && node->column < relation->key_count)
        made = values_of(in, relation->left->columns[node->column].expression);
    else if (relation->kind == BRUME_RELATION_UNION) {
        made = values_of(in, relation->left->columns[node->column].expression);
        values other = values_of(in, relation->right->columns[node->column].expression);
        made = either(in, &made, &other);
    } else if (relation->kind == BRUME_RELATION_TIMELINE && node->column < relation->key_count)
        made = values_of_timeline(in, relation->columns[node->column].timeline);
    made.null = made.null || node->nullable; /* of an outer join, perhaps */
    return made;
}

static values values_of(search *in, const brume_expression *node)
{
    values made = {0};
    if (!is_listable(node->type))
        return made;
    if (node->operation == BRUME_OPERATION_LITERAL) {
        made.known = true;
        made.null = !node->text;
        if (node->text)
            add(in, &made, node->text);
        return made;
    }
    if (node->operation == BRUME_OPERATION_CASE || node->operation == BRUME_OPERATION_COALESCE)
        made = values_of_choice(in, node);
    else if (node->operation == BRUME_OPERATION_COLUMN)
        made = values_of_column(in, node);
    if (made.known)
        return made;
    if (node->type.kind == BRUME_TYPE_BOOLEAN) {
        made = (values){.known = true, .null = node->nullable};
        add(in, &made, "false");
        add(in, &made, "true");
    } else if (key_is_whole(node->type) && node->bounded && node->bounds.low >= INT64_MIN / 2 &&
               node->bounds.high <= INT64_MAX / 2) {
        made = range(in, node->type, (int64_t)node->bounds.low, (int64_t)node->bounds.high);
        made.null = node->nullable;
    }
    return made;
}

/* ---- what conditions say ---- */

static values narrow(search *in, const brume_expression *key, const brume_expression *condition)
{
    values made = {0};
    const brume_expression *const *of = condition->arguments;
    if (condition->operation == BRUME_OPERATION_AND || condition->operation == BRUME_OPERATION_OR) {
        for (size_t i = 0; i < condition->argument_count; i++) {
            values each = narrow(in, key, of[i]);
            made = i == 0                                        ? each
                   : condition->operation == BRUME_OPERATION_AND ? both(in, &made, &each)
                                                                 : either(in, &made, &each);
        }
        return made;
    }
    if (condition->operation == BRUME_OPERATION_EQUAL)
        for (int i = 0; i < 2; i++)
            if (key_is_same(key, of[i]) && key_is_constant(of[1 - i])) {
                made.known = true;
                add(in, &made, of[1 - i]->text);
            }
    if (condition->operation == BRUME_OPERATION_IN && key_is_same(key, of[0])) {
        made.known = true;
        for (size_t i = 1; i < condition->argument_count; i++)
            if (of[i]->text) /* equal to NULL is nothing */
                add(in, &made, of[i]->text);
    }
    return made;
}

/* ---- ranges ---- */

static int64_t year_of(int64_t day)
{
    char text[48];
    brume_integer_text((brume_type){BRUME_TYPE_DATE, 0, 0}, day, text, sizeof text);
    return strtoll(text, NULL, 10);
}

/* The timestamp of which it is the day: CAST(x AS date); NULL: it is something else. */
static const brume_expression *time_of_day(const brume_expression *node)
{
    return node->operation == BRUME_OPERATION_CAST && node->type.kind == BRUME_TYPE_DATE &&
                   node->arguments[0]->type.kind == BRUME_TYPE_TIMESTAMP
               ? node->arguments[0]
               : NULL;
}

/* The key between two close constants; EXTRACT(year FROM d), or the day of d, where d is. */
static values range_of(search *in, brume_row_scope scope, const brume_expression *key)
{
    const brume_expression *plain = key_without_widening(key), *time = time_of_day(plain);
    bool year = plain->operation == BRUME_OPERATION_EXTRACT && plain->text &&
                strcmp(plain->text, "year") == 0;
    values made = {0};
    int64_t low, high;
    const int64_t far = INT64_C(1) << 62;
    if (year ? !key_is_whole(plain->type)
             : !key_is_whole(plain->type) && plain->type.kind != BRUME_TYPE_DATE)
        return made;
    if (!brume_key_limits(scope,
                          year   ? plain->arguments[0]
                          : time ? time
                                 : plain,
                          &low, &high) ||
        low < -far || high > far)
        return made;
    if (year)
        return range(in, key->type, year_of(low), year_of(high));
    return range(in, key->type, low, high);
}

/* ---- date_trunc ---- */

/* The start of the part of time (year, quarter, month, week, day) that a day lies in, and of the
 * next one: days since 1970-01-01. */
static int64_t key_start_of(const char *unit, int64_t day, int64_t *next)
{
    if (strcmp(unit, "day") == 0 || strcmp(unit, "week") == 0) {
        bool week = *unit == 'w'; /* from Monday; day 0 was a Thursday */
        int64_t start = week ? day - ((day + 3) % 7 + 7) % 7 : day;
        *next = start + (week ? 7 : 1);
        return start;
    }
    char text[48];
    brume_type date = {BRUME_TYPE_DATE, 0, 0};
    brume_key_value first = {0}, after = {0};
    brume_integer_text(date, day, text, sizeof text);
    int64_t year = strtoll(text, NULL, 10), month = strtoll(text + 5, NULL, 10);
    int64_t months = strcmp(unit, "year") == 0 ? 12 : strcmp(unit, "quarter") == 0 ? 3 : 1;
    month -= (month - 1) % months;
    int64_t then = month + months;
    char ends[2][48];
    snprintf(ends[0], sizeof ends[0], "%04d-%02d-01", (int)year, (int)month);
    snprintf(ends[1], sizeof ends[1], "%04d-%02d-01", (int)(year + (then > 12)),
             (int)(then > 12 ? then - 12 : then));
    *next = day + 1; /* of the last year there is no next */
    if (brume_policy_domain_value(date, ends[0], &first, NULL) != BRUME_OK)
        return day;
    if (brume_policy_domain_value(date, ends[1], &after, NULL) == BRUME_OK)
        *next = after.integer;
    return first.integer;
}

static const char units[] = " year quarter month week day ";

/* Is the text one of these words, each of which has a space before and after it? */
static bool is_one_of(const char *words, const char *text)
{
    char word[24];
    if (!text)
        return false;
    snprintf(word, sizeof word, " %.20s ", text);
    return strstr(words, word) != NULL;
}

const brume_expression *brume_key_date_of(const brume_expression *key, bool *by_hour)
{
    static const char fields[] = " year quarter month day dow isodow doy hour ";
    const brume_expression *plain = key_without_widening(key);
    *by_hour = false;
    if (plain->operation == BRUME_OPERATION_EXTRACT && is_one_of(fields, plain->text)) {
        *by_hour = strcmp(plain->text, "hour") == 0;
        return key_without_widening(plain->arguments[0]);
    }
    if (plain->operation == BRUME_OPERATION_DATE_TRUNC && is_one_of(units, plain->text))
        return key_without_widening(plain->arguments[0]);
    return plain->type.kind == BRUME_TYPE_DATE ? plain : NULL;
}

void brume_key_value_at(const brume_expression *key, int64_t hour, char *text, size_t size)
{
    const brume_expression *plain = key_without_widening(key);
    const brume_type type = {BRUME_TYPE_DATE, 0, 0};
    int64_t day = hour / 24 - (hour % 24 < 0), next, value = 0;
    char date[48];
    brume_integer_text(type, day, date, sizeof date);
    if (plain->operation == BRUME_OPERATION_DATE_TRUNC) {
        brume_integer_text(type, key_start_of(plain->text, day, &next), date, sizeof date);
        snprintf(text, size, "%s 00:00:00", date);
        return;
    }
    if (plain->operation != BRUME_OPERATION_EXTRACT) {
        snprintf(text, size, "%s", date);
        return;
    }
    int64_t years = strtoll(date, NULL, 10), months = strtoll(date + 5, NULL, 10);
    int64_t weekday = ((day + 4) % 7 + 7) % 7; /* from Sunday, 0; day 0 was a Thursday */
    if (strcmp(plain->text, "year") == 0)
        value = years;
    else if (strcmp(plain->text, "quarter") == 0)
        value = (months + 2) / 3;
    else if (strcmp(plain->text, "month") == 0)
        value = months;
    else if (strcmp(plain->text, "day") == 0)
        value = strtoll(date + 8, NULL, 10);
    else if (strcmp(plain->text, "dow") == 0)
        value = weekday;
    else if (strcmp(plain->text, "isodow") == 0)
        value = weekday ? weekday : 7;
    else if (strcmp(plain->text, "hour") == 0)
        value = hour - 24 * day;
    else
        value = day - key_start_of("year", day, &next) + 1;
    snprintf(text, size, "%lld", (long long)value);
}

/* EXTRACT(field FROM d) where d lies between two constants that are close: what the field is on
 * each day, or in each hour, between them. */
static values range_of_parts(search *in, brume_row_scope scope, const brume_expression *key)
{
    const int64_t hour = INT64_C(3600000000);
    bool by_hour = false;
    const brume_expression *date = brume_key_date_of(key, &by_hour);
    values made = {0};
    int64_t low, high, step = by_hour ? 1 : 24;
    if (!date || key_without_widening(key)->operation != BRUME_OPERATION_EXTRACT ||
        !(by_hour ? brume_key_moments(scope, date, &low, &high)
                  : brume_key_limits(scope, date, &low, &high)))
        return made;
    low = by_hour ? low / hour - (low % hour < 0) : 24 * low;
    high = by_hour ? high / hour - (high % hour < 0) : 24 * high;
    made.known = low >= INT64_C(24) * BRUME_FIRST_DAY &&
                 high < INT64_C(24) * (BRUME_LAST_DAY + 1) && (high - low) / step < BRUME_KEY_RANGE;
    for (; made.known && low <= high && !in->failed; low += step) {
        char text[80];
        brume_key_value_at(key, low, text, sizeof text);
        if (contains(&made, text))
            continue;
        char *own = brume_arena_text(in->arena, text);
        in->failed = in->failed || !own;
        if (own)
            add(in, &made, own);
    }
    return made;
}

/* date_trunc(unit, d) where d lies between two constants: the starts of all parts of time between
 * them, as timestamps. */
static values range_of_starts(search *in, brume_row_scope scope, const brume_expression *key)
{
    values made = {0};
    if (key->operation != BRUME_OPERATION_DATE_TRUNC || !is_one_of(units, key->text))
        return made;
    int64_t low, high;
    if (!brume_key_limits(scope, key->arguments[0], &low, &high) || low < BRUME_FIRST_DAY ||
        high > BRUME_LAST_DAY)
        return made;
    made.known = true;
    for (int64_t day = low, next = 0; made.known && day <= high && !in->failed; day = next) {
        char date[64], text[80];
        int64_t start = key_start_of(key->text, day, &next);
        brume_integer_text((brume_type){BRUME_TYPE_DATE, 0, 0}, start, date, sizeof date);
        snprintf(text, sizeof text, "%s 00:00:00", date);
        char *own = brume_arena_text(in->arena, text);
        in->failed = in->failed || !own;
        if (own)
            add(in, &made, own);
        made.known = made.count <= BRUME_KEY_RANGE;
    }
    return made;
}

/* The days of the starts: CAST(date_trunc(unit, d) AS date). */
static values days_of(search *in, values starts)
{
    for (size_t i = 0; i < starts.count; i++) {
        char day[11];
        snprintf(day, sizeof day, "%.10s", starts.texts[i]);
        starts.texts[i] = brume_arena_text(in->arena, day);
        in->failed = in->failed || !starts.texts[i];
    }
    starts.count = in->failed ? 0 : starts.count;
    return starts;
}

/* strftime(d, '%Y-%m'), of years, months and days, where d lies between two constants. */
static values range_of_texts(search *in, brume_row_scope scope, const brume_expression *key)
{
    values made = {0};
    int64_t low, high;
    if (key->operation != BRUME_OPERATION_FORMAT_TIME || !key->text ||
        !brume_key_limits(scope, key->arguments[0], &low, &high) || low < BRUME_FIRST_DAY ||
        high > BRUME_LAST_DAY || high - low > INT64_C(100) * 366)
        return made;
    for (const char *at = key->text; (at = strchr(at, '%')); at++)
        if (!strchr("Ymd", at[1]))
            return made;
    made.known = true;
    for (int64_t day = low; made.known && day <= high && !in->failed; day++) {
        char date[48], text[400];
        size_t used = 0;
        brume_integer_text((brume_type){BRUME_TYPE_DATE, 0, 0}, day, date, sizeof date);
        for (const char *at = key->text; *at && used + 5 < sizeof text; at++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%.*s",
                                     *at != '%'     ? 1
                                     : at[1] == 'Y' ? 4
                                                    : 2,
                                     *at != '%'     ? at
                                     : at[1] == 'Y' ? date
                                     : at[1] == 'm' ? date + 5
                                                    : date + 8),
                at += *at == '%';
        if (made.count > 0 && strcmp(made.texts[made.count - 1], text) == 0)
            continue;
        char *own = brume_arena_text(in->arena, text);
        in->failed = in->failed || !own;
        if (own)
            add(in, &made, own);
        made.known = made.known && made.count <= BRUME_KEY_RANGE;
    }
    return made;
}

/* ---- keys ---- */

typedef struct narrowing {
    search *in;
    const brume_expression *key;
    values found;
} narrowing;

static bool narrow_by(void *context, const brume_expression *condition)
{
    narrowing *all = context;
    values each = narrow(all->in, all->key, condition);
    all->found = both(all->in, &all->found, &each);
    return true;
}

/* How many nodes a condition has. */
static size_t condition_size(const brume_expression *condition)
{
    size_t size = 1;
    for (size_t i = 0; i < condition->argument_count; i++)
        size += condition_size(condition->arguments[i]);
    return size;
}

/* Are the texts of values of both types written alike? */
static bool is_written_alike(brume_type a, brume_type b)
{
    return a.kind == b.kind || (key_is_whole(a) && key_is_whole(b));
}

/* What conditions say of the key: those of the scope, and those of the subquery that it is a column
 * of. */
static values said_of(search *in, brume_row_scope scope, const brume_expression *key)
{
    bool starts = key->type.kind == BRUME_TYPE_TIMESTAMP;
    narrowing conditions = {.in = in, .key = key};
    if (!starts)
        brume_scope_conditions(scope, narrow_by, &conditions);
    const brume_expression *time = time_of_day(key);
    values close = starts ? range_of_starts(in, scope, key)
                   : time && time->operation == BRUME_OPERATION_DATE_TRUNC
                       ? days_of(in, range_of_starts(in, scope, time))
                   : key->operation == BRUME_OPERATION_FORMAT_TIME ? range_of_texts(in, scope, key)
                                                                   : range_of(in, scope, key);
    values parts = range_of_parts(in, scope, key);
    values said = both(in, &conditions.found, &close);
    said = both(in, &said, &parts);
    brume_row_scope inside;
    const brume_expression *inner = brume_scope_inside(scope, key_without_widening(key), &inside);
    if (inner && is_written_alike(inner->type, key->type)) {
        values deeper = said_of(in, inside, inner);
        said = both(in, &said, &deeper);
    }
    return said;
}

/* Values for which a condition cannot be true are none. */
static bool leave_out_by(void *context, const brume_expression *condition)
{
    narrowing *all = context;
    values *set = &all->found;
    size_t kept = 0;
    if (set->count * condition_size(condition) > MOST_WORK)
        return true; /* then empty groups are answered */
    const char **texts = brume_arena_allocate(all->in->arena, (set->count + 1) * sizeof *texts);
    if (!texts) {
        all->in->failed = true;
        return false;
    }
    for (size_t i = 0; i < set->count; i++)
        if (key_may_hold(condition, all->key, set->texts[i]))
            texts[kept++] = set->texts[i];
    set->texts = texts;
    set->count = kept;
    set->null = set->null && key_may_hold(condition, all->key, NULL);
    return true;
}

static values leave_out(search *in, brume_row_scope scope, const brume_expression *key,
                        const values *from)
{
    narrowing conditions = {.in = in, .key = key, .found = *from};
    brume_scope_conditions(scope, leave_out_by, &conditions);
    brume_row_scope inside;
    const brume_expression *inner = brume_scope_inside(scope, key_without_widening(key), &inside);
    if (inner && is_written_alike(inner->type, key->type))
        return leave_out(in, inside, inner, &conditions.found);
    return conditions.found;
}

static values declared_values(search *in, const brume_key *key)
{
    return key->is_column ? declared_of(in, key->table, key->column) : (values){0};
}

/* What was read of public tables: each value once, so that many need no comparing. */
static values read_values(search *in, const brume_key *key)
{
    values made = {.known = key->values_known};
    if (!made.known)
        return made;
    made.texts = brume_arena_allocate(in->arena, (key->value_count + 1) * sizeof *made.texts);
    in->failed = in->failed || !made.texts;
    for (size_t i = 0; made.texts && i < key->value_count; i++)
        if (key->values[i])
            made.texts[made.count++] = key->values[i];
        else
            made.null = true;
    return made;
}

static brume_status nothing_left(const values *base, const values *left, brume_error *error)
{
    char hint[200] = "";
    const char *near = left->count && base->count
                           ? brume_text_nearest(left->texts[0], base->texts, base->count)
                           : NULL;
    if (near)
        snprintf(hint, sizeof hint, "did you mean '%.100s'?", near);
    return brume_fail(error, BRUME_EARGUMENT, hint,
                      "the condition leaves none of the values that a key is declared to have");
}

brume_status brume_key_domain_find(const brume_query *query, size_t index,
                                   const brume_plan_table *tables, brume_key_domain *out,
                                   brume_error *error)
{
    const brume_key *key = &query->keys[index];
    search in = {.arena = query->arena, .tables = tables};
    *out = (brume_key_domain){0};
    bool starts = key->plain->type.kind == BRUME_TYPE_TIMESTAMP;
    if (!is_listable(key->plain->type) && !starts)
        return BRUME_OK;
    values base = declared_values(&in, key);
    if (!base.known)
        base = read_values(&in, key);
    if (!base.known)
        base = values_of(&in, key->plain);
    values said = said_of(&in, brume_query_scope(query), key->plain);
    values all = both(&in, &base, &said);
    if (said.known)
        all.null = false;
    if (all.known)
        all = leave_out(&in, brume_query_scope(query), key->plain, &all);
    if (in.failed)
        return brume_no_memory(error, "a plan");
    if (all.known && all.count == 0 && !all.null)
        return nothing_left(&base, &said, error);
    if (!all.known)
        return BRUME_OK;
    const char **texts = brume_arena_allocate(query->arena, (all.count + 1) * sizeof *texts);
    if (!texts)
        return brume_no_memory(error, "a plan");
    if (all.count)
        memcpy(texts, all.texts, all.count * sizeof *texts);
    *out = (brume_key_domain){true, texts, all.count + all.null};
    return BRUME_OK;
}
