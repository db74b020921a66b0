/* One draw of a Poisson-subsampled Gaussian beside any number of draws of lattice laws and beside
 * Laplace draws: sums over atoms of the draw's table. proofs/accountant.md, section 22. */
#ifndef BRUME_ACCOUNTANT_ONCE_SUM_H
#define BRUME_ACCOUNTANT_ONCE_SUM_H

#include "accountant/closed.h"

typedef struct brume_once_sum brume_once_sum;

/* For epsilons from `least` on, deltas of the size of `delta` or more; `sampled` is the one draw
 * and `others` are all but it. NULL if a law is of another kind, if it would take too long, or if
 * memory ran out: other routes remain. */
brume_once_sum *brume_once_sum_open(const brume_law *sampled, const brume_law *others, size_t count,
                                    double least, double delta, double most_pairs);
void brume_once_sum_close(brume_once_sum *sum);
double brume_once_sum_delta(brume_once_sum *sum, double epsilon, brume_side side);
size_t brume_once_sum_size(const brume_once_sum *sum); /* terms of one sum */

#endif
