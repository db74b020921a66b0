/* What of each unit's rows counts in a series. */
#include "query/series/limit.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_cells(const brume_series_row *a, const brume_series_row *b)
{
    int order = compare(a->order, b->order);
    return order ? order : compare(a->cell, b->cell);
}

/* By unit, window, then any order that rows of other units do not change. */
static int by_window(const void *one, const void *two)
{
    const brume_series_row *a = one, *b = two;
    int order = compare(a->unit, b->unit);
    order = order ? order : compare(a->window, b->window);
    order = order ? order : compare_cells(a, b);
    return order ? order : compare((uint64_t)a->value, (uint64_t)b->value);
}

/* By unit and cell, the earliest window first. */
static int by_cell(const void *one, const void *two)
{
    const brume_series_row *a = one, *b = two;
    int order = compare(a->unit, b->unit);
    order = order ? order : compare(a->cell, b->cell);
    return order ? order : compare(a->window, b->window);
}

/* Keep the first row of each unit in each cell, and, unless `ever`, in each window. Every one that
 * is kept counts as 1. */
static size_t keep_units(brume_series_row *rows, size_t count, bool ever)
{
    size_t kept = 0;
    qsort(rows, count, sizeof *rows, by_cell);
    for (size_t i = 0; i < count; i++) {
        const brume_series_row *last = kept ? &rows[kept - 1] : NULL;
        if (last && last->unit == rows[i].unit && last->cell == rows[i].cell &&
            (ever || last->window == rows[i].window))
            continue;
        rows[kept] = rows[i];
        rows[kept++].value = 1;
    }
    return kept;
}

void brume_series_limit_rows(brume_series_row *rows, size_t count, const brume_series_limit *limit,
                             brume_i128 *totals, size_t windows)
{
    if (count == 0) /* and no rows: `rows` is NULL then */
        return;
    if (limit->rule != BRUME_SERIES_ROWS)
        count = keep_units(rows, count, limit->rule == BRUME_SERIES_EVER);
    qsort(rows, count, sizeof *rows, by_window);
    uint64_t left = 0;
    for (size_t i = 0; i < count; i++) {
        const brume_series_row *row = &rows[i];
        /* The earliest first: latest first would cost 2.18 times what is charged (claim 6). */
        if (i == 0 || rows[i - 1].unit != row->unit ||
            (limit->per_window && rows[i - 1].window != row->window))
            left = limit->most;
        uint64_t weight = row->value < 0 ? -(uint64_t)row->value : (uint64_t)row->value;
        weight = weight < left ? weight : left;
        left -= weight;
        brume_i128 *total = &totals[row->cell * windows + row->window];
        *total += row->value < 0 ? -(brume_i128)weight : (brume_i128)weight;
    }
}
