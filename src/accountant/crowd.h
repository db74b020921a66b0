/* Few atoms beside many draws of one law: delta(eps) = sum over atoms z of p(z) delta_S(eps - z),
 * delta_S of the many draws alone by one line, which their lattice folds or their decay ends, so
 * that nothing has to be bounded by a band; or by whatever is known of that law alone: the closed
 * form of one Laplace draw on a Poisson sample, the routes of Laplace draws of one kind.
 * proofs/accountant.md, section 24. */
#ifndef BRUME_ACCOUNTANT_CROWD_H
#define BRUME_ACCOUNTANT_CROWD_H

#include "accountant/closed.h"

typedef struct brume_crowd brume_crowd;

/* For epsilons near `epsilon`, deltas near `delta`; `most` nodes times atoms. NULL if the laws are
 * of other kinds, if it would take too long or if memory ran out: other routes remain. The law of
 * many draws is settled and must outlive the answer. */
brume_crowd *brume_crowd_open(brume_law *laws, size_t count, double epsilon, double delta,
                              double most);
void brume_crowd_close(brume_crowd *crowd);
brume_closed brume_crowd_form(brume_crowd *crowd);
size_t brume_crowd_size(const brume_crowd *crowd); /* nodes or so of a profile, times atoms */

/* Is the one law a single draw with a closed form, so that nothing has to be aimed? */
bool brume_crowd_is_one(const brume_law *laws, size_t count);

/* Narrow the answer; false if brume_crowd_open refuses. */
bool brume_crowd_delta(brume_law *laws, size_t count, double epsilon, double delta, double most,
                       brume_answer *answer);
bool brume_crowd_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                         double guess, double most, brume_answer *answer);

#endif
