/* What is done with each kind of measurement: one more kind is one more row of the table. */
#include "query/release/measurement.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "query/price/error_bar.h"
#include "query/release/draw_distinct.h"

/* The mode of an expression whose values nobody declared.
 *
 * Promise: noise goes on every pair that some unit keeps, and on no other; what is chosen is a
 * function of the noisy numbers alone. */

static void choose(const brume_terms *terms, const brume_measure *measure,
                   const brume_bounded_group *pairs, const double *noisy, size_t pair_count,
                   const brume_bounded_group *const *groups, size_t count,
                   const brume_key_value **chosen)
{
    size_t keys = terms->plan->query->key_count, group = 0;
    double largest = 0;
    for (size_t i = 0; i < pair_count; i++) { /* both lists are in the order of the keys */
        while (group < count && brume_keys_compare(groups[group]->keys, pairs[i].keys, keys) < 0)
            group++;
        if (group == count)
            break;
        if (noisy[i] < (double)measure->threshold ||
            brume_keys_compare(groups[group]->keys, pairs[i].keys, keys) != 0)
            continue;
        if (!chosen[group] || noisy[i] > largest) { /* of equals the first in order */
            chosen[group] = &pairs[i].keys[keys];
            largest = noisy[i];
        }
    }
}

/* noisy[i] = units of the pair i, with the noise of the measure. */
static brume_status add_noise(const brume_terms *terms, const brume_measure *measure,
                              const brume_bounded_group *pairs, size_t count, brume_bits *bits,
                              double *noisy, brume_error *error)
{
    int64_t *units = calloc(count + 1, sizeof *units);
    if (!units)
        return brume_no_memory(error, "a mode");
    for (size_t i = 0; i < count; i++)
        units[i] = (int64_t)pairs[i].units;
    brume_status status = brume_draw_counts(brume_measure_noise(measure, terms->plan->noise),
                                            measure->scale, units, count, bits, noisy, error);
    free(units);
    return status;
}

/* drawn->results[index].chosen: for each of the drawn groups the value; NULL where none reaches the
 * threshold. What it points to lives as long as `pairs`. */
static brume_status draw_mode(const brume_terms *terms, size_t index, const brume_collected *pairs,
                              brume_bits *bits, brume_drawn *drawn, brume_error *error)
{
    const brume_measure *measure = &terms->measures[terms->plan->measurements[index].mode.measure];
    size_t pair_count = 0;
    const brume_bounded_group *found = brume_collected_groups(pairs, &pair_count);
    double *noisy = calloc(pair_count + 1, sizeof *noisy);
    const brume_key_value **chosen = calloc(drawn->count + 1, sizeof *chosen);
    brume_status status = noisy && chosen
                              ? add_noise(terms, measure, found, pair_count, bits, noisy, error)
                              : brume_no_memory(error, "a mode");
    if (status == BRUME_OK)
        choose(terms, measure, found, noisy, pair_count, drawn->groups, drawn->count, chosen);
    free(noisy);
    drawn->results[index].chosen = chosen; /* closed with the rest, also on failure */
    return status;
}

/* Estimates of bias: noise on the counts of units, and what an answer says of them. */

brume_status brume_draw_bias(const brume_terms *terms, size_t index,
                             const brume_collected *collected, brume_bits *bits, brume_drawn *drawn,
                             brume_error *error)
{
    const brume_measurement *bias = &terms->plan->measurements[index];
    size_t groups = 0;
    const brume_bounded_group *all = brume_collected_groups(collected, &groups);
    if (groups != 1)
        return brume_fail(error, BRUME_EENGINE, NULL, "the engine answered in an unexpected form");
    int64_t *counts = calloc(bias->count, sizeof *counts);
    double *noisy = calloc(bias->count, sizeof *noisy);
    brume_status status = counts && noisy ? BRUME_OK : brume_no_memory(error, "the noise");
    for (size_t i = 0; status == BRUME_OK && i < bias->count; i++)
        counts[i] = i == 0 ? (int64_t)all[0].units : (int64_t)all[0].values[i - 1].sum;
    if (status == BRUME_OK)
        status =
            brume_draw_counts(bias->noise, bias->scale, counts, bias->count, bits, noisy, error);
    free(counts);
    drawn->results[index].numbers = noisy; /* closed with the rest, also on failure */
    return status;
}

void brume_show_bias(const brume_terms *terms, size_t index, const brume_drawn *drawn,
                     size_t aggregate, brume_answer_column *column)
{
    const brume_measurement *bias = &terms->plan->measurements[index];
    const double *noisy = drawn->results[index].numbers;
    const brume_plan_aggregate *from = &terms->plan->aggregates[aggregate];
    int clamp = BRUME_NOT_MEASURED;
    /* clamping moves sums and ranks, and no count */
    bool counts = from->direct < 0 && from->centred < 0 && from->selection < 0;
    if (!counts && !from->private_mode && from->value >= 0 && from->value < BRUME_BIAS_VALUES)
        clamp = bias->bias.clamped[from->value];
    if (clamp < 0)
        return;
    column->bias =
        (brume_answer_bias){.units = fmax(0, noisy[0]),
                            .cut = NAN,
                            .clamped = fmax(0, noisy[clamp]),
                            .error_95 = brume_error_width(bias->noise, bias->scale, 0.05)};
}

typedef struct measurement_functions {
    brume_status (*draw)(const brume_terms *terms, size_t index, const brume_collected *collected,
                         brume_bits *bits, brume_drawn *drawn, brume_error *error);
    void (*show)(const brume_terms *terms, size_t index, const brume_drawn *drawn, size_t aggregate,
                 brume_answer_column *column); /* NULL: the values of the column say it all */
} measurement_functions;

static const measurement_functions kinds[] = {
    [BRUME_MEASUREMENT_GROUPS] = {brume_draw_groups, NULL},
    [BRUME_MEASUREMENT_MODE] = {draw_mode, NULL},
    [BRUME_MEASUREMENT_BIAS] = {brume_draw_bias, brume_show_bias},
    [BRUME_MEASUREMENT_DISTINCT] = {brume_draw_distinct, brume_show_distinct},
};

brume_status brume_measurement_draw(const brume_terms *terms, size_t index,
                                    const brume_collected *collected, brume_bits *bits,
                                    brume_drawn *drawn, brume_error *error)
{
    return kinds[terms->plan->measurements[index].kind].draw(terms, index, collected, bits, drawn,
                                                             error);
}

void brume_measurement_show(const brume_terms *terms, size_t index, const brume_drawn *drawn,
                            size_t aggregate, brume_answer_column *column)
{
    const measurement_functions *kind = &kinds[terms->plan->measurements[index].kind];
    if (kind->show)
        kind->show(terms, index, drawn, aggregate, column);
}
