/* Present: from drawn numbers to the rows of an answer.
 *
 * HAVING, ORDER BY and arithmetic use the values as they are shown, so that the columns of an
 * answer agree. */
#include "query/release/present_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "synthetic/consistent.h"

static const double whole_beta = 0.05;

/* ---- error bars of outputs ---- */

/* The aggregate that an output shows as it is, or as a date or time; NULL: it is arithmetic. */
static const brume_formula *shown_alone(const brume_formula *formula)
{
    if (formula->kind == BRUME_FORMULA_DATE || formula->kind == BRUME_FORMULA_TIMESTAMP)
        formula = formula->arguments[0];
    return formula->kind == BRUME_FORMULA_AGGREGATE ? formula : NULL;
}

static bool is_quantile(const brume_plan *plan, const brume_formula *formula)
{
    const brume_formula *alone = shown_alone(formula);
    return alone && plan->query->aggregates[alone->index].kind == BRUME_AGGREGATE_QUANTILE;
}

bool brume_error_varies(const brume_plan *plan, const brume_formula *formula)
{
    if (formula->kind != BRUME_FORMULA_AGGREGATE || plan->fitted)
        return true;
    brume_aggregate_kind kind = plan->query->aggregates[formula->index].kind;
    return kind != BRUME_AGGREGATE_COUNT_ROWS && kind != BRUME_AGGREGATE_COUNT &&
           kind != BRUME_AGGREGATE_COUNT_UNITS && kind != BRUME_AGGREGATE_COUNT_DISTINCT &&
           kind != BRUME_AGGREGATE_SUM;
}

/* ---- rows ---- */

static void free_row(brume_answer_row *row)
{
    free(row->keys);
    free(row->values);
    free(row->outputs);
    free(row->errors);
    free(row->cuts);
    free(row->too_few);
    free(row->bounds);
    free(row->texts);
}

double brume_present_error(const brume_answer_table *all, const brume_answer_row *row,
                           size_t output, const brume_cut *cut)
{
    const brume_formula *formula = all->plan->query->outputs[output].value;
    const brume_value *value = &row->outputs[output];
    size_t used = brume_formula_count_aggregates(formula);
    size_t released = brume_formula_count_released(formula);
    /* An error at 95 % is all that is known of what was released before: it leaves nothing for the
     * noise of another number. */
    if (used + released == 0 || (released > 0 && used + released > 1) ||
        value->kind != BRUME_VALUE_NUMBER || is_quantile(all->plan, formula))
        return NAN;
    brume_interval_source from = {all, row, whole_beta / fmax(1, (double)used), cut};
    brume_interval bar;
    if (!brume_present_interval(formula, &from, &bar))
        return NAN;
    return fmax(bar.upper - value->number, value->number - bar.lower);
}

bool brume_flags_near(const brume_plan *plan)
{
    return plan->shape.private_keys && !plan->selection;
}

static brume_status fill_row(brume_answer_table *all, size_t group, brume_answer_row *row,
                             brume_error *error)
{
    const brume_query *query = all->plan->query;
    brume_present_source source = {all->terms, all->drawn, all->modes};
    row->keys = calloc(query->key_count + 1, sizeof *row->keys);
    size_t values = query->aggregate_count + query->window_count;
    row->group = group;
    row->values = calloc(values + 1, sizeof *row->values);
    row->outputs = calloc(query->output_count + 1, sizeof *row->outputs);
    row->errors = calloc(query->output_count + 1, sizeof *row->errors);
    row->cuts = calloc(query->output_count + 1, sizeof *row->cuts);
    row->too_few = calloc(query->output_count + 1, sizeof *row->too_few);
    row->bounds = calloc(query->window_count + 1, sizeof *row->bounds);
    row->texts = calloc(query->key_count + 1, sizeof *row->texts);
    if (!row->keys || !row->values || !row->outputs || !row->errors || !row->cuts ||
        !row->too_few || !row->bounds || !row->texts)
        return brume_no_memory(error, "the answer");
    if (brume_flags_near(all->plan))
        row->near = brume_drawn_number(all->drawn, all->plan->units, group) <
                    (double)all->terms->price.threshold +
                        brume_terms_width(all->terms, (size_t)all->plan->units, whole_beta);
    for (size_t i = 0; i < query->key_count; i++)
        row->keys[i] = brume_key_formula_value(query->keys[i].expression->type,
                                               &all->drawn->groups[group]->keys[i], row->texts[i],
                                               sizeof row->texts[i]);
    for (size_t i = 0; i < query->aggregate_count; i++)
        row->values[i] = brume_present_show(&source, i, group, whole_beta).value;
    return BRUME_OK;
}

/* Is what is shown a mean of, or divided by, a number that may be nothing but noise, or a share
 * that may be any? Then the cell says so, in place of a value far from all that is possible. With
 * beta as in its bar, so that what is shown has one. */
static bool has_too_few(const brume_answer_table *all, const brume_answer_row *row,
                        const brume_formula *formula, double beta)
{
    if (formula->kind == BRUME_FORMULA_AGGREGATE) {
        brume_present_source source = {all->terms, all->drawn, all->modes};
        return brume_present_show(&source, formula->index, row->group, whole_beta).too_few;
    }
    brume_interval_source from = {all, row, beta, NULL};
    brume_interval bar;
    double whole = 1;
    if (brume_present_is_fraction(formula, all->plan, &whole) &&
        brume_present_interval(formula, &from, &bar) && bar.lower <= 0 && bar.upper >= whole)
        return true;
    if (brume_present_is_share(formula, all->plan, &whole))
        return false;
    if (formula->kind == BRUME_FORMULA_DIVIDE &&
        brume_formula_count_aggregates(formula->arguments[1]) > 0 &&
        brume_present_interval(formula->arguments[1], &from, &bar) && bar.lower <= 0)
        return true;
    for (size_t i = 0; i < formula->argument_count; i++)
        if (has_too_few(all, row, formula->arguments[i], beta))
            return true;
    return false;
}

/* What is shown of the rows, when their windows are known. */
static brume_status fill_outputs(brume_answer_table *all, brume_error *error)
{
    const brume_query *query = all->plan->query;
    for (size_t i = 0; i < query->output_count; i++) {
        const brume_formula *shown = query->outputs[i].value;
        BRUME_TRY(brume_present_bound_windows(all, i, NULL, error));
        for (size_t r = 0; r < all->count; r++) {
            brume_answer_row *row = &all->rows[r];
            brume_value value = brume_formula_evaluate(shown, row->keys, row->values);
            row->outputs[i] = value;
            row->errors[i] = brume_present_error(all, row, i, NULL);
            row->cuts[i] = NAN;
            row->too_few[i] =
                (value.kind == BRUME_VALUE_NUMBER || value.kind == BRUME_VALUE_NULL) &&
                has_too_few(all, row, shown,
                            whole_beta / fmax(1, (double)brume_formula_count_aggregates(shown)));
            if (row->too_few[i]) {
                row->outputs[i] = (brume_value){.kind = BRUME_VALUE_NULL};
                row->errors[i] = NAN;
            }
        }
    }
    return BRUME_OK;
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const brume_answer_row *a = left, *b = right;
    const brume_query *query = context;
    for (size_t i = 0; i < query->order_count; i++) {
        const brume_query_order *order = &query->order[i];
        brume_value x = brume_formula_evaluate(order->value, a->keys, a->values);
        brume_value y = brume_formula_evaluate(order->value, b->keys, b->values);
        bool null_x = x.kind == BRUME_VALUE_NULL, null_y = y.kind == BRUME_VALUE_NULL;
        if (null_x != null_y)
            return null_x == order->nulls_first ? -1 : 1;
        int sign = null_x ? 0 : brume_value_compare(&x, &y);
        if (sign != 0)
            return order->descending ? -sign : sign;
    }
    for (size_t i = 0; i < query->key_count; i++) {
        int sign = brume_value_compare(&a->keys[i], &b->keys[i]);
        if (sign != 0)
            return sign;
    }
    return 0;
}

/* The rows that HAVING keeps. */
static void keep_rows(brume_answer_table *all)
{
    const brume_query *query = all->plan->query;
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (!query->having ||
            brume_formula_is_true(query->having, all->rows[i].keys, all->rows[i].values))
            all->rows[kept++] = all->rows[i];
        else
            free_row(&all->rows[i]);
    }
    all->count = kept;
}

/* ORDER BY, LIMIT and OFFSET. Rows that are not shown stay: windows are of them too. */
static void arrange(brume_answer_table *all)
{
    const brume_query *query = all->plan->query;
    size_t kept = all->count;
    if (kept)
        qsort_r(all->rows, kept, sizeof *all->rows, compare_rows, (void *)query);
    size_t first = query->offset < 0 ? 0 : (size_t)query->offset;
    first = first < kept ? first : kept;
    size_t last = query->limit < 0 || (uint64_t)query->limit > kept - first
                      ? kept
                      : first + (size_t)query->limit;
    all->rows += first;
    all->count = last - first;
}

/* The modes of undeclared values, as values. */
static brume_status fill_modes(brume_answer_table *all, brume_error *error)
{
    const brume_plan *plan = all->plan;
    size_t groups = all->drawn->count, count = plan->measurement_count * groups;
    all->modes = calloc(count + 1, sizeof *all->modes);
    all->mode_texts = calloc(count + 1, sizeof *all->mode_texts);
    if (!all->modes || !all->mode_texts)
        return brume_no_memory(error, "the answer");
    for (size_t i = 0; i < count; i++) {
        const brume_key_value **chosen = all->drawn->results[i / groups].chosen;
        if (chosen && chosen[i % groups])
            all->modes[i] =
                brume_key_formula_value(plan->measurements[i / groups].mode.argument->type,
                                        chosen[i % groups], all->mode_texts[i], BRUME_KEY_TEXT);
    }
    return BRUME_OK;
}

/* Does the row belong to a grouping set that the output, a key, is not in? */
static bool is_total(const brume_query *query, const brume_answer_row *row,
                     const brume_formula *formula)
{
    if (query->set_count < 2 || formula->kind != BRUME_FORMULA_KEY)
        return false;
    uint64_t set = (uint64_t)row->keys[query->key_count - 1].number;
    return !(query->keys[formula->index].sets >> set & 1);
}

/* The interval of an output that is a quantile, as its values are shown; and of a spread that
 * cannot be told from 0. */
static brume_status set_interval(const brume_answer_table *all, brume_query_answer *answer,
                                 size_t row, size_t output, brume_error *error)
{
    const brume_formula *formula = all->plan->query->outputs[output].value;
    brume_present_source source = {all->terms, all->drawn, all->modes};
    brume_answer_row *of = &all->rows[row];
    const brume_formula *alone = shown_alone(formula);
    if (!alone || !(is_quantile(all->plan, formula) || of->too_few[output]))
        return BRUME_OK;
    size_t aggregate = alone->index;
    brume_shown shown = brume_present_show(&source, aggregate, of->group, whole_beta);
    if (!shown.has_interval)
        return BRUME_OK;
    brume_value value = of->values[aggregate], ends[2];
    const double numbers[] = {shown.interval.lower, shown.interval.upper};
    for (int i = 0; i < 2; i++) {
        of->values[aggregate] = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = numbers[i]};
        ends[i] = brume_formula_evaluate(formula, of->keys, of->values);
    }
    of->values[aggregate] = value;
    return brume_query_answer_set_interval(answer, row, output, ends, error);
}

/* A count, a sum of what has one sign, or a share of them that is no larger than its bar cannot be
 * told from nothing at all: whoever reads the table is told that. The number stays, for those who
 * add up. */
static brume_status flag_small(const brume_answer_table *all, brume_query_answer *answer,
                               brume_error *error)
{
    size_t columns = answer->column_count;
    for (size_t cell = 0; cell < answer->row_count * columns; cell++) {
        const brume_formula *shown = all->plan->query->outputs[cell % columns].value;
        double bar = brume_query_answer_bar(answer, cell), whole = 1;
        if (answer->columns[cell % columns].side == BRUME_SIDE_EITHER &&
            !brume_present_is_fraction(shown, all->plan, &whole))
            continue;
        if (answer->values[cell].kind == BRUME_VALUE_NUMBER && bar > 0 &&
            fabs(answer->values[cell].number) <= bar)
            BRUME_TRY(brume_query_answer_flag(answer, &answer->too_few, cell / columns,
                                              cell % columns, error));
    }
    return BRUME_OK;
}

static brume_status copy_rows(const brume_answer_table *all, brume_query_answer *answer,
                              brume_error *error)
{
    size_t columns = answer->column_count;
    if (brume_flags_near(all->plan)) {
        answer->near = calloc(all->count + 1, sizeof *answer->near);
        if (!answer->near)
            return brume_no_memory(error, "the answer");
    }
    answer->cuts = calloc(all->count * columns + 1, sizeof *answer->cuts);
    if (!answer->cuts)
        return brume_no_memory(error, "the answer");
    bool any = false;
    for (size_t r = 0; r < all->count; r++) {
        const brume_answer_row *row = &all->rows[r];
        memcpy(&answer->cuts[r * columns], row->cuts, columns * sizeof *answer->cuts);
        for (size_t i = 0; i < columns; i++)
            any = any || !isnan(row->cuts[i]);
        if (answer->near)
            answer->near[r] = row->near;
        memcpy(&answer->errors[r * columns], row->errors, columns * sizeof *answer->errors);
        for (size_t i = 0; i < columns; i++) {
            BRUME_TRY(brume_query_answer_set(answer, r, i, &row->outputs[i], error));
            BRUME_TRY(set_interval(all, answer, r, i, error));
            if (row->too_few[i])
                BRUME_TRY(brume_query_answer_flag(answer, &answer->too_few, r, i, error));
            if (is_total(all->plan->query, row, all->plan->query->outputs[i].value))
                BRUME_TRY(brume_query_answer_flag(answer, &answer->totals, r, i, error));
        }
    }
    if (!any) {
        free(answer->cuts);
        answer->cuts = NULL;
    }
    return BRUME_OK;
}

static brume_status make_answer(const brume_answer_table *all, brume_query_answer **out,
                                brume_error *error)
{
    brume_query_answer *answer = NULL;
    BRUME_TRY(brume_query_answer_open(all->plan->query->output_count, all->count, &answer, error));
    answer->joint_sets = all->plan->fitted != NULL;
    if (answer->joint_sets) /* a projection of what was drawn (proofs/joint-sets.md) */
        answer->joint_factor = 1 / sqrt(brume_consistent_least(all->plan->fitted));
    brume_status status = brume_present_columns(all, answer, error);
    if (status == BRUME_OK)
        status = copy_rows(all, answer, error);
    if (status == BRUME_OK)
        status = flag_small(all, answer, error);
    if (status != BRUME_OK) {
        brume_query_answer_close(answer);
        return status;
    }
    *out = answer;
    return BRUME_OK;
}

brume_status brume_present(const brume_terms *terms, const brume_drawn *drawn,
                           brume_query_answer **out, brume_error *error)
{
    brume_answer_table all = {.plan = terms->plan,
                              .terms = terms,
                              .drawn = drawn,
                              .rows = calloc(drawn->count + 1, sizeof *all.rows)};
    brume_status status = all.rows ? fill_modes(&all, error) : brume_no_memory(error, "the answer");
    for (size_t i = 0; status == BRUME_OK && i < drawn->count; i++) {
        all.count = i + 1;
        status = fill_row(&all, i, &all.rows[i], error);
    }
    all.whole = all.rows;
    if (status == BRUME_OK) {
        keep_rows(&all);
        status = brume_present_windows(&all, error);
    }
    all.whole_count = all.count;
    if (status == BRUME_OK)
        status = fill_outputs(&all, error);
    if (status == BRUME_OK) {
        arrange(&all);
        status = make_answer(&all, out, error);
    }
    for (size_t i = 0; i < all.whole_count; i++)
        free_row(&all.whole[i]);
    free(all.whole);
    free(all.modes);
    free(all.mode_texts);
    return status;
}
