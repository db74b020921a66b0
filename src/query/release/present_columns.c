/* What an answer says of each of its columns. */
#include "query/release/present_parts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "query/limit/spread.h"
#include "query/limit/tail.h"
#include "query/plan/bias.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/price/price_parts.h"
#include "query/release/measurement.h"

/* The measure that an output mostly rests on, for the name of its mechanism. */
static const char *mechanism_of(const brume_plan *plan, const brume_formula *formula)
{
    if (formula->kind == BRUME_FORMULA_AGGREGATE) {
        const brume_plan_aggregate *from = &plan->aggregates[formula->index];
        if (from->distinct >= 0)
            return brume_distinct_mechanism(&plan->measurements[from->distinct]);
        int measure = from->selection >= 0 ? from->selection
                      : from->direct >= 0  ? from->direct
                      : from->centred >= 0 ? from->centred
                                           : from->count;
        return brume_plan_mechanism(plan, (size_t)measure);
    }
    for (size_t i = 0; i < formula->argument_count; i++) {
        const char *mechanism = mechanism_of(plan, formula->arguments[i]);
        if (mechanism)
            return mechanism;
    }
    return NULL;
}

/* Does clamping move a value that the output uses? */
static bool may_clamp(const brume_plan *plan, const brume_formula *formula)
{
    if (formula->kind == BRUME_FORMULA_AGGREGATE) {
        const brume_aggregate *aggregate = &plan->query->aggregates[formula->index];
        return aggregate->argument && aggregate->kind != BRUME_AGGREGATE_COUNT &&
               aggregate->kind != BRUME_AGGREGATE_COUNT_DISTINCT &&
               brume_bias_may_clamp(aggregate->argument);
    }
    for (size_t i = 0; i < formula->argument_count; i++)
        if (may_clamp(plan, formula->arguments[i]))
            return true;
    return false;
}

/* What is said of a quantile or a mode in place of an error bar, and what the measurements add. */
static void add_details(const brume_answer_table *all, brume_answer_column *column,
                        size_t aggregate)
{
    const brume_plan *plan = all->plan;
    int selection = plan->aggregates[aggregate].selection;
    if (selection >= 0) {
        const brume_measure *measure = &plan->measures[selection];
        brume_selection_error known = brume_plan_selection_error(plan, (size_t)selection);
        column->rank_error_95 = known.rank_95;
        column->count_error_95 = known.count_95;
        column->gap_95 = known.gap_95;
        if (measure->kind == BRUME_MEASURE_PRIVATE_MODE)
            column->threshold = (int64_t)measure->threshold;
    }
    for (size_t i = 0; i < plan->measurement_count; i++)
        brume_measurement_show(plan, i, all->drawn, aggregate, column);
}

/* What the rows of a column share of an allowance for all groups: as much as of the values. The
 * largest share; NaN without rows. */
static double largest_share(const brume_answer_table *all, size_t output)
{
    double sum = 0, largest = 0;
    for (size_t i = 0; i < all->count; i++) {
        const brume_value *value = &all->rows[i].outputs[output];
        double size = value->kind == BRUME_VALUE_NUMBER ? fabs(value->number) : 0;
        sum += size;
        largest = fmax(largest, size);
    }
    return sum > 0 ? largest / sum : 1;
}

/* The largest size of a value, in the units of the query. */
static double largest_value(const brume_plan *plan, const brume_plan_aggregate *from)
{
    const brume_plan_value *value = &plan->values[from->value];
    return fmax(fabs((double)value->low), fabs((double)value->high)) * value->step;
}

/* Of a sum that is computed from a count: what one row adds to it, in the mean of all groups. */
static double mean_size(const brume_answer_table *all, size_t output, int count)
{
    double sum = 0, rows = 0;
    for (size_t i = 0; i < all->count; i++) {
        const brume_value *value = &all->rows[i].outputs[output];
        sum += value->kind == BRUME_VALUE_NUMBER ? fabs(value->number) : 0;
        rows += fmax(0, brume_drawn_number(all->drawn, count, all->rows[i].group));
    }
    return sum / fmax(1, rows);
}

/* A unit is in each group once or not at all: a limit of as many groups as are answered cuts
 * nobody. */
static bool cuts_nobody(const brume_answer_table *all, const brume_plan_limit *limit)
{
    uint64_t cells = all->plan->shape.cells;
    double groups = cells ? (double)cells : (double)all->drawn->count;
    double most = brume_plan_limit_value(limit);
    return limit->known && !brume_plan_limit_not_found(limit) &&
           limit->of.kind == BRUME_TOTAL_PRESENCE &&
           (limit->norm == 2 ? most * most : most) >= groups;
}

/* About how many units there are: by the histogram; where the first count was so small that none
 * was drawn the limit is one row, and the rows that were counted under it are the units. */
static double count_of_units(const brume_answer_table *all, const brume_limit_histogram *histogram,
                             int count)
{
    double units = brume_limit_seen_units(histogram), rows = 0;
    for (size_t i = 0; count >= 0 && i < all->drawn->count; i++)
        rows += brume_drawn_number(all->drawn, count, i);
    return isnan(units) ? rows : units;
}

/* What the units may have beyond the limit, in all groups, and in the one that has most. Norms
 * of several groups are lengths: what a unit loses in all groups together is at most the square
 * root of their number times that. From released numbers and public ones alone. */
static void add_cut(const brume_answer_table *all, brume_answer_column *column, size_t output,
                    const brume_plan_aggregate *from, const brume_plan_limit *limit, bool by_rows,
                    double step)
{
    brume_limit_histogram histogram = brume_plan_histogram(limit);
    double most = (double)limit->limit, beyond = brume_limit_cut_allowance(&histogram, most);
    if (limit->norm == 2)
        beyond *= sqrt(all->plan->shape.cells ? (double)all->plan->shape.cells
                                              : fmax(1, (double)all->count));
    double size = by_rows ? mean_size(all, output, from->count) : step;
    column->cut_not_known = isnan(beyond);
    column->cut_bound = brume_limit_cut_bound(&histogram, most) * step;
    if (isnan(beyond))
        return;
    column->cut_allowance =
        fmin(beyond * size * largest_share(all, output), column->cut_bound); /* skips NaN */
    double hidden = ceil(
        brume_limit_hidden_units(&histogram, most, count_of_units(all, &histogram, from->count)));
    if (hidden > 0 && !(column->cut_bound <= column->cut_allowance)) {
        column->cut_hidden = hidden;
        column->biased = true;
    }
}

/* The limit of an aggregate, how many units are above it, and what they may have beyond it. */
static void add_limit(const brume_answer_table *all, brume_answer_column *column, size_t output,
                      size_t aggregate)
{
    const brume_plan *plan = all->plan;
    const brume_plan_limit *limit = brume_plan_limit_of(plan, aggregate);
    const brume_plan_aggregate *from = &plan->aggregates[aggregate];
    if (from->private_mode && (plan->by_totals || plan->bounded)) {
        column->limit = (double)brume_shape_pairs(&plan->shape);
        column->biased = true;
    }
    if (!limit || limit->source == BRUME_LIMIT_NONE)
        return;
    bool by_rows = from->direct < 0 && from->centred >= 0 &&
                   plan->query->aggregates[aggregate].kind == BRUME_AGGREGATE_SUM;
    double step = by_rows ? largest_value(plan, from) : brume_plan_limit_step(plan, limit);
    if (limit->known)
        column->limit = brume_plan_limit_value(limit) * step;
    column->is_limited = column->biased = true;
    column->limit_not_found = brume_plan_limit_not_found(limit);
    if (cuts_nobody(all, limit)) {
        column->cut_units = column->cut_allowance = 0;
        column->biased = may_clamp(plan, plan->query->outputs[output].value);
        return;
    }
    if (limit->bins == 0 || limit->bin == BRUME_LIMIT_NO_BIN)
        return; /* typed or the owner's, or not found: nobody counted the units above it */
    brume_limit_histogram histogram = brume_plan_histogram(limit);
    column->cut_units = ceil(brume_limit_cut_units(&histogram, limit->bin));
    double beyond =
        brume_limit_cut_allowance(&histogram, (double)limit->limit); /* NaN: not known */
    column->biased = !(beyond <= 0 && column->cut_units <= 0) ||
                     may_clamp(plan, plan->query->outputs[output].value);
    if (by_rows || (from->centred < 0 && from->selection < 0))
        add_cut(all, column, output, from, limit, by_rows, step);
    /* of means, quantiles and modes nothing is known but the units */
}

static brume_status fill_column(const brume_answer_table *all, size_t output,
                                brume_answer_column *column, brume_error *error)
{
    const brume_query_output *shown = &all->plan->query->outputs[output];
    column->name = strdup(shown->name);
    if (!column->name)
        return brume_no_memory(error, "the answer");
    column->is_key = brume_formula_count_aggregates(shown->value) == 0 &&
                     brume_formula_count_released(shown->value) == 0;
    if (column->is_key) {
        bool several = all->plan->by_totals || all->plan->bounded; /* rows of a unit */
        if (all->plan->shape.private_keys && several)
            column->limit = all->plan->by_totals ? 1 : (double)all->plan->shape.max_groups;
        return BRUME_OK;
    }
    const char *mechanism = mechanism_of(all->plan, shown->value);
    column->mechanism = mechanism ? strdup(mechanism) : NULL;
    if (mechanism && !column->mechanism)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < all->count; i++)
        column->error_95 = fmax(column->error_95, all->rows[i].errors[output]); /* skips NaN */
    column->biased = all->plan->bounded || may_clamp(all->plan, shown->value);
    const brume_formula *whole = shown->value;
    if (whole->kind == BRUME_FORMULA_DATE || whole->kind == BRUME_FORMULA_TIMESTAMP)
        whole = whole->arguments[0];
    if (whole->kind != BRUME_FORMULA_AGGREGATE) {
        /* what limits and bounds did to a number that was released before is not known here */
        column->biased = column->biased || all->plan->by_totals ||
                         brume_formula_count_released(whole) > 0;
        return BRUME_OK;
    }
    const brume_aggregate *aggregate = &all->plan->query->aggregates[whole->index];
    if (whole->extreme)
        column->quantile = (double)aggregate->fraction[0] / (double)aggregate->fraction[1];
    add_details(all, column, whole->index);
    if (all->plan->aggregates[whole->index].distinct >= 0)
        column->cut_allowance *= largest_share(all, output);
    add_limit(all, column, output, whole->index);
    return BRUME_OK;
}

brume_status brume_present_columns(const brume_answer_table *all, brume_query_answer *answer,
                                   brume_error *error)
{
    const brume_query *query = all->plan->query;
    for (size_t i = 0; i < query->output_count; i++) {
        BRUME_TRY(fill_column(all, i, &answer->columns[i], error));
        if (!answer->columns[i].is_key && brume_error_varies(all->plan, query->outputs[i].value))
            answer->errors_vary = true;
    }
    return BRUME_OK;
}
