/* Evaluation of what is shown. Reads keys and released values only. */
#include "query/sql/formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *brume_formula_word(brume_formula_kind kind)
{
    static const char *const words[] = {
        "key",    "aggregate", "literal", "+",         "-",        "*",      "/",
        "negate", "abs",       "round",   "floor",     "ceil",     "sqrt",   "ln",
        "exp",    "=",         "<>",      "<",         "<=",       ">",      ">=",
        "and",    "or",        "not",     "is null",   "coalesce", "nullif", "greatest",
        "least",  "case",      "date",    "timestamp", "window",
    };
    return words[kind];
}

const char *brume_window_word(brume_window_function function)
{
    static const char *const words[] = {"row_number", "rank", "dense_rank", "count_rows", "count",
                                        "sum",        "avg",  "min",        "max"};
    return words[function];
}

static brume_value null_value(void)
{
    return (brume_value){.kind = BRUME_VALUE_NULL};
}

static brume_value number_value(double number)
{
    if (!isfinite(number))
        return null_value();
    return (brume_value){.kind = BRUME_VALUE_NUMBER, .number = number};
}

static brume_value truth_value(bool truth)
{
    return (brume_value){.kind = BRUME_VALUE_BOOLEAN, .boolean = truth};
}

int64_t brume_value_whole(const brume_value *value)
{
    return value->text ? (int64_t)strtoll(value->text, NULL, 10) : (int64_t)value->number;
}

int brume_value_compare(const brume_value *a, const brume_value *b)
{
    if (a->kind != b->kind || a->kind == BRUME_VALUE_NULL) {
        /* NULL after everything; kinds that cannot meet in one column by their number. */
        int rank_a = a->kind == BRUME_VALUE_NULL ? 9 : (int)a->kind;
        int rank_b = b->kind == BRUME_VALUE_NULL ? 9 : (int)b->kind;
        return (rank_a > rank_b) - (rank_a < rank_b);
    }
    if (a->kind == BRUME_VALUE_NUMBER && a->text && b->text) {
        int64_t x = brume_value_whole(a), y = brume_value_whole(b);
        return (x > y) - (x < y);
    }
    if (a->kind == BRUME_VALUE_NUMBER || a->kind == BRUME_VALUE_DATE ||
        a->kind == BRUME_VALUE_TIMESTAMP)
        return (a->number > b->number) - (a->number < b->number);
    if (a->kind == BRUME_VALUE_BOOLEAN)
        return (int)a->boolean - (int)b->boolean;
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = shorter ? memcmp(a->text, b->text, shorter) : 0;
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static brume_value arithmetic(brume_formula_kind kind, const brume_value *a, const brume_value *b)
{
    if (a->kind != BRUME_VALUE_NUMBER || b->kind != BRUME_VALUE_NUMBER)
        return null_value();
    switch (kind) {
    case BRUME_FORMULA_ADD:
        return number_value(a->number + b->number);
    case BRUME_FORMULA_SUBTRACT:
        return number_value(a->number - b->number);
    case BRUME_FORMULA_MULTIPLY:
        return number_value(a->number * b->number);
    default:
        return b->number > 0 ? number_value(a->number / b->number) : null_value();
    }
}

static brume_value compare(brume_formula_kind kind, const brume_value *a, const brume_value *b)
{
    if (a->kind == BRUME_VALUE_NULL || b->kind == BRUME_VALUE_NULL || a->kind != b->kind)
        return null_value();
    int order = brume_value_compare(a, b);
    switch (kind) {
    case BRUME_FORMULA_EQUAL:
        return truth_value(order == 0);
    case BRUME_FORMULA_NOT_EQUAL:
        return truth_value(order != 0);
    case BRUME_FORMULA_LESS:
        return truth_value(order < 0);
    case BRUME_FORMULA_LESS_EQUAL:
        return truth_value(order <= 0);
    case BRUME_FORMULA_GREATER:
        return truth_value(order > 0);
    default:
        return truth_value(order >= 0);
    }
}

static brume_value function(const brume_formula *formula, const brume_value *a)
{
    if (a->kind != BRUME_VALUE_NUMBER)
        return null_value();
    double x = a->number;
    switch (formula->kind) {
    case BRUME_FORMULA_NEGATE:
        return number_value(0 - x);
    case BRUME_FORMULA_ABS:
        return number_value(fabs(x));
    case BRUME_FORMULA_FLOOR:
        return number_value(floor(x));
    case BRUME_FORMULA_CEIL:
        return number_value(ceil(x));
    case BRUME_FORMULA_SQRT:
        return x < 0 ? null_value() : number_value(sqrt(x));
    case BRUME_FORMULA_LN:
        return x <= 0 ? null_value() : number_value(log(x));
    case BRUME_FORMULA_EXP:
        return number_value(exp(x));
    default: { /* ROUND */
        double scale = pow(10, formula->digits);
        double rounded = round(x * scale) / scale;
        return isfinite(rounded) ? number_value(rounded) : *a;
    }
    }
}

/* AND and OR of three-valued logic. */
static brume_value logic(bool conjunction, const brume_formula *formula, const brume_value *keys,
                         const brume_value *aggregates)
{
    bool unknown = false;
    for (size_t i = 0; i < formula->argument_count; i++) {
        brume_value each = brume_formula_evaluate(formula->arguments[i], keys, aggregates);
        if (each.kind != BRUME_VALUE_BOOLEAN)
            unknown = true;
        else if (each.boolean != conjunction)
            return truth_value(!conjunction);
    }
    return unknown ? null_value() : truth_value(conjunction);
}

static brume_value choose(const brume_formula *formula, const brume_value *keys,
                          const brume_value *aggregates)
{
    brume_value best = null_value();
    size_t count = formula->argument_count;
    if (formula->kind == BRUME_FORMULA_CASE) {
        for (size_t i = 0; i + 1 < count; i += 2)
            if (brume_formula_is_true(formula->arguments[i], keys, aggregates))
                return brume_formula_evaluate(formula->arguments[i + 1], keys, aggregates);
        return count % 2 ? brume_formula_evaluate(formula->arguments[count - 1], keys, aggregates)
                         : best;
    }
    for (size_t i = 0; i < count; i++) {
        brume_value each = brume_formula_evaluate(formula->arguments[i], keys, aggregates);
        if (each.kind == BRUME_VALUE_NULL)
            continue;
        if (formula->kind == BRUME_FORMULA_COALESCE)
            return each;
        int order = best.kind == BRUME_VALUE_NULL ? 0 : brume_value_compare(&each, &best);
        if (best.kind == BRUME_VALUE_NULL ||
            (formula->kind == BRUME_FORMULA_GREATEST ? order > 0 : order < 0))
            best = each;
    }
    return best;
}

brume_value brume_formula_evaluate(const brume_formula *formula, const brume_value *keys,
                                   const brume_value *aggregates)
{
    brume_value a, b;
    switch (formula->kind) {
    case BRUME_FORMULA_KEY:
        return keys[formula->index];
    case BRUME_FORMULA_AGGREGATE:
    case BRUME_FORMULA_WINDOW:
        return aggregates[formula->index];
    case BRUME_FORMULA_LITERAL:
        return formula->value;
    case BRUME_FORMULA_AND:
    case BRUME_FORMULA_OR:
        return logic(formula->kind == BRUME_FORMULA_AND, formula, keys, aggregates);
    case BRUME_FORMULA_COALESCE:
    case BRUME_FORMULA_GREATEST:
    case BRUME_FORMULA_LEAST:
    case BRUME_FORMULA_CASE:
        return choose(formula, keys, aggregates);
    default:
        break;
    }
    a = brume_formula_evaluate(formula->arguments[0], keys, aggregates);
    switch (formula->kind) {
    case BRUME_FORMULA_NOT:
        return a.kind == BRUME_VALUE_BOOLEAN ? truth_value(!a.boolean) : null_value();
    case BRUME_FORMULA_IS_NULL:
        return truth_value(a.kind == BRUME_VALUE_NULL);
    case BRUME_FORMULA_DATE:
    case BRUME_FORMULA_TIMESTAMP:
        if (a.kind == BRUME_VALUE_NUMBER)
            a.kind = formula->kind == BRUME_FORMULA_DATE ? BRUME_VALUE_DATE : BRUME_VALUE_TIMESTAMP;
        return a;
    case BRUME_FORMULA_NEGATE:
    case BRUME_FORMULA_ABS:
    case BRUME_FORMULA_ROUND:
    case BRUME_FORMULA_FLOOR:
    case BRUME_FORMULA_CEIL:
    case BRUME_FORMULA_SQRT:
    case BRUME_FORMULA_LN:
    case BRUME_FORMULA_EXP:
        return function(formula, &a);
    default:
        break;
    }
    b = brume_formula_evaluate(formula->arguments[1], keys, aggregates);
    if (formula->kind == BRUME_FORMULA_NULLIF)
        return a.kind == b.kind && brume_value_compare(&a, &b) == 0 ? null_value() : a;
    if (formula->kind <= BRUME_FORMULA_DIVIDE)
        return arithmetic(formula->kind, &a, &b);
    return compare(formula->kind, &a, &b);
}

void brume_value_time(const brume_value *value, char text[BRUME_TIME_TEXT])
{
    double seconds = value->kind == BRUME_VALUE_DATE ? value->number * 86400 : value->number;
    double whole = floor(seconds), rest = rint((seconds - whole) * 1e6);
    if (rest >= 1e6) {
        whole++;
        rest = 0;
    }
    time_t at = (time_t)whole;
    struct tm parts;
    *text = 0;
    if (!gmtime_r(&at, &parts))
        return;
    int used = snprintf(text, BRUME_TIME_TEXT, "%04d-%02d-%02d", (parts.tm_year + 1900) % 10000,
                        (parts.tm_mon + 1) % 100, parts.tm_mday % 100);
    if (value->kind == BRUME_VALUE_DATE)
        return;
    used += snprintf(text + used, BRUME_TIME_TEXT - (size_t)used, " %02d:%02d:%02d",
                     parts.tm_hour % 100, parts.tm_min % 100, parts.tm_sec % 100);
    if (rest > 0)
        used += snprintf(text + used, BRUME_TIME_TEXT - (size_t)used, ".%06d", (int)rest % 1000000);
    while (rest > 0 && text[used - 1] == '0')
        text[--used] = 0;
}

bool brume_formula_is_true(const brume_formula *formula, const brume_value *keys,
                           const brume_value *aggregates)
{
    brume_value value = brume_formula_evaluate(formula, keys, aggregates);
    return value.kind == BRUME_VALUE_BOOLEAN && value.boolean;
}

size_t brume_formula_count_aggregates(const brume_formula *formula)
{
    size_t count = formula->kind == BRUME_FORMULA_AGGREGATE;
    for (size_t i = 0; i < formula->argument_count; i++)
        count += brume_formula_count_aggregates(formula->arguments[i]);
    return count;
}

size_t brume_formula_count_released(const brume_formula *formula)
{
    size_t count = formula->released;
    for (size_t i = 0; i < formula->argument_count; i++)
        count += brume_formula_count_released(formula->arguments[i]);
    return count;
}

bool brume_formula_equal(const brume_formula *a, const brume_formula *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->index != b->index || a->digits != b->digits ||
        a->extreme != b->extreme || a->argument_count != b->argument_count ||
        a->value.kind != b->value.kind || a->released != b->released ||
        (a->released && a->error_95 != b->error_95) ||
        (a->kind == BRUME_FORMULA_LITERAL && a->value.kind != BRUME_VALUE_NULL &&
         brume_value_compare(&a->value, &b->value) != 0))
        return false;
    if (a->kind == BRUME_FORMULA_WINDOW)
        return false; /* each has its own place among the windows */
    for (size_t i = 0; i < a->argument_count; i++)
        if (!brume_formula_equal(a->arguments[i], b->arguments[i]))
            return false;
    return true;
}
