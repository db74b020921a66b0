/* Where the true value of an output is, by interval arithmetic over its formula. */
#include "query/release/present_parts.h"

#include <math.h>

static brume_value value_of(const brume_formula *formula, const brume_interval_source *from)
{
    return brume_formula_evaluate(formula, from->row->keys, from->row->values);
}

static brume_interval multiply(brume_interval a, brume_interval b)
{
    double ends[] = {a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper};
    brume_interval out = {ends[0], ends[0]};
    for (int i = 1; i < 4; i++) {
        out.lower = fmin(out.lower, ends[i]);
        out.upper = fmax(out.upper, ends[i]);
    }
    return out;
}

static bool of_aggregate(const brume_formula *formula, const brume_interval_source *from,
                         brume_interval *out)
{
    brume_present_source source = {from->all->terms, from->all->drawn, from->all->modes};
    brume_shown one = brume_present_show(&source, formula->index, from->row->group, from->beta);
    *out = one.interval;
    if (from->cut) {
        out->lower -= from->cut[formula->index].less;
        out->upper += from->cut[formula->index].more;
    }
    return one.has_interval;
}

static bool of_literal(const brume_formula *formula, brume_interval *out)
{
    *out = (brume_interval){formula->value.number, formula->value.number};
    if (formula->released) {
        out->lower -= formula->error_95;
        out->upper += formula->error_95;
    }
    return formula->value.kind == BRUME_VALUE_NUMBER && isfinite(out->upper);
}

static bool of_window(const brume_formula *formula, const brume_interval_source *from,
                      brume_interval *out)
{
    *out = from->row->bounds[formula->index - from->all->plan->query->aggregate_count].whole;
    return !isnan(out->lower);
}

/* Is it shown as NULL, and may truly be a value? */
static bool hides_value(const brume_formula *formula, const brume_interval_source *from)
{
    return value_of(formula, from).kind == BRUME_VALUE_NULL &&
           brume_formula_count_aggregates(formula) > 0;
}

/* ---- shares ---- */

/* 100 * x as x, with 100; NULL: something else. */
static const brume_formula *without_factor(const brume_formula *formula, double *factor)
{
    *factor = 1;
    while (formula->kind == BRUME_FORMULA_MULTIPLY) {
        bool first = formula->arguments[0]->kind == BRUME_FORMULA_LITERAL;
        const brume_formula *literal = formula->arguments[first ? 0 : 1];
        if (literal->kind != BRUME_FORMULA_LITERAL || literal->released ||
            literal->value.kind != BRUME_VALUE_NUMBER || !(literal->value.number > 0))
            return NULL;
        *factor *= literal->value.number;
        formula = formula->arguments[first ? 1 : 0];
    }
    return formula;
}

static bool is_never_negative(const brume_plan *plan, const brume_formula *formula)
{
    if (formula->kind != BRUME_FORMULA_AGGREGATE)
        return false;
    brume_aggregate_kind kind = plan->query->aggregates[formula->index].kind;
    return kind < BRUME_AGGREGATE_SUM ||
           (kind == BRUME_AGGREGATE_SUM &&
            plan->values[plan->aggregates[formula->index].value].low >= 0);
}

/* The window that a share is of. */
static const brume_formula *divisor_of(const brume_formula *formula)
{
    const brume_formula *divisor = formula->arguments[1];
    return divisor->kind == BRUME_FORMULA_NULLIF ? divisor->arguments[0] : divisor;
}

bool brume_present_is_share(const brume_formula *formula, const brume_plan *plan, double *whole)
{
    if (formula->kind != BRUME_FORMULA_DIVIDE)
        return false;
    const brume_formula *part = without_factor(formula->arguments[0], whole);
    const brume_formula *divisor = divisor_of(formula);
    return part && divisor->kind == BRUME_FORMULA_WINDOW &&
           divisor->window->function == BRUME_WINDOW_SUM && is_never_negative(plan, part) &&
           brume_formula_equal(part, divisor->arguments[0]);
}

/* The rows in which something is not NULL, over all rows; units likewise. */
static bool is_part_of_all(const brume_formula *formula, const brume_plan *plan, double *whole)
{
    if (formula->kind != BRUME_FORMULA_DIVIDE)
        return false;
    const brume_formula *part = without_factor(formula->arguments[0], whole),
                        *all = divisor_of(formula);
    if (!part || part->kind != BRUME_FORMULA_AGGREGATE || all->kind != BRUME_FORMULA_AGGREGATE)
        return false;
    const brume_aggregate *of = &plan->query->aggregates[part->index],
                          *over = &plan->query->aggregates[all->index];
    return (of->kind == BRUME_AGGREGATE_COUNT && over->kind == BRUME_AGGREGATE_COUNT_ROWS) ||
           (of->kind == BRUME_AGGREGATE_COUNT_UNITS && over->kind == BRUME_AGGREGATE_COUNT_UNITS &&
            !over->argument);
}

bool brume_present_is_fraction(const brume_formula *formula, const brume_plan *plan, double *whole)
{
    return brume_present_is_share(formula, plan, whole) || is_part_of_all(formula, plan, whole);
}

/* a / (a + r) grows with a and falls with r, what the other rows add up to. */
static bool of_share(const brume_formula *formula, const brume_interval_source *from, double whole,
                     brume_interval *out)
{
    const brume_formula *divisor = divisor_of(formula);
    size_t window = divisor->index - from->all->plan->query->aggregate_count;
    brume_interval rest = from->row->bounds[window].rest, part;
    if (isnan(rest.lower) || !brume_present_interval(divisor->arguments[0], from, &part))
        return false;
    double least = fmax(0, part.lower), most = fmax(0, part.upper);
    double below = fmax(0, rest.lower), above = fmax(0, rest.upper);
    *out = (brume_interval){least > 0 ? whole * least / (least + above) : 0,
                            most > 0 && below > 0 ? whole * most / (most + below) : whole};
    return true;
}

/* ---- choices ---- */

/* COALESCE and NULLIF: the argument that is shown. */
static bool of_first_value(const brume_formula *formula, const brume_interval_source *from,
                           brume_interval *out)
{
    size_t count = formula->kind == BRUME_FORMULA_NULLIF ? 1 : formula->argument_count;
    for (size_t i = 0; i < count && !hides_value(formula->arguments[i], from); i++)
        if (value_of(formula->arguments[i], from).kind != BRUME_VALUE_NULL)
            return brume_present_interval(formula->arguments[i], from, out);
    return false;
}

/* CASE: the branch that is shown, where no noise chose it. */
static bool of_case(const brume_formula *formula, const brume_interval_source *from,
                    brume_interval *out)
{
    size_t i = 0;
    for (; i + 1 < formula->argument_count; i += 2) {
        const brume_formula *condition = formula->arguments[i];
        if (brume_formula_count_aggregates(condition) + brume_formula_count_released(condition) > 0)
            return false;
        if (brume_formula_is_true(condition, from->row->keys, from->row->values))
            return brume_present_interval(formula->arguments[i + 1], from, out);
    }
    return i < formula->argument_count && brume_present_interval(formula->arguments[i], from, out);
}

/* GREATEST and LEAST pass over NULL. */
static bool of_extreme(const brume_formula *formula, const brume_interval_source *from,
                       brume_interval *out)
{
    double (*pick)(double, double) = formula->kind == BRUME_FORMULA_GREATEST ? fmax : fmin;
    bool any = false;
    for (size_t i = 0; i < formula->argument_count; i++) {
        brume_interval one;
        if (hides_value(formula->arguments[i], from))
            return false;
        if (value_of(formula->arguments[i], from).kind == BRUME_VALUE_NULL)
            continue;
        if (!brume_present_interval(formula->arguments[i], from, &one))
            return false;
        *out = any ? (brume_interval){pick(out->lower, one.lower), pick(out->upper, one.upper)}
                   : one;
        any = true;
    }
    return any;
}

/* A function that never falls. */
static bool of_rising(double (*function)(double), brume_interval part, brume_interval *out)
{
    *out = (brume_interval){function(part.lower), function(part.upper)};
    return isfinite(out->lower) && isfinite(out->upper);
}

static bool of_arithmetic(const brume_formula *formula, const brume_interval *part,
                          brume_interval *out)
{
    switch (formula->kind) {
    case BRUME_FORMULA_ADD:
        *out = (brume_interval){part[0].lower + part[1].lower, part[0].upper + part[1].upper};
        return true;
    case BRUME_FORMULA_SUBTRACT:
        *out = (brume_interval){part[0].lower - part[1].upper, part[0].upper - part[1].lower};
        return true;
    case BRUME_FORMULA_NEGATE:
        *out = (brume_interval){-part[0].upper, -part[0].lower};
        return true;
    case BRUME_FORMULA_MULTIPLY:
        *out = multiply(part[0], part[1]);
        return true;
    case BRUME_FORMULA_DIVIDE:
        if (!(part[1].lower > 0))
            return false; /* the divisor may be all noise */
        *out = multiply(part[0], (brume_interval){1 / part[1].upper, 1 / part[1].lower});
        return true;
    case BRUME_FORMULA_ABS:
        *out = (brume_interval){fmax(0, fmax(part[0].lower, -part[0].upper)),
                                fmax(-part[0].lower, part[0].upper)};
        return true;
    case BRUME_FORMULA_ROUND: {
        double half = 0.5 * pow(10, -formula->digits);
        *out = (brume_interval){part[0].lower - half, part[0].upper + half};
        return true;
    }
    case BRUME_FORMULA_FLOOR:
        return of_rising(floor, part[0], out);
    case BRUME_FORMULA_CEIL:
        return of_rising(ceil, part[0], out);
    case BRUME_FORMULA_EXP:
        return of_rising(exp, part[0], out);
    case BRUME_FORMULA_LN:
        return part[0].lower > 0 && of_rising(log, part[0], out);
    case BRUME_FORMULA_SQRT:
        *out = (brume_interval){sqrt(fmax(0, part[0].lower)), sqrt(fmax(0, part[0].upper))};
        return true;
    default:
        return false;
    }
}

bool brume_present_interval(const brume_formula *formula, const brume_interval_source *from,
                            brume_interval *out)
{
    brume_interval part[2] = {{0, 0}, {0, 0}};
    double whole = 1;
    if (brume_present_is_share(formula, from->all->plan, &whole))
        return of_share(formula, from, whole, out);
    switch (formula->kind) {
    case BRUME_FORMULA_AGGREGATE:
        return of_aggregate(formula, from, out);
    case BRUME_FORMULA_LITERAL:
        return of_literal(formula, out);
    case BRUME_FORMULA_WINDOW:
        return of_window(formula, from, out);
    case BRUME_FORMULA_COALESCE:
    case BRUME_FORMULA_NULLIF:
        return of_first_value(formula, from, out);
    case BRUME_FORMULA_CASE:
        return of_case(formula, from, out);
    case BRUME_FORMULA_GREATEST:
    case BRUME_FORMULA_LEAST:
        return of_extreme(formula, from, out);
    default:
        break;
    }
    if (formula->argument_count == 0 || formula->argument_count > 2)
        return false;
    for (size_t i = 0; i < formula->argument_count; i++)
        if (!brume_present_interval(formula->arguments[i], from, &part[i]))
            return false;
    if (!of_arithmetic(formula, part, out))
        return false;
    if (is_part_of_all(formula, from->all->plan, &whole)) /* whatever the noise did to the two */
        *out = (brume_interval){fmin(fmax(out->lower, 0), whole), fmax(fmin(out->upper, whole), 0)};
    return true;
}
