/* Window functions: of the rows that HAVING keeps. Reads released values only. */
#include "query/release/present_parts.h"

#include <stdlib.h>

#include "base/error.h"

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

/* The places [from, to) are one partition. */
static void fill_partition(const brume_formula *formula, const place *places, size_t from,
                           size_t to, brume_answer_table *all)
{
    const brume_window *window = formula->window;
    bool running_value = window->order_count > 0;
    running met = {0};
    double dense = 0;
    for (size_t i = from, end; i < to; i = end) {
        /* [i, end): rows that share their value. */
        for (end = i + 1;
             end < to && (!running_value || compare_peers(formula, &places[i], &places[end]) == 0);)
            end++;
        if (window->by_row && running_value)
            end = i + 1;
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

static brume_status fill_window(brume_answer_table *all, const brume_formula *formula,
                                brume_error *error)
{
    size_t width = formula->argument_count;
    place *places = calloc(all->count + 1, sizeof *places);
    brume_value *values = calloc(all->count * width + 1, sizeof *values);
    if (!places || !values) {
        free(places);
        free(values);
        return brume_no_memory(error, "the answer");
    }
    for (size_t r = 0; r < all->count; r++) {
        const brume_answer_row *row = &all->rows[r];
        places[r] = (place){&values[r * width], r};
        for (size_t i = 0; i < width; i++)
            places[r].parts[i] =
                brume_formula_evaluate(formula->arguments[i], row->keys, row->values);
    }
    qsort_r(places, all->count, sizeof *places, compare_places, (void *)formula);
    for (size_t from = 0, to; from < all->count; from = to) {
        for (to = from + 1;
             to < all->count && compare_partitions(formula, &places[from], &places[to]) == 0;)
            to++;
        fill_partition(formula, places, from, to, all);
    }
    free(places);
    free(values);
    return BRUME_OK;
}

brume_status brume_present_windows(brume_answer_table *all, brume_error *error)
{
    const brume_query *query = all->plan->query;
    for (size_t i = 0; i < query->window_count; i++)
        BRUME_TRY(fill_window(all, query->windows[i], error));
    return BRUME_OK;
}
