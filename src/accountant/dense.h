/* A dense line: so many nodes that each must be cheap.
 *
 * Few draws of many different Laplace and pure mechanisms have no lattice and do not decay: only
 * smoothing ends their line, and its width falls like one over the square of the number of nodes.
 * So the nodes are laid in blocks, each law's wave is turned by a table instead of a fresh sine,
 * and all errors are kept absolute (|psi| <= 1) instead of per node. The same sum as any smoothed
 * line: proofs/accountant.md, sections 2, 6 and 12. */
#ifndef BRUME_ACCOUNTANT_DENSE_H
#define BRUME_ACCOUNTANT_DENSE_H

#include "accountant/line.h"

/* Is the line smoothed, are all laws Laplace or pure, and is a node-by-node line dearer? Laws are
 * settled. */
bool brume_dense_suits(const brume_line *line);

/* Lay nodes until what is left is below exp(limit), relative to exp(cumulant - c x). False if
 * memory ran out. */
BRUME_MUST_USE bool brume_dense_lay(brume_line *line, double limit);

brume_line_sum brume_dense_evaluate(const brume_line *line, double epsilon);

/* What the line costs, all evaluations of an answer included, in nanoseconds or so. */
double brume_dense_cost(const brume_line *line);

#endif
