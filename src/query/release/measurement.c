/* What is done with each kind of measurement: one more kind is one more row of the table. */
#include "query/release/measurement.h"

#include "query/release/draw_bias.h"
#include "query/release/draw_distinct.h"
#include "query/release/draw_mode.h"

typedef struct measurement_functions {
    brume_status (*draw)(const brume_terms *terms, size_t index, const brume_collected *collected,
                         brume_bits *bits, brume_drawn *drawn, brume_error *error);
    void (*show)(const brume_terms *terms, size_t index, const brume_drawn *drawn, size_t aggregate,
                 brume_answer_column *column); /* NULL: the values of the column say it all */
} measurement_functions;

static const measurement_functions kinds[] = {
    [BRUME_MEASUREMENT_GROUPS] = {brume_draw_groups, NULL},
    [BRUME_MEASUREMENT_MODE] = {brume_draw_mode, NULL},
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
