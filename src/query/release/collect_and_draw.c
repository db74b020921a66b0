/* All measurements of a plan, from rows to a presented answer. */
#include "query/release/collect_and_draw.h"

#include <stdlib.h>

#include "base/error.h"
#include "query/release/measurement.h"
#include "query/release/present.h"

/* All draws in their order: keys, limits, numbers. */
static brume_status draw(const brume_terms *terms, brume_collected *const *collected,
                         brume_bits *bits, const brume_choice_keeper *keeper, brume_drawn *drawn,
                         brume_terms **chosen, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    BRUME_TRY(brume_draw_keys(terms, collected[0], bits, drawn, error));
    BRUME_TRY(brume_choose_all_limits(terms, collected, drawn, bits, keeper, chosen, error));
    if (plan->limits_only)
        return BRUME_OK;
    if (plan->by_totals)
        BRUME_TRY(brume_sum_under_limits(*chosen, collected[0], drawn, error));
    for (size_t i = 0; i < plan->measurement_count; i++)
        BRUME_TRY(brume_measurement_draw(*chosen, i, collected[i], bits, drawn, error));
    return BRUME_OK;
}

static brume_status draw_and_present(const brume_terms *terms, brume_collected *const *collected,
                                     brume_bits *bits, const brume_choice_keeper *keeper,
                                     brume_released *out, brume_error *error)
{
    brume_drawn *drawn = NULL;
    brume_terms *chosen = NULL;
    BRUME_TRY(brume_drawn_open(terms->plan, &drawn, error));
    brume_status status = draw(terms, collected, bits, keeper, drawn, &chosen, error);
    if (status == BRUME_OK)
        status = terms->plan->limits_only ? brume_present_limits(chosen, &out->answer, error)
                                          : brume_present(chosen, drawn, &out->answer, error);
    brume_drawn_close(drawn);
    if (status == BRUME_OK)
        out->terms = chosen;
    else
        brume_terms_close(chosen);
    return status;
}

void brume_released_close(brume_released *released)
{
    brume_terms_close(released->terms);
    brume_query_answer_close(released->answer);
    *released = (brume_released){0};
}

brume_status brume_collect_and_draw(const brume_terms *terms, brume_collector collect,
                                    void *context, brume_bits *bits,
                                    const brume_choice_keeper *keeper, brume_released *out,
                                    brume_error *error)
{
    const brume_plan *plan = terms->plan;
    brume_collected **collected = calloc(plan->measurement_count + 1, sizeof *collected);
    if (!collected)
        return brume_no_memory(error, "the answer");
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < plan->measurement_count; i++)
        status = collect(context, &plan->measurements[i], bits, &collected[i], error);
    if (status == BRUME_OK)
        status = draw_and_present(terms, collected, bits, keeper, out, error);
    for (size_t i = 0; i < plan->measurement_count; i++)
        brume_collected_close(collected[i]);
    free(collected);
    return status;
}
