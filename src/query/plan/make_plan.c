/* Making the plan of a query: what is measured, with how much noise, at what price. */
#include "query/plan/make_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/expression/build.h"
#include "query/expression/literal.h"
#include "query/plan/bias.h"
#include "query/plan/plan.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/plan/plan_parts.h"
#include "query/plan/plan_sets.h"
#include "query/price/price.h"
#include "query/sql/formula.h"

/* The types of a query's outputs. */

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

/* Over the arguments first, first + step, ..., before `end`. */
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

/* The mode of an expression whose values nobody declared: what is collected for it.
 *
 * A histogram over pairs of a group's key and a value, with noise on the number of units in each
 * pair that occurs (release/measurement.c). At most max_groups * max_rows pairs of each unit are
 * kept, by keyed hash; each counts once. Rows whose value is NULL have no pair. Price: price.h,
 * PRIVATE_MODE; proofs/private-mode.md. */

static const uint64_t most_pairs = UINT64_C(1) << 26; /* what the bounding keeps of a unit */

/* Fill in the collection of plan->measurements[index]: the pairs, the value as the last key.
 * BRUME_EOVERFLOW if a unit could have too many pairs. */
static brume_status private_mode_plan(brume_plan *plan, size_t index, brume_error *error)
{
    brume_measurement *mode = &plan->measurements[index];
    uint64_t groups = brume_shape_groups(&plan->shape);
    if (groups > most_pairs || (groups && plan->shape.max_rows > most_pairs / groups))
        return brume_fail(error, BRUME_EOVERFLOW,
                          "ask the owner to declare the column's values with --domain",
                          "a unit may have too many rows for MODE of undeclared values");
    brume_query *pairs = NULL;
    BRUME_TRY(brume_plan_pairs(plan, mode->mode.argument, "a mode", &pairs, error));
    mode->collection = (brume_collection){.query = pairs,
                                          .max_groups = brume_shape_pairs(&plan->shape),
                                          .bounded = plan->bounded || plan->by_totals};
    return BRUME_OK;
}

/* Values on a grid: how the expressions of aggregates become integers that can be summed exactly.
 *
 * Promise: a grid comes from the declared bounds alone, never from a row. */

/* The grid comes from the bounds alone. Whole numbers and decimals keep their own unit where the
 * sums stay small enough; other values get a power of two that cuts the bounds into about 2^28
 * steps, or 2^18 where squares are measured, whose noise grows with the square. */
static brume_status put_on_grid(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    const brume_expression *x = value->argument;
    const brume_bounds *bounds = &x->bounds;
    bool exact = x->type.kind != BRUME_TYPE_DOUBLE;
    if (exact) {
        brume_wide width = bounds->high - bounds->low,
                   most = (brume_wide)1 << (value->squares ? 22 : 44);
        brume_wide far = (brume_wide)1 << 60;
        if (width <= most && bounds->low > -far && bounds->high < far) {
            value->low = (int64_t)bounds->low;
            value->high = (int64_t)bounds->high;
            value->step = pow(10, -x->type.scale);
            return brume_query_grid(plan->query, x, bounds, 0, &value->grid, error);
        }
    }
    double unit = exact ? pow(10, -x->type.scale) : 1;
    double low = exact ? (double)bounds->low * unit : bounds->real_low;
    double high = exact ? (double)bounds->high * unit : bounds->real_high;
    int digits = (value->squares ? 18 : 28) - (int)ceil(log2(fmax(high - low, 0x1p-900)));
    double size = fmax(fabs(low), fabs(high));
    if (size > 0 && digits + ilogb(size) > 58) /* far from zero: stay within 63 bits */
        digits = 58 - ilogb(size);
    value->step = ldexp(1, -digits);
    BRUME_TRY(brume_query_grid(plan->query, x, bounds, digits, &value->grid, error));
    value->low = (int64_t)value->grid->bounds.low; /* as the engine will clamp, to the step */
    value->high = (int64_t)value->grid->bounds.high;
    return BRUME_OK;
}

/* Bounds of a number, in its own units. */
static void plan_bounds(const brume_expression *x, double *low, double *high)
{
    bool real = x->type.kind == BRUME_TYPE_DOUBLE;
    *low = real ? x->bounds.real_low : brume_wide_double(x->bounds.low, x->type.scale);
    *high = real ? x->bounds.real_high : brume_wide_double(x->bounds.high, x->type.scale);
}

/* The square of a number with bounds, as a double. */
static brume_status plan_square(const brume_plan *plan, const brume_expression *x,
                                const brume_expression **square, brume_error *error)
{
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    double low = 0, high = 0;
    plan_bounds(x, &low, &high);
    brume_node size = brume_build_convert(&builder, x, (brume_type){BRUME_TYPE_DOUBLE, 0, 0});
    if (low < 0) /* so that the bounds of the square begin at 0 */
        size = brume_build_unary(&builder, BRUME_OPERATION_ABS, size);
    *square = brume_build_arithmetic(&builder, BRUME_OPERATION_MULTIPLY, size, size);
    return *square ? BRUME_OK : builder.status;
}

/* x less the middle of its bounds, as a double. */
static brume_node less_middle(brume_builder *builder, const brume_expression *x, double *middle)
{
    const brume_type real = {BRUME_TYPE_DOUBLE, 0, 0};
    double low = 0, high = 0;
    char text[40];
    plan_bounds(x, &low, &high);
    snprintf(text, sizeof text, "%.17g", low / 2 + high / 2);
    *middle = strtod(text, NULL);
    return brume_build_arithmetic(builder, BRUME_OPERATION_SUBTRACT,
                                  brume_build_convert(builder, x, real),
                                  brume_build_literal(builder, real, text));
}

/* Two numbers with bounds, each less the middle of its own, multiplied: as a double. `middle` gets
 * the middles. */
static brume_status plan_product(const brume_plan *plan, const brume_expression *x,
                                 const brume_expression *y, double middle[2],
                                 const brume_expression **product, brume_error *error)
{
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    brume_node first = less_middle(&builder, x, &middle[0]);
    brume_node second = less_middle(&builder, y, &middle[1]);
    if (first && x == y) /* so that the bounds of the square begin at 0 */
        first = second = brume_build_unary(&builder, BRUME_OPERATION_ABS, first);
    *product = brume_build_arithmetic(&builder, BRUME_OPERATION_MULTIPLY, first, second);
    return *product ? BRUME_OK : builder.status;
}

/* Where the sum of a mean has a limit of its own and all values are far from 0, as years are, the
 * grid counts from the bound that is nearest to 0: then a unit's sum says how far its values are
 * from there, and not how many it has. Sums and ranks are of the values themselves. */
static brume_status move_origin(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    static const brume_type whole = {.kind = BRUME_TYPE_BIGINT};
    int64_t nearest = value->low > 0 ? value->low : value->high < 0 ? value->high : 0;
    if (nearest == 0 || !plan->own_limits || !value->averaged || value->added || value->squares ||
        value->spread || value->keep)
        return BRUME_OK;
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)nearest);
    brume_node moved = brume_build_arithmetic(&builder, BRUME_OPERATION_SUBTRACT, value->grid,
                                              brume_build_literal(&builder, whole, text));
    if (!moved)
        return builder.status;
    value->grid = moved;
    value->origin = nearest;
    value->low -= nearest;
    value->high -= nearest;
    return BRUME_OK;
}

/* COUNT(x) only needs to know which are NULL: a grid of the one point 0. */
static brume_status put_on_point(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    static const brume_type whole = {.kind = BRUME_TYPE_BIGINT};
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    brume_node parts[] = {brume_build_test(&builder, BRUME_OPERATION_IS_NOT_NULL, value->argument),
                          brume_build_literal(&builder, whole, "0"),
                          brume_build_literal(&builder, whole, NULL)};
    value->grid = brume_build_case(&builder, parts, 3);
    value->step = 1;
    return value->grid ? BRUME_OK : builder.status;
}

/* MODE(x): the place of x in its declared domain. NULL and undeclared values are no candidates. */
static brume_status put_on_places(brume_plan *plan, brume_plan_value *value, brume_error *error)
{
    static const brume_type whole = {.kind = BRUME_TYPE_BIGINT};
    const brume_policy_column *column = value->declared;
    brume_builder builder = {.arena = plan->query->arena, .error = error};
    brume_node *parts = calloc(2 * column->domain_count + 1, sizeof *parts);
    if (!parts)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory for a plan");
    for (size_t i = 0; i < column->domain_count; i++) {
        char place[24];
        snprintf(place, sizeof place, "%zu", i);
        brume_node literal =
            brume_build_literal(&builder, value->argument->type, column->domain[i]);
        parts[2 * i] =
            brume_build_compare(&builder, BRUME_OPERATION_EQUAL, value->argument, literal);
        parts[2 * i + 1] = brume_build_literal(&builder, whole, place);
    }
    parts[2 * column->domain_count] = brume_build_literal(&builder, whole, NULL);
    value->grid = brume_build_case(&builder, parts, 2 * column->domain_count + 1);
    free(parts);
    value->step = 1;
    value->low = 0;
    value->high = (int64_t)column->domain_count - 1;
    if (!value->grid && builder.status == BRUME_EUNSUPPORTED) /* too large an expression */
        return brume_fail(error, BRUME_EUNSUPPORTED, "group by it, and order by COUNT(*) DESC",
                          "MODE among %zu declared values: some hundred are possible",
                          column->domain_count);
    return value->grid ? BRUME_OK : builder.status;
}

/* A grid for each of the plan's values, from their bounds or declared domains. */
static brume_status plan_grid_values(brume_plan *plan, brume_error *error)
{
    for (size_t i = 0; i < plan->value_count; i++) {
        brume_plan_value *value = &plan->values[i];
        if (!value->argument)
            return brume_fail(error, BRUME_EINTERNAL, NULL, "a value without an expression");
        if (value->declared)
            BRUME_TRY(put_on_places(plan, value, error));
        else if (brume_type_is_number(value->argument->type) && value->argument->bounded)
            BRUME_TRY(put_on_grid(plan, value, error));
        else
            BRUME_TRY(put_on_point(plan, value, error));
        BRUME_TRY(move_origin(plan, value, error));
    }
    return BRUME_OK;
}

/* ---- the rows of answered groups ---- */

/* The key is one of the `count` values of `domain`; true where those are more than `most`, which is
 * at most BRUME_LIMIT_LIST. */
static brume_node in_domain(brume_builder *builder, const brume_expression *key,
                            const brume_key_value *domain, size_t count, size_t most)
{
    brume_node list[BRUME_LIMIT_LIST], any[2] = {NULL, NULL};
    size_t listed = 0;
    if (count > most)
        return brume_build_literal(builder, (brume_type){BRUME_TYPE_BOOLEAN, 0, 0}, "true");
    for (size_t i = 0; i < count; i++) {
        char number[BRUME_KEY_TEXT];
        const char *text = domain[i].wire == BRUME_WIRE_TEXT ? domain[i].text.data : number;
        if (domain[i].null) {
            any[1] = brume_build_test(builder, BRUME_OPERATION_IS_NULL, key);
            continue;
        }
        if (domain[i].wire != BRUME_WIRE_TEXT)
            brume_integer_text(key->type, domain[i].integer, number, sizeof number);
        list[listed++] = brume_build_literal(builder, key->type, text);
    }
    if (listed)
        any[0] = brume_build_in(builder, false, key, list, listed);
    if (!any[0] || !any[1])
        return any[0] ? any[0] : any[1];
    return brume_build_logic(builder, BRUME_OPERATION_OR, any, 2);
}

brume_node brume_plan_answered_rows(const brume_plan *plan, brume_builder *builder)
{
    brume_node all = plan->query->where;
    for (size_t i = 0, at = 0; plan->domain && i < plan->query->key_count; i++) {
        brume_node both[] = {all,
                             in_domain(builder, plan->query->keys[i].expression, &plan->domain[at],
                                       plan->domain_size[i], BRUME_LIMIT_LIST / 10)};
        at += plan->domain_size[i];
        if (!both[1])
            return NULL;
        all = all ? brume_build_logic(builder, BRUME_OPERATION_AND, both, 2) : both[1];
        if (!all)
            return NULL;
    }
    return all;
}

brume_node brume_plan_declared_rows(const brume_plan *plan, brume_builder *builder)
{
    const brume_query *query = plan->query;
    brume_node all = query->where;
    for (size_t i = 0, at = 0; plan->domain && i < query->key_count; i++) {
        size_t count = plan->domain_size[i];
        if (brume_key_is_optional(query, i)) { /* the last of its values stands for sets without */
            brume_node both[] = {all, in_domain(builder, query->keys[i].plain, &plan->domain[at],
                                                count - 1, BRUME_LIMIT_LIST)};
            if (!both[1])
                return NULL;
            all = all ? brume_build_logic(builder, BRUME_OPERATION_AND, both, 2) : both[1];
            if (!all)
                return NULL;
        }
        at += count;
    }
    return all;
}

/* ---- whose data, under which rule, in which shape ---- */

/* The least of the owners' ceilings; 0 is none. */
static void take_ceiling(uint64_t *least, uint64_t ceiling)
{
    if (ceiling && (*least == 0 || ceiling < *least))
        *least = ceiling;
}

static uint64_t rows_of(const brume_relation *relation, const brume_plan_table *tables);

/* A join along a link has the rows of the linked table; one on the unit has of each unit so many on
 * either side. A public table may have any number for each row. */
static uint64_t rows_of_join(const brume_relation *join, const brume_plan_table *tables)
{
    const brume_relation *left = join->left, *right = join->right;
    if (join->join == BRUME_JOIN_SEMI || join->join == BRUME_JOIN_ANTI ||
        right->kind == BRUME_RELATION_NUMBERS) /* one row in each grouping set */
        return rows_of(left, tables);
    if (left->privacy == BRUME_PRIVACY_LINK)
        return rows_of(left, tables);
    if (right->privacy == BRUME_PRIVACY_LINK)
        return rows_of(right, tables);
    uint64_t a = rows_of(left, tables), b = rows_of(right, tables);
    if (join->join == BRUME_JOIN_FULL || (b && a > UINT32_MAX / b))
        return 0;
    return a * b;
}

/* How many rows one unit has at most in a relation, by what the owner declares of its tables; 0:
 * nobody says. No price rests on it: whatever a unit has, its totals are cut to the limit. */
static uint64_t rows_of(const brume_relation *relation, const brume_plan_table *tables)
{
    switch (relation->kind) {
    case BRUME_RELATION_TABLE:
        return tables[relation->table].policy->table_rows;
    case BRUME_RELATION_SELECT:
    case BRUME_RELATION_TIMELINE:
        return rows_of(relation->left, tables);
    case BRUME_RELATION_GROUP:
        return relation->grain_known && relation->grain_count == 0
                   ? 1
                   : rows_of(relation->left, tables);
    case BRUME_RELATION_JOIN:
        return rows_of_join(relation, tables);
    case BRUME_RELATION_UNION: {
        uint64_t a = rows_of(relation->left, tables), b = rows_of(relation->right, tables);
        return a && b ? a + b : 0;
    }
    default:
        return 0;
    }
}

static brume_status check_tables_compatible(brume_plan *plan, const brume_plan_table *tables,
                                            brume_error *error)
{
    const brume_query *query = plan->query;
    const brume_dataset *first = tables[query->tables[0].table].dataset;
    plan->rule = first->filter.rule;
    plan->adjacency = first->adjacency;
    plan->own_limits = true;
    for (size_t i = 0; i < query->table_count; i++) {
        const brume_plan_table *table = &tables[query->tables[i].table];
        if (table->dataset->filter.rule != plan->rule)
            return brume_fail(error, BRUME_EPOLICY, "register them under one rule",
                              "'%s' and '%s' have budgets of different rules", first->name,
                              table->dataset->name);
        if (table->dataset->adjacency != plan->adjacency)
            return brume_fail(error, BRUME_EPOLICY, "register them under one adjacency",
                              "'%s' and '%s' are registered under different adjacencies",
                              first->name, table->dataset->name);
        plan->windowed = plan->windowed || table->policy->window.place != BRUME_WINDOW_NOWHERE;
        take_ceiling(&plan->shape.max_groups, table->policy->max_groups);
        take_ceiling(&plan->shape.max_rows, table->policy->max_rows);
        plan->own_limits = plan->own_limits && !table->policy->limits_fixed;
        /* On the nullable side of an outer join a unit that goes turns rows of another table into
         * others: charged as a replacement. Where units are replaced two units' rows would change,
         * which no price here covers. */
        if (query->tables[i].nullable_side && plan->adjacency == BRUME_REPLACE)
            return brume_fail(error, BRUME_EPOLICY, "use an inner join, or register add-remove",
                              "an outer join, or NOT EXISTS that compares more than the unit, is "
                              "not answered under the adjacency replace");
        plan->shape.replace = plan->shape.replace || query->tables[i].nullable_side;
    }
    plan->shape.replace = plan->shape.replace || plan->adjacency == BRUME_REPLACE;
    if (query->one_row_per_unit || !query->unit)
        plan->shape.max_groups = plan->shape.max_rows = 1;
    if (query->one_row_per_group)
        plan->shape.max_rows = 1;
    plan->by_totals = brume_plan_limits_totals(query);
    plan->unit_rows = query->unit ? rows_of(query->from, tables) : 0;
    if (!plan->by_totals) { /* what nobody limited is one group, and one row of it */
        plan->shape.max_groups += plan->shape.max_groups == 0;
        plan->shape.max_rows += plan->shape.max_rows == 0;
    }
    if (query->set_count > 1) /* every row is in a group of each grouping set */
        plan->shape.max_groups *= query->set_count;
    plan->bounded = query->unit && !query->one_row_per_unit && !plan->by_totals;
    return BRUME_OK;
}

/* ---- values ---- */

static int find_value(const brume_plan *plan, const brume_expression *argument, bool places)
{
    for (size_t i = 0; i < plan->value_count; i++)
        if ((plan->values[i].declared != NULL) == places &&
            brume_expression_equal(plan->values[i].argument, argument))
            return (int)i;
    return BRUME_NOT_MEASURED;
}

/* The column that an expression plainly is, or NULL. */
static const brume_policy_column *column_of(const brume_plan_table *tables,
                                            const brume_expression *x)
{
    if (x->operation != BRUME_OPERATION_COLUMN || x->relation->kind != BRUME_RELATION_TABLE)
        return NULL;
    size_t column = x->relation->columns[x->column].table_column;
    return &tables[x->relation->table].policy->columns[column];
}

static bool ranks(brume_aggregate_kind kind)
{
    return kind == BRUME_AGGREGATE_QUANTILE || kind == BRUME_AGGREGATE_MODE;
}

static bool is_variance(brume_aggregate_kind kind)
{
    return kind == BRUME_AGGREGATE_VAR_POP || kind == BRUME_AGGREGATE_VAR_SAMP ||
           kind == BRUME_AGGREGATE_STDDEV_POP || kind == BRUME_AGGREGATE_STDDEV_SAMP;
}

/* A mode of undeclared values is shown only if many units have it. */
static brume_status check_mode(const brume_aggregate *aggregate, const brume_policy_column *column,
                               brume_error *error)
{
    if (!aggregate->tells_units && !(column && column->is_identifier))
        return BRUME_OK;
    return brume_fail(error, BRUME_EUNSUPPORTED,
                      "ask for something that many have in common; nothing was spent",
                      "this mode would never be shown: hardly two units share a value");
}

/* The measurement of the mode of `argument`, the same for all aggregates that ask for it. */
static int add_mode(brume_plan *plan, const brume_expression *argument)
{
    for (size_t i = 0; i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_MODE &&
            brume_expression_equal(plan->measurements[i].mode.argument, argument))
            return (int)i;
    plan->measurements[plan->measurement_count] =
        (brume_measurement){.kind = BRUME_MEASUREMENT_MODE, .mode = {.argument = argument}};
    return (int)plan->measurement_count++;
}

/* Are the spreads of x made of two sums, each with a limit of its own? Where x is further from 0
 * than its bounds are wide, its squares would say little of its spread. */
static bool spreads_by_sums(const brume_plan *plan, const brume_expression *x)
{
    double low = 0, high = 0;
    plan_bounds(x, &low, &high);
    return plan->own_limits && x->bounded && (low > 0 ? low : -high) <= high - low;
}

static int value_of(brume_plan *plan, const brume_expression *x,
                    const brume_policy_column *declared)
{
    int value = find_value(plan, x, declared != NULL);
    if (value == BRUME_NOT_MEASURED) {
        value = (int)plan->value_count++;
        plan->values[value] =
            (brume_plan_value){.argument = x, .unsummed = true, .declared = declared};
    }
    return value;
}

/* A product of the two of a pair, which is NULL where one of them is. */
static brume_status add_product(brume_plan *plan, const brume_expression *x,
                                const brume_expression *y, size_t root, double middle[2], int *to,
                                brume_error *error)
{
    const brume_expression *product = NULL;
    BRUME_TRY(plan_product(plan, x, y, middle, &product, error));
    *to = value_of(plan, product, NULL);
    plan->values[*to].is_square = true;
    if ((size_t)*to != root)
        plan->values[*to].counted_by = root + 1;
    return BRUME_OK;
}

/* The values of two arguments (proofs/second-moments.md); `joint` has values until there are
 * measures. */
static brume_status add_joint(brume_plan *plan, const brume_aggregate *aggregate,
                              brume_plan_aggregate *to, brume_error *error)
{
    brume_aggregate_kind kind = aggregate->kind;
    bool squares = kind == BRUME_AGGREGATE_CORR || kind == BRUME_AGGREGATE_REGR_R2;
    bool covariance = kind == BRUME_AGGREGATE_COVAR_POP || kind == BRUME_AGGREGATE_COVAR_SAMP;
    const brume_expression *y = aggregate->argument, *x = aggregate->other;
    double own[2];
    to->joint[0] = value_of(plan, x, NULL);
    size_t root = brume_plan_counted(plan, (size_t)to->value),
           other = brume_plan_counted(plan, (size_t)to->joint[0]);
    if (other != root) /* both are NULL in the same rows */
        plan->values[other].counted_by = root + 1;
    BRUME_TRY(add_product(plan, y, x, root, to->middle, &to->joint[1], error));
    if (squares)
        BRUME_TRY(add_product(plan, y, y, root, own, &to->joint[2], error));
    return covariance ? BRUME_OK : add_product(plan, x, x, root, own, &to->joint[3], error);
}

/* The squares of x are values of their own. */
static brume_status add_squares(brume_plan *plan, brume_plan_aggregate *to, brume_error *error)
{
    const brume_expression *square = NULL;
    BRUME_TRY(plan_square(plan, plan->values[to->value].argument, &square, error));
    plan->values[to->value].spread = true;
    to->second = value_of(plan, square, NULL); /* its measure, when there are any */
    plan->values[to->second].is_square = true;
    return BRUME_OK;
}

static brume_status collect_values(brume_plan *plan, const brume_plan_table *tables,
                                   brume_error *error)
{
    const brume_query *query = plan->query;
    for (size_t i = 0; i < query->aggregate_count; i++) {
        const brume_aggregate *aggregate = &query->aggregates[i];
        plan->aggregates[i] = (brume_plan_aggregate){.value = BRUME_NOT_MEASURED,
                                                     .count = BRUME_NOT_MEASURED,
                                                     .centred = BRUME_NOT_MEASURED,
                                                     .squares = BRUME_NOT_MEASURED,
                                                     .direct = BRUME_NOT_MEASURED,
                                                     .second = BRUME_NOT_MEASURED,
                                                     .joint = {-1, -1, -1, -1},
                                                     .selection = BRUME_NOT_MEASURED,
                                                     .distinct = BRUME_NOT_MEASURED};
        if (aggregate->kind == BRUME_AGGREGATE_COUNT_DISTINCT) {
            plan->aggregates[i].distinct = brume_distinct_add(plan, aggregate->argument);
            continue;
        }
        if (!aggregate->argument ||
            (aggregate->kind == BRUME_AGGREGATE_COUNT && !aggregate->argument->nullable))
            continue;
        bool places = aggregate->kind == BRUME_AGGREGATE_MODE;
        const brume_policy_column *column = places ? column_of(tables, aggregate->argument) : NULL;
        if (places && !(column && column->domain_count)) {
            BRUME_TRY(check_mode(aggregate, column, error));
            plan->aggregates[i].value = add_mode(plan, aggregate->argument);
            plan->aggregates[i].private_mode = true;
            continue;
        }
        int value = value_of(plan, aggregate->argument, column);
        plan->aggregates[i].value = value;
        if (brume_aggregate_is_joint(aggregate->kind))
            BRUME_TRY(add_joint(plan, aggregate, &plan->aggregates[i], error));
        if (is_variance(aggregate->kind) && spreads_by_sums(plan, aggregate->argument))
            BRUME_TRY(add_squares(plan, &plan->aggregates[i], error));
        else
            plan->values[value].squares |= is_variance(aggregate->kind);
        plan->values[value].keep = plan->values[value].keep || ranks(aggregate->kind);
        plan->values[value].averaged |= aggregate->kind == BRUME_AGGREGATE_AVG;
        plan->values[value].added |= aggregate->kind == BRUME_AGGREGATE_SUM;
    }
    return BRUME_OK;
}

/* ---- measures ---- */

/* The modes of undeclared values: one measure each. */
static brume_status measure_modes(brume_plan *plan, brume_error *error)
{
    for (size_t i = 0; i < plan->measurement_count; i++) {
        if (plan->measurements[i].kind != BRUME_MEASUREMENT_MODE)
            continue;
        plan->measurements[i].mode.measure = plan->measure_count;
        plan->measures[plan->measure_count++] = (brume_measure){.kind = BRUME_MEASURE_PRIVATE_MODE};
        BRUME_TRY(private_mode_plan(plan, i, error));
    }
    for (size_t i = 0; i < plan->query->aggregate_count; i++) {
        brume_plan_aggregate *to = &plan->aggregates[i];
        if (to->private_mode)
            to->selection = (int)plan->measurements[to->value].mode.measure;
    }
    return BRUME_OK;
}

static int add_new_measure(brume_plan *plan, brume_measure_kind kind, int value)
{
    brume_measure *measure = &plan->measures[plan->measure_count];
    *measure = (brume_measure){.kind = kind, .expression = value < 0 ? 0 : (size_t)value};
    if (value >= 0) {
        measure->low = plan->values[value].low;
        measure->high = plan->values[value].high;
        if (kind == BRUME_MEASURE_CENTRED || kind == BRUME_MEASURE_SQUARES ||
            kind == BRUME_MEASURE_DIRECT || kind == BRUME_MEASURE_DEVIATION)
            plan->values[value].unsummed = false;
    }
    return (int)plan->measure_count++;
}

static int add_measure(brume_plan *plan, brume_measure_kind kind, int value)
{
    size_t expression = value < 0 ? 0 : (size_t)value;
    for (size_t i = 0; i < plan->measure_count; i++)
        if (plan->measures[i].kind == kind && plan->measures[i].expression == expression)
            return (int)i;
    return add_new_measure(plan, kind, value);
}

/* The number of rows: of units where each has at most one row, as wherever totals are not limited.
 */
static int measure_rows(brume_plan *plan)
{
    if (plan->by_totals)
        return add_measure(plan, BRUME_MEASURE_ROWS, BRUME_NOT_MEASURED);
    return plan->units = add_measure(plan, BRUME_MEASURE_UNITS, BRUME_NOT_MEASURED);
}

/* The number of units: of those with a row whose value is not NULL, where there is one. */
static int measure_units(brume_plan *plan, int value)
{
    if (!plan->by_totals) /* each has one row */
        return value < 0 ? measure_rows(plan) : add_measure(plan, BRUME_MEASURE_VALUES, value);
    return add_measure(plan, value < 0 ? BRUME_MEASURE_PRESENCE : BRUME_MEASURE_HOLDERS, value);
}

/* The number of values of an expression: of rows where it is never NULL. */
static int measure_count(brume_plan *plan, int value)
{
    if (value < 0 || !plan->values[value].argument->nullable)
        return measure_rows(plan);
    return add_measure(plan, BRUME_MEASURE_VALUES, (int)brume_plan_counted(plan, (size_t)value));
}

static bool has_measure(const brume_plan *plan, brume_measure_kind kind, int value)
{
    for (size_t i = 0; i < plan->measure_count; i++)
        if (plan->measures[i].kind == kind &&
            (value < 0 || plan->measures[i].expression == (size_t)value))
            return true;
    return false;
}

/* Is the count that belongs to an expression measured for another reason? */
static bool count_is_measured(const brume_plan *plan, int value)
{
    if (plan->by_totals) /* the sum has a limit of its own, unless its mean is asked for too */
        return has_measure(plan, BRUME_MEASURE_CENTRED, value);
    if (plan->values[value].argument->nullable)
        return has_measure(plan, BRUME_MEASURE_VALUES, value);
    return has_measure(plan, BRUME_MEASURE_UNITS, BRUME_NOT_MEASURED);
}

/* Under replace the number of rows is public where each is a unit of its own, and all are asked
 * about: of a whole table, in one group. Not where rows have windows: how many are in some of them
 * is private. */
static bool rows_are_public(const brume_plan *plan)
{
    const brume_query *query = plan->query;
    return plan->adjacency == BRUME_REPLACE && !plan->windowed && !query->unit &&
           query->key_count == 0 && !query->where && query->table_count == 1 &&
           query->from->kind == BRUME_RELATION_TABLE && query->from->privacy == BRUME_PRIVACY_ROW;
}

static bool values_are_public(const brume_plan *plan, int value)
{
    return plan->shape.public_rows && !plan->values[value].argument->nullable;
}

/* A mean is a sum with a limit of its own, divided by the number of values: a unit with many rows
 * near zero moves such a sum by little, and by no more than the number's limit times the bounds.
 * Where the number's limit is typed or the owner's, or the spread is asked for as well, the number
 * is all that is limited, and the sum about the middle of the bounds follows it. */
static bool mean_has_own_limit(const brume_plan *plan, int value)
{
    const brume_plan_value *x = &plan->values[value];
    return plan->own_limits && !x->squares && (x->spread || (x->low <= 0 && x->high >= 0));
}

/* Is the sum of a mean one of distances from a centre that is found by looking? A grid of few
 * points has none near the mean, and a sum of the same values is one of the values themselves. */
static bool mean_has_centre(const brume_plan *plan, int value)
{
    enum { FEW_POINTS = 32 };
    const brume_plan_value *x = &plan->values[value];
    return plan->own_limits && !x->added && !x->is_square && x->high - x->low >= FEW_POINTS;
}

/* So are the squares of a spread about one, unless they are asked for themselves. */
static void find_root(brume_plan *plan, const brume_plan_aggregate *to)
{
    brume_plan_value *square = &plan->values[to->second];
    if (mean_has_centre(plan, to->value) && !square->added && !square->averaged && !square->spread)
        square->root = (size_t)to->value + 1;
}

static int measure_sum_of_mean(brume_plan *plan, int value)
{
    return add_measure(
        plan, mean_has_centre(plan, value) ? BRUME_MEASURE_DEVIATION : BRUME_MEASURE_DIRECT, value);
}

/* The number of values that a mean or variance divides by. */
static void measure_divisor(brume_plan *plan, brume_plan_aggregate *to)
{
    to->public_count = values_are_public(plan, to->value);
    if (!to->public_count)
        to->count = measure_count(plan, to->value);
}

static void measure_aggregate(brume_plan *plan, size_t index)
{
    brume_plan_aggregate *to = &plan->aggregates[index];
    switch (plan->query->aggregates[index].kind) {
    case BRUME_AGGREGATE_COUNT_UNITS:
        to->count = measure_units(plan, to->value);
        break;
    case BRUME_AGGREGATE_COUNT_ROWS:
        to->count = measure_rows(plan);
        break;
    case BRUME_AGGREGATE_COUNT:
        to->count = measure_count(plan, to->value);
        break;
    case BRUME_AGGREGATE_VAR_POP:
    case BRUME_AGGREGATE_VAR_SAMP:
    case BRUME_AGGREGATE_STDDEV_POP:
    case BRUME_AGGREGATE_STDDEV_SAMP:
        if (to->second >= 0) {
            find_root(plan, to);
            to->direct = measure_sum_of_mean(plan, to->value); /* first: they share its centre */
            to->second = add_measure(plan, BRUME_MEASURE_DIRECT, to->second);
            measure_divisor(plan, to);
            break;
        }
        to->squares = add_measure(plan, BRUME_MEASURE_SQUARES, to->value);
        to->centred = add_measure(plan, BRUME_MEASURE_CENTRED, to->value);
        measure_divisor(plan, to);
        break;
    case BRUME_AGGREGATE_AVG:
        if (mean_has_own_limit(plan, to->value))
            to->direct = measure_sum_of_mean(plan, to->value);
        else
            to->centred = add_measure(plan, BRUME_MEASURE_CENTRED, to->value);
        measure_divisor(plan, to);
        break;
    case BRUME_AGGREGATE_COVAR_POP:
    case BRUME_AGGREGATE_COVAR_SAMP:
    case BRUME_AGGREGATE_CORR:
    case BRUME_AGGREGATE_REGR_SLOPE:
    case BRUME_AGGREGATE_REGR_INTERCEPT:
    case BRUME_AGGREGATE_REGR_R2: /* all of them follow the number of pairs */
        to->centred = add_measure(plan, BRUME_MEASURE_CENTRED, to->value);
        for (size_t i = 0; i < 4; i++)
            if (to->joint[i] >= 0)
                to->joint[i] = add_measure(plan, BRUME_MEASURE_CENTRED, to->joint[i]);
        measure_divisor(plan, to);
        break;
    case BRUME_AGGREGATE_MODE:
        if (!to->private_mode)
            to->selection = add_measure(plan, BRUME_MEASURE_MODE, to->value);
        break;
    case BRUME_AGGREGATE_COUNT_DISTINCT:
        break; /* a measurement by itself */
    case BRUME_AGGREGATE_SUM:
    case BRUME_AGGREGATE_QUANTILE:
        break; /* when the counts are known */
    }
}

static bool is_deviation(const brume_plan *plan, int measure)
{
    return measure >= 0 && plan->measures[measure].kind == BRUME_MEASURE_DEVIATION;
}

/* Numbers that nothing but means and spreads about centres are made of; and the sums of spreads,
 * which say how far the centre is from the mean. */
static void find_divisors(brume_plan *plan)
{
    for (size_t i = 0; i < plan->query->aggregate_count; i++)
        if (is_deviation(plan, plan->aggregates[i].direct))
            plan->measures[plan->aggregates[i].count].divides = true;
    for (size_t i = 0; i < plan->query->aggregate_count; i++)
        if (!is_deviation(plan, plan->aggregates[i].direct) && plan->aggregates[i].count >= 0)
            plan->measures[plan->aggregates[i].count].divides = false;
    for (size_t i = 0; i < plan->query->aggregate_count; i++) {
        const brume_plan_aggregate *of = &plan->aggregates[i];
        if (of->second < 0 || !plan->values[plan->measures[of->second].expression].root)
            continue;
        plan->measures[of->count].of_spread = true;
        plan->measures[of->direct].divides = !plan->values[of->value].averaged;
    }
}

/* SUM: centre times count plus the centred sum where the count is public or is there anyway, else
 * directly. */
static void measure_sum(brume_plan *plan, size_t index)
{
    brume_plan_aggregate *to = &plan->aggregates[index];
    if (plan->query->aggregates[index].kind != BRUME_AGGREGATE_SUM)
        return;
    to->public_count = values_are_public(plan, to->value);
    if (to->public_count) {
        to->centred = add_measure(plan, BRUME_MEASURE_CENTRED, to->value);
    } else if (count_is_measured(plan, to->value)) {
        to->centred = add_measure(plan, BRUME_MEASURE_CENTRED, to->value);
        to->count = measure_count(plan, to->value);
    } else {
        to->direct = add_measure(plan, BRUME_MEASURE_DIRECT, to->value);
    }
}

static int compare_fractions(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    brume_wide x = (brume_wide)a[0] * b[1], y = (brume_wide)b[0] * a[1];
    return (x > y) - (x < y);
}

/* Up to so many quantiles of one expression are drawn each by itself, for a share of the price
 * each. More of them are one measure, which halves the list again and again: its levels share one
 * price, but each level's error adds to the next one's, and ties cost it 32 more bits of the grid.
 * For two quantiles of 10^5 values at epsilon 1 the bar is 52 ranks against 218; of about sixty on
 * the list is better by its bar, of about twelve on by its error. */
enum { SEPARATE_QUANTILES = 8 };

/* The fractions asked of the value, ascending, each once; returns how many. */
static size_t list_fractions(const brume_plan *plan, int value, int64_t (*fractions)[2])
{
    const brume_query *query = plan->query;
    size_t count = 0, different = 0;
    for (size_t i = 0; i < query->aggregate_count; i++)
        if (query->aggregates[i].kind == BRUME_AGGREGATE_QUANTILE &&
            plan->aggregates[i].value == value)
            memcpy(fractions[count++], query->aggregates[i].fraction, sizeof *fractions);
    qsort(fractions, count, sizeof *fractions, compare_fractions);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_fractions(fractions[i], fractions[different - 1]) != 0)
            memmove(fractions[different++], fractions[i], sizeof *fractions);
    return different;
}

/* The measures of all quantiles of a value. Returns how many of `fractions` it used. */
static size_t measure_quantiles(brume_plan *plan, int value, int64_t (*fractions)[2])
{
    const brume_query *query = plan->query;
    size_t different = list_fractions(plan, value, fractions), first = plan->measure_count;
    size_t each = different <= SEPARATE_QUANTILES ? 1 : different;
    for (size_t j = 0; j < different; j += each) {
        int measure = add_new_measure(plan, BRUME_MEASURE_QUANTILES, value);
        plan->measures[measure].fractions = (const int64_t(*)[2])(fractions + j);
        plan->measures[measure].fraction_count = each;
        plan->values[value].breaks_ties = plan->values[value].breaks_ties || each > 1;
    }
    for (size_t i = 0; i < query->aggregate_count; i++) {
        if (query->aggregates[i].kind != BRUME_AGGREGATE_QUANTILE ||
            plan->aggregates[i].value != value)
            continue;
        for (size_t j = 0; j < different; j++)
            if (compare_fractions(fractions[j], query->aggregates[i].fraction) == 0) {
                plan->aggregates[i].selection = (int)(first + j / each);
                plan->aggregates[i].fraction = (int)(j % each);
            }
    }
    return different;
}

/* Are limits chosen by looking, as far as is known before there are any: nobody typed one, and the
 * owner's ceiling leaves a unit more than two rows? */
static bool looks_for_limits(const brume_plan *plan, const brume_payment *payment)
{
    uint64_t rows = plan->shape.max_rows, groups = plan->shape.max_groups;
    groups = plan->shape.cells == 1 ? 1 : groups;
    if (plan->unit_rows == 1 || plan->unit_rows == 2)
        return false;
    return plan->by_totals && payment->limit_count == 0 &&
           (rows == 0 || groups == 0 || rows > 2 || groups > 2 || rows * groups > 2);
}

static brume_status plan_measures(brume_plan *plan, const brume_plan_table *tables,
                                  brume_error *error)
{
    size_t aggregates = plan->query->aggregate_count;
    plan->aggregates = calloc(aggregates + 1, sizeof *plan->aggregates);
    plan->values = calloc(5 * aggregates + 1, sizeof *plan->values);
    plan->measurements = calloc(aggregates + 2, sizeof *plan->measurements);
    plan->measures = calloc(6 * aggregates + 2, sizeof *plan->measures);
    plan->fractions = calloc(aggregates + 1, sizeof *plan->fractions);
    if (!plan->aggregates || !plan->values || !plan->measures || !plan->fractions ||
        !plan->measurements)
        return brume_no_memory(error, "a plan");
    plan->units = BRUME_NOT_MEASURED;
    plan->shape.public_rows = rows_are_public(plan);
    plan->measurements[plan->measurement_count++] =
        (brume_measurement){.kind = BRUME_MEASUREMENT_GROUPS};
    BRUME_TRY(collect_values(plan, tables, error));
    BRUME_TRY(plan_grid_values(plan, error));
    if (plan->shape.private_keys) /* the test of keys comes first: measures[0] */
        plan->units = add_measure(plan, BRUME_MEASURE_UNITS, BRUME_NOT_MEASURED);
    for (size_t i = 0; i < aggregates; i++)
        measure_aggregate(plan, i);
    for (size_t i = 0; i < aggregates; i++)
        measure_sum(plan, i);
    find_divisors(plan);
    for (size_t i = 0, at = 0; i < plan->value_count; i++)
        at += measure_quantiles(plan, (int)i, plan->fractions + at);
    BRUME_TRY(measure_modes(plan, error));
    BRUME_TRY(brume_distinct_plan(plan, tables, error));
    if (plan->measure_count == 0 && plan->measurement_count == 1)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          plan->query->key_count > 0
                              ? "its groups are public: 'brume show' has what is declared; ask for "
                                "COUNT(*), SUM, AVG ..."
                              : "ask for COUNT(*), SUM, AVG, MEDIAN ...",
                          "a query that measures nothing");
    return BRUME_OK;
}

/* What is collected for the groups of the query; everything it points to is the plan's. */
static brume_collection collect_groups(const brume_plan *plan)
{
    return (brume_collection){.query = plan->query,
                              .max_groups = plan->shape.max_groups,
                              .bounded = plan->bounded,
                              .totals = plan->by_totals,
                              .unread = plan->measure_count == 0,
                              .cells = plan->shape.cells,
                              .domain = plan->domain,
                              .domain_size = plan->domain_size,
                              .tie_count = plan->tie_count,
                              .ties = plan->ties,
                              .value_count = plan->value_count,
                              .values = plan->values};
}

static brume_status make(brume_plan *plan, const brume_plan_table *tables,
                         const brume_payment *payment, brume_error *error)
{
    BRUME_TRY(check_tables_compatible(plan, tables, error));
    BRUME_TRY(brume_plan_keys(plan, tables, error));
    plan->own_limits = plan->own_limits && looks_for_limits(plan, payment);
    BRUME_TRY(plan_measures(plan, tables, error));
    plan->measurements[0].collection = collect_groups(plan);
    if (!payment->limits_only) /* then nothing is measured that could be biased */
        BRUME_TRY(brume_bias_plan(plan, tables, error));
    BRUME_TRY(brume_plan_fit_sets(plan, error));
    return brume_plan_pay(plan, tables, payment, error);
}

brume_status brume_query_plan_make(brume_query *query, const brume_plan_table *tables,
                                   const brume_payment *payment, brume_plan **out,
                                   brume_error *error)
{
    brume_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return brume_no_memory(error, "a plan");
    plan->query = query;
    brume_status status = make(plan, tables, payment, error);
    if (status != BRUME_OK) {
        brume_query_plan_close(plan);
        return status;
    }
    *out = plan;
    return BRUME_OK;
}
