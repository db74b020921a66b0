/* Keys whose values are known without a row that needs protection. */
#include "query/plan/key_domain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "query/expression/arena.h"
#include "query/plan/plan_parts.h"

/* ---- sets of values ---- */

typedef struct values {
    bool known, null; /* null: NULL is one of them */
    const char **texts;
    size_t count;
} values;

typedef struct search {
    brume_arena *arena;
    const brume_query *query;
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

/* Whole numbers, also as decimals without decimals, such as EXTRACT gives. */
static bool is_whole(brume_type type)
{
    return type.kind == BRUME_TYPE_INTEGER || type.kind == BRUME_TYPE_BIGINT ||
           (type.kind == BRUME_TYPE_DECIMAL && type.scale == 0 && type.precision <= 18);
}

/* Can values of the type be written down exactly? */
static bool is_listable(brume_type type)
{
    return is_whole(type) || type.kind == BRUME_TYPE_TEXT || type.kind == BRUME_TYPE_BOOLEAN ||
           type.kind == BRUME_TYPE_DATE;
}

static values values_of(search *in, const brume_expression *node);

static values values_of_choice(search *in, const brume_expression *node)
{
    bool is_case = node->operation == BRUME_OPERATION_CASE;
    values made = {.known = true, .null = is_case && node->argument_count % 2 == 0};
    for (size_t i = 0; i < node->argument_count && made.known; i++) {
        if (is_case && i % 2 == 0 && i + 1 < node->argument_count)
            continue; /* a condition */
        values each = values_of(in, node->arguments[i]);
        if (!is_case && i + 1 < node->argument_count)
            each.null = false; /* COALESCE goes on at NULL */
        made = either(in, &made, &each);
    }
    return made;
}

/* A column of a subquery is its expression. */
static values values_of_column(search *in, const brume_expression *node)
{
    const brume_relation *relation = node->relation;
    values made = {0};
    if (relation->kind == BRUME_RELATION_SELECT)
        made = values_of(in, relation->columns[node->column].expression);
    else if (relation->kind == BRUME_RELATION_GROUP && node->column < relation->key_count)
        made = values_of(in, relation->left->columns[node->column].expression);
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
    } else if (is_whole(node->type) && node->bounded && node->bounds.low >= INT64_MIN / 2 &&
               node->bounds.high <= INT64_MAX / 2) {
        made = range(in, node->type, (int64_t)node->bounds.low, (int64_t)node->bounds.high);
        made.null = node->nullable;
    }
    return made;
}

/* ---- what conditions say ---- */

/* Whole numbers and dates as they were before they were compared with wider ones. */
static const brume_expression *without_widening(const brume_expression *node)
{
    while (node->operation == BRUME_OPERATION_CAST &&
           ((is_whole(node->type) && is_whole(node->arguments[0]->type)) ||
            (node->type.kind == BRUME_TYPE_TIMESTAMP &&
             node->arguments[0]->type.kind == BRUME_TYPE_DATE)))
        node = node->arguments[0];
    return node;
}

static bool is_same(const brume_expression *key, const brume_expression *node)
{
    return brume_expression_equal(without_widening(key), without_widening(node));
}

static bool is_constant(const brume_expression *node)
{
    return node->operation == BRUME_OPERATION_LITERAL && node->text;
}

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
            if (is_same(key, of[i]) && is_constant(of[1 - i])) {
                made.known = true;
                add(in, &made, of[1 - i]->text);
            }
    if (condition->operation == BRUME_OPERATION_IN && is_same(key, of[0])) {
        made.known = true;
        for (size_t i = 1; i < condition->argument_count; i++)
            if (of[i]->text) /* equal to NULL is nothing */
                add(in, &made, of[i]->text);
    }
    return made;
}

/* ---- ranges ---- */

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
    if (!is_constant(literal))
        return false;
    *exact = true;
    if (type.kind == BRUME_TYPE_TIMESTAMP && strlen(literal->text) >= 10) {
        snprintf(day, sizeof day, "%.10s", literal->text);
        type.kind = BRUME_TYPE_DATE;
        *exact = strcmp(literal->text + 10, " 00:00:00") == 0;
        if (brume_policy_domain_value(type, day, &value, NULL) != BRUME_OK)
            return false;
    } else {
        if (is_whole(type))
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
    if (operation == BRUME_OPERATION_BETWEEN && is_same(all->of, of[0]) &&
        read_limit(of[1], &first, &exact) && read_limit(of[2], &second, &same)) {
        take_low(all, first);
        take_high(all, second);
        return true;
    }
    if (condition->argument_count != 2)
        return true;
    bool turned = is_same(all->of, of[1]) && read_limit(of[0], &first, &exact);
    if (!turned && !(is_same(all->of, of[0]) && read_limit(of[1], &first, &exact)))
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

static int64_t year_of(int64_t day)
{
    char text[48];
    brume_integer_text((brume_type){BRUME_TYPE_DATE, 0, 0}, day, text, sizeof text);
    return strtoll(text, NULL, 10);
}

/* The key between two close constants; EXTRACT(year FROM d) where d is. */
static values range_of(search *in, const brume_expression *key)
{
    const brume_expression *plain = without_widening(key);
    bool year = plain->operation == BRUME_OPERATION_EXTRACT && plain->text &&
                strcmp(plain->text, "year") == 0;
    limits all = {.of = year ? without_widening(plain->arguments[0]) : plain};
    values made = {0};
    if (year ? !is_whole(plain->type)
             : !is_whole(plain->type) && plain->type.kind != BRUME_TYPE_DATE)
        return made;
    brume_query_conditions(in->query, take_limit, &all);
    const int64_t far = INT64_C(1) << 62;
    if (!all.has_low || !all.has_high || all.low < -far || all.high > far || all.low > all.high)
        return made;
    if (year)
        return range(in, key->type, year_of(all.low), year_of(all.high));
    return range(in, key->type, all.low, all.high);
}

/* ---- conditions of a query ---- */

static bool visit_conjuncts(const brume_expression *condition, brume_condition_visitor visit,
                            void *context)
{
    if (!condition)
        return true;
    if (condition->operation != BRUME_OPERATION_AND)
        return visit(context, condition);
    for (size_t i = 0; i < condition->argument_count; i++)
        if (!visit_conjuncts(condition->arguments[i], visit, context))
            return false;
    return true;
}

static bool visit_joins(const brume_relation *relation, brume_condition_visitor visit,
                        void *context)
{
    if (relation->kind != BRUME_RELATION_JOIN)
        return true;
    /* Of an outer join only the preserved side's own conditions hold for every row. */
    bool inner = relation->join == BRUME_JOIN_INNER;
    if (inner && !visit_conjuncts(relation->condition, visit, context))
        return false;
    if (relation->join != BRUME_JOIN_RIGHT && relation->join != BRUME_JOIN_FULL &&
        !visit_joins(relation->left, visit, context))
        return false;
    return (!inner && relation->join != BRUME_JOIN_RIGHT) ||
           visit_joins(relation->right, visit, context);
}

bool brume_query_conditions(const brume_query *query, brume_condition_visitor visit, void *context)
{
    return visit_conjuncts(query->where, visit, context) &&
           visit_joins(query->from, visit, context);
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

static values declared_values(search *in, const brume_key *key)
{
    values made = {0};
    if (!key->is_column)
        return made;
    const brume_policy_column *column = &in->tables[key->table].policy->columns[key->column];
    made.known = column->domain_count > 0;
    made.texts = (const char **)column->domain;
    made.count = column->domain_count;
    return made;
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
    search in = {.arena = query->arena, .query = query, .tables = tables};
    *out = (brume_key_domain){0};
    if (!is_listable(key->expression->type))
        return BRUME_OK;
    values base = declared_values(&in, key);
    if (!base.known)
        base = read_values(&in, key);
    if (!base.known)
        base = values_of(&in, key->expression);
    narrowing conditions = {.in = &in, .key = key->expression};
    brume_query_conditions(query, narrow_by, &conditions);
    values close = range_of(&in, key->expression);
    values said = both(&in, &conditions.found, &close), all = both(&in, &base, &said);
    if (said.known)
        all.null = false;
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
