/* What a condition may be, evaluated on a piece of the window column. */
#include "query/plan/window_truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/expression/build.h"
#include "query/expression/literal.h"

/* What is known of a value. Conditions: low and high are 0 or 1. Dates are days, timestamps
 * microseconds, numbers in units of 10^-scale; a double that is a whole number is one. */
typedef struct known {
    bool null; /* it may be NULL, */
    bool some; /* and it may be something else: */
    bool any;  /* of which nothing is known, */
    bool wide; /* but more would be on a shorter piece of time */
    brume_wide low, high;
    bool is_text, other;     /* a text: `text`, or none of the values that have windows */
    const char *text;        /* NULL: in `made` */
    char made[32], last[32]; /* `last`, if not empty: up to this text, by bytes */
} known;

typedef struct truth {
    const brume_truth_column *of;
    const brume_relation *missing;
    known value; /* of the window column */
} truth;

enum { MOST_PIECES = 65536 };

static const known nothing = {.null = true};
static const known anything = {.null = true, .some = true, .any = true};

static known between(brume_wide low, brume_wide high)
{
    return (known){.some = true, .low = low, .high = high};
}

static const char *text_of(const known *value)
{
    return value->text ? value->text : value->made;
}

static const char *last_of(const known *value)
{
    return *value->last ? value->last : text_of(value);
}

static bool may_be_true(const known *condition)
{
    return condition->some && (condition->any || condition->high == 1);
}

static bool may_be_false(const known *condition)
{
    return condition->some && (condition->any || condition->low == 0);
}

static known truth_of(bool yes, bool no, bool unknown, bool wide)
{
    known made = {.null = unknown, .some = yes || no, .low = !no, .high = yes};
    made.wide = wide && yes + no + unknown > 1;
    return made;
}

/* Something of both: what either may be. */
static known either(const known *a, const known *b)
{
    known made = a->some ? *a : *b;
    made.null = a->null || b->null;
    made.wide = a->wide || b->wide;
    if (!a->some || !b->some)
        return made;
    if (a->is_text || b->is_text) {
        bool same = a->is_text && b->is_text && !a->any && !b->any && !a->other && !b->other &&
                    strcmp(text_of(a), text_of(b)) == 0 && strcmp(last_of(a), last_of(b)) == 0;
        made.any = !same;
        made.other = false;
        return made;
    }
    made.any = a->any || b->any;
    made.low = a->low < b->low ? a->low : b->low;
    made.high = a->high > b->high ? a->high : b->high;
    return made;
}

/* ---- leaves ---- */

static brume_wide floor_divide(brume_wide a, brume_wide b)
{
    return a / b - (a % b < 0);
}

static known literal(brume_type type, const char *text)
{
    brume_wide value, scaled;
    int scale;
    bool boolean;
    if (!text)
        return nothing;
    switch (type.kind) {
    case BRUME_TYPE_DATE:
        return between(brume_literal_days(text), brume_literal_days(text));
    case BRUME_TYPE_TIMESTAMP:
        return between(brume_literal_microseconds(text), brume_literal_microseconds(text));
    case BRUME_TYPE_TEXT:
        return (known){.some = true, .is_text = true, .text = text};
    case BRUME_TYPE_BOOLEAN:
        return brume_literal_boolean(text, &boolean) ? between(boolean, boolean) : anything;
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_BIGINT:
    case BRUME_TYPE_DECIMAL:
    case BRUME_TYPE_DOUBLE: /* a whole number, or nothing is known of it */
        if (!brume_wide_parse(text, &value, &scale) || scale > type.scale ||
            !brume_wide_shift(value, type.scale - scale, &scaled))
            return anything;
        return between(scaled, scaled);
    default:
        return anything;
    }
}

static bool holds(const brume_relation *relation, const brume_relation *part)
{
    return relation &&
           (relation == part || holds(relation->left, part) || holds(relation->right, part));
}

static known evaluate(const truth *t, const brume_expression *node);

static known column(const truth *t, const brume_expression *node)
{
    const brume_relation *relation = node->relation;
    if (t->missing && holds(t->missing, relation))
        return nothing;
    if (!t->of)
        return anything;
    if (relation == t->of->table)
        return node->column == t->of->column ? t->value : anything;
    if (!holds(relation, t->of->table))
        return anything;
    if (relation->kind == BRUME_RELATION_SELECT)
        return evaluate(t, relation->columns[node->column].expression);
    if (relation->kind == BRUME_RELATION_GROUP && node->column < relation->key_count)
        return evaluate(t, relation->left->columns[node->column].reference);
    if (relation->kind == BRUME_RELATION_UNION) {
        const brume_relation *side = holds(relation->left, t->of->table) ? relation->left
                                                                         : relation->right;
        return evaluate(t, side->columns[node->column].reference);
    }
    return anything;
}

/* ---- time ---- */

static const brume_window_grid days_grid = {.length = BRUME_WINDOW_DAY};

static const brume_window_grid *grid_named(const char *name)
{
    static const struct {
        const char *name;
        brume_window_grid grid;
    } grids[] = {
        {"hour", {.length = BRUME_WINDOW_HOUR}},       {"day", {.length = BRUME_WINDOW_DAY}},
        {"week", {.length = BRUME_WINDOW_WEEK}},       {"month", {.length = BRUME_WINDOW_MONTH}},
        {"quarter", {.length = BRUME_WINDOW_QUARTER}}, {"year", {.length = BRUME_WINDOW_YEAR}}};
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        if (strcmp(grids[i].name, name) == 0)
            return &grids[i].grid;
    return NULL;
}

static int64_t number(const char *grid, int64_t instant)
{
    return brume_window_of_instant(grid_named(grid), instant);
}

static int64_t day_of(int64_t instant)
{
    return (int64_t)floor_divide(instant, BRUME_DAY);
}

static bool in_calendar(brume_wide low, brume_wide high)
{
    brume_bounds whole = brume_type_bounds((brume_type){.kind = BRUME_TYPE_TIMESTAMP});
    return low >= whole.low && high <= whole.high;
}

/* The part of `value` that is within the calendar; the rest is NULL. */
static known cut_to_calendar(known value, brume_type_kind kind)
{
    brume_bounds whole = brume_type_bounds((brume_type){.kind = kind});
    if (value.some && !value.any && (value.low < whole.low || value.high > whole.high)) {
        value.null = true;
        value.some = value.low <= whole.high && value.high >= whole.low;
        value.low = value.low < whole.low ? whole.low : value.low;
        value.high = value.high > whole.high ? whole.high : value.high;
    }
    return value;
}

/* The Thursday of an instant's week, which says in which year the week is. */
static int64_t thursday(int64_t instant)
{
    return (number("week", instant) * 7) * BRUME_DAY;
}

/* What EXTRACT gives, in units of the scale that it has; and *period: a number that is the same for
 * two instants only if the field does not fall between them. */
static brume_wide field_of(const char *field, int64_t instant, int64_t *period)
{
    int64_t day = day_of(instant), clock = instant - day * BRUME_DAY;
    *period = 0;
    if (strcmp(field, "year") == 0)
        return number("year", instant) + 1970;
    if (strcmp(field, "isoyear") == 0)
        return number("year", thursday(instant)) + 1970;
    if (strcmp(field, "epoch") == 0)
        return instant;
    if (strcmp(field, "month") == 0 || strcmp(field, "quarter") == 0) {
        int64_t size = *field == 'm' ? 12 : 4, all = number(field, instant);
        *period = (int64_t)floor_divide(all, size);
        return all - *period * size + 1;
    }
    if (strcmp(field, "day") == 0) {
        *period = number("month", instant);
        return day - brume_window_first_day(grid_named("month"), *period) + 1;
    }
    if (strcmp(field, "doy") == 0) {
        *period = number("year", instant);
        return day - brume_window_first_day(grid_named("year"), *period) + 1;
    }
    if (strcmp(field, "week") == 0) {
        *period = number("year", thursday(instant));
        int64_t first = brume_window_first_day(grid_named("year"), *period);
        return (day_of(thursday(instant)) - first) / 7 + 1;
    }
    if (strcmp(field, "isodow") == 0) {
        *period = number("week", instant);
        return day - brume_window_first_day(grid_named("week"), *period) + 1;
    }
    if (strcmp(field, "dow") == 0) { /* from Sunday, whose week ends on Saturday */
        *period = (int64_t)floor_divide(day + 4, 7);
        return day + 4 - *period * 7;
    }
    if (strcmp(field, "hour") == 0) {
        *period = day;
        return clock / 3600000000;
    }
    if (strcmp(field, "minute") == 0) {
        *period = (int64_t)floor_divide(instant, 3600000000);
        return clock / 60000000 % 60;
    }
    *period = (int64_t)floor_divide(instant, 60000000); /* second, in microseconds */
    return clock % 60000000;
}

static known extract(const brume_expression *node, known a)
{
    if (!a.some || a.any || !in_calendar(a.low, a.high)) {
        a.any = a.any || a.some;
        return a;
    }
    int64_t first, last;
    brume_wide low = field_of(node->text, (int64_t)a.low, &first),
               high = field_of(node->text, (int64_t)a.high, &last);
    bool falls = first != last;
    a.low = falls ? node->bounds.low : low;
    a.high = falls ? node->bounds.high : high;
    a.wide = a.wide && a.low != a.high;
    return a;
}

static int64_t truncate_time(const char *unit, int64_t instant)
{
    int64_t length = strcmp(unit, "second") == 0   ? 1000000
                     : strcmp(unit, "minute") == 0 ? 60000000
                                                   : 0;
    if (length)
        return (int64_t)floor_divide(instant, length) * length;
    return brume_window_first_instant(grid_named(unit), number(unit, instant));
}

static known date_trunc(const brume_expression *node, known a)
{
    if (!a.some || a.any || !in_calendar(a.low, a.high)) {
        a.any = a.any || a.some;
        return a;
    }
    a.low = truncate_time(node->text, (int64_t)a.low);
    a.high = truncate_time(node->text, (int64_t)a.high);
    return cut_to_calendar(a, BRUME_TYPE_TIMESTAMP);
}

/* Months first, where a day that the month does not have becomes its last one; then days; then the
 * clock: it never falls where its argument rises. */
static brume_wide move(int64_t instant, const int64_t by[3])
{
    const brume_window_grid *months = grid_named("month");
    int64_t month = number("month", instant), day = day_of(instant);
    int64_t of_month = day - brume_window_first_day(months, month);
    int64_t first = brume_window_first_day(months, month + by[0]);
    int64_t length = brume_window_first_day(months, month + by[0] + 1) - first;
    brume_wide moved = first + (of_month < length ? of_month : length - 1);
    return (moved + by[1]) * BRUME_DAY + (instant - day * BRUME_DAY) + by[2];
}

static known add_interval(const brume_expression *node, known a)
{
    bool small = llabs(node->number[0]) < 120000;
    if (!a.some || a.any || !small || !in_calendar(a.low, a.high)) {
        a.any = a.any || a.some;
        a.null = true;
        return a;
    }
    a.low = move((int64_t)a.low, node->number);
    a.high = move((int64_t)a.high, node->number);
    return cut_to_calendar(a, BRUME_TYPE_TIMESTAMP);
}

/* The text of an instant's date; false: it does not fit. */
static bool write_format(const char *format, int64_t instant, char out[32])
{
    char date[BRUME_WINDOW_LABEL];
    size_t used = 0;
    brume_window_label(&days_grid, number("day", instant), date);
    for (; *format && used + 5 < 32; format++) {
        if (*format != '%') {
            out[used++] = *format;
            continue;
        }
        format++;
        size_t length = *format == 'Y' ? 4 : 2;
        memcpy(out + used, date + (*format == 'Y' ? 0 : *format == 'm' ? 5 : 8), length);
        used += length;
    }
    out[used] = 0;
    return !*format;
}

/* Do texts of this format rise with time: year, month, day, as far as it goes? */
static bool rises(const char *format)
{
    const char *order = "Ymd";
    for (const char *at = format; (at = strchr(at, '%')); at += 2)
        if (*order == 0 || at[1] != *order++)
            return false;
    return true;
}

/* The texts of a time, from the first to the last of the piece; of a format that does not rise,
 * where the piece is one day. */
static known format_time(const brume_expression *node, known a)
{
    bool clock = strpbrk(node->text, "HMS");
    bool exact =
        a.some && !a.any && !clock && in_calendar(a.low, a.high) &&
        (rises(node->text) || number("day", (int64_t)a.low) == number("day", (int64_t)a.high));
    known made = {.null = a.null, .some = a.some, .any = true, .is_text = true};
    made.wide = a.wide && !clock;
    if (exact && write_format(node->text, (int64_t)a.low, made.made) &&
        write_format(node->text, (int64_t)a.high, made.last))
        made.any = false;
    return made;
}

/* ---- numbers ---- */

/* Would more be known of what is made of both on a shorter piece? */
static bool both_wide(const known *a, const known *b)
{
    return (a->wide || b->wide) && (!a->any || a->wide) && (!b->any || b->wide);
}

static known arithmetic(const brume_expression *node, known a, known b)
{
    brume_operation operation = node->operation;
    brume_type type = node->type, x = node->arguments[0]->type, y = node->arguments[1]->type;
    known made = {.null = a.null || b.null, .some = a.some && b.some};
    bool additive = operation == BRUME_OPERATION_ADD || operation == BRUME_OPERATION_SUBTRACT;
    bool whole = type.kind == BRUME_TYPE_INTEGER || type.kind == BRUME_TYPE_BIGINT;
    bool scaled = type.kind == BRUME_TYPE_DECIMAL && x.scale == type.scale && y.scale == type.scale;
    bool points = a.low == a.high && b.low == b.high && whole && b.low != 0;
    made.any = a.any || b.any || !(whole || (scaled && additive));
    made.wide = both_wide(&a, &b);
    if (!made.some || made.any) {
        made.null = true;
        return made;
    }
    if (operation == BRUME_OPERATION_ADD) {
        made.low = a.low + b.low;
        made.high = a.high + b.high;
    } else if (operation == BRUME_OPERATION_SUBTRACT) {
        made.low = a.low - b.high;
        made.high = a.high - b.low;
    } else if (points) { /* towards zero, as SQL divides whole numbers */
        made.low = made.high = operation == BRUME_OPERATION_MULTIPLY ? a.low * b.low
                               : operation == BRUME_OPERATION_DIVIDE ? a.low / b.low
                                                                     : a.low % b.low;
    } else {
        made.any = made.null = true;
        return made;
    }
    brume_bounds all = brume_type_bounds(type);
    if (made.low < all.low || made.high > all.high) /* beyond its type it is NULL */
        made.any = made.null = true;
    return made;
}

/* A date and so many days. */
static known add_days(const brume_expression *node, known a, known b)
{
    known made = {.null = a.null || b.null, .some = a.some && b.some, .wide = both_wide(&a, &b)};
    bool minus = node->operation == BRUME_OPERATION_SUBTRACT_DAYS;
    made.any = a.any || b.any;
    if (!made.some || made.any) {
        made.null = true;
        return made;
    }
    made.low = a.low + (minus ? -b.high : b.low);
    made.high = a.high + (minus ? -b.low : b.high);
    return cut_to_calendar(made, BRUME_TYPE_DATE);
}

static known cast(const brume_expression *node, known a)
{
    brume_type from = node->arguments[0]->type, to = node->type;
    bool exact = a.some && !a.any;
    bool numbers = brume_type_is_number(from) && brume_type_is_number(to);
    if (from.kind == BRUME_TYPE_DATE && to.kind == BRUME_TYPE_TIMESTAMP) {
        a.low *= BRUME_DAY;
        a.high *= BRUME_DAY;
    } else if (from.kind == BRUME_TYPE_TIMESTAMP && to.kind == BRUME_TYPE_DATE) {
        a.low = exact ? floor_divide(a.low, BRUME_DAY) : 0;
        a.high = exact ? floor_divide(a.high, BRUME_DAY) : 0;
        a.wide = a.wide && a.low != a.high;
    } else if (from.kind == BRUME_TYPE_DATE && to.kind == BRUME_TYPE_TEXT) {
        known made = {.null = a.null, .some = a.some, .any = !exact, .wide = a.wide};
        char date[BRUME_WINDOW_LABEL];
        made.is_text = true;
        if (exact) {
            memcpy(made.made, brume_window_label(&days_grid, (int64_t)a.low, date), 11);
            memcpy(made.last, brume_window_label(&days_grid, (int64_t)a.high, date), 11);
        }
        return made;
    } else if (numbers &&
               (to.kind == BRUME_TYPE_DOUBLE ? from.scale == 0 : to.scale == from.scale) &&
               from.kind != BRUME_TYPE_DOUBLE) {
        brume_bounds whole = brume_type_bounds(to);
        bool beyond = to.kind == BRUME_TYPE_DOUBLE
                          ? a.low < -(INT64_C(1) << 53) || a.high > INT64_C(1) << 53
                          : a.low < whole.low || a.high > whole.high;
        if (exact && beyond)
            a.any = a.null = true;
    } else if (!brume_type_equal(from, to)) {
        a = anything;
    }
    return a;
}

/* ---- conditions ---- */

static bool is_declared(const truth *t, const char *text)
{
    const brume_window_grid *grid = t->of ? t->of->grid : NULL;
    return grid && grid->length == BRUME_WINDOW_VALUES &&
           (size_t)brume_window_of_value(grid, text) < grid->value_count;
}

/* a - b as a sign: which of below, equal and above may be. */
static void compare(const truth *t, const known *a, const known *b, bool *below, bool *equal,
                    bool *above)
{
    *below = *equal = *above = true;
    if (a->any || b->any)
        return;
    if (a->is_text != b->is_text)
        return;
    if (a->is_text) {
        if (a->other || b->other) {
            *equal = a->other && b->other ? true : !is_declared(t, text_of(a->other ? b : a));
            return;
        }
        *below = strcmp(text_of(a), last_of(b)) < 0;
        *above = strcmp(last_of(a), text_of(b)) > 0;
        *equal = strcmp(text_of(a), last_of(b)) <= 0 && strcmp(text_of(b), last_of(a)) <= 0;
        return;
    }
    *below = a->low < b->high;
    *equal = a->low <= b->high && b->low <= a->high;
    *above = a->high > b->low;
}

static known comparison(const truth *t, brume_operation operation, known a, known b)
{
    bool below, equal, above, yes, no;
    if (!a.some || !b.some)
        return truth_of(false, false, a.null || b.null, false);
    compare(t, &a, &b, &below, &equal, &above);
    switch (operation) {
    case BRUME_OPERATION_EQUAL:
        yes = equal;
        no = below || above;
        break;
    case BRUME_OPERATION_NOT_EQUAL:
        yes = below || above;
        no = equal;
        break;
    case BRUME_OPERATION_LESS:
        yes = below;
        no = equal || above;
        break;
    case BRUME_OPERATION_LESS_EQUAL:
        yes = below || equal;
        no = above;
        break;
    case BRUME_OPERATION_GREATER:
        yes = above;
        no = equal || below;
        break;
    default:
        yes = above || equal;
        no = below;
    }
    /* two points are compared with certainty, so a shorter piece says more unless something else is
     * unknown */
    return truth_of(yes, no, a.null || b.null, both_wide(&a, &b));
}

static known distinct(const truth *t, bool negated, known a, known b)
{
    known differ = comparison(t, BRUME_OPERATION_NOT_EQUAL, a, b);
    bool yes = may_be_true(&differ) || (a.null && b.some) || (b.null && a.some);
    bool no = may_be_false(&differ) || (a.null && b.null);
    return truth_of(negated ? no : yes, negated ? yes : no, false, a.wide || b.wide);
}

static known negate(known a)
{
    return truth_of(may_be_false(&a), may_be_true(&a), a.null, a.wide);
}

static known both(known a, known b)
{
    bool at = may_be_true(&a), bt = may_be_true(&b);
    return truth_of(at && bt, may_be_false(&a) || may_be_false(&b),
                    (a.null && (bt || b.null)) || (at && b.null), a.wide || b.wide);
}

static known in_list(const truth *t, const brume_expression *node)
{
    known value = evaluate(t, node->arguments[0]), none = truth_of(true, false, false, false);
    for (size_t i = 1; i < node->argument_count; i++) {
        known equal = comparison(t, BRUME_OPERATION_EQUAL, value, evaluate(t, node->arguments[i]));
        none = both(none, negate(equal));
    }
    return node->operation == BRUME_OPERATION_IN ? negate(none) : none;
}

/* The first branch whose condition is true, or ELSE. */
static known branches(const truth *t, const brume_expression *node)
{
    known made = {0};
    size_t count = node->argument_count;
    for (size_t i = 0; i + 1 < count; i += 2) {
        known condition = evaluate(t, node->arguments[i]);
        if (may_be_true(&condition)) {
            known value = evaluate(t, node->arguments[i + 1]);
            made = either(&made, &value);
            made.wide = made.wide || condition.wide;
        }
        if (!may_be_false(&condition) && !condition.null)
            return made;
        made.wide = made.wide || condition.wide;
    }
    known rest = count % 2 ? evaluate(t, node->arguments[count - 1]) : nothing;
    return either(&made, &rest);
}

static known coalesce(const truth *t, const brume_expression *node)
{
    known made = {0};
    for (size_t i = 0; i < node->argument_count; i++) {
        known value = evaluate(t, node->arguments[i]);
        bool goes_on = value.null;
        value.null = value.null && i + 1 == node->argument_count;
        made = either(&made, &value);
        if (!goes_on)
            return made;
    }
    return made;
}

static known null_if(const truth *t, const brume_expression *node)
{
    known a = evaluate(t, node->arguments[0]);
    known equal = comparison(t, BRUME_OPERATION_EQUAL, a, evaluate(t, node->arguments[1]));
    a.null = a.null || may_be_true(&equal);
    a.some = a.some && (may_be_false(&equal) || equal.null);
    a.wide = a.wide || equal.wide;
    return a;
}

static known condition(const truth *t, const brume_expression *node)
{
    known a = evaluate(t, node->arguments[0]);
    bool yes = may_be_true(&a), no = may_be_false(&a);
    switch (node->operation) {
    case BRUME_OPERATION_NOT:
        return negate(a);
    case BRUME_OPERATION_IS_NULL:
        return truth_of(a.null, a.some, false, a.wide);
    case BRUME_OPERATION_IS_NOT_NULL:
        return truth_of(a.some, a.null, false, a.wide);
    case BRUME_OPERATION_IS_TRUE:
        return truth_of(yes, no || a.null, false, a.wide);
    case BRUME_OPERATION_IS_NOT_TRUE:
        return truth_of(no || a.null, yes, false, a.wide);
    case BRUME_OPERATION_IS_FALSE:
        return truth_of(no, yes || a.null, false, a.wide);
    case BRUME_OPERATION_IS_NOT_FALSE:
        return truth_of(yes || a.null, no, false, a.wide);
    case BRUME_OPERATION_AND:
        return both(a, evaluate(t, node->arguments[1]));
    case BRUME_OPERATION_OR:
        return negate(both(negate(a), negate(evaluate(t, node->arguments[1]))));
    case BRUME_OPERATION_DISTINCT:
    case BRUME_OPERATION_NOT_DISTINCT:
        return distinct(t, node->operation == BRUME_OPERATION_NOT_DISTINCT, a,
                        evaluate(t, node->arguments[1]));
    case BRUME_OPERATION_BETWEEN:
    case BRUME_OPERATION_NOT_BETWEEN: {
        known low =
            comparison(t, BRUME_OPERATION_GREATER_EQUAL, a, evaluate(t, node->arguments[1]));
        known in = both(
            low, comparison(t, BRUME_OPERATION_LESS_EQUAL, a, evaluate(t, node->arguments[2])));
        return node->operation == BRUME_OPERATION_BETWEEN ? in : negate(in);
    }
    default:
        return comparison(t, node->operation, a, evaluate(t, node->arguments[1]));
    }
}

static known evaluate(const truth *t, const brume_expression *node)
{
    brume_operation operation = node->operation;
    switch (operation) {
    case BRUME_OPERATION_COLUMN:
        return column(t, node);
    case BRUME_OPERATION_LITERAL:
        return literal(node->type, node->text);
    case BRUME_OPERATION_CAST:
        return cast(node, evaluate(t, node->arguments[0]));
    case BRUME_OPERATION_EXTRACT:
        return extract(node, evaluate(t, node->arguments[0]));
    case BRUME_OPERATION_DATE_TRUNC:
        return date_trunc(node, evaluate(t, node->arguments[0]));
    case BRUME_OPERATION_ADD_INTERVAL:
        return add_interval(node, evaluate(t, node->arguments[0]));
    case BRUME_OPERATION_FORMAT_TIME:
        return format_time(node, evaluate(t, node->arguments[0]));
    case BRUME_OPERATION_ADD:
    case BRUME_OPERATION_SUBTRACT:
    case BRUME_OPERATION_MULTIPLY:
    case BRUME_OPERATION_DIVIDE:
    case BRUME_OPERATION_REMAINDER:
        return arithmetic(node, evaluate(t, node->arguments[0]), evaluate(t, node->arguments[1]));
    case BRUME_OPERATION_ADD_DAYS:
    case BRUME_OPERATION_SUBTRACT_DAYS:
        return add_days(node, evaluate(t, node->arguments[0]), evaluate(t, node->arguments[1]));
    case BRUME_OPERATION_DAYS_BETWEEN: {
        known a = evaluate(t, node->arguments[0]), b = evaluate(t, node->arguments[1]);
        known made = between(a.low - b.high, a.high - b.low);
        made.null = a.null || b.null;
        made.some = a.some && b.some;
        made.any = a.any || b.any;
        made.wide = both_wide(&a, &b);
        return made;
    }
    case BRUME_OPERATION_CASE:
        return branches(t, node);
    case BRUME_OPERATION_COALESCE:
        return coalesce(t, node);
    case BRUME_OPERATION_NULLIF:
        return null_if(t, node);
    case BRUME_OPERATION_IN:
    case BRUME_OPERATION_NOT_IN:
        return in_list(t, node);
    case BRUME_OPERATION_EQUAL:
    case BRUME_OPERATION_NOT_EQUAL:
    case BRUME_OPERATION_LESS:
    case BRUME_OPERATION_LESS_EQUAL:
    case BRUME_OPERATION_GREATER:
    case BRUME_OPERATION_GREATER_EQUAL:
    case BRUME_OPERATION_AND:
    case BRUME_OPERATION_OR:
    case BRUME_OPERATION_NOT:
    case BRUME_OPERATION_IS_NULL:
    case BRUME_OPERATION_IS_NOT_NULL:
    case BRUME_OPERATION_IS_TRUE:
    case BRUME_OPERATION_IS_NOT_TRUE:
    case BRUME_OPERATION_IS_FALSE:
    case BRUME_OPERATION_IS_NOT_FALSE:
    case BRUME_OPERATION_DISTINCT:
    case BRUME_OPERATION_NOT_DISTINCT:
    case BRUME_OPERATION_BETWEEN:
    case BRUME_OPERATION_NOT_BETWEEN:
        return condition(t, node);
    default: /* a function that is not followed: anything, however short the piece */
        return anything;
    }
}

/* All conditions at once. */
static known evaluate_all(const truth *t, const brume_truth_list *conditions)
{
    known all = truth_of(true, false, false, false);
    for (; conditions; conditions = conditions->next)
        all = both(all, evaluate(t, conditions->condition));
    return all;
}

bool brume_truth_without(const brume_relation *missing, const brume_truth_list *conditions)
{
    truth t = {.missing = missing};
    known all = evaluate_all(&t, conditions);
    return may_be_true(&all);
}

const brume_expression *brume_truth_plain(const brume_expression *node)
{
    while (node->operation == BRUME_OPERATION_COLUMN &&
           node->relation->kind != BRUME_RELATION_TABLE) {
        const brume_relation *relation = node->relation;
        if (relation->kind == BRUME_RELATION_SELECT)
            node = relation->columns[node->column].expression;
        else if (relation->kind == BRUME_RELATION_GROUP && node->column < relation->key_count)
            node = relation->left->columns[node->column].reference;
        else
            return NULL;
    }
    return node->operation == BRUME_OPERATION_COLUMN ? node : NULL;
}

/* ---- the calendar ---- */

typedef struct pieces {
    brume_window_range *list;
    size_t count, room;
} pieces;

static brume_status add_piece(pieces *to, brume_window_range piece, brume_error *error)
{
    if (to->count == to->room) {
        size_t room = to->room ? 2 * to->room : 64;
        brume_window_range *grown = realloc(to->list, room * sizeof *grown);
        if (!grown)
            return brume_no_memory(error, "windows");
        to->list = grown;
        to->room = room;
    }
    to->list[to->count++] = piece;
    return BRUME_OK;
}

/* Leaves are days, or hours where windows are: their own numbers are those of this grid. */
static brume_window_grid leaves_of(const brume_window_grid *grid)
{
    return (brume_window_grid){.length = grid->length == BRUME_WINDOW_HOUR ? BRUME_WINDOW_HOUR
                                                                           : BRUME_WINDOW_DAY,
                               .offset = grid->offset};
}

static known piece_value(const brume_window_grid *leaves, bool date, brume_window_range piece)
{
    known value = between(piece.first, piece.last);
    if (!date) {
        value = between(brume_window_first_instant(leaves, piece.first),
                        (brume_wide)brume_window_first_instant(leaves, piece.last + 1) - 1);
        value = cut_to_calendar(value, BRUME_TYPE_TIMESTAMP);
        value.null = false; /* outside of the calendar it is NULL, and that is another piece */
    }
    value.wide = true; /* of a day of timestamps a condition may want an hour: then it stays */
    return value;
}

/* Conditions that all must hold, and a bit for each of the first 64 that a piece has yet to look
 * at: the others are what they are on the whole piece, and so on every part of it. */
typedef struct conjuncts {
    const brume_expression **list;
    size_t count, room;
} conjuncts;

static brume_status add_conjuncts(conjuncts *to, const brume_expression *node, brume_error *error)
{
    if (node->operation == BRUME_OPERATION_AND) {
        BRUME_TRY(add_conjuncts(to, node->arguments[0], error));
        return add_conjuncts(to, node->arguments[1], error);
    }
    if (to->count == to->room) {
        size_t room = to->room ? 2 * to->room : 16;
        const brume_expression **grown = realloc(to->list, room * sizeof *grown);
        if (!grown)
            return brume_no_memory(error, "windows");
        to->list = grown;
        to->room = room;
    }
    to->list[to->count++] = node;
    return BRUME_OK;
}

/* May all be true on the piece of t? *open: those of which more would be known on a part of it;
 * *splits: there are some. What is not open and may be true is so on all parts, for it is a bound
 * of the whole piece that no shorter one can better. */
static bool may_all_be_true(const truth *t, const conjuncts *all, uint64_t *open, bool *splits)
{
    *splits = false;
    for (size_t i = 0; i < all->count; i++) {
        uint64_t bit = i < 64 ? UINT64_C(1) << i : 0;
        if (bit && !(*open & bit))
            continue;
        known one = evaluate(t, all->list[i]);
        if (!may_be_true(&one))
            return false;
        *splits = *splits || one.wide;
        if (!one.wide)
            *open &= ~bit;
    }
    return true;
}

typedef struct open_piece {
    brume_window_range range;
    uint64_t open;
} open_piece;

/* Halve the calendar, level by level, until pieces are settled. Both lists have room for all pieces
 * of a level. */
static brume_status halve(truth *t, const conjuncts *all, const brume_window_grid *leaves,
                          bool date, open_piece *now, open_piece *next, pieces *found,
                          brume_error *error)
{
    size_t count = 1;
    now[0] = (open_piece){{brume_window_least(leaves), brume_window_greatest(leaves)}, UINT64_MAX};
    while (count > 0) {
        size_t made = 0;
        for (size_t i = 0; i < count; i++) {
            open_piece piece = now[i];
            bool splits;
            t->value = piece_value(leaves, date, piece.range);
            if (!may_all_be_true(t, all, &piece.open, &splits))
                continue;
            int64_t first = piece.range.first, last = piece.range.last;
            int64_t middle = first + (last - first) / 2;
            if (!splits || first == last || count > MOST_PIECES / 2) {
                BRUME_TRY(add_piece(found, piece.range, error));
                continue;
            }
            next[made++] = (open_piece){{first, middle}, piece.open};
            next[made++] = (open_piece){{middle + 1, last}, piece.open};
        }
        open_piece *done = now;
        now = next;
        next = done;
        count = made;
    }
    return BRUME_OK;
}

static brume_status sort_out(const truth *at, const brume_truth_list *conditions,
                             const brume_window_grid *leaves, bool date, pieces *found,
                             brume_error *error)
{
    truth t = *at;
    conjuncts all = {0};
    brume_status status = BRUME_OK;
    open_piece *lists = malloc(2 * (MOST_PIECES + 2) * sizeof *lists);
    if (!lists)
        status = brume_no_memory(error, "windows");
    for (; status == BRUME_OK && conditions; conditions = conditions->next)
        status = add_conjuncts(&all, conditions->condition, error);
    if (status == BRUME_OK)
        status = halve(&t, &all, leaves, date, lists, lists + MOST_PIECES + 2, found, error);
    free(lists);
    free(all.list);
    return status;
}

static int by_first(const void *a, const void *b)
{
    const brume_window_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static int64_t window_of_leaf(const brume_window_grid *grid, int64_t leaf)
{
    return grid->length == BRUME_WINDOW_HOUR ? leaf : brume_window_of_day(grid, leaf);
}

/* Days as windows, in order and joined. */
static void join_pieces(const brume_window_grid *grid, pieces *found, brume_window_set *out)
{
    size_t count = 0;
    if (found->count)
        qsort(found->list, found->count, sizeof *found->list, by_first);
    for (size_t i = 0; i < found->count; i++) {
        brume_window_range range = {window_of_leaf(grid, found->list[i].first),
                                    window_of_leaf(grid, found->list[i].last)};
        if (count > 0 && found->list[count - 1].last >= range.first - 1)
            found->list[count - 1].last = range.last;
        else
            found->list[count++] = range;
    }
    out->ranges = found->list;
    out->count = count;
    found->list = NULL;
}

/* Windows of values: each by itself, and the one of all others. */
static brume_status sort_out_values(truth *t, const brume_truth_list *conditions, brume_type type,
                                    brume_window_set *out, brume_error *error)
{
    const brume_window_grid *grid = t->of->grid;
    for (size_t i = 0; i <= grid->value_count; i++) {
        known other = {.some = true, .any = type.kind != BRUME_TYPE_TEXT};
        other.is_text = other.other = !other.any;
        t->value = i < grid->value_count ? literal(type, grid->values[i]) : other;
        known all = evaluate_all(t, conditions);
        if (may_be_true(&all))
            BRUME_TRY(brume_window_set_add(out, (int64_t)i, (int64_t)i, error));
    }
    return BRUME_OK;
}

brume_status brume_truth_windows(const brume_truth_column *of, const brume_truth_list *conditions,
                                 brume_window_set *out, brume_error *error)
{
    brume_type type = of->table->columns[of->column].reference->type;
    truth t = {.of = of};
    brume_window_set made = {0};
    pieces found = {0};
    brume_status status;
    if (of->grid->length == BRUME_WINDOW_VALUES) {
        status = sort_out_values(&t, conditions, type, &made, error);
    } else {
        brume_window_grid leaves = leaves_of(of->grid);
        status = sort_out(&t, conditions, &leaves, type.kind == BRUME_TYPE_DATE, &found, error);
        if (status == BRUME_OK)
            join_pieces(of->grid, &found, &made);
    }
    free(found.list);
    if (status != BRUME_OK) {
        brume_window_set_free(&made);
        return status;
    }
    t.value = nothing;
    known null = evaluate_all(&t, conditions);
    made.undated = may_be_true(&null);
    if (made.count == 0) {
        free(made.ranges);
        made.ranges = NULL;
    }
    brume_window_set_free(out);
    *out = made;
    return BRUME_OK;
}
