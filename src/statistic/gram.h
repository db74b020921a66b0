/* What the files of the Gram matrix share. */
#ifndef BRUME_STATISTIC_GRAM_H
#define BRUME_STATISTIC_GRAM_H

#include <brume/statistic/gram.h>

__extension__ typedef __int128 gram_sum;

struct brume_gram {
    size_t columns;
    int64_t norm, ones; /* ones: the last coordinate of every row; 0: it is the caller's */
    gram_sum entry[BRUME_GRAM_MOST_COLUMNS * (BRUME_GRAM_MOST_COLUMNS + 1) / 2];
};

/* The matrix in units of norm^2, both triangles, row by row. */
void brume_gram_matrix(const brume_gram *gram, long double *matrix);

#endif
