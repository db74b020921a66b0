/* Estimates of bias: noise on the counts of units, and what an answer says of them. */
#include "query/release/draw_bias.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "query/price/error_bar.h"

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
