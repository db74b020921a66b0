/* Certified ends of delta at an epsilon and of epsilon at a delta, for one order of the pair and
 * finite losses, by lines alone. */
#ifndef BRUME_ACCOUNTANT_SOLVE_SOLVE_H
#define BRUME_ACCOUNTANT_SOLVE_SOLVE_H

#include "accountant/answer.h"
#include "accountant/law/law.h"

/* The ends of an answer whose statements were all taken: where they cross, the larger is the upper
 * one and the answer is contradictory. Every answer passes here before it is used. */
void brume_answer_settle(brume_answer *answer);

/* Take the lower end of laws that the laws of `answer` dominate, in place of its own; take the
 * upper end of laws that dominate those of `answer`, if it is below. Both settle it. */
void brume_answer_take_lower(brume_answer *answer, const brume_answer *lower);
void brume_answer_take_upper(brume_answer *answer, const brume_answer *upper);

/* False if memory ran out. `epsilon` may be negative. */
BRUME_MUST_USE bool brume_solve_delta(brume_law *laws, size_t count, double epsilon,
                                      double width_goal, brume_answer *out);

/* The same where only the upper end is of use: the goal is of its estimated excess. */
BRUME_MUST_USE bool brume_solve_delta_upper(brume_law *laws, size_t count, double epsilon,
                                            double goal, brume_answer *out);

/* Is delta(epsilon) certainly at most `target`? By a coarse bound; for laws on a Poisson sample,
 * else it says no. */
bool brume_solve_below(brume_law *laws, size_t count, double epsilon, double target);

/* The least epsilon >= 0 with delta(epsilon) <= delta; delta is known up to `delta_error`,
 * relative. */
BRUME_MUST_USE bool brume_solve_epsilon(brume_law *laws, size_t count, double delta,
                                        double delta_error, double width_goal, brume_answer *out);

#endif
