/* The centre of a mean.
 *
 * Promise: a unit adds at most `most` to one cell of the means, and the rate of the draw is for
 * `most`; cells, `most` and whether it is drawn follow from public and released numbers. */
#include "query/release/centre.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "query/plan/plan_terms.h"
#include "query/release/rank.h"

enum { CELLS = 1 << 16 };

/* About how much all units weigh where one weighs its number of values over `most`, 1 at most. */
static double weight_of_all(const brume_looks *looks, size_t top, double most)
{
    double sum = 0;
    for (size_t i = 0; i <= top; i++)
        sum += looks->bin[i].value * fmin(1, (double)brume_limit_edge(i) / most);
    return sum;
}

/* What a unit weighs at most, in values. The more, the nearer the centre is to the mean of all
 * rows, which the units with many rows have most of; but the ranks that a draw of this rate tells
 * apart are some fraction of all that units weigh, which falls with it. */
static uint64_t most_of_unit(const brume_found_limit *number, double rate)
{
    enum { RANKS = 50 };
    brume_looks looks = brume_found_looks(number);
    size_t top = brume_looks_histogram(&looks) ? brume_looks_top(&looks) : BRUME_LIMIT_NO_BIN;
    uint64_t most = 1;
    if (top == BRUME_LIMIT_NO_BIN || !number->known)
        return most;
    for (size_t i = 0; brume_limit_edge(i) <= number->limit / 4; i++)
        if (weight_of_all(&looks, top, (double)brume_limit_edge(i)) * rate >= RANKS)
            most = brume_limit_edge(i);
    return most;
}

static brume_status median_of(const brume_mean_cells *cells, const uint64_t *weights, double rate,
                              brume_bits *bits, int64_t *out, brume_error *error)
{
    brume_ranked list = {.values = malloc((cells->count + 1) * sizeof *list.values),
                         .upto = malloc((cells->count + 1) * sizeof *list.upto)};
    brume_status status = list.values && list.upto ? BRUME_OK
                                                   : brume_no_memory(error, "the centre of a mean");
    if (status == BRUME_OK) {
        list.upto[0] = 0;
        for (size_t i = 0; i < cells->count; i++)
            if (weights[i] > 0) {
                list.values[list.count] = (int64_t)i;
                list.upto[list.count + 1] = list.upto[list.count] + weights[i];
                list.count++;
            }
        status = brume_rank_in(bits, &list, 0, (int64_t)cells->count - 1, 1, 2, rate, out, error);
    }
    brume_ranked_close(&list);
    return status;
}

brume_status brume_draw_centre(const brume_terms *terms, const brume_collected *collected,
                               const bool *shown, brume_bits *bits, brume_found_limit *limit,
                               brume_error *error)
{
    const brume_plan *plan = terms->plan;
    const brume_plan_limit *of = limit->of;
    limit->has_centre = true;
    limit->centre = 0; /* within the bounds: make_plan.c */
    limit->step = BRUME_CHOICE_COUNT;
    if (plan->measurements[0].collection.pushed)
        return BRUME_OK;
    if (brume_terms_shares_centre(terms, limit)) {
        limit->centre = terms->limits[of->sum - plan->limits].centre;
        return BRUME_OK;
    }
    double rate = terms->limited.centre_rate;
    uint64_t range = (uint64_t)of->high - (uint64_t)of->low, width = range / CELLS + 1;
    brume_mean_cells cells = {
        .value = of->of.root ? of->of.root - 1 : of->of.value,
        .low = of->low,
        .width = width,
        .count = (size_t)(range / width) + 1,
        .most = most_of_unit(&terms->limits[of->number - plan->limits], rate)};
    uint64_t *weights = malloc(cells.count * sizeof *weights);
    int64_t cell = 0;
    brume_status status = weights ? brume_collected_means(collected, &cells, shown, weights, error)
                                  : brume_no_memory(error, "the centre of a mean");
    /* down: the rate is for a unit that weighs `most` */
    if (status == BRUME_OK)
        status = median_of(&cells, weights, rate / (double)cells.most * (1 - 0x1p-50), bits, &cell,
                           error);
    free(weights);
    if (status == BRUME_OK) {
        uint64_t middle = (uint64_t)cell * width + width / 2;
        limit->centre = (int64_t)((uint64_t)of->low + (middle < range ? middle : range));
    }
    return status;
}
