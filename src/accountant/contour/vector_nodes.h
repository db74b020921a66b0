/* A dense line: so many nodes that each must be cheap.
 *
 * Few draws of many different Laplace and pure mechanisms have no lattice and do not decay: only
 * a band ends their line, and what it leaves open falls like one over the square of the nodes. So
 * the nodes are laid in blocks, each law's wave is turned by a table instead of a fresh sine, and
 * all errors are kept absolute (|psi| <= 1) instead of per node. The same sum as any banded line:
 * proofs/accountant/contour.md, section contour.1, contour.2 and contour.3. */
#ifndef BRUME_ACCOUNTANT_CONTOUR_VECTOR_NODES_H
#define BRUME_ACCOUNTANT_CONTOUR_VECTOR_NODES_H

#include "accountant/contour/line.h"

/* Of what a band leaves open, about the share that may be passed over at a time. */
#define BRUME_VECTOR_LINE_PASSED 0.3

/* Is there a band, and are all laws Laplace or pure? */
bool brume_vector_line_able(const brume_line *line);

/* What psi at a node costs, in nanoseconds or so. */
double brume_vector_line_price(const brume_line *line);

/* Is there a band, are all laws Laplace or pure, and is a node-by-node line dearer? Laws are
 * settled. */
bool brume_vector_line_suits(const brume_line *line);

/* Lay nodes until what is left is below exp(limit), relative to exp(cumulant - c eps). False if
 * memory ran out. */
BRUME_MUST_USE bool brume_vector_line_lay(brume_line *line, double limit);

/* With m^ if `lower`, else with M^. */
brume_line_sum brume_vector_line_evaluate(const brume_line *line, double epsilon, bool lower);

/* What the line costs, all evaluations of an answer included, in nanoseconds or so. */
double brume_vector_line_cost(const brume_line *line);

#endif
