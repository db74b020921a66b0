/* Rounding of smooth sensitivities.
 *
 * A computed S must be t-smooth exactly, although its arithmetic rounds. So it is computed for a
 * slightly smaller t' and with a relative error of at most 2^-44 either way, then enlarged:
 *     S_{t'} <= S <= S_{t'} (1 + 2^-42),  t' <= t - 2^-42,
 * so that ln S(x) - ln S(x') <= t' + 2^-42 <= t for neighbours.
 * And S is kept above a constant, which is smooth itself (the larger of two smooth bounds is one),
 * so that no exponential underflows. */
#ifndef BRUME_STATISTIC_SMOOTH_H
#define BRUME_STATISTIC_SMOOTH_H

#include <brume/status.h>

/* The least S that is handed out where the statistic can change at all. */
#define BRUME_SMOOTH_FLOOR 0x1p-64

/* Check t, and give t'. */
BRUME_MUST_USE brume_status brume_smooth_parameter(double t, double *smaller, brume_error *error);

/* From a value computed with relative error <= 2^-44 to the bound handed out. */
double brume_smooth_enlarge_upper(double computed);

#endif
