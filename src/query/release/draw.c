/* Draw: noise on what was collected, the test of private keys, quantiles and modes.
 *
 * Promise: the numbers that leave are exact integers plus noise of the plan's law, each from fresh
 * bits; a private key that fails its test leaves no trace. */
#include "query/release/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/stable_histogram.h>
#include <brume/noise/noise.h>
#include <brume/noise/select.h>

#include "base/error.h"
#include "query/collect/collect.h"
#include "query/limit/clip.h"
#include "query/plan/plan_limit.h"
#include "query/plan/plan_sets.h"
#include "query/plan/plan_terms.h"
#include "query/price/price.h"
#include "query/release/rank.h"
#include "synthetic/consistent.h"

/* Noise and limit of one answer belong together.
 *
 * Promise: no number of a limited measure is drawn unless its noise is what the price buys for the
 * very limit that the rows were clipped with. The reach of a measure is worked out here from what
 * the collection subtracted, not from what the planner says. */

/* Both are made of a few roundings of the same numbers. */
static bool agree(double a, double b)
{
    return fabs(a - b) <= 0x1p-40 * b;
}

/* Does the vector that is limited have at least as many rows in every group as the measure has
 * values? Then what follows it moves by the reach of a value for each of them at most. */
static bool counts_values(const brume_plan *plan, const brume_total *of,
                          const brume_measure *measure)
{
    return of->kind == BRUME_TOTAL_ROWS ||
           (of->kind == BRUME_TOTAL_VALUES &&
            of->value == brume_plan_counted(plan, measure->expression));
}

/* The most that one value adds, once the centre is subtracted: x is within [low, high]. */
static double reach_of(const brume_plan_value *value)
{
    brume_measure bounds = {.low = value->low, .high = value->high};
    double centre = (double)brume_measure_centre(&bounds);
    return fmax(1, fmax((double)value->high - centre, centre - (double)value->low));
}

/* The norm of what one unit adds to the measure over all groups; NaN: it has no bound. */
static double norm_of(const brume_plan *plan, const brume_measure *measure,
                      const brume_clipped *clipped)
{
    double limit = clipped->limit.square ? sqrt((double)clipped->limit.square)
                                         : (double)clipped->limit.limit;
    double reach, half = (double)clipped->sum.half_square;
    switch (measure->kind) {
    case BRUME_MEASURE_CENTRED:
        return counts_values(plan, &clipped->limit.of, measure)
                   ? limit * reach_of(&plan->values[measure->expression])
                   : NAN;
    case BRUME_MEASURE_SQUARES: /* within [0, reach^2], less half */
        reach = reach_of(&plan->values[measure->expression]);
        return counts_values(plan, &clipped->limit.of, measure)
                   ? limit * fmax(1, fmax(half, reach * reach - half))
                   : NAN;
    case BRUME_MEASURE_HOLDERS: /* at most 1 where the unit is present */
        return clipped->limit.of.kind == BRUME_TOTAL_PRESENCE ? limit : NAN;
    case BRUME_MEASURE_QUANTILES:
    case BRUME_MEASURE_MODE:
        return counts_values(plan, &clipped->limit.of, measure) ? limit : NAN;
    default: /* the limited vector itself */
        return limit;
    }
}

/* `noise` is what the price buys for a norm of 1. */
static bool belongs(const brume_terms *terms, size_t index, const brume_collected *collected,
                    double noise)
{
    const brume_plan *plan = terms->plan;
    const brume_measure *measure = &terms->measures[index];
    bool selects = brume_measure_is_selection(measure);
    const brume_clipped *clipped = selects ? brume_collected_listed(collected, measure->expression)
                                           : brume_collected_clipped(collected, index);
    if (!clipped)
        return false;
    double scale = norm_of(plan, measure, clipped) * noise;
    if (selects)
        return agree(measure->scale, 1 / scale);
    /* a ball of the 1-norm is within that of the 2-norm */
    const brume_found_limit *limit = brume_terms_measure_limit(terms, index);
    return agree(measure->scale, scale) && clipped->sum.kind == measure->kind &&
           clipped->limit.of.centre == limit->centre &&
           clipped->limit.of.root == limit->of->of.root &&
           clipped->sum.value == measure->expression && clipped->sum.shift == measure->shift &&
           (clipped->p == 1 || plan->noise != BRUME_NOISE_DISCRETE_LAPLACE);
}

/* Work out the scale of every limited measure once more, from the limit, norm and grid that the
 * collection was clipped with and from the price, and compare it with the scale that is to be
 * drawn. Terms and collection are made apart; what leaves a collection is what was clipped.
 * Errors: BRUME_EINTERNAL if they differ; nothing has been drawn for the measures then. */
static brume_status check_limited_noise(const brume_terms *terms, const brume_collected *collected,
                                        brume_error *error)
{
    brume_terms *again = NULL;
    if (!terms->plan->by_totals)
        return BRUME_OK;
    BRUME_TRY(brume_terms_make(terms->plan, terms, terms->groups, &again, error));
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < terms->plan->measure_count; i++) {
        const brume_found_limit *limit = brume_terms_measure_limit(terms, i);
        if (limit && limit->known && !belongs(terms, i, collected, again->measures[i].noise))
            status = brume_fail(error, BRUME_EINTERNAL, "please report this query",
                                "the noise of measure %zu is not for the limit of its rows", i);
    }
    brume_terms_close(again);
    return status;
}

void brume_drawn_close(brume_drawn *drawn)
{
    if (!drawn)
        return;
    free(drawn->groups);
    free(drawn->units);
    free(drawn->numbers);
    free(drawn->selected);
    free(drawn->selected_at);
    for (size_t i = 0; drawn->results && i < drawn->result_count; i++) {
        free(drawn->results[i].numbers);
        free(drawn->results[i].chosen);
    }
    free(drawn->results);
    free(drawn);
}

brume_status brume_drawn_open(const brume_plan *plan, brume_drawn **out, brume_error *error)
{
    brume_drawn *drawn = calloc(1, sizeof *drawn);
    if (drawn)
        drawn->results = calloc(plan->measurement_count + 1, sizeof *drawn->results);
    if (!drawn || !drawn->results) {
        brume_drawn_close(drawn);
        return brume_no_memory(error, "the noise");
    }
    drawn->result_count = plan->measurement_count;
    *out = drawn;
    return BRUME_OK;
}

double brume_drawn_number(const brume_drawn *drawn, int measure, size_t group)
{
    return drawn->numbers[(size_t)measure * drawn->count + group];
}

/* A quantile, or several; of one that has an interval then its two ends; a mode. */
static size_t selected_per_group(const brume_measure *measure)
{
    if (brume_measure_has_interval(measure))
        return 3;
    return measure->fraction_count ? measure->fraction_count : 1;
}

/* Where the choices of a measure in a group go. */
static int64_t *selected_in(const brume_plan *plan, const brume_drawn *drawn, size_t measure,
                            size_t group)
{
    size_t per_group = selected_per_group(&plan->measures[measure]);
    return &drawn->selected[drawn->selected_at[measure] + group * per_group];
}

int64_t brume_drawn_selected(const brume_plan *plan, const brume_drawn *drawn, int measure,
                             size_t group, int fraction)
{
    return selected_in(plan, drawn, (size_t)measure, group)[fraction];
}

bool brume_drawn_interval(const brume_plan *plan, const brume_drawn *drawn, int measure,
                          size_t group, int64_t out[2])
{
    if (!brume_measure_has_interval(&plan->measures[measure]))
        return false;
    memcpy(out, selected_in(plan, drawn, (size_t)measure, group) + 1, 2 * sizeof *out);
    return true;
}

/* ---- exact integers ---- */

static brume_i128 exact(const brume_measure *measure, const brume_bounded_group *group)
{
    const brume_bounded_value *value = &group->values[measure->expression];
    switch (measure->kind) {
    case BRUME_MEASURE_UNITS:
    case BRUME_MEASURE_PRESENCE:
        return (brume_i128)group->units;
    case BRUME_MEASURE_HOLDERS:
        break; /* its sum is always limited */
    case BRUME_MEASURE_ROWS:
        return (brume_i128)group->rows;
    case BRUME_MEASURE_VALUES:
        return (brume_i128)value->count;
    case BRUME_MEASURE_CENTRED:
        return value->sum;
    case BRUME_MEASURE_SQUARES:
        return value->squares -
               (brume_i128)brume_measure_half_square(measure) * (brume_i128)value->count;
    case BRUME_MEASURE_DIRECT:
    case BRUME_MEASURE_DEVIATION: /* its sum is always limited */
        return value->sum + (brume_i128)brume_measure_centre(measure) * (brume_i128)value->count;
    case BRUME_MEASURE_QUANTILES:
    case BRUME_MEASURE_MODE:
    case BRUME_MEASURE_PRIVATE_MODE:
        break;
    }
    return 0;
}

static brume_status open_noise(brume_noise_kind kind, double scale, brume_noise **out,
                               brume_error *error)
{
    switch (kind) {
    case BRUME_NOISE_DISCRETE_LAPLACE:
        return brume_noise_open_discrete_laplace(scale, out, error);
    case BRUME_NOISE_ROUNDED_GAUSSIAN:
        return brume_noise_open_rounded_gaussian(scale, out, error);
    case BRUME_NOISE_DISCRETE_GAUSSIAN:
        break;
    }
    return brume_noise_open_discrete_gaussian(scale, out, error);
}

/* What is noised, in steps of 2^-shift of the grid. */
static brume_i128 noiseless(const brume_terms *terms, const brume_measure *measure,
                            const brume_bounded_group *group)
{
    if (!terms->plan->by_totals || measure->kind == BRUME_MEASURE_UNITS)
        return exact(measure, group);
    return group->limited[measure - terms->measures];
}

/* noisy[i] = exact number of groups[i] + noise, in grid steps. */
static brume_status add_noise(const brume_terms *terms, const brume_measure *measure,
                              const brume_bounded_group *const *groups, size_t count,
                              brume_bits *bits, double *noisy, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    brume_noise *noise = NULL;
    int64_t *draws = malloc((count + 1) * sizeof *draws);
    if (!draws)
        return brume_no_memory(error, "the noise");
    brume_status status =
        open_noise(plan->noise, ldexp(measure->scale, measure->shift), &noise, error);
    if (status == BRUME_OK)
        status = brume_noise_fill(noise, bits, draws, count, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        noisy[i] =
            ldexp((double)(noiseless(terms, measure, groups[i]) + draws[i]), -measure->shift);
    brume_noise_close(noise);
    free(draws);
    return status;
}

brume_status brume_draw_counts(brume_noise_kind kind, double scale, const int64_t *counts,
                               size_t count, brume_bits *bits, double *noisy, brume_error *error)
{
    brume_noise *noise = NULL;
    int64_t *draws = malloc((count + 1) * sizeof *draws);
    if (!draws)
        return brume_no_memory(error, "the noise");
    brume_status status = open_noise(kind, scale, &noise, error);
    if (status == BRUME_OK)
        status = brume_noise_fill(noise, bits, draws, count, error);
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        noisy[i] = (double)((brume_i128)counts[i] + draws[i]);
    brume_noise_close(noise);
    free(draws);
    return status;
}

/* ---- selections ---- */

/* Quantiles and modes of declared values: one grid integer each. */
static bool is_selection(const brume_measure *measure)
{
    return brume_measure_is_selection(measure) && measure->kind != BRUME_MEASURE_PRIVATE_MODE;
}

/* Single quantiles of the same values. */
static bool ranks_alike(const brume_measure *a, const brume_measure *b)
{
    return brume_measure_has_interval(a) && brume_measure_has_interval(b) &&
           a->expression == b->expression;
}

/* A quantile and its interval, for half of the price each. What is shown lies in the interval. */
static brume_status draw_quantile(const brume_terms *terms, size_t index, const brume_ranked *list,
                                  const brume_cells *cells, brume_bits *bits, int64_t out[3],
                                  brume_error *error)
{
    const brume_measure *measure = &terms->measures[index];
    const int64_t *fraction = measure->fractions[0];
    BRUME_TRY(brume_rank_in(bits, list, measure->low, measure->high, fraction[0], fraction[1],
                            measure->scale, &out[0], error));
    BRUME_TRY(brume_rank_interval(bits, list, cells, fraction[0], fraction[1],
                                  brume_interval_rate_down(measure, terms->plan->noise),
                                  brume_terms_cut_of_selection(terms, index), &out[1], error));
    out[0] = out[0] < out[1] ? out[1] : out[0] > out[2] ? out[2] : out[0];
    return BRUME_OK;
}

/* The measure `first` in a group, and all later ones like it: their list is put in order once. */
static brume_status draw_quantiles(const brume_terms *terms, brume_drawn *drawn, size_t first,
                                   size_t group, const brume_cells *cells, brume_bits *bits,
                                   brume_error *error)
{
    const brume_plan *plan = terms->plan;
    const brume_measure *measure = &terms->measures[first];
    const brume_bounded_value *value = &drawn->groups[group]->values[measure->expression];
    size_t count = (size_t)value->count;
    if (measure->fraction_count > 1)
        return brume_rank_many(bits, value->kept, value->weights, value->breaker, count,
                               measure->low, measure->high, measure->fractions,
                               measure->fraction_count, measure->scale,
                               selected_in(plan, drawn, first, group), error);
    brume_ranked list;
    brume_status status = BRUME_OK;
    uint64_t points = plan->query->key_count ? BRUME_RANKED_POINTS : BRUME_RANKED_POINTS_ALONE;
    BRUME_TRY(brume_ranked_open(value->kept, value->weights, count, measure->low, measure->high,
                                points, &list, error));
    for (size_t i = first; status == BRUME_OK && i < plan->measure_count; i++)
        if (ranks_alike(measure, &terms->measures[i]))
            status = draw_quantile(terms, i, &list, cells, bits, selected_in(plan, drawn, i, group),
                                   error);
    brume_ranked_close(&list);
    return status;
}

/* Permute-and-flip on the counts of the declared values; on their weights, in steps of
 * 2^-BRUME_LIMIT_WEIGHT_BITS, where they have some. Sums below 2^53 are exact as doubles: those of
 * 2^37 rows. */
static brume_status draw_mode(const brume_measure *measure, const brume_bounded_group *group,
                              brume_bits *bits, int64_t *out, brume_error *error)
{
    const brume_bounded_value *value = &group->values[measure->expression];
    size_t candidates = (size_t)measure->high + 1, chosen = 0;
    double *counts = calloc(candidates, sizeof *counts), rate = measure->scale;
    if (!counts)
        return brume_no_memory(error, "the noise");
    for (uint64_t i = 0; i < value->count; i++)
        counts[value->kept[i]] += value->weights ? value->weights[i] : 1;
    if (value->weights)
        rate = ldexp(rate, -BRUME_LIMIT_WEIGHT_BITS);
    brume_status status = brume_select_noisy_max(bits, BRUME_SELECT_EXPONENTIAL, rate, counts,
                                                 candidates, &chosen, error);
    free(counts);
    if (status == BRUME_OK)
        *out = (int64_t)chosen;
    return status;
}

/* One measure, with those that share its list, in all groups. */
static brume_status draw_selection(const brume_terms *terms, brume_drawn *drawn, size_t measure,
                                   brume_bits *bits, brume_error *error)
{
    const brume_measure *one = &terms->measures[measure];
    brume_cells cells = {0};
    brume_status status = BRUME_OK;
    if (brume_measure_has_interval(one))
        BRUME_TRY(brume_cells_open(one->low, one->high, &cells, error));
    for (size_t g = 0; status == BRUME_OK && g < drawn->count; g++)
        status = one->kind == BRUME_MEASURE_QUANTILES
                     ? draw_quantiles(terms, drawn, measure, g, &cells, bits, error)
                     : draw_mode(one, drawn->groups[g], bits,
                                 selected_in(terms->plan, drawn, measure, g), error);
    brume_cells_close(&cells);
    return status;
}

static brume_status draw_selections(const brume_terms *terms, brume_drawn *drawn, brume_bits *bits,
                                    brume_error *error)
{
    const brume_plan *plan = terms->plan;
    size_t total = 0;
    drawn->selected_at = calloc(plan->measure_count + 1, sizeof *drawn->selected_at);
    for (size_t i = 0; drawn->selected_at && i < plan->measure_count; i++) {
        drawn->selected_at[i] = total;
        if (is_selection(&terms->measures[i]))
            total += drawn->count * selected_per_group(&terms->measures[i]);
    }
    drawn->selected = calloc(total + 1, sizeof *drawn->selected);
    if (!drawn->selected || !drawn->selected_at)
        return brume_no_memory(error, "the noise");
    for (size_t i = 0; i < plan->measure_count; i++) {
        const brume_measure *measure = &terms->measures[i];
        bool done = false; /* with those before it */
        for (size_t j = 0; j < i; j++)
            done = done || ranks_alike(&terms->measures[j], measure);
        if (is_selection(measure) && !done)
            BRUME_TRY(draw_selection(terms, drawn, i, bits, error));
    }
    return BRUME_OK;
}

/* ---- all of it ---- */

/* Keys alone: no number is drawn, and none is kept. */
static brume_status select_keys(const brume_plan *plan, const brume_bounded_group *groups,
                                size_t count, brume_bits *bits, brume_drawn *drawn, double *units,
                                brume_error *error)
{
    int64_t *present = calloc(count + 1, sizeof *present);
    unsigned char *keep = calloc(count + 1, 1);
    brume_status status = present && keep ? BRUME_OK : brume_no_memory(error, "the noise");
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        present[i] = (int64_t)groups[i].units;
    if (status == BRUME_OK)
        status = brume_key_selection_draw(plan->selection, bits, present, keep, count, error);
    size_t kept = 0;
    for (size_t i = 0; status == BRUME_OK && i < count; i++)
        if (keep[i]) {
            units[kept] = 0;
            drawn->groups[kept++] = &groups[i];
        }
    drawn->count = kept;
    free(present);
    free(keep);
    return status;
}

/* Which groups are released; for private keys measure 0 is drawn here, and its noisy units go to
 * `units`. */
static brume_status release_keys(const brume_terms *terms, const brume_bounded_group *groups,
                                 size_t count, brume_bits *bits, brume_drawn *drawn, double *units,
                                 brume_error *error)
{
    const brume_plan *plan = terms->plan;
    for (size_t i = 0; i < count; i++)
        drawn->groups[i] = &groups[i];
    drawn->count = count;
    if (!plan->shape.private_keys)
        return BRUME_OK;
    if (plan->selection)
        return select_keys(plan, groups, count, bits, drawn, units, error);
    BRUME_TRY(add_noise(terms, &terms->measures[0], drawn->groups, count, bits, units, error));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (units[i] >= (double)terms->price.threshold) {
            drawn->groups[kept] = drawn->groups[i];
            units[kept++] = units[i];
        }
    drawn->count = kept;
    return BRUME_OK;
}

/* ---- grouping sets that add up ---- */

/* Where the numbers of the groups are in the tables of the sets: groups are in the order of their
 * keys, so those of a set are in the order of its table. */
static void fill_tables(const brume_plan *plan, const brume_drawn *drawn, double *numbers,
                        double *const *tables, bool back)
{
    size_t at[BRUME_CONSISTENT_COLUMNS] = {0};
    for (size_t g = 0; g < drawn->count; g++) {
        int set = brume_plan_set_of(plan, drawn->groups[g]->keys);
        double *cell = &tables[set][at[set]++];
        if (back)
            numbers[g] = *cell;
        else
            *cell = numbers[g];
    }
}

/* Is there a group for each cell of the tables? When a plan is rehearsed there is one in all. */
static bool has_all_cells(const brume_plan *plan, const brume_drawn *drawn)
{
    size_t in[BRUME_CONSISTENT_COLUMNS] = {0};
    bool all = plan->query->set_count <= BRUME_CONSISTENT_COLUMNS;
    for (size_t g = 0; all && g < drawn->count; g++) {
        int set = brume_plan_set_of(plan, drawn->groups[g]->keys);
        all = set >= 0;
        in[set < 0 ? 0 : set]++;
    }
    for (size_t s = 0; all && s < plan->query->set_count; s++)
        all = in[s] == brume_consistent_cells(plan->fitted, s);
    return all;
}

/* The noisy numbers of a measure become whole numbers that add up: a function of what was drawn. */
static brume_status fit_sets(const brume_plan *plan, const brume_drawn *drawn, double *numbers,
                             brume_error *error)
{
    size_t sets = plan->query->set_count, cells = 0;
    double *tables[BRUME_CONSISTENT_COLUMNS];
    if (!has_all_cells(plan, drawn))
        return BRUME_OK;
    double *room = calloc(drawn->count + 1, sizeof *room);
    if (!room)
        return brume_no_memory(error, "the noise");
    for (size_t s = 0; s < sets; s++) {
        tables[s] = room + cells;
        cells += brume_consistent_cells(plan->fitted, s);
    }
    fill_tables(plan, drawn, numbers, tables, false);
    brume_status status = brume_consistent_fit(plan->fitted, tables, error);
    if (status == BRUME_OK)
        status = brume_consistent_round(plan->fitted, tables, NULL, error);
    if (status == BRUME_OK)
        fill_tables(plan, drawn, numbers, tables, true);
    free(room);
    return status;
}

/* A limit that was not found leaves nothing to draw. */
static bool is_drawn(const brume_terms *terms, size_t measure)
{
    const brume_found_limit *limit = brume_terms_measure_limit(terms, measure);
    return !limit || limit->known;
}

brume_status brume_draw_keys(const brume_terms *terms, const brume_collected *collected,
                             brume_bits *bits, brume_drawn *drawn, brume_error *error)
{
    size_t count = 0;
    const brume_bounded_group *groups = brume_collected_groups(collected, &count);
    drawn->units = malloc((count + 1) * sizeof *drawn->units);
    drawn->groups = calloc(count + 1, sizeof *drawn->groups);
    return drawn->units && drawn->groups
               ? release_keys(terms, groups, count, bits, drawn, drawn->units, error)
               : brume_no_memory(error, "the noise");
}

brume_status brume_draw_groups(const brume_terms *terms, size_t index,
                               const brume_collected *collected, brume_bits *bits,
                               brume_drawn *drawn, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    (void)index;
    BRUME_TRY(check_limited_noise(terms, collected, error));
    drawn->numbers = calloc(plan->measure_count * drawn->count + 1, sizeof *drawn->numbers);
    if (!drawn->numbers)
        return brume_no_memory(error, "the noise");
    for (size_t i = 0; i < plan->measure_count; i++) {
        double *to = drawn->numbers + i * drawn->count;
        if (i == 0 && plan->shape.private_keys)
            memcpy(to, drawn->units, drawn->count * sizeof *to);
        else if (!is_drawn(terms, i))
            for (size_t g = 0; g < drawn->count; g++)
                to[g] = NAN;
        else if (!brume_measure_is_selection(&terms->measures[i]))
            BRUME_TRY(add_noise(terms, &terms->measures[i], drawn->groups, drawn->count, bits, to,
                                error));
        if (plan->fitted && brume_plan_is_fitted(plan, i) && is_drawn(terms, i))
            BRUME_TRY(fit_sets(plan, drawn, to, error));
    }
    return draw_selections(terms, drawn, bits, error);
}
