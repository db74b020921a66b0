/* The profile of one Poisson-subsampled Gaussian in doubles with running error bounds.
 * proofs/accountant/exact.md, section exact.4. */
#ifndef BRUME_ACCOUNTANT_EXACT_SAMPLED_DRAW_H
#define BRUME_ACCOUNTANT_EXACT_SAMPLED_DRAW_H

#include "accountant/exact/closed_form.h"

/* Its parameters moved to a side; they count as exact from there on. */
typedef struct brume_sampled_draw {
    double sigma, rate;
    bool reversed;
} brume_sampled_draw;

brume_sampled_draw brume_sampled_draw_of(const brume_law *law, brume_side side);

/* E(1 - e^{-(x+L)})_+, which is delta(-x); *error bounds its error. */
double brume_sampled_value(const brume_sampled_draw *draw, double x, double *error);

#endif
