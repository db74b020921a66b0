/* Draw: noise on what was collected, the test of private keys, quantiles and modes. What comes out
 * is private: from here on everything is post-processing. */
#ifndef BRUME_QUERY_DRAW_H
#define BRUME_QUERY_DRAW_H

#include <brume/bits.h>

#include "query/collect.h"
#include "query/plan.h"

typedef struct brume_drawn {
    size_t count;                       /* released groups */
    const brume_bounded_group **groups; /* for their keys; nothing else of them may be shown */
    double *numbers;                    /* measure-major: numbers[measure * count + group] */
    int64_t *selected;                  /* quantiles and modes: see brume_drawn_selected */
    size_t *selected_at;                /* per measure */
    const brume_key_value **modes;      /* of undeclared values: modes[mode * count + group] */
    double *bias;                       /* the numbers of plan->bias; NULL: none */
} brume_drawn;

/* Draw for every group of a public domain, or for those private ones that pass the test; the others
 * are dropped here. `pairs` has what plan->modes collect, and must outlive what is drawn. */
BRUME_MUST_USE brume_status brume_draw(const brume_plan *plan, const brume_collected *collected,
                                       brume_collected *const *pairs, brume_bits *bits,
                                       brume_drawn **out, brume_error *error);
void brume_drawn_close(brume_drawn *drawn);

/* noisy[i] = counts[i] + noise of this kind and scale. */
BRUME_MUST_USE brume_status brume_draw_counts(brume_noise_kind kind, double scale,
                                              const int64_t *counts, size_t count, brume_bits *bits,
                                              double *noisy, brume_error *error);

/* The numbers of plan->bias, if there are any, from what its plan collected. */
BRUME_MUST_USE brume_status brume_draw_bias(const brume_plan *plan,
                                            const brume_collected *collected, brume_bits *bits,
                                            brume_drawn *drawn, brume_error *error);

/* The noisy number of a measure, in grid steps. */
double brume_drawn_number(const brume_drawn *drawn, int measure, size_t group);

/* The chosen grid integer of a selection; `fraction` counts the quantiles of the measure. */
int64_t brume_drawn_selected(const brume_plan *plan, const brume_drawn *drawn, int measure,
                             size_t group, int fraction);

#endif
