/* Lists of values with weights: for quantiles and modes, where nothing is cut.
 *
 * All values of a unit stay, and all weigh the same: 1, or less where the unit has more of them
 * than the limit, so that its weights add up to no more than that. */
#include <stdlib.h>

#include "base/error.h"
#include "query/collect/bound_pairs.h"
#include "query/collect/totals.h"
#include "query/limit/clip.h"

static listed_row *listed_in(const brume_bounder *bounder, const shard *own, size_t index)
{
    return record_in(&own->listed, bounder->listed_size, index);
}

static bool is_listed(const brume_bounder *bounder, listed_row *row, const bool *shown,
                      size_t value)
{
    return (!shown || shown[row->group]) && measured_has(listed_measured(bounder, row), value);
}

/* Room for the lists of one value in all groups. */
static brume_status make_lists(brume_bounder *bounder, size_t value, const bool *shown,
                               brume_error *error)
{
    size_t values = bounder->plan.value_count;
    for (size_t g = 0; g < bounder->result_groups; g++)
        bounder->result_values[g * values + value].count = 0;
    for (size_t s = 0; s < SHARDS; s++)
        for (size_t i = 0; i < bounder->shards[s].listed.count; i++) {
            listed_row *row = listed_in(bounder, &bounder->shards[s], i);
            if (is_listed(bounder, row, shown, value))
                bounder->result_values[row->group * values + value].count++;
        }
    for (size_t g = 0; g < bounder->result_groups; g++) {
        size_t at = g * values + value;
        brume_bounded_value *to = &bounder->result_values[at];
        free(bounder->kept[at]);
        free(bounder->weights[at]);
        free(bounder->breakers[at]);
        to->kept = bounder->kept[at] = malloc((size_t)(to->count + 1) * sizeof **bounder->kept);
        to->weights = bounder->weights[at] =
            malloc((size_t)(to->count + 1) * sizeof **bounder->weights);
        to->breaker = bounder->breakers[at] =
            bounder->breaks_ties ? malloc((size_t)(to->count + 1) * sizeof **bounder->breakers)
                                 : NULL;
        to->count = 0; /* counted up again as the lists are filled */
        if (!to->kept || !to->weights || (bounder->breaks_ties && !to->breaker))
            return brume_no_memory(error, "the values of a quantile");
    }
    return BRUME_OK;
}

static void fill_lists(brume_bounder *bounder, const shard *own, const brume_total_limit *limit,
                       size_t value, const bool *shown, brume_u128 *norms)
{
    brume_totals_norms(bounder, own, &limit->of, 1, shown, norms);
    for (size_t i = 0; i < own->listed.count; i++) {
        listed_row *row = listed_in(bounder, own, i);
        size_t at = row->group * bounder->plan.value_count + value;
        if (!is_listed(bounder, row, shown, value))
            continue;
        uint64_t place = bounder->result_values[at].count++;
        bounder->kept[at][place] = measured_value(bounder, listed_measured(bounder, row), value);
        bounder->weights[at][place] = brume_limit_weight(norms[row->unit], limit->limit);
        if (bounder->breaks_ties)
            bounder->breakers[at][place] = (uint32_t)row->words[0];
    }
}

brume_status brume_totals_list(brume_bounder *bounder, const brume_total_limit *limits,
                               const bool *shown, const brume_limited_list *lists,
                               size_t list_count, brume_error *error)
{
    size_t all = (size_t)bounder->result_groups * bounder->plan.value_count + 1, most = 0;
    for (size_t s = 0; s < SHARDS; s++)
        most = bounder->shards[s].unit_count > most ? bounder->shards[s].unit_count : most;
    if (!bounder->kept) {
        bounder->kept = calloc(all, sizeof *bounder->kept);
        bounder->weights = calloc(all, sizeof *bounder->weights);
        bounder->breakers = calloc(all, sizeof *bounder->breakers);
    }
    brume_u128 *norms = malloc((most + 1) * sizeof *norms);
    brume_status status = norms && bounder->kept && bounder->weights && bounder->breakers
                              ? BRUME_OK
                              : brume_no_memory(error, "the values of a quantile");
    for (size_t i = 0; status == BRUME_OK && i < list_count; i++) {
        status = make_lists(bounder, lists[i].value, shown, error);
        for (size_t s = 0; status == BRUME_OK && s < SHARDS; s++)
            fill_lists(bounder, &bounder->shards[s], &limits[lists[i].limit], lists[i].value, shown,
                       norms);
    }
    free(norms);
    return status;
}
