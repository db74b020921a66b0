/* The same sums in ball arithmetic: no assumption about libm.
 *
 * A line is laid as always; then every node that was summed is computed again from the textbook
 * form of its laws in Arb's balls, with the nodes' exact places, and summed. The double sum must
 * lie within its claimed error of the ball. Covers the plain, the folded and the banded contour
 * and every law, the subsampled Gaussian with its quadrature included; and rays,
 * whose rules are compared with other rules, too.
 * What was not summed is bounded by envelopes, which are not redone: they are proved, and compared
 * in the tests. */
#ifndef BRUME_ACCOUNTANT_CHECK_AUDIT_H
#define BRUME_ACCOUNTANT_CHECK_AUDIT_H

#include "accountant/exact/delta_bounds.h"
#include "accountant/contour/line.h"
#include "accountant/law/law.h"
#include "accountant/ray/ray.h"
#include "number/flint.h"

/* False if memory ran out. */
BRUME_MUST_USE bool brume_audit_delta(brume_law *laws, size_t count, double epsilon,
                                      brume_audit *out);

/* One ray of subsampled Gaussians: up to `most` of its nodes, evenly spread, each with all nodes of
 * its contours. */
void brume_audit_ray(const brume_ray *ray, const brume_parts *parts, size_t most, brume_audit *out);

/* What the rules of the same ray miss. The contours' sums at up to `most` nodes against Arb's
 * integrals over the real line, where those do not cancel; and up to `most` panels of the ray, for
 * e^{-zx}, against the rules on both their halves. */
void brume_audit_transforms(const brume_ray *ray, const brume_parts *parts, size_t most,
                            brume_audit *out);
void brume_audit_panels(const brume_ray *ray, const brume_parts *parts, double x, size_t most,
                        brume_audit *out);

/* The rays behind delta near epsilon once more in balls. False if there are none. */
bool brume_rays_audit(const brume_law *laws, size_t count, double epsilon, brume_audit *out);

/* The laws in balls, slow and plain on purpose: what the audit compares the doubles with. The forms
 * are the textbook ones, not those of law/. */

enum { BRUME_AUDIT_BITS = 160 };

/* phi(s) of one draw. */
void brume_audit_transform(acb_t out, const brume_law *law, const acb_t s);

/* Half the distance of the two atoms of a BINARY law, and their middle. */
void brume_audit_places(arb_t spread, arb_t centre, const brume_law *law);

#endif
