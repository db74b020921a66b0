/* The masses of a lattice law's draws together, in doubles with certified errors.
 * proofs/accountant/exact.md, section exact.2. */
#ifndef BRUME_ACCOUNTANT_EXACT_ATOM_MASSES_H
#define BRUME_ACCOUNTANT_EXACT_ATOM_MASSES_H

#include "accountant/law/law.h"

/* Masses q_0, q_1 .. of losses centre + step (half - j), step the law's unit. */
typedef struct brume_masses {
    double *mass;
    size_t count;
    double half;   /* half the number of steps from the largest loss to its mirror image */
    double centre; /* of a sampled law; else 0 */
    double missed; /* a bound of the mass that was left out */
    double error;  /* relative, of every mass */
} brume_masses;

/* All draws of `law`: `depth` is minus the log of what may be left out, `work` counts products and
 * stays below `most`. False if the law is of another kind, if it is too much or if memory ran out.
 */
BRUME_MUST_USE bool brume_masses_open(const brume_law *law, double depth, double most, double *work,
                                      brume_masses *out);
void brume_masses_close(brume_masses *masses);

#endif
