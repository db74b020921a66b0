/* What the routes to delta and the routes to epsilon have in common: names, measures of what is
 * sharp enough, and how lines are aimed. Nothing here decides what is true. */
#ifndef BRUME_ACCOUNTANT_SOLVE_ROUTES_H
#define BRUME_ACCOUNTANT_SOLVE_ROUTES_H

#include "accountant/contour/line.h"
#include "accountant/exact/closed_form.h"
#include "accountant/solve/solve.h"

#define BRUME_RAY_WIDTH      1e-8  /* a ray this narrow is not followed by a line */
#define BRUME_BAND_WIDTH     8e-10 /* a banded line this narrow is not laid again */
#define BRUME_PATTERN_EFFORT 4e4   /* patterns times draws, some 4 ms each time */
#define BRUME_SOME_EFFORT    5e3   /* patterns before a line is laid finer */
#define BRUME_LINE_WIDTH     1e-9  /* of subsampled Gaussians alone, by a line or in doubles */

extern const char brume_route_plain[], brume_route_top[], brume_route_moments[];

/* delta of laws as they are; `upper_end`: the goal is of the estimated excess of the upper end.
 * `keep`, if not NULL, is given the route that was sharp, still open, if it serves other epsilons
 * too: close it with keep->close(keep->context). False if memory ran out. */
BRUME_MUST_USE bool brume_routes_delta(brume_law *laws, size_t count, double epsilon,
                                       double width_goal, bool upper_end, brume_answer *out,
                                       brume_closed *keep);

const char *brume_route_name(const brume_line *line);

/* Aim at epsilon and decide on a band: 0 where the laws decay or fold. */
bool brume_route_aim(brume_line *line, double epsilon, double log_delta, double *goal,
                     double *width);

bool brume_alone_and_gaussian(const brume_law *laws, size_t count);

bool brume_alone_and_sampled(const brume_law *laws, size_t count);

/* One release whose profile is known, and needs no line. */
bool brume_alone_and_amplified(brume_law *laws, size_t count, brume_closed *closed);

bool brume_only_sampled(const brume_law *laws, size_t count);

/* How many draws of subsampled Gaussians there are. */
double brume_sampled_draws(const brume_law *laws, size_t count);

/* Is the interval as narrow as asked? */
bool brume_answer_is_narrow(const brume_answer *answer, double width_goal);

/* A smaller width for the next round: what it certifies narrows with the square of the width, and
 * the nodes grow with its inverse. 0 if that is too much work. `near`: the gap is so small that it
 * follows that law. */
double brume_route_next_width(const brume_line *line, double gap, double goal, bool near,
                              bool quick);

/* What the band leaves open at epsilon, without rounding. */
double brume_route_band_part(const brume_line *line, double epsilon);

/* Rays narrow to what their rounding allows, at little cost. */
double brume_ray_atoms_goal(double width_goal);

#endif
