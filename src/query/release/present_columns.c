/* What an answer says of each of its columns. */
#include "query/release/present_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/plan/bias.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/plan/plan_sets.h"
#include "query/price/price.h"
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

/* Does clamping move a value that the aggregate uses? */
static bool clamps(const brume_plan *plan, size_t index)
{
    const brume_aggregate *aggregate = &plan->query->aggregates[index];
    return aggregate->argument && aggregate->kind != BRUME_AGGREGATE_COUNT &&
           aggregate->kind != BRUME_AGGREGATE_COUNT_DISTINCT &&
           (brume_bias_may_clamp(aggregate->argument) ||
            (aggregate->other && brume_bias_may_clamp(aggregate->other)));
}

/* ... one that the output uses? */
static bool may_clamp(const brume_plan *plan, const brume_formula *formula)
{
    if (formula->kind == BRUME_FORMULA_AGGREGATE)
        return clamps(plan, formula->index);
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
        const brume_measure *measure = &all->terms->measures[selection];
        brume_selection_error known = brume_terms_selection_error(all->terms, (size_t)selection);
        column->rank_error_95 = known.rank_95;
        column->count_error_95 = known.count_95;
        column->gap_95 = known.gap_95;
        if (measure->kind == BRUME_MEASURE_PRIVATE_MODE)
            column->threshold = (int64_t)measure->threshold;
    }
    for (size_t i = 0; i < plan->measurement_count; i++)
        brume_measurement_show(all->terms, i, all->drawn, aggregate, column);
}

static double size_in(const brume_answer_row *row, size_t aggregate)
{
    const brume_value *value = &row->values[aggregate];
    return value->kind == BRUME_VALUE_NUMBER ? fabs(value->number) : 0;
}

/* The largest size of a value, in the units of the query. */
static double largest_value(const brume_plan *plan, const brume_plan_aggregate *from)
{
    const brume_plan_value *value = &plan->values[from->value];
    return fmax(fabs((double)value->low), fabs((double)value->high)) * value->step;
}

/* For a sum that is computed from a count: what one row adds to it, in the mean of all groups. */
static double mean_size(const brume_answer_table *all, size_t aggregate, int count)
{
    double sum = 0, rows = 0;
    for (size_t i = 0; i < all->count; i++) {
        sum += size_in(&all->rows[i], aggregate);
        rows += fmax(0, brume_drawn_number(all->drawn, count, all->rows[i].group));
    }
    return sum / fmax(1, rows);
}

/* A unit is in each group once or not at all: a limit of as many groups as are answered cuts
 * nobody. */
static bool cuts_nobody(const brume_answer_table *all, const brume_found_limit *limit)
{
    uint64_t cells = all->plan->shape.cells;
    double groups = cells ? (double)cells : (double)all->drawn->count;
    double most = brume_found_value(limit);
    return limit->known && !brume_found_nothing(limit) &&
           limit->of->of.kind == BRUME_TOTAL_PRESENCE &&
           (limit->of->norm == 2 ? most * most : most) >= groups;
}

/* About how many units there are: by the histogram; where the first count was so small that none
 * was drawn the limit is one row, and the rows that were counted under it are the units. */
static double count_of_units(const brume_answer_table *all, const brume_found_limit *limit,
                             int count)
{
    brume_looks looks = brume_found_looks(limit);
    double units = brume_looks_units(&looks), rows = 0;
    for (size_t i = 0; count >= 0 && i < all->drawn->count; i++)
        rows += brume_drawn_number(all->drawn, count, i);
    return isnan(units) ? rows : units;
}

/* Hidden units are said where so many of all may be hidden. */
#define MANY 0.005

/* What the bar allows for what is cut, and what it does not cover. From released numbers and public
 * ones alone. Each group's bar allows for all that is cut (limit/bar.h). */
static void add_cut(const brume_answer_table *all, brume_answer_column *column, size_t aggregate,
                    const brume_found_limit *limit, bool by_rows, double step)
{
    const brume_plan_aggregate *from = &all->plan->aggregates[aggregate];
    const brume_limit_choice *choice = &limit->choice;
    double size = by_rows ? mean_size(all, aggregate, from->count) : step;
    column->cut_allowance = choice->allowance * size;
    if (choice->allowance > 0)
        column->reach = choice->reach * step;
    if (choice->hidden >= MANY * count_of_units(all, limit, from->count)) {
        column->cut_hidden = ceil(choice->hidden);
        column->biased = true;
    }
}

/* The bars of a mean's rows allow for what is cut of its number and its sum, the interval of a
 * quantile and the margin of a mode for what is cut of the number of values. What they do not cover
 * is said of all. */
static void add_cut_in_bar(const brume_answer_table *all, brume_answer_column *column,
                           const brume_plan_aggregate *from)
{
    int measures[] = {from->selection >= 0 ? from->selection : from->count, from->direct,
                      from->second};
    column->cut_in_bar = true;
    for (size_t i = 0; i < 3 && measures[i] >= 0; i++) {
        const brume_found_limit *limit = brume_terms_measure_limit(all->terms, (size_t)measures[i]);
        const brume_limit_choice *choice = &limit->choice;
        if (choice->allowance > 0 && isnan(column->reach) && limit->of->of.kind != BRUME_TOTAL_SUM)
            column->reach = choice->reach;
        if (!(choice->hidden >= MANY * count_of_units(all, limit, from->count)))
            continue;
        column->cut_hidden = fmax(column->cut_hidden, ceil(choice->hidden)); /* skips NaN */
        column->biased = true;
    }
}

/* The limit of an aggregate, how many units are above it, and what they may have beyond it. */
static void add_limit(const brume_answer_table *all, brume_answer_column *column, size_t aggregate)
{
    const brume_plan *plan = all->plan;
    const brume_found_limit *limit = brume_terms_limit_of(all->terms, aggregate);
    const brume_plan_aggregate *from = &plan->aggregates[aggregate];
    if (from->private_mode && (plan->by_totals || plan->bounded)) {
        column->limit = (double)brume_shape_pairs(&plan->shape);
        column->counts = BRUME_COUNTS_VOTES;
        column->biased = true;
    }
    if (!limit || limit->source == BRUME_LIMIT_NONE)
        return;
    bool by_rows = from->direct < 0 && from->centred >= 0 &&
                   plan->query->aggregates[aggregate].kind == BRUME_AGGREGATE_SUM;
    double step = by_rows ? largest_value(plan, from) : brume_plan_limit_step(plan, limit->of);
    if (limit->known)
        column->limit = brume_found_value(limit) * step;
    column->is_limited = column->biased = true;
    column->limit_not_found = brume_found_nothing(limit);
    if (cuts_nobody(all, limit)) {
        column->cut_units = column->cut_allowance = 0;
        column->biased = clamps(plan, aggregate);
        return;
    }
    if (!brume_found_is_counted(limit))
        return;
    column->cut_units = ceil(limit->choice.hidden);
    column->biased = limit->choice.allowance > 0 || clamps(plan, aggregate);
    if ((from->direct >= 0 && from->count >= 0) ||
        brume_aggregate_is_joint(plan->query->aggregates[aggregate].kind) ||
        (from->selection >= 0 && brume_terms_allows_for_cut(all->terms, (size_t)from->selection)))
        add_cut_in_bar(all, column, from);
    else if (by_rows || (from->centred < 0 && from->selection < 0))
        add_cut(all, column, aggregate, limit, by_rows, step);
    /* of other means, and of quantiles that are drawn together, nothing is known but the units */
}

/* What the limit of an aggregate is a number of, who set it, and what its cut hides. */
static void add_meaning(const brume_plan *plan, brume_answer_column *column, size_t aggregate)
{
    static const brume_answer_counts of[] = {[BRUME_TOTAL_PRESENCE] = BRUME_COUNTS_GROUPS,
                                             [BRUME_TOTAL_ROWS] = BRUME_COUNTS_ROWS,
                                             [BRUME_TOTAL_VALUES] = BRUME_COUNTS_ROWS,
                                             [BRUME_TOTAL_SUM] = BRUME_COUNTS_SUM};
    const brume_plan_aggregate *from = &plan->aggregates[aggregate];
    const brume_aggregate *asked = &plan->query->aggregates[aggregate];
    bool distinct = from->distinct >= 0, sums = asked->kind == BRUME_AGGREGATE_SUM;
    const brume_plan_limit *limit = distinct ? &plan->measurements[from->distinct].distinct.limit
                                             : brume_plan_limit_of(plan, aggregate);
    if (limit && column->counts == BRUME_COUNTS_UNKNOWN) {
        column->counts = distinct ? BRUME_COUNTS_VALUES
                         : sums   ? BRUME_COUNTS_SUM
                                  : of[limit->of.kind];
        column->origin = limit->source == BRUME_LIMIT_TYPED    ? BRUME_ORIGIN_TYPED
                         : limit->source == BRUME_LIMIT_POLICY ? BRUME_ORIGIN_OWNER
                                                               : BRUME_ORIGIN_CHOSEN;
    } else if (plan->bounded) {
        column->origin = BRUME_ORIGIN_OWNER;
    }
    if (asked->kind < BRUME_AGGREGATE_SUM || (sums && plan->values[from->value].low >= 0))
        column->side = BRUME_SIDE_HIGHER;
    else if (sums && plan->values[from->value].high <= 0)
        column->side = BRUME_SIDE_LOWER;
    column->clamps = clamps(plan, aggregate);
    const brume_expression *argument = asked->argument;
    if (!column->clamps || from->value < 0 || asked->other ||
        argument->operation != BRUME_OPERATION_CLAMP ||
        argument->arguments[0]->operation != BRUME_OPERATION_COLUMN)
        return;
    column->clamp_low = (double)plan->values[from->value].low * plan->values[from->value].step;
    column->clamp_high = (double)plan->values[from->value].high * plan->values[from->value].step;
}

/* A count or a sum of which every total is the sum of its parts. */
static bool adds_up(const brume_plan *plan, size_t aggregate)
{
    const brume_plan_aggregate *from = &plan->aggregates[aggregate];
    int measure = from->direct >= 0 ? from->direct : from->count;
    return plan->fitted && plan->query->aggregates[aggregate].kind <= BRUME_AGGREGATE_SUM &&
           measure >= 0 && brume_plan_is_fitted(plan, (size_t)measure);
}

/* All that is said of an aggregate apart from its value and noise. */
static void describe(const brume_answer_table *all, brume_answer_column *column, size_t aggregate)
{
    add_details(all, column, aggregate);
    add_limit(all, column, aggregate);
    add_meaning(all->plan, column, aggregate);
    column->adds_up = adds_up(all->plan, aggregate);
}

/* ---- arithmetic on aggregates ---- */

static bool reads(const brume_formula *formula, size_t aggregate)
{
    if (formula->kind == BRUME_FORMULA_AGGREGATE && formula->index == aggregate)
        return true;
    for (size_t i = 0; i < formula->argument_count; i++)
        if (reads(formula->arguments[i], aggregate))
            return true;
    return false;
}

/* What limits may have cut of an aggregate that an output is computed from. */
typedef struct cut_part {
    size_t aggregate;
    double allowance;
    bool less, more; /* it may truly be less, or more */
} cut_part;

typedef struct cut_parts {
    cut_part *list;
    size_t count;
    brume_cut *room; /* for one row; by aggregates */
} cut_parts;

/* A count, and a sum of what is never negative, may truly be more; one of what is never positive,
 * less; other sums either. */
static cut_part part_of(const brume_answer_table *all, size_t aggregate, double allowance)
{
    const brume_plan *plan = all->plan;
    bool sums = plan->query->aggregates[aggregate].kind == BRUME_AGGREGATE_SUM;
    const brume_plan_value *value = sums ? &plan->values[plan->aggregates[aggregate].value] : NULL;
    return (cut_part){.aggregate = aggregate,
                      .allowance = allowance,
                      .less = value && value->low < 0,
                      .more = !value || value->high > 0};
}

/* The row that is moved most, of those that have a bar for their noise, by interval arithmetic: all
 * that is cut of each aggregate may be cut in each row. */
static brume_status add_moved(const brume_answer_table *all, brume_answer_column *column,
                              size_t output, const cut_parts *parts, brume_error *error)
{
    for (size_t i = 0; i < parts->count; i++) {
        const cut_part *one = &parts->list[i];
        parts->room[one->aggregate] =
            (brume_cut){one->less ? one->allowance : 0, one->more ? one->allowance : 0};
    }
    BRUME_TRY(brume_present_bound_windows(all, output, parts->room, error));
    for (size_t i = 0; i < all->count; i++) {
        brume_answer_row *row = &all->rows[i];
        if (isnan(row->errors[output]))
            continue;
        double moved = brume_present_error(all, row, output, parts->room) - row->errors[output];
        row->cuts[output] = moved;
        if (isnan(moved)) /* what it is divided by may be nothing at all, for example */
            column->cut_not_known = true;
        column->cut_allowance = fmax(column->cut_allowance, moved); /* skips NaN */
    }
    if (column->cut_not_known)
        column->cut_allowance = NAN;
    column->is_limited = column->cut_not_known || !isnan(column->cut_allowance);
    return BRUME_OK;
}

/* What limits did to an output that is arithmetic on aggregates. */
static brume_status describe_arithmetic(const brume_answer_table *all, brume_answer_column *column,
                                        size_t output, brume_error *error)
{
    const brume_query *query = all->plan->query;
    size_t count = query->aggregate_count;
    cut_parts parts = {calloc(count + 1, sizeof *parts.list), 0,
                       calloc(count + 1, sizeof *parts.room)};
    brume_status status = parts.list && parts.room ? BRUME_OK
                                                   : brume_no_memory(error, "the answer");
    bool limited = false;
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        brume_answer_column one = brume_answer_column_empty();
        if (!reads(query->outputs[output].value, i))
            continue;
        describe(all, &one, i);
        column->biased = column->biased || one.biased;
        column->cut_not_known = column->cut_not_known || one.cut_not_known;
        column->cut_hidden = fmax(column->cut_hidden, one.cut_hidden); /* skips NaN */
        column->clamps = column->clamps || one.clamps;
        limited = limited || one.cut_not_known || one.cut_allowance >= 0;
        if (one.cut_allowance > 0)
            parts.list[parts.count++] = part_of(all, i, one.cut_allowance);
    }
    if (status == BRUME_OK && limited)
        status = add_moved(all, column, output, &parts, error);
    free(parts.list);
    free(parts.room);
    return status;
}

/* The period of a key that is date_trunc('month', ...). */
static brume_status add_period(const brume_query *query, const brume_formula *shown,
                               brume_answer_column *column, brume_error *error)
{
    const brume_expression *key = shown->kind == BRUME_FORMULA_KEY ? query->keys[shown->index].plain
                                                                   : NULL;
    if (key && key->operation == BRUME_OPERATION_CAST)
        key = key->arguments[0];
    if (!key || key->operation != BRUME_OPERATION_DATE_TRUNC)
        return BRUME_OK;
    column->period = strdup(key->text);
    return column->period ? BRUME_OK : brume_no_memory(error, "the answer");
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
        return add_period(all->plan->query, shown->value, column, error);
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
        column->biased = column->biased || brume_formula_count_released(whole) > 0;
        return describe_arithmetic(all, column, output, error);
    }
    const brume_aggregate *aggregate = &all->plan->query->aggregates[whole->index];
    if (whole->extreme)
        column->quantile = (double)aggregate->fraction[0] / (double)aggregate->fraction[1];
    describe(all, column, whole->index);
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
