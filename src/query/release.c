/* Evaluation of what is shown. Reads keys and released values only. */
#include "query/release.h"

#include <math.h>
#include <string.h>

const char *brume_release_word(brume_release_kind kind)
{
    static const char *const words[] = {
        "key",     "aggregate", "literal", "+",        "-",     "*",    "/",   "negate",
        "abs",     "round",     "floor",   "ceil",     "sqrt",  "ln",   "exp", "=",
        "<>",      "<",         "<=",      ">",        ">=",    "and",  "or",  "not",
        "is null", "coalesce",  "nullif",  "greatest", "least", "case",
    };
    return words[kind];
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

int brume_value_compare(const brume_value *a, const brume_value *b)
{
    if (a->kind != b->kind || a->kind == BRUME_VALUE_NULL) {
        /* NULL after everything; kinds that cannot meet in one column by their number. */
        int rank_a = a->kind == BRUME_VALUE_NULL ? 9 : (int)a->kind;
        int rank_b = b->kind == BRUME_VALUE_NULL ? 9 : (int)b->kind;
        return (rank_a > rank_b) - (rank_a < rank_b);
    }
    if (a->kind == BRUME_VALUE_NUMBER)
        return (a->number > b->number) - (a->number < b->number);
    if (a->kind == BRUME_VALUE_BOOLEAN)
        return (int)a->boolean - (int)b->boolean;
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = shorter ? memcmp(a->text, b->text, shorter) : 0;
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static brume_value arithmetic(brume_release_kind kind, const brume_value *a, const brume_value *b)
{
    if (a->kind != BRUME_VALUE_NUMBER || b->kind != BRUME_VALUE_NUMBER)
        return null_value();
    switch (kind) {
    case BRUME_RELEASE_ADD:
        return number_value(a->number + b->number);
    case BRUME_RELEASE_SUBTRACT:
        return number_value(a->number - b->number);
    case BRUME_RELEASE_MULTIPLY:
        return number_value(a->number * b->number);
    default:
        return b->number > 0 ? number_value(a->number / b->number) : null_value();
    }
}

static brume_value compare(brume_release_kind kind, const brume_value *a, const brume_value *b)
{
    if (a->kind == BRUME_VALUE_NULL || b->kind == BRUME_VALUE_NULL || a->kind != b->kind)
        return null_value();
    int order = brume_value_compare(a, b);
    switch (kind) {
    case BRUME_RELEASE_EQUAL:
        return truth_value(order == 0);
    case BRUME_RELEASE_NOT_EQUAL:
        return truth_value(order != 0);
    case BRUME_RELEASE_LESS:
        return truth_value(order < 0);
    case BRUME_RELEASE_LESS_EQUAL:
        return truth_value(order <= 0);
    case BRUME_RELEASE_GREATER:
        return truth_value(order > 0);
    default:
        return truth_value(order >= 0);
    }
}

static brume_value function(const brume_release *release, const brume_value *a)
{
    if (a->kind != BRUME_VALUE_NUMBER)
        return null_value();
    double x = a->number;
    switch (release->kind) {
    case BRUME_RELEASE_NEGATE:
        return number_value(0 - x);
    case BRUME_RELEASE_ABS:
        return number_value(fabs(x));
    case BRUME_RELEASE_FLOOR:
        return number_value(floor(x));
    case BRUME_RELEASE_CEIL:
        return number_value(ceil(x));
    case BRUME_RELEASE_SQRT:
        return x < 0 ? null_value() : number_value(sqrt(x));
    case BRUME_RELEASE_LN:
        return x <= 0 ? null_value() : number_value(log(x));
    case BRUME_RELEASE_EXP:
        return number_value(exp(x));
    default: { /* ROUND */
        double scale = pow(10, release->digits);
        double rounded = round(x * scale) / scale;
        return isfinite(rounded) ? number_value(rounded) : *a;
    }
    }
}

/* AND and OR of three-valued logic. */
static brume_value logic(bool conjunction, const brume_release *release, const brume_value *keys,
                         const brume_value *aggregates)
{
    bool unknown = false;
    for (size_t i = 0; i < release->argument_count; i++) {
        brume_value each = brume_release_evaluate(release->arguments[i], keys, aggregates);
        if (each.kind != BRUME_VALUE_BOOLEAN)
            unknown = true;
        else if (each.boolean != conjunction)
            return truth_value(!conjunction);
    }
    return unknown ? null_value() : truth_value(conjunction);
}

static brume_value choose(const brume_release *release, const brume_value *keys,
                          const brume_value *aggregates)
{
    brume_value best = null_value();
    size_t count = release->argument_count;
    if (release->kind == BRUME_RELEASE_CASE) {
        for (size_t i = 0; i + 1 < count; i += 2)
            if (brume_release_is_true(release->arguments[i], keys, aggregates))
                return brume_release_evaluate(release->arguments[i + 1], keys, aggregates);
        return count % 2 ? brume_release_evaluate(release->arguments[count - 1], keys, aggregates)
                         : best;
    }
    for (size_t i = 0; i < count; i++) {
        brume_value each = brume_release_evaluate(release->arguments[i], keys, aggregates);
        if (each.kind == BRUME_VALUE_NULL)
            continue;
        if (release->kind == BRUME_RELEASE_COALESCE)
            return each;
        int order = best.kind == BRUME_VALUE_NULL ? 0 : brume_value_compare(&each, &best);
        if (best.kind == BRUME_VALUE_NULL ||
            (release->kind == BRUME_RELEASE_GREATEST ? order > 0 : order < 0))
            best = each;
    }
    return best;
}

brume_value brume_release_evaluate(const brume_release *release, const brume_value *keys,
                                   const brume_value *aggregates)
{
    brume_value a, b;
    switch (release->kind) {
    case BRUME_RELEASE_KEY:
        return keys[release->index];
    case BRUME_RELEASE_AGGREGATE:
        return aggregates[release->index];
    case BRUME_RELEASE_LITERAL:
        return release->value;
    case BRUME_RELEASE_AND:
    case BRUME_RELEASE_OR:
        return logic(release->kind == BRUME_RELEASE_AND, release, keys, aggregates);
    case BRUME_RELEASE_COALESCE:
    case BRUME_RELEASE_GREATEST:
    case BRUME_RELEASE_LEAST:
    case BRUME_RELEASE_CASE:
        return choose(release, keys, aggregates);
    default:
        break;
    }
    a = brume_release_evaluate(release->arguments[0], keys, aggregates);
    switch (release->kind) {
    case BRUME_RELEASE_NOT:
        return a.kind == BRUME_VALUE_BOOLEAN ? truth_value(!a.boolean) : null_value();
    case BRUME_RELEASE_IS_NULL:
        return truth_value(a.kind == BRUME_VALUE_NULL);
    case BRUME_RELEASE_NEGATE:
    case BRUME_RELEASE_ABS:
    case BRUME_RELEASE_ROUND:
    case BRUME_RELEASE_FLOOR:
    case BRUME_RELEASE_CEIL:
    case BRUME_RELEASE_SQRT:
    case BRUME_RELEASE_LN:
    case BRUME_RELEASE_EXP:
        return function(release, &a);
    default:
        break;
    }
    b = brume_release_evaluate(release->arguments[1], keys, aggregates);
    if (release->kind == BRUME_RELEASE_NULLIF)
        return a.kind == b.kind && brume_value_compare(&a, &b) == 0 ? null_value() : a;
    if (release->kind <= BRUME_RELEASE_DIVIDE)
        return arithmetic(release->kind, &a, &b);
    return compare(release->kind, &a, &b);
}

bool brume_release_is_true(const brume_release *release, const brume_value *keys,
                           const brume_value *aggregates)
{
    brume_value value = brume_release_evaluate(release, keys, aggregates);
    return value.kind == BRUME_VALUE_BOOLEAN && value.boolean;
}

bool brume_release_equal(const brume_release *a, const brume_release *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->index != b->index || a->digits != b->digits ||
        a->argument_count != b->argument_count || a->value.kind != b->value.kind ||
        (a->kind == BRUME_RELEASE_LITERAL && a->value.kind != BRUME_VALUE_NULL &&
         brume_value_compare(&a->value, &b->value) != 0))
        return false;
    for (size_t i = 0; i < a->argument_count; i++)
        if (!brume_release_equal(a->arguments[i], b->arguments[i]))
            return false;
    return true;
}
