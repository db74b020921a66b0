/* The masses of a lattice law's draws together, in doubles with certified errors.
 * proofs/accountant/exact.md, section exact.2. */
#ifndef BRUME_ACCOUNTANT_EXACT_ATOM_MASSES_H
#define BRUME_ACCOUNTANT_EXACT_ATOM_MASSES_H

#include "accountant/law/law.h"

/* All draws of `law`: `depth` is minus the log of what may be left out, `work` counts products and
 * stays below `most`. False if the law has no masses (law.h), if it
 * is too much or if memory ran out. */
BRUME_MUST_USE bool brume_masses_open(const brume_law *law, double depth, double most, double *work,
                                      brume_masses *out);
void brume_masses_close(brume_masses *masses);

#endif
