/* One release of the Poisson-subsampled Gaussian in closed form: in ball arithmetic, and in doubles
 * with running error bounds. proofs/accountant/exact.md, section exact.4. */
#ifndef BRUME_ACCOUNTANT_EXACT_ONE_SAMPLED_GAUSSIAN_H
#define BRUME_ACCOUNTANT_EXACT_ONE_SAMPLED_GAUSSIAN_H

#include "accountant/exact/closed_form.h"

/* In ball arithmetic. */
brume_closed brume_sampled_form(brume_law *law);

/* The same in doubles with error bounds, which are wide in places. */
brume_closed brume_sampled_doubles_form(brume_law *law);

/* Is the answer's upper end from doubles? Do these agree with balls around epsilon? */
bool brume_sampled_once_answered(const brume_answer *answer);
void brume_sampled_once_audit(brume_law *law, double epsilon, brume_audit *out);

/* --- in doubles --- */

/* Its parameters moved to a side; they count as exact from there on. */
typedef struct brume_sampled_draw {
    double sigma, rate;
    bool reversed;
} brume_sampled_draw;

brume_sampled_draw brume_sampled_draw_of(const brume_law *law, brume_side side);

/* E(1 - e^{-(x+L)})_+, which is delta(-x); *error bounds its error. */
double brume_sampled_value(const brume_sampled_draw *draw, double x, double *error);

#endif
