/* A model of a wide table: the distribution that noisy tables of a few columns determine, kept as a
 * junction tree. Post-processing: nothing here sees data.
 *
 * 1. A graph joins the columns that some table has together. It is triangulated; its cliques form a
 *    tree in which the cliques with any one column are connected. The model is a number for each
 *    cell of each clique: p(row) is proportional to the product of exp(theta of the row's cell)
 *    over all tables.
 * 2. The size of the model is the number of cells of its cliques, and is known before a table is
 *    added: brume_junction_cells_with. Nothing else grows with the universe.
 * 3. The fit minimises  n log Z - sum theta.y + (lambda/2) sum sigma |theta|^2,  lambda = 0.3, by
 *    L-BFGS: smooth, strictly convex, without constraints. A fitted count differs from the noisy
 *    one by lambda theta standard deviations: cells that are well known are followed, noise is not.
 * 4. Rows are drawn by systematic rounding: among the rows that agree on a separator each cell of a
 *    clique gets the floor or the ceiling of its expected number. */
#ifndef BRUME_SYNTHETIC_JUNCTION_H
#define BRUME_SYNTHETIC_JUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/bits.h>
#include <brume/synthetic/tree.h>

#include "number/wide.h"

typedef struct brume_junction brume_junction;
typedef brume_u128 brume_column_set; /* bit c: column c */

static inline brume_column_set brume_column_bit(size_t column)
{
    return (brume_column_set)1 << column;
}

/* A table as it was measured: `noisy` is row-major over the bins of its columns, and is copied;
 * bin_of[i] maps a value of column[i] to its bin, lives as long as the model, NULL: each value is a
 * bin. */
typedef struct brume_noisy_table {
    size_t columns;
    uint16_t column[BRUME_TREE_WIDEST];
    uint32_t bins[BRUME_TREE_WIDEST];
    const uint16_t *bin_of[BRUME_TREE_WIDEST];
    double sigma;
    const int64_t *noisy;
} brume_noisy_table;

/* A model of columns with so many values, without tables: uniform. */
BRUME_MUST_USE brume_status brume_junction_open(const uint32_t *values, size_t columns,
                                                brume_junction **out, brume_error *error);
void brume_junction_close(brume_junction *model);

/* The cells of the cliques, if these columns were in one clique too; 0: as it is. */
double brume_junction_cells_with(const brume_junction *model, brume_column_set columns);

/* Put these columns in one clique. */
void brume_junction_join(brume_junction *model, brume_column_set columns);

/* Add a table; its columns are joined. */
BRUME_MUST_USE brume_status brume_junction_add(brume_junction *model,
                                               const brume_noisy_table *table, brume_error *error);

/* Cells that no row may be in: never[cell] != 0, over all values of the columns; copied. */
BRUME_MUST_USE brume_status brume_junction_exclude(brume_junction *model, const uint16_t *column,
                                                   size_t columns, const uint8_t *never,
                                                   brume_error *error);

typedef struct brume_junction_fit {
    size_t evaluations;
    bool converged; /* the predicted decrease fell below 10^-5 of the records */
} brume_junction_fit;

/* Fit to all tables, from where the last fit ended; `records` > 0 is what the model sums to.
 * Not converging is no failure. BRUME_EMEMORY: the model can only be closed then. */
BRUME_MUST_USE brume_status brume_junction_solve(brume_junction *model, double records,
                                                 size_t steps, brume_junction_fit *report,
                                                 brume_error *error);

/* Draw rows from the fitted model: out[c][i] is the value of column c in row i. */
BRUME_MUST_USE brume_status brume_junction_rows(const brume_junction *model, brume_bits *bits,
                                                uint64_t rows, uint16_t *const *out,
                                                brume_error *error);

/* The model's count of a cell of columns that are in one clique; `value` in the order of `column`.
 * For the tests. */
double brume_junction_count(const brume_junction *model, const uint16_t *column, size_t columns,
                            const uint32_t *value);

/* The cliques: how many, and the columns of one. */
size_t brume_junction_cliques(const brume_junction *model);
brume_column_set brume_junction_clique(const brume_junction *model, size_t clique);

/* Uniform words for what is post-processing, in blocks. */
typedef struct brume_words {
    brume_bits *bits;
    size_t left;
    uint64_t word[512];
} brume_words;

/* *out is uniform below n, but for 2^-64 n. */
static inline brume_status brume_words_below(brume_words *words, uint64_t n, uint64_t *out,
                                             brume_error *error)
{
    if (words->left == 0) {
        brume_status status = brume_bits_words(words->bits, words->word, 512, error);
        if (status != BRUME_OK)
            return status;
        words->left = 512;
    }
    *out = (uint64_t)((brume_u128)words->word[--words->left] * n >> 64);
    return BRUME_OK;
}

#endif
