/* Subsampled Gaussians alone by a line, where the transform falls off by itself.
 *
 * Much noise, or many draws: then a line needs some dozen nodes and its tables some hundred points,
 * which is far less than rays. Whether it is so is asked of the line's own envelope, before nodes
 * are laid. What is returned is certified as on every line (line.h). */
#ifndef BRUME_ACCOUNTANT_RAY_LINE_H
#define BRUME_ACCOUNTANT_RAY_LINE_H

#include "accountant/ray/ray.h"
#include "accountant/contour/line.h"

/* A line laid for epsilon >= 0, where that is short. False if a law is of another kind, if a line
 * would be long, or if memory ran out. Until it is closed the laws keep their tables short. */
BRUME_MUST_USE bool brume_sampled_line_open(brume_law *laws, size_t count, double epsilon,
                                            brume_line *out);
void brume_sampled_line_close(brume_line *line);

/* By how much a relative width of epsilon may count more in delta, c being the order: 1 .. 12. */
double brume_width_in_delta(double c, double epsilon);

/* Tables that reach every order a line near this aim will ask for: one, instead of ever longer
 * ones. Gives the order itself. False if there are none. */
bool brume_sampled_line_cover(brume_law *laws, size_t count, const brume_ray_aim *aim, double *c);

#endif
