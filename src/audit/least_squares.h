/* The polynomial adversary: least squares in the box [0, 1]^n.
 *
 * Given answers to random subsets, find x in [0, 1]^n and a shift c that minimise
 * f = 1/2 sum_j (sum of x over subset j + c - answer j)^2. Rounded at 1/2, x is the guess.   [DN03]
 * The shift, which is found in closed form, costs nothing that matters (one answer in m) and takes
 * the large singular value out of the matrix: what is left has a condition of about
 * ((sqrt m + sqrt n)/(sqrt m - sqrt n))^2, 9 for m = 4n.
 *
 * End: x is feasible and f(x) - min f <= gap, certified by duality (f is convex, so that its
 * tangent over the box bounds it from below). Proof: proofs/reconstruction.md. */
#ifndef BRUME_AUDIT_LEAST_SQUARES_H
#define BRUME_AUDIT_LEAST_SQUARES_H

#include "audit/subsets.h"

enum { BRUME_LEAST_SQUARES_STEPS = 5000 };

typedef struct brume_least_squares {
    double value;   /* f(x) */
    double gap;     /* f(x) - min f is at most this */
    unsigned steps; /* products with the matrix and its transpose */
} brume_least_squares;

/* Solve to a gap of `tolerance` (or 1e-12 of the value), or give what BRUME_LEAST_SQUARES_STEPS
 * steps have come to; the gap is told in both cases. x has room for all people. Errors:
 * BRUME_EARGUMENT for an answer that is not finite or a tolerance that is not above 0;
 * BRUME_EMEMORY. x is untouched then. */
BRUME_MUST_USE brume_status brume_least_squares_solve(const brume_subsets *subsets,
                                                      const double *answers, double tolerance,
                                                      double *x, brume_least_squares *out,
                                                      brume_error *error);

#endif
