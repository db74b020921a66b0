/* The types of a query's outputs. Promises: output_type.h. */
#include "query/plan/output_type.h"

#include "query/sql/formula.h"

/* How the values of a column or an expression are shown: whole numbers as BIGINT, others as DOUBLE.
 */
static brume_type_kind shown_as(brume_type_kind kind)
{
    switch (kind) {
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_BIGINT:
        return BRUME_TYPE_BIGINT;
    case BRUME_TYPE_DECIMAL:
    case BRUME_TYPE_DOUBLE:
        return BRUME_TYPE_DOUBLE;
    case BRUME_TYPE_REFUSED:
        return BRUME_TYPE_TEXT;
    default:
        return kind;
    }
}

static brume_type_kind type_of_aggregate(const brume_aggregate *aggregate)
{
    switch (aggregate->kind) {
    case BRUME_AGGREGATE_COUNT_ROWS:
    case BRUME_AGGREGATE_COUNT:
    case BRUME_AGGREGATE_COUNT_UNITS:
    case BRUME_AGGREGATE_COUNT_DISTINCT:
        return BRUME_TYPE_BIGINT; /* a noisy count is rounded to a whole number */
    case BRUME_AGGREGATE_MODE:
        return shown_as(aggregate->argument->type.kind);
    default:
        return BRUME_TYPE_DOUBLE;
    }
}

static brume_type_kind type_of_literal(const brume_value *value)
{
    switch (value->kind) {
    case BRUME_VALUE_BOOLEAN:
        return BRUME_TYPE_BOOLEAN;
    case BRUME_VALUE_NUMBER:
        return BRUME_TYPE_DOUBLE;
    case BRUME_VALUE_DATE:
        return BRUME_TYPE_DATE;
    case BRUME_VALUE_TIMESTAMP:
        return BRUME_TYPE_TIMESTAMP;
    case BRUME_VALUE_NULL:
        return BRUME_TYPE_REFUSED; /* any type */
    default:
        return BRUME_TYPE_TEXT;
    }
}

static brume_type_kind type_of(const brume_query *query, const brume_formula *formula);

/* A type that both have; REFUSED stands for NULL, which every type has. */
static brume_type_kind common(brume_type_kind a, brume_type_kind b)
{
    if (a == b || b == BRUME_TYPE_REFUSED)
        return a;
    if (a == BRUME_TYPE_REFUSED)
        return b;
    bool numbers = (a == BRUME_TYPE_BIGINT || a == BRUME_TYPE_DOUBLE) &&
                   (b == BRUME_TYPE_BIGINT || b == BRUME_TYPE_DOUBLE);
    return numbers ? BRUME_TYPE_DOUBLE : BRUME_TYPE_TEXT;
}

/* Of the arguments first, first + step, ..., before `end`. */
static brume_type_kind common_of(const brume_query *query, const brume_formula *formula,
                                 size_t first, size_t step, size_t end)
{
    brume_type_kind found = BRUME_TYPE_REFUSED;
    for (size_t i = first; i < end; i += step)
        found = common(found, type_of(query, formula->arguments[i]));
    return found;
}

static brume_type_kind type_of_window(const brume_query *query, const brume_formula *formula)
{
    switch (formula->window->function) {
    case BRUME_WINDOW_SUM:
    case BRUME_WINDOW_AVG:
        return BRUME_TYPE_DOUBLE;
    case BRUME_WINDOW_MIN:
    case BRUME_WINDOW_MAX:
        return type_of(query, formula->arguments[0]);
    default:
        return BRUME_TYPE_BIGINT; /* places and numbers of rows */
    }
}

static brume_type_kind type_of(const brume_query *query, const brume_formula *formula)
{
    size_t count = formula->argument_count;
    switch (formula->kind) {
    case BRUME_FORMULA_KEY:
        return shown_as(query->keys[formula->index].expression->type.kind);
    case BRUME_FORMULA_AGGREGATE:
        return type_of_aggregate(&query->aggregates[formula->index]);
    case BRUME_FORMULA_LITERAL:
        return type_of_literal(&formula->value);
    case BRUME_FORMULA_EQUAL:
    case BRUME_FORMULA_NOT_EQUAL:
    case BRUME_FORMULA_LESS:
    case BRUME_FORMULA_LESS_EQUAL:
    case BRUME_FORMULA_GREATER:
    case BRUME_FORMULA_GREATER_EQUAL:
    case BRUME_FORMULA_AND:
    case BRUME_FORMULA_OR:
    case BRUME_FORMULA_NOT:
    case BRUME_FORMULA_IS_NULL:
        return BRUME_TYPE_BOOLEAN;
    case BRUME_FORMULA_NULLIF:
        return type_of(query, formula->arguments[0]);
    case BRUME_FORMULA_COALESCE:
    case BRUME_FORMULA_GREATEST:
    case BRUME_FORMULA_LEAST:
        return common_of(query, formula, 0, 1, count);
    case BRUME_FORMULA_CASE: /* condition, value, ..., else */
        return common(common_of(query, formula, 1, 2, count),
                      count % 2 ? type_of(query, formula->arguments[count - 1])
                                : BRUME_TYPE_REFUSED);
    case BRUME_FORMULA_DATE:
        return BRUME_TYPE_DATE;
    case BRUME_FORMULA_TIMESTAMP:
        return BRUME_TYPE_TIMESTAMP;
    case BRUME_FORMULA_WINDOW:
        return type_of_window(query, formula);
    default:
        return BRUME_TYPE_DOUBLE; /* arithmetic is on unrounded numbers */
    }
}

brume_type_kind brume_output_type(const brume_query *query, const brume_query_output *output)
{
    brume_type_kind found = type_of(query, output->value);
    return found == BRUME_TYPE_REFUSED ? BRUME_TYPE_TEXT : found;
}
