/* The values of a quantile in order: counted, where their bounds have few points, or sorted. */
#include "query/limit/ranked.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"

void brume_ranked_close(brume_ranked *list)
{
    free(list->values);
    free(list->upto);
    *list = (brume_ranked){0};
}

/* Room for so many different values. */
static brume_status make_room(brume_ranked *list, size_t different, brume_error *error)
{
    list->values = malloc((different + 1) * sizeof *list->values);
    list->upto = malloc((different + 1) * sizeof *list->upto);
    if (!list->values || !list->upto)
        return brume_no_memory(error, "the values of a quantile");
    list->upto[0] = 0;
    return BRUME_OK;
}

static void append(brume_ranked *list, int64_t value, uint64_t weight)
{
    if (weight == 0)
        return;
    list->values[list->count] = value;
    list->upto[list->count + 1] = list->upto[list->count] + weight;
    list->count++;
}

/* ---- counting ---- */

enum {
    PAGE_BITS = 9,
    PAGE = 1 << PAGE_BITS, /* points whose weights lie behind each other */
};

/* What each point weighs; a page of them is there from its first value on. */
typedef struct tally {
    uint64_t **pages;
    size_t page_count;
    size_t there; /* pages */
} tally;

static void close_tally(tally *all)
{
    for (size_t i = 0; all->pages && i < all->page_count; i++)
        free(all->pages[i]);
    free((void *)all->pages);
}

static brume_status count_values(const int64_t *values, const uint32_t *weights, size_t count,
                                 int64_t low, tally *all, brume_error *error)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t point = (uint64_t)values[i] - (uint64_t)low;
        uint64_t **page = &all->pages[point >> PAGE_BITS];
        if (!*page) {
            if (!(*page = calloc(PAGE, sizeof **page)))
                return brume_no_memory(error, "the values of a quantile");
            all->there++;
        }
        (*page)[point % PAGE] += weights ? weights[i] : 1;
    }
    return BRUME_OK;
}

static void list_counted(const tally *all, int64_t low, brume_ranked *list)
{
    for (size_t i = 0; i < all->page_count; i++)
        for (size_t j = 0; all->pages[i] && j < PAGE; j++)
            append(list, (int64_t)((uint64_t)low + (i << PAGE_BITS) + j), all->pages[i][j]);
}

static brume_status open_counted(const int64_t *values, const uint32_t *weights, size_t count,
                                 int64_t low, int64_t high, brume_ranked *list, brume_error *error)
{
    tally all = {.page_count = (((uint64_t)high - (uint64_t)low) >> PAGE_BITS) + 1};
    all.pages = calloc(all.page_count, sizeof *all.pages);
    brume_status status = all.pages ? count_values(values, weights, count, low, &all, error)
                                    : brume_no_memory(error, "the values of a quantile");
    if (status == BRUME_OK)
        status = make_room(list, all.there << PAGE_BITS, error);
    if (status == BRUME_OK)
        list_counted(&all, low, list);
    close_tally(&all);
    return status;
}

/* ---- sorting ---- */

static void list_sorted(const int64_t *sorted, const uint32_t *weights, size_t count,
                        brume_ranked *list)
{
    for (size_t i = 0; i < count;) {
        uint64_t weight = 0;
        int64_t value = sorted[i];
        for (; i < count && sorted[i] == value; i++)
            weight += weights ? weights[i] : 1;
        append(list, value, weight);
    }
}

static brume_status open_sorted(const int64_t *values, const uint32_t *weights, size_t count,
                                int64_t low, int64_t high, brume_ranked *list, brume_error *error)
{
    int64_t *sorted = malloc((count + 1) * sizeof *sorted);
    uint32_t *sorted_weights = weights ? malloc((count + 1) * sizeof *sorted_weights) : NULL;
    brume_status status = sorted && (sorted_weights || !weights)
                              ? make_room(list, count, error)
                              : brume_no_memory(error, "the values of a quantile");
    if (status == BRUME_OK && count) {
        memcpy(sorted, values, count * sizeof *values);
        if (weights)
            memcpy(sorted_weights, weights, count * sizeof *weights);
        status = brume_sort_with(sorted, sorted_weights, count, low, high, error);
    }
    if (status == BRUME_OK)
        list_sorted(sorted, sorted_weights, count, list);
    free(sorted);
    free(sorted_weights);
    return status;
}

brume_status brume_ranked_open(const int64_t *values, const uint32_t *weights, size_t count,
                               int64_t low, int64_t high, uint64_t points, brume_ranked *out,
                               brume_error *error)
{
    brume_ranked list = {.weighted = weights != NULL};
    bool few = (uint64_t)high - (uint64_t)low < points;
    brume_status status = few ? open_counted(values, weights, count, low, high, &list, error)
                              : open_sorted(values, weights, count, low, high, &list, error);
    if (status == BRUME_OK)
        *out = list;
    else
        brume_ranked_close(&list);
    return status;
}
