/* What `brume statistic` looks at: one statistic of a file with its sensitivities, not private. */
#ifndef BRUME_COMMAND_STATISTIC_H
#define BRUME_COMMAND_STATISTIC_H

#include <brume/statistic/instability.h>

#include "command/release/release.h"

typedef struct brume_look {
    double smoothness, beta; /* as typed */
    json_t *value;           /* NULL: there is none */
    brume_instability found; /* in steps */
    double step;             /* one step in the statistic's units */
    const char *of;          /* what the sensitivities are of, where it is not the value; or NULL */
} brume_look;

/* --beta in steps. A column's values are rounded to the grid, so that their differences may be off
 * by a step: one more is allowed where a step is less than 1. */
uint64_t brume_look_bound(const brume_look *look);

/* A number on a grid as the shortest decimal that is within `slack` of it. */
json_t *brume_look_number(double value, double slack);

/* The statistics themselves, without a release: `input` has the call, the file and the adjacency.
 */
brume_status brume_look_quantile(const brume_release *input, brume_look *look, brume_error *error);
brume_status brume_look_interquartile(const brume_release *input, brume_look *look,
                                      brume_error *error);
brume_status brume_look_mode(const brume_release *input, brume_look *look, brume_error *error);
brume_status brume_look_triangles(const brume_release *input, brume_look *look, brume_error *error);
brume_status brume_look_reciprocal(const brume_release *input, brume_look *look,
                                   brume_error *error);
brume_status brume_look_regression(const brume_release *input, brume_look *look,
                                   brume_error *error);

/* A value x that becomes y, both within `reach` r of the centre of a range h, moves the sum by
 * |x-y| and the squares by |x^2-y^2|. In shares of what each of them moves by at most (h, and r^2)
 * both together move by at most (1 + r/2h)^2, and 2: with a = x/r, b = y/r it is |a-b|(r/h +
 * |a+b|), which is largest for a = 1 and b = -r/2h. Rounded up. */
double brume_release_moments_share_up(int64_t range, int64_t reach);

#endif
