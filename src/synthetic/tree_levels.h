/* The levels of a column, made from its noisy counts; and the way back to its values.
 * Post-processing. proofs/tree.md. */
#ifndef BRUME_SYNTHETIC_TREE_LEVELS_H
#define BRUME_SYNTHETIC_TREE_LEVELS_H

#include "synthetic/junction.h"

typedef struct brume_tree_levels {
    uint32_t values;    /* that the model has */
    uint16_t *of_value; /* a value -> one of the model; NULL: itself */
    double *weight;     /* of each value, where of_value is not NULL: what its count says */
    size_t count;       /* levels */
    uint32_t bins[BRUME_TREE_LEVELS];
    uint16_t *map[BRUME_TREE_LEVELS]; /* of a value of the model; level 0: NULL, itself */
} brume_tree_levels;

/* A column of too many ordered values is counted in bins of 1, 2, 4, ... values, until there are 64
 * or fewer: how many such levels. 1: it is counted value by value. */
size_t brume_tree_halvings(const brume_tree_column *column);
/* Bins of a level. */
static inline uint32_t brume_tree_halved(uint32_t values, size_t level)
{
    return ((values - 1) >> level) + 1;
}

/* The counts of all values from the noisy ones of the levels, noisy[level][bin], each with noise of
 * that standard deviation: a bin is split where its count is above four deviations, else its values
 * have equal parts. Needs no privacy of its own. */
BRUME_MUST_USE brume_status brume_tree_split(uint32_t values, int64_t *const *noisy, size_t levels,
                                             double sigma, int64_t *out, brume_error *error);

/* The levels of a column from its noisy counts; for a column that is too fine, the model's values
 * first. counts: room for all values; it gets the counts of the model's. */
BRUME_MUST_USE brume_status brume_tree_make_levels(brume_tree_levels *out,
                                                   const brume_tree_column *column,
                                                   const int64_t *noisy, int64_t *counts,
                                                   brume_error *error);

/* Values of the model in `row` become values of the column, within their bins. */
BRUME_MUST_USE brume_status brume_tree_fill_values(const brume_tree_levels *levels, uint32_t values,
                                                   uint16_t *row, uint64_t rows, brume_words *words,
                                                   brume_error *error);

#endif
