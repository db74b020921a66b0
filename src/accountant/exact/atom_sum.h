/* Few draws of laws on lattices of their own, composed with few Laplace draws or one draw of a
 * subsampled Gaussian: the sum over the lattices' atoms of the other draws' profile.
 *
 * delta(eps) = sum over atoms a of p(a) delta_other(eps - a). Every term is positive, so errors
 * add up simply: places move epsilon, masses and rounding are relative, what is left out is
 * bounded by its mass. proofs/accountant/exact.md, section exact.2. */
#ifndef BRUME_ACCOUNTANT_EXACT_ATOM_SUM_H
#define BRUME_ACCOUNTANT_EXACT_ATOM_SUM_H

#include "accountant/exact/delta_bounds.h"

/* All draws of `law`: `depth` is minus the log of what may be left out, `work` counts products and
 * stays below `most`. False if the law has no masses (law.h), if it
 * is too much or if memory ran out. */
BRUME_MUST_USE bool brume_masses_open(const brume_law *law, double depth, double most, double *work,
                                      brume_masses *out);
void brume_masses_close(brume_masses *masses);

typedef struct brume_atom_sum brume_atom_sum;

/* For epsilons from `least` on, deltas of the size of `delta` or more. NULL if a law is of another
 * kind, if the atoms are too many, or if memory ran out: other routes remain. */
brume_atom_sum *brume_atom_sum_open(const brume_law *laws, size_t count, double least,
                                    double delta);
void brume_atom_sum_close(brume_atom_sum *sum);
brume_delta_bounds brume_atom_sum_bounds(brume_atom_sum *sum);
size_t brume_atom_sum_size(const brume_atom_sum *sum);

#endif
