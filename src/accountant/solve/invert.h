/* Epsilon at a delta, by asking for delta at one epsilon after another. */
#ifndef BRUME_ACCOUNTANT_SOLVE_INVERT_H
#define BRUME_ACCOUNTANT_SOLVE_INVERT_H

#include "accountant/answer.h"
#include "accountant/law/law.h"

/* Narrow answer->value, which must contain the epsilon at delta. Every point is answered by the
 * route that suits it, so this is slower than the routes' own searches, and works where these were
 * aimed too far away. False if memory ran out. */
BRUME_MUST_USE bool brume_invert_delta(brume_law *laws, size_t count, double delta,
                                       double delta_error, double width_goal, brume_answer *answer);

#endif
