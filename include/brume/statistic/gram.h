/* The Gram matrix sum x x^T of bounded integer rows, exactly, and its sensitivities.
 *
 * A row whose Euclidean norm exceeds `norm` is scaled back into the ball, rounding towards zero: a
 * rule about that row alone. The matrix is symmetric; its upper triangle is kept row by row:
 * (0,0), (0,1), ..., (0,d-1), (1,1), ...
 *
 * Sensitivities of the upper triangle as a vector, B = norm:
 *   L2  add-remove B^2, replace sqrt(2) B^2 (B^2 for d = 1)
 *   L1  add-remove (d+1) B^2 / 2, replace twice that (B^2 for d = 1).
 * For rows with a column of ones and c other columns, u = floor(B / sqrt(c+1)):
 *   L2  add-remove B^2, replace (c+1) u^2
 *   L1  add-remove (c+2) B^2 / 2, replace c (c+2)^2 u^2 / (2 (c+1)). */
#ifndef BRUME_GRAM_H
#define BRUME_GRAM_H

#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BRUME_GRAM_MOST_COLUMNS = 64 };

typedef struct brume_gram brume_gram;

/* Requires: 1 <= columns <= 64, 1 <= norm <= 2^24; else BRUME_EARGUMENT. */
BRUME_API BRUME_MUST_USE brume_status brume_gram_open(size_t columns, int64_t norm,
                                                      brume_gram **out, brume_error *error);

/* The same for rows with a column of ones, which is the last: rows come without it, and each of
 * their values is cut to [-u, u], u standing for 1. Requires 2 <= columns, the ones included, and
 * norm^2 >= columns. */
BRUME_API BRUME_MUST_USE brume_status brume_gram_open_with_ones(size_t columns, int64_t norm,
                                                                brume_gram **out,
                                                                brume_error *error);
BRUME_API void brume_gram_close(brume_gram *gram);

/* Add a row of `columns` integers (with ones: one less); magnitudes beyond 2^30 are clamped first.
 */
BRUME_API void brume_gram_add(brume_gram *gram, const int64_t *row);

/* Number of entries of the upper triangle; and entry i, clamped to +-2^62. */
BRUME_API size_t brume_gram_size(const brume_gram *gram);
BRUME_API int64_t brume_gram_entry(const brume_gram *gram, size_t i);

/* The sensitivities above, rounded up.  Errors: BRUME_EARGUMENT for another adjacency. */
BRUME_API BRUME_MUST_USE brume_status brume_gram_sensitivity_l1_upper(const brume_gram *gram,
                                                                      brume_adjacency adjacency,
                                                                      double *out,
                                                                      brume_error *error);
BRUME_API BRUME_MUST_USE brume_status brume_gram_sensitivity_l2_upper(const brume_gram *gram,
                                                                      brume_adjacency adjacency,
                                                                      double *out,
                                                                      brume_error *error);

/* The least eigenvalue, in units of norm^2, up to an error of at most 2^-16 in magnitude as long as
 * there are at most 2^30 rows. It changes by at most 1 (and twice that error) between neighbours
 * under add-remove and replace. */
BRUME_API BRUME_MUST_USE brume_status brume_gram_least_eigenvalue(const brume_gram *gram,
                                                                  double *out, brume_error *error);

#ifdef __cplusplus
}
#endif

#endif
