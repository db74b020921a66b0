/* Window functions: of the rows that HAVING keeps. Reads released values only. */
#include "query/release/present_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "query/limit/bar.h"
#include "query/plan/plan_limit.h"

/* A row in the order of a window: its partition first. */
typedef struct place {
    brume_value *parts; /* the arguments of the window's formula */
    size_t row;
} place;

static size_t first_part(const brume_formula *formula)
{
    return formula->argument_count - formula->window->partition_count -
           formula->window->order_count;
}

static int compare_partitions(const brume_formula *formula, const place *a, const place *b)
{
    size_t from = first_part(formula);
    for (size_t i = 0; i < formula->window->partition_count; i++) {
        int sign = brume_value_compare(&a->parts[from + i], &b->parts[from + i]);
        if (sign)
            return sign;
    }
    return 0;
}

/* By ORDER BY alone: 0 for equals. */
static int compare_peers(const brume_formula *formula, const place *a, const place *b)
{
    const brume_window *window = formula->window;
    size_t from = first_part(formula) + window->partition_count;
    for (size_t i = 0; i < window->order_count; i++) {
        const brume_value *x = &a->parts[from + i], *y = &b->parts[from + i];
        bool null_x = x->kind == BRUME_VALUE_NULL, null_y = y->kind == BRUME_VALUE_NULL;
        if (null_x != null_y)
            return null_x == window->nulls_first[i] ? -1 : 1;
        int sign = null_x ? 0 : brume_value_compare(x, y);
        if (sign)
            return window->descending[i] ? -sign : sign;
    }
    return 0;
}

static int compare_places(const void *left, const void *right, void *context)
{
    const place *a = left, *b = right;
    int sign = compare_partitions(context, a, b);
    if (!sign)
        sign = compare_peers(context, a, b);
    return sign ? sign : (a->row > b->row) - (a->row < b->row); /* rows are in the order of keys */
}

/* What has been met of a partition so far. */
typedef struct running {
    double rows, values, sum;
    brume_value least, greatest;
} running;

static void add(running *all, const brume_value *value)
{
    all->rows++;
    if (!value || value->kind == BRUME_VALUE_NULL)
        return;
    all->values++;
    if (value->kind == BRUME_VALUE_NUMBER)
        all->sum += value->number;
    if (all->least.kind == BRUME_VALUE_NULL || brume_value_compare(value, &all->least) < 0)
        all->least = *value;
    if (all->greatest.kind == BRUME_VALUE_NULL || brume_value_compare(value, &all->greatest) > 0)
        all->greatest = *value;
}

static brume_value number(double x)
{
    return (brume_value){.kind = BRUME_VALUE_NUMBER, .number = x};
}

static brume_value result(brume_window_function function, const running *all)
{
    brume_value none = {.kind = BRUME_VALUE_NULL};
    switch (function) {
    case BRUME_WINDOW_COUNT_ROWS:
        return number(all->rows);
    case BRUME_WINDOW_COUNT:
        return number(all->values);
    case BRUME_WINDOW_SUM:
        return all->values > 0 ? number(all->sum) : none;
    case BRUME_WINDOW_AVG:
        return all->values > 0 ? number(all->sum / all->values) : none;
    case BRUME_WINDOW_MIN:
        return all->least;
    case BRUME_WINDOW_MAX:
        return all->greatest;
    default:
        return none;
    }
}

/* The end of the rows that share their running value with the place at `i`; `to`: of the partition.
 */
static size_t end_of_peers(const brume_formula *formula, const place *places, size_t i, size_t to)
{
    size_t end = i + 1;
    if (formula->window->order_count == 0)
        return to;
    while (!formula->window->by_row && end < to &&
           compare_peers(formula, &places[i], &places[end]) == 0)
        end++;
    return end;
}

/* The places [from, to) are one partition. */
static void fill_partition(const brume_formula *formula, const place *places, size_t from,
                           size_t to, brume_answer_table *all)
{
    const brume_window *window = formula->window;
    running met = {0};
    double dense = 0;
    for (size_t i = from, end; i < to; i = end) {
        end = end_of_peers(formula, places, i, to);
        bool new_rank = i == from || compare_peers(formula, &places[i - 1], &places[i]) != 0;
        dense += new_rank;
        for (size_t j = i; j < end; j++)
            add(&met, first_part(formula) ? &places[j].parts[0] : NULL);
        for (size_t j = i; j < end; j++) {
            brume_value value = result(window->function, &met);
            if (window->function == BRUME_WINDOW_ROW_NUMBER)
                value = number((double)(j - from + 1));
            else if (window->function == BRUME_WINDOW_RANK)
                value = number((double)(i - from + 1));
            else if (window->function == BRUME_WINDOW_DENSE_RANK)
                value = number(dense);
            all->rows[places[j].row].values[formula->index] = value;
        }
    }
}

/* Rows as the places of a window, in its order; the caller frees both. */
static brume_status make_places(const brume_answer_row *rows, size_t count,
                                const brume_formula *formula, place **places, brume_value **values,
                                brume_error *error)
{
    size_t width = formula->argument_count;
    *places = calloc(count + 1, sizeof **places);
    *values = calloc(count * width + 1, sizeof **values);
    if (!*places || !*values)
        return brume_no_memory(error, "the answer");
    for (size_t r = 0; r < count; r++) {
        (*places)[r] = (place){&(*values)[r * width], r};
        for (size_t i = 0; i < width; i++)
            (*places)[r].parts[i] =
                brume_formula_evaluate(formula->arguments[i], rows[r].keys, rows[r].values);
    }
    qsort_r(*places, count, sizeof **places, compare_places, (void *)formula);
    return BRUME_OK;
}

/* The end of the partition that begins at `from`. */
static size_t end_of_partition(const brume_formula *formula, const place *places, size_t from,
                               size_t count)
{
    size_t to = from + 1;
    while (to < count && compare_partitions(formula, &places[from], &places[to]) == 0)
        to++;
    return to;
}

static brume_status fill_window(brume_answer_table *all, const brume_formula *formula,
                                brume_error *error)
{
    place *places = NULL;
    brume_value *values = NULL;
    brume_status status = make_places(all->rows, all->count, formula, &places, &values, error);
    for (size_t from = 0, to; status == BRUME_OK && from < all->count; from = to) {
        to = end_of_partition(formula, places, from, all->count);
        fill_partition(formula, places, from, to, all);
    }
    free(places);
    free(values);
    return status;
}

brume_status brume_present_windows(brume_answer_table *all, brume_error *error)
{
    const brume_query *query = all->plan->query;
    for (size_t i = 0; i < query->window_count; i++)
        BRUME_TRY(fill_window(all, query->windows[i], error));
    return BRUME_OK;
}

/* ---- intervals ---- */

/* A window whose intervals are looked for. The cells of all groups are within theirs at once but
 * for the chance `beta`, so that it does not matter which of them noise put where. */
typedef struct bounding {
    const brume_answer_table *all;
    const brume_formula *formula;
    const place *places;
    brume_interval *cells; /* by places: of what the window is of, or is ordered by */
    double *lows, *highs;  /* room for one partition */
    double beta;
    const brume_cut *cut;
    int measure; /* of a sum of independent noises of one scale; -1: it is not one */
} bounding;

static bool is_ranking(brume_window_function function)
{
    return function == BRUME_WINDOW_ROW_NUMBER || function == BRUME_WINDOW_RANK ||
           function == BRUME_WINDOW_DENSE_RANK;
}

/* Noise chose the rows of a window where HAVING, a private key or a noisy PARTITION BY or ORDER BY
 * did; then what they sum up to is no sum of fresh noises. */
static bool is_chosen_by_noise(const brume_answer_table *all, const brume_formula *formula)
{
    if (all->plan->query->having || all->plan->shape.private_keys)
        return true;
    for (size_t i = first_part(formula); i < formula->argument_count; i++)
        if (brume_formula_count_aggregates(formula->arguments[i]) > 0)
            return true;
    return false;
}

/* The measure whose noisy numbers the window adds up; -1: there is no such one. */
static int measure_of_sum(const brume_answer_table *all, const brume_formula *formula)
{
    const brume_formula *of = formula->arguments[0];
    bool adds = formula->window->function == BRUME_WINDOW_SUM ||
                formula->window->function == BRUME_WINDOW_AVG;
    if (!adds || of->kind != BRUME_FORMULA_AGGREGATE || is_chosen_by_noise(all, formula) ||
        brume_terms_cut_is_unknown(all->terms, of->index))
        return -1;
    const brume_plan_aggregate *from = &all->plan->aggregates[of->index];
    switch (all->plan->query->aggregates[of->index].kind) {
    case BRUME_AGGREGATE_COUNT_ROWS:
    case BRUME_AGGREGATE_COUNT:
    case BRUME_AGGREGATE_COUNT_UNITS:
        return from->count;
    case BRUME_AGGREGATE_SUM:
        return from->public_count ? -1 : from->direct;
    default:
        return -1;
    }
}

/* What limits may have cut of `count` cells together: not more than of each cell, and not more than
 * there is at all, in each grouping set (limit/bar.h). */
static brume_cut cut_of_sum(const bounding *b, double count)
{
    size_t aggregate = b->formula->arguments[0]->index;
    const brume_found_limit *limit = brume_terms_limit_of(b->all->terms, aggregate);
    double sets = fmax(1, (double)b->all->plan->query->set_count);
    double whole =
        limit ? sets / brume_limit_cut_share((double)b->all->plan->shape.cells, limit->of->norm)
              : count;
    double times = fmin(count, whole);
    return (brume_cut){times * b->cut[aggregate].less, times * b->cut[aggregate].more};
}

/* The interval of a sum of noisy numbers of one measure. */
static brume_interval bound_sum(const bounding *b, double raw, size_t count)
{
    if (count == 0)
        return (brume_interval){0, 0};
    double width = brume_terms_width_of_sum(b->all->terms, (size_t)b->measure, count, b->beta);
    brume_cut cut = b->cut ? cut_of_sum(b, (double)count) : (brume_cut){0, 0};
    return (brume_interval){raw - width - cut.less, raw + width + cut.more};
}

/* What has been met of a partition so far. */
typedef struct running_interval {
    double count, raw;
    brume_interval sum, least, greatest;
} running_interval;

/* The noisy number of the measure in the row of a place. */
static double raw_of(const bounding *b, size_t at)
{
    const brume_measure *measure = &b->all->terms->measures[b->measure];
    size_t group = b->all->whole[b->places[at].row].group;
    return brume_drawn_number(b->all->drawn, b->measure, group) *
           brume_plan_step(b->all->plan, measure);
}

static void add_cell(const bounding *b, size_t at, running_interval *met)
{
    brume_interval cell = b->cells[at];
    if (b->measure >= 0)
        met->raw += raw_of(b, at);
    bool first = met->count == 0;
    met->count++;
    met->sum.lower += cell.lower;
    met->sum.upper += cell.upper;
    met->least.lower = first ? cell.lower : fmin(met->least.lower, cell.lower);
    met->least.upper = first ? cell.upper : fmin(met->least.upper, cell.upper);
    met->greatest.lower = first ? cell.lower : fmax(met->greatest.lower, cell.lower);
    met->greatest.upper = first ? cell.upper : fmax(met->greatest.upper, cell.upper);
}

static brume_interval bound_running(const bounding *b, const running_interval *met)
{
    static const brume_interval none = {NAN, NAN};
    if (b->measure >= 0) {
        brume_interval sum = bound_sum(b, met->raw, (size_t)met->count);
        double parts = b->formula->window->function == BRUME_WINDOW_AVG ? met->count : 1;
        return (brume_interval){sum.lower / parts, sum.upper / parts};
    }
    if (isnan(met->sum.lower)) /* a cell has none */
        return none;
    switch (b->formula->window->function) {
    case BRUME_WINDOW_SUM:
        return met->sum;
    case BRUME_WINDOW_AVG:
        return (brume_interval){met->sum.lower / met->count, met->sum.upper / met->count};
    case BRUME_WINDOW_MIN:
        return met->least;
    case BRUME_WINDOW_MAX:
        return met->greatest;
    case BRUME_WINDOW_COUNT:
        return (brume_interval){met->count, met->count};
    default:
        return none;
    }
}

/* For a sum without the place itself. */
static brume_interval bound_rest(const bounding *b, const running_interval *met, size_t at)
{
    if (b->formula->window->function != BRUME_WINDOW_SUM)
        return (brume_interval){NAN, NAN};
    if (b->measure >= 0)
        return bound_sum(b, met->raw - raw_of(b, at), (size_t)met->count - 1);
    return (brume_interval){met->sum.lower - b->cells[at].lower,
                            met->sum.upper - b->cells[at].upper};
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* How many of the sorted numbers are above x, or not below it. */
static size_t count_above(const double *sorted, size_t count, double x, bool or_equal)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (or_equal ? sorted[middle] >= x : sorted[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return count - low;
}

/* A place is at least one more than how many others come before it for certain, and at most how
 * many may, itself among them. What comes first has the largest cell, or the smallest. */
static void bound_ranks(const bounding *b, size_t from, size_t to)
{
    bool has = b->formula->window->order_count == 1;
    double sign = has && b->formula->window->descending[0] ? 1 : -1;
    for (size_t i = from; i < to; i++) {
        brume_interval cell = b->cells[i];
        has = has && !isnan(cell.lower);
        b->lows[i - from] = sign > 0 ? cell.lower : -cell.upper;
        b->highs[i - from] = sign > 0 ? cell.upper : -cell.lower;
    }
    size_t count = to - from, window = b->formula->index - b->all->plan->query->aggregate_count;
    qsort(b->lows, count, sizeof *b->lows, compare_numbers);
    qsort(b->highs, count, sizeof *b->highs, compare_numbers);
    for (size_t i = from; i < to; i++) {
        double low = sign > 0 ? b->cells[i].lower : -b->cells[i].upper;
        double high = sign > 0 ? b->cells[i].upper : -b->cells[i].lower;
        double before = (double)count_above(b->lows, count, high, false);
        if (b->formula->window->function == BRUME_WINDOW_DENSE_RANK)
            before = fmin(before, 1); /* they may be equal */
        double last = (double)count_above(b->highs, count, low, true);
        b->all->whole[b->places[i].row].bounds[window].whole =
            has ? (brume_interval){before + 1, last} : (brume_interval){NAN, NAN};
    }
}

static void bound_partition(const bounding *b, size_t from, size_t to)
{
    size_t window = b->formula->index - b->all->plan->query->aggregate_count;
    running_interval met = {0};
    if (is_ranking(b->formula->window->function)) {
        bound_ranks(b, from, to);
        return;
    }
    for (size_t i = from, end; i < to; i = end) {
        end = end_of_peers(b->formula, b->places, i, to);
        for (size_t j = i; j < end; j++)
            add_cell(b, j, &met);
        brume_interval interval = bound_running(b, &met);
        for (size_t j = i; j < end; j++)
            b->all->whole[b->places[j].row].bounds[window] =
                (brume_window_bounds){interval, bound_rest(b, &met, j)};
    }
}

/* For what the window is over, or what a ranking is ordered by. */
static void bound_cells(const bounding *b, size_t count)
{
    const brume_window *window = b->formula->window;
    size_t at = is_ranking(window->function) ? window->partition_count : 0;
    for (size_t i = 0; i < count; i++) {
        const brume_answer_row *row = &b->all->whole[b->places[i].row];
        brume_interval_source from = {b->all, row, b->beta / fmax(1, (double)b->all->drawn->count),
                                      b->cut};
        if (at >= b->formula->argument_count || b->places[i].parts[at].kind != BRUME_VALUE_NUMBER ||
            !brume_present_interval(b->formula->arguments[at], &from, &b->cells[i]))
            b->cells[i] = (brume_interval){NAN, NAN};
    }
}

static brume_status bound_window(const brume_answer_table *all, const brume_formula *formula,
                                 double beta, const brume_cut *cut, brume_error *error)
{
    size_t count = all->whole_count;
    place *places = NULL;
    brume_value *values = NULL;
    brume_status status = make_places(all->whole, count, formula, &places, &values, error);
    bounding b = {all,
                  formula,
                  places,
                  calloc(count + 1, sizeof *b.cells),
                  calloc(count + 1, sizeof *b.lows),
                  calloc(count + 1, sizeof *b.highs),
                  beta,
                  cut,
                  first_part(formula) ? measure_of_sum(all, formula) : -1};
    if (status == BRUME_OK && !(b.cells && b.lows && b.highs))
        status = brume_no_memory(error, "the answer");
    if (status == BRUME_OK)
        bound_cells(&b, count);
    for (size_t from = 0, to; status == BRUME_OK && from < count; from = to) {
        to = end_of_partition(formula, places, from, count);
        bound_partition(&b, from, to);
    }
    free(b.cells);
    free(b.lows);
    free(b.highs);
    free(places);
    free(values);
    return status;
}

/* The windows in a formula, each with the same chance of a miss for each of its cells' numbers. */
static brume_status bound_in(const brume_answer_table *all, const brume_formula *formula,
                             double beta, const brume_cut *cut, brume_error *error)
{
    if (formula->kind == BRUME_FORMULA_WINDOW)
        return bound_window(all, formula, beta, cut, error);
    for (size_t i = 0; i < formula->argument_count; i++)
        BRUME_TRY(bound_in(all, formula->arguments[i], beta, cut, error));
    return BRUME_OK;
}

brume_status brume_present_bound_windows(const brume_answer_table *all, size_t output,
                                         const brume_cut *cut, brume_error *error)
{
    const brume_formula *formula = all->plan->query->outputs[output].value;
    double used = fmax(1, (double)brume_formula_count_aggregates(formula));
    return bound_in(all, formula, 0.05 / used, cut, error);
}
