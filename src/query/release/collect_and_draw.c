/* All measurements of a plan, from rows to a presented answer. */
#include "query/release/collect_and_draw.h"

#include <stdlib.h>

#include "base/error.h"
#include "query/release/measurement.h"
#include "query/release/present.h"

static brume_status draw_and_present(brume_plan *plan, brume_collected *const *collected,
                                     brume_bits *bits, const brume_choice_keeper *keeper,
                                     brume_query_answer **answer, brume_error *error)
{
    brume_drawn *drawn = NULL;
    BRUME_TRY(brume_drawn_open(plan, &drawn, error));
    brume_status status = brume_draw_keys(plan, collected[0], bits, drawn, error);
    if (status == BRUME_OK)
        status = brume_choose_all_limits(plan, collected, drawn, bits, keeper, error);
    if (plan->limits_only) {
        if (status == BRUME_OK)
            status = brume_present_limits(plan, answer, error);
        brume_drawn_close(drawn);
        return status;
    }
    for (size_t i = 0; status == BRUME_OK && i < plan->measurement_count; i++)
        status = brume_measurement_draw(plan, i, collected[i], bits, drawn, error);
    if (status == BRUME_OK)
        status = brume_present(plan, drawn, answer, error);
    brume_drawn_close(drawn);
    return status;
}

brume_status brume_collect_and_draw(brume_plan *plan, brume_collector collect, void *context,
                                    brume_bits *bits, const brume_choice_keeper *keeper,
                                    brume_query_answer **answer, brume_error *error)
{
    brume_collected **collected = calloc(plan->measurement_count + 1, sizeof *collected);
    if (!collected)
        return brume_no_memory(error, "the answer");
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < plan->measurement_count; i++)
        status = collect(context, &plan->measurements[i], bits, &collected[i], error);
    if (status == BRUME_OK)
        status = draw_and_present(plan, collected, bits, keeper, answer, error);
    for (size_t i = 0; i < plan->measurement_count; i++)
        brume_collected_close(collected[i]);
    free(collected);
    return status;
}
