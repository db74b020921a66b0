/* The same sums in ball arithmetic: no assumption about libm.
 *
 * A line is laid as always; then every node that was summed is computed again from the textbook
 * form of its laws in Arb's balls, with the nodes' exact places, and summed. The double sum must
 * lie within its claimed error of the ball. Covers the plain, the folded and the banded contour
 * and every law, the subsampled Gaussian with its quadrature included; and rays,
 * whose rules are compared with other rules, too.
 * What was not summed is bounded by envelopes, which are not redone: they are proved, and compared
 * in the tests. */
#ifndef BRUME_TESTS_BALLS_H
#define BRUME_TESTS_BALLS_H

#include <brume/account/compose.h>

#include "accountant/law/law.h"
#include "accountant/ray/ray.h"

typedef struct ball_audit {
    bool agrees;  /* |double sum - ball| <= claimed error, for certain */
    double ratio; /* a bound of |double sum - ball| / claimed error */
    size_t nodes; /* recomputed */
} ball_audit;

/* Fail the test if a sum in doubles that delta(epsilon) of these terms comes from disagrees with
 * balls, in one of the orders of the neighbours. */
void balls_agree(const brume_term *terms, size_t count, double epsilon);

/* The line of these laws. False if memory ran out. */
bool balls_audit_delta(brume_law *laws, size_t count, double epsilon, ball_audit *out);

/* One ray of subsampled Gaussians: up to `most` of its nodes, evenly spread, each with all nodes of
 * its contours. */
void balls_audit_ray(const brume_ray *ray, const brume_ray_parts *parts, size_t most,
                     ball_audit *out);

/* What the rules of the same ray miss. The contours' sums at up to `most` nodes against Arb's
 * integrals over the real line, where those do not cancel; and up to `most` panels of the ray, for
 * e^{-zx}, against the rules on both their halves. */
void balls_audit_transforms(const brume_ray *ray, const brume_ray_parts *parts, size_t most,
                            ball_audit *out);
void balls_audit_panels(const brume_ray *ray, const brume_ray_parts *parts, double x, size_t most,
                        ball_audit *out);

#endif
