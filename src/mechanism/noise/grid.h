/* The grid that continuous noise is released on: a power of two that depends on the noise alone. */
#ifndef BRUME_MECHANISM_GRID_H
#define BRUME_MECHANISM_GRID_H

#include <brume/status.h>

/* *step = 2^-40 times the power of two at or below `spread` (a scale or a sigma), at least the
 * least double, and *units = spread/step, exactly. Errors: BRUME_EARGUMENT if spread is above
 * 2^960, where draws times the step would overflow. */
brume_status brume_grid_of(double spread, double *step, double *units, brume_error *error);

#endif
