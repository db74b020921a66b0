/* A Gram matrix of a table's columns, scaled by their bounds. */
#ifndef BRUME_COMMAND_MATRIX_H
#define BRUME_COMMAND_MATRIX_H

#include <brume/statistic/gram.h>

#include "command/release/release.h"

enum { BRUME_MATRIX_MOST = BRUME_GRAM_MOST_COLUMNS };

typedef struct brume_matrix {
    const char *name[BRUME_MATRIX_MOST];
    size_t column[BRUME_MATRIX_MOST], count;
    double lower[BRUME_MATRIX_MOST], centre[BRUME_MATRIX_MOST], reach[BRUME_MATRIX_MOST];
    int decimals[BRUME_MATRIX_MOST];
} brume_matrix;

typedef brume_status brume_matrix_use(brume_release *release, const brume_matrix *columns,
                                      const brume_gram *gram, brume_error *error);

/* One unit of a scaled coordinate, in steps, where a row has so many coordinates. */
double brume_matrix_unit(size_t coordinates);

/* Release from the Gram matrix of --columns, and of `last` (NULL: none) behind them. Centred: about
 * the centres of the bounds, with one more coordinate that is always 1, so that the matrix holds
 * the number of rows and the sums too; else about 0. */
BRUME_MUST_USE brume_status brume_matrix_with(brume_release *release, bool centred,
                                              const char *last, brume_matrix_use *then,
                                              brume_error *error);

/* The upper triangle with noise, row by row: Gaussian where the method is gaussian or a delta was
 * typed for ridge, else Laplace. *spread: the standard deviation of the noise of an entry. */
BRUME_MUST_USE brume_status brume_matrix_noisy(brume_release *release, const brume_gram *gram,
                                               bool gaussian, int64_t *entries, double *spread,
                                               brume_error *error);

#endif
