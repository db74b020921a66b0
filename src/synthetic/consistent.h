/* Tables that add up: several tables of counts or sums over the same columns, each with noise of
 * its own, made into tables of which every total is the sum of its parts.
 *
 * Columns have n_0, n_1, ... values. The table of a set W of columns has a cell for each
 * combination of their values, the last column fastest. All tables are of the same rows, so without
 * noise they agree: summing a table over a column gives the table without that column.
 *
 * The fit is the one of least squares: the orthogonal projection of all cells of all tables on
 * those that agree, each table by its weight. In integer contrasts: for a set A of columns that
 * some table has, r_A is the part of the table of A that no smaller table tells (its cells less
 * their means along each column of A). The table of a W that contains A tells r_A with a variance
 * that is prod_{W-A} n times that of its cells, and
 *
 *   sigma_A^2 = 1 / sum_{W >= A} weight_W prod_{W-A} 1/n
 *   Var(cell of W) = sum_{A <= W} sigma_A^2 prod_A (n-1)/n prod_{W-A} 1/n^2      at noise of
 * variance 1
 *
 * where noise on table W has the variance 1/weight_W. The fit has the law of contrasts
 * of r_A that are measured with the variance sigma_A^2 times their squared length. It is a function
 * of noisy numbers alone, so it costs nothing; with equal weights it is a projection, so no
 * linear combination of cells has more noise than before (proofs/joint-sets.md). */
#ifndef BRUME_SYNTHETIC_CONSISTENT_H
#define BRUME_SYNTHETIC_CONSISTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/status.h>

enum { BRUME_CONSISTENT_COLUMNS = 64 };

typedef struct brume_consistent brume_consistent;

/* `sizes[i]` is the number of values of column i; bit i of sets[s]: table s has column i. No set
 * twice. `weights`: of each set, above 0; NULL: 1 each.
 * Errors: BRUME_EUNSUPPORTED where the work would be too much; BRUME_EARGUMENT; BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_consistent_open(const size_t *sizes, size_t columns,
                                                  const uint64_t *sets, const double *weights,
                                                  size_t set_count, brume_consistent **out,
                                                  brume_error *error);
void brume_consistent_close(brume_consistent *tables);

size_t brume_consistent_cells(const brume_consistent *tables, size_t set);

/* Variance of a fitted cell of the set, where a table of weight 1 has noise of variance 1. */
double brume_consistent_variance(const brume_consistent *tables, size_t set);

/* The least of them. */
double brume_consistent_least(const brume_consistent *tables);

/* Fit: numbers[s] are the cells of table s, which must be finite. Errors: BRUME_EMEMORY. */
BRUME_MUST_USE brume_status brume_consistent_fit(const brume_consistent *tables,
                                                 double *const *numbers, brume_error *error);

/* Round fitted tables to whole numbers that add up exactly, as long as they are below 2^50. In a
 * table of one column no cell moves by more than 1. Where one set has all columns and the tables
 * are small each number is near to the one that is rounded, however many columns there are.
 * mean_square[s] (NULL: not wanted): of what the cells of table s moved by. Errors: BRUME_EMEMORY.
 */
BRUME_MUST_USE brume_status brume_consistent_round(const brume_consistent *tables,
                                                   double *const *numbers, double *mean_square,
                                                   brume_error *error);

/* What the error bars of rounded tables allow for: about the mean square that a cell of the set
 * moves by. */
double brume_consistent_rounding(const brume_consistent *tables, size_t set);

#endif
