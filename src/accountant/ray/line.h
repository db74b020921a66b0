/* Subsampled Gaussians alone by a line, where the transform falls off by itself.
 *
 * Much noise, or many draws: then a line needs some dozen nodes and its tables some hundred points,
 * which is far less than rays. Whether it is so is asked of the line's own envelope, before nodes
 * are laid. What is returned is certified as on every line (line.h). */
#ifndef BRUME_ACCOUNTANT_RAY_LINE_H
#define BRUME_ACCOUNTANT_RAY_LINE_H

#include "accountant/ray/ray.h"
#include "accountant/answer.h"

/* Narrow answer->value around delta(epsilon), epsilon >= 0. True if that is now as narrow,
 * relative, as `width`, or as `width` of epsilon makes it. Nothing is done if a law is of another
 * kind, if a line would be long, or if memory ran out. */
bool brume_sampled_line_delta(brume_law *laws, size_t count, double epsilon, double width,
                              brume_answer *answer);

/* Narrow answer->value, which must contain the epsilon at delta; `delta_error` is relative. */
bool brume_sampled_line_epsilon(brume_law *laws, size_t count, double delta, double delta_error,
                                double width, brume_answer *answer);

/* By how much a relative width of epsilon may count more in delta, c being the order: 1 .. 12. */
double brume_width_in_delta(double c, double epsilon);

/* Tables that reach every order a line near this aim will ask for: one, instead of ever longer
 * ones. Gives the order itself. False if there are none. */
bool brume_sampled_line_cover(brume_law *laws, size_t count, const brume_ray_aim *aim, double *c);

/* Is the answer's upper end such a line's? */
bool brume_sampled_line_answered(const brume_answer *answer);

#endif
