/* Draw: noise on what was collected, the test of private keys, quantiles and modes. What comes out
 * is private: from here on everything is post-processing. */
#ifndef BRUME_QUERY_DRAW_H
#define BRUME_QUERY_DRAW_H

#include <brume/bits.h>

#include "query/collect/collect.h"
#include "query/plan/plan_terms.h"

/* What a measurement other than the groups releases. */
typedef struct brume_drawn_result {
    double *numbers;                /* estimates of bias: the counts */
    const brume_key_value **chosen; /* modes of undeclared values: one for each drawn group */
} brume_drawn_result;

typedef struct brume_drawn {
    size_t count;                       /* released groups */
    const brume_bounded_group **groups; /* for their keys; nothing else of them may be shown */
    double *units; /* private keys: the noisy units that the test was on, until they are numbers */
    double *numbers;             /* measure-major: numbers[measure * count + group] */
    int64_t *selected;           /* quantiles and modes: see brume_drawn_selected */
    size_t *selected_at;         /* per measure */
    size_t result_count;         /* measurements of the plan, */
    brume_drawn_result *results; /* and what each but the groups has */
} brume_drawn;

/* Nothing drawn yet, with room for the plan's measurements. */
BRUME_MUST_USE brume_status brume_drawn_open(const brume_plan *plan, brume_drawn **out,
                                             brume_error *error);
void brume_drawn_close(brume_drawn *drawn);

/* Which groups are released: every one of a public domain, or those private ones that pass the
 * test; the others are dropped here. `collected` must outlive what is drawn. */
BRUME_MUST_USE brume_status brume_draw_keys(const brume_terms *terms,
                                            const brume_collected *collected, brume_bits *bits,
                                            brume_drawn *drawn, brume_error *error);

/* The numbers of the released groups. */
BRUME_MUST_USE brume_status brume_draw_groups(const brume_terms *terms, size_t index,
                                              const brume_collected *collected, brume_bits *bits,
                                              brume_drawn *drawn, brume_error *error);

/* noisy[i] = counts[i] + noise of this kind and scale. */
BRUME_MUST_USE brume_status brume_draw_counts(brume_noise_kind kind, double scale,
                                              const int64_t *counts, size_t count, brume_bits *bits,
                                              double *noisy, brume_error *error);

/* The noisy number of a measure, in grid steps. */
double brume_drawn_number(const brume_drawn *drawn, int measure, size_t group);

/* The chosen grid integer of a selection; `fraction` counts the quantiles of the measure. */
int64_t brume_drawn_selected(const brume_plan *plan, const brume_drawn *drawn, int measure,
                             size_t group, int fraction);

/* The ends of the interval of a quantile; false: it has none. */
bool brume_drawn_interval(const brume_plan *plan, const brume_drawn *drawn, int measure,
                          size_t group, int64_t out[2]);

#endif
